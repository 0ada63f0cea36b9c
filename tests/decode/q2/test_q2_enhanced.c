// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Whole connections of R1Q2 (35) and Q2PRO (36), of which there is no recording: from
 * the handshake to frames that refer to each other, deflated and in slices.
 */
#include <zlib.h>

#include "decode/q2/q2_support.h"

/* A datagram in the making. */
struct parcel {
	uint8_t bytes[2048];
	size_t n;
};

static void put(struct parcel *p, const void *bytes, size_t n)
{
	assert_true(n <= sizeof(p->bytes) - p->n);
	memcpy(p->bytes + p->n, bytes, n);
	p->n += n;
}

static void put_hex(struct parcel *p, const char *hex)
{
	struct q2_bytes b = q2_hex(hex);

	put(p, b.bytes, b.n);
}

static void put16(struct parcel *p, unsigned int value)
{
	put(p, (uint8_t[]){ (uint8_t)value, (uint8_t)(value >> 8) }, 2);
}

static void put32(struct parcel *p, uint32_t value)
{
	put16(p, value & 0xffff);
	put16(p, value >> 16);
}

static struct parcel header(uint32_t sequence, uint32_t acked)
{
	struct parcel p = { .n = 0 };

	put32(&p, sequence);
	put32(&p, acked);
	return p;
}

