/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * old_names.h - public names of before the first release, and their names of now.
 * Read by the configuration, for its errors, and by what finds files of an older build.
 * No other file but the test of this one knows an old name.
 */
#ifndef OLD_NAMES_H
#define OLD_NAMES_H

#include <stdbool.h>

/* The client history: known-clients.txt since. */
#define OLD_CLIENTS_FILE "known.txt"

/* Bytes for a hint of old_key(), with the NUL. */
#define OLD_HINT 128

/*
 * Say in @ret what has become of the key @old in the section @section of a configuration:
 * "'on_exit' was renamed: write 'on-exit'". Return false if @old never was a key there.
 * @section is the section's name without its title, "root" outside of all sections.
 */
bool old_key(const char *section, const char *old, char ret[OLD_HINT]);

/* Return what to write in place of the option --@old, without the dashes, or NULL if it
 * never was one. */
const char *old_option(const char *old);

/* Keys of an attack in attacks.jsonl, in the object @section of it; NULL: in it itself.
 * The last row has no @old. */
struct old_attack_key {
	const char *section, *old, *now;
};
extern const struct old_attack_key old_attack_keys[];

/* Return the present form of @word, a reason or a value of an attack in attacks.jsonl;
 * @word itself, if it is none of before. */
const char *old_attack_word(const char *word);

/* Return what to write in place of the value @old, or NULL if it never was one. */
const char *old_value(const char *old);

#endif /* OLD_NAMES_H */
