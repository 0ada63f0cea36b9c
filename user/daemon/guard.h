/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * guard.h - keeps the interfaces of the configuration attached: waits for one that is not
 * there yet, and attaches again where an interface came back or a half was taken off.
 *
 * A foreign program is never replaced; that one is there, and that it is gone, is said
 * once.
 */
#ifndef GUARD_H
#define GUARD_H

#include <time.h>

#include "config/config.h"
#include "shield/shield.h"

/* What has last been said of an interface. */
enum post_state {
	POST_NEW,
	POST_OURS,
	POST_ABSENT, /* there is no such interface */
	POST_FAILED, /* what the kernel or somebody else does not let us do */
};

struct post {
	char interface[IF_NAMESIZE];
	enum post_state state;
	bool once; /* it has been attached before */
	bool fresh; /* attached by this process, where nothing of ours was */
	/* What the last try was about: another one may go better at once. */
	unsigned int ifindex;
	__u32 program_id;
	time_t next; /* not to be tried before, on the monotonic clock */
	int pause_s; /* until then; doubles with each try that fails */
};

struct guard {
	struct shield *shield;
	const char *pin;
	bool take_over; /* from the machine's quakeshield, though its daemon runs */
	bool wait; /* an interface that is not there is waited for, not an error */
	enum attach_mode mode;
	bool observe; /* what is attached drops nothing: to be said */
	size_t count;
	struct post posts[CONFIG_INTERFACES];
};

/*
 * Could all interfaces of @config be attached to? 0, or -errno after a message; nothing
 * has changed. To be asked before shield_load().
 */
int guard_check(const struct guard *guard, const struct config *config);

/* Attach to all of them, or to none: 0, or -errno after a message. */
int guard_start(struct guard *guard, const struct config *config);

/* Take off what guard_start() has newly attached: what came after it has failed. */
void guard_undo(struct guard *guard);

/* Attach to those that @config names and the guard did not, detach from those it does not
 * name any more. To be asked guard_check() before. */
void guard_reload(struct guard *guard, const struct config *config);

/* Attach again where it is needed and possible. How many are protected. */
size_t guard_look(struct guard *guard);

#endif /* GUARD_H */
