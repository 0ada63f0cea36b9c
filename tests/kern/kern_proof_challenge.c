// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Proof of address in the kernel, by challenges: QuakeWorld, Quake II and Q2PRO,
 * DarkPlaces. What our own challenge looks like, what a connect that has it becomes, and
 * how the server's gets to the client.
 * stubs: shield_cache shield_joined
 */
#include "kern/kern_proof.h"

static struct said say_;

static const struct dialect {
	enum wire_family family;
	const char *request;
	size_t request_n;
	const char *before, *behind; /* the challenge in our answer */
	size_t behind_n;
	size_t length; /* of the challenge */
	const char *connect; /* with %s for it */
	const char *becomes;
	size_t more; /* octets on the wire that the answer may be longer */
} dialects[] = {
	{ FAMILY_QUAKEWORLD, BYTES(OOB "getchallenge\n"), "c", BYTES("\0"), 10,
	  OOB "connect 28 42559 %s \"\\rate\\25000\\name\\x\"\n0x46544558 0x0\n",
	  OOB "getchallenge\n", 0 },
	{ FAMILY_QUAKEWORLD, BYTES(OOB "getchallenge"), "c", BYTES("\0"), 10,
	  OOB "connect 28 1 %s \"\"", OOB "getchallenge\n", 0 },
	{ FAMILY_QUAKE2, BYTES(OOB "getchallenge\n"), "challenge ", BYTES(""), 10,
	  OOB "connect 34 31337 %s \"\\name\\maru\\skin\\male/grunt\"\n",
	  OOB "getchallenge\n", 8 },
	{ FAMILY_NETQUAKE, BYTES(OOB "getchallenge"), "challenge ", BYTES(""), 10,
	  OOB "connect\\protocol\\darkplaces 3\\protocols\\DP7 DP6\\challenge\\%s",
	  OOB "getchallenge", 8 },
};

/* Our challenge, out of the answer to a request for one. */
static void challenge_of(const struct dialect *d, const struct frame_spec *wrap,
			 char ret[32])
{
	size_t before = 4 + strlen(d->before);

	say(wrap, d->request, d->request_n, &say_);
	assert_answer(&say_, d->more);
	assert_true(10 * on_wire(say_.n) <= 11 * on_wire(say_.sent_n));
	assert_int_equal(say_.length, before + d->length + d->behind_n);
	assert_memory_equal(say_.text, OOB, 4);
	assert_memory_equal(say_.text + 4, d->before, strlen(d->before));
	assert_memory_equal(say_.text + before + d->length, d->behind, d->behind_n);
	memcpy(ret, say_.text + before, d->length);
	ret[d->length] = '\0';
	for (size_t i = 0; i < d->length; i++)
		assert_true(
			(ret[i] >= '0' && ret[i] <= '9') ||
			(d->family == FAMILY_NETQUAKE && ret[i] >= 'a' && ret[i] <= 'z'));
	assert_true(d->family == FAMILY_NETQUAKE || atol(ret) >= 1000000000);
}

static void connect_with(const struct dialect *d, const struct frame_spec *wrap,
			 const char *challenge)
{
	char text[256];

	snprintf(text, sizeof(text), d->connect, challenge);
	say(wrap, text, strlen(text), &say_);
}

/* Nothing for strangers, so that what passes is proven. */
static void demand_all(enum wire_family family)
{
	struct service s;

	demand(family, VALIDATION_ALWAYS);
	s = kern.live->tables[0].services[0];
	s.budget[CLASS_UNKNOWN].service = (struct limit){ SECOND, 0 };
	kern_service(&kern, 0, 0, &s);
}

static void a_connect_turns_into_a_request(void **state)
{
	char challenge[32];

	(void)state;
	for (size_t i = 0; i < COUNT(dialects); i++) {
		const struct dialect *d = &dialects[i];

		demand_all(d->family);
		for (size_t w = 0; w < COUNT(wraps); w++) {
			challenge_of(d, &wraps[w], challenge);
			connect_with(d, &wraps[w], challenge);
			assert_turned(&say_, d->becomes, strlen(d->becomes));
			pass_time(3 * SECOND);
		}
	}
}

