// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Both Huffman codes: the fixed one against a tree grown from the seed counts, both
 * against vectors that an independent implementation made and the engines confirmed.
 */
#include <errno.h>

#include "decode/q3/q3_support.h"

/* clang-format off */
/* How often each byte is added before the tree is frozen: code/qcommon/msg.c. */
static const uint32_t seed[256] = {
	250315, 41193, 6292, 7106, 3730, 3750, 6110, 23283, 33317, 6950,
	7838, 9714, 9257, 17259, 3949, 1778, 8288, 1604, 1590, 1663,
	1100, 1213, 1238, 1134, 1749, 1059, 1246, 1149, 1273, 4486,
	2805, 3472, 21819, 1159, 1670, 1066, 1043, 1012, 1053, 1070,
	1726, 888, 1180, 850, 960, 780, 1752, 3296, 10630, 4514,
	5881, 2685, 4650, 3837, 2093, 1867, 2584, 1949, 1972, 940,
	1134, 1788, 1670, 1206, 5719, 6128, 7222, 6654, 3710, 3795,
	1492, 1524, 2215, 1140, 1355, 971, 2180, 1248, 1328, 1195,
	1770, 1078, 1264, 1266, 1168, 965, 1155, 1186, 1347, 1228,
	1529, 1600, 2617, 2048, 2546, 3275, 2410, 3585, 2504, 2800,
	2675, 6146, 3663, 2840, 14253, 3164, 2221, 1687, 3208, 2739,
	3512, 4796, 4091, 3515, 5288, 4016, 7937, 6031, 5360, 3924,
	4892, 3743, 4566, 4807, 5852, 6400, 6225, 8291, 23243, 7838,
	7073, 8935, 5437, 4483, 3641, 5256, 5312, 5328, 5370, 3492,
	2458, 1694, 1821, 2121, 1916, 1149, 1516, 1367, 1236, 1029,
	1258, 1104, 1245, 1006, 1149, 1025, 1241, 952, 1287, 997,
	1713, 1009, 1187, 879, 1099, 929, 1078, 951, 1656, 930,
	1153, 1030, 1262, 1062, 1214, 1060, 1621, 930, 1106, 912,
	1034, 892, 1158, 990, 1175, 850, 1121, 903, 1087, 920,
	1144, 1056, 3462, 2240, 4397, 12136, 7758, 1345, 1307, 3278,
	1950, 886, 1023, 1112, 1077, 1042, 1061, 1071, 1484, 1001,
	1096, 915, 1052, 995, 1070, 876, 1111, 851, 1059, 805,
	1112, 923, 1103, 817, 1899, 1872, 976, 841, 1127, 956,
	1159, 950, 7791, 954, 1289, 933, 1127, 3207, 1020, 927,
	1355, 768, 1040, 745, 952, 805, 1073, 740, 1013, 805,
	1008, 796, 996, 1057, 11457, 13504,
};

static const struct {
	int count;
	struct {
		int64_t value;
		int bits;
	} field[10];
	unsigned int bits;
	const char *out;
} fields[] = {
	{ 1, { { 0, 8 } },
	  2, "02" },
	{ 1, { { 255, 8 } },
	  6, "24" },
	{ 1, { { 8, 8 } },
	  5, "15" },
	{ 1, { { 0, 32 } },
	  8, "aa00" },
	{ 1, { { -1, 32 } },
	  24, "24499200" },
	{ 5, { { 1, 1 }, { 0, 1 }, { 1, 1 }, { 1, 1 }, { 0, 1 } },
	  5, "0d" },
	{ 1, { { 1023, 10 } },
	  8, "9300" },
	{ 3, { { 1, 10 }, { 513, 10 }, { 1022, 10 } },
	  20, "d92709" },
	{ 3, { { 4096, 13 }, { 8191, 13 }, { 0, 13 } },
	  29, "e0fb2410" },
	{ 2, { { 65535, 16 }, { 32768, 16 } },
	  20, "24e907" },
	{ 1, { { 524287, 19 } },
	  15, "2749" },
	{ 3, { { -100, -16 }, { -1, -8 }, { 26, -8 } },
	  32, "2b91e42a00" },
	{ 3, { { 16777215, 24 }, { 1, 1 }, { 7, 3 } },
	  22, "24493e" },
	{ 9, { { 0, 8 }, { 1, 8 }, { 2, 8 }, { 3, 8 }, { 4, 8 }, { 5, 8 }, { 6, 8 }, { 7, 8 }, { 8, 8 } },
	  55, "6e243b3402f257" },
	{ 2, { { 305419896, 32 }, { 287454020, 32 } },
	  70, "4be34dc10fb94c040b" },
	{ 3, { { 9, 4 }, { 17, 5 }, { 2730, 12 } },
	  23, "19755c" },
};

