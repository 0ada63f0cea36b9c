// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_cmd_status.c - `status`, whole: its text, its JSON and its exit status, of a
 * shield that cmd_status_world.h stands in for.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cmd/cmd_print.h"
#include "cmd/cmd_support.h"
#include "cmd/commands.h"
#include "cmd/cmd_status_world.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define PIN	 "/sys/fs/bpf/lab"

const struct command commands[] = {
	{
		.name = "status",
		.run = cmd_status,
		.options = OPTION_BIT(JSON) | OPTION_BIT(PIN),
		.operands = "",
	},
	{ .name = NULL },
};

static int begin(void **state)
{
	(void)state;
	memset(&now, 0, sizeof(now));
	memset(&seen, 0, sizeof(seen));
	now.veth = "";
	in_force_remove(NULL);
	return 0;
}

static struct service *serve(__u32 slot, const char *name)
{
	struct service *s = &now.services[slot];

	*s = (struct service){ .active = 1, .family = FAMILY_QUAKE3 };
	strcpy(s->name, name);
	return s;
}

static void attach(const char *name, struct shield_link link)
{
	strcpy(link.interface, name);
	now.links[now.link_count++] = link;
}

/* That status, exactly @out on stdout and nothing but @err on stderr. */
static void shows(const char *words, int status, const char *out, const char *err)
{
	int was = say(words);

	if (was != status || strcmp(said_out, out) != 0 || strcmp(said_err, err) != 0)
		fail_msg("'%s': %d, \"%s\", \"%s\"", words, was, said_out, said_err);
	assert_int_equal(now.opened, now.closed);
}

/* --- status ------------------------------------------------------------------------ */

#define BY_CONFIG "off: by the configuration, or its address (`quakeshield check`)\n"

/* All that it says, in other slots than the first. */
static void a_rich_status_is_shown_whole(void **state)
{
	(void)state;
	attach("eth7", (struct shield_link){ .mode = MODE_SKB,
					     .attached = true,
					     .ingress = true,
					     .egress = true,
					     .program_id = 5,
					     .since = 1234 });
	attach("eth8", (struct shield_link){
			       .mode = MODE_NATIVE, .attached = true, .since = 99 });
	serve(2, "ffa")->validation = VALIDATION_UNDER_LOAD;
	serve(5, "duel")->validation = VALIDATION_UNDER_LOAD;
	serve(9, "qw")->family = FAMILY_QUAKEWORLD;
	now.services[9].observe = 1;
	now.services[9].validation = VALIDATION_ALWAYS;
	serve(200, "ctf")->validation = VALIDATION_UNDER_LOAD;
	serve(SERVICES_MAX - 1, "last")->family = FAMILY_QUAKE2;
	now.services[SERVICES_MAX - 1].validation = VALIDATION_OFF;
	now.services[2].cache = CACHE_ALWAYS;
	now.services[5].cache = CACHE_ALWAYS;
	now.services[9].cache = CACHE_UNDER_LOAD;
	now.services[200].cache = CACHE_OFF;
	now.services[SERVICES_MAX - 1].cache = CACHE_OFF;
	now.misspoken[9] = 1;
	now.misspoken[SERVICES_MAX - 1] = 5000000000ull;
	now.user[9] = 1;
	now.user[2] = 1002;
	now.other_sockets[2] = 77;
	now.daemon = 4711;
	shows("status", 0,
	      "eth7: protected, skb mode, since second 1234\n"
	      "eth8: protected, native mode, since second 99\n"
	      "service qw: its server speaks quake3, not quakeworld: moves of its "
	      "players pass under a limit only; correct its `protocol`\n"
	      "service last: its server speaks netquake or quake3, not quake2: moves of "
	      "its players pass under a limit only; correct its `protocol`\n"
	      "service ffa: its server is of user 1001; 77 datagrams left from its port by "
	      "sockets of other users, and count for nothing\n"
	      "services: 5, 1 observed only: nothing is dropped\n"
	      "address validation: under load 3, always 1, off 1\n"
	      "cached responses: under load 1, always 2, off 2\n"
	      "no cached responses for service ctf: " BY_CONFIG
	      "no cached responses for service last: " BY_CONFIG
	      "configuration: generation 41\n"
	      "daemon: process 4711\n",
	      "");
	assert_string_equal(seen.pin, "(default)");
	shows("status --json --pin " PIN, 0,
	      "{\"cache\":{\"always\":2,\"off\":2,\"under_load\":1},\"daemon\":4711,"
	      "\"fallback\":false,\"generation\":41,\"interfaces\":[\"eth7\",\"eth8\"],\"observing\":false,"
	      "\"observing_services\":1,\"owners\":[{\"other_sockets\":77,"
	      "\"service\":\"ffa\",\"uid\":1001},{\"other_sockets\":0,\"service\":\"qw\",\"uid\":0}],"
	      "\"protected\":true,\"protocol_mismatch\":[{\"datagrams\":1,\"protocol\":"
	      "\"quakeworld\",\"service\":\"qw\",\"speaks\":[\"quake3\"]},{\"datagrams\":"
	      "5000000000,\"protocol\":\"quake2\",\"service\":\"last\",\"speaks\":"
	      "[\"netquake\",\"quake3\"]}],\"self_test\":[],\"services\":5,\"uncached\":["
	      "{\"reason\":\"off: by the configuration, or its address (`quakeshield "
	      "check`)\",\"service\":\"ctf\"},{\"reason\":\"off: by the configuration, or "
	      "its address (`quakeshield check`)\",\"service\":\"last\"}],\"validation\":{"
	      "\"always\":1,\"off\":1,\"under_load\":3}}\n",
	      "");
	assert_string_equal(seen.pin, PIN);
}

