/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pace.bpf.h - whether strangers have to prove their address now, how many of them are
 * asked to in a second, and what an echo brings back: what the short ways look at, too.
 */
#ifndef PACE_BPF_H
#define PACE_BPF_H

#include "admit.bpf.h"
#include "invite.bpf.h"
#include "proof.h"

/* Has @kind to do with proof on @s, which does not only observe? */
static __always_inline bool provable(const struct service *s, enum wire_kind kind)
{
	return service_flagged(s, kind, CLASS_PROVABLE);
}

static __always_inline bool pressed(const struct live *l, const struct service *s,
				    __u32 slot, __u64 now)
{
	return s->proof == PROOF_ALWAYS ||
	       now < l->proof.until_ns[slot & (SERVICES_MAX - 1)];
}

/* Some stranger was refused: from now on all have to prove themselves. */
static __always_inline void press(struct live *l, __u32 slot, __u64 now)
{
	pressure_note(&l->proof.until_ns[slot & (SERVICES_MAX - 1)], now);
}

/* Where in the hash space that takes turns a source and its port are. */
static __always_inline __u32 pace_hash(const struct live *l, __u64 net_hash, __be16 port)
{
	return (net_hash + port * l->keys[1]) >> 32;
}

/*
 * Of somebody with @hash and of what it wants of the service in @slot, one of enum
 * cookie_form: where it is remembered when that was asked last, and by what bits it is
 * known there. Who repeats itself faster than any client is not answered each time: a
 * flood from few addresses and ports cannot have the window close around them, nor one
 * peer drowned in answers to what others said in its name. For queries @hash is without
 * the port: they can wait, and are asked for in other's names most.
 */
static __always_inline __u32 asked_spread(__u32 hash, __u32 slot, __u32 form)
{
	return (hash + (slot << 3) + form) * 0x9e3779b1u;
}

static __always_inline __u16 *asked_cell(struct live *l, __u32 spread)
{
	__u32 at = spread >> (32 - ASKED_BITS);

	return index_below(&at, 1 << ASKED_BITS) ? &l->proof.asked[at] : NULL;
}

/* What stands in the cell of who is asked now: odd, so that 0 is nobody. */
static __always_inline __u16 asked_stamp(__u32 spread, __u64 now)
{
	return now >> ASKED_UNIT << ASKED_WHO | (spread & ((1 << ASKED_WHO) - 1)) | 1;
}

/*
 * Was this one asked less than ASKED_MOST ago? Or another at this very moment: or two who
 * share a cell, and know it, are asked without end, each in place of the other.
 */
static __always_inline bool asked_lately(const __u16 *cell, __u32 spread, __u64 now)
{
	const __u16 who = (1 << ASKED_WHO) - 1, units = (ASKED_MOST - 1) << ASKED_WHO;
	__u16 was = *(const volatile __u16 *)cell, is = asked_stamp(spread, now);
	__u16 since = is - was, other = is ^ was;

	/* Without a branch, at which the verifier would part. Who was there is odd. */
	return zero_bit(since & (__u16)~units) | zero_bit(other & (__u16) ~(who ^ 1));
}

static __always_inline void asked_note(__u16 *cell, __u32 spread, __u64 now)
{
	*(volatile __u16 *)cell = asked_stamp(spread, now);
}

/* Where the window begins for who asks @s. */
static __always_inline __u32 pace_from(const struct pace *pace, const struct service *s)
{
	if (s->family == FAMILY_NETQUAKE)
		return pace->from[TURN_1S];
	return s->family == FAMILY_QUAKEWORLD ? pace->from[TURN_5S] : pace->from[TURN_3S];
}

/*
 * Is there nothing left at this moment, or is it not this one's turn? Who is asked moves
 * the window: where nobody was for PACE_STALE ticks it is that of a flood which is over.
 */
static __always_inline bool pace_refuses(const struct pace *pace, const struct service *s,
					 __u32 hash, __u64 now)
{
	return limit_spent(&pace->limit, pace->due_ns, now) ||
	       (now >> PACE_TICK_BITS <= pace->tick + PACE_STALE &&
		hash - pace_from(pace, s) > ~pace->shut);
}

/*
 * As wide a window as there is room for. It gets narrower by half of what was asked too
 * fast in the last tick, or wider, which holds it still; and a little, so that the debt
 * comes to lie in the middle. While nothing at all is left nobody knows how much too wide
 * it is.
 */
