/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fit.bpf.h - is this datagram the next of that player's? The rules, and nothing else.
 *
 * Both ways through the shield ask player_fit(), which changes nothing; what can be
 * learned from the answer is learned on the long way alone (players.bpf.h,
 * netquake.bpf.h).
 */
#ifndef FIT_BPF_H
#define FIT_BPF_H

#include "abi.h"
#include "classify.h"

#define SEQUENCE_BACK	 64 /* late datagrams are harmless, the engine drops them */
#define SEQUENCE_AHEAD	 512 /* and 1 more for each millisecond of silence */
#define SEQUENCE_UNACKED 4096 /* how far behind an acknowledgement may be */
#define MOVES_BACK	 16
#define MOVES_AHEAD	 8 /* and 1 more for each 2 ms of silence */
#define MOVES_LOST_NS	 3000000000ll /* in silence: a player's moves are counted anew */

enum fit {
	FIT_NOT, /* a stranger's */
	FIT_FORGED, /* never to be let in */
	FIT_LOOSE, /* anybody could have made it up: it has a budget of its own */
	FIT_LEARNS, /* the player's, perhaps: there is something to be learned from it */
	FIT, /* the player's */
};

/* The fields of a game datagram that the families share, in host byte order. */
struct netchan {
	__u32 sequence;
	__u32 ack; /* QuakeWorld, Quake II */
	__u32 checksum; /* Quake III: what stands there, checksum or not */
	__u16 qport; /* not of NetQuake */
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
	/* Quake II: the qport has 16 bits, 8 or none; Q2PRO's bit 30 marks a fragment. */
	if (family == FAMILY_QUAKE2) {
		ret->sequence &= 0x3fffffff;
		ret->ack &= 0x3fffffff;
		return;
	}
	ret->checksum = load_u32(head + 6);
	ret->qport = load_u16(qport_at(family, head));
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

static __always_inline bool checksum_right(const struct player *player,
					   const struct netchan *n)
{
	return n->checksum == (player->challenge ^ n->sequence * player->challenge);
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

/*
 * Until its moves are known, all that comes in a player's name shares its budget. From
 * then on only those moves do; what anybody could forge, blocks and acknowledgements that
 * are counted from 0, has another. Other moves have none, not even a stranger's: one that
 * got in would end the player's.
 */
static __always_inline enum fit
netquake_fit(const struct player *player, enum wire_kind kind, __u32 sequence, __u64 now)
{
	if (!(player->flags & PLAYER_SEQUENCE))
		return FIT_LEARNS;
	if (kind != KIND_NQ_UNRELIABLE)
		return FIT_LOOSE;
	if (moves_fit(player, sequence, now))
		return FIT;
	return moves_lost(player, now) ? FIT_LEARNS : FIT_FORGED;
}

/* Until the qport is known, anybody could have set the sequence: none is held to it. */
static __always_inline enum fit q3_fit(const struct player *player,
				       const struct netchan *n, __u64 now)
{
	bool right;

	if (!(player->flags & PLAYER_QPORT))
		return FIT_LEARNS;
	if (player->qport != n->qport || !sequence_fits(player, n->sequence, now))
		return FIT_NOT;
	if (!(player->flags & PLAYER_CHALLENGE))
		return FIT;
	right = checksum_right(player, n);
	if (right == !!(player->flags & PLAYER_CHECKSUM))
		return FIT;
	return right ? FIT_LEARNS : FIT_NOT;
}

static __always_inline enum fit qw_fit(const struct player *player,
				       const struct netchan *n, __u64 now)
{
	if (!ack_fits(player, n->ack))
		return FIT_NOT;
	if (!(player->flags & PLAYER_QPORT))
		return FIT_LEARNS;
	return player->qport == n->qport && sequence_fits(player, n->sequence, now)
		       ? FIT
		       : FIT_NOT;
}

/* @player is alive, @kind is of CLASS_NETCHAN, and @n is netchan_head() of it. */
static __always_inline enum fit player_fit(const struct player *player,
					   enum wire_family family, enum wire_kind kind,
					   const struct netchan *n, __u64 now)
{
	if (likely(family == FAMILY_QUAKE3))
		return q3_fit(player, n, now);
	if (family == FAMILY_QUAKEWORLD)
		return qw_fit(player, n, now);
	if (family == FAMILY_QUAKE2)
		return ack_fits(player, n->ack) && sequence_fits(player, n->sequence, now)
			       ? FIT
			       : FIT_NOT;
	return netquake_fit(player, kind, n->sequence, now);
}

/*
 * The same of the datagram at @head, which goes to @ret as well: each family apart, so
 * that no more of it is read than its rule asks for.
 */
static __always_inline enum fit player_fit_at(const struct player *player,
					      enum wire_family family,
					      enum wire_kind kind, const __u8 *head,
					      __u64 now, struct netchan *ret)
{
#define FIT_OF(constant)                                             \
	do {                                                         \
		netchan_head(constant, head, ret);                   \
		return player_fit(player, constant, kind, ret, now); \
	} while (0)
	if (likely(family == FAMILY_QUAKE3))
		FIT_OF(FAMILY_QUAKE3);
	if (family == FAMILY_QUAKEWORLD)
		FIT_OF(FAMILY_QUAKEWORLD);
	if (family == FAMILY_QUAKE2)
		FIT_OF(FAMILY_QUAKE2);
	FIT_OF(FAMILY_NETQUAKE);
#undef FIT_OF
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

#endif /* FIT_BPF_H */
