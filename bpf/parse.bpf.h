/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * parse.bpf.h - find the UDP datagram in an Ethernet frame.
 *
 * Two parsers give the same result. parse_plain() accepts frames without VLAN tags, IP
 * options, extension headers or fragments, which is most traffic, in few instructions;
 * parse_encapsulated() accepts any frame. plain_path() and packet_parse() (at TC) call
 * the first, parse_headers() and packet_parse() the second; no other function parses.
 * Every frame of the interface pays for parse_plain(), each datagram of a flood for it,
 * for plain_fits(), and mostly for plain_source() and plain_hash().
 *
 * Invariants:
 *
 * - Lengths come from the IP and UDP headers, as Linux takes them. The bytes after them
 *   are Ethernet padding and no payload.
 * - A frame that Linux would not deliver to a socket is passed (OTHER_UNPARSED). A
 *   datagram that Linux would deliver must be found here, in whatever it is encapsulated.
 */
#ifndef PARSE_BPF_H
#define PARSE_BPF_H

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
#include "packet.bpf.h"
#include "word.h"

/* VLAN_MAX, IPV6_EXT_MAX: a frame with more is dropped (OTHER_TOO_MANY_HEADERS). */
#define VLAN_MAX	     2
#define PLAIN_IPV4	     42 /* bytes before the payload; IPv4 without options */
#define PLAIN_IPV6	     62
#define PLAIN_LEAST	     8 /* payload or padding that parse_plain() wants */
#define IPV6_EXT_MAX	     6 /* RFC 8200 4.1: each at most once, destination options twice */

#define IP_FRAGMENT_MORE     0x2000
#define IP_FRAGMENT_OFFSET   0x1fff
#define IPV6_FRAGMENT_MORE   0x0001
#define IPV6_FRAGMENT_OFFSET 0xfff8

struct vlan_tag {
	__be16 tci;
	__be16 proto;
};

/*
 * Return @other: a parser gives up. @apart: the caller is parse_headers(), which returns
 * @other alone; then seldom_here() keeps the load of @other out of the common path.
 * Called by parse_udp(), parse_ipv4(), parse_ipv6() and parse_encapsulated().
 */
static __always_inline enum other leave(bool apart, enum other other)
{
	if (apart)
		seldom_here();
	return other;
}

/* Octets that a first fragment must have, with the UDP header. */
#define FIRST_LEAST 16

#define PARSED	    OTHER_COUNT /* a UDP datagram or its first fragment was found */

/*
 * Return how many of the frame's @length bytes are from @at on. Called by parse_ipv4()
 * and parse_ipv6(). @at must be in the frame, or the result wraps.
 */
static __always_inline __u64 frame_left(const struct packet *p, const __u8 *at,
					__u64 length)
{
	__u64 used = at - p->start;

	same_copy(used);
	return length - used;
}

/*
 * Parse the UDP header at @c, of which @left bytes of IP payload are left (below 0:
 * none). Sets @p's port, payload and length (of a first fragment: that of the whole
 * datagram), and @p->whole if the length is wrong: that is no reason to give up, since it
 * must be dropped. @apart: as of leave(). Called by parse_ipv4() and parse_ipv6(), last,
 * with @p->whole set.
 */
static __always_inline enum other
parse_udp(struct cursor *c, __s64 left, enum side server, bool apart, struct packet *p)
{
	const struct udphdr *udp = cursor_take(c, sizeof(*udp));
	__s64 length, room;

	if (!udp || left < (__s64)sizeof(*udp))
		return leave(apart, OTHER_UNPARSED);
	length = bpf_ntohs(udp->len);
	p->server_port = port_number(server == RECEIVER ? udp->dest : udp->source);
	p->payload = c->pos - p->start;
	/*
	 * Below 0 if a length is wrong. A first fragment has only a part of @length, but
	 * at least 8 bytes of payload: Linux takes fragments in units of 8, so of fewer
	 * bytes it takes none, and the next fragment brings others.
	 */
	if (p->whole == FIRST_FRAGMENT)
		room = (length - FIRST_LEAST) | (left - FIRST_LEAST);
	else
		room = (length - (__s64)sizeof(*udp)) | (left - length);
	if (unlikely(room < 0))
		p->whole = BAD_LENGTH;
	p->length = p->whole == BAD_LENGTH ? 0 : length - sizeof(*udp);
	return PARSED;
}

/*
 * Parse an IPv4 header at @c, and the UDP header after it, in a frame of @length bytes.
 * Of a later fragment the addresses and the id are set: fragment_follow() needs them.
 * @server: which end the server is. @apart: as of leave(). Called by parse_encapsulated()
 * alone.
 */
