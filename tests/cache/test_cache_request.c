// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What a server replied becomes a template, or a reason why not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cache/cache_request.h"
#include "classify.h"

#define OOB	       "\xff\xff\xff\xff"
#define BYTES(literal) (literal), sizeof(literal) - 1
#define COUNT(a)       (sizeof(a) / sizeof(*(a)))
#define INFO	       OOB "infoResponse\n\\challenge\\"
#define TAIL	       "\\hostname\\somewhere\\mapname\\q3dm17"

static const struct cache_request *form_of(enum wire_family family, size_t at)
{
	size_t count;
	const struct cache_request *forms = cache_requests(family, &count);

	assert_true(at < count);
	return &forms[at];
}

static const char *made(size_t form, const char *nonce, const char *reply, size_t n,
			struct cache_entry *ret)
{
	return cache_entry_make(FAMILY_QUAKE3, form_of(FAMILY_QUAKE3, form), nonce,
				strlen(nonce), reply, n, CACHE_TEXT, 1, ret);
}

static void every_question_fits(void **state)
{
	(void)state;
	for (enum wire_family f = 0; f < FAMILY_COUNT; f++) {
		size_t count;
		const struct cache_request *forms = cache_requests(f, &count);

		assert_true(count <= CACHE_FORMS);
		for (size_t i = 0; i < count; i++)
			assert_in_range(forms[i].length, 5,
					CACHE_REQUEST - !forms[i].nonce);
	}
	cache_requests(FAMILY_QUAKE_ENHANCED, (size_t[]){ 0 });
}

/* A query is looked for among CACHE_TRIES forms: its own is one of them. */
static void each_query_finds_its_form(void **state)
{
	static const __u32 nonces[] = { 1, CACHE_NONCE };

	(void)state;
	for (int f = 0; f < FAMILY_COUNT; f++) {
		size_t count;
		const struct cache_request *forms =
			cache_requests((enum wire_family)f, &count);

		for (size_t i = 0; i < count * 2; i++) {
			const struct cache_request *form = &forms[i / 2];
			struct cursor c = { .pos = (const __u8 *)form->text,
					    .end = (const __u8 *)form->text +
						   form->length };
			enum wire_kind kind = classify((enum wire_family)f, DIRECTION_C2S,
						       c, form->length);
			__u32 first = cache_form_first(
				kind, form->length + (form->nonce ? nonces[i % 2] : 0));

			assert_true(kind_cacheable((enum wire_family)f, kind));
			assert_in_range(first, 0, CACHE_FORMS - CACHE_TRIES);
			assert_in_range(i / 2, first, first + CACHE_TRIES - 1);
		}
	}
}

/* Browsers and their masters ask in these words, and whoever asks in others gets none. */
static void it_asks_what_browsers_ask(void **state)
{
	static const struct {
		enum wire_family family;
		const char *question;
	} rows[] = {
		{ FAMILY_QUAKEWORLD, "status" },    { FAMILY_QUAKEWORLD, "status 1" },
		{ FAMILY_QUAKEWORLD, "status 23" }, { FAMILY_QUAKEWORLD, "status 31" },
		{ FAMILY_QUAKEWORLD, "ping" },	    { FAMILY_QUAKEWORLD, "k" },
		{ FAMILY_QUAKE2, "status" },	    { FAMILY_QUAKE2, "info 34" },
		{ FAMILY_QUAKE2, "info 35" },	    { FAMILY_QUAKE2, "info 36" },
		{ FAMILY_QUAKE2, "ping" },	    { FAMILY_QUAKE3, "getstatus" },
		{ FAMILY_QUAKE3, "getinfo" },	    { FAMILY_QUAKE3, "getstatus xyz" },
		{ FAMILY_QUAKE3, "getinfo xyz" },
	};
	char question[CACHE_REQUEST_MAX];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		size_t count, found = 0, n = strlen(rows[i].question);
		const struct cache_request *forms =
			cache_requests(rows[i].family, &count);

		for (size_t at = 0; at < count; at++)
			found += cache_request_write(&forms[at], "xyz", 3, question) ==
					 n + 4 &&
				 !memcmp(question, OOB, 4) &&
				 !memcmp(question + 4, rows[i].question, n);
		print_message("%s\n", rows[i].question);
		assert_int_equal(found, 1);
	}
}

