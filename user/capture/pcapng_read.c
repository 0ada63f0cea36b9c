// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * pcapng_read.c - see pcapng_read.h.
 *
 *	block		u32 type, u32 length, body, u32 length again; padded to 4
 *	section		type 0A0D0D0A: u32 1A2B3C4D in the writer's byte order, more
 *	interface	1: u16 link type, u16, u32 snapshot length, options
 *	simple		3: u32 length on the wire, bytes
 *	enhanced	6: u32 interface, u32 x2 time, u32 captured, u32 length, bytes
 *	packet		2, obsolete: u16 interface, u16 drops, then as the enhanced one
 *
 * A section header gives the byte order of all that follows it, and forgets the
 * interfaces before it. An option is u16 code, u16 length, value padded to 4.
 */
#include <errno.h>
#include <pcap/dlt.h>
#include <stdlib.h>
#include <string.h>

#include "capture/pcapng_read.h"
#include "lib/reader.h"

enum {
	BLOCK_INTERFACE = 1,
	BLOCK_PACKET = 2,
	BLOCK_SIMPLE = 3,
	BLOCK_ENHANCED = 6,
	BLOCK_SECTION = 0x0a0d0d0a,
	BYTE_ORDER_MAGIC = 0x1a2b3c4d,
	OPTION_TSRESOL = 9,
	OPTION_TSOFFSET = 14,
	OPTION_FLAGS = 2, /* of a packet */
	FLAGS_WAY = 3, /* their bits: 1 received, 2 sent */
	LINKTYPE_RAW = 101, /* the one link type whose DLT_ value differs */
	LINKTYPE_RAW_OPENBSD = 14,
};

#define BLOCK_HEAD 8 /* type and length */
#define BLOCK_MIN  12 /* and the length again */
/* An interface description has few options; those behind this are not looked at. */
#define INTERFACE_BYTES_MAX 65536

struct interface {
	int link;
	uint32_t snap; /* 0: no limit */
	uint8_t resolution; /* if_tsresol: 10^-n s, or 2^-n s with the top bit */
	int64_t offset_s; /* if_tsoffset */
};

struct pcapng_reader {
	FILE *file;
	bool swapped; /* the section's byte order is big-endian */
	bool has_section;
	const char *error;
	struct interface *interfaces;
	size_t interfaces_n;
	uint8_t *bytes; /* body of the last packet block */
	size_t room;
};

bool pcapng_recognise(const uint8_t *bytes, size_t n)
{
	return n >= 4 && !memcmp(bytes, "\x0a\x0d\x0d\x0a", 4);
}

struct pcapng_reader *pcapng_open(FILE *file)
{
	struct pcapng_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		fclose(file);
	else
		reader->file = file;
	return reader;
}

void pcapng_close(struct pcapng_reader *reader)
{
	if (!reader)
		return;
	fclose(reader->file);
	free(reader->interfaces);
	free(reader->bytes);
	free(reader);
}

const char *pcapng_error(const struct pcapng_reader *reader)
{
	return reader->error ? reader->error : "no error";
}

static int broken(struct pcapng_reader *reader, const char *error)
{
	reader->error = error;
	return -EBADMSG;
}

static uint32_t read32(const struct pcapng_reader *reader, struct reader *rd)
{
	return reader->swapped ? reader_be32(rd) : reader_le32(rd);
}

static uint16_t read16(const struct pcapng_reader *reader, struct reader *rd)
{
	return reader->swapped ? reader_be16(rd) : reader_le16(rd);
}

/* Step over @n bytes of the file, which may be a pipe. */
static bool skip(FILE *file, size_t n)
{
	uint8_t bytes[4096];

	while (n) {
		size_t want = n < sizeof(bytes) ? n : sizeof(bytes);

		if (fread(bytes, 1, want, file) != want)
			return false;
		n -= want;
	}
	return true;
}

/* Read @n bytes of a block's body into reader->bytes. */
static int body_read(struct pcapng_reader *reader, size_t n)
{
	if (n > reader->room) {
		uint8_t *bytes = realloc(reader->bytes, n);

		if (!bytes)
			return broken(reader, "no memory for a block");
		reader->bytes = bytes;
		reader->room = n;
	}
	if (fread(reader->bytes, 1, n, reader->file) != n)
		return broken(reader, "file ends within a block");
	return 1;
}

