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
	  B("\x56" ONE "\1\0\x80\x08\x3f\0\0"), "{\"number\":1,\"skinnum\":-1}]" },
	{ "fitzquake666", NQ_REPLACEMENTDELTAS, B("\x56" ONE "\1\0\x80\x08\x3f\0\0"),
	  "{\"number\":1,\"skinnum\":63}]" },
	/* A delta says of each number how wide it is; ... */
	{ "fitzquake666", NQ_REPLACEMENTDELTAS,
	  B("\x56" ONE "\1\0"
	    "\x81\x5f\2\1\3\1\4\1\5\6"
	    "\0\0"),
	  "{\"number\":1,\"reset\":true,\"frame\":258,\"modelindex\":259,\"skinnum\":260,\"colormap\":5,\"dpflags\":6}]" },
	{ "fitzquake666", NQ_REPLACEMENTDELTAS,
	  B("\x56" ONE "\1\0"
	    "\x81\x0d\2\3\4"
	    "\0\0"),
	  "\"reset\":true,\"frame\":2,\"modelindex\":3,\"skinnum\":4}]" },
	{ "fitzquake666", NQ_REPLACEMENTDELTAS,
	  B("\x56" ONE "\1\0"
	    "\x80\x80\x7f\x80\x18\xc0\1"
	    "abcdefghijklmn"
	    "\5\6\1\7\x09\3\1\4\1\0\2\0\3\0\xff\xff\5\6\7\xc0\x08\1"
	    "\0\0"),
	  "{\"number\":1,\"alpha\":128,\"scale\":1.5,\"bones\":\"6162636465666768696a6b6c6d6e\",\"basebone\":5,\"baseframe\":262,\"drawflags\":7,\"abslight\":9,\"tagentity\":259,\"tagindex\":4,\"light_red\":1,\"light_green\":2,\"light_blue\":3,\"light_radius\":-1,\"lightstyle\":5,\"lightpflags\":6,\"traileffectnum\":7,\"emiteffectnum\":264}]" },
	{ "fitzquake666", NQ_REPLACEMENTDELTAS,
	  B("\x56" ONE "\1\0"
	    "\x80\x80\x48\6\7\0"
	    "\0\0"),
	  "\"drawflags\":6,\"traileffectnum\":7}]" },
	{ "fitzquake666", NQ_REPLACEMENTDELTAS,
	  B("\x56" ONE "\1\0"
	    "\x80\x80\x80\x1f\1\2\3\4\5\6\7\x08\x09\x0a\x0b\x0c"
	    "\0\0"),
	  "\"colormod\":[1,2,3],\"glowsize\":4,\"glowcolor\":5,\"glowmod\":[6,7,8],\"fatness\":9,\"modelindex2\":10,\"gravitydir\":[11,12]}]" },
	{ "fitzquake666", NQ_REPLACEMENTDELTAS,
	  B("\x56" ONE "\1\0"
	    "\x20\7"
	    "\0\0"),
	  "\"effects\":7}]" },
	{ "fitzquake666", NQ_REPLACEMENTDELTAS,
	  B("\x56" ONE "\1\0"
	    "\x80\x80\x80\x20\2\1"
	    "\0\0"),
	  "\"effects\":258}]" },
	{ "fitzquake666", NQ_REPLACEMENTDELTAS,
	  B("\x56" ONE "\1\0"
	    "\xa0\x80\x80\x20\1\0\1\0"
	    "\0\0"),
	  "\"effects\":65537}]" },
	{ "fitzquake666", NQ_REPLACEMENTDELTAS,
	  B("\x56" ONE "\1\0"
	    "\x80\x20\2\1"
	    "\0\0"),
	  "\"solid\":258}]" },
	{ "fitzquake666", NQ_REPLACEMENTDELTAS | NQ_NEWSIZEENCODING,
	  B("\x56" ONE "\1\0"
	    "\x80\x20\3"
	    "\0\0"),
	  "\"solid\":3}]" },
	{ "fitzquake666", NQ_REPLACEMENTDELTAS | NQ_NEWSIZEENCODING,
	  B("\x56" ONE "\1\0"
	    "\x80\x20\x10\2\1"
	    "\0\0"),
	  "\"solid\":258}]" },
	{ "fitzquake666", NQ_REPLACEMENTDELTAS | NQ_NEWSIZEENCODING,
	  B("\x56" ONE "\1\0"
	    "\x80\x20\x20\1\0\1\0"
	    "\0\0"),
	  "\"solid\":65537}]" },
	/* ... angles are wide where a player is, without his view; ... */
	{ "fitzquake666", NQ_REPLACEMENTDELTAS,
	  B("\x56" ONE "\1\0"
	    "\x48\0\x40\0\xc0\xff\1\0\xfe\xff\3\0\4\5\0\6\0\7\0\x0d\x85\2"
	    "\0\0"),
	  "\"angles\":[90,null,-90],\"forwardmove\":1,\"sidemove\":-2,\"upmove\":3,\"movetype\":4,\"velocity\":[5,6,7],\"msec\":13,\"weaponframe\":261}]" },
	{ "fitzquake666", NQ_REPLACEMENTDELTAS,
	  B("\x56" ONE "\1\0"
	    "\x40\x80\5"
	    "\0\0"),
	  "\"weaponframe\":5}]" },
	/* ... and with LERPTIME all have seven bits a byte. */
	{ "fitzquake666", NQ_REPLACEMENTDELTAS | NQ_LERPTIME,
	  B("\x56" ONE "\1\0"
	    "\xa1\x5e\x80\2\x81\1\x82\1\x83\1\x41\x84\1\x85\1"
	    "\0\0"),
	  "\"frame\":256,\"lerpend\":129,\"effects\":130,\"modelindex\":131,\"skinnum\":1,\"colormap\":132,\"dpflags\":133}]" },
	{ "fitzquake666", NQ_REPLACEMENTDELTAS | NQ_LERPTIME,
	  B("\x56" ONE "\1\0"
	    "\x80\x80\x54\x40\x85\1\x86\1\3\1\x87\1\x88\1\x89\1"
	    "\0\0"),
	  "\"basebone\":133,\"baseframe\":134,\"tagentity\":259,\"tagindex\":135,\"traileffectnum\":136,\"emiteffectnum\":137}]" },
	{ "fitzquake666", NQ_REPLACEMENTDELTAS,
	  B("\x56" ONE "\1\xc0"
	    "\2"
	    "\0\0"),
	  "{\"number\":32769,\"removed\":true}]" },
	/* Temporary entities, each by its number. */
	{ "quake15", 0, B("\x17\x00" VEC_13_3),
	  "{\"op\":\"temp_entity\",\"type\":0,\"name\":\"spike\",\"origin\":[1,2,-1]}" },
	{ "quake15", 0, B("\x17\x01" VEC_13_3),
	  "{\"op\":\"temp_entity\",\"type\":1,\"name\":\"superspike\",\"origin\":[1,2,-1]}" },
	{ "quake15", 0, B("\x17\x02" VEC_13_3),
	  "{\"op\":\"temp_entity\",\"type\":2,\"name\":\"gunshot\",\"origin\":[1,2,-1]}" },
	{ "quake15", 0, B("\x17\x04" VEC_13_3),
	  "{\"op\":\"temp_entity\",\"type\":4,\"name\":\"tarexplosion\",\"origin\":[1,2,-1]}" },
	{ "quake15", 0, B("\x17\x07" VEC_13_3),
	  "{\"op\":\"temp_entity\",\"type\":7,\"name\":\"wizspike\",\"origin\":[1,2,-1]}" },
	{ "quake15", 0, B("\x17\x08" VEC_13_3),
	  "{\"op\":\"temp_entity\",\"type\":8,\"name\":\"knightspike\",\"origin\":[1,2,-1]}" },
	{ "quake15", 0, B("\x17\x0a" VEC_13_3),
	  "{\"op\":\"temp_entity\",\"type\":10,\"name\":\"lavasplash\",\"origin\":[1,2,-1]}" },
	{ "quake15", 0, B("\x17\x0b" VEC_13_3),
	  "{\"op\":\"temp_entity\",\"type\":11,\"name\":\"teleport\",\"origin\":[1,2,-1]}" },
	{ "quake15", 0, B("\x17\x0c" VEC_13_3 "\5\6"),
	  "{\"op\":\"temp_entity\",\"type\":12,\"name\":\"explosion2\",\"origin\":[1,2,-1],\"colorstart\":5,\"colorlength\":6}" },
	{ "quake15", 0,
	  B("\x17\x0d"
	    "\3\1" VEC_13_3 "\x10\0\0\0\x18\0"),
	  "{\"op\":\"temp_entity\",\"type\":13,\"name\":\"beam\",\"number\":259,\"start\":[1,2,-1],\"end\":[2,0,3]}" },
	{ "quake15", 0, B("\x17\x0f" VEC_13_3 "\x10\0\0\0\x18\0"),
	  "{\"op\":\"temp_entity\",\"type\":15,\"name\":\"railtrail\",\"start\":[1,2,-1],\"end\":[2,0,3]}" },
	{ "quake15", 0, B("\x17\x10" VEC_13_3 "\x10\0\0\0\x18\0"),
	  "{\"op\":\"temp_entity\",\"type\":16,\"name\":\"explosion3\",\"origin\":[1,2,-1],\"color\":[2,0,3]}" },
	{ "quake15", 0, B("\x17\x14" VEC_13_3),
	  "{\"op\":\"temp_entity\",\"type\":20,\"name\":\"qwexplosion\",\"origin\":[1,2,-1]}" },
	{ "quake15", 0,
	  B("\x17\x15"
	    "\5" VEC_13_3),
	  "{\"op\":\"temp_entity\",\"type\":21,\"name\":\"qwgunshot\",\"count\":5,\"origin\":[1,2,-1]}" },
	{ "quake15", 0, B("\x17\x32" VEC_13_3 "\1\xff\2\5"),
	  "{\"op\":\"temp_entity\",\"type\":50,\"name\":\"blood\",\"origin\":[1,2,-1],\"velocity\":[1,-1,2],\"count\":5}" },
	{ "quake15", 0, B("\x17\x33" VEC_13_3 "\1\xff\2\5"),
	  "{\"op\":\"temp_entity\",\"type\":51,\"name\":\"spark\",\"origin\":[1,2,-1],\"velocity\":[1,-1,2],\"count\":5}" },
	{ "quake15", 0,
	  B("\x17\x34" VEC_13_3 "\x10\0\0\0\x18\0"
	    "\x10\0\5\1"),
	  "{\"op\":\"temp_entity\",\"type\":52,\"name\":\"bloodshower\",\"mins\":[1,2,-1],\"maxs\":[2,0,3],\"speed\":2,\"count\":261}" },
	{ "quake15", 0, B("\x17\x35" VEC_13_3 "\1\2\xff"),
	  "{\"op\":\"temp_entity\",\"type\":53,\"name\":\"explosionrgb\",\"origin\":[1,2,-1],\"color\":[1,2,255]}" },
	{ "quake15", 0,
	  B("\x17\x36" VEC_13_3 "\x10\0\0\0\x18\0" VEC_13_3 "\5\1\6\7\x10\0"),
	  "{\"op\":\"temp_entity\",\"type\":54,\"name\":\"particlecube\",\"mins\":[1,2,-1],\"maxs\":[2,0,3],\"velocity\":[1,2,-1],\"count\":261,\"color\":6,\"gravity\":7,\"randomvel\":2}" },
	{ "quake15", 0, B("\x17\x37" VEC_13_3 "\x10\0\0\0\x18\0" VEC_13_3 "\5\1\6"),
	  "{\"op\":\"temp_entity\",\"type\":55,\"name\":\"particlerain\",\"mins\":[1,2,-1],\"maxs\":[2,0,3],\"velocity\":[1,2,-1],\"count\":261,\"color\":6}" },
	{ "quake15", 0, B("\x17\x38" VEC_13_3 "\x10\0\0\0\x18\0" VEC_13_3 "\5\1\6"),
	  "{\"op\":\"temp_entity\",\"type\":56,\"name\":\"particlesnow\",\"mins\":[1,2,-1],\"maxs\":[2,0,3],\"velocity\":[1,2,-1],\"count\":261,\"color\":6}" },
	{ "quake15", 0, B("\x17\x39" VEC_13_3),
	  "{\"op\":\"temp_entity\",\"type\":57,\"name\":\"gunshotquad\",\"origin\":[1,2,-1]}" },
	{ "quake15", 0, B("\x17\x3a" VEC_13_3),
	  "{\"op\":\"temp_entity\",\"type\":58,\"name\":\"spikequad\",\"origin\":[1,2,-1]}" },
	{ "quake15", 0, B("\x17\x3b" VEC_13_3),
	  "{\"op\":\"temp_entity\",\"type\":59,\"name\":\"superspikequad\",\"origin\":[1,2,-1]}" },
	{ "quake15", 0, B("\x17\x46" VEC_13_3),
	  "{\"op\":\"temp_entity\",\"type\":70,\"name\":\"explosionquad\",\"origin\":[1,2,-1]}" },
	{ "quake15", 0, B("\x17\x48" VEC_13_3),
	  "{\"op\":\"temp_entity\",\"type\":72,\"name\":\"smallflash\",\"origin\":[1,2,-1]}" },
	{ "quake15", 0, B("\x17\x49" VEC_13_3 "\5\6\1\2\xff"),
	  "{\"op\":\"temp_entity\",\"type\":73,\"name\":\"customflash\",\"origin\":[1,2,-1],\"radius\":5,\"lifetime\":6,\"color\":[1,2,255]}" },
	{ "quake15", 0,
	  B("\x17\x4a" VEC_13_3 "\x10\0\0\0\x18\0"
	    "\5"),
	  "{\"op\":\"temp_entity\",\"type\":74,\"name\":\"flamejet\",\"origin\":[1,2,-1],\"velocity\":[2,0,3],\"count\":5}" },
	{ "quake15", 0, B("\x17\x4b" VEC_13_3),
	  "{\"op\":\"temp_entity\",\"type\":75,\"name\":\"plasmaburn\",\"origin\":[1,2,-1]}" },
	{ "quake15", 0, B("\x17\x4c" VEC_13_3 "\x10\0\0\0\x18\0" VEC_13_3),
	  "{\"op\":\"temp_entity\",\"type\":76,\"name\":\"tei_g3\",\"start\":[1,2,-1],\"end\":[2,0,3],\"angles\":[1,2,-1]}" },
	{ "quake15", 0,
	  B("\x17\x4d" VEC_13_3 "\x10\0\0\0\x18\0"
	    "\5"),
	  "{\"op\":\"temp_entity\",\"type\":77,\"name\":\"smoke\",\"origin\":[1,2,-1],\"direction\":[2,0,3],\"count\":5}" },
	{ "quake15", 0, B("\x17\x4e" VEC_13_3),
	  "{\"op\":\"temp_entity\",\"type\":78,\"name\":\"bigexplosion\",\"origin\":[1,2,-1]}" },
	{ "quake15", 0,
	  B("\x17\x4f" VEC_13_3 "\x10\0\0\0\x18\0"
	    "\5"),
	  "{\"op\":\"temp_entity\",\"type\":79,\"name\":\"plasmahit\",\"origin\":[1,2,-1],\"direction\":[2,0,3],\"count\":5}" },
	/* What QuakeSpasm and Ironwail hear from game code of 2021. */
	{ "fitzquake666", 0,
	  B("\x34"
	    "ACH\0\1"),
	  "{\"op\":\"achievement\",\"id\":\"ACH\"},{\"op\":\"nop\"}" },
	{ "rmq999", 0, B("\x38\x10\1\1"),
	  "{\"op\":\"localsound\",\"mask\":16,\"sound\":257}" },
	{ "rmq999", 0, B("\x38\0\1"), "\"mask\":0,\"sound\":1}" },
	{ "fitzquake666", 0, B("\3\x64\1\0\0\0"), "\"stat\":100,\"value\":1" },
	{ "quake15", NQ_VOICECHAT, B("\x0c\x40m\0"), "\"style\":64,\"text\":\"m\"" },
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
		know_entities();
		parse(S2C, vectors[i].bytes, vectors[i].n, &r);
		text = json_of(&r);
		if (r.status != RECORD_DECODED || !strstr(text, vectors[i].json))
			fail_msg("vector %zu: %s not in %s", i, vectors[i].json, text);
		free(text);
	}
}

