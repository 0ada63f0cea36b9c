// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Cookies: the hash against libcrypto's, the spellings against printf and RFC 4648, and
 * what a cookie is not good for: another address, port, service, form or time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <openssl/evp.h>

#include "cookie.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define EPOCH	 (1ull << COOKIE_EPOCH_BITS)
#define NOW	 (12345 * EPOCH + 777)

static unsigned int random_state = 20261122;

static const struct cookie_secret secret = { {
	{ 0x0706050403020100, 0x0f0e0d0c0b0a0908 },
	{ 0x5851f42d4c957f2d, 0x14057b7ef767814f },
} };

static __u64 dice(void)
{
	__u64 v = 0;

	for (int i = 0; i < 5; i++)
		v = v << 15 ^ (__u64)rand_r(&random_state);
	return v;
}

static struct cookie_peer nth(__u32 i)
{
	return (struct cookie_peer){
		{ 0, 0xffff0000ull | (__u64)htonl(0x0a000000 + i / 7) << 32,
		  (__u64)htons((__u16)(27960 + i % 7)) }
	};
}

/* Another's SipHash, over @n octets and not the words. */
static __u64 reference(const __u64 key[2], const __u64 word[3], size_t n)
{
	static char name[] = "SIPHASH";
	unsigned int compress = 1, finish = 3;
	size_t size = 8, length = 0;
	OSSL_PARAM params[] = {
		OSSL_PARAM_construct_size_t("size", &size),
		OSSL_PARAM_construct_uint("c-rounds", &compress),
		OSSL_PARAM_construct_uint("d-rounds", &finish),
		OSSL_PARAM_construct_end(),
	};
	EVP_MAC *mac = EVP_MAC_fetch(NULL, name, NULL);
	EVP_MAC_CTX *ctx = EVP_MAC_CTX_new(mac);
	unsigned char octets[24], secret_octets[16], out[8];
	__u64 ret = 0;

	for (int i = 0; i < 24; i++)
		octets[i] = (unsigned char)(word[i / 8] >> i % 8 * 8);
	for (int i = 0; i < 16; i++)
		secret_octets[i] = (unsigned char)(key[i / 8] >> i % 8 * 8);
	assert_int_equal(EVP_MAC_init(ctx, secret_octets, 16, params), 1);
	assert_int_equal(EVP_MAC_update(ctx, octets, n), 1);
	assert_int_equal(EVP_MAC_final(ctx, out, &length, sizeof(out)), 1);
	assert_int_equal(length, 8);
	for (int i = 0; i < 8; i++)
		ret |= (__u64)out[i] << i * 8;
	EVP_MAC_CTX_free(ctx);
	EVP_MAC_free(mac);
	return ret;
}

static void the_hash_is_siphash(void **state)
{
	(void)state;
	for (int i = 0; i < 2000; i++) {
		__u64 key[2] = { dice(), dice() };
		__u64 word[3] = { dice(), dice(), dice() }, v[4];

		assert_int_equal(sip_hash(key, word), reference(key, word, 24));
		sip_begin(v, key);
		sip_word(v, word[0]);
		word[1] &= ~0ull >> 8;
		assert_int_equal(sip_end(v, word[1] | 15ull << 56),
				 reference(key, word, 15));
	}
}

/* What goes into it, octet by octet, as the manual says. */
static void the_hash_is_of_all_that_it_says(void **state)
{
	struct cookie_peer asker = { { 0x1122334455667788, 0x99aabbccddeeff00,
				       0xdeadbeef00000000 | 7u << 16 | 0x1234 } };
	__u64 word[3] = { 0x1122334455667788, 0x99aabbccddeeff00, 0x0300001200071234ull };

	(void)state;
	/* What stands above port and slot is no part of the name. */
	assert_int_equal(cookie_hash(&secret, &asker, 0x12, COOKIE_INFO),
			 reference(secret.key[1], word, 24));
	word[2] = 0x0300002200071234ull;
	assert_int_equal(cookie_hash(&secret, &asker, 0x22, COOKIE_INFO),
			 reference(secret.key[0], word, 24));
	/* An IPv4 address is hashed alone. */
	asker.word[0] = 0;
	asker.word[1] = 0x99aabbccffff0000;
	word[0] = 0x0007123499aabbcc;
	word[1] = 0x03000022;
	assert_int_equal(cookie_hash(&secret, &asker, 0x22, COOKIE_INFO),
			 reference(secret.key[0], word, 15));
}

