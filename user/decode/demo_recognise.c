// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * demo_recognise.c - told apart by content, the surest signs first. The containers
 * without a magic must show a chain of sound blocks: a short one if the first block holds
 * what the engine writes first, else one to the end of the prefix that holds it
 * somewhere.
 */
#include <math.h>
#include <string.h>

#include "decode/demo_recognise.h"
#include "decode/family.h"
#include "lib/reader.h"

#define QW_NOP		     1
#define QW_PRINT	     8
#define QW_STUFFTEXT	     9
#define QW_SERVERDATA	     11
#define QW_OP_MAX	     101 /* of a QuakeWorld server */
#define Q2_NOP		     6
#define Q2_PRINT	     10
#define Q2_STUFFTEXT	     11
#define Q2_SERVERDATA	     12
#define Q2_SERVERDATA_OLDEST 7 /* before protocol 26 */
#define Q2_OP_BITS	     31 /* above them protocol 36 has flags of a frame */
#define Q2_OP_MAX	     24
#define CHAIN		     4 /* blocks that must be sound, if the prefix holds so many */

enum block {
	BLOCK_UNSOUND,
	BLOCK_ODD, /* its frame is sound, but the message in it begins with no known op */
	BLOCK_SOUND,
	BLOCK_KNOWN, /* sound, and holds what only a recording of this kind does */
};

/*
 * Step over a block and say what it is. Beyond the prefix all is sound. @first: where the
 * engine writes it first, less is enough to know serverdata by.
 */
typedef enum block block_skip(struct reader *rd, bool first);

/* A recording as the engine begins it. */
static bool chain_sound(const uint8_t *bytes, size_t n, block_skip *skip)
{
	struct reader rd = reader_of(bytes, n);

	for (int i = 0; i < CHAIN; i++) {
		enum block block;

		if (!reader_left(&rd))
			return i > 0;
		block = skip(&rd, !i);
		if (block == BLOCK_UNSOUND || (!i && block != BLOCK_KNOWN))
			return false;
		if (reader_failed(&rd))
			return i > 0 || n == DEMO_PREFIX;
	}
	return true;
}

/* One with something before that, as tools write: all of the prefix must be sound. */
static bool chain_known(const uint8_t *bytes, size_t n, block_skip *skip)
{
	struct reader rd = reader_of(bytes, n);
	bool known = false;

	while (reader_left(&rd)) {
		enum block block = skip(&rd, false);

		if (block == BLOCK_UNSOUND || block == BLOCK_ODD)
			return false;
		if (reader_failed(&rd))
			break;
		known |= block == BLOCK_KNOWN;
	}
	return known;
}

static enum block dem_block(struct reader *rd, bool first)
{
	uint32_t length = reader_le32(rd) & 0x7fffffff;

	(void)first;
	for (int i = 0; i < 3; i++)
		if (!isfinite(reader_f32(rd)))
			return BLOCK_UNSOUND;
	if (!reader_failed(rd) && length > 65536)
		return BLOCK_UNSOUND;
	reader_take(rd, length);
	return BLOCK_KNOWN;
}

static bool is_dem(const uint8_t *bytes, size_t n)
{
	size_t at = 0;

	if (at < n && bytes[at] == '-')
		at++;
	while (at < n && at < 11 && bytes[at] >= '0' && bytes[at] <= '9')
		at++;
	return at < n && at && bytes[at] == '\n' &&
	       chain_sound(bytes + at + 1, n - at - 1, dem_block);
}

/* A datagram of a server: a word, or a sequence, what it acknowledges, and an op. */
static bool qwd_datagram(const uint8_t *bytes, size_t n)
{
	return !memcmp(bytes, "\xff\xff\xff\xff", 4) || n == 8 ||
	       (n > 8 && bytes[8] && bytes[8] <= QW_OP_MAX);
}

/*
 * Step over one block of a .qwd. 1: a datagram of a server; 0: another block; -1: no
 * block at all.
 */
