/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cached_response.bpf.h - choose the cached response that matches a query, and write it
 * over the query.
 *
 * The daemon writes the responses with their checksums (include/cached_response.h). They
 * are copied by bpf_xdp_store_bytes(), since a loop takes twice as long. Called by
 * shield_cache(), in this order: cache_choose(), cache_grow(), then the charge, then
 * cache_send(). The daemon may write meanwhile: cache_send() compares the generation
 * before and after.
 *
 * All functions belong to the program shield_cache(): no other program may call them. The
 * steps before the charge must leave the frame's contents unchanged, so that the query
 * can go on when there is no response; cache_grow() changes its length alone, which
 * cache_try() undoes.
 */
#ifndef CACHED_RESPONSE_BPF_H
#define CACHED_RESPONSE_BPF_H

#include "challenge.bpf.h"

/*
 * The result of cache_choose(): the number of the pair + 1, and above it the length of
 * the nonce, the length of the whole response, and the number of the cut.
 */
#define CHOSEN_PAIRS  (SERVICES_MAX * CACHE_FORMS)
#define CHOSEN_REST   12
#define CHOSEN_LENGTH 18
#define CHOSEN_CUT    29
#define CHOSEN(pair, rest, length, cut)                                            \
	(((pair) + 1) | (__u32)(rest) << CHOSEN_REST | (length) << CHOSEN_LENGTH | \
	 (cut) << CHOSEN_CUT)
_Static_assert(CHOSEN_PAIRS < 1 << CHOSEN_REST, "the number of a pair has its bits");
_Static_assert(CACHE_NONCE < 1 << (CHOSEN_LENGTH - CHOSEN_REST), "a nonce has them");
_Static_assert(CACHE_TEXT < 1 << (CHOSEN_CUT - CHOSEN_LENGTH), "an answer has them");
_Static_assert(CACHE_CUTS <= 1 << (31 - CHOSEN_CUT), "a cut has them");

/*
 * Return the length of the nonce: bits of CHOSEN(). @chosen: of cache_choose(). Called by
 * cache_send() alone.
 */
static __always_inline __u32 chosen_rest(__u32 chosen)
{
	return chosen >> CHOSEN_REST & ((1 << (CHOSEN_LENGTH - CHOSEN_REST)) - 1);
}

/*
 * Return the length of the whole response: bits of CHOSEN(). @chosen: of cache_choose().
 * Called by cache_try(), cache_frame() and cache_send().
 */
static __always_inline __u32 chosen_length(__u32 chosen)
{
	return chosen >> CHOSEN_LENGTH & ((1 << (CHOSEN_CUT - CHOSEN_LENGTH)) - 1);
}

/*
 * Return the pair @number, or NULL if there is none. Called by cache_choose() and
 * cache_send(). The comparison must stand right before the address is computed, for the
 * verifier.
 */
static __always_inline struct cache_pair *cache_pair(__u32 number)
{
	struct cache_pair *pair;

	if (!index_below(&number, CHOSEN_PAIRS))
		return NULL;
	same_copy(number);
	pair = &live.cache.entries[number];
	/*
	 * Without this, Linux 7.3's verifier takes the pointer for NULL where the number
	 * was in bounds.
	 */
	once_here(pair);
	__builtin_assume(pair);
	return pair;
}

/*
 * Return the generation of @pair, read once: bit 0 says which half is valid. Called by
 * cache_choose() alone. The read must stay volatile and single: a second read may see the
 * next generation.
 */
static __always_inline __u64 pair_generation(const struct cache_pair *pair)
{
	return *(const volatile __u64 *)&pair->generation;
}

/*
 * Return the beginning of the query without what ends it, zeros after it, and its length
 * in *@ret_length. NULL: empty, or it cannot be read. The next text_load() overwrites it.
 * Called by cache_choose() and nonce_load(). The length is without LF or NUL at the end,
 * as the daemon stores queries (cache_query_length()).
 */
static __always_inline struct cache_query *
query_load(struct xdp_md *ctx, const struct pkt_ctx *c, __u32 *ret_length)
{
	struct challenge_text *text = text_load(ctx, c->payload, c->length);
	struct cache_query *q = (void *)text;

	_Static_assert(sizeof(*q) == sizeof(*text), "they share a place");
	if (!text)
		return NULL;
	*ret_length = cache_query_length(q, c->length);
	return q;
}

