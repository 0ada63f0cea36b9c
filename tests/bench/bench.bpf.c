// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * bench.bpf.c - what the shield is measured against, and from how many sources.
 *
 * wrap() gives the frame its next source address and sequence and jumps to the candidate,
 * the same way for each of them. drop() is then the price of the wrapper alone. base() is
 * what any filter must do: find the UDP ports behind tags, IPv4 options or an IPv6
 * header, count per CPU, drop. bare() parses just as much and passes. On the way out,
 * wrap_out() changes the destination, pass_out() is the wrapper alone, and bare_out()
 * parses and passes. wrap_again() also writes the whole frame anew, for candidates that
 * write another over it; the floor beside these is behind it too. bare_answer() is the
 * least that an answer of many octets takes: parse, turn the frame round, make it longer,
 * copy, and one checksum.
 */
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "anew.h"
#include "floor.h"

/* Set by bench.c: where the sequence stands, or what nobody looks at. */
__u32 sequence_at;
__u32 sent;

/* And where the 4 bytes of the peer stand, and which of them change. */
__u32 word_at;
__u32 word_fixed;
__u32 word_mask; /* 0: one peer */
__u32 random;

/* What wrap_again() writes. */
__u32 anew[ANEW / 4];

/* What bare_answer() says. */
struct bare_text {
	__u8 octets[BARE_TEXT];
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct bare_text);
} bare_text SEC(".maps");

/* A program array holds programs of one type. */
struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} candidate SEC(".maps"), candidate_out SEC(".maps");

static __always_inline int next_peer(void *data, void *end)
{
	__u32 *word = data + (word_at & 0x3f);
	__u32 *number = data + (sequence_at & 0x7f);

	if ((void *)(word + 1) > end || (void *)(number + 1) > end)
		return -1;
	/* Each address once in 2^22, in no order that a cache or a prefetcher likes. */
	random = random * 1664525 + 1013904223;
	*word = word_fixed | bpf_htonl(random >> 8 & word_mask);
	*number = ++sent;
	return 0;
}

static __always_inline int wrapped(struct xdp_md *ctx)
{
	if (next_peer((void *)(long)ctx->data, (void *)(long)ctx->data_end))
		return XDP_ABORTED;
	bpf_tail_call(ctx, &candidate, 0);
	return XDP_ABORTED;
}

SEC("xdp")
int wrap(struct xdp_md *ctx)
{
	return wrapped(ctx);
}

SEC("xdp")
int wrap_again(struct xdp_md *ctx)
{
	int more = ANEW - (int)(ctx->data_end - ctx->data);
	__u32 *at;

	if (more && bpf_xdp_adjust_tail(ctx, more))
		return XDP_ABORTED;
	at = (void *)(long)ctx->data;
	if ((void *)(at + ANEW / 4) > (void *)(long)ctx->data_end)
		return XDP_ABORTED;
	for (int i = 0; i < ANEW / 4; i++)
		at[i] = *(volatile __u32 *)&anew[i];
	return wrapped(ctx);
}

/* TC_ACT_STOLEN: no candidate ends so. */
SEC("tc")
int wrap_out(struct __sk_buff *ctx)
{
	if (next_peer((void *)(long)ctx->data, (void *)(long)ctx->data_end))
		return TC_ACT_STOLEN;
	bpf_tail_call(ctx, &candidate_out, 0);
	return TC_ACT_STOLEN;
}

SEC("xdp")
int drop(struct xdp_md *ctx)
{
	(void)ctx;
	return XDP_DROP;
}

SEC("xdp")
int base(struct xdp_md *ctx)
{
	count(ctx, PARSE(ctx) != 0);
	return XDP_DROP;
}

SEC("xdp")
int bare(struct xdp_md *ctx)
{
	/* Whoever parses does something with it. */
	return PARSE(ctx) == 7 ? XDP_DROP : XDP_PASS;
}

static __always_inline __u16 csum_fold(__u32 sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (__u16)~sum;
}

static __always_inline void turn(__u8 *frame)
{
	for (int i = 0; i < ETH_ALEN; i++) {
		__u8 octet = frame[i];

		frame[i] = frame[ETH_ALEN + i];
		frame[ETH_ALEN + i] = octet;
	}
}

/* IPv4 without tags and options, as the row's frames are. */
SEC("xdp")
int bare_answer(struct xdp_md *ctx)
{
	const int head =
		sizeof(struct ethhdr) + sizeof(struct iphdr) + sizeof(struct udphdr);
	__u32 zero = 0, address;
	struct bare_text *text = bpf_map_lookup_elem(&bare_text, &zero);
	struct ethhdr *eth;
	struct iphdr *ip;
	struct udphdr *udp;
	__be16 port;

	count(ctx, PARSE(ctx) != 0);
	if (!text || bpf_xdp_adjust_tail(ctx, head + BARE_TEXT - ANEW) ||
	    bpf_xdp_store_bytes(ctx, head, text->octets, BARE_TEXT))
		return XDP_DROP;
	eth = (void *)(long)ctx->data;
	ip = (void *)(eth + 1);
	udp = (void *)(ip + 1);
	if ((void *)(udp + 1) > (void *)(long)ctx->data_end)
		return XDP_DROP;
	turn((__u8 *)eth);
	address = ip->saddr;
	ip->saddr = ip->daddr;
	ip->daddr = address;
	ip->tot_len = bpf_htons(sizeof(*ip) + sizeof(*udp) + BARE_TEXT);
	ip->check = 0;
	ip->check = csum_fold(bpf_csum_diff(NULL, 0, (__be32 *)ip, sizeof(*ip), 0));
	port = udp->source;
	udp->source = udp->dest;
	udp->dest = port;
	udp->len = bpf_htons(sizeof(*udp) + BARE_TEXT);
	udp->check = 0;
	return XDP_TX;
}

SEC("tc")
int pass_out(struct __sk_buff *ctx)
{
	(void)ctx;
	return TC_ACT_UNSPEC;
}

SEC("tc")
int bare_out(struct __sk_buff *ctx)
{
	return PARSE(ctx) == 7 ? TC_ACT_SHOT : TC_ACT_UNSPEC;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
