// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_attach_end.c - which links and pins go, and which stay, when a shield is detached,
 * a start is abandoned, an interface is released, or interfaces were renamed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lib/log.h"
#include "shield/fake_attach.h"

#define NIC "eth1.7"

static void what_is_detached(void **state)
{
	size_t count = 7;

	(void)state;
	pin(OURS "/live", 1, 0, 0, 9);
	pin(OURS "/link-eth1,7", BPF_LINK_TYPE_XDP, 35, 101, 9);
	pin(OURS "/link-eth2,7", BPF_LINK_TYPE_XDP, 36, 101, 9);
	pin(OURS "/out-eth1,7", TCX, 35, 101, 9);
	nics[1].filters[TC_IN] = 9;
	asked[0] = 0;
	assert_int_equal(shield_detach(OURS, &count), 0);
	assert_int_equal(count, 2);
	assert_non_null(strstr(asked, "detach 6 of 35\nfilter off 35 1\n"));
	assert_non_null(strstr(asked, "detach 6 of 36\n"));
	assert_non_null(strstr(asked, "detach 999 of 35\n"));
	assert_int_equal(access(OURS, F_OK), -1);
	assert_int_equal(shield_detach(OURS, &count), 0);
	assert_int_equal(count, 0);
	/* Others' pins are left alone. */
	assert_int_equal(mkdir(FS "/theirs", 0700), 0);
	pin(FS "/theirs/map", 1, 0, 0, 9);
	assert_int_equal(shield_detach(FS "/theirs", &count), 0);
	pinned(FS "/theirs/map", "1 of 0, program 0");
	/* All of the machine's, of whatever version. */
	assert_int_equal(mkdir(OLDER, 0700), 0);
	pin(OLDER "/link-eth1,7", BPF_LINK_TYPE_XDP, 35, 101, 9);
	assert_int_equal(shield_detach(NULL, &count), 0);
	assert_int_equal(count, 1);
	assert_int_equal(access(PIN_ROOT, F_OK), -1);
}

/* In another network namespace the number of a link's interface is that of another one.
 */
static void filters_of_this_namespace_stay(void **state)
{
	size_t count;

	(void)state;
	pin(OURS "/link-eth1,7", BPF_LINK_TYPE_XDP, 35, 101, 9);
	assert_int_equal(symlink("1234567", OURS "/netns"), 0);
	nics[1].filters[TC_IN] = nics[1].filters[TC_OUT] = 9;
	assert_int_equal(shield_detach(OURS, &count), 0);
	assert_int_equal(count, 1);
	assert_int_equal(nics[1].filters[TC_IN], 9);
	assert_int_equal(nics[1].filters[TC_OUT], 9);
}

/* shield_abandon(), which says nothing. */
static void abandon(void)
{
	stderr_catch();
	shield_abandon(&shield);
	stderr_release(said, sizeof(said));
	assert_string_equal(said, "");
}

/* Only what this start has made, and only where nothing hangs on it. */
static void who_failed_leaves_nothing(void **state)
{
	(void)state;
	abandon();
	assert_int_equal(access(OURS, F_OK), 0);
	shield.dir_new = true;
	pin(OURS "/link-eth1,7", BPF_LINK_TYPE_XDP, 35, 101, 9);
	pin(OURS "/out-eth1,7", TCX, 35, 101, 9);
	abandon();
	assert_int_equal(access(OURS, F_OK), 0);
	assert_int_equal(access(PIN_ROOT, F_OK), -1);
	assert_false(shield.dir_new);
	/* Half of an upgrade that failed: the link would go with its last pin. */
	unlink(OURS "/link-eth1,7");
	shield.dir_new = true;
	abandon();
	pinned(OURS "/out-eth1,7", "999 of 35, program 101");
	unlink(OURS "/out-eth1,7");
	assert_int_equal(mkdir(PIN_ROOT, 0700), 0);
	pin(OURS "/out-eth1,7", TCX, 0, 101, 9); /* the interface is gone */
	shield.dir_new = true;
	abandon();
	assert_int_equal(access(OURS, F_OK), -1);
	assert_int_equal(access(PIN_ROOT, F_OK), -1);
}

