// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Address validation of Quake II's queries by the `echo` that id's and Yamagi's clients
 * return: which queries are challenged, which the server gets, and that an echo does not
 * validate a client for joining.
 * stubs: shield_cache shield_out shield_joined
 */
#include "kern/kern_proof_echo.h"

#define INFO   OOB "info 34"
#define STATUS OOB "status"

/* A frame as clients send it, and frames with room for an echo that is longer. */
static const struct frame_spec roomy[] = {
	{ .ipv6 = false },
	{ .ipv6 = true, .padding = 30 },
	{ .tags = { ETH_P_8021Q }, .padding = 30 },
	{ .ipv6 = true, .tags = { ETH_P_8021AD, ETH_P_8021Q }, .padding = 40 },
};

/* A service of @family that refuses each query of an unvalidated client. */
static void flooded(enum wire_family family)
{
	struct service s;

	demand(family, VALIDATION_UNDER_LOAD);
	s = kern.live->tables[0].services[0];
	s.budget[CLASS_QUERY].service = (struct limit){ SECOND, 0 };
	kern_service(&kern, 0, 0, &s);
}

/* A validated client has limits of its own: here they let queries pass. */
static void eases(void)
{
	struct service s = kern.live->tables[0].services[0];

	s.budget[CLASS_QUERY].service = kern_rate(1, 100);
	kern_service(&kern, 0, 0, &s);
}

static __u64 seen(enum wire_kind kind, enum reason reason)
{
	return counter_of(DIRECTION_C2S, kind, reason).packets;
}

static void an_echo_turns_into_the_query(void **state)
{
	static const struct {
		const char *text;
		size_t n;
		const char *query;
		enum wire_kind kind;
		char behind;
	} rows[] = {
		{ BYTES(INFO), INFO, KIND_INFO, 'i' },
		{ BYTES(STATUS), STATUS, KIND_STATUS, 's' },
	};
	char token[FRAME_MAX];
	__u64 asked[KIND_COUNT] = { 0 }, sent = 0, proved = 0;
	size_t n;

	(void)state;
	for (size_t row = 0; row < COUNT(rows); row++) {
		for (size_t w = 0; w < COUNT(roomy); w++) {
			struct frame_spec back = roomy[w];

			flooded(FAMILY_QUAKE2);
			pass_time(3 * SECOND);
			n = token_of(&roomy[w], rows[row].text, rows[row].n, token);
			assert_int_equal(n, 13);
			assert_int_equal(token[12], rows[row].behind);
			assert_int_equal(seen(rows[row].kind, REASON_CHALLENGED),
					 ++asked[rows[row].kind]);
			assert_int_equal(counter_of(DIRECTION_S2C, KIND_ECHO,
						    REASON_CHALLENGED)
						 .packets,
					 ++sent);
			eases();
			back.padding = 0;
			say(&back, token, n, &say_);
			assert_turned(&say_, rows[row].query, strlen(rows[row].query));
			assert_int_equal(seen(KIND_ECHO_RETURN, REASON_VALIDATED),
					 ++proved);
			/* It may be returned once in two seconds. */
			say(&back, token, n, &say_);
			assert_int_equal(say_.action, XDP_DROP);
		}
	}
}

