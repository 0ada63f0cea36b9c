// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_held_records.c - records as JSON at every size of the tape, masks over secrets,
 * info strings, and all that the writer says of numbers and texts, also where its buffer
 * ends.
 */
#include <math.h>

#include "fuzz/held_text.h"
#include "lib/info.h"
#include "lib/jsonl.h"
#include "lib/util.h"

static struct jsonl json;

/* --- every size of the tape ----------------------------------------------------------
 */

static void a_bit_of_everything(struct record *r)
{
	record_int(r, "int", -7);
	record_open_object(r, "object");
	record_string(r, "text", "a \"b\"\\\n\x01", 9);
	record_open_array(r, "list");
	record_uint(r, NULL, 8);
	record_null(r);
	record_open_object(r, NULL);
	record_pair(r, "k\"ey", 4, "value", 5);
	record_close(r);
	record_float(r, NULL, 0.5);
	record_close(r);
	record_hex(r, "hex", "\x01\xab\xff", 3);
	record_close(r);
	record_open_vector(r, "vector-and-more", 6);
	record_bool(r, NULL, true);
	record_bool(r, NULL, false);
	record_close(r);
	record_pair(r, "password", 8, "secret", 6);
	record_secret(r, "key", "hidden", 6);
	record_close(r); /* of nothing */
	record_string(r, "said", "connect \\password\\hunter2\\x", 27);
	record_string(r, "", "", 0);
	record_uint(r, "last", UINT64_MAX);
}

static void record_put_line(struct record *r)
{
	jsonl_init(&json, held.out);
	jsonl_record(&json, r);
	assert_int_equal(jsonl_flush(&json), 0);
	held_printf("  masked %d depth %u dropped %u items %zu bytes %zu\n", r->masked,
		    r->tape ? r->tape->depth : 0, r->tape ? r->tape->dropped_depth : 0,
		    r->tape ? r->tape->items_used : 0, r->tape ? r->tape->bytes_used : 0);
}

static void at(size_t items, size_t bytes, bool secrets)
{
	struct record_tape tape;
	struct record r;

	assert_int_equal(record_tape_create(&tape, items, bytes), 0);
	record_reset(&r, &tape);
	r.kind = "it";
	r.secrets = secrets;
	a_bit_of_everything(&r);
	held_printf("%zu items, %zu bytes\n", items, bytes);
	record_put_line(&r);
	record_tape_free(&tape);
}

static void every_size(void **state)
{
	(void)state;
	held_begin();
	for (size_t items = 1; items <= 30; items++)
		at(items, 200, false);
	for (size_t bytes = 1; bytes <= 90; bytes += bytes < 40 ? 3 : 1)
		at(40, bytes, false);
	at(40, 200, true);
	held_end("tests/lib/held_tapes.txt");
}

/* As deep as it goes, and deeper. */
static void depths(void **state)
{
	struct record_tape tape;
	struct record r;

	(void)state;
	held_begin();
	assert_int_equal(record_tape_create(&tape, 100, 100), 0);
	for (int depth = RECORD_DEPTH_MAX - 1; depth <= RECORD_DEPTH_MAX + 2; depth++) {
		for (int missing = 0; missing < 3; missing++) {
			record_reset(&r, &tape);
			r.kind = "deep";
			for (int i = 0; i < depth; i++)
				if (i % 3)
					record_open_object(&r, i % 3 == 1 ? NULL : "o");
				else
					record_open_array(&r, "a");
			record_int(&r, "x", depth);
			for (int i = missing; i < depth; i++)
				record_close(&r);
			record_int(&r, "y", missing);
			record_put_line(&r);
		}
	}
	record_tape_free(&tape);
	record_reset(&r, NULL);
	a_bit_of_everything(&r);
	r.kind = "nobody listens";
	record_put_line(&r);
	held_end("tests/lib/held_depths.txt");
}

