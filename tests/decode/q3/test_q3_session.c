// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_q3_session.c - what a connection of Quake III holds its datagrams to: the checksum
 * of its challenge, the end that somebody has said, the shortest message, and which
 * snapshot gives way when there is no room.
 */
#include "decode/family.h"
#include "decode/q3/q3_support.h"
#include "decode/tape.h"

static void accept_again(struct q3_session *s, int32_t challenge)
{
	q3_session_on_challenge(s, challenge);
	q3_session_on_accept(s, NULL);
	assert_non_null(s->game);
}

/* A datagram from the server; @sum: NULL: the netchan has none. */
static void from_server(struct q3_session *s, uint32_t sequence, const uint32_t *sum,
			struct writer *message, struct record *r)
{
	uint8_t bytes[64], *copy;
	size_t n = 0;

	memcpy(bytes, &(uint32_t){ htole32(sequence) }, 4);
	n += 4;
	if (sum) {
		memcpy(bytes + n, &(uint32_t){ htole32(*sum) }, 4);
		n += 4;
	}
	assert_true(n + written(message) <= sizeof(bytes));
	memcpy(bytes + n, message->bytes, written(message));
	n += written(message);
	copy = exact_copy(bytes, n);
	record_reset(r, &tape);
	q3_session_datagram(s, DIRECTION_S2C, copy, n, r);
	free(copy);
}

static void put_idle(struct writer *w, uint32_t acknowledge)
{
	w->bits = 0;
	put(w, acknowledge, 32);
	put(w, 8, 8);
}

/* Who forges a datagram of a checked connection knows nothing of its challenge. */
static void a_wrong_checksum_is_said(void **state)
{
	static const struct {
		uint32_t sequence, off;
	} sent[] = { { 2, 0 }, { 3, 1 }, { 3, 0 }, { 4, 0x80000000 }, { 4, 0 } };
	struct q3_session s = { .live = false };
	struct writer w;
	struct record r;

	(void)state;
	accept_again(&s, 1234567890);
	put_idle(&w, 0);
	for (size_t i = 0; i < Q3_COUNT(sent); i++) {
		uint32_t sum = q3_checksum(1234567890, sent[i].sequence) ^ sent[i].off;

		from_server(&s, sent[i].sequence, &sum, &w, &r);
		assert_int_equal(s.netchan, Q3_NETCHAN_CHECKSUM);
		if (sent[i].off) {
			assert_int_equal(r.status, RECORD_MALFORMED);
			assert_string_equal(r.reason, "wrong checksum");
		} else {
			assert_int_equal(r.status, RECORD_DECODED);
		}
	}
	q3_session_drop(&s);
}

/* The same challenge again: a repeat, but after a disconnect somebody who begins anew. */
static void a_disconnect_ends_what_was(void **state)
{
	struct q3_session s = { .live = false };

	(void)state;
	accept_again(&s, 7);
	q3_text_put(&s.game->client, 1, "say hi", 6, s.dialect);
	accept_again(&s, 7);
	assert_true(s.accepted_again);
	assert_non_null(q3_text_find(&s.game->client, 1));
	s.disconnected = true;
	accept_again(&s, 7);
	assert_false(s.accepted_again);
	assert_false(s.disconnected);
	assert_null(q3_text_find(&s.game->client, 1));
	q3_text_put(&s.game->client, 1, "say hi", 6, s.dialect);
	accept_again(&s, 8);
	assert_false(s.accepted_again);
	assert_null(q3_text_find(&s.game->client, 1));
	q3_session_drop(&s);
}

/* A server's idle messages @first to @last. */
static void idle_on(struct q3_session *s, uint32_t first, uint32_t last)
{
	struct writer w;
	struct record r;

	put_idle(&w, 0);
	for (uint32_t i = first; i <= last; i++)
		from_server(s, i, NULL, &w, &r);
}

/* The first datagrams of a connection were not seen: its number is far behind. */
static void numbers_far_behind_begin_a_connection(void **state)
{
	static const char userinfo[] = "\\challenge\\9\\protocol\\68\\qport\\5";
	struct q3_session s = { .live = false };

	(void)state;
	accept_again(&s, 7);
	idle_on(&s, 1, 200);
	/* One leap is forged, or damaged. */
	idle_on(&s, 100000, 100000);
	idle_on(&s, 201, 220);
	assert_int_equal(s.challenge, 7);
	/* No word of this connection was seen, */
	idle_on(&s, 5, 11);
	assert_true(s.has_challenge);
	idle_on(&s, 12, 12);
	assert_false(s.has_challenge || s.fresh);
	assert_int_equal(s.netchan, Q3_NETCHAN_LEGACY);
	assert_int_equal(s.side[0].newest, 12);
	/* and the connect of this one. */
	idle_on(&s, 13, 200);
	q3_session_on_connect(&s, userinfo, sizeof(userinfo) - 1);
	idle_on(&s, 5, 5);
	assert_int_equal(s.challenge, 9);
	assert_true(s.has_challenge && !s.fresh);
	q3_session_drop(&s);
}

