/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * kern_ways.h - what kern_ways says: datagrams as servers, players and others send them,
 * drawn from one sequence of random numbers.
 */
#ifndef KERN_WAYS_H
#define KERN_WAYS_H

#include <sched.h>
#include <time.h>
#include <unistd.h>

#include "kern/kern_support.h"
#include "players.h"

#define LONGEST 1480 /* of payloads */
#define OOB	"\xff\xff\xff\xff"

static unsigned int random_state;

static unsigned int below(unsigned int n)
{
	return (unsigned int)rand_r(&random_state) % n;
}

/* Where a client is. */
struct peer {
	const char *address;
	bool ipv6;
	__u16 port;
};

static inline struct player_cell *cell_of(struct kern *k, const struct peer *peer)
{
	struct player_key key = { .port = htons(peer->port) };
	struct player_id id;
	__u32 at;

	kern_address(peer->address, key.addr);
	id = player_id(&key);
	at = players_find(&k->live->players, &id, k->live->keys);
	return at == PLAYERS_MAX ? NULL : &k->live->players.cells[at];
}

/* All that were to be shown to the daemon, whether the ring had room or not. */
static inline __u64 sampled_of(struct kern *k, __u32 sampler)
{
	struct sampled each[256];
	__u64 sum = 0;

	assert_in_range(k->cpus, 1, 256);
	assert_int_equal(bpf_map_lookup_elem(bpf_map__fd(k->skel->maps.sampled), &sampler,
					     each),
			 0);
	for (int i = 0; i < k->cpus; i++)
		sum += each[i].taken + each[i].lost + each[i].limited;
	return sum;
}

static void put32(__u8 *at, __u32 value)
{
	memcpy(at, &value, sizeof(value));
}

static void put16(__u8 *at, __u16 value)
{
	memcpy(at, &value, sizeof(value));
}

static size_t from_server(enum wire_family family, const struct player *was, __u8 *to)
{
	__u32 sequence = (was ? was->sent_sequence : 100) + below(3);
	size_t n = 20 + below(40);

	memset(to, 0, n);
	if (family == FAMILY_QUAKE3 && !below(20)) {
		memcpy(to,
		       "\xff\xff\xff\xff"
		       "connectResponse 77777\n",
		       26);
		return 26;
	}
	/* After a connect whose qport was noted. */
	if (family == FAMILY_QUAKE2 && !below(20))
		return strlen(strcpy((char *)to, OOB "client_connect"));
	if (family == FAMILY_QUAKEWORLD && !below(20))
		return strlen(strcpy((char *)to, OOB "j"));
	if (family != FAMILY_NETQUAKE) {
		put32(to, sequence);
		return n;
	}
	put32(to, htonl((below(4) ? 0x00100000u : 0x00090000u) | (__u32)n));
	put32(to + 4, htonl(sequence));
	to[8] = 7;
	put32(to + 9, 0x42000000 + below(4));
	return n;
}

static __u32 near(__u32 sequence)
{
	static const int steps[] = { 2, 0,  -3, -63, -64, -65,	7,    8,
				     9, 10, 15, 16,  17,  4000, -5000 };

	if (below(8))
		return sequence + 1;
	if (!below(8))
		return (__u32)below(1u << 31) * 3;
	return sequence + (__u32)steps[below(COUNT(steps))];
}

static __u16 qport(void)
{
	return below(16) ? 0x1234 : (__u16)below(3);
}

/* @sums: a client of Quake III's protocol 71, mostly. */
static size_t game_to(enum wire_family family, const struct player *is, bool sums,
		      __u8 *to)
{
	__u32 sequence = near(is->heard_sequence), plain = sequence & 0x7fffffff;

	to[0] = 0;
	switch (family) {
	case FAMILY_QUAKE3:
		put32(to, sequence | (below(4) ? 0 : 0x80000000));
		put16(to + 4, qport());
		put32(to + 6, sums == !!below(32) ? is->challenge ^ plain * is->challenge
						  : 0xabcdef);
		break;
	case FAMILY_QUAKEWORLD:
	case FAMILY_QUAKE2:
		put32(to, sequence | (below(2) ? 0 : 0x80000000));
		put32(to + 4, is->sent_sequence - (below(32) ? below(4) : below(5000)));
		put16(to + 8, qport());
		break;
	default:
		put32(to + 4, htonl(sequence));
		to[8] = 3;
		put32(to + 9, 0x42000000 + below(4));
		put32(to + 13, 0x42000000 + below(4));
	}
	return 17 + below(30);
}

