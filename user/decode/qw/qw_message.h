/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qw_message.h - one whole message of QuakeWorld, either direction: what the parsers of
 * its ops share.
 *
 *	qw_server.c	svc: texts, numbers, lists	qw_entities.c	47, 48, baselines
 *	qw_serverdata.c	svc_serverdata			qw_player.c	playerinfo
 *	qw_effects.c	sounds, temporary entities	qw_nails.c	nails, projectiles
 *	qw_extended.c	FTE's svc			qw_update.c	updateentities
 *	qw_client.c	clc				qw_usercmd.c	checksums
 */
#ifndef QW_MESSAGE_H
#define QW_MESSAGE_H

#include "decode/message.h"
#include "decode/qw/qw_session.h"

/* Contents of a message that name its kind; the highest counts. */
enum qw_rank {
	QW_HOLDS_NOTHING,
	QW_HOLDS_COMMAND,
	QW_HOLDS_SNAPSHOT,
	QW_HOLDS_DOWNLOAD,
	QW_HOLDS_GAMESTATE, /* serverdata, lists */
	QW_HOLDS_COUNT
};

/* State of one message's walk: the context of its ops. */
struct qw_parse {
	struct qw_session *session; /* NULL: the syntax only */
	struct qw_terms terms; /* svc_serverdata changes them for what follows */
	bool late; /* repeated or out of order: it changes no state */
	bool leans; /* on terms that are not known: no svc_serverdata was seen */
	bool has_frame;
	uint32_t base; /* the frame's base, by its message; 0: none */
	uint8_t from; /* of a recording, as it came */
	bool hole; /* there is a baseline that was not seen */
	struct qw_frame frame; /* built aside; qw_message_decode() stores it */
	enum qw_rank holds;
};

static inline struct qw_parse *qw_parse_of(const struct ops *o)
{
	return o->context;
}

/* Return the session, but only while the message is being committed; else NULL. */
static inline struct qw_session *qw_committing(struct ops *o)
{
	struct qw_parse *p = qw_parse_of(o);

	o->m->stateful = p->session && !p->late;
	return o->m->commit ? p->session : NULL;
}

/*
 * Parse a whole message of QuakeWorld, as a message_parse; m->state is a struct
 * qw_parse or NULL.
 */
bool qw_message(struct message *m);

/*
 * Decodes @bytes as the message @sequence of @direction and takes over what it says.
 * Sets kind, dialect, facts, fields and status. False: malformed or opaque.
 */
bool qw_message_decode(struct qw_session *s, enum direction direction, uint32_t sequence,
		       struct span bytes, bool late, struct record *r);

/*
 * Parse @bytes as a server's message, without an effect on @s, to see whether it is
 * right. *@leans: it depends on terms that are not known.
 */
bool qw_message_trial(struct qw_session *s, uint32_t sequence, struct span bytes,
		      struct record *r, bool *leans);

/* Note that the next bytes have not the same layout in all terms. */
static inline void qw_lean(struct ops *o)
{
	struct qw_parse *p = qw_parse_of(o);

	p->leans |= !p->terms.protocol;
}

extern const struct op qw_server_ops[256];
extern const struct op qw_client_ops[256];

/* --- fields ------------------------------------------------------------------------ */

/*
 * Each of these reads one little-endian value from the message, puts it under @key, and
 * returns it. Past the end the message is malformed, and the value is 0.
 */
unsigned int qw_u8(struct ops *o, const char *key);
unsigned int qw_u16(struct ops *o, const char *key);
int qw_i16(struct ops *o, const char *key);
int32_t qw_i32(struct ops *o, const char *key);
float qw_f32(struct ops *o, const char *key);
/* Read a text to its NUL, and put it under @key. Returns its bytes without the NUL. */
struct span qw_text(struct ops *o, const char *key);

/*
 * Read a time of the server's clock, in seconds, and note it as @facts if it is a time.
 */
