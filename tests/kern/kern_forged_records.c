// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What a forger can do, in the kernel, to players who have no qport: of NetQuake, of
 * DTLS, and of a service that names no family. See kern_forged.c for the others.
 * stubs: shield_cache shield_joined
 */
#include "kern/kern_forger.h"

/* --- NetQuake ------------------------------------------------------------------------
 */

static enum reason ccreq(const char *from, __u16 port)
{
	return judged(from, port, BYTES("\x80\0\0\x0c\x01QUAKE\0\x03"));
}

/*
 * A CCREQ_CONNECT sent again after 2.5 s, so that it passes the greylist. The player goes
 * on meanwhile: *@moves counts its moves.
 */
static enum reason ccreq_twice(__u16 port, __u32 *moves)
{
	ccreq(PEER, port);
	for (int i = 0; i < 50; i++, ++*moves) {
		pass_time(50 * MS);
		nq_update(*moves, 0x41000000 + *moves, 60);
		nq_moved(1000 + *moves, 1, 9);
	}
	return ccreq(PEER, port);
}

/* The server would drop who plays, by address alone. */
static void nobody_connects_over_a_player(void **state)
{
	struct service open = kern_open_service(FAMILY_NETQUAKE);
	__u64 waited;

	(void)state;
	serve_default(FAMILY_NETQUAKE);
	kern_service(&kern, 0, 0, &open);
	assert_int_equal(ccreq(PEER, HERE), REASON_WITHIN_LIMITS);
	nq_settle(0, 1000);
	assert_true(nq_update(24, 0x41000024, 60));
	for (__u32 i = 1; i < 200; i++) {
		pass_time(50 * MS);
		assert_true(nq_update(24 + i, 0x41000024 + i, 60));
		assert_true(nq_moved(1000 + i, 1, 9));
		if (i % 50)
			continue;
		assert_int_equal(ccreq(PEER, HERE), REASON_ADDRESS_IN_USE);
		assert_int_equal(ccreq(PEER, 50001), REASON_ADDRESS_IN_USE);
	}
	assert_int_equal(ccreq(STRANGER, HERE), REASON_WITHIN_LIMITS);
	/* It has crashed, and the server goes on: in 11 s it may come back. */
	for (waited = 0; waited < 20000; waited += 500) {
		pass_time(500 * MS);
		assert_true(nq_update(1000 + (__u32)waited, 0x42000000, 60));
		if ((waited % 2500 == 0 || waited > 7500) &&
		    ccreq(PEER, 50002) == REASON_WITHIN_LIMITS)
			break;
	}
	assert_in_range(waited, 7500, 11500);
}

/* With validation other programs decide. In QuakeWorld only an unlimited source may. */
static void an_allowed_source_connects_over_a_player(void **state)
{
	static const enum wire_family families[] = { FAMILY_NETQUAKE, FAMILY_QUAKEWORLD };
	static const enum validation modes[] = { VALIDATION_OFF, VALIDATION_UNDER_LOAD,
						 VALIDATION_ALWAYS };

	(void)state;
	for (size_t i = 0; i < COUNT(families) * COUNT(modes); i++) {
		enum wire_family family = families[i / COUNT(modes)];
		struct service s = kern_open_service(family);
		bool netquake = family == FAMILY_NETQUAKE;
		__u32 moves = NQ_PROOFS;

		serve_default(family);
		s.validation = (__u8)modes[i % COUNT(modes)];
		kern_service(&kern, 0, 0, &s);
		kern.live->lists = 0;
		nq_settle(0, 1000);
		assert_int_equal(ccreq_twice(50001, &moves), REASON_ADDRESS_IN_USE);
		kern_list(&kern, true, PEER, 128);
		if (netquake)
			assert_int_equal(reason_verdict(ccreq_twice(50001, &moves)),
					 VERDICT_PASS);
		else
			assert_int_equal(ccreq_twice(50001, &moves),
					 REASON_ADDRESS_IN_USE);
		kern_allow_all(&kern, PEER, 128);
		assert_int_equal(ccreq_twice(50001, &moves), REASON_ALLOW_LIST);
	}
}

/* The address of a master server may be spoofed: it lifts nothing. */
static void a_master_s_address_is_in_use(void **state)
{
	(void)state;
	for (int mode = VALIDATION_OFF; mode <= VALIDATION_UNDER_LOAD; mode++) {
		struct service s = kern_open_service(FAMILY_NETQUAKE);

		serve_default(FAMILY_NETQUAKE);
		s.validation = (__u8)mode;
		kern_service(&kern, 0, 0, &s);
		kern.live->lists = 0;
		nq_settle(0, 1000);
		assert_true(says(BYTES(OOB "heartbeat DarkPlaces\n")));
		assert_true(kern.live->lists & LISTS_MASTER);
		assert_int_equal(ccreq(PEER, 50001), REASON_ADDRESS_IN_USE);
	}
}

