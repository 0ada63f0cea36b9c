// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * top.c - what changes the model: another snapshot, and keys. See top.h.
 */
#include <stdlib.h>
#include <string.h>

#include "top/top.h"

/* --- feeding ----------------------------------------------------------------- */

/* When something was counted last, of each service of @stats, newer than top->now. */
static void stirred(struct top *top, const struct stats *stats, __s64 now_ns)
{
	__s64 last[SERVICES_MAX] = { 0 };

	for (size_t i = 0; i < stats->service_count; i++) {
		const struct stats_service *s = &stats->services[i];
		const struct stats_service *was = stats_rates_match(&top->now, s);
		struct stats_rates grown;

		stats_rates_service(s, was, 1, &grown);
		last[i] = was ? top->stirred_ns[was - top->now.services] : 0;
		if (stats_rates_packets(&grown) + grown.sent + grown.withheld > 0)
			last[i] = now_ns;
	}
	memcpy(top->stirred_ns, last, stats->service_count * sizeof(*last));
}

void top_feed(struct top *top, struct stats *stats, __s64 now_ns)
{
	stirred(top, stats, now_ns);
	stats_free(&top->before);
	top->before = top->now;
	top->seconds = top->now_ns ? (double)(now_ns - top->now_ns) / 1e9 : 0;
	top->now = *stats;
	top->now_ns = now_ns;
	memset(stats, 0, sizeof(*stats));
	top_services_sort(top);
}

void top_players_begin(struct top *top)
{
	top->player_count = 0;
}

void top_players_add(const struct player_key *key, const struct player *player,
		     void *context)
{
	struct top *top = context;

	if (top->player_count < PLAYERS_MAX)
		top->players[top->player_count++] = (struct top_player){ *key, *player };
}

/* The player that came first stands first. */
static int player_order(const void *left, const void *right)
{
	const struct top_player *a = left, *b = right;

	if (a->player.since_ns != b->player.since_ns)
		return a->player.since_ns < b->player.since_ns ? -1 : 1;
	return memcmp(&a->key, &b->key, sizeof(a->key));
}

void top_players_end(struct top *top)
{
	qsort(top->players, top->player_count, sizeof(*top->players), player_order);
}

void top_free(struct top *top)
{
	stats_free(&top->now);
	stats_free(&top->before);
	free(top->figures);
	json_decref(top->attacks);
	free(top);
}

/* --- choosing ---------------------------------------------------------------- */

/* @at moved by @by, within @count. */
static size_t moved(size_t at, long by, size_t count)
{
	long to = (long)at + by;

	return to < 0 ? 0 : to >= (long)count ? count - 1 : (size_t)to;
}

static void service_move(struct top *top, long by)
{
	size_t at;

	if (!top_service(top, &at))
		return;
	memcpy(top->service,
	       top_service_at(top, moved(at, by, top->now.service_count))->service.name,
	       NAME_MAX_LEN);
	top->scroll = 0;
}

static void player_move(struct top *top, long by)
{
	size_t at;

	if (top_player(top, &at))
		top->player = top->players[moved(at, by, top->player_count)].key;
}

static void choice_move(struct top *top, long by)
{
	if (top->page == TOP_PLAYERS)
		player_move(top, by);
	else
		service_move(top, by);
}

static void page_move(struct top *top, long by)
{
	long to = (long)top->scroll + by;

	if (top->page == TOP_PLAYERS)
		player_move(top, by);
	else
		top->scroll = to < 0 ? 0 : (size_t)to; /* drawing knows where it ends */
}

bool top_key(struct top *top, int key, size_t page_rows)
{
	switch (key) {
	case 'q':
		if (top->page != TOP_HELP)
			return false;
		top->page = TOP_SERVICES;
		break;
	case 'k':
	case TOP_KEY_UP:
		choice_move(top, -1);
		break;
	case 'j':
	case TOP_KEY_DOWN:
		choice_move(top, 1);
		break;
	case 'b':
	case TOP_KEY_PAGE_UP:
		page_move(top, -(long)page_rows);
		break;
	case 'f':
	case TOP_KEY_PAGE_DOWN:
		page_move(top, (long)page_rows);
		break;
	case '\t':
	case 'p':
		top->page = top->page == TOP_PLAYERS ? TOP_SERVICES : TOP_PLAYERS;
		break;
	case 's':
		top->order = (top->order + 1) % TOP_ORDERS;
		top_services_sort(top);
		break;
	case ' ':
		top->paused = !top->paused;
		break;
	case 'h':
	case '?':
		top->page = top->page == TOP_HELP ? TOP_SERVICES : TOP_HELP;
		break;
	default:
		break;
	}
	return true;
}
