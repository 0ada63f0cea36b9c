/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * conntrack_ingress.bpf.h - decide about a datagram in a player's name: let it in, learn
 * from it, or drop it; and about one that an engine could take for a player's.
 *
 * Called by the slow path (ratelimit.bpf.h): player_admit() by admit_unlisted(), before
 * the limits; player_address_check() by admit(), for what would pass, and by
 * player_conflict() for shield_validate() and shield_cache(). The fast path calls
 * protocol_mismatch() too.
 */
#ifndef CONNTRACK_INGRESS_BPF_H
#define CONNTRACK_INGRESS_BPF_H

#include "conntrack_netquake.bpf.h"
#include "player_address.bpf.h"

/*
 * Learn from a datagram of any protocol but NetQuake, which netquake_learn() has. Returns
 * REASON_PLAYER, REASON_PLAYER_LIMIT or REASON_PLAYER_MISMATCH. @family: of
 * match_family(). Masks @n->qport of Quake II. Called by player_decide() alone, for
 * MATCH_LEARNS. Call player_index() only when PLAYER_QPORT is new: it writes to a map.
 */
static __always_inline enum reason
player_learn_field(struct live *l, const struct player_id *id, struct player *player,
		   enum wire_family family, struct netchan *n, __u64 now)
{
	bool known = player->flags & PLAYER_QPORT;

	if (family == FAMILY_QUAKE2)
		n->qport &= player->qport_mask;
	if (!player_learn(player, n))
		return REASON_PLAYER_MISMATCH;
	if (!known && player->flags & PLAYER_QPORT)
		player_index(l, id, family, player);
	return player_record(player, n->sequence, known, now);
}

/*
 * Return true if the server in @slot speaks another protocol than its service says
 * (detect.h). Then no rule of that protocol matches its players, and none may be dropped
 * for it. Called by player_admit() and, on the fast path, by fast_path() for a datagram
 * that mismatches: both must ask before they drop it.
 */
static __always_inline bool protocol_mismatch(const struct live *l, __u32 slot,
					      enum wire_family family, __u64 now)
{
	return index_below(&slot, SERVICES_MAX) &&
	       detect_other(&l->detected[slot], family, now >> 30);
}

/*
 * Decide about a datagram @c from the port of @player, which is alive. Returns
 * REASON_COUNT if it is too short to be the player's. @family: of the service; @n: zero.
 * Called by player_admit() alone, which relaxes REASON_PLAYER_MISMATCH by
 * protocol_mismatch(). It must return for MATCH_OK and MATCH_MISMATCH what
 * fast_path_player() does (tests/kern/kern_ways.c), and must let no mismatching datagram
 * reach a limit that the player shares.
 */
static __always_inline enum reason
player_decide(struct live *l, const struct player_id *id, struct player *player,
	      enum wire_family family, enum wire_kind kind, struct cursor c,
	      struct netchan *n, __u64 now)
{
	bool spoofable;

	family = match_family(player, family, kind, &spoofable);
	/*
	 * To a client with sequences, a server takes any shape for a sequence: so another
	 * shape is dropped, not limited.
	 */
	if (spoofable)
		return player->flags & (PLAYER_NETQUAKE | PLAYER_RECORDS)
			       ? netquake_spoofable(player, now)
			       : REASON_PLAYER_MISMATCH;
	/* Some NetQuake datagrams are shorter; they are no moves. */
	if (!netchan_read(family, kind, c, n) && family != FAMILY_NETQUAKE)
		return REASON_COUNT;
	switch (player_match(player, family, kind, n, now)) {
	case MATCH_OK:
		return player_record(player, n->sequence, true, now);
	case MATCH_LEARNS:
		return family == FAMILY_NETQUAKE
			       ? netquake_learn(id, player, kind, c, n->sequence, now)
			       : player_learn_field(l, id, player, family, n, now);
	case MATCH_SPOOFABLE:
		return netquake_spoofable(player, now);
	case MATCH_MISMATCH:
		return REASON_PLAYER_MISMATCH;
	default:
		return REASON_COUNT;
	}
}

/*
 * Decide about a datagram that carries @player's qport, from another port. Returns
 * REASON_COUNT if the player has another qport by now. Until egress has entered the new
 * port, the player's stream goes on; the old port is silent. Called by player_admit()
 * alone, for a player of player_moved() that is alive. It must not change heard_ns: the
 * silence of the old port is measured by it. So struct player.jumped, not
 * player_record(), keeps the last sequence.
 */
static __always_inline enum reason player_follow(struct player *player,
						 enum wire_family family,
						 const struct netchan *n, __u64 now)
{
	enum match match = moved_match(player, family, n, now);

	if (match == MATCH_NONE)
		return REASON_COUNT;
	if (match != MATCH_LEARNS || !gap_learn(player, n->sequence))
		return REASON_PLAYER_MISMATCH;
	player->jumped = n->sequence;
	if (!player_take(&player->due_ns, player_limit.cost_ns, player_limit.burst_ns,
			 now))
		return REASON_PLAYER_LIMIT;
	player->packets++;
	return REASON_PLAYER;
}

