// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * lag_minute.c - see lag_minute.h.
 */
#include <stdlib.h>
#include <string.h>

#include "lag/lag_minute.h"

#define MS_NS	   1000000LL
#define SLOW_SHARE 0.25 /* of the usual snapshots: if so many are missing, it is slow */

/* The lagometer's counts of a player, at one moment. */
struct reading {
	uint64_t received[LAG_WAYS], lost[LAG_WAYS], unseen[LAG_WAYS];
	uint64_t snapshots, delayed;
	struct lag_pauses pauses;
	struct lag_pings pings;
};

/* The figures of each of the last LAG_USUAL minutes. */
struct usual {
	uint32_t ping_ms; /* mean; LAG_PING_NONE: not known */
	uint64_t snapshots, packets; /* per 1000 s */
};

struct row {
	int64_t since_ns; /* of the player in this place, so that another begins anew */
	int64_t from_ns; /* when @begin was read, by the lagometer's clock */
	struct reading begin;
	struct usual usual[LAG_USUAL];
	uint32_t minutes; /* of @usual that were noted */
	struct lag_verdict verdict;
	char history[LAG_HISTORY + 1];
	uint64_t refused; /* datagrams, in this minute */
};

struct lag_minutes {
	size_t places;
	int64_t length_ns;
	int64_t minute; /* number of the minute since 1970; 0: none yet */
	struct lag_totals begin; /* at its beginning */
	const char *attack[SERVICES_MAX + 1]; /* that went on in it */
	struct lag_counts *counts;
	struct lag_verdict *verdicts;
	size_t *judged; /* places that these two are of */
	struct row rows[];
};

struct lag_minutes *lag_minutes_create(size_t places, int64_t length_ns)
{
	struct lag_minutes *m = calloc(1, sizeof(*m) + places * sizeof(*m->rows));

	if (!m)
		return NULL;
	m->places = places;
	m->length_ns = length_ns;
	m->counts = calloc(places, sizeof(*m->counts));
	m->verdicts = calloc(places, sizeof(*m->verdicts));
	m->judged = calloc(places, sizeof(*m->judged));
	if (m->counts && m->verdicts && m->judged)
		return m;
	lag_minutes_free(m);
	return NULL;
}

void lag_minutes_free(struct lag_minutes *m)
{
	if (!m)
		return;
	free(m->counts);
	free(m->verdicts);
	free(m->judged);
	free(m);
}

static struct reading read_player(const struct lag_player *p)
{
	struct reading now = {
		.snapshots = p->snapshots,
		.delayed = p->delayed,
		.pauses = p->pauses,
		.pings = p->pings,
	};

	for (int w = 0; w < LAG_WAYS; w++) {
		now.received[w] = p->way[w].received;
		now.lost[w] = p->way[w].lost;
		now.unseen[w] = p->way[w].unseen;
	}
	return now;
}

