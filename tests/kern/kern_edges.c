// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * kern_edges.c - where a rule begins and ends, in the kernel: how many proofs are enough,
 * who is exempt from the amplification limit, whose budget it is, and what is counted as
 * a stranger's. Each row stands beside one that only just is not.
 * stubs: shield_cache shield_joined
 */
#include "kern/kern_game.h"

static const char status[900] = OOB "statusResponse\n";

static __u32 checksum71(__u32 challenge, __u32 sequence)
{
	return challenge ^ sequence * challenge;
}

/* --- proofs --------------------------------------------------------------------------
 */

static bool has_flag(__u8 flag)
{
	struct player player;

	assert_true(player_read(link_.dport, &player));
	return player.flags & flag;
}

/* Seven datagrams that agree are not enough, the eighth is: the first says which. */
static void eight_agree_on_a_qport(void **state)
{
	(void)state;
	serve(FAMILY_QUAKE3);
	assert_true(sent(1));
	for (__u32 i = 1; i <= 8; i++) {
		assert_true(q3_heard(HERE, i, 77, 0));
		assert_false(has_flag(PLAYER_QPORT));
	}
	assert_true(q3_heard(HERE, 9, 77, 0));
	assert_true(has_flag(PLAYER_QPORT));
	assert_false(q3_heard(HERE, 10, 78, 0));
}

/* Of OpenArena's bytes some fit by chance. The sum of sequence 1 is 0, and fits nobody.
 */
static void sixteen_sums_are_a_checksum(void **state)
{
	static const __u32 c = 1234567;
	__u32 i;

	(void)state;
	serve(FAMILY_QUAKE3);
	assert_true(says(BYTES(OOB "connectResponse 1234567")));
	for (i = 2; i < 13; i++) /* the qport first */
		assert_true(q3_heard(HERE, i, 77, 1));
	assert_true(has_flag(PLAYER_QPORT));
	for (int times = 0; times < 20; times++)
		assert_true(q3_heard(HERE, 1, 77, checksum71(c, 1)));
	assert_false(has_flag(PLAYER_CHECKSUM));
	for (i = 13; i < 28; i++) {
		assert_true(q3_heard(HERE, i, 77, checksum71(c, i)));
		assert_false(has_flag(PLAYER_CHECKSUM));
	}
	assert_true(q3_heard(HERE, i, 77, 5)); /* not a sum at all, and let in */
	assert_true(q3_heard(HERE, i + 1, 77, checksum71(c, i + 1)));
	assert_true(has_flag(PLAYER_CHECKSUM));
	assert_false(q3_heard(HERE, i + 2, 77, 5));
}

/* Digits are 0 to 9, in a challenge too. */
static void a_challenge_may_hold_a_nought(void **state)
{
	static const __u32 c = 1020304050;

	(void)state;
	serve(FAMILY_QUAKE3);
	assert_true(says(BYTES(OOB "connectResponse 1020304050")));
	for (__u32 i = 1; i <= 26; i++)
		assert_true(q3_heard(HERE, i, 77, checksum71(c, i)));
	assert_true(has_flag(PLAYER_CHECKSUM));
	assert_false(q3_heard(HERE, 27, 77, 5));
}

/* Said twice within a second it is a repeat, and nobody starts over. */
static void a_repeated_welcome_changes_nothing(void **state)
{
	(void)state;
	serve(FAMILY_QUAKE3);
	assert_true(says(BYTES(OOB "connectResponse")));
	for (__u32 i = 1; i < 12; i++)
		assert_true(q3_heard(HERE, i, 77, 0));
	pass_time(SECOND * 9 / 10);
	assert_true(says(BYTES(OOB "connectResponse")));
	assert_true(has_flag(PLAYER_QPORT));
	assert_false(q3_heard(HERE, 12, 88, 0));
	assert_true(q3_heard(HERE, 12, 77, 0));
}