/* The length that stands behind the body must be the one before it. */
static int tail_read(struct pcapng_reader *reader, uint32_t length)
{
	uint8_t tail[4];
	struct reader rd = reader_of(tail, sizeof(tail));

	if (fread(tail, 1, sizeof(tail), reader->file) != sizeof(tail))
		return broken(reader, "file ends within a block");
	if (read32(reader, &rd) != length)
		return broken(reader, "a block's two lengths differ");
	return 1;
}

static int rest_skip(struct pcapng_reader *reader, size_t n, uint32_t length)
{
	if (!skip(reader->file, n))
		return broken(reader, "file ends within a block");
	return tail_read(reader, length);
}

/*
 * Read a section header. @head: type and length as they came; the byte order stands
 * behind them.
 */
static int section_read(struct pcapng_reader *reader, const uint8_t *head)
{
	uint8_t magic[4];
	struct reader rd = reader_of(magic, sizeof(magic));
	struct reader head_rd = reader_of(head + 4, 4);
	uint32_t length;

	if (fread(magic, 1, sizeof(magic), reader->file) != sizeof(magic))
		return broken(reader, "file ends within a block");
	reader->swapped = reader_be32(&rd) == BYTE_ORDER_MAGIC;
	rd = reader_of(magic, sizeof(magic));
	if (read32(reader, &rd) != BYTE_ORDER_MAGIC)
		return broken(reader, "section header without a byte order");
	length = read32(reader, &head_rd);
	if (length < BLOCK_MIN + 16 || length % 4)
		return broken(reader, "impossible block length");
	reader->has_section = true;
	reader->interfaces_n = 0;
	return rest_skip(reader, length - BLOCK_MIN - sizeof(magic), length);
}

static void interface_options(const struct pcapng_reader *reader, struct reader *rd,
			      struct interface *interface)
{
	while (reader_left(rd) >= 4) {
		uint16_t code = read16(reader, rd);
		uint16_t n = read16(reader, rd);
		struct reader value = *rd;

		if (!code || !reader_take(rd, (n + 3U) & ~3U))
			return;
		if (code == OPTION_TSRESOL && n == 1) {
			interface->resolution = reader_u8(&value);
		} else if (code == OPTION_TSOFFSET && n == 8) {
			uint64_t first = read32(reader, &value);
			uint64_t second = read32(reader, &value);

			interface->offset_s =
				(int64_t)(reader->swapped ? first << 32 | second
							  : second << 32 | first);
		}
	}
}

static int interface_read(struct pcapng_reader *reader, uint32_t length)
{
	size_t n = length - BLOCK_MIN;
	size_t looked = n < INTERFACE_BYTES_MAX ? n : INTERFACE_BYTES_MAX;
	struct interface *interface = reader->interfaces;
	struct reader rd;

	if (n < 8)
		return broken(reader, "impossible block length");
	if (reader->interfaces_n == PCAPNG_INTERFACES_MAX)
		return broken(reader, "more than 4096 interfaces in a section");
	if (!(reader->interfaces_n & (reader->interfaces_n - 1)))
		interface = realloc(interface,
				    (reader->interfaces_n * 2 + 1) * sizeof(*interface));
	if (!interface)
		return broken(reader, "no memory for an interface");
	reader->interfaces = interface;
	if (body_read(reader, looked) != 1)
		return -EBADMSG;
	interface += reader->interfaces_n++;
	rd = reader_of(reader->bytes, looked);
	*interface = (struct interface){ .link = read16(reader, &rd), .resolution = 6 };
	if (interface->link == LINKTYPE_RAW || interface->link == LINKTYPE_RAW_OPENBSD)
		interface->link = DLT_RAW;
	read16(reader, &rd);
	interface->snap = read32(reader, &rd);
	interface_options(reader, &rd, interface);
	return rest_skip(reader, n - looked, length);
}

/*
 * Return the nanoseconds since 1970, at the nearest end of int64_t's range if beyond
 * it.
 */
static int64_t time_of(const struct interface *interface, uint64_t units)
{
	unsigned int n = interface->resolution & 0x7f;
	__int128 ns = units;

	if (interface->resolution & 0x80) {
		ns = n > 63 ? 0 : ns * 1000000000 >> n;
	} else {
		for (; n < 9; n++)
			ns *= 10;
		for (; n > 9 && ns; n--)
			ns /= 10;
	}
	ns += (__int128)interface->offset_s * 1000000000;
	return ns > INT64_MAX ? INT64_MAX : ns < INT64_MIN ? INT64_MIN : (int64_t)ns;
}

