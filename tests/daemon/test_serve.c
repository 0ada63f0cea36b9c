// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_serve.c - which page says what, to whom, and where they are served: with pages,
 * counters and a listener of this file's own.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/page.h"
#include "daemon/serve.h"
#include "lib/http.h"
#include "lib/loop.h"
#include "lib/ometric.h"
#include "stats/health.h"
#include "stats/metrics.h"
#include "stats/stats_cache.h"
#include "stderr.h"

/* --- what it stands on ----------------------------------------------------------- */

static struct {
	const struct http_page *pages;
	size_t count;
	void *context;
	struct listen_at at;
	int starts, stops, ticks, refuses;
	bool running;
} web;

static struct {
	int ticks, freed;
	bool none; /* nothing can be read */
} cache;

static void (*tick)(void *);
static void *tick_context;
static bool no_timer, healthy;
static struct stats stats = { .generation = 17, .link_count = 1 };
static struct config config, next;
/* Told apart by where they are. */
static char cache_is, live_is, monitor_is, http_is, decoded_is;

int http_start(const struct listen_at *at, const struct http_page *pages, size_t count,
	       void *context, struct http **ret)
{
	web.starts++;
	if (web.refuses)
		return web.refuses;
	assert_false(web.running);
	web.pages = pages;
	web.count = count;
	web.context = context;
	web.at = *at;
	web.running = true;
	*ret = (struct http *)&http_is;
	return 0;
}

void http_stop(struct http *http)
{
	if (!http)
		return;
	assert_ptr_equal(http, &http_is);
	assert_true(web.running);
	web.running = false;
	web.stops++;
}

void http_deadline(struct http *http, int seconds)
{
	(void)http;
	(void)seconds;
}

void http_tick(struct http *http)
{
	assert_ptr_equal(http, &http_is);
	assert_true(web.running);
	web.ticks++;
}

struct stats_cache *stats_cache_new(struct shield *shield, const char *pin)
{
	(void)shield;
	assert_string_equal(pin, "/pins");
	return (struct stats_cache *)&cache_is;
}

void stats_cache_free(struct stats_cache *watch)
{
	cache.freed += watch != NULL;
}

const struct stats *stats_cache_stats(struct stats_cache *watch)
{
	assert_ptr_equal(watch, &cache_is);
	return cache.none ? NULL : &stats;
}

void stats_cache_tick(struct stats_cache *watch)
{
	assert_ptr_equal(watch, &cache_is);
	cache.ticks++;
}

const struct history *stats_cache_history(const struct stats_cache *watch)
{
	return (const struct history *)watch;
}

const struct day *stats_cache_day(const struct stats_cache *watch)
{
	return (const struct day *)watch;
}

/* A row for each of the configuration, at its end. */
size_t shield_links_named(struct shield_link *links, size_t count,
			  const char (*named)[IF_NAMESIZE], size_t named_count)
{
	assert_int_equal(count, stats.link_count);
	for (size_t i = 0; i < named_count; i++)
		memcpy(links[count + i].interface, named[i], IF_NAMESIZE);
	return count + named_count;
}

/* The snapshot of the cache, with those rows. */
static void same(const struct stats *of)
{
	assert_int_equal(of->generation, 17);
	assert_int_equal(stats.link_count, 1);
	assert_true(of->link_count > 1);
	assert_string_equal(of->links[1].interface, next.interfaces[0]);
}

bool loop_every(int ms, void (*each)(void *context), void *context)
{
	assert_int_equal(ms, 1000);
	tick = each;
	tick_context = context;
	return !no_timer;
}

int metrics_check(void)
{
	return 0;
}

int metrics_write(const struct stats *of, const struct decoded *decoded,
		  const struct incident_watch *watches, enum ometric_format format,
		  FILE *out)
{
	same(of);
	fprintf(out, "metrics %s%s%s", format == OMETRIC_TEXT ? "text" : "open",
		decoded ? " decoded" : "", watches ? " attacks" : "");
	return 0;
}

bool health_write(const struct stats *of, FILE *out)
{
	same(of);
	fprintf(out, "health %zu %s", of->link_count,
		of->links[of->link_count - 1].interface);
	return healthy;
}

int stats_json(const struct stats *of, const json_t *decoded, FILE *out)
{
	same(of);
	fprintf(out, "stats%s", decoded ? " decoded" : "");
	return 0;
}

int history_json(const struct history *h, FILE *out)
{
	assert_ptr_equal(h, &cache_is);
	fputs("history", out);
	return 0;
}

