/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * nq_update.h - a fast update and a player's own data, as they stand on the wire: read,
 * put on a record, and written again to the same bytes. Called by nq_world.c and
 * nq_entities.c; the writers by tests only. They change no state.
 */
#ifndef NQ_UPDATE_H
#define NQ_UPDATE_H

#include "decode/nq/nq_rows.h"

#define NQ_UPDATE_MAX 64 /* bytes that one may take, of any dialect */

struct nq_update {
	uint32_t flags; /* the opcode is the low byte */
	uint16_t number;
	int32_t state[NQ_FIELDS];
	float transparency[3]; /* Nehahra's, if the flags say so; the third if [0] is 2 */
};

/*
 * Read a fast update, of which @opcode has been read. False: a flag that the dialect does
 * not know.
 */
bool nq_update_read(struct reader *rd, const struct nq_format *f, uint8_t opcode,
		    struct nq_update *ret);

/*
 * Put the update's fields on the record, high bytes joined with the low ones. Does
 * nothing if no fields are wanted.
 */
void nq_update_record(struct record *r, const struct nq_format *f,
		      const struct nq_update *u);

/*
 * Write the bytes that nq_update_read() takes, with the opcode. Returns how many, or 0 if
 * @size is too small. For tests.
 */
size_t nq_update_write(uint8_t *to, size_t size, const struct nq_format *f,
		       const struct nq_update *u);

struct nq_own_data {
	uint32_t flags;
	int32_t state[NQ_OWNS];
};

/*
 * Read a player's own data behind its opcode. False: the flags have a bit that extends
 * them, and the dialect of @f has no such bit.
 */
bool nq_own_read(struct reader *rd, const struct nq_format *f, struct nq_own_data *ret);
/* Put a player's own data on the record; as nq_update_record(). */
void nq_own_record(struct record *r, const struct nq_format *f,
		   const struct nq_own_data *own);

/*
 * Write the bytes that nq_own_read() takes. Returns how many, or 0 if @size is too small.
 * For tests.
 */
size_t nq_own_write(uint8_t *to, size_t size, const struct nq_format *f,
		    const struct nq_own_data *own);

/* DarkPlaces' entity frames, DP5 and later: one entity behind its number. */
struct nq_e5 {
	uint32_t bits;
	int32_t state[NQ_FIELDS];
	struct span animation; /* if the bits say so */
};

/*
 * Read an entity's changes in DarkPlaces' frames, DP5 and later. False: an unknown bit or
 * animation.
 */
bool nq_e5_read(struct reader *rd, struct nq_e5 *ret);
/* Put the entity's fields on the record. Does nothing if no fields are wanted. */
void nq_e5_record(struct record *r, const struct nq_e5 *e);

/*
 * Write the bytes that nq_e5_read() takes. Returns how many, or 0 if @size is too small.
 * For tests.
 */
size_t nq_e5_write(uint8_t *to, size_t size, const struct nq_e5 *e);

#endif /* NQ_UPDATE_H */
