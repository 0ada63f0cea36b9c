// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_lag_report.c - the account and the drawing of a connection, to the letter. Who
 * plays is the test's own: what is measured is test_lagometer.c's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lag/lag_report.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static struct lag_player players[2];
static size_t player_count;

struct lag_player *lagometer_next(struct lagometer *l, size_t *at)
{
	(void)l;
	return *at < player_count ? &players[(*at)++] : NULL;
}

static int begin(void **state)
{
	(void)state;
	memset(players, 0, sizeof(players));
	player_count = 1;
	players[0].family = FAMILY_QUAKE3;
	players[0].ping_ms = LAG_PING_NONE;
	return 0;
}

static void add(struct lag_direction *d, uint16_t ping_ms, unsigned int flags)
{
	d->ring[d->taken++ % LAG_SAMPLES] =
		(struct lag_sample){ .ping_ms = ping_ms, .flags = (uint8_t)flags };
}

static void add_frame(struct lag_frames *f, int ms)
{
	f->ring[f->taken++ % LAG_SAMPLES] = (int16_t)ms;
}

/* The report, in memory that is kept until the next. */
static const char *report(const char *file, bool as_json)
{
	static char *text;
	struct jsonl json;
	size_t size;
	FILE *out;

	free(text);
	text = NULL;
	out = open_memstream(&text, &size);
	assert_non_null(out);
	jsonl_init(&json, out);
	lag_report(NULL, &json, file, as_json);
	jsonl_flush(&json);
	fclose(out);
	return text;
}

/* Line @number of it, from 0. */
static const char *line_of(const char *text, int number)
{
	static char line[512];

	for (; number; number--) {
		text = strchr(text, '\n');
		assert_non_null(text);
		text++;
	}
	snprintf(line, sizeof(line), "%.*s", (int)strcspn(text, "\n"), text);
	return line;
}

/* --- the account ---------------------------------------------------------------------
 */

static void who_it_is(void **state)
{
	struct lag_player *p = &players[0];

	(void)state;
	assert_string_equal(
		line_of(report(NULL, false), 0),
		"a recording quake3: ping not known, 0 snapshots/s, 0 packets/s");
	p->client = (struct record_address){ .bytes = { 192, 0, 2, 7 },
					     .length = 4,
					     .port = 27005 };
	p->family = FAMILY_QUAKEWORLD;
	strcpy(p->name, "a\"b");
	strcpy(p->map, "dm6");
	p->ping_ms = 43;
	p->snapshots_per_s = 20;
	p->packets_per_s = 72;
	assert_string_equal(line_of(report(NULL, false), 0),
			    "192.0.2.7 port 27005 quakeworld \"a\\\"b\" on \"dm6\": "
			    "ping 43 ms, 20 snapshots/s, 72 packets/s");
	p->client.length = 16;
	memset(p->client.bytes, 0, 16);
	p->client.bytes[0] = 0xfe;
	p->client.bytes[1] = 0x80;
	p->client.bytes[15] = 9;
	*p->name = 0;
	assert_string_equal(line_of(report(NULL, false), 0),
			    "fe80::9 port 27005 quakeworld on \"dm6\": "
			    "ping 43 ms, 20 snapshots/s, 72 packets/s");
}

/* Of each way its own, and the client's only where it was seen to speak. */
static void what_came_of_it(void **state)
{
	struct lag_direction *up = &players[0].way[LAG_C2S];
	struct lag_direction *down = &players[0].way[LAG_S2C];

	(void)state;
	down->received = 997;
	down->lost = 3;
	down->repeated = 5;
	down->late = 7;
	players[0].delayed = 11;
	assert_string_equal(line_of(report(NULL, false), 1),
			    "  to it   lost 3 of 1000 (0.3 %), repeated 5, late 7, "
			    "held back by the rate 11");
	assert_null(strstr(report(NULL, false), "from it"));
	up->received = 30;
	up->lost = 10;
	up->repeated = 2;
	up->late = 1;
	add(up, 0, 0);
	assert_string_equal(line_of(report(NULL, false), 7),
			    "  from it lost 10 of 40 (25.0 %), repeated 2, late 1");
	assert_string_equal(line_of(report(NULL, false), 8), "         |");
	assert_string_equal(line_of(report(NULL, false), 9), "");
}

/* --- the drawing -----------------------------------------------------------------------
 */

/* As high as its ping, what is lost to the top, and what nobody answered on the floor. */
static void a_column_a_message(void **state)
{
	static const char *const lines[] = {
		"     100   X    |  ", "      80   X   ||  ", "      60   X rd||  ",
		"      40  |X rd||  ", "      20 .|Xtrd||||",
	};
	struct lag_direction *d = &players[0].way[LAG_S2C];

	(void)state;
	add(d, 0, 0);
	add(d, 21, LAG_ANSWERED);
	add(d, 0, LAG_LOST);
	add(d, 0, LAG_LATE);
	add(d, 60, LAG_ANSWERED | LAG_REPEATED | LAG_LATE);
	add(d, 60, LAG_ANSWERED | LAG_DELAYED);
	add(d, 80, LAG_ANSWERED);
	add(d, 100, LAG_ANSWERED);
	add(d, 20, LAG_ANSWERED);
	add(d, 0, LAG_ANSWERED);
	for (size_t i = 0; i < COUNT(lines); i++)
		assert_string_equal(line_of(report(NULL, false), (int)i + 2), lines[i]);
}

