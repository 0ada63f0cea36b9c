// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_cmd_run_life.c - `run` from its claim to its end: what is asked of whom, in which
 * order, with what, and what is undone where it fails. All that it asks are this file's,
 * each writes a line into one log, and whole logs are compared.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cmd/cmd_run_world.h"

/* --- tests -----------------------------------------------------------------------------
 */

static int begin(void **state)
{
	(void)state;
	memset(w, 0, sizeof(*w));
	w->files[0] = (struct file){ .interfaces = { "eth1", "eth2" }, .services = 1 };
	w->protected_count = 1;
	w->days = "";
	return 0;
}

static int live(const char *words)
{
	w->reads = ready_count = 0;
	w->log[0] = '\0';
	return say(words);
}

/* That status, exactly that log and those messages. */
static void lives(const char *words, int status, const char *log, const char *err)
{
	int was = live(words);

	if (was != status || strcmp(w->log, log) != 0 || strcmp(said_err, err) != 0)
		fail_msg("'%s': %d\n%s---\n%s", words, was, w->log, said_err);
	assert_string_equal(said_out, "");
}

#define ME "quakeshield: "
#define C1 "[1 services 11, eth1 eth2, mode 0]"
#define BEGINS \
	"mount\nof default: claim\nof default, waits: attach_monitor_precheck " C1 "\n"
#define ATTACHES BEGINS "load default load " C1 "\nattach_monitor_start " C1 "\n"
#define LAST	 "attach_monitor_let_go\nretire\n"
#define STARTED	 LAST "of default: in_force " C1 "\n"
#define CONFINED                                                 \
	ATTACHES "link_events_open\nof default: serve_start " C1 \
		 "\nof default: samples_open " C1                \
		 "\nof default: incident_monitor_start " C1      \
		 "\nof default: cache_refresh_start " C1         \
		 "\nserve_players\nserve_attacks\npriv_drop\npriv_confine\n"
#define STARTS CONFINED "load_apply " C1 "\n"
#define LOOKS \
	"attach_monitor_repair\nnotify WATCHDOG=1\nSTATUS=1 of 2 interfaces protected\n"
#define RUNS                                                                        \
	STARTS STARTED                                                              \
		"loop_add signals\nloop_add events\nevery 5000: loop_every\n" LOOKS \
		"notify READY=1\n"
#define STOPS "notify STOPPING=1\n"
#define LETS  "of default: release\n"
#define CLOSES \
	"incident_monitor_stop\nserve_stop\ncache_refresh_stop\nsamples_close\nclose\n"
#define KEPT                                                                                \
	ME "stopping; the shield stays up (on-exit = keep). `quakeshield detach` takes it " \
	   "down\n"

static void a_short_life(void **state)
{
	(void)state;
	lives("run", 0, RUNS "loop_run\n" STOPS CLOSES LETS, ME "ready\n" KEPT);
}

/* What the shield was loaded with, and who is told that it is another one's. */
static void what_is_said_goes_everywhere(void **state)
{
#define C2 "[2 services 11 10, eth9 eth8, mode 2, observe]"
#define RUNS2                                                                                  \
	"mount\nof /x: claim\nof /x, takes over: attach_monitor_precheck " C2                  \
	"\nload /x load " C2 "\nattach_monitor_start " C2                                      \
	"\nlink_events_open\nof /x: serve_start " C2 "\nof /x: samples_open " C2               \
	"\nof /x: incident_monitor_start " C2 "\nof /x: cache_refresh_start " C2               \
	"\nserve_players\nserve_attacks\npriv_drop\npriv_confine\nload_apply " C2              \
	"\n" LAST "of /x: in_force " C2                                                        \
	"\nloop_add signals\nloop_add events\nevery 5000: loop_every\nattach_monitor_repair\n" \
	"notify WATCHDOG=1\nSTATUS=2 of 2 interfaces observed: nothing is dropped\n"           \
	"notify READY=1\n"
	(void)state;
	w->files[0].services = 2;
	w->protected_count = 2;
	lives("run --pin /x -i eth9 -i eth8 --mode skb --observe --take-over", 0,
	      RUNS2 "loop_run\n" STOPS CLOSES "of /x: release\n",
	      ME "cache = off for 1 service: the server cannot be queried: that takes "
		 "one port and at most one address, of IPv4\n" ME "ready\n" KEPT);
}

