// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_pins.c - directories and pins of a BPF file system: whose they may be, what is
 * made, exchanged and removed. The file system is the test's own, and goes with it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include <linux/magic.h>
#include <bpf/bpf.h>

#include "apart.h"
#include "shield/shield_internal.h"
#include "stderr.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define FS	 "/sys/fs/bpf"
#define STRANGER 65534

static char said[1024];

static int begin(void **state)
{
	(void)state;
	return apart_mount("bpf", FS) && !chmod(FS, 0700) ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	return umount2(FS, MNT_DETACH);
}

static bool there(const char *path)
{
	struct stat st;

	return !lstat(path, &st);
}

static struct stat stat_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st;
}

/* pins_make_dir(), what it said in @said. */
static int make(const char *path, bool *ret_new)
{
	int err;

	stderr_catch();
	err = pins_make_dir(path, ret_new);
	stderr_release(said, sizeof(said));
	if (!err)
		assert_string_equal(said, "");
	return err;
}

/* --- the file system
 * --------------------------------------------------------------------
 */

static void it_is_mounted_once(void **state)
{
	struct stat first;
	struct statfs fs;

	(void)state;
	assert_true(apart_mount("tmpfs", FS));
	/* Where what process 1 sees can be looked at. */
	if (getpid() != 1 && there("/proc/1/root" FS))
		assert_int_equal(shield_pins_life(), PINS_PROCESS);
	assert_int_equal(pins_mount(), 0);
	assert_int_equal(statfs(FS, &fs), 0);
	assert_int_equal(fs.f_type, BPF_FS_MAGIC);
	first = stat_of(FS);
	assert_int_equal(first.st_mode & 0777, 0700);
	assert_int_equal(pins_mount(), 0);
	assert_int_equal(stat_of(FS).st_dev, first.st_dev);
	assert_int_equal(umount2(FS, MNT_DETACH), 0);
	assert_int_equal(umount2(FS, MNT_DETACH), 0);
}

/* What process 1 of a new PID namespace, a container's, makes of it. @inside: it mounts
 * the file system itself. */
static enum pins_life life_in_container(bool inside, void (*before)(void))
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		if (unshare(CLONE_NEWPID))
			_exit(9);
		pid = fork();
		if (pid)
			_exit(waitpid(pid, &status, 0) == pid ? WEXITSTATUS(status) : 8);
		if (unshare(CLONE_NEWNS) ||
		    mount("", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		    mount("proc", "/proc", "proc", 0, NULL) ||
		    (inside && !apart_mount("bpf", FS)))
			_exit(7);
		if (before)
			before();
		_exit((int)shield_pins_life());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return (enum pins_life)WEXITSTATUS(status);
}

static void write_there(void)
{
	DIR *root = opendir(FS);

	mkdir(FS "/another", 0700);
	while (root && readdir(root))
		;
	closedir(root);
}

static void a_containers_own_goes_with_it(void **state)
{
	(void)state;
	assert_int_equal(life_in_container(true, NULL), PINS_CONTAINER);
	assert_int_equal(life_in_container(true, write_there), PINS_CONTAINER);
	/* Mounted long enough before the container, as the machine's is. */
	assert_int_equal(mkdir(PIN_ROOT, 0700), 0);
	usleep(100000);
	assert_int_equal(life_in_container(false, NULL), PINS_MACHINE);
	assert_int_equal(life_in_container(false, write_there), PINS_MACHINE);
	assert_int_equal(rmdir(PIN_ROOT), 0);
	rmdir(FS "/another");
}

