/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * shield_cells.h - where the tables have the cells of one address, as the programs
 * compute it (budget_charge(), amplification_charge_prefix(), packet_peer()).
 * tests/kern/kern_explain_trial.c holds the two together.
 */
#ifndef SHIELD_CELLS_H
#define SHIELD_CELLS_H

#include <arpa/inet.h>
#include <string.h>

#include "shield/about.h"

#define CELL_AMPLIFICATIONS 3 /* accounts of one address */

/*
 * Return the index in prefixes of the /24 or /56 (@wide: /20 or /48) of @host, for the
 * clients of @set.
 */
static inline __u32 cell_prefix(const struct live *l, const struct budget *b,
				const struct about_host *host, bool wide,
				enum budget_set set)
{
	__u64 net = wide ? network_net(host->net, host->ipv6) : host->net >> 8;

	return budget_cell(b, l->keys, set, net, host->ipv6, PREFIX_BITS);
}

/*
 * Return the line of an account of amplification, above its tag. @account: 0 of the
 * prefix, 1 of an allowed source, 2 of what signs on.
 */
static inline __u32 cell_amplification(const struct live *l,
				       const struct about_host *host, int account)
{
	__u64 key = account == 1 ? amplification_key_allowed(host->net, host->ipv6)
				 : amplification_key(host->net, host->ipv6);

	if (account == 2)
		key |= AMPLIFICATION_SIGN_ON;
	return limit_place(l->keys, key, AMPLIFICATION_BITS + AMPLIFICATION_TAG_BITS);
}

/*
 * Return the name in the table of validated clients of the one at @address and @port, for
 * the service in @slot, as packet_peer() makes it.
 */
static inline struct cookie_peer cell_peer(const __be32 address[4], __u16 port,
					   __u32 slot)
{
	struct cookie_peer peer;

	memcpy(peer.word, address, 4 * sizeof(*address));
	peer.word[2] = (__u32)htons(port) | slot << 16;
	return peer;
}

#endif /* SHIELD_CELLS_H */
