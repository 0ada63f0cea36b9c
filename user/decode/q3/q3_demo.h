/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * q3_demo.h - recordings of the Quake III family: .dm_NN.
 *
 *   repeated: sequence:32 length:32, both little-endian and signed, then a whole message
 *   from the server; -1 -1 ends the file
 *
 * Urban Terror's .urtdemo has a header before the first block and each length again
 * behind its block (code/client/cl_main.c of ioquake3-UrT):
 *
 *   length:32, that many characters of the game's version, protocol:32, 0:32, 0:32
 */
#ifndef Q3_DEMO_H
#define Q3_DEMO_H

#include "decode/q3/q3_session.h"

#define Q3_DEMO_HEADER 8
/* Enough of a file for q3_demo_recognise(). */
#define Q3_DEMO_PREFIX (Q3_DEMO_HEADER + Q3_MESSAGE_MAX)

enum q3_demo_kind {
	Q3_DEMO_NONE,
	Q3_DEMO_MODERN, /* protocol 66 and later: Huffman coded */
	Q3_DEMO_OLD, /* protocols 43 to 48: no Huffman, other deltas */
};

/*
 * Return the kind of a demo by its content: Q3_DEMO_NONE if these first bytes hold no
 * gamestate as the first block.
 */
enum q3_demo_kind q3_demo_recognise(const uint8_t *bytes, size_t n);

#define Q3_URT_VERSION_MAX 64
#define Q3_URT_HEADER_REST 12 /* behind the version */

/* Return true if a demo begins with Urban Terror's header. */
bool q3_demo_recognise_urt(const uint8_t *bytes, size_t n);

/*
 * Put that header on a record. @n: of the version and what is behind it, more than
 * Q3_URT_HEADER_REST, as demo.h's block has it.
 */
void q3_demo_header(const uint8_t *bytes, size_t n, struct record *r);

/* Begin a session for blocks; q3_session_drop() ends it. */
void q3_demo_start(struct q3_session *s, enum q3_demo_kind kind);

/* Decode one block: sets direction, kind, status, and all fields but frame and time. */
void q3_demo_block(struct q3_session *s, int32_t sequence, const uint8_t *message,
		   size_t n, struct record *r);

#endif /* Q3_DEMO_H */
