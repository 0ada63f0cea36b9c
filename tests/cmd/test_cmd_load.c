// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * `reload` of a file that need not be the daemon's, with a shield and a daemon that are
 * this file's: what is put in force, what of it is not, and what is said.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <net/if.h>
#include <jansson.h>

#include "cmd/cmd_print.h"
#include "cmd/cmd_support.h"
#include "cmd/commands.h"
#include "cmd/fake_in_force.h"
#include "config/config.h"
#include "daemon/pidfile.h"
#include "lag/lag_file.h"
#include "shield/shield.h"

#define DAEMON 4711

const struct command commands[] = {
	{
		.name = "reload",
		.run = cmd_reload,
		.options = OPTION_BIT(CONFIG) | OPTION_BIT(SET) | OPTION_BIT(PIN) |
			   OPTION_BIT(JSON) | OPTION_BIT(UNDO) | OPTION_BIT(CONFIRM),
		.operands = "",
	},
	{ .name = NULL },
};

/* --- a shield and a daemon --------------------------------------------------------- */

static char path[] = "/tmp/test_cmd_load.XXXXXX", reload[64];
static const char *attached[2];
static size_t attached_count;
static struct daemon_facts daemon_now;
static struct config *applied;
static int apply_says;
static __u32 generation;
static bool unheard;
static const char *in_force[2]; /* services, in slots 3 and 4 */

int call_open(const struct call *call, struct shield **ret)
{
	(void)call;
	*ret = NULL;
	return 0;
}

int call_config(const struct call *call, struct config *ret)
{
	const char *sets[WORDS] = { NULL };
	size_t n = 0;

	for (const struct given *g = NULL; (g = call_next(call, OPTION_SET, g));)
		sets[n++] = g->value;
	return config_load_set(call_value(call, OPTION_CONFIG), sets, ret);
}

bool pidfile_facts(const char *pin_dir, struct daemon_facts *ret)
{
	(void)pin_dir;
	*ret = daemon_now;
	return daemon_now.pid > 0;
}

pid_t pidfile_pid(const char *pin_dir)
{
	(void)pin_dir;
	return daemon_now.pid;
}

void shield_close(struct shield *shield)
{
	(void)shield;
}

int shield_load(const char *pin_dir, const struct config *config, struct shield **ret)
{
	(void)pin_dir;
	(void)config;
	(void)ret;
	fail();
	return 0;
}

int shield_load_apply(struct shield *shield, const struct config *config)
{
	(void)shield;
	(void)config;
	fail();
	return 0;
}

int shield_detach(const char *pin_dir, size_t *ret_count)
{
	(void)pin_dir;
	(void)ret_count;
	fail();
	return 0;
}

void lag_file_path(const char *pin_dir, char ret[LAG_FILE_PATH_MAX])
{
	(void)pin_dir;
	(void)ret;
	fail();
}

void lag_file_remove(const char *file)
{
	(void)file;
	fail();
}

int shield_check_attach(const char *pin_dir, const char *interface, enum holder *ret)
{
	(void)pin_dir;
	(void)interface;
	(void)ret;
	fail();
	return 0;
}

int shield_apply(struct shield *shield, const struct config *config)
{
	(void)shield;
	assert_int_equal(fake_locked, 1);
	*applied = *config;
	generation += !apply_says;
	return apply_says;
}

bool shield_service(const struct shield *shield, __u32 slot, struct service *ret)
{
	(void)shield;
	if (slot < 3 || slot > 4 || !in_force[slot - 3])
		return false;
	memset(ret, 0, sizeof(*ret));
	strcpy(ret->name, in_force[slot - 3]);
	return true;
}

bool shield_fallback(const struct shield *shield)
{
	(void)shield;
	return false;
}

__u32 shield_generation(const struct shield *shield)
{
	(void)shield;
	return generation;
}

size_t shield_links(const struct shield *shield, struct shield_link *ret, size_t max)
{
	(void)shield;
	assert_true(attached_count <= max);
	for (size_t i = 0; i < attached_count; i++) {
		memset(&ret[i], 0, sizeof(ret[i]));
		strcpy(ret[i].interface, attached[i]);
	}
	return attached_count;
}

