/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * q3_support.h - what the tests of Quake III share: hex, exact copies, a bit writer made
 * from the rules in docs/PROTOCOLS.md, and a search through the fields of a record.
 */
#ifndef Q3_SUPPORT_H
#define Q3_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "decode/q3/q3_session.h"
#include "decode/q3/q3_symbol.h"

/* An exact heap copy: one byte too far and the sanitizer speaks. */
static inline uint8_t *exact_copy(const void *bytes, size_t n)
{
	uint8_t *copy = malloc(n ? n : 1);

	assert_non_null(copy);
	memcpy(copy, bytes, n);
	return copy;
}

static inline size_t from_hex(const char *hex, uint8_t *out, size_t max)
{
	size_t n = 0;

	for (; hex[0] && hex[1]; hex += 2) {
		unsigned int byte;

		assert_int_equal(sscanf(hex, "%2x", &byte), 1);
		assert_true(n < max);
		out[n++] = (uint8_t)byte;
	}
	return n;
}

/* --- writing bits ------------------------------------------------------------------ */

struct writer {
	uint8_t bytes[Q3_MESSAGE_MAX];
	size_t bits;
};

static inline void put_bit(struct writer *w, unsigned int bit)
{
	assert_true(w->bits / 8 + 1 < sizeof(w->bytes));
	if (!(w->bits % 8))
		w->bytes[w->bits / 8] = 0;
	w->bytes[w->bits / 8] |= (uint8_t)((bit & 1) << w->bits % 8);
	w->bits++;
}

static inline void put_symbol(struct writer *w, unsigned int symbol)
{
	unsigned int length, code = q3_symbol_code(symbol, &length);

	for (unsigned int i = 0; i < length; i++)
		put_bit(w, code >> i & 1U);
}

static inline void put(struct writer *w, uint32_t value, int bits)
{
	unsigned int n = (unsigned int)(bits < 0 ? -bits : bits), raw = n % 8;

	for (unsigned int i = 0; i < raw; i++)
		put_bit(w, value >> i);
	for (unsigned int at = raw; at < n; at += 8)
		put_symbol(w, value >> at & 255);
}

static inline void put_text(struct writer *w, const void *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		put(w, ((const uint8_t *)text)[i], 8);
	put(w, 0, 8);
}

/* The beginning of a snapshot, up to its area mask of @areas bytes, 0 or 1. */
static inline void put_snapshot_head(struct writer *w, uint32_t time, unsigned int delta,
				     unsigned int areas)
{
	put(w, 7, 8);
	put(w, time, 32);
	put(w, delta, 8);
	put(w, 4, 8);
	put(w, areas, 8);
	if (areas)
		put(w, 0xfe, 8);
}

/* What a sender sends: floor(bits / 8) + 1 bytes. */
static inline size_t written(struct writer *w)
{
	if (!(w->bits % 8))
		w->bytes[w->bits / 8] = 0;
	return w->bits / 8 + 1;
}

/* --- deltas, from two states ------------------------------------------------------- */

static inline void put_float(struct writer *w, uint32_t raw)
{
	float f;

	memcpy(&f, &raw, sizeof(f));
	if (f >= -4096 && f < 4096 && (float)(int32_t)f == f) {
		put_bit(w, 0);
		put(w, (uint32_t)((int32_t)f + 4096), 13);
	} else {
		put_bit(w, 1);
		put(w, raw, 32);
	}
}

/*
 * A field is sent if it differs, or if @named (by place in the table; may be NULL) says
 * that it was: a sender tells -0.0 from 0.0, and the wire does not.
 */
static inline bool is_sent(const struct q3_field *f, const uint32_t *from,
			   const uint32_t *to, const bool *named, unsigned int i)
{
	bool differs = from[f->slot] != to[f->slot];

	if (named && differs)
		assert_true(named[i]);
	return differs || (named && named[i]);
}

static inline unsigned int sent_count(const struct q3_table *t, const uint32_t *from,
				      const uint32_t *to, const bool *named)
{
	unsigned int count = (unsigned int)t->count;

	while (count && !is_sent(&t->fields[count - 1], from, to, named, count - 1))
		count--;
	return count;
}

static inline void put_fields(struct writer *w, const struct q3_table *t,
			      const uint32_t *from, const uint32_t *to, const bool *named,
			      bool zero_bit)
{
	unsigned int count = sent_count(t, from, to, named);

	put(w, count, 8);
	for (unsigned int i = 0; i < count; i++) {
		const struct q3_field *f = &t->fields[i];
		bool sent = is_sent(f, from, to, named, i);
		uint32_t value = to[f->slot];
		float number;

		put_bit(w, sent);
		if (!sent)
			continue;
		memcpy(&number, &value, sizeof(number));
		if (zero_bit && (f->bits ? !value : number == 0.0F)) {
			put_bit(w, 0);
			continue;
		}
		if (zero_bit)
			put_bit(w, 1);
		if (f->bits)
			put(w, value, f->bits);
		else
			put_float(w, value);
	}
}

