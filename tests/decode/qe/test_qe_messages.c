// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Quake Enhanced's messages, one by one: each that differs from NetQuake's, from bytes
 * made by its rules, and the examples that a guide of players gives; every cut of them;
 * compressed datagrams; what breaks the rules.
 */
#include <zlib.h>

#include "decode/decode_support.h"
#include "decode/family.h"
#include "decode/qe/qe_message.h"
#include "decode/tape.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define B(text)	 text, sizeof(text) - 1
#define C2S	 DIRECTION_C2S
#define S2C	 DIRECTION_S2C
#define ONE	 "\0\0\x80\x3f" /* 1.0 */
/* Eight texts of nothing; and nine, which are as many pairs of messages as well. */
#define NO_TEXTS "\0\0\0\0\0\0\0\0"
#define ONES	 "(\x1ax\0(\x1ax\0(\x1ax\0(\x1ax\0(\x1ax\0(\x1ax\0(\x1ax\0(\x1ax\0(\x1ax\0"
#define TWO	 "\0\0\0\x40"
#define VEC_F32	 ONE TWO ONE
#define VEC_13_3 "\x08\0\x10\0\xf8\xff" /* 1, 2, -1 */

/* As from a serverinfo of @name. */
static void enter(struct nq_game *game, const char *name)
{
	memset(game, 0, sizeof(*game));
	game->dialects = qe_dialects;
	for (unsigned int i = 0; qe_dialects[i]; i++)
		if (!strcmp(qe_dialects[i]->name, name)) {
			nq_format_of(qe_dialects[i], qe_dialects[i]->flags, 0, 0,
				     &game->format);
			game->possible = 1U << i;
			game->known = game->fitted = game->based = true;
			game->maxclients = 4;
			return;
		}
	fail_msg("no dialect %s", name);
}

static void parse(const char *dialect, enum direction direction, const void *bytes,
		  size_t n, struct record *r)
{
	uint8_t *copy = malloc(n ? n : 1);
	struct nq_game game;
	struct message m = {
		.bytes = { copy, n },
		.direction = direction,
		.record = r,
	};

	assert_non_null(copy);
	memcpy(copy, bytes, n);
	record_reset(r, &tape);
	r->kind = "nq-unreliable";
	enter(&game, dialect);
	nq_decode(&game, &m);
	free(copy);
}

static char *json_of(const struct record *r)
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

