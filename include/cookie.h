/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cookie.h - cookies: what only a client that receives at an address can return. A cookie
 * is a keyed hash of that address, its port, the service and a slowly moving time, in
 * several spellings.
 *
 * Pure: no maps, no clock, no helpers. Nothing is stored when a cookie is given out. A
 * cookie is valid in the epoch in which it was made and in the next, so for 8.6 to 17 s,
 * and one bit of each spelling tells which of the two it was: a check needs one hash.
 * There are two keys, each for 16 epochs in turn, and the daemon replaces the one that is
 * idle; without a daemon they alternate as they are.
 *
 * SipHash-1-3 (Aumasson, Bernstein 2012): 64 bits of which at most 47 are shown, of a key
 * that makes cookies for 137 s and that the daemon replaces in the next 137 s.
 *
 * The ingress programs make cookies (challenge_for()) and check them by making them anew
 * (cookie_expected()); so does `explain` (number_form() and tail_form() in
 * user/shield/shield_about.c). The daemon changes keys (rotate_secret()), for which both
 * sides use the same epoch and key index. So a change of the hash or of a spelling makes
 * the cookies of the last 17 s invalid: their clients have to request again.
 */
#ifndef COOKIE_H
#define COOKIE_H

#include <linux/types.h>
#include <stdbool.h>

#include "cursor.h"

#define COOKIE_EPOCH_BITS  33 /* log2 of ns of an epoch: 8.6 s */
#define COOKIE_PERIOD_BITS 4 /* log2 of epochs of one key: 137 s */

#define COOKIE_DIGIT_LOW   0x32 /* '2': the first character of cookie_letters() ... */
#define COOKIE_DIGIT_TOP   0x39 /* ... to '9', which begins no word of any engine */
#define COOKIE_DIGITS	   10 /* digits of cookie_number() */
#define COOKIE_LEAST \
	1000000000u /* the smallest cookie_number(), and how many there are */

/*
 * For which request a cookie was made and how it is spelled. It is valid for no other.
 * Echoes come first (form_echoes()). Another form makes struct validated_cell.passed
 * longer, which is pinned.
 */
enum cookie_form {
	COOKIE_BARE = 1, /* `getchallenge`: 7 letters */
	COOKIE_ARGUED, /* `getchallenge N ...`: 8 letters, and what was asked */
	COOKIE_INFO, /* `getinfo`, `info`: 8 letters and one that says so */
	COOKIE_STATUS, /* `getstatus`, `status`: the last that is an echo */
	COOKIE_NUMBER, /* a challenge of ten digits */
	COOKIE_TEXT, /* a challenge of ten characters */
	COOKIE_FORMS,
};

struct cookie_secret {
	__u64 key[2][2]; /* by cookie_key_index(); written by the daemon; first word 0:
			    not made yet */
};

/*
 * The client that a cookie is made for: its address as ::ffff:0:0/96 or IPv6, then port
 * (__be16) and slot << 16.
 */
struct cookie_peer {
	__u64 word[3];
};

/* Rotate @v left by @by bits. @by: 1 to 63. */
static __always_inline __u64 sip_rotate(__u64 v, int by)
{
	return v << by | v >> (64 - by);
}

/*
 * Mix @v by one round of SipHash, as its authors give it (test_cookie has their
 * values).
 */
static __always_inline void sip_round(__u64 v[4])
{
	v[0] += v[1];
	v[2] += v[3];
	v[1] = sip_rotate(v[1], 13) ^ v[0];
	v[3] = sip_rotate(v[3], 16) ^ v[2];
	v[0] = sip_rotate(v[0], 32);
	v[2] += v[1];
	v[0] += v[3];
	v[1] = sip_rotate(v[1], 17) ^ v[2];
	v[3] = sip_rotate(v[3], 21) ^ v[0];
	v[2] = sip_rotate(v[2], 32);
}

/* Add the next 8 bytes. Called between sip_begin() and sip_end(). */
static __always_inline void sip_word(__u64 v[4], __u64 word)
{
	v[3] ^= word;
	sip_round(v);
	v[0] ^= word;
}

/* Begin a SipHash-1-3 under @key. sip_word() for each 8 bytes follows, then sip_end(). */
static __always_inline void sip_begin(__u64 v[4], const __u64 key[2])
{
	v[0] = key[0] ^ 0x736f6d6570736575ull;
	v[1] = key[1] ^ 0x646f72616e646f6dull;
	v[2] = key[0] ^ 0x6c7967656e657261ull;
	v[3] = key[1] ^ 0x7465646279746573ull;
}

