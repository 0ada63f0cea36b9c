// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * config_values.c - the values of keys: a choice, a number, a list of networks. Each
 * complaint names the line and quotes the text.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "config/config_keys.h"
#include "config/config_parse.h"
#include "config/config_text.h"
#include "lib/log.h"
#include "lib/nearest.h"
#include "lib/old_names.h"

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
	const char *now;

	if (!v)
		return 0;
	now = old_value(v->text);
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
		if (now && !strcmp(now, c->name))
			return config_error(v->path, v->line,
					    "%s '%s' was renamed: write '%s'", key,
					    v->text, now);
	}
	return config_error(v->path, v->line, "%s '%s' is not one of: %s%s%s%s", key,
			    v->text, known, nearest_found(&near) ? " (did you mean " : "",
			    nearest_found(&near) ? nearest_found(&near) : "",
			    nearest_found(&near) ? "?)" : "");
}

const struct config_key *key_of(const cfg_t *section, const char *name)
{
	const struct config_key *key = config_key(section->name, name);

	if (key)
		return key;
	log_error("no row of config_keys[] is '%s' of '%s'", name, section->name);
	abort();
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

/* Read "10.0.0.0/8", or, where @ret_unlimited is not NULL, "10.0.0.0/8 unlimited". */
static bool entry_read(const char *text, struct cidr *ret, bool *ret_unlimited)
{
	static const char word[] = " unlimited";
	char network[CIDR_TEXT];
	size_t n = strlen(text), tail = sizeof(word) - 1;
	bool unlimited = ret_unlimited && n > tail && !strcmp(text + n - tail, word);

	if (unlimited)
		n -= tail;
	if (n >= sizeof(network))
		return false;
	memcpy(network, text, n);
	network[n] = 0;
	if (!cidr_parse(network, ret))
		return false;
	if (ret_unlimited)
		*ret_unlimited = unlimited;
	return true;
}

int list_read(cfg_t *cfg, const char *key, struct cidr *ret, bool *ret_unlimited,
	      size_t *ret_count)
{
	*ret_count = 0;
	for (unsigned int i = 0; i < cfg_size(cfg, key); i++) {
		const struct kept *v = cfg_getnptr(cfg, key, i);

		if (i == CONFIG_LIST)
			return config_error(v->path, v->line,
					    "%s '%s' is one too many: at most %d", key,
					    v->text, CONFIG_LIST);
		if (!entry_read(v->text, &ret[i],
				ret_unlimited ? &ret_unlimited[i] : NULL))
			return config_error(v->path, v->line,
					    "%s '%s' is not an address or network like "
					    "203.0.113.0/24 or 2001:db8::/32",
					    key, v->text);
		*ret_count = i + 1;
	}
	return 0;
}

int number_read(cfg_t *section, const char *name, __u32 *ret)
{
	const struct config_key *key = key_of(section, name);
	const struct kept *v = value_get(section, name);
	unsigned long n;

	if (!v || (key->type == KEY_NUMBER_OR_0 && !strcmp(v->text, "0"))) {
		*ret = v ? 0 : *ret;
		return 0;
	}
	if (!number_parse(v->text, key->low, key->high, &n))
		return config_error(v->path, v->line,
				    "%s '%s' is not a number from %lu to %lu", name,
				    v->text, key->low, key->high);
	*ret = (__u32)n;
	return 0;
}