/* What the kernel refused is off for a reason of its own, and protects all the same. */
static void a_fallback_is_said_first(void **state)
{
	(void)state;
	attach("eth7", (struct shield_link){ .mode = MODE_NATIVE, .attached = true });
	serve(2, "ffa");
	now.veth = "eth7";
	now.fallback = true;
	shows("status", 0,
	      "fallback: this kernel refused the programs for address validation and "
	      "cached responses: both are off\n"
	      "eth7: protected, native mode, since second 0\n"
	      "services: 1\n"
	      "address validation: under load 0, always 0, off 1\n"
	      "cached responses: under load 0, always 0, off 1\n"
	      "no cached responses for service ffa: off: this kernel refused the "
	      "program\n"
	      "configuration: generation 41\n"
	      "daemon: not running; what is loaded works without it\n",
	      "");
	assert_int_equal(say("status --json"), 0);
	assert_non_null(strstr(said_out, "\"fallback\":true"));
}

/* An interface that does not run its program is not protected, attached or not. */
static void a_program_that_does_not_run_is_a_fault(void **state)
{
	(void)state;
	attach("eth7", (struct shield_link){
			       .mode = MODE_NATIVE, .attached = true, .since = 99 });
	attach("eth8", (struct shield_link){ .mode = MODE_NATIVE,
					     .attached = true,
					     .program_id = 5,
					     .ingress = true,
					     .egress = true,
					     .unrun_since = 1234 });
	assert_int_equal(say("status"), 5);
	assert_non_null(strstr(said_out, "eth7: protected, native mode"));
	assert_non_null(strstr(said_out, "eth8: attached, judges nothing since "));
	assert_int_equal(say("status --json"), 5);
	assert_non_null(strstr(said_out, "\"protected\":false"));
}