static const struct vector {
	const char *dialect;
	enum direction direction;
	const char *bytes;
	size_t n;
	const char *json; /* is in it */
	const char *partial; /* why, or NULL */
} vectors[] = {
	/* The guide's examples. */
	{ "enhanced15", S2C, B("\x26\0\1\0Someone is talking for me!\0"),
	  "{\"op\":\"botchat\",\"slot\":0,\"texts\":[\"Someone is talking for me!\"]}",
	  NULL },
	{ "enhanced666", S2C, B("\x26\0\2\0My name is {}\0JPiolho\0"),
	  "{\"op\":\"botchat\",\"slot\":0,\"texts\":[\"My name is {}\",\"JPiolho\"]}",
	  NULL },
	{ "enhanced666", S2C, B("\x1a\1\0Hello world\0"),
	  "{\"op\":\"centerprint\",\"texts\":[\"Hello world\"]}", NULL },
	{ "enhanced666", S2C, B("\x1a\2\0Welcome to the game, {}\0JPiolho\0"),
	  "{\"op\":\"centerprint\",\"texts\":[\"Welcome to the game, {}\",\"JPiolho\"]}",
	  NULL },
	{ "enhanced666", S2C, B("\x35\0\0Name\0Color 0\0"),
	  "{\"op\":\"chat\",\"name_color\":0,\"text_color\":0,\"name\":\"Name\","
	  "\"text\":\"Color 0\"}",
	  NULL },
	/* From here on by the rules. */
	{ "enhanced666", S2C, B("\x1aplain\0"),
	  "{\"op\":\"centerprint\",\"text\":\"plain\"}", NULL },
	/* So many texts there may be; one more is a plain one, of "!", and what follows.
	 */
	{ "enhanced666", S2C, B("\x1a\x20\0" NO_TEXTS NO_TEXTS NO_TEXTS NO_TEXTS "\1"),
	  "\"\",\"\",\"\",\"\"]},{\"op\":\"nop\"}]", NULL },
	{ "enhanced666", S2C, B("\x1a!\0" ONES ONES ONES ONES "\1"),
	  "{\"op\":\"centerprint\",\"text\":\"!\"},{\"op\":\"bonusflash\"}", NULL },
	{ "enhanced666", S2C, B("\x1a\1\0"),
	  "{\"op\":\"centerprint\",\"text\":\"\\u0001\"}", NULL },
	{ "enhanced15", S2C, B("\x28"), "[{\"op\":\"bonusflash\"}]", NULL },
	{ "enhanced15", S2C, B("\x27\1\2"),
	  "{\"op\":\"spawnedmonster\",\"rest\":\"0102\"}",
	  "spawnedmonster: what it carries is not known" },
	{ "enhanced15", S2C, B("\x2d\1\2"), "{\"op\":\"setviews\",\"rest\":\"0102\"}",
	  "setviews: what it carries is not known" },
	{ "enhanced15", S2C, B("\x2e\1\x90\3"),
	  "{\"op\":\"updateping\",\"slot\":1,\"ping\":200}", NULL },
	{ "enhanced15", S2C, B("\x2e\1\3"), "\"ping\":-2}", NULL },
	{ "enhanced15", S2C, B("\x2f\2\xff\xff\xff\xff\0\0\0\0"),
	  "{\"op\":\"updatesocial\",\"slot\":2,\"values\":[-1,0]}", NULL },
	{ "enhanced15", S2C, B("\x30\3\xc8\1\x0a"),
	  "{\"op\":\"updateplinfo\",\"slot\":3,\"health\":100,\"armor\":5}", NULL },
	{ "enhanced15", S2C, B("\x31\2\0$qc_entered\0bob\0"),
	  "{\"op\":\"rawprint\",\"texts\":[\"$qc_entered\",\"bob\"]}", NULL },
	{ "enhanced15", S2C,
	  B("\x32\xc1\x50\1"
	    "\0\0\x48\x44" ONE "\1"),
	  "{\"op\":\"servervars\",\"bits\":10305,\"deathmatch\":1,\"gravity\":800,"
	  "\"timelimit\":1,\"teamplay\":1}",
	  NULL },
	{ "enhanced15", S2C, B("\x32\x80\x80\1\7"),
	  "{\"op\":\"servervars\",\"bits\":16384,\"rest\":\"07\"}",
	  "servervars with a bit that is not known" },
	{ "enhanced15", S2C, B("\x33\xac\2"), "{\"op\":\"seq\",\"sequence\":300}", NULL },
	{ "enhanced15", S2C,
	  B("\x34"
	    "ACH_X\0"),
	  "{\"op\":\"achievement\",\"id\":\"ACH_X\"}", NULL },
	{ "enhanced15", S2C,
	  B("\x36\0\1\2\3\4\5\6\7\x08\x09"
	    "e1m1\0"),
	  "{\"op\":\"levelcompleted\",\"unknown\":\"00010203040506070809\","
	  "\"text\":\"e1m1\"}",
	  "levelcompleted: ten of its bytes are not known" },
	{ "enhanced15", S2C, B("\x37"), "[{\"op\":\"backtolobby\"}]", NULL },
	{ "enhanced15", S2C, B("\x37\1"), "{\"op\":\"backtolobby\",\"rest\":\"01\"}",
	  "backtolobby: what it carries is not known" },
	{ "enhanced15", S2C, B("\x38\0\5"),
	  "{\"op\":\"localsound\",\"mask\":0,\"sound\":5}", NULL },
	{ "enhanced15", S2C, B("\x38\x10\5\1"),
	  "{\"op\":\"localsound\",\"mask\":16,\"sound\":261}", NULL },
	{ "enhanced15", S2C, B("\x39\0"), "{\"op\":\"prompt\",\"count\":0}", NULL },
	{ "enhanced15", S2C, B("\x39\2Vote\0Yes\0\x64No\0\x65"),
	  "{\"op\":\"prompt\",\"count\":2,\"title\":\"Vote\",\"choices\":[{\"text\":"
	  "\"Yes\",\"impulse\":100},{\"text\":\"No\",\"impulse\":101}]}",
	  NULL },
	{ "enhanced15", S2C, B("\x3a\1\0$map\0"),
	  "{\"op\":\"loccenterprint\",\"texts\":[\"$map\"]}", NULL },
	{ "enhanced15", S2C, B("\x0b\x0f\0\0\0\4id1\0\1Hi\0maps/a.bsp\0\0w.wav\0\0"),
	  "{\"op\":\"serverinfo\",\"protocol\":15,\"maxclients\":4,\"gamedir\":\"id1\","
	  "\"gametype\":1,\"levelname\":\"Hi\",\"models\":[\"maps/a.bsp\"],"
	  "\"sounds\":[\"w.wav\"]}",
	  NULL },
	{ "enhanced15", S2C,
	  B("\x0b\xe7\3\0\0\x12\0\0\0\4id1\0\1Hi\0maps/a.bsp\0\0w.wav\0\0"
	    "\x0a\0\x40\0\xc0\0\0"),
	  "{\"op\":\"setangle\",\"angles\":[90,-90,0]}", NULL },
	/* A fast update: model, origin of floats, solid, flags, health. */
	{ "enhanced666", S2C, B("\x8b\x84\xe0\3\x09\7" TWO ONE "\3\x81\1\xc8\1"),
	  "{\"op\":\"update\",\"number\":9,\"modelindex\":7,\"origin\":[2,null,1],"
	  "\"solid\":3,\"entityflags\":129,\"health\":100}",
	  NULL },
	{ "enhanced666", S2C,
	  B("\x83\x80\x5f\x09\x10\0"
	    "\1\2\3\4\5\6"),
	  "{\"op\":\"update\",\"number\":9,\"origin\":[2,null,null],\"alpha\":1,"
	  "\"scale\":2,\"frame_high\":3,\"modelindex_high\":4,\"lerpfinish\":0.0196078431,"
	  "\"solid\":6}",
	  NULL },
	{ "enhanced666", S2C, B("\x81\x80\x80\x84\x09\5\6"),
	  "{\"op\":\"update\",\"number\":9,\"unknown0\":5,\"unknown5\":6}",
	  "update with fields that are not known" },
	/* The first of those alone. */
	{ "enhanced666", S2C, B("\x81\x80\x80\4\x09\5"),
	  "{\"op\":\"update\",\"number\":9,\"unknown0\":5}",
	  "update with fields that are not known" },
	{ "enhanced666", S2C, B("\x2a\1\0\x0c\7\1\2\3\x08\0\0\x10\0\0\xf8\xff\0\x80\2"),
	  "{\"op\":\"spawnbaseline2\",\"number\":1,\"modelindex\":7,\"frame\":1,"
	  "\"colormap\":2,\"skinnum\":3,\"origin\":[1,2,-1],\"angles\":[0,0,0],\"alpha\":128,"
	  "\"solid\":2}",
	  NULL },
	{ "enhanced666", S2C, B("\x2b\xf0\7\1\2\3\x08\0\0\x10\0\0\xf8\xff\0\1\2\3\4"),
	  "\"unknown0\":1,\"unknown1\":2,\"unknown2\":3,\"unknown3\":4",
	  "baseline with fields that are not known" },
	/* Velocities of bytes, and of floats; flags of the entity at the very end. */
	{ "enhanced15", S2C, B("\x0f\x20\0\2\x01\0\0\0\x64\0\1\2\3\4\5\6"),
	  "\"velocity\":[32,null,null],\"items\":1", NULL },
	{ "enhanced15", S2C, B("\x0f\x20\1" TWO "\x01\0\0\0\x64\0\1\2\3\4\5\6"),
	  "\"velocity\":[2,null,null],\"items\":1,\"health\":100", NULL },
	{ "enhanced666", S2C,
	  B("\x0f\x80\x81\x80\x06" ONE "\x01\0\0\0\x64\0\1\2\3\4\5\6\x80\x81\1"),
	  "\"velocity\":[null,null,1],\"items\":1,\"health\":100,\"ammo\":1,\"shells\":2,"
	  "\"nails\":3,\"rockets\":4,\"cells\":5,\"activeweapon\":6,\"weaponalpha\":128,"
	  "\"entityflags\":129",
	  NULL },
	/* Clients. */
	{ "enhanced15", C2S, B("\3" ONE "\1\x40\0\0\x90\1\0\0\0\0\1\0"),
	  "{\"op\":\"move\",\"time\":1,\"unknown\":1,\"angles\":[90,0,0],"
	  "\"forwardmove\":400,\"sidemove\":0,\"upmove\":0,\"buttons\":1,\"impulse\":0}",
	  NULL },
	{ "enhanced666", C2S, B("\5\x90\3\3" ONE "\1\0\x40\0\0\0\0\x90\1\0\0\0\0\1\0"),
	  "[{\"op\":\"sequence\",\"sequence\":400},{\"op\":\"move\",\"time\":1,"
	  "\"unknown\":1,\"angles\":[90,0,0]",
	  NULL },
	{ "enhanced666", C2S, B("\6\7" VEC_F32),
	  "{\"op\":\"authoritative_origin\",\"sequence\":7,\"origin\":[1,2,1]}", NULL },
	{ "enhanced666", C2S, B("\4name bob\0"),
	  "{\"op\":\"stringcmd\",\"text\":\"name bob\"}", NULL },
};

