// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * top_service.c - what is drawn of the service that is chosen: its budgets, its rows of
 * counters, the answers that are kept for it, and where its drops come from.
 */
#include <curses.h>
#include <string.h>

#include "lib/names.h"
#include "top/top.h"

#define BAR_SPARE  60 /* columns that three bars together take more, on a wide screen */
#define KIND_SPARE 20 /* and the name of a kind */

static int verdict_attributes(enum verdict verdict)
{
	return top_attributes(verdict == VERDICT_DROP	   ? TOP_BAD
			      : verdict == VERDICT_RESPOND ? TOP_NOTE
							   : TOP_GOOD);
}

/* One takes @each columns; how many stand in a line. */
static int budgets_in_line(int each)
{
	return COLS >= 3 * each - 2 ? 3 : COLS >= 2 * each - 2 ? 2 : 1;
}

static int bar_width(void)
{
	return 10 + top_spare(BAR_SPARE) / 3;
}

int top_budget_lines(void)
{
	int in_line = budgets_in_line(bar_width() + 16);

	return (CLASS_BUDGETS + in_line - 1) / in_line;
}

/* "query      [#####.....]  52", up to three in a line; the next free line. */
static int draw_budgets(const struct stats_service *s, int y)
{
	int wide = bar_width(), each = wide + 16, in_line = budgets_in_line(each);

	for (int class = 0; class < CLASS_BUDGETS; class ++) {
		int full = (int)(s->limits_used[class] * wide + 0.5);
		char bar[10 + BAR_SPARE / 3 + 1];

		memset(bar, '.', (size_t)wide);
		memset(bar, '#', (size_t)(full < wide ? full : wide));
		bar[wide] = 0;
		top_put(y + class / in_line, class % in_line * each + 1,
			top_attributes(s->limits_used[class] >= 0.9 ? TOP_BAD
								    : TOP_PLAIN),
			"%-9s [%s]%3.0f", class_name((enum wire_class) class), bar,
			s->limits_used[class] * 100);
	}
	return y + top_budget_lines();
}

/* Columns of words; on a narrow screen only one of numbers stands next to them. */
struct widths {
	int kind, verdict, reason;
};

static struct widths widths(void)
{
	int more = COLS - 40;

	if (COLS >= TOP_COLUMNS)
		return (struct widths){ 22 + top_spare(KIND_SPARE), 8, 16 };
	more = more < 0 ? 0 : more;
	return (struct widths){ 9 + (more < 13 ? more : 13), 8,
				11 + (more < 13	  ? 0
				      : more < 18 ? more - 13
						  : 5) };
}

static void draw_row(const struct top_row *r, int y)
{
	enum verdict verdict = reason_verdict(r->reason);
	struct widths w = widths();
	char number[4][TOP_NUMBER];

	top_number(r->rates.packets, number[0]);
	top_number(8 * r->rates.bytes, number[1]);
	top_number((double)r->total.packets, number[2]);
	top_number((double)r->total.bytes, number[3]);
	top_put(y, 0, A_NORMAL, " %-4s%-*.*s", r->out ? "out" : "in", w.kind, w.kind,
		kind_name(r->kind));
	top_put(y, 6 + w.kind, verdict_attributes(verdict), "%-7s",
		verdict_name(verdict));
	top_put(y, 6 + w.kind + w.verdict, A_NORMAL, "%-*.*s%6s", w.reason, w.reason,
		reason_name(r->reason), number[0]);
	if (COLS >= TOP_COLUMNS)
		top_put(y, 12 + w.kind + w.verdict + w.reason, A_NORMAL, " %6s %7s %6s",
			number[1], number[2], number[3]);
}

static void draw_row_heads(int y)
{
	struct widths w = widths();
	int attributes = top_attributes(TOP_FAINT) | A_UNDERLINE;

	top_put(y, 0, attributes, " %-4s%-*s%-*s%-*s%6s", "way", w.kind + 1, "kind",
		w.verdict, "verdict", w.reason, "reason", "pkt/s");
	if (COLS >= TOP_COLUMNS)
		top_put(y, 12 + w.kind + w.verdict + w.reason, attributes, " %6s %7s %6s",
			"bit/s", "packets", "bytes");
}

/*
 * The rows of one service down to line @to; how many had room. Not reentrant: the rows
 * are static.
 */
static size_t draw_rows(const struct top *top, const struct stats_service *s, int y,
			int to)
{
	static struct top_row rows[TOP_ROWS];
	size_t n = top_rows(top, s, rows), room, first = top->scroll;

	draw_row_heads(y++);
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
static int draw_top_prefixes(const struct top *top, const struct stats_service *s, int y)
{
	const struct lag_file *f = top->figures;
	char text[INCIDENT_FROM];
	size_t used = 0;

	top_from(top, s->service.name, text);
	if (*text) {
		top_put(y, 0, top_attributes(TOP_BAD), "drops from %s", text);
		return 1;
	}
	for (size_t i = 0; f && i < f->top_prefix_count && used < sizeof(text); i++)
		if (!strncmp(f->top_prefixes[i].service, s->service.name, NAME_MAX_LEN))
			used += (size_t)snprintf(text + used, sizeof(text) - used,
						 "  %.63s %.0f%%",
						 f->top_prefixes[i].prefix,
						 f->top_prefixes[i].share * 100);
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

	for (size_t i = 0; i < s->cached_count; i++) {
		fresh += s->cached[i].fresh;
		if (s->cached[i].age_ns > oldest)
			oldest = s->cached[i].age_ns;
	}
	if (!s->cached_count)
		return 0;
	top_put(y, 0, top_attributes(fresh ? TOP_FAINT : TOP_BAD),
		"cached responses: %zu, young enough to be sent: %zu, the oldest %.1f s",
		s->cached_count, fresh, (double)oldest / 1e9);
	return 1;
}

size_t top_draw_service(const struct top *top, const struct stats_service *s, int from,
			int to)
{
	int y = from;

	if (y + 4 > to)
		return 1;
	top_put(y++, 0, A_BOLD, "%s%s: limits used, in %%", s->service.name,
		s->service.observe ? " (only observed)" : "");
	to -= draw_top_prefixes(top, s, to - 1);
	to -= draw_templates(s, to - 1);
	return draw_rows(top, s, draw_budgets(s, y), to);
}
