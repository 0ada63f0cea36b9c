// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_top_services.c - the page of services as an operator sees it: one service or two
 * hundred, attacked, busy or quiet, just started, on terminals from 30 to 200 columns.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "top/top_terminal.h"

#define SECOND_NS 1000000000ll
#define BUSY	  4 /* services that count something each second, unless told otherwise */

static __s64 now_ns;
static unsigned int seconds;
static size_t services, busy;
static void (*change)(struct stats *stats); /* each snapshot; NULL: as it is */

static int begin(void **state)
{
	(void)state;
	now_ns = seconds = 0;
	busy = BUSY;
	change = NULL;
	return terminal_begin() ? 0 : -1;
}

/* A second later. Service N is called sN, and receives (N + 1) * 1000 datagrams. */
static void second(void)
{
	struct stats s = { .service_count = services };

	s.services = calloc(services + 1, sizeof(*s.services));
	assert_non_null(s.services);
	seconds++;
	for (size_t i = 0; i < services; i++) {
		struct stats_service *one = &s.services[i];

		snprintf(one->service.name, NAME_MAX_LEN, "s%zu", i);
		one->service.family = FAMILY_QUAKE3;
		one->slot = (__u32)i;
		one->in.by[KIND_NETCHAN][REASON_WITHIN_LIMITS].packets =
			7 + (i < busy ? seconds * (i + 1) * 1000 : 0);
	}
	if (change)
		change(&s);
	now_ns += SECOND_NS;
	top_feed(top, &s, now_ns);
}

static void look_at(size_t count)
{
	services = count;
	second();
	second();
}

static void attack(const char *service)
{
	json_decref(top->attacks);
	top->attacks = json_pack("[{s:s, s:s, s:f}]", "service", service, "type", "flood",
				 "duration_s", 5.0);
	top_services_sort(top);
}

static const char *line(int y)
{
	static char text[512];
	size_t n;

	mvinnstr(y, 0, text, sizeof(text) - 1);
	for (n = strlen(text); n && text[n - 1] == ' '; n--)
		;
	text[n] = 0;
	return text;
}

/* The first line that begins so, -1: there is none. */
static int line_of(const char *words)
{
	for (int y = 0; y < LINES; y++)
		if (!strncmp(line(y), words, strlen(words)))
			return y;
	return -1;
}

static void shows(int y, const char *words)
{
	if (strncmp(line(y), words, strlen(words)) != 0)
		fail_msg("line %d is '%s', not '%s'", y, line(y), words);
}

static int heads(void)
{
	int y = line_of(" service ");

	assert_true(y > 0);
	return y;
}

/* However little comes to it, and in both orders of busy ones; by name names decide. */
static void attacked_services_stand_first(void **state)
{
	(void)state;
	look_at(32);
	top_draw(top);
	shows(heads() + 1, ">s3 ");
	attack("s20");
	top_draw(top);
	shows(2, "UNDER ATTACK  s20: flood for 5s");
	shows(3, "32 services: 1 under attack, 4 active, 27 quiet; 0 players");
	shows(heads() + 1, ">!s20 ");
	shows(heads() + 2, " s3 ");
	assert_string_equal(top_service(top, NULL)->service.name, "s20");
	/* Lines that have no room for all of it end where a number ends. */
	resizeterm(24, 31);
	top_draw(top);
	assert_string_equal(line(1), "/s: pass 10k, drop 0, respond 0");
	assert_string_equal(line(2), "UNDER ATTACK  s20: flood for 5s");
	assert_string_equal(line(3), "32 services: 1 under attack");
	resizeterm(24, 80);
	top_key(top, 's', 5);
	top_draw(top);
	shows(heads() + 1, ">!s20 ");
	shows(heads() + 2, " s3 ");
	top_key(top, 's', 5);
	top_draw(top);
	shows(heads() + 1, ">s0 ");
}

static void quiet_services_are_folded(void **state)
{
	int y;

	(void)state;
	busy = 2;
	look_at(32);
	attack("s20");
	top_draw(top);
	y = heads();
	shows(y + 3, " s0 ");
	shows(y + 4, " 29 more: 29 quiet");
	shows(y + 5, "s20: limits used");
	/* The next one is a quiet one, which is seen among others. */
	for (int i = 0; i < 3; i++)
		top_key(top, 'j', 5);
	top_draw(top);
	shows(y + 1, " !s20 ");
	shows(y + 4, ">s2 ");
	shows(y + 5, " 28 more: 28 quiet");
	/* By name all stand there. */
	top_key(top, 's', 5);
	top_key(top, 's', 5);
	for (int i = 0; i < 32; i++)
		top_key(top, 'j', 5);
	top_draw(top);
	shows(y + 4, ">s9 ");
	shows(y + 5, " 28 more: 1 under attack, 2 active, 25 quiet");
	for (int i = 0; i < 32; i++)
		top_key(top, 'k', 5);
	top_draw(top);
	shows(y + 1, ">s0 ");
	shows(y + 4, " s11 ");
}

