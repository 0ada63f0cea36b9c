// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * floor.bpf.c - the floor of bench.bpf.c by itself, to be attached.
 */
#include "floor.h"

SEC("xdp")
int base(struct xdp_md *ctx)
{
	count(ctx, PARSE(ctx) != 0);
	return XDP_DROP;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
