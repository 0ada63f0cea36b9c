/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd_run_world.h - all that `run` asks, as the test's own: each writes a line into one
 * log, and fails where it is told to. After cmocka.h. Included once by a program.
 */
#ifndef CMD_RUN_WORLD_H
#define CMD_RUN_WORLD_H

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include <systemd/sd-daemon.h>

#include "cache/cache_refresh.h"
#include "cmd/cmd_support.h"
#include "cmd/commands.h"
#include "daemon/incident_monitor.h"
#include "daemon/attach_monitor.h"
#include "daemon/run_check.h"
#include "daemon/in_force.h"
#include "daemon/pidfile.h"
#include "daemon/priv.h"
#include "daemon/serve.h"
#include "daemon/witness.h"
#include "lib/link_events.h"
#include "lib/loop.h"
#include "lag/lag_file.h"
#include "samples/samples.h"
#include "shield/shield.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

const struct command commands[] = {
	{
		.name = "run",
		.run = cmd_run,
		.options = OPTION_BIT(CONFIG) | OPTION_BIT(SET) | OPTION_BIT(INTERFACE) |
			   OPTION_BIT(MODE) | OPTION_BIT(OBSERVE) | OPTION_BIT(PIN) |
			   OPTION_BIT(TAKE_OVER),
		.operands = "",
	},
	{ .name = NULL },
};

/* --- the world -----------------------------------------------------------------------
 */

#define CONFIGS 4

/* What configuration is read, one after the other. */
struct file {
	int err;
	const char *interfaces[3];
	size_t services;
	bool observe, detach, said;
	enum attach_mode mode;
};

static struct world {
	char log[16384];
	const char *fails; /* what fails, by its name in the log */
	int err; /* with this */
	struct file files[CONFIGS];
	size_t reads;
	const char *veth; /* the interface that is one */
	__u32 generation; /* of what is in force */
	__u32 applied; /* of what the daemon has applied last */
	const char
		*raced; /* at which `reload -c` applies another, by its name in the log */
	int locked; /* calls of shield_lock() without shield_unlock() */
	enum pins_life life;
	bool misspoken;
	const char *days; /* what happens: see loop_run() */
	int protected_count; /* how many interfaces are protected */
} world, *const w = &world;

static void (*ready[4])(void *), (*tick)(void *), (*settled)(void *);
static void *of_ready[4], *of_tick, *of_settled;
static int ready_fds[4];
static size_t ready_count;

static void note(const char *format, ...)
{
	size_t n = strlen(w->log);
	va_list args;

	va_start(args, format);
	vsnprintf(w->log + n, sizeof(w->log) - n, format, args);
	va_end(args);
}

/* A line, and what comes of it. */
static int does(const char *name)
{
	note("%s\n", name);
	w->generation += w->raced && !strcmp(w->raced, name);
	return w->fails && !strcmp(w->fails, name) ? w->err : 0;
}

static const char *text(const char *pin)
{
	return pin ? pin : "default";
}

/* A configuration in few words. */
static void note_config(const struct config *c)
{
	note("[%zu services", c->service_count);
	for (size_t i = 0; i < c->service_count; i++)
		note(" %d%d", c->services[i].service.validation,
		     c->services[i].service.cache);
	note(",");
	for (size_t i = 0; i < c->interface_count; i++)
		note(" %s", c->interfaces[i]);
	note(", mode %d%s]", c->mode, c->observe ? ", observe" : "");
}

static int does_config(const char *name, const struct config *c)
{
	note("%s ", name);
	note_config(c);
	note("\n");
	return w->fails && !strcmp(w->fails, name) ? w->err : 0;
}

#define SHIELD	((struct shield *)&w->files[0])
#define SERVE	((struct serve *)&w->files[1])
#define LIVE	((struct samples_view *)&w->files[2])
#define MONITOR ((struct incident_monitor *)&w->files[3])
#define REFRESH ((struct cache_refresh *)&w->log[0])
#define CACHE	((struct stats_cache *)&w->log[1])

