// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_lagometer.c - stories of datagrams and what is counted of them. Recorded ones are
 * in test_lagometer_files.c.
 */
#include "decode/decode_support.h"
#include "lag/lagometer.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define MS	 1000000LL
#define SECOND	 1000000000LL

static struct record_tape tape;

struct scene {
	struct lagometer *l;
	int64_t now_ns;
	uint8_t client; /* host number */
};

static struct scene scene_of(size_t players)
{
	struct scene s = { lagometer_create(players, LAG_BESIDE_SERVER), SECOND, 9 };

	assert_non_null(s.l);
	return s;
}

static struct record record_of(const struct scene *s, bool c2s)
{
	struct record r;

	record_reset(&r, &tape);
	r.time_ns = s->now_ns;
	r.family = FAMILY_QUAKE3;
	r.direction = c2s ? DIRECTION_C2S : DIRECTION_S2C;
	r.source = c2s ? harness_address(s->client, 5000) : harness_address(1, 27960);
	r.destination =
		c2s ? harness_address(1, 27960) : harness_address(s->client, 5000);
	r.kind = c2s ? "client-move" : "snapshot";
	return r;
}

static void number_it(struct record *r, uint32_t sequence)
{
	r->facts.has |= FACT_SEQUENCE;
	r->facts.sequence = sequence;
}

static void from_client(struct scene *s, uint32_t sequence, int64_t ack)
{
	struct record r = record_of(s, true);

	number_it(&r, sequence);
	if (ack >= 0) {
		r.facts.has |= FACT_ACK;
		r.facts.ack = (uint32_t)ack;
	}
	lagometer_record(s->l, 3, &r);
}

static void from_server(struct scene *s, uint32_t sequence, unsigned int flags)
{
	struct record r = record_of(s, false);

	number_it(&r, sequence);
	r.facts.has |= FACT_SNAPSHOT | (flags ? FACT_DELAYED : 0);
	lagometer_record(s->l, 3, &r);
}

static const struct lag_player *only_player(struct scene *s)
{
	size_t at = 0;
	const struct lag_player *p = lagometer_next(s->l, &at);

	assert_non_null(p);
	assert_null(lagometer_next(s->l, &at));
	return p;
}

/* --- from the client -----------------------------------------------------------------
 */

static const struct {
	const char *name;
	uint32_t sequences[12]; /* 0 ends; UINT32_MAX: samples went missing */
	unsigned int received, lost, repeated, late;
	const char *marks; /* of the ring */
} arrivals[] = {
	{ "in order", { 1, 2, 3, 4 }, 4, 0, 0, 0, "...." },
	{ "first seen in the middle", { 500, 501, 502 }, 3, 0, 0, 0, "..." },
	{ "two lost", { 1, 2, 5, 6 }, 4, 2, 0, 0, "..ll.." },
	{ "one late", { 1, 2, 4, 3, 5 }, 5, 0, 0, 1, "..t.." },
	{ "one twice", { 1, 2, 2, 3 }, 3, 0, 1, 0, ".r." },
	{ "late and twice", { 1, 3, 2, 2 }, 3, 0, 1, 1, ".r." },
	{ "late, and another lost", { 1, 4, 2, 5 }, 4, 1, 0, 1, ".tl.." },
	{ "another connection", { 900, 901, 1, 2, 3 }, 5, 0, 0, 0, "....." },
	{ "blind", { 1, 2, UINT32_MAX, 9, 10, 12 }, 5, 1, 0, 0, "....l." },
	{ "a leap", { 1, 2, 5000, 5001 }, 4, 0, 0, 0, "...." },
	{ "around the corner", { 0xfffffffe, 0xfffffffe, 1 }, 2, 2, 1, 0, "rll." },
};

static char mark_of(const struct lag_sample *s)
{
	return s->flags & LAG_LOST	 ? 'l'
	       : s->flags & LAG_REPEATED ? 'r'
	       : s->flags & LAG_LATE	 ? 't'
	       : s->flags & LAG_DELAYED	 ? 'd'
	       : s->flags & LAG_ANSWERED ? 'a'
					 : '.';
}

