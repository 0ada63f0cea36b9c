/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * beside.h - the traffic of a running shield, judged by another configuration as well,
 * for `reload --trial`.
 *
 * Frames come from a tap (capture/tap.h), so the running shield is not touched: its
 * tables are read, never written. Two copies of it judge each frame (replay_beside()):
 * one as it is configured, one by the other configuration. Comparing two copies, instead
 * of one with the shield itself, leaves out what both lack.
 *
 * Each frame is judged at the time at which the kernel received it, so a trial that comes
 * late to a processor judges as one in time.
 *
 * At most BESIDE_RATE datagrams per second are judged. Beyond that the share of the
 * clients' networks is halved, and never grows again. Memory is that of two trials and of
 * a table of BESIDE_ROWS rows.
 */
#ifndef BESIDE_H
#define BESIDE_H

#include <signal.h>
#include <stdio.h>

#include "replay/replay.h"

#define BESIDE_RATE    10000 /* datagrams per second */
#define BESIDE_ROWS    512 /* differences; further ones are counted as one */
#define BESIDE_FIRST   3 /* clients that are named of each */
#define BESIDE_CLIENTS 64 /* clients that are told apart of each */

/* --- what differs: beside_rows.c ------------------------------------------------ */

struct beside_client {
	struct record_address end;
	const char *state; /* "player", "validated", "invited", or NULL: unknown */
};

/* One difference. */
struct beside_row {
	bool used, out; /* out: the datagrams leave */
	struct replay_words now, then;
	bool refuses; /* they pass now, and would not */
	uint64_t datagrams, bytes;
	struct beside_client first[BESIDE_FIRST];
	size_t client_count; /* at most BESIDE_CLIENTS: then there may be more */
	uint64_t clients[BESIDE_CLIENTS]; /* hashes */
};

struct beside_rows {
	struct beside_row rows[BESIDE_ROWS];
	uint64_t judged; /* datagrams of services that are compared */
	uint64_t differ,
		refused; /* of them; and of those, the ones that pass now alone */
	uint64_t doubtful; /* not compared: the copy of now would have refused them */
	uint64_t skipped; /* not compared: too long, or consequences of a difference */
	uint64_t more; /* differences for which there was no room */
};

/* Count a packet. @state: returns the state of its client; called BESIDE_FIRST times for
 * each row. */
void beside_add(struct beside_rows *rows, const struct replay_packet *packet,
		const char *(*state)(void *context, const struct record_address *client),
		void *context);

/* --- the run: beside.c ------------------------------------------------------------ */

struct beside {
	struct replay *replay; /* the names in .rows are its */
	struct beside_rows rows;
	double seconds;
	bool interrupted;
	/* The change of the shield that ended the trial: "reloaded", "detached" or
	 * "replaced", by another program, as an upgrade does; NULL: none did. */
	const char *ended;
	unsigned int share; /* of TAP_SHARES networks, in the end */
	uint64_t lost; /* datagrams that were not judged, for want of time or room */
	uint64_t queue_full; /* of them: the kernel had no room to keep them */
};

/*
 * Judge what passes @ifindexes by the configuration @now, which @shield has, and by
 * @other, for @for_ns, or until *@stop is set by a signal's handler, or the shield is
 * reloaded, detached or replaced. 0 and *@ret, for beside_free(); or -errno after a
 * message.
 */
int beside_run(const struct shield *shield, const int *ifindexes, size_t count,
	       const struct config *now, const struct config *other, int64_t for_ns,
	       const volatile sig_atomic_t *stop, struct beside **ret);
/* Free it; NULL: nothing. */
void beside_free(struct beside *beside);

/* --- telling: beside_tell.c -------------------------------------------------------- */

struct json_t;
extern const struct json_key beside_json_keys[];

/* Print the result. @file: the other configuration's, @now and @other as of
 * beside_run(). */
void beside_print(const struct beside *beside, const char *file, const struct config *now,
		  const struct config *other, FILE *out);

/*
 * Return the same as an object of beside_json_keys, which the caller releases, but
 * without "file": a name that is no UTF-8 is the caller's to write.
 */
struct json_t *beside_to_json(const struct beside *beside, const struct config *now,
			      const struct config *other);

#endif /* BESIDE_H */
