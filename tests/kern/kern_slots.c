// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * `players { source, prefix }` in the kernel, both programs together: which requests to
 * join are refused, and which players count.
 * stubs: shield_cache shield_joined
 */
#include "kern/kern_game.h"

#define NQ_CONNECT BYTES("\x80\0\0\x0c\1QUAKE\0\3")

/* How the client of each family asks to join, and how the server accepts it. */
static const struct family {
	enum wire_family family;
	const char *connect, *accept;
} families[] = {
	{ FAMILY_QUAKE3, OOB "connect \"\\qport\\7\"", OOB "connectResponse" },
	{ FAMILY_QUAKEWORLD, OOB "connect 28 7 1 \"\\name\\a\"\n", OOB "j" },
	{ FAMILY_QUAKE2, OOB "connect 34 7 1 \"\\name\\a\"\n", OOB "client_connect" },
	{ FAMILY_NETQUAKE, OOB "connect\\protocol\\darkplaces 3\\challenge\\a",
	  OOB "accept" },
	{ FAMILY_AUTO, OOB "connect 28 7 1 \"\\name\\a\"\n", OOB "j" },
};

static const struct family *game;

static void serve_slots(const struct family *f, __u16 source, __u16 prefix)
{
	game = f;
	serve(f->family);
	kern.live->tables[0].services[0].players_source = source;
	kern.live->tables[0].services[0].players_prefix = prefix;
}

static struct outcome ask_to_join(const char *peer, __u16 port)
{
	return hear_from(peer, port, game->connect, strlen(game->connect));
}

static bool refused(const char *peer, __u16 port)
{
	struct outcome o = ask_to_join(peer, port);

	if (o.action == XDP_PASS)
		return false;
	assert_int_equal(o.reason, REASON_PLAYER_SLOTS);
	assert_int_equal(o.action, XDP_DROP);
	return true;
}

/* The client asks, and the server accepts it. False: refused on the way. */
static bool joins(const char *peer, __u16 port)
{
	if (refused(peer, port))
		return false;
	link_.peer = peer;
	link_.dport = port;
	assert_true(says(game->accept, strlen(game->accept)));
	return true;
}

/* How many of @n clients join from @peer, at the ports from @port on. */
static int join_all(const char *peer, __u16 port, int n)
{
	int in = 0;

	for (int i = 0; i < n; i++)
		in += joins(peer, (__u16)(port + i));
	return in;
}

static __u32 sequence;

/*
 * For @ms the server sends a snapshot every 100 ms to @n clients at @peer, and each
 * answers if @heard.
 */
static void play(const char *peer, __u16 port, int n, int ms, bool heard)
{
	link_.peer = peer;
	for (; ms > 0; ms -= 100) {
		pass_time(SECOND / 10);
		sequence++;
		for (int i = 0; i < n; i++) {
			link_.dport = (__u16)(port + i);
			assert_true(sent(sequence));
			if (!heard)
				continue;
			if (game->family == FAMILY_QUAKE3)
				assert_true(q3_heard(link_.dport, sequence, 7, 0));
			else
				assert_true(qw_heard(link_.dport, sequence, sequence, 7));
		}
	}
}

static void a_source_has_its_slots_and_no_more(void **state)
{
	static const char *const peers[] = { PEER, "2001:db8:1::1" };
	static const char *const others[] = { "192.0.2.2", "2001:db8:1:1::1" };

	(void)state;
	for (size_t i = 0; i < 2 * COUNT(families); i++) {
		link_.ipv6 = i & 1;
		serve_slots(&families[i / 2], 4, 0);
		assert_int_equal(join_all(peers[i & 1], 1000, 4), 4);
		assert_true(refused(peers[i & 1], 1004));
		/* A player that connects anew is one of the four. */
		assert_true(joins(peers[i & 1], 1002));
		assert_true(refused(peers[i & 1], 1004));
		assert_true(joins(others[i & 1], 1000));
		/* The upper half of an IPv6 address is the source. */
		if (link_.ipv6)
			assert_true(refused("2001:db8:1::2", 1000));
		pass_time(100 * SECOND);
	}
}

static void a_prefix_has_its_slots_and_no_more(void **state)
{
	static const char *const nets[][3] = {
		{ "192.0.2.1", "192.0.2.200", "192.0.3.1" },
		{ "2001:db8:1:100::1", "2001:db8:1:1ff::1", "2001:db8:1:200::1" },
	};

	(void)state;
	for (size_t i = 0; i < 2 * COUNT(families); i++) {
		const char *const *net = nets[i & 1];

		link_.ipv6 = i & 1;
		serve_slots(&families[i / 2], 4, 6);
		assert_int_equal(join_all(net[0], 1000, 4), 4);
		assert_int_equal(join_all(net[1], 2000, 4), 2);
		assert_true(joins(net[1], 2001));
		assert_true(joins(net[2], 1000));
		pass_time(100 * SECOND);
	}
}

