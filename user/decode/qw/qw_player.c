// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * qw_player.c - svc_playerinfo, as connections have it and as recordings do.
 *
 *	connection	u8 slot, u16 flags [, u8], origin, u8 frame, [u8 msec, usercmd,
 *			i16 x3 velocity, u8 model, skin, effects, weapon frame, FTE's]
 *	recording	u8 slot, u16 flags, u8 frame, [origin x3, angle16 x3, u8 model,
 *			skin, effects, weapon frame]
 *
 * Sources: Quake QW/client/cl_ents.c, QW/server/sv_ents.c; mvdsv src/sv_ents.c; fteqw
 * engine/client/cl_ents.c.
 */
#include "decode/delta.h"
#include "decode/qw/qw_message.h"

#define COORD_UNIT   (1 / 8.0)
#define ANGLE16_UNIT (360 / 65536.0)

enum player {
	P_ORIGIN,
	P_ANGLES = P_ORIGIN + 3,
	P_VELOCITY = P_ANGLES + 3,
	P_FRAME = P_VELOCITY + 3,
	P_MSEC,
	P_MODEL,
	P_SKIN,
	P_EFFECTS,
	P_WEAPONFRAME,
	P_SCALE,
	P_ALPHA,
	P_FATNESS,
	P_HULL,
	P_COLOUR,
	P_FIELDS = P_COLOUR + 3
};

#define PF_MSEC	    (1U << 0)
#define PF_COMMAND  (1U << 1)
#define PF_MODEL    (1U << 5)
#define PF_SKIN	    (1U << 6)
#define PF_DEAD	    (1U << 9)
#define PF_GIB	    (1U << 10)
#define PF_EXTRA    (1U << 15)
#define PF_ONGROUND (1U << 22)
#define PF_SOLID    (1U << 23)
#define HAS_FLOATS  (1U << 24) /* beyond the wire's: which layout origins have */
#define HAS_COORDS  (1U << 25)

#define DF_ORIGIN   (1U << 0) /* and the next two */
#define DF_ANGLES   (1U << 3) /* and the next two */
#define DF_EFFECTS  (1U << 6)
#define DF_SKIN	    (1U << 7)
#define DF_DEAD	    (1U << 8)
#define DF_GIB	    (1U << 9)
#define DF_WEAPON   (1U << 10)
#define DF_MODEL    (1U << 11)
#define DF_ALL	    0xcffU /* all of a living player */
#define DF_FLOATS   16 /* how far the origins' flags move where they are floats */

static const struct delta_row live_first[] = {
	{ "origin", HAS_COORDS, P_ORIGIN, DELTA_I16, 1, COORD_UNIT },
	{ "origin", HAS_COORDS, P_ORIGIN + 1, DELTA_I16, 2, COORD_UNIT },
	{ "origin", HAS_COORDS, P_ORIGIN + 2, DELTA_I16, 3, COORD_UNIT },
	{ "origin", HAS_FLOATS, P_ORIGIN, DELTA_F32, 1, 0 },
	{ "origin", HAS_FLOATS, P_ORIGIN + 1, DELTA_F32, 2, 0 },
	{ "origin", HAS_FLOATS, P_ORIGIN + 2, DELTA_F32, 3, 0 },
	{ "frame", 0, P_FRAME, DELTA_U8, 0, 0 },
	{ "msec", PF_MSEC, P_MSEC, DELTA_U8, 0, 0 },
};

static const struct delta_row live_then[] = {
	{ "velocity", 1U << 2, P_VELOCITY, DELTA_I16, 1, 0 },
	{ "velocity", 1U << 3, P_VELOCITY + 1, DELTA_I16, 2, 0 },
	{ "velocity", 1U << 4, P_VELOCITY + 2, DELTA_I16, 3, 0 },
	{ "modelindex", PF_MODEL, P_MODEL, DELTA_U8, 0, 0 },
	{ "skinnum", PF_SKIN, P_SKIN, DELTA_U8, 0, 0 },
	{ "effects", 1U << 7, P_EFFECTS, DELTA_U8, 0, 0 },
	{ "weaponframe", 1U << 8, P_WEAPONFRAME, DELTA_U8, 0, 0 },
};

/* Their flags are only there where the extension is. */
static const struct delta_row live_fte[] = {
	{ "scale", 1U << 16, P_SCALE, DELTA_U8, 0, 0 },
	{ "alpha", 1U << 17, P_ALPHA, DELTA_U8, 0, 0 },
	{ "fatness", 1U << 18, P_FATNESS, DELTA_I8, 0, 0 },
	{ "hull", 1U << 14, P_HULL, DELTA_U8, 0, 0 },
	{ "colormod", 1U << 19, P_COLOUR, DELTA_U8, 1, 0 },
	{ "colormod", 1U << 19, P_COLOUR + 1, DELTA_U8, 2, 0 },
	{ "colormod", 1U << 19, P_COLOUR + 2, DELTA_U8, 3, 0 },
};

#define RECORDING_ORIGIN(lane)                                                  \
	{ "origin",  DF_ORIGIN << (lane), P_ORIGIN + (lane),                    \
	  DELTA_I16, (lane) + 1,	  COORD_UNIT },                         \
	{                                                                       \
		"origin", DF_ORIGIN << (DF_FLOATS + (lane)), P_ORIGIN + (lane), \
			DELTA_F32, (lane) + 1, 0                                \
	}
#define RECORDING_ANGLE(lane)                                                            \
	{                                                                                \
		"angles", DF_ANGLES << (lane), P_ANGLES + (lane), DELTA_I16, (lane) + 1, \
			ANGLE16_UNIT                                                     \
	}

static const struct delta_row recording[] = {
	{ "frame", 0, P_FRAME, DELTA_U8, 0, 0 },
	RECORDING_ORIGIN(0),
	RECORDING_ORIGIN(1),
	RECORDING_ORIGIN(2),
	RECORDING_ANGLE(0),
	RECORDING_ANGLE(1),
	RECORDING_ANGLE(2),
	{ "modelindex", DF_MODEL, P_MODEL, DELTA_U8, 0, 0 },
	{ "skinnum", DF_SKIN, P_SKIN, DELTA_U8, 0, 0 },
	{ "effects", DF_EFFECTS, P_EFFECTS, DELTA_U8, 0, 0 },
	{ "weaponframe", DF_WEAPON, P_WEAPONFRAME, DELTA_U8, 0, 0 },
};

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))

