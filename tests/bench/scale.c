// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * scale.c - `make scale`: how the price of a packet grows with the processors that run
 * the shield at once, all for one service, or each for a service of its own.
 *
 * Printed for each row (scale_rows.h) and each number of processors: nanoseconds of
 * processor time per packet on the median and the worst processor, packets per second of
 * all, the efficiency, which is the rate divided by as many times the rate of one
 * processor, and the efficiency divided by that of the floor on as many processors. The
 * latter leaves out what the machine itself loses, by shared cores and a lower clock.
 * "busy" is the least share of the time in which a thread had its processor: with less
 * than 0.98 other work disturbed the run. One service or several are the same on one
 * processor.
 */
#include <getopt.h>

#include "scale.h"

#define NUMBERS_MAX 16
#define WARM_S	    0.15
#define SETTLE_S    1.1 /* the daemon's window of marks is fitted once a second */

struct numbers {
	int at[NUMBERS_MAX]; /* of processors, ascending, from 1 */
	int count;
};

/* The lowest efficiency of the shield. */
struct lowest {
	double efficiency;
	char where[96];
};

static const char usual[] = "1,2,4,8,12,16";
static struct lowest lowest_absolute = { 1e9, "" }, lowest_relative = { 1e9, "" };
static double floor_efficiency[LANES + 1]; /* by number of processors; 0: not measured */

static void numbers_add(struct numbers *numbers, int n)
{
	int last = numbers->count ? numbers->at[numbers->count - 1] : 0;

	if (n > last && numbers->count < NUMBERS_MAX)
		numbers->at[numbers->count++] = n;
}

/* Read @list, "1,2,4"; NULL: the usual numbers. 1 is always first. False: it is none. */
static bool numbers_read(const char *list, struct numbers *ret)
{
	ret->count = 0;
	numbers_add(ret, 1);
	for (list = list ? list : usual; *list;) {
		char *end;
		long n = strtol(list, &end, 10);

		if (end == list || (*end && *end != ',') || n < 1 || n > LANES)
			return false;
		numbers_add(ret, (int)n);
		list = *end ? end + 1 : end;
	}
	return true;
}

/* Make numbers above @most, which is how many there are, one number of @most. */
static void numbers_cut(struct numbers *numbers, int most)
{
	struct numbers all = *numbers;

	numbers->count = 0;
	for (int i = 0; i < all.count; i++)
		numbers_add(numbers, all.at[i] < most ? all.at[i] : most);
}

static void machine_show(const struct processors *p)
{
	printf("%s: %d processors on %d cores\npinned in this order:", p->model, p->found,
	       p->cores);
	for (int i = 0; i < p->count; i++)
		printf("%s %d", i == p->cores ? "; on cores in use:" : "", p->at[i].cpu);
	printf("\n%-32s %-6s %3s %7s %7s %9s %5s %5s %5s %6s %6s\n",
	       "ns of a processor per packet", "for", "n", "median", "worst", "million/s",
	       "eff.", "floor", "busy", "passed", "resp.");
}

static void lowest_note(struct lowest *lowest, double efficiency,
			const struct scale_row *row, bool own, int n)
{
	if (efficiency >= lowest->efficiency)
		return;
	lowest->efficiency = efficiency;
	snprintf(lowest->where, sizeof(lowest->where), "%s, %s, %d processors", row->name,
		 own ? "own services" : "one service", n);
}

static void result_show(const struct scale_row *row, bool own, int n,
			const struct scale_result *r, double rate_of_one)
{
	bool shield = row->program >= SCALE_SHIELD;
	double efficiency = r->rate / n / rate_of_one;
	double relative = floor_efficiency[n] > 0 ? efficiency / floor_efficiency[n] : 0;

	if (row->program == SCALE_FLOOR)
		floor_efficiency[n] = efficiency;
	if (shield && n > 1) {
		lowest_note(&lowest_absolute, efficiency, row, own, n);
		if (relative > 0)
			lowest_note(&lowest_relative, relative, row, own, n);
	}
	printf("%-32s %-6s %3d %7.1f %7.1f %9.2f %5.2f ", row->name,
	       !shield ? ""
	       : own   ? "own"
		       : "one",
	       n, r->ns, r->ns_worst, r->rate / 1e6, efficiency);
	if (relative > 0)
		printf("%5.2f", relative);
	else
		printf("%5s", "");
	printf(" %5.2f", r->busy);
	if (shield)
		printf(" %6.3f %6.3f%s", r->passed, r->responded,
		       scale_is_right(row, r) ? "" : "  WRONG");
	printf("\n");
	fflush(stdout);
}

