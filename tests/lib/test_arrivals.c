// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_arrivals.c - what of the network this host tells: datagrams that come in by an
 * interface, which interfaces pass each other's frames on, sockets and addresses. In
 * a network namespace of the test's own.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "apart.h"
#include "lib/arrivals.h"
#include "lib/delivered.h"
#include "lib/netlinks.h"
#include "lib/udp_sockets.h"

#define PORT 27960

static int lo;

static void address(const char *text, __be32 ret[4])
{
	if (inet_pton(AF_INET6, text, ret) == 1)
		return;
	ret[0] = ret[1] = 0;
	ret[2] = htonl(0xffff);
	assert_int_equal(inet_pton(AF_INET, text, &ret[3]), 1);
}

/* A socket bound to @port (0: any) of @text, that sends to @to there, if not 0. */
static int udp(const char *text, __u16 port, __u16 to)
{
	struct sockaddr_in6 at = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
	int fd = socket(AF_INET6, SOCK_DGRAM, 0);
	__be32 words[4];

	address(text, words);
	memcpy(&at.sin6_addr, words, sizeof(words));
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	at.sin6_port = htons(to);
	if (to)
		assert_int_equal(
			sendto(fd, "x", 1, 0, (struct sockaddr *)&at, sizeof(at)), 1);
	return fd;
}

static void what_comes_to_a_port_is_shown(void **state)
{
	static const __u16 ports[] = { 1, PORT, 65535 };
	static const char *const texts[] = { "127.0.0.1", "::1" };
	const int skipped[] = { lo + 7, lo };
	int fd = arrivals_open();
	struct arrival a;

	(void)state;
	assert_true(fd >= 0);
	for (size_t i = 0; i < 2; i++) {
		__be32 to[4];

		address(texts[i], to);
		/* Only once for each that is received, and of no other port. */
		assert_int_equal(arrivals_listen(fd, ports, 3, skipped, 1), 0);
		close(udp(texts[i], 0, PORT));
		close(udp(texts[i], 0, PORT + 1));
		close(udp(texts[i], 0, 65535));
		assert_int_equal(arrivals_next(fd, &a), 1);
		assert_int_equal(a.ifindex, lo);
		assert_int_equal(a.port, PORT);
		assert_memory_equal(a.to, to, sizeof(to));
		assert_int_equal(arrivals_next(fd, &a), 1);
		assert_int_equal(a.port, 65535);
		assert_int_equal(arrivals_next(fd, &a), 0);
		/* What has come is forgotten, and what is skipped is not shown. */
		close(udp(texts[i], 0, PORT));
		assert_int_equal(arrivals_listen(fd, ports, 3, skipped, 2), 0);
		close(udp(texts[i], 0, PORT));
		assert_int_equal(arrivals_next(fd, &a), 0);
		assert_int_equal(arrivals_listen(fd, ports, 1, skipped, 0), 0);
		close(udp(texts[i], 0, PORT));
		assert_int_equal(arrivals_next(fd, &a), 0);
	}
	assert_int_equal(arrivals_listen(fd, ports, ARRIVALS_PORTS + 1, skipped, 0),
			 -E2BIG);
	close(fd);
}

/* The most that there may be fits into the kernel's limits. */
static void the_longest_filter_is_taken(void **state)
{
	static __u16 ports[ARRIVALS_PORTS];
	static int skipped[ARRIVALS_SKIPPED];
	int fd = arrivals_open();
	struct arrival a;

	(void)state;
	for (size_t i = 0; i < ARRIVALS_PORTS; i++)
		ports[i] = (__u16)(PORT - ARRIVALS_PORTS + 1 + i);
	for (size_t i = 0; i < ARRIVALS_SKIPPED; i++)
		skipped[i] = (int)(1000 + i);
	assert_int_equal(
		arrivals_listen(fd, ports, ARRIVALS_PORTS, skipped, ARRIVALS_SKIPPED), 0);
	close(udp("127.0.0.1", 0, PORT));
	assert_int_equal(arrivals_next(fd, &a), 1);
	close(fd);
}

/* A received frame counts once, a full queue or not; none before and after. */
static void delivered_frames_are_counted(void **state)
{
	int fd = delivered_open();
	__u64 count;

	(void)state;
	assert_true(fd >= 0);
	close(udp("127.0.0.1", 0, PORT));
	for (int turn = 0; turn < 3; turn++) {
		assert_int_equal(delivered_begin(fd, lo), 0);
		for (int i = 0; i < 1000 * turn; i++)
			close(udp("127.0.0.1", 0, PORT));
		assert_int_equal(delivered_end(fd, &count), 0);
		/* And the kernel's replies: no socket has the port. */
		assert_in_range(count, 1000 * turn, 2000 * turn);
		close(udp("127.0.0.1", 0, PORT));
	}
	assert_int_equal(delivered_begin(fd, lo + 1000), -ENODEV);
	assert_int_equal(delivered_begin(fd, lo), 0);
	assert_int_equal(system("ip link set lo down"), 0);
	assert_int_equal(delivered_end(fd, &count), -ENETDOWN);
	assert_int_equal(system("ip link set lo up"), 0);
	assert_int_equal(delivered_begin(fd, lo), 0);
	assert_int_equal(delivered_end(fd, &count), 0);
	close(fd);
}

