// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The short ways through the shield say what the long one says. Four shields in the
 * kernel, alike in all: one is sent plain frames, one the same in a VLAN tag, one the
 * same in two, and the last, which believes that every sender may be in a list, plain
 * ones: so no short way takes anything there. Whatever is sent, all must say and remember
 * the same.
 *
 * Each run sends something else: SEED=n, which each prints, sends it again.
 */
#include <linux/pkt_cls.h>

#include "kern/kern_same.h"
#include "kern/kern_support.h"
#include "kern/kern_ways.h"
#include "players.h"
#include "rounds.h"

#define ROUNDS 2500 /* for each family; KERN_ROUNDS / 10 on an emulated processor */
#define HOST4  "198.51.100.1"
#define HOST6  "2001:db8:2::1"
#define SPORT  27960

enum {
	PLAIN,
	TAGGED,
	ENCAPSULATED,
	LONG,
	SHIELDS
};

static struct kern kerns[SHIELDS];
static unsigned int seed;
static const struct peer peers[] = {
	{ "192.0.2.1", false, 40000 },	    { "192.0.2.1", false, 40001 },
	{ "192.0.2.7", false, 40001 },	    { "203.0.113.9", false, 1 },
	{ "2001:db8:1::1", true, 40000 },   { "2001:db8:1::1", true, 40001 },
	{ "2001:db8:9:1::2", true, 65535 },
};

/* With validation and the response cache under load, as services have them by default. */
static bool shipped;

static struct counters counted[SHIELDS], sent[SHIELDS];
static __u64 before[REASON_COUNT];
static __u64 cache[REASON_COUNT]; /* of all families */

/* --- both ----------------------------------------------------------------------------
 */

static void complain(enum wire_family family, const __u8 *payload, size_t n)
{
	print_error("SEED=%u: %s, %zu octets:", seed, family_name((int)family), n);
	for (size_t i = 0; i < n; i++)
		print_error(" %02x", payload[i]);
	print_error("\n");
	fail();
}

static void say(enum wire_family family, const struct peer *peer, const __u8 *payload,
		size_t n)
{
	int verdict[SHIELDS];

	struct frame_spec s = { .payload = (const char *)payload,
				.n = n,
				.ipv6 = peer->ipv6,
				.sport = SPORT,
				.dport = peer->port,
				.from = peer->ipv6 ? HOST6 : HOST4,
				.to = peer->address };
	__u8 frame[FRAME_MAX];
	size_t size = frame_build(&s, frame);

	for (int i = 0; i < SHIELDS; i++) {
		LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = frame,
			    .data_size_in = (__u32)size, .repeat = 1);

		assert_int_equal(bpf_prog_test_run_opts(
					 bpf_program__fd(kerns[i].skel->progs.shield_out),
					 &run),
				 0);
		verdict[i] = (int)run.retval;
	}
	for (int i = 1; i < SHIELDS; i++)
		if (verdict[i] != verdict[PLAIN])
			complain(family, payload, n);
}

/* All do the same, and count the same bytes: padding makes up for what others have. */
static void hear(enum wire_family family, const struct peer *peer, const __u8 *payload,
		 size_t n)
{
	int action[SHIELDS];

	for (int i = 0; i < SHIELDS; i++) {
		struct frame_spec s = { .payload = (const char *)payload,
					.n = n,
					/* Room for a challenge behind each head. */
					.padding = (n < 24 ? 24 - n : 0) + 40 * shipped,
					.ipv6 = peer->ipv6,
					.sport = peer->port,
					.dport = SPORT,
					.from = peer->address,
					.to = peer->ipv6 ? HOST6 : HOST4 };
		__u8 frame[FRAME_MAX];

		/* No other headers: those of IP make a datagram malformed. */
		if (i == TAGGED || i == ENCAPSULATED)
			s.tags[0] = ETH_P_8021Q;
		if (i == ENCAPSULATED)
			s.tags[1] = ETH_P_8021Q;
		else
			s.padding += i == TAGGED ? 4 : 8;
		action[i] = kern_action(&kerns[i], frame, frame_build(&s, frame));
	}
	for (int i = 1; i < SHIELDS; i++)
		if (action[i] != action[PLAIN])
			complain(family, payload, n);
}

