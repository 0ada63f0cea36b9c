// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * shield.bpf.c - the program at the interface's ingress: parse -> service -> classify ->
 * decide -> count. Read this file first; the server's side is egress.bpf.h.
 *
 * A frame takes one of these paths:
 *
 * - plain_path(): plain frames, which is most traffic. fast_path() decides about floods
 *   and about a player's next datagram.
 * - truncated_path(): the same for IPv6 frames with fewer bytes than plain_path() reads.
 * - encapsulated_path(): frames with tags, options, extension headers or fragments; then
 *   fast_path() too.
 * - slow_path(): what fast_path() leaves undecided. It is the reference: the fast path
 *   must return the same (tests/kern/kern_ways.c).
 * - a tail call to shield_validate() or shield_cache(): datagrams that take part in
 *   address validation, and queries that may be served from the cache. If the program is
 *   missing, slow_path() decides without both.
 *
 * Traffic for no configured service, or that is not understood below UDP, is passed
 * unchanged. One exception, counted as too-many-headers: a frame with more VLAN tags or
 * IPv6 extension headers than the standards allow is dropped, since anything could hide
 * after them. While all services only observe, it passes too.
 */
#include "connects.bpf.h"
#include "fastpath.bpf.h"

/*
 * Count a frame of @bytes that is no datagram to a service. Returns what to do with it.
 * Called by plain_path(), encapsulated_path() and target_find(), once per frame. Only
 * OTHER_TOO_MANY_HEADERS may drop, as the verdicts of ABI_OTHERS say.
 */
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

/*
 * Count a datagram that is decided for @reason, and perhaps sample it. @followed: it is
 * of a followed player. False: there is no such counter; then the caller must pass the
 * frame or drop it without a count. Called at most once per datagram toward a server, by
 * decide(), decision_apply() and cache_count(). drop_in(), fast_path_player() and
 * count_challenged() must count and note the same on the fast path.
 */
static __always_inline bool count_decision(struct xdp_md *ctx, struct live *l,
					   const struct target *f, const struct packet *p,
					   __u64 bytes, enum reason reason, bool followed)
{
	struct counter_row *row = NULL;
	__u32 key, number = counter_number(DIRECTION_C2S, f->kind, reason);
	__u64 *counter = counter_at(f->slot, number, &row, &key), counted;

	if (!counter)
		return false;
	counted = count(counter, &key, bytes);
	if (refused_turn(l->sampling.phase, counted) &&
	    (reason_verdict(reason) == VERDICT_DROP || reason == REASON_CHALLENGED))
		refused_note(address_net(p, SENDER),
			     REFUSED_WHAT(f->slot, service_class(f->service, f->kind),
					  reason, p->ipv6));
	if (l->sampling.any)
		sample_maybe(ctx, l, f->service,
			     SAMPLE_WHAT(f->slot, f->kind, reason, DIRECTION_C2S, 0),
			     followed, counted, bytes);
	/* The UDP length of a first fragment counts bytes that are not in this frame. */
	if (reason != REASON_PLAYER)
		count_unverified(row, f->kind == KIND_FRAGMENT ? 0 : p->length, bytes);
	return true;
}

/*
 * Note that a datagram goes on to the server: credit its bytes to the prefix, and
 * remember what a connect says. Called by decide() and decision_apply() after
 * count_decision(), before the frame changes, for datagrams that pass alone, also if only
 * because the service observes: a credit for a dropped one could be spent on an
 * attacker's victim. fast_path_player() credits nothing: it must pass no move of an
 * unverified player, which netquake_match() sees to by PLAYER_SEQUENCE.
 */
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

/*
 * Decide about the datagram of @f by lists, players and limits. Returns XDP_PASS or
 * XDP_DROP. Called by slow_path() alone. A service that observes must drop nothing, and
 * count as if it did.
 */
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
 * Return the slot of the service that port_lookup() finds, or -1. @port: its number; @to:
 * offset of the receiver's address. Analysed once by the verifier. Called by
 * target_plain() and target_encapsulated(), if port_word() has flags or is 0. @to takes
 * the place of the sender's address here, so port_lookup() is called with SENDER.
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

