// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * shield.bpf.c - the program at the interface: packet -> service -> classify -> admit ->
 * count. Read this file first; the server's own side of it is egress.bpf.h.
 *
 * Traffic that is not addressed to a configured service, or that we fail to understand
 * below UDP, is passed unchanged: the shield never breaks a network that it was not asked
 * to protect. The one exception, counted as too-many-headers, is a frame with more VLAN
 * tags or IPv6 extension headers than the standards allow: behind them anything could
 * hide. While all services only observe, that passes too.
 */
#include "connects.bpf.h"
#include "fastpath.bpf.h"

static __always_inline int count_other(const struct tables *tab, enum other other,
				       __u64 bytes)
{
	__u32 key = other;
	struct counter *t = bpf_map_lookup_elem(&others, &key);

	if (t) {
		t->packets++;
		t->bytes += bytes;
	}
	return other == OTHER_TOO_MANY_HEADERS && !tab->observe ? XDP_DROP : XDP_PASS;
}

/* Count it, and perhaps show it to the daemon. False: it cannot be. */
static __always_inline bool count_decision(struct xdp_md *ctx, struct live *l,
					   const struct target *f, const struct packet *p,
					   __u64 bytes, enum reason reason, bool followed)
{
	struct counter_row *row = NULL;
	struct counter *counter =
		counter_find(f->slot, DIRECTION_C2S, f->kind, reason, &row);
	__u64 counted;

	if (!counter)
		return false;
	counted = count(counter, bytes);
	if (refused_turn(l->sampling.phase, counted) &&
	    (reason_verdict(reason) == VERDICT_DROP || reason == REASON_CHALLENGED))
		refused_note(address_net(p, SENDER),
			     REFUSED_WHAT(f->slot, service_class(f->service, f->kind),
					  reason, p->ipv6));
	if (l->sampling.any)
		sample_maybe(ctx, l, f->service,
			     SAMPLE_WHAT(f->slot, f->kind, reason, DIRECTION_C2S, 0),
			     followed, counted, bytes);
	/* The header of a first fragment counts what is not in this frame. */
	if (reason != REASON_PLAYER)
		count_unverified(row, f->kind == KIND_FRAGMENT ? 0 : p->length, bytes);
	return true;
}

/* It goes on to the server: that is paid for, and what it says is noted. */
static __always_inline void decision_passed(struct xdp_md *ctx, struct live *l,
					    const struct target *f,
					    const struct packet *p, __u64 bytes,
					    enum reason reason)
{
	if (reason != REASON_PLAYER)
		amplification_credit(l, p, bytes);
	else if (f->kind == KIND_NQ_UNRELIABLE)
		amplification_credit_move(l, p, bytes);
	if (f->kind == KIND_CONNECT && family_is_little(f->service->family))
		connect_note(ctx, f->slot, f->service->family, p);
}

/* Judge what the short way did not refuse. */
static __always_inline int decide(struct xdp_md *ctx, struct live *l,
				  const struct target *f, const struct packet *p,
				  __u64 bytes)
{
	bool followed = false;
	enum reason reason = admit(l, f->slot, f->service, f->kind, p, &followed);

	if (!count_decision(ctx, l, f, p, bytes, reason, followed))
		return XDP_PASS;
	if (!f->service->observe && reason_verdict(reason) == VERDICT_DROP)
		return XDP_DROP;
	decision_passed(ctx, l, f, p, bytes, reason);
	return XDP_PASS;
}

/*
 * Where the address matters, too: the slot of the service that a frame is for, the number
 * of its port being @port, its receiver's address @to octets into it; or -1.
 */
__noinline int exact_slot(struct xdp_md *ctx, __u32 port, __u32 to, __u32 ipv6)
{
	struct packet p = { .addresses = to & OFFSET_MASK,
			    .server_port = port & 0xffff,
			    .ipv6 = ipv6 & 1 };
	struct live *l = &live;

	packet_begin((void *)(long)ctx->data, (void *)(long)ctx->data_end, &p);
	return (int)port_lookup(l, tables_now(l), &p, SENDER) - 1;
}

