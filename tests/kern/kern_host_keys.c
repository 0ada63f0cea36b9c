// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A DarkPlaces server with host keys in the kernel: its clients are challenged as the
 * server itself would, whether they have stored its key or not, once its own challenge is
 * known, and only if they repeat; what is longer than they asked for is in the
 * amplification limit.
 * stubs: shield_cache shield_joined
 */
#include "kern/kern_proof.h"

#define FINGERPRINT "GtFBwhZ8Jqc0uJ5QYqXnYkAbc/lr+mpSkP7RAkkVWk4="
#define BLOCK	    "vlen\x2e\0\0\0d0pk" FINGERPRINT "\0\0"
#define SERVER	    OOB "challenge lW^hQh^~_<2\0"
#define REQUEST	    OOB "getchallenge"

static struct said say_;

/* No request has come before. */
static void forget_requests(void)
{
	struct recent *none = calloc(1, sizeof(*none));
	__u32 zero = 0;

	assert_non_null(none);
	assert_int_equal(bpf_map__update_elem(kern.skel->maps.recent, &zero, sizeof(zero),
					      none, sizeof(*none), 0),
			 0);
	free(none);
}

static void demand_keys(enum validation when)
{
	struct validation_state *validation = &kern.live->validation;
	struct service s;

	/* Whatever was validated or repeated is forgotten: their times come round. */
	memset(&validation->validated, 0, sizeof(validation->validated));
	forget_requests();
	demand(FAMILY_NETQUAKE, when);
	s = kern.live->tables[0].services[0];
	s.budget[CLASS_UNKNOWN].service = (struct limit){ SECOND, 0 };
	kern_service(&kern, 0, 0, &s);
	memset(validation->keys, 0, sizeof(validation->keys));
}

/* To @peer; then no client has asked lately. */
static void server_says_to(const char *peer, const void *text, size_t n)
{
	link_.peer = peer;
	assert_true(says(text, n));
	link_.peer = PEER;
	pass_time(10 * SECOND);
}

static void server_says(const void *text, size_t n)
{
	server_says_to("203.0.113.77", text, n);
}

/* Asked twice, a second apart, as the client does; the answer is in say_. */
static void ask_twice(const struct frame_spec *wrap)
{
	say(wrap, REQUEST, sizeof(REQUEST) - 1, &say_);
	assert_int_equal(say_.action, XDP_DROP);
	pass_time(SECOND);
	say(wrap, REQUEST, sizeof(REQUEST) - 1, &say_);
}

/* The ten characters of our challenge, which has @block behind it. */
static void challenge_is(const char *block, size_t n, char ret[11])
{
	assert_answer(&say_, 2 * n);
	assert_int_equal(say_.length, 14 + 10 + 1 + n);
	assert_memory_equal(say_.text, OOB "challenge ", 14);
	assert_int_equal(say_.text[24], '\0');
	assert_memory_equal(say_.text + 25, block, n);
	memcpy(ret, say_.text + 14, 10);
	ret[10] = '\0';
}

static size_t first_step(char to[128], const char *id, const char *challenge)
{
	int n = snprintf(to, 128, OOB "d0pk\\cnt\\0%s\\aeslevel\\1\\challenge\\%s", id,
			 challenge);

	memcpy(to + n, "\0" FINGERPRINT "\0", 46);
	return (size_t)n + 46;
}

/* A first step with our challenge becomes a request for the server's; the rest passes. */
static void a_step_with_our_challenge_turns_into_a_request(void **state)
{
	static const char *const ids[] = { "\\id\\1", "\\id\\2147483647", "" };
	char challenge[11], text[128];
	size_t n;

	(void)state;
	for (size_t w = 0; w < COUNT(wraps); w++) {
		demand_keys(VALIDATION_ALWAYS);
		server_says(SERVER BLOCK, sizeof(SERVER BLOCK) - 1);
		ask_twice(&wraps[w]);
		challenge_is(BLOCK, sizeof(BLOCK) - 1, challenge);
		n = first_step(text, ids[w % COUNT(ids)], challenge);
		say(&wraps[w], text, n, &say_);
		assert_turned(&say_, REQUEST, sizeof(REQUEST) - 1);
		/* The server's own goes on as it is, and so do the later steps. */
		n = first_step(text, "\\id\\2", "lW^hQh^~_<2");
		say(&wraps[w], text, n, &say_);
		assert_int_equal(say_.action, XDP_PASS);
		assert_memory_equal(say_.frame, say_.sent, say_.n);
		for (int step = 2; step <= 6; step += 2) {
			n = (size_t)snprintf(text, sizeof(text),
					     OOB "d0pk\\cnt\\%d\\id\\2", step);
			say(&wraps[w], text, n + 50, &say_);
			assert_int_equal(say_.action, XDP_PASS);
		}
		say(&wraps[w], BYTES(OOB "connect\\protocol\\darkplaces 3\\challenge\\"),
		    &say_);
		assert_int_equal(say_.action, XDP_PASS);
	}
}

