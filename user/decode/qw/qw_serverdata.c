// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * qw_serverdata.c - svc_serverdata: what a game begins with, and which layouts hold.
 *
 *	{ u32 "FTEX" | "FTE2" | "MVD1", u32 mask },
 *	{ u32 "v,l,e,n", u32 key, u32 n, n bytes },
 *	i32 protocol, i32 server count, str gamedir, player, str level,
 *	f32 x10 (from 25 on)
 *
 * Sources: Quake QW/client/cl_parse.c; mvdsv src/sv_user.c; fteqw
 * engine/client/cl_parse.c.
 */
#include "decode/qw/qw_message.h"

#define ID_FTE		0x58455446U
#define ID_FTE2		0x32455446U
#define ID_MVD		0x3144564dU
#define ID_VARIABLE	0x6e656c76U
#define VARIABLE_MAX	1024

#define PROTOCOL_OLDEST 24
#define PROTOCOL_LIVE	28
#define PROTOCOL_FLOATS 25 /* from here on the ten numbers follow */
#define EXTENSIONS_MAX	16
#define SEATS_MAX	4
#define SEATS_END	128
#define SPECTATOR	0x80

static bool extension(struct ops *o, uint32_t id, struct qw_terms *t)
{
	uint32_t *mask = id == ID_FTE ? &t->fte : id == ID_FTE2 ? &t->fte2 : &t->mvd;
	uint32_t n;

	if (id == ID_VARIABLE) {
		qw_i32(o, "key");
		n = reader_le32(&o->rd);
		if (n > VARIABLE_MAX)
			ops_wrong(o, "extension longer than it may be");
		else
			qw_bytes(o, n);
		return true;
	}
	if (id != ID_FTE && id != ID_FTE2 && id != ID_MVD)
		return false;
	*mask = reader_le32(&o->rd);
	record_uint(o->record,
		    id == ID_FTE    ? "FTEX"
		    : id == ID_FTE2 ? "FTE2"
				    : "MVD1",
		    *mask);
	return true;
}

static void player(struct ops *o, const struct qw_terms *t, unsigned int *ret)
{
	unsigned int seats = 1, slot = 0;

	if (t->recording) {
		if (t->fte2 & QW_FTE2_MAXPLAYERS)
			qw_u8(o, "maxclients");
		qw_time(o, FACT_TIME);
		return;
	}
	if (t->fte2 & QW_FTE2_MAXPLAYERS) {
		qw_u8(o, "maxclients");
		seats = reader_u8(&o->rd);
		if (!(t->fte2 & QW_FTE2_VRINPUTS)) {
			record_bool(o->record, "spectator", seats & SPECTATOR);
			seats &= ~(unsigned int)SPECTATOR;
		}
	} else if (t->fte & QW_FTE_SPLITSCREEN) {
		seats = SEATS_MAX + 1;
	}
	if (seats == 1) {
		slot = reader_u8(&o->rd);
		record_uint(o->record, "slot", slot & ~(unsigned int)SPECTATOR);
		if (!(t->fte2 & QW_FTE2_MAXPLAYERS))
			record_bool(o->record, "spectator", slot & SPECTATOR);
		*ret = slot & ~(unsigned int)SPECTATOR;
		return;
	}
	if (seats > SEATS_MAX && !(t->fte & QW_FTE_SPLITSCREEN)) {
		ops_wrong(o, "more seats than there may be");
		return;
	}
	record_open_array(o->record, "slots");
	for (unsigned int i = 0; i < seats; i++) {
		slot = reader_u8(&o->rd);
		if (slot == SEATS_END && !(t->fte2 & QW_FTE2_MAXPLAYERS))
			break;
		if (i == SEATS_MAX) {
			ops_wrong(o, "more seats than there may be");
			break;
		}
		if (!i)
			*ret = slot & ~(unsigned int)SPECTATOR;
		record_uint(o->record, NULL, slot);
	}
	record_close(o->record);
}

static void begin(struct ops *o, const struct qw_terms *t, uint32_t count,
		  unsigned int slot)
{
	struct qw_session *s = qw_committing(o);

	qw_parse_of(o)->terms = *t;
	qw_parse_of(o)->has_frame = false;
	if (!s)
		return;
	/* The repeat of a reliable one must not take anything away. */
	if (!s->terms.protocol || s->servercount != count || !s->join.map.known) {
		if (s->game)
			memset(s->game, 0, sizeof(*s->game));
		evidence_join_begin(&s->join, o->m->sequence);
		evidence_begin(&s->updates, o->m->sequence);
	}
	s->terms = *t;
	s->servercount = count;
	s->slot = (uint8_t)slot;
	s->has_slot = !t->recording;
}

void qw_serverdata(struct ops *o)
{
	static const char *const numbers[] = {
		"gravity",	 "stopspeed",	  "maxspeed",	     "spectatormaxspeed",
		"accelerate",	 "airaccelerate", "wateraccelerate", "friction",
		"waterfriction", "entgravity",
	};
	struct qw_terms t = { .recording = qw_parse_of(o)->terms.recording };
	uint32_t id = reader_le32(&o->rd), count;
	unsigned int slot = 0;

	for (int i = 0; i < EXTENSIONS_MAX && extension(o, id, &t); i++)
		id = reader_le32(&o->rd);
	record_uint(o->record, "protocol", id);
	if (reader_failed(&o->rd) || o->m->wrong)
		return;
	if (id < PROTOCOL_OLDEST || id > PROTOCOL_LIVE) {
		ops_wrong(o, "no such protocol");
		return;
	}
	t.protocol = (uint8_t)id;
	count = (uint32_t)qw_i32(o, "servercount");
	qw_text(o, "gamedir");
	player(o, &t, &slot);
	qw_text(o, "levelname");
	for (size_t i = 0;
	     id >= PROTOCOL_FLOATS && i < sizeof(numbers) / sizeof(*numbers); i++)
		qw_f32(o, numbers[i]);
	if (!reader_failed(&o->rd))
		begin(o, &t, count, slot);
}
