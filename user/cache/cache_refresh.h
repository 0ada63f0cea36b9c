/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cache_refresh.h - keeps the templates of answers fresh, before services are flooded and
 * while they are, by asking their servers over loopback: where no budget is in the way,
 * nor can anybody from outside be. And keeps who is known over reboots: known_clients.h.
 *
 * A service is asked for as far as config_uncacheable() has nothing against it. Without
 * the daemon templates are too old within seconds, and all is as without answers.
 */
#ifndef CACHE_REFRESH_H
#define CACHE_REFRESH_H

#include "config/config.h"
#include "shield/shield.h"

struct cache_refresh;

/*
 * 0 and *@ret, or -errno after a message. @config is only read here. @pin: NULL, or the
 * directory of a daemon of its own, which knows others.
 */
int cache_refresh_start(struct shield *shield, const struct config *config,
			const char *pin, struct cache_refresh **ret);
void cache_refresh_reload(struct cache_refresh *refresh, const struct config *config);
void cache_refresh_stop(struct cache_refresh *refresh);

#endif /* CACHE_REFRESH_H */
