// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * config.c - from the text of a configuration file to struct config.
 *
 * libconfuse knows the shape: which key belongs where. Each value is kept as text with
 * the line it stands on, and given its meaning here and in config_service.c, so that
 * every complaint can name the line and quote the text.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config_keys.h"
#include "config/config_parse.h"
#include "config/config_text.h"
#include "lib/rate_text.h"

static const struct choice modes[] = {
	{ "auto", MODE_AUTO },
	{ "native", MODE_NATIVE },
	{ "skb", MODE_SKB },
	{ NULL, 0 },
};

enum amplification {
	AMPLIFICATION_OFF,
	AMPLIFICATION_LIMIT,
	AMPLIFICATION_STRICT,
};

static const struct choice amplifications[] = {
	{ "off", AMPLIFICATION_OFF },
	{ "limit", AMPLIFICATION_LIMIT },
	{ "strict", AMPLIFICATION_STRICT },
	{ NULL, 0 },
};

static const struct choice exits[] = {
	{ "keep", 0 },
	{ "detach", 1 },
	{ NULL, 0 },
};

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
			return config_error(v->path, v->line,
					    "interface '%s' is one too many: at most %d",
					    v->text, CONFIG_INTERFACES);
		if (!interface_valid(v->text))
			return config_error(v->path, v->line,
					    "interface '%s' cannot be one: 1 to %d "
					    "characters, no blank or '/'",
					    v->text, IF_NAMESIZE - 1);
		for (size_t j = 0; j < config->interface_count; j++)
			if (!strcmp(config->interfaces[j], v->text))
				return config_error(v->path, v->line,
						    "interface '%s' is given twice",
						    v->text);
		config->interface_lines[config->interface_count] = v->line;
		snprintf(config->interface_files[config->interface_count],
			 sizeof(config->interface_files[0]), "%s", v->path);
		strcpy(config->interfaces[config->interface_count++], v->text);
	}
	return 0;
}

static int amplification_read(const struct parse *p, cfg_t *cfg)
{
	struct config *config = p->config;
	cfg_t *section = cfg_getnsec(cfg, "amplification", 0);
	int mode = AMPLIFICATION_LIMIT;
	const struct kept *allowance;
	unsigned long none;

	if (!section)
		return 0;
	if (cfg_size(cfg, "amplification") > 1)
		return config_error(cfg_getnsec(cfg, "amplification", 1)->filename,
				    cfg_getnsec(cfg, "amplification", 1)->line,
				    "section 'amplification' is given twice");
	allowance = value_get(section, "allowance");
	if (allowance && number_parse(allowance->text, 0, 0, &none))
		return config_error(
			allowance->path, allowance->line,
			"allowance '%s' allows nothing: write `mode = strict` "
			"for no more out than in, or `mode = off` for no limit",
			allowance->text);
	if (choice_read(section, "mode", amplifications, &mode) ||
	    number_read(section, "allowance", &config->amplification_allowance) ||
	    number_read(section, "refill", &config->amplification_refill_s))
		return -EINVAL;
	if (allowance && mode != AMPLIFICATION_LIMIT) {
		config_warn(allowance->path, allowance->line,
			    "allowance '%s' has no effect in this mode: write `mode = "
			    "limit`, or leave `allowance` out",
			    allowance->text);
		config->amplification_allowance = AMPLIFICATION_ALLOWANCE;
	}
	if (mode == AMPLIFICATION_OFF)
		config->amplification_allowance = 0;
	config->amplification_strict = mode == AMPLIFICATION_STRICT;
	return 0;
}

static int proof_read(const struct parse *p, cfg_t *cfg)
{
	cfg_t *validation = cfg_getnsec(cfg, "validation", 0);
	const struct kept *rate;
	const char *wrong;

	if (!validation)
		return 0;
	if (cfg_size(cfg, "validation") > 1)
		return config_error(cfg_getnsec(cfg, "validation", 1)->filename,
				    cfg_getnsec(cfg, "validation", 1)->line,
				    "section 'validation' is given twice");
	rate = value_get(validation, "rate");
	wrong = rate ? rate_parse(rate->text, &p->config->validation) : NULL;
	return wrong ? config_error(rate->path, rate->line, "'%s' %s", rate->text, wrong)
		     : 0;
}