/* What users without privileges are told; and root, who is not told to be root. */
static void who_is_not_root_is_told_so(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	assert_string_equal(pins_hint(-EACCES), "");
	assert_string_equal(pins_hint(-EPERM), "");
	assert_true(apart_mount("tmpfs", FS));
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		int err;

		if (setuid(STRANGER))
			_exit(9);
		stderr_catch();
		err = pins_mount();
		stderr_release(said, sizeof(said));
		_exit(err != -EPERM					   ? 1
		      : !strstr(said, "on " FS ":")			   ? 2
		      : !strstr(said, ": run it as root\n")		   ? 3
		      : strcmp(pins_hint(-EACCES), pins_hint(-EPERM)) != 0 ? 4
		      : *pins_hint(-ENOENT)				   ? 5
									   : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(umount2(FS, MNT_DETACH), 0);
}

/* --- directories
 * -------------------------------------------------------------------------
 */

static void directories_are_made_with_their_parents(void **state)
{
	bool fresh;

	(void)state;
	assert_int_equal(make(FS "/a/b/c", &fresh), 0);
	assert_true(fresh);
	assert_int_equal(stat_of(FS "/a").st_mode & 07777, 0700);
	assert_int_equal(stat_of(FS "/a/b/c").st_mode & 07777, 0700);
	assert_int_equal(make(FS "/a/b/c", &fresh), 0);
	assert_false(fresh);
	assert_int_equal(make(FS "/a/b", &fresh), 0);
	assert_false(fresh);
	assert_int_equal(make(FS "/a/d", &fresh), 0);
	assert_true(fresh);
}

static void elsewhere_nothing_can_be_pinned(void **state)
{
	bool fresh;

	(void)state;
	assert_true(apart_mount("tmpfs", "/run"));
	assert_int_equal(make("/run/pins", &fresh), -EINVAL);
	assert_non_null(strstr(said, "'/run/pins' is not on a BPF file system"));
	assert_int_equal(access("/run/pins", F_OK), -1);
	assert_int_equal(mkdir("/run/pins", 0700), 0);
	assert_int_equal(make("/run/pins", &fresh), -EINVAL);
	assert_int_equal(rmdir("/run/pins"), 0);
	/* Above the BPF file system it is not looked whose directories are. */
	assert_int_equal(mkdir("/run/theirs", 0777), 0);
	assert_int_equal(chmod("/run/theirs", 0777), 0);
	assert_int_equal(chown("/run/theirs", STRANGER, STRANGER), 0);
	assert_int_equal(mkdir("/run/theirs/bpf", 0700), 0);
	assert_true(apart_mount("bpf", "/run/theirs/bpf"));
	assert_int_equal(make("/run/theirs/bpf/ours", &fresh), 0);
	assert_true(fresh);
	assert_int_equal(make("/proc/none/pins", &fresh), -ENOENT);
	assert_non_null(strstr(said, "cannot create '/proc/none'"));
	assert_int_equal(umount2("/run", MNT_DETACH), 0);
}

/* Whoever owns a directory, or may write to all of it, moves away what is pinned there.
 */
static void what_is_theirs_is_refused(void **state)
{
	static const struct {
		const char *path;
		mode_t mode;
		uid_t owner;
		gid_t group;
		int err;
	} rows[] = {
		{ FS "/ours", 0700, 0, 0, 0 },
		{ FS "/readable", 0755, 0, STRANGER, 0 },
		{ FS "/roots", 0775, 0, 0, 0 },
		{ FS "/shared", 01777, 0, STRANGER, 0 },
		{ FS "/group", 0770, 0, STRANGER, -EACCES },
		{ FS "/open", 0777, 0, 0, -EACCES },
		{ FS "/theirs", 0700, STRANGER, STRANGER, -EACCES },
		{ FS "/both", 01777, STRANGER, STRANGER, -EACCES },
	};
	bool fresh;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char below[64];

		assert_int_equal(mkdir(rows[i].path, 0700), 0);
		assert_int_equal(chown(rows[i].path, rows[i].owner, rows[i].group), 0);
		assert_int_equal(chmod(rows[i].path, rows[i].mode), 0);
		assert_int_equal(make(rows[i].path, &fresh), rows[i].err);
		snprintf(below, sizeof(below), "%s/below", rows[i].path);
		assert_int_equal(make(below, &fresh), rows[i].err);
		assert_int_equal(there(below), !rows[i].err);
		if (rows[i].err)
			assert_non_null(strstr(said, rows[i].path));
	}
	/* Seen at another place they are the same. */
	assert_true(apart_mount("tmpfs", "/run"));
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(mkdir("/run/bound", 0700), 0);
		assert_int_equal(mount(rows[i].path, "/run/bound", NULL, MS_BIND, NULL),
				 0);
		assert_int_equal(make("/run/bound/again", &fresh), rows[i].err);
		assert_int_equal(umount2("/run/bound", MNT_DETACH), 0);
		assert_int_equal(rmdir("/run/bound"), 0);
	}
	assert_int_equal(umount2("/run", MNT_DETACH), 0);
	assert_int_equal(chown(FS, STRANGER, 0), 0);
	assert_int_equal(make(FS "/fresh", &fresh), -EACCES);
	assert_int_equal(chown(FS, 0, 0), 0);
	/* Open to all is the file system itself, as a plain mount(8) leaves it. */
	assert_int_equal(chmod(FS, 0777), 0);
	assert_int_equal(make(FS "/fresh", &fresh), 0);
}

