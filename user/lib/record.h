/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * record.h - what a decoder says about one datagram or one demo block.
 *
 * A record has a fixed part, always filled, and a tape of typed fields in the order in
 * which the decoder met them. Decoders only append; renderers (jsonl.c, record_text.c)
 * only read. The tape lives in memory allocated once by record_tape_create(): nothing is
 * allocated per datagram. Without a tape (--summary) each record_* call below is one test
 * of r->tape, so a decoder calls them whether or not the fields are wanted.
 *
 * Keys, kinds, dialects and reasons are string literals or otherwise outlive the record;
 * the tape keeps their pointers. Values are copied. Inside an array the key is NULL.
 * Objects and arrays may nest RECORD_DEPTH_MAX deep.
 *
 * A field that finds the tape full is dropped and r->overflow is set: the renderer says
 * so in the output. A dropped field changes no status.
 */
#ifndef RECORD_H
#define RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "wire.h"

/* Ordered: the worst that was said of a datagram is what it is. */
enum record_status {
	RECORD_DECODED,
	RECORD_PARTIAL,
	RECORD_OPAQUE,
	RECORD_MALFORMED,
	RECORD_STATUS_COUNT
};

/* record_json.c: "decoded", "partial", "opaque", "malformed" */
extern const char *const record_status_names[RECORD_STATUS_COUNT];

enum record_type {
	RECORD_TYPE_INT,
	RECORD_TYPE_UINT,
	RECORD_TYPE_FLOAT,
	RECORD_TYPE_BOOL,
	RECORD_TYPE_STRING, /* raw bytes; the renderer escapes what is not UTF-8 */
	RECORD_TYPE_HEX,
	RECORD_TYPE_PAIR, /* a string under a key from the wire */
	RECORD_TYPE_OBJECT,
	RECORD_TYPE_ARRAY,
	RECORD_TYPE_CLOSE,
	RECORD_TYPE_NULL,
};

#define RECORD_DEPTH_MAX 16

struct record_item {
	union {
		const char *key;
		uint64_t key_size; /* of a pair: its key is at tape->bytes + at, then */
	}; /* its value directly behind */
	uint32_t type;
	uint32_t size; /* of a string, hex or pair value, in bytes; of an array's key, 0:
			  all */
	union {
		int64_t i;
		uint64_t u; /* of a bool, 0 or 1 */
		double f;
		uint64_t at; /* of a string or hex value, in tape->bytes */
	};
};

struct record_trace;

struct record_tape {
	struct record_item *items;
	size_t items_max;
	size_t items_used;
	uint8_t *bytes;
	size_t bytes_max;
	size_t bytes_used;
	unsigned int depth;
	unsigned int dropped_depth; /* objects and arrays opened after the overflow */
	bool aside; /* it digests or has a trace */
	bool digests; /* keeps no fields, only the two below: record_tape_digest() */
	bool odd; /* a number that no game has in it, as a wrong reading makes them */
	uint64_t digest;
	struct record_trace *trace; /* where the fields stand; or NULL: record_trace.h */
};

struct record_address {
	uint8_t length; /* 4, 16, or 0: there is none (a demo) */
	uint8_t bytes[16];
	uint16_t port;
};

/* The bytes behind an address of 4 must be zero. */
static inline bool record_address_equal(const struct record_address *a,
					const struct record_address *b)
{
	return a->port == b->port && a->length == b->length &&
	       !memcmp(a->bytes, b->bytes, sizeof(a->bytes));
}

/*
 * Facts about a connection, for the lagometer, so that it need not look for keys. A
 * decoder notes facts whether or not the fields are wanted. Times are microseconds of the
 * server's clock.
 */
enum fact {
	FACT_SEQUENCE =
		1 << 0, /* sequence: the number of this message of its direction */
	FACT_ACK =
		1 << 1, /* ack: the newest message of the other side that has arrived */
	FACT_RELIABLE = 1 << 2, /* NetQuake: of the reliable ones, which count apart */
	FACT_ACKNOWLEDGES = 1 << 3, /* NetQuake: and it is the acknowledgement of one */
	FACT_SLICE = 1 << 4, /* not the first part of a message */
	FACT_SNAPSHOT = 1 << 5, /* it describes the world at a time */
	FACT_DELAYED = 1 << 6, /* a snapshot after one that was held back by the rate */
	FACT_TIME = 1 << 7, /* time_us: of the world that a snapshot describes */
	FACT_COMMAND_TIME =
		1 << 8, /* command_us: the server's time that a client believes
			 * it is when it moves, or echoes (NetQuake) */
	FACT_NAME = 1 << 9, /* name: of the client that this datagram is of */
	FACT_MAP = 1 << 10, /* map */
};

