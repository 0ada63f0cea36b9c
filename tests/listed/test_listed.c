// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_listed.c - replies of master servers, which a host on the way may have made: at
 * every truncation, with every byte changed, and long; the questions; what a server tells
 * of itself; the names of masters; and a reply that waits while another one is read.
 * net_listed.sh has the conversation.
 */
#include <arpa/inet.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "lib/udp_sockets.h"
#include "listed/listed.h"
#include "listed/listed_internal.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define OOB	 "\xff\xff\xff\xff"
#define BYTES(b) b, sizeof(b) - 1
#define DP	 OOB "getserversResponse"
#define EXT	 OOB "getserversExtResponse"
#define A	 "\\\x0a\x01\x02\x03\x6d\x38" /* 10.1.2.3:27960 */
#define B	 "\\\\/\\/\\\\" /* 92.47.92.47:23644 */
#define SIX	 "/\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x01\x6d\x38"
#define EOT	 "\\EOT\0\0\0"

static const struct {
	enum listed_words words;
	const char *reply;
	size_t n;
	enum listed_part part;
	const char *entries;
} replies[] = {
	{ LISTED_DPMASTER, BYTES(DP A EOT), LISTED_END, "10.1.2.3:27960 " },
	{ LISTED_DPMASTER, BYTES(DP A A), LISTED_PART, "10.1.2.3:27960 10.1.2.3:27960 " },
	{ LISTED_DPMASTER, BYTES(DP B EOT), LISTED_END, "92.47.92.47:23644 " },
	/* 69.79.84.0 begins as the mark does, with a port it is a server. */
	{ LISTED_DPMASTER, BYTES(DP "\\EOT\0\x6d\x38" EOT), LISTED_END,
	  "69.79.84.0:27960 " },
	{ LISTED_DPMASTER, BYTES(DP EOT), LISTED_END, "" },
	{ LISTED_DPMASTER, BYTES(DP), LISTED_PART, "" },
	/* id's: the mark without NULs, the next entry's begun, LF and NUL before. */
	{ LISTED_DPMASTER, BYTES(DP A "\\EOT"), LISTED_END, "10.1.2.3:27960 " },
	{ LISTED_DPMASTER, BYTES(DP A "\\"), LISTED_PART, "10.1.2.3:27960 " },
	{ LISTED_DPMASTER, BYTES(DP "\n\0" A EOT), LISTED_END, "10.1.2.3:27960 " },
	/* No port: no server. */
	{ LISTED_DPMASTER, BYTES(DP "\\\x0a\x01\x02\x03\0\0" EOT), LISTED_END, "" },
	{ LISTED_DPMASTER, BYTES(DP "\n\n\n" A EOT), LISTED_BAD, "" },
	{ LISTED_DPMASTER, BYTES(DP A "\\EOT\0\0\0\0"), LISTED_BAD, "" },
	{ LISTED_DPMASTER, BYTES(DP A "\\EOTx"), LISTED_BAD, "" },
	{ LISTED_DPMASTER, BYTES(DP A EOT A), LISTED_BAD, "" },
	{ LISTED_DPMASTER, BYTES(DP SIX EOT), LISTED_BAD, "" },
	{ LISTED_DPMASTER, BYTES(DP A "x"), LISTED_BAD, "" },
	{ LISTED_DPMASTER, BYTES(EXT A EOT), LISTED_BAD, "" },
	{ LISTED_DPMASTER, BYTES(OOB "GETSERVERSRESPONSE" A EOT), LISTED_BAD, "" },
	{ LISTED_DPMASTER_EXT, BYTES(EXT A SIX EOT), LISTED_END,
	  "10.1.2.3:27960 2001:db8::1:27960 " },
	{ LISTED_DPMASTER_EXT, BYTES(DP A EOT), LISTED_BAD, "" },
	{ LISTED_QUAKEWORLD, BYTES(OOB "d\n\x0a\x01\x02\x03\x6b\x6c"), LISTED_PART,
	  "10.1.2.3:27500 " },
	{ LISTED_QUAKEWORLD, BYTES(OOB "d\n"), LISTED_PART, "" },
	{ LISTED_QUAKEWORLD, BYTES(OOB "d\n\x0a\x01\x02\x03\x6b"), LISTED_BAD, "" },
	{ LISTED_QUAKEWORLD, BYTES(OOB "servers "), LISTED_BAD, "" },
	{ LISTED_QUAKE2, BYTES(OOB "servers \x0a\x01\x02\x03\x6d\x06"), LISTED_PART,
	  "10.1.2.3:27910 " },
	{ LISTED_QUAKE2, BYTES(OOB "servers\n\x0a\x01\x02\x03\x6d\x06"), LISTED_PART,
	  "10.1.2.3:27910 " },
	{ LISTED_QUAKE2, BYTES(OOB "servers"), LISTED_BAD, "" },
	{ LISTED_QUAKE2, BYTES(OOB "serversx\x0a\x01\x02\x03\x6d\x06"), LISTED_BAD, "" },
	{ LISTED_NONE, BYTES(DP A EOT), LISTED_BAD, "" },
	{ LISTED_DPMASTER, BYTES(""), LISTED_BAD, "" },
};

