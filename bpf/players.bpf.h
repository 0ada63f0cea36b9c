/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * players.bpf.h - datagrams from peers that the server itself has accepted.
 *
 * Entries are made by the egress program, never here, so no flood of strangers can fill
 * the table. A datagram that claims to be a player's must also fit what only that player
 * knows: its qport, where its sequence stands, what it was sent last, and for Quake III's
 * protocol 71 the checksum made from the challenge. One that does not is a stranger's.
 */
#ifndef PLAYERS_BPF_H
#define PLAYERS_BPF_H

#include "classify.h"
#include "common.bpf.h"

#define PLAYER_IDLE_NS	 60000000000ull /* the server has been silent for so long: gone */
#define SEQUENCE_BACK	 64 /* late datagrams are harmless, the engine drops them */
#define SEQUENCE_AHEAD	 512 /* and 1 more for each millisecond of silence */
#define SEQUENCE_UNACKED 4096 /* how far behind an acknowledgement may be */
#define PROOFS_QPORT	 8 /* agreeing datagrams before a learned qport is enforced */
#define PROOFS_CHECKSUM	 16
#define PROOFS_ACK	 3 /* NetQuake, see netquake_prove() */
#define PROOFS_CLOCK	 3
#define CLC_MOVE	 3
#define CLOCK_LEAST	 (1u << 24) /* below: no float of any time, but a sequence */

/* More than any client sends: packetdup and 250 frames a second together. */
static const struct limit player_limit = { 1000000000ull / 800,
					   400 * (1000000000ull / 800) };

/* The fields of a game datagram that every family of little-endian sequences has. */
struct netchan {
	__u32 sequence;
	__u32 ack; /* QuakeWorld, Quake II */
	__u32 checksum; /* Quake III: what stands there, checksum or not */
	__u16 qport;
};

static __always_inline bool netchan_read(enum wire_family family, struct cursor c,
					 struct netchan *ret)
{
	const __u8 *head;

	/* Quake II: the qport has 16 bits, 8 or none; Q2PRO's bit 30 marks a fragment. */
	if (family == FAMILY_QUAKE2) {
		head = cursor_take(&c, 8);
		if (!head)
			return false;
		ret->sequence = load_u32(head) & 0x3fffffff;
		ret->ack = load_u32(head + 4) & 0x3fffffff;
		return true;
	}

	head = cursor_take(&c, 10);
	if (!head)
		return false;
	ret->sequence = load_u32(head) & 0x7fffffff;
	ret->ack = load_u32(head + 4) & 0x7fffffff;
	ret->checksum = load_u32(head + 6);
	ret->qport = load_u16(head + (family == FAMILY_QUAKE3 ? 4 : 8));
	return true;
}

static __always_inline bool player_alive(const struct player *player, __u64 now)
{
	return now - player->sent_ns < PLAYER_IDLE_NS;
}

/* Where the sequence stands, with room for loss and for the time that went by. */
static __always_inline bool sequence_fits(const struct player *player, __u32 sequence,
					  __u64 now)
{
	__s32 ahead = sequence - player->heard_sequence;
	__u64 silent = now - player->heard_ns;
	/* 2^20 ns for a millisecond: near enough, and no division. */
	__u32 room = SEQUENCE_AHEAD + (__u32)(silent >> 20);

	return !player->heard_ns || (ahead > -SEQUENCE_BACK && ahead < (__s32)room);
}

static __always_inline bool ack_fits(const struct player *player, __u32 ack)
{
	__s32 behind = player->sent_sequence - ack;

	return !player->sent_sequence || (behind >= 0 && behind < SEQUENCE_UNACKED);
}

/*
 * OpenArena announces protocol 71 and sends no checksum: believe it only after a row of
 * datagrams that fit (chance: 2^-32 each), then demand it.
 */
