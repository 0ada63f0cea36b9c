// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * netchan.c - see netchan.h.
 */
#include <stdlib.h>
#include <string.h>

#include "decode/netchan.h"
#include "lib/record_trace.h"

#define ROOM_MIN 2048

#define SLICED	 (1U << 30)
#define MORE	 (1U << 15)

/*
 * Say the header on the record, and note its facts. Called by read_header() alone, once
 * the header is known to be whole. The names are documented (docs/RECORDS.md). @slices:
 * bit 30 says whether a slice follows; the reader has read no more.
 */
static void note(struct record *r, const struct netchan_header *h, bool slices,
		 unsigned int qport_size)
{
	uint32_t bits = slices ? 30 : 31;

	record_bits(r, bits);
	record_uint(r, "sequence", h->sequence);
	record_skip(r, slices);
	record_bits(r, 1);
	record_bool(r, "reliable", h->reliable);
	record_bits(r, bits);
	record_uint(r, "acked", h->ack);
	record_skip(r, slices);
	record_bits(r, 1);
	record_uint(r, "acked_parity", h->ack_parity);
	record_bits(r, qport_size * 8);
	if (h->has_qport)
		record_uint(r, "qport", h->qport);
	r->facts.has |= FACT_SEQUENCE | FACT_ACK;
	r->facts.sequence = h->sequence;
	r->facts.ack = h->ack;
}

/* @part is NULL where there are no slices. */
static bool read_header(struct reader *rd, unsigned int qport_size, struct record *r,
			struct netchan_header *ret, struct netchan_part *part)
{
	uint32_t sequence = reader_le32(rd), ack = reader_le32(rd);
	uint32_t number = part ? SLICED - 1 : NETCHAN_RELIABLE - 1;
	uint16_t slice;

	ret->sequence = sequence & number;
	ret->reliable = sequence & NETCHAN_RELIABLE;
	ret->ack = ack & number;
	ret->ack_parity = ack & NETCHAN_RELIABLE;
	ret->has_qport = qport_size != 0;
	ret->qport = qport_size == 2 ? reader_le16(rd) : qport_size ? reader_u8(rd) : 0;
	if (part && sequence & SLICED) {
		slice = reader_le16(rd);
		part->sliced = true;
		part->more = slice & MORE;
		part->offset = slice & (MORE - 1);
	}
	if (reader_failed(rd)) {
		record_malformed(r, "shorter than a header");
		return false;
	}
	note(r, ret, part, qport_size);
	return true;
}

bool netchan_read(struct reader *rd, unsigned int qport_size, struct record *r,
		  struct netchan_header *ret)
{
	return read_header(rd, qport_size, r, ret, NULL);
}

bool netchan_read_part(struct reader *rd, unsigned int qport_size, struct record *r,
		       struct netchan_header *ret, struct netchan_part *part)
{
	*part = (struct netchan_part){ .sliced = false };
	if (!read_header(rd, qport_size, r, ret, part))
		return false;
	if (part->sliced) {
		record_bits(r, 15);
		record_uint(r, "fragmentStart", part->offset);
		record_bits(r, 1);
		record_bool(r, "more", part->more);
		if (part->offset)
			r->facts.has |= FACT_SLICE;
	}
	return true;
}

enum netchan_order netchan_order(struct netchan_side *side, uint32_t sequence)
{
	if (side->seen && sequence == side->newest)
		return NETCHAN_REPEATED;
	if (side->seen && (int32_t)(sequence - side->newest) < 0) {
		if (!side->leapt || sequence - side->before - 1 >= NETCHAN_JUMP)
			return NETCHAN_OLDER;
		side->leapt = false;
		side->newest = sequence;
		return NETCHAN_NEWER;
	}
	side->leapt = side->seen && sequence - side->newest >= NETCHAN_JUMP;
	side->before = side->newest;
	side->seen = true;
	side->newest = sequence;
	return NETCHAN_NEWER;
}

uint16_t netchan_sum(struct span s)
{
	uint64_t sum = ~(uint64_t)s.n, word;

	for (; s.n; s = (struct span){ s.bytes + sizeof(word), s.n - sizeof(word) }) {
		word = 0;
		memcpy(&word, s.bytes, s.n < sizeof(word) ? s.n : sizeof(word));
		sum = (sum ^ word) * 0x9e3779b97f4a7c15ULL;
		sum ^= sum >> 29;
		if (s.n < sizeof(word))
			break;
	}
	return (uint16_t)(sum >> 40);
}

void netchan_late_newer(struct netchan_late *l, uint32_t sequence, uint16_t sum)
{
	uint32_t by = sequence - l->newest;

	l->seen = by < NETCHAN_RECENT ? l->seen << by | 1 : 1;
	l->newest = sequence;
	l->sum[sequence % NETCHAN_RECENT] = sum;
	l->count = 0;
}