/* Texts are of 2047 bytes at most, but where engines took that bound away. */
static void long_texts(void **state)
{
	static const struct {
		const char *dialect;
		size_t n;
		bool good;
	} rows[] = {
		{ "quake15", 2047, true },
		{ "quake15", 2048, false },
		{ "quakedp", 2048, true },
		{ "dp7", 2048, true },
	};
	static uint8_t bytes[2050];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct record r;

		memset(bytes, 'a', sizeof(bytes));
		bytes[0] = 8;
		bytes[1 + rows[i].n] = 0;
		enter(rows[i].dialect, 0, 0);
		parse(S2C, bytes, 2 + rows[i].n, &r);
		assert_int_equal(r.status,
				 rows[i].good ? RECORD_DECODED : RECORD_MALFORMED);
		if (!rows[i].good)
			assert_string_equal(r.reason, "text longer than 2047 bytes");
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
		    "csqc_progcrc 1\n\0\x0b\x0f\0\0\0\4\1Hi\0m\0\0\0\x19\1\x19\2"),
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
		cmocka_unit_test(long_texts),
		cmocka_unit_test(code_with_updates),
		cmocka_unit_test(code_of_another_release),
		cmocka_unit_test(many_temps),
	};

	return cmocka_run_group_tests(tests, tape_begin, tape_end);
}