/* Ethernet padding of ff behind a payload of 0 to 3 bytes is no marker. */
static void padding_is_no_marker(void **state)
{
	struct service s = kern_open_service(games[0].family);
	struct frame_spec spec = {
		.sport = 50001, .dport = PORT, .payload = "\xff\xff\xff", .padding = 18
	};
	__u8 frame[FRAME_MAX];

	(void)state;
	settle(&games[0]);
	s.policy[CLASS_MALFORMED - CLASS_BUDGETS] = POLICY_PASS;
	kern_service(&kern, 0, 0, &s);
	for (spec.n = 0; spec.n < 4; spec.n++) {
		spec.from = STRANGER;
		assert_int_equal(kern_action(&kern, frame, frame_build(&spec, frame)),
				 XDP_PASS);
		spec.from = PEER;
		assert_int_equal(kern_action(&kern, frame, frame_build(&spec, frame)),
				 XDP_DROP);
	}
}

/*
 * The marker in a first fragment counts. One without 8 bytes of payload has none that a
 * server sees: Linux takes them in units of 8, and padding may be behind it.
 */
static void a_first_fragment_has_a_marker(void **state)
{
	struct service s = kern_open_service(games[0].family);
	struct frame_spec spec = { .from = PEER,
				   .sport = 50001,
				   .dport = PORT,
				   .payload = OOB "connect \"\\name\\x\"   ",
				   .more = true,
				   .padding = 18 };
	__u8 frame[FRAME_MAX];

	(void)state;
	settle(&games[0]);
	s.policy[CLASS_FRAGMENT - CLASS_BUDGETS] = POLICY_PASS;
	s.policy[CLASS_MALFORMED - CLASS_BUDGETS] = POLICY_PASS;
	kern_service(&kern, 0, 0, &s);
	for (spec.n = 0; spec.n <= 24; spec.n += 4)
		assert_int_equal(kern_action(&kern, frame, frame_build(&spec, frame)),
				 spec.n >= 8 ? XDP_PASS : XDP_DROP);
	spec.payload = "nothing from a client";
	spec.n = 16;
	assert_int_equal(kern_action(&kern, frame, frame_build(&spec, frame)), XDP_DROP);
}

/* Whose moves are not known has not played; and what anybody could say is no move. */
static void only_a_proven_player_keeps_its_address(void **state)
{
	(void)state;
	serve_default(FAMILY_NETQUAKE);
	assert_true(nq_update(1, 0x41000000, 60));
	assert_true(nq_moved(1, 1, 9));
	assert_true(nq_update(2, 0x41000001, 60));
	assert_int_equal(ccreq(PEER, HERE), REASON_WITHIN_LIMITS);
	nq_settle(3, 1000);
	pass_time(12 * SECOND);
	assert_true(nq_acked(7));
	assert_true(nq_update(27, 0x41000027, 60));
	assert_int_equal(ccreq(PEER, HERE), REASON_WITHIN_LIMITS);
}

/*
 * A QuakeWorld server may have a NetQuake client as a player. Its shortest datagrams
 * pass, and so do others in its name, up to the player's second limit. A short datagram
 * in a QuakeWorld player's name is a mismatch. Neither counts for the service's limit.
 */
static void short_datagrams_belong_to_the_player(void **state)
{
	static const char ack[] = "\0\2\0\x08\0\0\0\1", runt[] = "\1\0\0\0\0\0\0\0";

	(void)state;
	serve(FAMILY_QUAKEWORLD);
	assert_true(nq_update(1, 0x41000000, 60));
	assert_true(nq_acked(1));
	assert_true(is_player(link_.peer, link_.dport, runt, 8));
	assert_true(qw_heard(link_.dport, 500, 4000000, 0x1234));
	link_.dport = HERE + 1;
	assert_true(says(BYTES(OOB "j")));
	assert_true(sent(100));
	assert_int_equal(judged(PEER, HERE + 1, ack, 8), REASON_PLAYER_MISMATCH);
	assert_int_equal(judged(PEER, HERE + 2, ack, 8), REASON_SERVICE_LIMIT);
}

