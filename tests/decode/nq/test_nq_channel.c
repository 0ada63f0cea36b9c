// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * NetQuake's channel: chunks of reliable messages, late datagrams, and which direction a
 * datagram claims.
 */
#include "decode/nq/nq_support.h"

static void send_chunk(struct nq_session *s, enum direction direction, int flags,
		       uint8_t sequence, const char *body, size_t n, struct record *r)
{
	uint8_t bytes[256] = {
		0, (uint8_t)flags, 0, (uint8_t)(n + 8), 0, 0, 0, sequence
	};

	memcpy(bytes + 8, body, n);
	record_reset(r, NULL);
	nq_session_datagram(s, FAMILY_NETQUAKE, direction, (struct span){ bytes, n + 8 },
			    r);
}

static void chunks(void **state)
{
	struct nq_session s = { 0 };
	struct record r;

	(void)state;
	send_chunk(&s, S2C, 1, 0, B("\x08ha"), &r);
	assert_int_equal(r.status, RECORD_DECODED);
	/* Another chunk 0 is another connection's. */
	send_chunk(&s, S2C, 1, 0, B("\x08he"), &r);
	assert_int_equal(r.status, RECORD_DECODED);
	send_chunk(&s, S2C, 9, 1, B("llo\0"), &r);
	assert_int_equal(r.status, RECORD_DECODED);
	send_chunk(&s, S2C, 9, 1, B("llo\0"), &r);
	assert_int_equal(r.status, RECORD_DECODED);
	send_chunk(&s, S2C, 9, 1, B("lla\0"), &r);
	assert_string_equal(r.reason, "sent again with other bytes");
	send_chunk(&s, S2C, 9, 3, B("\1"), &r);
	assert_int_equal(r.status, RECORD_PARTIAL);
	send_chunk(&s, S2C, 9, 4, B("\1"), &r);
	assert_int_equal(r.status, RECORD_DECODED);
	/* The same ports, another connection. */
	send_chunk(&s, S2C, 9, 0, B("\x08new\0"), &r);
	assert_int_equal(r.status, RECORD_DECODED);
	send_chunk(&s, S2C, 9, 1, B("\1"), &r);
	assert_int_equal(r.status, RECORD_DECODED);
	/* An acknowledgement with a byte too many; an op that no client sends. */
	send_chunk(&s, C2S, 2, 0, B("\1"), &r);
	assert_int_equal(r.status, RECORD_MALFORMED);
	send_chunk(&s, C2S, 4, 0, B(""), &r);
	assert_string_equal(r.kind, "nq-nak");
	nq_session_drop(&s);
}

/* The unfinished messages of both directions count towards the memory of a session. */
static void a_session_counts_both_unfinished_messages(void **state)
{
	struct nq_session s = { 0 };
	size_t server, both;
	struct record r;

	(void)state;
	assert_int_equal(nq_session_takes(&s), sizeof(s));
	send_chunk(&s, S2C, 1, 0, B("\x08ha"), &r);
	server = nq_session_takes(&s);
	assert_int_equal(server, sizeof(s) + s.way[1].slices.room);
	assert_true(server >= sizeof(s) + 3);
	send_chunk(&s, C2S, 1, 0, B("\4say"), &r);
	both = nq_session_takes(&s);
	assert_int_equal(both, server + s.way[0].slices.room);
	assert_true(both > server);
	nq_session_drop(&s);
}

/* The chunks that are yet to come. */
struct rows_ahead {
	struct ahead ahead;
	const char *const *rows; /* of 8 bytes and no more; NULL ends them */
};

static bool rows_next(struct ahead *ahead, struct span *ret)
{
	struct rows_ahead *r = (struct rows_ahead *)ahead;

	if (!*r->rows)
		return false;
	*ret = (struct span){ (const uint8_t *)*r->rows++, 8 };
	return true;
}

#define CHUNK(n) "\0\1\0\10\0\0\0" n
#define END(n)	 "\0\11\0\10\0\0\0" n