/* One frame, and what is in it is the proven client's: the server's own challenge. */
static void the_server_s_challenge_passes_as_it_is(void **state)
{
	static const char *const real[] = { "-990394969", "17", "1825446926",
					    "lW^hQh^~_<2" };
	char challenge[32];

	(void)state;
	for (size_t i = 0; i < COUNT(dialects); i++) {
		const struct dialect *d = &dialects[i];

		demand_all(d->family);
		for (size_t r = 0; r < COUNT(real); r++) {
			pass_time(100 * SECOND);
			connect_with(d, &wraps[0], real[r]);
			assert_int_equal(say_.action, XDP_DROP);
			challenge_of(d, &wraps[0], challenge);
			connect_with(d, &wraps[0], challenge);
			assert_int_equal(say_.action, XDP_PASS);
			connect_with(d, &wraps[0], real[r]);
			assert_int_equal(say_.action, XDP_PASS);
			assert_int_equal(say_.n, say_.sent_n);
			assert_memory_equal(say_.frame, say_.sent, say_.n);
		}
	}
}

static void a_challenge_is_its_asker_s_alone(void **state)
{
	static const struct frame_spec others[] = {
		{ .sport = HERE + 1 },
		{ .from = "192.0.2.2" },
	};
	char challenge[32];

	(void)state;
	for (size_t i = 0; i < COUNT(dialects); i++) {
		const struct dialect *d = &dialects[i];

		demand_all(d->family);
		pass_time(100 * SECOND); /* whatever was proven is forgotten */
		challenge_of(d, &wraps[0], challenge);
		for (size_t o = 0; o < COUNT(others); o++) {
			connect_with(d, &others[o], challenge);
			assert_int_equal(say_.action, XDP_DROP);
		}
		for (size_t at = 0; at < d->length; at++) {
			challenge[at] ^= 1;
			connect_with(d, &wraps[0], challenge);
			assert_int_equal(say_.action, XDP_DROP);
			challenge[at] ^= 1;
		}
		connect_with(d, &wraps[0], challenge);
		assert_int_equal(say_.action, XDP_PASS);
	}
}

static void a_challenge_is_good_for_a_while(void **state)
{
	char challenge[32];

	(void)state;
	for (size_t i = 0; i < COUNT(dialects); i++) {
		for (__u64 seconds = 0; seconds < 24; seconds += 8) {
			demand_all(dialects[i].family);
			pass_time(100 * SECOND); /* whatever was proven is forgotten */
			challenge_of(&dialects[i], &wraps[0], challenge);
			pass_time(seconds * SECOND);
			connect_with(&dialects[i], &wraps[0], challenge);
			if (seconds <= 8)
				assert_int_equal(say_.action, XDP_PASS);
			if (seconds >= 18)
				assert_int_equal(say_.action, XDP_DROP);
		}
	}
}

static void server_says(const char *text)
{
	assert_true(says(text, strlen(text)));
}

/* Q2PRO keeps to the first challenge that it got, whatever the server says afterwards. */
static void q2pro_is_given_the_server_s_in_place_of_ours(void **state)
{
	static const struct {
		const char *said, *written;
	} rows[] = {
		{ OOB "challenge 3449 p=34,35,36", "0000003449" },
		{ OOB "challenge 2147483647", "2147483647" },
		{ OOB "challenge 0", NULL },
	};
	const struct dialect *d = &dialects[2];
	char challenge[32], want[256];

	(void)state;
	for (size_t r = 0; r < COUNT(rows); r++) {
		for (size_t w = 0; w < 2; w++) {
			demand_all(FAMILY_QUAKE2);
			pass_time(100 * SECOND);
			challenge_of(d, &wraps[w], challenge);
			connect_with(d, &wraps[w], challenge);
			assert_turned(&say_, d->becomes, strlen(d->becomes));
			/* Until the server has said something, it is asked again. */
			pass_time(3 * SECOND);
			connect_with(d, &wraps[w], challenge);
			assert_turned(&say_, d->becomes, strlen(d->becomes));
			link_.ipv6 = wraps[w].ipv6;
			link_.peer = link_.ipv6 ? "2001:db8:1::1" : PEER;
			server_says(rows[r].said);
			/* However long that takes: its cookie is no matter of time now.
			 */
			for (int i = 0; i < 8 && rows[r].written; i++) {
				pass_time(3 * SECOND);
				connect_with(d, &wraps[w], challenge);
				snprintf(want, sizeof(want), d->connect, rows[r].written);
				assert_int_equal(say_.action, XDP_PASS);
				said_parse(&say_);
				assert_string_equal(say_.text, want);
			}
		}
	}
}

