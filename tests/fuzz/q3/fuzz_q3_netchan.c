// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A connection from its handshake, or from the middle: datagrams of either direction,
 * slices, wrong checksums, unknown keys. The first byte chooses how it begins, see
 * enum start; then each piece is a datagram. How it is sent:
 *
 *	bit 0	from the client
 *	bit 1	with the right checksum		\
 *	bit 2	with its fields			 } what no mutation would find
 *	bit 3	to the votes first		 |
 *	bit 4	scrambled with the right key	/
 *	bit 5	a slice of 1300 bytes, whatever is missing is zero
 *	bit 6	with a qport of its own
 *	bit 7	not a datagram, but what a connectionless word said
 */
#include "fuzz/q3/q3_mutate.h"
#include "decode/q3/q3_session.h"

#define CHALLENGE 77
#define QPORT	  5

enum how {
	FROM_CLIENT = 1 << 0,
	GOOD_SUM = 1 << 1,
	WITH_FIELDS = 1 << 2,
	VOTES = 1 << 3,
	SCRAMBLED = 1 << 4,
	FULL_SLICE = 1 << 5,
	OTHER_QPORT = 1 << 6,
	WORD = 1 << 7,
};

enum start {
	PROTOCOL = 7, /* which of protocols[] */
	NO_HANDSHAKE = 1 << 3,
	NOT_FRESH = 1 << 4,
	CROWDED = 1 << 5,
	NO_CHALLENGE = 1 << 6, /* a legacy connection from its middle */
};

static struct record_tape tape;

static void begin(struct q3_session *s, uint8_t start)
{
	static const int protocols[] = { 68, 71, 26, 84, 0, 66, 70, 91 };
	char user[64];

	if (start & NO_CHALLENGE) {
		s->netchan = Q3_NETCHAN_LEGACY;
		s->live = true;
	}
	if (start & (NO_HANDSHAKE | NO_CHALLENGE))
		return;
	snprintf(user, sizeof(user), "\\challenge\\%d\\qport\\%d\\protocol\\%d",
		 CHALLENGE, QPORT, protocols[start & PROTOCOL]);
	q3_session_on_challenge(s, CHALLENGE);
	q3_session_on_connect(s, user, strlen(user));
	q3_session_on_accept(s, NULL);
	if (start & NOT_FRESH)
		s->fresh = false;
}

static void word(struct q3_session *s, const uint8_t *bytes, size_t n)
{
	int32_t challenge = CHALLENGE;

	if (!n)
		return;
	if (n >= 5)
		memcpy(&challenge, bytes + 1, sizeof(challenge));
	switch (bytes[0] % 5) {
	case 0:
		q3_session_on_challenge(s, challenge);
		break;
	case 1:
		q3_session_on_connect(s, (const char *)bytes + 1, n - 1);
		break;
	case 2:
		q3_session_on_accept(s, NULL);
		break;
	case 3:
		q3_session_on_accept(s, &challenge);
		break;
	default:
		s->disconnected = true;
		break;
	}
}

/* The bytes in front of a message. */
static size_t head_of(uint8_t how)
{
	return (how & FROM_CLIENT ? 6 : 4) + (how & GOOD_SUM ? 4 : 0);
}

/*
 * What the sender would have done: with the text and challenge that are known here or,
 * from the middle of a connection, with those that are likely.
 */
static void scramble(const struct q3_session *s, uint8_t how, uint32_t sequence,
		     uint8_t *message, size_t n)
{
	bool client = how & FROM_CLIENT;
	const struct q3_texts *side = NULL;
	const struct q3_text *text = NULL;
	struct q3_bits b = q3_bits_of(message, n);
	int32_t longs[3], challenge = s->has_challenge ? s->challenge : CHALLENGE;
	const char *likely;
	uint8_t key;

	for (int i = 0; i < 3; i++)
		longs[i] = q3_get_long(&b);
	if (s->game) {
		side = client ? &s->game->server : &s->game->client;
		text = q3_text_find(side, client ? longs[2] : longs[0]);
	}
	key = (uint8_t)(client ? challenge ^ longs[0] ^ longs[1]
			       : (int32_t)((uint32_t)challenge ^ sequence));
	likely = longs[0] ? "score" : "";
	q3_scramble(message, n, client ? Q3_KEY_FROM_CLIENT : Q3_KEY_FROM_SERVER, key,
		    text ? q3_text_bytes(side, text) : likely,
		    text ? text->n : strlen(likely));
}

