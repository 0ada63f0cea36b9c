/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * amplification.bpf.h - the anti-amplification limit: a prefix (/24, /56) without a
 * verified player is sent no more bytes than came from it, plus an allowance. It does not
 * matter which protocol answers, nor to what.
 *
 * A cell holds the time at which its prefix is out of debt, in the manner of limit.h but
 * in bytes, and a tag: the part of a keyed hash that tells its prefix. Received bytes
 * move the time back, sent bytes forward; what would move it beyond the window is not
 * sent. Four cells are a line (struct amplification_line), and the hash chooses the line.
 *
 * A prefix without a cell takes one of its line that is not in debt. So credit of one
 * prefix is never spent on another, and a debt is never forgotten. If all four cells are
 * in debt, nothing is sent to a fifth prefix of the line until one of them is out of
 * debt.
 *
 * Called to charge what egress and the shield send, and to credit a datagram that goes on
 * to the server, and a request if its challenge was refused.
 *
 * Locking: all CPUs share the cells; an update is one compare-and-swap. Two CPUs that
 * enter the same prefix at once choose the same cell, or, if a third changes the line
 * meanwhile, may leave two: the first in the line counts from then on.
 *
 * Keep these: an update never moves a cell beyond the caller's shares of the window, or
 * below the credit that is kept; a cell in debt never changes its tag; the arithmetic of
 * key, place and cell is that of cell_amplification() (user/shield/shield_cells.h) and of
 * the daemon's reader (user/shield/shield_about.c), which tests/kern/kern_explain_trial.c
 * compares. The lines are pinned: if that arithmetic changes, raise ABI_VERSION
 * (user/shield/shield_abi.c).
 */
#ifndef AMPLIFICATION_BPF_H
#define AMPLIFICATION_BPF_H

#include "service.bpf.h"

/*
 * Return amplification_key() of @peer. Called by amplification_credit() and
 * amplification_credit_move() with a parsed @p.
 */
static __always_inline __u64 amplification_prefix(const struct packet *p, enum side peer)
{
	return amplification_key(address_net(p, peer), p->ipv6);
}

/*
 * Return a hash of @prefix: the index of its line, and below that its tag. Called by
 * amplification_line_at() alone; cell_amplification() must return the same.
 */
static __always_inline __u32 amplification_place(const struct live *l, __u64 prefix)
{
	return limit_place(l->keys, prefix, AMPLIFICATION_BITS + AMPLIFICATION_TAG_BITS);
}

/*
 * Return the tag in @place: not 0, which is that of a cell that was never taken. Called
 * by amplification_line_at() alone; amplification_left() makes the same.
 */
static __always_inline __u32 amplification_tag(__u32 place)
{
	__u32 tag = place & ((1 << AMPLIFICATION_TAG_BITS) - 1);

	return tag ? tag : 1;
}

/*
 * Return the tag of the prefix that @cell belongs to; 0: of none. Called by
 * amplification_choose(), amplification_credit_prefix() and
 * amplification_charge_prefix(). The daemon reads the same bits
 * (user/shield/shield_about.c).
 */
static __always_inline __u32 amplification_cell_tag(__u64 cell)
{
	return cell & ((1 << AMPLIFICATION_TAG_BITS) - 1);
}

/*
 * Return the time, in ns, at which the prefix of @cell is out of debt. Called by
 * amplification_choose(), amplification_credit_prefix() and
 * amplification_charge_prefix(). The inverse of amplification_cell_make(), less its
 * rounding. amplification_left() computes the same.
 */
static __always_inline __u64 amplification_cell_due(__u64 cell)
{
	return (cell >> AMPLIFICATION_TAG_BITS) * AMPLIFICATION_GRAIN_NS;
}

/*
 * Make the cell of @tag that is out of debt at @due_ns, rounded up to
 * AMPLIFICATION_GRAIN_NS. Called by amplification_credit_prefix()
 * and amplification_charge_prefix(). Round up: rounded down, many small datagrams would
 * be free.
 */
static __always_inline __u64 amplification_cell_make(__u64 due_ns, __u32 tag)
{
	return (due_ns + AMPLIFICATION_GRAIN_NS - 1) / AMPLIFICATION_GRAIN_NS
		       << AMPLIFICATION_TAG_BITS |
	       tag;
}