/* The octets that make the checksum of @text 0 where it has two zeros at @at. */
static void nought_at(const struct frame_spec *wrap, char *text, size_t n, size_t at)
{
	size_t check = 14 + (wrap->ipv6 ? 40u : 20u) + 6;
	struct frame_spec spec = *wrap;
	__u8 frame[FRAME_MAX];

	memset(text + at, 0, 2);
	spec.sport = HERE;
	spec.payload = text;
	spec.n = n;
	frame_build(&spec, frame);
	frame_check(frame, spec.ipv6, &spec);
	memcpy(text + at, frame + check, 2);
}

/* A checksum that would be 0 is said as the other 0, or over IPv6 nobody takes it. */
static void a_checksum_is_never_nought(void **state)
{
	const struct dialect *d = &dialects[2];
	static const char server[] = "2147483647";
	size_t challenge_at = strlen(OOB "connect 34 31337 "), n, check;
	char challenge[32], text[256];

	(void)state;
	for (size_t w = 0; w < 2; w++) {
		demand_all(FAMILY_QUAKE2);
		pass_time(100 * SECOND);
		challenge_of(d, &wraps[w], challenge);
		connect_with(d, &wraps[w], challenge);
		link_.ipv6 = wraps[w].ipv6;
		link_.peer = link_.ipv6 ? "2001:db8:1::1" : PEER;
		server_says(OOB "challenge 2147483647");
		pass_time(3 * SECOND);
		n = (size_t)snprintf(text, sizeof(text), "%s%s \"\\n\\xx..\"\n",
				     OOB "connect 34 31337 ", server);
		n -= n % 2; /* the octets stand at an even place */
		nought_at(&wraps[w], text, n, n - 4);
		memcpy(text + challenge_at, challenge, strlen(server));
		say(&wraps[w], text, n, &say_);
		assert_int_equal(say_.action, XDP_PASS);
		said_parse(&say_);
		assert_memory_equal(say_.text + challenge_at, server, strlen(server));
		check = say_.offset - 2;
		assert_int_equal(word_at(say_.frame + check), 0xffff);
	}
}

/* Who was invited by the server has the budget of a later step, others the unknown's. */
static void invited_is_who_was_sent_a_challenge(void **state)
{
	static const struct {
		enum wire_family family;
		const char *said, *next;
	} rows[] = {
		{ FAMILY_QUAKEWORLD, OOB "c-990394969",
		  OOB "connect 28 1 -990394969 \"\"" },
		{ FAMILY_QUAKE2, OOB "challenge 17", OOB "connect 34 1 17 \"\"" },
		{ FAMILY_NETQUAKE, OOB "challenge abc", OOB "connect\\challenge\\abc" },
		{ FAMILY_QUAKE3, OOB "challengeResponse 17", OOB "connect \"x" },
	};

	(void)state;
	for (size_t r = 0; r < COUNT(rows); r++) {
		demand(rows[r].family, VALIDATION_UNDER_LOAD);
		for (int invited = 0; invited < 2; invited++) {
			struct outcome o;

			if (invited)
				server_says(rows[r].said);
			o = hear_from(PEER, HERE, rows[r].next, strlen(rows[r].next));
			assert_int_equal(o.reason, REASON_WITHIN_LIMITS);
			assert_int_equal(o.charged,
					 invited ? CLASS_CONNECT : CLASS_UNKNOWN);
		}
		assert_int_equal(hear_from(PEER, HERE + 1, rows[r].next,
					   strlen(rows[r].next))
					 .charged,
				 CLASS_UNKNOWN);
		/* Whoever goes on remains invited, beyond the minute. */
		for (int i = 0; i < 5; i++) {
			pass_time(40 * SECOND);
			assert_int_equal(hear_from(PEER, HERE, rows[r].next,
						   strlen(rows[r].next))
						 .charged,
					 CLASS_CONNECT);
		}
		pass_time(61 * SECOND);
		assert_int_equal(
			hear_from(PEER, HERE, rows[r].next, strlen(rows[r].next)).charged,
			CLASS_UNKNOWN);
	}
}

