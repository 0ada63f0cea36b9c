// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * log.c - see log.h.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <systemd/sd-daemon.h>

#include "lib/log.h"
#include "lib/utf8.h"

static bool verbose;

void log_verbose(void)
{
	verbose = true;
}

/* The beginning of a line; the journal says which stream is its own (systemd.exec(5)). */
static const char *prefix(const char *priority)
{
	static enum {
		UNKNOWN,
		PLAIN,
		JOURNAL
	} target;
	const char *stream = getenv("JOURNAL_STREAM");
	char ours[64];
	struct stat st;

	if (target == UNKNOWN) {
		target = PLAIN;
		if (stream && !fstat(STDERR_FILENO, &st)) {
			snprintf(ours, sizeof(ours), "%ju:%ju", (uintmax_t)st.st_dev,
				 (uintmax_t)st.st_ino);
			target = strcmp(stream, ours) ? PLAIN : JOURNAL;
		}
	}
	return target == JOURNAL ? priority : NULL;
}

void log_make_plain(char *text)
{
	uint8_t *from = (uint8_t *)text, *to = from;
	size_t left = strlen(text);

	while (left) {
		size_t n = utf8_length(from, left);
		bool obeyed = n ? utf8_control(from, n)
				: *from >= 0x7f || (*from < 0x20 && *from != '\n' &&
						    *from != '\t');

		n = n ? n : 1;
		if (obeyed) {
			*to++ = '?';
		} else {
			memmove(to, from, n);
			to += n;
		}
		from += n;
		left -= n;
	}
	*to = 0;
}

static void print(const char *priority, const char *word, const char *format,
		  va_list args)
{
	const char *before = prefix(priority);
	char line[1024];

	vsnprintf(line, sizeof(line), format, args);
	log_make_plain(line);
	/* A second line, of a name with an end of line in it, would look like ours. */
	for (char *c = line; (c = strchr(c, '\n'));)
		*c = ' ';
	fprintf(stderr, "%s%s%s\n", before ? before : "quakeshield: ", word, line);
}

void log_at(const char *path, int line, bool warning, const char *message)
{
	const char *before = prefix(warning ? SD_WARNING : SD_ERR);
	const char *word = warning ? "warning: " : "";

	if (line)
		log_plain("%s%s:%d: %s%s", before ? before : "", path, line, word,
			  message);
	else
		log_plain("%s%s: %s%s", before ? before : "", path, word, message);
}

void log_plain(const char *format, ...)
{
	char line[8192];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	log_make_plain(line);
	/* A name with an end of line in it makes no line of its own. */
	for (char *c = line; (c = strchr(c, '\n'));)
		*c = ' ';
	fprintf(stderr, "%s\n", line);
}

void log_info(const char *format, ...)
{
	va_list args;

	if (!verbose)
		return;
	va_start(args, format);
	print(SD_INFO, "", format, args);
	va_end(args);
}

void log_warn(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print(SD_WARNING, "warning: ", format, args);
	va_end(args);
}

void log_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print(SD_ERR, "", format, args);
	va_end(args);
}
