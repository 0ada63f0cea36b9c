// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What NetQuake's recordings seldom hold: FTE's prediction and skins, game code that
 * speaks where entities come in updates, or in words of another release, messages of the
 * edition of 2021 in older engines.
 */
#include "decode/nq/nq_support.h"

#define UPDATE "\xce\5\6\x08\0\x10\0\x18\0" /* entity 5 in frame 6, at 1, 2, 3 */
#define FRAME  "\x39\5\0\0\0\7\0\0\0\0\x80" /* svc_entities 5 of nothing */

static const struct {
	const char *dialect;
	uint32_t pext2;
	const char *bytes;
	size_t n;
	const char *json;
} vectors[] = {
	/* Which of the view's angles there are the delta says: x and z, ... */
	{ "fitzquake666", NQ_REPLACEMENTDELTAS | NQ_PREDINFO,
	  B("\x56\1\0" ONE "\1\0\x48\x40\xc0\x80\0\x40\0\xc0\0\0"),
	  "\"angles\":[90,null,-90],\"v_angle\":[90,null,-90]}]" },
	/* ... y, beside a type of movement and a velocity that are no angles, ... */
	{ "fitzquake666", NQ_REPLACEMENTDELTAS | NQ_PREDINFO,
	  B("\x56\1\0" ONE "\1\0\x50\x40\x98\3\5\0\6\0\0\x40\0\0"),
	  "\"movetype\":3,\"velocity\":[5,6,null],\"v_angle\":[null,90,null]}]" },
	/* ... or none. */
	{ "fitzquake666", NQ_REPLACEMENTDELTAS | NQ_PREDINFO,
	  B("\x56\1\0" ONE "\1\0\x40\x88\3\0\0"), "{\"number\":1,\"movetype\":3}]" },
	{ "fitzquake666", NQ_REPLACEMENTDELTAS | NQ_LERPTIME,
	  B("\x56" ONE "\1\0\x80\x08\x3f\0\0"), "{\"number\":1,\"skin\":-1}]" },
	{ "fitzquake666", NQ_REPLACEMENTDELTAS, B("\x56" ONE "\1\0\x80\x08\x3f\0\0"),
	  "{\"number\":1,\"skin\":63}]" },
	/* What QuakeSpasm and Ironwail hear from game code of 2021. */
	{ "fitzquake666", 0,
	  B("\x34"
	    "ACH\0\1"),
	  "{\"op\":\"achievement\",\"id\":\"ACH\"},{\"op\":\"nop\"}" },
	{ "rmq999", 0, B("\x38\x10\1\1"),
	  "{\"op\":\"localsound\",\"mask\":16,\"sound\":257}" },
	{ "rmq999", 0, B("\x38\0\1"), "\"mask\":0,\"sound\":1}" },
	{ "fitzquake666", 0, B("\3\x64\1\0\0\0"), "\"index\":100,\"value\":1" },
	{ "quake15", NQ_VOICECHAT, B("\x0c\x40m\0"), "\"index\":64,\"text\":\"m\"" },
	/* Where DarkPlaces puts a picture. */
	{ "dp7", 0, B("\x23s\0i\0\1\1\xff\xff"), "\"pic\":\"i\",\"x\":257,\"y\":-1}" },
};

static void each(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(vectors); i++) {
		struct record r;
		char *text;

		enter(vectors[i].dialect, 0, vectors[i].pext2);
		parse(S2C, vectors[i].bytes, vectors[i].n, &r);
		text = json_of(&r);
		if (r.status != RECORD_DECODED || !strstr(text, vectors[i].json))
			fail_msg("vector %zu: %s not in %s", i, vectors[i].json, text);
		free(text);
	}
}

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
		cmocka_unit_test(each),
		cmocka_unit_test(code_with_updates),
		cmocka_unit_test(code_of_another_release),
		cmocka_unit_test(many_temps),
	};

	return cmocka_run_group_tests(tests, tape_begin, tape_end);
}
