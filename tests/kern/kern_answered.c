// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Answers from the kernel: who gets one when the service's budget is spent, who pays for
 * it, and who does not.
 */
#include <sched.h>

#include "kern/kern_answers.h"

/* Pressure is judged at the first question beyond the budget, and that is answered. */
static void the_first_beyond_the_budget(void **state)
{
	static struct frame_spec other = { .from = "10.255.0.1" };

	(void)state;
	for (size_t w = 0; w < COUNT(wraps); w++) {
		answers(FAMILY_QUAKE3, CACHE_UNDER_LOAD);
		know_both();
		learn_quake3();
		say(&other, BYTES(OOB "getstatus"), &say_);
		assert_int_equal(say_.action, XDP_PASS);
		say(&wraps[w], BYTES(OOB "getstatus"), &say_);
		assert_told(BYTES(STATUS));
	}
}

/* Around who is known: as often as one who is, all of them together. */
static void the_neighbours_of_who_is_known(void **state)
{
	static const char *const near[] = { "192.0.2.77", "192.0.2.78",
					    "2001:db8:1:3::1" };
	static const __u64 nets[] = { 0xc0000201, 0x20010db800010000 };
	struct frame_spec asker = { 0 };
	unsigned int told = 0;

	(void)state;
	answers(FAMILY_QUAKE3, CACHE_UNDER_LOAD);
	for (size_t i = 0; i < COUNT(nets); i++)
		reputation_note(&kern.live->cache.reputation, reputation_network(nets[i]),
				0, REPUTATION_NETWORK,
				reputation_minute(kern.live->clock_ns), kern.live->keys);
	learn_quake3();
	flood();
	for (size_t i = 0; i < COUNT(near); i++) {
		asker.from = near[i];
		asker.ipv6 = strchr(near[i], ':');
		say(&asker, BYTES(OOB "getstatus"), &say_);
		assert_told(BYTES(STATUS));
	}
	asker = (struct frame_spec){ .from = "192.0.2.77" };
	for (int i = 0; i < 40; i++) {
		say(&asker, BYTES(OOB "getstatus"), &say_);
		told += say_.action == XDP_TX;
	}
	assert_in_range(told, 7, 9);
	asker.from = "192.0.3.77";
	say(&asker, BYTES(OOB "getstatus"), &say_);
	assert_int_equal(say_.action, XDP_DROP);
	assert_true(
		counter_of(DIRECTION_C2S, KIND_GETSTATUS, REASON_CACHED_PREFIX).packets >
		9);
}

/* A stranger that asks once a second is answered from its third question on. */
static void asking_like_a_browser_helps(void **state)
{
	struct frame_spec fast = { .from = "192.0.2.60" };

	(void)state;
	for (int w = 0; w < 2; w++) {
		answers(FAMILY_QUAKE3, CACHE_UNDER_LOAD);
		for (int second = 0; second < 20; second++) {
			learn_quake3();
			flood();
			say(&wraps[w], BYTES(OOB "getstatus"), &say_);
			assert_int_equal(say_.action, second < 2 ? XDP_DROP : XDP_TX);
			pass_time(SECOND);
		}
	}
	/* Ten times a second is no browser. */
	answers(FAMILY_QUAKE3, CACHE_UNDER_LOAD);
	for (int tenth = 0; tenth < 100; tenth++) {
		learn_quake3();
		flood();
		say(&fast, BYTES(OOB "getstatus"), &say_);
		if (tenth > 40)
			assert_int_equal(say_.action, XDP_DROP);
		pass_time(SECOND / 10);
	}
}

