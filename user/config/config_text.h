/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * config_text.h - a configuration file before it is parsed, and messages about it.
 *
 * libconfuse's scanner is one global object: a string or a comment that never ends, or a
 * bad escape, would leave it in that state for the next file the daemon reads; comments
 * make it count lines twice; and a section may end with the file. So the text is checked
 * for these first, and handed over without its comments. Many grammars have semicolons
 * after values, which libconfuse takes for part of the value: they are removed too.
 */
#ifndef CONFIG_TEXT_H
#define CONFIG_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#define CONFIG_TEXT_MAX (4 << 20) /* bytes of a file */

/* Write "path:line: message" to stderr; @line 0: "path: message". Returns -EINVAL. */
int config_error(const char *path, int line, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Do the same with the arguments as a va_list, and as a warning if @warning. Bytes that
 * a terminal would obey become '?'.
 */
int config_error_v(const char *path, int line, bool warning, const char *format,
		   va_list args) __attribute__((format(printf, 4, 0)));
/* Write the same with "warning: " before the message: the value is accepted. */
void config_warn(const char *path, int line, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Read the whole of the file into *@ret, NUL-terminated, without a byte order mark, to be
 * freed. 0, or -errno after a message.
 */
int config_text_read(const char *path, char **ret, size_t *ret_length);

/*
 * Overwrite comments and semicolons of @text with blanks. -EINVAL after a message: a
 * string, a comment or a section that does not end, a NUL, or what only libconfuse would
 * understand (octal escapes, variables).
 */
int config_text_clean(const char *path, char *text, size_t length);

#endif /* CONFIG_TEXT_H */
