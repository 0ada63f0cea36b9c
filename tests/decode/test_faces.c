// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * How records are shown: the line for people, the fields below it, what is selected, and
 * that passwords and characters which command a terminal are in none of them.
 */
#include "decode/decode_support.h"
#include "decode/record_text.h"
#include "decode/select.h"

struct page {
	struct record record;
	struct record_tape tape;
	struct jsonl json;
	FILE *file;
	char *text;
	size_t size;
};

static struct page page;

static struct record *begin(void)
{
	struct record *r = &page.record;

	record_reset(r, &page.tape);
	r->time_ns = 1795224693558645000;
	r->family = FAMILY_QUAKE3;
	r->dialect = "ioq3-71";
	r->direction = DIRECTION_S2C;
	r->kind = "snapshot";
	r->source = harness_address(1, 27960);
	r->destination = harness_address(2, 5000);
	return r;
}

typedef void show_fn(struct jsonl *json, const struct record *r);

static const char *show(show_fn *how)
{
	free(page.text);
	page.file = open_memstream(&page.text, &page.size);
	assert_non_null(page.file);
	jsonl_init(&page.json, page.file);
	how(&page.json, &page.record);
	assert_int_equal(jsonl_flush(&page.json), 0);
	fclose(page.file);
	return page.text;
}

static void op(struct record *r, const char *name)
{
	record_open_object(r, NULL);
	record_string(r, "op", name, strlen(name));
}

static void test_line(void **state)
{
	struct record *r = begin();

	(void)state;
	r->facts.has = FACT_SEQUENCE | FACT_ACK;
	r->facts.sequence = 165;
	r->facts.ack = 9;
	record_uint(r, "sequence", 165);
	record_open_array(r, "ops");
	op(r, "snapshot");
	record_int(r, "serverTime", 50000);
	record_uint(r, "deltaNum", 2);
	record_open_object(r, "player");
	record_open_vector(r, "origin[0]", 6);
	record_float(r, NULL, 1);
	record_null(r);
	record_float(r, NULL, 2.5);
	record_close(r);
	record_close(r);
	record_open_array(r, "entities");
	for (int i = 0; i < 11; i++) {
		record_open_object(r, NULL);
		record_uint(r, "number", (uint64_t)i);
		record_close(r);
	}
	record_close(r);
	record_close(r);
	op(r, "print");
	record_uint(r, "level", 3);
	record_string(r, "text", BYTES("a: hi\n"));
	record_close(r);
	for (int i = 0; i < 3; i++) {
		op(r, "update");
		record_close(r);
	}
	record_close(r);
	assert_string_equal(
		show(record_text),
		"01:31:33.558645 10.0.0.1:27960 > 10.0.0.2:5000 "
		"quake3/ioq3-71 s2c snapshot 165 ack 9: snapshot time 50000, "
		"from 163, 11 entities; print chat, \"a: hi\\n\"; 3 update\n");
	show(record_text_fields);
	assert_non_null(strstr(page.text, "\n            player\n"
					  "                origin 1 null 2.5\n"));
	assert_non_null(strstr(page.text, "            op \"print\"\n"));
	show(jsonl_record);
	assert_non_null(strstr(page.text, "\"player\":{\"origin\":[1,null,2.5]}"));
}

/* U+0080..9F, and what turns the direction of text, from the wire. */
static void test_terminal(void **state)
{
	static const char text[] =
		"a\xc2\x9b"
		"31m\xe2\x80\xae\xe2\x81\xa6\xd8\x9c\x9b\x1b\x7f\xc3\xa9";
	struct record *r = begin();

	(void)state;
	record_string(r, "text", text, sizeof(text) - 1);
	show(jsonl_record);
	assert_non_null(strstr(page.text,
			       "\"text\":\"a\\u009b31m\\u202e\\u2066\\u061c\\u009b\\u001b"
			       "\\u007f\xc3\xa9\""));
	show(record_text);
	assert_null(strstr(page.text, "\xc2\x9b"));
	assert_null(strstr(page.text, "\xe2\x80\xae"));
	assert_null(strchr(page.text, '\x1b'));
}

static void put_secrets(struct record *r)
{
	record_secret(r, "password", BYTES("hunter2"));
	record_pair(r, BYTES("Password"), BYTES("hunter2"));
	record_pair(r, BYTES("cl_guid"), BYTES("ABCDEF"));
	record_pair(r, BYTES("name"), BYTES("bob"));
	record_string(
		r, "text",
		BYTES("userinfo \"\\name\\bob\\password\\hunter2\\cl_guid\\ABCDEF\""));
	record_string(r, "t2", BYTES("\\password\\a"));
	record_string(r, "t3", BYTES("setinfo \"password\" \"hunter2\""));
	record_string(r, "t4", BYTES("setinfo password hunter2"));
	record_string(r, "t5", BYTES("say my password\\hunter"));
}

