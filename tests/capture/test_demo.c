// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Demo containers: told apart by content, framed, and cut at every byte.
 */
#include <errno.h>

#include "decode/decode_support.h"
#include "decode/demo_recognise.h"

#define ANGLES	    "\0\0\0\0\0\0\x80\x3f\0\0\0\0"
#define SERVERDATA2 "\x0c\x22\0\0\0"

#define MVD_BEGIN   "\7\6\x06\0\0\0\x0b\x1c\0\0\0\0"

/* serverdata with enough behind the protocol to be known anywhere; texts before it. */
#define QW_SERVERDATA "\x0b\x1c\0\0\0\1\0\0\0qw\0\0"
#define QW_PRINT      "\x08\2hello\n\0"
#define QW_STUFFTEXT  "\x09go\n\0"
#define Q2_SERVERDATA "\x0c\x22\0\0\0\1\0\0\0\0\0\0\0\0"
#define Q2_PRINT      "\x0a\2hello\n\0"

#define URT_HEADER   \
	"\5\0\0\0"   \
	"4.3.4"      \
	"\x44\0\0\0" \
	"\0\0\0\0"   \
	"\0\0\0\0"
/* A gamestate with one configstring, as ioquake3's Huffman code has it. */
#define Q3_GAMESTATE                                                                                                                       \
	"\xaa\xc8\xad\xb2\xf5\x58\xe1\xd1\x6c\x76\xf6\xf1\x2c\xe6\xb1\x06\x07\x8e\x3d\xe2\x29\x64\xe0\x79\x04\x3b\x86\xc9\xb3\xfa\x58\xde" \
	"\x05\x36\x37\x9b\x97\x65\xe0\x79\x04\x3b\xb6\x24\x7b\x7b\x2c\xef\x02\x3b\x0f\x76\x74\x01\x3b\x42\xb9\x74\x2c\xac\x55\x55\xb5\x02"
#define URT_GAMESTATE "\x0a\0\0\0\x40\0\0\0" Q3_GAMESTATE "\x40\0\0\0"
#define URT_END	      "\xff\xff\xff\xff\xff\xff\xff\xff"

