// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * q3_datagram.c - a sequenced datagram: header, slices, keys, then the message.
 *
 * The legacy netchan scrambles all but the first long (server) or three longs (client)
 * of a message, with a key that is rolled over the text of the command which these
 * longs acknowledge. The texts are in the other direction's messages.
 */
#include "decode/q3/q3_session.h"
#include "lib/record_trace.h"

#define RESTART_DISTANCE 64
#define BEHIND_MAX	 8 /* datagrams in a row: their numbers have begun anew */
/* Messages in a row that the key makes no sense of: then what it makes sense of is
 * doubted until so many come right in a row. */
#define MISFITS_DOUBT 4
#define FITS_ENOUGH   4

static const char unknown_netchan[] = "netchan not known yet: the handshake was not seen";
static const char unknown_challenge[] = "challenge not known: the handshake was not seen";
static const char unknown_client_text[] = "scrambled with a client command not seen";
static const char unknown_server_text[] = "scrambled with a server command not seen";
static const char wrong_key[] = "scrambled with a key that is not known";
static const char no_table[] = "no known field table fits this protocol";

/* The longs in the clear. False: they do not end within the clear bytes. */
static bool clear_longs(const uint8_t *payload, size_t n, size_t clear, int32_t *to,
			unsigned int count)
{
	struct q3_bits b = q3_bits_of(payload, n < clear ? n : clear);

	b.slack = Q3_SLACK;
	for (unsigned int i = 0; i < count; i++)
		to[i] = q3_get_long(&b);
	return !q3_bits_failed(&b);
}

/* Does the message parse with this table? */
static bool parses(struct q3_session *s, const struct q3_dialect *d,
		   const uint8_t *message, size_t n)
{
	struct record silent;
	struct q3_parse p;

	record_reset(&silent, NULL);
	q3_parse_init(&p, message, n, d, NULL, &silent);
	if (!q3_parse_server(&p))
		return false;
	s->settled |= p.content == Q3_HOLDS_GAMESTATE;
	return true;
}

/*
 * Until a gamestate has confirmed the table, a server's message chooses it: the present
 * one if it fits, else the first that does and has the same netchan. False: none.
 */
static bool settle(struct q3_session *s, const uint8_t *message, size_t n)
{
	uint32_t netchan = s->dialect->flags & Q3_CHECKSUM;

	if (s->settled || parses(s, s->dialect, message, n))
		return true;
	for (unsigned int i = 0; q3_dialects[i]; i++) {
		if ((q3_dialects[i]->flags & Q3_CHECKSUM) != netchan ||
		    !parses(s, q3_dialects[i], message, n))
			continue;
		s->dialect = q3_dialects[i];
		if (s->game)
			q3_game_clear(s->game, s->dialect);
		return true;
	}
	return false;
}

static void watch_disconnect(struct q3_session *s, const struct q3_game *g)
{
	const struct q3_texts *sides[] = { &g->server, &g->client };

	for (unsigned int i = 0; i < 2; i++) {
		const struct q3_text *t = q3_text_find(sides[i], sides[i]->last);

		if (t && t->n >= 10 &&
		    !memcmp(q3_text_bytes(sides[i], t), "disconnect", 10))
			s->disconnected = true;
	}
}

static void decode(struct q3_session *s, struct q3_parse *p, enum direction direction)
{
	bool client = direction == DIRECTION_C2S;

	q3_decode_message(p, direction);
	if (p->game && p->stateful && p->record->status < RECORD_OPAQUE)
		watch_disconnect(s, p->game);
	if (client && p->record->status < RECORD_OPAQUE)
		s->has_qport = true;
}

/* Started in the middle: the gamestate tells which protocol it is, over equal tables. */
static void learn_protocol(struct q3_session *s, const struct q3_game *g)
{
	const struct q3_dialect *d = NULL;
	int32_t number;
	size_t n;
	const char *info = q3_configstring(g, 0, &n);

	if (q3_info_number(info, n, "com_protocol", &number) ||
	    q3_info_number(info, n, "protocol", &number))
		d = q3_dialect_find(number, s->netchan == Q3_NETCHAN_CHECKSUM);
	if (d && d->entity.fields == s->dialect->entity.fields &&
	    d->player.fields == s->dialect->player.fields) {
		s->dialect = d;
		s->protocol = number;
	}
}

