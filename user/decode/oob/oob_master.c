// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * oob_master.c - masters, authorisation, and remote consoles.
 *
 *	heartbeat <word> LF
 *	heartbeat LF info LF { player LF }			(Quake II)
 *	getservers [gamename] <protocol> [filter...]
 *	getserversResponse { \ IPv4 port } \EOT NUL NUL NUL
 *	getserversExtResponse { \ IPv4 port | / IPv6 port } \EOT NUL NUL NUL
 *	servers { IPv4 port }					(Quake II)
 *	rcon <password> <command>
 *	srcon HMAC-MD4 TIME <16 bytes> <time> <command>
 *
 * Addresses and ports are big-endian. Sources: dpmaster doc/techinfo.txt; ioq3
 * code/client/cl_main.c CL_ServersResponsePacket; darkplaces netconn.c.
 */
#include <arpa/inet.h>

#include "lib/info.h"
#include "decode/oob/oob_text.h"

void oob_rcon(struct oob *oob, struct record *r)
{
	struct span line = text_take(oob->arguments, r), token;

	/* Without a password it is asked all the same, and refused. */
	if (token_next(&line, &token, NULL))
		record_secret(r, "password", token.bytes, token.n);
	while (line.n && *line.bytes == ' ')
		line = span_skip(line, 1);
	if (line.n && line.bytes[line.n - 1] == '\n')
		line.n--;
	record_string(r, "command", line.bytes, line.n);
}

void oob_srcon(struct oob *oob, struct record *r)
{
	struct span line = oob->arguments;

	line = span_skip(line, 1);
	if (!span_starts(line, "HMAC-MD4 ")) {
		record_malformed(r, "unknown authentication of srcon");
		return;
	}
	line = span_skip(line, 9);
	if (!field_token(&line, "mode", false, r))
		return;
	line = span_skip(line, 1);
	if (line.n < 17 || line.bytes[16] != ' ') {
		record_malformed(r, "srcon is too short");
		return;
	}
	/* Passwords can be guessed from it, away from the server. */
	if (r->secrets || !RECORD_WANTED(r))
		record_hex(r, "mac", line.bytes, 16);
	else
		record_secret(r, "mac", line.bytes, 16);
	line = span_skip(line, 17);
	field_token(&line, "nonce", false, r);
	line = text_take(span_skip(line, 1), r);
	record_string(r, "command", line.bytes, line.n);
}

void oob_heartbeat(struct oob *oob, struct record *r)
{
	struct span line = oob->arguments, info;

	if (oob->family != FAMILY_QUAKE2) {
		field_token(&line, "game", false, r);
		line_end(line, r);
		return;
	}
	line = text_take(line, r);
	line = span_skip(line, 1);
	if (!line.n)
		return;
	info = line_take(line, &line);
	if (!record_info(r, "info", info.bytes, info.n))
		record_malformed(r, "not an info string");
	oob_players(span_skip(line, 1), FAMILY_QUAKE2, r);
}

static void filters(struct span line, struct record *r)
{
	struct span token;

	record_open_array(r, "filters");
	while (token_next(&line, &token, NULL))
		record_string(r, NULL, token.bytes, token.n);
	record_close(r);
	line_end(line, r);
}

/* With a name first it is DarkPlaces' form. */
void oob_getservers(struct oob *oob, struct record *r)
{
	struct span line = oob->arguments, look = line, token;
	int64_t number;

	if (!token_next(&look, &token, NULL)) {
		/* Quake II's master takes it bare. */
		if (oob->family != FAMILY_QUAKE2)
			record_malformed(r, "argument missing");
		return;
	}
	if (!span_number(token, &number))
		field_token(&line, "gamename", false, r);
	if (field_number(&line, "protocolVersion", false, r))
		filters(line, r);
}

void oob_getserversext(struct oob *oob, struct record *r)
{
	struct span line = oob->arguments;

	if (field_token(&line, "gamename", false, r) &&
	    field_number(&line, "protocolVersion", false, r))
		filters(line, r);
}

static void record_server(struct record *r, const uint8_t *at, size_t n)
{
	char text[INET6_ADDRSTRLEN];

	if (!RECORD_WANTED(r))
		return;
	inet_ntop(n == 4 ? AF_INET : AF_INET6, at, text, sizeof(text));
	record_open_object(r, NULL);
	record_string(r, "address", text, strlen(text));
	record_uint(r, "port", (uint64_t)(at[n] << 8 | at[n + 1]));
	record_close(r);
}

/*
 * By fixed length, never by searching: addresses may hold backslashes. The end mark is
 * a record like any other, with EOT and a zero for its address and port 0; short forms
 * of it are sent too.
 */
void oob_servers_response(struct oob *oob, struct record *r)
{
	struct span list = oob->arguments;
	bool end = false;

	record_open_array(r, "servers");
	while (list.n && !end) {
		size_t n = *list.bytes == '/' ? 16 : 4;

		if (span_starts(list, "\\EOT") && (list.n < 7 || !list.bytes[4])) {
			list = span_skip(list, 4);
			end = true;
			break;
		}
		if (*list.bytes != '\\' && *list.bytes != '/')
			break;
		if (list.n < n + 3)
			break;
		record_server(r, list.bytes + 1, n);
		list = span_skip(list, n + 3);
	}
	record_close(r);
	record_bool(r, "last", end);
	while (end && list.n && !*list.bytes)
		list = span_skip(list, 1);
	if (list.n)
		record_malformed(r, "broken record in a server list");
}

/* Quake II: a blank (or LF), then records of six bytes, no end mark. */
void oob_servers(struct oob *oob, struct record *r)
{
	struct span list = span_skip(oob->arguments, 1);

	record_open_array(r, "servers");
	for (; list.n >= 6; list = span_skip(list, 6))
		record_server(r, list.bytes, 4);
	record_close(r);
	if (list.n)
		record_malformed(r, "broken record in a server list");
}

void oob_motd(struct oob *oob, struct record *r)
{
	struct span line = oob->arguments, token;

	if (!token_next(&line, &token, NULL) ||
	    !record_info(r, "info", token.bytes, token.n))
		record_malformed(r, "not an info string");
	line_end(line, r);
}

/* getKeyAuthorize <anonymous> <key>: the key itself stays unread. */
void oob_key_authorize(struct oob *oob, struct record *r)
{
	struct span line = oob->arguments, token;

	field_number(&line, "anonymous", false, r);
	if (token_next(&line, &token, NULL))
		record_uint(r, "keyLength", token.n);
	else
		record_malformed(r, "argument missing");
	line_end(line, r);
}

/* getIpAuthorize <challenge> <address> <game> 0 <strict> */
void oob_ip_request(struct oob *oob, struct record *r)
{
	struct span line = oob->arguments;

	field_number(&line, "challenge", false, r);
	field_token(&line, "address", false, r);
	field_token(&line, "game", false, r);
	field_number(&line, "zero", true, r);
	field_number(&line, "strict", true, r);
	line_end(line, r);
}

/* ipAuthorize <challenge> <verdict> [reason] */
void oob_ip_authorize(struct oob *oob, struct record *r)
{
	struct span line = oob->arguments;

	field_number(&line, "challenge", false, r);
	field_token(&line, "verdict", false, r);
	field_token(&line, "text", true, r);
	line_end(line, r);
}
