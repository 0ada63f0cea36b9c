// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * qw_demo.c - blocks of recordings: .qwd, what one client got; .mvd, what a server said
 * to all of its players.
 *
 *	.qwd	0: u8 msec, 3 bytes, f32 x3 angles, i16 x3 moves, u8 buttons, impulse,
 *		f32 x3 view angles; 1: a datagram; 2: i32 x2, the numbers to go on with
 *	.mvd	messages without header; to a mask of players, to one, or to all. To no
 *		player at all: hidden blocks (qw_hidden.c)
 *
 * Sources: Quake QW/client/cl_demo.c; mvdsv src/sv_demo.c; ezquake src/cl_demo.c.
 */
#include "decode/qw/qw_hidden.h"
#include "decode/qw/qw_message.h"

enum block {
	QWD_COMMAND = 0,
	QWD_SET = 2,
	MVD_MULTIPLE = 3,
	MVD_SINGLE = 4,
	MVD_STATS = 5,
};

static const char end_mark[] = "\xff\xff\xff\xff\2EndOfDemo";

static void floats(struct reader *rd, const char *key, struct record *r)
{
	record_open_array(r, key);
	for (int i = 0; i < 3; i++)
		record_float(r, NULL, (double)reader_f32(rd));
	record_close(r);
}

static void usercmd(struct reader rd, struct record *r)
{
	r->kind = "demo-usercmd";
	record_uint(r, "msec", reader_u8(&rd));
	reader_take(&rd, 3);
	floats(&rd, "angles", r);
	record_int(r, "forwardmove", (int16_t)reader_le16(&rd));
	record_int(r, "sidemove", (int16_t)reader_le16(&rd));
	record_int(r, "upmove", (int16_t)reader_le16(&rd));
	record_uint(r, "buttons", reader_u8(&rd));
	record_uint(r, "impulse", reader_u8(&rd));
	floats(&rd, "viewangles", r);
}

/* The sequences that both sides of the recorded connection had. */
static void set(struct qw_session *s, struct reader rd, struct record *r)
{
	uint32_t outgoing = reader_le32(&rd), incoming = reader_le32(&rd);

	r->kind = "demo-set";
	record_int(r, "outgoing_sequence", (int32_t)outgoing);
	record_int(r, "incoming_sequence", (int32_t)incoming);
	s->side[1].seen = true;
	s->side[1].newest = incoming & ~NETCHAN_RELIABLE;
}

static void qwd(struct qw_session *s, const struct demo_block *block, struct record *r)
{
	struct reader rd = reader_of(block->bytes, block->n);

	s->packets = true;
	s->block_wanted = true;
	if (block->type == QWD_COMMAND) {
		usercmd(rd, r);
	} else if (block->type == QWD_SET) {
		set(s, rd, r);
	} else if (block->n == sizeof(end_mark) &&
		   !memcmp(block->bytes, end_mark, sizeof(end_mark))) {
		r->kind = "demo-end";
	} else {
		qw_datagram(s, DIRECTION_S2C, (struct span){ block->bytes, block->n }, r);
	}
}

static void players(const struct demo_block *block, struct record *r)
{
	if (block->type == MVD_MULTIPLE) {
		record_uint(r, "mask", block->mask);
		record_open_array(r, "players");
		for (unsigned int i = 0; i < 32; i++)
			if (block->mask & 1U << i)
				record_uint(r, NULL, i);
		record_close(r);
	} else if (block->type == MVD_SINGLE || block->type == MVD_STATS) {
		record_uint(r, "player", block->player);
	}
}

/* The numbers to go on with, or a hidden block. */
static bool is_aside(const struct qw_session *s, const struct demo_block *block)
{
	return block->type == QWD_SET || (block->type == MVD_MULTIPLE && !block->mask &&
					  s->terms.mvd & QW_MVD_HIDDEN);
}

static void mvd(struct qw_session *s, const struct demo_block *block, struct record *r)
{
	static const char *const types[] = { NULL,     "read",	"set", "multiple",
					     "single", "stats", "all", NULL };
	struct span bytes = { block->bytes, block->n };
	const char *type = types[block->type & 7];
	uint32_t sequence = (uint32_t)block->frame;

	s->terms.recording = true;
	s->packets = true;
	s->block_wanted = true;
	if (type)
		record_string(r, "type", type, strlen(type));
	/*
	 * A block without a message of the server begins no map, and updates no entity.
	 */
	if (is_aside(s, block)) {
		evidence_account(&s->join.map, sequence, sequence);
		evidence_account(&s->updates, sequence, sequence);
	}
	if (block->type == QWD_SET) {
		set(s, reader_of(block->bytes, block->n), r);
		return;
	}
	players(block, r);
	if (is_aside(s, block))
		qw_hidden(s, bytes, r);
	else
		qw_message_decode(s, DIRECTION_S2C, sequence, bytes, false, r);
}

/* Lines "name: value", and an empty one. */
static void qtv(const struct demo_block *block, struct record *r)
{
	r->kind = "qtv-header";
	record_string(r, "text", block->bytes, block->n);
}

void qw_demo(void *state, const struct demo_block *block, struct record *r)
{
	struct qw_session *s = state;

	if (!s)
		record_opaque(r, "no memory for a session");
	else if (block->type == DEMO_TYPE_HEADER)
		qtv(block, r);
	else if (block->format == DEMO_QWD)
		qwd(s, block, r);
	else
		mvd(s, block, r);
	if (s && s->terms.protocol)
		r->dialect = qw_dialect(&s->terms);
	r->untested = s && qw_is_untested(&s->terms);
}
