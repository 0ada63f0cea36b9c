// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The netchan of Quake III: headers, checksum, slices, scrambling.
 */
#include "decode/q3/q3_netchan.h"
#include "decode/q3/q3_support.h"

/* Wire order, as the engines send it. */
static const struct {
	int32_t challenge;
	uint32_t sequence;
	const char *wire;
} checksums[] = {
	{ 1234567890, 1, "00000000" },	 { 1234567890, 2, "7607bada" },
	{ 1234567890, 3, "a40a5495" },	 { 1234567890, 17, "202d60ab" },
	{ 1234567890, 300, "ca4c5d72" }, { -1234567, 1, "00000000" },
	{ -1234567, 2, "8b7b3700" },	 { -1234567, 3, "12552a00" },
	{ -1234567, 17, "70e85201" },	 { -1234567, 300, "b5b00116" },
};

static void test_checksum_vectors(void **state)
{
	(void)state;
	for (size_t i = 0; i < Q3_COUNT(checksums); i++) {
		uint32_t sum = q3_checksum(checksums[i].challenge, checksums[i].sequence);
		uint8_t wire[4];

		from_hex(checksums[i].wire, wire, sizeof(wire));
		assert_int_equal(sum, wire[0] | wire[1] << 8 | wire[2] << 16 |
					      (uint32_t)wire[3] << 24);
		if (checksums[i].sequence % 2 == 0)
			assert_int_equal(q3_checksum_solve(sum, checksums[i].sequence),
					 checksums[i].challenge);
	}
}

static void test_checksum_solves(void **state)
{
	(void)state;
	srand(2);
	for (int i = 0; i < 20000; i++) {
		int32_t challenge = (int32_t)((uint32_t)rand() << 16 ^ (uint32_t)rand());
		uint32_t sequence = ((uint32_t)rand() & 0x3fffffff) * 2;

		assert_int_equal(q3_checksum_solve(q3_checksum(challenge, sequence),
						   sequence),
				 challenge);
	}
}

static const struct {
	const char *name;
	bool client, checksum;
	const char *hex;
	const char *why; /* NULL: good */
	uint32_t sequence, sum;
	uint16_t qport, start, length;
	size_t n;
} headers[] = {
	{ "server, whole", false, false, "07000000aabb", NULL, 7, 0, 0, 0, 0, 2 },
	{ "client, whole", true, false, "070000003412aabb", NULL, 7, 0, 0x1234, 0, 0, 2 },
	{ "server, sum", false, true, "0700000001020304aa", NULL, 7, 0x04030201, 0, 0, 0,
	  1 },
	{ "client, sum", true, true, "07000000341201020304aa", NULL, 7, 0x04030201,
	  0x1234, 0, 0, 1 },
	{ "server, slice", false, false, "0700008014050200aabb", NULL, 7, 0, 0, 1300, 2,
	  2 },
	{ "client, slice", true, true, "0700008034120102030414050100cc", NULL, 7,
	  0x04030201, 0x1234, 1300, 1, 1 },
	{ "empty last slice", false, false, "0700008014050000", NULL, 7, 0, 0, 1300, 0,
	  0 },
	{ "sequence 0", false, false, "00000000aa", "sequence 0", 0, 0, 0, 0, 0, 0 },
	{ "sequence 0, slice", false, false, "0000008000000000", "sequence 0", 0, 0, 0, 0,
	  0, 0 },
	{ "nothing", false, false, "07000000", "no payload", 0, 0, 0, 0, 0, 0 },
	{ "start", false, false, "0700008001000000",
	  "fragment start is no multiple of 1300", 0, 0, 0, 0, 0, 0 },
	{ "negative start", false, false, "07000080ecfa0000",
	  "fragment start is no multiple of 1300", 0, 0, 0, 0, 0, 0 },
	{ "longest", false, false, "0700008000001405",
	  "fragment length is not what follows", 0, 0, 0, 0, 0, 0 },
	{ "length", false, false, "0700008000001505", "fragment longer than 1300", 0, 0,
	  0, 0, 0, 0 },
	{ "less than said", false, false, "0700008000000300aabb",
	  "fragment length is not what follows", 0, 0, 0, 0, 0, 0 },
	{ "more than said", false, false, "0700008000000100aabb",
	  "fragment length is not what follows", 0, 0, 0, 0, 0, 0 },
};

