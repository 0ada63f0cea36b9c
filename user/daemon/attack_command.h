/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * attack_command.h - what the command of `on-attack` is told: the start and the end of
 * attacks, as files for spool.h. Called by incident_monitor.c. It starts no process.
 *
 * The command is told of an end only if it was told of the start, by this daemon or by an
 * earlier one: it may have to undo what it did then. An end that the spool does not take
 * is put again each second, and no start is put before it; those that wait when the
 * daemon ends, or when a reload removes the command, are lost, with a message. So is one
 * that is too large for the spool.
 */
#ifndef ATTACK_COMMAND_H
#define ATTACK_COMMAND_H

#include <jansson.h>

#include "config/config.h"
#include "daemon/spool.h"
#include "incident/incident.h"

#define COMMAND_STARTS_HOUR 30 /* attacks an hour for which the command is run */
#define COMMAND_ENDS	    SPOOL_MAX /* that wait for room; the oldest gives way */

struct attack_command {
	char command[CONFIG_COMMAND]; /* "": none is run */
	int64_t starts_ms; /* steady: state of COMMAND_STARTS_HOUR, as in limit.h */
	int untold; /* attacks since the command was last told of one */
	json_t *ends; /* objects that the spool did not take, none without a command;
		       * NULL: none so far */
	bool stale; /* so is the spool, and that was logged */
};

/*
 * Take the command of @config, or none, with a warning, if it cannot be run. @pinned: the
 * shield is not the machine's, but one of --pin. @c: all 0 before the first call.
 */
void attack_command_take(struct attack_command *c, const struct config *config,
			 bool pinned);

/*
 * Put @event of @i into the spool, if the command is to be told of it now, and note in
 * i->told that it was told of the start. @object: of incident_json() for @event; it is
 * not changed.
 */
void attack_command_notify(struct attack_command *c, struct incident *i,
			   enum incident_event event, json_t *object);

/*
 * Log once that events in the spool are not taken, and put the ends that wait for room in
 * it. Called once a second.
 */
void attack_command_check(struct attack_command *c);

/* Put the ends that wait a last time, log those that are lost, and free all. */
void attack_command_stop(struct attack_command *c);

#endif /* ATTACK_COMMAND_H */