/* A moved Quake II player is found by the 8 bits of qport at its datagram's end. */
static void a_short_datagram_carries_a_narrow_qport(void **state)
{
	const struct game *g = &games[4];
	struct service s;
	char move[40];

	(void)state;
	assert_int_equal(g->qports, NARROW);
	settle(g);
	s = kern.live->tables[0].services[0];
	s.budget[CLASS_NETCHAN].service = (struct limit){ SECOND, 0 };
	kern_service(&kern, 0, 0, &s);
	pass_time(400 * MS);
	for (__u32 i = 1; i <= 2; i++) {
		move_build(g, own + 9 + i, told, OWN_NARROW, move);
		assert_int_equal(judged(PEER, HERE + 1, move, 9),
				 i == 1 ? REASON_PLAYER_MISMATCH : REASON_PLAYER);
	}
	move_build(g, own + 12, told, OWN_NARROW + 1, move);
	assert_int_equal(judged(PEER, HERE + 1, move, 9), REASON_SERVICE_LIMIT);
}

/* --- DTLS, and what nobody has named -------------------------------------------------
 */

static size_t record_build(__u16 epoch, __u64 number, char data[60])
{
	memset(data, 'x', 60);
	memcpy(data, "\x17\xfe\xfd", 3);
	put16(data + 3, htons(epoch));
	put16(data + 5, htons((__u16)(number >> 32)));
	put32be(data + 7, (__u32)number);
	put16(data + 11, htons(47));
	return 60;
}

static bool record_in(__u16 epoch, __u64 number)
{
	char data[60];

	return gets_in(HERE, data, record_build(epoch, number, data));
}

static void record_out(__u64 number)
{
	char data[60];

	assert_true(says(data, record_build(1, number, data)));
}

/* The last of a server's handshake, which only who is there can bring about. */
static void ccs_out(void)
{
	assert_true(says(BYTES("\x14\xfe\xfd\0\0\0\0\0\0\0\7\0\1\1")));
}

static void records_are_counted(void **state)
{
	static const enum wire_family families[] = { FAMILY_QUAKE_ENHANCED, FAMILY_AUTO,
						     FAMILY_QUAKEWORLD, FAMILY_NETQUAKE };

	(void)state;
	for (size_t f = 0; f < COUNT(families); f++) {
		unsigned int lost = 0, let_in = 0, tried = 0;
		__u64 number = 0;
		struct player player = { 0 };

		serve_default(families[f]);
		ccs_out();
		for (int i = 0; i < 20; i++) {
			pass_time(33 * MS);
			assert_true(record_in(1, ++number));
			record_out(number);
		}
		assert_true(player_read(HERE, &player));
		assert_true(player.flags & PLAYER_QPORT);
		/* By address and port, 20,000 a second. */
		for (unsigned int i = 0; i < 40000; i++) {
			pass_time(MS / 20);
			let_in += record_in((__u16)(next_random() % 4),
					    next_random() % 1000000);
			tried++;
			if (i % 660 == 0) {
				lost += !record_in(1, ++number);
				record_out(number);
			}
		}
		assert_int_equal(lost, 0);
		assert_in_range(let_in, 0, tried / 4 / 1000);
		/* The next record's number, of any other epoch. */
		assert_false(record_in(2, number + 1));
		assert_false(record_in(0, number + 1));
		/* New keys, from the same port: counted anew. */
		assert_false(record_in(1, 1));
		ccs_out();
		for (number = 1; number < 20; number++)
			assert_true(record_in(1, number));
		assert_false(record_in(1, 1000));
	}
}

static void auto_keeps_a_line_of_sequences(void **state)
{
	static const struct game g = { "auto", FAMILY_AUTO, NONE, NULL };
	unsigned int lost = 0, let_in = 0;

	(void)state;
	serve_default(FAMILY_AUTO);
	own = 1000;
	told = 50;
	for (int i = 0; i < 40; i++) {
		pass_time(33 * MS);
		assert_true(sent(++told));
		assert_true(own_move(&g, HERE));
	}
	for (unsigned int i = 0; i < 40000; i++) {
		pass_time(MS / 20);
		let_in += move_in(&g, HERE, next_random(), told, 1);
		if (i % 20 == 0)
			lost += play_ms(&g, i / 20);
	}
	nobody_lost(&g, lost, let_in > 1 ? let_in : 0);
	/* Nor from other ports. */
	assert_int_equal(move_reason(&g, 50001, 0x3ffffff0, told, 1),
			 REASON_PLAYER_MISMATCH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nobody_connects_over_a_player),
		TEST(an_allowed_source_connects_over_a_player),
		TEST(a_master_s_address_is_in_use),
		TEST(padding_is_no_marker),
		TEST(a_first_fragment_has_a_marker),
		TEST(only_a_proven_player_keeps_its_address),
		TEST(short_datagrams_belong_to_the_player),
		TEST(a_short_datagram_carries_a_narrow_qport),
		TEST(records_are_counted),
		TEST(auto_keeps_a_line_of_sequences),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
