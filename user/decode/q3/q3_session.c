// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * q3_session.c - from the handshake to a connection, and the votes without one.
 *
 * A new connection begins at the first connectResponse after a connect with another
 * challenge or qport; a repeated connectResponse changes nothing, unless a disconnect
 * came in between, or the sequences start at 1 again.
 */
#include "decode/q3/q3_session.h"
#include "lib/reader.h"

#define VOTES_NEEDED	  4
#define VOTE_WINDOW	  64
#define VOTE_RELIABLE_MAX 100000

void q3_session_drop(struct q3_session *s)
{
	q3_game_drop(&s->game);
	q3_trial_drop(s);
}

void q3_session_start(struct q3_session *s, bool fresh)
{
	const struct q3_offer *o = &s->offer;
	const struct q3_dialect *d = q3_dialect_find(o->protocol, 0);

	/* Unknown numbers are tried with the base game's tables and judged strictly. */
	if (!d)
		d = &q3_dialect_legacy;
	q3_session_drop(s);
	q3_game_get(&s->game, d);
	if (s->game) {
		q3_texts_reset(&s->game->server, fresh);
		q3_texts_reset(&s->game->client, fresh);
	}
	s->dialect = d;
	s->protocol = o->protocol;
	s->settled = false;
	s->netchan = Q3_NETCHAN_UNKNOWN;
	s->challenge = o->challenge;
	s->has_challenge = o->has_challenge;
	s->qport = o->qport;
	s->has_qport = o->has_connect;
	s->live = true;
	s->fresh = fresh;
	s->disconnected = false;
	s->accepted_again = false;
	memset(s->side, 0, sizeof(s->side));
	memset(s->behind, 0, sizeof(s->behind));
	s->misfits = s->fits = 0;
	s->guesses = 0;
	memset(s->votes, 0, sizeof(s->votes));
}

void q3_session_on_challenge(struct q3_session *s, int32_t challenge)
{
	if (s->offer.has_connect && s->offer.challenge == challenge)
		return;
	s->offer.challenge = challenge;
	s->offer.has_challenge = true;
	s->offer.has_connect = false;
}

void q3_session_on_connect(struct q3_session *s, const char *userinfo, size_t n)
{
	int32_t number;

	if (q3_info_number(userinfo, n, "challenge", &number)) {
		s->offer.challenge = number;
		s->offer.has_challenge = true;
	}
	s->offer.protocol = 0;
	if (q3_info_number(userinfo, n, "protocol", &number))
		s->offer.protocol = number;
	if (q3_info_number(userinfo, n, "qport", &number)) {
		s->offer.qport = (uint16_t)number;
		s->offer.has_connect = true;
	}
}

void q3_session_on_accept(struct q3_session *s, const int32_t *challenge)
{
	struct q3_offer *o = &s->offer;

	if (challenge && !o->has_challenge) {
		o->challenge = *challenge;
		o->has_challenge = true;
	}
	if (!o->has_challenge)
		return;
	if (s->live && !s->disconnected && s->has_challenge &&
	    s->challenge == o->challenge &&
	    (!o->has_connect || !s->has_qport || s->qport == o->qport)) {
		s->accepted_again = true;
		return;
	}
	q3_session_start(s, true);
}

void q3_session_find_netchan(struct q3_session *s, const uint8_t *datagram, size_t n,
			     bool client)
{
	struct reader rd = reader_of(datagram, n);
	uint32_t sequence = reader_le32(&rd) & ~Q3_FRAGMENT, checksum;

	if (client)
		reader_le16(&rd);
	checksum = reader_le32(&rd);
	s->netchan = Q3_NETCHAN_LEGACY;
	if (!reader_failed(&rd) && checksum == q3_checksum(s->challenge, sequence)) {
		s->netchan = Q3_NETCHAN_CHECKSUM;
		s->dialect = &q3_dialect_ioq3;
		s->settled = false;
		if (s->game)
			q3_game_clear(s->game, s->dialect);
	}
}

