// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_shield_cache.c - what the daemon writes and reads of the response cache, and the
 * mark windows of recent askers: every place of the maps, at both sides of each limit.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "shield/fake_maps.h"

#include "lib/names.h"

static void pressure_ends(void **state)
{
	__u64 *until = shield.shared->cache.until_ns;

	(void)state;
	until[3] = fake_now + 1;
	until[4] = fake_now;
	until[SERVICES_MAX - 1] = fake_now + 1;
	assert_true(shield_under_load(&shield, 3));
	assert_false(shield_under_load(&shield, 4));
	assert_false(shield_under_load(&shield, 2));
	assert_true(shield_under_load(&shield, SERVICES_MAX - 1));
	/* The member after the last slot is another. */
	shield.shared->cache.cap.byte_ns = ~0ull;
	assert_false(shield_under_load(&shield, SERVICES_MAX));
}

/* Written into the place that is not read, and nowhere else; and all forgotten. */
static void templates_are_put_where_nobody_reads(void **state)
{
	struct cache_state *want = malloc(sizeof(*want)), *is = &shield.shared->cache;
	struct cache_entry t = { .made_ns = 5, .request_length = 9 };

	(void)state;
	assert_non_null(want);
	memset(is, 0x11, sizeof(*is));
	is->entries[3 * CACHE_FORMS + 2].generation = 8;
	*want = *is;
	want->entries[3 * CACHE_FORMS + 2].generation = 9;
	want->entries[3 * CACHE_FORMS + 2].half[1] = t;
	shield_cache_put(&shield, 3, 2, &t);
	shield_cache_put(&shield, SERVICES_MAX, 2, &t);
	shield_cache_put(&shield, 3, CACHE_FORMS, &t);
	assert_memory_equal(is, want, sizeof(*is));
	want->entries[3 * CACHE_FORMS + 2].generation = 10;
	want->entries[3 * CACHE_FORMS + 2].half[0] = t;
	shield_cache_put(&shield, 3, 2, &t);
	assert_memory_equal(is, want, sizeof(*is));
	for (__u32 form = 0; form < CACHE_FORMS; form++) {
		struct cache_pair *p = &want->entries[3 * CACHE_FORMS + form];

		memset(&p->half[++p->generation & 1], 0, sizeof(p->half[0]));
	}
	want->until_ns[3] = 0;
	want->cap.kept_due_ns[3] = 0;
	want->windows[3] = (struct recent_window){ 0 };
	shield_cache_forget(&shield, 3);
	assert_memory_equal(is, want, sizeof(*is));
	free(want);
}

