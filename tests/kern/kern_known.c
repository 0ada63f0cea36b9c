// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Answers from the kernel: who gets known in quiet times, and stays so, and who is known
 * in a network whose budget is spent.
 * stubs: shield_out shield_joined
 */
#include "kern/kern_answers.h"

/* On a quiet day the server answers; who asks in three minutes of it gets known. */
static void quiet_days_make_known(void **state)
{
	struct frame_spec far = { .from = "192.0.2.9" };

	(void)state;
	answers(FAMILY_QUAKE3, CACHE_UNDER_LOAD);
	/* From the beginning of a minute on, or two seconds could be two of them. */
	pass_time((1ull << REPUTATION_SHIFT) -
		  kern.live->clock_ns % (1ull << REPUTATION_SHIFT));
	for (int minute = 0; minute < 3; minute++) {
		learn_quake3();
		if (minute == 2) {
			flood();
			say(&wraps[0], BYTES(OOB "getstatus"), &say_);
			assert_int_equal(say_.action, XDP_DROP);
			pass_time(11 * SECOND);
		}
		/* Twice in a minute is once. */
		for (int i = 0; i < 2; i++) {
			say(&wraps[0], BYTES(OOB "getstatus"), &say_);
			assert_int_equal(say_.action, XDP_PASS);
			pass_time(2 * SECOND);
		}
		say(&wraps[1], BYTES(OOB "getstatus"), &say_);
		assert_int_equal(say_.action, XDP_PASS);
		pass_time(1ull << REPUTATION_SHIFT);
	}
	learn_quake3();
	flood();
	for (int w = 0; w < 2; w++) {
		say(&wraps[w], BYTES(OOB "getstatus"), &say_);
		assert_told(BYTES(STATUS));
	}
	say(&far, BYTES(OOB "getstatus"), &say_);
	assert_int_equal(say_.action, XDP_DROP);
}

/* Frames say 64 hops; from elsewhere they say something else. */
static void known_is_who_is_as_far_as_it_was(void **state)
{
	(void)state;
	answers(FAMILY_QUAKE3, CACHE_UNDER_LOAD);
	learn_quake3();
	for (__u32 hops = 55; hops < 75; hops++) {
		__u32 minute = reputation_minute(kern.live->clock_ns);

		memset(&kern.live->cache.reputation, 0,
		       sizeof(kern.live->cache.reputation));
		for (__u32 ago = 4; ago; ago--)
			reputation_note(&kern.live->cache.reputation, net_of("192.0.2.1"),
					hops, 0, minute - ago, kern.live->keys);
		pass_time(SECOND / 10);
		kern.live->source_due_ns[0] = 0;
		flood();
		forget_recent();
		memset(kern.live->source_due_ns, 0, sizeof(kern.live->source_due_ns));
		say(&wraps[0], BYTES(OOB "getstatus"), &say_);
		assert_int_equal(say_.action,
				 hops >= 62 && hops <= 66 ? XDP_TX : XDP_DROP);
	}
}

/* So many questions of @from, one in each of the next minutes; may the last be known? */
static bool asks_for(const struct frame_spec *from, unsigned int minutes)
{
	const struct live *l = kern.live;

	for (; minutes; minutes--) {
		pass_time((1ull << REPUTATION_SHIFT) -
			  l->clock_ns % (1ull << REPUTATION_SHIFT));
		say(from, BYTES(OOB "getstatus"), &say_);
		assert_int_equal(say_.action, XDP_PASS);
		pass_time(2 * SECOND);
	}
	return reputation_known(reputation_find(&l->cache.reputation, net_of(from->from),
						l->keys),
				reputation_minute(l->clock_ns));
}

/* Or whoever is in its network would be known by a few questions in its name. */
static void beside_who_is_known_few_minutes_count(void **state)
{
	static const struct frame_spec neighbour = { .from = "192.0.2.77" };
	static const struct frame_spec far = { .from = "198.51.100.7" };

	(void)state;
	answers(FAMILY_QUAKE3, CACHE_UNDER_LOAD);
	while (reputation_minute(kern.live->clock_ns) % REPUTATION_SELDOM)
		pass_time(1ull << REPUTATION_SHIFT);
	know_both();
	reputation_note(&kern.live->cache.reputation,
			reputation_network(net_of("192.0.2.1")), 0, REPUTATION_NETWORK,
			reputation_minute(kern.live->clock_ns), kern.live->keys);
	assert_false(asks_for(&neighbour, REPUTATION_SELDOM - 1));
	assert_true(asks_for(&far, 3));
	assert_false(asks_for(&neighbour, REPUTATION_SELDOM));
	assert_true(asks_for(&neighbour, 2 * REPUTATION_SELDOM));
	/* Who is known goes on to be. */
	assert_true(asks_for(&(struct frame_spec){ .from = "192.0.2.1" }, 1));
	assert_int_equal((__u32)reputation_find(&kern.live->cache.reputation,
						net_of("192.0.2.1"), kern.live->keys),
			 reputation_minute(kern.live->clock_ns));
}

