// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Words behind the marker: every row of wire.h, whole, cut and misspelt.
 */
#include "include/classify_support.h"
#include "spellings.h"

#define MARK "\xff\xff\xff\xff"

/* What a client may put behind a word, and what an engine ends it by. */
static const struct {
	const char *bytes;
	size_t n;
} endings[] = {
	{ "", 0 },
	{ " ", 1 },
	{ "\n", 1 },
	{ "\0", 1 },
	{ "\t", 1 },
	{ "\r", 1 },
	{ "\x1f", 1 },
	{ " xxx", 4 },
	{ "\nrest", 5 },
	{ "\0junk", 5 },
	{ " 1 2 3 4 5 6 7 8 9 10", 21 },
};

enum spelling {
	AS_IS,
	UPPER,
	LOWER,
	MIXED,
	SPELLINGS
};

static size_t spell(char *out, const char *word, enum spelling spelling)
{
	size_t n = strlen(word);

	for (size_t i = 0; i < n; i++) {
		char c = word[i];
		bool up = spelling == UPPER || (spelling == MIXED && i % 2);

		if (spelling != AS_IS && (c | 0x20) >= 'a' && (c | 0x20) <= 'z')
			c = (char)(up ? c & ~0x20 : c | 0x20);
		out[i] = c;
	}
	return n;
}

static void every_word_in_every_family(void **state)
{
	char bytes[128] = MARK;

	(void)state;
	for (size_t row = 0; row < COUNT(word_rows); row++) {
		for (size_t end = 0; end < COUNT(endings); end++) {
			for (int s = 0; s < SPELLINGS; s++) {
				size_t n = 4 + spell(bytes + 4, word_rows[row].word, s);

				memcpy(bytes + n, endings[end].bytes, endings[end].n);
				n += endings[end].n;
				for (int f = 0; f < FAMILY_COUNT; f++) {
					assert_int_equal(kind_of(f, DIRECTION_C2S, bytes,
								 n),
							 word_rows[row].kind);
					assert_int_equal(kind_of(f, DIRECTION_S2C, bytes,
								 n),
							 word_rows[row].kind);
				}
			}
		}
	}
}

/* What is in no row, but starts with a letter that a family knows: never looser. */
static bool stricter(enum wire_family family, enum wire_kind kind)
{
	enum wire_class class = wire_class(family, kind);

	return class == CLASS_UNKNOWN || class == CLASS_MALFORMED || class == CLASS_REPLY;
}

static void a_cut_word_is_no_looser(void **state)
{
	char bytes[64] = MARK;

	(void)state;
	for (size_t row = 0; row < COUNT(word_rows); row++) {
		size_t whole = 4 + spell(bytes + 4, word_rows[row].word, AS_IS);

		for (size_t n = 0; n < whole; n++) {
			enum wire_kind want = KIND_COUNT;

			if (n >= 4)
				want = reference_word(bytes + 4, n - 4);
			for (int f = 0; f < FAMILY_COUNT; f++) {
				enum wire_kind kind = kind_of(f, DIRECTION_C2S, bytes, n);

				/* Nor is what stands behind the end a part of it. */
				bytes[whole] = ' ';
				assert_int_equal(classify_span(f, DIRECTION_C2S,
							       (const __u8 *)bytes,
							       whole + 1, n),
						 kind);
				if (want != KIND_COUNT)
					assert_int_equal(kind, want);
				else
					assert_true(stricter(f, kind));
			}
		}
	}
}

static void a_longer_word_is_another(void **state)
{
	static const char *const tails[] = { "x",
					     "_",
					     "1",
					     "\"",
					     "\x7f",
					     "\x80",
					     "\xff",
					     "/*",
					     "//",
					     "\\",
					     "aaaaaaaaaaaaaaaaaaaaaaaaaaaa" };
	char bytes[128] = MARK;

	(void)state;
	for (size_t row = 0; row < COUNT(word_rows); row++) {
		for (size_t i = 0; i < COUNT(tails); i++) {
			size_t n = 4 + spell(bytes + 4, word_rows[row].word, AS_IS);
			enum wire_kind want;

			memcpy(bytes + n, tails[i], strlen(tails[i]));
			n += strlen(tails[i]);
			want = reference_word(bytes + 4, n - 4);
			if ((word_rows[row].kind == KIND_CONNECT ||
			     word_rows[row].kind == KIND_D0PK) &&
			    tails[i][0] == '\\')
				want = word_rows[row].kind; /* DarkPlaces */
			for (int f = 0; f < FAMILY_COUNT; f++) {
				enum wire_kind kind = kind_of(f, DIRECTION_C2S, bytes, n);

				if (want != KIND_COUNT)
					assert_int_equal(kind, want);
				else
					assert_true(stricter(f, kind));
			}
		}
	}
}

