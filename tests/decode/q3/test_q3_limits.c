// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What a message of Quake III may not say, each with its reason; and what no capture at
 * hand holds: downloads, voice old and new, the end alone.
 */
#include "decode/q3/q3_support.h"
#include "decode/tape.h"

static void expect(const struct record *r, const char *kind)
{
	if (r->status != RECORD_DECODED)
		fail_msg("%s: %s", r->kind, r->reason);
	assert_string_equal(r->kind, kind);
}

static void put_longs(struct writer *w, int32_t a, int32_t b, int32_t c)
{
	put(w, (uint32_t)a, 32);
	put(w, (uint32_t)b, 32);
	put(w, (uint32_t)c, 32);
}

static const char *reason_of(struct writer *w, enum direction direction)
{
	struct q3_parse p;
	struct record r;
	uint8_t *copy = exact_copy(w->bytes, written(w));

	record_reset(&r, &tape);
	q3_parse_init(&p, copy, written(w), &q3_dialect_openarena, NULL, &r);
	q3_decode_message(&p, direction);
	free(copy);
	w->bits = 0;
	return r.status == RECORD_MALFORMED ? r.reason : NULL;
}

static void put_bare_snapshot(struct writer *w)
{
	put(w, 0, 32);
	put_snapshot_head(w, 1, 0, 0);
	put(w, 0, 8);
	put_bit(w, 0);
}

static void test_server_limits(void **state)
{
	struct writer w = { .bits = 0 };

	(void)state;
	put(&w, 0, 32);
	put(&w, 11, 8);
	assert_string_equal(reason_of(&w, DIRECTION_S2C), "unknown op");
	put(&w, 0, 32);
	put(&w, 0, 8);
	assert_string_equal(reason_of(&w, DIRECTION_S2C), "unknown op");
	put(&w, 0, 32);
	put(&w, 3, 8);
	assert_string_equal(reason_of(&w, DIRECTION_S2C), "unknown op");
	put(&w, 0, 32);
	put(&w, 2, 8);
	put(&w, 0, 32);
	put(&w, 7, 8);
	assert_string_equal(reason_of(&w, DIRECTION_S2C), "unknown op in a gamestate");
	put(&w, 0, 32);
	put(&w, 2, 8);
	put(&w, 0, 32);
	put(&w, 3, 8);
	put(&w, 1024, 16);
	put(&w, 0, 8);
	assert_string_equal(reason_of(&w, DIRECTION_S2C),
			    "configstring index out of range");
	put(&w, 0, 32);
	put_snapshot_head(&w, 1, 0, 0);
	put(&w, 49, 8);
	assert_string_equal(reason_of(&w, DIRECTION_S2C),
			    "more delta fields than the table has");
	put(&w, 0, 32);
	put(&w, 5, 8);
	put(&w, (uint32_t)-1, 32);
	put_text(&w, "x", 1);
	put(&w, 8, 8);
	assert_string_equal(reason_of(&w, DIRECTION_S2C), "negative command number");
	for (uint32_t client = 63; client < 65; client++) {
		const char *why;

		put(&w, 0, 32);
		put(&w, 2, 8);
		put(&w, 3, 32);
		put(&w, 8, 8);
		put(&w, client, 32);
		put(&w, 77, 32);
		put(&w, 8, 8);
		why = reason_of(&w, DIRECTION_S2C);
		assert_string_equal(why ? why : "",
				    client < 64 ? "" : "client number out of range");
	}
	put_bare_snapshot(&w);
	put(&w, 1023, 10);
	put(&w, 8, 8);
	assert_null(reason_of(&w, DIRECTION_S2C));
	put_bare_snapshot(&w);
	put_removed(&w, 5);
	put_removed(&w, 5);
	assert_string_equal(reason_of(&w, DIRECTION_S2C), "entities out of order");
	put(&w, 0, 32);
	put(&w, 7, 8);
	put(&w, 1, 32);
	put(&w, 0, 16);
	put(&w, 33, 8);
	assert_string_equal(reason_of(&w, DIRECTION_S2C), "more than 32 area bytes");
	/* So many there may be. */
	put(&w, 0, 32);
	put(&w, 7, 8);
	put(&w, 1, 32);
	put(&w, 0, 16);
	put(&w, 32, 8);
	for (int i = 0; i < 32; i++)
		put(&w, 0xfe, 8);
	put(&w, 0, 8);
	put_bit(&w, 0);
	put(&w, 1023, 10);
	put(&w, 8, 8);
	assert_null(reason_of(&w, DIRECTION_S2C));
}

