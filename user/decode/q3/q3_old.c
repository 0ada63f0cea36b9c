// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * q3_old.c - messages of protocols 43 to 48, as demos (.dm3, .dm_48) hold them.
 *
 * The same ops and snapshots as later (q3_snapshot.c), but raw bits instead of Huffman
 * codes, no op at the end (up to 7 bits are left), and other deltas; the acknowledge
 * stands in the snapshot (43, 45) or in front of the message (48):
 *
 *   gamestate: op 2, number:32, { 3 index:16 text | 4 entity:10 delta } 0
 *   snapshot:  op 7, [acknowledge:32] serverTime:32, then as later
 *   entity:    remove:bit; if not: changed:bit; if so: mask:5 (31: 50 bits follow), the
 *              fields of the mask; a float is full:bit, then 13 or 32 bits
 *   player:    each field a bit; four arrays, each a bit and a mask
 *
 * Learnt from mightycow/uberdemotools (deltas) and from a recording (framing), of which
 * all 18232 blocks parse to their last byte. It is of protocol 45; where the acknowledge
 * of 48 stands was found on a recording of 18330 blocks, by others.
 */
#include "decode/q3/q3_demo.h"

#define OP_GAMESTATE	2
#define OP_CONFIGSTRING 3
#define OP_BASELINE	4
#define OP_COMMAND	5
#define OP_SNAPSHOT	7
static size_t raw_string(struct q3_parse *p, const char *key, size_t max)
{
	size_t n = 0;

	while (!q3_failed(p)) {
		char c = (char)q3_raw(&p->b, 8);

		if (!c)
			break;
		if (n == max) {
			q3_wrong(p, "string too long");
			break;
		}
		p->text[n++] = c;
	}
	record_string(p->record, key, p->text, n);
	return n;
}

static void parse_configstring(struct q3_parse *p)
{
	unsigned int index;
	size_t n;

	record_open_object(p->record, NULL);
	record_string(p->record, "op", "configstring", 12);
	index = q3_raw(&p->b, 16);
	record_uint(p->record, "index", index);
	n = raw_string(p, "text", Q3_BIGSTRING_MAX);
	q3_configstring_end(p, index, n);
}

static void parse_baseline(struct q3_parse *p)
{
	unsigned int number = q3_raw(&p->b, 10);
	uint32_t scratch[Q3_ENTITY_WORDS];
	uint16_t state = Q3_NONE;

	record_open_object(p->record, NULL);
	record_string(p->record, "op", "baseline", 8);
	record_uint(p->record, "number", number);
	if (q3_delta_entity_kind(p) != Q3_DELTA_CHANGED || number > Q3_ENTITY_WORLD)
		q3_wrong(p, "baseline without a state");
	if (p->commit && !p->game->baseline[number]) {
		state = q3_state_copy(p->game, 0, NULL);
		p->game->baseline[number] = state;
	}
	q3_old_entity(p, state == Q3_NONE ? scratch : q3_state(p->game, state));
	record_close(p->record);
}

static void parse_gamestate(struct q3_parse *p)
{
	unsigned int op;

	q3_open_op(p, "gamestate");
	record_int(p->record, "serverCommandNumber", (int32_t)q3_raw(&p->b, 32));
	if (p->commit)
		q3_game_clear(p->game, p->dialect);
	record_open_array(p->record, "ops");
	while (!q3_failed(p) && (op = q3_raw(&p->b, 8))) {
		if (op == OP_CONFIGSTRING)
			parse_configstring(p);
		else if (op == OP_BASELINE)
			parse_baseline(p);
		else
			q3_wrong(p, "unknown op in a gamestate");
	}
	record_close(p->record);
	record_close(p->record);
	p->content = Q3_HOLDS_GAMESTATE;
	p->stateful = true;
	if (p->commit)
		q3_game_begin(p->game, (uint32_t)p->sequence, NULL, 0);
}

static void parse_command(struct q3_parse *p)
{
	int32_t number;
	size_t n;

	q3_open_op(p, "serverCommand");
	number = (int32_t)q3_raw(&p->b, 32);
	record_int(p->record, "number", number);
	n = raw_string(p, "text", Q3_STRING_MAX);
	q3_fact_text(p, "cs 0 \"", n);
	record_close(p->record);
	if (p->content < Q3_HOLDS_COMMAND)
		p->content = Q3_HOLDS_COMMAND;
	p->stateful = true;
	if (p->commit && q3_text_put(&p->game->server, number, p->text, n, p->dialect))
		q3_game_command(p->game, number, (uint32_t)p->sequence, p->text, n);
}

bool q3_parse_old(struct q3_parse *p)
{
	if (!p->b.size)
		q3_wrong(p, "empty message");
	if (p->dialect->flags & Q3_ACK_FIRST)
		record_int(p->record, "reliableAcknowledge", (int32_t)q3_raw(&p->b, 32));
	record_open_array(p->record, "ops");
	while (!q3_failed(p) && p->b.pos + 8 <= p->b.size * 8) {
		unsigned int op = q3_raw(&p->b, 8);

		if (op == OP_SNAPSHOT)
			q3_parse_old_snapshot(p);
		else if (op == OP_COMMAND)
			parse_command(p);
		else if (op == OP_GAMESTATE)
			parse_gamestate(p);
		else
			q3_wrong(p, "unknown op");
	}
	record_close(p->record);
	if (!q3_failed(p) && q3_raw(&p->b, p->b.size * 8 - p->b.pos))
		q3_wrong(p, "bits after the end of the message");
	return !q3_failed(p);
}
