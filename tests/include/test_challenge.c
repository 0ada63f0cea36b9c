// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What is said when an address has to prove itself, text for text; and which requests
 * cannot be made an echo, for a client would not send the same again.
 */
#include <regex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "challenge.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define MARK	 "\xff\xff\xff\xff"
#define LETTERS	 "7abcdefg" /* as if made of a cookie */

static struct challenge_text text_of(const char *words)
{
	struct challenge_text t = { { 0 } };

	assert_true(strlen(words) <= CHALLENGE_TEXT - 4);
	memcpy(t.at, MARK, 4);
	memcpy(t.at + 4, words, strlen(words));
	return t;
}

static __u32 folded(__u64 sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (__u32)sum;
}

/*
 * Write the echo of @form with @letters over the request of @n bytes in @t, which ends
 * where its frame does. Returns its length, or 0 if there is none. The sum that goes into
 * its checksum is that of all its words.
 */
static __u32 echo_of(struct challenge_text *t, enum cookie_form form, __u32 n,
		     __u64 letters)
{
	__u32 length = challenge_length(FAMILY_QUAKE3, form, n);
	struct challenge_words said;
	__u64 sum, all = 0;
	int rest;

	challenge_echo(form, letters, &said);
	sum = challenge_sum(said.words[0]) + challenge_sum(said.words[1]);
	if (form == COOKIE_ARGUED) {
		rest = challenge_arguments(t->at, t->at + n, n, (__u8)said.words[2]);
		if (rest < 0)
			return 0;
		sum += (__u64)rest;
	} else {
		memset(t->at + 4, 0, sizeof(t->at) - 4);
		sum += challenge_sum(said.words[2]);
	}
	assert_false(challenge_store(t->at, t->at + CHALLENGE_BARE_N - 1, form, length,
				     &said));
	assert_true(challenge_store(t->at, t->at + length, form, length, &said));
	for (size_t i = 0; i < CHALLENGE_TEXT; i += 8)
		all += challenge_sum(load_u64(t->at + i));
	assert_int_equal(folded(sum), folded(all));
	return length;
}

static void requests_become_echoes(void **state)
{
	static const struct {
		enum wire_kind kind;
		const char *request, *echo; /* NULL: none can be made of it */
	} rows[] = {
		{ KIND_GETCHALLENGE, "getchallenge", "echo 7abcdefg" },
		{ KIND_GETCHALLENGE, "getchallenge 0", "echo 7abcdefg0" },
		{ KIND_GETCHALLENGE, "getchallenge 909", "echo 7abcdefg909" },
		{ KIND_GETCHALLENGE, "getchallenge 123 Quake3Arena",
		  "echo 7abcdefg123xQuake3Arena" },
		{ KIND_GETCHALLENGE, "getchallenge -12 a_b-c.d",
		  "echo 7abcdefgn12xa_b-c.d" },
		/* The first is a number, whose end the blank is. */
		{ KIND_GETCHALLENGE, "getchallenge Quake3Arena", NULL },
		{ KIND_GETCHALLENGE, "getchallenge 12a Quake3Arena", NULL },
		{ KIND_GETCHALLENGE, "getchallenge 12- Quake3Arena", NULL },
		/* One word behind it, of what a token is made of. */
		{ KIND_GETCHALLENGE, "getchallenge 12 Quake3 Arena", NULL },
		{ KIND_GETCHALLENGE, "getchallenge 12 Quake;quit", NULL },
		{ KIND_GETCHALLENGE, "getchallenge 12 \"a\"", NULL },
		{ KIND_GETCHALLENGE, "getchallenge\t12", NULL },
		{ KIND_GETINFO, "getinfo something long", "echo 7abcdefgi" },
		{ KIND_GETSTATUS, "getstatus", "echo 7abcdefgs" },
	};
	__u64 letters;

	(void)state;
	memcpy(&letters, LETTERS, sizeof(letters));
	for (size_t i = 0; i < COUNT(rows); i++) {
		__u32 n = (__u32)strlen(rows[i].request) + 4, said;
		struct challenge_text t = text_of(rows[i].request), want;

		said = echo_of(&t, challenge_form(FAMILY_QUAKE3, rows[i].kind, n), n,
			       letters);
		if (!rows[i].echo) {
			if (said)
				fail_msg("%s", rows[i].request);
			continue;
		}
		/* Of the bare one the last letter has no room. */
		want = text_of(rows[i].echo);
		if (n == CHALLENGE_BARE_N)
			want.at[CHALLENGE_BARE_N] = 0;
		assert_int_equal(said,
				 n == CHALLENGE_BARE_N ? n : strlen(rows[i].echo) + 4);
		assert_memory_equal(t.at, want.at, CHALLENGE_TEXT);
	}
}

