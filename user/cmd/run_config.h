/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * run_config.h - the configurations of `run`: that of the file, or the one before, with
 * the options of the command line, and the defaults that depend on the interfaces. Called
 * by cmd_run.c at the start and at each reload.
 */
#ifndef RUN_CONFIG_H
#define RUN_CONFIG_H

#include "cmd/options.h"
#include "config/config.h"

struct run_config {
	const struct call *call;
	const char *path; /* of the file; NULL: the default one */
	const char *pin;
	/* Options of the command line, which override the file, at every reload too. */
	char interfaces[CONFIG_INTERFACES][IF_NAMESIZE];
	size_t count;
	int mode; /* enum attach_mode, or -1 */
	bool observe;
	bool take_over;
	/* Datagrams that the shield sends might not arrive: of the last
	 * run_config_resolve() */
	bool no_return_path;
};

/* Read the options of @call. 0 or -EINVAL after a message. */
int run_config_options(const struct call *call, struct run_config *ret);

/*
 * Return true if an interface is a veth in native mode. Then the shield sends no
 * challenges and no cached responses unless the configuration says so: the other end may
 * not receive them.
 */
bool run_config_no_return_path(const struct config *config);

/*
 * Give the services of @config the defaults that they have now, and log what is off.
 * @no_return_path: of the daemon's interfaces.
 */
void run_config_resolve(struct run_config *c, struct config *config, bool no_return_path);

/*
 * Read the configuration of the file and the command line. 0, or -errno after a message.
 * The second of two names of one interface is left out, after a warning. Alternative
 * names stay, so that the interface is found by them after it was renamed.
 */
int run_config_read(struct run_config *c, struct config *ret);

/*
 * Read the configuration that was in force before @now. If it names no interface, it has
 * those of @now, so that none loses its protection. 0, or -errno after a message.
 */
int run_config_previous(struct run_config *c, const struct config *now,
			struct config *ret);

#endif /* RUN_CONFIG_H */
