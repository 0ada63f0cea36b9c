/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * q3_netchan.h - the header of a sequenced datagram, its slices, its scrambling.
 *
 *   0  sequence:32, bit 31 set: a slice of a message
 *   4  qport:16       from clients only
 *      checksum:32    protocol 71 of ioquake3 and Tremulous only
 *      start:16 length:16     slices only
 *      payload
 *
 * Source: id-Software/Quake-III-Arena code/qcommon/net_chan.c, code/server/
 * sv_net_chan.c, code/client/cl_net_chan.c; ioquake/ioq3 for the checksum.
 */
#ifndef Q3_NETCHAN_H
#define Q3_NETCHAN_H

#include "decode/q3/q3_state.h"
#include "lib/record.h"

#define Q3_FRAGMENT	   (1U << 31) /* of the sequence: the datagram is a slice */
#define Q3_KEY_FROM_SERVER 4 /* first scrambled byte of a server's message */
#define Q3_KEY_FROM_CLIENT 12 /* and of a client's: three longs are clear */

struct q3_header {
	uint32_t sequence; /* without bit 31 */
	uint32_t checksum;
	uint16_t qport;
	uint16_t start;
	uint16_t length;
	bool fragment;
	bool has_checksum;
	const uint8_t *payload;
	size_t n;
};

/* Read the header. False: @h->n is undefined, the reason is in *@ret. */
bool q3_header_read(struct q3_header *h, const uint8_t *datagram, size_t n, bool client,
		    bool checksum, const char **ret);
/* Put the header's fields on the record, and note the sequence as a fact. */
void q3_header_record(const struct q3_header *h, bool client, struct record *r);

static inline uint32_t q3_checksum(int32_t challenge, uint32_t sequence)
{
	return (uint32_t)challenge ^ sequence * (uint32_t)challenge;
}

/* Return the one challenge that gives @checksum for an even sequence. */
int32_t q3_checksum_solve(uint32_t checksum, uint32_t sequence);

/*
 * Scramble @payload in place, or make it plain again: both are the same operation. The
 * text is as the client holds it.
 */
void q3_scramble(uint8_t *payload, size_t n, size_t first, uint8_t key, const char *text,
		 size_t text_n);

enum q3_slice {
	Q3_SLICE_STORED,
	Q3_SLICE_REPEATED,
	Q3_SLICE_WHOLE, /* *ret, *ret_n have the message; it may be changed in place */
	Q3_SLICE_WRONG, /* *why */
};

/*
 * Return in @have a bit for each collected slice of the message @sequence, and in *@ret
 * how many there are (0: not known). True: it became whole already.
 */
bool q3_assembled(const struct q3_game *g, bool client, int32_t sequence, uint64_t *have,
		  uint32_t *ret);

/*
 * Store the slice of @h, which must have passed q3_header_read(). Two messages a
 * direction are collected at a time; a third takes the place of the older one. *@ret
 * belongs to @g, and is valid until the next slice of this direction.
 */
enum q3_slice q3_assemble(struct q3_game *g, const struct q3_header *h, bool client,
			  uint8_t **ret, size_t *ret_n, const char **why);

#endif /* Q3_NETCHAN_H */
