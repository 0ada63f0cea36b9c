/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * host_keys.bpf.h - the host keys that a DarkPlaces server adds to its challenges (struct
 * host_keys): egress reads them, and the shield's own challenge carries them. A client
 * that has stored a server's key ends its attempt to join when a challenge lacks them.
 *
 * Such a challenge is about twice as long as the request. So the shield sends it only to
 * a client that sends the request twice, and charges what is longer to the prefix's
 * allowance.
 *
 * keys_learn() is called by egress_admit(), keys_challenge_send() by shield_validate().
 * struct host_keys is pinned: if the meaning of a member changes, or what keys_place()
 * returns, raise ABI_VERSION (user/shield/shield_abi.c).
 */
#ifndef HOST_KEYS_BPF_H
#define HOST_KEYS_BPF_H

#include "challenge.bpf.h"
#include "cached_response.h"

#define KEYS_MARK 0x6e656c76 /* "vlen" */

/*
 * Return the host keys of the service in @slot, or NULL if there is no such slot. Called
 * by keys_state(), keys_learn() and keys_challenge_send().
 */
static __always_inline struct host_keys *keys_at(__u32 slot)
{
	return index_below(&slot, SERVICES_MAX) ? &live.validation.keys[slot] : NULL;
}

/*
 * Return enum host_keys_state of a service of @family. Challenges of other protocols
 * carry no keys: KEYS_NONE. Called by unvalidated_decide() and pkt_keys();
 * not_challenged() on the fast path must read the same, and keys_unusable() in
 * user/shield/shield_shares.c. The read is volatile, since egress writes meanwhile.
 */
static __always_inline __u32 keys_state(enum wire_family family, __u32 slot)
{
	struct host_keys *keys;

	if (family != FAMILY_NETQUAKE)
		return KEYS_NONE;
	keys = keys_at(slot);
	return keys ? *(volatile __u32 *)&keys->state : KEYS_UNKNOWN;
}

/*
 * Copy what follows the text of a challenge of @length bytes at @payload into @keys.
 * Returns the new enum host_keys_state; KEYS_UNKNOWN: it cannot be read. Called by
 * keys_learn() alone, while the state is KEYS_UNKNOWN. The text beyond the length must be
 * zeros: the sum counts all of it.
 */
static __always_inline __u32 keys_copy(struct __sk_buff *ctx, struct host_keys *keys,
				       __u32 payload, __u32 length)
{
	__u32 mark = 0, least = length - KEYS_AT - 1;
	__u8 end = 1;

	if (length < KEYS_AT + sizeof(mark) ||
	    bpf_skb_load_bytes(ctx, payload + KEYS_AT - 1, &end, 1) || end ||
	    bpf_skb_load_bytes(ctx, payload + KEYS_AT, &mark, sizeof(mark)) ||
	    mark != KEYS_MARK)
		return KEYS_NONE;
	same_copy(least);
	if (least >= KEYS_TEXT)
		return KEYS_LONG;
	__builtin_memset(keys->text, 0, KEYS_TEXT);
	if (bpf_skb_load_bytes(ctx, payload + KEYS_AT, keys->text, least + 1))
		return KEYS_UNKNOWN;
	keys->length = least + 1;
	keys->sum = cache_fold(bpf_csum_diff(NULL, 0, (void *)keys->text, KEYS_TEXT, 0) &
			       0xffffffff);
	return KEYS_KNOWN;
}

/*
 * Return true if @then (0: never) is less than KEYS_SEVERAL_NS ago. Called by
 * keys_learn() alone.
 */
static __always_inline bool keys_lately(__u64 then, __u64 now)
{
	return then && now - then < KEYS_SEVERAL_NS;
}

/*
 * Return a hash of the address and port of the server that sends the datagram at
 * @offsets. Called by keys_learn() alone. Only equality counts.
 */
static __always_inline __u32 keys_place(struct __sk_buff *ctx, __u32 slot, __u64 offsets)
{
	struct packet p = { .payload = offsets & OFFSET_MASK,
			    .addresses = offsets >> 16 & OFFSET_MASK,
			    .ipv6 = offsets >> 32 & 1 };
	struct player_id id;
	__u64 all;

	packet_begin((void *)(long)ctx->data, (void *)(long)ctx->data_end, &p);
	packet_player(&p, SENDER, slot, &id);
	all = id.word[0] ^ (id.word[1] << 1 | id.word[1] >> 63) ^ id.word[2];
	return all ^ all >> 32;
}

/*
 * Note what the server in @slot adds to its challenge of @length bytes at @offsets, at
 * most once in KEYS_NS. One CPU wins and writes; while it does, the state is
 * KEYS_UNKNOWN, and no challenge is sent.
 *
 * A service may have several servers, at several ports or addresses. A challenge with the
 * keys of one ends an attempt to join another. So after challenges of two servers that
 * differ, none is sent for the service for an hour (KEYS_SEVERAL).
 *
 * Returns 0, which says nothing. Called by egress_admit() alone, for KIND_CHALLENGE of
 * NetQuake, and not for a socket of another user (other_socket()). Keep the order: the
 * stamp first, then KEYS_UNKNOWN, the keys, the stamp of the end, and the state last. It
 * is what keys_challenge_send() relies on.
 */
