// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_priv.c - what a confined daemon can do, and what it cannot any more. Each row is
 * tried in a process of its own, first free and then confined: that a call fails must be
 * the filter's doing.
 */
#include <cap-ng.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "daemon/priv.h"

/* Each returns 0, or the errno. */

static int try_exec(void)
{
	static char *const argv[] = { (char *)"true", NULL };

	execv("/bin/true", argv);
	return errno;
}

static int try_fork(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	return pid < 0 ? errno : waitpid(pid, NULL, 0) < 0 ? errno : 0;
}

static int try_trace(void)
{
	return ptrace(PTRACE_TRACEME, 0, NULL, NULL) ? errno : 0;
}

static int try_kill(void)
{
	return kill(getpid(), 0) ? errno : 0;
}

static int try_user(void)
{
	return setresuid(geteuid(), geteuid(), geteuid()) ? errno : 0;
}

static int try_socket(int family, int type)
{
	int fd = socket(family, type, 0);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static int try_packet(void)
{
	return try_socket(AF_PACKET, SOCK_RAW);
}

static int try_unix(void)
{
	return try_socket(AF_UNIX, SOCK_STREAM);
}

static int try_inet(void)
{
	return try_socket(AF_INET, SOCK_STREAM);
}

static int try_netlink(void)
{
	return try_socket(AF_NETLINK, SOCK_RAW);
}

/* As systemd's private socket and D-Bus are reached. */
static int try_connect(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char path[64];
	int listener = socket(AF_UNIX, SOCK_STREAM, 0), fd, err = 0;

	snprintf(path, sizeof(path), "/tmp/test_priv.socket.%d", (int)getpid());
	strcpy(address.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	if (bind(listener, (struct sockaddr *)&address, sizeof(address)) ||
	    listen(listener, 1) ||
	    connect(fd, (struct sockaddr *)&address, sizeof(address)))
		err = errno;
	unlink(path);
	close(fd);
	close(listener);
	return err;
}

/* What sd_notify() does. */
static int try_notify(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int listener = socket(AF_UNIX, SOCK_DGRAM, 0), fd, err = 0;

	snprintf(address.sun_path, sizeof(address.sun_path), "/tmp/test_priv.notify.%d",
		 (int)getpid());
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (bind(listener, (struct sockaddr *)&address, sizeof(address)) ||
	    sendto(fd, "READY=1", 7, 0, (struct sockaddr *)&address, sizeof(address)) < 0)
		err = errno;
	unlink(address.sun_path);
	close(fd);
	close(listener);
	return err;
}

static int try_program(void)
{
	static const struct bpf_insn code[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_SOCKET_FILTER,
		.insns = (uintptr_t)code,
		.insn_cnt = 2,
		.license = (uintptr_t) "GPL",
	};
	long fd = syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));

	return fd < 0 ? errno : close((int)fd);
}

static int try_new_map(void)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_ARRAY,
		.key_size = 4,
		.value_size = 4,
		.max_entries = 1,
	};
	long fd = syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr));

	return fd < 0 ? errno : close((int)fd);
}

/* There is no such map: but that is for the kernel to say, not for the filter. */
static int try_look_up(void)
{
	union bpf_attr attr = { .map_fd = (uint32_t)-1 };

	return syscall(SYS_bpf, BPF_MAP_LOOKUP_ELEM, &attr, sizeof(attr)) < 0 &&
			       errno == EBADF
		       ? 0
		       : EPERM;
}

static int try_map(int protection)
{
	void *at = mmap(NULL, 4096, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return at == MAP_FAILED ? errno : munmap(at, 4096) ? errno : 0;
}

static int try_code(void)
{
	return try_map(PROT_READ | PROT_EXEC);
}

static int try_memory(void)
{
	return try_map(PROT_READ | PROT_WRITE);
}

static int try_protect(void)
{
	static char page[8192] __attribute__((aligned(4096)));

	return mprotect(page, 4096, PROT_READ | PROT_EXEC) ? errno : 0;
}

static int try_secret(void)
{
	long fd = syscall(SYS_memfd_secret, 0);

	/* Not everywhere: but what is not there is refused, too. */
	return fd < 0 ? (errno == ENOSYS ? 0 : errno) : close((int)fd);
}

static int try_file(void)
{
	char path[] = "/tmp/test_priv.XXXXXX", moved[sizeof(path) + 2];
	int fd = mkstemp(path);
	struct stat st;

	if (fd < 0)
		return errno;
	snprintf(moved, sizeof(moved), "%s.2", path);
	if (write(fd, "x", 1) != 1 || ftruncate(fd, 0) || rename(path, moved) ||
	    stat(moved, &st) || unlink(moved) || close(fd))
		return errno;
	return 0;
}

static int try_fifo(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/tmp/test_priv.fifo.%d", (int)getpid());
	return mkfifo(path, 0600) || unlink(path) ? errno : 0;
}

/* Of which words for questions are made. */
static int try_chance(void)
{
	char chance;

	return syscall(SYS_getrandom, &chance, 1, 0) < 0 ? errno : 0;
}

/* Each of the calls by which a C library may wait for what comes. */
static int try_wait(void)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct timespec none = { 0 };
	struct pollfd fd = { .fd = -1 };
	int epoll = epoll_create1(EPOLL_CLOEXEC), pipe_[2], err = 0;

	if (epoll < 0 || pipe2(pipe_, O_CLOEXEC) ||
	    epoll_ctl(epoll, EPOLL_CTL_ADD, pipe_[0], &event) ||
	    epoll_wait(epoll, &event, 1, 0) || epoll_pwait(epoll, &event, 1, 0, NULL) ||
	    poll(&fd, 1, 0) || ppoll(&fd, 1, &none, NULL))
		err = errno;
	close(epoll);
	return err;
}