static __always_inline bool checksum_fits(struct player *player, const struct netchan *n)
{
	bool fits = n->checksum == (player->challenge ^ n->sequence * player->challenge);

	if (player->flags & PLAYER_CHECKSUM)
		return fits;
	if (fits && n->sequence > 1 && ++player->proofs >= PROOFS_CHECKSUM) {
		player->flags |= PLAYER_CHECKSUM;
		player->proofs = 0;
	}
	return true;
}

/* A qport is believed after a row of datagrams in sequence that agree on it. */
static __always_inline bool qport_fits(struct player *player, const struct netchan *n)
{
	if (player->flags & PLAYER_QPORT)
		return player->qport == n->qport;
	if (player->qport == n->qport && n->sequence == player->heard_sequence)
		return true;
	if (player->qport == n->qport && n->sequence - player->heard_sequence < 64) {
		if (++player->proofs >= PROOFS_QPORT) {
			player->flags |= PLAYER_QPORT;
			player->proofs = 0;
		}
	} else {
		player->qport = n->qport;
		player->proofs = 0;
	}
	return true;
}

static __always_inline bool player_fits(struct player *player, enum wire_family family,
					const struct netchan *n, __u64 now)
{
	/* Until the qport is known, anybody could have set the sequence: none is held to
	 * it. */
	if (family == FAMILY_QUAKE3) {
		if (!qport_fits(player, n))
			return false;
		if (!(player->flags & PLAYER_QPORT))
			return true;
		return sequence_fits(player, n->sequence, now) &&
		       (!(player->flags & PLAYER_CHALLENGE) || checksum_fits(player, n));
	}
	if (family == FAMILY_QUAKEWORLD)
		return ack_fits(player, n->ack) && qport_fits(player, n) &&
		       (!(player->flags & PLAYER_QPORT) ||
			sequence_fits(player, n->sequence, now));
	/* Quake II: the qport has 16 bits, 8 or none, by protocol. */
	return ack_fits(player, n->ack) && sequence_fits(player, n->sequence, now);
}

/* @settled: @sequence must be the player's own. */
static __always_inline enum reason player_heard(struct player *player, __u32 sequence,
						bool settled, __u64 now)
{
	if (!limit_take(&player_limit, &player->due_ns, now))
		return REASON_PLAYER_BUDGET;
	if (!settled || (__s32)(sequence - player->heard_sequence) > 0)
		player->heard_sequence = sequence;
	player->heard_ns = now;
	player->packets++;
	return REASON_PLAYER;
}

/*
 * Somebody at a player's address, but another port. Quake III and QuakeWorld servers
 * follow a qport to its new port, so let that through; egress will enter the new port.
 */
static __always_inline struct player *player_moved(struct player_key *key,
						   const struct netchan *n)
{
	struct qport_key by = { .qport = n->qport, .slot = key->slot };
	__u16 *port;

	__builtin_memcpy(by.addr, key->addr, sizeof(by.addr));
	port = bpf_map_lookup_elem(&qports, &by);
	if (!port)
		return NULL;
	key->port = *port;
	return bpf_map_lookup_elem(&players, key);
}

/* Remember a proven qport, so that the player can be found by it. */
static __always_inline void player_index(const struct player_key *key,
					 const struct player *player)
{
	struct qport_key by = { .qport = player->qport, .slot = key->slot };
	__u16 port = key->port;

	__builtin_memcpy(by.addr, key->addr, sizeof(by.addr));
	bpf_map_update_elem(&qports, &by, &port, BPF_ANY);
}

static __always_inline void player_key(const struct packet *p, enum side peer, __u32 slot,
				       struct player_key *ret)
{
	struct cidr from;

	packet_cidr(p, peer, &from);
	__builtin_memcpy(ret->addr, from.addr, sizeof(ret->addr));
	ret->port = packet_port(p, peer);
	ret->slot = slot;
}

/* Is @clock the one that is @held? It is wanted no more then, nor once it is @past. */
static __always_inline bool clock_answered(__u32 *held, __u32 clock, bool past)
{
	bool same = *held == clock;

	if (same || (past && (__s32)(clock - *held) > 0))
		*held = 0;
	return same;
}

