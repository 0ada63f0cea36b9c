// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * netdev.c - ethtool_native(): what drivers say of XDP by the generic netlink family
 * "netdev", which Linux has since 6.3 and our headers do not know.
 */
#include <errno.h>
#include <linux/genetlink.h>
#include <net/if.h>
#include <string.h>

#include "lib/netlink_ask.h"
#include "shield/ethtool.h"

/* linux/netdev.h has these. */
#define FAMILY		 "netdev"
#define CMD_DEV_GET	 1
#define A_DEV_IFINDEX	 1
#define A_DEV_XDP	 3
#define XDP_FEATURE_BASE 1u /* aborted, drop, pass, tx */

struct request {
	struct nlmsghdr head;
	struct genlmsghdr command;
	struct nlattr attribute;
	char value[16];
};

/*
 * Make @r a request for @command of the netlink @family, with one attribute @type of @n
 * bytes, at most sizeof(r->value).
 */
static void fill(struct request *r, __u16 family, __u8 command, __u16 type,
		 const void *value, size_t n)
{
	memset(r, 0, sizeof(*r));
	r->attribute.nla_type = type;
	r->attribute.nla_len = (__u16)(NLA_HDRLEN + n);
	memcpy(r->value, value, n);
	r->command.cmd = command;
	r->command.version = 1;
	r->head.nlmsg_type = family;
	r->head.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	r->head.nlmsg_len =
		(__u32)(NLMSG_LENGTH(GENL_HDRLEN) + NLA_HDRLEN + NLA_ALIGN(n));
}

struct reply {
	__u16 type; /* of the attribute */
	size_t n; /* bytes wanted */
	union {
		__u16 family;
		__u64 features;
	} value;
	bool there;
};

/*
 * Copy the attribute that @context, a struct reply, wants from @m. The callback of
 * netlink_ask(). A shorter attribute does not count as there.
 */
static void reply_read(const struct nlmsghdr *m, void *context)
{
	struct reply *reply = context;
	size_t heads = NLMSG_LENGTH(GENL_HDRLEN);

	if (m->nlmsg_len > heads)
		reply->there |=
			netlink_copy(netlink_attribute((const char *)m + heads,
						       m->nlmsg_len - heads, reply->type),
				     &reply->value, reply->n);
}

/*
 * Send @r and read the attribute that @ret names. 0; -ENODATA: the reply has none;
 * -errno.
 */
static int ask_generic(const struct request *r, struct reply *ret)
{
	int err = netlink_ask(NETLINK_GENERIC, &r->head, reply_read, ret);

	return err ? err : ret->there ? 0 : -ENODATA;
}

int ethtool_native(const char *interface)
{
	struct reply family = { .type = CTRL_ATTR_FAMILY_ID, .n = sizeof(__u16) };
	struct reply device = { .type = A_DEV_XDP, .n = sizeof(__u64) };
	__u32 index = if_nametoindex(interface);
	struct request r;
	int err;

	if (!index)
		return -ENODEV;
	fill(&r, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME, FAMILY,
	     sizeof(FAMILY));
	err = ask_generic(&r, &family);
	if (err)
		return err;
	fill(&r, family.value.family, CMD_DEV_GET, A_DEV_IFINDEX, &index, sizeof(index));
	err = ask_generic(&r, &device);
	return err ? err : device.value.features & XDP_FEATURE_BASE ? 1 : 0;
}
