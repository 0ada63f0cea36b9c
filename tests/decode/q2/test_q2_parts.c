// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What comes in parts: files that are deflated in one stream, and messages in slices.
 * Which of them were lost, what ends them, and who waits for the rest; and what comes
 * again.
 */
#include "decode/q2/q2_parcel.h"

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))

static void expect_status(const struct record *r, enum record_status status)
{
	if (r->status != status)
		fail_msg("%s instead of %s: %s", record_status_names[r->status],
			 record_status_names[status], r->reason ? r->reason : "-");
}

static void run_part(struct q2_session *q, z_stream *z, char percent, struct record *r)
{
	struct parcel p = { .n = 0 };

	put_zdownload(&p, z, percent);
	q2_run_message(q, DIRECTION_S2C, p.bytes, p.n, r);
}

/* Nothing behind a part that was lost is read, though it looks like deflate. */
static void test_part_lost(void **state)
{
	static const struct {
		char percent;
		bool good; /* of the next file */
	} rows[] = { { 40, false }, { 40, false }, { 100, false }, { 10, true } };
	struct q2_session q;
	struct record r;
	z_stream z;

	(void)state;
	q2_begin(&q, 36, 1026, 0);
	q2_run_message(&q, DIRECTION_S2C, BYTES("\x16\4\0\x1e\xff\xff\xff\xff"), &r);
	expect_status(&r, RECORD_PARTIAL);
	for (size_t i = 0; i < COUNT(rows); i++) {
		deflate_begin(&z);
		run_part(&q, &z, rows[i].percent, &r);
		deflateEnd(&z);
		expect_status(&r, rows[i].good ? RECORD_DECODED : RECORD_PARTIAL);
		q.block_wanted = true;
	}
	q2_session_drop(&q);
	/* Fewer hundredths than the last one: another file. */
	q2_begin(&q, 36, 1026, 0);
	q2_run_message(&q, DIRECTION_S2C, BYTES("\x16\4\0\x1e\xff\xff\xff\xff"), &r);
	deflate_begin(&z);
	run_part(&q, &z, 20, &r);
	expect_status(&r, RECORD_DECODED);
	run_part(&q, &z, 40, &r);
	expect_status(&r, RECORD_DECODED);
	deflateEnd(&z);
	q2_session_drop(&q);
}

/* The first part of a file that is lost behind it, of which so much is there. */
static void lose_part(struct q2_session *q, char percent)
{
	struct parcel p = { .n = 0 };
	struct record r;

	put(&p, "\x16\4\0", 3);
	put(&p, &percent, 1);
	put(&p, "\xff\xff\xff\xff", 4);
	q->block_wanted = true;
	q2_run_message(q, DIRECTION_S2C, p.bytes, p.n, &r);
	expect_status(&r, RECORD_PARTIAL);
}

/* What ends a file lets the next one be read, though as much of it is there. */
static void test_part_lost_ends(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		struct q2_session q;
		struct record r;
		z_stream z;

		q2_begin(&q, 36, 1026, 0);
		lose_part(&q, i == 2 ? 100 : 30);
		if (i == 0) /* a refusal */
			q2_run_message(&q, DIRECTION_S2C, BYTES("\x16\xff\xff\0"), &r);
		if (i == 1) /* another is asked for */
			q2_run_message(&q, DIRECTION_C2S, BYTES("\4download x\0"), &r);
		deflate_begin(&z);
		q.block_wanted = true;
		run_part(&q, &z, 100, &r);
		deflateEnd(&z);
		expect_status(&r, i < 3 ? RECORD_DECODED : RECORD_PARTIAL);
		q2_session_drop(&q);
	}
}

/* As many zeros as bytes of a file are not followed, nor shown. */
static void test_part_long(void **state)
{
	static const struct {
		size_t n;
		const char *reason;
	} rows[] = {
		{ 65536, NULL },
		{ 65537, "only 64 KiB of a part are shown" },
		{ 262144, "only 64 KiB of a part are shown" },
		{ 262145, "a message that inflates to over 256 KiB" },
	};
	static uint8_t zeros[1 << 19];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct parcel p = { .n = 0 };
		uint8_t packed[1024];
		struct q2_session q;
		struct record r;
		z_stream z;
		size_t n;

		deflate_begin(&z);
		n = deflate_part(&z, zeros, rows[i].n, packed, sizeof(packed));
		deflateEnd(&z);
		put(&p, "\x16", 1);
		put16(&p, (unsigned int)n);
		put(&p, "\x1e", 1);
		put(&p, packed, n);
		q2_begin(&q, 36, 1026, 0);
		q2_run_message(&q, DIRECTION_S2C, p.bytes, p.n, &r);
		expect_status(&r, rows[i].reason ? RECORD_PARTIAL : RECORD_DECODED);
		if (rows[i].reason)
			assert_string_equal(r.reason, rows[i].reason);
		q2_session_drop(&q);
	}
}