/*
 * Decide about game traffic. Returns REASON_COUNT if it belongs to no player: then limit
 * it as an unvalidated client's. *@ret_followed, false before, is set if it passes and
 * the daemon follows its player. Called by admit_unlisted() alone, for CLASS_NETCHAN,
 * before the limits of a class, so that a flood does not stop a player. It has charged
 * the player's limit for REASON_PLAYER; no other may be charged. While
 * protocol_mismatch() is true a datagram from a player's port is limited, and not dropped
 * as a mismatch. is_no_player() and fast_path_player() must agree with it.
 */
static __always_inline enum reason
player_admit(struct live *l, __u32 slot, enum wire_family family, enum wire_kind kind,
	     const struct packet *p, bool *ret_followed)
{
	enum reason reason = REASON_COUNT;
	struct netchan n = { 0 };
	struct player_id id;
	struct player *player;
	__u64 now = clock_now(l);

	packet_player(p, SENDER, slot, &id);
	player = player_find(l, &id);
	if (player && player_alive(player, now))
		reason = player_decide(l, &id, player, family, kind, packet_payload(p),
				       &n, now);
	/* With the wrong protocol every move mismatches: then only a limit applies. */
	if (unlikely(reason == REASON_PLAYER_MISMATCH) &&
	    protocol_mismatch(l, slot, family, now))
		reason = netquake_spoofable(player, now);
	if (reason == REASON_COUNT && family_is_little(family) && !kind_transport(kind)) {
		if (!netchan_read(family, kind, packet_payload(p), &n))
			return REASON_COUNT;
		player = player_moved(l, &id, family, &n);
		if (player && player_alive(player, now))
			reason = player_follow(player, family, &n, now);
	}
	*ret_followed =
		reason == REASON_PLAYER && player && player->flags & PLAYER_FOLLOWED;
	return reason;
}

/*
 * Return true if the sender of these words is a player that the daemon follows. Analysed
 * once by the verifier. Called by admit() alone, for a source that passes unlimited:
 * player_admit() is not asked for it.
 */
__noinline int player_followed(__u64 first, __u64 second, __u64 third)
{
	struct player_id id = { { first, second, third } };
	struct player *player = player_find(&live, &id);

	return player && player_alive(player, clock_now(&live)) &&
	       player->flags & PLAYER_FOLLOWED;
}

/*
 * player_address_check() of a datagram from the address of these words. Analysed once by
 * the verifier. Called by player_address_check() alone, for what has no marker. Changes
 * nothing. Each reason has counters for some kinds alone (ABI_REASONS): return one that
 * has a counter for @kind. player_note() decides for which players an address is noted.
 */
__noinline int player_address_decide(__u64 first, __u64 second, __u64 third, __u32 kind)
{
	struct player_id id = { { first, second, third } };

	if (kind == KIND_CCREQ_CONNECT &&
	    player_address_seen(player_address_hash(&id, ADDRESS_NETQUAKE, live.keys),
				ADDRESS_NETQUAKE_S))
		return REASON_ADDRESS_IN_USE;
	if (!player_address_seen(player_address_hash(&id, ADDRESS_LITTLE, live.keys),
				 ADDRESS_LITTLE_S))
		return REASON_WITHIN_LIMITS;
	return kind < COUNTER_SHAPES ? REASON_PLAYER_MISMATCH : REASON_ADDRESS_IN_USE;
}

/*
 * Return true if the payload begins with the marker, which game traffic never does.
 * Ethernet padding after it does not count. Called by player_address_check() alone.
 */
static __always_inline bool packet_marked(const struct packet *p)
{
	return is_marked(packet_payload(p), p->length);
}

/*
 * Return the reason to drop a datagram that would pass but comes from an address with an
 * active player: REASON_ADDRESS_IN_USE, REASON_PLAYER_MISMATCH, or else
 * REASON_WITHIN_LIMITS. Engines match players by address, so they could take it for that
 * player's, whatever its shape: to a server with sequences, what has no marker begins
 * with one, and a NetQuake header or a DTLS record is a high one. A datagram with the
 * marker always passes. Called by admit() and player_conflict() for a datagram that would
 * pass and is not of REASON_PLAYER. Every path that passes such a datagram must call it;
 * acl_lifts() makes exceptions for sources on the allow list.
 */
static __always_inline enum reason player_address_check(__u32 slot, enum wire_kind kind,
							const struct packet *p)
{
	struct player_id id;

	if (packet_marked(p))
		return REASON_WITHIN_LIMITS;
	packet_player(p, SENDER, slot, &id);
	return player_address_decide(id.word[0], id.word[1], id.word[2], kind);
}

#endif /* CONNTRACK_INGRESS_BPF_H */