static const struct {
	const char *name;
	int (*attempt)(void);
	int confined; /* what it is then */
} rows[] = {
	{ "another program", try_exec, EPERM },
	{ "another process", try_fork, EPERM },
	{ "tracing", try_trace, EPERM },
	{ "signals to others", try_kill, EPERM },
	{ "another user", try_user, EPERM },
	{ "sockets of other families", try_packet, EPERM },
	{ "code made at run time", try_code, EPERM },
	{ "code made of data", try_protect, EPERM },
	{ "calls that it has no use for", try_secret, EPERM },
	{ "a BPF program of its own", try_program, EPERM },
	{ "a map of its own", try_new_map, EPERM },
	{ "connections to others' sockets", try_connect, EPERM },
	{ "a look into a map", try_look_up, 0 },
	{ "datagrams to systemd", try_notify, 0 },
	{ "Unix sockets", try_unix, 0 },
	{ "internet sockets", try_inet, 0 },
	{ "netlink", try_netlink, 0 },
	{ "memory", try_memory, 0 },
	{ "files", try_file, 0 },
	{ "FIFOs", try_fifo, 0 },
	{ "chance", try_chance, 0 },
	{ "waiting", try_wait, 0 },
};

/* The errno of the attempt; -1: it did not end well. */
static int in_a_process(int (*attempt)(void), bool confined)
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		if (confined && priv_confine())
			_exit(255);
		_exit(attempt());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Where the kernel confines, there is nothing to warn of. */
static void nothing_is_said(void **state)
{
	FILE *said = tmpfile();
	int status;
	pid_t pid;

	(void)state;
	assert_non_null(said);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		dup2(fileno(said), 2);
		status = priv_confine() != 0;
		_exit(status);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(lseek(fileno(said), 0, SEEK_END), 0);
	fclose(said);
}

static void only_what_it_takes(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		int free_result = in_a_process(rows[i].attempt, false);

		print_message("%s\n", rows[i].name);
		/* Not everything is everywhere, or allowed to everybody. */
		if (free_result)
			print_message("(which is refused here anyway: %s)\n",
				      strerror(free_result));
		else
			assert_int_equal(in_a_process(rows[i].attempt, true),
					 rows[i].confined);
	}
}

/* What the daemon and its libraries ask of a kernel while they look after things. */
#define CALL(name)                \
	{                         \
#name, SYS_##name \
	}
static const struct {
	const char *name;
	long number;
} calls[] = {
	CALL(brk),
	CALL(madvise),
	CALL(mremap),
	CALL(munmap),
	/* pid file, captures, sinks, the spool, the day, pins */
	CALL(close),
	CALL(dup),
	CALL(dup3),
	CALL(fcntl),
	CALL(flock),
	CALL(fstat),
	CALL(fstatfs),
	CALL(ftruncate),
	CALL(getdents64),
	CALL(ioctl),
	CALL(lseek),
	CALL(pipe2),
	CALL(pread64),
	CALL(pwrite64),
	CALL(read),
	CALL(readv),
	CALL(sendfile),
	CALL(write),
	CALL(writev),
	CALL(faccessat),
	CALL(faccessat2),
	CALL(mkdirat),
	CALL(mknodat),
	CALL(newfstatat),
	CALL(openat),
	CALL(readlinkat),
	CALL(renameat),
	CALL(renameat2),
	CALL(statfs),
	CALL(statx),
	CALL(umask),
	CALL(unlinkat),
	/* metrics, outputs, questions to servers */
	CALL(accept),
	CALL(accept4),
	CALL(bind),
	CALL(getpeername),
	CALL(getsockname),
	CALL(getsockopt),
	CALL(listen),
	CALL(recvfrom),
	CALL(recvmsg),
	CALL(sendmsg),
	CALL(sendto),
	CALL(setsockopt),
	CALL(shutdown),
	/* the loop */
	CALL(clock_nanosleep),
	CALL(epoll_create1),
	CALL(epoll_ctl),
	CALL(epoll_pwait),
	CALL(eventfd2),
	CALL(nanosleep),
	CALL(ppoll),
	CALL(restart_syscall),
	CALL(clock_getres),
	CALL(clock_gettime),
	CALL(getegid),
	CALL(geteuid),
	CALL(getgid),
	CALL(getpid),
	CALL(getrandom),
	CALL(getrusage),
	CALL(gettid),
	CALL(gettimeofday),
	CALL(getuid),
	CALL(prlimit64),
	CALL(sched_getaffinity),
	CALL(sched_yield),
	CALL(sysinfo),
	CALL(uname),
	CALL(futex),
	CALL(get_robust_list),
	CALL(rseq),
	CALL(rt_sigaction),
	CALL(rt_sigprocmask),
	CALL(set_robust_list),
	CALL(sigaltstack),
	CALL(tgkill),
#ifdef SYS_open /* not where newer ones were there from the beginning */
	CALL(access),
	CALL(dup2),
	CALL(epoll_wait),
	CALL(lstat),
	CALL(mkdir),
	CALL(mknod),
	CALL(open),
	CALL(poll),
	CALL(readlink),
	CALL(rename),
	CALL(rmdir),
	CALL(stat),
	CALL(time),
	CALL(unlink),
#endif
};

