// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * top_players.c - the players, and how well one of them is connected.
 *
 * The lagometer is drawn as Quake III draws its own: a column a message, as high as its
 * ping, over the whole height if it was lost. Above it, where the protocol tells, its
 * upper graph: a column a frame that the client drew, above the line if it was
 * extrapolated.
 */
#include <curses.h>
#include <stdlib.h>
#include <string.h>

#include "top/top.h"

#define LAGOMETER_LINES 10
#define FRAMES_LINES	4 /* more, where frames are known */
#define FRAMES_GUESS	2 /* of them, for those by guess */
#define FRAMES_FAR_MS	50 /* by guess over so long, and a column has both lines */

/* Copy @name without codes of colours, ^1 and the like. */
static void name_plain(const char *name, char ret[LAG_NAME])
{
	size_t n = 0;

	for (; *name && n < LAG_NAME - 1; name++) {
		if (*name == '^' && name[1] && name[1] != '^')
			name++;
		else
			ret[n++] = *name;
	}
	ret[n] = 0;
}

static void ping_text(const struct lag_player *lag, char ret[TOP_NUMBER])
{
	if (!lag || lag->ping_ms == LAG_PING_NONE)
		strcpy(ret, "-");
	else
		snprintf(ret, TOP_NUMBER, "%u",
			 lag->ping_ms < 99999 ? lag->ping_ms : 99999);
}

static void loss_text(const struct lag_player *lag, enum lag_way way,
		      char ret[TOP_NUMBER])
{
	if (lag)
		snprintf(ret, TOP_NUMBER, "%.1f", lag_loss(&lag->way[way]) * 100);
	else
		strcpy(ret, "-");
}

/* The newest verdict; a space: there is none. */
static char verdict_letter(const struct lag_file_row *row)
{
	size_t n = row ? strlen(row->history) : 0;

	return n ? row->history[n - 1] : ' ';
}

/* A long IPv6 address needs a wide screen. */
static int address_width(void)
{
	return COLS > 107 ? 48 : COLS > 80 ? COLS - 59 : 21;
}

static void draw_player(const struct top *top, const struct top_player *p, int y,
			bool chosen)
{
	const struct lag_file_row *row = top_figures(top, &p->key);
	const struct lag_player *lag = row ? &row->player : NULL;
	char address[TOP_ADDRESS], since[TOP_NUMBER], heard[TOP_NUMBER];
	char packets[TOP_NUMBER], ping[TOP_NUMBER], up[TOP_NUMBER], down[TOP_NUMBER];
	char name[LAG_NAME] = "";
	__u64 now = top->clock_ns;

	top_address(&p->key, address);
	top_age(now > p->player.since_ns ? now - p->player.since_ns : 0, since);
	top_age(now > p->player.heard_ns ? now - p->player.heard_ns : 0, heard);
	top_number((double)p->player.packets, packets);
	ping_text(lag, ping);
	loss_text(lag, LAG_C2S, up);
	loss_text(lag, LAG_S2C, down);
	if (lag)
		name_plain(lag->name, name);
	if (!p->player.heard_ns)
		strcpy(heard, "-");
	top_put(y, 0, chosen ? A_REVERSE : A_NORMAL, "%-*s", COLS, "");
	top_put(y, 0, chosen ? A_REVERSE : A_NORMAL,
		"%c%-*.*s %-13.13s %6s %6s %7s %5s %5s %5s %3c", chosen ? '>' : ' ',
		address_width(), address_width(), address, name, since, heard, packets,
		ping, up, down, verdict_letter(row));
}

/* --- the lagometer ----------------------------------------------------------- */

static const struct lag_sample *sample_at(const struct lag_direction *d, __u64 back)
{
	__u64 kept = d->taken < LAG_SAMPLES ? d->taken : LAG_SAMPLES;

	return back < kept ? &d->ring[(d->taken - 1 - back) % LAG_SAMPLES] : NULL;
}

