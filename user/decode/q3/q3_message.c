// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * q3_message.c - a whole message: parse, judge, commit.
 *
 * The first parse fills the record and changes nothing. Only if it was right to the
 * last bit, a second one, silent, stores what it says; a message that holds nothing but
 * a snapshot needs no second one, since the snapshot has been built aside.
 */
#include "decode/q3/q3_message.h"

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
	return direction == DIRECTION_C2S ? q3_parse_client(p) : q3_parse_server(p);
}

static void commit(struct q3_parse *p, enum direction direction)
{
	struct record silent;
	struct q3_parse again;

	if (p->stateful) {
		record_reset(&silent, NULL);
		q3_parse_init(&again, p->b.data, p->b.size, p->dialect, p->game, &silent);
		again.b.slack = p->b.slack;
		again.sequence = p->sequence;
		again.commit = true;
		parse(&again, direction);
	}
	if (direction == DIRECTION_S2C && p->content == Q3_HOLDS_SNAPSHOT)
		q3_snapshot_commit(p->game);
}

static const char *reason(const struct q3_parse *p)
{
	if (p->wrong)
		return p->wrong;
	if (p->b.pos > p->b.size * 8)
		return "message ends too early";
	return "no such Huffman code, or a string that is too long";
}

bool q3_decode_message(struct q3_parse *p, enum direction direction)
{
	bool good = parse(p, direction);
	struct record *r = p->record;

	r->kind = (direction == DIRECTION_C2S ? client_kinds : server_kinds)[p->content];
	r->dialect = p->dialect->name;
	if (!good) {
		record_malformed(r, reason(p));
		if (p->game)
			q3_snapshot_empty(p->game, q3_snapshot_work(p->game));
		return false;
	}
	if (p->missing)
		record_partial(r, p->missing);
	if (p->game && p->commit)
		commit(p, direction);
	return true;
}
