// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * call.c - what several commands do alike: open what is loaded, read the configuration,
 * print JSON. Called by the cmd_*.c; see commands.h.
 */
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "cmd/commands.h"
#include "config/config.h"
#include "daemon/in_force.h"
#include "lib/log.h"
#include "shield/shield.h"

/* Return true if the default directory has the tables of a version, not those of ours. */
static bool is_other_version(void)
{
	glob_t found;
	bool other = !glob(PIN_ROOT "/v*", 0, NULL, &found);

	globfree(&found);
	return other;
}

int call_open(const struct call *call, struct shield **ret)
{
	const char *pin = call_value(call, OPTION_PIN);
	int err = shield_open(pin, ret);

	if (err != -ENOENT)
		return exit_status(err);
	if (!pin && is_other_version()) {
		log_error(
			"the shield in '" PIN_ROOT "' is of another version of "
			"quakeshield: restart its daemon, which then runs this version");
		return EXIT_NOT_LOADED;
	}
	log_error("nothing is loaded in '%s': start `quakeshield run` first",
		  pin ? pin : PIN_ROOT);
	return EXIT_NOT_LOADED;
}

size_t call_links(const char *pin, struct shield_link *links, size_t count)
{
	struct config *config = calloc(1, sizeof(*config));

	if (config && !in_force_read(pin, IN_FORCE, config))
		count = shield_links_named(links, count, config->interfaces,
					   config->interface_count);
	free(config);
	return count;
}

int call_config(const struct call *call, struct config *ret)
{
	const char **sets = calloc(call->given_count + 1, sizeof(*sets));
	size_t n = 0;
	int err;

	if (!sets) {
		log_error("%s: not enough memory", call->command->name);
		return -ENOMEM;
	}
	for (const struct given *g = NULL; (g = call_next(call, OPTION_SET, g));)
		sets[n++] = g->value;
	err = config_load_set(call_value(call, OPTION_CONFIG), sets, ret);
	free(sets);
	return err;
}

json_t *json_text(const char *text)
{
	json_t *good = json_string(text);
	size_t n = strlen(text), at = 0;
	char *plain = good ? NULL : malloc(4 * n + 1);

	for (size_t i = 0; plain && i < n; i++)
		at += (size_t)sprintf(plain + at, text[i] & 0x80 ? "\\x%02x" : "%c",
				      (unsigned char)text[i]);
	if (plain)
		good = json_string(n ? plain : "");
	free(plain);
	return good;
}

int print_end(const char *command)
{
	errno = 0;
	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	log_error("%s: cannot write: %s", command, strerror(errno ? errno : EIO));
	return EXIT_REST;
}

int print_json(json_t *value)
{
	bool bad = !value || json_dumpf(value, stdout, JSON_COMPACT) ||
		   putchar('\n') == EOF || fflush(stdout);

	json_decref(value);
	if (bad)
		log_error("cannot write JSON: %s", value ? strerror(errno) : "no memory");
	return bad ? EXIT_REST : 0;
}
