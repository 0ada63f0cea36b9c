// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * qe_session.c - see qe_session.h.
 *
 * Source: RFC 6347 4.1.2.6, 4.2.8; RFC 5077 3.4; RFC 7627 5.
 */
#include "decode/qe/qe_message.h"
#include "decode/qe/qe_session.h"

#define WINDOW	  64
#define TYPE_DATA 0x17

/*
 * Note the record's sequence in the window. True: it is new. False: it was seen, or is
 * too old to tell.
 */
static bool qe_window_take(struct qe_window *w, uint64_t sequence)
{
	uint64_t back;

	if (!w->any || sequence > w->newest) {
		uint64_t ahead = w->any ? sequence - w->newest : WINDOW;

		w->seen = ahead < WINDOW ? w->seen << ahead | 1 : 1;
		w->newest = sequence;
		w->any = true;
		return true;
	}
	back = w->newest - sequence;
	if (back >= WINDOW || w->seen >> back & 1)
		return false;
	w->seen |= 1ULL << back;
	return true;
}

static void association_drop(struct qe_association *a)
{
	qe_hand_forget(&a->hand);
	qe_opener_drop(&a->opener[0]);
	qe_opener_drop(&a->opener[1]);
	explicit_bzero(a, sizeof(*a));
}

static bool is_of(const struct qe_association *a, const uint8_t *random)
{
	return a->hand.client_hello && !memcmp(a->hand.randoms.client, random, QE_RANDOM);
}

/* The server has sent the cookie that is known by @id. */
static bool is_sent(const struct qe_session *s, const uint8_t id[KEYS_ID])
{
	for (unsigned int i = 0; i < s->cookies_n; i++)
		if (!memcmp(s->cookies[i], id, KEYS_ID))
			return true;
	return false;
}

void qe_session_cookie(struct qe_session *s, struct span cookie)
{
	uint8_t id[KEYS_ID];

	if (!cookie.n || !qe_digest(cookie, id) || is_sent(s, id))
		return;
	if (s->cookies_n == QE_COOKIES)
		memmove(s->cookies[0], s->cookies[1],
			sizeof(s->cookies[0]) * --s->cookies_n);
	memcpy(s->cookies[s->cookies_n++], id, KEYS_ID);
}

/*
 * Begin with the client's hello. @proven: it returns a cookie. Messages in the client's
 * name before its first hello, or before its first with a cookie, are in no hash: any
 * host can send them, and they take no place. Some fragments of a hello may have come
 * before this one: all stay.
 */
static void hello(struct qe_association *a, bool proven, bool entire)
{
	struct qe_hand *h = &a->hand;

	if (entire && (!h->client_hello || (proven && !a->proven && !h->server_hello)))
		qe_hand_forget_client(h);
	a->proven |= proven;
}

struct qe_association *qe_session_hand(struct qe_session *s, const uint8_t *random,
				       struct span cookie, bool entire)
{
	uint8_t id[KEYS_ID];
	bool proven;

	if (!random)
		return s->has_next ? &s->next : &s->now;
	proven = cookie.n && qe_digest(cookie, id) && is_sent(s, id);
	if (!s->now.hand.client_hello || is_of(&s->now, random)) {
		/* Clear messages that name no hello go to both; from here on only to
		 * this client's association. */
		if (proven && s->has_next && !s->next.proven) {
			association_drop(&s->next);
			s->has_next = false;
		}
		hello(&s->now, proven, entire);
		return &s->now;
	}
	if (!s->has_next || !is_of(&s->next, random)) {
		/*
		 * A client that has returned a cookie sends its key before any other
		 * message counts.
		 */
		if (!proven && (s->next.proven || (s->now.proven && !s->now.opened &&
						   !s->now.hand.client_key)))
			return NULL;
		association_drop(&s->next);
	}
	s->has_next = true;
	hello(&s->next, proven, entire);
	return &s->next;
}

/* The new association has shown itself: what was before is over. */
static void promote(struct qe_session *s)
{
	association_drop(&s->now);
	s->now = s->next;
	explicit_bzero(&s->next, sizeof(s->next));
	s->has_next = false;
	nq_session_drop(&s->game);
	s->game = (struct nq_session){ .game.dialects = qe_dialects };
}

/* --- keys -------------------------------------------------------------------------- */

/*
 * Derive the master secret of a pre-shared key. NULL: it is there. Otherwise why it is
 * not.
 */
static const char *master_of_psk(struct qe_association *a, const struct keys *keys)
{
	const struct qe_hand *h = &a->hand;
	struct span psk, hash = { NULL, 0 };
	uint8_t bytes[QE_HASH_MAX];

	if (h->suite->kx != QE_KX_PSK)
		return keys_has_psk(keys)
			       ? "forward secret: only a key log opens this suite"
			       : "no key was given that opens it";
	if (!keys_has_psk(keys))
		return "no key was given that opens it";
	if (!h->client_key)
		return "the client's key exchange was not seen";
	psk = keys_psk(keys, (struct span){ h->identity, h->identity_n });
	if (h->identity_long || !psk.n)
		return "no key was given for the identity that the client names";
	if (h->extended_master[0] && h->extended_master[1]) {
		hash.n = qe_hand_hash(h, QE_UPTO_KEY, bytes);
		hash.bytes = bytes;
		if (!hash.n)
			return "a message of the handshake was not seen";
	}
	return qe_master(h->suite, psk, &h->randoms, hash, a->master) ? NULL
								      : "out of memory";
}

