// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * shield.bpf.c - the program at the interface: packet -> service -> classify -> admit ->
 * count. Read this file first; the server's own side of it is egress.bpf.h.
 *
 * Traffic that is not addressed to a configured service, or that we fail to understand
 * below UDP, is passed unchanged: the shield never breaks a network that it was not asked
 * to protect. The one exception, counted as long-chain, is a frame with more VLAN tags
 * or IPv6 extension headers than the standards allow: behind them anything could hide.
 * While all services only observe, that passes too.
 */
#include "admit.bpf.h"
#include "ledger.bpf.h"
#include "short.bpf.h"

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

static __always_inline int count_other(const struct tables *tab, enum other other,
				       __u64 bytes)
{
	__u32 key = other;
	struct tally *t = bpf_map_lookup_elem(&others, &key);

	if (t) {
		t->packets++;
		t->bytes += bytes;
	}
	return other == OTHER_LONG_CHAIN && !tab->observe ? XDP_DROP : XDP_PASS;
}

/* Of what plain_fits(); false: not ours. */
static __always_inline bool find_plain(const struct live *l, const struct tables *tab,
				       const struct plain *plain, struct packet *p,
				       struct found *ret)
{
	ret->slot = port_word(tab, p) - 1;
	ret->service = service_at(tab, &ret->slot);
	if (unlikely(!ret->service)) { /* the address matters, too */
		plain_packet(plain, p);
		ret->service = service_find(l, tab, p, RECEIVER, &ret->slot);
	}
	if (!ret->service)
		return false;
	ret->kind = KIND_COUNT;
	return true;
}

static __always_inline int find_odd(const struct live *l, const struct tables *tab,
				    __u64 bytes, struct packet *p, struct found *ret)
{
	enum other other = parse_odd(bytes, RECEIVER, p);

	if (other != PARSED)
		return other;
	ret->service = service_find(l, tab, p, RECEIVER, &ret->slot);
	if (!ret->service)
		return OTHER_NOT_OURS;
	ret->kind = p->whole == FIRST_FRAGMENT ? KIND_FRAGMENT
		    : p->whole == BAD_LENGTH   ? KIND_BAD_LENGTH
					       : KIND_COUNT;
	return PARSED;
}

/* Judge, count and perhaps show to the daemon what the short way did not refuse. */
static __always_inline int judge(struct xdp_md *ctx, struct live *l,
				 const struct found *f, const struct packet *p,
				 __u64 bytes)
{
	bool followed = false;
	enum reason reason = admit(l, f->slot, f->service, f->kind, p, &followed);
	struct tally_row *row = NULL;
	struct tally *tally = tally_find(f->slot, DIRECTION_C2S, f->kind, reason, &row);
	__u64 counted;

	if (!tally)
		return XDP_PASS;
	counted = count(tally, bytes);
	if (l->sampling.any)
		sample_maybe(ctx, l, f->service,
			     SAMPLE_WHAT(f->slot, f->kind, reason, DIRECTION_C2S, 0),
			     followed, counted, bytes);
	/* The header of a first fragment counts what is not in this frame. */
	if (reason != REASON_PLAYER)
		count_stranger(row, f->kind == KIND_FRAGMENT ? 0 : p->length, bytes);
	if (!f->service->observe && reason_verdict(reason) == VERDICT_DROP)
		return XDP_DROP;
	if (reason != REASON_PLAYER)
		ledger_credit(l, f->slot, f->kind, p, bytes);
	return XDP_PASS;
}

SEC("xdp")
int shield(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data;
	void *data_end = (void *)(long)ctx->data_end;
	__u64 bytes = data_end - data;
	struct live *l = &live;
	const struct tables *tab = tables_now(l);
	struct found found;
	struct packet packet;
	struct plain plain;
	int other, action;

	packet_begin(data, data_end, &packet);
	other = parse_plain(RECEIVER, &packet, &plain);
	if (other == PARSED && !port_word(tab, &packet))
		return count_other(tab, OTHER_NOT_OURS, bytes);
	if (likely(other == PARSED && plain_fits(bytes, &plain, &packet))) {
		if (!find_plain(l, tab, &plain, &packet, &found))
			return count_other(tab, OTHER_NOT_OURS, bytes);
		if (likely(short_way(ctx, l, &found, &packet, &plain, bytes, &action)))
			return action;
		plain_packet(&plain, &packet);
	} else {
		if (other == PARSED || other == PLAIN_MORE)
			other = find_odd(l, tab, bytes, &packet, &found);
		if (other != PARSED)
			return count_other(tab, other, bytes);
	}

	/* Loaded again: nothing is known of them, whichever way we came. */
	packet.start = (void *)(long)*(volatile __u32 *)&ctx->data;
	packet.end = (void *)(long)*(volatile __u32 *)&ctx->data_end;
	bytes = packet.end - packet.start;
	packet_forget(&packet, bytes);
	found.kind = forget(found.kind, bytes);
	if (found.kind == KIND_COUNT)
		found.kind = classify_packet(ctx, found.service->family, &packet);
	return judge(ctx, l, &found, &packet, bytes);
}

#include "egress.bpf.h"
#include "joined.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";
