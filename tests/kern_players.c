// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Both programs together, in the kernel: who becomes a player by what the server sends,
 * what is believed in a player's name, and what the ledger lets out.
 */
#include "kern_support.h"

#include <linux/pkt_cls.h>

#include "shield_internal.h"

#define BYTES(literal) (literal), sizeof(literal) - 1
#define OOB	       "\xff\xff\xff\xff"
#define PORT	       27960
#define PEER	       "192.0.2.1"
#define STRANGER       "192.0.2.9"
#define HOST	       "198.51.100.1"
#define HERE	       40000 /* the peer's port */

static struct kern kern;
static struct {
	bool ipv6;
	const char *peer;
	__u16 sport; /* the server's */
	__u16 dport; /* the peer's */
} link_;

static int enter(void **state)
{
	(void)state;
	if (kern_open(&kern)) {
		print_message("not allowed to load BPF programs: skipped\n");
		skip();
	}
	link_.ipv6 = false;
	link_.peer = PEER;
	link_.sport = PORT;
	link_.dport = HERE;
	return 0;
}

static int leave(void **state)
{
	(void)state;
	kern_close(&kern);
	return 0;
}

/* A service whose strangers' game traffic is never let in: what passes is a player's. */
static void serve(enum wire_family family)
{
	struct service s = kern_open_service(family);

	s.budget[CLASS_NETCHAN].global = (struct limit){ SECOND, 0 };
	kern_service(&kern, 0, 0, &s);
	kern_port(&kern, 0, PORT, 0, false);
}

/* @allowance bytes in @window_s seconds, as apply_ledger() would have it. */
static void ledger(__u64 allowance, __u64 window_s)
{
	kern.live.ledger = (struct ledger){ .byte_ns = window_s * SECOND / allowance,
					    .window_ns = window_s * SECOND };
	kern_live(&kern);
}

static void pass_time(__u64 ns)
{
	kern.live.clock_ns += ns;
	kern_live(&kern);
}

/* live.port_bits belongs to the kernel once ports are learned: read, change, write. */
static void read_live(void)
{
	__u32 zero = 0;

	assert_int_equal(bpf_map_lookup_elem(bpf_map__fd(kern.skel->maps.live), &zero,
					     &kern.live),
			 0);
}

static int frame_out(const void *frame, size_t n)
{
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = frame, .data_size_in = (__u32)n,
		    .repeat = 1);

	assert_int_equal(bpf_prog_test_run_opts(
				 bpf_program__fd(kern.skel->progs.shield_out), &run),
			 0);
	return (int)run.retval;
}

/* Whether what the server says to the peer leaves. */
static bool says(const char *payload, size_t n)
{
	struct frame_spec s = { .payload = payload,
				.n = n,
				.ipv6 = link_.ipv6,
				.sport = link_.sport,
				.dport = link_.dport,
				.from = link_.ipv6 ? "2001:db8:2::1" : HOST,
				.to = link_.peer };
	__u8 frame[FRAME_MAX];
	int action = frame_out(frame, frame_build(&s, frame));

	assert_true(action == TC_ACT_UNSPEC || action == TC_ACT_SHOT);
	return action == TC_ACT_UNSPEC;
}

static struct outcome hear_from(const char *peer, __u16 port, const char *payload,
				size_t n)
{
	struct frame_spec s = { .payload = payload,
				.n = n,
				.ipv6 = link_.ipv6,
				.sport = port,
				.dport = link_.sport,
				.from = peer,
				.to = link_.ipv6 ? "2001:db8:2::1" : HOST };

	return kern_send(&kern, &s);
}

static bool is_player(const char *peer, __u16 port, const char *payload, size_t n)
{
	struct outcome o = hear_from(peer, port, payload, n);

	return !o.other && o.reason == REASON_PLAYER && o.action == XDP_PASS;
}

static void player_at(const char *peer, __u16 port, struct player_key *ret)
{
	memset(ret, 0, sizeof(*ret));
	kern_address(peer, ret->addr);
	ret->port = htons(port);
}

static bool player_read(__u16 port, struct player *ret)
{
	struct player_key key;

	player_at(link_.peer, port, &key);
	return !bpf_map_lookup_elem(bpf_map__fd(kern.skel->maps.players), &key, ret);
}

/* --- game datagrams ------------------------------------------------------------------
 */

static void put32(char *at, __u32 value)
{
	memcpy(at, &value, sizeof(value));
}