void qw_time(struct ops *o, enum fact facts);

/*
 * Read one coordinate, and put it under @key in game units. i16 eighths, or f32 with
 * FTE's FLOATCOORDS.
 */
void qw_coord(struct ops *o, const char *key);
/* Read three coordinates, and put them under @key as an array. */
void qw_vec(struct ops *o, const char *key);
/* Read @n floats, and put them under @key as an array. */
void qw_floats(struct ops *o, const char *key, unsigned int n);

/*
 * Read three angles of one byte each (16 bits with FTE's FLOATCOORDS), and put them under
 * @key as an array, in degrees.
 */
void qw_angles(struct ops *o, const char *key);
/* Read three angles of 16 bits each, and put them under @key as an array, in degrees. */
void qw_angles16(struct ops *o, const char *key);
/* Read FTE's number: the leading ones of the first byte count the bytes that follow. */
uint64_t qw_vlq(struct ops *o);

/*
 * Read a number of seven bits a byte, the low ones first. More than ten bytes are
 * malformed; of the tenth only the lowest bit counts.
 */
uint64_t qw_uleb(struct ops *o);

/* Read a player's slot; one out of range is malformed. */
unsigned int qw_slot(struct ops *o);

/*
 * Read an entity's number, 22 bits wide with replacement deltas, and put it under @key.
 */
void qw_number(struct ops *o, const char *key);
/* Step over @n bytes, which are counted on the record, not shown. */
struct span qw_bytes(struct ops *o, size_t n);

op_parse qw_serverdata;
op_parse qw_playerinfo;
op_parse qw_packetentities, qw_deltapacketentities, qw_spawnstatic, qw_spawnbaseline;
op_parse qw_spawnstatic2;
op_parse qw_nails, qw_projectiles;
op_parse qw_sound, qw_temp_entity, qw_particle, qw_staticsound, qw_stopsound;
op_parse qw_soundextended, qw_customtempent;
op_parse qw_updateentities;
op_parse qw_download;
op_parse qw_move;

/* FTE's svc, to fill in the table of qw_server.c. */
op_parse qw_splitscreen, qw_lightstylecol, qw_portal, qw_particle2, qw_particle3;
op_parse qw_choosesplit, qw_showpic, qw_movepic, qw_updatepic, qw_effect, qw_effect2;
op_parse qw_opaque, qw_precache, qw_trailparticles, qw_pointparticles, qw_voice;
op_parse qw_cgame, qw_anglesdelta, qw_seats, qw_infoblob, qw_sized, qw_anglebase;
op_parse qw_staticsound2;

/* --- usercmd ----------------------------------------------------------------------- */

enum {
	QW_CMD_ANGLES,
	QW_CMD_MOVES = QW_CMD_ANGLES + 3,
	QW_CMD_BUTTONS = QW_CMD_MOVES + 3,
	QW_CMD_IMPULSE,
	QW_CMD_MSEC,
	QW_CMD_FIELDS
};

/* Reads a command as a difference to @state, into it; returns its bits. */
unsigned int qw_usercmd_read(struct reader *rd, unsigned int protocol, int32_t *state);

/*
 * Put the whole command on the record, as an object under @key; @state is as on the wire.
 */
void qw_usercmd_record(struct record *r, const char *key, unsigned int protocol,
		       unsigned int bits, const int32_t *state);

/*
 * Write the bytes that qw_usercmd_read() takes, by the same @bits. Returns how many, or 0
 * if @size is too small. For tests.
 */
size_t qw_usercmd_write(uint8_t *to, size_t size, unsigned int protocol,
			unsigned int bits, const int32_t *state);

/*
 * Return the checksum of the bytes after it in a move, in the client's packet @sequence.
 */
uint8_t qw_move_checksum(const uint8_t *bytes, size_t n, uint32_t sequence);

#endif /* QW_MESSAGE_H */
