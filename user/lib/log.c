// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * log.c - see log.h.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include "lib/log.h"

static bool verbose;

void log_verbose(void)
{
	verbose = true;
}

static void print(const char *prefix, const char *format, va_list args)
{
	char line[1024];

	vsnprintf(line, sizeof(line), format, args);
	fprintf(stderr, "quakeshield: %s%s\n", prefix, line);
}

void log_info(const char *format, ...)
{
	va_list args;

	if (!verbose)
		return;
	va_start(args, format);
	print("", format, args);
	va_end(args);
}

void log_warn(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print("warning: ", format, args);
	va_end(args);
}

void log_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print("", format, args);
	va_end(args);
}