/* A client without keys reads the text up to the NUL, and connects. */
static void a_connect_has_it_as_well(void **state)
{
	char challenge[11], text[128];
	int n;

	(void)state;
	demand_keys(VALIDATION_ALWAYS);
	server_says(SERVER BLOCK, sizeof(SERVER BLOCK) - 1);
	ask_twice(&wraps[0]);
	challenge_is(BLOCK, sizeof(BLOCK) - 1, challenge);
	n = snprintf(text, sizeof(text), OOB "connect\\name\\x\\challenge\\%s",
		     challenge);
	say(&wraps[0], text, (size_t)n, &say_);
	assert_turned(&say_, REQUEST, sizeof(REQUEST) - 1);
}

static void a_challenge_is_its_asker_s_alone(void **state)
{
	static const struct frame_spec others[] = {
		{ .sport = HERE + 1 },
		{ .from = "192.0.2.2" },
	};
	char challenge[11], text[128];

	(void)state;
	demand_keys(VALIDATION_ALWAYS);
	server_says(SERVER BLOCK, sizeof(SERVER BLOCK) - 1);
	ask_twice(&wraps[0]);
	challenge_is(BLOCK, sizeof(BLOCK) - 1, challenge);
	for (size_t i = 0; i < COUNT(others); i++) {
		say(&others[i], text, first_step(text, "\\id\\1", challenge), &say_);
		assert_int_equal(say_.action, XDP_DROP);
	}
	challenge[9] ^= 1;
	say(&wraps[0], text, first_step(text, "\\id\\1", challenge), &say_);
	assert_int_equal(say_.action, XDP_DROP);
}

/* A request passes, as its budget allows, until the server has shown what it adds. */
static void no_challenge_before_the_server_s_is_known(void **state)
{
	static const char longer[KEYS_TEXT + 1] = "vlen";
	char text[sizeof(SERVER) - 1 + sizeof(longer)], challenge[11];

	(void)state;
	demand_keys(VALIDATION_ALWAYS);
	for (int i = 0; i < 3; i++) {
		say(&wraps[0], REQUEST, sizeof(REQUEST) - 1, &say_);
		assert_int_equal(say_.action, XDP_PASS);
		pass_time(SECOND);
	}
	/* Nor when that is longer than there is room for. */
	memcpy(text, SERVER, sizeof(SERVER) - 1);
	memcpy(text + sizeof(SERVER) - 1, longer, sizeof(longer));
	server_says(text, sizeof(text));
	say(&wraps[0], REQUEST, sizeof(REQUEST) - 1, &say_);
	assert_int_equal(say_.action, XDP_PASS);
	server_says(text, sizeof(text) - 1);
	ask_twice(&wraps[0]);
	challenge_is(longer, sizeof(longer) - 1, challenge);
	/* The end of an exchange says nothing; a challenge without keys does. */
	server_says(BYTES(OOB "challenge "));
	ask_twice(&wraps[0]);
	challenge_is(longer, sizeof(longer) - 1, challenge);
	server_says(SERVER, sizeof(SERVER) - 1);
	say(&wraps[0], REQUEST, sizeof(REQUEST) - 1, &say_);
	assert_answer(&say_, 8);
	assert_int_equal(say_.length, 24);
}

#define OTHER_KEY "vlen\x2e\0\0\0d0pkOtherOtherOtherOtherOtherOtherOtherOtherOth=\0\0"

/*
 * A service of two ports has two servers, with a key each: the challenge of neither is
 * sent for the other, for an hour after the last of them was heard. With the same key it
 * is.
 */
static void servers_with_other_keys_are_not_spoken_for(void **state)
{
	char challenge[11];

	(void)state;
	demand_keys(VALIDATION_ALWAYS);
	kern_port(&kern, 0, PORT + 1, 0, false);
	server_says(SERVER BLOCK, sizeof(SERVER BLOCK) - 1);
	link_.sport = PORT + 1;
	server_says(SERVER BLOCK, sizeof(SERVER BLOCK) - 1);
	link_.sport = PORT;
	ask_twice(&wraps[0]);
	challenge_is(BLOCK, sizeof(BLOCK) - 1, challenge);
	for (int i = 0; i < 3; i++) {
		link_.sport = PORT + 1;
		server_says(SERVER OTHER_KEY, sizeof(SERVER OTHER_KEY) - 1);
		say(&wraps[0], REQUEST, sizeof(REQUEST) - 1, &say_);
		assert_int_equal(say_.action, XDP_PASS);
		pass_time(3000 * SECOND);
		link_.sport = PORT;
		server_says(SERVER BLOCK, sizeof(SERVER BLOCK) - 1);
		say(&wraps[0], REQUEST, sizeof(REQUEST) - 1, &say_);
		assert_int_equal(say_.action, XDP_PASS);
	}
	/* The other one has gone. */
	pass_time(3700 * SECOND);
	server_says(SERVER BLOCK, sizeof(SERVER BLOCK) - 1);
	ask_twice(&wraps[0]);
	challenge_is(BLOCK, sizeof(BLOCK) - 1, challenge);
}

