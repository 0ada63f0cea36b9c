// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * cmd_load.c - `load`, `detach` and `reload`: what works on pins, daemon alive or not.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "cmd/commands.h"
#include "config/config.h"
#include "daemon/pidfile.h"
#include "incident/incident_store.h"
#include "lib/json_key.h"
#include "lib/log.h"
#include "samples/lag_file.h"
#include "shield/shield.h"

#define DAEMON_WAIT_MS 5000 /* for what a daemon does at once, as a rule */

/* Until one comes nobody asks their servers, so that to look for answers is in vain. */
static void without_daemon(struct config *config)
{
	for (size_t i = 0; i < config->service_count; i++)
		if (!config->services[i].answers_said)
			config->services[i].service.answers = ANSWERS_OFF;
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
	if (!err)
		shield_close(shield);
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

/* What the daemon has kept of clients: remove it, or say that it is there. */
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
	int err = 0;

	if (pid > 0)
		err = end_daemon(pin, pid);
	if (!err)
		err = shield_detach(pin, &count);
	if (err)
		return exit_status(err);
	lag_file_path(pin, players);
	lag_file_remove(players);
	if (count)
		printf("detached from %zu interface%s; counters and budgets are gone\n",
		       count, count == 1 ? "" : "s");
	else
		printf("nothing was attached\n");
	return purge(call, pin);
}

/* What the daemon would say in its log only: the line of the file, a foreign program. */
static int check_first(const char *pin, const struct daemon_facts *daemon)
{
	struct config *config = calloc(1, sizeof(*config));
	enum holder holder;
	int err = -ENOMEM;

	if (!config)
		return err;
	err = config_load(daemon->config, config);
	for (size_t i = 0; !err && !daemon->interfaces && i < config->interface_count;
	     i++) {
		err = shield_look_at(pin, config->interfaces[i], &holder);
		if (err == -ENODEV) /* it is waited for */
			err = 0;
	}
	free(config);
	if (err)
		log_error(
			"the daemon (process %d) was not asked: its configuration stays in "
			"force",
			(int)daemon->pid);
	return err;
}

const struct json_key reload_json_keys[] = {
	JSON_KEY("applied_by", "string", NULL,
		 "`daemon`, or `reload` where a file was given."),
	JSON_KEY("daemon", "integer|null", NULL,
		 "Process of the daemon; null: none runs."),
	JSON_KEY("observe", "boolean", NULL,
		 "The daemon runs with --observe: nothing is dropped."),
	JSON_KEY("generation", "integer", NULL, "Number of the configuration in force."),
	JSON_END,
};

/* Say what was done, by the daemon or, of another @file, by us. */
static int reloaded(const struct shield *shield, const struct daemon_facts *daemon,
		    bool file, bool json)
{
	if (json)
		return print_json(json_pack("{s:s, s:o, s:b, s:I}", "applied_by",
					    file ? "reload" : "daemon", "daemon",
					    daemon->pid > 0 ? json_integer(daemon->pid)
							    : json_null(),
					    "observe", daemon->observe, "generation",
					    (json_int_t)shield_generation(shield)))
			       ? -EIO
			       : 0;
	if (file)
		printf("applied%s%s\n",
		       daemon->pid > 0 ? "; the daemon's own file is unchanged" : "",
		       daemon->observe ? "; it runs with --observe: nothing is dropped"
				       : "");
	else
		printf("reloaded by the daemon (process %d)%s\n", (int)daemon->pid,
		       daemon->observe ? ", which runs with --observe: nothing is dropped"
				       : "");
	return 0;
}

/* Ask the daemon, which knows its file; it flips the generation when it is done. */
static int reload_daemon(const struct shield *shield, const char *pin,
			 const struct daemon_facts *daemon, bool json)
{
	__u32 before = shield_generation(shield);
	int pid = (int)daemon->pid;

	/* With --set the file is not all of it. */
	if (*daemon->config && !daemon->set && check_first(pin, daemon))
		return -EINVAL;
	if (kill(daemon->pid, SIGHUP)) {
		log_error("cannot signal the daemon (process %d): %s", pid,
			  strerror(errno));
		return -errno;
	}
	for (int waited = 0; waited < DAEMON_WAIT_MS; waited += 20) {
		if (shield_generation(shield) != before) {
			return reloaded(shield, daemon, false, json);
		}
		usleep(20000);
	}
	log_error(
		"the daemon (process %d) did not take the configuration; its log says why, the "
		"old one stays in force",
		pid);
	return -ETIMEDOUT;
}

