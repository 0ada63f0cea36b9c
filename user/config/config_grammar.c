// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * config_grammar.c - which key belongs where, told to libconfuse; and plain values.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/config_parse.h"
#include "config/config_text.h"
#include "lib/names.h"
#include "lib/nearest.h"

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

/* A key that is not there: it is misspelt, or belongs to a value with blanks in it. */
static void complain_of_key(const cfg_t *cfg, const char *key)
{
	struct nearest near;
	const char *found;

	if (!strcmp(key, "burst") || !strcmp(key, "unlimited")) {
		config_error(cfg->filename, cfg->line,
			     "no such key: '%s' (a value with blanks in it needs quotes: "
			     "%s)",
			     key,
			     *key == 'b' ? "\"2/s burst 6\""
					 : "\"10.1.0.0/16 unlimited\"");
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

#define KEEP(name)	CFG_PTR_CB(name, 0, CFGF_NODEFAULT, keep, free)
#define KEEP_LIST(name) CFG_PTR_LIST_CB(name, 0, CFGF_NODEFAULT, keep, free)

/* Budget sections bear the names of the classes. */
cfg_t *config_grammar(void)
{
	cfg_opt_t rates[] = { KEEP("source"), KEEP("prefix"), KEEP("global"), CFG_END() };
	cfg_opt_t fixed[] = {
		KEEP("protocol"),  KEEP_LIST("port"), KEEP_LIST("address"),
		KEEP("observe"),   KEEP("replies"),   KEEP("malformed"),
		KEEP("fragments"), KEEP("proof"),     KEEP("answers"),
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
			       KEEP("withhold"), CFG_END() };
	cfg_opt_t proof[] = { KEEP("rate"), CFG_END() };
	cfg_opt_t answers[] = { KEEP("rate"), CFG_END() };
	cfg_opt_t metrics[] = { KEEP("listen"), KEEP("public"), CFG_END() };
	cfg_opt_t sample[] = { KEEP("every"), KEEP("rate"), CFG_END() };
	cfg_opt_t follow[] = {
		KEEP("first"), KEEP("one_in"),	     KEEP_LIST("addresses"),
		KEEP("rate"),  KEEP("psk_identity"), KEEP("psk_file"),
		CFG_END()
	};
	cfg_opt_t output[] = { KEEP("json"), KEEP("pcapng"), KEEP("cpu"), CFG_END() };
	cfg_opt_t file[] = {
		CFG_SEC("ledger", ledger, CFGF_MULTI | CFGF_NODEFAULT),
		CFG_SEC("proof", proof, CFGF_MULTI | CFGF_NODEFAULT),
		CFG_SEC("answers", answers, CFGF_MULTI | CFGF_NODEFAULT),
		CFG_SEC("metrics", metrics, CFGF_MULTI | CFGF_NODEFAULT),
		CFG_SEC("sample", sample, CFGF_MULTI | CFGF_NODEFAULT),
		CFG_SEC("follow", follow, CFGF_MULTI | CFGF_NODEFAULT),
		CFG_SEC("output", output, CFGF_MULTI | CFGF_NODEFAULT),
		CFG_SEC("service", service,
			CFGF_MULTI | CFGF_TITLE | CFGF_NO_TITLE_DUPES | CFGF_NODEFAULT),
		KEEP_LIST("include"),
		KEEP_LIST("interface"),
		KEEP("mode"),
		KEEP("observe"),
		KEEP("on_exit"),
		KEEP("on-attack"),
		KEEP_LIST("allow"),
		KEEP_LIST("deny"),
		CFG_END(),
	};

	cfg_t *cfg = cfg_init(file, CFGF_NONE);

	if (cfg)
		cfg_set_error_function(cfg, complain);
	return cfg;
}

const struct kept *value_get(cfg_t *section, const char *key)
{
	return cfg_getptr(section, key);
}

bool text_printable(const char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~')
			return false;
	return true;
}

const struct choice config_switches[] = {
	{ "true", 1 }, { "yes", 1 }, { "on", 1 }, { "false", 0 },
	{ "no", 0 },   { "off", 0 }, { NULL, 0 },
};

int choice_read(cfg_t *section, const char *key, const struct choice *choices, int *ret)
{
	const struct kept *v = value_get(section, key);
	char known[128] = "";
	struct nearest near;

	if (!v)
		return 0;
	nearest_begin(&near, v->text);
	for (const struct choice *c = choices; c->name; c++) {
		if (!strcmp(v->text, c->name)) {
			*ret = c->value;
			return 0;
		}
		if (known[0])
			strcat(known, ", ");
		strcat(known, c->name);
		nearest_try(&near, c->name);
	}
	return config_error(v->path, v->line, "%s '%s' is not one of: %s%s%s%s", key,
			    v->text, known, nearest_found(&near) ? " (did you mean " : "",
			    nearest_found(&near) ? nearest_found(&near) : "",
			    nearest_found(&near) ? "?)" : "");
}

bool number_parse(const char *text, unsigned long min, unsigned long max,
		  unsigned long *ret)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (!isdigit((unsigned char)*text) || *end || n < min || n > max)
		return false;
	*ret = n;
	return true;
}