/* --- the configuration ---------------------------------------------------------------
 */

int call_config(const struct call *call, struct config *ret)
{
	const struct file *f = &w->files[w->reads++];

	(void)call;
	if (f->err)
		return f->err;
	config_empty(ret);
	ret->observe = f->observe;
	ret->detach_on_exit = f->detach;
	ret->mode = f->mode;
	for (size_t i = 0; i < COUNT(f->interfaces) && f->interfaces[i]; i++)
		strcpy(ret->interfaces[ret->interface_count++], f->interfaces[i]);
	for (size_t i = 0; i < f->services; i++) {
		struct config_service *s = &ret->services[ret->service_count++];

		config_service_defaults(FAMILY_QUAKE3, &s->service);
		s->service.family = FAMILY_QUAKE3;
		s->validation_given = s->cache_given = f->said;
		s->ports[0] = (__u16)(27960 + i);
		/* The first server can be asked. */
		s->port_count = i ? 2 : 1;
	}
	return 0;
}

int in_force_write(const char *pin_dir, const struct config *config)
{
	assert_int_equal(w->locked, 1);
	note("of %s: ", text(pin_dir));
	return does_config("in_force", config);
}

int in_force_correct(const char *pin_dir, const struct config *config)
{
	assert_int_equal(w->locked, 1);
	note("of %s: ", text(pin_dir));
	return does_config("in_force, corrected", config);
}

/* The next one of the files. */
int in_force_read(const char *pin_dir, enum in_force which, struct config *ret)
{
	assert_int_equal(w->locked, 1);
	note("of %s: %s\n", text(pin_dir), which == IN_FORCE ? "current" : "previous");
	return call_config(NULL, ret);
}

void in_force_remove(const char *pin_dir)
{
	note("of %s: nothing in force\n", text(pin_dir));
}

/* --- the shield ------------------------------------------------------------------------
 */

int shield_mount(void)
{
	return does("mount");
}

int shield_serve(const char *pin_dir, int *ret)
{
	(void)pin_dir;
	*ret = -1;
	return 0;
}

void shield_serve_end(const char *pin_dir, int lock)
{
	(void)pin_dir;
	assert_int_equal(lock, -1);
}

enum pins_life shield_pins_life(void)
{
	return w->life;
}

bool shield_veth_native(const char *interface, enum attach_mode mode)
{
	return w->veth && mode != MODE_SKB && !strcmp(interface, w->veth);
}

int shield_load(const char *pin_dir, const struct config *config, struct shield **ret)
{
	int err;

	note("load %s ", text(pin_dir));
	err = does_config("load", config);
	if (!err)
		*ret = SHIELD;
	w->applied = ++w->generation;
	return err;
}

__u32 shield_applied(const struct shield *shield)
{
	assert_ptr_equal(shield, SHIELD);
	return w->applied;
}

int shield_load_apply(struct shield *shield, const struct config *config)
{
	assert_ptr_equal(shield, SHIELD);
	return does_config("load_apply", config);
}

void shield_close(struct shield *shield)
{
	if (shield)
		does("close");
}

void shield_abandon(struct shield *shield)
{
	assert_ptr_equal(shield, SHIELD);
	does("abandon");
}

void shield_retire(struct shield *shield)
{
	assert_ptr_equal(shield, SHIELD);
	does("retire");
}

int shield_detach(const char *pin_dir, size_t *ret_count)
{
	note("of %s: ", text(pin_dir));
	*ret_count = 2;
	return does("detach");
}

int shield_lock(struct shield *shield)
{
	assert_ptr_equal(shield, SHIELD);
	if (w->fails && !strcmp(w->fails, "lock"))
		return w->err;
	w->locked++;
	return 0;
}

void shield_unlock(struct shield *shield)
{
	assert_ptr_equal(shield, SHIELD);
	w->locked--;
}

