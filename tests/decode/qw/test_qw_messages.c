// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Messages of QuakeWorld one by one: what each op says, in which layout, where it ends,
 * and every truncation of it.
 */
#include "decode/qw/qw_hidden.h"
#include "decode/qw/qw_vectors.h"

static const struct vector vectors[] = {
	{ "", "01", "{\"op\":\"nop\"}" },
	{ "", "02", "{\"op\":\"disconnect\"}" },
	{ "", "03 04 64", "{\"op\":\"updatestat\",\"stat\":4,\"value\":100}" },
	{ "", "06 08c0 80 40 05 080010000000",
	  "{\"op\":\"sound\",\"channel\":0,\"number\":1,\"volume\":128,\"attenuation\":1,"
	  "\"sound\":5,\"origin\":[1,2,0]}" },
	{ "", "06 0900 05 f8ff10000000",
	  "\"channel\":1,\"number\":1,\"volume\":255,\"attenuation\":1,\"sound\":5,"
	  "\"origin\":[-1,2,0]" },
	{ "", "07 0000803f", "{\"op\":\"time\",\"time\":1}" },
	{ "", "07 ffff7f7f", "{\"op\":\"time\",\"time\":3.4028" },
	{ "", "07 0000c07f", "{\"op\":\"time\",\"time\":null}" },
	{ "", "08 03 613a206200", "{\"op\":\"print\",\"level\":3,\"text\":\"a: b\"}" },
	{ "", "08 04 6100", "{\"op\":\"print\",\"level\":4,\"text\":\"a\"}" },
	{ FTE2("02000000"), "0c 40 6d00",
	  "{\"op\":\"lightstyle\",\"style\":64,\"text\":\"m\"}" },
	{ FTE2("08040000"), "56 0000803f 0100 8008 3f 0000",
	  "\"number\":1,\"bits\":2176,\"skinnum\":-1}" },
	/* a number of more than 14 bits, an effect in 14 and one more behind them */
	{ FTE2("08000000"), "56 0000803f 0140 02 808040 05c0 0700 0000",
	  "\"number\":32769,\"bits\":4227200,\"traileffectnum\":5,\"emiteffectnum\":7}" },
	{ FTE2("08000000"), "37 00 0a00 05 080010001800",
	  "\"volume\":255,\"attenuation\":1,\"number\":1,\"channel\":2,\"sound\":5" },
	{ "", "09 6300", "{\"op\":\"stufftext\",\"text\":\"c\"}" },
	{ "", "0a 40c000", "{\"op\":\"setangle\",\"angles\":[90,-90,0]}" },
	{ MVD1("02000000"), "0a 01 40c000",
	  "{\"op\":\"setangle\",\"teleport\":1,\"angles\":[90,-90,0]}" },
	{ "", "0c 3f 6d00", "{\"op\":\"lightstyle\",\"style\":63,\"text\":\"m\"}" },
	{ "", "0e 1f ffff", "{\"op\":\"updatefrags\",\"slot\":31,\"frags\":-1}" },
	{ "", "10 0a00", "{\"op\":\"stopsound\",\"number\":1,\"channel\":2}" },
	{ "", "13 05 06 080000000000",
	  "{\"op\":\"damage\",\"armor\":5,\"blood\":6,\"origin\":[1,0,0]}" },
	{ "", "14 02 03 04 05 0800 40 1000 00 0000 c0",
	  "\"modelindex\":2,\"frame\":3,\"colormap\":4,\"skinnum\":5,\"origin\":[1,2,0],"
	  "\"angles\":[90,0,-90]" },
	{ FTE("00800000"), "14 02 03 04 05 0000803f 0040 00000040 0000 00000000 00c0",
	  "\"origin\":[1,2,0],\"angles\":[90,0,-90]" },
	{ "", "16 ff07 02 03 04 05 0800 40 1000 00 0000 c0",
	  "{\"op\":\"spawnbaseline\",\"number\":2047,\"modelindex\":2" },
	{ "", "17 02 0c 080010001800",
	  "{\"op\":\"temp_entity\",\"type\":2,\"count\":12,\"origin\":[1,2,3]}" },
	{ "", "17 05 0700 080010001800 080010001800",
	  "\"type\":5,\"number\":7,\"start\":[1,2,3],\"end\":[1,2,3]}" },
	{ "", "17 35 080010001800 010203",
	  "\"type\":53,\"origin\":[1,2,3],\"color\":[1,2,3]}" },
	{ "", "18 01", "{\"op\":\"setpause\",\"paused\":1}" },
	{ "", "1a 6100", "{\"op\":\"centerprint\",\"text\":\"a\"}" },
	{ "", "1d 080010001800 05 80 40",
	  "\"origin\":[1,2,3],\"sound\":5,\"volume\":128,\"attenuation\":1}" },
	{ "", "1e 080010001800 40c000",
	  "{\"op\":\"intermission\",\"origin\":[1,2,3],\"angles\":[90,-90,0]}" },
	{ "", "1f 6100", "{\"op\":\"finale\",\"text\":\"a\"}" },
	{ "", "20 05", "{\"op\":\"cdtrack\",\"track\":5}" },
	{ "", "24 01 0f00", "{\"op\":\"updateping\",\"slot\":1,\"ping\":15}" },
	{ "", "25 01 0000803f", "{\"op\":\"updateentertime\",\"slot\":1,\"time\":1}" },
	{ "", "26 0f 00000080",
	  "{\"op\":\"updatestatlong\",\"stat\":15,\"value\":-2147483648}" },
	{ "", "27 0300", "{\"op\":\"muzzleflash\",\"number\":3}" },
	{ "", "28 02 07000000 5c6e616d655c7800",
	  "{\"op\":\"updateuserinfo\",\"slot\":2,\"userid\":7,\"userinfo\":"
	  "{\"name\":\"x\"}}" },
	{ "", "29 0300 64 616263", "{\"op\":\"download\",\"percent\":100,\"bytes\":3}" },
	{ "", "29 ffff 00",
	  "{\"op\":\"download\",\"percent\":0,\"refused\":\"not found\"}" },
	{ FTE("00000020"), "29 ffffffff ffffffff 6100",
	  "\"size\":-1,\"name\":\"a\",\"refused\":\"not found\"}" },
	{ FTE("00000020"), "29 ffffffff 00000080 0000000001000000 6100",
	  "\"size\":4294967296,\"name\":\"a\"}" },
	/* playerinfo: all of 1996 */
	{ "",
	  "2a 01 ff01 080010001800 05 21 ff 0040 0080 0001 6400 9cff 0a00 01 02 0d "
	  "0100 feff 0300 06 07 08 09",
	  "\"slot\":1,\"flags\":511,\"dead\":false,\"gib\":false,\"origin\":[1,2,3],"
	  "\"frame\":5,\"msec\":33,\"command\":{\"bits\":255,\"angles\":[90,-180,"
	  "1.40625],\"forwardmove\":100,\"sidemove\":-100,\"upmove\":10,\"buttons\":1,"
	  "\"impulse\":2,\"msec\":13},\"velocity\":[1,-2,3],\"modelindex\":6,"
	  "\"skinnum\":7,\"effects\":8,\"weaponframe\":9}" },
	{ MVD1("01000000"), "2a 01 1002 0000803f0000004000000000 05 0300",
	  "\"flags\":528,\"dead\":true,\"gib\":false,\"origin\":[1,2,0],\"frame\":5,"
	  "\"velocity\":[null,null,3]}" },
	{ FTE("0a010000"), "2a 01 0080 07 080010001800 05 32 4c ff",
	  "\"scale\":50,\"alpha\":76,\"fatness\":-1}" },
	{ "", "2b 02 000000000000 ffffff ffff ff",
	  "\"nails\":[{\"origin\":[-4096,-4096,-4096],\"angles\":[0,0,0]},"
	  "{\"origin\":[4094,4094,4094],\"angles\":[337.5,358.59375,0]}]" },
	{ "", "36 01 05 000008008000",
	  "{\"op\":\"nails2\",\"nails\":[{\"number\":5,\"origin\":[-4096,-3840,"
	  "-4096],\"angles\":[180,0,0]}]}" },
	{ "", "2c 03", "{\"op\":\"chokecount\",\"count\":3}" },
	{ "", "2d 00 6d6170732f612e62737000 6200 00 02",
	  "\"start\":0,\"models\":[\"maps/a.bsp\",\"b\"],\"next\":2}" },
	{ "", "2e 05 6100 00 00", "\"start\":5,\"sounds\":[\"a\"],\"next\":0}" },
	{ "", "2f 01b6 05 04 07 0800 40 f8ff c0 0000",
	  "\"entities\":[{\"number\":1,\"bits\":374272,\"modelindex\":4,\"frame\":7,"
	  "\"origin\":[1,-1,null],\"angles\":[90,-90,null]}],\"count\":1}" },
	{ "", "2f 0100 0000",
	  "{\"op\":\"packetentities\",\"entities\":[{\"number\":1,\"bits\":0}],"
	  "\"count\":1}" },
	{ FTE("00700000"), "2f 0180 80 28 2a01 0000",
	  "{\"number\":513,\"bits\":679510016,\"modelindex\":298}" },
	{ FTE("00700000"), "2f 0180 84 08 2a 0000",
	  "{\"number\":1,\"bits\":142901248,\"modelindex\":298}" },
	/* all of the fourth byte */
	{ FTE("00700000"),
	  "2f 0180 80 80 7f 01 02 030405 06 0700 0800 0900 0a00 0b00 0c00 0d 0e 0f 0000",
	  "\"drawflags\":1,\"abslight\":2,\"colormod\":[3,4,5],\"dpflags\":6,"
	  "\"tagentity\":7,\"tagindex\":8,\"light_red\":9,\"light_green\":10,"
	  "\"light_blue\":11,\"light_radius\":12,\"lightstyle\":13,\"lightpflags\":14,"
	  "\"effects_high\":15}" },
	{ FTE("00700000"), "2f 0180 80 80 08 80 0000", "\"dpflags\":128}" },
	{ "", "31 0000803f", "{\"op\":\"maxspeed\",\"value\":1}" },
	{ "", "32 0000803f", "{\"op\":\"entgravity\",\"value\":1}" },
	{ "", "33 01 6100 6200",
	  "{\"op\":\"setinfo\",\"slot\":1,\"key\":\"a\",\"value\":\"b\"}" },
	{ "", "34 6100 6200", "{\"op\":\"serverinfo\",\"key\":\"a\",\"value\":\"b\"}" },
	{ "", "35 01 05", "{\"op\":\"updatepl\",\"slot\":1,\"pl\":5}" },
	{ FTE("01000000"), "38 0001 6100 00 02", "\"start\":256,\"sounds\":[\"a\"]" },
	{ FTE("04000000"), "39 01 85 0001 0002 6d00",
	  "\"style\":1,\"bits\":133,\"color\":[256,512],\"text\":\"m\"}" },
	{ FTE("01000000"), "3e 82 0500", "\"mode\":130,\"portal\":5}" },
	{ FTE("01000000"), "41 080010001800 05 0100 02 03",
	  "\"origin\":[1,2,3],\"box\":[5],\"count\":1,\"color\":2,\"effect\":3}" },
	{ FTE("00000004"), "45 01 6100 6200 0100 ffff",
	  "\"zone\":1,\"name\":\"a\",\"image\":\"b\",\"x\":1,\"y\":-1}" },
	{ FTE2("02000000"), "54 01 10 02 0300 010203",
	  "\"sender\":1,\"generation\":16,\"sequence\":2,\"bytes\":3}" },
	/* FTE's update: frame, origin, a removed one, the end. */
	{ FTE2("08000000"), "56 0000803f 0500 03 07 0800 1000 0680 0000",
	  "{\"number\":5,\"bits\":3,\"frame\":7,\"origin\":[1,2,null]},"
	  "{\"number\":6,\"removed\":true}" },
	{ "",
	  "64 01000000 0500 0102 0000803f00000040000000000000803f0000004000000000 "
	  "40c000 0680 0000",
	  "{\"number\":5,\"bits\":513,\"origin\":[1,2,0],\"velocity\":[1,2,0],"
	  "\"angles\":[90,-90,0]},{\"number\":6,\"removed\":true}" },
	/* clients */
	{ NULL, "01", "{\"op\":\"nop\"}" },
	{ NULL, "04 6e657700", "{\"op\":\"stringcmd\",\"text\":\"new\"}" },
	{ NULL, "05 80", "{\"op\":\"delta\",\"sequence\":128}" },
	{ NULL, "06 080010001800", "{\"op\":\"tmove\",\"origin\":[1,2,3]}" },
	{ NULL, "07 0200 32 6162", "{\"op\":\"upload\",\"percent\":50,\"bytes\":2}" },
	{ NULL, "32 ffffffff", "{\"op\":\"ackframe\",\"frame\":-1}" },
	{ NULL, "53 01 02 0100 05", "\"generation\":1,\"sequence\":2,\"bytes\":1}" },
	{ NULL, "56 01 6100", "\"seat\":1,\"text\":\"a\"}" },
	{ NULL, "c8 04 07 3210", "\"flags\":4,\"age\":7,\"weapons\":[3,2,1]}" },
	{ NULL, "c8 80 0a0b00", "\"flags\":128,\"weapons\":[10,11]}" },
	{ NULL, "c9 02 01000000 01020304 05 6100", "\"choice\":5,\"text\":\"a\"}" },
	/* one seat, one frame: bits 0x103: pitch and yaw of 16 bits */
	{ NULL, "55 08 01 8103 00 0040 00c0", "\"angles\":[90,-90,null]}" },
};