/*
 * Return the time that debts are compared with. In strict mode it stands still, so time
 * gives no credit. Called by amplification_credit_prefix() and
 * amplification_charge_prefix(); about_allowance() must compare with the same time.
 */
static __always_inline __u64 amplification_now(const struct live *l)
{
	return l->amplification.strict ? AMPLIFICATION_STRICT_NS : clock_now(l);
}

/*
 * Return the index of the cell with @tag in @line, or of one that it may take, or
 * AMPLIFICATION_WAYS: all are in debt. It takes the first that had no credit since
 * @floor_ns, or else the one with the least credit. *@ret_seen: the cell as it was read,
 * for the compare-and-swap. Called by amplification_credit_prefix()
 * and amplification_charge_prefix(). Never return a cell of another tag that is in debt:
 * its debt would be forgotten. Both loops must keep the bound AMPLIFICATION_WAYS for the
 * verifier. amplification_left() (user/shield/shield_about.c) follows the same rules.
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
 * Return the line of @prefix, and the tag of its cell in *@ret_tag. NULL: there is none,
 * which cannot be. Called by amplification_credit_prefix() and
 * amplification_charge_prefix().
 */
static __always_inline struct amplification_line *
amplification_line_at(const struct live *l, __u64 prefix, __u32 *ret_tag)
{
	__u32 place = amplification_place(l, prefix);
	__u32 index = place >> AMPLIFICATION_TAG_BITS;

	*ret_tag = amplification_tag(place);
	return bpf_map_lookup_elem(&amplification, &index);
}

/*
 * Credit @bytes to @prefix: move its cell back, down to what credit is kept. Returns 0 if
 * nothing was changed: no more credit is kept, no cell can be taken, or LIMIT_TRIES races
 * were lost. Reads the limit's settings itself, so that the verifier analyses it apart,
 * like the next. Called by amplification_credit(), amplification_credit_move() and
 * challenge_charge(), each of which has checked that the limit is on (byte_ns not 0). The
 * result must stay at or above the floor, or a source could save up credit without end.
 */
__noinline int amplification_credit_prefix(__u64 prefix, __u64 bytes)
{
	const struct live *l = &live;
	__u64 credit = bytes * l->amplification.byte_ns, now = amplification_now(l);
	__u64 floor = now - l->amplification.credit_ns, seen, from;
	struct amplification_line *line;
	__u32 way, tag;

	line = amplification_line_at(l, prefix, &tag);
	if (!line)
		return 0;
	for (int i = 0; i < LIMIT_TRIES; i++) {
		way = amplification_choose(line, tag, floor, now, &seen);
		if (!index_below(&way, AMPLIFICATION_WAYS))
			return 0;
		from = amplification_cell_tag(seen) == tag ? amplification_cell_due(seen)
							   : now;
		if (from <= floor)
			return 0;
		from = from - floor > credit ? from - credit : floor;
		if (__sync_val_compare_and_swap(&line->cells[way], seen,
						amplification_cell_make(from, tag)) ==
		    seen)
			return 1;
	}
	return 0;
}

/*
 * How many halves of the window a prefix may be ahead, below 32. Unknown sources near a
 * known client have one half, and leave one to it. A level of NetQuake is 10 to 100 kB at
 * once. docs/SECURITY.md names what each is in bytes.
 */
#define AMPLIFICATION_HALF  1
#define AMPLIFICATION_WHOLE 2
#define AMPLIFICATION_LEVEL 16
/* The first half; beyond it, in the second, AMPLIFICATION_BETWEEN is returned. */
#define AMPLIFICATION_ASK     (32 | AMPLIFICATION_HALF)
#define AMPLIFICATION_BETWEEN 2

