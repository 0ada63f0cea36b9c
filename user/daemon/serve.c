// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * serve.c - the pages that the daemon serves, by path. See serve.h.
 *
 * All of it runs in the daemon's main loop. A renderer writes one page to @out; @context
 * is struct serve. It returns the HTTP status, or -errno.
 */
#include <errno.h>
#include <stdlib.h>

#include "stats/health.h"
#include "lib/http.h"
#include "lib/log.h"
#include "lib/loop.h"
#include "stats/metrics.h"
#include "lib/ometric.h"
#include "daemon/page.h"
#include "daemon/serve.h"
#include "lib/util.h"
#include "stats/stats_cache.h"

struct serve {
	const struct config *config;
	struct stats_cache *watch;
	const struct samples_view *live; /* NULL: not yet */
	const struct incident_monitor *monitor; /* the same */
	struct stats stats; /* as snapshot() returns it; nothing of it is freed */
	struct http *http; /* NULL: off, or the address could not be had */
	struct listen_at at; /* where @http is */
	unsigned int ticks;
};

#define STATUS_OK	   200
#define STATUS_UNAVAILABLE 503

/*
 * Return what stats_cache_stats() does, with a row for each interface of the
 * configuration that nothing is attached to. Valid until the next call.
 */
static const struct stats *snapshot(struct serve *s)
{
	const struct stats *stats = stats_cache_stats(s->watch);

	if (!stats)
		return NULL;
	s->stats = *stats;
	s->stats.link_count =
		shield_links_named(s->stats.links, stats->link_count,
				   s->config->interfaces, s->config->interface_count);
	return &s->stats;
}

/*
 * Write the metrics in @format. Called by the next two. Without players or incidents,
 * until serve_players() and serve_attacks() are called.
 */
static int render_format(FILE *out, struct serve *s, enum ometric_format format)
{
	const struct stats *stats = snapshot(s);
	const struct decoded *decoded = s->live ? samples_decoded(s->live) : NULL;
	const struct incident_watch *watches =
		s->monitor ? incident_monitor_watches(s->monitor) : NULL;
	int err = stats ? metrics_write(stats, decoded, watches, format, out) : -EIO;

	return err ? err : STATUS_OK;
}

static int render_metrics(FILE *out, void *context)
{
	return render_format(out, context, OMETRIC_OPEN);
}

static int render_metrics_text(FILE *out, void *context)
{
	return render_format(out, context, OMETRIC_TEXT);
}

static int render_health(FILE *out, void *context)
{
	struct serve *s = context;
	const struct stats *stats = snapshot(s);

	if (!stats)
		return -EIO;
	return health_write(stats, out) ? STATUS_OK : STATUS_UNAVAILABLE;
}

static int render_stats(FILE *out, void *context)
{
	struct serve *s = context;
	const struct stats *stats = snapshot(s);
	json_t *decoded = s->live ? samples_decoded_json(s->live) : NULL;
	int err = stats ? stats_json(stats, decoded, out) : -EIO;

	json_decref(decoded);
	return err ? err : STATUS_OK;
}

static int render_history(FILE *out, void *context)
{
	struct serve *s = context;
	int err = history_json(stats_cache_history(s->watch), out);

	return err ? err : STATUS_OK;
}

static int render_day(FILE *out, void *context)
{
	struct serve *s = context;
	int err = day_json(stats_cache_day(s->watch), out);

	return err ? err : STATUS_OK;
}

static int render_players(FILE *out, void *context)
{
	struct serve *s = context;
	int err = s->live ? samples_players(s->live, out) : -EIO;

	return err ? err : STATUS_OK;
}

static int render_attacks(FILE *out, void *context)
{
	struct serve *s = context;
	int err = s->monitor ? incident_monitor_json(s->monitor, out) : -EIO;

	return err ? err : STATUS_OK;
}

static int render_page(FILE *out, void *context)
{
	(void)context;
	return fwrite(page_html, page_html_size, 1, out) == 1 ? STATUS_OK : -EIO;
}

static const struct http_page pages[] = {
	{ "/", "text/html; charset=utf-8", false, render_page, NULL, NULL },
	{ "/metrics", OMETRIC_TEXT_TYPE, false, render_metrics_text, "text/plain",
	  "application/openmetrics-text" },
	{ "/metrics", OMETRIC_CONTENT_TYPE, false, render_metrics, NULL, NULL },
	{ "/health", "text/plain; charset=utf-8", false, render_health, NULL, NULL },
	{ "/stats.json", "application/json", false, render_stats, NULL, NULL },
	{ "/history.json", "application/json", false, render_history, NULL, NULL },
	{ "/day.json", "application/json", false, render_day, NULL, NULL },
	{ "/players.json", "application/json", true, render_players, NULL, NULL },
	{ "/attacks.json", "application/json", true, render_attacks, NULL, NULL },
};

/*
 * Begin to serve at the address of the configuration, or nothing if it is off. On failure
 * s->http stays NULL after a warning. Called at the start and by serve_reload(), after
 * http_stop().
 */
static void listen_start(struct serve *s)
{
	char text[LISTEN_TEXT];

	s->at = s->config->metrics;
	if (s->at.off)
		return;
	if (http_start(&s->at, pages, ARRAY_SIZE(pages), s, &s->http)) {
		log_warn("no metrics until the next reload; the shield works without");
		return;
	}
	listen_format(&s->at, text);
	log_info("metrics, health and a page on http://%s/", text);
}

/*
 * Work of each second: connections that wait too long, and the history. The callback of
 * loop_every().
 */
static void on_tick(void *context)
{
	struct serve *s = context;

	if (s->http)
		http_tick(s->http);
	/* Also for the day on disk, whether or not HTTP is on. */
	if (!(s->ticks++ % HISTORY_EVERY_S))
		stats_cache_tick(s->watch);
}

int serve_start(struct shield *shield, const struct config *config, const char *pin,
		struct serve **ret)
{
	struct serve *s;
	int err = metrics_check();

	if (err)
		return err;
	s = calloc(1, sizeof(*s));
	if (s)
		s->watch = stats_cache_new(shield, pin);
	if (!s || !s->watch || !loop_every(1000, on_tick, s)) {
		log_error("cannot serve metrics: %s",
			  s && s->watch ? "no room for a timer" : "not enough memory");
		if (s)
			stats_cache_free(s->watch);
		free(s);
		return -ENOMEM;
	}
	s->config = config;
	listen_start(s);
	*ret = s;
	return 0;
}

void serve_players(struct serve *s, const struct samples_view *live)
{
	s->live = live;
}

void serve_attacks(struct serve *s, const struct incident_monitor *monitor)
{
	s->monitor = monitor;
}

struct stats_cache *serve_cache(struct serve *s)
{
	return s->watch;
}

void serve_reload(struct serve *s, const struct config *config)
{
	s->config = config;
	if (s->http && listen_equal(&s->at, &config->metrics))
		return;
	http_stop(s->http);
	s->http = NULL;
	listen_start(s);
}

void serve_stop(struct serve *s)
{
	if (!s)
		return;
	http_stop(s->http);
	stats_cache_free(s->watch);
	free(s);
}
