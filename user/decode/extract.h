/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * extract.h - files put together from the pieces that records carry (record.h). Called by
 * `quakeshield decode --extract`.
 *
 * Names come from the wire: only letters, digits, dot, dash and underscore stay, no dot
 * leads, the end of a long one is kept. All is made in one directory; no link is followed
 * and no file replaced: the second file of a name gets ".1", and so on. A file is called
 * NAME.part until its last byte is there.
 */
#ifndef EXTRACT_H
#define EXTRACT_H

#include "lib/record.h"

#define EXTRACT_FILE_MAX  (256LL << 20) /* bytes of one file */
#define EXTRACT_TOTAL_MAX (1LL << 30) /* bytes of all */
#define EXTRACT_FILES_MAX 1024
#define EXTRACT_OPEN_MAX  64 /* at a time; then the least recently fed is given up */
#define EXTRACT_NAME_MAX  100 /* bytes, without what makes it unique */
#define EXTRACT_CHUNK	  1024 /* offsets are multiples of it */

struct extract;

/* Called with the result for each file, in English; @name is harmless already. */
typedef void extract_say(void *context, const char *name, const char *what);

/*
 * Begin to put files into @directory, calling @say with @context for each. 0, or -errno:
 * @directory cannot be opened, or no memory.
 */
int extract_open(const char *directory, extract_say *say, void *context,
		 struct extract **ret);

/* Take the pieces of a record that was decoded, if there are any. */
void extract_record(struct extract *e, const struct record *r);

/* End one input: files that are open are incomplete. */
void extract_flush(struct extract *e);

/* Flushes. True: everything that was asked for was written. May be NULL. */
bool extract_close(struct extract *e);

/*
 * Write @name as a file is called, without a harmful byte; @ret holds EXTRACT_NAME_MAX +
 * 1.
 */
void extract_harmless(const uint8_t *name, size_t n, char *ret);

#endif /* EXTRACT_H */
