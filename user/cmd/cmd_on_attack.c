// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * cmd_on_attack.c - `on-attack`: run the command of the configuration for each event that
 * the daemon has left. Started by quakeshield-attack.path, never by the daemon, which may
 * start nothing.
 *
 * The configuration chooses the command: no byte that the daemon wrote does. It is a unit
 * of its own of a user of its own, with the details on its standard input and the
 * arguments that FastNetMon's scripts expect: ADDRESS DIRECTION PACKETS/S ACTION.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>
#include <systemd/sd-daemon.h>

#include "cmd/commands.h"
#include "config/config.h"
#include "daemon/spool.h"
#include "lib/log.h"

#define AT_ONCE	  8 /* commands running */
#define REST_MS	  200
#define LINGER_MS 1400 /* for more, so that systemd need not start us too often */
#define ATTACK	  40 /* characters of an attack's id, and a NUL */

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
	char attack[ATTACK];
	char unit[96];
	char address[64], packets[24];
	const char *action;
};

/* A command that runs. */
struct running {
	pid_t pid; /* 0: none does in this place */
	char attack[ATTACK];
};

static bool is_plain(const char *text)
{
	return *text && !text[strspn(text, "0123456789abcdefghijklmnopqrstuvwxyz"
					   "ABCDEFGHIJKLMNOPQRSTUVWXYZ.:-")];
}

/* Read the event, whatever it is, but no more of it than the daemon writes. */
static json_t *load(int fd)
{
	char text[SPOOL_BYTES];
	ssize_t n = pread(fd, text, sizeof(text), 0);
	struct stat st;

	if (n <= 0 || fstat(fd, &st) || st.st_size > (off_t)sizeof(text))
		return NULL;
	return json_loadb(text, (size_t)n, 0, NULL);
}

/*
 * The daemon wrote it, but an attacker that has taken over the daemon must not choose an
 * argument.
 */
static bool event_read(int fd, struct event *ret)
{
	json_t *object = load(fd);
	const char *id = json_string_value(json_object_get(object, "id"));
	const char *event = json_string_value(json_object_get(object, "event"));
	const char *target = json_string_value(json_object_get(object, "target"));
	double peak = json_number_value(
		json_object_get(json_object_get(object, "peak"), "packets_per_s"));
	bool good = id && event && is_plain(id) && strlen(id) < ATTACK &&
		    (!strcmp(event, "start") || !strcmp(event, "end")) &&
		    (!target || (is_plain(target) && *target != '-')) && peak >= 0 &&
		    peak < 1e15;

	if (good) {
		snprintf(ret->attack, sizeof(ret->attack), "%s", id);
		snprintf(ret->unit, sizeof(ret->unit), "--unit=quakeshield-attack-%s-%s",
			 id, event);
		snprintf(ret->address, sizeof(ret->address), "%s",
			 target ? target : "0.0.0.0");
		snprintf(ret->packets, sizeof(ret->packets), "%.0f", peak);
		ret->action = strcmp(event, "start") ? "unban" : "ban";
	}
	json_decref(object);
	return good;
}

/* systemd puts the environment in place of $NAME, and a $ in place of $$: systemd-run(1).
 */
static void words_escape(const char *command, char ret[2 * CONFIG_COMMAND])
{
	for (; *command; command++) {
		if (*command == '$')
			*ret++ = '$';
		*ret++ = *command;
	}
	*ret = 0;
}

/* Become the command, in the child: never returns. */
static void become(const char *command, int fd, struct event *e)
{
	const char *argv[UNIT_ARGUMENTS + CONFIG_WORDS + 8];
	char words[2 * CONFIG_COMMAND], *rest = NULL;
	size_t n = 0, limit;

	words_escape(command, words);
	for (size_t i = 0; i < UNIT_ARGUMENTS; i++)
		argv[n++] = unit_arguments[i];
	argv[n++] = e->unit;
	argv[n++] = "--";
	limit = n + CONFIG_WORDS; /* the configuration has no more */
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

/* @name: of its file. False after a message. */
static bool start(const char *command, const char *name, int fd, struct running *ret)
{
	struct event event;

	if (!event_read(fd, &event)) {
		log_error("on-attack: '" SPOOL_DIR "/%s' is not the daemon's", name);
		return false;
	}
	ret->pid = fork();
	if (!ret->pid)
		become(command, fd, &event);
	if (ret->pid < 0) {
		log_error("on-attack: cannot fork: %s", strerror(errno));
		ret->pid = 0;
		return false;
	}
	strcpy(ret->attack, event.attack);
	return true;
}

/* The command still hears of the start of that attack: its end waits. */
static bool waits(const void *context, const char *name)
{
	const struct running *running = context;

	for (int i = 0; i < AT_ONCE; i++) {
		size_t n = strlen(running[i].attack);

		if (running[i].pid && !strncmp(name, running[i].attack, n) &&
		    name[n] == '.')
			return true;
	}
	return false;
}

static void rest(void)
{
	struct timespec time = { 0, REST_MS * 1000000L };

	nanosleep(&time, NULL);
}

/* Make room in place of those that have ended. Returns true if one failed. */
static bool reap(const char *command, struct running *running)
{
	bool failed = false;
	int status;

	for (int i = 0; i < AT_ONCE; i++) {
		if (!running[i].pid || waitpid(running[i].pid, &status, WNOHANG) <= 0)
			continue;
		if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
			log_error("on-attack: '%s' has failed for attack %s", command,
				  running[i].attack);
			failed = true;
		}
		running[i].pid = 0;
	}
	return failed;
}

static struct running *find_place(struct running *running)
{
	for (int i = 0; i < AT_ONCE; i++)
		if (!running[i].pid)
			return &running[i];
	return NULL;
}

static bool is_idle(const struct running *running)
{
	for (int i = 0; i < AT_ONCE; i++)
		if (running[i].pid)
			return false;
	return true;
}

/* Until nothing was there and nothing ran for a while: what comes meanwhile is begun
 * with, unless it is of an attack that one is being told of. */
static int run_all(const char *command)
{
	struct running running[AT_ONCE] = { 0 };
	char name[SPOOL_NAME];
	bool failed = false;
	int idle_ms = 0;

	while (idle_ms < LINGER_MS) {
		struct running *place = find_place(running);
		int fd = place ? spool_take(SPOOL_DIR, waits, running, name) : -EAGAIN;

		if (fd >= 0) {
			failed |= !start(command, name, fd, place);
			close(fd);
		} else if (fd != -ENOENT && fd != -EAGAIN) {
			log_error("on-attack: cannot take from '" SPOOL_DIR "': %s",
				  strerror(-fd));
			return exit_status(fd);
		} else {
			failed |= reap(command, running);
			idle_ms = is_idle(running) ? idle_ms + REST_MS : 0;
			rest();
		}
	}
	return failed ? EXIT_REST : 0;
}

/* Discard all events, or they would have systemd start us again and again. */
static void discard_all(void)
{
	size_t count;

	for (int waited = 0; waited < LINGER_MS; waited += REST_MS)
		rest();
	count = spool_discard(SPOOL_DIR);
	if (count)
		log_error(
			"on-attack: %zu events discarded, because the command could not be "
			"run",
			count);
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
	else
		discard_all();
	free(config);
	return status;
}
