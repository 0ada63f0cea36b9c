// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * kern_explain.c - `explain` names the cause for which a client cannot play, or for which
 * its query is not answered.
 * stubs: shield_cache shield_joined
 */
#include "kern/kern_explain.h"
#include "challenge.h"

/* --- ten causes -------------------------------------------------------------- */

static void no_cause_is_named_where_there_is_none(void **state)
{
	struct service s = wide();

	(void)state;
	serve_as(&s);
	explain(PEER, NULL);
	assert_int_equal(told->service_count, 1);
	assert_int_equal(told->services[0].cause_count, 0);
	assert_int_equal(step("query")->in.reason, REASON_WITHIN_LIMITS);
	assert_int_equal(step("query")->in.kind, KIND_GETSTATUS);
	assert_true(step("query")->has_answer && step("query")->out.passes);
	assert_int_equal(step("join")->in.kind, KIND_GETCHALLENGE);
	assert_int_equal(step("connect")->in.kind, KIND_CONNECT);
	assert_int_equal(step("move")->in.kind, KIND_NETCHAN);
}

/* @class is spent by @from, so that @name refuses PEER's @what. */
static void spent(const char *from, const char *what, const char *name)
{
	for (int i = 0; i < 4; i++)
		hear_from(from, 1, what, strlen(what));
	explain(PEER, "ffa");
	alone(name);
}

static void a_limit_is_named_at_its_level(void **state)
{
	static const char *const words[] = { OOB "getstatus", OOB "getchallenge" };
	static const enum wire_class classes[] = { CLASS_QUERY, CLASS_CHALLENGE };

	(void)state;
	for (size_t i = 0; i < COUNT(words); i++) {
		struct service s = wide();

		s.budget[classes[i]].source = kern_rate(1, 2);
		serve_as(&s);
		spent(PEER, words[i], "source-limit");
		assert_non_null(strstr(cause("source-limit")->text, "0 of 2 left"));

		s = wide();
		s.budget[classes[i]].prefix = kern_rate(1, 2);
		pass_time(100 * SECOND);
		serve_as(&s);
		spent(NEIGHBOUR, words[i], "prefix-limit");

		s = wide();
		s.budget[classes[i]].service = kern_rate(1, 2);
		pass_time(100 * SECOND);
		serve_as(&s);
		spent(ELSEWHERE, words[i], "service-limit");
		assert_non_null(strstr(cause("service-limit")->text, "for the service"));
		pass_time(100 * SECOND);
	}
}

static void a_players_mismatch_is_named(void **state)
{
	struct service s = wide();

	(void)state;
	serve_as(&s);
	play_on();
	explain(PEER, NULL);
	assert_int_equal(told->services[0].flow_count, 1);
	assert_int_equal(told->services[0].flows[0].state, ABOUT_ESTABLISHED);
	assert_int_equal(told->services[0].flows[0].port, HERE);
	assert_int_equal(step("move")->in.reason, REASON_PLAYER);
	assert_int_equal(told->services[0].cause_count, 0);
	for (__u32 n = 0; n < 5; n++)
		assert_false(q3_heard(HERE, 40 + n, 0x4321, 0x01010101));
	explain(PEER, NULL);
	alone("player-mismatch");
	assert_true(cause("player-mismatch")->past);
	/* Seconds later nothing is kept, but the player is silent and the server not. */
	for (int i = 0; i < 10; i++) {
		pass_time(SECOND);
		assert_true(sent(100 + (__u32)i));
	}
	explain(PEER, NULL);
	assert_non_null(cause("client-silent"));
}

static void spent_player_slots_are_named(void **state)
{
	struct service s = wide();

	(void)state;
	s.players_source = 1;
	serve_as(&s);
	play_on();
	explain(PEER ":50001", NULL);
	assert_int_equal(told->services[0].flow_count, 0);
	alone("player-slots");
	assert_int_equal(step("query")->in.reason, REASON_WITHIN_LIMITS);
	explain(NEIGHBOUR, NULL);
	assert_int_equal(told->services[0].cause_count, 0);
}

