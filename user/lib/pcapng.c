// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * pcapng.c - in the byte order of this machine, as the format allows.
 *
 *	block:	type:32 length:32 body length:32	in multiples of 4 bytes
 *	option:	code:16 length:16 value padding		up to code 0
 */
#include <string.h>

#include "lib/pcapng.h"

#define BLOCK_SECTION	0x0a0d0d0a
#define BLOCK_INTERFACE 1
#define BLOCK_PACKET	6
#define MAGIC		0x1a2b3c4d
#define LINK_ETHERNET	1
#define NAME_MAX_BYTES	64

enum option {
	OPTION_END = 0,
	OPTION_COMMENT = 1,
	SECTION_APPLICATION = 4,
	INTERFACE_NAME = 2,
	INTERFACE_RESOLUTION = 9,
	PACKET_FLAGS = 2,
	PACKET_VERDICT = 7,
};

#define RESOLUTION_NS 9 /* 10^-9 s */
#define FLAG_INBOUND  1
#define FLAG_OUTBOUND 2
#define VERDICT_TC    1
#define VERDICT_XDP   2

struct writer {
	uint8_t *block; /* its beginning */
	uint8_t *at;
};

static void put(struct writer *w, const void *bytes, size_t n)
{
	size_t padding = -n & 3;

	if (n)
		memcpy(w->at, bytes, n);
	memset(w->at + n, 0, padding);
	w->at += n + padding;
}

static void put_u32(struct writer *w, uint32_t value)
{
	put(w, &value, sizeof(value));
}

static void put_u16s(struct writer *w, uint16_t a, uint16_t b)
{
	uint16_t both[2] = { a, b };

	put(w, both, sizeof(both));
}

static void put_option(struct writer *w, enum option code, const void *value, size_t n)
{
	put_u16s(w, (uint16_t)code, (uint16_t)n);
	put(w, value, n);
}

static void put_text(struct writer *w, enum option code, const char *text, size_t max)
{
	put_option(w, code, text, strnlen(text, max));
}

static struct writer block_begin(uint8_t *to, uint32_t type)
{
	struct writer w = { to, to };

	put_u32(&w, type);
	put_u32(&w, 0);
	return w;
}

static uint8_t *block_end(struct writer *w)
{
	uint32_t length;

	put_u16s(w, OPTION_END, 0);
	length = (uint32_t)(w->at - w->block) + 4;
	put_u32(w, length);
	memcpy(w->block + 4, &length, sizeof(length));
	return w->at;
}

size_t pcapng_begin(uint8_t *to, const char *interface, const char *application)
{
	static const int64_t unknown_length = -1;
	const uint8_t resolution = RESOLUTION_NS;
	struct writer w = block_begin(to, BLOCK_SECTION);

	put_u32(&w, MAGIC);
	put_u16s(&w, 1, 0);
	put(&w, &unknown_length, sizeof(unknown_length));
	put_text(&w, SECTION_APPLICATION, application, NAME_MAX_BYTES);
	w = block_begin(block_end(&w), BLOCK_INTERFACE);
	put_u16s(&w, LINK_ETHERNET, 0);
	put_u32(&w, PCAPNG_SNAP);
	put_text(&w, INTERFACE_NAME, interface, NAME_MAX_BYTES);
	put_option(&w, INTERFACE_RESOLUTION, &resolution, sizeof(resolution));
	return (size_t)(block_end(&w) - to);
}

size_t pcapng_packet(uint8_t *to, const struct pcapng_packet *packet)
{
	uint32_t kept = packet->kept < PCAPNG_SNAP ? packet->kept : PCAPNG_SNAP;
	uint32_t flags = packet->inbound ? FLAG_INBOUND : FLAG_OUTBOUND;
	uint8_t verdict[9] = { packet->xdp ? VERDICT_XDP : VERDICT_TC };
	struct writer w = block_begin(to, BLOCK_PACKET);

	memcpy(verdict + 1, &packet->action, sizeof(packet->action));
	put_u32(&w, 0); /* the interface */
	put_u32(&w, (uint32_t)((uint64_t)packet->time_ns >> 32));
	put_u32(&w, (uint32_t)packet->time_ns);
	put_u32(&w, kept);
	put_u32(&w, packet->length);
	put(&w, packet->frame, kept);
	put_text(&w, OPTION_COMMENT, packet->comment, PCAPNG_COMMENT_MAX);
	put_option(&w, PACKET_FLAGS, &flags, sizeof(flags));
	put_option(&w, PACKET_VERDICT, verdict, sizeof(verdict));
	return (size_t)(block_end(&w) - to);
}
