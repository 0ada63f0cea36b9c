// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * record_trace.c - see record_trace.h. Called while a record is made, by record.c and by
 * decoders.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/json_key.h"
#include "lib/record_trace.h"

int record_trace_create(struct record_tape *tape)
{
	tape->trace = calloc(1, sizeof(*tape->trace));
	if (!tape->trace)
		return -ENOMEM;
	tape->trace->extents = calloc(tape->items_max, sizeof(*tape->trace->extents));
	if (!tape->trace->extents) {
		free(tape->trace);
		tape->trace = NULL;
		return -ENOMEM;
	}
	tape->aside = true;
	return 0;
}

void record_trace_reset(struct record_trace *t)
{
	memset(t->end, 0, sizeof(t->end));
	t->sources_n = 0;
	t->streams_n = 1;
	t->held = t->has_next = false;
	t->copy = NULL;
	t->copy_n = 0;
}

/* The first bit of @at in @n bytes at @bytes; false: it is not among them. */
static bool within(const uint8_t *bytes, size_t n, const uint8_t *at, size_t at_n,
		   uint32_t *ret)
{
	uintptr_t from = (uintptr_t)bytes, here = (uintptr_t)at;

	if (!bytes || !at || here < from || here - from > n || at_n > n - (here - from) ||
	    n >= RECORD_BITS_MAX / 8)
		return false;
	*ret = (uint32_t)(here - from) * 8;
	return true;
}

/* Return what is read from now; NULL: nothing, or a reader within too many. */
static const struct record_source *source_now(const struct record_trace *t)
{
	return t->sources_n && t->sources_n <= RECORD_SOURCES
		       ? &t->sources[t->sources_n - 1]
		       : NULL;
}

/* The stream that holds the @n bytes at @at now, and their first bit; false: none. */
static bool place_of(const struct record *r, const void *at, size_t n, uint32_t *stream,
		     uint32_t *origin)
{
	const struct record_trace *t = r->tape->trace;
	unsigned int i = t->sources_n < RECORD_SOURCES ? t->sources_n : RECORD_SOURCES;

	*stream = 0;
	if (within(r->payload, r->payload_n, at, n, origin))
		return true;
	if (within(t->copy, t->copy_n, at, n, origin)) {
		*origin += t->copy_origin;
		return true;
	}
	while (i--) {
		const struct record_source *s = &t->sources[i];

		if (!within(s->bytes, s->n, at, n, origin))
			continue;
		*stream = s->stream;
		*origin += s->origin;
		return true;
	}
	return false;
}

void record_trace_open(struct record *r, const struct record_source *source)
{
	struct record_trace *t = r->tape->trace;
	struct record_source *s;

	t->has_next = false;
	if (t->sources_n++ >= RECORD_SOURCES)
		return;
	s = &t->sources[t->sources_n - 1];
	*s = *source;
	t->sources_n--;
	if (!place_of(r, s->bytes, s->n, &s->stream, &s->origin)) {
		s->origin = 0;
		s->stream = t->streams_n < RECORD_STREAMS && s->n < RECORD_BITS_MAX / 8
				    ? t->streams_n++
				    : RECORD_NOWHERE;
		if (s->stream != RECORD_NOWHERE) {
			t->size[s->stream] = (uint32_t)s->n * 8;
			t->end[s->stream] = 0;
		}
	}
	t->sources_n++;
}

void record_trace_copy(struct record *r, const void *copy, size_t n, const void *from)
{
	struct record_trace *t = r->tape->trace;

	t->copy = copy;
	t->copy_n = n;
	if (!within(r->payload, r->payload_n, from, n, &t->copy_origin))
		t->copy = NULL;
}

/* The reader's position, in bits of its stream. */
static uint32_t position(const struct record_source *s)
{
	uint32_t at = 0;

	if (s->bits)
		at = *s->bits <= s->n * 8 ? *s->bits : (uint32_t)s->n * 8;
	else if (!within(s->bytes, s->n, *s->at, 0, &at))
		at = 0;
	return s->origin + at;
}

static struct record_extent read_last(const struct record_trace *t,
				      const struct record_source *s)
{
	struct record_extent e = { 0, 0, s->stream };
	uint32_t at;

	if (s->stream == RECORD_NOWHERE)
		return e;
	at = position(s);
	e.from = e.to = t->end[s->stream];
	if (at > e.to)
		e.to = at;
	/* Earlier bytes of the stream were read elsewhere. */
	if (e.from < s->origin && e.to > s->origin)
		e.from = s->origin;
	return e;
}

bool record_trace_hold(struct record *r, bool held)
{
	struct record_trace *t = r->tape->trace;
	const struct record_source *s = source_now(t);
	bool was = t->held;

	if (!was && held && s && s->stream != RECORD_NOWHERE)
		t->floor = t->end[s->stream];
	t->held = held;
	return was;
}

void record_trace_mark(struct record *r)
{
	struct record_trace *t = r->tape->trace;
	const struct record_source *s = source_now(t);
	struct record_extent e;

	if (!s)
		return;
	e = read_last(t, s);
	if (e.stream != RECORD_NOWHERE)
		t->end[e.stream] = e.to;
}

