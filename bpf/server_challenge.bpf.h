/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * server_challenge.bpf.h - datagrams of those who join as functions of their own are told
 * of them, and what the server's side adds to the table of the proven: whom it told to go
 * on.
 */
#ifndef SERVER_CHALLENGE_BPF_H
#define SERVER_CHALLENGE_BPF_H

#include "conntrack.bpf.h"

/* --- names ------------------------------------------------------------------- */

/* A datagram to a service, in numbers that a function of its own can be given. */
#define TARGET(slot, kind) ((__u64)(slot) << 16 | (kind))
#define OFFSETS(payload, addresses, ipv6) \
	((__u64)(ipv6) << 32 | (__u64)(addresses) << 16 | (payload))

static __always_inline void offsets_packet(struct xdp_md *ctx, __u64 offsets,
					   __u32 length, struct packet *ret)
{
	__builtin_memset(ret, 0, sizeof(*ret));
	packet_begin((void *)(long)ctx->data, (void *)(long)ctx->data_end, ret);
	ret->payload = offsets & OFFSET_MASK;
	ret->addresses = offsets >> 16 & OFFSET_MASK;
	ret->ipv6 = offsets >> 32 & 1;
	ret->length = length & 0xffff;
}

static __always_inline __u64 packet_offsets(const struct packet *p)
{
	return OFFSETS(p->payload & OFFSET_MASK, p->addresses & OFFSET_MASK, p->ipv6);
}

static __always_inline void packet_peer(const struct packet *p, enum side side,
					__u32 slot, struct cookie_peer *ret)
{
	struct player_id id;

	packet_player(p, side, slot, &id);
	ret->word[0] = id.word[0];
	ret->word[1] = id.word[1];
	ret->word[2] = (__u32)id.word[2];
}

/* --- what the server says ---------------------------------------------------- */

/* Words by which a server lets somebody take the next step. */
static __always_inline bool kind_challenges(enum wire_kind kind)
{
	return kind == KIND_CHALLENGERESPONSE || kind == KIND_S2C_CHALLENGE ||
	       kind == KIND_CHALLENGE || kind == KIND_DTLS_HELLO_VERIFY;
}

/*
 * The server says something to somebody who may be joining: who is told to go on is
 * entered as invited, with the @challenge that it was given if that is not zero. Returns
 * whether it has proven itself.
 */
__noinline int server_challenge_note(__u64 first, __u64 second, __u64 third,
				     __u32 challenges, __u32 challenge)
{
	struct cookie_peer peer = { { first, second, (__u32)third } };
	struct validated_table *t = &live.validation.validated;
	__u64 now = clock_now(&live);
	struct validated_cell *cell;

	cell = challenges ? validated_enter(t, &peer, live.keys, now)
			  : validated_find(t, &peer, live.keys, now);
	if (!cell)
		return 0;
	if (challenge) {
		bool fresh = !(cell->flags & VALIDATED_CHALLENGE);

		for (int i = 3; i >= 0; i--)
			if (fresh)
				cell->earlier[i] = challenge;
			else if (cell->challenge != challenge)
				cell->earlier[i] =
					i ? cell->earlier[i - 1] : cell->challenge;
		cell->challenge = challenge;
		cell->flags |= VALIDATED_CHALLENGE;
	}
	return cell->flags & VALIDATED_COOKIE;
}

#endif /* SERVER_CHALLENGE_BPF_H */
