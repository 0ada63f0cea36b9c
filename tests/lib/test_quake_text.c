// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Texts of the game's own characters in JSON: every byte comes back, whatever stands next
 * to it, and what a text looks like in ASCII stands beside it.
 */
#include "decode/decode_support.h"
#include "decode/record_text.h"

static struct record_tape tape;
static struct record r;

static void begin(enum wire_family family)
{
	record_reset(&r, &tape);
	r.family = family;
	r.kind = "test";
}

static char *render(void (*how)(struct jsonl *, const struct record *))
{
	struct jsonl json;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	jsonl_init(&json, out);
	how(&json, &r);
	jsonl_flush(&json);
	fclose(out);
	return text;
}

static json_t *parsed(void)
{
	char *text = render(jsonl_record);
	json_t *all = json_loads(text, JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES, NULL);

	if (!all)
		fail_msg("no JSON: %s", text);
	free(text);
	return all;
}

/* The bytes that @s, of characters below U+0080 and from U+E080 to U+E0FF, stands for. */
static size_t back(const json_t *s, uint8_t *ret)
{
	const uint8_t *at = (const uint8_t *)json_string_value(s);
	const uint8_t *end = at + json_string_length(s);
	size_t n = 0;

	while (at < end) {
		if (*at < 0x80) {
			ret[n++] = *at++;
			continue;
		}
		assert_true(end - at >= 3 && *at == 0xee);
		ret[n++] = (uint8_t)((at[1] & 3) << 6 | (at[2] & 0x3f));
		assert_true(ret[n - 1] >= 0x80);
		at += 3;
	}
	return n;
}

static void each_pair_of_bytes_comes_back(void **state)
{
	uint8_t text[512], got[1024];

	(void)state;
	for (unsigned int a = 0; a < 256; a++) {
		json_t *all;

		for (unsigned int b = 0; b < 256; b++) {
			text[2 * b] = (uint8_t)a;
			text[2 * b + 1] = (uint8_t)b;
		}
		begin(a % 3 == 0   ? FAMILY_NETQUAKE
		      : a % 3 == 1 ? FAMILY_QUAKEWORLD
				   : FAMILY_QUAKE2);
		record_string(&r, "text", text, sizeof(text));
		all = parsed();
		assert_int_equal(back(json_object_get(all, "text"), got), sizeof(text));
		assert_memory_equal(got, text, sizeof(text));
		json_decref(all);
	}
}

static void expect(const json_t *object, const char *key, const char *value)
{
	const char *got = json_string_value(json_object_get(object, key));

	if (!value)
		assert_null(got);
	else
		assert_string_equal(got ? got : "(none)", value);
}

static void bold_letters_are_found_as_plain_ones(void **state)
{
	json_t *all, *info;

	(void)state;
	begin(FAMILY_QUAKEWORLD);
	record_string(&r, "text", "\xc3\xef\xf5\xee\xf4\xe4\xef\xf7\xee \x13\x1b\n", 13);
	record_string(&r, "name", "\xd4\x91", 2);
	record_string(&r, "level", "plain", 5);
	record_string(&r, "odd", "\x01\xa2\xdc\x90", 4);
	record_open_object(&r, "info");
	record_pair(&r, "name", 4,
		    "\xfa"
		    "0mbie\xb9\xb0",
		    8);
	record_pair(&r, "team", 4, "\xf2", 1);
	record_pair(&r, "team_plain", 10, "forged", 6);
	record_close(&r);
	all = parsed();
	expect(all, "text_plain", "Countdown 19\n");
	expect(all, "name", "\xee\x83\x94\xee\x82\x91");
	expect(all, "name_plain", "T]");
	expect(all, "level_plain", NULL);
	expect(all, "odd_plain", "\"\\[");
	info = json_object_get(all, "info");
	expect(info, "name_plain", "z0mbie90");
	expect(info, "team_plain", "forged");
	json_decref(all);
}

static void lines_show_what_a_text_looks_like(void **state)
{
	char *text;

	(void)state;
	begin(FAMILY_QUAKE2);
	record_string(&r, "text", "\xc7\xef\x82\xa2", 4);
	text = render(record_text);
	assert_non_null(strstr(text, "\"Go>\\\"\""));
	free(text);
	text = render(record_text_fields);
	assert_non_null(strstr(text, "text \"Go>\\\"\""));
	free(text);
}

/* Engines that speak UTF-8, and what follows a text of the game's. */
static void other_texts_stay_utf8(void **state)
{
	json_t *all;

	(void)state;
	for (int i = 0; i < 3; i++) {
		begin(i == 0   ? FAMILY_QUAKE3
		      : i == 1 ? FAMILY_QUAKE_ENHANCED
			       : FAMILY_NETQUAKE);
		r.utf8 = i == 2;
		record_string(&r, "name", "\xd4\x91", 2);
		all = parsed();
		expect(all, "name", "\xd4\x91");
		expect(all, "name_plain", NULL);
		json_decref(all);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_pair_of_bytes_comes_back),
		cmocka_unit_test(bold_letters_are_found_as_plain_ones),
		cmocka_unit_test(lines_show_what_a_text_looks_like),
		cmocka_unit_test(other_texts_stay_utf8),
	};
	int failed;

	assert_int_equal(record_tape_create(&tape, 64, 4096), 0);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	record_tape_free(&tape);
	return failed;
}
