// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * nq_control.c - see nq_control.h.
 *
 *	+----+----+---------+----+---- ... --+
 *	| 80 | 00 | length  | op | fields    |
 *	+----+----+---------+----+---- ... --+
 *
 * The header is big-endian, all behind it is little-endian.
 * Sources: Quake WinQuake/net.h, net_dgrm.c; Quakespasm net_dgrm.c; darkplaces netconn.c.
 */
#include "decode/nq/nq_control.h"

#define PROQUAKE_MOD 1

static void field_string(struct reader *rd, const char *key, struct record *r)
{
	struct span s = reader_string(rd);

	record_string(r, key, s.bytes, s.n);
}

/* 0: none is asked for. */
static void field_mod_password(struct reader *rd, struct record *r)
{
	int32_t password = (int32_t)reader_le32(rd);

	if (r->secrets || !password)
		record_int(r, "mod_password", password);
	else
		record_secret(r, "mod_password", &password, sizeof(password));
}

/* str game, u8 version [, ProQuake: u8 mod, u8 version, u8 flags, i32 password] */
static void ccreq_connect(struct reader *rd, struct record *r)
{
	field_string(rd, "game", r);
	record_uint(r, "version", reader_u8(rd));
	if (reader_failed(rd) || !reader_left(rd))
		return;
	record_uint(r, "mod", reader_u8(rd));
	record_uint(r, "mod_version", reader_u8(rd));
	record_uint(r, "mod_flags", reader_u8(rd));
	field_mod_password(rd, r);
	/* FTE offers its own protocol too. */
	if (!reader_failed(rd) && reader_left(rd))
		field_string(rd, "extension", r);
}

static void ccreq_server_info(struct reader *rd, struct record *r)
{
	field_string(rd, "game", r);
	record_uint(r, "version", reader_u8(rd));
}

static void ccreq_player_info(struct reader *rd, struct record *r)
{
	record_uint(r, "player", reader_u8(rd));
}

static void ccreq_rule_info(struct reader *rd, struct record *r)
{
	field_string(rd, "previous", r);
}

static void ccreq_rcon(struct reader *rd, struct record *r)
{
	struct span password = reader_string(rd);

	record_secret(r, "password", password.bytes, password.n);
	field_string(rd, "command", r);
}

/* Quake Enhanced: nothing. Others: i32 port [, u8 mod [, u8 version, u8 flags]] */
static void ccrep_accept(struct reader *rd, struct record *r)
{
	if (!reader_left(rd))
		return;
	record_int(r, "port", (int32_t)reader_le32(rd));
	if (reader_failed(rd) || !reader_left(rd))
		return;
	record_uint(r, "mod", reader_u8(rd));
	if (!reader_left(rd))
		return;
	record_uint(r, "mod_version", reader_u8(rd));
	if (reader_left(rd))
		record_uint(r, "mod_flags", reader_u8(rd));
}

static void ccrep_reject(struct reader *rd, struct record *r)
{
	field_string(rd, "text", r);
}

static void ccrep_server_info(struct reader *rd, struct record *r)
{
	field_string(rd, "address", r);
	field_string(rd, "hostname", r);
	field_string(rd, "map", r);
	record_uint(r, "players", reader_u8(rd));
	record_uint(r, "maxplayers", reader_u8(rd));
	record_uint(r, "version", reader_u8(rd));
}

static void ccrep_player_info(struct reader *rd, struct record *r)
{
	int32_t colors;

	record_uint(r, "player", reader_u8(rd));
	field_string(rd, "name", r);
	colors = (int32_t)reader_le32(rd);
	record_uint(r, "shirt", colors >> 4 & 15);
	record_uint(r, "pants", colors & 15);
	record_int(r, "colors", colors);
	record_int(r, "frags", (int32_t)reader_le32(rd));
	record_int(r, "seconds", (int32_t)reader_le32(rd));
	field_string(rd, "address", r);
}

/* Nothing, or two empty strings from FTE: the list is at its end. */
static void ccrep_rule_info(struct reader *rd, struct record *r)
{
	if (!reader_left(rd))
		return;
	field_string(rd, "name", r);
	field_string(rd, "value", r);
}

static const struct {
	uint8_t op;
	const char *kind;
	void (*parse)(struct reader *rd, struct record *r);
} controls[] = {
	{ 0x01, "ccreq-connect", ccreq_connect },
	{ 0x02, "ccreq-server-info", ccreq_server_info },
	{ 0x03, "ccreq-player-info", ccreq_player_info },
	{ 0x04, "ccreq-rule-info", ccreq_rule_info },
	{ 0x05, "ccreq-rcon", ccreq_rcon },
	{ 0x81, "ccrep-accept", ccrep_accept },
	{ 0x82, "ccrep-reject", ccrep_reject },
	{ 0x83, "ccrep-server-info", ccrep_server_info },
	{ 0x84, "ccrep-player-info", ccrep_player_info },
	{ 0x85, "ccrep-rule-info", ccrep_rule_info },
	{ 0x86, "ccrep-rcon", ccrep_reject },
};

void nq_control(struct reader *rd, struct record *r)
{
	uint8_t op = reader_u8(rd);

	for (size_t i = 0; i < sizeof(controls) / sizeof(*controls); i++) {
		if (controls[i].op != op)
			continue;
		r->kind = controls[i].kind;
		controls[i].parse(rd, r);
		if (reader_failed(rd))
			record_malformed(r, "control fields cut short");
		else if (reader_left(rd))
			record_malformed(r, "bytes after the control fields");
		return;
	}
	r->kind = "malformed";
	record_uint(r, "op", op);
	record_malformed(r, "unknown control opcode");
}
