// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Datagrams that somebody has joined: the program behind one in generic mode lets none of
 * them through to a service, and all else.
 */
#include "kern/kern_game.h"

#include "shield/ethtool.h"

#define STATUS "\xff\xff\xff\xffgetstatus"
#define SIZE   (sizeof(STATUS) - 1)

/* What becomes of @n octets of payload, each @size of which are a datagram; 0: one. */
static int come(__u16 port, size_t n, __u32 size, __u64 *ret_counted)
{
	struct frame_spec spec = { .n = n, .dport = port, .from = PEER, .to = HOST };
	struct __sk_buff ctx = { .gso_size = size,
				 .gso_segs = size ? (__u32)((n + size - 1) / size) : 0 };
	char payload[48 * SIZE];
	__u8 frame[FRAME_MAX];
	struct counters before, after;
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = frame, .repeat = 1, .ctx_in = &ctx,
		    .ctx_size_in = sizeof(ctx));

	for (size_t i = 0; i < sizeof(payload); i++)
		payload[i] = STATUS[i % SIZE];
	spec.payload = payload;
	run.data_size_in = (__u32)frame_build(&spec, frame);
	kern_sum(&kern, 0, &before);
	assert_int_equal(bpf_prog_test_run_opts(
				 bpf_program__fd(kern.skel->progs.shield_joined), &run),
			 0);
	kern_sum(&kern, 0, &after);
	*ret_counted = after.by[KIND_COALESCED][REASON_MALFORMED].packets -
		       before.by[KIND_COALESCED][REASON_MALFORMED].packets;
	return (int)run.retval;
}

static void what_is_joined_is_dropped(void **state)
{
	static const struct {
		__u16 port;
		size_t n;
		__u32 size;
		int action;
		__u64 counted;
	} rows[] = {
		{ PORT, 48 * SIZE, SIZE, TC_ACT_SHOT, 1 },
		{ PORT, 2 * SIZE, SIZE, TC_ACT_SHOT, 1 },
		{ PORT, SIZE + 1, SIZE, TC_ACT_SHOT, 1 },
		{ PORT, SIZE, SIZE, TC_ACT_UNSPEC, 0 }, /* offloaded, but one */
		{ PORT, 48 * SIZE, 0, TC_ACT_UNSPEC, 0 }, /* one that is long */
		{ PORT + 1, 48 * SIZE, SIZE, TC_ACT_UNSPEC, 0 }, /* not ours */
	};
	__u64 counted;

	(void)state;
	serve(FAMILY_QUAKE3);
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(come(rows[i].port, rows[i].n, rows[i].size, &counted),
				 rows[i].action);
		assert_int_equal(counted, rows[i].counted);
	}
}

static void unless_it_may(void **state)
{
	struct service *service = &kern.live->tables[0].services[0];
	__u64 counted;

	(void)state;
	serve(FAMILY_QUAKE3);
	service->observe = 1;
	assert_int_equal(come(PORT, 3 * SIZE, SIZE, &counted), TC_ACT_UNSPEC);
	assert_int_equal(counted, 1);
	service->observe = 0;
	service->policy[CLASS_MALFORMED - CLASS_BUDGETS] = POLICY_PASS;
	assert_int_equal(come(PORT, 3 * SIZE, SIZE, &counted), TC_ACT_UNSPEC);
	assert_int_equal(counted, 0);
	service->policy[CLASS_MALFORMED - CLASS_BUDGETS] = POLICY_DROP;
	kern_allow_all(&kern, PEER, 128);
	assert_int_equal(come(PORT, 3 * SIZE, SIZE, &counted), TC_ACT_UNSPEC);
	assert_int_equal(counted, 0);
}

static void features_have_names(void **state)
{
	(void)state;
	/* What loopback does to checksums is fixed. */
	assert_int_equal(ethtool_feature("lo", "tx-checksum-ip-generic"), 1);
	assert_int_equal(ethtool_feature("lo", "rx-vlan-filter"), 0);
	assert_int_equal(ethtool_feature("lo", "no-such-feature"), 0);
	assert_int_equal(ethtool_feature("nosuch0", "rx-gro"), -ENODEV);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_is_joined_is_dropped, enter, leave),
		cmocka_unit_test_setup_teardown(unless_it_may, enter, leave),
		cmocka_unit_test(features_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
