/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * top_terminal.h - `top` on a terminal of 80x24 that shows nothing. Included once by a
 * program.
 */
#ifndef TOP_TERMINAL_H
#define TOP_TERMINAL_H

#include <stdio.h>
#include <stdlib.h>

#include <curses.h>

#include "top/top.h"

static struct top *top;
static SCREEN *screen;
static FILE *terminal;

/* False: there is no such terminal or no memory. */
static inline bool terminal_begin(void)
{
	setenv("LINES", "24", 1);
	setenv("COLUMNS", "80", 1);
	terminal = fopen("/dev/null", "r+");
	screen = terminal ? newterm("vt100", terminal, terminal) : NULL;
	top = calloc(1, sizeof(*top));
	return screen && top;
}

static inline int terminal_end(void **state)
{
	(void)state;
	endwin();
	delscreen(screen);
	fclose(terminal);
	top_free(top);
	return 0;
}

#endif /* TOP_TERMINAL_H */
