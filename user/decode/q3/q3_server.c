// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * q3_server.c - a message from the server.
 *
 *   reliableAcknowledge:32, then op:8 and its data, until the op of the end
 *
 * The length is always floor(bits / 8) + 1 bytes; one byte more is tolerated, since a
 * writer in the wild does that.
 */
#include "decode/q3/q3_message.h"

#define DOWNLOAD_MAX  16384
#define VOICE_MAX     4000
#define OLD_VOICE_MAX 1024
#define OLD_EXTENSION 9
#define OLD_VOICE     10

enum server_op {
	OP_NOP = 1,
	OP_GAMESTATE,
	OP_CONFIGSTRING,
	OP_BASELINE,
	OP_COMMAND,
	OP_DOWNLOAD,
	OP_SNAPSHOT,
	OP_VOICE_SPEEX = 9,
	OP_VOICE_OPUS,
};

static void holds(struct q3_parse *p, enum q3_content content)
{
	if (content > p->content)
		p->content = content;
}

static void parse_command(struct q3_parse *p)
{
	size_t n;
	int32_t number = q3_command(p, "serverCommand", "cs 0 \"", &n);

	holds(p, Q3_HOLDS_COMMAND);
	if (p->commit && q3_text_put(&p->game->server, number, p->text, n, p->dialect))
		q3_game_command(p->game, number, (uint32_t)p->sequence, p->text, n);
}

static void parse_configstring(struct q3_parse *p, size_t *total)
{
	unsigned int index = q3_get(&p->b, 16);
	size_t n;

	record_open_object(p->record, NULL);
	record_uint(p->record, "index", index);
	q3_string(p, "text", Q3_BIGSTRING_MAX, &n);
	q3_configstring_end(p, index, n);
	*total += n + 1;
}

static void parse_baseline(struct q3_parse *p)
{
	unsigned int number = q3_get(&p->b, 10);
	uint32_t scratch[Q3_ENTITY_WORDS] = { 0 };
	enum q3_delta kind;
	uint16_t state = Q3_NONE;

	record_open_object(p->record, NULL);
	record_uint(p->record, "number", number);
	if (number > Q3_ENTITY_WORLD)
		q3_wrong(p, "baseline of entity 1023");
	kind = q3_delta_entity_kind(p);
	if (kind == Q3_DELTA_REMOVED)
		q3_wrong(p, "baseline of a removed entity");
	if (p->commit && !p->game->baseline[number])
		state = q3_state_copy(p->game, 0, NULL);
	if (kind == Q3_DELTA_CHANGED)
		q3_delta_entity(p, state == Q3_NONE ? scratch : q3_state(p->game, state));
	if (state != Q3_NONE)
		p->game->baseline[number] = state;
	record_close(p->record);
}

/* Configstrings and baselines, in any order; each kind is one array on the record. */
static void parse_gamestate_ops(struct q3_parse *p)
{
	size_t total = 1;
	unsigned int op, open = 0;

	for (;;) {
		op = q3_get(&p->b, 8);
		if (q3_failed(p) || op == p->dialect->eof)
			break;
		if (op != OP_CONFIGSTRING && op != OP_BASELINE) {
			q3_wrong(p, "unknown op in a gamestate");
			break;
		}
		if (open && open != op)
			record_close(p->record);
		if (open != op)
			record_open_array(p->record, op == OP_BASELINE ? "baselines"
								       : "configstrings");
		open = op;
		if (op == OP_BASELINE)
			parse_baseline(p);
		else
			parse_configstring(p, &total);
	}
	if (open)
		record_close(p->record);
	if (total > (p->dialect->message_max > 16384 ? 32000 : 16000))
		q3_wrong(p, "configstrings longer than 16000");
}

static void q3_parse_gamestate(struct q3_parse *p)
{
	struct q3_game *g = p->game;
	int32_t number, client, feed, server_id;
	const char *system;
	size_t n;

	q3_open_op(p, "gamestate");
	number = q3_get_long(&p->b);
	record_int(p->record, "serverCommandNumber", number);
	if (p->commit)
		q3_game_clear(g, p->dialect);
	parse_gamestate_ops(p);
	client = q3_get_long(&p->b);
	record_int(p->record, "clientNum", client);
	feed = q3_get_long(&p->b);
	record_int(p->record, "checksumFeed", feed);
	if (p->dialect->flags & Q3_GAMESTATE_TAIL)
		record_uint(p->record, "tail", q3_get(&p->b, 16));
	record_close(p->record);
	if (client < 0 || client > 63)
		q3_wrong(p, "client number out of range");
	holds(p, Q3_HOLDS_GAMESTATE);
	p->stateful = true;
	if (!p->commit)
		return;
	system = q3_configstring(g, 1, &n);
	g->client_num = client;
	if (q3_info_number(system, n, "sv_serverid", &server_id))
		q3_game_begin(g, (uint32_t)p->sequence, &server_id, feed);
	else
		q3_game_begin(g, (uint32_t)p->sequence, NULL, feed);
}

