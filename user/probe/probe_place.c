// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * probe_place.c - is this the interface at which the shield should stand? The rules are
 * those of the table in docs/howto/where-to-attach.md. Pure; see probe.h.
 */
#include <net/if_arp.h>
#include <stdio.h>
#include <string.h>

#include "lib/uplink.h"
#include "probe/probe.h"

#define PORTS_MAX   8 /* of a bridge or bond, that are named */
#define PORTS_TEXT  (PORTS_MAX * (IF_NAMESIZE + 5))
#define CHECK	    "interface"
#define PROBE_OTHER "quakeshield probe -i %s"

static const struct netlink_row *row_of(const struct probe_facts *f, int index)
{
	return netlinks_row(f->rows, f->row_count, index);
}

static const char *name_of(const struct probe_facts *f, int index)
{
	const struct netlink_row *row = row_of(f, index);

	return row ? row->name : "?";
}

/* The interface that would be probed if none were given; 0: none. */
static int usual(const struct probe_facts *f)
{
	int route = f->routes[0] ? f->routes[0] : f->routes[1];

	return route ? uplink_below(f->rows, f->row_count, route) : 0;
}

/* Say that @f->interface is the wrong one, and which is right, as far as that is known.
 */
static void say_elsewhere(const struct probe_facts *f, struct probe_findings *to)
{
	int right = usual(f);

	if (right && right != f->index)
		probe_fix(to, PROBE_OTHER, name_of(f, right));
	else
		probe_fix(to, "ip -brief link # and choose another");
}

static bool is_on_route(const struct probe_facts *f, int index)
{
	for (int i = 0; i < 2; i++)
		if (f->routes[i] &&
		    uplink_is_on(f->rows, f->row_count, f->routes[i], index))
			return true;
	return false;
}

/* The ports of the bridge or bond @index by which frames may come from outside. */
static size_t ports_of(const struct probe_facts *f, int index, int ret[PORTS_MAX])
{
	size_t n = uplink_ports(f->rows, f->row_count, index, ret, PORTS_MAX);
	int below = n ? index : uplink_below(f->rows, f->row_count, index);

	/* A veth, as of the container that this is. */
	if (below != index && is_on_route(f, index))
		ret[n++] = below;
	return n;
}

/* "-i eth0 -i eth1" of @n ports. */
static void ports_text(const struct probe_facts *f, const int *ports, size_t n,
		       char ret[PORTS_TEXT])
{
	size_t at = 0;

	*ret = 0;
	for (size_t i = 0; i < n; i++)
		at += (size_t)snprintf(ret + at, PORTS_TEXT - at, "%s-i %s", i ? " " : "",
				       name_of(f, ports[i]));
}

static void judge_bridge(const struct probe_facts *f, const struct netlink_row *row,
			 struct probe_findings *to)
{
	int ports[PORTS_MAX];
	size_t n = ports_of(f, f->index, ports);
	char text[PORTS_TEXT];

	if (!n && !is_on_route(f, f->index)) {
		probe_say(to, CHECK, PROBE_FAIL,
			  "'%s' is a %s of containers or virtual machines: what comes "
			  "from the internet is not judged there",
			  f->interface, row->kind);
		say_elsewhere(f, to);
	} else if (n) {
		ports_text(f, ports, n, text);
		probe_say(to, CHECK, PROBE_WARN,
			  "'%s' is a %s, judged late and in skb mode: its ports see "
			  "frames first",
			  f->interface, row->kind);
		probe_fix(to, "quakeshield run %s", text);
	} else {
		probe_say(to, CHECK, PROBE_OK,
			  "'%s' is a %s, and none of its ports is known to lead outside",
			  f->interface, row->kind);
	}
}

/* A port of a bridge, a slave of a bond. */
static void judge_port(const struct probe_facts *f, const struct netlink_row *above,
		       struct probe_findings *to)
{
	int ports[PORTS_MAX];
	size_t n = ports_of(f, above->index, ports);
	char text[PORTS_TEXT];
	bool outside = false;

	for (size_t i = 0; i < n; i++)
		outside |= ports[i] == f->index;
	if (!outside) {
		probe_say(to, CHECK, PROBE_FAIL,
			  "'%s' is where '%s' leads to a container or a virtual machine: "
			  "only what that one sends is judged there",
			  f->interface, above->name);
		say_elsewhere(f, to);
	} else if (n > 1) {
		ports_text(f, ports, n, text);
		probe_say(to, CHECK, PROBE_WARN,
			  "'%s' is one of %zu ports of '%s': what comes in by the others "
			  "is judged only if they are named too",
			  f->interface, n, above->name);
		probe_fix(to, "quakeshield run %s", text);
	} else {
		probe_say(to, CHECK, PROBE_OK,
			  "'%s' is the port of '%s' by which frames come in",
			  f->interface, above->name);
	}
}