/*
 * Return CHOSEN() of @t, the cached response @number, with a nonce of @rest bytes; 0 if
 * it is longer than @t->most, in IPv6 less CACHE_IPV6. @rest: 0 to CACHE_NONCE. @ipv6: 0
 * or 1. Called by cache_choose() alone. The daemon may write @t meanwhile, so cut and
 * length are compared here. The result must fit the bits of CHOSEN(): the assertions
 * above hold that for the most of each part. It must not be negative: cache_try() takes 0
 * and below as none.
 */
static __always_inline int cache_chosen(const struct cache_entry *t, __u32 number,
					__u32 rest, __u32 ipv6)
{
	__u32 cut = cache_cut_choose(t, rest, ipv6), n;

	if (!index_below(&cut, CACHE_CUTS))
		return 0;
	n = cache_length(t, t->cuts[cut].tail, rest);
	return n + ipv6 * CACHE_IPV6 > t->most ? 0 : CHOSEN(number, rest, n, cut);
}

/*
 * Return CHOSEN() of the response to the query of @c, or 0: none is cached, young enough
 * and short enough, or no reply can be sent. Sets c->generation to that of the response;
 * on 0 it means nothing. Analysed once by the verifier. Called by cache_try() alone,
 * first. It must change nothing in the frame, and must read the generation before the
 * entry, since cache_send() compares it last.
 */
__noinline int cache_choose(struct xdp_md *ctx, struct pkt_ctx *c)
{
	__u64 now = clock_now(&live);
	struct cache_query *q;
	struct cache_pair *pair;
	const struct cache_entry *t;
	__u32 number, n = 0;
	int rest;

	if (!c || !reply_possible(ctx, c))
		return 0;
	q = query_load(ctx, c, &n);
	if (!q)
		return 0;
	number = pkt_slot(c) * CACHE_FORMS + cache_form_first(pkt_kind(c), n);
	for (int i = 0; i < CACHE_TRIES; i++, number++) {
		pair = cache_pair(number);
		if (!pair)
			return 0;
		c->generation = pair_generation(pair);
		t = &pair->half[c->generation & 1];
		rest = cache_nonce_length(t, n);
		if (rest >= 0 && cache_matches(t, q) && cache_fresh(t, now))
			return cache_chosen(t, number, rest, pkt_ipv6(c));
	}
	return 0;
}

/*
 * Return the bytes of the frame with the chosen response. Called by cache_try() alone,
 * for the charge: the least is what is on the wire, WIRE_LEAST.
 */
static __always_inline __u32 cache_frame(__u32 chosen, __u32 payload)
{
	__u32 bytes = chosen_length(chosen) + (payload & OFFSET_MASK);

	return bytes < WIRE_LEAST ? WIRE_LEAST : bytes;
}

/*
 * Load the nonce of the query, of @rest bytes, into *@ret. False: it has a character that
 * is not repeated. Called by cache_send() alone, before the headers are written: the
 * query is overwritten then.
 */
static __always_inline bool nonce_load(struct xdp_md *ctx, const struct pkt_ctx *c,
				       const struct cache_entry *t, __u32 rest,
				       struct cache_nonce *ret)
{
	struct cache_query *q;
	__u32 at = t->request_length, n;

	if (!rest) {
		__builtin_memset(ret, 0, sizeof(*ret));
		return true;
	}
	q = query_load(ctx, c, &n);
	if (!q || !index_below(&at, CACHE_REQUEST + 1))
		return false;
	return cache_nonce_copy(q->at + at, rest, ret);
}

/*
 * Write head, nonce and the first @tail bytes of the tail of @t after the headers.
 * Without a nonce it writes the text up to the end of the frame, whatever @tail is:
 * cache_heads() has made the frame that long. False: drop the frame. Called by
 * cache_store() alone, after cache_heads(). Each length must be compared right before its
 * helper: Linux 6.1's verifier loses the bounds of a spilled value.
 */
static __always_inline bool cache_parts(struct xdp_md *ctx, __u32 payload,
					const struct cache_entry *t,
					struct cache_nonce *nonce, __u32 tail)
{
	__u32 at = payload & OFFSET_MASK, head, n;

