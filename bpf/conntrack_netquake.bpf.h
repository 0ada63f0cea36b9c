/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * conntrack_netquake.bpf.h - verify players of NetQuake, which has no challenge: by marks
 * in the server's clock, which a client's moves return.
 *
 * - While the level is sent, acknowledgements of blocks let the next block pass
 *   (netquake_signs_on()). They can be predicted, so they verify nothing else.
 * - In the game, each move names the clock of an update that the client received. egress
 *   writes a mark into the clock's low bits (clock_note()); enough right marks verify the
 *   player and its stream of moves (clock_verify()).
 * - After that, moves must continue that stream (netquake_match()).
 *
 * Called by player_decide() when netquake_match() returns MATCH_LEARNS or
 * MATCH_SPOOFABLE, or match_family() finds another protocol; by player_admit() after
 * protocol_mismatch(); and by egress for the marks.
 *
 * A source that does not see the traffic to an address must not be able to verify a
 * player there: every change has to keep the chance of a guess that clock_score() names.
 * tests/kern/kern_clocks.c and tests/kern/kern_netquake.c test the rules.
 */
#ifndef CONNTRACK_NETQUAKE_BPF_H
#define CONNTRACK_NETQUAKE_BPF_H

#include "conntrack.bpf.h"

#define AGREED_ACKS \
	3 /* acknowledged blocks before the next may pass: netquake_signs_on() */
#define CLOCK_BITS_ENOUGH \
	28 /* bits of right marks, less the loss for wrong ones, that verify a player */
#define CLOCK_WORTH   10 /* score of a clock if none is marked: three are enough */
#define ACCEPTED_MOST 256 /* moves that a client that was just accepted may have made */
/*
 * If no clock counted for so long, in units of 2^20 ns, another stream of moves may be
 * the player's.
 */
#define CLOCK_LINE_MS 1024
#define CLOCK_OWN_MS                                                      \
	30 /* units of 2^20 ns between two interpolated clocks that count \
	    */
#define CLC_MOVE 3 /* NetQuake's protocol: a client's move */

/*
 * Limit of a player's datagrams that any source could make: one for each block of the
 * server, and what a player types. Servers send the next block when they look at their
 * sockets, 20 to 72 times per second, some right after the acknowledgement.
 * docs/SECURITY.md and docs/explain/what-it-cannot-do.md name the 400 per second.
 */
const volatile struct limit spoofable_limit = { 1000000000ull / 400,
						400 * (1000000000ull / 400) };

/* --- proof -------------------------------------------------------------------- */

/*
 * Return the number of low bits of @clock, the bits of a float of seconds, that hold a
 * mark: as many as move the clock by less than 2 ms, 1 to 8. Beyond 9.1 hours one bit
 * moves it by more. Called by clock_mask() and clock_verify(). More bits move the game's
 * clock further, fewer are easier to guess. clock_write() replaces the lowest byte alone,
 * so 8 is the most.
 */
static __always_inline __u32 clock_bits(__u32 clock)
{
	__u32 exponent = clock >> 23; /* 127: of 1 s */

	if (exponent <= 127 + 6)
		return 8;
	return exponent < 127 + 13 ? 127 + 14 - exponent : 1;
}

/*
 * Return a mask of the bits that clock_bits() counts: clocks that differ in these alone
 * have the same mark. Called by clock_note(), clock_marked() and clock_verify(), which
 * must agree.
 */
static __always_inline __u32 clock_mask(__u32 clock)
{
	return (1u << clock_bits(clock)) - 1;
}

/*
 * Return @clock with its mark for the player @first .. @third, of struct player_id: the
 * low bits are a keyed hash of the player and of the bits above. Returns 0 where no clock
 * is marked: the service observes, or the amplification limit is off. Analysed once by
 * the verifier. Called by clock_note() for the clock that leaves, and by clock_verify()
 * for the one that returns: the result must depend on nothing that changes between them,
 * except the settings.
 */
__noinline int clock_marked(__u64 first, __u64 second, __u64 third, __u32 clock)
{
	__u32 mask = clock_mask(clock), slot = third >> 16 & 0xffff;
	__u64 word[3] = { first, second, (__u32)third | (__u64)(clock & ~mask) << 32 };
	const struct live *l = &live;
	__u64 key[2] = { l->keys[0], l->keys[1] };
	const struct service *service = service_at(tables_now(&live), &slot);

	if (!l->amplification.byte_ns || !service || service->observe)
		return 0;
	return (clock & ~mask) | (sip_hash(key, word) & mask);
}