static unsigned int ping_most(const struct lag_direction *d)
{
	unsigned int most = 100; /* ms: less would make noise look like trouble */

	for (__u64 i = 0; i < LAG_SAMPLES; i++) {
		const struct lag_sample *s = sample_at(d, i);

		if (s && lag_sample_timed(s) && s->ping_ms > most)
			most = s->ping_ms;
	}
	return most;
}

static char mark_of(const struct lag_sample *s, int *ret_attributes)
{
	*ret_attributes = top_attributes(TOP_GOOD);
	if (s->flags & LAG_LOST) {
		*ret_attributes = top_attributes(TOP_BAD);
		return 'X';
	}
	if (s->flags & (LAG_REPEATED | LAG_LATE | LAG_DELAYED))
		*ret_attributes = top_attributes(TOP_NOTE);
	if (s->flags & LAG_REPEATED)
		return 'r';
	if (s->flags & LAG_LATE)
		return 't';
	if (s->flags & LAG_DELAYED)
		return 'd';
	return '|';
}

/* To the client, lines @y to @y + @height: bars. */
static void draw_bars(const struct lag_direction *d, int y, int height)
{
	unsigned int most = ping_most(d);

	top_put(y, 0, top_attributes(TOP_FAINT), "%5u", most);
	top_put(y + height - 1, 0, top_attributes(TOP_FAINT), "%5u ms", 0);
	for (int x = COLS - 1; x > 8; x--) {
		const struct lag_sample *s = sample_at(d, (__u64)(COLS - 1 - x));
		int attributes, high = 1;
		char mark;

		if (!s)
			break;
		mark = mark_of(s, &attributes);
		if (s->flags & LAG_LOST)
			high = height;
		else if (lag_sample_timed(s))
			high = 1 + (int)((unsigned int)(height - 1) * s->ping_ms / most);
		else if (mark == '|' && !(s->flags & LAG_ANSWERED))
			mark = '.';
		for (int i = 0; i < high && i < height; i++)
			top_put(y + height - 1 - i, x, attributes, "%c", mark);
	}
}

/* From the client, one line: there is nothing to measure but that it came. */
static void draw_line(const struct lag_direction *d, int y)
{
	top_put(y, 0, top_attributes(TOP_FAINT), "from it");
	for (int x = COLS - 1; x > 8; x--) {
		const struct lag_sample *s = sample_at(d, (__u64)(COLS - 1 - x));
		int attributes;
		char mark;

		if (!s)
			break;
		mark = mark_of(s, &attributes);
		top_put(y, x, attributes, "%c", mark);
	}
}

/* From @y on FRAMES_LINES lines: what is said of all frames, and the newest of them. */
static void draw_frames(const struct lag_frames *f, int y)
{
	__u64 kept = f->taken < LAG_SAMPLES ? f->taken : LAG_SAMPLES;

	top_put(y, 0, A_NORMAL, "drawn   %llu frames, by guess %llu (%.1f%%)",
		(unsigned long long)f->taken, (unsigned long long)f->extrapolated,
		lag_extrapolation(f) * 100);
	top_put(y + FRAMES_GUESS, 0, top_attributes(TOP_FAINT), "by guess");
	top_put(y + FRAMES_GUESS + 1, 0, top_attributes(TOP_FAINT), "in time");
	for (int x = COLS - 1; x > 8 && (__u64)(COLS - 1 - x) < kept; x--) {
		int ms = f->ring[(f->taken - 1 - (__u64)(COLS - 1 - x)) % LAG_SAMPLES];

		if (ms <= 0)
			top_put(y + FRAMES_GUESS + 1, x, top_attributes(TOP_GOOD), "|");
		for (int i = 0; ms > 0 && i < (ms > FRAMES_FAR_MS ? 2 : 1); i++)
			top_put(y + FRAMES_GUESS - i, x, top_attributes(TOP_NOTE), "!");
	}
}

