/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * packet.bpf.h - from an Ethernet frame to the UDP datagram inside it.
 *
 * Lengths come from the IP and UDP headers, as the kernel takes them: what follows is
 * padding. Whatever Linux itself would not deliver to a socket is none of our business
 * (UNPARSED, passed); whatever it would deliver must be found here, however wrapped.
 */
#ifndef PACKET_BPF_H
#define PACKET_BPF_H

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <stdbool.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "abi.h"
#include "cursor.h"

#define VLAN_MAX     2
#define PLAIN_IPV4   42 /* Ethernet, IPv4 without options, UDP */
#define PLAIN_IPV6   62
#define OFFSET_MASK  0x3fff /* Ethernet, tags, IPv6 and six extension headers: 12 kB */
#define IPV6_EXT_MAX 6 /* RFC 8200 4.1: each at most once, destination options twice */

#define IPV6_EXT_MASK \
	0xfff /* the longest is 2048 octets; the verifier must see a bound */

#define IP_FRAGMENT_MORE     0x2000
#define IP_FRAGMENT_OFFSET   0x1fff
#define IPV6_FRAGMENT_MORE   0x0001
#define IPV6_FRAGMENT_OFFSET 0xfff8

struct vlan_tag {
	__be16 tci;
	__be16 proto;
};

/* The fields that all extension headers share, and those of the fragment header. */
struct ipv6_fragment {
	__u8 next;
	__u8 length; /* reserved in a fragment header */
	__be16 offset; /* 13 bits, 2 reserved, bit 0: more */
	__be32 id;
};

/*
 * Places in the frame are offsets, not pointers: to the verifier a pointer behind each
 * way to wrap a datagram is another one, and it would walk all that follows once for
 * each.
 */
struct packet {
	const __u8 *start; /* of the frame */
	const __u8 *end; /* of the frame: there may be padding before it */
	__u32 addresses; /* offset: source, then destination, 1 word of IPv4 or 4 of IPv6
			  */
	__u32 payload; /* offset: behind the UDP header */
	__u32 length; /* of the payload, from the UDP header; 0: bad_length */
	__be16 sport;
	__be16 dport;
	__u32 id; /* of the IPv4 packet, or of the IPv6 fragment header; raw */
	bool ipv6;
	bool first_fragment; /* more follow: the payload is not whole */
	bool bad_length; /* UDP length below 8 or beyond the IP packet */
};

enum side {
	SENDER,
	RECEIVER,
};

/*
 * @v. The verifier forgets what it knew of it, since it knows nothing of @unknown; so
 * paths that differ only in @v become one.
 */
static __always_inline __u32 forget(__u32 v, __u32 unknown)
{
	asm volatile("%0 ^= %1\n%0 ^= %1" : "+r"(v) : "r"(unknown));
	return v;
}

/* NULL: cannot be, but the verifier does not know. */
static __always_inline const __be32 *packet_address(const struct packet *p,
						    enum side side)
{
	const __u8 *at = p->start + (p->addresses & OFFSET_MASK);

	if (!p->ipv6)
		return at + 8 > p->end ? NULL : (const __be32 *)at + (side ? 1 : 0);
	return at + 32 > p->end ? NULL : (const __be32 *)at + (side ? 4 : 0);
}

static __always_inline struct cursor packet_payload(const struct packet *p)
{
	struct cursor c = { .pos = p->start + (p->payload & OFFSET_MASK), .end = p->end };

	return c;
}

#define PARSED OTHER_COUNT /* packet_parse(): a UDP datagram or its first fragment */

/* How much of a frame of @length octets there is from @at on. */
static __always_inline __u64 frame_left(const struct packet *p, const __u8 *at,
					__u64 length)
{
	__u64 used = at - p->start;

	/* Or the compiler adds to pointers what the verifier knows no bounds of. */
	asm volatile("" : "+r"(used));
	return length - used;
}

/* The UDP header, with @left octets of IP payload from there on. */
static __always_inline enum other parse_udp(struct cursor *c, __u32 left,
					    struct packet *p)
{
	const struct udphdr *udp = cursor_take(c, sizeof(*udp));
	__u32 length;