static void from_server(struct q3_session *s, uint32_t sequence, uint8_t *payload,
			size_t n, struct record *r)
{
	struct q3_parse p;

	r->kind = "server-message";
	if (!settle(s, payload, n) && s->dialect->protocol != s->protocol) {
		record_opaque(r, no_table);
		return;
	}
	q3_parse_init(&p, payload, n, s->dialect, s->game, r);
	p.b.slack = Q3_SLACK;
	p.sequence = (int32_t)sequence;
	decode(s, &p, DIRECTION_S2C);
	if (!s->protocol && p.game && p.content == Q3_HOLDS_GAMESTATE && !r->reason)
		learn_protocol(s, p.game);
}

static void from_client(struct q3_session *s, uint32_t sequence, const int32_t *longs,
			uint8_t *payload, size_t n, struct record *r)
{
	const struct q3_text *text = NULL;
	const struct q3_feed *feed = NULL;
	struct q3_parse p;

	q3_parse_init(&p, payload, n, s->dialect, s->game, r);
	p.b.slack = Q3_SLACK;
	p.sequence = (int32_t)sequence;
	if (s->game) {
		text = q3_text_find(&s->game->server, longs[2]);
		feed = q3_feed_find(s->game, longs[0]);
	}
	p.key_known = text && feed;
	if (p.key_known)
		p.key = (uint32_t)feed->feed ^ (uint32_t)longs[1] ^ text->hash;
	decode(s, &p, DIRECTION_C2S);
}

/*
 * Return true if the key is right as far as can be told: the unscrambled message parses,
 * or the connection was seen from its first packet. In the latter case a message that
 * does not parse is at fault, not the key.
 */
static bool unscrambled(const struct q3_session *s, enum direction direction,
			const uint8_t *payload, size_t n)
{
	struct record silent;
	struct q3_parse p;

	if (s->fresh)
		return true;
	record_reset(&silent, NULL);
	q3_parse_init(&p, payload, n, s->dialect, NULL, &silent);
	return direction == DIRECTION_C2S ? q3_parse_client(&p) : q3_parse_server(&p);
}

static void legacy_server(struct q3_session *s, uint32_t sequence, uint8_t *payload,
			  size_t n, struct record *r)
{
	const struct q3_text *text = NULL;
	int32_t acknowledge;

	r->kind = "server-message";
	if (n > Q3_KEY_FROM_SERVER && !clear_longs(payload, n, 4, &acknowledge, 1)) {
		record_opaque(r, "acknowledge too large for the clear bytes");
		return;
	}
	if (n <= Q3_KEY_FROM_SERVER) {
		from_server(s, sequence, payload, n, r);
		return;
	}
	if (s->game)
		text = q3_text_find(&s->game->client, acknowledge);
	if (text && !s->has_challenge &&
	    !q3_session_find_key(s, (int32_t)sequence,
				 q3_text_bytes(&s->game->client, text), text->n, payload,
				 n))
		text = NULL;
	if (!text && q3_session_guess(s, (int32_t)sequence, acknowledge, payload, n))
		text = q3_text_find(&s->game->client, acknowledge);
	if (!text) {
		record_int(r, "reliableAcknowledge", acknowledge);
		record_opaque(r,
			      s->has_challenge ? unknown_client_text : unknown_challenge);
		return;
	}
	q3_scramble(payload, n, Q3_KEY_FROM_SERVER,
		    (uint8_t)((uint32_t)s->challenge ^ sequence),
		    q3_text_bytes(&s->game->client, text), text->n);
	if (unscrambled(s, DIRECTION_S2C, payload, n))
		from_server(s, sequence, payload, n, r);
	else
		record_opaque(r, wrong_key);
}

