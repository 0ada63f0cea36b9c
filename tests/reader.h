/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * reader.h - which kind a datagram from a client to a server is, read a second time.
 *
 * Written from the tables of wire.h, docs/PROTOCOLS.md and how engines cut words, before
 * classify.h and word.h were looked at; where all of that was silent, the rule is now a
 * sentence in wire.h. It shares no line with them. Strings and loops, as slow as they are
 * plain: a mistake in the fast one is not here too.
 */
#ifndef READER_H
#define READER_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "wire.h"

struct reader_text {
	const unsigned char *at;
	size_t n;
};

/* A number of so many @octets, the highest first. */
static inline unsigned int reader_big(const unsigned char *at, int octets)
{
	unsigned int ret = 0;

	while (octets--)
		ret = ret * 256 + *at++;
	return ret;
}

static inline bool reader_begins(struct reader_text t, const char *text)
{
	size_t n = strlen(text);

	return t.n >= n && memcmp(t.at, text, n) == 0;
}

static inline bool reader_is_letter(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static inline int reader_lower(unsigned char c)
{
	return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

/* --- behind the marker ----------------------------------------------------------------
 */

static inline bool reader_same_word(struct reader_text t, const char *word)
{
	if (t.n != strlen(word))
		return false;
	for (size_t i = 0; i < t.n; i++) {
		int want = reader_lower((unsigned char)word[i]);

		if (reader_lower(t.at[i]) != want && !(want == '_' && t.at[i] == 0x7f))
			return false;
	}
	return true;
}

/* The row of the word that @t is, from its first letter to its last; KIND_COUNT: none. */
static inline enum wire_kind reader_row(struct reader_text t)
{
	static const struct {
		enum wire_kind kind;
		const char *word;
	} rows[] = {
#define AS_ROW(kind, word, class_, families, sent) { KIND_##kind, word },
		WIRE_WORDS(AS_ROW)
#undef AS_ROW
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (reader_same_word(t, rows[i].word))
			return rows[i].kind;
	}
	return KIND_COUNT;
}

/* Up to a blank, which to engines is all up to 20h; DarkPlaces writes `connect\` and
 * `d0pk\`. */
static inline struct reader_text reader_word(struct reader_text t)
{
	struct reader_text ret = { t.at, 0 };
	struct reader_text connect = { t.at, 7 };

	while (ret.n < t.n && t.at[ret.n] > ' ')
		ret.n++;
	if (t.n > 7 && t.at[7] == '\\' && reader_same_word(connect, "connect"))
		ret.n = 7;
	if (t.n > 4 && !memcmp(t.at, "d0pk\\", 5))
		ret.n = 4;
	return ret;
}

/* Valve's queries and answers begin with one letter, of that case. */
static inline enum wire_kind reader_valve(struct reader_text t)
{
	switch (t.at[0]) {
	case 'T':
		return reader_same_word(reader_word(t), "tsource") ? KIND_A2S_INFO
								   : KIND_COUNT;
	case 'U':
		return t.n == 1 + 4 ? KIND_A2S_PLAYER : KIND_COUNT;
	case 'V':
		return t.n == 1 + 4 ? KIND_A2S_RULES : KIND_COUNT;
	case 'W':
		return t.n <= 1 + 4 ? KIND_A2S_CHALLENGE : KIND_COUNT;
	case 'i':
		return t.n <= 1 + 1 ? KIND_A2S_PING : KIND_COUNT;
	case 'A':
	case 'D':
	case 'E':
	case 'I':
		return t.n > 1 ? KIND_A2S_REPLY : KIND_COUNT;
	default:
		return KIND_COUNT;
	}
}

/* QuakeWorld's answers: what follows stands directly behind one letter. */
static inline enum wire_kind reader_letter(struct reader_text t)
{
	struct reader_text chunk = { t.at, 7 };
	int second = t.n > 1 ? t.at[1] : '\0';

	if (t.n >= chunk.n && reader_same_word(chunk, "n\\chunk"))
		return KIND_QW_CHUNK;
	if (t.at[0] == 'c' && (second == '-' || (second >= '0' && second <= '9')))
		return KIND_S2C_CHALLENGE;
	if (t.at[0] == 'n' && (second == '\\' || second == '\n'))
		return KIND_A2C_PRINT;
	if (t.at[0] == 'd' && second == '\n')
		return KIND_M2C_SERVERS;
	return KIND_COUNT;
}

/* A master and `auto` have the words of every protocol. */
static inline bool reader_has_quakeworld(enum wire_family family)
{
	return family == FAMILY_QUAKEWORLD || family == FAMILY_AUTO ||
	       family == FAMILY_MASTER;
}

static inline enum wire_kind reader_marked(enum wire_family family, struct reader_text t)
{
	struct reader_text word;
	enum wire_kind kind;

	if (t.n == 0 || t.at[0] == '\0' || t.at[0] == '\n')
		return KIND_OOB_EMPTY;
	if ((family == FAMILY_QUAKE2 || family == FAMILY_QUAKE3) && t.at[0] >= '2' &&
	    t.at[0] <= '9' && t.n >= 7)
		return KIND_ECHO_RETURN;
	if (!reader_is_letter(t.at[0]))
		return KIND_OOB_UNUSUAL;
	word = reader_word(t);
	kind = reader_row(word);
	if (kind == KIND_COUNT && reader_has_quakeworld(family))
		kind = reader_letter(t);
	if (kind == KIND_COUNT)
		kind = reader_valve(t);
	return kind == KIND_COUNT ? KIND_OOB_UNKNOWN : kind;
}

/* --- NetQuake -------------------------------------------------------------------------
 */

static inline enum wire_kind reader_opcode(unsigned char code)
{
	switch (code) {
#define AS_OPCODE(kind, code_, name, class_, families) \
	case code_:                                    \
		return KIND_##kind;
		WIRE_CONTROL(AS_OPCODE)
#undef AS_OPCODE
	default:
		return KIND_COUNT;
	}
}

/* What adds up as NetQuake, in the clear; KIND_COUNT: does not. */
static inline enum wire_kind reader_netquake(struct reader_text t, bool naks)
{
	unsigned int flags;

	if (t.n < 5 || reader_big(t.at + 2, 2) != t.n)
		return KIND_COUNT;
	flags = reader_big(t.at, 2);
	if (flags == 0x8000)
		return reader_opcode(t.at[4]);
	if (t.n < 8)
		return KIND_COUNT;
	if (flags == 0x0001 || flags == 0x0009)
		return KIND_NQ_RELIABLE;
	if (flags == 0x0002 && t.n == 8)
		return KIND_NQ_ACK;
	if (flags == 0x0004 && naks)
		return KIND_NQ_NAK;
	return flags == 0x0010 ? KIND_NQ_UNRELIABLE : KIND_COUNT;
}

/* What does not: with DarkPlaces' encryption any octets, but not a clear header's. */
static inline enum wire_kind reader_encrypted(enum wire_family family,
					      struct reader_text t)
{
	static const unsigned int headers[] = { 0x8000, 0x0001, 0x0002,
						0x0004, 0x0009, 0x0010 };

	if (t.n < 5)
		return KIND_RUNT;
	if (family != FAMILY_NETQUAKE || t.n < 16 + 8)
		return KIND_MALFORMED;
	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
		if (reader_big(t.at, 2) == headers[i])
			return KIND_MALFORMED;
	}
	return KIND_NQ_ENCRYPTED;
}

/* --- DTLS -----------------------------------------------------------------------------
 */

#define READER_RECORD	 13 /* of a record's header */
#define READER_HANDSHAKE 12 /* of a message's */

/* @body: of the message, as far as the record has it. */
static inline enum wire_kind reader_client_hello(struct reader_text body)
{
	/* Behind version and random stand session and cookie, each with its length. */
	size_t session = 2 + 32, cookie;

	if (body.n < session + 2)
		return KIND_DTLS_CLIENT_HELLO;
	cookie = session + 1 + body.at[session];
	if (body.at[session] > 32 || cookie >= body.n)
		return KIND_MALFORMED;
	return body.at[cookie] ? KIND_DTLS_HELLO_COOKIE : KIND_DTLS_CLIENT_HELLO;
}

static inline enum wire_kind reader_handshake(struct reader_text message)
{
	if (message.n <= READER_HANDSHAKE)
		return message.n == READER_HANDSHAKE && message.at[0] == 14
			       ? KIND_DTLS_HELLO_DONE
			       : KIND_DTLS_OTHER;
	if (message.at[0] == 1)
		return reader_client_hello((struct reader_text){
			message.at + READER_HANDSHAKE, message.n - READER_HANDSHAKE });
	switch (message.at[0]) {
#define AS_TYPE(kind, code, name, class_, families) \
	case code:                                  \
		return KIND_##kind;
		WIRE_HANDSHAKE(AS_TYPE)
#undef AS_TYPE
	default:
		return KIND_DTLS_OTHER;
	}
}

/* By the first record; KIND_COUNT: it is none, or does not fit. */
static inline enum wire_kind reader_dtls(struct reader_text t)
{
	bool clear;
	size_t length;

	if (t.n < READER_RECORD || t.at[1] != 0xfe ||
	    (t.at[2] != 0xfd && t.at[2] != 0xff))
		return KIND_COUNT;
	length = reader_big(t.at + 11, 2);
	if (length == 0 || length > t.n - READER_RECORD)
		return KIND_COUNT;
	clear = reader_big(t.at + 3, 2) == 0;
	switch (t.at[0]) {
	case 0x14:
		return KIND_DTLS_CCS;
	case 0x15:
		return clear ? KIND_DTLS_ALERT : KIND_DTLS_DATA;
	case 0x16:
		return clear ? reader_handshake((struct reader_text){
				       t.at + READER_RECORD, length })
			     : KIND_DTLS_ENCRYPTED;
	case 0x17:
		return clear ? KIND_MALFORMED : KIND_DTLS_DATA;
	case 0x18:
		return KIND_DTLS_HEARTBEAT;
	default:
		return KIND_COUNT;
	}
}

/* --- without a marker -----------------------------------------------------------------
 */

/* What QuakeWorld's servers, masters and loggers say; KIND_COUNT: none of it. */
static inline enum wire_kind reader_bare(struct reader_text t)
{
	if (reader_begins(t, "a\n"))
		return t.n > 2 && t.at[2] >= '0' && t.at[2] <= '9' ? KIND_S2M_HEARTBEAT
								   : KIND_COUNT;
	if (reader_begins(t, "C\n"))
		return t.n <= 3 ? KIND_S2M_SHUTDOWN : KIND_COUNT;
	if (reader_begins(t, "c\n"))
		return t.n <= 3 ? KIND_C2M_QUERY : KIND_COUNT;
	if (t.n == 2 && t.at[0] == 'k' && t.at[1] == '\0')
		return KIND_S2M_PING;
	if (t.n == 1 && t.at[0] == 'l')
		return KIND_RAW_ACK;
	if (t.n == 1 && t.at[0] == 'm')
		return KIND_RAW_NACK;
	return reader_begins(t, "stdlog ") ? KIND_RAW_STDLOG : KIND_COUNT;
}

/* A sequence, the lowest octet first; its top bit is none of it. */
static inline enum wire_kind reader_sequenced(enum wire_family family,
					      struct reader_text t)
{
	size_t most = family == FAMILY_QUAKE3 ? 1400 : 1472;
	bool none;

	if (t.n < 8)
		return KIND_RUNT;
	none = !t.at[0] && !t.at[1] && !t.at[2] && !(t.at[3] & 0x7f);
	if (t.n > most || (none && (family == FAMILY_QUAKE2 || family == FAMILY_QUAKE3)))
		return KIND_MALFORMED;
	return family == FAMILY_QUAKE3 && t.at[3] & 0x80 ? KIND_NETCHAN_FRAGMENT
							 : KIND_NETCHAN;
}

/* The kind of @n octets that a client sends to a server of @family. */
static inline enum wire_kind reader_kind(enum wire_family family, const void *octets,
					 size_t n)
{
	bool netquake = family == FAMILY_NETQUAKE || family == FAMILY_QUAKE_ENHANCED;
	bool quakeworld = reader_has_quakeworld(family);
	struct reader_text t = { octets, n };
	struct reader_text query = { octets, 5 };
	enum wire_kind kind = KIND_COUNT;

	if (reader_begins(t, "\xff\xff\xff\xff"))
		return reader_marked(family, (struct reader_text){ t.at + 4, n - 4 });
	if (netquake || quakeworld) {
		kind = reader_netquake(t, netquake);
		if (kind == KIND_COUNT)
			kind = reader_dtls(t);
	}
	if (kind == KIND_COUNT && netquake)
		kind = reader_encrypted(family, t);
	if (kind == KIND_COUNT && quakeworld)
		kind = reader_bare(t);
	/* In capitals it may be numbers of a session. */
	if (kind == KIND_COUNT && (family == FAMILY_QUAKE2 || family == FAMILY_MASTER) &&
	    n >= 5 && n <= 8 && reader_same_word(query, "query") &&
	    !reader_begins(t, "QUERY"))
		kind = KIND_Q2_MASTER_QUERY;
	return kind == KIND_COUNT ? reader_sequenced(family, t) : kind;
}

#endif /* READER_H */
