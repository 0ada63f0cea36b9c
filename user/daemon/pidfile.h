/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pidfile.h - the one `quakeshield run` of a pin directory, found through its locked pid
 * file in a directory of its own, which root alone may open:
 * /run/quakeshield/daemon-*.pid.
 */
#ifndef PIDFILE_H
#define PIDFILE_H

#include <sys/types.h>

/* Take the pid file for @pin_dir (NULL: default); -EBUSY if another daemon holds it. */
int pidfile_claim(const char *pin_dir);

/* The holder ends: takes its file away. */
void pidfile_release(const char *pin_dir);

/* The process that holds it; 0: none, or we may not look (only root may). */
pid_t pidfile_pid(const char *pin_dir);

#endif /* PIDFILE_H */
