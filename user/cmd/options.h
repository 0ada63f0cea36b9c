/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * options.h - the options that several small subcommands share.
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>

enum {
	OPTION_CONFIG = 1 << 0, /* -c, --config FILE */
	OPTION_PIN = 1 << 1, /* --pin DIR */
	OPTION_JSON = 1 << 2, /* --json */
	OPTION_PRINT = 1 << 3, /* --print */
	OPTION_FORCE = 1 << 4, /* --force */
	OPTION_UNLIMITED = 1 << 5, /* --unlimited */
};

struct options {
	const char *config;
	const char *pin;
	bool json;
	bool print;
	bool force;
	bool unlimited;
};

#define OPERANDS_SOME (-1) /* one or more */

/*
 * Read those options of @allowed (OPTION_...) that are there; @operands words must be
 * left behind them, from optind on. 0: go on; 1: help was shown; -EINVAL after a message
 * that quotes what is wrong.
 */
int options_parse(int argc, char **argv, unsigned int allowed, int operands,
		  const char *usage, struct options *ret);

#endif /* OPTIONS_H */