/* The reason for each service that is not answered for, and none for the others. */
static void each_service_has_its_own_reason(void **state)
{
	static const struct {
		enum wire_family family;
		int validation, cache;
		const char *veth;
		size_t ports;
		bool stale, observe;
		pid_t daemon;
		const char *proof_why, *why;
	} rows[] = {
		{ FAMILY_QUAKE3, VALIDATION_OFF, CACHE_OFF, "veth3", 1, false, false, 0,
		  " (the default over a veth, veth3)",
		  "off: the default over a veth, veth3, unless the configuration says so" },
		{ FAMILY_QUAKE3, VALIDATION_OFF, CACHE_ALWAYS, "veth3", 1, false, false,
		  0, " (the default over a veth, veth3)", NULL },
		/* Whatever the interface, these are off for another reason. */
		{ FAMILY_AUTO, VALIDATION_OFF, CACHE_OFF, "veth3", 1, false, false, 0, "",
		  "off: auto has no questions for it" },
		{ FAMILY_QUAKE_ENHANCED, VALIDATION_ALWAYS, CACHE_OFF, "veth3", 1, false,
		  false, 0, "", "off: quake-enhanced has no questions for it" },
		{ FAMILY_QUAKE3, VALIDATION_ALWAYS, CACHE_OFF, "veth3", 4, false, false,
		  0, "", "off: it takes one port, and there are 4" },
		{ FAMILY_QUAKE3, VALIDATION_ALWAYS, CACHE_ALWAYS, "veth3", 1, false,
		  false, 0, "", NULL },
		{ FAMILY_QUAKE3, VALIDATION_OFF, CACHE_OFF, "", 1, false, false, 0, "",
		  "off: by the configuration, or its address (`quakeshield check`)" },
		/* A server in a container does not reply to the daemon. */
		{ FAMILY_QUAKE3, VALIDATION_ALWAYS, CACHE_ALWAYS, "", 1, true, false, 77,
		  "",
		  "the daemon has no recent response of its server (down, in a "
		  "container, or at another address)" },
		{ FAMILY_QUAKE3, VALIDATION_ALWAYS, CACHE_ALWAYS, "", 1, true, true, 77,
		  "", NULL },
		{ FAMILY_QUAKE3, VALIDATION_ALWAYS, CACHE_ALWAYS, "", 1, true, false, 0,
		  "", NULL },
	};
	char why[200], validation[64], json[256];

	(void)state;
	attach("eth7",
	       (struct shield_link){ .mode = MODE_NATIVE, .attached = true, .since = 5 });
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct service *s = serve(3, "ffa");

		s->family = (__u8)rows[i].family;
		s->validation = (__u8)rows[i].validation;
		s->cache = (__u8)rows[i].cache;
		s->observe = rows[i].observe;
		now.veth = rows[i].veth;
		now.ports = rows[i].ports;
		now.stale = rows[i].stale;
		now.daemon = rows[i].daemon;
		say("status");
		snprintf(validation, sizeof(validation), ", off %d%s\n",
			 rows[i].validation == VALIDATION_OFF, rows[i].proof_why);
		assert_non_null(strstr(said_out, validation));
		snprintf(why, sizeof(why), "\nno cached responses for service ffa: %s\n",
			 rows[i].why ? rows[i].why : "");
		assert_int_equal(!!strstr(said_out, "no cached responses for"),
				 !!rows[i].why);
		if (rows[i].why)
			assert_non_null(strstr(said_out, why));
		say("status --json");
		snprintf(json, sizeof(json),
			 "\"uncached\":[{\"reason\":\"%s\",\"service\":\"ffa\"}]",
			 rows[i].why ? rows[i].why : "");
		assert_non_null(strstr(said_out, rows[i].why ? json : "\"uncached\":[]"));
	}
}

/* A build that knows more ways than we do is no reason to count beside the table. */
static void ways_that_are_unknown_are_in_no_count(void **state)
{
	(void)state;
	attach("eth7", (struct shield_link){ .attached = true });
	serve(1, "new")->validation = VALIDATION_ALWAYS + 1;
	now.services[1].cache = CACHE_ALWAYS + 1;
	shows("status --json", 0,
	      "{\"cache\":{\"always\":0,\"off\":0,\"under_load\":0},\"daemon\":null,"
	      "\"fallback\":false,\"generation\":41,\"interfaces\":[\"eth7\"],\"observing\":false,"
	      "\"observing_services\":0,\"owners\":[],\"protected\":true,"
	      "\"protocol_mismatch\":[],\"self_test\":[],\"services\":1,\"uncached\":[],"
	      "\"validation\":{\"always\":0,\"off\":0,\"under_load\":0}}\n",
	      "");
}

static void dormant_interface_is_said(void **state)
{
	(void)state;
	attach("eth7", (struct shield_link){ .attached = true, .dormant = true });
	say("status");
	assert_non_null(strstr(said_out,
			       "eth7: attached, but it is dormant: it waits for "
			       "another program, such as an 802.1X supplicant\n"));
}

