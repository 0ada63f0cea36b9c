// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * main.c - argv to a subcommand. The only main(); sees everything, seen by nobody.
 */
#include <stdio.h>
#include <string.h>

#include "cmd/commands.h"

/* clang-format off */
static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
} commands[] = {
#define AS_ROW(name, function, help) { name, function, help },
	COMMANDS(AS_ROW)
#undef AS_ROW
};
/* clang-format on */

static int usage(FILE *out, int status)
{
	fprintf(out, "quakeshield %s: an XDP shield and a decoder for Quake servers\n\n",
		VERSION);
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		fprintf(out, "  quakeshield %-8s %s\n", commands[i].name,
			commands[i].help);
	return status;
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return usage(stderr, 1);
	if (!strcmp(argv[1], "--version")) {
		printf("quakeshield %s\n", VERSION);
		return 0;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "help"))
		return usage(stdout, 0);
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].run(argc - 1, argv + 1);

	fprintf(stderr, "quakeshield: no such command: '%s'\n", argv[1]);
	return usage(stderr, 1);
}