#define FACTS_TEXT 64 /* bytes; what is longer is cut */

struct facts {
	uint32_t has; /* enum fact; the others below mean nothing without theirs */
	uint32_t sequence, ack;
	int64_t time_us, command_us;
	uint8_t name_n, map_n;
	uint8_t name[FACTS_TEXT], map[FACTS_TEXT]; /* bytes of the wire */
};

/*
 * A part of a file on its way to a client, for extract.h, which puts files together. The
 * bytes are the datagram's, or the decoder's state, and last as long as the record.
 */
enum piece_type {
	PIECE_BEGIN, /* name and size: what comes next is of this file */
	PIECE_AT, /* bytes at an offset of the file that has begun */
	PIECE_NEXT, /* the next bytes of the file of this name */
};

struct record_piece {
	enum piece_type type;
	bool last; /* PIECE_NEXT: it ends the file */
	const uint8_t *name;
	size_t name_n;
	int64_t size; /* bytes */
	uint64_t offset; /* bytes */
	const uint8_t *bytes;
	size_t n;
};

#define RECORD_PIECES 2 /* in one record; what is more is passed over */

/* The plain text of an encrypted part of a datagram; lasts as long as the record. */
struct record_plain {
	const uint8_t *bytes;
	size_t n;
};

struct record {
	uint64_t frame; /* 1, 2, ... : the packet in its capture, the block in its demo */
	int64_t time_ns; /* since 1970 in a capture, since the start in a demo */
	enum wire_family family;
	enum direction direction;
	enum record_status status;
	const char *kind; /* never NULL once decoded */
	const char *dialect; /* or NULL */
	bool guess; /* the dialect is one of several that fit */
	bool untested; /* its tables were held against no program but this one */
	const char *reason; /* NULL when decoded */
	struct record_address source;
	struct record_address destination;
	const uint8_t *payload; /* the bytes it is of; NULL: not kept */
	size_t payload_n;
	const struct record_plain *plains; /* application data that was decrypted */
	unsigned int plains_n;
	unsigned int end; /* 0 or 1: which of the two ends of its flow has sent it */
	struct record_tape *tape; /* NULL: the fields are not wanted */
	bool overflow;
	unsigned int pieces_n;
	bool secrets; /* passwords and the like go on the tape as they are */
	bool utf8; /* this engine's texts are UTF-8, whatever its family */
	bool masked; /* one was there, and RECORD_MASK stands in its place */
	struct facts facts;
	struct record_piece pieces[RECORD_PIECES];
};

/*
 * Return true if the texts of @r are of the game's own 256 characters. In Quake III and
 * its kin, in Quake Enhanced, and where an engine has said so, they are UTF-8 where that
 * is valid.
 */
static inline bool record_is_quake_text(const struct record *r)
{
	return !r->utf8 && (r->family == FAMILY_NETQUAKE ||
			    r->family == FAMILY_QUAKEWORLD || r->family == FAMILY_QUAKE2);
}

/* Copies @piece, if there is room. */
void record_piece(struct record *r, const struct record_piece *piece);

/*
 * Stands for a password on the tape, unless r->secrets: in an info string's pair or a
 * text that holds one (record.c has the keys), and wherever a decoder says so.
 */
#define RECORD_MASK "***"

/* Note the client's name as a fact, cut at FACTS_TEXT bytes. */
void facts_name(struct facts *f, const void *bytes, size_t n);
/* Note the map's name as a fact, cut at FACTS_TEXT bytes. */
void facts_map(struct facts *f, const void *bytes, size_t n);

/* Allocate a tape of @items fields and @bytes bytes of values. 0 or -ENOMEM. */
int record_tape_create(struct record_tape *tape, size_t items, size_t bytes);
/* Free the tape's memory, and leave it empty. */
void record_tape_free(struct record_tape *tape);

/*
 * Return a tape without memory: it turns all fields, their keys and their order into one
 * number, tape->digest. Two readings of the same bytes agree if their digests do.
 * tape->odd: a RECORD_TYPE_FLOAT was beyond 10 million, or not 0 and below 10^-25.
 */
struct record_tape record_tape_digest(void);

/* Clear all but the tape's memory. @tape may be NULL. */
void record_reset(struct record *r, struct record_tape *tape);

