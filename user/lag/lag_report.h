/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lag_report.h - how well each client of a capture or demo was connected: figures and a
 * drawing for people, or JSON. Called by `quakeshield decode --lagometer` (cmd_decode.c).
 */
#ifndef LAG_REPORT_H
#define LAG_REPORT_H

#include "lib/jsonl.h"
#include "lag/lagometer.h"
#include "lib/json_key.h"

#define LAG_REPORT_PLAYERS 1024

/* With the name of a file; without, a player is one object of lag_player_keys. */
extern const struct json_key lag_report_keys[];

/*
 * Write all players of @l. As JSON: one object a line, as in players.json, with "file"
 * unless @file is NULL. As text: both graphs of Quake III's lagometer, the newest at the
 * right.
 */
void lag_report(struct lagometer *l, struct jsonl *json, const char *file, bool as_json);

#endif /* LAG_REPORT_H */
