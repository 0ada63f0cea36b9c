// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Frames for other machines on the wire: nothing is sent back for them in their name, by
 * no way to send something back. Frames for this host are answered as ever.
 * stubs: shield_out shield_joined
 */
#include "kern/kern_answers.h"

#define TO_TEST 0x020000000002ull /* where frame_build() sends to: 02:00:00:00:00:02 */

/* @mac as struct local_macs has it. */
static __u64 mac_of(__u64 mac)
{
	return __builtin_bswap64(mac) >> 16;
}

/* The addresses of this host are @count, among which frames of this test go to @own. */
static void here_is(__u32 count, __u32 own)
{
	struct local_macs *here = &kern.live->local;

	for (__u32 i = 0; i < count; i++)
		here->macs[i] = mac_of(i == own ? TO_TEST : TO_TEST + 1 + i);
	here->count = count;
}

static bool cached_response_sent(const struct frame_spec *wrap)
{
	pass_time(2 * SECOND);
	learn_quake3();
	flood();
	say(wrap, BYTES(OOB "getstatus"), &say_);
	return say_.action == XDP_TX;
}

static bool challenge_sent(const struct frame_spec *wrap)
{
	pass_time(20 * SECOND);
	say(wrap, BYTES(OOB "getchallenge 1234567890 xonotic"), &say_);
	return say_.action == XDP_TX;
}

/* Each way to send something back, for each table of addresses. */
static void expect_each(bool (*is_sent)(const struct frame_spec *wrap))
{
	static const struct {
		__u32 count, own;
		bool sent;
	} rows[] = {
		{ 0, 0, true }, /* not known */
		{ 1, 0, true },
		{ 1, 1, false },
		{ 3, 0, true },
		{ 3, 2, true },
		{ 3, 3, false },
		{ LOCAL_MACS, LOCAL_MACS - 1, true },
		{ LOCAL_MACS, LOCAL_MACS, false },
	};

	for (size_t w = 0; w < COUNT(wraps); w++) {
		for (size_t i = 0; i < COUNT(rows); i++) {
			here_is(rows[i].count, rows[i].own);
			assert_int_equal(is_sent(&wraps[w]), rows[i].sent);
		}
	}
	here_is(0, 0);
}

static void no_response_is_sent_for_another_machine(void **state)
{
	(void)state;
	answers(FAMILY_QUAKE3, CACHE_UNDER_LOAD);
	know_both();
	expect_each(cached_response_sent);
}

static void no_challenge_is_sent_for_another_machine(void **state)
{
	(void)state;
	demand(FAMILY_QUAKE3, VALIDATION_ALWAYS);
	expect_each(challenge_sent);
	demand(FAMILY_NETQUAKE, VALIDATION_ALWAYS);
	expect_each(challenge_sent);
}

/* The frame of an octet's difference is another machine's. */
static void all_of_an_address_is_compared(void **state)
{
	(void)state;
	demand(FAMILY_QUAKE3, VALIDATION_ALWAYS);
	for (int bit = 0; bit < 48; bit++) {
		here_is(1, 0);
		kern.live->local.macs[0] ^= 1ull << bit;
		assert_false(challenge_sent(&wraps[0]));
	}
	here_is(0, 0);
}

/* A service that names its address is said to be here, wherever the frame goes. */
static void service_with_address_is_answered_for(void **state)
{
	struct frame_spec to = { .to = "198.51.100.77" };

	(void)state;
	demand(FAMILY_QUAKE3, VALIDATION_ALWAYS);
	here_is(1, 1);
	assert_false(challenge_sent(&to));
	kern_port(&kern, 0, PORT, -1, true);
	kern_endpoint(&kern, 0, to.to, PORT, 0);
	assert_true(challenge_sent(&to));
	here_is(0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_response_is_sent_for_another_machine),
		cmocka_unit_test(no_challenge_is_sent_for_another_machine),
		cmocka_unit_test(all_of_an_address_is_compared),
		cmocka_unit_test(service_with_address_is_answered_for),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
