// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What NetQuake's recordings seldom hold: game code that speaks where entities come in
 * updates, or in words of another release.
 */
#include "decode/nq/nq_support.h"

#define UPDATE "\xce\5\6\x08\0\x10\0\x18\0" /* entity 5 in frame 6, at 1, 2, 3 */
#define FRAME  "\x39\5\0\0\0\7\0\0\0\0\x80" /* svc_entities 5 of nothing */

/* --- what the game's code sends to itself ------------------------------------------ */

struct said {
	const char *bytes;
	size_t n;
	enum record_status status;
	const char *json;
};

static void hear(const struct said *said)
{
	struct record r;
	char *text;

	parse(S2C, said->bytes, said->n, &r);
	text = json_of(&r);
	if (r.status != said->status || !strstr(text, said->json))
		fail_msg("%s not in %s", said->json, text);
	free(text);
}

/* A Nexuiz server that plays by protocol 15, where no frame ends a datagram: all was
 * "no such message" or "no such temporary entity", or skipped. */
static void code_with_updates(void **state)
{
	static const struct said rows[] = {
		{ B("\x08\nServer: Nexuiz build\0\x09"
		    "csqc_progcrc 1\n\0\x0b\x0f\0\0\0\4\1Hi\0m\0\0\0"),
		  RECORD_DECODED, "\"dialect\":\"quake15\"" },
		{ B("\7" ONE "\x3a\5\x80\0\0" UPDATE), RECORD_DECODED,
		  "\"dialect\":\"quakedp\"" },
		{ B("\7" ONE "\x3a\5\0\2\1\1\0\2\0\3\0\x40\0\0" UPDATE), RECORD_DECODED,
		  "\"entities\":[{\"number\":5,\"type\":\"entcs\",\"slot\":1,\"origin\":"
		  "[1,2,3],\"yaw\":64}]},{\"op\":\"update\",\"number\":5,\"frame\":6" },
		{ B("\7" ONE "\x17\x66" UPDATE), RECORD_DECODED,
		  "{\"op\":\"temp_entity\",\"type\":102},{\"op\":\"update\"" },
		{ B("\7" ONE "\x17\x67\1\0" VEC_13_3 VEC_13_3 "\x08\0\1\x80" UPDATE),
		  RECORD_DECODED, "\"thickness\":1,\"speed\":1}]},{\"op\":\"update\"" },
		/* Types that nobody knows: the rest is the game's. */
		{ B("\7" ONE "\x17\xc8\1\2\3" UPDATE), RECORD_PARTIAL,
		  "\"type\":200,\"rest\":\"010203ce" },
		{ B("\7" ONE "\x17\x63\1\2\3" UPDATE), RECORD_PARTIAL,
		  "\"type\":99,\"rest\":\"010203ce" },
		{ B("\7" ONE "\x3a\5\0\xff\1" UPDATE), RECORD_PARTIAL,
		  "\"rest\":\"0500ff" },
		/* Broken all the same. */
		{ B("\7" ONE UPDATE "\0"), RECORD_MALFORMED, "no such message" },
	};

	(void)state;
	memset(&game, 0, sizeof(game));
	for (size_t i = 0; i < COUNT(rows); i++)
		hear(&rows[i]);
}

/* Another release says less by type 107 than a ping: what was read as one ended within
 * the frame, and that was "no such message". Up to the frame it is unknown, and what is
 * behind is read. */
static void code_of_another_release(void **state)
{
	static const struct said rows[] = {
		{ B("\7" ONE "\x17\x68" VEC_F32 VEC_F32 FRAME), RECORD_DECODED,
		  "\"start\":[1,2,1],\"end\":[1,2,1]" },
		{ B("\7" ONE "\x17\x6b\1\2\3\x39\6\0\0\0\7\0\0\0\0\x80"), RECORD_PARTIAL,
		  "\"type\":107,\"rest\":\"010203\"},{\"op\":\"entities\"" },
		{ B("\7" ONE "\x17\x68" VEC_F32 "\0"), RECORD_PARTIAL,
		  "\"rest\":\"00008" },
	};

	(void)state;
	enter("dp7", 0, 0);
	game.code = NQ_CODE_NEXUIZ;
	game.private_code = true;
	for (size_t i = 0; i < COUNT(rows); i++)
		hear(&rows[i]);
}

/* Many in one message: read twice, not twice for each one before it. */
static void many_temps(void **state)
{
	static uint8_t bytes[60000];
	struct record r;

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i += 2) {
		bytes[i] = 23;
		bytes[i + 1] = 102;
	}
	enter("dp7", 0, 0);
	parse(S2C, bytes, sizeof(bytes), &r);
	assert_int_equal(r.status, RECORD_DECODED);
	assert_int_equal(game.code, NQ_CODE_NEXUIZ);
	bytes[sizeof(bytes) - 1] = 255;
	parse(S2C, bytes, sizeof(bytes), &r);
	assert_int_equal(r.status, RECORD_PARTIAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(code_with_updates),
		cmocka_unit_test(code_of_another_release),
		cmocka_unit_test(many_temps),
	};

	return cmocka_run_group_tests(tests, tape_begin, tape_end);
}