static void test_vectors(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(vectors); i++) {
		const struct vector *v = &vectors[i];
		struct record r;
		char *json;

		parse(v->dialect, v->direction, v->bytes, v->n, &r);
		json = json_of(&r);
		if (!strstr(json, v->json))
			fail_msg("%zu: not %s in %s", i, v->json, json);
		if (v->partial) {
			assert_int_equal(r.status, RECORD_PARTIAL);
			assert_string_equal(r.reason, v->partial);
		} else if (r.reason) {
			fail_msg("%zu: %s: %s", i, r.reason, json);
		}
		free(json);
	}
}

/* Nothing is read behind the end, and a cut is never more than what was whole. */
static void test_cuts(void **state)
{
	unsigned int broken = 0;

	(void)state;
	for (size_t i = 0; i < COUNT(vectors); i++)
		for (size_t n = 1; n < vectors[i].n; n++) {
			struct record r;

			parse(vectors[i].dialect, vectors[i].direction, vectors[i].bytes,
			      n, &r);
			broken += r.status == RECORD_MALFORMED;
			assert_true((r.status == RECORD_DECODED) == !r.reason);
		}
	assert_true(broken > 300);
}

static const struct {
	enum direction direction;
	const char *bytes;
	size_t n;
	const char *reason;
} wrongs[] = {
	{ S2C, B("\x3b"), "no such message" },
	{ C2S, B("\7"), "no such message" },
	{ S2C, B("\x26\0\1\1x\0"), "more than 256 texts" },
	{ S2C, B("\x26\4\1\0x\0"), "no such player slot" },
	{ S2C, B("\x33\xff\xff\xff\xff\xff\1"), "message ends within an op" },
	{ S2C, B("\x0b\x0f\0\0\0\4\0Introduction\0maps/a.bsp\0\0\0"),
	  "no such type of game" },
	{ S2C, B("\x0b\x0f\0\0\0\0id1\0\0Hi\0m\0\0\0"), "a server of no clients" },
};