/* Whoever made a link says what is behind it; and of one into the file system nothing
 * above what it names would be looked at. */
static void links_are_their_makers(void **state)
{
	bool fresh;

	(void)state;
	assert_true(apart_mount("tmpfs", "/run"));
	assert_int_equal(symlink(FS, "/run/link"), 0);
	assert_int_equal(make("/run/link/pins", &fresh), 0);
	assert_true(there(FS "/pins"));
	assert_int_equal(lchown("/run/link", STRANGER, STRANGER), 0);
	assert_int_equal(make("/run/link/more", &fresh), -EACCES);
	assert_false(there(FS "/more"));
	assert_non_null(strstr(said, "'/run/link' was made by another user"));
	assert_int_equal(umount2("/run", MNT_DETACH), 0);

	assert_int_equal(symlink(FS "/pins", FS "/link"), 0);
	assert_int_equal(make(FS "/link/more", &fresh), -EACCES);
	assert_int_equal(make(FS "/link", &fresh), -EACCES);
	assert_false(there(FS "/pins/more"));
	/* To nowhere. */
	assert_int_equal(symlink(FS "/none", FS "/broken"), 0);
	assert_int_equal(make(FS "/broken", &fresh), -ENOENT);
	assert_non_null(strstr(said, "cannot look at '" FS "/broken'"));
}

static void names_have_to_fit(void **state)
{
	char path[8], abi[64];

	(void)state;
	assert_int_equal(pin_path(path, sizeof(path), "/ab", "abc"), 0);
	assert_string_equal(path, "/ab/abc");
	stderr_catch();
	assert_int_equal(pin_path(path, sizeof(path), "/ab", "abcd"), -ENAMETOOLONG);
	stderr_release(said, sizeof(said));
	assert_non_null(strstr(said, "'/ab' is too long"));
	assert_int_equal(pins_default_dir("/234567", path, sizeof(path)), 0);
	assert_string_equal(path, "/234567");
	assert_int_equal(pins_default_dir("/2345678", path, sizeof(path)), -ENAMETOOLONG);
	assert_int_equal(pins_default_dir(NULL, abi, sizeof(abi)), 0);
	assert_int_equal(strncmp(abi, PIN_ROOT "/", strlen(PIN_ROOT) + 1), 0);
	assert_string_equal(abi + strlen(PIN_ROOT) + 1, shield_abi());
}

struct visits {
	int count, stop_at;
	char seen[256];
};

static int visit(const char *dir, void *context)
{
	struct visits *v = context;

	strcat(v->seen, strrchr(dir, '/'));
	return ++v->count == v->stop_at ? 77 : 0;
}

static void every_version_has_a_directory(void **state)
{
	struct visits all = { 0 }, some = { .stop_at = 2 };

	(void)state;
	assert_int_equal(pins_each_dir(visit, &all), 0);
	assert_int_equal(all.count, 0);
	assert_int_equal(mkdir(PIN_ROOT, 0700), 0);
	assert_int_equal(mkdir(PIN_ROOT "/v1-0000000a", 0700), 0);
	assert_int_equal(mkdir(PIN_ROOT "/v2-0000000b", 0700), 0);
	assert_int_equal(mkdir(PIN_ROOT "/v3-0000000c", 0700), 0);
	assert_int_equal(mkdir(PIN_ROOT "/lab", 0700), 0);
	assert_int_equal(pins_each_dir(visit, &all), 0);
	assert_int_equal(pins_check_all(NULL), 0);
	assert_int_equal(all.count, 3);
	assert_non_null(strstr(all.seen, "/v1-0000000a"));
	assert_non_null(strstr(all.seen, "/v2-0000000b"));
	assert_non_null(strstr(all.seen, "/v3-0000000c"));
	assert_int_equal(pins_each_dir(visit, &some), 77);
	assert_int_equal(some.count, 2);
}