/* Wherever it fails, what was begun is undone, and nothing behind it is. */
static void what_fails_is_undone(void **state)
{
	static const struct {
		const char *what, *log;
	} rows[] = {
		{ "mount", "mount\n" },
		{ "claim", "mount\nof default: claim\n" },
		{ "attach_monitor_precheck", BEGINS LETS },
		{ "load", BEGINS "load default load " C1 "\n" LETS },
		{ "attach_monitor_start", BEGINS
		  "load default load " C1 "\nattach_monitor_start " C1 "\nabandon\n"
		  "close\n" LETS },
		{ "link_events_open",
		  ATTACHES "link_events_open\nattach_monitor_undo\nabandon\n"
			   "close\n" LETS },
		{ "serve_start", ATTACHES "link_events_open\nof default: serve_start " C1
					  "\nattach_monitor_undo\nabandon\n"
					  "close\n" LETS },
		{ "samples_open",
		  ATTACHES "link_events_open\nof default: serve_start " C1
			   "\nof default: samples_open " C1
			   "\nattach_monitor_undo\nabandon\nserve_stop\nclose\n" LETS },
		{ "incident_monitor_start", ATTACHES
		  "link_events_open\nof default: serve_start " C1
		  "\nof default: samples_open " C1
		  "\nof default: incident_monitor_start " C1
		  "\nattach_monitor_undo\nabandon\nserve_stop\nsamples_close\nclose\n" LETS },
		{ "cache_refresh_start", ATTACHES
		  "link_events_open\nof default: serve_start " C1
		  "\nof default: samples_open " C1
		  "\nof default: incident_monitor_start " C1
		  "\nof default: cache_refresh_start " C1
		  "\nattach_monitor_undo\nabandon\nincident_monitor_stop\nserve_stop\nsamples_close\nclose\n" LETS },
		{ "priv_drop", ATTACHES "link_events_open\nof default: serve_start " C1
					"\nof default: samples_open " C1
					"\nof default: incident_monitor_start " C1
					"\nof default: cache_refresh_start " C1
					"\nserve_players\nserve_attacks\npriv_drop\n"
					"attach_monitor_undo\nabandon\n" CLOSES LETS },
		{ "priv_confine", CONFINED "attach_monitor_undo\nabandon\n" CLOSES LETS },
		{ "load_apply", STARTS "attach_monitor_undo\nabandon\n" CLOSES LETS },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		w->fails = rows[i].what;
		w->err = -EIO;
		lives("run", EXIT_REST, rows[i].log, "");
		w->err = -EPERM;
		lives("run", EXIT_DENIED, rows[i].log, "");
	}
}

/* Nothing to wait with, or waiting fails: a status, and the shield stays. */
static void a_loop_that_fails_is_a_status(void **state)
{
	static const struct {
		const char *what, *log;
	} rows[] = {
		{ "loop_add signals", "loop_add signals\n" },
		{ "loop_add events", "loop_add signals\nloop_add events\n" },
		{ "loop_every",
		  "loop_add signals\nloop_add events\nevery 5000: loop_every\n" },
	};

	(void)state;
	w->err = -EIO;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char log[4096];

		w->fails = rows[i].what;
		snprintf(log, sizeof(log), STARTS STARTED "%s" STOPS CLOSES LETS,
			 rows[i].log);
		lives("run", EXIT_REST, log, KEPT);
	}
	w->fails = "loop_run";
	lives("run", EXIT_REST, RUNS "loop_run\n" STOPS CLOSES LETS,
	      ME "ready\n" ME "cannot wait for events: Input/output error\n" KEPT);
}

static void signals_do_what_they_do(void **state)
{
	(void)state;
	w->days = "uitq";
	lives("run", 0,
	      RUNS "-- u\nsamples_rotate\n-- i\nloop_stop\n-- t\nloop_stop\n-- q\n"
		   "loop_run\n" STOPS CLOSES LETS,
	      ME "ready\n" KEPT);
}

