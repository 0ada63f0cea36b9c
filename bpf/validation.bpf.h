/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * validation.bpf.h - address validation (as RFC 9000, section 8.1): check a cookie that a
 * client returns, and decide about requests of unvalidated and validated clients.
 *
 * Under load (validation_required()) a request to join is not forwarded: the client is
 * sent a cookie. A query is challenged when it exceeds a limit, under load or not. A
 * client that returns a cookie is validated for one minute after each use and has limits
 * apart from those of unvalidated clients; the datagram with the cookie is rewritten into
 * the request that the server understands. Address validation stores two things of a
 * client that has returned no cookie: that the server itself challenged it
 * (server_challenge_note()), and the hash of a request that must come twice
 * (greylist.bpf.h).
 *
 * Called by shield_validate(), in three steps: cookie_check(), then validation_decide()
 * or unvalidated_decide(), both by pkt_decide(), then rewrite_request()
 * (challenge.bpf.h). They are separate functions, since together they need more stack
 * than there is. Texts: include/challenge.h; cookies: cookie.h; validated clients:
 * validated.h; when a challenge is sent: challenge_share.bpf.h.
 *
 * `explain` shows the limits that decide: in user/shield/shield_about.c form_of() repeats
 * cookie_check() and validation_form(), validating_find() repeats validation_decide(),
 * class_limits() repeats validated_charge(). A change here changes these too.
 */
#ifndef VALIDATION_BPF_H
#define VALIDATION_BPF_H

#include "cookie_check.bpf.h"
#include "greylist.bpf.h"
#include "host_keys.bpf.h"

/* --- cookies ------------------------------------------------------------------------ */

/*
 * Quake II and III: return the form of the cookie that came back in an echo, if @peer was
 * given it; 0: it was not. @family: of the service. Called by cookie_check() alone. It
 * must accept what echo_refused() lets through.
 */
static __always_inline int cookie_check_echo(struct xdp_md *ctx, const struct packet *p,
					     enum wire_family family,
					     const struct cookie_peer *peer)
{
	struct challenge_text *text;
	enum cookie_form form;
	__u64 letters;

	text = text_load(ctx, p->payload, p->length);
	if (!text)
		return 0;
	form = echo_form(family, text->at[ECHO_BACK_AT + ECHO_LETTERS], p->length);
	if (!form)
		return 0;
	letters = echo_letters(text, form);
	return echo_cookie_valid(&live, peer, form, letters) ? (int)form : 0;
}

/*
 * Check what @c carries. Returns the form of a cookie that its sender was given; of a
 * COOKIE_NUMBER the number itself, which is above all forms; of a ClientHello its random;
 * 0: none. Analysed once by the verifier. Called by pkt_decide() alone, for
 * kind_returns_cookie() and a sender that is not on the deny list; pkt_find_validated()
 * must have set c->peer. Changes no table. A form must stay below COOKIE_LEAST, which
 * distinguishes it from a number.
 */
__noinline int cookie_check(struct xdp_md *ctx, const struct pkt_ctx *c)
{
	const struct service *s;
	struct packet p;
	__u32 slot;

	if (!c)
		return 0;
	slot = pkt_slot(c);
	pkt_packet(ctx, c, &p);
	s = service_at(tables_now(&live), &slot);
	if (!s)
		return 0;
	if (pkt_kind(c) == KIND_ECHO_RETURN)
		return cookie_check_echo(ctx, &p, s->family, &c->peer);
	if (s->family == FAMILY_QUAKE3)
		return 0;
	if (s->family == FAMILY_NETQUAKE)
		return cookie_check_tail(ctx, &p, pkt_kind(c), &c->peer);
	if (s->family == FAMILY_QUAKE_ENHANCED)
		return pkt_kind(c) == KIND_DTLS_CLIENT_HELLO
			       ? hello_random(ctx, p.payload)
			       : 0;
	return cookie_check_number(ctx, &p, &c->peer);
}

/* --- decisions ------------------------------------------------------------------- */

/*
 * Charge a request of @class, at @times its cost, to the limits @b of the validated
 * clients, or of the greylisted. A ClientHello that came twice has the limits of
 * validated clients. Returns REASON_VALIDATED, or as budget_charge().
 *
 * Called by validation_decide() alone, for a right cookie, for a validated client, and
 * after unvalidated_decide() returned REASON_VALIDATED.
 */
