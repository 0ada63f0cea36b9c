// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * old_names.c - see old_names.h.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "lib/names.h"
#include "lib/old_names.h"
#include "lib/util.h"

/* Section NULL: each class of a service. Now NULL: it has gone. */
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
	{ "amplification", "withhold", NULL },
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

/* Reasons, and how sure it is that addresses were spoofed. */
static const struct {
	const char *old, *now;
} attack_words[] = {
	{ "perhaps", "possible" },
	{ "within-budget", "within-limits" },
	{ "source-budget", "source-limit" },
	{ "prefix-budget", "prefix-limit" },
	{ "global-budget", "service-limit" },
	{ "ledger", "amplification" },
	{ "player-budget", "player-limit" },
	{ "forged", "player-mismatch" },
	{ "playing", "address-in-use" },
	{ "proven", "validated" },
	{ "asked-for-proof", "challenged" },
	{ "false-proof", "invalid-cookie" },
	{ "unrepeated", "greylisted" },
	{ "answered-player", "cached-player" },
	{ "answered-allowed", "cached-allow-list" },
	{ "answered-proven", "cached-validated" },
	{ "answered-known", "cached-known" },
	{ "answered-network", "cached-prefix" },
	{ "answered-repeated", "cached-recurring" },
	{ "answered-in-budget", "cached-in-limits" },
	{ "template", "cached-response" },
};

const char *old_attack_word(const char *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(attack_words); i++)
		if (!strcmp(attack_words[i].old, word))
			return attack_words[i].now;
	return word;
}

bool old_key(const char *section, const char *old, char ret[OLD_HINT])
{
	enum wire_class class;
	bool limits = class_parse(section, &class);

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		if (strcmp(keys[i].old, old) != 0 ||
		    (keys[i].section ? strcmp(keys[i].section, section) != 0 : !limits))
			continue;
		if (keys[i].now)
			snprintf(ret, OLD_HINT, "'%s' was renamed: write '%s'", old,
				 keys[i].now);
		else
			snprintf(ret, OLD_HINT, "'%s' was removed: leave it out", old);
		return true;
	}
	return false;
}

const char *old_option(const char *old)
{
	return !strcmp(old, "secrets") ? "show-secrets" : NULL;
}

const char *old_value(const char *old)
{
	return !strcmp(old, "pressure") ? "under-load" : NULL;
}
