/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * record_trace.h - where on the wire each field of a record stands, for `decode --trace`.
 *
 * A decoder names the bytes that it reads and where its reader keeps its position:
 * record_reads() before, record_reads_end() after. Each field that is put on the tape is
 * noted with what was read since the field before. The decoder says so itself where it
 * reads more than one field before it puts the first: record_bits(), record_between(),
 * record_stands().
 *
 * Bytes that the datagram itself does not hold are a stream of their own: what it was
 * decompressed or decrypted to, and a message of several datagrams. Stream 0 is the
 * datagram, or the block of a demo.
 *
 * Without a trace, which only `decode --trace` has, each call is one test.
 */
#ifndef RECORD_TRACE_H
#define RECORD_TRACE_H

#include "lib/json_key.h"
#include "lib/record.h"

#define RECORD_STREAMS	8 /* of one record; fields of what is more have no place */
#define RECORD_NOWHERE	RECORD_STREAMS /* in place of a stream */
#define RECORD_SOURCES	8 /* readers within readers; those within are not noted */
#define RECORD_BITS_MAX (1U << 31) /* of a stream */

/* Bits @from to @to, which does not belong to it, of a stream. */
struct record_extent {
	uint32_t from, to;
	uint32_t stream; /* or RECORD_NOWHERE */
};

struct record_source {
	const uint8_t *bytes;
	size_t n; /* bytes */
	const uint8_t *const *at; /* the reader's position; NULL: */
	const uint32_t *bits; /* its position in bits from @bytes */
	uint32_t stream, origin; /* of @bytes; origin in bits */
};

struct record_trace {
	struct record_extent *extents; /* of tape->items, by their index */
	struct record_source sources[RECORD_SOURCES];
	unsigned int sources_n; /* may be more than RECORD_SOURCES */
	uint32_t size[RECORD_STREAMS]; /* in bits; of stream 0: see the payload */
	uint32_t end[RECORD_STREAMS]; /* what has been noted of each, in bits */
	unsigned int streams_n; /* 1: the datagram alone */
	bool held; /* only fields of which the decoder says so stand anywhere */
	uint32_t floor; /* what had been noted of the stream when it was held */
	bool has_next; /* the decoder has said where the next field stands */
	struct record_extent next;
	const uint8_t *copy; /* of copy_n bytes of the datagram, or NULL */
	size_t copy_n;
	uint32_t copy_origin; /* in bits of the datagram */
};

#define RECORD_TRACED(r) __builtin_expect((r)->tape && (r)->tape->trace, 0)

/* Give @tape a trace. 0 or -ENOMEM. record_tape_free() frees it. */
int record_trace_create(struct record_tape *tape);
/* Forget what is noted. Called by record_reset(). */
void record_trace_reset(struct record_trace *t);
/* Note the next item of r->tape: @n bytes at @bytes, or NULL: what was read last. */
void record_trace_note(struct record *r, const void *bytes, size_t n);
/* Note it as of no bits: an object or array begins, and its first field has them. */
void record_trace_nowhere(struct record *r);
/* Note it as of @key up to the end of @n bytes at @bytes. */
void record_trace_note_pair(struct record *r, const void *key, size_t key_n,
			    const void *bytes, size_t n);

/* record_trace.c: the slow half of the calls below. */
/* Take over @source: fields are read from it. */
void record_trace_open(struct record *r, const struct record_source *source);
/* @copy holds @n bytes of the datagram at @from. */
void record_trace_copy(struct record *r, const void *copy, size_t n, const void *from);
/* Pass over @skip bits; the next field has @bits, if that is not 0. */
void record_trace_next(struct record *r, uint32_t skip, uint32_t bits);
/* The next field ends before bit @to of what is read. */
void record_trace_until(struct record *r, uint32_t to);
/* The next field ends where the reader is. */
void record_trace_until_read(struct record *r);
/* The next field is bits @from to @to of what is read. */
void record_trace_between(struct record *r, uint32_t from, uint32_t to);
/* The next field is the @n bytes at @bytes, if they are in a stream. */
void record_trace_stands(struct record *r, const void *bytes, size_t n);
/* Are the @n bytes at @bytes read, but not noted? *@ret: their first bit. */
bool record_trace_unnoted(const struct record *r, const void *bytes, size_t n,
			  uint32_t *ret);
