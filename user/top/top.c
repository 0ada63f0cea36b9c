// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <arpa/inet.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "incident/incident_json.h"
#include "lib/names.h"
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

const struct stats_service *top_service_at(const struct top *top, size_t at)
{
	return &top->now.services[top->shown[at]];
}

const struct stats_service *top_service(const struct top *top, size_t *ret_at)
{
	size_t chosen = 0;

	if (!top->now.service_count)
		return NULL;
	for (size_t i = 0; i < top->now.service_count; i++)
		if (!strncmp(top_service_at(top, i)->service.name, top->service,
			     NAME_MAX_LEN))
			chosen = i;
	if (ret_at)
		*ret_at = chosen;
	return top_service_at(top, chosen);
}

const struct top_player *top_player(const struct top *top, size_t *ret_index)
{
	size_t chosen = 0;

	if (!top->player_count)
		return NULL;
	for (size_t i = 0; i < top->player_count; i++)
		if (!memcmp(&top->players[i].key, &top->player, sizeof(top->player)))
			chosen = i;
	if (ret_index)
		*ret_index = chosen;
	return &top->players[chosen];
}

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

/* --- counting ---------------------------------------------------------------- */

void top_rates(const struct top *top, const struct stats_service *service,
	       struct stats_rates *ret)
{
	stats_rates_service(service, stats_rates_match(&top->before, service),
			    top->seconds, ret);
}

static int names_compare(const struct top_row *a, const struct top_row *b)
{
	int order = strcmp(kind_name(a->kind), kind_name(b->kind));

	if (order)
		return order;
	if (a->reason != b->reason)
		return (int)a->reason - (int)b->reason;
	return (int)a->out - (int)b->out;
}

static int by_name(const void *left, const void *right)
{
	return names_compare(left, right);
}

static int by_total(const void *left, const void *right)
{
	const struct top_row *a = left, *b = right;

	if (a->total.packets != b->total.packets)
		return a->total.packets > b->total.packets ? -1 : 1;
	return names_compare(a, b);
}

static int by_rate(const void *left, const void *right)
{
	const struct top_row *a = left, *b = right;

	if (a->rates.packets > b->rates.packets)
		return -1;
	if (a->rates.packets < b->rates.packets)
		return 1;
	return by_total(a, b);
}

static size_t rows_add(const struct top *top, const struct counters *now,
		       const struct counters *before, bool out, struct top_row *rows,
		       size_t n)
{
	for (int kind = 0; kind < KIND_COUNT; kind++) {
		for (int reason = 0; reason < REASON_COUNT; reason++) {
			const struct counter *t = &now->by[kind][reason];
			struct top_row *row = &rows[n];

			if (!t->packets)
				continue;
			*row = (struct top_row){ .kind = (enum wire_kind)kind,
						 .reason = (enum reason)reason,
						 .out = out,
						 .total = *t };
			if (before)
				row->rates = stats_pace_counter(
					t, &before->by[kind][reason], top->seconds);
			n++;
		}
	}
	return n;
}

size_t top_rows(const struct top *top, const struct stats_service *service,
		struct top_row *ret)
{
	static int (*const orders[TOP_ORDERS])(const void *, const void *) = {
		[TOP_BY_PACE] = by_rate,
		[TOP_BY_TOTAL] = by_total,
		[TOP_BY_NAME] = by_name,
	};
	const struct stats_service *before = stats_rates_match(&top->before, service);
	size_t n;

	n = rows_add(top, &service->in, before ? &before->in : NULL, false, ret, 0);
	n = rows_add(top, &service->out, before ? &before->out : NULL, true, ret, n);
	qsort(ret, n, sizeof(*ret), orders[top->order]);
	return n;
}

/* --- attacks ------------------------------------------------------------------- */

static const char *attack_service(const json_t *attack)
{
	const char *name = json_string_value(json_object_get(attack, "service"));

	return name ? name : "";
}

bool top_attacked(const struct top *top, const char *service)
{
	json_t *attack;
	size_t i;

	json_array_foreach (top->attacks, i, attack) {
		if (!strncmp(attack_service(attack), service, NAME_MAX_LEN))
			return true;
	}
	return false;
}

void top_from(const struct top *top, const char *service, char ret[INCIDENT_FROM])
{
	json_t *attack;
	size_t i;

	*ret = '\0';
	json_array_foreach (top->attacks, i, attack) {
		if (!strncmp(attack_service(attack), service, NAME_MAX_LEN))
			incident_from(attack, ret);
	}
}

