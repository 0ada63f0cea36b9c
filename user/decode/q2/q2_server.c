// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * q2_server.c - svc_: what servers say. Frames are in q2_frame.c, effects in q2_temp.c,
 * what is packed in q2_zip.c.
 *
 * In 35 and 36 an opcode is the lower five bits of its byte; the upper three belong to
 * the frame and are zero elsewhere.
 *
 * Sources: Quake-2 client/cl_parse.c, cl_fx.c, cl_inv.c; q2pro src/client/parse.c; r1q2
 * client/cl_parse.c.
 */
#include "decode/q2/q2_session.h"

#define INVENTORY	 256
#define STATUSBAR_FIRST	 5
#define STATUSBAR_MAX	 1535
#define CONFIGSTRING_MAX 64
#define SETTING_FPS	 1

/* svc_sound's flags. */
enum {
	SOUND_VOLUME = 1,
	SOUND_ATTENUATION = 2,
	SOUND_POSITION = 4,
	SOUND_ENTITY = 8,
	SOUND_OFFSET = 16,
	SOUND_INDEX16 = 32,
};

static void parse_muzzleflash(struct ops *o)
{
	unsigned int number = reader_le16(&o->rd), weapon = reader_u8(&o->rd);

	q2_entity_number(o, "number", number, 1);
	record_uint(o->record, "weapon", weapon & ~128U);
	record_bool(o->record, "silenced", weapon & 128);
}

/* With extensions the upper three bits of the number are the flash's. */
static void parse_muzzleflash2(struct ops *o)
{
	bool extended = q2_of(o)->dialect.extensions;
	unsigned int number = reader_le16(&o->rd), flash = reader_u8(&o->rd);

	if (extended) {
		flash |= number >> 13 << 8;
		number &= 0x1fff;
	}
	q2_entity_number(o, "number", number, 1);
	record_uint(o->record, "flash", flash);
}

static void parse_text(struct ops *o)
{
	q2_string(o, "text");
}

/* "precache" stands behind the last baseline. */
static void parse_stufftext(struct ops *o)
{
	static const char precache[] = "precache";
	struct span text = q2_string(o, "text");
	struct q2_game *g;

	if (text.n < sizeof(precache) - 1 ||
	    memcmp(text.bytes, precache, sizeof(precache) - 1) != 0)
		return;
	g = q2_commit(o);
	if (g)
		q2_baselines_reach(g, o->m->sequence, UINT16_MAX);
}

static void parse_inventory(struct ops *o)
{
	record_open_array(o->record, "inventory");
	for (int i = 0; i < INVENTORY; i++)
		record_int(o->record, NULL, (int16_t)reader_le16(&o->rd));
	record_close(o->record);
}

static void parse_disconnect(struct ops *o)
{
	if (q2_commit(o))
		q2_of(o)->session->disconnected = true;
}

static void parse_sound(struct ops *o)
{
	const struct q2_dialect *d = &q2_of(o)->dialect;
	uint8_t flags = reader_u8(&o->rd);
	bool wide = d->extensions && flags & SOUND_INDEX16;
	unsigned int packed;

	record_uint(o->record, "flags", flags);
	record_uint(o->record, "index", wide ? reader_le16(&o->rd) : reader_u8(&o->rd));
	if (flags & SOUND_VOLUME)
		record_float(o->record, "volume", reader_u8(&o->rd) / 255.0);
	if (flags & SOUND_ATTENUATION)
		record_float(o->record, "attenuation", reader_u8(&o->rd) / 64.0);
	if (flags & SOUND_OFFSET)
		record_uint(o->record, "timeofs", reader_u8(&o->rd));
	if (flags & SOUND_ENTITY) {
		packed = reader_le16(&o->rd);
		q2_entity_number(o, "number", packed >> 3, 0);
		record_uint(o->record, "channel", packed & 7);
	}
	if (flags & SOUND_POSITION)
		q2_place(o, "origin");
}

static void parse_print(struct ops *o)
{
	record_uint(o->record, "level", reader_u8(&o->rd));
	q2_string(o, "text");
}

