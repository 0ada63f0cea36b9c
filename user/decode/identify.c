// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * identify.c - see identify.h.
 */
#include "decode/identify.h"
#include "decode/family.h"
#include "decode/oob/oob_text.h"

#define SESSION_PATIENCE 64 /* datagrams */
#define DTLS_HEADER	 13
#define DTLS_TYPE_MIN	 0x14
#define DTLS_TYPE_MAX	 0x18

static bool shape_dtls(const uint8_t *p, size_t n)
{
	if (n < DTLS_HEADER || p[0] < DTLS_TYPE_MIN || p[0] > DTLS_TYPE_MAX ||
	    p[1] != 0xfe || (p[2] != 0xfd && p[2] != 0xff))
		return false;
	while (n >= DTLS_HEADER) {
		size_t length = DTLS_HEADER + ((size_t)p[11] << 8 | p[12]);

		if (p[0] < DTLS_TYPE_MIN || p[0] > DTLS_TYPE_MAX || p[1] != 0xfe ||
		    length > n)
			return false;
		p += length;
		n -= length;
	}
	return !n;
}

static bool is_digits_line(struct span *s)
{
	size_t n = 0;

	while (n < s->n && s->bytes[n] >= '0' && s->bytes[n] <= '9')
		n++;
	if (!n || n == s->n || s->bytes[n] != '\n')
		return false;
	*s = span_skip(*s, n + 1);
	return true;
}

/* QuakeWorld's and Quake II's datagrams to and from masters, and raw answers. */
static bool shape_raw(const uint8_t *payload, size_t n)
{
	struct span s = { payload, n };

	if (n && n <= 2 && (n == 1 || !payload[1]))
		return payload[0] >= 'k' && payload[0] <= 'm';
	if (n >= 2 && n <= 3 && payload[1] == '\n' && (n == 2 || !payload[2]))
		return payload[0] == 'C' || payload[0] == 'c';
	if (span_starts(s, "a\n")) {
		s = span_skip(s, 2);
		return is_digits_line(&s) && is_digits_line(&s) && s.n <= 1;
	}
	if (n == 7 && !payload[6])
		s.n--;
	return span_is(s, "query\n") || span_is(s, "query") || span_starts(s, "stdlog ");
}

/* Is it a control packet to its last byte? Of one that the capture has cut that cannot
 * be told: it is none. */
static bool reads_control(const uint8_t *payload, size_t n, size_t length)
{
	struct record silent;

	if (n != length)
		return false;
	record_reset(&silent, NULL);
	netquake_family.datagram(NULL, DIRECTION_UNKNOWN, (struct span){ payload, n },
				 &silent);
	return silent.status != RECORD_MALFORMED;
}

enum shape identify_shape(const uint8_t *payload, size_t n, size_t length)
{
	if (oob_marked(payload, n))
		return SHAPE_OOB;
	if (n >= 4 && (size_t)(payload[2] << 8 | payload[3]) == length) {
		/*
		 * A datagram of one of these lengths may begin with another game's
		 * sequence.
		 */
		if (payload[0] == 0x80 && !payload[1] && n >= 5 &&
		    (length % 128 || reads_control(payload, n, length)))
			return SHAPE_CONTROL;
		if (!payload[0] && n >= 8 &&
		    (payload[1] == 0x01 || payload[1] == 0x09 || payload[1] == 0x10 ||
		     (payload[1] == 0x02 && length == 8)))
			return SHAPE_NETQUAKE;
	}
	if (shape_dtls(payload, n))
		return SHAPE_DTLS;
	if (shape_raw(payload, n))
		return SHAPE_RAW;
	return n < 4 ? SHAPE_RUNT : SHAPE_SEQUENCED;
}

#define TURN_NS (3 * 1000000000LL) /* of silence, before a server may be a client */

static void learn_server(struct session *s, bool from_low, bool sender_serves, bool firm)
{
	bool low = sender_serves == from_low;

	if (s->server_known && (!firm || s->server_is_low == low))
		return;
	s->server_known = true;
	s->server_is_low = low;
}

static void learn_family(struct session *s, const struct datagram *dg, bool sender_serves,
			 enum wire_family family)
{
	const struct record_address *server =
		sender_serves ? &dg->source : &dg->destination;
	const struct record_address *client =
		sender_serves ? &dg->destination : &dg->source;