/* clang-format off */
static const struct {
	const char *name;
	const uint8_t *bytes;
	size_t n;
	size_t blocks;
	enum demo_format format;
	int end;
} rows[] = {
	{ "dem", BYTES("-1\n" "\2\0\0\0" ANGLES "\1\1" "\1\0\0\0" ANGLES "\2"), 2, DEMO_DEM, 0 },
	{ "dem from a DarkPlaces server", BYTES("4\n" "\2\0\0\x80" ANGLES "\1\1"), 1, DEMO_DEM, 0 },
	{ "dem, broken off", BYTES("-1\n" "\2\0\0\0" ANGLES "\1\1" "\4\0\0\0" ANGLES "\1\1"), 1, DEMO_DEM, -EBADMSG },
	{ "qwd", BYTES("\0\0\x80\x3f\1\x0a\0\0\0\1\0\0\0\1\0\0\0\1\1" "\0\0\x80\x3f\2\1\0\0\0\1\0\0\0"), 2, DEMO_QWD, 0 },
	{ "mvd", BYTES("\0\6\x06\0\0\0\x0b\x1c\0\0\0\0" "\x0d\3\0\0\0\0\3\0\0\0\1\1\1" "\5\2\1\0\0\0\1\0\0\0" "\1\6\0\0\0\0"), 4, DEMO_MVD, 0 },
	{ "mvd, bad type", BYTES("\0\6\x06\0\0\0\x0b\x1c\0\0\0\0\1\6\0\0\0\0\1\6\0\0\0\0\1\6\0\0\0\0\0\7"), 4, DEMO_MVD, -EBADMSG },
	{ "dm2", BYTES("\5\0\0\0" SERVERDATA2 "\1\0\0\0\6\xff\xff\xff\xff"), 2, DEMO_DM2, 0 },
	{ "dm2 without its end", BYTES("\5\0\0\0" SERVERDATA2 "\1\0\0\0\6"), 2, DEMO_DM2, 0 },
	{ "mvd2", BYTES("MVD2\2\0\1\1\1\0\1\0\0"), 2, DEMO_MVD2, 0 },
	{ "text", BYTES("hello, world\n"), 0, DEMO_NONE, 0 },
	{ "digits", BYTES("12\nabc"), 0, DEMO_NONE, 0 },
	{ "qtv", BYTES("QTVSV 1\nBEGIN: 1\n\n" MVD_BEGIN), 2, DEMO_MVD, 0 },
	{ "qtv, lines of two ends", BYTES("QTVSV 1\r\nBEGIN: 1\r\n\r\n" MVD_BEGIN), 2, DEMO_MVD, 0 },
	{ "qwd with a command", BYTES("\0\0\x80\x3f\1\x0a\0\0\0\1\0\0\0\1\0\0\0\1\1" "\0\0\x80\x3f\0" "123456789012345678901234567890123456" "\0\0\x80\x3f\2\1\0\0\0\1\0\0\0"), 3, DEMO_QWD, 0 },
	{ "qwd of commands alone", BYTES("\0\0\x80\x3f\0" "123456789012345678901234567890123456" "\0\0\x80\x3f\0" "123456789012345678901234567890123456"), 0, DEMO_NONE, 0 },
	{ "qwd of no op", BYTES("\0\0\x80\x3f\1\x0a\0\0\0\1\0\0\0\1\0\0\0\xfe\1"), 0, DEMO_NONE, 0 },
	{ "mvd, a print in its first message", BYTES("\0\6\x1c\0\0\0" QW_PRINT QW_STUFFTEXT "\1" QW_SERVERDATA "\1\6\0\0\0\0"), 2, DEMO_MVD, 0 },
	{ "mvd, a print before its first", BYTES("\0\6\x09\0\0\0" QW_PRINT "\0\6\x0d\0\0\0" QW_SERVERDATA "\1\6\0\0\0\0"), 3, DEMO_MVD, 0 },
	{ "mvd, a print and an op that is none", BYTES("\0\6\x09\0\0\0" QW_PRINT "\0\6\x0d\0\0\0" QW_SERVERDATA "\1\6\1\0\0\0\xc8"), 0, DEMO_NONE, 0 },
	{ "mvd, prints alone", BYTES("\0\6\x09\0\0\0" QW_PRINT "\0\6\x09\0\0\0" QW_PRINT), 0, DEMO_NONE, 0 },
	{ "mvd, a print and another protocol", BYTES("\0\6\x16\0\0\0" QW_PRINT "\x0b\x1d\0\0\0\1\0\0\0qw\0\0"), 0, DEMO_NONE, 0 },
	{ "mvd, a print and an extension", BYTES("\0\6\x16\0\0\0" QW_PRINT "\x0b" "FTEX" "\1\0\0\0qw\0\0"), 1, DEMO_MVD, 0 },
	{ "dm2, a print in its first message", BYTES("\x17\0\0\0" Q2_PRINT Q2_SERVERDATA "\1\0\0\0\6\xff\xff\xff\xff"), 2, DEMO_DM2, 0 },
	{ "dm2, a print before its first", BYTES("\x09\0\0\0" Q2_PRINT "\x0e\0\0\0" Q2_SERVERDATA "\1\0\0\0\6"), 3, DEMO_DM2, 0 },
	{ "dm2, prints alone", BYTES("\x09\0\0\0" Q2_PRINT "\x09\0\0\0" Q2_PRINT), 0, DEMO_NONE, 0 },
	{ "dm2, a print and an op that is none", BYTES("\x09\0\0\0" Q2_PRINT "\x0e\0\0\0" Q2_SERVERDATA "\1\0\0\0\x1f"), 0, DEMO_NONE, 0 },
	{ "dm2 of protocol 25", BYTES("\6\0\0\0\7\x19\0\0\0\1" "\1\0\0\0\6"), 2, DEMO_DM2, 0 },
	{ "dm2 of protocol 27 by the old op", BYTES("\6\0\0\0\7\x1b\0\0\0\1" "\1\0\0\0\6"), 0, DEMO_NONE, 0 },
	{ "dm_68", BYTES("\x0a\0\0\0\x40\0\0\0" Q3_GAMESTATE URT_END), 1, DEMO_DM3, 0 },
	{ "urtdemo", BYTES(URT_HEADER URT_GAMESTATE URT_GAMESTATE URT_END), 3, DEMO_URT, 0 },
	{ "urtdemo without its end", BYTES(URT_HEADER URT_GAMESTATE), 2, DEMO_URT, 0 },
	{ "urtdemo, lengths that differ", BYTES(URT_HEADER URT_GAMESTATE "\x0b\0\0\0\1\0\0\0x\2\0\0\0"), 2, DEMO_URT, -EBADMSG },
	{ "urtdemo, one length missing", BYTES(URT_HEADER URT_GAMESTATE "\x0b\0\0\0\1\0\0\0x"), 2, DEMO_URT, -EBADMSG },
	{ "urtdemo, no version", BYTES("\0\0\0\0" "\x44\0\0\0" "\0\0\0\0" "\0\0\0\0" URT_GAMESTATE), 0, DEMO_NONE, 0 },
	{ "urtdemo, a reserved word", BYTES("\5\0\0\0" "4.3.4" "\x44\0\0\0" "\0\0\0\0" "\1\0\0\0" URT_GAMESTATE), 0, DEMO_NONE, 0 },
	{ "urtdemo of another protocol", BYTES("\5\0\0\0" "4.3.4" "\x41\0\0\0" "\0\0\0\0" "\0\0\0\0" URT_GAMESTATE), 0, DEMO_NONE, 0 },
	{ "zeros", BYTES("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"), 0, DEMO_NONE, 0 },
};
/* clang-format on */

