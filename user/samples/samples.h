/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * samples.h - the daemon's view of the traffic: samples are read, decoded, written, and
 * turned into figures of the players.
 *
 *	ring buffer -> samples_decode -> { samples_write, lagometer, decoded } -> players
 *	file, metrics
 *
 * Runs in the daemon's loop and its one thread, within a limit of processor time
 * (output.cpu-percent): samples over it are taken from the ring buffer without decoding,
 * and counted.
 */
#ifndef SAMPLES_H
#define SAMPLES_H

#include <stdio.h>

#include "lag/lag_minute.h"
#include "samples/samples_ring.h"
#include "samples/samples_write.h"
#include "shield/shield.h"
#include "stats/decoded.h"
#include "lib/drop_sources.h"

#define SAMPLES_PLAYERS 256 /* with figures */

struct samples_view;

struct samples_stats {
	uint64_t samples[SAMPLER_COUNT]; /* read from the ring buffer */
	uint64_t shed[SAMPLER_COUNT]; /* of them not looked at: over the budget */
	uint64_t decoded; /* the rest */
	uint64_t unparsed; /* of the rest: no datagram in it that we can find */
	uint64_t status[RECORD_STATUS_COUNT]; /* of the records, by enum record_status */
	struct sampled kernel[SAMPLER_COUNT]; /* taken, limited, lost: by the programs */
	int64_t cpu_ns; /* spent on all this */
	uint32_t cpu_percent; /* the budget, of one processor */
	struct samples_writer_stats writer;
	struct drop_sources top_prefixes; /* where statistic samples of drops came from */
	const struct decoded *by_service; /* the records; NULL: not counted */
	const struct lag_minutes *minutes; /* verdicts on players; NULL: none */
};

/*
 * Begin to read @shield's samples, in the loop of user/lib/loop.h. @pin: as given to
 * shield_load(). 0 or -errno after a message. Once for the life of the process.
 */
int samples_open(struct shield *shield, const struct config *config, const char *pin,
		 struct samples_view **ret);
/*
 * End reading, and free @live. The players file stays: the next daemon takes the names
 * from it that it does not hear itself. It is not updated any more, so after
 * LAG_FILE_STALE_NS it counts for nothing else.
 */
void samples_close(struct samples_view *live);

/*
 * Take over the limit and the outputs of @config, which is in force now. The old outputs
 * stay if new ones fail.
 */
int samples_reload(struct samples_view *live, const struct config *config);

/* Open the outputs anew: files have been moved away (SIGUSR1). */
void samples_rotate(struct samples_view *live);

/* The function that samples_watch() sets. @r is valid during the call only. */
typedef void samples_refused(void *context, __u32 slot, const struct record *r);

/*
 * Call @refused with @context for each sampled datagram that was dropped on its way in;
 * it replaces the function before. Called by the daemon, for its incidents.
 */
void samples_watch(struct samples_view *live, samples_refused *refused, void *context);

/*
 * The function that samples_host() sets: it fills all but seen and unseen of @ret, which
 * is all zero.
 */
typedef void samples_totals(void *context, struct lag_totals *ret);

/*
 * Call @totals with @context once a second while the loop runs, for the verdicts on
 * players. Called by the daemon.
 */
void samples_host(struct samples_view *live, samples_totals *totals, void *context);

/* Return the last samples, to open a capture with: samples_ring.h. */
struct samples_ring *samples_ring(struct samples_view *live);

/* Fill in the counts since samples_open(), the programs' own included. */
void samples_stats(const struct samples_view *live, struct samples_stats *ret);

/* Return what is decoded of each service; valid until samples_close(). */
const struct decoded *samples_decoded(const struct samples_view *live);

/*
 * Return the same as an object by the services' names, for stats_json(), which the caller
 * releases.
 */
json_t *samples_decoded_json(const struct samples_view *live);

/*
 * Write the figures of the followed players, of now: docs/SAMPLES.md, players.json. 0 or
 * -errno.
 */
int samples_players(const struct samples_view *live, FILE *out);

#endif /* SAMPLES_H */
