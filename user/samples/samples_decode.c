// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * samples_decode.c - see samples_decode.h. Two decoders: the followed flows' holds
 * datagrams back where a capture's would, so what the shield knew of each waits in
 * notes[]. Its records come in the order of its datagrams. Loose datagrams, of which
 * there may be many more, are never held back.
 */
#include <pcap/dlt.h>
#include <stdlib.h>

#include "decode/decode.h"
#include "decode/identify.h"
#include "samples/samples_decode.h"

#define NOTES (2 * DECODE_PENDING_MAX)

struct samples_decoder {
	samples_sink *sink;
	void *context;
	struct decoder *follow, *loose;
	uint64_t frame;
	struct sample_note note; /* of the loose datagram */
	struct {
		uint64_t frame;
		struct sample_note note;
	} notes[NOTES]; /* of followed ones, a ring: from @told up to @noted */
	uint64_t told, noted;
	struct record_tape tape; /* of records that no decoder makes */
	enum wire_family spoken[SERVICES_MAX]; /* of `auto` ones: what was heard last */
};

static void tell(struct samples_decoder *d, const struct record *r,
		 const struct sample_note *note)
{
	if (r->status == RECORD_DECODED && note->slot < SERVICES_MAX)
		d->spoken[note->slot] = r->family;
	d->sink(d->context, r, note);
}

static void on_loose(void *context, const struct record *r)
{
	struct samples_decoder *d = context;

	tell(d, r, &d->note);
}

static void on_followed(void *context, const struct record *r)
{
	struct samples_decoder *d = context;

	while (d->told + 1 < d->noted && d->notes[d->told % NOTES].frame < r->frame)
		d->told++;
	tell(d, r, &d->notes[d->told % NOTES].note);
}

/*
 * Return the family of a loose datagram of game traffic by its shape, for a service of
 * any protocol. NetQuake's has its own shape; for the others it is the family that was
 * understood last.
 */
static enum wire_family spoken(const struct samples_decoder *d, __u32 slot,
			       enum shape shape)
{
	if (shape == SHAPE_NETQUAKE)
		return FAMILY_NETQUAKE;
	if (slot >= SERVICES_MAX || d->spoken[slot] == FAMILY_NETQUAKE)
		return FAMILY_AUTO;
	return d->spoken[slot];
}

struct samples_decoder *samples_decoder_create(samples_sink *sink, void *context,
					       const struct keys_psk *psk)
{
	struct decoder_options follow = {
		.fields = true,
		.forced = FAMILY_AUTO,
		.state_bytes = SAMPLES_STATE_BYTES,
	};
	struct decoder_options loose = follow;
	struct samples_decoder *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	loose.small = true;
	if (psk)
		follow.psk = *psk;
	for (size_t slot = 0; slot < SERVICES_MAX; slot++)
		d->spoken[slot] = FAMILY_AUTO;
	d->sink = sink;
	d->context = context;
	d->follow = decoder_create(&follow, on_followed, d);
	d->loose = decoder_create(&loose, on_loose, d);
	if (!d->follow || !d->loose || record_tape_create(&d->tape, 16, 256)) {
		samples_decoder_free(d);
		return NULL;
	}
	return d;
}

void samples_decoder_free(struct samples_decoder *d)
{
	if (!d)
		return;
	decoder_free(d->follow);
	decoder_free(d->loose);
	record_tape_free(&d->tape);
	free(d);
}

static void opaque(struct samples_decoder *d, const struct datagram *dg,
		   enum wire_family family, bool to_server)
{
	struct record r;

	record_reset(&r, &d->tape);
	r.frame = dg->frame;
	r.time_ns = dg->time_ns;
	r.family = family;
	r.direction = to_server ? DIRECTION_C2S : DIRECTION_S2C;
	r.source = dg->source;
	r.destination = dg->destination;
	r.kind = "netchan";
	record_uint(&r, "length", dg->length);
	record_opaque(&r, "a loose sample: game traffic needs the whole flow");
	tell(d, &r, &d->note);
}

static void loose(struct samples_decoder *d, const struct datagram *dg, __u32 slot,
		  enum wire_family family, bool to_server)
{
	enum shape shape = identify_shape(dg->payload, dg->n, dg->length);

	if (shape == SHAPE_SEQUENCED || shape == SHAPE_NETQUAKE) {
		if (family == FAMILY_AUTO)
			family = spoken(d, slot, shape);
		opaque(d, dg, family, to_server);
		return;
	}
	decoder_datagram(d->loose, dg);
	decoder_flush(d->loose);
}

static bool parse(const struct sample *sample, const void *frame, struct datagram *ret)
{
	struct packet packet;

	if (!packet_parse(DLT_EN10MB, frame, sample->kept, &packet))
		return false;
	if (packet.fragment && (packet.offset || packet.captured < 8))
		return false;
	/* The length of the first fragment's datagram is that of all fragments. */
	if (packet.fragment)
		packet.length = UINT16_MAX;
	if (!packet_udp(&packet, ret))
		return false;
	if (packet.fragment && ret->damage == RECORD_PARTIAL)
		ret->reason = "the first of several IP fragments: samples hold no others";
	return true;
}

bool samples_decoder_sample(struct samples_decoder *d, const struct sample *sample,
			    const void *frame, enum wire_family family, int64_t time_ns)
{
	struct datagram dg;
	bool to_server = sample->direction == DIRECTION_C2S;

	if (!parse(sample, frame, &dg))
		return false;
	/* The words of a master are of every protocol. */
	if (family == FAMILY_MASTER)
		family = FAMILY_AUTO;
	dg.frame = ++d->frame;
	dg.time_ns = time_ns;
	dg.has_family = family != FAMILY_AUTO;
	dg.family = family;
	dg.direction = to_server ? DIRECTION_C2S : DIRECTION_S2C;
	d->note = (struct sample_note){
		.slot = sample->slot,
		.kind = (enum wire_kind)sample->kind,
		.reason = (enum reason)sample->reason,
		.sampler = (enum sampler)sample->sampler,
	};
	if (sample->sampler != SAMPLER_FOLLOW) {
		loose(d, &dg, sample->slot, family, to_server);
		return true;
	}
	d->notes[d->noted % NOTES].frame = dg.frame;
	d->notes[d->noted++ % NOTES].note = d->note;
	decoder_datagram(d->follow, &dg);
	return true;
}

void samples_decoder_rest(struct samples_decoder *d)
{
	decoder_rest(d->follow);
}