/* Q2PRO marks a fragment in bit 30, of what is sent and of what is acknowledged. */
static void q2pro_marks_fragments(void **state)
{
	(void)state;
	serve(FAMILY_QUAKE2);
	assert_true(sent(100));
	assert_true(qw_heard(HERE, 1, 100, 77));
	assert_true(sent(0x40000000 | 101));
	assert_true(qw_heard(HERE, 2, 101, 77));
	assert_true(qw_heard(HERE, 3, 0x40000000 | 101, 77));
	assert_true(qw_heard(HERE, 0x40000000 | 4, 101, 77));
	assert_false(qw_heard(HERE, 5, 102, 77));
}

/* Twice behind a NAT that forgets: the second port leads there as the first did. */
static void a_port_may_change_again(void **state)
{
	struct player player;
	__u32 move = 1, snapshot = 1;

	(void)state;
	serve(FAMILY_QUAKE3);
	assert_true(sent(snapshot++));
	for (; move < 12; move++)
		assert_true(q3_heard(HERE, move, 77, 0));
	for (__u16 port = HERE + 5; port < HERE + 8; port++) {
		pass_time(300 * SECOND / 1000);
		assert_false(q3_heard(port, move++, 77, 0));
		assert_true(q3_heard(port, move++, 77, 0));
		link_.dport = port;
		assert_true(sent(snapshot++));
		for (int i = 0; i < 12; i++)
			assert_true(q3_heard(port, move++, 77, 0));
		/* Until nothing is left of the port before. */
		for (int seconds = 0; seconds < 70; seconds += 10) {
			pass_time(10 * SECOND);
			assert_true(sent(snapshot++));
			assert_true(q3_heard(port, move++, 77, 0));
		}
		assert_false(player_read(port - (port == HERE + 5 ? 5 : 1), &player) &&
			     player_alive(&player, kern.live->clock_ns));
	}
}

/* A server that fell silent has no players, in NetQuake either. */
static void silence_ends_a_netquake_player(void **state)
{
	struct service open = kern_open_service(FAMILY_NETQUAKE);
	char move[32];
	struct outcome o;

	(void)state;
	serve(FAMILY_NETQUAKE);
	nq_settle(0, 1000);
	pass_time(59 * SECOND);
	assert_true(nq_moved(1001, 1, 9));
	pass_time(2 * SECOND);
	assert_false(nq_moved(1002, 1, 9));
	/* Nor where strangers are let in, and no way is cut short: as one of them. */
	kern_service(&kern, 0, 0, &open);
	nq_head(move, sizeof(move), 0x0010, 1002);
	o = hear_from(PEER, HERE, move, sizeof(move));
	assert_int_not_equal(o.reason, REASON_PLAYER);
}

/* A game's port is never that of a service that is configured, whole or by address. */
static void a_learned_port_is_nobodys(void **state)
{
	const struct port *ports = kern.live->tables[0].ports;

	(void)state;
	serve(FAMILY_NETQUAKE);
	kern_port(&kern, 0, 45002, 3, false);
	kern_port(&kern, 0, 45003, -1, true);
	assert_true(says(BYTES("\x80\0\0\x09\x81\xca\xaf\0\0")));
	assert_true(says(BYTES("\x80\0\0\x09\x81\xcb\xaf\0\0")));
	assert_true(says(BYTES("\x80\0\0\x09\x81\xcc\xaf\0\0")));
	assert_int_equal(ports[45002].any, 4);
	assert_int_equal(ports[45002].flags, 0);
	assert_int_equal(ports[45003].any, 0);
	assert_int_equal(ports[45003].flags, PORT_EXACT);
	assert_int_equal(ports[45004].any, 1);
	assert_int_equal(ports[45004].flags, PORT_NAMED);
}

/* --- the amplification limit
 * ----------------------------------------------------------------------
 */

static int leave_of(int times, const char *payload, size_t n)
{
	int left = 0;

	for (int i = 0; i < times; i++)
		left += says(payload, n);
	return left;
}

