// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * bench.c - ns per packet of every path through the shield, as ratios to the floor.
 *
 * All candidates are run by BPF_PROG_TEST_RUN behind the same wrapper (bench.bpf.c), in
 * turns, over several rounds; what is shown is the median and how far rounds differ. A
 * real driver adds its own price for each packet, as the wrapper does here; "net" is what
 * remains without it. "out" is the egress program, beside a TC program that does nothing.
 * "steps" are the BPF instructions that are executed for one frame (steps.h): they are
 * the same on every machine, busy or quiet.
 */
#include <errno.h>
#include <getopt.h>
#include <linux/pkt_cls.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/names.h"
#include "search.h"
#include "setup.h"
#include "steps.h"

#define ROUNDS_MAX 101

struct result {
	double ns[ROUNDS_MAX];
	double median, low, high;
	long steps;
};

/* Those of rows.h, and what the search has found. */
static struct row table[COUNT(rows_known) + FAMILY_COUNT * SOUGHT];
static size_t table_count;

static struct result results[COUNT(table)];
static struct steps stepped[PROGRAMS];

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

/* Into @ret, of FRAME_MAX octets. Returns how long it is: 60 at least, as on a wire. */
static __u32 frame_of(const struct row *row, __u8 *ret)
{
	size_t n = frame_build(&row->frame, ret);

	if (n >= 60)
		return (__u32)n;
	memset(ret + n, 0, 60 - n);
	return 60;
}

static int measure(const struct row *row, int repeat, double *ret_ns)
{
	__u8 frame[FRAME_MAX];
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = frame, .repeat = repeat,
		    .data_size_in = frame_of(row, frame));
	bool out = row->program >= OUT;
	int candidates =
		bpf_map__fd(out ? bench->maps.candidate_out : bench->maps.candidate);
	int wrapper = bpf_program__fd(out ? bench->progs.wrap_out : bench->progs.wrap);
	__u32 zero = 0;
	double start;
	int err;

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

/* --- counting ----------------------------------------------------------------------- */

#define COUNTED 31 /* frames, of which the one in the middle counts */

static int open_steps(void)
{
	const struct bpf_program *of_bench[PROGRAMS] = {
		[DROP] = bench->progs.drop,	    [FLOOR] = bench->progs.base,
		[BARE] = bench->progs.bare,	    [OUT_PASS] = bench->progs.pass_out,
		[OUT_BARE] = bench->progs.bare_out,
	};
	int err = 0;

	for (size_t i = 0; i < PROGRAMS && !err; i++) {
		if (of_bench[i]) {
			err = steps_open(&stepped[i], bench->obj, of_bench[i]);
			continue;
		}
		err = steps_open(&stepped[i], shields[i]->obj,
				 i < OUT ? shields[i]->progs.shield
					 : shields[i]->progs.shield_out);
		if (i < OUT) {
			stepped[i].jump =
				bpf_program__insns(shields[i]->progs.shield_proof);
			stepped[i].jump_count =
				bpf_program__insn_cnt(shields[i]->progs.shield_proof);
		}
		stepped[i].tick_ns = shields[i]->bss->live.tick_ns;
	}
	return err;
}

static int ascending_long(const void *a, const void *b)
{
	long x = *(const long *)a, y = *(const long *)b;

	return x < y ? -1 : x > y;
}

/* The same peers as wrap() makes, after a batch that has spent the budgets. */
static int count_steps(const struct row *row, long *ret)
{
	struct steps *s = &stepped[row->program];
	__u32 at = peer_at(&row->frame, row->program >= OUT);
	__u32 sequence = PLAYER_SEQUENCE_FIRST, random = 1, word;
	size_t sequence_at = row->frame.ipv6 ? PAYLOAD6_AT : PAYLOAD_AT;
	long counts[COUNTED];
	__u8 frame[FRAME_MAX];
	__u32 n = frame_of(row, frame);
	int action;

	if (is_players(row) &&
	    enter_player(shields[row->program],
			 row->frame.ipv6 ? PLAYER_ADDRESS6 : PLAYER_ADDRESS,
			 row->program == SHIELD_FOLLOWED))
		return -ENOSPC;
	s->now_ns = shield_clock();
	for (int i = 0; i < COUNTED; i++) {
		random = random * 1664525 + 1013904223;
		word = htonl(row->sources ? 0x0a400000 : 0x0a000001) |
		       htonl(random >> 8 & row->sources);
		memcpy(frame + at, &word, sizeof(word));
		sequence++;
		if (is_players(row))
			memcpy(frame + sequence_at, &sequence, sizeof(sequence));
		counts[i] = steps_run(s, frame, n, &action);
		if (counts[i] < 0)
			return -EINVAL;
	}
	qsort(counts, COUNTED, sizeof(*counts), ascending_long);
	*ret = counts[COUNTED / 2];
	return 0;
}

/* --- all rows ----------------------------------------------------------------------- */

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
	return row < R_FIRST || !only || strstr(table[row].name, only);
}

