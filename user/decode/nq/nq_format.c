// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * nq_format.c - see nq_format.h.
 *
 * Sources: Quake WinQuake/protocol.h, common.c; Quakespasm protocol.h, common.c;
 * darkplaces protocol.c, com_msg.c; fteqw common/protocol.h, client/cl_parse.c.
 */
#include "decode/nq/nq_rows.h"
#include "decode/nq/nq_tables.h"

#define RMQ_SHORTANGLE	  0x02U
#define RMQ_FLOATANGLE	  0x04U
#define RMQ_24BITCOORD	  0x08U
#define RMQ_FLOATCOORD	  0x10U
#define RMQ_INT32COORD	  0x80U
#define RMQ_MOREFLAGS	  0x80000000U
#define RMQ_COORDS	  (RMQ_24BITCOORD | RMQ_FLOATCOORD | RMQ_INT32COORD)
#define RMQ_OF_QUAKESPASM (RMQ_SHORTANGLE | RMQ_INT32COORD)

const struct nq_dialect nq_quake15 = {
	.name = "quake15",
	.protocol = 15,
	.svc = nq_svc_id,
	.clc = nq_clc_id,
	.clientdata = NQ_ROWS(nq_clientdata_id),
};

/* Both sides said "mod 1" in the handshake; ours may not have been seen. */
static const struct nq_dialect proquake = {
	.name = "proquake15",
	.protocol = 15,
	.move = NQ_MOVE_16,
	.untested = true,
	.svc = nq_svc_id,
	.clc = nq_clc_id,
	.clientdata = NQ_ROWS(nq_clientdata_id),
};

static const struct nq_dialect quakedp = {
	.name = "quakedp",
	.protocol = 15,
	.traits = NQ_QUAKEDP | NQ_LONG_TEXTS,
	.untested = true,
	.svc = nq_svc_dp,
	.clc = nq_clc_id,
	.update = NQ_ROWS(nq_update_quakedp),
	.clientdata = NQ_ROWS(nq_clientdata_quakedp),
};

static const struct nq_dialect nehahra15 = {
	.name = "nehahra15",
	.protocol = 15,
	.traits = NQ_NEHAHRA,
	.untested = true,
	.svc = nq_svc_nehahra,
	.clc = nq_clc_id,
	.clientdata = NQ_ROWS(nq_clientdata_id),
};

static const struct nq_dialect nehahra250 = {
	.name = "nehahra250",
	.protocol = 250,
	.traits = NQ_NEHAHRA,
	.untested = true,
	.svc = nq_svc_nehahra,
	.clc = nq_clc_id,
	.clientdata = NQ_ROWS(nq_clientdata_id),
};

const struct nq_dialect nq_fitzquake = {
	.name = "fitzquake666",
	.protocol = 666,
	.traits = NQ_FITZ,
	.move = NQ_MOVE_16,
	.svc = nq_svc_fitz,
	.clc = nq_clc_id,
	.update = NQ_ROWS(nq_update_fitz),
	.clientdata = NQ_ROWS(nq_clientdata_fitz),
};

#define RMQ(ident, tried)                                  \
	const struct nq_dialect ident = {                  \
		.name = "rmq999",                          \
		.protocol = 999,                           \
		.flags = (tried),                          \
		.traits = NQ_FITZ | NQ_RMQ,                \
		.svc = nq_svc_fitz,                        \
		.clc = nq_clc_id,                          \
		.update = NQ_ROWS(nq_update_fitz),         \
		.clientdata = NQ_ROWS(nq_clientdata_fitz), \
	}

RMQ(nq_rmq_quakespasm, RMQ_OF_QUAKESPASM);
RMQ(nq_rmq_plain, 0);

#define BJP(ident, label, number, wide)                         \
	static const struct nq_dialect ident = {                \
		.name = (label),                                \
		.protocol = (number),                           \
		.traits = NQ_NEHAHRA | NQ_WIDE_MODELS | (wide), \
		.untested = true,                               \
		.svc = nq_svc_nehahra,                          \
		.clc = nq_clc_id,                               \
		.clientdata = NQ_ROWS(nq_clientdata_bjp),       \
	}

BJP(bjp1, "bjp1", 10000, 0);
BJP(bjp2, "bjp2", 10001, NQ_WIDE_SOUNDS);
BJP(bjp3, "bjp3", 10002, NQ_WIDE_SOUNDS);

#define DARKPLACES(ident, label, number, more, c, a, m, rows) \
	static const struct nq_dialect ident = {              \
		.name = (label),                              \
		.protocol = (number),                         \
		.traits = NQ_DP | NQ_LONG_TEXTS | (more),     \
		.coord = (c),                                 \
		.angle = (a),                                 \
		.move = (m),                                  \
		.untested = (number) != 3504,                 \
		.svc = nq_svc_dp,                             \
		.clc = nq_clc_dp,                             \
		.update = NQ_ROWS(nq_update_quakedp),         \
		.clientdata = NQ_ROWS(rows),                  \
	}
#define DP_OLD2 (NQ_DP_OLD | NQ_DP_SOUND2)
#define DP7	(NQ_DP_STATS | NQ_DP_NUMBERS)

DARKPLACES(dp1, "dp1", 96, DP_OLD2, NQ_COORD_F32, NQ_ANGLE_8, NQ_MOVE_16,
	   nq_clientdata_dp1);
DARKPLACES(dp2, "dp2", 97, DP_OLD2, NQ_COORD_16, NQ_ANGLE_8, NQ_MOVE_F32,
	   nq_clientdata_dp2);
DARKPLACES(dp3, "dp3", 3500, DP_OLD2, NQ_COORD_16, NQ_ANGLE_8, NQ_MOVE_F32,
	   nq_clientdata_dp2);