/* Skips @n coded bytes; on the record they are hex. */
static void parse_data(struct q3_parse *p, size_t n)
{
	for (size_t done = 0; done < n && !q3_failed(p);) {
		size_t part = n - done < sizeof(p->text) ? n - done : sizeof(p->text);

		q3_get_bytes(&p->b, (uint8_t *)p->text, part);
		record_hex(p->record, "data", p->text, part);
		done += part;
	}
}

static void parse_download(struct q3_parse *p)
{
	unsigned int block, n;
	int32_t size = 0;

	q3_open_op(p, "download");
	block = q3_get(&p->b, 16);
	record_uint(p->record, "block", block);
	holds(p, Q3_HOLDS_DOWNLOAD);
	if (block == 0xffff && p->dialect->flags & Q3_TRAILING_DATA) {
		q3_string(p, "url", Q3_STRING_MAX, NULL);
		record_int(p->record, "size", q3_get_long(&p->b));
		record_uint(p->record, "flags", (uint32_t)q3_get_long(&p->b));
		record_close(p->record);
		return;
	}
	if (!block) {
		size = q3_get_long(&p->b);
		record_int(p->record, "size", size);
	}
	if (size < 0) {
		if (size != -1)
			q3_wrong(p, "download size below -1");
		q3_string(p, "refusal", Q3_STRING_MAX, NULL);
	} else {
		n = q3_get(&p->b, 16);
		record_uint(p->record, "length", n);
		if (n > DOWNLOAD_MAX)
			q3_wrong(p, "download block longer than 16384");
		else
			parse_data(p, n);
	}
	record_close(p->record);
}

static void parse_voice(struct q3_parse *p, const char *name, bool old)
{
	unsigned int sender, n;

	q3_open_op(p, name);
	sender = q3_get(&p->b, 16);
	record_uint(p->record, "sender", sender);
	record_uint(p->record, "generation", q3_get(&p->b, 8));
	record_int(p->record, "sequence", q3_get_long(&p->b));
	record_uint(p->record, "frames", q3_get(&p->b, 8));
	n = q3_get(&p->b, 16);
	record_uint(p->record, "length", n);
	if (!old)
		record_uint(p->record, "flags", q3_get(&p->b, 2));
	if (sender > 63)
		q3_wrong(p, "voice of a client beyond 63");
	if (n > (old ? OLD_VOICE_MAX : VOICE_MAX))
		q3_wrong(p, "voice too long");
	else
		parse_data(p, n);
	record_close(p->record);
	holds(p, Q3_HOLDS_VOICE);
}

static void parse_mapchange(struct q3_parse *p)
{
	q3_open_op(p, "mapchange");
	record_close(p->record);
}

static void parse_setgame(struct q3_parse *p)
{
	q3_open_op(p, "setgame");
	q3_string(p, "game", Q3_STRING_MAX, NULL);
	record_close(p->record);
}

static void parse_op(struct q3_parse *p, unsigned int op)
{
	const struct q3_dialect *d = p->dialect;
	bool voice = d->flags & Q3_VOICE;

	if (op == OP_NOP)
		;
	else if (op == OP_COMMAND)
		parse_command(p);
	else if (op == OP_SNAPSHOT)
		q3_parse_snapshot(p);
	else if (op == OP_GAMESTATE)
		q3_parse_gamestate(p);
	else if (op == OP_DOWNLOAD)
		parse_download(p);
	else if (op == OP_VOICE_SPEEX && voice)
		parse_voice(p, "voipSpeex", false);
	else if (op == OP_VOICE_OPUS && voice)
		parse_voice(p, "voipOpus", false);
	else if (op && op == d->setgame)
		parse_setgame(p);
	else if (op && op == d->mapchange)
		parse_mapchange(p);
	else
		q3_wrong(p, "unknown op");
}

/* Voice between 2008 and 2011 stood behind the end. True: there is some. */
static bool old_extension(struct q3_parse *p, unsigned int op)
{
	struct q3_bits ahead = p->b;

	if (p->b.size <= p->b.pos / 8 + 2 || q3_get(&ahead, 8) != op ||
	    q3_bits_failed(&ahead))
		return false;
	p->b = ahead;
	return true;
}

bool q3_parse_server(struct q3_parse *p)
{
	const struct q3_dialect *d = p->dialect;
	struct q3_bits only = p->b;
	unsigned int op;

	if (d->flags & Q3_PLAIN)
		return q3_parse_old(p);
	/* An overflowed snapshot goes out as the end alone. */
	if (p->b.size == 1 && q3_get(&only, 8) == d->eof)
		return true;
	record_int(p->record, "reliableAcknowledge", q3_get_long(&p->b));
	record_open_array(p->record, "ops");
	while (!q3_failed(p)) {
		op = q3_get(&p->b, 8);
		if (op != d->eof)
			parse_op(p, op);
		else if (!old_extension(p, OLD_EXTENSION))
			break;
		else if (q3_get(&p->b, 8) == OLD_VOICE)
			parse_voice(p, "voip", true);
		else
			q3_wrong(p, "unknown extension op");
	}
	record_close(p->record);
	q3_parse_end(p);
	return !q3_failed(p);
}
