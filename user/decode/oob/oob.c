// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * oob.c - the table of out-of-band words, and how one is recognised.
 *
 * A word ends at a blank, a control character, a quote, a backslash or the end. The
 * engines of Quake II and III skip blanks before it, take it in quotes, and (III) in any
 * case; a record then says so. A datagram that matches no word may still be one of
 * QuakeWorld's single letters, which run into their argument, or a query of Valve's.
 */
#include <strings.h>

#include "decode/oob/oob_text.h"

static struct span after_blanks(const struct oob *oob)
{
	struct span s = oob->arguments;

	while (s.n && *s.bytes == ' ')
		s = span_skip(s, 1);
	return s;
}

static bool ends_line(const struct oob *oob)
{
	return oob->arguments.n && *oob->arguments.bytes == '\n';
}

/* With a line feed it comes from QuakeWorld or Quake II, otherwise Quake III's kin. */
static unsigned int shape_getchallenge(const struct oob *oob)
{
	if (span_starts(after_blanks(oob), "steam"))
		return IN_NONE;
	return ends_line(oob) ? IN_QW | IN_Q2 : IN_Q3;
}

/* connect\...: DarkPlaces. connect <number>: 24..28, 26..36. Else Quake III's blob. */
static unsigned int shape_connect(const struct oob *oob)
{
	struct span s = oob->arguments, token;
	int64_t version;

	if (s.n && *s.bytes == '\\')
		return IN_NQ;
	if (!s.n || *s.bytes != ' ' || !token_next(&s, &token, NULL) ||
	    !span_number(token, &version))
		return IN_Q3;
	if (version >= 24 && version <= 25)
		return IN_QW;
	if (version >= 26 && version <= 28)
		return version == 28 ? IN_QW : IN_QW | IN_Q2;
	return (version >= 29 && version <= 36) || version >= 2000 ? IN_Q2 : IN_Q3;
}

/*
 * Quake II: digits and maybe p=...; DarkPlaces: eleven characters and a NUL, or, once
 * keys have been exchanged, nothing.
 */
static unsigned int shape_challenge(const struct oob *oob)
{
	struct span s = oob->arguments, token;
	int64_t number;

	if (!token_next(&s, &token, NULL))
		return span_is(oob->arguments, " ") ? IN_NQ : IN_NQ | IN_Q2;
	if (span_is(token, "rcon"))
		return IN_NONE;
	return span_number(token, &number) ? IN_Q2 : IN_NQ;
}

static unsigned int shape_print(const struct oob *oob)
{
	struct span s = oob->arguments;

	return span_starts(s, "\n\\") ? IN_Q2 : IN_Q2 | IN_Q3;
}

static unsigned int shape_heartbeat(const struct oob *oob)
{
	struct span s = after_blanks(oob);

	return !s.n || *s.bytes == '\n' ? IN_Q2 : IN_Q3;
}

static unsigned int shape_getservers(const struct oob *oob)
{
	struct span s = oob->arguments, token;

	return token_next(&s, &token, NULL) ? IN_Q3 : IN_Q2;
}

static unsigned int shape_info(const struct oob *oob)
{
	return ends_line(oob) && oob->arguments.n > 1 ? IN_Q2 : IN_Q2 | IN_QW;
}

/* The letters stand alone; longer datagrams are GoldSrc's. */
static unsigned int shape_letter(const struct oob *oob)
{
	return oob->n <= OOB_MARKER + 2 ? IN_QW : IN_NONE;
}