/* Only invited, it has shown nothing: what a server says to it is a stranger's debt. */
static void the_invited_pay(void **state)
{
	static const char challenge[400] = OOB "challenge 17";
	unsigned int left = 0;

	(void)state;
	demand_all(FAMILY_QUAKE2);
	amplification(2000, 20);
	link_.peer = "203.0.113.77";
	for (int i = 0; i < 20; i++)
		left += says(challenge, sizeof(challenge));
	assert_int_equal(left, 2000 / (sizeof(challenge) + 42));
	link_.peer = PEER;
	kern.live->amplification = (struct amplification_limit){ 0 };
}

/* A service of @family under load forwards a CCREQ_CONNECT that is repeated. */
static void repeats_ccreq_connect(enum wire_family family)
{
	static const char ask_[] = "\x80\0\0\x0c\1QUAKE\0\3";
	struct service s;

	demand(family, VALIDATION_UNDER_LOAD);
	s = kern.live->tables[0].services[0];
	s.budget[CLASS_CONNECT].service = kern_rate(1, 4);
	kern_service(&kern, 0, 0, &s);
	for (int i = 0; i < 40; i++) {
		struct outcome o =
			hear_from(PEER, (__u16)(1000 + i), ask_, sizeof(ask_) - 1);

		assert_int_equal(o.reason,
				 i < 4 ? REASON_WITHIN_LIMITS : REASON_GREYLISTED);
	}
	/* There is budget again, but not for who asks once. */
	pass_time(2500000000ull);
	assert_int_equal(hear_from(PEER, 7, ask_, sizeof(ask_) - 1).reason,
			 REASON_GREYLISTED);
	assert_int_equal(hear_from(PEER, 1010, ask_, sizeof(ask_) - 1).reason,
			 REASON_VALIDATED);
	pass_time(500000000);
	assert_int_equal(hear_from(PEER, 7, ask_, sizeof(ask_) - 1).reason,
			 REASON_GREYLISTED);
	pass_time(2500000000ull);
	assert_int_equal(hear_from(PEER, 7, ask_, sizeof(ask_) - 1).reason,
			 REASON_VALIDATED);
	pass_time(20 * SECOND);
	assert_int_equal(hear_from(PEER, 8, ask_, sizeof(ask_) - 1).reason,
			 REASON_WITHIN_LIMITS);
}

static void netquake_asks_twice(void **state)
{
	(void)state;
	repeats_ccreq_connect(FAMILY_NETQUAKE);
}

/* Where the protocol is not known, the server may be of NetQuake. */
static void netquake_behind_auto_asks_twice(void **state)
{
	(void)state;
	repeats_ccreq_connect(FAMILY_AUTO);
}

/*
 * DarkPlaces' client asks in both ways each second until one of them is answered. What it
 * asks in NetQuake's takes nothing of what it needs to connect, nor the other way round.
 */
