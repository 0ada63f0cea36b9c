// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The work for a hostile text grows with its length, not with its square. The tests count
 * calls that compare keys and bytes that are moved, not seconds.
 */
#include "decode/decode_support.h"
#include "lib/info.h"

#define TEXT_MAX 65500 /* bytes of a datagram */

static uint64_t compared, moved;

/* The library's calls come here, too. */
int strncasecmp(const char *a, const char *b, size_t n)
{
	compared++;
	for (size_t i = 0; i < n; i++) {
		int x = a[i] >= 'A' && a[i] <= 'Z' ? a[i] + 32 : a[i];
		int y = b[i] >= 'A' && b[i] <= 'Z' ? b[i] + 32 : b[i];

		if (x != y || !x)
			return x - y;
	}
	return 0;
}

int memcmp(const void *a, const void *b, size_t n)
{
	const uint8_t *x = a, *y = b;

	compared++;
	for (size_t i = 0; i < n; i++)
		if (x[i] != y[i])
			return x[i] - y[i];
	return 0;
}

void *memmove(void *to, const void *from, size_t n)
{
	uint8_t *t = to;
	const uint8_t *f = from;

	moved += n;
	if (t < f)
		for (size_t i = 0; i < n; i++)
			t[i] = f[i];
	else
		while (n--)
			t[n] = f[n];
	return to;
}

static struct record_tape *tape(void)
{
	static struct record_tape tape;

	if (!tape.items)
		assert_int_equal(record_tape_create(&tape, 1 << 16, 1 << 20), 0);
	return &tape;
}

/* @unit again and again. Returns how many there are. */
static size_t fill(char *text, const char *unit)
{
	size_t n = strlen(unit), count = TEXT_MAX / n;

	for (size_t i = 0; i < count; i++)
		memcpy(text + i * n, unit, n);
	return count;
}

static char *as_json(const struct record *r)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct jsonl json;

	assert_non_null(out);
	jsonl_init(&json, out);
	jsonl_record(&json, r);
	assert_int_equal(jsonl_flush(&json), 0);
	fclose(out);
	return text;
}

static void info_keys_are_compared_a_bounded_number_of_times(void **state)
{
	static const char *const units[] = { "\\\\", "\\k\\", "\\same key\\v" };
	static char text[TEXT_MAX];
	struct record r;

	(void)state;
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		size_t pairs = fill(text, units[i]);
		json_t *all;
		char *json;

		record_reset(&r, tape());
		r.kind = "test";
		compared = 0;
		assert_true(record_info(&r, "info", text, pairs * strlen(units[i])));
		assert_in_range(compared, 1, 256 * 256 + 3 * pairs);
		json = as_json(&r);
		/* Each key is another, whatever its place. */
		all = json_loads(json, JSON_REJECT_DUPLICATES, NULL);
		assert_non_null(all);
		assert_int_equal(json_object_size(json_object_get(all, "info")), pairs);
		json_decref(all);
		free(json);
	}
}

static void plain_keys_are_looked_for_a_bounded_number_of_times(void **state)
{
	struct record r;
	unsigned int pairs = 0;
	char key[32];

	(void)state;
	record_reset(&r, tape());
	r.kind = "test";
	r.family = FAMILY_QUAKEWORLD;
	record_open_object(&r, "info");
	for (unsigned int i = 0; i < 4000; i++, pairs += 2) {
		int n = snprintf(key, sizeof(key), "%04u_plain", i);

		record_pair(&r, key, (size_t)n, "", 0);
		record_pair(&r, key, 4, "\x80", 1);
	}
	record_close(&r);
	compared = 0;
	free(as_json(&r));
	assert_in_range(compared, 1, 70 * pairs);
}

static void masks_move_each_byte_a_bounded_number_of_times(void **state)
{
	static char text[TEXT_MAX];
	size_t n = fill(text, "\\password\\a") * strlen("\\password\\a");
	const char *said;
	struct record r;

	(void)state;
	record_reset(&r, tape());
	r.kind = "test";
	moved = 0;
	record_string(&r, "text", text, n);
	assert_in_range(moved, 0, 4 * n);
	assert_true(r.masked);
	said = (const char *)r.tape->bytes;
	for (size_t i = 0; i < n / strlen("\\password\\a"); i++)
		assert_memory_equal(said + 13 * i, "\\password\\***", 13);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(info_keys_are_compared_a_bounded_number_of_times),
		cmocka_unit_test(plain_keys_are_looked_for_a_bounded_number_of_times),
		cmocka_unit_test(masks_move_each_byte_a_bounded_number_of_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
