// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * attach_xdp.c - attaching at ingress: adopting, exchanging, creating, removing.
 *
 * Called by the daemon (attach_monitor.c), by `load` and by `detach`. shield_load() calls
 * netns_claim() and shield_abandon() under the lock of the tables; the other functions
 * need none, since shield_serve() keeps a second daemon of the directory away.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "lib/log.h"
#include "shield/ethtool.h"
#include "shield/shield_internal.h"
#include "shield/vlan.h"

/*
 * bpffs takes no dots, VLAN interfaces have them. name_of() in attach_look.c undoes this.
 * A pinned link keeps its name over an upgrade: another spelling would leave it unfound.
 */
static void link_name(const char *interface, char *ret, size_t size)
{
	snprintf(ret, size, "link-%s", interface);
	for (char *c = ret; *c; c++)
		if (*c == '.')
			*c = ',';
}

struct adoption {
	struct shield *shield;
	const char *interface;
	__u32 ifindex;
	bool done;
	char former[PATH_MAX]; /* where its link was pinned; "": there was none */
};

/*
 * An older or equal quakeshield's link: exchange its program and make it ours. The
 * callback of attach_both(). 1 ends the walk: done; -errno after a message. The exchange
 * is one step, so that no datagram passes unjudged.
 */
static int adopt(const char *dir, const char *name, int fd,
		 const struct bpf_link_info *info, void *context)
{
	char path[PATH_MAX], ours[IF_NAMESIZE + 8];
	struct adoption *a = context;
	int err;

	if (info->type != BPF_LINK_TYPE_XDP || info->xdp.ifindex != a->ifindex)
		return 0;
	snprintf(a->former, sizeof(a->former), "%s", dir);
	if (bpf_link_update(fd, a->shield->program, NULL)) {
		err = -errno;
		log_error("cannot exchange the program on '%s': %s", a->interface,
			  strerror(errno));
		return err;
	}
	a->done = true;
	link_name(a->interface, ours, sizeof(ours));
	if (strcmp(dir, a->shield->dir) != 0 || strcmp(name, ours) != 0) {
		err = pin_replace(fd, a->shield->dir, ours);
		if (err)
			return err;
		if (!pin_path(path, sizeof(path), dir, name))
			unlink(path);
	}
	return 1;
}

/*
 * Attach the program to @ifindex by a new link, and pin the link. -errno: without a
 * message from the attachment, with one from the pin. Called by attach_new(), once no
 * link of ours can be adopted.
 */
static int create_link(struct shield *s, const char *interface, __u32 ifindex,
		       enum attach_mode mode)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts,
		    .flags = mode == MODE_NATIVE ? XDP_FLAGS_DRV_MODE
						 : XDP_FLAGS_SKB_MODE);
	char name[IF_NAMESIZE + 8];
	int fd, err;

	fd = bpf_link_create(s->program, (int)ifindex, BPF_XDP, &opts);
	if (fd < 0)
		return -errno;
	link_name(interface, name, sizeof(name));
	err = pin_replace(fd, s->dir, name);
	close(fd);
	return err;
}

#define WHY_NATIVE   256
#define MTU_USUAL    1500
#define XDP_HEADROOM 256 /* octets before a frame that the kernel wants to be free */
#define XDP_BEHIND                                                                       \
	320 /* and behind it: the kernel's description of an skb's pages, in whole lines \
	     */

/*
 * Why the driver did not take the program, in @ret. The MTU is a likely reason where it
 * is larger than usual, and -ERANGE has no other: a frame has to fit one page. Called by
 * attach_new().
 */
