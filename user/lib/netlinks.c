// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * netlinks.c - see netlinks.h.
 */
#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/netlinks.h"

#define DEPTH_MAX 8 /* interfaces above each other */
/* linux/if.h, which does not agree with net/if.h */
#define IFF_LOWER_UP	0x10000u
#define IF_OPER_DORMANT 5

/* Kinds with the frames of the interface below, but for a tag or an address. */
static bool passes_frames(const char *kind)
{
	return !strcmp(kind, "vlan") || !strcmp(kind, "macvlan") ||
	       !strcmp(kind, "macvtap") || !strcmp(kind, "ipvlan");
}

static const char *kind_of(struct rtattr *info)
{
	int left = (int)RTA_PAYLOAD(info);

	for (struct rtattr *a = RTA_DATA(info); RTA_OK(a, left); a = RTA_NEXT(a, left))
		if (a->rta_type == IFLA_INFO_KIND)
			return RTA_DATA(a);
	return "";
}

/* A link is up if it has a carrier. The flag of a running interface follows up to a
 * second later. */
static void row_read(struct nlmsghdr *m, struct netlink_row *ret)
{
	const struct ifinfomsg *link = NLMSG_DATA(m);
	int left = (int)IFLA_PAYLOAD(m), below = 0;
	struct rtnl_link_stats64 stats = { 0 };
	bool elsewhere = false;
	const char *kind = "";

	*ret = (struct netlink_row){ .index = link->ifi_index,
				     .type = link->ifi_type,
				     .loopback = link->ifi_flags & IFF_LOOPBACK,
				     .enabled = link->ifi_flags & IFF_UP,
				     .up = link->ifi_flags & IFF_UP &&
					   link->ifi_flags & IFF_LOWER_UP };
	for (struct rtattr *a = IFLA_RTA(link); RTA_OK(a, left); a = RTA_NEXT(a, left)) {
		if (a->rta_type == IFLA_IFNAME)
			strncpy(ret->name, RTA_DATA(a), IF_NAMESIZE - 1);
		else if (a->rta_type == IFLA_MASTER)
			memcpy(&ret->master, RTA_DATA(a), sizeof(ret->master));
		else if (a->rta_type == IFLA_LINK)
			memcpy(&below, RTA_DATA(a), sizeof(below));
		else if (a->rta_type == IFLA_OPERSTATE)
			ret->dormant = *(const __u8 *)RTA_DATA(a) == IF_OPER_DORMANT;
		else if (a->rta_type == IFLA_LINK_NETNSID)
			elsewhere = true;
		else if (a->rta_type == IFLA_STATS64 &&
			 RTA_PAYLOAD(a) >= offsetof(struct rtnl_link_stats64, tx_packets))
			memcpy(&stats, RTA_DATA(a),
			       offsetof(struct rtnl_link_stats64, tx_packets));
		else if (a->rta_type == IFLA_LINKINFO)
			kind = kind_of(a);
	}
	ret->received = stats.rx_packets;
	strncpy(ret->kind, kind, NETLINK_KIND - 1);
	if (!elsewhere && passes_frames(kind))
		ret->parent = below;
}

/* The rows of one answer of @n bytes; 1 with the last of all, and at @most rows. */
static int answer_read(char *answer, int n, struct netlink_row *rows, int most,
		       int *count)
{
	for (struct nlmsghdr *m = (struct nlmsghdr *)(void *)answer;
	     NLMSG_OK(m, (__u32)n); m = NLMSG_NEXT(m, n)) {
		if (m->nlmsg_type == NLMSG_DONE || *count == most)
			return 1;
		if (m->nlmsg_type == NLMSG_ERROR)
			return -EIO;
		if (m->nlmsg_type == RTM_NEWLINK)
			row_read(m, &rows[(*count)++]);
	}
	return *count == most;
}

/* Ask for the interface @index, or for all if that is 0. Returns how many are in @ret. */
static int links_ask(int index, struct netlink_row *ret, int most)
{
	struct {
		struct nlmsghdr head;
		struct ifinfomsg link;
	} ask = { .head = { .nlmsg_len = sizeof(ask),
			    .nlmsg_type = RTM_GETLINK,
			    .nlmsg_flags =
				    (__u16)(NLM_F_REQUEST | (index ? 0 : NLM_F_DUMP)) },
		  .link = { .ifi_index = index } };
	_Alignas(struct nlmsghdr) char answer[32768];
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	int count = 0, err = 0;
	ssize_t n;

	if (fd < 0)
		return -errno;
	if (send(fd, &ask, sizeof(ask), 0) < 0)
		err = -errno;
	while (!err) {
		n = recv(fd, answer, sizeof(answer), 0);
		err = n > 0 ? answer_read(answer, (int)n, ret, most, &count) : -EIO;
	}
	close(fd);
	return err < 0 ? err : count;
}

int netlinks_read(struct netlink_row ret[NETLINKS_MAX])
{
	return links_ask(0, ret, NETLINKS_MAX);
}

int netlinks_one(int index, struct netlink_row *ret)
{
	int count = index > 0 ? links_ask(index, ret, 1) : -ENODEV;

	return count < 0 ? count : 0;
}

const struct netlink_row *netlinks_row(const struct netlink_row *rows, size_t count,
				       int index)
{
	for (size_t i = 0; index && i < count; i++)
		if (rows[i].index == index)
			return &rows[i];
	return NULL;
}

static bool over(const struct netlink_row *rows, size_t count, int above, int below,
		 int depth)
{
	const struct netlink_row *a = netlinks_row(rows, count, above);
	const struct netlink_row *b = netlinks_row(rows, count, below);

	if (!a || !b || !depth)
		return false;
	if (b->master == above || a->parent == below)
		return true;
	return (b->master && over(rows, count, above, b->master, depth - 1)) ||
	       (a->parent && over(rows, count, a->parent, below, depth - 1));
}

bool netlinks_over(const struct netlink_row *rows, size_t count, int above, int below)
{
	return over(rows, count, above, below, DEPTH_MAX);
}
