/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sample.bpf.h - copy frames to the daemon: one in N of each kind and reason
 * (SAMPLER_STATISTIC), and all of followed players (SAMPLER_FOLLOW).
 *
 * Both samplers have a rate limit here, whatever the daemon can read. A frame for which
 * the ring buffer has no room is counted as lost. While nothing is sampled (struct
 * sampling.any is 0) this costs a comparison.
 *
 * Samples change no decision: a frame is sampled after it was decided and counted.
 */
#ifndef SAMPLE_BPF_H
#define SAMPLE_BPF_H

#include "ratelimit.bpf.h"

/*
 * The head of a sample in one integer, for functions that take five arguments at most.
 * sample_begin(), sample_maybe() and sample_out_maybe() take it apart.
 */
#define SAMPLE_WHAT(slot, kind, reason, direction, sampler)                  \
	((__u64)(slot) << 48 | (__u64)(kind) << 32 | (__u64)(reason) << 16 | \
	 (__u64)(direction) << 8 | (sampler))

/*
 * Return this CPU's sample buffer with its head filled in, or NULL: the sampler's rate is
 * exceeded. @what: SAMPLE_WHAT(); @bytes: of the frame. *@ret: the sampler's counters, or
 * NULL. Called by sample_in() and sample_out(). The buffer is this CPU's: fill it and
 * send it before the next call.
 */
static __always_inline struct sample_buffer *sample_begin(__u64 what, __u64 bytes,
							  struct sampled **ret)
{
	__u32 sampler = what & 0xff, zero = 0;
	struct sample_buffer *b;
	struct limit limit;
	struct live *l = &live;
	__u64 *due;
	__u32 keep;

	due = bpf_map_lookup_elem(&sample_dues, &sampler);
	b = bpf_map_lookup_elem(&scratch, &zero);
	*ret = bpf_map_lookup_elem(&sampled, &sampler);
	if (!due || !b || !*ret)
		return NULL;
	limit = l->sampling.limit[sampler == SAMPLER_FOLLOW ? SAMPLER_FOLLOW
							    : SAMPLER_STATISTIC];
	if (!limit_take(&limit, due, clock_now(l))) {
		(*ret)->limited++;
		return NULL;
	}

	keep = sampler == SAMPLER_FOLLOW ? SAMPLE_FOLLOW_BYTES : SAMPLE_STATISTIC_BYTES;
	b->head.ktime_ns = bpf_ktime_get_ns();
	b->head.length = bytes;
	b->head.kept = bytes < keep ? bytes : keep;
	b->head.slot = what >> 48;
	b->head.kind = what >> 32;
	b->head.reason = what >> 16;
	b->head.direction = what >> 8;
	b->head.sampler = sampler;
	b->head.pad = 0;
	return b;
}

/*
 * Send the sample in @b with @kept bytes of the frame, and count what became of it.
 * Called by sample_in() and sample_out(). @kept is of sample_kept(), which bounds it for
 * the verifier.
 */
static __always_inline void sample_send(struct sample_buffer *b, __u32 kept,
					struct sampled *s)
{
	if (bpf_ringbuf_output(&samples, b, sizeof(b->head) + kept, 0))
		s->lost++;
	else
		s->taken++;
}

/*
 * Return how many bytes of the frame to copy, 1 to SAMPLE_FOLLOW_BYTES, or 0. The lower
 * bound comes from an addition: verifiers before Linux 6.8 learn nothing from a
 * comparison with 0. Called by sample_in() and sample_out() right before the helper that
 * copies.
 */
static __always_inline __u32 sample_kept(const struct sample_buffer *b)
{
	__u32 less = b->head.kept - 1;

	same_copy(less);
	return less < SAMPLE_FOLLOW_BYTES ? less + 1 : 0;
}

/*
 * Sample a frame of @bytes toward the server, or one that the shield sends. @what:
 * SAMPLE_WHAT() with its sampler. Analysed once by the verifier. Called by
 * sample_maybe(), drop_in(), count_sent() and count_challenged(), after the frame was
 * counted, if a sampler takes it. It copies the frame as it is at the call, which must
 * have @bytes or more: otherwise there is no sample.
 */
__noinline int sample_in(struct xdp_md *ctx, __u64 what, __u64 bytes)
{
	struct sampled *s = NULL;
	struct sample_buffer *b = sample_begin(what, bytes, &s);
	__u32 kept;

	if (!b || !s)
		return 0;
	kept = sample_kept(b);
	if (!kept || bpf_xdp_load_bytes(ctx, 0, b->frame, kept))
		return 0;
	sample_send(b, kept, s);
	return 0;
}

/*
 * Sample a frame of @bytes from the server. @what: SAMPLE_WHAT(). Analysed once by the
 * verifier. Called by sample_out_maybe() alone, after all changes of the frame.
 */
__noinline int sample_out(struct __sk_buff *ctx, __u64 what, __u64 bytes)
{
	struct sampled *s = NULL;
	struct sample_buffer *b = sample_begin(what, bytes, &s);
	__u32 kept;

	if (!b || !s)
		return 0;
	kept = sample_kept(b);
	if (!kept || bpf_skb_load_bytes(ctx, 0, b->frame, kept))
		return 0;
	sample_send(b, kept, s);
	return 0;
}

/*
 * Return true if the statistic sampler takes the datagram before which @counted of its
 * kind and reason came on this CPU: count(). Called by sample_maybe(),
 * sample_out_maybe(), drop_in(), count_sent() and count_challenged(), if struct
 * sampling.any is set. struct sampling.every is a power of two.
 */
static __always_inline bool sample_statistic(const struct live *l, __u64 counted)
{
	return l->sampling.every && !(counted & (l->sampling.every - 1));
}

/*
 * Return true if players may be followed. Called by sample_maybe() and
 * sample_out_maybe(). It must be true wherever follow_this() can be.
 */
static __always_inline bool follows(const struct live *l)
{
	return l->sampling.follow_first | l->sampling.follow_every |
	       l->sampling.follow_listed;
}

/*
 * Return true if the new player @id is to be followed: its address is on the follow list,
 * at random, or it is one of the first. Called by player_enter() alone, which on true
 * sets PLAYER_FOLLOWED and counts struct live.followed, which shield_maintain() counts
 * anew by that flag.
 */
static __always_inline bool follow_this(struct live *l, const struct player_id *id)
{
	struct cidr from = { .length = 128 };

	__builtin_memcpy(from.addr, id->word, sizeof(from.addr));
	if (l->sampling.follow_listed && bpf_map_lookup_elem(&follow, &from))
		return true;
	if (l->sampling.follow_every &&
	    !(bpf_get_prandom_u32() & (l->sampling.follow_every - 1)))
		return true;
	return l->followed < l->sampling.follow_first;
}

#endif /* SAMPLE_BPF_H */