static void spellings_do_not_escape(void **state)
{
	char bytes[128] = MARK;

	(void)state;
	for (size_t i = 0; i < COUNT(spellings); i++) {
		size_t n = 4 + spellings[i].n;

		memcpy(bytes + 4, spellings[i].text, spellings[i].n);
		for (int f = 0; f < FAMILY_COUNT; f++) {
			enum wire_kind kind = kind_of(f, DIRECTION_C2S, bytes, n);

			if (kind != spellings[i].kind)
				print_bytes(kind_name(kind), bytes, n);
			assert_int_equal(kind, spellings[i].kind);
		}
	}
}

/* No Quake server answers these; those that it would are in other rows. */
static void look_alikes_share_the_strict_budget(void **state)
{
	static const enum wire_kind kinds[] = {
		KIND_A2S_INFO,	    KIND_A2S_PLAYER,  KIND_A2S_RULES,
		KIND_A2S_CHALLENGE, KIND_A2S_PING,    KIND_A2S_REPLY,
		KIND_OOB_UNUSUAL,   KIND_OOB_UNKNOWN, KIND_OOB_EMPTY,
	};

	(void)state;
	for (size_t i = 0; i < COUNT(kinds); i++) {
		for (int f = 0; f < FAMILY_COUNT; f++)
			assert_int_equal(wire_class(f, kinds[i]), CLASS_UNKNOWN);
	}
}