static int qwd_skip(struct reader *rd)
{
	float seconds = reader_f32(rd);
	uint8_t type = reader_u8(rd);
	int32_t length = 36;
	const uint8_t *bytes;

	/* Below a microsecond but not zero it is no time, but other bytes. */
	if (seconds != 0 && !(seconds > 1e-6f && seconds < 1e7f))
		return -1;
	if (type == 1) {
		length = (int32_t)reader_le32(rd);
		/* A sequence and an acknowledgement at least, or a word. */
		if (!reader_failed(rd) && (length < 5 || length > 8192))
			return -1;
	} else if (type == 2) {
		length = 8;
	} else if (type) {
		return -1;
	}
	bytes = reader_take(rd, (size_t)length);
	if (type != 1 || !bytes)
		return 0;
	return qwd_datagram(bytes, (size_t)length) ? 1 : -1;
}

/*
 * Blocks of a client's own commands may come first, but without a datagram it is none:
 * their bytes may be anything, zeros too.
 */
static bool is_qwd(const uint8_t *bytes, size_t n)
{
	struct reader rd = reader_of(bytes, n);
	bool datagram = false;

	for (int i = 0; i < CHAIN || !datagram; i++) {
		int block = reader_left(&rd) ? qwd_skip(&rd) : 0;

		if (block < 0)
			return false;
		datagram |= block > 0;
		if (reader_failed(&rd) || !reader_left(&rd))
			break;
	}
	return datagram;
}

/* Step over texts that may stand before serverdata; a print has a level before its text.
 */
static void texts_skip(struct reader *rd, uint8_t nop, uint8_t print, uint8_t stufftext)
{
	while (reader_left(rd) &&
	       (*rd->pos == nop || *rd->pos == print || *rd->pos == stufftext)) {
		uint8_t op = reader_u8(rd);

		reader_take(rd, op == print);
		if (op != nop)
			reader_string(rd);
	}
}

/* svc_serverdata, and its protocol or the pair that names an extension. */
static bool qw_serverdata(const uint8_t *bytes, size_t n)
{
	static const char *const extensions[] = { "FTEX", "FTE2", "MVD1" };
	struct reader rd = reader_of(bytes, n);
	const uint8_t *name;
	uint32_t protocol;

	texts_skip(&rd, QW_NOP, QW_PRINT, QW_STUFFTEXT);
	if (reader_u8(&rd) != QW_SERVERDATA)
		return false;
	name = rd.pos;
	protocol = reader_le32(&rd);
	reader_take(&rd, 8); /* a mask or a count of spawns, and more */
	if (reader_failed(&rd))
		return false;
	for (size_t i = 0; i < sizeof(extensions) / sizeof(*extensions); i++)
		if (!memcmp(name, extensions[i], 4))
			return true;
	return protocol >= 24 && protocol <= 28;
}

static enum block mvd_block(struct reader *rd, bool first)
{
	uint8_t ms = reader_u8(rd), type = reader_u8(rd) & 7;
	const uint8_t *bytes;
	int32_t length = 8;
	bool known;

	(void)ms;
	if (reader_failed(rd))
		return BLOCK_SOUND;
	if (!type || type == 7)
		return BLOCK_UNSOUND;
	if (type == 3)
		reader_le32(rd);
	if (type != 2) {
		length = (int32_t)reader_le32(rd);
		if (!reader_failed(rd) && (length < 0 || length > 65536))
			return BLOCK_UNSOUND;
	}
	if (first) {
		/* Its end may be beyond the prefix. */
		known = length >= 5 && reader_left(rd) && *rd->pos == QW_SERVERDATA;
		reader_take(rd, (size_t)length);
		return known ? BLOCK_KNOWN : BLOCK_ODD;
	}
	bytes = reader_take(rd, (size_t)length);
	if (type == 2 || !length || !bytes)
		return BLOCK_SOUND;
	if (!*bytes || *bytes > QW_OP_MAX)
		return BLOCK_ODD;
	return qw_serverdata(bytes, (size_t)length) ? BLOCK_KNOWN : BLOCK_SOUND;
}

/* The answer of a QTV proxy, and behind the empty line its stream. */
static bool is_qtv(const uint8_t *bytes, size_t n)
{
	return n > 8 && !memcmp(bytes, "QTVSV ", 6) &&
	       (memmem(bytes, n, "\n\n", 2) || memmem(bytes, n, "\n\r\n", 3));
}

