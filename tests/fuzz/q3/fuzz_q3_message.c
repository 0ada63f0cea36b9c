// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Messages as they are after netchan and scrambling, each dialect, with the state of
 * those before: the first byte chooses the dialect (bits 0-4), whether there is
 * little room for state (5), and whether all is known from the beginning (7). Then each
 * piece is a message. How: bit 0 from a client, bit 1 with its fields, the rest is the
 * step of its sequence. A message that was judged decoded must be decoded again when it
 * is parsed without state, and no message may leave the store of states in disorder.
 */
#include "decode/q3/q3_demo.h"
#include "fuzz/q3/q3_mutate.h"

enum start {
	DIALECT = 31,
	CROWDED = 1 << 5,
};

static struct record_tape tape;

static void parse(struct q3_game *g, const struct q3_dialect *d, uint8_t how,
		  const uint8_t *message, size_t n, int32_t sequence)
{
	enum direction direction = how & 1 ? DIRECTION_C2S : DIRECTION_S2C;
	struct q3_parse p;
	struct record r;
	bool good;

	record_reset(&r, how & 2 ? &tape : NULL);
	r.kind = "message";
	q3_parse_init(&p, message, n, d, g, &r);
	p.sequence = sequence;
	good = q3_decode_message(&p, direction);
	said(&r);
	/* Only a vehicle's presence depends on state. */
	if (good && !(d->flags & Q3_PILOT)) {
		q3_parse_init(&p, message, n, d, NULL, &r);
		must(q3_decode_message(&p, direction));
	}
}

/*
 * Each state is either free or has as many references as it says. None is lost, unless
 * the game began crowded.
 */
static void check_states(const struct q3_game *g, bool crowded)
{
	static uint16_t found[Q3_STATES_MAX];
	unsigned int free_states = 0;

	memset(found, 0, g->touched * sizeof(*found));
	for (unsigned int i = 0; i < Q3_COUNT(g->snapshots); i++)
		for (unsigned int k = 0; k < g->snapshots[i].count; k++)
			found[g->snapshots[i].entity[k].state]++;
	for (unsigned int i = 0; i < Q3_ENTITIES; i++)
		found[g->baseline[i]]++;
	for (uint16_t at = g->free; at != Q3_NONE; at = g->refs[at]) {
		must(at && at < g->touched && !found[at]);
		found[at] = Q3_NONE;
		free_states++;
	}
	must(free_states < g->touched);
	for (unsigned int i = 1; i < g->touched; i++)
		must(found[i] == Q3_NONE || (crowded && !found[i]) ||
		     (found[i] && found[i] == g->refs[i]));
}

static const struct q3_dialect *dialect_of(uint8_t first)
{
	unsigned int dialects = 0, chosen;

	while (q3_dialects[dialects])
		dialects++;
	chosen = (first & DIALECT) % (dialects + 3);
	return chosen < dialects ? q3_dialects[chosen]
				 : q3_old_dialects[chosen - dialects];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct q3_dialect *d;
	struct q3_game *g = NULL;
	int32_t sequence = 1;
	struct piece piece;
	size_t at = 1;

	if (!tape.items)
		must(!record_tape_create(&tape, 4096, 1 << 16));
	if (!size)
		return 0;
	d = dialect_of(data[0]);
	must(q3_game_get(&g, d) != NULL);
	while (piece_next(data, size, &at, &piece)) {
		uint8_t *copy = exact_copy(piece.bytes, piece.n);

		/* Now and then an old one comes late. */
		sequence += piece.how >> 2 < 63 ? piece.how >> 2 : -32;
		if (data[0] & CROWDED)
			q3_game_crowd(g);
		parse(g, d, piece.how, copy, piece.n, sequence);
		check_states(g, data[0] & CROWDED);
		free(copy);
	}
	q3_game_drop(&g);
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed)
{
	uint32_t state = seed | 1;
	uint32_t kind = dice(&state, 16);
	struct piece piece;

	if (!size || kind == 0)
		return LLVMFuzzerMutate(data, size, max);
	if (kind < 3)
		return pieces_mutate(data, size, max, 1, &state);
	if (kind == 3) {
		data[0] ^= dice(&state, 2) ? CROWDED : dice(&state, 256);
		return size;
	}
	if (!piece_choose(data, size, 1, &state, &piece))
		return LLVMFuzzerMutate(data, size, max);
	return q3_piece_mutate(data, size, max, &piece, 0, dialect_of(data[0]), &state);
}
