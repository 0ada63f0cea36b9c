// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * floodgen.bpf.c - give the frame the next source and send it out of a veth.
 *
 * Run by BPF_PROG_TEST_RUN with live frames: the kernel makes the frames, this
 * program is their author, and XDP_REDIRECT puts them on the wire.
 */
#include <linux/bpf.h>
#include <linux/types.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_endian.h>

#include "flood.h"

const volatile struct flood_plan plan;
__u32 sequence;

SEC("xdp")
int floodgen(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data;
	void *end = (void *)(long)ctx->data_end;
	__u32 word_at = plan.word_at & 0xff, udp_at = plan.udp_at & 0xff;
	__u32 ip_sum_at = plan.ip_sum_at & 0xff;
	struct flood_source source;

	if (data + word_at + 4 > end || data + udp_at + 8 > end ||
	    data + ip_sum_at + 2 > end)
		return XDP_ABORTED;
	for (int i = 0; i < FLOOD_HEAD && data + i + 2 <= end; i += 2)
		*(__u16 *)(data + i) = *(const volatile __u16 *)&plan.head[i];
	if (plan.size & 1 && plan.size <= FLOOD_HEAD && data + plan.size <= end)
		*(__u8 *)(data + plan.size - 1) =
			plan.head[(plan.size - 1) & (FLOOD_HEAD - 1)];
	source = flood_source(&plan, sequence++);
	*(__u32 *)(data + word_at) = bpf_htonl(source.word);
	if (ip_sum_at)
		*(__u16 *)(data + ip_sum_at) = bpf_htons(source.ip_check);
	*(__u16 *)(data + udp_at) = bpf_htons(source.port);
	*(__u16 *)(data + udp_at + 6) = bpf_htons(source.udp_check);
	return bpf_redirect(plan.ifindex, 0);
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