static void questions_are_written(void **state)
{
	char question[CACHE_REQUEST_MAX];

	(void)state;
	assert_int_equal(
		cache_request_write(form_of(FAMILY_QUAKE3, 0), "abc", 3, question), 15);
	assert_memory_equal(question, OOB "getinfo abc", 15);
	assert_int_equal(
		cache_request_write(form_of(FAMILY_NETQUAKE, 4), "abc", 3, question), 12);
	assert_memory_equal(question, "\x80\0\0\x0c\x02QUAKE\0\x03", 12);
}

static void a_nonce_is_cut_out(void **state)
{
	struct cache_entry t;

	(void)state;
	assert_null(made(0, "Nonce123", BYTES(INFO "Nonce123" TAIL), &t));
	assert_int_equal(t.head, sizeof(INFO) - 1);
	for (size_t i = 0; i < CACHE_CUTS; i++)
		assert_int_equal(t.cuts[i].tail, sizeof(TAIL) - 1);
	assert_memory_equal(t.text, INFO TAIL, sizeof(INFO TAIL));
	assert_int_equal(t.kind, KIND_INFORESPONSE);
	assert_int_equal(cache_length(&t, t.cuts[0].tail, 5), sizeof(INFO TAIL) - 1 + 5);
}

static void what_cannot_be_a_template(void **state)
{
	static char large[CACHE_TEXT + 8] = INFO "Nonce123" TAIL;
	static const struct {
		size_t form;
		const char *reply;
		size_t n;
	} rows[] = {
		{ 0, BYTES(INFO "Nonce124" TAIL) },
		{ 0, BYTES(INFO "Nonce123" TAIL "Nonce123") },
		{ 0, BYTES(OOB "infoResponse\nNonce123") },
		{ 0, BYTES(OOB "statusResponse\n\\challenge\\Nonce123" TAIL) },
		{ 0, BYTES(OOB "print\n\\challenge\\Nonce123" TAIL) },
		{ 0, BYTES("") },
		{ 0, BYTES("\xff\xff\xff") },
		{ 3, BYTES(INFO TAIL) },
		{ 0, large, CACHE_TEXT - 1 + 8 + 1 },
		{ 2, large, CACHE_TEXT + 1 },
	};
	struct cache_entry t;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_non_null(
			made(rows[i].form, "Nonce123", rows[i].reply, rows[i].n, &t));
	assert_null(made(0, "Nonce123", large, CACHE_TEXT - 1 + 8, &t));
	assert_null(made(2, "Nonce123", large, CACHE_TEXT, &t));
}

/* As FTE's, which says to each where it was asked. */
static void none_that_was_meant_for_this_machine_alone(void **state)
{
	static const struct {
		const char *reply;
		size_t n;
		bool good;
	} rows[] = {
		{ BYTES("\x80\0\0\x1c\x83"
			"192.0.2.1:26000\0a\0b\0\1\x10\3"),
		  true },
		{ BYTES("\x80\0\0\x1c\x83"
			"127.0.1.1:26000\0a\0b\0\1\x10\3"),
		  true },
		{ BYTES("\x80\0\0\x1c\x83"
			"127.0.0.1:26000\0a\0b\0\1\x10\3"),
		  false },
	};
	struct cache_entry t;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_int_equal(!cache_entry_make(
					 FAMILY_NETQUAKE, form_of(FAMILY_NETQUAKE, 4), "",
					 0, rows[i].reply, rows[i].n, CACHE_TEXT, 1, &t),
				 rows[i].good);
}

static void two_have_to_agree(void **state)
{
	struct cache_entry a, b;

	(void)state;
	assert_null(made(0, "short", BYTES(INFO "short" TAIL), &a));
	assert_null(made(0, "a-longer-one", BYTES(INFO "a-longer-one" TAIL), &b));
	assert_true(cache_entries_agree(&a, &b));
	/* What is further away may change: the map, players. */
	assert_null(made(0, "a-longer-one", BYTES(INFO "a-longer-one" TAIL "\\and\\more"),
			 &b));
	assert_true(cache_entries_agree(&a, &b));
	/* Cut short, or with something between. */
	assert_null(made(0, "a-longer", BYTES(INFO "a-longer-one" TAIL), &b));
	assert_false(cache_entries_agree(&a, &b));
	assert_null(made(0, "a-longer-one", BYTES(INFO "5:a-longer-one" TAIL), &b));
	assert_false(cache_entries_agree(&a, &b));
	assert_null(
		made(0, "short", BYTES(INFO "\\padding\\of\\many\\letters\\short"), &a));
	assert_false(cache_entries_agree(&a, &b));
}

