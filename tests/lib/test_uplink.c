// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_uplink.c - the default route out of the kernel's tables, which interface lies
 * below it, and the messages of netlink that both come from.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/netlink_ask.h"
#include "lib/uplink.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define HEAD                                                                      \
	"Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\t" \
	"Window\tIRTT\n"
#define ZERO "00000000000000000000000000000000"

static const struct {
	bool ipv6;
	const char *table;
	const char *interface; /* NULL: no default route */
} tables[] = {
	{ false, "", NULL },
	{ false, HEAD, NULL },
	{ false, HEAD "eth0\t0000A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n",
	  NULL },
	{ false, HEAD "eth0\t00000000\t0101A8C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n",
	  "eth0" },
	/* The lowest metric, wherever it stands; ordered by metric it need not be. */
	{ false,
	  HEAD "wlan0\t00000000\t0101A8C0\t0003\t0\t0\t600\t00000000\t0\t0\t0\n"
	       "eth0\t00000000\t0101A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\n"
	       "eth1\t00000000\t0101A8C0\t0003\t0\t0\t200\t00000000\t0\t0\t0\n",
	  "eth0" },
	/* Rejected; half of the internet; down. */
	{ false, HEAD "*\t00000000\t00000000\t0201\t0\t0\t0\t00000000\t0\t0\t0\n", NULL },
	{ false, HEAD "tun0\t00000000\t0100000A\t0003\t0\t0\t0\t00000080\t0\t0\t0\n",
	  NULL },
	{ false, HEAD "eth0\t00000000\t0101A8C0\t0002\t0\t0\t0\t00000000\t0\t0\t0\n",
	  NULL },
	{ true,
	  ZERO " 00 " ZERO " 00 fe800000000000000000000000000001 00000400 00000001 "
	       "00000000 00000003     eth0\n",
	  "eth0" },
	{ true,
	  "fd000000000000000000000000000000 08 " ZERO " 00 " ZERO
	  " 00000400 00000001 00000000 00000001     eth0\n" ZERO " 00 " ZERO " 00 " ZERO
	  " ffffffff 00000001 00000000 00200200       lo\n",
	  NULL },
	{ true,
	  ZERO " 00 " ZERO " 00 " ZERO
	       " 00000400 00000001 00000000 00000003     eth1\n" ZERO " 00 " ZERO
	       " 00 " ZERO " 00000064 00000001 00000000 00000003     eth0\n",
	  "eth0" },
};

static void default_route_has_the_lowest_metric(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(tables); i++) {
		size_t n = strlen(tables[i].table);
		FILE *file = n ? fmemopen((void *)tables[i].table, n, "r")
			       : fopen("/dev/null", "r");
		char interface[IF_NAMESIZE] = "";
		bool found;

		assert_non_null(file);
		found = uplink_route_read(file, tables[i].ipv6, interface);
		fclose(file);
		if (found != (tables[i].interface != NULL) ||
		    (found && strcmp(interface, tables[i].interface) != 0))
			fail_msg("table %zu: '%s'", i, interface);
	}
}

/* 1 eth0, 2 eth1, 3 br0, 4 bond0, 5 br0.7, 6 veth, 7 tap, 8 macvlan of eth1 */
static const struct netlink_row rows[] = {
	{ .index = 1, .name = "eth0", .master = 3 },
	{ .index = 2, .name = "eth1", .master = 4 },
	{ .index = 3, .name = "br0", .kind = "bridge" },
	{ .index = 4, .name = "bond0", .kind = "bond" },
	{ .index = 5, .name = "br0.7", .kind = "vlan", .parent = 3 },
	{ .index = 6, .name = "veth1", .kind = "veth", .master = 3 },
	{ .index = 7, .name = "tap0", .kind = "tun", .master = 9 },
	{ .index = 8, .name = "mv0", .kind = "macvlan", .parent = 2 },
	{ .index = 9, .name = "br1", .kind = "bridge" },
	{ .index = 10, .name = "far", .kind = "vlan", .parent = 99 },
	{ .index = 11, .name = "loop1", .kind = "vlan", .parent = 12 },
	{ .index = 12, .name = "loop2", .kind = "vlan", .parent = 11 },
	{ .index = 13, .name = "team0", .kind = "team" },
	{ .index = 14, .name = "veth2", .kind = "veth", .master = 13 },
	{ .index = 15, .name = "veth3", .kind = "veth", .master = 13 },
};