/*
 * NetQuake has no challenge. What comes to the same: a client's every move names the
 * server's clock as it was sent last, a float that only those in that game can know
 * (DarkPlaces 7 puts a sequence before it). clock_hold() holds some. Before the game,
 * while the level is being sent, there is no clock: then who has acknowledged several
 * blocks may have the next, and no more than that, for acknowledgements can be foretold.
 */
static __always_inline void clock_prove(struct player *player, struct cursor c)
{
	const __u8 *move = cursor_take(&c, 17);
	bool answered;
	__u32 clock;

	if (!move || load_u16(move) != bpf_htons(0x0010) || move[8] != CLC_MOVE)
		return;
	clock = load_u32(move + 9);
	if (clock < CLOCK_LEAST)
		clock = load_u32(move + 13);
	/* Held twice, it still counts once. */
	answered = clock_answered(&player->challenge, clock, false);
	answered |= clock_answered(&player->heard_sequence, clock, true);
	if (!player->heard_sequence)
		player->qport = 0;
	answered |= clock_answered(&player->sent_sequence, clock, true);
	if (!answered || !clock)
		return;
	if (++player->proofs >= PROOFS_CLOCK)
		player->flags |= PLAYER_VERIFIED;
}

static __always_inline void netquake_prove(struct player *player, struct cursor c)
{
	const __u8 *head;
	__u32 sequence;

	if (player->flags & PLAYER_VERIFIED)
		return;
	if (player->flags & PLAYER_CHALLENGE) {
		clock_prove(player, c);
		return;
	}
	head = cursor_take(&c, 8);
	if (!head || load_u16(head) != bpf_htons(0x0002))
		return;
	sequence = bpf_ntohl(load_u32(head + 4));
	if (sequence != player->sent_sequence || player->heard_sequence == sequence + 1)
		return;
	player->heard_sequence = sequence + 1;
	if (player->proofs < PROOFS_ACK)
		player->proofs++;
}

/* One acknowledgement buys the one block that follows it, not that block's repetitions.
 */
static __always_inline bool netquake_signs_on(const struct player *player, __u32 sequence)
{
	return !(player->flags & PLAYER_CHALLENGE) && player->proofs >= PROOFS_ACK &&
	       sequence == player->heard_sequence && sequence != player->sent_sequence;
}

/*
 * REASON_COUNT: not a player's, judge it as a stranger's. *@ret_followed is set if it is
 * one whom the daemon follows.
 */
static __always_inline enum reason player_admit(const struct live *l, __u32 slot,
						enum wire_family family,
						const struct packet *p,
						bool *ret_followed)
{
	struct cursor c = packet_payload(p);
	struct netchan n = { 0 };
	struct player_key key;
	struct player *player;
	__u64 now = clock_now(l);
	bool known;

	player_key(p, SENDER, slot, &key);
	player = bpf_map_lookup_elem(&players, &key);

	if (family == FAMILY_NETQUAKE || family == FAMILY_QUAKE_ENHANCED ||
	    family == FAMILY_AUTO) {
		/* No qport, nothing that a spoofer cannot guess: its own budget is the
		 * bound. */
		if (!player || !player_alive(player, now))
			return REASON_COUNT;
		*ret_followed = player->flags & PLAYER_FOLLOWED;
		netquake_prove(player, c);
		return player_heard(player, player->heard_sequence, true, now);
	}
	if (!netchan_read(family, c, &n))
		return REASON_COUNT;
	if (!player && family != FAMILY_QUAKE2)
		player = player_moved(&key, &n);
	if (!player || !player_alive(player, now))
		return REASON_COUNT;

	known = player->flags & PLAYER_QPORT;
	if (!player_fits(player, family, &n, now))
		return REASON_COUNT;
	if (!known && player->flags & PLAYER_QPORT)
		player_index(&key, player);
	*ret_followed = player->flags & PLAYER_FOLLOWED;
	return player_heard(player, n.sequence, known || family == FAMILY_QUAKE2, now);
}

#endif /* PLAYERS_BPF_H */
