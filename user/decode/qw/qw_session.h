/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qw_session.h - what is remembered of a QuakeWorld connection or recording.
 *
 * The terms (which layouts hold) come from svc_serverdata alone. The entity frames are
 * kept for one question: was the frame seen that a delta builds on? So a frame is a set
 * of numbers; what stood in the fields is said when it is read, and not kept.
 */
#ifndef QW_SESSION_H
#define QW_SESSION_H

#include "decode/evidence.h"
#include "decode/family.h"
#include "decode/netchan.h"

/* PEXT1, "FTEX": those that change a layout. */
#define QW_FTE_SCALE		 0x2U
#define QW_FTE_TRANS		 0x8U
#define QW_FTE_FATNESS		 0x100U
#define QW_FTE_HULLSIZE		 0x800U
#define QW_FTE_ENTITYDBL	 0x2000U
#define QW_FTE_ENTITYDBL2	 0x4000U
#define QW_FTE_FLOATCOORDS	 0x8000U
#define QW_FTE_COLOURMOD	 0x80000U
#define QW_FTE_SPLITSCREEN	 0x100000U
#define QW_FTE_256PACKETENTITIES 0x1000000U
#define QW_FTE_CHUNKEDDOWNLOADS	 0x20000000U

/* PEXT2, "FTE2". */
#define QW_FTE2_VOICECHAT	  0x2U
#define QW_FTE2_REPLACEMENTDELTAS 0x8U
#define QW_FTE2_MAXPLAYERS	  0x10U
#define QW_FTE2_PREDINFO	  0x20U
#define QW_FTE2_NEWSIZEENCODING	  0x40U
#define QW_FTE2_STUNAWARE	  0x100U
#define QW_FTE2_VRINPUTS	  0x200U
#define QW_FTE2_LERPTIME	  0x400U

/* "MVD1". */
#define QW_MVD_FLOATCOORDS	0x1U
#define QW_MVD_HIGHLAGTELEPORT	0x2U
#define QW_MVD_HIDDEN		0x20U
#define QW_MVD_WEAPONPREDICTION 0x80U

/* Which layouts hold. Zero: protocol 28 as it was in 1996. */
struct qw_terms {
	uint32_t fte, fte2, mvd; /* masks */
	uint8_t protocol; /* 24..28; 0: svc_serverdata was not seen */
	bool recording; /* an .mvd: the layouts of the server's own demos */
};

#define QW_ENTITIES  2048 /* numbers of entities, without replacement deltas */
#define QW_WHOLE_MAX 32768 /* FTE's replacement deltas: entities that are followed */
#define QW_FRAMES    64 /* that a delta may refer to */

struct qw_frame {
	uint32_t sequence; /* of the server's message that it came in */
	bool stored;
	bool whole; /* all frames that it builds on were seen */
	bool guessed; /* but not a baseline of an entity in it */
	bool doubted; /* its map may be another than the one that is known, */
	bool leans; /* and entities of it come from baselines */
	uint16_t count;
	uint64_t present[QW_ENTITIES / 64];
};

#define QW_NAME_MAX   128 /* bytes of the name of a download */
#define QW_STYLES     255 /* of FTE's custom temporary entities */
#define QW_DEMOINFO   (1 << 20) /* bytes of JSON in a recording */
#define QW_MOVE_BYTES 60 /* at most so many of a move are under its checksum */

/*
 * State of a game: allocated when the first message with something to remember is right.
 */
struct qw_game {
	struct qw_frame frames[QW_FRAMES];
	uint64_t baseline[QW_ENTITIES / 64]; /* by number: it has one */
	/*
	 * FTE's replacement deltas tell what changed in an entity since the client had
	 * it, or with a reset what differs from its baseline. A bit is set for each
	 * entity of known state; beyond QW_WHOLE_MAX there is none.
	 */
	uint64_t whole[QW_WHOLE_MAX / 64];
	uint32_t newest; /* frame of a recording, */
	uint8_t from; /* and what the last delta says that it is to */
	bool has_from;
	uint8_t wholes; /* frames that were to nothing since that delta */
	bool players_seen; /* of a recording: a player was, on this map, */
	bool players_whole; /* and the first that was seen as a whole */
	uint8_t style[QW_STYLES]; /* of custom temporary entities, */
	uint8_t style_known[QW_STYLES]; /* if it was registered */
};

struct qw_session {
	struct netchan_side side[2]; /* by direction: [0] c2s */
	struct netchan_late late[2]; /* likewise */
	bool strange; /* the datagram in hand may be of another connection */
	struct qw_terms terms;
	uint32_t servercount;
	bool has_slot;
	uint8_t slot; /* of the client that receives */
	uint16_t qport;
	bool has_qport;
	bool connecting; /* connect was seen, and no acceptance since: */
	uint16_t qport_next; /* its qport */
	uint32_t offered, asked; /* of the netchan's variants, enum qw_variant */
	struct netchan_slices slices[2];
	struct netchan_proof proof;
	struct evidence_join join; /* the map of the baselines in @game */
	struct evidence updates; /* what game->whole says holds */
	struct qw_game *game;
	/* The download in progress. */
	uint8_t download[QW_NAME_MAX];
	uint8_t download_n;
	bool block_wanted; /* the next block is not the last one again */
	bool packets; /* a .qwd: what a client got, without what it said */
	/* A recording's embedded JSON, so far. */
	uint8_t *info;
	size_t info_n, info_room;
	int32_t info_next; /* the number of the block that must come */
	bool info_broken;
	uint32_t guess; /* which terms were taken while svc_serverdata is unseen */
};

enum qw_variant {
	QW_VARIANT_FRAG = 1,
	QW_VARIANT_HUFF = 2,
	QW_VARIANT_STUN = 4, /* FTE2's STUNAWARE: words of the header big-endian */
};

/* Return the bytes that @state takes, its own size included; as family.takes. */
size_t qw_session_takes(const void *state);
/* Free what @state has allocated, but not @state; as family.drop. */
void qw_session_drop(void *state);

/* Begin a new connection: nothing is left of the last one but what words have said. */
void qw_session_start(struct qw_session *s);

/* Return the game, zeroed when it is handed out; NULL: no memory. */
struct qw_game *qw_session_game(struct qw_session *s);

/* Note that entity @number has a baseline. */
void qw_session_baseline(struct qw_session *s, unsigned int number);

/* Note that the frame of message @sequence is a difference to that of message @base. */
void qw_session_differs(struct qw_session *s, uint32_t base, uint32_t sequence);

/* Return "quakeworld-28" or its like, with the kind of extensions. A constant string. */
const char *qw_dialect(const struct qw_terms *terms);
/* Return true if the terms have extensions of which no recording was ever at hand. */
bool qw_is_untested(const struct qw_terms *terms);

/*
 * Decode one datagram or one packet of a .qwd (qw_channel.c): sets kind, status, fields
 * and facts of @r.
 */
void qw_datagram(struct qw_session *s, enum direction direction, struct span payload,
		 struct record *r);

/* Decode one block of a recording (qw_demo.c). @state: a struct qw_session. */
void qw_demo(void *state, const struct demo_block *block, struct record *r);

#endif /* QW_SESSION_H */
