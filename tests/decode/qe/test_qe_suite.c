// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_qe_suite.c - the table of cipher suites against two others: the numbers of
 * `openssl ciphers -V ALL:COMPLEMENTOFALL` (OpenSSL 3.0), and what a name says by itself.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <openssl/evp.h>

#include "decode/qe/qe_suite.h"

static const struct {
	uint16_t code;
	const char *name;
} known[] = {
	{ 0x002c, "PSK-NULL-SHA" },
	{ 0x002d, "DHE-PSK-NULL-SHA" },
	{ 0x002e, "RSA-PSK-NULL-SHA" },
	{ 0x008c, "PSK-AES128-CBC-SHA" },
	{ 0x008d, "PSK-AES256-CBC-SHA" },
	{ 0x0090, "DHE-PSK-AES128-CBC-SHA" },
	{ 0x0091, "DHE-PSK-AES256-CBC-SHA" },
	{ 0x0094, "RSA-PSK-AES128-CBC-SHA" },
	{ 0x0095, "RSA-PSK-AES256-CBC-SHA" },
	{ 0x00a8, "PSK-AES128-GCM-SHA256" },
	{ 0x00a9, "PSK-AES256-GCM-SHA384" },
	{ 0x00aa, "DHE-PSK-AES128-GCM-SHA256" },
	{ 0x00ab, "DHE-PSK-AES256-GCM-SHA384" },
	{ 0x00ac, "RSA-PSK-AES128-GCM-SHA256" },
	{ 0x00ad, "RSA-PSK-AES256-GCM-SHA384" },
	{ 0x00ae, "PSK-AES128-CBC-SHA256" },
	{ 0x00af, "PSK-AES256-CBC-SHA384" },
	{ 0x00b0, "PSK-NULL-SHA256" },
	{ 0x00b1, "PSK-NULL-SHA384" },
	{ 0x00b2, "DHE-PSK-AES128-CBC-SHA256" },
	{ 0x00b3, "DHE-PSK-AES256-CBC-SHA384" },
	{ 0x00b4, "DHE-PSK-NULL-SHA256" },
	{ 0x00b5, "DHE-PSK-NULL-SHA384" },
	{ 0x00b6, "RSA-PSK-AES128-CBC-SHA256" },
	{ 0x00b7, "RSA-PSK-AES256-CBC-SHA384" },
	{ 0x00b8, "RSA-PSK-NULL-SHA256" },
	{ 0x00b9, "RSA-PSK-NULL-SHA384" },
	{ 0xc02b, "ECDHE-ECDSA-AES128-GCM-SHA256" },
	{ 0xc02c, "ECDHE-ECDSA-AES256-GCM-SHA384" },
	{ 0xc02f, "ECDHE-RSA-AES128-GCM-SHA256" },
	{ 0xc030, "ECDHE-RSA-AES256-GCM-SHA384" },
	{ 0xc035, "ECDHE-PSK-AES128-CBC-SHA" },
	{ 0xc036, "ECDHE-PSK-AES256-CBC-SHA" },
	{ 0xc037, "ECDHE-PSK-AES128-CBC-SHA256" },
	{ 0xc038, "ECDHE-PSK-AES256-CBC-SHA384" },
	{ 0xc039, "ECDHE-PSK-NULL-SHA" },
	{ 0xc03a, "ECDHE-PSK-NULL-SHA256" },
	{ 0xc03b, "ECDHE-PSK-NULL-SHA384" },
	{ 0xc06a, "PSK-ARIA128-GCM-SHA256" },
	{ 0xc06b, "PSK-ARIA256-GCM-SHA384" },
	{ 0xc06c, "DHE-PSK-ARIA128-GCM-SHA256" },
	{ 0xc06d, "DHE-PSK-ARIA256-GCM-SHA384" },
	{ 0xc06e, "RSA-PSK-ARIA128-GCM-SHA256" },
	{ 0xc06f, "RSA-PSK-ARIA256-GCM-SHA384" },
	{ 0xc094, "PSK-CAMELLIA128-SHA256" },
	{ 0xc095, "PSK-CAMELLIA256-SHA384" },
	{ 0xc096, "DHE-PSK-CAMELLIA128-SHA256" },
	{ 0xc097, "DHE-PSK-CAMELLIA256-SHA384" },
	{ 0xc098, "RSA-PSK-CAMELLIA128-SHA256" },
	{ 0xc099, "RSA-PSK-CAMELLIA256-SHA384" },
	{ 0xc09a, "ECDHE-PSK-CAMELLIA128-SHA256" },
	{ 0xc09b, "ECDHE-PSK-CAMELLIA256-SHA384" },
	{ 0xc0a4, "PSK-AES128-CCM" },
	{ 0xc0a5, "PSK-AES256-CCM" },
	{ 0xc0a6, "DHE-PSK-AES128-CCM" },
	{ 0xc0a7, "DHE-PSK-AES256-CCM" },
	{ 0xc0a8, "PSK-AES128-CCM8" },
	{ 0xc0a9, "PSK-AES256-CCM8" },
	{ 0xc0aa, "DHE-PSK-AES128-CCM8" },
	{ 0xc0ab, "DHE-PSK-AES256-CCM8" },
	{ 0xcca8, "ECDHE-RSA-CHACHA20-POLY1305" },
	{ 0xcca9, "ECDHE-ECDSA-CHACHA20-POLY1305" },
	{ 0xccab, "PSK-CHACHA20-POLY1305" },
	{ 0xccac, "ECDHE-PSK-CHACHA20-POLY1305" },
	{ 0xccad, "DHE-PSK-CHACHA20-POLY1305" },
	{ 0xccae, "RSA-PSK-CHACHA20-POLY1305" },
};

