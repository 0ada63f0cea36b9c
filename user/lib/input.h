/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * input.h - a file to read from its beginning, unpacked on the way if it is gzip's.
 */
#ifndef INPUT_H
#define INPUT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Opens @name, reads what it begins with into @prefix (of @size bytes, *ret_n of them
 * filled), and stands at the beginning again. NULL with errno: cannot be read.
 */
FILE *input_open(const char *name, uint8_t *prefix, size_t size, size_t *ret_n);

#endif /* INPUT_H */