static void record_longs(struct record *r, const int32_t *longs)
{
	record_int(r, "serverId", longs[0]);
	record_int(r, "messageAcknowledge", longs[1]);
	r->facts.has |= FACT_ACK;
	r->facts.ack = (uint32_t)longs[1];
	record_int(r, "reliableAcknowledge", longs[2]);
}

static void legacy_client(struct q3_session *s, uint32_t sequence, uint8_t *payload,
			  size_t n, struct record *r)
{
	const struct q3_text *text = NULL;
	int32_t longs[3];

	r->kind = "client-message";
	if (!clear_longs(payload, n, Q3_KEY_FROM_CLIENT, longs, 3)) {
		if (n <= Q3_KEY_FROM_CLIENT)
			record_malformed(r, "message ends too early");
		else
			record_opaque(r, "acknowledges too large for the clear bytes");
		return;
	}
	if (s->game && s->has_challenge)
		text = q3_text_find(&s->game->server, longs[2]);
	if (!text && n > Q3_KEY_FROM_CLIENT) {
		record_longs(r, longs);
		record_opaque(r,
			      s->has_challenge ? unknown_server_text : unknown_challenge);
		return;
	}
	if (text)
		q3_scramble(payload, n, Q3_KEY_FROM_CLIENT,
			    (uint8_t)(s->challenge ^ longs[0] ^ longs[1]),
			    q3_text_bytes(&s->game->server, text), text->n);
	if (unscrambled(s, DIRECTION_C2S, payload, n))
		from_client(s, sequence, longs, payload, n, r);
	else
		record_opaque(r, wrong_key);
}

/*
 * A handshake may have been missed: then the key is that of the connection before, and
 * one message in some thousands comes out as another that is right by chance.
 */
static void judge_key(struct q3_session *s, struct record *r)
{
	bool misfit = r->status == RECORD_MALFORMED || r->reason == wrong_key;

	if (misfit) {
		s->fits = 0;
		if (s->misfits < MISFITS_DOUBT)
			s->misfits++;
	} else if (r->status <= RECORD_PARTIAL && s->misfits >= MISFITS_DOUBT) {
		record_partial(r, "its key may be that of an earlier connection");
		s->misfits = ++s->fits < FITS_ENOUGH ? s->misfits : 0;
	} else if (r->status <= RECORD_PARTIAL) {
		s->misfits = 0;
	}
}

/* @payload may be changed, and Q3_SLACK bytes behind it may be read. */
static void message(struct q3_session *s, enum direction direction, uint32_t sequence,
		    uint8_t *payload, size_t n, struct record *r)
{
	int32_t longs[3] = { 0 };

	if (!s->dialect)
		s->dialect = &q3_dialect_legacy;
	if (s->netchan != Q3_NETCHAN_CHECKSUM) {
		if (direction == DIRECTION_C2S)
			legacy_client(s, sequence, payload, n, r);
		else
			legacy_server(s, sequence, payload, n, r);
		judge_key(s, r);
		return;
	}
	if (direction == DIRECTION_S2C) {
		from_server(s, sequence, payload, n, r);
		return;
	}
	clear_longs(payload, n, n, longs, 3);
	from_client(s, sequence, longs, payload, n, r);
}

static void slice(struct q3_session *s, enum direction direction,
		  const struct q3_header *h, struct record *r)
{
	const char *why = NULL;
	uint8_t *whole;
	size_t n;

	r->kind = "fragment";
	if (!q3_game_get(&s->game, s->dialect ? s->dialect : &q3_dialect_legacy)) {
		record_opaque(r, "no memory for fragments");
		return;
	}
	switch (q3_assemble(s->game, h, direction == DIRECTION_C2S, &whole, &n, &why)) {
	case Q3_SLICE_STORED:
		break;
	case Q3_SLICE_REPEATED:
		record_bool(r, "repeated", true);
		break;
	case Q3_SLICE_WRONG:
		record_malformed(r, why);
		break;
	case Q3_SLICE_WHOLE:
		record_uint(r, "messageLength", n);
		message(s, direction, h->sequence, whole, n, r);
		break;
	}
}

/*
 * The numbers start over and no handshake was seen: a connection of unknown challenge.
 * Where its first datagram was not seen either, its netchan is that of the last one.
 */