static void same_counter(const struct counters *all, int shield, int kind, int reason)
{
	const struct counter *plain = &all[PLAIN].by[kind][reason];
	const struct counter *other = &all[shield].by[kind][reason];
	/* A challenge goes back in the tags of its request. */
	bool longer = all == sent && reason == REASON_CHALLENGED && shield != LONG;

	if (plain->packets == other->packets && (longer || plain->bytes == other->bytes))
		return;
	print_error("SEED=%u: %s, %s: %llu packets, and %llu of shield %d\n", seed,
		    kind_name(kind), reason_name(reason), plain->packets, other->packets,
		    shield);
	fail();
}

static void same_sums(const struct counters *all)
{
	for (int i = 1; i < SHIELDS; i++) {
		for (int kind = 0; kind < KIND_COUNT; kind++)
			for (int reason = 0; reason < REASON_COUNT; reason++)
				same_counter(all, i, kind, reason);
		assert_int_equal(all[PLAIN].unverified.payload,
				 all[i].unverified.payload);
		if (!shipped || i == LONG)
			assert_int_equal(all[PLAIN].unverified.wire,
					 all[i].unverified.wire);
	}
}

static void same_counters(void)
{
	for (int i = 0; i < SHIELDS; i++) {
		kern_sum_way(&kerns[i], 0, DIRECTION_C2S, &counted[i]);
		kern_sum_way(&kerns[i], 0, DIRECTION_S2C, &sent[i]);
	}
	same_sums(counted);
	same_sums(sent);
	for (int i = 1; i < SHIELDS; i++)
		for (__u32 sampler = 0; sampler < SAMPLER_COUNT; sampler++)
			assert_int_equal(sampled_of(&kerns[PLAIN], sampler),
					 sampled_of(&kerns[i], sampler));
}

/* How many were counted for @reason since the last time. */
static __u64 seen(enum reason reason)
{
	__u64 sum = 0, since;

	for (int kind = 0; kind < KIND_COUNT; kind++)
		sum += counted[PLAIN].by[kind][reason].packets +
		       sent[PLAIN].by[kind][reason].packets;
	since = sum - before[reason];
	before[reason] = sum;
	cache[reason] += since;
	return since;
}

/* No short way is taken where the sender may be in a list, though here nobody is. */
static void all_may_be_listed(struct kern *k, bool may)
{
	k->live->lists = may ? LISTS_ALLOW : 0;
	memset(k->live->acl_prefilter, may ? LISTS_ALLOW : 0,
	       sizeof(k->live->acl_prefilter));
}

/* All that is remembered: players and their ports, budgets, who plays, what is owed. */
static void same_everything(void)
{
	const __u8 *first = (const __u8 *)kerns[PLAIN].live;

	all_may_be_listed(&kerns[LONG], false);
	for (int i = PLAIN + 1; i < SHIELDS; i++) {
		const __u8 *second = (const __u8 *)kerns[i].live;
		size_t at = 0;

		if (memcmp(first, second, sizeof(struct live)) != 0) {
			while (first[at] == second[at])
				at++;
			print_error("SEED=%u: octet %zu of struct live\n", seed, at);
			fail();
		}
	}
	all_may_be_listed(&kerns[LONG], true);
}

static void same_state(const struct peer *peer)
{
	struct player_cell *plain = cell_of(&kerns[PLAIN], peer);

	for (int i = 1; i < SHIELDS; i++) {
		struct player_cell *other = cell_of(&kerns[i], peer);

		assert_int_equal(!plain, !other);
		if (plain)
			assert_memory_equal(&plain->player, &other->player,
					    sizeof(plain->player));
	}
}

