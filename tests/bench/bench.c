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
#include <unistd.h>

#include "anew.h"
#include "search.h"
#include "setup.h"

#define ROUNDS_MAX 101

struct result {
	double ns[ROUNDS_MAX];
	double median, low, high;
	long steps;
};

/* Those of rows.h, and what the search has found. */
static struct row table[COUNT(rows_known) + QUESTS * FAMILY_COUNT * SOUGHT];
static size_t table_count;

static struct result results[COUNT(table)];
static struct steps stepped[PROGRAMS];

/* --- measuring ---------------------------------------------------------------------- */

/* Of this thread: who else was given the processor does not count. */
static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Does each of its frames get an answer from the kernel? */
static bool is_answered(const struct row *row)
{
	return row->program == SHIELD_ANSWERS || row->program == SHIELD_ASKS;
}

/* Does the wrapper write the whole frame anew? */
static bool is_anew(const struct row *row)
{
	return row->program == FLOOR_AGAIN || row->program == BARE_ANSWER ||
	       is_answered(row);
}

static int wrapper_of(const struct row *row)
{
	return bpf_program__fd(row->program >= OUT ? bench->progs.wrap_out
			       : is_anew(row)	   ? bench->progs.wrap_again
						   : bench->progs.wrap);
}

/* Where a number may be written: it is a player's, or nobody looks there. An answer goes
 * to the address of the card that the frame begins with. */
static __u32 number_at(const struct row *row)
{
	if (is_players(row))
		return sequence_at(&row->frame);
	return is_anew(row) ? ANEW - sizeof(__u32) : 0;
}

/* Does what is to answer its first frame do so? */
static int check_answer(const struct row *row, struct bpf_test_run_opts *run)
{
	int err;

	if (!is_answered(row) && row->program != BARE_ANSWER)
		return 0;
	run->repeat = 1;
	err = bpf_prog_test_run_opts(wrapper_of(row), run);
	return err ? err : run->retval == XDP_TX ? 0 : -EINVAL;
}

/*
 * Empty the recent askers of @shield. Called by measure() before each batch. Otherwise
 * the sources of the round before recur: they may be served from the cache, which takes
 * another path and three times the steps that count_row() counts.
 */
static int forget_askers(const struct shield_bpf *shield)
{
	static const struct recent none;
	__u32 tables = bpf_map__max_entries(shield->maps.recent);
	int err = 0;

	for (__u32 i = 0; i < tables && !err; i++)
		err = bpf_map_update_elem(bpf_map__fd(shield->maps.recent), &i, &none,
					  BPF_ANY);
	return err;
}

static int measure(const struct row *row, int repeat, double *ret_ns)
{
	__u8 frame[FRAME_MAX] = { 0 };
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = frame,
		    .data_size_in = frame_of(&row->frame, frame));
	bool out = row->program >= OUT;
	int candidates =
		bpf_map__fd(out ? bench->maps.candidate_out : bench->maps.candidate);
	__u32 zero = 0;
	double start;
	int err;

	if (settings[row->program].services &&
	    prepare(&shields[row->program]->bss->live, row, shield_clock()))
		return -ENOSPC;
	if (settings[row->program].cache && forget_askers(shields[row->program]))
		return -EIO;
	memcpy(bench->bss->anew, frame, sizeof(bench->bss->anew));
	bench->bss->word_at = peer_at(&row->frame, out);
	bench->bss->sequence_at = number_at(row);
	bench->bss->sent = PLAYER_SEQUENCE_FIRST;
	bench->bss->word_fixed = htonl(!row->sources		? 0x0a000001
				       : row->sources == FOUR_M ? 0x0a400000
								: 0x0a000000);
	bench->bss->word_mask = row->sources;
	err = bpf_map_update_elem(candidates, &zero, &programs[row->program], BPF_ANY);
	if (!err)
		err = check_answer(row, &run);
	run.repeat = repeat;
	/* The kernel's own figure has no fractions of a nanosecond. */
	start = now_ns();
	if (!err)
		err = bpf_prog_test_run_opts(wrapper_of(row), &run);
	*ret_ns = (now_ns() - start) / repeat;
	return err						   ? err
	       : run.retval == (out ? TC_ACT_STOLEN : XDP_ABORTED) ? -EINVAL
								   : 0;
}

