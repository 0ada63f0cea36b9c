// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The same bytes through classify() here and through the program in the kernel: never a
 * different kind. And what the verifier had to walk, so that it does not creep up.
 */
#include <sched.h>
#include <sys/utsname.h>
#include <time.h>

#include "classify.h"
#include "kern/kern_support.h"
#include "spellings.h"

#define ROUNDS	    500000
#define SECONDS_MAX 20 /* then stop, if enough was compared */
#define ROUNDS_MIN  100000
#define BUDGET	    "vmtests/BUDGET"

static struct kern kern;

static const struct {
	const char *bytes;
	size_t n;
} seeds[] = {
#define AS_SEED(kind, word, class_, families, sent) \
	{ "\xff\xff\xff\xff" word " x", sizeof(word) + 5 },
	WIRE_WORDS(AS_SEED)
#undef AS_SEED
#define AS_SEED(kind, code, name, class_, families)                                    \
	{ (const char[]){ (char)0x80, 0, 0, 12, code, 'Q', 'U', 'A', 'K', 'E', 0, 3 }, \
	  12 },
		WIRE_CONTROL(AS_SEED)
#undef AS_SEED
#define AS_SEED(kind, code, name, class_, families) \
	{ (const char[64]){ 0x16, (char)0xfe, (char)0xfd, [12] = 51, [13] = code }, 64 },
			WIRE_HANDSHAKE(AS_SEED)
#undef AS_SEED
				{ "\x17\xfe\xfd\0\1\0\0\0\0\0\0\0\4abcd", 17 },
	{ "\x14\xfe\xff\0\0\0\0\0\0\0\0\0\1\1", 14 },
	{ "\0\1\0\x0c\0\0\0\0game", 12 },
	{ "\0\2\0\x08\0\0\0\0", 8 },
	{ "\0\x10\0\x0c\0\0\0\0game", 12 },
	{ "a\n17\n4\n", 7 },
	{ "C\n", 2 },
	{ "k\0", 2 },
	{ "l", 1 },
	{ "m", 1 },
	{ "c\n", 2 },
	{ "\xff\xff\xff\xff"
	  "d\n",
	  6 },
	{ "\x15\xfe\xfd\0\0\0\0\0\0\0\0\0\2\1\0", 15 },
	{ "\x18\xfe\xfd\0\1\0\0\0\0\0\0\0\2xx", 15 },
	/* A ClientHello of 48 octets, whose cookie has one. */
	{ (const char[73]){ 0x16, (char)0xfe, (char)0xfd, [12] = 60,
			    1, [16] = 48, [24] = 48, (char)0xfe, (char)0xfd, [60] = 1 },
	  73 },
	{ "query\n\0", 7 },
	{ "stdlog 1\nx", 10 },
	{ "\x01\0\0\0\x34\x12payload of a game", 23 },
};

struct input {
	__u8 bytes[192];
	size_t n;
};

static unsigned int random_state = 20261121;

static unsigned int below(unsigned int n)
{
	return (unsigned int)rand_r(&random_state) % n;
}

#define SEEDS (COUNT(seeds) + COUNT(spellings))

static void take_seed(struct input *in, size_t at)
{
	if (at < COUNT(seeds)) {
		in->n = seeds[at].n;
		memcpy(in->bytes, seeds[at].bytes, in->n);
		return;
	}
	at -= COUNT(seeds);
	memset(in->bytes, 0xff, 4);
	in->n = 4 + spellings[at].n;
	memcpy(in->bytes + 4, spellings[at].text, spellings[at].n);
}

