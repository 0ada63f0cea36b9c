// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * config_service.c - the meaning of a service section, of the template that it names, and
 * of the section `defaults`. The three have the same keys, and what a service says itself
 * goes before its template, and that before `defaults`.
 */
#include <errno.h>
#include <string.h>

#include "config/config_keys.h"
#include "config/config_parse.h"
#include "config/config_text.h"
#include "lib/names.h"
#include "lib/nearest.h"
#include "lib/rate_text.h"

static const struct choice policies[] = {
	{ "drop", POLICY_DROP },
	{ "limit", POLICY_LIMIT },
	{ "pass", POLICY_PASS },
	{ NULL, 0 },
};

static const struct choice validations[] = {
	{ "off", VALIDATION_OFF },
	{ "under-load", VALIDATION_UNDER_LOAD },
	{ "always", VALIDATION_ALWAYS },
	{ NULL, 0 },
};

static const struct choice caches[] = {
	{ "off", CACHE_OFF },
	{ "under-load", CACHE_UNDER_LOAD },
	{ "always", CACHE_ALWAYS },
	{ NULL, 0 },
};

/* Sections with keys for one service, the strongest last; NULL: there is none. */
struct layers {
	cfg_t *defaults, *template, *own;
};

static int family_parse_at(const struct kept *v, __u8 *ret)
{
	enum wire_family family;
	char known[128] = "";
	struct nearest near;
	const char *found;

	if (family_parse(v->text, &family)) {
		*ret = family;
		return 0;
	}
	nearest_begin(&near, v->text);
	for (int i = 0; i < FAMILY_COUNT; i++) {
		if (i)
			strcat(known, ", ");
		strcat(known, family_name((enum wire_family)i));
		nearest_try(&near, family_name((enum wire_family)i));
	}
	found = nearest_found(&near);
	return config_error(v->path, v->line, "protocol '%s' is not one of: %s%s%s%s",
			    v->text, known, found ? " (did you mean " : "",
			    found ? found : "", found ? "?)" : "");
}

static int family_read(const struct layers *l, __u8 *ret)
{
	const struct kept *v = value_get(l->own, "protocol");

	if (!v && l->template)
		v = value_get(l->template, "protocol");
	if (!v && l->defaults)
		v = value_get(l->defaults, "protocol");
	if (!v)
		return config_error(l->own->filename, l->own->line,
				    "service '%s' ends without a protocol",
				    cfg_title(l->own));
	return family_parse_at(v, ret);
}

static int name_read(cfg_t *section, char ret[NAME_MAX_LEN])
{
	const char *name = cfg_title(section);

	if (!*name)
		return config_error(section->filename, section->line,
				    "service '' needs a name");
	if (strlen(name) >= NAME_MAX_LEN)
		return config_error(section->filename, section->line,
				    "service name '%s' is longer than %d octets", name,
				    NAME_MAX_LEN - 1);
	if (!text_printable(name))
		return config_error(
			section->filename, section->line,
			"service name '%s' has a character that is not printable "
			"ASCII",
			name);
	strcpy(ret, name);
	return 0;
}

/* Read "27960", or "27960-27970" with both ends. */
static bool port_parse(const char *text, unsigned long *ret_first,
		       unsigned long *ret_last)
{
	const char *dash = strchr(text, '-');
	char first[8];
	size_t n = dash ? (size_t)(dash - text) : 0;

	if (!dash) {
		*ret_last = 0;
		if (!number_parse(text, 1, PORTS - 1, ret_first))
			return false;
		*ret_last = *ret_first;
		return true;
	}
	if (n >= sizeof(first))
		return false;
	memcpy(first, text, n);
	first[n] = '\0';
	return number_parse(first, 1, PORTS - 1, ret_first) &&
	       number_parse(dash + 1, *ret_first, PORTS - 1, ret_last);
}

static int port_add(const struct kept *v, unsigned long port, struct config_service *ret)
{
	if (ret->port_count == CONFIG_PORTS)
		return config_error(v->path, v->line,
				    "port '%s' is one too many: at most %d a service",
				    v->text, CONFIG_PORTS);
	for (size_t i = 0; i < ret->port_count; i++)
		if (ret->ports[i] == port)
			return config_error(v->path, v->line, "port '%s' is given twice",
					    v->text);
	ret->ports[ret->port_count++] = (__u16)port;
	return 0;
}

