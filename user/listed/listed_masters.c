// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * listed_masters.c - the master servers that engines name by themselves, and the
 * addresses of any: see listed.h.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* getaddrinfo_a() */
#endif
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <string.h>
#include <time.h>

#include "explain/explain.h"
#include "lib/util.h"
#include "listed/listed.h"

#define RESOLVE_S 5 /* for all names together */

/*
 * Well-known masters of each protocol: what engines have as their defaults, at the usual
 * port. A game with others has to name them (--master).
 *	  protocol	host				engines */
/* clang-format off */
static const struct {
	enum wire_family family;
	const char *host;
} known[] = {
	{ FAMILY_QUAKE3,	"master.quake3arena.com" },	/* id, ioquake3, Quake3e */
	{ FAMILY_QUAKE3,	"master.ioquake3.org" },	/* ioquake3, Quake3e */
	{ FAMILY_QUAKE3,	"dpmaster.deathmask.net" },	/* OpenArena */
	{ FAMILY_NETQUAKE,	"dpmaster.deathmask.net" },	/* DarkPlaces, Xonotic, FTE */
	{ FAMILY_NETQUAKE,	"dpmaster.tchr.no" },		/* DarkPlaces, Xonotic */
	{ FAMILY_NETQUAKE,	"dpm.dpmaster.org" },		/* Xonotic */
	{ FAMILY_QUAKEWORLD,	"master.quakeworld.nu" },	/* mvdsv, ezQuake */
	{ FAMILY_QUAKEWORLD,	"master.quakeservers.net" },	/* the same */
	{ FAMILY_QUAKEWORLD,	"qwmaster.ocrana.de" },		/* the same */
	{ FAMILY_QUAKEWORLD,	"qwmaster.fodquake.net" },	/* the same */
	{ FAMILY_QUAKE2,	"master.q2servers.com" },	/* R1Q2, Q2PRO */
	{ FAMILY_QUAKE2,	"master.yamagi.org" },		/* Yamagi Quake II */
};
/* clang-format on */

enum listed_words listed_words_of(enum wire_family family)
{
	switch (family) {
	case FAMILY_QUAKE3:
	case FAMILY_NETQUAKE:
		return LISTED_DPMASTER;
	case FAMILY_QUAKEWORLD:
		return LISTED_QUAKEWORLD;
	case FAMILY_QUAKE2:
		return LISTED_QUAKE2;
	default:
		return LISTED_NONE;
	}
}

__u16 listed_port(const struct listed_master *master, enum listed_words words)
{
	return master->port		    ? master->port
	       : words == LISTED_QUAKEWORLD ? 27000
	       : words == LISTED_QUAKE2	    ? 27900
					    : 27950;
}

/* --- names --------------------------------------------------------------- */

/* Return true if @text is letters, digits, dots and hyphens: a name for a resolver. */
static bool is_host(const char *text)
{
	size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				"0123456789.-");

	return n && !text[n] && *text != '-' && *text != '.';
}

bool listed_master_parse(const char *text, struct listed_master *ret)
{
	struct listed_master m = { .port = 0 };
	struct explain_query at = { .port = 0 };
	const char *colon = strchr(text, ':');
	size_t n = colon ? (size_t)(colon - text) : strlen(text);
	size_t digits = colon ? strspn(colon + 1, "0123456789") : 0;
	unsigned long port = 0;

	if (strlen(text) >= sizeof(m.name))
		return false;
	memcpy(m.name, text, strlen(text) + 1);
	if (explain_parse(text, &at)) {
		memcpy(m.addresses[0], at.address, sizeof(at.address));
		m.address_count = 1;
		m.port = at.port;
		*ret = m;
		return true;
	}
	if (n >= sizeof(m.host))
		return false;
	memcpy(m.host, text, n);
	for (size_t i = 0; i < digits && port < PORTS; i++)
		port = port * 10 + (unsigned long)(colon[1 + i] - '0');
	if (!is_host(m.host) ||
	    (colon && (!digits || colon[1 + digits] || !port || port >= PORTS)))
		return false;
	m.port = (__u16)port;
	*ret = m;
	return true;
}

