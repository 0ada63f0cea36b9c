// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * oob_qw.c - QuakeWorld's words of one letter, and mvdsv's chunks.
 *
 *	c[-]<digits> NUL { u32 id, u32 value }		challenge, extensions offered
 *	n <text> NUL					print; status answers begin with \
 *	n\chunk i32 id, u8 41, i32 number, 1024 bytes	a piece of a download
 *	B str command, str id				command for the own client
 *	d LF { IPv4, port big-endian }			list of a master
 *	log [sequence]					request for the log of frags
 *
 * Sources: Quake QW/client/cl_main.c, QW/server/sv_main.c; mvdsv src/sv_main.c,
 * src/sv_user.c; fteqw engine/server/sv_main.c.
 */
#include <arpa/inet.h>

#include "lib/info.h"
#include "decode/oob/oob_text.h"

#define CHUNK_BYTES 1024

/* id, value; or, for four ids of variable length, id, length, bytes. */
#define EXTENSION_VARIABLE 0x6e656c76

static void extension_pair(struct reader *rd, struct record *r)
{
	struct span id = { rd->pos, 4 }, bytes = { NULL, 0 };
	uint32_t raw = reader_le32(rd), value = reader_le32(rd), key = 0;

	if (raw == EXTENSION_VARIABLE) {
		bytes.n = value;
		key = reader_le32(rd);
		bytes.bytes = reader_take(rd, bytes.n);
	}
	if (reader_failed(rd))
		return;
	record_open_object(r, NULL);
	record_string(r, "id", id.bytes, id.n);
	if (bytes.bytes) {
		record_uint(r, "key", key);
		record_hex(r, "data", bytes.bytes, bytes.n);
	} else {
		record_uint(r, "value", value);
	}
	record_close(r);
}

void oob_qw_challenge(struct oob *oob, struct record *r)
{
	struct span digits, rest;
	struct reader rd;
	int64_t value;

	digits = line_take(oob->arguments, &rest);
	if (span_number(digits, &value))
		record_int(r, "challenge", value);
	else
		record_malformed(r, "challenge is not a number");
	rest = span_skip(rest, rest.n && *rest.bytes == '\n');
	rest = span_skip(rest, 1);
	rd = reader_of(rest.bytes, rest.n);
	record_open_array(r, "extensions");
	while (!reader_failed(&rd) && reader_left(&rd))
		extension_pair(&rd, r);
	record_close(r);
	if (reader_failed(&rd))
		record_malformed(r, "extension pair cut short");
}

/* A status answer is an info string (flag 1) and players, or players alone. */
static bool looks_like_players(struct span text)
{
	struct span line = line_take(text, &text), token;
	int64_t number;
	bool quoted;

	for (int i = 0; i < 4; i++)
		if (!token_next(&line, &token, &quoted) || quoted ||
		    (i != 1 && !span_number(token, &number)))
			return false;
	return token_next(&line, &token, &quoted) && quoted &&
	       token_next(&line, &token, &quoted) && quoted;
}

void oob_qw_print(struct oob *oob, struct record *r)
{
	struct span text = text_take(oob->arguments, r), info;

	if (oob->family == FAMILY_QUAKEWORLD && span_starts(text, "\\")) {
		info = line_take(text, &text);
		if (!record_info(r, "info", info.bytes, info.n))
			record_malformed(r, "not an info string");
		oob_players(span_skip(text, 1), FAMILY_QUAKEWORLD, r);
	} else if (oob->family == FAMILY_QUAKEWORLD && looks_like_players(text)) {
		oob_players(text, FAMILY_QUAKEWORLD, r);
	} else {
		record_string(r, "text", text.bytes, text.n);
	}
}

void oob_qw_chunk(struct oob *oob, struct record *r)
{
	struct reader rd = reader_of(oob->arguments.bytes, oob->arguments.n);
	struct span data;
	int32_t number;

	record_int(r, "download", (int32_t)reader_le32(&rd));
	if (reader_u8(&rd) != 41)
		record_malformed(r, "chunk is no svc_download");
	number = (int32_t)reader_le32(&rd);
	record_int(r, "chunk", number);
	data = reader_rest(&rd);
	record_uint(r, "bytes", data.n);
	if (data.n != CHUNK_BYTES)
		record_malformed(r, "chunk is not of 1024 bytes");
	else if (number < 0)
		record_malformed(r, "no such chunk of a download");
	else
		record_piece(r, &(struct record_piece){ .type = PIECE_AT,
							.offset = (uint64_t)number *
								  CHUNK_BYTES,
							.bytes = data.bytes,
							.n = data.n });
}

void oob_qw_command(struct oob *oob, struct record *r)
{
	struct reader rd = reader_of(oob->arguments.bytes, oob->arguments.n);
	struct span command = reader_string(&rd), id = reader_string(&rd);

	record_string(r, "command", command.bytes, command.n);
	record_string(r, "id", id.bytes, id.n);
	if (reader_failed(&rd))
		record_malformed(r, "string without its end");
	else if (reader_left(&rd))
		record_malformed(r, "bytes after the last argument");
}

void oob_qw_servers(struct oob *oob, struct record *r)
{
	struct span list = span_skip(oob->arguments, 1);
	char text[INET_ADDRSTRLEN];

	record_open_array(r, "servers");
	for (; list.n >= 6; list = span_skip(list, 6)) {
		if (!RECORD_WANTED(r))
			continue;
		inet_ntop(AF_INET, list.bytes, text, sizeof(text));
		record_open_object(r, NULL);
		record_string(r, "address", text, strlen(text));
		record_uint(r, "port", (uint64_t)(list.bytes[4] << 8 | list.bytes[5]));
		record_close(r);
	}
	record_close(r);
	if (list.n)
		record_malformed(r, "broken record in a server list");
}

void oob_qw_log(struct oob *oob, struct record *r)
{
	struct span line = oob->arguments;

	field_number(&line, "sequence", true, r);
	line_end(line, r);
}

/* ip <slot> <key>; FTE's realip is alike */
void oob_qw_ip(struct oob *oob, struct record *r)
{
	struct span line = oob->arguments;

	field_number(&line, "slot", false, r);
	field_number(&line, "key", false, r);
	line_end(line, r);
}