/* Make the status worse, never better; of equals the first stays, with its reason. */
static inline void record_judge(struct record *r, enum record_status status,
				const char *reason)
{
	if (status > r->status) {
		r->status = status;
		r->reason = reason;
	}
}

static inline void record_malformed(struct record *r, const char *reason)
{
	record_judge(r, RECORD_MALFORMED, reason);
}

static inline void record_partial(struct record *r, const char *reason)
{
	record_judge(r, RECORD_PARTIAL, reason);
}

static inline void record_opaque(struct record *r, const char *reason)
{
	record_judge(r, RECORD_OPAQUE, reason);
}

/*
 * record.c: the slow half of the calls below. Each appends one field, object or array to
 * r->tape, which must not be NULL; one for which the tape has no room sets r->overflow
 * and is dropped.
 */
void record_put(struct record *r, const char *key, enum record_type type, uint64_t raw);
/* Append @n bytes, which are copied, as a string or hex. */
void record_put_bytes(struct record *r, const char *key, enum record_type type,
		      const void *bytes, size_t n);

/*
 * Append a string under a key from the wire, both copied. The value of a key that names a
 * password is RECORD_MASK, unless r->secrets.
 */
void record_put_pair(struct record *r, const void *key, size_t key_n, const void *bytes,
		     size_t n);
/* Close the innermost object or array. Without one it does nothing. */
void record_put_close(struct record *r);
/* Open an array under the first @key_n characters of @key; 0: all. */
void record_put_array(struct record *r, const char *key, size_t key_n);
/* Append a string that is RECORD_MASK, unless r->secrets or it is empty. */
void record_put_secret(struct record *r, const char *key, const void *bytes, size_t n);

#define RECORD_WANTED(r) __builtin_expect((r)->tape != NULL, 0)

static inline void record_int(struct record *r, const char *key, int64_t value)
{
	if (RECORD_WANTED(r))
		record_put(r, key, RECORD_TYPE_INT, (uint64_t)value);
}

static inline void record_uint(struct record *r, const char *key, uint64_t value)
{
	if (RECORD_WANTED(r))
		record_put(r, key, RECORD_TYPE_UINT, value);
}

static inline void record_float(struct record *r, const char *key, double value)
{
	union {
		double f;
		uint64_t raw;
	} bits = { .f = value };

	if (RECORD_WANTED(r))
		record_put(r, key, RECORD_TYPE_FLOAT, bits.raw);
}

static inline void record_bool(struct record *r, const char *key, bool value)
{
	if (RECORD_WANTED(r))
		record_put(r, key, RECORD_TYPE_BOOL, value);
}

static inline void record_string(struct record *r, const char *key, const void *bytes,
				 size_t n)
{
	if (RECORD_WANTED(r))
		record_put_bytes(r, key, RECORD_TYPE_STRING, bytes, n);
}

/* Append a password, or what one could be guessed from. */
static inline void record_secret(struct record *r, const char *key, const void *bytes,
				 size_t n)
{
	if (RECORD_WANTED(r))
		record_put_secret(r, key, bytes, n);
}

static inline void record_hex(struct record *r, const char *key, const void *bytes,
			      size_t n)
{
	if (RECORD_WANTED(r))
		record_put_bytes(r, key, RECORD_TYPE_HEX, bytes, n);
}

/* Append a string under a key that is itself from the wire (info strings). */
static inline void record_pair(struct record *r, const void *key, size_t key_n,
			       const void *bytes, size_t n)
{
	if (RECORD_WANTED(r))
		record_put_pair(r, key, key_n, bytes, n);
}

static inline void record_open_object(struct record *r, const char *key)
{
	if (RECORD_WANTED(r))
		record_put(r, key, RECORD_TYPE_OBJECT, 0);
}

static inline void record_open_array(struct record *r, const char *key)
{
	if (RECORD_WANTED(r))
		record_put(r, key, RECORD_TYPE_ARRAY, 0);
}

/* Open an array whose key is no more than the first @key_n characters of @key. */
static inline void record_open_vector(struct record *r, const char *key, size_t key_n)
{
	if (RECORD_WANTED(r))
		record_put_array(r, key, key_n);
}

static inline void record_null(struct record *r)
{
	if (RECORD_WANTED(r))
		record_put(r, NULL, RECORD_TYPE_NULL, 0);
}

static inline void record_close(struct record *r)
{
	if (RECORD_WANTED(r))
		record_put_close(r);
}

#endif /* RECORD_H */