static void who_is_denied_is_owed_nothing(void **state)
{
	(void)state;
	serve(FAMILY_QUAKE3);
	amplification(2000, 20);
	kern_list(&kern, false, PEER, 128);
	assert_int_equal(leave_of(10, status, sizeof(status)), 2);
}

/* Welcomes are drawn by words, and words cost a player too. */
static void welcomes_cost_a_player(void **state)
{
	(void)state;
	serve(FAMILY_QUAKE3);
	amplification(200, 20);
	assert_true(sent(1));
	assert_int_equal(leave_of(10, BYTES(OOB "connectResponse")), 3);
	assert_true(sent(2));
}

/* Who asks for ever and is never answered has no credit by it, and no debt. */
static void payments_end_at_nothing_owed(void **state)
{
	(void)state;
	kern.live->clock_ns = 5 * SECOND; /* soon after the start of the machine */
	serve(FAMILY_QUAKE3);
	amplification(1000, 20);
	assert_true(says(status, sizeof(status)));
	pass_time(25 * SECOND);
	for (int i = 0; i < 100; i++)
		ask(PEER, (__u16)(1000 + i));
	assert_int_equal(leave_of(5, status, sizeof(status)), 1);
}

static int first_fragment(__u16 id, const char *payload, __u16 udp_length)
{
	struct frame_spec s = { .payload = payload,
				.n = 800,
				.sport = PORT,
				.dport = HERE,
				.from = HOST,
				.to = PEER,
				.more = true,
				.udp_length = udp_length };
	__u8 frame[FRAME_MAX];
	size_t n = frame_build(&s, frame);
	__be16 be = htons(id);

	memcpy(frame + 14 + 4, &be, 2);
	return frame_out(frame, n);
}

static int later_fragment(__u16 id)
{
	struct frame_spec s = { .payload = status,
				.n = 400,
				.sport = PORT,
				.dport = HERE,
				.from = HOST,
				.to = PEER,
				.offset = 101 };
	__u8 frame[FRAME_MAX];
	size_t n = frame_build(&s, frame);
	__be16 be = htons(id);

	memcpy(frame + 14 + 4, &be, 2);
	return frame_out(frame, n);
}

/* Who only observes lets all of it leave, and the rest does not stay behind either. */
static void observed_fragments_leave(void **state)
{
	struct service *service = &kern.live->tables[0].services[0];

	(void)state;
	serve(FAMILY_QUAKE3);
	amplification(100, 20);
	service->observe = 1;
	assert_int_equal(first_fragment(7, status, 1208), TC_ACT_UNSPEC);
	service->observe = 0;
	assert_int_equal(later_fragment(7), TC_ACT_UNSPEC);
	assert_int_equal(first_fragment(8, status, 1208), TC_ACT_SHOT);
	assert_int_equal(later_fragment(8), TC_ACT_SHOT);
}

/* --- what is counted -----------------------------------------------------------------
 */

static struct counters sum_of(enum direction direction)
{
	struct counters t;

	kern_sum_way(&kern, 0, direction, &t);
	volume_complete(&t);
	return t;
}

/* Amplification is what strangers get for what they send: no player is in it. */
static void players_are_no_strangers(void **state)
{
	struct counters out;

	(void)state;
	serve(FAMILY_QUAKE3);
	for (__u32 i = 1; i < 5; i++) {
		assert_true(sent(i));
		assert_true(q3_heard(HERE, i, 77, 0));
	}
	assert_int_equal(sum_of(DIRECTION_S2C).unverified.payload, 0);
	assert_int_equal(sum_of(DIRECTION_C2S).unverified.payload, 0);
	assert_true(says(status, sizeof(status)));
	ask(STRANGER, HERE);
	assert_int_equal(sum_of(DIRECTION_S2C).unverified.payload, sizeof(status));
	assert_true(says(BYTES(OOB "x"))); /* padded to the least that there is */
	kern_sum_way(&kern, 0, DIRECTION_S2C, &out);
	assert_int_equal(out.unverified.wire, sizeof(status) + 42 + 24 + 84);
	assert_int_equal(sum_of(DIRECTION_C2S).unverified.payload, 13);
}

