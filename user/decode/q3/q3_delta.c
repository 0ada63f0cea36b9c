// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * q3_delta.c - entity and player states as differences.
 *
 *   entity: remove:bit; if not: changed:bit; if so: count:8, then fields 0..count-1:
 *           changed:bit, nonzero:bit (0: zero), then
 *             float: full:bit, 0: value:13 less 4096; 1: IEEE:32
 *             int:   value:bits
 *   player: count:8, fields as above without the nonzero bit, then the arrays
 *
 * Values are absolute; a field that is not sent is the base's. Facts from
 * id-Software/Quake-III-Arena code/qcommon/msg.c.
 */
#include "decode/q3/q3_message.h"

#define SHORT_FLOAT_BITS 13
#define SHORT_FLOAT_BIAS 4096

static inline uint32_t get_float(struct q3_bits *b)
{
	union {
		float f;
		uint32_t raw;
	} value;

	if (q3_get_bit(b))
		return q3_get(b, 32);
	value.f = (float)((int32_t)q3_get(b, SHORT_FLOAT_BITS) - SHORT_FLOAT_BIAS);
	return value.raw;
}

void q3_describe(struct record *r, const struct q3_field *f, uint32_t value)
{
	union {
		uint32_t raw;
		float f;
	} bits = { .raw = value };

	if (!f->bits)
		record_float(r, f->name, bits.f);
	else if (f->bits < 0 || f->bits == 32)
		record_int(r, f->name, (int32_t)value);
	else
		record_uint(r, f->name, value);
}

/* --- vectors ----------------------------------------------------------------- */

/*
 * How a table's field is put on the record: alone, or with the two others of its vector.
 */
struct vector {
	uint8_t name_n; /* of "origin" in "origin[1]"; 0: it is no coordinate */
	uint8_t at[3]; /* the places of all three in the table */
};

/*
 * The vectors of a table, worked out when it is first described: looking names up for
 * each field took a fifth of the time of `decode --json`. Tables are constants, of which
 * there are fewer than places; one that finds no free place takes another's over.
 */
#define VECTORS_PLACES 128

struct vectors {
	const struct q3_field *fields;
	size_t count; /* 0: free */
	struct vector by[Q3_FIELDS_MAX];
};

/*
 * Return how long the name is in front of "[0]" to "[2]"; 0: the name does not end so.
 */
static size_t axis_name(const struct q3_field *f)
{
	size_t n = strlen(f->name);

	return n > 3 && f->name[n - 1] == ']' && f->name[n - 3] == '[' &&
			       f->name[n - 2] >= '0' && f->name[n - 2] <= '2'
		       ? n - 3
		       : 0;
}

static struct vector vector_find(const struct q3_table *t, size_t field)
{
	const char *name = t->fields[field].name;
	struct vector v = { .name_n = (uint8_t)axis_name(&t->fields[field]) };
	unsigned int found = 0;

	for (size_t i = 0; v.name_n && i < t->count; i++) {
		const struct q3_field *f = &t->fields[i];

		if (axis_name(f) != v.name_n || memcmp(f->name, name, v.name_n) != 0)
			continue;
		v.at[f->name[v.name_n + 1] - '0'] = (uint8_t)i;
		found |= 1U << (f->name[v.name_n + 1] - '0');
	}
	if (found != 7)
		v.name_n = 0;
	return v;
}

/*
 * Return the vectors of @t, by field, found at the first use of @t. If all places are
 * taken, the last one that was looked at is replaced: the result holds until the next
 * call. The places are static: one thread may call it.
 */
static const struct vector *vectors_of(const struct q3_table *t)
{
	static struct vectors known[VECTORS_PLACES];
	size_t first = (uintptr_t)t->fields / sizeof(*t->fields);
	struct vectors *v = &known[first % VECTORS_PLACES];

	for (size_t i = 0; i < VECTORS_PLACES; i++) {
		v = &known[(first + i) % VECTORS_PLACES];
		if (v->count == t->count && v->fields == t->fields)
			return v->by;
		if (!v->count)
			break;
	}
	v->fields = t->fields;
	v->count = t->count;
	for (size_t i = 0; i < t->count; i++)
		v->by[i] = vector_find(t, i);
	return v->by;
}

static void describe_one(struct record *r, const struct q3_field *f, uint32_t value,
			 const uint32_t *at)
{
	if (at)
		record_between(r, at[0], at[1]);
	q3_describe(r, f, value);
}

static void describe_vector(struct record *r, const struct q3_table *t,
			    const struct vector *v, const bool *changed,
			    const uint32_t *state, const uint32_t *at)
{
	record_open_vector(r, t->fields[v->at[0]].name, v->name_n);
	for (unsigned int axis = 0; axis < 3; axis++) {
		const struct q3_field *f = &t->fields[v->at[axis]];
		struct q3_field value = { NULL, f->bits, f->slot };

		if (changed[v->at[axis]])
			describe_one(r, &value, state[f->slot],
				     at ? at + v->at[axis] : NULL);
		else
			record_null(r);
	}
	record_close(r);
}

