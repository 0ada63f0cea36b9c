/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * template.bpf.h - an answer from a template (include/template.h): which one fits a
 * question, and how it is written over it. By bpf_xdp_store_bytes(), since a loop takes
 * twice as long; the sums are the daemon's.
 */
#ifndef TEMPLATE_BPF_H
#define TEMPLATE_BPF_H

#include "challenge.bpf.h"

/* What template_choose() returns: the number of the pair + 1, and above it the lengths of
 * the nonce and of the whole answer, and where that is cut. */
#define CHOSEN_PAIRS  (SERVICES_MAX * TEMPLATE_FORMS)
#define CHOSEN_REST   12
#define CHOSEN_LENGTH 18
#define CHOSEN_CUT    29
#define CHOSEN(pair, rest, length, cut)                                            \
	(((pair) + 1) | (__u32)(rest) << CHOSEN_REST | (length) << CHOSEN_LENGTH | \
	 (cut) << CHOSEN_CUT)
_Static_assert(CHOSEN_PAIRS < 1 << CHOSEN_REST, "the number of a pair has its bits");
_Static_assert(TEMPLATE_NONCE < 1 << (CHOSEN_LENGTH - CHOSEN_REST), "a nonce has them");
_Static_assert(TEMPLATE_TEXT < 1 << (CHOSEN_CUT - CHOSEN_LENGTH), "an answer has them");
_Static_assert(TEMPLATE_CUTS <= 1 << (31 - CHOSEN_CUT), "a cut has them");

static __always_inline __u32 chosen_rest(__u32 chosen)
{
	return chosen >> CHOSEN_REST & ((1 << (CHOSEN_LENGTH - CHOSEN_REST)) - 1);
}

/* The length of the whole answer. */
static __always_inline __u32 chosen_length(__u32 chosen)
{
	return chosen >> CHOSEN_LENGTH & ((1 << (CHOSEN_CUT - CHOSEN_LENGTH)) - 1);
}

/* NULL: there is no such pair. */
static __always_inline struct template_pair *template_pair(__u32 number)
{
	struct template_pair *pair;

	if (!index_below(&number, CHOSEN_PAIRS))
		return NULL;
	same_copy(number);
	pair = &live.answering.templates[number];
	/* Or 7.3 is shown a pointer that is NULL where the number was in its bounds. */
	once_here(pair);
	__builtin_assume(pair);
	return pair;
}

static __always_inline __u64 pair_generation(const struct template_pair *pair)
{
	return *(const volatile __u64 *)&pair->generation;
}

/* The beginning of the question, ended; its length is in *@ret_length. NULL: none. */
static __always_inline struct template_question *
question_load(struct xdp_md *ctx, const struct call *c, __u32 *ret_length)
{
	struct challenge_text *text = text_load(ctx, c->where, c->length);
	struct template_question *q = (void *)text;

	_Static_assert(sizeof(*q) == sizeof(*text), "they share a place");
	if (!text)
		return NULL;
	*ret_length = template_ended(q, c->length);
	return q;
}

/* The template that answers the question; 0: none that is known and young enough. */
__noinline int template_choose(struct xdp_md *ctx, const struct call *c)
{
	__u64 now = clock_now(&live);
	struct template_question *q;
	struct template_pair *pair;
	const struct template *t;
	__u32 number, form, cut, n = 0;
	int rest;

	if (!c || !reply_possible(ctx, c))
		return 0;
	q = question_load(ctx, c, &n);
	if (!q)
		return 0;
	number = call_slot(c) * TEMPLATE_FORMS;
	for (form = 0; form < TEMPLATE_FORMS; form++, number++) {
		pair = template_pair(number);
		if (!pair)
			return 0;
		t = &pair->half[pair_generation(pair) & 1];
		if (template_fresh(t, now) && template_asks(t, q))
			break;
	}
	if (form == TEMPLATE_FORMS)
		return 0;
	/* To the verifier, whichever that was is one from here on. */
	number = forget(number, n);
	pair = template_pair(number);
	if (!pair)
		return 0;
	t = &pair->half[pair_generation(pair) & 1];
	rest = template_rest(t, n);
	if (rest < 0)
		return 0;
	cut = template_fit(t, rest, call_ipv6(c));
	if (!index_below(&cut, TEMPLATE_CUTS))
		return 0;
	n = template_length(t, t->cuts[cut], rest);
	return n + call_ipv6(c) * TEMPLATE_IPV6 > t->most ? 0
							  : CHOSEN(number, rest, n, cut);
}

/* The octets of the frame that the chosen answer makes. */
static __always_inline __u32 template_frame(__u32 chosen, __u64 where)
{
	__u32 bytes = chosen_length(chosen) + (where & OFFSET_MASK);

	return bytes < WIRE_LEAST ? WIRE_LEAST : bytes;
}