static void explain_native(const char *interface, int err, char ret[WHY_NATIVE])
{
	__u32 mtu = ethtool_mtu(interface);
	__u32 page = (__u32)sysconf(_SC_PAGESIZE) - XDP_HEADROOM - XDP_BEHIND - ETH_HLEN;
	bool other = shield_on_veth(interface) && mtu <= page;

	if (err != -ERANGE && (err != -EINVAL || mtu <= MTU_USUAL)) {
		snprintf(ret, WHY_NATIVE, "%s", strerror(-err));
		return;
	}
	snprintf(
		ret, WHY_NATIVE,
		"%s: the MTU of %s is too large, of '%s' it is %u; the largest is %u, with "
		"some drivers less: `ip link set %s mtu %u`",
		strerror(-err), other ? "its other end" : "the interface", interface, mtu,
		page, other ? "OTHER-END" : interface, mtu > page ? page : MTU_USUAL);
}

/*
 * Attach to an interface that has no link of ours, in @mode, or in generic mode if @mode
 * is MODE_AUTO and the driver takes no program. *@ret_mode: the mode it has then. -errno
 * after a message. Called by attach_both(), after the egress.
 */
static int attach_new(struct shield *s, const char *interface, __u32 ifindex,
		      enum attach_mode mode, enum attach_mode *ret_mode)
{
	char why[WHY_NATIVE];
	int err = create_link(s, interface, ifindex,
			      mode == MODE_SKB ? MODE_SKB : MODE_NATIVE);
	if (!err) {
		*ret_mode = mode == MODE_SKB ? MODE_SKB : MODE_NATIVE;
		return 0;
	}
	explain_native(interface, err, why);
	if (mode == MODE_AUTO) {
		log_warn(
			"the driver of '%s' takes no native XDP program (%s): using generic (skb) "
			"mode, which is slower",
			interface, why);
		err = create_link(s, interface, ifindex, MODE_SKB);
		*ret_mode = MODE_SKB;
	}
	if (err)
		log_error("cannot attach to '%s' in %s mode: %s%s", interface,
			  mode == MODE_NATIVE ? "native" : "skb",
			  mode == MODE_NATIVE ? why : strerror(-err),
			  mode == MODE_NATIVE ? " (try --mode skb)" : "");
	return err;
}

/*
 * In generic mode a frame may be many datagrams that a driver or a neighbour has joined,
 * of which the program saw the first. So a third program judges at TC what is joined; in
 * native mode it is taken off. Called by attach_both() with the mode that the link has.
 */
static int attach_joined(struct shield *s, const char *interface, __u32 ifindex,
			 enum attach_mode mode)
{
	if (mode != MODE_SKB) {
		tc_detach(s, TC_IN, interface, ifindex);
		return 0;
	}
	if (ethtool_feature(interface, "rx-udp-gro-forwarding") == 1)
		log_warn(
			"'%s' joins datagrams before they can be judged, so what it joins is "
			"dropped, players' too: `ethtool -K %s rx-udp-gro-forwarding off`",
			interface, interface);
	return tc_attach(s, TC_IN, interface, ifindex);
}

/*
 * The egress and the ingress of an interface about which shield_check_attach() had no
 * complaint. The order matters: see below. Called by shield_attach(), which takes both
 * off again on failure.
 */
static int attach_both(struct adoption *a, enum attach_mode mode,
		       enum attach_mode *ret_mode)
{
	struct shield *s = a->shield;
	int err;

	/* Egress first: players must be known before the first datagram is judged. */
	err = tc_attach(s, TC_OUT, a->interface, a->ifindex);
	if (err)
		return err;
	err = each_link(NULL, adopt, a);
	if (err >= 0 && !a->done)
		err = each_link(s->dir, adopt, a);
	if (err < 0)
		return err;
	if (!a->done) {
		err = attach_new(s, a->interface, a->ifindex, mode, ret_mode);
		return err ? err : attach_joined(s, a->interface, a->ifindex, *ret_mode);
	}

	*ret_mode = mode_on(a->ifindex);
	if (mode != MODE_AUTO && mode != *ret_mode)
		log_warn(
			"'%s' stays attached in %s mode; to change that without a gap is not "
			"possible: `quakeshield detach` first",
			a->interface, *ret_mode == MODE_SKB ? "skb" : "native");
	return attach_joined(s, a->interface, a->ifindex, *ret_mode);
}

