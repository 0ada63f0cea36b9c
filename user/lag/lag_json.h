/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lag_json.h - a player of the lagometer as JSON. Called by players_file.c and
 * lag_report.c; the format is in docs/SAMPLES.md.
 */
#ifndef LAG_JSON_H
#define LAG_JSON_H

#include <string.h>

#include "lag/lag_judge.h"
#include "lib/json_key.h"
#include "lib/jsonl.h"

extern const struct json_key lag_player_keys[], lag_verdict_keys[];

/* Further parts of a player's object; each is NULL where there is none. */
struct lag_extra {
	const char *service;
	const struct lag_verdict *verdict;
	const char *history; /* of verdicts */
	int64_t ahead_ns; /* of lagometer_ahead() */
};

/* Write @p as one object. @extra may be NULL. */
void lag_player_json(struct jsonl *json, const struct lag_player *p,
		     const struct lag_extra *extra);

/* Write @key, raw JSON, and @value after it. */
static inline void lag_json_number(struct jsonl *json, const char *key, uint64_t value)
{
	jsonl_text(json, key);
	jsonl_uint(json, value);
}

/* Write @key, raw JSON, and the text @value after it. */
static inline void lag_json_string(struct jsonl *json, const char *key, const char *value)
{
	jsonl_text(json, key);
	jsonl_string(json, value, strlen(value));
}

#endif /* LAG_JSON_H */
