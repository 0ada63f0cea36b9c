// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * qw_server.c - svc: what a server says, but for what has a file of its own.
 *
 * Sources: Quake QW/client/cl_parse.c, protocol.h; mvdsv src/sv_user.c; qwprot
 * src/protocol.h; fteqw engine/client/cl_parse.c.
 */
#include "decode/qw/qw_message.h"
#include "lib/info.h"

#define STATS	    32 /* without extensions */
#define LIGHTSTYLES 64
#define PRINT_MAX   3 /* of the engines */

static void stat_index(struct ops *o)
{
	const struct qw_terms *t = &qw_parse_of(o)->terms;

	if (qw_u8(o, "stat") >= STATS && t->protocol && !t->fte && !t->fte2)
		ops_wrong(o, "no such stat");
}

static void disconnect(struct ops *o)
{
	/* Only recordings give a reason. */
	if (qw_parse_of(o)->terms.recording && reader_left(&o->rd))
		qw_text(o, "text");
}

static void updatestat(struct ops *o)
{
	stat_index(o);
	qw_u8(o, "value");
}

static void updatestatlong(struct ops *o)
{
	stat_index(o);
	qw_i32(o, "value");
}

static void updatestatstring(struct ops *o)
{
	qw_u8(o, "stat");
	qw_text(o, "value");
}

static void updatestatfloat(struct ops *o)
{
	qw_u8(o, "stat");
	qw_f32(o, "value");
}

static void setview(struct ops *o)
{
	qw_number(o, "number");
}

static void time_now(struct ops *o)
{
	qw_time(o, FACT_TIME);
}

static void print(struct ops *o)
{
	/* Game code may say any, and clients print it. */
	if (qw_u8(o, "level") > PRINT_MAX && !qw_parse_of(o)->terms.protocol)
		ops_wrong(o, "no such print level");
	qw_text(o, "text");
}

/* fullserverinfo "\key\value..." is how a client learns the map's name. */
static void stufftext(struct ops *o)
{
	static const char head[] = "fullserverinfo \"";
	struct span text = qw_text(o, "text"), map;
	size_t n = sizeof(head) - 1;

	if (text.n > n && !memcmp(text.bytes, head, n) &&
	    info_find(text.bytes + n, text.n - n, "map", &map))
		facts_map(&o->record->facts, map.bytes, map.n);
}

static void setangle(struct ops *o)
{
	const struct qw_terms *t = &qw_parse_of(o)->terms;

	if (t->recording)
		qw_slot(o);
	else if (t->mvd & QW_MVD_HIGHLAGTELEPORT)
		qw_u8(o, "teleport");
	qw_angles(o, "angles");
}

static void lightstyle(struct ops *o)
{
	const struct qw_terms *t = &qw_parse_of(o)->terms;

	if (qw_u8(o, "style") >= LIGHTSTYLES && !t->fte && !t->fte2)
		ops_wrong(o, "no such light style");
	qw_text(o, "text");
}

static void updatefrags(struct ops *o)
{
	qw_slot(o);
	qw_i16(o, "frags");
}

static void damage(struct ops *o)
{
	qw_u8(o, "armor");
	qw_u8(o, "blood");
	qw_vec(o, "origin");
}

static void setpause(struct ops *o)
{
	qw_u8(o, "paused");
}

static void text(struct ops *o)
{
	qw_text(o, "text");
}

static void intermission(struct ops *o)
{
	qw_vec(o, "origin");
	qw_angles(o, "angles");
}

static void cdtrack(struct ops *o)
{
	qw_u8(o, "track");
}

static void updateping(struct ops *o)
{
	qw_slot(o);
	qw_i16(o, "ping");
}

static void updateentertime(struct ops *o)
{
	qw_slot(o);
	qw_f32(o, "time");
}

static void muzzleflash(struct ops *o)
{
	qw_u16(o, "number");
}

/* The own player's name, which names the connection. */
static void own_name(struct ops *o, unsigned int slot, struct span name)
{
	const struct qw_session *s = qw_parse_of(o)->session;

	if (s && s->has_slot && s->slot == slot && name.n)
		facts_name(&o->record->facts, name.bytes, name.n);
}

