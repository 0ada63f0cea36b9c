// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * nq_svc.c - from the server: texts, numbers, the signon; and the tables of all ops.
 *
 * Sources: Quake WinQuake/cl_parse.c; Quakespasm cl_parse.c; darkplaces cl_parse.c,
 * protocol.h; fteqw client/cl_parse.c.
 */
#include <string.h>

#include "decode/nq/nq_tables.h"

#define FTEX	    0x58455446U /* "FTEX" */
#define FTE2	    0x32455446U
#define PAIRS_MAX   4
#define STATS_OF_ID 32
#define SIGNONS	    4

static bool has_prefix(struct span s, const char *prefix)
{
	return s.n >= strlen(prefix) && !memcmp(s.bytes, prefix, strlen(prefix));
}

static bool has_text(struct span s, const char *text)
{
	return s.n && memmem(s.bytes, s.n, text, strlen(text));
}

/* The walk has learnt something that the state is to keep. */
static void teaches(struct ops *o)
{
	o->m->stateful = true;
}

/* Nothing follows it. */
void nq_op_disconnect(struct ops *o)
{
	if (nq_has(nq_format_at(o), NQ_DP_REASON) && reader_left(&o->rd))
		nq_put_text(o, "text");
	o->ended = true;
}

void nq_op_updatestat(struct ops *o)
{
	uint8_t index = reader_u8(&o->rd);
	const struct nq_format *f = nq_format_at(o);

	record_uint(o->record, "stat", index);
	nq_put_i32(o, "value");
	/* Quakespasm-Spiked has as many in 666 and 999. */
	if (index >= STATS_OF_ID && !nq_has(f, NQ_DP | NQ_QUAKEDP | NQ_FITZ) &&
	    !f->pext1 && !f->pext2)
		ops_wrong(o, "no such stat");
}

static void nq_op_updatestatbyte(struct ops *o)
{
	nq_put_u8(o, "stat");
	nq_put_u8(o, "value");
}

static void nq_op_updatestatstring(struct ops *o)
{
	nq_put_u8(o, "stat");
	nq_put_text(o, "text");
}

static void nq_op_updatestatfloat(struct ops *o)
{
	nq_put_u8(o, "stat");
	nq_put_f32(o, "value");
}

void nq_op_version(struct ops *o)
{
	nq_put_i32(o, "protocol");
}

/* The first after a serverinfo is the player's own entity: slot + 1. */
void nq_op_setview(struct ops *o)
{
	struct nq_walk *w = nq_walk_of(o);
	uint32_t number = nq_entity(&o->rd, &w->format);

	record_uint(o->record, "number", number);
	if (w->has_view || number > UINT16_MAX)
		return;
	w->has_view = true;
	w->view = (uint16_t)number;
	teaches(o);
}

/* The time that each move of the client gives back, bit for bit. */
void nq_op_time(struct ops *o)
{
	float seconds = reader_f32(&o->rd);
	struct facts *facts = &o->record->facts;

	record_float(o->record, "time", (double)seconds);
	if (nq_format_at(o)->pext2 & NQ_PREDINFO)
		nq_put_u16(o, "move_ack");
	if (reader_failed(&o->rd) || !(seconds >= 0 && seconds < 1e9F))
		return;
	facts->has |= FACT_SNAPSHOT | FACT_TIME;
	facts->time_us = (int64_t)((double)seconds * 1e6);
	/* The clock of another map, which began unseen. */
	if (nq_walk_of(o)->game && facts->time_us < nq_walk_of(o)->game->clock_us)
		nq_walk_of(o)->based = false;
}

void nq_op_text(struct ops *o)
{
	nq_put_text(o, "text");
}

void nq_op_print(struct ops *o)
{
	struct nq_walk *w = nq_walk_of(o);
	struct span text = nq_put_text(o, "text");
	uint8_t code = has_prefix(text, "\nServer: Nexuiz build")    ? NQ_CODE_NEXUIZ
		       : has_prefix(text, "\nServer: Xonotic build") ? NQ_CODE_XONOTIC
								     : w->code;

	if (code == w->code)
		return;
	w->code = code;
	teaches(o);
}

void nq_op_stufftext(struct ops *o)
{
	struct nq_walk *w = nq_walk_of(o);
	struct span text = nq_put_text(o, "text");

	if (w->private_code || !has_text(text, "csqc_progcrc"))
		return;
	w->private_code = true;
	teaches(o);
}

void nq_op_setangle(struct ops *o)
{
	nq_put_angles(o, "angles");
}