void shield_warn_mode(const struct shield *shield, enum attach_mode wanted)
{
	(void)shield;
	fprintf(stderr, "mode %d\n", wanted);
}

bool shield_return_path_unavailable(const struct shield *shield,
				    char ret_interface[IF_NAMESIZE])
{
	(void)shield;
	strcpy(ret_interface, unheard ? "veth0" : "");
	return unheard;
}

/* One of each name; "eth1" is also known as "uplink". */
void shield_own_name(const char *name, char ret[IF_NAMESIZE])
{
	strcpy(ret, !strcmp(name, "uplink") ? "eth1" : name);
}

/* --- what is said ------------------------------------------------------------------ */

static int begin(void **state)
{
	static const char text[] = "interface = { eth0, eth1 }\n"
				   "service a {\nprotocol = quake3\nport = 1\n}\n";
	int fd;

	(void)state;
	strcpy(path + strlen(path) - 6, "XXXXXX");
	fd = mkstemp(path);
	applied = calloc(1, sizeof(*applied));
	if (fd < 0 || !applied || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		return -1;
	snprintf(reload, sizeof(reload), "reload -c %s", path);
	attached_count = 0;
	memset(&daemon_now, 0, sizeof(daemon_now));
	apply_says = 0;
	generation = 5;
	unheard = false;
	in_force[0] = "a";
	in_force[1] = NULL;
	return close(fd);
}

static int end(void **state)
{
	(void)state;
	free(applied);
	return unlink(path);
}

/* @name is said not to be protected, or is not said. */
static bool is_named(const char *name)
{
	char text[128];

	snprintf(text, sizeof(text), "reload -c attaches nothing: '%s' is not protected",
		 name);
	return strstr(said_err, text) != NULL;
}

/* Interfaces are the daemon's: who names another one is told. */
static void what_is_not_attached_is_named(void **state)
{
	static const struct {
		const char *attached[2];
		size_t count;
		bool first, second; /* of the file's are named */
	} rows[] = {
		{ { NULL }, 0, true, true },
		{ { "eth0" }, 1, false, true },
		{ { "eth1" }, 1, true, false },
		{ { "eth1", "eth0" }, 2, false, false },
		{ { "eth", "eth10" }, 2, true, true },
	};
	char line[128];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		memcpy(attached, rows[i].attached, sizeof(attached));
		attached_count = rows[i].count;
		assert_int_equal(say(reload), 0);
		assert_string_equal(said_out, "applied\n");
		assert_int_equal(is_named("eth0"), rows[i].first);
		assert_int_equal(is_named("eth1"), rows[i].second);
		assert_int_equal(!*said_err, !rows[i].first && !rows[i].second);
		assert_int_equal(generation, 6 + i);
	}
	/* By an alternative name it is the same. */
	attached[0] = "eth1";
	attached_count = 1;
	snprintf(line, sizeof(line), "%s --set interface=uplink", reload);
	refused(line, 0, "");
	/* Nothing is in force: nothing is said of it. */
	attached_count = 0;
	apply_says = -ENOSPC;
	refused(reload, EXIT_REST, "");
	assert_string_equal(said_out, "");
}

/* Without one nobody asks the servers for what could be answered. */
static void a_daemon_is_respected(void **state)
{
	char line[128];

	(void)state;
	attached[0] = "eth0";
	attached[1] = "eth1";
	attached_count = 2;
	refused(reload, 0, "");
	assert_int_equal(applied->service_count, 1);
	assert_int_equal(applied->services[0].service.cache, CACHE_OFF);
	assert_false(applied->observe);
	daemon_now.pid = DAEMON;
	refused(reload, 0, "");
	assert_string_equal(said_out, "applied; the daemon's own file is unchanged\n");
	assert_int_not_equal(applied->services[0].service.cache, CACHE_OFF);
	assert_false(applied->observe);
	daemon_now.observe = true;
	refused(reload, 0, "");
	assert_non_null(strstr(said_out, "it runs with --observe: nothing is dropped"));
	assert_true(applied->observe);
	unheard = true;
	refused(reload, 0, "");
	assert_int_equal(applied->services[0].service.cache, CACHE_OFF);
	snprintf(line, sizeof(line), "%s --json --set service.a.port=9", reload);
	refused(line, 0, "");
	assert_string_equal(said_out, "{\"applied_by\":\"reload\",\"daemon\":4711,"
				      "\"generation\":10,\"observe\":true}\n");
	assert_int_equal(applied->services[0].ports[0], 9);
}

