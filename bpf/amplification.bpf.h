/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * amplification.bpf.h - the anti-amplification limit: no prefix is sent more than it has
 * sent, and a small allowance. It does not matter which engine answers, nor to what.
 *
 * A cell holds the time at which the debt of one /24 or /56 is paid, in the manner of
 * limit.h but in bytes, and a tag: the part of a keyed hash that tells its prefix.
 * What arrives moves the time back, what leaves moves it forward, and what would move it
 * beyond the window does not leave. Four cells are a line (struct amplification_line),
 * and the hash says which line is a prefix's.
 *
 * A prefix that has no cell takes one of its line that owes nothing. So what one prefix
 * has paid is never spent on another, and a debt is never forgotten. If all four cells
 * owe, nothing is sent to a fifth prefix of that line until one of them has paid.
 *
 * Called by the egress program, by what is sent back from the kernel, and for what goes
 * on to the server. All processors share the cells: a charge is one compare-and-swap. Two
 * processors that enter the same prefix at the same moment choose the same cell, or, if a
 * third changes the line meanwhile, may leave it two: the first in the line counts from
 * then on.
 */
#ifndef AMPLIFICATION_BPF_H
#define AMPLIFICATION_BPF_H

#include "service.bpf.h"

/* The /24 or /56 of @peer; of the latter's 56 bits none is where IPv6 is marked. */
static __always_inline __u64 amplification_prefix(const struct packet *p, enum side peer)
{
	return address_net(p, peer) >> 8 | (__u64)p->ipv6 << 56;
}

/* Return a hash of @prefix: the index of its line, and below that its tag. */
static __always_inline __u32 amplification_place(const struct live *l, __u64 prefix)
{
	return limit_place(l->keys, prefix, AMPLIFICATION_BITS + AMPLIFICATION_TAG_BITS);
}

/* Return the tag in @place: not 0, which is that of a cell that was never taken. */
static __always_inline __u32 amplification_tag(__u32 place)
{
	__u32 tag = place & ((1 << AMPLIFICATION_TAG_BITS) - 1);

	return tag ? tag : 1;
}

/* Return the tag of @cell. */
static __always_inline __u32 amplification_cell_tag(__u64 cell)
{
	return cell & ((1 << AMPLIFICATION_TAG_BITS) - 1);
}

/* Return the time at which the debt in @cell is paid. */
static __always_inline __u64 amplification_cell_due(__u64 cell)
{
	return (cell >> AMPLIFICATION_TAG_BITS) * AMPLIFICATION_GRAIN_NS;
}

/* Return the cell of @tag whose debt is paid at @due_ns, or up to a grain later. */
static __always_inline __u64 amplification_cell_make(__u64 due_ns, __u32 tag)
{
	return (due_ns + AMPLIFICATION_GRAIN_NS - 1) / AMPLIFICATION_GRAIN_NS
		       << AMPLIFICATION_TAG_BITS |
	       tag;
}

static __always_inline __u64 amplification_now(const struct live *l)
{
	return l->amplification.strict ? AMPLIFICATION_STRICT_NS : clock_now(l);
}

/*
 * Return the index of the cell with @tag in @line, or else of the one that it may take:
 * one that owes nothing, and of those the first that has had no credit since @floor_ns,
 * or the one with the least credit. AMPLIFICATION_WAYS: all owe. The cell, as it was
 * seen, is in
 * *@ret_seen.
 */
static __always_inline __u32 amplification_choose(const struct amplification_line *line,
						  __u32 tag, __u64 floor_ns, __u64 now_ns,
						  __u64 *ret_seen)
{
	__u32 best = AMPLIFICATION_WAYS;
	__u64 seen, due, most = 0;

	for (__u32 way = 0; way < AMPLIFICATION_WAYS; way++) {
		seen = *(const volatile __u64 *)&line->cells[way];
		if (amplification_cell_tag(seen) != tag)
			continue;
		*ret_seen = seen;
		return way;
	}
	*ret_seen = 0;
	for (__u32 way = 0; way < AMPLIFICATION_WAYS; way++) {
		seen = *(const volatile __u64 *)&line->cells[way];
		due = amplification_cell_due(seen);
		if (due > now_ns || (due >= floor_ns && due < most))
			continue;
		best = way;
		*ret_seen = seen;
		if (due < floor_ns)
			break;
		most = due;
	}
	return best;
}

/*
 * Move the cell of @tag in @line back by @pay_ns, as far as credit goes. Returns 0 if it
 * cannot be: it owes nothing and may have no credit, or no cell of the line can be taken.
 * Functions of their own, here and below, so that the verifier walks the loops once.
 */
__noinline int amplification_credit_line(struct amplification_line *line, __u64 credit_ns,
					 __u32 tag, __u64 now_ns)
{
	__u64 floor = now_ns - live.amplification.credit_ns, seen, from;
	__u32 way;

	if (!line)
		return 0;
	for (int i = 0; i < LIMIT_TRIES; i++) {
		way = amplification_choose(line, tag, floor, now_ns, &seen);
		if (!index_below(&way, AMPLIFICATION_WAYS))
			return 0;
		from = amplification_cell_tag(seen) == tag ? amplification_cell_due(seen)
							   : now_ns;
		if (from <= floor)
			return 0;
		from = from - floor > credit_ns ? from - credit_ns : floor;
		if (__sync_val_compare_and_swap(&line->cells[way], seen,
						amplification_cell_make(from, tag)) ==
		    seen)
			return 1;
	}
	return 0;
}

