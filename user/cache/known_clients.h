/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * known_clients.h - the client history (include/reputation.h) on disk, so that it
 * survives a reboot during an attack. Called by cache_refresh.c.
 *
 * INCIDENT_STATE/known-clients.txt has a line for each known client: address, hops left
 * or "player", and the time of its last query, in seconds since 1970:
 *
 *	192.0.2.7 57 1795372800
 *	2001:db8:1:: player 1795372800
 *
 * Only known clients are written, so there are at most REPUTATION_MAX lines. The file is
 * replaced as a whole.
 */
#ifndef KNOWN_CLIENTS_H
#define KNOWN_CLIENTS_H

#include <stddef.h>
#include <time.h>

#include "reputation.h"

#define KNOWN_CLIENTS_LINE 80 /* bytes, with LF and NUL */

/* A table, the keys of its hash, and its clock at @now: minutes, see reputation_minute().
 */
struct known_clients {
	struct reputation_table *table;
	const __u64 *keys; /* three */
	__u32 minute;
	time_t now;
};

/* Write the known clients. 0 or -errno; then the old file is as it was. */
int known_clients_write(const char *path, const struct known_clients *at);

/*
 * Enter the clients of the file that are not in the table; the table's entries are newer.
 * Lines that are not of this format are skipped: *@ret_bad is how many, and the first of
 * them, counted from 1, is *@ret_first. If there is no file, that of an older build is
 * read, which lacks "-clients" in its name. 0, also if there is neither, or -errno.
 */
int known_clients_read(const char *path, const struct known_clients *at, size_t *ret_bad,
		       size_t *ret_first);

#endif /* KNOWN_CLIENTS_H */