int day_json(const struct day *d, FILE *out)
{
	assert_ptr_equal(d, &cache_is);
	fputs("day", out);
	return 0;
}

const struct decoded *samples_decoded(const struct samples_view *live)
{
	assert_ptr_equal(live, &live_is);
	return (const struct decoded *)&decoded_is;
}

json_t *samples_decoded_json(const struct samples_view *live)
{
	assert_ptr_equal(live, &live_is);
	return json_object();
}

int samples_players(const struct samples_view *live, FILE *out)
{
	assert_ptr_equal(live, &live_is);
	fputs("players", out);
	return 0;
}

const struct incident_watch *
incident_monitor_watches(const struct incident_monitor *monitor)
{
	return (const struct incident_watch *)monitor;
}

int incident_monitor_json(const struct incident_monitor *monitor, FILE *out)
{
	assert_ptr_equal(monitor, &monitor_is);
	fputs("attacks", out);
	return 0;
}

/* --- a daemon ---------------------------------------------------------------------- */

static struct serve *serve;
static char said[1024];

static int begin(void **state)
{
	(void)state;
	memset(&web, 0, sizeof(web));
	memset(&cache, 0, sizeof(cache));
	memset(&config, 0, sizeof(config));
	config.metrics.port = 9127;
	config.interface_count = 1;
	strcpy(config.interfaces[0], "eth0");
	next = config;
	no_timer = false;
	healthy = true;
	return serve_start(NULL, &config, "/pins", &serve);
}

static int end(void **state)
{
	(void)state;
	serve_stop(serve);
	return !cache.freed || web.running;
}

/* What the page at @path says; of two, the one for who accepts @accept. */
static int page(const char *path, const char *accept, bool *ret_local, char ret[200])
{
	for (size_t i = 0; i < web.count; i++) {
		const struct http_page *p = &web.pages[i];
		FILE *out;
		int status;

		if (strcmp(p->path, path) != 0 || (p->accept && !accept) ||
		    (accept && (!p->accept || strcmp(p->accept, accept) != 0)))
			continue;
		out = tmpfile();
		assert_non_null(out);
		status = p->render(out, web.context);
		rewind(out);
		ret[fread(ret, 1, 199, out)] = 0;
		fclose(out);
		*ret_local = p->local;
		return status;
	}
	fail_msg("there is no %s", path);
	return 0;
}

struct row {
	const char *path, *accept;
	int status;
	bool local;
	const char *text;
};

static void assert_pages(const struct row *rows, size_t count)
{
	char text[200];
	bool local;

	for (size_t i = 0; i < count; i++) {
		print_message("%s\n", rows[i].path);
		assert_int_equal(page(rows[i].path, rows[i].accept, &local, text),
				 rows[i].status);
		assert_string_equal(text, rows[i].text);
		assert_int_equal(local, rows[i].local);
	}
}

static void each_page_is_its_own(void **state)
{
	static const struct row before[] = {
		{ "/metrics", "text/plain", 200, false, "metrics text" },
		{ "/metrics", NULL, 200, false, "metrics open" },
		{ "/health", NULL, 200, false, "health 2 eth0" },
		{ "/stats.json", NULL, 200, false, "stats" },
		{ "/history.json", NULL, 200, false, "history" },
		{ "/day.json", NULL, 200, false, "day" },
		/* Not yet: and they are about people. */
		{ "/players.json", NULL, -EIO, true, "" },
		{ "/attacks.json", NULL, -EIO, true, "" },
	};
	static const struct row after[] = {
		{ "/metrics", "text/plain", 200, false, "metrics text decoded attacks" },
		{ "/metrics", NULL, 200, false, "metrics open decoded attacks" },
		{ "/stats.json", NULL, 200, false, "stats decoded" },
		{ "/players.json", NULL, 200, true, "players" },
		{ "/attacks.json", NULL, 200, true, "attacks" },
	};
	char text[200];
	bool local;

	(void)state;
	assert_pages(before, sizeof(before) / sizeof(*before));
	serve_players(serve, (const struct samples_view *)&live_is);
	serve_attacks(serve, (const struct incident_monitor *)&monitor_is);
	assert_pages(after, sizeof(after) / sizeof(*after));
	assert_int_equal(web.count, 9);
	assert_int_equal(page("/", NULL, &local, text), 200);
	assert_memory_equal(text, page_html, 199);
	assert_false(local);
	assert_ptr_equal(serve_cache(serve), &cache_is);
}

