/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * serve.h - what the daemon tells over HTTP: /metrics, /health, /stats.json,
 * /history.json, /players.json and the page at /.
 */
#ifndef SERVE_H
#define SERVE_H

#include "config/config.h"
#include "samples/samples.h"
#include "shield/shield.h"

struct serve;

/*
 * Begin, within the loop. That the address cannot be had is said, and tried again at the
 * next reload: the shield is not to stay down for the want of a port. -errno: nothing
 * works. @config must live until serve_reload() or serve_stop().
 */
int serve_start(const struct shield *shield, const struct config *config,
		struct serve **ret);
/* Where /players.json comes from; lives until serve_stop(). */
void serve_players(struct serve *serve, const struct samples_view *live);
/* Another configuration is in force. */
void serve_reload(struct serve *serve, const struct config *config);
void serve_stop(struct serve *serve);

#endif /* SERVE_H */