	if (s->certain && s->family == family)
		return;
	s->family = family;
	s->certain = true;
	host_learn(s->table, server, family, HOST_SERVER, dg->time_ns);
	host_learn(s->table, client, family, HOST_CLIENT, dg->time_ns);
}

/* Words that begin a game: whatever was thought of the session before, this is it. */
static bool joins(const struct oob *oob)
{
	switch (oob->row->kind) {
	case KIND_CONNECTRESPONSE:
	case KIND_CLIENT_CONNECT:
	case KIND_S2C_CONNECTION:
	case KIND_ACCEPT:
		return true;
	default:
		return false;
	}
}

static enum wire_family only_family(unsigned int mask)
{
	return mask && !(mask & (mask - 1)) ? (enum wire_family)__builtin_ctz(mask)
					    : FAMILY_AUTO;
}

/* QuakeWorld's letters begin many words: alone they prove nothing. */
static bool weak_letter(const struct oob *oob)
{
	struct span s = oob->arguments;

	if (oob->row->kind == KIND_A2C_PRINT)
		return s.n && *s.bytes != '\\' && *s.bytes != '\n' && s.bytes[s.n - 1];
	return oob->row->kind == KIND_A2C_CLIENT_COMMAND && (!s.n || s.bytes[s.n - 1]);
}

/*
 * Return true if a known server receives what only servers send: the source is spoofed or
 * reflected.
 */
static bool contradicts(const struct session *s, const struct datagram *dg,
			enum direction direction)
{
	const struct host *host;

	if (direction != DIRECTION_S2C || s->certain)
		return false;
	host = host_find(s->table, &dg->destination);
	return host && host->role == HOST_SERVER;
}

/*
 * Return true if the direction is known by other means and is not @direction. Then the
 * datagram's words teach nothing.
 */
static bool direction_conflicts(const struct datagram *dg, enum direction direction)
{
	return dg->direction != DIRECTION_UNKNOWN && direction != dg->direction;
}

static void learn_oob(struct session *s, const struct datagram *dg, bool from_low,
		      const struct oob *oob)
{
	enum wire_family family = only_family(oob->candidates);
	enum direction direction;

	if (!oob->row || !oob->candidates || weak_letter(oob))
		return;
	s->asked_raw |= oob->candidates >> FAMILY_QUAKEWORLD & 1;
	direction = oob->row->direction;
	/* A server says disconnect, but that is tried on servers, too: it proves nothing.
	 */
	if (direction == DIRECTION_UNKNOWN || contradicts(s, dg, direction) ||
	    direction_conflicts(dg, direction) ||
	    (oob->row->kind == KIND_DISCONNECT && !s->certain))
		return;
	/*
	 * A session in which the server sends does not turn around: a connect in its name
	 * is forged.
	 */
	if (oob->row->kind == KIND_CONNECT && s->certain &&
	    session_direction(s, from_low) == DIRECTION_S2C &&
	    dg->time_ns - s->served_ns < TURN_NS)
		return;
	if (oob->row->kind == KIND_CONNECT)
		s->connected = true;
	/*
	 * After a connect any host can send the server's words, with the client's address
	 * as source.
	 */
	learn_server(s, from_low, direction == DIRECTION_S2C,
		     direction == DIRECTION_C2S ? oob->row->kind == KIND_CONNECT
						: family != FAMILY_AUTO && !s->connected);
	if (family == FAMILY_AUTO)
		return;
	family = oob_owner(oob, family);
	if (direction == DIRECTION_C2S) {
		if (s->guess == FAMILY_AUTO || oob->row->kind == KIND_CONNECT)
			s->guess = family;
		return;
	}
	/* DarkPlaces answers console commands as QuakeWorld does. */
	if (!s->certain || joins(oob))
		learn_family(s, dg, true, family);
}

