/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * word.h - recognise the command word of an out-of-band datagram: words as integers,
 * compared with the rows of wire.h.
 *
 * Part of classify.h and as pure. classify_letters() and classify_hot() recognise the few
 * words of floods in fewer steps; word_kind() recognises all. Both must agree: a hot word
 * that is spelled otherwise is left to word_kind().
 *
 * word_kind() is called by classify_oob(), letters_at() and classify_letters() by the
 * fast path, classify_hot() by tests; load_*() by all programs. challenge.h and
 * classify.h use WORD_PART(), tags.h and greylist.h EACH_BYTE(). The other functions are
 * called in this file and by tests/include/test_classify.c. Words come from WIRE_WORDS
 * and WIRE_HOT in wire.h.
 */
#ifndef WORD_H
#define WORD_H

#include <stdbool.h>

#include "cursor.h"
#include "wire.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "word matching reads letters as little-endian integers"
#endif

/* --- words: up to 32 letters as four integers, so that matching is == ------------------
 */

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

/* The last 8 bytes of the marker and a word of 4 to 12 letters after it. */
#define WORD_MARKED(s, at) \
	((at) < 4 ? 0xffull : (__u64)((__u8)(s)[(at) < 4 ? 0 : (at)-4] | 0x20))
#define WORD_BYTE(s, i) (WORD_MARKED(s, sizeof(s) - 5 + (i)) << (i)*8)
#ifndef WORD_LAST
#define WORD_LAST(s)                                                             \
	(WORD_BYTE(s, 0) | WORD_BYTE(s, 1) | WORD_BYTE(s, 2) | WORD_BYTE(s, 3) | \
	 WORD_BYTE(s, 4) | WORD_BYTE(s, 5) | WORD_BYTE(s, 6) | WORD_BYTE(s, 7))
#endif

/*
 * Place of a word among the rows; words of more than WORD_PAIR letters are after the
 * others. With this key no two words share a place, or the compiler reports an
 * initialiser that is overwritten: then tests/include/test_classify.c prints another key.
 */
#define WORD_PAIR	  16 /* letters in the first two parts of a word */
#define WORD_END	  36 /* bytes of the longest datagram that ends within a word's parts */
#define WORD_END_MASK	  0x1f
#define WORD_KEY	  0x9754a2f6b0a9064dull
#define WORD_BITS	  10
#define WORD_PLACES	  (1 << WORD_BITS)
#define WORD_LONGS	  16 /* places for words of more than WORD_PAIR letters */
#define WORD_AT(mix)	  ((mix)*WORD_KEY >> (64 - WORD_BITS))
#define WORD_LONG_AT(mix) (WORD_PLACES + ((mix)*WORD_KEY >> 60))