/* A lost message that comes late is taken back, so the result is never below 0. */
static uint64_t grown(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

static uint32_t grown_ms(uint64_t now_ns, uint64_t before_ns)
{
	return (uint32_t)(grown(now_ns, before_ns) / MS_NS);
}

/* --- what is usual for a player ------------------------------------------------------
 */

static struct usual usual_of(const struct lag_counts *c, int64_t length_ns)
{
	uint64_t length_ms = (uint64_t)(length_ns / MS_NS);
	uint64_t packets = c->received[LAG_C2S] + c->lost[LAG_C2S];

	return (struct usual){
		.ping_ms = c->pings >= LAG_LEAST_PINGS ? c->ping_ms : LAG_PING_NONE,
		.snapshots = c->snapshots * 1000000 / length_ms,
		.packets = packets * 1000000 / length_ms,
	};
}

static uint32_t usual_ping(const struct row *row)
{
	uint32_t least = LAG_PING_NONE;

	for (uint32_t i = 0; i < LAG_USUAL && i < row->minutes; i++)
		if (row->usual[i].ping_ms < least)
			least = row->usual[i].ping_ms;
	return least;
}

/*
 * Return for how much of the minute snapshots are missing, of the most that the player
 * had in one of the minutes before. Servers of QuakeWorld send one for each packet of the
 * client, so 0 if the client has sent less, too.
 */
static uint32_t slow_ms(const struct row *row, const struct usual *now, int64_t length_ns)
{
	struct usual most = { 0 };

	for (uint32_t i = 0; i < LAG_USUAL && i < row->minutes; i++)
		if (row->usual[i].snapshots > most.snapshots)
			most = row->usual[i];
	if (!most.snapshots || now->packets < most.packets - most.packets / 10)
		return 0;
	if ((double)now->snapshots > (1 - SLOW_SHARE) * (double)most.snapshots)
		return 0;
	return (uint32_t)((uint64_t)(length_ns / MS_NS) *
			  (most.snapshots - now->snapshots) / most.snapshots);
}

/* --- a minute --------------------------------------------------------------------------
 */

static struct lag_counts count(struct row *row, const struct lag_player *p,
			       const struct reading *now, int64_t now_ns,
			       int64_t length_ns)
{
	const struct reading *begin = &row->begin;
	struct lag_counts c = {
		.slot = p->slot,
		.snapshots = grown(now->snapshots, begin->snapshots),
		.held_ms = grown_ms(now->pauses.held_ns, begin->pauses.held_ns),
		.late_ms = grown_ms(now->pauses.late_ns, begin->pauses.late_ns),
		.rate_ms = grown_ms(now->pauses.rate_ns, begin->pauses.rate_ns),
		.silent_ms = grown_ms(now->pauses.silent_ns, begin->pauses.silent_ns),
		.pings = grown(now->pings.count, begin->pings.count),
	};
	int64_t watched_ns = now_ns - row->from_ns;
	struct usual usual;
	uint32_t slow;

	for (int w = 0; w < LAG_WAYS; w++) {
		c.received[w] = grown(now->received[w], begin->received[w]);
		c.lost[w] = grown(now->lost[w], begin->lost[w]);
		c.unseen[w] = grown(now->unseen[w], begin->unseen[w]);
	}
	if (c.pings)
		c.ping_ms = (uint32_t)(grown(now->pings.sum_ms, begin->pings.sum_ms) /
				       c.pings);
	c.present = watched_ns >= length_ns / 2 && now_ns - p->last_ns <= LAG_PRESENT_NS;
	if (c.present) {
		usual = usual_of(&c, watched_ns);
		slow = slow_ms(row, &usual, watched_ns);
		if (slow > c.late_ms && now->delayed == begin->delayed)
			c.late_ms = slow;
		row->usual[row->minutes++ % LAG_USUAL] = usual;
	}
	c.ping_least_ms = usual_ping(row);
	return c;
}

/* --- what is known of the host -------------------------------------------------------
 */

static const struct lag_interface *interface_named(const struct lag_totals *t,
						   const char *name)
{
	for (size_t i = 0; i < t->interface_count; i++)
		if (!strcmp(t->interfaces[i].name, name))
			return &t->interfaces[i];
	return NULL;
}

/*
 * Fill @ret with what the interfaces have dropped in the minute by which the datagrams of
 * @p come.
 */
static void dropped_of(const struct lag_minutes *m, const struct lag_totals *now,
		       const struct lag_player *p, uint64_t ret[LAG_WAYS])
{
	uint64_t dropped[LAG_INTERFACES][LAG_WAYS] = { { 0 } }, any = 0, by;

	for (size_t i = 0; i < now->interface_count; i++) {
		const struct lag_interface *to = &now->interfaces[i];
		const struct lag_interface *from = interface_named(&m->begin, to->name);

		for (int w = 0; from && w < LAG_WAYS; w++) {
			dropped[i][w] = grown(to->dropped[w], from->dropped[w]);
			any |= dropped[i][w];
		}
	}
	by = any && now->arrives ? now->arrives(now->context, &p->server) : 0;
	for (size_t i = 0; i < now->interface_count; i++)
		for (int w = 0; w < LAG_WAYS && by >> i & 1; w++)
			ret[w] += dropped[i][w];
}

/* Is @p, or another client of its address (IPv6: of its /64), the source @s? */
static bool is_source(const struct lag_player *p, const struct lag_source *s)
{
	bool ipv6 = p->client.length != 4;
	uint64_t net = 0;

	for (int i = 0; i < (ipv6 ? 8 : 4); i++)
		net = net << 8 | p->client.bytes[i];
	return p->slot == s->slot && ipv6 == s->ipv6 && net == s->net;
}

/* Note of which players datagrams were refused in this second. */
static void note_refused(struct lag_minutes *m, struct lagometer *l,
			 const struct lag_totals *totals)
{
	const struct lag_player *p;
	size_t at = 0;

	if (!totals->source_count)
		return;
	while ((p = lagometer_next(l, &at)) && at <= m->places)
		for (size_t i = 0; i < totals->source_count; i++)
			if (is_source(p, &totals->sources[i]))
				m->rows[at - 1].refused += totals->sources[i].refused;
}

static void remember(struct row *row, const struct lag_verdict *v)
{
	size_t n = strlen(row->history);

	if (n == LAG_HISTORY)
		memmove(row->history, row->history + 1, n--);
	row->history[n] = lag_cause_letter(v->cause);
	row->history[n + 1] = 0;
	row->verdict = *v;
}

static void known_of(const struct lag_minutes *m, const struct lag_totals *now,
		     struct lag_known *ret)
{
	ret->length_ms = (uint32_t)(m->length_ns / MS_NS);
	ret->seen = grown(now->seen, m->begin.seen);
	ret->unseen = grown(now->unseen, m->begin.unseen);
	for (size_t slot = 0; slot < SERVICES_MAX; slot++)
		ret->refused[slot] =
			now->services_read && m->begin.services_read
				? grown(now->refused[slot], m->begin.refused[slot])
				: 0;
	memcpy(ret->attack, m->attack, sizeof(ret->attack));
}

/* Judge the minute that is over, of all players that have been there since before. */
static void judge(struct lag_minutes *m, size_t n, const struct lag_totals *totals)
{
	static struct lag_known known;

	known_of(m, totals, &known);
	lag_judge(m->counts, n, &known, m->verdicts);
	for (size_t i = 0; i < n; i++) {
		m->verdicts[i].time_ns = m->minute * m->length_ns;
		m->verdicts[i].length_ms = known.length_ms;
		remember(&m->rows[m->judged[i]], &m->verdicts[i]);
	}
}

static void row_begin(struct row *row, const struct lag_player *p)
{
	*row = (struct row){ .since_ns = p->since_ns };
}

/* Begin another minute. @judges: the one before was whole, and is judged. */
static void turn(struct lag_minutes *m, struct lagometer *l,
		 const struct lag_totals *totals, int64_t now_ns, bool judges)
{
	const struct lag_player *p;
	size_t at = 0, n = 0;

	now_ns -= lagometer_ahead(l);
	while ((p = lagometer_next(l, &at)) && at <= m->places) {
		struct row *row = &m->rows[at - 1];
		struct reading now = read_player(p);

		if (row->since_ns != p->since_ns)
			row_begin(row, p);
		else if (judges && row->from_ns) {
			m->judged[n] = at - 1;
			m->counts[n] = count(row, p, &now, now_ns, m->length_ns);
			m->counts[n].refused = row->refused;
			dropped_of(m, totals, p, m->counts[n++].dropped);
		}
		row->refused = 0;
		row->begin = now;
		row->from_ns = now_ns;
	}
	if (judges)
		judge(m, n, totals);
}

/*
 * A player that has come since the minute began is counted from now on: @now_ns, by the
 * lagometer's clock.
 */
static void note_new(struct lag_minutes *m, struct lagometer *l, int64_t now_ns)
{
	const struct lag_player *p;
	size_t at = 0;

	while ((p = lagometer_next(l, &at)) && at <= m->places) {
		struct row *row = &m->rows[at - 1];

		if (row->since_ns == p->since_ns)
			continue;
		row_begin(row, p);
		row->begin = read_player(p);
		row->from_ns = now_ns;
	}
}

void lag_minutes_second(struct lag_minutes *m, struct lagometer *l,
			const struct lag_totals *totals, int64_t now_ns)
{
	int64_t minute = now_ns / m->length_ns;

	for (size_t i = 0; i <= SERVICES_MAX; i++)
		if (totals->attack[i])
			m->attack[i] = totals->attack[i];
	note_refused(m, l, totals);
	if (minute == m->minute) {
		note_new(m, l, now_ns - lagometer_ahead(l));
		return;
	}
	/* If the clock was set, the minute was not a minute. */
	turn(m, l, totals, now_ns, m->minute && minute == m->minute + 1);
	m->minute = minute;
	m->begin = *totals;
	memcpy(m->attack, totals->attack, sizeof(m->attack));
}

const struct lag_verdict *lag_minutes_verdict(const struct lag_minutes *m, size_t place,
					      const struct lag_player *p,
					      const char **ret_history)
{
	const struct row *row = m && place < m->places ? &m->rows[place] : NULL;

	if (!row || row->since_ns != p->since_ns || !row->verdict.time_ns)
		return NULL;
	*ret_history = row->history;
	return &row->verdict;
}
