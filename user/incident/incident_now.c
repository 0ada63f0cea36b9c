// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * incident_now.c - see incident_now.h.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "incident/incident_now.h"

#define PATH 512

void incident_now_path(const char *pin_dir, char *ret)
{
	int n = snprintf(ret, PATH, INCIDENT_NOW_DIR "/attacks");

	for (; pin_dir && *pin_dir && n + 16 < PATH; pin_dir++)
		ret[n++] = *pin_dir == '/' ? '-' : *pin_dir;
	snprintf(ret + n, (size_t)(PATH - n), ".json");
}

json_t *incident_now_json(const struct incident_watch *watches, int64_t now_ms)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < INCIDENT_SERVICES; i++)
		if (watches[i].now)
			json_array_append_new(list,
					      incident_json(watches[i].now,
							    INCIDENT_UPDATED, NULL));
	return json_pack("{s:f, s:o}", "time", (double)now_ms / 1000, "now", list);
}

static int write_whole(const char *path, const json_t *object)
{
	char fresh[PATH + 8];
	int err;

	if (mkdir(INCIDENT_NOW_DIR, 0755) && errno != EEXIST)
		return -errno;
	snprintf(fresh, sizeof(fresh), "%.500s.new", path);
	err = json_dump_file(object, fresh, JSON_COMPACT | JSON_REAL_PRECISION(14)) ? -EIO
										    : 0;
	if (!err && rename(fresh, path))
		err = -errno;
	if (err)
		unlink(fresh);
	return err;
}

int incident_now_write(const char *path, const struct incident_watch *watches,
		       int64_t now_ms, bool *shown)
{
	json_t *object;
	bool any = false;
	int err;

	for (size_t i = 0; i < INCIDENT_SERVICES; i++)
		any = any || watches[i].now;
	if (!any) {
		err = *shown && unlink(path) && errno != ENOENT ? -errno : 0;
		*shown = false;
		return err;
	}
	object = incident_now_json(watches, now_ms);
	err = object ? write_whole(path, object) : -ENOMEM;
	json_decref(object);
	*shown = true;
	return err;
}

json_t *incident_now_read(const char *path, int64_t now_ms)
{
	json_t *object = json_load_file(path, 0, NULL);
	double time = json_number_value(json_object_get(object, "time"));
	json_t *now = json_object_get(object, "now");

	if (!json_is_array(now) || fabs((double)now_ms - time * 1000) > INCIDENT_STALE_MS)
		now = json_array();
	else
		json_incref(now);
	json_decref(object);
	return now;
}
