/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fastpath.bpf.h - decide about most of what arrives in few instructions: datagrams of a
 * flood that are refused or challenged, and the next datagram of a player.
 *
 * plain_path() and encapsulated_path() call fast_path() with a parsed frame; the other
 * functions, and those of fastpath_player.bpf.h, are parts of it. What must hold:
 *
 * - fast_path() decides only what the slow path (decide(), shield_validate(),
 *   shield_cache()) would decide alike, and leaves the rest to these: it never passes a
 *   datagram of an unvalidated client. tests/kern/kern_ways.c compares the paths. A rule
 *   that both need stands once, in sequence.bpf.h, ratelimit.bpf.h, cookie_check.bpf.h or
 *   challenge_share.bpf.h.
 * - The path that drops or passes a datagram counts it, once.
 * - Each datagram of a flood pays for each instruction (tests/kern/kern_steps.c).
 */
#ifndef FASTPATH_BPF_H
#define FASTPATH_BPF_H

#include "cookie_check.bpf.h"
#include "pkt_ctx.bpf.h"
#include "reputation.bpf.h"
#include "greylist.bpf.h"
#include "amplification.bpf.h"
#include "fastpath_player.bpf.h"

/*
 * Keep the sender in the log of refused sources. @kind, @reason: of the datagram. Called
 * by drop_in() alone, after refused_turn(). It must note what count_decision() notes on
 * the slow path.
 */
static __always_inline void plain_refused(const struct target *f, __u64 kind,
					  __u64 reason, const struct plain *plain)
{
	__u64 what = REFUSED_WHAT(f->slot, service_class(f->service, kind), reason, 0);

	/* The comparison of plain_net(). */
	if (plain->offset != PLAIN_IPV4)
		what |= 1;
	refused_note(plain_net(plain), what);
}

/*
 * Count a dropped datagram in @counter of the @row at @key, note its source if
 * refused_turn() is true, and perhaps sample it, as count_decision() does. Called by
 * drop_for() and not_challenged(); the caller returns XDP_DROP. @kind: below KIND_COUNT,
 * as the verifier must know.
 */
static __always_inline void drop_in(struct xdp_md *ctx, const struct live *l,
				    const struct target *f, __u64 kind, __u64 reason,
				    struct counter_row *row, __u64 *counter,
				    const __u32 *key, const struct packet *p,
				    const struct plain *plain, __u64 bytes)
{
	__u64 counted = count(counter, key, bytes);

	count_unverified(row, p->length, bytes);
	if (unlikely(refused_turn(l->sampling.phase, counted)))
		plain_refused(f, kind, reason, plain);
	if (unlikely(l->sampling.any) && sample_statistic(l, counted))
		sample_in(ctx,
			  SAMPLE_WHAT(f->slot, kind, reason, DIRECTION_C2S,
				      SAMPLER_STATISTIC),
			  bytes);
}

/*
 * drop_in() with the counter @number, which must be that of @kind and @reason. False:
 * there is none, which cannot be; the slow path then decides. Called by refuse(),
 * not_challenged(), cookie_invalid(), connect_refused(), greylist_drop(),
 * fast_path_tail_call() and fast_path() to drop; on true *@ret_action of fast_path()
 * stays XDP_DROP.
 */
static __always_inline bool drop_for(struct xdp_md *ctx, const struct live *l,
				     const struct target *f, __u64 kind, __u64 reason,
				     __u32 number, const struct packet *p,
				     const struct plain *plain, __u64 bytes)
{
	struct counter_row *row = NULL;
	__u32 key;
	__u64 *counter = counter_at(f->slot, number, &row, &key);

	if (unlikely(!counter))
		return false;
	drop_in(ctx, l, f, kind, reason, row, counter, &key, p, plain, bytes);
	return true;
}

/*
 * COUNTER_IN(REPLY_TO_SERVER, @kind) of a kind that is a reply in its row of wire.h.
 * Called by refuse() alone, for CLASS_REPLY. @kind is compared right before the load, for
 * the verifier.
 */
static __always_inline __u32 reply_number(__u64 kind)
{
	same_copy(kind);
	return COUNTER_IN_REPLY_TO_SERVER - PLACES_REPLY +
	       (kind < KIND_COUNT ? counter_places[kind] : PLACES_REPLY);
}

/*
 * Drop and count a datagram of an unvalidated client that its service has no policy to
 * pass, or whose service or source has surely exceeded its limit. False: the datagram may
 * pass, and nothing is counted. @kind: as in drop_in(). Called by fast_path() alone. It
 * must drop only what admit_unlisted() would. The counter of a class without limits must
 * be that of the reason that policy_reason() returns. A class with CLASS_VALIDATION or
 * CLASS_CACHED is above CLASS_COUNT here, so its kind goes on to fast_path_tail_call().
 */