/* A print of @n characters in slices of ten bytes, those at the bits of @lost left out.
 */
static void send_slices(struct harness *h, uint32_t sequence, unsigned int lost)
{
	static const char text[] = "\x0a\2what is said in three slices";

	for (unsigned int at = 0; at < sizeof(text); at += 10) {
		struct parcel p = header(1U << 30 | sequence, 1);
		bool more = at + 10 < sizeof(text);

		if (lost >> at / 10 & 1)
			continue;
		put16(&p, at | (more ? 0x8000 : 0));
		put(&p, text + at, more ? 10 : sizeof(text) - at);
		s2c(h, &p);
	}
}

/* What is not whole in the end is not called decoded. */
static void test_slices_lost(void **state)
{
	static const struct {
		unsigned int lost;
		const char *status; /* a letter for each slice that comes, or "w" */
	} rows[] = {
		{ 0, "dddw" }, { 8, "ppp" }, { 4, "ppp" }, { 2, "ppp" },
		{ 1, "ppp" },  { 14, "p" },  { 7, "p" },   { 0, "dddw" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct harness *h = harness_open(FAMILY_AUTO);
		json_t *all, *r;
		size_t n;

		shake_hands(h, "connect 36 0 7 \"\\name\\bo\" 1390 1 1 1026\n",
			    "client_connect nc=1 map=a");
		send_slices(h, 1, rows[i].lost);
		send_slices(h, 2, 0);
		all = harness_close(h);
		n = strlen(rows[i].status);
		assert_int_equal(json_array_size(all), 4 + n + 4);
		for (size_t k = 0; k < n; k++) {
			const char *status;

			r = json_array_get(all, 4 + k);
			status = text_at(r, "status");
			if (*status != (rows[i].status[k] == 'p' ? 'p' : 'd'))
				fail_msg("%zu, %zu: %s", i, k, status);
			assert_string_equal(text_at(r, "kind"), rows[i].status[k] == 'w'
									? "server-command"
									: "fragment");
		}
		r = json_array_get(all, 4 + n + 3);
		assert_string_equal(text_at(r, "kind"), "server-command");
		assert_string_equal(text_at(r, "status"), "decoded");
		json_decref(all);
	}
}

/* Each slice says where it belongs, and whether it is the last. */
static void test_slices_say(void **state)
{
	static const struct {
		const char *offset, *more;
	} rows[] = {
		{ "0", "true" }, { "10", "true" }, { "20", "true" }, { "30", "false" }
	};
	struct harness *h = harness_open(FAMILY_AUTO);
	json_t *all;

	(void)state;
	shake_hands(h, "connect 36 0 7 \"\\name\\bo\" 1390 1 1 1026\n",
		    "client_connect nc=1 map=a");
	send_slices(h, 1, 0);
	all = harness_close(h);
	assert_int_equal(json_array_size(all), 4 + COUNT(rows));
	for (size_t i = 0; i < COUNT(rows); i++) {
		json_t *r = json_array_get(all, 4 + i);

		assert_string_equal(text_at(r, "fragmentStart"), rows[i].offset);
		assert_string_equal(text_at(r, "more"), rows[i].more);
	}
	json_decref(all);
}

/* One that another follows is decoded, however long its message goes on. */
static void test_slices_slow(void **state)
{
	struct harness *h = harness_open(FAMILY_AUTO);
	struct parcel later = header(2, 1);
	json_t *all;

	(void)state;
	shake_hands(h, "connect 36 0 7 \"\\name\\bo\" 1390 1 1 1026\n",
		    "client_connect nc=1 map=a");
	send_slices(h, 1, 8 | 4);
	h->now_ns += 3000000000LL;
	s2c(h, &later);
	all = harness_close(h);
	assert_string_equal(text_at(all, "4.status"), "decoded");
	assert_string_equal(text_at(all, "5.status"), "partial");
	json_decref(all);
}

static bool nothing_next(struct ahead *ahead, struct span *ret)
{
	(void)ahead;
	(void)ret;
	return false;
}

/* What came before, or is behind one that was missed, waits for nothing. */
static void test_slices_wait(void **state)
{
	static const struct {
		uint32_t sequence;
		bool started, broken;
		enum family_wait wait;
	} rows[] = {
		{ 11, false, false, WAIT_SLICES },
		{ 9, false, false, WAIT_NOTHING },
		{ 11, true, false, WAIT_SLICES },
		{ 11, true, true, WAIT_NOTHING },
	};
	struct ahead ahead = { nothing_next };
	struct q2_session q;

	(void)state;
	q2_begin(&q, 36, 1026, 0);
	q.now.has_connect = q.now.new_netchan = true;
	q.side[0] = (struct netchan_side){ .newest = 10, .seen = true };
	q.slices[0].next = 11;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct parcel p = header(1U << 30 | rows[i].sequence, 1);

		put16(&p, 0x8000);
		put(&p, "\x0a\2hi", 4);
		q.slices[0].started = rows[i].started;
		q.slices[0].broken = rows[i].broken;
		assert_int_equal(q2_session_waits(&q, DIRECTION_S2C,
						  (struct span){ p.bytes, p.n }, &ahead),
				 rows[i].wait);
	}
	q2_session_drop(&q);
}

