// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * cmd_run.c - the daemon: load, attach, pin, then wait for signals and look after it all.
 *
 * The shield itself lives in the kernel. This process may be killed, replaced or
 * restarted at any time; the next one takes over what is pinned.
 */
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <systemd/sd-daemon.h>

#include "cache/cache_refresh.h"
#include "cmd/commands.h"
#include "cmd/run_config.h"
#include "config/config.h"
#include "daemon/incident_monitor.h"
#include "daemon/attach_monitor.h"
#include "daemon/in_force.h"
#include "daemon/lag_host.h"
#include "daemon/pidfile.h"
#include "lag/lag_file.h"
#include "samples/samples.h"
#include "lib/link_events.h"
#include "lib/log.h"
#include "lib/loop.h"
#include "lib/names.h"
#include "daemon/priv.h"
#include "daemon/run_check.h"
#include "daemon/serve.h"
#include "daemon/witness.h"
#include "shield/shield.h"

#define LOOK_AFTER_MS 5000 /* how often the attachments are checked, without an event */
#define EVENT_MS      100 /* that changes of interfaces may take to settle */

struct daemon {
	struct run_config wants; /* the command line, and the file that it names */
	const char *pin;
	struct config *config;
	struct shield *shield;
	struct serve *serve; /* metrics, health and a page */
	struct samples_view *live; /* what the samples tell */
	struct incident_monitor *incidents; /* looks out for attacks */
	struct lag_host lag_host; /* of both, for the verdicts on players */
	struct cache_refresh *refresh; /* queries servers for the response cache */
	struct attach_monitor monitor; /* of what is attached */
	struct witness *witness; /* of what comes in where nothing is attached */
	struct run_check *run_check; /* of attached programs that do not run */
	enum pins_life pins_life;
	__u32 generation; /* that @config was applied with */
	int signals; /* signalfd */
	int events; /* of interfaces */
	__u32 mismatches[SERVICES_MAX]; /* as of shield_protocol_mismatch(), as said last
					 */
	bool report_again; /* after a reload: of what is still so */
	bool claimed; /* the pid file is ours */
	int lock; /* of shield_serve(), or -1 */
};

/* Do by @fresh, which is applied, all that the daemon does, in place of what was. */
static void take_config(struct daemon *d, struct config *fresh)
{
	attach_monitor_reload(&d->monitor, fresh);
	serve_reload(d->serve, fresh);
	incident_monitor_reload(d->incidents, fresh);
	cache_refresh_reload(d->refresh, fresh);
	witness_reload(d->witness, fresh);
	free(d->config);
	d->config = fresh;
	if (samples_reload(d->live, d->config))
		log_error("records go on to where they went");
	log_info("reloaded, %zu services%s", d->config->service_count,
		 d->config->observe ? ", observing only: nothing is dropped" : "");
}

/* Read the configuration that a reload puts in force: of the file, or the one before. */
static int read_next(struct daemon *d, bool undo, struct config *ret)
{
	return undo ? run_config_previous(&d->wants, d->config, ret)
		    : run_config_read(&d->wants, ret);
}

/*
 * Read into @fresh what a reload puts in force, apply it and write it. False, after a
 * message: what was in force stays.
 */
static bool apply_next(struct daemon *d, bool undo, struct config *fresh)
{
	bool applied;

	if (!fresh || shield_lock(d->shield))
		return false;
	applied = !read_next(d, undo, fresh) &&
		  !attach_monitor_precheck(&d->monitor, fresh) &&
		  !shield_apply(d->shield, fresh);
	if (applied) {
		d->generation = shield_generation(d->shield);
		/* `reload` waits for it, and to attach may take seconds. */
		in_force_write(d->pin, fresh);
	}
	shield_unlock(d->shield);
	return applied;
}

static void reload(struct daemon *d, bool undo)
{
	struct config *fresh = calloc(1, sizeof(*fresh));

	sd_notify(0, "RELOADING=1");
	if (apply_next(d, undo, fresh)) {
		take_config(d, fresh);
		d->report_again = true;
	} else {
		log_error("the old configuration stays in force");
		free(fresh);
	}
	sd_notify(0, "READY=1");
}