/* The next field is these bytes, if they are read but not noted. */
void record_trace_ahead(struct record *r, const void *bytes, size_t n);
/* Hold or release; returns what was. */
bool record_trace_hold(struct record *r, bool held);
/* Note all that is read as of no field. */
void record_trace_mark(struct record *r);

/* From here on fields are read from @n bytes at @bytes; *@at is the next byte. */
static inline void record_reads(struct record *r, const void *bytes, size_t n,
				const uint8_t *const *at)
{
	if (RECORD_TRACED(r)) {
		struct record_source source = { .bytes = bytes, .n = n, .at = at };

		record_trace_open(r, &source);
	}
}

/* The same for a stream of bits; *@bits is the next one. */
static inline void record_reads_bits(struct record *r, const void *bytes, size_t n,
				     const uint32_t *bits)
{
	if (RECORD_TRACED(r)) {
		struct record_source source = { .bytes = bytes, .n = n, .bits = bits };

		record_trace_open(r, &source);
	}
}

/* The reader of the last record_reads() goes away. */
static inline void record_reads_end(struct record *r)
{
	if (RECORD_TRACED(r))
		r->tape->trace->sources_n -= r->tape->trace->sources_n > 0;
}

/* @copy holds the @n bytes of the datagram at @from, perhaps unscrambled. */
static inline void record_copied(struct record *r, const void *copy, size_t n,
				 const void *from)
{
	if (RECORD_TRACED(r))
		record_trace_copy(r, copy, n, from);
}

/* The next field is the next @n bits behind the last field. */
static inline void record_bits(struct record *r, uint32_t n)
{
	if (RECORD_TRACED(r))
		record_trace_next(r, 0, n);
}

/* The next @n bits behind the last field are of no field. */
static inline void record_skip(struct record *r, uint32_t n)
{
	if (RECORD_TRACED(r))
		record_trace_next(r, n, 0);
}

/* What has been read up to here and is of no field belongs to none: flags, a count. */
static inline void record_mark(struct record *r)
{
	if (RECORD_TRACED(r))
		record_trace_mark(r);
}

/* The next field is all behind the last field up to bit @to of the bytes read now. */
static inline void record_until(struct record *r, uint32_t to)
{
	if (RECORD_TRACED(r))
		record_trace_until(r, to);
}

/* The next field is bits @from to @to of the bytes that are read now. */
static inline void record_between(struct record *r, uint32_t from, uint32_t to)
{
	if (RECORD_TRACED(r))
		record_trace_between(r, from, to);
}

/*
 * Until it is called with false, or what it returned: fields have been read ahead, and
 * one stands where the decoder says that it does, or nowhere, since its value is not from
 * these bytes.
 */
static inline bool record_hold(struct record *r, bool held)
{
	return RECORD_TRACED(r) ? record_trace_hold(r, held) : false;
}

/* The next field is what the @n bytes at @bytes say. */
static inline void record_stands(struct record *r, const void *bytes, size_t n)
{
	if (RECORD_TRACED(r))
		record_trace_stands(r, bytes, n);
}

/*
 * Likewise, but only if they were not yet noted, and the reader is past them: otherwise
 * the next field stands nowhere.
 */
static inline void record_stands_ahead(struct record *r, const void *bytes, size_t n)
{
	if (RECORD_TRACED(r))
		record_trace_ahead(r, bytes, n);
}

/* The keys of the objects in "streams" and "trace" of a record. */
extern const struct json_key record_stream_keys[], record_place_keys[];

#endif /* RECORD_TRACE_H */
