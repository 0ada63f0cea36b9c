// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * huffman.c - the adaptive code of `connect`.
 *
 * The list of nodes is the array itself: a higher slot is a node of at least the same
 * weight. The leaf of the not yet transmitted always has the lowest slot in use and
 * splits into the two below it, so nothing is ever shifted. Exchanging two subtrees is
 * exchanging the contents of two slots and mending the links to their children.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "lib/huffman.h"

void huffman_tree_init(struct huffman_tree *t)
{
	memset(t->node, 0, sizeof(t->node));
	memset(t->leaf, 0xff, sizeof(t->leaf));
	t->node[HUFFMAN_ROOT] = (struct huffman_node){ 0, -1, -1, -1, HUFFMAN_NYT };
	t->leaf[HUFFMAN_NYT] = HUFFMAN_ROOT;
}

/* The links from below to the node that now stands in @slot. */
static void adopt(struct huffman_tree *t, int slot)
{
	struct huffman_node *n = &t->node[slot];

	if (n->left < 0) {
		t->leaf[n->symbol] = (int16_t)slot;
		return;
	}
	t->node[n->left].parent = (int16_t)slot;
	t->node[n->right].parent = (int16_t)slot;
}

static void exchange(struct huffman_tree *t, int a, int b)
{
	struct huffman_node kept = t->node[a];
	int16_t parent_a = kept.parent, parent_b = t->node[b].parent;

	/* The parents keep their children's slots; the subtrees change places. */
	t->node[a] = t->node[b];
	t->node[b] = kept;
	t->node[a].parent = parent_a;
	t->node[b].parent = parent_b;
	adopt(t, a);
	adopt(t, b);
}

/* Gives @symbol a leaf; returns the slot from which weights must grow, or -1. */
static int split(struct huffman_tree *t, int symbol)
{
	int at = t->leaf[HUFFMAN_NYT], fresh = at - 1, nyt = at - 2;
	int parent = t->node[at].parent;

	t->node[at] = (struct huffman_node){ 1, (int16_t)parent, (int16_t)nyt,
					     (int16_t)fresh, -1 };
	t->node[fresh] = (struct huffman_node){ 1, (int16_t)at, -1, -1, (int16_t)symbol };
	t->node[nyt] = (struct huffman_node){ 0, (int16_t)at, -1, -1, HUFFMAN_NYT };
	t->leaf[symbol] = (int16_t)fresh;
	t->leaf[HUFFMAN_NYT] = (int16_t)nyt;
	return parent;
}

void huffman_tree_add(struct huffman_tree *t, int symbol)
{
	int at = t->leaf[symbol] < 0 ? split(t, symbol) : t->leaf[symbol];

	while (at >= 0) {
		int best = at;

		while (best < HUFFMAN_ROOT &&
		       t->node[best + 1].weight == t->node[at].weight)
			best++;
		if (best != at && best != t->node[at].parent) {
			exchange(t, at, best);
			at = best;
		}
		t->node[at].weight++;
		at = t->node[at].parent;
	}
}

int huffman_tree_code(const struct huffman_tree *t, int symbol, uint8_t bits[256])
{
	int at = t->leaf[symbol], length = 0;

	for (; t->node[at].parent >= 0; at = t->node[at].parent)
		bits[length++] = t->node[t->node[at].parent].right == at;
	for (int i = 0; i < length / 2; i++) {
		uint8_t kept = bits[i];

		bits[i] = bits[length - 1 - i];
		bits[length - 1 - i] = kept;
	}
	return length;
}

struct bit_input {
	const uint8_t *bytes;
	size_t bits;
	size_t at;
};

static int next_bit(struct bit_input *in)
{
	size_t at = in->at++;

	return at < in->bits ? in->bytes[at / 8] >> at % 8 & 1 : 0;
}

static int next_symbol(const struct huffman_tree *t, struct bit_input *in)
{
	int at = HUFFMAN_ROOT, symbol = 0;

	while (t->node[at].left >= 0)
		at = next_bit(in) ? t->node[at].right : t->node[at].left;
	if (t->node[at].symbol != HUFFMAN_NYT)
		return t->node[at].symbol;
	for (int i = 0; i < 8; i++)
		symbol = symbol << 1 | next_bit(in);
	return symbol;
}

int huffman_adaptive_decode(const uint8_t *in, size_t n, uint8_t *out, size_t max)
{
	struct bit_input bits = { in + 2, 0, 0 };
	struct huffman_tree t;
	size_t count;

	if (n < 3)
		return -EBADMSG;
	count = (size_t)in[0] << 8 | in[1];
	if (!count)
		return -EBADMSG;
	if (count > max)
		return -EMSGSIZE;
	bits.bits = (n - 2) * 8;
	huffman_tree_init(&t);
	for (size_t i = 0; i < count; i++) {
		int symbol = next_symbol(&t, &bits);

		if (bits.at > bits.bits)
			return -EBADMSG;
		out[i] = (uint8_t)symbol;
		huffman_tree_add(&t, symbol);
	}
	/* A sender adds floor(bits / 8) + 1 bytes. Some pad with one NUL. */
	if (n - 2 < bits.at / 8 + 1 || n - 2 > bits.at / 8 + 2)
		return -EBADMSG;
	return (int)count;
}

struct bit_output {
	uint8_t *bytes;
	size_t max; /* in bits */
	size_t at;
};

static void put_bit(struct bit_output *out, int bit)
{
	if (out->at < out->max && bit)
		out->bytes[out->at / 8] |= (uint8_t)(1 << out->at % 8);
	out->at++;
}

static void put_symbol(struct bit_output *out, const struct huffman_tree *t, int symbol)
{
	bool known = t->leaf[symbol] >= 0;
	uint8_t code[256];
	int length = huffman_tree_code(t, known ? symbol : HUFFMAN_NYT, code);

	for (int i = 0; i < length; i++)
		put_bit(out, code[i]);
	for (int i = 7; !known && i >= 0; i--)
		put_bit(out, symbol >> i & 1);
}

int huffman_adaptive_encode(const uint8_t *in, size_t n, uint8_t *out, size_t max)
{
	struct bit_output bits = { out + 2, 0, 0 };
	struct huffman_tree t;

	if (!n || n > UINT16_MAX)
		return -EINVAL;
	if (max < 3)
		return -EMSGSIZE;
	memset(out, 0, max);
	out[0] = (uint8_t)(n >> 8);
	out[1] = (uint8_t)n;
	bits.max = (max - 2) * 8;
	huffman_tree_init(&t);
	for (size_t i = 0; i < n; i++) {
		put_symbol(&bits, &t, in[i]);
		huffman_tree_add(&t, in[i]);
	}
	if (bits.at / 8 + 1 > max - 2)
		return -EMSGSIZE;
	return (int)(2 + bits.at / 8 + 1);
}
