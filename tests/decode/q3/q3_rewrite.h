/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * q3_rewrite.h - a message written again from its record and the states it has built:
 * commands and headers from the record, deltas from two states.
 */
#ifndef Q3_REWRITE_H
#define Q3_REWRITE_H

#include "decode/q3/q3_support.h"

static inline const struct record_item *
field(const struct record *r, const struct record_item *from, const char *key)
{
	const struct record_item *i = find_item(r, from, key);

	assert_non_null(i);
	return i;
}

static inline void put_command(struct writer *w, const struct record *r,
			       const struct record_item *at, unsigned int op)
{
	const struct record_item *text = field(r, at, "text");

	put(w, op, 8);
	put(w, (uint32_t)field(r, at, "number")->i, 32);
	put_text(w, item_bytes(r, text), text->size);
}

/* The names of entity @number, of which @at is the record's next; steps over it. */
static inline const bool *named_of(const struct record *r, const struct record_item **at,
				   unsigned int number, const struct q3_table *t)
{
	static bool named[Q3_FIELDS_MAX];

	memset(named, 0, sizeof(named));
	if (*at && (*at)->i == number) {
		find_named(r, *at - 1, t, named);
		*at = find_item(r, *at + 1, "number");
	}
	return named;
}

static inline void put_entities(struct writer *w, struct q3_game *g,
				const struct record *r, const struct record_item *at,
				const struct q3_snapshot *from,
				const struct q3_snapshot *to)
{
	const struct q3_table *t = &g->dialect->entity;
	unsigned int i = 0, k = 0, none = from ? from->count : 0;

	at = find_item(r, at, "number");
	while (i < none || k < to->count) {
		unsigned int old = i < none ? from->entity[i].number : Q3_ENTITIES;
		unsigned int fresh = k < to->count ? to->entity[k].number : Q3_ENTITIES;
		const bool *named = named_of(r, &at, old < fresh ? old : fresh, t);

		if (old < fresh) {
			put_removed(w, old);
			i++;
			continue;
		}
		put_entity(w, t, fresh,
			   q3_state(g, old == fresh ? from->entity[i].state
						    : g->baseline[fresh]),
			   q3_state(g, to->entity[k].state), named, old != fresh);
		i += old == fresh;
		k++;
	}
	assert_null(at);
	put(w, Q3_ENTITY_END, 10);
}

static inline bool put_snapshot(struct writer *w, struct q3_game *g,
				const struct record *r, const struct record_item *at,
				int64_t sequence)
{
	static const uint32_t zero[Q3_PLAYER_WORDS];
	bool named[Q3_FIELDS_MAX];
	unsigned int delta = (unsigned int)field(r, at, "deltaNum")->i;
	const struct record_item *areas = field(r, at, "areamask");
	const struct q3_snapshot *to = q3_snapshot_find(g, (int32_t)sequence);
	const struct q3_snapshot *from =
		delta ? q3_snapshot_find(g, (int32_t)(sequence - delta)) : NULL;

	if (!to || (delta && !from))
		return false;
	put(w, 7, 8);
	put(w, (uint32_t)field(r, at, "serverTime")->i, 32);
	put(w, delta, 8);
	put(w, (uint32_t)field(r, at, "snapFlags")->i, 8);
	put(w, areas->size, 8);
	for (size_t i = 0; i < areas->size; i++)
		put(w, (uint8_t)item_bytes(r, areas)[i], 8);
	find_named(r, field(r, at, "player"), &g->dialect->player, named);
	put_player(w, g->dialect, from ? from->player : zero, to->player, named);
	put_entities(w, g, r, field(r, at, "entities"), from, to);
	return true;
}

