/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fake_attach.h - interfaces and a BPF file system of this process: pins are files that
 * say what they are, and all that the kernel is asked is a line of one log. Included once
 * by a program, after cmocka.h.
 */
#ifndef FAKE_ATTACH_H
#define FAKE_ATTACH_H

#include <errno.h>
#include <fcntl.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <linux/if_link.h>
#include <linux/magic.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "apart.h"
#include "lib/netlinks.h"
#include "shield/ethtool.h"
#include "shield/shield_internal.h"
#include "shield/vlan.h"
#include "stderr.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define FS	 "/sys/fs/bpf"
#define OURS	 FS "/ours"
#define OLDER	 PIN_ROOT "/v1-0000000a"
#define TCX	 999 /* the type of a link that is newer than our headers */

static struct nic {
	char name[IF_NAMESIZE];
	unsigned int ifindex; /* 0: it is not there */
	__u32 program; /* the XDP program on it */
	bool skb, veth, joins;
	bool strips; /* VLAN tags */
	bool down, dormant, loopback, untold; /* untold: netlink does not tell them */
	__u32 mtu; /* 0: not known */
	const char *vlan; /* one that lies above it */
	int hwaddr_errno;
	unsigned short hwaddr; /* ARPHRD_* */
	__u32 filters[2]; /* clsact, by enum tc_side */
} nics[3];

static struct shield shield;
static struct live live;
static char asked[4096], said[4096];
static int update_type; /* of links that update_errno is for; 0: of all */
static int native_errno, skb_errno, tcx_errno, update_errno, hook_err, attach_err;

static inline void note(const char *format, ...)
{
	size_t n = strlen(asked);
	va_list args;

	va_start(args, format);
	vsnprintf(asked + n, sizeof(asked) - n, format, args);
	va_end(args);
}

static inline struct nic *nic_at(unsigned int ifindex)
{
	for (size_t i = 0; i < COUNT(nics); i++)
		if (ifindex && nics[i].ifindex == ifindex)
			return &nics[i];
	return NULL;
}

static inline struct nic *nic_of(const char *name)
{
	for (size_t i = 0; i < COUNT(nics); i++)
		if (!strcmp(nics[i].name, name))
			return &nics[i];
	return NULL;
}

/* --- objects: "TYPE IFINDEX PROGRAM ID NAME" ------------------------------------------
 */

static inline int object(int type, unsigned int ifindex, __u32 program, __u32 id,
			 const char *name)
{
	char text[80];
	int fd = memfd_create("object", MFD_CLOEXEC), n;

	n = snprintf(text, sizeof(text), "%d %u %u %u %s", type, ifindex, program, id,
		     name);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, text, sizeof(text), 0), sizeof(text));
	assert_true(n > 0);
	return fd;
}

struct object {
	int type;
	unsigned int ifindex, program, id;
	char name[BPF_OBJ_NAME_LEN], text[80];
};

static inline struct object read_object(int fd)
{
	struct object o = { 0 };

	assert_int_equal(pread(fd, o.text, sizeof(o.text), 0), sizeof(o.text));
	assert_true(sscanf(o.text, "%d %u %u %u %15s", &o.type, &o.ifindex, &o.program,
			   &o.id, o.name) >= 4);
	return o;
}

/* Pin such a one. */
static inline void pin(const char *path, int type, unsigned int ifindex, __u32 program,
		       __u32 id)
{
	int from = object(type, ifindex, program, id, "-");

	assert_int_equal(bpf_obj_pin(from, path), 0);
	close(from);
}

int bpf_obj_get(const char *path)
{
	return open(path, O_RDWR | O_CLOEXEC);
}

int bpf_obj_pin(int fd, const char *path)
{
	struct object o = read_object(fd);
	int to = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (to < 0)
		return -1;
	assert_int_equal(pwrite(to, o.text, sizeof(o.text), 0), sizeof(o.text));
	return close(to);
}

int bpf_obj_get_info_by_fd(int fd, void *info, __u32 *info_len)
{
	struct object o = read_object(fd);

	if (*info_len == sizeof(struct bpf_link_info)) {
		struct bpf_link_info *link = info;

		link->type = (__u32)o.type;
		link->prog_id = o.program;
		link->xdp.ifindex = o.ifindex;
	} else {
		struct bpf_prog_info *program = info;

		assert_int_equal(*info_len, sizeof(*program));
		program->id = o.id;
		memcpy(program->name, o.name, sizeof(o.name));
	}
	return 0;
}

int bpf_prog_get_fd_by_id(__u32 id)
{
	return object(0, 0, 0, id, id == 77 ? "shield" : id == 78 ? "theirs" : "");
}

