// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * qe_message.c - see qe_message.h.
 *
 *	+----+----+---------+---------- ... --+----- ... --+
 *	| 00 | 20 | length  | u32 sequence	  | zlib       |  -> a whole datagram
 *	+----+----+---------+---------- ... --+----- ... --+
 *
 * The length counts what follows the 8 bytes. Source: fteqw common/net_chan.c.
 */
#include <zlib.h>

#include "decode/family.h"
#include "decode/nq/nq_rows.h"
#include "decode/qe/qe_message.h"

#define FLAGS_ZLIB 0x0020
#define HEADER	   8

static const struct nq_dialect enhanced15 = {
	.name = "enhanced15",
	.protocol = 15,
	.traits = NQ_ENHANCED | NQ_LONG_TEXTS,
	.untested = true,
	.svc = qe_svc,
	.clc = qe_clc,
	.clientdata = NQ_ROWS(nq_clientdata_enhanced15),
};

static const struct nq_dialect enhanced666 = {
	.name = "enhanced666",
	.protocol = 666,
	.traits = NQ_ENHANCED | NQ_FITZ | NQ_LONG_TEXTS,
	.move = NQ_MOVE_16,
	.untested = true,
	.svc = qe_svc,
	.clc = qe_clc,
	.update = NQ_ROWS(nq_update_enhanced),
	.clientdata = NQ_ROWS(nq_clientdata_enhanced),
};

/* Float coordinates and short angles, until a serverinfo tells. */
static const struct nq_dialect enhanced999 = {
	.name = "enhanced999",
	.protocol = 999,
	.flags = 0x12,
	.traits = NQ_ENHANCED | NQ_FITZ | NQ_RMQ | NQ_LONG_TEXTS,
	.untested = true,
	.svc = qe_svc,
	.clc = qe_clc,
	.update = NQ_ROWS(nq_update_enhanced),
	.clientdata = NQ_ROWS(nq_clientdata_enhanced),
};

const struct nq_dialect *const qe_dialects[] = {
	&enhanced15,   &enhanced666,	   &enhanced999,  &nq_quake15,
	&nq_fitzquake, &nq_rmq_quakespasm, &nq_rmq_plain, NULL,
};

/*
 * Return how many bytes come out; 0: it is no stream, none that ends here, or too long.
 */
static size_t inflated(struct span from, struct keys_room *room)
{
	uLongf n = sizeof(room->inflated);
	uLong used = from.n;

	if (uncompress2(room->inflated, &n, from.bytes, &used) != Z_OK || used != from.n)
		return 0;
	return n;
}

static void compressed(struct nq_session *game, enum direction direction,
		       struct span text, struct keys_room *room, struct record *r)
{
	struct reader rd = reader_of(text.bytes, text.n);
	uint16_t length;
	struct span body;

	reader_be16(&rd);
	length = reader_be16(&rd);
	record_uint(r, "compressed_sequence", reader_be32(&rd));
	body = reader_rest(&rd);
	r->kind = "bad-length";
	if (reader_failed(&rd) || length != body.n) {
		record_malformed(r, "length of a compressed datagram is not its own");
		return;
	}
	r->kind = "malformed";
	body.n = inflated(body, room);
	body.bytes = room->inflated;
	if (!body.n)
		record_malformed(r, "not one whole zlib stream of at most 65536 bytes");
	else if (body.n >= 2 && !body.bytes[0] && body.bytes[1] == FLAGS_ZLIB)
		record_malformed(r, "a compressed datagram in another");
	else
		nq_session_datagram(game, FAMILY_QUAKE_ENHANCED, direction, body, r);
}

void qe_game(struct nq_session *game, enum direction direction, struct span text,
	     struct keys_room *room, struct record *r)
{
	if (text.n >= HEADER && !text.bytes[0] && text.bytes[1] == FLAGS_ZLIB)
		compressed(game, direction, text, room, r);
	else
		nq_session_datagram(game, FAMILY_QUAKE_ENHANCED, direction, text, r);
}
