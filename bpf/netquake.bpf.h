/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * netquake.bpf.h - NetQuake's players: how they prove to be who they are without a
 * challenge, and what is believed in their name afterwards.
 */
#ifndef NETQUAKE_BPF_H
#define NETQUAKE_BPF_H

#include "players.bpf.h"

#define PROOFS_ACK   3 /* see netquake_prove() */
#define PROOFS_CLOCK 3
#define CLC_MOVE     3
#define CLOCK_LEAST  (1u << 24) /* below: no float of any time, but a sequence */

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
	answered = clock_answered(&player->clock_asked, clock, false);
	answered |= clock_answered(&player->clock_late, clock, true);
	if (!player->clock_late)
		player->clock_updates = 0;
	answered |= clock_answered(&player->clock_early, clock, true);
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

	if (player->flags & PLAYER_CLOCKS) {
		clock_prove(player, c);
		return;
	}
	head = cursor_take(&c, 8);
	if (!head || load_u16(head) != bpf_htons(0x0002))
		return;
	sequence = bpf_ntohl(load_u32(head + 4));
	if (sequence != player->sent_sequence || player->signed_next == sequence + 1)
		return;
	player->signed_next = sequence + 1;
	if (player->proofs < PROOFS_ACK)
		player->proofs++;
}

/* One acknowledgement buys the one block that follows it, not that block's repetitions.
 */
static __always_inline bool netquake_signs_on(const struct player *player, __u32 sequence)
{
	return !(player->flags & PLAYER_CLOCKS) && player->proofs >= PROOFS_ACK &&
	       sequence == player->signed_next && sequence != player->sent_sequence;
}

static __always_inline enum reason netquake_loose(struct player *player, __u64 now)
{
	return player_take(&player->loose_due_ns, loose_limit.cost_ns,
			   loose_limit.burst_ns, now)
		       ? REASON_PLAYER
		       : REASON_PLAYER_BUDGET;
}

/*
 * What player_fit() found that there is to be learned: FIT_LEARNS. Either the player's
 * moves are not known yet, or it has fallen silent and begins to count anew.
 */
static __always_inline enum reason
netquake_learn(struct player *player, enum wire_kind kind, struct cursor c, __u64 now)
{
	if (player->flags & PLAYER_SEQUENCE) {
		player->flags &= ~(PLAYER_SEQUENCE | PLAYER_CLOCKS);
		player->proofs = 0;
		return REASON_FORGED;
	}
	netquake_prove(player, c);
	/* Proven once, so what can be forged does not hinder the next level. */
	if (player->flags & PLAYER_VERIFIED &&
	    (kind == KIND_NQ_RELIABLE || kind == KIND_NQ_ACK))
		return netquake_loose(player, now);
	return player_heard(player, player->heard_sequence, true, now);
}

#endif /* NETQUAKE_BPF_H */
