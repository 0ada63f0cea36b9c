// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * cmd_top.c - `top`: look at what is pinned, once a second, daemon alive or not.
 */
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "cmd/commands.h"
#include "daemon/pidfile.h"
#include "incident/incident_now.h"
#include "lib/log.h"
#include "shield/shield.h"
#include "top/top.h"

/* Read the daemon's figures of the followed players; stale ones are dropped. */
static void collect_figures(struct top *top, const char *pin)
{
	char path[LAG_FILE_PATH_MAX];
	struct timespec now;

	free(top->figures);
	top->figures = NULL;
	lag_file_path(pin, path);
	if (lag_file_read(path, &top->figures))
		return;
	clock_gettime(CLOCK_REALTIME, &now);
	if (lag_file_is_stale(top->figures->time_ns,
			      now.tv_sec * 1000000000ll + now.tv_nsec)) {
		free(top->figures);
		top->figures = NULL;
	}
}

static void collect_attacks(struct top *top, const char *pin)
{
	char path[512];
	struct timespec now;

	json_decref(top->attacks);
	incident_now_path(pin, path);
	clock_gettime(CLOCK_REALTIME, &now);
	top->attacks =
		incident_now_read(path, now.tv_sec * 1000ll + now.tv_nsec / 1000000);
}

/* Opened anew each time: it may be detached, upgraded or loaded while we look. */
static bool collect(struct top *top, __s64 now_ns, void *context)
{
	const char *pin = context;
	struct shield *shield;
	struct stats stats;
	int err = shield_open(pin, &shield);

	top->trouble[0] = 0;
	top->daemon = (int)pidfile_pid(pin);
	if (!err) {
		err = stats_collect(shield, &stats);
		if (!err) {
			stats.link_count = call_links(pin, stats.links, stats.link_count);
			collect_attacks(top, pin); /* which come first in the order */
			top_feed(top, &stats, now_ns);
			top_players_begin(top);
			shield_players(shield, top_players_add, top);
			top_players_end(top);
			top->clock_ns = shield_clock();
			collect_figures(top, pin);
		}
		shield_close(shield);
	} else if (err == -ENOENT) {
		snprintf(top->trouble, sizeof(top->trouble),
			 "nothing is loaded: start `quakeshield run`");
	}
	return !err || err == -ENOENT;
}

int cmd_top(const struct call *call)
{
	const char *pin = call_value(call, OPTION_PIN);
	bool once = call_has(call, OPTION_ONCE);
	struct shield *shield;
	struct top *top;
	int err;

	if (!once && (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))) {
		log_error(
			"top: needs a terminal, or --once; see also `quakeshield stats`");
		return EXIT_REST;
	}
	/* Said before the screen is taken. That nothing is loaded may change. */
	err = shield_open(pin, &shield);
	if (!err)
		shield_close(shield);
	else if (err != -ENOENT)
		return exit_status(err);
	top = calloc(1, sizeof(*top));
	if (!top)
		return EXIT_REST;
	err = (once ? top_once : top_run)(top, collect, (void *)pin);
	top_free(top);
	return once && err == -ENOENT ? EXIT_NOT_LOADED : exit_status(err);
}
