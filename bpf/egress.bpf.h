/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * egress.bpf.h - the program at TC egress: parse -> service (of the source) -> classify
 * -> players -> anti-amplification limit -> count.
 *
 * The counterpart of shield(). It enters players (conntrack_egress.bpf.h), and notes
 * challenges (server_challenge.bpf.h), host keys, game ports and the server's protocol.
 * Each datagram is charged to its receiver's prefix, and dropped if that has no allowance
 * left (REASON_AMPLIFICATION); nothing else is dropped. Exceptions: datagrams to a
 * verified player, a validated client's handshake (egress_charge()), and receivers on the
 * allow list, which have accounts of their own or none (egress_listed()).
 * A datagram from a socket of another user at the service's port passes and changes
 * nothing (REASON_OTHER_SOCKET).
 *
 * Frames that XDP_TX sends back do not pass here: count_sent() counts them.
 *
 * tc_parse() runs for each frame of the interface, the other functions for each
 * datagram of a service. A failure passes the datagram: only REASON_AMPLIFICATION of a
 * service that enforces may drop one, with its later fragments.
 */
#ifndef EGRESS_BPF_H
#define EGRESS_BPF_H

#include <linux/pkt_cls.h>

#include "reputation.bpf.h"
#include "conntrack_egress.bpf.h"
#include "detect.bpf.h"
#include "fragments.bpf.h"
#include "game_port.bpf.h"
#include "server_challenge.bpf.h"
#include "host_keys.bpf.h"

#define PULL_BYTES 128 /* bytes of headers and payload that are made readable */

/*
 * Return the kind of the payload at @offset, from the server. Analysed once by the
 * verifier. Called by detect_look(), and by shield_out(), which must call detect_kind()
 * next: that may replace the kind. The offset is masked and taken by cursor_take(), for
 * the verifier.
 */
__noinline int classify_out(struct __sk_buff *ctx, __u32 family, __u32 offset,
			    __u32 length)
{
	struct cursor c = {
		.pos = (void *)(long)ctx->data,
		.end = (void *)(long)ctx->data_end,
	};

	if (!cursor_take(&c, offset & OFFSET_MASK))
		return KIND_MALFORMED;
	return classify(family, DIRECTION_S2C, c, length & 0xffff);
}

/*
 * Return the bytes of the whole datagram in a frame of @frame bytes, even if this is its
 * first fragment. Called by shield_out() alone. It must not be less than what will leave
 * in all fragments: later fragments are not charged.
 */
static __always_inline __u64 datagram_bytes(const struct packet *p, __u64 frame)
{
	if (p->whole != FIRST_FRAGMENT)
		return frame;
	/* For each 1024 bytes at most one more set of headers. */
	return p->payload + p->length + (p->length >> 10) * 64;
}

/*
 * Return how many halves of the window (AMPLIFICATION_*) the receiver's prefix may be
 * ahead for a @kind of @marks. Neighbours of a known client have one half:
 * AMPLIFICATION_ASK, for which egress_charge() asks. Handshakes have both, and all of
 * NetQuake, until the address is verified. Called by egress_charge() alone. Only a block
 * for which netquake_signs_on() is true may return AMPLIFICATION_LEVEL.
 */
static __always_inline __u32 egress_shares(enum wire_kind kind, __u32 marks,
					   __u32 signs_on)
{
	if (signs_on)
		return AMPLIFICATION_LEVEL;
	if (marks & (KIND_HANDSHAKE | KIND_NETQUAKE) || kind == KIND_DTLS_CERTIFICATE)
		return AMPLIFICATION_WHOLE;
	return AMPLIFICATION_ASK;
}

/*
 * Return what the lists decide about a datagram of @bytes to its receiver, or
 * REASON_COUNT: nothing. An allowed receiver's own account is charged, except in strict
 * mode. @target, @offsets: TARGET(), OFFSETS(). Analysed once by the verifier. Called by
 * egress_charge() alone, if struct live.lists is not 0, before any other account is
 * charged. cache_charge() follows the same rule for cached responses: change both.
 */
__noinline int egress_listed(struct __sk_buff *ctx, __u64 target, __u64 offsets,
			     __u64 bytes)
{
	const struct live *l = &live;
	struct packet p = { .payload = offsets & OFFSET_MASK,
			    .addresses = offsets >> 16 & OFFSET_MASK,
			    .ipv6 = offsets >> 32 & 1 };
	enum acl_result listed;

	packet_begin((void *)(long)ctx->data, (void *)(long)ctx->data_end, &p);
	listed = acl_lookup(l, target >> 16 & 0xffff, &p, RECEIVER);
	if (listed == ACL_UNLIMITED)
		return REASON_EXEMPT;
	if (listed != ACL_ALLOWED || l->amplification.strict)
		return REASON_COUNT;
	return amplification_charge_allowed(l, &p, RECEIVER, bytes)
		       ? REASON_WITHIN_LIMITS
		       : REASON_AMPLIFICATION;
}