/* Log when a server begins and ceases to speak another protocol than its service says. */
static void look_at_protocol(struct daemon *d, __u32 slot)
{
	char speaks[FAMILIES_TEXT];
	struct service service;
	__u32 families, before = d->mismatches[slot];

	d->mismatches[slot] = 0;
	if (!shield_service(d->shield, slot, &service))
		return;
	shield_protocol_mismatch(d->shield, slot, &families);
	d->mismatches[slot] = families;
	families_format(families ? families : before, speaks);
	if (families && (families != before || d->report_again))
		log_error(
			"service '%s': its server speaks %s, not %s: moves of its "
			"players pass under a limit only, and its replies are judged as "
			"answers: correct its `protocol`",
			service.name, speaks,
			family_name((enum wire_family)service.family));
	else if (!families && before)
		log_info("service '%s': nothing says any more that its server speaks %s",
			 service.name, speaks);
}

static void look_at_protocols(struct daemon *d)
{
	for (__u32 slot = 0; slot < SERVICES_MAX; slot++)
		look_at_protocol(d, slot);
	d->report_again = false;
}

/*
 * Return what is in force: the daemon's own configuration, or what `reload -c` or --set
 * has applied since, in memory that the caller frees. NULL, after a message: not known.
 */
static struct config *in_force(struct daemon *d)
{
	struct config *ret;

	if (shield_generation(d->shield) == d->generation)
		return d->config;
	ret = calloc(1, sizeof(*ret));
	if (ret && !in_force_read(d->pin, IN_FORCE, ret))
		return ret;
	log_error("what `reload` has put in force is not known, so its `validation` and "
		  "`cache` stay as they are: reload it");
	free(ret);
	return NULL;
}

/*
 * Resolve and apply what is in force again. Called by resolve_again(), under the lock of
 * the shield.
 */
static void resolve_locked(struct daemon *d)
{
	bool before = d->wants.no_return_path;
	struct config *now = in_force(d);
	struct config_adjusted adjusted;

	if (!now) {
		d->wants.no_return_path = !before;
		return;
	}
	/* The daemon queries servers by its own. */
	config_resolve(d->config, !before, &adjusted);
	run_config_resolve(&d->wants, now, !before);
	if (shield_apply(d->shield, now)) {
		d->wants.no_return_path = before;
	} else {
		log_info("applied again: %s",
			 before ? "no interface is a veth in native mode any more"
				: "an interface is a veth in native mode now");
		if (now == d->config)
			d->generation = shield_generation(d->shield);
		in_force_correct(d->pin, now);
		cache_refresh_reload(d->refresh, d->config);
	}
	if (now != d->config)
		free(now);
}

/*
 * Resolve and apply what is in force again: another interface has come, or gone, under a
 * name that was waited for. As long as it is not applied it is tried again.
 */
static void resolve_again(struct daemon *d)
{
	if (shield_lock(d->shield))
		return;
	resolve_locked(d);
	shield_unlock(d->shield);
}

/*
 * Attach again what was removed, apply other defaults if a veth has come or gone, and
 * report to systemd. Called after each change of interfaces, and every LOOK_AFTER_MS.
 */
static void look_after(struct daemon *d)
{
	size_t ours = attach_monitor_repair(&d->monitor);

	if (run_config_no_return_path(d->config) != d->wants.no_return_path)
		resolve_again(d);
	sd_notifyf(0, "WATCHDOG=1\nSTATUS=%zu of %zu interfaces %s", ours,
		   d->monitor.count,
		   d->config->observe ? "observed: nothing is dropped" : "protected");
}

static void on_signal(void *context)
{
	struct daemon *d = context;
	struct signalfd_siginfo info;

	if (read(d->signals, &info, sizeof(info)) != sizeof(info))
		return;
	if (info.ssi_signo == SIGHUP)
		reload(d, false);
	else if (info.ssi_signo == SIGUSR2)
		reload(d, true);
	else if (info.ssi_signo == SIGUSR1)
		samples_rotate(d->live);
	else
		loop_stop();
}

/*
 * Do what the daemon does every LOOK_AFTER_MS. Its waits must be short, as the 20 ms of
 * list_spread() are: metrics and samples share the thread.
 */
static void on_tick(void *context)
{
	struct daemon *d = context;

	shield_maintain(d->shield);
	shield_here(d->shield);
	look_at_protocols(d);
	witness_look(d->witness);
	run_check_look(d->run_check);
	look_after(d);
}

