// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * config_defaults.c - the limits and policies of a service for which its section has no
 * value.
 *
 * Three rates a class: one source (an IPv4 address or IPv6 /64), one prefix (/24, /56),
 * the whole service. The numbers come from the limits of the engines themselves; the
 * arguments are in docs/explain/rate-limits.md, and tests/config/test_config_defaults.c
 * holds the tables to them: the limits for unknown messages are the strictest, and the
 * requests that ioquake3 and Q2PRO count in one bucket of their own fit in it, so that
 * these engines' limits never refuse a client that the shield passes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "lib/address.h"
#include "lib/log.h"
#include "lib/rate_text.h"
#include "lib/util.h"

struct rates {
	const char *source;
	const char *prefix;
	const char *service;
};

/* clang-format off */
#define UNKNOWN_RATES	{ "6/m burst 2",    "12/m burst 2",	"1/s burst 3" }
#define RCON_RATES	{ "30/m burst 5",   "30/m burst 5",	"1/s burst 10" }
#define NETCHAN_RATES	{ "40/s burst 80",  "80/s burst 160",	"400/s burst 1000" }

static const struct rates defaults[FAMILY_COUNT][CLASS_BUDGETS] = {
	[FAMILY_NETQUAKE] = {
		[CLASS_QUERY] =     { "2/s burst 16", "4/s burst 24",	"20/s burst 40" },
		[CLASS_CHALLENGE] = { "2/s burst 12", "4/s burst 24",	"20/s burst 40" },
		[CLASS_CONNECT] =   { "12/m burst 4", "30/m burst 8",	"1/s burst 16" },
		[CLASS_RCON] =	    RCON_RATES,
		[CLASS_UNKNOWN] =   UNKNOWN_RATES,
		[CLASS_NETCHAN] =   NETCHAN_RATES,
	},
	[FAMILY_QUAKEWORLD] = {
		[CLASS_QUERY] =     { "12/m burst 8", "1/s burst 10",	"10/s burst 10" },
		[CLASS_CHALLENGE] = { "1/s burst 3",  "4/s burst 8",	"20/s burst 40" },
		[CLASS_CONNECT] =   { "2/s burst 6",  "4/s burst 16",	"10/s burst 40" },
		[CLASS_RCON] =	    { "12/m burst 5", "12/m burst 5",	"1/s burst 10" },
		[CLASS_UNKNOWN] =   UNKNOWN_RATES,
		[CLASS_NETCHAN] =   NETCHAN_RATES,
	},
	[FAMILY_QUAKE2] = {
		[CLASS_QUERY] =     { "1/s burst 4",  "3/s burst 5",	"10/s burst 5" },
		[CLASS_CHALLENGE] = { "1/s burst 3",  "4/s burst 8",	"20/s burst 40" },
		[CLASS_CONNECT] =   { "2/s burst 6",  "4/s burst 16",	"10/s burst 32" },
		[CLASS_RCON] =	    RCON_RATES,
		[CLASS_UNKNOWN] =   UNKNOWN_RATES,
		[CLASS_NETCHAN] =   NETCHAN_RATES,
	},
	[FAMILY_QUAKE3] = {
		[CLASS_QUERY] =     { "1/s burst 3",  "3/s burst 6",	"6/s burst 6" },
		[CLASS_CHALLENGE] = { "1/s burst 3",  "2/s burst 3",	"3/s burst 3" },
		[CLASS_CONNECT] =   { "2/s burst 6",  "4/s burst 16",	"10/s burst 32" },
		[CLASS_RCON] =	    RCON_RATES,
		[CLASS_UNKNOWN] =   UNKNOWN_RATES,
		[CLASS_NETCHAN] =   NETCHAN_RATES,
	},
	[FAMILY_QUAKE_ENHANCED] = {
		[CLASS_QUERY] =     { "2/s burst 16", "4/s burst 24",	"20/s burst 40" },
		[CLASS_CHALLENGE] = { "1/s burst 4",  "4/s burst 8",	"20/s burst 40" },
		[CLASS_CONNECT] =   { "2/s burst 12", "4/s burst 32",	"10/s burst 64" },
		[CLASS_RCON] =	    RCON_RATES,
		[CLASS_UNKNOWN] =   UNKNOWN_RATES,
		[CLASS_NETCHAN] =   NETCHAN_RATES,
	},
	/* Whatever is behind it: the strictest of the above. */
	[FAMILY_AUTO] = {
		[CLASS_QUERY] =     { "12/m burst 4", "1/s burst 5",	"6/s burst 5" },
		[CLASS_CHALLENGE] = { "1/s burst 3",  "2/s burst 3",	"3/s burst 3" },
		[CLASS_CONNECT] =   { "12/m burst 4", "30/m burst 8",	"1/s burst 16" },
		[CLASS_RCON] =	    { "12/m burst 5", "12/m burst 5",	"1/s burst 10" },
		[CLASS_UNKNOWN] =   UNKNOWN_RATES,
		[CLASS_NETCHAN] =   NETCHAN_RATES,
	},
	/*
	 * A host of many servers sends bursts of heartbeats and answers. Nothing tells a
	 * spoofed request from another, so the service's limit is what a master handles.
	 * A master has no game traffic.
	 */
	[FAMILY_MASTER] = {
		[CLASS_QUERY] =     { "12/m burst 8", "30/m burst 16",	"1000/s burst 2000" },
		[CLASS_CHALLENGE] = { "1/s burst 64", "4/s burst 256",	"1000/s burst 2000" },
		[CLASS_CONNECT] =   { "2/s burst 64", "8/s burst 256",	"1000/s burst 2000" },
		[CLASS_RCON] =	    { "12/m burst 5", "12/m burst 5",	"1/s burst 10" },
		[CLASS_UNKNOWN] =   UNKNOWN_RATES,
		[CLASS_NETCHAN] =   UNKNOWN_RATES,
	},
};
/* clang-format on */