static const char *master_of(struct qe_association *a, const struct keys *keys)
{
	const struct qe_hand *h = &a->hand;
	const uint8_t *known;

	if (!h->client_hello || !h->server_hello)
		return "the handshake was not seen";
	if (!h->suite)
		return "the cipher suite is not known here";
	known = keys_logged(keys, h->randoms.client);
	if (!known && qe_hand_resumed(h) && h->offers_ticket)
		known = keys_recall(keys, h->ticket);
	if (!known && qe_hand_resumed(h)) {
		uint8_t id[KEYS_ID];

		if (qe_digest((struct span){ h->session_id[1].bytes, h->session_id[1].n },
			      id))
			known = keys_recall(keys, id);
	}
	if (known) {
		memcpy(a->master, known, KEYS_MASTER);
		return NULL;
	}
	if (qe_hand_resumed(h))
		return "it goes on a session whose keys are not known";
	return master_of_psk(a, keys);
}

void qe_association_key(struct qe_association *a, const struct keys *keys)
{
	const struct qe_hand *h = &a->hand;

	if (a->keyed)
		return;
	a->closed = master_of(a, keys);
	if (a->closed)
		return;
	a->has_master = true;
	a->keyed = qe_openers(h->suite, h->encrypt_then_mac[0] && h->encrypt_then_mac[1],
			      a->master, &h->randoms, a->opener);
	if (!a->keyed)
		a->closed = "libcrypto has no such cipher, or no memory";
}

/* So that another session can go on from here. */
static void remember(struct qe_association *a, struct keys *keys)
{
	const struct qe_hand *h = &a->hand;
	uint8_t id[KEYS_ID];

	a->remembered = true;
	if (h->has_new_ticket)
		keys_remember(keys, h->new_ticket, a->master);
	if (h->session_id[1].n &&
	    qe_digest((struct span){ h->session_id[1].bytes, h->session_id[1].n }, id))
		keys_remember(keys, id, a->master);
}

bool qe_association_finish(struct qe_association *a, struct keys *keys, unsigned int side,
			   struct span verify, bool *known)
{
	uint8_t hash[QE_HASH_MAX], want[QE_VERIFY];
	size_t n;

	*known = false;
	if (a->finished[side] || !a->has_master)
		return true;
	n = qe_hand_hash(&a->hand, side ? QE_UPTO_SERVER : QE_UPTO_CLIENT, hash);
	if (!n ||
	    !qe_verify(a->hand.suite, a->master, side, (struct span){ hash, n }, want))
		return true;
	*known = true;
	if (verify.n != QE_VERIFY || memcmp(verify.bytes, want, QE_VERIFY) != 0)
		return false;
	a->finished[side] = true;
	if (a->finished[!side]) {
		remember(a, keys);
		qe_hand_forget(&a->hand);
		a->hand.over = true;
		explicit_bzero(a->master, sizeof(a->master));
		a->has_master = false;
	}
	return true;
}

/* --- records ----------------------------------------------------------------------- */

static bool try_open(struct qe_association *a, unsigned int side,
		     const struct qe_record *r, uint8_t *to, struct qe_opened *ret)
{
	long n;

	if (!a->keyed)
		return false;
	n = qe_open(&a->opener[side], r, to);
	if (n < 0)
		return false;
	a->opened = true;
	ret->association = a;
	ret->text = (struct span){ to, (size_t)n };
	ret->repeated = !qe_window_take(&a->window[side], r->sequence);
	return true;
}

static void refuse(const struct qe_session *s, struct qe_opened *ret)
{
	/* One that a server has answered is what records are of now. */
	const struct qe_association *a =
		s->has_next && s->next.hand.server_hello ? &s->next : &s->now;

	ret->status = RECORD_OPAQUE;
	if (!a->keyed) {
		ret->reason = a->closed ? a->closed : "the handshake was not seen";
	} else if (a->opened) {
		ret->status = RECORD_MALFORMED;
		ret->reason = "does not authenticate: forged or damaged";
	} else {
		ret->reason = "the key does not fit this connection";
	}
}

void qe_session_open(struct qe_session *s, unsigned int side, const struct qe_record *r,
		     uint8_t *to, struct qe_opened *ret)
{
	*ret = (struct qe_opened){ .association = NULL };
	if (r->epoch != 1) {
		ret->status = RECORD_OPAQUE;
		ret->reason = "a handshake within the session: not followed";
		return;
	}
	qe_association_key(&s->now, s->keys);
	if (s->has_next)
		qe_association_key(&s->next, s->keys);
	if (s->has_next && try_open(&s->next, side, r, to, ret)) {
		promote(s);
		ret->association = &s->now;
	} else if (!try_open(&s->now, side, r, to, ret)) {
		refuse(s, ret);
		return;
	}
	/* Data proves the key as well, though a Finished was lost on the way here. */
	if (r->type == TYPE_DATA && s->now.has_master && !s->now.remembered)
		remember(&s->now, s->keys);
}

/* --- the block --------------------------------------------------------------------- */

static size_t association_takes(const struct qe_association *a)
{
	return a->hand.bytes + (a->keyed ? 2 * QE_OPENER_BYTES : 0);
}

size_t qe_session_takes(const struct qe_session *s)
{
	return sizeof(*s) - sizeof(s->game) + nq_session_takes(&s->game) +
	       association_takes(&s->now) + association_takes(&s->next);
}

void qe_session_drop(struct qe_session *s)
{
	association_drop(&s->now);
	association_drop(&s->next);
	nq_session_drop(&s->game);
}