static void requests_of_five_kinds_have_a_challenge(void **state)
{
	static const struct {
		enum wire_family family;
		enum wire_kind kind;
		enum cookie_form form;
		bool echoes;
	} rows[] = {
		{ FAMILY_QUAKE3, KIND_GETCHALLENGE, COOKIE_ARGUED, true },
		{ FAMILY_QUAKE3, KIND_GETINFO, COOKIE_INFO, true },
		{ FAMILY_QUAKE3, KIND_GETSTATUS, COOKIE_STATUS, true },
		{ FAMILY_QUAKE2, KIND_GETCHALLENGE, COOKIE_NUMBER, false },
		{ FAMILY_QUAKE2, KIND_INFO, COOKIE_INFO, true },
		{ FAMILY_QUAKE2, KIND_STATUS, COOKIE_STATUS, true },
		{ FAMILY_QUAKEWORLD, KIND_GETCHALLENGE, COOKIE_NUMBER, false },
		{ FAMILY_NETQUAKE, KIND_GETCHALLENGE, COOKIE_TEXT, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(challenge_form(rows[i].family, rows[i].kind, 40),
				 rows[i].form);
		assert_int_equal(form_echoes(rows[i].form), rows[i].echoes);
	}
	for (int kind = 0; kind < KIND_COUNT; kind++)
		assert_int_equal(challenge_form(FAMILY_QUAKE3, (enum wire_kind)kind,
						40) != 0,
				 kind == KIND_GETCHALLENGE || kind == KIND_GETINFO ||
					 kind == KIND_GETSTATUS || kind == KIND_INFO ||
					 kind == KIND_STATUS);
}

/*
 * A request that an echo cannot carry is not challenged: a Quake II server answers
 * another number otherwise, and no client sends more text. The frame may end with the
 * text.
 */
static void queries_of_quake2_are_carried_as_clients_send_them(void **state)
{
	static const struct {
		enum wire_kind kind;
		const char *words;
		bool carried;
	} rows[] = {
		{ KIND_INFO, "info 34", true },	   { KIND_INFO, "info 35", false },
		{ KIND_INFO, "info 24", false },   { KIND_INFO, "info 3", false },
		{ KIND_INFO, "info", false },	   { KIND_INFO, "info 34\n", false },
		{ KIND_INFO, "info 344", false },  { KIND_INFO, "INFO 34", false },
		{ KIND_INFO, "info\t34", false },  { KIND_INFO, "info  34", false },
		{ KIND_STATUS, "status", true },   { KIND_STATUS, "status\n", false },
		{ KIND_STATUS, "STATUS", false },  { KIND_STATUS, "status 23\n", false },
		{ KIND_GETINFO, "getinfo", true },
	};
	struct challenge_text t;
	__u32 n;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		t = text_of(rows[i].words);
		n = (__u32)strlen(rows[i].words) + 4;
		if (challenge_carries(rows[i].kind, t.at, t.at + n, n) != rows[i].carried)
			fail_msg("%s", rows[i].words);
	}
	t = text_of("info 34");
	assert_false(challenge_carries(KIND_INFO, t.at, t.at + INFO_N - 1, INFO_N));
	memset(t.at + INFO_N, 0xaa, sizeof(t.at) - INFO_N);
	assert_true(challenge_carries(KIND_INFO, t.at, t.at + 18, INFO_N));
}

