// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * top_paint.c - text in the colours of `top`, within the screen. The pages draw with
 * these functions, and with no others.
 */
#include <curses.h>
#include <stdarg.h>
#include <stdio.h>

#include "top/top.h"

bool top_coloured;

int top_spare(int most)
{
	int columns = COLS - TOP_COLUMNS;

	return columns < 0 ? 0 : columns < most ? columns : most;
}

void top_put(int y, int x, int attributes, const char *format, ...)
{
	char text[512];
	va_list args;

	if (y < 0 || y >= LINES || x < 0 || x >= COLS)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	/* Names come from configurations and wires: nothing in them moves the cursor. */
	for (char *c = text; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
	attrset(attributes);
	mvaddnstr(y, x, text, COLS - x);
	attrset(A_NORMAL);
}

int top_attributes(enum top_colour colour)
{
	static const int without[] = {
		[TOP_PLAIN] = A_NORMAL, [TOP_GOOD] = A_NORMAL,	[TOP_BAD] = A_BOLD,
		[TOP_NOTE] = A_BOLD,	[TOP_FAINT] = A_NORMAL,
	};

	if (!top_coloured)
		return without[colour];
	return (int)COLOR_PAIR(colour) | (colour == TOP_BAD ? A_BOLD : 0);
}
