/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * evidence_recording.h - a capture or a demo in memory, and the ways in which a recording
 * is harmed: pieces lost, swapped, repeated. All of it is the same in each run.
 */
#ifndef EVIDENCE_RECORDING_H
#define EVIDENCE_RECORDING_H

#include "capture/capture.h"
#include "decode/decode_support.h"
#include "decode/demo_recognise.h"
#include "lib/input.h"

/* One thing to decode: a datagram, or a block of a demo. */
struct piece {
	struct datagram datagram;
	struct demo_block block;
	enum direction direction; /* as decoded without harm */
	bool key; /* it begins a map, or gives baselines */
};

struct recording {
	const char *name;
	bool demo;
	/*
	 * Datagrams have numbers, and so has what is in .dm2, .dm_NN and .qwd. Blocks of
	 * .dem, .mvd and .mvd2 have none, so that no later block shows that one was cut
	 * out: then the state is not compared, but a record's own values are.
	 */
	bool numbered;
	struct piece *piece;
	size_t count, room;
};

static inline void *copy_of(const void *bytes, size_t n)
{
	void *copy = malloc(n ? n : 1);

	assert_non_null(copy);
	if (n)
		memcpy(copy, bytes, n);
	return copy;
}

static inline struct piece *piece_add(struct recording *rec)
{
	if (rec->count == rec->room) {
		rec->room = rec->room ? rec->room * 2 : 1024;
		rec->piece = realloc(rec->piece, rec->room * sizeof(*rec->piece));
		assert_non_null(rec->piece);
	}
	memset(&rec->piece[rec->count], 0, sizeof(*rec->piece));
	return &rec->piece[rec->count++];
}

static inline void load_capture(struct recording *rec, FILE *file)
{
	struct capture *capture;
	struct datagram dg;
	char message[256];

	assert_int_equal(capture_open(file, &capture, message, sizeof(message)), 0);
	while (capture_next(capture, &dg) == 1) {
		struct piece *p = piece_add(rec);

		p->datagram = dg;
		p->datagram.payload = copy_of(dg.payload, dg.n);
	}
	capture_close(capture);
}

static inline void load_demo(struct recording *rec, FILE *file, enum demo_format format)
{
	struct demo *demo = demo_open(file, format);
	struct demo_block block;

	assert_non_null(demo);
	rec->demo = true;
	rec->numbered = format != DEMO_DEM && format != DEMO_MVD && format != DEMO_MVD2;
	while (demo_next(demo, &block) == 1) {
		struct piece *p = piece_add(rec);

		p->block = block;
		p->block.bytes = copy_of(block.bytes, block.n);
	}
	demo_close(demo);
}

static inline void load(struct recording *rec, const char *path)
{
	static uint8_t prefix[DEMO_PREFIX];
	size_t n;
	FILE *file = input_open(path, NULL, prefix, sizeof(prefix), &n);
	enum demo_format format = demo_recognise(prefix, n);

	assert_non_null(file);
	memset(rec, 0, sizeof(*rec));
	rec->name = path;
	rec->numbered = true;
	if (format != DEMO_NONE)
		load_demo(rec, file, format);
	else
		load_capture(rec, file);
}

static inline void unload(struct recording *rec)
{
	for (size_t i = 0; i < rec->count; i++) {
		free((void *)rec->piece[i].datagram.payload);
		free((void *)rec->piece[i].block.bytes);
	}
	free(rec->piece);
}

static inline uint64_t frame_of(const struct recording *rec, size_t i)
{
	return rec->demo ? rec->piece[i].block.frame : rec->piece[i].datagram.frame;
}

/* --- harms ------------------------------------------------------------------------- */

/* The pieces that arrive, in their order; each may do so twice. */
struct order {
	size_t *at;
	size_t n;
};

/* Room for all pieces and as many again. */
static inline void order_begin(struct order *o, const struct recording *rec)
{
	o->at = calloc(2 * rec->count + 1, sizeof(*o->at));
	assert_non_null(o->at);
}

static inline uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

/* Below @n; 0 if that is. */
static inline size_t below(uint32_t *seed, size_t n)
{
	uint32_t high = next_random(seed);

	return n ? (size_t)((uint64_t)high << 24 | next_random(seed)) % n : 0;
}

/* All pieces but those that @lost marks, which is freed. */
static inline void keep_rest(struct order *o, const struct recording *rec, bool *lost)
{
	o->n = 0;
	for (size_t i = 0; i < rec->count; i++)
		if (!lost[i])
			o->at[o->n++] = i;
	free(lost);
}

static inline bool *none_lost(const struct recording *rec)
{
	bool *lost = calloc(rec->count + 1, sizeof(*lost));

	assert_non_null(lost);
	return lost;
}

static inline void lose_run(const struct recording *rec, bool *lost, size_t from,
			    size_t n)
{
	for (size_t i = from; i < rec->count && i < from + n; i++)
		lost[i] = true;
}

/*
 * Makes variant @round, from 0 on, of a harm with argument @arg. False: there are no more
 * of it.
 */
typedef bool harm_make(struct order *o, const struct recording *rec, unsigned int arg,
		       uint32_t round);

/* @arg percent of all, one by one. */
static inline bool lose_single(struct order *o, const struct recording *rec,
			       unsigned int arg, uint32_t round)
{
	bool *lost = none_lost(rec);
	uint32_t seed = round + 1;

	for (size_t i = 0; i < rec->count; i++)
		lost[i] = next_random(&seed) % 100 < arg;
	keep_rest(o, rec, lost);
	return true;
}