/* Of what plain_fits(); false: not ours. */
static __always_inline bool target_plain(struct xdp_md *ctx, const struct tables *tab,
					 const struct plain *plain,
					 const struct packet *p, struct target *ret)
{
	ret->slot = port_word(tab, p) - 1;
	ret->service = service_at(tab, &ret->slot);
	if (likely(ret->service))
		return true;
	ret->slot = exact_slot(ctx, p->server_port, 30 + 8 * plain_ipv6(plain),
			       plain_ipv6(plain));
	ret->service = service_at(tab, &ret->slot);
	return ret->service;
}

/*
 * parse_encapsulated(), walked once by the verifier, with all registers for itself:
 * ENCAPSULATED(), or below zero what parse_headers_other() says.
 */
__noinline int parse_headers(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data;
	void *data_end = (void *)(long)ctx->data_end;
	struct packet p;
	int other;

	packet_begin(data, data_end, &p);
	other = parse_encapsulated(data_end - data, RECEIVER, true, &p);
	if (other != PARSED)
		return -1 - other;
	return ENCAPSULATED(p.payload - (__u32)sizeof(struct udphdr), p.addresses, p.ipv6,
			    p.whole);
}

static __always_inline enum other parse_headers_other(int encapsulated)
{
	return -1 - encapsulated;
}

/* Of what encapsulated_plain() has looked at; false: not ours. */
static __always_inline bool target_encapsulated(struct xdp_md *ctx,
						const struct tables *tab,
						const struct packet *p,
						struct target *ret)
{
	ret->slot = port_word(tab, p) - 1;
	if (unlikely(ret->slot >= 0xffff))
		ret->slot = exact_slot(ctx, p->server_port,
				       p->addresses + (p->ipv6 ? 16 : 4), p->ipv6);
	ret->service = service_at(tab, &ret->slot);
	return ret->service;
}

/* The kind of what is at @p's payload, all of it. */
static __always_inline enum wire_kind kind_at(struct xdp_md *ctx, enum wire_family family,
					      const struct packet *p)
{
	if (is_marked(packet_payload(p), p->length))
		return classify_text_at(ctx, family, p->payload, p->length);
	return classify_game_at(ctx, family, p->payload, p->length);
}

/* A datagram, whatever is wrapped around it, and what it is. PATH_SLOW, or what to do. */
static __always_inline int target_find(struct xdp_md *ctx, struct packet *p,
				       struct target *ret)
{
	const struct tables *tab = tables_now(&live);
	int encapsulated = parse_headers(ctx);
	void *data = (void *)(long)ctx->data;
	void *data_end = (void *)(long)ctx->data_end;
	__u64 bytes = data_end - data;
	struct plain plain;

	if (encapsulated < 0)
		return count_other(tab, parse_headers_other(encapsulated), bytes);
	packet_begin(data, data_end, p);
	if (!encapsulated_plain(encapsulated, p, &plain) ||
	    !target_encapsulated(ctx, tab, p, ret))
		return count_other(tab, OTHER_NO_SERVICE, bytes);
	ret->kind = p->whole == FIRST_FRAGMENT ? KIND_FRAGMENT
		    : p->whole == BAD_LENGTH   ? KIND_BAD_LENGTH
					       : kind_at(ctx, ret->service->family, p);
	return PATH_SLOW;
}

/*
 * All of it, whatever is wrapped around the datagram, and whatever it is; @whole: what
 * has to do with proof or may be answered from here, too.
 */
__noinline int slow_path(struct xdp_md *ctx, __u32 whole)
{
	struct packet packet = { 0 };
	struct target target;
	int action = target_find(ctx, &packet, &target);

	if (action != PATH_SLOW)
		return action;
	if (!whole && (cacheable(target.service, target.kind) ||
		       validation_applies(target.service, target.kind))) {
		tail_ctx_store(TAIL_CTX(target.slot, target.kind, packet.length),
			       packet_offsets(&packet));
		return cacheable(target.service, target.kind) ? PATH_CACHE
							      : PATH_VALIDATE;
	}
	return decide(ctx, &live, &target, &packet, packet.end - packet.start);
}

