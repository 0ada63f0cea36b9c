// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The qport and the challenge in Quake III's `connect`, read by steps, against the whole
 * text as lib/huffman.c reads it and a search for the keys that knows nothing of steps.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <cmocka.h>

#include "lib/huffman.h"
#include "rounds.h"
#include "userinfo.h"

static struct userinfo info;
static uint32_t steps;

/* What is found, or 0. */
static uint8_t read_code(const uint8_t *code, size_t n)
{
	/* What the one before has left there must not matter. */
	memcpy(info.in, code, n < USERINFO_IN ? n : USERINFO_IN);
	steps = 0;
	if (!userinfo_begin(&info, (uint32_t)n))
		return 0;
	while (steps++ < USERINFO_STEPS && userinfo_step(&info))
		;
	assert_true(steps < USERINFO_STEPS);
	return info.has;
}

static uint8_t read_text(const char *text)
{
	uint8_t code[4096];
	int n = huffman_adaptive_encode((const uint8_t *)text, strlen(text), code,
					sizeof(code));

	assert_true(n > 0);
	return read_code(code, (size_t)n);
}

static void found(const char *text, int qport, int64_t challenge)
{
	uint8_t want = (uint8_t)((qport >= 0 ? USERINFO_QPORT : 0) |
				 (challenge != INT64_MAX ? USERINFO_CHALLENGE : 0));

	if (read_text(text) != want)
		fail_msg("%s: has %u, not %u", text, info.has, want);
	if (qport >= 0)
		assert_int_equal(info.qport, qport);
	if (challenge != INT64_MAX)
		assert_int_equal((int32_t)info.challenge, (int32_t)challenge);
}

#define NONE INT64_MAX

static void values_are_read(void **state)
{
	(void)state;
	/* As ioquake3 and as Quake3e write it: in front of the rest, and behind. */
	found("\"\\challenge\\-599707232\\qport\\60703\\protocol\\71\\name\\alice\"",
	      60703, -599707232);
	found("\"\\name\\bob\\protocol\\71\\qport\\7\\challenge\\1685395174\"", 7,
	      1685395174);
	found("\"challenge\\1\\qport\\2\"", 2, 1);
	found("\"\\qport\\0\\challenge\\0\"", 0, 0);
	found("\"\\qport\\65535\\challenge\\4294967295\"", 65535, 4294967295);
	found("\"\\qport\\65536\\challenge\\4294967296\"", -1, NONE);
	found("\"\\qport\\1\\challenge\\-2147483648\"", 1, -2147483648ll);
	found("\"\\qport\\1\\challenge\\-2147483649\"", 1, NONE);
	found("\"\\qport\\-1\\challenge\\9999999999\"", -1, NONE);
	found("\"\\qport\\0000000012\\challenge\\00000000012\"", 12, NONE);
	/* The first of two, in any letters; nothing else is taken for them. */
	found("\"\\QPort\\5\\qport\\6\\CHALLENGE\\7\\challenge\\8\"", 5, 7);
	found("\"\\xqport\\5\\qports\\6\\aqport\\3\\qpor\\9\\challeng\\4\"", -1, NONE);
	found("\"\\dhallenge\\5\\xchallenge\\6\\hallenge\\7\\qport\\1\"", 1, NONE);
	found("\"\\qport\\\\challenge\\5\"", -1, 5);
	found("\"\\qport\\-\\challenge\\--5\"", -1, NONE);
	found("\"\\qport\\12a\\challenge\\5 \"", -1, NONE);
	found("\"\\qport\\x\\qport\\5\\challenge\\6\"", 5, 6);
	/* Nothing behind the quote, and nothing without one in front. */
	found("\"\\qport\\5\"\\challenge\\6\"", 5, NONE);
	found("\\qport\\5\\challenge\\6\"", -1, NONE);
	found("\"\\qport\\5\\challenge\\6", 5, NONE);
	found("\"\"", -1, NONE);
	found("\"\\\"", -1, NONE);
}

/* The value of the first such key, by another way. */
static bool naive(const char *text, const char *key, long long *ret)
{
	char copy[2048], *at = copy, *name, *value;

	if (text[0] != '"')
		return false;
	snprintf(copy, sizeof(copy), "%s", text + 1);
	at[strcspn(at, "\"")] = '\0';
	if (*at == '\\')
		at++;
	while ((name = strsep(&at, "\\")) && (value = strsep(&at, "\\")))
		if (!strcasecmp(name, key)) {
			*ret = strtoll(value, NULL, 10);
			return true;
		}
	return false;
}