static void only_sources_in_the_mark_window_are_answered(void **state)
{
	struct cache_state *a = &kern.live->cache;
	__u32 turn = recent_turn(net_of("192.0.2.1"), kern.live->keys);

	(void)state;
	for (__u32 outside = 0; outside < 2; outside++) {
		answers(FAMILY_QUAKE3, CACHE_UNDER_LOAD);
		a->windows[0] = (struct recent_window){ turn + outside, 1u << 31 };
		a->windows[1] = (struct recent_window){ turn + !outside, 1u << 31 };
		memset(a->marked, 0, sizeof(a->marked));
		for (int second = 0; second < 6; second++) {
			learn_quake3();
			flood();
			say(&wraps[0], BYTES(OOB "getstatus"), &say_);
			assert_int_equal(say_.action,
					 outside || second < 2 ? XDP_DROP : XDP_TX);
			pass_time(SECOND);
		}
		assert_true(outside || a->marked[0][0] >= 6);
		assert_int_equal(a->marked[0][1], 0);
	}
	memset(a->windows, 0, sizeof(a->windows));
}

static bool run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return !sched_setaffinity(0, sizeof(set), &set);
}

/* As the daemon loads it where there are two processors. */
static struct shield_bpf *load_for_two(void)
{
	struct shield_bpf *skel = shield_bpf__open();

	assert_non_null(skel);
	bpf_map__set_max_entries(skel->maps.counters, KERN_SLOTS * COUNTER_ROWS);
	bpf_map__set_max_entries(skel->maps.spilled, KERN_SLOTS * COUNTER_ROWS);
	bpf_map__set_max_entries(skel->maps.recent, 2);
	*(__u32 *)&skel->rodata->recent_mask = 1;
	assert_int_equal(shield_bpf__load(skel), 0);
	assert_int_equal(tail_calls_fill(skel), 0);
	return skel;
}

static void each_processor_has_its_own_recent_askers(void **state)
{
	struct kern kept = kern;
	cpu_set_t before;

	(void)state;
	sched_getaffinity(0, sizeof(before), &before);
	if (!run_on(1) || !run_on(0))
		skip();
	kern.skel = load_for_two();
	kern.program = bpf_program__fd(kern.skel->progs.shield);
	kern.live = &kern.skel->bss->live;
	memcpy(kern.live->keys, kept.live->keys, sizeof(kern.live->keys));
	kern.live->clock_ns = 1ull << 40;
	answers(FAMILY_QUAKE3, CACHE_UNDER_LOAD);
	for (int question = 0; question < 12; question++) {
		run_on(question % 4 == 3);
		learn_quake3();
		flood();
		say(&wraps[0], BYTES(OOB "getstatus"), &say_);
		/* Each fourth alone is on the other processor, and comes too late there.
		 */
		assert_int_equal(say_.action,
				 question < 2 || question % 4 == 3 ? XDP_DROP : XDP_TX);
		pass_time(SECOND);
	}
	assert_true(kern.live->cache.marked[0][0] > kern.live->cache.marked[1][0]);
	assert_true(kern.live->cache.marked[1][0] >= 3);
	sched_setaffinity(0, sizeof(before), &before);
	shield_bpf__destroy(kern.skel);
	kern = kept;
}

/* How many responses of 96 bytes 199 sources get that ask once per second, five times. */
static int recurring_answered(void)
{
	struct frame_spec one = { 0 };
	char address[20];
	int told = 0;

	for (int second = 0; second < 5; second++) {
		learn_quake3();
		flood();
		for (int i = 1; i < 200; i++) {
			snprintf(address, sizeof(address), "198.18.%d.7", i);
			one.from = address;
			say(&one, BYTES(OOB "getstatus"), &say_);
			told += say_.action == XDP_TX;
		}
		pass_time(SECOND);
	}
	return told;
}

static void strangers_have_a_cap(void **state)
{
	(void)state;
	answers(FAMILY_QUAKE3, CACHE_UNDER_LOAD);
	/* 1000 bytes a second, a second's worth at once. */
	kern.live->cache.cap =
		(struct cache_cap){ .byte_ns = 1000000, .burst_ns = SECOND };
	/* Three seconds' worth and what was saved up, of 96 bytes each. */
	assert_in_range(recurring_answered(), 25, 40);
}

