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
#include "lib/json_key.h"
#include "lib/pin_words.h"

#define PATH 512

void incident_now_path(const char *pin_dir, char *ret)
{
	char words[PATH - 38];

	pin_words(pin_dir, words, sizeof(words));
	snprintf(ret, PATH, INCIDENT_NOW_DIR "/attacks%s.json", words);
}

const struct json_key incident_now_keys[] = {
	JSON_KEY("time", "number", "seconds", "When it was written, since 1970."),
	JSON_OBJECT("now", "object[]", NULL, "Attacks that go on.", incident_json_keys),
	JSON_OBJECT("past", "object[]?", NULL,
		    "Over HTTP alone: the last 20, oldest first.", incident_json_keys),
	JSON_OBJECT("unsaved", "object[]?", NULL,
		    "In the file alone: attacks that could not be written to the disk.",
		    incident_json_keys),
	JSON_END,
};

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
		       json_t *unsaved, int64_t now_ms, bool *shown)
{
	json_t *object;
	bool any = json_array_size(unsaved) > 0;
	int err;

	for (size_t i = 0; i < INCIDENT_SERVICES; i++)
		any = any || watches[i].now;
	if (!any) {
		err = *shown && unlink(path) && errno != ENOENT ? -errno : 0;
		*shown = false;
		return err;
	}
	object = incident_now_json(watches, now_ms);
	if (object && json_array_size(unsaved))
		json_object_set(object, "unsaved", unsaved);
	err = object ? write_whole(path, object) : -ENOMEM;
	json_decref(object);
	*shown = true;
	return err;
}

/* The array of that name in a file that is alive; else an empty one. */
static json_t *array_read(const char *path, const char *name, int64_t now_ms)
{
	json_t *object = json_load_file(path, 0, NULL);
	double time = json_number_value(json_object_get(object, "time"));
	json_t *array = json_object_get(object, name);

	if (!json_is_array(array) ||
	    fabs((double)now_ms - time * 1000) > INCIDENT_STALE_MS)
		array = json_array();
	else
		json_incref(array);
	json_decref(object);
	return array;
}

json_t *incident_now_read(const char *path, int64_t now_ms)
{
	return array_read(path, "now", now_ms);
}

json_t *incident_unsaved_read(const char *path, int64_t now_ms)
{
	return array_read(path, "unsaved", now_ms);
}
