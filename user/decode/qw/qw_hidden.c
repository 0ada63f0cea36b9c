// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * qw_hidden.c - see qw_hidden.h.
 *
 *	{ i32 length, u16 type (FFFF: one more, of the next range), length bytes }
 *	but a pause, type 10, comes without its length: u16 10, u8 ms
 *
 * The parts of a text are kept only when the whole block is right: so an own walk, but
 * the same rule, parse, judge, commit, as in decode/message.h.
 *
 * Sources: mvdsv src/sv_demo.c; qwprot src/protocol.h; ktx src/.
 */
#include <stdlib.h>

#include "decode/qw/qw_hidden.h"
#include "decode/message.h"

#define TYPE_RANGE     0xffff
#define TYPE_DEMOINFO  3
#define TYPE_PAUSED    10
#define PAUSED_BYTES   3
#define ANTILAG_PLAYER 27
#define ROOM_MIN       4096

struct hidden {
	struct reader rd; /* of this block alone */
	struct record *r;
	const char *wrong;
};

static void u8(struct hidden *h, const char *key)
{
	record_uint(h->r, key, reader_u8(&h->rd));
}

static void i16(struct hidden *h, const char *key)
{
	record_int(h->r, key, (int16_t)reader_le16(&h->rd));
}

static void i32(struct hidden *h, const char *key)
{
	record_int(h->r, key, (int32_t)reader_le32(&h->rd));
}

static void f32(struct hidden *h, const char *key)
{
	record_float(h->r, key, (double)reader_f32(&h->rd));
}

static void f32x3(struct hidden *h, const char *key)
{
	record_open_array(h->r, key);
	for (int i = 0; i < 3; i++)
		f32(h, NULL);
	record_close(h->r);
}

static void antilag(struct hidden *h)
{
	unsigned int n;

	u8(h, "slot");
	n = reader_u8(&h->rd);
	record_uint(h->r, "sequence", reader_le32(&h->rd));
	f32(h, "server_time");
	f32(h, "target_time");
	record_open_array(h->r, "players");
	while (n-- && !reader_failed(&h->rd)) {
		unsigned int slot = reader_u8(&h->rd);

		record_open_object(h->r, NULL);
		record_uint(h->r, "slot", slot & 0x7f);
		record_bool(h->r, "client_valid", slot & 0x80);
		f32x3(h, "origin");
		u8(h, "msec");
		u8(h, "predmodel");
		f32x3(h, "client_origin");
		record_close(h->r);
	}
	record_close(h->r);
}

static void usercmd(struct hidden *h)
{
	u8(h, "slot");
	u8(h, "drop");
	u8(h, "msec");
	f32x3(h, "angles");
	i16(h, "forwardmove");
	i16(h, "sidemove");
	i16(h, "upmove");
	u8(h, "buttons");
	u8(h, "impulse");
}

static void weapons(struct hidden *h)
{
	unsigned int weapon;

	u8(h, "slot");
	record_uint(h->r, "items", reader_le32(&h->rd));
	u8(h, "shells");
	u8(h, "nails");
	u8(h, "rockets");
	u8(h, "cells");
	u8(h, "choice");
	record_open_array(h->r, "weapons");
	while ((weapon = reader_u8(&h->rd)))
		record_uint(h->r, NULL, weapon);
	record_close(h->r);
}

static void demoinfo(struct hidden *h)
{
	i16(h, "block");
	record_uint(h->r, "bytes", reader_rest(&h->rd).n);
}

static void commentary(struct hidden *h)
{
	struct span rest;

	u8(h, "track");
	rest = reader_rest(&h->rd);
	record_hex(h->r, "bytes", rest.bytes, rest.n);
}

static void damage(struct hidden *h)
{
	unsigned int type = reader_le16(&h->rd);

	record_uint(h->r, "deathtype", type & 0x7fff);
	record_bool(h->r, "splash", type & 0x8000);
	i16(h, "attacker");
	i16(h, "target");
	i16(h, "damage");
}

static void start_time(struct hidden *h)
{
	uint64_t ms = 0;

	if (reader_left(&h->rd) == 8) {
		ms = reader_le32(&h->rd);
		ms |= (uint64_t)reader_le32(&h->rd) << 32;
	} else {
		for (unsigned int shift = 0; shift < 64; shift += 7) {
			uint8_t byte = reader_u8(&h->rd);

			ms |= (uint64_t)(byte & 0x7f) << shift;
			if (!(byte & 0x80))
				break;
		}
	}
	record_uint(h->r, "start_ms", ms);
}

static void instruction(struct hidden *h)
{
	/* Servers before the number 11 put the time of the start here. */
	if (reader_left(&h->rd) == 8) {
		start_time(h);
		return;
	}
	u8(h, "slot");
	u8(h, "flags");
	i32(h, "sequence");
	i32(h, "mode");
	record_open_array(h->r, "weapons");
	for (int i = 0; i < 10; i++)
		u8(h, NULL);
	record_close(h->r);
}

