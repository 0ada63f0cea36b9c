// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The same bytes through the program in the kernel and through a reader that shares no
 * line with it (reader.h): never a different kind. And what the verifier had to walk, so
 * that it does not creep up. SEED= draws other bytes.
 */
#include <sched.h>
#include <sys/utsname.h>
#include <time.h>

#include "kern/kern_support.h"
#include "mutations.h"
#include "reader.h"
#include "rounds.h"

#define ROUNDS	    150000
#define SECONDS_MAX 10 /* then stop, if enough was compared */
#define ROUNDS_MIN  100000
#define BUDGET	    "vmtests/BUDGET"

static struct kern kern;

/* Return the kind that the kernel counted in @slot for a frame of @n bytes, KIND_COUNT:
 * none. */
static enum wire_kind counted(__u32 slot, size_t n)
{
	struct outcome outcome = { .kind = KIND_COUNT };
	int moved = kern_moved(&kern, (int)slot, n, &outcome);

	assert_in_range(moved, 0, 1);
	return outcome.kind;
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* What @name says: SEED; KERN_ROUNDS, for an emulated processor, 0: what time allows. */
static int asked(const char *name, int otherwise)
{
	const char *text = getenv(name);

	return text ? (int)strtol(text, NULL, 10) : otherwise;
}

static void kernel_and_reader_agree(void **state)
{
	double start = seconds();
	int rounds = 0, kinds = 0, wanted = asked("KERN_ROUNDS", 0);
	int most = wanted ? wanted : (int)rounds_of(ROUNDS);
	int seed = asked("SEED", 20261121);
	bool seen[KIND_COUNT] = { false };

	(void)state;
	mutation_state = (unsigned int)seed;
	for (; rounds < most; rounds++) {
		/* Few rounds are to see every kind: each seed to each family first. */
		bool as_is = rounds < (int)(MUTATION_SEEDS * FAMILY_COUNT);
		enum wire_family family =
			(enum wire_family)(as_is ? (unsigned int)rounds % FAMILY_COUNT
						 : mutation_below(FAMILY_COUNT));
		struct mutation in;
		struct frame_spec spec;
		enum wire_kind reader, kernel;
		__u8 frame[FRAME_MAX];
		size_t n;

		if (rounds >= ROUNDS_MIN && seconds() - start > SECONDS_MAX)
			break;
		if (as_is)
			mutation_seed(&in, (size_t)rounds / FAMILY_COUNT);
		else
			mutation_draw(&in);
		spec = (struct frame_spec){ .payload = (const char *)in.bytes,
					    .n = in.n,
					    .dport = (__u16)(1000 + family),
					    .ipv6 = mutation_below(4) == 0,
					    .padding = mutation_below(3)
							       ? 0
							       : mutation_below(40) };
		reader = reader_kind(family, in.bytes, in.n);
		n = frame_build(&spec, frame);
		kern_action(&kern, frame, n);
		kernel = counted(family, n);
		if (reader != kernel) {
			print_error("%s: reader %s, kernel %s:", family_name(family),
				    kind_name(reader), kind_name(kernel));
			for (size_t i = 0; i < in.n; i++)
				print_error(" %02x", in.bytes[i]);
			print_error("\n");
		}
		assert_int_equal(reader, kernel);
		kinds += !seen[reader];
		seen[reader] = true;
	}
	print_message("SEED=%d: %d inputs, %d kinds, no mismatch, %.1f s\n", seed, rounds,
		      kinds, seconds() - start);
	for (int kind = 0; kind < KIND_COUNT; kind++) {
		if (!seen[kind])
			print_message("not seen: %s\n", kind_name((enum wire_kind)kind));
	}
	/* All but the few that are seen below UDP, or on the way out. */
	assert_in_range(kinds, KIND_COUNT - 10, KIND_COUNT);
}

/* What BUDGET allows @name on this kernel; 0: it does not say. */
static unsigned int budget_of(const char *name)
{
	char line[256], program[64], release[65];
	struct utsname here;
	unsigned int most, found = 0;
	FILE *file = fopen(BUDGET, "r");

	uname(&here);
	while (file && fgets(line, sizeof(line), file)) {
		release[0] = '\0';
		if (sscanf(line, "%63s %u %64s", program, &most, release) >= 2 &&
		    !strcmp(program, name) &&
		    !strncmp(here.release, release, strlen(release)))
			found = most;
	}
	if (file)
		fclose(file);
	return found;
}

static void the_verifier_is_not_overworked(void **state)
{
	struct bpf_program *program;

	(void)state;
	bpf_object__for_each_program(program, kern.skel->obj)
	{
		struct bpf_prog_info info = { 0 };
		__u32 size = sizeof(info);

		assert_int_equal(bpf_obj_get_info_by_fd(bpf_program__fd(program), &info,
							&size),
				 0);
		print_message("%s: %u instructions verified, %u translated, "
			      "%u bytes of machine code\n",
			      bpf_program__name(program), info.verified_insns,
			      info.xlated_prog_len / 8, info.jited_prog_len);
		assert_in_range(info.verified_insns, 1,
				budget_of(bpf_program__name(program)));
	}
}

static int enter(void **state)
{
	cpu_set_t first;

	(void)state;
	if (kern_open(&kern)) {
		print_message("not allowed to load BPF programs: nothing tested\n");
		return 0;
	}
	/* Per-CPU counters are read after every packet. */
	CPU_ZERO(&first);
	CPU_SET(0, &first);
	sched_setaffinity(0, sizeof(first), &first);
	for (__u32 f = 0; f < FAMILY_COUNT; f++) {
		struct service s = kern_open_service((enum wire_family)f);

		kern_service(&kern, 0, f, &s);
		kern_port(&kern, 0, (__u16)(1000 + f), (int)f, false);
	}
	return 0;
}

static int leave(void **state)
{
	(void)state;
	kern_close(&kern);
	return 0;
}

static int need_kernel(void **state)
{
	(void)state;
	if (!kern.skel)
		skip();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(the_verifier_is_not_overworked, need_kernel),
		cmocka_unit_test_setup(kernel_and_reader_agree, need_kernel),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