/* The responses to others have used up all of the rate but the part that is kept. */
static void a_part_of_the_cap_is_kept_for_each_service(void **state)
{
	struct cache_cap *cap = &kern.live->cache.cap;

	(void)state;
	answers(FAMILY_QUAKE3, CACHE_UNDER_LOAD);
	*cap = (struct cache_cap){ .byte_ns = 1000000, .burst_ns = SECOND };
	cap->due_ns = kern.live->clock_ns + 1000 * SECOND;
	assert_int_equal(recurring_answered(), 0);
	answers(FAMILY_QUAKE3, CACHE_UNDER_LOAD);
	*cap = (struct cache_cap){ .byte_ns = 1000000,
				   .burst_ns = SECOND,
				   .kept_byte_ns = 2000000,
				   .kept_burst_ns = SECOND };
	cap->due_ns = kern.live->clock_ns + 1000 * SECOND;
	cap->kept_due_ns[1] = cap->due_ns;
	/* Three seconds' worth of 500 bytes each, and what was saved up. */
	assert_in_range(recurring_answered(), 12, 21);
}

static void the_amplification_limit_always_holds(void **state)
{
	__u64 out = 0, in = 0;

	(void)state;
	answers(FAMILY_QUAKE3, CACHE_UNDER_LOAD);
	know_both();
	amplification(ALLOWANCE, 20);
	for (int second = 0; second < 400; second++) {
		if (second % 4 == 0) {
			learn(FAMILY_QUAKE3, 3, "", BYTES(STATUS "0123456789"));
			flood();
		}
		say(&wraps[0], BYTES(OOB "getstatus"), &say_);
		in += say_.sent_n;
		out += say_.action == XDP_TX ? say_.n : 0;
		pass_time(SECOND / 1000);
	}
	assert_true(out <= in + ALLOWANCE + ALLOWANCE);
	kern.live->amplification.strict = 1;
	kern.live->amplification.byte_ns = AMPLIFICATION_GRAIN_NS;
	kern.live->amplification.window_ns = 0;
	memset(kern.live->source_due_ns, 0, sizeof(kern.live->source_due_ns));
	pass_time(20 * SECOND);
	learn_quake3();
	flood();
	/* The next one is noted, and no other of its period. */
	pass_time(1ull << REFUSED_TICK);
	kern.live->sampling.phase =
		counter_of(DIRECTION_C2S, KIND_GETSTATUS, REASON_AMPLIFICATION).packets %
		REFUSED_EVERY;
	say(&wraps[0], BYTES(OOB "getstatus"), &say_);
	assert_int_equal(say_.action, XDP_DROP);
	assert_int_equal(net_noted(REASON_AMPLIFICATION), 0xc0000201);
}

/*
 * One victim in whose name thousands ask, for as long as that looks like a browser: what
 * the amplification limit refuses pays for no answer, or those that are refused pay for
 * the others.
 */
static void the_refused_pay_for_nothing(void **state)
{
	static char reply[900] = OOB "statusResponse\n";
	struct frame_spec victim = { .from = "192.0.2.66" };
	unsigned int told = 0;

	(void)state;
	memset(reply + 19, 'x', sizeof(reply) - 19);
	answers(FAMILY_QUAKE3, CACHE_UNDER_LOAD);
	memset(kern.live->source_due_ns, 0, sizeof(kern.live->source_due_ns));
	pass_time(60 * SECOND);
	amplification(ALLOWANCE, 20);
	learn(FAMILY_QUAKE3, 3, "", reply, sizeof(reply));
	for (int i = 0; i < 4000; i++) {
		if (i % 100 == 0)
			flood();
		say(&victim, BYTES(OOB "getstatus"), &say_);
		told += say_.action == XDP_TX;
		pass_time(SECOND / 1000);
	}
	assert_true(told > 0);
	assert_true(told <= ALLOWANCE / sizeof(reply) * 5 / 4 + 2);
}

#define NEIGHBOURS 21 /* questions a second in all, of 255 addresses */

/* What became of the questions of one, and of all of its network. */
struct minute {
	unsigned int asked, told, others;
	__u64 in, out;
};

