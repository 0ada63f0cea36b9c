/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * q3_mutate.h - a Quake III message as the row of values that its parser takes, changed
 * there and written again. See q3_trace.h.
 *
 * What the parser steps over without asking for a value (the change bits of a delta) is
 * a row of single bits.
 */
#ifndef Q3_MUTATE_H
#define Q3_MUTATE_H

#include "decode/q3/q3_symbol.h"
#include "fuzz/fuzz.h"
#include "decode/q3/q3_message.h"
#include "fuzz/q3/q3_trace.h"

#define Q3_TOKENS_MAX 65536

struct q3_tokens {
	struct q3_token token[Q3_TOKENS_MAX];
	size_t n;
};

struct q3_bit_writer {
	uint8_t *bytes;
	size_t bits, max; /* in bits */
};

static inline void q3_write_bit(struct q3_bit_writer *w, uint32_t bit)
{
	if (w->bits >= w->max)
		return;
	if (!(w->bits % 8))
		w->bytes[w->bits / 8] = 0;
	w->bytes[w->bits / 8] |= (uint8_t)((bit & 1) << w->bits % 8);
	w->bits++;
}

static inline void q3_write_symbol(struct q3_bit_writer *w, uint32_t symbol)
{
	unsigned int length, code = q3_symbol_code(symbol, &length);

	for (unsigned int i = 0; i < length; i++)
		q3_write_bit(w, code >> i & 1U);
}

static inline void q3_write(struct q3_bit_writer *w, uint32_t value, unsigned int bits)
{
	unsigned int raw = bits % 8;

	for (unsigned int i = 0; i < raw; i++)
		q3_write_bit(w, value >> i);
	for (unsigned int at = raw; at < bits; at += 8)
		q3_write_symbol(w, value >> at & 255);
}

/* The bits in front of @until, one by one. */
static inline void q3_tokens_bits(struct q3_tokens *t, const uint8_t *bytes, size_t n,
				  uint32_t *at, uint32_t until)
{
	for (; *at < until && *at < n * 8 && t->n < Q3_TOKENS_MAX; ++*at)
		t->token[t->n++] =
			(struct q3_token){ *at, bytes[*at / 8] >> *at % 8 & 1U, 1 };
}

/* Where the code of a value ends. */
static inline uint32_t q3_token_end(const uint8_t *bytes, size_t n,
				    const struct q3_token *token)
{
	struct q3_bits b = q3_bits_of(bytes, n);

	b.pos = token->at;
	q3_get(&b, token->bits);
	return b.pos;
}

/* The values of a message as far as its parser comes; true: it is right to its end. */
static inline bool q3_tokens_read(struct q3_tokens *t, const struct q3_dialect *d,
				  bool client, const uint8_t *bytes, size_t n)
{
	static struct q3_token seen[Q3_TOKENS_MAX];
	struct q3_trace trace = { seen, 0, Q3_TOKENS_MAX, bytes };
	struct record silent;
	struct q3_parse p;
	uint32_t at = 0;
	bool good;

	record_reset(&silent, NULL);
	q3_parse_init(&p, bytes, n, d, NULL, &silent);
	q3_tracing = &trace;
	good = client ? q3_parse_client(&p) : q3_parse_server(&p);
	q3_tracing = NULL;
	t->n = 0;
	for (size_t i = 0; i < trace.used && t->n < Q3_TOKENS_MAX; i++) {
		/* A look ahead was taken back. */
		if (seen[i].at < at)
			continue;
		q3_tokens_bits(t, bytes, n, &at, seen[i].at);
		if (t->n == Q3_TOKENS_MAX)
			break;
		t->token[t->n++] = seen[i];
		at = q3_token_end(bytes, n, &seen[i]);
	}
	if (!good)
		q3_tokens_bits(t, bytes, n, &at, (uint32_t)n * 8);
	return good;
}