static __always_inline bool refuse(struct xdp_md *ctx, const struct live *l,
				   const struct target *f, __u64 kind,
				   const struct packet *p, const struct plain *plain,
				   __u64 bytes, __u64 now)
{
	/* See same_copy(): 6.1 loses the bound of a spilled value. */
	__u64 class = service_class_of(f->service, kind);
	__u32 policy, number;
	__u64 reason;

	same_copy(class);
	if (class >= CLASS_BUDGETS) {
		if (unlikely(class >= CLASS_COUNT))
			return false;
		policy = f->service->policy[class - CLASS_BUDGETS];
		reason = policy_reason(class);
		number = class == CLASS_REPLY	   ? reply_number(kind)
			 : class == CLASS_FRAGMENT ? COUNTER_IN_FRAGMENT + kind
						   : COUNTER_IN_MALFORMED + kind;
		if (policy == POLICY_DROP)
			goto drop;
		if (policy != POLICY_LIMIT)
			return false;
		class = CLASS_UNKNOWN;
	}
	reason = limits_exceeded(l, f->slot, f->service, class, plain,
				 kind != KIND_CCREQ_CONNECT, now);
	if (unlikely(reason == REASON_COUNT))
		return false;
	/* All reasons of limits_exceeded(). */
	number = kind + (reason == REASON_SERVICE_LIMIT ? COUNTER_IN_SERVICE_LIMIT
							: COUNTER_IN_SOURCE_LIMIT);
drop:
	return drop_for(ctx, l, f, kind, reason, number, p, plain, bytes);
}

/*
 * Return OFFSETS() of the datagram. Called by cookie_invalid(), connect_refused(),
 * greylisted(), tail_call_to() and fast_path_tail_call(). Both branches must return what
 * packet_offsets() returns on the slow path: of a plain frame @p has no offsets, so they
 * are computed as in plain_packet().
 */
static __always_inline __u64 plain_offsets(const struct packet *p,
					   const struct plain *plain)
{
	__u64 ipv6 = plain_ipv6(plain);

	return plain->encapsulated ? packet_offsets(p)
				   : OFFSETS(plain->offset, plain_addresses(ipv6), ipv6);
}

/*
 * Return @way, PATH_VALIDATE or PATH_CACHE, after storing the context for its program:
 * the tail call must follow. @judgement: what is decided already, see TAIL_CTX_DECIDED;
 * 0: nothing. Called by fast_path() and fast_path_tail_call(); shield() makes the tail
 * call.
 */
static __always_inline int tail_call_to(int way, const struct target *f, __u64 kind,
					const struct packet *p, const struct plain *plain,
					__u64 judgement)
{
	tail_ctx_store(TAIL_CTX(f->slot, kind, p->length) | judgement << TAIL_CTX_DECIDED,
		       plain_offsets(p, plain));
	return way;
}

/*
 * Drop and count a request that is over a limit if greylisted_first() is true: it comes
 * for the first time, and if it is a CCREQ_CONNECT its client is not validated. @what:
 * the part of the third word above GREYLIST_WHAT. False: shield_validate() decides.
 * Called by not_challenged() and greylisted(), after limits_exceeded().
 */
static __always_inline bool greylist_drop(struct xdp_md *ctx, const struct live *l,
					  const struct target *f, __u64 kind,
					  const struct packet *p,
					  const struct plain *plain, __u64 what,
					  __u64 bytes, __u64 now)
{
	struct cookie_peer peer;

	plain_peer(plain, f->slot, &peer);
	if (!greylisted_first(ctx, peer.word[0], peer.word[1], peer.word[2] | what, now))
		return false;
	return drop_for(ctx, l, f, kind, REASON_GREYLISTED, COUNTER_IN(GREYLISTED, kind),
			p, plain, bytes);
}

/*
 * Drop and count a CCREQ_CONNECT or first ClientHello that is over a limit, comes for the
 * first time, and is of a client that is not validated. Then puts the service under load
 * if its own limit is exceeded. False: a limit of the prefix may be exceeded, or the
 * request may pass; shield_validate() decides. Called by fast_path() alone, where
 * validation_applies() is true: greylist_decide() sees no other request. It must drop
 * only what greylist_decide() drops for the same reason, by the two classes of
 * validation_class(): change both.
 */
