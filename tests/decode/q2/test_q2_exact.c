// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * To the bit: what only some dialects announce, in which order it comes there, and that
 * no bit which nobody has read is called decoded.
 */
#include "decode/q2/q2_mvd.h"
#include "decode/q2/q2_parcel.h"

/* Does @r have @what in it, said as JSON? */
static bool says(const struct record *r, const char *what)
{
	char *json = q2_json(r);
	bool found = strstr(json, what) != NULL;

	if (!found)
		print_message("not %s in %s", what, json);
	free(json);
	return found;
}

static void expect_status(const struct record *r, enum record_status status)
{
	if (r->status != status)
		fail_msg("%s instead of %s: %s", record_status_names[r->status],
			 record_status_names[status], r->reason ? r->reason : "-");
}

/* A message of a server on a connection of that dialect. */
static void run(int protocol, unsigned int minor, unsigned int flags, const char *hex,
		struct record *r)
{
	struct q2_bytes b = q2_hex(hex);
	struct q2_session q;

	q2_begin(&q, protocol, minor, flags);
	q2_run_message(&q, DIRECTION_S2C, b.bytes, b.n, r);
	q2_session_drop(&q);
}

static void play(struct q2_session *q, enum demo_format format, const char *hex,
		 struct record *r)
{
	struct q2_bytes b = q2_hex(hex);
	struct demo_block block = {
		.format = format,
		.kind = "demo-message",
		.bytes = b.bytes,
		.n = b.n,
	};

	record_reset(r, q2_tape());
	q2_session_demo(q, &block, r);
}

/* --- Q2PRO's recordings ------------------------------------------------------------- */

/* A full frame without areas, up to the player's flags; and entities, none. */
#define DEMO_FRAME  "1401000000ffffffff000011"
#define NO_ENTITIES "120000"
#define DEMO_VIEW   "000000400020"
#define DEMO_GUN    "0a4005" GUN_PLACES
#define GUN_PLACES  "01fe030004fb"
#define DEMO_PLACES "c800f6ffe12202"
#define SAYS_VIEW   "\"viewangles\":[0,90,45],\"gunindex\":10,\"gunframe\":5,"
#define SAYS_GUN    "\"gunoffset\":[0.25,-0.5,0.75],\"gunangles\":[0,1,-1.25]"

/* Frames are like 34's: three angles of the view, and the gun's places with its frame. */
static void test_extended_recordings(void **state)
{
	static const struct {
		const char *protocol, *frame, *says;
	} rows[] = {
		{ "6a0d0000", DEMO_FRAME "0031" DEMO_VIEW DEMO_GUN "00000000" NO_ENTITIES,
		  "\"playerinfo\":{" SAYS_VIEW SAYS_GUN ",\"gunskin\":2}" },
		{ "6b0d0000",
		  DEMO_FRAME "0231" DEMO_PLACES DEMO_VIEW DEMO_GUN "00" NO_ENTITIES,
		  "{\"origin\":[12.5,-0.625,8750]," SAYS_VIEW SAYS_GUN },
		{ "6c0d0000",
		  DEMO_FRAME "02b101" DEMO_PLACES DEMO_VIEW DEMO_GUN "02ffff0000"
			     "00" NO_ENTITIES,
		  SAYS_VIEW SAYS_GUN ",\"gunskin\":2,\"fog_density\":1" },
	};
	struct record r;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct q2_session q = { .game = NULL };
		char begin[64];

		snprintf(begin, sizeof(begin), "0c%s010000000100000000",
			 rows[i].protocol);
		play(&q, DEMO_DM2, begin, &r);
		expect_status(&r, RECORD_DECODED);
		play(&q, DEMO_DM2, rows[i].frame, &r);
		expect_status(&r, RECORD_DECODED);
		assert_string_equal(r.dialect, "q2pro-3434");
		assert_true(says(&r, rows[i].says));
		q2_session_drop(&q);
	}
}

/* What a server records of its game: frames of entities alone, each from nothing. */
static void test_server_recording(void **state)
{
	static const struct {
		const char *hex, *says;
	} rows[] = {
		{ "0c22000000510700000200ffff5400",
		  "\"attractloop\":2,\"gamedir\":\"\",\"playernum\":-1,\"levelname\":\"T\"}" },
		{ "1464000000"
		  "12"
		  "83cb84012c01280100020080ff7f0800000000000000"
		  "0000"
		  "0a026100",
		  "{\"op\":\"frame\",\"serverframe\":100,\"packetentities\":[{\"number\":300,"
		  "\"modelindex\":40,\"effects\":1,\"renderfx\":512,\"origin\":[-4096,4095.875,1],"
		  "\"old_origin\":[0,0,0]}]},{\"op\":\"print\",\"level\":2,\"text\":\"a\"}" },
	};
	struct q2_session q = { .game = NULL };
	struct record r;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		play(&q, DEMO_DM2, rows[i].hex, &r);
		expect_status(&r, RECORD_DECODED);
		assert_true(says(&r, rows[i].says));
	}
	q2_session_drop(&q);
}