/* What is not judged is not protected, whatever is attached. */
static void what_is_not_judged_is_not_protected(void **state)
{
#define JUDGED_TEXT(word)                                                               \
	"eth7: attached, but it is down or has no carrier: nothing comes in by it\n"    \
	"service ffa: judged, 2 received, 4 sent\n"                                     \
	"service qw: " word ", 9 received, 18 sent\n"                                   \
	"service last: no datagram has come for it yet, 0 received, 0 sent; no socket " \
	"has port 27960 in this network namespace (a container has its own, which is "  \
	"not seen from here); address 203.0.113.9 is not on this host\n"                \
	"services: 3\naddress validation: under load 0, always 0, off 3\n"              \
	"cached responses: under load 0, always 0, off 3\n"                             \
	"no cached responses for service ffa: " BY_CONFIG                               \
	"no cached responses for service qw: " BY_CONFIG                                \
	"no cached responses for service last: " BY_CONFIG                              \
	"configuration: generation 41\ndaemon: not running; what is loaded works "      \
	"without it\n"
	(void)state;
	attach("eth7", (struct shield_link){ .attached = true, .down = true });
	serve(2, "ffa");
	serve(9, "qw");
	serve(SERVICES_MAX - 1, "last");
	now.tested = JUDGED_NO;
	shows("status", EXIT_UNPROTECTED,
	      JUDGED_TEXT("not judged: its datagrams come in by 'gre1', where nothing "
			  "judges them; protect that interface, or the one below it that "
			  "carries its frames"),
	      "");
	now.tested = JUDGED_PARTLY;
	shows("status", 0,
	      JUDGED_TEXT("partly judged: some of its datagrams come in by 'gre1', where "
			  "nothing judges them"),
	      "");
	now.tested = JUDGED_YES;
	shows("status", 0, JUDGED_TEXT("judged"), "");
}

#define REST                                                               \
	"services: 0\naddress validation: under load 0, always 0, off 0\n" \
	"cached responses: under load 0, always 0, off 0\nconfiguration: " \
	"generation 41\ndaemon: not running; what is loaded works without it\n"

/* One interface that is not protected is a status of its own, wherever it stands. */
static void what_is_not_protected_is_a_status(void **state)
{
	static const struct shield_link good = { .mode = MODE_SKB,
						 .attached = true,
						 .ingress = true,
						 .egress = true,
						 .program_id = 5,
						 .since = 7 };

	(void)state;
	shows("status", EXIT_UNPROTECTED, "loaded, but attached to nothing\n" REST, "");
	shows("status --json", EXIT_UNPROTECTED,
	      "{\"cache\":{\"always\":0,\"off\":0,\"under_load\":0},\"daemon\":null,"
	      "\"fallback\":false,\"generation\":41,\"interfaces\":[],\"observing\":false,"
	      "\"observing_services\":0,\"owners\":[],\"protected\":false,"
	      "\"protocol_mismatch\":[],\"self_test\":[],\"services\":0,\"uncached\":[],"
	      "\"validation\":{\"always\":0,\"off\":0,\"under_load\":0}}\n",
	      "");
	attach("a", (struct shield_link){ .missing = true });
	attach("b", good);
	attach("c", (struct shield_link){ .program_id = 7 });
	attach("d", good);
	shows("status", EXIT_UNPROTECTED,
	      "a: not protected: there is no such interface now\n"
	      "b: protected, skb mode, since second 7\n"
	      "c: not protected: another program (id 7) is attached\n"
	      "d: protected, skb mode, since second 7\n" REST,
	      "");
	now.link_count = 0;
	attach("b", good);
	attach("c", (struct shield_link){ .program_id = 7, .ingress = true });
	shows("status", EXIT_UNPROTECTED,
	      "b: protected, skb mode, since second 7\n"
	      "c: half protected: our program is not on what leaves by it\n" REST,
	      "");
	say("status --json");
	assert_non_null(strstr(said_out, "\"protected\":false"));
}

/*
 * An interface that the configuration in force names and that carries nothing is not
 * protected, whether or not it is there. One that is attached is not shown twice.
 */
