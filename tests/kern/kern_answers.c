// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Answers from the kernel: what is sent, octet by octet, to whom, who pays, and what
 * happens where there is no answer to be had.
 */
#include <pthread.h>

#include "answer/ask.h"
#include "kern/kern_proof.h"

#define INFO_HEAD   OOB "infoResponse\n\\game\\base\\challenge\\"
#define INFO_TAIL   "\\hostname\\lab\\mapname\\q3dm17\\gametype\\0"
#define STATUS	    OOB "statusResponse\n\\version\\x\n1 50 \"a\"\n22 48 \"bc\"\n"
#define SHORT_NONCE "abcDEF012"
#define LEDGER	    16384

static struct said say_;

/* What the server said to question @form with @nonce becomes what is answered. */
static void learn(enum wire_family family, size_t form, const char *nonce,
		  const char *reply, size_t n)
{
	struct template_pair *pair = &kern.live->answering.templates[form];
	const struct ask_form *forms;
	size_t count;

	forms = ask_forms(family, &count);
	assert_true(form < count);
	assert_null(ask_template(family, &forms[form], nonce, strlen(nonce), reply, n,
				 kern.live->clock_ns,
				 &pair->half[~pair->generation & 1]));
	pair->generation++;
}

static void learn_quake3(void)
{
	learn(FAMILY_QUAKE3, 0, SHORT_NONCE, BYTES(INFO_HEAD SHORT_NONCE INFO_TAIL));
	learn(FAMILY_QUAKE3, 3, "", BYTES(STATUS));
}

/* A service that has a budget for one question, and answers. */
static void answers(enum wire_family family, enum answering when)
{
	struct service s = kern_open_service(family);
	static const struct known_table nobody;
	static const struct recall_line empty;

	s.answers = (__u8)when;
	s.budget[CLASS_QUERY].global = kern_rate(1, 1);
	kern_service(&kern, 0, 0, &s);
	kern_port(&kern, 0, PORT, 0, false);
	pass_time(1000 * SECOND);
	memset(kern.live->answering.templates, 0, 64 * sizeof(struct template_pair));
	kern.live->answering.known = nobody;
	for (size_t i = 0; i < 1 << RECALL_BITS; i++)
		kern.live->answering.recall.lines[i] = empty;
	kern.live->answering.until_ns[0] = 0;
	kern.live->answering.cap = (struct answer_cap){ 0 };
	kern.live->lists = 0;
	kern.live->ledger = (struct ledger){ 0 };
}

static __u64 net_of(const char *address)
{
	__be32 addr[4];

	kern_address(address, addr);
	return addr[0] ? (__u64)ntohl(addr[0]) << 32 | ntohl(addr[1]) : ntohl(addr[3]);
}

/* As if @address had asked on three quiet minutes, with 64 hops left. */
static void know(const char *address)
{
	__u32 minute = known_minute(kern.live->clock_ns);

	for (__u32 ago = 3; ago; ago--)
		known_note(&kern.live->answering.known, net_of(address), 64, 0,
			   minute - ago, kern.live->keys);
}

static void know_both(void)
{
	know("192.0.2.1");
	know("2001:db8:1::1");
}

/* The budget is spent, by somebody else, never the same. */
static void flood(void)
{
	static unsigned int others;
	char address[20];
	struct frame_spec other = { .from = address };

	snprintf(address, sizeof(address), "10.%u.%u.%u", others >> 16, others >> 8 & 255,
		 others & 255);
	others++;
	for (int i = 0; i < 4; i++)
		say(&other, BYTES(OOB "getstatus"), &say_);
	assert_int_equal(say_.action, XDP_DROP);
}

static void assert_told(const char *text, size_t n)
{
	assert_answer(&say_, 2000);
	assert_int_equal(say_.length, n);
	assert_memory_equal(say_.text, text, n);
}

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
	answers(FAMILY_QUAKE3, ANSWERS_PRESSURE);
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
	assert_int_equal(tally_of(DIRECTION_C2S, KIND_GETINFO, REASON_TO_KNOWN).packets,
			 COUNT(wraps) * COUNT(rows));
	assert_int_equal(
		tally_of(DIRECTION_S2C, KIND_INFORESPONSE, REASON_TEMPLATE).packets,
		COUNT(wraps) * COUNT(rows));
}

