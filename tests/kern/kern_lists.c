// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Who is allowed is let in beyond the budgets and sent beyond a stranger's amplification
 * limit, but not without limits, since anybody can write that address: unless it says
 * `unlimited`. And lists are looked up only where they may say something.
 * stubs: shield_cache shield_joined
 */
#include "config/config.h"
#include "kern/kern_game.h"

#define FRIEND	  "192.0.2.77"
#define NEIGHBOUR "192.0.2.78"
#define FRIEND6	  "2001:db8:1:5::77"

static char status_[900] = OOB "statusResponse\n";

/* No query of a stranger's is ever let in. */
static void serve_nobody(void)
{
	struct service s = kern_open_service(FAMILY_QUAKE3);

	s.budget[CLASS_QUERY].service = (struct limit){ SECOND, 0 };
	kern_service(&kern, 0, 0, &s);
	kern_port(&kern, 0, PORT, 0, false);
}

/* How many of @count status queries get in, all at once. */
static unsigned int let_in(const char *from, unsigned int count)
{
	unsigned int in = 0;

	link_.ipv6 = strchr(from, ':');
	for (unsigned int i = 0; i < count; i++) {
		struct outcome o = hear_from(from, HERE, BYTES(OOB "getstatus"));

		assert_int_equal(o.reason, o.action == XDP_PASS ? REASON_ALLOW_LIST
								: REASON_SERVICE_LIMIT);
		in += o.action == XDP_PASS;
	}
	link_.ipv6 = false;
	return in;
}

static void a_friend_has_limits(void **state)
{
	(void)state;
	serve_nobody();
	kern_list(&kern, true, "192.0.2.64", 96 + 26);
	kern_list(&kern, true, "2001:db8:1:5::", 64);
	assert_int_equal(let_in(FRIEND, ALLOWED_BURST + 50), ALLOWED_BURST);
	assert_int_equal(let_in(NEIGHBOUR, ALLOWED_BURST + 50), ALLOWED_BURST);
	assert_int_equal(let_in(FRIEND6, ALLOWED_BURST + 50), ALLOWED_BURST);
	pass_time(SECOND / 2);
	assert_in_range(let_in(FRIEND, ALLOWED_BURST), ALLOWED_RATE / 2 - 1,
			ALLOWED_RATE / 2 + 1);
	assert_int_equal(let_in(STRANGER, 50), 0);

	kern_allow_all(&kern, FRIEND, 128);
	assert_int_equal(let_in(FRIEND, 10 * ALLOWED_BURST), 10 * ALLOWED_BURST);
}

/* All addresses of a network that is allowed, together. */
static void friends_have_limits_in_all(void **state)
{
	unsigned int in = 0;

	(void)state;
	serve_nobody();
	kern_list(&kern, true, "10.0.0.0", 96 + 8);
	for (unsigned int i = 0; i < ALLOWED_SERVICE_BURST + 500; i++) {
		char from[32];

		snprintf(from, sizeof(from), "10.%u.%u.1", i / 200, i % 200);
		in += let_in(from, 1);
	}
	assert_int_equal(in, ALLOWED_SERVICE_BURST);
}

/* What one service lets a friend ask is not taken from what the next one does. */
static void friends_have_limits_of_each_service(void **state)
{
	struct service s = kern_open_service(FAMILY_QUAKE3);

	(void)state;
	s.budget[CLASS_QUERY].service = (struct limit){ SECOND, 0 };
	for (__u32 slot = 0; slot < 3; slot++) {
		kern_service(&kern, 0, slot, &s);
		kern_port(&kern, 0, (__u16)(PORT + slot), (int)slot, false);
	}
	kern_list(&kern, true, FRIEND, 128);
	for (__u16 slot = 0; slot < 3; slot++) {
		link_.sport = PORT + slot;
		assert_int_equal(let_in(FRIEND, ALLOWED_BURST + 50), ALLOWED_BURST);
	}
}

/* Of which budget there is nothing left is one to a friend. */
static void friendship_overcomes_every_budget(void **state)
{
	static const enum reason reasons[] = { REASON_SOURCE_LIMIT, REASON_PREFIX_LIMIT,
					       REASON_SERVICE_LIMIT };
	const struct limit none = { SECOND, 0 };

	(void)state;
	kern_list(&kern, true, FRIEND, 128);
	for (size_t i = 0; i < COUNT(reasons); i++) {
		struct service s = kern_open_service(FAMILY_QUAKE3);
		struct budget *b = &s.budget[CLASS_QUERY];

		*(i == 0 ? &b->source : i == 1 ? &b->prefix : &b->service) = none;
		kern_service(&kern, 0, 0, &s);
		kern_port(&kern, 0, PORT, 0, false);
		assert_int_equal(
			hear_from(NEIGHBOUR, HERE, BYTES(OOB "getstatus")).reason,
			reasons[i]);
		assert_int_equal(hear_from(FRIEND, HERE, BYTES(OOB "getstatus")).reason,
				 REASON_ALLOW_LIST);
	}
}

