// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * `on-attack` between a spool and a systemd-run that are this file's: which words become
 * arguments, what is refused as not the daemon's, and which statuses come of it.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <cmocka.h>

#include <systemd/sd-daemon.h>

#include "cmd/cmd_support.h"
#include "cmd/commands.h"
#include "config/config.h"
#include "daemon/spool.h"

const struct command commands[] = {
	{
		.name = "on-attack",
		.run = cmd_on_attack,
		.options = OPTION_BIT(CONFIG),
		.operands = "",
	},
	{ .name = NULL },
};

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static char directory[] = "/tmp/test_cmd_on_attack.XXXXXX";
static const char *command;
static int load_error, booted, take_error;
static size_t discarded;

struct left {
	const char *name, *json;
};

static const struct left *files; /* what is in the spool, NULL behind the last */

int config_load(const char *path, struct config *ret)
{
	assert_null(path);
	memset(ret, 0, sizeof(*ret));
	snprintf(ret->on_attack, sizeof(ret->on_attack), "%s", command);
	return load_error;
}

int sd_booted(void)
{
	return booted;
}

int spool_take(const char *dir, bool (*waits)(const void *context, const char *name),
	       const void *context, char ret[SPOOL_NAME])
{
	int fd;

	assert_string_equal(dir, SPOOL_DIR);
	if (take_error)
		return take_error;
	if (!files || !files->name || waits(context, files->name))
		return -ENOENT;
	strcpy(ret, files->name);
	fd = memfd_create("event", MFD_CLOEXEC);
	assert_int_equal(write(fd, files->json, strlen(files->json)),
			 strlen(files->json));
	lseek(fd, 0, SEEK_SET);
	files++;
	return fd;
}

size_t spool_discard(const char *dir)
{
	assert_string_equal(dir, SPOOL_DIR);
	return discarded;
}

/* What systemd-run was called with and told, over all of one run. */
static const char *told(void)
{
	static char text[8192];
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/log", directory);
	file = fopen(path, "re");
	if (!file)
		return "";
	text[fread(text, 1, sizeof(text) - 1, file)] = 0;
	fclose(file);
	unlink(path);
	return text;
}

#define UNIT                                                                \
	"--quiet --collect --pipe --wait --property=DynamicUser=yes "       \
	"--property=NoNewPrivileges=yes --property=CapabilityBoundingSet= " \
	"--property=ProtectSystem=strict --property=ProtectHome=yes "       \
	"--property=PrivateTmp=yes --property=PrivateDevices=yes "          \
	"--property=RuntimeMaxSec=60 --unit=quakeshield-attack-"
#define START                                                                   \
	"{\"id\":\"2026-11.a:1\",\"event\":\"start\",\"target\":\"192.0.2.1\"," \
	"\"peak\":{\"packets_per_s\":1234.5}}"
#define END "{\"id\":\"2026-11.a:1\",\"event\":\"end\"}"

static int begin(void **state)
{
	(void)state;
	command = "/bin/hook a $HOME\tb";
	load_error = take_error = 0;
	booted = 1;
	discarded = 0;
	files = NULL;
	told();
	return 0;
}

static void words_become_arguments(void **state)
{
	static const struct left two[] = { { "2026-11.a:1.start.json", START },
					   { "2026-11.a:1.end.json", END },
					   { NULL, NULL } };

	(void)state;
	files = two;
	refused("on-attack", 0, "");
	/* The end of an attack waits for what was told of its start. */
	assert_string_equal(told(),
			    UNIT "2026-11.a:1-start -- /bin/hook a $$HOME b 192.0.2.1 "
				 "incoming 1234 ban\n" START "\n" UNIT
				 "2026-11.a:1-end -- /bin/hook a $$HOME b "
				 "0.0.0.0 incoming 0 unban\n" END "\n");
	command = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17";
	files = two;
	refused("on-attack", 0, "");
	assert_non_null(strstr(told(), " 15 16 192.0.2.1 incoming"));
}

