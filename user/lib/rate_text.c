// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * rate_text.c - see rate_text.h.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "lib/rate_text.h"

#define EXPECTED                                                                   \
	"is no rate: write N/s, N/m or N/h, perhaps with 'burst N', or unlimited " \
	"or 0"

static const struct {
	char name;
	__u64 ns;
} units[] = {
	{ 's', 1000000000ull },
	{ 'm', 60 * 1000000000ull },
	{ 'h', 3600 * 1000000000ull },
};

static void blanks_skip(const char **at)
{
	while (**at == ' ' || **at == '\t')
		(*at)++;
}

/* Digits only. Above @max is @max + 1, so that the caller can say "too much". */
static bool number_take(const char **at, __u64 max, __u64 *ret)
{
	__u64 n = 0;

	if (!isdigit((unsigned char)**at))
		return false;
	for (; isdigit((unsigned char)**at); (*at)++) {
		n = n * 10 + (__u64)(**at - '0');
		if (n > max)
			n = max + 1;
	}
	*ret = n;
	return true;
}

static bool word_take(const char **at, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(*at, word, n) != 0)
		return false;
	*at += n;
	return true;
}

static bool unit_take(const char **at, __u64 *ret_ns)
{
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (**at == units[i].name) {
			(*at)++;
			*ret_ns = units[i].ns;
			return true;
		}
	}
	return false;
}

static __u64 cost_of(__u64 n, __u64 unit_ns)
{
	return (unit_ns + n / 2) / n;
}

/* The default burst: as many as one second brings, at least 1. */
static __u64 burst_of(__u64 cost_ns)
{
	__u64 n = (units[0].ns + cost_ns / 2) / cost_ns;

	return n ? n : 1;
}

static const char *rate_read(const char *at, struct limit *ret)
{
	__u64 n, unit_ns, burst = 0;
	bool given;

	if (!number_take(&at, RATE_MAX, &n) || !word_take(&at, "/") ||
	    !unit_take(&at, &unit_ns))
		return EXPECTED;
	if (!n)
		return "is never: write 0 without a unit";
	if (n > RATE_MAX)
		return "is too much: at most 1000000 per unit, or unlimited";
	ret->cost_ns = cost_of(n, unit_ns);

	given = *at == ' ' || *at == '\t';
	blanks_skip(&at);
	given = given && word_take(&at, "burst");
	if (given) {
		blanks_skip(&at);
		if (!number_take(&at, BURST_MAX, &burst))
			return EXPECTED;
		if (!burst || burst > BURST_MAX)
			return "has a burst that is not from 1 to 1000000";
	} else {
		burst = burst_of(ret->cost_ns);
	}
	blanks_skip(&at);
	if (*at)
		return EXPECTED;
	ret->burst_ns = burst * ret->cost_ns;
	if (ret->burst_ns < RATE_TICK_NS)
		return "has too small a burst: it must last for 10 ms, a tick of the "
		       "kernel's clock";
	return NULL;
}

const char *rate_parse(const char *text, struct limit *ret)
{
	struct limit limit;
	const char *wrong;

	blanks_skip(&text);
	if (!strcmp(text, "unlimited")) {
		*ret = (struct limit){ 0, 0 };
		return NULL;
	}
	if (!strcmp(text, "0")) {
		*ret = (struct limit){ units[0].ns, 0 };
		return NULL;
	}
	wrong = rate_read(text, &limit);
	if (!wrong)
		*ret = limit;
	return wrong;
}

void rate_format(const struct limit *limit, char ret[RATE_TEXT])
{
	const size_t last = sizeof(units) / sizeof(*units) - 1;

	if (!limit->cost_ns) {
		snprintf(ret, RATE_TEXT, "unlimited");
		return;
	}
	if (limit->burst_ns < limit->cost_ns) {
		snprintf(ret, RATE_TEXT, "0");
		return;
	}
	/* The largest unit takes what none says exactly. */
	for (size_t i = 0; i <= last; i++) {
		__u64 n = (units[i].ns + limit->cost_ns / 2) / limit->cost_ns;

		if (i == last || (n && cost_of(n, units[i].ns) == limit->cost_ns)) {
			snprintf(ret, RATE_TEXT, "%llu/%c burst %llu",
				 (unsigned long long)n, units[i].name,
				 (unsigned long long)(limit->burst_ns / limit->cost_ns));
			return;
		}
	}
}

static bool never(const struct limit *l)
{
	return l->cost_ns && l->burst_ns < l->cost_ns;
}

bool rate_looser(const struct limit *a, const struct limit *b)
{
	if (never(a) || !b->cost_ns)
		return false;
	if (never(b) || !a->cost_ns)
		return true;
	return a->cost_ns < b->cost_ns ||
	       a->burst_ns / a->cost_ns > b->burst_ns / b->cost_ns;
}
