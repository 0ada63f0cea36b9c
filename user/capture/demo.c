// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * demo.c - the containers. All integers little-endian.
 *
 *	.dem	"<digits>" LF, { i32 length (bit 31: from the client), f32 x3, bytes }
 *	.qwd	{ f32 time, u8 0, 36 bytes | 1, i32 length, bytes | 2, i32, i32 }
 *	.mvd	{ u8 ms, u8 type and player, [u32 mask,] i32 length, bytes | i32, i32 }
 *		before it, from a QTV proxy: "QTVSV 1" LF, lines, LF
 *	.dm2	{ i32 length, bytes } i32 -1
 *	.mvd2	"MVD2" { u16 length, bytes } u16 0
 *	.dm_NN	{ i32 sequence, i32 length, bytes } i32 -1, i32 -1
 *	.urtdemo	i32 n, n characters of a version, i32 protocol, i32 0, i32 0,
 *		{ i32 sequence, i32 length, bytes, i32 length } i32 -1, i32 -1
 *
 * Sources: the cl_demo.c of each engine; mvdsv src/sv_demo.c; q2pro src/client/demo.c,
 * src/server/mvd.c; ioq3 code/client/cl_main.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/demo.h"
#include "lib/reader.h"

const char *const demo_format_names[DEMO_FORMATS] = {
	[DEMO_DEM] = "dem",	[DEMO_QWD] = "qwd",	[DEMO_MVD] = "mvd",
	[DEMO_DM2] = "dm2",	[DEMO_MVD2] = "mvd2",	[DEMO_DM3] = "dm_68",
	[DEMO_DM3_OLD] = "dm3", [DEMO_URT] = "urtdemo",
};

struct demo {
	FILE *file;
	enum demo_format format;
	uint64_t blocks;
	int64_t time_ns;
	const char *error;
	bool ended, marked;
	int32_t track; /* .dem */
	uint8_t *bytes; /* of the last block */
	size_t room; /* grows to the largest block */
};

struct demo *demo_open(FILE *file, enum demo_format format)
{
	struct demo *demo = calloc(1, sizeof(*demo));

	if (!demo) {
		fclose(file);
		return NULL;
	}
	demo->file = file;
	demo->format = format;
	return demo;
}

void demo_close(struct demo *demo)
{
	if (!demo)
		return;
	fclose(demo->file);
	free(demo->bytes);
	free(demo);
}

const char *demo_error(const struct demo *demo)
{
	return demo->error ? demo->error : "no error";
}

bool demo_unfinished(const struct demo *demo)
{
	switch (demo->format) {
	case DEMO_DM2:
	case DEMO_MVD2:
	case DEMO_DM3:
	case DEMO_DM3_OLD:
	case DEMO_URT:
		return demo->ended && !demo->error && !demo->marked;
	default:
		return false;
	}
}

uint64_t demo_blocks(const struct demo *demo)
{
	return demo->blocks;
}

static int broken(struct demo *demo, const char *error)
{
	demo->error = error;
	demo->ended = true;
	return -EBADMSG;
}

/*
 * Read @n bytes of a head. 1: they are there; 0: the file ends exactly here; -EBADMSG:
 * it ends within.
 */
static int head_read(struct demo *demo, uint8_t *to, size_t n)
{
	size_t got = fread(to, 1, n, demo->file);

	if (got == n)
		return 1;
	if (got)
		return broken(demo, "file ends within a block header");
	demo->ended = true;
	return 0;
}

#define ROOM_MIN       4096
#define QTV_HEADER_MAX 65536

/* Make room for @n bytes, in powers of two. False: no memory. */
static bool room_for(struct demo *demo, size_t n)
{
	size_t room = demo->room ? demo->room : ROOM_MIN;
	uint8_t *bytes;

	while (room < n)
		room *= 2;
	if (room == demo->room)
		return true;
	bytes = realloc(demo->bytes, room);
	if (!bytes)
		return false;
	demo->bytes = bytes;
	demo->room = room;
	return true;
}

static int body_read(struct demo *demo, int64_t length, struct demo_block *ret)
{
	if (length < 0 || length > DEMO_BLOCK_MAX)
		return broken(demo, "impossible block length");
	if (!room_for(demo, (size_t)length))
		return broken(demo, "no memory for a block");
	if (fread(demo->bytes, 1, (size_t)length, demo->file) != (size_t)length)
		return broken(demo, "file ends within a block");
	ret->bytes = demo->bytes;
	ret->n = (size_t)length;
	return 1;
}

