// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_discover.c - which replies are a game server's, at every truncation and with every
 * byte changed; and that the configuration of any servers is one that can be loaded.
 */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "config/config.h"
#include "discover/discover.h"
#include "lib/names.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define OOB	 "\xff\xff\xff\xff"
#define NONCE	 "0123456789abcdef"
#define BYTES(b) b, sizeof(b) - 1

static const struct {
	const char *reply;
	size_t n;
	unsigned int sign;
	const char *name, *map;
} replies[] = {
	/* ioquake3, DarkPlaces, id's Quake II, mvdsv, QuakeSpasm */
	{ BYTES(OOB "statusResponse\n\\challenge\\" NONCE
		    "\\version\\ioq3\\mapname\\q3dm17\\sv_hostname\\arena\\protocol\\71\n"
		    "0 50 \"a\"\n"),
	  DISCOVER_QUAKE3, "arena", "q3dm17" },
	{ BYTES(OOB
		"statusResponse\n\\gamename\\Xonotic\\modname\\data\\gameversion\\800"
		"\\sv_maxclients\\8\\clients\\0\\bots\\0\\mapname\\dance\\hostname\\xon"
		"\\protocol\\3\\challenge\\" NONCE "\n"),
	  DISCOVER_DARKPLACES, "xon", "dance" },
	{ BYTES(OOB
		"print\n\\mapname\\q2dm1\\hostname\\railgun\\protocol\\34\n0 5 \"a\"\n"),
	  DISCOVER_QUAKE2, "railgun", "q2dm1" },
	{ BYTES(OOB
		"n\\*version\\MVDSV 0.36\\map\\dm3\\hostname\\duel\n1 0 0 50 \"a\"\n"),
	  DISCOVER_QUAKEWORLD, "duel", "dm3" },
	{ BYTES("\x80\0\0\x25\x83"
		"10.77.0.2:26000\0stand-in\0dm1\0\1\x10\3"),
	  DISCOVER_NETQUAKE, "stand-in", "dm1" },
	/* Protocol 3 without DarkPlaces' keys, and they with another protocol. */
	{ BYTES(OOB "statusResponse\n\\challenge\\" NONCE
		    "\\hostname\\a\\mapname\\b\\protocol\\3"),
	  DISCOVER_QUAKE3, "a", "b" },
	{ BYTES(OOB "statusResponse\n\\challenge\\" NONCE
		    "\\hostname\\a\\mapname\\b\\protocol\\33\\gameversion\\1"),
	  DISCOVER_QUAKE3, "a", "b" },
	/* Names are told plainly. */
	{ BYTES(OOB "n\\map\\d\"m#3\\hostname\\\x8f\r\n\\x\\y"), DISCOVER_QUAKEWORLD, "",
	  "dm3" },
	{ BYTES(OOB "n\\map\\d\"m#3\\hostname\\\x8f\r'd\x1b'{"), DISCOVER_QUAKEWORLD,
	  "'d'{", "dm3" },
	/* Others' words, other challenges, too little. */
	{ BYTES(OOB "statusResponse\n\\challenge\\0123456789abcdee"
		    "\\sv_hostname\\a\\mapname\\b"),
	  0, "", "" },
	{ BYTES(OOB "statusResponse\n\\sv_hostname\\a\\mapname\\b\n\\challenge\\" NONCE),
	  0, "", "" },
	{ BYTES(OOB "statusResponse\n\\sv_hostname\\a\\challenge\\" NONCE), 0, "", "" },
	{ BYTES(OOB "infoResponse\n\\challenge\\" NONCE "\\hostname\\a\\mapname\\b"), 0,
	  "", "" },
	{ BYTES(OOB "print\nBad rconpassword.\n"), 0, "", "" },
	{ BYTES(OOB "nhostname map\n"), 0, "", "" },
	{ BYTES(OOB "n\\map\\dm3"), 0, "", "" },
	{ BYTES(OOB "getstatus " NONCE), 0, "", "" },
	{ BYTES(OOB "status"), 0, "", "" },
	{ BYTES("\x80\0\0\x0c\2QUAKE\0\3"), 0, "", "" },
	{ BYTES("\x80\0\0\x26\x83"
		"10.77.0.2:26000\0stand-in\0dm1\0\1\x10\3"),
	  0, "", "" },
	{ BYTES("\x80\0\0\x25\x83"
		"10.77.0.2:26000\0stand-in\0dm1\0\1\x10\4"),
	  0, "", "" },
	{ BYTES("\x80\0\0\x09\x83"
		"abcd"),
	  0, "", "" },
	{ BYTES("\x16\xfe\xff\0\0\0\0\0\0\0\0\0\x23\3\0\0\x17"), 0, "", "" },
	{ BYTES(""), 0, "", "" },
};