/* Where all have room nothing is folded. */
static void few_services_are_all_shown(void **state)
{
	(void)state;
	busy = 0;
	look_at(5);
	top_draw(top);
	shows(2, "5 services: 5 quiet; 0 players");
	for (int i = 0; i < 5; i++) {
		char name[8];

		snprintf(name, sizeof(name), "%cs%d ", i ? ' ' : '>', i);
		shows(heads() + 1 + i, name);
	}
	assert_int_equal(line_of(" 1 more"), -1);
}

static void all_of_many_are_quiet(void **state)
{
	(void)state;
	busy = 0;
	look_at(200);
	top_draw(top);
	shows(2, "200 services: 200 quiet; 0 players");
	shows(heads() + 1, ">s0 ");
	shows(heads() + 5, " s4 ");
	shows(heads() + 6, " 195 more: 195 quiet");
}

static void a_service_rests_before_it_is_quiet(void **state)
{
	const struct stats_service *first;

	(void)state;
	services = 3;
	busy = 1;
	second();
	first = &top->now.services[0];
	/* Nothing is known of rates yet. */
	assert_int_equal(top_state(top, first + 2), TOP_ACTIVE);
	second();
	busy = 0;
	for (int s = 1; s < TOP_QUIET_S; s++) {
		first = &top->now.services[0];
		assert_int_equal(top_state(top, first), TOP_ACTIVE);
		assert_int_equal(top_state(top, first + 1), TOP_QUIET);
		seconds = 1; /* and counts no more */
		services = 3;
		change = NULL;
		second();
	}
}

static void one_player(struct stats *s)
{
	s->services[2].players = 1;
}

static void a_player_keeps_a_service_from_being_quiet(void **state)
{
	(void)state;
	busy = 0;
	change = one_player;
	look_at(3);
	assert_int_equal(top_state(top, &top->now.services[2]), TOP_ACTIVE);
	top_draw(top);
	shows(2, "3 services: 1 active, 2 quiet; 1 player");
	shows(heads() + 1, ">s2 ");
}

/* The daemon has just started, or top has: a rate that is not known is not 0. */
static void rates_are_unknown_at_first(void **state)
{
	(void)state;
	services = 2;
	second();
	top_draw(top);
	shows(1, "/s: pass -, drop -, respond -, challenge -; bits in -, out -");
	shows(heads() + 1,
	      ">s0              quake3         0      -      -     -      -      -      -     -");
	services = 3; /* the third is new */
	second();
	top_draw(top);
	shows(1, "/s: pass 3k, drop 0, respond 0, challenge 0; bits in 0, out 0");
	shows(line_of(" s2 "),
	      " s2              quake3         0      -      -     -      -      -      -     -");
}

static void challenges(struct stats *s)
{
	s->services[0].in.by[KIND_GETINFO][REASON_CHALLENGED].packets = 500 * seconds;
	s->services[0].in.by[KIND_GETINFO][REASON_CACHED_KNOWN].packets = 20 * seconds;
}

static void a_challenge_is_no_answer(void **state)
{
	(void)state;
	busy = 0;
	change = challenges;
	look_at(1);
	top_draw(top);
	shows(1, "/s: pass 0, drop 0, respond 20, challenge 500; bits in 0, out 0");
	shows(heads() + 1,
	      ">s0              quake3         0      0      0    20    500      0      0     -");
}

static __u64 from_strangers;

static void joins(struct stats *s)
{
	s->services[0].in.unverified.wire = from_strangers;
	s->services[0].out.unverified.wire = 5 * from_strangers;
}

/* One join says nothing of what the machine could be used for. */
static void amplification_waits_for_enough(void **state)
{
	static const struct {
		__u64 in;
		const char *text;
	} rows[] = { { 0, "-" },
		     { 3000, "-" },
		     { STATS_RATIO_LEAST - 1, "-" },
		     { STATS_RATIO_LEAST, "5.0" },
		     { 1ull << 60, "5.0" } };

	(void)state;
	change = joins;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		from_strangers = rows[i].in;
		look_at(1);
		top_draw(top);
		assert_string_equal(strrchr(line(heads() + 1), ' ') + 1, rows[i].text);
	}
}