static void each_op(void **state)
{
	(void)state;
	hear(vectors, sizeof(vectors) / sizeof(*vectors));
}

struct refused {
	const char *masks;
	const char *hex;
	const char *reason;
};

static const struct refused refusals[] = {
	{ "", "00", "no such message" },
	{ "", "04", "no such message" },
	{ "", "0d", "no such message" },
	{ "", "ff", "no such message" },
	{ "", "0e 20 0000", "no such player slot" },
	{ "", "2a 20 0000 000000000000 00", "no such player slot" },
	{ "", "0c 40 00", "no such light style" },
	{ "", "03 20 00", "no such stat" },
	{ "", "08 03 6162", "message ends within an op" },
	{ "", "17 10", "no such temporary entity" },
	{ "", "16 0008 00000000 000000 000000 000000", "no such entity" },
	{ "", "2b 21", "more nails than there may be" },
	{ "", "2f 0002 0000 0000", "entity 0 in a frame" },
	{ "", "2f 0140 0000", "an entity is removed in a whole frame" },
	{ "", "29 feff 00", "no such size of a block" },
	{ "", "29 0000 65", "more than a hundred percent" },
	{ FTE("00000020"), "29 feffffff", "no such chunk of a download" },
	{ FTE("00000020"), "29 ffffffff faffffff 6100", "no such size of a download" },
	{ FTE("00000020"), "29 ffffffff 00000080 0100000000000080 6100",
	  "no such size of a download" },
	{ FTE2("08000000"), "56 00000000 0500 80808040 0000",
	  "no such bit of an update" },
	{ "", "0b 1d000000", "no such protocol" },
	{ "", "0b 17000000", "no such protocol" },
	{ NULL, "02", "no such message" },
	{ NULL, "07 ffff 00", "upload of fewer than no bytes" },
	{ NULL, "c9 03", "no such debugging message" },
	{ NULL, "55 0c ff7f", "more moves than there may be" },
	{ NULL, "55 08 41", "more moves than there may be" },
	{ NULL, "55 04 41", "more moves than there may be" },
	{ NULL, "55 08 40", "message ends within an op" },
	{ NULL, "03 00 00 00 0d 00 0d 00 0d", "the move's checksum is wrong" },
};

