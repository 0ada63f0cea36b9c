/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * count.h - how many steps a row takes, once its budgets are spent.
 */
#ifndef COUNT_H
#define COUNT_H

#include "shields.h"
#include "steps.h"

#define FRAME_LEAST 60 /* octets, as on a wire */
#define SPENDING    4096 /* frames, after which every budget is spent */
#define COUNTED	    31 /* frames, of which the one in the middle counts */

/* Where the part of the peer's address stands that differs from peer to peer. */
static __u32 peer_at(const struct frame_spec *s, bool out)
{
	__u32 at = ETH_HLEN;

	if (out)
		at += s->ipv6 ? 16 : 4;

	for (int i = 0; i < FRAME_TAGS && s->tags[i]; i++)
		at += 4;
	/* IPv6: the second word, so that each is a /64 of its own. */
	return at + (s->ipv6 ? 8 + 4 : 12);
}

static bool is_players(const struct row *row)
{
	const struct frame_spec *s = &row->frame;

	return s->sport == PLAYER_PORT || s->dport == PLAYER_PORT;
}

/* Where the sequence stands in what a player sends. */
static __u32 sequence_at(const struct frame_spec *s)
{
	return s->ipv6 ? PAYLOAD6_AT : PAYLOAD_AT;
}

/* Into @ret, of FRAME_MAX octets. Returns how long it is. */
static __u32 frame_of(const struct frame_spec *s, __u8 *ret)
{
	size_t n = frame_build(s, ret);

	if (n >= FRAME_LEAST)
		return (__u32)n;
	memset(ret + n, 0, FRAME_LEAST - n);
	return FRAME_LEAST;
}

/* What has to be there before a batch of that row, @now. */
static int prepare(struct live *live, const struct row *row, __u64 now)
{
	if (settings[row->program].told)
		keep_answer(live, settings[row->program].told, now);
	if (!is_players(row))
		return 0;
	return enter_player(live, 0, row->frame.ipv6, row->program == SHIELD_FOLLOWED,
			    now);
}

/* Through the program at the interface, or that at egress. */
static int steps_open_shield(struct steps *s, const struct shield_bpf *shield, bool out)
{
	int err = steps_open(s, shield->obj,
			     out ? shield->progs.shield_out : shield->progs.shield);

	if (err || out)
		return err;
	steps_jump_to(s, TAIL_CALL_VALIDATE, shield->progs.shield_validate);
	steps_jump_to(s, TAIL_CALL_CACHE, shield->progs.shield_cache);
	return 0;
}

static int ascending_long(const void *a, const void *b)
{
	long x = *(const long *)a, y = *(const long *)b;

	return x < y ? -1 : x > y;
}

/* --- frames of a row ---------------------------------------------------------------- */

struct batch {
	const struct row *row;
	__u8 frame[FRAME_MAX];
	__u32 n;
	__u32 random, sequence;
};

static void batch_begin(struct batch *b, const struct row *row)
{
	b->row = row;
	b->random = 1;
	b->sequence = PLAYER_SEQUENCE_FIRST;
	b->n = frame_of(&row->frame, b->frame);
}

/* Of the next peer, as wrap() in bench.bpf.c writes them. */
static void batch_next(struct batch *b)
{
	const struct row *row = b->row;
	__u32 word;

	b->random = b->random * 1664525 + 1013904223;
	word = htonl(row->sources ? 0x0a400000 : 0x0a000001) |
	       htonl(b->random >> 8 & row->sources);
	memcpy(b->frame + peer_at(&row->frame, row->program >= OUT), &word, sizeof(word));
	b->sequence++;
	if (is_players(row))
		memcpy(b->frame + sequence_at(&row->frame), &b->sequence,
		       sizeof(b->sequence));
}

/* @live: NULL: the program is no shield. What comes next of @b is the caller's. */
static int count_steps(struct steps *s, struct live *live, struct batch *b, long *ret)
{
	long counts[COUNTED];
	int action;

	if (live && prepare(live, b->row, s->now_ns))
		return -ENOSPC;
	for (int i = -SPENDING; i < COUNTED; i++) {
		long *count = &counts[i < 0 ? 0 : i];

		batch_next(b);
		*count = steps_run(s, b->frame, b->n, &action);
		if (*count < 0)
			return -EINVAL;
	}
	qsort(counts, COUNTED, sizeof(*counts), ascending_long);
	*ret = counts[COUNTED / 2];
	return 0;
}

#endif /* COUNT_H */