/* A service with budget to spare, of which one network may ask for four answers. */
static void answers_at_leisure(enum wire_family family)
{
	static const char *const known[] = { "192.0.2.1", "2001:db8:1::1" };
	struct service s = kern_open_service(family);

	answers(family, CACHE_UNDER_LOAD);
	s.cache = CACHE_UNDER_LOAD;
	s.budget[CLASS_QUERY].prefix = kern_rate(1, 4);
	kern_service(&kern, 0, 0, &s);
	know_both();
	for (size_t i = 0; i < COUNT(known); i++)
		reputation_note(&kern.live->cache.reputation,
				reputation_network(net_of(known[i])), 0,
				REPUTATION_NETWORK,
				reputation_minute(kern.live->clock_ns), kern.live->keys);
}

static void learn_status(enum wire_family family)
{
	if (family == FAMILY_QUAKE3)
		learn_quake3();
	else
		learn(family, 2, "", BYTES(OOB "n\\*version\\x\n\0"));
}

/*
 * What neighbours ask, or somebody in their names, does not keep who is known unanswered,
 * though it presses nothing. @most: so many of @neighbours are let through.
 */
static void among_neighbours(enum wire_family family, const struct frame_spec *known,
			     const struct frame_spec neighbours[2], unsigned int most)
{
	const char *ask = family == FAMILY_QUAKE3 ? OOB "getstatus" : OOB "status 23";
	unsigned int passed = 0;

	answers_at_leisure(family);
	for (int i = 0; i < 8; i++) {
		say(&neighbours[i & 1], ask, strlen(ask), &say_);
		passed += say_.action == XDP_PASS;
		assert_true(say_.action == XDP_PASS || say_.action == XDP_DROP);
	}
	assert_int_equal(passed, most);
	learn_status(family);
	for (int i = 0; i < 3; i++) {
		say(known, ask, strlen(ask), &say_);
		assert_int_equal(say_.action, XDP_TX);
		for (int n = 0; n < 2; n++) {
			say(&neighbours[n], ask, strlen(ask), &say_);
			assert_int_equal(say_.action, XDP_DROP);
		}
	}
	assert_true(kern.live->cache.until_ns[0] < kern.live->clock_ns);
	/* While its network has a budget the server itself answers it. */
	pass_time(20 * SECOND);
	learn_status(family);
	say(known, ask, strlen(ask), &say_);
	assert_int_equal(say_.action, XDP_PASS);
}

static void neighbours_who_press_nothing(void **state)
{
	static const struct frame_spec near[] = { { .from = "192.0.2.77" },
						  { .from = "192.0.2.78" } };
	static const struct frame_spec around[] = { { .from = "192.0.4.1" },
						    { .from = "192.0.5.1" } };
	static const struct frame_spec near6[] = {
		{ .ipv6 = true, .from = "2001:db8:1:3::1" },
		{ .ipv6 = true, .from = "2001:db8:1:4::1" },
	};

	(void)state;
	among_neighbours(FAMILY_QUAKE3, &wraps[0], near, 4);
	among_neighbours(FAMILY_QUAKE3, &wraps[0], around, 5);
	among_neighbours(FAMILY_QUAKE3, &wraps[1], near6, 4);
	among_neighbours(FAMILY_QUAKEWORLD, &wraps[0], near, 4);
}

/* All sources are beyond their own limit of queries. */
static void spend_sources(void)
{
	for (size_t i = 0; i < COUNT(kern.live->source_due_ns); i++)
		kern.live->source_due_ns[i] = kern.live->clock_ns + 1000 * SECOND;
}

/* If @may is true any source may be in a list, so the slow path decides. None is. */
static void lists_matter(bool may)
{
	kern.live->lists = may ? LISTS_ALLOW : 0;
	memset(kern.live->acl_prefilter, may ? LISTS_ALLOW : 0,
	       sizeof(kern.live->acl_prefilter));
}

static __u64 state_of(const char *address)
{
	return reputation_find(&kern.live->cache.reputation, net_of(address),
			       kern.live->keys);
}

/*
 * While its service is not under load, a known client beyond its own limit is refused as
 * any other, whether the limit of its prefix is exceeded or not. Within its own it is
 * served once that of the prefix is.
 */
static void known_client_beyond_its_own_limit_is_refused(void **state)
{
	static const struct frame_spec neighbour = { .from = "192.0.2.77" };
	static const enum wire_family families[] = { FAMILY_QUAKE3, FAMILY_QUAKEWORLD };

	(void)state;
	for (unsigned int i = 0; i < 2 * COUNT(families); i++) {
		enum wire_family family = families[i / 2];
		const char *ask =
			family == FAMILY_QUAKE3 ? OOB "getstatus" : OOB "status 23";

		answers_at_leisure(family);
		learn_status(family);
		lists_matter(i % 2);
		for (int n = 0; n < 5; n++)
			say(&neighbour, ask, strlen(ask), &say_);
		assert_int_equal(say_.action, XDP_DROP);
		spend_sources();
		/* The limit of cached responses to a known client is in the same table.
		 */
		kern.live->source_due_ns[limit_cell(kern.live->keys, net_of("192.0.2.1"),
						    1ull << 41, SOURCE_BITS)] = 0;
		say(&wraps[0], ask, strlen(ask), &say_);
		assert_int_equal(say_.action, XDP_DROP);
		memset(kern.live->source_due_ns, 0, sizeof(kern.live->source_due_ns));
		say(&wraps[0], ask, strlen(ask), &say_);
		assert_int_equal(say_.action, XDP_TX);
	}
	lists_matter(false);
}

