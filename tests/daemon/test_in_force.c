// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_in_force.c - the two files of the configurations in force, in a /run of the test's
 * own.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "apart.h"
#include "daemon/in_force.h"
#include "stderr.h"

static struct config *config;
static char now[PATH_MAX], before[PATH_MAX];

static int begin(void **state)
{
	(void)state;
	config = calloc(1, sizeof(*config));
	in_force_path(NULL, IN_FORCE, now);
	in_force_path(NULL, IN_FORCE_PREVIOUS, before);
	return config && apart_mount("tmpfs", "/run") ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	free(config);
	return umount2("/run", MNT_DETACH);
}

/* Write one that drops its credit in @refill seconds, by which it is told from others. */
static int put(const char *pin, __u32 refill)
{
	config_default(config);
	config->amplification_refill_s = refill;
	return in_force_write(pin, config);
}

static int get(const char *pin, enum in_force which)
{
	int err = in_force_read(pin, which, config);

	return err ? err : (int)config->amplification_refill_s;
}

static void the_last_two_are_kept(void **state)
{
	struct stat st;

	(void)state;
	assert_int_equal(get(NULL, IN_FORCE), -ENOENT);
	assert_int_equal(put(NULL, 31), 0); /* which makes the directory */
	assert_int_equal(get(NULL, IN_FORCE), 31);
	assert_int_equal(get(NULL, IN_FORCE_PREVIOUS), -ENOENT);
	assert_int_equal(put(NULL, 32), 0);
	assert_int_equal(put(NULL, 33), 0);
	assert_int_equal(get(NULL, IN_FORCE), 33);
	assert_int_equal(get(NULL, IN_FORCE_PREVIOUS), 32);
	assert_int_equal(stat(now, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

/* Values that config_resolve() has chosen are known, so that it can choose again. */
static void defaults_are_told_from_what_is_given(void **state)
{
	struct config_service *first = &config->services[0], *second = first + 1;

	(void)state;
	config_default(config);
	*second = *first;
	strcpy(second->service.name, "second");
	second->ports[0]++;
	config->service_count = 2;
	first->cache_given = second->validation_given = true;
	assert_int_equal(in_force_write(NULL, config), 0);
	memset(config, 0, sizeof(*config));
	assert_int_equal(in_force_read(NULL, IN_FORCE, config), 0);
	assert_true(first->cache_given && !first->validation_given);
	assert_true(!second->cache_given && second->validation_given);
	first->validation_given = second->cache_given = true;
	assert_int_equal(in_force_write(NULL, config), 0);
	assert_int_equal(in_force_read(NULL, IN_FORCE, config), 0);
	assert_true(first->cache_given && first->validation_given);
	assert_true(second->cache_given && second->validation_given);
}

/* After a correction undo goes back to before the reload, as it did. */
static void a_correction_is_no_reload(void **state)
{
	(void)state;
	put(NULL, 45);
	put(NULL, 46);
	config->amplification_refill_s = 47;
	assert_int_equal(in_force_correct(NULL, config), 0);
	assert_int_equal(get(NULL, IN_FORCE), 47);
	assert_int_equal(get(NULL, IN_FORCE_PREVIOUS), 45);
}

/* The same once more is no change, so that undo still finds the other one. */
static void the_same_again_is_no_other(void **state)
{
	__u64 written;

	(void)state;
	assert_int_equal(in_force_written(NULL), 0);
	put(NULL, 41);
	put(NULL, 42);
	written = in_force_written(NULL);
	assert_int_not_equal(written, 0);
	usleep(20000); /* times of files are those of ticks */
	put(NULL, 42);
	assert_true(in_force_written(NULL) > written);
	assert_int_equal(get(NULL, IN_FORCE_PREVIOUS), 41);
	/* One that begins alike is another. */
	assert_int_equal(truncate(now, 100), 0);
	put(NULL, 42);
	assert_int_equal(get(NULL, IN_FORCE), 42);
	assert_int_equal(access(before, R_OK), 0);
}

static void each_directory_has_its_own(void **state)
{
	char path[PATH_MAX];

	(void)state;
	put(NULL, 51);
	put("/sys/fs/bpf/x", 52);
	assert_int_equal(get(NULL, IN_FORCE), 51);
	assert_int_equal(get("/sys/fs/bpf/x", IN_FORCE), 52);
	in_force_path("/sys/fs/bpf/x", IN_FORCE, path);
	assert_string_equal(path + strlen(now) - strlen(".conf"), "-sys-fs-bpf-x.conf");
	in_force_remove("/sys/fs/bpf-x");
	assert_int_equal(get("/sys/fs/bpf/x", IN_FORCE), 52);
	in_force_remove("/sys/fs/bpf/x");
	assert_int_equal(get("/sys/fs/bpf/x", IN_FORCE), -ENOENT);
	assert_int_equal(get(NULL, IN_FORCE), 51);
}

/* A container or test bed may share /run, and has a BPF file system of its own. */
static void each_bpf_file_system_has_its_own(void **state)
{
	(void)state;
	put(NULL, 53);
	assert_true(apart_mount("tmpfs", "/sys/fs/bpf"));
	assert_int_equal(get(NULL, IN_FORCE), -ENOENT);
	put(NULL, 54);
	in_force_remove(NULL);
	assert_int_equal(umount2("/sys/fs/bpf", MNT_DETACH), 0);
	assert_int_equal(get(NULL, IN_FORCE), 53);
	assert_int_equal(get(NULL, IN_FORCE_PREVIOUS), -ENOENT);
}

static void directory_fill(const char *path)
{
	char in[PATH_MAX + 2];

	snprintf(in, sizeof(in), "%s/x", path);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(mkdir(in, 0700), 0);
}

/* A link is not written through, and what cannot be written is said. */
static void a_file_that_cannot_be_is_said(void **state)
{
	char said[512];
	int err;

	(void)state;
	put(NULL, 61);
	assert_int_equal(unlink(now), 0);
	directory_fill(now);
	directory_fill(before);
	stderr_catch();
	err = put(NULL, 62);
	stderr_release(said, sizeof(said));
	assert_true(err < 0);
	assert_non_null(strstr(said, "cannot write '"));
	assert_non_null(strstr(said, now));
}

/* After an error the former configuration is kept as the previous one, and no other. */
static void the_former_one_is_kept_after_an_error(void **state)
{
	char fresh[PATH_MAX + 8], said[512];

	(void)state;
	snprintf(fresh, sizeof(fresh), "%s.new", now);
	put(NULL, 81);
	put(NULL, 82);
	assert_int_equal(mkdir(fresh, 0700), 0);
	stderr_catch();
	assert_true(put(NULL, 82) < 0);
	assert_int_equal(get(NULL, IN_FORCE), 82);
	assert_int_equal(get(NULL, IN_FORCE_PREVIOUS), 81);
	assert_true(put(NULL, 83) < 0);
	stderr_release(said, sizeof(said));
	assert_non_null(strstr(said, "cannot write '"));
	assert_int_equal(in_force_written(NULL), 0);
	assert_int_equal(get(NULL, IN_FORCE), -ENOENT);
	assert_int_equal(get(NULL, IN_FORCE_PREVIOUS), 82);
	assert_int_equal(rmdir(fresh), 0);
	assert_int_equal(put(NULL, 84), 0);
	assert_int_equal(get(NULL, IN_FORCE), 84);
	assert_int_equal(get(NULL, IN_FORCE_PREVIOUS), -ENOENT);
}

/* Read what has @text. 0 or an error; *@said: what that says. */
static int read_text(const char *text, char said[512])
{
	FILE *file = fopen(now, "w");
	int err;

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
	stderr_catch();
	err = in_force_read(NULL, IN_FORCE, config);
	stderr_release(said, 512);
	return err;
}

static void errors_are_said_and_warnings_are_not(void **state)
{
	char said[512];

	(void)state;
	put(NULL, 71); /* which makes the directory */
	assert_int_equal(read_text("service \"a\" { protocol = quake3 port = 27960\n"
				   "query { source = \"1/m burst 2\" } }\n",
				   said),
			 0);
	assert_string_equal(said, "");
	assert_true(read_text("nokey = 1\n", said) < 0);
	assert_memory_equal(said, now, strlen(now));
	assert_memory_equal(said + strlen(now), ":1: ", 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_last_two_are_kept, begin, end),
		cmocka_unit_test_setup_teardown(defaults_are_told_from_what_is_given,
						begin, end),
		cmocka_unit_test_setup_teardown(a_correction_is_no_reload, begin, end),
		cmocka_unit_test_setup_teardown(the_same_again_is_no_other, begin, end),
		cmocka_unit_test_setup_teardown(each_directory_has_its_own, begin, end),
		cmocka_unit_test_setup_teardown(each_bpf_file_system_has_its_own, begin,
						end),
		cmocka_unit_test_setup_teardown(a_file_that_cannot_be_is_said, begin,
						end),
		cmocka_unit_test_setup_teardown(the_former_one_is_kept_after_an_error,
						begin, end),
		cmocka_unit_test_setup_teardown(errors_are_said_and_warnings_are_not,
						begin, end),
	};

	return apart(CLONE_NEWNS) ? cmocka_run_group_tests(tests, NULL, NULL)
				  : apart_refused();
}
