/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * q3_vectors.h - datagrams of Quake III, both ways, from an independent implementation
 * whose bytes the engines confirmed, and what has to have been said before each. Included
 * once by a program.
 */
#ifndef Q3_VECTORS_H
#define Q3_VECTORS_H

#include "decode/q3/q3_support.h"
#include "decode/tape.h"

#define SERVER_CHALLENGE 1234567890

static const char client_a[] =
	"11000000c8afc5a5b6716e9da8483696a05e53b4d667c79d8320a46f5734d77b1336796f1f";
static const char client_b[] =
	"0100000001006915a9aa866e358f27fce6606b6b4004031ab70c559cdba18eaf8b34392dab718913"
	"a79262caf054f03cebf2";
static const char client_c[] = "02000000ffff6955553502";
static const char server_1[] =
	"01000000aa48b6ca05b0aac40b0fbf8d455234c23f8b258b3202bfa52522ff3562d5d4b7bc5c368e"
	"b334125dfdb394fb445d16e8c365927f7247afd1d5d7f0d2b3d3ae3eda16ac5e8350ce604a3df8";
static const char server_2[] =
	"02000000483522548e5d5a39a5d367fd30626763bad0197be7cbc9a9e9856543c7cca9a2be691d58"
	"8d2723ddf51a653165aeb1dc52ddee30f4f556c4ebf7dcd14d7213cb78";
static const char server_3[] = "0400000048f52f06f103b61d6b1e25c30d73e6893f";

/* A connection accepted with this challenge. */
static inline void begin(struct q3_session *s, int32_t challenge)
{
	memset(s, 0, sizeof(*s));
	q3_session_on_challenge(s, challenge);
	q3_session_on_accept(s, NULL);
	assert_non_null(s->game);
}

static inline void give(struct q3_session *s, enum direction direction,
			const uint8_t *bytes, size_t n, struct record *r)
{
	uint8_t *copy = exact_copy(bytes, n);

	record_reset(r, &tape);
	q3_session_datagram(s, direction, copy, n, r);
	assert_false(r->overflow);
	free(copy);
}

static inline void give_hex(struct q3_session *s, enum direction direction,
			    const char *hex, struct record *r)
{
	uint8_t bytes[256];

	give(s, direction, bytes, from_hex(hex, bytes, sizeof(bytes)), r);
}

static inline void begin_a(struct q3_session *s)
{
	const struct q3_text *text;

	begin(s, SERVER_CHALLENGE);
	q3_text_put(&s->game->server, 12, "cs 5 100%", 9, s->dialect);
	text = q3_text_find(&s->game->server, 12);
	assert_non_null(text);
	assert_int_equal(text->hash, 63859);
	q3_feed_put(s->game, 98765, -559038737);
}

static inline void begin_b(struct q3_session *s)
{
	begin(s, -5);
	q3_feed_put(s->game, 10, 7);
}

static inline void begin_server(struct q3_session *s)
{
	begin(s, SERVER_CHALLENGE);
	q3_text_put(&s->game->client, 2, "say 50%", 7, s->dialect);
}

#endif /* Q3_VECTORS_H */
