// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * kern_idle.c - a look at the counters of many services, by its calls of the kernel,
 * which are the same on every machine. A service that no datagram came for costs none.
 * stubs: shield_joined
 */
#include <dlfcn.h>
#include <sched.h>
#include <sys/syscall.h>

#include "kern/kern_maps.h"
#include "stats/stats.h"

#include "apart.h"

#define FS	"/sys/fs/bpf"
#define OURS	FS "/ours"
#define MANY	200
#define PORT_AT 20000
#define OTHERS	24 /* calls of a look for all that is no service's */

static struct config *config;
static struct shield *loaded;
static struct stats stats_;
static int batches, calls; /* since the last look began */
static int each = 1; /* batches for the counters of one service */

/* In the place of the C library's, by which libbpf calls the kernel. */
long syscall(long number, ...)
{
	static long (*real)(long, ...);
	long at[6];
	va_list args;

	va_start(args, number);
	for (size_t i = 0; i < COUNT(at); i++)
		at[i] = va_arg(args, long);
	va_end(args);
	calls += number == SYS_bpf;
	batches += number == SYS_bpf && at[0] == BPF_MAP_LOOKUP_BATCH;
	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "syscall");
	return real(number, at[0], at[1], at[2], at[3], at[4], at[5]);
}

/* Counters and notes are this processor's. */
static void stay_here(void)
{
	cpu_set_t here;

	CPU_ZERO(&here);
	CPU_SET(sched_getcpu(), &here);
	assert_int_equal(sched_setaffinity(0, sizeof(here), &here), 0);
}

static int begin(void **state)
{
	(void)state;
	stay_here();
	config = calloc(1, sizeof(*config));
	if (!config || !apart_mount("bpf", FS))
		return -1;
	config_empty(config);
	for (int i = 0; i < MANY; i++) {
		struct config_service *s = &config->services[config->service_count++];

		s->service.family = FAMILY_QUAKE3;
		config_service_defaults(FAMILY_QUAKE3, &s->service);
		snprintf(s->service.name, sizeof(s->service.name), "s%d", i);
		s->ports[s->port_count++] = (__u16)(PORT_AT + i);
	}
	return shield_load(OURS, config, &loaded);
}

static int end(void **state)
{
	(void)state;
	stats_free(&stats_);
	shield_close(loaded);
	free(config);
	return umount2(FS, MNT_DETACH);
}

/* Look, in a turn of its own; how many services were read. */
static int look(void)
{
	loaded->turned_ns = 0;
	batches = calls = 0;
	assert_int_equal(stats_refresh(loaded, &stats_), 0);
	assert_in_range(calls - batches, 0, OTHERS);
	assert_int_equal(batches % each, 0);
	return batches / each;
}

/* Datagrams received and sent of service @i, as the last look has them. */
static __u64 counted(int i)
{
	return counters_packets(&stats_.services[i].in) +
	       counters_packets(&stats_.services[i].out);
}

/* A getstatus for service @i arrives, or a statusResponse of it leaves. */
static void pass(int program, int i)
{
	bool out = program == loaded->egress;
	const char *text = out ? OOB "statusResponse\n\\a\\b" : OOB "getstatus";
	struct frame_spec s = { .payload = text, .n = strlen(text) };
	__u8 frame[FRAME_MAX];
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = frame, .repeat = 1);

	s.dport = (__u16)(out ? 40000 : PORT_AT + i);
	s.sport = (__u16)(out ? PORT_AT + i : 40000);
	run.data_size_in = (__u32)frame_build(&s, frame);
	assert_int_equal(bpf_prog_test_run_opts(program, &run), 0);
}

/* Until nothing is read any more: a processor may be two turns late. */
static void settle(void)
{
	for (int i = 0; i < 3; i++)
		look();
	assert_int_equal(look(), 0);
}

static void only_services_that_counted_are_read(void **state)
{
	(void)state;
	each = look() / MANY;
	assert_in_range(each, 1, 4);
	assert_int_equal(batches, each * MANY);
	settle();
	for (int i = 0; i < MANY; i += 66) {
		pass(loaded->program, i);
		assert_int_equal(look(), 1);
		assert_int_equal(counted(i), 1);
		pass(loaded->egress, i);
		look();
		assert_int_equal(counted(i), 2);
		settle();
		assert_int_equal(counted(i), 2);
	}
	pass(loaded->program, 3);
	pass(loaded->egress, 7);
	assert_int_equal(look(), 2);
	assert_int_equal(counted(3), 1);
	assert_int_equal(counted(7), 1);
	settle();
	/* The same counter again, much later. */
	pass(loaded->program, 3);
	assert_int_equal(look(), 1);
	assert_int_equal(counted(3), 2);
	settle();
}

/* A counter that changes while it is read, in the old turn or in the new one. */
static void count_of_the_turn_before_is_read(void **state)
{
	__u32 turn;

	(void)state;
	settle();
	pass(loaded->program, 5);
	assert_int_equal(look(), 1);
	/* As if a processor had noted the turn before the last, and counts now. */
	turn = loaded->shared->counters_turn;
	loaded->shared->counters_turn = turn - 1;
	pass(loaded->program, 5);
	loaded->shared->counters_turn = turn;
	assert_int_equal(look(), 1);
	assert_int_equal(counted(5), 2);
	settle();
}

/* A service that gets the slot of another begins from zero. */
static void another_configuration_is_read_whole(void **state)
{
	(void)state;
	settle();
	strcpy(config->services[5].service.name, "another");
	assert_int_equal(shield_apply(loaded, config), 0);
	assert_int_equal(look(), MANY);
	for (int i = 0; i < MANY; i++)
		if (!strcmp(stats_.services[i].service.name, "another"))
			assert_int_equal(counted(i), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_services_that_counted_are_read),
		cmocka_unit_test(count_of_the_turn_before_is_read),
		cmocka_unit_test(another_configuration_is_read_whole),
	};

	if (!apart(CLONE_NEWNS | CLONE_NEWNET) ||
	    bpf_map_create(BPF_MAP_TYPE_ARRAY, "may", 4, 4, 1, NULL) < 0)
		return apart_refused();
	return cmocka_run_group_tests(tests, begin, end);
}
