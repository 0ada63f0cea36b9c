// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * cmd_load.c - `load` and `detach`: what works on pins, daemon alive or not.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/commands.h"
#include "config/config.h"
#include "daemon/in_force.h"
#include "daemon/pidfile.h"
#include "incident/incident_store.h"
#include "lib/log.h"
#include "lag/lag_file.h"
#include "shield/shield.h"

#define DAEMON_WAIT_MS 5000 /* for what a daemon does at once, as a rule */

void without_daemon(struct config *config)
{
	for (size_t i = 0; i < config->service_count; i++)
		if (!config->services[i].cache_given)
			config->services[i].service.cache = CACHE_OFF;
}

int cmd_load(const struct call *call)
{
	const char *pin = call_value(call, OPTION_PIN);
	struct config *config;
	struct shield *shield;
	int err;

	if (!pin) {
		log_error(
			"load: --pin DIR says where to pin; it must be below /sys/fs/bpf");
		return EXIT_USAGE;
	}
	config = calloc(1, sizeof(*config));
	if (!config)
		return EXIT_REST;
	err = call_config(call, config);
	if (!err) {
		without_daemon(config);
		err = shield_load(pin, config, &shield);
	}
	if (!err) {
		err = shield_load_apply(shield, config);
		shield_close(shield);
	}
	free(config);
	return exit_status(err);
}

/* A daemon would do nothing without its tables, or attach again what was taken down. */
static int end_daemon(const char *pin, pid_t pid)
{
	if (kill(pid, SIGTERM)) {
		log_error("detach: cannot end the daemon (process %d): %s", (int)pid,
			  strerror(errno));
		return -errno;
	}
	for (int waited = 0; waited < DAEMON_WAIT_MS; waited += 20) {
		if (pidfile_pid(pin) != pid) {
			printf("ended the daemon (process %d)\n", (int)pid);
			return 0;
		}
		usleep(20000);
	}
	log_error("detach: the daemon (process %d) does not end: nothing was detached",
		  (int)pid);
	return -ETIMEDOUT;
}

/* Remove the files that the daemon keeps about clients, or say that they are there. */
static int purge(const struct call *call, const char *pin)
{
	int count = incident_state(pin, call_has(call, OPTION_PURGE));

	if (count < 0) {
		log_error("detach: not all of the state could be removed: %s",
			  strerror(-count));
		return EXIT_REST;
	}
	if (call_has(call, OPTION_PURGE))
		printf("%d file%s of attacks, history and clients' addresses removed\n",
		       count, count == 1 ? "" : "s");
	else if (count)
		printf("kept: %d file%s of attacks, history and clients' addresses; `detach "
		       "--purge` removes them\n",
		       count, count == 1 ? "" : "s");
	return 0;
}

int cmd_detach(const struct call *call)
{
	const char *pin = call_value(call, OPTION_PIN);
	char players[LAG_FILE_PATH_MAX];
	pid_t pid = pidfile_pid(pin);
	size_t count;
	int err = shield_check_detach(pin);

	if (!err && pid > 0)
		err = end_daemon(pin, pid);
	if (!err)
		err = shield_check_served(pin);
	if (!err)
		err = shield_detach(pin, &count);
	if (err)
		return exit_status(err);
	lag_file_path(pin, players);
	lag_file_remove(players);
	in_force_remove(pin);
	if (count)
		printf("detached from %zu interface%s; counters and budgets are gone\n",
		       count, count == 1 ? "" : "s");
	else
		printf("nothing was attached\n");
	return purge(call, pin);
}
