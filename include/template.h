/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * template.h - what a server says to a question, ready to be sent in its place.
 *
 * A template is one question, octet by octet, and the server's whole answer to it. Where
 * the question may end with a word of the asker's (a nonce), the answer is kept without
 * it, in two parts:
 *
 *	question	ff ff ff ff g e t i n f o 20 | nonce	perhaps 0a or 00 behind it
 *	answer		head ...            | nonce | ... tail
 *
 * A server's list of players may make its answer longer than one frame. The answer is
 * then cut at the end of a player's line: the template names up to TEMPLATE_CUTS places
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
#ifndef TEMPLATE_H
#define TEMPLATE_H

#include <linux/types.h>
#include <stdbool.h>

#include "cursor.h"
#include "wire.h"

#define TEMPLATE_FORMS	 8 /* questions of a service that can be answered */
#define TEMPLATE_REQUEST 24 /* octets of a question, without the nonce */
#define TEMPLATE_NONCE	 32 /* the longest */
#define TEMPLATE_LOOK	 64 /* octets of a datagram that are looked at */
#define TEMPLATE_TEXT	 1472 /* with its nonce: in IPv4, 1500 octets without options */
#define TEMPLATE_IPV6	 20 /* octets that IPv6's header is longer than IPv4's */
#define TEMPLATE_CUTS	 4 /* places at which an answer may end */
#define TEMPLATE_LEAST	 48 /* of the parts with a nonce: more than any padding */
#define TEMPLATE_NS	 6000000000ull /* older is not sent */

_Static_assert(TEMPLATE_REQUEST + TEMPLATE_NONCE + 2 <= TEMPLATE_LOOK,
	       "a question is not looked at to its end");

/* When the shield says what the server would say to a question. */
enum answering {
	ANSWERS_OFF,
	ANSWERS_PRESSURE, /* while the service's budget for questions is spent, and
			     UNDER_LOAD_NS beyond */
	ANSWERS_ALWAYS,
};

/* Can the answer to a @kind be a template? */
static inline bool kind_answerable(enum wire_family family, enum wire_kind kind)
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
struct template_cut {
	__u16 tail; /* octets behind the head and the nonce */
	__u16 sum;
};

struct template
{
	__u64 made_ns; /* by the shield's clock, when the server said it; 0: never */
	__u64 request[TEMPLATE_REQUEST / 8]; /* zeros behind it */
	__u64 mask[TEMPLATE_REQUEST / 8]; /* of what is compared: see template_asks() */
	__u8 request_length;
	__u8 nonce; /* 1: one has to follow */
	__u16 kind; /* enum wire_kind of the answer */
	__u16 most; /* octets of an answer in IPv4, 1 to TEMPLATE_TEXT */
	__u16 head; /* octets before the nonce, or all that is never cut */
	__u16 head_sum;
	__u8 ended; /* 1: a NUL follows, which is not in the text */
	__u8 pad[5];
	/* The longest tail first; the last fits in IPv6 with any nonce, if one does. */
	struct template_cut cuts[TEMPLATE_CUTS];
	__u8 text[TEMPLATE_TEXT]; /* head and the longest tail, zeros behind them */
};
_Static_assert(sizeof(struct template) == 88 + TEMPLATE_TEXT,
	       "struct template has a hole");

struct template_pair {
	__u64 generation; /* bit 0: which of the two is valid */
	struct template half[2];
};

/* The beginning of a datagram, zeros behind it; and where its nonce is put. */
struct template_question {
	__u8 at[TEMPLATE_LOOK];
} __attribute__((aligned(8)));

struct template_nonce {
	__u64 words[TEMPLATE_NONCE / 8]; /* zeros behind it */
	__u32 length;
};

/* --- sums -------------------------------------------------------------------- */

static __always_inline __u16 template_fold(__u64 sum)
{
	sum = (__u32)sum + (sum >> 32);
	sum = (__u32)sum + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	return (__u16)((sum & 0xffff) + (sum >> 16));
}

/* The sum of a part that begins @at octets into the text. */
static __always_inline __u32 template_turned(__u16 sum, __u32 at)
{
	return at & 1 ? (__u16)(sum << 8 | sum >> 8) : sum;
}

