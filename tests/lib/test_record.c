// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Readers, info strings, the tape, and its way to JSON and back.
 */
#include <math.h>

#include "classify.h" /* the kernel's view and the decoders' in one file */
#include "decode/decode_support.h"
#include "lib/info.h"
#include "lib/reader.h"
#include "decode/summary.h"
#include "decode/record_text.h"

static void reader_reads(void **state)
{
	static const uint8_t source[19] =
		"\x01\x02\x03\x04\x05\x06\x07\x08\x09\0\0\x80\x3f"
		"ab\0xyz";
	uint8_t *bytes = malloc(sizeof(source));
	struct reader rd;

	(void)state;
	memcpy(bytes, source, sizeof(source));
	rd = reader_of(bytes, 19);
	assert_int_equal(reader_u8(&rd), 1);
	assert_int_equal(reader_le16(&rd), 0x0302);
	assert_int_equal(reader_be16(&rd), 0x0405);
	assert_int_equal(reader_be32(&rd), 0x06070809);
	assert_true(reader_f32(&rd) == 1.0f);
	assert_int_equal(reader_string(&rd).n, 2);
	assert_int_equal(reader_left(&rd), 3);
	assert_int_equal(reader_string(&rd).n, 0); /* no NUL */
	assert_true(reader_failed(&rd));
	assert_int_equal(reader_u8(&rd), 0); /* sticky: nothing more */
	assert_int_equal(reader_rest(&rd).n, 0);
	free(bytes);
}

static void reader_cut(void **state)
{
	(void)state;
	for (size_t n = 0; n < 4; n++) {
		uint8_t *bytes = calloc(n ? n : 1, 1);
		struct reader rd = reader_of(bytes, n);

		assert_int_equal(reader_le32(&rd), 0);
		assert_true(reader_failed(&rd));
		free(bytes);
	}
}

static const struct {
	const char *text;
	int pairs;
	bool failed;
} infos[] = {
	{ "", 0, false },
	{ "\\a\\b", 1, false },
	{ "\\a\\b\\c\\d", 2, false },
	{ "\\a\\", 1, false },
	{ "\\\\", 1, false },
	{ "a\\b", 0, true },
	{ "\\a", 0, true },
	{ "\\a\\b\\c", 1, true },
	{ "\\a\\b\\", 1, true },
	{ "\\a\\b c\\d\\", 2, false },
};

static void info_iterates(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(infos) / sizeof(*infos); i++) {
		size_t n = strlen(infos[i].text);
		char *copy = malloc(n ? n : 1);
		struct info it = info_of(copy, n);
		struct span key, value;
		int pairs = 0;

		memcpy(copy, infos[i].text, n);
		while (info_next(&it, &key, &value))
			pairs++;
		assert_int_equal(pairs, infos[i].pairs);
		assert_int_equal(it.failed, infos[i].failed);
		free(copy);
	}
}

static void info_finds(void **state)
{
	static const char text[] = "\\Name\\bob\\name\\eve";
	struct span value;

	(void)state;
	assert_true(info_find(text, sizeof(text) - 1, "name", &value));
	assert_memory_equal(value.bytes, "bob", 3);
	assert_false(info_find(text, sizeof(text) - 1, "nam", &value));
}

static json_t *render(const struct record *r)
{
	struct jsonl json;
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);
	json_t *object;

	jsonl_init(&json, file);
	jsonl_record(&json, r);
	assert_int_equal(jsonl_flush(&json), 0);
	fclose(file);
	object = json_loads(text, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
	if (!object)
		fail_msg("not JSON: %s", text);
	free(text);
	return object;
}