/* The return of an echo becomes the query of its family, with zeros after it. */
static void echoes_become_queries(void **state)
{
	static const struct {
		enum wire_family family;
		enum cookie_form form;
		const char *query;
	} rows[] = {
		{ FAMILY_QUAKE3, COOKIE_INFO, "getinfo xxx" },
		{ FAMILY_QUAKE3, COOKIE_STATUS, "getstatus" },
		{ FAMILY_QUAKE2, COOKIE_INFO, "info 34" },
		{ FAMILY_QUAKE2, COOKIE_STATUS, "status" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct challenge_text t = text_of(LETTERS "i"),
				      want = text_of(rows[i].query);

		assert_int_equal(rewrite_echo(&t, rows[i].family, rows[i].form, 13),
				 strlen(rows[i].query) + 4);
		assert_memory_equal(t.at, want.at, CHALLENGE_TEXT);
	}
}

/*
 * Every octet at every place behind `getchallenge `, in requests of every length: those
 * become echoes that a regular expression takes, with the first blank an `x`, and no
 * others.
 */
static void arguments_are_a_number_and_a_name(void **state)
{
	static const char base[] =
		"getchallenge -123456789012 Quake3Arena_-.azAZ09Q3TA-1.2.3.45";
	regex_t good;
	size_t echoes = 0;

	(void)state;
	assert_int_equal(regcomp(&good, "^getchallenge [-0-9][0-9]*( [A-Za-z0-9_.-]*)?$",
				 REG_EXTENDED | REG_NOSUB),
			 0);
	for (size_t n = CHALLENGE_ARGUED_AT + 1; n <= CHALLENGE_TEXT; n++)
		for (size_t at = CHALLENGE_ARGUED_AT; at < n; at++)
			for (int octet = 0; octet < 256; octet++) {
				char words[CHALLENGE_TEXT] = "", *blank;
				struct challenge_text t, want;
				__u32 said;

				memcpy(words, base, n - 4);
				words[at - 4] = (char)octet;
				t = want = text_of(words);
				memcpy(t.at + 4, words, n - 4);
				said = echo_of(&t, COOKIE_ARGUED, (__u32)n, 0);
				if (!octet || regexec(&good, words, 0, NULL, 0)) {
					assert_int_equal(said, 0);
					continue;
				}
				echoes++;
				assert_int_equal(said, n);
				blank = strchr((char *)want.at + CHALLENGE_ARGUED_AT,
					       ' ');
				if (blank)
					*blank = 'x';
				if (want.at[CHALLENGE_ARGUED_AT] == '-')
					want.at[CHALLENGE_ARGUED_AT] = 'n';
				assert_memory_equal(t.at + CHALLENGE_ARGUED_AT,
						    want.at + CHALLENGE_ARGUED_AT,
						    CHALLENGE_TEXT - CHALLENGE_ARGUED_AT);
			}
	regfree(&good);
	assert_true(echoes > 10000);
}

/* Each family's challenge, as its engine's own: what is written, and how long it is. */
static void challenges_are_spelled_as_the_engines_do(void **state)
{
	static const struct {
		enum wire_family family;
		const char *text;
		size_t n;
	} rows[] = {
		{ FAMILY_QUAKEWORLD, MARK "c1234567890", 16 },
		{ FAMILY_QUAKE2, MARK "challenge 1234567890", 24 },
		{ FAMILY_NETQUAKE, MARK "challenge 1234567890", 24 },
	};
	struct challenge_text t, padded;
	struct challenge_words said;
	__u64 more, first = cookie_digits(1234567890, &more);
	__u32 n;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		n = challenge_length(rows[i].family, COOKIE_NUMBER, 17);
		assert_int_equal(n, rows[i].n);
		challenge_ten(rows[i].family, first, more, &said);
		memset(&t, 0xaa, sizeof(t));
		assert_true(challenge_store(t.at, t.at + n, COOKIE_NUMBER, n, &said));
		assert_memory_equal(t.at, rows[i].text, rows[i].n);
		assert_int_equal(t.at[n], 0xaa);
		/* Padding to the least frame's length becomes zeros. */
		memset(&padded, 0xaa, sizeof(padded));
		assert_true(challenge_store(padded.at, padded.at + 18, COOKIE_NUMBER, n,
					    &said) == (n == 16));
		if (n != 16)
			continue;
		assert_memory_equal(padded.at + 16, "\0\0\xaa", 3);
		padded.at[16] = 0xaa;
		assert_true(challenge_store(padded.at, padded.at + 17, COOKIE_NUMBER, n,
					    &said));
		assert_memory_equal(padded.at + 16, "\0\0\xaa", 3);
	}
}

/* Of what comes back length and one octet tell the form; a bare one has no eighth letter.
 */