static void record_serverdata(struct record *r, const struct q2_serverdata *s)
{
	record_int(r, "spawncount", s->spawncount);
	record_uint(r, "attractloop", s->attractloop);
	record_string(r, "gamedir", s->gamedir.bytes, s->gamedir.n);
	record_int(r, "playernum", s->playernum);
	record_string(r, "levelname", s->levelname.bytes, s->levelname.n);
	if (s->protocol == 35 || s->protocol == 36)
		record_uint(r, "minor", s->minor);
	if (s->protocol == 36)
		record_uint(r, "serverstate", s->serverstate);
	if (s->protocol == 35 || s->protocol == 36)
		record_uint(r, "flags", s->flags);
	if (s->switches.bytes)
		record_hex(r, "switches", s->switches.bytes, s->switches.n);
}

static void parse_serverdata(struct ops *o)
{
	struct q2_parse *p = q2_of(o);
	struct q2_dialect d = p->dialect;
	struct q2_serverdata s;
	struct q2_game *g;
	bool known;

	if (d.protocol == Q2_PROTOCOL_MVD) {
		ops_wrong(o, "serverdata within a multi-view recording's message");
		return;
	}
	known = q2_serverdata_read(&o->rd, p->session ? p->session->now.minor : 0, &s,
				   &d);
	record_int(o->record, "protocol", s.protocol);
	if (!known && !reader_failed(&o->rd)) {
		o->m->opaque = "the protocol that serverdata names is not known";
		return;
	}
	if (reader_failed(&o->rd))
		return;
	record_serverdata(o->record, &s);
	if (s.playernum < -1 || s.playernum >= Q2_PLAYERS)
		ops_wrong(o, "player number out of range");
	if (s.enhanced)
		ops_wrong(o, "enhanced server: no client reads one");
	if (d.q2pro && s.flags & Q2_FLAG_EXTENSIONS_2 && !d.extensions)
		ops_wrong(o, "EXTENSIONS_2 without EXTENSIONS");
	/* The table of ops is chosen by the first message: see q2_message.c. */
	if (d.enhanced != p->dialect.enhanced || d.q2pro != p->dialect.q2pro ||
	    !q2_agreed(p->session, s.protocol)) {
		ops_wrong(o, "serverdata of another protocol than the connection's");
		return;
	}
	p->dialect = d;
	p->reset = true;
	p->frame = 0;
	o->m->stateful |= p->session && !p->session->stale;
	if (!p->commit || !p->session || p->session->stale)
		return;
	p->session->dialect = d;
	/* Without its connect, how a client of 35 writes is open: see tail_r1q2(). */
	p->session->guessed = d.protocol == 35 && !p->session->now.has_connect;
	p->session->ways = p->session->guessed ? q2_guess_protocol(35) : 0;
	g = q2_game_get(p->session);
	p->game = g;
	if (!g)
		return;
	q2_game_clear(g, o->m->sequence);
	g->playernum = s.playernum;
}

static void learn_name(struct ops *o, const struct q2_game *g, unsigned int player,
		       struct span text)
{
	const uint8_t *end = text.n ? memchr(text.bytes, '\\', text.n) : NULL;

	if (g && g->playernum >= 0 && player == (unsigned int)g->playernum && text.n)
		facts_name(&o->record->facts, text.bytes,
			   end ? (size_t)(end - text.bytes) : text.n);
}

/* "maps/q2dm1.bsp": q2dm1. */
static void learn_map(struct ops *o, struct span text)
{
	static const char before[] = "maps/", behind[] = ".bsp";
	size_t lead = sizeof(before) - 1, tail = sizeof(behind) - 1;

	if (text.n > lead + tail && !memcmp(text.bytes, before, lead) &&
	    !memcmp(text.bytes + text.n - tail, behind, tail))
		facts_map(&o->record->facts, text.bytes + lead, text.n - lead - tail);
}

static uint16_t number_of(struct span text)
{
	unsigned int n = 0;

	for (size_t i = 0; i < text.n && text.bytes[i] >= '0' && text.bytes[i] <= '9' &&
			   n <= Q2_PLAYERS;
	     i++)
		n = n * 10 + text.bytes[i] - '0';
	return n <= Q2_PLAYERS ? (uint16_t)n : 0;
}

