/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * oob.h - out-of-band datagrams: FF FF FF FF, a word, its arguments.
 *
 * One table of words for all families, since they share most of them; which family is
 * meant is told by the word, by the shape of what follows it, and, where both are silent
 * (`getchallenge`, `ping`, `rcon`), by what else is known of the two addresses.
 *
 *	oob_recognise	bytes -> row, candidate families
 *	oob_decode	bytes + row + family -> fields on a record
 */
#ifndef OOB_H
#define OOB_H

#include "lib/reader.h"
#include "lib/record.h"

#define OOB_MARKER    4 /* bytes of FF in front of a word */
#define OOB_PLAIN_MAX 4096 /* of a decompressed connect */

#define IN_NQ	      (1U << FAMILY_NETQUAKE)
#define IN_QW	      (1U << FAMILY_QUAKEWORLD)
#define IN_Q2	      (1U << FAMILY_QUAKE2)
#define IN_Q3	      (1U << FAMILY_QUAKE3)
#define IN_NONE	      0U /* Valve, GoldSrc, Doom 3: on the same marker, none of ours */

struct oob {
	const uint8_t *payload; /* whole, marker too */
	size_t n;
	const struct oob_row *row; /* NULL: no such word */
	unsigned int candidates; /* families, by word and shape */
	bool canonical; /* spelled as every client spells it */
	struct span arguments; /* all that follows the word */
	enum wire_family family; /* decided, for oob_decode() */
	struct span learnt; /* what family.word is to see */
	uint8_t plain[OOB_PLAIN_MAX];
};

typedef void oob_parse(struct oob *oob, struct record *r);
/* Narrows oob->candidates by what follows the word; 0: it is not this word at all. */
typedef unsigned int oob_shape(const struct oob *oob);

struct oob_row {
	enum wire_kind kind;
	const char *word; /* as it is spelled */
	const char *label; /* its kind in records */
	unsigned int families;
	enum direction direction;
	enum wire_family fallback; /* when nothing tells which of them is meant */
	oob_parse *parse;
	oob_shape *shape; /* or NULL */
};

static inline bool oob_marked(const uint8_t *payload, size_t n)
{
	uint32_t marker;

	if (n < OOB_MARKER)
		return false;
	memcpy(&marker, payload, sizeof(marker));
	return marker == 0xffffffff;
}

/*
 * Find the row of the word of @payload, which must be oob_marked(), and the families that
 * have it.
 */
void oob_recognise(const uint8_t *payload, size_t n, struct oob *ret);

/*
 * Return the family that a reply names itself, for what else this address sends: an
 * infoResponse of DarkPlaces is a word of quake3, but its server is a netquake one.
 */
enum wire_family oob_owner(const struct oob *oob, enum wire_family family);

/* Return the likeliest of the candidates, for when nothing tells which is meant. */
enum wire_family oob_fallback(const struct oob *oob);

/* Set kind, status and fields of the record. */
void oob_decode(struct oob *oob, struct record *r);

/* All rows, for tests and dictionaries. */
extern const struct oob_row oob_rows[];
extern const size_t oob_rows_count;

/* The parsers, by what they are about. */
oob_parse oob_none, oob_text, oob_arguments; /* oob_text.c */
oob_parse oob_query, oob_info_response, oob_status_response, oob_print; /* oob_query.c */
oob_parse oob_status, oob_info, oob_gamecomplete;
oob_parse oob_getchallenge, oob_challenge, oob_challenge_response; /* oob_connect.c */
oob_parse oob_connect, oob_connect_response, oob_client_connect, oob_reject;
oob_parse oob_key_step;
oob_parse oob_rcon, oob_srcon, oob_heartbeat, oob_getservers; /* oob_master.c */
oob_parse oob_getserversext, oob_servers_response, oob_servers, oob_motd;
oob_parse oob_key_authorize, oob_ip_request, oob_ip_authorize;
oob_parse oob_qw_challenge, oob_qw_print, oob_qw_command, oob_qw_servers; /* oob_qw.c */
oob_parse oob_qw_chunk, oob_qw_log, oob_qw_ip;

/*
 * Put the lines of a status response, after its info string, on the record; there is no
 * NUL in them. Shared by the parsers above.
 */
void oob_players(struct span lines, enum wire_family family, struct record *r);

#endif /* OOB_H */
