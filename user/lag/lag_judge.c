// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * lag_judge.c - see lag_judge.h.
 *
 * Each row of `rules` is a symptom. lag_judge() computes its value for each player, and
 * the value that three of four players have or exceed. The cause follows from whether
 * that common value is half as bad at least. A player may have several symptoms: the
 * heaviest decides.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lag/lag_judge.h"
#include "lib/util.h"

#define UNKNOWN	     (-1.0) /* a value: too little was seen */
#define COMPARED_MAX 4096 /* that are compared; more are not */

struct rule {
	enum lag_symptom symptom;
	enum lag_way way; /* LAG_WAYS: not told by the symptom */
	/* UNKNOWN or, for loss, a share; for the others, seconds. */
	double (*value)(const struct lag_counts *c);
	bool pause; /* counted in time: worthless if samples are missing */
	bool service; /* compare with players of the same service only */
	enum lag_cause common; /* three of four players have it */
	enum lag_cause own; /* only this player, or few */
	enum lag_cause alone; /* there is no other player to compare with */
};

static double loss(const struct lag_counts *c, enum lag_way way)
{
	uint64_t due = c->received[way] + c->lost[way];

	return due < LAG_LEAST ? UNKNOWN : (double)c->lost[way] / (double)due;
}

static double loss_c2s(const struct lag_counts *c)
{
	return loss(c, LAG_C2S);
}

static double loss_s2c(const struct lag_counts *c)
{
	return loss(c, LAG_S2C);
}

/* A player's pauses are known if enough of its messages came. */
static double pause_of(const struct lag_counts *c, uint32_t ms)
{
	return c->received[LAG_C2S] < LAG_LEAST ? UNKNOWN : ms / 1000.0;
}

static double held(const struct lag_counts *c)
{
	return pause_of(c, c->held_ms);
}

static double late(const struct lag_counts *c)
{
	return pause_of(c, c->late_ms);
}

static double rate(const struct lag_counts *c)
{
	return pause_of(c, c->rate_ms);
}

static double silence(const struct lag_counts *c)
{
	return pause_of(c, c->silent_ms);
}

static double delay(const struct lag_counts *c)
{
	if (c->pings < LAG_LEAST_PINGS || c->ping_least_ms == LAG_PING_NONE)
		return UNKNOWN;
	return c->ping_ms > c->ping_least_ms ? (c->ping_ms - c->ping_least_ms) / 1000.0
					     : 0;
}

/*
 * Sequence numbers prove that a silent client has lost nothing; but all clients fall
 * silent together only for a reason that the judge does not see. A snapshot that is late
 * for one player of several may be the server's doing for that player, as while it loads.
 */
static const struct rule rules[] = {
	{ SYMPTOM_LOSS, LAG_C2S, loss_c2s, false, false, CAUSE_UPLINK, CAUSE_PLAYER,
	  CAUSE_UNKNOWN },
	{ SYMPTOM_LOSS, LAG_S2C, loss_s2c, false, false, CAUSE_UPLINK, CAUSE_PLAYER,
	  CAUSE_UNKNOWN },
	{ SYMPTOM_HELD, LAG_C2S, held, true, false, CAUSE_UPLINK, CAUSE_PLAYER,
	  CAUSE_UNKNOWN },
	{ SYMPTOM_DELAY, LAG_WAYS, delay, false, false, CAUSE_UPLINK, CAUSE_PLAYER,
	  CAUSE_UNKNOWN },
	{ SYMPTOM_LATE, LAG_S2C, late, true, true, CAUSE_SERVER, CAUSE_UNKNOWN,
	  CAUSE_SERVER },
	{ SYMPTOM_RATE, LAG_S2C, rate, true, true, CAUSE_PLAYER, CAUSE_PLAYER,
	  CAUSE_PLAYER },
	{ SYMPTOM_SILENCE, LAG_C2S, silence, true, false, CAUSE_UNKNOWN, CAUSE_PLAYER,
	  CAUSE_PLAYER },
};
#define RULES ARRAY_SIZE(rules)

/* --- what is common -------------------------------------------------------------- */

