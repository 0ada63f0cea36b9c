/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd_print.h - print_json() for who does not link that of commands.c: one line, sorted.
 * Included once by a program.
 */
#ifndef CMD_PRINT_H
#define CMD_PRINT_H

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/commands.h"

int print_json(struct json_t *value)
{
	char *text = json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS);

	puts(text);
	free(text);
	json_decref(value);
	return 0;
}

#endif /* CMD_PRINT_H */