/* Serverdata of a multi-view recording: for four players, of whom number 1 is there. */
#define MVD_BEGIN(slot)          \
	"04"                     \
	"25000000da070100000000" \
	"ffff"                   \
	"1e003400"               \
	"2008"                   \
	"00" slot "0000"         \
	"ff"                     \
	"0000"
#define MVD_FRAME(slot) "0600" slot "0000ff0000"

/* Players are as many as the server has room for. */
static void test_mvd_players(void **state)
{
	static const struct {
		const char *hex;
		bool good;
	} rows[] = {
		{ MVD_FRAME("03"), true },  { MVD_FRAME("04"), false },
		{ MVD_FRAME("fe"), false }, { "08010306", true },
		{ "08010406", false },	    { "09010406", false },
	};
	struct q2_session q = { .game = NULL };
	struct record r;

	(void)state;
	play(&q, DEMO_MVD2, MVD_BEGIN("04"), &r);
	expect_status(&r, RECORD_MALFORMED);
	assert_string_equal(r.reason, "player number out of range");
	play(&q, DEMO_MVD2, MVD_BEGIN("03"), &r);
	expect_status(&r, RECORD_DECODED);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		play(&q, DEMO_MVD2, rows[i].hex, &r);
		expect_status(&r, rows[i].good ? RECORD_DECODED : RECORD_MALFORMED);
		assert_true(rows[i].good ||
			    !strcmp(r.reason, "player number out of range"));
	}
	q2_session_drop(&q);
}

/* A third byte of a player's flags: only its lowest two bits bring something. */
static void test_mvd_third_byte(void **state)
{
	struct q2_session q = { .game = NULL };
	struct record r;

	(void)state;
	play(&q, DEMO_MVD2, "0425000000dd070c000100000000ffff3e3500ff0000", &r);
	expect_status(&r, RECORD_DECODED);
	play(&q, DEMO_MVD2, "060000008001ff0000", &r);
	expect_status(&r, RECORD_DECODED);
	play(&q, DEMO_MVD2, "060000008004ff0000", &r);
	expect_status(&r, RECORD_MALFORMED);
	assert_string_equal(r.reason, "unknown flag of a player");
	q2_session_drop(&q);
}

/* Another map has its own number of players. */
static void test_mvd_next_map(void **state)
{
	struct q2_session q = { .game = NULL };
	struct record r;

	(void)state;
	play(&q, DEMO_MVD2, MVD_BEGIN("03"), &r);
	expect_status(&r, RECORD_DECODED);
	play(&q, DEMO_MVD2, "0425000000da070100000000ffff2008000a0000ff0000", &r);
	expect_status(&r, RECORD_DECODED);
	q2_session_drop(&q);
}

/* What stands in an opcode's upper bits is said, too. */
static void test_mvd_opcodes(void **state)
{
	static const struct {
		const char *hex;
		const char *says; /* NULL: malformed */
	} rows[] = {
		{ "1000050900",
		  "\"channel\":1,\"everywhere\":false,\"reliable\":false}" },
		{ "3000050900", "\"channel\":1,\"everywhere\":true,\"reliable\":false}" },
		{ "5000050900", "\"channel\":1,\"everywhere\":false,\"reliable\":true}" },
		{ "9000050900", NULL },
		{ "2425000000dc0700000100000000ffff200800ff0000", NULL },
	};
	struct q2_session q = { .game = NULL };
	struct record r;

	(void)state;
	play(&q, DEMO_MVD2, MVD_BEGIN("03"), &r);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		play(&q, DEMO_MVD2, rows[i].hex, &r);
		expect_status(&r, rows[i].says ? RECORD_DECODED : RECORD_MALFORMED);
		assert_true(!rows[i].says || says(&r, rows[i].says));
	}
	q2_session_drop(&q);
}

/* --- messages of 35 and 36 ---------------------------------------------------------- */

#define EXTENDED (Q2_FLAG_EXTENSIONS | Q2_FLAG_EXTENSIONS_2)

struct row {
	int protocol;
	unsigned int minor, flags;
	const char *hex;
	const char *says; /* in it, or why it is malformed */
	bool malformed;
};