/* Players are counted anew in each period; the count is the same over its bounds. */
static void a_full_source_stays_full_while_it_plays(void **state)
{
	(void)state;
	for (size_t i = 0; i < 3; i++) {
		serve_slots(&families[i], 3, 0);
		sequence = 0;
		assert_int_equal(join_all(PEER, 1000, 3), 3);
		for (int again = 0; again < 100; again++) {
			play(PEER, 1000, 3, 100, true);
			assert_true(refused(PEER, 1003));
			assert_true(joins(PEER, 1001));
		}
		pass_time(100 * SECOND);
	}
}

/* At the bound of a period a newcomer counts beside players that are not yet counted. */
static void a_newcomer_counts_at_once(void **state)
{
	(void)state;
	for (int at = 0; at < 20; at++) {
		serve_slots(&families[1], 4, 0);
		sequence = 0;
		assert_int_equal(join_all(PEER, 1000, 3), 3);
		play(PEER, 1000, 3, 100 * at, true);
		/* Another period begins, and none of the three is counted in it yet. */
		kern.live->clock_ns = ((kern.live->clock_ns >> CONNLIMIT_TICK) + 1)
				      << CONNLIMIT_TICK;
		assert_int_equal(join_all(PEER, 2000, 3), 1);
		pass_time(100 * SECOND);
	}
}

/*
 * A LAN crashes, all of it, at the default limits. The server goes on sending to the old
 * ports for minutes, and all get in again from new ones.
 */
static void a_lan_restarts_at_once(void **state)
{
	(void)state;
	for (size_t i = 0; i < 3; i++) {
		serve_slots(&families[i], 16, 64);
		sequence = 0;
		assert_int_equal(join_all(PEER, 1000, 17), 16);
		play(PEER, 1000, 16, 1000, true);
		play(PEER, 1000, 16, 7000, false);
		assert_int_equal(join_all(PEER, 2000, 17), 16);
		/* Which is all, until the server gives the old ones up. */
		play(PEER, 1000, 32, 7000, false);
		assert_int_equal(join_all(PEER, 3000, 1), 0);
		play(PEER, 2000, 16, 7000, false);
		assert_int_equal(join_all(PEER, 3000, 17), 16);
		pass_time(100 * SECOND);
	}
}

/* Silent fakes take twice the limit and no more. */
static void silence_takes_twice_as_many(void **state)
{
	int in = 0;

	(void)state;
	serve_slots(&families[0], 4, 0);
	sequence = 0;
	for (int again = 0; again < 5; again++) {
		in += join_all(PEER, (__u16)(1000 + in), 10);
		play(PEER, 1000, in, 7000, false);
	}
	assert_int_equal(in, 8);
}

/* Datagrams of spoofed sources take none of an address's slots. */
static void a_forger_takes_no_slots(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(families); i++) {
		serve_slots(&families[i], 2, 2);
		for (int n = 0; n < 50; n++) {
			assert_false(refused(PEER, (__u16)(1000 + n)));
			/* The server challenges it, or is told to go. */
			link_.peer = PEER;
			link_.dport = (__u16)(1000 + n);
			assert_true(says(BYTES(OOB "print\nno\n")));
		}
		assert_int_equal(join_all(PEER, 2000, 3), 2);
		pass_time(100 * SECOND);
	}
}

/* CCREQ_CONNECT from @peer, of NetQuake. */
static enum reason nq_asks(const char *peer)
{
	return hear_from(peer, HERE, NQ_CONNECT).reason;
}

/*
 * For four seconds the server sends a game to @n @peers, of which the first @there return
 * the marks of their clocks.
 */
static void nq_play(const char *const *peers, int n, int there)
{
	static __u32 update;

	link_.dport = HERE;
	for (int step = 0; step < 40; step++, update++) {
		pass_time(SECOND / 10);
		for (int i = 0; i < n; i++) {
			link_.peer = peers[i];
			nq_update(update, 0x41000000 + (update << 12), 60);
			if (i < there)
				nq_moved(update, nq_told(), 9);
		}
	}
}

static const char *const nq_peers[] = { "192.0.2.1", "192.0.2.2", "192.0.2.3" };

/*
 * NetQuake draws a game to an address by one spoofed datagram. Such players count once
 * they have returned the marks of their clocks.
 */
static void netquake_counts_who_returns_marks(void **state)
{
	(void)state;
	serve_slots(&families[3], 9, 2);
	amplification(1 << 20, 20);
	for (int there = 0; there <= 3; there++) {
		nq_play(nq_peers, 3, there);
		assert_int_equal(nq_asks("192.0.2.9"),
				 there < 2 ? REASON_WITHIN_LIMITS : REASON_PLAYER_SLOTS);
		assert_int_equal(nq_asks("192.0.3.9"), REASON_WITHIN_LIMITS);
	}
}

/* Where no clock is marked, any source can name the clocks. */
static void unmarked_clocks_do_not_count(void **state)
{
	(void)state;
	serve_slots(&families[3], 9, 1);
	nq_play(nq_peers, 3, 3);
	assert_int_equal(nq_asks("192.0.2.9"), REASON_WITHIN_LIMITS);
}

