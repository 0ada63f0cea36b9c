/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * select.h - which records `quakeshield decode` shows: by kind, status and address.
 * Called by cmd_decode.c only.
 */
#ifndef SELECT_H
#define SELECT_H

#include "lib/record.h"

#define SELECT_MAX 32 /* of each */

/* All that is given must hold; of several of a sort, one. Zero selects everything. */
struct select {
	const char *kinds[SELECT_MAX];
	size_t kinds_n;
	bool status[RECORD_STATUS_COUNT];
	bool has_status;
	struct record_address hosts[SELECT_MAX]; /* port 0: any; length 0: any address */
	size_t hosts_n;
};

/*
 * Add the kinds of @text, "kind,kind...". @text is cut in pieces and must stay as long as
 * @s. False: *@bad is the part that is wrong, or one too many.
 */
bool select_kinds(struct select *s, char *text, const char **bad);
/* Add the statuses of @text, "status,status...". The rest as of select_kinds(). */
bool select_status(struct select *s, char *text, const char **bad);

/*
 * Add the hosts of @text: "address", "address:port", "[v6]:port" or ":port", with commas
 * between several. The rest as of select_kinds().
 */
bool select_hosts(struct select *s, char *text, const char **bad);

/* Return true if @r is one of the records that @s selects. */
bool select_takes(const struct select *s, const struct record *r);

#endif /* SELECT_H */
