/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ledger.bpf.h - no prefix is sent more than it has sent, and a small allowance.
 *
 * One u64 for each /24 or /56: the time at which its debt is paid, in the manner of
 * limit.h but in bytes. What arrives moves it back, what leaves moves it forward, and
 * what would move it beyond the window does not leave. It does not matter which engine
 * answers, nor to what.
 */
#ifndef LEDGER_BPF_H
#define LEDGER_BPF_H

#include "common.bpf.h"

#define STRICT_NOW_NS (1ull << 62) /* strict: a clock that stands still */

static __always_inline __u64 *ledger_cell(const struct live *l, const struct packet *p,
					  enum side peer)
{
	__u32 index =
		limit_cell(l->keys, address_net(p, peer) >> 8, p->ipv6, LEDGER_BITS);

	return bpf_map_lookup_elem(&ledgers, &index);
}

static __always_inline __u64 ledger_now(const struct live *l)
{
	return l->ledger.strict ? STRICT_NOW_NS : clock_now(l);
}

/* Where requests wait for their answers to be booked: one address and port each. */
static __always_inline __u64 *pending_cell(const struct live *l, const struct packet *p,
					   enum side peer, __be16 port, __u32 slot)
{
	__u64 tag = (__u64)slot << 17 | (__u64)port << 1 | p->ipv6;
	__u32 index = limit_cell(l->keys, address_net(p, peer), tag, PENDING_BITS);

	return bpf_map_lookup_elem(&pending, &index);
}

/*
 * Move @due back by @pay_ns, not below @floor_ns. Functions of their own, here and below,
 * so that the verifier walks the loops once.
 */
__noinline int ledger_pay(__u64 *due, __u64 pay_ns, __u64 floor_ns, __u64 now_ns)
{
	if (!due)
		return 0;
	for (int i = 0; i < LIMIT_TRIES; i++) {
		__u64 seen = *(volatile __u64 *)due;
		__u64 from = seen ? seen : now_ns;

		if (from <= floor_ns)
			return 0;
		from = from - floor_ns > pay_ns ? from - pay_ns : floor_ns;
		if (__sync_val_compare_and_swap(due, seen, from) == seen)
			return 1;
	}
	return 0;
}

/* Move @due forward by @cost_ns, unless that is beyond @limit_ns. Time is no credit. */
__noinline int ledger_charge(__u64 *due, __u64 cost_ns, __u64 floor_ns, __u64 limit_ns,
			     __u64 now_ns)
{
	if (!due)
		return 1;
	for (int i = 0; i < LIMIT_TRIES; i++) {
		__u64 seen = *(volatile __u64 *)due;
		__u64 from = seen ? seen : now_ns;

		from = from < floor_ns ? floor_ns : from;
		if (from + cost_ns > limit_ns)
			return 0;
		if (__sync_val_compare_and_swap(due, seen, from + cost_ns) == seen)
			return 1;
	}
	return 0;
}

/* A stranger's datagram of @bytes goes on to the server: credit, and note what it asked.
 */
static __always_inline void ledger_credit(const struct live *l, __u32 slot,
					  enum wire_kind kind, const struct packet *p,
					  __u64 bytes)
{
	__u64 *due = ledger_cell(l, p, SENDER);
	__u64 *note = pending_cell(l, p, SENDER, p->sport, slot);
	__u32 index = slot * KIND_COUNT + kind;
	struct answers *a;

	if (due && l->ledger.byte_ns) {
		__u64 now = ledger_now(l);

		ledger_pay(due, bytes * l->ledger.byte_ns, now - l->ledger.credit_ns,
			   now);
	}
	if (note)
		*note = (__u64)slot << 48 | (__u64)kind << 32 | clock_s(l);
	a = bpf_map_lookup_elem(&answers, &index);
	if (a)
		__sync_fetch_and_add(&a->requests, 1);
}

/* @bytes are about to leave for @peer. False: it has not paid for them. */
static __always_inline bool ledger_debit(const struct live *l, const struct packet *p,
					 enum side peer, __u64 bytes)
{
	__u64 *due = ledger_cell(l, p, peer);
	__u64 now = ledger_now(l);

	if (!l->ledger.byte_ns)
		return true;
	return ledger_charge(due, bytes * l->ledger.byte_ns, now - l->ledger.credit_ns,
			     now + l->ledger.window_ns, now);
}

#endif /* LEDGER_BPF_H */