/* Return the way that the options of an Enhanced Packet Block name; they begin at @rd. */
static enum packet_way packet_options(const struct pcapng_reader *reader,
				      struct reader *rd)
{
	while (reader_left(rd) >= 4) {
		uint16_t code = read16(reader, rd);
		uint16_t n = read16(reader, rd);
		struct reader value = *rd;

		if (!code || !reader_take(rd, (n + 3U) & ~3U))
			break;
		if (code != OPTION_FLAGS || n != 4)
			continue;
		switch (read32(reader, &value) & FLAGS_WAY) {
		case 1:
			return PACKET_RECEIVED;
		case 2:
			return PACKET_SENT;
		default:
			return PACKET_WAY_UNKNOWN;
		}
	}
	return PACKET_WAY_UNKNOWN;
}

/* A packet block of any kind: reader->bytes hold its body of @n bytes. */
static int packet_of(struct pcapng_reader *reader, uint32_t type, size_t n,
		     struct pcapng_frame *ret)
{
	struct reader rd = reader_of(reader->bytes, n);
	const struct interface *interface;
	uint64_t units = 0;
	uint32_t captured, number = 0;

	if (type == BLOCK_ENHANCED) {
		number = read32(reader, &rd);
	} else if (type == BLOCK_PACKET) {
		number = read16(reader, &rd);
		read16(reader, &rd);
	}
	if (number >= reader->interfaces_n)
		return broken(reader, "packet of an interface that was not described");
	interface = &reader->interfaces[number];
	if (type == BLOCK_SIMPLE) {
		ret->length = captured = read32(reader, &rd);
		if (interface->snap && captured > interface->snap)
			captured = interface->snap;
	} else {
		units = (uint64_t)read32(reader, &rd) << 32;
		units |= read32(reader, &rd);
		captured = read32(reader, &rd);
		ret->length = read32(reader, &rd);
	}
	ret->link = interface->link;
	ret->time_ns = type == BLOCK_SIMPLE ? 0 : time_of(interface, units);
	ret->captured = captured;
	ret->bytes = reader_take(&rd, captured);
	ret->way = PACKET_WAY_UNKNOWN;
	if (reader_failed(&rd))
		return broken(reader, "packet longer than its block");
	if (type == BLOCK_ENHANCED && reader_take(&rd, -captured & 3))
		ret->way = packet_options(reader, &rd);
	return 1;
}

static int block_next(struct pcapng_reader *reader, struct pcapng_frame *ret, bool *got)
{
	uint8_t head[BLOCK_HEAD];
	struct reader rd = reader_of(head, sizeof(head));
	size_t n = fread(head, 1, sizeof(head), reader->file);
	uint32_t type, length;

	if (n != sizeof(head)) {
		if (ferror(reader->file))
			return broken(reader, "file cannot be read any further");
		return n ? broken(reader, "file ends within a block") : 0;
	}
	if (pcapng_recognise(head, sizeof(head)))
		return section_read(reader, head);
	type = read32(reader, &rd);
	length = read32(reader, &rd);
	if (!reader->has_section)
		return broken(reader, "no section header");
	if (length < BLOCK_MIN || length % 4)
		return broken(reader, "impossible block length");
	if (type == BLOCK_INTERFACE)
		return interface_read(reader, length);
	if (type != BLOCK_ENHANCED && type != BLOCK_SIMPLE && type != BLOCK_PACKET)
		return rest_skip(reader, length - BLOCK_MIN, length);
	if (length > PCAPNG_FRAME_MAX)
		return broken(reader, "packet block longer than 1 MiB");
	*got = true;
	if (body_read(reader, length - BLOCK_MIN) != 1 || tail_read(reader, length) != 1)
		return -EBADMSG;
	return packet_of(reader, type, length - BLOCK_MIN, ret);
}

int pcapng_next(struct pcapng_reader *reader, struct pcapng_frame *ret)
{
	bool got = false;
	int result;

	if (reader->error)
		return -EBADMSG;
	do
		result = block_next(reader, ret, &got);
	while (result == 1 && !got);
	return result;
}
