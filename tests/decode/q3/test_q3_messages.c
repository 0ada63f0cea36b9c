// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Messages of Quake III: whole datagrams both ways, as q3_vectors.h has them, and the
 * same written again from their values.
 */
#include "decode/q3/q3_vectors.h"

static const char plain_a[] =
	"c5a5b6716e9da8483696a05e0302409b1b230dce64692201d73b6227581201";
static const char plain_b[] =
	"6915a9aa866e358f27fce6609898b3f7f0e944ffa66f28527d5c78c7cade58827ae05461913903a7"
	"03cf1801";
static const char plain_1[] =
	"aa48b6cad6637917d8dc6c5e9681e711ec58f658e1d16c76f6f12ce6b10607646f8fe55d60e7c18e"
	"2e604728978ec53b10b641aca1947c020604230160007ded09c57f8d50831db399ee2b";
static const char plain_2[] =
	"483522542d3c4261c8de44389434117f96a01aba5f3304046ae061b5117025721d080500e02a0018"
	"514c132d49deb21dea25239d779052323d4b5001ee130b9315";
static const char plain_3[] = "48f52f065464a84300150000af23969315";

static void expect(const struct record *r, const char *kind)
{
	if (r->status != RECORD_DECODED)
		fail_msg("%s: %s", r->kind, r->reason);
	assert_string_equal(r->kind, kind);
}

static const char *const move_names[] = { "serverTime", "angles[0]",   "angles[1]",
					  "angles[2]",	"forwardmove", "rightmove",
					  "upmove",	"buttons",     "weapon" };

static const struct record_item *
expect_move(const struct record *r, const struct record_item *from, const int *values)
{
	const struct record_item *at = NULL;

	from = find_item(r, from, move_names[0]);
	for (size_t i = 0; i < Q3_COUNT(move_names); i++) {
		at = find_item(r, from, move_names[i]);
		assert_non_null(at);
		assert_int_equal(at->i, values[i]);
	}
	return at;
}

static const int moves_a[3][9] = {
	{ 50000, 1000, 63536, 0, 127, 0, 0, 1, 2 },
	{ 50016, 1010, 63436, 0, 127, -127, 0, 1, 2 },
	{ 50032, 1010, 63436, 0, 127, -127, 0, 1, 2 },
};

static void test_client_vectors(void **state)
{
	const struct record_item *at = NULL;
	struct q3_session s;
	struct record r;

	(void)state;
	begin_a(&s);
	give_hex(&s, DIRECTION_C2S, client_a, &r);
	expect(&r, "client-move");
	assert_int_equal(find_int(&r, NULL, "sequence"), 17);
	assert_int_equal(find_int(&r, NULL, "qport"), 45000);
	assert_int_equal(find_int(&r, NULL, "serverId"), 98765);
	assert_int_equal(find_int(&r, NULL, "messageAcknowledge"), 300);
	assert_int_equal(find_int(&r, NULL, "reliableAcknowledge"), 12);
	assert_true(r.facts.has & FACT_ACK);
	assert_int_equal(r.facts.ack, 300);
	assert_non_null(find_op(&r, NULL, "move"));
	for (int i = 0; i < 3; i++)
		at = expect_move(&r, at, moves_a[i]);
	assert_null(find_item(&r, at, "serverTime"));
	q3_session_drop(&s);

	begin_b(&s);
	give_hex(&s, DIRECTION_C2S, client_b, &r);
	expect(&r, "client-move");
	at = find_op(&r, NULL, "clientCommand");
	assert_int_equal(find_int(&r, at, "number"), 1);
	at = find_item(&r, at, "text");
	assert_true(item_is(&r, at, "say hello 100. ."));
	at = find_op(&r, at, "clientCommand");
	assert_int_equal(find_int(&r, at, "number"), 2);
	assert_true(item_is(&r, find_item(&r, at, "text"), "cp 5"));
	assert_non_null(find_op(&r, at, "moveNoDelta"));
	expect_move(&r, at, moves_a[0]);
	q3_session_drop(&s);

	begin_b(&s);
	give_hex(&s, DIRECTION_C2S, client_c, &r);
	expect(&r, "client-idle");
	assert_null(find_item(&r, NULL, "op"));
	q3_session_drop(&s);
}

