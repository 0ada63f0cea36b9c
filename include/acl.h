/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * acl.h - the prefilter of the lists: can a list have an entry for an address? And the
 * cell of an allowed source's own limit.
 *
 * A look-up in a list costs as much as all other steps of a flood's datagram. So each
 * stretch of addresses has a byte that says which lists have an entry there (LISTS_ALLOW
 * and so on), and only those are looked up. A stretch is an IPv4 /16, or all IPv6 /32
 * with the same second half: 2001:db8:: and 2a00:db8:: share one. list_spread() in the
 * daemon and in commands writes the bytes; master_note() at egress sets LISTS_MASTER.
 *
 * acl_prefilter_span() is called in userland by cells_mark()
 * (user/shield/shield_lists.c), acl_prefilter_cell() by the programs. Both must map an
 * address to the same cell: if a cell of a listed network has no mark, the programs do
 * not look its entry up. A mark too many costs only a look-up. The marks are pinned:
 * after a change of their places a master server is not found until its next heartbeat,
 * so raise ABI_VERSION (user/shield/shield_abi.c).
 */
#ifndef ACL_H
#define ACL_H

#include <linux/types.h>

#include "abi.h"

/*
 * Return how many cells, from *@ret_first on, the network @cidr has addresses in. All of
 * them are below ACL_PREFILTER_CELLS. @cidr->length is 0 to 128; bits of the address
 * beyond it must be 0, as cidr_parse() leaves them.
 */
static inline __u32 acl_prefilter_span(const struct cidr *cidr, __u32 *ret_first)
{
	const __u8 *at = (const __u8 *)cidr->addr;
	static const __u8 mapped[12] = { [10] = 0xff, [11] = 0xff };
	bool ipv4 = cidr->length >= 96 && !__builtin_memcmp(at, mapped, sizeof(mapped));
	__u32 bits = ipv4 ? cidr->length - 96 : cidr->length < 16 ? 0 : cidr->length - 16;

	/* A network of IPv6 this wide contains all of IPv4. */
	if (!ipv4 && cidr->length < 96 && !(at[0] | at[1] | at[2] | at[3]))
		bits = 0;
	bits = bits > 16 ? 16 : bits;
	at += ipv4 ? 12 : 2;
	*ret_first = ((__u32)at[0] << 8 | at[1]) & ~(0xffffu >> bits);
	return 1u << (16 - bits);
}

/*
 * Return the cell of the address whose first 4 bytes are at @from. All 4 are loaded:
 * after a pointer is moved by a variable, Linux 6.1's verifier forgets what was compared.
 * @ipv6: 0 or 1. Called by acl_prefilter() and master_note(), which bound the result once
 * more for the verifier.
 */
static __always_inline __u32 acl_prefilter_cell(const __u8 *from, __u32 ipv6)
{
	__be32 word;

	__builtin_memcpy(&word, from, sizeof(word));
	return __builtin_bswap32(word) >> (16 - 16 * ipv6) & 0xffff;
}

/*
 * Return the index in struct live.source_due_ns of the limit that an allowed source or a
 * master server has of its own. @net: address_net(). Called by allowed_take() and
 * master_note(), and by listed_limits() in userland. Bit 40 keeps it apart from the cells
 * that cache_source_limit() uses, with bit 41.
 */
static __always_inline __u32 allowed_cell(const __u64 keys[3], __u64 net, __u32 ipv6,
					  __u32 slot)
{
	return limit_cell(keys, net, 1ull << 40 | slot << 1 | (ipv6 & 1), SOURCE_BITS);
}

#endif /* ACL_H */
