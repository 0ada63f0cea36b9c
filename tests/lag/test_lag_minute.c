// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_lag_minute.c - datagrams of a few minutes, through the lagometer: which pauses are
 * counted, of which side, and what the verdict of each minute is.
 */
#include "decode/decode_support.h"
#include "lag/lag_minute.h"
#include "lag/lag_pause.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define MS	 1000000LL
#define SECOND	 1000000000LL
#define BEGIN	 (1000 * 60 * SECOND) /* a whole minute */

/* --- pauses ----------------------------------------------------------------------------
 */

/*
 * A story of 50 ms: a character a step of 10 ms. 's' the server sends, 'd' it says that
 * it waited for the rate, 'c' the client sends, 'l' it sends after ten that were lost,
 * 'm' a map is loaded, 'b' samples are missing, '.' nothing. "*" repeats the character
 * before fifty times.
 */
static const struct {
	const char *name, *story;
	int late, rate, silent, held; /* ms */
} stories[] = {
	{ "in step", "cs...cs...cs...cs...cs...cs...", 0, 0, 0, 0 },
	{ "the server stops", "cs...cs...cs...c....c....c....c....c....c....c....cs...",
	  300, 0, 0, 0 },
	{ "three intervals are no pause", "cs...cs...cs...c....c....cs...", 0, 0, 0, 0 },
	{ "nor are 160 ms more", "cs...cs...cs...c....c....c....c....cs...", 0, 0, 0, 0 },
	{ "the rate", "cs...cs...cs...c....c....c....c....c....c....c....cd...", 0, 300,
	  0, 0 },
	{ "the client stops",
	  "cs...cs...cs...s....s....s....s....s....s....s....s....cs...cs...cs...", 0, 0,
	  400, 0 },
	{ "its line holds back",
	  "cs...cs...cs...s....s....s....s....s....s....s....s....ccccccs...cs...cs...",
	  0, 0, 0, 400 },
	{ "its line loses",
	  "cs...cs...cs...s....s....s....s....s....s....s....s....ls...cs...cs...", 0, 0,
	  0, 400 },
	/* A server that answers each packet of a client is not late for its silence. */
	{ "both stop", "cs...cs...cs...*cs...cs...cs...", 0, 0, 500, 0 },
	{ "a map is loaded",
	  "cs...cs...cs...m....c....c....c....c....c....c....c....cs...cs...", 0, 0, 0,
	  0 },
	{ "samples are missing", "cs...cs...cs...b*cs...cs...cs...", 0, 0, 0, 0 },
};

static void pauses(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(stories); i++) {
		struct lag_pause p = { 0 };
		struct lag_pauses ret = { 0 };
		int64_t now_ns = SECOND;

		print_message("%s\n", stories[i].name);
		for (const char *c = stories[i].story; *c; c++) {
			if (*c == 'c' || *c == 'l')
				lag_pause_client(&p, &ret, now_ns, *c == 'l' ? 10 : 0);
			else if (*c == 's' || *c == 'd')
				lag_pause_server(&p, &ret, now_ns, *c == 'd');
			else if (*c == 'm')
				lag_pause_loading(&p, now_ns);
			else if (*c == 'b')
				lag_pause_blind(&p);
			now_ns += *c == '*' ? 500 * MS : 10 * MS;
		}
		assert_in_range(ret.late_ns / MS + 60, stories[i].late + 40,
				stories[i].late + 80);
		assert_in_range(ret.rate_ns / MS + 60, stories[i].rate + 40,
				stories[i].rate + 80);
		assert_in_range(ret.silent_ns / MS + 60, stories[i].silent + 40,
				stories[i].silent + 80);
		assert_in_range(ret.held_ns / MS + 60, stories[i].held + 40,
				stories[i].held + 80);
	}
}

/* --- minutes
 * ---------------------------------------------------------------------------- */

#define PLAYERS 3
#define STEP	(10 * MS)
#define REFUSED 160 /* datagrams: a player that loses one in twelve loses 166 */

static struct record_tape tape;

struct scene {
	struct lagometer *l;
	struct lag_minutes *m;
	struct lag_totals totals;
	int64_t now_ns;
	uint32_t c2s[PLAYERS], s2c[PLAYERS], ack[PLAYERS];
	int64_t ping_ns[PLAYERS]; /* how old what a client acknowledges is */
};