static void others_files_are_refused(void **state)
{
	static const char *const bad[] = {
		"",
		"nonsense",
		"{\"event\":\"start\"}",
		"{\"id\":\"a\"}",
		"{\"id\":\"\",\"event\":\"start\"}",
		"{\"id\":\"a b\",\"event\":\"start\"}",
		"{\"id\":\"a/b\",\"event\":\"start\"}",
		"{\"id\":\"a\",\"event\":\"middle\"}",
		"{\"id\":\"a\",\"event\":\"end\",\"target\":\"-x\"}",
		"{\"id\":\"a\",\"event\":\"end\",\"target\":\"$x\"}",
		"{\"id\":\"a\",\"event\":\"end\",\"target\":\"\"}",
		"{\"id\":\"a\",\"event\":\"end\",\"peak\":{\"packets_per_s\":-1}}",
		"{\"id\":\"a\",\"event\":\"end\",\"peak\":{\"packets_per_s\":1e15}}",
		"{\"id\":\"0123456789012345678901234567890123456789\",\"event\":\"end\"}",
	};
	struct left rows[COUNT(bad) + 1] = { { 0 } };
	size_t told_of = 0;

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++)
		rows[i] = (struct left){ "x.json", bad[i] };
	files = rows;
	assert_int_equal(say("on-attack"), EXIT_REST);
	for (const char *at = said_err;
	     (at = strstr(at, "/x.json' is not the daemon's")) != NULL; at++)
		told_of++;
	assert_int_equal(told_of, COUNT(bad));
	assert_string_equal(told(), "");
	/* As long as one may be, and as many. */
	rows[0].json = "{\"id\":\"012345678901234567890123456789012345678\",\"event\":"
		       "\"end\",\"peak\":{\"packets_per_s\":999999999999999}}";
	rows[1].name = NULL;
	files = rows;
	refused("on-attack", 0, "");
	assert_non_null(strstr(told(), "-end -- /bin/hook a $$HOME b 0.0.0.0 incoming "
				       "999999999999999 unban\n"));
}

static void failures_are_told(void **state)
{
	static const struct left one[] = { { "2026-11.a:1.start.json", START },
					   { NULL, NULL } };

	(void)state;
	files = one;
	setenv("ON_ATTACK_FAILS", "1", 1);
	refused("on-attack", EXIT_REST, "has failed for attack 2026-11.a:1");
	unsetenv("ON_ATTACK_FAILS");
	take_error = -EACCES;
	refused("on-attack", EXIT_DENIED, "cannot take from '" SPOOL_DIR "': Permission");
	take_error = -EIO;
	refused("on-attack", EXIT_REST, "cannot take from '" SPOOL_DIR "': Input");
	/* Whatever cannot be told to anybody is taken away, and said. */
	booted = 0;
	discarded = 3;
	refused("on-attack", EXIT_REST,
		"'/bin/hook a $HOME\tb' is not run: this machine");
	assert_non_null(strstr(
		said_err, "3 events discarded, because the command could not be run"));
	discarded = 0;
	command = "";
	refused("on-attack", EXIT_REST, "names no command");
	assert_null(strstr(said_err, "discarded"));
	load_error = -EACCES;
	refused("on-attack", EXIT_DENIED, "");
}

static int make_directory(void **state)
{
	static const char script[] = "#!/bin/sh\n{ echo \"$@\"; cat; echo; } "
				     ">>\"${0%/*}/log\"\n[ -z \"$ON_ATTACK_FAILS\" ]\n";
	char path[256];
	FILE *file;

	(void)state;
	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/systemd-run", directory);
	file = fopen(path, "we");
	assert_non_null(file);
	fputs(script, file);
	fclose(file);
	assert_int_equal(chmod(path, 0700), 0);
	snprintf(path, sizeof(path), "%s:/usr/bin:/bin", directory);
	return setenv("PATH", path, 1);
}

static int remove_directory(void **state)
{
	char path[128];

	(void)state;
	told();
	snprintf(path, sizeof(path), "%s/systemd-run", directory);
	unlink(path);
	return rmdir(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(words_become_arguments, begin),
		cmocka_unit_test_setup(others_files_are_refused, begin),
		cmocka_unit_test_setup(failures_are_told, begin),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
