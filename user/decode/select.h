/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * select.h - which records somebody wants to see.
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
 * "kind,kind..."; "status,..."; "address", "address:port", "[v6]:port" or ":port", with
 * commas between several. @text is cut in pieces and must stay. False: *bad is what is
 * wrong.
 */
bool select_kinds(struct select *s, char *text, const char **bad);
bool select_status(struct select *s, char *text, const char **bad);
bool select_hosts(struct select *s, char *text, const char **bad);

bool select_takes(const struct select *s, const struct record *r);

#endif /* SELECT_H */
