/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * word.h - the words of out-of-band datagrams as integers, and the short ways to tell the
 * common ones. Part of classify.h, as pure as that.
 */
#ifndef WORD_H
#define WORD_H

#include <stdbool.h>

#include "cursor.h"
#include "wire.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "word matching reads letters as little-endian integers"
#endif

#define FAST_MIN  8 /* bytes of a datagram for classify_fast() */
#define FAST_MAX  2047
#define FAST_MASK 0x7ff

/* --- words: up to 32 letters as four integers, so that matching is == ------------------
 */

struct word {
	__u64 part[WIRE_WORD_MAX / 8];
};

#define WORD_LETTER(s, i)                                                              \
	((i) < sizeof(s) - 1                                                           \
		 ? (__u64)((__u8)(s)[(i) < sizeof(s) ? (i) : 0] | 0x20) << (i) % 8 * 8 \
		 : 0)
#ifndef WORD_PART /* `make lint` brings a short one: cppcheck takes minutes over this */
#define WORD_PART(s, n)                                          \
	(WORD_LETTER(s, (n)*8 + 0) | WORD_LETTER(s, (n)*8 + 1) | \
	 WORD_LETTER(s, (n)*8 + 2) | WORD_LETTER(s, (n)*8 + 3) | \
	 WORD_LETTER(s, (n)*8 + 4) | WORD_LETTER(s, (n)*8 + 5) | \
	 WORD_LETTER(s, (n)*8 + 6) | WORD_LETTER(s, (n)*8 + 7))
#endif

/* The last 8 bytes of the marker and a word of 4 to 12 letters behind it. */
#define WORD_MARKED(s, at) \
	((at) < 4 ? 0xffull : (__u64)((__u8)(s)[(at) < 4 ? 0 : (at)-4] | 0x20))
#define WORD_BYTE(s, i) (WORD_MARKED(s, sizeof(s) - 5 + (i)) << (i)*8)
#ifndef WORD_LAST
#define WORD_LAST(s)                                                             \
	(WORD_BYTE(s, 0) | WORD_BYTE(s, 1) | WORD_BYTE(s, 2) | WORD_BYTE(s, 3) | \
	 WORD_BYTE(s, 4) | WORD_BYTE(s, 5) | WORD_BYTE(s, 6) | WORD_BYTE(s, 7))
#endif

/* One integer to search by. That no two rows mix alike is a test. */
#define WORD_MIX(a, b, c, d) (((a)*0xff51afd7ed558ccdull) ^ (b) ^ (c) ^ (d))