struct compared {
	double common;
	uint32_t players;
};

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* The minute that is judged, and the comparisons so far. */
struct bench {
	const struct lag_counts *counts;
	size_t n;
	const struct lag_known *known;
	/* By rule, and slot where a rule is of one service; players 0: not yet. */
	struct compared compared[RULES][SERVICES_MAX];
	double values[COMPARED_MAX];
};

/*
 * Return what three of four of the players with a known value of @rule have or exceed, of
 * the service in @slot or of the host.
 */
static struct compared compare(struct bench *b, const struct rule *rule, uint32_t slot)
{
	struct compared *ret =
		&b->compared[rule - rules][rule->service ? slot % SERVICES_MAX : 0];

	if (ret->players)
		return *ret;
	for (size_t i = 0; i < b->n && i < COMPARED_MAX; i++) {
		const struct lag_counts *c = &b->counts[i];
		double value = rule->value(c);

		if (c->present && value >= 0 && (!rule->service || c->slot == slot))
			b->values[ret->players++] = value;
	}
	qsort(b->values, ret->players, sizeof(*b->values), by_value);
	if (ret->players)
		ret->common = b->values[ret->players / 4];
	return *ret;
}

static double bad_from(const struct rule *rule, const struct lag_known *known)
{
	double least = LAG_PAUSE_MS / 1000.0;
	double share = LAG_BAD_PAUSE * known->length_ms / 1000.0;

	if (rule->symptom == SYMPTOM_LOSS)
		return LAG_BAD_LOSS;
	if (rule->symptom == SYMPTOM_DELAY)
		return LAG_BAD_DELAY_MS / 1000.0;
	return share > least ? share : least;
}

/* --- the cause --------------------------------------------------------------------- */

/* Return the attack on @slot, on the host, or else on any service: all share the uplink.
 */
static const char *attack_of(const struct lag_known *known, uint32_t slot)
{
	const char *any = known->attack[SERVICES_MAX];

	if (slot < SERVICES_MAX && known->attack[slot])
		return known->attack[slot];
	for (size_t i = 0; !any && i < SERVICES_MAX; i++)
		any = known->attack[i];
	return any;
}

/* Do drops of this host explain half of what this player has lost? */
static bool host_dropped(const struct rule *rule, const struct lag_counts *c)
{
	return rule->symptom == SYMPTOM_LOSS &&
	       2 * c->dropped[rule->way] >= c->lost[rule->way];
}

/* Do refusals explain half of it? What is refused other players does not count. */
static bool shield_refused(const struct rule *rule, const struct lag_counts *c,
			   const struct lag_known *known)
{
	return rule->symptom == SYMPTOM_LOSS && rule->way == LAG_C2S &&
	       c->slot < SERVICES_MAX && 2 * c->refused >= c->lost[LAG_C2S] &&
	       2 * known->refused[c->slot] >= c->lost[LAG_C2S];
}

/*
 * Return how much more than @common a player may lose by chance: three standard
 * deviations. 0 for symptoms that are no count.
 */
static double chance(const struct rule *rule, const struct lag_counts *c, double common)
{
	if (rule->symptom != SYMPTOM_LOSS)
		return 0;
	return 3 * sqrt(common / (double)(c->received[rule->way] + c->lost[rule->way]));
}

static enum lag_cause cause_of(const struct rule *rule, const struct lag_counts *c,
			       const struct lag_known *known,
			       const struct compared *compared, double value, double bad)
{
	/*
	 * Half of a symptom that all have is enough: near the threshold, the player that
	 * is above it is not worse than those below. A player that has much more than
	 * all the others has a cause of its own.
	 */
	double far = 2 * compared->common + bad + chance(rule, c, compared->common);
	bool own = compared->common < bad / 2 || value >= far;

	if (shield_refused(rule, c, known))
		return CAUSE_SHIELD;
	if (compared->players > 1 && own)
		return rule->own;
	if (compared->players > 1 && rule->common == CAUSE_UPLINK &&
	    attack_of(known, c->slot))
		return CAUSE_ATTACK;
	if (rule->common == CAUSE_UPLINK && host_dropped(rule, c))
		return CAUSE_HOST;
	return compared->players > 1 ? rule->common : rule->alone;
}