static void test_wrong(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(wrongs); i++) {
		struct record r;

		parse("enhanced15", wrongs[i].direction, wrongs[i].bytes, wrongs[i].n,
		      &r);
		assert_int_equal(r.status, RECORD_MALFORMED);
		assert_string_equal(r.reason, wrongs[i].reason);
	}
}

/* --- compressed datagrams ---------------------------------------------------------- */

static uint8_t box[1 << 17];

/* @inner, compressed and in its header; the header's length is off by @off. */
static size_t boxed(const uint8_t *inner, size_t n, int off)
{
	uLongf size = sizeof(box) - 8;

	assert_int_equal(compress(box + 8, &size, inner, n), Z_OK);
	memcpy(box, "\0\x20\0\0\0\0\0\7", 8);
	box[2] = (uint8_t)((size + (size_t)off) >> 8);
	box[3] = (uint8_t)(size + (size_t)off);
	return size + 8;
}

static void open_box(const uint8_t *bytes, size_t n, struct record *r)
{
	static struct keys_psk nothing;
	struct keys *keys = keys_create(NULL, &nothing);
	struct nq_session game = { .game.dialects = qe_dialects };
	uint8_t *copy = malloc(n);

	memcpy(copy, bytes, n);
	record_reset(r, &tape);
	r->direction = S2C;
	qe_game(&game, S2C, (struct span){ copy, n }, keys_room(keys), r);
	free(copy);
	nq_session_drop(&game);
	keys_free(keys);
}

