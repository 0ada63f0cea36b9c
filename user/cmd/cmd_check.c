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
#include "cmd/options.h"

static const char usage[] =
	"usage: quakeshield check [-c FILE] [--print]\n"
	"  -c, --config FILE  configuration, default " CONFIG_PATH "\n"
	"      --print        show it with every default written out";

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

int cmd_check(int argc, char **argv)
{
	struct options o = { 0 };
	struct config *config;
	int err;

	err = options_parse(argc, argv, OPTION_CONFIG | OPTION_PRINT, 0, usage, &o);
	if (err)
		return err < 0;
	config = calloc(1, sizeof(*config));
	if (!config) {
		log_error("check: not enough memory");
		return 1;
	}
	err = config_load(o.config, config);
	if (!err)
		config_check_interfaces(o.config, config);
	if (!err) {
		warn_wide("allow", config->allow, config->allow_count);
		warn_wide("deny", config->deny, config->deny_count);
	}
	if (!err && o.print)
		config_print(config, stdout);
	else if (!err)
		printf("%s: ok, %zu service%s\n", o.config ? o.config : CONFIG_PATH,
		       config->service_count, config->service_count == 1 ? "" : "s");
	free(config);
	return err != 0;
}