/* Runs of @arg, one in twenty pieces or one run, of at most a third of all. */
static inline bool lose_runs(struct order *o, const struct recording *rec,
			     unsigned int arg, uint32_t round)
{
	size_t n = arg < rec->count / 3 ? arg : rec->count / 3;
	size_t runs = n ? rec->count / 20 / n : 0;
	bool *lost = none_lost(rec);
	uint32_t seed = round + 101;

	for (size_t i = 0; i <= runs; i++)
		lose_run(rec, lost, below(&seed, rec->count - n), n);
	keep_rest(o, rec, lost);
	return true;
}

/* All that comes from one end; only one such variant. */
static inline bool lose_end(struct order *o, const struct recording *rec,
			    unsigned int arg, uint32_t round)
{
	bool *lost = none_lost(rec);

	for (size_t i = 0; i < rec->count; i++)
		lost[i] = rec->piece[i].direction == (enum direction)arg;
	keep_rest(o, rec, lost);
	return !round && !rec->demo;
}

/* From one end 30 in a row, four times. */
static inline bool lose_end_runs(struct order *o, const struct recording *rec,
				 unsigned int arg, uint32_t round)
{
	bool *lost = none_lost(rec);
	uint32_t seed = round + 201;

	for (int i = 0; i < 4; i++) {
		unsigned int left = 30;

		for (size_t k = below(&seed, rec->count); k < rec->count && left; k++) {
			if (rec->piece[k].direction != (enum direction)arg)
				continue;
			lost[k] = true;
			left--;
		}
	}
	keep_rest(o, rec, lost);
	return !rec->demo;
}

/* The beginning: as if the capture began in the game. @arg variants. */
static inline bool lose_start(struct order *o, const struct recording *rec,
			      unsigned int arg, uint32_t round)
{
	bool *lost = none_lost(rec);

	lose_run(rec, lost, 0, rec->count * (round + 1) / (arg + 1));
	keep_rest(o, rec, lost);
	return round < arg;
}

static inline bool lose_rest(struct order *o, const struct recording *rec,
			     unsigned int arg, uint32_t round)
{
	bool *lost = none_lost(rec);

	lose_run(rec, lost, rec->count * (round + 1) / (arg + 1), rec->count);
	keep_rest(o, rec, lost);
	return round < arg;
}

#define KEYS_MAX 12

/* The key piece @round of KEYS_MAX spread over all, and @arg around it. */
static inline bool lose_key(struct order *o, const struct recording *rec,
			    unsigned int arg, uint32_t round)
{
	size_t keys = 0, nth, at = 0;
	bool *lost;

	for (size_t i = 0; i < rec->count; i++)
		keys += rec->piece[i].key;
	nth = keys <= KEYS_MAX ? round : keys * round / KEYS_MAX;
	if (round >= KEYS_MAX || nth >= keys)
		return false;
	for (at = 0; !rec->piece[at].key || nth--;)
		at++;
	lost = none_lost(rec);
	lose_run(rec, lost, at > arg / 4 ? at - arg / 4 : 0,
		 (at > arg / 4 ? arg / 4 : at) + arg + 1);
	keep_rest(o, rec, lost);
	return true;
}

/* Each fifth run of @arg comes after the next run. */
static inline bool swap_runs(struct order *o, const struct recording *rec,
			     unsigned int arg, uint32_t round)
{
	o->n = rec->count;
	for (size_t i = 0; i < o->n; i++)
		o->at[i] = i;
	for (size_t i = round; i + 2 * arg <= o->n; i += 5 * (size_t)arg)
		for (size_t k = i; k < i + arg; k++) {
			o->at[k] = k + arg;
			o->at[k + arg] = k;
		}
	return round < 3;
}

/* Eight runs of 10 come once more, @arg pieces later. */
static inline bool repeat_runs(struct order *o, const struct recording *rec,
			       unsigned int arg, uint32_t round)
{
	bool *again = none_lost(rec);
	uint32_t seed = round + 301;

	for (int i = 0; i < 8; i++)
		lose_run(rec, again, below(&seed, rec->count), 10);
	o->n = 0;
	for (size_t i = 0; i < rec->count + arg; i++) {
		if (i < rec->count)
			o->at[o->n++] = i;
		if (i >= arg && again[i - arg])
			o->at[o->n++] = i - arg;
	}
	free(again);
	return !rec->demo;
}

#define STARTS 50

static const struct harm {
	const char *name;
	harm_make *make;
	unsigned int arg;
	bool complete; /* nothing is lost: what was missing may have come before, now */
} harms[] = {
	{ "1 % lost", lose_single, 1, false },
	{ "5 % lost", lose_single, 5, false },
	{ "20 % lost", lose_single, 20, false },
	{ "runs of 5 lost", lose_runs, 5, false },
	{ "runs of 50 lost", lose_runs, 50, false },
	{ "a run of 500 lost", lose_runs, 500, false },
	{ "clients lost", lose_end, DIRECTION_C2S, false },
	{ "servers lost", lose_end, DIRECTION_S2C, false },
	{ "runs of clients lost", lose_end_runs, DIRECTION_C2S, false },
	{ "runs of servers lost", lose_end_runs, DIRECTION_S2C, false },
	{ "start in the game", lose_start, STARTS, false },
	{ "end cut", lose_rest, 4, false },
	{ "one key lost", lose_key, 0, false },
	{ "a key and 20 lost", lose_key, 20, false },
	{ "a key and 200 lost", lose_key, 200, false },
	{ "neighbours swapped", swap_runs, 1, true },
	{ "runs of 8 swapped", swap_runs, 8, true },
	{ "repeated at once", repeat_runs, 10, true },
	{ "repeated late", repeat_runs, 200, true },
};

#define HARMS (sizeof(harms) / sizeof(*harms))

#endif /* EVIDENCE_RECORDING_H */
