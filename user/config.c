// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * config.c - from the text of a configuration file to struct config.
 *
 * libconfuse knows the shape: which key belongs where. Each value is kept as text with
 * the line it stands on, and given its meaning here, so that every complaint can name
 * the line and quote the text.
 */
#include <confuse.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "config_text.h"
#include "names.h"
#include "rate.h"

#define ALLOWANCE_MAX 100000000 /* bytes of the ledger; at most one a nanosecond */
#define WINDOW_MAX_S  3600
#define FLAG_GIVEN    (1 << 30) /* ours among libconfuse's CFGF_... of an option */

struct kept {
	int line;
	char text[];
};

struct parse {
	const char *path;
	struct config *config;
	size_t endpoints; /* pairs of port and address so far */
	__u8 port_seen[PORTS / 8]; /* by any service */
};

/* A value as libconfuse hands it over: the only callback. */
static int keep(cfg_t *cfg, cfg_opt_t *opt, const char *value, void *ret)
{
	struct kept *kept;

	/* The first value after another "=" has replaced all that were before. */
	if (opt->flags & FLAG_GIVEN && cfg_opt_size(opt) == 1) {
		cfg_error(cfg, "'%s' is given twice", opt->name);
		return -1;
	}
	opt->flags |= FLAG_GIVEN;
	kept = malloc(sizeof(*kept) + strlen(value) + 1);
	if (!kept)
		return -1;
	kept->line = cfg->line;
	strcpy(kept->text, value);
	*(void **)ret = kept;
	return 0;
}

static void complain(cfg_t *cfg, const char *format, va_list args)
{
	config_error_v(cfg->filename, cfg->line, format, args);
}

static const struct kept *value_get(cfg_t *section, const char *key)
{
	return cfg_getptr(section, key);
}

static int value_error(const struct parse *p, const struct kept *v, const char *wrong)
{
	return config_error(p->path, v->line, "'%s' %s", v->text, wrong);
}

static bool text_printable(const char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~')
			return false;
	return true;
}

struct choice {
	const char *name;
	int value;
};

static const struct choice switches[] = {
	{ "true", 1 }, { "yes", 1 }, { "on", 1 }, { "false", 0 },
	{ "no", 0 },   { "off", 0 }, { NULL, 0 },
};

static const struct choice modes[] = {
	{ "auto", MODE_AUTO },
	{ "native", MODE_NATIVE },
	{ "skb", MODE_SKB },
	{ NULL, 0 },
};

static const struct choice exits[] = {
	{ "keep", 0 },
	{ "detach", 1 },
	{ NULL, 0 },
};

static const struct choice policies[] = {
	{ "drop", POLICY_DROP },
	{ "limit", POLICY_LIMIT },
	{ "pass", POLICY_PASS },
	{ NULL, 0 },
};

/* 0 and *@ret untouched if the key is not there. */
static int choice_read(const struct parse *p, cfg_t *section, const char *key,
		       const struct choice *choices, int *ret)
{
	const struct kept *v = value_get(section, key);
	char known[128] = "";

	if (!v)
		return 0;
	for (const struct choice *c = choices; c->name; c++) {
		if (!strcmp(v->text, c->name)) {
			*ret = c->value;
			return 0;
		}
		if (known[0])
			strcat(known, ", ");
		strcat(known, c->name);
	}
	return config_error(p->path, v->line, "%s '%s' is not one of: %s", key, v->text,
			    known);
}

static int family_read(const struct parse *p, cfg_t *section, __u8 *ret)
{
	const struct kept *v = value_get(section, "protocol");
	enum wire_family family;
	char known[128] = "";

	if (!v)
		return config_error(p->path, section->line,
				    "service '%s' ends without a protocol",
				    cfg_title(section));
	if (family_parse(v->text, &family)) {
		*ret = family;
		return 0;
	}
	for (int i = 0; i < FAMILY_COUNT; i++) {
		if (i)
			strcat(known, ", ");
		strcat(known, family_name((enum wire_family)i));
	}
	return config_error(p->path, v->line, "protocol '%s' is not one of: %s", v->text,
			    known);
}

static int name_read(const struct parse *p, cfg_t *section, char ret[NAME_MAX_LEN])
{
	const char *name = cfg_title(section);

	if (!*name)
		return config_error(p->path, section->line, "service '' needs a name");
	if (strlen(name) >= NAME_MAX_LEN)
		return config_error(p->path, section->line,
				    "service name '%s' is longer than %d octets", name,
				    NAME_MAX_LEN - 1);
	if (!text_printable(name))
		return config_error(
			p->path, section->line,
			"service name '%s' has a character that is not printable "
			"ASCII",
			name);
	strcpy(ret, name);
	return 0;
}