void q3_describe_all(struct record *r, const struct q3_table *t, const uint8_t *changed,
		     unsigned int used, const uint32_t *state, const uint32_t *at)
{
	bool is_changed[Q3_FIELDS_MAX] = { false }, said[Q3_FIELDS_MAX] = { false };
	const struct vector *vectors;

	if (!RECORD_WANTED(r))
		return;
	record_hold(r, at);
	vectors = vectors_of(t);
	for (unsigned int i = 0; i < used; i++)
		is_changed[changed[i]] = true;
	for (unsigned int i = 0; i < used; i++) {
		const struct vector *v = &vectors[changed[i]];
		const struct q3_field *f = &t->fields[changed[i]];

		if (!v->name_n) {
			describe_one(r, f, state[f->slot], at ? at + changed[i] : NULL);
			continue;
		}
		/* A vector is said with the first of its coordinates. */
		if (said[changed[i]])
			continue;
		said[v->at[0]] = said[v->at[1]] = said[v->at[2]] = true;
		describe_vector(r, t, v, is_changed, state, at);
	}
	record_hold(r, false);
}

/* The changed fields, by their place in the table; most change bits are clear, so runs
 * of them are stepped over at once. Returns how many there are in @changed. */
static inline unsigned int get_fields(struct q3_bits *b, const struct q3_field *fields,
				      unsigned int count, uint32_t *to, bool has_zero_bit,
				      uint8_t *changed)
{
	unsigned int used = 0, i = 0;

	while (i < count) {
		unsigned int run = (unsigned int)__builtin_ctzll(q3_peek(b) | 1ULL << 56);
		const struct q3_field *f;
		uint32_t value;

		if (run >= count - i) {
			b->pos += count - i;
			break;
		}
		i += run;
		b->pos += run;
		if (run == 56)
			continue;
		b->pos++;
		f = &fields[i];
		if (has_zero_bit && !q3_get_bit(b))
			value = 0;
		else if (!f->bits)
			value = get_float(b);
		else
			value = q3_get_int(b, f->bits);
		to[f->slot] = value;
		changed[used++] = (uint8_t)i++;
	}
	return used;
}

/* Where each of @count fields stands that have just been read from bit @from on. */
static void trace_fields(const struct q3_parse *p, const struct q3_field *fields,
			 unsigned int count, bool has_zero_bit, uint32_t from,
			 uint32_t *at)
{
	uint32_t scratch[Q3_PLAYER_WORDS];
	struct q3_bits again = p->b;
	uint8_t changed;

	again.pos = at[0] = from;
	for (unsigned int i = 0; i < count; i++) {
		get_fields(&again, &fields[i], 1, scratch, has_zero_bit, &changed);
		at[i + 1] = again.pos;
	}
}

static void get_table(struct q3_parse *p, const struct q3_table *table, uint32_t *to,
		      bool has_zero_bit)
{
	unsigned int count = q3_get(&p->b, 8), used;
	uint32_t from = p->b.pos, at[Q3_FIELDS_MAX + 1];
	uint8_t changed[Q3_FIELDS_MAX];

	if (count > table->count) {
		q3_wrong(p, "more delta fields than the table has");
		return;
	}
	used = get_fields(&p->b, table->fields, count, to, has_zero_bit, changed);
	if (RECORD_TRACED(p->record))
		trace_fields(p, table->fields, count, has_zero_bit, from, at);
	q3_describe_all(p->record, table, changed, used, to,
			RECORD_TRACED(p->record) ? at : NULL);
}

enum q3_delta q3_delta_entity_kind(struct q3_parse *p)
{
	if (q3_get_bit(&p->b))
		return Q3_DELTA_REMOVED;
	return q3_get_bit(&p->b) ? Q3_DELTA_CHANGED : Q3_DELTA_SAME;
}

void q3_delta_entity(struct q3_parse *p, uint32_t *to)
{
	get_table(p, &p->dialect->entity, to, true);
}

static void get_array(struct q3_parse *p, const struct q3_array *a, uint32_t *to,
		      bool wide4)
{
	uint32_t mask = q3_get(&p->b, 16);

	record_mark(p->record);
	for (unsigned int i = 0; i < 16; i++) {
		bool wide = wide4 && i == 4;

		if (!(mask >> i & 1))
			continue;
		to[i] = q3_get_int(&p->b, wide ? 19 : a->bits);
		if (a->bits < 0 || wide)
			record_int(p->record, a->names[i], (int32_t)to[i]);
		else
			record_uint(p->record, a->names[i], to[i]);
	}
}

static void get_arrays(struct q3_parse *p, uint32_t *to)
{
	const struct q3_array *a = p->dialect->arrays;
	bool wide4 = p->dialect->flags & Q3_STATS4_WIDE, open = true;
	uint8_t gate = 0;

	for (unsigned int i = 0; a[i].names; i++, to += 16) {
		if (a[i].gate != gate)
			open = !a[i].gate || q3_get_bit(&p->b);
		gate = a[i].gate;
		if (open && q3_get_bit(&p->b))
			get_array(p, &a[i], to, wide4 && i == 0);
	}
}

void q3_delta_player(struct q3_parse *p, uint32_t *to)
{
	const struct q3_dialect *d = p->dialect;
	const struct q3_table *table = &d->player;

	if (d->flags & Q3_PILOT && q3_get_bit(&p->b)) {
		record_bool(p->record, "pilot", true);
		table = &d->pilot;
	}
	get_table(p, table, to, false);
	get_arrays(p, to + d->player_slots);
	if (d->flags & Q3_PILOT && to[d->vehicle_slot] && !q3_failed(p)) {
		record_open_object(p->record, "vehicle");
		get_table(p, &d->vehicle, to + Q3_VEHICLE_AT, false);
		get_arrays(p, to + Q3_VEHICLE_AT + Q3_VEHICLE_MAX);
		record_close(p->record);
	}
}