/* What parse_plain() leaves, whatever is wrapped around the datagram. */
__noinline int encapsulated_path(struct xdp_md *ctx)
{
	__u64 jiffies = bpf_jiffies64();
	struct live *l = &live;
	const struct tables *tab = tables_now(l);
	int encapsulated = parse_headers(ctx), action;
	void *data = (void *)(long)ctx->data;
	void *data_end = (void *)(long)ctx->data_end;
	__u64 bytes = data_end - data;
	struct packet packet;
	struct target target;
	struct plain plain;

	if (encapsulated < 0)
		return count_other(tab, parse_headers_other(encapsulated), bytes);
	packet_begin(data, data_end, &packet);
	if (!encapsulated_plain(encapsulated, &packet, &plain))
		return PATH_SLOW;
	if (!target_encapsulated(ctx, tab, &packet, &target))
		return count_other(tab, OTHER_NO_SERVICE, bytes);
	return likely(fast_path(ctx, l, &target, &packet, &plain, bytes, jiffies,
				&action))
		       ? action
		       : PATH_SLOW;
}

/* What parse_plain() is content with: most of what arrives. */
static __always_inline int plain_path(struct xdp_md *ctx, bool truncated)
{
	__u64 jiffies = bpf_jiffies64();
	void *data = (void *)(long)ctx->data;
	void *data_end = (void *)(long)ctx->data_end;
	__u64 bytes = data_end - data;
	struct live *l = &live;
	const struct tables *tab = tables_now(l);
	struct target target;
	struct packet packet;
	struct plain plain;
	int other, action;

	packet_begin(data, data_end, &packet);
	other = parse_plain(RECEIVER, truncated, &packet, &plain);
	if (other == PARSED && !port_word(tab, &packet))
		return count_other(tab, OTHER_NO_SERVICE, bytes);
	if (likely(other == PARSED && plain_fits(bytes, &plain, &packet))) {
		if (!target_plain(ctx, tab, &plain, &packet, &target))
			return count_other(tab, OTHER_NO_SERVICE, bytes);
		if (likely(fast_path(ctx, l, &target, &packet, &plain, bytes, jiffies,
				     &action)))
			return action;
		return PATH_SLOW;
	}
	if (other != PARSED && other != PLAIN_MORE)
		return count_other(tab, other, bytes);
	return PATH_ENCAPSULATED;
}

/* IPv6 with so little in it that there is not all that the shortest way looks at. */
__noinline int truncated_path(struct xdp_md *ctx)
{
	return plain_path(ctx, true);
}

static __always_inline bool is_truncated(const __u8 *at, const __u8 *end)
{
	return at + PLAIN_IPV6 + PLAIN_LEAST > end && at + PLAIN_IPV4 <= end &&
	       *(const __be16 *)(at + 12) == bpf_htons(ETH_P_IPV6);
}

SEC("xdp")
int shield(struct xdp_md *ctx)
{
	int action = plain_path(ctx, false);

	if (likely(action >= 0))
		return action;
	if (action == PATH_ENCAPSULATED &&
	    is_truncated((void *)(long)ctx->data, (void *)(long)ctx->data_end))
		action = truncated_path(ctx);
	if (action == PATH_ENCAPSULATED)
		action = encapsulated_path(ctx);
	if (action == PATH_SLOW)
		action = slow_path(ctx, false);
	if (action == PATH_CACHE)
		bpf_tail_call(ctx, &tail_calls, TAIL_CALL_CACHE);
	else if (action == PATH_VALIDATE)
		bpf_tail_call(ctx, &tail_calls, TAIL_CALL_VALIDATE);
	else
		return action;
	/* The program is not there: as if there were no proof, and no answers. */
	tail_ctx_store(0, 0);
	return slow_path(ctx, true);
}

#include "response_cache.bpf.h"
#include "egress.bpf.h"
#include "coalesced.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";
