// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Proof of address in the kernel, Quake III's way: who is asked, with what, what proves
 * an address and what does not. What the proven may do is in kern_proof_proven.c.
 */
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
	demand(FAMILY_QUAKE3, PROOF_ALWAYS);
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
	demand(FAMILY_QUAKE3, PROOF_ALWAYS);
	for (size_t i = 0; i < COUNT(rows); i++) {
		say(&wraps[0], rows[i].text, rows[i].n, &say_);
		assert_int_equal(say_.action, XDP_DROP);
	}
}

/* A veth takes no XDP_TX: see send_back(). The program's runs come by interface 1. */
static void over_a_veth_it_is_redirected(void **state)
{
	(void)state;
	demand(FAMILY_QUAKE3, PROOF_ALWAYS);
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
	};

	(void)state;
	demand(FAMILY_QUAKE3, PROOF_ALWAYS);
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
	s.proof = PROOF_ALWAYS;
	demand(FAMILY_QUAKE3, PROOF_ALWAYS);
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
	assert_int_equal(
		tally_of(DIRECTION_C2S, KIND_ECHO_RETURN, REASON_INVALID_COOKIE).packets,
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
		demand(FAMILY_QUAKE3, PROOF_ALWAYS);
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
	demand(FAMILY_QUAKE3, PROOF_PRESSURE);
	s = kern.live->tables[0].services[0];
	s.budget[CLASS_CHALLENGE].global = kern_rate(1, 3);
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
	demand(FAMILY_QUAKE3, PROOF_PRESSURE);
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
	assert_int_equal(kern.live->proof.until_ns[0], 0);
}

/*
 * A flood from a single address and port is answered eight times a second: so it is not
 * drowned in answers, and the window of turns stays open for all others.
 */
static void who_repeats_itself_closes_no_window(void **state)
{
	static const struct frame_spec loud = { .from = "198.18.0.1" };
	int answered = 0, others = 0;

	(void)state;
	demand(FAMILY_QUAKE3, PROOF_ALWAYS);
	kern.live->proof.pace[PACE_JOIN].limit = kern_rate(100, 25);
	for (int ms = 0; ms < 20000; ms++) {
		say(&loud, BYTES(BARE), &say_);
		answered += say_.action == XDP_TX;
		if (ms % 1000 == 999) {
			struct frame_spec each = { .sport = (__u16)(HERE + ms) };

			say(&each, BYTES(BARE), &say_);
			others += say_.action == XDP_TX;
		}
		pass_time(SECOND / 1000);
	}
	assert_in_range(answered, 140, 160);
	assert_int_equal(others, 20);
	assert_int_equal(kern.live->proof.pace[PACE_JOIN].shut, 0);
}

/* Another one, who was asked a moment ago and shares the cell, is in nobody's way. */
static void who_shares_a_cell_is_asked(void **state)
{
	__u16 *asked = kern.live->proof.asked, *cell = asked;
	__u64 known_by = 0;

	(void)state;
	demand(FAMILY_QUAKE3, PROOF_ALWAYS);
	memset(asked, 0, sizeof(kern.live->proof.asked));
	for (__u16 port = 1; port <= 64; port++)
		assert_true(asked_for_proof(port, BYTES(BARE)));
	for (size_t i = 0; i < COUNT(kern.live->proof.asked); i++)
		known_by |= (__u64) !!asked[i] << (asked[i] & ((1 << ASKED_WHO) - 1));
	assert_true(__builtin_popcountll(known_by) > 16);
	memset(asked, 0, sizeof(kern.live->proof.asked));
	for (int i = 0; i < 8; i++, pass_time(SECOND / 100)) {
		say(&wraps[0], BYTES(BARE), &say_);
		assert_int_equal(say_.action, i ? XDP_DROP : XDP_TX);
	}
	while (!*cell)
		cell++;
	pass_time(SECOND);
	assert_true(asked_for_proof(HERE, BYTES(BARE)));
	for (int bit = 1; bit < ASKED_WHO; bit++) {
		int tries = 0;

		/* Not at the same moment, or two could go on for ever; the clock runs. */
		do
			*cell ^= (__u16)(1 << bit);
		while (asked_for_proof(HERE, BYTES(BARE)) && ++tries < 3);
		assert_in_range(tries, 0, 2);
		pass_time(1 << ASKED_UNIT);
		assert_true(asked_for_proof(HERE, BYTES(BARE)));
		assert_false(asked_for_proof(HERE, BYTES(BARE)));
	}
}

