/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * q2_message.h - one whole message of Quake II: what the files of svc_ and clc_ ops
 * share. Called by q2_session.c and q2_guess.c.
 *
 * An op reads its fields and puts them on the record. It changes the session or game only
 * through q2_commit() and q2_commit_frame(), which are NULL unless the message is
 * committed (message.h).
 */
#ifndef Q2_MESSAGE_H
#define Q2_MESSAGE_H

#include "decode/message.h"
#include "decode/q2/q2_state.h"

/* The op of the highest rank names the message's kind. */
enum q2_rank {
	Q2_RANK_IDLE,
	Q2_RANK_NOP,
	Q2_RANK_COMMAND, /* and all that has no kind of its own */
	Q2_RANK_DOWNLOAD,
	Q2_RANK_GAMESTATE,
	Q2_RANK_FRAME,
	Q2_RANK_MOVE = Q2_RANK_FRAME,
};

/* One walk along a message; the context of its ops. */
struct q2_parse {
	struct q2_session *session; /* NULL: the syntax only */
	struct q2_game *game; /* what is known, or NULL */
	struct q2_dialect dialect; /* serverdata changes it at once */
	struct message *message;
	int32_t frame; /* the last in this message; 0: none */
	bool guessed; /* it was built on one that was not seen */
	uint16_t maxclients; /* that this message names; 0: none */
	bool reset; /* serverdata was in this message: what was known is no more */
	bool commit;
	bool nested; /* in a zpacket */
	bool moved; /* a move was in this message */
	bool checked; /* it has a checksum */
	bool right; /* which is right */
	bool odd; /* a value that clients and servers do not send: a wrong dialect's */
	uint8_t rank;
	uint32_t sequence;
	size_t *left; /* how many bytes may still be inflated */
	/* q2_server_walk(), for messages within an op. */
	uint8_t (*server_walk)(struct q2_parse *p, struct message *m);
};

/*
 * Parse a whole message of Quake II, as a message_parse, in the session's dialect;
 * protocol 34 while that is not known. @m->state is a struct q2_session or NULL. False:
 * it is malformed.
 */
bool q2_message(struct message *m);

/*
 * Parse it likewise by dialect @d, though the session may not know it; *@p: what was
 * found. At most *@left bytes are inflated, which are taken off; what is beyond is
 * missing.
 */
bool q2_message_as(struct message *m, const struct q2_dialect *d, size_t *left,
		   struct q2_parse *p);

/*
 * Return true if serverdata may name @protocol. Client and server have agreed on one, if
 * that was seen.
 */
bool q2_agreed(const struct q2_session *q, int32_t protocol);

/* Take over the dialect of the serverdata that @bytes begin with, if they do. */
void q2_message_peek(struct q2_parse *p, struct span bytes);

/* Walk the ops of @m, a server's message or a part of one. Returns the highest rank. */
uint8_t q2_server_walk(struct q2_parse *p, struct message *m);
/* Walk the ops of a client's message likewise. */
uint8_t q2_client_walk(struct q2_parse *p, struct message *m);

/*
 * Walk the svc ops of @bytes, a part of the message: unpacked, or of a multi-view
 * recording. Returns their highest rank.
 */
uint8_t q2_server_ops(struct q2_parse *p, struct span bytes);

static inline struct q2_parse *q2_of(const struct ops *o)
{
	return o->context;
}

/* Return true after a move with a wrong checksum: the server does not read the rest. */
static inline bool q2_unread(const struct q2_parse *p)
{
	return p->checked && !p->right;
}

/* Return the game to change, or NULL: this walk changes none. */
struct q2_game *q2_commit(struct ops *o);
/*
 * Return the game to change likewise, for frame @number, which even an old datagram may
 * bring: see q2_frame_missed().
 */
struct q2_game *q2_commit_frame(struct ops *o, int32_t number);

/*
 * Read the header of the next entity of a frame's list. *@number: that of the one before,
 * 0 at the beginning. Returns false at the end of the list, or if the message is wrong.
 * Numbers that do not ascend make it wrong.
 */
static inline bool q2_next_entity(struct ops *o, unsigned int *number, uint64_t *ret_bits)
{
	unsigned int last = *number;

	if (reader_failed(&o->rd) || o->m->wrong)
		return false;
	*ret_bits = q2_entity_header(&o->rd, &q2_of(o)->dialect, number);
	if (!*number)
		return false;
	if (*number <= last)
		ops_wrong(o, "entities out of order");
	return true;
}

/*
 * Note, if @odd, that the message reads, but not as any program writes it: see
 * q2_parse.odd.
 */
static inline void q2_odd(struct ops *o, bool odd)
{
	q2_of(o)->odd |= odd;
}

/* Read a string, and put it under @key. Returns its bytes. */
struct span q2_string(struct ops *o, const char *key);
/* Read three coordinates, and put them under @key as an array, in game units. */
void q2_place(struct ops *o, const char *key);

/*
 * Read a direction of one byte, and put its unit vector under @key. Above 161 it is
 * malformed.
 */
void q2_direction(struct ops *o, const char *key);

/*
 * Put @number of an entity under @key; ops_wrong() if there can be none. @least: 0 or
 * 1.
 */
void q2_entity_number(struct ops *o, const char *key, unsigned int number,
		      unsigned int least);

/*
 * Learn from configstring @index: the map, a player's name, the number of clients. An
 * index out of range or a text that is too long is malformed. In q2_server.c, for others
 * that hold configstrings too.
 */
void q2_configstring(struct ops *o, unsigned int index, struct span text);
/* Read configstrings until the number behind the last one. */
void q2_configstring_list(struct ops *o);

/* Note that a file is refused, or given up in the middle. */
void q2_end_file(struct ops *o);
/*
 * Read size and percent of a block of a file. Returns the size in bytes; below 0: the
 * file is refused, which q2_end_file() has noted.
 */
int q2_download_head(struct ops *o, uint8_t *ret_percent);

op_parse q2_parse_frame, q2_parse_frame_enhanced, q2_parse_frame_demo;
op_parse q2_parse_temp_entity;
op_parse q2_parse_zpacket, q2_parse_zdownload;
op_parse q2_parse_playerupdate;
op_parse q2_parse_move, q2_parse_move_batched, q2_parse_move_nodelta;

/* Return the checksum of a move: @body from behind it to the end of the third command. */
uint8_t q2_move_checksum(struct span body, uint32_t sequence);

/* The unit vector of a byte, all three below 162. */
#define Q2_DIRECTIONS 162
extern const float q2_directions[Q2_DIRECTIONS][3];
extern const uint8_t q2_move_table[1024];

#endif /* Q2_MESSAGE_H */
