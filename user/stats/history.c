// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>

#include "stats/history.h"

void history_add(struct history *h, time_t time, const struct stats_rates *rates,
		 size_t players)
{
	h->points[h->next] = (struct history_point){ time, *rates, players };
	h->next = (h->next + 1) % HISTORY_POINTS;
	if (h->count < HISTORY_POINTS)
		h->count++;
}

int history_json(const struct history *h, FILE *out)
{
	fprintf(out,
		"{\"every\":%d,\"seconds\":%d,\"columns\":[\"time\",\"passed\","
		"\"responded\",\"dropped\",\"bytes_in\",\"bytes_out\",\"sent\","
		"\"withheld\",\"players\",\"challenged\"],\"points\":[",
		HISTORY_EVERY_S, HISTORY_SECONDS);
	for (size_t i = 0; i < h->count; i++) {
		size_t at = (h->next + HISTORY_POINTS - h->count + i) % HISTORY_POINTS;
		const struct history_point *p = &h->points[at];

		fprintf(out, "%s[%lld,%.1f,%.1f,%.1f,%.0f,%.0f,%.1f,%.1f,%zu,%.1f]",
			i ? "," : "", (long long)p->time, p->rates.packets[VERDICT_PASS],
			p->rates.packets[VERDICT_RESPOND], p->rates.packets[VERDICT_DROP],
			p->rates.bytes_in, p->rates.bytes_out, p->rates.sent,
			p->rates.withheld, p->players, p->rates.challenged);
	}
	fputs("]}\n", out);
	return fflush(out) || ferror(out) ? -EIO : 0;
}
