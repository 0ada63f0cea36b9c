// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_pidfile.c - one daemon for one directory of pins, and what it says of itself. In
 * a /run of the test's own; the daemons are children, for a lock goes with its process.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "apart.h"
#include "daemon/pidfile.h"
#include "stderr.h"

#define RUN	 "/run/quakeshield"
#define COUNT(a) (sizeof(a) / sizeof(*(a)))

/* What somebody else removes just before the next lock is taken. */
static const char *swept;

int flock(int fd, int operation)
{
	const char *path = swept;

	swept = NULL;
	if (path)
		unlink(path);
	return (int)syscall(SYS_flock, fd, operation);
}

static int begin(void **state)
{
	(void)state;
	return apart_mount("tmpfs", "/run") ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	return umount2("/run", MNT_DETACH);
}

static const char *path_of(const char *pin_dir)
{
	static char path[512];
	struct stat st;

	if (stat("/sys/fs/bpf", &st))
		st.st_dev = 0;
	snprintf(path, sizeof(path), RUN "/daemon-%llx%s.pid",
		 (unsigned long long)st.st_dev, pin_dir);
	return path;
}

static bool there(const char *path)
{
	struct stat st;

	return !lstat(path, &st);
}

/* A daemon that has claimed @pin_dir, until it is killed; what the claim gave. */
static pid_t daemon_of(const char *pin_dir, const struct daemon_facts *facts, int *ret)
{
	int told[2];
	pid_t pid;

	assert_int_equal(pipe2(told, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		int status;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		status = pidfile_claim(pin_dir, facts);
		if (write(told[1], &status, sizeof(status)) < 0 || status)
			_exit(1);
		for (;;)
			pause();
	}
	assert_int_equal(read(told[0], ret, sizeof(*ret)), sizeof(*ret));
	close(told[0]);
	close(told[1]);
	return pid;
}

static void end_of(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* --- who holds it --------------------------------------------------------------------
 */

static void one_daemon_for_a_directory(void **state)
{
	static const struct daemon_facts none;
	char said[512], number[64];
	pid_t first, second;
	int err;

	(void)state;
	assert_int_equal(pidfile_pid("/a/b"), 0);
	first = daemon_of("/a/b", &none, &err);
	assert_int_equal(err, 0);
	assert_int_equal(pidfile_pid("/a/b"), first);
	stderr_catch();
	second = daemon_of("/a/b", &none, &err);
	stderr_release(said, sizeof(said));
	end_of(second);
	assert_int_equal(err, -EBUSY);
	snprintf(number, sizeof(number), "(process %d)", (int)first);
	assert_non_null(strstr(said, number));
	/* It is another one's business what goes on in another directory. */
	assert_int_equal(pidfile_pid("/a/c"), 0);
	assert_int_equal(pidfile_pid(NULL), 0);
	second = daemon_of("/a/c", &none, &err);
	assert_int_equal(err, 0);
	assert_int_equal(pidfile_pid("/a/c"), second);
	assert_int_equal(pidfile_pid("/a/b"), first);
	/* Killed: its file says nothing, and gives way. */
	end_of(first);
	assert_true(there(path_of("-a-b")));
	assert_int_equal(pidfile_pid("/a/b"), 0);
	first = daemon_of("/a/b", &none, &err);
	assert_int_equal(err, 0);
	assert_int_equal(pidfile_pid("/a/b"), first);
	end_of(first);
	end_of(second);
}

static void whoever_ends_takes_its_file_away(void **state)
{
	static const struct daemon_facts none;
	char path[512];

	(void)state;
	strcpy(path, path_of(""));
	assert_int_equal(pidfile_claim(NULL, &none), 0);
	assert_true(there(path));
	assert_int_equal(pidfile_pid(NULL), getpid());
	assert_int_equal(pidfile_pid(""), getpid());
	pidfile_release("/a");
	assert_true(there(path));
	pidfile_release(NULL);
	assert_false(there(path));
	assert_int_equal(pidfile_pid(NULL), 0);
}

/* Between two calls of ours another daemon may sweep: the lock is of a file that has no
 * name, and the next one would not see it. */
static void a_lock_of_what_was_swept_is_none(void **state)
{
	static const struct daemon_facts none;
	char path[512];

	(void)state;
	strcpy(path, path_of("-swept"));
	/* Nothing is there to be swept by the claim: its first lock is that of its own.
	 */
	swept = path;
	assert_int_equal(pidfile_claim("/swept", &none), 0);
	assert_null(swept);
	assert_true(there(path));
	assert_int_equal(pidfile_pid("/swept"), getpid());
}

static void the_killed_are_swept_and_nobody_else(void **state)
{
	static const struct daemon_facts none;
	pid_t alive, killed;
	int err, fd;

	(void)state;
	alive = daemon_of("/alive", &none, &err);
	assert_int_equal(err, 0);
	killed = daemon_of("/killed", &none, &err);
	assert_int_equal(err, 0);
	end_of(killed);
	fd = open(RUN "/players.json", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	close(fd);
	assert_true(there(path_of("-killed")));
	assert_int_equal(pidfile_claim("/next", &none), 0);
	assert_false(there(path_of("-killed")));
	assert_true(there(path_of("-alive")));
	assert_true(there(path_of("-next")));
	assert_true(there(RUN "/players.json"));
	assert_int_equal(pidfile_pid("/alive"), alive);
	end_of(alive);
}

/* --- the file --------------------------------------------------------------------------
 */

static mode_t mode_of(const char *path)
{
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	return st.st_mode & 07777;
}

/* Who can open it can lock it; and what was pointed elsewhere is not followed. */
static void nobody_else_opens_it(void **state)
{
	static const struct daemon_facts none;
	char said[512];

	(void)state;
	assert_int_equal(pidfile_claim("/mine", &none), 0);
	assert_int_equal(mode_of(RUN), 0755);
	assert_int_equal(mode_of(path_of("-mine")), 0600);

	assert_int_equal(symlink("/run/elsewhere", path_of("-other")), 0);
	stderr_catch();
	assert_int_equal(pidfile_claim("/other", &none), -ELOOP);
	stderr_release(said, sizeof(said));
	assert_non_null(strstr(said, "cannot create '" RUN "/daemon-"));
	assert_false(there("/run/elsewhere"));
	assert_true(there(path_of("-other")));
}

static void no_directory_is_an_error(void **state)
{
	static const struct daemon_facts none;
	char said[512], longest[600]; /* a name that no file can have */
	int fd;

	(void)state;
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = 0;
	stderr_catch();
	assert_int_equal(pidfile_claim(longest, &none), -ENAMETOOLONG);
	stderr_release(said, sizeof(said));
	assert_int_equal(pidfile_pid(longest), 0);

	assert_int_equal(rmdir(RUN), 0);
	fd = open(RUN, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	close(fd);
	stderr_catch();
	assert_int_equal(pidfile_claim("/a", &none), -ENOTDIR);
	stderr_release(said, sizeof(said));
	assert_int_equal(pidfile_pid("/a"), 0);
}

/* --- facts
 * ------------------------------------------------------------------------------- */

static void each_fact_is_its_own(void **state)
{
	struct daemon_facts rows[] = {
		{ .config = "/etc/a b.conf" },
		{ .config = "/etc/a", .observe = true },
		{ .config = "/etc/a", .interfaces = true },
		{ .config = "/etc/a", .set = true },
		{ .config = "", .observe = true, .interfaces = true, .set = true },
		{ .config = "" },
	};

	(void)state;
	memset(rows[5].config, 'c', sizeof(rows[5].config) - 1);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct daemon_facts got;
		int err;
		pid_t pid = daemon_of("/facts", &rows[i], &err);

		assert_int_equal(err, 0);
		assert_true(pidfile_facts("/facts", &got));
		assert_int_equal(got.pid, pid);
		assert_string_equal(got.config, rows[i].config);
		assert_int_equal(got.observe, rows[i].observe);
		assert_int_equal(got.interfaces, rows[i].interfaces);
		assert_int_equal(got.set, rows[i].set);
		end_of(pid);
		assert_false(pidfile_facts("/facts", &got));
	}
}

/* Held, but not written yet, or by something else. */
static void what_says_nothing_is_nobody(void **state)
{
	static const char *const texts[] = { "", "\n", "nobody\n", "-5\n", "0\n" };
	struct daemon_facts got;
	int fd;

	(void)state;
	assert_int_equal(mkdir(RUN, 0755), 0);
	for (size_t i = 0; i < COUNT(texts); i++) {
		fd = open(path_of("-odd"), O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600);
		assert_true(fd >= 0);
		assert_int_equal(flock(fd, LOCK_EX), 0);
		assert_int_equal(write(fd, texts[i], strlen(texts[i])), strlen(texts[i]));
		assert_false(pidfile_facts("/odd", &got));
		assert_int_equal(pidfile_pid("/odd"), 0);
		close(fd);
	}
}

#undef TEST
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_daemon_for_a_directory),
		TEST(whoever_ends_takes_its_file_away),
		TEST(a_lock_of_what_was_swept_is_none),
		TEST(the_killed_are_swept_and_nobody_else),
		TEST(nobody_else_opens_it),
		TEST(no_directory_is_an_error),
		TEST(each_fact_is_its_own),
		TEST(what_says_nothing_is_nobody),
	};

	if (!apart(CLONE_NEWNS))
		return apart_refused();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
