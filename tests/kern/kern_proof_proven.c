// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What who has proven its address may do in Quake III, and what is asked beside it in
 * that address' name.
 * stubs: shield_cache shield_out shield_joined
 */
#include "kern/kern_proof_echo.h"

/* Validate the client at @at: it returns the cookie of the challenge to @text. */
static void validate(const struct frame_spec *at, const void *text, size_t n)
{
	char token[FRAME_MAX];
	size_t length = token_of(at, text, n, token);

	say(at, token, length, &say_);
	assert_turned(&say_, text, n);
}

/*
 * Where somebody has proven itself, little goes on cookie_invalid in the name of that
 * address, of a flood or at the pace of its budget: of each word a third of what does
 * elsewhere.
 */
static void who_proved_itself_is_drained_by_nobody(void **state)
{
	static const struct {
		const char *text;
		size_t n;
		enum wire_class class;
		int gap_ms;
	} rows[] = {
		{ BYTES(BARE), CLASS_CHALLENGE, 100 },
		{ BYTES(BARE), CLASS_CHALLENGE, 1000 },
		{ BYTES(OOB "getinfo xxx"), CLASS_QUERY, 100 },
		{ BYTES(OOB "getstatus"), CLASS_QUERY, 1000 },
	};
	static const char *const from[] = { "10.1.1.1", "198.18.7.7" };
	const struct frame_spec home = { .from = from[0] };
	struct service s;
	int passed[2];

	(void)state;
	for (size_t row = 0; row < COUNT(rows); row++) {
		demand(FAMILY_QUAKE3, VALIDATION_UNDER_LOAD);
		s = kern.live->tables[0].services[0];
		s.budget[rows[row].class].source = kern_rate(1, 3);
		kern_service(&kern, 0, 0, &s);
		pass_time(300 * SECOND);
		for (int i = 0; i < 8; i++) {
			struct frame_spec each = { .from = from[i % 2],
						   .sport = (__u16)(1000 + i) };

			say(&each, rows[row].text, rows[row].n, &say_);
		}
		pass_time(SECOND / 4); /* somebody was asked just now */
		validate(&home, rows[row].text, rows[row].n);
		passed[0] = passed[1] = 0;
		for (int ms = 0; ms < 30000; ms += rows[row].gap_ms) {
			for (size_t i = 0; i < COUNT(from); i++) {
				struct frame_spec each = { .from = from[i],
							   .sport = (__u16)(2000 + ms) };

				say(&each, rows[row].text, rows[row].n, &say_);
				passed[i] += say_.action == XDP_PASS;
			}
			pass_time((__u64)rows[row].gap_ms * SECOND / 1000);
		}
		assert_in_range(passed[0], 9, 10);
		assert_in_range(passed[1], 29, 30);
		/* After a pause one does, at the cost of three. */
		pass_time(10 * SECOND);
		for (int i = 0; i < 5; i++) {
			struct frame_spec each = { .from = from[0],
						   .sport = (__u16)(3000 + i) };

			say(&each, rows[row].text, rows[row].n, &say_);
			assert_int_equal(say_.action == XDP_PASS, i < 1);
		}
	}
}

/* DarkPlaces and QuakeWorld have no such limit, and lose nothing by it. */
static void other_families_are_drained_as_ever(void **state)
{
	int passed = 0;

	(void)state;
	demand(FAMILY_QUAKE3, VALIDATION_UNDER_LOAD);
	reputation_note(&kern.live->cache.reputation, 0x0a010101, 60,
			REPUTATION_VALIDATED, reputation_minute(kern.live->clock_ns),
			kern.live->keys);
	demand(FAMILY_QUAKEWORLD, VALIDATION_UNDER_LOAD);
	kern.live->tables[0].services[0].budget[CLASS_CHALLENGE].source = kern_rate(1, 3);
	for (int i = 0; i < 5; i++) {
		struct frame_spec each = { .from = "10.1.1.1",
					   .sport = (__u16)(1000 + i) };

		say(&each, BYTES(OOB "getchallenge\n"), &say_);
		passed += say_.action == XDP_PASS;
	}
	assert_int_equal(passed, 3);
}

/*
 * However few questions one address may ask: beside who has proven itself one goes on
 * after a pause, and what does not takes nothing from its neighbours.
 */
