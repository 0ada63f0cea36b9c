/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * netquake.bpf.h - NetQuake's players: how they prove to be who they are without a
 * challenge, and what is believed in their name afterwards.
 */
#ifndef NETQUAKE_BPF_H
#define NETQUAKE_BPF_H

#include "players.bpf.h"

#define PROOFS_ACK    3 /* see netquake_prove() */
#define PROOFS_HELD   24 /* clocks named while others were withheld */
#define PROOFS_CLOCK  3 /* and where the address needs no proof */
#define ACCEPTED_MOST 256 /* moves of a client that the server has just accepted */
/* In silence: another line of moves may be the player's. */
#define CLOCK_LINE_MS 1024
#define CLC_MOVE      3
#define CLOCK_LEAST   (1u << 24) /* below: no float of any time, but a sequence */

/*
 * What is sent once for each block of the server's, and what a player types. Servers send
 * the next block when they look at their sockets again, 20 to 72 times a second, some at
 * once when the last is acknowledged.
 */
const volatile struct limit loose_limit = { 1000000000ull / 400,
					    400 * (1000000000ull / 400) };

/* --- proof -------------------------------------------------------------------- */

/*
 * Return 1 if the update with this @clock is kept from the player @first .. @third, of
 * struct player_id: half of them, by a keyed hash. A function of its own, so that the
 * verifier walks the hash once. Returns 0 where nothing is withheld from strangers.
 */
__noinline int clock_withheld(__u64 first, __u64 second, __u64 third, __u32 clock)
{
	__u64 word[3] = { first, second, (__u32)third | (__u64)clock << 32 };
	const struct live *l = &live;
	__u64 key[2] = { l->keys[0], l->keys[1] };
	__u32 slot = third >> 16 & 0xffff;
	const struct service *service = service_at(tables_now(&live), &slot);

	if (!l->ledger.byte_ns || !l->ledger.withhold || !service || service->observe)
		return 0;
	return sip_hash(key, word) & 1;
}

/*
 * NetQuake has no challenge, and this comes to the same. A client's every move names the
 * server's clock of the last update that it got, a float (DarkPlaces 7 puts a sequence
 * before it). All clients of a game are told the same clocks, so to name one proves
 * nothing; but until an address is proven, half of its updates do not leave, others for
 * each player (clock_withheld()). A client there never names the clock of an update that
 * did not leave. Somebody who reads the clocks at a seat of his own and cannot see what
 * leaves to another's address names one sooner or later: 24 in a row without are a chance
 * of one in 16 million.
 *
 * Clocks count in one line of moves that follow each other. Others beside it neither
 * count nor harm, unless the line stops.
 */
static __always_inline void clock_prove(const struct player_id *id, struct player *player,
					struct cursor c, __u64 now)
{
	const __u8 *move = cursor_take(&c, 17);
	bool proven = player->flags & PLAYER_VERIFIED;
	__u16 ms = now >> 20;
	__u32 clock, sequence;

	if (!move || load_u16(move) != bpf_htons(0x0010) || move[8] != CLC_MOVE)
		return;
	sequence = bpf_ntohl(load_u32(move + 4));
	/* Who was entered by `accept` begins at 0, and no client is as fast as this. */
	if (proven && !(player->flags & PLAYER_SEQUENCE) &&
	    sequence > ACCEPTED_MOST + (__u32)((now - player->since_ns) >> 22))
		return;
	clock = load_u32(move + 9);
	if (clock < CLOCK_LEAST)
		clock = load_u32(move + 13);
	if (sequence - player->heard_sequence - 1 >= SEQUENCE_NEAR) {
		if (player->proofs && (__u16)(ms - player->clock_ms) < CLOCK_LINE_MS)
			return;
		player->proofs = 0;
	}
	player->heard_sequence = sequence;
	if ((__s32)clock <= (__s32)player->clock_named ||
	    (__s32)clock > (__s32)player->clock_latest)
		return;
	if (!proven && clock_withheld(id->word[0], id->word[1], id->word[2], clock)) {
		player->proofs = 0;
		return;
	}
	player->clock_named = clock;
	player->clock_ms = ms;
	if (++player->proofs <
	    (proven || !live.ledger.withhold ? PROOFS_CLOCK : PROOFS_HELD))
		return;
	player->jumped = 0;
	player->flags |= PLAYER_VERIFIED | PLAYER_SEQUENCE;
}

/*
 * Before the game, while the level is being sent, there is no clock. Then who has
 * acknowledged several blocks may have the next, and no more than that, for
 * acknowledgements can be foretold.
 */
static __always_inline void netquake_prove(const struct player_id *id,
					   struct player *player, struct cursor c,
					   __u64 now)
{
	const __u8 *head;
	__u32 sequence;

	if (player->flags & PLAYER_CLOCKS) {
		clock_prove(id, player, c, now);
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
 * moves are not known yet, or this one is far ahead of them.
 */
static __always_inline enum reason netquake_learn(const struct player_id *id,
						  struct player *player,
						  enum wire_kind kind, struct cursor c,
						  __u32 sequence, __u64 now)
{
	if (player->flags & PLAYER_SEQUENCE)
		return jump_learn(player, sequence)
			       ? player_heard(player, sequence, true, now)
			       : REASON_FORGED;
	netquake_prove(id, player, c, now);
	/* Proven once, so what can be forged does not hinder the next level. */
	if (player->flags & PLAYER_VERIFIED &&
	    (kind == KIND_NQ_RELIABLE || kind == KIND_NQ_ACK))
		return netquake_loose(player, now);
	return player_heard(player, player->heard_sequence, true, now);
}

#endif /* NETQUAKE_BPF_H */