/* Typed in for a while: whether the daemon has taken it out by then or not. */
static void entries_end_on_time(void **state)
{
	struct cidr cidr = { .length = 128 };
	struct list_entry entry = { .origins = LIST_RUNTIME, .length = 128 };

	(void)state;
	serve_nobody();
	kern_list(&kern, true, FRIEND, 128);
	kern_list(&kern, false, NEIGHBOUR, 128);
	entry.until_ns = kern.live->clock_ns + 60 * SECOND;
	for (int allowed = 0; allowed < 2; allowed++) {
		struct bpf_map *map =
			allowed ? kern.skel->maps.allow : kern.skel->maps.deny;

		kern_address(allowed ? FRIEND : NEIGHBOUR, cidr.addr);
		assert_int_equal(
			bpf_map_update_elem(bpf_map__fd(map), &cidr, &entry, BPF_ANY), 0);
	}
	pass_time(59 * SECOND);
	assert_int_equal(hear_from(FRIEND, HERE, BYTES(OOB "getstatus")).reason,
			 REASON_ALLOW_LIST);
	assert_int_equal(hear_from(NEIGHBOUR, HERE, BYTES(OOB "getstatus")).reason,
			 REASON_DENY_LIST);
	pass_time(2 * SECOND);
	assert_int_equal(hear_from(FRIEND, HERE, BYTES(OOB "getstatus")).reason,
			 REASON_SERVICE_LIMIT);
	assert_int_equal(hear_from(NEIGHBOUR, HERE, BYTES(OOB "getstatus")).reason,
			 REASON_SERVICE_LIMIT);
}

/*
 * Up to ACL_ENDED entries that have ended, each within the next, hide no shorter one in
 * force, whether the daemon has removed them or not.
 */
static void an_ended_entry_hides_no_shorter_one(void **state)
{
	static const __u32 lengths[] = { 128, 127, 126, 125 };
	struct list_entry entry = { .origins = LIST_RUNTIME };
	struct cidr cidr;

	(void)state;
	serve_nobody();
	entry.until_ns = kern.live->clock_ns + 60 * SECOND;
	kern_list(&kern, false, "192.0.2.0", 96 + 24);
	pass_time(61 * SECOND);
	for (size_t i = 0; i < COUNT(lengths); i++) {
		cidr = (struct cidr){ .length = lengths[i] };
		entry.length = (__u8)lengths[i];
		kern_address("192.0.2.200", cidr.addr);
		assert_int_equal(bpf_map_update_elem(bpf_map__fd(kern.skel->maps.deny),
						     &cidr, &entry, BPF_ANY),
				 0);
		assert_int_equal(
			hear_from("192.0.2.200", HERE, BYTES(OOB "getstatus")).reason,
			i < ACL_ENDED ? REASON_DENY_LIST : REASON_SERVICE_LIMIT);
	}
	assert_int_equal(hear_from("192.0.2.99", HERE, BYTES(OOB "getstatus")).reason,
			 REASON_DENY_LIST);
}

/* What leaves for @to at once, in octets of frames. */
static __u64 sent_to(const char *to)
{
	__u64 frames = 0;

	link_.peer = to;
	for (unsigned int i = 0; i < 3000; i++)
		frames += says(status_, sizeof(status_));
	link_.peer = PEER;
	return frames * (sizeof(status_) + 42);
}

static void a_friend_is_sent_more_and_no_end(void **state)
{
	__u64 more = (__u64)AMPLIFICATION_ALLOWANCE << ALLOWED_AMPLIFICATION_SHIFT;

	(void)state;
	serve_nobody();
	amplification(AMPLIFICATION_ALLOWANCE, AMPLIFICATION_REFILL_S);
	kern_list(&kern, true, FRIEND, 128);
	assert_in_range(sent_to(FRIEND), more * 9 / 10, more);
	/* Neither on its neighbours' account, nor they on its. */
	assert_in_range(sent_to(NEIGHBOUR), AMPLIFICATION_ALLOWANCE * 9 / 10,
			AMPLIFICATION_ALLOWANCE);
	pass_time(SECOND * AMPLIFICATION_REFILL_S);
	assert_in_range(sent_to(FRIEND), more * 9 / 10, more);

	kern_allow_all(&kern, FRIEND, 128);
	assert_int_equal(sent_to(FRIEND), 3000 * (sizeof(status_) + 42));
	/* Strict is strict, but for those. */
	kern.live->amplification =
		(struct amplification_limit){ .byte_ns = 1, .strict = 1 };
	kern_list(&kern, true, FRIEND, 128);
	assert_int_equal(sent_to(FRIEND), 0);
}