/* The trouble of a minute. */
struct trouble {
	int players; /* bits: they have it */
	int lose_up; /* one in so many; 0: none */
	int lose_down;
	int slow; /* snapshots: one in so many is sent; 0: all */
	int stop_ms; /* the server, from second 20 on */
	int delay_ms;
	bool joins; /* they have not played before second 40 */
	int unseen; /* samples */
	bool blind; /* they are missing all the time */
	bool attacked;
	int refuses; /* bits: the shield refuses their datagrams */
	int drops[2]; /* frames on the way in, by the players' interface, and by another
		       */
	bool unread; /* when the minute ends no counter can be read */
};

static void send_one(struct scene *s, int player, bool c2s, uint32_t sequence,
		     uint32_t ack)
{
	struct record_address client = harness_address(10 + (unsigned int)player, 5000);
	struct record r;

	record_reset(&r, &tape);
	r.time_ns = s->now_ns;
	r.family = FAMILY_QUAKE3;
	r.direction = c2s ? DIRECTION_C2S : DIRECTION_S2C;
	r.source = c2s ? client : harness_address(1, 27960);
	r.destination = c2s ? harness_address(1, 27960) : client;
	r.facts.has = FACT_SEQUENCE | (c2s ? FACT_ACK : FACT_SNAPSHOT);
	r.facts.sequence = sequence;
	r.facts.ack = ack;
	lagometer_record(s->l, 3, &r);
}

static bool each(int one_in, uint32_t n)
{
	return one_in && !(n % (uint32_t)one_in);
}

/* A snapshot each 50 ms, a packet of the client each 30 ms. */
static void step(struct scene *s, const struct trouble *t, int player, int64_t at_ns)
{
	bool has = t->players & 1 << player;
	bool stopped =
		has && at_ns >= 20 * SECOND && at_ns < 20 * SECOND + t->stop_ms * MS;
	int64_t old_steps = (30 + (has ? t->delay_ms : 0)) / 50 + 1;

	if (has && t->joins && at_ns < 40 * SECOND)
		return;
	if (!(at_ns % (50 * MS)) && !stopped &&
	    !(has && t->slow && (at_ns / (50 * MS)) % t->slow)) {
		send_one(s, player, false, ++s->s2c[player], 0);
		if (!(has && each(t->lose_down, s->s2c[player])) &&
		    s->s2c[player] > old_steps)
			s->ack[player] = s->s2c[player] - (uint32_t)old_steps + 1;
	}
	if (at_ns % (30 * MS))
		return;
	s->c2s[player]++;
	if (!(has && each(t->lose_up, s->c2s[player])))
		send_one(s, player, true, s->c2s[player], s->ack[player]);
}

/* Datagrams for all servers come by the first interface. */
static uint64_t arrives(void *context, const struct record_address *server)
{
	(void)context;
	assert_int_equal(server->port, 27960);
	return 1;
}

/* Add the counts of the host until second 30. */
static void host_counts(struct scene *s, const struct trouble *t)
{
	struct lag_totals *all = &s->totals;

	for (int player = 0; player < PLAYERS; player++) {
		struct record_address client = harness_address(10 + (unsigned)player, 0);
		struct lag_source from = { .slot = 3, .refused = REFUSED };

		for (int i = 0; i < 4; i++)
			from.net = from.net << 8 | client.bytes[i];
		if (t->refuses & 1 << player)
			all->sources[all->source_count++] = from;
	}
	all->refused[3] += REFUSED;
	for (int i = 0; i < 2; i++)
		all->interfaces[i].dropped[LAG_C2S] += (uint64_t)t->drops[i];
}

/* A second of the minute is over. */
static void second(struct scene *s, const struct trouble *t)
{
	struct lag_totals unread = { .seen = s->totals.seen,
				     .unseen = s->totals.unseen,
				     .arrives = arrives };
	bool last = !(s->now_ns % (60 * SECOND));

	lagometer_sweep(s->l, s->now_ns);
	lag_minutes_second(s->m, s->l, t->unread && last ? &unread : &s->totals,
			   s->now_ns);
	s->totals.source_count = 0;
}