static void test_secrets(void **state)
{
	struct record *r = begin();

	(void)state;
	put_secrets(r);
	show(jsonl_record);
	assert_true(r->masked);
	assert_null(strstr(page.text, "hunter2"));
	assert_null(strstr(page.text, "ABCDEF"));
	assert_non_null(strstr(
		page.text, "\\\\name\\\\bob\\\\password\\\\***\\\\cl_guid\\\\***\\\""));
	assert_non_null(strstr(page.text, "\"t2\":\"\\\\password\\\\***\""));
	assert_non_null(
		strstr(page.text, "\"t3\":\"setinfo \\\"password\\\" \\\"***\\\"\""));
	assert_non_null(strstr(page.text, "\"t4\":\"setinfo password ***\""));
	assert_non_null(strstr(page.text, "\"t5\":\"say my password\\\\hunter\""));
	r = begin();
	r->secrets = true;
	put_secrets(r);
	show(jsonl_record);
	assert_false(r->masked);
	assert_non_null(strstr(page.text, "\"password\":\"hunter2\""));
	assert_non_null(strstr(page.text, "cl_guid\\\\ABCDEF"));
}

/* A tape that is nearly full: what does not fit unmasked is not shown unmasked. */
static void test_secrets_at_the_end(void **state)
{
	static const char text[] = "\\password\\x";
	struct record_tape small;
	struct record r;

	(void)state;
	for (size_t room = 0; room < 20; room++) {
		assert_int_equal(record_tape_create(&small, 8, room ? room : 1), 0);
		record_reset(&r, &small);
		record_string(&r, "text", text, sizeof(text) - 1);
		assert_true(small.bytes_used <= small.bytes_max);
		if (!r.overflow)
			assert_memory_equal(small.bytes, "\\password\\*", 11);
		record_tape_free(&small);
	}
}

static bool takes(const struct select *s)
{
	return select_takes(s, &page.record);
}

static void test_select(void **state)
{
	static const struct {
		const char *text;
		bool good, takes;
	} hosts[] = {
		{ "10.0.0.1", true, true },
		{ "10.0.0.2:5000", true, true },
		{ ":27960", true, true },
		{ "10.0.0.1:5000", true, false },
		{ "10.0.0.9,10.0.0.2", true, true },
		{ "2001:db8::1", true, false },
		{ "[2001:db8::1]:5000", true, false },
		{ "10.0.0", false, false },
		{ "10.0.0.1:0", false, false },
		{ "10.0.0.1:65536", false, false },
		{ "", false, false },
		{ "[::1", false, false },
	};
	struct select s = { .kinds_n = 0 };
	const char *bad;

	(void)state;
	begin();
	assert_true(takes(&s));
	for (size_t i = 0; i < sizeof(hosts) / sizeof(*hosts); i++) {
		char *text = strdup(hosts[i].text);

		memset(&s, 0, sizeof(s));
		assert_int_equal(select_hosts(&s, text, &bad), hosts[i].good);
		if (hosts[i].good)
			assert_int_equal(takes(&s), hosts[i].takes);
		free(text);
	}
	memset(&s, 0, sizeof(s));
	assert_true(select_kinds(&s, strcpy((char[32]){ 0 }, "connect,snapshot"), &bad));
	assert_true(takes(&s));
	assert_true(select_status(&s, strcpy((char[32]){ 0 }, "partial"), &bad));
	assert_false(takes(&s));
	assert_true(select_status(&s, strcpy((char[32]){ 0 }, "decoded"), &bad));
	assert_true(takes(&s));
	assert_false(select_status(&s, strcpy((char[32]){ 0 }, "fine"), &bad));
	assert_string_equal(bad, "fine");
	assert_false(select_kinds(&s, strcpy((char[32]){ 0 }, "a,"), &bad));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_line),	cmocka_unit_test(test_terminal),
		cmocka_unit_test(test_secrets), cmocka_unit_test(test_secrets_at_the_end),
		cmocka_unit_test(test_select),
	};
	int failed;

	if (record_tape_create(&page.tape, 256, 4096))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	record_tape_free(&page.tape);
	free(page.text);
	return failed;
}
