// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * q2_move.c - what a player does: three commands, each a difference to the one before.
 *
 *	move		[34: u8 checksum], i32 lastframe, 3 commands, oldest first
 *	move_batched	i32 lastframe, u8 lightlevel, bits: frames of commands
 *	move_nodelta	the same without a lastframe
 *
 * The checksum covers what stands between it and the end of the third command, and the
 * datagram's sequence. A server ignores what follows a wrong one.
 *
 * Sources: Quake-2 client/cl_input.c, server/sv_user.c, qcommon/common.c, crc.c; r1q2
 * qcommon/common.c; q2pro src/common/msg.c, src/server/user.c.
 */
#include "decode/q2/q2_message.h"
#include "lib/crc16.h"

#define COMMANDS      3
#define CHECKED_MAX   60
#define CHECK_MODULUS 1020
#define COMPACT_MINOR 1904
#define TURN	      (360.0 / 65536)
/*
 * Values that clients send: attack, use, any; 512 units a second is what 36's commands
 * have room for; a server takes 250 ms at most.
 */
#define BUTTONS_USED 0x83
#define SPEED_MAX    512
#define MSEC_MAX     250

enum command_word {
	ANGLES,
	FORWARDMOVE = 3,
	SIDEMOVE,
	UPMOVE,
	BUTTONS,
	IMPULSE,
	MSEC,
	LIGHTLEVEL,
	COMMAND_WORDS
};

static const struct delta_row rows[] = {
	{ "angles", 1, ANGLES, DELTA_I16, 1, TURN },
	{ "angles", 2, ANGLES + 1, DELTA_I16, 2, TURN },
	{ "angles", 4, ANGLES + 2, DELTA_I16, 3, TURN },
	{ "forwardmove", 8, FORWARDMOVE, DELTA_I16, 0, 0 },
	{ "sidemove", 16, SIDEMOVE, DELTA_I16, 0, 0 },
	{ "upmove", 32, UPMOVE, DELTA_I16, 0, 0 },
	{ "buttons", 64, BUTTONS, DELTA_U8, 0, 0 },
	{ "impulse", 128, IMPULSE, DELTA_U8, 0, 0 },
	{ "msec", 0, MSEC, DELTA_U8, 0, 0 },
	{ "lightlevel", 0, LIGHTLEVEL, DELTA_U8, 0, 0 },
};

#define ROWS 10

uint8_t q2_move_checksum(struct span body, uint32_t sequence)
{
	const uint8_t *table = q2_move_table + sequence % CHECK_MODULUS;
	size_t n = body.n < CHECKED_MAX ? body.n : CHECKED_MAX;
	uint16_t crc = CRC16_BEGIN;
	unsigned int sum = 0;

	for (size_t i = 0; i < n + 4; i++) {
		uint8_t byte = i < n ? body.bytes[i] : table[i - n];

		sum += byte;
		crc = crc16_step(crc, byte);
	}
	return (uint8_t)(crc ^ sum);
}

static bool is_fast(int32_t speed)
{
	return speed < -SPEED_MAX || speed > SPEED_MAX;
}

/* Shown whole: what it took over from the one before too. */
static void record_command(struct ops *o, const int32_t *command)
{
	record_open_object(o->record, NULL);
	delta_record(o->record, rows, ROWS, ~0ULL, command);
	record_close(o->record);
	q2_odd(o, command[BUTTONS] & ~BUTTONS_USED || command[MSEC] > MSEC_MAX ||
			  is_fast(command[FORWARDMOVE]) || is_fast(command[SIDEMOVE]) ||
			  is_fast(command[UPMOVE]));
}

/* A byte of @unit if @small, else the whole. */
static int32_t compact(struct reader *rd, bool small, int unit)
{
	return small ? (int16_t)(reader_i8(rd) * unit) : (int16_t)reader_le16(rd);
}

static void read_compact(struct reader *rd, int32_t *c)
{
	uint8_t mask = reader_u8(rd), buttons = mask & 64 ? reader_u8(rd) : 0;

	if (mask & 64)
		c[BUTTONS] = buttons & 0x83;
	if (mask & 1)
		c[ANGLES] = compact(rd, buttons & 0x20, 64);
	if (mask & 2)
		c[ANGLES + 1] = compact(rd, buttons & 0x40, 256);
	if (mask & 4)
		c[ANGLES + 2] = compact(rd, false, 1);
	if (mask & 8)
		c[FORWARDMOVE] = compact(rd, buttons & 4, 5);
	if (mask & 16)
		c[SIDEMOVE] = compact(rd, buttons & 8, 5);
	if (mask & 32)
		c[UPMOVE] = compact(rd, buttons & 16, 5);
	if (mask & 128)
		c[IMPULSE] = reader_u8(rd);
	c[MSEC] = reader_u8(rd);
	c[LIGHTLEVEL] = reader_u8(rd);
}

