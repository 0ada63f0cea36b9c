// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * drop.bpf.c - the fastest that anything at this hook can be.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

SEC("xdp")
int drop(struct xdp_md *ctx)
{
	(void)ctx;
	return XDP_DROP;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