/* As many letters as a userinfo can have, of which all are seen. */
static int userinfo_make(char *text, size_t size, uint16_t qport, uint32_t challenge)
{
	int n = snprintf(text, size, "\""), place = rand() % 3, length = rand() % 900;

	if (place == 0)
		n += snprintf(text + n, size - (size_t)n, "\\challenge\\%d\\qport\\%u",
			      (int32_t)challenge, qport);
	for (int i = 0; n < length; i++) {
		n += snprintf(text + n, size - (size_t)n, "\\key%d\\", i);
		for (int k = rand() % 40; k > 0; k--) {
			char c = (char)(' ' + rand() % 95);

			text[n++] = c == '"' || c == '\\' || c == ';' ? '.' : c;
		}
	}
	if (place)
		n += snprintf(text + n, size - (size_t)n, "\\qport\\%u\\challenge\\%d",
			      qport, (int32_t)challenge);
	n += snprintf(text + n, size - (size_t)n, "\"");
	return n;
}

static void random_ones_are_read(void **state)
{
	uint32_t most = 0;

	(void)state;
	srand(7);
	for (unsigned int round = rounds_of(3000); round; round--) {
		uint32_t challenge = (uint32_t)rand() << 8 ^ (uint32_t)rand();
		uint16_t qport = (uint16_t)rand();
		uint8_t code[2048];
		char text[1200];
		long long want;
		int n = userinfo_make(text, sizeof(text), qport, challenge);

		n = huffman_adaptive_encode((uint8_t *)text, (size_t)n, code,
					    sizeof(code));
		assert_in_range(n, 3, USERINFO_IN);
		assert_int_equal(read_code(code, (size_t)n), USERINFO_ALL);
		assert_true(naive(text, "qport", &want) && info.qport == want);
		assert_true(naive(text, "challenge", &want) &&
			    (int32_t)info.challenge == want);
		most = steps > most ? steps : most;
	}
	/* Of what the kernel allows, as much again has to be left. */
	assert_in_range(most, 1000, USERINFO_STEPS / 2);
}

/* Damaged ones end, read no byte too many, and say nothing that is not there. */
static void damage_is_survived(void **state)
{
	uint8_t code[2048], text[8192];
	char made[1200];

	(void)state;
	srand(9);
	for (unsigned int round = rounds_of(20000); round; round--) {
		int n = userinfo_make(made, sizeof(made), 12345, 7), out;
		long long want;
		size_t cut;

		n = huffman_adaptive_encode((uint8_t *)made, (size_t)n, code,
					    sizeof(code));
		assert_in_range(n, 3, USERINFO_IN);
		cut = rand() % 4 ? (size_t)n : (size_t)(rand() % n);
		for (int i = rand() % 4; i > 0 && cut; i--)
			code[(size_t)rand() % cut] ^= (uint8_t)(1 << rand() % 8);
		read_code(code, cut);
		out = huffman_adaptive_decode(code, cut, text, sizeof(text) - 1);
		if (out < 0)
			continue;
		text[out] = '\0';
		/* Engines stop at a NUL; one of our own stops nobody. */
		if (memchr(text, 0, (size_t)out))
			continue;
		if (info.has & USERINFO_QPORT && naive((char *)text, "qport", &want))
			assert_int_equal(info.qport, (uint16_t)want);
	}
}

/* Every octet that there is: no more than 127 have a place, and that is all that ends. */
static void too_many_letters_end_it(void **state)
{
	uint8_t text[300] = "\"\\", code[2048];
	size_t n = 2;
	int made;

	(void)state;
	for (int c = 1; c < 256; c++)
		if (c != '"' && c != '\\')
			text[n++] = (uint8_t)c;
	memcpy(text + n, "\\1\\qport\\5\"", 11);
	made = huffman_adaptive_encode(text, n + 11, code, sizeof(code));
	assert_true(made > 0);
	assert_int_equal(read_code(code, (size_t)made), 0);
	/* As many as have one, and all of them again. */
	n = 2;
	for (int c = 1; c < 128; c++)
		if (c != '"' && c != '\\')
			text[n++] = (uint8_t)c;
	memcpy(text + n, "\\1\\qport\\5\"", 11);
	made = huffman_adaptive_encode(text, n + 11, code, sizeof(code));
	assert_true(made > 0);
	assert_int_equal(read_code(code, (size_t)made), USERINFO_QPORT);
}

static void there_are_limits(void **state)
{
	static const uint8_t none[] = { 0, 0, 0x44, 0x44 }, one[] = { 0, 1, 0x44 };
	uint8_t code[USERINFO_IN + 1] = { 4, 0 };

	(void)state;
	assert_int_equal(read_code(none, 4), 0);
	assert_int_equal(steps, 0);
	assert_int_equal(read_code(one, 2), 0);
	assert_int_equal(steps, 0);
	assert_int_equal(read_code(one, 3), 0);
	assert_int_equal(steps, 1);
	read_code(code, USERINFO_IN);
	assert_true(steps > 0);
	read_code(code, USERINFO_IN + 1);
	assert_int_equal(steps, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_read),
		cmocka_unit_test(random_ones_are_read),
		cmocka_unit_test(damage_is_survived),
		cmocka_unit_test(too_many_letters_end_it),
		cmocka_unit_test(there_are_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