/* Who asks for the types of another version gets that, whatever else it accepts. */
static void a_type_is_what_it_says(void **state)
{
	(void)state;
	for (size_t i = 0; i < web.count; i++) {
		const struct http_page *p = &web.pages[i];
		const char *type = strstr(p->path, ".json") ? "application/json"
				   : !strcmp(p->path, "/")  ? "text/html; charset=utf-8"
				   : strcmp(p->path, "/metrics") ? "text/plain; "
								   "charset=utf-8"
				   : p->accept			 ? OMETRIC_TEXT_TYPE
								 : OMETRIC_CONTENT_TYPE;

		assert_string_equal(p->type, type);
		assert_int_equal(p->but != NULL, p->accept != NULL);
		if (p->but)
			assert_string_equal(p->but, "application/openmetrics-text");
	}
}

static void what_is_wrong_is_in_the_status(void **state)
{
	static const struct row ill[] = {
		{ "/health", NULL, 503, false, "health 2 eth0" },
	};
	static const struct row blind[] = {
		{ "/metrics", NULL, -EIO, false, "" },
		{ "/health", NULL, -EIO, false, "" },
		{ "/stats.json", NULL, -EIO, false, "" },
	};

	(void)state;
	healthy = false;
	assert_pages(ill, 1);
	cache.none = true;
	assert_pages(blind, sizeof(blind) / sizeof(*blind));
}

/* --- where ------------------------------------------------------------------------- */

static void reload(void)
{
	stderr_catch();
	serve_reload(serve, &next);
	stderr_release(said, sizeof(said));
}

/* Who is reading goes on reading, unless the address is another. */
static void a_reload_keeps_what_it_can(void **state)
{
	static const struct row health = { "/health", NULL, 200, false, "health 3 eth1" };

	(void)state;
	next.interface_count = 2;
	strcpy(next.interfaces[0], "eth7");
	strcpy(next.interfaces[1], "eth1");
	reload();
	assert_int_equal(web.starts, 1);
	assert_int_equal(web.stops, 0);
	assert_pages(&health, 1);
	next.metrics.port = 9128;
	reload();
	assert_int_equal(web.starts, 2);
	assert_int_equal(web.stops, 1);
	assert_int_equal(web.at.port, 9128);
	next.metrics.off = true;
	reload();
	assert_int_equal(web.starts, 2);
	assert_int_equal(web.stops, 2);
	next.metrics.off = false;
	reload();
	assert_int_equal(web.starts, 3);
	assert_true(web.running);
}

/* The address is somebody else's: that is said, and tried again. */
static void without_an_address(void **state)
{
	(void)state;
	web.refuses = -EADDRINUSE;
	next.metrics.port = 80;
	reload();
	assert_non_null(strstr(said, "no metrics until the next reload"));
	assert_false(web.running);
	tick(tick_context);
	assert_int_equal(web.ticks, 0);
	web.refuses = 0;
	reload();
	assert_null(strstr(said, "no metrics"));
	assert_true(web.running);
	tick(tick_context);
	assert_int_equal(web.ticks, 1);
}

/* The day is written whether or not anybody may read it here. */
static void counters_are_read_now_and_then(void **state)
{
	(void)state;
	for (int off = 0; off < 2; off++) {
		int before = cache.ticks, seconds = 0;

		while (cache.ticks == before && seconds++ < 100)
			tick(tick_context);
		before = cache.ticks;
		for (seconds = 0; seconds < 10 * HISTORY_EVERY_S; seconds++)
			tick(tick_context);
		assert_int_equal(cache.ticks, before + 10);
		next.metrics.off = true;
		reload();
	}
}

static void without_a_timer_there_is_none(void **state)
{
	struct serve *other = NULL;

	(void)state;
	no_timer = true;
	stderr_catch();
	assert_int_equal(serve_start(NULL, &config, "/pins", &other), -ENOMEM);
	stderr_release(said, sizeof(said));
	assert_non_null(strstr(said, "no room for a timer"));
	assert_null(other);
	assert_int_equal(cache.freed, 1);
	assert_int_equal(web.starts, 1);
}

#define T(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(each_page_is_its_own),
		T(a_type_is_what_it_says),
		T(what_is_wrong_is_in_the_status),
		T(a_reload_keeps_what_it_can),
		T(without_an_address),
		T(counters_are_read_now_and_then),
		T(without_a_timer_there_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
