/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * greylist.bpf.h - greylisting: while a service is under load, a request to join passes
 * only if it comes twice, as stock clients repeat it. For clients of NetQuake and DTLS,
 * which have nothing else to show (include/greylist.h).
 *
 * The fast path drops here what comes for the first time (greylisted());
 * shield_validate() decides the rest (greylist_decide()).
 */
#ifndef GREYLIST_BPF_H
#define GREYLIST_BPF_H

#include "challenge_share.bpf.h"

/*
 * Return the random of the ClientHello in @p, hashed to 31 bits. It tells one ClientHello
 * from the next of the same sender, and is the same in each repetition. Called by
 * greylisted() and cookie_check(). Both paths must compute the same, and bit 31 must stay
 * 0: GREYLIST_KEYS has it.
 */
static __always_inline int hello_random(struct xdp_md *ctx, const struct packet *p)
{
	__u32 random[8], sum = 0;

	/* It follows both headers and the version. */
	if (bpf_xdp_load_bytes(
		    ctx, (p->payload & OFFSET_MASK) + DTLS_RECORD + DTLS_HANDSHAKE + 2,
		    random, sizeof(random)))
		return 0;
	for (int i = 0; i < 8; i++)
		sum = sum * 0x9e3779b1u ^ random[i];
	return sum >> 1;
}

/*
 * Return a keyed hash of a request of @peer. @random tells its requests apart. Called by
 * greylisted(), greylist_decide() and challenge_keys_decide(). The fast path and
 * shield_validate() must hash the same request alike.
 */
static __always_inline __u64 greylist_hash(const struct live *l,
					   const struct cookie_peer *peer, __u32 random)
{
	return peer->word[0] * l->keys[0] + peer->word[1] * l->keys[1] +
	       (peer->word[2] | (__u64)random << 32) * l->keys[2];
}

/*
 * greylist_seen() of the request with @hash, in this CPU's table. @hello: with DTLS's
 * intervals, not NetQuake's. @look: as of greylist_seen(). Analysed once by the verifier.
 * Called by greylisted() with @look, since shield_validate() asks again, and by
 * greylist_decide() and challenge_keys_decide() without. The table is this CPU's own: no
 * locks.
 */
__noinline int greylist_retried(__u64 hash, __u32 hello, __u32 look)
{
	__u32 table = bpf_get_smp_processor_id() & recent_mask, at = greylist_at(hash);
	struct recent *r = bpf_map_lookup_elem(&recent, &table);
	struct greylist_timing timing;

	timing.least = hello ? greylist_hello.least : greylist_netquake.least;
	timing.most = hello ? greylist_hello.most : greylist_netquake.most;
	timing.kept = hello ? greylist_hello.kept : greylist_netquake.kept;
	return r && index_below(&at, 1 << GREYLIST_BITS) &&
	       greylist_seen(&r->greylist[at], hash, &timing, clock_now(&live), look);
}

/*
 * Return true if a first @kind, CCREQ_CONNECT or ClientHello, exceeds the limit of its
 * service or of its source at @net. Puts the service under load in the first case. False:
 * a limit of the prefix may still be exceeded. Called by greylisted() alone. It must be
 * true only where unvalidated_decide() finds a limit exceeded too.
 */
static __always_inline bool join_over_limit(struct live *l, const struct service *s,
					    __u32 slot, enum wire_kind kind, __u64 net,
					    __u32 ipv6, __u64 now)
{
	__u32 class = kind == KIND_CCREQ_CONNECT ? CLASS_CONNECT : CLASS_CHALLENGE, cell;
	const struct budget *b = &s->budget[class];
	__u64 service_due = l->service_due_ns[budget_index(slot, class)];
	struct limit one = b->source;

	if (limit_exceeded(&b->service, service_due, now)) {
		validation_require(l, slot, now);
		return true;
	}
	/*
	 * As in admit_net(): a request that takes a player's place has no more in a
	 * crowd.
	 */
	if (kind != KIND_CCREQ_CONNECT)
		one.cost_ns >>= budget_crowd(b, service_due, now);
	cell = budget_cell(b, l->keys, net, ipv6, SOURCE_BITS);
	return index_below(&cell, 1 << SOURCE_BITS) &&
	       limit_exceeded(&one, l->source_due_ns[cell], now);
}

/*
 * Return true if a datagram is a CCREQ_CONNECT or first ClientHello that is over a limit,
 * its sender is not validated, and it comes for the first time. The caller drops it for
 * REASON_GREYLISTED. @what and @offsets: TARGET() and OFFSETS(), of @length bytes. Called
 * for a sender that is in no list, and a service that does not only observe. Walked once
 * by the verifier. Called by fast_path() alone. It may only drop what greylist_decide()
 * would drop for the same reason.
 */
__noinline int greylisted(struct xdp_md *ctx, __u64 target, __u64 offsets, __u32 length)
{
	enum wire_kind kind = target & 0xffff;
	bool hello = kind == KIND_DTLS_CLIENT_HELLO;
	__u32 slot = target >> 16 & 0xffff;
	struct live *l = &live;
	const struct validated_cell *cell;
	const struct service *s;
	struct cookie_peer peer;
	__u64 now = clock_now(l);
	struct packet p;

	s = service_at(tables_now(l), &slot);
	if (!s || (!hello && kind != KIND_CCREQ_CONNECT))
		return false;
	offsets_packet(ctx, offsets, length, &p);
	if (!join_over_limit(l, s, slot, kind, address_net(&p, SENDER), p.ipv6, now))
		return false;
	packet_peer(&p, SENDER, slot, &peer);
	if (!hello) {
		cell = validated_find(&l->validation.validated, &peer, l->keys, now);
		if (cell && cell->flags & VALIDATED_COOKIE)
			return false;
	}
	return !greylist_retried(
		greylist_hash(l, &peer, hello ? hello_random(ctx, &p) : 0), hello, true);
}

#endif /* GREYLIST_BPF_H */
