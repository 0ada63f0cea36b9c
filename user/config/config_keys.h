/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * config_keys.h - every key of the configuration, one row each. The grammar, the ranges
 * of numbers and their messages are made from the rows, and so is
 * docs/reference/configuration.md (`make docs`). A new key is one row here and one line
 * in the file that reads its section.
 */
#ifndef CONFIG_KEYS_H
#define CONFIG_KEYS_H

#include <stdbool.h>
#include <stddef.h>

enum config_type {
	KEY_SWITCH, /* yes or no: config_switches */
	KEY_CHOICE, /* one of the words */
	KEY_NUMBER, /* low to high */
	KEY_NUMBER_OR_0, /* the same, or 0 */
	KEY_POWER, /* 0, or a power of two up to high */
	KEY_RATE, /* lib/rate_text.h */
	KEY_TEXT, /* the unit says of what form; at most high characters */
	KEY_LIST, /* of such texts, at most high of them */
};

#define CONFIG_FILE    "" /* keys that stand in no section */
#define CONFIG_SERVICE "service"
/* Two sections with the keys of a service, but for those of config_key_own(). */
#define CONFIG_DEFAULTS "defaults"
#define CONFIG_TEMPLATE "template"
#define CONFIG_CLASS	"CLASS" /* in a service, by the names of classes with limits */
#define CONFIG_PLAYERS	"players" /* in a service */

struct config_key {
	const char *section;
	const char *name;
	enum config_type type;
	unsigned long low, high;
	const char *unit; /* of a number; of a text its form; of a choice its words */
	const char *initial; /* the default; NULL: see the meaning */
	const char *meaning; /* sentences */
};

/* Section by section; the last row has no name. */
extern const struct config_key config_keys[];

/*
 * Return the row of @name in @section, or NULL if it has no such key. The section of
 * libconfuse's root is any other name.
 */
const struct config_key *config_key(const char *section, const char *name);

/*
 * Return true if the key @name of a service is its own: `defaults` and templates cannot
 * have it. Called for names of service keys only.
 */
bool config_key_own(const char *name);

/* Bytes of a range, with the NUL. */
#define CONFIG_RANGE 160
/* Write the type and range of @key as words: "number from 1 to 3600". */
void config_range(const struct config_key *key, char ret[CONFIG_RANGE]);

#endif /* CONFIG_KEYS_H */