static void paused(struct hidden *h)
{
	u8(h, "msec");
}

static const struct {
	const char *name;
	void (*parse)(struct hidden *h);
} types[] = {
	{ "antilag_position", antilag },
	{ "usercmd", usercmd },
	{ "usercmd_weapons", weapons },
	{ "demoinfo", demoinfo },
	{ "commentary_track", commentary },
	{ "commentary_data", commentary },
	{ "commentary_text_segment", commentary },
	{ "dmgdone", damage },
	{ "usercmd_weapons_ss", weapons },
	{ "usercmd_weapon_instruction", instruction },
	{ "paused_duration", paused },
	{ "start_time", start_time },
};

/* Bytes that a later server may have put after the known ones. */
static void more(struct hidden *h)
{
	struct span rest = reader_rest(&h->rd);

	if (reader_failed(&h->rd)) {
		h->wrong = "hidden block is not as long as it should be";
	} else if (rest.n) {
		record_hex(h->r, "rest", rest.bytes, rest.n);
		record_partial(h->r, "hidden block with more than is known");
	}
}

static void block(struct hidden *h, unsigned int type, struct span bytes)
{
	record_open_object(h->r, NULL);
	h->rd = reader_of(bytes.bytes, bytes.n);
	if (type < sizeof(types) / sizeof(*types)) {
		record_string(h->r, "op", types[type].name, strlen(types[type].name));
		types[type].parse(h);
		more(h);
	} else {
		record_string(h->r, "op", "unknown", 7);
		record_uint(h->r, "type", type);
		record_hex(h->r, "bytes", bytes.bytes, bytes.n);
		record_partial(h->r, "hidden block of an unknown type");
	}
	record_close(h->r);
}

/* The next block; false at the end or where it is wrong. */
static bool next(struct reader *rd, unsigned int *type, struct span *ret)
{
	uint32_t length;
	unsigned int word;

	if (!reader_left(rd))
		return false;
	length = reader_le32(rd);
	*type = 0;
	while ((word = reader_le16(rd)) == TYPE_RANGE)
		*type += TYPE_RANGE;
	*type += word;
	ret->n = length;
	ret->bytes = reader_take(rd, length);
	return ret->bytes != NULL;
}

/* --- the text ---------------------------------------------------------------------- */

static bool room_for(struct qw_session *s, size_t n)
{
	size_t room = s->info_room ? s->info_room : ROOM_MIN;
	uint8_t *bytes;

	if (n > QW_DEMOINFO)
		return false;
	while (room < n)
		room *= 2;
	if (room == s->info_room)
		return true;
	bytes = realloc(s->info, room);
	if (!bytes)
		return false;
	s->info = bytes;
	s->info_room = room;
	return true;
}

/* Parts count 1, 2, ... and the last is 0. */
static void text_part(struct qw_session *s, struct span bytes, struct record *r)
{
	struct reader rd = reader_of(bytes.bytes, bytes.n);
	int32_t number = (int16_t)reader_le16(&rd);
	struct span part = reader_rest(&rd);

	r->kind = "demoinfo";
	if (number && number != s->info_next + 1)
		s->info_broken = true;
	s->info_next = number;
	if (!room_for(s, s->info_n + part.n)) {
		s->info_broken = true;
	} else if (part.n) {
		memcpy(s->info + s->info_n, part.bytes, part.n);
		s->info_n += part.n;
	}
	if (number)
		return;
	if (s->info_broken)
		record_partial(r, "a part of the text is missing, or it is too long");
	else
		record_string(r, "json", s->info, s->info_n);
	s->info_n = 0;
	s->info_broken = false;
}

static void texts(struct qw_session *s, struct span bytes, struct record *r)
{
	struct reader rd = reader_of(bytes.bytes, bytes.n);
	struct span body;
	unsigned int type;

	while (next(&rd, &type, &body))
		if (type == TYPE_DEMOINFO)
			text_part(s, body, r);
}

void qw_hidden(struct qw_session *s, struct span bytes, struct record *r)
{
	struct reader rd = reader_of(bytes.bytes, bytes.n);
	struct hidden h = { .r = r };
	struct span body;
	unsigned int type;

	r->kind = "hidden";
	record_open_array(r, "ops");
	if (bytes.n == PAUSED_BYTES && reader_le16(&rd) == TYPE_PAUSED) {
		block(&h, TYPE_PAUSED, reader_rest(&rd));
		record_close(r);
		return;
	}
	rd = reader_of(bytes.bytes, bytes.n);
	while (!h.wrong && next(&rd, &type, &body))
		block(&h, type, body);
	record_close(r);
	if (reader_failed(&rd))
		h.wrong = "hidden block runs over the end";
	if (h.wrong)
		record_malformed(r, h.wrong);
	else
		texts(s, bytes, r);
}