/*
 * Return the hash of what was put in and of @rest: the last 0 to 7 bytes, lowest first,
 * zeros, and in the highest byte the number of bytes of all.
 */
static __always_inline __u64 sip_end(__u64 v[4], __u64 rest)
{
	sip_word(v, rest);
	v[2] ^= 0xff;
	sip_round(v);
	sip_round(v);
	sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/*
 * Return SipHash-1-3 of 24 bytes: three words in little-endian order. Called by
 * clock_marked() (conntrack_netquake.bpf.h).
 */
static __always_inline __u64 sip_hash(const __u64 key[2], const __u64 word[3])
{
	__u64 v[4];

	sip_begin(v, key);
	for (int i = 0; i < 3; i++)
		sip_word(v, word[i]);
	return sip_end(v, 24ull << 56);
}

/*
 * Return the epoch of @now_ns. Called by programs and daemon; @now_ns is of the shield's
 * clock.
 */
static __always_inline __u64 cookie_epoch(__u64 now_ns)
{
	return now_ns >> COOKIE_EPOCH_BITS;
}

/*
 * Return which of the two keys @epoch has. Called by cookie_hash() and cookie_key_idle().
 */
static __always_inline __u32 cookie_key_index(__u64 epoch)
{
	return epoch >> COOKIE_PERIOD_BITS & 1;
}

/*
 * Return this epoch or the one before: the one with @parity as its bit 0. Called by
 * cookie_expected().
 */
static __always_inline __u64 cookie_epoch_like(__u64 now_ns, __u64 parity)
{
	__u64 epoch = cookie_epoch(now_ns);

	return epoch - ((epoch ^ parity) & 1);
}

/*
 * Return true if the idle key may be replaced; *@ret_turn says which it is. Not while a
 * cookie of its last epoch is valid, nor shortly before it is used again. Called by
 * rotate_secret() alone, in the daemon. The time that is left between (8 epochs, 69 s)
 * must be longer than the interval of shield_maintain().
 */
static inline bool cookie_key_idle(__u64 now_ns, __u32 *ret_turn)
{
	__u64 epoch = cookie_epoch(now_ns);
	__u64 step = epoch & ((1 << COOKIE_PERIOD_BITS) - 1);

	*ret_turn = cookie_key_index(epoch) ^ 1;
	return step >= 4 && step < 12;
}

/* Return true if @asker has an IPv4 address. Called by cookie_hash(). */
static __always_inline bool cookie_is_ipv4(const struct cookie_peer *asker)
{
	return !(asker->word[0] | ((__u32)asker->word[1] ^ 0xffff0000));
}

/*
 * Return the hash of the client @asker, of the lower 24 bits of @epoch and of @form: over
 * 15 bytes, the last of them zeros, if its address is an IPv4 address; else over 24. A
 * hash of the one length equals one of the other only by chance. Called by
 * challenge_for() and cookie_expected(). @asker: of packet_peer() or plain_peer().
 */
static __always_inline __u64 cookie_hash(const struct cookie_secret *secret,
					 const struct cookie_peer *asker, __u64 epoch,
					 enum cookie_form form)
{
	__u64 v[4], peer = (__u32)asker->word[2], rest = 24ull << 56;

	sip_begin(v, secret->key[cookie_key_index(epoch)]);
	if (cookie_is_ipv4(asker)) {
		sip_word(v, asker->word[1] >> 32 | peer << 32);
		rest = 15ull << 56 | (epoch & 0xffffff) | (__u64)form << 24;
	} else {
		sip_word(v, asker->word[0]);
		sip_word(v, asker->word[1]);
		sip_word(v, peer | (epoch & 0xffffff) << 32 | (__u64)form << 56);
	}
	return sip_end(v, rest);
}

/* --- spellings ------------------------------------------------------------------------
 */

/*
 * Return eight characters of the lower 40 bits of @bits, five bits each: a to z, 2 to 7;
 * the first in the lowest byte. Called by cookie_letters() and cookie_letters_more().
 */
static __always_inline __u64 cookie_base32(__u64 bits)
{
	__u64 v, late;

	v = (bits & 0xfffff) | (bits >> 20 & 0xfffff) << 32;
	v = (v & 0x000003ff000003ffull) | (v & 0x000ffc00000ffc00ull) << 6;
	v = (v & 0x001f001f001f001full) | (v & 0x03e003e003e003e0ull) << 3;
	/* Values from 26 on are digits: '2' is 73 less than what follows 'z'. */
	late = (v + 0x6666666666666666ull) & 0x8080808080808080ull;
	return v + 0x6161616161616161ull - (late >> 7) * 73;
}

/*
 * Return the spelling as eight characters, the first of them a digit that tells the
 * epoch: 37 bits of the hash. COOKIE_BARE has seven: its last is left out. Called by
 * challenge_make(), and by echo_cookie_valid() and cookie_check_tail() to compare. The
 * first must stay in COOKIE_DIGIT_LOW to COOKIE_DIGIT_TOP: classify_oob() recognises an
 * echo by it.
 */
static __always_inline __u64 cookie_letters(__u64 hash, __u64 epoch)
{
	__u64 digit = COOKIE_DIGIT_LOW + ((hash >> 40 & 3) << 1 | (epoch & 1));

	return (cookie_base32(hash) & ~0xffull) | digit;
}

/*
 * Return bit 0 of the epoch that @letters tell. Any @letters: of a datagram that is not
 * checked yet. Called by echo_cookie_valid() and cookie_check_tail().
 */
static __always_inline __u64 cookie_letters_parity(__u64 letters)
{
	return letters & 1; /* of '2' to '9': COOKIE_DIGIT_LOW is even */
}

/*
 * Return two more characters, in the lowest bytes: 10 bits of the hash. Of COOKIE_TEXT
 * alone. Called by challenge_make() and cookie_check_tail().
 */
static __always_inline __u32 cookie_letters_more(__u64 hash)
{
	return cookie_base32(hash >> 42 & 0x3ff) & 0xffff;
}

/*
 * Return the spelling as a number of ten digits below 2^31, which all engines read and
 * write: 28.9 bits of the hash. The upper half of the range is of odd epochs. Called by
 * challenge_make() and cookie_check_number(). The result must be one that
 * cookie_number_fits() accepts.
 */
static __always_inline __u32 cookie_number(__u64 hash, __u64 epoch)
{
	__u64 fraction = (hash & 0x7fffffff) | (epoch & 1) << 31;

	return COOKIE_LEAST + (__u32)(fraction * COOKIE_LEAST >> 32);
}

/*
 * Return true if @number is in the range of cookie_number(); then *@ret_parity is bit 0
 * of its epoch. Called by cookie_check_number().
 */
static __always_inline bool cookie_number_fits(__u32 number, __u64 *ret_parity)
{
	*ret_parity = number - COOKIE_LEAST >= COOKIE_LEAST / 2;
	return number - COOKIE_LEAST < COOKIE_LEAST;
}

/*
 * Return the five digits of @v, below 10^5, the first of them in the lowest byte. Called
 * by cookie_digits().
 */
static __always_inline __u64 cookie_five(__u32 v)
{
	/* A fraction of 2^32, out of which a multiplication by 10 takes each digit. */
	__u64 rest = v * 429497ull, digits = 0; /* ceil(2^32 / 10^4) */

	for (int i = 0; i < 5; i++) {
		digits |= ('0' + (rest >> 32)) << 8 * i;
		rest = (rest & 0xffffffff) * 10;
	}
	return digits;
}

/*
 * Return the first eight of the ten digits of @number in decimal, with leading zeros, the
 * first of them in the lowest byte. The last two are in the lower bytes of *@ret_more.
 * @number: of any size. Called by challenge_make() and cookie_decimal().
 */
static __always_inline __u64 cookie_digits(__u32 number, __u64 *ret_more)
{
	__u32 high = (number >> 5) * 175921861ull >> 39; /* number / 10^5 */
	__u64 first = cookie_five(high), last = cookie_five(number - high * 100000);

	*ret_more = last >> 24;
	return first | last << 40;
}

/* Write the ten digits of cookie_digits() to @ret. Called by rewrite_number(). */
static __always_inline void cookie_decimal(__u32 number, __u8 ret[COOKIE_DIGITS])
{
	__u64 more, digits = cookie_digits(number, &more);

	for (int i = 0; i < 8; i++)
		ret[i] = digits >> 8 * i;
	ret[8] = more;
	ret[9] = more >> 8;
}

#endif /* COOKIE_H */
