/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * q2_support.h - messages of Quake II in hex, read alone, said as JSON.
 */
#ifndef Q2_SUPPORT_H
#define Q2_SUPPORT_H

#include "decode/decode_support.h"
#include "decode/q2/q2_session.h"

#define Q2_BYTES_MAX 4096

struct q2_bytes {
	uint8_t bytes[Q2_BYTES_MAX];
	size_t n;
};

static inline struct q2_bytes q2_hex(const char *hex)
{
	struct q2_bytes b = { .n = 0 };
	unsigned int byte;

	for (; *hex && *hex != '-'; hex += 2) {
		assert_true(b.n < sizeof(b.bytes));
		assert_int_equal(sscanf(hex, "%2x", &byte), 1);
		b.bytes[b.n++] = (uint8_t)byte;
	}
	return b;
}

/* A session as a handshake of that protocol makes it. */
static inline void q2_begin(struct q2_session *q, int protocol, unsigned int minor,
			    unsigned int flags)
{
	memset(q, 0, sizeof(*q));
	assert_true(q2_dialect_of(protocol, minor, flags, &q->dialect));
	q->qport_size = protocol == 34 ? 3 : 2;
	q->live = true;
}

/* @r as a line of JSON, the caller's to free. */
static inline char *q2_json(const struct record *r)
{
	char *text = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);
	struct jsonl json;

	assert_non_null(file);
	jsonl_init(&json, file);
	jsonl_record(&json, r);
	assert_int_equal(jsonl_flush(&json), 0);
	fclose(file);
	return text;
}

/* Does @r have @what in it, said as JSON? */
static inline bool q2_says(const struct record *r, const char *what)
{
	char *json = q2_json(r);
	bool found = strstr(json, what) != NULL;

	free(json);
	return found;
}

static inline struct record_tape *q2_tape(void)
{
	static struct record_tape tape;

	if (!tape.items)
		assert_int_equal(record_tape_create(&tape, 1 << 16, 1 << 20), 0);
	return &tape;
}

/* Messages without a header, from an exact copy. */
static inline void q2_run_message(struct q2_session *q, enum direction direction,
				  const uint8_t *bytes, size_t n, struct record *r)
{
	uint8_t *copy = malloc(n ? n : 1);
	struct message m = {
		.bytes = { copy, n },
		.direction = direction,
		.sequence = 300,
		.state = q,
		.record = r,
	};

	assert_non_null(copy);
	if (n)
		memcpy(copy, bytes, n);
	record_reset(r, q2_tape());
	r->family = FAMILY_QUAKE2;
	r->direction = direction;
	message_decode(q2_message, &m);
	free(copy);
}

/* A whole datagram, from an exact copy. */
static inline void q2_run_datagram(struct q2_session *q, enum direction direction,
				   const uint8_t *bytes, size_t n, struct record *r)
{
	uint8_t *copy = malloc(n ? n : 1);

	assert_non_null(copy);
	if (n)
		memcpy(copy, bytes, n);
	record_reset(r, q2_tape());
	r->family = FAMILY_QUAKE2;
	r->direction = direction;
	quake2_family.datagram(q, direction, (struct span){ copy, n }, r);
	free(copy);
}

#endif /* Q2_SUPPORT_H */