static __always_inline enum other
parse_ipv4(struct cursor *c, __u64 length, enum side server, bool apart, struct packet *p)
{
	const __u8 *start = c->pos;
	const struct iphdr *ip = cursor_take(c, sizeof(*ip));
	__u32 header, total;
	__u16 fragment;

	if (!ip || ip->version != 4 || ip->ihl < 5)
		return leave(apart, OTHER_UNPARSED);
	if (ip->protocol != IPPROTO_UDP)
		return leave(apart, OTHER_NOT_UDP);
	header = ip->ihl * 4;
	total = bpf_ntohs(ip->tot_len);
	if (total < header || total > frame_left(p, start, length))
		return leave(apart, OTHER_UNPARSED);
	fragment = bpf_ntohs(ip->frag_off);
	p->addresses = (const __u8 *)&ip->saddr - p->start;
	p->id = ip->id;
	p->ipv6 = 0;
	if (fragment & IP_FRAGMENT_OFFSET)
		return leave(apart, OTHER_LATER_FRAGMENT);
	if (!cursor_take(c, header - sizeof(*ip)))
		return leave(apart, OTHER_UNPARSED);
	p->whole = WHOLE;
	if (fragment & IP_FRAGMENT_MORE)
		p->whole = FIRST_FRAGMENT;
	else if (server == RECEIVER && header > sizeof(*ip))
		p->whole = WITH_OPTIONS;
	return parse_udp(c, total - header, server, apart, p);
}

/*
 * How to step over an extension header, by its number: unit of its length byte, or 0 for
 * none. A table gives the verifier one path.
 */
#define EXT_FRAGMENT \
	0x10 /* a header of 8 bytes; others have 8 + unit * their second byte */
#define EXT_LONGEST 0xfff /* bytes after the first 8: the largest product */

static const __u8 ipv6_exts[256] = {
	[IPPROTO_HOPOPTS] = 8, [IPPROTO_ROUTING] = 8, [IPPROTO_DSTOPTS] = 8,
	[IPPROTO_AH] = 4,      [IPPROTO_MH] = 8,      [IPPROTO_FRAGMENT] = EXT_FRAGMENT,
};

/*
 * Parse an IPv6 header at @c, up to IPV6_EXT_MAX extension headers and the UDP header
 * after them. @length, @server, @apart: as of parse_ipv4(). Called by
 * parse_encapsulated() alone. More headers must not pass as OTHER_NOT_UDP, and of a later
 * fragment the addresses and the id must be set.
 */
static __always_inline enum other
parse_ipv6(struct cursor *c, __u64 length, enum side server, bool apart, struct packet *p)
{
	const struct ipv6hdr *ip = cursor_take(c, sizeof(*ip));
	const __u8 *start, *at;
	__u64 left, next;
	__u32 more = 0, options;

	if (!ip || ip->version != 6)
		return leave(apart, OTHER_UNPARSED);
	start = at = c->pos;
	next = ip->nexthdr;
	/* No comparison: it would double the verifier's paths through all headers. */
	options = ipv6_exts[next] & ~EXT_FRAGMENT;
	left = bpf_ntohs(ip->payload_len);
	/* Linux: a length of 0 before hop-by-hop options is "to the end of the frame". */
	if (!left && next == IPPROTO_HOPOPTS)
		left = frame_left(p, c->pos, length);
	if (left > frame_left(p, c->pos, length))
		return leave(apart, OTHER_UNPARSED);

	p->addresses = (const __u8 *)&ip->saddr - p->start;
	p->id = 0;
	p->ipv6 = 1;
	/* A header may end beyond the frame: the comparison of the next one finds it. */
#pragma unroll
	for (int i = 0; i < IPV6_EXT_MAX; i++) {
		__u64 unit = ipv6_exts[next], octets;

		if (!unit)
			break;
		if (at + 8 > p->end)
			return leave(apart, OTHER_UNPARSED);
		if (unlikely(unit == EXT_FRAGMENT)) {
			p->id |= load_u32(at + 4);
			if (load_u16(at + 2) & bpf_htons(IPV6_FRAGMENT_OFFSET))
				return leave(apart, OTHER_LATER_FRAGMENT);
			more |= load_u16(at + 2);
			options |= at[0] ^ IPPROTO_UDP;
			unit = 0;
		}
		next = at[0];
		/* Linux 6.1 derives no bounds of a product; the mask changes no value. */
		octets = at[1] * unit;
		same_copy(octets);
		at += 8 + (octets & EXT_LONGEST);
	}
	if (at > p->end)
		return leave(apart, OTHER_UNPARSED);
	if (next != IPPROTO_UDP)
		return ipv6_exts[next] ? OTHER_TOO_MANY_HEADERS : OTHER_NOT_UDP;

	c->pos = at;
	p->whole = WHOLE;
	if (more & bpf_htons(IPV6_FRAGMENT_MORE))
		p->whole = FIRST_FRAGMENT;
	else if (server == RECEIVER && options)
		p->whole = WITH_OPTIONS;
	return parse_udp(c, (__s64)left - (at - start), server, apart, p);
}