static void what_is_configured_and_not_attached_is_not_protected(void **state)
{
	struct config *config = calloc(1, sizeof(*config));

	(void)state;
	assert_non_null(config);
	config->interface_count = 1;
	strcpy(config->interfaces[0], "eth7");
	strcpy(config->interfaces[1], "gone9");
	strcpy(config->interfaces[2], "lo");
	fake_in_force[IN_FORCE] = config;
	attach("eth7",
	       (struct shield_link){ .mode = MODE_SKB, .attached = true, .since = 7 });
	shows("status", 0, "eth7: protected, skb mode, since second 7\n" REST, "");
	config->interface_count = 2;
	shows("status", EXIT_UNPROTECTED,
	      "eth7: protected, skb mode, since second 7\n"
	      "gone9: not protected: there is no such interface now\n" REST,
	      "");
	assert_int_equal(say("status --json"), EXIT_UNPROTECTED);
	assert_non_null(strstr(said_out, "\"interfaces\":[\"eth7\",\"gone9\"]"));
	assert_non_null(strstr(said_out, "\"protected\":false"));
	config->interface_count = 3;
	now.link_count = 0;
	shows("status", EXIT_UNPROTECTED,
	      "eth7: not protected: there is no such interface now\n"
	      "gone9: not protected: there is no such interface now\n"
	      "lo: not protected: no program is attached\n" REST,
	      "");
}

/* More links than there may be interfaces are not read beyond what there is. */
static void more_links_than_there_is_room_for(void **state)
{
	const char *at;
	size_t lines = 0;

	(void)state;
	for (size_t i = 0; i < CONFIG_INTERFACES + 3; i++)
		attach("eth", (struct shield_link){ .attached = true });
	assert_int_equal(say("status"), 0);
	for (at = said_out; (at = strstr(at, "eth: protected")); at++)
		lines++;
	assert_int_equal(lines, CONFIG_INTERFACES);
}

/* That nothing is dropped is true of the whole only if it is of each. */
static void observing_is_said(void **state)
{
	(void)state;
	attach("eth7",
	       (struct shield_link){ .mode = MODE_NATIVE, .attached = true, .since = 3 });
	attach("eth8", (struct shield_link){ .missing = true });
	serve(3, "a")->observe = 1;
	serve(8, "b")->observe = 1;
	shows("status", EXIT_UNPROTECTED,
	      "eth7: observed, native mode, since second 3: nothing is dropped\n"
	      "eth8: not protected: there is no such interface now\n"
	      "services: 2, 2 observed only: nothing is dropped\n"
	      "address validation: under load 0, always 0, off 2\n"
	      "cached responses: under load 0, always 0, off 2\n"
	      "no cached responses for service a: " BY_CONFIG
	      "no cached responses for service b: " BY_CONFIG
	      "configuration: generation 41\n"
	      "daemon: not running; what is loaded works without it\n",
	      "");
	say("status --json");
	assert_non_null(strstr(said_out, "\"observing\":true,\"observing_services\":2,"));
	now.services[3].observe = 0;
	say("status --json");
	assert_non_null(
		strstr(said_out, "\"observing\":false,\"observing_services\":1,"));
}

static void what_cannot_be_opened_is_a_status(void **state)
{
	static const char *const words[] = { "status", "status --json" };

	(void)state;
	for (size_t i = 0; i < COUNT(words); i++) {
		now.open_status = EXIT_NOT_LOADED;
		shows(words[i], EXIT_NOT_LOADED, "", "");
		now.open_status = EXIT_DENIED;
		shows(words[i], EXIT_DENIED, "", "");
	}
	assert_int_equal(now.closed, 0);
}

#undef TEST
#define TEST(name) cmocka_unit_test_setup(name, begin)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_rich_status_is_shown_whole),
		TEST(a_fallback_is_said_first),
		TEST(a_program_that_does_not_run_is_a_fault),
		TEST(each_service_has_its_own_reason),
		TEST(ways_that_are_unknown_are_in_no_count),
		TEST(dormant_interface_is_said),
		TEST(what_is_not_judged_is_not_protected),
		TEST(what_is_not_protected_is_a_status),
		TEST(what_is_configured_and_not_attached_is_not_protected),
		TEST(more_links_than_there_is_room_for),
		TEST(observing_is_said),
		TEST(what_cannot_be_opened_is_a_status),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
