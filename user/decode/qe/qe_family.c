// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * qe_family.c - the DTLS records around Quake Enhanced.
 *
 *	+----+-------+-------+--------------+--------+---- ... --+
 *	| ty | fe fd | epoch | u48 sequence | length | fragment  |  one or more
 *	+----+-------+-------+--------------+--------+---- ... --+
 *
 * Read next: qe_session.c (whose keys), qe_hand.c (the handshake), qe_open.c (a record),
 * qe_message.c (the game inside). Source: RFC 6347.
 */
#include "decode/family.h"
#include "decode/qe/qe_message.h"
#include "decode/qe/qe_session.h"

enum {
	DTLS_CHANGE_CIPHER_SPEC = 0x14,
	DTLS_ALERT = 0x15,
	DTLS_HANDSHAKE = 0x16,
	DTLS_DATA = 0x17,
	DTLS_HEARTBEAT = 0x18,
};

#define VERSION_10 0xfeff /* of hellos */
#define VERSION_12 0xfefd
#define RECORD_MAX (16384 + 2048) /* bytes; encryption may add 2048 */

/* One datagram on its way through. */
struct walk {
	struct qe_session *s; /* or NULL */
	enum direction direction;
	struct record *r;
	struct keys_room *room; /* NULL: there is no session */
	struct span games[KEYS_PLAINS]; /* datagrams of the game that are to be read */
	unsigned int games_n;
};

static const char *handshake_kind(uint8_t type)
{
	switch (type) {
	case QE_CLIENT_HELLO:
		return "dtls-client-hello";
	case QE_SERVER_HELLO:
		return "dtls-server-hello";
	case QE_HELLO_VERIFY:
		return "dtls-hello-verify-request";
	case QE_SESSION_TICKET:
		return "dtls-new-session-ticket";
	case QE_CERTIFICATE:
		return "dtls-certificate";
	case QE_SERVER_KEY:
		return "dtls-server-key-exchange";
	case QE_HELLO_DONE:
		return "dtls-server-hello-done";
	case QE_CERTIFICATE_VERIFY:
		return "dtls-certificate-verify";
	case QE_CLIENT_KEY:
		return "dtls-client-key-exchange";
	default:
		return "dtls-other";
	}
}

static const char *record_kind(const struct qe_record *rec)
{
	switch (rec->type) {
	case DTLS_CHANGE_CIPHER_SPEC:
		return "dtls-change-cipher-spec";
	case DTLS_ALERT:
		return "dtls-alert";
	case DTLS_HANDSHAKE:
		if (rec->epoch)
			return "dtls-encrypted-handshake";
		return rec->fragment.n ? handshake_kind(*rec->fragment.bytes)
				       : "dtls-other";
	case DTLS_DATA:
		return "dtls-data";
	case DTLS_HEARTBEAT:
		return "dtls-heartbeat";
	default:
		return "dtls-other";
	}
}

/* --- handshake --------------------------------------------------------------------- */

static bool is_clients(uint8_t type)
{
	return type == QE_CLIENT_HELLO || type == QE_CLIENT_KEY ||
	       type == QE_CERTIFICATE_VERIFY || type == QE_CERTIFICATE_URL;
}

static bool is_servers(uint8_t type)
{
	return type != QE_CERTIFICATE && type != QE_FINISHED && type != QE_SUPPLEMENTAL &&
	       !is_clients(type);
}

static void finished(struct walk *w, struct qe_association *a, struct span verify)
{
	bool known, right = qe_association_finish(
			    a, w->s->keys, w->direction == DIRECTION_S2C, verify, &known);

	if (!right)
		record_malformed(w->r, "Finished does not fit the handshake");
	else if (known)
		record_bool(w->r, "verified", true);
}

/* @whole is all of the message. */
static void message(struct walk *w, struct qe_association *a, const struct qe_fragment *f,
		    struct span whole, bool learns)
{
	const struct qe_suite *suite = a ? a->hand.suite : NULL;
	struct qe_fields fields;

	if (!qe_body(f->type, suite, whole, w->r, &fields) || !a || !learns)
		return;
	if (f->type == QE_FINISHED) {
		finished(w, a, fields.verify);
		return;
	}
	qe_hand_learn(&a->hand, w->direction == DIRECTION_S2C, f, &fields);
	qe_association_key(a, w->s->keys);
}

/* The bytes of a fragment that is not read, or not yet; @why it never will be, or NULL.
 */
static void put_piece(struct walk *w, const struct qe_fragment *f, const char *why)
{
	record_hex(w->r, "data", f->body.bytes, f->body.n);
	if (why)
		record_partial(w->r, why);
}

static bool entire(const struct qe_fragment *f)
{
	return !f->offset && f->body.n == f->length;
}

/* One of which nothing is kept. */
static void lone_fragment(struct walk *w, const struct qe_fragment *f)
{
	if (entire(f))
		message(w, NULL, f, f->body, false);
	else
		put_piece(w, f, "a fragment of a session that is not followed");
}