/*
 * Return the server's clock that @move (17 bytes) names, if it is later than the last
 * that counted (clock_named), and not later than the last that was sent (clock_latest);
 * 0: none. The clock follows clc_move. FTE's extension puts a sequence of 16 bits before
 * the clock, and DarkPlaces 7 one of 32. Called by clock_verify() alone, which has
 * compared 17 bytes and CLC_MOVE. Both bounds must stay: without clock_named a source
 * could guess at the same clock again.
 */
static __always_inline __u32 move_clock(const struct player *player, const __u8 *move)
{
	__u32 clock;

#pragma unroll
	for (int at = 9; at <= 13; at += 2) {
		clock = load_u32(move + at);
		if ((__s32)clock > (__s32)player->clock_named &&
		    (__s32)clock <= (__s32)player->clock_latest)
			return clock;
	}
	return 0;
}

/*
 * Return the score of a player after a clock of @bits of mark; from CLOCK_BITS_ENOUGH on
 * it is verified. A guess is right once in 2^@bits, so that a source that guesses reaches
 * CLOCK_BITS_ENOUGH once in 80 million clocks or less often. A client of DarkPlaces names
 * interpolated clocks, too: each lowers the score a little. If the address is @validated
 * by a challenge, only the player's own sequence is to be found, and interpolated clocks
 * raise the score. Called by clock_verify() alone, for a marked clock. The gain of a
 * right mark and the loss for a wrong one set the chance of a guess: change them only
 * together. docs/SECURITY.md names the 80 million.
 */
static __always_inline __u8 clock_score(__u8 score, __u32 bits, bool right,
					bool validated)
{
	__u8 loss = bits > 2 ? 1 : 3;

	if (right)
		score += bits > 2 ? bits - 1 : bits;
	else if (validated)
		score++;
	else
		score = score > loss ? score - loss : 0;
	return score;
}

/*
 * Verify the player by a move @c: the counterpart of a challenge. A client's every move
 * returns, bit for bit, the server's clock of an update that it received. All clients of
 * a game receive the same clocks, so a source with a player of its own could return them
 * in the name of another address. Therefore egress writes a mark into the low bits of the
 * clocks that a player is sent, until the player's moves are known: clock_note(). A
 * client at the address returns its own marks; a source that does not see the traffic to
 * that address has to guess them.
 *
 * Clocks count in one stream of moves that follow each other. Other moves neither count
 * nor harm, unless the stream stops. If the address is @validated by a challenge, a right
 * mark makes its stream the player's. Called by netquake_verify() alone, with
 * PLAYER_CLOCKS and before PLAYER_SEQUENCE. It must not let a spoofed move reset the
 * score of a stream that goes on, and must set flags at its end alone.
 */
static __always_inline void clock_verify(const struct player_id *id,
					 struct player *player, struct cursor c,
					 __u64 now)
{
	const __u8 *move = cursor_take(&c, 17);
	bool validated = player->flags & PLAYER_VERIFIED, right;
	__u16 ms = now >> 20;
	__u32 clock, marked = 0, sequence;

	if (!move || load_u16(move) != bpf_htons(0x0010) || move[8] != CLC_MOVE)
		return;
	sequence = bpf_ntohl(load_u32(move + 4));
	/*
	 * A player that `accept` entered begins at move 0, and no client is faster than
	 * this.
	 */
	if (validated &&
	    sequence > ACCEPTED_MOST + (__u32)((now - player->since_ns) >> 22))
		return;
	clock = move_clock(player, move);
	if (clock)
		marked = clock_marked(id->word[0], id->word[1], id->word[2], clock);
	right = marked && marked == clock;
	if (sequence - player->heard_sequence - 1 >= SEQUENCE_NEAR) {
		if (player->proofs && (__u16)(ms - player->clock_ms) < CLOCK_LINE_MS &&
		    !(validated && right))
			return;
		player->proofs = 0;
	}
	player->heard_sequence = sequence;
	if (!clock)
		return;
	/* An attacker's clocks must not use up the marks that the client will return. */
	if (validated && marked && !right) {
		if ((__u16)(ms - player->clock_ms) < CLOCK_OWN_MS)
			return;
	} else {
		/* One guess for each mark. */
		player->clock_named = marked ? clock | clock_mask(clock) : clock;
	}
	player->clock_ms = ms;
	player->proofs =
		marked ? clock_score(player->proofs, clock_bits(clock), right, validated)
		       : player->proofs + CLOCK_WORTH;
	if (player->proofs < CLOCK_BITS_ENOUGH)
		return;
	player->jumped = 0;
	if (!marked && !validated)
		player->flags |= PLAYER_TAKEN;
	player->flags |= PLAYER_VERIFIED | PLAYER_SEQUENCE;
}