static void test_headers(void **state)
{
	(void)state;
	for (size_t i = 0; i < Q3_COUNT(headers); i++) {
		uint8_t bytes[64];
		size_t n = from_hex(headers[i].hex, bytes, sizeof(bytes));

		for (size_t cut = 0; cut <= n; cut++) {
			uint8_t *copy = exact_copy(bytes, cut);
			struct q3_header h;
			const char *why;
			bool good = q3_header_read(&h, copy, cut, headers[i].client,
						   headers[i].checksum, &why);

			assert_int_equal(good, !why);
			if (cut < n) {
				/* a cut payload may still be one, a cut header never */
				assert_false(good && h.fragment && !headers[i].why);
				assert_false(good && !headers[i].why &&
					     h.n != headers[i].n - (n - cut));
				free(copy);
				continue;
			}
			if (headers[i].why) {
				assert_non_null(why);
				assert_string_equal(why, headers[i].why);
				free(copy);
				continue;
			}
			assert_true(good);
			assert_int_equal(h.sequence, headers[i].sequence);
			assert_int_equal(h.checksum, headers[i].sum);
			assert_int_equal(h.qport, headers[i].qport);
			assert_int_equal(h.start, headers[i].start);
			assert_int_equal(h.length, headers[i].length);
			assert_int_equal(h.n, headers[i].n);
			free(copy);
		}
	}
}

static void test_long_payload(void **state)
{
	uint8_t bytes[4 + Q3_SLICE] = { 1 };
	struct q3_header h;
	const char *why;

	(void)state;
	assert_true(q3_header_read(&h, bytes, sizeof(bytes) - 1, false, false, &why));
	assert_false(q3_header_read(&h, bytes, sizeof(bytes), false, false, &why));
}

/* The rule, written out as the engines state it: byte by byte with a rolling key. */
static void test_scramble(void **state)
{
	static const char *const texts[] = { "", "a", "say 50.", "cs 5 100." };
	uint8_t plain[300], changed[300];

	(void)state;
	srand(3);
	for (size_t i = 0; i < sizeof(plain); i++)
		plain[i] = (uint8_t)rand();
	for (size_t t = 0; t < Q3_COUNT(texts); t++) {
		size_t text_n = strlen(texts[t]), at = 0;
		uint8_t key = 0x5a;

		memcpy(changed, plain, sizeof(plain));
		q3_scramble(changed, sizeof(changed), 12, 0x5a, texts[t], text_n);
		assert_memory_equal(changed, plain, 12);
		for (size_t i = 12; i < sizeof(plain); i++) {
			if (text_n)
				key = (uint8_t)(key ^ texts[t][at++ % text_n] << (i & 1));
			assert_int_equal(changed[i], plain[i] ^ key);
		}
		q3_scramble(changed, sizeof(changed), 12, 0x5a, texts[t], text_n);
		assert_memory_equal(changed, plain, sizeof(plain));
	}
	/* nothing but the clear bytes: nothing changes */
	q3_scramble(changed, 3, 4, 0x5a, "x", 1);
	assert_memory_equal(changed, plain, sizeof(plain));
}

/* --- slices ------------------------------------------------------------------------ */