static void ring_is(const struct lag_direction *d, const char *marks)
{
	char text[LAG_SAMPLES + 1] = "";

	for (uint64_t i = 0; i < d->taken && i < LAG_SAMPLES; i++)
		text[i] = mark_of(&d->ring[i]);
	assert_string_equal(text, marks);
}

static void by_sequence(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(arrivals); i++) {
		struct scene s = scene_of(4);
		const struct lag_direction *d;

		print_message("%s\n", arrivals[i].name);
		from_server(&s, 1, 0);
		for (const uint32_t *n = arrivals[i].sequences; *n; n++) {
			s.now_ns += 33 * MS;
			if (*n == UINT32_MAX)
				lagometer_blind(s.l, s.now_ns);
			else
				from_client(&s, *n, -1);
		}
		d = &only_player(&s)->way[LAG_C2S];
		assert_int_equal(d->received, arrivals[i].received);
		assert_int_equal(d->lost, arrivals[i].lost);
		assert_int_equal(d->repeated, arrivals[i].repeated);
		assert_int_equal(d->late, arrivals[i].late);
		ring_is(d, arrivals[i].marks);
		lagometer_free(s.l);
	}
}

/* --- to the client -------------------------------------------------------------------
 */

/*
 * Twenty snapshots a second, forty packets of the client, which say what has come.
 * @blind: samples of the client are missing before it passes over 20 and 21.
 */
static struct scene acknowledge(bool blind)
{
	struct scene s = scene_of(4);
	uint32_t ack = 0, c2s = 0;

	for (uint32_t n = 1; n <= 60; n++) {
		from_server(&s, n, n == 40 ? 1 : 0);
		s.now_ns += 30 * MS;
		/* 20 and 21 never come; 50 is lost while the client is silent. */
		if (n != 20 && n != 21 && n != 50)
			ack = n;
		if (n == 22 && blind)
			lagometer_blind(s.l, s.now_ns);
		for (int i = 0; i < 2; i++) {
			if (n != 50)
				from_client(&s, ++c2s, ack);
			s.now_ns += 10 * MS;
		}
	}
	return s;
}

static void acknowledged(void **state)
{
	struct scene s = acknowledge(false);
	const struct lag_player *p = only_player(&s);

	(void)state;
	assert_int_equal(p->ping_ms, 30);
	assert_int_equal(p->delayed, 1);
	assert_int_equal(p->snapshots, 60);
	assert_int_equal(p->snapshots_per_s, 20);
	assert_int_equal(p->way[LAG_S2C].received, 57);
	assert_int_equal(p->way[LAG_S2C].lost, 2);
	assert_int_equal(p->way[LAG_S2C].unsure, 1);
	ring_is(&p->way[LAG_S2C],
		"aaaaaaaaaaaaaaaaaaallaaaaaaaaaaaaaaaaaadaaaaaaaaa.aaaaaaaaaa");
	assert_int_equal(p->way[LAG_S2C].ring[30].ping_ms, 30);
	lagometer_free(s.l);
	/* A sample that is missing may have acknowledged the two. */
	s = acknowledge(true);
	p = only_player(&s);
	assert_int_equal(p->way[LAG_S2C].lost, 0);
	assert_int_equal(p->way[LAG_S2C].unsure, 3);
	lagometer_free(s.l);
}

/* A mean between two milliseconds is the upper one. */
static void pings_are_rounded(void **state)
{
	static const struct {
		int took_ms[3];
		unsigned int ping_ms;
	} means[] = { { { 10, 11 }, 11 },
		      { { 10, 10, 11 }, 10 },
		      { { 10, 11, 11 }, 11 } };

	(void)state;
	for (size_t i = 0; i < COUNT(means); i++) {
		struct scene s = scene_of(4);

		for (uint32_t n = 0; n < 3 && means[i].took_ms[n]; n++) {
			from_server(&s, n + 1, 0);
			s.now_ns += means[i].took_ms[n] * MS;
			from_client(&s, n + 1, n + 1);
		}
		assert_int_equal(only_player(&s)->ping_ms, means[i].ping_ms);
		lagometer_free(s.l);
	}
}

