// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * `load`, `detach` and `reload` by a daemon, whole: what a shield, a daemon and a clock,
 * which are this file's, are asked in which order, and all that is said.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <jansson.h>

#include "cmd/cmd_print.h"
#include "cmd/cmd_support.h"
#include "cmd/commands.h"
#include "cmd/fake_in_force.h"
#include "config/config.h"
#include "daemon/pidfile.h"
#include "incident/incident_store.h"
#include "lag/lag_file.h"
#include "shield/shield.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define DAEMON	 4711
#define ME	 "quakeshield: "

const struct command commands[] = {
	{
		.name = "load",
		.run = cmd_load,
		.options = OPTION_BIT(CONFIG) | OPTION_BIT(SET) | OPTION_BIT(PIN),
		.operands = "",
	},
	{
		.name = "reload",
		.run = cmd_reload,
		.options = OPTION_BIT(CONFIG) | OPTION_BIT(SET) | OPTION_BIT(PIN) |
			   OPTION_BIT(JSON) | OPTION_BIT(UNDO) | OPTION_BIT(CONFIRM),
		.operands = "",
	},
	{
		.name = "detach",
		.run = cmd_detach,
		.options = OPTION_BIT(PIN) | OPTION_BIT(PURGE),
		.operands = "",
	},
	{ .name = NULL },
};

/* --- a shield, a daemon and a clock ---------------------------------------------------
 */

static char path[] = "/tmp/test_cmd_pins.XXXXXX";
static char log_[2048];
static struct {
	struct daemon_facts daemon;
	bool served; /* by a daemon of another /run */
	int ends_after, flips_after; /* naps; -1: never */
	int kill_errno, open_status, detach_err, load_err, config_err, look_err;
	size_t links;
	__u32 generation;
	int naps;
	int looked;
} now;

static void note(const char *format, ...)
{
	size_t n = strlen(log_);
	va_list args;

	va_start(args, format);
	vsnprintf(log_ + n, sizeof(log_) - n, format, args);
	va_end(args);
}

static const char *text(const char *pin)
{
	return pin ? pin : "default";
}

int kill(pid_t pid, int sig)
{
	note("kill %d %d\n", (int)pid, sig);
	errno = now.kill_errno;
	return now.kill_errno ? -1 : 0;
}

int usleep(useconds_t us)
{
	assert_int_equal(us, 20000);
	now.naps++;
	return 0;
}

pid_t pidfile_pid(const char *pin_dir)
{
	if (!now.naps)
		note("pid of %s\n", text(pin_dir));
	return now.ends_after >= 0 && now.naps >= now.ends_after ? 0 : now.daemon.pid;
}

bool pidfile_facts(const char *pin_dir, struct daemon_facts *ret)
{
	note("facts of %s\n", text(pin_dir));
	*ret = now.daemon;
	return now.daemon.pid > 0;
}

int call_open(const struct call *call, struct shield **ret)
{
	note("open %s\n", text(call_value(call, OPTION_PIN)));
	*ret = NULL;
	return now.open_status;
}

int call_config(const struct call *call, struct config *ret)
{
	note("config %s\n", text(call_value(call, OPTION_CONFIG)));
	config_empty(ret);
	ret->service_count = 2;
	for (int i = 0; i < 2; i++) {
		config_service_defaults(FAMILY_QUAKE3, &ret->services[i].service);
		ret->services[i].service.family = FAMILY_QUAKE3;
		ret->services[i].service.cache = CACHE_ALWAYS;
		ret->services[i].cache_given = i;
	}
	return now.config_err;
}

void shield_close(struct shield *shield)
{
	(void)shield;
	note("close\n");
}

int shield_load(const char *pin_dir, const struct config *config, struct shield **ret)
{
	note("load %s, answers %d %d\n", pin_dir, config->services[0].service.cache,
	     config->services[1].service.cache);
	*ret = NULL;
	return now.load_err;
}

int shield_load_apply(struct shield *shield, const struct config *config)
{
	(void)shield;
	(void)config;
	note("load_apply\n");
	return 0;
}

int shield_check_served(const char *pin_dir)
{
	(void)pin_dir;
	return now.served ? -EBUSY : 0;
}

int shield_detach(const char *pin_dir, size_t *ret_count)
{
	note("detach %s\n", text(pin_dir));
	*ret_count = now.links;
	return now.detach_err;
}

