// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * attach_look.c - what is attached where, and whether an interface could be attached to:
 * looking, changing nothing.
 *
 * Nothing here needs the lock of the tables.
 */
#include <errno.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/if_link.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "lib/log.h"
#include "lib/netlinks.h"
#include "shield/ethtool.h"
#include "shield/here.h"
#include "shield/shield_internal.h"

enum attach_mode mode_on(__u32 ifindex)
{
	LIBBPF_OPTS(bpf_xdp_query_opts, query);

	if (!bpf_xdp_query((int)ifindex, 0, &query) &&
	    query.attach_mode == XDP_ATTACHED_SKB)
		return MODE_SKB;
	return MODE_NATIVE;
}

bool shield_on_veth(const char *interface)
{
	return ethtool_driven_by(interface, "veth");
}

bool shield_veth_native(const char *interface, enum attach_mode mode)
{
	if (!shield_on_veth(interface))
		return false;
	if (shield_program_on(interface))
		mode = mode_on(if_nametoindex(interface));
	return mode != MODE_SKB;
}

/*
 * Set *@context if a link is an XDP link. The callback of dir_attached(); goes on to the
 * last.
 */
static int link_seen(const char *dir, const char *name, int fd,
		     const struct bpf_link_info *info, void *context)
{
	(void)dir;
	(void)name;
	(void)fd;
	*(bool *)context |= info->type == BPF_LINK_TYPE_XDP;
	return 0;
}

bool dir_attached(const char *dir)
{
	bool ret = false;

	each_link(dir, link_seen, &ret);
	return ret;
}

/* --- may we attach? ------------------------------------------------------------ */

/*
 * Write to @ret why @interface, which carries the XDP program @id, is left alone. Called
 * by shield_may_attach() for a program that no link of ours holds. The programs' name
 * `shield` is that of bpf/shield.bpf.c.
 */
static void explain_foreign(const char *interface, __u32 id, char ret[SHIELD_WHY])
{
	struct bpf_prog_info info = { 0 };
	__u32 size = sizeof(info);
	int fd = bpf_prog_get_fd_by_id(id);

	if (fd >= 0) {
		bpf_obj_get_info_by_fd(fd, &info, &size);
		close(fd);
	}
	if (!strcmp(info.name, "shield"))
		snprintf(
			ret, SHIELD_WHY,
			"interface '%s' already carries the program of a quakeshield (id "
			"%u) that is pinned in another directory: it is left alone. Name "
			"that directory with --pin, or `quakeshield detach --pin` it",
			interface, id);
	else
		snprintf(
			ret, SHIELD_WHY,
			"interface '%s' already carries an XDP program that is not ours "
			"(id %u, name '%s'): it is left alone. Detach it with its own tool "
			"(`bpftool net` shows it; without a link, `ip link set dev %s xdp "
			"off` takes it off), or protect another interface",
			interface, id, info.name[0] ? info.name : "?", interface);
}

/*
 * Return 0 if @interface carries Ethernet frames or is the loopback. -ENODEV: no such
 * interface, without a message; another -errno with one in @ret, which the caller has
 * made empty, except where no socket can be opened. Called by shield_may_attach(). The
 * programs parse Ethernet headers, so no other type may pass.
 */
static int check_ethernet(const char *interface, char ret[SHIELD_WHY])
{
	struct ifreq request = { 0 };
	int fd, err = 0;

	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", interface);
	if (ioctl(fd, SIOCGIFHWADDR, &request))
		err = -errno;
	close(fd);
	if (err == -ENODEV)
		return err;
	if (err) {
		snprintf(ret, SHIELD_WHY, "cannot query interface '%s': %s", interface,
			 strerror(-err));
		return err;
	}
	if (request.ifr_hwaddr.sa_family == ARPHRD_ETHER ||
	    request.ifr_hwaddr.sa_family == ARPHRD_LOOPBACK)
		return 0;
	snprintf(ret, SHIELD_WHY,
		 "interface '%s' carries no Ethernet frames (type %u): if it is a "
		 "tunnel (GRE, IPIP, WireGuard, tun), the shield must stand where its "
		 "packets are outside of it, at its other end; the interface below it "
		 "sees the outer packets only",
		 interface, request.ifr_hwaddr.sa_family);
	return -EOPNOTSUPP;
}

struct search {
	const char *dir;
	__u32 ifindex;
	enum holder holder;
};

/*
 * Note in struct search if this link holds the interface, and end the walk. The callback
 * of shield_may_attach(), which walks its own directory first, then all.
 */