/* The first of several says how long all are: they count, each with headers of its own.
 */
static void all_fragments_count_with_the_first(void **state)
{
	static const __u16 rows[][2] = { { 1023, 0 }, { 1024, 1 }, { 5000, 4 } };
	struct counters out;
	__u64 wire = 0;

	(void)state;
	serve(FAMILY_QUAKE3);
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(first_fragment((__u16)i, status,
						(__u16)(rows[i][0] + 8)),
				 TC_ACT_UNSPEC);
		wire += 42 + rows[i][0] + rows[i][1] * 64u + 24;
		kern_sum_way(&kern, 0, DIRECTION_S2C, &out);
		assert_int_equal(out.unverified.wire, wire);
	}
}

/* The head of a first fragment speaks of bytes that are not in it. */
static void fragments_bring_no_payload(void **state)
{
	struct frame_spec s = { .payload = status,
				.n = 800,
				.sport = HERE,
				.dport = PORT,
				.from = PEER,
				.to = HOST,
				.more = true,
				.udp_length = 1208 };
	struct counters t;

	(void)state;
	serve(FAMILY_QUAKE3);
	for (int passes = 0; passes < 2; passes++) {
		kern.live->tables[0].services[0].policy[CLASS_FRAGMENT - CLASS_BUDGETS] =
			passes ? POLICY_PASS : POLICY_DROP;
		assert_int_equal(kern_send(&kern, &s).action,
				 passes ? XDP_PASS : XDP_DROP);
	}
	t = sum_of(DIRECTION_C2S);
	assert_int_equal(t.unverified.payload, 0);
	assert_int_equal(t.unverified.wire, 2 * (800 + 42 + 24));
}

/* A flood that spends all of one service's budget refuses nothing of the next one's. */
static void a_flood_is_one_services(void **state)
{
	static const __u16 ports[] = { PORT, PORT + 1, PORT + 2 };
	struct service s = kern_open_service(FAMILY_QUAKE3);

	(void)state;
	s.budget[CLASS_QUERY].service = kern_rate(1, 3);
	for (__u32 slot = 0; slot < COUNT(ports); slot++) {
		kern_service(&kern, 0, slot, &s);
		kern_port(&kern, 0, ports[slot], (int)slot, false);
	}
	for (size_t i = 0; i < COUNT(ports); i++) {
		int passed = 0;

		link_.sport = ports[i];
		for (int n = 0; n < 10; n++) {
			struct outcome o = hear_from(PEER, (__u16)(1000 + n),
						     BYTES(OOB "getstatus"));

			assert_int_equal(o.slot, i);
			passed += o.action == XDP_PASS;
			if (o.action != XDP_PASS)
				assert_int_equal(o.reason, REASON_SERVICE_LIMIT);
		}
		assert_int_equal(passed, 3);
	}
}

/* Each processor's counter of @number is @word. Returns how many processors there are. */
static __u64 counters_set(__u32 number, __u64 word)
{
	__u32 key = number / COUNTER_CELLS;

	memset(kern.buffer, 0, (size_t)kern.cpus * sizeof(*kern.buffer));
	for (int cpu = 0; cpu < kern.cpus; cpu++)
		kern.buffer[cpu].cells[number % COUNTER_CELLS] = word;
	assert_int_equal(bpf_map_update_elem(bpf_map__fd(kern.skel->maps.counters), &key,
					     kern.buffer, BPF_ANY),
			 0);
	return (__u64)kern.cpus;
}

/* The sums of the counter of @number; *@ret_left: how many words are not zero. */
static struct counter moved(__u32 number, int *ret_left)
{
	__u32 key = number / COUNTER_CELLS, cell = number % COUNTER_CELLS;
	struct counter_sums sums;