/* With the next configuration, or none of it. */
static void reloads_are_whole(void **state)
{
#define C3 "[2 services 11 10, eth5, mode 1, observe]"
#define RELOADS                                                                  \
	"notify RELOADING=1\nof default, waits: attach_monitor_precheck " C3     \
	"\napply " C3 "\nof default: in_force " C3 "\nattach_monitor_reload " C3 \
	"\nserve_reload " C3 "\nincident_monitor_reload " C3                     \
	"\ncache_refresh_reload " C3 "\nsamples_reload " C3 "\nnotify READY=1\n"
#define UNASKED                                                                       \
	ME "cache = off for 1 service: the server cannot be queried: that takes one " \
	   "port and at most one address, of IPv4\n"
	(void)state;
	w->files[1] = (struct file){ .interfaces = { "eth5" },
				     .services = 2,
				     .observe = true,
				     .mode = MODE_NATIVE };
	w->days = "h.";
	lives("run", 0,
	      RUNS
	      "-- h\n" RELOADS
	      "-- .\nmaintain\nattach_monitor_repair\nnotify WATCHDOG=1\nSTATUS=1 of 1 interfaces "
	      "observed: nothing is dropped\nloop_run\n" STOPS CLOSES LETS,
	      ME "ready\n" UNASKED ME
		 "reloaded, 2 services, observing only: nothing is dropped\n" KEPT);
	w->fails = "samples_reload";
	w->err = -EIO;
	w->days = "h";
	lives("run", 0, RUNS "-- h\n" RELOADS "loop_run\n" STOPS CLOSES LETS,
	      ME "ready\n" UNASKED ME "records go on to where they went\n" ME
		 "reloaded, 2 services, observing only: nothing is dropped\n" KEPT);
}

#define RELOADS2                                                                                   \
	"notify RELOADING=1\nof default: previous\nof default, waits: attach_monitor_precheck " C3 \
	"\napply " C3 "\nof default: in_force " C3 "\nattach_monitor_reload " C3                   \
	"\nserve_reload " C3 "\nincident_monitor_reload " C3                                       \
	"\ncache_refresh_reload " C3 "\nsamples_reload " C3 "\nnotify READY=1\n"

/* The previous configuration is taken as a new one is; without one nothing changes. */
static void what_was_before_comes_back(void **state)
{
	(void)state;
	w->files[1] = (struct file){ .interfaces = { "eth5" },
				     .services = 2,
				     .observe = true,
				     .mode = MODE_NATIVE };
	w->days = "2";
	lives("run", 0, RUNS "-- 2\n" RELOADS2 "loop_run\n" STOPS CLOSES LETS,
	      ME "ready\n" UNASKED ME
		 "reloaded, 2 services, observing only: nothing is dropped\n" KEPT);
	/* One without interfaces takes the shield off none. */
	w->files[1] = (struct file){ .services = 1 };
	live("run");
	assert_non_null(strstr(w->log, "attach_monitor_reload " C1));
	w->files[1].err = -ENOENT;
	lives("run", 0,
	      RUNS "-- 2\nnotify RELOADING=1\nof default: previous\nnotify READY=1\n"
		   "loop_run\n" STOPS CLOSES LETS,
	      ME "ready\n" ME "no configuration to go back to\n" ME
		 "the old configuration stays in force\n" KEPT);
}

#define STAYS ME "the old configuration stays in force\n"

/* The command line goes before the previous configuration, too. */
static void what_was_before_gives_way_to_the_command_line(void **state)
{
	(void)state;
	w->files[0].services = 2;
	w->files[1] = (struct file){ .interfaces = { "eth5" }, .services = 2 };
	w->protected_count = 2;
	w->days = "2";
	lives("run --pin /x -i eth9 -i eth8 --mode skb --observe --take-over", 0,
	      RUNS2 "-- 2\nnotify RELOADING=1\nof /x: previous\n"
		    "of /x, takes over: attach_monitor_precheck " C2 "\napply " C2
		    "\nof /x: in_force " C2 "\nattach_monitor_reload " C2
		    "\nserve_reload " C2 "\nincident_monitor_reload " C2
		    "\ncache_refresh_reload " C2 "\nsamples_reload " C2
		    "\nnotify READY=1\nloop_run\n" STOPS CLOSES "of /x: release\n",
	      UNASKED ME
	      "ready\n" UNASKED ME
	      "reloaded, 2 services, observing only: nothing is dropped\n" KEPT);
}

