/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * input.h - a file to read from its beginning, unpacked on the way if it is gzip's. It
 * may be a pipe, or standard input ("-"): what was read to recognise it is given again.
 */
#ifndef INPUT_H
#define INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct input_how {
	/*
	 * Do these bytes of the beginning say what it is? Then a pipe is not waited on
	 * for the whole prefix. NULL: never.
	 */
	bool (*enough)(const uint8_t *bytes, size_t n);
	/* Called before waiting for a pipe that is empty now. NULL: nothing is called. */
	void (*waits)(void *context);
	void *context;
};

/*
 * Opens @name, reads what it begins with into @prefix (of @size bytes, *ret_n of them
 * filled), and stands at the beginning again. @how may be NULL. NULL with errno: cannot
 * be read.
 */
FILE *input_open(const char *name, const struct input_how *how, uint8_t *prefix,
		 size_t size, size_t *ret_n);

#endif /* INPUT_H */