/* The key may be right by chance, and then no baseline is. */
static void gamestate_is_not_that_of_numbers_far_behind(void **state)
{
	struct q3_game *g = NULL;

	(void)state;
	assert_non_null(q3_game_get(&g, &q3_dialect_68));
	q3_game_begin(g, 3, &(int32_t){ 5 }, 6);
	assert_false(q3_game_known(g, 2));
	for (uint32_t i = 4; i <= 100; i++)
		q3_game_read(g, i, 0);
	assert_true(q3_game_known(g, 101));
	assert_true(q3_game_known(g, 37));
	assert_false(q3_game_known(g, 36));
	q3_game_drop(&g);
}

/* Four bytes are all in the clear: no key is needed. */
static void four_bytes_are_in_the_clear(void **state)
{
	struct q3_session s = { .live = false };
	struct writer w;
	struct record r;
	uint32_t acknowledge = 0;

	(void)state;
	do
		put_idle(&w, ++acknowledge);
	while (written(&w) != 4 && acknowledge < 1 << 20);
	assert_int_equal(written(&w), 4);
	accept_again(&s, 1234567890);
	from_server(&s, 1, NULL, &w, &r);
	assert_int_equal(s.netchan, Q3_NETCHAN_LEGACY);
	if (r.status != RECORD_DECODED)
		fail_msg("%s", r.reason);
	assert_string_equal(r.kind, "server-idle");
	assert_int_equal(find_int(&r, NULL, "reliableAcknowledge"), acknowledge);
	q3_session_drop(&s);
}

/* Three bytes are no sequence, whoever sends them, and nothing is read behind them. */
static void three_bytes_are_no_sequence(void **state)
{
	static const enum direction directions[] = { DIRECTION_UNKNOWN, DIRECTION_C2S,
						     DIRECTION_S2C };
	struct q3_session s = { .live = false };
	struct record r;

	(void)state;
	accept_again(&s, 1234567890);
	for (size_t n = 0; n < 4; n++)
		for (size_t i = 0; i < Q3_COUNT(directions); i++) {
			uint8_t *copy = exact_copy("\1\0\0", n);

			record_reset(&r, &tape);
			quake3_family.datagram(&s, directions[i],
					       (struct span){ copy, n }, &r);
			free(copy);
			assert_string_equal(r.kind, "game");
			assert_int_equal(r.status, RECORD_MALFORMED);
			assert_string_equal(r.reason, "shorter than a sequence");
			assert_false(s.side[0].seen || s.side[1].seen);
		}
	q3_session_drop(&s);
}

/* No room for a state: the oldest snapshot goes, and never the one that is wanted. */
static void the_oldest_snapshot_gives_way(void **state)
{
	static const int32_t sequences[] = { 20, 10, 30, 15 };
	static const int32_t goes[] = { 10, 15, 20 };
	struct q3_game *g = NULL;
	const struct q3_snapshot *keep;

	(void)state;
	assert_non_null(q3_game_get(&g, &q3_dialect_68));
	for (size_t i = 0; i < Q3_COUNT(sequences); i++) {
		struct q3_snapshot *s = &g->snapshots[g->ring[sequences[i] % 32]];

		s->sequence = sequences[i];
		s->entity[0].number = 5;
		s->entity[0].state = q3_state_copy(g, 0, NULL);
		s->count = 1;
	}
	g->states = g->touched; /* the pool ends here */
	keep = q3_snapshot_find(g, 30);
	for (size_t i = 0; i < Q3_COUNT(goes); i++) {
		assert_non_null(q3_snapshot_find(g, goes[i]));
		assert_int_not_equal(q3_state_copy(g, 0, keep), Q3_NONE);
		assert_null(q3_snapshot_find(g, goes[i]));
		for (size_t j = i + 1; j < Q3_COUNT(goes); j++)
			assert_non_null(q3_snapshot_find(g, goes[j]));
	}
	assert_int_equal(q3_state_copy(g, 0, keep), Q3_NONE);
	assert_ptr_equal(q3_snapshot_find(g, 30), keep);
	q3_game_drop(&g);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wrong_checksum_is_said),
		cmocka_unit_test(a_disconnect_ends_what_was),
		cmocka_unit_test(numbers_far_behind_begin_a_connection),
		cmocka_unit_test(gamestate_is_not_that_of_numbers_far_behind),
		cmocka_unit_test(four_bytes_are_in_the_clear),
		cmocka_unit_test(three_bytes_are_no_sequence),
		cmocka_unit_test(the_oldest_snapshot_gives_way),
	};

	return cmocka_run_group_tests(tests, tape_begin, tape_end);
}