static void a_bad_reload_changes_nothing(void **state)
{
	static const char check[] = "of default, waits: attach_monitor_precheck ";

	(void)state;
	w->days = "h.";
	w->files[1].err = -EINVAL;
	lives("run", 0,
	      RUNS "-- h\nnotify RELOADING=1\nnotify READY=1\n-- .\nmaintain\n" LOOKS
		   "loop_run\n" STOPS CLOSES LETS,
	      ME "ready\n" STAYS KEPT);
	w->files[1] = (struct file){ .services = 1 };
	lives("run", 0,
	      RUNS "-- h\nnotify RELOADING=1\nnotify READY=1\n-- .\nmaintain\n" LOOKS
		   "loop_run\n" STOPS CLOSES LETS,
	      ME "ready\n" ME "no interface: name one with -i or in the "
		 "configuration\n" STAYS KEPT);
	w->files[1] = (struct file){ .interfaces = { "eth7" }, .services = 1 };
	w->fails = "apply";
	w->err = -ENOSPC;
	{
		char log[4096];

		snprintf(log, sizeof(log),
			 RUNS
			 "-- h\nnotify RELOADING=1\n%s[1 services 11, eth7, mode 0]\n"
			 "apply [1 services 11, eth7, mode 0]\nnotify READY=1\n"
			 "-- .\nmaintain\n" LOOKS "loop_run\n" STOPS CLOSES LETS,
			 check);
		lives("run", 0, log, ME "ready\n" STAYS KEPT);
	}
}

/* Said once of each service, again after a reload, and that it is over. */
static void a_server_of_another_family_is_said_once(void **state)
{
#define ODD                                                                     \
	ME "service 'odd': its server speaks quake3, not quake2: moves of its " \
	   "players pass under a limit only, and its replies are judged as "    \
	   "answers: correct its `protocol`\n"
#define RIGHT ME "service 'odd': nothing says any more that its server speaks quake3\n"
#define SAME                                                                     \
	"notify RELOADING=1\nof default, waits: attach_monitor_precheck " C1     \
	"\napply " C1 "\nof default: in_force " C1 "\nattach_monitor_reload " C1 \
	"\nserve_reload " C1 "\nincident_monitor_reload " C1                     \
	"\ncache_refresh_reload " C1 "\nsamples_reload " C1 "\nnotify READY=1\n"
#define TICK "-- .\nmaintain\n" LOOKS
	(void)state;
	w->files[1] = w->files[0];
	w->days = ".m..h.n..";
	lives("run", 0,
	      RUNS TICK "-- m\n" TICK TICK "-- h\n" SAME TICK "-- n\n" TICK TICK
			"loop_run\n" STOPS CLOSES LETS,
	      ME "ready\n" ODD ME "reloaded, 1 services\n" ODD RIGHT KEPT);
}

/* Events settle before it is looked; and what was no veth may be one now. */
static void another_interface_of_that_name(void **state)
{
#define MUTE "[1 services 00, eth1 eth2, mode 0]"
#define VETH_OF(services)                                                                \
	ME "off: validation for " services                                               \
	   ", cache for 1 service: an interface is a veth: "                             \
	   "its other end may not receive what is sent back; where it has GRO on or an " \
	   "XDP program, write `validation = under-load`, `cache = under-load`\n"
#define VETH  VETH_OF("1 service")
#define AGAIN ME "applied again: an interface is a veth in native mode now\n"
	(void)state;
	w->days = "esves.";
	lives("run", 0,
	      RUNS
	      "-- e\ndrain\nonce, in 100\n-- s\n" LOOKS
	      "-- v\n-- e\ndrain\nonce, in 100\n-- s\nattach_monitor_repair\napply " MUTE
	      "\nof default: in_force, corrected " MUTE "\ncache_refresh_reload " MUTE
	      "\nnotify WATCHDOG=1\nSTATUS=1 of 2 interfaces protected\n" TICK
	      "loop_run\n" STOPS CLOSES LETS,
	      ME "ready\n" VETH AGAIN KEPT);
	/* When the veth has gone, servers are asked for what is answered from then on. */
	w->days = "g..";
	live("run");
	assert_non_null(strstr(w->log, "attach_monitor_start " MUTE));
	assert_non_null(strstr(w->log,
			       "-- g\n-- .\nmaintain\nattach_monitor_repair\napply " C1
			       "\nof default: in_force, corrected " C1
			       "\ncache_refresh_reload " C1
			       "\nnotify WATCHDOG=1\nSTATUS=1 of 2 interfaces "
			       "protected\n" TICK "loop_run\n"));
	assert_non_null(strstr(said_err, ME "applied again: no interface is a veth in "
					    "native mode any more\n"));
	/* A veth hears all that is sent in generic mode, and what is said is said. */
	w->veth = "eth2";
	w->days = ".";
	w->files[0].mode = MODE_SKB;
	live("run");
	assert_null(strstr(w->log, "services 00"));
	assert_non_null(strstr(
		w->log, "attach_monitor_start [1 services 11, eth1 eth2, mode 2]"));
	w->files[0].mode = MODE_AUTO;
	w->files[0].said = true;
	live("run");
	assert_non_null(strstr(
		w->log, "attach_monitor_start [1 services 11, eth1 eth2, mode 0]"));
	w->files[0].said = false;
	live("run");
	assert_non_null(strstr(w->log, "attach_monitor_start " MUTE));
	assert_null(strstr(w->log, "\napply"));
}