static __always_inline bool greylisted(struct xdp_md *ctx, struct live *l,
				       const struct target *f, __u64 kind,
				       const struct packet *p, const struct plain *plain,
				       __u64 bytes, __u64 now)
{
	bool hello = kind == KIND_DTLS_CLIENT_HELLO;
	enum reason reason;

	if (!hello && kind != KIND_CCREQ_CONNECT)
		return false;
	reason = limits_exceeded(l, f->slot, f->service,
				 hello ? CLASS_CHALLENGE : CLASS_CONNECT, plain, hello,
				 now);
	if (reason == REASON_COUNT)
		return false;
	if (!greylist_drop(
		    ctx, l, f, kind, p, plain,
		    hello ? (plain_offsets(p, plain) & OFFSET_MASK) << GREYLIST_WHAT : 0,
		    bytes, now))
		return false;
	if (reason == REASON_SERVICE_LIMIT)
		validation_require(l, f->slot, now);
	return true;
}

/*
 * Drop and count a request that exceeds its limits, if its client must not be challenged
 * now. False: challenge_now() goes on with *@ret_row. It is the row of the share, and
 * *@ret_reason the reason to refuse the request if no challenge can be sent; or it is
 * NULL, and shield_validate() decides. Puts the service under load if its own limit for
 * joining is exceeded.
 *
 * Called by fast_path_tail_call() alone. @looked: not_cached() has found the source not
 * validated, if the limit of the service is exceeded. It must drop only what pkt_decide()
 * refuses, and must take nothing from the share: challenge_now() does. Its kinds must be
 * those of kind_requests(), with the class that pkt_decide() gives each, and it reads the
 * state of host keys as keys_state() does: change both.
 */
static __always_inline bool
not_challenged(struct xdp_md *ctx, struct live *l, const struct target *f, __u64 kind,
	       const struct packet *p, const struct plain *plain, bool looked,
	       __u64 bytes, __u64 now, struct counter_row **ret_row, __u64 *ret_reason)
{
	bool joins = kind == KIND_GETCHALLENGE;
	struct counter_row *row = NULL;
	__u64 *counter, reason;
	__u32 key, keys;

	*ret_row = NULL;
	/* Compared apart, since a flood of these pays for each comparison. */
	if (kind == KIND_CONNECT)
		return false;
	if (!joins && kind != KIND_GETSTATUS && kind != KIND_GETINFO &&
	    kind != KIND_STATUS && kind != KIND_INFO)
		return false;
	reason = limits_exceeded(l, f->slot, f->service,
				 joins ? CLASS_CHALLENGE : CLASS_QUERY, plain, true, now);
	if (reason == REASON_COUNT)
		return false;
	if (joins && reason == REASON_SERVICE_LIMIT)
		validation_require(l, f->slot, now);
	counter = counter_at(f->slot, COUNTER_IN_SERVICE_LIMIT + kind, &row, &key);
	if (unlikely(!counter))
		return false;
	/* Servers of other families have no host keys: one comparison for their floods.
	 */
	if (unlikely(f->service->family == FAMILY_NETQUAKE) && joins) {
		keys = l->validation.keys[f->slot & (SERVICES_MAX - 1)].state;
		/*
		 * The first request is remembered even if no challenge is left. Otherwise
		 * its client would have to find one left twice: when it sends the
		 * request, and when it repeats it.
		 */
		if (keys == KEYS_KNOWN)
			return greylist_drop(ctx, l, f, kind, p, plain,
					     (__u64)GREYLIST_KEYS << GREYLIST_WHAT, bytes,
					     now);
		/* No challenge can be sent. */
		if (keys != KEYS_NONE)
			goto drop;
	}
	if (!share_exceeded(l, f->slot, kind, row, now)) {
		/* A validated client has limits of its own for queries. */
		if (joins || !lately_validated(plain_net(plain), now)) {
			*ret_row = row;
			*ret_reason = reason;
		}
		return false;
	}
	/*
	 * A validated client has limits of its own for queries, whichever limit others
	 * exceed.
	 */
	if (!joins && (reason != REASON_SERVICE_LIMIT || !looked) &&
	    unlikely(lately_validated(plain_net(plain), now)))
		return false;
drop:
	if (likely(reason == REASON_SERVICE_LIMIT)) {
		drop_in(ctx, l, f, kind, reason, row, counter, &key, p, plain, bytes);
		return true;
	}
	return drop_for(ctx, l, f, kind, reason, COUNTER_IN_SOURCE_LIMIT + kind, p, plain,
			bytes);
}

/*
 * Drop and count what echo_refused() refuses. On false shield_validate() decides. Called
 * by fast_path_tail_call() alone, for KIND_ECHO_RETURN. The counter must be that of the
 * reason: echo_refused() returns two.
 */