static void what_is_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(refusals) / sizeof(*refusals); i++) {
		const struct refused *f = &refusals[i];
		struct vector v = { f->masks, f->hex, NULL };
		struct qw_session s = { .late[0] = { 0 } };
		struct qw_terms terms;
		uint8_t bytes[512];
		size_t n;

		if (f->masks) {
			n = assemble(&v, bytes, sizeof(bytes));
			decode(&s, DIRECTION_S2C, 1, bytes, n);
		}
		terms = s.terms;
		n = from_hex(f->hex, bytes, sizeof(bytes));
		if (decode(&s, f->masks ? DIRECTION_S2C : DIRECTION_C2S, 2, bytes, n) !=
			    RECORD_MALFORMED ||
		    !strstr(text, f->reason))
			fail_msg("%s: %s instead of %s", f->hex, text, f->reason);
		/* And nothing was learnt. */
		assert_memory_equal(&terms, &s.terms, sizeof(terms));
		assert_null(s.game);
		qw_session_drop(&s);
	}
}

/* Before the server has said what it speaks, its prints tell whether this is QuakeWorld.
 */
static void print_levels(void **state)
{
	static const uint8_t good[] = { 8, 3, 'a', 0 }, bad[] = { 8, 4, 'a', 0 };
	struct qw_session s = { .late[0] = { 0 } };

	(void)state;
	assert_int_equal(decode(&s, DIRECTION_S2C, 1, good, sizeof(good)),
			 RECORD_DECODED);
	assert_int_equal(decode(&s, DIRECTION_S2C, 2, bad, sizeof(bad)),
			 RECORD_MALFORMED);
	assert_non_null(strstr(text, "no such print level"));
	qw_session_drop(&s);
}

