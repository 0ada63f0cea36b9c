// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_incident_old.c - attacks that an older build wrote down are read with the keys of
 * now.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "incident/incident_json.h"
#include "incident/incident_sources.h"
#include "incident/incident_store.h"

static char path[] = "/tmp/test_incident_old.XXXXXX";

static void old_lines_have_the_keys_of_now(void **state)
{
	static const char *const lines[] = {
		"{\"id\":\"a\",\"service\":\"ffa\",\"protocol\":\"quake3\",\"what\":\"flood\","
		"\"start\":\"2026-11-22T14:45:01.250Z\",\"end\":null,\"seconds\":7.5,"
		"\"answered\":{\"player\":12},\"sources\":{\"sampled\":1,\"forged\":"
		"\"likely\"},\"worst\":[],\"players\":{\"before\":3,\"least\":1,\"most\":4}}",
		/* And the newest of the same, as it is written now. */
		"{\"id\":\"a\",\"type\":\"flood\",\"duration_s\":9}",
	};
	json_t *all, *one, *players;
	struct incident *i;
	FILE *file;
	int err;

	(void)state;
	for (size_t n = 1; n <= 2; n++) {
		file = fopen(path, "w");
		assert_non_null(file);
		for (size_t l = 0; l < n; l++)
			fprintf(file, "%s\n", lines[l]);
		assert_int_equal(fclose(file), 0);
		all = incident_store_read(path, &err);
		assert_int_equal(err, 0);
		assert_int_equal(json_array_size(all), 1);
		one = json_array_get(all, 0);
		players = json_object_get(one, "players");
		assert_string_equal(json_string_value(json_object_get(one, "type")),
				    "flood");
		assert_true(json_number_value(json_object_get(one, "duration_s")) ==
			    (n == 1 ? 7.5 : 9));
		assert_non_null(json_object_get(one, "not_dropped"));
		assert_non_null(json_object_get(one, "top_prefixes"));
		assert_string_equal(json_string_value(json_object_get(
					    json_object_get(one, "sources"), "spoofed")),
				    "likely");
		assert_int_equal(json_integer_value(json_object_get(players, "min")), 1);
		assert_int_equal(json_integer_value(json_object_get(players, "max")), 4);
		assert_null(json_object_get(one, "what"));
		assert_null(json_object_get(players, "least"));
		/* So that one which lasted goes on. */
		i = incident_parse(one);
		assert_non_null(i);
		assert_int_equal(i->players_least, 1);
		free(i);
		json_decref(all);
	}
}

/* Its words, too: of the addresses, and the reasons wherever they stand. */
static void old_lines_have_the_words_of_now(void **state)
{
	static const char line[] =
		"{\"id\":\"a\",\"what\":\"flood\",\"sources\":{\"sampled\":9,\"forged\":"
		"\"perhaps\",\"top\":[{\"source\":\"192.0.2.7\",\"class\":\"rcon\",\"reason\":"
		"\"source-budget\",\"share\":0.5,\"packets\":9}]},\"worst\":[{\"prefix\":"
		"\"198.51.100.0/24\",\"class\":\"query\",\"reason\":\"global-budget\","
		"\"share\":0.25,\"packets\":4}],\"reasons\":{\"ledger\":4,\"source-limit\":"
		"5},\"answered\":{\"within-budget\":6}}\n";
	char from[INCIDENT_FROM];
	json_t *all, *one;
	FILE *file;
	int err;

	(void)state;
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(line, file);
	assert_int_equal(fclose(file), 0);
	all = incident_store_read(path, &err);
	one = json_array_get(all, 0);
	assert_string_equal(json_string_value(json_object_get(
				    json_object_get(one, "sources"), "spoofed")),
			    "possible");
	incident_from(one, from);
	assert_string_equal(from, "192.0.2.7 (50 % of rcon, source-limit), "
				  "198.51.100.0/24 (25 % of query, service-limit)");
	assert_int_equal(json_object_size(json_object_get(one, "reasons")), 2);
	assert_int_equal(json_integer_value(json_object_get(
				 json_object_get(one, "reasons"), "amplification")),
			 4);
	assert_int_equal(json_integer_value(json_object_get(
				 json_object_get(one, "not_dropped"), "within-limits")),
			 6);
	json_decref(all);
}

/* The first builds named prefixes alone. */
static void a_prefix_without_a_class_has_its_share(void **state)
{
	json_t *one = json_pack("{s:[{s:s, s:f}]}", "top_prefixes", "prefix",
				"192.0.2.0/24", "share", 0.75);
	char from[INCIDENT_FROM];

	(void)state;
	incident_from(one, from);
	assert_string_equal(from, "192.0.2.0/24 (75 %)");
	json_decref(one);
}

static int enter(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	return fd < 0 || close(fd);
}

static int leave(void **state)
{
	(void)state;
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(old_lines_have_the_keys_of_now),
		cmocka_unit_test(old_lines_have_the_words_of_now),
		cmocka_unit_test(a_prefix_without_a_class_has_its_share),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