void lag_file_path(const char *pin_dir, char ret[LAG_FILE_PATH_MAX])
{
	snprintf(ret, LAG_FILE_PATH_MAX, "figures of %s", text(pin_dir));
}

void lag_file_remove(const char *file)
{
	note("removed %s\n", file);
}

int shield_check_attach(const char *pin_dir, const char *interface, enum holder *ret)
{
	note("look at %s, %s\n", interface, text(pin_dir));
	*ret = HOLDER_NONE;
	return ++now.looked == 1 ? -ENODEV : now.look_err;
}

int shield_apply(struct shield *shield, const struct config *config)
{
	(void)shield;
	(void)config;
	note("apply\n");
	return 0;
}

/* Of the name that call_config() gives all. */
bool shield_service(const struct shield *shield, __u32 slot, struct service *ret)
{
	(void)shield;
	memset(ret, 0, sizeof(*ret));
	return slot == SERVICES_MAX - 1;
}

bool shield_fallback(const struct shield *shield)
{
	(void)shield;
	return false;
}

__u32 shield_generation(const struct shield *shield)
{
	(void)shield;
	return now.generation + (now.flips_after >= 0 && now.naps >= now.flips_after);
}

size_t shield_links(const struct shield *shield, struct shield_link *ret, size_t max)
{
	(void)shield;
	(void)ret;
	(void)max;
	return 0;
}

bool shield_return_path_unavailable(const struct shield *shield,
				    char ret_interface[IF_NAMESIZE])
{
	(void)shield;
	*ret_interface = 0;
	return false;
}

static int begin(void **state)
{
	static const char file[] = "interface = { eth0, eth1 }\n"
				   "service a {\nprotocol = quake3\nport = 1\n}\n";
	int fd;

	(void)state;
	strcpy(path + strlen(path) - 6, "XXXXXX");
	fd = mkstemp(path);
	if (fd < 0 || write(fd, file, strlen(file)) != (ssize_t)strlen(file))
		return -1;
	memset(&now, 0, sizeof(now));
	now.ends_after = now.flips_after = -1;
	now.generation = 8;
	return close(fd);
}

static int end(void **state)
{
	(void)state;
	return unlink(path);
}

/* That status, exactly that log, that on stdout and that on stderr. */
static void does(const char *words, int status, const char *log, const char *out,
		 const char *err)
{
	int was;

	*log_ = '\0';
	now.naps = now.looked = 0;
	was = say(words);
	if (was != status || strcmp(log_, log) != 0 || strcmp(said_out, out) != 0 ||
	    strcmp(said_err, err) != 0)
		fail_msg("'%s': %d\n%s---\n%s---\n%s", words, was, log_, said_out,
			 said_err);
}

/* --- load ----------------------------------------------------------------------------
 */

/* Nobody asks the servers then: what does not say `cache` has none. */
static void load_is_for_those_who_say_where(void **state)
{
	(void)state;
	does("load", EXIT_USAGE, "", "",
	     ME "load: --pin DIR says where to pin; it must be below /sys/fs/bpf\n");
	does("load --pin /x -c y", 0,
	     "config y\nload /x, answers 0 2\nload_apply\nclose\n", "", "");
	now.load_err = -EPERM;
	does("load --pin /x", EXIT_DENIED, "config default\nload /x, answers 0 2\n", "",
	     "");
	now.config_err = -EINVAL;
	does("load --pin /x", EXIT_REST, "config default\n", "", "");
}

static int state_files; /* or -errno */

int incident_state(const char *pin_dir, bool remove)
{
	if (remove)
		note("purge %s\n", text(pin_dir));
	return state_files;
}

/* --- detach --------------------------------------------------------------------------
 */

/* Addresses stay on the disk, which is said, unless they are purged. */
static void what_is_kept_is_said(void **state)
{
	(void)state;
	state_files = 1;
	does("detach", 0, "pid of default\ndetach default\nremoved figures of default\n",
	     "nothing was attached\nkept: 1 file of attacks, history and clients' "
	     "addresses; `detach --purge` removes them\n",
	     "");
	state_files = 3;
	does("detach --purge --pin /x", 0,
	     "pid of /x\ndetach /x\nremoved figures of /x\npurge /x\n",
	     "nothing was attached\n3 files of attacks, history and clients' addresses "
	     "removed\n",
	     "");
	state_files = -EACCES;
	does("detach --purge", EXIT_REST,
	     "pid of default\ndetach default\nremoved figures of default\npurge default\n",
	     "nothing was attached\n",
	     "quakeshield: detach: not all of the state could be removed: Permission denied\n");
	state_files = 0;
}