void q2_configstring(struct ops *o, unsigned int index, struct span text)
{
	struct q2_parse *p = q2_of(o);
	const struct q2_strings *at = q2_strings(&p->dialect);
	bool bar = index >= STATUSBAR_FIRST && index < at->statusbar_end;
	struct q2_game *g;

	if (index >= q2_configstrings(&p->dialect))
		ops_wrong(o, "configstring index out of range");
	if (text.n > (bar ? STATUSBAR_MAX : CONFIGSTRING_MAX * 16))
		ops_wrong(o, "configstring too long");
	if (index == at->models + 1U)
		learn_map(o, text);
	if (index >= at->playerskins && index - at->playerskins < Q2_PLAYERS)
		learn_name(o, p->game, index - at->playerskins, text);
	/* They stand in front of the first baseline. */
	g = q2_commit(o);
	if (g)
		q2_baselines_reach(g, o->m->sequence, 0);
	if (index != at->maxclients)
		return;
	p->maxclients = number_of(text);
	if (g)
		g->maxclients = p->maxclients;
}

static void parse_configstring(struct ops *o)
{
	unsigned int index = reader_le16(&o->rd);

	record_uint(o->record, "index", index);
	q2_configstring(o, index, q2_string(o, "text"));
}

/*
 * Read the fields of entity @number's baseline behind its header @bits, put them on the
 * record, and, when the walk commits, store them.
 */
static void q2_baseline(struct ops *o, uint64_t bits, unsigned int number)
{
	struct q2_parse *p = q2_of(o);
	int32_t word[Q2_ENTITY_WORDS] = { 0 };
	struct q2_entity *e;
	struct q2_game *g;

	q2_entity_number(o, "number", number, 1);
	if (bits & Q2_ENTITY_REMOVE) {
		ops_wrong(o, "baseline of a removed entity");
		return;
	}
	q2_entity_record(o->record, q2_entity_read(&o->rd, &p->dialect, bits, word),
			 word);
	g = q2_commit(o);
	e = g ? q2_baseline_get(g, number) : NULL;
	if (e)
		memcpy(e->word, word, sizeof(word));
	if (g)
		q2_baselines_reach(g, o->m->sequence, number);
}

static void parse_spawnbaseline(struct ops *o)
{
	unsigned int number;
	uint64_t bits = q2_entity_header(&o->rd, &q2_of(o)->dialect, &number);

	q2_baseline(o, bits, number);
}

/*
 * For the extraction of files. A block that was not asked for anew is the last one again;
 * unpacked bytes do not last as long as the record.
 */
static void note_block(struct ops *o, struct span bytes, bool last)
{
	struct q2_session *q = q2_of(o)->session;

	if (!q || !q->block_wanted || !q->download_n || q->stale || q2_of(o)->nested)
		return;
	record_piece(o->record, &(struct record_piece){ .type = PIECE_NEXT,
							.name = q->download,
							.name_n = q->download_n,
							.bytes = bytes.bytes,
							.n = bytes.n,
							.last = last });
	if (q2_commit(o))
		q->block_wanted = false;
}

static void parse_download(struct ops *o)
{
	uint8_t percent;
	int size = q2_download_head(o, &percent);
	const uint8_t *data;

	if (size <= 0)
		return;
	data = reader_take(&o->rd, (size_t)size);
	if (!data)
		return;
	record_hex(o->record, "data", data, (size_t)size);
	note_block(o, (struct span){ data, (size_t)size }, percent == 100);
}

static void parse_setting(struct ops *o)
{
	int32_t index = (int32_t)reader_le32(&o->rd);
	int32_t value = (int32_t)reader_le32(&o->rd);

	record_int(o->record, "index", index);
	record_int(o->record, "value", value);
	if (index == SETTING_FPS && value > 0 && value <= 1000 && q2_commit(o))
		q2_of(o)->session->fps = (uint16_t)value;
}

void q2_configstring_list(struct ops *o)
{
	unsigned int end = q2_configstrings(&q2_of(o)->dialect), index;

	record_open_array(o->record, "configstrings");
	while (!reader_failed(&o->rd) && !o->m->wrong) {
		index = reader_le16(&o->rd);
		if (index == end)
			break;
		record_open_object(o->record, NULL);
		record_uint(o->record, "index", index);
		q2_configstring(o, index, q2_string(o, "text"));
		record_close(o->record);
	}
	record_close(o->record);
}

