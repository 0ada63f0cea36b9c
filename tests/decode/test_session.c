// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The table of sessions: who gives way when there is no room. On tables of its own, and
 * with a recorded game of which each datagram must stay decoded whatever strangers send
 * in between. The recording is looked for in CAPTURES and skipped by name.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <sys/mman.h>

#include "decode/decode.h"
#include "decode/q3/q3_session.h"
#include "recordings.h"

#define GAME	    "q3-oa-1client-mapchange"
#define GAME_FRAMES 2327
#define CLIENTS	    130
#define FORGED_SIZE 11

static struct record_address address(uint8_t host, uint16_t port)
{
	return (struct record_address){ .length = 4,
					.bytes = { 10, 0, 0, host },
					.port = port };
}

static struct session *meet(struct session_table *table, uint16_t port, bool answer)
{
	struct record_address client = address(1, port), server = address(2, 27960);
	struct session *s;
	bool from_low;

	s = session_get(table, &client, &server, port, &from_low);
	if (answer)
		s = session_get(table, &server, &client, port, &from_low);
	return s;
}

/* Both ends on one machine: both ways are one session, whichever port is the higher. */
static void test_one_machine(void **state)
{
	struct session_table *table = session_table_create(4, 1 << 20);
	struct record_address client = address(1, 40000), server = address(1, 27960);
	bool from_low;
	struct session *s;

	(void)state;
	s = session_get(table, &client, &server, 0, &from_low);
	assert_non_null(s);
	assert_false(from_low);
	assert_ptr_equal(session_get(table, &server, &client, 0, &from_low), s);
	assert_true(from_low);
	assert_int_equal(session_table_count(table), 1);
	session_table_free(table);
}

/* A table of four: the first was answered, hundreds that were not come after it. */
static void test_answered_stays(void **state)
{
	struct session_table *table = session_table_create(4, 1 << 20);
	struct session *first;

	(void)state;
	assert_non_null(table);
	first = meet(table, 1, true);
	first->dialect = "mine";
	for (uint16_t port = 2; port < 500; port++)
		meet(table, port, false);
	assert_int_equal(session_table_count(table), 4);
	assert_string_equal(meet(table, 1, false)->dialect, "mine");
	/* Answered ones push it out, oldest first: there is no other. */
	for (uint16_t port = 500; port < 504; port++)
		meet(table, port, true);
	assert_null(meet(table, 1, false)->dialect);
	session_table_free(table);
}

/* Room for the blocks of three: the unanswered lose theirs, then the least used. */
static void test_state_by_use(void **state)
{
	size_t one = family_of(FAMILY_QUAKE3)->state_size;
	struct session_table *table = session_table_create(64, 3 * one);
	struct session *s[5];

	(void)state;
	assert_non_null(table);
	for (uint16_t i = 0; i < 3; i++) {
		s[i] = meet(table, i + 1, i != 1);
		assert_non_null(session_state(s[i], FAMILY_QUAKE3));
	}
	s[3] = meet(table, 4, true);
	assert_non_null(session_state(s[3], FAMILY_QUAKE3));
	assert_true(s[1]->forgotten);
	assert_null(s[1]->state);
	/* Used again, the first is no longer the oldest. */
	meet(table, 1, true);
	s[4] = meet(table, 5, true);
	assert_non_null(session_state(s[4], FAMILY_QUAKE3));
	assert_non_null(s[0]->state);
	assert_null(s[2]->state);
	assert_true(s[2]->forgotten);
	assert_int_equal(session_table_forgotten(table), 2);
	assert_int_equal(session_table_bytes(table), 3 * one);
	session_table_free(table);
}

/*
 * A client whose port has changed takes its state along: from the same address to the
 * same server, if the state is that client's. If there is none, it is a new one.
 */
static void test_moved(void **state)
{
	const struct family *f = family_of(FAMILY_QUAKE3);
	struct session_table *table = session_table_create(16, 64 << 20);
	struct record_address server = address(2, 27960), client = address(1, 5),
			      other = address(3, 5);
	struct span payload = { (const uint8_t *)"\1\0\0\0\x34\x12", 6 };
	struct session *was, *now, *stranger;
	struct q3_session *q;
	bool from_low;

	(void)state;
	assert_non_null(table);
	assert_non_null(f->owns);
	now = session_get(table, &client, &server, 0, &from_low);
	/* Nobody was there before. */
	assert_false(session_move(now, from_low, FAMILY_QUAKE3, payload));
	assert_null(now->state);
	was = meet(table, 7, true);
	was->server_known = true;
	was->server_is_low = server.bytes[3] < client.bytes[3];
	was->dialect = "mine";
	q = session_state(was, FAMILY_QUAKE3);
	assert_non_null(q);
	q->live = q->has_qport = true;
	q->qport = 0x1235;
	/* It is another client's of the same address. */
	assert_false(session_move(now, from_low, FAMILY_QUAKE3, payload));
	q->qport = 0x1234;
	assert_false(session_move(now, from_low, FAMILY_NETQUAKE, payload));
	stranger = session_get(table, &other, &server, 0, &from_low);
	assert_false(session_move(stranger, from_low, FAMILY_QUAKE3, payload));
	assert_null(stranger->state);
	now = session_get(table, &client, &server, 0, &from_low);
	was->server_known = false;
	assert_false(session_move(now, from_low, FAMILY_QUAKE3, payload));
	was->server_known = true;
	assert_ptr_equal(was->state, q);
	assert_true(session_move(now, from_low, FAMILY_QUAKE3, payload));
	assert_ptr_equal(now->state, q);
	assert_null(was->state);
	assert_string_equal(now->dialect, "mine");
	assert_int_equal(now->family, FAMILY_QUAKE3);
	assert_true(now->certain && now->server_known && now->spoke[0] && now->spoke[1]);
	assert_int_equal(now->server_is_low, was->server_is_low);
	assert_int_equal(session_table_bytes(table), f->state_size);
	session_table_free(table);
}