/* In memory of exactly @n bytes. */
static unsigned int recognised(const void *reply, size_t n, struct discover_info *ret)
{
	char *copy = malloc(n ? n : 1);
	unsigned int sign;

	memcpy(copy, reply, n);
	memset(ret, 0, sizeof(*ret));
	sign = discover_recognise(copy, n, NONCE, ret);
	free(copy);
	return sign;
}

static void reply_of_a_game_is_recognised(void **state)
{
	struct discover_info info;

	(void)state;
	for (size_t i = 0; i < COUNT(replies); i++) {
		unsigned int sign = recognised(replies[i].reply, replies[i].n, &info);

		if (sign != replies[i].sign)
			fail_msg("reply %zu: sign %u", i, sign);
		if (sign && (strcmp(info.name, replies[i].name) != 0 ||
			     strcmp(info.map, replies[i].map) != 0))
			fail_msg("reply %zu: '%s' on '%s'", i, info.name, info.map);
	}
}

/* One datagram shows one protocol, however it is cut or changed, or none. */
static void damaged_reply_shows_nothing_else(void **state)
{
	struct discover_info info;
	char changed[512];

	(void)state;
	for (size_t i = 0; i < COUNT(replies); i++) {
		for (size_t n = 0; n < replies[i].n; n++) {
			unsigned int sign = recognised(replies[i].reply, n, &info);

			if (sign & ~(replies[i].sign | DISCOVER_QUAKE3))
				fail_msg("reply %zu to %zu: sign %u", i, n, sign);
		}
		for (size_t at = 0; at < 4 && at < replies[i].n; at++) {
			memcpy(changed, replies[i].reply, replies[i].n);
			changed[at] ^= 0x40;
			assert_int_equal(recognised(changed, replies[i].n, &info), 0);
		}
	}
}

static void echoed_question_is_no_reply(void **state)
{
	char question[DISCOVER_QUESTION];
	struct discover_info info;

	(void)state;
	for (int i = 0; i < DISCOVER_QUESTIONS; i++) {
		size_t n = discover_question(i, NONCE, question);

		assert_in_range(n, 10, sizeof(question));
		assert_int_equal(recognised(question, n, &info), 0);
		for (size_t at = 0; at < n; at++)
			for (int bit = 0; bit < 8; bit++) {
				question[at] ^= (char)(1 << bit);
				assert_int_equal(recognised(question, n, &info), 0);
				question[at] ^= (char)(1 << bit);
			}
	}
}

static void long_name_is_cut(void **state)
{
	static const char head[] = OOB "n\\map\\";
	struct discover_info info;
	char reply[1400];

	(void)state;
	memset(reply, 'x', sizeof(reply));
	memcpy(reply, head, sizeof(head) - 1);
	memcpy(reply + 700, "\\hostname\\", 10);
	assert_int_equal(recognised(reply, sizeof(reply), &info), DISCOVER_QUAKEWORLD);
	assert_int_equal(strlen(info.name), DISCOVER_NAME - 1);
	assert_int_equal(strlen(info.map), DISCOVER_MAP - 1);
}

