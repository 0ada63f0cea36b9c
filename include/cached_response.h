/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cached_response.h - what a server says to a question, ready to be sent in its place.
 *
 * A template is one question, octet by octet, and the server's whole answer to it. Where
 * the question may end with a word of the asker's (a nonce), the answer is kept without
 * it, in two parts:
 *
 *	question	ff ff ff ff g e t i n f o 20 | nonce	perhaps 0a or 00 behind it
 *	answer		head ...            | nonce | ... tail
 *
 * A server's list of players may make its answer longer than one frame. The answer is
 * then cut at the end of a player's line: the template names up to CACHE_CUTS places
 * to cut, and the program takes the first that fits beside the nonce and the headers.
 *
 * Each question has two places for its template, and a generation that says which of them
 * is valid: who writes fills the other and then adds one. Who reads looks at the
 * generation before and behind: if it is the same, nobody wrote where he read.
 *
 * Pure: compiled into the kernel, the daemon and the tests. Sums are of 16-bit words as
 * they stand in memory, folded and not complemented, as if the part began at an even
 * place; at an odd one its octets change places (RFC 1071).
 */
#ifndef CACHED_RESPONSE_H
#define CACHED_RESPONSE_H

#include <linux/types.h>
#include <stdbool.h>

#include "cursor.h"
#include "wire.h"

#define CACHE_FORMS   8 /* questions of a service that can be answered */
#define CACHE_REQUEST 24 /* octets of a question, without the nonce */
#define CACHE_NONCE   32 /* the longest */
#define CACHE_LOOK    64 /* octets of a datagram that are looked at */
#define CACHE_TEXT    1472 /* with its nonce: in IPv4, 1500 octets without options */
#define CACHE_IPV6    20 /* octets that IPv6's header is longer than IPv4's */
#define CACHE_CUTS    4 /* places at which an answer may end */
#define CACHE_LEAST   48 /* of the parts with a nonce: more than any padding */
#define CACHE_NS      6000000000ull /* older is not sent */

_Static_assert(CACHE_REQUEST + CACHE_NONCE + 2 <= CACHE_LOOK,
	       "a question is not looked at to its end");

/* When the shield says what the server would say to a question. */
enum cache_mode {
	CACHE_OFF,
	CACHE_UNDER_LOAD, /* while the service's budget for questions is spent, and
			     UNDER_LOAD_NS beyond */
	CACHE_ALWAYS,
};

/* Can the answer to a @kind be a template? */
static inline bool kind_cacheable(enum wire_family family, enum wire_kind kind)
{
	switch (kind) {
	case KIND_GETINFO:
	case KIND_GETSTATUS:
		return family == FAMILY_QUAKE3 || family == FAMILY_NETQUAKE;
	case KIND_STATUS:
	case KIND_PING:
		return family == FAMILY_QUAKEWORLD || family == FAMILY_QUAKE2;
	case KIND_INFO:
		return family == FAMILY_QUAKE2;
	case KIND_A2A_PING:
		return family == FAMILY_QUAKEWORLD;
	case KIND_CCREQ_SERVER_INFO:
		return family == FAMILY_NETQUAKE;
	default:
		return false;
	}
}

/* Where an answer may end. */
struct cache_cut {
	__u16 tail; /* octets behind the head and the nonce */
	__u16 sum;
};

struct cache_entry {
	__u64 made_ns; /* by the shield's clock, when the server said it; 0: never */
	__u64 request[CACHE_REQUEST / 8]; /* zeros behind it */
	__u64 mask[CACHE_REQUEST / 8]; /* of what is compared: see cache_matches() */
	__u8 request_length;
	__u8 nonce; /* 1: one has to follow */
	__u16 kind; /* enum wire_kind of the answer */
	__u16 most; /* octets of an answer in IPv4, 1 to CACHE_TEXT */
	__u16 head; /* octets before the nonce, or all that is never cut */
	__u16 head_sum;
	__u8 ended; /* 1: a NUL follows, which is not in the text */
	__u8 pad[5];
	/* The longest tail first; the last fits in IPv6 with any nonce, if one does. */
	struct cache_cut cuts[CACHE_CUTS];
	__u8 text[CACHE_TEXT]; /* head and the longest tail, zeros behind them */
};
_Static_assert(sizeof(struct cache_entry) == 88 + CACHE_TEXT,
	       "struct template has a hole");

struct cache_pair {
	__u64 generation; /* bit 0: which of the two is valid */
	struct cache_entry half[2];
};

/* The beginning of a datagram, zeros behind it; and where its nonce is put. */
struct cache_query {
	__u8 at[CACHE_LOOK];
} __attribute__((aligned(8)));

struct cache_nonce {
	__u64 words[CACHE_NONCE / 8]; /* zeros behind it */
	__u32 length;
};

