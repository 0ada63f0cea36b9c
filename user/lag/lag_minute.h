/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lag_minute.h - counts each minute of each followed player, has it judged, and keeps the
 * verdicts.
 *
 *	lagometer, struct lag_known -> lag_minutes_second() -> lag_judge() -> lag_json.c
 *
 * Called by samples.c in the daemon's thread. Bounded: as many players as the lagometer
 * has places.
 */
#ifndef LAG_MINUTE_H
#define LAG_MINUTE_H

#include <net/if.h>

#include "lag/lag_judge.h"

#define LAG_MINUTE_NS 60000000000LL
#define LAG_HISTORY   60 /* minutes of which the letter is kept */
#define LAG_USUAL     10 /* minutes that a minute is compared with */
/* A player that was silent for longer at the end of a minute is not judged. */
#define LAG_PRESENT_NS 5000000000LL
#define LAG_INTERFACES 16 /* of which drops count */
#define LAG_SOURCES    256 /* of refused datagrams in a second; more are not told apart */

struct lag_minutes;

struct lag_interface {
	char name[IF_NAMESIZE];
	uint64_t dropped[LAG_WAYS]; /* frames */
};

/* A source that the shield refused datagrams of, above the limit of a player. */
struct lag_source {
	uint32_t slot; /* of the service */
	bool ipv6;
	uint64_t net; /* as in struct refused_source */
	uint64_t refused; /* datagrams, by a sample */
};

/*
 * Counters of the host, since it came up: lag_minutes_second() takes differences, and
 * none if a counter could not be read at the begin or at the end of the minute.
 */
struct lag_totals {
	uint64_t seen, unseen;
	struct lag_interface interfaces[LAG_INTERFACES]; /* that were read */
	size_t interface_count;
	bool services_read; /* .refused holds */
	uint64_t refused[SERVICES_MAX];
	struct lag_source sources[LAG_SOURCES]; /* of the last second, each once */
	size_t source_count;
	/* The attacks that go on now; constants. */
	const char *attack[SERVICES_MAX + 1];
	/*
	 * Return a bit for each of .interfaces by which datagrams for @server come; 0:
	 * that is not known. NULL: of no server.
	 */
	uint64_t (*arrives)(void *context, const struct record_address *server);
	void *context;
};

/*
 * Return what keeps the verdicts of a lagometer of @places places, or NULL: no memory. A
 * minute is @length_ns: LAG_MINUTE_NS; tests have shorter ones.
 */
struct lag_minutes *lag_minutes_create(size_t places, int64_t length_ns);
/* Free it; @m may be NULL. */
void lag_minutes_free(struct lag_minutes *m);

/*
 * Note @totals, and judge if a minute is over. Minutes begin at whole multiples of their
 * length since 1970. Call it once a second with the same @l.
 */
void lag_minutes_second(struct lag_minutes *m, struct lagometer *l,
			const struct lag_totals *totals, int64_t now_ns);

/*
 * Return the verdict on the last whole minute of the player in @place, which is what
 * *@at of lagometer_next() was before the call; NULL: there is none yet. It is valid
 * until the next lag_minutes_second(). *@ret_history: letters of the last minutes, oldest
 * first.
 */
const struct lag_verdict *lag_minutes_verdict(const struct lag_minutes *m, size_t place,
					      const struct lag_player *p,
					      const char **ret_history);

#endif /* LAG_MINUTE_H */
