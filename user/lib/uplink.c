// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * uplink.c - see uplink.h.
 */
#include <string.h>

#include "lib/uplink.h"
#include "lib/util.h"

#define DEEPEST	     8 /* interfaces above each other */
#define ROUTES_MAX   65536 /* lines that are read */
#define ROUTE_UP     0x1u /* linux/route.h, which does not agree with net/if.h */
#define ROUTE_REJECT 0x200u

struct route {
	char interface[IF_NAMESIZE];
	unsigned int flags, metric;
};

/* "eth0 00000000 0101A8C0 0003 0 0 100 00000000 ...": is it a default route? */
static bool ipv4_read(const char *line, struct route *ret)
{
	unsigned int to, mask;

	return sscanf(line, "%15s %8x %*x %x %*d %*d %u %8x", ret->interface, &to,
		      &ret->flags, &ret->metric, &mask) == 5 &&
	       !to && !mask;
}

/* Destination, its length, source, its length, next hop, metric, two counters, flags. */
static bool ipv6_read(const char *line, struct route *ret)
{
	char to[33];
	unsigned int length;

	return sscanf(line, "%32s %x %*s %*x %*s %x %*x %*x %x %15s", to, &length,
		      &ret->metric, &ret->flags, ret->interface) == 5 &&
	       !length && strspn(to, "0") == strlen(to);
}

bool uplink_route_read(FILE *file, bool ipv6, char ret[IF_NAMESIZE])
{
	struct route route, best = { 0 };
	char line[256];
	bool found = false;

	for (int i = 0; i < ROUTES_MAX && fgets(line, sizeof(line), file); i++) {
		if (ipv6 ? !ipv6_read(line, &route) : !ipv4_read(line, &route))
			continue;
		if (!(route.flags & ROUTE_UP) || route.flags & ROUTE_REJECT ||
		    !strcmp(route.interface, "lo"))
			continue;
		if (!found || route.metric < best.metric)
			best = route;
		found = true;
	}
	if (found)
		memcpy(ret, best.interface, IF_NAMESIZE);
	return found;
}

bool uplink_route(bool ipv6, char ret[IF_NAMESIZE])
{
	FILE *file =
		fopen(ipv6 ? "/proc/self/net/ipv6_route" : "/proc/self/net/route", "re");
	bool found = file && uplink_route_read(file, ipv6, ret);

	if (file)
		fclose(file);
	return found;
}

static bool leads_outside(const struct netlink_row *row)
{
	static const char *const not [] = { "veth",   "tun",	"vxlan",    "geneve",
					    "gretap", "erspan", "ip6gretap" };

	for (size_t i = 0; i < ARRAY_SIZE(not ); i++)
		if (!strcmp(row->kind, not [i]))
			return false;
	return true;
}

size_t uplink_ports(const struct netlink_row *rows, size_t count, int index, int *ret,
		    size_t max)
{
	const struct netlink_row *row = netlinks_row(rows, count, index);
	bool all = row && strcmp(row->kind, "bridge") != 0;
	size_t found = 0;

	for (size_t i = 0; i < count && found < max; i++)
		if (rows[i].master == index && (all || leads_outside(&rows[i])))
			ret[found++] = rows[i].index;
	return found;
}

/* The port by which frames from outside come to the bridge @index; 0: several, or none.
 */
static int only_port(const struct netlink_row *rows, size_t count, int index)
{
	size_t ports = 0;
	int outside[2], last = 0;

	switch (uplink_ports(rows, count, index, outside, 2)) {
	case 1:
		return outside[0];
	case 2:
		return 0;
	default:
		break;
	}
	for (size_t i = 0; i < count; i++) {
		if (rows[i].master != index)
			continue;
		last = rows[i].index;
		ports++;
	}
	return ports == 1 ? last : 0;
}

int uplink_below(const struct netlink_row *rows, size_t count, int index)
{
	for (int i = 0; i < DEEPEST; i++) {
		const struct netlink_row *row = netlinks_row(rows, count, index);
		int below = 0;

		if (row && row->parent && netlinks_row(rows, count, row->parent))
			below = row->parent;
		else if (row && strcmp(row->kind, "bond") != 0)
			below = only_port(rows, count, index);
		if (!below)
			break;
		index = below;
	}
	return index;
}

bool uplink_is_on(const struct netlink_row *rows, size_t count, int route, int index)
{
	return route == index || netlinks_over(rows, count, route, index) ||
	       netlinks_over(rows, count, index, route);
}
