/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qw_vectors.h - QuakeWorld's messages in hex behind a serverdata, and a part of the
 * record that must come out.
 */
#ifndef QW_VECTORS_H
#define QW_VECTORS_H

#include "decode/qw/qw_support.h"
#include "decode/tape.h"

#define FTE(mask)  "46544558" mask " "
#define FTE2(mask) "46544532" mask " "
#define MVD1(mask) "4d564431" mask " "

static char *text;
static size_t text_n;

/* The record as JSON in @text; its status. */
static inline enum record_status decode(struct qw_session *s, enum direction direction,
					uint32_t sequence, const uint8_t *bytes, size_t n)
{
	uint8_t *copy = exact_copy(bytes, n);
	struct jsonl json;
	struct record r;
	FILE *file;

	free(text);
	text = NULL;
	file = open_memstream(&text, &text_n);
	jsonl_init(&json, file);
	record_reset(&r, &tape);
	r.family = FAMILY_QUAKEWORLD;
	qw_message_decode(s, direction, sequence, (struct span){ copy, n }, false, &r);
	jsonl_record(&json, &r);
	assert_int_equal(jsonl_flush(&json), 0);
	fclose(file);
	free(copy);
	return r.status;
}

struct vector {
	const char *masks; /* SERVERDATA, or NULL: the client says it */
	const char *hex;
	const char *json; /* a part of the record */
};

static inline size_t assemble(const struct vector *v, uint8_t *bytes, size_t max)
{
	char head[512] = "";

	if (!v->masks)
		return from_hex(v->hex, bytes, max);
	snprintf(head, sizeof(head), "0b %s1c000000 01000000 717700 02 4d6100 ",
		 v->masks);
	for (int i = 0; i < 10; i++)
		strcat(head, "0000803f");
	return from_hex(head, bytes, max);
}

/* What each says, and that no cut of it is taken for whole. */
static inline void hear(const struct vector *vectors, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct vector *v = &vectors[i];
		enum direction direction = v->masks ? DIRECTION_S2C : DIRECTION_C2S;
		uint8_t bytes[512];
		struct qw_session s = { .late[0] = { 0 } };
		size_t n;

		if (v->masks) {
			n = assemble(v, bytes, sizeof(bytes));
			assert_int_equal(decode(&s, DIRECTION_S2C, 1, bytes, n),
					 RECORD_DECODED);
			assert_int_equal(s.terms.protocol, 28);
			assert_int_equal(s.slot, 2);
		}
		n = from_hex(v->hex, bytes, sizeof(bytes));
		/* An update of an entity that was not there before lacks its state. */
		if (decode(&s, direction, 2, bytes, n) != RECORD_DECODED &&
		    !strstr(text, "\"entity whose state was not seen as a whole\""))
			fail_msg("%s: %s", v->hex, text);
		if (!strstr(text, v->json))
			fail_msg("%s: no %s in %s", v->hex, v->json, text);
		/* Cut anywhere it is cut within an op, or at an op's end. */
		for (size_t cut = 1; cut < n; cut++)
			assert_int_equal(decode(&s, direction, 2, bytes, cut),
					 RECORD_MALFORMED);
		qw_session_drop(&s);
	}
}

static inline int clear(void **state)
{
	free(text);
	return tape_end(state);
}

#endif /* QW_VECTORS_H */
