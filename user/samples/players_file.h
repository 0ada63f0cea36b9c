/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * players_file.h - writes the figures of the followed players for other processes:
 * players.json. Its bounds are in lag/lag_file.h. Called by samples.c once a second.
 */
#ifndef PLAYERS_FILE_H
#define PLAYERS_FILE_H

#include <jansson.h>
#include <stdio.h>

#include "abi.h"
#include "lag/lagometer.h"
#include "lib/json_key.h"

struct samples_stats;
struct decoded;

extern const struct json_key players_file_keys[];

/*
 * Write the figures as one JSON object. @services: by slot. 0 or -errno. Uses a static
 * buffer, and so does players_file_write(): one thread may call them, one at a time.
 */
int players_file_print(FILE *out, int64_t now_ns, const struct samples_stats *stats,
		       struct lagometer *lagometer, const struct service *services);
/* Write the same to the file @path, which is replaced as a whole. */
int players_file_write(const char *path, int64_t now_ns,
		       const struct samples_stats *stats, struct lagometer *lagometer,
		       const struct service *services);

/*
 * Return what is decoded of each of @services, by slot: objects by name, which the caller
 * releases. NULL: no memory.
 */
json_t *players_file_decoded(const struct decoded *decoded,
			     const struct service *services);

#endif /* PLAYERS_FILE_H */
