// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * nq_clc.c - from the client.
 *
 *	move	[i16 (FTE) or u32 (DP7) sequence,] f32 time, three angles, i16 x3,
 *		buttons, u8 impulse [, cursor]
 *
 * Sources: Quake WinQuake/cl_input.c, sv_user.c; Quakespasm cl_input.c; darkplaces
 * cl_input.c, sv_user.c; fteqw client/cl_input.c, server/sv_user.c.
 */
#include <string.h>

#include "decode/nq/nq_tables.h"

#define BUTTONS_WEAPON (1U << 30) /* FTE: these two say that more follows */
#define BUTTONS_CURSOR (1U << 31)

void nq_op_clc_disconnect(struct ops *o)
{
	if (nq_has(nq_format_at(o), NQ_DP_REASON) && reader_left(&o->rd))
		nq_put_text(o, "text");
	o->ended = true;
}

static void move_angles(struct ops *o)
{
	const struct nq_format *f = nq_format_at(o);

	record_open_array(o->record, "angles");
	for (int i = 0; i < 3; i++) {
		double angle = f->move == NQ_MOVE_F32 ? (double)reader_f32(&o->rd)
			       : f->move == NQ_MOVE_16
				       ? (int16_t)reader_le16(&o->rd) * (360.0 / 65536)
				       : reader_i8(&o->rd) * (360.0 / 256);

		record_float(o->record, NULL, angle);
	}
	record_close(o->record);
}

/* i16 x2 of the screen, f32 x3 x2, what is under it. */
static void cursor(struct ops *o)
{
	record_open_array(o->record, "cursor_screen");
	for (int i = 0; i < 2; i++)
		record_float(o->record, NULL, (int16_t)reader_le16(&o->rd) / 32767.0);
	record_close(o->record);
	for (int i = 0; i < 2; i++) {
		record_open_array(o->record, i ? "cursor_impact" : "cursor_start");
		for (int k = 0; k < 3; k++)
			nq_put_f32(o, NULL);
		record_close(o->record);
	}
	nq_put_entity(o, "cursor_entitynumber");
}

/* The server's time that the client had last: what a ping is measured by. */
static void move_time(struct ops *o)
{
	float seconds = reader_f32(&o->rd);
	struct facts *facts = &o->record->facts;

	record_float(o->record, "time", (double)seconds);
	if (reader_failed(&o->rd) || !(seconds >= 0 && seconds < 1e9F))
		return;
	facts->has |= FACT_COMMAND_TIME;
	facts->command_us = (int64_t)((double)seconds * 1e6);
}

void nq_op_move(struct ops *o)
{
	const struct nq_format *f = nq_format_at(o);
	bool pointer = f->pext2 & NQ_PRYDONCURSOR, large = nq_has(f, NQ_DP_STATS);
	uint32_t buttons;

	if (f->pext2 & NQ_PREDINFO)
		record_uint(o->record, "sequence", reader_le16(&o->rd));
	else if (nq_has(f, NQ_DP_NUMBERS))
		nq_put_u32(o, "sequence");
	move_time(o);
	if (nq_has(f, NQ_ENHANCED))
		nq_put_u8(o, "unknown"); /* 1 in all that were seen */
	move_angles(o);
	nq_put_i16(o, "forwardmove");
	nq_put_i16(o, "sidemove");
	nq_put_i16(o, "upmove");
	buttons = pointer || large ? reader_le32(&o->rd) : reader_u8(&o->rd);
	record_uint(o->record, "buttons", buttons);
	nq_put_u8(o, "impulse");
	if (pointer && buttons & BUTTONS_WEAPON)
		nq_put_u32(o, "weapon");
	if (large || (pointer && buttons & BUTTONS_CURSOR))
		cursor(o);
}

/* The player's name, in quotes or not. */
static void note_name(struct ops *o, struct span text)
{
	static const char word[] = "name ";
	size_t n = sizeof(word) - 1;

	if (text.n <= n || memcmp(text.bytes, word, n) != 0)
		return;
	text.bytes += n;
	text.n -= n;
	while (text.n &&
	       (text.bytes[text.n - 1] == '\n' || text.bytes[text.n - 1] == ' '))
		text.n--;
	if (text.n >= 2 && text.bytes[0] == '"' && text.bytes[text.n - 1] == '"') {
		text.bytes++;
		text.n -= 2;
	}
	if (text.n)
		facts_name(&o->record->facts, text.bytes, text.n);
}

void nq_op_stringcmd(struct ops *o)
{
	note_name(o, nq_put_text(o, "text"));
}

static void nq_op_ackframe(struct ops *o)
{
	nq_put_i32(o, "frame");
}

static void nq_op_ackdownloaddata(struct ops *o)
{
	nq_put_i32(o, "start");
	nq_put_u16(o, "size");
}

static void nq_op_qcrequest(struct ops *o)
{
	ops_unknown(o, "clc_qcrequest: arguments of the game's code");
}

static void nq_op_clc_voicechat(struct ops *o)
{
	const uint8_t *bytes;
	uint16_t size;

	nq_put_u8(o, "generation");
	nq_put_u8(o, "sequence");
	size = reader_le16(&o->rd);
	bytes = reader_take(&o->rd, size);
	if (bytes)
		record_hex(o->record, "data", bytes, size);
}

#define NQ_CLC                                                                     \
	[1] = { "nop", NULL, 0 }, [2] = { "disconnect", nq_op_clc_disconnect, 0 }, \
	[3] = { "move", nq_op_move, 0 }, [4] = { "stringcmd", nq_op_stringcmd, 0 }
#define NQ_CLC_DP                                                             \
	[50] = { "ackframe", nq_op_ackframe, 0 }, [51] = { "ackdownloaddata", \
							   nq_op_ackdownloaddata, 0 }

const struct op nq_clc_id[256] = { NQ_CLC };

const struct op nq_clc_dp[256] = { NQ_CLC, NQ_CLC_DP };

static const struct op nq_clc_fte[256] = {
	NQ_CLC,
	NQ_CLC_DP,
	[81] = { "qcrequest", nq_op_qcrequest, 0 },
	[83] = { "voicechat", nq_op_clc_voicechat, 0 },
	[85] = { "fte_move", nq_op_fte_move, 0 },
};

const struct op *nq_clc_of(const struct nq_format *f)
{
	return f->pext1 || f->pext2 ? nq_clc_fte : f->dialect->clc;
}