static enum q3_slice add(struct q3_game *g, uint32_t sequence, const uint8_t *message,
			 size_t n, unsigned int index, uint8_t **ret, size_t *ret_n)
{
	struct q3_header h = { .sequence = sequence, .fragment = true };
	size_t start = (size_t)index * Q3_SLICE, left = n - start;
	enum q3_slice result;
	const char *why;
	uint8_t *copy;

	h.start = (uint16_t)start;
	h.length = (uint16_t)(left < Q3_SLICE ? left : Q3_SLICE);
	h.n = h.length;
	copy = exact_copy(message + start, h.length);
	h.payload = copy;
	result = q3_assemble(g, &h, false, ret, ret_n, &why);
	free(copy);
	return result;
}

/* Every order of four slices, each also sent twice. */
static void test_slices_in_any_order(void **state)
{
	struct q3_game *g = NULL;
	uint8_t message[3 * Q3_SLICE + 77], *whole;
	uint32_t sequence = 1;
	size_t n;

	(void)state;
	for (size_t i = 0; i < sizeof(message); i++)
		message[i] = (uint8_t)(i * 7 + i / 256);
	assert_non_null(q3_game_get(&g, &q3_dialect_68));
	for (unsigned int order = 0; order < 256; order++) {
		unsigned int seen = 0;

		for (int i = 0; i < 4; i++)
			seen |= 1U << (order >> 2 * i & 3);
		if (seen != 15)
			continue;
		sequence++;
		for (int i = 0; i < 4; i++) {
			unsigned int index = order >> 2 * i & 3;
			enum q3_slice result = add(g, sequence, message, sizeof(message),
						   index, &whole, &n);

			assert_int_equal(result,
					 i == 3 ? Q3_SLICE_WHOLE : Q3_SLICE_STORED);
			if (i == 3) {
				assert_int_equal(n, sizeof(message));
				assert_memory_equal(whole, message, n);
			}
			assert_int_equal(add(g, sequence, message, sizeof(message), index,
					     &whole, &n),
					 Q3_SLICE_REPEATED);
		}
	}
	assert_int_equal(sequence, 25);
	q3_game_drop(&g);
}

static void test_slice_edges(void **state)
{
	static uint8_t message[Q3_MESSAGE_MAX];
	struct q3_game *g = NULL;
	uint8_t *whole;
	size_t n;

	(void)state;
	assert_non_null(q3_game_get(&g, &q3_dialect_68));
	/* an exact multiple ends with an empty slice */
	assert_int_equal(add(g, 5, message, 2600, 0, &whole, &n), Q3_SLICE_STORED);
	assert_int_equal(add(g, 5, message, 2600, 1, &whole, &n), Q3_SLICE_STORED);
	assert_int_equal(add(g, 5, message, 2600, 2, &whole, &n), Q3_SLICE_WHOLE);
	assert_int_equal(n, 2600);
	/* 16384 is the limit: slice 12 may have 784 bytes */
	assert_int_equal(add(g, 6, message, 16384, 12, &whole, &n), Q3_SLICE_STORED);
	assert_int_equal(add(g, 7, message, 16385, 12, &whole, &n), Q3_SLICE_WRONG);
	assert_int_equal(add(g, 7, message, 49152, 13, &whole, &n), Q3_SLICE_WRONG);
	/* two messages at once; a third gives up the older */
	assert_int_equal(add(g, 8, message, 1400, 0, &whole, &n), Q3_SLICE_STORED);
	assert_int_equal(add(g, 9, message, 1400, 1, &whole, &n), Q3_SLICE_STORED);
	assert_int_equal(add(g, 8, message, 1400, 1, &whole, &n), Q3_SLICE_WHOLE);
	assert_int_equal(add(g, 9, message, 1400, 0, &whole, &n), Q3_SLICE_WHOLE);
	q3_game_drop(&g);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_checksum_vectors),
		cmocka_unit_test(test_checksum_solves),
		cmocka_unit_test(test_headers),
		cmocka_unit_test(test_long_payload),
		cmocka_unit_test(test_scramble),
		cmocka_unit_test(test_slices_in_any_order),
		cmocka_unit_test(test_slice_edges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
