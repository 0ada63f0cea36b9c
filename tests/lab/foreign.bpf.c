// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * foreign.bpf.c - somebody else's XDP program, which the shield must never replace.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

SEC("xdp")
int foreign(struct xdp_md *ctx)
{
	(void)ctx;
	return XDP_PASS;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