static void nq_op_setangledelta(struct ops *o)
{
	record_open_array(o->record, "angles");
	for (int i = 0; i < 3; i++)
		record_float(o->record, NULL, nq_angle16(&o->rd, nq_format_at(o)));
	record_close(o->record);
}

static void nq_op_setanglebase(struct ops *o)
{
	static const char *const keys[] = { "pitch", "yaw", "roll" };
	uint8_t flags = reader_u8(&o->rd);

	record_uint(o->record, "flags", flags);
	for (unsigned int i = 0; i < 3; i++)
		if (flags >> i & 1)
			record_float(o->record, keys[i],
				     (int16_t)reader_le16(&o->rd) * (360.0 / 65536));
}

/* --- svc_serverinfo ---------------------------------------------------------------- */

static void note_map(struct ops *o, struct span model)
{
	if (has_prefix(model, "maps/")) {
		model.bytes += 5;
		model.n -= 5;
	}
	if (model.n > 4 && !memcmp(model.bytes + model.n - 4, ".bsp", 4))
		model.n -= 4;
	facts_map(&o->record->facts, model.bytes, model.n);
}

/* Texts up to an empty one; the first of the models is the map. */
static void precaches(struct ops *o, const char *key, bool models)
{
	bool first = models;
	struct span s;

	record_open_array(o->record, key);
	for (;;) {
		s = reader_string(&o->rd);
		if (reader_failed(&o->rd) || !s.n)
			break;
		record_string(o->record, NULL, s.bytes, s.n);
		if (first)
			note_map(o, s);
		first = false;
	}
	record_close(o->record);
}

/* FTE's extensions stand in front of the protocol's number. */
static uint32_t extensions(struct ops *o, uint32_t *pext1, uint32_t *pext2)
{
	uint32_t value = reader_le32(&o->rd);

	for (int i = 0; i < PAIRS_MAX && (value == FTEX || value == FTE2); i++) {
		uint32_t mask = reader_le32(&o->rd);

		*(value == FTEX ? pext1 : pext2) = mask;
		record_uint(o->record, value == FTEX ? "pext1" : "pext2", mask);
		value = reader_le32(&o->rd);
	}
	return value;
}

void nq_op_serverinfo(struct ops *o)
{
	struct nq_walk *w = nq_walk_of(o);
	uint32_t pext1 = 0, pext2 = 0, flags = 0;
	uint32_t protocol = extensions(o, &pext1, &pext2);
	uint8_t gametype;

	record_uint(o->record, "protocol", protocol);
	if (protocol == 999) {
		flags = reader_le32(&o->rd);
		record_uint(o->record, "flags", flags);
	}
	if (reader_failed(&o->rd))
		return;
	if (!nq_walk_protocol(w, protocol, flags, pext1, pext2)) {
		ops_unknown(o, "serverinfo names an unknown protocol");
		return;
	}
	o->table = nq_svc_of(&w->format);
	teaches(o);
	if (pext2 & NQ_PREDINFO)
		nq_put_text(o, "gamedir");
	w->maxclients = reader_u8(&o->rd);
	record_uint(o->record, "maxclients", w->maxclients);
	if (!w->maxclients && !reader_failed(&o->rd))
		ops_wrong(o, "a server of no clients");
	if (nq_has(&w->format, NQ_ENHANCED))
		nq_put_text(o, "gamedir");
	gametype = reader_u8(&o->rd);
	record_uint(o->record, "gametype", gametype);
	/* A text that stands there is that of a game without a directory. */
	if (nq_has(&w->format, NQ_ENHANCED) && gametype >= ' ')
		ops_wrong(o, "no such type of game");
	nq_put_text(o, "levelname");
	precaches(o, "models", true);
	precaches(o, "sounds", false);
}

void nq_op_signonnum(struct ops *o)
{
	struct nq_walk *w = nq_walk_of(o);
	uint8_t stage = reader_u8(&o->rd);

	record_uint(o->record, "signon", stage);
	if (reader_failed(&o->rd))
		return;
	if (!stage || stage > SIGNONS || stage <= w->signon) {
		ops_wrong(o, "signon does not go forward");
		return;
	}
	/* The messages before the second stage have the baselines. */
	if (stage == 2)
		w->based = w->signon == 1;
	else if (stage != w->signon + 1)
		w->based = false;
	w->signon = stage;
	teaches(o);
}

/* --- players, styles, screens ------------------------------------------------------ */

void nq_op_lightstyle(struct ops *o)
{
	const struct nq_format *f = nq_format_at(o);
	uint8_t index = reader_u8(&o->rd);

	record_uint(o->record, "style", index);
	nq_put_text(o, "text");
	if (index >= 64 && !nq_has(f, NQ_DP | NQ_QUAKEDP) && !f->pext1 && !f->pext2)
		ops_wrong(o, "no such light style");
}

