// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * `attacks`: what is kept of them, with what goes on in its place, as a table and as
 * JSON.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>
#include <cmocka.h>

#include <jansson.h>

#include "cmd/cmd_print.h"
#include "cmd/cmd_support.h"
#include "cmd/commands.h"
#include "daemon/pidfile.h"
#include "incident/incident_now.h"
#include "incident/incident_store.h"

const struct command commands[] = {
	{
		.name = "attacks",
		.run = cmd_attacks,
		.options = OPTION_BIT(JSON) | OPTION_BIT(PIN),
		.operands = "",
	},
	{ .name = NULL },
};

static const char *kept, *lasting, *unsaved; /* what is in the files */
static int read_error, path_error;
static pid_t daemon_pid;

int incident_path(const char *pin, const char *name, char ret[INCIDENT_PATH])
{
	assert_string_equal(name, "attacks.jsonl");
	snprintf(ret, INCIDENT_PATH, "/of%s", pin ? pin : "");
	return path_error;
}

json_t *incident_store_read(const char *path, int *ret_err)
{
	assert_string_equal(path, "/of/x");
	*ret_err = read_error;
	return json_loads(kept, 0, NULL);
}

void incident_now_path(const char *pin, char *ret)
{
	assert_string_equal(pin, "/x");
	strcpy(ret, "/now");
}

json_t *incident_now_read(const char *path, int64_t now_ms)
{
	int64_t now = (int64_t)time(NULL) * 1000;

	assert_string_equal(path, "/now");
	assert_true(now_ms >= now - 60000 && now_ms <= now + 1000); /* however busy */
	return lasting ? json_loads(lasting, 0, NULL) : NULL;
}

json_t *incident_unsaved_read(const char *path, int64_t now_ms)
{
	(void)now_ms;
	assert_string_equal(path, "/now");
	return unsaved ? json_loads(unsaved, 0, NULL) : NULL;
}

pid_t pidfile_pid(const char *pin)
{
	assert_string_equal(pin, "/x");
	return daemon_pid;
}

#define FIRST                                                                                        \
	"{\"id\":\"a\",\"start\":\"2026-11-23 10:00:00 more\",\"end\":\"x\","                        \
	"\"service\":\"ffa\",\"type\":\"reflected replies\",\"duration_s\":61,"                      \
	"\"dropped\":1234567,\"peak\":{\"packets_per_s\":1500,\"bits_per_s\":12e6},"                 \
	"\"sources\":{\"spoofed\":\"likely\",\"sampled\":40},\"players\":{\"before\":12,\"min\":3}," \
	"\"kinds\":{\"getstatus\":9,\"getinfo\":1}}"
#define SECOND \
	"{\"id\":\"b\",\"start\":\"2026-11-23 11:00:00\",\"duration_s\":5,\"observed\":true}"
#define HEAD                                                                               \
	"start (UTC)          lasted   service          type              peak/s  bit/s  " \
	"drops  spoofed  players  mostly\n"
#define FIRST_ROW                                                                         \
	"2026-11-23 10:00:00    1m01   ffa              reflected replies   1.5k    12M " \
	"  1.2M  likely    12>3    getstatus\n"                                           \
	"                      by samples from addresses that are spoofed, as it seems\n"

static void a_table(void **state)
{
	(void)state;
	kept = "[" FIRST "," SECOND "]";
	lasting = NULL;
	daemon_pid = 0;
	assert_int_equal(say("attacks --pin /x"), 0);
	assert_string_equal(
		said_out, HEAD FIRST_ROW
		"2026-11-23 11:00:00      5s?  (machine)        ?                  "
		"    0      0      0  ?          0>0    - (observed only)\n");
	/* Its daemon is there. */
	daemon_pid = 7;
	assert_int_equal(say("attacks --pin /x"), 0);
	assert_non_null(strstr(said_out, "    5s+ "));
	assert_null(strstr(said_out, "1m01+"));
	/* Another sort that began meanwhile moves no column. */
	kept = "[{\"id\":\"a\",\"type\":\"flood\",\"also\":[\"password-guessing\"]}]";
	assert_int_equal(say("attacks --pin /x"), 0);
	assert_string_equal(
		said_out, HEAD
		"?                        0s+  (machine)        flood              "
		"    0      0      0  ?          0>0    - (flood + password-guessing)\n");
	/* No text of the file tells the terminal anything. */
	kept = "[{\"id\":\"a\",\"service\":\"\\u001b]0;x\\u0007\\u009b2J\","
	       "\"type\":\"\\u001b[2J\",\"kinds\":{\"\\u001bc\":1}}]";
	assert_int_equal(say("attacks --pin /x"), 0);
	assert_non_null(strstr(said_out, "?]0;x?"));
	assert_non_null(strstr(said_out, "?[2J"));
	assert_non_null(strstr(said_out, "?c"));
	assert_null(strpbrk(said_out, "\x1b\x07\x9b"));
	kept = "[]";
	assert_int_equal(say("attacks --pin /x"), 0);
	assert_string_equal(said_out, "no attacks\n");
}

static void what_goes_on(void **state)
{
	(void)state;
	kept = "[" FIRST "," SECOND "]";
	lasting =
		"[{\"id\":\"b\",\"duration_s\":9,\"capture\":1},{\"id\":\"c\",\"duration_s\":2}]";
	assert_int_equal(say("attacks --pin /x --json"), 0);
	assert_ptr_equal(strstr(said_out, "{\"attacks\":[{\"dropped\":1234567,"),
			 said_out);
	assert_non_null(strstr(said_out,
			       ",{\"duration_s\":9,\"id\":\"b\",\"observed\":true,"
			       "\"start\":\"2026-11-23 11:00:00\"},"
			       "{\"duration_s\":2,\"id\":\"c\"}]}\n"));
	/* Of JSON no table is printed behind it. */
	assert_null(strstr(said_out, "lasted"));
}

/* A full disk is no quiet day: what the daemon has in memory is listed, and said so. */
static void what_the_disk_did_not_take(void **state)
{
	(void)state;
	kept = "[]";
	lasting = NULL;
	unsaved = "[" FIRST "]";
	assert_int_equal(say("attacks --pin /x"), 0);
	assert_string_equal(said_out, HEAD FIRST_ROW);
	assert_non_null(strstr(said_err,
			       "attacks: the daemon cannot write to '/of/x': the "
			       "newest 1 are in its memory alone"));
	unsaved = NULL;
	assert_int_equal(say("attacks --pin /x"), 0);
	assert_string_equal(said_out, "no attacks\n");
	assert_string_equal(said_err, "");
}

static void failures(void **state)
{
	(void)state;
	kept = "[]";
	read_error = -EACCES;
	refused("attacks --pin /x", EXIT_DENIED,
		"attacks: cannot read '/of/x': Permission");
	kept = "";
	read_error = 0;
	refused("attacks --pin /x", EXIT_REST, "cannot read '/of/x': Cannot allocate");
	path_error = -ENAMETOOLONG;
	refused("attacks --pin /x", EXIT_REST, "attacks: the path would be too long");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_table),
		cmocka_unit_test(what_goes_on),
		cmocka_unit_test(what_the_disk_did_not_take),
		cmocka_unit_test(failures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