int shield_apply(struct shield *shield, const struct config *config)
{
	int err;

	assert_ptr_equal(shield, SHIELD);
	assert_int_equal(w->locked, 1);
	err = does_config("apply", config);
	w->generation += !err;
	return err;
}

__u32 shield_generation(const struct shield *shield)
{
	assert_ptr_equal(shield, SHIELD);
	return w->generation;
}

void shield_here(struct shield *shield)
{
	(void)shield;
}

void shield_maintain(struct shield *shield)
{
	assert_ptr_equal(shield, SHIELD);
	does("maintain");
}

bool shield_service(const struct shield *shield, __u32 slot, struct service *ret)
{
	assert_ptr_equal(shield, SHIELD);
	if (slot != 3 && slot != SERVICES_MAX - 1)
		return false;
	memset(ret, 0, sizeof(*ret));
	ret->family = slot == 3 ? FAMILY_QUAKE2 : FAMILY_QUAKE3;
	strcpy(ret->name, slot == 3 ? "odd" : "even");
	return true;
}

__u64 shield_protocol_mismatch(const struct shield *shield, __u32 slot,
			       __u32 *ret_families)
{
	assert_ptr_equal(shield, SHIELD);
	*ret_families = slot == 3 && w->misspoken ? 1 << FAMILY_QUAKE3 : 0;
	return *ret_families != 0;
}

#include "cmd/cmd_run_watch.h"

int serve_start(struct shield *shield, const struct config *config, const char *pin,
		struct serve **ret)
{
	int err;

	assert_ptr_equal(shield, SHIELD);
	note("of %s: ", text(pin));
	err = does_config("serve_start", config);
	if (!err)
		*ret = SERVE;
	return err;
}

void serve_players(struct serve *serve, const struct samples_view *live)
{
	assert_ptr_equal(serve, SERVE);
	does(live == LIVE ? "serve_players" : "serve no players");
}

void serve_attacks(struct serve *serve, const struct incident_monitor *monitor)
{
	assert_ptr_equal(serve, SERVE);
	does(monitor == MONITOR ? "serve_attacks" : monitor ? "?" : "serve no attacks");
}

struct stats_cache *serve_cache(struct serve *serve)
{
	assert_ptr_equal(serve, SERVE);
	return CACHE;
}

void serve_reload(struct serve *serve, const struct config *config)
{
	assert_ptr_equal(serve, SERVE);
	does_config("serve_reload", config);
}

void serve_stop(struct serve *serve)
{
	if (serve)
		does("serve_stop");
}

int samples_open(struct shield *shield, const struct config *config, const char *pin,
		 struct samples_view **ret)
{
	int err;

	assert_ptr_equal(shield, SHIELD);
	note("of %s: ", text(pin));
	err = does_config("samples_open", config);
	if (!err)
		*ret = LIVE;
	return err;
}

void samples_close(struct samples_view *live)
{
	if (live)
		does("samples_close");
}

int samples_reload(struct samples_view *live, const struct config *config)
{
	assert_ptr_equal(live, LIVE);
	return does_config("samples_reload", config);
}

void samples_rotate(struct samples_view *live)
{
	assert_ptr_equal(live, LIVE);
	does("samples_rotate");
}

int incident_monitor_start(struct shield *shield, struct stats_cache *cache,
			   struct samples_view *live, const struct config *config,
			   const char *pin, struct incident_monitor **ret)
{
	int err;

	assert_ptr_equal(shield, SHIELD);
	assert_ptr_equal(cache, CACHE);
	assert_ptr_equal(live, LIVE);
	note("of %s: ", text(pin));
	err = does_config("incident_monitor_start", config);
	if (!err)
		*ret = MONITOR;
	return err;
}

void incident_monitor_reload(struct incident_monitor *monitor,
			     const struct config *config)
{
	assert_ptr_equal(monitor, MONITOR);
	does_config("incident_monitor_reload", config);
}

void incident_monitor_stop(struct incident_monitor *monitor)
{
	if (monitor)
		does("incident_monitor_stop");
}