static void on_settled(void *context)
{
	look_after(context);
}

/*
 * Wait a moment: events come in groups, and a host that makes many interfaces makes none
 * of ours.
 */
static void on_link_event(void *context)
{
	struct daemon *d = context;

	link_events_drain(d->events);
	loop_once(EVENT_MS, on_settled, d);
}

static int run(struct daemon *d)
{
	int err;

	if (!loop_add(d->signals, on_signal, d) ||
	    !loop_add(d->events, on_link_event, d) ||
	    !loop_every(LOOK_AFTER_MS, on_tick, d))
		return 1;
	look_after(d);
	witness_look(d->witness);
	sd_notify(0, "READY=1");
	log_info("ready");
	err = loop_run();
	if (err)
		log_error("cannot wait for events: %s", strerror(-err));
	return err != 0;
}

/*
 * Leave the shield attached, or take it down with on-exit = detach. Returns the exit
 * status. Parts of @d that it ends are NULL afterwards, for the caller ends the others.
 */
static int stop(struct daemon *d)
{
	char players[LAG_FILE_PATH_MAX];
	size_t count;

	sd_notify(0, "STOPPING=1");
	if (!d->config->detach_on_exit && d->pins_life == PINS_PROCESS) {
		log_warn(
			"stopping; the shield goes too, with the mount namespace that its "
			"pins are in");
		return 0;
	}
	if (!d->config->detach_on_exit) {
		log_info(
			"stopping; the shield stays up%s (on-exit = keep). `quakeshield detach` "
			"takes it down",
			d->pins_life == PINS_CONTAINER ? " as long as this container"
						       : "");
		return 0;
	}
	incident_monitor_stop(d->incidents);
	d->incidents = NULL;
	serve_attacks(d->serve, NULL);
	samples_close(d->live);
	d->live = NULL;
	/* It writes the client history, out of the shield's tables. */
	cache_refresh_stop(d->refresh);
	d->refresh = NULL;
	shield_close(d->shield);
	d->shield = NULL;
	if (shield_detach(d->pin, &count))
		return 1;
	lag_file_path(d->pin, players);
	lag_file_remove(players);
	in_force_remove(d->pin);
	log_info("stopped; the shield is down (on-exit = detach)");
	return 0;
}

/* Load and attach everything, or nothing after a message. */
static int start_shield(struct daemon *d)
{
	int err = attach_monitor_precheck(&d->monitor, d->config);

	d->pins_life = shield_pins_life();
	if (!err && d->pins_life == PINS_CONTAINER)
		log_warn(
			"the shield will not outlive this container: /sys/fs/bpf was mounted "
			"in it, and what is pinned there goes with it. Mount the machine's "
			"(`docker run -v /sys/fs/bpf:/sys/fs/bpf`)");
	if (!err && d->pins_life == PINS_PROCESS)
		log_warn(
			"the shield will not outlive this process: /sys/fs/bpf is not the "
			"machine's, but of a mount namespace that ends with it (`ip netns exec` "
			"makes such ones, `nsenter --net=` does not)");
	if (!err)
		err = shield_load(d->pin, d->config, &d->shield);
	if (err)
		return err;
	d->monitor.shield = d->shield;
	err = attach_monitor_start(&d->monitor, d->config);
	if (err)
		shield_abandon(d->shield);
	return err;
}

/* The rest, which goes without the privileges to load and attach. */
static int start_service(struct daemon *d)
{
	int err = 0;

	d->events = link_events_open();
	if (d->events < 0)
		err = d->events;
	/* Before privileges go: its port may need them. */
	if (!err)
		err = serve_start(d->shield, d->config, d->pin, &d->serve);
	if (!err)
		err = samples_open(d->shield, d->config, d->pin, &d->live);
	if (!err)
		err = incident_monitor_start(d->shield, serve_cache(d->serve), d->live,
					     d->config, d->pin, &d->incidents);
	if (!err)
		err = cache_refresh_start(d->shield, d->config, d->pin, &d->refresh);
	if (!err) {
		d->witness = witness_open(d->shield, d->config);
		d->run_check = run_check_open(d->shield, &d->monitor);
		err = d->witness && d->run_check ? 0 : -ENOMEM;
	}
	if (!err) {
		serve_players(d->serve, d->live);
		serve_attacks(d->serve, d->incidents);
		d->lag_host = (struct lag_host){ .cache = serve_cache(d->serve),
						 .monitor = d->incidents,
						 .shield = d->shield };
		samples_host(d->live, lag_host_totals, &d->lag_host);
		err = priv_drop();
	}
	if (!err)
		err = priv_confine();
	/* Last: a start that fails leaves what the daemon before it has put in force. */
	if (!err)
		err = shield_load_apply(d->shield, d->config);
	if (err) {
		attach_monitor_undo(&d->monitor);
		shield_abandon(d->shield);
	}
	return err;
}

