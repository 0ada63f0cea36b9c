// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * q3_known.c - which gamestate holds: its baselines, and the feed of its moves.
 *
 * A gamestate is a message like any other, so one that was not seen may have begun
 * another map. None has if
 *
 *	a snapshot is a difference to an earlier one: a client that gets a gamestate
 *	forgets its snapshots, so there was none since the base;
 *	a client that has read that far names a server id that is known: a gamestate
 *	brings one of its own.
 *
 * A map_restart brings a server id too, in a command, and keeps baselines and feed.
 *
 * Sources: ioquake3 code/server/sv_snapshot.c, sv_client.c, sv_ccmds.c;
 * code/client/cl_parse.c, cl_input.c.
 */
#include "decode/q3/q3_state.h"

/* A message that is so far behind may be a later connection's, with the same key. */
#define BEHIND_MAX 64

bool q3_game_known(const struct q3_game *g, uint32_t sequence)
{
	return !g->strange_id && evidence_holds(&g->gamestate, sequence) &&
	       (int32_t)(g->gamestate.upto - sequence) < BEHIND_MAX;
}

void q3_feed_put(struct q3_game *g, int32_t server_id, int32_t feed)
{
	for (unsigned int i = 0; i < Q3_FEEDS; i++)
		if (g->feeds[i].known && g->feeds[i].server_id == server_id)
			g->feeds[i].known = false;
	g->feeds[g->feed_next] = (struct q3_feed){ server_id, feed, true };
	g->feed_next = (g->feed_next + 1) % Q3_FEEDS;
}

const struct q3_feed *q3_feed_find(const struct q3_game *g, int32_t server_id)
{
	for (unsigned int i = 0; i < Q3_FEEDS; i++)
		if (g->feeds[i].known && g->feeds[i].server_id == server_id)
			return &g->feeds[i];
	return NULL;
}

/* The feed of the last server id is this one's, too. */
static void same_feed(struct q3_game *g, int32_t server_id)
{
	const struct q3_feed *last = &g->feeds[(g->feed_next + Q3_FEEDS - 1) % Q3_FEEDS];

	g->restart.server_id = 0;
	if (g->strange_id == server_id)
		g->strange_id = 0;
	if (last->known)
		q3_feed_put(g, server_id, last->feed);
}

/* A restart counts as soon as it is certain which map it is of. */
static void settle_restart(struct q3_game *g)
{
	if (g->restart.server_id && g->gamestate_sequence &&
	    (!g->strange_id || g->strange_id == g->restart.server_id) &&
	    evidence_holds(&g->gamestate, g->restart.sequence))
		same_feed(g, g->restart.server_id);
}

void q3_game_begin(struct q3_game *g, uint32_t sequence, const int32_t *server_id,
		   int32_t feed)
{
	evidence_begin(&g->gamestate, sequence);
	g->gamestate_sequence = (int32_t)sequence;
	g->differs = false;
	g->strange_id = 0;
	g->restart.server_id = 0;
	if (server_id)
		q3_feed_put(g, *server_id, feed);
}

void q3_game_read(struct q3_game *g, uint32_t sequence, uint32_t base)
{
	evidence_account(&g->gamestate, base ? base : sequence, sequence);
	g->differs = base != 0;
	settle_restart(g);
}

void q3_game_played(struct q3_game *g, uint32_t sequence, int32_t server_id)
{
	bool none_yet = !server_id && !g->gamestate_sequence;

	if ((int32_t)sequence < g->gamestate_sequence)
		return;
	if (!none_yet && !q3_feed_find(g, server_id)) {
		g->strange_id = server_id;
		return;
	}
	evidence_account(&g->gamestate, g->gamestate.upto + 1, sequence);
	settle_restart(g);
}

void q3_game_restart(struct q3_game *g, uint32_t sequence, int32_t server_id)
{
	if (!g->gamestate_sequence || q3_feed_find(g, server_id))
		return;
	g->restart.server_id = server_id;
	g->restart.sequence = sequence;
	settle_restart(g);
}
