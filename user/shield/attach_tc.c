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

static void pin_of(const char *interface, char *ret, size_t size)
{
	snprintf(ret, size, "out-%s", interface);
	for (char *c = ret; *c; c++)
		if (*c == '.')
			*c = ',';
}

struct exchange {
	struct shield *shield;
	const char *pin;
};

/*
 * Exchange the program of the link that is pinned in @dir, and pin it with us. 1: done,
 * 0: there is none, or it is of an interface that is gone; -errno after a message.
 */
static int exchange_in(const char *dir, void *context)
{
	const struct exchange *x = context;
	bool ours = !strcmp(dir, x->shield->dir);
	int fd = pin_open(dir, x->pin);
	char path[PATH_MAX];
	int err;

	if (fd < 0 || pin_path(path, sizeof(path), dir, x->pin))
		return 0;
	err = bpf_link_update(fd, x->shield->egress, NULL) ? 0 : 1;
	if (err && !ours) {
		int pinned = pin_replace(fd, x->shield->dir, x->pin);

		err = pinned ? pinned : err;
	}
	close(fd);
	if (!err || !ours)
		unlink(path);
	return err;
}

/* 0: done, 1: this kernel has no tcx, -errno after a message. */
static int attach_tcx(struct shield *s, const char *interface, __u32 ifindex)
{
	char pin[IF_NAMESIZE + 8];
	struct exchange x = { s, pin };
	LIBBPF_OPTS(bpf_link_create_opts, opts);
	int fd, err;

	pin_of(interface, pin, sizeof(pin));
	err = exchange_in(s->dir, &x);
	/* Of a quakeshield with other tables: in one step too, so that never two programs
	 * withhold, and never none. */
	if (!err)
		err = pins_each_dir(exchange_in, &x);
	if (err)
		return err < 0 ? err : 0;
	fd = bpf_link_create(s->egress, (int)ifindex, TCX_EGRESS, &opts);
	if (fd < 0)
		return 1;
	err = pin_replace(fd, s->dir, pin);
	close(fd);
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
