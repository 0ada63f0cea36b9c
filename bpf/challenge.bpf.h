/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * challenge.bpf.h - the shield's own word to a stranger, and the request that is written
 * over what came back of it.
 *
 * What is sent from here never meets the egress program. It is counted here, and it needs
 * no entry in the amplification limit where it is no longer than what it answers: that
 * pays for it.
 */
#ifndef CHALLENGE_BPF_H
#define CHALLENGE_BPF_H

#include "reply.bpf.h"
#include "local_frame.bpf.h"
#include "amplification.bpf.h"
#include "sample.bpf.h"

/* The beginning of the payload, zeros behind it. NULL: cannot be. */
static __always_inline struct challenge_text *text_load(struct xdp_md *ctx, __u32 payload,
							__u32 length)
{
	__u32 least = length - 1, zero = 0;
	struct challenge_text *t = bpf_map_lookup_elem(&texts, &zero);

	if (!t)
		return NULL;
	__builtin_memset(t, 0, sizeof(*t));
	if (least >= CHALLENGE_TEXT)
		least = CHALLENGE_TEXT - 1;
	same_copy(least);
	if (!length || least >= CHALLENGE_TEXT ||
	    bpf_xdp_load_bytes(ctx, payload & OFFSET_MASK, t->at, least + 1))
		return NULL;
	return t;
}

/* Are both addresses such that a datagram can come from the one and go to the other? */
static __always_inline bool addresses_routable(const struct packet *p)
{
	const __be32 *from = packet_address(p, SENDER), *to = packet_address(p, RECEIVER);
	__u32 first, second;

	if (!from || !to)
		return false;
	first = bpf_ntohl(from[0]);
	second = bpf_ntohl(to[0]);
	if (p->ipv6)
		/* ::, ::1 and IPv4's begin with zeros, groups' with ff. */
		return (from[0] | from[1]) && first >> 24 != 0xff &&
		       second >> 24 != 0xff &&
		       ((from[0] ^ to[0]) | (from[1] ^ to[1]) | (from[2] ^ to[2]) |
			(from[3] ^ to[3]));
	return first >> 24 && first >> 24 != 127 && first < 0xe0000000 &&
	       second < 0xe0000000 && first != second;
}

/*
 * Can a datagram go back to where this one says that it came from? Not in place of
 * options or extension headers, nor to port 0; and not where Linux would deliver neither
 * the one nor the other: from or to a group or everybody, this host or none, oneself;
 * or to another machine.
 */
__noinline int reply_possible(struct xdp_md *ctx, const struct pkt_ctx *c)
{
	struct packet p;

	if (!c)
		return false;
	pkt_packet(ctx, c, &p);
	return p.start + ETH_ALEN <= p.end && !(*p.start & 1) &&
	       reply_plain(p.payload, p.addresses, p.ipv6) && pkt_port(c) &&
	       addresses_routable(&p) && frame_is_local(&p, pkt_slot(c));
}

/* --- asking ------------------------------------------------------------------ */

/* Make the challenge of @form to @who in *@ret. */
static __always_inline void challenge_for(enum wire_family family, enum cookie_form form,
					  const struct cookie_peer *peer,
					  struct challenge_words *ret)
{
	__u64 epoch = cookie_epoch(clock_now(&live));

	challenge_make(family, form,
		       cookie_hash(&live.validation.secret, peer, epoch, form), epoch,
		       ret);
}

/*
 * challenge_arguments() of the request of @length bytes that is @offsets, as OFFSETS()
 * says it. A function of its own, so that the verifier walks its loop once.
 */
__noinline int challenge_arguments_at(struct xdp_md *ctx, __u64 offsets, __u32 length,
				      __u32 letter)
{
	__u8 *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	__u64 offset = offsets & OFFSET_MASK;

	same_copy(data);
	same_copy(end);
	same_copy(offset);
	return challenge_arguments(data + offset, end, length & 0xffff, letter);
}

/*
 * Write the challenge @challenge, of @a->length bytes and the cookie's @form, over the
 * request of @c. The UDP checksum is that of the new text and does not depend on the old
 * one: a client on this machine, or in a container or a virtual machine of it, leaves
 * that to a card that its datagrams never come to.
 *
 * False: the request has no such challenge, or the frame no room for it. The frame may
 * have been changed and must be dropped.
 */
