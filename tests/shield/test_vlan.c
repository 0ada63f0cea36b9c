// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_vlan.c - which VLANs lie above an interface, by a /sys of the test's own: not each
 * kernel has VLANs.
 */
#include <net/if.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "apart.h"
#include "shield/ethtool.h"
#include "shield/vlan.h"

#define NET "/sys/class/net/"

static const char *said; /* interfaces: their drivers say that they take tags off */

int ethtool_feature(const char *interface, const char *feature)
{
	return !strcmp(feature, "rx-vlan-hw-parse") && strstr(said, interface);
}

bool ethtool_driven_by(const char *interface, const char *driver)
{
	return !strcmp(driver, "veth") && !strcmp(interface, "veth0");
}

/* An interface of that type ("": an Ethernet card, say), as sysfs shows it. */
static void make(const char *name, const char *type)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), NET "%s", name);
	assert_int_equal(mkdir(path, 0755), 0);
	strcat(path, "/uevent");
	file = fopen(path, "we");
	assert_non_null(file);
	if (*type)
		fprintf(file, "DEVTYPE=%s\n", type);
	fprintf(file, "INTERFACE=%s\nIFINDEX=7\n", name);
	assert_int_equal(fclose(file), 0);
}

static void lay(const char *upper, const char *lower)
{
	char path[256], to[256];

	snprintf(path, sizeof(path), NET "%s/upper_%s", lower, upper);
	snprintf(to, sizeof(to), "../%s", upper);
	assert_int_equal(symlink(to, path), 0);
	snprintf(path, sizeof(path), NET "%s/lower_%s", upper, lower);
	snprintf(to, sizeof(to), "../%s", lower);
	assert_int_equal(symlink(to, path), 0);
}

static void above(const char *interface, const char *vlan)
{
	char is[IF_NAMESIZE] = "";

	assert_int_equal(vlan_above(interface, is), vlan != NULL);
	assert_string_equal(is, vlan ? vlan : "");
}

static int begin(void **state)
{
	(void)state;
	if (!apart_mount("tmpfs", "/sys") || mkdir("/sys/class", 0755) ||
	    mkdir(NET, 0755))
		return -1;
	make("eth0", "");
	make("eth1", "");
	return 0;
}

static int end(void **state)
{
	(void)state;
	return umount2("/sys", MNT_DETACH);
}

/* Whatever it is called, and whatever else is called like one. */
static void only_a_vlan_is_one(void **state)
{
	(void)state;
	above("eth0", NULL);
	above("none", NULL);
	make("eth1.5", "");
	make("vlan5", "vlanish");
	make("macvlan", "macvlan");
	lay("eth1.5", "eth1");
	lay("vlan5", "eth1");
	lay("macvlan", "eth1");
	make("fifteen-letters", "vlan");
	lay("fifteen-letters", "eth0");
	above("eth0", "fifteen-letters");
	above("eth1", NULL);
	/* Not below itself. */
	above("fifteen-letters", NULL);
}

static void it_may_lie_higher(void **state)
{
	(void)state;
	make("bond", "bond");
	make("bridge", "bridge");
	make("bridge.7", "vlan");
	lay("bond", "eth0");
	lay("bridge", "bond");
	above("eth0", NULL);
	lay("bridge.7", "bridge");
	above("eth0", "bridge.7");
	above("bond", "bridge.7");
	above("bridge", "bridge.7");
	above("eth1", NULL);
}

static void untagged(const char *by, const char *interface, const char *card)
{
	char is[IF_NAMESIZE] = "";

	said = by;
	assert_int_equal(vlan_untags(interface, is), card != NULL);
	assert_string_equal(is, card ? card : "");
}

/* A bond says that it takes tags off in any case, and turning that off changes no slave.
 */
static void of_a_bond_its_slaves_count(void **state)
{
	(void)state;
	make("veth0", "");
	make("bond0", "bond");
	make("eth0.5", "vlan");
	lay("eth0.5", "eth0");
	untagged("eth0", "eth0", "eth0");
	untagged("eth1", "eth0", NULL);
	untagged("veth0", "veth0", NULL);
	untagged("bond0", "bond0", "bond0");
	lay("bond0", "eth0");
	untagged("bond0", "bond0", NULL);
	lay("bond0", "eth1");
	untagged("bond0 eth1", "bond0", "eth1");
	untagged("eth0", "bond0", "eth0");
	untagged("", "bond0", NULL);
}

/* The kernel allows no circle; who shows one does not keep us. */
static void looking_has_an_end(void **state)
{
	(void)state;
	lay("eth1", "eth0");
	lay("eth0", "eth1");
	above("eth0", NULL);
}

static void without_sysfs_nothing_is_said(void **state)
{
	(void)state;
	assert_true(apart_mount("tmpfs", "/sys"));
	above("eth0", NULL);
	assert_int_equal(umount2("/sys", MNT_DETACH), 0);
}

#undef TEST
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(only_a_vlan_is_one),
		TEST(it_may_lie_higher),
		TEST(of_a_bond_its_slaves_count),
		TEST(looking_has_an_end),
		TEST(without_sysfs_nothing_is_said),
	};

	if (!apart(CLONE_NEWNS))
		return apart_refused();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