static void beside_the_proven_one_question_is_left(void **state)
{
	static const __u32 bursts[] = { 1, 3 };
	struct service s;

	(void)state;
	for (size_t row = 0; row < COUNT(bursts); row++) {
		struct budget *b = &s.budget[CLASS_QUERY];
		int passed = 0;

		demand(FAMILY_QUAKE3, VALIDATION_UNDER_LOAD);
		s = kern.live->tables[0].services[0];
		b->source = kern_rate(1, bursts[row]);
		b->prefix = b->service = kern_rate(1, 12);
		kern_service(&kern, 0, 0, &s);
		pass_time(300 * SECOND);
		reputation_note(&kern.live->cache.reputation, 0x0a010101, 60,
				REPUTATION_VALIDATED_AT(0),
				reputation_minute(kern.live->clock_ns), kern.live->keys);
		for (int i = 0; i < 100; i++) {
			struct frame_spec each = { .from = "10.1.1.1",
						   .sport = (__u16)(3000 + i) };

			say(&each, BYTES(OOB "getstatus"), &say_);
			passed += say_.action == XDP_PASS;
			assert_int_equal(passed, 1);
		}
		say(&(struct frame_spec){ .from = "10.1.1.2" }, BYTES(OOB "getstatus"),
		    &say_);
		assert_int_equal(say_.action, XDP_PASS);
	}
}

/* Another server of the machine has an account of its own of who asks it. */
static void elsewhere_a_question_costs_one(void **state)
{
	static const __u16 ports[] = { PORT, PORT + 1 };
	struct service s;
	int passed[2] = { 0 };

	(void)state;
	demand(FAMILY_QUAKE3, VALIDATION_UNDER_LOAD);
	s = kern.live->tables[0].services[0];
	s.budget[CLASS_QUERY].source = kern_rate(1, 3);
	kern_service(&kern, 0, 0, &s);
	s.budget[CLASS_QUERY].seed = 77;
	kern_service(&kern, 0, 1, &s);
	kern_port(&kern, 0, PORT + 1, 1, false);
	pass_time(300 * SECOND);
	reputation_note(&kern.live->cache.reputation, 0x0a010101, 60,
			REPUTATION_VALIDATED_AT(0),
			reputation_minute(kern.live->clock_ns), kern.live->keys);
	for (int i = 0; i < 3; i++) {
		for (size_t at = 0; at < COUNT(ports); at++) {
			struct frame_spec each = { .from = "10.1.1.1",
						   .dport = ports[at],
						   .sport = (__u16)(3000 + i) };

			say(&each, BYTES(OOB "getstatus"), &say_);
			passed[at] += say_.action == XDP_PASS;
		}
	}
	assert_int_equal(passed[0], 1);
	assert_int_equal(passed[1], 3);
}

/* A browser that looks at several flooded servers is asked by each. */
static void each_service_asks(void **state)
{
	static const struct {
		const char *text;
		size_t n;
	} rows[] = {
		{ BYTES(BARE) },
		{ BYTES(OOB "getinfo xxx") },
		{ BYTES(OOB "getstatus") },
	};
	struct service s;

	(void)state;
	demand(FAMILY_QUAKE3, VALIDATION_ALWAYS);
	s = kern.live->tables[0].services[0];
	s.budget[CLASS_QUERY].service = kern_rate(1, 0);
	for (int slot = 0; slot < 8; slot++) {
		kern_service(&kern, 0, slot, &s);
		kern_port(&kern, 0, (__u16)(PORT + slot), slot, false);
	}
	pass_time(300 * SECOND);
	for (size_t row = 0; row < COUNT(rows); row++) {
		for (__u16 i = 0; i < 8; i++) {
			struct frame_spec at = { .dport = PORT + i };

			say(&at, rows[row].text, rows[row].n, &say_);
			assert_answer(&say_, 0);
		}
	}
}

static void browsers_prove_themselves_for_a_query(void **state)
{
	static const struct {
		const char *text;
		size_t n;
	} rows[] = {
		{ BYTES(OOB "getinfo xxx") },
		{ BYTES(OOB "getstatus") },
	};
	struct service s;

	(void)state;
	demand(FAMILY_QUAKE3, VALIDATION_UNDER_LOAD);
	s = kern.live->tables[0].services[0];
	s.budget[CLASS_QUERY].source = kern_rate(1, 4);
	s.budget[CLASS_QUERY].service = kern_rate(1, 4);
	kern_service(&kern, 0, 0, &s);
	for (size_t i = 0; i < 4; i++) {
		say(&wraps[0], rows[i % 2].text, rows[i % 2].n, &say_);
		assert_int_equal(say_.action, XDP_PASS);
	}
	for (size_t i = 0; i < 2; i++) {
		struct frame_spec each = { .sport = (__u16)(HERE + i) };

		validate(&each, rows[i].text, rows[i].n);
	}
	s.budget[CLASS_QUERY].service = kern_rate(1, 0);
	kern_service(&kern, 0, 0, &s);
	/* Longer than what asked it would be here, so it is not sent. */
	say(&wraps[1], BYTES(OOB "getstatus"), &say_);
	assert_int_equal(say_.action, XDP_DROP);
}