static void put32be(char *at, __u32 value)
{
	put32(at, htonl(value));
}

static void put16(char *at, __u16 value)
{
	memcpy(at, &value, sizeof(value));
}

/* Quake III: sequence, qport, then what is the checksum if there is one. */
static bool q3_heard(__u16 port, __u32 sequence, __u16 qport, __u32 checksum)
{
	char move[40] = { 0 };

	put32(move, sequence);
	put16(move + 4, qport);
	put32(move + 6, checksum);
	return is_player(link_.peer, port, move, sizeof(move));
}

/* QuakeWorld; Quake II has the same head, and looks at no qport. */
static bool qw_heard(__u16 port, __u32 sequence, __u32 ack, __u16 qport)
{
	char move[40] = { 0 };

	put32(move, sequence);
	put32(move + 4, ack);
	put16(move + 8, qport);
	return is_player(link_.peer, port, move, sizeof(move));
}

static bool sent(__u32 sequence)
{
	char snapshot[220] = { 0 };

	put32(snapshot, sequence);
	return says(snapshot, sizeof(snapshot));
}

/* NetQuake: @what is the flags, after it length and sequence. */
static void nq_head(char *data, size_t n, __u32 what, __u32 sequence)
{
	memset(data, 0, n);
	put32be(data, what << 16 | (__u32)n);
	put32be(data + 4, sequence);
}

static bool nq_block(__u32 sequence, size_t n)
{
	char block[1400];

	nq_head(block, n, 0x0009, sequence);
	return says(block, n);
}

static bool nq_update(__u32 sequence, __u32 clock, size_t n)
{
	char update[1400];

	nq_head(update, n, 0x0010, sequence);
	update[8] = 7;
	put32(update + 9, clock);
	return says(update, n);
}

static bool nq_acked(__u32 sequence)
{
	char ack[8];

	nq_head(ack, sizeof(ack), 0x0002, sequence);
	return is_player(link_.peer, link_.dport, ack, sizeof(ack));
}

/* @at: where the clock stands, 9 in NetQuake, 13 in DarkPlaces 7. */
static bool nq_moved(__u32 sequence, __u32 clock, int at)
{
	char move[32];

	nq_head(move, sizeof(move), 0x0010, sequence);
	move[8] = 3;
	put32(move + at, clock);
	return is_player(link_.peer, link_.dport, move, sizeof(move));
}

static void ask(const char *from, __u16 port)
{
	assert_int_equal(hear_from(from, port, BYTES(OOB "getstatus")).action, XDP_PASS);
}

/* --- who is a player -----------------------------------------------------------------
 */

