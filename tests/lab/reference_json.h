/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * reference_json.h - the tables of JSON keys as a page and as JSON Schemas.
 */
#ifndef REFERENCE_JSON_H
#define REFERENCE_JSON_H

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/commands.h"
#include "decode/summary.h"
#include "decode/trace_clients.h"
#include "explain/explain.h"
#include "explain/explain_watch.h"
#include "incident/incident_now.h"
#include "lib/json_key.h"
#include "lib/jsonl.h"
#include "lag/lag_json.h"
#include "lag/lag_report.h"
#include "listed/listed.h"
#include "replay/beside.h"
#include "replay/replay.h"
#include "samples/players_file.h"
#include "stats/day.h"
#include "stats/stats.h"

/* One JSON output. */
static const struct face {
	const char *name; /* of its schema: schema/NAME.json */
	const char *from; /* commands, paths of the daemon's HTTP server, files */
	const struct json_key *keys;
} faces[] = {
	{ "stats", "`quakeshield stats --json`; `/stats.json`", stats_json_keys },
	{ "history", "`quakeshield stats --history --json`; `/history.json`, `/day.json`",
	  day_json_keys },
	{ "status", "`quakeshield status --json`", status_json_keys },
	{ "listed", "`quakeshield status --listed --json`", listed_json_keys },
	{ "check", "`quakeshield check --json`", check_json_keys },
	{ "probe", "`quakeshield probe --json`, one object per interface",
	  probe_json_keys },
	{ "discover", "`quakeshield discover --json`", discover_json_keys },
	{ "reload", "`quakeshield reload --json`", reload_json_keys },
	{ "trial", "`quakeshield reload --trial --json`", beside_json_keys },
	{ "list", "`quakeshield allow list --json`, `quakeshield deny list --json`",
	  list_json_keys },
	{ "attacks", "`quakeshield attacks --json`", attacks_json_keys },
	{ "lag", "`quakeshield lag --json`", lag_json_keys },
	{ "explain", "`quakeshield explain --json`", explain_json_keys },
	{ "watch", "`quakeshield watch --json`, one object per line", watch_json_keys },
	{ "replay", "`quakeshield replay --json`, one object per packet",
	  replay_json_keys },
	{ "attack", "standard input of the `on-attack` command", incident_json_keys },
	{ "attacks-now", "`/attacks.json`; `/run/quakeshield/attacks.json`",
	  incident_now_keys },
	{ "players", "`/players.json`; `/run/quakeshield/players.json`",
	  players_file_keys },
	{ "decode",
	  "`quakeshield decode --json`, one object per record; lines of `output { json }`",
	  record_keys },
	{ "trace-clients",
	  "`quakeshield decode --trace --json`, behind the records of a file, one object per client",
	  trace_client_keys },
	{ "trace-left-out",
	  "`quakeshield decode --trace --json`, behind the clients of a file that has more than 64",
	  trace_left_out_keys },
	{ "summary", "`quakeshield decode --summary`, one object per file",
	  summary_keys },
	{ "lagometer",
	  "`quakeshield decode --lagometer --json` of one file, one object per player",
	  lag_player_keys },
	{ "lagometer-files",
	  "`quakeshield decode --lagometer --json` of several files, one object per player",
	  lag_report_keys },
};
#define FACES (sizeof(faces) / sizeof(*faces))

/* --- the page ------------------------------------------------------------------- */

#define SHORT	  2 /* keys: a table that is no longer is repeated */
#define TOLD_MOST 64

/* Long tables that the page has already, and where. */
static struct told {
	const struct json_key *keys;
	char where[256];
} told[TOLD_MOST];
static size_t told_count;

/* Where the page has @keys already; NULL: nowhere, and from now on at @path of @face. */
static const char *told_at(const struct json_key *keys, const char *face,
			   const char *path)
{
	struct told *new = &told[told_count];
	size_t n = 0;

	for (size_t i = 0; i < told_count; i++)
		if (told[i].keys == keys)
			return told[i].where;
	while (keys[n].name)
		n++;
	if (n <= SHORT || told_count == TOLD_MOST)
		return NULL;
	new->keys = keys;
	if (*path)
		snprintf(new->where, sizeof(new->where), "`%s` of %s", path, face);
	else
		snprintf(new->where, sizeof(new->where), "all of %s", face);
	told_count++;
	return NULL;
}

/* A type as words: "array of integer or null, or absent". */
static void type_words(FILE *out, const char *type)
{
	fputs(strstr(type, "[]") ? "array of " : "", out);
	for (; *type; type++) {
		if (*type == '|')
			fputs(" or ", out);
		else if (*type == '?')
			fputs(", or absent", out);
		else if (!strchr("[]", *type))
			fputc(*type, out);
	}
}