/* Only its own, and what is of an interface that is gone by its name. */
static void who_is_released(void **state)
{
	(void)state;
	pin(OURS "/link-eth1,7", BPF_LINK_TYPE_XDP, 0, 101, 9);
	pin(OURS "/link-other", BPF_LINK_TYPE_XDP, 35, 101, 9);
	pin(OURS "/link-eth2,7", BPF_LINK_TYPE_XDP, 36, 101, 9);
	pin(OURS "/link-tcx", TCX, 35, 101, 9);
	pin(OURS "/out-eth1,7", TCX, 0, 102, 9);
	pin(OURS "/out-other", TCX, 35, 102, 9);
	pin(OURS "/in-other", TCX, 35, 103, 9);
	pin(OURS "/out-eth2,7", TCX, 36, 102, 9);
	asked[0] = 0;
	shield_release(&shield, NIC);
	assert_non_null(strstr(asked, "detach 6 of 35\n"));
	assert_null(strstr(asked, "36"));
	pinned(OURS "/link-eth1,7", NULL);
	pinned(OURS "/link-other", NULL);
	pinned(OURS "/link-tcx", "999 of 35, program 101");
	pinned(OURS "/out-eth1,7", NULL);
	pinned(OURS "/out-other", NULL);
	pinned(OURS "/in-other", NULL);
	pinned(OURS "/out-eth2,7", "999 of 36, program 102");
	nics[1].ifindex = 0;
	pin(OURS "/link-gone", BPF_LINK_TYPE_XDP, 0, 101, 9);
	pin(OURS "/out-gone", TCX, 0, 102, 9);
	asked[0] = 0;
	shield_release(&shield, NIC);
	assert_string_equal(asked, "");
	pinned(OURS "/link-gone", "6 of 0, program 101");
	pinned(OURS "/out-gone", "999 of 0, program 102");
	/* Renamed: the pin has the former name, and filters have none. */
	pin(OURS "/link-eth1,7", BPF_LINK_TYPE_XDP, 36, 101, 9);
	nics[2].filters[TC_OUT] = nics[2].filters[TC_IN] = 44;
	shield_release(&shield, NIC);
	assert_string_equal(asked, "detach 6 of 36\nfilter off 36 0\nfilter off 36 1\n");
}

/* Three links of an interface, pinned under the name of @nic. */
static void leave(const char *dir, const char *nic, unsigned int ifindex, __u32 program)
{
	static const char *const prefixes[] = { "link", "out", "in" };
	char path[PATH_MAX];

	for (size_t i = 0; i < COUNT(prefixes); i++) {
		snprintf(path, sizeof(path), "%s/%s-%s", dir, prefixes[i], nic);
		pin(path, i ? TCX : BPF_LINK_TYPE_XDP, ifindex, program, 9);
	}
	nic_at(ifindex)->program = program;
}

/* Two interfaces have each other's names since: neither's last pin may go. */
static void names_were_swapped(void **state)
{
	enum attach_mode mode;

	(void)state;
	leave(OURS, "eth1,7", 36, 5);
	leave(OURS, "eth2,7", 35, 6);
	nics[1].skb = nics[2].skb = true;
	assert_int_equal(shield_attach(&shield, NIC, MODE_SKB, &mode), 0);
	pinned(OURS "/link-eth1,7", "6 of 35, program 101");
	pinned(OURS "/out-eth1,7", "999 of 35, program 102");
	pinned(OURS "/in-eth1,7", "999 of 35, program 103");
	pinned(OURS "/link-eth2,7", "6 of 36, program 5");
	pinned(OURS "/out-eth2,7", "999 of 36, program 5");
	pinned(OURS "/in-eth2,7", "999 of 36, program 5");
}

/* In a ring, and one that got the name of one that is gone. */
static void names_went_round(void **state)
{
	(void)state;
	leave(OURS, "eth0,7", 35, 5);
	leave(OURS, "eth1,7", 36, 6);
	leave(OURS, "eth2,7", 34, 7);
	assert_int_equal(links_rename(OURS), 0);
	pinned(OURS "/link-eth0,7", "6 of 34, program 7");
	pinned(OURS "/out-eth1,7", "999 of 35, program 5");
	pinned(OURS "/in-eth2,7", "999 of 36, program 6");
	strcpy(nics[0].name, "eth1.7");
	nics[1].ifindex = 0;
	unlink(OURS "/link-eth1,7");
	pin(OURS "/link-eth1,7", BPF_LINK_TYPE_XDP, 0, 5, 9);
	assert_int_equal(links_rename(OURS), 0);
	pinned(OURS "/link-eth1,7", "6 of 34, program 7");
	pinned(OURS "/link-eth0,7", NULL);
}