static void test_client_limits(void **state)
{
	struct writer w = { .bits = 0 };

	(void)state;
	put_longs(&w, 1, -1, 0);
	put(&w, 5, 8);
	assert_string_equal(reason_of(&w, DIRECTION_C2S), "negative acknowledge");
	put_longs(&w, 1, 0, -1);
	put(&w, 5, 8);
	assert_string_equal(reason_of(&w, DIRECTION_C2S), "negative acknowledge");
	put_longs(&w, 1, 1, 0);
	put(&w, 1, 8);
	assert_string_equal(reason_of(&w, DIRECTION_C2S), "unknown op");
	put_longs(&w, 1, 1, 0);
	put(&w, 2, 8);
	put(&w, 33, 8);
	assert_string_equal(reason_of(&w, DIRECTION_C2S),
			    "number of user commands out of range");
	put_longs(&w, 1, 1, 0);
	put(&w, 2, 8);
	put(&w, 0, 8);
	assert_string_equal(reason_of(&w, DIRECTION_C2S),
			    "number of user commands out of range");
	put_longs(&w, 1, 1, 0);
	for (int i = 0; i < 2; i++) {
		put(&w, 2, 8);
		put(&w, 1, 8);
		put_bit(&w, 1);
		put(&w, 1, 8);
		put_bit(&w, 0);
	}
	assert_string_equal(reason_of(&w, DIRECTION_C2S), "op after the user commands");
}

/* --- what the live captures lack: downloads, voice, the end alone ------------------- */

static void decode_written(struct writer *w, enum direction direction, struct record *r)
{
	struct q3_parse p;
	uint8_t *copy = exact_copy(w->bytes, written(w));

	record_reset(r, &tape);
	q3_parse_init(&p, copy, written(w), &q3_dialect_openarena, NULL, r);
	q3_decode_message(&p, direction);
	free(copy);
	w->bits = 0;
}

static void test_download(void **state)
{
	struct writer w = { .bits = 0 };
	struct record r;

	(void)state;
	put(&w, 0, 32);
	put(&w, 6, 8);
	put(&w, 0, 16);
	put(&w, 100000, 32);
	put(&w, 3, 16);
	put(&w, 0x030201, 24);
	put(&w, 8, 8);
	decode_written(&w, DIRECTION_S2C, &r);
	expect(&r, "download");
	assert_int_equal(find_int(&r, NULL, "size"), 100000);
	assert_memory_equal(item_bytes(&r, find_item(&r, NULL, "data")), "\1\2\3", 3);

	put(&w, 0, 32);
	put(&w, 6, 8);
	put(&w, 0, 16);
	put(&w, (uint32_t)-1, 32);
	put_text(&w, "no", 2);
	put(&w, 8, 8);
	decode_written(&w, DIRECTION_S2C, &r);
	expect(&r, "download");
	assert_true(item_is(&r, find_item(&r, NULL, "refusal"), "no"));

	put(&w, 0, 32);
	put(&w, 6, 8);
	put(&w, 9, 16);
	put(&w, 0, 16);
	put(&w, 8, 8);
	decode_written(&w, DIRECTION_S2C, &r);
	expect(&r, "download");
	assert_int_equal(find_int(&r, NULL, "length"), 0);
}

static void test_voice(void **state)
{
	static const char *const ops[] = { [9] = "voipSpeex", [10] = "voipOpus" };
	struct writer w = { .bits = 0 };
	struct record r;

	(void)state;
	for (unsigned int op = 9; op <= 10; op++) {
		put(&w, 0, 32);
		put(&w, op, 8);
		put(&w, 63, 16);
		put(&w, 1, 8);
		put(&w, 77, 32);
		put(&w, 3, 8);
		put(&w, 2, 16);
		put(&w, 1, 2);
		put(&w, 0xbbaa, 16);
		put(&w, 8, 8);
		decode_written(&w, DIRECTION_S2C, &r);
		expect(&r, "server-voice");
		assert_non_null(find_op(&r, NULL, ops[op]));
		assert_int_equal(find_int(&r, NULL, "flags"), 1);
		assert_memory_equal(item_bytes(&r, find_item(&r, NULL, "data")),
				    "\xaa\xbb", 2);
	}

	put_longs(&w, 1, 1, 0);
	put(&w, 7, 8);
	put(&w, 1, 8);
	put(&w, 77, 32);
	put(&w, 3, 8);
	for (int i = 0; i < 8; i++)
		put(&w, 0xff, 8);
	put(&w, 2, 8);
	put(&w, 1, 16);
	put(&w, 0xcc, 8);
	put(&w, 5, 8);
	decode_written(&w, DIRECTION_C2S, &r);
	expect(&r, "client-voice");
	assert_int_equal(find_int(&r, NULL, "length"), 1);
}

static void test_old_voice(void **state)
{
	struct writer w = { .bits = 0 };
	struct record r;

	(void)state;
	put(&w, 0, 32);
	put(&w, 8, 8);
	put(&w, 9, 8);
	put(&w, 10, 8);
	put(&w, 2, 16);
	put(&w, 1, 8);
	put(&w, 5, 32);
	put(&w, 1, 8);
	put(&w, 3, 16);
	put(&w, 0x332211, 24);
	put(&w, 8, 8);
	decode_written(&w, DIRECTION_S2C, &r);
	expect(&r, "server-voice");
	assert_int_equal(find_int(&r, NULL, "sender"), 2);
}

