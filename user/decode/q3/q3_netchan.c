// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * q3_netchan.c - headers, checksums, slices, scrambling.
 *
 * An engine takes slices only in order; an observer may collect them in any. A message
 * that it repairs and the engine lost does no harm, since keys, texts and bases go by
 * number.
 */
#include "decode/q3/q3_netchan.h"
#include "lib/reader.h"
#include "lib/record_trace.h"

bool q3_header_read(struct q3_header *h, const uint8_t *datagram, size_t n, bool client,
		    bool checksum, const char **ret)
{
	struct reader rd = reader_of(datagram, n);
	uint32_t sequence = reader_le32(&rd);

	*h = (struct q3_header){ .sequence = sequence & ~Q3_FRAGMENT,
				 .fragment = sequence & Q3_FRAGMENT,
				 .has_checksum = checksum };
	if (client)
		h->qport = reader_le16(&rd);
	if (checksum)
		h->checksum = reader_le32(&rd);
	if (h->fragment) {
		h->start = reader_le16(&rd);
		h->length = reader_le16(&rd);
	}
	h->payload = rd.pos;
	h->n = reader_left(&rd);
	*ret = NULL;
	if (reader_failed(&rd))
		*ret = "shorter than its header";
	else if (!h->sequence)
		*ret = "sequence 0";
	else if (!h->fragment && !h->n)
		*ret = "no payload";
	else if (!h->fragment && h->n >= Q3_SLICE)
		*ret = "a whole message of 1300 bytes or more";
	else if (h->fragment && h->length > Q3_SLICE)
		*ret = "fragment longer than 1300";
	else if (h->fragment && h->start % Q3_SLICE)
		*ret = "fragment start is no multiple of 1300";
	else if (h->fragment && h->length != h->n)
		*ret = "fragment length is not what follows";
	return !*ret;
}

void q3_header_record(const struct q3_header *h, bool client, struct record *r)
{
	record_bits(r, 31);
	record_uint(r, "sequence", h->sequence);
	r->facts.has |= FACT_SEQUENCE;
	r->facts.sequence = h->sequence;
	if (h->fragment && h->start)
		r->facts.has |= FACT_SLICE;
	record_skip(r, 1);
	if (client) {
		record_bits(r, 16);
		record_uint(r, "qport", h->qport);
	}
	if (h->has_checksum) {
		record_bits(r, 32);
		record_uint(r, "checksum", h->checksum);
	}
	if (h->fragment) {
		record_bits(r, 16);
		record_uint(r, "fragmentStart", h->start);
		record_bits(r, 16);
		record_uint(r, "fragmentLength", h->length);
	}
}

/* Bit i of the sum is bit i of the challenge and something of the lower bits: with an
 * even sequence the product has no bit i of its own. */
int32_t q3_checksum_solve(uint32_t checksum, uint32_t sequence)
{
	uint32_t challenge = 0;

	for (unsigned int i = 0; i < 32; i++) {
		uint32_t bit = 1U << i;

		if ((q3_checksum((int32_t)challenge, sequence) ^ checksum) & bit)
			challenge |= bit;
	}
	return (int32_t)challenge;
}

void q3_scramble(uint8_t *payload, size_t n, size_t first, uint8_t key, const char *text,
		 size_t text_n)
{
	size_t at = 0;

	if (!text_n) {
		for (size_t i = first; i < n; i++)
			payload[i] ^= key;
		return;
	}
	for (size_t i = first; i < n; i++) {
		key ^= (uint8_t)((uint8_t)text[at] << (i & 1));
		payload[i] ^= key;
		if (++at == text_n)
			at = 0;
	}
}

static bool was_whole(const struct q3_game *g, bool client, int32_t sequence)
{
	for (unsigned int i = 0; i < Q3_COUNT(g->assembled[client]); i++)
		if (g->assembled[client][i] == sequence)
			return true;
	return false;
}

bool q3_assembled(const struct q3_game *g, bool client, int32_t sequence, uint64_t *have,
		  uint32_t *ret)
{
	*have = 0;
	*ret = 0;
	if (was_whole(g, client, sequence))
		return true;
	for (unsigned int i = 0; i < 2; i++) {
		const struct q3_assembly *a = &g->slices[client][i];

		if (a->sequence != sequence)
			continue;
		*have = a->have;
		*ret = a->ended ? a->total / Q3_SLICE + 1 : 0;
	}
	return false;
}

/* The place where @sequence is collected; the older of the two is given up for it. */
static struct q3_assembly *find_place(struct q3_game *g, bool client, int32_t sequence)
{
	struct q3_assembly *a = g->slices[client];

	for (unsigned int i = 0; i < 2; i++)
		if (a[i].sequence == sequence)
			return &a[i];
	if (a[0].sequence > a[1].sequence)
		a++;
	a->sequence = sequence;
	a->have = 0;
	a->total = 0;
	a->ended = false;
	return a;
}

enum q3_slice q3_assemble(struct q3_game *g, const struct q3_header *h, bool client,
			  uint8_t **ret, size_t *ret_n, const char **why)
{
	int32_t sequence = (int32_t)h->sequence;
	unsigned int index = h->start / Q3_SLICE;
	struct q3_assembly *a;
	uint64_t all;

	if ((uint32_t)h->start + h->length > g->dialect->message_max) {
		*why = "fragments of a message that is too long";
		return Q3_SLICE_WRONG;
	}
	if (was_whole(g, client, sequence))
		return Q3_SLICE_REPEATED;
	a = find_place(g, client, sequence);
	if (a->have >> index & 1)
		return Q3_SLICE_REPEATED;
	memcpy(a->bytes + h->start, h->payload, h->length);
	a->have |= 1ULL << index;
	if (a->reached < (uint32_t)h->start + h->length + Q3_SLACK)
		a->reached = (uint32_t)h->start + h->length + Q3_SLACK;
	if (h->length < Q3_SLICE) {
		a->total = (uint32_t)h->start + h->length;
		a->ended = true;
	}
	all = (2ULL << (a->total / Q3_SLICE)) - 1;
	if (!a->ended || a->have != all)
		return Q3_SLICE_STORED;
	memset(a->bytes + a->total, 0, Q3_SLACK);
	*ret = a->bytes;
	*ret_n = a->total;
	a->sequence = 0;
	g->assembled[client][g->assembled_at[client]++ % 4] = sequence;
	return Q3_SLICE_WHOLE;
}