/*
 * Charge a datagram of @bytes that no rule before passed to the receiver's prefix, and
 * return the reason. A block of a NetQuake level, for which @signs_on is set, has an
 * account apart, one for all blocks to a prefix: acknowledgements can be made up.
 *
 * A neighbour of a known client may have the first half of the allowance alone. So the
 * receiver's reputation is looked up only for the second half. Called by egress_admit()
 * alone, last: a call charges at most once. The caller drops on REASON_AMPLIFICATION,
 * unless the service observes.
 */
static __always_inline enum reason egress_charge(struct __sk_buff *ctx,
						 const struct live *l, __u32 slot,
						 enum wire_kind kind, __u32 marks,
						 const struct packet *p, __u64 bytes,
						 __u32 signs_on)
{
	__u32 shares = egress_shares(kind, marks, signs_on), charged;
	enum reason reason;
	__u64 net, prefix;

	if (unlikely(l->lists)) {
		reason = egress_listed(ctx, TARGET(slot, kind), packet_offsets(p), bytes);
		if (reason != REASON_COUNT)
			return reason;
	}
	if (!l->amplification.byte_ns)
		return REASON_WITHIN_LIMITS;
	net = address_net(p, RECEIVER);
	prefix = amplification_key(net, p->ipv6) |
		 (shares == AMPLIFICATION_LEVEL ? AMPLIFICATION_SIGN_ON : 0);
	charged = amplification_charge_prefix(prefix, bytes, shares);
	if (unlikely(charged == AMPLIFICATION_BETWEEN))
		charged = reputation_reason(net, clock_now(l)) != REASON_CACHED_PREFIX &&
			  amplification_charge_prefix(prefix, bytes, AMPLIFICATION_WHOLE);
	return charged ? REASON_WITHIN_LIMITS : REASON_AMPLIFICATION;
}

/*
 * Sample a datagram from the server if one of the samplers takes it. @what: SAMPLE_WHAT()
 * without a sampler; @counted: of count(). Called by shield_out() alone, if struct
 * sampling.any is set, after all changes of the frame. sample_maybe() chooses at ingress.
 */
static __always_inline void sample_out_maybe(struct __sk_buff *ctx, const struct live *l,
					     __u64 what, bool followed, __u64 counted)
{
	enum wire_kind kind = (what >> 32) & 0xffff;

	if (followed || (follows(l) && kind_marks_of(kind) & KIND_HANDSHAKE))
		sample_out(ctx, what | SAMPLER_FOLLOW, ctx->len);
	else if (sample_statistic(l, counted))
		sample_out(ctx, what | SAMPLER_STATISTIC, ctx->len);
}

/*
 * Parse the frame, after making its first PULL_BYTES readable. @server: which end of the
 * datagram the server is. Returns as packet_parse(). Called by shield_out() and, at TC
 * ingress, by shield_joined(), first: pulling data invalidates pointers. All offsets are
 * forgotten, or the verifier explores the rest once per combination of headers.
 */
static __always_inline enum other tc_parse(struct __sk_buff *ctx, enum side server,
					   struct packet *ret)
{
	enum other other;

	if (ctx->data_end - ctx->data < PULL_BYTES &&
	    ctx->data_end - ctx->data < ctx->len)
		bpf_skb_pull_data(ctx, ctx->len < PULL_BYTES ? ctx->len : PULL_BYTES);
	other = packet_parse((void *)(long)ctx->data, (void *)(long)ctx->data_end,
			     ctx->len, server, ret);
	if (other != PARSED)
		return other;
	/*
	 * Loaded again, so that the verifier knows nothing of it, whichever path led
	 * here.
	 */
	ret->start = (void *)(long)*(volatile __u32 *)&ctx->data;
	packet_verifier_forget(ret, ctx->len);
	return PARSED;
}

/*
 * Return the offset in the payload of the number in a server's challenge of @kind; 0:
 * none that is noted. Called by egress_validated() alone. The offset must be below 64,
 * which decimal_at() masks it to.
 */
static __always_inline __u32 challenge_at(__u32 family, enum wire_kind kind)
{
	if (family == FAMILY_QUAKE3 && kind == KIND_CHALLENGERESPONSE)
		return 22;
	if (family == FAMILY_QUAKEWORLD && kind == KIND_S2C_CHALLENGE)
		return 5;
	return family == FAMILY_QUAKE2 && kind == KIND_CHALLENGE ? 14 : 0;
}

