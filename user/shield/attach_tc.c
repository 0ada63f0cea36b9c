// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * attach_tc.c - attaching the programs at TC: a tcx link where the kernel has it (6.6), a
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

#define CLSACT_HANDLE	0x7173 /* "qs" */
#define CLSACT_PRIORITY 7173

static const struct hook {
	const char *prefix; /* of the pinned link's name */
	int tcx; /* BPF_TCX_*, newer than our headers */
	enum bpf_tc_attach_point clsact;
	const char *what;
	const char *program; /* its pin */
} hooks[] = {
	[TC_OUT] = { "out", 47, BPF_TC_EGRESS, "egress", "egress" },
	[TC_IN] = { "in", 46, BPF_TC_INGRESS, "ingress", "joined" },
};

/*
 * Return the descriptor of the program for @side: egress on TC_OUT, joined on TC_IN.
 * Called by attach_tcx() and attach_clsact().
 */
static int program_of(const struct shield *s, enum tc_side side)
{
	return side == TC_OUT ? s->egress : s->joined;
}

/*
 * Write the name of the pinned link to @ret: bpffs takes no dots. each_link_in() knows
 * the prefixes. An older quakeshield's link is found by this name: do not change it.
 */
static void pin_of(enum tc_side side, const char *interface, char *ret, size_t size)
{
	snprintf(ret, size, "%s-%s", hooks[side].prefix, interface);
	for (char *c = ret; *c; c++)
		if (*c == '.')
			*c = ',';
}

/* The links of one side of an interface: what pinned ones are compared with. */
struct tc_links {
	struct shield *shield;
	const char *interface;
	const char *pin; /* as pin_of() writes it */
	const struct hook *hook;
	__u32 ifindex; /* 0: the interface is gone */
	int program;
	bool done;
};

/* Return true if the link pinned as @name is at this side of the interface. */
static bool is_there(const struct tc_links *x, const char *name,
		     const struct bpf_link_info *info)
{
	size_t n = strlen(x->hook->prefix);

	/* tcx is newer than our headers; its ifindex is where XDP's is. */
	return !strncmp(name, x->hook->prefix, n) && name[n] == '-' && x->ifindex &&
	       info->xdp.ifindex == x->ifindex;
}

/*
 * Exchange the program of a link at this side of the interface, and pin the link with us
 * under the interface's present name. A second one of ours is taken off: both would
 * withhold. The callback of attach_tcx(), for our directory, then for all. 0, or -errno
 * after a message: then the link that could not be exchanged stays as it was.
 */
static int exchange(const char *dir, const char *name, int fd,
		    const struct bpf_link_info *info, void *context)
{
	struct tc_links *x = context;
	bool ours = !strcmp(dir, x->shield->dir) && !strcmp(name, x->pin);
	char path[PATH_MAX];
	int err = -EEXIST;

	if (!is_there(x, name, info) || pin_path(path, sizeof(path), dir, name))
		return 0;
	if (!x->done || ours)
		err = bpf_link_update(fd, x->program, NULL) ? -errno : 0;
	if (!err) {
		err = ours ? 0 : pin_replace(fd, x->shield->dir, x->pin);
		if (err) {
			int former = pin_open(dir, x->hook->program);

			if (former >= 0) {
				bpf_link_update(fd, former, NULL);
				close(former);
			}
			return err;
		}
		x->done = true;
	} else if (err != -EEXIST) { /* another link of this side has the program */
		log_error("cannot exchange the program at the %s of '%s': %s",
			  x->hook->what, x->interface, strerror(-err));
		return err;
	}
	if (!ours)
		unlink(path);
	return 0;
}

/*
 * Unpin a link that is at this side of the interface, by whatever name it is pinned: a
 * renamed interface left its former one. If the interface is gone, the name alone tells
 * its link. The pin is the last that holds a link. The callback of tc_detach(). Always 0.
 */
static int unpin(const char *dir, const char *name, int fd,
		 const struct bpf_link_info *info, void *context)
{
	const struct tc_links *x = context;
	char path[PATH_MAX];

	(void)fd;
	if ((is_there(x, name, info) || !strcmp(name, x->pin)) &&
	    !pin_path(path, sizeof(path), dir, name))
		unlink(path);
	return 0;
}

/*
 * 0: done, 1: this kernel has no tcx, or refuses a new link; -errno after a message.
 * Called by tc_attach().
 */
static int attach_tcx(struct shield *s, enum tc_side side, const char *interface,
		      __u32 ifindex)
{
	char pin[IF_NAMESIZE + 8];
	struct tc_links x = { .shield = s,
			      .interface = interface,
			      .pin = pin,
			      .hook = &hooks[side],
			      .ifindex = ifindex,
			      .program = program_of(s, side) };
	LIBBPF_OPTS(bpf_link_create_opts, opts);
	int fd, err;

	pin_of(side, interface, pin, sizeof(pin));
	err = each_link(s->dir, exchange, &x);
	/*
	 * Replace the program of a quakeshield with other tables in one step too, so that
	 * never two programs withhold, and never none.
	 */
	if (!err && !x.done)
		err = each_link(NULL, exchange, &x);
	if (err || x.done)
		return err;
	fd = bpf_link_create(x.program, (int)ifindex,
			     (enum bpf_attach_type)hooks[side].tcx, &opts);
	if (fd < 0)
		return 1;
	err = pin_replace(fd, s->dir, pin);
	close(fd);
	return err;
}

