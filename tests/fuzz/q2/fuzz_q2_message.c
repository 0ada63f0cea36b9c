// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Messages of Quake II, one after the other into one connection or recording.
 *
 *	first byte: which dialect (DIALECTS), 128: a frame is there to begin with
 *	pieces: a message each; how: 1 from a client, 2 with fields, 4 a whole datagram,
 *	8 old: it must teach nothing
 *
 * What is right with a connection's state is right without.
 */
#include "decode/q2/q2_mvd.h"
#include "decode/q2/q2_session.h"
#include "fuzz/fuzz.h"

enum how {
	CLIENT = 1,
	FIELDS = 2,
	DATAGRAM = 4,
	OLD = 8,
};

static const struct {
	int32_t protocol;
	uint16_t minor, flags;
} dialects[] = {
	{ 34, 0, 0 },
	{ 26, 0, 0 },
	{ 35, 1903, 0 },
	{ 35, 1905, 0 },
	{ 36, 1015, 0 },
	{ 36, 1021, 0 },
	{ 36, 1026, 0 },
	{ 36, 1026, Q2_FLAG_EXTENSIONS },
	{ 36, 1026, Q2_FLAG_EXTENSIONS | Q2_FLAG_EXTENSIONS_2 },
	{ 3434, 0, 0 },
	{ 3435, 0, 0 },
	{ 3436, 0, 0 },
	{ 37, 2010, 0 },
};

#define DIALECTS (sizeof(dialects) / sizeof(*dialects))

static struct record_tape tape;

static void begin(struct q2_session *q, uint8_t first)
{
	size_t i = (first & 127) % DIALECTS;

	memset(q, 0, sizeof(*q));
	if (dialects[i].protocol == 37)
		q->dialect = q2_mvd_dialect;
	else
		must(q2_dialect_of(dialects[i].protocol, dialects[i].minor,
				   dialects[i].flags, &q->dialect));
	q->qport_size = q->dialect.enhanced ? 2 : 3;
	q->now.new_netchan = q->dialect.q2pro;
	q->live = true;
	if (!(first & 128))
		return;
	must(q2_game_get(q) != NULL);
	q2_game_clear(q->game, 0);
	q->game->maxclients = 8;
	q->game->frames[1].number = 1;
	for (unsigned int number = 1; number < 20; number++) {
		struct q2_entity *e = q2_list_add(&q->game->frames[1].list, number);

		must(e != NULL);
		memset(e->word, 0, sizeof(e->word));
	}
}

static void message(struct q2_session *q, const struct piece *piece, const uint8_t *copy,
		    struct record *r)
{
	struct message m = {
		.bytes = { copy, piece->n },
		.direction = piece->how & CLIENT ? DIRECTION_C2S : DIRECTION_S2C,
		.sequence = piece->how,
		.state = q,
		.record = r,
	};
	struct q2_dialect was = q->dialect;
	size_t left = Q2_INFLATE_MAX;
	struct q2_parse p;
	struct record silent;
	bool good;

	q->stale = piece->how & OLD;
	good = message_decode(q2_message, &m);
	q->stale = false;
	/* A place of other players is as long as the frame has players. */
	if (!good || r->status == RECORD_PARTIAL || (was.enhanced && !was.q2pro))
		return;
	record_reset(&silent, NULL);
	m = (struct message){ .bytes = { copy, piece->n },
			      .direction = m.direction,
			      .record = &silent };
	must(q2_message_as(&m, &was, &left, &p));
}

/* Frames are in order, of entities that ascend. */
static void check_frames(const struct q2_session *q)
{
	for (unsigned int i = 0; q->game && i < Q2_FRAMES; i++) {
		const struct q2_frame *f = &q->game->frames[i];

		must(!f->number || ((unsigned int)f->number & (Q2_FRAMES - 1)) == i);
		must(f->list.count <= f->list.room);
		for (unsigned int k = 1; f->number && k < f->list.count; k++)
			must(f->list.entity[k - 1].number < f->list.entity[k].number);
	}
	must(q2_session_takes(q) >= sizeof(*q));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct q2_session q;
	struct piece piece;
	struct record r;
	size_t at = 1;

	if (!tape.items)
		must(!record_tape_create(&tape, 4096, 1 << 16));
	if (!size)
		return 0;
	begin(&q, data[0]);
	while (piece_next(data, size, &at, &piece)) {
		uint8_t *copy = exact_copy(piece.bytes, piece.n);

		record_reset(&r, piece.how & FIELDS ? &tape : NULL);
		if (piece.how & DATAGRAM)
			quake2_family.datagram(
				&q, piece.how & CLIENT ? DIRECTION_C2S : DIRECTION_S2C,
				(struct span){ copy, piece.n }, &r);
		else
			message(&q, &piece, copy, &r);
		said(&r);
		check_frames(&q);
		free(copy);
	}
	q2_session_drop(&q);
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed)
{
	return pieces_or_bytes_mutate(data, size, max, 8, seed);
}
