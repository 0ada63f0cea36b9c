// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * DTLS's records and handshake, with the state of those before. The first byte chooses
 * what was before: 0 (or no such suite) nothing; otherwise a handshake of suite n - 1 of
 * qe_encoder.h that both ends have the key of (40h: encrypt-then-MAC, 80h: extended
 * master secret). What is inside is of one dialect, but with each eighth suite: to try
 * several is what fuzz_qe_game.c does, faster. Each piece is a datagram, bit 0 of how:
 * from a client. Then
 *
 *	bits 7, 1: 0 0	as it is
 *	0 1		without headers: a handshake message in one record, of the type
 *			of bits 2 to 6
 *	1 x		without headers: a record closed by the suite, of the type of
 *			bits 1 and 2; bit 3: as a handshake message; bit 4: its number
 *			is that of the record before; bit 5: its last byte is wrong;
 *			bit 6: twice in the datagram
 */
#include "decode/family.h"
#include "decode/qe/qe_session.h"
#include "fuzz/fuzz.h"
#include "fuzz/qe/qe_enter.h"
#include "fuzz/qe/qe_key.h"
#include "decode/qe/qe_encoder.h"

#define PIECE_MOST  60000
#define PRESET_ROOM 1024

static struct record_tape tape;
static struct keys *keys;

/* A handshake that was before: its datagrams are all of the client's or server's. */
struct preset {
	bool made;
	struct enc enc;
	uint8_t bytes[3][PRESET_ROOM]; /* client, server, client */
	size_t n[3];
};

static void begin(void)
{
	struct keys_psk psk = qe_key();

	if (keys)
		return;
	keys = keys_create(NULL, &psk);
	must(keys && !record_tape_create(&tape, 4096, 1 << 16));
}

/* --- a handshake ------------------------------------------------------------------- */

static void say(struct preset *p, int datagram, uint8_t type, const uint8_t *body,
		size_t n)
{
	uint8_t message[PRESET_ROOM];
	int side = datagram == 1;
	size_t bytes = enc_message(&p->enc, side, type, body, n, message);

	p->n[datagram] += enc_record(&p->enc, side, 0, 0x16, message, bytes,
				     p->bytes[datagram] + p->n[datagram]);
}

static void preset_make(struct preset *p, const struct enc_suite *suite, uint8_t flags)
{
	static const struct enc_hello hello = { .ticket = true };
	struct keys_psk psk = qe_key();
	uint8_t body[256];
	size_t n;

	p->made = true;
	p->enc = (struct enc){ .suite = suite,
			       .etm = flags & 0x40,
			       .ems = flags & 0x80,
			       .random = { { 1 }, { 2 } } };
	say(p, 0, QE_CLIENT_HELLO, body, enc_hello(&p->enc, 0, &hello, body));
	say(p, 1, QE_SERVER_HELLO, body, enc_hello(&p->enc, 1, &hello, body));
	say(p, 1, QE_HELLO_DONE, NULL, 0);
	n = enc_put(body, strlen(psk.identity), 2);
	n += enc_add(body + n, psk.identity, strlen(psk.identity));
	say(p, 2, QE_CLIENT_KEY, body, n);
	enc_master(&p->enc, psk.bytes, psk.n);
	enc_keys(&p->enc);
}

/* NULL: nothing was before. */
static struct preset *preset_of(uint8_t first)
{
	static struct preset presets[256];
	size_t suite = first & 0x3f;

	if (!suite || suite > ENC_SUITES)
		return NULL;
	if (!presets[first].made)
		preset_make(&presets[first], &enc_suites[suite - 1], first);
	presets[first].enc.sequence[0][1] = presets[first].enc.sequence[1][1] = 0;
	return &presets[first];
}

/* --- datagrams --------------------------------------------------------------------- */

/* Record and handshake headers in front of a body. */
static uint8_t *wrapped(const struct piece *piece, uint8_t number, size_t *n)
{
	uint8_t *message = malloc(12 + piece->n), *bytes = malloc(25 + piece->n);
	size_t inner;

	must(message && bytes);
	inner = enc_fragment(piece->how >> 2 & 31, number, piece->bytes, piece->n, 0,
			     piece->n, message);
	memset(bytes, 0, 13);
	memcpy(bytes, "\x16\xfe\xfd", 3);
	bytes[10] = number;
	*n = enc_put(bytes + 11, inner, 2) + 11;
	*n += enc_add(bytes + *n, message, inner);
	free(message);
	return bytes;
}

static uint8_t *sealed(const struct piece *piece, struct enc *e, size_t *n)
{
	static const uint8_t types[] = { 0x17, 0x16, 0x15, 0x18 };
	uint8_t type = types[piece->how >> 1 & 3], *exact;
	uint8_t *text = malloc(12 + piece->n), *bytes = malloc(2 * (piece->n + 200));
	int side = !(piece->how & 1);
	uint64_t *sequence = &e->sequence[side][1];
	size_t text_n;

	must(text && bytes);
	if (piece->how & 8)
		text_n = enc_fragment(QE_FINISHED, 3, piece->bytes, piece->n, 0, piece->n,
				      text);
	else
		text_n = enc_add(text, piece->bytes, piece->n);
	if (piece->how & 16 && *sequence)
		(*sequence)--;
	*n = enc_record(e, side, 1, type, text, text_n, bytes);
	if (piece->how & 32)
		bytes[*n - 1] ^= 1;
	if (piece->how & 64)
		*n += enc_add(bytes + *n, bytes, *n);
	exact = exact_copy(bytes, *n);
	free(text);
	free(bytes);
	return exact;
}

static void give(struct qe_session *s, bool client, const uint8_t *bytes, size_t n)
{
	struct record r;

	record_reset(&r, &tape);
	quake_enhanced_family.datagram(s, client ? DIRECTION_C2S : DIRECTION_S2C,
				       (struct span){ bytes, n }, &r);
	must(r.kind && (r.status == RECORD_DECODED) == !r.reason);
	said(&r);
	must(r.plains_n <= KEYS_PLAINS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct family *family = &quake_enhanced_family;
	struct qe_session *s = calloc(1, sizeof(*s));
	struct preset *preset = size ? preset_of(*data) : NULL;
	uint8_t number[2] = { 0, 0 };
	struct piece piece;
	size_t at = 1;

	begin();
	must(s != NULL);
	family->keys(s, keys);
	if (preset)
		qe_enter(&s->game.game, *data & 7);
	for (int i = 0; preset && i < 3; i++)
		give(s, i != 1, preset->bytes[i], preset->n[i]);
	while (size && piece_next(data, size, &at, &piece)) {
		bool client = piece.how & 1;
		size_t n = piece.n;
		uint8_t *copy;

		if (piece.how & 128 && preset && n < 1 << 14)
			copy = sealed(&piece, &preset->enc, &n);
		else if (piece.how & 2 && n < PIECE_MOST)
			copy = wrapped(&piece, number[client]++, &n);
		else
			copy = exact_copy(piece.bytes, n);
		give(s, client, copy, n);
		free(copy);
	}
	must(family->takes(s) < 1 << 20);
	family->drop(s);
	free(s);
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed)
{
	return pieces_or_bytes_mutate(data, size, max, 8, seed);
}