void record_trace_next(struct record *r, uint32_t skip, uint32_t bits)
{
	struct record_trace *t = r->tape->trace;
	const struct record_source *s = source_now(t);
	uint32_t stream = s ? s->stream : 0;

	if (stream == RECORD_NOWHERE)
		return;
	if (s && t->end[stream] < s->origin)
		t->end[stream] = s->origin;
	t->end[stream] += skip;
	if (!bits)
		return;
	t->has_next = true;
	t->next = (struct record_extent){ t->end[stream], t->end[stream] + bits, stream };
}

void record_trace_until(struct record *r, uint32_t to)
{
	struct record_trace *t = r->tape->trace;
	const struct record_source *s = source_now(t);

	if (!s || s->stream == RECORD_NOWHERE || t->end[s->stream] > s->origin + to)
		return;
	t->has_next = true;
	t->next = (struct record_extent){ t->end[s->stream], s->origin + to, s->stream };
	if (t->next.from < s->origin)
		t->next.from = s->origin;
}

void record_trace_until_read(struct record *r)
{
	const struct record_source *s = source_now(r->tape->trace);

	if (s && s->stream != RECORD_NOWHERE)
		record_trace_until(r, position(s) - s->origin);
}

void record_trace_between(struct record *r, uint32_t from, uint32_t to)
{
	struct record_trace *t = r->tape->trace;
	const struct record_source *s = source_now(t);

	if (!s || s->stream == RECORD_NOWHERE)
		return;
	t->has_next = true;
	t->next = (struct record_extent){ s->origin + from, s->origin + to, s->stream };
}

void record_trace_stands(struct record *r, const void *bytes, size_t n)
{
	struct record_trace *t = r->tape->trace;
	uint32_t stream, origin;

	if (!place_of(r, bytes, n, &stream, &origin) || stream == RECORD_NOWHERE)
		return;
	t->has_next = true;
	t->next = (struct record_extent){ origin, origin + (uint32_t)n * 8, stream };
}

bool record_trace_unnoted(const struct record *r, const void *bytes, size_t n,
			  uint32_t *ret)
{
	const struct record_trace *t = r->tape->trace;
	const struct record_source *s = source_now(t);
	uint32_t at;

	if (!s || s->stream == RECORD_NOWHERE || !within(s->bytes, s->n, bytes, n, &at))
		return false;
	*ret = at;
	at += s->origin;
	return at >= (t->held ? t->floor : t->end[s->stream]) &&
	       at + n * 8 <= position(s);
}

void record_trace_ahead(struct record *r, const void *bytes, size_t n)
{
	uint32_t at;

	if (record_trace_unnoted(r, bytes, n, &at))
		record_trace_between(r, at, at + (uint32_t)n * 8);
}

void record_trace_note(struct record *r, const void *bytes, size_t n)
{
	struct record_trace *t = r->tape->trace;
	const struct record_source *s = source_now(t);
	struct record_extent e = { t->end[0], t->end[0], 0 };

	if (t->held && s && s->stream != RECORD_NOWHERE)
		e = (struct record_extent){ t->end[s->stream], t->end[s->stream],
					    s->stream };
	else if (s && !t->has_next)
		e = read_last(t, s);
	if (e.from == e.to && bytes && !t->has_next && !t->held)
		record_trace_stands(r, bytes, n);
	/* Bytes that were read ahead are noted already, with the field before. */
	if (t->has_next && (!bytes || t->next.from >= t->end[t->next.stream] || t->held))
		e = t->next;
	t->has_next = false;
	if (e.stream < RECORD_STREAMS && t->end[e.stream] < e.to)
		t->end[e.stream] = e.to;
	if (r->tape->items_used < r->tape->items_max)
		t->extents[r->tape->items_used] = e;
}

void record_trace_nowhere(struct record *r)
{
	bool was = record_trace_hold(r, true);
	struct record_extent next = r->tape->trace->next;
	bool has_next = r->tape->trace->has_next;

	r->tape->trace->has_next = false;
	record_trace_note(r, NULL, 0);
	record_trace_hold(r, was);
	r->tape->trace->next = next;
	r->tape->trace->has_next = has_next;
}

void record_trace_note_pair(struct record *r, const void *key, size_t key_n,
			    const void *bytes, size_t n)
{
	uintptr_t from = (uintptr_t)key, to = (uintptr_t)bytes + n;
	bool behind = n && to >= from + key_n && to - from <= key_n + n + 2;

	if (!r->tape->trace->has_next)
		record_trace_stands(r, key, behind ? to - from : key_n);
	record_trace_note(r, NULL, 0);
}

const struct json_key record_stream_keys[] = {
	JSON_KEY("bits", "integer", "bits", "Its length."),
	JSON_END,
};

const struct json_key record_place_keys[] = {
	JSON_KEY(
		"field", "string|null", NULL,
		"Path of the field in this object; null: bits of no field. For an object or "
		"array: bits at its beginning or end that are of none of its fields."),
	JSON_KEY("stream", "integer|null", NULL,
		 "Index in `streams`; null: it stands nowhere."),
	JSON_KEY("at", "integer", "bits", "First bit, from the stream's beginning."),
	JSON_KEY(
		"bits", "integer", "bits",
		"How many; 0: the value follows from others, or from earlier datagrams."),
	JSON_KEY("repeated", "boolean?", NULL,
		 "True: of a user command that an earlier datagram held too."),
	JSON_END,
};
