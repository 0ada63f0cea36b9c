// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Recorded games as the daemon follows them, while somebody forges handshakes from the
 * address and port of each player: the daemon is shown those of strangers too, because
 * who will be followed is not known before. Every datagram of the games stays what it was
 * without them, and so do the names, maps and figures of the players.
 *
 * Read from $CAPTURES/live; without them each game is skipped by name.
 */
#include "decode/decode_support.h"
#include "lag/lagometer.h"
#include "recordings.h"

#define PLAYERS	    8
#define KINDS	    8 /* of what was forged, each in turn */
#define FORGED_FROM 8 /* datagrams of a game */

static const struct {
	const char *name;
	uint16_t port; /* of the server */
	enum wire_family family;
} games[] = {
	{ "q3-oa-1client-mapchange", 27960, FAMILY_QUAKE3 },
	{ "q3-ioq3-proto71-checksum", 27961, FAMILY_QUAKE3 },
	{ "qw-mvdsv-ezquake-2clients-mapchange", 27500, FAMILY_QUAKEWORLD },
	{ "q2-yamagi-q2ded-moves-1client", 27910, FAMILY_QUAKE2 },
	{ "q2-yamagi-q2ded-moves-2clients-mapchange", 27911, FAMILY_QUAKE2 },
	{ "dp-nexuiz-2clients-mapchange", 26030, FAMILY_NETQUAKE },
	{ "nq-quakespasm-proto666-2clients-mapchange", 26000, FAMILY_NETQUAKE },
};

/* A game, by its place above; whether the shield tells its family. */
struct attempt {
	size_t game;
	bool told;
};

#define FORGED(text)                                      \
	{                                                 \
		(const uint8_t *)(text), sizeof(text) - 1 \
	}

static const struct {
	const uint8_t *bytes;
	size_t n;
} forged[KINDS] = {
	FORGED(MARK "connect \"\\name\\a liar\\protocol\\71\\qport\\1\\challenge\\2\""),
	FORGED(MARK "connect 28 5 6 \"\\name\\a liar\"\n"),
	FORGED(MARK "connect 34 7 8 \"\\name\\a liar\"\n"),
	FORGED(MARK "connect\\protocol\\darkplaces 3\\challenge\\x\\name\\a liar"),
	FORGED(MARK "getchallenge 9\n"),
	FORGED(MARK "connect 35 9 10 \"\\name\\a liar\" 1400 1\n"),
	FORGED("\x80\0\0\x0c\x01QUAKE\0\x03"),
	FORGED("\x16\xfe\xff\0\0\0\0\0\0\0\0\0\x10\1\0\0\4\0\0\0\0\0\0\0\4\xfe\xfd\0\0"),
};

struct watch {
	struct lagometer *l;
	unsigned int status[RECORD_STATUS_COUNT];
};

static void see(void *context, const struct record *r)
{
	struct watch *w = context;

	lagometer_record(w->l, 0, r);
	if (r->frame != UINT64_MAX)
		w->status[r->status]++;
}

static void forge(struct decoder *d, const struct datagram *real, unsigned int kind,
		  bool to_server)
{
	struct datagram dg = *real;

	dg.frame = UINT64_MAX;
	dg.damage = RECORD_DECODED;
	dg.payload = forged[kind].bytes;
	dg.n = dg.length = forged[kind].n;
	dg.direction = DIRECTION_C2S;
	if (!to_server) {
		dg.source = real->destination;
		dg.destination = real->source;
	}
	decoder_datagram(d, &dg);
}

/* Whom somebody first asks at @port: NetQuake's servers play on others. */
static struct record_address server_of(const char *name, uint16_t port)
{
	struct capture *capture = recording_live(name);
	struct datagram dg;

	do
		assert_int_equal(capture_next(capture, &dg), 1);
	while (dg.destination.port != port || dg.destination.bytes[3] == 255);
	capture_close(capture);
	return dg.destination;
}

/* @told: the service's family, as the shield tells it; FAMILY_AUTO: it knows none. */
static struct watch play(const char *name, uint16_t port, enum wire_family told,
			 bool attacked)
{
	struct decoder_options how = { .forced = FAMILY_AUTO, .fields = false };
	struct watch w = { lagometer_create(PLAYERS, LAG_BESIDE_SERVER), { 0 } };
	struct decoder *d = decoder_create(&how, see, &w);
	struct record_address server = server_of(name, port);
	struct capture *capture = recording_live(name);
	struct datagram dg;
	unsigned int n = 0;

	while (capture_next(capture, &dg) == 1) {
		bool to_server = memcmp(dg.source.bytes, server.bytes, 16) != 0;

		dg.direction = to_server ? DIRECTION_C2S : DIRECTION_S2C;
		dg.has_family = told != FAMILY_AUTO;
		dg.family = told;
		decoder_datagram(d, &dg);
		/* Between a player's words and the server's answer they would be its. */
		if (attacked && dg.n > 4 && memcmp(dg.payload, MARK, 4) != 0 &&
		    dg.payload[0] != 0x80 && ++n > FORGED_FROM)
			forge(d, &dg, n % KINDS, to_server);
	}
	decoder_flush(d);
	decoder_free(d);
	capture_close(capture);
	return w;
}

static void assert_same_players(struct lagometer *l, struct lagometer *truth)
{
	const struct lag_player *p, *t;
	size_t at = 0, at_truth = 0;

	while ((t = lagometer_next(truth, &at_truth))) {
		p = lagometer_next(l, &at);
		assert_non_null(p);
		assert_string_equal(p->name, t->name);
		assert_string_equal(p->map, t->map);
		assert_int_equal(p->family, t->family);
		assert_int_equal(p->ping_ms, t->ping_ms);
		assert_memory_equal(&p->way[LAG_C2S], &t->way[LAG_C2S],
				    sizeof(p->way[LAG_C2S]));
		assert_memory_equal(&p->way[LAG_S2C], &t->way[LAG_S2C],
				    sizeof(p->way[LAG_S2C]));
	}
	assert_null(lagometer_next(l, &at));
}

static void forged_handshakes(void **state)
{
	const struct attempt *a = *state;
	enum wire_family told = a->told ? games[a->game].family : FAMILY_AUTO;
	const char *name = games[a->game].name;
	struct capture *capture = recording_live(name);
	struct watch w, truth;

	if (!capture)
		skip();
	capture_close(capture);
	truth = play(name, games[a->game].port, told, false);
	w = play(name, games[a->game].port, told, true);
	print_message(
		"family %s: %u decoded, %u partial, %u opaque, %u malformed; %u, %u, "
		"%u, %u when attacked\n",
		a->told ? "told" : "not told", truth.status[0], truth.status[1],
		truth.status[2], truth.status[3], w.status[0], w.status[1], w.status[2],
		w.status[3]);
	assert_memory_equal(w.status, truth.status, sizeof(w.status));
	assert_same_players(w.l, truth.l);
	lagometer_free(w.l);
	lagometer_free(truth.l);
}

int main(void)
{
	static struct attempt attempts[2 * sizeof(games) / sizeof(*games)];
	static struct CMUnitTest tests[sizeof(attempts) / sizeof(*attempts)];

	for (size_t i = 0; i < sizeof(tests) / sizeof(*tests); i++) {
		attempts[i] = (struct attempt){ i / 2, i % 2 };
		tests[i] = (struct CMUnitTest){
			.name = games[i / 2].name,
			.test_func = forged_handshakes,
			.initial_state = &attempts[i],
		};
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
