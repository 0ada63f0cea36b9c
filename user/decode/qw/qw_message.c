// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * qw_message.c - a whole message, by the rule of decode/message.h. An entity frame is
 * built aside and stored when the message is right, so that the usual message needs no
 * second parse.
 */
#include "decode/qw/qw_message.h"

static const char *const server_kinds[QW_HOLDS_COUNT] = {
	[QW_HOLDS_NOTHING] = "server-idle", [QW_HOLDS_COMMAND] = "server-command",
	[QW_HOLDS_SNAPSHOT] = "snapshot",   [QW_HOLDS_DOWNLOAD] = "download",
	[QW_HOLDS_GAMESTATE] = "gamestate",
};

static const char *const client_kinds[QW_HOLDS_COUNT] = {
	[QW_HOLDS_NOTHING] = "client-idle",	 [QW_HOLDS_COMMAND] = "client-command",
	[QW_HOLDS_SNAPSHOT] = "client-move",	 [QW_HOLDS_DOWNLOAD] = "client-command",
	[QW_HOLDS_GAMESTATE] = "client-command",
};

static void begin(struct qw_parse *p, struct qw_session *s, bool late)
{
	p->session = s;
	p->late = late;
	p->leans = false;
	p->has_frame = false;
	p->hole = false;
	p->holds = QW_HOLDS_NOTHING;
	if (s)
		p->terms = s->terms;
	else
		memset(&p->terms, 0, sizeof(p->terms));
}

bool qw_message(struct message *m)
{
	const struct op *table =
		m->direction == DIRECTION_C2S ? qw_client_ops : qw_server_ops;
	struct qw_parse *p = m->state, own;

	if (!p || m->commit) {
		begin(&own, p ? p->session : NULL, false);
		message_ops(m, table, &own);
	} else {
		p->holds = (enum qw_rank)message_ops(m, table, p);
	}
	return !m->wrong;
}

/*
 * Into the ring, by its sequence. One that comes late may still be asked for, so it is
 * taken where nothing newer stands.
 */
static void store(struct qw_session *s, const struct qw_parse *p)
{
	struct qw_game *g = qw_session_game(s);
	struct qw_frame *slot;
	bool newer;

	if (!g)
		return;
	slot = &g->frames[p->frame.sequence % QW_FRAMES];
	newer = slot->stored && (int32_t)(p->frame.sequence - slot->sequence) <= 0;
	if (p->late && (s->strange || newer))
		return;
	*slot = p->frame;
	s->join.holes |= p->hole;
	if (p->base)
		qw_session_differs(s, p->base, p->frame.sequence);
	if (!p->terms.recording)
		return;
	g->newest = p->frame.sequence;
	if (p->base) {
		g->has_from = true;
		g->from = p->from;
		g->wholes = 0;
	} else if (g->wholes < UINT8_MAX) {
		g->wholes++;
	}
}

bool qw_message_trial(struct qw_session *s, uint32_t sequence, struct span bytes,
		      struct record *r, bool *leans)
{
	struct qw_parse p;
	struct message m = {
		.bytes = bytes,
		.direction = DIRECTION_S2C,
		.sequence = sequence,
		.state = &p,
		.record = r,
	};

	begin(&p, s, true);
	if (!message_decode(qw_message, &m))
		return false;
	if (leans)
		*leans = p.leans;
	return true;
}

bool qw_message_decode(struct qw_session *s, enum direction direction, uint32_t sequence,
		       struct span bytes, bool late, struct record *r)
{
	struct qw_parse p;
	struct message m = {
		.bytes = bytes,
		.direction = direction,
		.sequence = sequence,
		.state = &p,
		.record = r,
	};
	bool good;

	begin(&p, s, late);
	good = message_decode(qw_message, &m);
	r->kind = (direction == DIRECTION_C2S ? client_kinds : server_kinds)[p.holds];
	if (!good || !s)
		return good;
	if (p.has_frame)
		store(s, &p);
	if (direction == DIRECTION_S2C && !late) {
		evidence_account(&s->join.map, sequence, sequence);
		evidence_account(&s->updates, sequence, sequence);
	}
	return true;
}
