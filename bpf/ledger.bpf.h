/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ledger.bpf.h - no prefix is sent more than it has sent, and a small allowance.
 *
 * One u64 for each /24 or /56: the time at which its debt is paid, in the manner of
 * limit.h but in bytes. What arrives moves it back, what leaves moves it forward, and
 * what would move it beyond the window does not leave. It does not matter which engine
 * answers, nor to what.
 *
 * Cells are shared, so each prefix has two, of independent hashes, and both must agree.
 * Nor is what one prefix has paid ever spent on another: a cell's low bits are a tag,
 * that of the one prefix that it is about. Only that prefix has its credit or reduces its
 * debt; another that comes takes the cell over without the credit, and a debt of several
 * is paid by time alone.
 */
#ifndef LEDGER_BPF_H
#define LEDGER_BPF_H

#include "common.bpf.h"

#define STRICT_NOW_NS  (1ull << 62) /* strict: a clock that stands still */
#define LEDGER_SEVERAL 0 /* the tag of a debt of more than one prefix */
#define LEDGER_UNDO    (1u << LEDGER_TAGS) /* beside a tag: give back a charge */

/* The /24 or /56 of @peer; of the latter's 56 bits none is where IPv6 is marked. */
static __always_inline __u64 ledger_prefix(const struct packet *p, enum side peer)
{
	return address_net(p, peer) >> 8 | (__u64)p->ipv6 << 56;
}

/* Where @prefix is booked, above its tag there: @second is another hash than the first.
 */
static __always_inline __u32 ledger_place(const struct live *l, __u64 prefix, bool second)
{
	__u64 keys[3] = { l->keys[second], 0, l->keys[2] };

	return limit_cell(keys, prefix, 0, LEDGER_BITS + LEDGER_TAGS);
}

static __always_inline __u64 *ledger_cell(__u32 place)
{
	__u32 index = place >> LEDGER_TAGS;

	return bpf_map_lookup_elem(&ledgers, &index);
}

static __always_inline __u32 ledger_tag(__u32 place)
{
	__u32 tag = place % LEDGER_GRAIN_NS;

	return tag != LEDGER_SEVERAL ? tag : 1;
}

/* A cell: @due_ns, never earlier than it is, and whose that is. */
static __always_inline __u64 ledger_entry(__u64 due_ns, __u32 tag)
{
	return (due_ns + LEDGER_GRAIN_NS - 1) / LEDGER_GRAIN_NS * LEDGER_GRAIN_NS | tag;
}

static __always_inline __u64 ledger_now(const struct live *l)
{
	return l->ledger.strict ? STRICT_NOW_NS : clock_now(l);
}

/*
 * Move @cell back by @pay_ns, as far as credit goes, for the prefix with @tag; it has no
 * say in what is not its own. With LEDGER_UNDO it is the present holder's charge that is
 * given back, also of a debt of several. 0: nothing moved. Functions of their own, here
 * and below, so that the verifier walks the loops once.
 */
__noinline int ledger_pay(__u64 *cell, __u64 pay_ns, __u32 tag, __u64 now_ns)
{
	__u64 credit_ns = live.ledger.credit_ns;
	bool undo = tag & LEDGER_UNDO;

	if (!cell)
		return 0;
	tag &= ~LEDGER_UNDO;
	for (int i = 0; i < LIMIT_TRIES; i++) {
		__u64 seen = *(volatile __u64 *)cell;
		__u32 whose = seen % LEDGER_GRAIN_NS;
		__u64 from = seen - whose, floor = now_ns - credit_ns, entry;

		if (undo && whose == LEDGER_SEVERAL) {
			floor = now_ns;
			tag = LEDGER_SEVERAL;
		} else if (whose != tag) {
			if (from > now_ns || undo)
				return 0;
			from = now_ns;
		}
		if (from <= floor)
			return 0;
		from = from - floor > pay_ns ? from - pay_ns : floor;
		entry = ledger_entry(from, tag);
		if (__sync_val_compare_and_swap(cell, seen, entry) == seen)
			return 1;
	}
	return 0;
}

/*
 * Move @cell forward by @cost_ns for the prefix with @tag, unless that is more than
 * @halves of a window from now. Time is no credit, nor is what another has paid.
 */