int cache_refresh_start(struct shield *shield, const struct config *config,
			const char *pin, struct cache_refresh **ret)
{
	int err;

	assert_ptr_equal(shield, SHIELD);
	note("of %s: ", text(pin));
	err = does_config("cache_refresh_start", config);
	if (!err)
		*ret = REFRESH;
	return err;
}

void cache_refresh_reload(struct cache_refresh *refresh, const struct config *config)
{
	assert_ptr_equal(refresh, REFRESH);
	does_config("cache_refresh_reload", config);
}

void cache_refresh_stop(struct cache_refresh *refresh)
{
	if (refresh)
		does("cache_refresh_stop");
}

int priv_drop(void)
{
	return does("priv_drop");
}

int priv_confine(void)
{
	return does("priv_confine");
}

int pidfile_claim(const char *pin_dir, const struct daemon_facts *facts)
{
	(void)facts;
	note("of %s: ", text(pin_dir));
	return does("claim");
}

void pidfile_release(const char *pin_dir)
{
	note("of %s: ", text(pin_dir));
	does("release");
}

/* --- the loop ------------------------------------------------------------------------
 */

static int events[2];

int link_events_open(void)
{
	int err = does("link_events_open");

	return err ? err : pipe(events) ? -errno : events[0];
}

void link_events_drain(int fd)
{
	assert_int_equal(fd, events[0]);
	does("drain");
}

bool loop_add(int fd, void (*call)(void *context), void *context)
{
	ready[ready_count] = call;
	of_ready[ready_count] = context;
	ready_fds[ready_count++] = fd;
	return !does(ready_count == 1 ? "loop_add signals" : "loop_add events");
}

bool loop_every(int ms, void (*call)(void *context), void *context)
{
	tick = call;
	of_tick = context;
	note("every %d: ", ms);
	return !does("loop_every");
}

bool loop_once(int ms, void (*call)(void *context), void *context)
{
	settled = call;
	of_settled = context;
	note("once, in %d\n", ms);
	return true;
}

void loop_stop(void)
{
	does("loop_stop");
}

/* Each letter of w->days is what happens next. */
int loop_run(void)
{
	assert_int_equal(ready_fds[1], events[0]);
	for (const char *day = w->days; *day; day++) {
		static const struct {
			char day;
			int signal;
		} signals[] = { { 'h', SIGHUP }, { 'u', SIGUSR1 }, { '2', SIGUSR2 },
				{ 'i', SIGINT }, { 't', SIGTERM }, { 'q', 0 } };

		note("-- %c\n", *day);
		for (size_t i = 0; i < COUNT(signals); i++) {
			if (signals[i].day != *day)
				continue;
			if (signals[i].signal)
				kill(getpid(), signals[i].signal);
			ready[0](of_ready[0]);
		}
		if (*day == '.')
			tick(of_tick);
		else if (*day == 'e')
			ready[1](of_ready[1]);
		else if (*day == 's')
			settled(of_settled);
		else if (*day == 'v')
			w->veth = "eth1";
		else if (*day == 'g')
			w->veth = NULL;
		else if (*day == 'c') /* `reload -c` */
			w->generation++;
		else if (*day == 'w')
			w->fails = NULL;
		else if (*day == 'm')
			w->misspoken = true;
		else if (*day == 'n')
			w->misspoken = false;
	}
	return does("loop_run");
}

int sd_notify(int unset_environment, const char *state)
{
	assert_int_equal(unset_environment, 0);
	note("notify %s\n", state);
	return 0;
}

int sd_notifyf(int unset_environment, const char *format, ...)
{
	va_list args;
	size_t n;

	assert_int_equal(unset_environment, 0);
	note("notify ");
	n = strlen(w->log);
	va_start(args, format);
	vsnprintf(w->log + n, sizeof(w->log) - n, format, args);
	va_end(args);
	note("\n");
	return 0;
}

#endif /* CMD_RUN_WORLD_H */
