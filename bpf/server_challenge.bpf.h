/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * server_challenge.bpf.h - the integers that describe a datagram to functions of their
 * own, and what egress notes of a server's own challenge: its receiver is entered in the
 * table of validated.h as challenged by the server, not validated.
 */
#ifndef SERVER_CHALLENGE_BPF_H
#define SERVER_CHALLENGE_BPF_H

#include "conntrack.bpf.h"

/*
 * A datagram to a service as two integers: its service and kind (TARGET), and where its
 * payload and addresses are in the frame (OFFSETS). offsets_packet(), pkt_fill(),
 * challenge_now(), challenge_plain(), keys_place(), egress_listed() and
 * egress_validated() take them apart: change all.
 */
#define TARGET(slot, kind) ((__u64)(slot) << 16 | (kind))
#define OFFSETS(payload, addresses, ipv6) \
	((__u64)(ipv6) << 32 | (__u64)(addresses) << 16 | (payload))

/*
 * Fill *@ret from @offsets, OFFSETS(), and @length bytes of payload. The rest is zero.
 * Called by echo_refused() and connect_has_cookie(); pkt_packet() does the same from a
 * context.
 * @offsets must be of the frame as it is now.
 */
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

/*
 * Return OFFSETS() of @p; offsets_packet() is the inverse. Called by plain_offsets(),
 * slow_path(), pkt_find(), egress_admit() and egress_charge().
 */
static __always_inline __u64 packet_offsets(const struct packet *p)
{
	return OFFSETS(p->payload & OFFSET_MASK, p->addresses & OFFSET_MASK, p->ipv6);
}

/*
 * Make the name of the client at @side of @p, for the service in @slot: what a cookie is
 * made for. Called by pkt_find(), echo_refused() and connect_has_cookie(). The name must
 * be the same on each path, or a cookie is found wrong: plain_peer(),
 * connect_challenged(), egress_validated(), and cell_peer() in
 * user/shield/shield_cells.h.
 */
static __always_inline void packet_peer(const struct packet *p, enum side side,
					__u32 slot, struct cookie_peer *ret)
{
	struct player_id id;

	packet_player(p, side, slot, &id);
	ret->word[0] = id.word[0];
	ret->word[1] = id.word[1];
	ret->word[2] = (__u32)id.word[2];
}

/* --- challenges of the server ------------------------------------------------------ */

/*
 * Note that the server sends a datagram of a handshake to the client of the words @first
 * to @third (struct cookie_peer). @challenges: it is a challenge; then the client is
 * entered, with the number @challenge if that is not 0, and the four challenges before it
 * are kept, since others may have requested some in its name. Its first number fills all
 * four, which validated_enter() does not clear. Returns nonzero if the client is
 * validated.
 *
 * Called by egress_validated() alone. Analysed once by the verifier.
 *
 * It must not set VALIDATED_COOKIE: a challenge that was sent proves nothing.
 * connect_answers() must compare as many challenges as are kept here.
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
