// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * main.c - argv to a subcommand. The only main(); it includes cmd and lib, and no file
 * includes it.
 */
#include <stdio.h>
#include <string.h>

#include "cmd/commands.h"
#include "cmd/options.h"
#include "lib/log.h"
#include "lib/nearest.h"

static int version(void)
{
	printf("quakeshield %s\n", VERSION);
	return 0;
}

static int command_run(const struct command *command, int argc, char **argv)
{
	struct call call;
	int status;

	if (call_parse(command, argc, argv, &call))
		return EXIT_USAGE;
	call.all = commands;
	if (call_has(&call, OPTION_HELP)) {
		command_usage(command, stdout);
		status = 0;
	} else if (call_has(&call, OPTION_VERSION)) {
		status = version();
	} else {
		status = command->run(&call);
	}
	call_free(&call);
	return status;
}

static int no_such_command(const char *name)
{
	struct nearest near;
	const char *found;

	nearest_begin(&near, name);
	for (const struct command *c = commands; c->name; c++)
		nearest_try(&near, c->name);
	found = nearest_found(&near);
	log_error("no such command: '%s' (%s%s)", name,
		  found ? "did you mean " : "see `quakeshield help`", found ? found : "");
	return EXIT_USAGE;
}

/* Return the exit status of the command line, before what it printed is written out. */
static int run(int argc, char **argv)
{
	const struct command *command;

	if (argc < 2) {
		commands_usage(commands, stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "-V") || !strcmp(argv[1], "--version"))
		return version();
	if (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help")) {
		commands_usage(commands, stdout);
		return 0;
	}
	command = command_find(commands, argv[1]);
	return command ? command_run(command, argc - 1, argv + 1)
		       : no_such_command(argv[1]);
}

int main(int argc, char **argv)
{
	int status = run(argc, argv);

	/* A command that has told of a failed write has this status already. */
	if (status != EXIT_REST && print_end(argc < 2 ? "help" : argv[1]))
		status = EXIT_REST;
	return status;
}
