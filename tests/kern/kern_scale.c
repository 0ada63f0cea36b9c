// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The runs of `make scale` (tests/bench/scale.h), for a tenth of a second each: every row
 * runs, the shield counts each frame that the wrapper sent, and decides what the row
 * says. Nothing is measured here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bench/scale.h"

#define WARM_S	  0.02
#define SECONDS_S 0.1

static struct scale *scale;

static void every_row_runs(bool own, int n)
{
	for (size_t i = 0; i < COUNT(scale_rows); i++) {
		const struct scale_row *row = &scale_rows[i];
		struct scale_result r;

		assert_int_equal(scale_run(scale, row, own, n, WARM_S, SECONDS_S, &r), 0);
		if (!scale_is_right(row, &r))
			fail_msg("%s, %d processors: of %llu frames %llu counted, share "
				 "%.3f passed, %.3f responded",
				 row->name, n, r.sent, r.counted, r.passed, r.responded);
		assert_true(r.sent > 0 && r.rate > 0);
		assert_true(r.ns > 0 && r.ns_worst >= r.ns);
	}
}

static void every_row_runs_on_one_processor(void **state)
{
	(void)state;
	if (!scale)
		skip();
	every_row_runs(false, 1);
}

static void two_processors_have_services_of_their_own(void **state)
{
	(void)state;
	if (!scale || scale->processors.count < 2)
		skip();
	every_row_runs(true, 2);
}

static int open_scale(void **state)
{
	int err = scale_open(2, &scale);

	(void)state;
	return err == -EPERM ? 0 : err;
}

static int close_scale(void **state)
{
	(void)state;
	scale_close(scale);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_runs_on_one_processor),
		cmocka_unit_test(two_processors_have_services_of_their_own),
	};

	return cmocka_run_group_tests(tests, open_scale, close_scale);
}
