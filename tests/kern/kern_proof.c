// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Proof of address in the kernel, Quake III's way: who is asked, with what, what proves
 * an address and what does not. What the proven may do is in kern_proof_proven.c.
 * stubs: shield_cache shield_out shield_joined
 */
#include <sched.h>

#include "kern/kern_proof_echo.h"

/* One datagram. Is its sender asked for proof? */
static bool asked_for_proof(__u16 port, const char *payload, size_t n)
{
	struct frame_spec from = { .sport = port };

	say(&from, payload, n, &say_);
	return say_.action == XDP_TX;
}

static void an_echo_turns_into_what_was_asked(void **state)
{
	static const struct {
		const char *text;
		size_t n;
	} rows[] = {
		{ BYTES(BARE) },
		{ BYTES(ARGUED) },
		{ BYTES(OOB "getchallenge 0 q") },
		{ BYTES(OOB "getchallenge 1234567890") },
		{ BYTES(OOB
			"getchallenge 1 xonxoffxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx") },
	};
	char token[FRAME_MAX];

	(void)state;
	demand(FAMILY_QUAKE3, VALIDATION_ALWAYS);
	for (size_t w = 0; w < COUNT(wraps); w++) {
		for (size_t i = 0; i < COUNT(rows); i++) {
			size_t n = token_of(&wraps[w], rows[i].text, rows[i].n, token);

			say(&wraps[w], token, n, &say_);
			assert_turned(&say_, rows[i].text, rows[i].n);
			pass_time(3 * SECOND);
		}
	}
}

static void what_is_no_token_is_not_asked_for(void **state)
{
	static const struct {
		const char *text;
		size_t n;
	} rows[] = {
		{ BYTES(OOB "getchallenge ") },
		{ BYTES(OOB "getchallenge\n") },
		{ BYTES(OOB "getchallenge x") },
		{ BYTES(OOB "getchallenge 1 a b") },
		{ BYTES(OOB "getchallenge 1  a") },
		{ BYTES(OOB "getchallenge 1 a\"") },
		{ BYTES(OOB "getchallenge 1 %s") },
		{ BYTES(OOB "getchallenge 1;quit") },
		{ BYTES(OOB "getchallenge 1 a\\b") },
		{ BYTES(OOB
			"getchallenge 1 xonxoffxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx") },
	};

	(void)state;
	demand(FAMILY_QUAKE3, VALIDATION_ALWAYS);
	for (size_t i = 0; i < COUNT(rows); i++) {
		say(&wraps[0], rows[i].text, rows[i].n, &say_);
		assert_int_equal(say_.action, XDP_DROP);
	}
}

/* A veth takes no XDP_TX: see send_back(). The program's runs come by interface 1. */
static void over_a_veth_it_is_redirected(void **state)
{
	(void)state;
	demand(FAMILY_QUAKE3, VALIDATION_ALWAYS);
	kern.live->veths = 1u << 1;
	say(&wraps[0], BYTES(ARGUED), &say_);
	assert_int_equal(say_.action, XDP_REDIRECT);
	said_parse(&say_);
	assert_memory_equal(say_.text, OOB "echo ", 9);
	kern.live->veths = ~(1u << 1);
	pass_time(3 * SECOND);
	say(&wraps[0], BYTES(ARGUED), &say_);
	kern.live->veths = 0;
	assert_answer(&say_, 0);
}

/* Nobody answers to these, and no answer could take away what is in them. */
static void odd_frames_are_not_answered(void **state)
{
	static const struct frame_spec rows[] = {
		{ .options = 1 },
		{ .ipv6 = true, .exts = { 60 }, .ext_count = 1 },
		{ .ipv6 = true, .fragment = true },
	};

	(void)state;
	demand(FAMILY_QUAKE3, VALIDATION_ALWAYS);
	for (size_t i = 0; i < COUNT(rows); i++) {
		say(&rows[i], BYTES(BARE), &say_);
		assert_int_equal(say_.action, XDP_DROP);
	}
}