#define WORD_FITS(kind, word, class_, families) \
	_Static_assert(sizeof(word) - 1 <= WIRE_WORD_MAX, #kind ": word too long");
WIRE_WORDS(WORD_FITS)
#undef WORD_FITS

#define EACH_BYTE(b) (0x0101010101010101ull * (b))

static __always_inline __u64 load_u64(const void *at)
{
#ifdef __bpf__
	return *(const __u64 *)at;
#else
	__u64 v;

	__builtin_memcpy(&v, at, sizeof(v));
	return v;
#endif
}

static __always_inline __u32 load_u32(const void *at)
{
#ifdef __bpf__
	return *(const __u32 *)at;
#else
	__u32 v;

	__builtin_memcpy(&v, at, sizeof(v));
	return v;
#endif
}

static __always_inline __u16 load_u16(const void *at)
{
#ifdef __bpf__
	return *(const __u16 *)at;
#else
	__u16 v;

	__builtin_memcpy(&v, at, sizeof(v));
	return v;
#endif
}

static __always_inline __u16 load_be16(const __u8 *at)
{
	return __builtin_bswap16(load_u16(at));
}

/* The next min(@left, 8) bytes, first byte lowest, zeros above them. */
static __always_inline __u64 take_u64(struct cursor *c, __u32 left)
{
	const void *at;
	__u64 v = 0;
	__u32 shift = 0;

	if (left >= 8) {
		at = cursor_take(c, 8);
		return at ? load_u64(at) : 0;
	}
	if (left & 4) {
		at = cursor_take(c, 4);
		if (!at)
			return 0;
		v = load_u32(at);
		shift = 32;
	}
	if (left & 2) {
		at = cursor_take(c, 2);
		if (!at)
			return 0;
		v |= (__u64)load_u16(at) << shift;
		shift += 16;
	}
	if (left & 1) {
		at = cursor_take(c, 1);
		if (!at)
			return 0;
		v |= (__u64) * (const __u8 *)at << shift;
	}
	return v;
}

/*
 * Lower case of the letters before the first byte <= 0x20, zeros from there on.
 * *@ended: not zero if there was such a byte (the zeros above a short read count). Only
 * letters and their upper case share a folded value, so folding by OR is exact for our
 * rows.
 */
static __always_inline __u64 word_cut(__u64 v, __u64 *ended)
{
	__u64 stop = (v - EACH_BYTE(0x21)) & ~v & EACH_BYTE(0x80);

	*ended = stop;
	/* Borrows run upward only: the lowest flag is exact, the others do not matter. */
	stop &= -stop;
	return (v | EACH_BYTE(0x20)) & ((stop >> 7) - 1);
}

/* Longer than WIRE_WORD_MAX: some word that is in no row. */
static __always_inline struct word word_read(struct cursor *c, __u32 left)
{
	struct word w = { { 0 } };
	__u64 ended;

	w.part[0] = word_cut(take_u64(c, left), &ended);
	if (ended || left <= 8)
		return w;
	w.part[1] = word_cut(take_u64(c, left - 8), &ended);
	if (ended || left <= 16)
		return w;
	w.part[2] = word_cut(take_u64(c, left - 16), &ended);
	if (ended || left <= 24)
		return w;
	w.part[3] = word_cut(take_u64(c, left - 24), &ended);
	if (!ended && left > 32)
		w.part[3] = ~0ull;
	return w;
}

/*
 * KIND_COUNT: in no row. Comparisons of one integer with constants, which the compiler
 * turns into a binary search. (A switch would say so, but a character of a string
 * literal is no constant expression in C.)
 */
static __always_inline enum wire_kind word_match(__u64 a, __u64 b, __u64 c, __u64 d)
{
	__u64 mix = WORD_MIX(a, b, c, d);

#define MATCH(kind, word, class_, families)                                             \
	if (mix == WORD_MIX(WORD_PART(word, 0), WORD_PART(word, 1), WORD_PART(word, 2), \
			    WORD_PART(word, 3)))                                        \
		return a == WORD_PART(word, 0) && b == WORD_PART(word, 1) &&            \
				       c == WORD_PART(word, 2) &&                       \
				       d == WORD_PART(word, 3)                          \
			       ? KIND_##kind                                            \
			       : KIND_COUNT;
	WIRE_WORDS(MATCH)
#undef MATCH
	return KIND_COUNT;
}

/* The same, not inlined in the kernel: the verifier walks it once, and it takes longer.
 */
#ifdef __bpf__
__attribute__((noinline)) int word_search(__u64 a, __u64 b, __u64 c, __u64 d)
#else
static inline int word_search(__u64 a, __u64 b, __u64 c, __u64 d)
#endif
{
	return word_match(a, b, c, d);
}

/* --- the few words that floods are made of, spelled as clients spell them --------------
 */

/* Lower case of four letters, and of other bytes something that is no letter's. */
static __always_inline __u32 letters_at(const __u8 *at)
{
	return load_u32(at) | (__u32)EACH_BYTE(0x20);
}

/*
 * Whether what follows the marker is the word of @letters (4..12) of which the last 8,
 * with bytes of the marker before them if there are fewer, are @last; the first four are
 * known. Exact, since only a letter and its upper case share a folded value.
 */
static __always_inline bool word_here(struct cursor c, __u64 length, __u32 letters,
				      __u64 last)
{
	const __u8 *at, *behind;

	if (length < 4 + letters)
		return false;
	at = cursor_take(&c, 4 + letters);
	if (!at || (load_u64(at + letters - 4) | EACH_BYTE(0x20)) != last)
		return false;
	if (length == 4 + letters)
		return true;
	behind = cursor_take(&c, 1);
	return behind && *behind <= 0x20;
}

/* KIND_COUNT: none of them. @c begins with the marker, then @letters as letters_at(). */
static __always_inline enum wire_kind classify_letters(struct cursor c, __u64 length,
						       __u32 letters)
{
#define HOT(kind, word)                                              \
	if (letters == (__u32)WORD_PART(word, 0) &&                  \
	    word_here(c, length, sizeof(word) - 1, WORD_LAST(word))) \
		return KIND_##kind;
	WIRE_HOT(HOT)
#undef HOT
	return KIND_COUNT;
}

/* KIND_COUNT: none of them, or not so plainly. */
static __always_inline enum wire_kind classify_hot(struct cursor c, __u64 length)
{
	struct cursor head = c;
	const __u8 *mark = cursor_take(&head, 8);

	if (!mark || load_u32(mark) != 0xffffffff)
		return KIND_COUNT;
	return classify_letters(c, length, letters_at(mark + 4));
}

/*
 * The last @left letters of a datagram of @length bytes at @start, as take_u64() reads
 * them, by one load of its last 8 bytes. @length: at least 8; @left: 1..8.
 */
static __always_inline __u64 last_u64(struct cursor start, __u32 length, __u32 left)
{
	const void *at;

	if (!cursor_take(&start, (length - 8) & FAST_MASK))
		return 0;
	at = cursor_take(&start, 8);
	return at ? load_u64(at) >> (64 - 8 * left) : 0;
}

/*
 * Words of up to 16 letters, spelled as clients spell them, in a hurry: what
 * classify() says of them, or KIND_COUNT: ask classify().
 */
static __always_inline enum wire_kind classify_fast(struct cursor start, __u32 length)
{
	struct cursor c = start;
	__u64 first, second = 0;
	const void *mark;
	__u64 ended = 0;

	mark = cursor_take(&c, 4);
	if (!mark || load_u32(mark) != 0xffffffff)
		return KIND_COUNT;
	if (length < FAST_MIN || length > FAST_MAX)
		return KIND_COUNT;
	if (length < 12) {
		first = word_cut(last_u64(start, length, length - 4), &ended);
		goto match;
	}
	mark = cursor_take(&c, 8);
	first = mark ? word_cut(load_u64(mark), &ended) : 0;
	if (ended || length == 12)
		goto match;
	if (length < 20) {
		second = last_u64(start, length, length - 12);
	} else {
		mark = cursor_take(&c, 8);
		second = mark ? load_u64(mark) : 0;
	}
	second = word_cut(second, &ended);
	if (!ended && length > 20)
		return KIND_COUNT;
match:
	return word_match(first, second, 0, 0);
}

#endif /* WORD_H */