/* All numbers of processors of one row. 1: it failed, after a message. */
static int row_measure(struct scale *s, const struct scale_row *row, bool own,
		       const struct numbers *numbers, double seconds, double *rate_of_one)
{
	int most = numbers->at[numbers->count - 1];
	struct scale_result r;
	int err = 0;

	if (row->program >= SCALE_SHIELD)
		err = scale_run(s, row, own, most, SETTLE_S, WARM_S, &r);
	for (int i = own; i < numbers->count && !err; i++) {
		int n = numbers->at[i];

		err = scale_run(s, row, own, n, WARM_S, seconds, &r);
		if (err)
			break;
		if (n == 1)
			*rate_of_one = r.rate;
		result_show(row, own, n, &r, *rate_of_one);
		if (!scale_is_right(row, &r)) {
			fprintf(stderr,
				"scale: %s: of %llu packets the shield counted %llu\n",
				row->name, r.sent, r.counted);
			return 1;
		}
	}
	if (err)
		fprintf(stderr, "scale: %s: %s\n", row->name, strerror(-err));
	return err != 0;
}

static int all_measure(struct scale *s, const struct numbers *numbers, double seconds,
		       const char *only)
{
	for (size_t i = 0; i < COUNT(scale_rows); i++) {
		const struct scale_row *row = &scale_rows[i];
		double rate_of_one = 0;

		/* The floor is what others are compared with. */
		if (only && row->program != SCALE_FLOOR && !strstr(row->name, only))
			continue;
		if (row_measure(s, row, false, numbers, seconds, &rate_of_one))
			return 1;
		if (row->program >= SCALE_SHIELD && numbers->count > 1 &&
		    row_measure(s, row, true, numbers, seconds, &rate_of_one))
			return 1;
	}
	if (numbers->count < 2)
		return 0;
	if (*lowest_absolute.where)
		printf("lowest efficiency: %.2f (%s)\n", lowest_absolute.efficiency,
		       lowest_absolute.where);
	if (*lowest_relative.where)
		printf("lowest of the floor's: %.2f (%s)\n", lowest_relative.efficiency,
		       lowest_relative.where);
	return 0;
}

static int usage(void)
{
	fprintf(stderr,
		"usage: scale [--processors LIST] [--seconds S] [--only TEXT]\n"
		"  LIST: numbers of processors, up to those there are; %s by default\n"
		"  S: of each measurement, 0.01 to 60, 0.5 by default\n",
		usual);
	return 1;
}

int main(int argc, char **argv)
{
	static const struct option longs[] = { { "processors", 1, NULL, 'p' },
					       { "seconds", 1, NULL, 's' },
					       { "only", 1, NULL, 'o' },
					       { NULL, 0, NULL, 0 } };
	const char *list = NULL, *only = NULL;
	struct numbers numbers;
	double seconds = 0.5;
	struct scale *s = NULL;
	int letter, err;

	while ((letter = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		if (letter == 'p')
			list = optarg;
		else if (letter == 's')
			seconds = strtod(optarg, NULL);
		else if (letter == 'o')
			only = optarg;
		else
			return usage();
	}
	if (optind != argc || !(seconds >= 0.01 && seconds <= 60))
		return usage();
	if (!numbers_read(list, &numbers)) {
		fprintf(stderr, "scale: '%s': no list of numbers from 1 to %d\n", list,
			LANES);
		return 1;
	}
	err = scale_open(numbers.at[numbers.count - 1], &s);
	if (err) {
		fprintf(stderr, "scale: loading the programs: %s\n", strerror(-err));
		return 1;
	}
	numbers_cut(&numbers, s->processors.count);
	machine_show(&s->processors);
	err = all_measure(s, &numbers, seconds, only);
	/* Threads that could not all be started wait for each other. */
	if (!err)
		scale_close(s);
	return err;
}
