// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * bench.c - ns per packet of every path through the shield, as ratios to the floor.
 *
 * All candidates are run by BPF_PROG_TEST_RUN behind the same wrapper (bench.bpf.c), in
 * turns, over several rounds; what is shown is the median and how far rounds differ. A
 * real driver adds its own price for each packet, as the wrapper does here; "net" is what
 * remains without it.
 */
#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bench/bench.skel.h"
#include "config.h"
#include "frame.h"
#include "shield.h"
#include "shield.skel.h"

#define COUNT(a)    (sizeof(a) / sizeof(*(a)))
#define ROUNDS_MAX  101
#define FOUR_M	    0x3fffff /* sources, as a mask */
#define PORT	    27960
#define PORT_FIRST  30000 /* of the further services */
#define PLAYER_PORT 4242

enum program {
	DROP,
	FLOOR,
	BARE,
	SHIELD,
	SHIELD_16,
	SHIELD_256,
	SHIELD_SAMPLED,
	SHIELD_FOLLOWED,
	PROGRAMS
};

#define OOB(word) .payload = "\xff\xff\xff\xff" word, .n = 4 + sizeof(word) - 1
#define NETCHAN                          \
	.payload = "\5\0\0\0\x34\x12"    \
		   "a move of a player", \
	.n = 24

struct row {
	const char *name;
	enum program program;
	__u32 sources; /* mask; 0: one */
	int against; /* the row that it is compared with; -1: none */
	double goal; /* ratio; 0: none */
	struct frame_spec frame;
};

struct result {
	double ns[ROUNDS_MAX];
	double median, low, high;
};

/* By number, so that rows can name each other. */
enum {
	R_DROP,
	R_DROP_4M,
	R_FLOOR,
	R_FLOOR_4M,
	R_FLOOR6,
	R_FLOOR_TAGS,
	R_BARE,
	R_BARE_TCP,
	R_BARE6,
	R_FIRST,
};

