/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * decode.h - turns datagrams into records: one record per datagram, in the order of the
 * capture.
 *
 *	datagram -> session -> identify -> family -> record -> sink
 *
 * Called by `quakeshield decode` (cmd_decode.c) and by the daemon for its samples
 * (samples_decode.c), each with a decoder of its own. A decoder is used from one thread,
 * and so are all decoders of a process: Quake III's state keeps a spare block in a static
 * variable (q3_state.c). The decoder reads no clock: the only time is that of the
 * datagrams.
 *
 * A datagram is kept pending while its family or direction is open, and all later ones
 * with it, until a later one tells, DECODE_PENDING_NS of capture time have passed, or the
 * queue is full; then the best guess is taken. So the records keep the order of the
 * capture.
 *
 * A datagram is also kept pending if it waits for a later one (family.waits): a slice for
 * the rest of its message, and a message for the text that is its key, when two
 * neighbours were swapped. In the latter case up to DECODE_AHEAD_MAX later datagrams of
 * the flow are decoded ahead without output, and decoded again in order, as repeats are.
 * While a datagram is pending that several dialects read differently, as many later ones
 * are asked for the dialect (family.peek).
 */
#ifndef DECODE_H
#define DECODE_H

#include "capture/demo.h"
#include "capture/packet.h"
#include "decode/keys.h"
#include "decode/session.h"
#include "lib/record.h"

/* For so long of capture time a datagram stays pending. */
#define DECODE_PENDING_NS    (2LL * 1000 * 1000 * 1000)
#define DECODE_PENDING_MAX   512 /* datagrams pending at a time */
#define DECODE_AHEAD_MAX     8 /* datagrams decoded ahead for one */
#define DECODE_PENDING_BYTES (2 << 20) /* bytes of their payloads */

#define DECODE_SESSIONS	     16384 /* pairs of addresses that are remembered */
/* Bytes of all sessions' state together: 1,500 games of Quake III or more. */
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
	bool trace; /* the records' tape is to say where each field stands */
	bool small; /* tables of a hundredth of the usual size, for fuzzers */
	size_t state_bytes; /* bound on all sessions' state; 0: DECODE_STATE_BYTES */
	/*
	 * Keys of encrypted sessions, for the family that has any (Quake Enhanced); both
	 * may be NULL or empty. The key log is to outlive the decoder, the key is copied.
	 */
	const struct keylog *keylog;
	struct keys_psk psk;
};

/*
 * Return a decoder that calls @sink with @context for each record, or NULL if there is no
 * memory. The record and all that it points to belong to the decoder and are valid during
 * the call only. decoder_free() frees it.
 */
struct decoder *decoder_create(const struct decoder_options *options, decode_sink *sink,
			       void *context);

/*
 * Free the decoder without decoding what is pending: call decoder_flush() first. @d may
 * be NULL.
 */
void decoder_free(struct decoder *d);

/*
 * Decode one datagram. The sink is called before this function returns, or in a later
 * call while the datagram is pending; then the bytes of @dg are copied, so they may go
 * away on return. Datagrams must come in the order of the capture.
 */
void decoder_datagram(struct decoder *d, const struct datagram *dg);
/* Decode all pending datagrams with what is known now: no more will come. */
void decoder_flush(struct decoder *d);
/*
 * Decode all pending datagrams, though more may come. A slice that waits for the rest of
 * its message is not made partial for it.
 */
void decoder_rest(struct decoder *d);

/* Decode one block of a recording. A decoder of a recording decodes nothing else. */
void decoder_demo(struct decoder *d, const struct demo_block *block);

/* Return the number of sessions that lost their state to others. */
uint64_t decoder_forgotten(const struct decoder *d);

/* Return the decoder's sessions. For tests. */
struct session_table *decoder_sessions(struct decoder *d);

#endif /* DECODE_H */