/*
 * How much of the game a symptom takes, to compare one with another: a share of lost
 * messages, a share of the minute, or a delay in parts of a second.
 */
static double weight_of(const struct rule *rule, const struct lag_known *known,
			double value)
{
	return rule->pause ? value * 1000 / known->length_ms : value;
}

/*
 * Consider one symptom of one player; a heavier one replaces what is in @ret. Returns its
 * cause; CAUSE_NONE: the player does not have it.
 */
static enum lag_cause consider(struct bench *b, const struct rule *rule,
			       const struct lag_counts *c, double *heaviest,
			       struct lag_verdict *ret)
{
	double value = rule->value(c), bad = bad_from(rule, b->known);
	double weight = weight_of(rule, b->known, value);
	struct compared compared;
	enum lag_cause cause;

	if (value < bad ||
	    (rule->symptom == SYMPTOM_LOSS && c->lost[rule->way] < LAG_LEAST_LOST))
		return CAUSE_NONE;
	compared = compare(b, rule, c->slot);
	cause = cause_of(rule, c, b->known, &compared, value, bad);
	if (weight <= *heaviest)
		return cause;
	*heaviest = weight;
	ret->cause = cause;
	ret->symptom = rule->symptom;
	ret->way = rule->way;
	ret->value = value;
	ret->common = compared.common;
	ret->compared = compared.players;
	ret->doubt = cause != CAUSE_UNKNOWN ? DOUBT_NONE
		     : compared.players > 1 ? DOUBT_OTHER
					    : DOUBT_ALONE;
	return cause;
}

/* Return the share of the samples that is missing. */
static double unseen_share(const struct lag_known *known)
{
	uint64_t all = known->seen + known->unseen;

	return all ? (double)known->unseen / (double)all : 0;
}

/* Was enough seen of the player to say that nothing was wrong? */
static bool seen_well(const struct lag_counts *c)
{
	return loss_c2s(c) >= 0 && loss_s2c(c) >= 0;
}

/* Would the player have a loss if all that went unseen was lost? */
static bool loss_unseen(const struct lag_counts *c)
{
	for (int way = 0; way < LAG_WAYS; way++) {
		uint64_t lost = c->lost[way] + c->unseen[way];

		if (c->unseen[way] && lost >= LAG_LEAST_LOST &&
		    (double)lost >= LAG_BAD_LOSS * (double)(c->received[way] + lost))
			return true;
	}
	return false;
}

static void judge_one(struct bench *b, const struct lag_counts *c,
		      struct lag_verdict *ret)
{
	double heaviest = 0, missing = unseen_share(b->known);
	bool server_is_late = false, unseen = missing > LAG_UNSEEN_FEW;

	*ret = (struct lag_verdict){ .way = LAG_WAYS, .counts = *c, .unseen = missing };
	ret->attack = attack_of(b->known, c->slot);
	if (!c->present || missing > LAG_UNSEEN_MOST) {
		ret->doubt = c->present ? DOUBT_UNSEEN : DOUBT_LITTLE;
		return;
	}
	for (size_t i = 0; i < RULES; i++) {
		/* Missing samples look like a pause. */
		if (rules[i].pause && b->known->unseen) {
			unseen |= rules[i].value(c) >= bad_from(&rules[i], b->known);
			continue;
		}
		/* A client may fall silent because its server has. */
		if (rules[i].symptom == SYMPTOM_SILENCE && server_is_late)
			continue;
		server_is_late |=
			consider(b, &rules[i], c, &heaviest, ret) == CAUSE_SERVER;
	}
	if (ret->symptom)
		return;
	unseen |= loss_unseen(c);
	ret->cause = seen_well(c) && !unseen ? CAUSE_NONE : CAUSE_UNKNOWN;
	if (ret->cause == CAUSE_UNKNOWN)
		ret->doubt = unseen ? DOUBT_UNSEEN : DOUBT_LITTLE;
}

