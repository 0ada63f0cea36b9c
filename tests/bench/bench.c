// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * bench.c - ns per packet of every path through the shield, as ratios to the floor.
 *
 * All candidates are run by BPF_PROG_TEST_RUN behind the same wrapper (bench.bpf.c), in
 * turns, over several rounds; what is shown is the median and how far rounds differ. A
 * real driver adds its own price for each packet, as the wrapper does here; "net" is what
 * remains without it. "out" is the egress program, beside a TC program that does nothing.
 */
#include <errno.h>
#include <getopt.h>
#include <linux/pkt_cls.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "setup.h"

#define ROUNDS_MAX 101

struct result {
	double ns[ROUNDS_MAX];
	double median, low, high;
};

static struct result results[COUNT(rows)];

/* --- measuring ---------------------------------------------------------------------- */

/* Where the part of the peer's address stands that the wrapper changes. */
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

/* Of this thread: who else was given the processor does not count. */
static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static bool is_players(const struct row *row)
{
	const struct frame_spec *s = &row->frame;

	return s->sport == PLAYER_PORT || s->dport == PLAYER_PORT;
}

static int measure(const struct row *row, int repeat, double *ret_ns)
{
	__u8 frame[FRAME_MAX];
	size_t n = frame_build(&row->frame, frame);
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = frame, .repeat = repeat,
		    .data_size_in = (__u32)(n < 60 ? 60 : n));
	bool out = row->program >= OUT;
	int candidates =
		bpf_map__fd(out ? bench->maps.candidate_out : bench->maps.candidate);
	int wrapper = bpf_program__fd(out ? bench->progs.wrap_out : bench->progs.wrap);
	__u32 zero = 0;
	double start;
	int err;

	if (n < 60)
		memset(frame + n, 0, 60 - n);
	if (is_players(row) &&
	    enter_player(shields[row->program],
			 row->frame.ipv6 ? PLAYER_ADDRESS6 : PLAYER_ADDRESS,
			 row->program == SHIELD_FOLLOWED))
		return -ENOSPC;
	bench->bss->word_at = peer_at(&row->frame, out);
	bench->bss->sequence_at = !is_players(row)  ? 0
				  : row->frame.ipv6 ? PAYLOAD6_AT
						    : PAYLOAD_AT;
	bench->bss->sent = PLAYER_SEQUENCE_FIRST;
	bench->bss->word_fixed = htonl(row->sources ? 0x0a400000 : 0x0a000001);
	bench->bss->word_mask = row->sources;
	err = bpf_map_update_elem(candidates, &zero, &programs[row->program], BPF_ANY);
	/* The kernel's own figure has no fractions of a nanosecond. */
	start = now_ns();
	if (!err)
		err = bpf_prog_test_run_opts(wrapper, &run);
	*ret_ns = (now_ns() - start) / repeat;
	return err						   ? err
	       : run.retval == (out ? TC_ACT_STOLEN : XDP_ABORTED) ? -EINVAL
								   : 0;
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
	double empty = results[row->program >= OUT ? (row->sources ? R_OUT_4M : R_OUT)
			       : row->sources	   ? R_DROP_4M
						   : R_DROP]
			       .median;
	double ratio;

	printf("%-32s %7.1f %6.1f..%-6.1f %6.1f", row->name, r->median, r->low, r->high,
	       r->median - empty);
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

static void show_samples(void)
{
	__u32 follow = SAMPLER_FOLLOW;
	struct sampled all = { 0 }, each[256];
	int map = bpf_map__fd(shields[SHIELD_FOLLOWED]->maps.sampled);
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

static int usage(void)
{
	fputs("usage: bench [--rounds N] [--repeat N] [--cpu N] [--only TEXT]\n", stderr);
	return 1;
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "rounds", 1, NULL, 'r' }, { "repeat", 1, NULL, 'n' },
		{ "cpu", 1, NULL, 'c' },    { "only", 1, NULL, 'o' },
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