/* The sum of the parts is that of the whole, wherever they begin. */
static void sums_are_those_of_the_whole(void **state)
{
	char text[200], whole[200];

	(void)state;
	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (char)('a' + i % 26);
	memcpy(text, OOB "infoResponse\n", 17);
	for (size_t head = 17; head < 60; head++) {
		for (size_t n = 1; n <= CACHE_NONCE; n++) {
			struct cache_nonce nonce = { .length = (__u32)n };
			__u64 words[25] = { 0 };
			struct cache_entry t;
			size_t length = head + n + 70;

			memcpy(whole, text, length);
			memset(whole + head, '7', 8);
			assert_null(made(0, "77777777", whole, length - n + 8, &t));
			memset(nonce.words, 'Z', n);
			memcpy(words, whole, head);
			memset((char *)words + head, 'Z', n);
			memcpy((char *)words + head + n, whole + head + 8, 70);
			assert_int_equal(
				cache_fold(cache_sum(&t, &t.cuts[0],
						     cache_sum_words(nonce.words, 4),
						     (__u32)n)),
				cache_sum_words(words, 25));
		}
	}
}

/* --- lists of players ----------------------------------------------------------------
 */

#define Q3_HEAD OOB "statusResponse\n\\challenge\\"
#define ROOM	8192

static char list[ROOM], want[ROOM], sent[ROOM];

/* A reply with @players, each line of another length: @head, then @info. Its length. */
static size_t full_server(const char *head, const char *info, int players, bool nul)
{
	size_t n = (size_t)snprintf(list, ROOM, "%s%s\n", head, info);

	for (int i = 0; i < players; i++)
		n += (size_t)snprintf(list + n, ROOM - n, "%d %d \"player%.*s\"\n", i * 7,
				      20 + i % 90, i % 13, "abcdefghijklm");
	return n + nul;
}

/* What cache_send() sends of @t, with @nonce. */
static size_t send_template(const struct cache_entry *t, const char *nonce, __u32 ipv6)
{
	size_t n = strlen(nonce), at = t->head;
	struct cache_cut cut = t->cuts[cache_cut_choose(t, (__u32)n, ipv6)];

	memcpy(sent, t->text, t->head);
	memcpy(sent + at, nonce, n);
	memcpy(sent + at + n, t->text + t->head, cut.tail);
	at += n + cut.tail;
	if (t->ended)
		sent[at++] = 0;
	assert_int_equal(at, cache_length(t, cut.tail, (__u32)n));
	return at;
}

/* As much of @reply as fits @most, in whole lines, but never less than @least. */
static size_t want_of(const char *reply, size_t n, size_t least, bool nul, size_t most)
{
	size_t length = n - nul;

	while (length > least && (length + nul > most || reply[length - 1] != '\n'))
		length--;
	memcpy(want, reply, length);
	want[length] = 0;
	return length + nul;
}

static void assert_sum(const struct cache_entry *t, const char *nonce, __u32 ipv6,
		       size_t n)
{
	__u64 words[ROOM / 8] = { 0 }, letters[CACHE_NONCE / 8] = { 0 };
	__u32 length = (__u32)strlen(nonce);

	memcpy(words, sent, n);
	memcpy(letters, nonce, length);
	assert_int_equal(
		cache_fold(cache_sum(t, &t->cuts[cache_cut_choose(t, length, ipv6)],
				     cache_sum_words(letters, CACHE_NONCE / 8), length)),
		cache_sum_words(words, ROOM / 8));
}

