// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * top_draw.c - the screen of `top`: plain ASCII, so that any terminal shows it, and
 * nothing that only a colour says.
 */
#include <curses.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "lib/names.h"
#include "stats/health.h"
#include "top/top.h"

#define NAME_SPARE \
	(NAME_MAX_LEN - 16) /* columns that a long name of a service takes more */
#define BAR_SPARE   60 /* and three bars together */
#define KIND_SPARE  20
#define HEIGHT_MIN  8
#define WIDTH_MIN   30

#define COLUMNS_MIN 80 /* the columns of what is drawn need no more */

/* What a wide screen has to spare, up to @most columns. */
static int spare(int most)
{
	int columns = COLS - COLUMNS_MIN;

	return columns < 0 ? 0 : columns < most ? columns : most;
}

void top_put(int y, int x, int attributes, const char *format, ...)
{
	char text[512];
	va_list args;

	if (y < 0 || y >= LINES || x < 0 || x >= COLS)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	/* Names come from configurations and wires: nothing in them moves the cursor. */
	for (char *c = text; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
	attrset(attributes);
	mvaddnstr(y, x, text, COLS - x);
	attrset(A_NORMAL);
}

int top_attributes(enum top_colour colour)
{
	static const int without[] = {
		[TOP_PLAIN] = A_NORMAL, [TOP_GOOD] = A_NORMAL,	[TOP_BAD] = A_BOLD,
		[TOP_NOTE] = A_BOLD,	[TOP_FAINT] = A_NORMAL,
	};

	if (!top_coloured)
		return without[colour];
	return (int)COLOR_PAIR(colour) | (colour == TOP_BAD ? A_BOLD : 0);
}

static int verdict_attributes(enum verdict verdict)
{
	return top_attributes(verdict == VERDICT_DROP	  ? TOP_BAD
			      : verdict == VERDICT_ANSWER ? TOP_NOTE
							  : TOP_GOOD);
}

/* --- the frame --------------------------------------------------------------- */

static void draw_head(const struct top *top)
{
	const struct stats *s = &top->now;
	int x = 0;

	top_put(0, 0, A_REVERSE, "%-*s", COLS, " quakeshield " VERSION);
	x = (int)strlen(" quakeshield " VERSION) + 2;
	if (top->now_ns && !s->link_count) {
		top_put(0, x, A_REVERSE | A_BOLD, "attached to nothing");
		x += 21;
	}
	for (size_t i = 0; i < s->link_count && x < COLS; i++) {
		const struct shield_link *l = &s->links[i];
		char text[80];

		snprintf(text, sizeof(text), "%s (%s)%s", l->interface,
			 mode_name(l->mode),
			 l->ours   ? ""
			 : l->gone ? " GONE"
				   : " NOT OURS");
		top_put(0, x, A_REVERSE | (l->ours ? 0 : A_BOLD), "%s", text);
		x += (int)strlen(text) + 2;
	}
	if (health_observed(s)) {
		top_put(0, x, A_REVERSE | A_BOLD, "OBSERVING");
		x += 11;
	}
	if (top->daemon)
		top_put(0, x, A_REVERSE, "daemon %d", top->daemon);
	else
		top_put(0, x, A_REVERSE | A_BOLD, "no daemon");
	if (top->paused)
		top_put(0, COLS - 8, A_REVERSE | A_BOLD, " PAUSED ");
}

static void draw_total(const struct top *top)
{
	struct stats_pace all;
	char number[5][TOP_NUMBER], attacks[TOP_LINE];

	if (*top->trouble) {
		top_put(1, 0, top_attributes(TOP_BAD), "%s", top->trouble);
		return;
	}
	top_attacks(top, attacks);
	top_put(2, 0, top_attributes(TOP_BAD), "%s", attacks);
	stats_pace_total(&top->now, &top->before, top->seconds, &all);
	top_number(all.packets[VERDICT_PASS], number[0]);
	top_number(all.packets[VERDICT_DROP], number[1]);
	top_number(all.packets[VERDICT_ANSWER], number[2]);
	top_number(8 * all.bytes_in, number[3]);
	top_number(8 * all.bytes_out, number[4]);
	top_put(1, 0, A_NORMAL,
		"a second: %s passed, %s dropped, %s answered; bits: %s in, %s out",
		number[0], number[1], number[2], number[3], number[4]);
}

static void draw_keys(const struct top *top)
{
	static const char *const orders[TOP_ORDERS] = {
		[TOP_BY_PACE] = "rate",
		[TOP_BY_TOTAL] = "total",
		[TOP_BY_NAME] = "name",
	};
	int y = LINES - 1;

	top_put(y, 0, A_REVERSE, "%-*s", COLS, "");
	if (top->page == TOP_PLAYERS)
		top_put(y, 0, A_REVERSE,
			" q quit  j/k player  f/b page  p services  space pause  h help");
	else if (top->page == TOP_HELP)
		top_put(y, 0, A_REVERSE, " q or h back");
	else
		top_put(y, 0, A_REVERSE,
			" q quit  j/k service  f/b page  p players  s sort:%s  space pause  "
			"h help",
			orders[top->order]);
}

/* --- services ---------------------------------------------------------------- */

static void draw_service(const struct top *top, const struct stats_service *s, int y,
			 bool chosen)
{
	int attributes = chosen ? A_REVERSE : A_NORMAL;
	char number[5][TOP_NUMBER], ratio[16] = "-";
	struct stats_pace pace;
	double x;

	top_pace(top, s, &pace);
	top_number(pace.packets[VERDICT_PASS], number[0]);
	top_number(pace.packets[VERDICT_DROP], number[1]);
	top_number(pace.packets[VERDICT_ANSWER], number[2]);
	top_number(8 * pace.bytes_in, number[3]);
	top_number(8 * pace.bytes_out, number[4]);
	if (stats_ratio(s->out.strangers.wire, s->in.strangers.wire, &x))
		snprintf(ratio, sizeof(ratio), x < 1 ? "%.3f" : "%.1f",
			 x < 9999 ? x : 9999);
	top_put(y, 0, attributes, "%-*s", COLS, "");
	if (top_attacked(top, s->service.name))
		attributes |= top_attributes(TOP_BAD);
	top_put(y, 0, attributes, "%c%-*.*s %-14s%8zu %6s %6s %5s %6s %6s %6s",
		chosen				     ? '>'
		: top_attacked(top, s->service.name) ? '!'
						     : ' ',
		15 + spare(NAME_SPARE), 15 + spare(NAME_SPARE), s->service.name,
		family_name((enum wire_family)s->service.family), s->players, number[0],
		number[1], number[2], number[3], number[4], ratio);
}

/* Up to @room services around the one chosen; the next free line. */
static int draw_services(const struct top *top, int y, int room)
{
	size_t chosen = 0, first = 0, n = top->now.service_count;

	top_put(y++, 0, top_attributes(TOP_FAINT) | A_UNDERLINE,
		" %-*s %-14s%8s %6s %6s %5s %6s %6s %6s", 15 + spare(NAME_SPARE),
		"service", "protocol", "players", "pass/s", "drop/s", "ans/s", "b/s in",
		"out", "amplif");
	top_service(top, &chosen);
	if (room > 0 && chosen >= (size_t)room)
		first = chosen - (size_t)room + 1;
	for (size_t i = first; i < n && i < first + (size_t)room; i++)
		draw_service(top, top_service_at(top, i), y++, i == chosen);
	return y;
}

/* "query      [#####.....]  52%", three in a line. */
static int draw_budgets(const struct stats_service *s, int y)
{
	int wide = 10 + spare(BAR_SPARE) / 3;

	for (int class = 0; class < CLASS_BUDGETS; class ++) {
		int full = (int)(s->spent[class] * wide + 0.5);
		char bar[10 + BAR_SPARE / 3 + 1];

		memset(bar, '.', (size_t)wide);
		memset(bar, '#', (size_t)(full < wide ? full : wide));
		bar[wide] = 0;
		top_put(y + class / 3, class % 3 * (wide + 16) + 1,
			top_attributes(s->spent[class] >= 0.9 ? TOP_BAD : TOP_PLAIN),
			"%-9s [%s]%3.0f", class_name((enum wire_class) class), bar,
			s->spent[class] * 100);
	}
	return y + (CLASS_BUDGETS + 2) / 3;
}

static void draw_row(const struct top_row *r, int y)
{
	enum verdict verdict = reason_verdict(r->reason);
	int more = spare(KIND_SPARE);
	char number[4][TOP_NUMBER];

	top_number(r->pace.packets, number[0]);
	top_number(8 * r->pace.bytes, number[1]);
	top_number((double)r->total.packets, number[2]);
	top_number((double)r->total.bytes, number[3]);
	top_put(y, 0, A_NORMAL, " %-4s%-*.*s", r->out ? "out" : "in", 22 + more,
		22 + more, kind_name(r->kind));
	top_put(y, 28 + more, verdict_attributes(verdict), "%-7s", verdict_name(verdict));
	top_put(y, 36 + more, A_NORMAL, "%-16.16s%6s %6s %7s %6s", reason_name(r->reason),
		number[0], number[1], number[2], number[3]);
}

/* The rows of one service down to line @to; how many had room. */
static size_t draw_rows(const struct top *top, const struct stats_service *s, int y,
			int to)
{
	static struct top_row rows[TOP_ROWS];
	size_t n = top_rows(top, s, rows), room, first = top->scroll;

	top_put(y++, 0, top_attributes(TOP_FAINT) | A_UNDERLINE,
		" %-4s%-*s%-8s%-16s%6s %6s %7s %6s", "way", 23 + spare(KIND_SPARE),
		"kind", "verdict", "reason", "pkt/s", "bit/s", "packets", "bytes");
	room = y < to ? (size_t)(to - y) : 0;
	if (first + room > n)
		first = n > room ? n - room : 0;
	for (size_t i = first; i < n && y < to; i++)
		draw_row(&rows[i], y++);
	if (!n && y < to)
		top_put(y, 1, top_attributes(TOP_FAINT), "nothing has come or gone yet");
	return room;
}

/* On line @y, if the daemon samples drops: where they come from. How many lines. */
static int draw_worst(const struct top *top, const struct stats_service *s, int y)
{
	const struct lag_file *f = top->figures;
	char text[256] = "";
	size_t used = 0;

	for (size_t i = 0; f && i < f->worst_count && used < sizeof(text); i++)
		if (!strncmp(f->worst[i].service, s->service.name, NAME_MAX_LEN))
			used += (size_t)snprintf(text + used, sizeof(text) - used,
						 "  %.63s %.0f%%", f->worst[i].prefix,
						 f->worst[i].share * 100);
	if (!used)
		return 0;
	top_put(y, 0, top_attributes(TOP_BAD), "drops from%s", text);
	return 1;
}

/* On line @y, if there are any: the answers that the kernel could give. How many lines.
 */
static int draw_templates(const struct stats_service *s, int y)
{
	size_t fresh = 0;
	__u64 oldest = 0;

	for (size_t i = 0; i < s->template_count; i++) {
		fresh += s->templates[i].fresh;
		if (s->templates[i].age_ns > oldest)
			oldest = s->templates[i].age_ns;
	}
	if (!s->template_count)
		return 0;
	top_put(y, 0, top_attributes(fresh ? TOP_FAINT : TOP_BAD),
		"answers kept: %zu, young enough to be sent: %zu, the oldest %.1f s",
		s->template_count, fresh, (double)oldest / 1e9);
	return 1;
}

static size_t draw_services_page(const struct top *top, int from, int to)
{
	const struct stats_service *s = top_service(top, NULL);
	int room = (to - from - 8) / 2, y;

	if (!s) {
		top_put(from, 0, A_NORMAL, "no service is configured");
		return 1;
	}
	y = draw_services(top, from, room < 1 ? 1 : room);
	if (y + 4 > to)
		return 1;
	top_put(y++, 0, A_BOLD,
		"%s%s: spent of what all strangers together may ask for, in %%",
		s->service.name, s->service.observe ? " (only observed)" : "");
	to -= draw_worst(top, s, to - 1);
	to -= draw_templates(s, to - 1);
	return draw_rows(top, s, draw_budgets(s, y), to);
}

static void draw_help(int y)
{
	static const char *const lines[] = {
		"q            quit",
		"j k, arrows  choose a service, or a player",
		"f b, page    the next rows, the rows before",
		"p, tab       services, or players",
		"s            sort services and rows by rate, total or name",
		"space        stop, go on",
		"",
		"pass/s drop/s ans/s   datagrams received, a second, by what became of them",
		"!            the service is under attack: `quakeshield attacks` tells more",
		"amplif  octets on the wire to peers who are no players, for each from them",
		"[####......]  of the budget that all strangers share; full: more are refused",
		"drops from   prefixes of a twentieth or more of the drops, if `sample` is on;",
		"             a flood that lies about its addresses does not tell whose they are",
		"lost> lost<  per cent of their datagrams, and of the server's to them",
		"players: heard is their last valid datagram; ping, loss and the lagometer are",
		"         known of those whom the daemon follows (`follow` in the configuration)",
		"lagometer, one column a message, the newest at the right:",
		"         | its ping   X lost   d held back by rate   r repeated   t late",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		top_put(y + (int)i, 1, A_NORMAL, "%s", lines[i]);
}

size_t top_draw(const struct top *top)
{
	size_t rows = 1;

	erase();
	if (LINES < HEIGHT_MIN || COLS < WIDTH_MIN) {
		top_put(0, 0, A_NORMAL, "too small: q quits");
		refresh();
		return rows;
	}
	draw_head(top);
	draw_total(top);
	if (top->page == TOP_HELP)
		draw_help(3);
	else if (top->page == TOP_PLAYERS)
		top_draw_players(top, 3, LINES - 1);
	else
		rows = draw_services_page(top, 3, LINES - 1);
	draw_keys(top);
	refresh();
	return rows ? rows : 1;
}
