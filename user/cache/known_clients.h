/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * known_clients.h - who is known (include/reputation.h), on disk, so that a reboot under
 *attack forgets nobody.
 *
 * INCIDENT_STATE/known-clients.txt has a line for each: address, hops left or "player",
 * and the time of its last query, in seconds since 1970:
 *
 *	192.0.2.7 57 1795372800
 *	2001:db8:1:: player 1795372800
 *
 * Only who is known is written, so there are at most REPUTATION_MAX lines. The file is
 *written anew as a whole and takes the old one's place.
 */
#ifndef KNOWN_CLIENTS_H
#define KNOWN_CLIENTS_H

#include <stddef.h>
#include <time.h>

#include "reputation.h"

#define KNOWN_CLIENTS_LINE 80 /* octets, with LF and NUL */

/* A table, the keys of its hash, and its clock at @now: minutes, see reputation_minute().
 */
struct known_clients {
	struct reputation_table *table;
	const __u64 *keys; /* three */
	__u32 minute;
	time_t now;
};

/* Write who is known. 0 or -errno, and then the old file is as it was. */
int known_clients_write(const char *path, const struct known_clients *at);

/*
 * Enter who is in the file and not in the table: who is there is known better. Lines
 * that are none are passed over: *@ret_bad is how many, and the first of them, counted
 * from 1, is *@ret_first. If there is no file, that of an older build is read, which
 * lacks
 * "-clients" in its name. 0, also if there is neither, or -errno.
 */
int known_clients_read(const char *path, const struct known_clients *at, size_t *ret_bad,
		       size_t *ret_first);

#endif /* KNOWN_CLIENTS_H */