/* No echo is longer than its query, and the server gets the query that was sent. */
static void what_an_echo_cannot_carry_is_refused(void **state)
{
	static const struct {
		struct frame_spec wrap;
		const char *text;
		size_t n;
	} rows[] = {
		{ { .ipv6 = false }, BYTES(OOB "info 33") },
		{ { .ipv6 = false }, BYTES(OOB "info 35") },
		{ { .ipv6 = false }, BYTES(OOB "info") },
		{ { .ipv6 = false }, BYTES(OOB "info 344") },
		{ { .ipv6 = false }, BYTES(OOB "info 34\n") },
		{ { .ipv6 = false }, BYTES(OOB "INFO 34") },
		{ { .ipv6 = false }, BYTES(OOB "status\n") },
		{ { .ipv6 = false }, BYTES(OOB "status 23\n") },
		{ { .ipv6 = true, .padding = 30 }, BYTES(OOB "status 23\n") },
		{ { .ipv6 = true, .padding = 30 }, BYTES(OOB "info 35") },
		{ { .tags = { ETH_P_8021Q }, .padding = 30 }, BYTES(OOB "info 35") },
		{ { .ipv6 = true }, BYTES(INFO) },
		{ { .ipv6 = true }, BYTES(STATUS) },
		{ { .tags = { ETH_P_8021Q } }, BYTES(INFO) },
		{ { .tags = { ETH_P_8021Q } }, BYTES(STATUS) },
	};

	(void)state;
	flooded(FAMILY_QUAKE2);
	for (size_t i = 0; i < COUNT(rows); i++) {
		say(&rows[i].wrap, rows[i].text, rows[i].n, &say_);
		assert_int_equal(say_.action, XDP_DROP);
	}
	assert_int_equal(seen(KIND_INFO, REASON_CHALLENGED), 0);
	assert_int_equal(seen(KIND_STATUS, REASON_CHALLENGED), 0);
	assert_int_equal(counter_of(DIRECTION_S2C, KIND_ECHO, REASON_CHALLENGED).packets,
			 0);
	/* QuakeWorld's clients return no echo. */
	flooded(FAMILY_QUAKEWORLD);
	say(&roomy[0], BYTES(OOB "status 23\n"), &say_);
	assert_int_equal(say_.action, XDP_DROP);
}

/* Queries within the limits are not challenged, even with `validation = always`. */
static void queries_within_the_limits_pass(void **state)
{
	(void)state;
	demand(FAMILY_QUAKE2, VALIDATION_ALWAYS);
	say(&roomy[0], BYTES(INFO), &say_);
	assert_int_equal(say_.action, XDP_PASS);
	say(&roomy[0], BYTES(STATUS), &say_);
	assert_int_equal(say_.action, XDP_PASS);
}

/* A cookie of another client, query, form or time is invalid. */
static void a_forged_return_is_refused(void **state)
{
	static const struct frame_spec others[] = {
		{ .sport = HERE + 1 },
		{ .from = "192.0.2.9" },
		{ .ipv6 = true },
		{ .dport = PORT + 1 },
		{ .tags = { ETH_P_8021Q }, .from = "192.0.2.9" },
		{ .tags = { ETH_P_8021AD, ETH_P_8021Q }, .from = "192.0.2.9" },
	};
	static const char *const asked[] = { BARE, ARGUED };
	char token[FRAME_MAX], forged[FRAME_MAX];
	struct service s;
	__u64 refused = 0;
	size_t n;

	(void)state;
	flooded(FAMILY_QUAKE2);
	s = kern.live->tables[0].services[0];
	kern_service(&kern, 0, 1, &s);
	kern_port(&kern, 0, PORT + 1, 1, false);
	n = token_of(&roomy[0], BYTES(INFO), token);
	eases();
	for (size_t i = 0; i < COUNT(others); i++) {
		say(&others[i], token, n, &say_);
		assert_int_equal(say_.action, XDP_DROP);
		refused += others[i].dport == 0;
		assert_int_equal(seen(KIND_ECHO_RETURN, REASON_INVALID_COOKIE), refused);
	}
	for (size_t at = 4; at < n; at++) {
		memcpy(forged, token, n);
		forged[at] = at == 12 ? 's' : forged[at] == 'a' ? 'b' : 'a';
		if (at == 4)
			forged[at] = (char)(token[at] == '2' ? '4' : '2');
		say(&roomy[0], forged, n, &say_);
		assert_int_equal(say_.action, XDP_DROP);
	}
	refused += n - 4;
	say(&roomy[0], token, n - 1, &say_);
	assert_int_equal(say_.action, XDP_DROP);
	memcpy(forged, token, n);
	forged[n] = '1';
	say(&roomy[0], forged, n + 1, &say_);
	assert_int_equal(say_.action, XDP_DROP);
	assert_int_equal(seen(KIND_ECHO_RETURN, REASON_INVALID_COOKIE), refused + 2);
	/* Valid cookies, of forms that no client of Quake II is sent. */
	for (size_t i = 0; i < COUNT(asked); i++) {
		demand(FAMILY_QUAKE3, VALIDATION_ALWAYS);
		n = token_of(&roomy[0], asked[i], strlen(asked[i]), token);
		flooded(FAMILY_QUAKE2);
		eases();
		for (size_t w = 0; w < 2; w++) {
			struct frame_spec back = { .tags = { w ? ETH_P_8021Q : 0 } };

			refused = seen(KIND_ECHO_RETURN, REASON_INVALID_COOKIE);
			say(&back, token, n, &say_);
			assert_int_equal(say_.action, XDP_DROP);
			assert_int_equal(seen(KIND_ECHO_RETURN, REASON_INVALID_COOKIE),
					 refused + 1);
		}
	}
	flooded(FAMILY_QUAKE2);
	n = token_of(&roomy[0], BYTES(STATUS), token);
	eases();
	pass_time(18 * SECOND);
	say(&roomy[0], token, n, &say_);
	assert_int_equal(say_.action, XDP_DROP);
}