/* What stands before the blocks of a recording that a relay has passed on. */
static void relayed(void **state)
{
	struct demo_block block = { .format = DEMO_MVD,
				    .type = DEMO_TYPE_HEADER,
				    .bytes = (const uint8_t *)"QTVSV 1\n\n",
				    .n = 9 };
	struct qw_session s = { .late[0] = { 0 } };
	struct record r;

	(void)state;
	record_reset(&r, &tape);
	r.kind = "";
	qw_demo(&s, &block, &r);
	assert_int_equal(r.status, RECORD_DECODED);
	assert_string_equal(r.kind, "qtv-header");
	assert_memory_equal(tape.bytes, "QTVSV 1\n\n", 9);
	record_reset(&r, &tape);
	qw_demo(NULL, &block, &r);
	assert_int_equal(r.status, RECORD_OPAQUE);
	qw_session_drop(&s);
}

struct recorded_block {
	uint8_t type;
	const char *hex, *reason; /* NULL: decoded */
};

static void expect_recording(const struct recorded_block *blocks, size_t count)
{
	struct qw_session s = { .late[0] = { 0 } };

	for (size_t i = 0; i < count; i++) {
		uint8_t bytes[128];
		struct demo_block block = {
			.frame = i + 1,
			.format = DEMO_MVD,
			.type = blocks[i].type,
			.bytes = bytes,
			.n = from_hex(blocks[i].hex, bytes, sizeof(bytes)),
		};
		struct record r;

		record_reset(&r, &tape);
		r.kind = "";
		qw_demo(&s, &block, &r);
		if (strcmp(r.reason ? r.reason : "",
			   blocks[i].reason ? blocks[i].reason : "") != 0)
			fail_msg("block %zu: %s", i + 1, r.reason);
	}
	qw_session_drop(&s);
}