/* An entity that is in the new snapshot; @force: it must be named even if unchanged. */
static inline void put_entity(struct writer *w, const struct q3_table *t,
			      unsigned int number, const uint32_t *from,
			      const uint32_t *to, const bool *named, bool force)
{
	bool changed = sent_count(t, from, to, named) != 0;

	if (!changed && !force)
		return;
	put(w, number, 10);
	put_bit(w, 0);
	put_bit(w, changed);
	if (changed)
		put_fields(w, t, from, to, named, true);
}

static inline void put_removed(struct writer *w, unsigned int number)
{
	put(w, number, 10);
	put_bit(w, 1);
}

/* The base game's player: one gate in front of four groups. */
static inline void put_player(struct writer *w, const struct q3_dialect *d,
			      const uint32_t *from, const uint32_t *to, const bool *named)
{
	const uint32_t *old = from + d->player_slots, *fresh = to + d->player_slots;
	unsigned int mask[4] = { 0 };

	put_fields(w, &d->player, from, to, named, false);
	for (unsigned int i = 0; i < 64; i++)
		mask[i / 16] |= (unsigned int)(old[i] != fresh[i]) << i % 16;
	put_bit(w, mask[0] || mask[1] || mask[2] || mask[3]);
	if (!mask[0] && !mask[1] && !mask[2] && !mask[3])
		return;
	for (unsigned int group = 0; group < 4; group++) {
		put_bit(w, mask[group] != 0);
		if (mask[group])
			put(w, mask[group], 16);
		for (unsigned int i = 0; i < 16; i++)
			if (mask[group] >> i & 1)
				put(w, fresh[group * 16 + i], d->arrays[group].bits);
	}
}

/* --- reading records --------------------------------------------------------------- */

static inline void record_with_tape(struct record *r, struct record_tape *tape)
{
	assert_int_equal(record_tape_create(tape, 65536, 1 << 20), 0);
	record_reset(r, tape);
}

/* The @axis of the array @i, if it is called the first @n characters of @key. */
static inline const struct record_item *axis_of(const struct record_item *i,
						const char *key, size_t n, int axis)
{
	if (i->type != RECORD_TYPE_ARRAY || i->size != n || memcmp(i->key, key, n) != 0 ||
	    i[1 + axis].type == RECORD_TYPE_NULL)
		return NULL;
	return &i[1 + axis];
}

/* The first item called @key at or after @from; NULL: none. "name[1]" is also found as
 * the second number of the array "name". */
static inline const struct record_item *
find_item(const struct record *r, const struct record_item *from, const char *key)
{
	const struct record_item *end = r->tape->items + r->tape->items_used;
	const char *axis = strchr(key, '['); /* and one digit */

	for (const struct record_item *i = from ? from : r->tape->items; i < end; i++) {
		if (i->type == RECORD_TYPE_PAIR || !i->key)
			continue;
		if (!strcmp(i->key, key) && !i->size)
			return i;
		if (!strcmp(i->key, key) && i->type != RECORD_TYPE_ARRAY)
			return i;
		if (axis && axis_of(i, key, (size_t)(axis - key), axis[1] - '0'))
			return axis_of(i, key, (size_t)(axis - key), axis[1] - '0');
	}
	return NULL;
}

static inline int64_t find_int(const struct record *r, const struct record_item *from,
			       const char *key)
{
	const struct record_item *i = find_item(r, from, key);

	if (!i)
		fail_msg("no field %s", key);
	if (i->type == RECORD_TYPE_FLOAT)
		return (int64_t)(i->f * 1000);
	return i->i;
}

static inline const char *item_bytes(const struct record *r, const struct record_item *i)
{
	return (const char *)r->tape->bytes + i->at;
}

static inline bool item_is(const struct record *r, const struct record_item *i,
			   const char *text)
{
	return i && i->size == strlen(text) && !memcmp(item_bytes(r, i), text, i->size);
}

/* The op of this name, after @from: its object's first item; NULL: none. */
static inline const struct record_item *
find_op(const struct record *r, const struct record_item *from, const char *name)
{
	const struct record_item *i = find_item(r, from, "op");

	while (i && !item_is(r, i, name))
		i = find_item(r, i + 1, "op");
	return i;
}

/* Which fields of @t the object that begins at @at names. */
static inline void find_named(const struct record *r, const struct record_item *at,
			      const struct q3_table *t, bool *named)
{
	memset(named, 0, t->count * sizeof(*named));
	for (at++; at->type != RECORD_TYPE_CLOSE; at++) {
		for (size_t i = 0; i < t->count; i++) {
			const char *name = t->fields[i].name;
			size_t n = strlen(name);

			if (at->type != RECORD_TYPE_ARRAY)
				named[i] |= !strcmp(name, at->key);
			else if (n > 3)
				named[i] |= axis_of(at, name, n - 3, name[n - 2] - '0') !=
					    NULL;
		}
		if (at->type == RECORD_TYPE_ARRAY)
			at += 4;
	}
	assert_true(at < r->tape->items + r->tape->items_used);
}

#endif /* Q3_SUPPORT_H */
