// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * listed_host.c - the addresses of this host, and the games and protocols that its
 * servers name. Called by listed.c.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>

#include "lib/address.h"
#include "lib/udp_sockets.h"
#include "listed/listed_internal.h"

/* Copy the address of an interface. False: it has none, or one of its link alone. */
static bool interface_address(const struct ifaddrs *i, __be32 ret[4])
{
	const struct sockaddr *at = i->ifa_addr;

	if (!at || i->ifa_flags & IFF_LOOPBACK || !(i->ifa_flags & IFF_UP))
		return false;
	memset(ret, 0, sizeof(__be32[4]));
	if (at->sa_family == AF_INET) {
		ret[2] = htonl(0xffff);
		ret[3] = ((const struct sockaddr_in *)(const void *)at)->sin_addr.s_addr;
		return true;
	}
	if (at->sa_family != AF_INET6)
		return false;
	memcpy(ret, &((const struct sockaddr_in6 *)(const void *)at)->sin6_addr,
	       sizeof(__be32[4]));
	return ntohl(ret[0]) >> 22 != 0x3fa; /* fe80::/10 */
}

int listed_addresses_find(struct listed *l)
{
	struct listed_query *q = &l->query;
	struct ifaddrs *all;

	if (q->address_count) {
		l->addresses_named = true;
		return 0;
	}
	if (getifaddrs(&all))
		return -errno;
	for (const struct ifaddrs *i = all; i; i = i->ifa_next)
		if (q->address_count < LISTED_ADDRESSES &&
		    interface_address(i, q->addresses[q->address_count]))
			q->address_count++;
	freeifaddrs(all);
	return 0;
}

/* --- where servers are asked --------------------------------------------------- */

#define PLACE_ASKS 2 /* questions to one place: IPv4's loopback, and IPv6's */

/* The sockets at a port of this network namespace. */
struct bound {
	const struct shield_endpoint *place;
	bool here; /* one gets what comes to the place */
	bool ipv4, ipv6; /* one is at any address, in the list of that version */
	bool has; /* another is at this one */
	__be32 address[4];
};

static void bound_note(const struct udp_socket *s, void *context)
{
	struct bound *b = context;
	const struct shield_endpoint *place = b->place;

	if (s->port != place->port || s->connected)
		return;
	if (address_is_any(s->address)) {
		b->ipv4 |= !s->ipv6;
		b->ipv6 |= s->ipv6;
		b->here = true;
		return;
	}
	b->here |= is_any(place->address) ||
		   !memcmp(place->address, s->address, sizeof(s->address));
	if (!b->has)
		memcpy(b->address, s->address, sizeof(b->address));
	b->has = true;
}

/*
 * Find the addresses at which the server at b->place is asked: the place's own, or its
 * socket's, or loopback. A socket in the list of IPv6 alone may take no IPv4.
 * Returns how many.
 */
static size_t addresses_find(struct bound *b, __be32 ret[PLACE_ASKS][4])
{
	size_t n = 0;

	udp_sockets_each(bound_note, b);
	if (!is_any(b->place->address)) {
		memcpy(ret[n++], b->place->address, sizeof(ret[0]));
	} else if (b->has && !b->ipv4 && !b->ipv6) {
		memcpy(ret[n++], b->address, sizeof(ret[0]));
	} else {
		inet_pton(AF_INET6, "::ffff:127.0.0.1", ret[n++]);
		if (b->ipv6 && !b->ipv4)
			inet_pton(AF_INET6, "::1", ret[n++]);
	}
	return n;
}

/* --- asking them --------------------------------------------------------------- */

static enum listed_part info_take(struct listed_ask *ask, const void *reply, size_t n)
{
	struct listed_service *s = ask->context;

	if (!listed_info(reply, n, s->game, s->protocol))
		return LISTED_BAD;
	s->told = true;
	return LISTED_END;
}

