// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * When a server is asked, and what is there to be sent: the refresh between a shield, a
 * clock and a loop of this file's and a server that is a socket on loopback.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "cache/cache_refresh_world.h"
#include "cache/cache_request.h"

#define OOB "\xff\xff\xff\xff"

/* --- a server -------------------------------------------------------------------- */

#define FROM 8 /* addresses that ask */

static int server = -1, beside = -1; /* another, which replies as well, uncounted */
static unsigned int asked_, lose, large; /* how many are not replied to; too large */
static unsigned int players; /* lines of these in a status */
static unsigned int status_; /* of asked_, those for the status */
static bool no_loopback;
static bool contained; /* only what comes from 127.0.0.1 arrives */
static unsigned int plain_; /* questions from there */
static unsigned int from_[FROM]; /* as asked_, of each */
static char words_[64][64]; /* of which the newest questions were made */
static size_t word_count;
static struct config config;
static struct cache_refresh *refresh;

/* In the place of the C library's. */
int bind(int fd, __CONST_SOCKADDR_ARG at, socklen_t size)
{
	const struct sockaddr_in *in = at.__sockaddr_in__;

	if (no_loopback && in->sin_addr.s_addr != htonl(INADDR_LOOPBACK)) {
		errno = EADDRNOTAVAIL;
		return -1;
	}
	return (int)syscall(SYS_bind, fd, in, size);
}

static void reply_to(int fd, const char *question, const struct sockaddr_in *to)
{
	const char *word = strchr(question + 4, ' ');
	bool status = !strncmp(question + 4, "getstatus", 9);
	char reply[8192];
	int n = snprintf(reply, sizeof(reply),
			 OOB "%sResponse\n\\challenge\\%s\\hostname\\"
			     "a server of some name\\mapname\\q3dm17\\gametype\\0%s",
			 status ? "status" : "info", word ? word + 1 : "",
			 status ? "\n1 50 \"somebody\"\n" : "");

	for (unsigned int i = 0; status && i < players; i++)
		n += sprintf(reply + n, "%u 50 \"player of some name\"\n", 1000 + i);
	if (large) {
		/* All of it is the server's own line, which cannot be cut. */
		for (char *c = reply + 20; *c; c++)
			*c = *c == '\n' ? ' ' : *c;
		memset(reply + n, 'x', sizeof(reply) - (size_t)n);
		n = sizeof(reply);
	}
	sendto(fd, reply, (size_t)n, 0, (const struct sockaddr *)to, sizeof(*to));
	if (fd == server && word)
		snprintf(words_[word_count++ % 64], sizeof(words_[0]), "%s", word + 1);
}

static void serve(int fd)
{
	char question[100];
	struct sockaddr_in from;
	socklen_t size = sizeof(from);
	ssize_t n;

	while ((n = recvfrom(fd, question, sizeof(question) - 1, MSG_DONTWAIT,
			     (struct sockaddr *)&from, &size)) > 4) {
		question[n] = 0;
		size = sizeof(from);
		plain_ += from.sin_addr.s_addr == htonl(INADDR_LOOPBACK);
		if (contained && from.sin_addr.s_addr != htonl(INADDR_LOOPBACK))
			continue;
		if (fd == server) {
			asked_++;
			status_ += !strncmp(question + 4, "getstatus", 9);
			from_[ntohl(from.sin_addr.s_addr) % FROM]++;
		}
		if (lose)
			lose--;
		else
			reply_to(fd, question, &from);
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
			steps_++;
			every(context_every);
		}
		if (once && once_ns <= clock_ns) {
			void (*tick)(void *) = once;

			once = NULL;
			steps_++;
			tick(context_once);
		}
		serve(server);
		serve(beside);
	}
}

/* How many could be sent at this moment. */
static unsigned int fresh(void)
{
	unsigned int count = 0;

	for (size_t i = 0; i < FORMS; i++)
		count += cache_fresh(&held[i], clock_ns);
	return count;
}