static void expect_rows(const struct row *rows, size_t n)
{
	struct record r;

	for (size_t i = 0; i < n; i++) {
		run(rows[i].protocol, rows[i].minor, rows[i].flags, rows[i].hex, &r);
		expect_status(&r, rows[i].malformed ? RECORD_MALFORMED : RECORD_DECODED);
		if (rows[i].malformed)
			assert_string_equal(r.reason, rows[i].says);
		else
			assert_true(says(&r, rows[i].says));
	}
}

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))

/* Only a monster's flash is so many that its number needs more bits. */
static void test_muzzleflash(void **state)
{
	static const struct row rows[] = {
		{ 36, 1026, EXTENDED, "02012005", "\"number\":1,\"flash\":261", false },
		{ 36, 1026, EXTENDED, "01ff1f85", "\"number\":8191,\"weapon\":5,",
		  false },
		{ 36, 1026, EXTENDED, "01012005", "entity number out of range", true },
		{ 36, 1026, 0, "02012005", "entity number out of range", true },
	};

	(void)state;
	expect_rows(rows, COUNT(rows));
}

/* What the client of 3.21 does not know is for those of 35 and 36, damage for games with
 * extensions. */
static void test_temp_entities(void **state)
{
	static const struct row rows[] = {
		{ 34, 0, 0, "031f080008000800080008000800", "no such temporary entity",
		  true },
		{ 34, 0, 0, "033808000800080000", "no such temporary entity", true },
		{ 35, 1905, 0, "031f080008000800080008000800", "TE_RAILTRAIL2", false },
		{ 36, 1026, 0, "033808000800080000", "TE_BLUEHYPERBLASTER_2", false },
		{ 36, 1026, 0, "033c010001", "\"number\":1,\"screen\":1", false },
		{ 36, 1026, 0, "03800100", "no such temporary entity", true },
		{ 36, 1026, EXTENDED, "03800100", "\"damage\":1", false },
		{ 36, 1026, EXTENDED, "0320", "no such temporary entity", true },
	};

	(void)state;
	expect_rows(rows, COUNT(rows));
}

#define SERVERDATA(protocol, tail) "0c" protocol "00000051070000000000005400" tail

/* A flag that brings nothing that anybody knows is not passed over. */
static void test_unknown_flags(void **state)
{
	static const struct row rows[] = {
		{ 34, 0, 0,
		  "1401000000ffffffff0000110080000000001200"
		  "00",
		  "unknown flag of a player", true },
		{ 36, 1026, 0,
		  "14010000f80000"
		  "0000"
		  "0000",
		  "\"playerinfo\":{}", false },
		{ 36, 1026, 0,
		  "14010000f800000080"
		  "0000",
		  "unknown flag of a player", true },
		{ 36, 1025, EXTENDED,
		  "14010000f800000080"
		  "0000",
		  "unknown flag of a player", true },
		{ 36, 1026, EXTENDED,
		  "14010000f800000080"
		  "00"
		  "0000",
		  "\"playerinfo\":{}", false },
		{ 36, 1026, EXTENDED,
		  "14010000f800000080"
		  "02"
		  "0000",
		  "unknown flag of a player", true },
		/* Whose eyes it is seen with is said in 36 alone. */
		{ 36, 1026, 0,
		  "94010000f800000000"
		  "0500"
		  "0000",
		  "\"clientnum\":5", false },
		{ 35, 1905, 0,
		  "94010000f800000000"
		  "0000",
		  "unknown flag of a player", true },
		/* 64 stats, and not one more. */
		{ 36, 1026, EXTENDED,
		  "54010000f8000000"
		  "00"
		  "80808080808080808001"
		  "0700"
		  "0000",
		  ",7]}", false },
		{ 36, 1026, EXTENDED,
		  "54010000f8000000"
		  "00"
		  "80808080808080808002"
		  "0700"
		  "0000",
		  "message ends within an op", true },
		{ 35, 1905, 0, SERVERDATA("23", "0071070001"),
		  "\"minor\":1905,\"flags\":1,\"switches\":\"0001\"", false },
		{ 35, 1905, 0, SERVERDATA("23", "0071070700"),
		  "\"minor\":1905,\"flags\":0,\"switches\":\"0700\"", false },
		{ 36, 1021, 0, SERVERDATA("24", "fd0302070003"),
		  "\"flags\":5,\"switches\":\"070003\"", false },
		{ 35, 1905, 0, SERVERDATA("23", "0171070001"),
		  "enhanced server: no client reads one", true },
		{ 36, 1026, 0, SERVERDATA("24", "0204021800"), "\"flags\":24", false },
		{ 36, 1026, 0, SERVERDATA("24", "0204021000"),
		  "EXTENSIONS_2 without EXTENSIONS", true },
	};

	(void)state;
	expect_rows(rows, COUNT(rows));
}

