// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * demo_recognise.c - told apart by content, the surest signs first. The containers
 * without a magic must show a chain of sound blocks.
 */
#include <math.h>
#include <string.h>

#include "decode/demo_recognise.h"
#include "decode/family.h"
#include "lib/reader.h"

#define QW_OP_MAX 101 /* of a QuakeWorld server */
#define CHAIN	  4 /* blocks that must be sound, if the prefix holds so many */

/* Steps over a block; false: it cannot be one. Beyond the prefix all is sound. */
typedef bool block_skip(struct reader *rd, int index);

static bool chain_sound(const uint8_t *bytes, size_t n, block_skip *skip)
{
	struct reader rd = reader_of(bytes, n);

	for (int i = 0; i < CHAIN; i++) {
		if (!reader_left(&rd))
			return i > 0;
		if (!skip(&rd, i))
			return false;
		if (reader_failed(&rd))
			return i > 0 || n == DEMO_PREFIX;
	}
	return true;
}

static bool dem_skip(struct reader *rd, int index)
{
	uint32_t length = reader_le32(rd) & 0x7fffffff;

	(void)index;
	for (int i = 0; i < 3; i++)
		if (!isfinite(reader_f32(rd)))
			return false;
	if (reader_failed(rd))
		return true;
	return length <= 65536 && (reader_take(rd, length), true);
}

static bool is_dem(const uint8_t *bytes, size_t n)
{
	size_t at = 0;

	if (at < n && bytes[at] == '-')
		at++;
	while (at < n && at < 11 && bytes[at] >= '0' && bytes[at] <= '9')
		at++;
	return at < n && at && bytes[at] == '\n' &&
	       chain_sound(bytes + at + 1, n - at - 1, dem_skip);
}

/* A datagram of a server: a word, or a sequence, what it acknowledges, and an op. */
static bool qwd_datagram(const uint8_t *bytes, size_t n)
{
	return !memcmp(bytes, "\xff\xff\xff\xff", 4) || n == 8 ||
	       (n > 8 && bytes[8] && bytes[8] <= QW_OP_MAX);
}

/* 1: a datagram of a server; 0: another block; -1: no block at all. */
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

static bool mvd_skip(struct reader *rd, int index)
{
	uint8_t ms = reader_u8(rd), type = reader_u8(rd) & 7;
	int32_t length = 8;

	(void)ms;
	if (reader_failed(rd))
		return true;
	if (!type || type == 7)
		return false;
	if (type == 3)
		reader_le32(rd);
	if (type != 2) {
		length = (int32_t)reader_le32(rd);
		if (!reader_failed(rd) && (length < 0 || length > 65536))
			return false;
	}
	/* The first block holds svc_serverdata, 11, protocol 24..28 or extension pairs.
	 */
	if (!index && (length < 5 || !reader_left(rd) || *rd->pos != 11))
		return false;
	reader_take(rd, (size_t)length);
	return true;
}

/* The answer of a QTV proxy, and behind the empty line its stream. */
static bool is_qtv(const uint8_t *bytes, size_t n)
{
	return n > 8 && !memcmp(bytes, "QTVSV ", 6) &&
	       (memmem(bytes, n, "\n\n", 2) || memmem(bytes, n, "\n\r\n", 3));
}

static bool dm2_skip(struct reader *rd, int index)
{
	int32_t length = (int32_t)reader_le32(rd);

	if (reader_failed(rd) || (length == -1 && index))
		return true;
	if (length < 1 || length > 32768)
		return false;
	/* svc_serverdata, 12, and a protocol number. */
	if (!index) {
		struct reader look = *rd;
		uint8_t op = reader_u8(&look);
		uint32_t protocol = reader_le32(&look);

		if (op != 12 || protocol < 20 || protocol > 4000)
			return false;
	}
	reader_take(rd, (size_t)length);
	return true;
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
	if (chain_sound(bytes, n, dm2_skip))
		return DEMO_DM2;
	if (chain_sound(bytes, n, mvd_skip))
		return DEMO_MVD;
	if (is_qwd(bytes, n))
		return DEMO_QWD;
	return DEMO_NONE;
}

/* Two blocks as .dm_NN has them, whose sequences follow each other. */
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
		return FAMILY_QUAKE3;
	default:
		return FAMILY_AUTO;
	}
}