/* It is not in force, so the answers are asked for as before, and it is tried again. */
static void what_could_not_be_settled_is_tried_again(void **state)
{
#define TRIES "-- .\nmaintain\nattach_monitor_repair\napply " MUTE "\n"
#define GOES  "notify WATCHDOG=1\nSTATUS=1 of 2 interfaces protected\n"
	(void)state;
	w->fails = "apply";
	w->err = -ENOMEM;
	w->days = "v..w..";
	lives("run", 0,
	      RUNS "-- v\n" TRIES GOES TRIES GOES "-- w\n" TRIES
		   "of default: in_force, corrected " MUTE "\ncache_refresh_reload " MUTE
		   "\n" GOES TICK "loop_run\n" STOPS CLOSES LETS,
	      ME "ready\n" VETH VETH VETH AGAIN KEPT);
}

/* Nothing is read, applied or written while another process holds the lock. */
static void a_lock_of_another_process_is_kept(void **state)
{
	(void)state;
	w->fails = "lock";
	w->err = -EWOULDBLOCK;
	w->days = "v.h.";
	live("run");
	assert_non_null(strstr(w->log, "of default: nothing in force\n"));
	assert_null(strstr(w->log, "in_force"));
	assert_null(strstr(w->log, "\napply"));
	assert_null(strstr(w->log, "attach_monitor_reload"));
	assert_non_null(strstr(w->log, "notify READY=1\n"));
	assert_non_null(strstr(said_err, ME "the old configuration stays in force\n"));
}

/* The configuration of `reload -c` is resolved again, and not the daemon's own. */
static void a_configuration_of_reload_is_resolved_again(void **state)
{
#define OTHER "[2 services 00 00, eth1 eth2, mode 0, observe]"
	(void)state;
	w->files[1] = (struct file){ .interfaces = { "eth1", "eth2" },
				     .services = 2,
				     .observe = true };
	w->days = "cv..";
	lives("run", 0,
	      RUNS "-- c\n-- v\n-- .\nmaintain\nattach_monitor_repair\n"
		   "of default: current\napply " OTHER
		   "\nof default: in_force, corrected " OTHER
		   "\ncache_refresh_reload " MUTE "\n" GOES TICK
		   "loop_run\n" STOPS CLOSES LETS,
	      ME "ready\n" VETH_OF("2 services") UNASKED AGAIN KEPT);
	/* It stays as it is where it is not known; which is said once. */
	w->veth = NULL;
	w->files[1].err = -ENOENT;
	lives("run", 0,
	      RUNS "-- c\n-- v\n-- .\nmaintain\nattach_monitor_repair\n"
		   "of default: current\n" GOES TICK "loop_run\n" STOPS CLOSES LETS,
	      ME "ready\n" ME
		 "what `reload` has put in force is not known, so its `validation` and "
		 "`cache` stay as they are: reload it\n" KEPT);
}

/* And the one that it applies in the middle of the start. */
static void a_configuration_of_reload_stays_during_the_start(void **state)
{
	(void)state;
	w->raced = "priv_confine";
	lives("run", 0,
	      STARTS LAST
	      "loop_add signals\nloop_add events\nevery 5000: loop_every\n" LOOKS
	      "notify READY=1\nloop_run\n" STOPS CLOSES LETS,
	      ME "ready\n" KEPT);
}

/* Each time that a veth comes or goes. */
static void a_configuration_of_reload_is_resolved_each_time(void **state)
{
	(void)state;
	for (size_t i = 1; i < 3; i++)
		w->files[i] = (struct file){ .interfaces = { "eth1", "eth2" },
					     .services = 2,
					     .observe = true };
	w->days = "cv.g.";
	live("run");
	assert_non_null(strstr(w->log, "-- v\n-- .\nmaintain\nattach_monitor_repair\n"
				       "of default: current\napply " OTHER));
	assert_non_null(strstr(w->log, "-- g\n-- .\nmaintain\nattach_monitor_repair\n"
				       "of default: current\napply [2 services 11 10,"));
	assert_null(strstr(w->log, "apply " C1 "\nof default: in_force, corrected"));
}

