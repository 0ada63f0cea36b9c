// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * oob_query.c - who are you, who plays: info strings and player lists.
 *
 *	getinfo [challenge]		infoResponse LF info
 *	getstatus [challenge]		statusResponse LF info LF { player LF }
 *	status (Quake II)		print LF info LF { player LF }
 *	info <version> (Quake II)	info LF text LF
 *
 *	player, Quake III, Quake II:	score ping "name"
 *	DarkPlaces, FTE, Warsow:	score ping [team] "name" [team]
 *	QuakeWorld:			id frags minutes ping "name" "skin" top bottom
 *					["team"] ["login"] ["type"]
 *
 * Sources: ioq3 code/server/sv_main.c SVC_Status, SVC_Info; Quake-2 server/sv_main.c
 * SV_StatusString; mvdsv src/sv_main.c SVC_Status; darkplaces netconn.c.
 */
#include "lib/info.h"
#include "decode/oob/oob_text.h"

void oob_query(struct oob *oob, struct record *r)
{
	struct span line = oob->arguments;

	field_token(&line, "challengeText", true, r);
	line_end(line, r);
}

void oob_info_response(struct oob *oob, struct record *r)
{
	struct span text = text_take(oob->arguments, r), rest;

	if (!text.n || *text.bytes != '\n') {
		record_malformed(r, "no line feed before the info string");
		return;
	}
	text = line_take(span_skip(text, 1), &rest);
	if (!record_info(r, "info", text.bytes, text.n))
		record_malformed(r, "not an info string");
	if (line_tail(rest).n)
		record_malformed(r, "bytes after the info string");
}

/* QuakeWorld's columns; the last three only if asked for. */
static void player_quakeworld(struct span line, struct record *r)
{
	static const char *const numbers[] = { "frags", "minutes", "ping" };
	static const char *const rest[] = { "team", "login", "type" };
	struct span token;
	int64_t value;

	field_number(&line, "userid", false, r);
	/* mvdsv writes S for the frags of a spectator. */
	if (token_next(&line, &token, NULL)) {
		if (span_number(token, &value))
			record_int(r, numbers[0], value);
		else if (span_is(token, "S"))
			record_bool(r, "spectator", true);
		else
			record_malformed(r, "player line");
	}
	field_number(&line, numbers[1], false, r);
	field_number(&line, numbers[2], false, r);
	field_token(&line, "name", false, r);
	field_token(&line, "skin", false, r);
	field_number(&line, "top", false, r);
	field_number(&line, "bottom", false, r);
	for (size_t i = 0; i < 3; i++)
		field_token(&line, rest[i], true, r);
	if (line.n)
		record_malformed(r, "player line");
}

static void player_others(struct span line, struct record *r)
{
	struct span third, fourth, fifth;
	bool third_quoted = false, four;

	field_number(&line, "score", false, r);
	field_number(&line, "ping", false, r);
	if (!token_next(&line, &third, &third_quoted)) {
		record_malformed(r, "player line");
		return;
	}
	four = token_next(&line, &fourth, NULL);
	if (four && token_next(&line, &fifth, NULL))
		record_malformed(r, "player line");
	/* The team comes bare after the name (Warsow) or before it (DarkPlaces, FTE). */
	if (four && third_quoted && fourth.bytes[-1] != '"') {
		record_string(r, "name", third.bytes, third.n);
		record_string(r, "team", fourth.bytes, fourth.n);
		return;
	}
	if (four)
		record_string(r, "team", third.bytes, third.n);
	else
		fourth = third;
	record_string(r, "name", fourth.bytes, fourth.n);
}

void oob_players(struct span lines, enum wire_family family, struct record *r)
{
	struct span line;

	record_open_array(r, "players");
	while (lines.n) {
		line = line_take(lines, &lines);
		lines = span_skip(lines, 1);
		if (!line.n)
			continue;
		record_open_object(r, NULL);
		if (family == FAMILY_QUAKEWORLD)
			player_quakeworld(line, r);
		else
			player_others(line, r);
		record_close(r);
	}
	record_close(r);
}

/* @text begins with the info string. */
static void status_body(struct span text, enum wire_family family, struct record *r)
{
	struct span rest, info = line_take(text, &rest);

	if (!record_info(r, "info", info.bytes, info.n))
		record_malformed(r, "not an info string");
	oob_players(span_skip(rest, 1), family, r);
}

void oob_status_response(struct oob *oob, struct record *r)
{
	struct span text = text_take(oob->arguments, r);

	/* QSS forgets the line feed. */
	if (text.n && *text.bytes == '\n')
		text = span_skip(text, 1);
	else if (!text.n || *text.bytes != '\\')
		record_malformed(r, "no line feed before the info string");
	status_body(text, oob->family, r);
}

/* ET: the same, from a server to its master at the end of a map. */
void oob_gamecomplete(struct oob *oob, struct record *r)
{
	oob_status_response(oob, r);
}

void oob_print(struct oob *oob, struct record *r)
{
	struct span text = text_take(oob->arguments, r);

	if (!text.n || (*text.bytes != '\n' && *text.bytes != ' ')) {
		record_malformed(r, "no line feed before the text");
		return;
	}
	text = span_skip(text, 1);
	if (oob->family == FAMILY_QUAKE2 && text.n && *text.bytes == '\\')
		status_body(text, oob->family, r);
	else
		record_string(r, "text", text.bytes, text.n);
}

/* QuakeWorld: [flags]. Quake II: surplus arguments are ignored by all servers. */
void oob_status(struct oob *oob, struct record *r)
{
	struct span line = oob->arguments;

	field_number(&line,
		     oob->family == FAMILY_QUAKEWORLD ? "flags" : "protocolVersion", true,
		     r);
	line_end(line, r);
}

/* Asked with the protocol; answered with a line of text for a list of servers. */
void oob_info(struct oob *oob, struct record *r)
{
	struct span line = oob->arguments, text;

	if (!line.n || *line.bytes != '\n' || line.n == 1) {
		r->direction = DIRECTION_C2S;
		field_number(&line, "protocolVersion", true, r);
		line_end(line, r);
		return;
	}
	r->direction = DIRECTION_S2C;
	text = line_take(span_skip(line, 1), &line);
	record_string(r, "text", text.bytes, text.n);
	line_end(line, r);
}
