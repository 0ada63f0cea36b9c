// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * q2_mvd.c - a block: all that a server sends in one frame, to whom it sends it.
 *
 *	opcode		5 bits, and 3 bits x
 *	sound		as svc_sound without a place; x: 1 all hear it, 2 reliable
 *	unicast		u8 n, u8 client, x << 8 | n bytes of svc_
 *	multicast	u8 n, [of a part of the map: u16 leaf,] x << 8 | n bytes of svc_
 *	frame		u8 n, n bytes of portals, { u8 player, u16 flags, fields } 255,
 *			{ entity header, fields } 0
 *	serverdata	i32 37, u16 version, [2012: u16 flags, else x], i32 spawncount,
 *			gamedir, i16 client, { u16 index, string } u16 end, a first frame
 *
 * Each player and entity is a difference to its own last state on this map, also after
 * it was gone.
 *
 * Sources: q2pro src/server/mvd.c, src/server/mvd/parse.c, inc/server/mvd/protocol.h.
 */
#include <stdlib.h>

#include "decode/q2/q2_mvd.h"

#define VERSION_MIN	 2009
#define VERSION_MAX	 2013
#define VERSION_FLAGS	 2012
#define VERSION_MORE	 2011
#define VERSION_FOG	 2013
#define FLAG_EXTENSIONS	 4
#define FLAG_EXTENSIONS2 8
#define PLAYERS_END	 255

const struct q2_dialect q2_mvd_dialect = {
	.name = "q2pro-mvd2",
	.protocol = Q2_PROTOCOL_MVD,
};

/*
 * Return x of the head of this file: the upper 3 bits of the opcode that is being parsed.
 * Called by the parsers of opcodes, each of which gives x its own meaning.
 */
static unsigned int extra(const struct ops *o)
{
	return o->code >> 5;
}

/* A player's number, below what the server has room for where that is known. */
static void put_slot(struct ops *o, unsigned int slot)
{
	const struct q2_parse *p = q2_of(o);
	unsigned int most = p->maxclients;

	if (!most && p->game && !p->reset)
		most = p->game->maxclients;
	record_uint(o->record, "slot", slot);
	if (slot >= (most ? most : PLAYERS_END))
		ops_wrong(o, "player number out of range");
}

static int32_t *last_player(struct q2_game *g, unsigned int slot)
{
	if (!g->players)
		g->players = calloc(Q2_PLAYERS, sizeof(*g->players));
	return g->players ? g->players[slot].word : NULL;
}

static void parse_player(struct ops *o, unsigned int slot)
{
	struct q2_parse *p = q2_of(o);
	bool known = p->game && p->game->players && (!p->reset || p->commit);
	int32_t word[Q2_PLAYER_WORDS] = { 0 };
	struct q2_player_delta delta;
	struct q2_game *g;
	int32_t *last;

	if (known)
		memcpy(word, p->game->players[slot].word, sizeof(word));
	record_open_object(o->record, NULL);
	put_slot(o, slot);
	delta = q2_player_read_mvd(&o->rd, &p->dialect, word);
	q2_player_record(o->record, &p->dialect, &delta, word);
	if (delta.flags & Q2_PLAYER_GONE)
		record_bool(o->record, "removed", true);
	record_close(o->record);
	if (delta.unknown)
		ops_wrong(o, "unknown flag of a player");
	g = q2_commit(o);
	last = g ? last_player(g, slot) : NULL;
	if (last)
		memcpy(last, word, sizeof(word));
}

static void parse_entity(struct ops *o, uint64_t bits, unsigned int number)
{
	struct q2_parse *p = q2_of(o);
	bool known = p->game && (!p->reset || p->commit);
	const struct q2_entity *from = known ? q2_baseline_find(p->game, number) : NULL;
	int32_t word[Q2_ENTITY_WORDS] = { 0 };
	struct q2_entity *e;
	struct q2_game *g;

	if (from)
		memcpy(word, from->word, sizeof(word));
	word[Q2_EVENT] = 0;
	record_open_object(o->record, NULL);
	q2_entity_number(o, "number", number, 1);
	q2_entity_record(o->record, q2_entity_read(&o->rd, &p->dialect, bits, word),
			 word);
	if (bits & Q2_ENTITY_REMOVE)
		record_bool(o->record, "removed", true);
	record_close(o->record);
	g = q2_commit(o);
	e = g ? q2_baseline_get(g, number) : NULL;
	if (e)
		memcpy(e->word, word, sizeof(word));
}

