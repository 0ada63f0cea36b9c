/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * q2_entity.h - entity_state_t as it stands on the wire, and its differences. Called by
 * the frames (q2_frame.c), baselines (q2_server.c) and multi-view recordings (q2_mvd.c).
 * It changes only the words that the caller passes.
 */
#ifndef Q2_ENTITY_H
#define Q2_ENTITY_H

#include "decode/delta.h"
#include "decode/q2/q2_dialect.h"

enum q2_entity_word {
	Q2_MODELINDEX, /* and three more */
	Q2_FRAME = 4,
	Q2_SKINNUM,
	Q2_EFFECTS,
	Q2_RENDERFX,
	Q2_ORIGIN,
	Q2_ANGLES = 11,
	Q2_OLD_ORIGIN = 14,
	Q2_SOUND = 17,
	Q2_VOLUME,
	Q2_ATTENUATION,
	Q2_EVENT,
	Q2_SOLID,
	Q2_MOREFX,
	Q2_ALPHA,
	Q2_SCALE,
	Q2_ENTITY_WORDS
};

#define Q2_RENDERFX_BEAM 128

struct q2_entity {
	uint16_t number;
	int32_t word[Q2_ENTITY_WORDS];
};

/* The bits of a header, and the number; bit REMOVE: it is gone, no fields follow. */
#define Q2_ENTITY_REMOVE (1ULL << 6)

/*
 * Read the header of an entity's difference: returns its bits, and the entity's number in
 * *@ret_number, which may be out of range. With Q2_ENTITY_REMOVE no fields follow.
 */
uint64_t q2_entity_header(struct reader *rd, const struct q2_dialect *d,
			  unsigned int *ret_number);

/*
 * Read the fields that @bits announce, over @word, which holds the base. Returns the
 * flags for q2_entity_record().
 */
uint64_t q2_entity_read(struct reader *rd, const struct q2_dialect *d, uint64_t bits,
			int32_t *word);

/*
 * Make of the base in @word what a new frame begins with: events end, the origin becomes
 * the old one.
 */
void q2_entity_age(const struct q2_dialect *d, int32_t *word);

/*
 * Put the fields of @flags, from q2_entity_read(), on the record. @word: the entity's new
 * state.
 */
void q2_entity_record(struct record *r, uint64_t flags, const int32_t *word);

/*
 * Write the bytes of the fields that q2_entity_read() took. 0: no room. It cannot write
 * the extensions' sounds and places, which depend on the base. For tests.
 */
size_t q2_entity_write(uint8_t *to, size_t size, const struct q2_dialect *d,
		       uint64_t bits, const int32_t *word);

#endif /* Q2_ENTITY_H */
