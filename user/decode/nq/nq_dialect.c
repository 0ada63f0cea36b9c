// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * nq_dialect.c - the dialects of NetQuake: which ops, traits and numbers each has. A new
 * one is a row here. See nq_format.h.
 *
 * Sources: Quake WinQuake/protocol.h; Quakespasm protocol.h; darkplaces protocol.c.
 */
#include "decode/nq/nq_rows.h"
#include "decode/nq/nq_tables.h"

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
