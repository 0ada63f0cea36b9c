/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * reply.bpf.h - write another payload into a frame: back to its sender, or on to the
 * server.
 *
 * Headers and tags stay, except for what the new direction and length change. IPv4's TOS
 * becomes 0 in both directions, IPv6's traffic class and flow label in a reply alone.
 * Both checksums are made anew: nothing says that those of the frame were right, and
 * XDP_TX gets no help from the card. Only datagrams without IPv4 options and IPv6
 * extension headers (reply_plain()); the caller checks.
 *
 * Called by challenge.bpf.h, host_keys.bpf.h and cached_response.bpf.h. Every function
 * that resizes the frame invalidates pointers into it. After a failure the frame may be
 * corrupt and must be dropped.
 */
#ifndef REPLY_BPF_H
#define REPLY_BPF_H

#include "parse.bpf.h"
#include "challenge.h"

#define REPLY_IPV4 28 /* bytes of IP and UDP headers */
#define REPLY_IPV6 48
#define REPLY_TTL  64
#define REPLY_SURE 1376 /* bytes of payload that nearly all paths carry unfragmented */

/* Bytes before the payload, at most: Ethernet, tags, IPv6 and UDP. */
#define REPLY_HEADS (14 + VLAN_MAX * 4 + REPLY_IPV6)

/* A datagram to write; offsets are of the frame. */
struct reply {
	__u32 payload;
	__u32 ipv6;
	__u32 length; /* bytes of the new payload */
	bool back; /* true: to its sender; false: on to the server */
};

/*
 * Return the sum of the 16-bit words of @t as they are in memory, not folded. Called by
 * reply_write() alone. The zeros after the text add nothing, so the whole buffer is
 * summed.
 */
static __always_inline __u64 reply_sum(const struct challenge_text *t)
{
	__u64 sum = 0;

	for (int i = 0; i < CHALLENGE_TEXT / 8; i++) {
		__u64 word = load_u64(t->at + 8 * i);

		sum += (__u32)word + (word >> 32);
	}
	return sum;
}

/*
 * Return the Internet checksum of @sum: folded and complemented. Called by reply_udp(),
 * reply_ipv4() and rewrite_number().
 */
static __always_inline __u16 reply_fold(__u64 sum)
{
	return ~cache_fold(sum);
}

/*
 * Return the length of the frame as it is now. Called by functions that reply to, count
 * or resize a frame, anew after each helper that resizes it.
 */
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
 * Lengthen the frame by @more bytes; its @heads bytes of headers stay at its beginning.
 * After a frame that a socket sent over a veth there may be no room, so where the frame
 * cannot grow at its end it grows at its front, where there are 200 bytes. Returns 0 if
 * it cannot; then the frame may be corrupt. Analysed once by the verifier. Called by
 * reply_resize() alone. After it the frame may begin elsewhere: all pointers are invalid.
 * The caller must write all bytes after @heads anew.
 */
__noinline int reply_grow(struct xdp_md *ctx, __u32 more, __u32 heads)
{
	__u8 moved[REPLY_HEADS] = { 0 }; /* Linux 6.2 lets no helper see less */
	__u32 rest = heads - 1;

	if (!bpf_xdp_adjust_tail(ctx, more))
		return 1;
	same_copy(rest);
	return rest < REPLY_HEADS && !bpf_xdp_adjust_head(ctx, -(int)more) &&
	       !bpf_xdp_load_bytes(ctx, more, moved, rest + 1) &&
	       !bpf_xdp_store_bytes(ctx, 0, moved, rest + 1);
}

/*
 * Resize the frame for @a, to at least WIRE_LEAST bytes, or its own length if that is
 * less. False: it cannot be. Called by reply_heads() alone, before any header is written.
 * No frame may be longer than what cache_frame() charges for it.
 */
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

/*
 * Exchange both Ethernet addresses. Called by reply_heads() alone, which has compared 14
 * bytes. All words are read before the first is written.
 */
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

/*
 * Write the UDP header at @udp. @sum: of the payload and the addresses. Exchanges the
 * ports if @a goes back. Called by reply_ipv4() and reply_ipv6(). A checksum of 0 must be
 * written as ffff: 0 means none, which IPv6 forbids.
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

/*
 * Write the IPv4 and UDP headers at @ip. @sum: of the payload. Exchanges the addresses if
 * @a goes back. Called by reply_heads() alone, which has compared REPLY_IPV4 bytes. All
 * fields are read before the first is written.
 */
static __always_inline void reply_ipv4(__u8 *ip, const struct reply *a, __u64 sum)
{
	__u32 from = load_u32(ip + 12), to = load_u32(ip + 16);
	__u32 head = 0x45 | (__u32)bpf_htons(a->length + REPLY_IPV4) << 16;
	__u32 id = load_u32(ip + 4);
	__u32 rest = load_u16(ip + 8); /* TTL and protocol */

	if (a->back) {
		/*
		 * A datagram that is never fragmented needs no id (RFC 6864). A long one
		 * may be fragmented, on a path of less than 1500 bytes: the error that a
		 * router would send instead does not reach this program.
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

/*
 * Write the IPv6 and UDP headers at @ip. @sum: of the payload. Exchanges the addresses if
 * @a goes back. Called by reply_heads() alone, which has compared REPLY_IPV6 bytes. All
 * addresses are read before the first is written.
 */
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

/*
 * Return true if the frame has no IP options or extension headers. @payload, @addresses:
 * offsets. Called by reply_possible() and rewrite_request(), before reply_heads(), which
 * relies on it.
 */
static __always_inline bool reply_plain(__u32 payload, __u32 addresses, __u32 ipv6)
{
	return payload - addresses == (ipv6 ? REPLY_IPV6 - 8 : REPLY_IPV4 - 12);
}

/*
 * Resize the frame and write all headers of @a; the caller writes the payload next. @sum:
 * of the 16-bit words of the payload. False: drop the frame, which may be corrupt. Called
 * by challenge_write(), keys_write(), cache_heads() and reply_write(), after
 * reply_plain() was true. Pointers into the frame are loaded after the resize.
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

/*
 * Resize the frame and write headers and the payload @t. Pointers into the frame are
 * invalid after it. False: drop the frame, which may be corrupt. Called by
 * rewrite_request() alone. The text must have zeros after @a's length.
 */
static __always_inline bool reply_write(struct xdp_md *ctx, const struct reply *a,
					struct challenge_text *t)
{
	__u64 room;

	if (!reply_heads(ctx, a, reply_sum(t)))
		return false;
	/* With the Ethernet padding, for which there are zeros after the text. */
	room = reply_frame(ctx) - (a->payload + 1);
	same_copy(room);
	return room < CHALLENGE_TEXT &&
	       !bpf_xdp_store_bytes(ctx, a->payload & OFFSET_MASK, t->at, room + 1);
}

#endif /* REPLY_BPF_H */