static void a_pending_validation_is_named(void **state)
{
	struct service s = wide();

	(void)state;
	s.validation = VALIDATION_ALWAYS;
	serve_as(&s);
	for (int slot = 0; slot < SERVICES_MAX; slot++)
		for (int use = 0; use < CHALLENGE_USES; use++)
			kern.live->validation.share[slot][use] =
				(struct limit){ 1, SECOND };
	for (int turn = 0; turn < 2; turn++)
		kern.live->validation.secret.key[turn][0] =
			kern.live->validation.secret.key[turn][1] = 0x1234567890abcdef;
	explain(PEER, NULL);
	alone("validation-pending");
	assert_int_equal(step("join")->in.reason, REASON_CHALLENGED);
	assert_true(step("join")->in.sent > 14);
	/* The server's own challenge validates nothing. */
	assert_true(says(BYTES(OOB "challengeResponse 7")));
	explain(PEER, NULL);
	alone("validation-pending");
	assert_int_equal(told->services[0].flow_count, 1);
	assert_int_equal(told->services[0].flows[0].state, ABOUT_INVITED);
}

static void the_deny_list_is_named(void **state)
{
	struct service s = wide();

	(void)state;
	serve_as(&s);
	kern_list(&kern, false, "192.0.2.0", 120);
	explain(PEER, NULL);
	alone("deny-list");
	assert_non_null(strstr(cause("deny-list")->text, "192.0.2.0/24"));
	explain(ELSEWHERE, NULL);
	assert_int_equal(told->services[0].cause_count, 0);
	/* The allow list overrides the deny list. */
	kern_list(&kern, true, PEER, 128);
	explain(PEER, NULL);
	assert_int_equal(told->services[0].cause_count, 0);
}

/* The configuration's part of an entry outlives what `allow add --for` made of it. */
static void an_ended_part_of_an_entry_is_not_told(void **state)
{
	struct list_entry entry = { .origins = LIST_CONFIG | LIST_RUNTIME |
					       LIST_RUNTIME_UNLIMITED,
				    .length = 128,
				    .comment = "for now" };
	struct cidr cidr = { .length = 128 };
	struct service s = wide();

	(void)state;
	serve_as(&s);
	kern_list(&kern, true, PEER, 128);
	kern_address(PEER, cidr.addr);
	entry.until_ns = kern.live->clock_ns + SECOND;
	assert_int_equal(bpf_map_update_elem(shield.allow, &cidr, &entry, BPF_ANY), 0);
	explain(PEER, NULL);
	assert_int_equal(told->allow.entry.origins, entry.origins);
	assert_int_equal(step("query")->in.reason, REASON_ALLOW_LIST);
	pass_time(SECOND);
	explain(PEER, NULL);
	assert_int_equal(told->allow.entry.origins, LIST_CONFIG);
	assert_int_equal(step("query")->in.reason, REASON_WITHIN_LIMITS);
	/* All of it has ended. */
	entry.origins &= (__u8)~LIST_CONFIG;
	assert_int_equal(bpf_map_update_elem(shield.allow, &cidr, &entry, BPF_ANY), 0);
	explain(PEER, NULL);
	assert_false(told->allow.has);
}

/* An address that many clients share has many flows of other services. */
static void flows_are_of_the_service(void **state)
{
	struct service s = wide();

	(void)state;
	serve_as(&s);
	strcpy(s.name, "other");
	kern_service(&kern, 0, 1, &s);
	kern_port(&kern, 0, PORT + 1, 1, false);
	link_.sport = PORT + 1;
	for (link_.dport = 1; link_.dport <= EXPLAIN_FLOWS + 1; link_.dport++)
		assert_true(says(BYTES(OOB "connectResponse 7")));
	link_.sport = PORT;
	link_.dport = HERE;
	assert_true(says(BYTES(OOB "connectResponse 7")));
	explain(PEER, "ffa");
	assert_int_equal(told->services[0].flow_count, 1);
	assert_int_equal(told->services[0].flows[0].port, HERE);
	explain(PEER, "other");
	assert_int_equal(told->services[0].flow_count, EXPLAIN_FLOWS);
}

static void a_server_of_another_protocol_is_named(void **state)
{
	struct service s = wide();

	(void)state;
	serve_as(&s);
	assert_true(says(BYTES(OOB "c12345")));
	assert_true(says(BYTES(OOB "j")));
	explain(ELSEWHERE, NULL);
	alone("other-protocol");
	assert_non_null(strstr(cause("other-protocol")->text, "speaks quakeworld"));
}

