// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Answers from the kernel: what is sent, octet by octet, never torn nor old, and what
 * happens where there is no answer to be had. Who gets one: kern_answered.c. ANSWERS=N:
 * how many are sent while another thread exchanges them (default: 200000).
 */
#include <pthread.h>

#include "kern/kern_answers.h"

#define ANSWER_LONG 1376 /* octets; a longer one may be fragmented */

static void what_the_server_says_word_for_word(void **state)
{
	static const struct {
		const char *question;
		size_t n;
		const char *nonce;
	} rows[] = {
		{ BYTES(OOB "getinfo x"), "x" },
		{ BYTES(OOB "getinfo xxx"), "xxx" },
		{ BYTES(OOB "getinfo xxx\n"), "xxx" },
		{ BYTES(OOB "getinfo 12345678\0"), "12345678" },
		{ BYTES(OOB "getinfo abcdefghijklmnopqrstuvwxyz-_.345"),
		  "abcdefghijklmnopqrstuvwxyz-_.345" },
	};
	char want[600];

	(void)state;
	answers(FAMILY_QUAKE3, CACHE_UNDER_LOAD);
	know_both();
	for (size_t w = 0; w < COUNT(wraps); w++) {
		for (size_t i = 0; i < COUNT(rows); i++) {
			int n = snprintf(want, sizeof(want), INFO_HEAD "%s" INFO_TAIL,
					 rows[i].nonce);

			pass_time(2 * SECOND);
			learn_quake3();
			flood();
			say(&wraps[w], rows[i].question, rows[i].n, &say_);
			assert_told(want, (size_t)n);
			say(&wraps[w], BYTES(OOB "getstatus\n"), &say_);
			assert_told(BYTES(STATUS));
		}
	}
	assert_int_equal(
		counter_of(DIRECTION_C2S, KIND_GETINFO, REASON_CACHED_KNOWN).packets,
		COUNT(wraps) * COUNT(rows));
	assert_int_equal(counter_of(DIRECTION_S2C, KIND_INFORESPONSE,
				    REASON_CACHED_RESPONSE)
				 .packets,
			 COUNT(wraps) * COUNT(rows));
}

/* A head of odd length, a tail of odd length, and nonces of any: each sum is right. */
static void any_length_has_its_checksum(void **state)
{
	char reply[CACHE_TEXT], question[80], want[CACHE_TEXT], nonce[40];

	(void)state;
	answers(FAMILY_QUAKE3, CACHE_UNDER_LOAD);
	know_both();
	for (size_t head = 1; head < 40; head++) {
		int n = snprintf(reply, sizeof(reply),
				 OOB "infoResponse\n%.*s" SHORT_NONCE "%.*s", (int)head,
				 "qwertyuiopasdfghjklzxcvbnm0123456789QWERTYUIO",
				 (int)(40 - head / 2),
				 "MNBVCXZLKJHGFDSAPOIUYTREWQ9876543210mnbvcxz");

		pass_time(2 * SECOND);
		learn(FAMILY_QUAKE3, 0, SHORT_NONCE, reply, (size_t)n);
		flood();
		snprintf(nonce, sizeof(nonce), "%.*s", (int)(1 + head % 32),
			 "0987654321zyxwvutsrqponmlkjihgfedcba");
		snprintf(question, sizeof(question), OOB "getinfo %s", nonce);
		n = snprintf(want, sizeof(want), OOB "infoResponse\n%.*s%s%.*s",
			     (int)head, "qwertyuiopasdfghjklzxcvbnm0123456789QWERTYUIO",
			     nonce, (int)(40 - head / 2),
			     "MNBVCXZLKJHGFDSAPOIUYTREWQ9876543210mnbvcxz");
		say(&wraps[head % COUNT(wraps)], question, strlen(question), &say_);
		assert_told(want, (size_t)n);
	}
}

/* The largest that fits one frame; where an octet more cannot be cut, it is not learnt.
 */
