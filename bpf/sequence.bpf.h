/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sequence.bpf.h - is this datagram the next of that player's? The rules, and nothing
 * else.
 *
 * Both ways through the shield ask player_match(), which changes nothing; what can be
 * learned from the answer is learned on the long way alone (conntrack.bpf.h,
 * conntrack_netquake.bpf.h).
 */
#ifndef SEQUENCE_BPF_H
#define SEQUENCE_BPF_H

#include "abi.h"
#include "classify.h"

#define SEQUENCE_BACK	 64 /* late datagrams are harmless, the engine drops them */
#define SEQUENCE_NEAR	 8 /* let ahead at once: datagrams that were lost */
#define SEQUENCE_GAP_MS	 64 /* more than that many ahead only after such a silence */
#define SEQUENCE_LOST_MS 1024 /* in silence: a line that nobody goes on with */
#define SEQUENCE_UNACKED 4096 /* how far behind an acknowledgement may be */
#define MOVED_SILENT_MS	 256 /* of a player's old port, before a new one is believed */
#define MOVES_BACK	 16
#define MOVES_AHEAD	 8 /* and 1 more for each 2 ms of silence */
#define MOVES_NEAR	 72 /* let ahead at once: what is lost in 128 ms */

enum match {
	MATCH_NONE, /* a stranger's */
	MATCH_MISMATCH, /* never to be let in */
	MATCH_SPOOFABLE, /* anybody could have made it up: it has a budget of its own */
	MATCH_LEARNS, /* the player's, perhaps: there is something to be learned from it
		       */
	MATCH_OK, /* the player's */
};

/* The fields of a game datagram that the families share, in host byte order. */
struct netchan {
	__u32 sequence; /* of DTLS: the lower 32 bits of the record's number */
	__u32 ack; /* QuakeWorld, Quake II */
	__u32 checksum; /* Quake III: what stands there, checksum or not */
	__u16 qport; /* Quake II: before struct player.qport_mask; of DTLS: the epoch */
};

static __always_inline bool family_is_little(enum wire_family family)
{
	return family == FAMILY_QUAKE3 || family == FAMILY_QUAKEWORLD ||
	       family == FAMILY_QUAKE2;
}

static __always_inline const __u8 *qport_at(enum wire_family family, const __u8 *head)
{
	return head + (family == FAMILY_QUAKE3 ? 4 : 8);
}

/* Of the 10 octets at @head, or of 8 where the sequence is not little-endian. */
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
	/* Q2PRO's bit 30 marks a fragment. */
	if (family == FAMILY_QUAKE2) {
		ret->sequence &= 0x3fffffff;
		ret->ack &= 0x3fffffff;
		return;
	}
	ret->checksum = load_u32(head + 6);
}

/* --- the line of sequences -----------------------------------------------------------
 */

static __always_inline __s32 sequence_ahead(const struct player *player, __u32 sequence)
{
	return sequence - player->heard_sequence;
}

/* Late by few, the next, or ahead by no more than a burst of loss. */
static __always_inline bool sequence_near(__s32 ahead)
{
	return (__u32)(ahead + SEQUENCE_BACK - 1) < SEQUENCE_BACK + SEQUENCE_NEAR;
}

static __always_inline __s64 silent_ms(const struct player *player, __u64 now)
{
	/* 2^20 ns for a millisecond: near enough, and no division. */
	return (__s64)(now - player->heard_ns) >> 20;
}

/*
 * Can a client have got so far, at a datagram a millisecond, since it was heard last? Not
 * in a pause as there is between any two datagrams: who guesses sequences would have that
 * much of a larger target, and carry the line away faster than its budget says.
 */
static __always_inline bool sequence_in_time(const struct player *player, __s32 ahead,
					     __u64 now)
{
	__s64 silent = silent_ms(player, now);

	return ahead > 0 && silent >= SEQUENCE_GAP_MS && ahead <= silent;
}

