/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * conntrack_ingress.bpf.h - what comes in a player's name: is it let in, and what is
 * learned of it?
 */
#ifndef CONNTRACK_INGRESS_BPF_H
#define CONNTRACK_INGRESS_BPF_H

#include "conntrack_netquake.bpf.h"
#include "player_address.bpf.h"

/* A player's datagram from which something is to be learned; perhaps who it is. */
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
 * Does the server of @slot speak another protocol than its service says, so that no rule
 * of that one fits its players?
 */
static __always_inline bool protocol_mismatch(const struct live *l, __u32 slot,
					      enum wire_family family, __u64 now)
{
	return index_below(&slot, SERVICES_MAX) &&
	       detect_other(&l->detected[slot], family, now >> 30);
}

/* The datagram @c of a live player, from its own port; see player_admit(). */
static __always_inline enum reason
player_decide(struct live *l, const struct player_id *id, struct player *player,
	      enum wire_family family, enum wire_kind kind, struct cursor c,
	      struct netchan *n, __u64 now)
{
	bool spoofable;

	family = match_family(player, family, kind, &spoofable);
	/* To who is spoken to by sequences, a server takes any shape for a sequence. */
	if (spoofable)
		return player->flags & (PLAYER_NETQUAKE | PLAYER_RECORDS)
			       ? netquake_spoofable(player, now)
			       : REASON_PLAYER_MISMATCH;
	/* Of NetQuake some are shorter, and all those have no moves. */
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
 * A datagram that carries a player's qport, from another port. Until egress has entered
 * the new port, the sequence goes on; the old port has been silent all the while.
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
 * REASON_COUNT: not a player's, judge it as a stranger's. *@ret_followed is set if it is
 * let in as that of a player whom the daemon follows.
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
	/* Rules of the wrong protocol call every move forged: a limit is all there is. */
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

/* player_address_check() of a datagram from @first .. @third, of struct player_id. */
__noinline int player_address_decide(__u64 first, __u64 second, __u64 third, __u32 kind)
{
	struct player_id id = { { first, second, third } };

	if (kind == KIND_CCREQ_CONNECT &&
	    player_address_seen(player_address_hash(&live, &id, ADDRESS_NETQUAKE),
				ADDRESS_NETQUAKE_S))
		return REASON_ADDRESS_IN_USE;
	if (!player_address_seen(player_address_hash(&live, &id, ADDRESS_LITTLE),
				 ADDRESS_LITTLE_S))
		return REASON_WITHIN_LIMITS;
	return kind < COUNTER_SHAPES ? REASON_PLAYER_MISMATCH : REASON_ADDRESS_IN_USE;
}

/* Does it begin with the marker of what is no game's? */
static __always_inline bool packet_marked(const struct packet *p)
{
	struct cursor c = packet_payload(p);
	const __u8 *mark = cursor_take(&c, 4);

	return mark && load_u32(mark) == 0xffffffff;
}

/*
 * What a stranger may say, but not from an address where somebody plays: engines would
 * take it for that player's. Whatever its shape: to a server that counts by sequences,
 * what has no marker begins with one, and a NetQuake header or a DTLS record is a high
 * one. REASON_WITHIN_LIMITS: nobody does.
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
