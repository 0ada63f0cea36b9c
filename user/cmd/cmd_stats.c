// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * cmd_stats.c - `stats` and `status`: look at what is pinned, daemon alive or not.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmd/commands.h"
#include "daemon/pidfile.h"
#include "lib/log.h"
#include "lib/names.h"
#include "samples/lag_file.h"
#include "shield/shield.h"
#include "stats/day.h"
#include "stats/health.h"
#include "stats/stats.h"

/* What a running daemon tells of what it decodes; NULL: there is none. */
static json_t *decoded_read(const char *pin)
{
	char path[LAG_FILE_PATH_MAX];
	struct timespec now;

	lag_file_path(pin, path);
	clock_gettime(CLOCK_REALTIME, &now);
	return lag_file_read_decoded(path, now.tv_sec * 1000000000LL + now.tv_nsec);
}

static int stats_print_json(const struct stats *stats, const char *pin)
{
	json_t *decoded = decoded_read(pin);
	int err = stats_json(stats, decoded, stdout);

	json_decref(decoded);
	return err;
}

/* Of the last day, minute by minute, as daemons have kept it. */
static int print_history(const struct call *call)
{
	struct day *day = calloc(1, sizeof(*day));
	int err = day ? 0 : -ENOMEM;

	if (!err) {
		day_load(day, call_value(call, OPTION_PIN), time(NULL));
		err = call_has(call, OPTION_JSON) ? day_json(day, stdout)
						  : day_text(day, stdout);
	}
	free(day);
	if (err)
		log_error("stats: cannot write: %s", strerror(-err));
	return exit_status(err);
}

int cmd_stats(const struct call *call)
{
	struct shield *shield;
	struct stats stats;
	int err;

	if (call_has(call, OPTION_HISTORY))
		return print_history(call);
	err = call_open(call, &shield);
	if (err)
		return err;
	err = stats_collect(shield, &stats);
	shield_close(shield);
	if (err)
		return exit_status(err);
	err = call_has(call, OPTION_JSON)
		      ? stats_print_json(&stats, call_value(call, OPTION_PIN))
		      : stats_text(&stats, stdout);
	stats_free(&stats);
	if (err)
		log_error("stats: cannot write: %s", strerror(-err));
	return exit_status(err);
}

static bool link_print(const struct shield_link *l, bool observed)
{
	char since[TIME_TEXT];

	time_format(l->since, since);
	printf("%s: ", l->interface);
	if (l->ours)
		printf("%s, %s mode, since %s%s", observed ? "observed" : "protected",
		       mode_name(l->mode), since, observed ? ": nothing is dropped" : "");
	else
		health_fault(l, stdout);
	putchar('\n');
	return l->ours;
}

/* Services whose `protocol` is another than the server's. */
static void misspoken_print(const struct shield *shield)
{
	struct service service;

	for (__u32 slot = 0; slot < SERVICES_MAX; slot++) {
		__u64 count;

		if (!shield_service(shield, slot, &service))
			continue;
		count = shield_misspoken(shield, slot);
		if (count)
			printf("service %s: its server does not speak %s: %llu datagrams "
			       "of another family's; check its `protocol`\n",
			       service.name,
			       family_name((enum wire_family)service.family),
			       (unsigned long long)count);
	}
}

static int status_print(const struct shield *shield, const char *pin)
{
	struct shield_link links[CONFIG_INTERFACES];
	size_t n = shield_links(shield, links, CONFIG_INTERFACES);
	pid_t pid = pidfile_pid(pin);
	struct service service;
	size_t services = 0, observed = 0;
	bool good = n > 0;

	for (__u32 slot = 0; slot < SERVICES_MAX; slot++) {
		if (!shield_service(shield, slot, &service))
			continue;
		services++;
		observed += service.observe;
	}
	if (!n)
		puts("loaded, but attached to nothing");
	for (size_t i = 0; i < n && i < CONFIG_INTERFACES; i++)
		good = link_print(&links[i], observed && observed == services) && good;
	misspoken_print(shield);
	printf("services: %zu", services);
	if (observed)
		printf(", %zu observed only: nothing is dropped", observed);
	printf("\nconfiguration: generation %u\n", shield_generation(shield));
	if (pid > 0)
		printf("daemon: process %d\n", (int)pid);
	else
		puts("daemon: not running; what is loaded works without it");
	return good ? 0 : EXIT_UNPROTECTED;
}

int cmd_status(const struct call *call)
{
	struct shield *shield;
	int status = call_open(call, &shield);

	if (status)
		return status;
	status = status_print(shield, call_value(call, OPTION_PIN));
	shield_close(shield);
	return status;
}
