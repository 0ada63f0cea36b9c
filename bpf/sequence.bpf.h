/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sequence.bpf.h - does this datagram continue that player's stream? The rules alone:
 * they change nothing.
 *
 * Called by the fast path (player_match_at()) and the slow path (player_match(),
 * moved_match()), which must agree. What can be learned from a result is learned on the
 * slow path alone: conntrack.bpf.h, conntrack_netquake.bpf.h.
 *
 * Why sequences are checked: an engine accepts any higher sequence and then drops all
 * that is behind it. A spoofed datagram far ahead would end the player's game.
 *
 * The functions are called with a @player that is alive, by one another and by the two
 * paths. A rule that is changed here changes both paths. tests/kern/kern_forged.c and
 * tests/kern/kern_forged_records.c test what an attacker may reach.
 * docs/explain/players.md and what-it-cannot-do.md name the bounds, and compute with
 * them.
 */
#ifndef SEQUENCE_BPF_H
#define SEQUENCE_BPF_H

#include "abi.h"
#include "classify.h"

#define SEQUENCE_BACK \
	64 /* fewer behind match: late ones are harmless, the engine drops them */
#define SEQUENCE_NEAR	 8 /* datagrams ahead that match at once: so many were lost */
#define SEQUENCE_GAP_MS	 64 /* more ahead only after such a silence of the player */
#define SEQUENCE_LOST_MS 1024 /* after such a silence a stream may begin anew, behind */
#define SEQUENCE_UNACKED 4096 /* datagrams that an acknowledgement may be behind */
#define MOVED_SILENT_MS	 256 /* silence of a player's old port before a new one counts */
#define MOVES_BACK	 16 /* moves of NetQuake: fewer behind match */
#define MOVES_AHEAD	 8 /* fewer ahead, and one more for each 2 ms of silence */
#define MOVES_NEAR	 72 /* fewer ahead match at once: what is lost in 128 ms */

/* Does a datagram belong to a player? */
enum match {
	MATCH_NONE, /* of no player: limit it as an unvalidated client's */
	MATCH_MISMATCH, /* it is in the player's name and does not continue its stream:
			   drop it */
	MATCH_SPOOFABLE, /* any source could have made it: the player's second limit
			    applies */
	MATCH_LEARNS, /* perhaps the player's: the slow path may learn a field from it */
	MATCH_OK, /* it continues the player's stream */
};

/* Fields of a game datagram that the protocols share, in host byte order. */
struct netchan {
	__u32 sequence; /* highest bits cleared; of DTLS the lower 32 bits of the record's
			   number */
	__u32 ack; /* acknowledgement; QuakeWorld and Quake II alone */
	__u32 checksum; /* Quake III: the 4 bytes where protocol 71 has its checksum */
	__u16 qport; /* Quake II: not yet masked by struct player.qport_mask; of DTLS the
			epoch */
};

/*
 * Return true for protocols with game datagrams that begin with a little-endian sequence.
 * FAMILY_AUTO is none: it has the sequence alone. Called by netchan_head(),
 * netchan_read(), match_family() and player_admit(), by may_have_moved() on the fast
 * path, and by decision_passed(). A family that is added needs branches in qport_at(),
 * netchan_head(), player_match(), moved_match(), player_match_at() and game_kind(), and
 * in player_qport() (players.h).
 */
static __always_inline bool family_is_little(enum wire_family family)
{
	return family == FAMILY_QUAKE3 || family == FAMILY_QUAKEWORLD ||
	       family == FAMILY_QUAKE2;
}

/*
 * Return where the qport is in a datagram of @family, which is family_is_little(), that
 * begins at @head. Called by netchan_head() and may_have_moved(), which must read the
 * same bytes.
 */
static __always_inline const __u8 *qport_at(enum wire_family family, const __u8 *head)
{
	return head + (family == FAMILY_QUAKE3 ? 4 : 8);
}

/*
 * Read the fields of a datagram of @family from the 10 bytes at @head; 8 bytes are
 * enough, and the sequence alone is written, if family_is_little() is false. Called by
 * netchan_read(), netchan_read_q2() and player_match_at(): both paths read the same. The
 * caller has compared the bytes. A field that the protocol lacks may stay as it was, so
 * no rule may read it. `explain` writes the same fields: put_move()
 * (user/explain/explain_frames.c).
 */