/* Return true if the links of the interface were those of another quakeshield. */
static bool was_anothers(const struct adoption *a)
{
	return *a->former && strcmp(a->former, a->shield->dir) != 0;
}

/*
 * Give the links of the interface back to the quakeshield that had them, all that were
 * exchanged: its tables would learn nothing from a program of ours beside its own. False,
 * after a message: a program or pin of ours stays. Called by shield_attach() after
 * attach_both() has failed, and by give_back_all().
 */
static bool give_back(struct adoption *a)
{
	char name[IF_NAMESIZE + 8];
	bool ret;

	if (!was_anothers(a))
		return true;
	ret = !links_rename(a->former);
	if (ret) {
		link_name(a->interface, name, sizeof(name));
		ret = link_give_back(a->shield, a->former, name, "xdp");
		ret &= tc_give_back(a->shield, TC_OUT, a->interface, a->ifindex,
				    a->former);
		ret &= tc_give_back(a->shield, TC_IN, a->interface, a->ifindex,
				    a->former);
	}
	if (!ret)
		log_error(
			"cannot give '%s' back to the quakeshield in '%s': a program or "
			"pin of this one stays until the next start",
			a->interface, a->former);
	return ret;
}

/*
 * Note that the links of the interface were another quakeshield's. Called by
 * shield_attach(); with more than a configuration has, the first ones are known.
 */
static void note_taken(const struct adoption *a)
{
	struct shield *s = a->shield;
	struct taken *t = &s->taken[s->taken_count];

	if (!was_anothers(a) || s->taken_count == CONFIG_INTERFACES)
		return;
	t->ifindex = a->ifindex;
	/* It is shorter: below PIN_ROOT. */
	if (snprintf(t->former, sizeof(t->former), "%s", a->former) <
	    (int)sizeof(t->former))
		s->taken_count++;
}

/*
 * Give each interface back that this start has taken from another quakeshield: its tables
 * and its configuration are whole again. Called by shield_abandon().
 */
static void give_back_all(struct shield *s)
{
	for (; s->taken_count; s->taken_count--) {
		const struct taken *t = &s->taken[s->taken_count - 1];
		char interface[IF_NAMESIZE];
		struct adoption a = { .shield = s,
				      .interface = interface,
				      .ifindex = t->ifindex };

		if (!if_indextoname(t->ifindex, interface))
			continue;
		snprintf(a.former, sizeof(a.former), "%s", t->former);
		if (give_back(&a))
			log_info("'%s' is given back to the quakeshield in '%s'",
				 interface, t->former);
	}
}

/* What a card takes off before a program sees the frame is not in what is sent back. */
static void say_untagged(const char *interface)
{
	char vlan[IF_NAMESIZE], card[IF_NAMESIZE];

	if (!vlan_above(interface, vlan) || !vlan_untags(interface, card))
		return;
	log_warn("'%s' takes the tags of VLANs off before a frame can be judged, so what "
		 "is sent back to '%s' leaves without one and is lost: `ethtool -K %s "
		 "rxvlan off`",
		 card, vlan, card);
}

int shield_attach(struct shield *s, const char *interface, enum attach_mode mode,
		  enum attach_mode *ret_mode)
{
	struct adoption a = { .shield = s, .interface = interface };
	enum holder holder;
	int err = shield_check_attach(s->dir, interface, &holder);

