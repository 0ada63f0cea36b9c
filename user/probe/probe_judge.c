// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * probe_judge.c - the findings about the machine: kernel, rights, the BPF file system,
 * address translation. Pure; see probe.h.
 */
#include <stdio.h>

#include "probe/probe.h"

#define KERNEL_MAJOR 6 /* the oldest that the programs load on: docs/HACKING.md */
#define KERNEL_MINOR 1
#define TCX_MINOR    6 /* of 6.x */

const char *probe_result_name(enum probe_result result)
{
	static const char *const names[] = { "ok", "warn", "fail" };

	return names[result];
}

static bool at_least(const struct probe_facts *f, unsigned int major, unsigned int minor)
{
	return f->major > major || (f->major == major && f->minor >= minor);
}

static void judge_kernel(const struct probe_facts *f, struct probe_findings *to)
{
	if (at_least(f, KERNEL_MAJOR, KERNEL_MINOR)) {
		probe_say(to, "kernel", PROBE_OK, "Linux %s; it needs %d.%d or newer",
			  f->kernel, KERNEL_MAJOR, KERNEL_MINOR);
		return;
	}
	probe_say(to, "kernel", PROBE_FAIL,
		  "Linux %s is too old: the programs need %d.%d or newer", f->kernel,
		  KERNEL_MAJOR, KERNEL_MINOR);
	probe_fix(to, "apt install linux-image-amd64");
}

/* How the egress program is attached: tcx, or a filter of clsact. */
static void judge_options(const struct probe_facts *f, struct probe_findings *to)
{
	const int *has = f->options;
	bool clsact = has[PROBE_SCH_INGRESS] == 1 && has[PROBE_CLS_BPF] == 1;
	bool tcx = at_least(f, KERNEL_MAJOR, TCX_MINOR) && has[PROBE_XGRESS] == 1;

	if (has[PROBE_BPF_SYSCALL] < 0)
		return;
	if (has[PROBE_BPF_SYSCALL] == 1 && (clsact || tcx)) {
		probe_say(to, "options", PROBE_OK,
			  "the kernel has bpf(2), and attaches at egress by %s",
			  tcx ? "tcx" : "clsact");
		return;
	}
	probe_say(to, "options", PROBE_FAIL, "the kernel was built without %s",
		  has[PROBE_BPF_SYSCALL] != 1 ? "CONFIG_BPF_SYSCALL"
					      : "CONFIG_NET_SCH_INGRESS and "
						"CONFIG_NET_CLS_BPF, or tcx (6.6)");
	probe_fix(to, "apt install linux-image-amd64");
}

static void judge_compiler(const struct probe_facts *f, struct probe_findings *to)
{
	if (f->btf == 1)
		probe_say(to, "btf", PROBE_OK, "the kernel tells its types (BTF)");
	else if (!f->btf)
		probe_say(to, "btf", PROBE_OK,
			  "the kernel tells no types (BTF): the programs need none");
	if (f->jit < 0)
		return;
	if (f->jit) {
		probe_say(to, "jit", PROBE_OK, "programs are compiled (JIT)");
		return;
	}
	probe_say(to, "jit", PROBE_WARN,
		  "programs are interpreted, which takes several times as long: a flood "
		  "costs as much more");
	probe_fix(to, "sysctl -w net.core.bpf_jit_enable=1");
}

static void judge_rights(const struct probe_facts *f, struct probe_findings *to)
{
	static const char *const names[] = { "CAP_BPF", "CAP_NET_ADMIN", "CAP_PERFMON" };
	char missing[64];
	size_t n = 0;

	*missing = 0;
	for (int i = 0; i < PROBE_CAPABILITIES; i++)
		if (!f->capable[i])
			n += (size_t)snprintf(missing + n, sizeof(missing) - n, "%s%s",
					      n ? ", " : "", names[i]);
	if (n) {
		probe_say(to, "rights", PROBE_FAIL,
			  "this process lacks %s, without which nothing is attached",
			  missing);
		probe_fix(to, "sudo quakeshield probe%s%s", f->given ? " -i " : "",
			  f->given ? f->interface : "");
	} else if (f->guest_user) {
		probe_say(to, "rights", PROBE_FAIL,
			  "this container has a user namespace of its own: its root may "
			  "not load such programs");
		probe_fix(to, "quakeshield probe # on the machine outside");
	} else {
		probe_say(to, "rights", PROBE_OK, "this process may load and attach");
	}
}

#define OTHERS_WRITE 022
#define STICKY	     01000

static void judge_bpffs(const struct probe_facts *f, struct probe_findings *to)
{
	if (!f->bpffs) {
		probe_say(
			to, "bpffs", PROBE_WARN,
			"no BPF file system is mounted on /sys/fs/bpf: `run` mounts it, "
			"if it may");
		probe_fix(to, "mount -t bpf -o mode=0700 bpf /sys/fs/bpf");
	} else if (f->bpffs_owner || f->bpffs_mode & OTHERS_WRITE) {
		probe_say(to, "bpffs", PROBE_WARN,
			  "others may write to /sys/fs/bpf (mode %o, of user %u): what "
			  "they put there first under our name is refused",
			  f->bpffs_mode, f->bpffs_owner);
		probe_fix(to, "chown 0:0 /sys/fs/bpf && chmod 700 /sys/fs/bpf");
	} else if (f->life == PINS_CONTAINER) {
		probe_say(to, "bpffs", PROBE_WARN,
			  "/sys/fs/bpf was mounted in this container: the shield ends "
			  "with it");
		probe_fix(to, "docker run -v /sys/fs/bpf:/sys/fs/bpf ...");
	} else if (f->life == PINS_PROCESS) {
		probe_say(
			to, "bpffs", PROBE_WARN,
			"/sys/fs/bpf is this process's own: what is pinned there is gone "
			"when it ends");
		probe_fix(to, "nsenter --mount=/proc/1/ns/mnt quakeshield run");
	} else {
		probe_say(to, "bpffs", PROBE_OK,
			  "a BPF file system is on /sys/fs/bpf, for root alone to write");
	}
}

static void judge_translation(const struct probe_facts *f, struct probe_findings *to)
{
	if (f->nat > 0) {
		probe_say(to, "nat", PROBE_WARN,
			  "'%s' rewrites what arrives: a service's port and address are "
			  "those before it",
			  f->nat_chain);
		probe_fix(to, "nft list ruleset | grep dnat");
	} else if (!f->nat) {
		probe_say(to, "nat", PROBE_OK, "no rule rewrites what arrives");
	}
	if (f->conntrack_most <= 0)
		return;
	if (f->conntrack < f->conntrack_most / 4 * 3) {
		probe_say(to, "conntrack", PROBE_OK,
			  "%ld of %ld connections are tracked; what is dropped is not",
			  f->conntrack, f->conntrack_most);
		return;
	}
	probe_say(to, "conntrack", PROBE_WARN,
		  "%ld of %ld connections are tracked: when the table is full, players' "
		  "datagrams are lost",
		  f->conntrack, f->conntrack_most);
	probe_fix(to, "sysctl -w net.netfilter.nf_conntrack_max=%ld",
		  f->conntrack_most * 4);
}

void probe_judge(const struct probe_facts *f, struct probe_findings *ret)
{
	ret->count = 0;
	judge_kernel(f, ret);
	judge_options(f, ret);
	judge_compiler(f, ret);
	judge_rights(f, ret);
	judge_bpffs(f, ret);
	probe_judge_place(f, ret);
	if (f->index)
		probe_judge_card(f, ret);
	judge_translation(f, ret);
}