	*ret_left = 0;
	assert_int_equal(bpf_map_lookup_elem(bpf_map__fd(kern.skel->maps.spilled), &key,
					     &sums),
			 0);
	assert_int_equal(bpf_map_lookup_elem(bpf_map__fd(kern.skel->maps.counters), &key,
					     kern.buffer),
			 0);
	for (int cpu = 0; cpu < kern.cpus; cpu++)
		*ret_left += kern.buffer[cpu].cells[cell] != 0;
	return sums.cells[cell];
}

/*
 * A word of which the highest bit is set moves whole, and another stays; nothing is
 * counted twice or lost, in either direction.
 */
static void full_counters_move(void **state)
{
	static const struct {
		struct counter before;
		bool moves;
	} rows[] = {
		{ { (1 << 29) - 2, 1000 }, false },
		{ { 5, (1ull << 34) - 1000 }, false },
		{ { 5, (1ull << 34) - 20 }, true },
		{ { 409044505, (1ull << 34) - 1 }, true },
	};
	const __u32 numbers[] = {
		counter_number(DIRECTION_C2S, KIND_GETSTATUS, REASON_WITHIN_LIMITS),
		counter_number(DIRECTION_S2C, KIND_STATUSRESPONSE, REASON_WITHIN_LIMITS),
	};
	const size_t lengths[] = { 42 + 13, 42 + sizeof(status) };
	struct frame_spec s = { .payload = OOB "getstatus",
				.n = 13,
				.sport = HERE,
				.dport = PORT,
				.from = PEER,
				.to = HOST };
	__u8 frame[FRAME_MAX];
	int left;

	(void)state;
	serve(FAMILY_QUAKE3);
	for (size_t i = 0; i < COUNT(rows) * 2; i++) {
		const struct counter *before = &rows[i / 2].before;
		bool out = i % 2, moves = rows[i / 2].moves;
		struct counters t;
		struct counter was = moved(numbers[out], &left), is;
		__u64 cpus = counters_set(numbers[out],
					  before->bytes * COUNTER_BYTE + before->packets);

		if (out)
			assert_true(says(status, sizeof(status)));
		else
			assert_int_equal(kern_action(&kern, frame,
						     frame_build(&s, frame)),
					 XDP_PASS);
		is = moved(numbers[out], &left);
		assert_int_equal(left, cpus - moves);
		assert_int_equal(is.packets - was.packets,
				 moves ? before->packets + 1 : 0);
		assert_int_equal(is.bytes - was.bytes,
				 moves ? before->bytes + lengths[out] : 0);
		kern_sum_way(&kern, 0, out ? DIRECTION_S2C : DIRECTION_C2S, &t);
		is = t.by[out ? KIND_STATUSRESPONSE : KIND_GETSTATUS]
			 [REASON_WITHIN_LIMITS];
		assert_int_equal(is.packets - was.packets, cpus * before->packets + 1);
		assert_int_equal(is.bytes - was.bytes,
				 cpus * before->bytes + lengths[out]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(eight_agree_on_a_qport),
		TEST(sixteen_sums_are_a_checksum),
		TEST(a_challenge_may_hold_a_nought),
		TEST(a_repeated_welcome_changes_nothing),
		TEST(q2pro_marks_fragments),
		TEST(a_port_may_change_again),
		TEST(silence_ends_a_netquake_player),
		TEST(a_learned_port_is_nobodys),
		TEST(who_is_denied_is_owed_nothing),
		TEST(welcomes_cost_a_player),
		TEST(payments_end_at_nothing_owed),
		TEST(observed_fragments_leave),
		TEST(players_are_no_strangers),
		TEST(all_fragments_count_with_the_first),
		TEST(fragments_bring_no_payload),
		TEST(a_flood_is_one_services),
		TEST(full_counters_move),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