void nq_op_updatename(struct ops *o)
{
	const struct nq_walk *w = nq_walk_of(o);
	uint8_t slot = nq_put_slot(o);
	struct span name = nq_put_text(o, "name");

	if (w->has_view && slot + 1 == w->view && name.n)
		facts_name(&o->record->facts, name.bytes, name.n);
}

void nq_op_updatefrags(struct ops *o)
{
	nq_put_slot(o);
	nq_put_i16(o, "frags");
}

void nq_op_updatecolors(struct ops *o)
{
	uint8_t colors;

	nq_put_slot(o);
	colors = reader_u8(&o->rd);
	record_uint(o->record, "colors", colors);
	record_uint(o->record, "shirt", colors >> 4);
	record_uint(o->record, "pants", colors & 15);
}

void nq_op_setpause(struct ops *o)
{
	nq_put_u8(o, "paused");
}

void nq_op_cdtrack(struct ops *o)
{
	nq_put_u8(o, "track");
	nq_put_u8(o, "loop");
}

/* Nehahra's places are bytes; all other games of DarkPlaces have wider ones. */
static void nq_op_showpic(struct ops *o)
{
	nq_put_text(o, "name");
	nq_put_text(o, "pic");
	if (nq_has(nq_format_at(o), NQ_DP | NQ_QUAKEDP)) {
		nq_put_i16(o, "x");
		nq_put_i16(o, "y");
		return;
	}
	nq_put_u8(o, "x");
	nq_put_u8(o, "y");
}

static void nq_op_hidepic(struct ops *o)
{
	nq_put_text(o, "name");
}

static void color_bytes(struct ops *o)
{
	record_open_array(o->record, "color");
	for (int i = 0; i < 3; i++)
		nq_put_u8(o, NULL);
	record_close(o->record);
}

void nq_op_fog(struct ops *o)
{
	record_float(o->record, "density", reader_u8(&o->rd) / 255.0);
	color_bytes(o);
	record_float(o->record, "time", (int16_t)reader_le16(&o->rd) / 100.0);
}

static void nq_op_fog_nehahra(struct ops *o)
{
	uint8_t enable = reader_u8(&o->rd);

	record_uint(o->record, "enable", enable);
	if (!enable)
		return;
	nq_put_f32(o, "density");
	color_bytes(o);
}

static void nq_op_skyboxsize(struct ops *o)
{
	nq_put_coord(o, "size");
}

/* --- what the edition of 2021 added ------------------------------------------------ */

void nq_op_achievement(struct ops *o)
{
	nq_put_text(o, "id");
}

void nq_op_localsound(struct ops *o)
{
	uint8_t mask = reader_u8(&o->rd);

	record_uint(o->record, "mask", mask);
	record_uint(o->record, "sound",
		    mask & 0x10 ? reader_le16(&o->rd) : reader_u8(&o->rd));
}

/* --- what DarkPlaces and FTE added ------------------------------------------------- */

static void nq_op_downloaddata(struct ops *o)
{
	const uint8_t *bytes;
	uint16_t size;

	nq_put_i32(o, "start");
	size = reader_le16(&o->rd);
	bytes = reader_take(&o->rd, size);
	record_uint(o->record, "size", size);
	if (bytes)
		record_hex(o->record, "data", bytes, size);
}

/* Up to DP3 the number was that of another sound message. */
static void nq_op_precache(struct ops *o)
{
	static const char *const kinds[] = { "model", "particle", "sound", "unknown" };
	const char *kind;
	uint16_t code;

	if (nq_has(nq_format_at(o), NQ_DP_SOUND2)) {
		nq_op_sound(o);
		return;
	}
	code = reader_le16(&o->rd);
	kind = kinds[code >> 14];
	record_string(o->record, "type", kind, strlen(kind));
	record_uint(o->record, "index", code & 0x3fff);
	nq_put_text(o, "name");
	if (code >> 14 == 3)
		ops_wrong(o, "precache of no known type");
}

static void nq_op_voicechat(struct ops *o)
{
	const uint8_t *bytes;
	uint8_t codec;
	uint16_t size;

	nq_put_u8(o, "slot");
	codec = reader_u8(&o->rd);
	record_uint(o->record, "codec", codec >> 4);
	record_uint(o->record, "generation", codec & 15);
	nq_put_u8(o, "sequence");
	size = reader_le16(&o->rd);
	bytes = reader_take(&o->rd, size);
	if (bytes)
		record_hex(o->record, "data", bytes, size);
}