/* On any width each number is whole, or not there; from 40 columns drops are. */
static void no_number_is_cut(void **state)
{
	static const char *const cells[] = { "0",   "999k", "500k", "20",
					     "500", "0",    "0",    "-" };

	(void)state;
	services = 1;
	for (int wide = 30; wide < 140; wide++) {
		const char *rest;
		char cell[16];
		int shown = 0, used;

		resizeterm(24, wide);
		top_feed(top, &(struct stats){ 0 }, 0);
		busy = 0;
		change = challenges;
		look_at(1);
		top->now.services[0].in.by[KIND_RCON][REASON_SOURCE_LIMIT].packets =
			500000;
		top->now.services[0].in.by[KIND_NETCHAN][REASON_PLAYER].packets = 999000;
		top_draw(top);
		/* After its name, and its protocol where that is shown. */
		rest = strchr(line(heads() + 1), ' ');
		if (wide >= 80)
			rest += strcspn(rest, "q") + strlen("quake3");
		for (; sscanf(rest, "%15s%n", cell, &used) == 1; rest += used)
			assert_string_equal(cell, cells[shown++]);
		assert_in_range(shown, wide < 40 ? 2 : 3, 8);
		assert_true(wide < 80 || shown == 8);
	}
}

/* A screen that is low is for the services, not for the one that is chosen. */
static void a_small_screen_shows_services(void **state)
{
	(void)state;
	resizeterm(10, 40);
	look_at(32);
	attack("s20");
	top_draw(top);
	shows(4, " service        plrs pass/s drop/s rsp/s");
	shows(5, ">!s20              0      0      0     0");
	shows(6, " s3                0     4k      0     0");
	shows(7, " s2                0     3k      0     0");
	shows(8, " 29 more: 2 active, 27 quiet");
	shows(9, " q quit  h help");
	/* The limits, one per line, would leave one line for services: not shown here. */
	resizeterm(18, 40);
	top_draw(top);
	shows(9, " s0 ");
	shows(15, " s9 ");
	assert_int_equal(line_of("s20: limits used"), -1);
	resizeterm(24, 40);
	top_draw(top);
	shows(7, " 30 more: 3 active, 27 quiet");
	shows(8, "s20: limits used");
	shows(15, " way kind      verdict reason      pkt/s");
	shows(16, " in  netchan   pass    within-lim");
	/* The least of all. */
	resizeterm(8, 30);
	top_draw(top);
	shows(5, ">!s20          0      0      0");
	shows(6, " 31 more: 4 active, 27 quiet");
}

static void a_large_screen_shows_more(void **state)
{
	(void)state;
	resizeterm(60, 200);
	busy = 150;
	look_at(200);
	top_draw(top);
	shows(2, "200 services: 150 active, 50 quiet; 0 players");
	shows(heads() + 1, ">s149 ");
	shows(heads() + 24, " 177 more: 127 active, 50 quiet");
}

static void nothing_is_configured(void **state)
{
	(void)state;
	look_at(0);
	top_draw(top);
	shows(2, "no service is configured");
	resizeterm(10, 40);
	top_draw(top);
	shows(2, "no service is configured");
}

static void two_links(struct stats *s)
{
	s->link_count = 2;
	s->links[0] = (struct shield_link){ .interface = "eth0",
					    .mode = MODE_NATIVE,
					    .attached = true };
	s->links[1] = (struct shield_link){ .interface = "eth1",
					    .mode = MODE_SKB,
					    .missing = true };
}

static void unrun_link(struct stats *s)
{
	two_links(s);
	s->links[0].unrun_since = 1700000000;
}

static void an_interface_that_judges_nothing_says_so(void **state)
{
	(void)state;
	change = unrun_link;
	look_at(1);
	top_draw(top);
	assert_non_null(strstr(line(0), "eth0 (native) JUDGES NOTHING"));
}

/* If not all interfaces have room, the missing one is shown first. */
static void a_lost_interface_comes_first(void **state)
{
	(void)state;
	change = two_links;
	look_at(1);
	top_draw(top);
	assert_non_null(strstr(line(0), "  eth1 (skb) GONE  eth0 (native)  no daemon"));
}

#undef ROW
#define ROW(test) cmocka_unit_test_setup_teardown(test, begin, terminal_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROW(attacked_services_stand_first),
		ROW(quiet_services_are_folded),
		ROW(few_services_are_all_shown),
		ROW(all_of_many_are_quiet),
		ROW(a_service_rests_before_it_is_quiet),
		ROW(a_player_keeps_a_service_from_being_quiet),
		ROW(rates_are_unknown_at_first),
		ROW(a_challenge_is_no_answer),
		ROW(amplification_waits_for_enough),
		ROW(no_number_is_cut),
		ROW(a_small_screen_shows_services),
		ROW(a_large_screen_shows_more),
		ROW(nothing_is_configured),
		ROW(an_interface_that_judges_nothing_says_so),
		ROW(a_lost_interface_comes_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
