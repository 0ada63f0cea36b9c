/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * greylist.bpf.h - greylisting: while a service is under load, a request to join passes
 * only if it comes twice, as stock clients repeat it. For clients of NetQuake and DTLS,
 * which have nothing else to show (include/greylist.h), and for a getchallenge to a
 * server with host keys, since that challenge is longer than the request.
 *
 * The fast path drops a request that comes for the first time (greylist_drop(),
 * fastpath.bpf.h); shield_validate() decides the rest (greylist_decide(),
 * challenge_keys_decide()).
 */
#ifndef GREYLIST_BPF_H
#define GREYLIST_BPF_H

#include "challenge_share.bpf.h"

#define HELLO_RANDOM (DTLS_RECORD + DTLS_HANDSHAKE + 2) /* after the version */

/*
 * Return the random of the ClientHello with its payload at offset @payload, hashed to
 * 31 bits; 0 if it does not lie in the frame's head. It tells one ClientHello from the
 * next of the same sender, and is the same in each repetition. Called by
 * greylisted_first() and cookie_check(). Both paths must compute the same, and bit 31
 * must stay 0: GREYLIST_KEYS has it.
 */
static __always_inline __u32 hello_random(struct xdp_md *ctx, __u64 payload)
{
	const __u8 *at = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;

	payload &= OFFSET_MASK;
	same_copy(payload);
	at += payload + HELLO_RANDOM;
	if (at + 32 > end)
		return 0;
	return ((load_u64(at) * 0x9e3779b97f4a7c15ull ^ load_u64(at + 8)) *
			0xc2b2ae3d27d4eb4full +
		(load_u64(at + 16) * 0x9e3779b97f4a7c15ull ^ load_u64(at + 24)) *
			0x165667b19e3779f9ull) >>
	       33;
}

/*
 * Return a keyed hash of a request of @peer. @random tells its requests apart. Called by
 * greylisted_first(), greylist_decide() and challenge_keys_decide(). The fast path and
 * shield_validate() must hash the same request alike.
 */
static __always_inline __u64 greylist_hash(const struct live *l,
					   const struct cookie_peer *peer, __u32 random)
{
	/* An IPv4 address is the upper half: without this, no lower bit depends on it. */
	__u64 address = peer->word[1] ^ peer->word[1] >> 32;

	return peer->word[0] * l->keys[0] + address * l->keys[1] +
	       (peer->word[2] ^ ((__u64)random << 32 | random)) * l->keys[2];
}

/*
 * greylist_seen() of the request with @hash, in this CPU's table. @hello: with DTLS's
 * intervals, not NetQuake's. @look: as of greylist_seen(). Analysed once by the verifier.
 * Called by greylisted_first() with @look, since shield_validate() asks again, and by
 * greylist_decide() and challenge_keys_decide() without. The table is this CPU's own: no
 * locks.
 */
__noinline int greylist_retried(__u64 hash, __u32 hello, __u32 look, __u64 now)
{
	__u32 table = bpf_get_smp_processor_id() & recent_mask, at = greylist_at(hash);
	struct recent *r = bpf_map_lookup_elem(&recent, &table);

	return r && index_below(&at, 1 << GREYLIST_BITS) &&
	       greylist_seen(&r->greylist[at], hash, hello != 0, now, look);
}

#define GREYLIST_WHAT 32 /* above: GREYLIST_KEYS, or a ClientHello's offset, or 0 */
#define GREYLIST_KEYS (1u << 31) /* none of hello_random()'s, and of no offset */

/*
 * Return true if the client of a request is not validated, and the request comes for the
 * first time. @first to @third: the words of struct cookie_peer; above the third, from
 * GREYLIST_WHAT, the offset of a ClientHello's payload, which is never 0, or
 * GREYLIST_KEYS for a getchallenge to a server with host keys. Analysed once by the
 * verifier. Called by greylist_drop() alone. It must be true only where greylist_decide()
 * or challenge_keys_decide() returns REASON_GREYLISTED: these ask no validated client's
 * CCREQ_CONNECT, but each getchallenge.
 */
__noinline int greylisted_first(struct xdp_md *ctx, __u64 first, __u64 second,
				__u64 third, __u64 now)
{
	__u32 what = third >> GREYLIST_WHAT, random = 0;
	struct cookie_peer peer = { { first, second, (__u32)third } };
	const struct validated_cell *cell;
	struct live *l = &live;

	if (what) {
		random = what == GREYLIST_KEYS ? what : hello_random(ctx, what);
	} else {
		cell = validated_find(&l->validation.validated, &peer, l->keys, now);
		if (cell && cell->flags & VALIDATED_COOKIE)
			return false;
	}
	return !greylist_retried(greylist_hash(l, &peer, random), what & OFFSET_MASK,
				 true, now);
}

#endif /* GREYLIST_BPF_H */
