// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * pin_words.c - see pin_words.h.
 */
#include "lib/pin_words.h"

bool pin_words(const char *pin_dir, char *ret, size_t size)
{
	size_t n = 0;

	for (; pin_dir && *pin_dir && n + 3 <= size; pin_dir++) {
		if (*pin_dir == '-' || *pin_dir == '+')
			ret[n++] = '+';
		ret[n++] = *pin_dir == '/' ? '-' : *pin_dir;
	}
	ret[n] = '\0';
	return !pin_dir || !*pin_dir;
}