static __always_inline bool cookie_invalid(struct xdp_md *ctx, struct live *l,
					   const struct target *f, const struct packet *p,
					   const struct plain *plain, __u64 bytes)
{
	__u32 reason = echo_refused(ctx, f->slot, plain_offsets(p, plain), p->length,
				    f->service->family);

	if (reason == REASON_COUNT)
		return false;
	return drop_for(ctx, l, f, KIND_ECHO_RETURN, reason,
			KIND_ECHO_RETURN + (reason == REASON_SOURCE_LIMIT
						    ? COUNTER_IN_SOURCE_LIMIT
						    : COUNTER_IN_INVALID_COOKIE),
			p, plain, bytes);
}

/*
 * Drop and count a connect, a step of DarkPlaces' key exchange or a ClientHello with a
 * cookie, that exceeds the limits, of a client that neither was challenged by the server
 * nor returned a cookie of the shield, and does not return one now: one of Quake III or
 * DTLS never does. False: shield_validate() decides. Called by fast_path_tail_call(), for
 * KIND_CONNECT and KIND_D0PK, and by fast_path(), for KIND_DTLS_HELLO_COOKIE. It must
 * drop only what validation_decide() refuses, by the class that validation_class() gives
 * such a request.
 */
static __always_inline bool
connect_refused(struct xdp_md *ctx, struct live *l, const struct target *f, __u64 kind,
		const struct packet *p, const struct plain *plain, __u64 bytes, __u64 now)
{
	__u32 family = f->service->family;
	enum reason reason =
		limits_exceeded(l, f->slot, f->service, CLASS_UNKNOWN, plain, true, now);
	struct cookie_peer peer;

	if (reason == REASON_COUNT)
		return false;
	plain_peer(plain, f->slot, &peer);
	if (validated_find(&l->validation.validated, &peer, l->keys, now))
		return false;
	if (kind != KIND_DTLS_HELLO_COOKIE && family != FAMILY_QUAKE3 &&
	    connect_has_cookie(ctx, f->slot | (__u32)kind << 16 | family << 24,
			       plain_offsets(p, plain), p->length))
		return false;
	return drop_for(ctx, l, f, kind, reason,
			kind + (reason == REASON_SERVICE_LIMIT ? COUNTER_IN_SERVICE_LIMIT
							       : COUNTER_IN_SOURCE_LIMIT),
			p, plain, bytes);
}

/*
 * Decide about a datagram with the marker that refuse() has not dropped. True:
 * *@ret_action is PATH_VALIDATE or PATH_CACHE, with the context stored; or the datagram
 * is counted, and *@ret_action is what sends a challenge, or unchanged: XDP_DROP. False:
 * the slow path decides. Called by fast_path() alone. The cache comes before validation,
 * as in slow_path().
 */
static __always_inline bool fast_path_tail_call(struct xdp_md *ctx, struct live *l,
						const struct target *f, __u64 kind,
						const struct packet *p,
						const struct plain *plain, __u64 bytes,
						__u64 now, int *ret_action)
{
	struct counter_row *row = NULL;
	__u64 judgement = 0;
	enum reason reason;
	bool looked = false;

	if (unlikely(cacheable(f->service, kind))) {
		looked = true;
		reason = not_cached(plain_net(plain), plain_ipv6(plain), f->slot, now);
		/* All reasons from there on are to answer; the last says nothing. */
		if (reason >= REASON_CACHED_PLAYER) {
			*ret_action = tail_call_to(PATH_CACHE, f, kind, p, plain,
						   reason == REASON_COUNT ? 0 : reason);
			return true;
		}
		if (!validation_applies(f->service, kind))
			return drop_for(ctx, l, f, kind, reason,
					kind + (reason == REASON_SERVICE_LIMIT
							? COUNTER_IN_SERVICE_LIMIT
							: COUNTER_IN_SOURCE_LIMIT),
					p, plain, bytes);
	} else if (!validation_applies(f->service, kind)) {
		return false;
	}
	if (kind == KIND_ECHO_RETURN && cookie_invalid(ctx, l, f, p, plain, bytes))
		return true;
	if (not_challenged(ctx, l, f, kind, p, plain, looked, bytes, now, &row,
			   &judgement))
		return true;
	/* A constant kind costs all others less. */
	if (kind == KIND_CONNECT &&
	    connect_refused(ctx, l, f, KIND_CONNECT, p, plain, bytes, now))
		return true;
	if (kind == KIND_D0PK &&
	    connect_refused(ctx, l, f, KIND_D0PK, p, plain, bytes, now))
		return true;
	/*
	 * challenge_plain() writes at the places of a plain frame. Both flags are
	 * constants here, so no other frame's path calls challenge_now(): on Linux 6.1
	 * their stacks would not fit into 512 bytes together.
	 */
	if (plain->encapsulated || plain->truncated) {
		*ret_action = tail_call_to(PATH_VALIDATE, f, kind, p, plain, 0);
		return true;
	}
	*ret_action = challenge_now(
		ctx, TAIL_CTX(f->slot, kind, p->length) | judgement << TAIL_CTX_DECIDED,
		plain_offsets(p, plain), row);
	return true;
}

