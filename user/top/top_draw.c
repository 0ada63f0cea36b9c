// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * top_draw.c - the screen of `top`: plain ASCII, so that any terminal shows it, and
 * nothing that only a colour says.
 */
#include <curses.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/names.h"
#include "stats/health.h"
#include "top/top.h"

#define HEIGHT_MIN 8
#define WIDTH_MIN  30
#define LISTED \
	3 /* lines of services; where one's details leave fewer, they are left out */

/* --- the frame --------------------------------------------------------------- */

/* The interfaces that are @ours, or those that are not, from column @x; the next free
 * one. */
static int draw_links(const struct stats *s, bool ours, int x)
{
	for (size_t i = 0; i < s->link_count && x < COLS; i++) {
		const struct shield_link *l = &s->links[i];
		char text[80];

		if (shield_link_protects(l) != ours)
			continue;
		snprintf(text, sizeof(text), "%s (%s)%s", l->interface,
			 mode_name(l->mode),
			 ours	       ? ""
			 : l->missing  ? " GONE"
			 : l->attached ? " JUDGES NOTHING"
			 : l->since    ? " NOT OURS"
				       : " NOT ATTACHED");
		top_put(0, x, A_REVERSE | (ours ? 0 : A_BOLD), "%s", text);
		x += (int)strlen(text) + 2;
	}
	return x;
}

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
	/* Those that are not ours first: a narrow screen has no room for all. */
	x = draw_links(s, true, draw_links(s, false, x));
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

/* A line that is cut at a comma or semicolon, where it has no room. */
static void put_parts(int y, int attributes, const char *text)
{
	size_t n = strlen(text), room = (size_t)COLS;

	while (n > room)
		do
			n--;
		while (n && text[n] != ',' && text[n] != ';');
	top_put(y, 0, attributes, "%.*s", (int)(n ? n : room), text);
}

/* A rate, or "-" where none is known yet. */
static void rate_text(bool known, double rate, char ret[TOP_NUMBER])
{
	top_number(known ? rate : NAN, ret);
}

static void draw_rates(const struct top *top, int y)
{
	bool known = top->seconds > 0;
	char number[6][TOP_NUMBER], text[128];
	struct stats_rates all;

	stats_rates_total(&top->now, &top->before, top->seconds, &all);
	rate_text(known, all.packets[VERDICT_PASS], number[0]);
	rate_text(known, all.packets[VERDICT_DROP], number[1]);
	rate_text(known, all.packets[VERDICT_RESPOND], number[2]);
	rate_text(known, all.challenged, number[3]);
	rate_text(known, 8 * all.bytes_in, number[4]);
	rate_text(known, 8 * all.bytes_out, number[5]);
	snprintf(text, sizeof(text),
		 "/s: pass %s, drop %s, respond %s, challenge %s; bits in %s, out %s",
		 number[0], number[1], number[2], number[3], number[4], number[5]);
	put_parts(y, A_NORMAL, text);
}

/* "1 under attack, 3 active, 24 quiet": those that there are. */
static void states_text(const size_t states[TOP_STATES], char *ret, size_t size)
{
	static const char *const names[TOP_STATES] = {
		[TOP_ATTACKED] = "under attack",
		[TOP_ACTIVE] = "active",
		[TOP_QUIET] = "quiet",
	};
	size_t used = 0;

	*ret = 0;
	for (int state = 0; state < TOP_STATES && used < size; state++)
		if (states[state])
			used += (size_t)snprintf(ret + used, size - used, "%s%zu %s",
						 used ? ", " : "", states[state],
						 names[state]);
}

static void draw_overview(const struct top *top, int y)
{
	size_t states[TOP_STATES], n = top->now.service_count, players = 0;
	char text[80], whole[160];

	for (size_t i = 0; i < n; i++)
		players += top->now.services[i].players;
	top_states(top, 0, n, states);
	states_text(states, text, sizeof(text));
	snprintf(whole, sizeof(whole), "%zu service%s: %s; %zu player%s", n,
		 n == 1 ? "" : "s", text, players, players == 1 ? "" : "s");
	put_parts(y, A_NORMAL, whole);
}