size_t listed_masters_known(enum wire_family family, struct listed_master *ret,
			    size_t count)
{
	for (size_t i = 0; i < ARRAY_SIZE(known) && count < LISTED_MASTERS; i++) {
		struct listed_master *m = &ret[count];

		if (known[i].family != family)
			continue;
		*m = (struct listed_master){ .known = true, .family = family };
		snprintf(m->host, sizeof(m->host), "%s", known[i].host);
		snprintf(m->name, sizeof(m->name), "%s:%u", known[i].host,
			 listed_port(m, listed_words_of(family)));
		count++;
	}
	return count;
}

/* --- addresses ----------------------------------------------------------- */

/* Keep the addresses that a resolver has found, IPv4 first: more masters have it. */
static void addresses_take(const struct addrinfo *found, int family,
			   struct listed_master *m)
{
	for (; found && m->address_count < LISTED_HOSTS; found = found->ai_next) {
		__be32 *address = m->addresses[m->address_count];

		if (found->ai_family != family)
			continue;
		address[2] = htonl(0xffff);
		if (family == AF_INET)
			address[3] =
				((const struct sockaddr_in *)(const void *)found->ai_addr)
					->sin_addr.s_addr;
		else
			memcpy(address,
			       &((const struct sockaddr_in6 *)(const void *)
					 found->ai_addr)
					->sin6_addr,
			       sizeof(m->addresses[0]));
		m->address_count++;
	}
}

static void result_take(struct gaicb *request, struct listed_master *m)
{
	int error = gai_error(request);

	if (error) {
		m->wrong = error == EAI_INPROGRESS || error == EAI_CANCELED
				   ? "its name was not resolved in time"
				   : gai_strerror(error);
		return;
	}
	addresses_take(request->ar_result, AF_INET, m);
	addresses_take(request->ar_result, AF_INET6, m);
	freeaddrinfo(request->ar_result);
	if (!m->address_count)
		m->wrong = "its name has no address";
}

/* Wait for all @requests, @until at most. */
static void requests_wait(struct gaicb **requests, size_t count)
{
	struct timespec now, until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += RESOLVE_S;
	for (size_t i = 0; i < count;) {
		const struct gaicb *one = requests[i];
		struct timespec left = { .tv_nsec = 0 };

		if (gai_error(requests[i]) != EAI_INPROGRESS) {
			i++;
			continue;
		}
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (now.tv_sec >= until.tv_sec)
			return;
		left.tv_sec = until.tv_sec - now.tv_sec;
		gai_suspend(&one, 1, &left);
	}
}

void listed_resolve(struct listed_master *masters, size_t count)
{
	/* A resolver's thread that is not done in time writes here later. */
	static struct gaicb all[LISTED_MASTERS];
	static const struct addrinfo hints = { .ai_socktype = SOCK_DGRAM };
	static char hosts[LISTED_MASTERS][LISTED_HOST];
	struct gaicb *requests[LISTED_MASTERS];
	struct listed_master *of[LISTED_MASTERS];
	size_t n = 0;

	for (size_t i = 0; i < count && n < LISTED_MASTERS; i++) {
		if (masters[i].address_count)
			continue;
		memcpy(hosts[n], masters[i].host, LISTED_HOST);
		all[n] = (struct gaicb){ .ar_name = hosts[n], .ar_request = &hints };
		of[n] = &masters[i];
		requests[n] = &all[n];
		n++;
	}
	if (!n)
		return;
	if (getaddrinfo_a(GAI_NOWAIT, requests, (int)n, NULL)) {
		for (size_t i = 0; i < n; i++)
			of[i]->wrong = "its name cannot be resolved now";
		return;
	}
	requests_wait(requests, n);
	for (size_t i = 0; i < n; i++) {
		if (gai_error(requests[i]) == EAI_INPROGRESS)
			gai_cancel(requests[i]);
		result_take(requests[i], of[i]);
	}
}
