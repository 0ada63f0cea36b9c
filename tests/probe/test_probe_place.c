// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_probe_place.c - the findings of `probe` about the interface's place: routes,
 * bridges, bonds, VLANs and links. Each row is a fault.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "probe/probe_host.h"

static void no_route(struct probe_facts *f)
{
	f->routes[0] = f->index = 0;
	*f->interface = 0;
}

static void misspelt(struct probe_facts *f)
{
	f->index = 0;
	f->given = true;
	strcpy(f->interface, "eht0");
}

static void loopback(struct probe_facts *f)
{
	at(f, LO);
}

static void tunnel(struct probe_facts *f)
{
	at(f, WG0);
	f->attach = -EOPNOTSUPP;
}

static void dummy(struct probe_facts *f)
{
	at(f, DUMMY);
}

static void vlan(struct probe_facts *f)
{
	at(f, VLAN);
}

static void elsewhere(struct probe_facts *f)
{
	at(f, ETH1);
}

static void elsewhere_ipv6(struct probe_facts *f)
{
	at(f, ETH1);
	f->routes[1] = ETH1;
}

/* docker0: its only port is a container's. */
static void containers(struct probe_facts *f)
{
	row(VETH)->master = BR0;
	at(f, BR0);
}

static void of_container(struct probe_facts *f)
{
	row(VETH)->master = row(TAP)->master = BR0;
	at(f, VETH);
}

static void bridged(struct probe_facts *f)
{
	row(VETH)->master = row(ETH0)->master = BR0;
	f->routes[0] = BR0;
	at(f, BR0);
}

static void port(struct probe_facts *f)
{
	bridged(f);
	at(f, ETH0);
}

/* In a container that has a bridge of its own. */
static void only_veth(struct probe_facts *f)
{
	row(VETH)->master = BR0;
	f->routes[0] = BR0;
	at(f, VETH);
}

/* A virtual machine routes for this host: which port is its own cannot be told. */
static void inner_ports(struct probe_facts *f)
{
	row(VETH)->master = row(TAP)->master = BR0;
	f->routes[0] = BR0;
	at(f, BR0);
}

static void two_ports(struct probe_facts *f)
{
	bridged(f);
	row(ETH1)->master = BR0;
}

static void bonded(struct probe_facts *f)
{
	row(ETH0)->master = row(ETH1)->master = BOND0;
	f->routes[0] = BOND0;
	at(f, BOND0);
}

static void slave(struct probe_facts *f)
{
	bonded(f);
	at(f, ETH1);
}

/* In a lab, and in a container with two interfaces. */
static void veth_slave(struct probe_facts *f)
{
	row(VETH)->master = row(TAP)->master = BOND0;
	f->routes[0] = BOND0;
	at(f, VETH);
}

static void down(struct probe_facts *f)
{
	(void)f;
	row(ETH0)->up = row(ETH0)->enabled = false;
}

static void unplugged(struct probe_facts *f)
{
	(void)f;
	row(ETH0)->up = false;
}

static void dormant(struct probe_facts *f)
{
	(void)f;
	row(ETH0)->dormant = true;
}

static const struct fault faults[] = {
	{ "dormant", dormant, "link", PROBE_FAIL,
	  "ip -d link show eth0 # state DORMANT until that program is done" },
	{ "no default route", no_route, "interface", PROBE_FAIL,
	  "quakeshield probe -i IFACE" },
	{ "misspelt", misspelt, "interface", PROBE_FAIL, "quakeshield probe -i eth0" },
	{ "lo", loopback, "interface", PROBE_FAIL, "quakeshield probe -i eth0" },
	{ "tunnel", tunnel, "interface", PROBE_FAIL, "quakeshield probe -i eth0" },
	{ "dummy", dummy, "interface", PROBE_FAIL, "quakeshield probe -i eth0" },
	{ "VLAN", vlan, "interface", PROBE_WARN, "quakeshield run -i eth0" },
	{ "another one", elsewhere, "interface", PROBE_WARN,
	  "quakeshield probe -i eth0" },
	{ "IPv6 only", elsewhere_ipv6, "interface", PROBE_OK, "" },
	{ "IPv6 elsewhere", elsewhere_ipv6, "routes", PROBE_WARN,
	  "quakeshield run -i eth0 -i eth1" },
	{ "docker0", containers, "interface", PROBE_FAIL, "quakeshield probe -i eth0" },
	{ "container's veth", of_container, "interface", PROBE_FAIL,
	  "quakeshield probe -i eth0" },
	{ "bridge", bridged, "interface", PROBE_WARN, "quakeshield run -i eth0" },
	{ "port", port, "interface", PROBE_OK, "" },
	{ "only port", only_veth, "interface", PROBE_OK, "" },
	{ "inner ports", inner_ports, "interface", PROBE_OK, "" },
	{ "bridge of two", two_ports, "interface", PROBE_WARN,
	  "quakeshield run -i eth0 -i eth1" },
	{ "bond", bonded, "interface", PROBE_OK, "" },
	{ "slave", slave, "interface", PROBE_WARN, "quakeshield run -i eth0 -i eth1" },
	{ "veth as a slave", veth_slave, "interface", PROBE_WARN,
	  "quakeshield run -i veth1 -i tap0" },
	{ "down", down, "link", PROBE_FAIL, "ip link set eth0 up" },
	{ "no carrier", unplugged, "link", PROBE_FAIL,
	  "ip link show eth0 # and look at its cable" },
};

static void fault_is_named_with_its_command(void **state)
{
	(void)state;
	faults_are_named(faults, COUNT(faults));
}

static void fault_changes_nothing_else(void **state)
{
	static void (*const alone[])(struct probe_facts * f) = {
		down,
		elsewhere,
	};

	(void)state;
	faults_come_alone(alone, COUNT(alone));
}

static void command_comes_with_every_fault_alone(void **state)
{
	(void)state;
	faults_have_commands(faults, COUNT(faults));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fault_is_named_with_its_command),
		cmocka_unit_test(fault_changes_nothing_else),
		cmocka_unit_test(command_comes_with_every_fault_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
