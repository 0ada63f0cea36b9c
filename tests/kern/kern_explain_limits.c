// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * kern_explain_limits.c - the limits that `explain` shows are those that the program
 * charges: as many datagrams pass as it says are left, and then no more.
 * stubs: shield_cache shield_joined
 */
#include "explain/explain_frames.h"
#include "kern/kern_explain.h"

#define BURST	      6 /* of a source, in each class but: */
#define BURST_UNKNOWN 4 /* CLASS_UNKNOWN */
#define WAYS	      2 /* limits that are tried one after the other */

/* The client, as the tables know it. */
enum standing {
	NEWCOMER,
	INVITED, /* the server has sent it a challenge */
	VALIDATED,
	BESIDE_VALIDATED, /* another client at its address is validated */
	ALLOWED,
	MASTER,
};

static const struct row {
	enum wire_family family;
	enum validation validation;
	enum standing standing;
	enum explain_act act;
	struct {
		enum about_group group;
		enum wire_class class;
		__u64 left;
	} ways[WAYS]; /* in the order in which they are used up; left 0: none */
} rows[] = {
	{ FAMILY_QUAKE3,
	  VALIDATION_OFF,
	  NEWCOMER,
	  ACT_QUERY,
	  { { ABOUT_OF_CLASS, CLASS_QUERY, BURST } } },
	{ FAMILY_NETQUAKE,
	  VALIDATION_OFF,
	  NEWCOMER,
	  ACT_JOIN,
	  { { ABOUT_OF_CLASS, CLASS_CONNECT, BURST } } },
	{ FAMILY_QUAKE3,
	  VALIDATION_OFF,
	  ALLOWED,
	  ACT_QUERY,
	  { { ABOUT_OF_CLASS, CLASS_QUERY, BURST },
	    { ABOUT_OF_ALLOWED, 0, ALLOWED_BURST } } },
	{ FAMILY_QUAKE3,
	  VALIDATION_OFF,
	  MASTER,
	  ACT_QUERY,
	  { { ABOUT_OF_CLASS, CLASS_QUERY, BURST },
	    { ABOUT_OF_MASTER, 0, MASTER_BURST } } },
	{ FAMILY_QUAKE3,
	  VALIDATION_UNDER_LOAD,
	  ALLOWED,
	  ACT_JOIN,
	  { { ABOUT_OF_ALLOWED, 0, ALLOWED_BURST },
	    { ABOUT_OF_CLASS, CLASS_CHALLENGE, BURST } } },
	{ FAMILY_QUAKE3,
	  VALIDATION_UNDER_LOAD,
	  VALIDATED,
	  ACT_QUERY,
	  { { ABOUT_OF_VALIDATED, CLASS_QUERY, BURST / 2 },
	    { ABOUT_OF_CLASS, CLASS_QUERY, BURST / 3 } } },
	{ FAMILY_QUAKE3,
	  VALIDATION_UNDER_LOAD,
	  BESIDE_VALIDATED,
	  ACT_QUERY,
	  { { ABOUT_OF_CLASS, CLASS_QUERY, BURST / 3 } } },
	{ FAMILY_QUAKE3,
	  VALIDATION_UNDER_LOAD,
	  BESIDE_VALIDATED,
	  ACT_JOIN,
	  { { ABOUT_OF_CLASS, CLASS_CHALLENGE, BURST / 3 } } },
	{ FAMILY_QUAKE3,
	  VALIDATION_UNDER_LOAD,
	  NEWCOMER,
	  ACT_CONNECT,
	  { { ABOUT_OF_CLASS, CLASS_UNKNOWN, BURST_UNKNOWN } } },
	{ FAMILY_QUAKE3,
	  VALIDATION_UNDER_LOAD,
	  INVITED,
	  ACT_CONNECT,
	  { { ABOUT_OF_CLASS, CLASS_CONNECT, BURST } } },
	{ FAMILY_QUAKE3,
	  VALIDATION_UNDER_LOAD,
	  VALIDATED,
	  ACT_CONNECT,
	  { { ABOUT_OF_VALIDATED, CLASS_CONNECT, BURST } } },
};

