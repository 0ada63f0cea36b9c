/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * challenge.bpf.h - write a challenge over a request and send it back; and rewrite a
 * datagram that returned a cookie into the request for the server.
 *
 * A frame that is sent back does not pass the egress program, so it is counted here. It
 * needs no charge to the amplification limit if it is no longer than the request; what is
 * longer is charged.
 *
 * Called by shield_validate() and by the fast path (challenge_plain.bpf.h). Exceptions:
 * the response cache calls reply_possible(), text_load(), count_sent() and send_back();
 * host_keys.bpf.h calls challenge_for(), challenge_charge(), count_sent() and
 * send_back(). Each helper that resizes the frame invalidates pointers into it.
 */
#ifndef CHALLENGE_BPF_H
#define CHALLENGE_BPF_H

#include "reply.bpf.h"
#include "local_frame.bpf.h"
#include "amplification.bpf.h"
#include "sample.bpf.h"

/*
 * Return the first CHALLENGE_TEXT bytes of the payload with zeros after it, in this CPU's
 * buffer, which the next call overwrites. NULL: empty, or it cannot be read. Called by
 * the functions that read a request or a cookie (query_load(), rewrite_number(),
 * rewrite_request(), cookie_check_echo(), cookie_check_number(), cookie_check_tail()).
 * The zeros must stay: readers and checksums count on them. @payload is masked, and the
 * length compared right before the helper, for the verifier.
 */
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

/*
 * Return true if a datagram can come from the address @from and go to @to. Called by
 * reply_allowed() alone. Allow no more: a reply to a spoofed multicast or broadcast
 * address would reach many hosts.
 */
static __always_inline bool addresses_routable(const __be32 *from, const __be32 *to,
					       bool ipv6)
{
	__u32 first = bpf_ntohl(from[0]), second = bpf_ntohl(to[0]);

	if (ipv6)
		/*
		 * :: and ::1 and mapped IPv4 addresses begin with zeros, multicast ones
		 * with ff.
		 */
		return (from[0] | from[1]) && first >> 24 != 0xff &&
		       second >> 24 != 0xff &&
		       ((from[0] ^ to[0]) | (from[1] ^ to[1]) | (from[2] ^ to[2]) |
			(from[3] ^ to[3]));
	return first >> 24 && first >> 24 != 127 && first < 0xe0000000 &&
	       second < 0xe0000000 && first != second;
}

/*
 * Return true if a datagram to the service in @slot may be replied to: @port not 0, no
 * address that Linux would not deliver to or from (multicast, broadcast, loopback,
 * unspecified, the same on both ends), and the frame is for this host. @eth: the frame,
 * of 14 bytes at least; @from, @to: addresses, of @ipv6 four words each; @port: the
 * sender's, @server_port: the receiver's, in network order. Called by reply_possible()
 * and challenge_plain(). Each condition is one without which the shield would send to a
 * wrong host.
 */
static __always_inline bool reply_allowed(const struct tables *tab, const __u8 *eth,
					  const __be32 *from, const __be32 *to, bool ipv6,
					  __be16 port, __be16 server_port, __u32 slot)
{
	return !(*eth & 1) && port && addresses_routable(from, to, ipv6) &&
	       frame_is_local(tab, eth, port_number(server_port), slot);
}

/*
 * Return true if a reply to @c can be sent in place of it: reply_allowed(), and no IP
 * options or extension headers, since reply_heads() relies on reply_plain(). Analysed
 * once by the verifier. Called by cache_choose() and challenge_possible(), before the
 * reply is charged or counted. Each reply of shield_validate() and shield_cache() needs
 * it.
 */