static int ports_read(cfg_t *section, struct config_service *ret)
{
	unsigned int n = cfg_size(section, "port");
	unsigned long port, last;

	if (!n)
		return config_error(section->filename, section->line,
				    "service '%s' ends without a port",
				    cfg_title(section));
	for (unsigned int i = 0; i < n; i++) {
		const struct kept *v = cfg_getnptr(section, "port", i);

		if (!port_parse(v->text, &port, &last))
			return config_error(v->path, v->line,
					    "port '%s' is not a number from 1 to 65535, "
					    "or two with a dash between them",
					    v->text);
		for (; port <= last; port++)
			if (port_add(v, port, ret))
				return -EINVAL;
	}
	return 0;
}

/* The value of the section that names @port. */
static const struct kept *port_value(cfg_t *section, unsigned long port)
{
	const struct kept *v = NULL;
	unsigned long first, last;

	for (unsigned int i = 0; i < cfg_size(section, "port"); i++) {
		v = cfg_getnptr(section, "port", i);
		if (port_parse(v->text, &first, &last) && first <= port && port <= last)
			break;
	}
	return v;
}

static int addresses_read(cfg_t *section, struct config_service *ret)
{
	for (unsigned int i = 0; i < cfg_size(section, "address"); i++) {
		const struct kept *v = cfg_getnptr(section, "address", i);
		struct cidr cidr;

		if (i == CONFIG_ADDRESSES)
			return config_error(v->path, v->line,
					    "address '%s' is one too many: at most %d a "
					    "service",
					    v->text, CONFIG_ADDRESSES);
		if (strchr(v->text, '/') || !cidr_parse(v->text, &cidr))
			return config_error(v->path, v->line,
					    "address '%s' is not an IPv4 or IPv6 address",
					    v->text);
		for (size_t j = 0; j < ret->address_count; j++)
			if (!memcmp(ret->addresses[j], cidr.addr, sizeof(cidr.addr)))
				return config_error(v->path, v->line,
						    "address '%s' is given twice",
						    v->text);
		memcpy(ret->addresses[ret->address_count++], cidr.addr,
		       sizeof(cidr.addr));
	}
	return 0;
}

static int rate_read(cfg_t *section, const char *key, struct limit *ret)
{
	const struct kept *v = value_get(section, key);
	const char *wrong = v ? rate_parse(v->text, ret) : NULL;

	return wrong ? config_error(v->path, v->line, "'%s' %s", v->text, wrong) : 0;
}

static int budgets_read(cfg_t *section, struct service *ret)
{
	for (int class = 0; class < CLASS_BUDGETS; class ++) {
		const char *name = class_name((enum wire_class) class);
		struct budget *b = &ret->budget[class];
		cfg_t *rates = cfg_getnsec(section, name, 0);

		if (!rates)
			continue;
		if (cfg_size(section, name) > 1)
			return config_error(cfg_getnsec(section, name, 1)->filename,
					    cfg_getnsec(section, name, 1)->line,
					    "section '%s' is given twice", name);
		if (rate_read(rates, "source", &b->source) ||
		    rate_read(rates, "prefix", &b->prefix) ||
		    rate_read(rates, "service", &b->service))
			return -EINVAL;
	}
	return 0;
}

/* A limit that differs from the protocol's is kept, whatever room there is. */
static void crowds_settle(struct service *ret)
{
	struct service usual;

	config_service_defaults((enum wire_family)ret->family, &usual);
	for (int class = 0; class < CLASS_BUDGETS; class ++) {
		const struct budget *was = &usual.budget[class];
		struct budget *b = &ret->budget[class];

		if (memcmp(&was->source, &b->source, sizeof(was->source)) != 0 ||
		    memcmp(&was->prefix, &b->prefix, sizeof(was->prefix)) != 0)
			b->crowd = 0;
	}
}

static int players_read(cfg_t *section, struct service *ret)
{
	cfg_t *players = cfg_getnsec(section, CONFIG_PLAYERS, 0);
	__u32 source = ret->players_source, prefix = ret->players_prefix;

	if (!players)
		return 0;
	if (cfg_size(section, CONFIG_PLAYERS) > 1)
		return config_error(cfg_getnsec(section, CONFIG_PLAYERS, 1)->filename,
				    cfg_getnsec(section, CONFIG_PLAYERS, 1)->line,
				    "section 'players' is given twice");
	if (number_read(players, "source", &source) ||
	    number_read(players, "prefix", &prefix))
		return -EINVAL;
	ret->players_source = (__u16)source;
	ret->players_prefix = (__u16)prefix;
	return 0;
}