static int cache_read(const struct parse *p, cfg_t *cfg)
{
	cfg_t *cache = cfg_getnsec(cfg, "cache", 0);

	if (!cache)
		return 0;
	if (cfg_size(cfg, "cache") > 1)
		return config_error(cfg_getnsec(cfg, "cache", 1)->filename,
				    cfg_getnsec(cfg, "cache", 1)->line,
				    "section 'cache' is given twice");
	return number_read(cache, "bytes-per-second", &p->config->cache_bytes_per_s);
}

static int metrics_read(const struct parse *p, cfg_t *cfg)
{
	struct listen_at *at = &p->config->metrics;
	cfg_t *metrics = cfg_getnsec(cfg, "metrics", 0);
	const struct kept *listen;
	int public = 0;
	const char *wrong;

	if (!metrics)
		return 0;
	if (cfg_size(cfg, "metrics") > 1)
		return config_error(cfg_getnsec(cfg, "metrics", 1)->filename,
				    cfg_getnsec(cfg, "metrics", 1)->line,
				    "section 'metrics' is given twice");
	if (choice_read(metrics, "public", config_switches, &public))
		return -EINVAL;
	at->public = public;
	listen = value_get(metrics, "listen");
	wrong = listen ? listen_parse(listen->text, at) : NULL;
	if (!wrong && !at->public && !listen_loopback(at))
		wrong = "is no loopback address: anybody could read there who plays; "
			"`public = true` allows it";
	if (wrong)
		return config_error(listen ? listen->path : metrics->filename,
				    listen ? listen->line : metrics->line,
				    "listen '%s' %s", listen ? listen->text : "", wrong);
	return 0;
}

static int config_read(struct parse *p, cfg_t *cfg)
{
	struct config *config = p->config;
	int mode = MODE_AUTO, observe = 0, detach = 0;

	if (choice_read(cfg, "mode", modes, &mode) ||
	    choice_read(cfg, "observe", config_switches, &observe) ||
	    choice_read(cfg, "on-exit", exits, &detach) || interfaces_read(p, cfg) ||
	    amplification_read(p, cfg) || proof_read(p, cfg) || cache_read(p, cfg) ||
	    metrics_read(p, cfg) || output_read(p, cfg) ||
	    list_read(cfg, "allow", config->allow, config->allow_unlimited,
		      &config->allow_count) ||
	    list_read(cfg, "deny", config->deny, NULL, &config->deny_count) ||
	    services_read(p, cfg))
		return -EINVAL;
	config->mode = (enum attach_mode)mode;
	config->observe = observe;
	config->detach_on_exit = detach;
	return 0;
}

int config_load_set(const char *path, const char *const *sets, struct config *ret)
{
	struct parse *p = calloc(1, sizeof(*p));
	cfg_t *cfg = NULL;
	int err;

	if (!path)
		path = CONFIG_PATH;
	err = p ? config_tree(path, sets, &cfg) : -ENOMEM;
	if (!err) {
		config_empty(ret);
		p->path = path;
		p->config = ret;
		err = config_read(p, cfg);
	}
	if (err == -ENOMEM)
		config_error(path, 0, "not enough memory");
	cfg_free(cfg);
	free(p);
	return err;
}

int config_load(const char *path, struct config *ret)
{
	return config_load_set(path, NULL, ret);
}

size_t config_check_interfaces(const struct config *config)
{
	unsigned int known[CONFIG_INTERFACES];
	size_t absent = 0;

	for (size_t i = 0; i < config->interface_count; i++) {
		size_t same = 0;

		known[i] = if_nametoindex(config->interfaces[i]);
		if (!known[i]) {
			config_warn(config->interface_files[i],
				    config->interface_lines[i],
				    "interface '%s' is not on this machine now: it would "
				    "be waited for",
				    config->interfaces[i]);
			absent++;
			continue;
		}
		while (known[same] != known[i])
			same++;
		if (same < i)
			config_warn(config->interface_files[i],
				    config->interface_lines[i],
				    "interface '%s' is left out: '%s' is the same one",
				    config->interfaces[i], config->interfaces[same]);
	}
	return absent;
}