/* Draw the figures of all services together, from line @y. Returns the next free line. */
static int draw_total(const struct top *top, int y)
{
	char attacks[TOP_LINE];

	if (*top->trouble) {
		top_put(y, 0, top_attributes(TOP_BAD), "%s", top->trouble);
		return y + 2;
	}
	draw_rates(top, y++);
	top_attacks(top, attacks);
	if (*attacks)
		put_parts(y++, top_attributes(TOP_BAD), attacks);
	if (top->now.service_count)
		draw_overview(top, y++);
	return y;
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
			" q quit  h help  j/k player  f/b page  p services  space pause");
	else if (top->page == TOP_HELP)
		top_put(y, 0, A_REVERSE, " q or h back");
	else
		top_put(y, 0, A_REVERSE,
			" q quit  h help  j/k service  f/b page  p players  s sort:%s  "
			"space pause",
			orders[top->order]);
}

/* --- services ---------------------------------------------------------------- */

enum column {
	PLAYERS,
	PASS,
	DROP,
	ANSWER,
	CHALLENGE,
	BITS_IN,
	BITS_OUT,
	AMPLIFICATION,
	COLUMNS_OF_SERVICE,
};

static const struct {
	const char *head;
	int width;
} columns[COLUMNS_OF_SERVICE] = {
	[PLAYERS] = { "plrs", 5 },     [PASS] = { "pass/s", 7 },
	[DROP] = { "drop/s", 7 },      [ANSWER] = { "rsp/s", 6 },
	[CHALLENGE] = { "chal/s", 7 }, [BITS_IN] = { "b/s in", 7 },
	[BITS_OUT] = { "out", 7 },     [AMPLIFICATION] = { "ampl", 6 },
};

#define CELL 16

/* A line of the table of services: as many columns as have room, none cut in two. */
static void draw_line(int y, int attributes, const char *name, const char *family,
		      const char cells[COLUMNS_OF_SERVICE][CELL])
{
	bool whole = COLS >= TOP_COLUMNS;
	int x, wide = whole	  ? 15 + top_spare(NAME_MAX_LEN - 13) - top_spare(3)
		      : COLS < 40 ? COLS - 20
				  : 14;

	wide = wide < 14 || whole ? wide : 14;
	top_put(y, 0, attributes, "%-*s", COLS, "");
	top_put(y, 1, attributes, "%-*.*s", wide, wide, name);
	x = wide + 1;
	if (whole) {
		top_put(y, x + 1, attributes, "%-*.*s", 11 + top_spare(3),
			11 + top_spare(3), family);
		x += 12 + top_spare(3);
	}
	for (int c = 0; c < COLUMNS_OF_SERVICE && x + columns[c].width <= COLS; c++) {
		top_put(y, x, attributes, "%*s", columns[c].width, cells[c]);
		x += columns[c].width;
	}
}

static void draw_heads(int y)
{
	char cells[COLUMNS_OF_SERVICE][CELL];

	for (int c = 0; c < COLUMNS_OF_SERVICE; c++)
		strcpy(cells[c], columns[c].head);
	draw_line(y, top_attributes(TOP_FAINT) | A_UNDERLINE, "service", "protocol",
		  cells);
}

static void draw_service(const struct top *top, const struct stats_service *s, int y,
			 bool chosen)
{
	bool attacked = top_attacked(top, s->service.name);
	bool known = top->seconds > 0 && stats_rates_match(&top->before, s);
	int attributes = (chosen ? A_REVERSE : A_NORMAL) |
			 (attacked ? top_attributes(TOP_BAD) : 0);
	char cells[COLUMNS_OF_SERVICE][CELL], name[NAME_MAX_LEN + 1];
	struct stats_rates rates;
	double x;

	top_rates(top, s, &rates);
	snprintf(cells[PLAYERS], CELL, "%zu", s->players);
	rate_text(known, rates.packets[VERDICT_PASS], cells[PASS]);
	rate_text(known, rates.packets[VERDICT_DROP], cells[DROP]);
	rate_text(known, rates.packets[VERDICT_RESPOND], cells[ANSWER]);
	rate_text(known, rates.challenged, cells[CHALLENGE]);
	rate_text(known, 8 * rates.bytes_in, cells[BITS_IN]);
	rate_text(known, 8 * rates.bytes_out, cells[BITS_OUT]);
	strcpy(cells[AMPLIFICATION], "-");
	if (s->in.unverified.wire >= STATS_RATIO_LEAST &&
	    stats_ratio(s->out.unverified.wire, s->in.unverified.wire, &x))
		snprintf(cells[AMPLIFICATION], CELL, x < 1 ? "%.3f" : "%.1f",
			 x < 999 ? x : 999);
	/* Marks, too: some terminals have neither colours nor bold. */
	snprintf(name, sizeof(name), "%s%.*s", attacked ? "!" : "", NAME_MAX_LEN - 1,
		 s->service.name);
	draw_line(y, attributes, name, family_name((enum wire_family)s->service.family),
		  cells);
	if (chosen)
		top_put(y, 0, attributes, ">");
}

