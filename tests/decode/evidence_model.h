/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * evidence_model.h - the state that a client builds from decoded records, made from their
 * JSON alone: baselines, and frames that are differences to frames.
 *
 * The decoders keep no values where they need none. This model does, so that two decodes
 * of one recording can be compared: model_apply() returns a number for the state that a
 * record describes, and equal states have equal numbers.
 */
#ifndef EVIDENCE_MODEL_H
#define EVIDENCE_MODEL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

static inline uint64_t model_mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ULL;
	return h ^ h >> 29;
}

static inline uint64_t model_hash(const json_t *value)
{
	char *text = json_dumps(value, JSON_SORT_KEYS | JSON_ENCODE_ANY);
	uint64_t h = 1;

	for (const char *c = text; c && *c; c++)
		h = model_mix(h, (uint8_t)*c);
	free(text);
	return h;
}

/* What names an entity or says how it was sent, and is no field of it. */
static inline bool model_is_field(const char *key)
{
	static const char *const others[] = { "op", "number", "bits", "removed",
					      "reset" };

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (!strcmp(key, others[i]))
			return false;
	return true;
}

/* @from and what @changes say: null in an array is a lane that did not change. */
static inline json_t *model_merge(const json_t *from, json_t *changes)
{
	json_t *ret = from ? json_copy((json_t *)from) : json_object(), *value, *old;
	const char *key;

	json_object_foreach (changes, key, value) {
		if (!model_is_field(key))
			continue;
		old = json_object_get(ret, key);
		if (!json_is_array(value)) {
			json_object_set(ret, key, value);
			continue;
		}
		old = json_is_array(old) ? json_copy(old) : json_array();
		for (size_t i = 0; i < json_array_size(value); i++) {
			json_t *lane = json_array_get(value, i);

			while (json_array_size(old) <= i)
				json_array_append_new(old, json_integer(0));
			if (!json_is_null(lane))
				json_array_set(old, i, lane);
		}
		json_object_set_new(ret, key, old);
	}
	return ret;
}

/* A frame: by entity number an array of the entity and its hash; "player" likewise. */
static inline void model_put(json_t *frame, const char *name, json_t *entity)
{
	json_t *pair = json_array();

	json_array_append_new(pair, entity);
	json_array_append_new(pair, json_integer((json_int_t)model_hash(entity)));
	json_object_set_new(frame, name, pair);
}

static inline json_t *model_entity(const json_t *frame, const char *name)
{
	return json_array_get(json_object_get(frame, name), 0);
}

static inline uint64_t model_frame_hash(json_t *frame)
{
	uint64_t sum = 1;
	const char *key;
	json_t *pair;

	json_object_foreach (frame, key, pair) {
		uint64_t h = 2;

		for (const char *c = key; *c; c++)
			h = model_mix(h, (uint8_t)*c);
		sum += model_mix(h,
				 (uint64_t)json_integer_value(json_array_get(pair, 1)));
	}
	return sum;
}

static inline const char *model_name(json_int_t number)
{
	static char name[2][24];
	static unsigned int which;

	which = !which;
	snprintf(name[which], sizeof(name[which]), "%lld", (long long)number);
	return name[which];
}