/*
 * Find the service of a plain datagram after plain_fits(). False: no service is there.
 * Called by plain_path() alone. It must find what target_encapsulated() and
 * service_find() find. @ret->kind stays unset.
 */
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
 * parse_encapsulated() as a function that the verifier analyses once. Returns
 * ENCAPSULATED() for encapsulated_plain(), or below 0 what parse_headers_other() turns
 * into enum other. Called by target_find() for any frame, and by encapsulated_path(). The
 * result must not be below 0 for a datagram: ENCAPSULATED() leaves bit 31 free.
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

/*
 * Return why parse_headers() found no datagram; @encapsulated is below 0: -1 less enum
 * other. Called by target_find() and encapsulated_path().
 */
static __always_inline enum other parse_headers_other(int encapsulated)
{
	return -1 - encapsulated;
}

/*
 * Find the service of a datagram after encapsulated_plain(). False: no service is there.
 * Called by target_find() and encapsulated_path(). It must find what target_plain() and
 * service_find() find. @ret->kind stays unset.
 */
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

/*
 * Return the kind of the datagram @p, from all of its payload. Called by target_find()
 * alone. fast_path() must classify alike.
 */
static __always_inline enum wire_kind kind_at(struct xdp_md *ctx, enum wire_family family,
					      const struct packet *p)
{
	if (is_marked(packet_payload(p), p->length))
		return classify_text_at(ctx, family, p->payload, p->length);
	return classify_game_at(ctx, family, p->payload, p->length);
}

/*
 * Parse any frame and find its service and kind. Returns PATH_SLOW with *@p and *@ret
 * set, or what to do with a frame that is no datagram to a service; that one is counted.
 * Called by slow_path(), and by pkt_find() if there is no context. fast_path() must give
 * fragments and wrong lengths the same kinds.
 */
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
	/* So many are in the frame at least: packet_marked() compares the first 4. */
	if (p->whole == FIRST_FRAGMENT)
		p->length = FIRST_LEAST - sizeof(struct udphdr);
	ret->kind = has_payload(ret->service, p->whole)
			    ? kind_at(ctx, ret->service->family, p)
			    : kind_of_shape(p->whole);
	return PATH_SLOW;
}

/*
 * Decide about any frame, from its beginning. @whole: 0: return PATH_CACHE or
 * PATH_VALIDATE for a datagram of these, with its context stored for the tail call; else
 * decide about it too, as if validation and cache were off. Analysed once by the
 * verifier. Called by shield() alone: with @whole 0 for PATH_SLOW, and with @whole after
 * a tail call that failed. It must decide about any frame without help of the fast path.
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

/*
 * Decide about a frame for which plain_path() returned PATH_ENCAPSULATED. Returns what to
 * do, or PATH_*; a frame of PATH_* is not counted yet. Called by shield() alone.
 */
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

/*
 * Decide about a plain frame. @truncated: a constant, see parse_plain(). Returns what to
 * do, or PATH_*, and then has not counted the frame: PATH_ENCAPSULATED if it is not plain
 * or its lengths disagree. Called by shield(), and by truncated_path() with @truncated.
 * Traffic of no service must cost one look at the port.
 */
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

/*
 * plain_path() for an IPv6 frame that ends before the bytes that the fast path reads.
 * Called by shield() alone, after is_truncated().
 */
__noinline int truncated_path(struct xdp_md *ctx)
{
	return plain_path(ctx, true);
}

/*
 * Return true if the frame is IPv6 and too short for plain_path() without @truncated:
 * parse_plain() compares the same. Called by shield() alone, after plain_path() returned
 * PATH_ENCAPSULATED.
 */
static __always_inline bool is_truncated(const __u8 *at, const __u8 *end)
{
	return at + PLAIN_IPV6 + PLAIN_LEAST > end && at + PLAIN_IPV4 <= end &&
	       *(const __be16 *)(at + 12) == bpf_htons(ETH_P_IPV6);
}

/*
 * Decide about a frame at ingress. The kernel runs it on each frame of the interface; the
 * order of paths goes from the most common to the rarest. After a failed tail call
 * slow_path() must decide, so that a missing program opens nothing.
 */
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
	/* The program is missing: decide as if validation and cache were off. */
	tail_ctx_store(0, 0);
	return slow_path(ctx, true);
}

#include "response_cache.bpf.h"
#include "egress.bpf.h"
#include "coalesced.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";
