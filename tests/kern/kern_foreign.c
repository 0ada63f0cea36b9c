// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A server of another family than its service says: what it answers strangers makes none
 * of them a player, and must be paid for.
 * stubs: shield_cache shield_joined
 */
#include "config/config.h"
#include "kern/kern_game.h"

/* What the servers of each family say to strangers, or to players, without a marker. */
static const struct {
	const char *name;
	const char *head;
	size_t n;
	size_t length; /* in all; the rest is zero */
	unsigned int families; /* to which it is another's */
} shapes[] = {
	{ "CCREP_SERVER_INFO", BYTES("\x80\0\0\x40\x83"), 64,
	  1 << FAMILY_QUAKE3 | 1 << FAMILY_QUAKE2 },
	{ "CCREP_ACCEPT", BYTES("\x80\0\0\x09\x81\0\x68\0\0"), 9,
	  1 << FAMILY_QUAKE3 | 1 << FAMILY_QUAKE2 },
	{ "a block", BYTES("\0\x09\x04\0\0\0\0\x05"), 1024,
	  1 << FAMILY_QUAKE3 | 1 << FAMILY_QUAKE2 },
	{ "an update", BYTES("\0\x10\0\x3c\0\0\0\x05\x07"), 60,
	  1 << FAMILY_QUAKE3 | 1 << FAMILY_QUAKE2 },
	{ "HelloVerifyRequest", BYTES("\x16\xfe\xff\0\0\0\0\0\0\0\0\0\x1f\x03"), 44,
	  1 << FAMILY_QUAKE3 | 1 << FAMILY_QUAKE2 },
	{ "DTLS data", BYTES("\x17\xfe\xfd\0\x01\0\0\0\0\0\x09\0\x50"), 93,
	  1 << FAMILY_QUAKE3 | 1 << FAMILY_QUAKE2 },
	{ "QuakeWorld's log", BYTES("stdlog 9\n"), 700,
	  1 << FAMILY_QUAKE3 | 1 << FAMILY_QUAKE2 | 1 << FAMILY_NETQUAKE },
};

static bool shape_leaves(size_t i)
{
	char datagram[1400] = "";

	memcpy(datagram, shapes[i].head, shapes[i].n);
	return says(datagram, shapes[i].length);
}

static __u64 counted(enum reason reason)
{
	struct counters out;

	kern_sum_way(&kern, 0, DIRECTION_S2C, &out);
	return out.by[KIND_OTHER_PROTOCOL][reason].packets;
}

static void another_familys_shape_enters_nobody(void **state)
{
	__u16 port = 1000;

	(void)state;
	for (size_t i = 0; i < COUNT(shapes); i++)
		for (int f = 0; f < FAMILY_COUNT; f++) {
			struct player player = { 0 };
			unsigned int left = 0;
			__u64 before = counted(REASON_WITHIN_LIMITS);
			__u64 withheld = counted(REASON_AMPLIFICATION);

			if (!(shapes[i].families & 1u << f))
				continue;
			serve((enum wire_family)f);
			amplification(AMPLIFICATION_ALLOWANCE, AMPLIFICATION_REFILL_S);
			pass_time(SECOND * AMPLIFICATION_REFILL_S);
			link_.dport = port++;
			for (int n = 0; n < 1000; n++)
				left += shape_leaves(i);
			if (left * shapes[i].length > AMPLIFICATION_ALLOWANCE)
				print_error("%s on %s: %u of 1000 left\n", shapes[i].name,
					    family_name((enum wire_family)f), left);
			assert_true(left * shapes[i].length <= AMPLIFICATION_ALLOWANCE);
			assert_false(player_read(link_.dport, &player));
			assert_int_equal(counted(REASON_WITHIN_LIMITS) - before, left);
			assert_int_equal(counted(REASON_AMPLIFICATION) - withheld,
					 1000 - left);
		}
}

/*
 * Words are proof: DarkPlaces under Quake III's name plays on, for those it accepts,
 * until it has been silent for so long that they are gone.
 */
static void who_was_accepted_plays_all_the_same(void **state)
{
	(void)state;
	for (int accepted = 0; accepted < 3; accepted++) {
		unsigned int left = 0;

		serve(FAMILY_QUAKE3);
		amplification(AMPLIFICATION_ALLOWANCE, AMPLIFICATION_REFILL_S);
		link_.dport = (__u16)(HERE + accepted);
		if (accepted)
			assert_true(says(BYTES(OOB "accept")));
		if (accepted == 2)
			pass_time(61 * SECOND);
		for (__u32 n = 1; n <= 200; n++)
			left += nq_update(n, 0x41000000 + n, 1000);
		assert_int_equal(left == 200, accepted == 1);
		pass_time(100 * SECOND);
	}
}

/* Of a family's own game nothing is taken for another's. */
static void its_own_game_is_none_of_them(void **state)
{
	static const enum wire_family families[] = { FAMILY_QUAKE3, FAMILY_QUAKE2 };
	struct player player = { 0 };

	(void)state;
	for (size_t f = 0; f < COUNT(families); f++) {
		serve(families[f]);
		for (__u32 n = 0; n < 64; n++) {
			link_.dport = (__u16)(2000 + 100 * f + n);
			assert_true(sent(1 + n * 9973));
			assert_true(player_read(link_.dport, &player));
		}
	}
	assert_int_equal(counted(REASON_WITHIN_LIMITS), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(another_familys_shape_enters_nobody),
		TEST(who_was_accepted_plays_all_the_same),
		TEST(its_own_game_is_none_of_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
