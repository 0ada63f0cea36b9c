// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * q2_zip.c - what R1Q2 and Q2PRO deflate: packets of messages, and files.
 *
 *	zpacket		u16 deflated, u16 plain, bytes: a whole stream of messages
 *	zdownload	i16 size, u8 percent, [35, unless the size is -1: u16 plain],
 *			bytes
 *
 * In 35 each part of a file is deflated for itself; in 36 they are one stream, which an
 * observer who came late cannot read, and into which no part may go twice: a part that
 * was lost behind the observer comes again, under a new sequence.
 *
 * Sources: q2pro src/client/parse.c, src/client/download.c; r1q2 client/cl_parse.c.
 */
#include <errno.h>
#include <stdlib.h>

#include "decode/q2/q2_inflate.h"
#include "decode/q2/q2_message.h"

#define PART_SHOWN 65536

/* So that a few bytes on the wire do not cost more than a long message does. */
static const char beyond[] = "a message that inflates to over 256 KiB";

void q2_parse_zpacket(struct ops *o)
{
	struct q2_parse *p = q2_of(o);
	size_t packed = reader_le16(&o->rd), plain = reader_le16(&o->rd);
	const uint8_t *from = reader_take(&o->rd, packed);
	uint8_t *to, rank;

	record_uint(o->record, "deflated", packed);
	record_uint(o->record, "plain", plain);
	if (plain > Q2_MESSAGE_MAX)
		ops_wrong(o, "packet longer than 32768 when inflated");
	if (p->nested)
		ops_wrong(o, "deflated packet within another");
	if (!from || o->m->wrong)
		return;
	if (plain > *p->left) {
		message_missing(o->m, beyond);
		return;
	}
	*p->left -= plain;
	to = malloc(plain ? plain : 1);
	if (!to) {
		message_missing(o->m, "no memory to inflate a packet");
		return;
	}
	if (q2_inflate_whole((struct span){ from, packed }, to, plain)) {
		p->nested = true;
		rank = q2_server_ops(p, (struct span){ to, plain });
		p->nested = false;
		/* The message is named after what is in it. */
		if (rank > o->rank)
			o->rank = rank;
	} else {
		ops_wrong(o, "packet does not inflate to its length");
	}
	free(to);
}

/* True: of the one stream of 36, but none that can go into it now. */
static bool part_again(struct ops *o, struct span part, const struct q2_part *now)
{
	struct q2_parse *p = q2_of(o);
	const struct q2_part *last = p->game ? &p->game->part : NULL;
	bool same = last && last->n == now->n && last->crc == now->crc &&
		    last->percent == now->percent;

	if (!p->session || !p->dialect.q2pro ||
	    (!p->session->stale && (!same || p->session->block_wanted)))
		return false;
	if (same)
		record_bool(o->record, "repeated", true);
	else
		message_missing(o->m, "deflated behind a part of the file that is gone");
	record_hex(o->record, "deflated", part.bytes, part.n);
	return true;
}

/*
 * After a part that could not be read the rest of its file cannot be read: what looks
 * like deflate there is so by chance. Until the next file, of which less is there
 * (percent).
 */
static bool file_is_lost(const struct q2_parse *p, const struct q2_part *now)
{
	return p->dialect.q2pro && p->game && p->game->lost &&
	       now->percent >= p->game->part.percent;
}

/*
 * Put the result, @n bytes, on the record; or why there is none. @plain: how many had to
 * come out; -1: unknown.
 */
static void put_part(struct ops *o, struct span part, const uint8_t *to, long n,
		     int plain)
{
	if (n < 0)
		record_hex(o->record, "deflated", part.bytes, part.n);
	if (n >= 0) {
		record_uint(o->record, "plain", (uint64_t)n);
		record_hex(o->record, "data", to,
			   n < PART_SHOWN ? (size_t)n : PART_SHOWN);
		if (plain >= 0 && n != plain)
			ops_wrong(o, "file does not inflate to its length");
		if (n > PART_SHOWN)
			message_missing(o->m, "only 64 KiB of a part are shown");
	} else if (plain >= 0) {
		ops_wrong(o, "file does not inflate");
	} else if (n == -EFBIG) {
		message_missing(o->m, beyond);
	} else {
		message_missing(o->m, "deflated with a part of the file not seen");
	}
}

static void inflate_file(struct ops *o, struct span part, uint8_t percent, int plain)
{
	struct q2_parse *p = q2_of(o);
	struct q2_part now = { q2_inflate_crc(part), (uint16_t)part.n, percent };
	struct q2_inflate *none = NULL, **stream = &none;
	struct q2_game *g;
	uint8_t *to;
	long n = -1;

	if (part_again(o, part, &now))
		return;
	g = p->dialect.q2pro ? q2_commit(o) : NULL;
	to = malloc(PART_SHOWN);
	if (!to) {
		message_missing(o->m, "no memory to inflate a file");
		return;
	}
	if (p->dialect.q2pro && p->game)
		stream = &p->game->download;
	if (!file_is_lost(p, &now))
		n = q2_inflate_part(stream, g != NULL, part, to, PART_SHOWN, p->left);
	put_part(o, part, to, n, plain);
	if (g) {
		g->lost = n < 0 && percent < 100;
		g->part = now;
		p->session->block_wanted = false;
		if (percent == 100)
			q2_inflate_end(&g->download);
	}
	free(to);
}

int q2_download_head(struct ops *o, uint8_t *ret_percent)
{
	int16_t size = (int16_t)reader_le16(&o->rd);

	*ret_percent = reader_u8(&o->rd);
	record_int(o->record, "size", size);
	record_uint(o->record, "percent", *ret_percent);
	if (*ret_percent > 100)
		ops_wrong(o, "more than 100 percent");
	if (size < -1)
		ops_wrong(o, "download size below -1");
	if (size < 0)
		q2_end_file(o);
	return size;
}

void q2_parse_zdownload(struct ops *o)
{
	uint8_t percent;
	int size = q2_download_head(o, &percent), plain = -1;
	const uint8_t *from;

	if (size < 0)
		return;
	if (!q2_of(o)->dialect.q2pro)
		plain = reader_le16(&o->rd);
	if (!size && plain > 0)
		ops_wrong(o, "file does not inflate to its length");
	if (!size)
		return;
	from = reader_take(&o->rd, (size_t)size);
	if (from)
		inflate_file(o, (struct span){ from, (size_t)size }, percent, plain);
}