/*
 * Move the cell of @tag in @line forward by @cost_ns. Returns 0, and charges nothing, if
 * that is more than @halves of a window from now, or if no cell of the line can be taken.
 * Neither time nor what another prefix has paid is credit.
 */
__noinline int amplification_charge_line(struct amplification_line *line, __u64 cost_ns,
					 __u32 tag, __u32 shares, __u64 now_ns)
{
	__u64 floor = now_ns - live.amplification.credit_ns, seen, from, entry;
	__u64 limit = now_ns + shares * (live.amplification.window_ns >> 1);
	__u32 way;

	if (!line)
		return 1;
	for (int i = 0; i < LIMIT_TRIES; i++) {
		way = amplification_choose(line, tag, floor, now_ns, &seen);
		if (!index_below(&way, AMPLIFICATION_WAYS))
			return 0;
		from = amplification_cell_tag(seen) == tag ? amplification_cell_due(seen)
							   : now_ns;
		if (from < floor)
			from = floor;
		entry = amplification_cell_make(from + cost_ns, tag);
		if (amplification_cell_due(entry) > limit)
			return 0;
		if (__sync_val_compare_and_swap(&line->cells[way], seen, entry) == seen)
			return 1;
	}
	return 0;
}

/*
 * @bytes have come from @prefix (@halves: 0), or are to be sent to it, which may then be
 * so many halves of a window ahead. Returns 0 if they must not be sent. Looks at the
 * configuration itself, so that it is verified apart.
 */
__noinline int amplification_update(__u64 prefix, __u64 bytes, __u32 shares)
{
	const struct live *l = &live;
	__u32 place = amplification_place(l, prefix),
	      index = place >> AMPLIFICATION_TAG_BITS;
	struct amplification_line *line = bpf_map_lookup_elem(&amplification, &index);
	__u64 ns = bytes * l->amplification.byte_ns, now = amplification_now(l);
	__u32 tag = amplification_tag(place);

	return shares ? amplification_charge_line(line, ns, tag, shares, now)
		      : amplification_credit_line(line, ns, tag, now);
}

/* A stranger's datagram of @bytes goes on to the server: its prefix may be sent as much.
 */
static __always_inline void amplification_credit(const struct live *l,
						 const struct packet *p, __u64 bytes)
{
	if (l->amplification.byte_ns)
		amplification_update(amplification_prefix(p, SENDER), bytes, 0);
}

#define MOVE_TIMES 3 /* what a move buys, in its own size: 4 times with the allowance */

/*
 * A NetQuake player, whose address is not proven, moves: it may be sent as much as four
 * of its moves weigh, so that a client whose proof takes long plays on at its own pace.
 */
static __always_inline void amplification_credit_move(const struct live *l,
						      const struct packet *p, __u64 bytes)
{
	if (l->amplification.byte_ns)
		amplification_update(amplification_prefix(p, SENDER),
				     l->amplification.strict ? bytes : MOVE_TIMES * bytes,
				     0);
}

/* The cells of what is not for a whole prefix are beside those of prefixes. */
#define AMPLIFICATION_ALLOWED (1ull << 57)
#define AMPLIFICATION_SIGN_ON (1ull << 58)

/*
 * How many halves of a window a prefix may be ahead. Those beside whom any number can be
 * made up leave a half to who is known. A level of NetQuake is 10 to 100 kB, at once;
 * then as slowly as everything else.
 */
#define AMPLIFICATION_HALF  1
#define AMPLIFICATION_WHOLE 2
#define AMPLIFICATION_LEVEL 16

/*
 * @bytes are about to leave to @peer. False: it has not paid for them.
 * AMPLIFICATION_LEVEL: it is a block of a NetQuake level for somebody who seems to sign
 * on. Such acknowledgements can be made up, so a prefix has no more than this for all of
 * them.
 */
static __always_inline bool amplification_charge(const struct live *l,
						 const struct packet *p, enum side peer,
						 __u64 bytes, __u32 shares)
{
	__u64 apart = shares == AMPLIFICATION_LEVEL ? AMPLIFICATION_SIGN_ON : 0;

	return !l->amplification.byte_ns ||
	       amplification_update(amplification_prefix(p, peer) | apart, bytes, shares);
}

/*
 * The same for a friend, one address or /56, who may be sent more, and does not share it
 * with its neighbours.
 */
static __always_inline bool amplification_charge_allowed(const struct live *l,
							 const struct packet *p,
							 enum side peer, __u64 bytes)
{
	__u64 net = address_net(p, peer);

	if (p->ipv6)
		net = net >> 8 | 1ull << 56;
	bytes = (bytes >> ALLOWED_AMPLIFICATION_SHIFT) + 1;
	return !l->amplification.byte_ns ||
	       amplification_update(net | AMPLIFICATION_ALLOWED, bytes,
				    AMPLIFICATION_WHOLE);
}

#endif /* AMPLIFICATION_BPF_H */