static void a_cookie_is_its_asker_s_alone(void **state)
{
	static const struct frame_spec others[] = {
		{ .sport = HERE + 1 },
		{ .from = "192.0.2.2" },
		{ .dport = PORT + 1 },
	};
	char token[FRAME_MAX];
	struct service s = kern_open_service(FAMILY_QUAKE3);
	size_t n;

	(void)state;
	s.validation = VALIDATION_ALWAYS;
	demand(FAMILY_QUAKE3, VALIDATION_ALWAYS);
	kern_service(&kern, 0, 1, &s);
	kern_port(&kern, 0, PORT + 1, 1, false);
	n = token_of(&wraps[0], BYTES(ARGUED), token);
	for (size_t i = 0; i < COUNT(others); i++) {
		say(&others[i], token, n, &say_);
		assert_int_equal(say_.action, XDP_DROP);
	}
	/* With any letter of it changed, or cut short. */
	for (size_t at = 4; at < 12; at++) {
		token[at] ^= 1;
		say(&wraps[0], token, n, &say_);
		assert_int_equal(say_.action, XDP_DROP);
		token[at] ^= 1;
	}
	say(&wraps[0], token, 11, &say_);
	assert_int_equal(say_.action, XDP_DROP);
	assert_int_equal(counter_of(DIRECTION_C2S, KIND_ECHO_RETURN,
				    REASON_INVALID_COOKIE)
				 .packets,
			 11);
	say(&wraps[0], token, n, &say_);
	assert_turned(&say_, BYTES(ARGUED));
}

static void a_cookie_is_good_for_a_while(void **state)
{
	char token[FRAME_MAX];
	size_t n;

	(void)state;
	for (__u64 seconds = 0; seconds < 40; seconds++) {
		demand(FAMILY_QUAKE3, VALIDATION_ALWAYS);
		pass_time(100 * SECOND); /* whatever was proven is forgotten */
		n = token_of(&wraps[0], BYTES(BARE), token);
		pass_time(seconds * SECOND);
		say(&wraps[0], token, n, &say_);
		if (seconds <= 8)
			assert_int_equal(say_.action, XDP_PASS);
		if (seconds >= 18)
			assert_int_equal(say_.action, XDP_DROP);
	}
}

/* From the first refusal on, and for ten seconds beyond the last. */
static void pressure_comes_and_goes(void **state)
{
	struct service s;

	(void)state;
	demand(FAMILY_QUAKE3, VALIDATION_UNDER_LOAD);
	s = kern.live->tables[0].services[0];
	s.budget[CLASS_CHALLENGE].service = kern_rate(1, 3);
	kern_service(&kern, 0, 0, &s);
	for (int i = 0; i < 3; i++) {
		say(&wraps[0], BYTES(BARE), &say_);
		assert_int_equal(say_.action, XDP_PASS);
	}
	for (int i = 0; i < 30; i++) {
		struct frame_spec each = wraps[i % COUNT(wraps)];

		each.sport = (__u16)(HERE + i);
		say(&each, BYTES(BARE), &say_);
		assert_answer(&say_, 0);
	}
	/* There is budget again, but not for them. */
	pass_time(9 * SECOND);
	say(&wraps[0], BYTES(BARE), &say_);
	assert_answer(&say_, 0);
	pass_time(SECOND);
	say(&wraps[0], BYTES(BARE), &say_);
	assert_int_equal(say_.action, XDP_PASS);
}

/* Who has spent what is its own alone is asked, and nobody else is. */
static void one_source_presses_nobody_else(void **state)
{
	static const struct frame_spec other = { .from = "198.18.7.7" };
	struct service s;

	(void)state;
	demand(FAMILY_QUAKE3, VALIDATION_UNDER_LOAD);
	s = kern.live->tables[0].services[0];
	s.budget[CLASS_CHALLENGE].source = kern_rate(1, 3);
	kern_service(&kern, 0, 0, &s);
	for (int i = 0; i < 20; i++) {
		struct frame_spec each = { .sport = (__u16)(HERE + i) };

		say(&each, BYTES(BARE), &say_);
		assert_int_equal(say_.action, i < 3 ? XDP_PASS : XDP_TX);
		if (i < 2)
			continue;
		say(&other, BYTES(BARE), &say_);
		assert_int_equal(say_.action, XDP_PASS);
		pass_time(SECOND);
		say(&each, BYTES(BARE), &say_);
		if (i >= 3)
			break;
	}
	assert_int_equal(kern.live->validation.until_ns[0], 0);
}