/* --- the tables -------------------------------------------------------------------- */

#define NQ_SVC                                                       \
	NQ_SVC_SHARED, [2] = { "disconnect", nq_op_disconnect, 0 },  \
		       [11] = { "serverinfo", nq_op_serverinfo, 0 }, \
		       [15] = { "clientdata", nq_op_clientdata, 0 }, \
		       [26] = { "centerprint", nq_op_text, 0 },      \
		       [128 ... 255] = { "update", nq_op_update, 0 }

/* Mods send the first three themselves, whatever the protocol. */
#define NQ_SVC_SKY                                                    \
	[37] = { "skybox", nq_op_text, 0 }, [40] = { "bf", NULL, 0 }, \
	[41] = { "fog", nq_op_fog, 0 }

#define NQ_SVC_PICS \
	[35] = { "showpic", nq_op_showpic, 0 }, [36] = { "hidepic", nq_op_hidepic, 0 }

#define NQ_SVC_FITZ                                            \
	[42] = { "spawnbaseline2", nq_op_spawnbaseline_b, 0 }, \
	[43] = { "spawnstatic2", nq_op_spawnstatic_b, 0 },     \
	[44] = { "spawnstaticsound2", nq_op_spawnstaticsound2, 0 }

#define NQ_SVC_DP                                                                     \
	[50] = { "downloaddata", nq_op_downloaddata, 0 },                             \
	[51] = { "updatestatbyte", nq_op_updatestatbyte, 0 },                         \
	[52] = { "effect", nq_op_effect, 0 }, [53] = { "effect2", nq_op_effect2, 0 }, \
	[54] = { "precache", nq_op_precache, 0 },                                     \
	[55] = { "spawnbaseline2", nq_op_spawnbaseline_c, 0 },                        \
	[56] = { "spawnstatic2", nq_op_spawnstatic_c, 0 },                            \
	[57] = { "entities", nq_op_entities, 0 },                                     \
	[58] = { "csqcentities", nq_op_csqcentities, 0 },                             \
	[59] = { "spawnstaticsound2", nq_op_spawnstaticsound2, 0 },                   \
	[60] = { "trailparticles", nq_op_trailparticles, 0 },                         \
	[61] = { "pointparticles", nq_op_pointparticles, 0 },                         \
	[62] = { "pointparticles1", nq_op_pointparticles1, 0 }

const struct op nq_svc_id[256] = { NQ_SVC, NQ_SVC_SKY };

const struct op nq_svc_nehahra[256] = {
	NQ_SVC,
	NQ_SVC_SKY,
	NQ_SVC_PICS,
	[50] = { "skyboxsize", nq_op_skyboxsize, 0 },
	[51] = { "fog", nq_op_fog_nehahra, 0 },
};

/* Ironwail and QuakeSpasm play the game code of 2021, too, which sends the last two. */
const struct op nq_svc_fitz[256] = {
	NQ_SVC,
	NQ_SVC_SKY,
	NQ_SVC_FITZ,
	[52] = { "achievement", nq_op_achievement, 0 },
	[56] = { "localsound", nq_op_localsound, 0 },
};

const struct op nq_svc_dp[256] = { NQ_SVC, NQ_SVC_SKY, NQ_SVC_PICS, NQ_SVC_DP };

static const struct op nq_svc_fte[256] = {
	NQ_SVC,
	NQ_SVC_SKY,
	NQ_SVC_PICS,
	NQ_SVC_FITZ,
	NQ_SVC_DP,
	[21] = { "spawnstatic2", nq_op_fte_spawnstatic, 0 },
	[66] = { "spawnbaseline2", nq_op_fte_spawnbaseline, 0 },
	[78] = { "updatestatstring", nq_op_updatestatstring, 0 },
	[79] = { "updatestatfloat", nq_op_updatestatfloat, 0 },
	[83] = { "cgamepacket", nq_op_cgamepacket, 0 },
	[84] = { "voicechat", nq_op_voicechat, 0 },
	[85] = { "setangledelta", nq_op_setangledelta, 0 },
	[86] = { "updateentities", nq_op_updateentities, 0 },
	[90] = { "cgamepacket_sized", nq_op_sized, 0 },
	[91] = { "temp_entity_sized", nq_op_sized, 0 },
	[92] = { "csqcentities_sized", nq_op_sized, 0 },
	[93] = { "setanglebase", nq_op_setanglebase, 0 },
};

const struct op *nq_svc_of(const struct nq_format *f)
{
	return f->pext1 || f->pext2 ? nq_svc_fte : f->dialect->svc;
}
