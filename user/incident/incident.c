// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * incident.c - see incident.h.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "incident/incident.h"

#define SAMPLES_LEAST 20 /* fewer show nothing about sources */
#define FEW	      16 /* addresses */

static const struct {
	const char *name;
	double leak, start;
} sorts[INCIDENT_SORTS] = {
	[INCIDENT_FLOOD] = { "flood", INCIDENT_FLOOD_LEAK, INCIDENT_FLOOD_START },
	[INCIDENT_GUESSING] = { "password-guessing", INCIDENT_GUESSES_LEAK,
				INCIDENT_GUESSES_START },
	[INCIDENT_SCAN] = { "closed-ports", INCIDENT_SCAN_LEAK, INCIDENT_SCAN_START },
};

/* --- counting ---------------------------------------------------------------- */

static uint64_t grown(uint64_t before, uint64_t now)
{
	return now < before ? now : now - before;
}

void incident_count(enum wire_family family, const struct incident_counters *before,
		    const struct incident_counters *now, struct incident_counts *ret)
{
	memset(ret, 0, sizeof(*ret));
	for (int kind = 0; kind < KIND_COUNT; kind++) {
		for (int reason = 0; reason < REASON_COUNT; reason++) {
			const struct counter *was = &before->in->by[kind][reason];
			const struct counter *is = &now->in->by[kind][reason];
			enum verdict verdict = reason_verdict((enum reason)reason);
			bool drop = verdict == VERDICT_DROP;
			uint64_t n = grown(was->packets, is->packets);
			uint64_t kept = grown(before->out->by[kind][reason].packets,
					      now->out->by[kind][reason].packets);

			ret->packets += n;
			ret->bytes += grown(was->bytes, is->bytes);
			ret->reasons[reason] += n + (drop ? kept : 0);
			if (verdict == VERDICT_RESPOND)
				ret->responded += n;
			else
				ret->sent += kept;
			if (reason == REASON_CHALLENGED) {
				ret->asked += n;
				ret->kinds[kind] += n;
			}
			if (!drop)
				continue;
			ret->refused += n;
			ret->withheld += kept;
			ret->kinds[kind] += n + kept;
			if (wire_class(family, (enum wire_kind)kind) == CLASS_RCON)
				ret->guesses += n;
		}
	}
}

/* --- beginning ---------------------------------------------------------------- */

static void id_make(int64_t start_ms, __u32 slot, char ret[INCIDENT_ID])
{
	time_t seconds = (time_t)(start_ms / 1000);
	char text[24] = "?";
	struct tm tm;

	if (gmtime_r(&seconds, &tm))
		strftime(text, sizeof(text), "%Y%m%dT%H%M%SZ", &tm);
	snprintf(ret, INCIDENT_ID, "%s-%u", text, slot);
}

/* How much quiet ends the incident that begins now: see INCIDENT_QUIET_MOST_MS. */
static int64_t calm_next(const struct incident_watch *w, int64_t steady_ms)
{
	if (!w->ended || steady_ms - w->ended_ms > INCIDENT_QUIET_MOST_MS)
		return INCIDENT_QUIET_MS;
	return 2 * w->calm_ms < INCIDENT_QUIET_MOST_MS ? 2 * w->calm_ms
						       : INCIDENT_QUIET_MOST_MS;
}

static void larger(double *to, double n)
{
	if (n > *to)
		*to = n;
}

/* Add what came to the totals of an incident. */
static void add(struct incident *i, const struct incident_counts *c, bool observed)
{
	i->packets += c->packets;
	i->bytes += c->bytes;
	i->refused += c->refused + (observed ? c->withheld : 0);
	i->dropped += observed ? 0 : c->refused;
	i->withheld += observed ? 0 : c->withheld;
	for (int kind = 0; kind < KIND_COUNT; kind++)
		i->kinds[kind] += c->kinds[kind];
	for (int reason = 0; reason < REASON_COUNT; reason++)
		i->reasons[reason] += c->reasons[reason];
}

