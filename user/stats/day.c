// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * day.c - see day.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "incident/incident_store.h"
#include "lib/json_key.h"
#include "lib/log.h"
#include "stats/day.h"

#define LINE	       512
#define COLUMNS_BEFORE DAY_CHALLENGED /* in lines of before there was that one */

static const char *const names[DAY_COLUMNS] = {
	[DAY_TIME] = "time",
	[DAY_PASSED] = "passed",
	[DAY_ANSWERED] = "responded",
	[DAY_DROPPED] = "dropped",
	[DAY_DROPPED_MOST] = "dropped_most",
	[DAY_BYTES_IN] = "bytes_in",
	[DAY_BYTES_OUT] = "bytes_out",
	[DAY_PLAYERS] = "players",
	[DAY_CHALLENGED] = "challenged",
};

static const double *point(const struct day *d, size_t i)
{
	return d->points[(d->next + DAY_POINTS - d->count + i) % DAY_POINTS];
}

static void keep(struct day *d, const double *values)
{
	memcpy(d->points[d->next], values, sizeof(d->points[0]));
	d->next = (d->next + 1) % DAY_POINTS;
	if (d->count < DAY_POINTS)
		d->count++;
}

/*
 * Return the first point of the day that ends with the last one. Older points stay, for a
 * clock that is put back.
 */
static size_t first_of_day(const struct day *d)
{
	size_t i = 0;

	while (i < d->count &&
	       point(d, i)[DAY_TIME] <= point(d, d->count - 1)[DAY_TIME] - DAY_SECONDS)
		i++;
	return i;
}

/* --- the file ---------------------------------------------------------------------- */

static bool line_parse(const char *line, double ret[DAY_COLUMNS])
{
	json_t *array = json_loads(line, 0, NULL);
	size_t n = json_array_size(array);
	bool good = n == DAY_COLUMNS || n == COLUMNS_BEFORE;

	memset(ret, 0, DAY_COLUMNS * sizeof(*ret));
	for (size_t i = 0; good && i < n; i++) {
		json_t *value = json_array_get(array, i);

		ret[i] = json_number_value(value);
		good = json_is_number(value) && ret[i] >= 0 && ret[i] < 1e18;
	}
	json_decref(array);
	return good;
}

void day_load(struct day *d, const char *pin, time_t now)
{
	double values[DAY_COLUMNS];
	char line[LINE];
	FILE *file;

	memset(d, 0, sizeof(*d));
	if (incident_path(pin, "history.jsonl", d->path)) {
		log_warn("history is not kept: " INCIDENT_NO_PATH);
		return;
	}
	file = fopen(d->path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		d->lines++;
		if (!line_parse(line, values))
			continue;
		/* In order, whatever clock there was. */
		if (values[DAY_TIME] <= (double)now &&
		    values[DAY_TIME] > (double)now - DAY_SECONDS &&
		    (!d->count || values[DAY_TIME] > point(d, d->count - 1)[DAY_TIME]))
			keep(d, values);
	}
	if (file)
		fclose(file);
}

static void line_put(FILE *out, const double *values)
{
	fputc('[', out);
	for (size_t i = 0; i < DAY_COLUMNS; i++)
		fprintf(out, "%s%.*f", i ? "," : "", i && i != DAY_PLAYERS ? 1 : 0,
			values[i]);
	fputc(']', out);
}

static int rewrite(struct day *d)
{
	char fresh[DAY_PATH + 8];
	FILE *file;
	int err;

	snprintf(fresh, sizeof(fresh), "%s.new", d->path);
	file = fopen(fresh, "we");
	if (!file)
		return -errno;
	for (size_t i = 0; i < d->count; i++) {
		line_put(file, point(d, i));
		fputc('\n', file);
	}
	err = ferror(file) ? -EIO : 0;
	if (fclose(file) && !err)
		err = -errno;
	if (!err && rename(fresh, d->path))
		err = -errno;
	if (err)
		unlink(fresh);
	else
		d->lines = d->count;
	return err;
}

static int append(struct day *d, const double *values)
{
	int err = incident_directory(d->path);
	FILE *file;

	if (!err && d->lines >= 2 * DAY_POINTS)
		return rewrite(d); /* with this one, which is kept already */
	file = err ? NULL : fopen(d->path, "a+e");
	if (!file)
		return err ? err : -errno;
	/* The last write may not have got to the end of the line. */
	if (!fseek(file, -1, SEEK_END) && fgetc(file) != '\n') {
		fseek(file, 0, SEEK_END);
		fputc('\n', file);
	}
	fseek(file, 0, SEEK_END);
	line_put(file, values);
	fputc('\n', file);
	d->lines++;
	err = ferror(file) ? -EIO : 0;
	return fclose(file) && !err ? -errno : err;
}

