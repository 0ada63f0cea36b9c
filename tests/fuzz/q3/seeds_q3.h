/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * seeds_q3.h - first inputs from Quake III's messages. They are taken where the decoder
 * is given them: whole and plain, however they came.
 */
#ifndef SEEDS_Q3_H
#define SEEDS_Q3_H

#include "decode/q3/q3_demo.h"
#include "fuzz/q3/q3_mutate.h"
#include "fuzz/seeds.h"

/* The last ones of a connection. */
static struct connection {
	const struct q3_game *game;
	struct seed message, netchan, middle, demo;
	int32_t sequence;
} connection;

static bool starts_item(const struct q3_tokens *t, size_t i)
{
	const struct q3_token *a = &t->token[i], *b = a + 1;

	return i + 1 < t->n && a->bits == 8 &&
	       ((a->value == 3 && b->bits == 16) || (a->value == 4 && b->bits == 10) ||
		b->bits == 32);
}

/* A gamestate with few configstrings and baselines, short ones. */
static size_t shorten(const struct q3_dialect *d, const uint8_t *bytes, size_t n,
		      uint8_t *ret, size_t max)
{
	static struct q3_tokens t;
	size_t i = 0, to = 0, end, items = 0;

	if (!q3_tokens_read(&t, d, false, bytes, n))
		return 0;
	while (i < t.n) {
		bool text = starts_item(&t, i) && t.token[i].value == 3 &&
			    t.token[i + 1].bits == 16;
		bool baseline = starts_item(&t, i) && t.token[i + 1].bits == 10;

		for (end = i + 1; end < t.n && !starts_item(&t, end); end++)
			;
		if ((text || baseline) && items++ > 1 && items % 131) {
			i = end;
			continue;
		}
		for (size_t k = i; k < end; k++)
			if (!text || k < i + 90 || k == end - 1)
				t.token[to++] = t.token[k];
		i = end;
	}
	t.n = to;
	n = q3_tokens_write(&t, ret, max);
	return n < max ? n : 0;
}

static uint8_t dialect_number(const struct q3_dialect *d)
{
	uint8_t i = 0, k = 0;

	for (; q3_dialects[i]; i++)
		if (q3_dialects[i] == d)
			return i;
	for (; q3_old_dialects[k]; k++)
		if (q3_old_dialects[k] == d)
			return i + k;
	return 0;
}

static void note_netchan(const struct q3_dialect *d, bool client, int32_t sequence,
			 const uint8_t *bytes, size_t n)
{
	/* See fuzz_q3_netchan.c: how it begins; scrambled, or with a checksum. */
	bool sum = d->flags & Q3_CHECKSUM;
	uint8_t first = sum ? 1 : d == &q3_dialect_jka ? 2 : d->protocol == 84 ? 3 : 0;
	uint8_t how = 4 | (sum ? 2 : 16) | client, head[10] = { 0 };
	size_t head_n = (client ? 6 : 4) + (sum ? 4 : 0);

	sequence = (int32_t)htole32((uint32_t)sequence);
	memcpy(head, &sequence, sizeof(sequence));
	row_piece(NETCHAN, &connection.netchan, first, how, head, head_n, bytes, n);
	/* The same seen from the middle, by votes and guesses. */
	row_piece(NETCHAN, &connection.middle, sum ? 8 : 64, how | 8, head, head_n, bytes,
		  n);
}

static void note_block(uint8_t first, int32_t sequence, const uint8_t *bytes, size_t n)
{
	uint32_t head[2] = { htole32((uint32_t)sequence), htole32((uint32_t)n) };
	struct seed *row = &connection.demo;

	if (n + sizeof(head) > sizeof(row->bytes) - row->n) {
		seed_write(DEMO, row);
		row->n = 0;
		return;
	}
	/* A demo begins with a gamestate. */
	if (!row->n)
		seed_put(row, &first, 1);
	seed_put(row, head, sizeof(head));
	seed_put(row, bytes, n);
}