/* A new interface has the name of one that was renamed: it cannot be attached to. */
static void a_new_one_has_the_name(void **state)
{
	enum attach_mode mode;

	(void)state;
	leave(OURS, "eth1,7", 36, 5);
	native_errno = EPERM;
	stderr_catch();
	assert_int_equal(shield_attach(&shield, NIC, MODE_NATIVE, &mode), -EPERM);
	stderr_release(said, sizeof(said));
	pinned(OURS "/link-eth2,7", "6 of 36, program 5");
	pinned(OURS "/out-eth2,7", "999 of 36, program 5");
	pinned(OURS "/link-eth1,7", NULL);
}

/* The programs of another quakeshield, as they are pinned: all have the number 5. */
static void older(void)
{
	static const char *const pins[] = { OLDER "/xdp", OLDER "/egress",
					    OLDER "/joined" };

	assert_int_equal(mkdir(OLDER, 0700), 0);
	for (size_t i = 0; i < COUNT(pins); i++)
		pin(pins[i], 0, 0, 0, 5);
}

/*
 * An upgrade that fails at the ingress, or where a pin cannot be: the quakeshield before
 * has its links again, with its programs.
 */
static void what_failed_is_given_back(void **state)
{
	static const struct {
		int type; /* of the links that cannot be exchanged; 0: all can */
		const char *taken; /* the pin that cannot be made */
	} rows[] = {
		{ BPF_LINK_TYPE_XDP, NULL },
		{ 0, OURS "/out-eth1,7" },
		{ 0, OURS "/link-eth1,7" },
		{ 0, OURS "/in-eth1,7" },
	};
	enum attach_mode mode;

	(void)state;
	nics[1].skb = true;
	older();
	leave(OLDER, "eth1,7", 35, 5);
	for (size_t i = 0; i < COUNT(rows); i++) {
		update_type = rows[i].type;
		update_errno = rows[i].type ? ENOMEM : 0;
		if (rows[i].taken)
			assert_int_equal(mkdir(rows[i].taken, 0700), 0);
		stderr_catch();
		assert_true(shield_attach(&shield, NIC, MODE_SKB, &mode) < 0);
		stderr_release(said, sizeof(said));
		assert_null(strstr(said, "cannot give"));
		if (rows[i].taken)
			assert_int_equal(rmdir(rows[i].taken), 0);
		pinned(OLDER "/link-eth1,7", "6 of 35, program 5");
		pinned(OLDER "/out-eth1,7", "999 of 35, program 5");
		pinned(OLDER "/in-eth1,7", "999 of 35, program 5");
		pinned(OURS "/link-eth1,7", NULL);
		pinned(OURS "/out-eth1,7", NULL);
		pinned(OURS "/in-eth1,7", NULL);
	}
}

/* On a kernel without tcx, where what is at TC are filters. */
static void filters_are_given_back(void **state)
{
	enum attach_mode mode;

	(void)state;
	nics[1].skb = true;
	tcx_errno = EINVAL;
	hook_err = -EEXIST;
	older();
	pin(OLDER "/link-eth1,7", BPF_LINK_TYPE_XDP, 35, 5, 9);
	for (int fails = 1; fails >= 0; fails--) {
		nics[1].program = nics[1].filters[TC_OUT] = nics[1].filters[TC_IN] = 5;
		update_errno = fails ? ENOMEM : 0;
		asked[0] = 0;
		stderr_catch();
		assert_int_equal(shield_attach(&shield, NIC, MODE_SKB, &mode),
				 -update_errno);
		assert_int_equal(nics[1].filters[TC_OUT], fails ? 5 : 102);
		assert_int_equal(nics[1].filters[TC_IN], fails ? 5 : 103);
		update_errno = 0;
		shield_abandon(&shield);
		stderr_release(said, sizeof(said));
		assert_non_null(strstr(asked, "filter 102 on 35 0, flags 1\n"));
		assert_int_equal(nics[1].filters[TC_OUT], 5);
		assert_int_equal(nics[1].filters[TC_IN], 5);
		pinned(OLDER "/link-eth1,7", "6 of 35, program 5");
		pinned(OURS "/link-eth1,7", NULL);
	}
	/* The filters alone stay ours. */
	stderr_catch();
	assert_int_equal(shield_attach(&shield, NIC, MODE_SKB, &mode), 0);
	attach_err = -ENOMEM;
	shield_abandon(&shield);
	stderr_release(said, sizeof(said));
	assert_non_null(strstr(said, "cannot give 'eth1.7' back"));
	assert_null(strstr(said, "is given back"));
	pinned(OLDER "/link-eth1,7", "6 of 35, program 5");
}

