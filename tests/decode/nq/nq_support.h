/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * nq_support.h - what the tests of NetQuake's messages share: a game of a dialect, a
 * message from bytes, its record as JSON.
 */
#ifndef NQ_SUPPORT_H
#define NQ_SUPPORT_H

#include "decode/decode_support.h"
#include "decode/nq/nq_session.h"
#include "decode/nq/nq_tables.h"
#include "decode/tape.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define B(text)	 text, sizeof(text) - 1
#define C2S	 DIRECTION_C2S
#define S2C	 DIRECTION_S2C
#define ONE	 "\0\0\x80\x3f" /* 1.0 */
#define TWO	 "\0\0\0\x40"
#define VEC_F32	 ONE TWO ONE
#define VEC_13_3 "\x08\0\x10\0\xf8\xff" /* 1, 2, -1 */

static struct nq_game game;

/* As from a serverinfo of @name, with @flags and FTE's @pext2. */
static inline void enter(const char *name, uint32_t flags, uint32_t pext2)
{
	memset(&game, 0, sizeof(game));
	for (unsigned int i = 0; nq_dialects[i]; i++)
		if (!strcmp(nq_dialects[i]->name, name)) {
			assert_true(nq_format_of(nq_dialects[i], flags, 0, pext2,
						 &game.format));
			game.possible = 1U << i;
			game.known = game.fitted = game.based = true;
			game.maxclients = 4;
			return;
		}
	fail_msg("no dialect %s", name);
}

/* The entities that come next, in frame 0, are known. */
static inline void know_entities(void)
{
	game.has_frame = true;
	game.frame = -1;
	memset(game.whole, 0xff, sizeof(game.whole));
}

static inline void parse(enum direction direction, const void *bytes, size_t n,
			 struct record *r)
{
	uint8_t *copy = malloc(n ? n : 1);
	struct message m = {
		.bytes = { copy, n },
		.direction = direction,
		.record = r,
	};

	assert_non_null(copy);
	memcpy(copy, bytes, n);
	record_reset(r, &tape);
	r->kind = "nq-unreliable";
	nq_decode(&game, &m);
	/* The record points to nothing of the message. */
	free(copy);
}

static inline char *json_of(const struct record *r)
{
	struct jsonl json;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	jsonl_init(&json, out);
	jsonl_record(&json, r);
	jsonl_flush(&json);
	fclose(out);
	return text;
}

#endif /* NQ_SUPPORT_H */
