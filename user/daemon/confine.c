// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * confine.c - the system calls that the daemon may still make once it looks after things.
 *
 * What is not in the table fails with EPERM: no other program, no other process, no other
 * user, no new raw sockets, no code made while it runs. A library that grows a new way to
 * do an old thing gets an error, not a signal: the shield in the kernel would go on
 * without the daemon, but the daemon that looks after it must go on, too.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <seccomp.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "lib/log.h"
#include "daemon/priv.h"
#include "lib/util.h"

/* By name: an older library or another architecture may lack one. */
static const char *const calls[] = {
	/* memory */
	"brk",
	"madvise",
	"mremap",
	"munmap",
	/* files, by descriptor */
	"close",
	"dup",
	"dup2",
	"dup3",
	"fcntl",
	"flock",
	"fstat",
	"fstatfs",
	"ftruncate",
	"getdents64",
	"ioctl",
	"lseek",
	"pipe2",
	"pread64",
	"pwrite64",
	"read",
	"readv",
	"sendfile",
	"write",
	"writev",
	/* files, by name: rotation, reload, pins */
	"access",
	"faccessat",
	"faccessat2",
	"lstat",
	"mkdir",
	"mkdirat",
	"mknod",
	"mknodat",
	"newfstatat",
	"open",
	"openat",
	"readlink",
	"readlinkat",
	"rename",
	"renameat",
	"renameat2",
	"rmdir",
	"stat",
	"statfs",
	"statx",
	"umask",
	"unlink",
	"unlinkat",
	/* sockets; which ones is below */
	"accept",
	"accept4",
	"bind",
	"getpeername",
	"getsockname",
	"getsockopt",
	"listen",
	"recvfrom",
	"recvmsg",
	"sendmsg",
	"sendto",
	"setsockopt",
	"shutdown",
	/* waiting */
	"clock_nanosleep",
	"epoll_create1",
	"epoll_ctl",
	"epoll_pwait",
	"epoll_wait",
	"eventfd2",
	"nanosleep",
	"poll",
	"ppoll",
	"restart_syscall",
	/* time, chance, ourselves */
	"clock_getres",
	"clock_gettime",
	"getegid",
	"geteuid",
	"getgid",
	"getpid",
	"getrandom",
	"getrusage",
	"gettid",
	"gettimeofday",
	"getuid",
	"prlimit64",
	"sched_getaffinity",
	"sched_yield",
	"sysinfo",
	"time",
	"uname",
	/* threads that libraries may have, signals, the end */
	"exit",
	"exit_group",
	"futex",
	"get_robust_list",
	"rseq",
	"rt_sigaction",
	"rt_sigprocmask",
	"rt_sigreturn",
	"set_robust_list",
	"sigaltstack",
	"tgkill",
};

/*
 * Allow of bpf(2) reading and editing maps, and looking after attachments. No program,
 * map or BTF can be made: an attacker that takes the daemon over loads no code.
 */
static const int commands[] = {
	BPF_MAP_LOOKUP_ELEM,   BPF_MAP_UPDATE_ELEM,   BPF_MAP_DELETE_ELEM,
	BPF_MAP_GET_NEXT_KEY,  BPF_MAP_LOOKUP_BATCH,  BPF_MAP_UPDATE_BATCH,
	BPF_OBJ_PIN,	       BPF_OBJ_GET,	      BPF_OBJ_GET_INFO_BY_FD,
	BPF_PROG_GET_FD_BY_ID, BPF_PROG_QUERY,	      BPF_PROG_ATTACH,
	BPF_PROG_DETACH,       BPF_LINK_CREATE,	      BPF_LINK_UPDATE,
	BPF_LINK_DETACH,       BPF_LINK_GET_FD_BY_ID, BPF_LINK_GET_NEXT_ID,
};

/*
 * Netlink shows what is attached; Unix sockets are outputs that others connect to, and
 * the datagrams of sd_notify(). connect(2) is not allowed: systemd and D-Bus, which take
 * orders over a stream from root, are out of reach.
 */
static const int families[] = { AF_UNIX, AF_INET, AF_INET6, AF_NETLINK };

/*
 * Add the tables above to @filter. 0 or -errno of libseccomp. Called by priv_confine(),
 * before the filter is loaded. A new system call that the daemon makes after its start
 * needs a row above, or fails with EPERM; calls of an unknown name are left out.
 */
static int allow(scmp_filter_ctx filter)
{
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(calls) && !err; i++) {
		int call = seccomp_syscall_resolve_name(calls[i]);

		if (call >= 0)
			err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 0);
	}
	for (size_t i = 0; i < ARRAY_SIZE(families) && !err; i++)
		err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(socket), 1,
				       SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)families[i],
					       0));
	for (size_t i = 0; i < ARRAY_SIZE(commands) && !err; i++)
		err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(bpf), 1,
				       SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)commands[i],
					       0));
	if (!err)
		err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1,
				       SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
	if (!err)
		err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1,
				       SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
	return err;
}

int priv_confine(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	int err = filter ? allow(filter) : -ENOMEM;

	if (!err)
		err = seccomp_load(filter);
	if (filter)
		seccomp_release(filter);
	if (err == -EINVAL || err == -ENOSYS || err == -ECANCELED) {
		log_warn("this kernel does not confine system calls: we go on without");
		return 0;
	}
	if (err)
		log_error("cannot confine system calls: %s", strerror(-err));
	return err;
}