static void place_ask(struct gather *g, struct listed_service *s,
		      const struct shield_endpoint *place)
{
	struct bound b = { .place = place };
	__be32 at[PLACE_ASKS][4];
	size_t n = addresses_find(&b, at);

	if (g->ask_count + n > ASKS) {
		s->unasked = true;
		return;
	}
	s->here += b.here;
	for (size_t i = 0; i < n; i++) {
		struct listed_ask *ask = &g->asks[g->ask_count++];

		*ask = (struct listed_ask){ .port = place->port,
					    .take = info_take,
					    .context = s };
		memcpy(ask->address, at[i], sizeof(ask->address));
		ask->n = (size_t)snprintf(ask->bytes, sizeof(ask->bytes),
					  "\xff\xff\xff\xffgetinfo xxx");
	}
}

/* Ask the servers at the first place of @s, or those at all others. */
static void places_ask(struct gather *g, struct listed_service *s, bool others)
{
	size_t n = 0;

	for (size_t i = 0; i < g->end_count; i++) {
		if (g->ends[i].slot != s->slot)
			continue;
		if ((n++ > 0) == others)
			place_ask(g, s, &g->ends[i]);
	}
	s->places = n;
}

/* A Quake II or QuakeWorld server sends heartbeats and knows no getinfo. */
static bool should_respond(const struct listed_service *s)
{
	return s->heartbeats && s->service.family == FAMILY_NETQUAKE;
}

/*
 * Return true if a server of @s that does not respond is down: it was asked wherever the
 * service is, by sockets of this network namespace, or the daemon has seen its one socket
 * here. A container's server, to which addresses are translated, cannot be asked.
 */
static bool is_down(const struct gather *g, const struct listed_service *s)
{
	__u32 user = 0;

	shield_other_sockets(g->shield, s->slot, &user);
	return s->here == s->places || (s->places == 1 && user);
}

/* Return why no master is asked for @s, or NULL. `auto` is what its server says. */
static const char *why_not(const struct gather *g, struct listed_service *s)
{
	bool silent = !s->told && !s->unasked && should_respond(s);

	/* A server of Quake III is looked for in lists all the same. */
	if (!s->told && s->unasked && s->service.family != FAMILY_QUAKE3)
		return "its server was not asked for its game and protocol: there are too "
		       "many questions: --service names one service";
	s->down = silent && is_down(g, s);
	if (s->down)
		return "its server has sent heartbeats, but does not respond to getinfo "
		       "now: is it down?";
	if (silent)
		return "its server has sent heartbeats, but does not respond to getinfo, "
		       "and not all of its ports have a socket here: it is unknown "
		       "whether it is down or in a container";
	switch ((enum wire_family)s->service.family) {
	case FAMILY_NETQUAKE:
		return s->told ? NULL
			       : "its server does not respond to getinfo: of NetQuake "
				 "servers only those that do (DarkPlaces, FTE, QSS) "
				 "report to masters";
	case FAMILY_QUAKE_ENHANCED:
		return "Quake Enhanced has no master servers of this kind";
	case FAMILY_MASTER:
		return "it is a master server itself";
	case FAMILY_AUTO:
		s->words = s->told ? LISTED_DPMASTER : LISTED_NONE;
		return s->told ? NULL
			       : "with `protocol = auto` its masters are not known, and "
				 "its server does not respond to getinfo";
	default:
		return NULL;
	}
}

int listed_servers_ask(struct gather *g)
{
	struct listed *l = g->listed;
	int err = 0;

	/* Another port may have the server that reports. */
	for (int others = 0; others < 2 && !err; others++) {
		for (size_t i = 0; i < l->service_count; i++) {
			struct listed_service *s = &l->services[i];

			if (others ? !s->told && should_respond(s)
				   : s->words == LISTED_DPMASTER ||
					     s->service.family == FAMILY_AUTO)
				places_ask(g, s, others);
		}
		if (g->ask_count)
			err = listed_ask_all(g->asks, g->ask_count, g->taken);
		g->ask_count = 0;
	}
	for (size_t i = 0; i < l->service_count; i++)
		l->services[i].why = why_not(g, &l->services[i]);
	return err;
}