static void give(struct q3_session *s, uint8_t how, uint8_t *bytes, size_t n)
{
	bool client = how & FROM_CLIENT;
	size_t at = client ? 6 : 4, head = head_of(how);
	uint32_t sequence = 0, sum;
	struct record r;

	if (n >= sizeof(sequence))
		memcpy(&sequence, bytes, sizeof(sequence));
	sequence = le32toh(sequence) & ~Q3_FRAGMENT;
	if (client && !(how & OTHER_QPORT) && n >= at) {
		bytes[4] = QPORT;
		bytes[5] = 0;
	}
	if (how & GOOD_SUM && n >= at + sizeof(sum)) {
		sum = htole32(q3_checksum(s->challenge, sequence));
		memcpy(bytes + at, &sum, sizeof(sum));
	}
	if (how & SCRAMBLED && n > head)
		scramble(s, how, sequence, bytes + head, n - head);
	record_reset(&r, how & WITH_FIELDS ? &tape : NULL);
	if (s->netchan == Q3_NETCHAN_UNKNOWN && how & VOTES)
		q3_session_vote(s, client, bytes, n);
	q3_session_datagram(s, client ? DIRECTION_C2S : DIRECTION_S2C, bytes, n, &r);
	must(r.kind && (r.status == RECORD_DECODED) == !r.reason);
	said(&r);
}

/* Its own header, then 1300 bytes. The start is counted in slices, to be found easily. */
static uint8_t *full_slice(const struct piece *piece, size_t *ret)
{
	size_t head = head_of(piece->how);
	uint16_t place[2] = { 0, htole16(Q3_SLICE) };
	uint8_t *bytes;

	*ret = head + sizeof(place) + Q3_SLICE;
	bytes = calloc(1, *ret);
	must(bytes != NULL);
	if (piece->n)
		memcpy(bytes, piece->bytes, piece->n < *ret ? piece->n : *ret);
	bytes[3] |= 0x80;
	place[0] = htole16((uint16_t)(Q3_SLICE * (bytes[head] & 15)));
	memcpy(bytes + head, place, sizeof(place));
	return bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct q3_session s = { .game = NULL };
	struct piece piece;
	size_t at = 1;

	if (!tape.items)
		must(!record_tape_create(&tape, 4096, 1 << 16));
	if (!size)
		return 0;
	begin(&s, data[0]);
	while (piece_next(data, size, &at, &piece)) {
		size_t n = piece.n;
		uint8_t *copy = piece.how & FULL_SLICE ? full_slice(&piece, &n)
						       : exact_copy(piece.bytes, n);

		if (data[0] & CROWDED && s.game)
			q3_game_crowd(s.game);
		if (piece.how & WORD)
			word(&s, copy, n);
		else
			give(&s, piece.how, copy, n);
		free(copy);
	}
	q3_session_drop(&s);
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed)
{
	const struct q3_dialect *d = &q3_dialect_68;
	uint32_t state = seed | 1;
	uint32_t kind = dice(&state, 16);
	struct piece piece;
	size_t at;

	if (!size || kind == 0 || !piece_choose(data, size, 1, &state, &piece))
		return LLVMFuzzerMutate(data, size, max);
	if (kind < 5)
		return pieces_mutate(data, size, max, 1, &state);
	if (kind == 5) {
		data[0] ^= dice(&state, 2) ? 1U << dice(&state, 8) : dice(&state, 256);
		return size;
	}
	if ((data[0] & PROTOCOL) == 2)
		d = &q3_dialect_jka;
	else if ((data[0] & PROTOCOL) == 3)
		d = &q3_dialect_et;
	if (kind < 8 && piece.n >= 4) {
		/* Sequences near each other, and slices of one message. */
		at = (size_t)(piece.bytes - data);
		data[at] = (uint8_t)dice(&state, 16);
		data[at + 1] = data[at + 2] = 0;
		data[at + 3] = dice(&state, 3) ? 0 : 0x80;
		return size;
	}
	return q3_piece_mutate(data, size, max, &piece, head_of(piece.how), d, &state);
}
