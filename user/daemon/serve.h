/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * serve.h - what the daemon tells over HTTP: /metrics, /health, /stats.json,
 * /history.json, /day.json, /players.json, /attacks.json and the page at /.
 */
#ifndef SERVE_H
#define SERVE_H

#include "config/config.h"
#include "daemon/incident_monitor.h"
#include "samples/samples.h"
#include "shield/shield.h"

struct serve;

/*
 * Begin, within the loop. If the address cannot be used, that is logged, and tried again
 * at the next reload: the shield must not stay down for a port. -errno: nothing works.
 * @pin: as given to shield_load(). @config must live until serve_reload() or
 * serve_stop().
 */
int serve_start(struct shield *shield, const struct config *config, const char *pin,
		struct serve **ret);
/* Serve /players.json from @live, which must live until serve_stop(). */
void serve_players(struct serve *serve, const struct samples_view *live);

/*
 * Serve /attacks.json from @monitor, which must live until serve_stop(); NULL: no more.
 */
void serve_attacks(struct serve *serve, const struct incident_monitor *monitor);
/*
 * Return the snapshots that it serves, for the daemon's other parts. Belongs to @serve.
 */
struct stats_cache *serve_cache(struct serve *serve);

/*
 * Take over @config, which is in force now, and listen anew if the address is another.
 * @config must live as serve_start() says.
 */
void serve_reload(struct serve *serve, const struct config *config);
/* Close all connections, and free @serve, which may be NULL. */
void serve_stop(struct serve *serve);

#endif /* SERVE_H */
