/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * adaptive.h - the adaptive Huffman coding of Quake III's `connect`, for our client to
 * write and our stand-in server to read. A real server takes nothing else.
 *
 * All nodes stand in one list by weight, rank 0 = the leaf for symbols not yet seen.
 * Speed does not matter here; the list is an array and inserting moves everything.
 */
#ifndef ADAPTIVE_H
#define ADAPTIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
	ADAPTIVE_NODES = 2 * 256 + 1,
	NEW = 0,
	NONE = -1
};

struct node {
	int parent, child[2]; /* child[0] NONE: a leaf */
	int weight, rank, symbol;
};

struct adaptive {
	struct node node[ADAPTIVE_NODES]; /* node 0 is NEW */
	int by_rank[ADAPTIVE_NODES];
	int leaf[256];
	int count, root;
};

static inline void adaptive_start(struct adaptive *a)
{
	memset(a, 0, sizeof(*a));
	a->node[NEW] = (struct node){ NONE, { NONE, NONE }, 0, 0, -1 };
	a->count = 1;
	a->root = NEW;
	for (int i = 0; i < 256; i++)
		a->leaf[i] = NONE;
}

/* Put @new where @old hangs. */
static inline void adaptive_hang(struct adaptive *a, int parent, int old, int new)
{
	if (parent == NONE)
		a->root = new;
	else
		a->node[parent].child[a->node[parent].child[1] == old] = new;
	a->node[new].parent = parent;
}

static inline void adaptive_exchange(struct adaptive *a, int p, int q)
{
	struct node *x = &a->node[p], *y = &a->node[q];
	int px = x->parent, py = y->parent, rank = x->rank;
	int side_x = a->node[px].child[1] == p, side_y = a->node[py].child[1] == q;

	a->node[px].child[side_x] = q;
	a->node[py].child[side_y] = p;
	x->parent = py;
	y->parent = px;
	x->rank = y->rank;
	y->rank = rank;
	a->by_rank[x->rank] = p;
	a->by_rank[y->rank] = q;
}

static inline int adaptive_insert(struct adaptive *a, int symbol)
{
	int inner = a->count++, leaf = a->count++, parent = a->node[NEW].parent;

	for (int rank = inner - 1; rank > 0; rank--) {
		a->by_rank[rank + 2] = a->by_rank[rank];
		a->node[a->by_rank[rank]].rank = rank + 2;
	}
	a->node[inner] = (struct node){ NONE, { NEW, leaf }, 1, 2, -1 };
	a->node[leaf] = (struct node){ inner, { NONE, NONE }, 1, 1, symbol };
	a->by_rank[1] = leaf;
	a->by_rank[2] = inner;
	adaptive_hang(a, parent, NEW, inner);
	a->node[NEW].parent = inner;
	a->leaf[symbol] = leaf;
	return parent;
}

static inline void adaptive_add(struct adaptive *a, int symbol)
{
	int q = a->leaf[symbol] == NONE ? adaptive_insert(a, symbol) : a->leaf[symbol];

	for (; q != NONE; q = a->node[q].parent) {
		int rank = a->node[q].rank, best;

		while (rank + 1 < a->count &&
		       a->node[a->by_rank[rank + 1]].weight == a->node[q].weight)
			rank++;
		best = a->by_rank[rank];
		if (best != q && best != a->node[q].parent)
			adaptive_exchange(a, q, best);
		a->node[q].weight++;
	}
}

static inline bool bit_put(uint8_t *out, size_t max, size_t *at, int bit)
{
	if (*at / 8 >= max)
		return false;
	if (*at % 8 == 0)
		out[*at / 8] = 0;
	out[*at / 8] |= bit << (*at % 8);
	++*at;
	return true;
}

static inline bool code_put(const struct adaptive *a, int node, uint8_t *out, size_t max,
			    size_t *at)
{
	int path[ADAPTIVE_NODES], depth = 0;

	for (; a->node[node].parent != NONE; node = a->node[node].parent)
		path[depth++] = a->node[a->node[node].parent].child[1] == node;
	while (depth--)
		if (!bit_put(out, max, at, path[depth]))
			return false;
	return true;
}

/* Two bytes of length, then the bits. Returns the size, 0 if it does not fit. */
static inline size_t adaptive_pack(const char *text, size_t size, uint8_t *out,
				   size_t max)
{
	struct adaptive a;
	size_t at = 16;

	if (max < 3 || size > UINT16_MAX)
		return 0;
	out[0] = size >> 8;
	out[1] = size;
	out[2] = 0;
	adaptive_start(&a);
	for (size_t i = 0; i < size; i++) {
		int symbol = (uint8_t)text[i];
		bool new = a.leaf[symbol] == NONE;

		if (!code_put(&a, new ? NEW : a.leaf[symbol], out, max, &at))
			return 0;
		for (int bit = 7; new &&bit >= 0; bit--)
			if (!bit_put(out, max, &at, symbol >> bit & 1))
				return 0;
		adaptive_add(&a, symbol);
	}
	if (at / 8 >= max)
		return 0;
	if (at % 8 == 0)
		out[at / 8] = 0;
	return at / 8 + 1;
}

static inline int bit_get(const uint8_t *in, size_t size, size_t *at)
{
	int bit = *at / 8 < size ? in[*at / 8] >> (*at % 8) & 1 : NONE;

	++*at;
	return bit;
}

static inline int symbol_get(const struct adaptive *a, const uint8_t *in, size_t size,
			     size_t *at)
{
	int node = a->root, symbol = 0, bit;

	while (a->node[node].child[0] != NONE) {
		bit = bit_get(in, size, at);
		if (bit == NONE)
			return NONE;
		node = a->node[node].child[bit];
	}
	if (node != NEW)
		return a->node[node].symbol;
	for (int i = 0; i < 8; i++) {
		bit = bit_get(in, size, at);
		if (bit == NONE)
			return NONE;
		symbol = symbol << 1 | bit;
	}
	return symbol;
}

/* Returns the length of the text, which gets a NUL; 0 if it is none. */
static inline size_t adaptive_unpack(const uint8_t *in, size_t size, char *text,
				     size_t max)
{
	struct adaptive a;
	size_t at = 16, length;
	int symbol;

	if (size < 3)
		return 0;
	length = in[0] << 8 | in[1];
	if (length >= max)
		return 0;
	adaptive_start(&a);
	for (size_t i = 0; i < length; i++) {
		symbol = symbol_get(&a, in, size, &at);
		if (symbol == NONE)
			return 0;
		text[i] = symbol;
		adaptive_add(&a, symbol);
	}
	text[length] = '\0';
	return length;
}

#endif /* ADAPTIVE_H */