static __always_inline bool challenge_write(struct xdp_md *ctx, const struct pkt_ctx *c,
					    const struct reply *a, enum cookie_form form,
					    const struct challenge_words *challenge)
{
	__u64 sum =
		challenge_sum(challenge->words[0]) + challenge_sum(challenge->words[1]);
	__u8 *data, *end;
	__u64 offset;
	int rest;

	if (form == COOKIE_ARGUED) {
		rest = challenge_arguments_at(ctx, c->offsets, c->length,
					      challenge->words[2]);
		if (rest < 0)
			return false;
		sum += rest;
	} else {
		sum += challenge_sum(challenge->words[2]);
	}
	if (!reply_heads(ctx, a, sum))
		return false;
	data = (void *)(long)ctx->data;
	end = (void *)(long)ctx->data_end;
	same_copy(data);
	same_copy(end);
	offset = a->payload & OFFSET_MASK;
	same_copy(offset);
	return challenge_store(data + offset, end, form, a->length, challenge);
}

/*
 * What asks for proof in Quake III is never longer than the request. In other families no
 * challenge is so short: it may be a tenth longer, for which the amplification limit's
 * allowance pays. Once that is spent, each request that is not answered pays for the next
 * nine of its network.
 */
static __always_inline bool challenge_charge(const struct pkt_ctx *c, __u32 more,
					     __u32 bytes)
{
	if (!live.amplification.byte_ns ||
	    amplification_update(pkt_prefix(c), more, AMPLIFICATION_WHOLE))
		return true;
	amplification_update(pkt_prefix(c), bytes, 0);
	return false;
}

static __always_inline bool challenge_admit(enum wire_family family,
					    const struct pkt_ctx *c, __u32 sends,
					    __u32 bytes)
{
	if (wire_bytes(sends) <= wire_bytes(bytes))
		return true;
	if (family == FAMILY_QUAKE3)
		return false;
	if (bytes < WIRE_LEAST)
		bytes = WIRE_LEAST;
	return (sends - bytes) * 10 <= wire_bytes(bytes) &&
	       challenge_charge(c, sends - bytes, bytes);
}

/* How the kind of what asks is called: as the server's own word. */
static __always_inline enum wire_kind challenge_kind(enum wire_family family)
{
	return family == FAMILY_QUAKE3	     ? KIND_ECHO
	       : family == FAMILY_QUAKEWORLD ? KIND_S2C_CHALLENGE
					     : KIND_CHALLENGE;
}

/*
 * Count a frame of @bytes, a @kind of @payload bytes, that is sent for the service in
 * @slot for @reason, and perhaps show it to the daemon. @number: of the counter.
 */
static __always_inline void count_sent(struct xdp_md *ctx, __u32 slot,
				       enum wire_kind kind, enum reason reason,
				       __u32 number, __u32 payload, __u64 bytes)
{
	struct live *l = &live;
	struct counter_row *row = NULL;
	__u32 key;
	__u64 *counter = counter_at(slot, number, &row, &key), counted;

	if (!counter)
		return;
	counted = count(counter, &key, bytes);
	count_unverified_out(row, payload, bytes);
	if (l->sampling.any && sample_statistic(l, counted))
		sample_in(ctx,
			  SAMPLE_WHAT(slot, kind, reason, DIRECTION_S2C,
				      SAMPLER_STATISTIC),
			  bytes);
}

/*
 * Send the frame back by the way it came: XDP_TX, or what does the same on a veth. There
 * the other end takes what XDP_TX sends into its ring, but wakes up for it only if it has
 * an XDP program itself. If it does not and joins datagrams (GRO), the ring fills up, and
 * from then on all that the server says is lost at it, for good.
 */
static __always_inline int send_back(struct xdp_md *ctx)
{
	__u32 at = ctx->ingress_ifindex;

	return unlikely(live.veths >> (at & 31) & 1) ? (int)bpf_redirect(at, 0) : XDP_TX;
}

/*
 * Challenge the client of a request for which reply_possible() is true. Returns what
 * sends the challenge, or XDP_DROP if there is none: the frame may have been changed.
 * Called by shield_validate() after the request was counted. A function of its own, as
 * all here: the verifier walks it once.
 */
