/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mutations.h - datagrams to compare two readings of: each word, opcode, handshake
 * message and shape once, the spellings of spellings.h, and what a few changes make of
 * them.
 */
#ifndef MUTATIONS_H
#define MUTATIONS_H

#include <stdlib.h>
#include <string.h>

#include "spellings.h"
#include "wire.h"

static const struct {
	const char *bytes;
	size_t n;
} mutation_seeds[] = {
#define AS_SEED(kind, word, class_, families, sent) \
	{ "\xff\xff\xff\xff" word " x", sizeof(word) + 5 },
	WIRE_WORDS(AS_SEED)
#undef AS_SEED
#define AS_SEED(kind, code, name, class_, families)                                    \
	{ (const char[]){ (char)0x80, 0, 0, 12, code, 'Q', 'U', 'A', 'K', 'E', 0, 3 }, \
	  12 },
		WIRE_CONTROL(AS_SEED)
#undef AS_SEED
#define AS_SEED(kind, code, name, class_, families) \
	{ (const char[64]){ 0x16, (char)0xfe, (char)0xfd, [12] = 51, [13] = code }, 64 },
			WIRE_HANDSHAKE(AS_SEED)
#undef AS_SEED
				{ "\x17\xfe\xfd\0\1\0\0\0\0\0\0\0\4abcd", 17 },
	{ "\x14\xfe\xff\0\0\0\0\0\0\0\0\0\1\1", 14 },
	{ "\0\1\0\x0c\0\0\0\0game", 12 },
	{ "\0\2\0\x08\0\0\0\0", 8 },
	{ "\0\x10\0\x0c\0\0\0\0game", 12 },
	{ "a\n17\n4\n", 7 },
	{ "C\n", 2 },
	{ "k\0", 2 },
	{ "l", 1 },
	{ "m", 1 },
	{ "c\n", 2 },
	{ "\xff\xff\xff\xff"
	  "d\n",
	  6 },
	{ "\x15\xfe\xfd\0\0\0\0\0\0\0\0\0\2\1\0", 15 },
	{ "\x18\xfe\xfd\0\1\0\0\0\0\0\0\0\2xx", 15 },
	/* A ClientHello of 48 octets, whose cookie has one. */
	{ (const char[73]){ 0x16, (char)0xfe, (char)0xfd, [12] = 60,
			    1, [16] = 48, [24] = 48, (char)0xfe, (char)0xfd, [60] = 1 },
	  73 },
	/* A ServerHello of 8 octets, and behind it another record. */
	{ (const char[48]){ 0x16, (char)0xfe, (char)0xfd, [12] = 20,
			    2, [16] = 8, [24] = 8, [33] = 0x14, (char)0xfe,
			    (char)0xfd, [45] = 1, 1 },
	  47 },
	{ "\x16\xfe\xfd\0\1\0\0\0\0\0\0\0\x10sixteen octets..", 29 },
	{ "\0\4\0\x0c\0\0\0\0game", 12 },
	{ "\0\x09\0\x0c\0\0\0\0game", 12 },
	{ "\xff\xff\xff\xff"
	  "n\\chunk\1\0\0\0\x29",
	  16 },
	{ "\xff\xff\xff\xff"
	  "c-1234567",
	  13 },
	{ "\xff\xff\xff\xff"
	  "n\nprinted",
	  13 },
	{ "\xff\xff\xff\xff"
	  "7abcdefgi",
	  13 },
	{ "query\n\0", 7 },
	{ "stdlog 1\nx", 10 },
	{ "\x01\0\0\0\x34\x12payload of a game", 23 },
};

/* So many octets are drawn; more only where the longest game packets end. */
#define MUTATION_DRAWN 192
#define MUTATION_MAX   1480

struct mutation {
	__u8 bytes[MUTATION_MAX];
	size_t n;
};

static unsigned int mutation_state;

static inline unsigned int mutation_below(unsigned int n)
{
	return (unsigned int)rand_r(&mutation_state) % n;
}

#define MUTATION_OWN   (sizeof(mutation_seeds) / sizeof(mutation_seeds[0]))
#define MUTATION_SEEDS (MUTATION_OWN + sizeof(spellings) / sizeof(spellings[0]))

static inline void mutation_seed(struct mutation *in, size_t at)
{
	if (at < MUTATION_OWN) {
		in->n = mutation_seeds[at].n;
		memcpy(in->bytes, mutation_seeds[at].bytes, in->n);
		return;
	}
	at -= MUTATION_OWN;
	memset(in->bytes, 0xff, 4);
	in->n = 4 + spellings[at].n;
	memcpy(in->bytes + 4, spellings[at].text, spellings[at].n);
}

/* Lengths at which something begins or ends: of a record, of a ClientHello's session, and
 * now and then the most of all.
 */
static inline void mutation_fit(struct mutation *in)
{
	static const size_t most[] = { 1400, 1472 };
	unsigned int which = mutation_below(8);
	size_t n = in->n;

	if (which == 0)
		n = most[mutation_below(2)] + mutation_below(3) - 1;
	else if (which < 4 && n >= 60 && n < 128)
		n = 128;
	if (n > in->n)
		memset(in->bytes + in->n, 'x', n - in->n);
	in->n = n;
	if (which == 0 || n < 13)
		return;
	in->bytes[11] = 0;
	in->bytes[12] = (__u8)(n - 13 + (which < 4 ? 0 : mutation_below(3) - 1));
	if (n == 128)
		in->bytes[59] = (__u8)(30 + mutation_below(5));
}

static inline void mutation_change(struct mutation *in)
{
	switch (mutation_below(10)) {
	case 0: /* one byte */
		if (in->n)
			in->bytes[mutation_below((unsigned int)in->n)] =
				(__u8)mutation_below(256);
		break;
	case 1: /* one bit */
		if (in->n)
			in->bytes[mutation_below((unsigned int)in->n)] ^=
				(__u8)(1u << mutation_below(8));
		break;
	case 2: /* shorter */
		in->n = mutation_below((unsigned int)in->n + 1);
		break;
	case 3: /* longer */
		while (in->n < MUTATION_DRAWN && mutation_below(16))
			in->bytes[in->n++] = (__u8)mutation_below(256);
		break;
	case 4: /* a byte that tokenisers care for */
		if (in->n)
			in->bytes[mutation_below((unsigned int)in->n)] =
				(__u8)("\0\n \t\"/*\\\x7f\x80\xff"[mutation_below(11)]);
		break;
	case 5: /* the length that NetQuake wants */
		if (in->n >= 4) {
			in->bytes[2] = 0;
			in->bytes[3] = (__u8)in->n;
		}
		break;
	case 6: /* the other case of a letter, or what is folded like that */
		if (in->n)
			in->bytes[mutation_below((unsigned int)in->n)] ^= 0x20;
		break;
	case 7: /* of all behind a marker */
		for (size_t i = in->n > 8 ? 4 : 0; i < in->n; i++)
			in->bytes[i] ^= 0x20;
		break;
	case 8:
		mutation_fit(in);
		break;
	default: /* as it is */
		break;
	}
}

static inline void mutation_draw(struct mutation *in)
{
	if (mutation_below(8)) {
		mutation_seed(in, mutation_below(MUTATION_SEEDS));
		for (unsigned int i = mutation_below(4); i; i--)
			mutation_change(in);
		return;
	}
	in->n = mutation_below(80);
	for (size_t i = 0; i < in->n; i++)
		in->bytes[i] = (__u8)mutation_below(256);
}

#endif /* MUTATIONS_H */
