// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * kern_load.c - the shield's own objects into the kernel, in a BPF file system of the
 * test's own: what is pinned is found again, and why the kernel takes none is said.
 * stubs: all
 */
#include <cap-ng.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "kern/kern_maps.h"

#include "apart.h"
#include "stderr.h"

#define FS    "/sys/fs/bpf"
#define OURS  FS "/ours"
#define LEAST 32 /* services that there is always room for */

static struct config *config;
static int padding; /* in front of whatever libbpf says */

/* In the place of the C library's. */
int vasprintf(char **ret, const char *format, va_list args)
{
	char words[8192];
	int n = vsnprintf(words, sizeof(words), format, args);

	return n < 0 ? n : asprintf(ret, "%*s%s", padding, "", words);
}

static bool locked; /* another process has the lock of the directory */
static useconds_t waited; /* for it, without a wait */

/* As the kernel's, and with the lock of another process. */
int flock(int fd, int operation)
{
	if (!locked)
		return (int)syscall(SYS_flock, fd, operation);
	assert_true(operation & LOCK_NB); /* or it would wait for ever */
	errno = EWOULDBLOCK;
	return -1;
}

int usleep(useconds_t us)
{
	waited += us;
	return 0;
}

static int begin(void **state)
{
	(void)state;
	config = calloc(1, sizeof(*config));
	if (!config || !apart_mount("bpf", FS))
		return -1;
	config_empty(config);
	return 0;
}

static int end(void **state)
{
	(void)state;
	free(config);
	return umount2(FS, MNT_DETACH);
}

static void services(size_t count)
{
	config->service_count = 0;
	while (config->service_count < count) {
		size_t i = config->service_count++;
		struct config_service *s = &config->services[i];

		memset(s, 0, sizeof(*s));
		s->service.family = FAMILY_QUAKE3;
		config_service_defaults(FAMILY_QUAKE3, &s->service);
		snprintf(s->service.name, sizeof(s->service.name), "s%zu", i);
		s->service.active = 1;
		s->ports[s->port_count++] = (__u16)(20000 + i);
	}
}

/* Room for half as many more, of which whoever opens the tables later knows. */
static void there_is_room_for_some_more(void **state)
{
	struct shield *loaded, *opened;

	(void)state;
	services(LEAST);
	assert_int_equal(shield_load(OURS, config, &loaded), 0);
	assert_int_equal(shield_open(OURS, &opened), 0);
	assert_int_equal(loaded->capacity, 2 * LEAST);
	assert_int_equal(opened->capacity, 2 * LEAST);
	assert_int_equal(shield_generation(opened), 1);
	services(2 * LEAST);
	assert_int_equal(shield_apply(opened, config), 0);
	assert_int_equal(shield_generation(loaded), 2);
	assert_int_equal(shield_applied(loaded), 1);
	services(2 * LEAST + 1);
	assert_int_equal(shield_apply(opened, config), -ENOSPC);
	assert_int_equal(shield_applied(opened), 2);
	shield_close(opened);
	shield_close(loaded);
}

/* A start waits for the lock of another process for a while. The directory may have that
 * one's tables, and stays. */
static void a_start_does_not_wait_for_ever(void **state)
{
	struct shield *loaded;
	char said[1024];
	int err;

	(void)state;
	services(1);
	locked = true;
	waited = 0;
	stderr_catch();
	err = shield_load(OURS, config, &loaded);
	stderr_release(said, sizeof(said));
	locked = false;
	assert_int_equal(err, -EWOULDBLOCK);
	assert_in_range(waited, 2000000, 2100000);
	assert_string_equal(said, "quakeshield: cannot lock '" OURS "': another process "
				  "has held it for 2 seconds: `lslocks` shows which\n");
	assert_int_equal(access(OURS, F_OK), 0);
	assert_int_equal(shield_load(OURS, config, &loaded), 0);
	shield_close(loaded);
}

/* A process that waited for a start that failed has tables that no program uses. */
static void tables_of_a_removed_directory_are_not_locked(void **state)
{
	struct shield *loaded;
	char said[1024];
	size_t count;

	(void)state;
	services(1);
	assert_int_equal(shield_load(OURS, config, &loaded), 0);
	assert_int_equal(shield_detach(OURS, &count), 0);
	stderr_catch();
	assert_int_equal(shield_apply(loaded, config), -ESTALE);
	stderr_release(said, sizeof(said));
	assert_string_equal(said, "quakeshield: '" OURS "' was removed in the meantime: "
				  "its tables are in force no more\n");
	shield_close(loaded);
}

/* Another user could put maps of its own there. */
static void a_directory_that_others_may_write_is_not_opened(void **state)
{
	struct shield *loaded, *opened = NULL;
	char said[1024];

	(void)state;
	services(1);
	assert_int_equal(shield_load(OURS, config, &loaded), 0);
	assert_int_equal(chmod(OURS, 0777), 0);
	stderr_catch();
	assert_int_equal(shield_open(OURS, &opened), -EACCES);
	stderr_release(said, sizeof(said));
	assert_non_null(strstr(said, "'" OURS "' was made by another user"));
	assert_int_equal(chmod(OURS, 0700), 0);
	assert_int_equal(chown(OURS, 1, 1), 0);
	stderr_catch();
	assert_int_equal(shield_open(OURS, &opened), -EACCES);
	stderr_release(said, sizeof(said));
	assert_int_equal(chown(OURS, 0, 1), 0);
	assert_int_equal(chmod(OURS, 0750), 0); /* a group that may read */
	assert_int_equal(shield_open(OURS, &opened), 0);
	shield_close(opened);
	shield_close(loaded);
}