/* Entries, as text; beyond its room only the count goes on. */
struct heard {
	size_t count;
	char text[256];
};

static void hear(const __be32 address[4], __u16 port, void *context)
{
	struct heard *h = context;
	size_t n = strlen(h->text);
	char text[EXPLAIN_ADDRESS];

	h->count++;
	explain_format(address, 0, text);
	snprintf(h->text + n, sizeof(h->text) - n, "%s:%u ", text, port);
}

/* In memory of exactly @n bytes. */
static enum listed_part heard(enum listed_words words, const void *reply, size_t n,
			      struct heard *ret)
{
	char *copy = malloc(n ? n : 1);
	enum listed_part part;

	memcpy(copy, reply, n);
	memset(ret, 0, sizeof(*ret));
	part = listed_reply(words, copy, n, hear, ret);
	free(copy);
	return part;
}

static void list_is_read(void **state)
{
	struct heard h;

	(void)state;
	for (size_t i = 0; i < COUNT(replies); i++) {
		enum listed_part part =
			heard(replies[i].words, replies[i].reply, replies[i].n, &h);

		if (part != replies[i].part || strcmp(h.text, replies[i].entries) != 0)
			fail_msg("reply %zu: %d, '%s'", i, (int)part, h.text);
	}
}

/* A datagram that was cut tells a beginning of its entries, or nothing at all. */
static void cut_list_tells_no_other_entries(void **state)
{
	struct heard whole, cut;

	(void)state;
	for (size_t i = 0; i < COUNT(replies); i++) {
		heard(replies[i].words, replies[i].reply, replies[i].n, &whole);
		for (size_t n = 0; n < replies[i].n && whole.count; n++) {
			enum listed_part part =
				heard(replies[i].words, replies[i].reply, n, &cut);

			if ((part == LISTED_BAD && cut.count) ||
			    strncmp(whole.text, cut.text, strlen(cut.text)) != 0)
				fail_msg("reply %zu to %zu: '%s'", i, n, cut.text);
		}
	}
}

/* Whatever one byte becomes: no more entries than there is room for, none of a bad one.
 */
static void changed_list_tells_no_more(void **state)
{
	struct heard h;
	char changed[256];

	(void)state;
	for (size_t i = 0; i < COUNT(replies); i++)
		for (size_t at = 0; at < replies[i].n; at++)
			for (int value = 0; value < 256; value++) {
				enum listed_part part;

				memcpy(changed, replies[i].reply, replies[i].n);
				changed[at] = (char)value;
				part = heard(replies[i].words, changed, replies[i].n, &h);
				if (h.count > replies[i].n / 6 ||
				    (part == LISTED_BAD && h.count))
					fail_msg("reply %zu at %zu: %d", i, at, value);
				if (at < 4 && value != 0xff)
					assert_int_equal(part, LISTED_BAD);
			}
}

static void largest_datagram_is_read(void **state)
{
	enum {
		ALL = 65507
	};
	char *reply = malloc(ALL);
	size_t head = sizeof(OOB "servers ") - 1;
	size_t n = ALL - (ALL - head) % 6;
	struct heard h;

	(void)state;
	memset(reply, 'x', ALL);
	memcpy(reply, OOB "servers ", head);
	assert_int_equal(heard(LISTED_QUAKE2, reply, n, &h), LISTED_PART);
	assert_int_equal(h.count, (n - head) / 6);
	assert_int_equal(heard(LISTED_QUAKE2, reply, n - 1, &h), LISTED_BAD);
	assert_int_equal(h.count, 0);
	free(reply);
}