/* clang-format off */
static const struct row rows[] = {
	[R_DROP] = { "bare drop", DROP, 0, -1, 0, { OOB("getstatus") } },
	[R_DROP_4M] = { "bare drop, 4M sources",
			DROP,
			FOUR_M,
			-1,
			0,
			{ OOB("getstatus") } },
	[R_FLOOR] = { "floor", FLOOR, 0, -1, 0, { OOB("getstatus") } },
	[R_FLOOR_4M] = { "floor, 4M", FLOOR, FOUR_M, -1, 0, { OOB("getstatus") } },
	[R_FLOOR6] = { "floor, IPv6, 4M",
		       FLOOR,
		       FOUR_M,
		       -1,
		       0,
		       { OOB("getstatus"), .ipv6 = true } },
	[R_FLOOR_TAGS] = { "floor, two tags, 4M",
			   FLOOR,
			   FOUR_M,
			   -1,
			   0,
			   { OOB("getstatus"), .tags = { ETH_P_8021AD, ETH_P_8021Q } } },
	[R_BARE] = { "bare parsing", BARE, FOUR_M, -1, 0, { OOB("x"), .dport = 53 } },
	[R_BARE_TCP] = { "bare parsing, TCP",
			 BARE,
			 FOUR_M,
			 -1,
			 0,
			 { OOB("x"), .protocol = 6 } },
	[R_BARE6] = { "bare parsing, IPv6",
		      BARE,
		      FOUR_M,
		      -1,
		      0,
		      { OOB("x"), .dport = 53, .ipv6 = true } },
	{ "getstatus flood, 1 source", SHIELD, 0, R_FLOOR, 1.25, { OOB("getstatus") } },
	{ "getstatus flood, 4M sources",
	  SHIELD,
	  FOUR_M,
	  R_FLOOR_4M,
	  1.25,
	  { OOB("getstatus") } },
	{ "not ours: UDP", SHIELD, FOUR_M, R_BARE, 1.10, { OOB("x"), .dport = 53 } },
	{ "not ours: UDP, IPv6",
	  SHIELD,
	  FOUR_M,
	  R_BARE6,
	  1.10,
	  { OOB("x"), .dport = 53, .ipv6 = true } },
	{ "not ours: TCP",
	  SHIELD,
	  FOUR_M,
	  R_BARE_TCP,
	  1.10,
	  { OOB("x"), .protocol = 6 } },
	{ "getstatus flood, 16 services",
	  SHIELD_16,
	  FOUR_M,
	  R_FLOOR_4M,
	  1.25,
	  { OOB("getstatus"), .dport = PORT_FIRST + 14 } },
	{ "getstatus flood, 256 services",
	  SHIELD_256,
	  FOUR_M,
	  R_FLOOR_4M,
	  1.25,
	  { OOB("getstatus"), .dport = PORT_FIRST + 254 } },
	{ "getinfo flood", SHIELD, FOUR_M, R_FLOOR_4M, 0, { OOB("getinfo xxx") } },
	{ "getchallenge flood", SHIELD, FOUR_M, R_FLOOR_4M, 0, { OOB("getchallenge") } },
	{ "connect flood",
	  SHIELD,
	  FOUR_M,
	  R_FLOOR_4M,
	  0,
	  { OOB("connect \0\x10"
		"aaaaaaaaaaaaaaaaaaaaaa") } },
	{ "rcon flood", SHIELD, FOUR_M, R_FLOOR_4M, 0, { OOB("rcon secret status") } },
	{ "long word flood",
	  SHIELD,
	  FOUR_M,
	  R_FLOOR_4M,
	  0,
	  { OOB("getBlockedServersResponse") } },
	{ "unknown word flood", SHIELD, FOUR_M, R_FLOOR_4M, 0, { OOB("xyzzy") } },
	{ "odd spelling flood",
	  SHIELD,
	  FOUR_M,
	  R_FLOOR_4M,
	  0,
	  { OOB(" \"GetStatus\"") } },
	{ "replies to the server",
	  SHIELD,
	  FOUR_M,
	  R_FLOOR_4M,
	  0,
	  { OOB("statusResponse\n\\a\\b") } },
	{ "junk", SHIELD, FOUR_M, R_FLOOR_4M, 0, { .payload = "junk", .n = 4 } },
	{ "fragments",
	  SHIELD,
	  FOUR_M,
	  R_FLOOR_4M,
	  0,
	  { OOB("getstatus"), .more = true } },
	{ "strangers' game traffic", SHIELD, FOUR_M, R_FLOOR_4M, 0, { NETCHAN } },
	{ "getstatus flood, IPv6",
	  SHIELD,
	  FOUR_M,
	  R_FLOOR6,
	  0,
	  { OOB("getstatus"), .ipv6 = true } },
	{ "getstatus flood, two tags",
	  SHIELD,
	  FOUR_M,
	  R_FLOOR_TAGS,
	  0,
	  { OOB("getstatus"), .tags = { ETH_P_8021AD, ETH_P_8021Q } } },
	{ "a player's game traffic",
	  SHIELD,
	  0,
	  R_FLOOR,
	  0,
	  { NETCHAN, .sport = PLAYER_PORT } },
	/* Against the rows above without "sampled" and "followed". */
	{ "getstatus flood, sampled",
	  SHIELD_SAMPLED,
	  FOUR_M,
	  R_FLOOR_4M,
	  0,
	  { OOB("getstatus") } },
	{ "a player's, sampled",
	  SHIELD_SAMPLED,
	  0,
	  R_FLOOR,
	  0,
	  { NETCHAN, .sport = PLAYER_PORT } },
	{ "getstatus flood, all followed",
	  SHIELD_FOLLOWED,
	  FOUR_M,
	  R_FLOOR_4M,
	  0,
	  { OOB("getstatus") } },
	{ "a player's, followed",
	  SHIELD_FOLLOWED,
	  0,
	  R_FLOOR,
	  0,
	  { NETCHAN, .sport = PLAYER_PORT } },
};

static struct result results[COUNT(rows)];
static struct bench_bpf *bench;
static struct shield_bpf *shields[PROGRAMS - SHIELD];
static int programs[PROGRAMS];

/* What the daemon's defaults are, and every datagram of every player without a limit. */
static const struct setting {
	int services;
	struct sampling sampling;
} settings[PROGRAMS - SHIELD] = {
	[SHIELD - SHIELD] = { .services = 1 },
	[SHIELD_16 - SHIELD] = { .services = 16 },
	[SHIELD_256 - SHIELD] = { .services = SERVICES_MAX },
	[SHIELD_SAMPLED - SHIELD] = { .services = 1,
				      .sampling = { .every = SAMPLE_EVERY,
						    .any = 1,
						    .limit[SAMPLER_STATISTIC] = {
							    1000000000 / SAMPLE_RATE,
							    1000000000 } } },
	[SHIELD_FOLLOWED - SHIELD] = { .services = 1,
				       .sampling = { .follow_first = PLAYERS_MAX,
						     .any = 1 } },
};

