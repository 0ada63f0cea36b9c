/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * classify.h - from the bytes of a datagram to its kind.
 *
 * Pure: no maps, no helpers, no clock. Compiled into the kernel programs and, unchanged,
 * into the unit tests and the fuzzer. What comes out is what a real server would act on,
 * or something stricter: a spelling that no client uses (leading blanks, quotes,
 * comments, bytes above 127) is KIND_OOB_UNUSUAL or KIND_OOB_UNKNOWN, which share the
 * strict limits, even where an engine's tokeniser would find a word in it.
 *
 * Called at the interface in two halves, classify_oob() and classify_unmarked(), by
 * bpf/classify_frame.bpf.h; by egress as classify_out(); in userland by the cache and by
 * `replay`. The parts between them are called only in this file, except where a comment
 * names a caller. Counters, limits and samples are by kind, so programs and userland must
 * find the same. A part that returns KIND_COUNT leaves the datagram to the next part; the
 * order in classify_unmarked() matters. Read each byte of the payload by cursor_take(),
 * or the verifier rejects the load.
 *
 * Other places have the same rules: the comment at the top of wire.h, from which
 * tests/reader.h was written, and the short cuts of the fast path, classify_letters() and
 * game_kind(). A change of a rule changes these too. tests/include/test_reader.c and
 * tests/kern/kern_ways.c compare them.
 */
#ifndef CLASSIFY_H
#define CLASSIFY_H

#include <stdbool.h>

#include "challenge.h"

#define SEQUENCED_MIN	 8 /* bytes: below it no family has a game packet */
#define SEQUENCED_MAX	 1472 /* more does not fit a frame of 1500 bytes */
#define NQ_ENCRYPTED_MIN 24 /* digest 16, NetQuake header 8 */
#define QUAKE3_MAX	 1400 /* 1300 of payload and at most 14 of header, and some room */

/* --- out-of-band datagrams whose word is in no row -------------------------------------
 */

/*
 * Return true for '0' to '9'. Called by conntrack_egress.bpf.h and connects.bpf.h too.
 */
static __always_inline bool is_digit(__u8 c)
{
	return c >= '0' && c <= '9';
}

