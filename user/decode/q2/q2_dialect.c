// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * q2_dialect.c - see q2_dialect.h.
 *
 *	svc_serverdata: i32 protocol, i32 spawncount, u8 attractloop, gamedir, i16
 *	playernum, levelname;
 *	35: u8 enhanced, u16 minor, u8 advanced deltas, u8 strafejump
 *	36: u16 minor, u8 serverstate; from 1024 u16 flags, before u8 strafejump, u8 qw
 *	mode, u8 waterjump
 *
 * Sources: Quake-2 client/cl_parse.c; r1q2 client/cl_parse.c; q2pro src/client/parse.c,
 * inc/common/protocol.h.
 */
#include "decode/q2/q2_dialect.h"

#define ENTITIES	   1024
#define ENTITIES_EXTENDED  8192
#define CONFIGSTRINGS	   2080
#define CONFIGSTRINGS_MORE 13630

static const struct q2_strings plain = { 29, 30, 32, 1312 };
static const struct q2_strings extended = { 59, 60, 62, 12862 };

static void of_r1q2(unsigned int minor, struct q2_dialect *d)
{
	d->name = "r1q2-35";
	d->enhanced = true;
	d->solid32 = minor >= 1905;
}

static void of_q2pro(unsigned int minor, unsigned int flags, struct q2_dialect *d)
{
	d->name = "q2pro-36";
	d->enhanced = true;
	d->q2pro = true;
	d->solid32 = true;
	d->angle16 = minor >= 1018;
	d->extensions = flags & Q2_FLAG_EXTENSIONS;
	d->extensions2 = d->extensions && flags & Q2_FLAG_EXTENSIONS_2;
	d->fog = d->extensions2 && minor >= 1026;
}

bool q2_dialect_of(int32_t protocol, unsigned int minor, unsigned int flags,
		   struct q2_dialect *ret)
{
	struct q2_dialect d = { .protocol = (uint16_t)protocol,
				.minor = (uint16_t)minor };

	if (protocol >= 31 && protocol <= 34)
		d.name = "quake2-34";
	else if (protocol == 26)
		d.name = "quake2-26";
	else if (protocol == 35)
		of_r1q2(minor, &d);
	else if (protocol == 36)
		of_q2pro(minor, flags, &d);
	else if (protocol >= 3434 && protocol <= 3436) {
		d.name = "q2pro-3434";
		d.extensions = d.solid32 = d.angle16 = true;
		d.extensions2 = protocol >= 3435;
		d.fog = protocol >= 3436;
	} else {
		return false;
	}
	*ret = d;
	return true;
}

static void tail_r1q2(struct reader *rd, struct q2_serverdata *s)
{
	s->enhanced = reader_u8(rd);
	s->minor = reader_le16(rd);
	s->switches = (struct span){ reader_take(rd, 2), 2 };
	if (s->switches.bytes && s->switches.bytes[1])
		s->flags = Q2_FLAG_STRAFEJUMP;
}

static void tail_q2pro(struct reader *rd, struct q2_serverdata *s)
{
	s->minor = reader_le16(rd);
	s->serverstate = reader_u8(rd);
	if (s->minor >= 1024) {
		s->flags = reader_le16(rd);
		return;
	}
	s->switches = (struct span){ reader_take(rd, 3), 3 };
	for (int i = 0; s->switches.bytes && i < 3; i++)
		if (s->switches.bytes[i])
			s->flags |= Q2_FLAG_STRAFEJUMP << i;
}

bool q2_serverdata_read(struct reader *rd, unsigned int asked, struct q2_serverdata *ret,
			struct q2_dialect *dialect)
{
	struct q2_serverdata s = { .protocol = (int32_t)reader_le32(rd) };
	unsigned int minor;

	*ret = s;
	if (!q2_dialect_of(s.protocol, 0, 0, dialect))
		return false;
	s.spawncount = (int32_t)reader_le32(rd);
	s.attractloop = reader_u8(rd);
	s.gamedir = reader_string(rd);
	s.playernum = (int16_t)reader_le16(rd);
	s.levelname = reader_string(rd);
	if (s.protocol == 35)
		tail_r1q2(rd, &s);
	else if (s.protocol == 36)
		tail_q2pro(rd, &s);
	/* R1Q2 servers say the highest that they know. */
	minor = asked && asked < s.minor ? asked : s.minor;
	q2_dialect_of(s.protocol, minor, s.flags, dialect);
	dialect->server_demo = s.attractloop == 2 && !dialect->enhanced;
	*ret = s;
	return true;
}

unsigned int q2_configstrings(const struct q2_dialect *d)
{
	return d->extensions ? CONFIGSTRINGS_MORE : CONFIGSTRINGS;
}

unsigned int q2_entities(const struct q2_dialect *d)
{
	return d->extensions ? ENTITIES_EXTENDED : ENTITIES;
}

const struct q2_strings *q2_strings(const struct q2_dialect *d)
{
	return d->extensions ? &extended : &plain;
}
