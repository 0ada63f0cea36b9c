/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cookie_check.bpf.h - does a request to connect carry the cookie that its sender was
 * given? shield_validate() asks it by cookie_check() (validation.bpf.h), and the fast
 * path by connect_has_cookie(), so that a flood of connects without one is refused there.
 * Echoes carry theirs elsewhere: echo_refused() and cookie_check_echo(). For `explain`
 * number_form() and tail_form() in user/shield/shield_about.c repeat
 * cookie_check_number() and cookie_check_tail(): change both.
 */
#ifndef COOKIE_CHECK_BPF_H
#define COOKIE_CHECK_BPF_H

#include "challenge.bpf.h"
#include "challenge_share.bpf.h"

/*
 * QuakeWorld, Quake II: return the number in a connect if it is a cookie that @peer was
 * given, or the one that validated @peer before; 0: neither. Called by cookie_check() and
 * connect_has_cookie(). A number that the client used before is compared first, since its
 * epoch may be over.
 */
static __always_inline int cookie_check_number(struct xdp_md *ctx, const struct packet *p,
					       const struct cookie_peer *peer)
{
	__u8 digits[COOKIE_DIGITS + 1];
	struct validated_cell *cell;
	struct challenge_text *text;
	__u64 parity, epoch, hash;
	__u32 at, number;

	text = text_load(ctx, p->payload, p->length);
	if (!text)
		return 0;
	at = connect_number_at(text);
	if (!at || bpf_xdp_load_bytes(ctx, (p->payload & OFFSET_MASK) + at, digits,
				      sizeof(digits)))
		return 0;
	number = connect_number(digits);
	if (!cookie_number_fits(number, &parity))
		return 0;
	cell = validated_find(&live.validation.validated, peer, live.keys,
			      clock_now(&live));
	if (cell && cell->flags & VALIDATED_NUMBER && cell->cookie == number)
		return number;
	hash = cookie_expected(&live, peer, COOKIE_NUMBER, parity, &epoch);
	return cookie_number(hash, epoch) == number ? number : 0;
}

/*
 * DarkPlaces: return COOKIE_TEXT if a connect ends with the challenge that @peer was
 * given, or if the words of a step of the key exchange do; 0: neither. Called by
 * cookie_check() and connect_has_cookie(). All ten characters are compared at once.
 */
static __always_inline int cookie_check_tail(struct xdp_md *ctx, const struct packet *p,
					     enum wire_kind kind,
					     const struct cookie_peer *peer)
{
	__u32 more, ends = p->length;
	__u64 letters, epoch, hash;
	struct challenge_text *text;
	__u8 tail[CONNECT_TAIL_N];

	if (kind == KIND_D0PK) {
		text = text_load(ctx, p->payload, p->length);
		ends = text ? key_step_end(text) : 0;
	}
	if (ends < CONNECT_TAIL_N + 4 ||
	    bpf_xdp_load_bytes(ctx, (p->payload & OFFSET_MASK) + ends - CONNECT_TAIL_N,
			       tail, sizeof(tail)) ||
	    !connect_tail(tail, &letters, &more))
		return 0;
	hash = cookie_expected(&live, peer, COOKIE_TEXT, cookie_letters_parity(letters),
			       &epoch);
	return ((cookie_letters(hash, epoch) ^ letters) |
		(cookie_letters_more(hash) ^ more)) == 0
		       ? COOKIE_TEXT
		       : 0;
}

/*
 * Return nonzero if a KIND_CONNECT or KIND_D0PK may carry a right cookie; then
 * shield_validate() must decide, which checks it again. @what: slot, kind << 16 and
 * family << 24, since a function has five arguments at most. @offsets, @length: as of
 * offsets_packet(). Analysed once by the verifier. Called by connect_refused() alone, on
 * the fast path, which does not ask for Quake III: its connects carry none. It must be 0
 * only where cookie_check() returns 0.
 */
__noinline int connect_has_cookie(struct xdp_md *ctx, __u32 what, __u64 offsets,
				  __u32 length)
{
	enum wire_kind kind = what >> 16 & 0xff;
	struct cookie_peer peer;
	struct packet p;

	offsets_packet(ctx, offsets, length, &p);
	packet_peer(&p, SENDER, what & (SERVICES_MAX - 1), &peer);
	switch (what >> 24) {
	case FAMILY_QUAKEWORLD:
	case FAMILY_QUAKE2:
		return cookie_check_number(ctx, &p, &peer);
	case FAMILY_NETQUAKE:
		return cookie_check_tail(ctx, &p, kind, &peer);
	default:
		return 1;
	}
}

#endif /* COOKIE_CHECK_BPF_H */
