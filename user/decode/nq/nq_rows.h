/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * nq_rows.h - the field that each bit of NetQuake's flags brings, as rows of
 * decode/delta.h. Constants only, used by nq_update.c, nq_world.c and Quake Enhanced.
 *
 * Read an update as model, nq_places[coord][angle].update, the dialect's tail; a baseline
 * as nq_look or nq_look16, nq_places[coord][angle].spot.
 */
#ifndef NQ_ROWS_H
#define NQ_ROWS_H

#include "decode/nq/nq_format.h"

/* Places in a state of NQ_FIELDS. A value that two bytes bring apart has two places. */
enum nq_field {
	NQ_F_MODEL,
	NQ_F_FRAME,
	NQ_F_COLORMAP,
	NQ_F_SKIN,
	NQ_F_EFFECTS,
	NQ_F_ORIGIN,
	NQ_F_ANGLES = NQ_F_ORIGIN + 3,
	NQ_F_MODEL_HIGH = NQ_F_ANGLES + 3,
	NQ_F_FRAME_HIGH,
	NQ_F_EFFECTS_HIGH,
	NQ_F_ALPHA,
	NQ_F_SCALE,
	NQ_F_LERPFINISH,
	NQ_F_GLOWSIZE,
	NQ_F_GLOWCOLOR,
	NQ_F_COLORMOD,
	NQ_F_FLAGS = NQ_F_COLORMOD + 3,
	NQ_F_TAG_ENTITY,
	NQ_F_TAG,
	NQ_F_LIGHT,
	NQ_F_LIGHTSTYLE = NQ_F_LIGHT + 4,
	NQ_F_LIGHTPFLAGS,
	NQ_F_GLOWMOD,
	NQ_F_TRAIL = NQ_F_GLOWMOD + 3,
	NQ_F_SOLID,
	NQ_F_ENTITYFLAGS,
	NQ_F_HEALTH,
	NQ_F_UNKNOWN, /* Quake Enhanced's bits 26 to 31; 10h to 80h of a baseline */
	NQ_F_UNKNOWN_END = NQ_F_UNKNOWN + 5,
	NQ_FIELDS
};

/* And of a player's own data. */
enum nq_own {
	NQ_O_VIEWHEIGHT,
	NQ_O_IDEALPITCH,
	NQ_O_PUNCHANGLE,
	NQ_O_PUNCHVECTOR = NQ_O_PUNCHANGLE + 3,
	NQ_O_VELOCITY = NQ_O_PUNCHVECTOR + 3,
	NQ_O_ITEMS = NQ_O_VELOCITY + 3,
	NQ_O_WEAPONFRAME,
	NQ_O_ARMOR,
	NQ_O_WEAPON,
	NQ_O_HEALTH,
	NQ_O_AMMO,
	NQ_O_SHELLS,
	NQ_O_NAILS,
	NQ_O_ROCKETS,
	NQ_O_CELLS,
	NQ_O_ACTIVEWEAPON,
	NQ_O_HIGH, /* the high bytes of eight of these, in the order of nq_own_high */
	NQ_O_WEAPONALPHA = NQ_O_HIGH + 8,
	NQ_O_VIEWZOOM,
	NQ_O_ENTITYFLAGS,
	NQ_OWNS
};

struct nq_place {
	struct delta_row update[10]; /* from the frame to the third angle */
	struct delta_row spot[6]; /* of a baseline: coordinate and angle in turn */
};

extern const struct nq_place nq_places[NQ_COORDS][NQ_ANGLES];
extern const struct delta_row nq_model[1], nq_model_bjp[1];
/* Model, frame, colour map and skin of a baseline: forms A, BJP's A, C. */
extern const struct delta_row nq_look[4], nq_look_bjp[4], nq_look16[4];

/* Form B: by these flags. */
#define NQ_B_MODEL16 1U
#define NQ_B_FRAME16 2U
#define NQ_B_ALPHA   4U
#define NQ_B_SCALE   8U
extern const struct delta_row nq_look_fitz[6], nq_look_fitz_tail[2];

#define NQ_B_MODEL8 0x100U
#define NQ_B_FRAME8 0x200U

#define NQ_B_SOLID  8U /* Quake Enhanced has no scale there */
extern const struct delta_row nq_look_enhanced_tail[6];

extern const struct delta_row nq_update_fitz[5];
/* Bit 21 says that the origin, which stands before these rows, is of floats. */
extern const struct delta_row nq_update_enhanced[14];
extern const struct delta_row nq_update_quakedp[8];

extern const struct delta_row nq_clientdata_id[19], nq_clientdata_bjp[19];
extern const struct delta_row nq_clientdata_fitz[28];
/* By what nq_own_wants() makes of the flags. */
extern const struct delta_row nq_clientdata_enhanced15[22], nq_clientdata_enhanced[32];

/*
 * Return the flags for the rows of Quake Enhanced's client data: bit 8 of the wire's
 * @flags turns the three speeds into floats, which are rows of their own.
 */
uint64_t nq_own_wants(uint32_t flags);
extern const struct delta_row nq_clientdata_quakedp[23];
extern const struct delta_row nq_clientdata_dp1[23], nq_clientdata_dp2[23];
extern const struct delta_row nq_clientdata_dp5[23], nq_clientdata_dp6[13];

/*
 * DarkPlaces' entity frames, DP5 and later, by what nq_e5_wants() makes of their bits:
 * nq_e5, an animation if there is one, nq_e5_tail.
 */
extern const struct delta_row nq_e5[40], nq_e5_tail[1];
#define NQ_E5_RESET	(1U << 0)
#define NQ_E5_ANIMATION (1U << 25)
#define NQ_E5_ILLEGAL	0x78000000U

/*
 * Return the flags for the rows of nq_e5 and nq_e5_tail: one flag per field and width,
 * made of the wire's @bits.
 */
uint32_t nq_e5_wants(uint32_t bits);

#define NQ_COUNT(rows) (sizeof(rows) / sizeof(*(rows)))
#define NQ_ROWS(rows)                  \
	{                              \
		(rows), NQ_COUNT(rows) \
	}

#endif /* NQ_ROWS_H */
