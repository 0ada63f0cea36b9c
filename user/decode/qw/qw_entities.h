/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qw_entities.h - one entity's difference: its bits, and the fields that they bring.
 * Called by the ops of QuakeWorld's entities and baselines (qw_entities.c). It changes no
 * state.
 */
#ifndef QW_ENTITIES_H
#define QW_ENTITIES_H

#include "decode/delta.h"
#include "decode/qw/qw_session.h"

/* The wire's bits: the word, then up to three more bytes. */
#define QW_U_REMOVE	(1U << 14)
#define QW_U_MOREBITS	(1U << 15)
#define QW_U_MODEL	(1U << 18)
#define QW_U_EVENMORE	(1U << 23)
#define QW_U_MODELDBL	(1U << 27)
#define QW_U_ENTITYDBL	(1U << 29)
#define QW_U_ENTITYDBL2 (1U << 30)
#define QW_U_YETMORE	(1U << 31)
#define QW_U_EFFECTS16	(1U << 6)

enum {
	QW_E_MODEL,
	QW_E_FRAME,
	QW_E_COLORMAP,
	QW_E_SKIN,
	QW_E_EFFECTS,
	QW_E_ORIGIN,
	QW_E_ANGLES = QW_E_ORIGIN + 3,
	QW_E_SCALE = QW_E_ANGLES + 3,
	QW_E_TRANS,
	QW_E_FATNESS,
	QW_E_DRAWFLAGS,
	QW_E_ABSLIGHT,
	QW_E_COLOURMOD,
	QW_E_DPFLAGS = QW_E_COLOURMOD + 3,
	QW_E_TAG,
	QW_E_LIGHT = QW_E_TAG + 2,
	QW_E_EFFECTS_HIGH = QW_E_LIGHT + 6,
	QW_E_FIELDS
};

struct qw_entity {
	unsigned int number;
	uint32_t bits; /* of the word without the number and the next two bytes */
	uint8_t bits4; /* of the fourth byte */
	bool remove;
	int32_t field[QW_E_FIELDS]; /* what @bits bring, as on the wire */
};

/* Read the rest of an entity's difference, of which @word was read. */
void qw_entity_read(struct reader *rd, const struct qw_terms *t, unsigned int word,
		    struct qw_entity *ret);

/*
 * Put the difference on the record as an object: number, bits, and the fields or
 * "removed".
 */
void qw_entity_record(struct record *r, const struct qw_terms *t,
		      const struct qw_entity *e);

/*
 * Write the bytes that the difference was read from, word and all. 0: @size does not hold
 * them. For tests.
 */
size_t qw_entity_write(uint8_t *to, size_t size, const struct qw_terms *t,
		       const struct qw_entity *e);
/* Rows that read a record's fields back into a state; for tests. */
extern const struct delta_row qw_entity_rows[];
extern const size_t qw_entity_rows_count;

#endif /* QW_ENTITIES_H */
