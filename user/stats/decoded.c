// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * decoded.c - see decoded.h. Rows are found by a hash of all that parts them.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/json_key.h"
#include "lib/names.h"
#include "stats/decoded.h"
#include "stats/stats.h"

struct decoded {
	struct decoded_service *services[SERVICES_MAX];
};

/* Bounds that part what players feel: pings of a LAN, a country, a continent. */
const struct histogram_bounds decoded_bounds[DECODED_FIGURES] = {
	[DECODED_PING] = { 10,
			   { 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5 } },
	[DECODED_LOSS_C2S] = { 8, { 0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5 } },
	[DECODED_LOSS_S2C] = { 8, { 0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5 } },
	[DECODED_SNAPSHOTS] = { 10, { 1, 5, 10, 15, 20, 30, 40, 60, 80, 125 } },
	[DECODED_EXTRAPOLATION] = { 8, { 0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5 } },
};

struct decoded *decoded_create(void)
{
	return calloc(1, sizeof(struct decoded));
}

void decoded_free(struct decoded *d)
{
	for (__u32 slot = 0; d && slot < SERVICES_MAX; slot++)
		free(d->services[slot]);
	free(d);
}

void decoded_forget(struct decoded *d, __u32 slot)
{
	free(d->services[slot]);
	d->services[slot] = NULL;
}

const struct decoded_service *decoded_service(const struct decoded *d, __u32 slot)
{
	return d && slot < SERVICES_MAX ? d->services[slot] : NULL;
}

/*
 * Return the service in @slot, allocated on first use. NULL: not enough memory; the
 * caller counts nothing.
 */
static struct decoded_service *service_at(struct decoded *d, __u32 slot)
{
	if (slot >= SERVICES_MAX)
		return NULL;
	if (!d->services[slot])
		d->services[slot] = calloc(1, sizeof(*d->services[slot]));
	return d->services[slot];
}

static uint32_t row_hash(const struct decoded_row *row)
{
	uint32_t hash = 2166136261u ^ (uint32_t)row->family << 8 ^
			(uint32_t)row->status << 4 ^ (uint32_t)row->sampler;

	for (const char *c = row->kind; *c; c++)
		hash = (hash ^ (uint8_t)*c) * 16777619u;
	return hash ^ hash >> 15;
}

static bool row_equal(const struct decoded_row *a, const struct decoded_row *b)
{
	return a->family == b->family && a->status == b->status &&
	       a->sampler == b->sampler &&
	       (a->kind == b->kind || !strcmp(a->kind, b->kind));
}

/* NULL: there is no room for another. */
static struct decoded_row *row_of(struct decoded_service *s,
				  const struct decoded_row *wanted)
{
	uint32_t hash = row_hash(wanted);
	struct decoded_row *row;

	/* A quarter of the places is always free, so this ends. */
	for (uint32_t i = 0;; i++) {
		row = &s->rows[(hash + i) % DECODED_PLACES];
		if (!row->kind)
			break;
		if (row_equal(row, wanted))
			return row;
	}
	if (s->used == DECODED_KINDS)
		return NULL;
	s->used++;
	*row = *wanted;
	return row;
}

void decoded_record(struct decoded *d, __u32 slot, const struct record *r,
		    enum sampler sampler)
{
	struct decoded_row wanted = { r->kind, r->family, r->status, sampler, 0 };
	struct decoded_service *s = service_at(d, slot);
	struct decoded_row *row;

	if (!s || !r->kind)
		return;
	row = row_of(s, &wanted);
	if (row)
		row->records++;
	else
		s->unlisted++;
}

void decoded_figure(struct decoded *d, __u32 slot, enum wire_family family,
		    enum decoded_figure figure, double value)
{
	struct decoded_service *s = service_at(d, slot);

	if (s)
		histogram_add(&s->figures[family][figure], &decoded_bounds[figure],
			      value);
}

/* --- as JSON ----------------------------------------------------------------- */

static const struct json_key record_count_keys[] = {
	JSON_KEY("sampler", "string", NULL, "`statistic` or `follow`."),
	JSON_KEY("protocol", "string", NULL, "Protocol that was decoded."),
	JSON_KEY("kind", "string", NULL, "Kind of the record, as in docs/RECORDS.md."),
	JSON_KEY("status", "string", NULL,
		 "`decoded`, `partial`, `opaque` or `malformed`."),
	JSON_KEY("records", "integer", "records", "Number of such samples."),
	JSON_END,
};

