/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* x */
#ifndef STATS_H
#define STATS_H

#include <jansson.h>
#include <stdio.h>

#include "abi.h"
#include "shield/shield.h"
#include "lib/json_key.h"

struct stats_service {
	struct service service;
	__u32 slot;
	size_t players;
	double limits_used[CLASS_BUDGETS]; /* of each global budget: 0 nothing, 1 all */
	struct cached_response cached[CACHE_FORMS]; /* cached responses */
	size_t cached_count;
	enum judged judged; /* whether the programs see its datagrams */
	char unjudged_by[IF_NAMESIZE]; /* by which interface others come in; "": none */
	__u32 speaks; /* 1 << enum wire_family: in place of its own; 0: its own */
	/*
	 * Which of all readings of one stats_refresh() after another @in and @out are of:
	 * the same in two snapshots, so are they. 0: of none, see stats_unchanged().
	 */
	__u32 reading;
	__u32 turn; /* of the shield's counters: shield_counters_turn() */
	__u64 received; /* datagrams of all kinds: the sum of @in */
	/* Last, since they are large. */
	struct counters in, out;
};

struct stats {
	struct shield_link links[SHIELD_LINKS]; /* shield_links(), and after it, where the
						   configuration is known,
						   shield_links_named() */
	size_t link_count;
	struct stats_service *services; /* only those in use, by slot */
	size_t service_count;
	struct counter others[OTHER_COUNT];
	struct sampled sampled[SAMPLER_COUNT];
	struct table_usage tables[TABLE_COUNT];
	__u32 generation; /* of the configuration in force */
	__u32 reading; /* the last one of its services */
	bool fallback; /* shield_fallback() */
	__s64 time_ms; /* when all this was so, since 1970 */
	__s64 steady_ms; /* the same, by CLOCK_MONOTONIC */
};

/*
 * Read a snapshot of everything that is counted. 0 or -errno after a message; then there
 * is nothing to free.
 */
int stats_collect(const struct shield *shield, struct stats *ret);
/*
 * Bring *@stats, zeros or what the last call has left, up to date. Reads those counters
 * alone that may have changed since. Called by the daemon alone, as
 * shield_counters_turn() is. 0 or -errno after a message.
 */
int stats_refresh(struct shield *shield, struct stats *stats);
/*
 * Return true if the counters of @now are those of @before, an earlier snapshot of the
 * same service by stats_refresh().
 */
bool stats_unchanged(const struct stats_service *now, const struct stats_service *before);
/* Free what stats_collect() or stats_keep() allocated, but not @stats. */
void stats_free(struct stats *stats);
/*
 * Copy @stats to *@kept, a copy or zeros, in the same memory where it fits. False: not
 * enough memory; *@kept is as before.
 */
bool stats_keep(struct stats *kept, const struct stats *stats);

extern const struct json_key stats_json_keys[], stats_json_link_keys[];

/*
 * Return one interface as it stands in stats_json(), and in `status --json`. The caller
 * releases it.
 */
json_t *stats_json_link(const struct shield_link *link);

/*
 * Write the snapshot as one object on one line: docs/reference/json.md. @decoded: what
 * the daemon's decoding tells, an object of objects by the service's name
 * (decoded_json()), or NULL. 0, -ENOMEM, or -EIO: @out did not take it.
 */
int stats_json(const struct stats *stats, const json_t *decoded, FILE *out);

/*
 * Write tables for a terminal: interfaces, services, frames for no service. 0, -EIO, or
 * -ENOMEM.
 */
int stats_text(const struct stats *stats, FILE *out);

/*
 * Wire bytes from unverified peers below which people are not shown a ratio: it would be
 * that of one or two joins, and say nothing about amplification.
 */
#define STATS_RATIO_LEAST 65536

/*
 * Compute the bytes sent to peers that are no verified players, for each byte received
 * from them. False: none was received, so there is no ratio.
 */
bool stats_ratio(__u64 out, __u64 in, double *ret);

/* Return "auto", "native" or "skb". */
const char *mode_name(enum attach_mode mode);
/* Return "players", "allow", "deny", "follow" or "known". */
const char *table_name(enum usage_table table);
/* Return "statistic" or "follow". */
const char *sampler_name(enum sampler sampler);

/* Bytes of a time, with the NUL. */
#define TIME_TEXT 32
/* Write @time in UTC as 2026-11-21T04:00:00Z, or "?" if it cannot be. */
void time_format(time_t time, char ret[TIME_TEXT]);

#endif /* STATS_H */