/* What is refused has no length. */
static void test_refused_deflated(void **state)
{
	static const struct row rows[] = {
		{ 35, 1905, 0, "16ffff0006",
		  "\"size\":-1,\"percent\":0},{\"op\":\"nop\"}", false },
		{ 36, 1026, 0, "16ffff0006",
		  "\"size\":-1,\"percent\":0},{\"op\":\"nop\"}", false },
		{ 35, 1905, 0,
		  "160000000000"
		  "06",
		  "\"size\":0,\"percent\":0},{\"op\":\"nop\"}", false },
		/* A stream, and a byte behind its end. */
		{ 35, 1905, 0, "1602000000000300", "\"plain\":0,\"data\":\"\"", false },
		{ 35, 1905, 0, "1603000000000300ff", "file does not inflate", true },
		{ 35, 1905, 0, "160000000100", "file does not inflate to its length",
		  true },
		{ 36, 1026, 0, "16feff00", "download size below -1", true },
	};

	(void)state;
	expect_rows(rows, COUNT(rows));
}

/* What was agreed on stays, whoever says otherwise: another's datagram ends nothing. */
static void test_agreed(void **state)
{
	static const struct {
		int protocol;
		const char *serverdata;
	} rows[] = {
		{ 36, SERVERDATA("22", "") "06" },
		{ 36, SERVERDATA("23", "0071070001") },
		{ 35, SERVERDATA("24", "0204020400") },
		{ 34, SERVERDATA("24", "0204020400") },
		{ 34, SERVERDATA("1a", "") },
		{ 34, "0c6b0d000051070000000000005400" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct parcel forged = header(5, 1), p = header(6, 1);
		struct q2_session q;
		struct record r;
		const char *was;

		q2_begin(&q, rows[i].protocol, rows[i].protocol == 36 ? 1026 : 1905, 0);
		q.now.has_connect = true;
		q.now.protocol = rows[i].protocol;
		was = q.dialect.name;
		put_hex(&forged, rows[i].serverdata);
		q2_run_datagram(&q, DIRECTION_S2C, forged.bytes, forged.n, &r);
		expect_status(&r, RECORD_MALFORMED);
		assert_string_equal(
			r.reason, "serverdata of another protocol than the connection's");
		assert_string_equal(q.dialect.name, was);
		put(&p, "\x0a\2hi", 5);
		q2_run_datagram(&q, DIRECTION_S2C, p.bytes, p.n, &r);
		expect_status(&r, RECORD_DECODED);
		assert_string_equal(r.dialect, was);
		q2_session_drop(&q);
	}
}

/* Another client of that address may have the same qport, but not the same sequences. */
static void test_owns(void **state)
{
	static const struct {
		uint32_t sequence;
		bool owns;
	} rows[] = {
		{ 5001, true },
		{ 5001 | 1U << 31, true },
		{ 5001 | 1U << 30, true },
		{ 4936, true },
		{ 4935, false },
		{ 6024, true },
		{ 6025, false },
		{ 1, false },
		{ 900000, false },
	};
	struct q2_session q;

	(void)state;
	q2_begin(&q, 36, 1026, 0);
	q.now.qport = 0x31;
	q.now.new_netchan = true;
	for (int seen = 0; seen < 2; seen++) {
		for (size_t i = 0; i < COUNT(rows); i++) {
			struct parcel p = header(rows[i].sequence, 1);

			put(&p, "\x31", 1);
			assert_int_equal(
				quake2_family.owns(&q, (struct span){ p.bytes, p.n }),
				rows[i].owns || !seen);
		}
		q.side[1] = (struct netchan_side){ .newest = 5000, .seen = true };
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_extended_recordings),
		cmocka_unit_test(test_server_recording),
		cmocka_unit_test(test_mvd_players),
		cmocka_unit_test(test_mvd_third_byte),
		cmocka_unit_test(test_mvd_next_map),
		cmocka_unit_test(test_mvd_opcodes),
		cmocka_unit_test(test_muzzleflash),
		cmocka_unit_test(test_temp_entities),
		cmocka_unit_test(test_unknown_flags),
		cmocka_unit_test(test_refused_deflated),
		cmocka_unit_test(test_agreed),
		cmocka_unit_test(test_owns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