static void who_takes_it_down_at_its_end(void **state)
{
	(void)state;
	w->files[0].detach = true;
	lives("run --pin /x -i eth1 -i eth2", 0,
	      "mount\nof /x: claim\nof /x: attach_monitor_precheck " C1
	      "\nload /x load " C1 "\nattach_monitor_start " C1
	      "\nlink_events_open\nof /x: serve_start " C1 "\nof /x: samples_open " C1
	      "\nof /x: incident_monitor_start " C1 "\nof /x: cache_refresh_start " C1
	      "\nserve_players\nserve_attacks\npriv_drop\npriv_confine\nload_apply " C1
	      "\n" LAST "of /x: in_force " C1
	      "\nloop_add signals\nloop_add events\nevery 5000: loop_every\n" LOOKS
	      "notify READY=1\nloop_run\n" STOPS
	      "incident_monitor_stop\nserve no attacks\nsamples_close\ncache_refresh_stop\nclose\n"
	      "of /x: detach\nremoved: figures of /x\nof /x: nothing in force\nserve_stop\nof /x: release\n",
	      ME "ready\n" ME "stopped; the shield is down (on-exit = detach)\n");
	w->fails = "detach";
	w->err = -EIO;
	lives("run", EXIT_REST,
	      RUNS
	      "loop_run\n" STOPS
	      "incident_monitor_stop\nserve no attacks\nsamples_close\ncache_refresh_stop\nclose\n"
	      "of default: detach\nserve_stop\n" LETS,
	      ME "ready\n");
}

/* Pins that go with their namespace are said at the beginning, and at the end. */
static void what_is_private_ends_with_it(void **state)
{
#define PRIVATE                                                                         \
	ME "warning: the shield will not outlive this process: /sys/fs/bpf is not the " \
	   "machine's, but of a mount namespace that ends with it (`ip netns exec` "    \
	   "makes such ones, `nsenter --net=` does not)\n"
	(void)state;
	w->life = PINS_PROCESS;
	lives("run", 0, RUNS "loop_run\n" STOPS CLOSES LETS,
	      PRIVATE ME "ready\n" ME
			 "warning: stopping; the shield goes too, with the mount "
			 "namespace that its pins are in\n");
	w->files[0].detach = true;
	live("run");
	assert_non_null(strstr(said_err, "on-exit = detach"));
	/* Of what fails before, that is not said. */
	w->fails = "attach_monitor_precheck";
	w->err = -EBUSY;
	lives("run", EXIT_REST, BEGINS LETS, "");
}

/* In a container without the machine's file system it is said what to mount. */
static void what_is_a_containers_ends_with_that(void **state)
{
	(void)state;
	w->life = PINS_CONTAINER;
	lives("run", 0, RUNS "loop_run\n" STOPS CLOSES LETS,
	      ME "warning: the shield will not outlive this container: /sys/fs/bpf was "
		 "mounted in it, and what is pinned there goes with it. Mount the "
		 "machine's (`docker run -v /sys/fs/bpf:/sys/fs/bpf`)\n" ME "ready\n" ME
		 "stopping; the shield stays up as long as this container (on-exit = "
		 "keep). `quakeshield detach` takes it down\n");
}

#undef TEST
#define TEST(name) cmocka_unit_test_setup(name, begin)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_short_life),
		TEST(what_is_said_goes_everywhere),
		TEST(what_fails_is_undone),
		TEST(a_loop_that_fails_is_a_status),
		TEST(signals_do_what_they_do),
		TEST(reloads_are_whole),
		TEST(what_was_before_comes_back),
		TEST(what_was_before_gives_way_to_the_command_line),
		TEST(a_bad_reload_changes_nothing),
		TEST(a_server_of_another_family_is_said_once),
		TEST(another_interface_of_that_name),
		TEST(what_could_not_be_settled_is_tried_again),
		TEST(a_lock_of_another_process_is_kept),
		TEST(a_configuration_of_reload_is_resolved_again),
		TEST(a_configuration_of_reload_is_resolved_each_time),
		TEST(a_configuration_of_reload_stays_during_the_start),
		TEST(who_takes_it_down_at_its_end),
		TEST(what_is_private_ends_with_it),
		TEST(what_is_a_containers_ends_with_that),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
