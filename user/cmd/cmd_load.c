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

#define RELOAD_WAIT_MS 5000

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

int cmd_detach(int argc, char **argv)
{
	struct options o = { 0 };
	size_t count;
	int err;

	err = parse(argc, argv, "usage: quakeshield detach [--pin DIR]", &o);
	if (err)
		return err < 0;
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

/* Ask the daemon, which knows its file; it flips the generation when it is done. */
static int reload_daemon(const struct shield *shield, pid_t pid)
{
	__u32 before = shield_generation(shield);

	if (kill(pid, SIGHUP)) {
		log_error("cannot signal the daemon (process %d): %s", (int)pid,
			  strerror(errno));
		return -errno;
	}
	for (int waited = 0; waited < RELOAD_WAIT_MS; waited += 20) {
		if (shield_generation(shield) != before) {
			printf("reloaded by the daemon (process %d)\n", (int)pid);
			return 0;
		}
		usleep(20000);
	}
	log_error(
		"the daemon (process %d) did not take the configuration; its log says why, the "
		"old one stays in force",
		(int)pid);
	return -ETIMEDOUT;
}

int cmd_reload(int argc, char **argv)
{
	struct options o = { 0 };
	struct shield *shield = NULL;
	struct config *config;
	pid_t pid;
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
	config = calloc(1, sizeof(*config));
	if (!config) {
		err = -ENOMEM;
		goto out;
	}
	pid = pidfile_pid(o.pin);
	if (pid > 0 && !o.config) {
		err = reload_daemon(shield, pid);
		goto out;
	}
	err = config_load(o.config, config);
	if (!err)
		err = shield_apply(shield, config);
	if (!err)
		printf("applied%s\n",
		       pid > 0 ? "; the daemon's own file is unchanged" : "");
out:
	free(config);
	shield_close(shield);
	return err != 0;
}