static void serve(enum wire_family family)
{
	struct service s = kern_open_service(family);

	for (int i = 0; i < CLASS_BUDGETS; i++) {
		/* No two classes alike, or it would not matter which of them pays. */
		s.budget[i].source = kern_rate(4 + i % 3, 4 + i % 3);
		s.budget[i].prefix = kern_rate(10 + i % 2, 6 + i % 2);
		s.budget[i].service = kern_rate(13 + i % 2, 9 + i % 2);
	}
	for (size_t i = 0; i < COUNT(s.policy); i++)
		s.policy[i] = (__u8)((i + family) % (POLICY_PASS + 1));
	if (shipped) {
		s.validation = VALIDATION_UNDER_LOAD;
		s.cache = CACHE_UNDER_LOAD;
		for (int i = 0; i < CLASS_BUDGETS; i++)
			if (i != CLASS_UNKNOWN)
				s.budget[i].service = kern_rate(1, 1);
	}
	for (int i = 0; i < SHIELDS; i++) {
		struct qport_key by;
		int fd = bpf_map__fd(kerns[i].skel->maps.qports);

		memset(&kerns[i].live->players, 0, sizeof(kerns[i].live->players));
		memset(kerns[i].live->moved, 0, sizeof(kerns[i].live->moved));
		while (!bpf_map_get_next_key(fd, NULL, &by))
			bpf_map_delete_elem(fd, &by);
		kern_service(&kerns[i], 0, 0, &s);
		kern_port(&kerns[i], 0, SPORT, 0, false);
		kerns[i].live->sampling =
			(struct sampling){ .every = 4, .follow_first = 3, .any = 1 };
		kerns[i].live->followed = 0;
		for (int use = 0; use < CHALLENGE_USES; use++)
			kerns[i].live->validation.share[0][use] = kern_rate(1, 2);
	}
	all_may_be_listed(&kerns[LONG], true);
}

static void pass_time(void)
{
	static const __u64 ms[] = { 1, 4, 4, 4, 16, 50, 300 };
	__u64 ns = ms[below(COUNT(ms))] * 1000000;

	/* Long enough to be told apart by what is thought of silence. */
	if (!below(100))
		ns = 3100000000;
	if (!below(2000))
		ns = 61 * SECOND;
	for (int i = 0; i < SHIELDS; i++)
		kerns[i].live->clock_ns += ns;
}

/* More than a player may send, all at once. */
static void storm(enum wire_family family, const struct peer *peer)
{
	struct player_cell *cell = cell_of(&kerns[PLAIN], peer);
	__u8 payload[LONGEST] = { 0 };
	size_t n;

	if (!cell)
		return;
	n = game_to(family, &cell->player, peer->ipv6, payload);
	if (family == FAMILY_NETQUAKE)
		put32(payload, htonl(0x00100000u + (__u32)n));
	for (int i = 0; i < 500; i++)
		hear(family, peer, payload, n);
}

static void step(enum wire_family family)
{
	static const struct player nobody = { .heard_sequence = 500 };
	const struct peer *peer = &peers[below(COUNT(peers))];
	struct player_cell *cell = cell_of(&kerns[PLAIN], peer);
	__u8 payload[LONGEST];
	size_t n;

	if (!below(8))
		pass_time();
	if (!below(700))
		storm(family, peer);
	/* Some are never spoken to. */
	if (!below(6) && peer->port != 40001) {
		n = from_server(family, cell ? &cell->player : NULL, payload);
		say(family, peer, payload, n);
	} else {
		/* A stranger may say what a player would: its port changed, or a lie. */
		struct player_cell *first = cell_of(&kerns[PLAIN], &peers[0]);

		cell = cell ? cell : first;
		n = from_peer(family, cell ? &cell->player : &nobody, peer->ipv6,
			      payload);
		hear(family, peer, payload, n);
	}
	same_state(peer);
}

static void agree(const __u64 keys[3])
{
	static const enum wire_family families[] = {
		FAMILY_QUAKE3,	 FAMILY_QUAKEWORLD,	FAMILY_QUAKE2,
		FAMILY_NETQUAKE, FAMILY_QUAKE_ENHANCED, FAMILY_AUTO
	};

	const char *text = getenv("KERN_ROUNDS");
	__u64 rounds = text ? strtoul(text, NULL, 10) / 10 : rounds_of(ROUNDS);
	__u64 player, global, source, forged, n;

	memset(before, 0, sizeof(before));
	for (int i = 0; i < SHIELDS; i++)
		memcpy(kerns[i].live->keys, keys, sizeof(kerns[i].live->keys));
	for (size_t f = 0; f < COUNT(families); f++) {
		serve(families[f]);
		for (n = 0; n < rounds; n++) {
			step(families[f]);
			if (n % 32 == 31)
				same_counters();
		}
		same_counters();
		same_everything();
		for (enum reason r = 0; r < REASON_COUNT; r++)
			if (r != REASON_PLAYER && r != REASON_SERVICE_LIMIT &&
			    r != REASON_SOURCE_LIMIT && r != REASON_PREFIX_LIMIT &&
			    r != REASON_PLAYER_MISMATCH)
				seen(r);
		forged = seen(REASON_PLAYER_MISMATCH);
		player = seen(REASON_PLAYER);
		global = seen(REASON_SERVICE_LIMIT) + seen(REASON_PREFIX_LIMIT);
		source = seen(REASON_SOURCE_LIMIT);
		/* Who takes no short way for games; and else it has shown too little. */
		if (families[f] == FAMILY_QUAKE_ENHANCED || families[f] == FAMILY_AUTO)
			continue;
		assert_true(player > n / 10);
		assert_true(global + source > n / 20);
		assert_true(forged > n / 200);
	}
	/* Some millions of entries, so once, of all families. */
	for (int i = PLAIN + 1; i < SHIELDS; i++)
		kern_same_maps(&kerns[PLAIN], &kerns[i]);
}

