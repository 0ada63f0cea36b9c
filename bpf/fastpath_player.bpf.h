/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fastpath_player.bpf.h - the part of the fast path that knows players: is a datagram the
 * next one of a player, or can it be of none?
 *
 * fast_path() calls fast_path_player() for what begins like game traffic, and
 * classify_no_player() for other payloads without the marker. sample_maybe() stands here
 * because fast_path_player() calls it; count_decision() on the slow path does, too. The
 * rules in the head of fastpath.bpf.h hold here as well.
 */
#ifndef FASTPATH_PLAYER_BPF_H
#define FASTPATH_PLAYER_BPF_H

#include "challenge_plain.bpf.h"
#include "classify_frame.bpf.h"
#include "sample.bpf.h"

/*
 * Sample a datagram toward the server if one of the samplers takes it. @what:
 * SAMPLE_WHAT() without a sampler; @followed: it is of a followed player; @counted:
 * count() of its counter. Called by fast_path_player() and count_decision(), if struct
 * sampling.any is set. It takes @what apart by the bits of SAMPLE_WHAT().
 * sample_out_maybe() chooses at egress, by KIND_HANDSHAKE in place of the two classes.
 */
static __always_inline void sample_maybe(struct xdp_md *ctx, const struct live *l,
					 const struct service *s, __u64 what,
					 bool followed, __u64 counted, __u64 bytes)
{
	enum wire_kind kind = (what >> 32) & 0xffff;
	enum reason reason = (what >> 16) & 0xffff;
	enum wire_class class;

	/* Any client may be followed: sample each handshake that passes. */
	if (!followed && reason != REASON_PLAYER && follows(l) &&
	    reason_verdict(reason) == VERDICT_PASS) {
		class = service_class(s, kind);
		followed = class == CLASS_CHALLENGE || class == CLASS_CONNECT;
	}
	if (followed)
		sample_in(ctx, what | SAMPLER_FOLLOW, bytes);
	else if (sample_statistic(l, counted))
		sample_in(ctx, what | SAMPLER_STATISTIC, bytes);
}

#define GAME_HEAD 10 /* bytes that netchan_head() reads */

/*
 * Return true if the sender is no player of this service, at this port or, by its qport,
 * at another. @truncated: @end is less than GAME_HEAD bytes after the payload's start;
 * struct plain.truncated says something else, so do not give that. Called by
 * classify_no_player() alone, for a kind of CLASS_NETCHAN. It must be true only where
 * player_admit() returns REASON_COUNT; if it is false the slow path decides.
 */
static __always_inline bool is_no_player(struct live *l, const struct target *f,
					 const struct plain *plain, bool truncated,
					 const __u8 *end)
{
	enum wire_family family = f->service->family;
	const __u8 *narrow = plain->payload + 8;
	struct player_id id;

	/*
	 * A payload too short for a qport is not exempt. A QuakeWorld server may have a
	 * NetQuake client as a player, and an acknowledgement of NetQuake has 8 bytes.
	 */
	plain_player(plain, f->slot, &id);
	if (player_first(l, &id))
		return false;
	if (unlikely(truncated) && family == FAMILY_QUAKE2)
		return !may_have_narrow(id.word[0], id.word[1], id.word[2],
					narrow + 1 > end ? 0 : *narrow);
	/* Compared again, for the verifier. */
	return plain->payload + GAME_HEAD > end ||
	       !may_have_moved(l, &id, family, plain->payload);
}

/*
 * Classify a payload without the marker that begins like no game traffic, or is too short
 * to tell. True: its kind is *@ret_kind and no player's rule applies, so
 * refuse() may drop it. False: the slow path decides. Called by fast_path() alone, if
 * game_kind() returned no kind.
 */
static __always_inline bool classify_no_player(struct xdp_md *ctx, struct live *l,
					       const struct target *f,
					       const struct packet *p,
					       const struct plain *plain, bool truncated,
					       __u64 *ret_kind)
{
	return classify_plain(ctx, f, p, plain, false, ret_kind) &&
	       (service_class(f->service, *ret_kind) != CLASS_NETCHAN ||
		is_no_player(l, f, plain, truncated, p->end));
}

/*
 * Decide about game traffic. MATCH_OK: it is the next datagram of a player and within its
 * limit; it is counted and passes. MATCH_NONE: of no player. MATCH_MISMATCH: in a
 * player's name, and none of its. Other results: the slow path decides. Called by
 * fast_path() alone. It must change only what player_decide() would. It counts and
 * samples as count_decision() does for REASON_PLAYER.
 */
static __always_inline enum match fast_path_player(struct xdp_md *ctx, struct live *l,
						   const struct target *f,
						   const struct plain *plain, __u64 bytes,
						   __u64 now, __u64 kind)
{
	enum wire_family family = f->service->family;
	enum match match = MATCH_NONE;
	struct netchan n;
	struct player_cell *cell;
	struct counter_row *row = NULL;
	struct player_id id;
	__u64 *counter;
	bool followed;
	__u64 counted;
	__u32 key;

	plain_player(plain, f->slot, &id);
	cell = player_first(l, &id);
	if (!cell)
		return may_have_moved(l, &id, family, plain->payload) ? MATCH_LEARNS
								      : MATCH_NONE;
	if (unlikely(!cell_is(cell, &id)))
		return MATCH_LEARNS;
	if (likely(player_alive(&cell->player, now)))
		match = player_match_at(&cell->player, family, kind, plain->payload, now,
					&n);
	if (unlikely(match != MATCH_OK))
		return match == MATCH_NONE &&
				       may_have_moved(l, &id, family, plain->payload)
			       ? MATCH_LEARNS
			       : match;
	followed = cell->player.flags & PLAYER_FOLLOWED;
	if (unlikely(player_record(&cell->player, n.sequence, true, now) !=
		     REASON_PLAYER))
		return MATCH_LEARNS;
	counter = counter_at(f->slot, COUNTER_IN_PLAYER + kind, &row, &key);
	if (unlikely(!counter))
		return MATCH_OK;
	counted = count(counter, &key, bytes);
	if (unlikely(l->sampling.any))
		sample_maybe(ctx, l, f->service,
			     SAMPLE_WHAT(f->slot, kind, REASON_PLAYER, DIRECTION_C2S, 0),
			     followed, counted, bytes);
	return MATCH_OK;
}

#endif /* FASTPATH_PLAYER_BPF_H */