static void frames_come_in_below(void **state)
{
	static const int below[][2] = {
		{ 1, 1 }, { 3, 1 }, { 5, 1 },	{ 4, 4 },   { 8, 2 },
		{ 9, 7 }, { 6, 6 }, { 99, 99 }, { 10, 10 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(below); i++)
		if (uplink_below(rows, COUNT(rows), below[i][0]) != below[i][1])
			fail_msg("below %d is %d", below[i][0],
				 uplink_below(rows, COUNT(rows), below[i][0]));
	uplink_below(rows, COUNT(rows), 11); /* ends */
	assert_true(uplink_is_on(rows, COUNT(rows), 5, 1));
	assert_true(uplink_is_on(rows, COUNT(rows), 1, 3));
	assert_true(uplink_is_on(rows, COUNT(rows), 3, 3));
	assert_false(uplink_is_on(rows, COUNT(rows), 5, 2));
}

static void ports_are_bounded(void **state)
{
	int ports[2] = { -1, -1 };

	(void)state;
	assert_int_equal(uplink_ports(rows, COUNT(rows), 3, ports, 2), 1);
	assert_int_equal(ports[0], 1);
	assert_int_equal(ports[1], -1);
	assert_int_equal(uplink_ports(rows, COUNT(rows), 3, ports, 0), 0);
	assert_int_equal(uplink_ports(rows, COUNT(rows), 2, ports, 2), 0);
	assert_int_equal(uplink_ports(rows, COUNT(rows), 9, ports, 2), 0);
	assert_int_equal(uplink_ports(rows, COUNT(rows), 13, ports, 2), 2);
	assert_int_equal(ports[0], 14);
}

/* Attributes at every truncation, in memory of exactly that size. */
static void attributes_are_read_within_their_bytes(void **state)
{
	static const __u8 whole[] = { 8, 0, 1, 0,    'a', 'b', 'c', 0,
				      6, 0, 2, 0x80, 'd', 0,   0,   0 };

	(void)state;
	for (size_t n = 0; n <= sizeof(whole); n++) {
		__u8 *copy = malloc(n ? n : 1);
		char text[3] = "?";
		__u32 number;

		memcpy(copy, whole, n);
		netlink_text(netlink_attribute(copy, n, 1), text, sizeof(text));
		assert_string_equal(text, n >= 8 ? "ab" : "");
		netlink_text(netlink_attribute(copy, n, 2), text, sizeof(text));
		assert_string_equal(text, n >= 14 ? "d" : "");
		assert_int_equal(netlink_copy(netlink_attribute(copy, n, 1), &number, 4),
				 n >= 8);
		assert_false(netlink_copy(netlink_attribute(copy, n, 2), &number, 4));
		assert_null(netlink_attribute(copy, n, 3));
		free(copy);
	}
	assert_null(netlink_attribute("\0\0\1\0", 4, 1)); /* a length of 0 ends it */
}

static void count_message(const struct nlmsghdr *message, void *context)
{
	(void)message;
	++*(int *)context;
}

static void errors_are_the_kernels(void **state)
{
	struct nlmsghdr bad = { .nlmsg_len = sizeof(bad),
				.nlmsg_type = 0x7000,
				.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK };
	int count = 0;

	(void)state;
	assert_in_range(-netlink_ask(NETLINK_ROUTE, &bad, count_message, &count), 1, 200);
	assert_int_equal(count, 0);
	assert_in_range(-netlink_ask(999, &bad, count_message, &count), 1, 200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(default_route_has_the_lowest_metric),
		cmocka_unit_test(frames_come_in_below),
		cmocka_unit_test(ports_are_bounded),
		cmocka_unit_test(attributes_are_read_within_their_bytes),
		cmocka_unit_test(errors_are_the_kernels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
