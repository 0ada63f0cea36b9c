/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * classify_frame.bpf.h - the kind of the payload of a frame (include/classify.h), for the
 * fast path and for target_find(), which must classify alike. The verifier analyses the
 * two functions that read the payload once.
 */
#ifndef CLASSIFY_FRAME_BPF_H
#define CLASSIFY_FRAME_BPF_H

#include "pkt_ctx.bpf.h"

/* The service that a datagram is for, and its kind. */
struct target {
	const struct service *service;
	__u32 slot;
	enum wire_kind kind; /* the fast path does not set it */
};

/*
 * Return true if the payload of a datagram to @s tells its kind: it is whole. A datagram
 * with IP options is malformed where malformed ones are dropped. Elsewhere the rules of
 * its payload must decide: the policy for malformed datagrams would let it join and move
 * without them. Called by fast_path() and target_find(), which must decide alike.
 */
static __always_inline bool has_payload(const struct service *s, enum whole whole)
{
	return whole == WHOLE ||
	       (whole == WITH_OPTIONS &&
		s->policy[CLASS_MALFORMED - CLASS_BUDGETS] != POLICY_DROP);
}

/*
 * Return the kind of a datagram of which no payload is read: has_payload() is false.
 * Called by fast_path() and target_find(), which must decide alike.
 */
static __always_inline enum wire_kind kind_of_shape(enum whole whole)
{
	return whole == FIRST_FRAGMENT ? KIND_FRAGMENT
	       : whole == BAD_LENGTH   ? KIND_BAD_LENGTH
				       : KIND_MALFORMED;
}

/*
 * Return the kind of a payload of @length bytes at @offset of the frame that does not
 * begin with the marker (ff ff ff ff). Analysed once by the verifier, like the next
 * function. Called by classify_text_at(), classify_plain() and kind_at(): both paths must
 * classify alike. Only where has_payload() is true.
 */
__noinline int classify_game_at(struct xdp_md *ctx, __u32 family, __u64 offset,
				__u32 length)
{
	struct cursor c = {
		.pos = (void *)(long)ctx->data,
		.end = (void *)(long)ctx->data_end,
	};

	c.pos += offset & OFFSET_MASK;
	return classify_unmarked(family, c, length & 0xffff);
}

/*
 * Return the kind of a payload of @length bytes at @offset of the frame, where the marker
 * stands. Below 4 bytes, part of what stands there is Ethernet padding, and the payload
 * has no marker. Analysed once by the verifier. Called by classify_plain() and kind_at().
 */
__noinline int classify_text_at(struct xdp_md *ctx, __u32 family, __u64 offset,
				__u32 length)
{
	struct cursor c = {
		.pos = (void *)(long)ctx->data,
		.end = (void *)(long)ctx->data_end,
	};

	length &= 0xffff;
	if (unlikely(length < 5))
		return length == 4 ? KIND_OOB_EMPTY
				   : classify_game_at(ctx, family, offset, length);
	c.pos += offset & OFFSET_MASK;
	return classify_oob(family, DIRECTION_C2S, c, length);
}

/*
 * Classify the payload into *@ret_kind. @text: it begins with the marker. Returns false
 * if no kind results, which cannot be. Called by fast_path() for text that
 * classify_letters() leaves open or that is too short for it, and by
 * classify_no_player(). The result is a pointer's target so that the comparison and the
 * use are of one copy: same_copy().
 */
static __always_inline bool classify_plain(struct xdp_md *ctx, const struct target *f,
					   const struct packet *p,
					   const struct plain *plain, bool text,
					   __u64 *ret_kind)
{
	__u64 offset = plain->payload - (const __u8 *)(long)ctx->data;
	__u32 family = f->service->family;
	__u64 kind = (__u32)(text ? classify_text_at(ctx, family, offset, p->length)
				  : classify_game_at(ctx, family, offset, p->length));

	same_copy(kind);
	*ret_kind = kind;
	return likely(kind < KIND_COUNT);
}

#endif /* CLASSIFY_FRAME_BPF_H */
