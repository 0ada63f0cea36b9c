// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_held_bytes.c - blocks of pcapng at every length, Huffman's blocks with small
 * changes, metrics of every type, and who sends most of what is dropped.
 */
#include <math.h>

#include "fuzz/held_text.h"
#include "lib/drop_sources.h"
#include "lib/huffman.h"
#include "lib/ometric.h"
#include "lib/pcapng.h"
#include "lib/util.h"

/* --- pcapng --------------------------------------------------------------------------
 */

static void heads(void **state)
{
	char name[80], application[80];
	uint8_t block[PCAPNG_BEGIN_MAX];

	(void)state;
	held_begin();
	for (size_t n = 0; n <= 66; n += n == 9 ? 53 : 1) {
		memset(name, 'i', n);
		memset(application, 'a', 66 - n);
		name[n] = application[66 - n] = 0;
		memset(block, 0xee, sizeof(block));
		held_bytes(name, block, pcapng_begin(block, name, application));
	}
	held_end("tests/lib/held_pcapng_heads.txt");
}

static void packets(void **state)
{
	static const uint32_t kept[] = {
		0, 1, 2, 3, 4, 5, 2046, 2047, 2048, 2049, 65535
	};
	static const size_t comments[] = { 0, 1, 2, 3, 4, 255, 256, 257 };
	static uint8_t frame[65536], block[PCAPNG_BLOCK_MAX];
	char comment[300];

	(void)state;
	for (size_t i = 0; i < sizeof(frame); i++)
		frame[i] = (uint8_t)(i * 7);
	held_begin();
	for (size_t k = 0; k < ARRAY_SIZE(kept); k++)
		for (size_t c = 0; c < ARRAY_SIZE(comments); c++) {
			const struct pcapng_packet packet = {
				.time_ns = 1795358701123456789 + (int64_t)k,
				.frame = frame,
				.kept = kept[k],
				.length = kept[k] + (uint32_t)c,
				.inbound = k % 2,
				.xdp = (k + c) % 3 == 1,
				.action = c * 0x100000001,
				.comment = comment,
			};

			memset(comment, 'c', comments[c]);
			comment[comments[c]] = 0;
			memset(block, 0xee, sizeof(block));
			held_printf("%u kept, comment of %zu, ", kept[k], comments[c]);
			held_bytes("block", block, pcapng_packet(block, &packet));
		}
	held_end("tests/lib/held_pcapng_packets.txt");
}

/* --- Huffman -------------------------------------------------------------------------
 */

static void say_block(FILE *out, const char *bytes, size_t n)
{
	uint8_t plain[64];
	int result;

	for (size_t max = 0; max <= sizeof(plain); max += 8) {
		memset(plain, 0, sizeof(plain));
		result = huffman_adaptive_decode((const uint8_t *)bytes, n, plain, max);
		fprintf(out, "%d ", result);
	}
	for (int i = 0; i < result; i++)
		fprintf(out, "%c", plain[i]);
	fputc('\n', out);
}

static void say_plain(FILE *out, const char *bytes, size_t n)
{
	static uint8_t block[4 * HELD_INPUT];
	int whole =
		huffman_adaptive_encode((const uint8_t *)bytes, n, block, sizeof(block));

	fprintf(out, "%d %016" PRIx64, whole,
		held_sum(HELD_BEGIN, block, whole > 0 ? (size_t)whole : 0));
	for (int max = whole - 2; whole > 0 && max <= whole + 1; max++)
		fprintf(out, " %d",
			huffman_adaptive_encode((const uint8_t *)bytes, n, block,
						(size_t)max));
	fputc('\n', out);
}