DARKPLACES(dp4, "dp4", 3501, NQ_DP_OLD, NQ_COORD_16, NQ_ANGLE_8, NQ_MOVE_16,
	   nq_clientdata_dp2);
DARKPLACES(dp5, "dp5", 3502, 0, NQ_COORD_F32, NQ_ANGLE_16, NQ_MOVE_16, nq_clientdata_dp5);
DARKPLACES(dp6, "dp6", 3503, NQ_DP_STATS, NQ_COORD_F32, NQ_ANGLE_16, NQ_MOVE_16,
	   nq_clientdata_dp6);
DARKPLACES(dp7, "dp7", 3504, DP7, NQ_COORD_F32, NQ_ANGLE_16, NQ_MOVE_16,
	   nq_clientdata_dp6);
DARKPLACES(dp8, "dp8", 3505, DP7 | NQ_DP_REASON, NQ_COORD_F32, NQ_ANGLE_16, NQ_MOVE_16,
	   nq_clientdata_dp6);

const struct nq_dialect *const nq_dialects[] = {
	&nq_quake15,   &nq_fitzquake, &nq_rmq_quakespasm,
	&nq_rmq_plain, &dp7,	      &proquake,
	&quakedp,      &dp6,	      &dp5,
	&nehahra15,    &bjp3,	      &dp8,
	&dp4,	       &dp3,	      &dp2,
	&dp1,	       &bjp2,	      &bjp1,
	&nehahra250,   NULL,
};

static uint8_t rmq_coord(uint32_t flags)
{
	if (flags & RMQ_FLOATCOORD)
		return NQ_COORD_F32;
	if (flags & RMQ_INT32COORD)
		return NQ_COORD_28_4;
	return flags & RMQ_24BITCOORD ? NQ_COORD_24 : NQ_COORD_13_3;
}

static uint8_t rmq_angle(uint32_t flags)
{
	if (flags & RMQ_FLOATANGLE)
		return NQ_ANGLE_F32;
	return flags & RMQ_SHORTANGLE ? NQ_ANGLE_16 : NQ_ANGLE_8;
}

bool nq_format_of(const struct nq_dialect *dialect, uint32_t flags, uint32_t pext1,
		  uint32_t pext2, struct nq_format *ret)
{
	bool fte = pext1 || pext2;

	*ret = (struct nq_format){
		.dialect = dialect,
		.svc = fte ? nq_svc_fte : dialect->svc,
		.clc = fte ? nq_clc_fte : dialect->clc,
		.flags = flags,
		.pext1 = pext1,
		.pext2 = pext2,
		.coord = dialect->coord,
		.angle = dialect->angle,
		.move = dialect->move,
		.untested = dialect->untested || fte,
	};
	if (dialect->traits & NQ_RMQ) {
		ret->untested |= flags != RMQ_OF_QUAKESPASM;
		ret->coord = rmq_coord(flags);
		ret->angle = rmq_angle(flags);
		ret->move = ret->angle == NQ_ANGLE_F32 ? NQ_MOVE_F32 : NQ_MOVE_16;
	}
	if (pext1 & NQ_PEXT1_FLOATCOORDS) {
		ret->coord = NQ_COORD_F32;
		if (ret->angle == NQ_ANGLE_8)
			ret->angle = NQ_ANGLE_16;
	}
	if (pext2 & NQ_PREDINFO && ret->move == NQ_MOVE_8)
		ret->move = NQ_MOVE_16;
	return !(flags & RMQ_MOREFLAGS);
}

double nq_coord(struct reader *rd, const struct nq_format *f)
{
	int whole;

	switch (f->coord) {
	case NQ_COORD_F32:
		return (double)reader_f32(rd);
	case NQ_COORD_28_4:
		return (int32_t)reader_le32(rd) / 16.0;
	case NQ_COORD_24:
		whole = (int16_t)reader_le16(rd);
		return whole + reader_u8(rd) / 255.0;
	case NQ_COORD_16:
		return (int16_t)reader_le16(rd);
	default:
		return (int16_t)reader_le16(rd) / 8.0;
	}
}

double nq_angle(struct reader *rd, const struct nq_format *f)
{
	switch (f->angle) {
	case NQ_ANGLE_F32:
		return (double)reader_f32(rd);
	case NQ_ANGLE_16:
		return (int16_t)reader_le16(rd) * (360.0 / 65536);
	default:
		return reader_i8(rd) * (360.0 / 256);
	}
}

double nq_angle16(struct reader *rd, const struct nq_format *f)
{
	return f->angle == NQ_ANGLE_F32 ? (double)reader_f32(rd)
					: (int16_t)reader_le16(rd) * (360.0 / 65536);
}

uint32_t nq_entity(struct reader *rd, const struct nq_format *f)
{
	uint32_t number = reader_le16(rd);

	if (f->pext2 & NQ_REPLACEMENTDELTAS && number & 0x8000)
		number = (number & 0x7fff) << 8 | reader_u8(rd);
	return number;
}

uint64_t nq_vlq(struct reader *rd)
{
	uint64_t value = reader_u8(rd);
	unsigned int more = 0;

	while (more < 8 && value & 0x80U >> more)
		more++;
	value &= 0x7fU >> more;
	while (more--)
		value = value << 8 | reader_u8(rd);
	return value;
}

uint32_t nq_uleb(struct reader *rd)
{
	uint32_t value = 0;

	for (unsigned int shift = 0; shift < 35; shift += 7) {
		uint8_t byte = reader_u8(rd);

		value |= (uint32_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	rd->failed = true;
	return 0;
}

int32_t nq_zigzag(struct reader *rd)
{
	uint32_t raw = nq_uleb(rd);

	return (int32_t)(raw >> 1 ^ (0 - (raw & 1)));
}
