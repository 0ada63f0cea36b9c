// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * q3_family.c - Quake III's seam to the sessions: which end serves, what the
 * connectionless words teach.
 *
 * Read next: q3_datagram.c (one datagram), q3_server.c and q3_client.c (one message).
 */
#include <stdlib.h>
#include <string.h>

#include "decode/q3/q3_session.h"
#include "decode/session.h"

static bool is_low(const struct session *s, const struct record *r)
{
	return r->source.port == s->key.low_port &&
	       !memcmp(r->source.bytes, s->key.low, s->key.length);
}

static enum direction find_direction(struct session *s, struct q3_session *q,
				     const uint8_t *payload, size_t n, struct record *r)
{
	bool low = is_low(s, r);
	enum direction direction = q3_session_vote(q, low, payload, n);

	if (direction == DIRECTION_UNKNOWN)
		return direction;
	s->server_known = true;
	s->server_is_low = (direction == DIRECTION_S2C) == low;
	s->family = FAMILY_QUAKE3;
	s->certain = true;
	r->direction = direction;
	return direction;
}

static void quake3_datagram(struct session *s, enum direction direction,
			    const uint8_t *payload, size_t n, struct record *r)
{
	struct q3_session *q = session_state(s, FAMILY_QUAKE3);

	r->kind = "game";
	if (n < 4) {
		record_malformed(r, "shorter than a sequence");
		return;
	}
	if (!q) {
		record_opaque(r, "no memory for a session");
		return;
	}
	if (direction == DIRECTION_UNKNOWN ||
	    (q->netchan != Q3_NETCHAN_LEGACY && !q->has_challenge &&
	     !q->offer.has_connect)) {
		enum direction voted = find_direction(s, q, payload, n, r);

		if (direction == DIRECTION_UNKNOWN)
			direction = voted;
	}
	if (direction == DIRECTION_UNKNOWN) {
		record_opaque(r, "direction not known yet: the handshake was not seen");
		return;
	}
	q3_session_datagram(q, direction, payload, n, r);
	s->dialect = r->dialect ? r->dialect : s->dialect;
}

/* The first number of a word's arguments. */
static bool first_number(const uint8_t *arguments, size_t n, int32_t *ret)
{
	char digits[16] = "";
	size_t at = 0, used = 0;
	char *end;

	while (at < n && (arguments[at] == ' ' || arguments[at] == '"'))
		at++;
	while (at < n && used < sizeof(digits) - 1 && arguments[at] > ' ')
		digits[used++] = (char)arguments[at++];
	*ret = (int32_t)strtoll(digits, &end, 10);
	return end != digits;
}

static bool is_word(const char *word, const char *wanted)
{
	return strcmp(word, wanted) == 0;
}

static void quake3_word(struct session *s, enum direction direction, const char *word,
			const uint8_t *arguments, size_t n)
{
	struct q3_session *q;
	int32_t challenge;
	bool has;

	(void)direction;
	if (!is_word(word, "challengeResponse") && !is_word(word, "connect") &&
	    !is_word(word, "connectResponse") && !is_word(word, "disconnect"))
		return;
	q = session_state(s, FAMILY_QUAKE3);
	if (!q)
		return;
	has = first_number(arguments, n, &challenge);
	if (is_word(word, "challengeResponse")) {
		if (has)
			q3_session_on_challenge(q, challenge);
	} else if (is_word(word, "connect")) {
		/* The text is in quotes. */
		while (n && *arguments != '\\') {
			arguments++;
			n--;
		}
		if (n && arguments[n - 1] == '"')
			n--;
		q3_session_on_connect(q, (const char *)arguments, n);
	} else if (is_word(word, "connectResponse")) {
		q3_session_on_accept(q, has ? &challenge : NULL);
	} else {
		q->disconnected = true;
	}
}

static void quake3_drop(void *state)
{
	q3_session_drop(state);
}

/* The server knows a client by its address and qport; the port may change. */
static bool quake3_owns(const void *state, const uint8_t *payload, size_t n)
{
	const struct q3_session *q = state;

	return q->live && q->has_qport && n >= 6 &&
	       q->qport == (uint16_t)(payload[4] | payload[5] << 8);
}

const struct family_ops quake3_ops = {
	.state_size = sizeof(struct q3_session),
	.datagram = quake3_datagram,
	.word = quake3_word,
	.drop = quake3_drop,
	.owns = quake3_owns,
};