static void tape_to_json(void **state)
{
	uint8_t every[256];
	struct record_tape tape;
	struct record r;
	json_t *object;

	(void)state;
	for (int i = 0; i < 256; i++)
		every[i] = (uint8_t)i;
	assert_int_equal(record_tape_create(&tape, 64, 4096), 0);
	record_reset(&r, &tape);
	r.frame = 3;
	r.time_ns = 1500000001;
	r.family = FAMILY_QUAKE3;
	r.direction = DIRECTION_C2S;
	r.kind = "test";
	r.source = (struct record_address){ .length = 16,
					    .bytes = { 0xfd, [15] = 1 },
					    .port = 7 };
	record_malformed(&r, "because");
	record_partial(&r, "not this");
	record_int(&r, "int", INT64_MIN);
	record_uint(&r, "uint", UINT32_MAX);
	record_float(&r, "float", 0.1f);
	record_float(&r, "whole", -3.0);
	record_float(&r, "nan", NAN);
	record_bool(&r, "bool", true);
	record_string(&r, "utf8", "gr\xc3\xbc\xc3\x9f", 6);
	record_string(&r, "every", every, sizeof(every));
	record_hex(&r, "hex", "\x01\xfe", 2);
	record_open_array(&r, "array");
	record_open_object(&r, NULL);
	record_pair(&r, "k\"", 2, "v", 1);
	record_close(&r);
	record_uint(&r, NULL, 5);
	record_close(&r);
	object = render(&r);
	assert_string_equal(text_at(object, "status"), "malformed");
	assert_string_equal(text_at(object, "reason"), "because");
	assert_string_equal(text_at(object, "src"), "fd00::1");
	assert_string_equal(text_at(object, "int"), "-9223372036854775808");
	assert_string_equal(text_at(object, "uint"), "4294967295");
	assert_true((float)json_real_value(at_path(object, "float")) == 0.1f);
	assert_string_equal(text_at(object, "whole"), "-3");
	assert_true(json_is_null(at_path(object, "nan")));
	assert_true(json_number_value(at_path(object, "time")) == 1.500000001);
	assert_string_equal(text_at(object, "utf8"), "gr\xc3\xbc\xc3\x9f");
	assert_string_equal(text_at(object, "hex"), "01fe");
	assert_string_equal(text_at(object, "array.0.k\""), "v");
	assert_string_equal(text_at(object, "array.1"), "5");
	/* 256 characters: 128 of one byte, 128 of two. */
	assert_int_equal(json_string_length(at_path(object, "every")), 128 + 2 * 128);
	json_decref(object);
	record_tape_free(&tape);
}

static size_t characters(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += (*text & 0xc0) != 0x80;
	return n;
}