static __always_inline __u32 pace_width(const struct pace *pace, __u64 debt)
{
	__s64 width = ~pace->shut, grown;
	__u64 burst = pace->limit.burst_ns;

	if (debt > burst - (burst >> 3))
		return width - (width >> 2);
	/* In 1024ths of a tick, at most half of one. */
	grown = (__s64)(debt - pace->debt_ns) >> (PACE_TICK_BITS - 10);
	if (grown > 512)
		grown = 512;
	if (grown < -512)
		grown = -512;
	width -= width * grown >> 11;
	if (debt > burst >> 1)
		width -= width >> 5;
	else if (debt < burst >> 2)
		width += width >> 4;
	return width >> 32 ? ~0u : width;
}

/* Once a tick: on by 7/8 of the window in a second, in three and in five. */
static __always_inline void pace_move(struct pace *pace, __u64 tick, __u64 now)
{
	__u64 debt = pace->due_ns > now ? pace->due_ns - now : 0;
	__u32 width = ~pace->shut;

	pace->from[TURN_1S] += (width >> 2) - (width >> 6);
	pace->from[TURN_3S] += (width >> 4) + (width >> 6);
	pace->from[TURN_5S] += (width >> 5) + (width >> 6);
	width = tick - pace->tick > PACE_STALE ? ~0u : pace_width(pace, debt);
	pace->debt_ns = debt;
	/* Never so narrow that few addresses could fill it: the limit holds without it.
	 */
	pace->shut = ~(width | 0xffffff);
}

static __always_inline bool pace_take(struct pace *pace, __u64 now)
{
	__u64 tick = now >> PACE_TICK_BITS, seen = pace->tick;

	if (!limit_take(&pace->limit, &pace->due_ns, now))
		return false;
	/* Another processor may have read a later clock, and moved it. */
	if ((__s64)(tick - seen) > 0 &&
	    __sync_val_compare_and_swap(&pace->tick, seen, tick) == seen) {
		struct pace was;

		__builtin_memcpy(&was, pace, sizeof(was));
		was.tick = seen;
		pace_move(&was, tick, now);
		for (int i = 0; i < TURN_COUNT; i++)
			pace->from[i] = was.from[i];
		pace->debt_ns = was.debt_ns;
		pace->shut = was.shut;
	}
	return true;
}

/* --- being told -------------------------------------------------------------- */

/* The hash that @who was given for @form in the epoch of @parity, which is *@ret_epoch.
 */
static __always_inline __u64 told_hash(const struct live *l,
				       const struct cookie_asker *who,
				       enum cookie_form form, __u64 parity,
				       __u64 *ret_epoch)
{
	*ret_epoch = cookie_epoch_like(clock_now(l), parity);
	return cookie_hash(&l->proof.secret, who, *ret_epoch, form);
}

/* Was @who given an echo of @form with those @letters? */
static __always_inline bool told_echo(const struct live *l,
				      const struct cookie_asker *who,
				      enum cookie_form form, __u64 letters)
{
	__u64 epoch, want;

	want = told_hash(l, who, form, cookie_letters_parity(letters), &epoch);
	want = cookie_letters(want, epoch);
	if (form == COOKIE_BARE)
		want &= 0xffffffffffffffull;
	return want == letters;
}

/*
 * Is a KIND_ECHO_RETURN of @length octets to the service in @slot surely none that its
 * sender was given? The whole cookie is compared, so that no part of it can be guessed.
 * check_echo() compares a right one again. The verifier analyses this function once.
 */
__noinline int echo_is_false(struct xdp_md *ctx, __u32 slot, __u64 where, __u32 length)
{
	struct cookie_asker who;
	enum cookie_form form;
	const __u8 *at, *more;
	__u8 behind = 0;
	struct cursor c;
	struct packet p;
	__u64 letters;

	where_packet(ctx, where, length, &p);
	c = packet_payload(&p);
	at = cursor_take(&c, PROOF_BACK_N);
	if (!at)
		return true;
	letters = load_u32(at + PROOF_BACK) | (__u64)(load_u32(at + PROOF_BACK + 3) >> 8)
						      << 32;
	if (p.length > PROOF_BACK_N) {
		more = cursor_take(&c, 1);
		if (!more)
			return true;
		letters |= (__u64)*more << 56;
	}
	if (p.length > PROOF_BACK_N + 1) {
		more = cursor_take(&c, 1);
		if (!more)
			return true;
		behind = *more;
	}
	form = proof_returned(behind, p.length);
	if (!form)
		return true;
	packet_asker(&p, SENDER, slot, &who);
	return !told_echo(&live, &who, form, letters);
}

#endif /* PACE_BPF_H */