static void off_is_off(void **state)
{
	struct service s;

	(void)state;
	demand(FAMILY_QUAKE3, VALIDATION_OFF);
	s = kern.live->tables[0].services[0];
	s.budget[CLASS_CHALLENGE].service = kern_rate(1, 1);
	s.budget[CLASS_UNKNOWN].service = kern_rate(1, 1);
	kern_service(&kern, 0, 0, &s);
	for (int i = 0; i < 5; i++) {
		say(&wraps[i], BYTES(BARE), &say_);
		assert_int_equal(say_.action, i ? XDP_DROP : XDP_PASS);
		say(&wraps[i], BYTES(OOB "2aaaaaaa"), &say_);
		assert_int_equal(say_.action, i ? XDP_DROP : XDP_PASS);
	}
}

/*
 * Whoever is sent echoes that others asked for answers them all: one in two seconds is
 * passed on, and none is in the way of what it asked itself.
 */
static void forged_requests_do_not_use_it_up(void **state)
{
	char forged[FRAME_MAX], own[FRAME_MAX];
	int turned = 0;
	size_t n;

	(void)state;
	demand(FAMILY_QUAKE3, VALIDATION_ALWAYS);
	for (int i = 0; i < 42; i++) {
		n = token_of(&wraps[0], BYTES(BARE), forged);
		say(&wraps[0], forged, n, &say_);
		turned += say_.action == XDP_PASS;
		if (i % 21 == 20) {
			n = token_of(&wraps[0], BYTES(ARGUED), own);
			say(&wraps[0], own, n, &say_);
			assert_turned(&say_, BYTES(ARGUED));
		}
		pass_time(SECOND / 7);
	}
	assert_int_equal(turned, 3);
}

/* Give the service in @slot so many challenges per second for each use. */
static void share(__u32 slot, __u32 rate, __u32 burst)
{
	for (int use = 0; use < CHALLENGE_USES; use++)
		kern.live->validation.share[slot][use] = kern_rate(rate, burst);
}

/*
 * In a flood four times as fast as challenges may be sent each request has the same
 * chance, whether its source is loud, asks once or repeats at a client's pace; and as
 * many are challenged as may be.
 */
static void each_request_has_the_same_chance(void **state)
{
	enum {
		LOUD,
		ONCE,
		CLIENTS,
		SOURCES,
		MS = 60000,
		WAITING = 30
	};
	int asked[SOURCES] = { 0 }, sent[SOURCES] = { 0 }, tries[WAITING] = { 0 };
	unsigned int dice = 1;

	(void)state;
	demand(FAMILY_QUAKE3, VALIDATION_ALWAYS);
	share(0, 250, 62);
	for (int ms = 0; ms < MS; ms++, pass_time(SECOND / 1000)) {
		int who, client = ms % 3000 / 100;
		__u16 port = 1;

		dice = dice * 1664525 + 1013904223;
		who = dice >> 16 & 1 ? LOUD : ONCE;
		if (ms % 100 == (int)(dice >> 17) % 100 && tries[client] >= 0) {
			who = CLIENTS;
			port = (__u16)(2000 + client);
			tries[client]++;
		} else if (who == ONCE) {
			port = (__u16)(0x8000 | ms);
		}
		sent[who]++;
		if (!asked_for_proof(port, BYTES(BARE)))
			continue;
		asked[who]++;
		if (who == CLIENTS)
			tries[client] = -tries[client];
	}
	/* What the burst held at first is more. */
	assert_in_range(asked[LOUD] + asked[ONCE] + asked[CLIENTS], MS / 4, MS / 4 + 200);
	assert_in_range(asked[LOUD] * 100 / sent[LOUD], 22, 28);
	assert_in_range(asked[ONCE] * 100 / sent[ONCE], 22, 28);
	assert_in_range(asked[CLIENTS], 1, WAITING);
}

