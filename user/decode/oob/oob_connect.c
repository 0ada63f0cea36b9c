// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * oob_connect.c - the words of joining.
 *
 *	Quake III	getchallenge [client challenge, gamename]
 *			challengeResponse <n> [client challenge] [protocol]
 *			connect <compressed "info">	connectResponse [challenge]
 *	Quake II	getchallenge LF		challenge <n> [p=34,35,36]
 *			connect <protocol> <qport> <challenge> "info" [extras]
 *			client_connect [name=value...]
 *	QuakeWorld	getchallenge LF		c<n> (oob_qw.c)
 *			connect 28 <qport> <challenge> "info" LF { 0x<id> 0x<mask> LF }
 *	DarkPlaces	getchallenge		challenge [<text> NUL [crypto]]
 *			d0pk\cnt\{0,2,4,6}\... NUL <data>
 *						d0pk\cnt\{1,3,5}\... NUL <data>
 *			connect\key\value...	accept, reject <text>
 *
 * Sources: ioq3 code/server/sv_client.c, code/client/cl_main.c; Quake-2
 * server/sv_main.c; q2pro src/server/main.c; mvdsv src/sv_main.c; darkplaces netconn.c.
 */
#include <errno.h>

#include "lib/huffman.h"
#include "lib/info.h"
#include "decode/oob/oob_text.h"
#include "lib/record_trace.h"

#define CONNECT_COMPRESSED 12 /* where the compressed part begins */

/* A number in all engines; anything else is text under another name. */
static void client_challenge(struct span *line, struct record *r)
{
	struct span look = *line, token;
	int64_t number;

	if (!token_next(&look, &token, NULL))
		return;
	if (span_number(token, &number)) {
		record_stands(r, token.bytes, token.n);
		record_int(r, "clientChallenge", number);
	} else {
		record_string(r, "clientChallengeText", token.bytes, token.n);
	}
	*line = look;
}

void oob_getchallenge(struct oob *oob, struct record *r)
{
	struct span line = oob->arguments;

	if (oob->family == FAMILY_QUAKE3) {
		client_challenge(&line, r);
		field_token(&line, "gamename", true, r);
	}
	line_end(line, r);
}

/* The arguments of d0_blind_id: keys' fingerprints, and numbers of its own. */
static void crypto(struct span data, struct record *r)
{
	if (!data.n)
		return;
	record_hex(r, "crypto", data.bytes, data.n);
	record_partial(r, "d0_blind_id data not decoded");
}

/* Quake II: digits, then name=value words. DarkPlaces: one word, NUL, maybe crypto. */
void oob_challenge(struct oob *oob, struct record *r)
{
	struct span line = oob->arguments, token;
	const uint8_t *nul;

	if (oob->family == FAMILY_QUAKE2) {
		field_number(&line, "challenge", false, r);
		record_open_array(r, "extensions");
		while (token_next(&line, &token, NULL))
			record_string(r, NULL, token.bytes, token.n);
		record_close(r);
		line_end(line, r);
		return;
	}
	/* After the blank there is nothing once keys have been exchanged. */
	if (!line.n)
		record_malformed(r, "argument missing");
	line = span_skip(line, 1);
	nul = line.n ? memchr(line.bytes, 0, line.n) : NULL;
	token = nul ? span_of(line.bytes, nul) : line;
	record_string(r, "challengeText", token.bytes, token.n);
	crypto(span_skip(line, token.n + 1), r);
}

/* A step of the handshake with keys: an info string, and behind its NUL the data. */
void oob_key_step(struct oob *oob, struct record *r)
{
	struct span info = oob->arguments, data = { NULL, 0 }, count;
	const uint8_t *nul = info.n ? memchr(info.bytes, 0, info.n) : NULL;

	if (nul) {
		data = span_skip(info, (size_t)(nul - info.bytes) + 1);
		info = span_of(info.bytes, nul);
	}
	if (!info.n || !record_info(r, "step", info.bytes, info.n))
		record_malformed(r, "step is not an info string");
	else if (!info_find(info.bytes, info.n, "cnt", &count) || !nul)
		record_malformed(r, "argument missing");
	crypto(data, r);
}

void oob_challenge_response(struct oob *oob, struct record *r)
{
	struct span line = oob->arguments;

	if (field_number(&line, "challenge", false, r) &&
	    field_number(&line, "clientChallenge", true, r))
		field_number(&line, "protocolVersion", true, r);
	line_end(line, r);
}

static void userinfo(struct span info, struct record *r)
{
	struct span name;

	if (info_find(info.bytes, info.n, "name", &name))
		facts_name(&r->facts, name.bytes, name.n);
	if (!info.n || !record_info(r, "userinfo", info.bytes, info.n))
		record_malformed(r, "userinfo is not an info string");
}