static void an_interface_without_the_shield_is_named(void **state)
{
	struct service s = wide();

	(void)state;
	serve_as(&s);
	shield_unjudged_put(&shield, 0, 1, true);
	explain(PEER, NULL);
	alone("other-interface");
	assert_non_null(strstr(cause("other-interface")->text, "'lo'"));
}

static void a_port_without_a_service_is_named(void **state)
{
	struct service s = wide();
	char text[4096] = "";
	FILE *out;

	(void)state;
	serve_as(&s);
	explain(PEER, "27961");
	assert_int_equal(told->service_count, 0);
	assert_true(told->no_service);
	out = fmemopen(text, sizeof(text), "w");
	assert_non_null(out);
	explain_print(told, out);
	fclose(out);
	assert_non_null(strstr(text, "no-service: no service has port 27961"));
	explain(PEER, "27960");
	assert_int_equal(told->service_count, 1);
}

static void a_silent_server_is_named(void **state)
{
	struct service s = wide();

	(void)state;
	kern_service(&kern, 0, 0, &s);
	kern_port(&kern, 0, PORT, 0, false);
	/* No server answers these. */
	for (int i = 0; i < 4; i++)
		hear_from(PEER, HERE, BYTES(OOB "whatever"));
	explain(PEER, NULL);
	assert_int_equal(told->services[0].server.asked, 4);
	assert_int_equal(told->services[0].cause_count, 0);
	for (int i = 0; i < 4; i++)
		ask(PEER, HERE);
	explain(PEER, NULL);
	alone("server-silent");
	assert_non_null(strstr(cause("server-silent")->text, "4 requests have passed"));
}

static void a_spent_allowance_is_named(void **state)
{
	static const char status[900] = OOB "statusResponse\n";
	struct service s = wide();
	struct about_allowance before;

	(void)state;
	amplification(4096, 20);
	serve_as(&s);
	explain(PEER, NULL);
	before = told->allowance;
	assert_int_equal(told->services[0].cause_count, 0);
	for (int i = 0; i < 8; i++)
		says(status, sizeof(status));
	explain(PEER, NULL);
	alone("amplification");
	assert_true(told->allowance.left < 1000 && before.left > 4000);
	assert_false(step("query")->out.passes);
	/* The prefix has it, and no other. */
	explain(NEIGHBOUR, NULL);
	assert_non_null(cause("amplification"));
	/* An allowed source has one of its own. */
	kern_list(&kern, true, NEIGHBOUR, 128);
	explain(NEIGHBOUR, NULL);
	assert_int_equal(told->services[0].cause_count, 0);
	assert_int_equal(told->allowance.left,
			 before.most << ALLOWED_AMPLIFICATION_SHIFT);
	kern_allow_all(&kern, NEIGHBOUR, 128);
	explain(NEIGHBOUR, NULL);
	assert_true(told->allowance.off);
	explain(ELSEWHERE, NULL);
	assert_int_equal(told->services[0].cause_count, 0);
}

/* Without an allowance the bytes that came are left. */
static void a_strict_allowance_is_named(void **state)
{
	struct service s = wide();

	(void)state;
	amplification_strict();
	kern_service(&kern, 0, 0, &s);
	kern_port(&kern, 0, PORT, 0, false);
	explain(PEER, NULL);
	assert_true(told->allowance.strict);
	assert_int_equal(told->allowance.left, 0);
	ask(PEER, HERE);
	explain(PEER, NULL);
	assert_int_equal(told->allowance.left, 14 + 20 + 8 + 13);
	assert_non_null(cause("amplification"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(no_cause_is_named_where_there_is_none),
		TEST(a_limit_is_named_at_its_level),
		TEST(a_players_mismatch_is_named),
		TEST(spent_player_slots_are_named),
		TEST(a_pending_validation_is_named),
		TEST(the_deny_list_is_named),
		TEST(an_ended_part_of_an_entry_is_not_told),
		TEST(flows_are_of_the_service),
		TEST(a_server_of_another_protocol_is_named),
		TEST(an_interface_without_the_shield_is_named),
		TEST(a_port_without_a_service_is_named),
		TEST(a_silent_server_is_named),
		TEST(a_spent_allowance_is_named),
		TEST(a_strict_allowance_is_named),
	};

	return explain_tests(tests, COUNT(tests));
}