static void the_largest(void **state)
{
	static char reply[CACHE_TEXT + 1] = OOB "statusResponse\n";
	const struct cache_request *forms;
	struct cache_entry t;
	size_t count;

	(void)state;
	memset(reply + 19, 'x', sizeof(reply) - 19);
	answers(FAMILY_QUAKE3, CACHE_UNDER_LOAD);
	know_both();
	learn(FAMILY_QUAKE3, 3, "", reply, CACHE_TEXT);
	for (size_t w = 0; w < COUNT(wraps); w++) {
		flood();
		say(&wraps[w], BYTES(OOB "getstatus"), &say_);
		if (wraps[w].ipv6) {
			/* There it is too long, and has no place at which to cut it. */
			assert_int_not_equal(say_.action, XDP_TX);
			continue;
		}
		assert_told(reply, CACHE_TEXT);
		assert_true(say_.n <= 1514 + 8);
	}
	forms = cache_requests(FAMILY_QUAKE3, &count);
	assert_non_null(cache_entry_make(FAMILY_QUAKE3, &forms[3], "", 0, reply,
					 CACHE_TEXT + 1, CACHE_TEXT, 1, &t));
}

/*
 * The list of @reply's players is cut at the end of a line, so that the answer fills a
 * frame of 1500 octets and no more; a NUL behind the list stays.
 */
static void list_told(enum wire_family family, size_t form, const char *question,
		      const char *head, bool nul)
{
	static const struct frame_spec other = { .from = "198.51.100.7" };
	char reply[4096], want[CACHE_TEXT + 1];
	size_t line, n = (size_t)sprintf(reply, "%s\\hostname\\full\n", head);

	for (int i = 0; i < 90; i++)
		n += (size_t)sprintf(reply + n, "%d 50 \"player %d of this\"\n", i, i);
	answers(family, CACHE_UNDER_LOAD);
	know_both();
	learn(family, form, "", reply, n + nul);
	for (size_t w = 0; w < COUNT(wraps); w++) {
		size_t most = wraps[w].ipv6 ? CACHE_TEXT - CACHE_IPV6 : CACHE_TEXT;

		line = most - nul;
		while (reply[line - 1] != '\n')
			line--;
		memcpy(want, reply, line);
		want[line] = 0;
		for (int i = 0; i < 4; i++)
			say(&other, question, strlen(question), &say_);
		say(&wraps[w], question, strlen(question), &say_);
		assert_told(want, line + nul);
		assert_in_range(say_.n - say_.offset, most - 24, most);
	}
}

static void list_of_players_is_cut_to_fit(void **state)
{
	(void)state;
	list_told(FAMILY_QUAKE3, 3, OOB "getstatus", OOB "statusResponse\n", false);
	list_told(FAMILY_QUAKEWORLD, 2, OOB "status 23", OOB "n", true);
	list_told(FAMILY_QUAKEWORLD, 2, OOB "status 23", OOB "n", false);
	list_told(FAMILY_QUAKE2, 3, OOB "status", OOB "print\n", false);
	list_told(FAMILY_NETQUAKE, 3, OOB "getstatus", OOB "statusResponse\n", false);
}

/* What is longer than nearly all paths carry may be fragmented, and has an id for that.
 */
static void long_answer_may_be_fragmented(void **state)
{
	static char reply[ANSWER_LONG + 2] = OOB "statusResponse\n";
	unsigned int ids = 0;

	(void)state;
	memset(reply + 19, 'x', sizeof(reply) - 19);
	answers(FAMILY_QUAKE3, CACHE_UNDER_LOAD);
	know_both();
	for (size_t more = 0; more < 2; more++) {
		learn(FAMILY_QUAKE3, 3, "", reply, ANSWER_LONG + more);
		for (int i = 0; i < 4; i++) {
			flood();
			say(&wraps[0], BYTES(OOB "getstatus"), &say_);
			assert_told(reply, ANSWER_LONG + more);
			assert_int_equal(word_at(say_.frame + 20), more ? 0 : 0x4000);
			ids |= word_at(say_.frame + 18);
		}
		assert_int_equal(ids != 0, more);
	}
}

