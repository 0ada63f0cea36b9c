/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * short.bpf.h - the short ways through the shield, for most of what arrives: what floods
 * are made of, and what players send. They say nothing that the long way (judge()) does
 * not say too, and leave to it whatever takes a closer look.
 */
#ifndef SHORT_BPF_H
#define SHORT_BPF_H

#include "admit.bpf.h"
#include "sample.bpf.h"

/* What a datagram is and whom it is for. */
struct found {
	const struct service *service;
	__u32 slot;
	enum wire_kind kind; /* KIND_COUNT: not known yet */
};

static __always_inline void sample_maybe(struct xdp_md *ctx, const struct live *l,
					 const struct service *s, __u64 what,
					 bool followed, __u64 counted, __u64 bytes)
{
	enum wire_kind kind = (what >> 32) & 0xffff;
	enum reason reason = (what >> 16) & 0xffff;
	enum wire_class class;

	/* Who will be followed is not known yet, so all handshakes that pass are seen. */
	if (!followed && follows(l) && reason == REASON_WITHIN_BUDGET) {
		class = service_class(s, kind);
		followed = class == CLASS_CHALLENGE || class == CLASS_CONNECT;
	}
	if (followed)
		sample_in(ctx, what | SAMPLER_FOLLOW, bytes);
	else if (sample_statistic(l, counted))
		sample_in(ctx, what | SAMPLER_STATISTIC, bytes);
}

/* --- floods ------------------------------------------------------------------ */

/*
 * @reason, which is one to drop it, is counted, under @number. False: it cannot be.
 */
static __always_inline bool drop_for(struct xdp_md *ctx, const struct live *l,
				     const struct found *f, enum wire_kind kind,
				     enum reason reason, __u32 number,
				     const struct packet *p, __u64 bytes)
{
	struct tally_row *row = NULL;
	struct tally *tally = tally_at(f->slot, number, &row);
	__u64 counted;

	if (unlikely(!tally))
		return false;
	counted = count(tally, bytes);
	count_stranger(row, p->length, bytes);
	if (unlikely(l->sampling.any) && sample_statistic(l, counted))
		sample_in(ctx,
			  SAMPLE_WHAT(f->slot, kind, reason, DIRECTION_C2S,
				      SAMPLER_STATISTIC),
			  bytes);
	return true;
}

/*
 * A stranger's @kind, for which the budget of the service or of the source is surely
 * spent: it is counted, and to be dropped. False: it is not.
 */
static __always_inline bool refuse(struct xdp_md *ctx, const struct live *l,
				   const struct found *f, enum wire_kind kind,
				   const struct packet *p, const struct plain *plain,
				   __u64 bytes, __u64 now)
{
	enum reason reason = budget_spent(l, f->slot, f->service, kind, plain, now);
	__u32 number;

	if (unlikely(reason == REASON_COUNT))
		return false;
	/* Without a look at the table of them, of which two are all that can be. */
	number = reason == REASON_GLOBAL_BUDGET ? TALLY_IN_GLOBAL_BUDGET
						: TALLY_IN_SOURCE_BUDGET;
	return drop_for(ctx, l, f, kind, reason, number + kind, p, bytes);
}

/* --- players ----------------------------------------------------------------- */

/* packet_player() of the sender. */
static __always_inline void plain_player(const struct plain *plain, __u32 slot,
					 struct player_id *ret)
{
	const __u8 *from;

	ret->word[2] = PLAYER_WORD_HERE | slot << 16 | load_u16(plain->payload - 8);
	if (plain->offset == PLAIN_IPV4) {
		from = plain->payload - (PLAIN_IPV4 - 26);
		ret->word[0] = 0;
		ret->word[1] = (__u64)load_u32(from) << 32 | PLAYER_WORD_IPV4;
	} else {
		from = plain->payload - (PLAIN_IPV6 - 22);
		ret->word[0] = load_u64(from);
		ret->word[1] = load_u64(from + 8);
	}
	once_here(ret->word[0]);
	once_here(ret->word[1]);
}