/* A ClientHello with a cookie is Quake Enhanced's. */
static void quake_enhanced_is_refused_before_its_handshake(void **state)
{
	static const struct family qe = { FAMILY_QUAKE_ENHANCED, "", "" };
	static const char head[] =
		"\x16\xfe\xff\0\0\0\0\0\0\0\0\0\x3e\1\0\0\x32\0\0\0\0\0\0\0\x32\xfe\xfd";
	const size_t n = 75;
	char hello[75];

	(void)state;
	serve_slots(&qe, 2, 0);
	memset(hello, 0x5a, n);
	memcpy(hello, head, sizeof(head) - 1);
	hello[59] = 0; /* bytes of session */
	hello[60] = 4; /* bytes of cookie */
	for (int i = 0; i < 3; i++) {
		struct outcome o = hear_from(PEER, (__u16)(1000 + i), hello, n);

		assert_int_equal(o.kind, KIND_DTLS_HELLO_COOKIE);
		assert_int_equal(o.reason,
				 i < 2 ? REASON_WITHIN_LIMITS : REASON_PLAYER_SLOTS);
		link_.dport = (__u16)(1000 + i);
		/* The change of ciphers. */
		assert_true(says(BYTES("\x14\xfe\xfd\0\0\0\0\0\0\0\5\0\1\1")));
	}
}

/* Where addresses are validated, too. */
static void a_validated_address_has_no_more_slots(void **state)
{
	(void)state;
	for (size_t i = 0; i < 4; i++) {
		serve_slots(&families[i], 2, 0);
		kern.live->tables[0].services[0].validation = VALIDATION_UNDER_LOAD;
		service_finish(&kern.live->tables[0].services[0], 0, kern.live->keys);
		assert_int_equal(join_all(PEER, 1000, 5), 2);
		assert_true(joins(PEER, 1001));
		kern_list_as(&kern, true, PEER, 128, LIST_RUNTIME);
		assert_int_equal(join_all(PEER, 2000, 5), 5);
		kern.live->lists = 0;
		pass_time(100 * SECOND);
	}
}

/* The allow list lifts the limit, even for a source beyond its own limits. */
static void an_allowed_source_beyond_its_limits_has_its_slots(void **state)
{
	(void)state;
	for (size_t i = 0; i < 4; i++) {
		serve_slots(&families[i], 2, 2);
		kern.live->tables[0].services[0].validation = VALIDATION_UNDER_LOAD;
		service_finish(&kern.live->tables[0].services[0], 0, kern.live->keys);
		kern_list_as(&kern, true, PEER, 128, LIST_RUNTIME);
		for (int n = 0; n < 1000; n++)
			ask_to_join(PEER, 999);
		assert_int_not_equal(ask_to_join(PEER, 999).reason, REASON_ALLOW_LIST);
		assert_int_equal(join_all(PEER, 1000, 5), 5);
		kern.live->lists = 0;
		assert_true(refused(PEER, 2000));
		pass_time(100 * SECOND);
	}
}

static void no_limit_lets_all_in(void **state)
{
	(void)state;
	serve_slots(&families[1], 0, 0);
	assert_int_equal(join_all(PEER, 1000, 200), 200);
	kern.live->tables[0].services[0].players_source = 201;
	assert_int_equal(join_all(PEER, 2000, 200), 1);
	kern.live->tables[0].services[0].observe = 1;
	assert_int_equal(ask_to_join(PEER, 3000).reason, REASON_PLAYER_SLOTS);
	assert_int_equal(ask_to_join(PEER, 3000).action, XDP_PASS);
	kern_list_as(&kern, true, PEER, 128, LIST_RUNTIME);
	assert_int_equal(ask_to_join(PEER, 3000).reason, REASON_WITHIN_LIMITS);
}

/* Players of another service take none. */
static void each_service_has_its_own(void **state)
{
	struct service s = kern_open_service(FAMILY_QUAKEWORLD);

	(void)state;
	serve_slots(&families[1], 2, 2);
	s.players_source = s.players_prefix = 2;
	kern_service(&kern, 0, 1, &s);
	kern_port(&kern, 0, 28000, 1, false);
	assert_int_equal(join_all(PEER, 1000, 3), 2);
	link_.sport = 28000;
	assert_int_equal(join_all(PEER, 1000, 3), 2);
	assert_int_equal(join_all("192.0.2.77", 1000, 3), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_source_has_its_slots_and_no_more),
		TEST(a_prefix_has_its_slots_and_no_more),
		TEST(a_full_source_stays_full_while_it_plays),
		TEST(a_newcomer_counts_at_once),
		TEST(a_lan_restarts_at_once),
		TEST(silence_takes_twice_as_many),
		TEST(a_forger_takes_no_slots),
		TEST(netquake_counts_who_returns_marks),
		TEST(unmarked_clocks_do_not_count),
		TEST(quake_enhanced_is_refused_before_its_handshake),
		TEST(a_validated_address_has_no_more_slots),
		TEST(an_allowed_source_beyond_its_limits_has_its_slots),
		TEST(no_limit_lets_all_in),
		TEST(each_service_has_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