static const struct {
	const char *in;
	unsigned int bits;
	const char *out;
} runs[] = {
	{ "7072696e74202268656c6c6f220a00",
	  109, "8547280cd99b0807c3c49c259216" },
	{ "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
	  "202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f"
	  "404142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f"
	  "606162636465666768696a6b6c6d6e6f707172737475767778797a7b7c7d7e7f"
	  "808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f"
	  "a0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebf"
	  "c0c1c2c3c4c5c6c7c8c9cacbcccdcecfd0d1d2d3d4d5d6d7d8d9dadbdcdddedf"
	  "e0e1e2e3e4e5e6e7e8e9eaebecedeeeff0f1f2f3f4f5f6f7f8f9fafbfcfdfeff",
	  2308, "6e243b3402f2575a7a3169735895b0c0c7dfddfc2b8e4cafb155c65e6fe809f5"
	  "3d0d91668bcfbfe1e629b136030571c24b1fef34fc7e792ab641d803f1324736"
	  "122fa2f33d43f984902840707a8e716ddc9d573d6e66969dacb5f674718d37e3"
	  "35cbc24575ace03aec793cab1f5f82053de5507a11c37cc4305bc8789497055e"
	  "642c858fcebda111e52fc5ec3f0c061c9e9d5fd12d271ea849ccb1005fbf4251"
	  "6bf4b0723ee314b9520cebe74631bf9958e836b88ea3c319c6b845afd9cc324d"
	  "e108be47de8b617dfc4ca7a77040de3a0d7ccc46a806768189e30fc68dcf6211"
	  "0374545cd31d00c8bd9bc01acaa539ca7ba3ac71ac7a0fa67b7ca245ca04df11"
	  "e29836f2648c078539224681c15e074fb100478f7a87002d00eb7c51cbb5d117"
	  "09" },
	{ "5c73765f686f73746e616d655c6e6f6e616d655c6d61706e616d655c7133646d"
	  "313700",
	  280, "c7f22eb0b9d9bc2c03cf23d8318659069e47b0638f780a19781ec18e315ebef4"
	  "6838ac00" },
};

/* The last byte holds no bits where their number is a multiple of 8. */
static const struct {
	const char *in;
	const char *out;
} blocks[] = {
	{ "61",
	  "00018600" },
	{ "6161",
	  "00028601" },
	{ "6162",
	  "0002868c00" },
	{ "6162726163616461627261",
	  "000b868c701263636203" },
	{ "000102030405060708090a0b0c0d0e0f",
	  "00100000010a30400634c0041c200ee4802ad001c6c00a38020f" },
	{ "225c70726f746f636f6c5c36385c71706f72745c313233345c6368616c6c656e"
	  "67655c2d313233343536375c6e616d655c506c617965725c726174655c323530"
	  "303022",
	  "00434474708813ecc7a5612cd8e8b0198e05c7f9c40c63c35430272c4b818561"
	  "18443145ec08737a845611443eac6cc15ebc0c6ca11e054f014f833293bd961c"
	  "06282901" },
	{ "225c63675f707265646963744974656d735c315c636c5f616e6f6e796d6f7573"
	  "5c305c636f6c6f72315c345c636f6c6f72325c355c68616e64696361705c3130"
	  "305c686561646d6f64656c5c73617267655c69705c6c6f63616c686f73745c6d"
	  "6f64656c5c73617267655c6e616d655c556e6e616d6564506c617965725c7261"
	  "74655c32353030305c7365785c6d616c655c736e6170735c32305c7465616d74"
	  "61736b5c305c70726f746f636f6c5c36385c71706f72745c34353030305c6368"
	  "616c6c656e67655c3132333435363738393022",
	  "00d34474308e39f4c7219cc4144c8e65864b90f437b6c0d91fc6bbc5660d8685"
	  "9d621f03cf6f0d57f30c035e6007d60b4b7f8f6686a909d64a2c2aa82af86825"
	  "3f17f4cf15ce35abe569542b863ba6e8335ae117dbf5e7ca4c9ed8836a3e7deb"
	  "24284427e7f4ef374da781494debe3519ab8ee3d0fd51e757f1c4e8758b78ff7"
	  "c8f1d2c7c0168463391c6d615b1e47ac03f7543b07d5207ac2fc705e93b03ffb"
	  "e11405" },
};
/* clang-format on */

