// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * kern_fallback.c - a kernel that refuses the programs which shield() calls last: the
 * rest is loaded, limits what comes, and says what is off. The kernel is this one; its
 * system call refuses, in its place, what a test names.
 * stubs: all
 */
#include <dlfcn.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "kern/kern_maps.h"
#include "shield/trial.h"

#include "apart.h"
#include "stderr.h"

#define FS   "/sys/fs/bpf"
#define OURS FS "/ours"
#define SAID "refused the programs for address validation and cached responses"

static struct config *config;
static const char *refused; /* the program that the kernel refuses; NULL: none */
static int refusal; /* errno of that */
static struct shield *loaded;
static char said[16384];

/* In the place of the C library's, by which libbpf calls the kernel. */
long syscall(long number, ...)
{
	static long (*real)(long, ...);
	const union bpf_attr *load;
	long at[6];
	va_list args;
	int command;

	va_start(args, number);
	for (size_t i = 0; i < COUNT(at); i++)
		at[i] = va_arg(args, long);
	va_end(args);
	va_start(args, number);
	command = va_arg(args, int);
	load = va_arg(args, const union bpf_attr *);
	va_end(args);
	if (number == SYS_bpf && command == BPF_PROG_LOAD && refused &&
	    !strcmp(load->prog_name, refused)) {
		errno = refusal;
		return -1;
	}
	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "syscall");
	return real(number, at[0], at[1], at[2], at[3], at[4], at[5]);
}

static int begin(void **state)
{
	struct config_service *s;

	(void)state;
	config = calloc(1, sizeof(*config));
	if (!config || !apart_mount("bpf", FS))
		return -1;
	config_empty(config);
	config->service_count = 1;
	s = &config->services[0];
	s->service.family = FAMILY_QUAKE3;
	config_service_defaults(FAMILY_QUAKE3, &s->service);
	strcpy(s->service.name, "ffa");
	s->service.validation = VALIDATION_ALWAYS;
	s->service.cache = CACHE_ALWAYS;
	s->ports[s->port_count++] = 27960;
	refused = NULL;
	return 0;
}

static int end(void **state)
{
	(void)state;
	shield_close(loaded);
	loaded = NULL;
	free(config);
	return umount2(FS, MNT_DETACH);
}

/* Load anew where the kernel has @error against @program, NULL: nothing. */
static int load(const char *program, int error)
{
	int err;

	shield_close(loaded);
	loaded = NULL;
	refused = program;
	refusal = error;
	stderr_catch();
	err = shield_load(OURS, config, &loaded);
	stderr_release(said, sizeof(said));
	return err;
}

static struct service in_force(void)
{
	struct service ret;

	assert_true(shield_service(loaded, 0, &ret));
	return ret;
}

static bool is_filled(enum tail_call call)
{
	__u32 key = call, id;

	return !bpf_map_lookup_elem(loaded->tail_calls, &key, &id);
}

static void all_is_there(void)
{
	assert_false(shield_fallback(loaded));
	assert_int_equal(in_force().validation, VALIDATION_ALWAYS);
	assert_int_equal(in_force().cache, CACHE_ALWAYS);
	assert_true(is_filled(TAIL_CALL_VALIDATE) && is_filled(TAIL_CALL_CACHE));
	assert_null(strstr(said, "refused"));
}

static void half_is_there(void)
{
	assert_true(shield_fallback(loaded));
	assert_int_equal(in_force().validation, VALIDATION_OFF);
	assert_int_equal(in_force().cache, CACHE_OFF);
	assert_false(is_filled(TAIL_CALL_VALIDATE) || is_filled(TAIL_CALL_CACHE));
	assert_non_null(strstr(said, SAID));
}

/* How many of @count such datagrams from one source pass. */
static int passed(const char *text, int count)
{
	struct frame_spec s = { .payload = text, .n = strlen(text), .dport = 27960 };
	__u8 frame[FRAME_MAX];
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = frame, .repeat = 1);
	int pass = 0;

	run.data_size_in = (__u32)frame_build(&s, frame);
	for (int i = 0; i < count; i++) {
		assert_int_equal(bpf_prog_test_run_opts(loaded->program, &run), 0);
		assert_true(run.retval == XDP_PASS || run.retval == XDP_DROP);
		pass += run.retval == XDP_PASS;
	}
	return pass;
}

static void limits_hold_without_the_programs_that_were_refused(void **state)
{
	struct counters in, out;

	(void)state;
	/* The program itself decides which packets pass. */
	unsetenv("TEST_STUBS");
	assert_int_equal(load("shield_validate", EACCES), 0);
	half_is_there();
	assert_in_range(passed(OOB "getstatus", 200), 1, 199);
	assert_in_range(passed(OOB "getchallenge", 200), 1, 199);
	assert_int_equal(shield_counters(loaded, 0, &in, &out), 0);
	assert_int_equal(counters_packets(&in), 400);
	assert_int_equal(counters_packets(&out), 0);
	assert_true(in.by[KIND_GETSTATUS][REASON_WITHIN_LIMITS].packets > 0);
}

