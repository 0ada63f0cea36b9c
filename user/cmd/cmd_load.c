// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * cmd_load.c - `load`, `detach` and `reload`: what works on pins, daemon alive or not.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/commands.h"
#include "config/config.h"
#include "daemon/pidfile.h"
#include "lib/log.h"
#include "shield/shield.h"

#define DAEMON_WAIT_MS 5000 /* for what a daemon does at once, as a rule */

struct options {
	const char *config;
	const char *pin;
};

/* 0: go on; 1: help was shown; -EINVAL. */
static int parse(int argc, char **argv, const char *help, struct options *ret)
{
	static const struct option options[] = {
		{ "config", required_argument, NULL, 'c' },
		{ "pin", required_argument, NULL, 'p' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int c;

	optind = 1;
	opterr = 0;
	while ((c = getopt_long(argc, argv, ":c:p:h", options, NULL)) != -1) {
		switch (c) {
		case 'c':
			ret->config = optarg;
			break;
		case 'p':
			ret->pin = optarg;
			break;
		case 'h':
			puts(help);
			return 1;
		case ':':
			log_error("%s: '%s' needs a value", argv[0], argv[optind - 1]);
			return -EINVAL;
		default:
			log_error("%s: no such option: '%s'", argv[0], argv[optind - 1]);
			return -EINVAL;
		}
	}
	if (optind < argc) {
		log_error("%s: unexpected argument: '%s'", argv[0], argv[optind]);
		return -EINVAL;
	}
	return 0;
}

int cmd_load(int argc, char **argv)
{
	struct options o = { 0 };
	struct config *config;
	struct shield *shield;
	int err;

	err = parse(argc, argv, "usage: quakeshield load [-c FILE] --pin DIR", &o);
	if (err)
		return err < 0;
	if (!o.pin) {
		log_error(
			"load: --pin DIR says where to pin; it must be below /sys/fs/bpf");
		return 1;
	}
	config = calloc(1, sizeof(*config));
	if (!config)
		return 1;
	err = config_load(o.config, config);
	if (!err)
		err = shield_load(o.pin, config, &shield);
	if (!err)
		shield_close(shield);
	free(config);
	return err != 0;
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

int cmd_detach(int argc, char **argv)
{
	struct options o = { 0 };
	size_t count;
	pid_t pid;
	int err;

	err = parse(argc, argv, "usage: quakeshield detach [--pin DIR]", &o);
	if (err)
		return err < 0;
	pid = pidfile_pid(o.pin);
	if (pid > 0 && end_daemon(o.pin, pid))
		return 1;
	err = shield_detach(o.pin, &count);
	if (err)
		return 1;
	if (count)
		printf("detached from %zu interface%s; counters and budgets are gone\n",
		       count, count == 1 ? "" : "s");
	else
		printf("nothing was attached\n");
	return 0;
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

/* Ask the daemon, which knows its file; it flips the generation when it is done. */
static int reload_daemon(const struct shield *shield, const char *pin,
			 const struct daemon_facts *daemon)
{
	__u32 before = shield_generation(shield);
	int pid = (int)daemon->pid;

	if (*daemon->config && check_first(pin, daemon))
		return -EINVAL;
	if (kill(daemon->pid, SIGHUP)) {
		log_error("cannot signal the daemon (process %d): %s", pid,
			  strerror(errno));
		return -errno;
	}
	for (int waited = 0; waited < DAEMON_WAIT_MS; waited += 20) {
		if (shield_generation(shield) != before) {
			printf("reloaded by the daemon (process %d)%s\n", pid,
			       daemon->observe
				       ? ", which runs with --observe: nothing is "
					 "dropped"
				       : "");
			return 0;
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

/* Apply a file that need not be the daemon's. */
static int reload_file(struct shield *shield, const char *path,
		       const struct daemon_facts *daemon)
{
	struct config *config = calloc(1, sizeof(*config));
	int err = -ENOMEM;

	if (!config)
		return err;
	err = config_load(path, config);
	if (!err && daemon->observe)
		config->observe = true; /* it was started so, and is to be ended so */
	if (!err)
		err = shield_apply(shield, config);
	if (!err)
		say_unattached(shield, config);
	if (!err)
		printf("applied%s%s\n",
		       daemon->pid > 0 ? "; the daemon's own file is unchanged" : "",
		       daemon->observe ? "; it runs with --observe: nothing is dropped"
				       : "");
	free(config);
	return err;
}

int cmd_reload(int argc, char **argv)
{
	struct daemon_facts daemon = { 0 };
	struct options o = { 0 };
	struct shield *shield = NULL;
	int err;

	err = parse(argc, argv, "usage: quakeshield reload [-c FILE] [--pin DIR]", &o);
	if (err)
		return err < 0;
	err = shield_open(o.pin, &shield);
	if (err) {
		if (err == -ENOENT)
			log_error("nothing is loaded: start `quakeshield run` first");
		return 1;
	}
	if (pidfile_facts(o.pin, &daemon) && !o.config)
		err = reload_daemon(shield, o.pin, &daemon);
	else
		err = reload_file(shield, o.config, &daemon);
	shield_close(shield);
	return err != 0;
}