static void expect_s1(const struct record *r)
{
	const struct record_item *at = find_op(r, NULL, "gamestate");

	expect(r, "gamestate");
	assert_int_equal(find_int(r, NULL, "reliableAcknowledge"), 0);
	assert_int_equal(find_int(r, at, "serverCommandNumber"), 3);
	at = find_item(r, at, "index");
	assert_int_equal(at->i, 0);
	assert_true(item_is(r, at + 1, "\\sv_hostname\\t\\protocol\\68"));
	at = find_item(r, at + 1, "index");
	assert_int_equal(at->i, 1);
	assert_true(item_is(r, at + 1, "\\sv_serverid\\98765"));
	assert_int_equal(find_int(r, at, "number"), 64);
	assert_int_equal(find_int(r, at, "pos.trBase[2]"), -4096000);
	assert_int_equal(find_int(r, at, "eType"), 2);
	assert_int_equal(find_int(r, at, "origin[0]"), -96000);
	assert_int_equal(find_int(r, at, "origin[1]"), 12500);
	assert_int_equal(find_int(r, at, "modelindex"), 7);
	assert_int_equal(find_int(r, at, "clientNum"), 5);
	assert_int_equal(find_int(r, at, "checksumFeed"), -559038737);
}

static void expect_s2(const struct record *r)
{
	const struct record_item *at = find_op(r, NULL, "serverCommand");

	expect(r, "snapshot");
	assert_int_equal(find_int(r, NULL, "reliableAcknowledge"), 2);
	assert_int_equal(find_int(r, at, "number"), 4);
	assert_true(item_is(r, find_item(r, at, "text"), "print \"hi\n\""));
	at = find_op(r, at, "snapshot");
	assert_int_equal(find_int(r, at, "serverTime"), 50000);
	assert_true(r->facts.has & FACT_TIME && r->facts.has & FACT_SNAPSHOT);
	assert_int_equal(r->facts.time_us, 50000000);
	assert_int_equal(find_int(r, at, "deltaNum"), 0);
	assert_int_equal(find_int(r, at, "snapFlags"), 4);
	at = find_item(r, at, "areamask");
	assert_int_equal(at->size, 1);
	assert_int_equal((uint8_t)item_bytes(r, at)[0], 0xfe);
	assert_int_equal(find_int(r, at, "commandTime"), 49990);
	assert_int_equal(find_int(r, at, "origin[0]"), 128000);
	assert_int_equal(find_int(r, at, "origin[1]"), -500);
	assert_int_equal(find_int(r, at, "origin[2]"), 24125);
	assert_int_equal(find_int(r, at, "weaponTime"), -100);
	assert_int_equal(find_int(r, at, "viewheight"), 26);
	assert_int_equal(find_int(r, at, "clientNum"), 5);
	assert_int_equal(find_int(r, at, "weapon"), 2);
	assert_int_equal(find_int(r, at, "stats[0]"), 125);
	assert_int_equal(find_int(r, at, "stats[3]"), -1);
	assert_int_equal(find_int(r, at, "persistant[0]"), 3);
	assert_int_equal(find_int(r, at, "ammo[2]"), 100);
	assert_int_equal(find_int(r, at, "powerups[1]"), 60000);
	at = find_item(r, at, "number");
	assert_int_equal(at->i, 64);
	assert_int_equal(find_int(r, at, "pos.trTime"), 50000);
	assert_int_equal(find_int(r, at, "event"), 513);
	at = find_item(r, at + 1, "number");
	assert_int_equal(at->i, 70);
	assert_null(find_item(r, at + 1, "number"));
}