/* A question pays if it is answered, or goes on to the server. */
static bool asks(const char *from, bool ipv6, struct minute *m)
{
	struct frame_spec one = { .from = from, .ipv6 = ipv6 };

	say(&one, BYTES(OOB "getstatus"), &say_);
	m->in += say_.action != XDP_DROP ? say_.sent_n : 0;
	m->out += say_.action == XDP_TX ? say_.n : 0;
	return say_.action == XDP_TX;
}

/*
 * A minute of a flood whose forged addresses are around @who, too: 255 of them, or so
 * many that each asks once a second. Who is there asks @often a second.
 */
static void a_minute_among_forged(const char *who, bool ipv6, unsigned int often,
				  unsigned int addresses, size_t reply_n,
				  struct minute *ret)
{
	static char reply[900] = OOB "statusResponse\n";
	char address[40];
	unsigned int n = 0;

	memset(reply + 19, 'x', sizeof(reply) - 19);
	memset(ret, 0, sizeof(*ret));
	amplification(ALLOWANCE, 20);
	for (unsigned int second = 0; second < 60; second++) {
		if (second % 4 == 0)
			learn(FAMILY_QUAKE3, 3, "", reply, reply_n);
		flood();
		for (unsigned int i = 0; i < NEIGHBOURS; i++) {
			snprintf(address, sizeof(address),
				 ipv6 ? "2001:db8:1:%x::1" : "192.0.2.%u",
				 2 + n++ % addresses);
			ret->others += asks(address, ipv6, ret);
			if (i % (NEIGHBOURS / often) == NEIGHBOURS / often - 1) {
				ret->asked++;
				ret->told += asks(who, ipv6, ret);
			}
			pass_time(SECOND / NEIGHBOURS);
		}
	}
	assert_true(ret->out <= ret->in + ALLOWANCE + ALLOWANCE * 60 / 20);
}

/* What is forged around who is known leaves of the amplification limit what that one
 * needs. */
static void who_is_known_among_forged_neighbours(void **state)
{
	static const struct {
		unsigned int often;
		size_t reply_n;
		enum cache_mode when;
	} rows[] = {
		{ 1, 800, CACHE_UNDER_LOAD },
		{ 2, 400, CACHE_UNDER_LOAD },
		{ 1, 900, CACHE_UNDER_LOAD },
		{ 1, 800, CACHE_ALWAYS }, /* others have budgets, too */
	};
	struct minute m;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		for (int ipv6 = 0; ipv6 < 2; ipv6++) {
			const char *who = ipv6 ? "2001:db8:1::1" : "192.0.2.1";

			answers(FAMILY_QUAKE3, rows[i].when);
			know_both();
			reputation_note(&kern.live->cache.reputation,
					reputation_network(net_of(who)), 0,
					REPUTATION_NETWORK,
					reputation_minute(kern.live->clock_ns),
					kern.live->keys);
			a_minute_among_forged(who, ipv6, rows[i].often, 253,
					      rows[i].reply_n, &m);
			assert_true(m.told * 100 >= m.asked * 99);
			/* Half of the allowance, and what is left over. */
			assert_true(m.others >= ALLOWANCE / 2 / (rows[i].reply_n + 42));
		}
	}
}

/* What looks like browsers around who has proven its address, the same. */
static void who_has_proven_it_among_forged_browsers(void **state)
{
	struct minute m;

	(void)state;
	for (int ipv6 = 0; ipv6 < 2; ipv6++) {
		const char *who = ipv6 ? "2001:db8:1::1" : "192.0.2.1";

		answers(FAMILY_QUAKE3, CACHE_UNDER_LOAD);
		reputation_note(&kern.live->cache.reputation, net_of(who), 64,
				REPUTATION_VALIDATED,
				reputation_minute(kern.live->clock_ns), kern.live->keys);
		a_minute_among_forged(who, ipv6, 1, NEIGHBOURS, 800, &m);
		assert_true(m.told * 100 >= m.asked * 99);
		assert_true(m.others >= ALLOWANCE / 2 / 842);
	}
}