static __always_inline void netchan_head(enum wire_family family, const __u8 *head,
					 struct netchan *ret)
{
	if (!family_is_little(family)) {
		ret->sequence = bpf_ntohl(load_u32(head + 4));
		return;
	}
	ret->sequence = load_u32(head) & 0x7fffffff;
	ret->ack = load_u32(head + 4) & 0x7fffffff;
	ret->qport = load_u16(qport_at(family, head));
	/* Bit 30 marks a fragment in Q2PRO. */
	if (family == FAMILY_QUAKE2) {
		ret->sequence &= 0x3fffffff;
		ret->ack &= 0x3fffffff;
		return;
	}
	ret->checksum = load_u32(head + 6);
}

/* --- the line of sequences -----------------------------------------------------------
 */

/*
 * Return how far @sequence is ahead of the player's highest; below 0: behind. Called by
 * sequence_check() and moved_match(), and by gap_learn(), player_learn() and
 * player_record(), which learn. The difference must stay signed and of 32 bits, since
 * sequences wrap.
 */
static __always_inline __s32 sequence_ahead(const struct player *player, __u32 sequence)
{
	return sequence - player->heard_sequence;
}

/*
 * Return true if @ahead, of sequence_ahead(), is late by few, the next one, or ahead by
 * no more than a burst of loss. Called by sequence_check() and player_learn().
 * player_record() charges for what a datagram skips within SEQUENCE_NEAR.
 */
static __always_inline bool sequence_near(__s32 ahead)
{
	return (__u32)(ahead + SEQUENCE_BACK - 1) < SEQUENCE_BACK + SEQUENCE_NEAR;
}

/*
 * Return for how long the player was silent, in units of 2^20 ns (1.05 ms; no division).
 * Called by sequence_in_time(), sequence_check() and moved_match(). SEQUENCE_GAP_MS and
 * the other bounds of silence are in this unit.
 */
static __always_inline __s64 silent_ms(const struct player *player, __u64 now)
{
	return (__s64)(now - player->heard_ns) >> 20;
}

/*
 * Return true if a client can have sent @ahead datagrams since its last one, at one per
 * millisecond, and was silent for SEQUENCE_GAP_MS. Without the latter, the pause between
 * any two datagrams would let a guess of an attacker be ahead, and carry the stream away
 * faster than the player's limit allows. Called by sequence_check() and moved_match().
 */
static __always_inline bool sequence_in_time(const struct player *player, __s32 ahead,
					     __u64 now)
{
	__s64 silent = silent_ms(player, now);

	return ahead > 0 && silent >= SEQUENCE_GAP_MS && ahead <= silent;
}

/*
 * Check @sequence against the player's stream. Near: MATCH_OK. Far ahead, but possible in
 * time: MATCH_LEARNS, since a second datagram must continue from there (gap_learn())
 * before the stream moves. Far behind after SEQUENCE_LOST_MS of silence: MATCH_LEARNS
 * too, since the stream may be an attacker's; the engine's own check limits what it can
 * do. Else MATCH_MISMATCH. Called by q3_match(), qw_match() and record_match() after the
 * qport matched. player_learn() must find far what is not near here.
 */
static __always_inline enum match sequence_check(const struct player *player,
						 __u32 sequence, __u64 now)
{
	__s32 ahead = sequence_ahead(player, sequence);

	if (likely(sequence_near(ahead)))
		return MATCH_OK;
	if (ahead < 0)
		return silent_ms(player, now) > SEQUENCE_LOST_MS ? MATCH_LEARNS
								 : MATCH_MISMATCH;
	return sequence_in_time(player, ahead, now) ? MATCH_LEARNS : MATCH_MISMATCH;
}

/*
 * Return true if @ack names a datagram that the server can have sent, and not one of long
 * ago; or if egress has seen none (sent_sequence 0).
 *
 * The egress program misses datagrams while it is replaced or attached again, and a
 * QuakeWorld server answers moves and sends nothing else: if an acknowledgement of an
 * unseen datagram were refused, no later one would ever come. So @ack may be ahead of the
 * last datagram seen, by one per millisecond since. Called by qw_match() and
 * moved_match(). struct player.sent_sequence is written by egress (sequence_note()).
 */