/* A kernel that refuses tcx once: the filter of that start must not stay at its side. */
static void a_link_takes_the_filter_off(void **state)
{
	enum attach_mode mode;

	(void)state;
	nics[1].skb = true;
	nics[1].filters[TC_OUT] = nics[1].filters[TC_IN] = 5;
	stderr_catch();
	assert_int_equal(shield_attach(&shield, NIC, MODE_SKB, &mode), 1);
	stderr_release(said, sizeof(said));
	assert_int_equal(nics[1].filters[TC_OUT], 0);
	assert_int_equal(nics[1].filters[TC_IN], 0);
}

/* An upgrade of two interfaces that fails after the first, or after both. */
static void what_was_taken_is_given_back(void **state)
{
	enum attach_mode mode;

	(void)state;
	log_verbose();
	nics[1].skb = nics[2].skb = true;
	older();
	leave(OLDER, "eth1,7", 35, 5);
	leave(OLDER, "eth2,7", 36, 5);
	for (int fails = 1; fails >= 0; fails--) {
		shield.dir_new = !fails;
		update_errno = 0;
		stderr_catch();
		assert_int_equal(shield_attach(&shield, NIC, MODE_SKB, &mode), 0);
		pinned(OURS "/link-eth1,7", "6 of 35, program 101");
		update_errno = fails ? ENOMEM : 0;
		assert_int_equal(shield_attach(&shield, "eth2.7", MODE_SKB, &mode),
				 -update_errno);
		update_errno = 0;
		shield_abandon(&shield);
		stderr_release(said, sizeof(said));
		assert_non_null(strstr(said, "'eth1.7' is given back to the quakeshield "
					     "in '" OLDER "'"));
		pinned(OLDER "/link-eth1,7", "6 of 35, program 5");
		pinned(OLDER "/out-eth1,7", "999 of 35, program 5");
		pinned(OLDER "/in-eth1,7", "999 of 35, program 5");
		pinned(OLDER "/link-eth2,7", "6 of 36, program 5");
		pinned(OLDER "/out-eth2,7", "999 of 36, program 5");
		pinned(OURS "/link-eth1,7", NULL);
	}
	assert_int_equal(access(OURS, F_OK), -1);
	/* Our program stays, and that is said. */
	assert_int_equal(mkdir(OURS, 0700), 0);
	stderr_catch();
	assert_int_equal(shield_attach(&shield, NIC, MODE_SKB, &mode), 0);
	update_errno = ENOMEM;
	shield_abandon(&shield);
	update_errno = 0;
	stderr_release(said, sizeof(said));
	assert_null(strstr(said, "is given back"));
	assert_non_null(strstr(said, "cannot give 'eth1.7' back to the quakeshield in "
				     "'" OLDER "'"));
	pinned(OURS "/link-eth1,7", "6 of 35, program 101");
	pinned(OLDER "/link-eth1,7", NULL);
	stderr_catch();
	shield_release(&shield, NIC);
	stderr_release(said, sizeof(said));
	assert_int_equal(rmdir(OURS), 0);
	leave(OLDER, "eth1,7", 35, 5);
	/* A start that has succeeded gives nothing back. */
	assert_int_equal(mkdir(OURS, 0700), 0);
	assert_int_equal(shield_attach(&shield, NIC, MODE_SKB, &mode), 0);
	shield_retire(&shield);
	abandon();
	pinned(OURS "/link-eth1,7", "6 of 35, program 101");
}

#undef TEST
#define TEST(name) cmocka_unit_test_setup_teardown(name, fake_begin, fake_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_detached),
		TEST(filters_of_this_namespace_stay),
		TEST(who_failed_leaves_nothing),
		TEST(who_is_released),
		TEST(what_failed_is_given_back),
		TEST(names_were_swapped),
		TEST(names_went_round),
		TEST(a_new_one_has_the_name),
		TEST(what_was_taken_is_given_back),
		TEST(filters_are_given_back),
		TEST(a_link_takes_the_filter_off),
	};

	if (!apart(CLONE_NEWNS))
		return apart_refused();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