static void read_rate(const char *text, struct limit *ret)
{
	const char *wrong = rate_parse(text, ret);

	if (!wrong)
		return;
	log_error("default rate '%s' %s", text, wrong);
	abort();
}

void config_service_defaults(enum wire_family family, struct service *ret)
{
	for (size_t i = 0; i < CLASS_BUDGETS; i++) {
		const struct rates *r = &defaults[family][i];

		read_rate(r->source, &ret->budget[i].source);
		read_rate(r->prefix, &ret->budget[i].prefix);
		read_rate(r->service, &ret->budget[i].service);
		ret->budget[i].crowd =
			i == CLASS_CHALLENGE || i == CLASS_CONNECT ? CROWD_SHIFT : 0;
	}
	ret->players_source = PLAYERS_SOURCE;
	ret->players_prefix = PLAYERS_PREFIX;
	memset(ret->policy, POLICY_DROP, sizeof(ret->policy));
	/*
	 * For `auto` the words that validate an address are not known, and the clients of
	 * a master have none.
	 */
	ret->validation = family == FAMILY_AUTO || family == FAMILY_MASTER
				  ? VALIDATION_OFF
				  : VALIDATION_UNDER_LOAD;
	/*
	 * The queries of `auto` are not known either; Quake Enhanced's are behind a
	 * handshake, and a master's list has many datagrams.
	 */
	ret->cache = family == FAMILY_AUTO || family == FAMILY_MASTER ||
				     family == FAMILY_QUAKE_ENHANCED
			     ? CACHE_OFF
			     : CACHE_UNDER_LOAD;
}