/* Each family's list, of no players up to far more than fit, by each IP version. */
static void full_server_is_cut_at_a_whole_line(void **state)
{
	static const struct {
		enum wire_family family;
		size_t form;
		const char *head;
		bool nul;
	} rows[] = {
		{ FAMILY_QUAKE3, 3, OOB "statusResponse\n", false },
		{ FAMILY_NETQUAKE, 3, OOB "statusResponse\n", false },
		{ FAMILY_QUAKEWORLD, 2, OOB "n", true },
		{ FAMILY_QUAKEWORLD, 2, OOB "n", false },
		{ FAMILY_QUAKE2, 3, OOB "print\n", false },
	};
	static const __u16 mosts[] = { CACHE_TEXT, CACHE_TEXT - 8, 548 };

	(void)state;
	for (size_t r = 0; r < COUNT(rows) * COUNT(mosts); r++) {
		size_t row = r % COUNT(rows);
		__u16 most = mosts[r / COUNT(rows)];

		for (int players = 0; players < 140; players++) {
			size_t n = full_server(rows[row].head, "\\hostname\\a\\b\\c",
					       players, rows[row].nul);
			size_t least = strlen(rows[row].head) + 16;
			struct cache_entry t;

			assert_null(cache_entry_make(rows[row].family,
						     form_of(rows[row].family,
							     rows[row].form),
						     "", 0, list, n, most, 1, &t));
			for (__u32 ipv6 = 0; ipv6 < 2; ipv6++) {
				size_t got = send_template(&t, "", ipv6);

				assert_int_equal(got,
						 want_of(list, n, least, rows[row].nul,
							 most - 20 * ipv6));
				assert_memory_equal(sent, want, got);
				assert_sum(&t, "", ipv6, got);
			}
		}
	}
}

/* The asker's word takes room, too. */
static void list_is_cut_for_each_length_of_nonce(void **state)
{
	static const char letters[] = "zyxwvutsrqponmlkjihgfedcba098765";
	char nonce[CACHE_NONCE + 1], head[100];

	(void)state;
	for (int players = 40; players < 80; players++) {
		struct cache_entry t;
		size_t n =
			full_server(Q3_HEAD "Nonce123", "\\hostname\\a", players, false);

		assert_null(made(1, "Nonce123", list, n, &t));
		assert_true(cache_entries_agree(&t, &t));
		for (size_t length = 1; length <= CACHE_NONCE; length++) {
			snprintf(nonce, sizeof(nonce), "%.*s", (int)length, letters);
			snprintf(head, sizeof(head), Q3_HEAD "%s", nonce);
			n = full_server(head, "\\hostname\\a", players, false);
			for (__u32 ipv6 = 0; ipv6 < 2; ipv6++) {
				size_t got = send_template(&t, nonce, ipv6);

				assert_int_equal(got,
						 want_of(list, n, strlen(head) + 12,
							 false, CACHE_TEXT - 20 * ipv6));
				assert_memory_equal(sent, want, got);
				assert_sum(&t, nonce, ipv6, got);
			}
		}
	}
}

/* What a server says of itself is never cut: where that does not fit, nothing is kept. */
static void what_is_said_of_the_server_is_not_cut(void **state)
{
	static char info[CACHE_TEXT + 1];
	struct cache_entry t;
	size_t n;

	(void)state;
	memset(info, 'x', sizeof(info) - 1);
	memcpy(info, "\\k\\", 3);
	info[CACHE_TEXT - 19] = 0;
	n = full_server(OOB "statusResponse\n", info, 3, false);
	assert_non_null(made(3, "", list, n, &t));
	info[CACHE_TEXT - 20] = 0;
	n = full_server(OOB "statusResponse\n", info, 3, false);
	assert_null(made(3, "", list, n, &t));
	assert_int_equal(send_template(&t, "", 0), CACHE_TEXT);
	/* In IPv6 it has no room, and no place at which to cut it. */
	assert_true(send_template(&t, "", 1) > CACHE_TEXT - CACHE_IPV6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_question_fits),
		cmocka_unit_test(each_query_finds_its_form),
		cmocka_unit_test(it_asks_what_browsers_ask),
		cmocka_unit_test(questions_are_written),
		cmocka_unit_test(a_nonce_is_cut_out),
		cmocka_unit_test(what_cannot_be_a_template),
		cmocka_unit_test(none_that_was_meant_for_this_machine_alone),
		cmocka_unit_test(two_have_to_agree),
		cmocka_unit_test(sums_are_those_of_the_whole),
		cmocka_unit_test(full_server_is_cut_at_a_whole_line),
		cmocka_unit_test(list_is_cut_for_each_length_of_nonce),
		cmocka_unit_test(what_is_said_of_the_server_is_not_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
