// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The shield's own word as a weapon: what is sent back to senders that cannot be, how
 * much of it there is however a request is wrapped, and what comes of it where it meets a
 * shield again.
 * stubs: shield_out shield_joined
 */
#include "kern/kern_answers.h"

static __u32 dice_ = 1;

/* Of an LCG the upper bits, below @n: the same each time. */
static unsigned int random_below(unsigned int n)
{
	dice_ = dice_ * 1664525 + 1013904223;
	return (unsigned int)((__u64)dice_ * n >> 32);
}

static const struct question {
	enum wire_family family;
	const char *text;
	size_t n;
	bool tenth; /* it may be a tenth longer */
} questions[] = {
	{ FAMILY_QUAKE3, BYTES(OOB "getchallenge"), false },
	{ FAMILY_QUAKE3, BYTES(OOB "getchallenge -69056107 Quake3Arena"), false },
	{ FAMILY_QUAKE3, BYTES(OOB "getinfo xxx"), false },
	{ FAMILY_QUAKE3, BYTES(OOB "getstatus"), false },
	{ FAMILY_QUAKE3, BYTES(OOB "getstatus xxxxxxxxxxxx"), false },
	{ FAMILY_QUAKEWORLD, BYTES(OOB "getchallenge\n"), false },
	{ FAMILY_QUAKE2, BYTES(OOB "getchallenge\n"), true },
	{ FAMILY_QUAKE2, BYTES(OOB "info 34"), false },
	{ FAMILY_QUAKE2, BYTES(OOB "status"), false },
	{ FAMILY_NETQUAKE, BYTES(OOB "getchallenge"), true },
};

/* Whoever joins or asks is asked for proof. */
static void ask_all(enum wire_family family)
{
	struct service s;

	demand(family, VALIDATION_ALWAYS);
	s = kern.live->tables[0].services[0];
	s.budget[CLASS_QUERY].service = (struct limit){ SECOND, 0 };
	kern_service(&kern, 0, 0, &s);
}

static const struct {
	bool ipv6;
	const char *from, *to;
} impossible[] = {
	{ false, "0.0.0.0", HOST },
	{ false, "127.0.0.1", HOST },
	{ false, "224.0.0.1", HOST },
	{ false, "255.255.255.255", HOST },
	{ false, "240.0.0.1", HOST },
	{ false, HOST, HOST },
	{ false, "192.0.2.1", "255.255.255.255" },
	{ false, "192.0.2.1", "239.1.2.3" },
	{ true, "::", "2001:db8:2::1" },
	{ true, "::1", "2001:db8:2::1" },
	{ true, "::ffff:192.0.2.1", "2001:db8:2::1" },
	{ true, "ff02::1", "2001:db8:2::1" },
	{ true, "2001:db8:2::1", "2001:db8:2::1" },
	{ true, "2001:db8:1::1", "ff02::1" },
};

/* Linux would deliver none of these, or from an address that is none of its own. */
static void senders_that_cannot_be_are_not_asked(void **state)
{
	(void)state;
	for (size_t q = 0; q < COUNT(questions); q++) {
		ask_all(questions[q].family);
		for (size_t i = 0; i < COUNT(impossible); i++) {
			struct frame_spec spec = { .ipv6 = impossible[i].ipv6,
						   .from = impossible[i].from,
						   .to = impossible[i].to };

			pass_time(3 * SECOND);
			say(&spec, questions[q].text, questions[q].n, &say_);
			assert_int_equal(say_.action, XDP_DROP);
		}
	}
	assert_int_equal(counter_of(DIRECTION_S2C, KIND_ECHO, REASON_CHALLENGED).packets,
			 0);
}

/* What no question can be sent for is not said to have been asked for proof. */
static void who_is_counted_as_asked_is_asked(void **state)
{
	static const struct frame_spec rows[] = {
		{ .sport = HERE, .ipv6 = true },
		{ .sport = HERE, .tags = { ETH_P_8021Q } },
		{ .sport = HERE, .ipv6 = true, .fragment = true, .padding = 60 },
		{ .sport = HERE, .from = "127.0.0.1" },
		{ .sport = HERE },
	};
	__u64 sent = 0;

	(void)state;
	ask_all(FAMILY_QUAKE3);
	for (size_t i = 0; i < COUNT(rows); i++) {
		pass_time(3 * SECOND);
		say(&rows[i], BYTES(OOB "getstatus"), &say_);
		sent += say_.action == XDP_TX;
		assert_int_equal(counter_of(DIRECTION_C2S, KIND_GETSTATUS,
					    REASON_CHALLENGED)
					 .packets,
				 sent);
		assert_int_equal(
			counter_of(DIRECTION_S2C, KIND_ECHO, REASON_CHALLENGED).packets,
			sent);
	}
	assert_int_equal(sent, 1);
	assert_int_equal(
		counter_of(DIRECTION_C2S, KIND_GETSTATUS, REASON_SERVICE_LIMIT).packets,
		4);
}

/* What was sent to all of a link would go back from an address of all. */
static void what_was_sent_to_all_is_not_answered(void **state)
{
	struct frame_spec spec = { .sport = HERE };

	(void)state;
	demand(FAMILY_QUAKE3, VALIDATION_ALWAYS);
	say(&spec, BYTES(OOB "getchallenge"), &say_);
	assert_answer(&say_, 0);
	pass_time(3 * SECOND);
	for (int i = 0; i < 2; i++) {
		memset(say_.sent, 0xff, i ? 6 : 1); /* a group's, and everybody's */
		say_frame(&say_);
		assert_int_equal(say_.action, XDP_DROP);
	}
}