static __always_inline bool ack_in_window(const struct player *player, __u32 ack,
					  __u64 now)
{
	__s32 behind = player->sent_sequence - ack;

	if (!player->sent_sequence)
		return true;
	if (unlikely(behind < 0))
		return -(__s64)behind <= (__s64)(now - player->sent_ns) >> 20;
	return behind < SEQUENCE_UNACKED;
}

/*
 * Return true if @n has the protocol 71 checksum that follows from the player's
 * challenge. Called by q3_match() and moved_match(), for a player with PLAYER_CHALLENGE,
 * which PLAYER_CHECKSUM implies outside of NetQuake. The formula is that of ioquake3's
 * channel. put_move() of `explain` computes it, too.
 */
static __always_inline bool checksum_valid(const struct player *player,
					   const struct netchan *n)
{
	return n->checksum == (player->challenge ^ n->sequence * player->challenge);
}

/*
 * Return true if @sequence continues the player's moves. Few are let ahead: the server
 * drops what is behind the highest that it received, so one spoofed move costs the player
 * as many moves as it is ahead. Called by netquake_match() alone, with PLAYER_SEQUENCE:
 * before that heard_sequence is not of the player's moves.
 */
static __always_inline bool moves_in_window(const struct player *player, __u32 sequence,
					    __u64 now)
{
	__s32 ahead = sequence - player->heard_sequence;
	__u32 room = MOVES_AHEAD + (__u32)((now - player->heard_ns) >> 21);

	return ahead > -MOVES_BACK && ahead < (__s32)room;
}

/*
 * Match a datagram of NetQuake.
 *
 * - Until the player's moves are known (PLAYER_SEQUENCE), all datagrams in its name share
 *   its limit: MATCH_LEARNS.
 * - Then a move must continue them. Far ahead, a second move must follow the first.
 * - Blocks and acknowledgements are counted from 0, so any source could make them:
 *   MATCH_SPOOFABLE, which has a limit of its own.
 * - Other moves are dropped, however long the player is silent: one that the server
 *   accepted would end the player's. A server that begins anew begins its own sequence
 *   anew, and then egress enters the player anew (sequence_restarts()).
 *
 * Called by player_match() alone. netquake_learn() acts on MATCH_LEARNS, far ahead by
 * gap_learn(), and netquake_spoofable() on MATCH_SPOOFABLE.
 */
static __always_inline enum match netquake_match(const struct player *player,
						 enum wire_kind kind, __u32 sequence,
						 __u64 now)
{
	if (!(player->flags & PLAYER_SEQUENCE))
		return MATCH_LEARNS;
	if (kind != KIND_NQ_UNRELIABLE)
		return MATCH_SPOOFABLE;
	if (!moves_in_window(player, sequence, now))
		return MATCH_MISMATCH;
	return (__s32)(sequence - player->heard_sequence) < MOVES_NEAR ? MATCH_OK
								       : MATCH_LEARNS;
}

/*
 * Match a datagram of Quake III. Until the qport is known no sequence is checked, since
 * any source could have set it. A right checksum that is not demanded yet is MATCH_LEARNS
 * with any sequence: player_learn() checks that. Called by player_match() alone. Compare
 * the qport before the sequence: it is what only the player knows.
 */
static __always_inline enum match q3_match(const struct player *player,
					   const struct netchan *n, __u64 now)
{
	bool right;

	if (!(player->flags & PLAYER_QPORT))
		return MATCH_LEARNS;
	if (player->qport != n->qport)
		return MATCH_MISMATCH;
	if (!(player->flags & PLAYER_CHALLENGE))
		return sequence_check(player, n->sequence, now);
	right = checksum_valid(player, n);
	if (right == !!(player->flags & PLAYER_CHECKSUM))
		return sequence_check(player, n->sequence, now);
	return right ? MATCH_LEARNS : MATCH_MISMATCH;
}

/*
 * Match a datagram of QuakeWorld or Quake II. @qport: masked to the bits that the player
 * has. Called by player_match() alone. The acknowledgement is compared first, also before
 * the qport is known: a source that does not see the server's datagrams must not teach a
 * qport. moved_match() compares the acknowledgement and the masked qport again: change
 * both.
 */
