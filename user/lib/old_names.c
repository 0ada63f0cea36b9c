// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * old_names.c - see old_names.h.
 */
#include <stddef.h>
#include <string.h>

#include "lib/old_names.h"
#include "lib/util.h"

/* Section NULL: a class of a service, and no other section has a key of that name. */
static const struct {
	const char *section, *old, *now;
} keys[] = {
	{ "root", "ledger", "amplification" },
	{ "root", "proof", "validation" },
	{ "root", "answers", "cache" },
	{ "root", "on_exit", "on-exit" },
	{ "service", "proof", "validation" },
	{ "service", "answers", "cache" },
	{ NULL, "global", "service" },
	{ "amplification", "window", "refill" },
	{ "amplification", "strict", "mode = limit' or 'mode = strict" },
	{ "cache", "rate", "bytes-per-second" },
	{ "sample", "every", "one-in" },
	{ "follow", "one_in", "one-in" },
	{ "follow", "psk_identity", "psk-identity" },
	{ "follow", "psk_file", "psk-file" },
	{ "output", "cpu", "cpu-percent" },
};

const struct old_attack_key old_attack_keys[] = {
	{ NULL, "what", "type" },
	{ NULL, "seconds", "duration_s" },
	{ NULL, "answered", "not_dropped" },
	{ NULL, "worst", "top_prefixes" },
	{ "sources", "forged", "spoofed" },
	{ "players", "least", "min" },
	{ "players", "most", "max" },
	{ NULL, NULL, NULL },
};

const char *old_key(const char *section, const char *old)
{
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (!strcmp(keys[i].old, old) &&
		    (!keys[i].section || !strcmp(keys[i].section, section)))
			return keys[i].now;
	return NULL;
}

const char *old_value(const char *old)
{
	return !strcmp(old, "pressure") ? "under-load" : NULL;
}
