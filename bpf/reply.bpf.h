/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * reply.bpf.h - write a datagram over the one that came: back to its sender, or, with
 * another text, on to the server. Headers, tags and all stay as they are but for what the
 * new direction and length change; both checksums are made anew, since nothing says that
 * those which came are right, and XDP_TX knows no help from a card.
 *
 * Only datagrams without IPv4 options and IPv6 extension headers: nobody answers to
 * others either.
 */
#ifndef REPLY_BPF_H
#define REPLY_BPF_H

#include "parse.bpf.h"
#include "challenge.h"

#define REPLY_IPV4 28 /* octets of headers before the payload */
#define REPLY_IPV6 48
#define REPLY_TTL  64
#define REPLY_SURE 1376 /* octets of text that reach nearly everybody in one piece */

/* Octets before the payload, at most: Ethernet's, two tags, and IPv6. */
#define REPLY_HEADS (14 + 2 * 4 + REPLY_IPV6)

/* What is to be written, and where; all offsets are of the frame. */
struct reply {
	__u32 payload;
	__u32 ipv6;
	__u32 length; /* of the text, at most CHALLENGE_TEXT */
	bool back; /* to its sender */
};

/* A sum of 16-bit words as they stand in memory, to be folded. */
static __always_inline __u64 reply_sum(const struct challenge_text *t)
{
	__u64 sum = 0;

	for (int i = 0; i < CHALLENGE_TEXT / 8; i++) {
		__u64 word = load_u64(t->at + 8 * i);

		sum += (__u32)word + (word >> 32);
	}
	return sum;
}

