/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * acl.h - whether a list can have anything to say of an address.
 *
 * A look-up in a list costs as much as all the rest that a flood's datagram is asked. So
 * each stretch of addresses (an IPv4 /16; of IPv6 all /32 with the same second half, of
 * which 2001:db8:: and 2a00:db8:: are two) has a byte that says which lists have an
 * entry there, and only those are looked at.
 */
#ifndef ACL_H
#define ACL_H

#include <linux/types.h>

#include "abi.h"

/* Cells from *@ret_first on that the network @cidr has addresses in: how many. */
static inline __u32 acl_prefilter_span(const struct cidr *cidr, __u32 *ret_first)
{
	const __u8 *at = (const __u8 *)cidr->addr;
	static const __u8 mapped[12] = { [10] = 0xff, [11] = 0xff };
	bool ipv4 = cidr->length >= 96 && !__builtin_memcmp(at, mapped, sizeof(mapped));
	__u32 bits = ipv4 ? cidr->length - 96 : cidr->length < 16 ? 0 : cidr->length - 16;

	/* All of IPv4 is in some networks of IPv6 that are as wide. */
	if (!ipv4 && cidr->length < 96 && !(at[0] | at[1] | at[2] | at[3]))
		bits = 0;
	bits = bits > 16 ? 16 : bits;
	at += ipv4 ? 12 : 2;
	*ret_first = ((__u32)at[0] << 8 | at[1]) & ~(0xffffu >> bits);
	return 1u << (16 - bits);
}

/*
 * The number of the cell of the address whose first 4 octets are at @from. All 4 are
 * loaded: of a pointer that was moved by a variable, 6.1's verifier forgets what it had
 * compared.
 */
static __always_inline __u32 acl_prefilter_cell(const __u8 *from, __u32 ipv6)
{
	__be32 word;

	__builtin_memcpy(&word, from, sizeof(word));
	return __builtin_bswap32(word) >> (16 - 16 * ipv6) & 0xffff;
}

#endif /* ACL_H */
