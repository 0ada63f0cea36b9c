/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * identify.h - decides which protocol a datagram speaks, and which of the two ends is the
 * server. Called by decode.c for each datagram.
 *
 * Ports count for nothing. In this order: the shape of the datagram (an out-of-band word,
 * NetQuake's header with a length that must be right, DTLS records that add up), then
 * what the session has shown, then what is known of each address from other sessions,
 * then votes of weaker signs. If a word leaves it open, its answer settles it: decode.c
 * therefore keeps an unsettled datagram pending for a moment and calls again.
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

/*
 * Return the shape of a datagram, by its bytes alone. @length: what the datagram's
 * headers promised.
 */
enum shape identify_shape(const uint8_t *payload, size_t n, size_t length);

/*
 * Learn what this datagram shows about its session and its ends. To be called once per
 * datagram.
 */
void identify_learn(struct session *s, enum shape shape, const struct datagram *dg,
		    bool from_low, struct oob *oob);

/*
 * Decide what this datagram is, by all that is known now. @last: nothing more will come,
 * take the best guess (which looks once more at what is known of the two ends).
 */
void identify_resolve(struct session *s, enum shape shape, const struct datagram *dg,
		      bool from_low, struct oob *oob, bool last, struct identity *ret);

/*
 * Make the datagram one of @family, whatever it looks like: a word that @family lacks is
 * an unknown one. (DarkPlaces' shared words stay quake3.)
 */
void identify_force(enum wire_family family, struct oob *oob, struct identity *ret);

/* Count the signs in a sequenced datagram of a session of unknown family (vote.c). */
void score_sequenced(struct session *s, const uint8_t *payload, size_t n, bool from_low);

/* Count those in a NetQuake game datagram, for the direction. */
void score_shaped(struct session *s, enum wire_family family, const uint8_t *payload,
		  size_t n, bool from_low);

static inline enum direction session_direction(const struct session *s, bool from_low)
{
	if (!s->server_known)
		return DIRECTION_UNKNOWN;
	return s->server_is_low == from_low ? DIRECTION_S2C : DIRECTION_C2S;
}

#endif /* IDENTIFY_H */