__noinline int challenge_send(struct xdp_md *ctx, const struct pkt_ctx *c)
{
	struct reply a = { .back = true };
	struct live *l = &live;
	const struct service *s;
	struct challenge_words challenge;
	enum wire_family family;
	enum cookie_form form;
	enum wire_kind kind;
	__u32 slot;

	if (!c)
		return XDP_DROP;
	slot = pkt_slot(c);
	s = service_at(tables_now(l), &slot);
	if (!s)
		return XDP_DROP;
	family = s->family;
	form = challenge_form(family, pkt_kind(c), c->length);
	if (!form)
		return XDP_DROP;
	a.payload = c->offsets & OFFSET_MASK;
	a.ipv6 = pkt_ipv6(c);
	a.length = challenge_length(family, form, c->length);
	if (a.length > CHALLENGE_TEXT ||
	    !challenge_admit(family, c, a.payload + a.length, reply_frame(ctx)))
		return XDP_DROP;
	challenge_for(family, form, &c->peer, &challenge);
	if (!challenge_write(ctx, c, &a, form, &challenge))
		return XDP_DROP;
	kind = challenge_kind(family);
	count_sent(ctx, slot, kind, REASON_CHALLENGED, COUNTER_OUT(CHALLENGED, kind),
		   a.length, reply_frame(ctx));
	return send_back(ctx);
}

/* --- what a proof becomes ------------------------------------------------------ */

#define COOKIE_REPLACED COOKIE_FORMS /* the server's challenge goes in place of ours */

/* Write @number in place of the challenge of a connect: both have ten digits. */
static __always_inline int rewrite_number(struct xdp_md *ctx, const struct packet *p,
					  __u32 number)
{
	__u32 offset = p->payload & OFFSET_MASK, check_at = offset - 2, at;
	__u8 was[16] = { 0 }, is[16] = { 0 };
	struct challenge_text *text;
	__u64 sum = 0;
	__u16 check;

	text = text_load(ctx, p->payload, p->length);
	if (!text)
		return XDP_DROP;
	at = connect_number_at(text);
	/* In words of the checksum: one octet before if it stands at an odd place. */
	if (!at || bpf_xdp_load_bytes(ctx, offset + (at & ~1u), was, 12) ||
	    bpf_xdp_load_bytes(ctx, check_at, &check, sizeof(check)))
		return XDP_DROP;
	__builtin_memcpy(is, was, sizeof(is));
	if (at & 1)
		cookie_decimal(number, is + 1);
	else
		cookie_decimal(number, is);
	for (int i = 0; i < 3; i++)
		sum += (__u64)~load_u32(was + 4 * i) + load_u32(is + 4 * i);
	/* RFC 1624; none stays none, and what is 0 is challenge as the other 0. */
	if (check) {
		check = reply_fold(sum + (__u16)~check);
		check = check ? check : 0xffff;
	}
	if (bpf_xdp_store_bytes(ctx, offset + (at & ~1u), is, 12) ||
	    bpf_xdp_store_bytes(ctx, check_at, &check, sizeof(check)))
		return XDP_DROP;
	return XDP_PASS;
}

/* Write over the proof of @form the request that it stands for. XDP_PASS or XDP_DROP. */
__noinline int rewrite_request(struct xdp_md *ctx, const struct pkt_ctx *c, __u32 form)
{
	struct reply a = { 0 };
	struct challenge_text *text;
	struct validated_cell *cell;
	struct packet p;

	if (!c)
		return XDP_DROP;
	pkt_packet(ctx, c, &p);
	if (form == COOKIE_REPLACED) {
		cell = validated_find(&live.validation.validated, &c->peer, live.keys,
				      clock_now(&live));
		return cell ? rewrite_number(ctx, &p, cell->challenge) : XDP_DROP;
	}
	text = text_load(ctx, p.payload, p.length);
	if (!reply_plain(p.payload, p.addresses, p.ipv6) || !text)
		return XDP_DROP;
	a.payload = p.payload;
	a.ipv6 = p.ipv6;
	a.length = form == COOKIE_NUMBER || form == COOKIE_TEXT
			   ? rewrite_connect(text, form)
			   : rewrite_echo(text, form, p.length);
	if (!a.length || a.length > CHALLENGE_TEXT)
		return XDP_DROP;
	return reply_write(ctx, &a, text) ? XDP_PASS : XDP_DROP;
}

#endif /* CHALLENGE_BPF_H */