static __always_inline enum reason validated_charge(struct live *l, __u32 slot,
						    const struct budget *b, __u32 class,
						    const struct pkt_ctx *c, __u32 times,
						    bool greylisted, __u64 now)
{
	/* No validated client is charged to CLASS_UNKNOWN, so its place is free. */
	__u32 index = budget_index(slot, greylisted ? CLASS_UNKNOWN : class);
	enum budget_set set = greylisted ? SET_GREYLISTED : SET_VALIDATED;
	struct scopes scopes;
	enum reason reason;
	__u64 *service_due;

	if (!index_below(&index, SERVICES_MAX << CLASS_BITS))
		return REASON_CONTENDED;
	service_due = &l->validation.service_due_ns[index];
	scopes = budget_scopes(b, times, times,
			       greylisted ? 0 : budget_crowd(b, *service_due, now));
	reason = budget_charge(l, b, set, &scopes, c->net, pkt_ipv6(c), service_due, now);
	return reason == REASON_WITHIN_LIMITS ? REASON_VALIDATED : reason;
}

/*
 * Return true if @reason is an exceeded limit, after which the client of a query may be
 * challenged. Called by unvalidated_decide() alone. REASON_CONTENDED is none: the race is
 * lost, not the limit exceeded. A request to join is challenged after a lost race, too.
 * `due` in user/shield/shield_shares.c counts the same reasons as demand for challenges.
 */
static __always_inline bool reason_is_limit(enum reason reason)
{
	return reason == REASON_SERVICE_LIMIT || reason == REASON_SOURCE_LIMIT ||
	       reason == REASON_PREFIX_LIMIT;
}

/*
 * Return REASON_CHALLENGED if this processor may send one more challenge for @c to the
 * service in @slot, and take it from the share, or else @reason. Called by
 * unvalidated_decide() alone, last, if c->mute is 0. On REASON_CHALLENGED
 * shield_validate() must send the challenge.
 */
static __always_inline enum reason challenge_decide(const struct live *l, __u32 slot,
						    const struct pkt_ctx *c,
						    enum reason reason, __u64 now)
{
	return share_take(l, slot, pkt_kind(c), now) ? REASON_CHALLENGED : reason;
}

/*
 * Decide about a CCREQ_CONNECT or first ClientHello. Their clients cannot return a
 * cookie, so they must send the request twice while validation is required or a limit is
 * exceeded (greylist.bpf.h). @reason: by the limits of unvalidated clients. @hello: it
 * is a ClientHello, with @random. Returns @reason if that is REASON_WITHIN_LIMITS and
 * validation is not required; REASON_VALIDATED if the request came twice, which
 * validation_decide() then charges; otherwise REASON_GREYLISTED. Called by
 * unvalidated_decide() alone, for KIND_CCREQ_CONNECT and KIND_DTLS_CLIENT_HELLO.
 * greylisted() on the fast path must drop only what is dropped here, and must tell @hello
 * from the other kind alike.
 */
static __always_inline enum reason greylist_decide(struct live *l, __u32 slot,
						   const struct service *s, bool hello,
						   __u32 random,
						   const struct cookie_peer *peer,
						   enum reason reason, __u64 now)
{
	if (reason == REASON_WITHIN_LIMITS && !validation_required(l, s, slot, now))
		return reason;
	return greylist_retried(greylist_hash(l, peer, random), hello, false, now)
		       ? REASON_VALIDATED
		       : REASON_GREYLISTED;
}

/*
 * Return REASON_COUNT if a challenge may be sent to @peer, for a server whose host keys
 * are in @state (enum host_keys_state): not before the server's are known, and, since
 * such a challenge is longer than the request, only to a client that sends the request
 * twice. The first one is remembered, as in greylist_decide(), and REASON_GREYLISTED is
 * returned. Returns @reason if no challenge can be made: a request within its limits
 * passes then, under load too. Called by unvalidated_decide() alone, for
 * KIND_GETCHALLENGE, before a challenge is taken from the share. keys_unusable() in
 * user/shield/shield_shares.c counts no demand of a service for which this returns
 * @reason: change both.
 */