/*
 * Learn from a datagram of a player that is not known by its moves. Before the game,
 * while the level is sent, there is no clock: then a client that acknowledged several
 * blocks may have the next one, and no more, since acknowledgements can be predicted.
 * Called by netquake_learn() alone, which then charges the datagram. Acknowledgements
 * must set no flag; they are compared with the block that sequence_note() noted.
 */
static __always_inline void netquake_verify(const struct player_id *id,
					    struct player *player, struct cursor c,
					    __u64 now)
{
	const __u8 *head;
	__u32 sequence;

	if (player->flags & PLAYER_CLOCKS) {
		clock_verify(id, player, c, now);
		return;
	}
	head = cursor_take(&c, 8);
	if (!head || load_u16(head) != bpf_htons(0x0002))
		return;
	sequence = bpf_ntohl(load_u32(head + 4));
	if (sequence != player->sent_sequence || player->signed_next == sequence + 1)
		return;
	player->signed_next = sequence + 1;
	if (player->proofs < AGREED_ACKS)
		player->proofs++;
}

/*
 * Return true if the block @sequence may pass beyond the amplification limit: one for
 * each acknowledgement, and not its repetitions. Called at egress by sequence_note()
 * alone, if the player is unverified and the mode is not strict, before it notes
 * @sequence. At most one block for each acknowledgement may pass.
 */
static __always_inline bool netquake_signs_on(const struct player *player, __u32 sequence)
{
	return !(player->flags & PLAYER_CLOCKS) && player->proofs >= AGREED_ACKS &&
	       sequence == player->signed_next && sequence != player->sent_sequence;
}

/*
 * Take a datagram that any source could have made from the player's second limit. Returns
 * REASON_PLAYER or REASON_PLAYER_LIMIT. Called by player_decide(), player_admit() and
 * netquake_learn(), by the first two for players of other protocols too. It moves no
 * stream and no heard_ns. The second limit must stay apart from due_ns, or spoofed
 * datagrams would use up the player's own.
 */
static __always_inline enum reason netquake_spoofable(struct player *player, __u64 now)
{
	return player_take(&player->loose_due_ns, spoofable_limit.cost_ns,
			   spoofable_limit.burst_ns, now)
		       ? REASON_PLAYER
		       : REASON_PLAYER_LIMIT;
}

/*
 * Decide about a datagram for which netquake_match() returned MATCH_LEARNS: the moves are
 * not known yet, or this move is far ahead of them. @c: its payload. Called by
 * player_decide() alone. Until PLAYER_SEQUENCE is set, each datagram must be charged to
 * one of the player's two limits, and player_record() must get heard_sequence itself, so
 * that it moves no stream.
 */
static __always_inline enum reason netquake_learn(const struct player_id *id,
						  struct player *player,
						  enum wire_kind kind, struct cursor c,
						  __u32 sequence, __u64 now)
{
	if (player->flags & PLAYER_SEQUENCE)
		return gap_learn(player, sequence)
			       ? player_record(player, sequence, true, now)
			       : REASON_PLAYER_MISMATCH;
	netquake_verify(id, player, c, now);
	/*
	 * The player is verified, so what any source can make must not hinder the next
	 * level.
	 */
	if (player->flags & PLAYER_VERIFIED &&
	    (kind == KIND_NQ_RELIABLE || kind == KIND_NQ_ACK))
		return netquake_spoofable(player, now);
	return player_record(player, player->heard_sequence, true, now);
}

#endif /* CONNTRACK_NETQUAKE_BPF_H */
