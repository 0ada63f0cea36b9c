/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * coalesced.bpf.h - many datagrams in one buffer, which shield() has taken for one.
 *
 * In generic mode the program at the interface comes behind whatever joins datagrams
 * (generic receive offload of UDP where it is on, a neighbour's segmentation offload
 * across a veth, tap or virtio link), and sees nothing of it; TC does. Nobody plays that
 * way, and what the others would have been judged to be cannot be made up for here: all
 * of it is dropped, as what no engine sends. It has been counted before as the one
 * datagram that it looked like.
 */
#ifndef COALESCED_BPF_H
#define COALESCED_BPF_H

#include <linux/pkt_cls.h>

#include "ratelimit.bpf.h"

SEC("tc")
int shield_joined(struct __sk_buff *ctx)
{
	struct packet packet = { 0 };
	const struct service *service;
	struct counter_row *row = NULL;
	void *data, *data_end;
	struct live *l = &live;
	struct counter *counter;
	__u32 slot = 0;
	__u8 policy;

	if (likely(!ctx->gso_size))
		return TC_ACT_UNSPEC;
	if (ctx->data_end - ctx->data < PULL_BYTES &&
	    ctx->data_end - ctx->data < ctx->len)
		bpf_skb_pull_data(ctx, ctx->len < PULL_BYTES ? ctx->len : PULL_BYTES);
	data = (void *)(long)ctx->data;
	data_end = (void *)(long)ctx->data_end;
	if (packet_parse(data, data_end, ctx->len, RECEIVER, &packet) != PARSED)
		return TC_ACT_UNSPEC;
	packet.start = (void *)(long)*(volatile __u32 *)&ctx->data; /* see shield() */
	packet_verifier_forget(&packet, ctx->len);
	service = service_find(l, tables_now(l), &packet, RECEIVER, &slot);
	if (!service || packet.length <= ctx->gso_size)
		return TC_ACT_UNSPEC;

	policy = service->policy[CLASS_MALFORMED - CLASS_BUDGETS];
	if (policy == POLICY_PASS ||
	    acl_lookup(l, slot, &packet, SENDER) == ACL_UNLIMITED)
		return TC_ACT_UNSPEC;
	counter =
		counter_find(slot, DIRECTION_C2S, KIND_COALESCED, REASON_MALFORMED, &row);
	if (counter)
		count(counter, ctx->len);
	return service->observe ? TC_ACT_UNSPEC : TC_ACT_SHOT;
}

#endif /* COALESCED_BPF_H */
