// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * attack_command.c - see attack_command.h.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <systemd/sd-daemon.h>

#include "daemon/attack_command.h"
#include "daemon/spool.h"
#include "lib/log.h"

/* Give up the oldest of c->ends, for @why. */
static void ends_give_up(struct attack_command *c, const char *why)
{
	const json_t *oldest = json_array_get(c->ends, 0);

	log_error("'%s' is not told of the end of attack %s: %s", c->command,
		  json_string_value(json_object_get(oldest, "id")), why);
	json_array_remove(c->ends, 0);
}

void attack_command_take(struct attack_command *c, const struct config *config,
			 bool pinned)
{
	while (!config->on_attack[0] && json_array_size(c->ends))
		ends_give_up(c, "a reload has removed on-attack");
	strcpy(c->command, config->on_attack);
	if (!c->command[0])
		return;
	if (pinned) {
		/* The spool has one command, and ids of attacks are one daemon's. */
		log_warn("on-attack '%s' is not run: not for a shield of --pin, only for "
			 "the machine's",
			 c->command);
		c->command[0] = 0;
		return;
	}
	if (sd_booted() > 0)
		return;
	log_warn("on-attack '%s' is not run: this machine was not started by systemd, "
		 "which runs it in a unit of its own",
		 c->command);
	c->command[0] = 0;
}

#define HOUR_MS	      3600000
#define START_EACH_MS (HOUR_MS / COMMAND_STARTS_HOUR)

/*
 * Return true if the command may be told of one more start at @steady_ms: at most
 * COMMAND_STARTS_HOUR an hour are, as many at once. The caller adds START_EACH_MS to
 * c->starts_ms once it was told.
 */
static bool limit_allows(struct attack_command *c, int64_t steady_ms)
{
	if (c->starts_ms < steady_ms - HOUR_MS)
		c->starts_ms = steady_ms - HOUR_MS;
	return c->starts_ms + START_EACH_MS <= steady_ms;
}

/* Put @event of the attack in @object into the spool. @untold: how many attacks were kept
 * from the command before. 0 or -errno. */
static int put_now(enum incident_event event, json_t *object, int untold)
{
	const char *id = json_string_value(json_object_get(object, "id"));
	json_t *copy = json_copy(object);
	char name[INCIDENT_ID + 16];
	int err;

	json_object_set_new(copy, "event", json_string(incident_event_name(event)));
	json_object_set_new(copy, "told", json_true());
	if (untold)
		json_object_set_new(copy, "untold", json_integer(untold));
	snprintf(name, sizeof(name), "%s.%s", id, incident_event_name(event));
	err = copy ? spool_put(SPOOL_DIR, name, copy) : -ENOMEM;
	json_decref(copy);
	return err;
}

/*
 * Put the ends that the spool did not take before, in their order. One that no spool
 * takes is given up, or no attack would be told of any more. 0 or -errno. Called by
 * put() and attack_command_stop(), and each second by attack_command_check(). At most
 * COMMAND_ENDS wait.
 */
static int ends_put(struct attack_command *c)
{
	int err = 0;

	while (!err && json_array_size(c->ends)) {
		err = put_now(INCIDENT_ENDED, json_array_get(c->ends, 0), c->untold);
		if (!err) {
			c->untold = 0;
			json_array_remove(c->ends, 0);
		} else if (err == -EMSGSIZE) {
			ends_give_up(c, "it is too large for '" SPOOL_DIR "'");
			err = 0;
		}
	}
	return err;
}

/*
 * Put @event behind the ends that wait: the end of an attack may undo what the start of
 * the next one did. 0 or -errno; @first: after a message. An attack that is told of late
 * was counted in c->untold when it began.
 */
static int put(struct attack_command *c, enum incident_event event, json_t *object,
	       bool first)
{
	const char *id = json_string_value(json_object_get(object, "id"));
	const char *later = event == INCIDENT_ENDED ? "yet of the end of" : "of";
	int err = ends_put(c);

	if (!err)
		err = put_now(event, object, c->untold - (!first && c->untold > 0));
	if (!err)
		c->untold = 0;
	else if (err == -EDQUOT && first)
		log_error("'%s' is not told %s attack %s: %d events wait in '" SPOOL_DIR
			  "' already, and are not taken",
			  c->command, later, id, SPOOL_MAX);
	else if (first)
		log_error("'%s' is not told %s attack %s: cannot write to '" SPOOL_DIR
			  "': %s",
			  c->command, later, id, strerror(-err));
	return err;
}

/* Tell the command of an end, or keep it in c->ends until the spool takes it. */
static void notify_end(struct attack_command *c, json_t *object)
{
	if (!put(c, INCIDENT_ENDED, object, true))
		return;
	if (!c->ends)
		c->ends = json_array();
	if (json_array_size(c->ends) >= COMMAND_ENDS)
		ends_give_up(c, "too many others wait");
	json_array_append(c->ends, object);
}

/*
 * Tell the command that @i begins, if the limit allows it. @event: what it is: a start
 * that could not be told is told in place of an update.
 */
static void notify_start(struct attack_command *c, struct incident *i,
			 enum incident_event event, json_t *object)
{
	bool first = event == INCIDENT_STARTED;

	if (limit_allows(c, i->reported_ms)) {
		i->told = !put(c, INCIDENT_STARTED, object, first);
		if (i->told)
			c->starts_ms += START_EACH_MS;
	} else if (first && !c->untold) {
		log_warn("'%s' is not told of attack %s: %d attacks an hour are the "
			 "most; the next one that it is told of says how many it "
			 "was not",
			 c->command, i->id, COMMAND_STARTS_HOUR);
	}
	if (!i->told && first)
		c->untold++;
}

void attack_command_notify(struct attack_command *c, struct incident *i,
			   enum incident_event event, json_t *object)
{
	if (!c->command[0])
		return;
	if (event != INCIDENT_ENDED && !i->told)
		notify_start(c, i, event, object);
	else if (event == INCIDENT_ENDED && i->told)
		notify_end(c, object);
}

void attack_command_check(struct attack_command *c)
{
	bool stale = c->command[0] && spool_is_stale(SPOOL_DIR);

	if (stale && !c->stale)
		log_warn("'%s' is not run: events in '" SPOOL_DIR
			 "' are not taken. Is quakeshield-attack.path enabled?",
			 c->command);
	c->stale = stale;
	ends_put(c);
}

void attack_command_stop(struct attack_command *c)
{
	ends_put(c);
	while (json_array_size(c->ends))
		ends_give_up(c, "the daemon ends");
	json_decref(c->ends);
	c->ends = NULL;
}