	if (err == -ENODEV)
		log_error("no such interface: '%s'", interface);
	if (!err)
		err = links_rename(s->dir);
	if (err)
		return err;
	a.ifindex = if_nametoindex(interface);
	/* Before anything can be sent back. Never cleared: to another interface of that
	 * bit it is another way of doing the same. */
	if (shield_on_veth(interface))
		__atomic_or_fetch(&s->shared->veths, 1u << a.ifindex % 32,
				  __ATOMIC_RELAXED);
	err = attach_both(&a, mode, ret_mode);
	if (!err && *ret_mode == MODE_NATIVE)
		say_untagged(interface);
	if (!err) {
		note_taken(&a);
		shield_here(s);
	} else {
		give_back(&a);
	}
	if (err && holder == HOLDER_NONE)
		shield_release(s, interface); /* both halves or none */
	return err ? err : holder == HOLDER_NONE;
}

/*
 * Unpin and detach the link if it is @context's, or of an interface that is gone. One
 * that has the name alone is of an interface that was renamed: its filters go, too. The
 * callback of shield_release().
 */
static int release_link(const char *dir, const char *name, int fd,
			const struct bpf_link_info *info, void *context)
{
	const struct adoption *a = context;
	char ours[IF_NAMESIZE + 8], path[PATH_MAX];

	link_name(a->interface, ours, sizeof(ours));
	if (info->type != BPF_LINK_TYPE_XDP ||
	    (strcmp(name, ours) != 0 && (!a->ifindex || info->xdp.ifindex != a->ifindex)))
		return 0;
	bpf_link_detach(fd);
	tc_detach_filter(TC_OUT, info->xdp.ifindex);
	tc_detach_filter(TC_IN, info->xdp.ifindex);
	if (!pin_path(path, sizeof(path), dir, name))
		unlink(path);
	return 0;
}

void shield_release(struct shield *s, const char *interface)
{
	struct adoption a = { .shield = s, .interface = interface };

	a.ifindex = if_nametoindex(interface);
	/* A pin of this name may be another interface's link by now. */
	if (a.ifindex)
		links_rename(s->dir);
	each_link(s->dir, release_link, &a);
	tc_detach(s, TC_OUT, interface, a.ifindex);
	tc_detach(s, TC_IN, interface, a.ifindex);
}

/*
 * Detach the link, take the filters of its interface off, unpin it, and add an XDP link
 * to *@context. The callback of shield_detach(); called by retire_link() too. Always 0,
 * so that one that fails does not keep the others attached.
 */
static int unlink_link(const char *dir, const char *name, int fd,
		       const struct bpf_link_info *info, void *context)
{
	char path[PATH_MAX];
	size_t *count = context;

	bpf_link_detach(fd);
	/* In another namespace the number is that of another interface. */
	if (info->type == BPF_LINK_TYPE_XDP && !netns_is_other(dir)) {
		tc_detach_filter(TC_OUT, info->xdp.ifindex);
		tc_detach_filter(TC_IN, info->xdp.ifindex);
	}
	if (!pin_path(path, sizeof(path), dir, name))
		unlink(path);
	*count += info->type == BPF_LINK_TYPE_XDP;
	return 0;
}

/*
 * Detach the links in @dir, of whatever network namespace, and remove its pins. The
 * callback of shield_detach(). 0, or -errno.
 */
static int detach_dir(const char *dir, void *context)
{
	int err = each_link(dir, unlink_link, context);

	if (!err)
		pins_remove_dir(dir);
	return err;
}

/*
 * Nothing but a shield's directory has these; others' pins are left alone. Called by
 * shield_detach() before it removes a directory that a user has named.
 */