/* A leap of what is acknowledged says nothing of what it leaps over. */
static void a_leap_passes_nothing_over(void **state)
{
	static const struct {
		uint32_t ack, unsure;
	} leaps[] = { { LAG_WINDOW, LAG_WINDOW - 2 }, { LAG_WINDOW + 1, 0 } };

	(void)state;
	for (size_t i = 0; i < COUNT(leaps); i++) {
		struct scene s = scene_of(4);
		const struct lag_direction *d;

		from_server(&s, 1, 0);
		from_client(&s, 1, 1);
		for (uint32_t n = 2; n <= leaps[i].ack; n++)
			from_server(&s, n, 0);
		from_client(&s, 2, leaps[i].ack);
		d = &only_player(&s)->way[LAG_S2C];
		assert_int_equal(d->received, 2);
		assert_int_equal(d->lost, 0);
		assert_int_equal(d->unsure, leaps[i].unsure);
		lagometer_free(s.l);
	}
}

/* A client that loads a map speaks first and listens afterwards: no loss. */
static void busy_client(void **state)
{
	struct scene s = scene_of(4);
	const struct lag_player *p;
	uint32_t c2s = 0;

	(void)state;
	for (uint32_t n = 1; n <= 20; n++) {
		from_server(&s, n, 0);
		s.now_ns += 20 * MS;
		from_client(&s, ++c2s, n);
		s.now_ns += 30 * MS;
	}
	for (uint32_t n = 21; n <= 80; n++) {
		from_server(&s, n, 0);
		s.now_ns += 50 * MS;
	}
	/* Three seconds: nobody knows its ping then. */
	assert_int_equal(only_player(&s)->ping_ms, 20);
	lagometer_sweep(s.l, s.now_ns);
	assert_int_equal(only_player(&s)->ping_ms, LAG_PING_NONE);
	for (int i = 0; i < 3; i++) {
		from_client(&s, ++c2s, 21); /* which it had got three seconds ago */
		s.now_ns += 10 * MS;
	}
	from_client(&s, ++c2s, 80);
	p = only_player(&s);
	assert_int_equal(p->way[LAG_S2C].lost, 0);
	assert_int_equal(p->way[LAG_S2C].unsure, 58);
	assert_int_equal(p->way[LAG_S2C].received, 22);
	from_server(&s, 81, 0);
	s.now_ns += 20 * MS;
	from_client(&s, ++c2s, 81);
	assert_int_equal(only_player(&s)->ping_ms, 50); /* of 80 and 20 */
	lagometer_free(s.l);
}

/* --- NetQuake: pings from what is sent reliably ----------------------------------------
 */

static void netquake(struct scene *s, bool c2s, const char *kind, uint32_t sequence)
{
	struct record r = record_of(s, c2s);

	r.family = FAMILY_NETQUAKE;
	r.kind = kind;
	number_it(&r, sequence);
	if (strcmp(kind, "nq-unreliable") != 0)
		r.facts.has |= FACT_RELIABLE;
	if (!strcmp(kind, "nq-ack"))
		r.facts.has |= FACT_ACKNOWLEDGES;
	lagometer_record(s->l, 3, &r);
}

static void reliable_pings(void **state)
{
	struct scene s = scene_of(4);
	const struct lag_player *p;

	(void)state;
	netquake(&s, false, "nq-reliable", 7);
	s.now_ns += 40 * MS;
	netquake(&s, false, "nq-reliable",
		 7); /* once more: the ping counts from the first */
	s.now_ns += 40 * MS;
	netquake(&s, true, "nq-ack", 6);
	netquake(&s, true, "nq-ack", 7);
	for (uint32_t i = 1; i < 5; i++)
		netquake(&s, true, "nq-unreliable", 2 * i);
	p = only_player(&s);
	assert_int_equal(p->ping_ms, 80);
	assert_int_equal(p->way[LAG_C2S].lost, 3);
	assert_int_equal(p->way[LAG_C2S].received, 4);
	lagometer_free(s.l);
}

