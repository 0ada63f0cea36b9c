// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Quake II's tables, row by row: how many bytes each bit of a difference brings in each
 * dialect, which opcodes there are, how long each temporary entity and each sound is. The
 * numbers are those of id-Software/Quake-2, r1q2-archive and q2pro, written down again.
 */
#include <math.h>
#include <zlib.h>

#include "decode/q2/q2_mvd.h"
#include "decode/q2/q2_support.h"

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))
#define BIT(n)	    (1ULL << (n))
#define EXT	    Q2_FLAG_EXTENSIONS
#define EXT2	    (Q2_FLAG_EXTENSIONS | Q2_FLAG_EXTENSIONS_2)

static const struct dialect {
	int protocol;
	unsigned int minor, flags;
} dialects[] = {
	{ 34, 0, 0 },	 { 35, 1904, 0 },   { 35, 1905, 0 },	{ 36, 1017, 0 },
	{ 36, 1018, 0 }, { 36, 1026, EXT }, { 36, 1026, EXT2 }, { 3434, 0, 0 },
	{ 3435, 0, 0 },	 { 3436, 0, 0 },
};

static struct q2_dialect dialect(const struct dialect *of)
{
	struct q2_dialect d;

	assert_true(q2_dialect_of(of->protocol, of->minor, of->flags, &d));
	return d;
}

/* --- tables of numbers ---------------------------------------------------------------
 */

/* By CRC-32 of the tables of Quake-2 qcommon/common.c: the vectors in millionths. */
static void test_numbers(void **state)
{
	int32_t vectors[Q2_DIRECTIONS][3];

	(void)state;
	for (int i = 0; i < Q2_DIRECTIONS; i++) {
		double length = 0;

		for (int k = 0; k < 3; k++) {
			vectors[i][k] =
				(int32_t)lround((double)q2_directions[i][k] * 1e6);
			length += (double)(q2_directions[i][k] * q2_directions[i][k]);
		}
		assert_true(fabs(length - 1) < 1e-5);
	}
	assert_int_equal(crc32(0, (const uint8_t *)vectors, sizeof(vectors)), 0xcc423b84);
	assert_int_equal(crc32(0, q2_move_table, sizeof(q2_move_table)), 0x03f399ee);
}

/* --- entities ------------------------------------------------------------------------
 */

/* Bytes of all dialects, in their order. */
static const struct {
	uint64_t bits;
	uint8_t bytes[COUNT(dialects)];
} entities[] = {
	{ BIT(0), { 2, 2, 2, 2, 2, 2, 2, 2, 2, 2 } },
	{ BIT(1), { 2, 2, 2, 2, 2, 2, 2, 2, 2, 2 } },
	{ BIT(2), { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 } },
	{ BIT(3), { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 } },
	{ BIT(4), { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 } },
	{ BIT(5), { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 } },
	{ BIT(7), { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 } },
	{ BIT(8), { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 } },
	{ BIT(9), { 2, 2, 2, 2, 2, 2, 2, 2, 2, 2 } },
	{ BIT(10), { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 } },
	{ BIT(11), { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 } },
	{ BIT(12), { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 } },
	{ BIT(13), { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 } },
	{ BIT(14), { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 } },
	{ BIT(15), { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 } },
	{ BIT(16), { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 } },
	{ BIT(17), { 2, 2, 2, 2, 2, 2, 2, 2, 2, 2 } },
	{ BIT(18), { 2, 2, 2, 2, 2, 2, 2, 2, 2, 2 } },
	{ BIT(19), { 2, 2, 2, 2, 2, 2, 2, 2, 2, 2 } },
	{ BIT(20), { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 } },
	{ BIT(21), { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 } },
	{ BIT(22), { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 } },
	{ BIT(23), { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 } },
	{ BIT(24), { 6, 6, 6, 6, 6, 6, 6, 6, 6, 6 } },
	{ BIT(25), { 2, 2, 2, 2, 2, 2, 2, 2, 2, 2 } },
	{ BIT(26), { 1, 1, 1, 1, 1, 2, 2, 2, 2, 2 } },
	{ BIT(27), { 2, 2, 4, 4, 4, 4, 4, 4, 4, 4 } },
	{ BIT(28), { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 } },
	{ BIT(29), { 0, 0, 0, 0, 0, 1, 1, 1, 1, 1 } },
	{ BIT(30), { 0, 0, 0, 0, 0, 1, 1, 1, 1, 1 } },
	{ BIT(31), { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 } },
	{ BIT(32), { 0, 0, 0, 0, 0, 1, 1, 1, 1, 1 } },
	{ BIT(33), { 0, 0, 0, 0, 0, 2, 2, 2, 2, 2 } },
	{ BIT(34), { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 } },
	/* Two of a kind, and what makes others wider. */
	{ BIT(4) | BIT(17), { 3, 3, 3, 3, 3, 3, 3, 3, 3, 3 } },
	{ BIT(16) | BIT(25), { 4, 4, 4, 4, 4, 4, 4, 4, 4, 4 } },
	{ BIT(14) | BIT(19), { 4, 4, 4, 4, 4, 4, 4, 4, 4, 4 } },
	{ BIT(12) | BIT(18), { 4, 4, 4, 4, 4, 4, 4, 4, 4, 4 } },
	{ BIT(29) | BIT(33), { 0, 0, 0, 0, 0, 4, 4, 4, 4, 4 } },
	{ BIT(13) | BIT(2), { 1, 1, 1, 1, 2, 2, 2, 2, 2, 2 } },
	{ BIT(13) | BIT(3), { 1, 1, 1, 1, 2, 2, 2, 2, 2, 2 } },
	{ BIT(13) | BIT(10), { 1, 1, 1, 1, 2, 2, 2, 2, 2, 2 } },
	{ BIT(28) | BIT(11), { 1, 1, 1, 1, 1, 2, 2, 2, 2, 2 } },
	{ BIT(28) | BIT(20), { 1, 1, 1, 1, 1, 2, 2, 2, 2, 2 } },
	{ BIT(28) | BIT(21), { 1, 1, 1, 1, 1, 2, 2, 2, 2, 2 } },
	{ BIT(28) | BIT(22), { 1, 1, 1, 1, 1, 2, 2, 2, 2, 2 } },
};