static __always_inline enum match
qw_match(const struct player *player, const struct netchan *n, __u16 qport, __u64 now)
{
	if (!ack_in_window(player, n->ack, now))
		return MATCH_MISMATCH;
	if (!(player->flags & PLAYER_QPORT))
		return MATCH_LEARNS;
	if (player->qport != qport)
		return MATCH_MISMATCH;
	return sequence_check(player, n->sequence, now);
}

/*
 * Match a DTLS record, or a sequence of `auto`: the epoch, or 0, stands for the qport,
 * and there is no acknowledgement in the clear. Called by player_match() alone. Until the
 * epoch is known nothing is dropped, as in q3_match(). player_accept() forgets it when
 * new keys begin.
 */
static __always_inline enum match record_match(const struct player *player,
					       const struct netchan *n, __u64 now)
{
	if (!(player->flags & PLAYER_QPORT))
		return MATCH_LEARNS;
	return player->qport == n->qport ? sequence_check(player, n->sequence, now)
					 : MATCH_MISMATCH;
}

/*
 * Return by which flag of struct player datagrams of @kind, which is of CLASS_NETCHAN,
 * are recognised: PLAYER_RECORDS, PLAYER_NETQUAKE, or 0 for sequences. Called by
 * match_family() and player_admit(). For a client's datagram it must return the flag that
 * flags_new() sets for the server's. A kind that neither names counts as NetQuake's here
 * and as a sequence there, and all its datagrams are dropped.
 */
static __always_inline __u8 kind_transport(enum wire_kind kind)
{
	if (kind == KIND_NETCHAN || kind == KIND_NETCHAN_FRAGMENT)
		return 0;
	return kind == KIND_DTLS_DATA ? PLAYER_RECORDS : PLAYER_NETQUAKE;
}

/*
 * Match a datagram with the fields @n; never MATCH_NONE. @player is alive; @kind is of
 * CLASS_NETCHAN. @family: of match_family(), by which @n was read. Called by
 * player_decide() and player_match_at(). On MATCH_OK the caller must call
 * player_record(), which alone can refuse it.
 */
static __always_inline enum match player_match(const struct player *player,
					       enum wire_family family,
					       enum wire_kind kind,
					       const struct netchan *n, __u64 now)
{
	if (likely(family == FAMILY_QUAKE3))
		return q3_match(player, n, now);
	if (family == FAMILY_QUAKEWORLD)
		return qw_match(player, n, n->qport, now);
	if (family == FAMILY_QUAKE2)
		return qw_match(player, n, n->qport & player->qport_mask, now);
	if (family == FAMILY_NETQUAKE)
		return netquake_match(player, kind, n->sequence, now);
	return record_match(player, n, now);
}

/*
 * Return by which protocol's rules to match a datagram of @kind on a service of @family,
 * which may accept more than its own protocol (FTE's ports do): FAMILY_NETQUAKE,
 * FAMILY_AUTO (DTLS too), or @family. *@ret_spoofable: the server speaks another protocol
 * to this player, so no rule applies, and player_match() must not be called. Called by
 * player_decide() alone; player_match_at() must not decide about such a player.
 */
static __always_inline enum wire_family match_family(const struct player *player,
						     enum wire_family family,
						     enum wire_kind kind,
						     bool *ret_spoofable)
{
	__u8 transport = kind_transport(kind);

	*ret_spoofable =
		(player->flags & (PLAYER_NETQUAKE | PLAYER_RECORDS)) != transport;
	if (transport == PLAYER_NETQUAKE)
		return FAMILY_NETQUAKE;
	if (transport == PLAYER_RECORDS || !family_is_little(family))
		return FAMILY_AUTO;
	return family;
}

/*
 * Match @n, which carries the qport of @player but comes from another port, as after a
 * NAT has lost its mapping. MATCH_NONE: it is not this player's qport. MATCH_LEARNS:
 * gap_learn() decides; it is never MATCH_OK. A server follows the new port at once, and
 * would follow a spoofed one: so the old port must have been silent for MOVED_SILENT_MS,
 * and a second datagram must continue. Called by player_follow() alone, for a
 * family_is_little() and a player of player_moved() that is alive.
 */