/* By the interface's own count. */
static void received_frames_are_read(void **state)
{
	struct netlink_row *rows = calloc(NETLINKS_MAX, sizeof(*rows));
	unsigned long long before;

	(void)state;
	assert_non_null(rows);
	before = netlinks_row(rows, (size_t)netlinks_read(rows), lo)->received;
	for (int i = 0; i < 10; i++)
		close(udp("127.0.0.1", 0, PORT));
	assert_in_range(netlinks_row(rows, (size_t)netlinks_read(rows), lo)->received,
			before + 10, before + 20);
	free(rows);
}

struct wanted {
	__be32 address[4];
	__u16 port;
	bool found;
};

static void look(const struct udp_socket *socket, void *context)
{
	struct wanted *w = context;

	w->found |= socket->port == w->port &&
		    !memcmp(socket->address, w->address, sizeof(w->address));
}

static void sockets_and_addresses_are_found(void **state)
{
	static const char *const texts[] = { "127.0.0.1", "::1", "::" };
	__be32 elsewhere[4];

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct wanted w = { .port = (__u16)(PORT + i) };
		int fd;

		address(texts[i], w.address);
		assert_true(udp_sockets_each(look, &w));
		assert_false(w.found);
		fd = udp(texts[i], w.port, 0);
		assert_true(udp_sockets_each(look, &w));
		/* The kernel's list has 127.0.0.1 of an IPv6 socket as it is bound. */
		assert_true(w.found);
		close(fd);
		assert_true(address_is_here(w.address));
	}
	address("203.0.113.9", elsewhere);
	assert_false(address_is_here(elsewhere));
	address("2001:db8::9", elsewhere);
	assert_false(address_is_here(elsewhere));
}

/* eth0 in br0, br0.5 on that, and a tunnel that has an interface of its own. */
static void frames_go_up(void **state)
{
	static const struct netlink_row rows[] = {
		{ .index = 2, .master = 3 }, { .index = 3 },
		{ .index = 4, .parent = 3 }, { .index = 5 },
		{ .index = 6, .master = 3 },
	};
	static const struct {
		int above, below;
		bool over;
	} pairs[] = {
		{ 3, 2, true },	 { 4, 3, true },  { 4, 2, true },  { 2, 3, false },
		{ 2, 4, false }, { 5, 2, false }, { 6, 2, false }, { 3, 6, true },
		{ 3, 3, false }, { 9, 2, false }, { 3, 0, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
		assert_int_equal(netlinks_over(rows, 5, pairs[i].above, pairs[i].below),
				 pairs[i].over);
}

static const struct netlink_row *named(const struct netlink_row *rows, int count,
				       const char *name)
{
	for (int i = 0; i < count; i++)
		if (!strcmp(rows[i].name, name))
			return &rows[i];
	fail_msg("no %s", name);
	return NULL;
}

static void links_are_read(void **state)
{
	struct netlink_row *rows = calloc(NETLINKS_MAX, sizeof(*rows));
	const struct netlink_row *end, *bridge;
	int count;

	(void)state;
	if (system("ip link add ta type veth peer name tb && ip link add tr type bridge && "
		   "ip link set ta master tr && ip link set tr up && ip link set ta up"))
		skip();
	count = netlinks_read(rows);
	assert_true(count >= 4);
	assert_true(named(rows, count, "lo")->loopback);
	end = named(rows, count, "ta");
	bridge = named(rows, count, "tr");
	assert_int_equal(end->master, bridge->index);
	assert_int_equal(end->parent, 0); /* its other end is none below it */
	assert_false(end->up); /* that is down */
	assert_true(netlinks_over(rows, (size_t)count, bridge->index, end->index));
	assert_int_equal(system("ip link set tb up"), 0);
	count = netlinks_read(rows);
	assert_true(named(rows, count, "ta")->up);
	assert_true(named(rows, count, "tb")->up);
	free(rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_comes_to_a_port_is_shown),
		cmocka_unit_test(the_longest_filter_is_taken),
		cmocka_unit_test(delivered_frames_are_counted),
		cmocka_unit_test(received_frames_are_read),
		cmocka_unit_test(sockets_and_addresses_are_found),
		cmocka_unit_test(frames_go_up),
		cmocka_unit_test(links_are_read),
	};

	if (!apart(CLONE_NEWNET) || system("ip link set lo up"))
		return apart_refused();
	lo = (int)if_nametoindex("lo");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
