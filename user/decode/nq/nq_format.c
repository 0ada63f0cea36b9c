// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * nq_format.c - see nq_format.h.
 *
 * Sources: Quake WinQuake/protocol.h, common.c; Quakespasm protocol.h, common.c;
 * darkplaces protocol.c, com_msg.c; fteqw common/protocol.h, client/cl_parse.c.
 */
#include "decode/nq/nq_format.h"

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
	*ret = (struct nq_format){
		.dialect = dialect,
		.flags = flags,
		.pext1 = pext1,
		.pext2 = pext2,
		.coord = dialect->coord,
		.angle = dialect->angle,
		.move = dialect->move,
		.untested = dialect->untested || pext1 || pext2,
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