/*
 * Does @sequence continue the player's line? One that is far ahead does only if time
 * allows it and a second one goes on from there (gap_learn()): an engine takes any
 * higher sequence, and drops whatever comes behind it, so one forged far ahead would end
 * the player's game. So does one far behind, if the line has fallen silent: then it was
 * no player's, and who is behind gets no further than the engine's own check.
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
 * Return true if the server can have sent the datagram that @ack names, and if it is none
 * of long ago. The egress program does not see what leaves while it is exchanged or put
 * back, and a QuakeWorld server answers moves and sends nothing else: if an
 * acknowledgement of an unseen datagram were refused, no later one would ever be seen.
 * So @ack may be ahead of the last datagram seen, by one for each millisecond since.
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

static __always_inline bool checksum_valid(const struct player *player,
					   const struct netchan *n)
{
	return n->checksum == (player->challenge ^ n->sequence * player->challenge);
}

/*
 * Does @sequence continue the moves that were heard? Few are let ahead: the server drops
 * whatever comes behind the highest that it got, so one that is forged and fits costs the
 * player as many moves as it is ahead.
 */
static __always_inline bool moves_in_window(const struct player *player, __u32 sequence,
					    __u64 now)
{
	__s32 ahead = sequence - player->heard_sequence;
	__u32 room = MOVES_AHEAD + (__u32)((now - player->heard_ns) >> 21);

	return ahead > -MOVES_BACK && ahead < (__s32)room;
}

/*
 * Until its moves are known, all that comes in a player's name shares its budget. From
 * then on only those moves do; what anybody could forge, blocks and acknowledgements that
 * are counted from 0, has another. Other moves have none, not even a stranger's: one that
 * got in would end the player's. However long the player is silent, its moves continue
 * from where they were: a server that begins anew begins its own sequence anew, and then
 * egress forgets the player (sequence_restarts()). Far ahead, a second move has to follow
 * the first.
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

/* Until the qport is known, anybody could have set the sequence: none is held to it. */
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

/* @qport: as far as this player has one. */
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
 * Of Quake Enhanced, of DTLS elsewhere and of `auto`: no qport but the epoch, which is 1,
 * and no acknowledgement in the clear.
 */
static __always_inline enum match record_match(const struct player *player,
					       const struct netchan *n, __u64 now)
{
	if (!(player->flags & PLAYER_QPORT))
		return MATCH_LEARNS;
	return player->qport == n->qport ? sequence_check(player, n->sequence, now)
					 : MATCH_MISMATCH;
}

/* What the server speaks to a player by whom datagrams of @kind can be. */
static __always_inline __u8 kind_transport(enum wire_kind kind)
{
	if (kind == KIND_NETCHAN || kind == KIND_NETCHAN_FRAGMENT)
		return 0;
	return kind == KIND_DTLS_DATA ? PLAYER_RECORDS : PLAYER_NETQUAKE;
}

/*
 * @player is alive, @kind is of CLASS_NETCHAN, and @n is its head. @family: of the
 * service; FAMILY_AUTO: whatever @kind says.
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
 * By which rules a datagram of @kind is judged on a service of @family, which may take
 * more than that family's own (FTE's ports do). @ret_loose: by none, since the server
 * speaks something else to this player.
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
 * @n carries the qport of @player, but comes from another port, as it does when the NAT
 * before the player has lost its mapping. A server follows at once, and would follow a
 * forger: so the old port must have been silent for a while, and like any that is ahead
 * it must be continued.
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
 * The same of the datagram at @head, which goes to @ret as well: each family apart, so
 * that no more of it is read than its rule asks for.
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
	if (family == FAMILY_QUAKEWORLD)
		MATCH_OF(FAMILY_QUAKEWORLD);
	MATCH_OF(FAMILY_QUAKE2);
#undef MATCH_OF
}

/*
 * What datagrams to a server of @family begin with in the midst of a game, if it stands
 * there: of 10 octets at @at or more, @length in all. What classify() would say, for
 * those that take no closer look; KIND_COUNT: ask classify().
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
		/* What might be NetQuake, DTLS, or text without a marker. */
		if (family != FAMILY_QUAKE2 &&
		    (family != FAMILY_QUAKEWORLD || head >> 16 == bpf_htons(length) ||
		     (head & 0xff00) == 0xfe00 || (head & 0xffff) == ('a' | '\n' << 8) ||
		     head == 0x6c647473 /* "stdl" */))
			return KIND_COUNT;
		/* QuakeWorld's 0 is none of Quake II's: classify() tells them apart. */
		if (!(head & 0x7fffffff))
			return KIND_COUNT;
		kind = classify_sequenced(FAMILY_QUAKEWORLD, head, length);
	}
	return unlikely(kind == KIND_MALFORMED) ? KIND_COUNT : kind;
}

#endif /* SEQUENCE_BPF_H */
