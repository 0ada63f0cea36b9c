/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * info.h - info strings: \key\value\key\value, in QuakeWorld, Quake II and Quake III.
 *
 * No escapes; a backslash ends a key or a value. Keys compare without regard to case,
 * and of equal keys the first counts (Q_strcasecmp and Info_ValueForKey in all engines).
 */
#ifndef INFO_H
#define INFO_H

#include "lib/reader.h"
#include "lib/record.h"

struct info {
	const uint8_t *pos;
	const uint8_t *end;
	bool failed; /* not an info string: no leading backslash, or a key alone */
};

static inline struct info info_of(const void *bytes, size_t n)
{
	struct info it = { bytes, (const uint8_t *)bytes + n, false };

	return it;
}

/* Read the next pair. False at the end or where it fails. */
bool info_next(struct info *it, struct span *key, struct span *value);

/* Find the first value of @key. False: there is none. */
bool info_find(const void *bytes, size_t n, const char *key, struct span *ret);

/*
 * Put the whole string on the record as an object under @key. A key that comes again gets
 * "#2", "#3". Only the first 256 keys are compared, so that a hostile string takes no
 * more time than its length; each later key gets its number in the string ("#257").
 * False, with the pairs so far on the record, if it is not a well-formed info string.
 */
bool record_info(struct record *r, const char *key, const void *bytes, size_t n);

#endif /* INFO_H */