	if (!udp || left < sizeof(*udp))
		return OTHER_UNPARSED;
	length = bpf_ntohs(udp->len);
	p->sport = udp->source;
	p->dport = udp->dest;
	p->payload = c->pos - p->start;
	/* A first fragment holds only the beginning of what the header counts. */
	p->bad_length = length < sizeof(*udp) || (length > left && !p->first_fragment);
	p->length = p->bad_length ? 0 : length - sizeof(*udp);
	return PARSED;
}

static __always_inline enum other parse_ipv4(struct cursor *c, __u64 length,
					     struct packet *p)
{
	const __u8 *start = c->pos;
	const struct iphdr *ip = cursor_take(c, sizeof(*ip));
	__u32 header, total;
	__u16 fragment;

	if (!ip || ip->version != 4 || ip->ihl < 5)
		return OTHER_UNPARSED;
	header = ip->ihl * 4;
	total = bpf_ntohs(ip->tot_len);
	if (total < header || total > frame_left(p, start, length))
		return OTHER_UNPARSED;
	if (ip->protocol != IPPROTO_UDP)
		return OTHER_NOT_UDP;
	fragment = bpf_ntohs(ip->frag_off);
	p->addresses = (const __u8 *)&ip->saddr - p->start;
	p->id = ip->id;
	p->ipv6 = false;
	if (fragment & IP_FRAGMENT_OFFSET)
		return OTHER_LATER_FRAGMENT;
	if (!cursor_take(c, header - sizeof(*ip)))
		return OTHER_UNPARSED;
	p->first_fragment = fragment & IP_FRAGMENT_MORE;
	return parse_udp(c, total - header, p);
}

/*
 * What an extension header is, by its number. A table rather than a switch: the verifier
 * then sees one path through it instead of one for each type.
 */
static const struct {
	__u8 is_ext;
	__u8 unit; /* its length is 8 + unit * ipv6_ext.length octets */
	__be16 fragment; /* mask: all ones for the fragment header */
} ipv6_exts[256] = {
	[IPPROTO_HOPOPTS] = { 1, 8, 0 },       [IPPROTO_ROUTING] = { 1, 8, 0 },
	[IPPROTO_DSTOPTS] = { 1, 8, 0 },       [IPPROTO_AH] = { 1, 4, 0 },
	[IPPROTO_FRAGMENT] = { 1, 0, 0xffff }, [IPPROTO_MH] = { 1, 8, 0 },
};

static __always_inline enum other parse_ipv6(struct cursor *c, __u64 length,
					     struct packet *p)
{
	const struct ipv6hdr *ip = cursor_take(c, sizeof(*ip));
	const __u8 *start;
	__u64 left, used;
	__u16 more = 0;
	__u8 next;

	if (!ip || ip->version != 6)
		return OTHER_UNPARSED;
	start = c->pos;
	next = ip->nexthdr;
	left = bpf_ntohs(ip->payload_len);
	/* Linux takes "0" before hop-by-hop options as "up to the end of the frame". */
	if (!left && next == IPPROTO_HOPOPTS)
		left = frame_left(p, c->pos, length);
	if (left > frame_left(p, c->pos, length))
		return OTHER_UNPARSED;

	p->addresses = (const __u8 *)&ip->saddr - p->start;
	p->id = 0;
	p->ipv6 = true;
	for (int i = 0; i < IPV6_EXT_MAX && ipv6_exts[next].is_ext; i++) {
		struct cursor at = *c;
		const struct ipv6_fragment *ext = cursor_take(&at, sizeof(*ext));

		if (!ext)
			return OTHER_UNPARSED;
		/* Without a branch, so that the verifier sees no more paths. */
		p->id |= ext->id & -(__u32)(ipv6_exts[next].fragment & 1);
		if (ext->offset & ipv6_exts[next].fragment &
		    bpf_htons(IPV6_FRAGMENT_OFFSET))
			return OTHER_LATER_FRAGMENT;
		more |= ext->offset & ipv6_exts[next].fragment &
			bpf_htons(IPV6_FRAGMENT_MORE);
		if (!cursor_take(c, (8 + ext->length * ipv6_exts[next].unit) &
					    IPV6_EXT_MASK))
			return OTHER_UNPARSED;
		next = ext->next;
	}
	if (ipv6_exts[next].is_ext)
		return OTHER_LONG_CHAIN;
	if (next != IPPROTO_UDP)
		return OTHER_NOT_UDP;
	used = c->pos - start;
	if (used > left)
		return OTHER_UNPARSED;

