/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pidfile.h - makes sure that one `quakeshield run` at a time uses a pin directory, by a
 * locked pid file that only root may open: /run/quakeshield/daemon-*.pid. The first line
 * holds the process; the next lines hold what other commands must know of how it was
 * started.
 */
#ifndef PIDFILE_H
#define PIDFILE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

struct daemon_facts {
	pid_t pid; /* 0 for pidfile_claim(), which fills it in */
	char config[PATH_MAX]; /* the file that it reads, as an absolute path; "": unknown
				*/
	bool observe; /* told to drop nothing, whatever the file says */
	bool interfaces; /* told which, whatever the file says */
	bool set; /* told more that goes before what the file says */
};

/*
 * Take the pid file for @pin_dir (NULL: default), and write @facts into it. 0; -EBUSY if
 * another daemon holds it; or -errno. Files that no process holds any more are removed.
 */
int pidfile_claim(const char *pin_dir, const struct daemon_facts *facts);

/* Remove the pid file. Called by its holder when it ends. */
void pidfile_release(const char *pin_dir);

/*
 * Read the facts of the daemon that holds it. False: no daemon does, or this process may
 * not look (only root may).
 */
bool pidfile_facts(const char *pin_dir, struct daemon_facts *ret);
/* Return the process that holds it; 0: none. */
pid_t pidfile_pid(const char *pin_dir);

#endif /* PIDFILE_H */
