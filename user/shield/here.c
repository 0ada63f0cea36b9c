// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * here.c - see here.h. Asked by rtnetlink, which answers for the network namespace of the
 * process: /sys/class/net may be of another one.
 */
#include <errno.h>
#include <linux/if_arp.h>
#include <linux/neighbour.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "shield/here.h"

#define DEVICES_MAX 1024 /* more are not looked at */
#define REPLY_BYTES 32768 /* what the kernel puts into one message, at most */
#define REPLIES_MAX 4096 /* messages of one dump */
#define WAIT_S	    2 /* for a reply */

struct device {
	__u32 index;
	__u32 master; /* its bridge or bond; 0: none */
	__u32 below; /* what it is a VLAN or macvlan of; 0: nothing here */
	__u64 mac;
	bool has_mac; /* Ethernet, or loopback */
	bool reached; /* a frame at the interface that is looked at may be for it */
};

struct look {
	__u32 ifindex;
	struct device *devices;
	size_t count;
	struct local_macs *here;
};

/*
 * Add @mac once. The count may go beyond LOCAL_MACS, the places may not; shield_here()
 * tells by the count that some were left out.
 */
static void add(struct local_macs *here, __u64 mac)
{
	for (__u32 i = 0; i < here->count && i < LOCAL_MACS; i++)
		if (here->macs[i] == mac)
			return;
	if (here->count < LOCAL_MACS)
		here->macs[here->count] = mac;
	here->count++; /* beyond LOCAL_MACS: see here.h */
}

/* Return the address in @a, of which the caller has compared the 6 bytes. */
static __u64 mac_of(const struct rtattr *a)
{
	__u64 mac = 0;

	memcpy(&mac, RTA_DATA(a), 6);
	return mac;
}

/* Return the number in @a; 0: it is too short. */
static __u32 number_of(const struct rtattr *a)
{
	__u32 ret = 0;

	if (RTA_PAYLOAD(a) >= sizeof(ret))
		memcpy(&ret, RTA_DATA(a), sizeof(ret));
	return ret;
}

/* Both ends of a veth name each other as what is below. @info: IFLA_LINKINFO. */
static bool is_veth(struct rtattr *info)
{
	int left = (int)RTA_PAYLOAD(info);

	for (struct rtattr *a = RTA_DATA(info); RTA_OK(a, left); a = RTA_NEXT(a, left))
		if (a->rta_type == IFLA_INFO_KIND && RTA_PAYLOAD(a) >= 4 &&
		    !memcmp(RTA_DATA(a), "veth", 4))
			return true;
	return false;
}

/*
 * Add the interface that @h describes to @look. A callback of replies(). `below` counts
 * only for what is stacked in this namespace: not for a veth, nor across namespaces.
 */
static void each_device(struct nlmsghdr *h, struct look *look)
{
	const struct ifinfomsg *link = NLMSG_DATA(h);
	struct device *d = &look->devices[look->count];
	int left = (int)IFLA_PAYLOAD(h);
	bool elsewhere = false;

	if (h->nlmsg_type != RTM_NEWLINK || look->count == DEVICES_MAX)
		return;
	*d = (struct device){ .index = (__u32)link->ifi_index };
	for (struct rtattr *a = IFLA_RTA(link); RTA_OK(a, left); a = RTA_NEXT(a, left)) {
		switch (a->rta_type) {
		case IFLA_ADDRESS:
			d->has_mac = RTA_PAYLOAD(a) == 6;
			d->mac = d->has_mac ? mac_of(a) : 0;
			break;
		case IFLA_MASTER:
			d->master = number_of(a);
			break;
		case IFLA_LINK:
			d->below = number_of(a);
			break;
		case IFLA_LINK_NETNSID:
			elsewhere = true;
			break;
		case IFLA_LINKINFO:
			elsewhere |= is_veth(a);
			break;
		default:
			break;
		}
	}
	if (elsewhere || d->below == d->index)
		d->below = 0;
	look->count++;
}

/* Return the interface @index of @look; NULL: it is not there, or @index is 0. */
static struct device *device_at(const struct look *look, __u32 index)
{
	for (size_t i = 0; index && i < look->count; i++)
		if (look->devices[i].index == index)
			return &look->devices[i];
	return NULL;
}

/*
 * Reach from @d what is stacked with it. Returns true if anything is new. Called by
 * look_at() until nothing is new.
 */
static bool reach(const struct look *look, struct device *d)
{
	struct device *next[] = { device_at(look, d->master), device_at(look, d->below) };
	bool ret = false;

	for (size_t i = 0; i < 2; i++) {
		if (!next[i] || next[i]->reached == d->reached)
			continue;
		next[i]->reached = d->reached = true;
		ret = true;
	}
	return ret;
}