static void mutate(struct input *in)
{
	switch (below(7)) {
	case 0: /* one byte */
		if (in->n)
			in->bytes[below((unsigned int)in->n)] = (__u8)below(256);
		break;
	case 1: /* one bit */
		if (in->n)
			in->bytes[below((unsigned int)in->n)] ^= (__u8)(1u << below(8));
		break;
	case 2: /* shorter */
		in->n = below((unsigned int)in->n + 1);
		break;
	case 3: /* longer */
		while (in->n < sizeof(in->bytes) && below(16))
			in->bytes[in->n++] = (__u8)below(256);
		break;
	case 4: /* a byte that tokenisers care for */
		if (in->n)
			in->bytes[below((unsigned int)in->n)] =
				(__u8)("\0\n \t\"/*\\\x7f\x80\xff"[below(11)]);
		break;
	case 5: /* the length that NetQuake wants */
		if (in->n >= 4) {
			in->bytes[2] = 0;
			in->bytes[3] = (__u8)in->n;
		}
		break;
	default: /* as it is */
		break;
	}
}

static void draw(struct input *in)
{
	if (below(8)) {
		take_seed(in, below(SEEDS));
		for (unsigned int i = below(4); i; i--)
			mutate(in);
		return;
	}
	in->n = below(80);
	for (size_t i = 0; i < in->n; i++)
		in->bytes[i] = (__u8)below(256);
}

/* The kind that the kernel counted in @slot, KIND_COUNT: none. */
static enum wire_kind counted(__u32 slot)
{
	struct tallies now, *was = &kern.seen[slot];
	enum wire_kind ret = KIND_COUNT;

	kern_sum(&kern, slot, &now);
	for (int kind = 0; kind < KIND_COUNT; kind++) {
		if (memcmp(now.by[kind], was->by[kind], sizeof(now.by[kind])) != 0)
			ret = (enum wire_kind)kind;
	}
	*was = now;
	return ret;
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* KERN_ROUNDS, for an emulated processor; 0: as many as the time allows. */
static int rounds_wanted(void)
{
	const char *text = getenv("KERN_ROUNDS");

	return text ? (int)strtol(text, NULL, 10) : 0;
}

static void kernel_and_native_agree(void **state)
{
	double start = seconds();
	int rounds = 0, kinds = 0, wanted = rounds_wanted();
	bool seen[KIND_COUNT] = { false };

	(void)state;
	for (; rounds < (wanted ? wanted : ROUNDS); rounds++) {
		/* Few rounds are to see every kind: each seed to each family first. */
		bool as_is = rounds < (int)(SEEDS * FAMILY_COUNT);
		enum wire_family family =
			(enum wire_family)(as_is ? (unsigned int)rounds % FAMILY_COUNT
						 : below(FAMILY_COUNT));
		struct input in;
		struct frame_spec spec;
		struct cursor c;
		enum wire_kind native, kernel;
		__u8 frame[FRAME_MAX];

		if (rounds >= ROUNDS_MIN && seconds() - start > SECONDS_MAX)
			break;
		if (as_is)
			take_seed(&in, (size_t)rounds / FAMILY_COUNT);
		else
			draw(&in);
		spec = (struct frame_spec){ .payload = (const char *)in.bytes,
					    .n = in.n,
					    .dport = (__u16)(1000 + family),
					    .ipv6 = below(4) == 0,
					    .padding = below(3) ? 0 : below(40) };
		c = (struct cursor){ .pos = in.bytes, .end = in.bytes + in.n };
		native = classify(family, DIRECTION_C2S, c, (__u32)in.n);
		kern_action(&kern, frame, frame_build(&spec, frame));
		kernel = counted(family);
		if (native != kernel) {
			print_error("%s: native %s, kernel %s:", family_name(family),
				    kind_name(native), kind_name(kernel));
			for (size_t i = 0; i < in.n; i++)
				print_error(" %02x", in.bytes[i]);
			print_error("\n");
		}
		assert_int_equal(native, kernel);
		kinds += !seen[native];
		seen[native] = true;
	}
	print_message("%d inputs, %d kinds, no mismatch, %.1f s\n", rounds, kinds,
		      seconds() - start);
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
		cmocka_unit_test_setup(kernel_and_native_agree, need_kernel),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