/* The states that the deltas build, not only what they name. */
static void expect_states(struct q3_session *s)
{
	struct q3_snapshot *two = q3_snapshot_find(s->game, 2);
	struct q3_snapshot *four = q3_snapshot_find(s->game, 4);
	const uint32_t *entity;

	assert_non_null(two);
	assert_non_null(four);
	assert_int_equal(two->count, 2);
	assert_int_equal(two->entity[0].number, 64);
	assert_int_equal(two->entity[1].number, 70);
	assert_int_equal(four->count, 1);
	assert_int_equal(four->entity[0].number, 64);
	/* unchanged, so shared */
	assert_int_equal(four->entity[0].state, two->entity[0].state);
	entity = q3_state(s->game, four->entity[0].state);
	assert_int_equal(entity[0], 50000); /* pos.trTime, from the snapshot */
	assert_int_equal(entity[11], 2); /* eType, from the baseline */
	assert_int_equal(four->player[0], 49990);
	assert_int_equal(two->player[8], (uint32_t)-100);
	assert_int_equal(four->player[8], 0);
	assert_int_equal(four->player[28], (uint32_t)-16);
	assert_int_equal(four->player[48], 125);
}

static void test_server_vectors(void **state)
{
	const struct record_item *at;
	struct q3_session s;
	struct record r;
	size_t n;

	(void)state;
	begin_server(&s);
	give_hex(&s, DIRECTION_S2C, server_1, &r);
	expect_s1(&r);
	assert_memory_equal(q3_configstring(s.game, 1, &n), "\\sv_serverid\\98765", 18);
	assert_int_equal(n, 18);
	assert_non_null(q3_feed_find(s.game, 98765));
	give_hex(&s, DIRECTION_S2C, server_2, &r);
	expect_s2(&r);
	assert_string_equal(r.dialect, "quake3-68");
	give_hex(&s, DIRECTION_S2C, server_3, &r);
	expect(&r, "snapshot");
	at = find_op(&r, NULL, "snapshot");
	assert_int_equal(find_int(&r, at, "serverTime"), 50100);
	assert_int_equal(find_int(&r, at, "deltaNum"), 2);
	assert_int_equal(find_int(&r, at, "weaponTime"), 0);
	assert_int_equal(find_int(&r, at, "viewheight"), -16);
	at = find_item(&r, at, "number");
	assert_int_equal(at->i, 70);
	assert_string_equal(at[1].key, "removed");
	expect_states(&s);
	q3_session_drop(&s);
}

/* A snapshot whose base the tap has not seen: all that it says, and that it is partial.
 */
static void test_missing_base(void **state)
{
	struct q3_session s;
	struct record r;

	(void)state;
	begin_server(&s);
	give_hex(&s, DIRECTION_S2C, server_1, &r);
	give_hex(&s, DIRECTION_S2C, server_3, &r);
	assert_int_equal(r.status, RECORD_PARTIAL);
	assert_string_equal(r.reason, "delta from a snapshot that was not seen");
	assert_int_equal(find_int(&r, NULL, "serverTime"), 50100);
	q3_session_drop(&s);
}

/* Who came in the middle knows the baselines once a gamestate has come. */
static void test_gamestate_in_the_middle(void **state)
{
	static const char *const rows[] = { server_1, NULL };

	(void)state;
	for (size_t i = 0; i < Q3_COUNT(rows); i++) {
		struct q3_session s;
		struct record r;

		begin_server(&s);
		s.game->gamestate.known = false;
		if (rows[i])
			give_hex(&s, DIRECTION_S2C, rows[i], &r);
		give_hex(&s, DIRECTION_S2C, server_2, &r);
		if (rows[i])
			expect(&r, "snapshot");
		else
			assert_string_equal(r.reason,
					    "entity from a baseline that was not seen");
		q3_session_drop(&s);
	}
}

/* The command of a map_restart, in message @sequence. */
static void restart(struct q3_session *s, uint32_t sequence)
{
	static const char text[] = "cs 1 \"\\sv_serverid\\98766\"";

	q3_game_command(s->game, 1, sequence, text, sizeof(text) - 1);
}

