// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * qw_client.c - clc: what a client says.
 *
 *	move: u8 checksum over all that follows, u8 loss, three usercmds, each a
 *	difference to the one before it, the first to nothing
 *
 * Sources: Quake QW/client/cl_input.c, QW/server/sv_user.c; mvdsv src/sv_user.c; fteqw
 * engine/client/cl_input.c.
 */
#include "decode/qw/qw_message.h"
#include "lib/info.h"

#define MOVES	      3
#define LOSS_MAX      100
#define VR_MOVES_MAX  64
#define FTE_MOVE_SIZE 3

void qw_move(struct ops *o)
{
	unsigned int protocol = qw_parse_of(o)->terms.protocol;
	unsigned int checksum = qw_u8(o, "checksum");
	const uint8_t *from = o->rd.pos;
	int32_t command[QW_CMD_FIELDS] = { 0 };
	bool right;

	qw_u8(o, "loss");
	record_open_array(o->record, "usercmds");
	for (int i = 0; i < MOVES; i++) {
		unsigned int bits = qw_usercmd_read(&o->rd, protocol, command);

		qw_usercmd_record(o->record, NULL, protocol, bits, command);
	}
	record_close(o->record);
	if (reader_failed(&o->rd))
		return;
	right = checksum ==
		qw_move_checksum(from, (size_t)(o->rd.pos - from), o->m->sequence);
	record_bool(o->record, "checksum_valid", right);
	if (!right)
		ops_wrong(o, "the move's checksum is wrong");
}

/* A command that says what the session has to remember. */
static void remember(struct ops *o, struct span text)
{
	static const char download[] = "download ";
	size_t n = sizeof(download) - 1;
	bool first = text.n > n && !memcmp(text.bytes, download, n);
	struct qw_session *s;

	if (!first && !(text.n >= 6 && !memcmp(text.bytes, "nextdl", 6)))
		return;
	s = qw_committing(o);
	if (!s)
		return;
	s->block_wanted = true;
	if (!first)
		return;
	/* The name may be in quotes. */
	text.bytes += n;
	text.n -= n;
	if (text.n > 2 && *text.bytes == '"' && text.bytes[text.n - 1] == '"') {
		text.bytes++;
		text.n -= 2;
	}
	s->download_n = (uint8_t)(text.n < QW_NAME_MAX ? text.n : QW_NAME_MAX);
	memcpy(s->download, text.bytes, s->download_n);
}

/* setinfo "name" "value" */
static void command_name(struct ops *o, struct span text)
{
	static const char *const heads[] = { "setinfo \"name\" \"", "setinfo name \"" };

	for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++) {
		size_t n = strlen(heads[i]);

		if (text.n > n + 1 && !memcmp(text.bytes, heads[i], n) &&
		    text.bytes[text.n - 1] == '"')
			facts_name(&o->record->facts, text.bytes + n, text.n - n - 1);
	}
}

static void stringcmd(struct ops *o)
{
	struct span text = qw_text(o, "text");

	if (reader_failed(&o->rd))
		return;
	remember(o, text);
	command_name(o, text);
}

static void delta(struct ops *o)
{
	qw_u8(o, "sequence");
}

static void tmove(struct ops *o)
{
	qw_vec(o, "origin");
}

static void upload(struct ops *o)
{
	int size = (int16_t)reader_le16(&o->rd);

	qw_u8(o, "percent");
	if (size < 0)
		ops_wrong(o, "upload of fewer than no bytes");
	else
		qw_bytes(o, (size_t)size);
}

static void ackframe(struct ops *o)
{
	qw_i32(o, "frame");
}

static void voicechat(struct ops *o)
{
	qw_u8(o, "generation");
	qw_u8(o, "sequence");
	qw_bytes(o, reader_le16(&o->rd));
}

static void stringcmd_seat(struct ops *o)
{
	qw_u8(o, "seat");
	qw_text(o, "text");
}

/* --- mvdsv's ----------------------------------------------------------------------- */

enum weapon {
	WEAPON_AGE = 4,
	WEAPON_BYTES = 128,
};

/* A list of numbers up to 0, a byte each or half of one. */
static void weapon_list(struct ops *o, bool bytes)
{
	record_open_array(o->record, "weapons");
	for (;;) {
		unsigned int byte = reader_u8(&o->rd);
		unsigned int first = bytes ? byte : byte >> 4;

		if (!first)
			break;
		record_uint(o->record, NULL, first);
		if (bytes)
			continue;
		if (!(byte & 15))
			break;
		record_uint(o->record, NULL, byte & 15);
	}
	record_close(o->record);
}

static void mvd_weapon(struct ops *o)
{
	unsigned int flags = qw_u8(o, "flags");

	if (flags & WEAPON_AGE)
		qw_u8(o, "age");
	weapon_list(o, flags & WEAPON_BYTES);
}

static void debug_antilag(struct ops *o)
{
	unsigned int n = reader_u8(&o->rd);

	record_open_array(o->record, "players");
	while (n-- && !reader_failed(&o->rd)) {
		record_open_object(o->record, NULL);
		qw_u8(o, "slot");
		qw_u8(o, "msec");
		qw_u8(o, "modelindex");
		qw_floats(o, "origin", 3);
		record_close(o->record);
	}
	record_close(o->record);
}

static void mvd_debug(struct ops *o)
{
	unsigned int type = qw_u8(o, "type");

	if (type == 1) {
		debug_antilag(o);
		return;
	}
	if (type != 2) {
		ops_wrong(o, "no such debugging message");
		return;
	}
	record_uint(o->record, "items", reader_le32(&o->rd));
	qw_u8(o, "shells");
	qw_u8(o, "nails");
	qw_u8(o, "rockets");
	qw_u8(o, "cells");
	qw_u8(o, "choice");
	qw_text(o, "text");
}