/*
 * Who proved itself for one question is not asked again for the next, within budgets of
 * its own, whatever was asked from other ports of its address; beyond them as a stranger.
 * What is asked without a proof makes no proof last longer.
 */
static void who_proved_itself_asks_on(void **state)
{
	struct service s;

	(void)state;
	demand(FAMILY_QUAKE3, VALIDATION_UNDER_LOAD);
	s = kern.live->tables[0].services[0];
	s.budget[CLASS_QUERY].source = kern_rate(1, 4);
	kern_service(&kern, 0, 0, &s);
	for (int i = 0; i < 10; i++) {
		struct frame_spec each = { .sport = (__u16)(2000 + i) };

		say(&each, BYTES(OOB "getinfo xxx"), &say_);
	}
	pass_time(SECOND / 4);
	validate(&wraps[0], BYTES(OOB "getinfo xxx"));
	/* Another port is challenged at the same time. */
	say(&(struct frame_spec){ .sport = 3000 }, BYTES(OOB "getstatus"), &say_);
	assert_answer(&say_, 0);
	/* Two of four, for the proof was the first: each counts as two. */
	say(&wraps[0], BYTES(OOB "getstatus"), &say_);
	assert_int_equal(say_.action, XDP_PASS);
	assert_int_equal(
		counter_of(DIRECTION_C2S, KIND_GETSTATUS, REASON_VALIDATED).packets, 1);
	say(&wraps[0], BYTES(OOB "getstatus"), &say_);
	assert_answer(&say_, 0);
	for (int i = 0; i < 5; i++) {
		pass_time(13 * SECOND);
		say(&wraps[0], BYTES(OOB "getstatus"), &say_);
		assert_int_equal(say_.action, XDP_PASS);
	}
	assert_int_equal(
		counter_of(DIRECTION_C2S, KIND_GETSTATUS, REASON_VALIDATED).packets,
		1 + 4);
}

/*
 * The query of a validated client passes while the service's limit is exceeded and no
 * challenge is left, in a frame of any form; another source's does not.
 */
static void the_validated_need_no_challenge(void **state)
{
	static const struct frame_spec forms[] = {
		{ .sport = HERE },
		{ .sport = HERE, .tags = { ETH_P_8021Q } },
		{ .sport = HERE, .tags = { ETH_P_8021AD, ETH_P_8021Q } },
	};
	struct service s;

	(void)state;
	demand(FAMILY_QUAKE3, VALIDATION_UNDER_LOAD);
	s = kern.live->tables[0].services[0];
	s.budget[CLASS_QUERY].service = kern_rate(10, 10);
	kern_service(&kern, 0, 0, &s);
	kern.live->service_due_ns[budget_index(0, CLASS_QUERY)] = ~0ull >> 2;
	validate(&forms[0], BYTES(OOB "getinfo xxx"));
	kern.live->validation.share[0][CHALLENGE_QUERY] = kern_rate(1, 0);
	for (size_t i = 0; i < COUNT(forms); i++) {
		struct frame_spec other = forms[i];

		pass_time(3 * SECOND);
		/* At another address, which takes the one challenge that is left. */
		other.from = "192.0.2.77";
		say(&other, BYTES(OOB "getstatus"), &say_);
		say(&other, BYTES(OOB "getstatus"), &say_);
		assert_int_equal(say_.action, XDP_DROP);
		say(&forms[i], BYTES(OOB "getstatus"), &say_);
		assert_int_equal(say_.action, XDP_PASS);
	}
	assert_int_equal(
		counter_of(DIRECTION_C2S, KIND_GETSTATUS, REASON_VALIDATED).packets,
		COUNT(forms));
}