/* Digits that may have a sign in front, and nothing else. */
static int dem_track(struct demo *demo)
{
	char line[12] = "";
	char *end;

	if (!fgets(line, sizeof(line), demo->file))
		return broken(demo, "file ends in its first line");
	demo->track = (int32_t)strtol(line, &end, 10);
	return end != line && *end == '\n' ? 1
					   : broken(demo, "first line is no CD track");
}

static int dem_next(struct demo *demo, struct demo_block *ret)
{
	uint8_t head[16];
	struct reader rd = reader_of(head, sizeof(head));
	uint32_t length;
	int result = demo->blocks ? 1 : dem_track(demo);

	if (result == 1)
		result = head_read(demo, head, sizeof(head));
	if (result != 1)
		return result;
	length = reader_le32(&rd);
	for (int i = 0; i < 3; i++)
		ret->angles[i] = reader_f32(&rd);
	ret->track = demo->track;
	ret->kind = "demo-message";
	ret->direction = length >> 31 ? DIRECTION_C2S : DIRECTION_S2C;
	return body_read(demo, length & 0x7fffffff, ret);
}

static int qwd_next(struct demo *demo, struct demo_block *ret)
{
	uint8_t head[5], length[4];
	struct reader rd = reader_of(head, sizeof(head)), lrd;
	int result = head_read(demo, head, sizeof(head));
	float seconds;

	if (result != 1)
		return result;
	seconds = reader_f32(&rd);
	if (seconds >= 0 && seconds < 1e9f)
		demo->time_ns = (int64_t)((double)seconds * 1e9);
	ret->type = reader_u8(&rd);
	switch (ret->type) {
	case 0:
		ret->kind = "demo-usercmd";
		ret->direction = DIRECTION_C2S;
		return body_read(demo, 36, ret);
	case 1:
		if (head_read(demo, length, sizeof(length)) != 1)
			return broken(demo, "file ends within a block header");
		lrd = reader_of(length, sizeof(length));
		ret->kind = "demo-packet";
		ret->direction = DIRECTION_S2C;
		return body_read(demo, (int32_t)reader_le32(&lrd), ret);
	case 2:
		ret->kind = "demo-set";
		ret->direction = DIRECTION_S2C;
		return body_read(demo, 8, ret);
	default:
		return broken(demo, "unknown block type");
	}
}

static const char qtv_mark[] = "QTVSV ";

/*
 * Return the length of the head of a stream from a QTV proxy: lines up to an empty one,
 * then .mvd. 0: the file begins without them.
 */
static int qtv_header(struct demo *demo, struct demo_block *ret)
{
	size_t n = 0;
	int c = getc(demo->file);

	ungetc(c, demo->file);
	if (c != qtv_mark[0])
		return 0;
	while (n < 2 || demo->bytes[n - 1] != '\n' || demo->bytes[n - 2] != '\n') {
		c = getc(demo->file);
		if (c == EOF || n == QTV_HEADER_MAX)
			return broken(demo, "QTV header without its end");
		if (!room_for(demo, n + 1))
			return broken(demo, "no memory for a block");
		if (c != '\r')
			demo->bytes[n++] = (uint8_t)c;
	}
	ret->kind = "qtv-header";
	ret->type = DEMO_TYPE_HEADER;
	ret->direction = DIRECTION_S2C;
	ret->bytes = demo->bytes;
	ret->n = n;
	return 1;
}