/*
 * Return true if a list may have an entry for the sender: acl_prefilter(). Called by
 * fast_path() alone, if struct live.lists is not 0; on true the slow path decides.
 */
static __always_inline bool plain_acl_prefilter(const struct live *l,
						const struct plain *plain)
{
	return plain->offset == PLAIN_IPV4
		       ? acl_prefilter(l, plain_source(plain, PLAIN_IPV4), false)
		       : acl_prefilter(l, plain_source(plain, PLAIN_IPV6), true);
}

/*
 * Decide about a datagram for the service of @f. True: *@ret_action is an XDP action or
 * PATH_*. False: the slow path decides, and nothing is counted. Called by plain_path()
 * after plain_fits() and by encapsulated_path() after encapsulated_plain(). @jiffies:
 * read before the parsing. The order is that of admit(): lists, player, limits.
 */
static __always_inline bool fast_path(struct xdp_md *ctx, struct live *l,
				      const struct target *f, const struct packet *p,
				      const struct plain *plain, __u64 bytes,
				      __u64 jiffies, int *ret_action)
{
	__u64 now = clock_at(l, jiffies);
	__u64 kind = KIND_COUNT;
	bool brief, truncated;
	enum match match;

	if (unlikely(f->service->observe))
		return false;
	if (unlikely(l->lists) && plain_acl_prefilter(l, plain))
		return false;
	*ret_action = XDP_DROP;
	if (plain->encapsulated && unlikely(!has_payload(f->service, plain->whole))) {
		kind = kind_of_shape(plain->whole);
		return refuse(ctx, l, f, kind, p, plain, bytes, now);
	}
	/* Then letters_at() would read beyond the frame. */
	brief = plain->truncated && unlikely(plain->payload + PLAIN_LEAST > p->end);
	if (likely(brief ? is_marked(plain_payload(plain, p), p->length)
			 : load_u32(plain->payload) == 0xffffffff)) {
		if (likely(!brief))
			kind = classify_letters(plain_payload(plain, p), p->length,
						letters_at(plain->payload + 4));
		if (unlikely(kind == KIND_COUNT) &&
		    unlikely(!classify_plain(ctx, f, p, plain, true, &kind)))
			return false;
		if (likely(refuse(ctx, l, f, kind, p, plain, bytes, now)))
			return true;
		return fast_path_tail_call(ctx, l, f, kind, p, plain, bytes, now,
					   ret_action);
	}
	truncated = plain->payload + GAME_HEAD > p->end;
	if (likely(!truncated && p->length >= GAME_HEAD))
		kind = game_kind(f->service->family, plain->payload, p->length);
	if (unlikely(kind == KIND_COUNT)) {
		if (!classify_no_player(ctx, l, f, p, plain, truncated, &kind))
			return false;
		if (likely(refuse(ctx, l, f, kind, p, plain, bytes, now)))
			return true;
		if (!validation_applies(f->service, kind))
			return false;
		if (greylisted(ctx, l, f, kind, p, plain, bytes, now))
			return true;
		if (kind == KIND_DTLS_HELLO_COOKIE &&
		    connect_refused(ctx, l, f, KIND_DTLS_HELLO_COOKIE, p, plain, bytes,
				    now))
			return true;
		*ret_action = tail_call_to(PATH_VALIDATE, f, kind, p, plain, 0);
		return true;
	}
	match = fast_path_player(ctx, l, f, plain, bytes, now, kind);
	if (likely(match == MATCH_OK)) {
		*ret_action = XDP_PASS;
		return true;
	}
	if (match == MATCH_MISMATCH &&
	    !protocol_mismatch(l, f->slot, f->service->family, now))
		return drop_for(ctx, l, f, kind, REASON_PLAYER_MISMATCH,
				COUNTER_IN_PLAYER_MISMATCH + kind, p, plain, bytes);
	return match == MATCH_NONE && refuse(ctx, l, f, kind, p, plain, bytes, now);
}

#endif /* FASTPATH_BPF_H */
