// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * NetQuake's lagometer: a move gives back the server's time, and so acknowledges what
 * told it. A story by hand; then recorded games, with the names and maps of their
 * players.
 */
#include "decode/decode_support.h"
#include "lag/lagometer.h"
#include "recordings.h"

#define MS 1000000LL

static struct record record_of(int64_t now_ns, bool c2s, uint32_t sequence)
{
	struct record r;

	record_reset(&r, NULL);
	r.time_ns = now_ns;
	r.family = FAMILY_NETQUAKE;
	r.direction = c2s ? DIRECTION_C2S : DIRECTION_S2C;
	r.source = c2s ? harness_address(9, 5000) : harness_address(1, 26000);
	r.destination = c2s ? harness_address(1, 26000) : harness_address(9, 5000);
	r.kind = "nq-unreliable";
	r.facts.has =
		FACT_SEQUENCE | (c2s ? FACT_COMMAND_TIME : FACT_SNAPSHOT | FACT_TIME);
	r.facts.sequence = sequence;
	return r;
}

static void told(struct lagometer *l, int64_t now_ns, uint32_t sequence, int64_t us)
{
	struct record r = record_of(now_ns, false, sequence);

	r.facts.time_us = us;
	lagometer_record(l, 0, &r);
}

static void echoed(struct lagometer *l, int64_t now_ns, uint32_t sequence, int64_t us)
{
	struct record r = record_of(now_ns, true, sequence);

	r.facts.command_us = us;
	lagometer_record(l, 0, &r);
}

/* Sixty messages, of which the client never gives back two, at 40 ms; then a pause, in
 * which all tell one time, and times that nobody has told: these show nothing. */
static void echoes(void **state)
{
	struct lagometer *l = lagometer_create(2, LAG_BESIDE_SERVER);
	const struct lag_player *p;
	int64_t now_ns = 1000 * MS;
	uint32_t c2s = 0, n;
	int64_t had = 0, before = 0;
	size_t at = 0;

	(void)state;
	for (n = 0; n < 60; n++) {
		told(l, now_ns, n, 5000000 + n * 50000LL);
		if (n != 20 && n != 41)
			had = 5000000 + n * 50000LL;
		for (int i = 0; i < 4; i++) {
			now_ns += 10 * MS;
			echoed(l, now_ns, c2s++, i == 3 ? had : before);
		}
		before = had;
		now_ns += 10 * MS;
	}
	for (; n < 80; n++) {
		told(l, now_ns, n, 9000000);
		now_ns += 500 * MS;
		/* The first one of the pause is as good as any. */
		echoed(l, now_ns, c2s++, n > 60 ? 9000000 : 8999999);
	}
	p = lagometer_next(l, &at);
	assert_non_null(p);
	assert_int_equal(p->ping_ms, 40);
	assert_int_equal(p->way[LAG_S2C].received, 58);
	assert_int_equal(p->way[LAG_S2C].lost, 2);
	assert_int_equal(p->way[LAG_C2S].lost, 0);
	lagometer_free(l);
}

/* It has loaded a map for ten seconds: what it gives back then is as old as that. */
static void echoes_after_loading(void **state)
{
	struct lagometer *l = lagometer_create(2, LAG_BESIDE_SERVER);
	const struct lag_player *p;
	int64_t now_ns = 1000 * MS;
	uint32_t n;
	size_t at = 0;

	(void)state;
	for (n = 0; n < 200; n++, now_ns += 50 * MS)
		told(l, now_ns, n, 5000000 + n * 50000LL);
	for (uint32_t c2s = 0; c2s < 25; n++, c2s++, now_ns += 50 * MS) {
		told(l, now_ns, n, 5000000 + n * 50000LL);
		echoed(l, now_ns + 20 * MS, c2s,
		       5000000 + (c2s < 5 ? 140 + c2s : n) * 50000LL);
	}
	p = lagometer_next(l, &at);
	assert_non_null(p);
	assert_int_equal(p->ping_ms, 20);
	lagometer_free(l);
}

static void sink(void *context, const struct record *r)
{
	lagometer_record(context, 0, r);
}

static struct lagometer *play(const char *name, enum lag_side side)
{
	struct decoder_options how = { .forced = FAMILY_AUTO };
	struct capture *capture = recording_live(name);
	struct decoder *decoder;
	struct datagram dg;
	struct lagometer *l;

	if (!capture)
		return NULL;
	l = lagometer_create(8, side);
	decoder = decoder_create(&how, sink, l);
	while (capture_next(capture, &dg) == 1)
		decoder_datagram(decoder, &dg);
	decoder_flush(decoder);
	decoder_free(decoder);
	capture_close(capture);
	return l;
}

/* As the index of the recordings has them. Where nothing was lost, nothing is. */
static const struct {
	const char *capture, *name, *map;
	unsigned int pings_min;
	bool clean;
} players[] = {
	{ "nq-quakespasm-proto15-1client-mapchange", "renamed1", "lqdm1", 160, true },
	/* 330 of these two, where the acknowledgements are 58. */
	{ "nq-quakespasm-proto666-2clients-mapchange", "renamed1", "lqdm1", 190, true },
	{ "nq-quakespasm-proto666-2clients-mapchange", "bob", "lqdm2", 138, true },
	{ "nq-quakespasm-proto999-1client", "renamed1", "lqdm2", 115, true },
	{ "nq-quakespasm-impaired-server-side", "dora", "lqdm1", 110, false },
	{ "dp-darkplaces-server-quake15-quakespasm-client", "qsguest", "lqdm1", 120,
	  true },
	{ "dp-darkplaces-dp7-2clients-mapchange", "dpalice", "lqdm1", 450, true },
	{ "dp-darkplaces-dp7-2clients-mapchange", "dpbob", "lqdm1", 330, true },
	{ "dp-nexuiz-2clients-mapchange", "dpalice", "darkzone", 600, true },
	{ "dp-nexuiz-2clients-mapchange", "dpbob", "darkzone", 300, true },
};

static const struct lag_player *named(struct lagometer *l, const char *name)
{
	const struct lag_player *p;
	size_t at = 0;

	while ((p = lagometer_next(l, &at)))
		if (!strcmp(p->name, name))
			return p;
	return NULL;
}

static void recorded(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(players) / sizeof(*players); i++) {
		struct lagometer *l = play(players[i].capture, LAG_BESIDE_SERVER);
		const struct lag_direction *down;
		const struct lag_player *p;

		if (!l)
			skip();
		p = named(l, players[i].name);
		assert_non_null(p);
		down = &p->way[LAG_S2C];
		print_message("%s: %s, ping %u, %u pings, lost %u, unsure %u\n",
			      players[i].capture, p->name, p->ping_ms,
			      (unsigned int)down->received, (unsigned int)down->lost,
			      (unsigned int)down->unsure);
		assert_string_equal(p->map, players[i].map);
		assert_true(down->received >= players[i].pings_min);
		assert_true(p->ping_ms < 120);
		assert_true(players[i].clean == !down->lost);
		assert_true(players[i].clean == !p->way[LAG_C2S].lost);
		lagometer_free(l);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(echoes),
		cmocka_unit_test(echoes_after_loading),
		cmocka_unit_test(recorded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
