// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * duration.c - see duration.h.
 */
#include <ctype.h>
#include <stdio.h>

#include "lib/duration.h"

static const struct {
	char name;
	__u64 seconds;
} units[] = {
	{ 'd', 24 * 3600 },
	{ 'h', 3600 },
	{ 'm', 60 },
	{ 's', 1 },
};

#define UNITS	  (sizeof(units) / sizeof(*units))
#define SECOND_NS 1000000000ull

static __u64 unit_of(char name)
{
	for (size_t i = 0; i < UNITS; i++)
		if (units[i].name == name)
			return units[i].seconds;
	return 0;
}

bool duration_parse(const char *text, __u64 *ret)
{
	__u64 all = 0;

	while (*text) {
		__u64 n = 0, unit;

		if (!isdigit((unsigned char)*text))
			return false;
		for (; isdigit((unsigned char)*text); text++) {
			n = n * 10 + (__u64)(*text - '0');
			if (n > DURATION_MAX_S)
				return false;
		}
		unit = *text ? unit_of(*text++) : 0;
		if (!unit)
			return false;
		all += n * unit;
		if (all > DURATION_MAX_S)
			return false;
	}
	if (!all)
		return false;
	*ret = all * SECOND_NS;
	return true;
}

void duration_format(__u64 ns, char ret[DURATION_TEXT])
{
	__u64 left = ns / SECOND_NS;
	size_t i = 0, shown = 0;
	int used = 0;

	while (i < UNITS - 1 && left < units[i].seconds)
		i++;
	for (; i < UNITS && shown < 2; i++, shown++) {
		__u64 n = left / units[i].seconds;

		left -= n * units[i].seconds;
		if (n || !shown)
			used += snprintf(ret + used, DURATION_TEXT - (size_t)used,
					 "%llu%c", (unsigned long long)n, units[i].name);
	}
}