static void test_lookup_is_the_grown_tree(void **state)
{
	static struct huffman_tree tree;

	(void)state;
	huffman_tree_init(&tree);
	for (int symbol = 0; symbol < 256; symbol++)
		for (uint32_t i = 0; i < seed[symbol]; i++)
			huffman_tree_add(&tree, symbol);
	for (int symbol = 0; symbol <= HUFFMAN_NYT; symbol++) {
		uint8_t bits[256];
		int length = huffman_tree_code(&tree, symbol, bits);
		unsigned int code = 0;

		assert_in_range(length, 2, HUFFMAN_LOOKUP_BITS);
		for (int i = 0; i < length; i++)
			code |= (unsigned int)bits[i] << i;
		for (unsigned int i = code; i < HUFFMAN_LOOKUP_SIZE; i += 1U << length)
			assert_int_equal(huffman_lookup[i],
					 symbol << HUFFMAN_SYMBOL_SHIFT | length);
	}
}

static void test_fields(void **state)
{
	(void)state;
	for (size_t i = 0; i < Q3_COUNT(fields); i++) {
		uint8_t out[64];
		size_t n = from_hex(fields[i].out, out, sizeof(out));
		uint8_t *copy = exact_copy(out, n);
		struct q3_bits b = q3_bits_of(copy, n);
		struct writer w = { .bits = 0 };

		for (int f = 0; f < fields[i].count; f++) {
			int bits = fields[i].field[f].bits;
			uint32_t value = (uint32_t)fields[i].field[f].value;

			put(&w, value, bits);
			assert_int_equal(q3_get_int(&b, bits), value);
		}
		assert_int_equal(b.pos, fields[i].bits);
		assert_false(q3_bits_failed(&b));
		assert_int_equal(w.bits, fields[i].bits);
		assert_int_equal(written(&w), n);
		assert_memory_equal(w.bytes, out, n);
		free(copy);
	}
}

/* Each run of bytes, whole and cut at every length: a cut never goes unnoticed. */
static void test_runs(void **state)
{
	(void)state;
	for (size_t i = 0; i < Q3_COUNT(runs); i++) {
		uint8_t in[256], out[512], got[256];
		size_t in_n = from_hex(runs[i].in, in, sizeof(in));
		size_t out_n = from_hex(runs[i].out, out, sizeof(out));
		struct writer w = { .bits = 0 };

		for (size_t k = 0; k < in_n; k++)
			put(&w, in[k], 8);
		assert_int_equal(w.bits, runs[i].bits);
		assert_int_equal(written(&w), out_n);
		assert_memory_equal(w.bytes, out, out_n);
		for (size_t cut = 0; cut <= out_n; cut++) {
			uint8_t *copy = exact_copy(out, cut);
			struct q3_bits b = q3_bits_of(copy, cut);

			q3_get_bytes(&b, got, in_n);
			assert_int_equal(!q3_bits_failed(&b), cut * 8 >= runs[i].bits);
			if (cut == out_n)
				assert_memory_equal(got, in, in_n);
			free(copy);
		}
	}
}