/* clang-format off */
#define C2S DIRECTION_C2S
#define S2C DIRECTION_S2C
#define ANY DIRECTION_UNKNOWN
#define AS_NQ FAMILY_NETQUAKE
#define AS_QW FAMILY_QUAKEWORLD
#define AS_Q2 FAMILY_QUAKE2
#define AS_Q3 FAMILY_QUAKE3
/* A word that is its own kind's name: word and direction are in wire.h. */
#define AS_WORD(kind, word, class_, families, sent)    \
	static const char word_##kind[] = word;             \
	enum { DIRECTION_OF_##kind = DIRECTION_##sent };
WIRE_WORDS(AS_WORD)
#undef AS_WORD
#define ROW(kind, candidates, as, parse, shape)                                      \
	{ KIND_##kind, word_##kind, word_##kind, candidates, (enum direction)DIRECTION_OF_##kind, \
	  as, parse, shape }

const struct oob_row oob_rows[] = {
	/* Quake III and kin; DarkPlaces shares these */
	ROW(GETSTATUS, IN_Q3, AS_Q3, oob_query, NULL),
	ROW(GETINFO, IN_Q3, AS_Q3, oob_query, NULL),
	ROW(STATUSRESPONSE, IN_Q3, AS_Q3, oob_status_response, NULL),
	ROW(INFORESPONSE, IN_Q3, AS_Q3, oob_info_response, NULL),
	ROW(GETCHALLENGE, IN_QW | IN_Q2 | IN_Q3, AS_QW, oob_getchallenge, shape_getchallenge),
	ROW(CHALLENGERESPONSE, IN_Q3, AS_Q3, oob_challenge_response, NULL),
	ROW(CONNECT, IN_NQ | IN_QW | IN_Q2 | IN_Q3, AS_QW, oob_connect, shape_connect),
	ROW(CONNECTRESPONSE, IN_Q3, AS_Q3, oob_connect_response, NULL),
	ROW(RCON, IN_QW | IN_Q2 | IN_Q3, AS_Q3, oob_rcon, NULL),
	ROW(SRCON, IN_NQ | IN_Q3, AS_NQ, oob_srcon, NULL),
	ROW(PRINT, IN_Q2 | IN_Q3, AS_Q3, oob_print, shape_print),
	ROW(DISCONNECT, IN_Q3, AS_Q3, oob_none, NULL),
	ROW(ECHO, IN_Q2 | IN_Q3, AS_Q3, oob_text, NULL),
	ROW(ERROR, IN_Q3, AS_Q3, oob_text, NULL),
	ROW(NEEDCDKEY, IN_Q3, AS_Q3, oob_text, NULL),
	ROW(RCONINFO, IN_Q3, AS_Q3, oob_arguments, NULL),
	ROW(RCONINFORESPONSE, IN_Q3, AS_Q3, oob_text, NULL),
	ROW(GETKEYAUTHORIZE, IN_Q3, AS_Q3, oob_key_authorize, NULL),
	ROW(KEYAUTHORIZE, IN_Q3, AS_Q3, oob_text, NULL),
	ROW(GETIPAUTHORIZE, IN_Q3, AS_Q3, oob_ip_request, NULL),
	ROW(IPAUTHORIZE, IN_Q3, AS_Q3, oob_ip_authorize, NULL),
	ROW(AUTH_SV, IN_Q3, AS_Q3, oob_text, NULL),
	ROW(AUTH_CL, IN_Q3, AS_Q3, oob_text, NULL),
	ROW(BANUSER, IN_Q3, AS_Q3, oob_arguments, NULL),
	ROW(GETMOTD, IN_Q3, AS_Q3, oob_motd, NULL),
	ROW(MOTD, IN_Q3, AS_Q3, oob_motd, NULL),
	ROW(GETUPDATEINFO, IN_Q3, AS_Q3, oob_arguments, NULL),
	ROW(UPDATERESPONSE, IN_Q3, AS_Q3, oob_text, NULL),
	ROW(GAMECOMPLETESTATUS, IN_Q3, AS_Q3, oob_gamecomplete, NULL),
	ROW(GETBLOCKEDSERVERS, IN_Q3, AS_Q3, oob_arguments, NULL),
	ROW(GETBLOCKEDRESPONSE, IN_Q3, AS_Q3, oob_text, NULL),
	/* masters */
	ROW(HEARTBEAT, IN_Q2 | IN_Q3, AS_Q3, oob_heartbeat, shape_heartbeat),
	ROW(GETSERVERS, IN_Q2 | IN_Q3, AS_Q3, oob_getservers, shape_getservers),
	ROW(GETSERVERSEXT, IN_Q3, AS_Q3, oob_getserversext, NULL),
	ROW(GETSERVERSRESPONSE, IN_Q3, AS_Q3, oob_servers_response, NULL),
	ROW(GETSERVERSEXTRESPONSE, IN_Q3, AS_Q3, oob_servers_response, NULL),
	ROW(SERVERS, IN_Q2, AS_Q2, oob_servers, NULL),
	ROW(SHUTDOWN, IN_Q2, AS_Q2, oob_none, NULL),
	ROW(QUERY, IN_Q2, AS_Q2, oob_text, NULL),
	/* Quake II */
	ROW(STATUS, IN_QW | IN_Q2, AS_Q2, oob_status, NULL),
	ROW(INFO, IN_QW | IN_Q2, AS_Q2, oob_info, shape_info),
	ROW(PING, IN_NQ | IN_QW | IN_Q2 | IN_Q3, AS_Q2, oob_none, NULL),
	ROW(ACK, IN_NQ | IN_Q2 | IN_Q3, AS_Q2, oob_none, NULL),
	ROW(CHALLENGE, IN_NQ | IN_Q2, AS_Q2, oob_challenge, shape_challenge),
	ROW(CLIENT_CONNECT, IN_Q2, AS_Q2, oob_client_connect, NULL),
	ROW(PASSIVE_CONNECT, IN_Q2, AS_Q2, oob_none, NULL),
	ROW(CMD, IN_Q2, AS_Q2, oob_text, NULL),
	ROW(CHEATERNETREPLY, IN_Q2, AS_Q2, oob_text, NULL),
	/* DarkPlaces */
	ROW(D0PK, IN_NQ, AS_NQ, oob_key_step, NULL),
	ROW(ACCEPT, IN_NQ, AS_NQ, oob_none, NULL),
	ROW(REJECT, IN_NQ, AS_NQ, oob_reject, NULL),
	ROW(EXTRESPONSE, IN_NQ, AS_NQ, oob_text, NULL),
	/* QuakeWorld, mvdsv, FTE */
	ROW(A2A_PING, IN_QW, AS_QW, oob_none, shape_letter),
	ROW(A2A_ACK, IN_QW, AS_QW, oob_none, shape_letter),
	ROW(A2A_NACK, IN_QW, AS_QW, oob_none, shape_letter),
	ROW(S2C_CONNECTION, IN_QW, AS_QW, oob_none, shape_letter),
	ROW(LOG, IN_QW, AS_QW, oob_qw_log, NULL),
	ROW(LASTSCORES, IN_QW, AS_QW, oob_arguments, NULL),
	ROW(LASTSTATS, IN_QW, AS_QW, oob_arguments, NULL),
	ROW(DLIST, IN_QW, AS_QW, oob_arguments, NULL),
	ROW(DLISTR, IN_QW, AS_QW, oob_arguments, NULL),
	ROW(DLISTREGEX, IN_QW, AS_QW, oob_arguments, NULL),
	ROW(DEMOLIST, IN_QW, AS_QW, oob_arguments, NULL),
	ROW(DEMOLISTR, IN_QW, AS_QW, oob_arguments, NULL),
	ROW(DEMOLISTREGEX, IN_QW, AS_QW, oob_arguments, NULL),
	ROW(QTVUSERS, IN_QW, AS_QW, oob_arguments, NULL),
	ROW(BROADCAST, IN_QW, AS_QW, oob_text, NULL),
	ROW(IP, IN_QW, AS_QW, oob_qw_ip, NULL),
	ROW(REALIP, IN_QW, AS_QW, oob_arguments, NULL),
	ROW(DTLSCONNECT, IN_QW, AS_QW, oob_text, NULL),
	ROW(DTLSOPENED, IN_QW, AS_QW, oob_none, NULL),
	ROW(PINGSTATUS, IN_QW, AS_QW, oob_arguments, NULL),
	ROW(ICE_OFFER, IN_QW, AS_QW, oob_text, NULL),
	ROW(ICE_CCAND, IN_QW, AS_QW, oob_text, NULL),
	/* GoldSrc words: no Quake server answers them */
	ROW(GOLDSRC_INFOSTRING, IN_NONE, AS_Q3, NULL, NULL),
	ROW(GOLDSRC_PLAYERS, IN_NONE, AS_Q3, NULL, NULL),
	ROW(GOLDSRC_RULES, IN_NONE, AS_Q3, NULL, NULL),
	ROW(GOLDSRC_DETAILS, IN_NONE, AS_Q3, NULL, NULL),
};
/* clang-format on */

const size_t oob_rows_count = sizeof(oob_rows) / sizeof(*oob_rows);

/* Words that run into their argument. */
static const struct oob_row qw_challenge = {
	KIND_S2C_CHALLENGE, "c", "s2c-challenge", IN_QW, S2C, AS_QW,
	oob_qw_challenge,   NULL
};
static const struct oob_row qw_print = { KIND_A2C_PRINT, "n", "a2c-print",
					 IN_QW | IN_NQ,	 S2C, AS_QW,
					 oob_qw_print,	 NULL };
static const struct oob_row qw_chunk = { KIND_QW_CHUNK, "n\\chunk", "qw-chunk",	  IN_QW,
					 S2C,		AS_QW,	    oob_qw_chunk, NULL };
static const struct oob_row qw_command = {
	KIND_A2C_CLIENT_COMMAND, "B", "a2c-client-command", IN_QW, S2C, AS_QW,
	oob_qw_command,		 NULL
};
static const struct oob_row qw_servers = {
	KIND_M2C_SERVERS, "d", "m2c-servers", IN_QW, S2C, AS_QW, oob_qw_servers, NULL
};
static const struct oob_row valve_query = {
	KIND_OOB_UNKNOWN, "", "a2s", IN_NONE, ANY, AS_Q3, NULL, NULL
};

/* Rows by a cheap hash of the folded word; built on first use. */
#define INDEX_SIZE 512
static uint8_t index_rows[INDEX_SIZE];
static uint8_t index_chain[sizeof(oob_rows) / sizeof(*oob_rows) + 1];
static bool index_built;

static size_t word_hash(const uint8_t *word, size_t n)
{
	size_t h = n * 31;

	for (size_t i = 0; i < n; i++)
		h = h * 33 + (word[i] | 0x20);
	return (h ^ h >> 9) % INDEX_SIZE;
}

static void index_build(void)
{
	_Static_assert(sizeof(oob_rows) / sizeof(*oob_rows) < 255,
		       "the index holds bytes");

	for (size_t i = 0; i < oob_rows_count; i++) {
		size_t h = word_hash((const uint8_t *)oob_rows[i].word,
				     strlen(oob_rows[i].word));

		index_chain[i + 1] = index_rows[h];
		index_rows[h] = (uint8_t)(i + 1);
	}
	index_built = true;
}

static const struct oob_row *row_find(const uint8_t *word, size_t n)
{
	if (!index_built)
		index_build();
	for (size_t i = index_rows[word_hash(word, n)]; i; i = index_chain[i])
		if (strlen(oob_rows[i - 1].word) == n &&
		    !strncasecmp((const char *)word, oob_rows[i - 1].word, n))
			return &oob_rows[i - 1];
	return NULL;
}

/* Letters that run into what follows: c5, c-5, n<text>, B<text>, d LF. */
static const struct oob_row *letter_find(struct span s, size_t *length)
{
	*length = 1;
	switch (s.n ? *s.bytes : 0) {
	case 'c':
		s = span_skip(s, s.n > 1 && s.bytes[1] == '-' ? 2 : 1);
		return s.n && *s.bytes >= '0' && *s.bytes <= '9' ? &qw_challenge : NULL;
	case 'n':
		if (span_starts(s, "n\\chunk")) {
			*length = 7;
			return &qw_chunk;
		}
		return &qw_print;
	case 'B':
		return &qw_command;
	case 'd':
		return s.n > 1 && s.bytes[1] == '\n' && (s.n - 2) % 6 == 0 ? &qw_servers
									   : NULL;
	default:
		return NULL;
	}
}

/* Valve's requests and replies: one letter, then binary or a phrase. */
static bool valve_find(struct span s)
{
	if (span_starts(s, "TSource Engine Query"))
		return true;
	if (!s.n)
		return false;
	switch (*s.bytes) {
	case 'U':
	case 'V':
		return s.n == 5;
	case 'W':
	case 'i':
		return s.n == 1 || (s.n == 2 && !s.bytes[1]);
	case 'A':
		return s.n == 5 || s.n == 9;
	case 'I':
		return s.n > 6 && memchr(s.bytes, 0, s.n);
	case 'D':
	case 'E':
	case 'm':
		return s.n > 6 && (s.bytes[1] < 0x20 || *s.bytes == 'm');
	case 'j':
		return s.n > 2;
	default:
		return false;
	}
}

static bool ends_word(uint8_t b)
{
	return b <= ' ' || b == '"' || b == '\\';
}

void oob_recognise(const uint8_t *payload, size_t n, struct oob *ret)
{
	struct span s = { payload + OOB_MARKER, n - OOB_MARKER }, bare;
	size_t length = 0, skipped = 0;

	ret->payload = payload;
	ret->n = n;
	ret->candidates = IN_NONE;
	ret->family = FAMILY_AUTO;
	while (skipped < s.n && s.bytes[skipped] && s.bytes[skipped] <= ' ' &&
	       s.bytes[skipped] != '\n')
		skipped++;
	bare = span_skip(s, skipped);
	if (bare.n && *bare.bytes == '"') {
		bare = span_skip(bare, 1);
		skipped++;
	}
	while (length < bare.n && !ends_word(bare.bytes[length]))
		length++;
	/* Masters' lists follow their word directly, and may begin with a slash. */
	if (span_starts(bare, "getserversExtResponse/"))
		length = 21;
	ret->row = row_find(bare.bytes, length);
	ret->canonical =
		ret->row && !skipped && !memcmp(bare.bytes, ret->row->word, length);
	if (ret->row && skipped && bare.bytes[-1] == '"' && length < bare.n &&
	    bare.bytes[length] == '"')
		length++;
	ret->arguments = span_skip(bare, length);
	if (ret->row) {
		ret->candidates =
			ret->row->shape ? ret->row->shape(ret) : ret->row->families;
		ret->learnt = ret->arguments;
		if (ret->candidates)
			return;
	}
	/* Either a word that no Quake speaks, or one with what no Quake adds to it. */
	if (ret->row || valve_find(s)) {
		ret->row = &valve_query;
		return;
	}
	ret->row = letter_find(s, &length);
	ret->canonical = true;
	ret->arguments = span_skip(s, length);
	ret->learnt = ret->arguments;
	if (ret->row)
		ret->candidates = ret->row->families;
	/* A status answer is QuakeWorld's alone; DarkPlaces prints so too. */
	if (ret->row == &qw_print && span_starts(ret->arguments, "\\"))
		ret->candidates = IN_QW;
}

enum wire_family oob_owner(const struct oob *oob, enum wire_family family)
{
	static const char key[] = "\\protocol\\3";
	const uint8_t *at;
	size_t n;

	if (family != FAMILY_QUAKE3 || !oob->row ||
	    (oob->row->parse != oob_info_response &&
	     oob->row->parse != oob_status_response))
		return family;
	at = memmem(oob->arguments.bytes, oob->arguments.n, key, sizeof(key) - 1);
	if (!at)
		return family;
	at += sizeof(key) - 1;
	n = (size_t)(oob->arguments.bytes + oob->arguments.n - at);
	return !n || *at == '\\' || *at == '\n' ? FAMILY_NETQUAKE : family;
}

/* QuakeWorld's tools end these with a line feed, or ask with flags; Quake II's do not. */
enum wire_family oob_fallback(const struct oob *oob)
{
	bool quakeworld =
		ends_line(oob) || (oob->row->kind == KIND_STATUS && after_blanks(oob).n);

	if (quakeworld && (oob->candidates & IN_QW))
		return FAMILY_QUAKEWORLD;
	return oob->row->fallback;
}

void oob_decode(struct oob *oob, struct record *r)
{
	if (!oob->row) {
		bool empty = oob->n == OOB_MARKER;
		struct span text = { oob->payload + OOB_MARKER, oob->n - OOB_MARKER };

		r->kind = empty ? "oob-empty" : "oob-unknown";
		record_string(r, "text", text.bytes, text.n);
		record_malformed(r, empty ? "no word after the marker"
					  : "no such word in this protocol");
		return;
	}
	r->kind = oob->row->label;
	if (!oob->canonical)
		record_bool(r, "unusual_spelling", true);
	oob->row->parse(oob, r);
}
