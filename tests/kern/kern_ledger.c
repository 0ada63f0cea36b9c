// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What the amplification limit lets out, in the kernel, both programs together: whole
 * datagrams and fragments, and what answers make requests cost.
 * stubs: shield_cache shield_joined
 */
#include <pthread.h>

#include "kern/kern_game.h"

#include "shield/shield_internal.h"

static const char status[900] = OOB "statusResponse\n";
#define FRAME 42 /* headers in front of a payload */

static void a_prefix_pays_for_what_it_gets(void **state)
{
	__u64 in, out = 0;

	(void)state;
	serve(FAMILY_QUAKE3);
	amplification(8192, 20);
	link_.peer = "192.0.2.200";
	for (int i = 0; i < 20; i++)
		out += says(status, sizeof(status)) ? sizeof(status) + FRAME : 0;
	assert_int_equal(out, 8192 / (sizeof(status) + FRAME) * (sizeof(status) + FRAME));
	assert_false(says(status, sizeof(status)));

	/* Any address of the prefix pays for all of it. */
	in = 0;
	for (int i = 0; i < 17; i++) {
		ask(i % 2 ? "192.0.2.3" : "192.0.2.4", (__u16)(1000 + i));
		in += 13 + FRAME;
	}
	assert_true(in >= sizeof(status) + FRAME - (8192 - out));
	assert_true(says(status, sizeof(status)));

	/* A whole window later the allowance is whole again, and no more than that. */
	for (int window = 0; window < 3; window++) {
		pass_time((window + 1) * 25 * SECOND);
		out = 0;
		for (int i = 0; i < 20; i++)
			out += says(status, sizeof(status));
		assert_int_equal(out, 8192 / (sizeof(status) + FRAME));
	}
}

#define THREADS 4

static struct {
	__u8 bytes[FRAME_MAX];
	size_t n;
} crowd_frame;

static void *leave_often(void *argument)
{
	int *left = argument;

	for (int i = 0; i < 60; i++)
		*left += frame_out(crowd_frame.bytes, crowd_frame.n) == TC_ACT_UNSPEC;
	return NULL;
}

/* However many processors send at once: never one too many; who loses races waits. */
static void a_crowd_shares_one_allowance(void **state)
{
	struct frame_spec s = { .payload = status,
				.n = sizeof(status),
				.sport = PORT,
				.dport = HERE,
				.from = HOST,
				.to = "192.0.2.200" };
	pthread_t threads[THREADS];
	int left[THREADS] = { 0 }, total = 0;

	(void)state;
	serve(FAMILY_QUAKE3);
	amplification(100000, 20);
	crowd_frame.n = frame_build(&s, crowd_frame.bytes);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, leave_often, &left[i]),
				 0);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		total += left[i];
	}
	assert_in_range(total, 0, 100000 / (sizeof(status) + FRAME));
	while (frame_out(crowd_frame.bytes, crowd_frame.n) == TC_ACT_UNSPEC)
		total++;
	assert_in_range(total, 100000 / (sizeof(status) + FRAME) - THREADS,
			100000 / (sizeof(status) + FRAME));
}

static void prefixes_do_not_share(void **state)
{
	static const struct {
		bool ipv6;
		const char *peer;
		bool leaves;
	} rows[] = {
		{ false, "192.0.2.1", true },	     { false, "192.0.2.254", false },
		{ false, "192.0.3.1", true },	     { true, "2001:db8:1::1", true },
		{ true, "2001:db8:1:ff::9", false }, { true, "2001:db8:1:100::1", true },
	};

	(void)state;
	serve(FAMILY_QUAKE3);
	amplification(1000, 20);
	for (size_t i = 0; i < COUNT(rows); i++) {
		link_.ipv6 = rows[i].ipv6;
		link_.peer = rows[i].peer;
		assert_int_equal(says(status, sizeof(status)), rows[i].leaves);
	}
}

#define PREFIXES 4096