/* Nor from a template; there the server has a budget, and says itself what it likes. */
static void nor_are_they_told(void **state)
{
	(void)state;
	answers(FAMILY_QUAKE3, CACHE_ALWAYS);
	kern.live->tables[0].services[0].budget[CLASS_QUERY].service = kern_rate(1000, 9);
	for (size_t i = 0; i < COUNT(impossible); i++) {
		struct frame_spec spec = { .ipv6 = impossible[i].ipv6,
					   .from = impossible[i].from,
					   .to = impossible[i].to };

		pass_time(3 * SECOND);
		learn_quake3();
		say(&spec, BYTES(OOB "getstatus"), &say_);
		assert_int_equal(say_.action, XDP_PASS);
	}
	say(&wraps[0], BYTES(OOB "getstatus"), &say_);
	assert_told(BYTES(STATUS));
}

/* Somewhere, in whatever there may be around a request, or in place of parts of it. */
static void wrap_somehow(struct frame_spec *ret, char from[20])
{
	static const __u8 exts[] = { 0, 43, 44, 51, 60, 135 };

	*ret = (struct frame_spec){ .ipv6 = random_below(2),
				    .sport = (__u16)random_below(65536) };
	if (!ret->ipv6) {
		snprintf(from, 20, "10.%u.%u.%u", random_below(256), random_below(256),
			 random_below(256));
		ret->from = from;
	}
	for (unsigned int i = random_below(4); i < 2; i++)
		ret->tags[i] = random_below(2) ? ETH_P_8021Q : ETH_P_8021AD;
	if (!ret->tags[0])
		ret->tags[1] = 0;
	if (!random_below(8))
		ret->options = (__u8)random_below(11);
	if (!random_below(8)) {
		ret->ext_count = (__u8)(1 + random_below(3));
		for (int i = 0; i < ret->ext_count; i++)
			ret->exts[i] = exts[random_below(COUNT(exts))];
	}
	ret->fragment = !random_below(8);
	ret->more = !random_below(16);
	if (!random_below(8))
		ret->padding = random_below(64);
	if (!random_below(16))
		ret->udp_length = (int)random_below(80);
	if (!random_below(16))
		ret->ip_length = (int)random_below(120);
}

/*
 * Whatever is wrapped around it, if anything is sent back it goes to whom it says it came
 * from, is a datagram with right sums, and is no longer on the wire, or by a tenth.
 */
static void however_it_is_wrapped_it_is_paid(void **state)
{
	unsigned int sent = 0;
	char from[20];

	(void)state;
	for (int i = 0; i < 20000; i++) {
		const struct question *q = &questions[random_below(COUNT(questions))];
		char text[FRAME_MAX];
		struct frame_spec spec;
		size_t n = q->n;

		ask_all(q->family);
		wrap_somehow(&spec, from);
		memcpy(text, q->text, n);
		if (!random_below(4))
			n -= random_below(3);
		while (!random_below(3) && n < 200)
			text[n++] = "0x \n\"a"[random_below(6)];
		pass_time(SECOND);
		say(&spec, text, n, &say_);
		/* UDP's sum left away, or wrong: neither is looked at, nor kept. */
		if (say_.action != XDP_TX) {
			assert_true(say_.action == XDP_DROP || say_.action == XDP_PASS);
			continue;
		}
		assert_answer(&say_, q->tenth ? on_wire(say_.sent_n) / 10 : 0);
		sent++;
	}
	assert_true(sent > 3000);
}

/* The shield's word in the name of another server behind a shield: that is the end. */
static void two_shields_do_not_talk(void **state)
{
	(void)state;
	for (size_t q = 0; q < COUNT(questions); q++) {
		struct said first;

		ask_all(questions[q].family);
		pass_time(3 * SECOND);
		say(&wraps[0], questions[q].text, questions[q].n, &first);
		if (first.action != XDP_TX)
			continue;
		said_parse(&first);
		for (int other = 0; other < FAMILY_COUNT; other++) {
			demand((enum wire_family)other, VALIDATION_ALWAYS);
			for (size_t w = 0; w < COUNT(wraps); w++) {
				struct frame_spec spec = wraps[w];

				spec.sport = PORT;
				pass_time(3 * SECOND);
				say(&spec, first.text, first.length, &say_);
				assert_int_not_equal(say_.action, XDP_TX);
			}
		}
	}
}

/*
 * A friend whose own budget is spent, by whom else, is asked like anybody; what it brings
 * back is a proof even if it has some budget again.
 */
static void a_friend_s_proof_is_one(void **state)
{
	char token[FRAME_MAX] = OOB;
	int passed = 0;

	(void)state;
	demand(FAMILY_QUAKE3, VALIDATION_ALWAYS);
	kern_list(&kern, true, PEER, 128);
	do {
		say(&wraps[0], BYTES(OOB "getchallenge"), &say_);
		assert_true(++passed < 10000);
	} while (say_.action == XDP_PASS);
	assert_answer(&say_, 0);
	memcpy(token + 4, say_.text + 9, 7);
	pass_time(2 * SECOND);
	say(&wraps[0], token, 11, &say_);
	assert_turned(&say_, BYTES(OOB "getchallenge"));
	kern.live->lists = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(senders_that_cannot_be_are_not_asked),
		TEST(who_is_counted_as_asked_is_asked),
		TEST(what_was_sent_to_all_is_not_answered),
		TEST(nor_are_they_told),
		TEST(however_it_is_wrapped_it_is_paid),
		TEST(two_shields_do_not_talk),
		TEST(a_friend_s_proof_is_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
