/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * incident.h - decides when an attack on a service begins, what sort it is, and when it
 * ends.
 *
 *	counters of a second -> incident_look() -> started, updated, ended -> the caller
 *
 * Called by the daemon (incident_monitor.c), once a second for each service. Pure: no
 * clock, no file, no kernel. Each service has two buckets: refused datagrams fall in, and
 * a few leak out each second. So a thousand datagrams at once and twenty a second for a
 * while are an incident, and a server that fills up after a change of map is none. The
 * machine has one more bucket, for datagrams to ports without a socket: scans, and floods
 * of one closed port. An incident lasts until no more than the leak has come for
 * INCIDENT_QUIET_MS, so an attack that pauses now and then remains one. An attack of
 * another sort on the same service meanwhile is part of it, and reported at once as an
 * update.
 */
#ifndef INCIDENT_H
#define INCIDENT_H

#include <stdint.h>

#include "lib/drop_sources.h"
#include "counters.h"

#define INCIDENT_FLOOD_LEAK    10 /* refused datagrams a second that leak out */
#define INCIDENT_FLOOD_START   300 /* level above which an incident begins */
#define INCIDENT_GUESSES_LEAK  1 /* the same of rcon: a player does not guess */
#define INCIDENT_GUESSES_START 20
#define INCIDENT_SCAN_LEAK     5 /* and of datagrams to closed ports */
#define INCIDENT_SCAN_START    100
#define INCIDENT_QUIET_MS      10000 /* of quiet, after which it has ended */
/*
 * One that begins within this time after the last of its service has ended takes twice as
 * much quiet to end, up to as much: an attacker that pauses on purpose makes one incident
 * with pauses, or six an hour, and not hundreds.
 */
#define INCIDENT_QUIET_MOST_MS 600000
#define INCIDENT_ANOTHER       10 /* times the peak so far, after a pause: another one */
#define INCIDENT_UPDATE_MS     30000 /* how often an update is reported */
#define INCIDENT_GAP_MS	       60000 /* a longer time between two looks counts as this */
#define INCIDENT_ADOPT_MS      600000 /* how old an earlier process's incident may be */

#define INCIDENT_SERVICES      (SERVICES_MAX + 1)
#define INCIDENT_MACHINE       SERVICES_MAX /* the slot of datagrams to no service */
#define INCIDENT_ID	       32
#define INCIDENT_SKETCH	       4096 /* bits */
#define INCIDENT_SAMPLES       8192 /* more do not change the shares */
#define INCIDENT_EARLY	       32 /* samples kept from before an incident */

enum incident_sort {
	INCIDENT_FLOOD,
	INCIDENT_GUESSING, /* of rcon passwords */
	INCIDENT_SCAN, /* of closed ports, or a flood of one: the kernel tells no port */
	INCIDENT_SORTS,
};

enum incident_event {
	INCIDENT_NOTHING,
	INCIDENT_STARTED,
	INCIDENT_UPDATED,
	INCIDENT_ENDED,
	INCIDENT_EVENTS,
};

/* Whether the sources' addresses are spoofed, as far as samples tell. */
enum incident_spoofed {
	SPOOFED_UNKNOWN, /* too few samples */
	SPOOFED_LIKELY, /* hardly any address came twice */
	SPOOFED_POSSIBLE, /* a few addresses request responses: they may be victims */
	SPOOFED_UNLIKELY, /* a few addresses, which cause no response */
};

/* Counts of one service since the look before. */
struct incident_counts {
	uint64_t packets, bytes; /* received; whole frames */
	uint64_t refused; /* of them: dropped, or that would be if not observed */
	uint64_t asked; /* of them: over a limit, and challenged */
	uint64_t responded; /* of them: challenged, or served from the cache */
	uint64_t sent; /* datagrams of the server, those withheld included */
	uint64_t withheld; /* responses withheld by the anti-amplification limit */
	uint64_t guesses; /* of those refused: rcon */
	uint64_t kinds[KIND_COUNT]; /* of those refused, asked and withheld */
	uint64_t reasons[REASON_COUNT]; /* of all received, and of those withheld */
	uint32_t players; /* now, not since */
};

/* The sources of what was refused or challenged, from the kernel's sample: refused.h. */
struct incident_sources {
	uint64_t sampled;
	uint64_t sketch[INCIDENT_SKETCH / 64]; /* a bit for each address's hash */
	struct {
		struct drop_sources addresses; /* IPv4, or IPv6 /64 */
		struct drop_sources prefixes; /* IPv4 /24, or IPv6 /56 */
	} by[CLASS_COUNT];
	struct record_address target; /* to which they sent; length 0: unknown */
};

/*
 * A refused source from before an incident; it counts for the next one if that began
 * before.
 */
struct incident_early {
	struct refused_source from; /* of weight 0: none */
	enum wire_class class;
	int64_t steady_ms;
};

