// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Whole connections of R1Q2 (35) and Q2PRO (36), of which there is no recording: from
 * the handshake to frames that refer to each other, deflated and in slices.
 */
#include "decode/q2/q2_parcel.h"

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
