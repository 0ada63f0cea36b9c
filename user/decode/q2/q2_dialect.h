/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * q2_dialect.h - which of Quake II's protocols a connection or recording speaks.
 *
 *	26..34		id's; below 34 in recordings only, 26 without the count of
 *			suppressed frames
 *	35, 36		R1Q2 and Q2PRO: frames packed otherwise, zlib, settings
 *	37		Q2PRO's multi-view recordings (.mvd2)
 *	3434..3436	Q2PRO's recordings with more entities, in frames like 34's
 */
#ifndef Q2_DIALECT_H
#define Q2_DIALECT_H

#include "lib/reader.h"

#define Q2_PROTOCOL_MVD	     37
#define Q2_OLDEST_SERVERDATA 7 /* svc_serverdata before protocol 26; later it is 12 */

struct q2_dialect {
	const char *name; /* of the record; NULL: not known yet */
	uint16_t protocol;
	uint16_t minor; /* of 35, 36 and 37 */
	bool enhanced; /* frames of 35 and 36 */
	bool q2pro; /* 36 */
	bool extensions; /* more of all: Q2PRO's EXTENSIONS */
	bool extensions2; /* places of 23 bits: its EXTENSIONS_2 */
	bool fog; /* and a third byte of a player's flags */
	bool solid32;
	bool angle16;
	bool server_demo; /* recorded by a server: frames hold entities alone */
};

/* The fields of svc_serverdata, behind its opcode. */
struct q2_serverdata {
	int32_t protocol;
	int32_t spawncount;
	uint8_t attractloop;
	struct span gamedir, levelname;
	int16_t playernum;
	uint16_t minor;
	uint8_t serverstate;
	uint8_t enhanced; /* of 35; no server says anything but 0 */
	uint16_t flags;
	struct span switches; /* bytes that are true or false: of 35, of 36 below 1024 */
};

/* Q2PRO's flags in svc_serverdata. */
enum {
	Q2_FLAG_STRAFEJUMP = 1,
	Q2_FLAG_QW_MODE = 2,
	Q2_FLAG_WATERJUMP = 4,
	Q2_FLAG_EXTENSIONS = 8,
	Q2_FLAG_EXTENSIONS_2 = 16,
};

/*
 * Fill in the dialect of a protocol. False: no such protocol is known, and *@ret stays as
 * it is.
 */
bool q2_dialect_of(int32_t protocol, unsigned int minor, unsigned int flags,
		   struct q2_dialect *ret);

/*
 * Reads on as far as the protocol is known; the reader fails behind the end. @asked: the
 * minor version of the client's connect, 0: not seen.
 */
bool q2_serverdata_read(struct reader *rd, unsigned int asked, struct q2_serverdata *ret,
			struct q2_dialect *dialect);

/* Return the number below which every configstring's number is. */
unsigned int q2_configstrings(const struct q2_dialect *d);
/* Return the number below which every entity's number is. */
unsigned int q2_entities(const struct q2_dialect *d);

/* Configstrings with a place that depends on the dialect. */
struct q2_strings {
	uint16_t statusbar_end; /* behind the last piece of the status bar */
	uint16_t maxclients;
	uint16_t models; /* the one behind it is the map */
	uint16_t playerskins;
};

/* Return where dialect @d has its configstrings. A constant: nothing to free. */
const struct q2_strings *q2_strings(const struct q2_dialect *d);

#endif /* Q2_DIALECT_H */
