// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * shield.bpf.c - the program at the interface: packet -> service -> classify -> admit ->
 * count. Read this file first; the server's own side of it is egress.bpf.h.
 *
 * Traffic that is not addressed to a configured service, or that we fail to understand
 * below UDP, is passed unchanged: the shield never breaks a network that it was not asked
 * to protect. The one exception, counted as long-chain, is a frame with more VLAN tags
 * or IPv6 extension headers than the standards allow: behind them anything could hide.
 */
#include "admit.bpf.h"
#include "ledger.bpf.h"
#include "sample.bpf.h"

/*
 * The kind of the datagram @length octets long at @offset of the frame. A function of its
 * own, so that the verifier walks its many paths once and not once for each way to wrap
 * a datagram.
 */
__noinline int classify_at(struct xdp_md *ctx, __u32 family, __u32 offset, __u32 length)
{
	struct cursor c = {
		.pos = (void *)(long)ctx->data,
		.end = (void *)(long)ctx->data_end,
	};

	if (!cursor_take(&c, offset & OFFSET_MASK))
		return KIND_MALFORMED;
	return classify(family, DIRECTION_C2S, c, length & 0xffff);
}

static __always_inline enum wire_kind
classify_packet(struct xdp_md *ctx, enum wire_family family, const struct packet *p)
{
	enum wire_kind kind = classify_fast(packet_payload(p), p->length);

	/* One unknown number for the verifier, instead of one path for each word. */
	if (kind != KIND_COUNT)
		return forget(kind, p->length);
	return classify_at(ctx, family, p->payload, p->length);
}

static __always_inline int count_other(enum other other, __u64 bytes)
{
	__u32 key = other;
	struct tally *t = bpf_map_lookup_elem(&others, &key);

	if (t) {
		t->packets++;
		t->bytes += bytes;
	}
	return other == OTHER_LONG_CHAIN ? XDP_DROP : XDP_PASS;
}

/* SAMPLER_COUNT: the daemon does not get to see it. */
static __always_inline enum sampler sampler_in(const struct live *l,
					       const struct service *s,
					       enum wire_kind kind, enum reason reason,
					       bool followed, __u64 counted)
{
	enum wire_class class;

	if (followed)
		return SAMPLER_FOLLOW;
	/* Who will be followed is not known yet, so all handshakes that pass are seen. */
	if (follows(l) && reason == REASON_WITHIN_BUDGET) {
		class = wire_class(s->family, kind);
		if (class == CLASS_CHALLENGE || class == CLASS_CONNECT)
			return SAMPLER_FOLLOW;
	}
	return sample_statistic(l, counted) ? SAMPLER_STATISTIC : SAMPLER_COUNT;
}

SEC("xdp")
int shield(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data;
	void *data_end = (void *)(long)ctx->data_end;
	__u64 bytes = data_end - data;
	__u64 counted;
	struct packet packet;
	struct service *service;
	enum wire_kind kind;
	enum reason reason;
	enum other other;
	enum sampler sampler;
	bool followed = false;
	struct tallies *t;
	struct live *l;
	__u32 zero = 0;
	__u32 slot = 0;

	other = packet_parse(data, data_end, bytes, &packet);
	if (other != PARSED)
		return count_other(other, bytes);
	/* Loaded again: nothing is known of it, whichever way we came. */
	packet.start = (void *)(long)*(volatile __u32 *)&ctx->data;
	l = bpf_map_lookup_elem(&live, &zero);
	service = l ? service_find(l, &packet, RECEIVER, packet.dport, &slot) : NULL;
	if (!service)
		return count_other(OTHER_NOT_OURS, bytes);

	if (packet.first_fragment)
		kind = KIND_FRAGMENT;
	else if (packet.bad_length)
		kind = KIND_BAD_LENGTH;
	else
		kind = classify_packet(ctx, service->family, &packet);

	reason = admit(l, slot, service, kind, &packet, &followed);
	t = bpf_map_lookup_elem(&tallies, &slot);
	if (!t)
		return XDP_PASS;
	counted = count(t, kind, reason, bytes);
	if (l->sampling.any) {
		sampler = sampler_in(l, service, kind, reason, followed, counted);
		if (sampler != SAMPLER_COUNT)
			sample_in(ctx,
				  SAMPLE_WHAT(slot, kind, reason, DIRECTION_C2S, sampler),
				  bytes);
	}
	if (reason != REASON_PLAYER)
		count_stranger(t, packet.first_fragment ? 0 : packet.length, bytes);
	if (!service->observe && reason_verdict(reason) == VERDICT_DROP)
		return XDP_DROP;
	if (reason != REASON_PLAYER)
		ledger_credit(l, slot, kind, &packet, bytes);
	return XDP_PASS;
}

#include "egress.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";