static void the_lists_are_heard(void **state)
{
	struct frame_spec friend = { .from = "192.0.2.33" },
			  foe = { .from = "192.0.2.34" };

	(void)state;
	answers(FAMILY_QUAKE3, CACHE_UNDER_LOAD);
	learn_quake3();
	kern_list(&kern, true, "192.0.2.33", 128);
	kern_list(&kern, false, "192.0.2.34", 128);
	flood();
	say(&friend, BYTES(OOB "getstatus"), &say_);
	assert_told(BYTES(STATUS));
	assert_int_equal(counter_of(DIRECTION_C2S, KIND_GETSTATUS,
				    REASON_CACHED_ALLOW_LIST)
				 .packets,
			 1);
	know("192.0.2.34");
	say(&foe, BYTES(OOB "getstatus"), &say_);
	assert_int_equal(say_.action, XDP_DROP);
	kern.live->lists = 0;
}

/* A service that answers, or asks for proof; its budget is spent. */
static void answers_or_demands(void)
{
	struct frame_spec other = { .from = "10.9.9.9" };
	struct service s;

	answers(FAMILY_QUAKE3, CACHE_UNDER_LOAD);
	demand(FAMILY_QUAKE3, VALIDATION_UNDER_LOAD);
	s = kern.live->tables[0].services[0];
	s.cache = CACHE_UNDER_LOAD;
	s.budget[CLASS_QUERY].service = kern_rate(1, 4);
	kern_service(&kern, 0, 0, &s);
	learn_quake3();
	for (int i = 0; i < 8; i++)
		say(&other, BYTES(OOB "getstatus"), &say_);
}

/* @browser asks, is asked for proof, and answers `echo`: that goes to the server. */
static void proves(const struct frame_spec *browser)
{
	char token[FRAME_MAX] = OOB;
	size_t n;

	say(browser, BYTES(OOB "getstatus"), &say_);
	assert_answer(&say_, 0);
	assert_memory_equal(say_.text, OOB "echo ", 9);
	n = say_.length - 9;
	memcpy(token + 4, say_.text + 9, n);
	say(browser, token, n + 4, &say_);
	assert_turned(&say_, BYTES(OOB "getstatus"));
}

/* Who answers `echo` is answered from then on, from whatever port, for a minute or two.
 */
static void who_has_proven_its_address(void **state)
{
	struct frame_spec browser = { .from = "192.0.2.50" };

	(void)state;
	answers_or_demands();
	proves(&browser);
	browser.sport = HERE + 7;
	say(&browser, BYTES(OOB "getstatus"), &say_);
	assert_told(BYTES(STATUS));
	assert_int_equal(counter_of(DIRECTION_C2S, KIND_GETSTATUS,
				    REASON_CACHED_VALIDATED)
				 .packets,
			 1);
	/* Its neighbour has proven nothing. */
	browser.from = "192.0.2.51";
	say(&browser, BYTES(OOB "getstatus"), &say_);
	assert_true(say_.action != XDP_TX || !memcmp(say_.frame + 42 + 4, "echo ", 5));
	assert_int_equal(counter_of(DIRECTION_C2S, KIND_GETSTATUS,
				    REASON_CACHED_VALIDATED)
				 .packets,
			 1);
}

/* Of a known one's neighbours, who finds nothing left can still prove its address. */
static void a_neighbour_proves_its_address(void **state)
{
	struct frame_spec near = { .from = "192.0.2.77" };

	(void)state;
	answers_or_demands();
	reputation_note(&kern.live->cache.reputation,
			reputation_network(net_of("192.0.2.1")), 0, REPUTATION_NETWORK,
			reputation_minute(kern.live->clock_ns), kern.live->keys);
	/* Room for one answer in the network's half, 41 bytes longer than its question.
	 */
	amplification(100, 20);
	say(&near, BYTES(OOB "getstatus"), &say_);
	assert_told(BYTES(STATUS));
	proves(&near);
	say(&near, BYTES(OOB "getstatus"), &say_);
	assert_told(BYTES(STATUS));
}

/* How many of 20 answers of the server itself leave for @peer. */
static unsigned int server_says(const char *peer, const char *head, size_t n)
{
	char reply[900] = { 0 };
	unsigned int left = 0;

	memcpy(reply, head, n);
	link_.peer = peer;
	for (int i = 0; i < 20; i++)
		left += says(reply, sizeof(reply));
	return left;
}

