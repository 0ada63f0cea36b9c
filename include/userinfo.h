/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * userinfo.h - read the qport and the challenge from a Quake III `connect`, which has
 * them in adaptive Huffman code:
 *
 *	ff ff ff ff c o n n e c t 20 | length 2, big-endian | code of "\key\value...\"
 *
 * Pure: no maps, no clock, no helpers. userinfo_step() is a few instructions, so that
 * bpf_loop() can take the steps: the verifier analyses one step, not all. The list of the
 * code's nodes is the array itself, as in user/lib/huffman.c: a higher place is a node of
 * at least the same weight, and the node of all letters that were not sent yet has the
 * lowest place in use.
 *
 * Engines take the first of two equal keys, in any case of letters; so does this, of
 * values that are numbers in range: userinfo_pair(). Source: docs/PROTOCOLS-quake3.md.
 * Called by bpf/connects.bpf.h: userinfo_begin(), then userinfo_step() until it returns
 * false or USERINFO_STEPS are taken.
 *
 * All state is in *@u, of this processor, and no step may depend on another variable. The
 * order of the nodes is a part of the code: tests/include/test_userinfo.c compares the
 * text with that of user/lib/huffman.c. Only userinfo_begin() and userinfo_step() are
 * called from outside.
 */
#ifndef USERINFO_H
#define USERINFO_H

#include <linux/types.h>
#include <stdbool.h>

#define USERINFO_IN 1024 /* bytes of code that are read, with the length */
_Static_assert(!(USERINFO_IN & (USERINFO_IN - 1)), "the reader masks by it");
#define USERINFO_PLACE 256 /* nodes: enough for 127 different letters, all of ASCII */
#define USERINFO_ROOT  (USERINFO_PLACE - 1)
#define USERINFO_STEPS \
	(1 << 16) /* bound of steps; the longest that was found takes 54,000 */

#define USERINFO_NYT	   256 /* of struct userinfo_node.symbol: none of those sent */
#define USERINFO_INNER	   257 /* no leaf */

#define USERINFO_QPORT	   1 /* of struct userinfo.has */
#define USERINFO_CHALLENGE 2
#define USERINFO_ALL	   (USERINFO_QPORT | USERINFO_CHALLENGE)

enum userinfo_phase {
	USERINFO_READ, /* from the root to a leaf, bit by bit */
	USERINFO_GROW, /* from a leaf to the root, heavier by one */
};

enum userinfo_part {
	USERINFO_BEGINS, /* the quote is to come */
	USERINFO_KEY,
	USERINFO_VALUE,
};

struct userinfo_node {
	__u16 weight;
	__u16 symbol; /* a letter, USERINFO_NYT or USERINFO_INNER */
	__u8 parent, left, right; /* places; the last two of USERINFO_INNER alone */
	__u8 pad;
};

struct userinfo {
	__u8 in[USERINFO_IN +
		8]; /* from the length on; 8 more, so that two can be read */
	struct userinfo_node node[USERINFO_PLACE];
	__u8 leaf[256]; /* the place of each letter's leaf; userinfo_read() compares it */
	__u32 bit, bits; /* of the code: the next, and how many there are */
	__u32 letters; /* still to come */
	__u8 phase, part;
	__u8 at, most; /* nodes: this one, and the last of its weight so far */
	__u8 unsent; /* the lowest in use */
	__u8 has; /* USERINFO_* */
	__u8 key_n, value_n; /* letters of each, as far as they count */
	__u8 first; /* letter of the key, in lower case */
	__u64 key; /* and the last eight */
	__u64 value;
	bool minus, odd; /* of the value: it is no number */
	__u16 qport;
	__u32 challenge; /* as 32 bits, with its sign */
};

/*
 * Begin to read the @n bytes that are in @u->in. False: there is nothing to read. Called
 * by connect_read_q3(), after it has put them there; the 8 bytes after them may be
 * anything. node and leaf keep what an earlier connect left, which userinfo_read() must
 * not trust. Each other member that a step reads before it writes must be set here.
 */
static __always_inline bool userinfo_begin(struct userinfo *u, __u32 n)
{
	u->letters = (__u32)u->in[0] << 8 | u->in[1];
	if (n < 3 || n > USERINFO_IN || !u->letters)
		return false;
	u->bit = 16;
	u->bits = n * 8;
	u->phase = USERINFO_READ;
	u->part = USERINFO_BEGINS;
	u->at = USERINFO_ROOT;
	u->most = USERINFO_ROOT;
	u->unsent = USERINFO_ROOT;
	u->has = 0;
	u->key_n = 0;
	u->value_n = 0;
	u->key = 0;
	u->value = 0;
	u->minus = false;
	u->odd = false;
	u->node[USERINFO_ROOT] = (struct userinfo_node){ .symbol = USERINFO_NYT };
	return true;
}

