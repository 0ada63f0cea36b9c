/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * demo.h - demo files: their blocks one by one. Called by `quakeshield decode`
 * (cmd_decode.c).
 *
 * Framing only: decode/demo_recognise.h tells which format a file has, and the family's
 * decoder reads the blocks. Memory grows to the largest block and no further, and no
 * block is larger than DEMO_BLOCK_MAX.
 */
#ifndef DEMO_H
#define DEMO_H

#include <stdio.h>

#include "lib/record.h"

#define DEMO_BLOCK_MAX (1 << 17)
/* As much of the beginning of a file as may be needed to recognise it. */
#define DEMO_PREFIX (1 << 16)

enum demo_format {
	DEMO_NONE,
	DEMO_DEM, /* NetQuake and DarkPlaces */
	DEMO_QWD, /* QuakeWorld, client */
	DEMO_MVD, /* QuakeWorld, server; or a QTV stream, which is one behind a text */
	DEMO_DM2, /* Quake II, client */
	DEMO_MVD2, /* Quake II, Q2PRO's multi-view */
	DEMO_DM3, /* Quake III, protocol 66 and later: .dm_NN */
	DEMO_DM3_OLD, /* before that */
	DEMO_URT, /* Urban Terror 4.2 and later: .urtdemo, DM3's messages */
	DEMO_FORMATS,
};

/* Names for people: the usual ending of such files. NULL for DEMO_NONE. */
extern const char *const demo_format_names[DEMO_FORMATS];

#define DEMO_QWD_DATAGRAM 1 /* type of a .qwd's block: a datagram as it came */
/* Type of what stands before the first block: QTV's answer, the header of an .urtdemo. */
#define DEMO_TYPE_HEADER 255

struct demo_block {
	uint64_t frame;
	int64_t time_ns;
	enum demo_format format; /* of the file */
	enum direction direction;
	const char *kind;
	int32_t sequence; /* Quake III */
	float angles[3]; /* .dem: where the player looked */
	int32_t track; /* .dem: of the CD, from the file's first line; -1: none */
	uint8_t type; /* QuakeWorld: as the file has it; all: DEMO_TYPE_HEADER */
	uint8_t player; /* .mvd: the player that receives types 4 and 5 */
	uint32_t mask; /* .mvd: the players that receive type 3, a bit each */
	const uint8_t *bytes;
	size_t n;
};

struct demo;

/*
 * Begin to read @file, which stands at its beginning and belongs to the demo from now on.
 * NULL: no memory.
 */
struct demo *demo_open(FILE *file, enum demo_format format);
/* Close the file and free @demo, which must not be NULL. */
void demo_close(struct demo *demo);

/*
 * Read the next block. 1: a block; 0: the end; -EBADMSG: broken here, demo_error() says
 * how.
 */
int demo_next(struct demo *demo, struct demo_block *ret);
/* Return why the last demo_next() failed, as words for a message; a constant string. */
const char *demo_error(const struct demo *demo);
/* Return the number of blocks read so far. */
uint64_t demo_blocks(const struct demo *demo);

/* Return true at the end of a file without the end mark that its format has. */
bool demo_unfinished(const struct demo *demo);

#endif /* DEMO_H */
