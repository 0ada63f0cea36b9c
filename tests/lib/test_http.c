// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_http.c - the pages over HTTP: what is answered to whom, and that nobody holds a
 * place for ever. The server runs in a process of its own.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "lib/http.h"
#include "lib/loop.h"

#define DEADLINE_S 2
#define REQUEST	   "GET /text HTTP/1.1\r\nHost: localhost\r\n\r\n"

static pid_t server;
static uint16_t port;

static int render_text(FILE *out, void *context)
{
	fputs(context, out);
	return 200;
}

static int render_fault(FILE *out, void *context)
{
	(void)out;
	(void)context;
	return -EIO;
}

static const struct http_page pages[] = {
	{ "/text", "text/plain", false, render_text, NULL, NULL },
	{ "/people", "text/plain", true, render_text, NULL, NULL },
	{ "/fault", "text/plain", false, render_fault, NULL, NULL },
};

static struct http *http;

static void tick(void *context)
{
	(void)context;
	http_tick(http);
}

static struct sockaddr_in address_of(uint16_t at)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(at) };

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return a;
}

/* A port that was free a moment ago. */
static uint16_t free_port(void)
{
	struct sockaddr_in a = address_of(0);
	socklen_t n = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&a, n), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &n), 0);
	close(fd);
	return ntohs(a.sin_port);
}

static void serve(bool public)
{
	struct listen_at at;
	char text[32];

	port = free_port();
	snprintf(text, sizeof(text), "127.0.0.1:%u", port);
	server = fork();
	assert_true(server >= 0);
	if (server)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (listen_parse(text, &at))
		_exit(1);
	at.public = public;
	if (http_start(&at, pages, 3, (void *)"hello\n", &http) ||
	    !loop_every(100, tick, NULL))
		_exit(1);
	http_deadline(http, DEADLINE_S);
	loop_run();
	_exit(0);
}

static int stop(void **state)
{
	(void)state;
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	return 0;
}

static int knock(void)
{
	struct sockaddr_in a = address_of(port);

	for (int i = 0; i < 100; i++) {
		int fd = socket(AF_INET, SOCK_STREAM, 0);

		if (!connect(fd, (struct sockaddr *)&a, sizeof(a)))
			return fd;
		close(fd);
		usleep(50000);
	}
	fail_msg("the server does not come up");
	return -1;
}

/* What comes within @ms, as a string; closed or silent: what there is. */
static const char *hear(int fd, int ms)
{
	static char text[8192];
	size_t used = 0;
	struct pollfd p = { .fd = fd, .events = POLLIN };
	ssize_t n;

	while (used < sizeof(text) - 1 && poll(&p, 1, ms) == 1) {
		n = read(fd, text + used, sizeof(text) - 1 - used);
		if (n <= 0)
			break;
		used += (size_t)n;
		ms = 200;
	}
	text[used] = 0;
	return text;
}

static void say(int fd, const char *text)
{
	assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

static const struct {
	bool public;
	const char *request; /* method and path */
	const char *host;
	const char *answer; /* how it begins */
	const char *holds, *lacks;
} rows[] = {
	{ false, "GET /text", "localhost", "HTTP/1.1 200", "hello", "\001" },
	{ false, "HEAD /text", "localhost", "HTTP/1.1 200", "nosniff", "hello" },
	{ false, "POST /text", "localhost", "HTTP/1.1 405", "Allow: GET, HEAD", "hello" },
	{ false, "DELETE /text", "localhost", "HTTP/1.1 405", "read only", "hello" },
	{ false, "GET /none", "localhost", "HTTP/1.1 404", "no such page", "hello" },
	{ false, "GET /text", "evil.example", "HTTP/1.1 403", "loopback", "hello" },
	{ true, "GET /text", "evil.example", "HTTP/1.1 200", "hello", "\001" },
	{ false, "GET /people", "localhost", "HTTP/1.1 200", "hello", "\001" },
	{ true, "GET /people", "localhost", "HTTP/1.1 403", "about people", "hello" },
	{ false, "GET /fault", "localhost", "HTTP/1.1 500", "could not be read",
	  "hello" },
};

static void who_gets_what(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char request[256];
		const char *answer;
		int fd;

		print_message("%s of %s\n", rows[i].request, rows[i].host);
		serve(rows[i].public);
		fd = knock();
		snprintf(request, sizeof(request), "%s HTTP/1.1\r\nHost: %s\r\n\r\n",
			 rows[i].request, rows[i].host);
		say(fd, request);
		answer = hear(fd, 5000);
		assert_int_equal(strncmp(answer, rows[i].answer, strlen(rows[i].answer)),
				 0);
		assert_non_null(strstr(answer, rows[i].holds));
		assert_null(strstr(answer, rows[i].lacks));
		close(fd);
		stop(NULL);
	}
	serve(false); /* for the teardown */
}

