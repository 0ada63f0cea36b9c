// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * attach_tc.c - attaching the egress program: a tcx link where the kernel has it (6.6), a
 * filter of the clsact queueing discipline elsewhere.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "lib/log.h"
#include "shield/shield_internal.h"

/* BPF_TCX_EGRESS, newer than our headers. */
#define TCX_EGRESS	((enum bpf_attach_type)47)
#define CLSACT_HANDLE	0x7173 /* "qs" */
#define CLSACT_PRIORITY 7173

static void pin_of(const struct shield *s, const char *interface, char *ret, size_t size)
{
	int n = snprintf(ret, size, "%s/", s->dir);

	snprintf(ret + n, size - (size_t)n, "out-%s", interface);
	for (char *c = ret + n; *c; c++)
		if (*c == '.')
			*c = ',';
}

/* 0: done, 1: this kernel has no tcx, -errno after a message. */
static int attach_tcx(struct shield *s, const char *interface, __u32 ifindex)
{
	char path[PATH_MAX + IF_NAMESIZE + 8];
	LIBBPF_OPTS(bpf_link_create_opts, opts);
	int fd, err;

	pin_of(s, interface, path, sizeof(path));
	fd = bpf_obj_get(path);
	if (fd >= 0) {
		err = bpf_link_update(fd, s->egress, NULL) ? -errno : 0;
		close(fd);
		if (!err)
			return 0;
		unlink(path); /* of an interface that is gone */
	}
	fd = bpf_link_create(s->egress, (int)ifindex, TCX_EGRESS, &opts);
	if (fd < 0)
		return 1;
	err = bpf_obj_pin(fd, path) ? -errno : 0;
	close(fd);
	if (err)
		log_error("cannot pin '%s': %s", path, strerror(-err));
	return err;
}

static int attach_clsact(struct shield *s, const char *interface, __u32 ifindex)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = (int)ifindex,
		    .attach_point = BPF_TC_EGRESS);
	LIBBPF_OPTS(bpf_tc_opts, opts, .handle = CLSACT_HANDLE,
		    .priority = CLSACT_PRIORITY, .prog_fd = s->egress,
		    .flags = BPF_TC_F_REPLACE);
	int err = bpf_tc_hook_create(&hook);

	if (!err || err == -EEXIST)
		err = bpf_tc_attach(&hook, &opts);
	if (err)
		log_error(
			"cannot attach to the egress of '%s': %s (the kernel needs tcx, or "
			"CONFIG_NET_SCH_INGRESS and CONFIG_NET_CLS_BPF)",
			interface, strerror(-err));
	return err;
}

int egress_attach(struct shield *s, const char *interface, __u32 ifindex)
{
	int err = attach_tcx(s, interface, ifindex);

	return err == 1 ? attach_clsact(s, interface, ifindex) : err;
}

__u32 egress_clsact_id(__u32 ifindex)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = (int)ifindex,
		    .attach_point = BPF_TC_EGRESS);
	LIBBPF_OPTS(bpf_tc_opts, opts, .handle = CLSACT_HANDLE,
		    .priority = CLSACT_PRIORITY);
	/* That there is no clsact is an answer, which libbpf would complain about. */
	libbpf_print_fn_t print = libbpf_set_print(NULL);
	int err = bpf_tc_query(&hook, &opts);

	libbpf_set_print(print);
	return err ? 0 : opts.prog_id;
}

void egress_detach(__u32 ifindex)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = (int)ifindex,
		    .attach_point = BPF_TC_EGRESS);
	LIBBPF_OPTS(bpf_tc_opts, opts, .handle = CLSACT_HANDLE,
		    .priority = CLSACT_PRIORITY);

	/* The queueing discipline stays: others may have filters there. */
	if (ifindex && egress_clsact_id(ifindex))
		bpf_tc_detach(&hook, &opts);
}