static void huffman(void **state)
{
	static const char *const texts[] = {
		"a",
		"",
		"\\name\\Sarge\\rate\\25000\\snaps\\40",
		"aaaaaaaaaaaaaaaaaaaaaaaabbbbbbbbbbbbbbbbbbbccc",
		"abcdefghijklmnopqrstuvwxyz0123456789",
		"\x01\xff\x80\x7f\x01\xff\x80\x7f",
	};
	static uint8_t block[256], large[65537];
	uint8_t bits[256];
	struct huffman_tree tree;

	(void)state;
	held_begin();
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		int n = huffman_adaptive_encode((const uint8_t *)texts[i],
						strlen(texts[i]), block, sizeof(block));

		held_text(say_plain, texts[i]);
		held_input(say_block, (const char *)block, n > 0 ? (size_t)n : 0);
		/* A byte more is taken, two are not. */
		say_block(held.out, (const char *)block, n > 0 ? (size_t)n + 1 : 1);
		say_block(held.out, (const char *)block, n > 0 ? (size_t)n + 2 : 2);
	}
	for (size_t n = 65534; n <= 65537; n++)
		say_plain(held.out, (const char *)large, n);
	huffman_tree_init(&tree);
	for (uint32_t i = 0, dice = 3; i < 3000; i++) {
		int symbol = (int)(held_dice(&dice, 16) * held_dice(&dice, 16));

		huffman_tree_add(&tree, symbol);
		if (i % 500 > 1)
			continue;
		held_printf("%u: %d %d ", i, tree.leaf[symbol], tree.leaf[HUFFMAN_NYT]);
		held_bytes("code", bits, (size_t)huffman_tree_code(&tree, symbol, bits));
		held_bytes("tree", &tree, sizeof(tree));
	}
	held_bytes("lookup", huffman_lookup, sizeof(huffman_lookup));
	held_end("tests/lib/held_huffman.txt");
}

/* --- metrics -------------------------------------------------------------------------
 */

static void metrics(void **state)
{
	static const struct ometric families[] = {
		{ "q_packets", OMETRIC_COUNTER, NULL, "Help \"me\".\n", { "a", "b" } },
		{ "q_size_bytes", OMETRIC_GAUGE, "bytes", "Size.", { NULL } },
		{ "q_build", OMETRIC_INFO, NULL, "Built.", { "version" } },
		{ "q_ping_seconds", OMETRIC_HISTOGRAM, "seconds", "Pings.", { "a" } },
		{ "q_bare_seconds", OMETRIC_HISTOGRAM, "seconds", "Bare.", { NULL } },
		{ "q_all",
		  OMETRIC_GAUGE,
		  NULL,
		  "All.",
		  { "a", "b", "c", "d", "e", "f" } },
	};
	static const struct histogram_bounds bounds[] = {
		{ 5, { 0, 0.01, 1, 12.5, 1e20 } },
		{ HISTOGRAM_BUCKETS, { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 } },
	};
	static const char *const values[] = { "one\n", "t\\w\"o", "\xc3\xa9",
					      "4",     "5",	  "6" };
	static const double numbers[] = { 0,   1,	 -1.5,	   1e300, 123456789.125,
					  NAN, INFINITY, -INFINITY };

	(void)state;
	held_begin();
	for (int format = OMETRIC_OPEN; format <= OMETRIC_TEXT; format++) {
		for (size_t i = 0; i < ARRAY_SIZE(families); i++) {
			const struct ometric *m = &families[i];

			ometric_begin(held.out, m, (enum ometric_format)format);
			ometric_uint(held.out, m, values, i * 18446744073709551ull);
			for (size_t j = 0; j < ARRAY_SIZE(numbers); j++)
				ometric_real(held.out, m, values, numbers[j]);
			for (size_t b = 0; b < ARRAY_SIZE(bounds); b++) {
				struct histogram h = { .count = 0 };

				for (int j = 0; j < 60; j++)
					histogram_add(&h, &bounds[b], j * 0.25 - 0.5);
				ometric_histogram(held.out, m, values, &h, &bounds[b]);
			}
		}
		ometric_end(held.out, (enum ometric_format)format);
	}
	held_printf("%s\n",
		    ometric_check(families, ARRAY_SIZE(families)) ? "wrong" : "right");
	held_end("tests/lib/held_ometric.txt");
}