/* --- names, places --------------------------------------------------------------------
 */

static size_t players(struct scene *s)
{
	size_t at = 0, count = 0;

	while (lagometer_next(s->l, &at))
		count++;
	return count;
}

static void knock(struct scene *s, const char *name)
{
	struct record r = record_of(s, true);

	r.kind = "connect";
	facts_name(&r.facts, name, strlen(name));
	lagometer_record(s->l, 3, &r);
}

static void say(struct scene *s, bool c2s, uint32_t sequence, const char *text)
{
	struct record r = record_of(s, c2s);

	number_it(&r, sequence);
	if (c2s)
		facts_name(&r.facts, text, strlen(text));
	else
		facts_map(&r.facts, text, strlen(text));
	lagometer_record(s->l, 3, &r);
}

static void names_and_maps(void **state)
{
	struct scene s = scene_of(4);
	char longest[300];
	size_t at = 0;

	(void)state;
	knock(&s, "dora");
	assert_null(lagometer_next(s.l, &at)); /* it only knocked */
	say(&s, false, 1, "oa_dm1");
	assert_string_equal(only_player(&s)->name, "dora");
	assert_string_equal(only_player(&s)->map, "oa_dm1");
	say(&s, false, 3, "oa_dm4");
	say(&s, true, 1, "dora the 2nd");
	assert_string_equal(only_player(&s)->name, "dora the 2nd");
	assert_string_equal(only_player(&s)->map, "oa_dm4");
	memset(longest, 'n', sizeof(longest));
	longest[sizeof(longest) - 1] = 0;
	say(&s, true, 2, longest);
	assert_int_equal(strlen(only_player(&s)->name), LAG_NAME - 1);
	lagometer_free(s.l);
}

/*
 * Anybody can knock in the name of one who plays, and from its address: that neither
 * renames it nor keeps it here when it has gone, until the server begins anew with it.
 */
static void a_knock_renames_nobody(void **state)
{
	struct scene s = scene_of(4);
	struct record r = record_of(&s, true);

	(void)state;
	knock(&s, "dora");
	for (uint32_t i = 1; i < 100; i++)
		say(&s, false, i, "oa_dm1");
	knock(&s, "a liar");
	r.status = RECORD_MALFORMED;
	number_it(&r, 3);
	facts_name(&r.facts, "another", 7);
	lagometer_record(s.l, 3, &r);
	r = record_of(&s, true);
	r.family = FAMILY_QUAKE2;
	r.dialect = "quake2-34";
	facts_name(&r.facts, "a third", 7);
	lagometer_record(s.l, 3, &r);
	say(&s, false, 100, "oa_dm1");
	assert_string_equal(only_player(&s)->name, "dora");
	assert_int_equal(only_player(&s)->family, FAMILY_QUAKE3);
	assert_null(only_player(&s)->dialect);
	s.now_ns += LAG_IDLE_NS + 1;
	knock(&s, "dora the 2nd");
	say(&s, false, 1, "oa_dm1");
	assert_string_equal(only_player(&s)->name, "dora the 2nd");
	s.now_ns += LAG_IDLE_NS + 1;
	knock(&s, "a liar");
	lagometer_sweep(s.l, s.now_ns);
	assert_int_equal(players(&s), 0);
	lagometer_free(s.l);
}