/* A VLAN, or a macvlan: its frames pass the interface below. */
static void judge_above(const struct probe_facts *f, const struct netlink_row *row,
			struct probe_findings *to)
{
	int below = uplink_below(f->rows, f->row_count, row->index);

	probe_say(to, CHECK, PROBE_WARN,
		  "'%s' is a %s above '%s', judged late and in skb mode", f->interface,
		  row->kind, name_of(f, below));
	probe_fix(to, "quakeshield run -i %s", name_of(f, below));
}

/* The interface alone; two default routes may lead elsewhere. */
static void judge_route(const struct probe_facts *f, struct probe_findings *to)
{
	int right = usual(f);

	if (!right || is_on_route(f, f->index)) {
		probe_say(to, CHECK, PROBE_OK, "'%s' is %s", f->interface,
			  !right     ? "there; no default route says whether players "
				       "come in by it"
			  : f->given ? "on the way of the default route"
				     : "where the default route leads");
		return;
	}
	probe_say(to, CHECK, PROBE_WARN,
		  "the default route leads by '%s': what comes in there is not judged at "
		  "'%s'",
		  name_of(f, right), f->interface);
	probe_fix(to, PROBE_OTHER, name_of(f, right));
}

/* IPv4 and IPv6 come in by different interfaces. */
static void judge_routes(const struct probe_facts *f, struct probe_findings *to)
{
	int below[2];

	for (int i = 0; i < 2; i++) {
		if (!f->routes[i])
			return;
		below[i] = uplink_below(f->rows, f->row_count, f->routes[i]);
	}
	if (below[0] == below[1])
		return;
	probe_say(to, "routes", PROBE_WARN,
		  "IPv4 comes in by '%s' and IPv6 by '%s': both have to be named",
		  name_of(f, below[0]), name_of(f, below[1]));
	probe_fix(to, "quakeshield run -i %s -i %s", name_of(f, below[0]),
		  name_of(f, below[1]));
}

static void judge_up(const struct probe_facts *f, const struct netlink_row *row,
		     struct probe_findings *to)
{
	if (row->up && row->dormant) {
		probe_say(to, "link", PROBE_FAIL,
			  "'%s' is dormant: it waits for another program, such as an "
			  "802.1X supplicant",
			  f->interface);
		probe_fix(to,
			  "ip -d link show %s # state DORMANT until that program is "
			  "done",
			  f->interface);
	}
	if (row->up)
		return;
	if (row->enabled) {
		probe_say(to, "link", PROBE_FAIL, "'%s' has no carrier", f->interface);
		probe_fix(to, "ip link show %s # and look at its cable", f->interface);
	} else {
		probe_say(to, "link", PROBE_FAIL, "'%s' is down", f->interface);
		probe_fix(to, "ip link set %s up", f->interface);
	}
}

static void judge_kind(const struct probe_facts *f, const struct netlink_row *row,
		       struct probe_findings *to)
{
	const struct netlink_row *above = row->master ? row_of(f, row->master) : NULL;

	if (row->loopback) {
		probe_say(to, CHECK, PROBE_FAIL,
			  "'%s' sees only what this machine sends itself", f->interface);
		say_elsewhere(f, to);
	} else if (row->type != ARPHRD_ETHER) {
		probe_say(to, CHECK, PROBE_FAIL,
			  "'%s' is a tunnel or the like without Ethernet frames: the "
			  "shield must stand at the tunnel's other end",
			  f->interface);
		say_elsewhere(f, to);
	} else if (!strcmp(row->kind, "dummy")) {
		probe_say(to, CHECK, PROBE_FAIL,
			  "'%s' is a dummy: nothing comes in by it", f->interface);
		say_elsewhere(f, to);
	} else if (row->parent) {
		judge_above(f, row, to);
	} else if (!strcmp(row->kind, "bridge") || !strcmp(row->kind, "team") ||
		   !strcmp(row->kind, "vrf")) {
		judge_bridge(f, row, to);
	} else if (above) {
		judge_port(f, above, to);
	} else {
		judge_route(f, to);
	}
}

void probe_judge_place(const struct probe_facts *f, struct probe_findings *to)
{
	const struct netlink_row *row = row_of(f, f->index);

	if (!*f->interface) {
		probe_say(to, CHECK, PROBE_FAIL,
			  "no default route says which interface players come in by");
		probe_fix(to, PROBE_OTHER, "IFACE");
	} else if (!row) {
		probe_say(to, CHECK, PROBE_FAIL, "no such interface: '%s'", f->interface);
		say_elsewhere(f, to);
	} else {
		judge_kind(f, row, to);
		judge_up(f, row, to);
		judge_routes(f, to);
	}
}