static int find_holder(const char *dir, const char *name, int fd,
		       const struct bpf_link_info *info, void *context)
{
	struct search *s = context;
	char root[PATH_MAX];

	(void)name;
	(void)fd;
	if (info->type != BPF_LINK_TYPE_XDP || info->xdp.ifindex != s->ifindex)
		return 0;
	/* A quakeshield of other tables is the one before us, if we are the machine's. */
	if (!strcmp(dir, s->dir) ||
	    (!pins_default_dir(NULL, root, sizeof(root)) && !strcmp(root, s->dir)))
		s->holder = HOLDER_US;
	else
		s->holder = HOLDER_DEFAULT;
	return 1;
}

__u32 shield_program_on(const char *interface)
{
	__u32 ifindex = if_nametoindex(interface), ret = 0;

	if (!ifindex || bpf_xdp_query_id((int)ifindex, 0, &ret))
		return 0;
	return ret;
}

int shield_may_attach(const char *pin_dir, const char *interface, enum holder *ret,
		      char ret_why[SHIELD_WHY])
{
	char dir[PATH_MAX];
	struct search s = { .dir = dir, .holder = HOLDER_NONE };
	__u32 program;
	int err = pins_default_dir(pin_dir, dir, sizeof(dir));

	*ret = HOLDER_NONE;
	*ret_why = 0;
	if (err)
		return err;
	s.ifindex = if_nametoindex(interface);
	if (!s.ifindex)
		return -ENODEV;
	err = check_ethernet(interface, ret_why);
	if (!err)
		err = each_link(dir, find_holder, &s);
	if (!err)
		err = each_link(NULL, find_holder, &s);
	if (err < 0)
		return err;
	*ret = s.holder;
	if (s.holder != HOLDER_NONE)
		return 0;
	program = shield_program_on(interface);
	if (!program)
		return 0;
	explain_foreign(interface, program, ret_why);
	return -EBUSY;
}

int shield_check_attach(const char *pin_dir, const char *interface, enum holder *ret)
{
	char why[SHIELD_WHY];
	int err = shield_may_attach(pin_dir, interface, ret, why);

	if (*why)
		log_error("%s", why);
	return err;
}

/* --- what there is ----------------------------------------------------------- */

struct link_list {
	const struct shield *shield;
	struct shield_link *links;
	size_t max, count;
};

/*
 * The interface of the link pinned as "link-@interface", as link_name() has made it.
 * Called by list_link() alone, for XDP links, which all have such a name. link_name() in
 * attach_xdp.c must stay its inverse.
 */
static void name_of(const char *name, char ret[IF_NAMESIZE])
{
	snprintf(ret, IF_NAMESIZE, "%s", name + strlen("link-"));
	for (char *c = ret; *c; c++)
		if (*c == ',')
			*c = '.';
}

/*
 * Fill in link->down, link->dormant and link->loopback; they stay false where the kernel
 * does not tell. Called by list_link() and shield_links_named().
 */
static void interface_flags(struct shield_link *link, int ifindex)
{
	struct netlink_row row;

	if (netlinks_one(ifindex, &row))
		return;
	link->down = !row.up;
	link->dormant = row.up && row.dormant;
	link->loopback = row.loopback;
}

/* Return since when the program on @ifindex does not run, as the daemon noted; or 0. */
static time_t unrun_since(const struct shield *s, __u32 ifindex)
{
	for (size_t i = 0; i < UNRUN_MAX; i++)
		if (s->shared->unrun[i].ifindex == ifindex)
			return s->shared->unrun[i].since_s;
	return 0;
}

void shield_unrun_put(struct shield *s, size_t i, int ifindex, time_t since)
{
	if (i < UNRUN_MAX)
		s->shared->unrun[i] = (struct unrun){ (__u32)ifindex, (__u32)since };
}

/*
 * Add an XDP link to struct link_list; beyond @max it is only counted. The callback of
 * shield_links(). `attached` must be true only if all programs that the mode needs are in
 * place: the attach monitor repairs what is not.
 */
