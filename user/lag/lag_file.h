/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lag_file.h - the figures of the followed players, for other processes: written by the
 * daemon (players_file.c), read by `top`, `stats --json` and the next daemon.
 *
 * The daemon writes them once a second to LAG_FILE_DIR/players.json, always as a whole (a
 * new file in the old one's place), at most SAMPLES_PLAYERS players of LAG_SAMPLES
 * samples: below 1 MiB. The format is in docs/SAMPLES.md. A file that is older than
 * LAG_FILE_STALE_NS, or of the future, is stale.
 */
#ifndef LAG_FILE_H
#define LAG_FILE_H

#include <jansson.h>

#include "abi.h"
#include "lag/lag_minute.h"

#define LAG_FILE_DIR	  "/run/quakeshield"
#define LAG_FILE_PATH_MAX 512
#define LAG_FILE_STALE_NS 5000000000LL

/*
 * Return true if a file of @time_ns is older than LAG_FILE_STALE_NS, or as far in the
 * future: the clock was set back since. Both are since 1970.
 */
static inline bool lag_file_is_stale(int64_t time_ns, int64_t now_ns)
{
	return now_ns - time_ns > LAG_FILE_STALE_NS ||
	       time_ns - now_ns > LAG_FILE_STALE_NS;
}

/* Write the file's path for the daemon of @pin_dir (NULL: the default one) to @ret. */
void lag_file_path(const char *pin_dir, char ret[LAG_FILE_PATH_MAX]);

/* Remove the file; "" is no path, and nothing happens. */
void lag_file_remove(const char *path);

struct lag_file_row {
	char service[NAME_MAX_LEN];
	struct lag_player player; /* slot and dialect are not in the file */
	/* The verdict on the last whole minute, as words; "": there is none. */
	char cause[16], text[LAG_TEXT];
	char history[LAG_HISTORY + 1];
};

/*
 * A prefix, and its share (0 to 1) of the samples of dropped datagrams, of all services.
 */
struct lag_file_prefix {
	char service[NAME_MAX_LEN];
	char prefix[64];
	double share;
};
#define LAG_FILE_PREFIXES 10

struct lag_file {
	int64_t time_ns; /* when it was written */
	struct lag_file_prefix top_prefixes[LAG_FILE_PREFIXES]; /* most first */
	size_t top_prefix_count;
	size_t count;
	struct lag_file_row rows[];
};

/*
 * Return the object of players_file_decoded() in the file, which the caller releases.
 * NULL: there is no file, it has another format, or it is stale.
 */
json_t *lag_file_read_decoded(const char *path, int64_t now_ns);

/*
 * Return the players of the file, the array of its objects, which the caller releases.
 * NULL and *@ret: -ENOENT if there is no file or it is stale, -EBADMSG if it has another
 * format.
 */
json_t *lag_file_read_players(const char *path, int64_t now_ns, int *ret);

/*
 * Read the file at @path into *@ret, which the caller frees. 0; -ENOENT: there is none;
 * -EBADMSG: it has another format.
 */
int lag_file_read(const char *path, struct lag_file **ret);

#endif /* LAG_FILE_H */