static void fragment(struct walk *w, struct qe_association *a,
		     const struct qe_fragment *f)
{
	struct span whole = f->body;

	if (a->hand.over) {
		if (entire(f))
			message(w, a, f, whole, false);
		else
			put_piece(w, f, "a fragment behind the end of its handshake");
		return;
	}
	switch (qe_hand_put(&a->hand, w->direction == DIRECTION_S2C, f, &whole)) {
	case QE_WHOLE:
		message(w, a, f, whole, true);
		break;
	case QE_AGAIN:
		record_bool(w->r, "repeated", true);
		if (entire(f))
			message(w, a, f, f->body, false);
		else
			put_piece(w, f, NULL);
		break;
	case QE_STORED:
		put_piece(w, f, NULL);
		break;
	case QE_CONFLICT:
		record_malformed(w->r, "handshake message sent again with other bytes");
		break;
	case QE_REFUSED:
		put_piece(w, f, "handshake longer than any that is followed");
		break;
	}
}

/* The client's random of a hello that stands in one fragment; NULL: none. */
static const uint8_t *random_of(const struct qe_fragment *f)
{
	if (f->type != QE_CLIENT_HELLO || f->offset || f->body.n < 2 + QE_RANDOM)
		return NULL;
	return f->body.bytes + 2;
}

/* The cookie that a server asks for, or a client's hello returns; empty: none. */
static struct span cookie_of(const struct qe_fragment *f)
{
	struct reader rd = reader_of(f->body.bytes, f->body.n);
	struct span ret;

	reader_take(&rd, 2);
	if (f->type == QE_CLIENT_HELLO) {
		reader_take(&rd, QE_RANDOM);
		reader_take(&rd, reader_u8(&rd));
	}
	ret.n = reader_u8(&rd);
	ret.bytes = reader_take(&rd, ret.n);
	if (f->offset || reader_failed(&rd))
		ret.n = 0;
	return ret;
}

/*
 * Decode a clear record. A message after a second hello may still belong to the first,
 * until that one's handshake is over: the first takes it in, too, without output.
 */
static void clear_fragment(struct walk *w, const struct qe_fragment *f)
{
	const uint8_t *random = random_of(f);
	struct span cookie = cookie_of(f);
	struct qe_association *a;
	struct record silent;
	struct walk quiet = *w;

	if (f->type == QE_HELLO_VERIFY)
		qe_session_cookie(w->s, cookie);
	a = qe_session_hand(w->s, random, cookie, entire(f));
	if (!a) {
		lone_fragment(w, f);
		return;
	}
	fragment(w, a, f);
	if (random || a == &w->s->now || w->s->now.hand.over)
		return;
	record_reset(&silent, NULL);
	quiet.r = &silent;
	fragment(&quiet, &w->s->now, f);
}

/* @a: the association that the record authenticated in; NULL: it is clear. */
static void handshake(struct walk *w, struct span bytes, struct qe_association *a)
{
	struct reader rd = reader_of(bytes.bytes, bytes.n);
	struct record *r = w->r;

	record_open_array(r, "messages");
	while (reader_left(&rd) && r->status != RECORD_MALFORMED) {
		struct qe_fragment f;
		const char *name;

		if (!qe_fragment_read(&rd, &f)) {
			record_malformed(r, "handshake fragment runs over its end");
			break;
		}
		name = qe_message_name(f.type);
		record_open_object(r, NULL);
		if (name)
			record_string(r, "message", name, strlen(name));
		else
			record_uint(r, "message", f.type);
		record_uint(r, "number", f.number);
		record_uint(r, "length", f.length);
		if (f.body.n != f.length) {
			record_uint(r, "offset", f.offset);
			record_uint(r, "bytes", f.body.n);
		}
		if (!name)
			record_malformed(r, "no such handshake message");
		else if (w->direction == DIRECTION_S2C ? is_clients(f.type)
						       : is_servers(f.type))
			record_malformed(r, "a message of the other side's");
		else if (a)
			fragment(w, a, &f);
		else if (f.type == QE_FINISHED)
			record_malformed(r, "Finished before there are keys");
		else if (w->s && w->direction != DIRECTION_UNKNOWN)
			clear_fragment(w, &f);
		else
			lone_fragment(w, &f);
		record_close(r);
	}
	record_close(r);
}

/* --- records ----------------------------------------------------------------------- */

static void data(struct walk *w, const struct qe_opened *opened)
{
	struct keys_room *room = w->room;

	if (room->count == KEYS_PLAINS) {
		record_partial(w->r, "more records in a datagram than are read");
		return;
	}
	room->plains[room->count++] =
		(struct record_plain){ opened->text.bytes, opened->text.n };
	if (!opened->repeated)
		w->games[w->games_n++] = opened->text;
}

