// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_top_players.c - the players' page as it stands on a screen of 80x24: a followed
 * player's figures, and the upper graph of the lagometer where his frames are known.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <arpa/inet.h>

#include "top/top_terminal.h"

static int begin(void **state)
{
	struct player_key key = { .port = htons(5000) };
	struct player player = { .since_ns = 1 };
	struct cidr cidr;

	(void)state;
	if (!terminal_begin() || !cidr_parse("192.0.2.1", &cidr))
		return -1;
	top->now.services = calloc(1, sizeof(*top->now.services));
	top->figures = calloc(1, sizeof(*top->figures) + sizeof(top->figures->rows[0]));
	if (!top->now.services || !top->figures)
		return -1;
	memcpy(key.addr, cidr.addr, sizeof(key.addr));
	strcpy(top->now.services->service.name, "a");
	top->now.service_count = 1;
	top_players_begin(top);
	top_players_add(&key, &player, top);
	top_players_end(top);
	top->figures->count = 1;
	strcpy(top->figures->rows[0].service, "a");
	top->figures->rows[0].player = (struct lag_player){
		.client = { 4, { 192, 0, 2, 1 }, 5000 },
		.name = "^1d^7ora",
		.map = "dm3",
		.ping_ms = 42,
	};
	return 0;
}

/* How many lines hold @text; *@ret: the last of them. */
static int lines_with(const char *text, char ret[81])
{
	int n = 0;

	for (int y = 0; y < LINES; y++) {
		char line[81] = "";

		mvinnstr(y, 0, line, 80);
		if (!strstr(line, text))
			continue;
		n++;
		memcpy(ret, line, sizeof(line));
	}
	return n;
}

static size_t count_of(const char *line, char c)
{
	size_t n = 0;

	for (; *line; line++)
		n += *line == c;
	return n;
}

/* Without frames (NetQuake, QuakeWorld): name, map, ping, and the graph below alone. */
static void no_frames(void **state)
{
	char line[81];

	(void)state;
	erase();
	top_draw_players(top, 2, 23);
	assert_int_equal(lines_with("dora on dm3  ping 42 ms", line), 1);
	assert_int_equal(lines_with("to it   lost", line), 1);
	assert_int_equal(lines_with("by guess", line), 0);
}

/* Ten frames in time, three by guess, of which one by far. */
static void frames(void **state)
{
	struct lag_frames *f = &top->figures->rows[0].player.frames;
	char line[81];

	(void)state;
	for (int i = 0; i < 13; i++)
		f->ring[f->taken++ % LAG_SAMPLES] = (int16_t)(i < 10	? -20
							      : i == 12 ? 80
									: 10);
	f->extrapolated = 3;
	erase();
	top_draw_players(top, 2, 23);
	assert_int_equal(lines_with("drawn   13 frames, by guess 3 (23.1%)", line), 1);
	assert_int_equal(lines_with("by guess ", line), 2);
	assert_int_equal(count_of(line, '!'), 3);
	assert_int_equal(line[79], '!');
	assert_int_equal(lines_with("in time", line), 1);
	assert_int_equal(count_of(line, '|'), 10);
	assert_int_equal(lines_with("to it   lost", line), 1);
	assert_int_equal(lines_with("from it lost", line), 1);
	/* Where there is no room for both graphs, the lower one stays. */
	erase();
	top_draw_players(top, 2, 18);
	assert_int_equal(lines_with("drawn", line), 0);
	assert_int_equal(lines_with("to it   lost", line), 1);
}

/* The newest ping is the highest: as high as the graph, whose scale it is. */
static void bars_are_as_high_as_the_highest(void **state)
{
	static const uint16_t pings[] = { LAG_PING_NONE, 50, 60, 400 };
	struct lag_direction *d = &top->figures->rows[0].player.way[LAG_S2C];
	char line[81];

	(void)state;
	for (size_t i = 0; i < sizeof(pings) / sizeof(*pings); i++)
		d->ring[d->taken++ % LAG_SAMPLES] =
			(struct lag_sample){ .flags = LAG_ANSWERED, .ping_ms = pings[i] };
	erase();
	top_draw_players(top, 2, 18);
	assert_int_equal(lines_with("  400  ", line), 1);
	assert_memory_equal(line, "  400 ", 6);
	assert_string_equal(line + 77, "  |");
	assert_int_equal(lines_with("    0 ms", line), 1);
	assert_string_equal(line + 75, " ||||");
	/* A little is not drawn as if it were much. */
	d->ring[3].ping_ms = 70;
	erase();
	top_draw_players(top, 2, 18);
	assert_int_equal(lines_with("  400  ", line), 0);
	assert_int_equal(lines_with("  100  ", line), 1);
	assert_string_equal(line + 77, "   ");
}

/* The newest letter stands in the player's line, the words above the lagometer. */
static void the_verdict_is_shown(void **state)
{
	struct lag_file_row *row = &top->figures->rows[0];
	char line[81];

	(void)state;
	erase();
	top_draw_players(top, 2, 22);
	assert_int_equal(lines_with(">192.0.2.1:5000", line), 1);
	assert_int_equal(line[79], ' ');
	assert_int_equal(lines_with("lag  ", line), 0);
	strcpy(row->cause, "server");
	strcpy(row->text,
	       "for 2.0 s the server sent nothing (3 in 4 of 6 players: 1.9 s)");
	strcpy(row->history, "?.........PUS");
	erase();
	top_draw_players(top, 2, 22);
	assert_int_equal(lines_with(">192.0.2.1:5000", line), 1);
	assert_int_equal(line[79], 'S');
	assert_int_equal(lines_with("lag     server", line), 1);
	assert_string_equal(line,
			    "lag     server for 2.0 s the server sent nothing (3 in 4 "
			    "of 6 players .......PUS");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_frames),
		cmocka_unit_test(frames),
		cmocka_unit_test(bars_are_as_high_as_the_highest),
		cmocka_unit_test(the_verdict_is_shown),
	};

	return cmocka_run_group_tests(tests, begin, terminal_end);
}