/* A map that is restarted has another number, and the feed of the one before. */
static void test_restarted(void **state)
{
	struct q3_session s;
	struct record r;

	(void)state;
	begin_server(&s);
	restart(&s, 1);
	assert_null(q3_feed_find(s.game, 98766));
	give_hex(&s, DIRECTION_S2C, server_1, &r);
	expect(&r, "gamestate");
	restart(&s, (uint32_t)s.game->gamestate_sequence + 1);
	assert_non_null(q3_feed_find(s.game, 98766));
	assert_int_equal(q3_feed_find(s.game, 98766)->feed, -559038737);
	q3_session_drop(&s);
}

/*
 * A gamestate may have been in the message before the restart, which was not seen. It was
 * not if a client that has read that message still plays the map that is known, or if a
 * snapshot is a difference to an earlier one.
 */
static void test_restarted_behind_a_gap(void **state)
{
	enum {
		NOTHING,
		CLIENT,
		STRANGER,
		DELTA
	};

	(void)state;
	for (int proof = NOTHING; proof <= DELTA; proof++) {
		struct q3_session s;
		struct record r;
		uint32_t at;

		begin_server(&s);
		give_hex(&s, DIRECTION_S2C, server_1, &r);
		at = (uint32_t)s.game->gamestate_sequence;
		q3_game_read(s.game, at + 1, 0);
		restart(&s, at + 3);
		assert_null(q3_feed_find(s.game, 98766));
		assert_false(q3_game_known(s.game, at + 3));
		if (proof == CLIENT)
			q3_game_played(s.game, at + 2, 98765);
		else if (proof == STRANGER)
			q3_game_played(s.game, at + 2, 98764);
		else if (proof == DELTA)
			q3_game_read(s.game, at + 3, at + 1);
		assert_int_equal(q3_feed_find(s.game, 98766) != NULL,
				 proof == CLIENT || proof == DELTA);
		assert_int_equal(q3_game_known(s.game, at + 3),
				 proof == CLIENT || proof == DELTA);
		q3_session_drop(&s);
	}
}

/* --- written again from the values ------------------------------------------------- */

static void expect_written(struct writer *w, const char *hex)
{
	uint8_t bytes[256];
	size_t n = from_hex(hex, bytes, sizeof(bytes));

	assert_int_equal(written(w), n);
	assert_memory_equal(w->bytes, bytes, n);
}

static void put_move(struct writer *w, const int *from, const int *to, uint32_t key)
{
	static const int bits[] = { 0, 16, 16, 16, 8, 8, 8, 16, 8 };
	uint32_t step = (uint32_t)(to[0] - from[0]);
	bool changed = memcmp(from + 1, to + 1, 8 * sizeof(*to)) != 0;

	put_bit(w, step < 256);
	put(w, step < 256 ? step : (uint32_t)to[0], step < 256 ? 8 : 32);
	put_bit(w, changed);
	for (int i = 1; changed && i < 9; i++) {
		put_bit(w, from[i] != to[i]);
		if (from[i] != to[i])
			put(w, (uint32_t)to[i] ^ key ^ (uint32_t)to[0], bits[i]);
	}
}

static void put_longs(struct writer *w, int32_t a, int32_t b, int32_t c)
{
	put(w, (uint32_t)a, 32);
	put(w, (uint32_t)b, 32);
	put(w, (uint32_t)c, 32);
}

static void put_command(struct writer *w, unsigned int op, uint32_t number,
			const char *text)
{
	put(w, op, 8);
	put(w, number, 32);
	put_text(w, text, strlen(text));
}

static void test_client_written_again(void **state)
{
	static const int none[9] = { 0 };
	struct writer w = { .bits = 0 };

	(void)state;
	put_longs(&w, 98765, 300, 12);
	put(&w, 2, 8);
	put(&w, 3, 8);
	for (int i = 0; i < 3; i++)
		put_move(&w, i ? moves_a[i - 1] : none, moves_a[i],
			 (uint32_t)-559038737 ^ 300 ^ 63859);
	put(&w, 5, 8);
	expect_written(&w, plain_a);

	w.bits = 0;
	put_longs(&w, 10, 2, 0);
	put_command(&w, 4, 1, "say hello 100. .");
	put_command(&w, 4, 2, "cp 5");
	put(&w, 3, 8);
	put(&w, 1, 8);
	put_move(&w, none, moves_a[0], 7 ^ 2);
	put(&w, 5, 8);
	expect_written(&w, plain_b);
}