/* A question as an operator reads it. */
static void questions_are_read(void **state)
{
	static const struct {
		const char *request;
		size_t n;
		bool nonce;
		const char *question;
	} rows[] = {
		{ "\xff\xff\xff\xffgetinfo ", 12, true, "getinfo" },
		{ "\xff\xff\xff\xffgetinfo ", 12, false, "getinfo " },
		{ "\xff\xff\xff\xffgetinfo", 11, true, "getinfo" },
		{ "\xff\xff\xff\xff"
		  "a\x1f b\x7e\x7f\xff",
		  11, false, "a? b~??" },
		{ "\xff\xff\xff\xff", 4, true, "" },
		{ "\xff\xff\xff", 3, false, NULL },
		{ "\xfe\xff\xff\xffgetinfo", 11, false, NULL },
		{ "\x80\0\0\x0c\x02QUAKE\0\x03", 12, false, NULL },
		{ "\xff\xff\xff\xff"
		  "12345678901234567890",
		  24, false, "12345678901234567890" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct cache_entry t = { .made_ns = fake_now - 7,
					 .request_length = (__u8)rows[i].n,
					 .nonce = rows[i].nonce,
					 .head = 40,
					 .ended = 1,
					 .cuts = { { .tail = 20 }, { .tail = 10 } } };
		struct cached_response seen;

		memset(&seen, 0x5a, sizeof(seen));
		memcpy(t.request, rows[i].request, rows[i].n);
		assert_true(cached_response_describe(&t, fake_now, &seen));
		assert_string_equal(seen.request,
				    rows[i].question ? rows[i].question
						     : kind_name(KIND_CCREQ_SERVER_INFO));
		assert_int_equal(seen.nonce, rows[i].nonce);
		assert_int_equal(seen.bytes, 61);
		assert_int_equal(seen.age_ns, 7);
		assert_true(seen.fresh);
	}
}

static void ages_of_answers(void **state)
{
	struct cache_entry t = { .made_ns = fake_now, .request_length = CACHE_REQUEST };
	struct cached_response seen;

	(void)state;
	assert_true(cached_response_describe(&t, fake_now - 1, &seen));
	assert_int_equal(seen.age_ns, 0);
	assert_true(cached_response_describe(&t, fake_now, &seen));
	assert_int_equal(seen.age_ns, 0);
	assert_true(cached_response_describe(&t, fake_now + 2 * CACHE_NS, &seen));
	assert_int_equal(seen.age_ns, 2 * CACHE_NS);
	assert_false(seen.fresh);
	t.request_length++;
	assert_false(cached_response_describe(&t, fake_now, &seen));
	t.request_length--;
	t.made_ns = 0;
	assert_false(cached_response_describe(&t, fake_now, &seen));
}

/* The windows' widths follow what was marked, once a second; the windows move on. */
static void mark_windows_follow_the_rate_and_move(void **state)
{
	struct cache_state *a = &shield.shared->cache;
	const struct recent_window *w = a->windows;
	__u64 now = 100 * SECOND;
	__u32 shut, from;

	(void)state;
	a->marked[3][7] = 1000000;
	shield_recent_update(&shield, now); /* the first look is no rate */
	assert_int_equal(w[7].shut, 0);
	assert_int_equal(shield.recent_looked_ns, now);
	assert_int_equal(shield.recent_moved_ns, now);
	a->marked[3][7] += 4 * RECENT_RATE;
	a->marked[0][7] += 3 * RECENT_RATE; /* the busiest processor counts */
	a->marked[0][5] += RECENT_RATE / 10;
	shield_recent_update(&shield, now + SECOND - 1);
	assert_int_equal(w[7].shut, 0);
	shield_recent_update(&shield, now + SECOND);
	assert_int_equal(w[5].shut, 0);
	shut = recent_shut(4 * RECENT_RATE, RECENT_RATE - RECENT_RATE / 10);
	assert_int_equal(w[7].shut, shut);
	assert_int_equal(w[7].from, 0);
	/* Over two seconds it is half of it a second. */
	a->marked[3][7] += RECENT_RATE / 5;
	shield_recent_update(&shield, now + 3 * SECOND);
	shut = recent_widen(shut,
			    recent_shut(recent_all(shut, RECENT_RATE / 10), RECENT_RATE));
	assert_int_equal(w[7].shut, shut);
	assert_int_equal(shield.recent_moved_ns, now);
	a->marked[3][7] += RECENT_RATE;
	shield_recent_update(&shield, now + 4 * SECOND);
	from = (__u32)recent_width(w[7].shut);
	assert_in_range(from, 1, ~0u - 1);
	assert_int_equal(w[7].from, from);
	assert_int_equal(shield.recent_moved_ns, now + 4 * SECOND);
	/* Nothing asks any more: it grows by a quarter each second. */
	shut = w[7].shut;
	shield_recent_update(&shield, now + 5 * SECOND);
	assert_int_equal(w[7].shut, recent_widen(shut, 0));
	assert_int_equal(w[7].from, from);
	for (__u64 i = 6; i < 16; i++)
		shield_recent_update(&shield, now + i * SECOND);
	assert_int_equal(w[7].shut, 0);
}

/* An eighth of the rate is divided among those under load, two responses each at least.
 */
static void a_part_of_the_cap_is_divided(void **state)
{
	struct cache_cap *cap = &shield.shared->cache.cap;
	__u64 now = 100 * SECOND;

	(void)state;
	cap->byte_ns = 400;
	cap->burst_ns = SECOND / 4;
	shield_recent_update(&shield, now);
	assert_int_equal(cap->kept_byte_ns, 7 * 400);
	assert_int_equal(cap->kept_burst_ns, SECOND / 4);
	for (int slot = 0; slot < 40; slot++)
		shield.shared->cache.until_ns[slot] = now + SECOND + 1;
	shield.shared->cache.until_ns[40] = now + SECOND;
	shield_recent_update(&shield, now + SECOND);
	assert_int_equal(cap->kept_byte_ns, 40 * 7 * 400);
	assert_int_equal(cap->kept_burst_ns, 3000 * 40 * 7 * 400);
	/* One that always responds has a part without load, too, and no second one. */
	shield.shared->tables[0].services[39] = shield.shared->tables[0].services[50] =
		(struct service){ .active = 1, .cache = CACHE_ALWAYS };
	shield.shared->tables[0].services[51] =
		(struct service){ .active = 1, .cache = CACHE_UNDER_LOAD };
	shield.shared->tables[0].services[52] = (struct service){ .cache = CACHE_ALWAYS };
	shield.shared->cache.until_ns[39] = now + 3 * SECOND;
	shield.shared->cache.until_ns[40] = now + 3 * SECOND;
	shield_recent_update(&shield, now + 2 * SECOND);
	assert_int_equal(cap->kept_byte_ns, 3 * 7 * 400);
	/* No rate, nothing kept. */
	cap->burst_ns = -LIMIT_NONE_NS;
	shield_recent_update(&shield, now + 3 * SECOND);
	assert_int_equal(cap->kept_byte_ns, 0);
}

#undef TEST
#define TEST(name) cmocka_unit_test_setup_teardown(name, fake_begin, fake_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(pressure_ends),
		TEST(templates_are_put_where_nobody_reads),
		TEST(questions_are_read),
		TEST(ages_of_answers),
		TEST(mark_windows_follow_the_rate_and_move),
		TEST(a_part_of_the_cap_is_divided),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