static size_t walk(const uint8_t *bytes, size_t n, enum demo_format format, int *end)
{
	FILE *file = fmemopen((void *)bytes, n, "rb");
	struct demo *demo;
	struct demo_block block;
	size_t blocks = 0;

	assert_non_null(file);
	demo = demo_open(file, format);
	assert_non_null(demo);
	while ((*end = demo_next(demo, &block)) == 1) {
		assert_int_equal(block.frame, ++blocks);
		assert_non_null(block.kind);
		assert_true(block.n <= DEMO_BLOCK_MAX);
		assert_int_not_equal(block.direction, DIRECTION_UNKNOWN);
	}
	assert_int_equal(demo_blocks(demo), blocks);
	/* The end stays the end. */
	assert_int_equal(demo_next(demo, &block), *end);
	if (*end)
		assert_string_not_equal(demo_error(demo), "no error");
	demo_close(demo);
	return blocks;
}

static void containers(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		int end = 0;

		print_message("%s\n", rows[i].name);
		assert_int_equal(demo_recognise(rows[i].bytes, rows[i].n),
				 rows[i].format);
		if (rows[i].format == DEMO_NONE)
			continue;
		assert_int_equal(walk(rows[i].bytes, rows[i].n, rows[i].format, &end),
				 rows[i].blocks);
		assert_int_equal(end, rows[i].end);
	}
}

/* Not the block of a demo, however many there are. */
static void nothing_but_zeros(void **state)
{
	static uint8_t zeros[DEMO_PREFIX];

	(void)state;
	assert_int_equal(demo_recognise(zeros, sizeof(zeros)), DEMO_NONE);
	assert_int_equal(demo_recognise(zeros, 4100), DEMO_NONE);
	assert_int_equal(demo_recognise(zeros, 41), DEMO_NONE);
}

/* The text in front of a stream may be so long; where it ends is seen, or it is none. */
static void texts_before_a_stream_are_bounded(void **state)
{
	enum {
		MOST = 65536
	};
	static char bytes[MOST + 64];
	int end;

	(void)state;
	for (size_t n = MOST; n <= MOST + 1; n++) {
		size_t length = n;

		memset(bytes, 'x', n);
		memcpy(bytes, "QTVSV 1\n", 8);
		memcpy(bytes + n - 2, "\n\n", 2);
		memcpy(bytes + n, MVD_BEGIN, sizeof(MVD_BEGIN) - 1);
		length += sizeof(MVD_BEGIN) - 1;
		assert_int_equal(walk((const uint8_t *)bytes, length, DEMO_MVD, &end),
				 n > MOST ? 0 : 2);
		assert_int_equal(end, n > MOST ? -EBADMSG : 0);
	}
}