/* Interfaces are the daemon's: who names another one should not believe it protected. */
static void say_unattached(const struct shield *shield, const struct config *config)
{
	struct shield_link links[CONFIG_INTERFACES];
	size_t n = shield_links(shield, links, CONFIG_INTERFACES);

	for (size_t i = 0; i < config->interface_count; i++) {
		bool found = false;

		for (size_t j = 0; j < n && j < CONFIG_INTERFACES; j++)
			found |= !strcmp(links[j].interface, config->interfaces[i]);
		if (!found)
			log_warn("reload -c attaches nothing: '%s' is not protected",
				 config->interfaces[i]);
	}
}

static bool in_force(const struct shield *shield, const char *name)
{
	struct service service;

	for (__u32 slot = 0; slot < SERVICES_MAX; slot++)
		if (shield_service(shield, slot, &service) &&
		    !strncmp(service.name, name, NAME_MAX_LEN))
			return true;
	return false;
}

/* Services that come with @config, to be answered for; the first of them. */
static size_t newcomers(const struct shield *shield, const struct config *config,
			const char **ret_first)
{
	size_t count = 0;

	for (size_t i = 0; i < config->service_count; i++) {
		const struct service *s = &config->services[i].service;

		if (!s->answers || s->observe || in_force(shield, s->name))
			continue;
		if (!count++)
			*ret_first = s->name;
	}
	return count;
}

/* Servers are asked by the daemon: who adds a service should not believe it answered. */
static void say_unasked(const char *first, size_t count)
{
	char more[32] = "";

	if (count > 1)
		snprintf(more, sizeof(more), " and %zu more", count - 1);
	log_warn("reload -c asks no server, and the daemon asks those of its own file: "
		 "unless '%s'%s %s in that, too, nothing is answered for %s",
		 first, more, count == 1 ? "is" : "are", count == 1 ? "it" : "them");
}

/* Apply a file that need not be the daemon's. */
static int reload_file(struct shield *shield, const struct call *call,
		       const struct daemon_facts *daemon)
{
	struct config *config = calloc(1, sizeof(*config));
	struct config_silent silent;
	const char *first = NULL;
	char veth[IF_NAMESIZE];
	size_t fresh = 0;
	int err = -ENOMEM;

	if (!config)
		return err;
	err = call_config(call, config);
	if (!err)
		config_settle(config, shield_unheard(shield, veth), &silent);
	if (!err && daemon->pid <= 0)
		without_daemon(config);
	if (!err && daemon->observe)
		config->observe = true; /* it was started so, and is to be ended so */
	if (!err && daemon->pid > 0 && !config->observe)
		fresh = newcomers(shield, config, &first);
	if (!err)
		err = shield_apply(shield, config);
	if (!err)
		say_unattached(shield, config);
	if (!err && fresh)
		say_unasked(first, fresh);
	if (!err)
		err = reloaded(shield, daemon, true, call_has(call, OPTION_JSON));
	free(config);
	return err;
}

int cmd_reload(const struct call *call)
{
	const char *pin = call_value(call, OPTION_PIN);
	bool file = call_has(call, OPTION_CONFIG) || call_has(call, OPTION_SET);
	struct daemon_facts daemon = { 0 };
	struct shield *shield = NULL;
	int err = call_open(call, &shield);

	if (err)
		return err;
	if (pidfile_facts(pin, &daemon) && !file)
		err = reload_daemon(shield, pin, &daemon, call_has(call, OPTION_JSON));
	else
		err = reload_file(shield, call, &daemon);
	shield_close(shield);
	return exit_status(err);
}