/* Enter a client at @from and @port as one that returned a cookie, or was invited. */
static void enter_client(const char *from, __u16 port, bool validated)
{
	struct live *l = kern.live;
	struct cookie_peer peer = { { 0 } };
	struct validated_cell *cell;
	struct about_host host;
	__be32 address[4];

	kern_address(from, address);
	host = about_host(address);
	memcpy(peer.word, address, sizeof(address));
	peer.word[2] = htons(port);
	cell = validated_enter(&l->validation.validated, &peer, l->keys, l->clock_ns);
	assert_non_null(cell);
	if (!validated)
		return;
	cell->flags |= VALIDATED_COOKIE;
	reputation_note(&l->cache.reputation, host.net, 64, REPUTATION_VALIDATED_AT(0),
			reputation_minute(l->clock_ns), l->keys);
}

static void stand_as(const char *from, enum standing standing)
{
	if (standing == ALLOWED)
		kern_list(&kern, true, from, 128);
	if (standing == INVITED || standing == VALIDATED)
		enter_client(from, HERE, standing == VALIDATED);
	if (standing == BESIDE_VALIDATED)
		enter_client(from, HERE + 1, true);
	if (standing != MASTER)
		return;
	link_.peer = from;
	assert_true(says(BYTES(OOB "heartbeat QuakeArena-1\n")));
	link_.peer = PEER;
}

/* Return how many more datagrams all limits of @step let pass. */
static __u64 left_of(const struct explain_step *step)
{
	__u64 least = ABOUT_NO_LIMIT;

	for (int i = 0; i < ABOUT_LEVEL_COUNT; i++) {
		__u64 left = about_left(&step->limits.level[i], told->now_ns);

		least = left < least ? left : least;
	}
	return least;
}

static const struct explain_step *explained(const char *from, const struct row *row)
{
	char client[64];

	snprintf(client, sizeof(client), "%s:%d", from, HERE);
	explain(client, NULL);
	assert_true(step(explain_acts[row->act])->limited);
	return step(explain_acts[row->act]);
}

static bool passes(const char *from, const struct row *row)
{
	__u8 payload[EXPLAIN_PAYLOAD];
	size_t n = explain_payload(row->family, row->act, 0, NULL, payload);
	struct outcome o = hear_from(from, HERE, (const char *)payload, n);

	return !o.other && o.action == XDP_PASS;
}

static void row_holds(const struct row *row, const char *from)
{
	const struct explain_step *s;

	for (int i = 0; i < WAYS && row->ways[i].left; i++) {
		s = explained(from, row);
		assert_int_equal(s->limits.group, row->ways[i].group);
		if (row->ways[i].class)
			assert_int_equal(s->limits.class, row->ways[i].class);
		assert_int_equal(left_of(s), row->ways[i].left);
		for (__u64 n = row->ways[i].left; n > 0; n--)
			assert_true(passes(from, row));
	}
	assert_int_equal(left_of(explained(from, row)), 0);
	assert_false(passes(from, row));
}

static void limits_are_those_that_the_program_charges(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct service s = kern_open_service(rows[i].family);
		char from[32];

		for (int class = 0; class < CLASS_BUDGETS; class ++)
			s.budget[class].source = kern_rate(
				1, class == CLASS_UNKNOWN ? BURST_UNKNOWN : BURST);
		s.validation = (__u8)rows[i].validation;
		kern_service(&kern, 0, 0, &s);
		kern_port(&kern, 0, PORT, 0, false);
		snprintf(from, sizeof(from), "192.0.2.%zu", 10 + i);
		stand_as(from, rows[i].standing);
		print_message("row %zu, %s\n", i, from);
		row_holds(&rows[i], from);
	}
}

static void some_are_charged_to_no_limits(void **state)
{
	struct service s = wide();

	(void)state;
	serve_as(&s);
	kern_list(&kern, false, "203.0.113.0", 120);
	explain(ELSEWHERE, NULL);
	assert_int_equal(step("query")->in.reason, REASON_DENY_LIST);
	assert_false(step("query")->limited);
	play_on();
	explain(PEER, NULL);
	assert_int_equal(step("move")->in.reason, REASON_PLAYER);
	assert_false(step("move")->limited);
	kern_allow_all(&kern, PEER, 128);
	explain(PEER, NULL);
	assert_int_equal(step("query")->in.reason, REASON_ALLOW_LIST);
	assert_false(step("query")->limited);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(limits_are_those_that_the_program_charges),
		TEST(some_are_charged_to_no_limits),
	};

	return explain_tests(tests, COUNT(tests));
}