static bool prefix_said(cfg_t *section)
{
	cfg_t *players = section ? cfg_getnsec(section, CONFIG_PLAYERS, 0) : NULL;

	return players && value_get(players, "prefix");
}

/*
 * A prefix that no section names has as many players as a source, at least; 0 of a source
 * is no limit, so of its prefix too.
 */
static void prefix_default(const struct layers *l, struct service *ret)
{
	if (prefix_said(l->own) || prefix_said(l->template) || prefix_said(l->defaults))
		return;
	if (!ret->players_source || ret->players_prefix < ret->players_source)
		ret->players_prefix = ret->players_source;
}

/* Any word in an odd spelling is unknown: it must not get more than in its plain one. */
static void unknown_warn(cfg_t *section, const struct service *s)
{
	const struct budget *u = &s->budget[CLASS_UNKNOWN];

	for (int class = 0; class < CLASS_BUDGETS; class ++) {
		const struct budget *b = &s->budget[class];
		const char *level;

		if (class == CLASS_NETCHAN)
			continue; /* no words there */
		if (rate_looser(&u->source, &b->source))
			level = "source";
		else if (rate_looser(&u->prefix, &b->prefix))
			level = "prefix";
		else if (rate_looser(&u->service, &b->service))
			level = "service";
		else
			continue;
		config_warn(section->filename, section->line,
			    "service '%s' lets more unknown requests through "
			    "than '%s' (%s): odd spellings evade that budget",
			    s->name, class_name((enum wire_class) class), level);
	}
}

static int policies_read(cfg_t *section, struct service *ret)
{
	static const struct {
		const char *key;
		enum wire_class class;
	} rows[] = {
		{ "replies", CLASS_REPLY },
		{ "malformed", CLASS_MALFORMED },
		{ "fragments", CLASS_FRAGMENT },
	};
	int value;

	_Static_assert(sizeof(rows) / sizeof(*rows) == CLASS_COUNT - CLASS_BUDGETS,
		       "a class without a budget needs a key");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		__u8 *policy = &ret->policy[rows[i].class - CLASS_BUDGETS];

		value = *policy;
		if (choice_read(section, rows[i].key, policies, &value))
			return -EINVAL;
		*policy = (__u8)value;
	}
	return 0;
}

static bool address_shared(const struct config_service *a, const struct config_service *b)
{
	/* An exact address goes before any: only like meets like. */
	if (!a->address_count || !b->address_count)
		return a->address_count == b->address_count;
	for (size_t i = 0; i < a->address_count; i++)
		for (size_t j = 0; j < b->address_count; j++)
			if (!memcmp(a->addresses[i], b->addresses[j],
				    sizeof(a->addresses[i])))
				return true;
	return false;
}

static const struct config_service *port_taken(const struct config *config,
					       const struct config_service *s, __u16 port)
{
	for (size_t i = 0; i < config->service_count; i++) {
		const struct config_service *other = &config->services[i];

		for (size_t j = 0; j < other->port_count; j++)
			if (other->ports[j] == port && address_shared(s, other))
				return other;
	}
	return NULL;
}

static int endpoints_check(struct parse *p, cfg_t *section,
			   const struct config_service *s)
{
	for (size_t i = 0; i < s->port_count; i++) {
		__u8 *seen = &p->port_seen[s->ports[i] / 8];
		__u8 bit = (__u8)(1 << s->ports[i] % 8);
		const struct kept *v = port_value(section, s->ports[i]);
		const struct config_service *other =
			*seen & bit ? port_taken(p->config, s, s->ports[i]) : NULL;

		if (other)
			return config_error(
				v->path, v->line,
				"port '%s' on the same address belongs to service '%s'",
				v->text, other->service.name);
		*seen |= bit;
	}
	p->endpoints += s->port_count * s->address_count;
	if (p->endpoints > SERVICES_MAX)
		return config_error(section->filename, section->line,
				    "service '%s' makes more than %d pairs of port and "
				    "address in all",
				    s->service.name, SERVICES_MAX);
	return 0;
}

/* Read into @ret what @section says, and leave the rest. NULL: it says nothing. */
static int settings_read(cfg_t *section, struct config_service *ret)
{
	struct service *s = &ret->service;
	int observe = s->observe, validation = s->validation, cache = s->cache;

	if (!section)
		return 0;
	if (choice_read(section, "observe", config_switches, &observe) ||
	    choice_read(section, "validation", validations, &validation) ||
	    choice_read(section, "cache", caches, &cache) || policies_read(section, s) ||
	    budgets_read(section, s) || players_read(section, s))
		return -EINVAL;
	s->observe = (__u8)observe;
	s->validation = (__u8)validation;
	ret->validation_given |= value_get(section, "validation") != NULL;
	s->cache = (__u8)cache;
	ret->cache_given |= value_get(section, "cache") != NULL;
	return 0;
}