static void note_message(const struct q3_parse *p, bool client)
{
	static const char old[] = "\2\0\0\0\0\3\0\0\\protocol\\43\0";
	static uint8_t fresh[SEED_MAX - 64];
	uint8_t first = dialect_number(p->dialect), step;
	struct q3_parse look = *p;
	const uint8_t *bytes = p->b.data;
	size_t n = p->b.size;
	struct seed alone = { .n = 0 };
	struct record silent;

	record_reset(&silent, NULL);
	q3_parse_init(&look, bytes, n, p->dialect, NULL, &silent);
	if (!client)
		q3_parse_server(&look);
	if (connection.game != p->game || look.content == Q3_HOLDS_GAMESTATE) {
		seed_write(MESSAGE, &connection.message);
		seed_write(NETCHAN, &connection.netchan);
		seed_write(NETCHAN, &connection.middle);
		seed_write(DEMO, &connection.demo);
		memset(&connection, 0, sizeof(connection));
		connection.game = p->game;
		connection.sequence = p->sequence - 1;
	}
	if (look.content == Q3_HOLDS_GAMESTATE && n > SEED_MAX / 2) {
		bool plain = p->dialect->flags & Q3_PLAIN;

		if (plain)
			memcpy(fresh, old, n = sizeof(old));
		else
			n = shorten(p->dialect, bytes, n, fresh, sizeof(fresh));
		bytes = fresh;
	}
	if (!n || n > sizeof(fresh))
		return;
	step = p->sequence > connection.sequence && p->sequence < connection.sequence + 64
		       ? (uint8_t)(p->sequence - connection.sequence)
		       : 1;
	connection.sequence = p->sequence;
	row_piece(MESSAGE, &connection.message, first, (uint8_t)(step << 2 | 2 | client),
		  NULL, 0, bytes, n);
	row_piece(MESSAGE, &alone, first, 6 | client, NULL, 0, bytes, n);
	if (!(p->sequence % 4))
		seed_write(MESSAGE, &alone);
	note_netchan(p->dialect, client, p->sequence, bytes, n);
	if (!client && (connection.demo.n || look.content == Q3_HOLDS_GAMESTATE))
		note_block((uint8_t)(first << 4), p->sequence, bytes, n);
	seed_once(HUFFMAN, "\0\0", 3, bytes, n);
}

bool __real_q3_decode_message(struct q3_parse *p, enum direction direction);
bool __wrap_q3_decode_message(struct q3_parse *p, enum direction direction);

bool __wrap_q3_decode_message(struct q3_parse *p, enum direction direction)
{
	if (p->b.size)
		note_message(p, direction == DIRECTION_C2S);
	return __real_q3_decode_message(p, direction);
}

int __real_huffman_adaptive_decode(const uint8_t *in, size_t n, uint8_t *out, size_t max);
int __wrap_huffman_adaptive_decode(const uint8_t *in, size_t n, uint8_t *out, size_t max);

int __wrap_huffman_adaptive_decode(const uint8_t *in, size_t n, uint8_t *out, size_t max)
{
	int count = __real_huffman_adaptive_decode(in, n, out, max);

	seed_once(HUFFMAN, "\0\0", 3, in, n);
	if (count > 0)
		seed_once(HUFFMAN, "\1\0", 3, out, (size_t)count);
	return count;
}

/* A message from a row of values, each behind its width; the row ends with width 0. */
static size_t make_message(uint8_t *to, size_t max, const uint32_t (*value)[2])
{
	struct q3_bit_writer w = { to, 0, max * 8 };

	for (; (*value)[0]; value++)
		q3_write(&w, (*value)[1], (*value)[0]);
	if (!(w.bits % 8))
		to[w.bits / 8] = 0;
	return w.bits / 8 + 1;
}

/* What no recording may hold: the words of a handshake, a legacy client's first, a move
 * under a key that is known. */
static void note_handshake(void)
{
	static const uint8_t words[] =
		"\x08"
		"\x80\5\0\0\x4d\0\0\0"
		"\x80\x22\0\1\\challenge\\77\\qport\\5\\protocol\\68"
		"\x80\1\0\2"
		"\x80\1\0\4"
		"\x80\5\0\3\x4d\0\0\0";
	static const uint32_t first[][2] = {
		{ 32, 0 }, { 32, 0 }, { 32, 0 }, { 8, 5 }, { 0 }
	};
	static const uint32_t gamestate[][2] = {
		{ 32, 0 },   { 8, 2 },	 { 32, 0 },   { 8, 3 },	  { 16, 1 },
		{ 8, '\\' }, { 8, 's' }, { 8, 'v' },  { 8, '_' }, { 8, 's' },
		{ 8, 'e' },  { 8, 'r' }, { 8, 'v' },  { 8, 'e' }, { 8, 'r' },
		{ 8, 'i' },  { 8, 'd' }, { 8, '\\' }, { 8, '5' }, { 8, 0 },
		{ 8, 8 },    { 32, 0 },	 { 32, 9 },   { 8, 8 },	  { 0 },
	};
	static const uint32_t move[][2] = { { 32, 5 }, { 32, 1 }, { 32, 0 }, { 8, 2 },
					    { 8, 1 },  { 1, 1 },  { 8, 50 }, { 1, 1 },
					    { 1, 1 },  { 16, 7 }, { 7, 0 },  { 8, 5 },
					    { 0 } };
	static const uint8_t head[10] = { 1, 0, 0, 0, 5 };
	struct seed seed = { .n = 0 };
	uint8_t message[128];

	seed_once(NETCHAN, words, sizeof(words) - 1, NULL, 0);
	seed_put(&seed, "\x08", 1);
	seed_piece(&seed, 1 | 4 | 8, head, 6, message,
		   make_message(message, sizeof(message), first));
	seed_write(NETCHAN, &seed);
	seed.n = 0;
	seed_put(&seed, "\1", 1);
	seed_piece(&seed, 2 | 4, head, 8, message,
		   make_message(message, sizeof(message), gamestate));
	seed_piece(&seed, 1 | 2 | 4, head, 10, message,
		   make_message(message, sizeof(message), move));
	seed_write(NETCHAN, &seed);
}

#endif /* SEEDS_Q3_H */