/*
 * Return nonzero if a datagram of @target is part of a handshake with a validated client,
 * which like QUIC after address validation is not charged. A server's challenge is noted,
 * so egress_admit() calls it for KIND_CHALLENGES without validation too. Analysed once by
 * the verifier. Called by egress_admit() alone, of KIND_HANDSHAKE, if player_confirm()
 * returned false. It must not return true for a client that the server alone has
 * challenged: VALIDATED_COOKIE decides.
 */
__noinline int egress_validated(struct __sk_buff *ctx, __u64 target, __u64 offsets,
				__u32 family)
{
	enum wire_kind kind = target & 0xffff;
	struct packet p = { .payload = offsets & OFFSET_MASK,
			    .addresses = offsets >> 16 & OFFSET_MASK,
			    .ipv6 = offsets >> 32 & 1 };
	__u32 slot = target >> 16 & 0xffff, number = 0, at = challenge_at(family, kind);
	bool challenges = kind_marks_of(kind) & KIND_CHALLENGES;
	struct player_id id;
	if (at)
		number = decimal_at(ctx, p.payload, at);
	packet_begin((void *)(long)ctx->data, (void *)(long)ctx->data_end, &p);
	packet_player(&p, RECEIVER, slot, &id);
	return server_challenge_note(id.word[0], id.word[1], id.word[2], challenges,
				     number);
}

/*
 * Note in struct detected a datagram that tells which protocol the server speaks. @shape:
 * as of detect_kind(). QuakeWorld's challenge, a `c` alone, is a word on its own services
 * only; elsewhere it is KIND_OOB_UNKNOWN and is classified again. Called by shield_out()
 * for each datagram of the server's own user. A datagram from a socket of another user
 * must not be noted.
 */
static __always_inline void detect_look(struct __sk_buff *ctx, __u32 slot, __u32 family,
					enum wire_kind kind, const struct packet *p,
					__u32 shape)
{
	if (kind == KIND_OOB_UNKNOWN) {
		kind = classify_out(ctx, FAMILY_QUAKEWORLD, p->payload, p->length);
		if (kind != KIND_S2C_CHALLENGE)
			return;
	}
	if (detect_tells(&live.detected[slot & (SERVICES_MAX - 1)], family, kind, shape))
		detect_reply(slot, family, kind, shape);
}

/*
 * Decide about the server's datagram @p of @bytes. Returns the reason:
 * REASON_AMPLIFICATION is to be dropped, unless the service observes. *@ret_followed,
 * *@ret_clock: as of player_confirm(). @kind: of detect_kind(); @marks: of @kind. Called
 * by shield_out() alone, not for the socket of another user. Keep the order: the player
 * first, the charge last, since only what no rule before it passes may be charged.
 */
static __always_inline enum reason egress_admit(struct __sk_buff *ctx, struct live *l,
						__u32 slot, const struct service *service,
						enum wire_kind kind, __u32 marks,
						const struct packet *p, __u64 bytes,
						bool *ret_followed, __u32 *ret_clock)
{
	__u32 signs_on = 0;

	if (player_confirm(ctx, l, slot, service->family, kind, marks, p, ret_followed,
			   &signs_on, ret_clock))
		return kind == KIND_QW_CHUNK ? REASON_VALIDATED : REASON_PLAYER;
	if (unlikely(marks & KIND_REPORTS))
		master_note(ctx, p->addresses, p->ipv6, slot);
	if (kind == KIND_CHALLENGE && service->family == FAMILY_NETQUAKE)
		keys_learn(ctx, slot, packet_offsets(p), p->length);
	/* Challenges are noted without validation too; then no client is validated. */
	if (marks & KIND_HANDSHAKE && (service->validation || marks & KIND_CHALLENGES) &&
	    egress_validated(ctx, TARGET(slot, kind), packet_offsets(p),
			     service->family) &&
	    service->validation)
		return REASON_VALIDATED;
	return egress_charge(ctx, l, slot, kind, marks, p, bytes, signs_on);
}

/*
 * Replace the clock of a NetQuake update by @clock, of clock_note(), and correct the UDP
 * checksum. The payload is at @offset. Only the lowest byte of the clock differs
 * (clock_bits()); the checksum adds it in one word with svc_time before it. If a helper
 * fails, the clock stays as it is. The call invalidates the caller's pointers into the
 * packet, so it must be the last change. Called by shield_out() alone, for a datagram
 * that leaves.
 */
__noinline int clock_write(struct __sk_buff *ctx, __u32 offset, __u32 clock)
{
	__u32 at = (offset & OFFSET_MASK) + 8, checksum = (offset & OFFSET_MASK) - 2;
	__u16 old, new = bpf_htons(SVC_TIME << 8 | (clock & 0xff));

	if (bpf_skb_load_bytes(ctx, at, &old, sizeof(old)) || old == new ||
	    bpf_l4_csum_replace(ctx, checksum, old, new,
				BPF_F_MARK_MANGLED_0 | sizeof(new)))
		return 0;
	return bpf_skb_store_bytes(ctx, at, &new, sizeof(new), 0);
}