static bool has_tables(const char *dir)
{
	int fd = pin_open(dir, "live");

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

int shield_check_detach(const char *pin_dir)
{
	return pins_check_all(pin_dir);
}

int shield_detach(const char *pin_dir, size_t *ret_count)
{
	int err;

	*ret_count = 0;
	libbpf_set_print(NULL); /* asking whether something is there is no error */
	/*
	 * The owner of a directory would choose what is removed. And each_link() leaves
	 * such a directory out, as if nothing were attached from it.
	 */
	err = pins_check_all(pin_dir);
	if (err)
		return err;
	err = pin_dir ? each_link(pin_dir, unlink_link, ret_count)
		      : pins_each_dir(detach_dir, ret_count);
	if (err) {
		log_error("cannot read the pins in '%s': %s%s",
			  pin_dir ? pin_dir : PIN_ROOT, strerror(-err), pins_hint(err));
		return err;
	}
	if (pin_dir) {
		if (has_tables(pin_dir))
			pins_remove_dir(pin_dir);
		return 0;
	}
	rmdir(PIN_ROOT);
	return 0;
}

/* --- what an older quakeshield left ------------------------------------------ */

/*
 * Set *@context if a link, at ingress or at TC, is at an interface that is there. The
 * callback of dir_stands(); goes on to the last.
 */
static int link_stands(const char *dir, const char *name, int fd,
		       const struct bpf_link_info *info, void *context)
{
	(void)dir;
	(void)name;
	(void)fd;
	/* tcx is newer than our headers; its ifindex is where XDP's is. */
	*(bool *)context |= info->xdp.ifindex != 0;
	return 0;
}

/* Return true if a link that is pinned in @dir is at an interface that is there. */
static bool dir_stands(const char *dir)
{
	bool ret = false;

	each_link(dir, link_stands, &ret);
	return ret;
}

void shield_abandon(struct shield *s)
{
	give_back_all(s);
	/* The pin is the last that holds a link. */
	if (s->dir_new && !dir_stands(s->dir))
		pins_remove_dir(s->dir);
	if (s->dir_new)
		rmdir(PIN_ROOT); /* if it is empty */
	s->dir_new = false;
}

/*
 * Detach and unpin a link of the quakeshield before this one. The callback of
 * retire_dir(), after the configured interfaces were adopted: a link that is still in
 * another directory is of an interface that the configuration names no more, which this
 * says. Always 0, as unlink_link().
 */
static int retire_link(const char *dir, const char *name, int fd,
		       const struct bpf_link_info *info, void *context)
{
	char interface[IF_NAMESIZE];
	size_t count = 0;

	(void)context;
	if (info->type == BPF_LINK_TYPE_XDP && info->xdp.ifindex &&
	    if_indextoname(info->xdp.ifindex, interface))
		log_warn(
			"'%s' is protected no more: the quakeshield before this one did, but "
			"it is not among the interfaces now",
			interface);
	return unlink_link(dir, name, fd, info, &count);
}

/*
 * Detach and remove all pins of another quakeshield in @dir, unless @context, a struct
 * shield, is that one. The callback of shield_retire(). The daemon calls that at the end
 * of its start: earlier it would take programs off that are to be adopted.
 */
static int retire_dir(const char *dir, void *context)
{
	const struct shield *s = context;

	if (!strcmp(dir, s->dir))
		return 0;
	each_link(dir, retire_link, NULL);
	pins_remove_dir(dir);
	log_info("the tables in '%s' are gone: these are in '%s'", dir, s->dir);
	return 0;
}

/* A user with a directory of its own may have another quakeshield next to it. */
static bool is_default(const struct shield *s)
{
	char ours[PATH_MAX];

	return !pins_default_dir(NULL, ours, sizeof(ours)) && !strcmp(ours, s->dir);
}

void shield_retire(struct shield *s)
{
	s->taken_count = 0;
	if (is_default(s))
		pins_each_dir(retire_dir, s);
}

/* Return -EBUSY after a message, as netns_claim(), or 0. Its callback. */
static int check_netns(const char *dir, void *context)
{
	(void)context;
	if (!netns_is_other(dir) || !dir_stands(dir))
		return 0;
	log_error("the shield of '%s' protects interfaces of another network "
		  "namespace, perhaps a container's: `quakeshield detach` it, or give "
		  "this one a directory of its own by --pin",
		  dir);
	return -EBUSY;
}

int netns_claim(struct shield *s)
{
	int err = is_default(s) ? pins_each_dir(check_netns, NULL)
				: check_netns(s->dir, NULL);

	return err ? err : netns_note(s->dir);
}
