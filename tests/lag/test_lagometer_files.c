// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_lagometer_files.c - a recorded session with losses, repeats and late ones, whose
 * truth is the difference of its two ends; and recordings of games that lost nothing.
 */
#include <math.h>

#include "decode/decode_support.h"
#include "lag/lagometer.h"
#include "recordings.h"

#define COUNT(a)  (sizeof(a) / sizeof(*(a)))

#define SEQUENCES 4096

struct end {
	struct lagometer *l;
	unsigned int seen[DIRECTION_COUNT][SEQUENCES]; /* times, of whole messages */
	unsigned int order[DIRECTION_COUNT][SEQUENCES]; /* when first */
	unsigned int now;
};

/* The number under @key at the front of the tape; -1: none. */
static int64_t number_at(const struct record *r, const char *key)
{
	for (size_t i = 0; i < r->tape->items_used && i < 4; i++) {
		const struct record_item *item = &r->tape->items[i];

		if (item->type == RECORD_TYPE_UINT && !strcmp(item->key, key))
			return (int64_t)item->u;
	}
	return -1;
}

static void end_sink(void *context, const struct record *r)
{
	struct end *e = context;
	int64_t sequence = number_at(r, "sequence");

	lagometer_record(e->l, 0, r);
	if (sequence < 0 || number_at(r, "fragmentStart") > 0)
		return;
	assert_true(sequence < SEQUENCES);
	if (!e->seen[r->direction][sequence]++)
		e->order[r->direction][sequence] = ++e->now;
}

static struct end *end_read(const char *name, enum lag_side side)
{
	struct decoder_options how = { .fields = true, .forced = FAMILY_AUTO };
	struct capture *capture = recording_live(name);
	struct decoder *decoder;
	struct datagram dg;
	struct end *e;

	if (!capture)
		return NULL;
	e = calloc(1, sizeof(*e));
	assert_non_null(e);
	e->l = lagometer_create(8, side);
	decoder = decoder_create(&how, end_sink, e);
	while (capture_next(capture, &dg) == 1)
		decoder_datagram(decoder, &dg);
	decoder_flush(decoder);
	decoder_free(decoder);
	capture_close(capture);
	return e;
}

struct truth {
	double sent, lost, repeated, overtaken;
};

static struct truth truth_of(const struct end *sender, const struct end *receiver,
			     enum direction direction)
{
	const unsigned int *sent = sender->seen[direction];
	const unsigned int *got = receiver->seen[direction];
	struct truth t = { 0 };
	unsigned int latest = 0;

	for (size_t i = 0; i < SEQUENCES; i++) {
		t.sent += sent[i] > 0;
		t.lost += sent[i] && !got[i];
		t.repeated += got[i] ? got[i] - 1 : 0;
	}
	for (size_t i = SEQUENCES; i-- > 0;) {
		unsigned int order = receiver->order[direction][i];

		t.overtaken += order && latest && order > latest;
		if (order && (!latest || order < latest))
			latest = order;
	}
	return t;
}

/* A share of what was sent, within @points per cent of the true one. */
static void is_near(const char *what, double figure, double truth, double points)
{
	print_message("%s: %.2f %%, in truth %.2f %%\n", what, 100 * figure, 100 * truth);
	assert_true(fabs(figure - truth) <= points / 100);
}

static void impaired_session(void **state)
{
	struct end *server = end_read("q3-oa-impaired-server-side", LAG_BESIDE_SERVER);
	struct end *client = end_read("q3-oa-impaired-client-side", LAG_BESIDE_CLIENT);
	const struct lag_direction *up, *down, *acknowledged_down;
	struct truth c2s, s2c;
	size_t at = 0;

	(void)state;
	if (!server || !client) {
		print_message("skip impaired_session: not in $CAPTURES/live\n");
		skip();
	}
	c2s = truth_of(client, server, DIRECTION_C2S);
	s2c = truth_of(server, client, DIRECTION_S2C);
	up = &lagometer_next(server->l, &at)->way[LAG_C2S];
	acknowledged_down = &up[LAG_S2C - LAG_C2S];
	at = 0;
	down = &lagometer_next(client->l, &at)->way[LAG_S2C];
	assert_true(c2s.sent > 700 && c2s.lost > 30 && s2c.sent > 500 && s2c.lost > 20);
	is_near("c2s lost", lag_loss(up), c2s.lost / c2s.sent, 1);
	is_near("c2s repeated", (double)up->repeated / c2s.sent, c2s.repeated / c2s.sent,
		1);
	is_near("s2c lost", lag_loss(down), s2c.lost / s2c.sent, 1);
	is_near("s2c repeated", (double)down->repeated / s2c.sent,
		s2c.repeated / s2c.sent, 1);
	/* What the server's end can only infer: lost, or too late for the game. */
	is_near("s2c lost or late, by acknowledgements", lag_loss(acknowledged_down),
		(s2c.lost + s2c.overtaken) / s2c.sent, 1);
	lagometer_free(server->l);
	lagometer_free(client->l);
	free(server);
	free(client);
}

/* Where nothing is lost, nothing is said to be. */
static void clean_sessions(void **state)
{
	static const char *const names[] = {
		"q3-oa-1client-mapchange",
		"q3-oa-2clients-full-kick-timeout",
		"q3-ioq3-proto71-checksum",
		"q3-oa-ipv6",
		"qw-mvdsv-ezquake-2clients-mapchange",
		"q2-yamagi-q2ded-scripted-client",
		"q2-yamagi-q2ded-moves-1client",
		"q2-yamagi-q2ded-moves-2clients-mapchange",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++) {
		struct end *e = end_read(names[i], LAG_BESIDE_SERVER);
		const struct lag_player *p;
		size_t at = 0;

		if (!e) {
			print_message("skip clean_sessions: no %s in $CAPTURES/live\n",
				      names[i]);
			skip();
		}
		while ((p = lagometer_next(e->l, &at))) {
			assert_int_equal(p->way[LAG_C2S].lost, 0);
			assert_int_equal(p->way[LAG_S2C].lost, 0);
			assert_true(p->way[LAG_S2C].received > 50);
			assert_true(p->ping_ms < 50);
			/* No other protocol tells what its clients draw. */
			assert_int_equal(p->frames.taken > 0, p->family == FAMILY_QUAKE3);
		}
		lagometer_free(e->l);
		free(e);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(impaired_session),
		cmocka_unit_test(clean_sessions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