static void tables(void **state)
{
	static const struct ometric rows[] = {
		{ NULL, OMETRIC_GAUGE, NULL, "H.", { NULL } },
		{ "", OMETRIC_GAUGE, NULL, "H.", { NULL } },
		{ "1q", OMETRIC_GAUGE, NULL, "H.", { NULL } },
		{ "q1", OMETRIC_GAUGE, NULL, "H.", { NULL } },
		{ "q:1", OMETRIC_GAUGE, NULL, "H.", { NULL } },
		{ "q_total", OMETRIC_GAUGE, NULL, "H.", { NULL } },
		{ "_total", OMETRIC_GAUGE, NULL, "H.", { NULL } },
		{ "q_created", OMETRIC_GAUGE, NULL, "H.", { NULL } },
		{ "q_count", OMETRIC_GAUGE, NULL, "H.", { NULL } },
		{ "q_sum", OMETRIC_GAUGE, NULL, "H.", { NULL } },
		{ "q_bucket", OMETRIC_GAUGE, NULL, "H.", { NULL } },
		{ "q_info", OMETRIC_GAUGE, NULL, "H.", { NULL } },
		{ "q_gcount", OMETRIC_GAUGE, NULL, "H.", { NULL } },
		{ "q_gsum", OMETRIC_GAUGE, NULL, "H.", { NULL } },
		{ "q_summ", OMETRIC_GAUGE, NULL, "", { NULL } },
		{ "q_summ", OMETRIC_GAUGE, NULL, NULL, { NULL } },
		{ "q_s", OMETRIC_GAUGE, "", "H.", { NULL } },
		{ "q_s", OMETRIC_GAUGE, "s", "H.", { NULL } },
		{ "qs", OMETRIC_GAUGE, "s", "H.", { NULL } },
		{ "s", OMETRIC_GAUGE, "s", "H.", { NULL } },
		{ "q_t", OMETRIC_GAUGE, "s", "H.", { NULL } },
		{ "q_s", OMETRIC_INFO, "s", "H.", { NULL } },
		{ "q", OMETRIC_GAUGE, NULL, "H.", { "le" } },
		{ "q", OMETRIC_HISTOGRAM, NULL, "H.", { "a", "le" } },
		{ "q", OMETRIC_GAUGE, NULL, "H.", { "a", "b", "a" } },
		{ "q", OMETRIC_GAUGE, NULL, "H.", { "_a" } },
		{ "q", OMETRIC_GAUGE, NULL, "H.", { "__a" } },
		{ "q", OMETRIC_GAUGE, NULL, "H.", { "a", "" } },
		{ "q", OMETRIC_GAUGE, NULL, "H.", { "a", "b", "c", "d", "e", "f" } },
		{ "q", OMETRIC_GAUGE, NULL, "H.", { "a", "b", "c", "d", "e", "f", "g" } },
	};
	struct ometric both[3] = { { "a", OMETRIC_GAUGE, NULL, "H.", { NULL } } };

	(void)state;
	held_begin();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *wrong = ometric_check(&rows[i], 1);

		held_printf("%zu: %s", i, wrong ? wrong : "right");
		both[1] = rows[i];
		both[2] = i % 2 ? both[0] : rows[i];
		wrong = ometric_check(both, 3);
		held_printf("; %s\n", wrong ? wrong : "right");
	}
	held_end("tests/lib/held_tables.txt");
}

/* --- who sends most ------------------------------------------------------------------
 */

static void sources_put(const struct drop_sources *w)
{
	struct drop_sources_row rows[DROP_SOURCES_PLACES];
	uint64_t all = HELD_BEGIN;

	held_printf("total %llu:", (unsigned long long)w->total);
	for (size_t max = 0; max < 5; max++)
		held_printf(" %zu", drop_sources_list(w, rows, max));
	for (size_t i = 0; i < drop_sources_list(w, rows, DROP_SOURCES_PLACES); i++)
		held_printf(" %08x/%u of %u: %llu", rows[i].prefix.addr[i % 4],
			    rows[i].prefix.length, rows[i].slot,
			    (unsigned long long)rows[i].count);
	for (size_t i = 0; i < DROP_SOURCES_PLACES; i++)
		all = held_sum(all, &w->rows[i], sizeof(w->rows[i]));
	held_printf(" %016" PRIx64 "\n", all);
}

static void sources(void **state)
{
	static const uint32_t hosts[] = { 1, 3, 19, 20, 21, 22, 63, 64, 65, 300 };

	(void)state;
	held_begin();
	for (size_t i = 0; i < ARRAY_SIZE(hosts); i++) {
		struct drop_sources w;
		uint32_t dice = 11;

		memset(&w, 0, sizeof(w));
		for (uint32_t n = 1; n <= 1200; n++) {
			struct record_address a = { 4, { 10 }, 5 };
			uint32_t host = n % 3 ? held_dice(&dice, hosts[i]) : n % hosts[i];

			a.length = (uint8_t)(host % 5 == 4 ? 16 : host % 17 == 3 ? 7 : 4);
			memcpy(a.bytes + 1, &host, 2);
			a.bytes[3] = (uint8_t)n;
			a.bytes[7] = (uint8_t)n;
			drop_sources_add(&w, host % 2, &a);
			if (n == 400)
				drop_sources_fade(&w);
			if (n == 19 || n == 20 || n == 21 || n == 22 || n % 300 == 0)
				sources_put(&w);
		}
	}
	held_end("tests/lib/held_sources.txt");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(heads),   cmocka_unit_test(packets),
		cmocka_unit_test(huffman), cmocka_unit_test(metrics),
		cmocka_unit_test(tables),  cmocka_unit_test(sources),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