/*
 * Return nonzero if the datagram comes from a socket of another user than the server in
 * @slot: any user may bind [::]:PORT beside a server on 0.0.0.0:PORT. Of a server in a
 * container or another network namespace no socket is visible here: 0. Called by
 * shield_out() for a datagram of a service with a noted user (struct live.owners), and
 * before it sets PORT_LEARNED. 0 means "the server or not known": an unknown socket must
 * not lose its server's rules.
 */
__noinline int other_socket(struct __sk_buff *ctx, __u32 slot)
{
	const struct live *l = &live;
	__u32 user;

	if (!index_below(&slot, SERVICES_MAX))
		return 0;
	user = l->owners[slot].user;
	return user && ctx->sk && bpf_get_socket_uid(ctx) + 1 != user;
}

/*
 * Decide about a frame that leaves. TC_ACT_UNSPEC passes it, TC_ACT_SHOT drops it. Called
 * by the kernel at TC egress for each frame of the interface. A frame that is no datagram
 * of a service must pass unchanged and early. clock_write() invalidates pointers into the
 * frame: use none after it.
 */
SEC("tc")
int shield_out(struct __sk_buff *ctx)
{
	struct live *l = &live;
	struct tables *tab = tables_now(l);
	struct packet packet = { 0 };
	const struct service *service;
	bool followed = false, withheld;
	__u32 slot = 0, shape = 0, clock = 0, marks;
	enum wire_kind kind;
	enum reason reason;
	struct counter_row *row = NULL;
	__u64 *counter;
	struct port *named;
	enum other other;
	__u64 bytes, counted;
	__u32 key;

	other = tc_parse(ctx, SENDER, &packet);
	if (other == OTHER_LATER_FRAGMENT)
		return fragment_follow(l, tab, &packet);
	if (other != PARSED)
		return TC_ACT_UNSPEC;
	named = &tab->ports[packet.server_port];
	if (unlikely(named->flags & PORT_NAMED) &&
	    game_port_begins(ctx, packet.server_port, packet.payload, packet.length) &&
	    !other_socket(ctx, named->any - 1))
		named->flags = PORT_LEARNED;
	service = service_find(l, tab, &packet, SENDER, &slot);
	if (!service)
		return TC_ACT_UNSPEC;

	bytes = datagram_bytes(&packet, ctx->len);
	kind = classify_out(ctx, service->family, packet.payload, packet.length);
	kind = detect_kind(ctx, l, slot, service->family, kind, &packet, &shape);
	marks = kind_marks_of(kind);
	if (unlikely(live.owners[slot & (SERVICES_MAX - 1)].user) &&
	    other_socket(ctx, slot)) {
		reason = REASON_OTHER_SOCKET;
	} else {
		detect_look(ctx, slot, service->family, kind, &packet, shape);
		if (kind == KIND_CCREP_ACCEPT && service->family == FAMILY_NETQUAKE)
			game_port_learn(l, tab, slot, &packet);
		else
			game_port_refresh(l, tab, marks, &packet);
		reason = egress_admit(ctx, l, slot, service, kind, marks, &packet, bytes,
				      &followed, &clock);
	}
	/* All kinds and reasons become equal to the verifier. */
	kind = verifier_forget(kind, packet.length);
	reason = verifier_forget(reason, packet.length);
	withheld = reason == REASON_AMPLIFICATION && !service->observe;
	/* Players' too, since an older note may have the same id. */
	if (packet.whole == FIRST_FRAGMENT)
		fragment_note(l, &packet, slot, withheld);
	counter =
		counter_at(slot, counter_number(DIRECTION_S2C, kind, reason), &row, &key);
	if (!counter)
		return withheld ? TC_ACT_SHOT : TC_ACT_UNSPEC;
	counted = count(counter, &key, bytes);
	/* A sample shows what leaves. */
	if (unlikely(clock) && !withheld)
		clock_write(ctx, packet.payload, clock);
	if (l->sampling.any)
		sample_out_maybe(ctx, l,
				 SAMPLE_WHAT(slot, kind, reason, DIRECTION_S2C, 0),
				 followed, counted);
	if (withheld)
		return TC_ACT_SHOT;
	if (reason != REASON_PLAYER &&
	    !(reason == REASON_VALIDATED && kind == KIND_QW_CHUNK))
		count_unverified_out(row, packet.length, bytes);
	return TC_ACT_UNSPEC;
}

#endif /* EGRESS_BPF_H */
