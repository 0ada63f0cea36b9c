/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * connlimit.bpf.h - `players { source, prefix }`: the most players that a source and its
 * prefix may have on a service.
 *
 * The egress program counts players (conntrack_egress.bpf.h). A request to join from a
 * source or prefix that has as many is refused with REASON_PLAYER_SLOTS: by admit() and
 * player_conflict(). Arithmetic: include/connlimit.h.
 *
 * Only verified players count. To be one, a client must return what the server or the
 * shield sent to its address: a challenge, or in NetQuake the marks of several clocks. So
 * an attacker that does not see the traffic to an address cannot use up its number.
 */
#ifndef CONNLIMIT_BPF_H
#define CONNLIMIT_BPF_H

#include "conntrack.bpf.h"
#include "connlimit.h"

/* @how of connlimit_count_player(): a mask. */
#define CONNLIMIT_IS_HEARD 1 /* it sent, or was entered, in the last 2.1 s */
#define CONNLIMIT_IS_NEW   2 /* a player that the server did not send to for 60 s */

/*
 * Return the cell of @id's source (an IPv4 address or an IPv6 /64) on @id's service. If
 * @prefix is 1, return the cell of its prefix (/24 or /56). NULL cannot be, but the
 * verifier does not know. The first bytes of an address are the lowest of its word.
 * Called by connlimit_count_player() and connlimit_refuse(), which must agree on the
 * cell.
 */
static __always_inline __u64 *connlimit_cell(struct live *l, const struct player_id *id,
					     __u32 prefix)
{
	__u64 net = id->word[0] ? id->word[0] : id->word[1];
	__u32 at;

	if (prefix)
		net &= ~0ull >> 8;
	at = limit_cell(l->keys, net, (id->word[2] >> 16 & 0xffff) << 1 | prefix,
			CONNLIMIT_BITS);
	return index_below(&at, 1 << CONNLIMIT_BITS) ? &l->connlimit[at] : NULL;
}

/*
 * Count a player in its source's and its prefix's cell. @how: CONNLIMIT_IS_HEARD,
 * CONNLIMIT_IS_NEW. If two CPUs begin a cell's period at once, one of them resets the
 * cell, and both add. Analysed once by the verifier. Called by connlimit_note() alone, at
 * most once per player and period, or the player counts twice. Cells are changed by
 * atomic addition after the reset, so that no CPU's count is lost.
 */
__noinline int connlimit_count_player(__u64 first, __u64 second, __u64 third, __u32 how)
{
	struct player_id id = { { first, second, third } };
	struct live *l = &live;
	__u64 period = clock_now(l) >> CONNLIMIT_TICK;

	for (__u32 prefix = 0; prefix < 2; prefix++) {
		__u64 *cell = connlimit_cell(l, &id, prefix), was, now;

		if (!cell)
			break;
		was = *(volatile __u64 *)cell;
		now = connlimit_at(was, period);
		if (now != was)
			__sync_val_compare_and_swap(cell, was, now);
		__sync_fetch_and_add(cell, connlimit_more(now, how & CONNLIMIT_IS_HEARD,
							  how & CONNLIMIT_IS_NEW));
	}
	return 0;
}

/*
 * Count @player for this period, if player_proven() is true: else an attacker could use
 * up the number of an address that it spoofs. @spoke_ns: when the server sent to it
 * before; 0: it is new. Does nothing after the first datagram of a period, which must
 * stay one comparison: player_confirm(), its only caller, calls it for each datagram to a
 * player, before it updates sent_ns.
 */
static __always_inline void connlimit_note(const struct player_id *id,
					   const struct player *player, __u64 spoke_ns,
					   __u64 now)
{
	__u64 heard_ns =
		player->heard_ns > player->since_ns ? player->heard_ns : player->since_ns;
	__u32 how = 0;

	if (likely(spoke_ns >> CONNLIMIT_TICK == now >> CONNLIMIT_TICK))
		return;
	if (!player_proven(player))
		return;
	if ((__s64)(now - heard_ns) < 1ll << CONNLIMIT_TICK)
		how |= CONNLIMIT_IS_HEARD;
	if (!spoke_ns)
		how |= CONNLIMIT_IS_NEW;
	connlimit_count_player(id->word[0], id->word[1], id->word[2], how);
}

/*
 * Return true if the source or the prefix of a request to join has all the players that
 * it may have. A player that connects again from its own port is one of them, and is not
 * refused. @most_source, @most_prefix: how many each may have; 0: no limit. Analysed once
 * by the verifier. Called by connlimit_exceeded() alone. Changes nothing; a cell's count
 * is compared as it is in this period (connlimit_at()).
 */
__noinline int connlimit_refuse(__u64 first, __u64 second, __u64 third, __u32 most_source,
				__u32 most_prefix)
{
	struct player_id id = { { first, second, third } };
	struct live *l = &live;
	__u64 now = clock_now(l), period = now >> CONNLIMIT_TICK;
	const struct player *player;

	for (__u32 prefix = 0; prefix < 2; prefix++) {
		const __u64 *cell = connlimit_cell(l, &id, prefix);

		if (!cell || !connlimit_full(connlimit_at(*cell, period),
					     prefix ? most_prefix : most_source))
			continue;
		player = player_find(l, &id);
		return !player || !player_alive(player, now);
	}
	return false;
}

/*
 * Return true if @kind is the last step of joining, after which a server makes the client
 * a player. Called by connlimit_exceeded() alone. A kind that is missing here joins
 * without the limit; a kind of an earlier step would be refused to clients that do not
 * join. Add only kinds of COUNTER_IS_JOIN(): REASON_PLAYER_SLOTS has counters for no
 * others.
 */
static __always_inline bool kind_joins(enum wire_kind kind)
{
	return kind == KIND_CONNECT || kind == KIND_CCREQ_CONNECT ||
	       kind == KIND_DTLS_HELLO_COOKIE;
}

/*
 * Return true if a datagram of @kind must be refused with REASON_PLAYER_SLOTS. Called by
 * admit() and player_conflict() for a datagram that would pass, as the last rule. The
 * caller must let a source on a list pass in spite of it. Both paths must agree.
 */
static __always_inline bool connlimit_exceeded(__u32 slot, const struct service *s,
					       enum wire_kind kind,
					       const struct packet *p)
{
	struct player_id id;

	if (!kind_joins(kind) || !(s->players_source | s->players_prefix))
		return false;
	packet_player(p, SENDER, slot, &id);
	return connlimit_refuse(id.word[0], id.word[1], id.word[2], s->players_source,
				s->players_prefix);
}

#endif /* CONNLIMIT_BPF_H */