/* Return true for an ASCII letter. */
static __always_inline bool is_letter(__u8 c)
{
	return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

/*
 * Return true if one letter may be a word there. QuakeWorld servers answer so (mvdsv, FTE
 * too), and `auto` and a master have the words of every protocol. A NetQuake service has
 * words of one letter only on their way out.
 */
static __always_inline bool has_letters(enum wire_family family, enum direction direction)
{
	return family == FAMILY_QUAKEWORLD || family >= FAMILY_AUTO ||
	       (family == FAMILY_NETQUAKE && direction == DIRECTION_S2C);
}

/*
 * Return the byte after the first letter of a datagram of @length bytes at @start; 0:
 * there is none.
 */
static __always_inline __u8 letter_second(struct cursor start, __u32 length)
{
	const __u8 *at = length > 5 ? cursor_take(&start, 6) : NULL;

	return at ? at[5] : 0;
}

/*
 * Return KIND_CONNECT if the word begins with connect\ without a space before the
 * infostring, as DarkPlaces writes it; KIND_OOB_UNKNOWN if it begins with connect| ,
 * which is the same in @first; KIND_COUNT if it begins otherwise. @start: of the whole
 * datagram, as in the next two; @first: as in classify_other().
 */
static __always_inline enum wire_kind classify_connect(struct cursor start, __u64 first)
{
	const __u8 *at;

	if (first != WORD_PART("connect\\", 0))
		return KIND_COUNT;
	at = cursor_take(&start, 12);
	return at && at[11] == '\\' ? KIND_CONNECT : KIND_OOB_UNKNOWN;
}

/*
 * Return true if the datagram is d0pk\cnt\..., a step of the key exchange of
 * DarkPlaces; in lower case only. Called by classify_other().
 */
static __always_inline bool is_key_step(struct cursor start, __u32 length)
{
	const __u8 *at = length > 8 ? cursor_take(&start, 9) : NULL;

	return at && load_u32(at + 4) == (__u32)WORD_PART("d0pk", 0) && at[8] == '\\';
}

/*
 * Classify a datagram with the marker whose word begins with a letter and is in no row:
 * the letter alone, or little after it, decides. @start: of the whole datagram; @first:
 * its first 8 letters as word_cut() leaves them, in which `\` and `|` are the same;
 * @letter: the first as it is. Valve's queries share the marker.
 *
 * Called by classify_oob(), after word_kind() has found no row. A new case must be as
 * strict as clients are: other spellings stay KIND_OOB_UNKNOWN.
 */
static __always_inline enum wire_kind classify_other(enum wire_family family,
						     enum direction direction,
						     struct cursor start, __u64 first,
						     __u8 letter, __u32 length)
{
	enum wire_kind kind;
	__u8 second;

	switch (letter) {
	case 'c':
	case 'C':
		kind = classify_connect(start, first);
		if (kind != KIND_COUNT)
			return kind;
		if (letter != 'c' || !has_letters(family, direction))
			return KIND_OOB_UNKNOWN;
		second = letter_second(start, length);
		return second == '-' || is_digit(second) ? KIND_S2C_CHALLENGE
							 : KIND_OOB_UNKNOWN;
	case 'n':
	case 'N':
		if (!has_letters(family, direction))
			return KIND_OOB_UNKNOWN;
		second = letter_second(start, length);
		/* Seven letters, and then a number without a blank. */
		if (first << 8 == WORD_PART("n\\chunk", 0) << 8 && second == '\\')
			return KIND_QW_CHUNK;
		return letter == 'n' && (direction != DIRECTION_C2S || second == '\\' ||
					 second == '\n')
			       ? KIND_A2C_PRINT
			       : KIND_OOB_UNKNOWN;
	case 'd':
		if (is_key_step(start, length))
			return KIND_D0PK;
		return has_letters(family, direction) &&
				       letter_second(start, length) == '\n'
			       ? KIND_M2C_SERVERS
			       : KIND_OOB_UNKNOWN;
	case 'B':
		return direction != DIRECTION_C2S && has_letters(family, direction)
			       ? KIND_A2C_CLIENT_COMMAND
			       : KIND_OOB_UNKNOWN;
	case 'T':
		return first == WORD_PART("tsource", 0) ? KIND_A2S_INFO
							: KIND_OOB_UNKNOWN;
	case 'U':
		return length == 9 ? KIND_A2S_PLAYER : KIND_OOB_UNKNOWN;
	case 'V':
		return length == 9 ? KIND_A2S_RULES : KIND_OOB_UNKNOWN;
	case 'W':
		return length <= 9 ? KIND_A2S_CHALLENGE : KIND_OOB_UNKNOWN;
	case 'i':
		return length <= 6 ? KIND_A2S_PING : KIND_OOB_UNKNOWN;
	case 'A':
	case 'I':
	case 'D':
	case 'E':
		return length > 5 ? KIND_A2S_REPLY : KIND_OOB_UNKNOWN;
	default:
		return KIND_OOB_UNKNOWN;
	}
}

/*
 * Classify a datagram of @length bytes at @start that begins with the marker; never
 * KIND_COUNT. Called by classify() and classify_text_at() after is_marked() or the same
 * comparison. KIND_ECHO_RETURN results only of DIRECTION_C2S.
 */
static __always_inline enum wire_kind classify_oob(enum wire_family family,
						   enum direction direction,
						   struct cursor start, __u32 length)
{
	struct cursor c = start;
	const __u8 *at;
	__u32 kind;
	__u64 first;
	__u8 letter;

	if (length < 5)
		return KIND_OOB_EMPTY;
	at = cursor_take(&c, 5);
	if (!at)
		return KIND_OOB_EMPTY;
	letter = at[4];
	if (!is_letter(letter)) /* no word begins so */
		return !letter || letter == '\n' ? KIND_OOB_EMPTY
		       : direction == DIRECTION_C2S && echo_begins(family, letter, length)
			       ? KIND_ECHO_RETURN
			       : KIND_OOB_UNUSUAL;
	kind = word_kind(start, length, &first);
	return kind != KIND_COUNT
		       ? kind
		       : classify_other(family, direction, start, first, letter, length);
}

/* --- NetQuake and DTLS: recognised by structure ----------------------------------------
 */

/*
 * Return true for the protocols that NetQuake's header is of. Called in this file, and by
 * acl_lifts() for admit() and player_conflict(): an allowed source may connect to a
 * server of a family in it from an address in use.
 */
static __always_inline bool family_is_netquake(enum wire_family family)
{
	return family == FAMILY_NETQUAKE || family == FAMILY_QUAKE_ENHANCED;
}

/* Return the kind of a NetQuake control packet with the code @op; KIND_COUNT: unknown. */
static __always_inline enum wire_kind classify_control(__u8 op)
{
	switch (op) {
#define MATCH(kind, code, name, class_, families) \
	case code:                                \
		return KIND_##kind;
		WIRE_CONTROL(MATCH)
#undef MATCH
	default:
		return KIND_COUNT;
	}
}

/*
 * Classify by NetQuake's header. @head: the first bytes, little-endian. KIND_COUNT: flags
 * or length do not fit. Called by classify_short(), classify_unmarked(),
 * game_port_begins() and other_protocol_shape(). A change of the flags belongs in
 * classify_encrypted() too. game_kind() repeats the rule of KIND_NQ_UNRELIABLE, and
 * leaves other datagrams with a fitting length to this function.
 */
static __always_inline enum wire_kind classify_netquake(enum wire_family family,
							__u64 head, __u32 length)
{
	if (__builtin_bswap16((__u16)(head >> 16)) != length || length < 5)
		return KIND_COUNT;
	if ((__u16)head == 0x0080)
		return classify_control((__u8)(head >> 32));
	if ((__u8)head != 0x00 || length < 8)
		return KIND_COUNT;
	switch ((__u8)(head >> 8)) {
	case 0x01:
	case 0x09:
		return KIND_NQ_RELIABLE;
	case 0x02:
		return length == 8 ? KIND_NQ_ACK : KIND_COUNT;
	case 0x04: /* no client sends it, but it may be a QuakeWorld sequence number */
		return family_is_netquake(family) ? KIND_NQ_NAK : KIND_COUNT;
	case 0x10:
		return KIND_NQ_UNRELIABLE;
	default:
		return KIND_COUNT;
	}
}

/*
 * Classify a datagram that may be encrypted by DarkPlaces (d0_blind_id): its first byte
 * is the count of padding (AES), or its first 16 are a digest, so they may be anything. A
 * datagram that begins with NetQuake's flags in the clear is malformed, since
 * classify_netquake() has found its header wrong: keep the list of flags in step with
 * that function. Called by classify_unmarked() for NetQuake and Quake Enhanced.
 */
static __always_inline enum wire_kind classify_encrypted(enum wire_family family,
							 __u32 head, __u32 length)
{
	if (family != FAMILY_NETQUAKE || length < NQ_ENCRYPTED_MIN)
		return KIND_MALFORMED;
	switch ((__u16)head) { /* first byte lowest */
	case 0x0080:
	case 0x0100:
	case 0x0200:
	case 0x0400:
	case 0x0900:
	case 0x1000:
		return KIND_MALFORMED;
	default:
		return KIND_NQ_ENCRYPTED;
	}
}

#define DTLS_RECORD    13 /* bytes of record header */
#define DTLS_HANDSHAKE 12 /* bytes of handshake header */

/*
 * Classify a ClientHello at its body @c: one with a cookie, which validates the client if
 * the server knows it, or one without. @left: bytes of the record after the handshake
 * header. Called by classify_handshake().
 */
static __always_inline enum wire_kind classify_hello(struct cursor c, __u32 left)
{
	/* version 2, random 32, session id length 1 */
	const __u8 *fixed = cursor_take(&c, 35);
	const __u8 *cookie;

	if (!fixed || fixed[34] > 32 || 35u + fixed[34] >= left)
		return KIND_MALFORMED;
	if (!cursor_take(&c, fixed[34]))
		return KIND_MALFORMED;
	cookie = cursor_take(&c, 1);
	if (!cookie)
		return KIND_MALFORMED;
	return *cookie ? KIND_DTLS_HELLO_COOKIE : KIND_DTLS_CLIENT_HELLO;
}

/*
 * Classify a DTLS handshake message in the clear at @c. @left: bytes of the record.
 * Called by classify_dtls() for epoch 0.
 */
static __always_inline enum wire_kind classify_handshake(struct cursor c, __u32 left)
{
	const __u8 *head =
		left >= DTLS_HANDSHAKE ? cursor_take(&c, DTLS_HANDSHAKE) : NULL;

	/* A ServerHelloDone is a header alone. */
	if (!head || (left == DTLS_HANDSHAKE && head[0] != 14))
		return KIND_DTLS_OTHER;
	switch (head[0]) {
#define MATCH(kind, code, name, class_, families)                               \
	case code:                                                              \
		return KIND_##kind == KIND_DTLS_CLIENT_HELLO && left >= 12 + 36 \
			       ? classify_hello(c, left - DTLS_HANDSHAKE)       \
			       : KIND_##kind;
		WIRE_HANDSHAKE(MATCH)
#undef MATCH
	default:
		return KIND_DTLS_OTHER;
	}
}

/*
 * Classify a DTLS record at @c. @head: its first bytes, little-endian. KIND_COUNT: it is
 * none. Called by classify_unmarked() and other_protocol_shape(). game_kind() leaves all
 * with FE as second byte to this function.
 */
static __always_inline enum wire_kind classify_dtls(struct cursor c, __u64 head,
						    __u32 length)
{
	const __u8 *r;
	__u32 record;
	bool clear;

	/* FE FD or FE FF. */
	if ((__u8)(head - 0x14) > 4 || (head & 0xfdff00) != 0xfdfe00)
		return KIND_COUNT;
	r = length > DTLS_RECORD ? cursor_take(&c, DTLS_RECORD) : NULL;
	if (!r)
		return KIND_COUNT;
	record = load_be16(r + 11);
	if (!record || record > length - DTLS_RECORD)
		return KIND_COUNT;

	clear = !(r[3] | r[4]); /* epoch 0 */
	switch (r[0]) {
	case 0x14:
		return KIND_DTLS_CCS;
	case 0x15:
		return clear ? KIND_DTLS_ALERT : KIND_DTLS_DATA;
	case 0x16:
		return clear ? classify_handshake(c, record) : KIND_DTLS_ENCRYPTED;
	case 0x17:
		return clear ? KIND_MALFORMED : KIND_DTLS_DATA;
	default:
		return KIND_DTLS_HEARTBEAT;
	}
}

/* --- the rest ---------------------------------------------------------------- */

/*
 * Return true if the datagram is `query`, by which Quake II asks a master: in any case
 * but five capitals, and with at most three bytes after it. Called by classify_raw().
 */
static __always_inline bool raw_query(__u64 head, __u32 length)
{
	return (head & 0x2020202020ull) && length >= 5 && length <= 8 &&
	       ((head | 0x2020202020ull) & 0xffffffffffull) == WORD_PART("query", 0);
}

/*
 * Classify QuakeWorld's and Quake II's forms without a marker: masters, ping and log
 * answers. KIND_COUNT: none of them. @head: the first bytes, little-endian, zeros after
 * them. Called by classify_short(), classify_unmarked() and other_protocol_shape(), not
 * for FAMILY_QUAKE3. game_kind() must leave each form of 10 bytes or more to it.
 */
static __always_inline enum wire_kind classify_raw(enum wire_family family, __u64 head,
						   __u32 length)
{
	if (family == FAMILY_QUAKE2)
		return raw_query(head, length) ? KIND_Q2_MASTER_QUERY : KIND_COUNT;
	if (family == FAMILY_MASTER && raw_query(head, length))
		return KIND_Q2_MASTER_QUERY;
	if (length == 1)
		return head == 'l'   ? KIND_RAW_ACK
		       : head == 'm' ? KIND_RAW_NACK
				     : KIND_COUNT;
	/* Two letters are a sequence number too: what follows decides. */
	switch ((__u16)head) {
	case 'a' | '\n' << 8:
		return length > 2 && is_digit(head >> 16) ? KIND_S2M_HEARTBEAT
							  : KIND_COUNT;
	case 'C' | '\n' << 8:
		return length <= 3 ? KIND_S2M_SHUTDOWN : KIND_COUNT;
	case 'k':
		return length == 2 ? KIND_S2M_PING : KIND_COUNT;
	case 'c' | '\n' << 8:
		return length <= 3 ? KIND_C2M_QUERY : KIND_COUNT;
	default:
		return (head & 0xffffffffffffffull) == 0x20676f6c647473ull /* "stdlog " */
			       ? KIND_RAW_STDLOG
			       : KIND_COUNT;
	}
}

/*
 * Classify a datagram that begins with a sequence, by its length, by whether the sequence
 * after the top bit is 0, and in Quake III by that bit. @sequence: its first 4 bytes.
 * Called last by classify_unmarked(), and by game_kind(), which must return what
 * classify() would.
 */
static __always_inline enum wire_kind classify_sequenced(enum wire_family family,
							 __u32 sequence, __u32 length)
{
	if (length < SEQUENCED_MIN)
		return KIND_RUNT;
	if (length > (family == FAMILY_QUAKE3 ? QUAKE3_MAX : SEQUENCED_MAX))
		return KIND_MALFORMED;
	/* ezquake really sends QuakeWorld sequence 0, with the reliable bit. */
	if (!(sequence & 0x7fffffff) && family != FAMILY_QUAKEWORLD &&
	    family < FAMILY_AUTO)
		return KIND_MALFORMED;
	return family == FAMILY_QUAKE3 && sequence >> 31 ? KIND_NETCHAN_FRAGMENT
							 : KIND_NETCHAN;
}

/*
 * Return true if a datagram of @length bytes at @c begins with the marker. Called by
 * classify(), fast_path(), kind_at(), packet_marked() and `replay`.
 */
static __always_inline bool is_marked(struct cursor c, __u32 length)
{
	const void *head = length >= 4 ? cursor_take(&c, 4) : NULL;

	return head && load_u32(head) == 0xffffffff;
}

/*
 * Classify a datagram of less than 8 bytes without the marker; no game traffic is so
 * short. Called by classify_unmarked().
 */
static __always_inline enum wire_kind classify_short(enum wire_family family,
						     struct cursor c, __u32 length)
{
	enum wire_kind kind = KIND_COUNT;
	struct cursor rest = c;
	const __u8 *at;

	if (family != FAMILY_QUAKE2 && family != FAMILY_QUAKE3) {
		at = length >= 5 ? cursor_take(&rest, 5) : NULL;
		if (at)
			kind = classify_netquake(
				family, load_u32(at) | (__u64)at[4] << 32, length);
		if (kind != KIND_COUNT)
			return kind;
		if (family_is_netquake(family))
			return length < 5 ? KIND_RUNT : KIND_MALFORMED;
	}
	if (family != FAMILY_QUAKE3)
		kind = classify_raw(family, take_u64(&c, length), length);
	return kind != KIND_COUNT ? kind : KIND_RUNT;
}

/*
 * Classify a datagram that does not begin with the marker; never KIND_COUNT. Called by
 * classify() and classify_game_at().
 */
static __always_inline enum wire_kind classify_unmarked(enum wire_family family,
							struct cursor c, __u32 length)
{
	struct cursor rest = c;
	enum wire_kind kind;
	const void *at;
	__u64 head;

	if (length < SEQUENCED_MIN)
		return classify_short(family, c, length);
	at = cursor_take(&rest, 8);
	if (!at)
		return KIND_RUNT;
	head = load_u64(at);
	if (family != FAMILY_QUAKE2 && family != FAMILY_QUAKE3) {
		kind = classify_netquake(family, head, length);
		if (kind != KIND_COUNT)
			return kind;
		kind = classify_dtls(c, head, length);
		if (kind != KIND_COUNT)
			return kind;
		if (family_is_netquake(family))
			return classify_encrypted(family, head, length);
	}
	if (family != FAMILY_QUAKE3) {
		kind = classify_raw(family, head, length);
		if (kind != KIND_COUNT)
			return kind;
	}
	return classify_sequenced(family, head, length);
}

/*
 * Return the kind of a UDP payload of @length bytes at @c, on a service of @family. @c
 * may end later than @length says (Ethernet padding): those bytes are not looked at.
 * Never KIND_COUNT. The payload cannot tell KIND_FRAGMENT, KIND_BAD_LENGTH,
 * KIND_COALESCED and KIND_OTHER_PROTOCOL: the programs set these in place of the result.
 * tests/fuzz/include/fuzz_classify.c holds it to any bytes.
 */
static __always_inline enum wire_kind
classify(enum wire_family family, enum direction direction, struct cursor c, __u32 length)
{
	return is_marked(c, length) ? classify_oob(family, direction, c, length)
				    : classify_unmarked(family, c, length);
}

#endif /* CLASSIFY_H */