/* --- FTE's ------------------------------------------------------------------------- */

enum fte_move {
	MOVE_LOSS = 1,
	MOVE_DELAY = 2,
	MOVE_SEATS = 4,
	MOVE_FRAMES = 8,
	MOVE_ACKS = 16,
};

static void vr_device(struct ops *o)
{
	uint64_t bits = qw_vlq(o);

	record_open_object(o->record, NULL);
	if (bits & 1)
		record_uint(o->record, "status", qw_vlq(o));
	if (bits & 2)
		qw_angles16(o, "angles");
	if (bits & 4)
		qw_angles16(o, "avelocity");
	if (bits & 8)
		qw_floats(o, "origin", 3);
	if (bits & 16)
		qw_floats(o, "velocity", 3);
	if (bits & 32)
		record_uint(o->record, "weapon", qw_vlq(o));
	record_close(o->record);
}

static void cursor(struct ops *o)
{
	record_open_array(o->record, "cursor_screen");
	qw_i16(o, NULL);
	qw_i16(o, NULL);
	record_close(o->record);
	qw_floats(o, "cursor_start", 3);
	qw_floats(o, "cursor_impact", 3);
	qw_number(o, "cursor_entitynumber");
}

/* In halves where they are zigzagged, else fives. */
static void vr_speed(struct ops *o, uint64_t bits, const char *key)
{
	uint64_t raw;

	if (!(bits & 0x200)) {
		record_int(o->record, key, reader_i8(&o->rd) * 5);
		return;
	}
	raw = qw_vlq(o);
	record_int(o->record, key, (int64_t)(raw >> 1) ^ -(int64_t)(raw & 1));
}

static void vr_usercmd(struct ops *o)
{
	static const char *const speeds[] = { "forwardmove", "sidemove", "upmove" };
	static const unsigned int speed_bits[] = { 0x8, 0x10, 0x80 };
	uint64_t bits = qw_vlq(o);

	record_uint(o->record, "bits", bits);
	record_uint(o->record, "servertime_delta", qw_vlq(o));
	if (bits & 1ULL << 18)
		record_uint(o->record, "msec", qw_vlq(o));
	if (bits & 7) {
		record_open_array(o->record, "angles");
		for (unsigned int i = 0; i < 3; i++)
			if (!(bits & 1U << i))
				record_float(o->record, NULL, __builtin_nan(""));
			else if (bits & 0x100)
				record_float(o->record, NULL,
					     (int16_t)reader_le16(&o->rd) *
						     (360 / 65536.0));
			else
				record_float(o->record, NULL,
					     reader_i8(&o->rd) * (360 / 256.0));
		record_close(o->record);
	}
	for (unsigned int i = 0; i < 3; i++)
		if (bits & speed_bits[i])
			vr_speed(o, bits, speeds[i]);
	if (bits & 0x20)
		record_uint(o->record, "buttons", qw_vlq(o));
	if (bits & 0x40)
		record_uint(o->record, "impulse", qw_vlq(o));
	if (bits & 0x400)
		record_uint(o->record, "weapon", qw_vlq(o));
	if (bits & 0x800)
		cursor(o);
	if (bits & 0x1000)
		record_uint(o->record, "lightlevel", qw_vlq(o));
	if (!(bits & 0xe000))
		return;
	record_open_array(o->record, "devices");
	for (unsigned int i = 13; i < 16; i++)
		if (bits & 1U << i)
			vr_device(o);
	record_close(o->record);
}

static void acks(struct ops *o)
{
	uint64_t n = qw_vlq(o);

	record_open_array(o->record, "acks");
	while (n-- && !reader_failed(&o->rd))
		qw_i32(o, NULL);
	record_close(o->record);
}

static void qw_fte_move(struct ops *o)
{
	uint64_t flags = qw_vlq(o);
	uint64_t seats = flags & MOVE_SEATS ? qw_vlq(o) : 1;
	uint64_t frames = flags & MOVE_FRAMES ? qw_vlq(o) : FTE_MOVE_SIZE;

	if (flags & MOVE_LOSS)
		qw_u8(o, "loss");
	if (flags & MOVE_DELAY)
		qw_u8(o, "delay");
	if (flags & MOVE_ACKS)
		acks(o);
	if (seats > VR_MOVES_MAX || frames > VR_MOVES_MAX) {
		ops_wrong(o, "more moves than there may be");
		return;
	}
	record_open_array(o->record, "usercmds");
	for (uint64_t i = 0; i < seats * frames && !reader_failed(&o->rd); i++) {
		record_open_object(o->record, NULL);
		vr_usercmd(o);
		record_close(o->record);
	}
	record_close(o->record);
}

#define NOTHING QW_HOLDS_NOTHING
#define COMMAND QW_HOLDS_COMMAND
#define MOVE	QW_HOLDS_SNAPSHOT /* the rank is the same; of clients it is a move */

const struct op qw_client_ops[256] = {
	[1] = { "nop", NULL, NOTHING },
	[3] = { "move", qw_move, MOVE },
	[4] = { "stringcmd", stringcmd, COMMAND },
	[5] = { "delta", delta, NOTHING },
	[6] = { "tmove", tmove, NOTHING },
	[7] = { "upload", upload, COMMAND },
	[50] = { "ackframe", ackframe, NOTHING },
	[81] = { "qcrequest", qw_opaque, COMMAND },
	[83] = { "voicechat", voicechat, COMMAND },
	[85] = { "fte_move", qw_fte_move, MOVE },
	[86] = { "stringcmd_seat", stringcmd_seat, COMMAND },
	[200] = { "mvd_weapon", mvd_weapon, NOTHING },
	[201] = { "mvd_debug", mvd_debug, NOTHING },
};