static void parse_players(struct ops *o)
{
	int last = -1;

	record_open_array(o->record, "players");
	while (!reader_failed(&o->rd) && !o->m->wrong) {
		int slot = reader_u8(&o->rd);

		if (slot == PLAYERS_END)
			break;
		if (slot <= last)
			ops_wrong(o, "players out of order");
		last = slot;
		parse_player(o, (unsigned int)slot);
	}
	record_close(o->record);
}

static void parse_entities(struct ops *o)
{
	unsigned int number = 0;
	uint64_t bits;

	record_open_array(o->record, "packetentities");
	while (q2_next_entity(o, &number, &bits))
		parse_entity(o, bits, number);
	record_close(o->record);
}

static void parse_frame(struct ops *o)
{
	const struct q2_parse *p = q2_of(o);
	unsigned int n = reader_u8(&o->rd);
	const uint8_t *portals = reader_take(&o->rd, n);

	if (!p->reset && (!p->game || !p->game->begun))
		message_missing(o->m, "differences to states that were not seen");
	if (portals)
		record_hex(o->record, "portalbits", portals, n);
	parse_players(o);
	parse_entities(o);
	o->record->facts.has |= FACT_SNAPSHOT;
}

/* False: of a version that is not known. */
static bool parse_version(struct ops *o, struct q2_dialect *d)
{
	int32_t protocol = (int32_t)reader_le32(&o->rd);
	unsigned int version = reader_le16(&o->rd), flags = extra(o);

	record_int(o->record, "protocol", protocol);
	record_uint(o->record, "version", version);
	if (reader_failed(&o->rd))
		return false;
	if (protocol != Q2_PROTOCOL_MVD || version < VERSION_MIN ||
	    version > VERSION_MAX) {
		o->m->opaque = "a version of multi-view recordings that is not known";
		return false;
	}
	if (version >= VERSION_FLAGS) {
		if (flags)
			ops_wrong(o, "unknown bit of an opcode");
		flags = reader_le16(&o->rd);
	}
	record_uint(o->record, "flags", flags);
	*d = q2_mvd_dialect;
	d->minor = (uint16_t)version;
	d->extensions = version >= VERSION_MORE && flags & FLAG_EXTENSIONS;
	d->extensions2 =
		d->extensions && version >= VERSION_FLAGS && flags & FLAG_EXTENSIONS2;
	d->solid32 = d->angle16 = d->extensions;
	d->fog = d->extensions2 && version >= VERSION_FOG;
	return true;
}

static void parse_serverdata(struct ops *o)
{
	struct q2_parse *p = q2_of(o);
	struct q2_dialect d;

	if (!parse_version(o, &d))
		return;
	record_int(o->record, "spawncount", (int32_t)reader_le32(&o->rd));
	q2_string(o, "gamedir");
	record_int(o->record, "playernum", (int16_t)reader_le16(&o->rd));
	p->dialect = d;
	p->reset = true;
	o->m->stateful |= p->session != NULL;
	if (p->commit && p->session) {
		p->session->dialect = d;
		p->game = q2_game_get(p->session);
		if (p->game)
			q2_game_clear(p->game, o->m->sequence);
	}
	q2_configstring_list(o);
	parse_frame(o);
}

static void parse_configstring(struct ops *o)
{
	unsigned int index = reader_le16(&o->rd);

	record_uint(o->record, "index", index);
	q2_configstring(o, index, q2_string(o, "text"));
}

static void parse_inner(struct ops *o, size_t n)
{
	const uint8_t *bytes = reader_take(&o->rd, n);

	if (bytes)
		q2_server_ops(q2_of(o), (struct span){ bytes, n });
}