/* What a sender sends: floor(bits / 8) + 1 bytes. */
static inline size_t q3_tokens_write(const struct q3_tokens *t, uint8_t *bytes,
				     size_t max)
{
	struct q3_bit_writer w = { bytes, 0, max * 8 };

	for (size_t i = 0; i < t->n; i++)
		q3_write(&w, t->token[i].value, t->token[i].bits);
	if (w.bits < w.max && !(w.bits % 8))
		bytes[w.bits / 8] = 0;
	return w.bits < w.max ? w.bits / 8 + 1 : max;
}

static inline uint32_t q3_value_change(uint32_t *seed, uint32_t value, unsigned int bits)
{
	uint32_t all = bits < 32 ? (1U << bits) - 1 : UINT32_MAX;

	switch (dice(seed, 8)) {
	case 0:
		return value ^ 1U << dice(seed, bits);
	case 1:
		return (value + 1 + dice(seed, 16)) & all;
	case 2:
		return (value - 1 - dice(seed, 16)) & all;
	case 3:
		return all >> dice(seed, 2);
	case 4:
		return 0;
	case 5: /* an op, a small count */
		return dice(seed, 16) & all;
	default:
		return dice(seed, 0) & all;
	}
}

/* Makes room for @n at @at; false: there is none. */
static inline bool q3_tokens_open(struct q3_tokens *t, size_t at, size_t n)
{
	if (t->n + n > Q3_TOKENS_MAX)
		return false;
	memmove(&t->token[at + n], &t->token[at], (t->n - at) * sizeof(*t->token));
	t->n += n;
	return true;
}

static inline void q3_tokens_delete(struct q3_tokens *t, size_t at, size_t n)
{
	memmove(&t->token[at], &t->token[at + n], (t->n - at - n) * sizeof(*t->token));
	t->n -= n;
}

/* A reliable command: what the parser's state listens to. */
static inline void q3_tokens_command(struct q3_tokens *t, uint32_t *seed, bool client)
{
	static const char *const texts[] = {
		"cs 1 \"\\sv_serverid\\77\"",
		"cs 0 \"\\protocol\\71\"",
		"bcs0 5 \"begin",
		"bcs1 5 middle",
		"bcs2 5 end\"",
		"bcs2 2047 \"x",
		"map_restart",
		"disconnect",
		"cs 2047 a",
		"cs 99999 a",
		"cs -1 \"",
		"userinfo \"\\name\\%s\"",
		"chat \"\x7f\xff%\"",
		"",
	};
	const char *text = texts[dice(seed, sizeof(texts) / sizeof(*texts))];
	size_t n = strlen(text), at = client ? 3 : 1;
	uint32_t number = dice(seed, 2) ? dice(seed, 300) : dice(seed, 0);

	if (t->n < at || !q3_tokens_open(t, at, n + 3))
		return;
	t->token[at++] = (struct q3_token){ 0, client ? 4 : 5, 8 };
	t->token[at++] = (struct q3_token){ 0, number, 32 };
	for (size_t i = 0; i <= n; i++)
		t->token[at++] = (struct q3_token){ 0, (uint8_t)text[i], 8 };
}

/* One more configstring, in front of a gamestate's others. */
static inline void q3_tokens_configstring(struct q3_tokens *t, uint32_t *seed)
{
	static const char *const texts[] = {
		"\\protocol\\71",   "\\com_protocol\\68", "\\protocol\\84",
		"\\sv_serverid\\5", "\\protocol\\26",	  "",
	};
	const char *text = texts[dice(seed, sizeof(texts) / sizeof(*texts))];
	size_t n = strlen(text), at = 3;

	if (t->n < at || t->token[1].value != 2 || !q3_tokens_open(t, at, n + 3))
		return;
	t->token[at++] = (struct q3_token){ 0, 3, 8 };
	t->token[at++] = (struct q3_token){ 0, dice(seed, 2), 16 };
	for (size_t i = 0; i <= n; i++)
		t->token[at++] = (struct q3_token){ 0, (uint8_t)text[i], 8 };
}

static inline void q3_tokens_copy(struct q3_tokens *t, uint32_t *seed, size_t at)
{
	static struct q3_token part[64];
	size_t from = dice(seed, (uint32_t)t->n), n = 1 + dice(seed, 64);

	if (n > t->n - from)
		n = t->n - from;
	memcpy(part, &t->token[from], n * sizeof(*part));
	if (q3_tokens_open(t, at, n))
		memcpy(&t->token[at], part, n * sizeof(*part));
}