static void updateuserinfo(struct ops *o)
{
	unsigned int slot = qw_slot(o);
	struct span info, name;

	qw_i32(o, "userid");
	info = reader_string(&o->rd);
	if (info.n && *info.bytes != '\\')
		record_string(o->record, "text", info.bytes, info.n);
	else
		record_info(o->record, "userinfo", info.bytes, info.n);
	if (info_find(info.bytes, info.n, "name", &name))
		own_name(o, slot, name);
}

static void chokecount(struct ops *o)
{
	if (qw_u8(o, "count"))
		o->record->facts.has |= FACT_DELAYED;
}

/* maps/NAME.bsp, the first of the models */
static void list_map(struct ops *o, struct span name)
{
	if (name.n > 9 && !memcmp(name.bytes, "maps/", 5) &&
	    !memcmp(name.bytes + name.n - 4, ".bsp", 4))
		facts_map(&o->record->facts, name.bytes + 5, name.n - 9);
}

static void list(struct ops *o, unsigned int width, bool models)
{
	const struct qw_terms *t = &qw_parse_of(o)->terms;
	/* Protocols 24 and 25 send all at once. */
	bool whole = t->protocol && t->protocol <= 25;
	unsigned int start = 0, index;
	struct span name;

	if (!whole)
		start = width == 2 ? qw_u16(o, "start") : qw_u8(o, "start");
	record_open_array(o->record, models ? "models" : "sounds");
	for (index = start + 1; (name = reader_string(&o->rd)).n; index++) {
		record_string(o->record, NULL, name.bytes, name.n);
		if (models && index == 1)
			list_map(o, name);
	}
	record_close(o->record);
	if (!whole)
		qw_u8(o, "next");
}

static void modellist(struct ops *o)
{
	list(o, 1, true);
}

static void soundlist(struct ops *o)
{
	list(o, 1, false);
}

static void modellistshort(struct ops *o)
{
	list(o, 2, true);
}

static void soundlistshort(struct ops *o)
{
	list(o, 2, false);
}

static void number_f32(struct ops *o)
{
	qw_f32(o, "value");
}

static void setinfo(struct ops *o)
{
	unsigned int slot = qw_slot(o);
	struct span key = qw_text(o, "key"), value = qw_text(o, "value");

	if (key.n == 4 && !memcmp(key.bytes, "name", 4))
		own_name(o, slot, value);
}

static void serverinfo(struct ops *o)
{
	struct span key = qw_text(o, "key"), value = qw_text(o, "value");

	if (key.n == 3 && !memcmp(key.bytes, "map", 3))
		facts_map(&o->record->facts, value.bytes, value.n);
}

static void updatepl(struct ops *o)
{
	qw_slot(o);
	qw_u8(o, "pl");
}

#define NOTHING	 QW_HOLDS_NOTHING
#define COMMAND	 QW_HOLDS_COMMAND
#define SNAPSHOT QW_HOLDS_SNAPSHOT
#define GAME	 QW_HOLDS_GAMESTATE