/* Two /24s that limit_place() puts into one line. */
static void find_neighbours(char ret[2][INET_ADDRSTRLEN])
{
	static __u32 cells[PREFIXES], nets[PREFIXES];
	__u32 net = 1;

	for (int i = 0; i < PREFIXES; i++) {
		net = net * 1664525 + 1013904223;
		nets[i] = (net >> 8) << 8;
		cells[i] = limit_place(kern.live->keys, nets[i] >> 8, AMPLIFICATION_BITS);
		for (int j = 0; j < i; j++) {
			__be32 pair[2] = { htonl(nets[i] | 1), htonl(nets[j] | 1) };

			if (cells[j] != cells[i] || nets[j] == nets[i])
				continue;
			inet_ntop(AF_INET, &pair[0], ret[0], INET_ADDRSTRLEN);
			inet_ntop(AF_INET, &pair[1], ret[1], INET_ADDRSTRLEN);
			return;
		}
	}
	fail();
}

/* Prefixes are hashed: what one of them has paid must not be spent on another. */
static void a_neighbour_cannot_be_made_to_pay(void **state)
{
	char pair[2][INET_ADDRSTRLEN];

	(void)state;
	serve(FAMILY_QUAKE3);
	amplification(1000, 20);
	find_neighbours(pair);
	link_.peer = pair[0];
	assert_true(says(status, sizeof(status)));
	for (int i = 0; i < 40; i++)
		ask(pair[1], (__u16)(1000 + i));
	assert_false(says(status, sizeof(status)));
}

static void strict_never_gives_more_than_it_got(void **state)
{
	(void)state;
	serve(FAMILY_QUAKE3);
	amplification_strict();
	assert_false(says(BYTES(OOB "print\n")));
	pass_time(3600 * SECOND);
	assert_false(says(BYTES(OOB "print\n")));
	for (int i = 0; i < 18; i++) /* 990 bytes */
		ask(PEER, HERE);
	assert_true(says(status, sizeof(status))); /* 942 */
	assert_true(says(BYTES(OOB "12"))); /* 48 */
	assert_false(says("", 0));
}

static void players_and_friends_are_exempt(void **state)
{
	(void)state;
	serve(FAMILY_QUAKE3);
	amplification(100, 20);
	assert_false(says(status, sizeof(status)));
	for (__u32 i = 1; i < 50; i++)
		assert_true(sent(i));
	assert_false(says(status, sizeof(status))); /* words cost a player too */
	kern_list(&kern, true, PEER, 128);
	assert_true(says(status, sizeof(status)));
}

/* QuakeWorld's chunks of a download go to players without limit, and to no one else. */
static void downloads_of_players_are_exempt(void **state)
{
	char chunk[1030] = OOB "n\\chunk";

	(void)state;
	serve(FAMILY_QUAKEWORLD);
	amplification(100, 20);
	assert_false(says(chunk, sizeof(chunk)));
	assert_true(says(BYTES(OOB "j")));
	for (int i = 0; i < 300; i++)
		assert_true(says(chunk, sizeof(chunk)));
	assert_false(says(status, sizeof(status)));
	link_.dport++; /* another client of that address */
	assert_false(says(chunk, sizeof(chunk)));
	link_.dport--;
	pass_time(3600 * SECOND);
	assert_false(says(chunk, sizeof(chunk)));
}

/* What an administrator asks for, in the game or not, costs as any word does. */
static void remote_console_is_cut_unless_allowed(void **state)
{
	static char print[1000] = OOB "print\n";

	(void)state;
	for (int plays = 0; plays < 2; plays++) {
		int left = 0;

		link_.peer = plays ? STRANGER : PEER;
		link_.dport = (__u16)(HERE + plays);
		serve(FAMILY_QUAKE3);
		amplification(AMPLIFICATION_ALLOWANCE, AMPLIFICATION_REFILL_S);
		if (plays)
			assert_true(sent(1));
		pass_time(SECOND * AMPLIFICATION_REFILL_S);
		assert_int_equal(hear_from(link_.peer, link_.dport,
					   BYTES(OOB "rcon password cvarlist"))
					 .action,
				 XDP_PASS);
		for (int i = 0; i < 32; i++)
			left += says(print, sizeof(print));
		assert_int_equal(left, AMPLIFICATION_ALLOWANCE / (sizeof(print) + FRAME));
		kern_list(&kern, true, link_.peer, 128);
		for (int i = 0; i < 32; i++)
			assert_true(says(print, sizeof(print)));
	}
}

