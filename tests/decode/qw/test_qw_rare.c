// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What QuakeWorld's recordings seldom hold: FTE's effects, pictures and seats, temporary
 * entities of other games, weapons that are predicted, what a recording hides.
 */
#include "decode/qw/qw_hidden.h"
#include "decode/qw/qw_vectors.h"

#define V      "080010001800 " /* 1, 2, 3 */
#define W      "f8ff00002000 " /* -1, 0, 4 */
#define SAYS_V "[1,2,3]"
#define SAYS_W "[-1,0,4]"
#define ONE    "0000803f "
#define TWO    "00000040 "

static const struct vector vectors[] = {
	{ FTE("01000000"), "05 0301", "{\"op\":\"setview\",\"number\":259}" },
	{ "", "12 " V "10f020 05 06",
	  "\"origin\":" SAYS_V ",\"direction\":[1,-1,2],\"count\":5,\"color\":6}" },
	{ "", "19 03 05 06 07", "{\"op\":\"splitscreenconfig\",\"slots\":[5,6,7]}" },
	{ "", "1b", "[{\"op\":\"killedmonster\"}]" },
	{ "", "1c", "[{\"op\":\"foundsecret\"}]" },
	{ "", "21", "[{\"op\":\"sellscreen\"}]" },
	{ "", "22", "[{\"op\":\"smallkick\"}]" },
	{ "", "23", "[{\"op\":\"bigkick\"}]" },
	/* sounds: every field that there can be, and their usual values */
	{ FTE2("08000000"), "37 e7 01 32 60 64 0a00 0800f0ff1800 a00f 1300 09 " V,
	  "\"bits\":487,\"volume\":50,\"attenuation\":1.5,\"pitch\":100,\"timeofs\":10,"
	  "\"velocity\":[1,-2,3],\"speed\":1,\"number\":2,\"channel\":3,\"sound\":9" },
	{ FTE2("08000000"), "37 18 0301 04 0905 " V,
	  "\"volume\":255,\"attenuation\":1,\"number\":259,\"channel\":4,\"sound\":1289,"
	  "\"origin\":" SAYS_V },
	{ "", "5e 00 " V "05 80 20",
	  "\"flags\":0,\"origin\":" SAYS_V ",\"sound\":5,\"volume\":128,"
	  "\"attenuation\":0.5}" },
	{ "", "5e 01 " V "0501 80 20", "\"sound\":261,\"volume\":128" },
	/* temporary entities: id's, ... */
	{ "", "17 00 " V, "\"type\":0,\"origin\":" SAYS_V "}" },
	{ "", "17 06 0700 " V W,
	  "\"type\":6,\"number\":7,\"start\":" SAYS_V ",\"end\":" SAYS_W "}" },
	{ "", "17 09 0700 " V W, "\"type\":9,\"number\":7,\"start\":" SAYS_V },
	{ "", "17 0c 05 " V, "\"type\":12,\"count\":5,\"origin\":" SAYS_V "}" },
	{ "", "17 0d " V, "\"type\":13,\"origin\":" SAYS_V "}" },
	/* ... FTE's and DarkPlaces' */
	{ "", "17 0f " V, "\"type\":15,\"origin\":" SAYS_V "}" },
	{ "", "17 11 " V W, "\"type\":17,\"start\":" SAYS_V ",\"end\":" SAYS_W "}" },
	{ "", "17 12 0700 " V W, "\"type\":18,\"number\":7,\"start\":" SAYS_V },
	{ "", "17 13 " V "05 06",
	  "\"origin\":" SAYS_V ",\"colorstart\":5,\"colorlength\":6}" },
	{ "", "17 14 " V, "\"type\":20,\"origin\":" SAYS_V "}" },
	{ "", "17 15 " V, "\"type\":21,\"origin\":" SAYS_V "}" },
	{ "", "17 32 " V "01ff02 05",
	  "\"type\":50,\"origin\":" SAYS_V ",\"velocity\":[1,-1,2],\"count\":5}" },
	{ "", "17 33 " V "01ff02 05", "\"velocity\":[1,-1,2],\"count\":5}" },
	{ "", "17 34 " V W "1000 0501",
	  "\"start\":" SAYS_V ",\"end\":" SAYS_W ",\"speed\":2,\"count\":261}" },
	{ "", "17 36 " V W V "0501 06 07 1000",
	  "\"start\":" SAYS_V ",\"end\":" SAYS_W ",\"velocity\":" SAYS_V
	  ",\"count\":261,\"value\":6,\"value2\":7,\"speed\":2}" },
	{ "", "17 37 " V W V "0501 06", "\"count\":261,\"value\":6}" },
	{ "", "17 38 " V W V "0501 06", "\"count\":261,\"value\":6}" },
	{ "", "17 39 " V, "\"type\":57,\"origin\":" SAYS_V "}" },
	{ "", "17 3b " V, "\"type\":59,\"origin\":" SAYS_V "}" },
	{ "", "17 46 " V, "\"type\":70,\"origin\":" SAYS_V "}" },
	{ "", "17 48 " V, "\"type\":72,\"origin\":" SAYS_V "}" },
	{ "", "17 49 " V "05 06 0102ff",
	  "\"origin\":" SAYS_V ",\"value\":5,\"value2\":6,\"color\":[1,2,255]}" },
	{ "", "17 4a " V W "05",
	  "\"origin\":" SAYS_V ",\"velocity\":" SAYS_W ",\"value\":5}" },
	{ "", "17 4b " V, "\"type\":75,\"origin\":" SAYS_V "}" },
	{ "", "17 4c " V W V,
	  "\"start\":" SAYS_V ",\"end\":" SAYS_W ",\"velocity\":" SAYS_V "}" },
	{ "", "17 4d " V W "05", "\"velocity\":" SAYS_W ",\"value\":5}" },
	{ "", "17 4e " V, "\"type\":78,\"origin\":" SAYS_V "}" },
	{ "", "17 4f " V W "05", "\"velocity\":" SAYS_W ",\"value\":5}" },
	/* particles, pictures, portals, seats */
	{ FTE("04000000"), "39 01 87 0001 0002 ffff 6d00",
	  "\"style\":1,\"bits\":135,\"color\":[256,512,-1],\"text\":\"m\"}" },
	{ FTE("04000000"), "39 01 07 6d00", "\"style\":1,\"bits\":7,\"text\":\"m\"}" },
	{ "", "3c 0001 6100 00 02",
	  "{\"op\":\"modellistshort\",\"start\":256,\"models\":[\"a\"],\"next\":2}" },
	{ "", "3e 05 07", "{\"op\":\"setportalstate\",\"mode\":5,\"portal\":7}" },
	{ "", "3e 80 07", "\"mode\":128,\"portal\":7}" },
	{ "", "3e c0 07 08", "\"mode\":192,\"area1\":7,\"area2\":8}" },
	{ "", "3e e2 0701 0801 0901",
	  "\"mode\":226,\"portal\":263,\"area1\":264,\"area2\":265}" },
	{ "", "3f " V ONE TWO ONE TWO ONE TWO "ffff 05 06",
	  "\"origin\":" SAYS_V ",\"mindirection\":[1,2,1],\"maxdirection\":[2,1,2],"
	  "\"count\":-1,\"color\":5,\"effect\":6}" },
	{ "", "40 " V "01 02 03 0500 06 07",
	  "{\"op\":\"particle3\",\"origin\":" SAYS_V ",\"box\":[1,2,3],\"count\":5,"
	  "\"color\":6,\"effect\":7}" },
	{ "", "44 03", "{\"op\":\"choosesplitclient\",\"seat\":3}" },
	{ "", "46 6100", "{\"op\":\"hidepic\",\"text\":\"a\"}" },
	{ "", "47 01 6100 0100 feff",
	  "{\"op\":\"movepic\",\"zone\":1,\"name\":\"a\",\"x\":1,\"y\":-2}" },
	{ "", "48 6100 6200", "{\"op\":\"updatepic\",\"name\":\"a\",\"image\":\"b\"}" },
	{ "", "4a " V "05 06 07 08",
	  "{\"op\":\"effect\",\"origin\":" SAYS_V ",\"modelindex\":5,\"startframe\":6,"
	  "\"framecount\":7,\"framerate\":8}" },
	{ "", "4b " V "0501 0601 07 08",
	  "\"modelindex\":261,\"startframe\":262,\"framecount\":7,\"framerate\":8}" },
	{ "", "4d 0501 6100", "{\"op\":\"precache\",\"code\":261,\"name\":\"a\"}" },
	{ "", "4e 21 6100", "{\"op\":\"updatestatstring\",\"stat\":33,\"value\":\"a\"}" },
	{ "", "4f 21 " ONE, "{\"op\":\"updatestatfloat\",\"stat\":33,\"value\":1}" },
	{ "", "50 0301 0401 " V W,
	  "\"number\":259,\"effect\":260,\"start\":" SAYS_V ",\"end\":" SAYS_W "}" },
	{ "", "51 0401 " V W "0501",
	  "\"effect\":260,\"origin\":" SAYS_V ",\"velocity\":" SAYS_W ",\"count\":261}" },
	{ "", "52 0401 " V,
	  "{\"op\":\"pointparticles1\",\"effect\":260,\"origin\":" SAYS_V "}" },
	/* Without FTE's terms it is the voice of a proxy. */
	{ "", "53 05 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20",
	  "{\"op\":\"cgamepacket\",\"sequence\":5,\"bytes\":33}" },
	{ "", "55 0040 00c0 0080",
	  "{\"op\":\"setangledelta\",\"angles\":[90,-90,-180]}" },
	{ "", "58 02 05 06", "{\"op\":\"updateseats\",\"slots\":[5,6]}" },
	{ "", "59 05 6100 00010080 0200 0102",
	  "\"slot\":5,\"key\":\"a\",\"offset\":256,\"final\":true,\"bytes\":2}" },
	{ "", "59 05 6100 00010000 0200 0102", "\"offset\":256,\"final\":false" },
	{ "", "5d 05 0040 00c0",
	  "{\"op\":\"setanglebase\",\"flags\":5,\"angles\":[90,null,-90]}" },
	{ "", "5d 02 0040", "\"flags\":2,\"angles\":[null,90,null]}" },
	/* A projectile that is new, and one that is gone. */
	{ MVD1("00010000"),
	  "64 07000000 0500 050a " ONE TWO ONE TWO ONE TWO "40c000 0101 0201 09 0780 "
	  "0000",
	  "\"frame\":7,\"projectiles\":[{\"number\":5,\"bits\":2565,\"origin\":[1,2,1],"
	  "\"velocity\":[2,1,2],\"angles\":[90,-90,0],\"modelindex\":257,\"owner\":258,"
	  "\"time\":9},{\"number\":7,\"removed\":true}]" },
	/* A player whose weapon is predicted; one of FTE's fields each. */
	{ MVD1("80000000"),
	  "2a 01 0000 " V "05 01 02 0301 " ONE TWO ONE "03 04 05 06 07 08 09",
	  "\"weaponprediction\":1,\"impulse\":2,\"weapon\":259,\"client_time\":1,"
	  "\"attack_finished\":2,\"client_nextthink\":1,\"client_thinkindex\":3,"
	  "\"client_ping\":4,\"client_predflags\":5,\"ammo_shells\":6,\"ammo_nails\":7,"
	  "\"ammo_rockets\":8,\"ammo_cells\":9}" },
	{ MVD1("80000000"), "2a 01 0000 " V "05 00", "\"weaponprediction\":0}" },
	{ FTE("02080800"), "2a 01 00c0 09 " V "05 32 07 010203",
	  "\"scale\":50,\"hull\":7,\"colormod\":[1,2,3]}" },
	{ FTE("02100000"), "2a 01 6000 " V "05 06 87",
	  "\"modelindex\":262,\"skinnum\":7" },
	{ "", "2a 01 6000 " V "05 06 87", "\"modelindex\":6,\"skinnum\":135" },
};