/* Who asks once is sent nothing; who repeats, not more than its prefix has left. */
static void longer_keys_are_charged_to_the_prefix(void **state)
{
	size_t in = 0, out = 0;
	int answered = 0;

	(void)state;
	demand_keys(VALIDATION_ALWAYS);
	server_says(SERVER BLOCK, sizeof(SERVER BLOCK) - 1);
	amplification(1000, 20);
	for (int round = 0; round < 4; round++, pass_time(SECOND)) {
		for (int i = 0; i < 100; i++) {
			struct frame_spec each = { .sport = (__u16)(HERE + i) };

			say(&each, REQUEST, sizeof(REQUEST) - 1, &say_);
			in += on_wire(say_.sent_n);
			if (say_.action == XDP_TX) {
				answered++;
				out += on_wire(say_.n);
				assert_int_not_equal(round, 0);
			}
			assert_true(out <= in + 1000 + 40 * (unsigned int)round);
		}
	}
	assert_in_range(answered, 100, 300);
	kern.live->amplification = (struct amplification_limit){ 0 };
}

/*
 * While no challenge is left a first request is remembered all the same: its client is
 * challenged as soon as it repeats the request when one is.
 */
static void a_request_is_remembered_without_challenges_left(void **state)
{
	struct limit *share = &kern.live->validation.share[0][CHALLENGE_JOIN];
	char challenge[11];
	struct service s;

	(void)state;
	demand_keys(VALIDATION_UNDER_LOAD);
	s = kern.live->tables[0].services[0];
	s.budget[CLASS_CHALLENGE].service = (struct limit){ SECOND, 0 };
	kern_service(&kern, 0, 0, &s);
	server_says(SERVER BLOCK, sizeof(SERVER BLOCK) - 1);
	for (size_t w = 0; w < COUNT(wraps); w++) {
		__u64 before =
			counter_of(DIRECTION_C2S, KIND_GETCHALLENGE, REASON_GREYLISTED)
				.packets;

		forget_requests();
		*share = (struct limit){ SECOND, 0 };
		limit_normal(share);
		say(&wraps[w], REQUEST, sizeof(REQUEST) - 1, &say_);
		assert_int_equal(say_.action, XDP_DROP);
		assert_int_equal(counter_of(DIRECTION_C2S, KIND_GETCHALLENGE,
					    REASON_GREYLISTED)
					 .packets,
				 before + 1);
		*share = (struct limit){ 0 };
		pass_time(SECOND);
		say(&wraps[w], REQUEST, sizeof(REQUEST) - 1, &say_);
		challenge_is(BLOCK, sizeof(BLOCK) - 1, challenge);
		pass_time(10 * SECOND);
	}
}

/* A step of one whom the server gave no challenge is an unknown word. */
static void steps_are_of_the_invited(void **state)
{
	char text[128];
	size_t n = first_step(text, "\\id\\1", "lW^hQh^~_<2");

	(void)state;
	pass_time(100 * SECOND);
	demand(FAMILY_NETQUAKE, VALIDATION_UNDER_LOAD);
	assert_int_equal(hear_from(PEER, HERE, text, n).charged, CLASS_UNKNOWN);
	server_says_to(PEER, SERVER BLOCK, sizeof(SERVER BLOCK) - 1);
	assert_int_equal(hear_from(PEER, HERE, text, n).charged, CLASS_CHALLENGE);
	assert_int_equal(hear_from(PEER, HERE + 1, text, n).charged, CLASS_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_step_with_our_challenge_turns_into_a_request),
		TEST(a_connect_has_it_as_well),
		TEST(a_challenge_is_its_asker_s_alone),
		TEST(no_challenge_before_the_server_s_is_known),
		TEST(servers_with_other_keys_are_not_spoken_for),
		TEST(longer_keys_are_charged_to_the_prefix),
		TEST(a_request_is_remembered_without_challenges_left),
		TEST(steps_are_of_the_invited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
