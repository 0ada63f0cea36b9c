// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * qw_download.c - svc_download: parts of files. Their bytes are counted and handed out as
 * pieces, for who puts files together; they are no fields.
 *
 *	1996	i16 size (-1: there is no such file), u8 percent, size bytes
 *	chunks	i32 number, 1024 bytes; or i32 -1, i32 size (below 0: why not), str name
 *
 * Sources: Quake QW/client/cl_parse.c; mvdsv src/sv_user.c; fteqw
 * engine/client/cl_parse.c.
 */
#include "decode/qw/qw_message.h"

#define CHUNK	1024
#define SIZE_64 INT32_MIN /* the size is in the next eight bytes */
#define ALL	100 /* percent */

static const char *refusal(int32_t size)
{
	switch (size) {
	case -1:
		return "not found";
	case -2:
		return "not permitted";
	case -3:
		return "unknown or stopped";
	case -4:
		return "redirected";
	case -5:
		return "redirected to a package";
	default:
		return NULL;
	}
}

static void header(struct ops *o)
{
	int32_t size = (int32_t)reader_le32(&o->rd);
	const char *why = refusal(size);
	struct span name;
	int64_t whole = size;

	if (size == SIZE_64) {
		uint64_t low = reader_le32(&o->rd);

		whole = (int64_t)(low | (uint64_t)reader_le32(&o->rd) << 32);
	}
	record_int(o->record, "size", whole);
	name = qw_text(o, "name");
	if (why)
		record_string(o->record, "refused", why, strlen(why));
	else if (whole < 0)
		ops_wrong(o, "no such size of a download");
	else if (!reader_failed(&o->rd))
		record_piece(o->record, &(struct record_piece){ .type = PIECE_BEGIN,
								.name = name.bytes,
								.name_n = name.n,
								.size = whole });
}

static void chunk(struct ops *o)
{
	int32_t number = (int32_t)reader_le32(&o->rd);
	struct span bytes;

	if (number == -1) {
		header(o);
		return;
	}
	record_int(o->record, "chunk", number);
	if (number < 0) {
		ops_wrong(o, "no such chunk of a download");
		return;
	}
	bytes = qw_bytes(o, CHUNK);
	if (bytes.bytes)
		record_piece(o->record,
			     &(struct record_piece){ .type = PIECE_AT,
						     .offset = (uint64_t)number * CHUNK,
						     .bytes = bytes.bytes,
						     .n = bytes.n });
}

/* A block that was not asked for anew is the last one again. */
static void block(struct ops *o)
{
	int size = (int16_t)reader_le16(&o->rd);
	unsigned int percent = qw_u8(o, "percent");
	struct qw_session *s = qw_parse_of(o)->session;
	struct span bytes;

	if (size == -1) {
		record_string(o->record, "refused", "not found", 9);
		return;
	}
	if (size < 0) {
		ops_wrong(o, "no such size of a block");
		return;
	}
	bytes = qw_bytes(o, (size_t)size);
	if (percent > ALL)
		ops_wrong(o, "more than a hundred percent");
	if (!s || !bytes.bytes || !s->block_wanted || qw_parse_of(o)->late)
		return;
	record_piece(o->record, &(struct record_piece){ .type = PIECE_NEXT,
							.name = s->download,
							.name_n = s->download_n,
							.bytes = bytes.bytes,
							.n = bytes.n,
							.last = percent == ALL });
	s = qw_committing(o);
	/* A recording holds no requests, and nothing twice. */
	if (s && !s->packets)
		s->block_wanted = false;
}

void qw_download(struct ops *o)
{
	qw_lean(o);
	if (qw_parse_of(o)->terms.fte & QW_FTE_CHUNKEDDOWNLOADS)
		chunk(o);
	else
		block(o);
}
