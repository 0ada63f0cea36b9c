// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * options.c - the options that several subcommands share. See options.h.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>

#include "lib/log.h"
#include "cmd/options.h"

static const struct {
	unsigned int option;
	struct option row;
} known[] = {
	{ OPTION_CONFIG, { "config", required_argument, NULL, 'c' } },
	{ OPTION_PIN, { "pin", required_argument, NULL, 'p' } },
	{ OPTION_JSON, { "json", no_argument, NULL, 'j' } },
	{ OPTION_FORCE, { "force", no_argument, NULL, 'f' } },
	{ OPTION_PRINT, { "print", no_argument, NULL, 'P' } },
	{ OPTION_UNLIMITED, { "unlimited", no_argument, NULL, 'u' } },
	{ 0, { "help", no_argument, NULL, 'h' } },
};

#define KNOWN (sizeof(known) / sizeof(*known))

static int operands_check(int argc, char **argv, int operands)
{
	if (operands != OPERANDS_SOME && argc - optind > operands) {
		log_error("%s: unexpected argument: '%s'", argv[0],
			  argv[optind + operands]);
		return -EINVAL;
	}
	if (argc - optind < (operands == OPERANDS_SOME ? 1 : operands)) {
		log_error("%s: something is missing after '%s' (see --help)", argv[0],
			  argv[argc - 1]);
		return -EINVAL;
	}
	return 0;
}

int options_parse(int argc, char **argv, unsigned int allowed, int operands,
		  const char *usage, struct options *ret)
{
	const char *letters = allowed & OPTION_CONFIG ? ":c:h" : ":h";
	struct option longs[KNOWN + 1] = { 0 };
	size_t n = 0;
	int c;

	for (size_t i = 0; i < KNOWN; i++)
		if (!known[i].option || known[i].option & allowed)
			longs[n++] = known[i].row;

	optind = 1;
	opterr = 0;
	while ((c = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
		switch (c) {
		case 'c':
			ret->config = optarg;
			break;
		case 'p':
			ret->pin = optarg;
			break;
		case 'j':
			ret->json = true;
			break;
		case 'f':
			ret->force = true;
			break;
		case 'P':
			ret->print = true;
			break;
		case 'u':
			ret->unlimited = true;
			break;
		case 'h':
			puts(usage);
			return 1;
		case ':':
			log_error("%s: '%s' needs a value", argv[0], argv[optind - 1]);
			return -EINVAL;
		default:
			log_error("%s: no such option: '%s'", argv[0], argv[optind - 1]);
			return -EINVAL;
		}
	}
	return operands_check(argc, argv, operands);
}