/* A validated client is not challenged again for a minute. */
static void a_validated_client_queries_on(void **state)
{
	char token[FRAME_MAX];
	size_t n;

	(void)state;
	flooded(FAMILY_QUAKE2);
	n = token_of(&roomy[0], BYTES(INFO), token);
	eases();
	say(&roomy[0], token, n, &say_);
	assert_turned(&say_, BYTES(INFO));
	say(&roomy[0], BYTES(STATUS), &say_);
	assert_int_equal(say_.action, XDP_PASS);
	assert_int_equal(seen(KIND_STATUS, REASON_VALIDATED), 1);
	pass_time(30 * SECOND);
	say(&roomy[0], BYTES(INFO), &say_);
	assert_int_equal(say_.action, XDP_PASS);
	assert_int_equal(seen(KIND_INFO, REASON_VALIDATED), 1);
	pass_time(61 * SECOND);
	say(&roomy[0], BYTES(INFO), &say_);
	assert_int_equal(seen(KIND_INFO, REASON_VALIDATED), 1);
}

/*
 * A client returns each echo, also one that another source requested in its name. So an
 * echo lets no `connect` pass beyond the limits of unvalidated clients.
 */
static void an_echo_is_no_proof_for_joining(void **state)
{
	static const char connect[] = OOB "connect 34 1 17 \"\"";
	char token[FRAME_MAX], challenge[11], text[128];
	struct service s;
	__u64 proved;
	size_t n;

	(void)state;
	flooded(FAMILY_QUAKE2);
	n = token_of(&roomy[0], BYTES(STATUS), token);
	eases();
	s = kern.live->tables[0].services[0];
	s.validation = VALIDATION_ALWAYS;
	s.budget[CLASS_CONNECT].service = kern_rate(1, 1);
	kern_service(&kern, 0, 0, &s);
	pass_time(3 * SECOND);
	say(&roomy[0], token, n, &say_);
	assert_turned(&say_, BYTES(STATUS));
	/* The limit of unvalidated clients, all together. */
	for (int i = 0; i < 3; i++) {
		say(&roomy[0], BYTES(connect), &say_);
		assert_int_equal(say_.action, i ? XDP_DROP : XDP_PASS);
	}
	assert_int_equal(seen(KIND_CONNECT, REASON_VALIDATED), 0);
	/* It joins as any other client does. */
	say(&roomy[0], BYTES(OOB "getchallenge\n"), &say_);
	assert_answer(&say_, 8);
	memcpy(challenge, say_.text + 14, 10);
	challenge[10] = '\0';
	n = (size_t)snprintf(text, sizeof(text), OOB "connect 34 1 %s \"\"", challenge);
	say(&roomy[0], text, n, &say_);
	assert_turned(&say_, BYTES(OOB "getchallenge\n"));
	proved = seen(KIND_CONNECT, REASON_VALIDATED);
	say(&roomy[0], BYTES(connect), &say_);
	assert_int_equal(say_.action, XDP_PASS);
	assert_int_equal(seen(KIND_CONNECT, REASON_VALIDATED), proved + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_echo_turns_into_the_query),
		TEST(what_an_echo_cannot_carry_is_refused),
		TEST(queries_within_the_limits_pass),
		TEST(a_forged_return_is_refused),
		TEST(a_validated_client_queries_on),
		TEST(an_echo_is_no_proof_for_joining),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
