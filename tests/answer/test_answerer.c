// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * When a server is asked, and what is there to be sent: the answerer between a shield, a
 * clock and a loop of this file's and a server that is a socket on loopback.
 */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "answer/answerer.h"
#include "answer/ask.h"
#include "answer/known_file.h"
#include "incident/incident_store.h"
#include "lib/loop.h"

#define OOB    "\xff\xff\xff\xff"
#define MS     1000000ull
#define SECOND (1000 * MS)
#define FORMS  4 /* of Quake III */

static __u64 clock_ns, once_ns, every_ns, every_step_ns;
static void (*once)(void *), (*every)(void *);
static void *context_once, *context_every;
static bool pressed;
static struct template held[TEMPLATE_FORMS];
static struct known_table table;
static const __u64 keys[3] = { 1, 2, 3 };

/* --- what the answerer sees of a shield ---------------------------------------- */

__u64 shield_clock(void)
{
	return clock_ns;
}

bool shield_service(const struct shield *shield, __u32 slot, struct service *ret)
{
	(void)shield;
	memset(ret, 0, sizeof(*ret));
	strcpy(ret->name, "lab");
	return !slot;
}

bool shield_flooded(const struct shield *shield, __u32 slot)
{
	(void)shield;
	(void)slot;
	return pressed;
}

void shield_template_put(struct shield *shield, __u32 slot, __u32 form,
			 const struct template *t)
{
	(void)shield;
	assert_int_equal(slot, 0);
	assert_in_range(form, 0, FORMS - 1);
	held[form] = *t;
}

void shield_recall_turn(struct shield *shield, __u64 now)
{
	(void)shield;
	(void)now;
}

struct known_table *shield_known_table(struct shield *shield, const __u64 **ret_keys)
{
	(void)shield;
	*ret_keys = keys;
	return &table;
}

__u32 shield_known(const struct shield *shield)
{
	(void)shield;
	return 0;
}

void incident_path(const char *pin, const char *name, char ret[INCIDENT_PATH])
{
	(void)pin;
	(void)name;
	strcpy(ret, "/nonexistent/known.txt");
}

int incident_directory(const char *path)
{
	(void)path;
	return 0;
}

bool loop_every(int ms, void (*tick)(void *), void *context)
{
	every = tick;
	context_every = context;
	every_step_ns = (__u64)ms * MS;
	every_ns = clock_ns + every_step_ns;
	return true;
}

bool loop_once(int ms, void (*tick)(void *), void *context)
{
	if (once)
		return true;
	once = tick;
	context_once = context;
	once_ns = clock_ns + (__u64)ms * MS;
	return true;
}

/* --- a server -------------------------------------------------------------------- */

static int server = -1;
static unsigned int asked_, lose, large; /* how many are not replied to; too large */
static struct answerer *answerer;

static void reply_to(const char *question, const struct sockaddr_in *to)
{
	const char *word = strchr(question + 4, ' ');
	bool status = !strncmp(question + 4, "getstatus", 9);
	char reply[1500];
	int n = snprintf(reply, sizeof(reply),
			 OOB "%sResponse\n\\challenge\\%s\\hostname\\"
			     "a server of some name\\mapname\\q3dm17\\gametype\\0%s",
			 status ? "status" : "info", word ? word + 1 : "",
			 status ? "\n1 50 \"somebody\"\n" : "");

	if (large) {
		memset(reply + n, 'x', sizeof(reply) - (size_t)n);
		n = sizeof(reply);
	}
	sendto(server, reply, (size_t)n, 0, (const struct sockaddr *)to, sizeof(*to));
}

static void serve(void)
{
	char question[100];
	struct sockaddr_in from;
	socklen_t size = sizeof(from);
	ssize_t n;

	while ((n = recvfrom(server, question, sizeof(question) - 1, MSG_DONTWAIT,
			     (struct sockaddr *)&from, &size)) > 4) {
		question[n] = 0;
		asked_++;
		if (lose)
			lose--;
		else
			reply_to(question, &from);
		size = sizeof(from);
	}
}

