/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * packet.bpf.h - struct packet: where in a frame a datagram is. The functions here read
 * its port, its addresses and its payload.
 *
 * The parsers (parse.bpf.h) fill a struct packet, and offsets_packet() and pkt_packet()
 * fill one anew from offsets that a parser found. All programs read it; none changes it
 * after that.
 *
 * Invariant: struct packet holds offsets, not pointers (see hints.bpf.h). Each offset is
 * masked and compared with the end right before its use, or the verifier refuses the
 * load.
 */
#ifndef PACKET_BPF_H
#define PACKET_BPF_H

#include <linux/bpf.h>
#include <linux/udp.h>
#include <stdbool.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "cursor.h"
#include "hints.bpf.h"

/* Bounds every offset into a frame. Headers have at most 12 kB: IPV6_EXT_MAX. */
#define OFFSET_MASK 0x3fff

/*
 * A datagram in a frame. The parsers fill it; other code reads it by the functions below.
 * Offsets are relative to @start. On the fast path a plain frame has @start, @end,
 * @length and @server_port alone: plain_payload() and plain_source() replace
 * packet_payload() and packet_address() there.
 */
struct packet {
	const __u8 *start; /* of the frame */
	const __u8 *end; /* end of the frame; Ethernet padding may be before it */
	__u32 addresses; /* offset of the source address, then the destination: 1 word
			    each in IPv4, 4 in IPv6 */
	__u32 payload; /* offset, after the UDP header */
	__u64 length; /* bytes of payload by the UDP header; 0 if BAD_LENGTH. Of a
			 FIRST_FRAGMENT: at TC of all fragments; at the interface 8,
			 which are in the frame, or on the fast path 0 */
	__u64 server_port; /* the server's port, host order; the verifier knows that it
			      has 16 bits */
	__u32 id; /* of a fragment: id of the IPv4 or IPv6 fragment header, as in the
		     frame */
	__u32 ipv6; /* 0 or 1 */
	enum whole {
		WHOLE,
		WITH_OPTIONS, /* to the server: whole, behind IPv4 options or an IPv6
				 extension header that is no fragment's */
		FIRST_FRAGMENT, /* more fragments follow: the frame has only a part of the
				   payload */
		BAD_LENGTH, /* UDP length below 8, or beyond the IP packet; or a first
			       fragment without 8 bytes of payload */
	} whole;
};

/*
 * An end of a datagram. The shield's two programs look from opposite sides: toward the
 * server the client is SENDER, from the server it is RECEIVER.
 */
enum side {
	SENDER,
	RECEIVER,
};

/*
 * Return the port of @side, network order. Called by packet_player() alone, after
 * parsing. 0: the frame ends before it, which the parsers exclude; the verifier does not
 * know.
 */
static __always_inline __be16 packet_port(const struct packet *p, enum side side)
{
	/* The UDP header is before the payload, in whatever way it is wrapped. */
	__u64 offset = (p->payload - sizeof(struct udphdr)) & OFFSET_MASK;
	const __u8 *udp;

	same_copy(offset);
	udp = p->start + offset;
	if (udp + 4 > p->end)
		return 0;
	return *(const __be16 *)(udp + (side == SENDER ? 0 : 2));
}

/*
 * Return @be_port in host order, as struct tables.ports is indexed. Called by the parsers
 * (parse_plain(), parse_udp(), encapsulated_plain()) and by reply_allowed(). A shift
 * makes it, so that the verifier knows that it has 16 bits and allows the index.
 */
static __always_inline __u64 port_number(__be16 be_port)
{
	__u64 number = __builtin_bswap64(be_port);

	same_copy(number);
	return number >> 48;
}

/*
 * Return the address of @side after parsing: 1 word of IPv4, or 4 of IPv6, network order.
 * NULL: the frame ends before it, which the parsers exclude; the verifier does not know.
 * Called by address_net(), packet_cidr(), fragment_end(), acl_lookup() and master_note(),
 * each of which compares with NULL. packet_player() reads the same bytes.
 */
static __always_inline const __be32 *packet_address(const struct packet *p,
						    enum side side)
{
	const __u8 *at = p->start + (p->addresses & OFFSET_MASK);

	if (!p->ipv6)
		return at + 8 > p->end ? NULL : (const __be32 *)at + (side ? 1 : 0);
	return at + 32 > p->end ? NULL : (const __be32 *)at + (side ? 4 : 0);
}

/*
 * Return a cursor at the payload, after parsing. Called by echo_refused(), kind_at(),
 * player_admit() and packet_marked() on ingress, and by sent_sequence(), clock_note() and
 * game_port_learn() at egress. The cursor ends at the frame's end, where padding may be,
 * so the caller must compare with @p->length.
 */
static __always_inline struct cursor packet_payload(const struct packet *p)
{
	struct cursor c = { .pos = p->start + (p->payload & OFFSET_MASK), .end = p->end };

	return c;
}

/*
 * Set start and end of @p's frame. Called before a parser, and by each function that
 * makes a struct packet from offsets; anew after each helper that moves or resizes the
 * frame. The other members stay.
 */
static __always_inline void packet_begin(void *data, void *data_end, struct packet *p)
{
	/* Otherwise the compiler copies 32 bits of them, which are no pointer. */
	same_copy(data);
	same_copy(data_end);
	p->start = data;
	p->end = data_end;
}

/*
 * verifier_forget() of all offsets, so that all combinations of headers count as one.
 * Called by tc_parse() alone, after packet_parse(), once it has loaded @p->start again.
 * @p->ipv6 and @p->length are masked again, since their bounds are lost.
 */
static __always_inline void packet_verifier_forget(struct packet *p, __u32 unknown)
{
	p->addresses = verifier_forget(p->addresses, unknown);
	p->payload = verifier_forget(p->payload, unknown);
	p->ipv6 = verifier_forget(p->ipv6, unknown) & 1;
	p->length = verifier_forget(p->length, unknown) & 0xffff;
}

#endif /* PACKET_BPF_H */