static uint32_t raw_float(float f)
{
	uint32_t raw;

	memcpy(&raw, &f, sizeof(raw));
	return raw;
}

static void make_baseline(uint32_t *entity)
{
	memset(entity, 0, Q3_ENTITY_WORDS * sizeof(*entity));
	entity[5] = raw_float(-4096);
	entity[11] = 2;
	entity[24] = raw_float(-96);
	entity[25] = raw_float(12.5F);
	entity[29] = 7;
}

static void make_player(uint32_t *player)
{
	memset(player, 0, Q3_PLAYER_WORDS * sizeof(*player));
	player[0] = 49990;
	player[1] = raw_float(128);
	player[2] = raw_float(-0.5F);
	player[9] = raw_float(24.125F);
	player[8] = (uint32_t)-100;
	player[28] = 26;
	player[40] = 5;
	player[41] = 2;
	player[48] = 125;
	player[51] = (uint32_t)-1;
	player[64] = 3;
	player[82] = 100;
	player[97] = 60000;
}

static void test_server_written_again(void **state)
{
	const struct q3_table *t = &q3_dialect_68.entity;
	uint32_t none[Q3_PLAYER_WORDS] = { 0 }, player[Q3_PLAYER_WORDS];
	uint32_t base[Q3_ENTITY_WORDS], entity[Q3_ENTITY_WORDS], later[Q3_PLAYER_WORDS];
	struct writer w = { .bits = 0 };

	(void)state;
	make_baseline(base);
	put(&w, 0, 32);
	put(&w, 2, 8);
	put(&w, 3, 32);
	put(&w, 3, 8);
	put(&w, 0, 16);
	put_text(&w, "\\sv_hostname\\t\\protocol\\68", 26);
	put(&w, 3, 8);
	put(&w, 1, 16);
	put_text(&w, "\\sv_serverid\\98765", 18);
	put(&w, 4, 8);
	put_entity(&w, t, 64, none, base, NULL, true);
	put(&w, 8, 8);
	put(&w, 5, 32);
	put(&w, (uint32_t)-559038737, 32);
	put(&w, 8, 8);
	expect_written(&w, plain_1);

	w.bits = 0;
	make_player(player);
	memcpy(entity, base, sizeof(entity));
	entity[0] = 50000;
	entity[9] = 513;
	put(&w, 2, 32);
	put_command(&w, 5, 4, "print \"hi\n\"");
	put_snapshot_head(&w, 50000, 0, 1);
	put_player(&w, &q3_dialect_68, none, player, NULL);
	put_entity(&w, t, 64, base, entity, NULL, true);
	put_entity(&w, t, 70, none, none, NULL, true);
	put(&w, 1023, 10);
	put(&w, 8, 8);
	expect_written(&w, plain_2);

	w.bits = 0;
	memcpy(later, player, sizeof(later));
	later[8] = 0;
	later[28] = (uint32_t)-16;
	put(&w, 2, 32);
	put_snapshot_head(&w, 50100, 2, 0);
	put_player(&w, &q3_dialect_68, player, later, NULL);
	put_removed(&w, 70);
	put(&w, 1023, 10);
	put(&w, 8, 8);
	expect_written(&w, plain_3);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_client_vectors),
		cmocka_unit_test(test_server_vectors),
		cmocka_unit_test(test_missing_base),
		cmocka_unit_test(test_gamestate_in_the_middle),
		cmocka_unit_test(test_restarted),
		cmocka_unit_test(test_restarted_behind_a_gap),
		cmocka_unit_test(test_client_written_again),
		cmocka_unit_test(test_server_written_again),
	};

	return cmocka_run_group_tests(tests, tape_begin, tape_end);
}
