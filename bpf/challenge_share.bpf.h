/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * challenge_share.bpf.h - does a service require address validation now, how many
 * challenges does this CPU send for it, and does an echo return a cookie?
 *
 * Shared by the fast path and shield_validate(), so that both decide alike. Each CPU has
 * a share of the challenges per second of a service (struct validation_state.share),
 * apart for requests to join and for queries. Its state is in the CPU's own counter row,
 * so a flood makes no CPU wait for another.
 */
#ifndef CHALLENGE_SHARE_BPF_H
#define CHALLENGE_SHARE_BPF_H

#include "ratelimit.bpf.h"
#include "server_challenge.bpf.h"
#include "challenge.h"

/*
 * Return true if a datagram of @kind takes part in address validation on @s: it requests
 * what must be validated, or it may carry a cookie. The result is false for a service in
 * observe mode. Called by fast_path(), fast_path_tail_call(), slow_path() and
 * cache_admit(), which must agree on the program that decides. The flag is that of struct
 * service.class_of, which service_finish() computes. challenges() in
 * user/shield/shield_shares.c must find the same services.
 */
static __always_inline bool validation_applies(const struct service *s,
					       enum wire_kind kind)
{
	return service_flagged(s, kind, CLASS_VALIDATION);
}

/*
 * Return true if the service @s in @slot requires validation of every new client at @now:
 * always, or while it is under load. Called by unvalidated_decide() and
 * greylist_decide(), for requests to join alone: a query is challenged by its limits.
 * Call it where validation_applies() is true, since VALIDATION_OFF and observe are not
 * compared here, and for a request within its limits: one over them is challenged,
 * greylisted or refused in any case. Changes nothing.
 */
static __always_inline bool
validation_required(const struct live *l, const struct service *s, __u32 slot, __u64 now)
{
	return s->validation == VALIDATION_ALWAYS ||
	       now < l->validation.until_ns[slot & (SERVICES_MAX - 1)];
}

/*
 * Put the service in @slot under load from @now. Call it when a request to join exceeds
 * the service's own limit, and not when only the limit of a source or prefix is exceeded:
 * one source must not change how others are treated. Called by not_challenged(),
 * greylisted() and unvalidated_decide(): both paths must put a service under load
 * for the same requests.
 */
static __always_inline void validation_require(struct live *l, __u32 slot, __u64 now)
{
	under_load_note(&l->validation.until_ns[slot & (SERVICES_MAX - 1)], now);
}

/* --- shares of challenges ---------------------------------------------------- */

_Static_assert((COUNTER_IN_SERVICE_LIMIT + KIND_GETSTATUS) / COUNTER_CELLS ==
		       (COUNTER_IN_SERVICE_LIMIT + KIND_INFO) / COUNTER_CELLS,
	       "all queries take from one row, so from one share");

/*
 * Return what a challenge to @kind, a request to join or a query, is sent for. Called by
 * share_of(), share_exceeded() and share_charge(). `requests` of
 * user/shield/shield_shares.c has the same use for each kind: the daemon divides the rate
 * by it.
 */
static __always_inline enum challenge_use challenge_use(enum wire_kind kind)
{
	return kind == KIND_GETCHALLENGE ? CHALLENGE_JOIN : CHALLENGE_QUERY;
}

/*
 * Return this CPU's share of challenges to @kind for the service in @slot. Called by
 * share_exceeded() and share_charge(). The daemon writes the share; the mask keeps the
 * index in bounds for the verifier.
 */
static __always_inline const struct limit *share_of(const struct live *l, __u32 slot,
						    enum wire_kind kind)
{
	return &l->validation.share[slot & (SERVICES_MAX - 1)][challenge_use(kind)];
}

/*
 * Return true if this processor may send no challenge to @kind for the service in @slot
 * at @now. Changes nothing. @row: of the counter of COUNTER_IN_SERVICE_LIMIT and @kind.
 * Only this processor reads or writes it, so that no flood makes processors wait for each
 * other.
 *
 * A request that comes then is refused. All sources have the same chance: a client that
 * repeats its request is challenged after 1/p tries on average, where p is the share
 * divided by the rate of requests. Called by not_challenged() on the path of each request
 * that is refused, and by share_take(): it must take nothing and touch only @row.
 */
static __always_inline bool share_exceeded(const struct live *l, __u32 slot,
					   enum wire_kind kind,
					   const struct counter_row *row, __u64 now)
{
	return limit_exceeded(share_of(l, slot, kind),
			      row->challenge_due_ns[challenge_use(kind)], now);
}

/*
 * Take one challenge from the share in @row, of which share_exceeded() was false. Called
 * by share_take() and challenge_plain(), once for a challenge that is sent.
 */
static __always_inline void share_charge(const struct live *l, __u32 slot,
					 enum wire_kind kind, struct counter_row *row,
					 __u64 now)
{
	__u64 *due = &row->challenge_due_ns[challenge_use(kind)];

	*due = (*due > now ? *due : now) + share_of(l, slot, kind)->cost_ns;
}

/*
 * Take one challenge from the share. False: share_exceeded(), and nothing is taken.
 * Called by challenge_decide() alone, at most once for a datagram, and only if the
 * challenge can be sent (c->mute is 0).
 */