static inline void put_gamestate(struct writer *w, struct q3_game *g,
				 const struct record *r, const struct record_item *at)
{
	put(w, 2, 8);
	put(w, (uint32_t)field(r, at, "serverCommandNumber")->i, 32);
	for (const struct record_item *i = find_item(r, at, "index"); i;
	     i = find_item(r, i + 1, "index")) {
		put(w, 3, 8);
		put(w, (uint32_t)i->i, 16);
		put_text(w, item_bytes(r, i + 1), i[1].size);
	}
	for (unsigned int n = 0; n < Q3_ENTITIES; n++) {
		if (!g->baseline[n])
			continue;
		put(w, 4, 8);
		put_entity(w, &g->dialect->entity, n, q3_state(g, 0),
			   q3_state(g, g->baseline[n]), NULL, true);
	}
	put(w, 8, 8);
	/* an entity has a field called clientNum too */
	at = field(r, at, "checksumFeed");
	put(w, (uint32_t)at[-1].i, 32);
	put(w, (uint32_t)at->i, 32);
}

static inline bool write_server(struct writer *w, struct q3_game *g,
				const struct record *r, int64_t sequence)
{
	const struct record_item *at = NULL;

	put(w, (uint32_t)field(r, NULL, "reliableAcknowledge")->i, 32);
	while ((at = find_item(r, at ? at + 1 : NULL, "op"))) {
		if (item_is(r, at, "serverCommand"))
			put_command(w, r, at, 5);
		else if (item_is(r, at, "gamestate"))
			put_gamestate(w, g, r, at);
		else if (!item_is(r, at, "snapshot") ||
			 !put_snapshot(w, g, r, at, sequence))
			return false;
	}
	put(w, 8, 8);
	return true;
}

static inline void put_moves(struct writer *w, const struct record *r,
			     const struct record_item *at, uint32_t key)
{
	const struct record_item *end = r->tape->items + r->tape->items_used;
	int64_t last[9] = { 0 };
	unsigned int count = 0;

	for (const struct record_item *i = at; i < end; i++)
		count += i->type != RECORD_TYPE_PAIR && i->key &&
			 !strcmp(i->key, "serverTime");
	put(w, item_is(r, at, "move") ? 2 : 3, 8);
	put(w, count, 8);
	while ((at = find_item(r, at, "serverTime"))) {
		int64_t step = at->i - last[0], value[9] = { at->i };
		bool changed = false;

		/* The three angles are in an array of their own. */
		for (int i = 1; i < 9; i++) {
			value[i] = at[i <= 3 ? i + 1 : i + 2].i;
			changed |= value[i] != last[i];
		}
		put_bit(w, step < 256);
		put(w, (uint32_t)(step < 256 ? step : at->i), step < 256 ? 8 : 32);
		put_bit(w, changed);
		for (int i = 1; changed && i < 9; i++) {
			put_bit(w, value[i] != last[i]);
			if (value[i] != last[i])
				put(w, (uint32_t)value[i] ^ key ^ (uint32_t)at->i,
				    q3_move[i - 1].bits);
		}
		memcpy(last, value, sizeof(last));
		at += 11;
	}
}

static inline bool write_client(struct writer *w, struct q3_game *g,
				const struct record *r)
{
	int64_t id = field(r, NULL, "serverId")->i;
	int64_t acknowledge = field(r, NULL, "messageAcknowledge")->i;
	int64_t reliable = field(r, NULL, "reliableAcknowledge")->i;
	const struct q3_text *text = q3_text_find(&g->server, (int32_t)reliable);
	const struct q3_feed *feed = q3_feed_find(g, (int32_t)id);
	const struct record_item *at = NULL;

	put(w, (uint32_t)id, 32);
	put(w, (uint32_t)acknowledge, 32);
	put(w, (uint32_t)reliable, 32);
	while ((at = find_item(r, at ? at + 1 : NULL, "op"))) {
		if (item_is(r, at, "clientCommand")) {
			put_command(w, r, at, 4);
			continue;
		}
		assert_non_null(text);
		assert_non_null(feed);
		put_moves(w, r, at,
			  (uint32_t)feed->feed ^ (uint32_t)acknowledge ^ text->hash);
	}
	put(w, 5, 8);
	return true;
}

#endif /* Q3_REWRITE_H */