/* The cause of the last minute's lag, and the letters of the minutes before. */
static void draw_verdict(const struct lag_file_row *row, int y)
{
	int n = (int)strlen(row->history), most = COLS > 100 ? LAG_HISTORY : 10;
	int shown = n < most ? n : most, x = 9 + (int)strlen(row->cause);

	top_put(y, 0, A_BOLD, "lag     %s", row->cause);
	if (COLS - shown - x > 1)
		top_put(y, x, A_NORMAL, "%.*s", COLS - shown - x - 1, row->text);
	top_put(y, COLS - shown, top_attributes(TOP_NOTE), "%s",
		row->history + n - shown);
}

static void draw_lagometer(const struct top *top, const struct top_player *p, int y,
			   int to)
{
	const struct lag_file_row *row = top_figures(top, &p->key);
	const struct lag_player *lag = row ? &row->player : NULL;
	const struct lag_direction *up, *down;
	char name[LAG_NAME], ping[TOP_NUMBER];

	if (!lag) {
		top_put(y, 0, top_attributes(TOP_FAINT),
			top->figures
				? "this player is not followed: no lagometer"
				: "nobody is followed: no lagometer (see `follow` in "
				  "the configuration)");
		return;
	}
	up = &lag->way[LAG_C2S];
	down = &lag->way[LAG_S2C];
	name_plain(lag->name, name);
	ping_text(lag, ping);
	top_put(y, 0, A_BOLD, "%s%s%.40s  ping %s ms, %u snapshots/s, %u packets/s", name,
		*lag->map ? " on " : "", lag->map, ping, lag->snapshots_per_s,
		lag->packets_per_s);
	top_put(y + 1, 0, A_NORMAL,
		"to it   lost %llu of %llu (%.1f%%), delayed by rate %llu",
		(unsigned long long)down->lost,
		(unsigned long long)(down->lost + down->received), lag_loss(down) * 100,
		(unsigned long long)lag->delayed);
	y += 2;
	if (*row->cause)
		draw_verdict(row, y++);
	if (lag->frames.taken && to - y >= LAGOMETER_LINES - 2 + FRAMES_LINES) {
		draw_frames(&lag->frames, y);
		y += FRAMES_LINES;
	}
	draw_bars(down, y, to - y - 2);
	draw_line(up, to - 2);
	top_put(to - 1, 0, A_NORMAL,
		"from it lost %llu of %llu (%.1f%%), repeated %llu, late %llu",
		(unsigned long long)up->lost,
		(unsigned long long)(up->lost + up->received), lag_loss(up) * 100,
		(unsigned long long)up->repeated, (unsigned long long)up->late);
}

void top_draw_players(const struct top *top, int from, int to)
{
	const struct top_player *p;
	size_t chosen = 0, first = 0, room;
	int lines = LAGOMETER_LINES, end, y = from;
	const struct lag_file_row *row;
	bool lagometer;

	p = top_player(top, &chosen);
	row = p ? top_figures(top, &p->key) : NULL;
	if (row && row->player.frames.taken &&
	    to - from > LAGOMETER_LINES + FRAMES_LINES + 4)
		lines += FRAMES_LINES;
	lagometer = to - from > lines + 4;
	end = lagometer ? to - lines - 1 : to;
	if (!p) {
		top_put(y, 0, A_NORMAL, "nobody plays");
		return;
	}
	top_put(y++, 0, top_attributes(TOP_FAINT) | A_UNDERLINE,
		" %-*s %-13s %6s %6s %7s %5s %5s %5s %3s", address_width(), "address",
		"name", "since", "heard", "packets", "ping", "lost>", "lost<", "lag");
	room = y < end ? (size_t)(end - y) : 1;
	if (chosen >= room)
		first = chosen - room + 1;
	for (size_t i = first; i < top->player_count && i < first + room; i++)
		draw_player(top, &top->players[i], y++, i == chosen);
	if (lagometer)
		draw_lagometer(top, p, to - lines, to);
}