/* 0: whatever is wrong with each of them, none is refused; or which is, from 1 on. */
static int try_calls(void)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (syscall(calls[i].number, -1, -1, -1, -1, -1, -1) < 0 &&
		    errno == EPERM)
			return (int)i + 1;
	return 0;
}

static void all_that_it_takes(void **state)
{
	int refused = in_a_process(try_calls, true);

	(void)state;
	if (refused > 0)
		print_error("%s is refused\n", calls[refused - 1].name);
	assert_int_equal(in_a_process(try_calls, false), 0);
	assert_int_equal(refused, 0);
}

/* 0: there is exactly what it takes, also for whatever it would start. */
static int after_dropping(void)
{
	if (priv_drop())
		return 1;
	capng_clear(CAPNG_SELECT_BOTH);
	if (capng_get_caps_process())
		return 2;
	for (unsigned int cap = 0; cap <= CAP_LAST_CAP; cap++) {
		bool kept = cap == CAP_BPF || cap == CAP_NET_ADMIN;

		if (capng_have_capability(CAPNG_EFFECTIVE, cap) != kept ||
		    capng_have_capability(CAPNG_PERMITTED, cap) != kept)
			return 3;
		if ((prctl(PR_CAPBSET_READ, cap) == 1) != kept)
			return 4;
		if (capng_have_capability(CAPNG_INHERITABLE, cap))
			return 5;
	}
	return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? 0 : 6;
}

static int warnings;

/* In place of the C library's, by either name: what libcap-ng has to say. */
void syslog(int priority, const char *format, ...);
void syslog(int priority, const char *format, ...)
{
	(void)priority;
	(void)format;
	warnings++;
}

void __syslog_chk(int priority, int flag, const char *format, ...);
void __syslog_chk(int priority, int flag, const char *format, ...)
{
	(void)priority;
	(void)flag;
	(void)format;
	warnings++;
}

/* 0: as the unit starts us, with three capabilities to have at most, and in silence. */
static int under_the_unit(void)
{
	capng_clear(CAPNG_SELECT_BOTH);
	capng_updatev(CAPNG_ADD, CAPNG_EFFECTIVE | CAPNG_PERMITTED | CAPNG_BOUNDING_SET,
		      CAP_BPF, CAP_NET_ADMIN, CAP_PERFMON, -1);
	if (capng_apply(CAPNG_SELECT_BOTH))
		return 1;
	if (priv_drop())
		return 2;
	capng_clear(CAPNG_SELECT_BOTH);
	if (capng_get_caps_process() ||
	    capng_have_capability(CAPNG_PERMITTED, CAP_PERFMON) ||
	    !capng_have_capability(CAPNG_EFFECTIVE, CAP_NET_ADMIN))
		return 3;
	return warnings ? 4 : 0;
}

static void nothing_is_warned_of_under_the_unit(void **state)
{
	(void)state;
	if (prctl(PR_CAPBSET_READ, CAP_BPF) != 1 ||
	    !capng_have_capability(CAPNG_EFFECTIVE, CAP_SETPCAP)) {
		print_message("may not give up capabilities: skipped\n");
		skip();
	}
	assert_int_equal(in_a_process(under_the_unit, false), 0);
}

static void what_is_dropped_is_gone_for_good(void **state)
{
	(void)state;
	if (prctl(PR_CAPBSET_READ, CAP_BPF) != 1 ||
	    !capng_have_capability(CAPNG_EFFECTIVE, CAP_SETPCAP)) {
		print_message("may not give up capabilities: skipped\n");
		skip();
	}
	assert_int_equal(in_a_process(after_dropping, false), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_said),
		cmocka_unit_test(only_what_it_takes),
		cmocka_unit_test(all_that_it_takes),
		cmocka_unit_test(what_is_dropped_is_gone_for_good),
		cmocka_unit_test(nothing_is_warned_of_under_the_unit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