/* The highest ping is the top; a message that is lost or was overtaken has none. */
static void the_scale_is_the_highest_ping(void **state)
{
	static const char *const lines[] = {
		"     500 |  X", "     400 |  X", "     300 |  X",
		"     200 |  X", "     100 |||X",
	};
	struct lag_direction *d = &players[0].way[LAG_S2C];

	(void)state;
	add(d, 500, LAG_ANSWERED);
	add(d, LAG_PING_NONE, LAG_ANSWERED);
	add(d, 100, LAG_ANSWERED);
	add(d, 900, LAG_LOST);
	for (size_t i = 0; i < COUNT(lines); i++)
		assert_string_equal(line_of(report(NULL, false), (int)i + 2), lines[i]);
}

/* The client's own: one that came is a stroke, of others their mark. */
static void the_clients_line(void **state)
{
	struct lag_direction *d = &players[0].way[LAG_C2S];

	(void)state;
	add(d, 0, 0);
	add(d, 0, LAG_LOST);
	add(d, 0, LAG_LATE);
	add(d, 0, LAG_REPEATED);
	add(d, 0, 0);
	assert_string_equal(line_of(report(NULL, false), 8), "         |Xtr|");
}

/* No more columns than a terminal has, the newest at the right; also when the ring has
 * come around. */
static void the_newest_is_at_the_right(void **state)
{
	static const unsigned int counts[] = { 71, 72, 73, 128, 129, 1000 };
	struct lag_direction *up = &players[0].way[LAG_C2S];
	struct lag_direction *down = &players[0].way[LAG_S2C];

	(void)state;
	for (size_t i = 0; i < COUNT(counts); i++) {
		char expected[128] = "         ", floor[128] = "      20 ";
		unsigned int columns = counts[i] < 72 ? counts[i] : 72;

		memset(up, 0, sizeof(*up));
		memset(down, 0, sizeof(*down));
		for (unsigned int n = 0; n < counts[i]; n++) {
			bool lost = n + 2 == counts[i] || n + columns == counts[i];

			add(up, 0, lost ? LAG_LOST : 0);
			add(down, 0, lost ? LAG_LOST : 0);
		}
		memset(expected + 9, '|', columns);
		memset(floor + 9, '.', columns);
		expected[9] = floor[9] = 'X';
		expected[9 + columns - 2] = floor[9 + columns - 2] = 'X';
		assert_string_equal(line_of(report(NULL, false), 6), floor);
		assert_string_equal(line_of(report(NULL, false), 8), expected);
	}
}

/* Above zero what was drawn by guess, a step each 50 ms that was begun. */
static void a_column_a_frame(void **state)
{
	static const char *const lines[] = {
		"  frames  8, extrapolated 37.5 %",
		"              ++",
		"             +++",
		"       0 --------",
		"          |||   ",
		"            |   ",
	};
	static const int ms[] = { 0, -1, -50, -51, 50, 51, 1000 };

	(void)state;
	assert_null(strstr(report(NULL, false), "frames"));
	for (size_t i = 0; i < COUNT(ms); i++)
		add_frame(&players[0].frames, ms[i]);
	add_frame(&players[0].frames, 0);
	players[0].frames.extrapolated = 3;
	for (size_t i = 0; i < COUNT(lines); i++) {
		const char *line = line_of(report(NULL, false), (int)i + 1);

		/* What is drawn, whatever blanks are at the end. */
		assert_int_equal(strncmp(line, lines[i], strlen(lines[i])), 0);
		assert_int_equal(strspn(line + strlen(lines[i]), " "),
				 strlen(line) - strlen(lines[i]));
	}
}

static void frames_end_at_the_right(void **state)
{
	char expected[128] = "         ";

	(void)state;
	for (int i = 0; i < 210; i++)
		add_frame(&players[0].frames, i == 209 || i == 138 ? 20 : 0);
	memset(expected + 9, ' ', 72);
	expected[9] = expected[80] = '+';
	assert_string_equal(line_of(report(NULL, false), 3), expected);
}

/* --- all of them
 * -------------------------------------------------------------------------
 */

static void every_player_of_a_file(void **state)
{
	const char *text;

	(void)state;
	player_count = 2;
	players[1] = players[0];
	players[1].family = FAMILY_QUAKE2;
	text = report("a.pcap", false);
	assert_string_equal(line_of(text, 0), "a.pcap");
	assert_int_equal(strncmp(line_of(text, 1), "a recording quake3:", 19), 0);
	assert_string_equal(line_of(text, 8), "");
	assert_int_equal(strncmp(line_of(text, 9), "a recording quake2:", 19), 0);

	text = report("a.pcap", true);
	assert_int_equal(strncmp(text, "{\"file\":\"a.pcap\",\"player\":{", 26), 0);
	assert_non_null(strstr(text, "}}\n{\"file\":\"a.pcap\",\"player\":{"));
	assert_string_equal(text + strlen(text) - 3, "}}\n");
	text = report(NULL, true);
	assert_null(strstr(text, "\"file\""));
	assert_non_null(strstr(text, "}\n{"));
	player_count = 0;
	assert_string_equal(report("a.pcap", false), "a.pcap\n");
	assert_string_equal(report("a.pcap", true), "");
}

#undef TEST
#define TEST(name) cmocka_unit_test_setup(name, begin)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(who_it_is),
		TEST(what_came_of_it),
		TEST(a_column_a_message),
		TEST(the_scale_is_the_highest_ping),
		TEST(the_clients_line),
		TEST(the_newest_is_at_the_right),
		TEST(a_column_a_frame),
		TEST(frames_end_at_the_right),
		TEST(every_player_of_a_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
