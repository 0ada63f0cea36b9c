// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * qe_svc.c - what Quake Enhanced's servers and clients say beside NetQuake's messages.
 *
 * Source: fteqw common/protocol.h, client/cl_parse.c, client/cl_input.c,
 * server/sv_user.c; Ironwail's cl_parse.c.
 */
#include "decode/nq/nq_rows.h"
#include "decode/nq/nq_tables.h"
#include "decode/qe/qe_message.h"

#define TEXTS_MAX     256
#define TEXTS_LIKELY  32 /* of a centerprint that begins with a number */
#define LEVEL_UNKNOWN 10

/* --- texts with places to fill in -------------------------------------------------- */

static void put_texts(struct ops *o, uint16_t n)
{
	record_open_array(o->record, "texts");
	for (uint16_t i = 0; i < n && !reader_failed(&o->rd); i++)
		nq_put_text(o, NULL);
	record_close(o->record);
}

/* u16 n, n texts: a format or the key of one, then what it is filled with. */
static void texts(struct ops *o)
{
	uint16_t n = reader_le16(&o->rd);

	if (n > TEXTS_MAX)
		ops_wrong(o, "more than 256 texts");
	else
		put_texts(o, n);
}

static void botchat(struct ops *o)
{
	nq_put_slot(o);
	texts(o);
}

/* Are there so many texts? A plain text of one character looks alike at first. */
static bool holds_texts(struct reader rd)
{
	uint16_t n = reader_le16(&rd);

	if (reader_failed(&rd) || !n || n > TEXTS_LIKELY)
		return false;
	for (uint16_t i = 0; i < n; i++)
		reader_string(&rd);
	return !reader_failed(&rd);
}

static void centerprint(struct ops *o)
{
	if (holds_texts(o->rd))
		texts(o);
	else
		nq_put_text(o, "text");
}

static void chat(struct ops *o)
{
	nq_put_u8(o, "name_color");
	nq_put_u8(o, "text_color");
	nq_put_text(o, "name");
	nq_put_text(o, "text");
}

/* u8 n; none closes it. */
static void prompt(struct ops *o)
{
	uint8_t n = reader_u8(&o->rd);

	record_uint(o->record, "count", n);
	if (!n)
		return;
	nq_put_text(o, "title");
	record_open_array(o->record, "choices");
	for (uint8_t i = 0; i < n && !reader_failed(&o->rd); i++) {
		record_open_object(o->record, NULL);
		nq_put_text(o, "text");
		nq_put_u8(o, "impulse");
		record_close(o->record);
	}
	record_close(o->record);
}

/* --- players ----------------------------------------------------------------------- */

static void updateping(struct ops *o)
{
	nq_put_slot(o);
	record_int(o->record, "ping", nq_zigzag(&o->rd));
}

static void updatesocial(struct ops *o)
{
	nq_put_slot(o);
	record_open_array(o->record, "values");
	nq_put_i32(o, NULL);
	nq_put_i32(o, NULL);
	record_close(o->record);
}

static void updateplinfo(struct ops *o)
{
	nq_put_slot(o);
	record_int(o->record, "health", nq_zigzag(&o->rd));
	record_int(o->record, "armor", nq_zigzag(&o->rd));
}

static void sequence(struct ops *o)
{
	record_uint(o->record, "sequence", nq_uleb(&o->rd));
}

/* --- the game ---------------------------------------------------------------------- */

static void servervars(struct ops *o)
{
	static const struct {
		const char *key;
		bool real;
	} vars[] = {
		{ "deathmatch", false },     { "idealpitchscale", true },
		{ "friction", true },	     { "edgefriction", true },
		{ "stopspeed", true },	     { "maxvelocity", true },
		{ "gravity", true },	     { "nostep", false },
		{ "maxspeed", true },	     { "accelerate", true },
		{ "controlleronly", false }, { "timelimit", true },
		{ "fraglimit", true },	     { "teamplay", false },
	};
	uint32_t bits = nq_uleb(&o->rd);

	record_uint(o->record, "bits", bits);
	for (unsigned int i = 0; i < NQ_COUNT(vars); i++) {
		if (!(bits >> i & 1))
			continue;
		if (vars[i].real)
			nq_put_f32(o, vars[i].key);
		else
			nq_put_u8(o, vars[i].key);
	}
	if (bits >> NQ_COUNT(vars))
		ops_unknown(o, "servervars with a bit that is not known");
}

static void levelcompleted(struct ops *o)
{
	const uint8_t *bytes = reader_take(&o->rd, LEVEL_UNKNOWN);

	if (bytes)
		record_hex(o->record, "unknown", bytes, LEVEL_UNKNOWN);
	nq_put_text(o, "text");
	message_missing(o->m, "levelcompleted: ten of its bytes are not known");
}

static void spawnedmonster(struct ops *o)
{
	ops_unknown(o, "spawnedmonster: what it carries is not known");
}

static void setviews(struct ops *o)
{
	ops_unknown(o, "setviews: what it carries is not known");
}

/* No capture has anything in it. */
static void backtolobby(struct ops *o)
{
	if (reader_left(&o->rd))
		ops_unknown(o, "backtolobby: what it carries is not known");
}

const struct op qe_svc[256] = {
	NQ_SVC_SHARED,
	[2] = { "disconnect", nq_op_disconnect, 0 },
	[11] = { "serverinfo", nq_op_serverinfo, 0 },
	[15] = { "clientdata", nq_op_clientdata, 0 },
	[26] = { "centerprint", centerprint, 0 },
	[37] = { "skybox", nq_op_text, 0 },
	[38] = { "botchat", botchat, 0 },
	[39] = { "spawnedmonster", spawnedmonster, 0 },
	[40] = { "bonusflash", NULL, 0 },
	[41] = { "fog", nq_op_fog, 0 },
	[42] = { "spawnbaseline2", nq_op_spawnbaseline_b, 0 },
	[43] = { "spawnstatic2", nq_op_spawnstatic_b, 0 },
	[44] = { "spawnstaticsound2", nq_op_spawnstaticsound2, 0 },
	[45] = { "setviews", setviews, 0 },
	[46] = { "updateping", updateping, 0 },
	[47] = { "updatesocial", updatesocial, 0 },
	[48] = { "updateplinfo", updateplinfo, 0 },
	[49] = { "rawprint", texts, 0 },
	[50] = { "servervars", servervars, 0 },
	[51] = { "seq", sequence, 0 },
	[52] = { "achievement", nq_op_achievement, 0 },
	[53] = { "chat", chat, 0 },
	[54] = { "levelcompleted", levelcompleted, 0 },
	[55] = { "backtolobby", backtolobby, 0 },
	[56] = { "localsound", nq_op_localsound, 0 },
	[57] = { "prompt", prompt, 0 },
	[58] = { "loccenterprint", texts, 0 },
	[128 ... 255] = { "update", nq_op_update, 0 },
};

/* --- clients ----------------------------------------------------------------------- */

/* Where the client is, who decides that himself. */
static void authoritative_origin(struct ops *o)
{
	sequence(o);
	record_open_array(o->record, "origin");
	for (int i = 0; i < 3; i++)
		nq_put_f32(o, NULL);
	record_close(o->record);
}

const struct op qe_clc[256] = {
	[1] = { "nop", NULL, 0 },
	[2] = { "disconnect", nq_op_clc_disconnect, 0 },
	[3] = { "move", nq_op_move, 0 },
	[4] = { "stringcmd", nq_op_stringcmd, 0 },
	[5] = { "sequence", sequence, 0 },
	[6] = { "authoritative_origin", authoritative_origin, 0 },
};