/* All places taken by people who send a byte now and then; then somebody honest comes. */
static void slow_ones_are_sent_away(void **state)
{
	int slow[HTTP_CONNECTIONS], fd;
	struct timespec start, now;

	(void)state;
	serve(false);
	for (size_t i = 0; i < HTTP_CONNECTIONS; i++) {
		slow[i] = knock();
		say(slow[i], "G");
	}
	clock_gettime(CLOCK_MONOTONIC, &start);
	do {
		for (size_t i = 0; i < HTTP_CONNECTIONS; i++)
			send(slow[i], "E", 1, MSG_NOSIGNAL);
		usleep(200000);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec - start.tv_sec < DEADLINE_S + 2);
	fd = knock();
	say(fd, REQUEST);
	assert_non_null(strstr(hear(fd, 5000), "hello"));
	close(fd);
	for (size_t i = 0; i < HTTP_CONNECTIONS; i++)
		close(slow[i]);
}

/* Many more of them than there are places, who queue before somebody honest does. */
static void a_crowd_keeps_nobody_waiting(void **state)
{
	int slow[4 * HTTP_CONNECTIONS], fd;

	(void)state;
	serve(false);
	for (size_t i = 0; i < sizeof(slow) / sizeof(*slow); i++) {
		slow[i] = knock();
		say(slow[i], "GET /text HTTP/1.1\r\nX: ");
	}
	fd = knock();
	say(fd, REQUEST);
	assert_non_null(strstr(hear(fd, DEADLINE_S * 1000 / 2), "hello"));
	close(fd);
	for (size_t i = 0; i < sizeof(slow) / sizeof(*slow); i++)
		close(slow[i]);
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/*
 * Ask on @fd every second, until twice the deadline is over. False: the machine made us
 * late, so that the server may close; nothing is said of it then.
 */
static bool keeps_asking(int fd)
{
	double start = seconds(), asked, heard;
	bool answered;

	do {
		asked = seconds();
		answered = send(fd, REQUEST, strlen(REQUEST), MSG_NOSIGNAL) > 0 &&
			   strstr(hear(fd, 5000), "hello");
		usleep(800000);
		heard = seconds();
		if (heard - asked >= DEADLINE_S)
			return false;
		assert_true(answered);
	} while (heard - start < 2 * DEADLINE_S);
	return true;
}

/* A client that asks again and again on one connection keeps it beyond the deadline. */
static void busy_ones_stay(void **state)
{
	bool asked = false;

	(void)state;
	serve(false);
	for (int i = 0; i < 10 && !asked; i++) {
		int fd = knock();

		asked = keeps_asking(fd);
		close(fd);
	}
	assert_true(asked);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(who_gets_what, stop),
		cmocka_unit_test_teardown(slow_ones_are_sent_away, stop),
		cmocka_unit_test_teardown(a_crowd_keeps_nobody_waiting, stop),
		cmocka_unit_test_teardown(busy_ones_stay, stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