static void question_is_a_browsers(void **state)
{
	static const struct {
		enum listed_words words;
		const char *game, *protocol, *bytes;
		size_t n;
	} rows[] = {
		{ LISTED_DPMASTER, "", "71", BYTES(OOB "getservers 71 empty full") },
		{ LISTED_DPMASTER, "Xonotic", "3",
		  BYTES(OOB "getservers Xonotic 3 empty full") },
		{ LISTED_DPMASTER_EXT, "", "71",
		  BYTES(OOB "getserversExt Quake3Arena 71 empty full") },
		{ LISTED_QUAKEWORLD, "", "", BYTES("c\n\0") },
		{ LISTED_QUAKE2, "", "", BYTES("query\n\0") },
		{ LISTED_NONE, "", "", BYTES("") },
	};
	char ret[LISTED_QUESTION];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(listed_question(rows[i].words, rows[i].game,
						 rows[i].protocol, ret),
				 rows[i].n);
		assert_memory_equal(ret, rows[i].bytes, rows[i].n);
	}
	/* The longest game and protocol. */
	assert_int_equal(listed_question(LISTED_DPMASTER_EXT,
					 "abcdefghijklmnopqrstuvwxyz012345", "123456",
					 ret),
			 68);
}

#define INFO OOB "infoResponse\n"
static void server_tells_game_and_protocol(void **state)
{
	static const struct {
		const char *reply;
		bool good;
		const char *game, *protocol;
	} rows[] = {
		{ INFO "\\protocol\\71\\gamename\\Quake3Arena", true, "", "71" },
		{ INFO "\\gamename\\Xonotic\\protocol\\3", true, "Xonotic", "3" },
		{ INFO "\\protocol\\68", true, "", "68" },
		/* A name that would be another word of the question, or a number. */
		{ INFO "\\protocol\\68\\gamename\\a b", true, "", "68" },
		{ INFO "\\protocol\\68\\gamename\\68", true, "", "68" },
		{ INFO "\\protocol\\68\\gamename\\a\nb", true, "", "68" },
		/* Characters with a meaning for a terminal, an engine or a format. */
		{ INFO "\\protocol\\68\\gamename\\a\x1b", true, "", "68" },
		{ INFO "\\protocol\\68\\gamename\\a\x7f", true, "", "68" },
		{ INFO "\\protocol\\68\\gamename\\a\xff", true, "", "68" },
		{ INFO "\\protocol\\68\\gamename\\a%s", true, "", "68" },
		{ INFO "\\protocol\\68\\gamename\\a;b", true, "", "68" },
		{ INFO "\\protocol\\68\\gamename\\a/b", true, "", "68" },
		{ INFO "\\protocol\\68\\gamename\\a\"", true, "", "68" },
		{ INFO "\\protocol\\68\\gamename\\abcdefghijklmnopqrstuvwxyz0123456",
		  true, "", "68" },
		{ INFO "\\protocol\\68 x", false, "", "" },
		{ INFO "\\protocol\\-1", false, "", "" },
		{ INFO "\\protocol\\1234567", false, "", "" },
		{ INFO "\\protocol\\", false, "", "" },
		{ INFO "\\gamename\\Xonotic", false, "", "" },
		{ OOB "statusResponse\n\\protocol\\68", false, "", "" },
		{ "", false, "", "" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		for (size_t n = 0; n <= strlen(rows[i].reply); n++) {
			char *copy = malloc(n ? n : 1);
			char game[LISTED_GAME] = "", protocol[LISTED_PROTOCOL] = "";
			bool good;

			memcpy(copy, rows[i].reply, n);
			good = listed_info(copy, n, game, protocol);
			free(copy);
			if (n < strlen(rows[i].reply))
				continue;
			if (good != rows[i].good ||
			    (good && (strcmp(game, rows[i].game) != 0 ||
				      strcmp(protocol, rows[i].protocol) != 0)))
				fail_msg("reply %zu: %d '%s' '%s'", i, good, game,
					 protocol);
		}
}

static void master_has_host_and_port(void **state)
{
	static const struct {
		const char *text;
		bool good;
		const char *host;
		unsigned int port;
		size_t addresses;
	} rows[] = {
		{ "dpmaster.deathmask.net", true, "dpmaster.deathmask.net", 0, 0 },
		{ "a-b.example:27900", true, "a-b.example", 27900, 0 },
		{ "192.0.2.1", true, "", 0, 1 },
		{ "192.0.2.1:27950", true, "", 27950, 1 },
		{ "[2001:db8::1]:27950", true, "", 27950, 1 },
		{ "2001:db8::1", true, "", 0, 1 },
		{ "", false, "", 0, 0 },
		{ ":27950", false, "", 0, 0 },
		{ "a:", false, "", 0, 0 },
		{ "a:0", false, "", 0, 0 },
		{ "a:65536", false, "", 0, 0 },
		{ "a:99999999999999999999", false, "", 0, 0 },
		{ "a:1x", false, "", 0, 0 },
		{ "a b", false, "", 0, 0 },
		{ "-a", false, "", 0, 0 },
		{ "a/b", false, "", 0, 0 },
		{ "a\n", false, "", 0, 0 },
	};
	struct listed_master m;
	char text[400];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		if (listed_master_parse(rows[i].text, &m) != rows[i].good)
			fail_msg("'%s'", rows[i].text);
		if (!rows[i].good)
			continue;
		assert_string_equal(m.name, rows[i].text);
		assert_string_equal(m.host, rows[i].host);
		assert_int_equal(m.port, rows[i].port);
		assert_int_equal(m.address_count, rows[i].addresses);
	}
	memset(text, 'a', sizeof(text));
	text[sizeof(text) - 1] = 0;
	assert_false(listed_master_parse(text, &m));
	text[LISTED_HOST] = 0;
	assert_false(listed_master_parse(text, &m));
	text[LISTED_HOST - 1] = 0;
	assert_true(listed_master_parse(text, &m));
	assert_int_equal(listed_port(&m, LISTED_DPMASTER), 27950);
	assert_int_equal(listed_port(&m, LISTED_QUAKEWORLD), 27000);
	assert_int_equal(listed_port(&m, LISTED_QUAKE2), 27900);
}

/* Each protocol with words for masters has well-known ones, which can be parsed. */
static void well_known_masters_are_names(void **state)
{
	struct listed_master known[LISTED_MASTERS], m;

	(void)state;
	for (int f = 0; f < FAMILY_COUNT; f++) {
		size_t n = listed_masters_known((enum wire_family)f, known, 0);

		assert_int_equal(n > 0,
				 listed_words_of((enum wire_family)f) != LISTED_NONE);
		for (size_t i = 0; i < n; i++)
			assert_true(listed_master_parse(known[i].name, &m));
		/* No more than there is room for. */
		assert_int_equal(listed_masters_known((enum wire_family)f, known,
						      LISTED_MASTERS),
				 LISTED_MASTERS);
	}
}

static void public_address_is_told_from_private(void **state)
{
	static const struct {
		const char *address;
		bool is_public;
	} rows[] = {
		{ "::ffff:8.8.8.8", true },
		{ "::ffff:172.15.255.255", true },
		{ "::ffff:172.32.0.0", true },
		{ "::ffff:100.63.0.1", true },
		{ "::ffff:10.0.0.1", false },
		{ "::ffff:172.16.0.1", false },
		{ "::ffff:172.31.255.255", false },
		{ "::ffff:192.168.9.9", false },
		{ "::ffff:100.64.0.1", false },
		{ "::ffff:169.254.1.1", false },
		{ "::ffff:127.0.0.1", false },
		{ "::ffff:224.0.0.1", false },
		{ "::ffff:0.0.0.0", false },
		{ "2600::1", true },
		{ "3fff::1", true },
		{ "1fff::1", false },
		{ "4000::1", false },
		{ "fd00::1", false },
		{ "fe80::1", false },
		{ "::1", false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		__be32 address[4];

		inet_pton(AF_INET6, rows[i].address, address);
		if (listed_is_public(address) != rows[i].is_public)
			fail_msg("%s", rows[i].address);
	}
}

/* --- a conversation ------------------------------------------------------ */

/* Open a socket at a port of loopback, which is put into @ret. */
static int master_open(__u16 *ret)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(at);
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&at, size), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &size), 0);
	*ret = ntohs(at.sin_port);
	return fd;
}