void lag_judge(const struct lag_counts *counts, size_t n, const struct lag_known *known,
	       struct lag_verdict *ret)
{
	static struct bench bench;

	memset(&bench, 0, sizeof(bench));
	bench.counts = counts;
	bench.n = n;
	bench.known = known;
	for (size_t i = 0; i < n; i++)
		judge_one(&bench, &counts[i], &ret[i]);
}

/* --- in words ------------------------------------------------------------------------
 */

static const struct {
	const char *name;
	char letter;
} causes[CAUSE_COUNT] = {
	[CAUSE_UNKNOWN] = { "unknown", '?' }, [CAUSE_NONE] = { "none", '.' },
	[CAUSE_SERVER] = { "server", 'S' },   [CAUSE_UPLINK] = { "uplink", 'U' },
	[CAUSE_ATTACK] = { "attack", 'A' },   [CAUSE_HOST] = { "host", 'H' },
	[CAUSE_SHIELD] = { "shield", 'D' },   [CAUSE_PLAYER] = { "player", 'P' },
};

/* The words of a symptom, around its value. */
static const struct {
	const char *name, *before, *after[LAG_WAYS + 1];
} symptoms[SYMPTOM_COUNT] = {
	[SYMPTOM_LOSS] = { "loss", "", { " lost from it", " lost to it", " lost" } },
	[SYMPTOM_HELD] = { "held",
			   "for ",
			   { " nothing came from it, then all at once or lost", "",
			     "" } },
	[SYMPTOM_DELAY] = { "delay", "ping ", { "", "", " above its lowest" } },
	[SYMPTOM_LATE] = { "late", "for ", { "", " the server sent nothing", "" } },
	[SYMPTOM_RATE] = { "rate",
			   "for ",
			   { "", " snapshots waited for the client's rate", "" } },
	[SYMPTOM_SILENCE] = { "silence", "for ", { " the client sent nothing", "", "" } },
};

const char *lag_cause_name(enum lag_cause w)
{
	return causes[w].name;
}

char lag_cause_letter(enum lag_cause w)
{
	return causes[w].letter;
}

const char *lag_symptom_name(enum lag_symptom symptom)
{
	return symptoms[symptom].name;
}

#define FIGURE 24

static void figure(enum lag_symptom symptom, double value, char ret[FIGURE])
{
	if (symptom == SYMPTOM_LOSS)
		snprintf(ret, FIGURE, "%.1f %%", value * 100);
	else if (symptom == SYMPTOM_DELAY)
		snprintf(ret, FIGURE, "%.0f ms", value * 1000);
	else
		snprintf(ret, FIGURE, "%.1f s", value);
}

void lag_verdict_text(const struct lag_verdict *v, char ret[LAG_TEXT])
{
	char value[FIGURE], common[FIGURE] = "";
	int n;

	if (!v->symptom && v->doubt == DOUBT_UNSEEN) {
		if (v->unseen >= 0.0005)
			snprintf(common, FIGURE, "%.1f %% of the ", v->unseen * 100);
		snprintf(ret, LAG_TEXT,
			 "%ssamples are missing (follow.rate, output.cpu-percent)",
			 common);
		return;
	}
	if (!v->symptom) {
		snprintf(ret, LAG_TEXT, "%s",
			 v->doubt ? "too little was seen" : "nothing was wrong");
		return;
	}
	figure(v->symptom, v->value, value);
	figure(v->symptom, v->common, common);
	n = snprintf(ret, LAG_TEXT, "%s%s%s", symptoms[v->symptom].before, value,
		     symptoms[v->symptom].after[v->way]);
	if (v->compared > 1)
		n += snprintf(ret + n, (size_t)(LAG_TEXT - n),
			      " (3 in 4 of %u players: %s or more)", v->compared, common);
	else
		n += snprintf(ret + n, (size_t)(LAG_TEXT - n), " (no other player)");
	if (v->cause == CAUSE_ATTACK && v->attack)
		snprintf(ret + n, (size_t)(LAG_TEXT - n), ": %s", v->attack);
}