/*
 * What all agreed on was all that can be said, at least once, lists, races, fragments
 * (kern_frames), the amplification limit (kern_ledger) and proof of address apart: of
 * that, kern_proof sends each text by all ways.
 */
static void every_answer_was_given(void)
{
	static const enum reason never[] = {
		REASON_ALLOW_LIST,	 REASON_DENY_LIST,
		REASON_EXEMPT,		 REASON_CONTENDED,
		REASON_FRAGMENT,	 REASON_AMPLIFICATION,
		REASON_VALIDATED,	 REASON_CHALLENGED,
		REASON_INVALID_COOKIE,	 REASON_GREYLISTED,
		REASON_CACHED_PLAYER,	 REASON_CACHED_ALLOW_LIST,
		REASON_CACHED_VALIDATED, REASON_CACHED_KNOWN,
		REASON_CACHED_PREFIX,	 REASON_CACHED_RECURRING,
		REASON_CACHED_IN_LIMITS, REASON_CACHED_RESPONSE,
		REASON_OTHER_SOCKET,	 REASON_PLAYER_SLOTS,
	};

	for (enum reason r = 0; r < REASON_COUNT; r++) {
		bool wanted = true;

		for (size_t i = 0; i < COUNT(never); i++)
			wanted = wanted && never[i] != r;
		if (!wanted || cache[r])
			continue;
		print_error("SEED=%u: never %s\n", seed, reason_name(r));
		fail();
	}
}

static void the_ways_agree(void **state)
{
	static const __u64 keys[3] = { 0x9e3779b97f4a7c15, 0xc2b2ae3d27d4eb4f,
				       0x165667b19e3779f9 };

	(void)state;
	random_state = seed;
	agree(keys);
	/* So few need not meet all. */
	if (!getenv("KERN_ROUNDS") && !rounds_are_few())
		every_answer_was_given();
}

static void they_agree_as_shipped(void **state)
{
	static const __u64 keys[3] = { 0x9e3779b97f4a7c15, 0xc2b2ae3d27d4eb4f,
				       0x165667b19e3779f9 };

	(void)state;
	random_state = seed;
	shipped = true;
	memset(cache, 0, sizeof(cache)); /* what the test before has shown */
	agree(keys);
	shipped = false;
	if (!getenv("KERN_ROUNDS") && !rounds_are_few())
		assert_true(cache[REASON_CHALLENGED] && cache[REASON_GREYLISTED] &&
			    cache[REASON_SOURCE_LIMIT]);
}

/* All players in one bucket, and alike but for their names. */
static void and_do_so_in_a_crowd(void **state)
{
	static const __u64 keys[3] = { 1, 1, 1 };

	(void)state;
	random_state = seed;
	agree(keys);
}

static int enter(void **state)
{
	(void)state;
	ways_open(kerns, SHIELDS);
	return 0;
}

static int leave(void **state)
{
	(void)state;
	for (int i = 0; i < SHIELDS; i++)
		kern_close(&kerns[i]);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_ways_agree, enter, leave),
		cmocka_unit_test_setup_teardown(they_agree_as_shipped, enter, leave),
		cmocka_unit_test_setup_teardown(and_do_so_in_a_crowd, enter, leave),
	};

	seed = ways_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
