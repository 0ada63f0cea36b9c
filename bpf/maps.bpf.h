/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * maps.bpf.h - all maps of the shield: contents, writer, and what happens
 * when it is full.
 *
 * Nothing here grows with traffic. Unvalidated sources are hashed into fixed arrays, in
 * which there is nothing to fill and nothing to evict. Players are in struct live; when a
 * player's bucket is full, the player is not entered, its datagrams are limited as an
 * unvalidated client's, and other players are not affected.
 *
 * Maps with a row in SHIELD_MAPS (user/shield/shield_internal.h), which must agree with
 * the definition here, are pinned by their names, at most 15 characters, in a directory
 * named by a hash of their shapes (user/shield/shield_abi.c). After a change of a shape
 * or a name the tables begin anew, and an upgrade copies list entries, players and game
 * ports by the names of their members (user/shield/shield_migrate.c). The other maps
 * begin empty at each load. A map by which the programs decide must be copied by
 * tables_copy() (user/shield/shield_fork.c), and by copy_cells() or copy_once()
 * (user/shield/shield_trial.c), or a trial decides otherwise.
 */
#ifndef MAPS_BPF_H
#define MAPS_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "challenge.h"
#include "counters.h"
#include "userinfo.h"

/*
 * State that most packets need, as a global variable: no look-up. Packets on all CPUs and
 * the daemon (by mmap) write it; abi.h names the writer of each member. The loader pins
 * its map (libbpf's .bss) as "live", and an upgrade looks for a variable of this name.
 */
struct live live;

/*
 * Services that listen on one address alone: (address, port, generation) -> slot + 1.
 * Written by the daemon. Cannot be full: the loader refuses more than SERVICES_MAX
 * services.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 2 * SERVICES_MAX);
	__type(key, struct endpoint);
	__type(value, __u32);
} endpoints SEC(".maps");

/*
 * Allow and deny list, longest prefix first. Written by the daemon and by `quakeshield
 * allow` and `deny`. Full: these commands fail with a message; packets are not affected.
 */
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

/*
 * Limits of prefixes and networks by hash: the time at which each is whole again, see
 * limit.h. Written by packets. Never full: prefixes that share a cell share its limit.
 * Those of services and of sources are in live.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1 << PREFIX_BITS);
	__type(key, __u32);
	__type(value, __u64);
} prefixes SEC(".maps");

/*
 * Counters: COUNTER_ROWS for each service, see counters.h. Written by packets, read by
 * the daemon. max_entries is lowered at load to the services of the configuration.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SERVICES_MAX *COUNTER_ROWS);
	__type(key, __u32);
	__type(value, struct counter_row);
} counters SEC(".maps");

/* What has moved out of the map counters, as many entries. Full: cannot be, all numbers
 * have 64 bits. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SERVICES_MAX *COUNTER_ROWS);
	__type(key, __u32);
	__type(value, struct counter_sums);
} spilled SEC(".maps");

/*
 * Sources that were refused or challenged: CLASS_COUNT entries for each service, see
 * refused.h. Written by packets, read by the daemon. max_entries as of counters. Cannot
 * be full.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SERVICES_MAX *CLASS_COUNT);
	__type(key, __u32);
	__type(value, struct refused);
} refused SEC(".maps");

/* Frames that are no datagram to a service, by enum other. Written by packets. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, OTHER_COUNT);
	__type(key, __u32);
	__type(value, struct counter);
} others SEC(".maps");

/*
 * Port of a player by address and qport: (address, qport, slot) -> port, network order.
 * Written when a player's qport is learned; the daemon removes entries of players that
 * left. Full: a player that changes its port has to reconnect.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PLAYERS_MAX);
	__type(key, struct qport_key);
	__type(value, __u16);
} qports SEC(".maps");

/*
 * Debts of each /24 and /56 in bytes, see amplification.bpf.h. Written by packets.
 * Full: if all four cells of a line are in debt, nothing is sent to a fifth prefix of the
 * line.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1 << AMPLIFICATION_BITS);
	__type(key, __u32);
	__type(value, struct amplification_line);
} amplification SEC(".maps");

/*
 * The fate of the first fragment of an outgoing datagram, see fragments.bpf.h. Never
 * full: a newer note takes the cell.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1 << FRAGMENT_BITS);
	__type(key, __u32);
	__type(value, __u64);
} fragments SEC(".maps");

/*
 * Addresses of followed players, from `follow` in the configuration. Full: the
 * configuration is refused.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(max_entries, LIST_MAX);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct cidr);
	__type(value, struct list_entry);
} follow SEC(".maps");

/*
 * Samples of frames for the daemon (struct sample). Full: the sample is lost, and counted
 * in sampled.
 */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, SAMPLES_BYTES);
} samples SEC(".maps");

/* Counts of samples, by sampler. Written by packets, read by the daemon. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SAMPLER_COUNT);
	__type(key, __u32);
	__type(value, struct sampled);
} sampled SEC(".maps");

/* State of each sampler's rate limit, see limit.h. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SAMPLER_COUNT);
	__type(key, __u32);
	__type(value, __u64);
} sample_dues SEC(".maps");

/*
 * A sample while it is made. One per CPU: programs are not preempted by each other here.
 */
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

/*
 * Payload of a challenge or request while it is rewritten, or searched for a cookie; too
 * large for the stack.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct challenge_text);
} texts SEC(".maps");

/* State of reading a Quake III connect, see userinfo.h; too large for the stack. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct userinfo);
} userinfos SEC(".maps");

/*
 * Recent askers and greylisted requests, a table per processor: see recent.h, greylist.h.
 * Cannot be full; the daemon bounds how many sources are marked. max_entries becomes a
 * power of two at load, and recent_mask one less. Mapped only so that its lines are
 * aligned to cache lines. Never pinned, like tail_ctx.
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
 * The context of a frame from shield(), for the program that it calls: pkt_ctx.bpf.h.
 * Never pinned: each load has its own, so no program reads what an older version wrote.
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
 * Programs for shield()'s tail calls, by enum tail_call, which the loader puts there
 * (user/shield/tail_calls.h). A new version that loads over these maps replaces both. The
 * programs depend on each other only by the frame and tail_ctx, and a program that finds
 * no context parses the frame itself. An entry is empty if the kernel refused its
 * program: then shield() decides all by itself (slow_path()).
 */
struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, TAIL_CALLS);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
} tail_calls SEC(".maps");

#endif /* MAPS_BPF_H */