static int list_link(const char *dir, const char *name, int fd,
		     const struct bpf_link_info *info, void *context)
{
	struct link_list *list = context;
	struct shield_link *link;
	char pinned[IF_NAMESIZE], path[PATH_MAX];
	struct stat st;

	(void)fd;
	if (info->type != BPF_LINK_TYPE_XDP || list->count++ >= list->max)
		return 0;
	link = &list->links[list->count - 1];
	memset(link, 0, sizeof(*link));
	name_of(name, pinned);
	if (!pin_path(path, sizeof(path), dir, name) && !stat(path, &st))
		link->since = st.st_mtime;
	if (!info->xdp.ifindex || !if_indextoname(info->xdp.ifindex, link->interface)) {
		memcpy(link->interface, pinned, sizeof(pinned));
		link->missing = !if_nametoindex(pinned);
		link->program_id = shield_program_on(pinned);
		return 0;
	}
	link->mode = mode_on(info->xdp.ifindex);
	bpf_xdp_query_id((int)info->xdp.ifindex, 0, &link->program_id);
	link->ingress = link->program_id == info->prog_id;
	link->egress = tc_is_ours(dir, TC_OUT, pinned, info->xdp.ifindex);
	interface_flags(link, (int)info->xdp.ifindex);
	link->unrun_since = unrun_since(list->shield, info->xdp.ifindex);
	link->attached = link->ingress && link->egress &&
			 (link->mode != MODE_SKB ||
			  tc_is_ours(dir, TC_IN, pinned, info->xdp.ifindex));
	return 0;
}

size_t shield_links(const struct shield *s, struct shield_link *ret, size_t max)
{
	struct link_list list = { .shield = s, .links = ret, .max = max };

	each_link(s->dir, list_link, &list);
	return list.count;
}

void shield_warn_mode(const struct shield *s, enum attach_mode wanted)
{
	struct shield_link links[CONFIG_INTERFACES];
	size_t count = shield_links(s, links, CONFIG_INTERFACES);

	for (size_t i = 0; i < count && i < CONFIG_INTERFACES; i++)
		if (links[i].mode != MODE_AUTO &&
		    (links[i].mode == MODE_SKB) != (wanted == MODE_SKB))
			log_warn("'%s' stays attached in %s mode; to change that without "
				 "a gap is not possible: `quakeshield detach`, and start "
				 "again",
				 links[i].interface,
				 links[i].mode == MODE_SKB ? "skb" : "native");
}

void shield_own_name(const char *name, char ret[IF_NAMESIZE])
{
	if (!if_indextoname(if_nametoindex(name), ret))
		snprintf(ret, IF_NAMESIZE, "%s", name);
}

size_t shield_links_named(struct shield_link *links, size_t count,
			  const char (*named)[IF_NAMESIZE], size_t named_count)
{
	for (size_t i = 0; i < named_count; i++) {
		struct shield_link *link = &links[count];
		char own[IF_NAMESIZE];
		unsigned int ifindex;
		bool has = false;

		shield_own_name(named[i], own);
		for (size_t j = 0; j < count; j++)
			has |= !strcmp(links[j].interface, own);
		if (has)
			continue;
		memset(link, 0, sizeof(*link));
		memcpy(link->interface, own, IF_NAMESIZE);
		ifindex = if_nametoindex(named[i]);
		link->missing = !ifindex;
		link->program_id = shield_program_on(named[i]);
		interface_flags(link, (int)ifindex);
		count++;
	}
	return count;
}

bool shield_return_path_unavailable(const struct shield *s,
				    char ret_interface[IF_NAMESIZE])
{
	struct shield_link links[CONFIG_INTERFACES];
	size_t count = shield_links(s, links, CONFIG_INTERFACES);

	for (size_t i = 0; i < count && i < CONFIG_INTERFACES; i++) {
		if (links[i].mode != MODE_NATIVE || !shield_on_veth(links[i].interface))
			continue;
		memcpy(ret_interface, links[i].interface, IF_NAMESIZE);
		return true;
	}
	return false;
}

__u32 shield_mtu(const struct shield *s)
{
	struct shield_link links[CONFIG_INTERFACES];
	size_t count = shield_links(s, links, CONFIG_INTERFACES);
	__u32 ret = 0;

	for (size_t i = 0; i < count && i < CONFIG_INTERFACES; i++) {
		__u32 mtu = links[i].missing ? 0 : ethtool_mtu(links[i].interface);

		if (mtu && (!ret || mtu < ret))
			ret = mtu;
	}
	return ret;
}

void shield_here(struct shield *s)
{
	struct shield_link links[CONFIG_INTERFACES];
	size_t count = shield_links(s, links, CONFIG_INTERFACES);
	struct local_macs here = { 0 }, *to = &s->shared->local;

	for (size_t i = 0; i < count && i < CONFIG_INTERFACES; i++)
		if (!links[i].missing &&
		    here_look(if_nametoindex(links[i].interface), &here))
			return;
	memcpy(to->macs, here.macs, sizeof(to->macs));
	/* With some left out, all frames are taken to be for this host. */
	__atomic_store_n(&to->count, here.count > LOCAL_MACS ? 0 : here.count,
			 __ATOMIC_RELEASE);
}