static void what_is_detached_is_counted(void **state)
{
	(void)state;
	does("detach", 0, "pid of default\ndetach default\nremoved figures of default\n",
	     "nothing was attached\n", "");
	now.links = 1;
	does("detach --pin /x", 0, "pid of /x\ndetach /x\nremoved figures of /x\n",
	     "detached from 1 interface; counters and budgets are gone\n", "");
	now.links = 2;
	does("detach", 0, "pid of default\ndetach default\nremoved figures of default\n",
	     "detached from 2 interfaces; counters and budgets are gone\n", "");
	now.detach_err = -EACCES;
	does("detach", EXIT_DENIED, "pid of default\ndetach default\n", "", "");
	now.detach_err = -EIO;
	does("detach", EXIT_REST, "pid of default\ndetach default\n", "", "");
	now.served = true;
	does("detach", EXIT_REST, "pid of default\n", "", "");
}

/* A daemon is ended first, and waited for: five seconds. */
static void a_daemon_is_ended_first(void **state)
{
	(void)state;
	now.daemon.pid = DAEMON;
	now.links = 1;
	now.ends_after = 249;
	does("detach --pin /x", 0,
	     "pid of /x\nkill 4711 15\npid of /x\ndetach /x\nremoved figures of /x\n",
	     "ended the daemon (process 4711)\n"
	     "detached from 1 interface; counters and budgets are gone\n",
	     "");
	assert_int_equal(now.naps, 249);
	now.ends_after = 250;
	does("detach", EXIT_REST, "pid of default\nkill 4711 15\npid of default\n", "",
	     ME "detach: the daemon (process 4711) does not end: nothing was detached\n");
	assert_int_equal(now.naps, 250);
	now.kill_errno = EPERM;
	does("detach", EXIT_DENIED, "pid of default\nkill 4711 15\n", "",
	     ME "detach: cannot end the daemon (process 4711): Operation not "
		"permitted\n");
	now.kill_errno = ESRCH;
	does("detach", EXIT_REST, "pid of default\nkill 4711 15\n", "",
	     ME "detach: cannot end the daemon (process 4711): No such process\n");
}

/* --- reload ----------------------------------------------------------------------------
 */

/* Its file is read first, so that what is wrong with it is said here. */
static void the_daemon_reads_its_own_file(void **state)
{
#define ASKED "open default\nfacts of default\n"
#define LOOKS "look at eth0, default\nlook at eth1, default\n"
	(void)state;
	now.daemon.pid = DAEMON;
	strcpy(now.daemon.config, path);
	now.flips_after = 249;
	does("reload", 0, ASKED LOOKS "kill 4711 1\nclose\n",
	     "reloaded by the daemon (process 4711)\n", "");
	assert_int_equal(now.naps, 249);
	now.daemon.observe = true;
	does("reload", 0, ASKED LOOKS "kill 4711 1\nclose\n",
	     "reloaded by the daemon (process 4711), which runs with --observe: nothing "
	     "is dropped\n",
	     "");
	does("reload --json", 0, ASKED LOOKS "kill 4711 1\nclose\n",
	     "{\"applied_by\":\"daemon\",\"daemon\":4711,\"generation\":9,\"observe\":"
	     "true}\n",
	     "");
	now.flips_after = 250;
	does("reload", EXIT_REST, ASKED LOOKS "kill 4711 1\nclose\n", "",
	     ME
	     "the daemon (process 4711) has not taken the configuration: if its log says "
	     "why, the old one stays in force; if it was only busy, it takes the new one "
	     "later, and nothing undoes that\n");
	assert_int_equal(now.naps, 250);
	now.kill_errno = EPERM;
	does("reload", EXIT_DENIED, ASKED LOOKS "kill 4711 1\nclose\n", "",
	     ME "cannot signal the daemon (process 4711): Operation not permitted\n");
}

