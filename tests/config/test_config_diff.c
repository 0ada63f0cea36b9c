// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_config_diff.c - the changes that config_diff() finds in two files.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/config_diff.h"

static char said[8192];

static void on_change(const struct config_change *change, void *context)
{
	char text[CONFIG_CHANGE];

	(void)context;
	config_change_format(change, text);
	snprintf(said + strlen(said), sizeof(said) - strlen(said), "%s\n", text);
}

static void read_text(const char *text, struct config *ret)
{
	char path[] = "/tmp/test_config_diff.XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	assert_int_equal(config_load(path, ret), 0);
	unlink(path);
}

/* The differences between @before and @after, and the other way round. */
static const char *diff(const char *before, const char *after)
{
	struct config *a = calloc(2, sizeof(*a)), *b = a + 1;
	const char *c = said;
	int lines = 0, count;

	assert_non_null(a);
	read_text(before, a);
	read_text(after, b);
	said[0] = '\0';
	count = config_diff(a, b, on_change, NULL);
	while ((c = strchr(c, '\n'))) {
		c++;
		lines++;
	}
	assert_int_equal(count, lines);
	free(a);
	return said;
}

#define FFA			  "service ffa { protocol = quake3 port = 27960 }\n"
#define DUEL			  "service duel { protocol = quakeworld port = 27500 }\n"
#define SAYS(before, after, text) assert_string_equal(diff(before, after), text)

static void the_same_file_changes_nothing(void **state)
{
	(void)state;
	SAYS(FFA, FFA, "");
	SAYS(FFA, "observe = no\n" FFA, ""); /* the default, written out */
	SAYS(FFA DUEL, DUEL FFA, ""); /* the order is no change */
}

static void keys_have_both_values(void **state)
{
	(void)state;
	SAYS(FFA,
	     "service ffa { protocol = quake3 port = 27961\n"
	     "query { service = \"30/s burst 30\" } }\n",
	     "service.ffa.port: {27960} -> {27961}\n"
	     "service.ffa.query.service: 6/s burst 6 -> 30/s burst 30\n");
	SAYS(FFA, "observe = yes\namplification { refill = 60 }\n" FFA,
	     "amplification.refill: 20 -> 60\n"
	     "observe: false -> true\n");
	SAYS("interface = eth0\n" FFA, "interface = {eth0, eth1}\n" FFA,
	     "interface: {\"eth0\"} -> {\"eth0\", \"eth1\"}\n");
}

/* A key that is written only where it has a value, and one that goes with another. */
static void keys_come_and_go(void **state)
{
	(void)state;
	SAYS(FFA, "on-attack = \"/bin/x y\"\n" FFA, "on-attack: added /bin/x y\n");
	SAYS("on-attack = \"/bin/x y\"\n" FFA, FFA, "on-attack: removed /bin/x y\n");
	SAYS(FFA, "amplification { mode = off }\n" FFA,
	     "amplification.allowance: removed 16384\n"
	     "amplification.mode: limit -> off\n");
}

static void services_come_and_go_as_one(void **state)
{
	(void)state;
	SAYS(FFA, FFA DUEL, "service.duel: added\n");
	SAYS(FFA DUEL, FFA, "service.duel: removed\n");
	SAYS(FFA, DUEL, "service.duel: added\nservice.ffa: removed\n");
	/* A name that begins like another, or like a key of it, is another name. */
	SAYS("service a { protocol = quake3 port = 1 }\n"
	     "service a.query { protocol = quake3 port = 2 }\n"
	     "service \"a \\\"b\" { protocol = quake3 port = 3 }\n"
	     "service a-b { protocol = quake3 port = 4 }\n",
	     "service a-b { protocol = quake3 port = 5 }\n"
	     "service a.query { protocol = quake3 port = 6 }\n",
	     "service.a: removed\n"
	     "service.a \\\"b: removed\n"
	     "service.a-b.port: {4} -> {5}\n"
	     "service.a.query.port: {2} -> {6}\n");
}

static void lists_are_sets_of_networks(void **state)
{
	(void)state;
	SAYS("allow = {192.0.2.1, 192.0.2.2, 192.0.2.3}\n" FFA,
	     "allow = {192.0.2.3, 192.0.2.1, \"192.0.2.4 unlimited\"}\n" FFA,
	     "allow: removed 192.0.2.2\n"
	     "allow: added 192.0.2.4 unlimited\n");
	SAYS("deny = 2001:db8::/32\n" FFA, FFA, "deny: removed 2001:db8::/32\n");
	SAYS("follow { first = 1 addresses = 192.0.2.1 }\n" FFA,
	     "follow { first = 1 addresses = 192.0.2.9 }\n" FFA,
	     "follow.addresses: removed 192.0.2.1\n"
	     "follow.addresses: added 192.0.2.9\n");
}

/* As many as there may be of all, and a change that is longer than its text. */
static void the_largest_files_compare(void **state)
{
	static char text[CONFIG_LIST * 24 + SERVICES_MAX * 64];
	char *to = text, *const end = text + sizeof(text);

	(void)state;
	to += snprintf(to, (size_t)(end - to), "deny = {");
	for (int i = 0; i < CONFIG_LIST; i++)
		to += snprintf(to, (size_t)(end - to), "%s10.%d.%d.1", i ? ", " : "",
			       i / 256, i % 256);
	to += snprintf(to, (size_t)(end - to), "}\n");
	for (int i = 0; i < SERVICES_MAX; i++)
		to += snprintf(to, (size_t)(end - to),
			       "service s%d { protocol = quake3 port = %d }\n", i, i + 1);
	assert_true(to < end);
	SAYS(text, text, "");
	SAYS("service ffa { protocol = quake3 port = 1-64 }\n",
	     "service ffa { protocol = quake3 port = 10001-10064 }\n", said);
	assert_int_equal(strlen(said), CONFIG_CHANGE); /* cut, and a line end */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_file_changes_nothing),
		cmocka_unit_test(keys_have_both_values),
		cmocka_unit_test(keys_come_and_go),
		cmocka_unit_test(services_come_and_go_as_one),
		cmocka_unit_test(lists_are_sets_of_networks),
		cmocka_unit_test(the_largest_files_compare),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
