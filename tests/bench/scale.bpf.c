// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * scale.bpf.c - the wrapper of scale.c, and the floor that the shield is compared with.
 *
 * lane() writes the next frame of this processor, whole, since the program before may
 * have answered in its place, and jumps to the candidate. Processors share the code and
 * the program array, which they only read. drop() is the price of the wrapper alone, and
 * base() the floor of bench.bpf.c.
 */
#include <linux/bpf.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "floor.h"
#include "lanes.h"

/* By the number of the processor. */
struct lane lanes[LANES];

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} candidate SEC(".maps");

SEC("xdp")
int lane(struct xdp_md *ctx)
{
	struct lane *lane = &lanes[bpf_get_smp_processor_id() & (LANES - 1)];
	int more = LANE_FRAME - (int)(ctx->data_end - ctx->data);
	struct flow *flow = &lane->flows[0];
	__u32 *number;
	__u64 *at;

	if (more && bpf_xdp_adjust_tail(ctx, more))
		return XDP_ABORTED;
	at = (void *)(long)ctx->data;
	if ((void *)(at + LANE_FRAME / 8) > (void *)(long)ctx->data_end)
		return XDP_ABORTED;
	if (!(++lane->turn & lane->mixed))
		flow = &lane->flows[1];
	for (int i = 0; i < LANE_FRAME / 8; i++)
		at[i] = *(volatile __u64 *)&flow->frame[i];
	/* All numbers come once, in no order that a cache or a prefetcher likes. */
	lane->random = lane->random * 1664525 + 1013904223;
	*(__u32 *)((void *)at + LANE_SOURCE) =
		flow->fixed | bpf_htonl(lane->random >> 8 & flow->mask);
	number = (void *)at + (flow->number_at & 0x7f);
	if ((void *)(number + 1) > (void *)(long)ctx->data_end)
		return XDP_ABORTED;
	*number = ++flow->sent;
	bpf_tail_call(ctx, &candidate, 0);
	return XDP_ABORTED;
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

char LICENSE[] SEC("license") = "Dual BSD/GPL";