__noinline int reply_possible(struct xdp_md *ctx, const struct pkt_ctx *c)
{
	const __u8 *at;
	struct packet p;

	if (!c)
		return false;
	pkt_packet(ctx, c, &p);
	at = p.start + p.addresses;
	if (p.start + ETH_HLEN > p.end || !reply_plain(p.payload, p.addresses, p.ipv6))
		return false;
	/* The UDP header follows the addresses. */
	if (p.ipv6)
		return at + 36 <= p.end &&
		       reply_allowed(tables_now(&live), p.start, (const __be32 *)at,
				     (const __be32 *)at + 4, true, load_u16(at + 32),
				     load_u16(at + 34), pkt_slot(c));
	return at + 12 <= p.end &&
	       reply_allowed(tables_now(&live), p.start, (const __be32 *)at,
			     (const __be32 *)at + 1, false, load_u16(at + 8),
			     load_u16(at + 10), pkt_slot(c));
}

/* --- challenges ------------------------------------------------------------------ */

/*
 * Return true if a challenge to the query @kind, which has a fixed length, with its
 * payload at @payload is not longer on the wire than the request, of @bytes. Always true
 * for KIND_GETCHALLENGE: challenge_admit() compares that one. Called by
 * challenge_possible() and challenge_plain(), for kind_requests() alone.
 */
static __always_inline bool challenge_fits(enum wire_kind kind, __u32 payload,
					   __u64 bytes)
{
	return kind == KIND_GETCHALLENGE ||
	       wire_bytes(payload + CHALLENGE_QUERY_N) <= wire_bytes(bytes);
}

/*
 * Make the challenge of @form to @peer in *@ret. @peer: of packet_peer() or plain_peer().
 * Called by challenge_reply() and keys_challenge_send(). The hash must be the one that
 * cookie_expected() computes from the same @peer and @form.
 */
static __always_inline void challenge_for(enum wire_family family, enum cookie_form form,
					  const struct cookie_peer *peer, __u64 now,
					  struct challenge_words *ret)
{
	__u64 epoch = cookie_epoch(now);

	challenge_make(family, form,
		       cookie_hash(&live.validation.secret, peer, epoch, form), epoch,
		       ret);
}

/*
 * challenge_arguments() of the request of @length bytes at the offset @payload. @letter:
 * the last of the cookie. Analysed once by the verifier. Called by challenge_write()
 * alone, before the headers change. Returns below 0 if the request has other arguments;
 * then the frame may have changed: drop it.
 */
__noinline int challenge_arguments_at(struct xdp_md *ctx, __u32 payload, __u32 length,
				      __u32 letter)
{
	__u8 *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	__u64 offset = payload & OFFSET_MASK;

	same_copy(data);
	same_copy(end);
	same_copy(offset);
	return challenge_arguments(data + offset, end, length & 0xffff, letter);
}

/*
 * Write @challenge, of @a->length bytes and the cookie's @form, over the request of @c.
 * The UDP checksum is made anew: a client on this machine, or in a container or virtual
 * machine of it, leaves its own to a card that its datagrams never meet.
 *
 * Returns false if the request has no such challenge, or the frame no room for it. Then
 * the frame may have changed: drop it. Called by challenge_reply() alone, after
 * challenge_admit(). The sum must cover all that challenge_store() writes, and pointers
 * must be loaded anew after reply_heads().
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
		rest = challenge_arguments_at(ctx, c->payload, c->length,
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
 * Charge a challenge that is @more bytes longer than its request of @bytes; @more is
 * above 0. False: the prefix has no allowance left, and no challenge may be sent. Then
 * the request is credited: of challenges that are a tenth longer, one request in ten pays
 * for the next nine of its prefix. Called by challenge_admit() and keys_challenge_send()
 * before the challenge is sent, at most once for it.
 */
static __always_inline bool challenge_charge(const struct pkt_ctx *c, __u32 more,
					     __u32 bytes)
{
	if (!live.amplification.byte_ns ||
	    amplification_charge_prefix(pkt_prefix(c), more, AMPLIFICATION_WHOLE))
		return true;
	amplification_credit_prefix(pkt_prefix(c), bytes);
	return false;
}

/*
 * Return true if a frame of @sends bytes may be sent in reply to one of @bytes. An echo
 * is never longer on the wire. Another challenge may be a tenth longer, which is charged:
 * challenge_charge(). Called by challenge_reply() alone. It bounds
 * amplification: never return true for a frame that is longer on the wire and was not
 * charged.
 */