/* The rows of @keys, which are at @under, and of the tables that they name. */
static void json_rows(FILE *out, const char *face, const char *under,
		      const struct json_key *keys)
{
	const char *where;

	for (; keys->name; keys++) {
		char path[256];

		snprintf(path, sizeof(path), "%s%s%s%s", under, *under ? "." : "",
			 keys->name, strstr(keys->type, "[]") ? "[]" : "");
		where = keys->keys ? told_at(keys->keys, face, path) : NULL;
		fprintf(out, "| `%s` | ", path);
		type_words(out, keys->type);
		fputs(keys->unit ? " | " : " |", out);
		fprintf(out, "%s | %s%s%s%s |\n", keys->unit ? keys->unit : "",
			keys->meaning, where ? " Keys: as " : "", where ? where : "",
			where ? "." : "");
		if (keys->keys && !where)
			json_rows(out, face, path, keys->keys);
	}
}

static void json_page(FILE *out)
{
	fputs("Each output is one object on one line. A path names a key with the keys that it is\n"
	      "in; `[]` stands for each element of an array, `*` for any name. Later versions can add\n"
	      "keys. The schemas are in `schema/`, as JSON Schema.\n",
	      out);
	for (size_t i = 0; i < FACES; i++) {
		const struct face *f = &faces[i];
		const char *where = told_at(f->keys, f->name, "");

		fprintf(out, "\n## %s\n\nFrom %s. Schema: `schema/%s.json`.\n", f->name,
			f->from, f->name);
		if (where) {
			fprintf(out, "The keys are those of %s.\n", where);
			continue;
		}
		fputs("\n| key | type | unit | meaning |\n| --- | --- | --- | --- |\n",
		      out);
		json_rows(out, f->name, "", f->keys);
	}
}

/* --- the schemas ---------------------------------------------------------------- */

static json_t *schema_object(const struct json_key *keys);

/* The schema of the type @name, @n characters long, without marks. */
static json_t *schema_base(const struct json_key *key, const char *name, size_t n)
{
	json_t *schema = json_object();

	if (key->keys)
		json_object_update_new(schema, schema_object(key->keys));
	else if (strncmp(name, "any", n) != 0)
		json_object_set_new(schema, "type", json_stringn(name, n));
	return schema;
}

static json_t *schema_key(const struct json_key *key, bool *optional)
{
	size_t n = strcspn(key->type, "|[?");
	json_t *schema = schema_base(key, key->type, n);
	char text[512];

	*optional = false;
	for (const char *mark = key->type + n; *mark;) {
		if (!strncmp(mark, "|null", 5)) {
			json_object_set_new(schema, "type",
					    json_pack("[O, s]",
						      json_object_get(schema, "type"),
						      "null"));
			mark += 5;
		} else if (!strncmp(mark, "[]", 2)) {
			schema =
				json_pack("{s:s, s:o}", "type", "array", "items", schema);
			mark += 2;
		} else {
			*optional = *mark++ == '?';
		}
	}
	snprintf(text, sizeof(text), "%s%s%s%s", key->meaning, key->unit ? " Unit: " : "",
		 key->unit ? key->unit : "", key->unit ? "." : "");
	json_object_set_new(schema, "description", json_string(text));
	return schema;
}

static json_t *schema_object(const struct json_key *keys)
{
	json_t *schema = json_pack("{s:s}", "type", "object");
	json_t *properties = json_object(), *required = json_array();

	for (; keys->name; keys++) {
		bool optional;
		json_t *of = schema_key(keys, &optional);

		if (!strcmp(keys->name, "*")) {
			json_object_set_new(schema, "additionalProperties", of);
			continue;
		}
		json_object_set_new(properties, keys->name, of);
		if (!optional)
			json_array_append_new(required, json_string(keys->name));
	}
	if (json_object_size(properties))
		json_object_set(schema, "properties", properties);
	if (json_array_size(required))
		json_object_set(schema, "required", required);
	json_decref(properties);
	json_decref(required);
	return schema;
}

/* The schema of @face, in @out. */
static void schema_write(FILE *out, const struct face *face)
{
	json_t *schema = json_pack("{s:s, s:s, s:s}", "$schema",
				   "https://json-schema.org/draft/2020-12/schema",
				   "title", face->name, "description", face->from);

	json_object_update_new(schema, schema_object(face->keys));
	json_dumpf(schema, out, JSON_INDENT(1) | JSON_ENSURE_ASCII);
	json_decref(schema);
	fputc('\n', out);
}

#endif /* REFERENCE_JSON_H */