static void short_ones_leave_nothing_behind(void **state)
{
	(void)state;
	answers(FAMILY_QUAKEWORLD, CACHE_UNDER_LOAD);
	know_both();
	learn(FAMILY_QUAKEWORLD, 4, "", BYTES("l"));
	for (int i = 0; i < 3; i++)
		say(&wraps[0], BYTES(OOB "ping\n"), &say_);
	for (size_t w = 0; w < COUNT(wraps); w++) {
		say(&wraps[w], BYTES(OOB "ping\n"), &say_);
		assert_told(BYTES("l"));
	}
}

/* A checksum that comes to nought is written as ones: nought says that there is none. */
static void a_checksum_of_nought_is_ones(void **state)
{
	(void)state;
	answers(FAMILY_QUAKEWORLD, CACHE_UNDER_LOAD);
	know_both();
	learn(FAMILY_QUAKEWORLD, 4, "", BYTES("l"));
	for (size_t w = 0; w < 2; w++) {
		struct frame_spec spec = wraps[w];

		spec.sport = 1000;
		flood();
		say(&spec, BYTES(OOB "ping\n"), &say_);
		assert_told(BYTES("l"));
		/* As much more in the port as there is less in the sum. */
		spec.sport =
			(__u16)((1000 + word_at(say_.frame + say_.offset - 2)) % 0xffff);
		assert_true(spec.sport);
		say(&spec, BYTES(OOB "ping\n"), &say_);
		assert_told(BYTES("l"));
		assert_int_equal(word_at(say_.frame + say_.offset - 2), 0xffff);
	}
}

/* As far as a server's own answer would come. */
static void answers_live_as_long_as_others(void **state)
{
	static const size_t hops_at[] = { 28 - 8, 48 - 7 }; /* before the payload */

	(void)state;
	answers(FAMILY_QUAKE3, CACHE_UNDER_LOAD);
	know_both();
	learn_quake3();
	for (size_t w = 0; w < COUNT(hops_at); w++) {
		flood();
		say(&wraps[w], BYTES(OOB "getstatus"), &say_);
		assert_told(BYTES(STATUS));
		assert_int_equal(say_.frame[say_.offset - hops_at[w]], 64);
	}
}

/* As without answers: dropped here, since the budget is spent. */
static void what_is_not_known_is_not_answered(void **state)
{
	static const struct {
		const char *text;
		size_t n;
	} rows[] = {
		{ BYTES(OOB "getinfo") }, /* no template of it */
		{ BYTES(OOB "getinfo ") },
		{ BYTES(OOB "getinfo a b") },
		{ BYTES(OOB "getinfo a\\b") },
		{ BYTES(OOB "getinfo \"a\"") },
		{ BYTES(OOB "getinfo a\0b") },
		{ BYTES(OOB "getinfo abcdefghijklmnopqrstuvwxyz-_.3456") },
		{ BYTES(OOB "getstatus x") },
		{ BYTES(OOB "getstatus\n\n\n") },
		{ BYTES(OOB "GETSTATUS") },
		{ BYTES(OOB "getchallenge") },
	};
	static const struct frame_spec odd[] = {
		{ .options = 1 },
		{ .ipv6 = true, .exts = { 60 }, .ext_count = 1 },
		{ .ipv6 = true, .fragment = true },
	};

	(void)state;
	answers(FAMILY_QUAKE3, CACHE_UNDER_LOAD);
	know_both();
	learn_quake3();
	flood();
	for (size_t i = 0; i < COUNT(rows) - 1; i++) {
		say(&wraps[0], rows[i].text, rows[i].n, &say_);
		if (say_.action != XDP_DROP)
			print_error("row %zu\n", i);
		assert_int_equal(say_.action, XDP_DROP);
	}
	say(&wraps[0], rows[COUNT(rows) - 1].text, rows[COUNT(rows) - 1].n, &say_);
	assert_int_equal(say_.action, XDP_PASS);
	for (size_t i = 0; i < COUNT(odd); i++) {
		say(&odd[i], BYTES(OOB "getstatus"), &say_);
		assert_int_equal(say_.action, XDP_DROP);
	}
}