/* The daemon asks the servers of its own file: who adds a service is told. */
static void what_is_not_asked_is_named(void **state)
{
#define TWO "service b { protocol = quake3 port = 2 }\n"
#define ASKS                                                                            \
	"quakeshield: warning: reload -c asks no server, and the daemon asks those of " \
	"its own file: unless "
	static const struct {
		const char *in_force[2], *says;
	} rows[] = {
		{ { "a", "b" }, "" },
		{ { "a", NULL },
		  ASKS "'b' is in that, too, nothing is answered for it\n" },
		{ { "b", "other" },
		  ASKS "'a' is in that, too, nothing is answered for it\n" },
		{ { "ab", "" },
		  ASKS "'a' and 1 more are in that, too, nothing is answered for "
		       "them\n" },
	};
	FILE *file = fopen(path, "ae");
	char line[128];

	(void)state;
	assert_non_null(file);
	fputs(TWO, file);
	fclose(file);
	attached[0] = "eth0";
	attached[1] = "eth1";
	attached_count = 2;
	daemon_now.pid = DAEMON;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		memcpy(in_force, rows[i].in_force, sizeof(in_force));
		assert_int_equal(say(reload), 0);
		assert_string_equal(said_err, rows[i].says);
	}
	/* Nor where nothing would be answered anyway, or nobody is there to ask. */
	snprintf(line, sizeof(line), "%s --set service.a.cache=off --set %s", reload,
		 "service.b.observe=true");
	refused(line, 0, "");
	snprintf(line, sizeof(line), "%s --set observe=true", reload);
	refused(line, 0, "");
	daemon_now.pid = 0;
	refused(reload, 0, "");
	/* Nothing is in force: nothing is said of it. */
	daemon_now.pid = DAEMON;
	apply_says = -ENOSPC;
	refused(reload, EXIT_REST, "");
}

/* Two files one after the other, and back; twice back is forth again. */
static void a_reload_says_what_it_changes(void **state)
{
	char line[128];

	(void)state;
	attached[0] = "eth0";
	attached[1] = "eth1";
	attached_count = 2;
	fake_in_force_kept = true;
	refused("reload --undo", EXIT_REST,
		"quakeshield: reload --undo: nothing to go back to ('/nonexistent': No such "
		"file or directory)\n");
	refused(reload, 0, "");
	assert_string_equal(said_out, "applied\n"); /* it is not known what was before */
	snprintf(line, sizeof(line), "%s --set service.a.port=9", reload);
	refused(line, 0, "");
	assert_string_equal(said_out, "applied\n  service.a.port: {1} -> {9}\n");
	refused(line, 0, "");
	assert_string_equal(said_out, "applied\n  nothing changed\n");
	in_force_remove(NULL);
	refused(reload, 0, "");
	refused(line, 0, "");
	refused("reload --undo", 0, "");
	assert_string_equal(said_out, "applied\n  service.a.port: {9} -> {1}\n");
	assert_int_equal(applied->services[0].ports[0], 1);
	refused("reload --undo --json", 0, "");
	assert_non_null(strstr(said_out,
			       "\"changes\":[{\"after\":\"{9}\",\"before\":\"{1}\","
			       "\"key\":\"service.a.port\"}]"));
	assert_int_equal(applied->services[0].ports[0], 9);
	/* Nothing is in force that could not be applied. */
	apply_says = -ENOSPC;
	refused(reload, EXIT_REST, "");
	assert_int_equal(fake_in_force[IN_FORCE]->services[0].ports[0], 9);
	apply_says = 0;
	fake_lock_says = -EWOULDBLOCK;
	refused(reload, EXIT_REST, "");
	refused("reload --undo", EXIT_REST, "");
	assert_int_equal(fake_in_force[IN_FORCE]->services[0].ports[0], 9);
	fake_lock_says = 0;
	/* Each was written before another process could apply one. */
	assert_false(fake_in_force_raced);
	assert_int_equal(fake_locked, 0);
	in_force_remove(NULL);
	fake_in_force_kept = false;
}