/* --- counting ----------------------------------------------------------------------- */

static int open_steps(void)
{
	const struct bpf_program *of_bench[PROGRAMS] = {
		[DROP] = bench->progs.drop,
		[FLOOR] = bench->progs.base,
		[FLOOR_AGAIN] = bench->progs.base,
		[BARE] = bench->progs.bare,
		[BARE_ANSWER] = bench->progs.bare_answer,
		[OUT_PASS] = bench->progs.pass_out,
		[OUT_BARE] = bench->progs.bare_out,
	};
	int err = 0;

	for (size_t i = 0; i < PROGRAMS && !err; i++) {
		if (of_bench[i]) {
			err = steps_open(&stepped[i], bench->obj, of_bench[i]);
			continue;
		}
		err = steps_open_shield(&stepped[i], shields[i], i >= OUT);
		stepped[i].tick_ns = shields[i]->bss->live.tick_ns;
	}
	return err;
}

static int count_row(const struct row *row, long *ret)
{
	struct shield_bpf *shield = shields[row->program];
	struct steps *s = &stepped[row->program];
	static struct batch batch;

	s->now_ns = shield_clock();
	batch_begin(&batch, row);
	return count_steps(s, shield ? &shield->bss->live : NULL, &batch, ret);
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
			int err;

			if (!wanted(i, only))
				continue;
			err = measure(&table[i], repeat,
				      round < 0 ? &warm : &results[i].ns[round]);
			if (!err && round < 0)
				err = count_row(&table[i], &results[i].steps);
			if (err)
				return die(table[i].name, err);
		}
	}
	for (size_t i = 0; rounds && i < table_count; i++)
		summarise(&results[i], rounds);
	return 0;
}

/* --- the rows ----------------------------------------------------------------------- */

static void add_finding(size_t quest, enum wire_family family, enum sought sought)
{
	static char names[QUESTS][FAMILY_COUNT][SOUGHT][64];
	const struct finding *f = &findings[quest][family][sought];
	char *name = names[quest][family][sought];

	search_name(&quests[quest], family, sought, name);
	table[table_count++] = (struct row){
		.name = name,
		.program = quests[quest].program,
		.sources = FOUR_M,
		.against = f->frame.ipv6 ? R_FLOOR6 : R_FLOOR_4M,
		.goal = (sought == SOUGHT_PLAIN ? 2.0 : 3.0) +
			(quests[quest].program == SHIELD_SHIPPED ? 0.5 : 0),
		.frame = f->frame,
	};
}

/* What only one knows who plays, or near whom lists name somebody, is not measured. */
static bool is_measured(const struct quest *quest)
{
	return !quest->player && !quest->listed;
}

static int search_for(size_t quest, int search_ms)
{
	enum program program = quests[quest].program;
	struct live *live = &shields[program]->bss->live;
	int err;

	stepped[program].now_ns = shield_clock();
	err = search_all(&stepped[program], live, &quests[quest], 0, search_ms);
	for (int family = 0; family < FAMILY_COUNT && !err; family++)
		for (int sought = 0; sought < SOUGHT; sought++)
			add_finding(quest, (enum wire_family)family, (enum sought)sought);
	return err;
}

static int fill_table(int search_ms)
{
	int err = 0;

	memcpy(table, rows_known, sizeof(rows_known));
	table_count = COUNT(rows_known);
	for (size_t quest = 0; search_ms && quest < QUESTS && !err; quest++)
		if (is_measured(&quests[quest]))
			err = search_for(quest, search_ms);
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

	printf("%-32s %5ld %7.1f %6.1f..%-6.1f %6.1f", row->name, r->steps, r->median,
	       r->low, r->high, r->median - empty);
	if (row->against < 0 || r->median == 0) { /* counted only */
		printf("\n");
		return;
	}
	ratio = r->median / results[row->against].median;
	printf("  %5.2f of %-20s", ratio, table[row->against].name);
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
			search_show(stdout, &table[i].frame);
		}
	if (!only)
		show_samples();
	return 0;
}