static void learn_control(struct session *s, const struct datagram *dg, bool from_low)
{
	bool reply = dg->payload[4] & 0x80;
	struct record_address game;
	struct reader rd = reader_of(dg->payload + 5, dg->n - 5);
	uint32_t port = reader_le32(&rd);

	/* A malformed datagram teaches nothing, nor does one that answers a server. */
	if (!reads_control(dg->payload, dg->n, dg->length) ||
	    direction_conflicts(dg, reply ? DIRECTION_S2C : DIRECTION_C2S) ||
	    (reply && contradicts(s, dg, DIRECTION_S2C)))
		return;
	learn_server(s, from_low, reply, reply);
	if (!reply) {
		if (s->guess == FAMILY_AUTO)
			s->guess = FAMILY_NETQUAKE;
		return;
	}
	learn_family(s, dg, true, FAMILY_NETQUAKE);
	if (dg->payload[4] != 0x81 || !port || port > UINT16_MAX)
		return;
	game = dg->source;
	game.port = (uint16_t)port;
	host_learn(s->table, &game, FAMILY_NETQUAKE, HOST_SERVER, dg->time_ns);
	host_learn(s->table, &dg->destination, FAMILY_NETQUAKE, HOST_CLIENT, dg->time_ns);
}

/*
 * Return the sender of a handshake message of this type; certificates and a Finished come
 * from either.
 */
static enum direction dtls_direction(uint8_t type)
{
	switch (type) {
	case 1: /* ClientHello */
	case 15: /* CertificateVerify */
	case 16: /* ClientKeyExchange */
	case 21: /* CertificateURL */
		return DIRECTION_C2S;
	case 0: /* HelloRequest */
	case 2: /* ServerHello */
	case 3: /* HelloVerifyRequest */
	case 4: /* NewSessionTicket */
	case 12: /* ServerKeyExchange */
	case 13: /* CertificateRequest */
	case 14: /* ServerHelloDone */
	case 22: /* CertificateStatus */
		return DIRECTION_S2C;
	default:
		return DIRECTION_UNKNOWN;
	}
}

/*
 * Learn family and server from a DTLS handshake message in the clear. A record of the
 * application teaches nothing: either end sends those.
 */
static void learn_dtls(struct session *s, const struct datagram *dg, bool from_low)
{
	enum direction direction;
	bool client;

	if (s->guess == FAMILY_AUTO)
		s->guess = FAMILY_QUAKE_ENHANCED;
	/* After a record of no bytes stands the next one's first byte. */
	if (dg->payload[0] != 0x16 || dg->payload[3] || dg->payload[4] || dg->n < 14 ||
	    !(dg->payload[11] | dg->payload[12]))
		return;
	direction = dtls_direction(dg->payload[13]);
	if (direction == DIRECTION_UNKNOWN || direction_conflicts(dg, direction))
		return;
	client = direction == DIRECTION_C2S;
	/*
	 * Any host can send a hello: what is known of a game stays until its server says
	 * otherwise.
	 */
	if (s->certain && s->family != FAMILY_QUAKE_ENHANCED &&
	    (client || session_direction(s, from_low) != DIRECTION_S2C))
		return;
	/*
	 * The server of a game is known: any host can send words in its name. A client
	 * says hello.
	 */
	learn_server(s, from_low, !client,
		     client || !s->certain || s->family != FAMILY_QUAKE_ENHANCED);
	learn_family(s, dg, !client, FAMILY_QUAKE_ENHANCED);
}

/*
 * A bare l or m answers QuakeWorld's ping or log; without such a request one byte means
 * nothing.
 */
static void learn_raw(struct session *s, const struct datagram *dg, bool from_low)
{
	if (dg->n > 2 || (dg->payload[0] != 'l' && dg->payload[0] != 'm') || s->certain ||
	    !s->asked_raw || direction_conflicts(dg, DIRECTION_S2C))
		return;
	learn_server(s, from_low, true, true);
	learn_family(s, dg, true, FAMILY_QUAKEWORLD);
}

/* A new session: have its ends been met elsewhere? */
static void learn_ends(struct session *s, const struct datagram *dg, bool from_low)
{
	const struct host *source = host_find(s->table, &dg->source);
	const struct host *destination = host_find(s->table, &dg->destination);

	if (destination && destination->role == HOST_SERVER) {
		s->guess = destination->family;
		learn_server(s, from_low, false, false);
	} else if (source && source->role == HOST_SERVER) {
		s->guess = source->family;
		learn_server(s, from_low, true, false);
	} else if (source && source->role == HOST_CLIENT) {
		learn_server(s, from_low, false, false);
	} else if (destination && destination->role == HOST_CLIENT) {
		learn_server(s, from_low, true, false);
	}
}

