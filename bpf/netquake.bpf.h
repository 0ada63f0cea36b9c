/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * netquake.bpf.h - NetQuake's players: how they prove to be who they are without a
 * challenge, and what is believed in their name afterwards.
 */
#ifndef NETQUAKE_BPF_H
#define NETQUAKE_BPF_H

#include "players.bpf.h"

#define PROOFS_ACK    3 /* see netquake_prove() */
#define PROOFS_CLOCK  3
#define CLC_MOVE      3
#define CLOCK_LEAST   (1u << 24) /* below: no float of any time, but a sequence */
#define MOVES_BACK    16
#define MOVES_AHEAD   8 /* and 1 more for each 2 ms of silence */
#define MOVES_LOST_NS 3000000000ll /* in silence: its moves are counted anew */

/*
 * What is sent once for each block of the server's, and what a player types. Servers send
 * the next block when they look at their sockets again, 20 to 72 times a second, some at
 * once when the last is acknowledged.
 */
const volatile struct limit loose_limit = { 1000000000ull / 400,
					    400 * (1000000000ull / 400) };

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
	if (++player->proofs < PROOFS_CLOCK)
		return;
	player->heard_sequence = bpf_ntohl(load_u32(move + 4));
	player->flags |= PLAYER_VERIFIED | PLAYER_SEQUENCE;
}

static __always_inline void netquake_prove(struct player *player, struct cursor c)
{
	const __u8 *head;
	__u32 sequence;

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
 * Does @sequence continue the moves that were heard? Few are let ahead: the server drops
 * whatever comes behind the highest that it got, so one that is forged and fits costs the
 * player as many moves as it is ahead.
 */
static __always_inline bool moves_fit(const struct player *player, __u32 sequence,
				      __u64 now)
{
	__s32 ahead = sequence - player->heard_sequence;
	__u32 room = MOVES_AHEAD + (__u32)((now - player->heard_ns) >> 21);

	return ahead > -MOVES_BACK && ahead < (__s32)room;
}

/* It began anew, or something went wrong: it has to prove itself again. */
static __always_inline bool moves_lost(const struct player *player, __u64 now)
{
	return (__s64)(now - player->heard_ns) > MOVES_LOST_NS;
}

static __always_inline enum reason netquake_loose(struct player *player, __u64 now)
{
	return player_take(&player->loose_due_ns, loose_limit.cost_ns,
			   loose_limit.burst_ns, now)
		       ? REASON_PLAYER
		       : REASON_PLAYER_BUDGET;
}

/*
 * Until its moves are known, all that comes in a player's name shares its budget. From
 * then on only those moves do; what anybody could forge, blocks and acknowledgements that
 * are counted from 0, has another. Other moves have none, not even a stranger's: one that
 * got in would end the player's.
 */
static __always_inline enum reason
netquake_heard(struct player *player, enum wire_kind kind, struct cursor c, __u64 now)
{
	const __u8 *head;
	__u32 sequence;

	if (!(player->flags & PLAYER_SEQUENCE)) {
		netquake_prove(player, c);
		/* Proven once, so what can be forged does not hinder the next level. */
		if (player->flags & PLAYER_VERIFIED &&
		    (kind == KIND_NQ_RELIABLE || kind == KIND_NQ_ACK))
			return netquake_loose(player, now);
		return player_heard(player, player->heard_sequence, true, now);
	}
	if (kind != KIND_NQ_UNRELIABLE)
		return netquake_loose(player, now);
	head = cursor_take(&c, 8);
	if (!head)
		return REASON_COUNT;
	sequence = bpf_ntohl(load_u32(head + 4));
	if (moves_fit(player, sequence, now))
		return player_heard(player, sequence, true, now);
	if (moves_lost(player, now)) {
		player->flags &= ~(PLAYER_SEQUENCE | PLAYER_CHALLENGE);
		player->proofs = 0;
	}
	return REASON_PLAYER_BUDGET;
}

#endif /* NETQUAKE_BPF_H */