static __always_inline __u16 template_words(const __u64 *words, int count)
{
	__u64 sum = 0;

	for (int i = 0; i < count; i++)
		sum += (words[i] & 0xffffffff) + (words[i] >> 32);
	return template_fold(sum);
}

/* Of the whole answer up to @cut. @nonce_sum: template_words() of the nonce. */
static __always_inline __u64 template_sum(const struct template *t,
					  struct template_cut cut, __u16 nonce_sum,
					  __u32 nonce_length)
{
	return (__u64)t->head_sum + template_turned(nonce_sum, t->head) +
	       template_turned(cut.sum, t->head + nonce_length);
}

/* --- questions --------------------------------------------------------------- */

/* What a nonce is made of: nothing that an engine would quote, escape or leave out. */
static const __u8 template_letters[256] = {
	['0' ... '9'] = 1, ['a' ... 'z'] = 1, ['A' ... 'Z'] = 1,
	['_'] = 1,	   ['-'] = 1,	      ['.'] = 1,
};

/*
 * The length of a question of @length octets without what ends it, LF or NUL or both,
 * where there are zeros from now on.
 */
static __always_inline __u32 template_ended(struct template_question *q, __u32 length)
{
	for (int i = 0; i < 2; i++) {
		__u32 last = length - 1;

		if (length <= 5 || !index_below(&last, TEMPLATE_LOOK) ||
		    (q->at[last] && q->at[last] != '\n'))
			break;
		q->at[last] = 0;
		length = last;
	}
	return length;
}

/* 1 if it is young enough; whoever made it may have read a later clock. */
static __always_inline __u32 template_fresh(const struct template *t, __u64 now_ns)
{
	return (__u32)((now_ns - t->made_ns - TEMPLATE_NS) >> 63) &
	       (zero_bit(t->made_ns) ^ 1);
}

/*
 * 1 if @q, ended, is the question of @t as far as that goes. Where no nonce follows there
 * are zeros behind it, and all of them are compared.
 */
static __always_inline __u32 template_asks(const struct template *t,
					   const struct template_question *q)
{
	const __u64 *words = (const __u64 *)q->at;
	__u64 other = 0;

	for (int i = 0; i < TEMPLATE_REQUEST / 8; i++)
		other |= (words[i] ^ t->request[i]) & t->mask[i];
	return zero_bit(other);
}

/*
 * How long the nonce is that follows in a question of @length octets, ended; -1: it is
 * another question.
 */
static __always_inline int template_rest(const struct template *t, __u32 length)
{
	__u32 rest = length - t->request_length;

	if (!t->nonce)
		return rest ? -1 : 0;
	return rest - 1 < TEMPLATE_NONCE ? (int)rest : -1;
}

/*
 * Copy a nonce of @length octets from @at on, where there are TEMPLATE_NONCE. False: not
 * all of it are letters. Without a branch, at each of which the verifier would part.
 */
static __always_inline bool template_nonce_copy(const __u8 *at, __u32 length,
						struct template_nonce *ret)
{
	__u8 *to = (__u8 *)ret->words;
	__u32 wrong = 0;

	for (__u32 i = 0; i < TEMPLATE_NONCE; i++) {
		__u32 inside = (i - length) >> 31;
		__u8 c = at[i] & (__u8)-inside;

		wrong |= inside & (template_letters[c] ^ 1u);
		to[i] = c;
	}
	ret->length = length;
	return !wrong;
}

/* How long the answer up to @cut is with a nonce of @nonce octets. */
static __always_inline __u32 template_length(const struct template *t,
					     struct template_cut cut, __u32 nonce)
{
	return (__u32)t->head + cut.tail + nonce + t->ended;
}

/*
 * Return the number of the first of @t's cuts at which the answer fits, or of the last.
 * @ipv6: 0 or 1.
 */
static __always_inline __u32 template_fit(const struct template *t, __u32 nonce,
					  __u32 ipv6)
{
	__u32 i;

	for (i = 0; i < TEMPLATE_CUTS - 1; i++)
		if (template_length(t, t->cuts[i], nonce) + ipv6 * TEMPLATE_IPV6 <=
		    t->most)
			break;
	return i;
}

#endif /* TEMPLATE_H */
