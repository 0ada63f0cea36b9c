// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * q2_message.c - a whole message: which table of ops it is read by, and its kind.
 */
#include "decode/q2/q2_message.h"
#include "decode/q2/q2_mvd.h"

/* By rank; of a client first. */
static const char *const kinds[2][Q2_RANK_FRAME + 1] = {
	{ "client-idle", "client-idle", "client-command", "client-command",
	  "client-command", "client-move" },
	{ "server-idle", "server-idle", "server-command", "download", "gamestate",
	  "frame" },
};

bool q2_message_as(struct message *m, const struct q2_dialect *d, size_t *left,
		   struct q2_parse *p)
{
	struct q2_session *q = m->state;
	bool server = m->direction == DIRECTION_S2C;

	*p = (struct q2_parse){
		.session = q,
		.game = q ? q->game : NULL,
		.dialect = *d,
		.message = m,
		.commit = m->commit,
		.sequence = m->sequence,
		.left = left,
		.server_walk = q2_server_walk,
	};
	if (d->protocol == Q2_PROTOCOL_MVD) {
		p->rank = q2_mvd_walk(p, m);
	} else if (server) {
		q2_message_peek(p, m->bytes);
		p->rank = q2_server_walk(p, m);
	} else {
		p->rank = q2_client_walk(p, m);
	}
	m->record->kind = kinds[server][p->rank];
	if (m->record->status < RECORD_OPAQUE && p->dialect.name)
		m->record->dialect = p->dialect.name;
	m->record->untested = p->dialect.extensions || p->dialect.protocol == 26 ||
			      p->dialect.protocol == 36;
	return !m->wrong && !m->opaque;
}

bool q2_message(struct message *m)
{
	const struct q2_session *q = m->state;
	size_t left = Q2_INFLATE_MAX;
	struct q2_dialect plain;
	struct q2_parse p;

	q2_dialect_of(34, 0, 0, &plain);
	return q2_message_as(m, q && q->dialect.name ? &q->dialect : &plain, &left, &p);
}
