/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * players_file.h - the figures of the followed players, for other processes.
 *
 * The daemon writes them once a second to PLAYERS_DIR/players.json, always as a whole
 * (a new file in the old one's place), at most LIVE_PLAYERS players of LAG_SAMPLES
 * samples: below 512 KiB. The format is in docs/LIVE.md. What is older than
 * PLAYERS_STALE_NS is not alive.
 */
#ifndef PLAYERS_FILE_H
#define PLAYERS_FILE_H

#include <stdio.h>

#include "abi.h"
#include "samples/lagometer.h"

#define PLAYERS_DIR	 "/run/quakeshield"
#define PLAYERS_PATH_MAX 512
#define PLAYERS_STALE_NS 5000000000LL

struct live_stats;

/* Where they are for the daemon of @pin_dir (NULL: the default one). */
void players_path(const char *pin_dir, char ret[PLAYERS_PATH_MAX]);

/* As one object. @services: by slot. 0 or -errno. */
int players_print(FILE *out, int64_t now_ns, const struct live_stats *stats,
		  struct lagometer *lagometer, const struct service *services);
/* To the file. */
int players_write(const char *path, int64_t now_ns, const struct live_stats *stats,
		  struct lagometer *lagometer, const struct service *services);
void players_remove(const char *path);

struct players_row {
	char service[NAME_MAX_LEN];
	struct lag_player player; /* slot and dialect are not in the file */
};

/* A prefix, and its share of the samples of dropped datagrams, of all services. */
struct players_worst {
	char service[NAME_MAX_LEN];
	char prefix[64];
	double share;
};
#define PLAYERS_WORST 10

struct players {
	int64_t time_ns; /* when it was written */
	struct players_worst worst[PLAYERS_WORST]; /* most first */
	size_t worst_count;
	size_t count;
	struct players_row rows[];
};

/* To be freed. -ENOENT: there is none; -EBADMSG: it is not what we write. */
int players_read(const char *path, struct players **ret);

#endif /* PLAYERS_FILE_H */
