// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * trace.c - see trace.h.
 */
#include <stdlib.h>
#include <string.h>

#include "decode/decode.h"
#include "decode/record_text.h"
#include "decode/trace.h"

/* Bits of no field stand in front of a field, or at a stream's end. */
#define LINES_MAX (2 * DECODE_TAPE_ITEMS + RECORD_STREAMS)

struct trace {
	size_t n;
	struct trace_line lines[LINES_MAX];
	/* By item, but for those that close: its object or array, and its number there.
	 */
	uint32_t parent[DECODE_TAPE_ITEMS], index[DECODE_TAPE_ITEMS];
};

struct trace *trace_create(void)
{
	return calloc(1, sizeof(struct trace));
}

void trace_free(struct trace *t)
{
	free(t);
}

uint32_t trace_size(const struct record *r, unsigned int stream)
{
	if (stream)
		return r->tape->trace->size[stream];
	return (uint32_t)(r->payload_n < RECORD_BITS_MAX / 8 ? r->payload_n * 8 : 0);
}

static bool is_open(const struct record_item *item)
{
	return item->type == RECORD_TYPE_OBJECT || item->type == RECORD_TYPE_ARRAY;
}

/* In the order of the wire; of the same place, in the order of the record. */
static int compare(const void *a, const void *b)
{
	const struct trace_line *x = a, *y = b;

	if (x->where.stream != y->where.stream)
		return x->where.stream < y->where.stream ? -1 : 1;
	if (x->where.from != y->where.from)
		return x->where.from < y->where.from ? -1 : 1;
	return x->item < y->item ? -1 : x->item > y->item;
}

/* @e without what a reader has taken beyond the end of a message that is cut off. */
static struct record_extent within_stream(const struct record *r, struct record_extent e)
{
	uint32_t size = e.stream < RECORD_STREAMS ? trace_size(r, e.stream) : UINT32_MAX;

	e.from = e.from < size ? e.from : size;
	e.to = e.to < size ? e.to : size;
	return e;
}

/* A line for each field, and for each object or array that has bits itself. */
static void take_fields(struct trace *t, const struct record *r)
{
	const struct record_tape *tape = r->tape;
	uint32_t open[RECORD_DEPTH_MAX + 1] = { TRACE_NO_FIELD };
	uint32_t count[RECORD_DEPTH_MAX + 1] = { 0 };
	unsigned int depth = 0;

	t->n = 0;
	for (size_t i = 0; i < tape->items_used && i < DECODE_TAPE_ITEMS; i++) {
		const struct record_item *item = &tape->items[i];
		bool close = item->type == RECORD_TYPE_CLOSE;
		struct trace_line line = {
			.where = within_stream(r, tape->trace->extents[i]),
			.item = close ? open[depth] : (uint32_t)i,
			.container = close || is_open(item),
		};

		if (close) {
			depth -= depth > 0;
		} else {
			t->parent[i] = open[depth];
			t->index[i] = count[depth]++;
		}
		if (is_open(item) && depth < RECORD_DEPTH_MAX) {
			open[++depth] = (uint32_t)i;
			count[depth] = 0;
		}
		if (!line.container || line.where.from != line.where.to)
			t->lines[t->n++] = line;
	}
}

/* Lines for what no field has. */
static void fill_gaps(struct trace *t, const struct record *r)
{
	size_t n = t->n, at = 0;

	for (unsigned int stream = 0; stream < r->tape->trace->streams_n; stream++) {
		uint32_t end = 0, size = trace_size(r, stream);

		while (at < n && t->lines[at].where.stream < stream)
			at++;
		for (; at <= n && t->n < LINES_MAX; at++) {
			bool rest = at == n || t->lines[at].where.stream != stream;
			uint32_t to = rest ? size : t->lines[at].where.from;

			if (to > end)
				t->lines[t->n++] = (struct trace_line){
					.where = { end, to, stream },
					.item = TRACE_NO_FIELD,
				};
			if (rest)
				break;
			if (t->lines[at].where.to > end)
				end = t->lines[at].where.to;
		}
	}
	if (t->n > n)
		qsort(t->lines, t->n, sizeof(*t->lines), compare);
}

void trace_record(struct trace *t, const struct record *r, struct trace_clients *clients)
{
	take_fields(t, r);
	qsort(t->lines, t->n, sizeof(*t->lines), compare);
	fill_gaps(t, r);
	if (!clients)
		return;
	trace_clients_record(clients, r);
	for (size_t i = 0; i < t->n; i++) {
		uint32_t item = t->lines[i].item;

		while (item != TRACE_NO_FIELD && !t->lines[i].repeated) {
			t->lines[i].repeated = trace_clients_repeated(clients, item);
			item = t->parent[item];
		}
	}
}

const struct trace_line *trace_lines(const struct trace *t, size_t *ret_n)
{
	*ret_n = t->n;
	return t->lines;
}

/* --- writing ----------------------------------------------------------------------- */

static size_t put(char *to, size_t room, const char *bytes, size_t n)
{
	n = n < room ? n : room;
	memcpy(to, bytes, n);
	return n;
}

#define PATH_MAX_BYTES 512 /* what is longer is cut */