/* Which places of the order are shown, of @room lines; one less if any are left out. */
static size_t window(const struct top *top, size_t room, bool fold, size_t chosen,
		     size_t *ret_first)
{
	size_t n = top->now.service_count, states[TOP_STATES], busy, shown;

	*ret_first = 0;
	if (n <= room)
		return n;
	room -= room > 1;
	/* Quiet ones are left out, unless one of them is chosen. */
	top_states(top, 0, n, states);
	busy = n - states[TOP_QUIET];
	shown = fold && busy && busy < room && chosen < busy ? busy : room;
	if (chosen >= shown)
		*ret_first = chosen - shown + 1;
	return shown;
}

/*
 * Up to @room lines of services around the one chosen, below heads; the next free line.
 * @fold: lines of quiet ones are of more use to what is drawn below.
 */
static int draw_services(const struct top *top, int y, size_t room, bool fold)
{
	size_t chosen = 0, first, shown, n = top->now.service_count;
	size_t all[TOP_STATES], these[TOP_STATES];
	char text[80], whole[112];

	draw_heads(y++);
	top_service(top, &chosen);
	shown = window(top, room, fold && top->order != TOP_BY_NAME, chosen, &first);
	for (size_t i = first; i < first + shown; i++)
		draw_service(top, top_service_at(top, i), y++, i == chosen);
	if (shown == n || room < 2)
		return y;
	top_states(top, 0, n, all);
	top_states(top, first, first + shown, these);
	for (int state = 0; state < TOP_STATES; state++)
		all[state] -= these[state];
	states_text(all, text, sizeof(text));
	snprintf(whole, sizeof(whole), " %zu more: %s", n - shown, text);
	put_parts(y, top_attributes(TOP_FAINT), whole);
	return y + 1;
}

static size_t draw_services_page(const struct top *top, int from, int to)
{
	const struct stats_service *s = top_service(top, NULL);
	int room = (to - from - 6 - top_budget_lines()) / 2, y;
	bool detail = room >= LISTED;

	if (!detail)
		room = to - from - 1;
	if (!s) {
		top_put(from, 0, A_NORMAL, "no service is configured");
		return 1;
	}
	y = draw_services(top, from, room < 1 ? 1 : (size_t)room, detail);
	return detail ? top_draw_service(top, s, y, to) : 1;
}

static void draw_help(int y)
{
	static const char *const lines[] = {
		"q            quit",
		"j k, arrows  choose a service, or a player",
		"f b, page    the next rows, the rows before",
		"p, tab       services, or players",
		"s            sort services and rows by rate, total or name (all of them)",
		"space        stop, go on",
		"pass/s drop/s rsp/s chal/s   datagrams received, a second, by what became of",
		"             them: chal were sent a challenge",
		"!            the service is under attack: `quakeshield attacks` tells more",
		"quiet        no player, and nothing seen received or sent in the last minute",
		"ampl    octets on the wire to peers who are no players, for each from them;",
		"        not told before 64 KiB came from them",
		"[####......]  of the limit that unvalidated clients share; full: more are refused",
		"drops from   in an attack, or if `sample` is on: sources of a twentieth or more",
		"             of them, by samples; a spoofed address may be a victim's",
		"lost> lost<  per cent of their datagrams, and of the server's to them",
		"players: heard is their last valid datagram; ping, loss and the lagometer are",
		"         known of those whom the daemon follows (`follow` in the configuration)",
		"lag      . none S server U uplink A attack H host D shield P player ? unknown",
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
	if (top->page == TOP_HELP) {
		draw_help(2);
	} else {
		int y = draw_total(top, 1);

		if (top->page == TOP_PLAYERS)
			top_draw_players(top, y, LINES - 1);
		else
			rows = draw_services_page(top, y, LINES - 1);
	}
	draw_keys(top);
	refresh();
	return rows ? rows : 1;
}