static __always_inline bool
challenge_admit(enum cookie_form form, const struct pkt_ctx *c, __u32 sends, __u32 bytes)
{
	if (wire_bytes(sends) <= wire_bytes(bytes))
		return true;
	if (form_echoes(form))
		return false;
	if (bytes < WIRE_LEAST)
		bytes = WIRE_LEAST;
	return (sends - bytes) * 10 <= wire_bytes(bytes) &&
	       challenge_charge(c, sends - bytes, bytes);
}

/*
 * Return the kind of the challenge, which is named as the server's own. Called by
 * challenge_reply() alone. challenge_number() must name the counter of the same kind.
 */
static __always_inline enum wire_kind challenge_kind(enum wire_family family,
						     enum cookie_form form)
{
	return form_echoes(form)	     ? KIND_ECHO
	       : family == FAMILY_QUAKEWORLD ? KIND_S2C_CHALLENGE
					     : KIND_CHALLENGE;
}

/*
 * Return the number of the counter of challenge_kind(). Called by challenge_reply()
 * alone. Constants, of which one is chosen.
 */
static __always_inline __u32 challenge_number(enum wire_family family,
					      enum cookie_form form)
{
	return form_echoes(form)	     ? COUNTER_OUT(CHALLENGED, KIND_ECHO)
	       : family == FAMILY_QUAKEWORLD ? COUNTER_OUT(CHALLENGED, KIND_S2C_CHALLENGE)
					     : COUNTER_OUT(CHALLENGED, KIND_CHALLENGE);
}

/*
 * Count a frame of @bytes with a @kind of @payload bytes that the shield sends for the
 * service in @slot, and perhaps sample it. @number: of the counter of @kind and @reason.
 * Called by challenge_reply(), keys_challenge_send() and cache_send(), once per frame
 * that is sent, after the frame is complete and before send_back().
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
 * Return what sends the frame back to where it came from: XDP_TX, or on a veth a
 * redirection to its own interface. There the other end takes what XDP_TX sends into its
 * ring, and wakes up for it only if it has an XDP program. If it has none and joins
 * datagrams (GRO), the ring fills up, and from then on all that the server sends is lost
 * there. struct live.veths: shield_attach() in user/shield/attach_xdp.c sets the bit of
 * the interface's number modulo 32. Called by challenge_reply(), keys_challenge_send()
 * and cache_send() as the last step. Each byte of the frame must be written by then.
 */
static __always_inline int send_back(struct xdp_md *ctx)
{
	__u32 at;

	if (likely(!live.veths))
		return XDP_TX;
	at = ctx->ingress_ifindex;
	return live.veths >> (at & 31) & 1 ? (int)bpf_redirect(at, 0) : XDP_TX;
}

/*
 * Write the challenge over the request of @c to @s, a frame of @bytes for which
 * reply_allowed() is true, and count it. @a: payload and ipv6 are set; the rest is set
 * here. Returns what sends it, or XDP_DROP if there is none: the frame may have been
 * changed. Called by challenge_send() and challenge_plain(), after the challenge was
 * taken from the share and the request was counted as REASON_CHALLENGED. c->peer and
 * c->net must be set.
 *
 * The order is fixed: admit and charge before the frame is written, count after it. A
 * path that returns XDP_DROP sends nothing and counts nothing as sent.
 */
static __always_inline int challenge_reply(struct xdp_md *ctx, const struct pkt_ctx *c,
					   const struct service *s, struct reply *a,
					   __u32 bytes, __u64 now)
{
	enum wire_family family = s->family;
	enum cookie_form form = challenge_form(family, pkt_kind(c), c->length);
	enum wire_kind kind = challenge_kind(family, form);
	struct challenge_words challenge;

	a->back = true;
	a->length = challenge_length(family, form, c->length);
	if (!form || a->length > CHALLENGE_TEXT ||
	    !challenge_admit(form, c, a->payload + a->length, bytes))
		return XDP_DROP;
	challenge_for(family, form, &c->peer, now, &challenge);
	if (!challenge_write(ctx, c, a, form, &challenge))
		return XDP_DROP;
	count_sent(ctx, pkt_slot(c), kind, REASON_CHALLENGED,
		   challenge_number(family, form), a->length, reply_frame(ctx));
	return send_back(ctx);
}