/* Raw deflate; *@z goes on from call to call. */
static size_t deflate_part(z_stream *z, const void *from, size_t n, uint8_t *to,
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

static void deflate_begin(z_stream *z)
{
	memset(z, 0, sizeof(*z));
	assert_int_equal(deflateInit2(z, 9, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY),
			 Z_OK);
}

/* zpacket of @inner. */
static void put_zpacket(struct parcel *p, const struct parcel *inner)
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

static void c2s(struct harness *h, const struct parcel *p)
{
	harness_c2s(h, p->bytes, p->n);
}

static void s2c(struct harness *h, const struct parcel *p)
{
	harness_s2c(h, p->bytes, p->n);
}

static void shake_hands(struct harness *h, const char *connect, const char *accept)
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

/* All decoded, but those at the indices in @partial, which are ended by 0. */
static void expect_decoded(json_t *all, const size_t *partial)
{
	for (size_t i = 0; i < json_array_size(all); i++) {
		json_t *one = json_array_get(all, i);
		bool is_partial = false;

		for (const size_t *at = partial; at && *at; at++)
			is_partial |= *at == i;
		if (strcmp(text_at(one, "status"), is_partial ? "partial" : "decoded") !=
		    0)
			fail_msg("%zu: %s", i, json_dumps(one, JSON_COMPACT));
	}
}

static void expect_at(json_t *all, size_t index, const char *path, const char *value)
{
	assert_string_equal(text_at(json_array_get(all, index), path), value);
}

#define SERVERDATA_35 "0c2300000051070000000000005468652045646765000071070001"
#define PLAYER_FULL   "02392003c0f9c800000000400a0501fe035a020000006400"

/* A frame of 35 and 36 that holds one player, and entities 1 (himself) and 2. */
static void put_full_frame(struct parcel *p)
{
	/* extraflags 0x29: two in the opcode's bits, nine in the upper half of a byte */
	put(p, "\x54\x64\0\0\xf8\x90\0", 7);
	put_hex(p, PLAYER_FULL);
	put_hex(p, "030108000800030208000800");
	put_hex(p, "0000");
}

static void test_r1q2(void **state)
{
	struct harness *h = harness_open(FAMILY_AUTO);
	struct parcel p, inner = { .n = 0 };
	json_t *all;

	(void)state;
	shake_hands(h, "connect 35 49 7 \"\\name\\bo\" 1390 1905\n",
		    "client_connect ac=0");
	p = header(0x80000001, 0);
	put(&p, "\x31\4new", 6);
	c2s(h, &p); /* 4 */
	p = header(0x80000001, 0x80000001);
	put_hex(&p, SERVERDATA_35);
	s2c(h, &p); /* 5 */
	put(&inner,
	    "\x0d\x1e\0"
	    "8\0"
	    "\x0d\x21\0maps/a.bsp\0",
	    5 + 14);
	p = header(0x80000002, 1);
	put_zpacket(&p, &inner);
	s2c(h, &p); /* 6 */
	p = header(3, 1);
	put(&p, "\x18\1\0\0\0\x14\0\0\0", 9);
	put_full_frame(&p);
	s2c(h, &p); /* 7 */
	/* From 100 to 101: only the height changes. */
	p = header(4, 1);
	put(&p, "\x34\x65\0\0\x08\xc0\0", 7);
	put_hex(&p, "0000d000b0ff0500");
	put_hex(&p, "0000");
	s2c(h, &p); /* 8 */
	/* And where the other is, some time before the next frame. */
	p = header(5, 1);
	put(&p, "\x17\x65\0\0\0\x08\0\x10\0\x18\0", 11);
	s2c(h, &p); /* 9 */
	p = header(2, 4);
	put(&p, "\x31", 1);
	put_hex(&p, "02650000005b0d80fd004050d81040001040001140");
	c2s(h, &p); /* 10 */
	/* Three frames back: that one never came. */
	p = header(6, 2);
	put(&p, "\x14\x70\0\0\x18\0\0\0\0\0\0", 11);
	s2c(h, &p); /* 11 */
	all = harness_close(h);
	expect_decoded(all, (const size_t[]){ 11, 0 });
	expect_at(all, 4, "qport", "49");
	expect_at(all, 5, "dialect", "r1q2-35");
	expect_at(all, 6, "ops.0.ops.1.text", "maps/a.bsp");
	expect_at(all, 7, "ops.1.serverframe", "100");
	expect_at(all, 7, "ops.1.packetentities.1.number", "2");
	expect_at(all, 8, "ops.0.deltaframe", "100");
	expect_at(all, 9, "ops.0.players", "[1]");
	expect_at(all, 9, "ops.0.players.0.number", "2");
	expect_at(all, 10, "kind", "client-move");
	expect_at(all, 10, "ops.0.usercmds.0.forwardmove", "400");
	expect_at(all, 11, "reason", "delta from a frame that was not seen");
	json_decref(all);
}

/* A gamestate, deflated, in two slices of the new netchan. */
static void send_gamestate(struct harness *h)
{
	struct parcel inner = { .n = 0 }, whole = { .n = 0 }, p;
	size_t half;

	put(&inner,
	    "\x17\x1e\0"
	    "8\0"
	    "\x20\x08",
	    7);
	put_hex(&inner, "838a800901ff2003c0f9c80000000000000044480000");
	put_hex(&inner, "0000");
	put_hex(&whole, "0c240000005107000000000000546865204564676500"
			"02040204000000");
	whole.n -= 2;
	put_zpacket(&whole, &inner);
	half = whole.n / 2;
	p = header(0xc0000001, 0x80000001);
	put16(&p, 0x8000);
	put(&p, whole.bytes, half);
	s2c(h, &p);
	p = header(0xc0000001, 0x80000001);
	put16(&p, (unsigned int)half);
	put(&p, whole.bytes + half, whole.n - half);
	s2c(h, &p);
}

/* A part of a file in the stream @z: zdownload, of which so many hundredths are there. */
static void put_zdownload(struct parcel *p, z_stream *z, char percent)
{
	static const char text[] = "what is said twice is said twice is short";
	uint8_t packed[256];
	size_t n = deflate_part(z, text, sizeof(text) - 1, packed, sizeof(packed));

	put(p, "\x16", 1);
	put16(p, (unsigned int)n);
	put(p, &percent, 1);
	put(p, packed, n);
}

static void send_file(struct harness *h)
{
	struct parcel p;
	z_stream z;

	deflate_begin(&z);
	for (uint32_t part = 0; part < 2; part++) {
		p = header(2 + part, 1);
		put_zdownload(&p, &z, part ? 100 : 50);
		s2c(h, &p);
	}
	deflateEnd(&z);
}

/* The first message of a connection that is seen; its stream is let go at the end. */
static void test_file_first(void **state)
{
	struct q2_session q;
	struct record r;
	z_stream z;

	(void)state;
	q2_begin(&q, 36, 1026, 0);
	deflate_begin(&z);
	for (int part = 0; part < 3; part++) {
		struct parcel p = { .n = 0 };

		put_zdownload(&p, &z, 30);
		q2_run_message(&q, DIRECTION_S2C, p.bytes, p.n, &r);
		assert_int_equal(r.status, RECORD_DECODED);
		assert_non_null(q.game);
		assert_non_null(q.game->download);
	}
	deflateEnd(&z);
	q2_session_drop(&q);
}

static void test_q2pro(void **state)
{
	struct harness *h = harness_open(FAMILY_AUTO);
	struct parcel p;
	json_t *all;

	(void)state;
	shake_hands(h, "connect 36 0 7 \"\\name\\bo\" 1390 1 1 1026\n",
		    "client_connect nc=1 map=a");
	p = header(0x80000001, 0);
	put(&p, "\4new", 5);
	c2s(h, &p); /* 4: no qport */
	send_gamestate(h); /* 5, 6 */
	send_file(h); /* 7, 8 */
	p = header(4, 1);
	put_full_frame(&p);
	s2c(h, &p); /* 9 */
	p = header(2, 4);
	put_hex(&p, "2bd204000040e1624e0040902988531542c059");
	c2s(h, &p); /* 10 */
	p = header(3, 4);
	put_hex(&p, "0c6e616d6500626f6200");
	c2s(h, &p); /* 11 */
	all = harness_close(h);
	expect_decoded(all, NULL);
	expect_at(all, 4, "ops.0.text", "new");
	expect_at(all, 5, "kind", "fragment");
	expect_at(all, 6, "kind", "gamestate");
	expect_at(all, 6, "dialect", "q2pro-36");
	expect_at(all, 6, "ops.1.ops.0.configstrings.0.text", "8");
	expect_at(all, 6, "ops.1.ops.0.baselines.0.modelindex", "255");
	/* The second part refers to the first. */
	expect_at(all, 8, "ops.0.plain", "41");
	expect_at(all, 8, "ops.0.data", text_at(json_array_get(all, 7), "ops.0.data"));
	expect_at(all, 9, "ops.0.playerinfo.gunindex", "10");
	expect_at(all, 10, "ops.0.frames", "[2]");
	expect_at(all, 11, "ops.0.value", "bob");
	json_decref(all);
}

/* What deflates to something else, or holds itself, is refused and teaches nothing. */
static void test_bad_packets(void **state)
{
	struct parcel inner = { .n = 0 }, twice = { .n = 0 }, p = { .n = 0 };
	struct q2_session q;
	struct record r;

	(void)state;
	put(&inner,
	    "\x0d\x1e\0"
	    "8\0",
	    5);
	put_zpacket(&twice, &inner);
	put_zpacket(&p, &twice);
	q2_begin(&q, 36, 1026, 0);
	q2_run_message(&q, DIRECTION_S2C, p.bytes, p.n, &r);
	assert_int_equal(r.status, RECORD_MALFORMED);
	assert_string_equal(r.reason, "deflated packet within another");
	assert_null(q.game);
	/* One byte more is promised than comes. */
	twice.bytes[3]++;
	q2_run_message(&q, DIRECTION_S2C, twice.bytes, twice.n, &r);
	assert_int_equal(r.status, RECORD_MALFORMED);
	assert_string_equal(r.reason, "packet does not inflate to its length");
	twice.bytes[3]--;
	q2_run_message(&q, DIRECTION_S2C, twice.bytes, twice.n, &r);
	assert_int_equal(r.status, RECORD_DECODED);
	assert_int_equal(q.game->maxclients, 8);
	q2_session_drop(&q);
}

/* Joined in the middle of 36 and 35: by what fits. */
static void test_middle(void **state)
{
	struct harness *h = harness_open(FAMILY_AUTO);
	struct parcel p;
	json_t *all;

	(void)state;
	for (uint32_t i = 0; i < 6; i++) {
		p = header(500 + i, 300 + i);
		put_full_frame(&p);
		s2c(h, &p);
		p = header(301 + i, 500 + i);
		put(&p, "\x31", 1);
		put_hex(&p, "2bd204000040e1624e0040902988531542c059");
		c2s(h, &p);
	}
	all = harness_close(h);
	for (size_t i = 0; i < 12; i++) {
		expect_at(all, i, "protocol", "quake2");
		expect_at(all, i, "direction", i % 2 ? "c2s" : "s2c");
		expect_at(all, i, "kind", i % 2 ? "client-move" : "frame");
		expect_at(all, i, "dialect", "q2pro-36");
	}
	json_decref(all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_r1q2),	   cmocka_unit_test(test_q2pro),
		cmocka_unit_test(test_file_first), cmocka_unit_test(test_bad_packets),
		cmocka_unit_test(test_middle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