static void test_entities(void **state)
{
	static const uint8_t zeros[64];

	(void)state;
	for (size_t i = 0; i < COUNT(entities); i++) {
		for (size_t k = 0; k < COUNT(dialects); k++) {
			struct q2_dialect d = dialect(&dialects[k]);
			struct reader rd = reader_of(zeros, sizeof(zeros));
			int32_t word[Q2_ENTITY_WORDS] = { 0 };
			size_t bytes;

			q2_entity_read(&rd, &d, entities[i].bits, word);
			bytes = sizeof(zeros) - reader_left(&rd);
			if (bytes != entities[i].bytes[k])
				fail_msg("bits %#llx of %d, %u: %zu bytes",
					 (unsigned long long)entities[i].bits,
					 dialects[k].protocol, dialects[k].minor, bytes);
		}
	}
}

/* The header's bytes, and what follows a sound with extensions. */
static void test_entity_header(void **state)
{
	static const struct {
		const char *hex;
		size_t plain, extended; /* bytes */
		unsigned int number;
	} rows[] = {
		{ "0105000000000000", 2, 2, 5 }, { "8105070000000000", 4, 4, 7 },
		{ "8080800700000000", 5, 5, 0 }, { "8080808006090000", 5, 6, 6 },
		{ "808000050a000000", 4, 4, 5 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		for (int extended = 0; extended < 2; extended++) {
			struct q2_dialect d = dialect(&dialects[extended ? 5 : 0]);
			struct q2_bytes b = q2_hex(rows[i].hex);
			struct reader rd = reader_of(b.bytes, b.n);
			unsigned int number;

			q2_entity_header(&rd, &d, &number);
			assert_true(extended || number == rows[i].number);
			assert_int_equal(b.n - reader_left(&rd),
					 extended ? rows[i].extended : rows[i].plain);
		}
	}
	for (unsigned int upper = 0; upper < 4; upper++) {
		struct q2_dialect d = dialect(&dialects[5]);
		const uint8_t bytes[] = { 1, (uint8_t)(upper << 6), 0, 0, 0, 0 };
		struct reader rd = reader_of(bytes, sizeof(bytes));
		int32_t word[Q2_ENTITY_WORDS] = { 0 };

		q2_entity_read(&rd, &d, BIT(26), word);
		assert_int_equal(sizeof(bytes) - reader_left(&rd),
				 2 + (upper & 1) + (upper >> 1));
		assert_int_equal(word[Q2_SOUND], 1);
	}
}

/* --- players -------------------------------------------------------------------------
 */

/* Bytes behind the flags, of 34, 3434, 3435; of 36, EXTENSIONS, EXTENSIONS_2. */
static const struct {
	unsigned int flags, extra;
	int8_t bytes[6]; /* -1: not there */
} players[] = {
	{ 0, 0, { 4, 4, 1, 0, 0, 0 } },		{ 1 << 0, 0, { 5, 5, 2, 1, 1, 1 } },
	{ 1 << 1, 0, { 10, 10, 7, 4, 4, 4 } },	{ 1 << 2, 0, { 10, 10, 7, 4, 4, 4 } },
	{ 1 << 3, 0, { 5, 5, 3, 1, 1, 2 } },	{ 1 << 4, 0, { 5, 5, 3, 1, 1, 2 } },
	{ 1 << 5, 0, { 6, 6, 3, 2, 2, 2 } },	{ 1 << 6, 0, { 10, 10, 7, 6, 6, 6 } },
	{ 1 << 7, 0, { 7, 7, 4, 3, 3, 3 } },	{ 1 << 8, 0, { 10, 10, 7, 4, 4, 4 } },
	{ 1 << 9, 0, { 7, 7, 4, 3, 3, 3 } },	{ 1 << 10, 0, { 8, 8, 2, 4, 4, 1 } },
	{ 1 << 11, 0, { 5, 5, 2, 1, 1, 1 } },	{ 1 << 12, 0, { 5, 6, 3, 1, 2, 2 } },
	{ 1 << 13, 0, { 11, 11, 8, 1, 1, 1 } }, { 1 << 14, 0, { 5, 5, 2, 1, 1, 1 } },
	{ 0, 1 << 0, { -1, -1, -1, 3, 3, 3 } }, { 0, 1 << 1, { -1, -1, -1, 3, 3, 3 } },
	{ 0, 1 << 2, { -1, -1, -1, 2, 2, 2 } }, { 0, 1 << 3, { -1, -1, -1, 2, 2, 2 } },
	{ 0, 1 << 4, { -1, -1, -1, 2, 2, 2 } }, { 0, 1 << 5, { -1, -1, -1, 4, 4, 1 } },
	{ 0, 1 << 6, { -1, -1, -1, 0, 0, 0 } },
};

static void test_players(void **state)
{
	static const struct dialect of[] = { { 34, 0, 0 },	{ 3434, 0, 0 },
					     { 3435, 0, 0 },	{ 36, 1026, 0 },
					     { 36, 1026, EXT }, { 36, 1025, EXT2 } };

	(void)state;
	for (size_t i = 0; i < COUNT(players); i++) {
		for (size_t k = 0; k < COUNT(of); k++) {
			const uint8_t bytes[64] = { (uint8_t)players[i].flags,
						    (uint8_t)(players[i].flags >> 8) };
			struct reader rd = reader_of(bytes, sizeof(bytes));
			struct q2_dialect d = dialect(&of[k]);
			int32_t word[Q2_PLAYER_WORDS] = { 0 };
			struct q2_player_delta delta;

			if (players[i].bytes[k] < 0)
				continue;
			delta = q2_player_read(&rd, &d, players[i].extra, word);
			assert_false(delta.unknown);
			if (sizeof(bytes) - 2 - reader_left(&rd) !=
			    (size_t)players[i].bytes[k])
				fail_msg("flags %#x, %#x of %d: %zu bytes",
					 players[i].flags, players[i].extra,
					 of[k].protocol,
					 sizeof(bytes) - 2 - reader_left(&rd));
		}
	}
}

/* The same of multi-view recordings: plain, EXTENSIONS, EXTENSIONS_2 with fog. */
static void test_players_of_mvd(void **state)
{
	static const uint8_t rows[16][3] = {
		{ 1, 1, 1 }, { 4, 4, 4 }, { 2, 2, 2 }, { 3, 3, 3 },
		{ 4, 4, 4 }, { 2, 2, 2 }, { 3, 3, 3 }, { 4, 4, 1 },
		{ 1, 1, 1 }, { 1, 2, 2 }, { 1, 1, 1 }, { 3, 3, 3 },
		{ 3, 3, 3 }, { 1, 1, 1 }, { 4, 4, 1 }, { 0, 0, 1 },
	};

	(void)state;
	for (unsigned int bit = 0; bit < 16; bit++) {
		for (unsigned int k = 0; k < 3; k++) {
			const uint8_t bytes[64] = { (uint8_t)(1U << bit),
						    (uint8_t)(1U << bit >> 8) };
			struct reader rd = reader_of(bytes, sizeof(bytes));
			struct q2_dialect d = q2_mvd_dialect;
			int32_t word[Q2_PLAYER_WORDS] = { 0 };

			d.extensions = k > 0;
			d.extensions2 = d.fog = k > 1;
			q2_player_read_mvd(&rd, &d, word);
			assert_int_equal(sizeof(bytes) - 2 - reader_left(&rd),
					 rows[bit][k]);
		}
	}
}

/* --- opcodes -------------------------------------------------------------------------
 */

static void run(const struct dialect *of, enum direction direction, const uint8_t *bytes,
		size_t n, struct record *r)
{
	struct q2_session q = { .game = NULL };

	if (of->protocol == Q2_PROTOCOL_MVD)
		q.dialect = q2_mvd_dialect;
	else
		q2_begin(&q, of->protocol, of->minor, of->flags);
	q2_run_message(&q, direction, bytes, n, r);
	q2_session_drop(&q);
}

static bool one_of(uint8_t code, const char *list)
{
	return code && strchr(list, code);
}

#define SVC_34 "\1\2\3\4\5\6\7\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10"
#define FRAMES "\x14\x34\x54\x74\x94\xb4\xd4\xf4"
#define MOVES  "\x0a\x2a\x4a\x6a\x0b\x2b\x4b\x6b"

static void test_opcodes(void **state)
{
	static const struct {
		struct dialect of;
		enum direction direction;
		const char *codes;
	} rows[] = {
		{ { 26, 0, 0 }, DIRECTION_S2C, SVC_34 "\x14" },
		{ { 34, 0, 0 }, DIRECTION_S2C, SVC_34 "\x14" },
		{ { 3436, 0, 0 }, DIRECTION_S2C, SVC_34 "\x14" },
		{ { 35, 1905, 0 }, DIRECTION_S2C, SVC_34 FRAMES "\x15\x16\x17\x18" },
		{ { 36, 1026, 0 },
		  DIRECTION_S2C,
		  SVC_34 FRAMES "\x15\x16\x17\x18\x19\x1a" },
		{ { 34, 0, 0 }, DIRECTION_C2S, "\1\2\3\4" },
		{ { 35, 1905, 0 }, DIRECTION_C2S, "\1\2\3\4\5" },
		{ { 36, 1026, 0 }, DIRECTION_C2S, "\1\2\3\4\5\x0c" MOVES },
	};
	struct record r;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		for (unsigned int code = 0; code < 256; code++) {
			uint8_t byte = (uint8_t)code;
			bool none;

			run(&rows[i].of, rows[i].direction, &byte, 1, &r);
			none = r.reason && !strcmp(r.reason, "no such message");
			if (none == one_of(byte, rows[i].codes))
				fail_msg("op %#x of %d", code, rows[i].of.protocol);
		}
	}
}

