/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * secret.h - memory for keys: locked, so that it is never written to a disk, not part of
 * a core file, and wiped when it is given back.
 */
#ifndef SECRET_H
#define SECRET_H

#include <stddef.h>
#include <stdint.h>

/*
 * Return @n zeroed bytes, or NULL. Where the process may not lock so much
 * (RLIMIT_MEMLOCK) they are not locked.
 */
void *secret_alloc(size_t n);
/* Wipes and gives back; @memory may be NULL. @n: as it was asked for. */
void secret_free(void *memory, size_t n);

#define SECRET_KEY_MAX 64 /* bytes of a key agreed before */

/* A key agreed before. Belongs into memory of secret_alloc(). */
struct secret_key {
	size_t n;
	uint8_t bytes[SECRET_KEY_MAX];
};

/*
 * Reads hex digits. 0; -EINVAL: not an even number of them, or more than SECRET_KEY_MAX
 * bytes.
 */
int secret_key_parse(const char *text, struct secret_key *ret);

/*
 * Read a key in hex from a file that belongs to root and that no other user may read. 0
 * or -errno; then @message (of @size bytes) says why and never quotes the content.
 */
int secret_key_read(const char *path, struct secret_key *ret, char *message, size_t size);

#endif /* SECRET_H */