/* It goes back by itself: no file is looked at first. */
static void the_daemon_goes_back(void **state)
{
	struct config *before = calloc(1, sizeof(*before));

	(void)state;
	assert_non_null(before);
	config_empty(before);
	now.daemon.pid = DAEMON;
	strcpy(now.daemon.config, path);
	now.flips_after = 1;
	does("reload --undo", EXIT_REST, ASKED "close\n", "",
	     ME "reload --undo: nothing to go back to ('/nonexistent': No such file or "
		"directory)\n");
	fake_in_force_kept = true;
	in_force_write(NULL, before);
	in_force_write(NULL, before);
	does("reload --undo", 0, ASKED "kill 4711 12\nclose\n",
	     "undone by the daemon (process 4711)\n  nothing changed\n", "");
	/* The daemon has not written what is in force: what changed is not known. */
	fake_in_force_stuck = now.daemon.set = true;
	does("reload", 0, ASKED "kill 4711 1\nclose\n",
	     "reloaded by the daemon (process 4711)\n", "");
	fake_in_force_stuck = now.daemon.set = false;
	in_force_remove(NULL);
	fake_in_force_kept = false;
	free(before);
}

/* What is not to be had is no reason to ask it; that an interface is missing is none. */
static void what_is_looked_at_first(void **state)
{
	static const char unasked[] =
		ME "the daemon (process 4711) was not asked: its configuration stays in "
		   "force\n";

	(void)state;
	now.daemon.pid = DAEMON;
	now.flips_after = 1;
	strcpy(now.daemon.config, path);
	now.look_err = -EBUSY;
	does("reload --pin /x", EXIT_REST,
	     "open /x\nfacts of /x\nlook at eth0, /x\nlook at eth1, /x\nclose\n", "",
	     unasked);
	/* Not its interfaces, if it was told others; not its file, if it was told more.
	 */
	now.daemon.interfaces = true;
	does("reload", 0, ASKED "kill 4711 1\nclose\n",
	     "reloaded by the daemon (process 4711)\n", "");
	now.daemon.interfaces = false;
	now.daemon.set = true;
	does("reload", 0, ASKED "kill 4711 1\nclose\n",
	     "reloaded by the daemon (process 4711)\n", "");
	now.daemon.set = false;
	now.daemon.config[0] = '\0';
	does("reload", 0, ASKED "kill 4711 1\nclose\n",
	     "reloaded by the daemon (process 4711)\n", "");
	strcpy(now.daemon.config, "/nonexistent");
	say("reload");
	assert_non_null(strstr(said_err, unasked));
	assert_non_null(strstr(said_err, "/nonexistent"));
}

/* Where a file is named, or more is said, it is not the daemon's to read. */
static void another_file_is_applied_here(void **state)
{
#define HERE "open default\nfacts of default\nconfig "
	(void)state;
	does("reload", 0, HERE "default\napply\nclose\n", "applied\n", "");
	now.daemon.pid = DAEMON;
	does("reload -c x", 0, HERE "x\napply\nclose\n",
	     "applied; the daemon's own file is unchanged\n", "");
	does("reload --set mode=skb", 0, HERE "default\napply\nclose\n",
	     "applied; the daemon's own file is unchanged\n", "");
	now.daemon.observe = true;
	does("reload -c x", 0, HERE "x\napply\nclose\n",
	     "applied; the daemon's own file is unchanged; it runs with --observe: "
	     "nothing is dropped\n",
	     "");
	now.daemon = (struct daemon_facts){ 0 };
	does("reload --json", 0, HERE "default\napply\nclose\n",
	     "{\"applied_by\":\"reload\",\"daemon\":null,\"generation\":8,\"observe\":"
	     "false}\n",
	     "");
	now.config_err = -EINVAL;
	does("reload", EXIT_REST, HERE "default\nclose\n", "", "");
	now.open_status = EXIT_NOT_LOADED;
	does("reload", EXIT_NOT_LOADED, "open default\n", "", "");
}

#undef TEST
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(load_is_for_those_who_say_where),
		TEST(what_is_detached_is_counted),
		TEST(what_is_kept_is_said),
		TEST(a_daemon_is_ended_first),
		TEST(the_daemon_reads_its_own_file),
		TEST(the_daemon_goes_back),
		TEST(what_is_looked_at_first),
		TEST(another_file_is_applied_here),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
