/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * q3_trace.h - included in front of user/q3_*.c when they are built for fuzzing: every
 * value that a parser takes from a message is also noted, for who asked for it.
 *
 * A mutation of a message's bytes is hardly ever one of its values: the first changed bit
 * is another Huffman code, and all that follows is read at other places. With the notes
 * a mutator (q3_mutate.h) can change one value and write the message again.
 */
#ifndef Q3_TRACE_H
#define Q3_TRACE_H

#include "decode/q3/q3_bits.h"

struct q3_token {
	uint32_t at; /* in bits */
	uint32_t value;
	uint32_t bits;
};

struct q3_trace {
	struct q3_token *tokens;
	size_t used, max;
	const uint8_t *data; /* of this message only */
};

/* NULL: nobody has asked. */
__attribute__((weak)) struct q3_trace *q3_tracing;

static inline uint32_t q3_get_noted(struct q3_bits *b, unsigned int n)
{
	struct q3_trace *t = q3_tracing;
	uint32_t at = b->pos, value = q3_get(b, n);

	if (t && t->data == b->data && t->used < t->max && !q3_bits_failed(b))
		t->tokens[t->used++] = (struct q3_token){ at, value, n };
	return value;
}

static inline int32_t q3_get_long_noted(struct q3_bits *b)
{
	return (int32_t)q3_get_noted(b, 32);
}

static inline uint32_t q3_get_int_noted(struct q3_bits *b, int bits)
{
	unsigned int n = (unsigned int)abs(bits);
	uint32_t value = q3_get_noted(b, n);

	return bits < 0 ? q3_extend(value, n) : value;
}

#define q3_get	    q3_get_noted
#define q3_get_long q3_get_long_noted
#define q3_get_int  q3_get_int_noted

#endif /* Q3_TRACE_H */