#define COUNT (sizeof(known) / sizeof(*known))

static bool has(const char *name, const char *part)
{
	return strstr(name, part) != NULL;
}

static bool begins(const char *name, const char *with)
{
	return strncmp(name, with, strlen(with)) == 0;
}

static bool ends(const char *name, const char *with)
{
	return strlen(name) >= strlen(with) &&
	       strcmp(name + strlen(name) - strlen(with), with) == 0;
}

static enum qe_kx kx_by_name(const char *name)
{
	if (begins(name, "ECDHE-RSA-") || begins(name, "ECDHE-ECDSA-"))
		return QE_KX_CERTIFICATE;
	if (begins(name, "ECDHE-PSK-"))
		return QE_KX_ECDHE_PSK;
	if (begins(name, "DHE-PSK-"))
		return QE_KX_DHE_PSK;
	if (begins(name, "RSA-PSK-"))
		return QE_KX_RSA_PSK;
	assert_true(begins(name, "PSK-"));
	return QE_KX_PSK;
}

static enum qe_mode mode_by_name(const char *name)
{
	if (has(name, "NULL"))
		return QE_NULL;
	if (has(name, "GCM"))
		return QE_GCM;
	if (ends(name, "CCM8"))
		return QE_CCM8;
	if (ends(name, "CCM"))
		return QE_CCM;
	return has(name, "CHACHA20") ? QE_CHACHA : QE_CBC;
}

/* Camellia's names do not say that it is in CBC. */
static void cipher_by_name(const struct qe_suite *s)
{
	static const char *const of[] = { "AES", "ARIA", "CAMELLIA" };
	static const char *const modes[] = { "", "CBC", "GCM", "CCM", "CCM", "" };
	char part[32], want[32] = "";
	EVP_CIPHER *cipher;

	if (s->mode == QE_NULL) {
		assert_null(s->cipher);
		assert_int_equal(s->key_n, 0);
		return;
	}
	if (s->mode == QE_CHACHA)
		strcpy(want, "ChaCha20-Poly1305");
	for (size_t i = 0; i < 3; i++) {
		for (int bits = 128; bits <= 256; bits += 128) {
			snprintf(part, sizeof(part), "-%s%d-", of[i], bits);
			if (has(s->name, part))
				snprintf(want, sizeof(want), "%s-%d-%s", of[i], bits,
					 modes[s->mode]);
		}
	}
	assert_string_equal(s->cipher, want);
	cipher = EVP_CIPHER_fetch(NULL, s->cipher, NULL);
	assert_non_null(cipher);
	assert_int_equal(s->key_n, EVP_CIPHER_get_key_length(cipher));
	EVP_CIPHER_free(cipher);
}

static size_t mac_by_name(const struct qe_suite *s)
{
	if (s->mode != QE_NULL && s->mode != QE_CBC)
		return 0;
	if (ends(s->name, "-SHA256"))
		return 32;
	if (ends(s->name, "-SHA384"))
		return 48;
	assert_true(ends(s->name, "-SHA"));
	return 20;
}

static void test_each_is_what_its_name_says(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT; i++) {
		const struct qe_suite *s = qe_suite_find(known[i].code);

		assert_non_null(s);
		assert_int_equal(s->code, known[i].code);
		assert_string_equal(s->name, known[i].name);
		assert_int_equal(s->kx, kx_by_name(s->name));
		assert_int_equal(s->mode, mode_by_name(s->name));
		cipher_by_name(s);
		assert_int_equal(s->mac_n, mac_by_name(s));
		assert_int_equal(s->sha384, ends(s->name, "-SHA384"));
	}
}

static void test_no_others(void **state)
{
	size_t found = 0;

	(void)state;
	for (unsigned int code = 0; code <= UINT16_MAX; code++)
		found += qe_suite_find((uint16_t)code) != NULL;
	assert_int_equal(found, COUNT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_is_what_its_name_says),
		cmocka_unit_test(test_no_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