/* What each block of a server's recording is, when, and whom it is for. */
static void mvd_blocks(void **state)
{
	static const struct {
		int64_t time_ns;
		uint8_t type, player;
		uint32_t mask;
		size_t n;
		const char *kind;
	} blocks[] = {
		{ 7000000, 6, 0, 0, 6, "demo-message" },
		{ 20000000, 3, 0, 0x80000005, 1, "demo-message" },
		{ 20000000, 2, 0, 0, 8, "demo-set" },
		{ 275000000, 4, 31, 0, 1, "demo-message" },
		{ 276000000, 5, 2, 0, 0, "demo-message" },
	};
	static const char bytes[] = MVD_BEGIN "\x0d\3\5\0\0\x80\1\0\0\0\1"
					      "\0\2\1\0\0\0\1\0\0\0"
					      "\xff\xfc\1\0\0\0\1"
					      "\1\x15\0\0\0\0";
	struct demo *demo =
		demo_open(fmemopen((void *)bytes, sizeof(bytes) - 1, "rb"), DEMO_MVD);
	struct demo_block block;

	(void)state;
	for (size_t i = 0; i < sizeof(blocks) / sizeof(*blocks); i++) {
		assert_int_equal(demo_next(demo, &block), 1);
		assert_int_equal(block.time_ns, blocks[i].time_ns);
		assert_int_equal(block.type, blocks[i].type);
		assert_int_equal(block.player, blocks[i].player);
		assert_int_equal(block.mask, blocks[i].mask);
		assert_int_equal(block.n, blocks[i].n);
		assert_string_equal(block.kind, blocks[i].kind);
		assert_int_equal(block.direction, DIRECTION_S2C);
	}
	assert_int_equal(demo_next(demo, &block), 0);
	demo_close(demo);
}

static void containers_cut(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		for (size_t n = 1; n < rows[i].n; n++) {
			uint8_t *copy = malloc(n);
			int end;

			assert_non_null(copy);
			memcpy(copy, rows[i].bytes, n);
			demo_recognise(copy, n);
			if (rows[i].format != DEMO_NONE)
				assert_true(walk(copy, n, rows[i].format, &end) <=
					    rows[i].blocks);
			free(copy);
		}
}

static void lengths_bounded(void **state)
{
	static const uint8_t huge[] = "\5\0\0\0" SERVERDATA2 "\xff\xff\xff\x7f\6";
	int end;

	(void)state;
	assert_int_equal(walk(huge, sizeof(huge) - 1, DEMO_DM2, &end), 1);
	assert_int_equal(end, -EBADMSG);
	/* The largest is still one. */
	for (uint32_t over = 0; over < 2; over++) {
		uint32_t length = DEMO_BLOCK_MAX + over;
		uint8_t *block = calloc(1, 4 + length);

		assert_non_null(block);
		memcpy(block, &length, 4);
		assert_int_equal(walk(block, 4 + length, DEMO_DM2, &end), !over);
		assert_int_equal(end, over ? -EBADMSG : 0);
		free(block);
	}
}

/* A server's largest message, of which there are some at the start of a game, is read. */
static void large_messages_are_read(void **state)
{
	enum {
		MOST = 65536
	};
	static uint8_t bytes[3 + 16 + MOST] = "-1\n";
	int end;

	(void)state;
	bytes[3 + 2] = MOST >> 16;
	for (size_t i = 0; i < MOST; i++)
		bytes[3 + 16 + i] = 1; /* nothing */
	assert_int_equal(walk(bytes, sizeof(bytes), DEMO_DEM, &end), 1);
	assert_int_equal(end, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(containers),
		cmocka_unit_test(containers_cut),
		cmocka_unit_test(lengths_bounded),
		cmocka_unit_test(nothing_but_zeros),
		cmocka_unit_test(mvd_blocks),
		cmocka_unit_test(texts_before_a_stream_are_bounded),
		cmocka_unit_test(large_messages_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
