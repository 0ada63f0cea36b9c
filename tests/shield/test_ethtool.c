// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_ethtool.c - features and drivers by name, of interfaces in a network namespace of
 * the test's own. Features are set here in another way than they are asked for.
 */
#include <errno.h>
#include <net/if.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include <linux/ethtool.h>
#include <linux/sockios.h>

#include "apart.h"
#include "shield/ethtool.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define MANY	 256 /* features that a kernel may have */

static union {
	struct ethtool_gstrings head;
	char room[sizeof(struct ethtool_gstrings) + MANY * ETH_GSTRING_LEN];
} strings;

static const char *name_of(unsigned int number)
{
	return strings.room + sizeof(strings.head) + (size_t)number * ETH_GSTRING_LEN;
}

static void command(const char *interface, void *data)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq request = { .ifr_data = data };

	strcpy(request.ifr_name, interface);
	assert_true(fd >= 0);
	assert_int_equal(ioctl(fd, SIOCETHTOOL, &request) & ~ETHTOOL_F_UNSUPPORTED, 0);
	close(fd);
}

/* The kernel's number of @feature. */
static unsigned int number_of(const char *feature)
{
	memset(&strings, 0, sizeof(strings));
	strings.head.cmd = ETHTOOL_GSTRINGS;
	strings.head.string_set = ETH_SS_FEATURES;
	command("left", &strings);
	assert_in_range(strings.head.len, 33, MANY - 1);
	for (unsigned int i = 0; i < strings.head.len; i++)
		if (!strcmp(name_of(i), feature))
			return i;
	fail_msg("this kernel has no %s", feature);
	return 0;
}

static void set(const char *interface, const char *feature, bool on)
{
	union {
		struct ethtool_sfeatures head;
		__u32 room[2 + 2 * MANY / 32]; /* valid and requested by turns */
	} wanted = { .room = { ETHTOOL_SFEATURES } };
	unsigned int number = number_of(feature);

	wanted.head.size = (strings.head.len + 31) / 32;
	wanted.room[2 + 2 * (number / 32)] = 1u << number % 32;
	wanted.room[3 + 2 * (number / 32)] = on ? 1u << number % 32 : 0;
	command(interface, &wanted);
}

/* Each alone, on the one end or the other; some have numbers from 32 on. */
static void a_feature_is_on_where_it_was_set(void **state)
{
	static const char *const features[] = {
		"rx-gro",
		"rx-gro-list",
		"rx-udp-gro-forwarding",
		"tx-generic-segmentation",
	};

	(void)state;
	assert_true(number_of("rx-gro-list") >= 32);
	for (size_t i = 0; i < COUNT(features); i++)
		set("left", features[i], false);
	for (size_t i = 0; i < COUNT(features); i++) {
		set("left", features[i], true);
		set("right", features[i], false);
		for (size_t other = 0; other < COUNT(features); other++)
			assert_int_equal(ethtool_feature("left", features[other]),
					 other == i);
		assert_int_equal(ethtool_feature("right", features[i]), 0);
		set("right", features[i], true);
		assert_int_equal(ethtool_feature("right", features[i]), 1);
		set("left", features[i], false);
	}
}

/* Wanted, but not done without another. */
static void what_is_only_wanted_is_off(void **state)
{
	(void)state;
	set("left", "tx-generic-segmentation", true);
	assert_int_equal(ethtool_feature("left", "tx-generic-segmentation"), 1);
	set("left", "tx-scatter-gather", false);
	assert_int_equal(ethtool_feature("left", "tx-generic-segmentation"), 0);
	set("left", "tx-scatter-gather", true);
	assert_int_equal(ethtool_feature("left", "tx-generic-segmentation"), 1);
}

static void mtu_is_read(void **state)
{
	(void)state;
	assert_int_equal(ethtool_mtu("left"), 1500);
	assert_int_equal(system("ip link set left mtu 1400"), 0);
	assert_int_equal(ethtool_mtu("left"), 1400);
	assert_int_equal(ethtool_mtu("right"), 1500);
	assert_int_equal(ethtool_mtu("nowhere"), 0);
}

