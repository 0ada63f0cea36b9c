/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * coalesced.bpf.h - drop a buffer of several datagrams, which shield() took for one. The
 * TC ingress program behind shield() in generic mode.
 *
 * In generic mode shield() runs after whatever coalesces datagrams (UDP GRO where it is
 * on, a neighbour's segmentation offload across a veth, tap or virtio link), and does not
 * see it; TC does. No player's client sends that way, and shield() cannot decide about
 * the datagrams after the first any more. So the whole buffer is dropped as malformed,
 * unless the policy `pass` of the class or an `unlimited` entry passes it; the policy
 * `limit` drops it too, since no limit is charged here. shield() has already counted it
 * as one datagram and as one frame on the wire (volume_complete()). A datagram that a
 * virtual machine left whole for UDP fragmentation offload has a gso_size too, and is
 * dropped: no game's client sends one that long.
 */
#ifndef COALESCED_BPF_H
#define COALESCED_BPF_H

#include "egress.bpf.h"
#include "ratelimit.bpf.h"

/*
 * Decide about a buffer that comes in by an interface in generic mode. gso_size 0: it is
 * one datagram, which passes. Called by the kernel at TC ingress of an interface in
 * generic mode, for each frame that shield() passed. A datagram that is not coalesced
 * must cost one comparison. It must drop no datagram that shield() passed alone, and
 * charge no limit.
 */
SEC("tc")
int shield_joined(struct __sk_buff *ctx)
{
	struct packet packet = { 0 };
	const struct service *service;
	struct counter_row *row = NULL;
	struct live *l = &live;
	__u64 *counter;
	__u32 slot = 0, key;
	__u8 policy;

	if (likely(!ctx->gso_size))
		return TC_ACT_UNSPEC;
	if (tc_parse(ctx, RECEIVER, &packet) != PARSED)
		return TC_ACT_UNSPEC;
	service = service_find(l, tables_now(l), &packet, RECEIVER, &slot);
	if (!service || packet.length <= ctx->gso_size)
		return TC_ACT_UNSPEC;

	policy = service->policy[CLASS_MALFORMED - CLASS_BUDGETS];
	if (policy == POLICY_PASS ||
	    acl_lookup(l, slot, &packet, SENDER) == ACL_UNLIMITED)
		return TC_ACT_UNSPEC;
	counter = counter_at(slot, COUNTER_IN(MALFORMED, KIND_COALESCED), &row, &key);
	if (counter)
		count(counter, &key, ctx->len);
	return service->observe ? TC_ACT_UNSPEC : TC_ACT_SHOT;
}

#endif /* COALESCED_BPF_H */