/*
 * Begin an incident with what has filled its bucket, the last look included. Returns
 * false if there is no memory.
 */
static bool begin(struct incident_watch *w, const struct incident_subject *subject,
		  enum incident_sort sort, struct incident_time now)
{
	const struct incident_bucket *b = &w->buckets[sort];
	struct incident *i = calloc(1, sizeof(*i));

	if (!i)
		return false;
	i->began_ms = b->rising_ms;
	i->start_ms = now.wall_ms - (now.steady_ms - i->began_ms);
	i->last_ms = now.wall_ms;
	i->reported_ms = now.steady_ms;
	i->sort = sort;
	i->sorts = 1u << sort;
	i->family = subject->family;
	i->observed = subject->observed;
	snprintf(i->service, sizeof(i->service), "%s", subject->service);
	i->sources.target = w->target;
	id_make(i->start_ms, subject->slot, i->id);
	add(i, &b->since, subject->observed);
	i->peak_pps = b->peak_pps;
	i->peak_bps = b->peak_bps;
	w->calm_ms = calm_next(w, now.steady_ms);
	i->players_before = i->players_least = i->players_most = w->players_calm;
	w->now = i;
	incident_sources_begin(w);
	w->quiet_ms = 0;
	w->count++;
	return true;
}

/* Add @c to what came since a bucket was empty. */
static void since_add(struct incident_counts *since, const struct incident_counts *c)
{
	since->packets += c->packets;
	since->bytes += c->bytes;
	since->refused += c->refused;
	since->withheld += c->withheld;
	for (int kind = 0; kind < KIND_COUNT; kind++)
		since->kinds[kind] += c->kinds[kind];
	for (int reason = 0; reason < REASON_COUNT; reason++)
		since->reasons[reason] += c->reasons[reason];
}

/*
 * Add a look's refusals to the bucket. @came: of @c, those that fill it. Returns true if
 * it is full.
 */
static bool bucket_fill(struct incident_bucket *b, enum incident_sort sort, uint64_t came,
			const struct incident_counts *c, double seconds,
			int64_t before_ms)
{
	if (b->level <= 0 && !came) {
		b->rising_ms = before_ms;
		return false;
	}
	if (b->level <= 0)
		*b = (struct incident_bucket){ .rising_ms = before_ms };
	since_add(&b->since, c);
	larger(&b->peak_pps, (double)c->packets / seconds);
	larger(&b->peak_bps, 8 * (double)c->bytes / seconds);
	b->level += (double)came - sorts[sort].leak * seconds;
	if (b->level < 0)
		b->level = 0;
	if (b->level < sorts[sort].start)
		return false;
	b->level = sorts[sort].start;
	return true;
}

/* --- while it lasts ----------------------------------------------------------- */

/* Note how high it went in one look, of @seconds. */
static void extremes(struct incident *i, const struct incident_counts *c, double seconds)
{
	larger(&i->peak_pps, (double)c->packets / seconds);
	larger(&i->peak_bps, 8 * (double)c->bytes / seconds);
	if (c->players < i->players_least)
		i->players_least = c->players;
	if (c->players > i->players_most)
		i->players_most = c->players;
}

static enum incident_event over(struct incident_watch *w, int64_t steady_ms)
{
	w->now->end_ms = w->now->last_ms;
	w->ended = true;
	w->ended_ms = steady_ms;
	memset(w->buckets, 0, sizeof(w->buckets));
	return INCIDENT_ENDED;
}

/*
 * End the incident because of another one, to which this look belongs: @came by sort, and
 * @c. A bucket that the look fills alone is full at the next look, too, whatever comes
 * then: one event can be returned, and the other incident begins there. The arguments are
 * those of bucket_fill().
 */