static __always_inline enum reason challenge_keys_decide(const struct live *l,
							 __u32 state,
							 const struct cookie_peer *peer,
							 enum reason reason, __u64 now)
{
	if (state == KEYS_NONE)
		return REASON_COUNT;
	if (state != KEYS_KNOWN)
		return reason;
	return greylist_retried(greylist_hash(l, peer, GREYLIST_KEYS), false, false, now)
		       ? REASON_COUNT
		       : REASON_GREYLISTED;
}

/*
 * Return true if @kind is a query that takes part in address validation. Called by
 * kind_requests() and validation_class(). not_challenged() and `requests` of
 * user/shield/shield_shares.c name the same kinds, and kind_takes_part() by family. A
 * kind that is added needs a form in challenge_form() and a text in rewrite_echo(), too.
 * Two pairs of neighbours: each comparison counts for a flood of connects.
 */
static __always_inline bool kind_queries(enum wire_kind kind)
{
	_Static_assert(KIND_GETINFO == KIND_GETSTATUS + 1, "a pair");
	_Static_assert(KIND_INFO == KIND_STATUS + 1, "another");
	return (__u32)kind - KIND_GETSTATUS < 2 || (__u32)kind - KIND_STATUS < 2;
}

/*
 * Return true if @kind is a request that a challenge can answer. Others are passed or
 * refused by their limits. Called by pkt_decide(), and by shield_validate() to set
 * c.mute. challenge_form() must return a form for each of these kinds.
 */
static __always_inline bool kind_requests(enum wire_kind kind)
{
	return kind == KIND_GETCHALLENGE || kind_queries(kind);
}

/*
 * Return what a request from @net costs of the source's limit: three if another client at
 * this address is validated on this Quake III server. Otherwise spoofed requests in its
 * name would use up what the server answers one address (ioquake3: one per second).
 * Called by unvalidated_decide() alone. times_of() (user/shield/shield_about.c) repeats
 * it.
 */
static __always_inline __u32 limit_times(const struct live *l, __u32 slot,
					 const struct service *s, __u32 class, __u64 net,
					 __u64 now)
{
	return s->family == FAMILY_QUAKE3 &&
			       (class == CLASS_QUERY || class == CLASS_CHALLENGE) &&
			       reputation_validated_at(
				       reputation_find(&l->cache.reputation, net,
						       l->keys),
				       reputation_minute(now), slot)
		       ? 3
		       : 1;
}

/*
 * Decide about a datagram of an unvalidated client, by the limits of @class and by
 * address validation. @random: of a ClientHello, or 0. Returns the reason.
 * REASON_CHALLENGED: a challenge is taken from the share, and shield_validate() must send
 * it. REASON_VALIDATED: it was greylisted and came again; validation_decide() must charge
 * it by validated_charge(). Analysed once by the verifier. Called by pkt_decide() and
 * validation_decide(), with c->net and c->peer set. It charges, so once per datagram; if
 * @c->mute is set it takes nothing from the share. not_challenged(), connect_refused()
 * and greylisted() must return true only for what is refused here.
 */
__noinline int unvalidated_decide(const struct pkt_ctx *c, __u32 class, __u32 random)
{
	struct live *l = &live;
	__u64 now = clock_now(l), *service_due;
	const struct service *s;
	const struct budget *b;
	enum wire_kind kind;
	enum reason reason, keys;
	bool must_retry;
	__u32 slot;

	if (!c)
		return REASON_INVALID_COOKIE;
	kind = pkt_kind(c);
	slot = pkt_slot(c);
	s = service_at(tables_now(l), &slot);
	if (!s || !index_below(&class, CLASS_BUDGETS))
		return REASON_INVALID_COOKIE;
	b = &s->budget[class];
	service_due = &l->service_due_ns[budget_index(slot, class)];
	reason = REASON_SERVICE_LIMIT;
	if (!limit_exceeded(&b->service, *service_due, now))
		reason = admit_net(l, b, kind, c->net, pkt_ipv6(c),
				   limit_times(l, slot, s, class, c->net, now),
				   service_due, now);
	reason = verifier_forget(reason, c->length);
	must_retry = kind == KIND_CCREQ_CONNECT || kind == KIND_DTLS_CLIENT_HELLO;
	/*
	 * If only the limit of the source or its prefix is exceeded, challenge that
	 * client. Do not put the service under load: other clients must not be affected.
	 */
	if ((kind == KIND_GETCHALLENGE || must_retry) && reason == REASON_SERVICE_LIMIT)
		validation_require(l, slot, now);
	if (must_retry)
		return greylist_decide(l, slot, s, kind == KIND_DTLS_CLIENT_HELLO, random,
				       &c->peer, reason, now);
	if (kind == KIND_GETCHALLENGE) {
		if (reason == REASON_WITHIN_LIMITS &&
		    !validation_required(l, s, slot, now))
			return reason;
		keys = challenge_keys_decide(l, keys_state(s->family, slot), &c->peer,
					     reason, now);
		if (keys != REASON_COUNT)
			return keys;
		if (reason == REASON_WITHIN_LIMITS)
			reason = REASON_SERVICE_LIMIT; /* if no challenge is left */
	} else if (class != CLASS_QUERY || !reason_is_limit(reason)) {
		return reason;
	}
	return c->mute ? reason : challenge_decide(l, slot, c, reason, now);
}

