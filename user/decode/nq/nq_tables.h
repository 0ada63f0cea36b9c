/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * nq_tables.h - the ops of NetQuake, one parser each. All tables are made of these; one
 * that is not NetQuake's (Quake Enhanced) takes what it shares with NQ_SVC_SHARED and
 * adds its own.
 */
#ifndef NQ_TABLES_H
#define NQ_TABLES_H

#include "decode/nq/nq_message.h"

extern const struct op nq_svc_id[256], nq_svc_nehahra[256], nq_svc_fitz[256];
extern const struct op nq_svc_dp[256];
extern const struct op nq_clc_id[256], nq_clc_dp[256];

/* Return the 256 ops of a server's messages: the dialect's, or those with FTE's. */
const struct op *nq_svc_of(const struct nq_format *f);
/* Return the 256 ops of a client's messages, likewise. */
const struct op *nq_clc_of(const struct nq_format *f);

/* nq_svc.c: texts, numbers, the signon. */
op_parse nq_op_disconnect, nq_op_updatestat, nq_op_version, nq_op_setview, nq_op_time;
op_parse nq_op_text, nq_op_print, nq_op_stufftext, nq_op_setangle, nq_op_serverinfo;
op_parse nq_op_lightstyle, nq_op_updatename, nq_op_updatefrags, nq_op_updatecolors;
op_parse nq_op_setpause, nq_op_signonnum, nq_op_cdtrack;
op_parse nq_op_fog;
op_parse nq_op_achievement, nq_op_localsound;

/* nq_world.c: what is in the world. */
op_parse nq_op_update, nq_op_clientdata, nq_op_sound, nq_op_stopsound, nq_op_particle;
op_parse nq_op_damage, nq_op_spawnstatic, nq_op_spawnbaseline, nq_op_spawnbaseline_b;
op_parse nq_op_spawnstatic_b, nq_op_spawnbaseline_c, nq_op_spawnstatic_c;
op_parse nq_op_spawnstaticsound, nq_op_spawnstaticsound2, nq_op_effect, nq_op_effect2;
op_parse nq_op_trailparticles, nq_op_pointparticles, nq_op_pointparticles1;
op_parse nq_op_temp_entity; /* nq_temp.c */

op_parse nq_op_entities; /* nq_entities.c */
op_parse nq_op_csqcentities, nq_op_cgamepacket, nq_op_sized; /* nq_csqc.c */

/* nq_fte.c */
op_parse nq_op_updateentities, nq_op_fte_spawnbaseline, nq_op_fte_spawnstatic;
op_parse nq_op_fte_move;

/* nq_clc.c */
op_parse nq_op_move, nq_op_stringcmd;
op_parse nq_op_clc_disconnect;

/* Those that no dialect changes; all 128 fast updates are one op. */
#define NQ_SVC_SHARED                                                                    \
	[1] = { "nop", NULL, 0 }, [3] = { "updatestat", nq_op_updatestat, 0 },           \
	[4] = { "version", nq_op_version, 0 }, [5] = { "setview", nq_op_setview, 0 },    \
	[6] = { "sound", nq_op_sound, 0 }, [7] = { "time", nq_op_time, 0 },              \
	[8] = { "print", nq_op_print, 0 }, [9] = { "stufftext", nq_op_stufftext, 0 },    \
	[10] = { "setangle", nq_op_setangle, 0 },                                        \
	[12] = { "lightstyle", nq_op_lightstyle, 0 },                                    \
	[13] = { "updatename", nq_op_updatename, 0 },                                    \
	[14] = { "updatefrags", nq_op_updatefrags, 0 },                                  \
	[16] = { "stopsound", nq_op_stopsound, 0 },                                      \
	[17] = { "updatecolors", nq_op_updatecolors, 0 },                                \
	[18] = { "particle", nq_op_particle, 0 }, [19] = { "damage", nq_op_damage, 0 },  \
	[20] = { "spawnstatic", nq_op_spawnstatic, 0 },                                  \
	[22] = { "spawnbaseline", nq_op_spawnbaseline, 0 },                              \
	[23] = { "temp_entity", nq_op_temp_entity, 0 },                                  \
	[24] = { "setpause", nq_op_setpause, 0 },                                        \
	[25] = { "signonnum", nq_op_signonnum, 0 }, [27] = { "killedmonster", NULL, 0 }, \
	[28] = { "foundsecret", NULL, 0 },                                               \
	[29] = { "spawnstaticsound", nq_op_spawnstaticsound, 0 },                        \
	[30] = { "intermission", NULL, 0 }, [31] = { "finale", nq_op_text, 0 },          \
	[32] = { "cdtrack", nq_op_cdtrack, 0 }, [33] = { "sellscreen", NULL, 0 },        \
	[34] = { "cutscene", nq_op_text, 0 }

#endif /* NQ_TABLES_H */