const char *config_uncacheable(const struct config_service *c)
{
	struct service usual;

	config_service_defaults((enum wire_family)c->service.family, &usual);
	if (!usual.cache)
		return "a protocol with questions";
	if (c->port_count != 1)
		return "one port, and no more";
	if (c->address_count > 1 ||
	    (c->address_count && !address_is_ipv4(c->addresses[0])))
		return "at most one address, of IPv4";
	return NULL;
}

static void resolve_validation(struct config_service *c, const struct service *usual,
			       bool no_return_path, struct config_adjusted *adjusted)
{
	if (c->validation_given)
		return;
	c->service.validation = usual->validation;
	/*
	 * Quake Enhanced's clients are sent nothing: they must repeat a request, which
	 * they do by themselves.
	 */
	if (!no_return_path || !usual->validation ||
	    c->service.family == FAMILY_QUAKE_ENHANCED)
		return;
	c->service.validation = VALIDATION_OFF;
	adjusted->validation++;
}

static void resolve_cache(struct config_service *c, const struct service *usual,
			  bool no_return_path, struct config_adjusted *adjusted)
{
	if (c->cache_given)
		return;
	c->service.cache = usual->cache;
	if (!usual->cache)
		return;
	if (config_uncacheable(c))
		adjusted->uncacheable++;
	else if (no_return_path)
		adjusted->cache++;
	else
		return;
	c->service.cache = CACHE_OFF;
}

void config_resolve(struct config *config, bool no_return_path,
		    struct config_adjusted *ret)
{
	*ret = (struct config_adjusted){ 0 };
	for (size_t i = 0; i < config->service_count; i++) {
		struct config_service *c = &config->services[i];
		struct service usual;

		config_service_defaults((enum wire_family)c->service.family, &usual);
		resolve_validation(c, &usual, no_return_path, ret);
		resolve_cache(c, &usual, no_return_path, ret);
	}
}

void config_adjusted_format(const struct config_adjusted *adjusted,
			    char ret[CONFIG_ADJUSTED])
{
	const struct {
		const char *what;
		size_t count;
	} rows[] = { { "validation", adjusted->validation },
		     { "cache", adjusted->cache } };
	int n = 0;

	ret[0] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].count)
			n += snprintf(ret + n, (size_t)(CONFIG_ADJUSTED - n),
				      "%s%s for %zu service%s", n ? ", " : "",
				      rows[i].what, rows[i].count,
				      rows[i].count == 1 ? "" : "s");
}

__u64 config_allowance(const struct config *config)
{
	size_t servers = 0, times;

	for (size_t i = 0; i < config->service_count; i++) {
		const struct config_service *c = &config->services[i];

		servers += c->port_count * (c->address_count ? c->address_count : 1);
	}
	times = (servers + AMPLIFICATION_SERVERS - 1) / AMPLIFICATION_SERVERS;
	if (config->amplification_allowance != AMPLIFICATION_ALLOWANCE || times < 1)
		times = 1;
	if (times > AMPLIFICATION_MOST)
		times = AMPLIFICATION_MOST;
	return (__u64)config->amplification_allowance * times;
}

void config_empty(struct config *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->amplification_allowance = AMPLIFICATION_ALLOWANCE;
	ret->amplification_refill_s = AMPLIFICATION_REFILL_S;
	read_rate(VALIDATION_RATE, &ret->validation);
	ret->cache_bytes_per_s = CACHE_BYTES_PER_S;
	listen_parse(METRICS_LISTEN, &ret->metrics);
	ret->sample_rate = SAMPLE_RATE;
	ret->follow_rate = FOLLOW_RATE;
	ret->output_cpu = OUTPUT_CPU;
}

void config_default(struct config *ret)
{
	struct config_service *s = &ret->services[0];

	config_empty(ret);
	strcpy(s->service.name, "default");
	s->service.family = FAMILY_QUAKE3;
	s->service.active = 1;
	config_service_defaults(FAMILY_QUAKE3, &s->service);
	s->ports[0] = 27960;
	s->port_count = 1;
	ret->service_count = 1;
}
