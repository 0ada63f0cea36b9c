// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * bench.bpf.c - what the shield is measured against, and from how many sources.
 *
 * wrap() gives the frame its next source address and jumps to the candidate, the same way
 * for each of them. drop() is then the price of the wrapper alone. base() is what any
 * filter must do: find the UDP ports behind tags, IPv4 options or an IPv6 header, count
 * per CPU, drop. bare() parses just as much and passes.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

/* Set by bench.c: where the 4 bytes of the source stand, and which of them change. */
__u32 word_at;
__u32 word_fixed;
__u32 word_mask; /* 0: one source */
__u32 sequence;

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} candidate SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, __u64[2]);
} counters SEC(".maps");

SEC("xdp")
int wrap(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data;
	void *end = (void *)(long)ctx->data_end;
	__u32 *word = data + (word_at & 0x3f);

	if ((void *)(word + 1) > end)
		return XDP_ABORTED;
	/* Each address once in 2^22, in no order that a cache or a prefetcher likes. */
	sequence = sequence * 1664525 + 1013904223;
	*word = word_fixed | bpf_htonl(sequence >> 8 & word_mask);
	bpf_tail_call(ctx, &candidate, 0);
	return XDP_ABORTED;
}

SEC("xdp")
int drop(struct xdp_md *ctx)
{
	(void)ctx;
	return XDP_DROP;
}

struct tag {
	__be16 tci;
	__be16 proto;
};

/* The UDP destination port; 0: none. */
static __always_inline __u16 parse(struct xdp_md *ctx)
{
	void *at = (void *)(long)ctx->data;
	void *end = (void *)(long)ctx->data_end;
	struct ethhdr *eth = at;
	struct udphdr *udp;
	__be16 proto;

	if ((void *)(eth + 1) > end)
		return 0;
	proto = eth->h_proto;
	at = eth + 1;
	for (int i = 0; i < 2; i++) {
		struct tag *tag = at;

		if (proto != bpf_htons(ETH_P_8021Q) && proto != bpf_htons(ETH_P_8021AD))
			break;
		if ((void *)(tag + 1) > end)
			return 0;
		proto = tag->proto;
		at = tag + 1;
	}
	if (proto == bpf_htons(ETH_P_IP)) {
		struct iphdr *ip = at;

		if ((void *)(ip + 1) > end || ip->ihl < 5 || ip->protocol != IPPROTO_UDP)
			return 0;
		at += ip->ihl * 4;
	} else if (proto == bpf_htons(ETH_P_IPV6)) {
		struct ipv6hdr *ip = at;

		if ((void *)(ip + 1) > end || ip->nexthdr != IPPROTO_UDP)
			return 0;
		at = ip + 1;
	} else {
		return 0;
	}
	udp = at;
	if ((void *)(udp + 1) > end)
		return 0;
	return bpf_ntohs(udp->dest);
}

static __always_inline void count(struct xdp_md *ctx, __u32 key)
{
	__u64 *counter = bpf_map_lookup_elem(&counters, &key);

	if (counter) {
		counter[0]++;
		counter[1] += ctx->data_end - ctx->data;
	}
}

SEC("xdp")
int base(struct xdp_md *ctx)
{
	count(ctx, parse(ctx) != 0);
	return XDP_DROP;
}

SEC("xdp")
int bare(struct xdp_md *ctx)
{
	/* Whoever parses does something with it. */
	return parse(ctx) == 7 ? XDP_DROP : XDP_PASS;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
