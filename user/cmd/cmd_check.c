// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * cmd_check.c - `check`: is this configuration one that `run` would take?
 */
#include <stdio.h>
#include <stdlib.h>

#include "cmd/commands.h"
#include "config/config.h"
#include "lib/cidr.h"
#include "lib/log.h"

/* What nobody means, as a rule, but may. */
static void warn_wide(const char *name, const struct cidr *networks, size_t count)
{
	char text[CIDR_TEXT];

	for (size_t i = 0; i < count; i++) {
		if (!cidr_is_wide(&networks[i]))
			continue;
		cidr_format(&networks[i], text);
		log_warn("%s = '%s' is a large part of the internet", name, text);
	}
}

int cmd_check(const struct call *call)
{
	const char *path = call_value(call, OPTION_CONFIG);
	struct config *config = calloc(1, sizeof(*config));
	int err;

	if (!config) {
		log_error("check: not enough memory");
		return EXIT_REST;
	}
	err = config_load(path, config);
	if (!err)
		config_check_interfaces(path, config);
	if (!err) {
		warn_wide("allow", config->allow, config->allow_count);
		warn_wide("deny", config->deny, config->deny_count);
	}
	if (!err && call_has(call, OPTION_PRINT))
		config_print(config, stdout);
	else if (!err)
		printf("%s: ok, %zu service%s\n", path ? path : CONFIG_PATH,
		       config->service_count, config->service_count == 1 ? "" : "s");
	free(config);
	return exit_status(err);
}