static void content(struct walk *w, const struct qe_record *rec, struct span text,
		    struct qe_association *a)
{
	switch (rec->type) {
	case DTLS_CHANGE_CIPHER_SPEC:
		if (text.n != 1 || *text.bytes != 1)
			record_malformed(w->r, "change of cipher is not one byte of 1");
		break;
	case DTLS_ALERT:
		qe_alert(text, w->r);
		break;
	case DTLS_HANDSHAKE:
		handshake(w, text, a);
		break;
	case DTLS_HEARTBEAT:
		qe_heartbeat(text, w->r);
		break;
	default:
		record_malformed(w->r, rec->type == DTLS_DATA
					       ? "data before there are keys"
					       : "no such type of record");
		break;
	}
}

static void encrypted(struct walk *w, const struct qe_record *rec)
{
	struct keys_room *room = w->room;
	struct qe_opened opened;

	if (!w->s || w->direction == DIRECTION_UNKNOWN) {
		record_opaque(w->r, w->s ? "direction not known yet"
					 : "no memory for a session");
		return;
	}
	qe_session_open(w->s, w->direction == DIRECTION_S2C, rec,
			room->plain + room->used, &opened);
	if (!opened.association) {
		record_judge(w->r, opened.status, opened.reason);
		return;
	}
	room->used += rec->fragment.n;
	if (opened.repeated)
		record_bool(w->r, "repeated", true);
	if (rec->type == DTLS_DATA)
		data(w, &opened);
	else
		content(w, rec, opened.text, opened.association);
}

static void one(struct walk *w, const struct qe_record *rec)
{
	struct record *r = w->r;
	const char *kind = record_kind(rec);

	record_open_object(r, NULL);
	record_string(r, "kind", kind, strlen(kind));
	record_uint(r, "version", rec->version);
	record_uint(r, "epoch", rec->epoch);
	record_uint(r, "sequence", rec->sequence);
	record_uint(r, "length", rec->fragment.n);
	if (rec->version != VERSION_10 && rec->version != VERSION_12)
		record_malformed(r, "no version of DTLS");
	else if (!rec->fragment.n)
		record_malformed(r, "record of no bytes");
	else if (rec->fragment.n > RECORD_MAX)
		record_malformed(r, "record longer than any");
	else if (rec->epoch)
		encrypted(w, rec);
	else
		content(w, rec, rec->fragment, NULL);
	record_close(r);
}

/* One is the datagram's own; of several each is an object. */
static void games(struct walk *w)
{
	struct record *r = w->r;
	const char *kind = NULL;

	if (w->games_n == 1) {
		qe_game(&w->s->game, w->direction, w->games[0], w->room, r);
		return;
	}
	record_open_array(r, "datagrams");
	for (unsigned int i = 0; i < w->games_n; i++) {
		record_open_object(r, NULL);
		qe_game(&w->s->game, w->direction, w->games[i], w->room, r);
		record_string(r, "kind", r->kind, strlen(r->kind));
		kind = kind ? kind : r->kind;
		record_close(r);
	}
	record_close(r);
	r->kind = kind;
}

static void quake_enhanced_datagram(void *state, enum direction direction,
				    struct span payload, struct record *r)
{
	struct reader rd = reader_of(payload.bytes, payload.n);
	struct walk w = { .s = state, .direction = direction, .r = r };

	r->kind = "dtls-other";
	if (w.s) {
		w.room = keys_room(w.s->keys);
		w.room->used = w.room->count = 0;
	}
	record_open_array(r, "records");
	for (bool first = true; reader_left(&rd); first = false) {
		struct qe_record rec;

		if (!qe_record_read(&rd, &rec)) {
			record_malformed(r, "record cut short");
			break;
		}
		if (first)
			r->kind = record_kind(&rec);
		one(&w, &rec);
	}
	record_close(r);
	if (w.room) {
		r->plains = w.room->plains;
		r->plains_n = w.room->count;
	}
	if (w.games_n)
		games(&w);
}

static void quake_enhanced_keys(void *state, struct keys *keys)
{
	struct qe_session *s = state;

	s->keys = keys;
	s->game.game.dialects = qe_dialects;
}

static enum family_wait quake_enhanced_waits(const void *state, enum direction direction,
					     struct span payload, struct ahead *ahead)
{
	return direction == DIRECTION_UNKNOWN
		       ? WAIT_NOTHING
		       : qe_session_waits(state, direction == DIRECTION_S2C, payload,
					  ahead);
}

static size_t quake_enhanced_takes(const void *state)
{
	return qe_session_takes(state);
}

static void quake_enhanced_drop(void *state)
{
	qe_session_drop(state);
}

const struct family quake_enhanced_family = {
	.id = FAMILY_QUAKE_ENHANCED,
	.state_size = sizeof(struct qe_session),
	.takes = quake_enhanced_takes,
	.drop = quake_enhanced_drop,
	.keys = quake_enhanced_keys,
	.datagram = quake_enhanced_datagram,
	.waits = quake_enhanced_waits,
};