static int measure_all(int rounds, int repeat, const char *only)
{
	double warm;

	for (int round = -1; round < rounds; round++) {
		for (size_t i = 0; i < table_count; i++) {
			int err = 0;

			if (!wanted(i, only))
				continue;
			if (!table[i].stepped)
				err = measure(&table[i], repeat,
					      round < 0 ? &warm : &results[i].ns[round]);
			if (!err && round < 0)
				err = count_steps(&table[i], &results[i].steps);
			if (err)
				return die(table[i].name, err);
		}
	}
	for (size_t i = 0; rounds && i < table_count; i++)
		summarise(&results[i], rounds);
	return 0;
}

/* --- the rows ----------------------------------------------------------------------- */

static void add_finding(enum wire_family family, enum sought sought)
{
	static char names[FAMILY_COUNT][SOUGHT][40];
	const struct finding *f = &findings[family][sought];
	char *name = names[family][sought];

	snprintf(name, sizeof(names[0][0]), "found: %s%s", family_name(family),
		 sought == SOUGHT_PLAIN ? ", plain" : "");
	table[table_count++] = (struct row){
		.name = name,
		.program = SHIELD_FAMILIES,
		.sources = FOUR_M,
		.against = f->frame.ipv6 ? R_FLOOR6 : R_FLOOR_4M,
		.goal = sought == SOUGHT_PLAIN ? 2.0 : 3.0,
		.frame = f->frame,
	};
}

static int fill_table(int search_ms)
{
	int err;

	memcpy(table, rows_known, sizeof(rows_known));
	table_count = COUNT(rows_known);
	if (!search_ms)
		return 0;
	err = search_all(&stepped[SHIELD_FAMILIES], &shields[SHIELD_FAMILIES]->bss->live,
			 search_ms);
	for (int family = 0; family < FAMILY_COUNT && !err; family++)
		for (int sought = 0; sought < SOUGHT; sought++)
			add_finding((enum wire_family)family, (enum sought)sought);
	return err;
}

/* --- telling ------------------------------------------------------------------------ */

static void show(const struct row *row)
{
	const struct result *r = &results[row - table];
	double empty = results[row->program >= OUT ? (row->sources ? R_OUT_4M : R_OUT)
			       : row->sources	   ? R_DROP_4M
						   : R_DROP]
			       .median;
	double ratio;

	if (row->stepped) {
		printf("%-32s %5ld\n", row->name, r->steps);
		return;
	}
	printf("%-32s %5ld %7.1f %6.1f..%-6.1f %6.1f", row->name, r->steps, r->median,
	       r->low, r->high, r->median - empty);
	if (row->against < 0) {
		printf("\n");
		return;
	}
	ratio = r->median / results[row->against].median;
	printf("  %5.2f of %-20s", ratio, table[row->against].name);
	if (row->goal > 0)
		printf(" goal %.2f %s", row->goal, ratio <= row->goal ? "met" : "MISSED");
	printf("\n");
}

/* What a row of the search looks like. */
static void show_frame(const struct frame_spec *s)
{
	int tags = 0;

	while (s->tags[tags])
		tags++;
	printf("\t%s, %d tags, %d words of options, %d headers of %d words%s, %zu octets:",
	       s->ipv6 ? "IPv6" : "IPv4", tags, s->ipv6 ? 0 : s->options,
	       s->ipv6 ? s->ext_count : 0, s->ext_words,
	       s->more || s->fragment ? ", a fragment" : "", s->n);
	for (size_t i = 0; i < s->n && i < 48; i++)
		printf(" %02x", (__u8)s->payload[i]);
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
	fputs("usage: bench [--rounds N] [--repeat N] [--cpu N] [--only TEXT]\n"
	      "             [--search MS]\n",
	      stderr);
	return 1;
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "rounds", 1, NULL, 'r' }, { "repeat", 1, NULL, 'n' },
		{ "cpu", 1, NULL, 'c' },    { "only", 1, NULL, 'o' },
		{ "search", 1, NULL, 's' }, { NULL, 0, NULL, 0 },
	};
	int rounds = 15, repeat = 300000, cpu = 1, search = 1000, letter;
	const char *only = NULL;
	cpu_set_t set;
	int err;

	while ((letter = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		if (letter == 'r')
			rounds = atoi(optarg);
		else if (letter == 'n')
			repeat = atoi(optarg);
		else if (letter == 'c')
			cpu = atoi(optarg);
		else if (letter == 'o')
			only = optarg;
		else if (letter == 's')
			search = atoi(optarg);
		else
			return usage();
	}
	if (rounds < 0 || rounds > ROUNDS_MAX || repeat < 1 || search < 0 ||
	    optind != argc)
		return usage();
	/* The reader of samples is on whatever processor is left. */
	if (open_all() || start_readers())
		return 1;
	err = open_steps();
	if (!err)
		err = fill_table(search);
	if (err)
		return die("stepping", err);
	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	if (measure_all(rounds, repeat, only))
		return 1;
	printf("%-32s %5s %7s %14s %6s  %s\n", "ns per packet", "steps", "median",
	       "quartiles", "net", "ratio");
	for (size_t i = 0; i < table_count; i++)
		if (wanted(i, only))
			show(&table[i]);
	for (size_t i = COUNT(rows_known); i < table_count; i++)
		if (wanted(i, only)) {
			printf("%s\n", table[i].name);
			show_frame(&table[i].frame);
		}
	if (!only)
		show_samples();
	return 0;
}