static void letters_are_base_32(void **state)
{
	static const char alphabet[] = "abcdefghijklmnopqrstuvwxyz234567";

	(void)state;
	for (int i = 0; i < 20000; i++) {
		__u64 hash = dice(), epoch = dice();
		__u64 got = cookie_letters(hash, epoch);
		__u32 more = cookie_letters_more(hash);

		assert_int_equal(got & 0xff, '2' + 2 * (hash >> 40 & 3) + (epoch & 1));
		assert_int_equal(cookie_letters_parity(got), epoch & 1);
		for (int at = 1; at < 8; at++)
			assert_int_equal(got >> 8 * at & 0xff,
					 alphabet[hash >> 5 * at & 31]);
		for (int at = 0; at < 2; at++)
			assert_int_equal(more >> 8 * at & 0xff,
					 alphabet[hash >> (42 + 5 * at) & 31]);
		assert_int_equal(more >> 16, 0);
	}
}

static void numbers_have_ten_digits(void **state)
{
	static const __u32 rows[] = { 0,	  9,	      10,	 99999,
				      100000,	  100001,     999999999, 1000000000,
				      2147483647, 4294967295u };
	char want[16];
	__u8 got[COOKIE_DIGITS];
	__u64 parity;

	(void)state;
	for (size_t i = 0; i < COUNT(rows) + 100000; i++) {
		__u32 number = i < COUNT(rows) ? rows[i] : (__u32)dice();

		snprintf(want, sizeof(want), "%010u", number);
		cookie_decimal(number, got);
		assert_memory_equal(got, want, COOKIE_DIGITS);
	}
	for (int i = 0; i < 100000; i++) {
		__u64 hash = i < 2 ? -(__u64)i : dice(), epoch = dice();
		__u32 number = cookie_number(hash, epoch);

		assert_in_range(number, 1000000000, 1999999999);
		assert_true(cookie_number_fits(number, &parity));
		assert_int_equal(parity, epoch & 1);
	}
	assert_false(cookie_number_fits(999999999, &parity));
	assert_false(cookie_number_fits(2000000000, &parity));
	assert_false(cookie_number_fits(0, &parity));
	assert_false(cookie_number_fits(0xffffffff, &parity));
}

/* What the shield does with what comes back at @now: is it that of @asker? */
static bool good(const struct cookie_secret *keys, const struct cookie_peer *asker,
		 enum cookie_form form, __u64 letters, __u64 now)
{
	__u64 epoch = cookie_epoch_like(now, cookie_letters_parity(letters));

	return cookie_letters(cookie_hash(keys, asker, epoch, form), epoch) == letters;
}

static __u64 given(const struct cookie_peer *asker, enum cookie_form form, __u64 now)
{
	__u64 epoch = cookie_epoch(now);

	return cookie_letters(cookie_hash(&secret, asker, epoch, form), epoch);
}

static void it_is_good_for_one_asker_and_one_thing(void **state)
{
	(void)state;
	for (__u32 i = 0; i < 2000; i++) {
		struct cookie_peer asker = nth(i), other = asker;
		__u64 letters = given(&asker, COOKIE_BARE, NOW);

		assert_true(good(&secret, &asker, COOKIE_BARE, letters, NOW));
		for (int form = COOKIE_ARGUED; form < COOKIE_FORMS; form++)
			assert_false(good(&secret, &asker, (enum cookie_form)form,
					  letters, NOW));
		for (int bit = 0; bit < 160; bit++) {
			other = asker;
			other.word[bit / 64] ^= 1ull << bit % 64;
			assert_false(good(&secret, &other, COOKIE_BARE, letters, NOW));
		}
		for (int bit = 0; bit < 64; bit++)
			assert_false(good(&secret, &asker, COOKIE_BARE,
					  letters ^ 1ull << bit, NOW));
	}
}

static void it_is_good_for_one_epoch_more(void **state)
{
	struct cookie_peer asker = nth(5);

	(void)state;
	for (__u64 start = 0; start < 70; start++) {
		__u64 then = (start + 100) * EPOCH;

		for (__u64 at = 0; at < 2; at++) {
			__u64 letters =
				given(&asker, COOKIE_ARGUED, then + at * (EPOCH - 1));

			assert_true(good(&secret, &asker, COOKIE_ARGUED, letters, then));
			assert_true(good(&secret, &asker, COOKIE_ARGUED, letters,
					 then + 2 * EPOCH - 1));
			for (__u64 late = 2; late < 40; late++)
				assert_false(good(&secret, &asker, COOKIE_ARGUED, letters,
						  then + late * EPOCH));
		}
	}
}