/* One on loopback, or -1; and its port. */
static int listener(uint16_t *ret_port)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	socklen_t size = sizeof(at);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || bind(fd, (const struct sockaddr *)&at, sizeof(at)) ||
	    getsockname(fd, (struct sockaddr *)&at, &size))
		return -1;
	*ret_port = ntohs(at.sin_port);
	return fd;
}

static int begin(void **state)
{
	struct config_service *service = &config.services[0];

	(void)state;
	clock_ns = 1000 * SECOND;
	once = NULL;
	pressed = false;
	asked_ = lose = large = told_ = players = mtu = plain_ = 0;
	contained = false;
	memset(held, 0, sizeof(held));
	memset(&config, 0, sizeof(config));
	server = listener(&service->ports[0]);
	beside = listener(&config.services[1].ports[0]);
	if (server < 0 || beside < 0)
		return -1;
	config.service_count = 1;
	strcpy(service->service.name, "lab");
	service->service.family = FAMILY_QUAKE3;
	service->service.cache = CACHE_UNDER_LOAD;
	service->port_count = 1;
	return cache_refresh_start(NULL, &config, NULL, &refresh);
}

static int end(void **state)
{
	(void)state;
	cache_refresh_stop(refresh);
	refresh = NULL;
	close(server);
	close(beside);
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

/* A list of any length is kept, up to what the narrowest interface carries. */
static void status_of_full_server_is_kept(void **state)
{
	static const struct {
		__u32 mtu;
		__u16 most;
	} rows[] = { { 0, 1472 },	  { 1492, 1464 }, { 9000, 1472 },
		     { 1280, 1280 - 28 }, { 68, 548 },	  { 1500, 1472 } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		mtu = rows[i].mtu;
		players = 200;
		pass(20 * SECOND);
		assert_int_equal(fresh(), FORMS);
		for (size_t form = 1; form < FORMS; form += 2) {
			const struct cache_entry *t = &held[form];
			size_t n = cache_length(t, t->cuts[0].tail, 0);

			assert_int_equal(t->most, rows[i].most);
			assert_in_range(n, rows[i].most - 31, rows[i].most);
			assert_int_equal(t->text[n - 1], '\n');
		}
	}
}

/* As in podman, whose network forwards to a container what comes from 127.0.0.1 alone. */
static void server_in_container_is_asked_from_localhost(void **state)
{
	(void)state;
	contained = true;
	pass(30 * SECOND);
	assert_int_equal(fresh(), FORMS);
	for (int i = 0; i < 600; i++) {
		pass(100 * MS);
		assert_int_equal(fresh(), FORMS);
	}
	/* Elsewhere again, it is asked from all addresses. */
	contained = false;
	pass(60 * SECOND);
	plain_ = 0;
	pass(60 * SECOND);
	assert_int_equal(plain_, 0);
	assert_int_equal(fresh(), FORMS);
}

/* FTE bans for a day an address that asks so often. */
static void quakeworld_is_not_asked_from_one_address(void **state)
{
	(void)state;
	config.services[0].service.family = FAMILY_QUAKEWORLD;
	cache_refresh_reload(refresh, &config);
	contained = true;
	pass(100 * SECOND);
	assert_int_equal(plain_, 0);
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

/* A question a second, which is what budgets leave of ioquake3's own limit, pressed or
 * not; and few of the daemon's own steps for it. */
static void it_costs_the_server_little(void **state)
{
	(void)state;
	pass(10 * SECOND);
	asked_ = steps_ = 0;
	pass(60 * SECOND);
	assert_in_range(asked_, 48, 60);
	assert_in_range(steps_, 60, 60 + 2 * 60);
	pressed = true;
	pass(SECOND);
	asked_ = 0;
	pass(60 * SECOND);
	assert_in_range(asked_, 48, 60);
	pressed = false;
	pass(5 * SECOND);
	asked_ = 0;
	pass(60 * SECOND);
	assert_in_range(asked_, 48, 60);
}

/* A quarter of a second after the question, while nothing presses. */
static void a_reply_is_looked_for_soon(void **state)
{
	__u64 longest = 0;

	(void)state;
	pass(5 * SECOND);
	for (int i = 0; i < 20; i++) {
		struct cache_entry before[CACHE_FORMS];
		unsigned int asked = asked_;
		__u64 since = clock_ns;

		while (asked_ == asked && clock_ns - since < 10 * SECOND)
			pass(10 * MS);
		memcpy(before, held, sizeof(held));
		since = clock_ns;
		while (!memcmp(before, held, sizeof(held)) && clock_ns - since < SECOND)
			pass(10 * MS);
		if (clock_ns - since > longest)
			longest = clock_ns - since;
	}
	assert_in_range(longest, 240 * MS, 260 * MS);
}

/* FTE takes 15 from one address in 30 seconds, and then none for a day. */
static void no_address_asks_often(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		large = i; /* it is asked again for want of what can be sent */
		pressed = i;
		pass(10 * SECOND);
		memset(from_, 0, sizeof(from_));
		pass(30 * SECOND);
		for (size_t at = 0; at < FROM; at++)
			assert_in_range(from_[at], 1, 7);
	}
}

/* However many others are asked in the same step. */
static void nor_beside_others(void **state)
{
	uint16_t port = config.services[1].ports[0];

	(void)state;
	config.service_count = 8;
	for (size_t i = 1; i < config.service_count; i++) {
		config.services[i] = config.services[0];
		config.services[i].ports[0] = port;
	}
	cache_refresh_reload(refresh, &config);
	pass(10 * SECOND);
	memset(from_, 0, sizeof(from_));
	pass(30 * SECOND);
	for (size_t at = 0; at < FROM; at++)
		assert_in_range(from_[at], 1, 7);
}

/* Who is known is written down each five minutes, by no more than one try each. */
static void who_is_known_is_kept_now_and_then(void **state)
{
	(void)state;
	pass(400 * SECOND);
	kept_ = 0;
	known_ = 1;
	pass(600 * SECOND);
	known_ = 0;
	assert_int_equal(kept_, 2);
	pass(600 * SECOND);
	assert_int_equal(kept_, 2);
}

/* Of letters by chance: nobody tells the next word from the last ones, or from part. */
static void words_are_by_chance(void **state)
{
	static const char none[1];
	size_t different = 0;

	(void)state;
	word_count = 0;
	memset(words_, 0, sizeof(words_));
	pass(60 * SECOND);
	assert_true(word_count >= 20);
	for (size_t i = 0; i < 20; i++) {
		const char *word = words_[i];

		assert_string_not_equal(word, none);
		different += strspn(word, (char[]){ word[0], 0 }) != strlen(word);
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(word, words_[j]);
	}
	assert_int_equal(different, 20);
}

/* Without loopback nothing is answered, which is no reason not to protect. */
static void without_loopback(void **state)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	(void)state;
	assert_true(null >= 0);
	cache_refresh_stop(refresh);
	no_loopback = true;
	assert_int_equal(cache_refresh_start(NULL, &config, NULL, &refresh), 0);
	assert_int_equal(told_, 1);
	cache_refresh_reload(refresh, &config);
	asked_ = 0;
	pass(100 * SECOND);
	assert_int_equal(asked_, 0);
	assert_int_equal(told_, 1);
	/* What was never opened is not closed: 0 is somebody else's. */
	assert_int_equal(dup2(null, 0), 0);
	cache_refresh_stop(refresh);
	assert_true(fcntl(0, F_GETFD) >= 0);
	close(null);
	assert_int_equal(cache_refresh_start(NULL, &config, NULL, &refresh), 0);
	no_loopback = false;
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

/* Under load it is seen sooner that there is an answer again. */
static void what_gets_no_answer_is_asked_more_under_pressure(void **state)
{
	(void)state;
	large = 1;
	pressed = true;
	pass(20 * SECOND);
	asked_ = 0;
	pass(60 * SECOND);
	assert_in_range(asked_, 48, 62);
	large = 0;
	pass(6 * SECOND);
	assert_int_equal(fresh(), FORMS);
}

/* That a server does not reply is said once, after a minute, and of none that does. */
static void silence_is_told_of(void **state)
{
	(void)state;
	lose = ~0u;
	pass(59 * SECOND);
	assert_int_equal(told_, 0);
	pass(5 * SECOND);
	assert_int_equal(told_, 1);
	asked_ = status_ = 0;
	pass(200 * SECOND);
	assert_int_equal(told_, 1);
	/* One question is enough to see whether it is there: four would be 52. It may
	 * be the one that it answers. */
	assert_in_range(asked_, 10, 15);
	assert_in_range(status_, 4, 9);
	lose = 0;
	said_ = 0;
	pass(20 * SECOND);
	assert_int_equal(fresh(), FORMS);
	/* And that it replies now, once. */
	assert_int_equal(said_, 1);
	cache_refresh_reload(refresh, &config);
	lose = 0;
	pass(5 * SECOND);
	assert_int_equal(said_, 1);
	lose = ~0u;
	pass(200 * SECOND);
	assert_int_equal(told_, 1);
}

/* Without a daemon's own reason nobody is asked who cannot be answered for. */
static void who_cannot_be_asked_is_not(void **state)
{
	static const __be32 there[4] = { 0, 0, 0, 1 };
	struct config_service *s = &config.services[0];

	(void)state;
	s->service.cache = CACHE_OFF;
	cache_refresh_reload(refresh, &config);
	asked_ = 0;
	pass(5 * SECOND);
	assert_int_equal(asked_ + told_, 0);
	/* The rate of challenges is divided nevertheless. */
	assert_in_range(clock_ns - turned_ns, 0, SECOND);
	s->service.cache = CACHE_UNDER_LOAD;
	s->port_count = 2;
	cache_refresh_reload(refresh, &config);
	s->port_count = 1;
	s->address_count = 1;
	memcpy(s->addresses[0], there, sizeof(there));
	cache_refresh_reload(refresh, &config);
	s->address_count = 0;
	s->service.family = FAMILY_AUTO;
	cache_refresh_reload(refresh, &config);
	pass(5 * SECOND);
	assert_int_equal(asked_, 0);
	assert_int_equal(told_, 3);
	s->service.family = FAMILY_QUAKE3;
	cache_refresh_reload(refresh, &config);
	pass(5 * SECOND);
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
		cmocka_unit_test_setup_teardown(
			server_in_container_is_asked_from_localhost, begin, end),
		cmocka_unit_test_setup_teardown(quakeworld_is_not_asked_from_one_address,
						begin, end),
		cmocka_unit_test_setup_teardown(status_of_full_server_is_kept, begin,
						end),
		cmocka_unit_test_setup_teardown(a_reply_that_gets_lost_is_asked_for_anew,
						begin, end),
		cmocka_unit_test_setup_teardown(it_costs_the_server_little, begin, end),
		cmocka_unit_test_setup_teardown(a_reply_is_looked_for_soon, begin, end),
		cmocka_unit_test_setup_teardown(no_address_asks_often, begin, end),
		cmocka_unit_test_setup_teardown(nor_beside_others, begin, end),
		cmocka_unit_test_setup_teardown(who_is_known_is_kept_now_and_then, begin,
						end),
		cmocka_unit_test_setup_teardown(words_are_by_chance, begin, end),
		cmocka_unit_test_setup_teardown(without_loopback, begin, end),
		cmocka_unit_test_setup_teardown(what_gets_no_answer_is_seldom_asked,
						begin, end),
		cmocka_unit_test_setup_teardown(
			what_gets_no_answer_is_asked_more_under_pressure, begin, end),
		cmocka_unit_test_setup_teardown(silence_is_told_of, begin, end),
		cmocka_unit_test_setup_teardown(who_cannot_be_asked_is_not, begin, end),
		cmocka_unit_test_setup_teardown(what_is_old_is_not_there, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