const struct op qw_server_ops[256] = {
	[1] = { "nop", NULL, NOTHING },
	[2] = { "disconnect", disconnect, COMMAND },
	[3] = { "updatestat", updatestat, COMMAND },
	[5] = { "setview", setview, COMMAND },
	[6] = { "sound", qw_sound, COMMAND },
	[7] = { "time", time_now, COMMAND },
	[8] = { "print", print, COMMAND },
	[9] = { "stufftext", stufftext, COMMAND },
	[10] = { "setangle", setangle, COMMAND },
	[11] = { "serverdata", qw_serverdata, GAME },
	[12] = { "lightstyle", lightstyle, COMMAND },
	[14] = { "updatefrags", updatefrags, COMMAND },
	[16] = { "stopsound", qw_stopsound, COMMAND },
	[18] = { "particle", qw_particle, COMMAND },
	[19] = { "damage", damage, COMMAND },
	[20] = { "spawnstatic", qw_spawnstatic, GAME },
	[21] = { "spawnstatic2", qw_spawnstatic2, GAME },
	[22] = { "spawnbaseline", qw_spawnbaseline, GAME },
	[23] = { "temp_entity", qw_temp_entity, COMMAND },
	[24] = { "setpause", setpause, COMMAND },
	[25] = { "splitscreenconfig", qw_splitscreen, COMMAND },
	[26] = { "centerprint", text, COMMAND },
	[27] = { "killedmonster", NULL, COMMAND },
	[28] = { "foundsecret", NULL, COMMAND },
	[29] = { "spawnstaticsound", qw_staticsound, GAME },
	[30] = { "intermission", intermission, COMMAND },
	[31] = { "finale", text, COMMAND },
	[32] = { "cdtrack", cdtrack, COMMAND },
	[33] = { "sellscreen", NULL, COMMAND },
	[34] = { "smallkick", NULL, COMMAND },
	[35] = { "bigkick", NULL, COMMAND },
	[36] = { "updateping", updateping, COMMAND },
	[37] = { "updateentertime", updateentertime, COMMAND },
	[38] = { "updatestatlong", updatestatlong, COMMAND },
	[39] = { "muzzleflash", muzzleflash, COMMAND },
	[40] = { "updateuserinfo", updateuserinfo, COMMAND },
	[41] = { "download", qw_download, QW_HOLDS_DOWNLOAD },
	[42] = { "playerinfo", qw_playerinfo, SNAPSHOT },
	[43] = { "nails", qw_nails, SNAPSHOT },
	[44] = { "chokecount", chokecount, NOTHING },
	[45] = { "modellist", modellist, GAME },
	[46] = { "soundlist", soundlist, GAME },
	[47] = { "packetentities", qw_packetentities, SNAPSHOT },
	[48] = { "deltapacketentities", qw_deltapacketentities, SNAPSHOT },
	[49] = { "maxspeed", number_f32, COMMAND },
	[50] = { "entgravity", number_f32, COMMAND },
	[51] = { "setinfo", setinfo, COMMAND },
	[52] = { "serverinfo", serverinfo, COMMAND },
	[53] = { "updatepl", updatepl, COMMAND },
	[54] = { "nails2", qw_nails, SNAPSHOT },
	[55] = { "soundextended", qw_soundextended, COMMAND },
	[56] = { "soundlistshort", soundlistshort, GAME },
	[57] = { "lightstylecol", qw_lightstylecol, COMMAND },
	[60] = { "modellistshort", modellistshort, GAME },
	[62] = { "setportalstate", qw_portal, COMMAND },
	[63] = { "particle2", qw_particle2, COMMAND },
	[64] = { "particle3", qw_particle3, COMMAND },
	[65] = { "particle4", qw_particle3, COMMAND },
	[66] = { "spawnbaseline2", qw_spawnstatic2, GAME },
	[67] = { "customtempent", qw_customtempent, COMMAND },
	[68] = { "choosesplitclient", qw_choosesplit, NOTHING },
	[69] = { "showpic", qw_showpic, COMMAND },
	[70] = { "hidepic", text, COMMAND },
	[71] = { "movepic", qw_movepic, COMMAND },
	[72] = { "updatepic", qw_updatepic, COMMAND },
	[74] = { "effect", qw_effect, COMMAND },
	[75] = { "effect2", qw_effect2, COMMAND },
	[76] = { "csqcentities", qw_opaque, SNAPSHOT },
	[77] = { "precache", qw_precache, GAME },
	[78] = { "updatestatstring", updatestatstring, COMMAND },
	[79] = { "updatestatfloat", updatestatfloat, COMMAND },
	[80] = { "trailparticles", qw_trailparticles, COMMAND },
	[81] = { "pointparticles", qw_pointparticles, COMMAND },
	[82] = { "pointparticles1", qw_pointparticles, COMMAND },
	[83] = { "cgamepacket", qw_cgame, COMMAND },
	[84] = { "voicechat", qw_voice, COMMAND },
	[85] = { "setangledelta", qw_anglesdelta, COMMAND },
	[86] = { "updateentities", qw_updateentities, SNAPSHOT },
	[87] = { "brushedit", qw_opaque, COMMAND },
	[88] = { "updateseats", qw_seats, COMMAND },
	[89] = { "setinfoblob", qw_infoblob, COMMAND },
	[90] = { "cgamepacket_sized", qw_sized, COMMAND },
	[91] = { "temp_entity_sized", qw_sized, COMMAND },
	[92] = { "csqcentities_sized", qw_sized, SNAPSHOT },
	[93] = { "setanglebase", qw_anglebase, COMMAND },
	[94] = { "spawnstaticsound2", qw_staticsound2, GAME },
	[100] = { "packetsprojectiles", qw_projectiles, SNAPSHOT },
	[101] = { "reserved", qw_opaque, COMMAND },
};
