/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * attach_monitor.h - keeps the interfaces of the configuration attached: waits for one
 * that does not exist yet, and attaches again where an interface came back or one of the
 * programs was removed. Called from the daemon's loop.
 *
 * A foreign program is never replaced. That one is there, and that it is gone, is logged
 * once.
 */
#ifndef ATTACH_MONITOR_H
#define ATTACH_MONITOR_H

#include <time.h>

#include "config/config.h"
#include "shield/shield.h"

/* The state of an interface that was last logged. */
enum watched_state {
	WATCHED_NEW,
	WATCHED_ATTACHED,
	WATCHED_ABSENT, /* there is no such interface */
	WATCHED_FAILED, /* the kernel or a foreign program prevents it */
};

struct watched_if {
	char named[IF_NAMESIZE]; /* in the configuration; perhaps an alternative name */
	char interface[IF_NAMESIZE]; /* its own name now, by which links are listed */
	enum watched_state state;
	bool was_attached; /* it has been attached before */
	bool newly_attached; /* attached by this process, where nothing of ours was */
	/* Identity of the last try: another interface or program may be tried at once. */
	unsigned int ifindex;
	__u32 program_id;
	time_t retry_at; /* not to be tried before, on the monotonic clock */
	int retry_s; /* until then; doubles with each try that fails */
};

struct attach_monitor {
	struct shield *shield;
	const char *pin;
	bool take_over; /* from the machine's quakeshield, though its daemon runs */
	bool wait; /* an interface that is not there is waited for, not an error */
	enum attach_mode mode;
	bool observe; /* what is attached drops nothing: to be said */
	size_t count;
	struct watched_if interfaces[CONFIG_INTERFACES];
};

/*
 * Return 0 if all interfaces of @config can be attached to, or -errno after a message.
 * Changes nothing. Call it before shield_load().
 */
int attach_monitor_precheck(const struct attach_monitor *monitor,
			    const struct config *config);

/*
 * Attach to all of them, or to none. 0, or -errno after a message.
 */
int attach_monitor_start(struct attach_monitor *monitor, const struct config *config);

/*
 * Detach from all interfaces that an earlier daemon has left attached and the monitor
 * does not watch, and remove the pins of those that are gone. Call it when the start
 * cannot fail any more: a start that fails must leave them protected.
 */
void attach_monitor_let_go(struct attach_monitor *monitor);

/* Take off what attach_monitor_start() has newly attached: what came after it has failed.
 */
void attach_monitor_undo(struct attach_monitor *monitor);

/*
 * Attach to those that @config names and the monitor did not, then detach from those it
 * does not name any more. To be asked attach_monitor_precheck() before.
 */
void attach_monitor_reload(struct attach_monitor *monitor, const struct config *config);

/* Return true if @interface is one that the monitor keeps attached. */
bool attach_monitor_watches(const struct attach_monitor *monitor, const char *interface);

/*
 * Detach our programs from @interface and attach them anew, in @mode. 0, or -errno after
 * a message: then nothing of ours is on it, and attach_monitor_repair() tries again later
 * in the mode of the configuration. -ENOENT, without a message: the monitor does not know
 * the interface. To be called only for an interface that carries our program.
 */
int attach_monitor_renew(struct attach_monitor *monitor, const char *interface,
			 enum attach_mode mode);

/*
 * Attach again where it is needed and possible. Returns how many interfaces are
 * protected.
 */
size_t attach_monitor_repair(struct attach_monitor *monitor);

#endif /* ATTACH_MONITOR_H */