/* --- a look ------------------------------------------------------------------------- */

static void minute_end(struct day *d)
{
	int err;

	for (int i = DAY_PASSED; i < DAY_COLUMNS; i++)
		if (i != DAY_DROPPED_MOST && i != DAY_PLAYERS)
			d->now[i] /= d->looks;
	keep(d, d->now);
	err = d->path[0] ? append(d, d->now) : 0;
	if (err && !d->failed)
		log_error("cannot keep history in '%s': %s", d->path, strerror(-err));
	d->failed = err;
}

void day_add(struct day *d, time_t time, const struct stats_rates *rates, size_t players)
{
	double minute = (double)(time - time % DAY_EVERY_S);

	if (d->looks && minute != d->now[DAY_TIME]) {
		/* After a step back of the clock, drop the points that lie ahead. */
		while (d->count && d->now[DAY_TIME] <= point(d, d->count - 1)[DAY_TIME]) {
			d->next = (d->next + DAY_POINTS - 1) % DAY_POINTS;
			d->count--;
		}
		minute_end(d);
		d->looks = 0;
	}
	if (!d->looks)
		memset(d->now, 0, sizeof(d->now));
	d->now[DAY_TIME] = minute;
	d->looks++;
	d->now[DAY_PASSED] += rates->packets[VERDICT_PASS];
	d->now[DAY_ANSWERED] += rates->packets[VERDICT_RESPOND];
	d->now[DAY_CHALLENGED] += rates->challenged;
	d->now[DAY_DROPPED] += rates->packets[VERDICT_DROP];
	d->now[DAY_DROPPED_MOST] =
		fmax(d->now[DAY_DROPPED_MOST], rates->packets[VERDICT_DROP]);
	d->now[DAY_BYTES_IN] += rates->bytes_in;
	d->now[DAY_BYTES_OUT] += rates->bytes_out;
	d->now[DAY_PLAYERS] = fmax(d->now[DAY_PLAYERS], (double)players);
}

/* --- its faces -----------------------------------------------------------------------
 */

const struct json_key day_json_keys[] = {
	JSON_KEY("every", "integer", "seconds", "Time between two points."),
	JSON_KEY("seconds", "integer", "seconds", "Time that the points cover at most."),
	JSON_KEY("columns", "string[]", NULL, "Name of each number of a point."),
	JSON_KEY(
		"points", "array[]", NULL,
		"Oldest first: one number for each column. Packets and bytes are per second, `time` is in seconds since 1970."),
	JSON_END,
};

int day_json(const struct day *d, FILE *out)
{
	fprintf(out, "{\"every\":%d,\"seconds\":%d,\"columns\":[", DAY_EVERY_S,
		DAY_SECONDS);
	for (size_t i = 0; i < DAY_COLUMNS; i++)
		fprintf(out, "%s\"%s\"", i ? "," : "", names[i]);
	fputs("],\"points\":[", out);
	for (size_t first = first_of_day(d), i = first; i < d->count; i++) {
		if (i > first)
			fputc(',', out);
		line_put(out, point(d, i));
	}
	fputs("]}\n", out);
	return fflush(out) || ferror(out) ? -EIO : 0;
}

int day_text(const struct day *d, FILE *out)
{
	char when[TIME_TEXT];

	fprintf(out, "%-20s %10s %10s %12s %10s %10s %12s %12s %7s\n", "minute",
		"passed/s", "responded/s", "challenged/s", "dropped/s", "at most",
		"bit/s in", "bit/s out", "players");
	for (size_t i = first_of_day(d); i < d->count; i++) {
		const double *p = point(d, i);

		time_format((time_t)p[DAY_TIME], when);
		fprintf(out,
			"%-20s %10.1f %10.1f %12.1f %10.1f %10.0f %12.0f %12.0f %7.0f\n",
			when, p[DAY_PASSED], p[DAY_ANSWERED], p[DAY_CHALLENGED],
			p[DAY_DROPPED], p[DAY_DROPPED_MOST], 8 * p[DAY_BYTES_IN],
			8 * p[DAY_BYTES_OUT], p[DAY_PLAYERS]);
	}
	return fflush(out) || ferror(out) ? -EIO : 0;
}