/* Digits and nothing else, from @min to @max. */
static bool number_parse(const char *text, unsigned long min, unsigned long max,
			 unsigned long *ret)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (!isdigit((unsigned char)*text) || *end || n < min || n > max)
		return false;
	*ret = n;
	return true;
}

static int ports_read(const struct parse *p, cfg_t *section, struct config_service *ret)
{
	unsigned int n = cfg_size(section, "port");

	if (!n)
		return config_error(p->path, section->line,
				    "service '%s' ends without a port",
				    cfg_title(section));
	for (unsigned int i = 0; i < n; i++) {
		const struct kept *v = cfg_getnptr(section, "port", i);
		unsigned long port;

		if (i == CONFIG_PORTS)
			return config_error(p->path, v->line,
					    "port '%s' is one too many: at most %d a "
					    "service",
					    v->text, CONFIG_PORTS);
		if (!number_parse(v->text, 1, PORTS - 1, &port))
			return config_error(p->path, v->line,
					    "port '%s' is not a number from 1 to 65535",
					    v->text);
		for (size_t j = 0; j < ret->port_count; j++)
			if (ret->ports[j] == port)
				return config_error(p->path, v->line,
						    "port '%s' is given twice", v->text);
		ret->ports[ret->port_count++] = (__u16)port;
	}
	return 0;
}

static int addresses_read(const struct parse *p, cfg_t *section,
			  struct config_service *ret)
{
	for (unsigned int i = 0; i < cfg_size(section, "address"); i++) {
		const struct kept *v = cfg_getnptr(section, "address", i);
		struct cidr cidr;

		if (i == CONFIG_ADDRESSES)
			return config_error(p->path, v->line,
					    "address '%s' is one too many: at most %d a "
					    "service",
					    v->text, CONFIG_ADDRESSES);
		if (strchr(v->text, '/') || !cidr_parse(v->text, &cidr))
			return config_error(p->path, v->line,
					    "address '%s' is not an IPv4 or IPv6 address",
					    v->text);
		for (size_t j = 0; j < ret->address_count; j++)
			if (!memcmp(ret->addresses[j], cidr.addr, sizeof(cidr.addr)))
				return config_error(p->path, v->line,
						    "address '%s' is given twice",
						    v->text);
		memcpy(ret->addresses[ret->address_count++], cidr.addr,
		       sizeof(cidr.addr));
	}
	return 0;
}

static int rate_read(const struct parse *p, cfg_t *section, const char *key,
		     struct limit *ret)
{
	const struct kept *v = value_get(section, key);
	const char *wrong = v ? rate_parse(v->text, ret) : NULL;

	return wrong ? value_error(p, v, wrong) : 0;
}

static int budgets_read(const struct parse *p, cfg_t *section, struct service *ret)
{
	for (int class = 0; class < CLASS_BUDGETS; class ++) {
		const char *name = class_name((enum wire_class) class);
		struct budget *b = &ret->budget[class];
		cfg_t *rates = cfg_getnsec(section, name, 0);

		if (!rates)
			continue;
		if (cfg_size(section, name) > 1)
			return config_error(p->path, cfg_getnsec(section, name, 1)->line,
					    "section '%s' is given twice", name);
		if (rate_read(p, rates, "source", &b->source) ||
		    rate_read(p, rates, "prefix", &b->prefix) ||
		    rate_read(p, rates, "global", &b->global))
			return -EINVAL;
	}
	return 0;
}

/* Any word in an odd spelling is unknown: it must not get more than in its plain one. */
static void unknown_warn(const struct parse *p, cfg_t *section, const struct service *s)
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
		else if (rate_looser(&u->global, &b->global))
			level = "global";
		else
			continue;
		config_error(p->path, section->line,
			     "warning: service '%s' lets more unknown requests through "
			     "than '%s' (%s): odd spellings evade that budget",
			     s->name, class_name((enum wire_class) class), level);
	}
}

static int policies_read(const struct parse *p, cfg_t *section, struct service *ret)
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
		if (choice_read(p, section, rows[i].key, policies, &value))
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
		const struct kept *v = cfg_getnptr(section, "port", (unsigned int)i);
		const struct config_service *other =
			*seen & bit ? port_taken(p->config, s, s->ports[i]) : NULL;

		if (other)
			return config_error(
				p->path, v->line,
				"port '%s' on the same address belongs to service '%s'",
				v->text, other->service.name);
		*seen |= bit;
	}
	p->endpoints += s->port_count * s->address_count;
	if (p->endpoints > SERVICES_MAX)
		return config_error(p->path, section->line,
				    "service '%s' makes more than %d pairs of port and "
				    "address in all",
				    s->service.name, SERVICES_MAX);
	return 0;
}

