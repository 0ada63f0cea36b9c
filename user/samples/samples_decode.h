/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * samples_decode.h - turns samples into records, through the decoder that captures go
 * through. Called by samples.c.
 *
 * Followed flows keep sessions, as a capture's do. A statistic sample is a loose
 * datagram: out-of-band words and control packets are decoded whole; game traffic, which
 * means nothing without what came before, is opaque. Family and direction are the
 * service's: nothing is guessed, so no client can make itself a server by what it sends.
 *
 * Bounded as the decoder is (DECODE_SESSIONS, SAMPLES_STATE_BYTES).
 */
#ifndef SAMPLES_DECODE_H
#define SAMPLES_DECODE_H

#include "abi.h"
#include "decode/keys.h"
#include "lib/record.h"

/*
 * Bytes of all sessions' state, as far as it is touched: nine full servers of 64 places,
 * at 0.7 MB a game of Quake III, which is what a long one takes at most.
 */
#define SAMPLES_STATE_BYTES ((size_t)400 << 20)

/* Facts of the shield about a sample, for its record. */
struct sample_note {
	__u32 slot; /* of the service */
	enum wire_kind kind;
	enum reason reason;
	enum sampler sampler;
};

typedef void samples_sink(void *context, const struct record *r,
			  const struct sample_note *sample);

struct samples_decoder;

/*
 * Return a decoder that calls @sink with @context. @psk: of Quake Enhanced's flows,
 * copied; NULL: none. NULL: no memory.
 */
struct samples_decoder *samples_decoder_create(samples_sink *sink, void *context,
					       const struct keys_psk *psk);
/* Free the decoder without decoding what is pending. @d may be NULL. */
void samples_decoder_free(struct samples_decoder *d);

/*
 * Decode a sample. @frame: its Ethernet frame, of a service that speaks @family.
 * @time_ns: since 1970. False: it holds no UDP datagram.
 */
bool samples_decoder_sample(struct samples_decoder *d, const struct sample *sample,
			    const void *frame, enum wire_family family, int64_t time_ns);

/* Decode what is pending, as decoder_rest(): no more samples are there for now. */
void samples_decoder_rest(struct samples_decoder *d);

#endif /* SAMPLES_DECODE_H */