/* --- pins
 * --------------------------------------------------------------------------------
 */

/* A map that holds @value; -1: not allowed to. */
static int map_of(__u32 value)
{
	__u32 zero = 0;
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "pin", 4, 4, 1, NULL);

	if (fd >= 0)
		assert_int_equal(bpf_map_update_elem(fd, &zero, &value, BPF_ANY), 0);
	return fd;
}

static __u32 pinned(const char *name)
{
	__u32 zero = 0, value = 0;
	int fd = pin_open(FS, name);

	assert_true(fd >= 0);
	assert_int_equal(bpf_map_lookup_elem(fd, &zero, &value), 0);
	close(fd);
	return value;
}

static void a_pin_is_exchanged(void **state)
{
	int first = map_of(1), second = map_of(2);

	(void)state;
	if (first < 0) {
		print_message("not allowed to make maps: skipped\n");
		skip();
	}
	assert_int_equal(pin_open(FS, "map"), -ENOENT);
	assert_int_equal(pin_replace(first, FS, "map"), 0);
	assert_int_equal(pinned("map"), 1);
	assert_int_equal(pin_replace(second, FS, "map"), 0);
	assert_int_equal(pinned("map"), 2);
	assert_false(there(FS "/map-new"));
	/* What somebody who was killed in between has left. */
	assert_int_equal(bpf_obj_pin(second, FS "/map-new"), 0);
	assert_int_equal(pin_replace(first, FS, "map"), 0);
	assert_int_equal(pinned("map"), 1);
	assert_false(there(FS "/map-new"));
	/* Where it cannot be, nothing is left. */
	assert_int_equal(mkdir(FS "/taken", 0700), 0);
	stderr_catch();
	assert_int_equal(pin_replace(first, FS, "taken"), -EISDIR);
	assert_int_equal(pin_replace(first, FS "/none", "map"), -ENOENT);
	stderr_release(said, sizeof(said));
	assert_non_null(strstr(said, "cannot pin '" FS "/none/map'"));
	assert_false(there(FS "/taken-new"));
	close(first);
	close(second);
}

static void a_directory_goes_with_its_pins(void **state)
{
	int map = map_of(1);

	(void)state;
	if (map < 0) {
		print_message("not allowed to make maps: skipped\n");
		skip();
	}
	assert_int_equal(mkdir(FS "/dir", 0700), 0);
	assert_int_equal(mkdir(FS "/other", 0700), 0);
	assert_int_equal(bpf_obj_pin(map, FS "/dir/one"), 0);
	assert_int_equal(bpf_obj_pin(map, FS "/dir/two"), 0);
	assert_int_equal(bpf_obj_pin(map, FS "/other/one"), 0);
	pins_remove_dir(FS "/none");
	pins_remove_dir(FS "/dir");
	assert_false(there(FS "/dir"));
	assert_true(there(FS "/other/one"));
	close(map);
}

/* Where all may make directories, somebody may have made ours, with a link to root's
 * files in it. */
