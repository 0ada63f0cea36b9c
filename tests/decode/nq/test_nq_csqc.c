// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_nq_csqc.c - where what the game's own code says ends: the tail of a datagram of
 * DarkPlaces is found behind bytes that nobody knows, and nothing else is taken for it.
 */
#include "decode/nq/nq_support.h"

/* svc_entities number @f of nothing, svc_updatestat, svc_updatestatubyte, and a part of a
 * download. */
#define FRAME(f) "\x39" f "\0\0\7\0\0\0\0\x80"
#define FRAME_11 FRAME("\x0b\0")
#define STAT	 "\3\1\1\0\0\0"
#define STATBYTE "\x33\1\2"
#define DOWNLOAD "\x32\0\0\0\0\2\0\xaa\xbb"
/* An entity that no game knows, and its rest as it is shown. */
#define UNKNOWN	    "\x3a\5\0\xff\1\2\3"
#define REST	    "\"rest\":\"0500ff010203"
#define REST_TO(op) REST "\"},{\"op\":\"" op "\""

struct said {
	const char *bytes;
	size_t n;
	enum record_status status;
	const char *json;
};

static void hear(const struct said *said, size_t row)
{
	struct record r;
	char *text;

	parse(S2C, said->bytes, said->n, &r);
	text = json_of(&r);
	if (r.status != said->status || !strstr(text, said->json))
		fail_msg("%zu: %s not in %s", row, said->json, text);
	free(text);
}

/* Of a game that nobody has told of, whose last frame was number 10. */
static void begin_game(void)
{
	enter("dp7", 0, 0);
	game.has_frame = true;
	game.frame = 10;
}

static void a_tail_is_found_behind_the_unknown(void **state)
{
	static const struct said rows[] = {
		{ B(UNKNOWN FRAME_11), RECORD_PARTIAL, REST_TO("entities") },
		{ B(UNKNOWN STATBYTE FRAME_11), RECORD_PARTIAL,
		  REST_TO("updatestatbyte") },
		{ B(UNKNOWN STATBYTE STATBYTE "\3\1\1\2\3\4" FRAME_11), RECORD_PARTIAL,
		  REST_TO("updatestatbyte") },
		{ B(UNKNOWN FRAME_11 DOWNLOAD), RECORD_PARTIAL,
		  REST
		  "\"},{\"op\":\"entities\",\"frame\":11,\"move_ack\":7,\"entities\":"
		  "[]},{\"op\":\"downloaddata\"" },
		/* Of two the last, for there is one in a datagram; the first is unknown.
		 */
		{ B(UNKNOWN FRAME("\x0b\0") FRAME("\x0c\0")), RECORD_PARTIAL,
		  REST "390b0000000700000000" },
		{ B(UNKNOWN FRAME("\x0b\0") FRAME("\x0c\0")), RECORD_PARTIAL,
		  "80\"},{\"op\":\"entities\",\"frame\":12," },
		/* Behind two zeros, where a list may have ended, before all others. */
		{ B(UNKNOWN STAT STATBYTE FRAME_11), RECORD_PARTIAL,
		  REST "030101000000\"},{\"op\":\"updatestatbyte\"" },
		/* No tail: without a frame, with more behind it, or cut. */
		{ B(UNKNOWN STAT), RECORD_PARTIAL, REST "030101000000\"}" },
		{ B(UNKNOWN DOWNLOAD FRAME_11), RECORD_PARTIAL,
		  REST "32000000000200aabb\"},{\"op\":\"entities\"" },
		{ B(UNKNOWN FRAME_11 STATBYTE), RECORD_PARTIAL,
		  REST "390b00000007000000"
		       "0080330102\"}" },
		{ B(UNKNOWN "\x39\x0b\0\0\0\7\0\0\0\0"), RECORD_PARTIAL,
		  REST "390b000000070000"
		       "0000\"}" },
		{ B(UNKNOWN), RECORD_PARTIAL, REST "\"}" },
		/* An engine's other messages do not begin it. */
		{ B(UNKNOWN "\1" FRAME_11), RECORD_PARTIAL,
		  REST "01\"},{\"op\":\"entities\"" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		begin_game();
		hear(&rows[i], i);
		assert_int_equal(game.code, NQ_CODE_UNKNOWN);
	}
}

/* A frame that was read in search of a tail, and was none, is not the last one. */
static void what_was_only_tried_is_not_remembered(void **state)
{
	static const struct said rows[] = {
		{ B(FRAME_11 UNKNOWN FRAME("\x0c\0") STATBYTE), RECORD_PARTIAL, REST },
		{ B(FRAME_11 UNKNOWN FRAME("\x0c\0") "\1"), RECORD_PARTIAL, REST },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		begin_game();
		hear(&rows[i], i);
		assert_int_equal(game.frame, 11);
	}
}

/* A tail's number follows the last one, by some seconds at most. */
static void a_tail_follows_the_last(void **state)
{
	static const struct {
		int32_t last;
		bool any, follows;
	} rows[] = {
		{ 11, false, true },	     { 0x7fffffff, false, true },
		{ 1, true, true },	     { 10, true, true },
		{ 11, true, false },	     { 12, true, false },
		{ -489, true, true },	     { -490, true, false },
		{ 0x7fffffff, true, false }, { INT32_MIN, true, false },
	};
	static const struct said found = { B(UNKNOWN FRAME_11), RECORD_PARTIAL,
					   REST_TO("entities") };
	static const struct said all = { B(UNKNOWN FRAME_11), RECORD_PARTIAL,
					 REST "390b0000000700000000"
					      "80\"}" };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		begin_game();
		game.frame = rows[i].last;
		game.has_frame = rows[i].any;
		hear(rows[i].follows ? &found : &all, i);
		/* What is read counts; what only looked like it does not. */
		assert_int_equal(game.frame, rows[i].follows ? 11 : rows[i].last);
	}
}

