// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * q3_old_delta.c - entities and players of protocols 43 to 48, on the wire as q3_old.c
 * says. Called by q3_old.c and q3_snapshot.c.
 */
#include <stdlib.h>

#include "decode/q3/q3_demo.h"

#define MASK_EXPLICIT 31
#define FLOAT_BITS    13
#define FLOAT_BIAS    4096

static uint32_t raw_field(struct q3_bits *b, const struct q3_field *f)
{
	union {
		float f;
		uint32_t raw;
	} value;

	if (f->bits > 0)
		return q3_raw(b, (unsigned int)f->bits);
	if (f->bits < 0)
		return q3_extend(q3_raw(b, (unsigned int)-f->bits),
				 (unsigned int)-f->bits);
	if (q3_raw(b, 1))
		return q3_raw(b, 32);
	value.f = (float)((int32_t)q3_raw(b, FLOAT_BITS) - FLOAT_BIAS);
	return value.raw;
}

void q3_old_entity(struct q3_parse *p, uint32_t *to)
{
	const struct q3_table *t = &p->dialect->entity;
	unsigned int number = q3_raw(&p->b, 5), used = 0;
	uint32_t at[Q3_FIELDS_MAX + 1];
	uint8_t changed[Q3_FIELDS_MAX];
	uint64_t mask;

	if (number == MASK_EXPLICIT) {
		mask = q3_raw(&p->b, 32);
		mask |= (uint64_t)q3_raw(&p->b, (unsigned int)t->count - 32) << 32;
	} else {
		mask = q3_old_masks[number];
	}
	for (unsigned int i = 0; i < t->count; i++) {
		at[i] = p->b.pos;
		if (mask >> i & 1) {
			to[i] = raw_field(&p->b, &t->fields[i]);
			changed[used++] = (uint8_t)i;
		}
		at[i + 1] = p->b.pos;
	}
	q3_describe_all(p->record, t, changed, used, to, at);
}

void q3_old_player(struct q3_parse *p, uint32_t *to)
{
	const struct q3_table *t = &p->dialect->player;
	const struct q3_array *a = p->dialect->arrays;
	uint32_t at[Q3_FIELDS_MAX + 1];
	uint8_t changed[Q3_FIELDS_MAX];
	unsigned int used = 0;

	for (unsigned int i = 0; i < t->count; i++) {
		at[i] = p->b.pos;
		if (q3_raw(&p->b, 1)) {
			to[i] = raw_field(&p->b, &t->fields[i]);
			changed[used++] = (uint8_t)i;
		}
		at[i + 1] = p->b.pos;
	}
	q3_describe_all(p->record, t, changed, used, to, at);
	to += p->dialect->player_slots;
	for (; a->names; a++, to += 16) {
		unsigned int width = (unsigned int)abs(a->bits);
		uint32_t mask = q3_raw(&p->b, 1) ? q3_raw(&p->b, 16) : 0;

		record_mark(p->record);
		for (unsigned int i = 0; i < 16; i++) {
			if (!(mask >> i & 1))
				continue;
			to[i] = q3_raw(&p->b, width);
			if (a->bits < 0)
				to[i] = q3_extend(to[i], width);
			record_int(p->record, a->names[i], (int32_t)to[i]);
		}
	}
}