static int die(const char *what, int err)
{
	fprintf(stderr, "bench: %s: %s\n", what, strerror(err < 0 ? -err : err));
	return 1;
}

/* --- the shield, as the daemon would set it up ------------------------------------ */

static int put(struct bpf_map *map, const void *key, const void *value)
{
	return bpf_map_update_elem(bpf_map__fd(map), key, value, BPF_ANY);
}

/*
 * The one who plays: where the flood's wrapper leaves the source address alone. Entered
 * anew for each batch, since the server seems silent meanwhile. Most of what it sends
 * here is over a player's budget; it is looked up, checked and followed all the same.
 */
static int enter_player(struct shield_bpf *s, bool followed)
{
	struct player_key key = { .port = htons(PLAYER_PORT) };
	struct player player = { .since_ns = shield_clock(),
				 .sent_ns = shield_clock(),
				 .heard_sequence = 4,
				 .sent_sequence = 4,
				 .flags = PLAYER_VERIFIED };

	if (followed)
		player.flags |= PLAYER_FOLLOWED;
	key.addr[2] = htonl(0xffff);
	inet_pton(AF_INET, "10.0.0.1", &key.addr[3]);
	return put(s->maps.players, &key, &player);
}

static int add_service(struct shield_bpf *s, struct live *live, __u32 slot, __u16 number)
{
	struct service service = { .active = 1 };
	struct port port = { .any = (__u16)(slot + 1) };
	__u32 key = number;
	int err;

	config_service_defaults(FAMILY_QUAKE3, &service);
	service.active = 1;
	err = put(s->maps.services, &slot, &service);
	live->port_bits[0][number / 64] |= 1ull << number % 64;
	return err ? err : put(s->maps.ports, &key, &port);
}

