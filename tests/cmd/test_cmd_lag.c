// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_cmd_lag.c - what `lag` says of players.json: verdicts, players in their first
 * minute, names with control characters, files that are missing, stale or none.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <time.h>

#include "cmd/cmd_support.h"
#include "cmd/commands.h"
#include "lag/lag_file.h"

static char path[] = "/tmp/test_cmd_lag.XXXXXX";

/* In place of the daemon's: another file for --pin. */
void lag_file_path(const char *pin_dir, char ret[LAG_FILE_PATH_MAX])
{
	snprintf(ret, LAG_FILE_PATH_MAX, "%s%s", path, pin_dir ? pin_dir : "");
}

static void put(const char *players, time_t age_s)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fprintf(file, "{\"time\":%lld,\"players\":%s}", (long long)(time(NULL) - age_s),
		players);
	fclose(file);
}

static int begin(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	setenv("TZ", "UTC", 1);
	return fd < 0 || close(fd);
}

static int end(void **state)
{
	(void)state;
	return unlink(path);
}

#define VERDICT                                                                \
	"{\"minute\":1700000040,\"seconds\":60,\"cause\":\"server\","          \
	"\"symptom\":\"late\",\"text\":\"for 2.0 s the server sent nothing\"," \
	"\"history\":\"..S\"}"
#define ALICE                                                                     \
	"{\"service\":\"ffa\",\"protocol\":\"quake3\",\"address\":\"192.0.2.7\"," \
	"\"port\":27005,\"name\":\"alice\",\"map\":\"q3dm17\",\"ping_ms\":40,"    \
	"\"lag\":" VERDICT "}"
#define NEWCOMER                                                                 \
	"{\"service\":\"duel\",\"address\":\"2001:db8::1\",\"port\":9,\"name\":" \
	"\"a\\u001b[2J\\nb\",\"map\":\"\"}"

static void players_are_lines(void **state)
{
	(void)state;
	put("[" ALICE "," NEWCOMER "]", 0);
	assert_int_equal(say("lag"), 0);
	assert_string_equal(said_err, "");
	assert_string_equal(
		said_out,
		"service          player                name            minute cause    why, "
		"and the last minutes\n"
		"ffa              192.0.2.7:27005       alice           22:14  server   for "
		"2.0 s the server sent nothing\n"
		"                                                                       ..S\n"
		"duel             [2001:db8::1]:9       a?[2J?b         -      -        its "
		"first minute is not over\n");
}

static void json_has_the_verdicts_alone(void **state)
{
	(void)state;
	put("[" ALICE "," NEWCOMER "]", 0);
	assert_int_equal(say("lag --json"), 0);
	assert_string_equal(
		said_out,
		"{\"players\":[{\"service\":\"ffa\",\"address\":\"192.0.2.7\",\"port\":27005,"
		"\"name\":\"alice\",\"map\":\"q3dm17\",\"lag\":" VERDICT
		"},{\"service\":\"duel\",\"address\":\"2001:db8::1\",\"port\":9,\"name\":"
		"\"a\\u001B[2J\\nb\",\"map\":\"\"}]}\n");
}

static void no_player_is_said(void **state)
{
	(void)state;
	put("[]", 0);
	assert_int_equal(say("lag"), 0);
	assert_string_equal(said_out,
			    "no player is followed; see `follow` in the configuration\n");
	assert_int_equal(say("lag --json"), 0);
	assert_string_equal(said_out, "{\"players\":[]}\n");
}

static void files_of_no_use(void **state)
{
	char expected[512];

	(void)state;
	snprintf(expected, sizeof(expected),
		 "lag: no daemon writes '%s': start `quakeshield run`", path);
	put("[" ALICE "]", 10);
	assert_int_equal(say("lag"), EXIT_NOT_LOADED);
	assert_non_null(strstr(said_err, expected));
	assert_string_equal(said_out, "");
	assert_int_equal(say("lag --json --pin .other"), EXIT_NOT_LOADED);
	put("7", 0);
	assert_int_equal(say("lag"), EXIT_REST);
	assert_non_null(strstr(said_err, "lag: cannot read '"));
	put("[7,{\"lag\":[],\"port\":\"x\"}]", 0);
	assert_int_equal(say("lag"), 0);
	assert_int_equal(say("lag --json"), 0);
}

/* The same file for `top`. */
static void rows_have_the_verdict(void **state)
{
	struct lag_file *file;

	(void)state;
	put("[" ALICE "," NEWCOMER "]", 0);
	assert_int_equal(lag_file_read(path, &file), 0);
	assert_int_equal(file->count, 2);
	assert_string_equal(file->rows[0].cause, "server");
	assert_string_equal(file->rows[0].text, "for 2.0 s the server sent nothing");
	assert_string_equal(file->rows[0].history, "..S");
	assert_string_equal(file->rows[1].cause, "");
	assert_string_equal(file->rows[1].history, "");
	free(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(players_are_lines),
		cmocka_unit_test(json_has_the_verdicts_alone),
		cmocka_unit_test(no_player_is_said),
		cmocka_unit_test(files_of_no_use),
		cmocka_unit_test(rows_have_the_verdict),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