/* The nonce of the question. False: not all of it can be answered. */
static __always_inline bool nonce_load(struct xdp_md *ctx, const struct call *c,
				       const struct template *t, __u32 rest,
				       struct template_nonce *ret)
{
	struct template_question *q;
	__u32 at = t->request_length, n;

	if (!rest) {
		__builtin_memset(ret, 0, sizeof(*ret));
		return true;
	}
	q = question_load(ctx, c, &n);
	if (!q || !index_below(&at, TEMPLATE_REQUEST + 1))
		return false;
	return template_nonce_copy(q->at + at, rest, ret);
}

/* Write the parts of @t behind the headers, of its tail the first @tail octets. */
static __always_inline bool template_parts(struct xdp_md *ctx, __u32 payload,
					   const struct template *t,
					   struct template_nonce *nonce, __u32 tail)
{
	__u32 at = payload & OFFSET_MASK, head, n;

	/* Without a nonce with the padding, for which there are zeros behind it. */
	head = nonce->length ? t->head - 1 : answer_frame(ctx) - at - 1;
	same_copy(head);
	if (head >= TEMPLATE_TEXT ||
	    bpf_xdp_store_bytes(ctx, at, (void *)t->text, head + 1))
		return false;
	if (!nonce->length)
		return true;
	at += head + 1;
	n = nonce->length - 1;
	same_copy(n);
	if (n >= TEMPLATE_NONCE || bpf_xdp_store_bytes(ctx, at, nonce->words, n + 1))
		return false;
	if (!tail)
		return true;
	at += n + 1;
	tail--;
	same_copy(tail);
	return tail < TEMPLATE_TEXT &&
	       !bpf_xdp_store_bytes(ctx, at, (void *)(t->text + head + 1), tail + 1);
}

/* template_parts(), and the NUL behind them: an answer of @total octets. */
static __always_inline bool template_store(struct xdp_md *ctx, __u32 payload,
					   const struct template *t,
					   struct template_nonce *nonce, __u32 tail,
					   __u32 total)
{
	__u8 nul = 0;

	return template_parts(ctx, payload, t, nonce, tail) &&
	       (!t->ended ||
		!bpf_xdp_store_bytes(ctx, (payload & OFFSET_MASK) + total - 1, &nul, 1));
}

/*
 * Make room for an answer of @length octets, before anything is said of the question.
 * False: the driver has none behind so short a frame, and all is as it was.
 */
__noinline int template_grow(struct xdp_md *ctx, __u64 where, __u32 length)
{
	int more = (int)((where & OFFSET_MASK) + length) - (int)answer_frame(ctx);

	return more <= 0 || !bpf_xdp_adjust_tail(ctx, more);
}

/* answer_heads() of an answer of @length octets, walked once by the verifier. */
__noinline int template_heads(struct xdp_md *ctx, __u64 where, __u32 length, __u64 sum)
{
	struct answer a = { .back = true, .length = length };

	a.payload = where & OFFSET_MASK;
	a.ipv6 = where >> 32 & 1;
	return a.length <= TEMPLATE_TEXT && answer_heads(ctx, &a, sum);
}

/*
 * Write the @chosen answer over the question, sent back. XDP_DROP: it cannot be, or the
 * daemon wrote where we read, which is not to be sent.
 */
__noinline int template_send(struct xdp_md *ctx, const struct call *c, __u32 chosen)
{
	struct template_pair *pair =
		template_pair((chosen & ((1 << CHOSEN_REST) - 1)) - 1);
	__u32 rest = chosen_rest(chosen), kind;
	__u32 total = chosen_length(chosen), at = chosen >> CHOSEN_CUT;
	struct template_nonce nonce;
	struct template_cut cut;
	const struct template *t;
	__u64 generation, sum;

	if (!c || !pair)
		return XDP_DROP;
	generation = pair_generation(pair);
	t = &pair->half[generation & 1];
	if (!template_fresh(t, clock_now(&live)) || !nonce_load(ctx, c, t, rest, &nonce))
		return XDP_DROP;
	if (!index_below(&at, TEMPLATE_CUTS))
		return XDP_DROP;
	cut = t->cuts[at];
	/* The length was charged, and is another if the daemon has written meanwhile. */
	if (template_length(t, cut, rest) != total)
		return XDP_DROP;
	sum = template_sum(
		t, cut, rest ? template_words(nonce.words, TEMPLATE_NONCE / 8) : 0, rest);
	if (!template_heads(ctx, c->where, total, sum) ||
	    !template_store(ctx, c->where, t, &nonce, cut.tail, total) ||
	    __sync_fetch_and_add(&pair->generation, 0) != generation)
		return XDP_DROP;
	kind = t->kind;
	if (index_below(&kind, KIND_COUNT))
		count_sent(ctx, call_slot(c), kind, REASON_CACHED_RESPONSE,
			   COUNTER_OUT_CACHED_RESPONSE + kind, total, answer_frame(ctx));
	return send_back(ctx);
}

#endif /* TEMPLATE_BPF_H */