static int shield_open_with(const struct setting *setting, struct shield_bpf **ret)
{
	int services = setting->services;
	struct live live = { .sampling = setting->sampling,
			     .keys = { 0x9e3779b97f4a7c15, 0xc2b2ae3d27d4eb4f, 1 } };
	struct shield_bpf *s = shield_bpf__open();
	struct timespec tick = { 0 };
	__u32 zero = 0;
	int err = 0;

	*ret = s;
	if (!s)
		return -errno;
	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	s->rodata->tick_ns = (__u64)tick.tv_nsec;
	bpf_map__set_max_entries(s->maps.tallies, (__u32)services);
	bpf_map__set_max_entries(s->maps.tallies_out, (__u32)services);
	err = shield_bpf__load(s);
	for (int i = 0; !err && i < services; i++)
		err = add_service(s, &live, (__u32)i, i ? PORT_FIRST + i - 1 : PORT);
	return err ? err : put(s->maps.live, &zero, &live);
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
	for (size_t i = 0; i < PROGRAMS - SHIELD; i++) {
		err = shield_open_with(&settings[i], &shields[i]);
		if (err)
			return die("loading the shield", err);
		programs[SHIELD + i] = bpf_program__fd(shields[i]->progs.shield);
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

	for (int i = SHIELD_SAMPLED - SHIELD; i <= SHIELD_FOLLOWED - SHIELD; i++) {
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

static void show_samples(void)
{
	__u32 follow = SAMPLER_FOLLOW;
	struct sampled all = { 0 }, each[256];
	int map = bpf_map__fd(shields[SHIELD_FOLLOWED - SHIELD]->maps.sampled);
	int cpus = libbpf_num_possible_cpus();

	if (cpus < 1 || cpus > 256 || bpf_map_lookup_elem(map, &follow, each))
		return;
	for (int i = 0; i < cpus; i++) {
		all.taken += each[i].taken;
		all.lost += each[i].lost;
	}
	printf("followed: %llu datagrams written, %llu more than the ring had room for\n",
	       all.taken, all.lost);
}

/* --- measuring ---------------------------------------------------------------------- */

/* Where the part of the source address stands that the wrapper changes. */
static __u32 source_at(const struct frame_spec *s)
{
	__u32 at = ETH_HLEN;

	for (int i = 0; i < FRAME_TAGS && s->tags[i]; i++)
		at += 4;
	/* IPv6: the second word, so that each is a /64 of its own. */
	return at + (s->ipv6 ? 8 + 4 : 12);
}

/* Of this thread: who else was given the processor does not count. */
static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int measure(const struct row *row, int repeat, double *ret_ns)
{
	__u8 frame[FRAME_MAX];
	size_t n = frame_build(&row->frame, frame);
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = frame, .repeat = repeat,
		    .data_size_in = (__u32)(n < 60 ? 60 : n));
	__u32 zero = 0;
	double start;
	int err;

	if (n < 60)
		memset(frame + n, 0, 60 - n);
	if (row->frame.sport == PLAYER_PORT &&
	    enter_player(shields[row->program - SHIELD],
			 row->program == SHIELD_FOLLOWED))
		return -errno;
	bench->bss->word_at = source_at(&row->frame);
	bench->bss->word_fixed = htonl(row->sources ? 0x0a400000 : 0x0a000001);
	bench->bss->word_mask = row->sources;
	err = bpf_map_update_elem(bpf_map__fd(bench->maps.candidate), &zero,
				  &programs[row->program], BPF_ANY);
	/* The kernel's own figure has no fractions of a nanosecond. */
	start = now_ns();
	if (!err)
		err = bpf_prog_test_run_opts(bpf_program__fd(bench->progs.wrap), &run);
	*ret_ns = (now_ns() - start) / repeat;
	return err ? err : run.retval == XDP_ABORTED ? -EINVAL : 0;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void summarise(struct result *r, int rounds)
{
	qsort(r->ns, (size_t)rounds, sizeof(double), ascending);
	r->median = r->ns[rounds / 2];
	r->low = r->ns[rounds / 4];
	r->high = r->ns[rounds - 1 - rounds / 4];
}

/* The fixed rows, which others are compared with, and those that were asked for. */
static bool wanted(size_t row, const char *only)
{
	return row < R_FIRST || !only || strstr(rows[row].name, only);
}

static int measure_all(int rounds, int repeat, const char *only)
{
	double warm;

	for (int round = -1; round < rounds; round++) {
		for (size_t i = 0; i < COUNT(rows); i++) {
			int err;

			if (!wanted(i, only))
				continue;
			err = measure(&rows[i], repeat,
				      round < 0 ? &warm : &results[i].ns[round]);
			if (err)
				return die(rows[i].name, err);
		}
	}
	for (size_t i = 0; i < COUNT(rows); i++)
		summarise(&results[i], rounds);
	return 0;
}

/* --- telling ------------------------------------------------------------------------ */

static void show(const struct row *row)
{
	const struct result *r = &results[row - rows];
	double empty = results[row->sources ? R_DROP_4M : R_DROP].median;
	double ratio;

	printf("%-32s %7.1f %6.1f..%-6.1f %6.1f", row->name, r->median, r->low,
	       r->high, r->median - empty);
	if (row->against < 0) {
		printf("\n");
		return;
	}
	ratio = r->median / results[row->against].median;
	printf("  %5.2f of %-20s", ratio, rows[row->against].name);
	if (row->goal > 0)
		printf(" goal %.2f %s", row->goal, ratio <= row->goal ? "met" : "MISSED");
	printf("\n");
}

static int usage(void)
{
	fputs("usage: bench [--rounds N] [--repeat N] [--cpu N] [--only TEXT]\n", stderr);
	return 1;
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "rounds", 1, NULL, 'r' },
		{ "repeat", 1, NULL, 'n' },
		{ "cpu", 1, NULL, 'c' },
		{ "only", 1, NULL, 'o' },
		{ NULL, 0, NULL, 0 },
	};
	int rounds = 15, repeat = 300000, cpu = 1, letter;
	const char *only = NULL;
	cpu_set_t set;

	while ((letter = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		if (letter == 'r')
			rounds = atoi(optarg);
		else if (letter == 'n')
			repeat = atoi(optarg);
		else if (letter == 'c')
			cpu = atoi(optarg);
		else if (letter == 'o')
			only = optarg;
		else
			return usage();
	}
	if (rounds < 1 || rounds > ROUNDS_MAX || repeat < 1 || optind != argc)
		return usage();
	/* The reader of samples is on whatever processor is left. */
	if (open_all() || start_readers())
		return 1;
	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	if (measure_all(rounds, repeat, only))
		return 1;
	printf("%-32s %7s %14s %6s  %s\n", "ns per packet", "median", "quartiles", "net",
	       "ratio");
	for (size_t i = 0; i < COUNT(rows); i++)
		if (wanted(i, only))
			show(&rows[i]);
	if (!only)
		show_samples();
	return 0;
}