static struct scene scene_new(void)
{
	struct scene s = {
		.now_ns = BEGIN,
		.totals = { .interfaces = { { "eth0", { 9000 } }, { "eth1", { 9000 } } },
			    .interface_count = 2,
			    .services_read = true,
			    .refused = { [3] = 9000 },
			    .arrives = arrives },
	};

	s.l = lagometer_create(8, LAG_BESIDE_SERVER);
	s.m = lag_minutes_create(8, LAG_MINUTE_NS);
	assert_non_null(s.l);
	assert_non_null(s.m);
	return s;
}

static void scene_end(struct scene *s)
{
	lagometer_free(s->l);
	lag_minutes_free(s->m);
}

static void play(struct scene *s, const struct trouble *t)
{
	for (int64_t at_ns = 0; at_ns < 60 * SECOND; at_ns += STEP) {
		if (t->blind)
			lagometer_blind(s->l, s->now_ns);
		for (int player = 0; player < PLAYERS; player++)
			step(s, t, player, at_ns);
		if (at_ns == 30 * SECOND) {
			s->totals.unseen += (uint64_t)t->unseen;
			s->totals.attack[3] = t->attacked ? "flood" : NULL;
			if (t->unseen)
				lagometer_blind(s->l, s->now_ns);
			host_counts(s, t);
		}
		s->totals.seen += 5;
		s->now_ns += STEP;
		if (!(s->now_ns % SECOND))
			second(s, t);
	}
	s->totals.attack[3] = NULL;
}

static void letters_of(struct scene *s, char ret[PLAYERS + 1])
{
	const struct lag_player *p;
	const char *history;
	size_t at = 0;

	memset(ret, '-', PLAYERS);
	ret[PLAYERS] = 0;
	while ((p = lagometer_next(s->l, &at))) {
		const struct lag_verdict *v =
			lag_minutes_verdict(s->m, at - 1, p, &history);
		int player = p->client.bytes[3] - 10;

		if (!v)
			continue;
		assert_in_range(player, 0, PLAYERS - 1);
		assert_int_equal(v->time_ns, s->now_ns - 60 * SECOND);
		assert_int_equal(v->length_ms, 60000);
		ret[player] = history[strlen(history) - 1];
		assert_int_equal(ret[player], lag_cause_letter(v->cause));
	}
}

/* The minutes follow each other. */
static const struct {
	const char *name;
	struct trouble t;
	const char *letters;
} minutes[] = {
	{ "the first, seen from its begin", { 0 }, "..." },
	{ "nothing", { 0 }, "..." },
	{ "one loses one in twelve", { .players = 1, .lose_up = 12 }, "P.." },
	{ "all do", { .players = 7, .lose_up = 12 }, "UUU" },
	{ "all do in an attack",
	  { .players = 7, .lose_up = 12, .attacked = true },
	  "AAA" },
	{ "after it", { 0 }, "..." },
	{ "the server stops for 2 s", { .players = 7, .stop_ms = 2000 }, "SSS" },
	{ "for half a second", { .players = 7, .stop_ms = 500 }, "..." },
	{ "it stops for one player alone", { .players = 2, .stop_ms = 2000 }, ".?." },
	{ "it sends every second snapshot", { .players = 7, .slow = 2 }, "SSS" },
	{ "one is delayed", { .players = 4, .delay_ms = 200 }, "..P" },
	{ "all are", { .players = 7, .delay_ms = 200 }, "UUU" },
	{ "a sample is missing", { .unseen = 1 }, "..." },
	{ "the server stops then",
	  { .players = 7, .stop_ms = 2000, .unseen = 1 },
	  "???" },
	{ "half of them are", { .unseen = 30000 }, "???" },
	{ "good again", { 0 }, "..." },
	{ "few are, but all the time",
	  { .players = 1, .lose_up = 12, .unseen = 30, .blind = true },
	  "?.." },
	{ "the same, and it loses to it",
	  { .players = 2, .lose_down = 12, .unseen = 30, .blind = true },
	  ".?." },
	{ "one in a hundred is no lag",
	  { .players = 1, .lose_up = 100, .unseen = 30, .blind = true },
	  "..." },
	{ "the shield refuses one",
	  { .players = 1, .lose_up = 12, .refuses = 1 },
	  "D.." },
	{ "and no more", { .players = 1, .lose_up = 12 }, "P.." },
	{ "it refuses another", { .players = 1, .lose_up = 12, .refuses = 6 }, "P.." },
	{ "it refuses others while all lose",
	  { .players = 7, .lose_up = 12, .refuses = 4 },
	  "UUD" },
	{ "their interface drops",
	  { .players = 7, .lose_up = 12, .drops = { 160 } },
	  "HHH" },
	{ "another one does",
	  { .players = 7, .lose_up = 12, .drops = { 40, 4000 } },
	  "UUU" },
	{ "what it drops is not read in the end",
	  { .players = 7, .lose_up = 12, .drops = { 160 }, .unread = true },
	  "UUU" },
	{ "nor at the begin",
	  { .players = 7, .lose_up = 12, .drops = { 160 }, .refuses = 7 },
	  "UUU" },
	{ "it is read again", { .players = 7, .lose_up = 12, .drops = { 160 } }, "HHH" },
};

