/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * detect.h - which protocol a server speaks, by the words that it sends.
 *
 * The egress program notes each word (bpf/detect.bpf.h); the program at the interface and
 * the daemon read the result. Only a server's own replies count (CLASS_REPLY), and shapes
 * that no other protocol has: no client can make a server send them. A reply that several
 * protocols share decides between none of them.
 *
 * detect_note() is called by egress alone (detect_reply()). detect_other() is called by
 * the ingress programs (protocol_mismatch()) and by the daemon
 * (shield_protocol_mismatch()), so that the operator is warned for as long as the
 * programs relax their rules. Neither needs a lock. shield_forget_slot() zeroes the notes
 * when the slot gets another service.
 */
#ifndef DETECT_H
#define DETECT_H

#include "wire.h"

_Static_assert(FAMILY_COUNT <= 8, "detect_speakers and detect_usual() have 8 bits");

#define DETECT_WORDS 2 /* weight of words from which another protocol counts */
#define DETECT_AGE_S \
	600 /* units of 2^30 ns without such a word, then it no longer counts */

/*
 * The words of the server of one service. Written by the egress program, without a lock:
 * a word that is lost is sent again.
 */
struct detected {
	__u32 families; /* 1 << enum wire_family: the protocols that have the latest words
			   in common; says nothing if words is 0 */
	__u32 words; /* weight of words of another protocol since the last own one; 0:
			none */
	__u32 seen_s; /* when the last of them left, in units of 2^30 ns */
};

/*
 * By kind of a reply, a mask of the protocols with servers that send it: 1 << enum
 * wire_family. 0: no reply, which tells nothing. Two zeros end it: with one, clang takes
 * it for a string and moves it to a section of its own, where BTF does not find it.
 */
/* clang-format off */
static const __u8 detect_speakers[KIND_COUNT + 2] = {
#define AS_SHAPE(kind, name, class_, families, ...)  [KIND_##kind] = CLASS_##class_ == CLASS_REPLY ? (families) : 0,
#define AS_CODED(kind, code, name, class_, families) [KIND_##kind] = CLASS_##class_ == CLASS_REPLY ? (families) : 0,
	EACH_KIND(AS_SHAPE, AS_CODED)
#undef AS_SHAPE
#undef AS_CODED
};
/* clang-format on */

/*
 * Return a mask of the protocols whose replies are usual on a service of @family. FTE's
 * QuakeWorld servers speak NetQuake as well, and Quake Enhanced has NetQuake's words. Any
 * @family. Called by detect_tells(), detect_note() and detect_other(), which must agree.
 */
static inline __attribute__((always_inline)) __u32 detect_usual(__u32 family)
{
	switch (family) {
	case FAMILY_AUTO:
	case FAMILY_MASTER: /* its lists are in the words of every protocol */
		return ~0u;
	case FAMILY_QUAKEWORLD:
		return QW | NQ;
	case FAMILY_QUAKE_ENHANCED:
		return QE | NQ;
	default:
		return 1u << (family & 7);
	}
}

/*
 * Return a mask of the protocols of which a datagram of @kind tells; @shape: as of
 * detect_note(). 0: of none. Called by detect_tells() and detect_note().
 */
static inline __attribute__((always_inline)) __u32 detect_told(__u32 kind, __u32 shape)
{
	return shape ? shape : index_below(&kind, KIND_COUNT) ? detect_speakers[kind] : 0;
}

/*
 * Return true if detect_note() may change @s: of nearly all that leaves it does not.
 * Called by egress for each datagram of a server (detect_look()).
 */
static inline __attribute__((always_inline)) int
detect_tells(const struct detected *s, __u32 family, __u32 kind, __u32 shape)
{
	__u32 speakers = detect_told(kind, shape);

	return speakers && (s->words || !(speakers & detect_usual(family)));
}

/*
 * Note one datagram of a server of @family. @kind: what it is; @shape: a mask of the
 * protocols that alone have its shape, or 0; @accepts: a reply that ends a handshake,
 * which counts twice. @now_s: in units of 2^30 ns. Called by detect_reply() alone, after
 * detect_tells(). A client must not be able to cause a @shape or reply that counts.
 */
static inline __attribute__((always_inline)) void detect_note(struct detected *s,
							      __u32 family, __u32 kind,
							      __u32 shape, int accepts,
							      __u32 now_s)
{
	__u32 usual = detect_usual(family), speakers = detect_told(kind, shape), both;

	if (!speakers)
		return;
	both = s->families & speakers;
	if (speakers & usual) {
		/* A word of its own ends the doubt, unless the other protocol has it too.
		 */
		if (s->words && !both)
			s->words = 0;
		return;
	}
	s->families = s->words && both ? both : speakers;
	if (s->words < 0xffff0000)
		s->words += 1 + !!accepts;
	s->seen_s = now_s;
}

/*
 * Return a mask of the protocols, one of which a server speaks in place of @family; 0:
 * nothing says that it speaks another. @now_s: as in detect_note(), of the shield's
 * clock. Called by protocol_mismatch() and shield_protocol_mismatch(). Changes nothing.
 */
static inline __attribute__((always_inline)) __u32 detect_other(const struct detected *s,
								__u32 family, __u32 now_s)
{
	if (s->words < DETECT_WORDS || s->families & detect_usual(family) ||
	    (__s32)(now_s - s->seen_s) > DETECT_AGE_S)
		return 0;
	return s->families;
}

#endif /* DETECT_H */
