// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * cmd_trial.c - `reload --trial`: what another configuration would decide about the
 * traffic of now. Changes nothing, and needs no daemon's help.
 */
#include <errno.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <jansson.h>

#include "cmd/cmd_trial.h"
#include "cmd/commands.h"
#include "config/config.h"
#include "daemon/in_force.h"
#include "daemon/pidfile.h"
#include "lib/duration.h"
#include "lib/log.h"
#include "replay/beside.h"
#include "shield/shield.h"

#define FOR_NS	   (60ull * 1000000000) /* by default */
#define FOR_MOST_S 86400
#define NICENESS   10 /* game servers go first */

static volatile sig_atomic_t stopped;

static void stop(int signal)
{
	(void)signal;
	stopped = 1;
}

static void catch_signals(void)
{
	struct sigaction action = { .sa_handler = stop };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
}

/*
 * Give way to everything else, and stay on one processor: each has its own part of some
 * tables.
 */
static void stay_behind(void)
{
	cpu_set_t one;
	int cpu = sched_getcpu();

	CPU_ZERO(&one);
	CPU_SET(cpu < 0 ? 0 : cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
	setpriority(PRIO_PROCESS, 0, NICENESS);
}

/* The interfaces that @shield protects. 0 or -errno after a message. */
static int interfaces(const struct shield *shield, int ret[CONFIG_INTERFACES],
		      size_t *ret_count)
{
	struct shield_link links[CONFIG_INTERFACES];
	size_t n = shield_links(shield, links, CONFIG_INTERFACES);

	*ret_count = 0;
	for (size_t i = 0; i < n && i < CONFIG_INTERFACES; i++)
		if (links[i].attached)
			ret[(*ret_count)++] = (int)if_nametoindex(links[i].interface);
	if (*ret_count)
		return 0;
	log_error("reload --trial: no interface is protected, so there is no traffic to "
		  "judge: see `quakeshield status`");
	return -ENODEV;
}

/* Read both configurations as they are, or would be, in force. */
static int configs(const struct call *call, const struct shield *shield,
		   struct config *now, struct config *other)
{
	const char *pin = call_value(call, OPTION_PIN);
	struct daemon_facts daemon = { 0 };
	struct config_adjusted adjusted;
	char veth[IF_NAMESIZE];
	int err = config_load(call_value(call, OPTION_TRIAL), other);

	if (err)
		return err;
	err = in_force_read(pin, IN_FORCE, now);
	if (err) {
		log_error("reload --trial: what is in force is not known, so nothing can "
			  "be compared with it: reload once");
		return err;
	}
	pidfile_facts(pin, &daemon);
	config_resolve(other, shield_return_path_unavailable(shield, veth), &adjusted);
	if (daemon.pid <= 0)
		without_daemon(other);
	if (daemon.observe)
		other->observe = true;
	/* A command line goes before any file. */
	if (daemon.interfaces) {
		memcpy(other->interfaces, now->interfaces, sizeof(now->interfaces));
		other->interface_count = now->interface_count;
	}
	return 0;
}

static int tell(const struct call *call, const struct beside *b, const struct config *now,
		const struct config *other)
{
	const char *file = call_value(call, OPTION_TRIAL);
	json_t *all;

	if (call_has(call, OPTION_JSON)) {
		all = beside_to_json(b, now, other);
		json_object_set_new(all, "file", json_text(file));
		return print_json(all);
	}
	beside_print(b, file, now, other, stdout);
	return print_end("reload");
}

static int trial(const struct call *call, const struct shield *shield, __u64 for_ns,
		 struct config *now, struct config *other)
{
	int ifindexes[CONFIG_INTERFACES];
	struct beside *b = NULL;
	size_t count;
	int err = configs(call, shield, now, other), status;

	if (!err)
		err = interfaces(shield, ifindexes, &count);
	if (err)
		return exit_status(err);
	catch_signals();
	stay_behind();
	err = beside_run(shield, ifindexes, count, now, other, (int64_t)for_ns, &stopped,
			 &b);
	status = err ? exit_status(err) : tell(call, b, now, other);
	/* It was not tried for as long as was asked, and not by a signal's wish. */
	if (!status && b->ended)
		status = EXIT_REST;
	beside_free(b);
	return status;
}

/* False after a message: the options do not go together. */
static bool usage(const struct call *call, __u64 *ret_ns)
{
	const char *text = call_value(call, OPTION_FOR);

	*ret_ns = FOR_NS;
	if (call_has(call, OPTION_CONFIG) || call_has(call, OPTION_SET) ||
	    call_has(call, OPTION_UNDO) || call_has(call, OPTION_CONFIRM)) {
		log_error("reload: --trial goes with no -c, --set, --undo or --confirm: "
			  "it reloads nothing");
		return false;
	}
	if (!text ||
	    (duration_parse(text, ret_ns) && *ret_ns <= FOR_MOST_S * 1000000000ull))
		return true;
	log_error("reload: --for '%s' is not 1s to 24h", text);
	return false;
}

int reload_trial(const struct call *call)
{
	struct config *now = calloc(1, sizeof(*now)), *other = calloc(1, sizeof(*other));
	struct shield *shield = NULL;
	int status = EXIT_USAGE;
	__u64 for_ns;

	if (!now || !other) {
		log_error("reload: not enough memory");
		status = EXIT_REST;
	} else if (usage(call, &for_ns)) {
		status = call_open(call, &shield);
		if (!status)
			status = trial(call, shield, for_ns, now, other);
	}
	shield_close(shield);
	free(now);
	free(other);
	return status;
}