static __always_inline __u16 reply_fold(__u64 sum)
{
	sum = (__u32)sum + (sum >> 32);
	sum = (__u32)sum + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

/* How long the frame is now. */
static __always_inline __u64 reply_frame(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	__u64 length;

	same_copy(data); /* the context has them as 32 bits, which are no pointers */
	same_copy(end);
	length = end - data;
	same_copy(length);
	return length;
}

/*
 * The frame gets @more octets; its @heads octets of headers stay at its beginning. Behind
 * a frame that a socket sent over a veth there may be no room at all, so where it cannot
 * grow at its end it grows at its front, where there are 200. 0: it cannot be.
 */
__noinline int reply_grow(struct xdp_md *ctx, __u32 more, __u32 heads)
{
	__u8 moved[REPLY_HEADS];
	__u32 rest = heads - 1;

	if (!bpf_xdp_adjust_tail(ctx, more))
		return 1;
	same_copy(rest);
	return rest < REPLY_HEADS && !bpf_xdp_adjust_head(ctx, -(int)more) &&
	       !bpf_xdp_load_bytes(ctx, more, moved, rest + 1) &&
	       !bpf_xdp_store_bytes(ctx, 0, moved, rest + 1);
}

/* The frame gets as long as it has to be: no padding but Ethernet's is sent. */
static __always_inline bool reply_resize(struct xdp_md *ctx, const struct reply *a)
{
	__u32 was = reply_frame(ctx);
	__u32 least = was < WIRE_LEAST ? was : WIRE_LEAST;
	__u32 want = a->payload + a->length;

	if (want < least)
		want = least;
	if (want > was)
		return reply_grow(ctx, want - was, a->payload);
	return want == was || !bpf_xdp_adjust_tail(ctx, (int)want - (int)was);
}

static __always_inline void reply_ethernet(__u8 *eth)
{
	__u32 to = load_u32(eth);
	__u16 rest = load_u16(eth + 4);
	__u32 from = load_u32(eth + 6);
	__u16 more = load_u16(eth + 10);

	*(__u32 *)eth = from;
	*(__u16 *)(eth + 4) = more;
	*(__u32 *)(eth + 6) = to;
	*(__u16 *)(eth + 10) = rest;
}

/* @udp: its header; @sum: of text and addresses. Ports are turned round if it goes back.
 */
static __always_inline void reply_udp(__u8 *udp, const struct reply *a, __u64 sum)
{
	__u32 ports = load_u32(udp);
	__be16 length = bpf_htons(a->length + sizeof(struct udphdr));
	__u16 check;

	if (a->back)
		ports = ports << 16 | ports >> 16;
	*(__u32 *)udp = ports;
	*(__be16 *)(udp + 4) = length;
	check = reply_fold(sum + ports + length + length + bpf_htons(IPPROTO_UDP));
	*(__u16 *)(udp + 6) = check ? check : 0xffff;
}

static __always_inline void reply_ipv4(__u8 *ip, const struct reply *a, __u64 sum)
{
	__u32 from = load_u32(ip + 12), to = load_u32(ip + 16);
	__u32 head = 0x45 | (__u32)bpf_htons(a->length + REPLY_IPV4) << 16;
	__u32 id = load_u32(ip + 4);
	__u32 rest = load_u16(ip + 8); /* lifetime and protocol */

	if (a->back) {
		/*
		 * An answer that is never fragmented needs no id (RFC 6864). A long one
		 * may be, on a path of less than 1500 octets: the error that a router
		 * would send instead does not reach this program.
		 */
		id = bpf_htonl(0x4000);
		if (a->length > REPLY_SURE)
			id = bpf_get_prandom_u32() & bpf_htonl(0xffff0000);
		rest = REPLY_TTL | IPPROTO_UDP << 8;
		*(__u32 *)(ip + 12) = to;
		*(__u32 *)(ip + 16) = from;
	}
	*(__u32 *)ip = head;
	*(__u32 *)(ip + 4) = id;
	*(__u32 *)(ip + 8) = rest | (__u32)reply_fold((__u64)head + id + rest + from + to)
					    << 16;
	reply_udp(ip + 20, a, sum + from + to);
}

static __always_inline void reply_ipv6(__u8 *ip, const struct reply *a, __u64 sum)
{
	__u64 word[4];

	for (int i = 0; i < 4; i++) {
		word[i] = load_u64(ip + 8 + 8 * i);
		sum += (__u32)word[i] + (word[i] >> 32);
	}
	*(__be16 *)(ip + 4) = bpf_htons(a->length + sizeof(struct udphdr));
	if (a->back) {
		*(__u32 *)ip = bpf_htonl(0x60000000);
		ip[7] = REPLY_TTL;
		*(__u64 *)(ip + 8) = word[2];
		*(__u64 *)(ip + 16) = word[3];
		*(__u64 *)(ip + 24) = word[0];
		*(__u64 *)(ip + 32) = word[1];
	}
	reply_udp(ip + 40, a, sum);
}

/* Has what came no headers that we would have to take away? @addresses: as @payload. */
static __always_inline bool reply_plain(__u32 payload, __u32 addresses, __u32 ipv6)
{
	return payload - addresses == (ipv6 ? REPLY_IPV6 - 8 : REPLY_IPV4 - 12);
}

/*
 * Resize the frame and write all headers of @a; @sum: of the text, which is to follow.
 * False: it cannot be, and the frame may have become useless.
 */
static __always_inline bool reply_heads(struct xdp_md *ctx, const struct reply *a,
					__u64 sum)
{
	__u32 head = a->ipv6 ? REPLY_IPV6 : REPLY_IPV4;
	__u8 *data, *end, *at;
	__u64 offset;

	if (!reply_resize(ctx, a))
		return false;
	data = (void *)(long)ctx->data;
	end = (void *)(long)ctx->data_end;
	same_copy(data);
	same_copy(end);
	offset = (a->payload - head) & OFFSET_MASK;
	same_copy(offset);
	at = data + offset;
	if (data + sizeof(struct ethhdr) > end)
		return false;
	if (a->ipv6) {
		if (at + REPLY_IPV6 > end)
			return false;
		reply_ipv6(at, a, sum);
	} else {
		if (at + REPLY_IPV4 > end)
			return false;
		reply_ipv4(at, a, sum);
	}
	if (a->back)
		reply_ethernet(data);
	return true;
}

/* Write all of it. False: as of reply_heads(). */
static __always_inline bool reply_write(struct xdp_md *ctx, const struct reply *a,
					struct challenge_text *t)
{
	__u64 room;

	if (!reply_heads(ctx, a, reply_sum(t)))
		return false;
	/* With the padding, for which there are zeros behind the text. */
	room = reply_frame(ctx) - (a->payload + 1);
	same_copy(room);
	return room < CHALLENGE_TEXT &&
	       !bpf_xdp_store_bytes(ctx, a->payload & OFFSET_MASK, t->at, room + 1);
}

#endif /* REPLY_BPF_H */