/* --- the text ---------------------------------------------------------------- */

/* Five letters as they are in struct userinfo.key: the last one lowest. */
#define USERINFO_WORD(a, b, c, d, e) \
	((__u64)(a) << 32 | (__u64)(b) << 24 | (__u64)(c) << 16 | (__u64)(d) << 8 | (e))

/*
 * Keep a key and its value that are complete. Called by userinfo_letter() at each end of
 * a value and of the text; it does nothing where no value is read. A value that is no
 * number or out of range is passed over, and a later one of the same key counts. The
 * challenge must be the 32 bits that decimal_at() reads from the server's own text:
 * connect_answers() compares them.
 */
static __always_inline void userinfo_pair(struct userinfo *u)
{
	const __u64 challenge =
		USERINFO_WORD('h', 'a', 'l', 'l', 'e') << 24 | 'n' << 16 | 'g' << 8 | 'e';
	__u64 limit = u->minus ? 1ull << 31 : (1ull << 32) - 1;

	if (u->part != USERINFO_VALUE || !u->value_n || u->odd || u->value > limit)
		return;
	if (u->key_n == 5 && u->key == USERINFO_WORD('q', 'p', 'o', 'r', 't') &&
	    !(u->has & USERINFO_QPORT) && !u->minus && u->value <= 0xffff) {
		u->qport = u->value;
		u->has |= USERINFO_QPORT;
	} else if (u->key_n == 9 && u->first == 'c' && u->key == challenge &&
		   !(u->has & USERINFO_CHALLENGE)) {
		u->challenge = u->minus ? -u->value : u->value;
		u->has |= USERINFO_CHALLENGE;
	}
}

/*
 * Read one more character of a value that may be a number. Called by userinfo_letter().
 */
static __always_inline void userinfo_digit(struct userinfo *u, __u8 c)
{
	if (c == '-' && !u->value_n && !u->minus) {
		u->minus = true;
		return;
	}
	if (c < '0' || c > '9' || u->value_n >= 10) {
		u->odd = true;
		return;
	}
	u->value = u->value * 10 + (c - '0');
	u->value_n++;
}

/*
 * Read one more character of the text. False: nothing more is needed, or the text does
 * not begin with a quote. Called by userinfo_read().
 */
static __always_inline bool userinfo_letter(struct userinfo *u, __u8 c)
{
	if (u->part == USERINFO_BEGINS) {
		u->part = USERINFO_KEY;
		return c == '"';
	}
	if (c == '"') {
		userinfo_pair(u);
		return false;
	}
	if (c == '\\') {
		/* The one that begins the text ends nothing. */
		if (u->part == USERINFO_KEY && u->key_n) {
			u->part = USERINFO_VALUE;
			u->value = 0;
			u->value_n = 0;
			u->minus = false;
			u->odd = false;
			return true;
		}
		userinfo_pair(u);
		u->part = USERINFO_KEY;
		u->key = 0;
		u->key_n = 0;
		return u->has != USERINFO_ALL;
	}
	if (u->part == USERINFO_VALUE) {
		userinfo_digit(u, c);
		return true;
	}
	if (!u->key_n)
		u->first = c | 0x20;
	u->key = u->key << 8 | (c | 0x20);
	u->key_n += u->key_n < 255;
	return true;
}

/* --- the code ---------------------------------------------------------------- */

/*
 * Tell the children of the node in @place, or its letter, where the node is now. Called
 * by userinfo_exchange().
 */
static __always_inline void userinfo_adopt(struct userinfo *u, __u8 place)
{
	const struct userinfo_node *n = &u->node[place];

	if (n->symbol == USERINFO_INNER) {
		u->node[n->left].parent = place;
		u->node[n->right].parent = place;
	} else if (n->symbol < 256) {
		u->leaf[n->symbol & 0xff] = place;
	}
}

/*
 * Exchange two subtrees of the same weight; their parents stay. Neither may be above the
 * other in the tree. Called by userinfo_grow().
 */
