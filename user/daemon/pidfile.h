/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pidfile.h - the one `quakeshield run` of a pin directory, found through its locked pid
 * file in a directory of its own, which root alone may open:
 * /run/quakeshield/daemon-*.pid. The process is on its first line; what others must know
 * of how it was started is on the next ones.
 */
#ifndef PIDFILE_H
#define PIDFILE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

struct daemon_facts {
	pid_t pid; /* 0: written by the one who claims */
	char config[PATH_MAX]; /* the file that it reads, as an absolute path; "": unknown
				*/
	bool observe; /* told to drop nothing, whatever the file says */
	bool interfaces; /* told which, whatever the file says */
	bool set; /* told more that goes before what the file says */
};

/*
 * Take the pid file for @pin_dir (NULL: default), and write @facts into it; -EBUSY if
 * another daemon holds it. Files that nobody holds any more are removed.
 */
int pidfile_claim(const char *pin_dir, const struct daemon_facts *facts);

/* The holder ends: takes its file away. */
void pidfile_release(const char *pin_dir);

/* Who holds it. False: nobody, or we may not look (only root may). */
bool pidfile_facts(const char *pin_dir, struct daemon_facts *ret);
/* The process that holds it; 0: none. */
pid_t pidfile_pid(const char *pin_dir);

#endif /* PIDFILE_H */