static void flags_record(struct ops *o, uint32_t flags, uint32_t dead, uint32_t gib)
{
	record_uint(o->record, "flags", flags & 0xffffff);
	record_bool(o->record, "dead", flags & dead);
	record_bool(o->record, "gib", flags & gib);
}

static uint32_t live_flags(struct ops *o)
{
	const struct qw_terms *t = &qw_parse_of(o)->terms;
	uint32_t flags = reader_le16(&o->rd);

	if (!(t->fte & (QW_FTE_HULLSIZE | QW_FTE_TRANS | QW_FTE_SCALE | QW_FTE_FATNESS)))
		return (flags & 0x3fff) | (flags & 0xc000) << 8;
	if (flags & PF_EXTRA)
		flags |= (uint32_t)reader_u8(&o->rd) << 16;
	return flags;
}

/* The flags of the fields that are there. */
static uint32_t fte_flags(const struct qw_terms *t, uint32_t flags)
{
	return flags & ((t->fte & QW_FTE_SCALE ? 1U << 16 : 0) |
			(t->fte & QW_FTE_TRANS ? 1U << 17 : 0) |
			(t->fte & QW_FTE_FATNESS ? 1U << 18 : 0) |
			(t->fte & QW_FTE_HULLSIZE ? 1U << 14 : 0) |
			(t->fte & QW_FTE_COLOURMOD ? 1U << 19 : 0));
}