static void heads(void **state)
{
	static const char *const reasons[] = { NULL, "be\"cause" };
	struct record r;

	(void)state;
	held_begin();
	for (int i = 0; i < 24; i++) {
		record_reset(&r, NULL);
		r.frame = (uint64_t)i * 1000000007;
		r.time_ns = (i - 5) * 123456789012345ll * (i % 3 ? 1 : 1000);
		r.family = (enum wire_family)(i % FAMILY_COUNT);
		r.direction = (enum direction)(i % DIRECTION_COUNT);
		r.status = (enum record_status)(i % RECORD_STATUS_COUNT);
		r.kind = i % 5 ? "kind" : NULL;
		r.reason = reasons[i % 2];
		r.dialect = i % 3 ? NULL : "ioq3";
		r.source = (struct record_address){ (uint8_t)(i % 3 == 0   ? 4
							      : i % 3 == 1 ? 16
									   : 0),
						    { 192, 0, 2, 7 },
						    5 };
		r.destination = (struct record_address){ (uint8_t)(i % 2 ? 4 : 16),
							 { 32, 1 },
							 27960 };
		r.overflow = i % 7 == 0;
		record_put_line(&r);
	}
	for (int status = 0; status < RECORD_STATUS_COUNT; status++)
		for (int worse = 0; worse < RECORD_STATUS_COUNT; worse++) {
			r.status = (enum record_status)status;
			r.reason = "first";
			record_judge(&r, (enum record_status)worse, "second");
			held_printf("%d %s ", r.status, r.reason);
		}
	held_printf("\n");
	record_reset(&r, NULL);
	for (int i = 0; i < 4; i++) {
		struct record_piece piece = { .offset = (uint64_t)i };

		record_piece(&r, &piece);
		held_printf("%u %llu\n", r.pieces_n,
			    (unsigned long long)r.pieces[r.pieces_n - 1].offset);
	}
	for (size_t n = 62; n <= 66; n++) {
		char text[80];

		memset(text, 'n', sizeof(text));
		facts_name(&r.facts, text, n);
		facts_map(&r.facts, text, n - 62);
		held_printf("%x %u %u\n", r.facts.has, r.facts.name_n, r.facts.map_n);
	}
	held_end("tests/lib/held_heads.txt");
}

/* --- texts ---------------------------------------------------------------------------
 */

static void say_record(FILE *out, const char *bytes, size_t n, size_t room, bool secrets)
{
	static struct jsonl own;
	struct record_tape tape;
	struct span value;
	struct record r;
	bool good;

	assert_int_equal(record_tape_create(&tape, 64, room), 0);
	record_reset(&r, &tape);
	r.kind = "it";
	r.secrets = secrets;
	record_string(&r, "text", bytes, n);
	good = record_info(&r, "info", bytes, n);
	record_secret(&r, "secret", bytes, n);
	record_hex(&r, "hex", bytes, n < 9 ? n : 9);
	jsonl_init(&own, out);
	jsonl_record(&own, &r);
	assert_int_equal(jsonl_flush(&own), 0);
	fprintf(out, "good %d masked %d name %d", good, r.masked,
		info_find(bytes, n, "NAME", &value));
	if (info_find(bytes, n, "name", &value))
		fprintf(out, " '%.*s'", (int)value.n, (const char *)value.bytes);
	fputc('\n', out);
	record_tape_free(&tape);
}

static void say_text(FILE *out, const char *bytes, size_t n)
{
	say_record(out, bytes, n, 4096, false);
	say_record(out, bytes, n, 4096, true);
	/* Where there is just no room for what a mask takes more. */
	for (size_t room = n; n > 8 && room < n + 4; room++)
		say_record(out, bytes, n, room, false);
}

static const char *const texts[] = {
	"\\name\\Sarge\\rate\\25000",
	"\\name\\Sarge\\Name\\again\\NAME\\and again\\x\\\\y\\",
	"name\\Sarge",
	"\\name",
	"\\",
	"",
	"\\\\\\\\\\",
	"\\password\\a\\cl_guid\\0123456789ABCDEF\\PassWord\\\\rcon_password\\x",
	"connect \"\\password\\hunter2\\name\\x\"",
	"setinfo password hunter2\nsetinfo name x",
	"setinfo \"password\" \"hunter2\"",
	"setinfo rcon_password",
	"setinfo ",
	"setinfo passwords hunter2",
	"\\password\\\\cl_guid\\ab",
	"\\password\\abc\"def\npassword",
	"\\passwor\\x\\passwordx\\y\\ password\\z",
	"plain text that is \xc3\xa9 valid \xe2\x80\xae and not \xff\xfe\x80",
	"\x01\x1f\x7f\t\r\n\"\\/",
	"\xc2\x85 \xf0\x9f\x98\x80 \xed\xa0\x80 \xf4\x90\x80\x80",
};

