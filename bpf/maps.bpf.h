/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * maps.bpf.h - all state of the shield, on one screen.
 *
 * Nothing here grows with traffic: strangers are hashed into fixed arrays, so there is
 * nothing to fill and nothing to evict. Players are in struct live, too; when their
 * bucket there is full, a newcomer is not entered, so its datagrams are judged as a
 * stranger's, and those inside are not affected. Names are at most 15 characters.
 */
#ifndef MAPS_BPF_H
#define MAPS_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "challenge.h"
#include "counters.h"
#include "userinfo.h"

/*
 * What most packets need: a global variable, so that nothing has to be looked up. The
 * loader pins the map that it is in (libbpf's .bss) as "live".
 */
struct live live;

/* Full: cannot be, the loader refuses more than SERVICES_MAX services. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 2 * SERVICES_MAX);
	__type(key, struct endpoint);
	__type(value, __u32);
} endpoints SEC(".maps");

/* Full: `allow add` and `deny add` fail with a message; packets are not affected. */
struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(max_entries, LIST_MAX);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct cidr);
	__type(value, struct list_entry);
} allow SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(max_entries, LIST_MAX);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct cidr);
	__type(value, struct list_entry);
} deny SEC(".maps");

/* Budgets: one u64 each, see limit.h. Those of services and of sources are in live. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1 << PREFIX_BITS);
	__type(key, __u32);
	__type(value, __u64);
} prefixes SEC(".maps");

/* Counters: COUNTER_ROWS for each service. max_entries is lowered at load to what the
 * configuration needs. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SERVICES_MAX *COUNTER_ROWS);
	__type(key, __u32);
	__type(value, struct counter_row);
} counters SEC(".maps");

/*
 * Sources of what was refused or challenged: CLASS_COUNT for each service, max_entries as
 * that of counters. Full: cannot be, see refused.h.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SERVICES_MAX *CLASS_COUNT);
	__type(key, __u32);
	__type(value, struct refused);
} refused SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, OTHER_COUNT);
	__type(key, __u32);
	__type(value, struct counter);
} others SEC(".maps");

/* qport -> port. Full: a port change costs that player a reconnect. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PLAYERS_MAX);
	__type(key, struct qport_key);
	__type(value, __u16);
} qports SEC(".maps");

/* Bytes owed by each /24 and /56. Full: if all of a line owe, nothing is sent to another
 * prefix of that line. See amplification.bpf.h. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1 << AMPLIFICATION_BITS);
	__type(key, __u32);
	__type(value, struct amplification_line);
} amplification SEC(".maps");

/* Outgoing IP fragments: what became of the first one. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1 << FRAGMENT_BITS);
	__type(key, __u32);
	__type(value, __u64);
} fragments SEC(".maps");

/* Players to follow by address. Full: `follow` in the configuration is refused. */
struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(max_entries, LIST_MAX);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct cidr);
	__type(value, struct list_entry);
} follow SEC(".maps");

/* To the daemon. Full: the sample is lost, and counted. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, SAMPLES_BYTES);
} samples SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SAMPLER_COUNT);
	__type(key, __u32);
	__type(value, struct sampled);
} sampled SEC(".maps");

/* The samplers' own rate limits, see limit.h. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SAMPLER_COUNT);
	__type(key, __u32);
	__type(value, __u64);
} sample_dues SEC(".maps");

/* Where a sample is put together. */
struct sample_buffer {
	struct sample head;
	__u8 frame[SAMPLE_FOLLOW_BYTES];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct sample_buffer);
} scratch SEC(".maps");

/* Where texts are made: there is no room for them on a stack that calls share. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct challenge_text);
} texts SEC(".maps");

/* Where what Quake III's clients say of themselves is read. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct userinfo);
} userinfos SEC(".maps");

/*
 * Recent askers, see recent.h: a table for each processor. Full: cannot be, but the more
 * sources are marked the more look as if they had asked before; the daemon bounds that.
 * max_entries becomes a power of two at load, and recent_mask one less. Mapped only so
 * that lines of the table are lines of the cache. Never pinned, as the next.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct recent);
} recent SEC(".maps");

const volatile __u32 recent_mask = 0;

/*
 * What shield() tells the program that it jumps to, see pkt_ctx.bpf.h. Never pinned: each
 * loading has its own, so that none meets what an older one has left.
 */
struct tail_ctx {
	__u64 target; /* 0: nothing */
	__u64 offsets;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct tail_ctx);
} tail_ctx SEC(".maps");

/*
 * Where shield() jumps to. Whoever loads the programs over these maps exchanges what is
 * in it: they need nothing of each other but the frame, though one that was told what
 * that is need not look. Empty: shield() says it all itself.
 */
int shield_validate(struct xdp_md *ctx);
int shield_cache(struct xdp_md *ctx);

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, TAIL_CALLS);
	__uint(key_size, sizeof(__u32));
	__array(values, int(struct xdp_md *));
} tail_calls SEC(".maps") = {
	.values = { [TAIL_CALL_VALIDATE] = (void *)&shield_validate,
		    [TAIL_CALL_CACHE] = (void *)&shield_cache },
};

#endif /* MAPS_BPF_H */