static void once(struct ops *o)
{
	struct q2_parse *p = q2_of(o);

	if (p->moved)
		ops_wrong(o, "two moves in one message");
	p->moved = true;
}

/* A frame that it has, not the time that it draws: no fact of what it sees. */
static void parse_lastframe(struct ops *o)
{
	int32_t last = (int32_t)reader_le32(&o->rd);

	record_int(o->record, "lastframe", last);
	if (last < -1)
		ops_wrong(o, "last frame below -1");
}

void q2_parse_move(struct ops *o)
{
	struct q2_parse *p = q2_of(o);
	const struct q2_dialect *d = &p->dialect;
	int32_t command[COMMAND_WORDS] = { 0 };
	uint8_t sum = d->enhanced ? 0 : reader_u8(&o->rd);
	struct span body = { o->rd.pos, 0 };

	once(o);
	if (!d->enhanced)
		record_uint(o->record, "checksum", sum);
	parse_lastframe(o);
	record_open_array(o->record, "usercmds");
	for (int i = 0; i < COMMANDS; i++) {
		if (d->enhanced && !d->q2pro && d->minor >= COMPACT_MINOR)
			read_compact(&o->rd, command);
		else
			delta_read(&o->rd, rows, ROWS, reader_u8(&o->rd), command);
		record_command(o, command);
	}
	record_close(o->record);
	if (d->enhanced || reader_failed(&o->rd))
		return;
	body.n = (size_t)(o->rd.pos - body.bytes);
	p->checked = true;
	p->right = q2_move_checksum(body, p->sequence) == sum;
	record_bool(o->record, "checksum_valid", p->right);
	if (!p->right)
		message_missing(o->m, "wrong checksum: the server reads no further");
}

/* A bit stream, the lowest bit first. */
struct bits {
	struct reader *rd;
	uint32_t held;
	unsigned int n;
};

static uint32_t take(struct bits *b, unsigned int n)
{
	uint32_t value;

	while (b->n < n) {
		b->held |= (uint32_t)reader_u8(b->rd) << b->n;
		b->n += 8;
	}
	value = b->held & ((1U << n) - 1);
	b->held >>= n;
	b->n -= n;
	return value;
}

static int32_t take_signed(struct bits *b, unsigned int n)
{
	return (int32_t)(take(b, n) << (32 - n)) >> (32 - n);
}

static void take_angle(struct bits *b, int32_t *angle)
{
	if (take(b, 1))
		*angle = (int16_t)(*angle + take_signed(b, 8));
	else
		*angle = take_signed(b, 16);
}

/*
 * Read one command, a difference to the one in @c, over it. Called by parse_batch() for
 * each command of a batch. A value that the command does not name stays, so @c must last
 * over the batch. Reading past the end fails @b's reader.
 */
static void take_command(struct bits *b, int32_t *c)
{
	uint32_t mask, buttons;

	if (!take(b, 1))
		return;
	mask = take(b, 8);
	if (mask & 1)
		take_angle(b, &c[ANGLES]);
	if (mask & 2)
		take_angle(b, &c[ANGLES + 1]);
	if (mask & 4)
		c[ANGLES + 2] = take_signed(b, 16);
	for (unsigned int i = 0; i < 3; i++)
		if (mask & 8U << i)
			c[FORWARDMOVE + i] = take_signed(b, 10);
	if (mask & 64) {
		buttons = take(b, 3);
		c[BUTTONS] = (int32_t)((buttons & 3) | (buttons & 4) << 5);
	}
	if (mask & 128)
		c[MSEC] = (int32_t)take(b, 8);
}

static void parse_batch(struct ops *o)
{
	int32_t command[COMMAND_WORDS] = { 0 };
	struct bits b = { .rd = &o->rd };

	record_uint(o->record, "duplicates", o->code >> 5);
	command[LIGHTLEVEL] = reader_u8(&o->rd);
	record_open_array(o->record, "frames");
	for (int frame = 0; frame <= o->code >> 5; frame++) {
		uint32_t count = take(&b, 5);

		record_open_array(o->record, NULL);
		for (uint32_t i = 0; i < count && !reader_failed(&o->rd); i++) {
			take_command(&b, command);
			record_command(o, command);
		}
		record_close(o->record);
	}
	record_close(o->record);
	if (b.held)
		ops_wrong(o, "bits behind the last command");
}

void q2_parse_move_batched(struct ops *o)
{
	once(o);
	parse_lastframe(o);
	parse_batch(o);
}

void q2_parse_move_nodelta(struct ops *o)
{
	once(o);
	parse_batch(o);
}
