// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "stats/health.h"

void health_fault(const struct shield_link *link, FILE *out)
{
	if (link->missing)
		fputs("not protected: there is no such interface now", out);
	else if (!link->program_id)
		fputs("not protected: no program is attached", out);
	else if (!link->ingress)
		fprintf(out, "not protected: another program (id %u) is attached",
			link->program_id);
	else if (link->attached) {
		char since[TIME_TEXT];

		time_format(link->unrun_since, since);
		fprintf(out,
			"attached, judges nothing since %s: its driver does not run our "
			"program",
			since);
	} else if (!link->egress)
		fputs("half protected: our program is not on what leaves by it", out);
	else
		fputs("half protected: our program is not on what the machine joins",
		      out);
}

bool health_observed(const struct stats *stats)
{
	for (size_t i = 0; i < stats->service_count; i++)
		if (!stats->services[i].service.observe)
			return false;
	return stats->service_count > 0;
}

bool health_write(const struct stats *stats, FILE *out)
{
	size_t good = 0, count = stats->link_count;
	bool observed, judged = true;

	for (size_t i = 0; i < count; i++) {
		const struct shield_link *link = &stats->links[i];

		if (shield_link_protects(link)) {
			good++;
			continue;
		}
		fprintf(out, "%s: ", link->interface);
		health_fault(link, out);
		fputc('\n', out);
	}
	for (size_t i = 0; i < stats->service_count; i++) {
		const struct stats_service *t = &stats->services[i];

		if (t->judged < JUDGED_PARTLY)
			continue;
		fprintf(out,
			"%s: %s datagrams come in by %s, where nothing judges them\n",
			t->service.name, t->judged == JUDGED_NO ? "its" : "some of its",
			t->unjudged_by);
		judged &= t->judged != JUDGED_NO;
	}
	observed = health_observed(stats);
	fprintf(out, "%zu of %zu interface%s %s\n", good, count, count == 1 ? "" : "s",
		observed ? "attached, observing only: nothing is dropped" : "protected");
	if (stats->fallback)
		fputs(HEALTH_FALLBACK "\n", out);
	for (size_t i = 0; !observed && i < stats->service_count; i++)
		if (stats->services[i].service.observe)
			fprintf(out, "%s: observed only: nothing is dropped\n",
				stats->services[i].service.name);
	return good == count && judged;
}
