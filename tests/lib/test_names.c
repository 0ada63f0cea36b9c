// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_names.c - every row has a name of its own, fit for a label, and is found by it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "lib/names.h"

#define NAMES_OF(type, prefix)                 \
	static const char *prefix##_at(int i)  \
	{                                      \
		return prefix##_name((type)i); \
	}

NAMES_OF(enum wire_family, family)
NAMES_OF(enum wire_class, class)
NAMES_OF(enum wire_kind, kind)
NAMES_OF(enum reason, reason)
NAMES_OF(enum verdict, verdict)
NAMES_OF(enum other, other)

static const struct {
	const char *(*at)(int i);
	int count;
} tables[] = {
	{ family_at, FAMILY_COUNT },   { class_at, CLASS_COUNT },
	{ kind_at, KIND_COUNT },       { reason_at, REASON_COUNT },
	{ verdict_at, VERDICT_COUNT }, { other_at, OTHER_COUNT },
};

#define TABLES (sizeof(tables) / sizeof(*tables))

static void every_row_has_its_own(void **state)
{
	(void)state;
	for (size_t t = 0; t < TABLES; t++) {
		for (int i = 0; i < tables[t].count; i++) {
			const char *name = tables[t].at(i);

			assert_string_not_equal(name, "");
			assert_string_not_equal(name, "?");
			for (int j = 0; j < i; j++)
				assert_string_not_equal(name, tables[t].at(j));
		}
	}
}

static void fit_for_labels(void **state)
{
	static const char fit[] = "abcdefghijklmnopqrstuvwxyz"
				  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_:";

	(void)state;
	for (size_t t = 0; t < TABLES; t++)
		for (int i = 0; i < tables[t].count; i++)
			assert_int_equal(strspn(tables[t].at(i), fit),
					 strlen(tables[t].at(i)));
}

static void out_of_range_is_a_question_mark(void **state)
{
	(void)state;
	for (size_t t = 0; t < TABLES; t++) {
		assert_string_equal(tables[t].at(tables[t].count), "?");
		assert_string_equal(tables[t].at(-1), "?");
	}
	assert_int_equal(other_verdict(OTHER_COUNT), VERDICT_DROP);
}

static void found_by_name(void **state)
{
	enum wire_family family = FAMILY_QUAKE2;
	enum wire_class class = CLASS_RCON;

	(void)state;
	assert_false(family_parse("quake", &family));
	assert_false(family_parse("Quake3", &family));
	assert_false(family_parse("", &family));
	assert_int_equal(family, FAMILY_QUAKE2);
	assert_false(class_parse("rconx", &class));
	assert_int_equal(class, CLASS_RCON);
	for (int i = 0; i < FAMILY_COUNT; i++) {
		assert_true(family_parse(family_at(i), &family));
		assert_int_equal(family, i);
	}
	for (int i = 0; i < CLASS_COUNT; i++) {
		assert_true(class_parse(class_at(i), &class));
		assert_int_equal(class, i);
	}
}

/* These are in configurations, dashboards and scripts: changing one breaks them. */
static void fixed_names(void **state)
{
	(void)state;
	assert_string_equal(family_name(FAMILY_NETQUAKE), "netquake");
	assert_string_equal(family_name(FAMILY_QUAKEWORLD), "quakeworld");
	assert_string_equal(family_name(FAMILY_QUAKE2), "quake2");
	assert_string_equal(family_name(FAMILY_QUAKE3), "quake3");
	assert_string_equal(family_name(FAMILY_QUAKE_ENHANCED), "quake-enhanced");
	assert_string_equal(kind_name(KIND_GETSTATUS), "getstatus");
	assert_string_equal(verdict_name(VERDICT_PASS), "pass");
	assert_string_equal(verdict_name(VERDICT_DROP), "drop");
	assert_string_equal(verdict_name(VERDICT_RESPOND), "respond");
	assert_string_equal(reason_name(REASON_SOURCE_LIMIT), "source-limit");
	assert_int_equal(other_verdict(OTHER_NO_SERVICE), VERDICT_PASS);
	assert_int_equal(other_verdict(OTHER_TOO_MANY_HEADERS), VERDICT_DROP);
}

/* What passes, and what is answered, by name; that a reason is new is no reason to pass.
 */
static void verdicts_of_reasons(void **state)
{
	static const char answered[] =
		" challenged cached-player cached-allow-list cached-validated cached-known cached-prefix "
		"cached-recurring cached-in-limits cached-response ";
	static const char passed[] =
		" within-limits allow-list player policy exempt other-socket validated ";

	(void)state;
	for (int i = 0; i < REASON_COUNT; i++) {
		char name[64];

		snprintf(name, sizeof(name), " %s ", reason_name((enum reason)i));
		assert_int_equal(reason_verdict((enum reason)i),
				 strstr(passed, name)	  ? VERDICT_PASS
				 : strstr(answered, name) ? VERDICT_RESPOND
							  : VERDICT_DROP);
	}
	assert_int_equal(reason_verdict(REASON_COUNT), VERDICT_DROP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_has_its_own),
		cmocka_unit_test(fit_for_labels),
		cmocka_unit_test(out_of_range_is_a_question_mark),
		cmocka_unit_test(found_by_name),
		cmocka_unit_test(fixed_names),
		cmocka_unit_test(verdicts_of_reasons),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