static enum incident_event over_for_another(struct incident_watch *w,
					    const uint64_t came[INCIDENT_SORTS],
					    const struct incident_counts *c,
					    double seconds, int64_t before_ms)
{
	enum incident_event event = over(w, w->looked_ms);

	for (int sort = 0; sort < INCIDENT_SORTS; sort++)
		if (bucket_fill(&w->buckets[sort], (enum incident_sort)sort, came[sort],
				c, seconds, before_ms))
			w->buckets[sort].level = INFINITY;
	return event;
}

static enum incident_event go_on(struct incident_watch *w, bool quiet, int64_t passed_ms,
				 int64_t steady_ms)
{
	struct incident *i = w->now;

	if (!quiet && w->quiet_ms >= INCIDENT_QUIET_MS)
		i->pauses++;
	w->quiet_ms = quiet ? w->quiet_ms + passed_ms : 0;
	if (!quiet)
		i->last_ms = i->start_ms + (steady_ms - i->began_ms);
	/* One that an earlier process has begun has no time of its own. */
	if (w->calm_ms < INCIDENT_QUIET_MS)
		w->calm_ms = INCIDENT_QUIET_MS;
	if (w->quiet_ms >= w->calm_ms)
		return over(w, steady_ms);
	if (steady_ms - i->reported_ms < INCIDENT_UPDATE_MS)
		return INCIDENT_NOTHING;
	i->reported_ms = steady_ms;
	return INCIDENT_UPDATED;
}

enum incident_event incident_look(struct incident_watch *w,
				  const struct incident_subject *subject,
				  const struct incident_counts *c,
				  struct incident_time now)
{
	bool machine = subject->slot == INCIDENT_MACHINE;
	const uint64_t came[INCIDENT_SORTS] = {
		[INCIDENT_FLOOD] = machine ? 0 : c->refused + c->withheld + c->asked,
		[INCIDENT_GUESSING] = c->guesses,
		[INCIDENT_SCAN] = machine ? c->packets : 0,
	};
	int64_t before_ms = w->looked_ms, passed_ms = now.steady_ms - before_ms;
	enum incident_event event = INCIDENT_NOTHING;
	bool quiet = true, first = !w->looked;
	unsigned int again = 0; /* 1 << each sort with a full bucket */
	double seconds;

	w->looked = true;
	w->looked_ms = now.steady_ms;
	if (first || passed_ms <= 0)
		return INCIDENT_NOTHING;
	if (passed_ms > INCIDENT_GAP_MS)
		passed_ms = INCIDENT_GAP_MS;
	seconds = (double)passed_ms / 1000;
	for (int sort = 0; sort < INCIDENT_SORTS; sort++) {
		bool full = bucket_fill(&w->buckets[sort], (enum incident_sort)sort,
					came[sort], c, seconds, before_ms);

		again |= full ? 1u << sort : 0;
		quiet = quiet && (double)came[sort] <= sorts[sort].leak * seconds;
		if (full && !w->now && begin(w, subject, (enum incident_sort)sort, now))
			event = INCIDENT_STARTED;
	}
	if (!w->now) {
		if (quiet)
			w->players_calm = c->players;
		return INCIDENT_NOTHING;
	}
	/*
	 * A pause ends when a bucket is full again, not by a second's few. It has
	 * leaked since the attack, and was not emptied: fewer are enough than to begin.
	 */
	if (w->quiet_ms >= INCIDENT_QUIET_MS && !again)
		quiet = true;
	/* Much more than before is another attack, which a small one must not hide. */
	if (w->quiet_ms >= INCIDENT_QUIET_MS && again &&
	    (double)c->packets / seconds > INCIDENT_ANOTHER * w->now->peak_pps)
		return over_for_another(w, came, c, seconds, before_ms);
	/* An attack that begins has this look already. */
	if (!event)
		add(w->now, c, subject->observed);
	extremes(w->now, c, seconds);
	w->now->observed = w->now->observed && subject->observed;
	/* Another sort is told of at once. */
	if (again & ~w->now->sorts)
		w->now->reported_ms = now.steady_ms - INCIDENT_UPDATE_MS;
	w->now->sorts |= again;
	return event ? event : go_on(w, quiet, passed_ms, now.steady_ms);
}