static void off_is_off(void **state)
{
	struct service s;

	(void)state;
	demand(FAMILY_QUAKE3, PROOF_OFF);
	s = kern.live->tables[0].services[0];
	s.budget[CLASS_CHALLENGE].global = kern_rate(1, 1);
	s.budget[CLASS_UNKNOWN].global = kern_rate(1, 1);
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
	demand(FAMILY_QUAKE3, PROOF_ALWAYS);
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

/* Who asks at @port, next at @next_ms: since @since_ms, or not any more if negative. */
struct asker {
	__u16 port;
	int next_ms, since_ms;
};

/*
 * In a flood four times as fast as proofs may be asked for everybody gets a turn who
 * repeats as often as the clients of that game do, after no more tries than it takes to
 * be asked in one of four, and one; and as many as may be are asked.
 */
static void everybody_gets_a_turn(void **state)
{
	static const struct {
		enum wire_family family;
		int every_ms;
		const char *payload;
	} rows[] = {
		{ FAMILY_NETQUAKE, 1000, BARE },
		{ FAMILY_QUAKE3, 3000, BARE },
		{ FAMILY_QUAKE2, 3000, OOB "getchallenge\n" },
		{ FAMILY_QUAKEWORLD, 5000, OOB "getchallenge\n" },
	};
	enum {
		WARM_MS = 4000,
		ASKERS = 30,
		TRIES = 5
	};

	(void)state;
	for (size_t row = 0; row < COUNT(rows); row++) {
		const char *payload = rows[row].payload;
		int every = rows[row].every_ms + 20, all = WARM_MS + (TRIES + 1) * every;
		struct asker askers[ASKERS];
		int asked = 0;

		demand(rows[row].family, PROOF_ALWAYS);
		kern.live->proof.pace[PACE_JOIN].limit = kern_rate(250, 62);
		for (int i = 0; i < ASKERS; i++)
			askers[i] = (struct asker){ (__u16)(2000 + 977 * i),
						    WARM_MS + every * i / ASKERS, 0 };
		for (int ms = 0; ms < all; ms++, pass_time(SECOND / 1000)) {
			asked += asked_for_proof((__u16)(0x8000 | ms), payload,
						 strlen(payload));
			for (struct asker *a = askers; a < askers + ASKERS; a++) {
				if (a->next_ms != ms || a->since_ms < 0)
					continue;
				a->since_ms = a->since_ms ? a->since_ms : ms;
				a->next_ms += every;
				if (!asked_for_proof(a->port, payload, strlen(payload)))
					continue;
				if (ms - a->since_ms >= TRIES * every)
					fail_msg("family %d: after %d ms",
						 rows[row].family, ms - a->since_ms);
				a->since_ms = -1;
			}
		}
		for (int i = 0; i < ASKERS; i++)
			if (askers[i].since_ms >= 0)
				fail_msg("family %d: no turn for %d", rows[row].family,
					 i);
		assert_in_range(asked, all * 9 / 40, all * 11 / 40);
		/* The flood is over: nobody has to wait for what it left behind. */
		pass_time(5 * SECOND);
		for (__u16 port = 1; port <= 40; port++)
			assert_true(asked_for_proof(port * 97, payload, strlen(payload)));
	}
}

/*
 * A flood that comes for a second of each five is slower than the rate on the whole, and
 * keeps nobody waiting: what it leaves of the window is not looked at in its pauses.
 */
static void a_flood_in_pulses_keeps_nobody_out(void **state)
{
	enum {
		EVERY_MS = 3000,
		ASKERS = 20
	};
	int tries[ASKERS] = { 0 };
	bool asked[ASKERS] = { false };

	(void)state;
	demand(FAMILY_QUAKE3, PROOF_ALWAYS);
	kern.live->proof.pace[PACE_JOIN].limit = kern_rate(250, 62);
	for (int ms = 0; ms < 30000; ms++, pass_time(SECOND / 1000)) {
		for (int i = 0; ms % 5000 < 1000 && i < 4; i++)
			asked_for_proof((__u16)(0x8000 | (4 * ms + i)), BYTES(BARE));
		for (int i = 0; i < ASKERS; i++) {
			if (ms < 11000 || asked[i] ||
			    (ms + i * EVERY_MS / ASKERS) % EVERY_MS)
				continue;
			tries[i]++;
			asked[i] = asked_for_proof((__u16)(2000 + 977 * i), BYTES(BARE));
		}
	}
	for (int i = 0; i < ASKERS; i++)
		if (!asked[i] || tries[i] > 3)
			fail_msg("%d: %s after %d tries", i,
				 asked[i] ? "asked" : "not asked", tries[i]);
}

/* So many a second. */
static void there_is_a_pace(void **state)
{
	struct frame_spec from = { .sport = 1 };
	int answered = 0;

	(void)state;
	demand(FAMILY_QUAKE3, PROOF_ALWAYS);
	kern.live->proof.pace[PACE_JOIN].limit = kern_rate(100, 25);
	for (int i = 0; i < 1000; i++) {
		from.sport = (__u16)(1 + i);
		say(&from, BYTES(BARE), &say_);
		answered += say_.action == XDP_TX;
	}
	assert_int_equal(answered, 25);
}

static void what_is_sent_is_counted(void **state)
{
	struct tally in, out;

	(void)state;
	demand(FAMILY_QUAKE3, PROOF_ALWAYS);
	for (int i = 0; i < 7; i++) {
		say(&wraps[1], BYTES(ARGUED), &say_);
		say(&wraps[1], BYTES(ARGUED), &say_);
		pass_time(SECOND / 7);
	}
	in = tally_of(DIRECTION_C2S, KIND_GETCHALLENGE, REASON_CHALLENGED);
	out = tally_of(DIRECTION_S2C, KIND_ECHO, REASON_CHALLENGED);
	assert_int_equal(in.packets, 7);
	assert_int_equal(out.packets, 7);
	assert_int_equal(in.bytes, 7 * say_.sent_n);
	assert_int_equal(out.bytes, 7 * say_.n);
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
		TEST(who_repeats_itself_closes_no_window),
		TEST(who_shares_a_cell_is_asked),
		TEST(off_is_off),
		TEST(forged_requests_do_not_use_it_up),
		TEST(there_is_a_pace),
		TEST(everybody_gets_a_turn),
		TEST(a_flood_in_pulses_keeps_nobody_out),
		TEST(what_is_sent_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