static void baselines(struct ops *o)
{
	unsigned int number;
	uint64_t bits;

	record_open_array(o->record, "baselines");
	while (!reader_failed(&o->rd) && !o->m->wrong) {
		bits = q2_entity_header(&o->rd, &q2_of(o)->dialect, &number);
		if (!number)
			break;
		record_open_object(o->record, NULL);
		q2_baseline(o, bits, number);
		record_close(o->record);
	}
	record_close(o->record);
}

static void parse_gamestate(struct ops *o)
{
	q2_configstring_list(o);
	baselines(o);
}

#define SIMPLE                                                              \
	[1] = { "muzzleflash", parse_muzzleflash, Q2_RANK_COMMAND },        \
	[2] = { "muzzleflash2", parse_muzzleflash2, Q2_RANK_COMMAND },      \
	[3] = { "temp_entity", q2_parse_temp_entity, Q2_RANK_COMMAND },     \
	[4] = { "layout", parse_text, Q2_RANK_COMMAND },                    \
	[5] = { "inventory", parse_inventory, Q2_RANK_COMMAND },            \
	[6] = { "nop", NULL, Q2_RANK_NOP },                                 \
	[7] = { "disconnect", parse_disconnect, Q2_RANK_COMMAND },          \
	[8] = { "reconnect", NULL, Q2_RANK_COMMAND },                       \
	[9] = { "sound", parse_sound, Q2_RANK_COMMAND },                    \
	[10] = { "print", parse_print, Q2_RANK_COMMAND },                   \
	[11] = { "stufftext", parse_stufftext, Q2_RANK_COMMAND },           \
	[12] = { "serverdata", parse_serverdata, Q2_RANK_GAMESTATE },       \
	[13] = { "configstring", parse_configstring, Q2_RANK_GAMESTATE },   \
	[14] = { "spawnbaseline", parse_spawnbaseline, Q2_RANK_GAMESTATE }, \
	[15] = { "centerprint", parse_text, Q2_RANK_COMMAND },              \
	[16] = { "download", parse_download, Q2_RANK_DOWNLOAD }

#define FRAME_ENHANCED                                          \
	{                                                       \
		"frame", q2_parse_frame_enhanced, Q2_RANK_FRAME \
	}

/* The frame and its three bits. */
#define PACKED                                                                \
	SIMPLE, [0x14] = FRAME_ENHANCED, [0x34] = FRAME_ENHANCED,             \
		[0x54] = FRAME_ENHANCED, [0x74] = FRAME_ENHANCED,             \
		[0x94] = FRAME_ENHANCED, [0xb4] = FRAME_ENHANCED,             \
		[0xd4] = FRAME_ENHANCED, [0xf4] = FRAME_ENHANCED,             \
		[21] = { "zpacket", q2_parse_zpacket, Q2_RANK_COMMAND },      \
		[22] = { "zdownload", q2_parse_zdownload, Q2_RANK_DOWNLOAD }, \
		[24] = { "setting", parse_setting, Q2_RANK_COMMAND }

static const struct op ops_34[256] = {
	SIMPLE,
	[20] = { "frame", q2_parse_frame, Q2_RANK_FRAME },
};

static const struct op ops_demo[256] = {
	SIMPLE,
	[20] = { "frame", q2_parse_frame_demo, Q2_RANK_FRAME },
};

static const struct op ops_35[256] = {
	PACKED,
	[23] = { "playerupdate", q2_parse_playerupdate, Q2_RANK_COMMAND },
};

static const struct op ops_36[256] = {
	PACKED,
	[23] = { "gamestate", parse_gamestate, Q2_RANK_GAMESTATE },
	[25] = { "configstringstream", q2_configstring_list, Q2_RANK_GAMESTATE },
	[26] = { "baselinestream", baselines, Q2_RANK_GAMESTATE },
};

uint8_t q2_server_walk(struct q2_parse *p, struct message *m)
{
	const struct q2_dialect *d = &p->dialect;
	const struct op *table = d->q2pro	  ? ops_36
				 : d->enhanced	  ? ops_35
				 : d->server_demo ? ops_demo
						  : ops_34;

	return message_ops(m, table, p);
}