/* As much of the shield as shield_maintain() looks after. */
static struct shield view_of_daemon(void)
{
	return (struct shield){
		.qports = bpf_map__fd(kern.skel->maps.qports),
		.capacity = KERN_SLOTS,
		.shared = kern.live,
	};
}

/* Of the players who are here, those that the daemon follows. */
static void the_followed_are_counted(void **state)
{
	struct shield view = view_of_daemon();

	(void)state;
	kern.live->followed = 77;
	for (__u16 i = 0; i < 7; i++) {
		struct player fresh = { .sent_ns = shield_clock(),
					.flags = i < 3 ? PLAYER_FOLLOWED
						       : PLAYER_VERIFIED };
		struct player_key at;
		struct player_id id;

		if (!i)
			fresh.sent_ns -= PLAYER_IDLE_NS;
		player_at(PEER, (__u16)(HERE + i), &at);
		id = player_id(&at);
		players_enter(&kern.live->players, &id, kern.live->keys, &fresh, 0);
	}
	shield_maintain(&view);
	assert_int_equal(kern.live->followed, 2);
}

/* A new service has neither the players nor the spent budgets of the one before. */
static void a_slot_begins_from_nothing(void **state)
{
	struct shield view = view_of_daemon();
	struct qport_key qport = { .qport = 5 }, other = { .qport = 6, .slot = 1 };
	static char snapshot[60] = { 9 };
	struct player player;
	__be16 port = htons(HERE);
	unsigned int moved = 0;
	struct player_key at;
	struct player_id id;

	(void)state;
	kern.live->clock_ns = shield_clock();
	serve(FAMILY_QUAKE3);
	assert_true(says(snapshot, sizeof(snapshot)));
	assert_true(player_read(HERE, &player));
	player_at(PEER, HERE, &at);
	id = player_id(&at);
	memcpy(qport.addr, at.addr, sizeof(at.addr));
	memcpy(other.addr, at.addr, sizeof(at.addr));
	bpf_map_update_elem(view.qports, &qport, &port, BPF_ANY);
	bpf_map_update_elem(view.qports, &other, &port, BPF_ANY);
	kern.live->moved[qport_cell(&id, 5, 0, kern.live->keys)]++;
	kern.live->service_due_ns[budget_index(0, CLASS_QUERY)] = ~0ull;
	kern.live->service_due_ns[budget_index(1, CLASS_QUERY)] = 77;

	shield_forget_slot(&view, 0);
	assert_false(player_read(HERE, &player));
	assert_true(bpf_map_lookup_elem(view.qports, &qport, &port));
	assert_false(bpf_map_lookup_elem(view.qports, &other, &port));
	for (__u32 i = 0; i < COUNT(kern.live->moved); i++)
		moved += kern.live->moved[i];
	assert_int_equal(moved, 0);
	assert_int_equal(kern.live->service_due_ns[budget_index(0, CLASS_QUERY)], 0);
	assert_int_equal(kern.live->service_due_ns[budget_index(1, CLASS_QUERY)], 77);
}

/* A question costs one, however large its answers were: the limit bounds what is sent. */
static void a_large_answer_costs_one_question(void **state)
{
	static char big[1400] = OOB "statusResponse\n";
	struct service s = kern_open_service(FAMILY_QUAKE3);
	struct shield view = view_of_daemon();
	int passed = 0;

	(void)state;
	serve(FAMILY_QUAKE3);
	for (int i = 0; i < 20; i++) {
		ask(PEER, HERE);
		for (int part = 0; part < 3; part++)
			assert_true(says(big, part < 2 ? 1400 : 1296));
	}
	shield_maintain(&view);
	s.budget[CLASS_QUERY].source = kern_rate(1, 8);
	kern_service(&kern, 0, 0, &s);
	for (int i = 0; i < 10; i++)
		passed += hear_from(STRANGER, HERE, BYTES(OOB "getstatus")).action ==
			  XDP_PASS;
	assert_int_equal(passed, 8);
}

/* --- fragments -----------------------------------------------------------------------
 */

