/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * floor.h - the least that a filter does: find the UDP port behind tags, IPv4 options or
 * an IPv6 header, and count per CPU.
 */
#ifndef FLOOR_H
#define FLOOR_H

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, __u64[2]);
} counters SEC(".maps");

struct tag {
	__be16 tci;
	__be16 proto;
};

/* The UDP destination port of the frame from @at to @end; 0: none. */
static __always_inline __u16 parse(void *at, void *end)
{
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

/* For both kinds of context, which say where the frame is alike. */
#define PARSE(ctx) parse((void *)(long)(ctx)->data, (void *)(long)(ctx)->data_end)

static __always_inline void count(struct xdp_md *ctx, __u32 key)
{
	__u64 *counter = bpf_map_lookup_elem(&counters, &key);

	if (counter) {
		counter[0]++;
		counter[1] += ctx->data_end - ctx->data;
	}
}

#endif /* FLOOR_H */