void incident_forget(struct incident_watch *w)
{
	free(w->now);
	w->now = NULL;
	w->quiet_ms = 0;
}

bool incident_is_past(const struct incident *incident, int64_t wall_ms)
{
	return wall_ms - incident->last_ms > INCIDENT_ADOPT_MS;
}

void incident_adopt(struct incident_watch *w, struct incident *incident,
		    struct incident_time now)
{
	int64_t lasted_ms = now.wall_ms - incident->start_ms;

	/* The clock was set back since. */
	if (now.wall_ms < incident->last_ms)
		lasted_ms = incident->last_ms - incident->start_ms;
	incident_forget(w);
	w->now = incident;
	incident->began_ms = now.steady_ms - lasted_ms;
	incident->reported_ms = now.steady_ms;
	w->players_calm = incident->players_before;
	w->target = incident->sources.target;
}

/* --- targets and sources --------------------------------------------------------- */

void incident_target(struct incident_watch *w, const struct record_address *to)
{
	if (!to->length)
		return;
	w->target = *to;
	if (w->now)
		w->now->sources.target = *to;
}

/* Linear counting: as many as make the expected number of bits stay clear. */
uint64_t incident_distinct(const struct incident *incident)
{
	const struct incident_sources *s = &incident->sources;
	unsigned int set = 0;
	double n;

	for (size_t i = 0; i < INCIDENT_SKETCH / 64; i++)
		set += (unsigned int)__builtin_popcountll(s->sketch[i]);
	if (set == INCIDENT_SKETCH)
		return s->sampled;
	n = -INCIDENT_SKETCH * log(1 - (double)set / INCIDENT_SKETCH);
	return n > (double)s->sampled ? s->sampled : (uint64_t)lround(n);
}

/* Does most of what was refused ask for an answer that is longer than it is? */
static bool asks(const struct incident *incident)
{
	uint64_t queries = 0, all = 0;

	for (int kind = 0; kind < KIND_COUNT; kind++) {
		all += incident->kinds[kind];
		if (wire_class(incident->family, (enum wire_kind)kind) == CLASS_QUERY)
			queries += incident->kinds[kind];
	}
	return queries * 2 > all;
}

enum incident_spoofed incident_spoofed(const struct incident *incident)
{
	uint64_t sampled = incident->sources.sampled;
	uint64_t distinct = incident_distinct(incident);

	if (sampled < SAMPLES_LEAST)
		return SPOOFED_UNKNOWN;
	if (distinct * 2 >= sampled)
		return SPOOFED_LIKELY;
	if (distinct > FEW)
		return SPOOFED_UNKNOWN;
	return asks(incident) ? SPOOFED_POSSIBLE : SPOOFED_UNLIKELY;
}

/* --- names --------------------------------------------------------------------- */

const char *incident_sort_name(enum incident_sort sort)
{
	return sort < INCIDENT_SORTS ? sorts[sort].name : "?";
}

const char *incident_event_name(enum incident_event event)
{
	static const char *const names[INCIDENT_EVENTS] = {
		[INCIDENT_NOTHING] = "nothing",
		[INCIDENT_STARTED] = "start",
		[INCIDENT_UPDATED] = "update",
		[INCIDENT_ENDED] = "end",
	};

	return event < INCIDENT_EVENTS ? names[event] : "?";
}

const char *incident_spoofed_name(enum incident_spoofed spoofed)
{
	static const char *const names[] = {
		[SPOOFED_UNKNOWN] = "unknown",
		[SPOOFED_LIKELY] = "likely",
		[SPOOFED_POSSIBLE] = "possible",
		[SPOOFED_UNLIKELY] = "unlikely",
	};

	return names[spoofed];
}