static const uint8_t inner[] = "\0\x10\0\x0e\0\0\0\3\x1a\1\0hi"; /* and its NUL */

static void test_compressed(void **state)
{
	static uint8_t large[70000], nested[64];
	struct record r;
	size_t n = boxed(inner, sizeof(inner), 0), nested_n;
	char *json;

	(void)state;
	open_box(box, n, &r);
	json = json_of(&r);
	assert_non_null(strstr(json, "\"compressed_sequence\":7,\"sequence\":3,\"ops\":["
				     "{\"op\":\"centerprint\",\"texts\":[\"hi\"]}]"));
	assert_int_equal(r.status, RECORD_DECODED);
	free(json);
	for (size_t cut = 8; cut < n; cut++) {
		open_box(box, cut, &r);
		assert_int_equal(r.status, RECORD_MALFORMED);
	}
	memcpy(nested, box, n);
	nested_n = n;
	open_box(box, boxed(inner, sizeof(inner), 1), &r);
	assert_string_equal(r.reason, "length of a compressed datagram is not its own");
	open_box(box, boxed(nested, nested_n, 0), &r);
	assert_string_equal(r.reason, "a compressed datagram in another");
	open_box(box, boxed(large, sizeof(large), 0), &r);
	assert_string_equal(r.reason, "not one whole zlib stream of at most 65536 bytes");
}

/* A NetQuake game in DTLS is read as what it is. */
static void test_netquake(void **state)
{
	static const uint8_t info[] = "\x0b\x0f\0\0\0\4\0Intro\0maps/a.bsp\0\0w.wav\0";
	struct nq_game game = { .dialects = qe_dialects };
	struct record r;
	struct message m = {
		.bytes = { info, sizeof(info) },
		.direction = S2C,
		.record = &r,
	};

	(void)state;
	record_reset(&r, &tape);
	nq_decode(&game, &m);
	assert_int_equal(r.status, RECORD_DECODED);
	assert_string_equal(r.dialect, "quake15");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors),	 cmocka_unit_test(test_cuts),
		cmocka_unit_test(test_wrong),	 cmocka_unit_test(test_compressed),
		cmocka_unit_test(test_netquake),
	};

	return cmocka_run_group_tests(tests, tape_begin, tape_end);
}