#define WORD_FITS(kind, word, class_, families, sent) \
	_Static_assert(sizeof(word) - 1 <= WIRE_WORD_MAX, #kind ": word too long");
WIRE_WORDS(WORD_FITS)
#undef WORD_FITS

#define EACH_BYTE(b) (0x0101010101010101ull * (b))

/*
 * Return the 8 bytes at @at, the first lowest; of any alignment. The caller has compared
 * the bounds, as for the next three: in the programs the verifier demands it, in userland
 * nothing does.
 */
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

/* Return the 4 bytes at @at likewise. */
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

/* Return the 2 bytes at @at likewise. */
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

/* Return the 2 bytes at @at, the first highest. The caller has compared the bounds. */
static __always_inline __u16 load_be16(const __u8 *at)
{
	return __builtin_bswap16(load_u16(at));
}

/*
 * Return the next min(@left, 8) bytes, the first lowest, with zeros above. 0 if @c ends
 * earlier; then a part may be taken, so @c must not be used any more. Called by
 * classify_short(), game_port_begins() and other_protocol_shape().
 */
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
 * Return nonzero if a byte of @v is at most 0x20, as the zeros above a short read are:
 * the lowest such byte has bit 7 set, and no byte below it has. Called by word_cut().
 */
static __always_inline __u64 word_stop(__u64 v)
{
	return (v - EACH_BYTE(0x21)) & ~v & EACH_BYTE(0x80);
}

/*
 * Lower case of letters. Of our rows' letters only those and their upper case share a
 * folded value, and `_` and 7Fh: a word with 7Fh for `_`, which no server knows, is
 * judged as if it were the word. Called by word_cut() and word_kind().
 */
static __always_inline __u64 word_fold(__u64 v)
{
	return v | EACH_BYTE(0x20);
}

/*
 * Return the lower case of the letters before the first byte that is at most 0x20, with
 * zeros from there on. Called by word_kind(), for the last 8 bytes of a word that are
 * read.
 */
static __always_inline __u64 word_cut(__u64 v)
{
	__u64 stop = word_stop(v);

	/* Borrows run upward only: the lowest flag is exact, the others do not matter. */
	stop &= -stop;
	return word_fold(v) & ((stop >> 7) - 1);
}

#define LETTER_BITS EACH_BYTE(0x40) /* set in letters and `_`, in no byte <= 0x20 */

/*
 * Return true if @v is 8 letters, after which a word may go on. In fewer steps than
 * word_stop(): no row has anything but letters and `_` in its first 8, 16 or 24 bytes, if
 * it has as many (test_classify). Called by word_kind().
 */
static __always_inline bool word_goes_on(__u64 v)
{
	return (v & LETTER_BITS) == LETTER_BITS;
}

/* --- the rows --------------------------------------------------------------------------
 */

struct word_cell {
	__u64 part[WIRE_WORD_MAX / 8];
	__u64 kind;
};

#define WORD_PLACE(s)                                                                 \
	(sizeof(s) - 1 > WORD_PAIR ? WORD_LONG_AT(WORD_PART(s, 0) ^ WORD_PART(s, 1) ^ \
						  WORD_PART(s, 2) ^ WORD_PART(s, 3))  \
				   : WORD_AT(WORD_PART(s, 0) ^ WORD_PART(s, 1)))

static const struct word_cell word_cells[WORD_PLACES + WORD_LONGS] = {
#define AS_ROW(kind, word, class_, families, sent)                         \
	[WORD_PLACE(word)] = { { WORD_PART(word, 0), WORD_PART(word, 1),   \
				 WORD_PART(word, 2), WORD_PART(word, 3) }, \
			       KIND_##kind },
	WIRE_WORDS(AS_ROW)
#undef AS_ROW
};

/*
 * Return the kind of the word of at most WORD_PAIR letters whose parts are @a and @b, as
 * word_cut() leaves them; KIND_COUNT: no row has it. @a must not be 0: an empty row would
 * match, as kind 0. Called by word_kind().
 */
static __always_inline __u32 word_find(__u64 a, __u64 b)
{
	const struct word_cell *cell = &word_cells[WORD_AT(a ^ b)];

	asm volatile(
		""
		: "+r"(cell)); /* the address is computed once, not for each member */
	return cell->part[0] == a && cell->part[1] == b ? cell->kind : KIND_COUNT;
}

/*
 * Return the kind of a longer word likewise. @c and all parts before it must not be 0;
 * @d: 0 if the word has at most 24 letters. Called by word_kind(). It must compare all
 * four parts.
 */
static __always_inline __u32 word_find_long(__u64 a, __u64 b, __u64 c, __u64 d)
{
	const struct word_cell *cell = &word_cells[WORD_LONG_AT(a ^ b ^ c ^ d)];

	asm volatile("" : "+r"(cell));
	return cell->part[0] == a && cell->part[1] == b && cell->part[2] == c &&
			       cell->part[3] == d
		       ? cell->kind
		       : KIND_COUNT;
}

/*
 * Read the letters from byte @at of a datagram on into *@ret, as take_u64() does. @start:
 * of all its @length bytes, of which there are more than @at; @at: 4, 12, 20 or 28, since
 * WORD_END_MASK bounds the load. False: the frame ends earlier. Called by word_kind().
 */
static __always_inline bool letters_from(struct cursor start, __u64 length, __u32 at,
					 __u64 *ret)
{
	const __u8 *head;

	if (length > at + 8) {
		head = cursor_take(&start, at + 8);
		if (!head)
			return false;
		*ret = load_u64(head + at);
		return true;
	}
	if (at > 4 || length >= 8) {
		/* One load of the last 8 bytes, of WORD_END at most. */
		if (!cursor_take(&start, (length - 8) & WORD_END_MASK))
			return false;
		head = cursor_take(&start, 8);
		if (!head)
			return false;
		*ret = load_u64(head) >> (64 - 8 * (length - at));
		return true;
	}
	/* The one, two or three there are. */
	head = cursor_take(&start, length == 5 ? 5 : 6);
	if (!head)
		return false;
	*ret = length == 5 ? head[4] : load_u16(head + 4);
	if (length < 7)
		return true;
	head = cursor_take(&start, 1);
	if (head)
		*ret |= (__u64)*head << 16;
	return head;
}

/*
 * Return the kind of the word after the marker, which begins with a letter, in a datagram
 * of at least 5 bytes at @start; KIND_COUNT: no row has it. *@ret_first: its first 8
 * letters as word_cut() leaves them. Called by classify_oob() after is_letter(): of a
 * space an empty row could match. It must agree with classify_letters() about each word
 * of WIRE_HOT.
 */
static __always_inline __u32 word_kind(struct cursor start, __u64 length,
				       __u64 *ret_first)
{
	__u64 a, b, c, last;

	*ret_first = 0;
	if (!letters_from(start, length, 4, &last))
		return KIND_COUNT;
	if (length <= 12 || !word_goes_on(last)) {
		*ret_first = word_cut(last);
		return word_find(*ret_first, 0);
	}
	a = word_fold(last);
	*ret_first = a;
	if (!letters_from(start, length, 12, &last))
		return KIND_COUNT;
	if (length <= 20 || !word_goes_on(last))
		return word_find(a, word_cut(last));
	b = word_fold(last);
	if (!letters_from(start, length, 20, &last))
		return KIND_COUNT;
	if (length <= 28 || !word_goes_on(last)) {
		last = word_cut(last);
		return last ? word_find_long(a, b, last, 0) : word_find(a, b);
	}
	c = word_fold(last);
	if (!letters_from(start, length, 28, &last) ||
	    (length > 36 && word_goes_on(last)))
		return KIND_COUNT;
	return word_find_long(a, b, c, word_cut(last));
}

/* --- the few words that floods are made of, spelled as clients spell them --------------
 */

/*
 * Return the lower case of four letters at @at; other bytes become something that is no
 * letter's. The caller has compared the bounds. Called by classify_hot() and fast_path(),
 * for classify_letters().
 */
static __always_inline __u32 letters_at(const __u8 *at)
{
	return load_u32(at) | (__u32)EACH_BYTE(0x20);
}

/*
 * Return true if the word of @letters (4..12) follows the marker of which the last 8,
 * with bytes of the marker before them if there are fewer, are @last; the first four
 * are known. Exact, since only a letter and its upper case share a folded value. Called
 * by classify_letters().
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

/*
 * Return the kind of a hot word, or KIND_COUNT: none of them, or @length is too short;
 * then classify_oob() must look. @c begins with the marker and @letters, of letters_at().
 * Called by fast_path(), which has compared the marker, and by classify_hot().
 */
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

/*
 * Classify the datagram at @c alone likewise. Called by tests, which compare it with
 * classify().
 */
static __always_inline enum wire_kind classify_hot(struct cursor c, __u64 length)
{
	struct cursor head = c;
	const __u8 *mark = cursor_take(&head, 8);

	if (!mark || load_u32(mark) != 0xffffffff)
		return KIND_COUNT;
	return classify_letters(c, length, letters_at(mark + 4));
}

#endif /* WORD_H */