static int claim(const struct daemon *d)
{
	const char *path = d->wants.path ? d->wants.path : CONFIG_PATH;
	struct daemon_facts facts = {
		.observe = d->wants.observe,
		.interfaces = d->wants.count > 0,
		.set = call_has(d->wants.call, OPTION_SET),
	};

	if (!realpath(path, facts.config))
		facts.config[0] = '\0';
	return pidfile_claim(d->pin, &facts);
}

/*
 * Write that the daemon's configuration is in force, unless another process has applied
 * one since start_shield(), and written that. Without the lock no configuration is said
 * to be in force, after a message: the shield works without the file.
 */
static void write_first(struct daemon *d)
{
	if (shield_lock(d->shield)) {
		if (shield_generation(d->shield) == d->generation)
			in_force_remove(d->pin);
		return;
	}
	if (shield_generation(d->shield) == d->generation)
		in_force_write(d->pin, d->config);
	shield_unlock(d->shield);
}

static int start(struct daemon *d)
{
	int err = run_config_read(&d->wants, d->config);

	if (!err)
		err = shield_mount();
	if (!err)
		err = claim(d);
	if (err)
		return err;
	d->claimed = true;
	err = shield_serve(d->pin, &d->lock);
	if (err)
		return err;
	d->monitor.pin = d->pin;
	d->monitor.take_over = d->wants.take_over;
	/* An interface that is named at the prompt exists, or is misspelt. */
	d->monitor.wait = !d->wants.count;
	err = start_shield(d);
	if (!err)
		err = start_service(d);
	if (err)
		return err;
	d->generation = shield_applied(d->shield);
	/* Last: a start that fails leaves what the daemon before it has protected. */
	attach_monitor_let_go(&d->monitor);
	shield_retire(d->shield);
	write_first(d);
	return 0;
}

static int take_signals(void)
{
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGHUP);
	sigaddset(&mask, SIGUSR1);
	sigaddset(&mask, SIGUSR2);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	return signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
}

/*
 * Snapshots of counters are large and mostly zeros. A page of them that nothing is
 * written to takes no memory if allocations of this size are mapped anew each time, and
 * if the kernel does not give out huge pages.
 */
static void spare_memory(void)
{
	mallopt(M_MMAP_THRESHOLD, 512 * 1024);
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
}

int cmd_run(const struct call *call)
{
	struct daemon d = { .events = -1, .lock = -1 };
	int err, status = EXIT_REST;

	setvbuf(stderr, NULL, _IOLBF, 0);
	/*
	 * The caller may have none; other users must not write to the files of this
	 * process.
	 */
	umask(umask(0777) | 022);
	log_verbose();
	spare_memory();
	if (run_config_options(call, &d.wants))
		return EXIT_USAGE;
	d.pin = d.wants.pin;
	d.config = calloc(1, sizeof(*d.config));
	if (!d.config)
		return EXIT_REST;
	d.signals = take_signals();
	err = d.signals >= 0 ? start(&d) : -errno;
	if (err) {
		status = exit_status(err);
	} else {
		status = run(&d);
		status |= stop(&d);
	}

	witness_close(d.witness);
	run_check_close(d.run_check);
	incident_monitor_stop(d.incidents);
	serve_stop(d.serve);
	cache_refresh_stop(d.refresh);
	samples_close(d.live);
	shield_close(d.shield);
	free(d.config);
	shield_serve_end(d.pin, d.lock);
	/* Last: `detach` waits for it, and what is written after that stays behind it. */
	if (d.claimed)
		pidfile_release(d.pin);
	return status;
}
