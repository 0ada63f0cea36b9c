// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * q3_message.c - a whole message, by the rule of decode/message.h. One that holds nothing
 * but a snapshot needs no second parse, since the snapshot has been built aside.
 */
#include <string.h>

#include "decode/q3/q3_message.h"
#include "lib/record_trace.h"

static const char *const server_kinds[Q3_HOLDS_COUNT] = {
	[Q3_HOLDS_NOTHING] = "server-idle", [Q3_HOLDS_COMMAND] = "server-command",
	[Q3_HOLDS_VOICE] = "server-voice",  [Q3_HOLDS_MOVE] = "server-idle",
	[Q3_HOLDS_DOWNLOAD] = "download",   [Q3_HOLDS_SNAPSHOT] = "snapshot",
	[Q3_HOLDS_GAMESTATE] = "gamestate",
};

static const char *const client_kinds[Q3_HOLDS_COUNT] = {
	[Q3_HOLDS_NOTHING] = "client-idle",   [Q3_HOLDS_COMMAND] = "client-command",
	[Q3_HOLDS_VOICE] = "client-voice",    [Q3_HOLDS_MOVE] = "client-move",
	[Q3_HOLDS_DOWNLOAD] = "client-idle",  [Q3_HOLDS_SNAPSHOT] = "client-idle",
	[Q3_HOLDS_GAMESTATE] = "client-idle",
};

static bool parse(struct q3_parse *p, enum direction direction)
{
	bool good;

	record_reads_bits(p->record, p->b.data, p->b.size, &p->b.pos);
	good = direction == DIRECTION_C2S ? q3_parse_client(p) : q3_parse_server(p);
	record_reads_end(p->record);
	return good;
}

static const char *reason(const struct q3_parse *p)
{
	if (p->wrong)
		return p->wrong;
	if (p->b.pos > p->b.size * 8)
		return "message ends too early";
	return "no such Huffman code, or a string that is too long";
}

/* A message that nothing is known of: the base game's syntax. */
static bool bare(struct message *m)
{
	struct q3_parse p;
	bool good;

	q3_parse_init(&p, m->bytes.bytes, m->bytes.n, &q3_dialect_68, NULL, m->record);
	good = parse(&p, m->direction);
	if (!good)
		message_wrong(m, reason(&p));
	m->missing = p.missing;
	return good;
}

/* The state is a struct q3_parse, ready to begin; for the commit, another like it. */
bool q3_message(struct message *m)
{
	struct q3_parse *p = m->state, again;
	bool good;

	if (!p)
		return bare(m);
	if (m->commit) {
		q3_parse_init(&again, p->b.data, p->b.size, p->dialect, p->game,
			      m->record);
		again.b.slack = p->b.slack;
		again.sequence = p->sequence;
		again.commit = true;
		return parse(&again, m->direction);
	}
	good = parse(p, m->direction);
	if (!good)
		message_wrong(m, reason(p));
	m->missing = p->missing;
	m->stateful = p->game && p->stateful;
	return good;
}

bool q3_decode_message(struct q3_parse *p, enum direction direction)
{
	struct record *r = p->record;
	struct message m = {
		.bytes = { p->b.data, p->b.size },
		.direction = direction,
		.sequence = (uint32_t)p->sequence,
		.state = p,
		.record = r,
	};
	bool good;

	good = message_decode(q3_message, &m);
	r->kind = (direction == DIRECTION_C2S ? client_kinds : server_kinds)[p->content];
	r->dialect = p->dialect->name;
	/* The protocol's number was not seen: it may be any that has these tables. */
	r->guess = p->dialect == &q3_dialect_legacy;
	r->untested = p->dialect->flags & Q3_UNTESTED;
	if (!good) {
		if (p->game)
			q3_snapshot_empty(p->game, q3_snapshot_work(p->game));
		return false;
	}
	if (!p->game)
		return true;
	if (direction == DIRECTION_C2S) {
		q3_game_played(p->game, p->acknowledged, p->server_id);
		return true;
	}
	q3_game_read(p->game, (uint32_t)p->sequence, p->base);
	if (p->content == Q3_HOLDS_SNAPSHOT)
		q3_snapshot_commit(p->game);
	return true;
}