/* A head of odd length, a tail of odd length, and nonces of any: each sum is right. */
static void any_length_has_its_checksum(void **state)
{
	char reply[TEMPLATE_TEXT], question[80], want[TEMPLATE_TEXT], nonce[40];

	(void)state;
	answers(FAMILY_QUAKE3, ANSWERS_PRESSURE);
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

/* The largest that fits one frame; one octet more is not learnt. */
static void the_largest(void **state)
{
	static char reply[TEMPLATE_TEXT + 1] = OOB "statusResponse\n";
	const struct ask_form *forms;
	struct template t;
	size_t count;

	(void)state;
	memset(reply + 19, 'x', sizeof(reply) - 19);
	answers(FAMILY_QUAKE3, ANSWERS_PRESSURE);
	know_both();
	learn(FAMILY_QUAKE3, 3, "", reply, TEMPLATE_TEXT);
	for (size_t w = 0; w < COUNT(wraps); w++) {
		flood();
		say(&wraps[w], BYTES(OOB "getstatus"), &say_);
		assert_told(reply, TEMPLATE_TEXT);
		assert_true(say_.n <= 1514 + 8);
	}
	forms = ask_forms(FAMILY_QUAKE3, &count);
	assert_non_null(ask_template(FAMILY_QUAKE3, &forms[3], "", 0, reply,
				     TEMPLATE_TEXT + 1, 1, &t));
}

static void short_ones_leave_nothing_behind(void **state)
{
	(void)state;
	answers(FAMILY_QUAKEWORLD, ANSWERS_PRESSURE);
	know_both();
	learn(FAMILY_QUAKEWORLD, 4, "", BYTES("l"));
	for (int i = 0; i < 3; i++)
		say(&wraps[0], BYTES(OOB "ping\n"), &say_);
	for (size_t w = 0; w < COUNT(wraps); w++) {
		say(&wraps[w], BYTES(OOB "ping\n"), &say_);
		assert_told(BYTES("l"));
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
	};

	(void)state;
	answers(FAMILY_QUAKE3, ANSWERS_PRESSURE);
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
	answers(FAMILY_QUAKE3, ANSWERS_PRESSURE);
	know_both();
	learn_quake3();
	for (int second = 0; second < 8; second++) {
		flood();
		say(&wraps[0], BYTES(OOB "getstatus"), &say_);
		assert_int_equal(say_.action, second < 6 ? XDP_TX : XDP_DROP);
		pass_time(SECOND);
	}
}

/* On a quiet day the server answers; who asks in three minutes of it gets known. */
static void quiet_days_make_known(void **state)
{
	struct frame_spec far = { .from = "192.0.2.9" };

	(void)state;
	answers(FAMILY_QUAKE3, ANSWERS_PRESSURE);
	/* From the beginning of a minute on, or two seconds could be two of them. */
	pass_time((1ull << KNOWN_SHIFT) - kern.live->clock_ns % (1ull << KNOWN_SHIFT));
	for (int minute = 0; minute < 3; minute++) {
		learn_quake3();
		if (minute == 2) {
			flood();
			say(&wraps[0], BYTES(OOB "getstatus"), &say_);
			assert_int_equal(say_.action, XDP_DROP);
			pass_time(11 * SECOND);
		}
		/* Twice in a minute is once. */
		for (int i = 0; i < 2; i++) {
			say(&wraps[0], BYTES(OOB "getstatus"), &say_);
			assert_int_equal(say_.action, XDP_PASS);
			pass_time(2 * SECOND);
		}
		say(&wraps[1], BYTES(OOB "getstatus"), &say_);
		assert_int_equal(say_.action, XDP_PASS);
		pass_time(1ull << KNOWN_SHIFT);
	}
	learn_quake3();
	flood();
	for (int w = 0; w < 2; w++) {
		say(&wraps[w], BYTES(OOB "getstatus"), &say_);
		assert_told(BYTES(STATUS));
	}
	say(&far, BYTES(OOB "getstatus"), &say_);
	assert_int_equal(say_.action, XDP_DROP);
}

/* Frames say 64 hops; from elsewhere they say something else. */
static void known_is_who_is_as_far_as_it_was(void **state)
{
	(void)state;
	answers(FAMILY_QUAKE3, ANSWERS_PRESSURE);
	learn_quake3();
	for (__u32 hops = 55; hops < 75; hops++) {
		__u32 minute = known_minute(kern.live->clock_ns);

		memset(&kern.live->answering.known, 0,
		       sizeof(kern.live->answering.known));
		for (__u32 ago = 4; ago; ago--)
			known_note(&kern.live->answering.known, net_of("192.0.2.1"), hops,
				   0, minute - ago, kern.live->keys);
		pass_time(SECOND / 10);
		kern.live->sources[0] = 0;
		flood();
		memset(kern.live->answering.recall.lines, 0,
		       sizeof(kern.live->answering.recall.lines));
		memset(kern.live->sources, 0, sizeof(kern.live->sources));
		say(&wraps[0], BYTES(OOB "getstatus"), &say_);
		assert_int_equal(say_.action,
				 hops >= 62 && hops <= 66 ? XDP_TX : XDP_DROP);
	}
}

/* A stranger that asks once a second is answered from its third question on. */
static void asking_like_a_browser_helps(void **state)
{
	struct frame_spec fast = { .from = "192.0.2.60" };

	(void)state;
	for (int w = 0; w < 2; w++) {
		answers(FAMILY_QUAKE3, ANSWERS_PRESSURE);
		for (int second = 0; second < 20; second++) {
			learn_quake3();
			flood();
			say(&wraps[w], BYTES(OOB "getstatus"), &say_);
			assert_int_equal(say_.action, second < 2 ? XDP_DROP : XDP_TX);
			pass_time(SECOND);
		}
	}
	/* Ten times a second is no browser. */
	answers(FAMILY_QUAKE3, ANSWERS_PRESSURE);
	for (int tenth = 0; tenth < 100; tenth++) {
		learn_quake3();
		flood();
		say(&fast, BYTES(OOB "getstatus"), &say_);
		if (tenth > 40)
			assert_int_equal(say_.action, XDP_DROP);
		pass_time(SECOND / 10);
	}
}

static void strangers_have_a_cap(void **state)
{
	struct frame_spec one = { 0 };
	char address[20];
	int told = 0;

	(void)state;
	answers(FAMILY_QUAKE3, ANSWERS_PRESSURE);
	/* 1000 bytes a second, a second's worth at once. */
	kern.live->answering.cap = (struct answer_cap){ 1000000, SECOND, 0 };
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
	/* Three seconds' worth and what was saved up, of 96 bytes each. */
	assert_in_range(told, 25, 40);
}

static void the_ledger_always_pays(void **state)
{
	__u64 out = 0, in = 0;

	(void)state;
	answers(FAMILY_QUAKE3, ANSWERS_PRESSURE);
	know_both();
	ledger(LEDGER, 20);
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
	assert_true(out <= in + LEDGER + LEDGER);
	kern.live->ledger.strict = 1;
	kern.live->ledger.byte_ns = 1;
	kern.live->ledger.window_ns = 0;
	memset(kern.live->sources, 0, sizeof(kern.live->sources));
	pass_time(20 * SECOND);
	learn_quake3();
	flood();
	say(&wraps[0], BYTES(OOB "getstatus"), &say_);
	assert_int_equal(say_.action, XDP_DROP);
	assert_true(tally_of(DIRECTION_C2S, KIND_GETSTATUS, REASON_LEDGER).packets > 0);
}

/*
 * One victim in whose name thousands ask, for as long as that looks like a browser: what
 * the ledger refuses pays for no answer, or those that are refused pay for the others.
 */
static void the_refused_pay_for_nothing(void **state)
{
	static char reply[900] = OOB "statusResponse\n";
	struct frame_spec victim = { .from = "192.0.2.66" };
	unsigned int told = 0;

	(void)state;
	memset(reply + 19, 'x', sizeof(reply) - 19);
	answers(FAMILY_QUAKE3, ANSWERS_PRESSURE);
	memset(kern.live->sources, 0, sizeof(kern.live->sources));
	pass_time(60 * SECOND);
	ledger(LEDGER, 20);
	learn(FAMILY_QUAKE3, 3, "", reply, sizeof(reply));
	for (int i = 0; i < 4000; i++) {
		if (i % 100 == 0)
			flood();
		say(&victim, BYTES(OOB "getstatus"), &say_);
		told += say_.action == XDP_TX;
		pass_time(SECOND / 1000);
	}
	assert_true(told > 0);
	assert_true(told <= LEDGER / sizeof(reply) * 5 / 4 + 2);
}

static void the_lists_are_heard(void **state)
{
	struct frame_spec friend = { .from = "192.0.2.33" },
			  foe = { .from = "192.0.2.34" };

	(void)state;
	answers(FAMILY_QUAKE3, ANSWERS_PRESSURE);
	learn_quake3();
	kern_list(&kern, true, "192.0.2.33", 128);
	kern_list(&kern, false, "192.0.2.34", 128);
	flood();
	say(&friend, BYTES(OOB "getstatus"), &say_);
	assert_told(BYTES(STATUS));
	assert_int_equal(
		tally_of(DIRECTION_C2S, KIND_GETSTATUS, REASON_TO_FRIEND).packets, 1);
	know("192.0.2.34");
	say(&foe, BYTES(OOB "getstatus"), &say_);
	assert_int_equal(say_.action, XDP_DROP);
	kern.live->lists = 0;
}

static void always_is_always(void **state)
{
	(void)state;
	answers(FAMILY_QUAKE3, ANSWERS_ALWAYS);
	say(&wraps[0], BYTES(OOB "getstatus"), &say_);
	assert_int_equal(say_.action, XDP_PASS); /* there is none yet */
	pass_time(2 * SECOND);
	learn_quake3();
	say(&wraps[0], BYTES(OOB "getstatus"), &say_);
	assert_told(BYTES(STATUS));
	assert_int_equal(
		tally_of(DIRECTION_C2S, KIND_GETSTATUS, REASON_TO_BUDGET).packets, 1);
}

static void off_and_observed_is_off(void **state)
{
	struct service s;

	(void)state;
	answers(FAMILY_QUAKE3, ANSWERS_OFF);
	know_both();
	learn_quake3();
	flood();
	say(&wraps[0], BYTES(OOB "getstatus"), &say_);
	assert_int_equal(say_.action, XDP_DROP);
	answers(FAMILY_QUAKE3, ANSWERS_ALWAYS);
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

static void *flip(void *context)
{
	static char texts[2][TEMPLATE_TEXT];
	struct timespec pause = { .tv_nsec = 20000 };
	const struct ask_form *forms;
	struct template next;
	size_t count;

	(void)context;
	forms = ask_forms(FAMILY_QUAKE3, &count);
	for (int i = 0; i < 2; i++) {
		memcpy(texts[i], OOB "statusResponse\n", 19);
		memset(texts[i] + 19, 'a' + i, sizeof(texts[i]) - 19);
	}
	for (unsigned int turn = 0; !torn_stop; turn++) {
		struct template_pair *pair = &kern.live->answering.templates[3];
		__u64 generation = pair->generation;

		ask_template(FAMILY_QUAKE3, &forms[3], "", 0, texts[turn & 1],
			     1000 + (turn & 1) * 300, kern.live->clock_ns, &next);
		pair->half[(generation + 1) & 1] = next;
		__atomic_store_n(&pair->generation, generation + 1, __ATOMIC_SEQ_CST);
		if (turn % 4 == 0)
			nanosleep(&pause, NULL);
	}
	return NULL;
}

static void no_answer_is_torn(void **state)
{
	const char *text = getenv("KERN_TORN");
	unsigned long rounds = text ? strtoul(text, NULL, 10) : TORN_ROUNDS, told = 0;
	__u64 before;
	pthread_t writer;

	(void)state;
	answers(FAMILY_QUAKE3, ANSWERS_PRESSURE);
	kern_list_as(&kern, true, "192.0.2.1", 128, LIST_LIVE_UNLIMITED);
	flood();
	torn_stop = false;
	before = kern.live->answering.templates[3].generation;
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
		assert_int_equal(say_.length, say_.text[19] == 'a' ? 1000 : 1300);
	}
	torn_stop = true;
	pthread_join(writer, NULL);
	print_message("%lu answers, %llu flips, none torn\n", told,
		      kern.live->answering.templates[3].generation - before);
	assert_true(told > rounds / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_server_says_word_for_word),
		cmocka_unit_test(any_length_has_its_checksum),
		cmocka_unit_test(the_largest),
		cmocka_unit_test(short_ones_leave_nothing_behind),
		cmocka_unit_test(what_is_not_known_is_not_answered),
		cmocka_unit_test(none_is_older_than_it_may_be),
		cmocka_unit_test(quiet_days_make_known),
		cmocka_unit_test(known_is_who_is_as_far_as_it_was),
		cmocka_unit_test(asking_like_a_browser_helps),
		cmocka_unit_test(strangers_have_a_cap),
		cmocka_unit_test(the_ledger_always_pays),
		cmocka_unit_test(the_refused_pay_for_nothing),
		cmocka_unit_test(the_lists_are_heard),
		cmocka_unit_test(always_is_always),
		cmocka_unit_test(off_and_observed_is_off),
		cmocka_unit_test(no_answer_is_torn),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
