// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_link_events.c - what the descriptor listens for, and how much is forgotten in one
 * go.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "lib/link_events.h"

static void listens_for_both_and_never_waits(void **state)
{
	struct sockaddr_nl at = { .nl_family = 0 };
	socklen_t length = sizeof(at);
	int fd = link_events_open(), type = 0, protocol = 0;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &length), 0);
	assert_int_equal(at.nl_family, AF_NETLINK);
	assert_int_equal(at.nl_groups, RTMGRP_LINK | RTMGRP_TC);
	length = sizeof(protocol);
	assert_int_equal(getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &length), 0);
	assert_int_equal(protocol, NETLINK_ROUTE);
	assert_int_equal(getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length), 0);
	assert_int_equal(type, SOCK_RAW);
	assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	link_events_drain(fd);
	close(fd);
}

/* Nothing waits, and who sends without end does not keep us. */
static void so_many_are_forgotten(void **state)
{
	static const int counts[] = { 0, 1, 255, 256, 257, 1000 };
	char bytes[1000] = "";
	int ends[2], left;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		assert_int_equal(write(ends[0], bytes, (size_t)counts[i]), counts[i]);
		link_events_drain(ends[1]);
		assert_int_equal(ioctl(ends[1], FIONREAD, &left), 0);
		assert_int_equal(left, counts[i] > 256 ? counts[i] - 256 : 0);
		while (left--)
			assert_int_equal(read(ends[1], bytes, 1), 1);
	}
	close(ends[0]);
	close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(listens_for_both_and_never_waits),
		cmocka_unit_test(so_many_are_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
