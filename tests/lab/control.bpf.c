// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * control.bpf.c - as little as can stop a flood: drop what goes to UDP port 9, pass the
 * rest. What players lose behind this, they lose to a busy machine, not to a shield.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/udp.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

SEC("xdp")
int control(struct xdp_md *ctx)
{
	const struct ethhdr *eth = (void *)(long)ctx->data;
	const struct iphdr *ip = (const void *)(eth + 1);
	const struct udphdr *udp = (const void *)(ip + 1);

	if ((void *)(udp + 1) > (void *)(long)ctx->data_end ||
	    eth->h_proto != bpf_htons(ETH_P_IP) || ip->protocol != IPPROTO_UDP)
		return XDP_PASS;
	return udp->dest == bpf_htons(9) ? XDP_DROP : XDP_PASS;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
