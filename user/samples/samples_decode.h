/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * live_decode.h - samples in, records out, through the decoders that captures go through.
 *
 * Followed flows keep sessions, as a capture's do. A statistic sample is a loose
 * datagram: out-of-band words and control packets are decoded whole; game traffic, which
 * means nothing without what came before, is opaque. Family and direction are the
 * service's: nothing is guessed, nobody can make himself a server by what he sends.
 *
 * Bounded as the decoder is (DECODE_SESSIONS, DECODE_STATE_BYTES), and to LIVE_GAMES.
 */
#ifndef LIVE_DECODE_H
#define LIVE_DECODE_H

#include "abi.h"
#include "lib/record.h"

#define LIVE_GAMES 64 /* connections with the state that deltas need */

/* What the shield knew of a sample, for its record. */
struct live_sample {
	__u32 slot; /* of the service */
	enum wire_kind kind;
	enum reason reason;
	enum sampler sampler;
};

typedef void live_sink(void *context, const struct record *r,
		       const struct live_sample *sample);

struct live_decoder;

/* NULL: no memory. */
struct live_decoder *live_decoder_create(live_sink *sink, void *context);
void live_decoder_free(struct live_decoder *d);

/*
 * @frame: the sample's Ethernet frame, of a service that speaks @family. @time_ns: since
 * 1970. False: it holds no UDP datagram.
 */
bool live_decoder_sample(struct live_decoder *d, const struct sample *sample,
			 const void *frame, enum wire_family family, int64_t time_ns);

/* No more will come for now. */
void live_decoder_flush(struct live_decoder *d);

#endif /* LIVE_DECODE_H */
