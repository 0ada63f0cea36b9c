/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * q2_inflate.h - raw deflate: whole packets, and files that come in parts. Called by
 * q2_zip.c. Output is bounded by the caller's @left, over all calls for one message.
 */
#ifndef Q2_INFLATE_H
#define Q2_INFLATE_H

#include "lib/reader.h"

/* A stream that goes on from one part to the next. */
struct q2_inflate;

/*
 * Inflate @from into exactly @size bytes. False: it is no deflate, or of another length.
 */
bool q2_inflate_whole(struct span from, uint8_t *to, size_t size);

/*
 * Inflate the next part of a file. *@stream is begun if NULL, and stays as it is
 * without @commit. Returns how many bytes come out, at most @size of which are in @to;
 * -EFBIG: more than *@left; -1: it is no deflate, or there is no memory. The inflated
 * bytes are subtracted from *@left.
 */
long q2_inflate_part(struct q2_inflate **stream, bool commit, struct span from,
		     uint8_t *to, size_t size, size_t *left);

/* Free the stream and set *@stream to NULL, which it may be already. */
void q2_inflate_end(struct q2_inflate **stream);

/* Return the checksum by which a part is known again. */
uint32_t q2_inflate_crc(struct span part);

/* Return the bytes that the stream takes; 0 for NULL. */
size_t q2_inflate_bytes(const struct q2_inflate *stream);

#endif /* Q2_INFLATE_H */
