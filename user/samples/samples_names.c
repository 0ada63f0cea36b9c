// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * samples_names.c - see samples_names.h.
 */
#include <stdlib.h>
#include <string.h>

#include "lag/lag_file.h"
#include "samples/samples.h"
#include "samples/samples_names.h"

struct known {
	char service[NAME_MAX_LEN];
	struct record_address client;
	char name[LAG_NAME], map[LAG_NAME];
};

struct samples_names {
	int64_t until_ns;
	size_t count;
	struct known known[SAMPLES_PLAYERS];
};

struct samples_names *samples_names_load(const char *path, int64_t now_ns)
{
	struct samples_names *names = calloc(1, sizeof(*names));
	struct lag_file *file = NULL;

	if (!names || lag_file_read(path, &file)) {
		free(names);
		return NULL;
	}
	names->until_ns = file->time_ns + LAG_IDLE_NS;
	for (size_t i = 0; i < file->count && names->count < SAMPLES_PLAYERS; i++) {
		const struct lag_file_row *row = &file->rows[i];
		struct known *known = &names->known[names->count];

		if (!row->player.name[0] && !row->player.map[0])
			continue;
		memcpy(known->service, row->service, sizeof(known->service));
		known->client = row->player.client;
		memcpy(known->name, row->player.name, LAG_NAME);
		memcpy(known->map, row->player.map, LAG_NAME);
		names->count++;
	}
	free(file);
	/* The file is of the future if the clock was set back. */
	if (!names->count || now_ns >= names->until_ns ||
	    now_ns < names->until_ns - LAG_IDLE_NS) {
		free(names);
		return NULL;
	}
	return names;
}

void samples_names_free(struct samples_names *names)
{
	free(names);
}

static const struct known *find(const struct samples_names *names,
				const struct lag_player *p, const char *service)
{
	for (size_t i = 0; i < names->count; i++) {
		const struct known *known = &names->known[i];

		if (record_address_equal(&known->client, &p->client) &&
		    !strncmp(known->service, service, NAME_MAX_LEN))
			return known;
	}
	return NULL;
}

bool samples_names_recall(const struct samples_names *names, struct lagometer *lagometer,
			  const struct service *services, int64_t now_ns)
{
	struct lag_player *p;
	size_t at = 0;

	if (now_ns >= names->until_ns)
		return false;
	while ((p = lagometer_next(lagometer, &at))) {
		const struct known *known = NULL;

		if ((!p->name[0] || !p->map[0]) && p->slot < SERVICES_MAX)
			known = find(names, p, services[p->slot].name);
		if (!known)
			continue;
		if (!p->name[0])
			memcpy(p->name, known->name, LAG_NAME);
		if (!p->map[0])
			memcpy(p->map, known->map, LAG_NAME);
	}
	return true;
}