/* Might it be a player's, of whom only the port has changed? */
static __always_inline bool stranger_moved(const struct live *l,
					   const struct player_id *id,
					   enum wire_family family, const __u8 *at)
{
	return (family == FAMILY_QUAKE3 || family == FAMILY_QUAKEWORLD) &&
	       l->moved[qport_cell(id, load_u16(qport_at(family, at)), l->keys)];
}

/*
 * A datagram of a game. FIT: the next of a player's, and within its budget; it is
 * counted, and passes. FIT_NOT, FIT_FORGED: it is a *@ret_kind. The rest takes the long
 * way.
 */
static __always_inline enum fit play(struct xdp_md *ctx, struct live *l,
				     const struct found *f, const struct packet *p,
				     const struct plain *plain, __u64 bytes, __u64 now,
				     enum wire_kind *ret_kind)
{
	enum wire_family family = f->service->family;
	enum fit fit = FIT_NOT;
	struct netchan n;
	struct player_cell *cell;
	struct tally_row *row = NULL;
	struct player_id id;
	struct tally *tally;
	bool followed;
	__u64 counted;

	if (unlikely(plain->payload + 10 > p->end || p->length < 10))
		return FIT_LEARNS;
	*ret_kind = game_kind(family, plain->payload, p->length);
	if (unlikely(*ret_kind == KIND_COUNT))
		return FIT_LEARNS;
	plain_player(plain, f->slot, &id);
	cell = player_first(l, &id);
	if (!cell)
		return stranger_moved(l, &id, family, plain->payload) ? FIT_LEARNS
								      : FIT_NOT;
	if (unlikely(!cell_is(cell, &id)))
		return FIT_LEARNS;
	if (likely(player_alive(&cell->player, now)))
		fit = player_fit_at(&cell->player, family, *ret_kind, plain->payload, now,
				    &n);
	if (unlikely(fit != FIT))
		return fit;
	followed = cell->player.flags & PLAYER_FOLLOWED;
	if (unlikely(player_heard(&cell->player, n.sequence, true, now) != REASON_PLAYER))
		return FIT_LEARNS;
	tally = tally_at(f->slot, TALLY_IN_PLAYER + *ret_kind, &row);
	if (unlikely(!tally))
		return FIT;
	counted = count(tally, bytes);
	if (unlikely(l->sampling.any))
		sample_maybe(ctx, l, f->service,
			     SAMPLE_WHAT(f->slot, *ret_kind, REASON_PLAYER, DIRECTION_C2S,
					 0),
			     followed, counted, bytes);
	return FIT;
}

/* *@ret_action is what to do, unless it is the long way that has to say so (false). */
static __always_inline bool short_way(struct xdp_md *ctx, struct live *l,
				      const struct found *f, const struct packet *p,
				      const struct plain *plain, __u64 bytes,
				      int *ret_action)
{
	__u64 now = clock_now(l);
	enum wire_kind kind;
	enum fit fit;

	if (unlikely(f->service->observe || l->lists))
		return false;
	if (likely(load_u32(plain->payload) == 0xffffffff)) {
		kind = classify_letters(plain_payload(plain, p), p->length,
					letters_at(plain->payload + 4));
		*ret_action = XDP_DROP;
		return likely(kind != KIND_COUNT) &&
		       refuse(ctx, l, f, kind, p, plain, bytes, now);
	}
	fit = play(ctx, l, f, p, plain, bytes, now, &kind);
	*ret_action = XDP_PASS;
	if (likely(fit == FIT))
		return true;
	*ret_action = XDP_DROP;
	if (fit == FIT_FORGED)
		return drop_for(ctx, l, f, kind, REASON_PLAYER_BUDGET,
				TALLY_IN_PLAYER_BUDGET + kind, p, bytes);
	return fit == FIT_NOT && refuse(ctx, l, f, kind, p, plain, bytes, now);
}

#endif /* SHORT_BPF_H */
