/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * nq_message.h - a whole message of NetQuake: its dialect, its ops, and the state that
 * they change. Called by nq_session.c and by Quake Enhanced.
 *
 * Until svc_serverinfo was seen the dialect is guessed: a message is read with each that
 * has fitted so far, and those that cannot read it to its last bit, or read numbers that
 * no game has in it, are ruled out. A message that the rest read differently is partial.
 * Some dialects share a number and differ by the handshake or the game's directory: where
 * serverinfo was seen the first is taken until it does not fit and another does.
 */
#ifndef NQ_MESSAGE_H
#define NQ_MESSAGE_H

#include "decode/family.h"
#include "decode/nq/nq_format.h"

/* The game code that writes svc_csqcentities and private temporary entities. */
enum nq_code {
	NQ_CODE_UNKNOWN,
	NQ_CODE_NEXUIZ, /* 2.5 */
	NQ_CODE_XONOTIC, /* 0.5 */
};

#define NQ_WHOLE_MAX 32768 /* DarkPlaces' entities */

/* State that messages change; zero at its beginning. */
struct nq_game {
	const struct nq_dialect *const *dialects; /* NULL: nq_dialects */
	struct nq_format format; /* .dialect NULL: none has been tried */
	uint32_t possible; /* bit per dialect of the list; 0: all */
	uint32_t tries; /* messages that were read so */
	uint8_t peeked; /* later ones that were asked for the dialect */
	bool known; /* svc_serverinfo was seen */
	bool fitted; /* a message has told, or the above */
	uint8_t maxclients;
	uint8_t signon; /* stage: 0 before the first, 1..4 */
	bool has_view;
	uint16_t view; /* the entity that this client is */
	bool private_code; /* the server has announced code for the client */
	uint8_t code; /* enum nq_code */
	/*
	 * DarkPlaces and FTE tell what changed in an entity since the client had it, or,
	 * with a reset, all of it. The frames have numbers that follow each other: from a
	 * reset on, and as long as no frame is missing, the entity's state is known.
	 */
	bool has_frame;
	int32_t frame;
	uint64_t whole[NQ_WHOLE_MAX / 64]; /* by entity; those beyond never are */
	bool based; /* svc_serverinfo, and all baselines behind it, were seen */
	/*
	 * A reliable message was missed, which may have begun another map, since the
	 * server's clock was @clock_us, at @clock_ns of the capture.
	 */
	bool hole;
	int64_t clock_us, clock_ns;
};

/* State of one walk along a message; ops find it as o->context. */
struct nq_walk {
	struct nq_game *game; /* NULL: syntax only */
	struct nq_format format; /* as it is at this op */
	bool commit;
	const struct nq_dialect *const *dialects;
	uint8_t maxclients; /* 0: not known */
	uint8_t signon;
	bool private_code;
	uint8_t code;
	bool reads_on; /* with @code, from a private temporary entity to the end */
	bool has_view;
	uint16_t view;
	bool based; /* as of struct nq_game */
	bool unbased; /* an update needs a baseline that may not be known */
	bool torn; /* a frame of entities was missed in front of this one */
	bool partly; /* an entity's state is not known as a whole */
};

static inline struct nq_walk *nq_walk_of(struct ops *o)
{
	return o->context;
}

static inline const struct nq_format *nq_format_at(struct ops *o)
{
	return &nq_walk_of(o)->format;
}

/*
 * Parse a whole message of NetQuake or Quake Enhanced, as a message_parse. @m->state is
 * a struct nq_game, or NULL: then the first of nq_dialects.
 */
bool nq_message(struct message *m);

/*
 * Choose @game's dialect for this message, then message_decode(). A message
 * that fits no dialect while none is known is partial.
 */
void nq_decode(struct nq_game *game, struct message *m);

/*
 * Note that a reliable message to the client was missed. It began no other map if the
 * next value of the server's clock goes on where it was: a map's clock begins at one
 * second, so it was not that far in the time that has passed.
 */
void nq_game_hole(struct nq_game *game);
/* Note the server's clock, if @r was read from an unreliable message or a recording. */
void nq_game_clock(struct nq_game *game, const struct record *r);

/*
 * Return true if the dialects that are possible read @m differently. A later one may tell
 * which is right: nq_peek(), some for each game.
 */
bool nq_is_open(const struct nq_game *game, const struct message *m);
/* Rule out the dialects that do not fit @m, though it is not its turn. */
void nq_peek(struct nq_game *game, const struct message *m);

/*
 * Return true if one of the dialects that are possible reads all of @m. Changes nothing.
 */
bool nq_reads(struct nq_game *game, const struct message *m);

/*
 * Read the next ops of the walk by protocol @number, which a serverinfo names. False:
 * there is no such dialect, or the flags cannot be.
 */
bool nq_walk_protocol(struct nq_walk *w, uint32_t number, uint32_t flags, uint32_t pext1,
		      uint32_t pext2);

/* Begin frame @number of entities; then each of its entities follows. */
void nq_walk_frame(struct ops *o, uint32_t number);

/*
 * Note entity @number of the frame that nq_walk_frame() began. @reset: the server sent
 * all of its state; @removed: it is gone. Without either, the entity's state must be
 * known from before, or the walk is marked as partly known.
 */
void nq_walk_entity(struct ops *o, uint32_t number, bool reset, bool removed);

/* --- helps for ops ----------------------------------------------------------------- */

/* Read a text to its NUL, and put it under @key. */
struct span nq_put_text(struct ops *o, const char *key);
/* Read three coordinates in game units, and put them under @key as an array. */
void nq_put_origin(struct ops *o, const char *key);
/* Read three angles in degrees, and put them under @key as an array. */
void nq_put_angles(struct ops *o, const char *key);
/* Read an entity's number, and put it under @key. */
void nq_put_entity(struct ops *o, const char *key);

/*
 * Read a player's slot, and put it on the record. Beyond the known number of clients it
 * is malformed.
 */
uint8_t nq_put_slot(struct ops *o);

static inline void nq_put_u8(struct ops *o, const char *key)
{
	record_uint(o->record, key, reader_u8(&o->rd));
}

static inline void nq_put_u16(struct ops *o, const char *key)
{
	record_uint(o->record, key, reader_le16(&o->rd));
}

static inline void nq_put_i16(struct ops *o, const char *key)
{
	record_int(o->record, key, (int16_t)reader_le16(&o->rd));
}

static inline void nq_put_i32(struct ops *o, const char *key)
{
	record_int(o->record, key, (int32_t)reader_le32(&o->rd));
}

static inline void nq_put_u32(struct ops *o, const char *key)
{
	record_uint(o->record, key, reader_le32(&o->rd));
}

static inline void nq_put_f32(struct ops *o, const char *key)
{
	record_float(o->record, key, (double)reader_f32(&o->rd));
}

static inline void nq_put_coord(struct ops *o, const char *key)
{
	record_float(o->record, key, nq_coord(&o->rd, nq_format_at(o)));
}

#endif /* NQ_MESSAGE_H */