static int service_read(struct parse *p, cfg_t *section, struct config_service *ret)
{
	struct service *s = &ret->service;
	int observe = 0;

	s->active = 1;
	if (name_read(p, section, s->name) || family_read(p, section, &s->family))
		return -EINVAL;
	config_service_defaults((enum wire_family)s->family, s);
	if (ports_read(p, section, ret) || addresses_read(p, section, ret) ||
	    choice_read(p, section, "observe", switches, &observe) ||
	    policies_read(p, section, s) || budgets_read(p, section, s) ||
	    endpoints_check(p, section, ret))
		return -EINVAL;
	s->observe = (__u8)observe;
	unknown_warn(p, section, s);
	return 0;
}

static int services_read(struct parse *p, cfg_t *cfg)
{
	unsigned int n = cfg_size(cfg, "service");

	if (!n)
		return config_error(p->path, 0,
				    "no service: write at least one, as "
				    "service \"ffa\" { protocol = quake3 port = 27960 }");
	for (unsigned int i = 0; i < n; i++) {
		cfg_t *section = cfg_getnsec(cfg, "service", i);

		if (i == SERVICES_MAX)
			return config_error(p->path, section->line,
					    "service '%s' is one too many: at most %d",
					    cfg_title(section), SERVICES_MAX);
		if (service_read(p, section, &p->config->services[i]))
			return -EINVAL;
		p->config->service_count++;
	}
	return 0;
}

static bool interface_valid(const char *name)
{
	return *name && strlen(name) < IF_NAMESIZE && !strpbrk(name, "/ \t") &&
	       strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && text_printable(name);
}

static int interfaces_read(const struct parse *p, cfg_t *cfg)
{
	struct config *config = p->config;

	for (unsigned int i = 0; i < cfg_size(cfg, "interface"); i++) {
		const struct kept *v = cfg_getnptr(cfg, "interface", i);

		if (i == CONFIG_INTERFACES)
			return config_error(p->path, v->line,
					    "interface '%s' is one too many: at most %d",
					    v->text, CONFIG_INTERFACES);
		if (!interface_valid(v->text))
			return config_error(p->path, v->line,
					    "interface '%s' cannot be one: 1 to %d "
					    "characters, no blank or '/'",
					    v->text, IF_NAMESIZE - 1);
		for (size_t j = 0; j < config->interface_count; j++)
			if (!strcmp(config->interfaces[j], v->text))
				return config_error(p->path, v->line,
						    "interface '%s' is given twice",
						    v->text);
		config->interface_lines[config->interface_count] = v->line;
		strcpy(config->interfaces[config->interface_count++], v->text);
	}
	return 0;
}

static int list_read(const struct parse *p, cfg_t *cfg, const char *key, struct cidr *ret,
		     size_t *ret_count)
{
	for (unsigned int i = 0; i < cfg_size(cfg, key); i++) {
		const struct kept *v = cfg_getnptr(cfg, key, i);

		if (i == CONFIG_LIST)
			return config_error(p->path, v->line,
					    "%s '%s' is one too many: at most %d", key,
					    v->text, CONFIG_LIST);
		if (!cidr_parse(v->text, &ret[i]))
			return config_error(p->path, v->line,
					    "%s '%s' is not an address or network like "
					    "203.0.113.0/24 or 2001:db8::/32",
					    key, v->text);
		*ret_count = i + 1;
	}
	return 0;
}

static int ledger_number(const struct parse *p, cfg_t *ledger, const char *key,
			 unsigned long min, unsigned long max, __u32 *ret)
{
	const struct kept *v = value_get(ledger, key);
	unsigned long n;

	if (!v)
		return 0;
	if (!number_parse(v->text, min, max, &n))
		return config_error(p->path, v->line,
				    "%s '%s' is not a number from %lu to %lu", key,
				    v->text, min, max);
	*ret = (__u32)n;
	return 0;
}

static int ledger_read(const struct parse *p, cfg_t *cfg)
{
	struct config *config = p->config;
	cfg_t *ledger = cfg_getnsec(cfg, "ledger", 0);
	int strict = 0;

	if (!ledger)
		return 0;
	if (cfg_size(cfg, "ledger") > 1)
		return config_error(p->path, cfg_getnsec(cfg, "ledger", 1)->line,
				    "section 'ledger' is given twice");
	if (ledger_number(p, ledger, "allowance", 0, ALLOWANCE_MAX,
			  &config->ledger_allowance) ||
	    ledger_number(p, ledger, "window", 1, WINDOW_MAX_S,
			  &config->ledger_window_s) ||
	    choice_read(p, ledger, "strict", switches, &strict))
		return -EINVAL;
	config->ledger_strict = strict;
	return 0;
}