static const struct {
	__u8 class_;
	__u8 families;
} wire_rows[KIND_COUNT] = {
#define AS_SHAPE(kind, name, class_, families, ...) \
	[KIND_##kind] = { CLASS_##class_, families },
#define AS_CODED(kind, code, name, class_, families) \
	[KIND_##kind] = { CLASS_##class_, families },
	EACH_KIND(AS_SHAPE, AS_CODED)
#undef AS_SHAPE
#undef AS_CODED
};

static void words_of_other_families_are_unknown(void **state)
{
	(void)state;
	for (int kind = 0; kind < KIND_COUNT; kind++) {
		for (int f = 0; f < FAMILY_AUTO; f++) {
			bool acts = wire_rows[kind].families & 1 << f;
			enum wire_class want =
				acts ? wire_rows[kind].class_ : CLASS_UNKNOWN;

			assert_int_equal(wire_class(f, kind), want);
		}
		assert_int_equal(wire_class(FAMILY_AUTO, kind), wire_rows[kind].class_);
	}
	assert_int_equal(wire_class(FAMILY_QUAKE3, KIND_COUNT), CLASS_MALFORMED);
}

/* Lists are queries, heartbeats a first step, servers' answers a later one. */
static void a_master_lists_and_asks(void **state)
{
	static const struct {
		const char *bytes;
		size_t n;
		enum wire_kind kind;
		enum wire_class class_;
	} rows[] = {
#define ROW(text, kind, class_) { text, sizeof(text) - 1, KIND_##kind, CLASS_##class_ }
		ROW("\xff\xff\xff\xffgetservers 68 empty", GETSERVERS, QUERY),
		ROW("\xff\xff\xff\xffgetserversExt Xonotic 3", GETSERVERSEXT, QUERY),
		ROW("c\n", C2M_QUERY, QUERY),
		ROW("c\n\0", C2M_QUERY, QUERY),
		ROW("query", Q2_MASTER_QUERY, QUERY),
		ROW("query\n\0", Q2_MASTER_QUERY, QUERY),
		ROW("\xff\xff\xff\xffheartbeat DarkPlaces\n", HEARTBEAT, CHALLENGE),
		ROW("a\n1\n0\n", S2M_HEARTBEAT, CHALLENGE),
		ROW("\xff\xff\xff\xffinfoResponse\n\\x\\y", INFORESPONSE, CONNECT),
		ROW("\xff\xff\xff\xffn\\hostname\\x\n", A2C_PRINT, CONNECT),
		ROW("C\n", S2M_SHUTDOWN, CONNECT),
		ROW("k\0", S2M_PING, CONNECT),
		ROW("\xff\xff\xff\xffgetserversResponse\\", OOB_UNKNOWN, UNKNOWN),
		ROW("\xff\xff\xff\xffgetstatus", GETSTATUS, UNKNOWN),
		ROW("\xff\xff\xff\xffrcon x", RCON, UNKNOWN),
		ROW("\1\0\0\0\2\0\0\0moves", NETCHAN, NETCHAN),
#undef ROW
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct cursor c = { (const __u8 *)rows[i].bytes,
				    (const __u8 *)rows[i].bytes + rows[i].n };
		enum wire_kind kind =
			classify(FAMILY_MASTER, DIRECTION_C2S, c, (__u32)rows[i].n);

		assert_int_equal(kind, rows[i].kind);
		assert_int_equal(wire_class(FAMILY_MASTER, kind), rows[i].class_);
		assert_false(kind_takes_part(FAMILY_MASTER, kind));
	}
}

/* The short cut may pass a datagram on, but never say anything else of it. */
static void hot_agrees(const __u8 *bytes, size_t n)
{
	struct cursor c = { bytes, bytes + n };
	enum wire_kind hot = classify_hot(c, n);

	for (int f = 0; f < FAMILY_COUNT; f++) {
		enum wire_kind kind = classify(f, DIRECTION_C2S, c, n);

		if (hot != KIND_COUNT)
			assert_int_equal(hot, kind);
	}
}

static void the_short_cut_agrees(void **state)
{
	static const char *const words[] = {
#define AS_WORD(kind, word, class_, families, sent) word,
		WIRE_WORDS(AS_WORD)
#undef AS_WORD
	};
	static const char *const tails[] = { "",    " ",	  "\n",
					     " x",  "\nabcdefgh", " 0123456789abcdef",
					     "x",   "\"",	  "\\key\\value",
					     "\xff" };
	__u8 buffer[128] = { 0xff, 0xff, 0xff, 0xff };
	unsigned int seed = 7;

	(void)state;
	for (size_t w = 0; w < COUNT(words); w++) {
		for (size_t t = 0; t < COUNT(tails); t++) {
			size_t n = 4 + (size_t)snprintf((char *)buffer + 4,
							sizeof(buffer) - 4, "%s%s",
							words[w], tails[t]);

			for (size_t cut = 0; cut <= n; cut++)
				hot_agrees(buffer, cut);
			for (int i = 0; i < 20; i++) {
				size_t at = (size_t)rand_r(&seed) % n;
				__u8 kept = buffer[at];

				buffer[at] = (__u8)rand_r(&seed);
				hot_agrees(buffer, n);
				buffer[at] = kept;
			}
		}
	}
}

/* The words of floods: recognised whole, in any case, by themselves or before a blank. */
static void hot_words_are_found(void **state)
{
	static const struct {
		enum wire_kind kind;
		const char *word;
	} rows[] = {
#define AS_ROW(kind, word) { KIND_##kind, word },
		WIRE_HOT(AS_ROW)
#undef AS_ROW
	};
	static const char *const tails[] = { "", "\n", " x", "\t", "x", "\\x", "\"" };
	__u8 buffer[64] = { 0xff, 0xff, 0xff, 0xff };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		for (size_t t = 0; t < COUNT(tails); t++) {
			int n = 4 + snprintf((char *)buffer + 4, sizeof(buffer) - 4,
					     "%s%s", rows[i].word, tails[t]);
			struct cursor c = { buffer, buffer + n };
			enum wire_kind want = t < 4 ? rows[i].kind : KIND_COUNT;

			assert_int_equal(classify_hot(c, (__u64)n), want);
			buffer[5] ^= 0x20;
			assert_int_equal(classify_hot(c, (__u64)n), want);
			/* 0xdf and 0xff are one but for the bit by which cases differ. */
			buffer[3] ^= 0x20;
			assert_int_equal(classify_hot(c, (__u64)n), KIND_COUNT);
			buffer[3] = 0xff;
			buffer[4] ^= 0x01;
			assert_int_equal(classify_hot(c, (__u64)n), KIND_COUNT);
		}
	}
}

/* How many places the words have with @key: as many as there are words, or it is none. */
static size_t places_with(__u64 key)
{
	static const char *const words[] = {
#define AS_WORD(kind, word, class_, families, sent) word,
		WIRE_WORDS(AS_WORD)
#undef AS_WORD
	};
	bool taken[WORD_PLACES + WORD_LONGS] = { false };
	size_t places = 0;

	for (size_t i = 0; i < COUNT(words); i++) {
		__u64 part[4] = { 0 }, mix;
		size_t n = strlen(words[i]), at;

		for (size_t c = 0; c < n; c++)
			part[c / 8] |= (__u64)(words[i][c] | 0x20) << c % 8 * 8;
		mix = part[0] ^ part[1] ^ part[2] ^ part[3];
		at = n > WORD_PAIR ? WORD_PLACES + (mix * key >> 60)
				   : mix * key >> (64 - WORD_BITS);
		places += !taken[at];
		taken[at] = true;
	}
	return places;
}

/* Who has added a word that shares another's place is told of a key that parts them. */
static void no_two_words_share_a_place(void **state)
{
	__u64 key = WORD_KEY;

	(void)state;
	if (places_with(key) == COUNT(word_rows))
		return;
	for (int i = 0; i < 4000000; i++) {
		key = (key * 6364136223846793005ull + 1442695040888963407ull) | 1;
		if (places_with(key) != COUNT(word_rows))
			continue;
		print_error("WORD_KEY in word.h may be %#llx\n", (unsigned long long)key);
		break;
	}
	fail();
}

/* word_kind() goes on to the next 8 letters only behind what word_goes_on() takes. */
static void rows_are_of_letters_to_their_last_part(void **state)
{
	static const char *const words[] = {
#define AS_WORD(kind, word, class_, families, sent) word,
		WIRE_WORDS(AS_WORD)
#undef AS_WORD
	};

	(void)state;
	for (size_t i = 0; i < COUNT(words); i++)
		for (size_t at = 0; at + 8 <= strlen(words[i]); at += 8)
			assert_true(word_goes_on(load_u64(words[i] + at)));
}

static void take_u64_is_bytewise(void **state)
{
	unsigned int seed = 1;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		__u8 bytes[16] = { 0 };
		__u32 n = (__u32)rand_r(&seed) % 16;
		const __u8 *at;
		struct cursor c;
		__u64 want = 0;

		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = (__u8)rand_r(&seed);
		for (__u32 i = 0; i < n && i < 8; i++)
			want |= (__u64)bytes[i] << 8 * i;
		at = guard_page(bytes, n);
		c = (struct cursor){ .pos = at, .end = at + n };
		assert_true(take_u64(&c, n) == want);
		assert_int_equal(c.pos - at, n < 8 ? n : 8);
	}
}