/* The template that @section names, in *@ret; NULL: it names none. */
static int template_find(cfg_t *cfg, cfg_t *section, cfg_t **ret)
{
	const struct kept *v = value_get(section, "template");
	struct nearest near;
	const char *found;

	*ret = v ? cfg_opt_gettsec(cfg_getopt(cfg, CONFIG_TEMPLATE), v->text) : NULL;
	if (!v || *ret)
		return 0;
	nearest_begin(&near, v->text);
	for (unsigned int i = 0; i < cfg_size(cfg, CONFIG_TEMPLATE); i++)
		nearest_try(&near, cfg_title(cfg_getnsec(cfg, CONFIG_TEMPLATE, i)));
	found = nearest_found(&near);
	return config_error(v->path, v->line,
			    "template '%s' of service '%s' is not there%s%s%s", v->text,
			    cfg_title(section), found ? " (did you mean " : "",
			    found ? found : "", found ? "?)" : "");
}

/*
 * Check the settings in @section, which no service may use. 0, or -EINVAL after a
 * message.
 */
static int shared_check(cfg_t *section)
{
	const struct kept *protocol = value_get(section, "protocol");
	struct config_service any = { 0 };
	__u8 family = FAMILY_QUAKE3;

	if (protocol && family_parse_at(protocol, &family))
		return -EINVAL;
	config_service_defaults((enum wire_family)family, &any.service);
	return settings_read(section, &any);
}

/*
 * Check `defaults` and every `template`, also those that no service uses. 0 and
 * *@ret_defaults, NULL if there is none; or -EINVAL after a message.
 */
static int shared_read(cfg_t *cfg, cfg_t **ret_defaults)
{
	*ret_defaults = cfg_getnsec(cfg, CONFIG_DEFAULTS, 0);
	if (cfg_size(cfg, CONFIG_DEFAULTS) > 1)
		return config_error(cfg_getnsec(cfg, CONFIG_DEFAULTS, 1)->filename,
				    cfg_getnsec(cfg, CONFIG_DEFAULTS, 1)->line,
				    "section 'defaults' is given twice");
	if (*ret_defaults && shared_check(*ret_defaults))
		return -EINVAL;
	for (unsigned int i = 0; i < cfg_size(cfg, CONFIG_TEMPLATE); i++) {
		cfg_t *template = cfg_getnsec(cfg, CONFIG_TEMPLATE, i);

		if (!*cfg_title(template))
			return config_error(template->filename, template->line,
					    "template '' needs a name");
		if (shared_check(template))
			return -EINVAL;
	}
	return 0;
}

static int service_read(struct parse *p, const struct layers *l,
			struct config_service *ret)
{
	struct service *s = &ret->service;

	s->active = 1;
	if (name_read(l->own, s->name) || family_read(l, &s->family))
		return -EINVAL;
	config_service_defaults((enum wire_family)s->family, s);
	if (ports_read(l->own, ret) || addresses_read(l->own, ret) ||
	    settings_read(l->defaults, ret) || settings_read(l->template, ret) ||
	    settings_read(l->own, ret) || endpoints_check(p, l->own, ret))
		return -EINVAL;
	crowds_settle(s);
	prefix_default(l, s);
	if (!ret->cache_given && config_uncacheable(ret))
		s->cache = CACHE_OFF;
	unknown_warn(l->own, s);
	return 0;
}

int services_read(struct parse *p, cfg_t *cfg)
{
	unsigned int n = cfg_size(cfg, "service");
	struct layers l;

	if (shared_read(cfg, &l.defaults))
		return -EINVAL;
	if (!n)
		return config_error(p->path, 0,
				    "no service: write at least one, as "
				    "service \"ffa\" { protocol = quake3 port = 27960 }");
	for (unsigned int i = 0; i < n; i++) {
		l.own = cfg_getnsec(cfg, "service", i);
		if (i == SERVICES_MAX)
			return config_error(l.own->filename, l.own->line,
					    "service '%s' is one too many: at most %d",
					    cfg_title(l.own), SERVICES_MAX);
		if (template_find(cfg, l.own, &l.template) ||
		    service_read(p, &l, &p->config->services[i]))
			return -EINVAL;
		p->config->service_count++;
	}
	return 0;
}