/*
 * Record that @peer returned a cookie of @form, not COOKIE_REPLACED. @returned: as of
 * cookie_check(). False: its bucket has no cell to take, or @peer returned one of this
 * form less than 2 s before; then the caller must refuse the datagram. Called by
 * validation_decide() alone, after validated_charge() and for a valid cookie. A new
 * number clears VALIDATED_CHALLENGE, so that a connect with it first requests the
 * server's challenge anew: validation_form(). No other function of the programs may set
 * VALIDATED_COOKIE (tests/twins.py). trial_validate() and trial_catch_up()
 * (user/shield/shield_fork.c) write such cells in a trial.
 */
static __always_inline bool validated_record(struct live *l,
					     const struct cookie_peer *peer, __u32 form,
					     __u32 returned, __u64 now)
{
	struct validated_cell *cell =
		validated_enter(&l->validation.validated, peer, l->keys, now);
	__u32 number = returned >= COOKIE_LEAST ? returned : 0;

	if (!cell || !index_below(&form, COOKIE_FORMS) ||
	    !validated_may_retry(cell, form, now))
		return false;
	cell->passed[form] = now >> 20;
	cell->flags |= VALIDATED_COOKIE;
	if (number && cell->cookie != number) {
		cell->cookie = number;
		cell->flags = VALIDATED_COOKIE | VALIDATED_NUMBER;
	}
	return true;
}

/*
 * Return into what to rewrite a datagram with the cookie @returned: enum cookie_form or
 * COOKIE_REPLACED; 0: it has none. Called by validation_decide() alone, which passes the
 * result on to rewrite_request(). @returned must be of cookie_check(), and 0 for a
 * ClientHello: the form is trusted.
 */
static __always_inline __u32 validation_form(const struct service *s,
					     const struct validated_cell *cell,
					     __u32 returned)
{
	if (returned < COOKIE_LEAST)
		return returned;
	return s->family == FAMILY_QUAKE2 && cell && cell->cookie == returned &&
			       cell->flags & VALIDATED_CHALLENGE
		       ? COOKIE_REPLACED
		       : COOKIE_NUMBER;
}

/*
 * Return the class that limits a @kind; it is below CLASS_BUDGETS. @form: of
 * validation_form(). @known: the client is in the table of validated.h, validated or only
 * challenged by the server. Called by validation_decide() alone. A client that is not
 * there must get CLASS_UNKNOWN for a later step. A client that is there must never get
 * it: validated_charge() has the service's limit of CCREQ_CONNECT at CLASS_UNKNOWN.
 * pkt_decide(), not_challenged(), connect_refused() and greylisted() name the same
 * classes, and so does validating_find() (user/shield/shield_about.c): change all.
 */
static __always_inline __u32 validation_class(enum wire_kind kind, __u32 form, bool known)
{
	if (kind_queries(kind) || form == COOKIE_INFO || form == COOKIE_STATUS)
		return CLASS_QUERY;
	if (kind == KIND_GETCHALLENGE || kind == KIND_DTLS_CLIENT_HELLO ||
	    (form && form != COOKIE_REPLACED) || (kind == KIND_D0PK && known))
		return CLASS_CHALLENGE;
	return known || kind == KIND_CCREQ_CONNECT ? CLASS_CONNECT : CLASS_UNKNOWN;
}