static void each_op(void **state)
{
	(void)state;
	hear(vectors, sizeof(vectors) / sizeof(*vectors));
}

/* What tells its length but not its meaning is skipped, and what is behind it read. */
static void what_has_a_length(void **state)
{
	static const struct {
		const char *hex, *json;
	} rows[] = {
		{ "5a 0200 0102 01", "\"bytes\":2},{\"op\":\"nop\"}]" },
		{ "5b 0280 0102 01", "\"netquake\":true,\"bytes\":2},{\"op\":\"nop\"}]" },
		{ "5b 0200 0102 01",
		  "\"netquake\":false,\"bytes\":2},{\"op\":\"nop\"}]" },
		{ "5c 0200 0102 01", "\"bytes\":2},{\"op\":\"nop\"}]" },
	};
	struct vector begin = { "", "", "" };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct qw_session s = { .late[0] = { 0 } };
		uint8_t bytes[256];
		size_t n = assemble(&begin, bytes, sizeof(bytes));

		decode(&s, DIRECTION_S2C, 1, bytes, n);
		n = from_hex(rows[i].hex, bytes, sizeof(bytes));
		assert_int_equal(decode(&s, DIRECTION_S2C, 2, bytes, n), RECORD_PARTIAL);
		if (!strstr(text, rows[i].json))
			fail_msg("%s: no %s in %s", rows[i].hex, rows[i].json, text);
		qw_session_drop(&s);
	}
}