/* Write the path of @item, "ops[2].usercmds[0].angles[1]". Returns its length. */
static size_t path_of(const struct trace *t, const struct record *r, uint32_t item,
		      char *to)
{
	uint32_t chain[RECORD_DEPTH_MAX + 1] = { 0 };
	size_t depth = 0, n = 0;
	char number[16];

	for (; item != TRACE_NO_FIELD && depth <= RECORD_DEPTH_MAX;
	     item = t->parent[item])
		chain[depth++] = item;
	for (size_t i = depth; i--;) {
		const struct record_item *at = &r->tape->items[chain[i]];
		const char *key = at->key;
		size_t key_n;

		if (at->type == RECORD_TYPE_PAIR) {
			key = (const char *)r->tape->bytes + at->at;
			key_n = at->key_size;
		} else if (!key) {
			snprintf(number, sizeof(number), "[%u]", t->index[chain[i]]);
			n += put(to + n, PATH_MAX_BYTES - n, number, strlen(number));
			continue;
		} else {
			key_n = at->type == RECORD_TYPE_ARRAY && at->size ? at->size
									  : strlen(key);
		}
		if (n)
			n += put(to + n, PATH_MAX_BYTES - n, ".", 1);
		n += put(to + n, PATH_MAX_BYTES - n, key, key_n);
	}
	return n;
}

/* In bytes where it is whole bytes of a family without a stream of bits. */
static void text_place(struct jsonl *json, const struct record *r,
		       const struct record_extent *e)
{
	bool bits = r->family == FAMILY_QUAKE3;
	uint32_t size = e->to - e->from;
	char at[24], text[64];

	if (bits)
		snprintf(at, sizeof(at), "%u", e->from);
	else if (e->from % 8)
		snprintf(at, sizeof(at), "%u:%u", e->from / 8, e->from % 8);
	else
		snprintf(at, sizeof(at), "%u", e->from / 8);
	if (e->stream == RECORD_NOWHERE || !size)
		snprintf(text, sizeof(text), "%12s %6s %-6s", "-", "-", "");
	else if (bits || size % 8)
		snprintf(text, sizeof(text), "%12s %6u %-6s", at, size,
			 size == 1 ? "bit" : "bits");
	else
		snprintf(text, sizeof(text), "%12s %6u %-6s", at, size / 8,
			 size == 8 ? "byte" : "bytes");
	jsonl_text(json, text);
}

static void text_stream(struct jsonl *json, const struct record *r, unsigned int stream)
{
	char text[96];
	uint32_t bits = trace_size(r, stream);

	snprintf(text, sizeof(text), "    %s %u: %u bytes",
		 stream		    ? "message"
		 : r->source.length ? "datagram"
				    : "block",
		 stream, bits / 8);
	jsonl_text(json, text);
	jsonl_text(json, r->family == FAMILY_QUAKE3 ? ", places in bits\n" : "\n");
}

void trace_text(const struct trace *t, struct jsonl *json, const struct record *r)
{
	uint32_t stream = TRACE_NO_FIELD;
	char path[PATH_MAX_BYTES];

	for (size_t i = 0; i < t->n; i++) {
		const struct trace_line *line = &t->lines[i];
		size_t n;

		if (line->where.stream != stream && line->where.stream < RECORD_STREAMS)
			text_stream(json, r, line->where.stream);
		stream = line->where.stream;
		text_place(json, r, &line->where);
		jsonl_text(json, " ");
		n = path_of(t, r, line->item, path);
		json->quake = record_is_quake_text(r);
		if (n)
			jsonl_string(json, path, n);
		json->quake = false;
		if (line->item == TRACE_NO_FIELD || line->container)
			jsonl_text(json, n ? " (no field)" : "(no field)");
		else
			record_text_value(json, r, &r->tape->items[line->item]);
		jsonl_text(json, line->repeated ? "  repeated\n" : "\n");
	}
}

void trace_json(const struct trace *t, struct jsonl *json, const struct record *r)
{
	char path[PATH_MAX_BYTES];

	jsonl_text(json, ",\"streams\":[");
	for (unsigned int i = 0; i < r->tape->trace->streams_n; i++) {
		jsonl_text(json, i ? ",{\"bits\":" : "{\"bits\":");
		jsonl_uint(json, trace_size(r, i));
		jsonl_text(json, "}");
	}
	jsonl_text(json, "],\"trace\":[");
	for (size_t i = 0; i < t->n; i++) {
		const struct trace_line *line = &t->lines[i];
		size_t n = path_of(t, r, line->item, path);

		jsonl_text(json, i ? ",{\"field\":" : "{\"field\":");
		json->quake = record_is_quake_text(r);
		if (n)
			jsonl_string(json, path, n);
		else
			jsonl_text(json, "null");
		json->quake = false;
		jsonl_text(json, ",\"stream\":");
		if (line->where.stream < RECORD_STREAMS)
			jsonl_uint(json, line->where.stream);
		else
			jsonl_text(json, "null");
		jsonl_text(json, ",\"at\":");
		jsonl_uint(json, line->where.from);
		jsonl_text(json, ",\"bits\":");
		jsonl_uint(json, line->where.to - line->where.from);
		jsonl_text(json, line->repeated ? ",\"repeated\":true}" : "}");
	}
	jsonl_text(json, "]");
}