/* "info" and, from Tremulous, a public key and a signature. */
static void connect_quake3_text(struct span text, struct record *r)
{
	struct span line = text_take(text, r), token;
	bool quoted;

	if (!token_next(&line, &token, &quoted) || !quoted) {
		record_malformed(r, "userinfo is not quoted");
		return;
	}
	userinfo(token, r);
	if (field_token(&line, "publicKey", true, r))
		field_token(&line, "signature", true, r);
	line_end(line, r);
}

static void connect_quake3(struct oob *oob, struct record *r)
{
	const uint8_t *plain = oob->plain;
	int n = -EBADMSG;

	if (oob->n > CONNECT_COMPRESSED)
		n = huffman_adaptive_decode(oob->payload + CONNECT_COMPRESSED,
					    oob->n - CONNECT_COMPRESSED, oob->plain,
					    sizeof(oob->plain));
	if (n < 0) {
		record_malformed(r, n == -EMSGSIZE
					    ? "userinfo is not compressed, or too long"
					    : "userinfo does not decompress");
		oob->learnt.n = 0;
		return;
	}
	oob->learnt = (struct span){ oob->plain, (size_t)n };
	record_reads(r, plain, (size_t)n, &plain);
	connect_quake3_text(oob->learnt, r);
	record_reads_end(r);
}

/* Read what Quake II and QuakeWorld connect with. False: a number is wrong or missing. */
static bool connect_head(struct span *line, struct record *r)
{
	struct span token;

	if (!field_number(line, "protocolVersion", false, r) ||
	    !field_number(line, "qport", false, r) ||
	    !field_number(line, "challenge", false, r))
		return false;
	if (token_next(line, &token, NULL))
		userinfo(token, r);
	else
		record_malformed(r, "argument missing");
	return true;
}

static void connect_quake2(struct span line, struct record *r)
{
	static const char *const extras_r1q2[] = { "maxLength", "minor" };
	static const char *const extras_q2pro[] = { "maxLength", "netchan", "zlib",
						    "minor" };
	struct span version = line, token;
	int64_t protocol = 0;

	if (token_next(&version, &token, NULL))
		span_number(token, &protocol);
	if (!connect_head(&line, r))
		return;
	if (protocol == 35)
		for (size_t i = 0; i < 2; i++)
			field_number(&line, extras_r1q2[i], true, r);
	else if (protocol == 36)
		for (size_t i = 0; i < 4; i++)
			field_number(&line, extras_q2pro[i], true, r);
	line_end(line, r);
}

/* Lines "0x<id> 0x<mask>", to the end of the datagram. */
static void connect_extensions(struct span lines, struct record *r)
{
	struct span line, id, mask;

	record_open_array(r, "extensions");
	while (lines.n && *lines.bytes) {
		line = line_take(lines, &lines);
		lines = span_skip(lines, 1);
		if (!line.n)
			continue;
		if (!token_next(&line, &id, NULL) || !token_next(&line, &mask, NULL) ||
		    line.n) {
			record_malformed(r, "extension line");
			break;
		}
		record_open_object(r, NULL);
		record_string(r, "id", id.bytes, id.n);
		record_string(r, "mask", mask.bytes, mask.n);
		record_close(r);
	}
	record_close(r);
	if (lines.n > 1)
		record_malformed(r, "bytes after the last argument");
}

static void connect_quakeworld(struct span line, struct record *r)
{
	if (!connect_head(&line, r))
		return;
	connect_extensions(span_skip(line, line.n && *line.bytes == '\n'), r);
}

void oob_connect(struct oob *oob, struct record *r)
{
	struct span text;

	switch (oob->family) {
	case FAMILY_QUAKE3:
		connect_quake3(oob, r);
		break;
	case FAMILY_QUAKE2:
		connect_quake2(oob->arguments, r);
		break;
	case FAMILY_QUAKEWORLD:
		connect_quakeworld(oob->arguments, r);
		break;
	default:
		text = text_take(oob->arguments, r);
		if (text.n && text.bytes[text.n - 1] == '\n')
			text.n--;
		userinfo(text, r);
	}
}

void oob_connect_response(struct oob *oob, struct record *r)
{
	struct span line = oob->arguments;

	field_number(&line, "challenge", true, r);
	line_end(line, r);
}

void oob_client_connect(struct oob *oob, struct record *r)
{
	struct span line = oob->arguments, token;

	record_open_object(r, "options");
	while (token_next(&line, &token, NULL)) {
		const uint8_t *equal = memchr(token.bytes, '=', token.n);
		size_t key = equal ? (size_t)(equal - token.bytes) : token.n;

		record_pair(r, token.bytes, key, token.bytes + key + (equal != NULL),
			    token.n - key - (equal != NULL));
	}
	record_close(r);
	line_end(line, r);
}

void oob_reject(struct oob *oob, struct record *r)
{
	struct span text = text_take(oob->arguments, r);

	text = span_skip(text, 1);
	record_string(r, "rejectReason", text.bytes, text.n);
}