/* What a custom temporary entity is made of, by the style that it was given. */
static void styles(void **state)
{
	static const struct {
		const char *define, *use, *json;
	} rows[] = {
		{ "43 ff 07 00 6100", "43 07 " V, "\"type\":7,\"origin\":" SAYS_V "}" },
		{ "43 ff 07 80 6100", "43 07 " V W,
		  "\"origin\":" SAYS_V ",\"end\":" SAYS_W "}" },
		{ "43 ff 07 21 6100", "43 07 " V "05 " W,
		  "\"count\":5,\"direction\":" SAYS_W "}" },
		{ "43 ff 07 40 6100", "43 07 0300 " V,
		  "\"id\":3,\"origin\":" SAYS_V "}" },
		{ "43 ff 07 c3 6100", "43 07 0380", "\"type\":7,\"id\":-32765}" },
		{ "43 ff 07 1c 6100 01ff02 05 060708 09 0a 0b0c0d", "43 07 " V,
		  "\"origin\":" SAYS_V "}" },
	};
	struct vector begin = { FTE("00008000"), "", "" };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct qw_session s = { .late[0] = { 0 } };
		uint8_t bytes[256];
		size_t n = assemble(&begin, bytes, sizeof(bytes));

		decode(&s, DIRECTION_S2C, 1, bytes, n);
		n = from_hex(rows[i].define, bytes, sizeof(bytes));
		assert_int_equal(decode(&s, DIRECTION_S2C, 2, bytes, n), RECORD_DECODED);
		if (i == 5 &&
		    !strstr(text, "\"stain\":[1,-1,2],\"radius\":5,\"color\":[6,7,8],"
				  "\"light_radius\":9,\"time\":10,\"fade\":[11,12,13]}"))
			fail_msg("%s", text);
		n = from_hex(rows[i].use, bytes, sizeof(bytes));
		assert_int_equal(decode(&s, DIRECTION_S2C, 3, bytes, n), RECORD_DECODED);
		if (!strstr(text, rows[i].json))
			fail_msg("%s: no %s in %s", rows[i].use, rows[i].json, text);
		qw_session_drop(&s);
	}
}

