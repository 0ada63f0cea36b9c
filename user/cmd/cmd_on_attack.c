// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * cmd_on_attack.c - `on-attack`: run the command of the configuration for each event that
 * the daemon has left. Started by quakeshield-attack.path, never by the daemon, which may
 * start nothing.
 *
 * What runs is what the configuration names: nothing that the daemon wrote chooses it. It
 * is a unit of its own of a user of its own, with the details on its standard input and
 * what FastNetMon's scripts expect as arguments: ADDRESS DIRECTION PACKETS/S ACTION.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>
#include <systemd/sd-daemon.h>

#include "cmd/commands.h"
#include "config/config.h"
#include "daemon/spool.h"
#include "lib/log.h"

#define AT_ONCE 8 /* commands running */
#define WORDS	16 /* of the command */
#define REST_MS 200

static const char *const unit_arguments[] = {
	"systemd-run",
	"--quiet",
	"--collect",
	"--pipe",
	"--wait",
	"--property=DynamicUser=yes",
	"--property=NoNewPrivileges=yes",
	"--property=CapabilityBoundingSet=",
	"--property=ProtectSystem=strict",
	"--property=ProtectHome=yes",
	"--property=PrivateTmp=yes",
	"--property=PrivateDevices=yes",
	"--property=RuntimeMaxSec=60",
};
#define UNIT_ARGUMENTS (sizeof(unit_arguments) / sizeof(*unit_arguments))

struct event {
	char unit[96];
	char address[64], packets[24];
	const char *action;
};

static bool is_plain(const char *text)
{
	return *text && !text[strspn(text, "0123456789abcdefghijklmnopqrstuvwxyz"
					   "ABCDEFGHIJKLMNOPQRSTUVWXYZ.:-")];
}

/* Our own daemon wrote it, but who has taken that over shall choose no argument. */
static bool event_read(int fd, struct event *ret)
{
	json_t *object = json_loadfd(fd, JSON_DISABLE_EOF_CHECK, NULL);
	const char *id = json_string_value(json_object_get(object, "id"));
	const char *event = json_string_value(json_object_get(object, "event"));
	const char *target = json_string_value(json_object_get(object, "target"));
	double peak = json_number_value(
		json_object_get(json_object_get(object, "peak"), "packets_per_s"));
	bool good = id && event && is_plain(id) && strlen(id) < 40 &&
		    (!strcmp(event, "start") || !strcmp(event, "end")) &&
		    (!target || (is_plain(target) && *target != '-')) && peak >= 0 &&
		    peak < 1e15;

	if (good) {
		snprintf(ret->unit, sizeof(ret->unit), "--unit=quakeshield-attack-%s-%s",
			 id, event);
		snprintf(ret->address, sizeof(ret->address), "%s",
			 target ? target : "0.0.0.0");
		snprintf(ret->packets, sizeof(ret->packets), "%.0f", peak);
		ret->action = strcmp(event, "start") ? "unban" : "ban";
	}
	json_decref(object);
	return good && !lseek(fd, 0, SEEK_SET);
}

/* In the child: never returns. */
static void become(const char *command, int fd, struct event *e)
{
	const char *argv[UNIT_ARGUMENTS + WORDS + 8];
	char words[CONFIG_COMMAND], *rest = NULL;
	size_t n = 0, limit;

	snprintf(words, sizeof(words), "%s", command);
	for (size_t i = 0; i < UNIT_ARGUMENTS; i++)
		argv[n++] = unit_arguments[i];
	argv[n++] = e->unit;
	argv[n++] = "--";
	limit = n + WORDS;
	for (char *word = strtok_r(words, " \t", &rest); word && n < limit;
	     word = strtok_r(NULL, " \t", &rest))
		argv[n++] = word;
	argv[n++] = e->address;
	argv[n++] = "incoming";
	argv[n++] = e->packets;
	argv[n++] = e->action;
	argv[n] = NULL;
	if (dup2(fd, STDIN_FILENO) == STDIN_FILENO)
		execvp(argv[0], (char *const *)argv);
	log_error("on-attack: cannot run systemd-run: %s", strerror(errno));
	_exit(127);
}

static bool start(const char *command, int fd)
{
	struct event event;
	pid_t pid;

	if (!event_read(fd, &event)) {
		log_error("on-attack: a file in '" SPOOL_DIR "' is not the daemon's");
		return false;
	}
	pid = fork();
	if (!pid)
		become(command, fd, &event);
	if (pid < 0)
		log_error("on-attack: cannot fork: %s", strerror(errno));
	return pid > 0;
}

/* One of ours has ended, or none within a while; did it fail? */
static bool reap(int *running)
{
	struct timespec rest = { 0, REST_MS * 1000000L };
	int status;

	if (waitpid(-1, &status, WNOHANG) <= 0) {
		nanosleep(&rest, NULL);
		return false;
	}
	(*running)--;
	return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

/* Until nothing is there and nothing runs: what comes meanwhile does not wait. */
static int run_all(const char *command)
{
	bool failed = false;
	int running = 0;

	for (;;) {
		int fd = running < AT_ONCE ? spool_take() : -EAGAIN;

		if (fd >= 0) {
			if (start(command, fd))
				running++;
			else
				failed = true;
			close(fd);
		} else if (fd != -ENOENT && fd != -EAGAIN) {
			log_error("on-attack: cannot take from '" SPOOL_DIR "': %s",
				  strerror(-fd));
			return 1;
		} else if (!running) {
			break;
		} else if (reap(&running)) {
			log_error("on-attack: '%s' has failed", command);
			failed = true;
		}
	}
	return failed;
}

int cmd_on_attack(const struct call *call)
{
	struct config *config = calloc(1, sizeof(*config));
	int status;

	if (!config)
		return EXIT_REST;
	status = exit_status(config_load(call_value(call, OPTION_CONFIG), config));
	if (!status && !config->on_attack[0]) {
		log_error("on-attack: the configuration names no command");
		status = EXIT_REST;
	} else if (!status && sd_booted() <= 0) {
		log_error("on-attack: '%s' is not run: this machine was not started by "
			  "systemd, which runs it in a unit of its own",
			  config->on_attack);
		status = EXIT_REST;
	}
	if (!status)
		status = run_all(config->on_attack);
	free(config);
	return status;
}
