// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <string.h>

#include "stats/stats_rates.h"

static bool same_name(const struct stats_service *a, const struct stats_service *b)
{
	return !strncmp(a->service.name, b->service.name, NAME_MAX_LEN);
}

const struct stats_service *stats_rates_match(const struct stats *before,
					      const struct stats_service *now)
{
	size_t low = 0, high = before->service_count;

	/* Most have the slot that they had, and services are in the order of slots. */
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (before->services[middle].slot < now->slot)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < before->service_count && same_name(&before->services[low], now))
		return &before->services[low];
	for (size_t i = 0; i < before->service_count; i++)
		if (same_name(&before->services[i], now))
			return &before->services[i];
	return NULL;
}

double stats_rates_packets(const struct stats_rates *rates)
{
	double sum = rates->challenged;

	for (int verdict = 0; verdict < VERDICT_COUNT; verdict++)
		sum += rates->packets[verdict];
	return sum;
}

static double grown(__u64 now, __u64 before, double seconds)
{
	if (seconds <= 0)
		return 0;
	return (double)(now < before ? now : now - before) / seconds;
}

struct stats_pace_counter stats_pace_counter(const struct counter *now,
					     const struct counter *before, double seconds)
{
	return (struct stats_pace_counter){
		.packets = grown(now->packets, before->packets, seconds),
		.bytes = grown(now->bytes, before->bytes, seconds),
	};
}

/*
 * Add what grew between @before and @now to @rates. @out: of the server. @withholds: its
 * datagrams with a verdict of dropping did not leave; false: the service is observed.
 */
static void add(struct stats_rates *rates, const struct counters *now,
		const struct counters *before, double seconds, bool out, bool withholds)
{
	for (int kind = 0; kind < KIND_COUNT; kind++) {
		for (int reason = 0; reason < REASON_COUNT; reason++) {
			enum verdict verdict = reason_verdict((enum reason)reason);
			struct stats_pace_counter t;

			if (!now->by[kind][reason].packets)
				continue;
			t = stats_pace_counter(&now->by[kind][reason],
					       &before->by[kind][reason], seconds);
			if (!out) {
				if (reason == REASON_CHALLENGED)
					rates->challenged += t.packets;
				else
					rates->packets[verdict] += t.packets;
				rates->bytes_in += t.bytes;
			} else if (verdict == VERDICT_DROP && withholds) {
				rates->withheld += t.packets;
			} else {
				rates->sent += t.packets;
				rates->bytes_out += t.bytes;
			}
		}
	}
}

void stats_rates_service(const struct stats_service *now,
			 const struct stats_service *before, double seconds,
			 struct stats_rates *ret)
{
	memset(ret, 0, sizeof(*ret));
	if (!before || stats_unchanged(now, before))
		return;
	add(ret, &now->in, &before->in, seconds, false, true);
	add(ret, &now->out, &before->out, seconds, true, !now->service.observe);
}

void stats_rates_total(const struct stats *now, const struct stats *before,
		       double seconds, struct stats_rates *ret)
{
	struct stats_rates total = { 0 };

	for (size_t i = 0; i < now->service_count; i++) {
		const struct stats_service *s = &now->services[i];
		struct stats_rates one;

		stats_rates_service(s, stats_rates_match(before, s), seconds, &one);
		for (int v = 0; v < VERDICT_COUNT; v++)
			total.packets[v] += one.packets[v];
		total.challenged += one.challenged;
		total.sent += one.sent;
		total.withheld += one.withheld;
		total.bytes_in += one.bytes_in;
		total.bytes_out += one.bytes_out;
	}
	*ret = total;
}