static void none_is_older_than_it_may_be(void **state)
{
	(void)state;
	answers(FAMILY_QUAKE3, CACHE_UNDER_LOAD);
	know_both();
	learn_quake3();
	for (int second = 0; second < 8; second++) {
		flood();
		say(&wraps[0], BYTES(OOB "getstatus"), &say_);
		assert_int_equal(say_.action, second < 6 ? XDP_TX : XDP_DROP);
		pass_time(SECOND);
	}
}

static void always_is_always(void **state)
{
	(void)state;
	answers(FAMILY_QUAKE3, CACHE_ALWAYS);
	say(&wraps[0], BYTES(OOB "getstatus"), &say_);
	assert_int_equal(say_.action, XDP_PASS); /* there is none yet */
	pass_time(2 * SECOND);
	learn_quake3();
	say(&wraps[0], BYTES(OOB "getstatus"), &say_);
	assert_told(BYTES(STATUS));
	assert_int_equal(counter_of(DIRECTION_C2S, KIND_GETSTATUS,
				    REASON_CACHED_IN_LIMITS)
				 .packets,
			 1);
}

/* Without an answer to be had the budget is that of who proved itself, where one did. */
static void always_spends_no_more_beside_the_proven(void **state)
{
	struct service s;

	(void)state;
	for (int proven = 0; proven < 2; proven++) {
		int passed = 0;

		answers(FAMILY_QUAKE3, CACHE_ALWAYS);
		s = kern.live->tables[0].services[0];
		s.validation = VALIDATION_UNDER_LOAD;
		s.budget[CLASS_QUERY].service = kern_rate(100, 100);
		s.budget[CLASS_QUERY].source = kern_rate(1, 3);
		kern_service(&kern, 0, 0, &s);
		if (proven)
			reputation_note(&kern.live->cache.reputation, net_of("10.1.1.1"),
					60, REPUTATION_VALIDATED,
					reputation_minute(kern.live->clock_ns),
					kern.live->keys);
		for (int i = 0; i < 5; i++) {
			struct frame_spec each = { .from = "10.1.1.1",
						   .sport = (__u16)(1000 + i) };

			say(&each, BYTES(OOB "getstatus"), &say_);
			passed += say_.action == XDP_PASS;
		}
		assert_int_equal(passed, proven ? 1 : 3);
	}
}

static void off_and_observed_is_off(void **state)
{
	struct service s;

	(void)state;
	answers(FAMILY_QUAKE3, CACHE_OFF);
	know_both();
	learn_quake3();
	flood();
	say(&wraps[0], BYTES(OOB "getstatus"), &say_);
	assert_int_equal(say_.action, XDP_DROP);
	answers(FAMILY_QUAKE3, CACHE_ALWAYS);
	s = kern.live->tables[0].services[0];
	s.observe = 1;
	kern_service(&kern, 0, 0, &s);
	know_both();
	learn_quake3();
	say(&wraps[0], BYTES(OOB "getstatus"), &say_);
	assert_int_equal(say_.action, XDP_PASS);
}

/* --- who writes while it is sent -------------------------------------------------- */

#define TORN_ROUNDS 200000

static volatile bool torn_stop;

/* Three, so that each half of the pair gets another each time: one that got the same
 * again would not show that it was written while it was read. */
#define TORN_TEXTS	    3
#define TORN_LENGTH(letter) (1000u + 150u * ((letter) - 'a'))
#define TORN_BURST \
	8 /* exchanges without a pause: more than one while an answer is sent */

static void *flip(void *context)
{
	static struct cache_entry texts[TORN_TEXTS];
	static char text[CACHE_TEXT] = OOB "statusResponse\n";
	struct cache_pair *pair = &kern.live->cache.entries[3];
	struct timespec pause = { .tv_nsec = 20000 };
	const struct cache_request *forms;
	size_t count;

	(void)context;
	forms = cache_requests(FAMILY_QUAKE3, &count);
	for (int i = 0; i < TORN_TEXTS; i++) {
		memset(text + 19, 'a' + i, sizeof(text) - 19);
		cache_entry_make(FAMILY_QUAKE3, &forms[3], "", 0, text,
				 TORN_LENGTH('a' + i), CACHE_TEXT, kern.live->clock_ns,
				 &texts[i]);
	}
	for (unsigned int turn = 0; !torn_stop; turn++) {
		__u64 generation = pair->generation;

		pair->half[(generation + 1) & 1] = texts[turn % TORN_TEXTS];
		__atomic_store_n(&pair->generation, generation + 1, __ATOMIC_SEQ_CST);
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		if (turn % TORN_BURST == 0)
			nanosleep(&pause, NULL);
	}
	return NULL;
}

