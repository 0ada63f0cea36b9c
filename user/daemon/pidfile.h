/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * daemon.h - the one `quakeshield run` of a pin directory, found through its locked pid
 * file.
 */
#ifndef DAEMON_H
#define DAEMON_H

#include <sys/types.h>

/* Take the pid file for @pin_dir (NULL: default); -EBUSY if another daemon holds it. */
int daemon_claim(const char *pin_dir);

/* The process that holds it; 0: none. */
pid_t daemon_pid(const char *pin_dir);

#endif /* DAEMON_H */
