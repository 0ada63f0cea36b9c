/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cache_refresh.h - keeps the response cache fresh, whether or not the services are under
 * load: it queries their servers over loopback, where no rate limit applies and no other
 * host can interfere. It also keeps the client history over reboots: known_clients.h.
 *
 * Runs in the daemon's loop, and waits for no reply. A service is queried unless
 * config_uncacheable() gives a reason against it. Without the daemon the cached responses
 * are too old within seconds, and the shield works as without a cache.
 */
#ifndef CACHE_REFRESH_H
#define CACHE_REFRESH_H

#include "config/config.h"
#include "shield/shield.h"

#define CACHE_REFRESH_NS    4000000000ull /* a response is fetched again when so old */
#define CACHE_UNANSWERED_NS 15000000000ull /* one that gets no reply, at rest */
#define CACHE_LATE_NS	    4000000000ull /* for the tries between, and the daemon's ticks */
/*
 * The newest response to a running daemon is not older, unless its server is silent: a
 * server that has missed a few questions, during a change of level, is left alone for
 * CACHE_UNANSWERED_NS.
 */
#define CACHE_SILENT_NS (CACHE_REFRESH_NS + CACHE_UNANSWERED_NS + CACHE_LATE_NS)

struct cache_refresh;

/*
 * Begin, within the loop. 0 and *@ret, or -errno after a message. @config is only read
 * here. @pin: NULL, or the directory of another daemon, which has a client history of its
 * own. @shield must outlive it.
 */
int cache_refresh_start(struct shield *shield, const struct config *config,
			const char *pin, struct cache_refresh **ret);

/*
 * Query the servers of @config from now on. @refresh may be NULL; @config is only read
 * here.
 */
void cache_refresh_reload(struct cache_refresh *refresh, const struct config *config);
/* Write the client history, and free @refresh, which may be NULL. */
void cache_refresh_stop(struct cache_refresh *refresh);

#endif /* CACHE_REFRESH_H */