struct incident {
	char id[INCIDENT_ID]; /* its start in UTC, and the slot */
	char service[NAME_MAX_LEN]; /* "": the machine */
	enum wire_family family;
	enum incident_sort sort; /* that it began as */
	unsigned int sorts; /* 1 << each that it has been so far */
	bool observed; /* nothing is dropped, and nothing was */
	/*
	 * Since 1970; the last refused; 0: it lasts. The clock on the wall is read once,
	 * for start_ms; the others are that and what has passed since, so that setting
	 * the clock makes no incident end before it began.
	 */
	int64_t start_ms, last_ms, end_ms;
	int64_t began_ms; /* start_ms, by the steady clock */
	int64_t reported_ms; /* when it was last reported, by the steady clock */
	uint64_t packets, bytes, withheld;
	uint64_t refused; /* dropped, and what would have been, or withheld */
	uint64_t dropped; /* of those refused: the rest was only observed */
	uint32_t pauses; /* of INCIDENT_QUIET_MS and more, after which it went on */
	bool told; /* the command was told of its start, and is to be told of its end */
	double peak_pps, peak_bps; /* of what was received, over one look */
	uint64_t kinds[KIND_COUNT];
	uint64_t reasons[REASON_COUNT];
	uint32_t players_before, players_least, players_most;
	struct incident_sources sources;
};

struct incident_bucket {
	double level;
	int64_t rising_ms; /* when it was empty last, by the steady clock */
	struct incident_counts since; /* what came since then */
	double peak_pps, peak_bps; /* of that, over one look */
};

/* State of one service. */
struct incident_watch {
	struct incident_bucket buckets[INCIDENT_SORTS];
	bool looked; /* at least once */
	int64_t looked_ms; /* when last, by the steady clock */
	int64_t quiet_ms; /* for how long so far */
	int64_t calm_ms; /* of quiet that end one now; less than INCIDENT_QUIET_MS: that
			  */
	int64_t ended_ms; /* the last one, by the steady clock */
	bool ended; /* there was one */
	uint32_t players_calm; /* players when last nothing was refused */
	uint64_t count; /* incidents so far */
	struct record_address target; /* the last that something refused was sent to */
	struct incident_early early[INCIDENT_EARLY]; /* the newest, in any order */
	uint32_t early_count; /* of all */
	struct incident *now; /* NULL: none */
};

/* One moment. */
struct incident_time {
	int64_t wall_ms; /* since 1970; it may be set forward or back */
	int64_t steady_ms; /* CLOCK_MONOTONIC; it is never set */
};

/* The service that the counts are of. */
struct incident_subject {
	__u32 slot; /* or INCIDENT_MACHINE */
	const char *service;
	enum wire_family family;
	bool observed;
};

struct incident_counters {
	const struct counters *in, *out;
};

/*
 * Compute what was counted between two readings of a service's counters; one that went
 * back has begun anew. @players is for the caller.
 */
void incident_count(enum wire_family family, const struct incident_counters *before,
		    const struct incident_counters *now, struct incident_counts *ret);

/*
 * Compare @counts with what was before, and return what begins, goes on or ends at @now.
 * A second look at the same steady moment changes nothing. On INCIDENT_ENDED watch->now
 * is still there, until incident_forget().
 */
enum incident_event incident_look(struct incident_watch *watch,
				  const struct incident_subject *subject,
				  const struct incident_counts *counts,
				  struct incident_time now);

/* Free watch->now, after its end or when its service is gone. */
void incident_forget(struct incident_watch *watch);

/*
 * Return true if the incident was last seen more than INCIDENT_ADOPT_MS ago, too long for
 * another process to continue it. If the clock was set back since, it is not past.
 */
bool incident_is_past(const struct incident *incident, int64_t wall_ms);

/* Go on with one that an earlier process has begun; @incident is watch->now then. */
void incident_adopt(struct incident_watch *watch, struct incident *incident,
		    struct incident_time now);

/* Note the address @to of a refused datagram to the service. */
void incident_target(struct incident_watch *watch, const struct record_address *to);

/*
 * Note the source @from of refused or challenged datagrams of @class, as read at
 * @steady_ms.
 */
void incident_source(struct incident_watch *watch, enum wire_class class,
		     const struct refused_source *from, int64_t steady_ms);

/* Count the early samples for the new incident. Called by incident.c only. */
void incident_sources_begin(struct incident_watch *watch);

/* Return about how many different addresses there are among incident->sources.sampled. */
uint64_t incident_distinct(const struct incident *incident);
/* Return whether the sources' addresses are spoofed, as far as the samples tell. */
enum incident_spoofed incident_spoofed(const struct incident *incident);

/* Return "flood", "password-guessing" or "closed-ports". */
const char *incident_sort_name(enum incident_sort sort);
/* Return "start", "update" or "end". */
const char *incident_event_name(enum incident_event event);
/* Return "unknown", "likely", "possible" or "unlikely". */
const char *incident_spoofed_name(enum incident_spoofed spoofed);

#endif /* INCIDENT_H */