void top_attacks(const struct top *top, char ret[TOP_LINE])
{
	size_t used = 0, i, n = json_array_size(top->attacks);
	char count[32] = "";
	json_t *attack;

	*ret = 0;
	if (n > 1)
		snprintf(count, sizeof(count), " (%zu)", n);
	json_array_foreach (top->attacks, i, attack) {
		double s = json_number_value(json_object_get(attack, "duration_s"));
		double peak = json_number_value(json_object_get(
			json_object_get(attack, "peak"), "packets_per_s"));
		const char *service = attack_service(attack);
		char sorts[INCIDENT_SORTS_TEXT], age[TOP_NUMBER], height[TOP_NUMBER];

		if (used >= TOP_LINE - 1)
			break;
		incident_sorts(attack, sorts);
		top_age((__u64)(s * 1e9), age);
		top_number(peak, height);
		used += (size_t)snprintf(
			ret + used, TOP_LINE - used, "%s%s%s%s: %s for %s, at most %s/s",
			i ? "; " : "UNDER ATTACK", i ? "" : count, i ? "" : "  ",
			*service ? service : "this machine", sorts, age, height);
	}
}

/* --- figures and texts ------------------------------------------------------- */

static bool address_equal(const struct player_key *key, const struct record_address *a)
{
	static const __u8 mapped[12] = { [10] = 0xff, [11] = 0xff };
	const __u8 *bytes = (const __u8 *)key->addr;

	if (ntohs(key->port) != a->port)
		return false;
	if (a->length == 4)
		return !memcmp(bytes, mapped, sizeof(mapped)) &&
		       !memcmp(bytes + 12, a->bytes, 4);
	return a->length == 16 && !memcmp(bytes, a->bytes, 16);
}

static const char *slot_name(const struct top *top, __u32 slot)
{
	for (size_t i = 0; i < top->now.service_count; i++)
		if (top->now.services[i].slot == slot)
			return top->now.services[i].service.name;
	return "";
}

const struct lag_player *top_figures(const struct top *top, const struct player_key *key)
{
	const char *service = slot_name(top, key->slot);

	for (size_t i = 0; top->figures && i < top->figures->count; i++) {
		const struct lag_file_row *row = &top->figures->rows[i];

		if (!strncmp(row->service, service, NAME_MAX_LEN) &&
		    address_equal(key, &row->player.client))
			return &row->player;
	}
	return NULL;
}

void top_number(double x, char ret[TOP_NUMBER])
{
	static const char units[] = " kMGTPE";
	int unit = 0;

	if (!(x >= 0) || isinf(x)) {
		strcpy(ret, "-");
		return;
	}
	if (x > 0 && x < 0.05) {
		strcpy(ret, "<0.1");
		return;
	}
	for (; x >= 999.5 && units[unit + 1]; unit++)
		x /= 1000;
	if (x < 9.95 && x != floor(x))
		snprintf(ret, TOP_NUMBER, "%.1f", x);
	else
		snprintf(ret, TOP_NUMBER, "%.0f", fmin(x, 9999));
	if (unit)
		strncat(ret, &units[unit], 1);
}

void top_age(__u64 ns, char ret[TOP_NUMBER])
{
	unsigned long s = (unsigned long)(ns / 1000000000);

	if (s < 60)
		snprintf(ret, TOP_NUMBER, "%lus", s);
	else if (s < 3600)
		snprintf(ret, TOP_NUMBER, "%lum%02lu", s / 60, s % 60);
	else if (s < 86400)
		snprintf(ret, TOP_NUMBER, "%luh%02lu", s / 3600, s / 60 % 60);
	else
		snprintf(ret, TOP_NUMBER, "%lud", s / 86400 < 9999 ? s / 86400 : 9999);
}

void top_address(const struct player_key *key, char ret[TOP_ADDRESS])
{
	struct cidr cidr = { .length = 128 };
	char text[CIDR_TEXT];

	memcpy(cidr.addr, key->addr, sizeof(cidr.addr));
	cidr_format(&cidr, text);
	snprintf(ret, TOP_ADDRESS, strchr(text, ':') ? "[%.45s]:%u" : "%.45s:%u", text,
		 ntohs(key->port));
}