#define PLAIN_MORE                                                                    \
	(OTHER_COUNT + 1) /* parse_plain(): the frame is not plain, or too short; use \
			     parse_encapsulated() */

/*
 * A datagram for the fast path. parse_plain() and encapsulated_plain() fill it;
 * challenge_plain() makes one with @payload and @offset alone.
 */
struct plain {
	const __u8 *payload;
	__u64 offset; /* PLAIN_IPV4 or PLAIN_IPV6; of an encapsulated frame it only says
			 which IP version */
	__s64 left; /* bytes of the IP packet from the UDP header on */
	bool truncated; /* the frame may have less than PLAIN_LEAST bytes of payload; a
			   constant to the compiler */
	bool encapsulated; /* the frame is encapsulated; then @whole and @source are
			      valid; a constant */
	enum whole whole;
	const __u8 *source; /* the sender's address, then the receiver's, in the frame */
};

/*
 * Parse a plain frame: no tags, options, extension headers or fragments, and at least
 * PLAIN_LEAST bytes after the UDP header. @truncated: accept fewer (a constant). Returns
 * PARSED, PLAIN_MORE if the frame is not such a one, or the reason why it is no UDP
 * datagram.
 *
 * PARSED sets only the server's port in @p, since most traffic of most machines is for no
 * service. Called by plain_path() and packet_parse(), which must call plain_fits() before
 * they use the rest. is_truncated() repeats the comparison with PLAIN_LEAST.
 */
static __always_inline int parse_plain(enum side server, bool truncated, struct packet *p,
				       struct plain *ret)
{
	const __u8 *at = p->start;
	__u32 least = truncated ? 0 : PLAIN_LEAST;
	__u32 head;
	__s64 left;

	ret->truncated = truncated;
	ret->encapsulated = false;
	ret->whole = WHOLE;

	if (unlikely(at + PLAIN_IPV4 + least > p->end))
		return PLAIN_MORE;
	/* Ethernet type, IP version and header length: 08 00 45, or 86 dd 6. */
	head = *(const __u32 *)(at + 12);
	if ((head & 0x00ffffff) == 0x00450008) {
		if (at[23] != IPPROTO_UDP)
			return OTHER_NOT_UDP;
		if (unlikely(*(const __be16 *)(at + 20) &
			     bpf_htons(IP_FRAGMENT_MORE | IP_FRAGMENT_OFFSET)))
			return PLAIN_MORE;
		left = bpf_ntohs(*(const __be16 *)(at + 16)) - 20;
		once_here(left);
		ret->offset = PLAIN_IPV4;
	} else {
		if ((head & 0x00f0ffff) != 0x0060dd86 || at[20] != IPPROTO_UDP ||
		    at + PLAIN_IPV6 + least > p->end)
			return PLAIN_MORE;
		left = bpf_ntohs(*(const __be16 *)(at + 18));
		once_here(left);
		ret->offset = PLAIN_IPV6;
	}
	ret->left = left;
	at += ret->offset;
	once_here(at);
	ret->payload = at;
	p->server_port =
		port_number(*(const __be16 *)(at - (server == RECEIVER ? 6 : 8)));
	return PARSED;
}

/*
 * Return true if the lengths of a datagram that is PARSED agree with the frame of @length
 * bytes; then @p->length is set. Called by plain_path() and packet_parse(). On false the
 * caller must not use @p->length, and parse_encapsulated() decides.
 */
static __always_inline bool plain_fits(__u64 length, const struct plain *plain,
				       struct packet *p)
{
	__s64 udp = bpf_ntohs(*(const __be16 *)(plain->payload - 4));

	p->length = udp - sizeof(struct udphdr);
	return likely(udp >= (__s64)sizeof(struct udphdr)) &&
	       likely(udp <= plain->left) &&
	       likely(plain->left + plain->offset - sizeof(struct udphdr) <= length);
}