/* Let so much time go by. */
static void pass(__u64 ns)
{
	__u64 until = clock_ns + ns;

	while (clock_ns < until) {
		clock_ns += 10 * MS;
		if (every_ns <= clock_ns) {
			every_ns += every_step_ns;
			every(context_every);
		}
		if (once && once_ns <= clock_ns) {
			void (*tick)(void *) = once;

			once = NULL;
			tick(context_once);
		}
		serve();
	}
}

/* How many could be sent at this moment. */
static unsigned int fresh(void)
{
	unsigned int count = 0;

	for (size_t i = 0; i < FORMS; i++)
		count += template_fresh(&held[i], clock_ns);
	return count;
}

static int begin(void **state)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	socklen_t size = sizeof(at);
	static struct config config;
	struct config_service *service = &config.services[0];

	(void)state;
	clock_ns = 1000 * SECOND;
	once = NULL;
	pressed = false;
	asked_ = lose = large = 0;
	memset(held, 0, sizeof(held));
	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	server = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (server < 0 || bind(server, (const struct sockaddr *)&at, sizeof(at)) ||
	    getsockname(server, (struct sockaddr *)&at, &size))
		return -1;
	memset(&config, 0, sizeof(config));
	config.service_count = 1;
	strcpy(service->service.name, "lab");
	service->service.family = FAMILY_QUAKE3;
	service->service.answers = ANSWERS_PRESSURE;
	service->ports[0] = ntohs(at.sin_port);
	service->port_count = 1;
	return answerer_start(NULL, &config, NULL, &answerer);
}

static int end(void **state)
{
	(void)state;
	answerer_stop(answerer);
	answerer = NULL;
	close(server);
	return 0;
}

/* --- tests ------------------------------------------------------------------------- */

/* A flood's first packet finds an answer, whenever it comes. */
static void there_is_something_to_say_before_a_flood(void **state)
{
	(void)state;
	pass(5 * SECOND);
	for (int i = 0; i < 6000; i++) {
		assert_int_equal(fresh(), FORMS);
		pass(10 * MS);
	}
}

static void a_reply_that_gets_lost_is_asked_for_anew(void **state)
{
	(void)state;
	pass(5 * SECOND);
	for (int i = 0; i < 20; i++) {
		lose = 1;
		for (int step = 0; step < 700; step++) {
			assert_int_equal(fresh(), FORMS);
			pass(10 * MS);
		}
	}
}

/* In quiet times four questions in three seconds; under pressure, as before. */
static void it_costs_the_server_little(void **state)
{
	(void)state;
	pass(10 * SECOND);
	asked_ = 0;
	pass(60 * SECOND);
	assert_in_range(asked_, 60, 80);
	pressed = true;
	pass(SECOND);
	asked_ = 0;
	pass(60 * SECOND);
	assert_in_range(asked_, 120, 160);
	pressed = false;
	pass(5 * SECOND);
	asked_ = 0;
	pass(60 * SECOND);
	assert_in_range(asked_, 60, 80);
}

/* What never fits a frame is not asked for as if it did. */
static void what_gets_no_answer_is_seldom_asked(void **state)
{
	(void)state;
	large = 1;
	pass(20 * SECOND);
	asked_ = 0;
	pass(60 * SECOND);
	assert_in_range(asked_, 1, 20);
	assert_int_equal(fresh(), 0);
	/* The server has fewer players, or is there again. */
	large = 0;
	pass(20 * SECOND);
	assert_int_equal(fresh(), FORMS);
}

/* Whose server is gone has nothing old said in its name. */
static void what_is_old_is_not_there(void **state)
{
	(void)state;
	pass(5 * SECOND);
	lose = ~0u;
	pass(7 * SECOND);
	assert_int_equal(fresh(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(there_is_something_to_say_before_a_flood,
						begin, end),
		cmocka_unit_test_setup_teardown(a_reply_that_gets_lost_is_asked_for_anew,
						begin, end),
		cmocka_unit_test_setup_teardown(it_costs_the_server_little, begin, end),
		cmocka_unit_test_setup_teardown(what_gets_no_answer_is_seldom_asked,
						begin, end),
		cmocka_unit_test_setup_teardown(what_is_old_is_not_there, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