static void several_signs_are_one_protocol(void **state)
{
	static const struct {
		unsigned int signs;
		enum wire_family family;
	} rows[] = {
		{ DISCOVER_QUAKEWORLD, FAMILY_QUAKEWORLD },
		{ DISCOVER_QUAKE2, FAMILY_QUAKE2 },
		{ DISCOVER_QUAKE3, FAMILY_QUAKE3 },
		{ DISCOVER_DARKPLACES, FAMILY_NETQUAKE },
		{ DISCOVER_NETQUAKE, FAMILY_NETQUAKE },
		/* FTE; an engine of NetQuake's that answers browsers */
		{ DISCOVER_QUAKEWORLD | DISCOVER_QUAKE3 | DISCOVER_NETQUAKE,
		  FAMILY_QUAKEWORLD },
		{ DISCOVER_QUAKE3 | DISCOVER_NETQUAKE, FAMILY_NETQUAKE },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_int_equal(discover_decide(rows[i].signs), rows[i].family);
}

/* --- the configuration ------------------------------------------------------------ */

static void add(struct discover_servers *all, const char *address, __u16 port,
		enum wire_family family, bool container)
{
	struct discover_server *s = &all->rows[all->count++];

	memset(s, 0, sizeof(*s));
	inet_pton(AF_INET6, address, s->address);
	s->port = port;
	s->family = family;
	s->container = container;
	strcpy(s->info.name, "'}{'*/ service");
}

static char *written(const struct discover_servers *all, const char *interface)
{
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	assert_non_null(out);
	discover_write(all, interface, out);
	fclose(out);
	return text;
}

static void loaded(const char *text, struct config *ret)
{
	char path[] = "/tmp/test_discover.XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	assert_int_equal(config_load(path, ret), 0);
	unlink(path);
}

static void configuration_is_loaded(void **state)
{
	struct discover_servers *all = calloc(1, sizeof(*all));
	struct config *config = calloc(1, sizeof(*config));
	char *text;

	(void)state;
	add(all, "::", 27960, FAMILY_QUAKE3, false);
	add(all, "::ffff:10.0.0.2", 27961, FAMILY_QUAKE3, false);
	add(all, "::ffff:10.0.0.3", 27961, FAMILY_QUAKE3, false);
	add(all, "fd00::2", 26000, FAMILY_NETQUAKE, false);
	add(all, "::", 27500, FAMILY_QUAKEWORLD, true);
	add(all, "::", 27500, FAMILY_QUAKEWORLD, true);
	add(all, "::", 27910, FAMILY_QUAKE2, false);
	all->rows[0].pid = 7;
	strcpy(all->rows[0].process, "ioq3ded");
	text = written(all, "eth0");
	assert_non_null(strstr(text, "\n# ioq3ded (process 7): '"));
	loaded(text, config);
	assert_string_equal(config->interfaces[0], "eth0");
	assert_int_equal(config->service_count, 6);
	assert_string_equal(config->services[0].service.name, "quake3-27960");
	assert_int_equal(config->services[0].address_count, 0);
	assert_string_equal(config->services[2].service.name, "quake3-27961-2");
	assert_int_equal(config->services[2].address_count, 1);
	assert_memory_equal(config->services[2].addresses[0], all->rows[2].address, 16);
	assert_int_equal(config->services[3].service.family, FAMILY_NETQUAKE);
	assert_memory_equal(config->services[3].addresses[0], all->rows[3].address, 16);
	assert_int_equal(config->services[5].service.family, FAMILY_QUAKE2);
	assert_int_equal(config->services[5].ports[0], 27910);
	assert_non_null(strstr(text, "\n# service \"quakeworld-27500-2\" {\n"));
	free(text);
	text = written(all, "");
	loaded(text, config);
	assert_int_equal(config->interface_count, 0);
	free(text);
	free(all);
	free(config);
}

/* The services of containers have no address, so one port is one service. */
static void containers_with_addresses_are_loaded(void **state)
{
	struct discover_servers *all = calloc(1, sizeof(*all));
	struct config *config = calloc(1, sizeof(*config));
	char *text;

	(void)state;
	add(all, "::ffff:10.0.0.2", 27960, FAMILY_QUAKE3, false);
	add(all, "::ffff:172.17.0.2", 27960, FAMILY_QUAKE3, true);
	add(all, "::ffff:172.17.0.3", 27960, FAMILY_QUAKE3, true);
	text = written(all, "eth0");
	loaded(text, config);
	assert_int_equal(config->service_count, 2);
	assert_int_equal(config->services[0].address_count, 1);
	assert_int_equal(config->services[1].address_count, 0);
	assert_non_null(strstr(text, "\n# service \"quake3-27960-3\" {\n"));
	free(text);
	free(all);
	free(config);
}

/* As many as there may be. */
static void full_configuration_is_loaded(void **state)
{
	struct discover_servers *all = calloc(1, sizeof(*all));
	struct config *config = calloc(1, sizeof(*config));
	char *text;

	(void)state;
	while (all->count < DISCOVER_SERVERS)
		add(all, "::", (__u16)(20000 + all->count), FAMILY_QUAKE3, false);
	text = written(all, "eth0");
	loaded(text, config);
	assert_int_equal(config->service_count, DISCOVER_SERVERS);
	free(text);
	free(all);
	free(config);
}

static void server_is_held_against_services(void **state)
{
	static const char text[] =
		"service \"any\" { protocol = quake3 port = {27960, 27961} }\n"
		"service \"one\" { protocol = quake2 port = 27910 address = \"10.0.0.2\" }\n";
	static const struct {
		const char *address;
		__u16 port;
		const char *service;
	} rows[] = {
		{ "::", 27961, "any" },
		{ "::ffff:10.0.0.9", 27960, "any" },
		{ "::", 27962, NULL },
		{ "::ffff:10.0.0.2", 27910, "one" },
		{ "::ffff:10.0.0.3", 27910, NULL },
		{ "fd00::2", 27910, NULL },
		{ "::", 27910, "one" },
	};
	struct discover_servers *all = calloc(1, sizeof(*all));
	struct config *config = calloc(1, sizeof(*config));

	(void)state;
	loaded(text, config);
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct config_service *c;

		all->count = 0;
		add(all, rows[i].address, rows[i].port, FAMILY_QUAKE3, false);
		c = discover_service(config, &all->rows[0]);
		assert_int_equal(c != NULL, rows[i].service != NULL);
		if (c)
			assert_string_equal(c->service.name, rows[i].service);
		for (size_t j = 0; j < config->service_count; j++)
			assert_int_equal(discover_replied(all, config,
							  &config->services[j]),
					 c == &config->services[j]);
	}
	free(all);
	free(config);
}