/*
 * Nothing is attached or detached, so what is in force names the interfaces of before:
 * the daemon attaches and detaches by it when it undoes a reload.
 */
static void the_interfaces_in_force_stay(void **state)
{
	static const char *const rows[] = { "", "interface = eth5\nmode = native\n" };
	char line[128], at[LISTEN_TEXT];

	(void)state;
	attached[0] = "eth0";
	attached_count = 1;
	fake_in_force_kept = true;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		/* At first it is not known what was in force: attached ones count. */
		for (int known = 0; known < 2; known++) {
			FILE *file = fopen(path, "we");
			const struct config *now;

			assert_non_null(file);
			fprintf(file,
				"%smetrics { listen = 127.0.0.1:%d }\n"
				"service a { protocol = quake3 port = %d }\n",
				rows[i], 9000 + known, known + 1);
			fclose(file);
			assert_int_equal(say(reload), 0);
			now = fake_in_force[IN_FORCE];
			assert_int_equal(now->interface_count, 1);
			assert_string_equal(now->interfaces[0], "eth0");
			assert_int_equal(is_named("eth5"), i);
			listen_format(&now->metrics, at);
			assert_string_equal(at, "127.0.0.1:9000");
			fake_in_force[IN_FORCE]->mode = MODE_SKB;
		}
		assert_int_equal(say(reload), 0);
		assert_int_equal(fake_in_force[IN_FORCE]->mode, MODE_SKB);
		assert_int_equal(!!strstr(said_err, "mode"), i); /* 0: it names none */
		snprintf(line, sizeof(line), "%s --set mode=skb", reload);
		assert_int_equal(say(line), 0);
		assert_non_null(strstr(said_err, "mode 2\n"));
		in_force_remove(NULL);
	}
	fake_in_force_kept = false;
}

static void more_changes_than_a_screen_are_counted(void **state)
{
	char line[512];
	size_t n = 0;

	(void)state;
	attached[0] = "eth0";
	attached[1] = "eth1";
	attached_count = 2;
	fake_in_force_kept = true;
	refused(reload, 0, "");
	n += (size_t)snprintf(line, sizeof(line), "%s --set deny=", reload);
	for (int i = 0; i < 42; i++)
		n += (size_t)snprintf(line + n, sizeof(line) - n, "%s10.0.0.%d",
				      i ? "," : "", i);
	refused(line, 0, "");
	assert_non_null(strstr(said_out, "  deny: added 10.0.0.0\n"));
	assert_non_null(strstr(said_out, "  and 2 more: --json has all\n"));
	in_force_remove(NULL);
	fake_in_force_kept = false;
}

static void options_that_do_not_go_together_are_refused(void **state)
{
	(void)state;
	refused("reload --undo -c x", EXIT_USAGE,
		"quakeshield: reload: --undo goes with no other file, --set or --confirm\n");
	refused("reload --confirm 0", EXIT_USAGE,
		"quakeshield: reload: --confirm '0' is not 1 to 3600 seconds\n");
	refused("reload --confirm 3601", EXIT_USAGE,
		"quakeshield: reload: --confirm '3601' is not 1 to 3600 seconds\n");
	refused("reload --confirm 5s", EXIT_USAGE,
		"quakeshield: reload: --confirm '5s' is not 1 to 3600 seconds\n");
	refused("reload --confirm 5 --json", EXIT_USAGE,
		"quakeshield: reload: --confirm asks, so it needs a terminal, and no --json\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_is_not_attached_is_named, begin,
						end),
		cmocka_unit_test_setup_teardown(a_daemon_is_respected, begin, end),
		cmocka_unit_test_setup_teardown(what_is_not_asked_is_named, begin, end),
		cmocka_unit_test_setup_teardown(a_reload_says_what_it_changes, begin,
						end),
		cmocka_unit_test_setup_teardown(the_interfaces_in_force_stay, begin, end),
		cmocka_unit_test_setup_teardown(more_changes_than_a_screen_are_counted,
						begin, end),
		cmocka_unit_test_setup_teardown(
			options_that_do_not_go_together_are_refused, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
