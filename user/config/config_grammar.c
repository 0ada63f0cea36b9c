// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * config_grammar.c - which key belongs where (config_keys.h), told to libconfuse.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/config_keys.h"
#include "config/config_parse.h"
#include "config/config_text.h"
#include "lib/log.h"
#include "lib/names.h"
#include "lib/nearest.h"
#include "lib/old_names.h"
#include "lib/util.h"

#define FLAG_GIVEN (1 << 30) /* ours among libconfuse's CFGF_... of an option */

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
	kept = malloc(sizeof(*kept) + strlen(value) + strlen(cfg->filename) + 2);
	if (!kept)
		return -1;
	kept->line = cfg->line;
	strcpy(kept->text, value);
	kept->path = strcpy(kept->text + strlen(value) + 1, cfg->filename);
	*(void **)ret = kept;
	return 0;
}

void option_forget(cfg_opt_t *option)
{
	cfg_free_value(option);
	option->flags &= ~FLAG_GIVEN;
}

/* Return the section with the keys of the section @name. */
static const char *section_like(const char *name)
{
	bool shared = !strcmp(name, CONFIG_DEFAULTS) || !strcmp(name, CONFIG_TEMPLATE);

	return shared ? CONFIG_SERVICE : name;
}

/* A key that is not there: it was renamed, is misspelt, or belongs to a value with blanks
 * in it. */
static void complain_of_key(const cfg_t *cfg, const char *key)
{
	char hint[OLD_HINT];
	struct nearest near;
	const char *found;

	if (old_key(section_like(cfg->name), key, hint)) {
		config_error(cfg->filename, cfg->line, "%s", hint);
		return;
	}
	if (!strcmp(key, "burst") || !strcmp(key, "unlimited")) {
		config_error(cfg->filename, cfg->line,
			     "no such key: '%s' (a value with blanks in it needs quotes: "
			     "%s)",
			     key,
			     *key == 'b' ? "\"2/s burst 6\""
					 : "\"10.1.0.0/16 unlimited\"");
		return;
	}
	if (config_key_own(key) && strcmp(section_like(cfg->name), cfg->name) != 0) {
		config_error(
			cfg->filename, cfg->line,
			"'%s' belongs into each service: section '%s' cannot have it",
			key, cfg->name);
		return;
	}
	nearest_begin(&near, key);
	for (const cfg_opt_t *o = cfg->opts; o->name; o++)
		nearest_try(&near, o->name);
	found = nearest_found(&near);
	config_error(cfg->filename, cfg->line, "no such option '%s'%s%s%s", key,
		     found ? " (did you mean " : "", found ? found : "",
		     found ? "?)" : "");
}

static void complain(cfg_t *cfg, const char *format, va_list args)
{
	if (!strcmp(format, "no such option '%s'"))
		complain_of_key(cfg, va_arg(args, const char *));
	else
		config_error_v(cfg->filename, cfg->line, false, format, args);
}

#define SECTION_KEYS 16 /* of one section, and the end of its row */
#define SECTIONS     12 /* of a file, and the end */

/* Add the keys of the section @name to @ret, from the rows of config_keys.h, and return
 * how many. @shared: without those of config_key_own(). */
static size_t keys_add(cfg_opt_t *ret, const char *name, bool shared)
{
	size_t n = 0;

	for (const struct config_key *k = config_keys; k->name; k++) {
		cfg_opt_t one = CFG_PTR_CB(k->name, 0, CFGF_NODEFAULT, keep, free);
		cfg_opt_t list = CFG_PTR_LIST_CB(k->name, 0, CFGF_NODEFAULT, keep, free);

		if (!strcmp(k->section, name) && !(shared && config_key_own(k->name)))
			ret[n++] = k->type == KEY_LIST ? list : one;
	}
	return n;
}

/* A section of a service for each class with limits. */
static size_t classes_add(cfg_opt_t *ret, cfg_opt_t *rates)
{
	for (int i = 0; i < CLASS_BUDGETS; i++) {
		cfg_opt_t section = CFG_SEC(class_name((enum wire_class)i), rates,
					    CFGF_MULTI | CFGF_NODEFAULT);

		ret[i] = section;
	}
	return CLASS_BUDGETS;
}

/* The options of a service; the parts are in one place while they are copied. */
struct service_grammar {
	cfg_opt_t keys[SECTION_KEYS + CLASS_BUDGETS + 1];
	cfg_opt_t rates[SECTION_KEYS], players[SECTION_KEYS];
};

/* Fill @g; @shared: as keys_add(). */
static void service_fill(struct service_grammar *g, bool shared)
{
	const cfg_opt_t end = CFG_END();
	cfg_opt_t players =
		CFG_SEC(CONFIG_PLAYERS, g->players, CFGF_MULTI | CFGF_NODEFAULT);
	size_t n = keys_add(g->keys, CONFIG_SERVICE, shared);

	g->rates[keys_add(g->rates, CONFIG_CLASS, false)] = end;
	g->players[keys_add(g->players, CONFIG_PLAYERS, false)] = end;
	n += classes_add(g->keys + n, g->rates);
	g->keys[n++] = players;
	g->keys[n] = end;
}

cfg_t *config_grammar(void)
{
	const cfg_opt_t end = CFG_END();
	const cfg_flag_t plain = CFGF_MULTI | CFGF_NODEFAULT;
	const cfg_flag_t titled = plain | CFGF_TITLE | CFGF_NO_TITLE_DUPES;
	cfg_opt_t file[SECTIONS + SECTION_KEYS], keys[SECTIONS][SECTION_KEYS];
	struct service_grammar own, shared;
	const cfg_opt_t services[] = {
		CFG_SEC(CONFIG_SERVICE, own.keys, titled),
		CFG_SEC(CONFIG_TEMPLATE, shared.keys, titled),
		CFG_SEC(CONFIG_DEFAULTS, shared.keys, plain),
	};
	const char *last = CONFIG_FILE;
	size_t n = 0;
	cfg_t *cfg;

	service_fill(&own, false);
	service_fill(&shared, true);
	for (size_t i = 0; i < ARRAY_SIZE(services); i++)
		file[n++] = services[i];
	for (const struct config_key *k = config_keys; k->name; k++) {
		cfg_opt_t section = CFG_SEC(k->section, keys[n], plain);

		if (!strcmp(k->section, last) || !strcmp(k->section, CONFIG_SERVICE) ||
		    !strcmp(k->section, CONFIG_CLASS) ||
		    !strcmp(k->section, CONFIG_PLAYERS))
			continue;
		last = k->section;
		keys[n][keys_add(keys[n], last, false)] = end;
		file[n++] = section;
	}
	n += keys_add(file + n, CONFIG_FILE, false);
	file[n] = end;
	cfg = cfg_init(file, CFGF_NONE);
	if (cfg)
		cfg_set_error_function(cfg, complain);
	return cfg;
}