/* Of IPv6 it is a /56 that is sent more, and the one beside it has its own. */
static void a_friend_shares_with_its_56(void **state)
{
	__u64 more = (__u64)AMPLIFICATION_ALLOWANCE << ALLOWED_AMPLIFICATION_SHIFT;

	(void)state;
	serve_nobody();
	amplification(AMPLIFICATION_ALLOWANCE, AMPLIFICATION_REFILL_S);
	kern_list(&kern, true, "2001:db8:1::", 48);
	link_.ipv6 = true;
	assert_in_range(sent_to(FRIEND6), more * 9 / 10, more * 11 / 10);
	assert_in_range(sent_to("2001:db8:1:105::77"), more * 9 / 10, more * 11 / 10);
	assert_int_equal(sent_to("2001:db8:1:6::1"), 0);
}

/* In a friend's name, too, nobody ends a player's game, nor connects over it. */
static void friendship_is_no_licence_to_forge(void **state)
{
	char move[40] = { 0 };

	(void)state;
	serve(FAMILY_QUAKE3);
	kern_list(&kern, true, PEER, 128);
	for (__u32 n = 1; n < 30; n++) {
		assert_true(sent(n));
		assert_true(q3_heard(HERE, n, 7, 0));
	}
	put32(move, 0x7ffffff0);
	put16(move + 4, 7);
	assert_int_equal(hear_from(PEER, HERE, move, sizeof(move)).reason,
			 REASON_PLAYER_MISMATCH);
	assert_int_equal(hear_from(PEER, HERE + 1, move, sizeof(move)).reason,
			 REASON_PLAYER_MISMATCH);
}

/* An entry is found where the table says that there may be one, and not looked for else.
 */
static void lists_are_looked_up_where_they_matter(void **state)
{
	(void)state;
	serve_nobody();
	kern_list(&kern, true, FRIEND, 128);
	kern_list(&kern, false, "198.18.0.0", 96 + 15);
	assert_int_equal(let_in(FRIEND, 1), 1);
	assert_int_equal(hear_from("198.19.4.4", HERE, BYTES(OOB "getstatus")).reason,
			 REASON_DENY_LIST);
	memset(kern.live->acl_prefilter, 0, sizeof(kern.live->acl_prefilter));
	assert_int_equal(let_in(FRIEND, 1), 0);
	assert_int_equal(hear_from("198.19.4.4", HERE, BYTES(OOB "getstatus")).reason,
			 REASON_SERVICE_LIMIT);
}

static void networks_cover_their_cells(void **state)
{
	static const struct {
		const char *address;
		__u32 length, first, count;
	} rows[] = {
		{ "192.0.2.77", 128, 0xc000, 1 },
		{ "192.0.0.0", 96 + 16, 0xc000, 1 },
		{ "192.0.0.0", 96 + 15, 0xc000, 2 },
		{ "10.0.0.0", 96 + 8, 0x0a00, 256 },
		{ "0.0.0.0", 96, 0, 65536 },
		{ "2001:db8:1::", 48, 0x0db8, 1 },
		{ "2001:db8::", 32, 0x0db8, 1 },
		{ "2001:d80::", 26, 0x0d80, 64 },
		{ "2000::", 3, 0, 65536 },
		{ "::", 0, 0, 65536 },
		{ "::", 80, 0, 65536 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct cidr cidr = { .length = rows[i].length };
		__u32 first;

		kern_address(rows[i].address, cidr.addr);
		assert_int_equal(acl_prefilter_span(&cidr, &first), rows[i].count);
		assert_int_equal(first, rows[i].first);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_friend_has_limits),
		TEST(friends_have_limits_in_all),
		TEST(friends_have_limits_of_each_service),
		TEST(friendship_overcomes_every_budget),
		TEST(entries_end_on_time),
		TEST(an_ended_entry_hides_no_shorter_one),
		TEST(a_friend_is_sent_more_and_no_end),
		TEST(a_friend_shares_with_its_56),
		TEST(friendship_is_no_licence_to_forge),
		TEST(lists_are_looked_up_where_they_matter),
		cmocka_unit_test(networks_cover_their_cells),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
