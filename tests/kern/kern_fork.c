// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * kern_fork.c - two trials that begin where a loaded shield is: both know what it knows,
 * the second one follows another configuration, and the shield does not change.
 * stubs: shield_cache shield_joined
 */
#include <sys/file.h>
#include <unistd.h>

#include "kern/kern_explain.h"

#define CONNECT OOB "connect \"\\protocol\\71\\qport\\4660\\challenge\\5\""

static struct trial *forks[2];
/* Trials do without these in `make quick`: no packet leaves through them. */
static const char *stubs = "shield_cache shield_out shield_joined";
static int begun; /* what the function returns that is called before the copy */

static int begins(void *context)
{
	int *calls = context;

	(*calls)++;
	return begun;
}

static int fork_now(void)
{
	__u64 now_ns = 0;
	int calls = 0, err;

	if (getenv("TEST_STUBS"))
		setenv("TEST_STUBS", stubs, 1);
	err = trial_fork(&shield, config, begins, &calls, forks, &now_ns);

	assert_int_equal(calls, 1);
	if (!err)
		assert_int_equal(now_ns, kern.live->clock_ns);
	return err;
}

static void forks_close(void)
{
	trial_close(forks[0]);
	trial_close(forks[1]);
}

/* Return the trial's verdict on a datagram that arrives. */
static struct trial_verdict judge(struct trial *t, const char *from, __u16 port,
				  const char *payload, size_t n)
{
	const struct frame_spec s = { .payload = payload,
				      .n = n,
				      .from = from,
				      .to = HOST,
				      .sport = port,
				      .dport = PORT };
	__u8 frame[FRAME_MAX];
	struct trial_verdict v;

	assert_int_equal(trial_run(t, false, frame, frame_build(&s, frame), &v), 0);
	assert_true(v.judged);
	return v;
}

/* A service with room for three queries of a source; the other file leaves it one. */
static struct config_service *stricter(void)
{
	struct service s = wide();
	struct config_service *c = add("ffa", PORT);

	s.budget[CLASS_QUERY].source = kern_rate(1, 3);
	serve_as(&s);
	c->service = s;
	c->service.budget[CLASS_QUERY].source = kern_rate(1, 1);
	return c;
}

static void limits_go_on_and_the_shield_is_left_alone(void **state)
{
	struct live *before = malloc(sizeof(*before));

	(void)state;
	assert_non_null(before);
	stricter();
	ask(PEER, HERE);
	ask(PEER, HERE);
	memcpy(before, kern.live, sizeof(*before));
	assert_int_equal(fork_now(), 0);
	for (int i = 0; i < 2; i++) {
		struct trial_verdict v =
			judge(forks[0], PEER, HERE, BYTES(OOB "getstatus"));

		assert_int_equal(v.reason,
				 i ? REASON_SOURCE_LIMIT : REASON_WITHIN_LIMITS);
		assert_int_equal(v.passes, !i);
		v = judge(forks[1], PEER, HERE, BYTES(OOB "getstatus"));
		assert_int_equal(v.reason, REASON_SOURCE_LIMIT);
		v = judge(forks[1], ELSEWHERE, HERE, BYTES(OOB "getstatus"));
		assert_int_equal(v.reason,
				 i ? REASON_SOURCE_LIMIT : REASON_WITHIN_LIMITS);
	}
	assert_memory_equal(before, kern.live, sizeof(*before));
	forks_close();
	free(before);
}

static void players_play_on_and_lists_hold(void **state)
{
	static const char move[] = "\x28\0\0\0\x34\x12\0\0\0\0abcdefgh";

	(void)state;
	stricter();
	play_on();
	kern_list(&kern, false, ELSEWHERE, 128);
	assert_true(cidr_parse("192.0.2.0/24", &config->deny[config->deny_count++]));
	assert_int_equal(fork_now(), 0);
	assert_int_equal(judge(forks[0], PEER, HERE, move, sizeof(move) - 1).reason,
			 is_player(PEER, HERE, move, sizeof(move) - 1)
				 ? REASON_PLAYER
				 : REASON_PLAYER_MISMATCH);
	assert_int_equal(judge(forks[0], ELSEWHERE, 9, BYTES(OOB "getstatus")).reason,
			 REASON_DENY_LIST);
	assert_int_equal(judge(forks[1], PEER, HERE, move, sizeof(move) - 1).reason,
			 REASON_DENY_LIST);
	forks_close();
}

static void a_client_is_caught_up_with(void **state)
{
	struct trial_client client = { .port = HERE };
	struct config_service *c = stricter();
	struct cookie_peer peer = { { 0 } };

	(void)state;
	kern_address(PEER, client.address);
	c->service.validation = VALIDATION_ALWAYS;
	assert_int_equal(fork_now(), 0);
	assert_false(trial_catch_up(forks[0], &shield, 0, &client));
	assert_int_equal(judge(forks[1], PEER, HERE, BYTES(OOB "getchallenge 1")).reason,
			 REASON_CHALLENGED);
	assert_int_equal(judge(forks[1], PEER, HERE, BYTES(OOB "getstatus")).reason,
			 REASON_WITHIN_LIMITS);
	memcpy(peer.word, client.address, sizeof(client.address));
	peer.word[2] = htons(HERE);
	validated_enter(&kern.live->validation.validated, &peer, kern.live->keys,
			kern.live->clock_ns)
		->flags = VALIDATED_COOKIE;
	assert_true(trial_catch_up(forks[1], &shield, 0, &client));
	assert_int_equal(judge(forks[1], PEER, HERE, BYTES(CONNECT)).reason,
			 REASON_VALIDATED);
	kern_address(NEIGHBOUR, client.address);
	trial_validate(forks[1], 0, &client);
	assert_int_equal(judge(forks[1], NEIGHBOUR, HERE, BYTES(CONNECT)).reason,
			 REASON_VALIDATED);
	forks_close();
}

static void a_fork_that_cannot_begin_leaves_nothing(void **state)
{
	(void)state;
	stricter();
	begun = -EPERM;
	stubs = "shield shield_validate shield_cache shield_out shield_joined";
	assert_int_equal(fork_now(), -EPERM);
	begun = 0;
}

/* The lock is held by another open file, as by the daemon. */
static void nothing_waits_for_a_fork(void **state)
{
	int other = own_lock_again(shield.lock);

	(void)state;
	stricter();
	assert_true(other >= 0);
	assert_int_equal(flock(other, LOCK_EX | LOCK_NB), 0);
	alarm(60);
	assert_int_equal(fork_now(), 0);
	alarm(0);
	close(other);
	forks_close();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(limits_go_on_and_the_shield_is_left_alone),
		TEST(players_play_on_and_lists_hold),
		TEST(a_client_is_caught_up_with),
		TEST(nothing_waits_for_a_fork),
		TEST(a_fork_that_cannot_begin_leaves_nothing),
	};

	return explain_tests(tests, COUNT(tests));
}
