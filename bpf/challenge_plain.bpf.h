/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * challenge_plain.bpf.h - challenge the client of a plain request on the fast path, as
 * most requests of a flood are challenged: the frame is read once and written over.
 * shield_validate() challenges the others by challenge_send().
 *
 * fast_path_tail_call() calls challenge_now() for each datagram of address validation
 * that it does not drop, if the frame is plain and not truncated. It sends a challenge
 * only if not_challenged() gave the row: the request exceeds its limits, and the share is
 * not used up. fast_path() has found the source on no list. All of the fast path uses
 * plain_net() and plain_player().
 */
#ifndef CHALLENGE_PLAIN_BPF_H
#define CHALLENGE_PLAIN_BPF_H

#include "challenge.bpf.h"
#include "challenge_share.bpf.h"
#include "refused.bpf.h"

/*
 * Return address_net() of the sender: the key of limits and reputation on both paths,
 * which must be the same. Called by fast_path_tail_call(), not_challenged(),
 * plain_refused() and challenge_plain().
 */
static __always_inline __u64 plain_net(const struct plain *plain)
{
	const __be32 *from;

	if (plain->offset == PLAIN_IPV4) {
		from = (const __be32 *)plain_source(plain, PLAIN_IPV4);
		return bpf_ntohl(*from);
	}
	from = (const __be32 *)plain_source(plain, PLAIN_IPV6);
	return (__u64)bpf_ntohl(from[0]) << 32 | bpf_ntohl(from[1]);
}

/*
 * Make packet_player() of the sender: both paths must make the same words. Called by
 * fast_path_player(), is_no_player() and plain_peer().
 */
static __always_inline void plain_player(const struct plain *plain, __u32 slot,
					 struct player_id *ret)
{
	const __u8 *from;

	ret->word[2] = PLAYER_WORD_HERE | slot << 16 | load_u16(plain->payload - 8);
	if (plain->offset == PLAIN_IPV4) {
		from = plain_source(plain, PLAIN_IPV4);
		ret->word[0] = 0;
		ret->word[1] = (__u64)load_u32(from) << 32 | PLAYER_WORD_IPV4;
	} else {
		from = plain_source(plain, PLAIN_IPV6);
		ret->word[0] = load_u64(from);
		ret->word[1] = load_u64(from + 8);
	}
	once_here(ret->word[0]);
	once_here(ret->word[1]);
}

/*
 * Make packet_peer() of the sender: both paths must make the same name. Called by
 * connect_refused(), greylist_drop() and challenge_plain().
 */
static __always_inline void plain_peer(const struct plain *plain, __u32 slot,
				       struct cookie_peer *ret)
{
	struct player_id id;

	plain_player(plain, slot, &id);
	ret->word[0] = id.word[0];
	ret->word[1] = id.word[1];
	ret->word[2] = (__u32)id.word[2];
}

/*
 * Count the request of @c, a frame of @bytes, as challenged: what count_decision() does
 * for REASON_CHALLENGED, with the class that service_class() returns. Change both. Called
 * by challenge_plain() alone, before the frame is written over: a sample shows the
 * request.
 */
static __always_inline void count_challenged(struct xdp_md *ctx, const struct pkt_ctx *c,
					     __u64 bytes)
{
	__u32 slot = pkt_slot(c), kind = pkt_kind(c);
	__u64 counted;
	struct counter_row *row = NULL;
	__u32 key;
	__u32 number = kind == KIND_GETCHALLENGE
			       ? COUNTER_IN(CHALLENGED, KIND_GETCHALLENGE)
			       : COUNTER_IN(CHALLENGED, kind);
	__u64 *counter = counter_at(slot, number, &row, &key);

	if (!counter)
		return;
	counted = count(counter, &key, bytes);
	count_unverified(row, c->length, bytes);
	if (refused_turn(live.sampling.phase, counted))
		refused_note(c->net,
			     REFUSED_WHAT(slot,
					  kind == KIND_GETCHALLENGE ? CLASS_CHALLENGE
								    : CLASS_QUERY,
					  REASON_CHALLENGED, pkt_ipv6(c)));
	if (live.sampling.any && sample_statistic(&live, counted))
		sample_in(ctx,
			  SAMPLE_WHAT(slot, kind, REASON_CHALLENGED, DIRECTION_C2S,
				      SAMPLER_STATISTIC),
			  bytes);
}

/*
 * challenge_now() of a frame with its payload at @offset: PLAIN_IPV4 or PLAIN_IPV6, a
 * constant, so that each field is at a constant place. PATH_VALIDATE: no challenge can be
 * sent, and nothing is changed. Called by challenge_now() alone. It reads @target by the
 * bits of pkt_fill(): change both.
 */
static __always_inline int challenge_plain(struct xdp_md *ctx, __u64 target, __u32 offset,
					   struct counter_row *row)
{
	const __u8 *eth = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	bool ipv6 = offset == PLAIN_IPV6;
	struct pkt_ctx c = { .slot = target >> 16 & 0xffff,
			     .kind = target & 0xffff,
			     .length = target >> TAIL_CTX_LENGTH & 0xffff,
			     .payload = offset,
			     .ipv6 = ipv6 };
	struct plain plain = { .payload = eth + offset, .offset = offset };
	const struct tables *tab = tables_now(&live);
	struct reply a = { .payload = offset, .ipv6 = ipv6 };
	__u64 bytes, now = clock_now(&live);
	__u32 slot = pkt_slot(&c);
	const struct service *s = service_at(tab, &slot);
	const __be32 *from = (const __be32 *)(eth + plain_addresses(ipv6));

	if (!s || eth + offset > end)
		return PATH_VALIDATE;
	bytes = end - eth;
	if (!challenge_fits(pkt_kind(&c), offset, bytes) ||
	    !challenge_carries(pkt_kind(&c), plain.payload, end, c.length) ||
	    !reply_allowed(tab, eth, from, from + (ipv6 ? 4 : 1), ipv6,
			   load_u16(plain.payload - 8), load_u16(plain.payload - 6),
			   slot))
		return PATH_VALIDATE;
	share_charge(&live, slot, pkt_kind(&c), row, now);
	c.net = plain_net(&plain);
	count_challenged(ctx, &c, bytes);
	plain_peer(&plain, slot, &c.peer);
	return challenge_reply(ctx, &c, s, &a, bytes, now);
}

/*
 * Count the plain request at @offsets, OFFSETS(), as challenged, take the challenge from
 * the share in @row, of which share_exceeded() was false, and send it. @target:
 * TAIL_CTX(). Returns as challenge_reply(); or PATH_VALIDATE, with the context stored as
 * by tail_call_to(), if @row is NULL or no challenge can be sent; then shield() must make
 * the tail call. Analysed once by the verifier. Called by fast_path_tail_call() alone,
 * never for an encapsulated or truncated frame: the payload must be where a plain one is.
 */
__noinline int challenge_now(struct xdp_md *ctx, __u64 target, __u64 offsets,
			     struct counter_row *row)
{
	int action = PATH_VALIDATE;

	if (row)
		action = offsets >> 32 & 1
				 ? challenge_plain(ctx, target, PLAIN_IPV6, row)
				 : challenge_plain(ctx, target, PLAIN_IPV4, row);
	if (action == PATH_VALIDATE)
		tail_ctx_put(target, offsets);
	return action;
}

#endif /* CHALLENGE_PLAIN_BPF_H */
