/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * seeds.h - one first input of a fuzz target: put together, bounded, written.
 */
#ifndef SEEDS_H
#define SEEDS_H

#include "fuzz/fuzz.h"

#define SEED_MAX   500 /* bytes; small inputs are fast ones */
#define SEED_WIDE  1000 /* where less does not reach: a handshake and what follows it */
#define SEED_ROOM  30000 /* SEED_LEN= asks for longer ones, at most this: sessions */
#define SEEDS_ALL  48 /* of one kind from one file: these, then one of SEEDS_STEP */
#define SEEDS_STEP 61

enum target {
	CAPTURE,
	CLASSIFY,
	DECODE,
	DEMO,
	OOB,
	HUFFMAN,
	MESSAGE,
	NETCHAN,
	NQ_MESSAGE,
	QW_MESSAGE,
	Q2_MESSAGE,
	QE_DTLS,
	QE_GAME,
	TARGETS
};

static const char *const targets[TARGETS] = {
	"capture",    "classify",   "decode",	  "demo",	"oob",
	"q3_huffman", "q3_message", "q3_netchan", "nq_message", "qw_message",
	"q2_message", "qe_dtls",    "qe_game",
};

static const char *directory;
static unsigned int seen[TARGETS];
static size_t seed_len; /* bytes; SEED_LEN */

struct seed {
	uint8_t bytes[SEED_ROOM];
	size_t n;
	bool full; /* something did not fit */
	bool wide; /* SEED_WIDE bytes of it, not SEED_MAX */
};

static size_t seed_left(const struct seed *seed)
{
	size_t max = seed->wide ? SEED_WIDE : SEED_MAX;

	return (max > seed_len ? max : seed_len) - seed->n;
}

static void seed_write(enum target target, const struct seed *seed)
{
	uint64_t hash = 0xcbf29ce484222325;
	char name[512];
	FILE *file;

	if (!seed->n || (seen[target]++ >= SEEDS_ALL && seen[target] % SEEDS_STEP))
		return;
	for (size_t i = 0; i < seed->n; i++)
		hash = (hash ^ seed->bytes[i]) * 0x100000001b3;
	snprintf(name, sizeof(name), "%s/%s/%016llx", directory, targets[target],
		 (unsigned long long)hash);
	file = fopen(name, "wb");
	if (!file || fwrite(seed->bytes, 1, seed->n, file) != seed->n || fclose(file)) {
		perror(name);
		exit(1);
	}
}

static void seed_put(struct seed *seed, const void *bytes, size_t n)
{
	if (n > seed_left(seed)) {
		seed->full = true;
		return;
	}
	if (n)
		memcpy(seed->bytes + seed->n, bytes, n);
	seed->n += n;
}

/* All or nothing: head and bytes of a piece (fuzz.h) of two parts. */
static bool seed_piece(struct seed *seed, uint8_t how, const void *a, size_t a_n,
		       const void *b, size_t b_n)
{
	size_t n = a_n + b_n;
	uint8_t head[PIECE_HEAD] = { how, (uint8_t)n, (uint8_t)(n >> 8) };

	if (PIECE_HEAD + n > seed_left(seed))
		return false;
	seed_put(seed, head, sizeof(head));
	seed_put(seed, a, a_n);
	seed_put(seed, b, b_n);
	return true;
}

static void seed_once(enum target target, const void *head, size_t head_n,
		      const void *bytes, size_t n)
{
	struct seed seed = { .n = 0 };

	seed_put(&seed, head, head_n);
	seed_put(&seed, bytes, n);
	if (!seed.full)
		seed_write(target, &seed);
}

/* Pieces in a row until one does not fit; then the next row begins with that one. */
static void row_piece(enum target target, struct seed *row, uint8_t first, uint8_t how,
		      const void *a, size_t a_n, const void *b, size_t b_n)
{
	for (int again = 0; again < 2; again++) {
		if (!row->n)
			seed_put(row, &first, 1);
		if (seed_piece(row, how, a, a_n, b, b_n))
			return;
		seed_write(target, row);
		row->n = 0;
	}
}

#endif /* SEEDS_H */
