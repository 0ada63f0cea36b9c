/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * guard.h - the same bytes in places where reading one too many is felt.
 *
 * guard_page(): the last byte lies against a page that may not be read, so that even code
 * without a sanitizer stops. guard_copy(): an exact heap block, for AddressSanitizer.
 * Programs with one thread only.
 */
#ifndef GUARD_H
#define GUARD_H

#include <linux/types.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define GUARD_MAX 65536

static inline const __u8 *guard_page(const void *bytes, size_t n)
{
	static __u8 *wall;

	if (!wall) {
		size_t page = (size_t)sysconf(_SC_PAGESIZE);
		__u8 *area = mmap(NULL, GUARD_MAX + page, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (area == MAP_FAILED || mprotect(area + GUARD_MAX, page, PROT_NONE))
			abort();
		wall = area + GUARD_MAX;
	}
	if (n > GUARD_MAX)
		abort();
	if (n)
		memcpy(wall - n, bytes, n);
	return wall - n;
}

/* To be freed by the caller. */
static inline __u8 *guard_copy(const void *bytes, size_t n)
{
	__u8 *copy = malloc(n ? n : 1);

	if (!copy)
		abort();
	if (n)
		memcpy(copy, bytes, n);
	return copy;
}

#endif /* GUARD_H */