static int fragment(__u16 id, __u16 offset, bool more, const char *to,
		    const char *payload)
{
	struct frame_spec s = { .payload = payload,
				.n = 800,
				.sport = PORT,
				.dport = HERE,
				.from = HOST,
				.to = to,
				.offset = offset,
				.more = more,
				.ipv6 = link_.ipv6,
				.fragment = link_.ipv6,
				.udp_length = 1208 };
	__u8 frame[FRAME_MAX];
	size_t n;
	__be16 be = htons(id);

	if (link_.ipv6)
		s.from = "2001:db8:2::1";
	n = frame_build(&s, frame);
	memcpy(frame + 14 + (link_.ipv6 ? 40 + 6 : 4), &be, 2);
	return frame_out(frame, n);
}

static void fragments_share_a_fate(void **state)
{
	static char snapshot[800] = { 9 };

	(void)state;
	serve(FAMILY_QUAKE3);
	amplification(1000, 20);
	for (int v6 = 0; v6 < 2; v6++) {
		link_.ipv6 = v6;
		link_.peer = v6 ? "2001:db8:1::1" : PEER;
		/* Whole it would not fit the allowance: its parts must not leave. */
		assert_int_equal(fragment(7, 0, true, link_.peer, status), TC_ACT_SHOT);
		assert_int_equal(fragment(7, 100, true, link_.peer, status), TC_ACT_SHOT);
		assert_int_equal(fragment(7, 200, false, link_.peer, status),
				 TC_ACT_SHOT);
		/* Another datagram, and another receiver. */
		assert_int_equal(fragment(8, 100, false, link_.peer, status),
				 TC_ACT_UNSPEC);
		assert_int_equal(fragment(7, 100, false,
					  v6 ? "2001:db8:9::1" : "203.0.113.1", status),
				 TC_ACT_UNSPEC);
		/* A player's with the same id, later, is whole. */
		assert_int_equal(fragment(7, 0, true, link_.peer, snapshot),
				 TC_ACT_UNSPEC);
		assert_int_equal(fragment(7, 100, false, link_.peer, status),
				 TC_ACT_UNSPEC);
	}
}

/* Of a datagram with id 7, the first of which has left or not. */
static int later_from(const char *host)
{
	struct frame_spec s = { .payload = status,
				.n = 800,
				.sport = PORT,
				.dport = HERE,
				.from = host,
				.to = PEER,
				.offset = 100 };
	__u8 frame[FRAME_MAX];
	size_t n = frame_build(&s, frame);

	memcpy(frame + 14 + 4, "\0\7", 2);
	return frame_out(frame, n);
}

/* An id comes again: to others, from others, and later. */
static void notes_of_fragments_age_and_have_an_owner(void **state)
{
	struct service *service = &kern.live->tables[0].services[0];

	(void)state;
	serve(FAMILY_QUAKE3);
	amplification(1000, 20);
	assert_int_equal(fragment(7, 0, true, PEER, status), TC_ACT_SHOT);
	assert_int_equal(later_from(HOST), TC_ACT_SHOT);
	assert_int_equal(later_from("198.51.100.2"), TC_ACT_UNSPEC);

	/* What it was withheld for is over: the service only observes, or is gone. */
	service->observe = 1;
	assert_int_equal(later_from(HOST), TC_ACT_UNSPEC);
	service->observe = 0;
	service->active = 0;
	assert_int_equal(later_from(HOST), TC_ACT_UNSPEC);
	service->active = 1;
	assert_int_equal(later_from(HOST), TC_ACT_SHOT);

	pass_time(SECOND);
	assert_int_equal(later_from(HOST), TC_ACT_SHOT);
	pass_time(2 * SECOND);
	assert_int_equal(later_from(HOST), TC_ACT_UNSPEC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_prefix_pays_for_what_it_gets),
		TEST(a_crowd_shares_one_allowance),
		TEST(prefixes_do_not_share),
		TEST(a_neighbour_cannot_be_made_to_pay),
		TEST(strict_never_gives_more_than_it_got),
		TEST(players_and_friends_are_exempt),
		TEST(downloads_of_players_are_exempt),
		TEST(remote_console_is_cut_unless_allowed),
		TEST(the_followed_are_counted),
		TEST(a_slot_begins_from_nothing),
		TEST(a_large_answer_costs_one_question),
		TEST(fragments_share_a_fate),
		TEST(notes_of_fragments_age_and_have_an_owner),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