/* The id of the program that is pinned as @name. */
static __u32 pinned_as(const char *name)
{
	struct bpf_prog_info info = { 0 };
	__u32 size = sizeof(info);
	int fd = pin_open(OURS, name);

	assert_true(fd >= 0);
	assert_int_equal(bpf_obj_get_info_by_fd(fd, &info, &size), 0);
	close(fd);
	return info.id;
}

static __u32 id_of(int program)
{
	struct bpf_prog_info info = { 0 };
	__u32 size = sizeof(info);

	assert_int_equal(bpf_obj_get_info_by_fd(program, &info, &size), 0);
	return info.id;
}

/* Who looks at a program by its pin sees the one that is meant, at once and later. */
static void each_program_has_its_pin(void **state)
{
	static const char *const all[] = { "xdp", "egress", "joined", "proof", "answer" };
	struct shield *s;

	(void)state;
	services(1);
	for (int twice = 0; twice < 2; twice++) {
		assert_int_equal(shield_load(OURS, config, &s), 0);
		assert_int_equal(pinned_as("xdp"), id_of(s->program));
		assert_int_equal(pinned_as("egress"), id_of(s->egress));
		assert_int_equal(pinned_as("joined"), id_of(s->joined));
		for (size_t i = 0; i < COUNT(all); i++)
			for (size_t j = 0; j < i; j++)
				assert_int_not_equal(pinned_as(all[i]),
						     pinned_as(all[j]));
		shield_close(s);
	}
}

/* Nobody who may do no more than @caps loads it; @said is why. */
static void assert_refused(const int *caps, size_t count, char *said, size_t size)
{
	int status;
	pid_t pid;

	services(1);
	stderr_catch();
	pid = fork();
	if (!pid) {
		struct shield *s;

		capng_clear(CAPNG_SELECT_BOTH);
		for (size_t i = 0; i < count; i++)
			capng_update(CAPNG_ADD, CAPNG_EFFECTIVE | CAPNG_PERMITTED,
				     (unsigned int)caps[i]);
		status = capng_apply(CAPNG_SELECT_CAPS) || !shield_load(OURS, config, &s);
		fflush(stderr);
		_exit(status);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	stderr_release(said, size);
	assert_int_equal(status, 0);
	assert_int_not_equal(access(OURS "/xdp", F_OK), 0);
}

static void who_may_not_is_told_what_it_takes(void **state)
{
	static const int caps[] = { CAP_NET_ADMIN };
	char said[8192];

	(void)state;
	assert_refused(caps, COUNT(caps), said, sizeof(said));
	assert_non_null(strstr(said, "no permission to load BPF programs: run as root"));
	assert_null(strstr(said, "refused the program"));
}

/* What the verifier says at last is where it gives up: that is not lost. */
static void the_end_of_the_verifiers_words_is_told(void **state)
{
	static const int caps[] = { CAP_NET_ADMIN, CAP_BPF };
	static const char shown[] = "lines above say why";
	char said[8192];

	(void)state;
	/* The verifier refuses no stub. */
	unsetenv("TEST_STUBS");
	assert_refused(caps, COUNT(caps), said, sizeof(said));
	assert_non_null(strstr(said, shown));
	assert_null(strstr(said, "no permission"));
	assert_non_null(strstr(said, "-- END PROG LOAD LOG --"));
	assert_non_null(strstr(said, "failed to load object 'shield_bpf'"));
	/* Of a log of megabytes there is room for the end, which is two of these. */
	padding = 1900;
	assert_refused(caps, COUNT(caps), said, sizeof(said));
	padding = 0;
	assert_null(strstr(said, "-- END PROG LOAD LOG --"));
	assert_non_null(strstr(said, ": failed to load: -"));
	assert_non_null(strstr(said, "failed to load object 'shield_bpf'"));
	assert_non_null(strstr(said, shown));
	/* Even of one of them there is the end. */
	padding = 5000;
	assert_refused(caps, COUNT(caps), said, sizeof(said));
	padding = 0;
	assert_non_null(strstr(said, "failed to load BPF skeleton 'shield_bpf'"));
	assert_non_null(strstr(said, shown));
}

#undef TEST
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(there_is_room_for_some_more),
		TEST(a_start_does_not_wait_for_ever),
		TEST(tables_of_a_removed_directory_are_not_locked),
		TEST(a_directory_that_others_may_write_is_not_opened),
		TEST(each_program_has_its_pin),
		TEST(who_may_not_is_told_what_it_takes),
		TEST(the_end_of_the_verifiers_words_is_told),
	};

	if (!apart(CLONE_NEWNS | CLONE_NEWNET) ||
	    bpf_map_create(BPF_MAP_TYPE_ARRAY, "may", 4, 4, 1, NULL) < 0)
		return apart_refused();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