static void the_server_says_who_plays(void **state)
{
	static const struct {
		const char *name;
		enum wire_family family;
		const char *said;
		size_t n;
		bool enters;
	} rows[] = {
		{ "connectResponse", FAMILY_QUAKE3, BYTES(OOB "connectResponse"), true },
		{ "connectResponse 7", FAMILY_QUAKE3, BYTES(OOB "connectResponse 7"),
		  true },
		{ "snapshot", FAMILY_QUAKE3, BYTES("\7\0\0\0snapshot"), true },
		{ "fragment", FAMILY_QUAKE3, BYTES("\7\0\0\x80gamestate"), true },
		{ "client_connect", FAMILY_QUAKE2, BYTES(OOB "client_connect"), true },
		{ "quake2 game", FAMILY_QUAKE2, BYTES("\1\0\0\0\1\0\0\0data"), true },
		{ "j", FAMILY_QUAKEWORLD, BYTES(OOB "j"), true },
		{ "quakeworld game", FAMILY_QUAKEWORLD, BYTES("\1\0\0\0\1\0\0\0data"),
		  true },
		{ "accept", FAMILY_NETQUAKE, BYTES(OOB "accept"), true },
		{ "netquake update", FAMILY_NETQUAKE,
		  BYTES("\0\x10\0\x0d\0\0\0\1\7\0\0\x80\x3f"), true },
		{ "DTLS data", FAMILY_QUAKE_ENHANCED,
		  BYTES("\x17\xfe\xfd\0\1\0\0\0\0\0\1\0\4data"), true },
		/* What strangers can draw. */
		{ "challengeResponse", FAMILY_QUAKE3, BYTES(OOB "challengeResponse 1"),
		  false },
		{ "statusResponse", FAMILY_QUAKE3, BYTES(OOB "statusResponse\n\\a\\b"),
		  false },
		{ "infoResponse", FAMILY_QUAKE3, BYTES(OOB "infoResponse\n\\a\\b"),
		  false },
		{ "print", FAMILY_QUAKE3, BYTES(OOB "print\nno"), false },
		{ "disconnect", FAMILY_QUAKE3, BYTES(OOB "disconnect"), false },
		{ "quake2 challenge", FAMILY_QUAKE2, BYTES(OOB "challenge 1"), false },
		{ "quake2 print", FAMILY_QUAKE2, BYTES(OOB "print\nno"), false },
		{ "quake2 ack", FAMILY_QUAKE2, BYTES(OOB "ack"), false },
		{ "quake2 info", FAMILY_QUAKE2, BYTES(OOB "info\nname"), false },
		{ "quakeworld challenge", FAMILY_QUAKEWORLD, BYTES(OOB "c123"), false },
		{ "quakeworld print", FAMILY_QUAKEWORLD, BYTES(OOB "nno\n"), false },
		{ "quakeworld ping's answer", FAMILY_QUAKEWORLD, BYTES("l"), false },
		{ "quakeworld log's answer", FAMILY_QUAKEWORLD, BYTES("m"), false },
		{ "darkplaces challenge", FAMILY_NETQUAKE, BYTES(OOB "challenge xyz"),
		  false },
		{ "darkplaces reject", FAMILY_NETQUAKE, BYTES(OOB "reject no"), false },
		{ "netquake info", FAMILY_NETQUAKE, BYTES("\x80\0\0\x09\x83tst\0"),
		  false },
		{ "netquake accept, same port", FAMILY_NETQUAKE,
		  BYTES("\x80\0\0\x09\x81\x38\x6d\0\0"), false },
		{ "DTLS cookie", FAMILY_QUAKE_ENHANCED,
		  BYTES("\x16\xfe\xff\0\0\0\0\0\0\0\0\0\x23\3\0\0\x17\0\0\0\0\0\0\0\x17"
			"\xfe\xff\x14"
			"01234567890123456789"),
		  false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct player player;

		serve(rows[i].family);
		link_.dport = (__u16)(HERE + i);
		assert_true(says(rows[i].said, rows[i].n));
		if (player_read(link_.dport, &player) != rows[i].enters)
			print_error("%s\n", rows[i].name);
		assert_int_equal(player_read(link_.dport, &player), rows[i].enters);
	}
}

static void strangers_never_enter(void **state)
{
	static const enum wire_family families[] = { FAMILY_QUAKE3, FAMILY_QUAKEWORLD,
						     FAMILY_QUAKE2, FAMILY_NETQUAKE };

	(void)state;
	for (size_t f = 0; f < COUNT(families); f++) {
		struct player_key key;
		struct player player;

		serve(families[f]);
		for (__u32 i = 1; i <= 64; i++) {
			assert_false(q3_heard(HERE, i, 77, 0));
			assert_false(nq_moved(i, i, 9));
		}
		hear_from(PEER, HERE, BYTES(OOB "connect 28 77 1 \"\\name\\x\"\n"));
		hear_from(PEER, HERE, BYTES("\x80\0\0\x0c\1QUAKE\0\3"));
		assert_false(player_read(HERE, &player));
		assert_int_not_equal(
			bpf_map_get_next_key(bpf_map__fd(kern.skel->maps.players), NULL,
					     &key),
			0);
	}
}

/* One who plays says nothing about the port beside, the address beside, another slot. */
static void a_player_is_one_port(void **state)
{
	char move[40] = { 1 };

	(void)state;
	serve(FAMILY_QUAKE3);
	assert_true(sent(1));
	assert_true(q3_heard(HERE, 1, 77, 0));
	assert_false(q3_heard(HERE + 1, 1, 77, 0));
	assert_false(is_player(STRANGER, HERE, move, sizeof(move)));
	link_.ipv6 = true;
	assert_false(is_player("2001:db8:1::1", HERE, move, sizeof(move)));
	link_.peer = "2001:db8:1::1";
	assert_true(sent(1));
	assert_true(is_player("2001:db8:1::1", HERE, move, sizeof(move)));
}

static void silence_ends_it(void **state)
{
	(void)state;
	serve(FAMILY_QUAKE3);
	assert_true(sent(1));
	pass_time(59 * SECOND);
	assert_true(q3_heard(HERE, 1, 77, 0));
	pass_time(2 * SECOND);
	assert_false(q3_heard(HERE, 2, 77, 0)); /* the peer alone keeps nothing alive */
	assert_true(sent(2));
	assert_true(q3_heard(HERE, 3, 99, 0)); /* and nothing that was learned is left */
}

static void a_player_has_a_budget(void **state)
{
	int passed = 0;

	(void)state;
	serve(FAMILY_QUAKE3);
	assert_true(sent(1));
	for (__u32 i = 1; i <= 1000; i++)
		passed += q3_heard(HERE, i, 77, 0);
	assert_int_equal(passed, 400);
	assert_int_equal(hear_from(PEER, HERE, BYTES("\x91\1\0\0\x4d\0moves")).reason,
			 REASON_PLAYER_BUDGET);
	pass_time(SECOND / 8);
	passed = 0;
	for (__u32 i = 1001; i <= 2000; i++)
		passed += q3_heard(HERE, i, 77, 0);
	assert_int_equal(passed, 100);
}

/* --- what is believed ----------------------------------------------------------------
 */

/* Enter a player, and let it prove @qport by datagrams @first .. */
static void q3_settle(__u32 first, __u16 qport)
{
	assert_true(sent(1));
	for (__u32 i = 0; i < 10; i++)
		assert_true(q3_heard(HERE, first + i, qport, 0));
}

static void a_qport_is_learned_and_held_to(void **state)
{
	struct player player;

	(void)state;
	serve(FAMILY_QUAKE3);
	assert_true(sent(1));
	/* Before that, any. */
	for (__u32 i = 1; i <= 6; i++)
		assert_true(q3_heard(HERE, i, i % 2 ? 77 : 88, 0));
	assert_true(player_read(HERE, &player));
	assert_false(player.flags & PLAYER_QPORT);
	q3_settle(7, 77);
	assert_true(player_read(HERE, &player));
	assert_true(player.flags & PLAYER_QPORT);
	assert_int_equal(player.qport, 77);
	assert_false(q3_heard(HERE, 17, 78, 0));
	assert_true(q3_heard(HERE, 17, 77, 0));
}

/* One forged datagram with a sequence far away must not shut the player out. */
static void a_forged_start_does_not_stick(void **state)
{
	(void)state;
	serve(FAMILY_QUAKE3);
	assert_true(sent(1));
	assert_true(q3_heard(HERE, 0x7ffffff0, 99, 0));
	for (__u32 i = 5; i < 20; i++)
		assert_true(q3_heard(HERE, i, 77, 0));
	assert_false(q3_heard(HERE, 20, 99, 0));

	/* The same datagram over and over proves nothing. */
	link_.dport = HERE + 1;
	assert_true(sent(1));
	for (int i = 0; i < 50; i++)
		assert_true(q3_heard(HERE + 1, 7, 99, 0));
	assert_true(q3_heard(HERE + 1, 8, 77, 0));
}

static void sequences_fit_a_window(void **state)
{
	static const struct {
		__u32 sequence;
		__u64 silent_ms;
		bool fits;
	} rows[] = {
		{ 1010, 0, true },  { 1010, 0, true },	  { 947, 0, true },
		{ 946, 0, false },  { 1, 0, false },	  { 1521, 0, true },
		{ 2033, 0, false }, { 1022, 0, false },	  { 0x7fffffff, 0, false },
		{ 3000, 0, false }, { 3000, 1100, true }, { 2989, 0, true },
	};

	(void)state;
	serve(FAMILY_QUAKE3);
	q3_settle(1000, 77); /* .. 1009 */
	for (size_t i = 0; i < COUNT(rows); i++) {
		pass_time(rows[i].silent_ms << 20);
		if (q3_heard(HERE, rows[i].sequence, 77, 0) != rows[i].fits) {
			print_error("row %zu: %u\n", i, rows[i].sequence);
			fail();
		}
	}
}

static void acks_fit_a_window(void **state)
{
	static const enum wire_family families[] = { FAMILY_QUAKEWORLD, FAMILY_QUAKE2 };

	(void)state;
	for (size_t f = 0; f < COUNT(families); f++) {
		serve(families[f]);
		link_.dport = (__u16)(HERE + f);
		assert_true(sent(10000));
		assert_true(qw_heard(link_.dport, 1, 10000, 77));
		assert_true(qw_heard(link_.dport, 2, 9990, 77));
		assert_false(qw_heard(link_.dport, 3, 10001, 77)); /* not sent yet */
		assert_false(qw_heard(link_.dport, 3, 10000 - 4096, 77));
		assert_false(qw_heard(link_.dport, 3, 0x40000000 - 1, 77));
		assert_true(qw_heard(link_.dport, 3, 0x80000000u | 10000, 77));
		assert_true(sent(10001));
		assert_true(qw_heard(link_.dport, 4, 10001, 77));
	}
	/* Quake II: any qport, 8 bits, 16 or none. */
	assert_true(qw_heard(link_.dport, 5, 10001, 1));
	assert_true(qw_heard(link_.dport, 6, 10001, 2));
}

static __u32 checksum71(__u32 challenge, __u32 sequence)
{
	return challenge ^ sequence * challenge;
}

static void checksums_are_held_to_once_seen(void **state)
{
	static const struct {
		const char *said;
		size_t n;
		__u32 challenge;
	} rows[] = {
		{ BYTES(OOB "connectResponse 1234567"), 1234567 },
		{ BYTES(OOB "connectResponse -98765"), (__u32)-98765 },
	};
	__u32 c, i;

	(void)state;
	serve(FAMILY_QUAKE3);
	for (size_t r = 0; r < COUNT(rows); r++) {
		link_.dport = (__u16)(HERE + r);
		assert_true(says(rows[r].said, rows[r].n));
		c = rows[r].challenge;
		for (i = 1; i <= 26; i++)
			assert_true(q3_heard(link_.dport, i, 77, checksum71(c, i)));
		assert_false(q3_heard(link_.dport, i, 77, checksum71(c, i) ^ 1));
		assert_false(q3_heard(link_.dport, i, 77, 0));
		assert_true(q3_heard(link_.dport, i, 77, checksum71(c, i)));
		/* The fragment bit is not part of it. */
		assert_true(q3_heard(link_.dport, i | 0x80000000u, 77, checksum71(c, i)));
	}
	/* OpenArena's 71 has none: there other bytes stand in that place. */
	link_.dport = HERE + 7;
	assert_true(says(BYTES(OOB "connectResponse 1234567")));
	for (i = 1; i <= 100; i++)
		assert_true(q3_heard(HERE + 7, i, 77, i * 2654435761u));
}

static void a_port_may_change_with_the_qport(void **state)
{
	struct player player;

	(void)state;
	serve(FAMILY_QUAKE3);
	q3_settle(1, 77);
	assert_false(q3_heard(HERE + 5, 11, 78, 0));
	assert_false(q3_heard(HERE + 5, 99999, 77, 0));
	assert_true(q3_heard(HERE + 5, 11, 77, 0));
	assert_false(
		player_read(HERE + 5, &player)); /* the server has not followed yet */
	link_.dport = HERE + 5;
	assert_true(sent(2));
	assert_true(player_read(HERE + 5, &player));
	for (__u32 i = 12; i < 24; i++)
		assert_true(q3_heard(HERE + 5, i, 77, 0));
	assert_true(q3_heard(HERE + 6, 24, 77, 0)); /* and again */
}

/* Accepted anew: the old qport and sequence are of a game that is over. */
static void a_reconnect_starts_over(void **state)
{
	(void)state;
	serve(FAMILY_QUAKE3);
	q3_settle(5000, 77);
	assert_false(q3_heard(HERE, 1, 88, 0));
	pass_time(2 * SECOND);
	assert_true(says(BYTES(OOB "connectResponse")));
	assert_true(q3_heard(HERE, 1, 88, 0));
}

/* --- NetQuake ------------------------------------------------------------------------
 */

static bool on_port(__u16 number)
{
	char move[32];

	nq_head(move, sizeof(move), 0x0010, 1);
	link_.sport = number;
	return !hear_from(link_.peer, link_.dport, move, sizeof(move)).other;
}

static void a_game_port_is_learned_and_forgotten(void **state)
{
	(void)state;
	serve(FAMILY_NETQUAKE);
	assert_false(on_port(45000));
	link_.sport = PORT;
	assert_true(says(BYTES("\x80\0\0\x09\x81\xc8\xaf\0\0"))); /* 45000 */
	read_live();
	assert_true(on_port(45000));
	assert_false(on_port(45001));
	link_.sport = 45000;
	pass_time(50 * SECOND);
	assert_true(nq_block(0, 40));
	pass_time(50 * SECOND);
	assert_true(on_port(45000));
	pass_time(20 * SECOND);
	assert_false(on_port(45000));

	/* Never over a service of the configuration, nor beyond 65535. */
	link_.sport = PORT;
	kern_port(&kern, 0, 45002, 3, false);
	assert_true(says(BYTES("\x80\0\0\x09\x81\xca\xaf\0\0")));
	assert_true(says(BYTES("\x80\0\0\x09\x81\xcb\xaf\1\0")));
	read_live();
	link_.sport = PORT;
	assert_false(on_port(45003));
}

/* Who names the clock that only the receiver was told is verified, and stays it. */
static void the_clock_proves_a_netquake_player(void **state)
{
	static const int places[] = { 9, 13 };

	(void)state;
	serve(FAMILY_NETQUAKE);
	for (size_t p = 0; p < COUNT(places); p++) {
		struct player player;
		__u32 clock = 0x41234567;

		link_.dport = (__u16)(HERE + p);
		for (__u32 i = 0; i < 3; i++) {
			assert_true(player_read(link_.dport, &player) ? true : !i);
			assert_true(nq_update(i, clock + i, 60));
			assert_true(player_read(link_.dport, &player));
			assert_false(player.flags & PLAYER_VERIFIED);
			assert_true(nq_moved(i, clock + i + 1, places[p]));
			assert_true(nq_moved(i, clock + i, places[p]));
			assert_true(nq_moved(i, clock + i, places[p]));
		}
		assert_true(player_read(link_.dport, &player));
		assert_true(player.flags & PLAYER_VERIFIED);
	}
}

/* The clock asked about is at most a second old, so that a lost one is no dead end. */
static void the_clock_is_renewed(void **state)
{
	struct player player;

	(void)state;
	serve(FAMILY_NETQUAKE);
	assert_true(nq_update(1, 1111, 60));
	assert_true(nq_update(2, 2222, 60));
	assert_true(player_read(HERE, &player));
	assert_int_equal(player.challenge, 1111);
	pass_time(2 * SECOND);
	assert_true(nq_update(3, 3333, 60));
	assert_true(player_read(HERE, &player));
	assert_int_equal(player.challenge, 3333);
}

/* An acknowledgement buys one block, once, and only before the game has begun. */
static void acks_buy_one_block_each(void **state)
{
	(void)state;
	serve(FAMILY_NETQUAKE);
	ledger(3000, 20);
	for (__u32 i = 0; i < 3; i++) {
		assert_true(nq_block(i, 900));
		assert_true(nq_acked(i));
	}
	assert_true(nq_block(3, 1400));
	assert_false(nq_block(3, 1400)); /* again: nobody paid for it */
	assert_true(nq_acked(2)); /* late, and acknowledged before */
	assert_false(nq_block(3, 1400));
	assert_false(nq_block(4, 1400)); /* not acknowledged: 3 */
	assert_true(nq_acked(4));
	assert_true(nq_block(5, 1400));

	/* In the game, with a clock, none counts. */
	pass_time(21 * SECOND);
	assert_true(nq_update(1, 1234, 100));
	assert_true(nq_acked(5));
	assert_true(nq_block(6, 1400));
	assert_true(nq_acked(6));
	assert_false(nq_block(7, 1400));

	/* Strict: not even that. */
	kern.live.ledger =
		(struct ledger){ .byte_ns = 1, .credit_ns = 1 << 20, .strict = 1 };
	kern_live(&kern);
	link_.peer = "203.0.113.1";
	for (int i = 0; i < 4; i++)
		ask(link_.peer, HERE);
	for (__u32 i = 0; i < 3; i++) {
		assert_true(nq_block(i, 8));
		assert_true(nq_acked(i));
	}
	assert_false(nq_block(3, 1400));
}

/* --- the ledger ----------------------------------------------------------------------
 */

static const char status[900] = OOB "statusResponse\n";
#define FRAME 42 /* headers in front of a payload */

static void a_prefix_pays_for_what_it_gets(void **state)
{
	__u64 in, out = 0;

	(void)state;
	serve(FAMILY_QUAKE3);
	ledger(8192, 20);
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
	ledger(1000, 20);
	for (size_t i = 0; i < COUNT(rows); i++) {
		link_.ipv6 = rows[i].ipv6;
		link_.peer = rows[i].peer;
		assert_int_equal(says(status, sizeof(status)), rows[i].leaves);
	}
}

static void strict_never_gives_more_than_it_got(void **state)
{
	(void)state;
	serve(FAMILY_QUAKE3);
	kern.live.ledger =
		(struct ledger){ .byte_ns = 1, .credit_ns = 1 << 20, .strict = 1 };
	kern_live(&kern);
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
	ledger(100, 20);
	assert_false(says(status, sizeof(status)));
	for (__u32 i = 1; i < 50; i++)
		assert_true(sent(i));
	assert_false(says(status, sizeof(status))); /* words cost a player too */
	kern_list(&kern, true, PEER, 128);
	assert_true(says(status, sizeof(status)));
}

static void answers_are_booked_to_their_requests(void **state)
{
	static char map[1000] = OOB "infoResponse\n";
	__u32 key = KIND_GETSTATUS;
	struct answers a;
	int fd = bpf_map__fd(kern.skel->maps.answers);

	(void)state;
	serve(FAMILY_QUAKE3);
	ask(PEER, HERE);
	assert_true(says(status, sizeof(status)));
	assert_true(says(status, 100));
	hear_from(PEER, HERE, BYTES(OOB "getinfo x"));
	assert_true(says(map, sizeof(map)));
	link_.dport = HERE + 1; /* who did not ask */
	assert_true(says(map, sizeof(map)));
	ask(PEER, HERE + 2); /* too late */
	link_.dport = HERE + 2;
	pass_time(5 * SECOND);
	assert_true(says(status, sizeof(status)));

	assert_int_equal(bpf_map_lookup_elem(fd, &key, &a), 0);
	assert_int_equal(a.requests, 2);
	assert_int_equal(a.bytes, 1000);
	key = KIND_GETINFO;
	assert_int_equal(bpf_map_lookup_elem(fd, &key, &a), 0);
	assert_int_equal(a.requests, 1);
	assert_int_equal(a.bytes, 1000);
}

/* What the daemon makes of that: who draws 4 kB pays as for four requests. */
static void costs_follow_answers(void **state)
{
	static char big[1400] = OOB "statusResponse\n";
	struct service s = kern_open_service(FAMILY_QUAKE3);
	struct live *shared = &kern.live;
	struct shield view = {
		.services = bpf_map__fd(kern.skel->maps.services),
		.players = bpf_map__fd(kern.skel->maps.players),
		.qports = bpf_map__fd(kern.skel->maps.qports),
		.answers = bpf_map__fd(kern.skel->maps.answers),
		.costs = bpf_map__fd(kern.skel->maps.costs),
		.capacity = KERN_SLOTS,
		.shared = shared,
	};
	int passed = 0;

	(void)state;
	serve(FAMILY_QUAKE3);
	for (int i = 0; i < 20; i++) {
		ask(PEER, HERE);
		for (int part = 0; part < 3; part++)
			assert_true(says(big, part < 2 ? 1400 : 1296));
	}
	shield_tend(&view);
	s.budget[CLASS_QUERY].source = kern_rate(1, 8);
	kern_service(&kern, 0, 0, &s);
	for (int i = 0; i < 10; i++)
		passed += hear_from(STRANGER, HERE, BYTES(OOB "getstatus")).action ==
			  XDP_PASS;
	assert_int_equal(passed, 2);
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
	ledger(1000, 20);
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter, leave)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_server_says_who_plays),
		TEST(strangers_never_enter),
		TEST(a_player_is_one_port),
		TEST(silence_ends_it),
		TEST(a_player_has_a_budget),
		TEST(a_qport_is_learned_and_held_to),
		TEST(a_forged_start_does_not_stick),
		TEST(sequences_fit_a_window),
		TEST(acks_fit_a_window),
		TEST(checksums_are_held_to_once_seen),
		TEST(a_port_may_change_with_the_qport),
		TEST(a_reconnect_starts_over),
		TEST(a_game_port_is_learned_and_forgotten),
		TEST(the_clock_proves_a_netquake_player),
		TEST(the_clock_is_renewed),
		TEST(acks_buy_one_block_each),
		TEST(a_prefix_pays_for_what_it_gets),
		TEST(prefixes_do_not_share),
		TEST(strict_never_gives_more_than_it_got),
		TEST(players_and_friends_are_exempt),
		TEST(answers_are_booked_to_their_requests),
		TEST(costs_follow_answers),
		TEST(fragments_share_a_fate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