	p->first_fragment = more;
	return parse_udp(c, left - used, p);
}

/* The UDP header at @at, @left octets from there on: nothing about it is odd. */
static __always_inline bool plain_udp(const __u8 *at, __u32 left, __u32 addresses,
				      __u32 payload, struct packet *p)
{
	__u32 length = bpf_ntohs(*(const __be16 *)(at + 4));

	if (length > left || length < sizeof(struct udphdr))
		return false;
	p->addresses = forget(addresses, length);
	p->payload = forget(payload, length);
	p->sport = *(const __be16 *)at;
	p->dport = *(const __be16 *)(at + 2);
	p->length = length - sizeof(struct udphdr);
	p->first_fragment = false;
	p->bad_length = false;
	return true;
}

#define PLAIN_MORE (OTHER_COUNT + 1) /* parse_plain(): look closer */

/*
 * Most of what arrives, in few steps: without tags, options, extension headers, fragments
 * or lies. What is not so is left to the parsers above, which say the same of the rest.
 */
static __always_inline int parse_plain(const __u8 *at, __u32 length, struct packet *p)
{
	__u32 total;

	if (at + PLAIN_IPV4 > p->end)
		return PLAIN_MORE;
	/* Ethernet type, IP version and header length: 08 00 45 */
	if ((*(const __u32 *)(at + 12) & 0x00ffffff) == 0x00450008) {
		total = bpf_ntohs(*(const __be16 *)(at + 16));
		if (total + ETH_HLEN > length || total < PLAIN_IPV4 - ETH_HLEN)
			return PLAIN_MORE;
		if (at[23] != IPPROTO_UDP)
			return OTHER_NOT_UDP;
		p->id = *(const __be16 *)(at + 18);
		p->ipv6 = false;
		return !(*(const __be16 *)(at + 20) & bpf_htons(0x3fff)) &&
				       plain_udp(at + 34, total - 20, 26, PLAIN_IPV4, p)
			       ? PARSED
			       : PLAIN_MORE;
	}
	/* 86 dd 6. */
	if ((*(const __u32 *)(at + 12) & 0x00f0ffff) != 0x0060dd86 ||
	    at + PLAIN_IPV6 > p->end || at[20] != IPPROTO_UDP)
		return PLAIN_MORE;
	total = bpf_ntohs(*(const __be16 *)(at + 18));
	if (total + 54 > length)
		return PLAIN_MORE;
	p->id = 0;
	p->ipv6 = true;
	return plain_udp(at + 54, total, 22, PLAIN_IPV6, p) ? PARSED : PLAIN_MORE;
}

/*
 * PARSED, or why there is no datagram. @length: of the frame, of which [data, data_end)
 * may be only the beginning (TC). Of a LATER_FRAGMENT @p has addresses and id.
 */
static __always_inline enum other packet_parse(void *data, void *data_end, __u64 length,
					       struct packet *p)
{
	const struct ethhdr *eth;
	const struct vlan_tag *tag;
	struct cursor c;
	__be16 proto;
	int plain;

	/* The context has them as 32 bits, and so the compiler might copy them. */
	asm volatile("" : "+r"(data), "+r"(data_end));
	p->start = data;
	p->end = data_end;
	plain = parse_plain(data, length, p);
	if (plain != PLAIN_MORE)
		return plain;

	c.pos = data;
	c.end = data_end;
	eth = cursor_take(&c, sizeof(*eth));
	if (!eth)
		return OTHER_UNPARSED;
	proto = eth->h_proto;
	for (int i = 0; i < VLAN_MAX; i++) {
		if (proto != bpf_htons(ETH_P_8021Q) && proto != bpf_htons(ETH_P_8021AD))
			break;
		tag = cursor_take(&c, sizeof(*tag));
		if (!tag)
			return OTHER_UNPARSED;
		proto = tag->proto;
	}
	/* Linux strips any number of tags with VLAN id 0 and delivers what is inside. */
	if (proto == bpf_htons(ETH_P_8021Q) || proto == bpf_htons(ETH_P_8021AD))
		return OTHER_LONG_CHAIN;

	if (proto == bpf_htons(ETH_P_IP))
		return parse_ipv4(&c, length, p);
	if (proto == bpf_htons(ETH_P_IPV6))
		return parse_ipv6(&c, length, p);
	return OTHER_NOT_IP;
}

#endif /* PACKET_BPF_H */