static void begin_unknown(struct q3_session *s, const uint8_t *datagram, size_t n,
			  bool client, bool first)
{
	static const uint8_t zero[4];
	enum q3_netchan netchan = s->netchan;
	size_t at = client ? 6 : 4;

	memset(&s->offer, 0, sizeof(s->offer));
	q3_session_start(s, first);
	s->netchan = first ? Q3_NETCHAN_LEGACY : netchan;
	if (!first && netchan == Q3_NETCHAN_CHECKSUM)
		s->dialect = &q3_dialect_ioq3;
	if (first && n >= at + 4 && !memcmp(datagram + at, zero, 4)) {
		s->netchan = Q3_NETCHAN_CHECKSUM;
		s->dialect = &q3_dialect_ioq3;
	}
}

/*
 * If the acceptance was lost, a connection begins with its first small sequence; one that
 * was accepted again under the same challenge, when the numbers start over.
 */
static void begin_if_new(struct q3_session *s, const uint8_t *datagram, size_t n,
			 uint32_t sequence, bool client)
{
	const struct q3_offer *o = &s->offer;
	bool known = s->live && s->challenge == o->challenge &&
		     (!s->has_qport || s->qport == o->qport);
	struct netchan_side *side = &s->side[client];
	bool far = netchan_order(side, sequence) == NETCHAN_OLDER &&
		   side->newest - sequence > RESTART_DISTANCE;
	bool over = far && sequence == 1;

	s->behind[client] = far ? s->behind[client] + 1 : 0;
	if (o->has_connect && !known && (sequence <= 2 || far))
		q3_session_start(s, sequence <= 2);
	else if (over && s->accepted_again)
		q3_session_start(s, true);
	else if (s->live && (over || s->behind[client] >= BEHIND_MAX))
		begin_unknown(s, datagram, n, client, over);
	else
		return;
	netchan_order(side, sequence);
}

void q3_session_datagram(struct q3_session *s, enum direction direction,
			 const uint8_t *datagram, size_t n, struct record *r)
{
	bool client = direction == DIRECTION_C2S;
	uint8_t payload[Q3_SLICE + Q3_SLACK];
	struct q3_header h;
	uint32_t sequence;
	const char *why;

	r->kind = client ? "client-message" : "server-message";
	if (n < sizeof(sequence)) {
		record_malformed(r, "shorter than a sequence");
		return;
	}
	memcpy(&sequence, datagram, sizeof(sequence));
	begin_if_new(s, datagram, n, le32toh(sequence) & ~Q3_FRAGMENT, client);
	if (s->netchan == Q3_NETCHAN_UNKNOWN && s->has_challenge)
		q3_session_find_netchan(s, datagram, n, client);
	if (s->netchan == Q3_NETCHAN_UNKNOWN) {
		record_uint(r, "sequence", le32toh(sequence) & ~Q3_FRAGMENT);
		r->facts.has |= FACT_SEQUENCE;
		r->facts.sequence = le32toh(sequence) & ~Q3_FRAGMENT;
		record_opaque(r, unknown_netchan);
		return;
	}
	if (!q3_header_read(&h, datagram, n, client, s->netchan == Q3_NETCHAN_CHECKSUM,
			    &why)) {
		record_malformed(r, why);
		return;
	}
	q3_header_record(&h, client, r);
	if (h.has_checksum && s->has_challenge &&
	    h.checksum != q3_checksum(s->challenge, h.sequence)) {
		record_malformed(r, "wrong checksum");
		return;
	}
	if (client && s->live && s->has_qport && h.qport != s->qport) {
		record_opaque(r, "qport of another connection");
		return;
	}
	if (client && !s->has_qport)
		s->qport = h.qport;
	if (h.fragment) {
		slice(s, direction, &h, r);
		return;
	}
	memcpy(payload, h.payload, h.n);
	memset(payload + h.n, 0, Q3_SLACK);
	record_copied(r, payload, h.n, h.payload);
	message(s, direction, h.sequence, payload, h.n, r);
}