static void darkplaces_asks_in_both_ways(void **state)
{
	static const char ask_[] = "\x80\0\0\x0c\1QUAKE\0\3";
	const struct limit few = { 5 * SECOND, 4 * 5 * SECOND };
	const struct dialect *d = &dialects[3];
	char challenge[32];
	struct service s;
	int asked = 0;

	(void)state;
	demand_all(FAMILY_NETQUAKE);
	s = kern.live->tables[0].services[0];
	s.budget[CLASS_CONNECT].source = s.budget[CLASS_CONNECT].service = few;
	kern_service(&kern, 0, 0, &s);
	pass_time(100 * SECOND);
	for (int i = 0; i < 12; i++, pass_time(SECOND)) {
		say(&wraps[0], ask_, sizeof(ask_) - 1, &say_);
		asked += say_.action == XDP_PASS;
	}
	assert_in_range(asked, 5, 7); /* four at once, and one in 5 s */
	challenge_of(d, &wraps[0], challenge);
	connect_with(d, &wraps[0], challenge);
	assert_turned(&say_, d->becomes, strlen(d->becomes));
	for (int i = 0; i < 6; i++) {
		connect_with(d, &wraps[0], "the server's");
		assert_int_equal(say_.action, i < 4 ? XDP_PASS : XDP_DROP);
	}
	pass_time(6 * SECOND);
	say(&wraps[0], ask_, sizeof(ask_) - 1, &say_);
	assert_int_equal(say_.action, XDP_PASS);
	/* Its request counts as the first again, and others have spent what there is for
	 * those. */
	pass_time(10 * SECOND);
	for (int i = 0; i < 6; i++)
		say(&(struct frame_spec){ .from = "198.18.0.1",
					  .sport = (__u16)(1000 + i) },
		    ask_, sizeof(ask_) - 1, &say_);
	say(&wraps[0], ask_, sizeof(ask_) - 1, &say_);
	assert_int_equal(say_.action, XDP_PASS);
}

/* A ClientHello: @random is the first octet of its random, @cookie how long that is. */
static size_t hello(char *to, char random, char cookie)
{
	static const char head[] =
		"\x16\xfe\xff\0\0\0\0\0\0\0\0\0\x3e\1\0\0\x32\0\0\0\0\0\0\0\x32\xfe\xfd";

	memset(to, 0x5a, 75);
	memcpy(to, head, sizeof(head) - 1);
	to[27] = random;
	to[59] = 0; /* session */
	to[60] = cookie;
	return 75;
}

/*
 * Under load a ClientHello has to come twice with the same random, as DTLS clients
 * send it again after a second; then it has a budget that no flood of others spends.
 */