__noinline int keys_learn(struct __sk_buff *ctx, __u32 slot, __u64 offsets, __u32 length)
{
	struct host_keys *keys = keys_at(slot);
	__u64 now = clock_now(&live), was;
	__u32 place, last, state;
	__u16 sum;

	/* `challenge ` alone ends a key exchange and carries no keys. */
	if (!keys || length <= CHALLENGE_Q2_AT)
		return 0;
	was = keys->heard_ns;
	/* A stamp of the end is later than its clock. */
	if ((was && (__s64)(now - was) < (__s64)KEYS_NS) ||
	    __sync_val_compare_and_swap(&keys->heard_ns, was, now) != was)
		return 0;
	place = keys_place(ctx, slot, offsets);
	last = keys->last;
	sum = keys->sum;
	*(volatile __u32 *)&keys->state = KEYS_UNKNOWN;
	keys->sum = 0;
	keys->length = 0;
	state = keys_copy(ctx, keys, offsets & OFFSET_MASK, length & 0xffff);
	keys->last = state << 16 | keys->length;
	if (was && place != keys->place)
		keys->moved_ns = now;
	keys->place = place;
	if (was && (last != keys->last || sum != keys->sum) &&
	    keys_lately(keys->moved_ns, now))
		keys->differed_ns = now;
	if (keys_lately(keys->differed_ns, now))
		state = KEYS_SEVERAL;
	*(volatile __u64 *)&keys->heard_ns = now + 1;
	*(volatile __u32 *)&keys->state = state;
	return 0;
}

/*
 * Write the server's keys to @at of the frame. False: there are none, or the frame has no
 * room. The length is read and bounded right before the helper: see same_copy(). Called
 * by keys_write() alone, after reply_heads().
 */
static __always_inline bool keys_store(struct xdp_md *ctx, __u32 at,
				       struct host_keys *keys)
{
	__u32 least = *(volatile __u16 *)&keys->length - 1;

	same_copy(least);
	return least < KEYS_TEXT && !bpf_xdp_store_bytes(ctx, at, keys->text, least + 1);
}

/*
 * Write @challenge and the server's keys over the request. The shield's text is KEYS_AT -
 * 1 bytes, one less than the server's. False: the frame may have changed; drop it. Called
 * by keys_challenge_send() alone, after reply_possible(), and after challenge_charge() if
 * the reply is longer than the request. @a->length is the length of text and keys. The
 * caller compares the state and heard_ns afterwards: egress may replace the keys
 * meanwhile.
 */
static __always_inline bool keys_write(struct xdp_md *ctx, const struct reply *a,
				       const struct challenge_words *challenge,
				       struct host_keys *keys)
{
	__u64 text[4] = { challenge->words[0], challenge->words[1], challenge->words[2],
			  0 };
	__u32 at = a->payload & OFFSET_MASK;
	__u64 sum = cache_sum_at(keys->sum, KEYS_AT - 1);

	for (int i = 0; i < 3; i++)
		sum += challenge_sum(text[i]);
	return reply_heads(ctx, a, sum) &&
	       !bpf_xdp_store_bytes(ctx, at, text, KEYS_AT - 1) &&
	       keys_store(ctx, at + KEYS_AT - 1, keys);
}

/*
 * challenge_send() for a service in the state KEYS_KNOWN; XDP_DROP in any other state.
 * The shield's text is one character shorter than the server's. Analysed once by the
 * verifier. Called by shield_validate() alone, after decision_apply() has counted
 * REASON_CHALLENGED, for any state but KEYS_NONE; reply_possible() must be true. Keys of
 * another server or of two moments must not leave: they end the client's attempt.
 */
__noinline int keys_challenge_send(struct xdp_md *ctx, const struct pkt_ctx *c)
{
	struct reply a = { .back = true };
	struct host_keys *keys;
	struct challenge_words challenge;
	__u32 slot, more;
	__u64 heard;

	if (!c)
		return XDP_DROP;
	slot = pkt_slot(c);
	keys = keys_at(slot);
	if (!keys)
		return XDP_DROP;
	a.payload = c->payload & OFFSET_MASK;
	a.ipv6 = pkt_ipv6(c);
	/* Read the stamp first: keys_learn() sets it before the state. */
	heard = *(volatile __u64 *)&keys->heard_ns;
	if (*(volatile __u32 *)&keys->state != KEYS_KNOWN)
		return XDP_DROP;
	challenge_for(FAMILY_NETQUAKE, COOKIE_TEXT, &c->peer, clock_now(&live),
		      &challenge);
	a.length = KEYS_AT - 1 + keys->length;
	more = a.payload + a.length - reply_frame(ctx);
	if ((int)more > 0 && !challenge_charge(c, more, reply_frame(ctx)))
		return XDP_DROP;
	/*
	 * Not keys that were replaced while they were read. A writer that has begun after
	 * the stamp was read has changed it. One that had begun before has set the state
	 * if it has touched a key, and if the state is set again, the stamp as well: so
	 * the state is compared first.
	 */
	if (!keys_write(ctx, &a, &challenge, keys) ||
	    *(volatile __u32 *)&keys->state != KEYS_KNOWN ||
	    *(volatile __u64 *)&keys->heard_ns != heard)
		return XDP_DROP;
	count_sent(ctx, slot, KIND_CHALLENGE, REASON_CHALLENGED,
		   COUNTER_OUT(CHALLENGED, KIND_CHALLENGE), a.length, reply_frame(ctx));
	return send_back(ctx);
}

#endif /* HOST_KEYS_BPF_H */