static int mvd_next(struct demo *demo, struct demo_block *ret)
{
	uint8_t head[2], length[4];
	struct reader rd;
	int result;

	result = demo->blocks ? 0 : qtv_header(demo, ret);
	if (result)
		return result;
	result = head_read(demo, head, sizeof(head));
	if (result != 1)
		return result;
	demo->time_ns += head[0] * 1000000LL;
	ret->type = head[1] & 7;
	ret->player = head[1] >> 3;
	ret->direction = DIRECTION_S2C;
	ret->kind = ret->type == 2 ? "demo-set" : "demo-message";
	if (ret->type == 2)
		return body_read(demo, 8, ret);
	if (!ret->type || ret->type == 7)
		return broken(demo, "unknown block type");
	if (ret->type == 3) {
		if (head_read(demo, length, sizeof(length)) != 1)
			return broken(demo, "file ends within a block header");
		rd = reader_of(length, sizeof(length));
		ret->mask = reader_le32(&rd);
	}
	if (head_read(demo, length, sizeof(length)) != 1)
		return broken(demo, "file ends within a block header");
	rd = reader_of(length, sizeof(length));
	return body_read(demo, (int32_t)reader_le32(&rd), ret);
}

/* .dm2 and .dm_NN: four or eight bytes of head, all FF at the end. */
static int dm_next(struct demo *demo, struct demo_block *ret, size_t size)
{
	uint8_t head[8];
	struct reader rd = reader_of(head, size);
	int result = head_read(demo, head, size);
	int32_t length;

	if (result != 1)
		return result;
	ret->kind = "demo-message";
	ret->direction = DIRECTION_S2C;
	if (size == 8)
		ret->sequence = (int32_t)reader_le32(&rd);
	length = (int32_t)reader_le32(&rd);
	if (length == -1 && (size == 4 || ret->sequence == -1)) {
		demo->ended = demo->marked = true;
		return 0;
	}
	return body_read(demo, length, ret);
}

#define URT_VERSION_MAX 64

/* The version of the game, and behind it the protocol and two zeros, as one block. */
static int urt_header(struct demo *demo, struct demo_block *ret)
{
	uint8_t length[4];
	struct reader rd = reader_of(length, sizeof(length));
	int result = head_read(demo, length, sizeof(length));
	uint32_t n = reader_le32(&rd);

	if (result != 1)
		return result;
	if (!n || n > URT_VERSION_MAX)
		return broken(demo, "impossible length of the version");
	ret->kind = "demo-header";
	ret->type = DEMO_TYPE_HEADER;
	ret->direction = DIRECTION_S2C;
	return body_read(demo, n + 12, ret);
}

static int urt_next(struct demo *demo, struct demo_block *ret)
{
	uint8_t length[4];
	struct reader rd = reader_of(length, sizeof(length));
	int result = demo->blocks ? dm_next(demo, ret, 8) : urt_header(demo, ret);

	if (result != 1 || !demo->blocks)
		return result;
	if (head_read(demo, length, sizeof(length)) != 1)
		return broken(demo, "file ends within a block");
	return reader_le32(&rd) == ret->n ? 1
					  : broken(demo, "a block's two lengths differ");
}

static int mvd2_next(struct demo *demo, struct demo_block *ret)
{
	uint8_t head[4];
	struct reader rd = reader_of(head, 2);
	int result = demo->blocks ? 1 : head_read(demo, head, 4);
	uint16_t length;

	if (result == 1)
		result = head_read(demo, head, 2);
	if (result != 1)
		return result;
	length = reader_le16(&rd);
	if (!length) {
		demo->ended = demo->marked = true;
		return 0;
	}
	ret->kind = "demo-message";
	ret->direction = DIRECTION_S2C;
	return body_read(demo, length, ret);
}

static int format_next(struct demo *demo, struct demo_block *ret)
{
	switch (demo->format) {
	case DEMO_DEM:
		return dem_next(demo, ret);
	case DEMO_QWD:
		return qwd_next(demo, ret);
	case DEMO_MVD:
		return mvd_next(demo, ret);
	case DEMO_DM2:
		return dm_next(demo, ret, 4);
	case DEMO_DM3:
	case DEMO_DM3_OLD:
		return dm_next(demo, ret, 8);
	case DEMO_MVD2:
		return mvd2_next(demo, ret);
	case DEMO_URT:
		return urt_next(demo, ret);
	default:
		return broken(demo, "no demo");
	}
}

int demo_next(struct demo *demo, struct demo_block *ret)
{
	int result;

	if (demo->ended)
		return demo->error ? -EBADMSG : 0;
	memset(ret, 0, sizeof(*ret));
	result = format_next(demo, ret);
	if (result != 1)
		return result;
	ret->format = demo->format;
	ret->frame = ++demo->blocks;
	ret->time_ns = demo->time_ns;
	return 1;
}
