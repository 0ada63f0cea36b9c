// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * probe_nat.c - does a rule rewrite the destination of what arrives? nftables, which
 * iptables-nft fills too, says by netlink which chains there are and how many rules they
 * have; of the old iptables only its table is to be seen.
 */
#include <arpa/inet.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <stdio.h>
#include <string.h>

#include "lib/netlink_ask.h"
#include "probe/probe.h"

#define NAME_BYTES 24

struct chains {
	int rules;
	char *first;
};

static const char *family_of(unsigned char family)
{
	switch (family) {
	case NFPROTO_IPV4:
		return "ip";
	case NFPROTO_IPV6:
		return "ip6";
	case NFPROTO_INET:
		return "inet";
	default:
		return "other";
	}
}

/* Count the rules of a chain that translates what arrives. */
static void chain_read(const struct nlmsghdr *m, void *context)
{
	const size_t heads = NLMSG_LENGTH(sizeof(struct nfgenmsg));
	const struct nfgenmsg *general = NLMSG_DATA(m);
	char type[NAME_BYTES], table[NAME_BYTES], name[NAME_BYTES];
	const struct nlattr *hook;
	const char *first = (const char *)m + heads;
	struct chains *chains = context;
	__be32 number = 0, use = 0;
	const void *nested;
	size_t n, nested_n;

	if (m->nlmsg_len <= heads)
		return;
	n = m->nlmsg_len - heads;
	hook = netlink_attribute(first, n, NFTA_CHAIN_HOOK);
	netlink_text(netlink_attribute(first, n, NFTA_CHAIN_TYPE), type, sizeof(type));
	if (!hook || strcmp(type, "nat") != 0)
		return;
	nested = netlink_value(hook, &nested_n);
	if (!netlink_copy(netlink_attribute(nested, nested_n, NFTA_HOOK_HOOKNUM), &number,
			  sizeof(number)) ||
	    ntohl(number) != NF_INET_PRE_ROUTING ||
	    !netlink_copy(netlink_attribute(first, n, NFTA_CHAIN_USE), &use,
			  sizeof(use)) ||
	    !use)
		return;
	if (!chains->rules) {
		netlink_text(netlink_attribute(first, n, NFTA_CHAIN_TABLE), table,
			     sizeof(table));
		netlink_text(netlink_attribute(first, n, NFTA_CHAIN_NAME), name,
			     sizeof(name));
		snprintf(chains->first, 64, "%s %s %s", family_of(general->nfgen_family),
			 table, name);
	}
	chains->rules += (int)ntohl(use);
}

static bool has_old_table(void)
{
	FILE *file = fopen("/proc/self/net/ip_tables_names", "re");
	char line[NAME_BYTES];
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file))
		found = !strcmp(line, "nat\n");
	if (file)
		fclose(file);
	return found;
}

int probe_nat(char ret_chain[64])
{
	struct {
		struct nlmsghdr head;
		struct nfgenmsg general;
	} ask = { .head = { .nlmsg_len = sizeof(ask),
			    .nlmsg_type = NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETCHAIN,
			    .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
		  .general = { .nfgen_family = NFPROTO_UNSPEC,
			       .version = NFNETLINK_V0 } };
	struct chains chains = { .first = ret_chain };
	int err;

	*ret_chain = 0;
	err = netlink_ask(NETLINK_NETFILTER, &ask.head, chain_read, &chains);
	if (!chains.rules && has_old_table()) {
		snprintf(ret_chain, 64, "iptables -t nat");
		return 1;
	}
	return err && !chains.rules ? PROBE_UNKNOWN : chains.rules;
}
