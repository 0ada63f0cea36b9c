// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * lag_host.c - see lag_host.h.
 */
#include <ifaddrs.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "daemon/lag_host.h"
#include "lib/netlinks.h"
#include "lib/util.h"

/*
 * Drops before our program on the way in, and after it on the way out. rx_dropped is not
 * among them: some drivers count what an XDP program drops.
 */
static const struct {
	enum lag_way way;
	const char *name;
} interface_counters[] = {
	{ LAG_C2S, "rx_missed_errors" }, { LAG_C2S, "rx_fifo_errors" },
	{ LAG_C2S, "rx_over_errors" },	 { LAG_S2C, "tx_dropped" },
	{ LAG_S2C, "tx_fifo_errors" },
};

/* Read one counter of an interface. False: that failed. */
static bool counter_read_file(const char *interface, const char *name, uint64_t *ret)
{
	char path[128];
	FILE *file;
	bool read;

	snprintf(path, sizeof(path), "/sys/class/net/%s/statistics/%s", interface, name);
	file = fopen(path, "re");
	if (!file)
		return false;
	read = fscanf(file, "%" SCNu64, ret) == 1;
	fclose(file);
	return read;
}

/* Read all counters of an interface. False: one of them cannot be read. */
static bool interface_read(const char *name, struct lag_interface *ret)
{
	uint64_t n;

	memset(ret, 0, sizeof(*ret));
	snprintf(ret->name, sizeof(ret->name), "%s", name);
	for (size_t i = 0; i < ARRAY_SIZE(interface_counters); i++) {
		if (!counter_read_file(name, interface_counters[i].name, &n))
			return false;
		ret->dropped[interface_counters[i].way] += n;
	}
	return true;
}

static void interfaces_read(struct lag_host *h, const struct stats *stats,
			    struct lag_totals *ret)
{
	h->links = stats->link_count;
	h->count = 0;
	for (size_t i = 0; i < stats->link_count && h->count < LAG_INTERFACES; i++) {
		const char *name = stats->links[i].interface;

		if (!interface_read(name, &ret->interfaces[h->count]))
			continue;
		h->indexes[h->count++] = (int)if_nametoindex(name);
	}
	ret->interface_count = h->count;
}

/* Return the index of the interface that has the address of @end; 0: none has it. */
static int owner_of(const struct record_address *end)
{
	int family = end->length == 4 ? AF_INET : AF_INET6, ret = 0;
	struct ifaddrs *all;

	if (getifaddrs(&all))
		return 0;
	for (const struct ifaddrs *at = all; at && !ret; at = at->ifa_next) {
		const struct sockaddr_in *in = (const void *)at->ifa_addr;
		const struct sockaddr_in6 *in6 = (const void *)at->ifa_addr;

		if (!at->ifa_addr || at->ifa_addr->sa_family != family)
			continue;
		if (!memcmp(end->length == 4 ? (const void *)&in->sin_addr
					     : (const void *)&in6->sin6_addr,
			    end->bytes, end->length))
			ret = (int)if_nametoindex(at->ifa_name);
	}
	freeifaddrs(all);
	return ret;
}

/*
 * Return which of the interfaces that were read have @owner or lie below it; one that
 * has an address goes before those below.
 */
static uint64_t below(const struct lag_host *h, int owner)
{
	static struct netlink_row rows[NETLINKS_MAX];
	uint64_t ret = 0;
	int n;

	for (size_t i = 0; i < h->count; i++)
		if (owner && h->indexes[i] == owner)
			return 1ull << i;
	n = owner ? netlinks_read(rows) : 0;
	for (size_t i = 0; n > 0 && i < h->count; i++)
		if (netlinks_over(rows, (size_t)n, owner, h->indexes[i]))
			ret |= 1ull << i;
	return ret;
}

/*
 * The arrives() of struct lag_totals. With one protected interface followed datagrams
 * come by it, also if another one has their address.
 */
static uint64_t arrives(void *context, const struct record_address *server)
{
	struct lag_host *h = context;

	if (h->links == 1)
		return h->count;
	if (!h->has_answer || h->asked.length != server->length ||
	    memcmp(h->asked.bytes, server->bytes, sizeof(server->bytes)) != 0) {
		h->asked = *server;
		h->answer = below(h, owner_of(server));
		h->has_answer = true;
	}
	return h->answer;
}

static uint64_t refused_of(const struct counters *in)
{
	uint64_t n = 0;

	for (int kind = 0; kind < KIND_COUNT; kind++)
		n += in->by[kind][REASON_PLAYER_LIMIT].packets;
	return n;
}

static void attacks(const struct incident_monitor *monitor, struct lag_totals *ret)
{
	const struct incident_watch *watches = incident_monitor_watches(monitor);

	/* Guessed passwords take no bandwidth. */
	for (size_t slot = 0; slot < INCIDENT_SERVICES; slot++) {
		const struct incident *now = watches[slot].now;

		if (now && now->sort != INCIDENT_GUESSING)
			ret->attack[slot] = incident_sort_name(now->sort);
	}
}

struct sources {
	struct lag_totals *totals;
	__u32 slot;
};

/* Count a place of the sample (refused.h). The callback of shield_refused(). */
static void on_source(enum wire_class class, const struct refused_source *from,
		      void *context)
{
	const struct sources *to = context;
	struct lag_totals *t = to->totals;
	size_t i = 0;

	(void)class;
	if (from->reason != REASON_PLAYER_LIMIT)
		return;
	while (i < t->source_count &&
	       !(t->sources[i].slot == to->slot && t->sources[i].net == from->net &&
		 t->sources[i].ipv6 == from->ipv6))
		i++;
	if (i == LAG_SOURCES)
		return;
	if (i == t->source_count)
		t->sources[t->source_count++] = (struct lag_source){ .slot = to->slot,
								     .ipv6 = from->ipv6,
								     .net = from->net };
	t->sources[i].refused += (uint64_t)from->weight * REFUSED_EVERY;
}

/*
 * Read the sources of the last second for each service, if its count grew in this second
 * or the one before: the sample's periods end at other times than seconds.
 */
static void sources_read(struct lag_host *h, struct lag_totals *ret)
{
	__u32 until = refused_tick(shield_clock());

	for (__u32 slot = 0; slot < SERVICES_MAX; slot++) {
		bool grows = h->begun && ret->refused[slot] > h->refused[slot];

		if (grows || h->grew[slot])
			shield_refused(h->shield, slot, h->tick, until, on_source,
				       &(struct sources){ ret, slot });
		h->grew[slot] = grows;
		h->refused[slot] = ret->refused[slot];
	}
	h->tick = until;
	h->begun = true;
}

void lag_host_totals(void *host, struct lag_totals *ret)
{
	struct lag_host *h = host;
	const struct stats *stats = stats_cache_stats(h->cache);

	attacks(h->monitor, ret);
	h->has_answer = false;
	ret->arrives = arrives;
	ret->context = h;
	if (!stats)
		return;
	for (size_t i = 0; i < stats->service_count; i++)
		ret->refused[stats->services[i].slot] =
			refused_of(&stats->services[i].in);
	ret->services_read = true;
	sources_read(h, ret);
	interfaces_read(h, stats, ret);
}