/*
 * Return 1 if IPv6, or 0: without a comparison, which would split the verifier's path.
 * Called by plain_packet(), target_plain(), plain_offsets() and fast_path_tail_call().
 * PLAIN_IPV4 and PLAIN_IPV6 must differ in bit 4.
 */
static __always_inline __u32 plain_ipv6(const struct plain *plain)
{
	return plain->offset >> 4 & 1; /* PLAIN_IPV4 or PLAIN_IPV6 */
}

/*
 * Return the sender's address in the frame, 4 bytes of IPv4 or 16 of IPv6, and after it
 * the receiver's. @offset: @plain's, which the caller has compared, so that the verifier
 * sees a constant distance. It must be the place that packet_address() returns for
 * SENDER. Called on the fast path alone: plain_net(), plain_hash(), plain_player() and
 * plain_acl_prefilter().
 */
static __always_inline const __u8 *plain_source(const struct plain *plain, __u64 offset)
{
	if (plain->encapsulated)
		return plain->source;
	return plain->payload -
	       (offset == PLAIN_IPV4 ? PLAIN_IPV4 - 26 : PLAIN_IPV6 - 22);
}

/*
 * Return budget_hash() of the sender's address_net(). Called by limits_exceeded() alone:
 * the fast path must compare the cell that budget_cell() gives admit_net() to charge.
 */
static __always_inline __u64 plain_hash(const struct plain *plain, const __u64 keys[3])
{
	const __be32 *from;
	__u64 hash;

	if (plain->offset == PLAIN_IPV4) {
		from = (const __be32 *)plain_source(plain, PLAIN_IPV4);
		hash = budget_hash(keys, bpf_ntohl(*from), 0);
		once_here(hash);
	} else {
		from = (const __be32 *)plain_source(plain, PLAIN_IPV6);
		hash = budget_hash(
			keys, (__u64)bpf_ntohl(from[0]) << 32 | bpf_ntohl(from[1]), 1);
		once_here(hash);
	}
	return hash;
}

/*
 * Return the offset of the addresses in a plain frame. @ipv6: 0 or 1. Called by
 * plain_packet(), plain_offsets() and challenge_plain(). plain_source() goes to the same
 * place from the payload, and target_plain() to the second address.
 */
static __always_inline __u64 plain_addresses(__u64 ipv6)
{
	return 26 - 4 * ipv6;
}

/* Fill the rest of @p. Called by packet_parse() alone, after plain_fits(). */
static __always_inline void plain_packet(const struct plain *plain, struct packet *p)
{
	p->payload = plain->offset;
	p->ipv6 = plain_ipv6(plain);
	p->addresses = plain_addresses(p->ipv6);
	p->id = 0;
	p->whole = WHOLE;
}

/*
 * Return packet_payload() on the fast path, where @p of a plain frame has no offsets.
 * Called by fast_path() alone.
 */
static __always_inline struct cursor plain_payload(const struct plain *plain,
						   const struct packet *p)
{
	return (struct cursor){ .pos = plain->payload, .end = p->end };
}

/* Return true if @proto is a VLAN tag's. Called by parse_encapsulated() alone. */
static __always_inline bool is_tag(__be16 proto)
{
	return proto == bpf_htons(ETH_P_8021Q) || proto == bpf_htons(ETH_P_8021AD);
}

/*
 * Parse any frame of @length bytes. @p has its start and end; PARSED sets the rest. Of
 * OTHER_LATER_FRAGMENT the addresses and the id are set. Returns PARSED or why there is
 * no datagram. @apart: as of leave(). Called by parse_headers() at the interface, a
 * function of its own since this has many paths, and by packet_parse() for a frame that
 * parse_plain() or plain_fits() does not accept. slow_path() parses plain frames by it
 * too: it must find in them what parse_plain() finds.
 */
static __always_inline enum other parse_encapsulated(__u64 length, enum side server,
						     bool apart, struct packet *p)
{
	const __u8 *at = p->start;
	struct cursor c;
	__be16 proto;

	p->addresses = p->payload = p->ipv6 = 0;
	p->length = 0;
	if (at + ETH_HLEN > p->end)
		return leave(apart, OTHER_UNPARSED);
	proto = *(const __be16 *)(at + ETH_HLEN - 2);
	at += ETH_HLEN;
	for (int i = 0; i < VLAN_MAX && is_tag(proto); i++) {
		if (at + sizeof(struct vlan_tag) > p->end)
			return leave(apart, OTHER_UNPARSED);
		proto = *(const __be16 *)(at + 2);
		at += sizeof(struct vlan_tag);
	}
	c = (struct cursor){ .pos = at, .end = p->end };
	if (proto == bpf_htons(ETH_P_IP))
		return parse_ipv4(&c, length, server, apart, p);
	if (proto == bpf_htons(ETH_P_IPV6))
		return parse_ipv6(&c, length, server, apart, p);
	/* Linux strips all tags with VLAN id 0, and delivers what they contain. */
	return is_tag(proto) ? OTHER_TOO_MANY_HEADERS : OTHER_NOT_IP;
}