/* The record of a hidden block as JSON in @text; its status. */
static enum record_status hide(struct qw_session *s, const char *hex)
{
	uint8_t bytes[128], *copy;
	size_t n = from_hex(hex, bytes, sizeof(bytes));
	struct jsonl json;
	struct record r;
	FILE *file;

	free(text);
	text = NULL;
	copy = exact_copy(bytes, n);
	file = open_memstream(&text, &text_n);
	jsonl_init(&json, file);
	record_reset(&r, &tape);
	qw_hidden(s, (struct span){ copy, n }, &r);
	free(copy);
	jsonl_record(&json, &r);
	assert_int_equal(jsonl_flush(&json), 0);
	fclose(file);
	return r.status;
}

/* Blocks that a recording hides, each with its length and type before it. */
static void hidden_values(void **state)
{
	static const struct {
		const char *hex, *json;
		enum record_status status;
	} rows[] = {
		{ "2b000000 0000 05 01 07000000 " ONE TWO "83 " ONE TWO ONE
		  "0d 06 " TWO ONE TWO "0000",
		  "\"rest\":\"0000\"}", RECORD_PARTIAL },
		{ "29000000 0000 05 01 07000000 " ONE TWO "83 " ONE TWO ONE
		  "0d 06 " TWO ONE TWO,
		  "{\"op\":\"antilag_position\",\"slot\":5,\"sequence\":7,\"server_time\":1,"
		  "\"target_time\":2,\"players\":[{\"slot\":3,\"client_valid\":true,"
		  "\"origin\":[1,2,1],\"msec\":13,\"predmodel\":6,\"client_origin\":[2,1,2]}"
		  "]}",
		  RECORD_DECODED },
		{ "17000000 0100 05 06 0d " ONE TWO ONE "0100 feff 0300 04 07",
		  "\"slot\":5,\"drop\":6,\"msec\":13,\"angles\":[1,2,1],\"forwardmove\":1,"
		  "\"sidemove\":-2,\"upmove\":3,\"buttons\":4,\"impulse\":7}",
		  RECORD_DECODED },
		{ "0d000000 0200 05 feffffff 01 02 03 04 07 08 09 00",
		  "{\"op\":\"usercmd_weapons\",\"slot\":5,\"items\":4294967294,\"shells\":1,"
		  "\"nails\":2,\"rockets\":3,\"cells\":4,\"choice\":7,\"weapons\":[8,9]}",
		  RECORD_DECODED },
		{ "0b000000 0800 05 01000000 01 02 03 04 07 00",
		  "{\"op\":\"usercmd_weapons_ss\",\"slot\":5,\"items\":1",
		  RECORD_DECODED },
		{ "03000000 0400 02 abcd",
		  "{\"op\":\"commentary_track\",\"track\":2,\"bytes\":\"abcd\"}",
		  RECORD_DECODED },
		{ "08000000 0700 0380 0100 feff 6400",
		  "{\"op\":\"dmgdone\",\"deathtype\":3,\"splash\":true,\"attacker\":1,"
		  "\"target\":-2,\"damage\":100}",
		  RECORD_DECODED },
		{ "08000000 0700 0300 0100 0200 6400", "\"deathtype\":3,\"splash\":false",
		  RECORD_DECODED },
		{ "14000000 0900 05 06 feffffff 03000000 0102030405060708090a",
		  "{\"op\":\"usercmd_weapon_instruction\",\"slot\":5,\"flags\":6,"
		  "\"sequence\":-2,\"mode\":3,\"weapons\":[1,2,3,4,5,6,7,8,9,10]}",
		  RECORD_DECODED },
		{ "08000000 0900 0100000001000000", "\"start_ms\":4294967297}",
		  RECORD_DECODED },
		{ "08000000 0b00 0100000001000000",
		  "{\"op\":\"start_time\",\"start_ms\":4294967297}", RECORD_DECODED },
		{ "06000000 0b00 818080808020", "\"start_ms\":1099511627777}",
		  RECORD_DECODED },
		{ "0a00 0d", "{\"op\":\"paused_duration\",\"msec\":13}", RECORD_DECODED },
		{ "01000000 ffff0100 07",
		  "{\"op\":\"unknown\",\"type\":65536,\"bytes\":\"07\"}",
		  RECORD_PARTIAL },
	};
	struct qw_session s = { .late[0] = { 0 } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		enum record_status status = hide(&s, rows[i].hex);

		if (status != rows[i].status || !strstr(text, rows[i].json))
			fail_msg("%s: no %s in %s", rows[i].hex, rows[i].json, text);
	}
}

