// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What keeps doors open: one wide network takes no more than its share, a master may ask
 * whoever reports to it, a DTLS handshake ends in a player, and a NetQuake sign-on that
 * somebody made up is sent no more than its prefix is good for.
 * stubs: shield_joined
 */
#include "config/config.h"
#include "kern/kern_game.h"

static void serve_default(enum wire_family family)
{
	struct service s = { .family = (__u8)family, .active = 1 };

	config_service_defaults(family, &s);
	kern_service(&kern, 0, 0, &s);
	kern_port(&kern, 0, PORT, 0, false);
	pass_time(600 * SECOND);
}

/*
 * How many getstatus get in of one in each of 20 ms for a minute, from the networks
 * around the numbers in @format.
 */
static unsigned int share_of(const char *format, unsigned int networks)
{
	unsigned int in = 0;

	for (unsigned int i = 0; i < 3000; i++) {
		char from[64];

		snprintf(from, sizeof(from), format, i % networks, 1 + i / networks);
		in += hear_from(from, HERE, BYTES(OOB "getstatus")).action == XDP_PASS;
		pass_time(SECOND / 50);
	}
	return in;
}

static void one_wide_network_leaves_room(void **state)
{
	(void)state;
	/* 6 a second in all, 3 for a prefix: 4 and a burst, of 360. */
	serve_default(FAMILY_QUAKE3);
	assert_in_range(share_of("192.0.%u.%u", 16), 200, 260);
	serve_default(FAMILY_QUAKE3);
	link_.ipv6 = true;
	assert_in_range(share_of("2001:db8:7:%x00::%x", 256), 200, 260);
	/* And the next one has as much. */
	assert_in_range(share_of("2001:db8:8:%x00::%x", 256), 200, 260);
	/* From everywhere it is the whole budget. */
	link_.ipv6 = false;
	pass_time(60 * SECOND);
	assert_in_range(share_of("198.%u.7.%u", 200), 350, 380);
}

/* A flood keeps the budget spent; who the server reports to is answered all the same. */
static void who_is_reported_to_may_ask(void **state)
{
	static const struct {
		enum wire_family family;
		const char *report;
		size_t n;
		const char *asks;
	} rows[] = {
		{ FAMILY_QUAKE3, BYTES(OOB "heartbeat QuakeArena-1\n"),
		  OOB "getinfo abc" },
		{ FAMILY_QUAKE3, BYTES(OOB "getIpAuthorize 1 192.0.2.1 \n"),
		  OOB "ipAuthorize 1 accept" },
		{ FAMILY_NETQUAKE, BYTES(OOB "heartbeat DarkPlaces\n"),
		  OOB "getinfo abc" },
		{ FAMILY_QUAKEWORLD, BYTES("a\n12\n4\n"), OOB "status\n" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct service s = kern_open_service(rows[i].family);
		size_t n = strlen(rows[i].asks + 4) + 4;
		unsigned int in = 0;

		s.budget[CLASS_QUERY].service = (struct limit){ SECOND, 0 };
		s.budget[CLASS_CONNECT].service = (struct limit){ SECOND, 0 };
		kern_service(&kern, 0, 0, &s);
		kern_port(&kern, 0, PORT, 0, false);
		link_.peer = STRANGER;
		pass_time(600 * SECOND);
		assert_int_equal(hear_from(STRANGER, HERE, rows[i].asks, n).action,
				 XDP_DROP);
		assert_true(says(rows[i].report, rows[i].n));
		pass_time(300 * SECOND);
		/* Eight at once, then one in two seconds: in its name asks whoever likes.
		 */
		for (int a = 0; a < 100; a++)
			in += hear_from(STRANGER, HERE, rows[i].asks, n).action ==
			      XDP_PASS;
		assert_int_equal(in, 8);
		assert_int_equal(hear_from(PEER, HERE, rows[i].asks, n).action, XDP_DROP);
		pass_time(2 * SECOND);
		assert_int_equal(hear_from(STRANGER, HERE, rows[i].asks, n).action,
				 XDP_PASS);
		assert_int_equal(hear_from(STRANGER, HERE, rows[i].asks, n).action,
				 XDP_DROP);
		/* The next report gives it back what others have spent. */
		assert_true(says(rows[i].report, rows[i].n));
		in = 0;
		for (int a = 0; a < 100; a++)
			in += hear_from(STRANGER, HERE, rows[i].asks, n).action ==
			      XDP_PASS;
		assert_int_equal(in, 8);
		pass_time(1000 * SECOND);
		assert_int_equal(hear_from(STRANGER, HERE, rows[i].asks, n).action,
				 XDP_DROP);
	}
}

/* It reports for one service, and may ask that one alone. */
static void a_report_is_one_services(void **state)
{
	struct service s = kern_open_service(FAMILY_QUAKE3);

	(void)state;
	s.budget[CLASS_QUERY].service = (struct limit){ SECOND, 0 };
	for (__u32 slot = 0; slot < 3; slot++) {
		kern_service(&kern, 0, slot, &s);
		kern_port(&kern, 0, (__u16)(PORT + slot), (int)slot, false);
	}
	link_.peer = STRANGER;
	link_.sport = PORT + 1;
	assert_true(says(BYTES(OOB "heartbeat QuakeArena-1\n")));
	for (__u16 slot = 0; slot < 3; slot++) {
		struct outcome o;

		link_.sport = PORT + slot;
		o = hear_from(STRANGER, HERE, BYTES(OOB "getinfo abc"));
		assert_int_equal(o.action, slot == 1 ? XDP_PASS : XDP_DROP);
		/* As anybody's whom there is budget for: it is on no list. */
		if (slot == 1)
			assert_int_equal(o.reason, REASON_WITHIN_LIMITS);
	}
}

/* Whatever the server's last datagram of the handshake begins with. */
static void a_finished_handshake_is_a_player(void **state)
{
	static const struct {
		const char *name, *head;
		bool enters;
	} rows[] = {
		{ "ServerHelloDone", "\x16\xfe\xfd\0\0\0\0\0\0\0\5\0\x1f\x0e", false },
		{ "HelloVerifyRequest", "\x16\xfe\xfd\0\0\0\0\0\0\0\5\0\x1f\x03", false },
		{ "NewSessionTicket", "\x16\xfe\xfd\0\0\0\0\0\0\0\5\0\x1f\x04", true },
		{ "ChangeCipherSpec", "\x14\xfe\xfd\0\0\0\0\0\0\0\6\0\x01\x01", true },
		{ "Finished", "\x16\xfe\xfd\0\1\0\0\0\0\0\0\0\x1f\x99", true },
	};

	(void)state;
	serve(FAMILY_QUAKE_ENHANCED);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct player player = { 0 };
		char flight[44] = "";

		memcpy(flight, rows[i].head, 14);
		link_.dport = (__u16)(2000 + i);
		assert_true(says(flight, sizeof(flight)));
		if (player_read(link_.dport, &player) != rows[i].enters)
			print_error("%s\n", rows[i].name);
		assert_int_equal(player_read(link_.dport, &player), rows[i].enters);
		if (rows[i].enters)
			assert_true(player.flags & PLAYER_VERIFIED &&
				    player.flags & PLAYER_RECORDS);
	}
}

