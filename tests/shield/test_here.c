// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_here.c - which Ethernet addresses lead to this host, by interfaces in a network
 * namespace of the test's own.
 */
#include <errno.h>
#include <net/if.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "apart.h"
#include "shield/here.h"

/* Interfaces are made with the address 02:00:00:00:00:@n. */
#define MAC(n) (0x02ull | (__u64)(n) << 40)

static struct local_macs here;

static void run(const char *command)
{
	if (system(command))
		fail_msg("%s", command);
}

static bool has(__u64 mac)
{
	for (__u32 i = 0; i < here.count && i < LOCAL_MACS; i++)
		if (here.macs[i] == mac)
			return true;
	return false;
}

/* Look from @interface: of addresses 1 to 15, those in @want (bit N: N) lead to it. */
static void assert_leads(const char *interface, unsigned int want)
{
	unsigned int got = 0;

	memset(&here, 0, sizeof(here));
	assert_int_equal(here_look(if_nametoindex(interface), &here), 0);
	for (unsigned int n = 1; n < 16; n++)
		got |= (unsigned int)has(MAC(n)) << n;
	if (got != want)
		fail_msg("%s: %x for %x", interface, got, want);
}

static void link_add(unsigned int n, const char *rest)
{
	char command[200];

	snprintf(command, sizeof(command),
		 "ip link add address 02:00:00:00:00:%02x up %s", n, rest);
	run(command);
}

static int begin(void **state)
{
	(void)state;
	link_add(1, "name eth type veth peer name wire address 02:00:00:00:00:02");
	link_add(3, "name other type veth peer name far address 02:00:00:00:00:04");
	return 0;
}

static int end(void **state)
{
	(void)state;
	return system("for i in bridge bond vlan mac eth other; do "
		      "ip link del $i 2>/dev/null; done; true");
}

/* Neither that of the other end of a veth nor of a card beside it. */
static void interface_has_its_own(void **state)
{
	(void)state;
	assert_leads("eth", 1 << 1);
	assert_int_equal(here.count, 1);
	assert_leads("wire", 1 << 2);
	memset(&here, 0, sizeof(here));
	assert_int_equal(here_look(if_nametoindex("lo"), &here), 0);
	assert_int_equal(here.count, 1);
	assert_int_equal(here.macs[0], 0);
}

static void what_lies_above_leads_here(void **state)
{
	unsigned int want = 1 << 1 | 1 << 6;

	(void)state;
	/* Not every kernel has VLANs. */
	if (!system("ip link add link eth name vlan address 02:00:00:00:00:05 type vlan "
		    "id 5 2>/dev/null"))
		want |= 1 << 5;
	link_add(6, "link eth name mac type macvlan mode bridge");
	assert_leads("eth", want);
	assert_leads("mac", want);
	assert_leads("wire", 1 << 2);
}

/* What the kernel asks the card for, for a device that is not to be seen from here. */
static void macvlan_of_a_container_leads_here(void **state)
{
	(void)state;
	run("bridge fdb add 02:00:00:00:00:07 dev eth self permanent");
	assert_leads("eth", 1 << 1 | 1 << 7);
	assert_leads("wire", 1 << 2);
}

/* Of a bridge all ports, and what is behind the others, but not what is on the wire. */
static void bridge_leads_to_what_is_behind_other_ports(void **state)
{
	(void)state;
	link_add(8, "name bridge type bridge");
	run("ip link set eth master bridge; ip link set other master bridge; "
	    "bridge fdb add 02:00:00:00:00:09 dev other master static; "
	    "bridge fdb add 02:00:00:00:00:0a dev eth master static");
	assert_leads("eth", 1 << 1 | 1 << 3 | 1 << 8 | 1 << 9);
	assert_leads("other", 1 << 1 | 1 << 3 | 1 << 8 | 1 << 10);
	assert_leads("bridge", 1 << 1 | 1 << 3 | 1 << 8);
}

static void bond_leads_to_its_ports(void **state)
{
	(void)state;
	if (system("ip link add bond address 02:00:00:00:00:0b type bond mode "
		   "active-backup fail_over_mac active 2>/dev/null")) {
		print_message("this kernel has no bonds\n");
		skip();
	}
	run("ip link set eth down; ip link set other down; "
	    "ip link set eth master bond; ip link set other master bond");
	memset(&here, 0, sizeof(here));
	assert_int_equal(here_look(if_nametoindex("eth"), &here), 0);
	assert_true(has(MAC(1)) && has(MAC(3)));
	assert_false(has(MAC(2)));
}

static void full_table_keeps_its_own(void **state)
{
	char command[120];

	(void)state;
	link_add(8, "name bridge type bridge");
	run("ip link set eth master bridge; ip link set other master bridge");
	for (int i = 0; i < LOCAL_MACS + 20; i++) {
		snprintf(command, sizeof(command),
			 "bridge fdb add 06:00:00:00:00:%02x dev other master static", i);
		run(command);
	}
	assert_leads("eth", 1 << 1 | 1 << 3 | 1 << 8);
	assert_true(here.count > LOCAL_MACS);
	/* Two interfaces share the table. */
	assert_int_equal(here_look(if_nametoindex("wire"), &here), 0);
	assert_true(here.count > LOCAL_MACS);
}

static void interface_that_is_not_there_adds_nothing(void **state)
{
	(void)state;
	memset(&here, 0, sizeof(here));
	assert_int_equal(here_look(4321, &here), -ENODEV);
	assert_int_equal(here_look(0, &here), -ENODEV);
	assert_int_equal(here.count, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(interface_has_its_own),
		TEST(what_lies_above_leads_here),
		TEST(macvlan_of_a_container_leads_here),
		TEST(bridge_leads_to_what_is_behind_other_ports),
		TEST(bond_leads_to_its_ports),
		TEST(full_table_keeps_its_own),
		TEST(interface_that_is_not_there_adds_nothing),
	};

	if (!apart(CLONE_NEWNET) || system("ip link set lo up 2>/dev/null") ||
	    begin(NULL) || end(NULL))
		return apart_refused();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