/* The parts of a text, of which one is missing the second time. */
static void hidden_text(void **state)
{
	static const struct {
		const char *hex, *json;
		enum record_status status;
	} rows[] = {
		{ "04000000 0300 0100 7b22", "\"block\":1,\"bytes\":2}", RECORD_DECODED },
		{ "04000000 0300 0200 6122", "\"block\":2", RECORD_DECODED },
		{ "03000000 0300 0000 7d", "\"json\":\"{\\\"a\\\"}\"", RECORD_DECODED },
		{ "04000000 0300 0200 6122", "\"block\":2", RECORD_DECODED },
		{ "03000000 0300 0000 7d",
		  "a part of the text is missing, or it is too long", RECORD_PARTIAL },
		{ "03000000 0300 0000 7d", "\"json\":\"}\"", RECORD_DECODED },
	};
	struct qw_session s = { .late[0] = { 0 } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		enum record_status status = hide(&s, rows[i].hex);

		if (status != rows[i].status || !strstr(text, rows[i].json))
			fail_msg("row %zu: no %s in %s", i, rows[i].json, text);
	}
	qw_session_drop(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_op),     cmocka_unit_test(what_has_a_length),
		cmocka_unit_test(styles),      cmocka_unit_test(hidden_values),
		cmocka_unit_test(hidden_text),
	};

	return cmocka_run_group_tests(tests, tape_begin, clear);
}