/* Between two updates of FTE's replacement deltas a hidden block loses nothing. */
static void hidden_between_updates(void **state)
{
	static const struct recorded_block blocks[] = {
		{ 6,
		  "0b 46544532 08000000 4d564431 20000000 1c000000 01000000 717700 "
		  "00000000 4d6100 00000000 00000000 00000000 00000000 00000000 "
		  "00000000 00000000 00000000 00000000 00000000 42 0500 01 02",
		  NULL },
		{ 6, "56 00000000 0500 8005 07 0000", NULL },
		{ 3, "08000000 0700 0180 0200 0300 0400", NULL },
		{ 6, "56 00000000 0500 01 03 0000", NULL },
	};

	(void)state;
	expect_recording(blocks, sizeof(blocks) / sizeof(*blocks));
}

/* A recorder writes all of each player first; without that block no state is known. */
static void first_players_of_a_recording_are_whole(void **state)
{
	static const char serverdata[] =
		"0b 1c000000 01000000 717700 00000000 4d6100 00000000 00000000 00000000 "
		"00000000 00000000 00000000 00000000 00000000 00000000 00000000";
	static const char whole[] =
		"2a 00 ff0c 05 0100 0200 0300 0400 0500 0600 07 01 00 02";
	static const char moves[] = "2a 00 0100 05 0900";
	static const char unknown[] = "a player's state was not seen as a whole";
	static const struct recorded_block blocks[] = {
		{ 6, serverdata, NULL },
		{ 6, whole, NULL },
		{ 6, moves, NULL },
		{ 6, serverdata, NULL },
		{ 6,
		  "0b 1c000000 02000000 717700 00000000 4d6100 00000000 00000000 "
		  "00000000 00000000 00000000 00000000 00000000 00000000 00000000 "
		  "00000000",
		  NULL },
		{ 6, moves, unknown },
		{ 6, whole, NULL },
		{ 6, moves, unknown },
	};

	(void)state;
	expect_recording(blocks, sizeof(blocks) / sizeof(*blocks));
}