static __always_inline void userinfo_exchange(struct userinfo *u, __u8 a, __u8 b)
{
	struct userinfo_node kept = u->node[a];
	__u8 parent = u->node[b].parent;

	u->node[a] = u->node[b];
	u->node[a].parent = kept.parent;
	kept.parent = parent;
	u->node[b] = kept;
	userinfo_adopt(u, a);
	userinfo_adopt(u, b);
}

/*
 * Take one step toward the root, adding one to the weights. Called by userinfo_step()
 * in USERINFO_GROW. Returns true always: the text is not over. The last node of the
 * same weight is looked for one node a step.
 */
static __always_inline bool userinfo_grow(struct userinfo *u)
{
	__u8 at = u->at, most = u->most;

	__u8 next = most + 1;

	if (most < USERINFO_ROOT && u->node[next].weight == u->node[at].weight) {
		u->most = next;
		return true;
	}
	if (most != at && most != u->node[at].parent) {
		userinfo_exchange(u, at, most);
		at = most;
	}
	u->node[at].weight++;
	if (at == USERINFO_ROOT) {
		u->at = at;
		u->phase = USERINFO_READ;
		return true;
	}
	u->at = u->node[at].parent;
	u->most = u->at;
	return true;
}

/*
 * Give a letter that was not sent before a leaf. False: there is no place for it. Called
 * by userinfo_read().
 */
static __always_inline bool userinfo_split(struct userinfo *u, __u8 symbol)
{
	__u8 at = u->unsent, fresh = at - 1, unsent = at - 2;
	__u8 parent = u->node[at].parent;

	if (at < 2)
		return false;
	u->node[at] =
		(struct userinfo_node){ 1, USERINFO_INNER, parent, unsent, fresh, 0 };
	u->node[fresh] =
		(struct userinfo_node){ .weight = 1, .symbol = symbol, .parent = at };
	u->node[unsent] = (struct userinfo_node){ .symbol = USERINFO_NYT, .parent = at };
	u->leaf[symbol] = fresh;
	u->unsent = unsent;
	if (at == USERINFO_ROOT) {
		u->at = at;
		return true;
	}
	u->at = parent;
	u->most = parent;
	u->phase = USERINFO_GROW;
	return true;
}

/*
 * Return eight bits that are not coded, the highest first. Called by userinfo_read(),
 * which has compared that they are there.
 */
static __always_inline __u8 userinfo_plain(const struct userinfo *u)
{
	__u32 at = u->bit >> 3 & (USERINFO_IN - 1);
	__u32 v = ((__u32)u->in[at] | (__u32)u->in[at + 1] << 8) >> (u->bit & 7);

	v = (v & 0x0f) << 4 | (v >> 4 & 0x0f);
	v = (v & 0x33) << 2 | (v >> 2 & 0x33);
	return (v & 0x55) << 1 | (v >> 1 & 0x55);
}

/*
 * Take one step from the root toward a leaf, or read all that follows at a leaf. False:
 * the text is over or damaged. Called by userinfo_step() in USERINFO_READ.
 */
static __always_inline bool userinfo_read(struct userinfo *u)
{
	const struct userinfo_node *n = &u->node[u->at];
	__u16 symbol = n->symbol;
	__u8 leaf;

	if (symbol == USERINFO_INNER) {
		if (u->bit >= u->bits)
			return false;
		u->at = u->in[u->bit >> 3 & (USERINFO_IN - 1)] >> (u->bit & 7) & 1
				? n->right
				: n->left;
		u->bit++;
		return true;
	}
	if (symbol == USERINFO_NYT) {
		if (u->bit + 8 > u->bits)
			return false;
		symbol = userinfo_plain(u);
		u->bit += 8;
	}
	if (!userinfo_letter(u, symbol) || !--u->letters)
		return false;
	/* Stale if the letter is new: below the places in use, or another letter's. */
	leaf = u->leaf[symbol & 0xff];
	if (leaf < u->unsent || u->node[leaf].symbol != symbol)
		return userinfo_split(u, symbol);
	u->at = leaf;
	u->most = leaf;
	u->phase = USERINFO_GROW;
	return true;
}

/*
 * Take one step. False: it is over, and @u->has says what was found; the caller must
 * stop. Called by connect_step(), after userinfo_begin() was true.
 */
static __always_inline bool userinfo_step(struct userinfo *u)
{
	return u->phase == USERINFO_GROW ? userinfo_grow(u) : userinfo_read(u);
}

#endif /* USERINFO_H */