/* The first and the last that there are, and names that are none. */
static void a_name_is_all_of_it(void **state)
{
	static const char *const none[] = {
		"rx-gr", "rx-gro-", "", "no-such-feature", "x-gro",
	};
	unsigned int count;

	(void)state;
	set("left", "rx-gro", true);
	for (size_t i = 0; i < COUNT(none); i++)
		assert_int_equal(ethtool_feature("left", none[i]), 0);
	number_of("rx-gro");
	count = strings.head.len;
	/* What is fixed on a veth: these two are what they are on each end. */
	assert_int_equal(number_of("tx-scatter-gather"), 0);
	assert_int_equal(ethtool_feature("left", name_of(0)), 1);
	assert_in_range(ethtool_feature("left", name_of(count - 1)), 0, 1);
	/* By these the daemon asks whether to warn. */
	number_of("rx-udp-gro-forwarding");
	number_of("rx-vlan-hw-parse");
	assert_int_equal(ethtool_feature("none", "rx-gro"), -ENODEV);
	assert_int_equal(ethtool_feature("none", "no-such-feature"), -ENODEV);
}

static void a_driver_has_one_name(void **state)
{
	(void)state;
	assert_true(ethtool_driven_by("left", "veth"));
	assert_true(ethtool_driven_by("right", "veth"));
	assert_false(ethtool_driven_by("left", "vet"));
	assert_false(ethtool_driven_by("left", "veth1"));
	assert_false(ethtool_driven_by("left", ""));
	assert_false(ethtool_driven_by("lo", "veth"));
	assert_false(ethtool_driven_by("lo", ""));
	assert_false(ethtool_driven_by("none", "veth"));
	assert_false(ethtool_driven_by("none", ""));
}

static void driver_is_named(void **state)
{
	char name[ETHTOOL_DRIVER] = "?";

	(void)state;
	ethtool_driver("left", name);
	assert_string_equal(name, "veth");
	ethtool_driver("none", name);
	assert_string_equal(name, "");
}

/* A veth tells its queues, and neither rings nor what chooses a queue. */
static void queues_are_counted(void **state)
{
	struct ethtool_count count = { 0, 0 };
	bool combined = true;

	(void)state;
	assert_true(ethtool_queues("many", &count, &combined));
	assert_false(combined);
	assert_int_equal(count.now, 2);
	assert_int_equal(count.most, 4);
	assert_false(ethtool_queues("lo", &count, &combined));
	assert_false(ethtool_queues("none", &count, &combined));
	assert_false(ethtool_ring("many", &count));
	assert_in_range(-ethtool_udp_hash("many", false), 1, 200);
	assert_in_range(-ethtool_udp_hash("many", true), 1, 200);
}

/* From Linux 6.3 on. */
static void kernel_tells_of_native_xdp(void **state)
{
	int there = ethtool_native("left");

	(void)state;
	assert_int_equal(ethtool_native("none"), -ENODEV);
	if (there < 0) {
		assert_int_equal(there, -ENOENT);
		return;
	}
	assert_int_equal(there, 1);
	assert_int_equal(ethtool_native("still"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_feature_is_on_where_it_was_set),
		cmocka_unit_test(what_is_only_wanted_is_off),
		cmocka_unit_test(mtu_is_read),
		cmocka_unit_test(a_name_is_all_of_it),
		cmocka_unit_test(a_driver_has_one_name),
		cmocka_unit_test(driver_is_named),
		cmocka_unit_test(queues_are_counted),
		cmocka_unit_test(kernel_tells_of_native_xdp),
	};

	if (!apart(CLONE_NEWNET) ||
	    system("ip link add left type veth peer name right 2>/dev/null") ||
	    system("ip link add many numtxqueues 4 numrxqueues 4 type veth peer name most && "
		   "ip link add still type bridge && ethtool -L many rx 2 2>/dev/null"))
		return apart_refused();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
