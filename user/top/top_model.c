// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * top_model.c - what the pages and the order of services read of the model: what is
 * chosen, rates, attacks, figures, and numbers as short texts. Changes nothing.
 */
#include <arpa/inet.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "incident/incident_json.h"
#include "lib/address.h"
#include "lib/names.h"
#include "top/top.h"

/* --- what is chosen ---------------------------------------------------------- */

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
	__be32 address[4];

	address_of(a->bytes, a->length, address);
	return ntohs(key->port) == a->port &&
	       !memcmp(key->addr, address, sizeof(address));
}

static const char *slot_name(const struct top *top, __u32 slot)
{
	for (size_t i = 0; i < top->now.service_count; i++)
		if (top->now.services[i].slot == slot)
			return top->now.services[i].service.name;
	return "";
}

const struct lag_file_row *top_figures(const struct top *top,
				       const struct player_key *key)
{
	const char *service = slot_name(top, key->slot);

	for (size_t i = 0; top->figures && i < top->figures->count; i++) {
		const struct lag_file_row *row = &top->figures->rows[i];

		if (!strncmp(row->service, service, NAME_MAX_LEN) &&
		    address_equal(key, &row->player.client))
			return row;
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