static void of_texts(void **state)
{
	char text[700];

	(void)state;
	held_begin();
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		held_text(say_text, texts[i]);
	/* Keys as long as they are shown, that come again. */
	for (size_t n = 254; n <= 258; n++) {
		size_t size = 0;

		for (int i = 0; i < 2; i++) {
			text[size++] = '\\';
			memset(text + size, 'k', n);
			size += n;
			memcpy(text + size, "\\v", 2);
			size += 2;
		}
		say_text(held.out, text, size);
	}
	held_end("tests/lib/held_texts.txt");
}

/* --- numbers -------------------------------------------------------------------------
 */

static void numbers(void **state)
{
	static const double odd[] = { 0,
				      -0.0,
				      1,
				      -1,
				      0.5,
				      1e15,
				      999999999999999,
				      1e15 - 0.5,
				      1e16,
				      1e300,
				      1.0 / 3,
				      -1e-9,
				      123456.789,
				      16777216.5,
				      9e14 + 0.25,
				      NAN,
				      INFINITY,
				      -INFINITY,
				      1e-320 };
	int64_t n = 1;

	(void)state;
	held_begin();
	jsonl_init(&json, held.out);
	for (size_t i = 0; i < ARRAY_SIZE(odd); i++) {
		jsonl_float(&json, odd[i]);
		jsonl_text(&json, "\n");
	}
	for (int i = 0; i < 64; i++, n = (int64_t)((uint64_t)n * 2 + (i % 2))) {
		jsonl_int(&json, n);
		jsonl_text(&json, " ");
		jsonl_int(&json, (int64_t)(0 - (uint64_t)n));
		jsonl_text(&json, " ");
		jsonl_uint(&json, (uint64_t)n);
		jsonl_text(&json, " ");
		jsonl_time(&json, n);
		jsonl_text(&json, " ");
		jsonl_time(&json, (int64_t)(0 - (uint64_t)n * 1000));
		jsonl_text(&json, "\n");
	}
	for (uint64_t i = 1; i < UINT64_MAX / 10; i *= 10) {
		jsonl_uint(&json, i - 1);
		jsonl_text(&json, " ");
		jsonl_uint(&json, i);
		jsonl_text(&json, " ");
		jsonl_text(&json, "\"");
		jsonl_part(&json, "a key", i % 6);
		jsonl_text(&json, "\":");
		jsonl_hex(&json, "\x09\xf0\x5a", i % 4);
		jsonl_text(&json, "\n");
	}
	jsonl_int(&json, INT64_MIN);
	jsonl_flush(&json);
	held_end("tests/lib/held_numbers.txt");
}

/* Each call of the writer where its buffer has so many bytes left. */
static void ends_of_the_buffer(void **state)
{
	static char fill[JSONL_BUFFER + 8], large[3 * JSONL_BUFFER];

	(void)state;
	memset(fill, ' ', sizeof(fill));
	memset(large, 'L', sizeof(large));
	held_begin();
	for (size_t left = 0; left < 800; left += left < 44 ? 1 : 9) {
		char *text;
		size_t n;
		FILE *out = open_memstream(&text, &n);

		assert_non_null(out);
		jsonl_init(&json, out);
		for (int call = 0; call < 10; call++) {
			size_t due = 2 * JSONL_BUFFER - left - json.used;

			jsonl_part(&json, fill, due % JSONL_BUFFER);
			switch (call) {
			case 0:
				jsonl_uint(&json, 18446744073709551615u);
				break;
			case 1:
				jsonl_int(&json, -5);
				break;
			case 2:
				jsonl_float(&json, 0.123456789);
				break;
			case 3:
				jsonl_string(&json, "a\"\x01\xe2\x80\xae\xc3\xa9z", 9);
				break;
			case 4:
				jsonl_hex(&json, "\x12\x34\x56", 3);
				break;
			case 5:
				jsonl_time(&json, 1234567890123456789);
				break;
			case 6:
				jsonl_part(&json, "\"key\":", 6);
				break;
			case 7:
				jsonl_text(&json, "literal");
				break;
			case 8:
				jsonl_part(&json, large, JSONL_BUFFER + left);
				break;
			default:
				jsonl_part(&json, large, sizeof(large));
				break;
			}
		}
		held_printf("%zu: %d ", left, jsonl_flush(&json));
		fclose(out);
		held_bytes("all", text, n);
		free(text);
	}
	held_end("tests/lib/held_buffer.txt");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_size), cmocka_unit_test(depths),
		cmocka_unit_test(heads),      cmocka_unit_test(of_texts),
		cmocka_unit_test(numbers),    cmocka_unit_test(ends_of_the_buffer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