static void test_nyt_is_malformed(void **state)
{
	/* 00000000100, lowest bit first */
	static const uint8_t nyt[] = { 0x00, 0x01, 0x00 };
	struct q3_bits b = q3_bits_of(nyt, sizeof(nyt));

	(void)state;
	q3_get(&b, 8);
	assert_true(q3_bits_failed(&b));
	/* in the middle of a wider value too: 01 then the same */
	static const uint8_t wide[] = { 0x02, 0x04, 0x00, 0x00 };

	b = q3_bits_of(wide, sizeof(wide));
	q3_get(&b, 16);
	assert_true(q3_bits_failed(&b));
}

static void test_string_limits(void **state)
{
	struct writer w = { .bits = 0 };
	char text[Q3_STRING_MAX + 1];
	struct q3_bits b;

	(void)state;
	for (int i = 0; i < Q3_STRING_MAX; i++)
		put(&w, 'a', 8);
	put(&w, 0, 8);
	b = q3_bits_of(w.bytes, written(&w));
	assert_int_equal(q3_get_string(&b, text, Q3_STRING_MAX), Q3_STRING_MAX);
	assert_false(q3_bits_failed(&b));

	b = q3_bits_of(w.bytes, written(&w));
	assert_int_equal(q3_get_string(&b, text, Q3_STRING_MAX - 1), Q3_STRING_MAX - 1);
	assert_true(q3_bits_failed(&b));

	/* without its NUL */
	b = q3_bits_of(w.bytes, 100);
	q3_get_string(&b, text, Q3_STRING_MAX);
	assert_true(q3_bits_failed(&b));
}

static void test_adaptive_vectors(void **state)
{
	(void)state;
	for (size_t i = 0; i < Q3_COUNT(blocks); i++) {
		uint8_t in[512], out[512], got[512];
		size_t in_n = from_hex(blocks[i].in, in, sizeof(in));
		size_t out_n = from_hex(blocks[i].out, out, sizeof(out));

		assert_int_equal(huffman_adaptive_encode(in, in_n, got, sizeof(got)),
				 out_n);
		assert_memory_equal(got, out, out_n);
		assert_int_equal(huffman_adaptive_encode(in, in_n, got, out_n - 1),
				 -EMSGSIZE);
		for (size_t cut = 0; cut <= out_n; cut++) {
			uint8_t *copy = exact_copy(out, cut);
			int n = huffman_adaptive_decode(copy, cut, got, sizeof(got));

			assert_int_equal(n, cut == out_n ? (int)in_n : -EBADMSG);
			if (cut == out_n)
				assert_memory_equal(got, in, in_n);
			free(copy);
		}
		assert_int_equal(huffman_adaptive_decode(out, out_n, got, in_n - 1),
				 -EMSGSIZE);
	}
}

static void test_adaptive_limits(void **state)
{
	static const uint8_t zero[] = { 0, 0, 0 };
	uint8_t in[300], out[1024], back[300];

	(void)state;
	assert_int_equal(huffman_adaptive_decode(zero, sizeof(zero), out, sizeof(out)),
			 -EBADMSG);
	assert_int_equal(huffman_adaptive_encode(in, 0, out, sizeof(out)), -EINVAL);
	srand(1);
	for (int round = 0; round < 300; round++) {
		size_t n = 1 + (size_t)rand() % sizeof(in);
		int coded;

		for (size_t i = 0; i < n; i++)
			in[i] = (uint8_t)(rand() % (1 + round));
		coded = huffman_adaptive_encode(in, n, out, sizeof(out));
		assert_true(coded > 0);
		assert_int_equal(huffman_adaptive_decode(out, (size_t)coded, back,
							 sizeof(back)),
				 n);
		assert_memory_equal(in, back, n);
		/* two bytes more than a sender makes is not a block */
		assert_int_equal(huffman_adaptive_decode(out, (size_t)coded + 2, back,
							 sizeof(back)),
				 -EBADMSG);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lookup_is_the_grown_tree),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_runs),
		cmocka_unit_test(test_nyt_is_malformed),
		cmocka_unit_test(test_string_limits),
		cmocka_unit_test(test_adaptive_vectors),
		cmocka_unit_test(test_adaptive_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