/* The numbers go on behind a whole frame of a recording, or begin anew. */
static void cut_behind_a_whole_frame(void **state)
{
	static const char serverdata[] =
		"0b 1c000000 01000000 717700 00000000 4d6100 00000000 00000000 00000000 "
		"00000000 00000000 00000000 00000000 00000000 00000000 00000000";
	static const struct recorded_block blocks[] = {
		{ 6, serverdata, NULL },
		{ 6, "2f 0000", NULL },
		{ 6, "30 09 0000", NULL },
		{ 6, "30 0a 0000", NULL },
		{ 6, "2f 0000", NULL },
		{ 6, "30 0c 0000", NULL },
		{ 6, "2f 0000", NULL },
		{ 6, "30 0d 0000", NULL },
		{ 6, "2f 0000", NULL },
		{ 6, "30 01 0000", NULL },
		{ 6, "2f 0000", NULL },
		{ 6, "2f 0000", NULL },
		{ 6, "30 04 0000", NULL },
		{ 6, "2f 0000", NULL },
		{ 6, "30 77 0000", "delta from a frame that was not seen" },
	};

	(void)state;
	expect_recording(blocks, sizeof(blocks) / sizeof(*blocks));
}

/* 47, deltas on it, and on what was never seen. */
static void frames(void **state)
{
	static const struct {
		uint32_t sequence;
		const char *hex;
		enum record_status status;
		const char *json;
	} steps[] = {
		{ 10, "2f 0500 0600 0000", RECORD_DECODED, "\"count\":2" },
		{ 11, "30 0a 0700 0000", RECORD_DECODED, "\"count\":3" },
		{ 12, "30 0b 0540 0000", RECORD_DECODED, "\"count\":2" },
		/* removing what is not there is legal */
		{ 13, "30 0c 0540 0000", RECORD_DECODED, "\"count\":2" },
		{ 14, "30 09 0000", RECORD_PARTIAL,
		  "delta from a frame that was not seen" },
		{ 15, "30 0e 0000", RECORD_PARTIAL,
		  "delta from a frame whose own base was not seen" },
		{ 16, "30 0d 0000", RECORD_DECODED, "\"count\":2" },
		/* too old, though the number is the same modulo 256 */
		{ 16 + 62, "30 10 0000", RECORD_DECODED, "\"count\":2" },
		{ 16 + 63 + 62, "30 4e 0000", RECORD_PARTIAL,
		  "delta from a frame that was not seen" },
		{ 10 + 256, "30 0a 0000", RECORD_PARTIAL,
		  "delta from a frame that was not seen" },
	};
	struct vector v = { "", "", "" };
	struct qw_session s = { .late[0] = { 0 } };
	uint8_t bytes[256];

	(void)state;
	decode(&s, DIRECTION_S2C, 9, bytes, assemble(&v, bytes, sizeof(bytes)));
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		size_t n = from_hex(steps[i].hex, bytes, sizeof(bytes));

		assert_int_equal(decode(&s, DIRECTION_S2C, steps[i].sequence, bytes, n),
				 steps[i].status);
		if (!strstr(text, steps[i].json))
			fail_msg("%s: no %s", text, steps[i].json);
	}
	qw_session_drop(&s);
}

/* By COM_BlockSequenceCRCByte of QW/client/common.c: sequence, bytes behind the checksum,
 * checksum. */
static void checksums(void **state)
{
	static const struct {
		uint32_t sequence;
		const char *hex;
		uint8_t checksum;
	} sums[] = {
		{ 1, "00000d000d000d", 110 },
		{ 2, "00000d000d000d", 116 },
		{ 100, "00000d000d000d", 220 },
		{ 511, "00000d000d000d", 1 },
		{ 512, "00000d000d000d", 46 },
		{ 600, "00000d000d000d", 214 },
		{ 1019, "00000d000d000d", 77 },
		{ 1020, "00000d000d000d", 64 },
		{ 1021, "00000d000d000d", 66 },
		{ 74565, "00000d000d000d", 250 },
		{ 2147483647, "00000d000d000d", 164 },
		{ 77,
		  "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f404142434445464748494a4b4c4d4e4f",
		  186 },
	};
	uint8_t bytes[128];

	(void)state;
	for (size_t i = 0; i < sizeof(sums) / sizeof(*sums); i++) {
		size_t n = from_hex(sums[i].hex, bytes, sizeof(bytes));
		uint8_t *copy = exact_copy(bytes, n);

		assert_int_equal(qw_move_checksum(copy, n, sums[i].sequence),
				 sums[i].checksum);
		free(copy);
	}
}