int bpf_link_create(int prog_fd, int target_fd, enum bpf_attach_type attach_type,
		    const struct bpf_link_create_opts *opts)
{
	__u32 id = read_object(prog_fd).id;
	struct nic *nic = nic_at((unsigned int)target_fd);

	note("create %u on %d by %d, flags %u\n", id, target_fd, (int)attach_type,
	     opts->flags);
	errno = attach_type != BPF_XDP		    ? tcx_errno
		: opts->flags == XDP_FLAGS_DRV_MODE ? native_errno
						    : skb_errno;
	if (errno)
		return -1;
	if (attach_type != BPF_XDP)
		return object(TCX, (unsigned int)target_fd, id, 9, "-");
	nic->program = id;
	nic->skb = opts->flags != XDP_FLAGS_DRV_MODE;
	return object(BPF_LINK_TYPE_XDP, (unsigned int)target_fd, id, 9, "-");
}

int bpf_link_update(int link_fd, int new_prog_fd, const struct bpf_link_update_opts *opts)
{
	struct object o = read_object(link_fd);
	__u32 id = read_object(new_prog_fd).id;
	int to;

	assert_null(opts);
	note("update %d of %u from %u to %u\n", o.type, o.ifindex, o.program, id);
	errno = update_type && update_type != o.type ? 0 : update_errno;
	if (errno)
		return -1;
	to = object(o.type, o.ifindex, id, o.id, "-");
	o = read_object(to);
	close(to);
	assert_int_equal(pwrite(link_fd, o.text, sizeof(o.text), 0), sizeof(o.text));
	if (o.type == BPF_LINK_TYPE_XDP && nic_at(o.ifindex))
		nic_at(o.ifindex)->program = id;
	return 0;
}

int bpf_link_detach(int fd)
{
	struct object o = read_object(fd);

	note("detach %d of %u\n", o.type, o.ifindex);
	return 0;
}

/* --- interfaces ------------------------------------------------------------------------
 */

unsigned int if_nametoindex(const char *name)
{
	return nic_of(name) ? nic_of(name)->ifindex : 0;
}

char *if_indextoname(unsigned int ifindex, char name[IF_NAMESIZE])
{
	return nic_at(ifindex) ? strcpy(name, nic_at(ifindex)->name) : NULL;
}

int bpf_xdp_query(int ifindex, int flags, struct bpf_xdp_query_opts *opts)
{
	const struct nic *nic = nic_at((unsigned int)ifindex);

	assert_int_equal(flags, 0);
	if (!nic)
		return -ENODEV;
	opts->attach_mode = nic->skb ? XDP_ATTACHED_SKB : XDP_ATTACHED_DRV;
	return 0;
}

int bpf_xdp_query_id(int ifindex, int flags, __u32 *prog_id)
{
	const struct nic *nic = nic_at((unsigned int)ifindex);

	assert_int_equal(flags, 0);
	if (!nic)
		return -ENODEV;
	*prog_id = nic->program;
	return 0;
}

int netlinks_one(int index, struct netlink_row *ret)
{
	const struct nic *nic = nic_at((unsigned int)index);

	*ret = (struct netlink_row){ .index = index };
	if (!nic || nic->untold)
		return -ENODEV;
	ret->up = !nic->down;
	ret->dormant = nic->dormant;
	ret->loopback = nic->loopback;
	return 0;
}

int ioctl(int fd, unsigned long request, ...)
{
	struct ifreq *r;
	va_list args;

	(void)fd;
	va_start(args, request);
	r = va_arg(args, struct ifreq *);
	va_end(args);
	assert_int_equal(request, SIOCGIFHWADDR);
	r->ifr_hwaddr.sa_family = nic_of(r->ifr_name)->hwaddr;
	errno = nic_of(r->ifr_name)->hwaddr_errno;
	return errno ? -1 : 0;
}

int ethtool_feature(const char *interface, const char *feature)
{
	if (!strcmp(feature, "rx-vlan-hw-parse"))
		return nic_of(interface)->strips;
	assert_string_equal(feature, "rx-udp-gro-forwarding");
	return nic_of(interface)->joins;
}

bool vlan_above(const char *interface, char ret[IF_NAMESIZE])
{
	const char *vlan = nic_of(interface)->vlan;

	if (vlan)
		strcpy(ret, vlan);
	return vlan;
}

__u32 ethtool_mtu(const char *interface)
{
	const struct nic *nic = nic_of(interface);

	return nic ? nic->mtu : 0;
}

