/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * decode.h - datagrams in, records out.
 *
 *	datagram -> session -> identify -> family -> record -> sink
 *
 * A datagram of which the family or direction is still open is held, and all behind it,
 * until a later one tells, DECODE_HOLD_NS of capture time have passed, or the hold is
 * full; then the best guess is taken. So the records keep the order of the capture.
 *
 * Held likewise is what waits for a later one (family.waits): a slice for the rest of its
 * message, and a message for the text that is its key, when two neighbours were swapped.
 * In the latter case up to DECODE_TAUGHT_MAX datagrams of the flow that came behind are
 * decoded early and unheard, and once more when it is their turn, as repeats are. So is a
 * datagram held that several dialects read differently: as many later ones are asked
 *which dialect it is (family.peek).
 */
#ifndef DECODE_H
#define DECODE_H

#include "capture/demo.h"
#include "capture/packet.h"
#include "decode/keys.h"
#include "decode/session.h"
#include "lib/record.h"

#define DECODE_HOLD_NS	  (2LL * 1000 * 1000 * 1000)
#define DECODE_HOLD_MAX	  512
#define DECODE_TAUGHT_MAX 8
#define DECODE_HOLD_BYTES (2 << 20)

#define DECODE_SESSIONS	  16384
/* Of all sessions' state together: 1,500 games of Quake III or more. */
#define DECODE_STATE_BYTES ((size_t)1 << 30)
/* Room for the fields of any one datagram; what needs more says "overflow". */
#define DECODE_TAPE_ITEMS (1 << 16)
#define DECODE_TAPE_BYTES (1 << 20)

typedef void decode_sink(void *context, const struct record *r);

struct decoder;

struct decoder_options {
	bool fields; /* the records are to hold them */
	bool secrets; /* passwords too; otherwise RECORD_MASK stands in their place */
	enum wire_family forced; /* FAMILY_AUTO, or what all datagrams are */
	bool small; /* tables of a hundredth of the usual size, for fuzzers */
	size_t state_bytes; /* bound on all sessions' state; 0: DECODE_STATE_BYTES */
	/*
	 * Keys of encrypted sessions, for the family that has any (Quake Enhanced); both
	 * may be NULL or empty. The key log is to outlive the decoder, the key is copied.
	 */
	const struct keylog *keylog;
	struct keys_psk psk;
};

/* NULL: no memory. */
struct decoder *decoder_create(const struct decoder_options *options, decode_sink *sink,
			       void *context);
void decoder_free(struct decoder *d);

void decoder_datagram(struct decoder *d, const struct datagram *dg);
/* No more will come: what is held is decoded with what is known. */
void decoder_flush(struct decoder *d);
/*
 * The same for now, more may come: what waits for the rest of its message is not blamed
 * for it.
 */
void decoder_rest(struct decoder *d);

/* A block of the one recording that this decoder is for. */
void decoder_demo(struct decoder *d, const struct demo_block *block);

/* Sessions that lost what they knew, because others needed the room. */
uint64_t decoder_forgotten(const struct decoder *d);

/* For tests. */
struct session_table *decoder_sessions(struct decoder *d);

#endif /* DECODE_H */