/*
 * Decide about a datagram that takes part in address validation. @returned: of
 * cookie_check(), or 0. Returns the reason. If the datagram carries a valid cookie and
 * passes, c->form becomes that into which it is to be rewritten: shield_validate() must
 * call rewrite_request(). Called by pkt_decide() alone, once: it charges. Analysed once
 * by the verifier.
 *
 * A right cookie is recorded last: a client beyond its limits is not validated.
 * echo_too_soon() on the fast path must refuse only what validated_may_retry() refuses
 * here.
 */
__noinline int validation_decide(struct pkt_ctx *c, __u32 returned)
{
	__u32 slot, form, class, needed, random = 0;
	struct live *l = &live;
	const struct service *s;
	struct validated_cell *cell;
	enum wire_kind kind;
	enum reason reason;
	__u64 now;
	bool validated, later;

	if (!c)
		return REASON_INVALID_COOKIE;
	kind = pkt_kind(c);
	slot = pkt_slot(c);
	now = clock_now(l);
	s = service_at(tables_now(l), &slot);
	if (!s || (kind == KIND_ECHO_RETURN && !returned))
		return REASON_INVALID_COOKIE;
	if (kind == KIND_DTLS_CLIENT_HELLO) {
		random = returned;
		returned = 0;
	}
	cell = validated_find(&l->validation.validated, &c->peer, l->keys, now);
	form = verifier_forget(validation_form(s, cell, returned), c->length);
	class = verifier_forget(validation_class(kind, form, cell), c->length);
	if (!index_below(&class, CLASS_BUDGETS))
		return REASON_INVALID_COOKIE;
	/* Then its limits are not those that others use up in the name of its address. */
	later = class == CLASS_CONNECT || kind == KIND_D0PK;
	/*
	 * In Quake II an echo validates for queries alone: other sources can have a
	 * client return one that does not join, and its server's challenge, of 15 bits in
	 * id's, must not be all that a connect in its name needs.
	 */
	needed =
		later && s->family == FAMILY_QUAKE2 ? VALIDATED_NUMBER : VALIDATED_COOKIE;
	validated =
		form || ((later || class == CLASS_QUERY) && cell && cell->flags & needed);
	if (!validated) {
		reason = unvalidated_decide(c, class, random);
		/*
		 * A client that the server challenged stays in the table for as long as
		 * it goes on.
		 */
		if (reason == REASON_WITHIN_LIMITS && cell && later)
			cell->used_ns = now;
		if (reason != REASON_VALIDATED)
			return reason;
	} else if (cell && cell->flags & VALIDATED_COOKIE) {
		/* A copy: see same_copy(). */
		__u32 at = form;

		/*
		 * A query without a cookie renews nothing, since any source could send
		 * it.
		 */
		if (form || class != CLASS_QUERY)
			cell->used_ns = now;
		if (form && form != COOKIE_REPLACED && index_below(&at, COOKIE_FORMS) &&
		    !validated_may_retry(cell, at, now))
			return REASON_SOURCE_LIMIT;
	}
	reason = validated_charge(l, slot, &s->budget[class], class, c,
				  1 + (class == CLASS_QUERY), kind == KIND_CCREQ_CONNECT,
				  now);
	if (class == CLASS_QUERY && !form && reason != REASON_VALIDATED)
		return unvalidated_decide(c, class, 0);
	if (reason != REASON_VALIDATED || !form)
		return reason;
	if (form != COOKIE_REPLACED &&
	    !validated_record(l, &c->peer, form, returned, now))
		return REASON_CONTENDED;
	c->form = form;
	return reason;
}

/*
 * Return true if a @kind may carry a cookie, or is a ClientHello, of which
 * greylist_decide() needs the random. Called by pkt_decide() alone. cookie_check() must
 * have a case for each of these kinds. kind_takes_part() must be true for each of them on
 * some family.
 */
static __always_inline bool kind_returns_cookie(enum wire_kind kind)
{
	return kind == KIND_ECHO_RETURN || kind == KIND_CONNECT || kind == KIND_D0PK ||
	       kind == KIND_DTLS_CLIENT_HELLO;
}

#endif /* VALIDATION_BPF_H */