/* Entities that are only removed say nothing of whose code it is. */
static void removals_are_every_games(void **state)
{
	static const struct said removal = {
		B("\x3a\5\x80\7\x80\0\0" FRAME_11), RECORD_DECODED,
		"\"entities\":[{\"number\":5,\"removed\":true},{\"number\":7,\"removed\":true}]"
		"},{\"op\":\"entities\",\"frame\":11"
	};
	static const struct said nexuiz = {
		B("\x3a\5\0\2\1\1\0\2\0\3\0\x40\0\0" FRAME_11), RECORD_DECODED,
		"\"entities\":[{\"number\":5,\"type\":\"entcs\",\"slot\":1,"
		"\"origin\":[1,2,3],\"yaw\":64}]},{\"op\":\"entities\",\"frame\":11"
	};
	static const struct said unknown = { B(UNKNOWN FRAME_11), RECORD_PARTIAL,
					     REST_TO("entities") };
	/* As if it were Nexuiz', but what is behind it is no tail. */
	static const struct said alike = {
		B("\x3a\5\0\2\1\1\1\2\2\4\4\x40\0\0\1" FRAME_11), RECORD_PARTIAL,
		"\"rest\":\"050002010101020204044000"
		"0001\"},{\"op\":\"entities\""
	};

	(void)state;
	begin_game();
	hear(&alike, 5);
	assert_int_equal(game.code, NQ_CODE_UNKNOWN);
	begin_game();
	hear(&removal, 0);
	assert_int_equal(game.code, NQ_CODE_UNKNOWN);
	begin_game();
	hear(&(const struct said){ B("\x3a\5\x80\0\0\1"), RECORD_DECODED,
				   "\"removed\":true}]},{\"op\":\"nop\"}" },
	     6);
	begin_game();
	hear(&nexuiz, 1);
	assert_int_equal(game.code, NQ_CODE_NEXUIZ);
	/* Once it is known, it stays: also for what it does not say. */
	game.frame = 10;
	hear(&unknown, 2);
	assert_int_equal(game.code, NQ_CODE_NEXUIZ);
	game.frame = 10;
	hear(&nexuiz, 3);
	/* Another game's code is not asked. */
	begin_game();
	game.code = NQ_CODE_XONOTIC;
	game.private_code = true;
	game.frame = 10;
	hear(&(const struct said){ nexuiz.bytes, nexuiz.n, RECORD_PARTIAL,
				   "\"rest\":\"" },
	     4);
	assert_int_equal(game.code, NQ_CODE_XONOTIC);
}

/* A temporary entity is believed with all that follows it. */
static void temporary_entities_need_a_tail_too(void **state)
{
	static const struct said rows[] = {
		{ B("\x17\x66" FRAME_11), RECORD_DECODED,
		  "{\"op\":\"temp_entity\",\"type\":102},{\"op\":\"entities\"" },
		{ B("\x17\xc8\1\2\3" FRAME_11), RECORD_PARTIAL,
		  "\"type\":200,\"rest\":\"010203\"},{\"op\":\"entities\"" },
	};

	(void)state;
	begin_game();
	hear(&rows[0], 0);
	assert_int_equal(game.code, NQ_CODE_NEXUIZ);
	begin_game();
	hear(&rows[1], 1);
	assert_int_equal(game.code, NQ_CODE_UNKNOWN);
}

/* FTE's, which has a length in front: what is behind is read. */
static void what_has_a_length_is_passed_over(void **state)
{
	static const struct said rows[] = {
		{ B("\x5a\2\0\xaa\xbb\1"), RECORD_PARTIAL,
		  "\"op\":\"cgamepacket_sized\",\"data\":\"aabb\"},{\"op\":\"nop\"" },
		{ B("\x5b\2\x80\xaa\xbb\1"), RECORD_PARTIAL,
		  "\"op\":\"temp_entity_sized\",\"data\":\"aabb\"},{\"op\":\"nop\"" },
		{ B("\x5a\2\x80\xaa\xbb\1"), RECORD_MALFORMED, "" },
		{ B("\x5a\3\0\xaa\xbb"), RECORD_MALFORMED, "" },
		{ B("\x5c\2\0\xaa\xbb\1"), RECORD_PARTIAL,
		  "\"op\":\"csqcentities_sized\",\"rest\":\"0200aabb01\"" },
		{ B("\x53\2\0\xaa\xbb\1"), RECORD_PARTIAL,
		  "\"op\":\"cgamepacket\",\"rest\":\"0200aabb01\"" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		enter("fitzquake666", 0, NQ_REPLACEMENTDELTAS);
		hear(&rows[i], i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tail_is_found_behind_the_unknown),
		cmocka_unit_test(what_was_only_tried_is_not_remembered),
		cmocka_unit_test(a_tail_follows_the_last),
		cmocka_unit_test(removals_are_every_games),
		cmocka_unit_test(temporary_entities_need_a_tail_too),
		cmocka_unit_test(what_has_a_length_is_passed_over),
	};

	return cmocka_run_group_tests(tests, tape_begin, tape_end);
}