/* What is no UTF-8 is shown byte by byte: an encoder's slip must not end a consumer. */
static void bytes_that_are_no_utf8(void **state)
{
	static const struct {
		const char *bytes;
		size_t characters; /* one for each byte, if it is none */
	} utf8[] = {
		{ "\xed\xa0\x80", 3 }, /* a surrogate, the first and the last */
		{ "\xed\xbf\xbf", 3 },
		{ "\xed\x9f\xbf", 1 }, /* its neighbours */
		{ "\xee\x80\x80", 1 },
		{ "\xe0\x9f\xbf", 3 }, /* longer than it need be */
		{ "\xe0\xa0\x80", 1 },
		{ "\xf0\x8f\xbf\xbf", 4 },
		{ "\xf0\x90\x80\x80", 1 },
		{ "\xc1\xbf", 2 },
		{ "\xf4\x8f\xbf\xbf", 1 }, /* the last there is */
		{ "\xf4\x90\x80\x80", 4 },
		{ "\xf5\x80\x80\x80", 4 },
		{ "\xe2\x82", 2 }, /* cut */
		{ "\xe2\x82\xe2", 3 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(utf8) / sizeof(*utf8); i++) {
		struct record_tape tape;
		struct record r;
		json_t *object;

		assert_int_equal(record_tape_create(&tape, 8, 64), 0);
		record_reset(&r, &tape);
		r.kind = "test";
		r.family = FAMILY_QUAKE3;
		record_string(&r, "name", utf8[i].bytes, strlen(utf8[i].bytes));
		object = render(&r);
		assert_int_equal(characters(text_at(object, "name")), utf8[i].characters);
		json_decref(object);
		record_tape_free(&tape);
	}
}

/* A tape of any size ends in valid JSON, and says that something is missing. */
static void tape_overflows(void **state)
{
	(void)state;
	for (size_t items = 1; items < 24; items++) {
		struct record_tape tape;
		struct record r;
		json_t *object;

		assert_int_equal(record_tape_create(&tape, items, 8), 0);
		record_reset(&r, &tape);
		r.kind = "test";
		for (int i = 0; i < 3; i++) {
			record_open_object(&r, i ? NULL : "object");
			record_open_array(&r, "array");
		}
		record_string(&r, NULL, "12345678", 8);
		record_string(&r, NULL, "9", 1);
		for (int i = 0; i < 6; i++)
			record_close(&r);
		record_uint(&r, "last", 1);
		assert_true(r.overflow);
		object = render(&r);
		assert_string_equal(text_at(object, "overflow"), "true");
		assert_string_equal(text_at(object, "last"), "(none)");
		json_decref(object);
		record_tape_free(&tape);
	}
}

static void depth_bounded(void **state)
{
	struct record_tape tape;
	struct record r;
	json_t *object;

	(void)state;
	assert_int_equal(record_tape_create(&tape, 1000, 8), 0);
	record_reset(&r, &tape);
	r.kind = "test";
	for (int i = 0; i < 2 * RECORD_DEPTH_MAX; i++)
		record_open_array(&r, i ? NULL : "deep");
	for (int i = 0; i < 2 * RECORD_DEPTH_MAX + 3; i++)
		record_close(&r);
	object = render(&r);
	assert_string_equal(text_at(object, "overflow"), "true");
	json_decref(object);
	record_tape_free(&tape);
}

/* Kinds of one name from two places in memory are one kind; they are in order by name. */
static void summary_adds(void **state)
{
	static struct summary summary;
	static char a[] = "same", b[] = "same", others[2][2] = { "z", "a" };
	struct record r = { .family = FAMILY_QUAKE2, .status = RECORD_PARTIAL };
	struct jsonl json;
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);
	json_t *object;

	(void)state;
	r.kind = a;
	summary_count(&summary, &r);
	r.kind = b;
	summary_count(&summary, &r);
	r.family = FAMILY_QUAKE3;
	for (int i = 0; i < 2; i++) {
		r.kind = others[i];
		summary_count(&summary, &r);
		r.kind = others[!i];
		summary_count(&summary, &r);
		r.kind = a;
		summary_count(&summary, &r);
	}
	r.family = FAMILY_AUTO;
	summary_count(&summary, &r);
	jsonl_init(&json, file);
	summary_write(&summary, "a \"file\"", &json);
	jsonl_flush(&json);
	fclose(file);
	object = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(object);
	assert_string_equal(text_at(object, "file"), "a \"file\"");
	assert_string_equal(text_at(object, "datagrams"), "9");
	assert_non_null(strstr(text, "\"kinds\":{\"a\":2,\"same\":2,\"z\":2}"));
	assert_string_equal(text_at(object, "unknown"), "1");
	assert_string_equal(text_at(object, "protocols.quake2.partial"), "2");
	assert_string_equal(text_at(object, "protocols.quake2.decoded"), "0");
	assert_string_equal(text_at(object, "protocols.quake2.kinds.same"), "2");
	json_decref(object);
	free(text);
}

static void text_lines(void **state)
{
	struct record r = {
		.frame = 2,
		.family = FAMILY_QUAKE3,
		.kind = "getinfo",
		.direction = DIRECTION_C2S,
		.source = harness_address(1, 5),
		.destination = harness_address(2, 6),
	};
	struct jsonl json;
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	(void)state;
	record_malformed(&r, "why");
	jsonl_init(&json, file);
	record_text(&json, &r);
	jsonl_flush(&json);
	fclose(file);
	assert_string_equal(text, "0.000000 10.0.0.1:5 > 10.0.0.2:6 quake3 c2s getinfo "
				  "malformed (why)\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reader_reads),	 cmocka_unit_test(reader_cut),
		cmocka_unit_test(info_iterates), cmocka_unit_test(info_finds),
		cmocka_unit_test(tape_to_json),	 cmocka_unit_test(tape_overflows),
		cmocka_unit_test(depth_bounded), cmocka_unit_test(summary_adds),
		cmocka_unit_test(text_lines),	 cmocka_unit_test(bytes_that_are_no_utf8),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