/* Beyond its own limit no source becomes known, and none stays so by the query. */
static void query_over_the_own_limit_is_not_noted(void **state)
{
	static const struct frame_spec far = { .from = "198.51.100.7" };
	__u64 was;

	(void)state;
	for (int listed = 0; listed < 2; listed++) {
		answers_at_leisure(FAMILY_QUAKE3);
		was = state_of("192.0.2.1");
		pass_time(1ull << REPUTATION_SHIFT);
		lists_matter(listed);
		spend_sources();
		say(&far, BYTES(OOB "getstatus"), &say_);
		assert_int_equal(say_.action, XDP_DROP);
		say(&wraps[0], BYTES(OOB "getstatus"), &say_);
		assert_int_equal(say_.action, XDP_DROP);
		assert_true(!state_of(far.from));
		assert_true(was && state_of("192.0.2.1") == was);
		memset(kern.live->source_due_ns, 0, sizeof(kern.live->source_due_ns));
		say(&far, BYTES(OOB "getstatus"), &say_);
		assert_int_equal(say_.action, XDP_PASS);
		assert_true(state_of(far.from));
	}
	lists_matter(false);
}

/* An IPv6 address can be called what a network of IPv4 is, and is not noted as one. */
static void no_address_is_a_network(void **state)
{
	static const struct frame_spec name = { .ipv6 = true, .from = "0:1:c0:2::1" };

	(void)state;
	answers(FAMILY_QUAKE3, CACHE_UNDER_LOAD);
	assert_true(net_of(name.from) == reputation_network(net_of("192.0.2.1")));
	assert_false(asks_for(&name, 2 * REPUTATION_SELDOM));
}

/* Whom its network's budget refuses is not noted: that would fill the table for nothing.
 */
static void who_is_refused_gets_not_known(void **state)
{
	static const struct frame_spec around[2] = { { .from = "203.0.113.7" },
						     { .from = "203.0.113.8" } };
	const struct live *l = kern.live;

	(void)state;
	answers_at_leisure(FAMILY_QUAKE3);
	for (int minute = 0; minute < 5; minute++) {
		pass_time((1ull << REPUTATION_SHIFT) -
			  l->clock_ns % (1ull << REPUTATION_SHIFT));
		for (int i = 0; i < 5; i++) {
			say(&around[i / 4], BYTES(OOB "getstatus"), &say_);
			assert_int_equal(say_.action, i < 4 ? XDP_PASS : XDP_DROP);
		}
	}
	for (int i = 0; i < 2; i++)
		assert_int_equal(reputation_known(reputation_find(&l->cache.reputation,
								  net_of(around[i].from),
								  l->keys),
						  reputation_minute(l->clock_ns)),
				 !i);
}

/* Beside who is known nobody has less than elsewhere: what its network may not have, it
 * gets by asking like a browser. */
static void a_neighbour_asks_like_a_browser(void **state)
{
	static const struct frame_spec honest = { .from = "192.0.2.77" };
	unsigned int told = 0;

	(void)state;
	answers(FAMILY_QUAKE3, CACHE_UNDER_LOAD);
	kern.live->cache.cap = (struct cache_cap){ 0 };
	know("192.0.2.1");
	reputation_note(&kern.live->cache.reputation,
			reputation_network(net_of("192.0.2.1")), 0, REPUTATION_NETWORK,
			reputation_minute(kern.live->clock_ns), kern.live->keys);
	for (unsigned int i = 0; i < 600; i++) {
		char address[32];
		struct frame_spec forged = { .from = address };

		if (i % 20 == 0) {
			learn_quake3();
			flood();
		}
		snprintf(address, sizeof(address), "192.0.2.%u", 100 + i % 150);
		say(&forged, BYTES(OOB "getstatus"), &say_);
		pass_time(SECOND / 20);
		if (i % 20 != 10)
			continue;
		say(&honest, BYTES(OOB "getstatus"), &say_);
		told += say_.action == XDP_TX;
	}
	assert_in_range(told, 25, 30);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quiet_days_make_known),
		cmocka_unit_test(known_is_who_is_as_far_as_it_was),
		cmocka_unit_test(beside_who_is_known_few_minutes_count),
		cmocka_unit_test(neighbours_who_press_nothing),
		cmocka_unit_test(known_client_beyond_its_own_limit_is_refused),
		cmocka_unit_test(query_over_the_own_limit_is_not_noted),
		cmocka_unit_test(no_address_is_a_network),
		cmocka_unit_test(who_is_refused_gets_not_known),
		cmocka_unit_test(a_neighbour_asks_like_a_browser),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