static __always_inline enum match moved_match(const struct player *player,
					      enum wire_family family,
					      const struct netchan *n, __u64 now)
{
	__s32 ahead = sequence_ahead(player, n->sequence);
	__u16 qport = n->qport;

	if (family == FAMILY_QUAKE2)
		qport &= player->qport_mask;
	if (!(player->flags & PLAYER_QPORT) || player->qport != qport)
		return MATCH_NONE;
	if (family == FAMILY_QUAKE3) {
		if (player->flags & PLAYER_CHECKSUM && !checksum_valid(player, n))
			return MATCH_MISMATCH;
	} else if (!ack_in_window(player, n->ack, now)) {
		return MATCH_MISMATCH;
	}
	return silent_ms(player, now) >= MOVED_SILENT_MS && ahead > 0 &&
			       sequence_in_time(player, ahead, now)
		       ? MATCH_LEARNS
		       : MATCH_MISMATCH;
}

/*
 * player_match() of the datagram whose 10 bytes are at @head; its fields go to *@ret. One
 * branch per protocol, so that only the bytes are read that its rule needs. MATCH_LEARNS
 * if the server speaks another protocol to the player (match_family()), as servers of
 * QuakeWorld do: to NetQuake's and over DTLS. The flags are not compared for Quake III
 * and Quake II: there only a word of another protocol, `accept`, enters a player with
 * one, and protocol_mismatch() then keeps its datagrams from being dropped. Called by
 * fast_path_player() alone, after game_kind() returned a @kind other than KIND_COUNT: so
 * @family is none but those below.
 */
static __always_inline enum match player_match_at(const struct player *player,
						  enum wire_family family,
						  enum wire_kind kind, const __u8 *head,
						  __u64 now, struct netchan *ret)
{
#define MATCH_OF(constant)                                             \
	do {                                                           \
		netchan_head(constant, head, ret);                     \
		return player_match(player, constant, kind, ret, now); \
	} while (0)
	if (likely(family == FAMILY_QUAKE3))
		MATCH_OF(FAMILY_QUAKE3);
	if (family == FAMILY_NETQUAKE)
		MATCH_OF(FAMILY_NETQUAKE);
	if (family == FAMILY_QUAKEWORLD) {
		if (unlikely(player->flags & (PLAYER_NETQUAKE | PLAYER_RECORDS)))
			return MATCH_LEARNS;
		MATCH_OF(FAMILY_QUAKEWORLD);
	}
	MATCH_OF(FAMILY_QUAKE2);
#undef MATCH_OF
}

/*
 * Return the kind of a game datagram of @length bytes to a server of @family, of which at
 * least 10 are at @at, or KIND_COUNT if classify() must look. It must return what
 * classify() would. Called by fast_path() alone. A shape that is added here must be one
 * that classify() gives this kind on every service of @family.
 */
static __always_inline enum wire_kind game_kind(enum wire_family family, const __u8 *at,
						__u64 length)
{
	__u32 head = load_u32(at);
	enum wire_kind kind;

	__builtin_assume(length >= 10 && length <= 0xffff);
	if (likely(family == FAMILY_QUAKE3)) {
		kind = classify_sequenced(FAMILY_QUAKE3, head, length);
	} else if (family == FAMILY_NETQUAKE) {
		return head == (bpf_htons(0x0010) | (__u32)bpf_htons(length) << 16)
			       ? KIND_NQ_UNRELIABLE
			       : KIND_COUNT;
	} else {
		/* It may be NetQuake, DTLS, or text without a marker. */
		if (family != FAMILY_QUAKE2 &&
		    (family != FAMILY_QUAKEWORLD || head >> 16 == bpf_htons(length) ||
		     (head & 0xff00) == 0xfe00 || (head & 0xffff) == ('a' | '\n' << 8) ||
		     head == 0x6c647473 /* "stdl" */))
			return KIND_COUNT;
		/*
		 * Sequence 0 exists in QuakeWorld and not in Quake II: classify()
		 * distinguishes.
		 */
		if (!(head & 0x7fffffff))
			return KIND_COUNT;
		kind = classify_sequenced(FAMILY_QUAKEWORLD, head, length);
	}
	return unlikely(kind == KIND_MALFORMED) ? KIND_COUNT : kind;
}

#endif /* SEQUENCE_BPF_H */