static inline json_int_t model_number(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

/* The table @key of @session, made if there is none. */
static inline json_t *model_table(json_t *session, const char *key)
{
	json_t *table = json_object_get(session, key);

	if (!table) {
		table = json_object();
		json_object_set_new(session, key, table);
	}
	return table;
}

static inline void model_forget(json_t *session)
{
	json_object_del(session, "baselines");
	json_object_del(session, "frames");
	json_object_del(session, "entities");
	json_object_del(session, "newest");
	json_object_del(session, "last");
	json_object_del(session, "players");
}

static inline void model_baseline(json_t *session, json_t *entity)
{
	json_object_set_new(model_table(session, "baselines"),
			    model_name(model_number(entity, "number")),
			    model_merge(NULL, entity));
}

static inline void model_baselines(json_t *session, json_t *list)
{
	json_t *entity;
	size_t i;

	json_array_foreach (list, i, entity) {
		model_baseline(session, entity);
	}
}

/* Frame @number of @session: @base (0: none) with these changes. */
static inline uint64_t model_frame(json_t *session, json_int_t number, json_int_t base,
				   json_t *player, json_t *entities)
{
	json_t *frames = model_table(session, "frames"), *entity;
	json_t *from = base ? json_object_get(frames, model_name(base)) : NULL;
	json_t *frame = from ? json_copy(from) : json_object();
	json_t *baselines = model_table(session, "baselines");
	size_t i;

	if (player)
		model_put(frame, "player",
			  model_merge(model_entity(frame, "player"), player));
	json_array_foreach (entities, i, entity) {
		const char *name = model_name(model_number(entity, "number"));
		json_t *old = model_entity(frame, name);

		if (json_is_true(json_object_get(entity, "removed")))
			json_object_del(frame, name);
		else
			model_put(frame, name,
				  model_merge(old ? old
						  : json_object_get(baselines, name),
					      entity));
	}
	json_object_set_new(frames, model_name(number), frame);
	/* No delta goes back further. */
	json_object_del(frames, model_name(number - 256));
	return model_frame_hash(frame);
}

/*
 * A recording made by a server: a player or an entity is a difference to its own last
 * state on this map, also after it was gone.
 */
static inline uint64_t model_last(json_t *session, const char *table, const char *key,
				  json_t *list)
{
	json_t *states = model_table(session, table), *entity;
	uint64_t sum = 3;
	size_t i;

	json_array_foreach (list, i, entity) {
		const char *name = model_name(model_number(entity, key));
		json_t *now = model_merge(json_object_get(states, name), entity);

		json_object_del(now, "flags"); /* what is there, not how it is */
		sum = model_mix(sum, model_hash(now));
		json_object_set_new(states, name, now);
	}
	return sum;
}

/* NetQuake: an update is a difference to the entity's baseline. */
static inline uint64_t model_update(json_t *session, json_t *update)
{
	const char *name = model_name(model_number(update, "number"));
	json_t *entity = model_merge(
		json_object_get(model_table(session, "baselines"), name), update);
	uint64_t h = model_hash(entity);

	json_decref(entity);
	return h;
}

/* DarkPlaces and FTE: an entity is a difference to what it was, but after "reset". */
static inline uint64_t model_entities(json_t *session, json_int_t number,
				      json_t *entities)
{
	json_t *table = model_table(session, "entities"), *entity;
	json_t *baselines = model_table(session, "baselines");
	json_int_t newest = model_number(session, "newest");
	uint64_t sum = 0;
	size_t i;

	/* They have begun anew: old ones do not come here. */
	if (number < newest)
		json_object_clear(table);
	json_object_set_new(session, "newest", json_integer(number));
	json_array_foreach (entities, i, entity) {
		const char *name = model_name(model_number(entity, "number"));
		bool reset = json_is_true(json_object_get(entity, "reset"));
		json_t *now;

		if (json_is_true(json_object_get(entity, "removed"))) {
			if (!model_number(entity, "number"))
				json_object_clear(table);
			json_object_del(table, name);
			continue;
		}
		/* FTE's have baselines, DarkPlaces' frames know none. */
		now = model_merge(!reset    ? json_object_get(table, name)
				  : !number ? json_object_get(baselines, name)
					    : NULL,
				  entity);
		json_object_set_new(table, name, now);
		sum += model_hash(now);
	}
	return sum;
}

static inline uint64_t model_op(json_t *session, json_t *record, json_t *op)
{
	const char *name = json_string_value(json_object_get(op, "op"));
	json_int_t sequence = model_number(record, "sequence"), base;
	json_t *list = json_object_get(op, "entities");

	if (!name)
		return 0;
	if (!strcmp(name, "serverdata") || !strcmp(name, "serverinfo"))
		model_forget(session);
	if (!strcmp(name, "spawnbaseline") || !strcmp(name, "spawnbaseline2"))
		list ? model_baselines(session, list) : model_baseline(session, op);
	if (!strcmp(name, "baselinestream"))
		model_baselines(session, json_object_get(op, "baselines"));
	if (!strcmp(name, "gamestate")) {
		/* Quake III's begins all anew, Quake II's is behind serverdata. */
		if (json_object_get(op, "checksumFeed"))
			model_forget(session);
		model_baselines(session, json_object_get(op, "baselines"));
	}
	if (!strcmp(name, "snapshot")) {
		base = model_number(op, "deltaNum");
		return model_frame(session, sequence, base ? sequence - base : 0,
				   json_object_get(op, "player"), list);
	}
	if (json_object_get(op, "players") && json_object_get(op, "packetentities"))
		return model_mix(model_last(session, "players", "slot",
					    json_object_get(op, "players")),
				 model_last(session, "entities", "number",
					    json_object_get(op, "packetentities")));
	if (!strcmp(name, "playerinfo") && !json_object_get(record, "sequence")) {
		list = json_pack("[O]", op);
		base = (json_int_t)model_last(session, "players", "slot", list);
		json_decref(list);
		return (uint64_t)base;
	}
	if (!strcmp(name, "frame")) {
		base = model_number(op, "deltaframe");
		return model_frame(session, model_number(op, "serverframe"),
				   base > 0 ? base : 0, json_object_get(op, "playerinfo"),
				   json_object_get(op, "packetentities"));
	}
	if (!strcmp(name, "packetentities") || !strcmp(name, "deltapacketentities")) {
		json_t *from = json_object_get(op, "from");

		/* A recording's frames have no numbers: each is to the one before. */
		if (!json_object_get(record, "sequence")) {
			sequence = model_number(record, "frame");
			base = model_number(session, "last");
		} else {
			base = sequence - ((sequence - json_integer_value(from)) & 0xff);
		}
		json_object_set_new(session, "last", json_integer(sequence));
		return model_frame(session, sequence, from ? base : 0, NULL, list);
	}
	if (!strcmp(name, "update"))
		return model_update(session, op);
	if (!strcmp(name, "entities") || !strcmp(name, "updateentities"))
		return model_entities(session, model_number(op, "frame"), list);
	return 0;
}

/* @model: an object, empty at the beginning. Returns 0 where a record describes none. */
static inline uint64_t model_apply(json_t *model, json_t *record)
{
	const char *to = json_string_value(json_object_get(record, "dst"));
	const char *from = json_string_value(json_object_get(record, "src"));
	json_t *session, *op;
	uint64_t sum = 0;
	char key[160];
	size_t i;

	snprintf(key, sizeof(key), "%s %lld %s %lld", from ? from : "",
		 (long long)model_number(record, "sport"), to ? to : "",
		 (long long)model_number(record, "dport"));
	session = model_table(model, key);
	json_array_foreach (json_object_get(record, "ops"), i, op)
		sum = model_mix(sum, model_op(session, record, op));
	return sum;
}

#endif /* EVIDENCE_MODEL_H */