static void test_end_alone(void **state)
{
	struct writer w = { .bits = 0 };
	struct record r;

	(void)state;
	put(&w, 8, 8);
	decode_written(&w, DIRECTION_S2C, &r);
	expect(&r, "server-idle");
}

/* Engines make the most negative step one less; the others stay. */
static void test_steps(void **state)
{
	static const uint32_t steps[] = { 0x80, 0x81, 0x7f };
	static const char *const names[] = { "forwardmove", "rightmove", "upmove" };
	static const int read[] = { -127, -127, 127 };
	struct writer w = { .bits = 0 };
	struct q3_parse p;
	struct record r;

	(void)state;
	put_longs(&w, 1, 1, 0);
	put(&w, 2, 8);
	put(&w, 1, 8);
	put_bit(&w, 0);
	put(&w, 0, 32);
	put_bit(&w, 1);
	for (int angle = 0; angle < 3; angle++)
		put_bit(&w, 0);
	for (int i = 0; i < 3; i++) {
		put_bit(&w, 1);
		put(&w, steps[i], 8);
	}
	put_bit(&w, 0);
	put_bit(&w, 0);
	put(&w, 5, 8);
	record_reset(&r, &tape);
	q3_parse_init(&p, w.bytes, written(&w), &q3_dialect_openarena, NULL, &r);
	p.key_known = true;
	q3_decode_message(&p, DIRECTION_C2S);
	expect(&r, "client-move");
	for (int i = 0; i < 3; i++)
		assert_int_equal(find_int(&r, NULL, names[i]), read[i]);
}

/* Engines keep whole words as signed; fewer bits say whether they are. */
static void test_signs(void **state)
{
	static const struct {
		int bits;
		uint32_t value;
		enum record_type type;
		int64_t read;
	} fields[] = {
		{ 32, UINT32_MAX, RECORD_TYPE_INT, -1 },
		{ 32, 7, RECORD_TYPE_INT, 7 },
		{ -16, (uint32_t)-5, RECORD_TYPE_INT, -5 },
		{ 16, 0xffff, RECORD_TYPE_UINT, 0xffff },
		{ 31, INT32_MAX, RECORD_TYPE_UINT, INT32_MAX },
	};

	(void)state;
	for (size_t i = 0; i < Q3_COUNT(fields); i++) {
		struct q3_field field = { .name = "x", .bits = fields[i].bits };
		const struct record_item *item;
		struct record r;

		record_reset(&r, &tape);
		q3_describe(&r, &field, fields[i].value);
		item = find_item(&r, NULL, "x");
		assert_non_null(item);
		assert_int_equal(item->type, fields[i].type);
		assert_int_equal(item->i, fields[i].read);
	}
}

/* A demo's block may call itself anything: what it is a difference to is then unknown. */
static void test_sequences_of_demos(void **state)
{
	static const int32_t sequences[] = { INT32_MIN, -1, 0, 1, 255, INT32_MAX };
	static const uint32_t none[Q3_PLAYER_WORDS];
	struct writer w = { .bits = 0 };

	(void)state;
	put(&w, 0, 32);
	put(&w, 7, 8);
	put(&w, 1000, 32);
	put(&w, 255, 8); /* the difference is to the sequence less this */
	put(&w, 0, 8);
	put(&w, 0, 8);
	put_player(&w, &q3_dialect_68, none, none, NULL);
	put(&w, Q3_ENTITY_END, 10);
	put(&w, 8, 8);
	for (size_t i = 0; i < Q3_COUNT(sequences); i++) {
		struct q3_game *g = NULL;
		struct q3_parse p;
		struct record r;

		assert_non_null(q3_game_get(&g, &q3_dialect_68));
		record_reset(&r, &tape);
		q3_parse_init(&p, w.bytes, written(&w), &q3_dialect_68, g, &r);
		p.sequence = sequences[i];
		assert_true(q3_decode_message(&p, DIRECTION_S2C));
		assert_int_equal(r.status,
				 sequences[i] > 255 ? RECORD_PARTIAL : RECORD_DECODED);
		q3_game_drop(&g);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_server_limits),
		cmocka_unit_test(test_client_limits),
		cmocka_unit_test(test_download),
		cmocka_unit_test(test_voice),
		cmocka_unit_test(test_old_voice),
		cmocka_unit_test(test_end_alone),
		cmocka_unit_test(test_steps),
		cmocka_unit_test(test_signs),
		cmocka_unit_test(test_sequences_of_demos),
	};

	return cmocka_run_group_tests(tests, tape_begin, tape_end);
}