static void a_hello_comes_twice(void **state)
{
	struct outcome o;
	struct service s;
	char text[80];
	int forged = 0;

	(void)state;
	demand(FAMILY_QUAKE_ENHANCED, VALIDATION_UNDER_LOAD);
	s = kern.live->tables[0].services[0];
	s.budget[CLASS_CHALLENGE].service = kern_rate(1, 4);
	kern_service(&kern, 0, 0, &s);
	for (int i = 0; i < 40; i++) {
		o = hear_from(PEER, (__u16)(1000 + i), text, hello(text, 1, 0));
		assert_int_equal(o.kind, KIND_DTLS_CLIENT_HELLO);
		assert_int_equal(o.reason,
				 i < 4 ? REASON_WITHIN_LIMITS : REASON_GREYLISTED);
	}
	pass_time(SECOND);
	/* Another random is another client's, and so is another port. */
	o = hear_from(PEER, 1010, text, hello(text, 2, 0));
	assert_int_equal(o.reason, REASON_GREYLISTED);
	o = hear_from(PEER, 2010, text, hello(text, 1, 0));
	assert_int_equal(o.reason, REASON_GREYLISTED);
	o = hear_from(PEER, 1010, text, hello(text, 1, 0));
	assert_int_equal(o.reason, REASON_VALIDATED);
	pass_time(SECOND / 4);
	o = hear_from(PEER, 1010, text, hello(text, 2, 0));
	assert_int_equal(o.reason, REASON_GREYLISTED); /* too soon */
	/* One client among thousands of others, each of whom asks once. */
	for (int i = 0; i < 5000; i++) {
		if (i % 1000 == 0) {
			o = hear_from(PEER, 7, text, hello(text, 7, 0));
			assert_int_equal(o.reason,
					 i ? REASON_VALIDATED : REASON_GREYLISTED);
		}
		o = hear_from("198.18.0.1", (__u16)(10000 + i), text, hello(text, 1, 0));
		forged += o.action == XDP_PASS;
		pass_time(SECOND / 1000);
	}
	assert_int_equal(forged, 0);
	/* Whom the server gave a cookie goes on by another budget. */
	o = hear_from(PEER, 7, text, hello(text, 7, 4));
	assert_int_equal(o.kind, KIND_DTLS_HELLO_COOKIE);
	assert_int_equal(o.charged, CLASS_UNKNOWN);
	assert_true(says(BYTES("\x16\xfe\xff\0\0\0\0\0\0\0\0\0\x17\3\0\0\x0b\0\0\0\0\0\0"
			       "\0\x0b\xfe\xff\x08"
			       "abcdefgh")));
	o = hear_from(PEER, HERE, text, hello(text, 7, 4));
	assert_int_equal(o.charged, CLASS_CONNECT);
	/* Others with a cookie are refused by their limit, and by none of the invited's.
	 */
	for (int spent = 0; spent < 2; spent++) {
		enum wire_class class = spent ? CLASS_CONNECT : CLASS_UNKNOWN;

		s = kern.live->tables[0].services[0];
		s.budget[CLASS_UNKNOWN].service = s.budget[CLASS_CONNECT].service =
			kern_rate(1000, 9);
		s.budget[class].service = (struct limit){ SECOND, 0 };
		kern_service(&kern, 0, 0, &s);
		pass_time(SECOND);
		o = hear_from(PEER, 7, text, hello(text, 7, 4));
		assert_int_equal(o.action, spent ? XDP_PASS : XDP_DROP);
		o = hear_from(PEER, HERE, text, hello(text, 7, 4));
		assert_int_equal(o.action, spent ? XDP_DROP : XDP_PASS);
	}
}

/*
 * What is longer than what asked for it is in the amplification limit, and not sent
 * without credit; what is not answered pays for those that follow.
 */
static void longer_challenges_are_charged_to_the_prefix(void **state)
{
	const struct dialect *d = &dialects[2];
	size_t in = 0, out = 0;
	int answered = 0;

	(void)state;
	demand_all(FAMILY_QUAKE2);
	amplification(100, 20);
	for (int i = 0; i < 100; i++) {
		struct frame_spec each = { .sport = (__u16)(HERE + i) };

		say(&each, d->request, d->request_n, &say_);
		in += on_wire(say_.sent_n);
		if (say_.action == XDP_TX) {
			answered++;
			out += on_wire(say_.n);
		}
		assert_true(out <= in + 100);
		if (i == 100 / 6)
			assert_int_equal(answered, 100 / 6);
	}
	/* One of each ten: 60 octets pay for ten times 6. */
	assert_in_range(answered, 90, 93);
	demand_all(FAMILY_QUAKEWORLD);
	pass_time(SECOND);
	for (int i = 0; i < 100; i++) {
		struct frame_spec each = { .sport = (__u16)(HERE + i) };

		say(&each, d->request, d->request_n, &say_);
		assert_int_equal(say_.action, XDP_TX);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_connect_turns_into_a_request),
		TEST(the_server_s_challenge_passes_as_it_is),
		TEST(a_challenge_is_its_asker_s_alone),
		TEST(a_challenge_is_good_for_a_while),
		TEST(q2pro_is_given_the_server_s_in_place_of_ours),
		TEST(a_checksum_is_never_nought),
		TEST(invited_is_who_was_sent_a_challenge),
		TEST(the_invited_pay),
		TEST(netquake_asks_twice),
		TEST(netquake_behind_auto_asks_twice),
		TEST(darkplaces_asks_in_both_ways),
		TEST(a_hello_comes_twice),
		TEST(longer_challenges_are_charged_to_the_prefix),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