static void test_opcodes_of_mvd(void **state)
{
	static const struct dialect of = { Q2_PROTOCOL_MVD, 0, 0 };
	struct record r;

	(void)state;
	for (unsigned int code = 0; code < 256; code++) {
		uint8_t byte = (uint8_t)code, op = code & 31;
		bool upper = op == 4 || (op >= 8 && op <= 16);
		bool there = upper || one_of(byte, "\1\5\6\x11");

		run(&of, DIRECTION_S2C, &byte, 1, &r);
		assert_int_equal(r.reason && !strcmp(r.reason, "no such message"),
				 !there);
	}
}

/* --- temporary entities and sounds ---------------------------------------------------
 */

/* Type, bytes behind it, and whether 3.21's client knows it. */
static const uint8_t temps[][3] = {
	{ 0, 7, 1 },   { 1, 7, 1 },   { 2, 7, 1 },   { 3, 12, 1 },  { 4, 7, 1 },
	{ 5, 6, 1 },   { 6, 6, 1 },   { 7, 6, 1 },   { 8, 6, 1 },   { 9, 7, 1 },
	{ 10, 9, 1 },  { 11, 12, 1 }, { 12, 7, 1 },  { 13, 7, 1 },  { 14, 7, 1 },
	{ 15, 9, 1 },  { 16, 14, 1 }, { 17, 6, 1 },  { 18, 6, 1 },  { 19, 14, 1 },
	{ 20, 6, 1 },  { 21, 6, 1 },  { 22, 6, 1 },  { 23, 12, 1 }, { 24, 20, 1 },
	{ 25, 9, 1 },  { 26, 7, 1 },  { 27, 12, 1 }, { 28, 6, 1 },  { 29, 9, 1 },
	{ 30, 7, 1 },  { 31, 12, 0 }, { 33, 16, 1 }, { 34, 12, 1 }, { 35, 6, 1 },
	{ 36, 8, 1 },  { 37, 13, 1 }, { 38, 14, 1 }, { 39, 14, 1 }, { 40, 17, 1 },
	{ 41, 12, 1 }, { 42, 7, 1 },  { 43, 7, 1 },  { 44, 7, 1 },  { 45, 6, 1 },
	{ 46, 7, 1 },  { 47, 6, 1 },  { 48, 6, 1 },  { 49, 6, 1 },  { 50, 8, 1 },
	{ 51, 6, 1 },  { 52, 6, 1 },  { 53, 6, 1 },  { 54, 6, 1 },  { 55, 7, 1 },
	{ 56, 7, 0 },  { 57, 12, 0 }, { 58, 7, 0 },  { 59, 14, 0 }, { 60, 3, 0 },
	{ 61, 14, 0 }, { 62, 6, 0 },  { 63, 6, 0 },  { 128, 2, 0 },
};

