// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Many servers on one host, on a quiet day: a tracker that asks each of them is answered,
 * and a victim in whose name they are all asked is sent no more than is said.
 * stubs: shield_cache shield_joined
 */
#include "config/config.h"
#include "kern/kern_answers.h"

#define STATUS_BYTES 850 /* of a server with a dozen players */

static char status_[STATUS_BYTES] = OOB "statusResponse\n";
static struct config config;

/* @count servers, of services that share slots: their own limits are not what is asked.
 */
static void host(int count)
{
	struct service s = kern_open_service(FAMILY_QUAKE3);

	config_empty(&config);
	config.service_count = (size_t)count;
	for (int i = 0; i < count; i++) {
		config.services[i].port_count = 1;
		kern_service(&kern, 0, (__u32)i % 8, &s);
		kern_port(&kern, 0, (__u16)(PORT + i), i % 8, false);
	}
	kern.live->cache.until_ns[0] = 0;
	amplification(config_allowance(&config), AMPLIFICATION_REFILL_S);
	pass_time(1000 * SECOND);
}

/*
 * Return whether server @i answers a question from @from. The counters are not read for
 * each of the 60,000 questions: other tests hold that one of them moves.
 */
static bool answered(const char *from, int i)
{
	struct frame_spec question = { .payload = OOB "getstatus",
				       .n = sizeof(OOB "getstatus") - 1,
				       .sport = 50000,
				       .dport = (__u16)(PORT + i),
				       .from = from,
				       .to = HOST };
	__u8 frame[FRAME_MAX];

	link_.peer = from;
	link_.sport = question.dport;
	link_.dport = question.sport;
	kern_action(&kern, frame, frame_build(&question, frame));
	return says(status_, sizeof(status_));
}

static void tracker_is_answered_by_each_server(void **state)
{
	static const int counts[] = { 1, 8, 9, 16, 64, 200, 256 };

	(void)state;
	for (size_t c = 0; c < COUNT(counts); c++) {
		int count = counts[c], got = 0;

		host(count);
		for (int round = 0; round < 20; round++) {
			for (int i = 0; i < count; i++) {
				pass_time(15 * SECOND / (__u64)count);
				got += answered("198.19.7.7", i);
			}
		}
		print_message("%d servers: %d of %d\n", count, got, 20 * count);
		assert_int_equal(got, 20 * count);
	}
}

/* As fast as it can be asked: bytes out beyond bytes in are the allowance and no more. */
static void victim_is_sent_no_more_than_is_said(void **state)
{
	static const int counts[] = { 1, 8, 64, 200, 256 };
	static const double most[] = { 1, 1, 8, 25, 32 };

	(void)state;
	for (size_t c = 0; c < COUNT(counts); c++) {
		double out = 0, in = 0, seconds = 100;

		host(counts[c]);
		for (int step = 0; step < 10000; step++) {
			pass_time(SECOND / 100);
			in += 60;
			out += answered("198.19.9.9", step % counts[c])
				       ? STATUS_BYTES + 42
				       : 0;
		}
		print_message("%d servers: %.0f B out, %.0f B in\n", counts[c], out, in);
		assert_true(out - in <= most[c] * AMPLIFICATION_ALLOWANCE *
						(1 + seconds / AMPLIFICATION_REFILL_S) *
						1.02);
		assert_true(out > in + most[c] * AMPLIFICATION_ALLOWANCE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tracker_is_answered_by_each_server),
		cmocka_unit_test(victim_is_sent_no_more_than_is_said),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