/* Strangers who knock take no player's place; silence does, in the end. */
static void places(void **state)
{
	struct scene s = scene_of(4);

	(void)state;
	for (s.client = 10; s.client < 13; s.client++) {
		from_server(&s, 1, 0);
		s.now_ns += MS;
	}
	for (s.client = 100; s.client < 200; s.client++) {
		knock(&s, "stranger");
		s.now_ns += MS;
	}
	assert_int_equal(players(&s), 3);
	for (s.client = 20; s.client < 22; s.client++)
		from_server(&s, 1, 0);
	assert_int_equal(players(&s), 4);
	lagometer_sweep(s.l, s.now_ns + LAG_IDLE_NS / 2);
	assert_int_equal(players(&s), 4);
	lagometer_sweep(s.l, s.now_ns + LAG_IDLE_NS + 1);
	assert_int_equal(players(&s), 0);
	lagometer_free(s.l);
}

/* With more players than places, a player keeps its place while it is heard. */
static void a_player_too_many_is_left_out(void **state)
{
	struct scene s = scene_of(2);
	size_t at = 0;

	(void)state;
	for (uint32_t i = 1; i <= 20; i++) {
		s.now_ns += SECOND;
		for (s.client = 10; s.client < 13; s.client++)
			from_server(&s, i, 0);
	}
	assert_int_equal(players(&s), 2);
	for (uint8_t i = 10; i < 12; i++) {
		const struct lag_player *p = lagometer_next(s.l, &at);

		assert_int_equal(p->client.bytes[3], i);
		assert_int_equal(p->snapshots, 20);
	}
	/* One leaves. */
	for (uint32_t i = 21; i <= 40; i++) {
		s.now_ns += SECOND;
		for (s.client = 11; s.client < 13; s.client++)
			from_server(&s, i, 0);
	}
	at = 0;
	assert_int_equal(lagometer_next(s.l, &at)->client.bytes[3], 12);
	assert_int_equal(lagometer_next(s.l, &at)->snapshots, 40);
	lagometer_free(s.l);
}

/* Who gets the place of one that has gone begins with nothing of his. */
static void a_place_is_used_again(void **state)
{
	struct scene s = scene_of(1);
	const struct lag_player *p;

	(void)state;
	knock(&s, "dora");
	say(&s, false, 1, "oa_dm1");
	for (uint32_t i = 2; i < 9; i += 2) {
		from_server(&s, i, 0);
		from_client(&s, i, i);
		s.now_ns += 10 * MS;
	}
	assert_string_equal(only_player(&s)->name, "dora");
	assert_int_equal(only_player(&s)->way[LAG_C2S].lost, 3);
	assert_int_equal(only_player(&s)->way[LAG_S2C].received, 4);
	s.now_ns += LAG_IDLE_NS + 1;
	lagometer_sweep(s.l, s.now_ns);
	assert_int_equal(players(&s), 0);
	s.client++;
	knock(&s, "a stranger");
	assert_int_equal(players(&s), 0);
	from_server(&s, 500, 0);
	p = only_player(&s);
	assert_string_equal(p->name, "a stranger");
	assert_string_equal(p->map, "");
	assert_int_equal(p->client.bytes[3], s.client);
	assert_int_equal(p->ping_ms, LAG_PING_NONE);
	assert_int_equal(p->way[LAG_S2C].received, 0);
	assert_int_equal(p->way[LAG_S2C].taken, 1);
	assert_int_equal(p->way[LAG_C2S].lost, 0);
	assert_int_equal(p->way[LAG_C2S].received, 0);
	assert_int_equal(p->since_ns, s.now_ns);
	lagometer_free(s.l);
}

static int enter(void **state)
{
	(void)state;
	return record_tape_create(&tape, 64, 4096);
}

static int leave(void **state)
{
	(void)state;
	record_tape_free(&tape);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_sequence),
		cmocka_unit_test(acknowledged),
		cmocka_unit_test(busy_client),
		cmocka_unit_test(reliable_pings),
		cmocka_unit_test(pings_are_rounded),
		cmocka_unit_test(a_leap_passes_nothing_over),
		cmocka_unit_test(names_and_maps),
		cmocka_unit_test(a_knock_renames_nobody),
		cmocka_unit_test(places),
		cmocka_unit_test(a_player_too_many_is_left_out),
		cmocka_unit_test(a_place_is_used_again),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