static void weapon_prediction(struct ops *o)
{
	if (!qw_u8(o, "weaponprediction"))
		return;
	qw_u8(o, "impulse");
	qw_i16(o, "weapon");
	qw_f32(o, "client_time");
	qw_f32(o, "attack_finished");
	qw_f32(o, "client_nextthink");
	qw_u8(o, "client_thinkindex");
	qw_u8(o, "client_ping");
	qw_u8(o, "client_predflags");
	qw_u8(o, "ammo_shells");
	qw_u8(o, "ammo_nails");
	qw_u8(o, "ammo_rockets");
	qw_u8(o, "ammo_cells");
}

static void live(struct ops *o)
{
	const struct qw_terms *t = &qw_parse_of(o)->terms;
	uint32_t flags = live_flags(o), fte;
	bool floats = t->fte & QW_FTE_FLOATCOORDS || t->mvd & QW_MVD_FLOATCOORDS;
	uint32_t first = flags | (floats ? HAS_FLOATS : HAS_COORDS);
	int32_t state[P_FIELDS] = { 0 }, command[QW_CMD_FIELDS] = { 0 };
	unsigned int bits = 0;

	flags_record(o, flags, PF_DEAD, PF_GIB);
	delta_read(&o->rd, live_first, COUNT(live_first), first, state);
	delta_record(o->record, live_first, COUNT(live_first), first, state);
	if (flags & PF_COMMAND) {
		bits = qw_usercmd_read(&o->rd, t->protocol, command);
		qw_usercmd_record(o->record, "command", t->protocol, bits, command);
	}
	delta_read(&o->rd, live_then, COUNT(live_then), flags, state);
	if ((flags & (PF_MODEL | PF_SKIN)) == (PF_MODEL | PF_SKIN) && t->fte &&
	    state[P_SKIN] & 0x80) {
		state[P_SKIN] &= 0x7f;
		state[P_MODEL] += 256;
	}
	delta_record(o->record, live_then, COUNT(live_then), flags, state);
	if (t->mvd & QW_MVD_WEAPONPREDICTION)
		weapon_prediction(o);
	fte = fte_flags(t, flags);
	if (!fte)
		return;
	delta_read(&o->rd, live_fte, COUNT(live_fte), fte, state);
	delta_record(o->record, live_fte, COUNT(live_fte), fte, state);
}

/*
 * Return true if the state of a player is known after a difference that brings @flags,
 * and, when the message is committed, note whether the first player on this map came as a
 * whole. Recorders write all players as a whole when a map begins: if the first that was
 * seen is not whole, that block is missing.
 */
static bool is_followed(struct ops *o, uint32_t flags)
{
	const struct qw_session *s = qw_parse_of(o)->session;
	struct qw_session *to = qw_committing(o);
	struct qw_game *g = to ? qw_session_game(to) : NULL;
	bool whole = (flags & DF_ALL) == DF_ALL;
	const struct qw_frame *newest = NULL;

	if (!s)
		return true;
	if (g && !g->players_seen) {
		g->players_seen = true;
		g->players_whole = whole;
	}
	if (s->game)
		newest = &s->game->frames[s->game->newest % QW_FRAMES];
	return s->join.map.known && (!newest || !newest->stored || newest->whole) &&
	       (whole || (s->game && s->game->players_whole));
}

/* A difference to the player's last state. */
static void recorded(struct ops *o)
{
	const struct qw_terms *t = &qw_parse_of(o)->terms;
	uint32_t flags = reader_le16(&o->rd), has = flags;
	int32_t state[P_FIELDS];

	if (!is_followed(o, flags))
		message_missing(o->m, "a player's state was not seen as a whole");
	if (t->fte & QW_FTE_FLOATCOORDS || t->mvd & QW_MVD_FLOATCOORDS)
		has = (flags & ~7U) | (flags & 7) << DF_FLOATS;
	flags_record(o, flags, DF_DEAD, DF_GIB);
	delta_read(&o->rd, recording, COUNT(recording), has, state);
	delta_record(o->record, recording, COUNT(recording), has, state);
}

void qw_playerinfo(struct ops *o)
{
	qw_lean(o);
	qw_slot(o);
	o->record->facts.has |= FACT_SNAPSHOT;
	if (qw_parse_of(o)->terms.recording)
		recorded(o);
	else
		live(o);
}