/* Who proved itself joins whatever strangers do, and within a budget of its own. */
static void the_proven_have_budgets_of_their_own(void **state)
{
	char token[FRAME_MAX];
	struct service s;
	size_t n;

	(void)state;
	demand(FAMILY_QUAKE3, VALIDATION_ALWAYS);
	s = kern.live->tables[0].services[0];
	s.budget[CLASS_CONNECT].source = kern_rate(1, 4);
	s.budget[CLASS_UNKNOWN].service = kern_rate(1, 1);
	kern_service(&kern, 0, 0, &s);
	/* Strangers, all of them, share the budget of the unknown. */
	for (int i = 0; i < 3; i++) {
		say(&wraps[0], BYTES(OOB "connect \"x\""), &say_);
		assert_int_equal(say_.action, i ? XDP_DROP : XDP_PASS);
	}
	n = token_of(&wraps[0], BYTES(BARE), token);
	say(&wraps[0], token, n, &say_);
	assert_int_equal(say_.action, XDP_PASS);
	for (int i = 0; i < 6; i++) {
		say(&wraps[0], BYTES(OOB "connect \"x\""), &say_);
		assert_int_equal(say_.action, i < 4 ? XDP_PASS : XDP_DROP);
	}
	/* For a minute, renewed by use. */
	for (int i = 0; i < 5; i++) {
		pass_time(50 * SECOND);
		say(&wraps[0], BYTES(OOB "connect \"x\""), &say_);
		assert_int_equal(say_.action, XDP_PASS);
		say(&wraps[4], BYTES(OOB "connect \"x\""), &say_);
		say(&wraps[4], BYTES(OOB "connect \"x\""), &say_);
		assert_int_equal(say_.action, XDP_DROP);
	}
	pass_time(61 * SECOND);
	say(&wraps[0], BYTES(OOB "connect \"x\""), &say_);
	say(&wraps[0], BYTES(OOB "connect \"x\""), &say_);
	assert_int_equal(say_.action, XDP_DROP);
}

/* Each for itself, its network and the service, and the refusal says which is spent. */
static void what_the_proven_have_spent_is_said(void **state)
{
	static const struct {
		enum reason reason;
		const char *from;
	} rows[] = {
		{ REASON_SOURCE_LIMIT, "10.1.1.1" },
		{ REASON_PREFIX_LIMIT, "10.1.1.2" },
		{ REASON_SERVICE_LIMIT, "10.99.1.1" },
	};
	static const char *const home = "10.1.1.1";
	char token[FRAME_MAX];
	struct service s;
	size_t n;

	(void)state;
	for (size_t row = 0; row < COUNT(rows); row++) {
		struct frame_spec at[] = { { .from = home }, { .from = rows[row].from } };
		struct budget *b = s.budget;
		__u64 refused;

		demand(FAMILY_QUAKE3, VALIDATION_ALWAYS);
		s = kern.live->tables[0].services[0];
		b[CLASS_CONNECT].source = kern_rate(1, row == 0 ? 4 : 1000);
		b[CLASS_CONNECT].prefix = kern_rate(1, row == 1 ? 4 : 1000);
		b[CLASS_CONNECT].service = kern_rate(1, row == 2 ? 4 : 1000);
		b[CLASS_UNKNOWN].service = kern_rate(1, 1);
		kern_service(&kern, 0, 0, &s);
		pass_time(300 * SECOND);
		say(&(struct frame_spec){ .from = "10.50.5.5" },
		    BYTES(OOB "connect \"x\""), &say_);
		for (size_t i = 0; i < (row ? COUNT(at) : 1); i++) {
			n = token_of(&at[i], BYTES(BARE), token);
			say(&at[i], token, n, &say_);
			assert_int_equal(say_.action, XDP_PASS);
		}
		for (int i = 0; i < 4; i++) {
			say(&at[0], BYTES(OOB "connect \"x\""), &say_);
			assert_int_equal(say_.action, XDP_PASS);
		}
		refused =
			counter_of(DIRECTION_C2S, KIND_CONNECT, rows[row].reason).packets;
		say(&at[1], BYTES(OOB "connect \"x\""), &say_);
		assert_int_equal(say_.action, XDP_DROP);
		assert_int_equal(
			counter_of(DIRECTION_C2S, KIND_CONNECT, rows[row].reason).packets,
			refused + 1);
	}
}

/*
 * Whoever has a whole network has a third more of what the proven may do than one prefix
 * of it. One prefix cannot shut out the others of its network, nor a network all others.
 */