/*
 * Charge @bytes that are to be sent to @prefix: move its cell forward. Returns 1 if they
 * are charged. Returns 0, and charges nothing, if the cell would be more than @shares
 * halves of the window ahead, if none can be taken, or after LIMIT_TRIES lost races: the
 * bytes must not be sent. AMPLIFICATION_BETWEEN: of AMPLIFICATION_ASK alone, nothing is
 * charged, and AMPLIFICATION_WHOLE would be enough: the caller charges that or sends
 * nothing. Unused time and credit of other prefixes do not help. Returns 1 without a
 * line, which cannot be. @prefix: amplification_prefix(), or the key of an account apart
 * (AMPLIFICATION_ALLOWED, AMPLIFICATION_SIGN_ON).
 *
 * Called by amplification_charge_allowed(), egress_charge(), challenge_charge() and
 * cache_charge(), each of which has checked that the limit is on (byte_ns not 0). At most
 * one call may charge a datagram that is sent. The comparison with the limit must come
 * before the exchange, so that a refused charge changes nothing.
 */
__noinline int amplification_charge_prefix(__u64 prefix, __u64 bytes, __u32 shares)
{
	const struct live *l = &live;
	__u64 cost = bytes * l->amplification.byte_ns, now = amplification_now(l);
	__u64 floor = now - l->amplification.credit_ns, seen, from, entry;
	__u64 half = l->amplification.window_ns >> 1, limit = now + (shares & 31) * half;
	struct amplification_line *line;
	__u32 way, tag;

	line = amplification_line_at(l, prefix, &tag);
	if (!line)
		return 1;
	for (int i = 0; i < LIMIT_TRIES; i++) {
		way = amplification_choose(line, tag, floor, now, &seen);
		if (!index_below(&way, AMPLIFICATION_WAYS))
			return 0;
		from = amplification_cell_tag(seen) == tag ? amplification_cell_due(seen)
							   : now;
		if (from < floor)
			from = floor;
		entry = amplification_cell_make(from + cost, tag);
		if (amplification_cell_due(entry) > limit)
			return shares == AMPLIFICATION_ASK &&
					       amplification_cell_due(entry) <=
						       limit + half
				       ? AMPLIFICATION_BETWEEN
				       : 0;
		if (__sync_val_compare_and_swap(&line->cells[way], seen, entry) == seen)
			return 1;
	}
	return 0;
}

/*
 * Credit the prefix of the sender for a datagram of @bytes that goes on to the server and
 * is of no player. Called by decision_passed() alone. A datagram that the shield drops or
 * replies to must not be credited here: an attacker would be paid for spoofed datagrams.
 */
static __always_inline void amplification_credit(const struct live *l,
						 const struct packet *p, __u64 bytes)
{
	if (l->amplification.byte_ns)
		amplification_credit_prefix(amplification_prefix(p, SENDER), bytes);
}

/* Credit of a move, in its own size; with the allowance 4 times: docs/SECURITY.md. */
#define MOVE_TIMES 3

/*
 * Credit the prefix of a NetQuake player for a move of @bytes. The player's address may
 * be unverified, so updates are charged: it is sent at most four times what it sends, and
 * a client whose verification takes long plays on. Called by decision_passed() alone, for
 * a KIND_NQ_UNRELIABLE of REASON_PLAYER on the slow path: the fast path passes moves of
 * verified players alone. In strict mode no more than @bytes may be credited.
 */
static __always_inline void amplification_credit_move(const struct live *l,
						      const struct packet *p, __u64 bytes)
{
	if (l->amplification.byte_ns)
		amplification_credit_prefix(amplification_prefix(p, SENDER),
					    l->amplification.strict ? bytes
								    : MOVE_TIMES * bytes);
}

/*
 * Charge @bytes that are to be sent to the allowed source at @peer's end of @p: its IPv4
 * address or /56 has an account of its own, and 64 times the allowance. False: they must
 * not be sent. True if the limit is off. Called by egress_listed() and cache_charge(),
 * not in strict mode. The key must not be that of the prefix, which a spoofed allowed
 * address could then use up. about_allowance() computes the same 64 times.
 */
static __always_inline bool amplification_charge_allowed(const struct live *l,
							 const struct packet *p,
							 enum side peer, __u64 bytes)
{
	__u64 key = amplification_key_allowed(address_net(p, peer), p->ipv6);

	bytes = (bytes >> ALLOWED_AMPLIFICATION_SHIFT) + 1;
	return !l->amplification.byte_ns ||
	       amplification_charge_prefix(key, bytes, AMPLIFICATION_WHOLE);
}

#endif /* AMPLIFICATION_BPF_H */
