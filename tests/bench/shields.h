/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * shields.h - shields as the daemon would set them up, for the rows of rows.h.
 */
#ifndef SHIELDS_H
#define SHIELDS_H

#include <errno.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "config/config.h"
#include "entries.h"
#include "rows.h"
#include "shield/shield.h"
#include "shield.skel.h"
#include "shield/tail_calls.h"

/*
 * What the daemon's defaults are, but for proof of address and answers, which have rows
 * of their own; and every datagram of every player without a limit.
 */
static const struct setting {
	int services; /* 0: no shield */
	enum wire_family family; /* if it is not Quake III */
	bool families; /* a service of each, at PORT and the next ports */
	struct sampling sampling;
	struct amplification_limit amplification;
	enum validation validation;
	struct limit share; /* of challenges; 0: unlimited */
	enum cache_mode cache;
	int told; /* octets of an answer that is kept; 0: none is */
	__u64 rate; /* of sources that ask in a second, as the daemon sees it */
} settings[PROGRAMS] = {
	[SHIELD] = { .services = 1 },
	[SHIELD_16] = { .services = 16 },
	[SHIELD_256] = { .services = SERVICES_MAX },
	[SHIELD_QUAKEWORLD] = { .services = 1, .family = FAMILY_QUAKEWORLD },
	[SHIELD_QUAKE2] = { .services = 1, .family = FAMILY_QUAKE2 },
	[SHIELD_FAMILIES] = { .services = FAMILY_COUNT, .families = true },
	[SHIELD_SHIPPED] = { .services = FAMILY_COUNT,
			     .families = true,
			     .validation = VALIDATION_UNDER_LOAD,
			     .share = { 1000000000, 0 },
			     .cache = CACHE_UNDER_LOAD },
	[SHIELD_SHIPPED_4M] = { .services = FAMILY_COUNT,
				.families = true,
				.validation = VALIDATION_UNDER_LOAD,
				.share = { 1000000000, 0 },
				.cache = CACHE_UNDER_LOAD,
				.rate = 4000000 },
	[SHIELD_SAMPLED] = { .services = 1,
			     .sampling = { .every = SAMPLE_EVERY,
					   .any = 1,
					   .limit[SAMPLER_STATISTIC] = { 1000000000 /
										 SAMPLE_RATE,
									 1000000000 } } },
	[SHIELD_FOLLOWED] = { .services = 1,
			      .sampling = { .follow_first = PLAYERS_MAX, .any = 1 } },
	[SHIELD_SPENT] = { .services = 1,
			   .validation = VALIDATION_UNDER_LOAD,
			   .share = { 1000000000, 0 } },
	[SHIELD_ASKS] = { .services = 1, .validation = VALIDATION_ALWAYS },
	[SHIELD_ANSWERS] = { .services = 1,
			     .amplification = { .byte_ns = 1, .window_ns = 1ull << 60 },
			     .validation = VALIDATION_UNDER_LOAD,
			     .cache = CACHE_UNDER_LOAD,
			     .told = 800 },
	/* Room for any number of answers; and for none. */
	[OUT_SHIELD] = { .services = 1,
			 .amplification = { .byte_ns = 1, .window_ns = 1ull << 60 } },
	[OUT_AMPLIFICATION] = { .services = 1,
				.amplification = { .byte_ns = 1, .window_ns = 1 } },
};

/* The player on the service in @slot, by IPv4 or IPv6: where the wrapper leaves the
 * address alone. */
static int enter_player(struct live *live, __u16 slot, bool ipv6, bool followed,
			__u64 now)
{
	return enter_player_at(live, slot, ipv6 ? PLAYER_ADDRESS6 : PLAYER_ADDRESS,
			       followed, now);
}

/*
 * The cached responses of a Quake III service, as the daemon places them, and a player at
 * the address that asks, whom nothing but the amplification limit limits. Anew for each
 * batch, since a response is soon too old.
 */
static void keep_answer(struct live *live, int octets, __u64 now)
{
	static const char *const requests[] = { "\xff\xff\xff\xffgetinfo ",
						"\xff\xff\xff\xffgetstatus ",
						"\xff\xff\xff\xffgetinfo",
						"\xff\xff\xff\xffgetstatus" };

	for (size_t form = 0; form < sizeof(requests) / sizeof(*requests); form++)
		keep_response(&live->cache.entries[form].half[0], requests[form],
			      form < 2, octets, now);
	live->cache.until_ns[0] = ~0ull;
	reputation_note(&live->cache.reputation, 0x0a000001, 0, REPUTATION_PLAYER,
			reputation_minute(now), live->keys);
}

static void add_service(struct live *live, enum wire_family family,
			const struct setting *setting, __u32 slot, __u16 number)
{
	struct service *service = &live->tables[0].services[slot];

	config_service_defaults(family, service);
	service->family = (__u8)family;
	service->active = 1;
	service->validation = (__u8)setting->validation;
	service->cache = (__u8)setting->cache;
	service_finish(service, slot, live->keys);
	live->tables[0].ports[number].any = (__u16)(slot + 1);
}

/* With room for so many services. */
static int candidate_load(int services, struct shield_bpf **ret)
{
	struct shield_bpf *s = shield_bpf__open();

	*ret = s;
	if (!s)
		return -errno;
	bpf_map__set_max_entries(s->maps.counters, (__u32)services * COUNTER_ROWS);
	bpf_map__set_max_entries(s->maps.spilled, (__u32)services * COUNTER_ROWS);
	/* Or nearly all of what a player sends here would be over its budget. */
	*(struct limit *)&s->rodata->player_limit = (struct limit){ 1, 1ull << 60 };
	return shield_bpf__load(s) ? -errno : tail_calls_fill(s);
}

/* Of @live everything else is nought. */
static void candidate_set(struct live *live, const struct setting *setting)
{
	int services = setting->services;

	live->sampling = setting->sampling;
	/* A look at a refused source, one in REFUSED_EVERY, is counted for itself. */
	live->sampling.phase = REFUSED_EVERY;
	live->amplification = setting->amplification;
	for (int slot = 0; slot < SERVICES_MAX; slot++)
		for (int use = 0; use < CHALLENGE_USES; use++) {
			live->validation.share[slot][use] = setting->share;
			limit_normal(&live->validation.share[slot][use]);
		}
	live->keys[0] = 0x9e3779b97f4a7c15;
	live->keys[1] = 0xc2b2ae3d27d4eb4f;
	live->keys[2] = 1;
	for (int i = 0; i < services; i++) {
		enum wire_family family = setting->families ? (enum wire_family)i
					  : setting->family ? setting->family
							    : FAMILY_QUAKE3;
		__u16 port = setting->families ? PORT + i : i ? PORT_FIRST + i - 1 : PORT;

		add_service(live, family, setting, (__u32)i, port);
		live->cache.windows[i].shut = recent_shut(setting->rate, RECENT_RATE);
	}
}

#endif /* SHIELDS_H */