/* A daemon that looks once a second and replaces the resting key drops nobody. */
static void rotation_drops_nobody(void **state)
{
	struct cookie_secret keys = secret;
	struct cookie_peer asker = nth(9);
	__u64 replaced = 0, rotated = ~0ull;
	__u32 turn;

	(void)state;
	for (__u64 now = NOW; now < NOW + 100 * EPOCH; now += 1000000007) {
		__u64 epoch = cookie_epoch(now);
		__u64 letters = cookie_letters(
			cookie_hash(&keys, &asker, epoch, COOKIE_BARE), epoch);

		for (__u64 later = now; cookie_epoch(later) <= epoch + 1;
		     later += 1000000007) {
			struct cookie_secret old = keys;

			if (cookie_key_idle(later, &turn)) {
				keys.key[turn][0] = dice();
				keys.key[turn][1] = dice();
			}
			assert_true(good(&keys, &asker, COOKIE_BARE, letters, later));
			keys = old;
		}
		if (cookie_key_idle(now, &turn) &&
		    rotated != epoch >> COOKIE_PERIOD_BITS) {
			rotated = epoch >> COOKIE_PERIOD_BITS;
			keys.key[turn][0] = dice();
			keys.key[turn][1] = dice();
			replaced++;
		}
	}
	assert_in_range(replaced, 6, 7);
}

/* Two keys say nothing of each other's cookies. */
static void another_key_is_another_cookie(void **state)
{
	struct cookie_peer asker = nth(1);
	struct cookie_secret other;
	int same = 0;

	(void)state;
	for (int bit = 0; bit < 256; bit++) {
		other = secret;
		other.key[bit / 128][bit / 64 % 2] ^= 1ull << bit % 64;
		same += given(&asker, COOKIE_BARE, NOW) ==
			cookie_letters(cookie_hash(&other, &asker, cookie_epoch(NOW),
						   COOKIE_BARE),
				       cookie_epoch(NOW));
	}
	/* Of the key whose turn it is not, all. */
	assert_int_equal(same, 128);
}

/* Neighbours' cookies: each bit is set in half of them, and no two have the same. */
static void they_are_spread_evenly(void **state)
{
	enum {
		MANY = 1 << 16
	};
	int set[40] = { 0 };
	double chi = 0;
	int digits[10] = { 0 };

	(void)state;
	for (__u32 i = 0; i < MANY; i++) {
		struct cookie_peer asker = nth(i);
		__u64 hash = cookie_hash(&secret, &asker, 77, COOKIE_NUMBER);

		for (int bit = 0; bit < 40; bit++)
			set[bit] += hash >> bit & 1;
		digits[(cookie_number(hash, i) - COOKIE_LEAST) / 100000000]++;
	}
	for (int bit = 0; bit < 40; bit++)
		assert_in_range(set[bit], MANY / 2 - 700, MANY / 2 + 700); /* 5.5 sigma */
	for (int i = 0; i < 10; i++)
		chi += (digits[i] - MANY / 10.0) * (digits[i] - MANY / 10.0) /
		       (MANY / 10.0);
	assert_true(chi < 35); /* 9 degrees: 0.00006 */
}

/* From four epochs into the other's turn on, until four before its own. */
static void a_key_rests_for_eight_epochs(void **state)
{
	(void)state;
	for (__u64 epoch = 0; epoch < 64; epoch++) {
		__u32 turn;
		bool rests = cookie_key_idle(epoch << COOKIE_EPOCH_BITS, &turn);

		assert_int_equal(rests, epoch % 16 >= 4 && epoch % 16 < 12);
		assert_int_equal(turn, epoch / 16 % 2 ^ 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_key_rests_for_eight_epochs),
		cmocka_unit_test(the_hash_is_siphash),
		cmocka_unit_test(the_hash_is_of_all_that_it_says),
		cmocka_unit_test(letters_are_base_32),
		cmocka_unit_test(numbers_have_ten_digits),
		cmocka_unit_test(it_is_good_for_one_asker_and_one_thing),
		cmocka_unit_test(it_is_good_for_one_epoch_more),
		cmocka_unit_test(rotation_drops_nobody),
		cmocka_unit_test(another_key_is_another_cookie),
		cmocka_unit_test(they_are_spread_evenly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