void identify_learn(struct session *s, enum shape shape, const struct datagram *dg,
		    bool from_low, struct oob *oob)
{
	if (!s->datagrams++)
		learn_ends(s, dg, from_low);
	if (shape == SHAPE_SEQUENCED && !s->certain && s->guess != FAMILY_AUTO &&
	    s->datagrams < SESSION_PATIENCE &&
	    session_direction(s, from_low) == DIRECTION_C2S)
		session_move(s, from_low, s->guess, (struct span){ dg->payload, dg->n });
	switch (shape) {
	case SHAPE_OOB:
		learn_oob(s, dg, from_low, oob);
		break;
	case SHAPE_CONTROL:
		if (!s->certain || s->family == FAMILY_NETQUAKE)
			learn_control(s, dg, from_low);
		break;
	case SHAPE_NETQUAKE:
		if (!s->server_known)
			score_shaped(s, FAMILY_NETQUAKE, dg->payload, dg->n, from_low);
		/* Where the length's low byte is a sequence's high one, wait for more. */
		if (!s->certain && dg->length % 128) {
			bool serves = session_direction(s, from_low) == DIRECTION_S2C;

			if (s->server_known)
				learn_family(s, dg, serves, FAMILY_NETQUAKE);
			s->guess = FAMILY_NETQUAKE;
		}
		break;
	case SHAPE_DTLS:
		learn_dtls(s, dg, from_low);
		break;
	case SHAPE_SEQUENCED:
		if (!s->certain || !s->server_known)
			score_sequenced(s, dg->payload, dg->n, from_low);
		break;
	case SHAPE_RAW:
		learn_raw(s, dg, from_low);
		break;
	case SHAPE_RUNT:
		break;
	}
	if (shape != SHAPE_OOB && session_direction(s, from_low) == DIRECTION_S2C)
		s->served_ns = dg->time_ns;
}

/* Shared words of a DarkPlaces game belong to quake3. */
static enum wire_family among(unsigned int mask, enum wire_family owner)
{
	if (owner == FAMILY_AUTO)
		return FAMILY_AUTO;
	if (mask & 1U << owner)
		return owner;
	return owner == FAMILY_NETQUAKE && (mask & IN_Q3) ? FAMILY_QUAKE3 : FAMILY_AUTO;
}

static void resolve_oob(const struct session *s, const struct datagram *dg, bool from_low,
			struct oob *oob, bool last, struct identity *ret)
{
	enum wire_family known = s->certain ? s->family : FAMILY_AUTO;
	enum wire_family family = only_family(oob->candidates);

	ret->direction = session_direction(s, from_low);
	/* The ends' roles in other sessions may be forged. */
	if (oob->row && oob->row->direction != DIRECTION_UNKNOWN &&
	    dg->direction == DIRECTION_UNKNOWN && (!s->server_known || !s->certain))
		ret->direction = oob->row->direction;
	if (oob->row && oob->row->kind == KIND_DISCONNECT && known == FAMILY_AUTO &&
	    dg->direction == DIRECTION_UNKNOWN)
		ret->direction = DIRECTION_UNKNOWN;
	/* Its word alone said that the sender serves; of the other end more was seen. */
	if (oob->row && dg->direction == DIRECTION_UNKNOWN &&
	    contradicts(s, dg, oob->row->direction))
		ret->direction = DIRECTION_C2S;
	/* A game server says this to its master, though that one serves every client. */
	if (oob->row && oob->row->kind == KIND_HEARTBEAT)
		ret->direction = DIRECTION_S2C;
	if (oob->row && weak_letter(oob) && known == FAMILY_AUTO && last &&
	    s->guess != FAMILY_AUTO)
		known = s->guess;
	if (oob->row && weak_letter(oob) &&
	    (session_direction(s, from_low) == DIRECTION_C2S ||
	     (known != FAMILY_AUTO && among(oob->candidates, known) == FAMILY_AUTO)))
		oob->row = NULL;
	if (oob->row && !oob->candidates) {
		ret->foreign = "a query or reply of another protocol (Valve, GoldSrc)";
		return;
	}
	if (!oob->row) {
		family = known != FAMILY_AUTO ? known : s->guess;
		ret->settled = known != FAMILY_AUTO || last;
	} else if (family == FAMILY_AUTO) {
		family = among(oob->candidates, known);
		ret->settled = family != FAMILY_AUTO || last;
		if (family == FAMILY_AUTO && last)
			family = among(oob->candidates, s->guess);
		if (family == FAMILY_AUTO && last && !weak_letter(oob)) {
			family = oob_fallback(oob);
			ret->guessed = family != FAMILY_AUTO;
		}
	} else if (weak_letter(oob) && among(oob->candidates, known) != family) {
		family = last ? among(oob->candidates, s->guess) : FAMILY_AUTO;
		ret->settled = last;
	} else {
		ret->settled = true;
	}
	ret->family = family;
	oob->family = family;
}