static void parse_unicast(struct ops *o)
{
	size_t n = reader_u8(&o->rd) | extra(o) << 8;

	put_slot(o, reader_u8(&o->rd));
	record_bool(o->record, "reliable", (o->code & 31) == 9);
	parse_inner(o, n);
}

static void parse_multicast(struct ops *o)
{
	static const char *const to[] = { "all", "phs", "pvs" };
	unsigned int which = (o->code & 31U) - 10U;
	size_t n = reader_u8(&o->rd) | extra(o) << 8;

	record_string(o->record, "to", to[which % 3], 3);
	record_bool(o->record, "reliable", which > 2);
	if (which % 3)
		record_uint(o->record, "leaf", reader_le16(&o->rd));
	parse_inner(o, n);
}

static void parse_sound(struct ops *o)
{
	uint8_t flags = reader_u8(&o->rd);
	bool wide = q2_of(o)->dialect.extensions && flags & 32;
	unsigned int packed;

	record_uint(o->record, "flags", flags);
	record_uint(o->record, "index", wide ? reader_le16(&o->rd) : reader_u8(&o->rd));
	if (flags & 1)
		record_float(o->record, "volume", reader_u8(&o->rd) / 255.0);
	if (flags & 2)
		record_float(o->record, "attenuation", reader_u8(&o->rd) / 64.0);
	if (flags & 16)
		record_uint(o->record, "timeofs", reader_u8(&o->rd));
	packed = reader_le16(&o->rd);
	q2_entity_number(o, "number", packed >> 3, 0);
	record_uint(o->record, "channel", packed & 7);
	record_bool(o->record, "everywhere", extra(o) & 1);
	record_bool(o->record, "reliable", extra(o) & 2);
	if (extra(o) & 4)
		ops_wrong(o, "unknown bit of an opcode");
}

static void parse_print(struct ops *o)
{
	record_uint(o->record, "level", reader_u8(&o->rd));
	q2_string(o, "text");
}

/* The entries of one opcode, whatever its upper bits. */
#define ROW(n, name, parse, rank)                                                 \
	[n] = { name, parse, rank }, [(n) + 32] = { name, parse, rank },          \
	[(n) + 64] = { name, parse, rank }, [(n) + 96] = { name, parse, rank },   \
	[(n) + 128] = { name, parse, rank }, [(n) + 160] = { name, parse, rank }, \
	[(n) + 192] = { name, parse, rank }, [(n) + 224] = { name, parse, rank }

static const struct op ops[256] = {
	[1] = { "nop", NULL, Q2_RANK_NOP },
	ROW(4, "serverdata", parse_serverdata, Q2_RANK_GAMESTATE),
	[5] = { "configstring", parse_configstring, Q2_RANK_GAMESTATE },
	[6] = { "frame", parse_frame, Q2_RANK_FRAME },
	ROW(8, "unicast", parse_unicast, Q2_RANK_COMMAND),
	ROW(9, "unicast", parse_unicast, Q2_RANK_COMMAND),
	ROW(10, "multicast", parse_multicast, Q2_RANK_COMMAND),
	ROW(11, "multicast", parse_multicast, Q2_RANK_COMMAND),
	ROW(12, "multicast", parse_multicast, Q2_RANK_COMMAND),
	ROW(13, "multicast", parse_multicast, Q2_RANK_COMMAND),
	ROW(14, "multicast", parse_multicast, Q2_RANK_COMMAND),
	ROW(15, "multicast", parse_multicast, Q2_RANK_COMMAND),
	ROW(16, "sound", parse_sound, Q2_RANK_COMMAND),
	[17] = { "print", parse_print, Q2_RANK_COMMAND },
};

bool q2_mvd_begins(struct span block)
{
	return block.n && (block.bytes[0] & 31) == 4;
}

uint8_t q2_mvd_walk(struct q2_parse *p, struct message *m)
{
	return message_ops(m, ops, p);
}