/* Answer one question at @fd. */
static void master_answer(int fd)
{
	struct sockaddr_in peer;
	socklen_t size = sizeof(peer);
	char question[LISTED_QUESTION];

	if (recvfrom(fd, question, sizeof(question), 0, (struct sockaddr *)&peer, &size) >
	    0)
		sendto(fd, "x", 1, 0, (struct sockaddr *)&peer, size);
}

static enum listed_part take_slowly(struct listed_ask *ask, const void *reply, size_t n)
{
	(void)reply;
	(void)n;
	if (ask->context)
		poll(NULL, 0, 3200);
	return LISTED_END;
}

/* Reading the list of one takes longer than all replies are waited for. */
static void reply_is_read_although_another_takes_long(void **state)
{
	static bool taken[PORTS];
	struct listed_ask asks[2] = { { .n = 1 }, { .n = 1 } };
	int fds[2], status;
	pid_t pid;

	(void)state;
	for (size_t i = 0; i < COUNT(asks); i++) {
		fds[i] = master_open(&asks[i].port);
		inet_pton(AF_INET6, "::ffff:127.0.0.1", asks[i].address);
		asks[i].take = take_slowly;
	}
	asks[0].context = asks;
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		master_answer(fds[0]);
		poll(NULL, 0, 300);
		master_answer(fds[1]);
		_exit(0);
	}
	assert_int_equal(listed_ask_all(asks, COUNT(asks), taken), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	for (size_t i = 0; i < COUNT(asks); i++) {
		assert_int_equal(asks[i].datagrams, 1);
		close(fds[i]);
	}
}