static __always_inline bool share_take(const struct live *l, __u32 slot,
				       enum wire_kind kind, __u64 now)
{
	struct counter_row *row;
	__u32 key;

	counter_at(slot, COUNTER_IN_SERVICE_LIMIT + kind, &row, &key);
	if (!row || share_exceeded(l, slot, kind, row, now))
		return false;
	share_charge(l, slot, kind, row, now);
	return true;
}

/* --- cookies that come back --------------------------------------------------------- */

/*
 * Return the hash from which the cookie of @form for @peer was made, and its epoch in
 * *@ret_epoch. A cookie is valid in its own epoch and the next; @parity is bit 0 of its
 * epoch, which every spelling carries, so one hash is enough. Called by
 * echo_cookie_valid(), cookie_check_number() and cookie_check_tail(). The input of the
 * hash must be that of challenge_for(). number_form() and tail_form() in
 * user/shield/shield_about.c compute the same.
 */
static __always_inline __u64 cookie_expected(const struct live *l,
					     const struct cookie_peer *peer,
					     enum cookie_form form, __u64 parity,
					     __u64 *ret_epoch)
{
	*ret_epoch = cookie_epoch_like(clock_now(l), parity);
	return cookie_hash(&l->validation.secret, peer, *ret_epoch, form);
}

/*
 * Return true if @letters is the cookie that an echo of @form gave @peer. Called by
 * echo_refused() and cookie_check_echo(), which must agree. All characters are compared
 * at once, so that none can be guessed apart. COOKIE_BARE has seven, also in
 * challenge_echo() and echo_letters().
 */
static __always_inline bool echo_cookie_valid(const struct live *l,
					      const struct cookie_peer *peer,
					      enum cookie_form form, __u64 letters)
{
	__u64 epoch, want;

	want = cookie_expected(l, peer, form, cookie_letters_parity(letters), &epoch);
	want = cookie_letters(want, epoch);
	if (form == COOKIE_BARE)
		want &= 0xffffffffffffffull;
	return want == letters;
}

/*
 * Return REASON_SOURCE_LIMIT if @peer, which returns a right cookie of @form, has
 * returned one of this form less than 2 s before, or else REASON_COUNT. A client that
 * answers each challenge that others request in its name is refused here;
 * validation_decide() would say the same at several times the cost. Called by
 * echo_refused() alone, after the cookie was found right. It must refuse a subset of what
 * validation_decide() refuses by validated_may_retry(), and a refusal must count as a use
 * of the cell (used_ns) as it does there: the client stays validated while it goes on.
 */
static __always_inline enum reason
echo_too_soon(struct live *l, const struct cookie_peer *peer, enum cookie_form form)
{
	__u64 now = clock_now(l);
	struct validated_cell *cell =
		validated_find(&l->validation.validated, peer, l->keys, now);
	__u32 at = form;

	if (!cell || !(cell->flags & VALIDATED_COOKIE) ||
	    !index_below(&at, COOKIE_FORMS) || validated_may_retry(cell, at, now))
		return REASON_COUNT;
	cell->used_ns = now;
	return REASON_SOURCE_LIMIT;
}

/*
 * Return the reason to drop a KIND_ECHO_RETURN of @length bytes to the service in @slot,
 * which has @family: REASON_INVALID_COOKIE if its sender was not given such a cookie,
 * echo_too_soon()'s, or REASON_COUNT: shield_validate() decides, and compares the cookie
 * again. The whole cookie is compared, so that no part of it can be guessed. The verifier
 * analyses this function once. Called by cookie_invalid() alone, on the fast path, for a
 * source on no list. It must refuse a subset of what shield_validate() refuses, for the
 * same reasons (tests/kern/kern_ways.c). It reads from the frame what echo_letters()
 * reads from a text.
 */
__noinline int echo_refused(struct xdp_md *ctx, __u32 slot, __u64 offsets, __u32 length,
			    __u32 family)
{
	struct cookie_peer peer;
	enum cookie_form form;
	const __u8 *at, *more;
	__u8 behind = 0;
	struct cursor c;
	struct packet p;
	__u64 letters;

	offsets_packet(ctx, offsets, length, &p);
	c = packet_payload(&p);
	at = cursor_take(&c, ECHO_BACK_N);
	if (!at)
		return REASON_INVALID_COOKIE;
	letters = load_u32(at + ECHO_BACK_AT) |
		  (__u64)(load_u32(at + ECHO_BACK_AT + 3) >> 8) << 32;
	if (p.length > ECHO_BACK_N) {
		more = cursor_take(&c, 1);
		if (!more)
			return REASON_INVALID_COOKIE;
		letters |= (__u64)*more << 56;
	}
	if (p.length > ECHO_BACK_N + 1) {
		more = cursor_take(&c, 1);
		if (!more)
			return REASON_INVALID_COOKIE;
		behind = *more;
	}
	form = echo_form((enum wire_family)family, behind, p.length);
	if (!form)
		return REASON_INVALID_COOKIE;
	packet_peer(&p, SENDER, slot, &peer);
	return echo_cookie_valid(&live, &peer, form, letters)
		       ? echo_too_soon(&live, &peer, form)
		       : REASON_INVALID_COOKIE;
}

#endif /* CHALLENGE_SHARE_BPF_H */