/* --- sums -------------------------------------------------------------------- */

static __always_inline __u16 cache_fold(__u64 sum)
{
	sum = (__u32)sum + (sum >> 32);
	sum = (__u32)sum + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	return (__u16)((sum & 0xffff) + (sum >> 16));
}

/* The sum of a part that begins @at octets into the text. */
static __always_inline __u32 cache_sum_at(__u16 sum, __u32 at)
{
	return at & 1 ? (__u16)(sum << 8 | sum >> 8) : sum;
}

static __always_inline __u16 cache_sum_words(const __u64 *words, int count)
{
	__u64 sum = 0;

	for (int i = 0; i < count; i++)
		sum += (words[i] & 0xffffffff) + (words[i] >> 32);
	return cache_fold(sum);
}

/* Of the whole answer up to @cut. @nonce_sum: cache_sum_words() of the nonce. */
static __always_inline __u64 cache_sum(const struct cache_entry *t, struct cache_cut cut,
				       __u16 nonce_sum, __u32 nonce_length)
{
	return (__u64)t->head_sum + cache_sum_at(nonce_sum, t->head) +
	       cache_sum_at(cut.sum, t->head + nonce_length);
}

/* --- questions --------------------------------------------------------------- */

/* What a nonce is made of: nothing that an engine would quote, escape or leave out. */
static const __u8 cache_nonce_letters[256] = {
	['0' ... '9'] = 1, ['a' ... 'z'] = 1, ['A' ... 'Z'] = 1,
	['_'] = 1,	   ['-'] = 1,	      ['.'] = 1,
};

/*
 * The length of a question of @length octets without what ends it, LF or NUL or both,
 * where there are zeros from now on.
 */
static __always_inline __u32 cache_query_length(struct cache_query *q, __u32 length)
{
	for (int i = 0; i < 2; i++) {
		__u32 last = length - 1;

		if (length <= 5 || !index_below(&last, CACHE_LOOK) ||
		    (q->at[last] && q->at[last] != '\n'))
			break;
		q->at[last] = 0;
		length = last;
	}
	return length;
}

/* 1 if it is young enough; whoever made it may have read a later clock. */
static __always_inline __u32 cache_fresh(const struct cache_entry *t, __u64 now_ns)
{
	return (__u32)((now_ns - t->made_ns - CACHE_NS) >> 63) &
	       (zero_bit(t->made_ns) ^ 1);
}

/*
 * 1 if @q, ended, is the question of @t as far as that goes. Where no nonce follows there
 * are zeros behind it, and all of them are compared.
 */
static __always_inline __u32 cache_matches(const struct cache_entry *t,
					   const struct cache_query *q)
{
	const __u64 *words = (const __u64 *)q->at;
	__u64 other = 0;

	for (int i = 0; i < CACHE_REQUEST / 8; i++)
		other |= (words[i] ^ t->request[i]) & t->mask[i];
	return zero_bit(other);
}

/*
 * How long the nonce is that follows in a question of @length octets, ended; -1: it is
 * another question.
 */
static __always_inline int cache_nonce_length(const struct cache_entry *t, __u32 length)
{
	__u32 rest = length - t->request_length;

	if (!t->nonce)
		return rest ? -1 : 0;
	return rest - 1 < CACHE_NONCE ? (int)rest : -1;
}

/*
 * Copy a nonce of @length octets from @at on, where there are CACHE_NONCE. False: not
 * all of it are letters. Without a branch, at each of which the verifier would part.
 */
static __always_inline bool cache_nonce_copy(const __u8 *at, __u32 length,
					     struct cache_nonce *ret)
{
	__u8 *to = (__u8 *)ret->words;
	__u32 wrong = 0;

	for (__u32 i = 0; i < CACHE_NONCE; i++) {
		__u32 inside = (i - length) >> 31;
		__u8 c = at[i] & (__u8)-inside;

		wrong |= inside & (cache_nonce_letters[c] ^ 1u);
		to[i] = c;
	}
	ret->length = length;
	return !wrong;
}

/* How long the answer up to @cut is with a nonce of @nonce octets. */
static __always_inline __u32 cache_length(const struct cache_entry *t,
					  struct cache_cut cut, __u32 nonce)
{
	return (__u32)t->head + cut.tail + nonce + t->ended;
}

/*
 * Return the number of the first of @t's cuts at which the answer fits, or of the last.
 * @ipv6: 0 or 1.
 */
static __always_inline __u32 cache_cut_choose(const struct cache_entry *t, __u32 nonce,
					      __u32 ipv6)
{
	__u32 i;

	for (i = 0; i < CACHE_CUTS - 1; i++)
		if (cache_length(t, t->cuts[i], nonce) + ipv6 * CACHE_IPV6 <= t->most)
			break;
	return i;
}

#endif /* CACHED_RESPONSE_H */