static void word_cut_is_bytewise(void **state)
{
	unsigned int seed = 2;

	(void)state;
	for (int round = 0; round < 200000; round++) {
		__u64 v = 0, want = 0;
		bool want_ended = false;

		for (int i = 0; i < 8; i++) {
			__u8 byte = (__u8)rand_r(&seed);

			/* Let the edges come often. */
			if (rand_r(&seed) % 4 == 0)
				byte = (__u8)("\x00\x1f\x20\x21\x7f\x80\xa0\xff"[byte %
										 8]);
			v |= (__u64)byte << 8 * i;
			want_ended |= byte <= 0x20;
			if (!want_ended)
				want |= (__u64)(byte | 0x20) << 8 * i;
		}
		assert_true(word_cut(v) == want);
		assert_int_equal(word_stop(v) != 0, want_ended);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_word_in_every_family),
		cmocka_unit_test(a_cut_word_is_no_looser),
		cmocka_unit_test(a_longer_word_is_another),
		cmocka_unit_test(spellings_do_not_escape),
		cmocka_unit_test(look_alikes_share_the_strict_budget),
		cmocka_unit_test(words_of_other_families_are_unknown),
		cmocka_unit_test(a_master_lists_and_asks),
		cmocka_unit_test(the_short_cut_agrees),
		cmocka_unit_test(hot_words_are_found),
		cmocka_unit_test(no_two_words_share_a_place),
		cmocka_unit_test(rows_are_of_letters_to_their_last_part),
		cmocka_unit_test(take_u64_is_bytewise),
		cmocka_unit_test(word_cut_is_bytewise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