static const struct json_key histogram_keys[] = {
	JSON_KEY("count", "integer", "values", "Number of values."),
	JSON_KEY("sum", "number", NULL, "Their sum, in the unit of the figure."),
	JSON_KEY("bounds", "number[]", NULL,
		 "Upper bound of each bucket, in the unit of the figure."),
	JSON_KEY(
		"counts", "integer[]", "values",
		"Values up to each bound and above the one before; values above the last bound are in `count` alone."),
	JSON_END,
};

static const struct json_key figures_keys[] = {
	JSON_KEY("protocol", "string", NULL, "Protocol of the players."),
	JSON_OBJECT("ping_s", "object?", "seconds", "Pings.", histogram_keys),
	JSON_OBJECT("loss_c2s", "object?", "ratio",
		    "Lost from the player to the server, of one second.", histogram_keys),
	JSON_OBJECT("loss_s2c", "object?", "ratio",
		    "Lost from the server to the player, of one second.", histogram_keys),
	JSON_OBJECT("snapshots_per_s", "object?", "snapshots per second",
		    "Snapshots sent to a player.", histogram_keys),
	JSON_OBJECT("extrapolation", "object?", "ratio",
		    "Frames drawn beyond the newest snapshot, of one second.",
		    histogram_keys),
	JSON_END,
};

const struct json_key decoded_json_keys[] = {
	JSON_OBJECT("records", "object[]", NULL,
		    "Decoded samples by sampler, protocol, kind and status; at most 384.",
		    record_count_keys),
	JSON_KEY("unlisted", "integer", "records",
		 "Decoded samples for which the table had no room."),
	JSON_OBJECT(
		"players", "object[]", NULL,
		"Figures of the followed players, one value per player and second, by protocol.",
		figures_keys),
	JSON_END,
};

static json_t *row_json(const struct decoded_row *row)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:I}", "sampler",
			 sampler_name(row->sampler), "protocol", family_name(row->family),
			 "kind", row->kind, "status", record_status_names[row->status],
			 "records", (json_int_t)row->records);
}

static json_t *histogram_json(const struct histogram *h, const struct histogram_bounds *b)
{
	json_t *bounds = json_array(), *counts = json_array();

	for (size_t i = 0; i < b->count; i++) {
		json_array_append_new(bounds, json_real(b->at[i]));
		json_array_append_new(counts, json_integer((json_int_t)h->buckets[i]));
	}
	return json_pack("{s:I, s:f, s:o, s:o}", "count", (json_int_t)h->count, "sum",
			 h->sum, "bounds", bounds, "counts", counts);
}

/* One protocol; NULL: it has had no player. */
static json_t *figures_json(const struct histogram figures[DECODED_FIGURES],
			    enum wire_family family)
{
	static const char *const names[DECODED_FIGURES] = {
		[DECODED_PING] = "ping_s",
		[DECODED_LOSS_C2S] = "loss_c2s",
		[DECODED_LOSS_S2C] = "loss_s2c",
		[DECODED_SNAPSHOTS] = "snapshots_per_s",
		[DECODED_EXTRAPOLATION] = "extrapolation",
	};
	json_t *object = json_pack("{s:s}", "protocol", family_name(family));
	bool any = false;

	for (int i = 0; i < DECODED_FIGURES; i++) {
		if (!figures[i].count)
			continue;
		any = true;
		json_object_set_new(object, names[i],
				    histogram_json(&figures[i], &decoded_bounds[i]));
	}
	if (any)
		return object;
	json_decref(object);
	return NULL;
}

json_t *decoded_json(const struct decoded *d, __u32 slot)
{
	const struct decoded_service *s = decoded_service(d, slot);
	json_t *records, *figures;

	if (!s)
		return NULL;
	records = json_array();
	figures = json_array();
	for (size_t i = 0; i < DECODED_PLACES; i++)
		if (s->rows[i].kind)
			json_array_append_new(records, row_json(&s->rows[i]));
	for (int family = 0; family < FAMILY_COUNT; family++) {
		json_t *object =
			figures_json(s->figures[family], (enum wire_family)family);

		if (object)
			json_array_append_new(figures, object);
	}
	return json_pack("{s:o, s:I, s:o}", "records", records, "unlisted",
			 (json_int_t)s->unlisted, "players", figures);
}
