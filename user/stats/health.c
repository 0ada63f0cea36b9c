// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <string.h>

#include "stats/health.h"

static const struct shield_link *link_find(const struct stats *s, const char *interface)
{
	for (size_t i = 0; i < s->link_count; i++)
		if (!strcmp(s->links[i].interface, interface))
			return &s->links[i];
	return NULL;
}

bool health_write(const struct stats *stats, const char (*interfaces)[IF_NAMESIZE],
		  size_t count, FILE *out)
{
	size_t good = 0;

	for (size_t i = 0; i < count; i++) {
		const char *name = interfaces[i];
		const struct shield_link *link = link_find(stats, name);

		if (link && link->ours)
			good++;
		else if (!link)
			fprintf(out, "%s: not protected: it is gone, or never was\n",
				name);
		else if (link->program_id)
			fprintf(out,
				"%s: not protected: another program (id %u) is attached\n",
				name, link->program_id);
		else
			fprintf(out, "%s: not protected: no program is attached\n", name);
	}
	fprintf(out, "%zu of %zu interface%s protected\n", good, count,
		count == 1 ? "" : "s");
	return good == count;
}
