/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * config_parse.h - what the files that read a configuration share: config.c (the file),
 * config_service.c (a service section), config_output.c (what the daemon watches),
 * config_tree.c (files, and what they include), config_values.c (values of keys) and
 * config_grammar.c (the shape).
 */
#ifndef CONFIG_PARSE_H
#define CONFIG_PARSE_H

#include <confuse.h>

#include "config/config.h"

/* A value as it stands in the file. */
struct kept {
	const char *path; /* of the file; behind the text */
	int line;
	char text[];
};

struct parse {
	const char *path;
	struct config *config;
	size_t endpoints; /* pairs of port and address so far */
	__u8 port_seen[PORTS / 8]; /* by any service */
};

struct choice {
	const char *name;
	int value;
};

struct config_key;

extern const struct choice config_switches[]; /* true, false and their like */

/* Return an empty tree of the grammar, to be freed by cfg_free(); NULL: no memory. */
cfg_t *config_grammar(void);

/* Let @option be given once more, as if it had not been: all its values are gone. */
void option_forget(cfg_opt_t *option);

/*
 * Read a file, the files that it includes, and @sets, into a tree, to be freed by
 * cfg_free(). 0, or -errno after a message.
 */
int config_tree(const char *path, const char *const *sets, cfg_t **ret);

/* Return the value of @key in @section, or NULL: the key is not there. */
const struct kept *value_get(cfg_t *section, const char *key);

/*
 * Read one of @choices, up to a NULL name. 0 and *@ret untouched if the key is not there;
 * -EINVAL after a message.
 */
int choice_read(cfg_t *section, const char *key, const struct choice *choices, int *ret);

/*
 * Return the row of the key @name, which must have one, in @section, which is not the
 * file itself.
 */
const struct config_key *key_of(const cfg_t *section, const char *name);

/*
 * Read a number from @min to @max. False: @text is not digits alone, or is out of this
 * range.
 */
bool number_parse(const char *text, unsigned long min, unsigned long max,
		  unsigned long *ret);

/*
 * Read the number of a key within its range. 0 and *@ret untouched if the key is absent;
 * -EINVAL after a message.
 */
int number_read(cfg_t *section, const char *name, __u32 *ret);

/*
 * Read a list of networks, at most CONFIG_LIST; after each may stand `unlimited`, unless
 * @ret_unlimited is NULL. 0, or -EINVAL after a message.
 */
int list_read(cfg_t *cfg, const char *key, struct cidr *ret, bool *ret_unlimited,
	      size_t *ret_count);

/* Return true if @text is of printable ASCII and spaces only. */
bool text_printable(const char *text);

/* Read all service sections, in order. 0, or -EINVAL after a message. */
int services_read(struct parse *p, cfg_t *cfg);

/* Read the sections sample, follow and output. 0, or -EINVAL after a message. */
int output_read(struct parse *p, cfg_t *cfg);

#endif /* CONFIG_PARSE_H */