/*
 * Attach the program as a clsact filter, in place of the one with our handle. 0, or
 * -errno after a message. Called by tc_attach() where the kernel has no tcx, and by
 * tc_give_back().
 * CLSACT_HANDLE and CLSACT_PRIORITY must stay: by them the filter of an older quakeshield
 * is replaced and not doubled.
 */
static int attach_clsact(int program, enum tc_side side, const char *interface,
			 __u32 ifindex)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = (int)ifindex,
		    .attach_point = hooks[side].clsact);
	LIBBPF_OPTS(bpf_tc_opts, opts, .handle = CLSACT_HANDLE,
		    .priority = CLSACT_PRIORITY, .prog_fd = program,
		    .flags = BPF_TC_F_REPLACE);
	int err = bpf_tc_hook_create(&hook);

	if (!err || err == -EEXIST)
		err = bpf_tc_attach(&hook, &opts);
	if (err)
		log_error("cannot attach to the %s of '%s': %s (the kernel needs tcx, or "
			  "CONFIG_NET_SCH_INGRESS and CONFIG_NET_CLS_BPF)",
			  hooks[side].what, interface, strerror(-err));
	return err;
}

int tc_attach(struct shield *s, enum tc_side side, const char *interface, __u32 ifindex)
{
	int err = attach_tcx(s, side, interface, ifindex);

	if (err == 1)
		return attach_clsact(program_of(s, side), side, interface, ifindex);
	/* A filter that was attached while tcx refused would run beside the link. */
	if (!err)
		tc_detach_filter(side, ifindex);
	return err;
}

/* The id of our program on @side as clsact filter; 0: none. */
static __u32 clsact_id(enum tc_side side, __u32 ifindex)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = (int)ifindex,
		    .attach_point = hooks[side].clsact);
	LIBBPF_OPTS(bpf_tc_opts, opts, .handle = CLSACT_HANDLE,
		    .priority = CLSACT_PRIORITY);
	/* That there is no clsact is an answer, which libbpf would complain about. */
	libbpf_print_fn_t print = libbpf_set_print(NULL);
	int err = bpf_tc_query(&hook, &opts);

	libbpf_set_print(print);
	return err ? 0 : opts.prog_id;
}

bool tc_give_back(struct shield *s, enum tc_side side, const char *interface,
		  __u32 ifindex, const char *dir)
{
	char pin[IF_NAMESIZE + 8];
	int program, err;
	bool ret;

	pin_of(side, interface, pin, sizeof(pin));
	ret = link_give_back(s, dir, pin, hooks[side].program);
	if (!clsact_id(side, ifindex))
		return ret;
	program = pin_open(dir, hooks[side].program);
	if (program < 0)
		return false;
	err = attach_clsact(program, side, interface, ifindex);
	close(program);
	return ret && !err;
}

/* Is the link pinned as @pin in @dir at @ifindex still? Called by tc_is_ours(). */
static bool link_is_on(const char *dir, const char *pin, __u32 ifindex)
{
	struct bpf_link_info info = { 0 };
	__u32 size = sizeof(info);
	int fd = pin_open(dir, pin);
	bool ret;

	if (fd < 0)
		return false;
	/* tcx is newer than our headers; its ifindex is where XDP's is. */
	ret = !bpf_obj_get_info_by_fd(fd, &info, &size) && info.xdp.ifindex == ifindex;
	close(fd);
	return ret;
}

/* The id of the program pinned as @name in @dir; 0: none. */
static __u32 program_id(const char *dir, const char *name)
{
	struct bpf_prog_info info = { 0 };
	__u32 size = sizeof(info);
	int fd = pin_open(dir, name);

	if (fd < 0)
		return 0;
	if (bpf_obj_get_info_by_fd(fd, &info, &size))
		info.id = 0;
	close(fd);
	return info.id;
}

bool tc_is_ours(const char *dir, enum tc_side side, const char *interface, __u32 ifindex)
{
	char pin[IF_NAMESIZE + 8];
	__u32 id;

	pin_of(side, interface, pin, sizeof(pin));
	if (link_is_on(dir, pin, ifindex))
		return true;
	id = clsact_id(side, ifindex);
	return id && id == program_id(dir, hooks[side].program);
}

void tc_detach(struct shield *s, enum tc_side side, const char *interface, __u32 ifindex)
{
	char pin[IF_NAMESIZE + 8];
	struct tc_links x = { .pin = pin, .hook = &hooks[side], .ifindex = ifindex };

	pin_of(side, interface, pin, sizeof(pin));
	each_link(s->dir, unpin, &x);
	tc_detach_filter(side, ifindex);
}

void tc_detach_filter(enum tc_side side, __u32 ifindex)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = (int)ifindex,
		    .attach_point = hooks[side].clsact);
	LIBBPF_OPTS(bpf_tc_opts, opts, .handle = CLSACT_HANDLE,
		    .priority = CLSACT_PRIORITY);

	/* The queueing discipline stays: others may have filters there. */
	if (ifindex && clsact_id(side, ifindex))
		bpf_tc_detach(&hook, &opts);
}
