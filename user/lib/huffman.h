/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * huffman.h - the two Huffman codes of Quake III.
 *
 * Both put bit k of the stream into bit (k mod 8), counted from the lowest, of byte
 * (k div 8). The fixed code carries every message: q3_bits.h reads it through
 * huffman_lookup. The adaptive one carries only the user information of `connect`:
 * two bytes, big-endian, with the number of plain bytes, then the bits.
 *
 * Source: id-Software/Quake-III-Arena code/qcommon/huffman.c.
 */
#ifndef HUFFMAN_H
#define HUFFMAN_H

#include <stddef.h>
#include <stdint.h>

#define HUFFMAN_LOOKUP_BITS  11
#define HUFFMAN_LOOKUP_SIZE  (1 << HUFFMAN_LOOKUP_BITS)
#define HUFFMAN_LENGTH_MASK  15
#define HUFFMAN_SYMBOL_SHIFT 4
#define HUFFMAN_NYT                                                         \
	256 /* not yet transmitted: malformed when read from the fixed code \
	     */

extern const uint16_t huffman_lookup[HUFFMAN_LOOKUP_SIZE];

/*
 * Decode the whole block @in of @n bytes. Returns the number of plain bytes now in @out,
 * or -EBADMSG: no or a zero count, input exhausted, input left over; -EMSGSIZE: the count
 * says more than @max.
 */
int huffman_adaptive_decode(const uint8_t *in, size_t n, uint8_t *out, size_t max);

/* Returns the length of the block now in @out, -EMSGSIZE if it does not fit, -EINVAL
 * if @n is 0 or beyond 65535. */
int huffman_adaptive_encode(const uint8_t *in, size_t n, uint8_t *out, size_t max);

/*
 * The tree itself: a test grows one from the seed counts. Nodes stand in one list by
 * weight; slot HUFFMAN_ROOT is the heaviest.
 */
#define HUFFMAN_NODES 513
#define HUFFMAN_ROOT  (HUFFMAN_NODES - 1)

struct huffman_node {
	uint32_t weight;
	int16_t parent; /* a slot, or -1 */
	int16_t left; /* a slot, or -1: a leaf */
	int16_t right;
	int16_t symbol; /* of a leaf, HUFFMAN_NYT too */
};

struct huffman_tree {
	struct huffman_node node[HUFFMAN_NODES];
	int16_t leaf[HUFFMAN_NYT + 1]; /* the slot of a symbol's leaf, or -1 */
};

/* Begin with the tree that holds HUFFMAN_NYT alone. */
void huffman_tree_init(struct huffman_tree *t);
/* Count @symbol, 0 to 255, once more, and put the tree in order again. */
void huffman_tree_add(struct huffman_tree *t, int symbol);
/*
 * Return the length of @symbol's code, which must have a leaf, and its bits, lowest
 * first.
 */
int huffman_tree_code(const struct huffman_tree *t, int symbol, uint8_t bits[256]);

#endif /* HUFFMAN_H */
