// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Options of the address sanitizer in every unit test; its environment variable overrides
 * each.
 */
const char *__asan_default_options(void);

/* A test may define a table of the shared library itself, and then both exist. */
const char *__asan_default_options(void)
{
	return "detect_odr_violation=0";
}