bool ethtool_driven_by(const char *interface, const char *driver)
{
	assert_string_equal(driver, "veth");
	return nic_of(interface) && nic_of(interface)->veth;
}

/* --- traffic control
 * --------------------------------------------------------------------- */

static inline enum tc_side side_of(const struct bpf_tc_hook *hook)
{
	assert_true(hook->attach_point == BPF_TC_EGRESS ||
		    hook->attach_point == BPF_TC_INGRESS);
	return hook->attach_point == BPF_TC_EGRESS ? TC_OUT : TC_IN;
}

static inline __u32 *filter_of(const struct bpf_tc_hook *hook,
			       const struct bpf_tc_opts *opts)
{
	static __u32 none;

	if (opts) {
		assert_int_equal(opts->handle, 0x7173);
		assert_int_equal(opts->priority, 7173);
	}
	none = 0;
	return nic_at((unsigned int)hook->ifindex)
		       ? &nic_at((unsigned int)hook->ifindex)->filters[side_of(hook)]
		       : &none;
}

int bpf_tc_hook_create(struct bpf_tc_hook *hook)
{
	note("hook %d %d\n", hook->ifindex, side_of(hook));
	return hook_err;
}

int bpf_tc_attach(const struct bpf_tc_hook *hook, struct bpf_tc_opts *opts)
{
	__u32 id = read_object(opts->prog_fd).id;

	note("filter %u on %d %d, flags %u\n", id, hook->ifindex, side_of(hook),
	     opts->flags);
	if (!attach_err)
		*filter_of(hook, opts) = id;
	return attach_err;
}

int bpf_tc_query(const struct bpf_tc_hook *hook, struct bpf_tc_opts *opts)
{
	opts->prog_id = *filter_of(hook, opts);
	return opts->prog_id ? 0 : -ENOENT;
}

int bpf_tc_detach(const struct bpf_tc_hook *hook, const struct bpf_tc_opts *opts)
{
	assert_int_equal(opts->prog_fd, 0);
	note("filter off %d %d\n", hook->ifindex, side_of(hook));
	*filter_of(hook, opts) = 0;
	return 0;
}

libbpf_print_fn_t libbpf_set_print(libbpf_print_fn_t fn)
{
	(void)fn;
	return NULL;
}

/* --- the file system
 * ---------------------------------------------------------------------- */

int statfs(const char *path, struct statfs *ret)
{
	struct stat st;

	if (stat(path, &st))
		return -1;
	ret->f_type = BPF_FS_MAGIC;
	return 0;
}

int fstatfs(int fd, struct statfs *ret)
{
	(void)fd;
	ret->f_type = BPF_FS_MAGIC;
	return 0;
}

static inline int fake_begin(void **state)
{
	(void)state;
	memset(nics, 0, sizeof(nics));
	memset(&live, 0, sizeof(live));
	update_type = 0;
	native_errno = skb_errno = tcx_errno = update_errno = hook_err = attach_err = 0;
	for (unsigned int i = 0; i < COUNT(nics); i++) {
		snprintf(nics[i].name, sizeof(nics[i].name), "eth%u.7", i);
		nics[i].ifindex = i + 34;
		nics[i].hwaddr = ARPHRD_ETHER;
	}
	if (!apart_mount("tmpfs", FS) || mkdir(OURS, 0700) || mkdir(PIN_ROOT, 0700) ||
	    chmod(FS, 0700))
		return -1;
	shield = (struct shield){ .shared = &live };
	strcpy(shield.dir, OURS);
	shield.program = object(0, 0, 0, 101, "shield");
	shield.egress = object(0, 0, 0, 102, "shield_out");
	shield.joined = object(0, 0, 0, 103, "shield_joined");
	assert_int_equal(bpf_obj_pin(shield.egress, OURS "/egress"), 0);
	assert_int_equal(bpf_obj_pin(shield.joined, OURS "/joined"), 0);
	return 0;
}

static inline int fake_end(void **state)
{
	(void)state;
	close(shield.program);
	close(shield.egress);
	close(shield.joined);
	return umount2(FS, MNT_DETACH);
}

/* Is there a pin, and what is it? */
static inline void pinned(const char *path, const char *what)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct object o;
	char text[80];

	if (!what) {
		assert_int_equal(fd, -1);
		return;
	}
	assert_true(fd >= 0);
	o = read_object(fd);
	close(fd);
	snprintf(text, sizeof(text), "%d of %u, program %u", o.type, o.ifindex,
		 o.program);
	assert_string_equal(text, what);
}

#endif /* FAKE_ATTACH_H */
