// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * q3_snapshot.c - what a client sees at one server time.
 *
 *   serverTime:32 deltaNum:8 snapFlags:8 areaBytes:8, that many bytes, the player,
 *   then entity:10 and its delta, ascending, until 1023
 *
 * deltaNum counts messages back to the base; 0 is a full snapshot. Entities of the base
 * that are not named stay as they are.
 *
 * One walk serves both kinds of stream, coded (protocol 66 and later) and plain; which
 * one is known when it is compiled, so that nothing is asked per value.
 */
#include "decode/q3/q3_message.h"

#define AREA_BYTES_MAX 32

#define INLINE	       static inline __attribute__((always_inline))

/* A walk through base and message in step, both ascending. */
struct merge {
	const struct q3_snapshot *base; /* or NULL: none */
	struct q3_snapshot *work; /* or NULL: the syntax only */
	unsigned int at; /* in the base */
	bool guessed;
	bool doubted; /* the baselines may be of another map, */
	bool leans; /* and one was used */
};

INLINE uint32_t get(struct q3_parse *p, bool plain, unsigned int n)
{
	return plain ? q3_raw(&p->b, n) : q3_get(&p->b, n);
}

static void merge_keep(struct q3_parse *p, struct merge *m, unsigned int below)
{
	while (m->base && m->at < m->base->count &&
	       m->base->entity[m->at].number < below) {
		struct q3_named kept = m->base->entity[m->at++];

		q3_state_hold(p->game, kept.state);
		m->work->entity[m->work->count++] = kept;
	}
}

static uint16_t merge_from(struct q3_parse *p, struct merge *m, unsigned int number,
			   bool *ret_known)
{
	*ret_known = true;
	if (m->base && m->at < m->base->count && m->base->entity[m->at].number == number)
		return m->base->entity[m->at++].state;
	*ret_known = !m->doubted;
	return p->game->baseline[number];
}

static void merge_put(struct merge *m, unsigned int number, uint16_t state)
{
	if (state == Q3_NONE || m->work->count == Q3_ENTITIES)
		return;
	m->work->entity[m->work->count++] = (struct q3_named){ (uint16_t)number, state };
}

INLINE void parse_entity(struct q3_parse *p, struct merge *m, unsigned int number,
			 bool plain)
{
	uint32_t scratch[Q3_ENTITY_WORDS], *to;
	enum q3_delta kind;
	uint16_t from = 0, state = Q3_NONE;
	bool known = p->game;

	record_open_object(p->record, NULL);
	record_uint(p->record, "number", number);
	kind = q3_delta_entity_kind(p);
	if (m->work) {
		merge_keep(p, m, number);
		from = merge_from(p, m, number, &known);
	}
	if (kind == Q3_DELTA_REMOVED) {
		record_bool(p->record, "removed", true);
	} else if (kind == Q3_DELTA_SAME) {
		if (m->work) {
			q3_state_hold(p->game, from);
			merge_put(m, number, from);
		}
	} else {
		if (m->work)
			state = q3_state_copy(p->game, from, m->base);
		to = state == Q3_NONE ? scratch : q3_state(p->game, state);
		if (plain)
			q3_old_entity(p, to);
		else
			q3_delta_entity(p, to);
		if (m->work)
			merge_put(m, number, state);
	}
	if (!known && kind != Q3_DELTA_REMOVED) {
		m->leans = true;
		if (!p->missing)
			p->missing = "entity from a baseline that was not seen";
	}
	record_close(p->record);
}

INLINE void parse_entities(struct q3_parse *p, struct merge *m, bool plain)
{
	int last = -1;

	record_open_array(p->record, "entities");
	while (!q3_failed(p)) {
		int number = (int)get(p, plain, 10);

		if (number == Q3_ENTITY_END)
			break;
		if (number <= last) {
			q3_wrong(p, "entities out of order");
			break;
		}
		last = number;
		parse_entity(p, m, (unsigned int)number, plain);
	}
	if (m->work)
		merge_keep(p, m, Q3_ENTITIES);
	record_close(p->record);
}

INLINE void parse_areas(struct q3_parse *p, bool plain)
{
	unsigned int n = get(p, plain, 8);
	uint8_t areas[AREA_BYTES_MAX];

	if (n > AREA_BYTES_MAX) {
		q3_wrong(p, "more than 32 area bytes");
		return;
	}
	for (unsigned int i = 0; i < n; i++)
		areas[i] = (uint8_t)get(p, plain, 8);
	record_hex(p->record, "areamask", areas, n);
}