static int config_read(struct parse *p, cfg_t *cfg)
{
	struct config *config = p->config;
	int mode = MODE_AUTO, observe = 0, detach = 0;

	if (choice_read(p, cfg, "mode", modes, &mode) ||
	    choice_read(p, cfg, "observe", switches, &observe) ||
	    choice_read(p, cfg, "on_exit", exits, &detach) || interfaces_read(p, cfg) ||
	    ledger_read(p, cfg) ||
	    list_read(p, cfg, "allow", config->allow, &config->allow_count) ||
	    list_read(p, cfg, "deny", config->deny, &config->deny_count) ||
	    services_read(p, cfg))
		return -EINVAL;
	config->mode = (enum attach_mode)mode;
	config->observe = observe;
	config->detach_on_exit = detach;
	return 0;
}

#define KEEP(name)	CFG_PTR_CB(name, 0, CFGF_NODEFAULT, keep, free)
#define KEEP_LIST(name) CFG_PTR_LIST_CB(name, 0, CFGF_NODEFAULT, keep, free)

/* Budget sections bear the names of the classes. */
static cfg_t *grammar_new(void)
{
	cfg_opt_t rates[] = { KEEP("source"), KEEP("prefix"), KEEP("global"), CFG_END() };
	cfg_opt_t fixed[] = {
		KEEP("protocol"),  KEEP_LIST("port"), KEEP_LIST("address"),
		KEEP("observe"),   KEEP("replies"),   KEEP("malformed"),
		KEEP("fragments"),
	};
	const size_t n = sizeof(fixed) / sizeof(*fixed);
	cfg_opt_t service[sizeof(fixed) / sizeof(*fixed) + CLASS_BUDGETS + 1];
	cfg_opt_t end = CFG_END();

	memcpy(service, fixed, sizeof(fixed));
	for (int i = 0; i < CLASS_BUDGETS; i++) {
		cfg_opt_t section = CFG_SEC(class_name((enum wire_class)i), rates,
					    CFGF_MULTI | CFGF_NODEFAULT);

		service[n + (size_t)i] = section;
	}
	service[n + CLASS_BUDGETS] = end;

	cfg_opt_t ledger[] = { KEEP("allowance"), KEEP("window"), KEEP("strict"),
			       CFG_END() };
	cfg_opt_t file[] = {
		CFG_SEC("ledger", ledger, CFGF_MULTI | CFGF_NODEFAULT),
		CFG_SEC("service", service,
			CFGF_MULTI | CFGF_TITLE | CFGF_NO_TITLE_DUPES | CFGF_NODEFAULT),
		KEEP_LIST("interface"),
		KEEP("mode"),
		KEEP("observe"),
		KEEP("on_exit"),
		KEEP_LIST("allow"),
		KEEP_LIST("deny"),
		CFG_END(),
	};

	return cfg_init(file, CFGF_NONE);
}

/* libconfuse: 0 or -errno after a message. */
static int tree_parse(cfg_t *cfg, const char *path, char *text, size_t length)
{
	FILE *file;
	int err;

	if (!length)
		return 0;
	file = fmemopen(text, length, "r");
	cfg->filename = strdup(path);
	if (!file || !cfg->filename) {
		if (file)
			fclose(file);
		return -ENOMEM;
	}
	cfg_set_error_function(cfg, complain);
	err = cfg_parse_fp(cfg, file) == CFG_SUCCESS ? 0 : -EINVAL;
	fclose(file);
	return err;
}

static int text_parse(const char *path, char *text, size_t length, struct config *ret)
{
	struct parse *p = calloc(1, sizeof(*p));
	cfg_t *cfg = p ? grammar_new() : NULL;
	int err = -ENOMEM;

	if (cfg) {
		config_empty(ret);
		p->path = path;
		p->config = ret;
		err = config_text_clean(path, text, length);
		if (!err)
			err = tree_parse(cfg, path, text, length);
		if (!err)
			err = config_read(p, cfg);
		cfg_free(cfg);
	}
	free(p);
	if (err == -ENOMEM)
		config_error(path, 0, "not enough memory");
	return err;
}

int config_load(const char *path, struct config *ret)
{
	char *text;
	size_t length;
	int err;

	if (!path)
		path = CONFIG_PATH;
	err = config_text_read(path, &text, &length);
	if (err)
		return err;
	err = text_parse(path, text, length, ret);
	free(text);
	return err;
}

int config_check_interfaces(const char *path, const struct config *config)
{
	for (size_t i = 0; i < config->interface_count; i++)
		if (!if_nametoindex(config->interfaces[i]))
			return config_error(path ? path : CONFIG_PATH,
					    config->interface_lines[i],
					    "interface '%s' is not on this machine",
					    config->interfaces[i]);
	return 0;
}