/* --- a recorded game among strangers ------------------------------------------ */

struct run {
	struct decoder *decoder;
	uint64_t frame;
	unsigned int status[RECORD_STATUS_COUNT];
	unsigned int forgotten;
	size_t most; /* bytes */
};

static void on_record(void *context, const struct record *r)
{
	struct run *run = context;

	if (r->source.bytes[0] == 203)
		return;
	run->status[r->status]++;
	run->forgotten += r->reason && strstr(r->reason, "forgotten");
}

static void forge(struct run *run, unsigned int number, int64_t time_ns)
{
	static const uint8_t bytes[FORGED_SIZE] = { 1, 0, 0, 0, 7, 7, 0, 0, 0, 0, 0 };
	struct datagram dg = {
		.frame = ++run->frame,
		.time_ns = time_ns,
		.source = { .length = 4,
			    .bytes = { 203, 0, (uint8_t)(number >> 8), (uint8_t)number },
			    .port = (uint16_t)(1024 + number % 40000) },
		.payload = bytes,
		.n = sizeof(bytes),
		.length = sizeof(bytes),
	};

	dg.destination = address(1, 27960);
	decoder_datagram(run->decoder, &dg);
}

/* What is counted of the game is what the kernel has given it. */
static void check_touched(struct decoder *decoder)
{
	static unsigned char resident[sizeof(struct q3_game) / 4096 + 1];
	struct record_address client = { .length = 4, .bytes = { 10, 66, 0, 11 } };
	struct record_address server = { .length = 4, .bytes = { 10, 66, 0, 1 } };
	const struct q3_session *q;
	size_t pages = 0, counted;
	struct session *s;
	bool from_low;

	client.port = server.port = 27960;
	s = session_get(decoder_sessions(decoder), &client, &server, 0, &from_low);
	q = s->state;
	assert_non_null(q);
	assert_non_null(q->game);
	counted = q3_game_touched(q->game);
	assert_int_equal(mincore(q->game, sizeof(*q->game), resident), 0);
	for (size_t i = 0; i < sizeof(resident); i++)
		pages += resident[i] & 1;
	assert_in_range(pages * 4096, counted / 10 * 8, counted);
}

/*
 * The recording as @clients see it, each from a port of his own; @forged datagrams of
 * as many strangers after each @every of it. False: there is no recording.
 */
static bool play(struct run *run, size_t state_bytes, unsigned int clients,
		 unsigned int forged, unsigned int every)
{
	struct decoder_options options = { .forced = FAMILY_AUTO,
					   .state_bytes = state_bytes };
	struct capture *capture = recording_live(GAME);
	unsigned int frames = 0, strangers = 0;
	struct datagram dg;

	if (!capture)
		return false;
	memset(run, 0, sizeof(*run));
	run->decoder = decoder_create(&options, on_record, run);
	assert_non_null(run->decoder);
	while (capture_next(capture, &dg) == 1) {
		struct datagram one = dg;

		for (unsigned int i = 0; i < clients; i++) {
			struct record_address *client =
				dg.source.bytes[3] == 1 ? &one.destination : &one.source;

			one.source = dg.source;
			one.destination = dg.destination;
			client->bytes[3] = (uint8_t)(client->bytes[3] + i);
			one.frame = ++run->frame;
			decoder_datagram(run->decoder, &one);
		}
		if (++frames % every == 0)
			for (unsigned int i = 0; i < forged; i++)
				forge(run, strangers++, dg.time_ns);
		if (session_table_bytes(decoder_sessions(run->decoder)) > run->most)
			run->most = session_table_bytes(decoder_sessions(run->decoder));
	}
	decoder_flush(run->decoder);
	if (clients == 1)
		check_touched(run->decoder);
	decoder_free(run->decoder);
	capture_close(capture);
	return true;
}

static void test_forged(void **state)
{
	/* 128 and 1000 once each hundred datagrams, and one for each. */
	static const unsigned int ways[][2] = { { 128, 100 }, { 1000, 100 }, { 1, 1 } };
	struct run run;

	(void)state;
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		/* Room for this one game and little more. */
		if (!play(&run, 800 << 10, 1, ways[i][0], ways[i][1]))
			skip();
		assert_int_equal(run.status[RECORD_DECODED], GAME_FRAMES);
		assert_int_equal(run.forgotten, 0);
		assert_in_range(run.most, 1, 800 << 10);
	}
}

static void test_clients(void **state)
{
	struct run run;

	(void)state;
	if (!play(&run, 0, CLIENTS, 0, 1))
		skip();
	assert_int_equal(run.status[RECORD_DECODED], CLIENTS * GAME_FRAMES);
	/* By what they touch, not by what they might. */
	assert_in_range(run.most / CLIENTS, 200 << 10, 700 << 10);
}

/* Where there is no room for all, what was thrown out is called so. */
static void test_says_so(void **state)
{
	struct run run;

	(void)state;
	if (!play(&run, 3 << 20, 20, 0, 1))
		skip();
	assert_in_range(run.most, 1 << 20, 3 << 20);
	assert_true(run.forgotten > 1000);
	assert_int_equal(run.forgotten, run.status[RECORD_OPAQUE]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_machine),
		cmocka_unit_test(test_answered_stays),
		cmocka_unit_test(test_state_by_use),
		cmocka_unit_test(test_moved),
		cmocka_unit_test(test_forged),
		cmocka_unit_test(test_clients),
		cmocka_unit_test(test_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