/* A checksum at offset 6 is a client's, at 4 a server's. True: two packets agree. */
static bool vote_checksum(struct q3_votes *v, unsigned int from_client, uint32_t sequence,
			  uint32_t checksum)
{
	/* Not the same packet again. */
	if (v->has_solved[from_client] && sequence != v->solved_at[from_client] &&
	    q3_checksum(v->solved[from_client], sequence) == checksum && sequence > 1)
		return true;
	if (sequence % 2 == 0) {
		v->solved[from_client] = q3_checksum_solve(checksum, sequence);
		v->solved_at[from_client] = sequence;
		v->has_solved[from_client] = v->solved[from_client] != 0;
	}
	return false;
}

/* Does what stands at offset 6 acknowledge what the other end has sent? */
static bool looks_like_client(const uint8_t *datagram, size_t n, uint32_t other)
{
	struct q3_bits b;
	int32_t acknowledge, reliable;

	if (n < 6 + 5)
		return false;
	b = q3_bits_of(datagram + 6, n - 6);
	q3_get_long(&b);
	acknowledge = q3_get_long(&b);
	reliable = q3_get_long(&b);
	return !q3_bits_failed(&b) && acknowledge > 0 && (uint32_t)acknowledge <= other &&
	       other - (uint32_t)acknowledge <= VOTE_WINDOW && reliable >= 0 &&
	       reliable < VOTE_RELIABLE_MAX;
}

/* A legacy client's first: number 1, all in the clear, nothing acknowledged but what the
 * server may have sent first. */
static bool is_first_of_client(const uint8_t *datagram, size_t n)
{
	struct record silent;
	struct q3_parse p;
	struct q3_bits b;

	if (n < 6 + 5 || n > 6 + Q3_KEY_FROM_CLIENT)
		return false;
	b = q3_bits_of(datagram + 6, n - 6);
	if (q3_get_long(&b) || (uint32_t)q3_get_long(&b) > 1 || q3_get_long(&b))
		return false;
	record_reset(&silent, NULL);
	q3_parse_init(&p, datagram + 6, n - 6, &q3_dialect_68, NULL, &silent);
	return q3_parse_client(&p);
}

enum direction q3_session_vote(struct q3_session *s, unsigned int end,
			       const uint8_t *datagram, size_t n)
{
	struct q3_votes *v = &s->votes[end], *other = &s->votes[!end];
	uint32_t sequence, number;

	if (n < sizeof(sequence))
		return DIRECTION_UNKNOWN;
	memcpy(&sequence, datagram, sizeof(sequence));
	sequence = le32toh(sequence);
	number = sequence & ~Q3_FRAGMENT;
	for (unsigned int client = 0; client < 2; client++) {
		size_t at = client ? 6 : 4;
		uint32_t checksum;

		if (n < at + sizeof(checksum))
			continue;
		memcpy(&checksum, datagram + at, sizeof(checksum));
		checksum = le32toh(checksum);
		/* The sum of number 1 is 0, whatever the challenge is. */
		if (number == 1 && !checksum) {
			s->netchan = Q3_NETCHAN_CHECKSUM;
			s->dialect = &q3_dialect_ioq3;
			return client ? DIRECTION_C2S : DIRECTION_S2C;
		}
		if (!vote_checksum(v, client, number, checksum))
			continue;
		s->netchan = Q3_NETCHAN_CHECKSUM;
		s->challenge = v->solved[client];
		s->has_challenge = true;
		s->dialect = &q3_dialect_ioq3;
		return client ? DIRECTION_C2S : DIRECTION_S2C;
	}
	if (sequence == 1 && !s->live && is_first_of_client(datagram, n)) {
		q3_session_start(s, true);
		s->netchan = Q3_NETCHAN_LEGACY;
		return DIRECTION_C2S;
	}
	if (number > v->highest)
		v->highest = number;
	if (!(sequence & Q3_FRAGMENT) && looks_like_client(datagram, n, other->highest) &&
	    ++v->legacy >= VOTES_NEEDED && v->legacy > 2 * other->legacy) {
		s->netchan = Q3_NETCHAN_LEGACY;
		return DIRECTION_C2S;
	}
	if (other->legacy >= VOTES_NEEDED)
		return DIRECTION_S2C;
	return DIRECTION_UNKNOWN;
}
