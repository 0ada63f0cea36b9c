/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * identify.h - which protocol a datagram speaks, and who of the two is the server.
 *
 * No ports. In this order: the shape of the datagram (an out-of-band word, NetQuake's
 * header whose length must be right, DTLS records that add up), then what the session
 * has shown, then what is known of each address from other sessions, then votes of
 * weaker signs. What a word leaves open is settled by its answer: decode.c therefore
 * holds an unsettled datagram for a moment and asks again.
 */
#ifndef IDENTIFY_H
#define IDENTIFY_H

#include "decode/oob/oob.h"
#include "capture/packet.h"
#include "decode/session.h"

enum shape {
	SHAPE_RUNT, /* nothing has so few bytes */
	SHAPE_OOB, /* FF FF FF FF */
	SHAPE_CONTROL, /* NetQuake 80 00 */
	SHAPE_NETQUAKE, /* NetQuake 00 { 01 02 09 10 } */
	SHAPE_DTLS, /* whole records */
	SHAPE_RAW, /* QuakeWorld's and Quake II's words without a marker */
	SHAPE_SEQUENCED, /* anything else: a little-endian sequence, if it is ours */
};

struct identity {
	enum shape shape;
	enum wire_family family; /* FAMILY_AUTO: unsettled, or not ours */
	enum direction direction;
	bool settled;
	bool guessed; /* several families have this word, and nothing tells which it is */
	const char *foreign; /* not settled and never will be: what it is instead */
};

/* By the bytes alone. @length: what the datagram's headers promised. */
enum shape identify_shape(const uint8_t *payload, size_t n, size_t length);

/* What this datagram teaches about its session and its ends. Once per datagram. */
void identify_learn(struct session *s, enum shape shape, const struct datagram *dg,
		    bool from_low, struct oob *oob);

/*
 * What this datagram is, by all that is known now. @last: nothing more will come, take
 * the best guess (which looks once more at what is known of the two ends).
 */
void identify_resolve(struct session *s, enum shape shape, const struct datagram *dg,
		      bool from_low, struct oob *oob, bool last, struct identity *ret);

/*
 * It is @family, whatever it looks like: a word that @family lacks is an unknown one.
 * (DarkPlaces' shared words stay quake3.)
 */
void identify_force(enum wire_family family, struct oob *oob, struct identity *ret);

/* score.c: signs in a sequenced datagram of a session whose family is not known. */
void score_sequenced(struct session *s, const uint8_t *payload, size_t n, bool from_low);

/* And in a NetQuake game datagram whose sender is not known to serve or not. */
void score_shaped(struct session *s, enum wire_family family, const uint8_t *payload,
		  size_t n, bool from_low);

static inline enum direction session_direction(const struct session *s, bool from_low)
{
	if (!s->server_known)
		return DIRECTION_UNKNOWN;
	return s->server_is_low == from_low ? DIRECTION_S2C : DIRECTION_C2S;
}

#endif /* IDENTIFY_H */
