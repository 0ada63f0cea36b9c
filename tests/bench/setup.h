/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * setup.h - the candidates: shields as the daemon would set them up, and what they are
 * measured against.
 */
#ifndef SETUP_H
#define SETUP_H

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bench/bench.skel.h"
#include "config/config.h"
#include "players.h"
#include "rows.h"
#include "shield/shield.h"
#include "shield.skel.h"

static struct bench_bpf *bench;
static struct shield_bpf *shields[PROGRAMS]; /* NULL: the candidate is none */
static int programs[PROGRAMS];

/*
 * What the daemon's defaults are, but for proof of address, which has rows of its own;
 * and every datagram of every player without a limit.
 */
static const struct setting {
	int services; /* 0: no shield */
	enum wire_family family; /* if it is not Quake III */
	struct sampling sampling;
	struct ledger ledger;
	enum proof proof;
	struct limit pace; /* as PROOF_RATE; 0: unlimited */
} settings[PROGRAMS] = {
	[SHIELD] = { .services = 1 },
	[SHIELD_16] = { .services = 16 },
	[SHIELD_256] = { .services = SERVICES_MAX },
	[SHIELD_QUAKEWORLD] = { .services = 1, .family = FAMILY_QUAKEWORLD },
	[SHIELD_QUAKE2] = { .services = 1, .family = FAMILY_QUAKE2 },
	[SHIELD_FAMILIES] = { .services = FAMILY_COUNT },
	[SHIELD_SAMPLED] = { .services = 1,
			     .sampling = { .every = SAMPLE_EVERY,
					   .any = 1,
					   .limit[SAMPLER_STATISTIC] = { 1000000000 /
										 SAMPLE_RATE,
									 1000000000 } } },
	[SHIELD_FOLLOWED] = { .services = 1,
			      .sampling = { .follow_first = PLAYERS_MAX, .any = 1 } },
	[SHIELD_SPENT] = { .services = 1,
			   .proof = PROOF_PRESSURE,
			   .pace = { 1000000000, 0 } },
	[SHIELD_ASKS] = { .services = 1, .proof = PROOF_ALWAYS },
	/* Room for any number of answers; and for none. */
	[OUT_SHIELD] = { .services = 1,
			 .ledger = { .byte_ns = 1, .window_ns = 1ull << 60 } },
	[OUT_LEDGER] = { .services = 1, .ledger = { .byte_ns = 1, .window_ns = 1 } },
};

static int die(const char *what, int err)
{
	fprintf(stderr, "bench: %s: %s\n", what, strerror(err < 0 ? -err : err));
	return 1;
}

/*
 * The one who plays, by IPv4 or IPv6: where the wrapper leaves the address alone. Entered
 * anew for each batch, since the server seems silent meanwhile, as one whose qport is
 * known.
 */
static int enter_player(struct shield_bpf *s, const char *address, bool followed)
{
	struct live *live = &s->bss->live;
	struct player_key key = { .port = htons(PLAYER_PORT) };
	__u64 now = shield_clock();
	struct player player = { .since_ns = now,
				 .sent_ns = now,
				 .heard_ns = now,
				 .heard_sequence = PLAYER_SEQUENCE_FIRST,
				 .sent_sequence = PLAYER_ACKED,
				 .qport = PLAYER_QPORT_KNOWN,
				 .qport_mask = 0xffff,
				 .flags = PLAYER_VERIFIED | PLAYER_QPORT };
	struct player_id id;

	if (followed)
		player.flags |= PLAYER_FOLLOWED;
	if (inet_pton(AF_INET6, address, key.addr) != 1)
		return -EINVAL;
	id = player_id(&key);
	return players_enter(&live->players, &id, live->keys, &player, now) == PLAYERS_MAX
		       ? -ENOSPC
		       : 0;
}

static void add_service(struct live *live, enum wire_family family, enum proof proof,
			__u32 slot, __u16 number)
{
	struct service *service = &live->tables[0].services[slot];

	config_service_defaults(family, service);
	service->family = (__u8)family;
	service->active = 1;
	service->proof = (__u8)proof;
	service_finish(service, slot, live->keys);
	live->tables[0].ports[number].any = (__u16)(slot + 1);
}

static int shield_open_with(const struct setting *setting, struct shield_bpf **ret)
{
	int services = setting->services;
	struct shield_bpf *s = shield_bpf__open();
	struct timespec tick = { 0 };
	struct live *live;
	int err;

	*ret = s;
	if (!s)
		return -errno;
	bpf_map__set_max_entries(s->maps.tallies, (__u32)services * TALLY_ROWS);
	/* Or nearly all of what a player sends here would be over its budget. */
	*(struct limit *)&s->rodata->player_limit = (struct limit){ 1, 1ull << 60 };
	err = shield_bpf__load(s);
	if (err)
		return err;
	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	live = &s->bss->live;
	live->tick_ns = (__u64)tick.tv_nsec;
	live->sampling = setting->sampling;
	live->ledger = setting->ledger;
	for (int i = 0; i < PACE_COUNT; i++) {
		live->proof.pace[i].limit = setting->pace;
		limit_normal(&live->proof.pace[i].limit);
	}
	live->keys[0] = 0x9e3779b97f4a7c15;
	live->keys[1] = 0xc2b2ae3d27d4eb4f;
	live->keys[2] = 1;
	for (int i = 0; setting == &settings[SHIELD_FAMILIES] && i < services; i++)
		add_service(live, (enum wire_family)i, setting->proof, (__u32)i,
			    (__u16)(PORT + i));
	for (int i = 0; setting != &settings[SHIELD_FAMILIES] && i < services; i++)
		add_service(live, setting->family ? setting->family : FAMILY_QUAKE3,
			    setting->proof, (__u32)i, i ? PORT_FIRST + i - 1 : PORT);
	return 0;
}

static int open_all(void)
{
	int err;

	bench = bench_bpf__open_and_load();
	if (!bench)
		return die("loading the wrapper", errno);
	programs[DROP] = bpf_program__fd(bench->progs.drop);
	programs[FLOOR] = bpf_program__fd(bench->progs.base);
	programs[BARE] = bpf_program__fd(bench->progs.bare);
	programs[OUT_PASS] = bpf_program__fd(bench->progs.pass_out);
	programs[OUT_BARE] = bpf_program__fd(bench->progs.bare_out);
	for (size_t i = 0; i < PROGRAMS; i++) {
		if (!settings[i].services)
			continue;
		err = shield_open_with(&settings[i], &shields[i]);
		if (err)
			return die("loading the shield", err);
		programs[i] = bpf_program__fd(i < OUT ? shields[i]->progs.shield
						      : shields[i]->progs.shield_out);
	}
	return 0;
}

/* Somebody has to read what is sampled, or the ring is full and writing it costs less. */
static int read_sample(void *context, void *data, size_t size)
{
	(void)context;
	(void)data;
	(void)size;
	return 0;
}

static void *read_samples(void *ring)
{
	for (;;)
		ring_buffer__poll(ring, 100);
	return NULL;
}

static int start_readers(void)
{
	struct ring_buffer *ring = NULL;
	pthread_t thread;

	for (int i = SHIELD_SAMPLED; i <= SHIELD_FOLLOWED; i++) {
		int map = bpf_map__fd(shields[i]->maps.samples);

		if (!ring)
			ring = ring_buffer__new(map, read_sample, NULL, NULL);
		else if (ring_buffer__add(ring, map, read_sample, NULL))
			return die("reading samples", errno);
		if (!ring)
			return die("reading samples", errno);
	}
	return pthread_create(&thread, NULL, read_samples, ring);
}

#endif /* SETUP_H */
