/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * decoded.h - what decoding tells of each service, as counters: records by protocol, kind
 * and status, and how the followed players of a protocol are connected. Written by the
 * daemon's samples (samples.c, lag_seconds.c), read by metrics and stats.
 *
 * No player has a row. Kinds are the decoders' own words, never bytes of a packet; a
 * service has room for DECODED_KINDS rows, and a kind without a row is counted as
 * unlisted. The protocol is the one that was spoken, so a service of any (`auto`) shows
 * which.
 *
 * Each histogram gets one value a second of each player that sent something lately.
 */
#ifndef DECODED_H
#define DECODED_H

#include <jansson.h>
#include <stdio.h>

#include "abi.h"
#include "lib/histogram.h"
#include "lib/ometric.h"
#include "lib/record.h"
#include "lib/json_key.h"

#define DECODED_PLACES 512 /* of a hash table */
#define DECODED_KINDS  384 /* of these in use at most */

enum decoded_figure {
	DECODED_PING, /* seconds */
	DECODED_LOSS_C2S, /* of what should have come in this second, in [0, 1] */
	DECODED_LOSS_S2C,
	DECODED_SNAPSHOTS, /* a second */
	DECODED_EXTRAPOLATION, /* of the frames drawn in this second, in [0, 1] */
	DECODED_FIGURES
};

struct decoded_row {
	const char *kind; /* NULL: free */
	enum wire_family family;
	enum record_status status;
	enum sampler sampler;
	uint64_t records;
};

struct decoded_service {
	size_t used;
	uint64_t unlisted; /* records that found no room */
	struct decoded_row rows[DECODED_PLACES];
	struct histogram figures[FAMILY_COUNT][DECODED_FIGURES];
};

struct decoded; /* of all services; allocates those of which something was decoded */

/* Return empty counters, or NULL: not enough memory. */
struct decoded *decoded_create(void);
/* Free @d, which may be NULL. */
void decoded_free(struct decoded *d);

/*
 * Count record @r of the service in @slot. Without room or memory it is counted as
 * unlisted, or not at all.
 */
void decoded_record(struct decoded *d, __u32 slot, const struct record *r,
		    enum sampler sampler);

/*
 * Add @value, in the unit of enum decoded_figure, to the histogram of the service in
 * @slot.
 */
void decoded_figure(struct decoded *d, __u32 slot, enum wire_family family,
		    enum decoded_figure figure, double value);
/* Begin @slot at 0: another service is in it now. */
void decoded_forget(struct decoded *d, __u32 slot);

/* Return what was decoded of the service in @slot, or NULL: nothing. */
const struct decoded_service *decoded_service(const struct decoded *d, __u32 slot);

extern const struct histogram_bounds decoded_bounds[DECODED_FIGURES];

extern const struct json_key decoded_json_keys[];

/*
 * Return one service as an object, which the caller releases: docs/SAMPLES.md. NULL:
 * nothing was decoded, or no memory.
 */
json_t *decoded_json(const struct decoded *d, __u32 slot);

struct stats;

/* Write OpenMetrics of the services in @stats; @d may be NULL. */
void decoded_metrics(const struct decoded *d, const struct stats *stats,
		     enum ometric_format format, FILE *out);
/* Return the table of these metric families. */
const struct ometric *decoded_metrics_families(size_t *ret_count);

/* The most lines of one service. */
#define DECODED_LINES \
	(DECODED_KINDS + 1 + FAMILY_COUNT * DECODED_FIGURES * (HISTOGRAM_BUCKETS + 3))

#endif /* DECODED_H */
