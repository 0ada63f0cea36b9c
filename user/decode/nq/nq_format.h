/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * nq_format.h - the dialects of NetQuake: which messages there are, and how wide a
 * coordinate, an angle and an entity's number are on the wire.
 *
 * A dialect is data. Quake Enhanced has a list of its own, with its own tables of
 * messages, and uses all the rest.
 */
#ifndef NQ_FORMAT_H
#define NQ_FORMAT_H

#include "decode/delta.h"
#include "decode/message.h"

enum nq_coord {
	NQ_COORD_13_3, /* i16, eighths */
	NQ_COORD_F32,
	NQ_COORD_28_4, /* i32, sixteenths */
	NQ_COORD_24, /* i16 and u8, 255ths */
	NQ_COORD_16, /* i16, whole units */
	NQ_COORDS
};

enum nq_angle {
	NQ_ANGLE_8, /* i8, 256 to the turn */
	NQ_ANGLE_16,
	NQ_ANGLE_F32, /* degrees */
	NQ_ANGLES
};

enum nq_trait {
	NQ_WIDE_MODELS = 1 << 0, /* BJP: u16 model indices */
	NQ_WIDE_SOUNDS = 1 << 1, /* BJP2, BJP3: u16 sound indices */
	NQ_FITZ = 1 << 2, /* 666 and 999: bit 15 of updates and client data extends */
	NQ_QUAKEDP = 1 << 3, /* DarkPlaces' extensions of protocol 15 */
	NQ_NEHAHRA = 1 << 4, /* bit 15 of updates: transparency */
	NQ_DP = 1 << 5, /* DP1 and later: entities come in frames */
	NQ_DP_STATS = 1 << 6, /* DP6 and later: stats apart, large moves */
	NQ_DP_NUMBERS = 1 << 7, /* DP7 and later: moves have numbers */
	NQ_DP_REASON = 1 << 8, /* DP8: disconnect has a reason */
	NQ_DP_OLD = 1 << 9, /* DP1 to DP4: older frames of entities */
	NQ_DP_SOUND2 = 1 << 10, /* DP1 to DP3: svc 54 is a sound */
	NQ_RMQ = 1 << 11, /* 999: flags follow the protocol's number */
	NQ_LONG_TEXTS = 1 << 12, /* more than 2047 bytes are read */
	NQ_ENHANCED = 1 << 13, /* the edition of 2021 */
};

/* PEXT1 and PEXT2, by FTE, on top of any of these. */
#define NQ_PEXT1_FLOATCOORDS 0x8000U
enum nq_pext2 {
	NQ_PRYDONCURSOR = 1 << 0,
	NQ_VOICECHAT = 1 << 1,
	NQ_SETANGLEDELTA = 1 << 2,
	NQ_REPLACEMENTDELTAS = 1 << 3,
	NQ_PREDINFO = 1 << 5,
	NQ_NEWSIZEENCODING = 1 << 6,
	NQ_VRINPUTS = 1 << 9,
	NQ_LERPTIME = 1 << 10,
};

/* How a move's angles come. */
enum nq_move {
	NQ_MOVE_8,
	NQ_MOVE_16,
	NQ_MOVE_F32,
};

struct nq_rows_of {
	const struct delta_row *rows;
	size_t count;
};

/* Flags of protocol 999, behind its number in serverinfo. */
#define RMQ_SHORTANGLE	  0x02U
#define RMQ_FLOATANGLE	  0x04U
#define RMQ_24BITCOORD	  0x08U
#define RMQ_FLOATCOORD	  0x10U
#define RMQ_INT32COORD	  0x80U
#define RMQ_MOREFLAGS	  0x80000000U
#define RMQ_COORDS	  (RMQ_24BITCOORD | RMQ_FLOATCOORD | RMQ_INT32COORD)
#define RMQ_OF_QUAKESPASM (RMQ_SHORTANGLE | RMQ_INT32COORD)

struct nq_dialect {
	const char *name; /* as r->dialect */
	uint32_t protocol; /* as svc_serverinfo has it */
	uint32_t flags; /* NQ_RMQ: those that are tried when serverinfo was not seen */
	uint32_t traits; /* enum nq_trait */
	uint8_t coord, angle; /* enum nq_coord, nq_angle; NQ_RMQ: by the flags */
	uint8_t move; /* enum nq_move; NQ_RMQ: by the flags */
	bool untested; /* no recording of it was at hand; NQ_RMQ: by the flags */
	const struct op *svc, *clc; /* of 256 */
	struct nq_rows_of update; /* behind the fields of every update */
	struct nq_rows_of clientdata;
};

/* In the order in which they are tried; ended by NULL, at most 32. */
extern const struct nq_dialect *const nq_dialects[];
extern const struct nq_dialect nq_quake15, nq_fitzquake, nq_rmq_quakespasm, nq_rmq_plain;

/* The layout of the wire's numbers that is in force now. */
struct nq_format {
	const struct nq_dialect *dialect;
	uint32_t flags; /* NQ_RMQ */
	uint32_t pext1, pext2;
	uint8_t coord, angle, move;
	bool untested; /* as of the dialect, or extensions are */
};

/*
 * Fill in the layout of @dialect with these flags and extensions. False: the flags
 * contradict each other, or are not known.
 */
bool nq_format_of(const struct nq_dialect *dialect, uint32_t flags, uint32_t pext1,
		  uint32_t pext2, struct nq_format *ret);

static inline bool nq_has(const struct nq_format *f, uint32_t traits)
{
	return f->dialect->traits & traits;
}

/* --- single values ----------------------------------------------------------------- */

/* Read a coordinate in game units, by the width that @f says. */
double nq_coord(struct reader *rd, const struct nq_format *f);
/* Read an angle in degrees, by the width that @f says. */
double nq_angle(struct reader *rd, const struct nq_format *f);

/*
 * Read an angle in degrees that is never a byte: i16, but f32 where 999 has float angles.
 */
double nq_angle16(struct reader *rd, const struct nq_format *f);
/* Read an entity's number. */
uint32_t nq_entity(struct reader *rd, const struct nq_format *f);
/*
 * Read a number as FTE writes it: the leading ones of the first byte count the bytes
 * that follow.
 */
uint64_t nq_vlq(struct reader *rd);
/*
 * Read a number of seven bits per byte, the low ones first; five bytes at most, else
 * the reader fails.
 */
uint32_t nq_uleb(struct reader *rd);
/* Read v from the same number of 2 v, or of -1 - 2 v where v is negative. */
int32_t nq_zigzag(struct reader *rd);

#endif /* NQ_FORMAT_H */