/* A command is written to the bytes that it was read from, and to no fewer. */
static void commands_again(void **state)
{
	static const char *const rows[] = {
		"ff 0040 0080 0001 6400 9cff 0a00 01 02 0d",
		"81 0040 0080 0d",
		"00 0d",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		uint8_t bytes[32];
		size_t n = from_hex(rows[i], bytes, sizeof(bytes));
		struct reader rd = reader_of(bytes, n);
		int32_t fields[QW_CMD_FIELDS] = { 0 };
		unsigned int bits = qw_usercmd_read(&rd, 28, fields);

		assert_int_equal(reader_left(&rd), 0);
		for (size_t room = 0; room <= n; room++) {
			uint8_t *to = malloc(room ? room : 1);

			assert_non_null(to);
			assert_int_equal(qw_usercmd_write(to, room, 28, bits, fields),
					 room < n ? 0 : n);
			if (room == n)
				assert_memory_equal(to, bytes, n);
			free(to);
		}
	}
}

/* A style says what follows; without it the rest is not known. */
static void custom_temporary_entities(void **state)
{
	static const char *const use = "43 07 080010001800 05 01";
	struct vector v = { FTE("00008000"), "", "" };
	struct qw_session s = { .late[0] = { 0 } };
	uint8_t bytes[256];
	size_t n;

	(void)state;
	decode(&s, DIRECTION_S2C, 1, bytes, assemble(&v, bytes, sizeof(bytes)));
	n = from_hex(use, bytes, sizeof(bytes));
	assert_int_equal(decode(&s, DIRECTION_S2C, 2, bytes, n), RECORD_PARTIAL);
	n = from_hex("43 ff 07 03 6100", bytes, sizeof(bytes));
	assert_int_equal(decode(&s, DIRECTION_S2C, 3, bytes, n), RECORD_DECODED);
	n = from_hex(use, bytes, sizeof(bytes));
	assert_int_equal(decode(&s, DIRECTION_S2C, 4, bytes, n), RECORD_DECODED);
	assert_non_null(strstr(text, "\"count\":5,\"direction_index\":1}"));
	qw_session_drop(&s);
}

/* What a later server may add to a block is shown; what is cut is wrong. */
static void hidden_blocks(void **state)
{
	static const struct {
		const char *hex;
		enum record_status status;
	} rows[] = {
		{ "08000000 0700 0180 0200 0300 0400", RECORD_DECODED },
		{ "09000000 0700 0180 0200 0300 0400 05", RECORD_PARTIAL },
		{ "07000000 0700 0180 0200 0300 04", RECORD_MALFORMED },
		{ "09000000 0700 0180 0200 0300 0400", RECORD_MALFORMED },
		{ "01000000 6300 05", RECORD_PARTIAL },
	};
	struct qw_session s = { .late[0] = { 0 } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		uint8_t bytes[64];
		size_t n = from_hex(rows[i].hex, bytes, sizeof(bytes));
		struct record r;

		record_reset(&r, &tape);
		qw_hidden(&s, (struct span){ bytes, n }, &r);
		if (r.status != rows[i].status)
			fail_msg("%s: %s", rows[i].hex, record_status_names[r.status]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_op),
		cmocka_unit_test(what_is_refused),
		cmocka_unit_test(print_levels),
		cmocka_unit_test(relayed),
		cmocka_unit_test(hidden_between_updates),
		cmocka_unit_test(first_players_of_a_recording_are_whole),
		cmocka_unit_test(cut_behind_a_whole_frame),
		cmocka_unit_test(frames),
		cmocka_unit_test(checksums),
		cmocka_unit_test(commands_again),
		cmocka_unit_test(custom_temporary_entities),
		cmocka_unit_test(hidden_blocks),
	};

	return cmocka_run_group_tests(tests, tape_begin, clear);
}
