// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * q3_client.c - a message from a client.
 *
 *   serverId:32 messageAcknowledge:32 reliableAcknowledge:32
 *   { 4 number:32 text }  { voice }  2|3 user commands | nothing  5
 *
 *   user commands: count:8, each: relative:bit, serverTime 8 or 32, changed:bit, then
 *   per field a bit and its value XOR the low bits of (key ^ serverTime)
 */
#include <stdlib.h>

#include "decode/q3/q3_message.h"

#define MOVES_MAX     32
#define VOICE_MAX     4000
#define OLD_VOICE_MAX 1024
#define VOICE_TARGETS 8
#define OLD_EXTENSION 6
#define OLD_VOICE     7

enum client_op {
	OP_MOVE = 2,
	OP_MOVE_NO_DELTA,
	OP_COMMAND,
	OP_END,
	OP_VOICE_SPEEX,
	OP_VOICE_OPUS,
};

static void parse_command(struct q3_parse *p)
{
	size_t n;
	int32_t number = q3_command(p, "clientCommand", "userinfo \"", &n);

	if (p->content < Q3_HOLDS_COMMAND)
		p->content = Q3_HOLDS_COMMAND;
	if (p->commit)
		q3_text_put(&p->game->client, number, p->text, n, p->dialect);
}

static void parse_data(struct q3_parse *p, unsigned int n, unsigned int max)
{
	record_uint(p->record, "length", n);
	if (n > max) {
		q3_wrong(p, "voice too long");
		return;
	}
	q3_get_bytes(&p->b, (uint8_t *)p->text, n);
	record_hex(p->record, "data", p->text, n);
}

static void parse_voice(struct q3_parse *p, const char *name, bool old)
{
	uint8_t targets[VOICE_TARGETS];

	q3_open_op(p, name);
	record_uint(p->record, "generation", q3_get(&p->b, 8));
	record_int(p->record, "sequence", q3_get_long(&p->b));
	record_uint(p->record, "frames", q3_get(&p->b, 8));
	if (old) {
		record_open_array(p->record, "recipients");
		for (int i = 0; i < 3; i++)
			record_uint(p->record, NULL, q3_get(&p->b, 32));
		record_close(p->record);
	} else {
		q3_get_bytes(&p->b, targets, sizeof(targets));
		record_hex(p->record, "targets", targets, sizeof(targets));
		record_uint(p->record, "flags", q3_get(&p->b, 8));
	}
	parse_data(p, q3_get(&p->b, 16), old ? OLD_VOICE_MAX : VOICE_MAX);
	record_close(p->record);
	if (p->content < Q3_HOLDS_VOICE)
		p->content = Q3_HOLDS_VOICE;
}

static void parse_move_fields(struct q3_parse *p, uint32_t *move, uint32_t key)
{
	const struct q3_table *t = &p->dialect->moves;

	for (unsigned int i = 0; i < t->count; i++) {
		int bits = t->fields[i].bits;
		unsigned int width = (unsigned int)abs(bits);

		if (!q3_get_bit(&p->b))
			continue;
		move[i] = (q3_get(&p->b, width) ^ key) & ((1U << width) - 1);
		if (bits < 0)
			move[i] = q3_extend(move[i], width);
		/* The most negative step is made one less by the engine. */
		if (i >= Q3_MOVE_FORWARD && i <= Q3_MOVE_UP && (int32_t)move[i] == -128)
			move[i] = (uint32_t)-127;
	}
}

/* Where the fields stand, of which the bits begin at @from: @at, and one more. */
static void trace_move(const struct q3_parse *p, uint32_t from, uint32_t *at)
{
	const struct q3_table *t = &p->dialect->moves;
	struct q3_bits again = p->b;
	bool changed;

	again.pos = from;
	changed = q3_get_bit(&again);
	for (unsigned int i = 0; i < t->count; i++) {
		at[i] = again.pos;
		if (changed && q3_get_bit(&again))
			q3_get(&again, (unsigned int)abs(t->fields[i].bits));
		at[i + 1] = again.pos;
	}
}

