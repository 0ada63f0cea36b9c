// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * q2_inflate.c - see q2_inflate.h. The window is of 2^15 bytes, without zlib's header.
 */
#include <errno.h>
#include <stdlib.h>

/* zlib does not write to its input. */
#define ZLIB_CONST
#include <zlib.h>

#include "decode/q2/q2_inflate.h"

#define WINDOW	   (-15)
#define BETWEEN	   128 /* in data_type: no block is open */
#define ZLIB_BYTES (48 << 10) /* a window, and what zlib keeps besides */

struct q2_inflate {
	z_stream z;
};

static void feed(z_stream *z, struct span from)
{
	z->next_in = from.bytes;
	z->avail_in = (uInt)from.n;
}

bool q2_inflate_whole(struct span from, uint8_t *to, size_t size)
{
	z_stream z = { .next_out = to, .avail_out = (uInt)size };
	int result;

	if (inflateInit2(&z, WINDOW) != Z_OK)
		return false;
	feed(&z, from);
	result = inflate(&z, Z_SYNC_FLUSH);
	inflateEnd(&z);
	/* Flushed instead of ended, it stops between two blocks. */
	return (result == Z_STREAM_END ||
		((result == Z_OK || result == Z_BUF_ERROR) && z.data_type & BETWEEN)) &&
	       !z.avail_in && !z.avail_out;
}

static struct q2_inflate *begin(void)
{
	struct q2_inflate *s = calloc(1, sizeof(*s));

	if (s && inflateInit2(&s->z, WINDOW) != Z_OK) {
		free(s);
		s = NULL;
	}
	return s;
}

/* Bytes for which @to has no room are counted and dropped. */
static long run(z_stream *z, struct span from, uint8_t *to, size_t size, size_t *left)
{
	uint8_t spill[4096] = { 0 };
	size_t total = 0, most = *left;
	int result = Z_OK;

	feed(z, from);
	while (result == Z_OK && total <= most) {
		bool fits = total < size;
		uInt room = fits ? (uInt)(size - total) : sizeof(spill);

		z->next_out = fits ? to + total : spill;
		z->avail_out = room;
		result = inflate(z, Z_SYNC_FLUSH);
		total += room - z->avail_out;
		if (z->avail_out)
			break;
	}
	*left -= total < most ? total : most;
	if (total > most)
		return -EFBIG;
	if (z->avail_in)
		return -1;
	return result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR
		       ? (long)total
		       : -1;
}

long q2_inflate_part(struct q2_inflate **stream, bool commit, struct span from,
		     uint8_t *to, size_t size, size_t *left)
{
	struct q2_inflate *s = stream ? *stream : NULL;
	z_stream copy;
	long n;

	if (commit && stream) {
		if (!s)
			s = *stream = begin();
		n = s ? run(&s->z, from, to, size, left) : -1;
		if (n < 0)
			q2_inflate_end(stream);
		return n;
	}
	if (s) {
		if (inflateCopy(&copy, &s->z) != Z_OK)
			return -1;
	} else {
		memset(&copy, 0, sizeof(copy));
		if (inflateInit2(&copy, WINDOW) != Z_OK)
			return -1;
	}
	n = run(&copy, from, to, size, left);
	inflateEnd(&copy);
	return n;
}

void q2_inflate_end(struct q2_inflate **stream)
{
	if (!*stream)
		return;
	inflateEnd(&(*stream)->z);
	free(*stream);
	*stream = NULL;
}

uint32_t q2_inflate_crc(struct span part)
{
	return (uint32_t)crc32(0, part.bytes, (uInt)part.n);
}

size_t q2_inflate_bytes(const struct q2_inflate *stream)
{
	return stream ? sizeof(*stream) + ZLIB_BYTES : 0;
}
