/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * config_diff.h - what differs between two configurations, key by key, for `reload` and
 * the log of the daemon.
 */
#ifndef CONFIG_DIFF_H
#define CONFIG_DIFF_H

#include "config/config.h"

#define CONFIG_CHANGE 256 /* characters of a change as text, with the NUL */

struct config_change {
	const char *key; /* as --set takes it: "service.ffa.query.source", "allow" */
	const char
		*before; /* the value; NULL: the key, service or network was not there */
	const char *after; /* likewise; NULL: it is there no more */
};

/*
 * Call @each for each change from @before to @after, in the order of the keys. A service
 * that is new or gone is one change, without its keys; so is each network of a list.
 * Strings live until @each returns. Returns the number of changes or -ENOMEM.
 */
int config_diff(const struct config *before, const struct config *after,
		void (*each)(const struct config_change *change, void *context),
		void *context);

/*
 * Write a change as "KEY: BEFORE -> AFTER", "KEY: added AFTER" or "KEY: removed BEFORE",
 * cut to the size.
 */
void config_change_format(const struct config_change *change, char ret[CONFIG_CHANGE]);

#endif /* CONFIG_DIFF_H */