/* A chunk waits for the end of its message: the wait says whether that end is ahead. */
static void chunks_wait(void **state)
{
	static const struct {
		const char *chunk;
		const char *ahead[4];
		enum family_wait wait;
	} rows[] = {
		{ CHUNK("\5"), { NULL }, WAIT_SLICES },
		{ CHUNK("\5"), { CHUNK("\5"), NULL }, WAIT_SLICES },
		{ CHUNK("\5"), { END("\7"), CHUNK("\4"), NULL }, WAIT_SLICES },
		{ CHUNK("\5"), { CHUNK("\6"), NULL }, WAIT_END },
		{ CHUNK("\5"), { CHUNK("\6"), CHUNK("\6"), END("\7") }, WAIT_NOTHING },
		{ CHUNK("\5"), { END("\6"), NULL }, WAIT_NOTHING },
		{ END("\5"), { NULL }, WAIT_NOTHING },
		{ CHUNK("\4"), { NULL }, WAIT_NOTHING }, /* sent again */
		{ "\0\20\0\10\0\0\0\5", { NULL }, WAIT_NOTHING }, /* unreliable */
	};
	struct nq_session s = { 0 };

	(void)state;
	s.way[1].slices.started = true;
	s.way[1].slices.next = 5;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct rows_ahead ahead = { { rows_next }, rows[i].ahead };
		struct span chunk = { (const uint8_t *)rows[i].chunk, 8 };

		if (nq_session_waits(&s, S2C, chunk, &ahead.ahead) != rows[i].wait)
			fail_msg("row %zu", i);
	}
}

/* A late datagram is decoded, and changes nothing. */
static void late_ones(void **state)
{
	struct nq_session s = { 0 };
	struct record r;

	(void)state;
	send_chunk(&s, S2C, 16, 9, B("\x0b\x0f\0\0\0\4\1Hi\0m\0\0\0"), &r);
	assert_true(s.game.known && s.game.format.dialect->protocol == 15);
	send_chunk(&s, S2C, 16, 8, B("\x0b\x9a\2\0\0\4\1Hi\0m\0\0\0"), &r);
	assert_int_equal(r.status, RECORD_DECODED);
	assert_int_equal(s.game.format.dialect->protocol, 15);
	nq_session_drop(&s);
}

/* Return how certain a datagram of @n bytes is of its direction, which is in @ret. */
static int claim(uint8_t flags, size_t n, uint8_t op, enum direction *ret)
{
	uint8_t *bytes = calloc(1, n);
	int sure;

	assert_non_null(bytes);
	bytes[1] = flags;
	bytes[2] = (uint8_t)(n >> 8);
	bytes[3] = (uint8_t)n;
	bytes[8] = op;
	*ret = DIRECTION_UNKNOWN;
	sure = nq_session_claims((struct span){ bytes, n }, ret);
	free(bytes);
	return sure;
}

/* A length that no client sends is surer than an op, and an op surer than a command. */
static void the_longer_the_surer(void **state)
{
	enum direction whose;
	int server, move, command;

	(void)state;
	server = claim(NQ_FLAGS_CHUNK, 129, 4, &whose);
	assert_int_equal(whose, S2C);
	assert_int_equal(claim(NQ_FLAGS_END, 1032, 11, &whose), server);
	assert_int_equal(whose, S2C);
	move = claim(NQ_FLAGS_UNRELIABLE, 24, 3, &whose);
	assert_int_equal(whose, C2S);
	command = claim(NQ_FLAGS_END, 128, 4, &whose);
	assert_int_equal(whose, C2S);
	assert_true(server > move && move > command && command > 0);
	assert_int_equal(claim(NQ_FLAGS_END, 128, 11, &whose), 0);
	assert_int_equal(claim(NQ_FLAGS_ACK, 128, 4, &whose), 0);
	assert_int_equal(whose, DIRECTION_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chunks),
		cmocka_unit_test(chunks_wait),
		cmocka_unit_test(a_session_counts_both_unfinished_messages),
		cmocka_unit_test(late_ones),
		cmocka_unit_test(the_longer_the_surer),
	};

	return cmocka_run_group_tests(tests, tape_begin, tape_end);
}