/* What FTE's and mvdsv's ports take, too, and sequences that look like it. */
static size_t alike(__u8 *to)
{
	static const __u8 dtls[] = { 0x17, 0xfe, 0xfd, 0, 1, 0, 0, 0, 0, 0, 9, 0, 4 };
	static const __u8 netquake[] = { 0, 1, 0, 17, 0, 0, 0, 1 };
	static const char connects[] = "\x80\0\0\x0c\1QUAKE\0\3";
	static const char *const texts[] = { "a\n17\n4\n23456789", "stdlog 1\n3456789" };
	const char *text = texts[below(COUNT(texts))];

	switch (below(4)) {
	case 0:
		memcpy(to, dtls, sizeof(dtls));
		break;
	case 2:
		memcpy(to, connects, sizeof(connects) - 1);
		return sizeof(connects) - 1;
	case 1:
		memcpy(to, netquake, sizeof(netquake));
		break;
	default:
		memcpy(to, text, strlen(text));
	}
	return 17;
}

static const char *const words[] = {
	"getstatus",
	"getinfo xxx",
	"getchallenge",
	"status",
	"info 34",
	"info 35",
	"2aaaaaaai", /* the return of an echo */
	"connect \"\\qport\\4660\"",
	"GetStatus",
	"getstatusx",
	"rcon a b",
	"x",
	"",
	"getBlockedServersResponse 1",
	"getserversExtResponse",
	"statusResponse\n",
	" \"getstatus\"",
	"TSource Engine Query",
	"connect\\a\\b",
	"n\\chunk1",
	"\x14",
	"connect 34 4660 7 x",
	"connect 36 52 7 x",
	"connect 28 4660 7 x",
	"connect 34 4660 1234567890 \"",
	"connect 28 4660 1987654321 \"",
	"connect\\protocol\\darkplaces 3\\challenge\\abcdefghij",
	"d0pk\\cnt\\0\\challenge\\abcdefghij",
};

static size_t from_peer(enum wire_family family, const struct player *is, bool sums,
			__u8 *to)
{
	size_t n;

	memset(to, below(256), LONGEST);
	switch (below(12)) {
	case 0:
		put32(to, 0xffffffff);
		n = strlen(strcpy((char *)to + 4, words[below(COUNT(words))]));
		return 4 + n;
	case 1: /* anything, of any length */
		for (n = 0; n < 24; n++)
			to[n] = (__u8)(below(3) ? below(256) : 0);
		return below(60);
	case 2:
		return alike(to);
	default:
		n = game_to(family, is, sums, to);
		if (!below(40))
			n = 1398 + below(LONGEST - 1398);
	}
	if (family == FAMILY_NETQUAKE)
		put32(to, htonl((below(5)   ? 0x00100000u
				 : below(2) ? 0x00020000u
					    : 0x00010000u) |
				(__u32)(below(20) ? n : n + 1)));
	return n;
}

/* Open @count shields, on this processor alone: one in so many is sampled on each. */
static inline void ways_open(struct kern *shields, int count)
{
	cpu_set_t here;

	CPU_ZERO(&here);
	CPU_SET((size_t)sched_getcpu(), &here);
	sched_setaffinity(0, sizeof(here), &here);
	for (int i = 0; i < count; i++)
		if (kern_open(&shields[i])) {
			print_message("not allowed to load BPF programs: skipped\n");
			skip();
		}
}

/* Return the number that SEED= gives, or another each time, and print it. */
static inline unsigned int ways_seed(void)
{
	const char *given = getenv("SEED");
	unsigned int seed = (unsigned int)(time(NULL) * 1000003 + getpid());

	seed = given ? (unsigned int)strtoul(given, NULL, 0) : seed;
	print_message("SEED=%u\n", seed);
	return seed;
}

#endif /* KERN_WAYS_H */