static void verdicts(void **state)
{
	struct scene s = scene_new();
	char letters[PLAYERS + 1];

	(void)state;
	lag_minutes_second(s.m, s.l, &s.totals, s.now_ns);
	for (size_t i = 0; i < COUNT(minutes); i++) {
		print_message("%s\n", minutes[i].name);
		play(&s, &minutes[i].t);
		letters_of(&s, letters);
		assert_string_equal(letters, minutes[i].letters);
	}
	scene_end(&s);
}

/* It came late in the minute: too little of it was seen. The next minute is whole. */
static void newcomer(void **state)
{
	struct scene s = scene_new();
	char letters[PLAYERS + 1];

	(void)state;
	lag_minutes_second(s.m, s.l, &s.totals, s.now_ns);
	play(&s, &(struct trouble){ .players = 2, .joins = true });
	letters_of(&s, letters);
	assert_string_equal(letters, ".?.");
	play(&s, &(struct trouble){ 0 });
	letters_of(&s, letters);
	assert_string_equal(letters, "...");
	scene_end(&s);
}

/* Sixty minutes are kept, and the oldest goes first. */
static void history_is_bounded(void **state)
{
	struct scene s = scene_new();
	const struct lag_player *p;
	const char *history = NULL;
	size_t at = 0;

	(void)state;
	lag_minutes_second(s.m, s.l, &s.totals, s.now_ns);
	for (int i = 0; i < LAG_HISTORY + 2; i++)
		play(&s, &(struct trouble){ .players = i == 1 || i == 2, .lose_up = 12 });
	p = lagometer_next(s.l, &at);
	assert_non_null(lag_minutes_verdict(s.m, at - 1, p, &history));
	assert_int_equal(strlen(history), LAG_HISTORY);
	assert_int_equal(history[0], 'P');
	assert_int_equal(history[1], '.');
	scene_end(&s);
}

/* Another player in the same place has no history; a clock that was set judges nothing.
 */
static void anew(void **state)
{
	struct scene s = scene_new();
	const struct lag_player *p;
	struct lag_player other;
	const char *history;
	size_t at = 0;

	(void)state;
	lag_minutes_second(s.m, s.l, &s.totals, s.now_ns);
	play(&s, &(struct trouble){ 0 });
	p = lagometer_next(s.l, &at);
	assert_non_null(lag_minutes_verdict(s.m, at - 1, p, &history));
	assert_int_equal(strlen(history), 1);
	other = *p;
	other.since_ns++;
	assert_null(lag_minutes_verdict(s.m, at - 1, &other, &history));
	assert_null(lag_minutes_verdict(s.m, 8, p, &history));
	assert_null(lag_minutes_verdict(NULL, at - 1, p, &history));
	lag_minutes_second(s.m, s.l, &s.totals, s.now_ns + 300 * SECOND);
	assert_non_null(lag_minutes_verdict(s.m, at - 1, p, &history));
	assert_int_equal(strlen(history), 1);
	scene_end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pauses),   cmocka_unit_test(verdicts),
		cmocka_unit_test(newcomer), cmocka_unit_test(history_is_bounded),
		cmocka_unit_test(anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
