/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lag_json.h - a player of the lagometer as JSON. Called by players_file.c and
 * lag_report.c; the format is in docs/SAMPLES.md.
 */
#ifndef LAG_JSON_H
#define LAG_JSON_H

#include <string.h>

#include "lag/lagometer.h"
#include "lib/json_key.h"
#include "lib/jsonl.h"

extern const struct json_key lag_player_keys[];

/* Write @p as one object. @service: NULL where there is none. */
void lag_player_json(struct jsonl *json, const struct lag_player *p, const char *service);

/* Write @key, raw JSON, and @value after it. */
static inline void lag_json_number(struct jsonl *json, const char *key, uint64_t value)
{
	jsonl_text(json, key);
	jsonl_uint(json, value);
}

/* The same of a text. */
static inline void lag_json_string(struct jsonl *json, const char *key, const char *value)
{
	jsonl_text(json, key);
	jsonl_string(json, value, strlen(value));
}

#endif /* LAG_JSON_H */
