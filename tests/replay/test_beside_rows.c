// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_beside_rows.c - what two configurations decide differently is counted by row, with
 * its first clients, in a table that stays within its bounds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "replay/beside.h"

static struct service ffa = { .name = "ffa", .family = FAMILY_QUAKE3 };
static struct beside_rows *rows;
static int asked; /* how often for the state of a client */

static int begin(void **state)
{
	(void)state;
	rows = calloc(1, sizeof(*rows));
	asked = 0;
	return !rows;
}

static int end(void **state)
{
	(void)state;
	free(rows);
	return 0;
}

static const char *a_player(void *context, const struct record_address *client)
{
	assert_ptr_equal(context, &asked);
	asked++;
	return client->port == 1 ? "player" : NULL;
}

/* Count a query of the client at @port that passes now and has @reason then. */
static struct replay_packet add(uint16_t port, enum reason reason)
{
	struct replay_packet p = {
		.length = 60,
		.has_ends = true,
		.source = { .length = 4, .bytes = { 192, 0, 2, 1 }, .port = port },
		.destination = { .length = 4, .bytes = { 198, 51, 100, 1 }, .port = 9 },
		.by = { { .service = &ffa,
			  .verdict = { .judged = true,
				       .kind = KIND_GETSTATUS,
				       .reason = REASON_WITHIN_LIMITS,
				       .passes = true } } },
		.differs = reason != REASON_WITHIN_LIMITS,
	};

	p.by[1] = p.by[0];
	p.by[1].verdict.reason = reason;
	p.by[1].verdict.passes = reason_verdict(reason) == VERDICT_PASS;
	beside_add(rows, &p, a_player, &asked);
	return p;
}

static void differences_are_counted_by_row(void **state)
{
	(void)state;
	add(1, REASON_WITHIN_LIMITS);
	add(1, REASON_SOURCE_LIMIT);
	add(2, REASON_SOURCE_LIMIT);
	add(1, REASON_SOURCE_LIMIT);
	add(3, REASON_ALLOW_LIST);
	assert_int_equal(rows->judged, 5);
	assert_int_equal(rows->differ, 4);
	assert_int_equal(rows->refused, 3);
	assert_string_equal(rows->rows[0].then.reason, "source-limit");
	assert_true(rows->rows[0].refuses);
	assert_int_equal(rows->rows[0].datagrams, 3);
	assert_int_equal(rows->rows[0].bytes, 180);
	assert_int_equal(rows->rows[0].client_count, 2);
	assert_string_equal(rows->rows[0].first[0].state, "player");
	assert_null(rows->rows[0].first[1].state);
	assert_int_equal(rows->rows[0].first[1].end.port, 2);
	assert_string_equal(rows->rows[1].then.reason, "allow-list");
	assert_false(rows->rows[1].refuses);
	assert_false(rows->rows[2].used);
}

static void many_clients_are_told_apart_up_to_a_bound(void **state)
{
	(void)state;
	for (uint16_t port = 1; port < 1000; port++)
		add(port, REASON_PREFIX_LIMIT);
	assert_int_equal(rows->rows[0].datagrams, 999);
	assert_int_equal(rows->rows[0].client_count, BESIDE_CLIENTS);
	assert_int_equal(asked, BESIDE_FIRST);
}

static void doubtful_and_skipped_packets_are_not_compared(void **state)
{
	struct replay_packet p = add(1, REASON_SOURCE_LIMIT);

	(void)state;
	p.doubtful = true;
	beside_add(rows, &p, a_player, &asked);
	p.doubtful = false;
	p.by[1].skip = SKIP_NOT_SENT;
	beside_add(rows, &p, a_player, &asked);
	p.by[0].service = p.by[1].service = NULL;
	beside_add(rows, &p, a_player, &asked);
	assert_int_equal(rows->judged, 1);
	assert_int_equal(rows->doubtful, 1);
	assert_int_equal(rows->skipped, 1);
}

static void differences_without_room_are_counted_as_one(void **state)
{
	static struct service services[BESIDE_ROWS + 3];
	struct replay_packet p = add(1, REASON_SOURCE_LIMIT);

	(void)state;
	for (int i = 0; i < BESIDE_ROWS + 3; i++) {
		p.by[0].service = &services[i];
		beside_add(rows, &p, a_player, &asked);
	}
	assert_int_equal(rows->more, 4);
	assert_int_equal(rows->differ, BESIDE_ROWS + 4);
	assert_int_equal(rows->refused, BESIDE_ROWS + 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
		TEST(differences_are_counted_by_row),
		TEST(many_clients_are_told_apart_up_to_a_bound),
		TEST(doubtful_and_skipped_packets_are_not_compared),
		TEST(differences_without_room_are_counted_as_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