	/*
	 * Without a nonce, together with the Ethernet padding, for which there are zeros
	 * after the text.
	 */
	head = nonce->length ? t->head - 1 : reply_frame(ctx) - at - 1;
	same_copy(head);
	if (head >= CACHE_TEXT || bpf_xdp_store_bytes(ctx, at, (void *)t->text, head + 1))
		return false;
	if (!nonce->length)
		return true;
	at += head + 1;
	n = nonce->length - 1;
	same_copy(n);
	if (n >= CACHE_NONCE || bpf_xdp_store_bytes(ctx, at, nonce->words, n + 1))
		return false;
	if (!tail)
		return true;
	at += n + 1;
	tail--;
	same_copy(tail);
	return tail < CACHE_TEXT &&
	       !bpf_xdp_store_bytes(ctx, at, (void *)(t->text + head + 1), tail + 1);
}

/*
 * cache_parts(), and the NUL after them if the response ends with one: @total bytes.
 * Called by cache_send() alone, after cache_heads(), whose checksum counts the NUL as
 * zero. The NUL is written last: cache_parts() may have put text in its place.
 */
static __always_inline bool cache_store(struct xdp_md *ctx, __u32 payload,
					const struct cache_entry *t,
					struct cache_nonce *nonce, __u32 tail,
					__u32 total)
{
	__u8 nul = 0;

	return cache_parts(ctx, payload, t, nonce, tail) &&
	       (!t->ended ||
		!bpf_xdp_store_bytes(ctx, (payload & OFFSET_MASK) + total - 1, &nul, 1));
}

/*
 * Make room for a response of @length bytes, before anything is counted. False: the
 * driver has no room after so short a frame, and the frame is unchanged. Called by
 * cache_try() alone, between cache_choose() and cache_charge(). It must not write to the
 * frame: on REASON_COUNT the query goes on.
 */
__noinline int cache_grow(struct xdp_md *ctx, __u32 payload, __u32 length)
{
	int more = (int)((payload & OFFSET_MASK) + length) - (int)reply_frame(ctx);

	return more <= 0 || !bpf_xdp_adjust_tail(ctx, more);
}

/*
 * reply_heads() of a response of @length bytes, analysed once by the verifier. Called by
 * cache_send() alone, after nonce_load(). False: drop the frame.
 */
__noinline int cache_heads(struct xdp_md *ctx, __u32 payload, __u32 ipv6, __u32 length,
			   __u64 sum)
{
	struct reply a = { .back = true, .length = length };

	a.payload = payload & OFFSET_MASK;
	a.ipv6 = ipv6;
	return a.length <= CACHE_TEXT && reply_heads(ctx, &a, sum);
}

/*
 * Write the @chosen response over the query and send it back. XDP_DROP: it cannot be, or
 * the daemon replaced the response meanwhile. Called by cache_try() alone, with what
 * cache_choose() returned and left in c->generation, after cache_grow(), and after the
 * response was charged and the query counted. The comparison of the generation must be
 * the last step before counting: what was read of an entry that the daemon replaced must
 * not leave.
 */
__noinline int cache_send(struct xdp_md *ctx, const struct pkt_ctx *c, __u32 chosen)
{
	struct cache_pair *pair = cache_pair((chosen & ((1 << CHOSEN_REST) - 1)) - 1);
	__u32 rest = chosen_rest(chosen), kind;
	__u32 total = chosen_length(chosen), at = chosen >> CHOSEN_CUT;
	struct cache_nonce nonce;
	const struct cache_entry *t;
	const struct cache_cut *cut;
	__u64 sum;

	if (!c || !pair)
		return XDP_DROP;
	/* If the daemon writes meanwhile, the generation differs in the end. */
	t = &pair->half[c->generation & 1];
	if (!nonce_load(ctx, c, t, rest, &nonce) || !index_below(&at, CACHE_CUTS))
		return XDP_DROP;
	cut = &t->cuts[at];
	sum = cache_sum(t, cut, rest ? cache_sum_words(nonce.words, CACHE_NONCE / 8) : 0,
			rest);
	if (!cache_heads(ctx, c->payload, pkt_ipv6(c), total, sum) ||
	    !cache_store(ctx, c->payload, t, &nonce, cut->tail, total) ||
	    (__u32)__sync_fetch_and_add(&pair->generation, 0) != c->generation)
		return XDP_DROP;
	kind = t->kind;
	if (index_below(&kind, KIND_COUNT))
		count_sent(ctx, pkt_slot(c), kind, REASON_CACHED_RESPONSE,
			   COUNTER_OUT(CACHED_RESPONSE, kind), total, reply_frame(ctx));
	return send_back(ctx);
}

#endif /* CACHED_RESPONSE_BPF_H */