/*
 * Blocks are acknowledged as somebody would who never sees them; 20 of 1 kB for each of
 * many sign-ons to one prefix. Returns the octets of frames that left, and what came.
 */
static __u64 sign_on(__u16 port, __u64 *in)
{
	const size_t size = 1032;
	__u64 out = 0;

	link_.dport = port;
	for (__u32 block = 0; block < 20; block++) {
		char ack[8];

		out += nq_block(block, size) * (size + 42);
		nq_head(ack, sizeof(ack), 0x0002, block);
		hear_from(link_.peer, port, ack, sizeof(ack));
		*in += 60;
		pass_time(SECOND / 20);
	}
	return out;
}

static void made_up_sign_ons_are_bounded(void **state)
{
	__u64 out = 0, in = 0, most;

	(void)state;
	serve(FAMILY_NETQUAKE);
	amplification(AMPLIFICATION_ALLOWANCE, AMPLIFICATION_REFILL_S);
	pass_time(SECOND * AMPLIFICATION_REFILL_S);
	/* A minute of it, one a second; the first is sent all that it asked for. */
	out = sign_on(1000, &in);
	assert_true(out >= 20 * 1074);
	for (__u16 i = 1; i < 60; i++)
		out += sign_on((__u16)(1000 + i), &in);
	/* Both ledgers' allowances, at once and as they grow back in a minute. */
	most = in + AMPLIFICATION_ALLOWANCE * (1 + 60 / AMPLIFICATION_REFILL_S) +
	       AMPLIFICATION_ALLOWANCE * (8 + 60 / AMPLIFICATION_REFILL_S);
	if (out > most)
		print_error("%llu out, %llu in, at most %llu\n", out, in, most);
	assert_true(out <= most);
	assert_true(out >
		    AMPLIFICATION_ALLOWANCE * (8 + 2 * 60 / AMPLIFICATION_REFILL_S));
	/* Elsewhere somebody signs on. */
	link_.peer = "203.0.113.5";
	assert_true(sign_on(3000, &in) >= 20 * 1074);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_wide_network_leaves_room),
		TEST(who_is_reported_to_may_ask),
		TEST(a_report_is_one_services),
		TEST(a_finished_handshake_is_a_player),
		TEST(made_up_sign_ons_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
