/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * explain_watch.h - what happens to one address, second by second: its flows, the classes
 * of which something passed, and refusals as far as the programs sample them.
 *
 * Each look reads the tables and compares them with the look before. It writes nothing,
 * and its memory is bounded by services and EXPLAIN_FLOWS.
 */
#ifndef EXPLAIN_WATCH_H
#define EXPLAIN_WATCH_H

#include "explain/explain.h"

enum watch_event {
	WATCH_FLOW, /* a flow began, or is in another state */
	WATCH_ENDED, /* a flow is gone */
	WATCH_PLAYED, /* datagrams of a player passed */
	WATCH_PASSED, /* one or more datagrams of a class passed */
	WATCH_REFUSED, /* a datagram of a class was refused or challenged */
};

struct watch_line {
	enum watch_event event;
	const char *service;
	__u16 port; /* of a flow's */
	enum about_state state; /* of WATCH_FLOW */
	__u32 packets; /* of WATCH_PLAYED */
	enum wire_class class; /* of WATCH_PASSED, WATCH_REFUSED */
	enum reason reason; /* of WATCH_REFUSED */
};

struct watcher;

/*
 * Begin to watch @query's address. 0 and *@ret, for watch_end(); -ENOENT: no such
 * service, or -ENOMEM; after a message. @shield must outlive the watcher.
 */
int watch_begin(const struct shield *shield, const struct explain_query *query,
		struct watcher **ret);
/* Free the watcher, which may be NULL. */
void watch_end(struct watcher *watcher);

/* Look once: @each gets what is new since the look before. */
void watch_look(struct watcher *watcher,
		void (*each)(const struct watch_line *line, void *context),
		void *context);

struct json_t;
/*
 * Return one line as an object of watch_json_keys, which the caller releases. @time:
 * seconds since 1970.
 */
struct json_t *watch_to_json(const struct watch_line *line, double time);
/* Write one line of text. @time: as it is to stand in front. */
void watch_print(const struct watch_line *line, const char *time, FILE *out);
extern const struct json_key watch_json_keys[];

#endif /* EXPLAIN_WATCH_H */