static void a_network_of_the_proven_is_little_more_than_a_prefix(void **state)
{
	static const struct {
		const char *from[2]; /* IPv4, IPv6 */
		bool passes;
	} rows[] = {
		{ { "10.1.1.1", "fd00:1:1:100::1" }, true },
		{ { "10.1.1.2", "fd00:1:1:1ff::1" }, true },
		{ { "10.1.1.1", "fd00:1:1:100::1" }, true },
		{ { "10.1.1.2", "fd00:1:1:1ff::1" }, true },
		{ { "10.1.1.1", "fd00:1:1:100::1" }, false },
		{ { "10.1.15.1", "fd00:1:1:ff00::1" }, true },
		{ { "10.1.3.1", "fd00:1:1:300::1" }, false },
		{ { "10.1.15.1", "fd00:1:1:ff00::1" }, false },
		{ { "10.1.16.1", "fd00:1:2:100::1" }, true },
	};
	char token[FRAME_MAX];
	struct service s;
	size_t n;

	(void)state;
	for (int ipv6 = 0; ipv6 < 2; ipv6++) {
		struct budget *b = &s.budget[CLASS_CONNECT];
		__u64 refused;

		demand(FAMILY_QUAKE3, VALIDATION_ALWAYS);
		s = kern.live->tables[0].services[0];
		b->source = b->service = kern_rate(1, 1000);
		b->prefix = kern_rate(1, 4);
		s.budget[CLASS_UNKNOWN].service = kern_rate(1, 0);
		kern_service(&kern, 0, 0, &s);
		pass_time(300 * SECOND);
		refused = counter_of(DIRECTION_C2S, KIND_CONNECT, REASON_PREFIX_LIMIT)
				  .packets;
		for (size_t i = 0; i < COUNT(rows); i++) {
			struct frame_spec at = { .ipv6 = ipv6,
						 .from = rows[i].from[ipv6],
						 .sport = (__u16)(HERE + i) };

			n = token_of(&at, BYTES(BARE), token);
			say(&at, token, n, &say_);
			assert_int_equal(say_.action, XDP_PASS);
		}
		for (size_t i = 0; i < COUNT(rows); i++) {
			struct frame_spec at = { .ipv6 = ipv6,
						 .from = rows[i].from[ipv6],
						 .sport = (__u16)(HERE + i) };

			say(&at, BYTES(OOB "connect \"x\""), &say_);
			assert_int_equal(say_.action == XDP_PASS, rows[i].passes);
			refused += !rows[i].passes;
		}
		assert_int_equal(counter_of(DIRECTION_C2S, KIND_CONNECT,
					    REASON_PREFIX_LIMIT)
					 .packets,
				 refused);
	}
}

/* A question is two units: where the service has one left nothing is taken from nobody.
 */
static void who_is_refused_pays_nothing(void **state)
{
	struct service s;
	struct budget *b = &s.budget[CLASS_QUERY];

	(void)state;
	demand(FAMILY_QUAKE3, VALIDATION_UNDER_LOAD);
	s = kern.live->tables[0].services[0];
	b->source = kern_rate(1, 6);
	b->prefix = kern_rate(1, 1000);
	b->service = kern_rate(1, 5);
	kern_service(&kern, 0, 0, &s);
	pass_time(300 * SECOND);
	for (int i = 0; i < 6; i++) {
		struct frame_spec each = { .from = "10.50.5.5",
					   .sport = (__u16)(2000 + i) };

		say(&each, BYTES(OOB "getstatus"), &say_);
	}
	validate(&wraps[0], BYTES(OOB "getstatus"));
	pass_time(SECOND / 4); /* who was asked just now is dropped at once */
	say(&wraps[0], BYTES(OOB "getstatus"), &say_);
	assert_int_equal(
		counter_of(DIRECTION_C2S, KIND_GETSTATUS, REASON_VALIDATED).packets, 1);
	pass_time(SECOND / 4);
	say(&wraps[0], BYTES(OOB "getstatus"), &say_);
	assert_int_not_equal(say_.action, XDP_PASS);
	pass_time(SECOND);
	say(&wraps[0], BYTES(OOB "getstatus"), &say_);
	assert_int_equal(
		counter_of(DIRECTION_C2S, KIND_GETSTATUS, REASON_VALIDATED).packets, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_the_proven_have_spent_is_said),
		TEST(a_network_of_the_proven_is_little_more_than_a_prefix),
		TEST(who_is_refused_pays_nothing),
		TEST(beside_the_proven_one_question_is_left),
		TEST(elsewhere_a_question_costs_one),
		TEST(each_service_asks),
		TEST(who_proved_itself_is_drained_by_nobody),
		TEST(other_families_are_drained_as_ever),
		TEST(browsers_prove_themselves_for_a_query),
		TEST(who_proved_itself_asks_on),
		TEST(the_validated_need_no_challenge),
		TEST(the_proven_have_budgets_of_their_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