enum netchan_lateness netchan_late(struct netchan_late *l, uint32_t sequence,
				   uint16_t sum)
{
	uint32_t by = l->newest - sequence;
	bool near = by < NETCHAN_RECENT;
	bool known = near && l->seen >> by & 1;

	if (known && l->sum[sequence % NETCHAN_RECENT] == sum)
		return NETCHAN_OVERTAKEN;
	if (!l->count || sequence - l->last - 1 >= NETCHAN_LATE_MAX) {
		l->count = 0;
		l->strange = false;
	}
	l->last = sequence;
	l->count++;
	l->strange |= known || !near;
	if (!l->strange)
		return NETCHAN_OVERTAKEN;
	if (l->count < NETCHAN_LATE_MAX)
		return NETCHAN_STRANGE;
	*l = (struct netchan_late){ .newest = 0 };
	return NETCHAN_ANEW;
}

#define PROOF_BACK 64 /* datagrams that are remembered */

void netchan_proof_server(struct netchan_proof *p, const struct netchan_header *h)
{
	uint32_t by = h->sequence - p->newest;

	p->reliable = by < PROOF_BACK ? p->reliable << by : 0;
	p->reliable |= h->reliable;
	p->newest = h->sequence;
}

/*
 * Return how many reliable parts were seen in the server's datagrams @first to @last; -1:
 * @first is longer ago than p->reliable goes back. Called by netchan_proof_client()
 * alone, with less than PROOF_BACK datagrams, which bounds the loop.
 */
static int reliables(const struct netchan_proof *p, uint32_t first, uint32_t last)
{
	int count = 0;

	if (p->newest - first >= PROOF_BACK && (int32_t)(p->newest - first) > 0)
		return -1;
	for (uint32_t n = first; (int32_t)(last - n) >= 0; n++)
		if ((int32_t)(p->newest - n) >= 0)
			count += p->reliable >> (p->newest - n) & 1;
	return count;
}

bool netchan_proof_client(struct netchan_proof *p, const struct netchan_header *h,
			  uint32_t *ret_first)
{
	const struct netchan_proof last = *p;
	uint32_t range = h->ack - last.ack;
	int seen;

	p->received = true;
	p->sequence = h->sequence;
	p->ack = h->ack;
	p->parity = h->ack_parity;
	*ret_first = last.ack + 1;
	/* With one of the client's missing there may have been two. */
	if (!last.received || h->sequence != last.sequence + 1 || range >= PROOF_BACK)
		return false;
	seen = reliables(&last, *ret_first, h->ack);
	return seen >= 0 && (seen & 1) == (h->ack_parity != last.parity);
}

/* Make room for @n bytes, in powers of two; false: over @max, or no memory. */
static bool room_for(struct netchan_slices *s, size_t n, size_t max)
{
	size_t room = s->room ? s->room : ROOM_MIN;
	uint8_t *bytes;

	if (n > max)
		return false;
	while (room < n)
		room *= 2;
	if (room == s->room)
		return true;
	bytes = realloc(s->bytes, room);
	if (!bytes)
		return false;
	s->bytes = bytes;
	s->room = room;
	return true;
}

static bool append(struct netchan_slices *s, struct span slice, size_t max)
{
	if (!room_for(s, s->used + slice.n, max))
		return false;
	if (slice.n)
		memcpy(s->bytes + s->used, slice.bytes, slice.n);
	s->used += slice.n;
	return true;
}

/* A new message begins. */
static void begin(struct netchan_slices *s)
{
	s->used = 0;
	s->broken = false;
	s->whole = false;
}

enum netchan_slice netchan_chunk(struct netchan_slices *s, uint32_t number, bool end,
				 struct span chunk, size_t max)
{
	bool fits;

	if (s->started && (int32_t)(number - s->next) < 0)
		return NETCHAN_SEEN;
	if (s->whole)
		begin(s);
	if (number != s->next)
		s->broken = true;
	s->started = true;
	s->next = number + 1;
	fits = s->broken || append(s, chunk, max);
	s->broken |= !fits;
	s->whole = end;
	if (!fits)
		return NETCHAN_TOO_LONG;
	if (!end)
		return NETCHAN_STORED;
	return s->broken ? NETCHAN_MISSED : NETCHAN_WHOLE;
}

enum netchan_slice netchan_fragment(struct netchan_slices *s, uint32_t number,
				    size_t offset, bool more, struct span slice,
				    size_t max)
{
	if (!s->started || number != s->next) {
		begin(s);
		s->started = true;
		s->next = number;
	}
	if (s->whole || offset < s->used)
		return NETCHAN_SEEN;
	s->broken |= offset > s->used;
	if (!s->broken && !append(s, slice, max)) {
		s->broken = true;
		return NETCHAN_TOO_LONG;
	}
	s->whole = !more;
	if (more)
		return NETCHAN_STORED;
	return s->broken ? NETCHAN_MISSED : NETCHAN_WHOLE;
}

void netchan_slices_drop(struct netchan_slices *s)
{
	free(s->bytes);
	memset(s, 0, sizeof(*s));
}