/*
 * Challenge the client of a request for which reply_possible() is true. Returns as
 * challenge_reply(). Analysed once by the verifier. Called by shield_validate() alone,
 * for REASON_CHALLENGED of pkt_decide(), after decision_apply() has counted the request,
 * if pkt_keys() is KEYS_NONE; in any other state keys_challenge_send() is called.
 */
__noinline int challenge_send(struct xdp_md *ctx, const struct pkt_ctx *c)
{
	const struct service *s;
	struct reply a;
	__u32 slot;

	if (!c)
		return XDP_DROP;
	slot = pkt_slot(c);
	s = service_at(tables_now(&live), &slot);
	if (!s)
		return XDP_DROP;
	a.payload = c->payload & OFFSET_MASK;
	a.ipv6 = pkt_ipv6(c);
	return challenge_reply(ctx, c, s, &a, reply_frame(ctx), clock_now(&live));
}

/* --- rewriting ------------------------------------------------------------------- */

#define COOKIE_REPLACED \
	COOKIE_FORMS /* the number of the server's challenge replaces the shield's */

/*
 * Write @number over the ten digits of the challenge in a connect, with leading zeros.
 * Returns XDP_PASS or XDP_DROP. Called by rewrite_request() alone, for COOKIE_REPLACED:
 * cookie_check_number() has compared the digits of this frame, and nothing does it again.
 * Only 12 bytes of the payload and the UDP checksum may change: the length stays.
 */
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
	/*
	 * In 16-bit words of the checksum: from one byte before if the number is at an
	 * odd place.
	 */
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
	/* RFC 1624. No checksum stays none, and a sum of 0 is written as ffff. */
	if (check) {
		check = reply_fold(sum + (__u16)~check);
		check = check ? check : 0xffff;
	}
	if (bpf_xdp_store_bytes(ctx, offset + (at & ~1u), is, 12) ||
	    bpf_xdp_store_bytes(ctx, check_at, &check, sizeof(check)))
		return XDP_DROP;
	return XDP_PASS;
}

/*
 * Rewrite a datagram with a cookie of @form into the request that it stands for. Returns
 * XDP_PASS, or XDP_DROP if that cannot be; then the frame may have changed. A frame with
 * IP options or extension headers is dropped, except for COOKIE_REPLACED. Analysed once
 * by the verifier. Called by shield_validate() alone, after decision_apply() has counted
 * and passed the datagram, with the @form that validation_decide() put into c->form. The
 * text must be what a client would send, since the server parses it.
 */
__noinline int rewrite_request(struct xdp_md *ctx, const struct pkt_ctx *c, __u32 form)
{
	struct reply a = { 0 };
	struct challenge_text *text;
	struct validated_cell *cell;
	const struct service *s;
	__u32 slot;
	struct packet p;

	if (!c)
		return XDP_DROP;
	slot = pkt_slot(c);
	pkt_packet(ctx, c, &p);
	if (form == COOKIE_REPLACED) {
		cell = validated_find(&live.validation.validated, &c->peer, live.keys,
				      clock_now(&live));
		return cell ? rewrite_number(ctx, &p, cell->challenge) : XDP_DROP;
	}
	s = service_at(tables_now(&live), &slot);
	text = text_load(ctx, p.payload, p.length);
	if (!s || !reply_plain(p.payload, p.addresses, p.ipv6) || !text)
		return XDP_DROP;
	a.payload = p.payload;
	a.ipv6 = p.ipv6;
	a.length = form == COOKIE_NUMBER || form == COOKIE_TEXT
			   ? rewrite_connect(text, form)
			   : rewrite_echo(text, s->family, form, p.length);
	if (!a.length || a.length > CHALLENGE_TEXT)
		return XDP_DROP;
	return reply_write(ctx, &a, text) ? XDP_PASS : XDP_DROP;
}

#endif /* CHALLENGE_BPF_H */