static inline void q3_tokens_mutate(struct q3_tokens *t, uint32_t *seed, bool client)
{
	static const uint8_t widths[] = { 1, 8, 8, 8, 10, 16, 32 };
	uint32_t steps = 1 + dice(seed, 4);
	size_t at, n;

	while (steps-- && t->n) {
		at = dice(seed, (uint32_t)t->n);
		switch (dice(seed, 9)) {
		case 0:
			n = 1 + dice(seed, dice(seed, 2) ? 4 : 64);
			q3_tokens_delete(t, at, n < t->n - at ? n : t->n - at);
			break;
		case 1:
			q3_tokens_copy(t, seed, at);
			break;
		case 2:
			if (!q3_tokens_open(t, at, 1))
				break;
			t->token[at].bits = widths[dice(seed, sizeof(widths))];
			t->token[at].value = q3_value_change(seed, 0, t->token[at].bits);
			break;
		case 3:
			q3_tokens_command(t, seed, client);
			break;
		case 4:
			q3_tokens_configstring(t, seed);
			break;
		default:
			t->token[at].value = q3_value_change(seed, t->token[at].value,
							     t->token[at].bits);
			break;
		}
	}
}

/*
 * The message of @n bytes at data + at, changed; what follows it moves. @size may grow
 * to @max. Returns the message's new length.
 */
static inline size_t q3_message_mutate(uint8_t *data, size_t *size, size_t max, size_t at,
				       size_t n, const struct q3_dialect *d, bool client,
				       uint32_t *seed)
{
	static struct q3_tokens tokens;
	static uint8_t fresh[Q3_MESSAGE_MAX];
	size_t rest = *size - at - n, room = max - at - rest, length;

	if (room > sizeof(fresh))
		room = sizeof(fresh);
	if (!room || n > room)
		return n;
	memcpy(fresh, data + at, n);
	if (d->flags & Q3_PLAIN) {
		length = LLVMFuzzerMutate(fresh, n, room);
	} else {
		q3_tokens_read(&tokens, d, client, fresh, n);
		q3_tokens_mutate(&tokens, seed, client);
		length = q3_tokens_write(&tokens, fresh, room);
	}
	memmove(data + at + length, data + at + n, rest);
	memcpy(data + at, fresh, length);
	*size = at + length + rest;
	return length;
}

/* The same for a message that stands behind @skip bytes of a piece (fuzz.h). */
static inline size_t q3_piece_mutate(uint8_t *data, size_t size, size_t max,
				     const struct piece *piece, size_t skip,
				     const struct q3_dialect *d, uint32_t *seed)
{
	size_t at = (size_t)(piece->bytes - data), length;

	if (piece->n < skip)
		return LLVMFuzzerMutate(data, size, max);
	length = skip + q3_message_mutate(data, &size, max, at + skip, piece->n - skip, d,
					  piece->how & 1, seed);
	data[at - 2] = (uint8_t)length;
	data[at - 1] = (uint8_t)(length >> 8);
	return size;
}

/*
 * Leaves a game hardly any room: what needs long inputs happens in short ones. To be
 * called again and again, since a gamestate clears it.
 */
static inline void q3_game_crowd(struct q3_game *g)
{
	static char text[Q3_STRING_MAX];
	unsigned int room = 100;

	if (g->configstring_used > Q3_CONFIGSTRING_BYTES / 2)
		return;
	memset(text, 'x', sizeof(text));
	for (unsigned int i = 1000; g->configstring_used + room < Q3_CONFIGSTRING_BYTES;
	     i++) {
		unsigned int left = Q3_CONFIGSTRING_BYTES - room - g->configstring_used;

		q3_configstring_set(g, i, text,
				    left < sizeof(text) ? left : sizeof(text));
	}
	g->server.head = g->client.head = Q3_TEXT_BYTES - 8;
	if (g->touched < g->states - 6)
		g->touched = g->states - 6;
}

#endif /* Q3_MUTATE_H */