/* svc_serverdata and a protocol number; before protocol 26 the op was another. */
static bool q2_serverdata(const uint8_t *bytes, size_t n, bool texts)
{
	struct reader rd = reader_of(bytes, n);
	uint32_t protocol;
	uint8_t op;

	if (texts)
		texts_skip(&rd, Q2_NOP, Q2_PRINT, Q2_STUFFTEXT);
	op = reader_u8(&rd);
	protocol = reader_le32(&rd);
	return (op == Q2_SERVERDATA && protocol >= 20 && protocol <= 4000) ||
	       (op == Q2_SERVERDATA_OLDEST && protocol >= 19 && protocol <= 26);
}

static enum block dm2_block(struct reader *rd, bool first)
{
	int32_t length = (int32_t)reader_le32(rd);
	const uint8_t *bytes;

	if (reader_failed(rd) || (length == -1 && !first))
		return BLOCK_SOUND;
	if (length < 1 || length > 32768)
		return BLOCK_UNSOUND;
	if (first) {
		bool known = q2_serverdata(rd->pos, reader_left(rd), false);

		reader_take(rd, (size_t)length);
		return known ? BLOCK_KNOWN : BLOCK_ODD;
	}
	bytes = reader_take(rd, (size_t)length);
	if (!bytes)
		return BLOCK_SOUND;
	if (!(*bytes & Q2_OP_BITS) || (*bytes & Q2_OP_BITS) > Q2_OP_MAX)
		return BLOCK_ODD;
	return length > 12 && *bytes != Q2_SERVERDATA_OLDEST &&
			       q2_serverdata(bytes, (size_t)length, true)
		       ? BLOCK_KNOWN
		       : BLOCK_SOUND;
}

/* By what a family finds in the first message. */
static enum demo_format by_family(const uint8_t *bytes, size_t n)
{
	for (int f = 0; f < FAMILY_COUNT; f++) {
		const struct family *family = family_of((enum wire_family)f);
		enum demo_format format;

		if (!family || !family->recognise)
			continue;
		format = family->recognise((struct span){ bytes, n });
		if (format != DEMO_NONE)
			return format;
	}
	return DEMO_NONE;
}

enum demo_format demo_recognise(const uint8_t *bytes, size_t n)
{
	enum demo_format format;

	if (n > 4 && !memcmp(bytes, "MVD2", 4))
		return DEMO_MVD2;
	if (is_qtv(bytes, n))
		return DEMO_MVD;
	if (is_dem(bytes, n))
		return DEMO_DEM;
	format = by_family(bytes, n);
	if (format != DEMO_NONE)
		return format;
	if (chain_sound(bytes, n, dm2_block) || chain_known(bytes, n, dm2_block))
		return DEMO_DM2;
	if (chain_sound(bytes, n, mvd_block) || chain_known(bytes, n, mvd_block))
		return DEMO_MVD;
	if (is_qwd(bytes, n))
		return DEMO_QWD;
	return DEMO_NONE;
}

/* Two blocks as .dm_NN has them, with sequences that follow each other. */
static bool looks_dm3(struct reader rd)
{
	int32_t last = 0;

	for (int i = 0; i < 3; i++) {
		int32_t sequence = (int32_t)reader_le32(&rd);
		int32_t length = (int32_t)reader_le32(&rd);

		if (length <= 0 || length > DEMO_BLOCK_MAX || sequence < 0 ||
		    (i && (sequence <= last || sequence - last > 1024)))
			return false;
		last = sequence;
		reader_take(&rd, (size_t)length);
		if (reader_failed(&rd))
			return i > 0;
	}
	return true;
}

const char *demo_refusal(const uint8_t *bytes, size_t n)
{
	if (looks_dm3(reader_of(bytes, n)))
		return "blocks like a .dm_NN demo's, but the first is no gamestate that "
		       "is known: damaged, or of another game";
	return "neither a capture nor a demo that is known";
}

enum wire_family demo_family(enum demo_format format)
{
	switch (format) {
	case DEMO_DEM:
		return FAMILY_NETQUAKE;
	case DEMO_QWD:
	case DEMO_MVD:
		return FAMILY_QUAKEWORLD;
	case DEMO_DM2:
	case DEMO_MVD2:
		return FAMILY_QUAKE2;
	case DEMO_DM3:
	case DEMO_DM3_OLD:
	case DEMO_URT:
		return FAMILY_QUAKE3;
	default:
		return FAMILY_AUTO;
	}
}
