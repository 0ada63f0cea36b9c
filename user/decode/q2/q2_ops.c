// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * q2_ops.c - what ops of different files share: fields that they put on the record, and
 * what they change in the walk and its game. Called by the files of svc_ and clc_; see
 * q2_message.h.
 */
#include <string.h>

#include "decode/q2/q2_session.h"

struct q2_game *q2_commit(struct ops *o)
{
	struct q2_parse *p = q2_of(o);

	o->m->stateful |= p->session && !p->session->stale;
	if (!p->commit || !p->session || p->session->stale || q2_unread(p))
		return NULL;
	/* The message may be the first of its game: what follows in it sees that, too. */
	p->game = q2_game_get(p->session);
	return p->game;
}

struct q2_game *q2_commit_frame(struct ops *o, int32_t number)
{
	struct q2_parse *p = q2_of(o);

	if (!p->session || !p->session->stale)
		return q2_commit(o);
	if (!p->game || p->session->strange || !q2_frame_missed(p->game, number))
		return NULL;
	o->m->stateful = true;
	return p->commit ? p->game : NULL;
}

struct span q2_string(struct ops *o, const char *key)
{
	struct span s = reader_string(&o->rd);

	record_string(o->record, key, s.bytes, s.n);
	return s;
}

void q2_place(struct ops *o, const char *key)
{
	static const struct delta_row place[] = {
		{ "", 1, 0, DELTA_I16, 1, 0.125 }, { "", 1, 1, DELTA_I16, 2, 0.125 },
		{ "", 1, 2, DELTA_I16, 3, 0.125 }, { "", 2, 0, DELTA_I23, 1, 0.125 },
		{ "", 2, 1, DELTA_I23, 2, 0.125 }, { "", 2, 2, DELTA_I23, 3, 0.125 },
	};
	int32_t at[3] = { 0 };

	delta_read(&o->rd, place, 6, q2_of(o)->dialect.extensions2 ? 2 : 1, at);
	if (!RECORD_WANTED(o->record))
		return;
	record_open_array(o->record, key);
	for (int i = 0; i < 3; i++)
		record_float(o->record, NULL, at[i] * 0.125);
	record_close(o->record);
}

void q2_direction(struct ops *o, const char *key)
{
	uint8_t index = reader_u8(&o->rd);

	if (index >= Q2_DIRECTIONS) {
		ops_wrong(o, "direction beyond 161");
		return;
	}
	if (!RECORD_WANTED(o->record))
		return;
	record_open_array(o->record, key);
	for (int i = 0; i < 3; i++)
		record_float(o->record, NULL, (double)q2_directions[index][i]);
	record_close(o->record);
}

void q2_entity_number(struct ops *o, const char *key, unsigned int number,
		      unsigned int least)
{
	record_uint(o->record, key, number);
	if (number < least || number >= q2_entities(&q2_of(o)->dialect))
		ops_wrong(o, "entity number out of range");
}

void q2_end_file(struct ops *o)
{
	struct q2_parse *p = q2_of(o);
	struct q2_game *g = p->dialect.q2pro && p->game ? q2_commit(o) : NULL;

	if (g)
		q2_game_end_file(g);
}

bool q2_agreed(const struct q2_session *q, int32_t protocol)
{
	return !q || !q->now.has_connect || q->now.protocol == protocol;
}

/* Serverdata in front tells how all the rest is to be read. */
void q2_message_peek(struct q2_parse *p, struct span bytes)
{
	struct reader rd = reader_of(bytes.bytes, bytes.n);
	struct q2_serverdata s;
	struct q2_dialect d = p->dialect;

	if (reader_u8(&rd) == 12 &&
	    q2_serverdata_read(&rd, p->session ? p->session->now.minor : 0, &s, &d) &&
	    !reader_failed(&rd) && q2_agreed(p->session, s.protocol))
		p->dialect = d;
}

uint8_t q2_server_ops(struct q2_parse *p, struct span bytes)
{
	struct message inner = *p->message;
	uint8_t rank;

	inner.bytes = bytes;
	if (p->dialect.protocol != Q2_PROTOCOL_MVD)
		q2_message_peek(p, bytes);
	rank = p->server_walk(p, &inner);
	p->message->wrong = inner.wrong;
	p->message->missing = inner.missing;
	p->message->opaque = inner.opaque;
	p->message->stateful = inner.stateful;
	return rank;
}