static const uint8_t *temp_of(unsigned int type)
{
	for (size_t i = 0; i < COUNT(temps); i++)
		if (temps[i][0] == type)
			return temps[i];
	return NULL;
}

static void test_temp_entities(void **state)
{
	static const struct dialect of[] = {
		{ 34, 0, 0 },
		{ 35, 1905, 0 },
		{ 36, 1026, 0 },
		{ 36, 1026, EXT2 },
	};
	struct record r;

	(void)state;
	for (unsigned int type = 0; type < 256; type++) {
		for (size_t k = 0; k < COUNT(of); k++) {
			const uint8_t bytes[32] = { 3, (uint8_t)type };
			const uint8_t *row = temp_of(type);
			size_t n = 2 + (row ? row[1] : 0);
			bool there = row && (row[2] || k == 3 || (k && type != 128));

			run(&of[k], DIRECTION_S2C, bytes, n, &r);
			assert_int_equal(r.status,
					 there ? RECORD_DECODED : RECORD_MALFORMED);
			run(&of[k], DIRECTION_S2C, bytes, n - 1, &r);
			assert_int_equal(r.status, RECORD_MALFORMED);
		}
	}
}

static void test_sounds(void **state)
{
	struct record r;

	(void)state;
	for (unsigned int flags = 0; flags < 256; flags++) {
		for (size_t k = 0; k < COUNT(dialects); k++) {
			const uint8_t bytes[32] = { 9, (uint8_t)flags };
			bool wide = k >= 5 && flags & 32;
			size_t n = 3 + wide + (flags & 1) + (flags >> 1 & 1) +
				   (flags >> 4 & 1) + (flags & 8 ? 2 : 0) +
				   (flags & 4 ? 6 : 0);

			run(&dialects[k], DIRECTION_S2C, bytes, n, &r);
			assert_int_equal(r.status, RECORD_DECODED);
			run(&dialects[k], DIRECTION_S2C, bytes, n - 1, &r);
			assert_int_equal(r.status, RECORD_MALFORMED);
		}
	}
}

/* Where what stands, and where the configstrings end. */
static void test_configstrings(void **state)
{
	(void)state;
	for (size_t k = 0; k < COUNT(dialects); k++) {
		struct q2_dialect d = dialect(&dialects[k]);
		const struct q2_strings *at = q2_strings(&d);
		bool more = k >= 5;

		assert_int_equal(q2_configstrings(&d), more ? 13630 : 2080);
		assert_int_equal(q2_entities(&d), more ? 8192 : 1024);
		assert_int_equal(at->statusbar_end, more ? 59 : 29);
		assert_int_equal(at->maxclients, more ? 60 : 30);
		assert_int_equal(at->models, more ? 62 : 32);
		assert_int_equal(at->playerskins, more ? 12862 : 1312);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_entities),
		cmocka_unit_test(test_entity_header),
		cmocka_unit_test(test_players),
		cmocka_unit_test(test_players_of_mvd),
		cmocka_unit_test(test_opcodes),
		cmocka_unit_test(test_opcodes_of_mvd),
		cmocka_unit_test(test_temp_entities),
		cmocka_unit_test(test_sounds),
		cmocka_unit_test(test_configstrings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
