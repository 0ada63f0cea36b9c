/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * trace.h - `decode --trace`: where each field of a record stands, in the order of the
 * wire, and which user commands were sent before. Called by cmd_decode.c with the records
 * of a decoder that was created with .trace; trace_clients.h has what they add up to.
 */
#ifndef TRACE_H
#define TRACE_H

#include "decode/trace_clients.h"
#include "lib/jsonl.h"
#include "lib/record_trace.h"

/* A line of a trace. */
struct trace_line {
	struct record_extent where;
	uint32_t item; /* on the tape; TRACE_NO_FIELD: bits of no field */
	bool container; /* the beginning or end of an object or array */
	bool repeated; /* a user command that was sent before */
};

#define TRACE_NO_FIELD UINT32_MAX

struct trace;

/* Return NULL if there is no memory. trace_free() frees it. */
struct trace *trace_create(void);
/* Free it; NULL is allowed. */
void trace_free(struct trace *t);

/*
 * Take in one record, of r->tape->trace: trace_lines(), trace_text() and trace_json() are
 * of this record until the next call. @clients: or NULL.
 */
void trace_record(struct trace *t, const struct record *r, struct trace_clients *clients);

/*
 * Return the lines, sorted by stream and place, with a line for each run of bits that no
 * field has; fields without bits stand behind the field before them. *@ret_n: how many.
 */
const struct trace_line *trace_lines(const struct trace *t, size_t *ret_n);

/* Return how many bits stream @stream of @r has. For tests. */
uint32_t trace_size(const struct record *r, unsigned int stream);

/* Write the lines to read, indented. */
void trace_text(const struct trace *t, struct jsonl *json, const struct record *r);
/* Write the members "streams" and "trace" of the record's object, each after a comma. */
void trace_json(const struct trace *t, struct jsonl *json, const struct record *r);

#endif /* TRACE_H */
