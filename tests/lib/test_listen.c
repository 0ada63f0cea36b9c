// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_listen.c - addresses to listen on, and whose requests are answered there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include <arpa/inet.h>
#include <netinet/in.h>

#include "lib/listen.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static void addresses(void **state)
{
	static const struct {
		const char *text, *printed; /* NULL: refused */
		bool loopback;
	} rows[] = {
		{ "off", "off", true },
		{ "127.0.0.1:9127", "127.0.0.1:9127", true },
		{ "127.8.9.10:1", "127.8.9.10:1", true },
		{ "localhost:80", "127.0.0.1:80", true },
		{ "[::1]:65535", "[::1]:65535", true },
		{ "[::ffff:127.0.0.1]:80", "127.0.0.1:80", true },
		{ "0.0.0.0:9127", "0.0.0.0:9127", false },
		{ "192.0.2.1:9127", "192.0.2.1:9127", false },
		{ "[::]:9127", "[::]:9127", false },
		{ "[2001:db8::1]:9127", "[2001:db8::1]:9127", false },
		{ "[::2]:80", "[::2]:80", false },
		{ "", NULL, false },
		{ ":", NULL, false },
		{ ":9127", NULL, false },
		{ "127.0.0.1", NULL, false },
		{ "127.0.0.1:", NULL, false },
		{ "127.0.0.1:0", NULL, false },
		{ "127.0.0.1:65536", NULL, false },
		{ "127.0.0.1:99999999999", NULL, false },
		{ "127.0.0.1:+1", NULL, false },
		{ "127.0.0.1: 1", NULL, false },
		{ "127.0.0.1:80x", NULL, false },
		{ "127.1:80", NULL, false },
		{ "::1:80", NULL, false },
		{ "[]:80", NULL, false },
		{ "[::1:80", NULL, false },
		{ "[127.0.0.1]:80", NULL, false },
		{ "example.org:80", NULL, false },
		{ "[1111:2222:3333:4444:5555:6666:7777:8888:9999:aaaa]:80", NULL, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct listen_at at = { 0 };
		char text[LISTEN_TEXT];
		const char *wrong = listen_parse(rows[i].text, &at);

		if (!rows[i].printed) {
			assert_non_null(wrong);
			continue;
		}
		assert_null(wrong);
		listen_format(&at, text);
		assert_string_equal(text, rows[i].printed);
		assert_int_equal(listen_loopback(&at), rows[i].loopback);
	}
}

static void hosts(void **state)
{
	static const struct {
		const char *host;
		bool local;
	} rows[] = {
		{ "127.0.0.1", true },
		{ "127.0.0.1:9127", true },
		{ "localhost", true },
		{ "LOCALHOST:8080", true },
		{ "[::1]", true },
		{ "[::1]:9127", true },
		{ "", false },
		{ "localhost.evil.example", false },
		{ "127.0.0.1.example", false },
		{ "evil.example:9127", false },
		{ "192.0.2.1", false },
		{ "0.0.0.0:9127", false },
		{ "localhost:", false },
		{ "localhost:x", false },
		{ "[::2]:80", false },
		{ "]", false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_int_equal(listen_host_local(rows[i].host), rows[i].local);
}

static void sockets(void **state)
{
	struct sockaddr_storage a;
	const struct sockaddr_in *v4 = (struct sockaddr_in *)&a;
	const struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&a;
	struct listen_at at;
	socklen_t length;

	(void)state;
	assert_null(listen_parse("127.0.0.1:9127", &at));
	listen_sockaddr(&at, &a, &length);
	assert_int_equal(length, sizeof(*v4));
	assert_int_equal(v4->sin_family, AF_INET);
	assert_int_equal(ntohs(v4->sin_port), 9127);
	assert_int_equal(ntohl(v4->sin_addr.s_addr), INADDR_LOOPBACK);
	assert_null(listen_parse("[::1]:80", &at));
	listen_sockaddr(&at, &a, &length);
	assert_int_equal(length, sizeof(*v6));
	assert_int_equal(v6->sin6_family, AF_INET6);
	assert_int_equal(ntohs(v6->sin6_port), 80);
	assert_true(IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr));
}

static void sameness(void **state)
{
	struct listen_at a = { 0 }, b = { 0 };

	(void)state;
	assert_null(listen_parse("127.0.0.1:1", &a));
	assert_null(listen_parse("127.0.0.1:1", &b));
	assert_true(listen_equal(&a, &b));
	b.public = true;
	assert_false(listen_equal(&a, &b));
	b.public = false;
	b.port = 2;
	assert_false(listen_equal(&a, &b));
	b.off = true;
	assert_false(listen_equal(&a, &b));
	a.off = true;
	assert_true(listen_equal(&a, &b));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses),
		cmocka_unit_test(hosts),
		cmocka_unit_test(sockets),
		cmocka_unit_test(sameness),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