static void what_others_made_is_left_alone(void **state)
{
	struct visits all = { 0 };
	int err, file, map = map_of(1);
	size_t count;

	(void)state;
	if (map < 0) {
		print_message("not allowed to make maps: skipped\n");
		skip();
	}
	assert_int_equal(mkdir(FS "/other", 0700), 0);
	assert_int_equal(bpf_obj_pin(map, FS "/other/one"), 0);
	close(map);
	assert_int_equal(symlink(FS "/other", FS "/link"), 0);
	pins_remove_dir(FS "/link");
	assert_true(there(FS "/other/one"));

	assert_true(apart_mount("tmpfs", "/run"));
	assert_int_equal(mkdir("/run/roots", 0700), 0);
	file = open("/run/roots/file", O_CREAT | O_WRONLY, 0600);
	assert_true(file >= 0);
	close(file);
	assert_int_equal(mkdir(PIN_ROOT, 0700), 0);
	assert_int_equal(symlink("/run/roots", PIN_ROOT "/v1-0000000a"), 0);
	assert_int_equal(mkdir(PIN_ROOT "/v3-0000000c", 0700), 0);
	assert_int_equal(mkdir(PIN_ROOT "/v2-0000000b", 0700), 0);
	assert_int_equal(chown(PIN_ROOT "/v2-0000000b", STRANGER, STRANGER), 0);
	pins_remove_dir(PIN_ROOT "/v1-0000000a");
	pins_remove_dir("/run/roots");
	assert_true(there("/run/roots/file"));

	stderr_catch();
	assert_int_equal(lchown(PIN_ROOT "/v1-0000000a", STRANGER, STRANGER), 0);
	err = pins_each_dir(visit, &all);
	stderr_release(said, sizeof(said));
	assert_int_equal(err, 0);
	assert_int_equal(all.count, 1);
	assert_non_null(strstr(said, "v1-0000000a' was made by another user"));
	assert_non_null(strstr(said, "v2-0000000b' was made by another user"));
	/* Detaching all is not possible, and nothing is detached. */
	stderr_catch();
	err = shield_check_detach(NULL);
	assert_int_equal(shield_detach(NULL, &count), -EACCES);
	stderr_release(said, sizeof(said));
	assert_int_equal(err, -EACCES);
	assert_non_null(strstr(said, "v2-0000000b' was made by another user"));
	assert_true(there(PIN_ROOT "/v3-0000000c"));

	assert_int_equal(chown(PIN_ROOT, STRANGER, STRANGER), 0);
	stderr_catch();
	err = pins_each_dir(visit, &all);
	stderr_release(said, sizeof(said));
	assert_int_equal(err, 0);
	assert_int_equal(all.count, 1);
	assert_non_null(strstr(said, "'" PIN_ROOT "' was made by another user"));
	assert_int_equal(umount2("/run", MNT_DETACH), 0);
}

#undef TEST
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

/*
 * Where all may make directories, nothing is detached through what somebody else made:
 * links in there could name anybody's. And of a directory that is no shield's nothing
 * goes.
 */
static void detach_goes_by_nobody_else_s_word(void **state)
{
	static const char *const theirs[] = { FS "/b", FS "/b/below", PIN_ROOT };
	int map = map_of(1);
	size_t count = 7;

	(void)state;
	if (map < 0) {
		print_message("not allowed to make maps: skipped\n");
		skip();
	}
	assert_int_equal(bpf_obj_pin(map, FS "/other_project"), 0);
	assert_int_equal(shield_detach(FS, &count), 0);
	assert_int_equal(count, 0);
	assert_true(there(FS "/other_project"));
	assert_int_equal(shield_detach(FS "/none", &count), 0);

	for (size_t i = 0; i < COUNT(theirs); i++) {
		assert_int_equal(mkdir(theirs[i], 0700), 0);
		if (i != 1)
			assert_int_equal(chown(theirs[i], STRANGER, STRANGER), 0);
	}
	assert_int_equal(bpf_obj_pin(map, FS "/b/live"), 0);
	assert_int_equal(bpf_obj_pin(map, FS "/b/below/live"), 0);
	for (size_t i = 0; i < COUNT(theirs); i++) {
		stderr_catch();
		assert_int_equal(shield_detach(i < 2 ? theirs[i] : NULL, &count),
				 -EACCES);
		stderr_release(said, sizeof(said));
		assert_non_null(strstr(said, "' was made by another user"));
		assert_true(there(theirs[i]));
	}
	assert_true(there(FS "/b/live") && there(FS "/b/below/live"));

	/* A shield's own goes whole. */
	assert_int_equal(mkdir(FS "/mine", 0700), 0);
	assert_int_equal(bpf_obj_pin(map, FS "/mine/live"), 0);
	assert_int_equal(bpf_obj_pin(map, FS "/mine/counters"), 0);
	assert_int_equal(shield_detach(FS "/mine", &count), 0);
	assert_false(there(FS "/mine"));
	close(map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(it_is_mounted_once),
		TEST(a_containers_own_goes_with_it),
		TEST(who_is_not_root_is_told_so),
		TEST(directories_are_made_with_their_parents),
		TEST(elsewhere_nothing_can_be_pinned),
		TEST(what_is_theirs_is_refused),
		TEST(links_are_their_makers),
		TEST(names_have_to_fit),
		TEST(every_version_has_a_directory),
		TEST(a_pin_is_exchanged),
		TEST(a_directory_goes_with_its_pins),
		TEST(what_others_made_is_left_alone),
		TEST(detach_goes_by_nobody_else_s_word),
	};

	if (!apart(CLONE_NEWNS))
		return apart_refused();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