/* Without shield_validate(), what shield_cache() leaves to it is dropped and counted. */
static void all_is_counted_while_one_program_is_missing(void **state)
{
	__u32 missing = TAIL_CALL_VALIDATE;
	struct counters in, out;

	(void)state;
	unsetenv("TEST_STUBS");
	config->services[0].service.cache = CACHE_UNDER_LOAD;
	assert_int_equal(load(NULL, 0), 0);
	assert_int_equal(bpf_map_delete_elem(loaded->tail_calls, &missing), 0);
	assert_int_equal(passed(OOB "getstatus", 3), 0);
	assert_int_equal(shield_counters(loaded, 0, &in, &out), 0);
	assert_int_equal(counters_packets(&in), 3);
	assert_int_equal(in.by[KIND_GETSTATUS][REASON_SERVICE_LIMIT].packets, 3);
}

static void validation_stays_off_in_another_configuration(void **state)
{
	struct shield *other;

	(void)state;
	assert_int_equal(load("shield_validate", EINVAL), 0);
	assert_int_equal(shield_apply(loaded, config), 0);
	half_is_there();
	/* By a process that has not loaded it, too. */
	assert_int_equal(shield_open(OURS, &other), 0);
	assert_true(shield_fallback(other));
	assert_int_equal(shield_apply(other, config), 0);
	shield_close(other);
	half_is_there();
	assert_int_equal(config->services[0].service.validation, VALIDATION_ALWAYS);
	/* No pin leads to what is not there. */
	assert_int_not_equal(access(OURS "/proof", F_OK), 0);
	assert_int_not_equal(access(OURS "/answer", F_OK), 0);
	assert_int_equal(access(OURS "/xdp", F_OK), 0);
}

static void a_kernel_that_takes_all_gets_all(void **state)
{
	(void)state;
	assert_int_equal(load(NULL, 0), 0);
	all_is_there();
	assert_int_equal(access(OURS "/proof", F_OK), 0);
	assert_int_equal(load("shield_cache", E2BIG), 0);
	half_is_there();
	assert_int_not_equal(access(OURS "/proof", F_OK), 0);
	assert_int_equal(load(NULL, 0), 0);
	all_is_there();
}

/* It pins nothing, and shows what a configuration does here. */
static void a_trial_has_no_validation_either(void **state)
{
	(void)state;
	refused = "shield_cache";
	refusal = EACCES;
	stderr_catch();
	assert_int_equal(shield_private(32, false, &loaded), 0);
	stderr_release(said, sizeof(said));
	assert_int_equal(shield_apply_locked(loaded, config), 0);
	half_is_there();
}

/* The daemon has said what was refused; `explain` does not ask for it again. */
static void a_trial_of_a_fallback_says_nothing_of_it(void **state)
{
	struct trial *trial;

	(void)state;
	assert_int_equal(load("shield_validate", EACCES), 0);
	half_is_there();
	stderr_catch();
	assert_int_equal(trial_open(loaded, &trial), 0);
	stderr_release(said, sizeof(said));
	assert_true(trial_is_same(trial));
	trial_close(trial);
	assert_string_equal(said, "");
	/* A kernel that refuses the rest by now is heard. */
	refused = "shield";
	stderr_catch();
	assert_int_equal(trial_open(loaded, &trial), -EACCES);
	stderr_release(said, sizeof(said));
	assert_non_null(strstr(said, "refused the program or a map"));
}

/* Fewer programs need the same permission, and a shield needs its first. */
static void other_errors_have_no_fallback(void **state)
{
	static const struct {
		const char *program;
		int error;
		const char *said;
	} rows[] = {
		{ "shield_validate", EPERM, "no permission to load BPF programs" },
		{ "shield_validate", ENOMEM, "refused the program or a map" },
		{ "shield", EACCES, "refused the program or a map" },
		{ "shield_out", EACCES, "refused the program or a map" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(load(rows[i].program, rows[i].error), -rows[i].error);
		assert_non_null(strstr(said, rows[i].said));
		assert_null(strstr(said, SAID));
		assert_null(loaded);
	}
}

#undef TEST
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(all_is_counted_while_one_program_is_missing),
		TEST(validation_stays_off_in_another_configuration),
		TEST(a_kernel_that_takes_all_gets_all),
		TEST(a_trial_has_no_validation_either),
		TEST(a_trial_of_a_fallback_says_nothing_of_it),
		TEST(other_errors_have_no_fallback),
		TEST(limits_hold_without_the_programs_that_were_refused),
	};

	if (!apart(CLONE_NEWNS | CLONE_NEWNET) ||
	    bpf_map_create(BPF_MAP_TYPE_ARRAY, "may", 4, 4, 1, NULL) < 0)
		return apart_refused();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