static void no_answer_is_torn(void **state)
{
	const char *text = getenv("ANSWERS");
	unsigned long rounds = text ? strtoul(text, NULL, 10) : TORN_ROUNDS, told = 0;
	__u64 before;
	pthread_t writer;

	(void)state;
	answers(FAMILY_QUAKE3, CACHE_UNDER_LOAD);
	kern_list_as(&kern, true, "192.0.2.1", 128, LIST_RUNTIME_UNLIMITED);
	flood();
	torn_stop = false;
	before = kern.live->cache.entries[3].generation;
	assert_int_equal(pthread_create(&writer, NULL, flip, NULL), 0);
	for (unsigned long i = 0; i < rounds; i++) {
		say(&wraps[0], BYTES(OOB "getstatus"), &say_);
		if (say_.action != XDP_TX)
			continue;
		told++;
		said_parse(&say_); /* the checksum is that of what was sent */
		for (size_t at = 20; at < say_.length; at++)
			if (say_.text[at] != say_.text[19])
				fail_msg("torn at %zu", at);
		assert_int_equal(say_.length, TORN_LENGTH(say_.text[19]));
	}
	torn_stop = true;
	pthread_join(writer, NULL);
	print_message("%lu answers, %llu flips, none torn\n", told,
		      kern.live->cache.entries[3].generation - before);
	assert_true(told > rounds / 2);
}
/* A master's name can be forged: its prefix pays, as at egress. */
static void a_master_has_no_account_of_its_own(void **state)
{
	static const char *const addresses[] = { "192.0.2.66", "192.0.2.67" };
	static char reply[900] = OOB "statusResponse\n";
	unsigned int told[COUNT(addresses)] = { 0 };

	(void)state;
	memset(reply + 19, 'x', sizeof(reply) - 19);
	answers(FAMILY_QUAKE3, CACHE_UNDER_LOAD);
	for (size_t i = 0; i < COUNT(addresses); i++) {
		struct frame_spec asker = { .from = addresses[i] };

		link_.peer = addresses[i];
		if (i == 1)
			assert_true(says(BYTES(OOB "heartbeat QuakeArena-1\n")));
		else
			kern_list(&kern, true, addresses[i], 128);
		memset(kern.live->source_due_ns, 0, sizeof(kern.live->source_due_ns));
		amplification(2048, 2000);
		learn(FAMILY_QUAKE3, 3, "", reply, sizeof(reply));
		flood();
		for (int n = 0; n < 8; n++) {
			say(&asker, BYTES(OOB "getstatus"), &say_);
			told[i] += say_.action == XDP_TX;
		}
	}
	assert_int_equal(told[0], 8);
	assert_int_equal(told[1], 2);
	link_.peer = PEER;
	kern.live->lists = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_server_says_word_for_word),
		cmocka_unit_test(any_length_has_its_checksum),
		cmocka_unit_test(the_largest),
		cmocka_unit_test(list_of_players_is_cut_to_fit),
		cmocka_unit_test(long_answer_may_be_fragmented),
		cmocka_unit_test(short_ones_leave_nothing_behind),
		cmocka_unit_test(a_checksum_of_nought_is_ones),
		cmocka_unit_test(answers_live_as_long_as_others),
		cmocka_unit_test(what_is_not_known_is_not_answered),
		cmocka_unit_test(none_is_older_than_it_may_be),
		cmocka_unit_test(always_is_always),
		cmocka_unit_test(always_spends_no_more_beside_the_proven),
		cmocka_unit_test(off_and_observed_is_off),
		cmocka_unit_test(no_answer_is_torn),
		cmocka_unit_test(a_master_has_no_account_of_its_own),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
