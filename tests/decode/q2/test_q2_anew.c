// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A new connection between the same ports of which words were not seen: nothing of it is
 * read with what the last one has taught.
 */
#include "decode/q2/q2_parcel.h"

#define CONNECT	   "connect 34 4660 7 \"\\name\\bo\"\n"
#define SERVERDATA "0c2200000051070000000000005400"
#define BASELINE   "0e80080507" /* entity 5: a model */
#define VIEW	   "0000110000000000001201050800"
#define FULL(n)	   "14" n "000000ffffffff" VIEW "0000" /* entity 5 moves */
#define LATER	   "it may be of a later connection"
#define UNSEEN	   "entity from a baseline that was not seen"

static void serve(struct harness *h, uint32_t sequence, const char *hex)
{
	struct parcel p = header(sequence, 1);

	put_hex(&p, hex);
	s2c(h, &p);
}

static void say(struct harness *h, uint32_t sequence, unsigned int qport)
{
	struct parcel p = header(sequence, 1);

	put16(&p, qport);
	put(&p, "\4new", 5);
	c2s(h, &p);
}

static void word(struct harness *h, bool server, const char *text)
{
	struct parcel p = { .n = 0 };

	put(&p, MARK, 4);
	put(&p, text, strlen(text));
	server ? s2c(h, &p) : c2s(h, &p);
}

/* 4 words, and a game up to sequence @last: that many records more. */
static struct harness *game(uint32_t last)
{
	struct harness *h = harness_open(FAMILY_AUTO);

	shake_hands(h, CONNECT, "client_connect");
	serve(h, 1 | 1U << 31, SERVERDATA BASELINE);
	for (uint32_t i = 2; i <= last; i++)
		serve(h, i, FULL("0a"));
	return h;
}

static void expect(json_t *all, size_t index, bool late, const char *reason)
{
	json_t *r = json_array_get(all, index);

	if (json_is_true(json_object_get(r, "late")) != late ||
	    strcmp(text_at(r, "reason"), reason ? reason : "(none)") != 0)
		fail_msg("%zu: %s", index, json_dumps(r, JSON_COMPACT));
}

/* Challenge and connect were seen, and client_connect was not. */
static void first_reliable_number_begins_the_offered_connection(void **state)
{
	struct harness *h = game(40);
	json_t *all;

	(void)state;
	say(h, 90, 4660);
	word(h, true, "challenge 8 p=34");
	word(h, false, "connect 34 4661 8 \"\\name\\bo\"\n");
	say(h, 1, 4661);
	serve(h, 1 | 1U << 31, SERVERDATA);
	serve(h, 3, FULL("0b"));
	serve(h, 4 | 1U << 31, SERVERDATA BASELINE);
	serve(h, 5, FULL("0c"));
	all = harness_close(h);
	expect(all, 47, true, LATER);
	expect(all, 48, false, NULL);
	expect(all, 49, false, UNSEEN);
	expect(all, 50, false, NULL);
	expect(all, 51, false, NULL);
	json_decref(all);
}

static void refused_connect_begins_none(void **state)
{
	struct harness *h = game(40);
	json_t *all;

	(void)state;
	word(h, true, "challenge 8 p=34");
	word(h, false, "connect 36 4661 8 \"\\name\\bo\"\n");
	word(h, true, "print\nServer is full.\n");
	serve(h, 1 | 1U << 31, SERVERDATA BASELINE);
	serve(h, 41, FULL("0b"));
	all = harness_close(h);
	expect(all, 47, true, LATER);
	expect(all, 48, false, NULL);
	assert_string_equal(text_at(json_array_get(all, 48), "dialect"), "quake2-34");
	json_decref(all);
}

/* No word was seen: numbers far behind, or with other bytes than before. */
static void eight_strange_numbers_begin_an_unknown_connection(void **state)
{
	static const uint32_t lengths[] = { 40, 12 };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct harness *h = game(lengths[i]);
		size_t at = lengths[i] + 4;
		json_t *all;

		for (uint32_t k = 1; k <= 9; k++)
			serve(h, k, k == 1 ? SERVERDATA : FULL("0b"));
		serve(h, 10 | 1U << 31, SERVERDATA BASELINE);
		serve(h, 11, FULL("0c"));
		all = harness_close(h);
		for (size_t k = 0; k < 7; k++)
			expect(all, at + k, true, LATER);
		expect(all, at + 7, false, UNSEEN);
		expect(all, at + 8, false, UNSEEN);
		expect(all, at + 9, false, NULL);
		expect(all, at + 10, false, NULL);
		json_decref(all);
	}
}

/* One datagram may be forged; a datagram that comes again is known. */
static void one_strange_number_changes_nothing(void **state)
{
	struct harness *h = game(12);
	json_t *all;

	(void)state;
	serve(h, 12, FULL("0b"));
	serve(h, 11, FULL("0b"));
	serve(h, 13, FULL("0a"));
	serve(h, 12, FULL("0a"));
	all = harness_close(h);
	expect(all, 16, false, LATER);
	expect(all, 17, true, LATER);
	expect(all, 18, false, NULL);
	expect(all, 19, true, NULL);
	json_decref(all);
}

/* A frame that serverdata has overtaken belongs to the map before. */
static void frame_from_before_the_map_has_not_its_baselines(void **state)
{
	struct harness *h = game(12);
	json_t *all;

	(void)state;
	serve(h, 14 | 1U << 31, SERVERDATA BASELINE);
	serve(h, 13, FULL("0b"));
	serve(h, 15, FULL("0c"));
	all = harness_close(h);
	expect(all, 16, false, NULL);
	expect(all, 17, true, UNSEEN);
	expect(all, 18, false, NULL);
	json_decref(all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_reliable_number_begins_the_offered_connection),
		cmocka_unit_test(refused_connect_begins_none),
		cmocka_unit_test(eight_strange_numbers_begin_an_unknown_connection),
		cmocka_unit_test(one_strange_number_changes_nothing),
		cmocka_unit_test(frame_from_before_the_map_has_not_its_baselines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
