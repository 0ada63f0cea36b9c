/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * message.h - a whole message of any family: after netchan, DTLS, MVD or a demo's block.
 *
 * The rule of all families: a message is parsed without commit, which fills the record
 * and changes no state. Only if it is right to its last bit is it parsed once more,
 * silently and with commit. So what is malformed, forged or cut teaches nothing.
 *
 * message_ops() is that walk for the byte-oriented families: one object per op.
 */
#ifndef MESSAGE_H
#define MESSAGE_H

#include "lib/reader.h"
#include "lib/record.h"

struct message {
	struct span bytes;
	enum direction direction;
	uint32_t sequence; /* of the datagram or block that made it whole */
	void *state; /* the family's; NULL: the syntax only */
	bool commit; /* false: *state does not change */
	struct record *record;
	const char *wrong; /* why it is malformed; the first reason stays */
	const char *missing; /* why it is partial: a base or a table that was not seen */
	const char *opaque; /* why nothing can be said of it: a key */
	bool stateful; /* there is something to commit */
	bool odd; /* it reads, but no program of this dialect writes it */
};

/*
 * A family's parser of a whole message: fills in the record's fields and, if @m->commit,
 * changes *@m->state. False: the message is malformed.
 */
typedef bool message_parse(struct message *m);

/*
 * Parses by @parse, judges and, if @m->state is not NULL, commits; @m->commit is to be
 * false. Fills in the record's fields and status; the kind is the family's to set. False:
 * malformed or opaque, and nothing was committed.
 */
bool message_decode(message_parse *parse, struct message *m);

static inline void message_wrong(struct message *m, const char *why)
{
	if (!m->wrong)
		m->wrong = why;
}

static inline void message_missing(struct message *m, const char *why)
{
	if (!m->missing)
		m->missing = why;
}

/* A walk along the ops of one message. */
struct ops {
	struct reader rd;
	struct message *m;
	struct record *record; /* m->record */
	const struct op *table; /* of 256; an op may change it for those behind it */
	void *context; /* the family's, for this walk */
	uint8_t code; /* of the op that is being read */
	uint8_t rank; /* the highest of the ops so far */
	bool ended; /* an op has said that nothing follows it */
};

/*
 * Parse one op: read its fields from o->rd, which fails for good behind the end, and put
 * them on the record. A value out of range is for ops_wrong().
 */
typedef void op_parse(struct ops *o);

struct op {
	const char *name; /* as "op" in JSON; NULL: there is no such op */
	op_parse *parse; /* or NULL: it has no fields */
	uint8_t rank; /* the op of the highest rank names the message's kind */
};

static inline void ops_wrong(struct ops *o, const char *why)
{
	message_wrong(o->m, why);
}

/*
 * End the walk because nothing that follows can be told apart: the rest of the message is
 * one field.
 */
void ops_unknown(struct ops *o, const char *why);

/*
 * Walks @m->bytes by @table of 256, as "ops": [{"op": name, ...}, ...]. Unknown ops and
 * an op that runs over the end are wrong, with the op's offset as "at". Returns the
 * highest rank; the caller looks at @m->wrong.
 */
uint8_t message_ops(struct message *m, const struct op *table, void *context);

#endif /* MESSAGE_H */
