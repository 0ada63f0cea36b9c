/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * q2_parcel.h - datagrams of R1Q2 and Q2PRO in the making, deflated and not.
 */
#ifndef Q2_PARCEL_H
#define Q2_PARCEL_H

#include <zlib.h>

#include "decode/q2/q2_support.h"

/* A datagram in the making. */
struct parcel {
	uint8_t bytes[2048];
	size_t n;
};

static inline void put(struct parcel *p, const void *bytes, size_t n)
{
	assert_true(n <= sizeof(p->bytes) - p->n);
	memcpy(p->bytes + p->n, bytes, n);
	p->n += n;
}

static inline void put_hex(struct parcel *p, const char *hex)
{
	struct q2_bytes b = q2_hex(hex);

	put(p, b.bytes, b.n);
}

static inline void put16(struct parcel *p, unsigned int value)
{
	put(p, (uint8_t[]){ (uint8_t)value, (uint8_t)(value >> 8) }, 2);
}

static inline void put32(struct parcel *p, uint32_t value)
{
	put16(p, value & 0xffff);
	put16(p, value >> 16);
}

static inline struct parcel header(uint32_t sequence, uint32_t acked)
{
	struct parcel p = { .n = 0 };

	put32(&p, sequence);
	put32(&p, acked);
	return p;
}

/* Raw deflate; *@z goes on from call to call. */
static inline size_t deflate_part(z_stream *z, const void *from, size_t n, uint8_t *to,
				  size_t size)
{
	/* zlib only reads it. NOLINTNEXTLINE(performance-no-int-to-ptr) */
	z->next_in = (Bytef *)(uintptr_t)from;
	z->avail_in = (uInt)n;
	z->next_out = to;
	z->avail_out = (uInt)size;
	assert_int_equal(deflate(z, Z_SYNC_FLUSH), Z_OK);
	assert_int_equal(z->avail_in, 0);
	return size - z->avail_out;
}

static inline void deflate_begin(z_stream *z)
{
	memset(z, 0, sizeof(*z));
	assert_int_equal(deflateInit2(z, 9, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY),
			 Z_OK);
}

/* zpacket of @inner. */
static inline void put_zpacket(struct parcel *p, const struct parcel *inner)
{
	uint8_t packed[1024];
	z_stream z;
	size_t n;

	deflate_begin(&z);
	n = deflate_part(&z, inner->bytes, inner->n, packed, sizeof(packed));
	deflateEnd(&z);
	put(p, "\x15", 1);
	put16(p, (unsigned int)n);
	put16(p, (unsigned int)inner->n);
	put(p, packed, n);
}

static inline void c2s(struct harness *h, const struct parcel *p)
{
	harness_c2s(h, p->bytes, p->n);
}

static inline void s2c(struct harness *h, const struct parcel *p)
{
	harness_s2c(h, p->bytes, p->n);
}

static inline void shake_hands(struct harness *h, const char *connect, const char *accept)
{
	struct parcel p = { .n = 0 };

	put(&p, MARK "getchallenge\n", 17);
	c2s(h, &p);
	p.n = 0;
	put(&p, MARK "challenge 7 p=34,35,36", 26);
	s2c(h, &p);
	p.n = 0;
	put(&p, MARK, 4);
	put(&p, connect, strlen(connect));
	c2s(h, &p);
	p.n = 0;
	put(&p, MARK, 4);
	put(&p, accept, strlen(accept));
	s2c(h, &p);
}

#define PLAYER_FULL "02392003c0f9c800000000400a0501fe035a020000006400"

/* A frame of 35 and 36 that holds one player, and entities 1 (himself) and 2. */
static inline void put_full_frame(struct parcel *p)
{
	/* extraflags 0x29: two in the opcode's bits, nine in the upper half of a byte */
	put(p, "\x54\x64\0\0\xf8\x90\0", 7);
	put_hex(p, PLAYER_FULL);
	put_hex(p, "030108000800030208000800");
	put_hex(p, "0000");
}

/* A part of a file in the stream @z: zdownload, of which so many hundredths are there. */
static inline void put_zdownload(struct parcel *p, z_stream *z, char percent)
{
	static const char text[] = "what is said twice is said twice is short";
	uint8_t packed[256];
	size_t n = deflate_part(z, text, sizeof(text) - 1, packed, sizeof(packed));

	put(p, "\x16", 1);
	put16(p, (unsigned int)n);
	put(p, &percent, 1);
	put(p, packed, n);
}

#endif /* Q2_PARCEL_H */