__noinline int ledger_charge(__u64 *cell, __u64 cost_ns, __u32 tag, __u32 halves,
			     __u64 now_ns)
{
	__u64 floor = now_ns - live.ledger.credit_ns;
	__u64 limit = now_ns + halves * (live.ledger.window_ns >> 1);

	if (!cell)
		return 1;
	for (int i = 0; i < LIMIT_TRIES; i++) {
		__u64 seen = *(volatile __u64 *)cell, entry;
		__u32 whose = seen % LEDGER_GRAIN_NS;
		__u64 from = seen - whose;
		bool alone;

		if (whose == tag)
			from = from < floor ? floor : from;
		else if (from <= now_ns)
			from = now_ns;
		alone = whose == tag || from == now_ns;
		entry = ledger_entry(from + cost_ns, alone ? tag : LEDGER_SEVERAL);
		if (entry - entry % LEDGER_GRAIN_NS > limit)
			return 0;
		if (__sync_val_compare_and_swap(cell, seen, entry) == seen)
			return 1;
	}
	return 0;
}

/*
 * @bytes have come from @prefix (@halves: 0), or are to be sent to it, which may then be
 * so many halves of a window ahead: in both of its cells or, if one says no, in none.
 * Looks at the configuration itself, so that it is verified apart.
 */
__noinline int ledger_book(__u64 prefix, __u64 bytes, __u32 halves)
{
	const struct live *l = &live;
	__u32 place = ledger_place(l, prefix, false),
	      other = ledger_place(l, prefix, true);
	__u64 *first = ledger_cell(place), *second = ledger_cell(other);
	__u64 ns = bytes * l->ledger.byte_ns, now = ledger_now(l);

	if (!halves)
		return ledger_pay(first, ns, ledger_tag(place), now) +
		       ledger_pay(second, ns, ledger_tag(other), now);

	if (!ledger_charge(first, ns, ledger_tag(place), halves, now))
		return 0;
	if (ledger_charge(second, ns, ledger_tag(other), halves, now))
		return 1;
	ledger_pay(first, ns, ledger_tag(place) | LEDGER_UNDO, now);
	return 0;
}

/* A stranger's datagram of @bytes goes on to the server: its prefix may be sent as much.
 */
static __always_inline void ledger_credit(const struct live *l, const struct packet *p,
					  __u64 bytes)
{
	if (l->ledger.byte_ns)
		ledger_book(ledger_prefix(p, SENDER), bytes, 0);
}

#define MOVE_TIMES 3 /* what a move buys, in its own size: 4 times with the allowance */

/*
 * A NetQuake player, whose address is not proven, moves: it may be sent as much as four
 * of its moves weigh, so that a client whose proof takes long plays on at its own pace.
 */
static __always_inline void ledger_credit_move(const struct live *l,
					       const struct packet *p, __u64 bytes)
{
	if (l->ledger.byte_ns)
		ledger_book(ledger_prefix(p, SENDER),
			    l->ledger.strict ? bytes : MOVE_TIMES * bytes, 0);
}

/* The cells of what is not for a whole prefix are beside those of prefixes. */
#define LEDGER_FRIEND  (1ull << 57)
#define LEDGER_SIGN_ON (1ull << 58)

/*
 * How many halves of a window a prefix may be ahead. Those beside whom any number can be
 * made up leave a half to who is known. A level of NetQuake is 10 to 100 kB, at once;
 * then as slowly as everything else.
 */
#define LEDGER_HALF  1
#define LEDGER_WHOLE 2
#define LEDGER_LEVEL 16

/*
 * @bytes are about to leave to @peer. False: it has not paid for them. LEDGER_LEVEL: it
 * is a block of a NetQuake level for somebody who seems to sign on. Such
 * acknowledgements can be made up, so a prefix has no more than this for all of them.
 */
static __always_inline bool ledger_debit(const struct live *l, const struct packet *p,
					 enum side peer, __u64 bytes, __u32 halves)
{
	__u64 apart = halves == LEDGER_LEVEL ? LEDGER_SIGN_ON : 0;

	return !l->ledger.byte_ns ||
	       ledger_book(ledger_prefix(p, peer) | apart, bytes, halves);
}

/*
 * The same for a friend, one address or /56, who may be sent more, and does not share it
 * with its neighbours.
 */
static __always_inline bool ledger_debit_friend(const struct live *l,
						const struct packet *p, enum side peer,
						__u64 bytes)
{
	__u64 net = address_net(p, peer);

	if (p->ipv6)
		net = net >> 8 | 1ull << 56;
	bytes = (bytes >> FRIEND_LEDGER_SHIFT) + 1;
	return !l->ledger.byte_ns ||
	       ledger_book(net | LEDGER_FRIEND, bytes, LEDGER_WHOLE);
}

#endif /* LEDGER_BPF_H */