/*
 * The result of parse_encapsulated() in one integer, which parse_headers() returns:
 * offsets of the UDP header and of the addresses, whether IPv6, and enum whole.
 */
#define ENCAPSULATED(udp, addresses, ipv6, whole) \
	((udp) | (addresses) << 14 | (ipv6) << 28 | (whole) << 29)
_Static_assert(BAD_LENGTH <= 3, "ENCAPSULATED() has 2 bits for enum whole");
_Static_assert(OFFSET_MASK == (1 << 14) - 1,
	       "ENCAPSULATED() has 14 bits for each offset");

/*
 * Return the offset of the addresses. Called by encapsulated_plain() alone, like the next
 * two: they read what ENCAPSULATED() packs.
 */
static __always_inline __u32 encapsulated_addresses(__u64 encapsulated)
{
	return encapsulated >> 14 & OFFSET_MASK;
}

/* Return 1 if IPv6, or 0: bit 28 of ENCAPSULATED(). */
static __always_inline __u32 encapsulated_ipv6(__u64 encapsulated)
{
	return encapsulated >> 28 & 1;
}

/*
 * Return enum whole of the datagram: bits 29 and 30 of ENCAPSULATED(), whose bit 31 is 0.
 */
static __always_inline enum whole encapsulated_whole(__u64 encapsulated)
{
	return encapsulated >> 29 & 3;
}

/*
 * Fill @ret and @p from @encapsulated, as ENCAPSULATED() packs it; @p->id stays. @p has
 * its start and end. Called by target_find() and encapsulated_path() after
 * parse_headers() found a datagram. False: the frame ends before, which parse_headers()
 * excludes; the verifier does not know.
 */
static __always_inline bool encapsulated_plain(__u64 encapsulated, struct packet *p,
					       struct plain *ret)
{
	/*
	 * The pointer is made from the UDP header's offset, so that the verifier allows
	 * bytes before the payload to be read.
	 */
	__u64 offset = encapsulated & OFFSET_MASK;
	const __u8 *udp;

	same_copy(offset);
	udp = p->start + offset;
	ret->payload = udp + sizeof(struct udphdr);
	ret->source = p->start + encapsulated_addresses(encapsulated);
	if (ret->payload > p->end || ret->source + 16 > p->end)
		return false;
	p->server_port = port_number(*(const __be16 *)(udp + 2));
	p->ipv6 = encapsulated_ipv6(encapsulated);
	p->addresses = encapsulated_addresses(encapsulated);
	p->payload = offset + sizeof(struct udphdr);
	p->whole = encapsulated_whole(encapsulated);
	/* The UDP length of a first fragment counts bytes that are not in this frame. */
	p->length = 0;
	if (likely(p->whole <= WITH_OPTIONS))
		p->length = bpf_ntohs(*(const __be16 *)(udp + 4)) - sizeof(struct udphdr);
	ret->offset = p->ipv6 ? PLAIN_IPV6 : PLAIN_IPV4;
	ret->left = 0;
	ret->truncated = true;
	ret->encapsulated = true;
	ret->whole = p->whole;
	return true;
}

/*
 * Parse the frame in [data, data_end) into @p. @length: of the whole frame, of which TC
 * may show only the beginning. @server: which end of the datagram the server is. Returns
 * PARSED or why there is no datagram; of OTHER_LATER_FRAGMENT @p has the addresses and
 * the id. Called by tc_parse() alone; the program at the interface takes the two parsers
 * apart. Both must find the same datagram.
 */
static __always_inline enum other packet_parse(void *data, void *data_end, __u64 length,
					       enum side server, struct packet *p)
{
	struct plain plain;
	int other;

	packet_begin(data, data_end, p);
	other = parse_plain(server, false, p, &plain);
	if (other == PARSED && plain_fits(length, &plain, p)) {
		plain_packet(&plain, p);
		return PARSED;
	}
	if (other != PARSED && other != PLAIN_MORE)
		return other;
	return parse_encapsulated(length, server, false, p);
}

#endif /* PARSE_BPF_H */