/* What a client says twice is said once; what comes late was never the newest. */
static void test_client_repeats(void **state)
{
	static const struct {
		uint8_t sequence;
		const char *mark; /* NULL: neither "late" nor "repeated" */
	} rows[] = { { 7, NULL },
		     { 7, "\"repeated\":true" },
		     { 9, NULL },
		     { 8, "\"late\":true" },
		     { 9, "\"repeated\":true" },
		     { 10, NULL } };
	struct q2_session q;

	(void)state;
	q2_begin(&q, 34, 0, 0);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct parcel p = header(rows[i].sequence, 1);
		struct record r;

		put(&p, "\x34\x12\4say hi", 10);
		q2_run_datagram(&q, DIRECTION_C2S, p.bytes, p.n, &r);
		expect_status(&r, RECORD_DECODED);
		assert_true(q2_says(&r, "\"text\":\"say hi\""));
		if (rows[i].mark)
			assert_true(q2_says(&r, rows[i].mark));
		else
			assert_false(q2_says(&r, "\"late\"") ||
				     q2_says(&r, "\"repeated\""));
	}
	q2_session_drop(&q);
}

/* Who has connected without the new netchan has no slices: bit 30 is the sequence's. */
static void test_no_slices(void **state)
{
	struct parcel p = header(1U << 30 | 5, 1);
	struct q2_session q;
	struct record r;

	(void)state;
	put(&p, "\x0a\2hi", 5);
	q2_begin(&q, 36, 1026, 0);
	q.now.has_connect = true;
	q2_run_datagram(&q, DIRECTION_S2C, p.bytes, p.n, &r);
	expect_status(&r, RECORD_DECODED);
	assert_true(q2_says(&r, "\"sequence\":1073741829"));
	assert_true(q2_says(&r, "\"text\":\"hi\""));
	q2_session_drop(&q);
}

/* A datagram of nothing counts as the newest, as one that says something does. */
static void test_idle_is_newest(void **state)
{
	static const struct {
		uint8_t sequence;
		bool says, old;
	} rows[] = {
		{ 7, true, false },  { 9, false, false }, { 8, true, true },
		{ 6, false, true },  { 10, true, false }, { 12, false, false },
		{ 11, false, true }, { 13, true, false },
	};
	struct q2_session q;

	(void)state;
	q2_begin(&q, 34, 0, 0);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct parcel p = header(rows[i].sequence, 1);
		struct record r;

		put(&p, "\x34\x12\4say hi", rows[i].says ? 10 : 2);
		q2_run_datagram(&q, DIRECTION_C2S, p.bytes, p.n, &r);
		expect_status(&r, RECORD_DECODED);
		if (q2_says(&r, "\"late\":true") != rows[i].old)
			fail_msg("row %zu", i);
	}
	q2_session_drop(&q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_part_lost),
		cmocka_unit_test(test_part_lost_ends),
		cmocka_unit_test(test_part_long),
		cmocka_unit_test(test_slices_lost),
		cmocka_unit_test(test_slices_say),
		cmocka_unit_test(test_slices_slow),
		cmocka_unit_test(test_slices_wait),
		cmocka_unit_test(test_client_repeats),
		cmocka_unit_test(test_idle_is_newest),
		cmocka_unit_test(test_no_slices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
