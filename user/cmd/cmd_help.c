// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * cmd_help.c - `help`: of all commands, or of one.
 */
#include "cmd/commands.h"
#include "lib/log.h"

int cmd_help(const struct call *call)
{
	const char *name = call->operands[0];
	const struct command *command;

	if (!name) {
		commands_usage(call->all, stdout);
		return 0;
	}
	command = command_find(call->all, name);
	if (!command) {
		log_error("help: no such command: '%s'", name);
		return EXIT_USAGE;
	}
	command_usage(command, stdout);
	return 0;
}
