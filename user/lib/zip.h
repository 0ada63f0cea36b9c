/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * zip.h - the files in a zip archive, one after the other. The one header over minizip.
 *
 * An archive within an archive is a file like any other.
 */
#ifndef ZIP_H
#define ZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define ZIP_NAME_MAX 512 /* bytes of a name that are kept, with the NUL */

struct zip;

/* Return true if the first bytes of a file are those of a zip archive. */
bool zip_recognise(const uint8_t *bytes, size_t n);

/*
 * Open the archive that @file holds, from its first byte to its last; the caller closes
 * @file, after zip_close(). NULL with errno: ESPIPE, @file cannot be read in any order (a
 * pipe, gzip's); EBADMSG, it is cut off or no archive; ENOMEM.
 *
 * All its files together are unpacked to at most 1,032 times its size, which is what
 * deflate can reach: more would be the same bytes again, in files that overlap, and
 * counts as damaged. Memory does not depend on the archive.
 */
struct zip *zip_open(FILE *file);
/* Close the archive, and free @zip, which may be NULL. The file stays open. */
void zip_close(struct zip *zip);

/*
 * Step to the next file; directories are passed over. 1: *ret_name is its name, in which
 * control characters are '?', until the next call; 0: there is none; -EBADMSG: the
 * archive's directory is damaged.
 */
int zip_next(struct zip *zip, const char **ret_name);

/*
 * Open that file and read what it begins with into @prefix (of @size bytes, *ret_n of
 * them filled); the stream stands at the beginning and must be closed before the next
 * zip_next(). Reading it fails with EBADMSG where it is damaged or its sum is wrong. NULL
 * with errno: it cannot be unpacked.
 */
FILE *zip_file(struct zip *zip, uint8_t *prefix, size_t size, size_t *ret_n);

#endif /* ZIP_H */