static void forms_come_back(void **state)
{
	static const struct {
		__u8 behind;
		__u32 length;
		enum cookie_form form; /* of Quake III */
	} rows[] = {
		{ 'i', ECHO_BACK_N, COOKIE_BARE },
		{ 0, ECHO_BACK_AT + ECHO_LETTERS, 0 },
		{ 'i', ECHO_BACK_AT + ECHO_LETTERS + 1, COOKIE_INFO },
		{ 's', ECHO_BACK_AT + ECHO_LETTERS + 1, COOKIE_STATUS },
		{ '0', ECHO_BACK_AT + ECHO_LETTERS + 1, COOKIE_ARGUED },
		{ 'i', ECHO_BACK_AT + ECHO_LETTERS + 2, COOKIE_ARGUED },
		{ 's', ECHO_BACK_AT + ECHO_LETTERS + 2, COOKIE_ARGUED },
		{ '0', CHALLENGE_TEXT - 5, COOKIE_ARGUED },
		{ '0', CHALLENGE_TEXT - 4, 0 },
	};
	struct challenge_text t = { { 0 } };
	__u64 letters;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		for (int family = 0; family < FAMILY_COUNT; family++) {
			bool query = rows[i].form == COOKIE_INFO ||
				     rows[i].form == COOKIE_STATUS;

			if (echo_form((enum wire_family)family, rows[i].behind,
				      rows[i].length) !=
			    (query || family == FAMILY_QUAKE3 ? rows[i].form : 0))
				fail_msg("%zu of %d", i, family);
		}
	memcpy(t.at + ECHO_BACK_AT, LETTERS, 8);
	letters = echo_letters(&t, COOKIE_ARGUED);
	assert_memory_equal(&letters, LETTERS, 8);
	letters = echo_letters(&t, COOKIE_BARE);
	assert_memory_equal(&letters, "7abcdef", 8);
}

/* The end of a connect: its challenge's first eight characters, and the two behind. */
static void challenges_stand_at_the_end(void **state)
{
	static const char *const bad[] = { "\\challengf\\7abcdefgXY",
					   "/challenge\\7abcdefgXY",
					   "\\challenge/7abcdefgXY" };
	__u64 letters = ~0ull, want;
	__u32 more;

	(void)state;
	memcpy(&want, LETTERS, sizeof(want));
	assert_true(
		connect_tail((const __u8 *)"\\challenge\\7abcdefgXY", &letters, &more));
	assert_true(letters == want);
	assert_int_equal(more, 'X' | 'Y' << 8);
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_false(connect_tail((const __u8 *)bad[i], &letters, &more));
}

static void numbers_have_ten_digits_and_a_blank(void **state)
{
	static const struct {
		const char *text;
		__u32 number;
	} rows[] = {
		{ "1234567890 ", 1234567890 }, { "4294967295 ", 4294967295u },
		{ "4294967296 ", 0 },	       { "9999999999 ", 0 },
		{ "0000000001 ", 1 },	       { "1234567890x", 0 },
		{ "12345678901", 0 },	       { "123456789  ", 0 },
		{ "12345:7890 ", 0 },	       { "/234567890 ", 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_int_equal(connect_number((const __u8 *)rows[i].text),
				 rows[i].number);
}

/* Where the third number of a `connect` begins. */
static void the_third_number_is_found(void **state)
{
	static const struct {
		const char *words;
		__u32 at;
	} rows[] = {
		{ "connect 28 4660 1234567890 \"\"", 20 },
		{ "connect 34 1 1234567890 \"\"", 17 },
		{ "connect 34 65535 1234567890 \"\"", 21 },
		{ "connect 3x 4660 1234567890 \"\"", 0 },
		{ "connect 28 46x0 1234567890 \"\"", 0 },
		{ "connect_28 4660 1234567890 \"\"", 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct challenge_text t = text_of(rows[i].words);

		assert_int_equal(connect_number_at(&t), rows[i].at);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_become_echoes),
		cmocka_unit_test(requests_of_five_kinds_have_a_challenge),
		cmocka_unit_test(queries_of_quake2_are_carried_as_clients_send_them),
		cmocka_unit_test(echoes_become_queries),
		cmocka_unit_test(arguments_are_a_number_and_a_name),
		cmocka_unit_test(challenges_are_spelled_as_the_engines_do),
		cmocka_unit_test(forms_come_back),
		cmocka_unit_test(challenges_stand_at_the_end),
		cmocka_unit_test(numbers_have_ten_digits_and_a_blank),
		cmocka_unit_test(the_third_number_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