/* What the server answers to neighbours of who is known is their half, too. */
static void the_server_leaves_a_half(void **state)
{
	const unsigned int all = ALLOWANCE / 942;

	(void)state;
	answers(FAMILY_QUAKE3, CACHE_UNDER_LOAD);
	know_both();
	reputation_note(&kern.live->cache.reputation,
			reputation_network(net_of("192.0.2.1")), 0, REPUTATION_NETWORK,
			reputation_minute(kern.live->clock_ns), kern.live->keys);
	amplification(ALLOWANCE, 20);
	assert_int_equal(server_says("192.0.2.77", BYTES(OOB "statusResponse\n")),
			 all / 2);
	assert_int_equal(server_says("192.0.2.1", BYTES(OOB "statusResponse\n")),
			 all - all / 2);
	/* To who joins all of it, and so where nobody is known. */
	pass_time(20 * SECOND);
	assert_int_equal(server_says("192.0.2.77", BYTES(OOB "challengeResponse ")), all);
	assert_int_equal(server_says("203.0.113.77", BYTES(OOB "statusResponse\n")), all);
	/* And to who signs on to NetQuake, and is no player before its third answer. */
	answers(FAMILY_NETQUAKE, CACHE_UNDER_LOAD);
	reputation_note(&kern.live->cache.reputation,
			reputation_network(net_of("192.0.2.1")), 0, REPUTATION_NETWORK,
			reputation_minute(kern.live->clock_ns), kern.live->keys);
	amplification(ALLOWANCE, 20);
	assert_int_equal(server_says("192.0.2.77", BYTES("\0\x10\x03\x84")), all);
	link_.peer = PEER;
}

/* Forgers spend what its network may be sent: who asks again is still asked for proof. */
static void a_browser_among_forgers_is_asked_for_proof(void **state)
{
	static const struct frame_spec browser = { .from = "192.0.2.77" };
	struct frame_spec other = { .from = "10.9.9.9" };
	unsigned int echoes = 0;

	(void)state;
	answers_or_demands();
	amplification(100, 20);
	for (unsigned int i = 0; i < 400; i++) {
		char address[32];
		struct frame_spec forged = { .from = address };

		for (int k = 0; i % 20 == 0 && k < 8; k++)
			say(&other, BYTES(OOB "getstatus"), &say_);
		if (i % 20 == 0)
			learn_quake3();
		snprintf(address, sizeof(address), "192.0.2.%u", 100 + i % 20);
		say(&forged, BYTES(OOB "getstatus"), &say_);
		pass_time(SECOND / 20);
		if (i % 20 != 10)
			continue;
		say(&browser, BYTES(OOB "getstatus"), &say_);
		echoes +=
			say_.action == XDP_TX && !memcmp(say_.frame + 42 + 4, "echo ", 5);
	}
	assert_in_range(echoes, 19, 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_browser_among_forgers_is_asked_for_proof),
		cmocka_unit_test(the_first_beyond_the_budget),
		cmocka_unit_test(the_neighbours_of_who_is_known),
		cmocka_unit_test(asking_like_a_browser_helps),
		cmocka_unit_test(only_sources_in_the_mark_window_are_answered),
		cmocka_unit_test(each_processor_has_its_own_recent_askers),
		cmocka_unit_test(strangers_have_a_cap),
		cmocka_unit_test(a_part_of_the_cap_is_kept_for_each_service),
		cmocka_unit_test(the_amplification_limit_always_holds),
		cmocka_unit_test(the_refused_pay_for_nothing),
		cmocka_unit_test(the_lists_are_heard),
		cmocka_unit_test(who_has_proven_its_address),
		cmocka_unit_test(a_neighbour_proves_its_address),
		cmocka_unit_test(the_server_leaves_a_half),
		cmocka_unit_test(who_is_known_among_forged_neighbours),
		cmocka_unit_test(who_has_proven_it_among_forged_browsers),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