/*
 * The base of message @p->sequence; a stand-in when it was not seen. A client that has
 * begun another map has no base of an earlier one: so the two are of the same map.
 */
static const struct q3_snapshot *find_base(struct q3_parse *p, unsigned int delta,
					   struct merge *m)
{
	struct q3_snapshot *base;

	m->doubted = !q3_game_known(p->game, (uint32_t)p->sequence);
	p->base = 0;
	if (!delta || p->sequence <= (int32_t)delta)
		return NULL;
	p->base = (uint32_t)p->sequence - delta;
	base = delta < Q3_SNAPSHOTS ? q3_snapshot_find(p->game, (int32_t)p->base) : NULL;
	if (base) {
		base->doubted &= !q3_game_known(p->game, p->base);
		m->doubted &= base->doubted;
		m->leans = base->doubted && base->leans;
	}
	m->guessed = !base || base->guessed;
	if (!base)
		p->missing = "delta from a snapshot that was not seen";
	else if (m->guessed || m->leans)
		p->missing = "delta from a snapshot that is itself incomplete";
	return base ? base : q3_snapshot_before(p->game, p->sequence);
}

/* Return as many bytes of a player's state as this dialect uses. */
static size_t player_bytes(const struct q3_dialect *d)
{
	size_t words = d->flags & Q3_PILOT ? Q3_PLAYER_WORDS
					   : d->player_slots + Q3_ARRAYS_MAX * 16U;

	return words * sizeof(uint32_t);
}

INLINE void parse_body(struct q3_parse *p, struct merge *m, uint32_t *player, bool plain)
{
	parse_areas(p, plain);
	if (q3_failed(p))
		return;
	record_open_object(p->record, "player");
	if (plain)
		q3_old_player(p, player);
	else
		q3_delta_player(p, player);
	record_close(p->record);
	if (!q3_failed(p))
		parse_entities(p, m, plain);
}

static uint32_t *merge_begin(struct q3_parse *p, struct merge *m, unsigned int delta,
			     uint32_t *scratch)
{
	uint32_t *player = scratch;

	*m = (struct merge){ .work = NULL };
	if (p->game) {
		m->base = find_base(p, delta, m);
		m->work = q3_snapshot_work(p->game);
		q3_snapshot_empty(p->game, m->work);
		player = m->work->player;
	} else if (delta)
		p->missing = "delta from a snapshot that was not seen";
	if (m->base)
		memcpy(player, m->base->player, player_bytes(p->dialect));
	else
		memset(player, 0, player_bytes(p->dialect));
	return player;
}

static void merge_end(struct q3_parse *p, struct merge *m)
{
	if (m->work) {
		m->work->sequence = p->sequence;
		m->work->guessed = m->guessed;
		m->work->doubted = m->doubted;
		m->work->leans = m->leans;
	}
	if (p->content < Q3_HOLDS_SNAPSHOT)
		p->content = Q3_HOLDS_SNAPSHOT;
}

INLINE void parse_snapshot(struct q3_parse *p, bool plain)
{
	struct merge m;
	uint32_t scratch[Q3_PLAYER_WORDS];
	unsigned int delta, flags;
	uint32_t *player;

	q3_open_op(p, "snapshot");
	if (plain && !(p->dialect->flags & Q3_ACK_FIRST))
		record_int(p->record, "reliableAcknowledge", (int32_t)get(p, plain, 32));
	p->server_time = (int32_t)get(p, plain, 32);
	record_int(p->record, "serverTime", p->server_time);
	delta = get(p, plain, 8);
	record_uint(p->record, "deltaNum", delta);
	flags = get(p, plain, 8);
	record_uint(p->record, "snapFlags", flags);
	q3_fact_snapshot(p, flags);
	player = merge_begin(p, &m, delta, scratch);
	parse_body(p, &m, player, plain);
	record_close(p->record);
	merge_end(p, &m);
}

void q3_parse_snapshot(struct q3_parse *p)
{
	parse_snapshot(p, false);
}

void q3_parse_old_snapshot(struct q3_parse *p)
{
	parse_snapshot(p, true);
}