/* A flooded service, and requests to join, use up no share but their own. */
static void shares_are_apart(void **state)
{
	static const struct frame_spec other = { .dport = PORT + 1 };
	struct service s;

	(void)state;
	demand(FAMILY_QUAKE3, VALIDATION_ALWAYS);
	s = kern.live->tables[0].services[0];
	s.budget[CLASS_QUERY].service = kern_rate(1, 0);
	kern_service(&kern, 0, 0, &s);
	kern_service(&kern, 0, 1, &s);
	kern_port(&kern, 0, PORT + 1, 1, false);
	share(0, 1, 2);
	share(1, 1, 2);
	for (int i = 0; i < 5; i++)
		assert_int_equal(asked_for_proof(HERE, BYTES(BARE)), i < 2);
	for (int i = 0; i < 5; i++)
		assert_int_equal(asked_for_proof(HERE, BYTES(OOB "getinfo xxx")), i < 2);
	for (int i = 0; i < 5; i++) {
		say(&other, BYTES(BARE), &say_);
		assert_int_equal(say_.action, i < 2 ? XDP_TX : XDP_DROP);
	}
	pass_time(SECOND);
	assert_true(asked_for_proof(HERE, BYTES(BARE)));
	assert_false(asked_for_proof(HERE, BYTES(BARE)));
}

/* So many a second. */
static void challenges_have_a_rate(void **state)
{
	struct frame_spec from = { .sport = 1 };
	int answered = 0;

	(void)state;
	demand(FAMILY_QUAKE3, VALIDATION_ALWAYS);
	share(0, 100, 25);
	for (int i = 0; i < 1000; i++) {
		from.sport = (__u16)(1 + i);
		say(&from, BYTES(BARE), &say_);
		answered += say_.action == XDP_TX;
	}
	assert_int_equal(answered, 25);
}

static void what_is_sent_is_counted(void **state)
{
	struct counter in, out;

	(void)state;
	demand(FAMILY_QUAKE3, VALIDATION_ALWAYS);
	for (int i = 0; i < 7; i++)
		say(&wraps[1], BYTES(ARGUED), &say_);
	in = counter_of(DIRECTION_C2S, KIND_GETCHALLENGE, REASON_CHALLENGED);
	out = counter_of(DIRECTION_S2C, KIND_ECHO, REASON_CHALLENGED);
	assert_int_equal(in.packets, 7);
	assert_int_equal(out.packets, 7);
	assert_int_equal(in.bytes, 7 * say_.sent_n);
	assert_int_equal(out.bytes, 7 * say_.n);
}

/* Each processor has shares of its own, and may use up its burst: stay on this one. */
static int stay_here(void **state)
{
	cpu_set_t here;

	(void)state;
	CPU_ZERO(&here);
	CPU_SET(sched_getcpu(), &here);
	return sched_setaffinity(0, sizeof(here), &here);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_echo_turns_into_what_was_asked),
		TEST(what_is_no_token_is_not_asked_for),
		TEST(over_a_veth_it_is_redirected),
		TEST(odd_frames_are_not_answered),
		TEST(a_cookie_is_its_asker_s_alone),
		TEST(a_cookie_is_good_for_a_while),
		TEST(pressure_comes_and_goes),
		TEST(one_source_presses_nobody_else),
		TEST(off_is_off),
		TEST(forged_requests_do_not_use_it_up),
		TEST(challenges_have_a_rate),
		TEST(each_request_has_the_same_chance),
		TEST(shares_are_apart),
		TEST(what_is_sent_is_counted),
	};

	return cmocka_run_group_tests(tests, stay_here, NULL);
}
