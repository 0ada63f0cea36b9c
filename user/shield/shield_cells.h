/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * shield_cells.h - where the tables have the cells of one address, as the programs
 * compute it (admit_net(), allowed_take(), amplification_charge_prefix()).
 * tests/kern/kern_explain_trial.c holds the two together.
 */
#ifndef SHIELD_CELLS_H
#define SHIELD_CELLS_H

#include "shield/about.h"

#define CELL_AMPLIFICATIONS 3 /* accounts of one address */

/* Return the /20 or /48 around the prefix of @host, as network_net() does. */
static inline __u64 cell_network(const struct about_host *host)
{
	__u64 prefix = host->net >> 8;

	return (host->ipv6 ? prefix >> 8 : prefix >> 4) | 1ull << 57;
}

/*
 * Return the index in struct live.source_due_ns of @host under @b. @apart: as of
 * cell_prefix().
 */
static inline __u32 cell_source(const struct live *l, const struct budget *b,
				const struct about_host *host, __u64 apart)
{
	return (__u32)((budget_hash(l->keys, host->net, host->ipv6) + b->seed +
			apart * (SERVICES_MAX << CLASS_BITS) * l->keys[1]) >>
		       (64 - SOURCE_BITS));
}

/*
 * Return the index in prefixes of the /24 or /56 (@wide: /20 or /48) of @host. @apart:
 * 0, or 2 and 4 for clients that are validated or have repeated: see
 * validated_charge().
 */
static inline __u32 cell_prefix(const struct live *l, const struct budget *b,
				const struct about_host *host, bool wide, __u64 apart)
{
	__u64 net = wide ? cell_network(host) : host->net >> 8;

	return (__u32)((budget_hash(l->keys, net, host->ipv6) + b->seed +
			apart * (SERVICES_MAX << CLASS_BITS) * l->keys[1]) >>
		       (64 - PREFIX_BITS));
}

/*
 * Return the index in struct live.source_due_ns of the limit that @host has in @slot as
 * an allowed source or a master server, as allowed_cell() does.
 */
static inline __u32 cell_allowed(const struct live *l, const struct about_host *host,
				 __u32 slot)
{
	return limit_cell(l->keys, host->net, 1ull << 40 | slot << 1 | host->ipv6,
			  SOURCE_BITS);
}

/*
 * Return the line of an account of amplification, above its tag. @account: 0 of the
 * prefix, 1 of an allowed source, 2 of what signs on.
 */
static inline __u32 cell_amplification(const struct live *l,
				       const struct about_host *host, int account)
{
	__u64 prefix = host->net >> 8 | (__u64)host->ipv6 << 56;

	if (account == 1)
		prefix = (host->ipv6 ? prefix : host->net) | 1ull << 57;
	else if (account == 2)
		prefix |= 1ull << 58;
	return limit_place(l->keys, prefix, AMPLIFICATION_BITS + AMPLIFICATION_TAG_BITS);
}

#endif /* SHIELD_CELLS_H */