/* Whatever the order of the services is. */
static void exact_address_goes_before_any(void **state)
{
	static const char text[] =
		"service \"rest\" { protocol = quake3 port = 27910 }\n"
		"service \"one\" { protocol = quake2 port = 27910 address = \"10.0.0.2\" }\n";
	static const struct {
		const char *address, *service;
		bool container, rest, one; /* which of them has a server */
	} rows[] = {
		{ "::ffff:10.0.0.2", "one", false, false, true },
		{ "::ffff:10.0.0.3", "rest", false, true, false },
		/* The host's addresses are in front of a container. */
		{ "::ffff:10.0.0.2", "rest", true, true, true },
		{ "::", "rest", false, true, true },
	};
	struct discover_servers *all = calloc(1, sizeof(*all));
	struct config *config = calloc(1, sizeof(*config));

	(void)state;
	loaded(text, config);
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct config_service *c;

		all->count = 0;
		add(all, rows[i].address, 27910, FAMILY_QUAKE3, rows[i].container);
		c = discover_service(config, &all->rows[0]);
		assert_non_null(c);
		assert_string_equal(c->service.name, rows[i].service);
		assert_int_equal(discover_replied(all, config, &config->services[0]),
				 rows[i].rest);
		assert_int_equal(discover_replied(all, config, &config->services[1]),
				 rows[i].one);
	}
	free(all);
	free(config);
}

static void place_has_address_and_port(void **state)
{
	static const char *const rows[][2] = {
		{ "::", "*:27960" },
		{ "::ffff:10.0.0.2", "10.0.0.2:27960" },
		{ "fd00::2", "[fd00::2]:27960" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct discover_server s = { .port = 27960 };
		char place[DISCOVER_PLACE];

		inet_pton(AF_INET6, rows[i][0], s.address);
		discover_place(&s, place);
		assert_string_equal(place, rows[i][1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reply_of_a_game_is_recognised),
		cmocka_unit_test(damaged_reply_shows_nothing_else),
		cmocka_unit_test(echoed_question_is_no_reply),
		cmocka_unit_test(long_name_is_cut),
		cmocka_unit_test(several_signs_are_one_protocol),
		cmocka_unit_test(configuration_is_loaded),
		cmocka_unit_test(containers_with_addresses_are_loaded),
		cmocka_unit_test(full_configuration_is_loaded),
		cmocka_unit_test(server_is_held_against_services),
		cmocka_unit_test(exact_address_goes_before_any),
		cmocka_unit_test(place_has_address_and_port),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