/*
 * What the kernel takes off the wire for a macvlan in another namespace is an address of
 * the interface itself. What a bridge has learnt behind another of its ports is forwarded
 * by this host. A callback of replies(), after all interfaces are known.
 */
static void each_neighbour(struct nlmsghdr *h, struct look *look)
{
	const struct ndmsg *entry = NLMSG_DATA(h);
	const struct device *d = device_at(look, look->ifindex);
	int left = (int)(h->nlmsg_len - NLMSG_LENGTH(sizeof(*entry)));
	bool has_mac = false, own = (__u32)entry->ndm_ifindex == look->ifindex;
	__u32 master = 0;
	__u64 mac = 0;

	if (h->nlmsg_type != RTM_NEWNEIGH || !d)
		return;
	for (struct rtattr *a =
		     (void *)((char *)NLMSG_DATA(h) + NLMSG_ALIGN(sizeof(*entry)));
	     RTA_OK(a, left); a = RTA_NEXT(a, left)) {
		if (a->rta_type == NDA_LLADDR && RTA_PAYLOAD(a) == 6) {
			mac = mac_of(a);
			has_mac = true;
		}
		if (a->rta_type == NDA_MASTER)
			master = number_of(a);
	}
	/* A group address belongs to no host. */
	if (!has_mac || mac & 1)
		return;
	if (own ? entry->ndm_flags & NTF_SELF : master && master == d->master)
		add(look->here, mac);
}

/*
 * Read the replies to one request. 0 or -errno. Called by dump(). @reply: REPLY_BYTES.
 */
static int replies(int fd, void (*each)(struct nlmsghdr *h, struct look *look),
		   struct look *look, char *reply)
{
	for (int i = 0; i < REPLIES_MAX; i++) {
		ssize_t n = recv(fd, reply, REPLY_BYTES, 0);
		int left = (int)n;

		if (n < 0)
			return -errno;
		for (struct nlmsghdr *h = (void *)reply; NLMSG_OK(h, left);
		     h = NLMSG_NEXT(h, left)) {
			if (h->nlmsg_type == NLMSG_DONE)
				return 0;
			if (h->nlmsg_type == NLMSG_ERROR)
				return -EIO;
			each(h, look);
		}
	}
	return -E2BIG;
}

/*
 * Request all entries of @type from the kernel, and call @each with each reply. 0, or
 * -errno without a message. One request at a time on @fd: replies() tells none from
 * another.
 */
static int dump(int fd, __u16 type, __u8 family,
		void (*each)(struct nlmsghdr *h, struct look *look), struct look *look)
{
	struct {
		struct nlmsghdr head;
		struct ifinfomsg link; /* and a bridge's neighbours ask with it, too */
	} ask = { .head = { .nlmsg_len = sizeof(ask),
			    .nlmsg_type = type,
			    .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
		  .link = { .ifi_family = family } };
	char *reply = malloc(REPLY_BYTES);
	int err;

	if (!reply)
		return -ENOMEM;
	err = send(fd, &ask, sizeof(ask), 0) < 0 ? -errno
						 : replies(fd, each, look, reply);
	free(reply);
	return err;
}

/*
 * Do the work of here_look() on the socket @fd. With an address too many the shield may
 * reply in another machine's name; with one too few it does not reply
 * (local_frame.bpf.h).
 */
static int look_at(int fd, struct look *look)
{
	struct device *d;
	int err = dump(fd, RTM_GETLINK, AF_UNSPEC, each_device, look);
	bool more;

	d = device_at(look, look->ifindex);
	if (err || !d || !d->has_mac)
		return err ? err : -ENODEV;
	d->reached = true;
	do {
		more = false;
		for (size_t i = 0; i < look->count; i++)
			more |= reach(look, &look->devices[i]);
	} while (more);
	add(look->here, d->mac);
	for (size_t i = 0; i < look->count; i++)
		if (look->devices[i].reached && look->devices[i].has_mac)
			add(look->here, look->devices[i].mac);
	/* A kernel without bridges has no such table. */
	dump(fd, RTM_GETNEIGH, AF_BRIDGE, each_neighbour, look);
	return 0;
}

int here_look(__u32 ifindex, struct local_macs *ret)
{
	const struct timeval wait = { .tv_sec = WAIT_S };
	struct look look = { .ifindex = ifindex, .here = ret };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE), err;

	if (fd < 0)
		return -errno;
	look.devices = calloc(DEVICES_MAX, sizeof(*look.devices));
	err = look.devices ? 0 : -ENOMEM;
	if (!err && setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait)))
		err = -errno;
	if (!err)
		err = look_at(fd, &look);
	free(look.devices);
	close(fd);
	return err;
}
