/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * q3_message.h - one whole message of Quake III: after reassembly, header and
 * scrambling gone, still Huffman coded. docs/PROTOCOLS.md has the formats.
 *
 * A parse says everything on the record as it goes. State changes only when commit is
 * set; q3_decode_message() keeps the rule of decode/message.h.
 */
#ifndef Q3_MESSAGE_H
#define Q3_MESSAGE_H

#include "decode/message.h"
#include "decode/q3/q3_state.h"
#include "lib/record_trace.h"

/* Contents of a message, the least important first: the last one names its kind. */
enum q3_content {
	Q3_HOLDS_NOTHING,
	Q3_HOLDS_COMMAND,
	Q3_HOLDS_VOICE,
	Q3_HOLDS_MOVE,
	Q3_HOLDS_DOWNLOAD,
	Q3_HOLDS_SNAPSHOT,
	Q3_HOLDS_GAMESTATE,
	Q3_HOLDS_COUNT
};

struct q3_parse {
	struct q3_bits b;
	const struct q3_dialect *dialect;
	struct q3_game *game; /* or NULL: the syntax only */
	struct record *record;
	const char *wrong; /* why it is malformed */
	const char *missing; /* why it is partial */
	int32_t sequence;
	int32_t server_time; /* of a snapshot */
	uint32_t base; /* the message that it is a difference to; 0: none */
	enum q3_content content;
	bool commit;
	bool stateful; /* it holds more than a snapshot to commit */
	/* of a client's message */
	int32_t server_id;
	uint32_t acknowledged;
	bool key_known;
	uint32_t key;
	/* where strings are unpacked */
	char text[Q3_BIGSTRING_MAX + 1];
};

/* Sets everything but the text, which is not touched. */
void q3_parse_init(struct q3_parse *p, const uint8_t *message, size_t n,
		   const struct q3_dialect *d, struct q3_game *g, struct record *r);

/* Parse a server's message onto the record. True: every bit is accounted for. */
bool q3_parse_server(struct q3_parse *p);
/* Parse a client's message: its three numbers, commands and moves. True as above. */
bool q3_parse_client(struct q3_parse *p);

/*
 * Parse a server's message without Huffman codes (Q3_PLAIN). Called by q3_parse_server()
 * alone.
 */
bool q3_parse_old(struct q3_parse *p);

/*
 * Parse a whole message, as a message_parse, with a struct q3_parse that
 * q3_parse_init() made as its state.
 */
bool q3_message(struct message *m);

/*
 * Parse the message and, when all is right and there is a game, commit it; fills in
 * kind, status and reason. False: it is malformed, and nothing was committed.
 */
bool q3_decode_message(struct q3_parse *p, enum direction direction);

/*
 * Return true if the message is malformed: each of the parts leaves p->wrong or a
 * failed stream behind when it fails.
 */
static inline bool q3_failed(const struct q3_parse *p)
{
	return p->wrong || q3_bits_failed(&p->b);
}

static inline void q3_wrong(struct q3_parse *p, const char *why)
{
	if (!p->wrong && !q3_bits_failed(&p->b))
		p->wrong = why;
}

/* Open an object in the record's ops, with @name as "op". The caller closes it. */
void q3_open_op(struct q3_parse *p, const char *name);
/* Parse a snapshot behind its op; when p->commit is set, store it. */
void q3_parse_snapshot(struct q3_parse *p);
/* Parse such a snapshot without Huffman codes (Q3_PLAIN). */
void q3_parse_old_snapshot(struct q3_parse *p);

/*
 * Check what remains after the last op: a whole unread byte is malformed, unless the
 * dialect allows trailing data; one is put on the record.
 */
void q3_parse_end(struct q3_parse *p);

/*
 * Read a string of at most @max characters into p->text, and put it under @key. @ret_n,
 * which may be NULL: its length.
 */
void q3_string(struct q3_parse *p, const char *key, size_t max, size_t *ret_n);

/*
 * Note the client's name or the server's map, if the text just read, of @n bytes in
 * p->text, begins with @head and an info string follows.
 */
void q3_fact_text(struct q3_parse *p, const char *head, size_t n);
/*
 * Read a numbered command as the op @name. Returns its number, and its length in *@ret_n:
 * it is in p->text until the next string. @head: as of q3_fact_text().
 */
int32_t q3_command(struct q3_parse *p, const char *name, const char *head, size_t *ret_n);
/*
 * Close the record of configstring @index, of @n bytes in p->text, and take it over when
 * p->commit is set.
 */
void q3_configstring_end(struct q3_parse *p, unsigned int index, size_t n);
/* Note the facts of a snapshot of p->server_time with these snapFlags. */
void q3_fact_snapshot(struct q3_parse *p, unsigned int flags);

/* Put one field's value on the record. */
void q3_describe(struct record *r, const struct q3_field *f, uint32_t value);

/*
 * Put the @used fields of @t with these places in it, which @state holds, on the record:
 * three coordinates as one array, null for what did not change. For a trace: field i
 * stands at the bits from @at[i] to @at[i + 1] of the message; NULL: that is not known.
 */
void q3_describe_all(struct record *r, const struct q3_table *t, const uint8_t *changed,
		     unsigned int used, const uint32_t *state, const uint32_t *at);

/*
 * Read what follows an entity's two bits, without Huffman codes (Q3_PLAIN). @to holds the
 * base, and becomes the result.
 */
void q3_old_entity(struct q3_parse *p, uint32_t *to);
/* Read what follows a player's bits likewise; the arrays of stats follow the fields. */
void q3_old_player(struct q3_parse *p, uint32_t *to);

/* Deltas. @to holds the base and becomes the result. */
enum q3_delta {
	Q3_DELTA_SAME,
	Q3_DELTA_CHANGED,
	Q3_DELTA_REMOVED,
};

/* Read the two bits in front of an entity's fields. */
enum q3_delta q3_delta_entity_kind(struct q3_parse *p);
/* Read an entity's changed fields, and put them on the record. */
void q3_delta_entity(struct q3_parse *p, uint32_t *to);

/*
 * Read a player's changed fields and arrays, of a pilot and vehicle too, and put them on
 * the record.
 */
void q3_delta_player(struct q3_parse *p, uint32_t *to);

#endif /* Q3_MESSAGE_H */
