// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_gauges.c - how much of a service's budgets is spent, as operators see it.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "shield/shield_clock.h"
#include "shield/shield_internal.h"

#define SECOND 1000000000ull
#define SLOT   3

/* Each class of the one service has its own, and it is the one for all senders. */
static void what_is_spent_is_the_services(void **state)
{
	struct live *live = calloc(1, sizeof(*live));
	struct shield s = { .shared = live };
	double spent[CLASS_BUDGETS];
	struct service *service;

	(void)state;
	assert_non_null(live);
	live->generation = 5;
	service = &live->tables[1].services[SLOT];
	service->active = 1;
	for (int class = 0; class < CLASS_BUDGETS; class ++) {
		struct budget *b = &service->budget[class];

		b->source = b->prefix = (struct limit){ SECOND, 4 * SECOND };
		b->service = (struct limit){ SECOND, 4000 * SECOND };
	}
	/* Of two classes some is spent, for an hour to come. */
	live->service_due_ns[budget_index(SLOT, CLASS_QUERY)] =
		shield_clock() + 1000 * SECOND;
	live->service_due_ns[budget_index(SLOT, CLASS_RCON)] =
		shield_clock() + 9000 * SECOND;
	assert_int_equal(shield_limits_used(&s, SLOT, spent), 0);
	for (int class = 0; class < CLASS_BUDGETS; class ++) {
		double is = class == CLASS_QUERY ? 0.25 : class == CLASS_RCON ? 1 : 0;

		assert_true(spent[class] > is - 0.02 && spent[class] < is + 0.02);
	}
	assert_int_equal(shield_limits_used(&s, SLOT + 1, spent), -ENOENT);
	free(live);
}

static void a_share_is_from_none_to_all(void **state)
{
	static const struct limit some = { SECOND, 4 * SECOND };
	static const struct limit all = { 0 }, none = { SECOND, 0 };

	(void)state;
	assert_true(limit_used_share(&some, 0, SECOND) == 0);
	assert_true(limit_used_share(&some, SECOND, SECOND) == 0);
	assert_true(limit_used_share(&some, 2 * SECOND, SECOND) == 0.25);
	assert_true(limit_used_share(&some, 5 * SECOND, SECOND) == 1);
	assert_true(limit_used_share(&some, 9 * SECOND, SECOND) == 1);
	assert_true(limit_used_share(&all, 9 * SECOND, SECOND) == 0);
	assert_true(limit_used_share(&none, 0, SECOND) == 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_spent_is_the_services),
		cmocka_unit_test(a_share_is_from_none_to_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