static void resolve_raw(const struct session *s, const struct datagram *dg, bool last,
			struct identity *ret)
{
	struct span bytes = { dg->payload, dg->n };
	bool asks = span_starts(bytes, "query") || span_starts(bytes, "c\n");

	if (ret->direction == DIRECTION_UNKNOWN)
		ret->direction = asks ? DIRECTION_C2S : DIRECTION_S2C;
	ret->settled = true;
	if (span_starts(bytes, "query"))
		ret->family = FAMILY_QUAKE2;
	else if (dg->n > 2 || (dg->n == 2 && dg->payload[1] == '\n'))
		ret->family = FAMILY_QUAKEWORLD;
	else if (s->certain || last)
		ret->family = s->certain ? s->family : s->guess;
	else
		ret->settled = false;
}

static void resolve_sequenced(const struct session *s, enum shape shape, bool last,
			      struct identity *ret)
{
	if (s->certain) {
		ret->family = s->family;
		ret->settled = true;
	} else if (last) {
		ret->family = s->guess;
		ret->settled = true;
	}
	if (shape == SHAPE_NETQUAKE && !s->certain) {
		ret->family = FAMILY_NETQUAKE;
		ret->settled = s->server_known || last;
	}
	/* Other than by name, direction comes late: let the votes be counted. */
	if (!s->server_known && !last)
		ret->settled = false;
}

void identify_resolve(struct session *s, enum shape shape, const struct datagram *dg,
		      bool from_low, struct oob *oob, bool last, struct identity *ret)
{
	/* A session with so many datagrams that is not known by now will not be. */
	last = last || s->datagrams > SESSION_PATIENCE;
	if (last && !s->certain && s->guess == FAMILY_AUTO)
		learn_ends(s, dg, from_low);
	ret->shape = shape;
	ret->family = FAMILY_AUTO;
	ret->direction = session_direction(s, from_low);
	ret->settled = ret->guessed = false;
	ret->foreign = NULL;
	switch (shape) {
	case SHAPE_OOB:
		resolve_oob(s, dg, from_low, oob, last, ret);
		break;
	case SHAPE_CONTROL:
		/* As in identify_learn(): another game's sequence may look like this
		 * one's length. */
		ret->family =
			s->certain && dg->length % 128 == 0 ? s->family : FAMILY_NETQUAKE;
		ret->settled = true;
		if (ret->family == FAMILY_NETQUAKE)
			ret->direction =
				dg->payload[4] & 0x80 ? DIRECTION_S2C : DIRECTION_C2S;
		break;
	case SHAPE_RAW:
		resolve_raw(s, dg, last, ret);
		break;
	case SHAPE_DTLS:
		ret->family = FAMILY_QUAKE_ENHANCED;
		ret->settled = s->server_known || last;
		break;
	case SHAPE_NETQUAKE:
	case SHAPE_SEQUENCED:
	case SHAPE_RUNT:
		resolve_sequenced(s, shape, last, ret);
		break;
	}
	if (ret->foreign)
		ret->settled = true;
}

void identify_force(enum wire_family family, struct oob *oob, struct identity *ret)
{
	ret->settled = true;
	ret->guessed = false;
	ret->foreign = NULL;
	ret->family = family;
	if (ret->shape != SHAPE_OOB)
		return;
	if (oob->row && among(oob->candidates, family) != FAMILY_AUTO)
		ret->family = among(oob->candidates, family);
	else
		oob->row = NULL;
	oob->family = ret->family;
}