/* --- more servers than questions ----------------------------------------- */

static bool crowded; /* each port has a socket, of which IPv4 is not known */

bool udp_sockets_each(void (*each)(const struct udp_socket *, void *), void *context)
{
	struct udp_socket s = { .ipv6 = true };

	for (__u16 port = 20000; crowded && port < 20000 + SERVICES_MAX; port++) {
		s.port = port;
		each(&s, context);
	}
	return true;
}

__u64 shield_other_sockets(const struct shield *shield, __u32 slot, __u32 *ret)
{
	(void)shield;
	(void)slot;
	*ret = 1000;
	return 0;
}

static void server_that_is_not_asked_is_not_called_down(void **state)
{
	static bool taken[PORTS];
	static struct shield_endpoint ends[SERVICES_MAX];
	struct listed l = { .service_count = SERVICES_MAX };
	struct gather g = {
		.listed = &l, .ends = ends, .end_count = SERVICES_MAX, .taken = taken
	};
	size_t down = 0, unasked = 0;

	(void)state;
	l.services = calloc(SERVICES_MAX, sizeof(*l.services));
	g.asks = calloc(ASKS, sizeof(*g.asks));
	for (__u32 i = 0; i < SERVICES_MAX; i++) {
		l.services[i].slot = ends[i].slot = i;
		l.services[i].service.family = FAMILY_NETQUAKE;
		l.services[i].words = LISTED_DPMASTER;
		l.services[i].heartbeats = 1;
		ends[i].port = (__u16)(20000 + i);
	}
	crowded = true;
	assert_int_equal(listed_servers_ask(&g), 0);
	crowded = false;
	for (size_t i = 0; i < SERVICES_MAX; i++) {
		down += l.services[i].down;
		unasked += strstr(l.services[i].why, "was not asked") != NULL;
	}
	/* Two questions each: over IPv4 and IPv6. */
	assert_int_equal(down, ASKS / 2);
	assert_int_equal(unasked, SERVICES_MAX - ASKS / 2);
	for (size_t i = 0; i < ASKS / 2; i++)
		l.services[i].down = false;
	assert_false(listed_all(&l));
	free(l.services);
	free(g.asks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(list_is_read),
		cmocka_unit_test(cut_list_tells_no_other_entries),
		cmocka_unit_test(changed_list_tells_no_more),
		cmocka_unit_test(largest_datagram_is_read),
		cmocka_unit_test(question_is_a_browsers),
		cmocka_unit_test(server_tells_game_and_protocol),
		cmocka_unit_test(master_has_host_and_port),
		cmocka_unit_test(well_known_masters_are_names),
		cmocka_unit_test(public_address_is_told_from_private),
		cmocka_unit_test(reply_is_read_although_another_takes_long),
		cmocka_unit_test(server_that_is_not_asked_is_not_called_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