/* @from: of the bit behind its time. */
static void describe_move(struct q3_parse *p, int32_t time, const uint32_t *move,
			  uint32_t from)
{
	const struct q3_table *t = &p->dialect->moves;
	uint32_t at[Q3_MOVE_WORDS + 1];
	uint8_t all[Q3_MOVE_WORDS];
	bool traced = RECORD_TRACED(p->record);

	for (unsigned int i = 0; i < t->count; i++)
		all[i] = (uint8_t)i;
	if (traced)
		trace_move(p, from, at);
	record_hold(p->record, true);
	record_open_object(p->record, NULL);
	record_until(p->record, from + 1);
	record_int(p->record, "serverTime", time);
	q3_describe_all(p->record, t, all, p->key_known ? (unsigned int)t->count : 0,
			move, traced ? at : NULL);
	record_close(p->record);
}

static void parse_moves(struct q3_parse *p, bool delta)
{
	uint32_t move[Q3_MOVE_WORDS] = { 0 };
	unsigned int count;
	uint32_t time = 0;

	q3_open_op(p, delta ? "move" : "moveNoDelta");
	count = q3_get(&p->b, 8);
	record_mark(p->record);
	record_open_array(p->record, "usercmds");
	if (count < 1 || count > MOVES_MAX)
		q3_wrong(p, "number of user commands out of range");
	for (unsigned int i = 0; i < count && !q3_failed(p); i++) {
		uint32_t from;

		time = q3_get_bit(&p->b) ? time + q3_get(&p->b, 8) : q3_get(&p->b, 32);
		from = p->b.pos;
		if (q3_get_bit(&p->b))
			parse_move_fields(p, move, p->key ^ time);
		if (RECORD_WANTED(p->record))
			describe_move(p, (int32_t)time, move, from);
	}
	record_close(p->record);
	record_close(p->record);
	p->record->facts.has |= FACT_COMMAND_TIME;
	p->record->facts.command_us = (int32_t)time * 1000LL;
	if (!p->key_known && !p->missing)
		p->missing = "user command key unknown: no gamestate of this server id";
	p->content = Q3_HOLDS_MOVE;
}

/* True if a move, which is the last, has been read. */
static bool parse_op(struct q3_parse *p, unsigned int op)
{
	bool voice = p->dialect->flags & Q3_VOICE;

	if (op == OP_COMMAND)
		parse_command(p);
	else if (op == OP_MOVE || op == OP_MOVE_NO_DELTA)
		parse_moves(p, op == OP_MOVE);
	else if (op == OP_VOICE_SPEEX && voice)
		parse_voice(p, "voipSpeex", false);
	else if (op == OP_VOICE_OPUS && voice)
		parse_voice(p, "voipOpus", false);
	else
		q3_wrong(p, "unknown op");
	return op == OP_MOVE || op == OP_MOVE_NO_DELTA;
}

static void parse_old_voice(struct q3_parse *p)
{
	struct q3_bits ahead = p->b;

	if (p->b.size <= p->b.pos / 8 + 2 || q3_get(&ahead, 8) != OLD_EXTENSION)
		return;
	if (q3_get(&ahead, 8) != OLD_VOICE || q3_bits_failed(&ahead))
		return;
	p->b = ahead;
	parse_voice(p, "voip", true);
	if (q3_get(&p->b, 8) != OP_END)
		q3_wrong(p, "unknown op");
}

bool q3_parse_client(struct q3_parse *p)
{
	int32_t id = q3_get_long(&p->b), acknowledge, reliable;
	bool moved = false;

	record_int(p->record, "serverId", id);
	acknowledge = q3_get_long(&p->b);
	record_int(p->record, "messageAcknowledge", acknowledge);
	reliable = q3_get_long(&p->b);
	p->server_id = id;
	p->acknowledged = (uint32_t)acknowledge;
	p->record->facts.has |= FACT_ACK;
	p->record->facts.ack = (uint32_t)acknowledge;
	record_int(p->record, "reliableAcknowledge", reliable);
	if (acknowledge < 0 || reliable < 0)
		q3_wrong(p, "negative acknowledge");
	if (p->dialect->flags & Q3_CLIENT_EXTRA)
		record_uint(p->record, "extra", q3_get(&p->b, 8));
	record_open_array(p->record, "ops");
	while (!q3_failed(p)) {
		unsigned int op = q3_get(&p->b, 8);

		if (op == OP_END)
			break;
		if (moved)
			q3_wrong(p, "op after the user commands");
		else
			moved = parse_op(p, op);
	}
	if (!q3_failed(p))
		parse_old_voice(p);
	record_close(p->record);
	q3_parse_end(p);
	return !q3_failed(p);
}
