// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_attach.c - all that the kernel is asked, in its order, and all that is said, when
 * an interface is attached to, looked at and let go: in each mode, over what an older
 * quakeshield left, and wherever it fails. Kernels with and without tcx.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "shield/fake_attach.h"

#define NIC  "eth1.7" /* number 35, so that its bit is the 3rd */
#define ME   "quakeshield: "
#define WARN ME "warning: "

/* shield_attach(): its status and mode, all that it asks and says. */
static void attach(enum attach_mode wanted, int status, enum attach_mode got,
		   const char *asks, const char *says)
{
	enum attach_mode mode = MODE_AUTO;
	int was;

	asked[0] = 0;
	stderr_catch();
	was = shield_attach(&shield, NIC, wanted, &mode);
	stderr_release(said, sizeof(said));
	assert_string_equal(asked, asks);
	assert_string_equal(said, says);
	assert_int_equal(was, status);
	if (status >= 0)
		assert_int_equal(mode, got);
}

static void release(const char *asks)
{
	asked[0] = 0;
	shield_release(&shield, NIC);
	assert_string_equal(asked, asks);
}

#define TC_OUT_ON "create 102 on 35 by 47, flags 0\n"
#define TC_IN_ON  "create 103 on 35 by 46, flags 0\n"
#define DRV	  "create 101 on 35 by 37, flags 4\n"
#define SKB	  "create 101 on 35 by 37, flags 2\n"

/* --- new -------------------------------------------------------------------------------
 */

static void each_mode_as_it_is_wanted(void **state)
{
	(void)state;
	attach(MODE_AUTO, 1, MODE_NATIVE, TC_OUT_ON DRV, "");
	pinned(OURS "/link-eth1,7", "6 of 35, program 101");
	pinned(OURS "/out-eth1,7", "999 of 35, program 102");
	pinned(OURS "/in-eth1,7", NULL);
	assert_int_equal(live.veths, 0);
	release("detach 6 of 35\n");
	pinned(OURS "/link-eth1,7", NULL);
	pinned(OURS "/out-eth1,7", NULL);
	nics[1].program = 0;
	attach(MODE_NATIVE, 1, MODE_NATIVE, TC_OUT_ON DRV, "");
	release("detach 6 of 35\n");
	nics[1].program = 0;
	nics[1].joins = true;
	nics[1].veth = true;
	attach(MODE_SKB, 1, MODE_SKB, TC_OUT_ON SKB TC_IN_ON,
	       WARN
	       "'eth1.7' joins datagrams before they can be judged, so what it joins "
	       "is dropped, players' too: `ethtool -K eth1.7 rx-udp-gro-forwarding "
	       "off`\n");
	pinned(OURS "/in-eth1,7", "999 of 35, program 103");
	assert_int_equal(live.veths, 1 << 3);
	release("detach 6 of 35\n");
	pinned(OURS "/in-eth1,7", NULL);
}

/* In native mode what is sent back would be of no VLAN: said with each attaching. */
static void a_card_that_takes_tags_off(void **state)
{
#define UNTAGGED                                                                      \
	WARN "'eth1.7' takes the tags of VLANs off before a frame can be judged, so " \
	     "what is sent back to 'game' leaves without one and is lost: `ethtool "  \
	     "-K eth1.7 rxvlan off`\n"
	(void)state;
	nics[1].strips = true;
	attach(MODE_AUTO, 1, MODE_NATIVE, TC_OUT_ON DRV, "");
	nics[1].vlan = "game";
	attach(MODE_AUTO, 0, MODE_NATIVE,
	       "update 999 of 35 from 102 to 102\nupdate 6 of 35 from 101 to 101\n",
	       UNTAGGED);
	release("detach 6 of 35\n");
	nics[1].program = 0;
	attach(MODE_NATIVE, 1, MODE_NATIVE, TC_OUT_ON DRV, UNTAGGED);
	release("detach 6 of 35\n");
	nics[1].program = 0;
	attach(MODE_SKB, 1, MODE_SKB, TC_OUT_ON SKB TC_IN_ON, "");
	release("detach 6 of 35\n");
	nics[1].program = 0;
	nics[1].skb = nics[1].strips = false;
	attach(MODE_AUTO, 1, MODE_NATIVE, TC_OUT_ON DRV, "");
	release("detach 6 of 35\n");
	nics[1].program = 0;
	nics[1].strips = nics[1].veth = true;
	attach(MODE_AUTO, 1, MODE_NATIVE, TC_OUT_ON DRV, "");
	release("detach 6 of 35\n");
	/* Of what failed, only why. */
	nics[1].program = 0;
	nics[1].veth = false;
	native_errno = EPERM;
	attach(MODE_NATIVE, -EPERM, 0, TC_OUT_ON DRV,
	       ME "cannot attach to 'eth1.7' in native mode: Operation not permitted "
		  "(try --mode skb)\n");
}

#define NO_NATIVE                                                                 \
	WARN "the driver of 'eth1.7' takes no native XDP program (Operation not " \
	     "supported): using generic (skb) mode, which is slower\n"

/* The MTU is named, and the largest that works, which kern_attach.c tries. */
static void mtu_that_is_too_large_is_named(void **state)
{
	static const struct {
		int err;
		__u32 mtu;
		bool veth;
		const char *said; /* before "(try --mode skb)" */
	} rows[] = {
		{ ERANGE, 9000, false,
		  "Numerical result out of range: the MTU of the interface is too large, of "
		  "'eth1.7' it is 9000; the largest is 3506, with some drivers less: `ip "
		  "link set eth1.7 mtu 3506`" },
		{ ERANGE, 1500, true,
		  "Numerical result out of range: the MTU of its other end is too large, of "
		  "'eth1.7' it is 1500; the largest is 3506, with some drivers less: `ip "
		  "link set OTHER-END mtu 1500`" },
		{ EINVAL, 3400, false,
		  "Invalid argument: the MTU of the interface is too large, of 'eth1.7' it "
		  "is 3400; the largest is 3506, with some drivers less: `ip link set "
		  "eth1.7 mtu 1500`" },
		{ EINVAL, 1500, false, "Invalid argument" },
		{ EOPNOTSUPP, 65536, false, "Operation not supported" },
	};
	char want[512];

	(void)state;
	if (sysconf(_SC_PAGESIZE) != 4096)
		skip();
	for (size_t i = 0; i < COUNT(rows); i++) {
		native_errno = rows[i].err;
		nics[1].mtu = rows[i].mtu;
		nics[1].veth = rows[i].veth;
		snprintf(want, sizeof(want),
			 ME "cannot attach to 'eth1.7' in native mode: %s (try --mode "
			    "skb)\n",
			 rows[i].said);
		attach(MODE_NATIVE, -rows[i].err, 0, TC_OUT_ON DRV, want);
	}
}

/* Of what was put on before it failed nothing is left. */
static void both_halves_or_none(void **state)
{
	(void)state;
	native_errno = EOPNOTSUPP;
	attach(MODE_AUTO, 1, MODE_SKB, TC_OUT_ON DRV SKB TC_IN_ON, NO_NATIVE);
	release("detach 6 of 35\n");
	nics[1].program = 0;
	attach(MODE_NATIVE, -EOPNOTSUPP, 0, TC_OUT_ON DRV,
	       ME
	       "cannot attach to 'eth1.7' in native mode: Operation not supported (try "
	       "--mode skb)\n");
	pinned(OURS "/out-eth1,7", NULL);
	skb_errno = EPERM;
	attach(MODE_AUTO, -EPERM, 0, TC_OUT_ON DRV SKB,
	       NO_NATIVE ME
	       "cannot attach to 'eth1.7' in skb mode: Operation not permitted\n");
	attach(MODE_SKB, -EPERM, 0, TC_OUT_ON SKB,
	       ME "cannot attach to 'eth1.7' in skb mode: Operation not permitted\n");
	pinned(OURS "/link-eth1,7", NULL);
	pinned(OURS "/out-eth1,7", NULL);
	nics[1].ifindex = 0;
	attach(MODE_AUTO, -ENODEV, 0, "", ME "no such interface: 'eth1.7'\n");
}

/* A pin of that name that is of an interface that is gone gives way. */
static void a_name_that_was_anothers(void **state)
{
	(void)state;
	pin(OURS "/link-eth1,7", BPF_LINK_TYPE_XDP, 0, 5, 9);
	attach(MODE_AUTO, 1, MODE_NATIVE, TC_OUT_ON DRV, "");
	pinned(OURS "/link-eth1,7", "6 of 35, program 101");
}

/* --- without tcx
 * ------------------------------------------------------------------------- */

static void older_kernels_get_filters(void **state)
{
#define FILTERS                                                           \
	TC_OUT_ON "hook 35 0\nfilter 102 on 35 0, flags 1\n" SKB TC_IN_ON \
		  "hook 35 1\nfilter 103 on 35 1, flags 1\n"
	(void)state;
	tcx_errno = EINVAL;
	attach(MODE_SKB, 1, MODE_SKB, FILTERS, "");
	assert_true(tc_is_ours(OURS, TC_OUT, NIC, 35));
	assert_true(tc_is_ours(OURS, TC_IN, NIC, 35));
	nics[1].filters[TC_IN]++;
	assert_false(tc_is_ours(OURS, TC_IN, NIC, 35));
	nics[1].filters[TC_OUT] = 0;
	assert_false(tc_is_ours(OURS, TC_OUT, NIC, 35));
	nics[1].filters[TC_OUT] = 102;
	release("detach 6 of 35\nfilter off 35 0\nfilter off 35 1\n");
	nics[1].program = 0;
	hook_err = -EEXIST;
	attach(MODE_SKB, 1, MODE_SKB, FILTERS, "");
	release("detach 6 of 35\nfilter off 35 0\nfilter off 35 1\n");
	nics[1].program = 0;
	hook_err = -EPERM;
	attach(MODE_SKB, -EPERM, 0, TC_OUT_ON "hook 35 0\n",
	       ME "cannot attach to the egress of 'eth1.7': Operation not permitted (the "
		  "kernel needs tcx, or CONFIG_NET_SCH_INGRESS and "
		  "CONFIG_NET_CLS_BPF)\n");
	hook_err = 0;
	attach_err = -ENOENT;
	attach(MODE_SKB, -ENOENT, 0, TC_OUT_ON "hook 35 0\nfilter 102 on 35 0, flags 1\n",
	       ME
	       "cannot attach to the egress of 'eth1.7': No such file or directory (the "
	       "kernel needs tcx, or CONFIG_NET_SCH_INGRESS and "
	       "CONFIG_NET_CLS_BPF)\n");
}

/* --- exchanged
 * ----------------------------------------------------------------------------- */

static void leave_link(const char *dir, unsigned int ifindex, __u32 program)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/link-eth1,7", dir);
	pin(path, BPF_LINK_TYPE_XDP, ifindex, program, 9);
	snprintf(path, sizeof(path), "%s/out-eth1,7", dir);
	pin(path, TCX, ifindex, program + 1, 9);
	if (nic_at(ifindex))
		nic_at(ifindex)->program = program;
}

static void ours_are_exchanged(void **state)
{
#define EXCHANGED "update 999 of 35 from 6 to 102\nupdate 6 of 35 from 5 to 101\n"
	(void)state;
	leave_link(OURS, 35, 5);
	pin(OURS "/link-eth2,7", BPF_LINK_TYPE_XDP, 36, 8, 9);
	attach(MODE_AUTO, 0, MODE_NATIVE, EXCHANGED, "");
	pinned(OURS "/link-eth1,7", "6 of 35, program 101");
	pinned(OURS "/out-eth1,7", "999 of 35, program 102");
	pinned(OURS "/link-eth2,7", "6 of 36, program 8");
	attach(MODE_SKB, 0, MODE_NATIVE,
	       "update 999 of 35 from 102 to 102\nupdate 6 of 35 from 101 to 101\n",
	       WARN
	       "'eth1.7' stays attached in native mode; to change that without a gap is "
	       "not possible: `quakeshield detach` first\n");
	nics[1].skb = true;
	attach(MODE_NATIVE, 0, MODE_SKB,
	       "update 999 of 35 from 102 to 102\nupdate 6 of 35 from 101 to "
	       "101\n" TC_IN_ON,
	       WARN
	       "'eth1.7' stays attached in skb mode; to change that without a gap is "
	       "not possible: `quakeshield detach` first\n");
	/* What fails leaves what was there. */
	update_errno = EINVAL;
	rename(OURS "/out-eth1,7", OURS "/out-eth9,7");
	attach(MODE_SKB, -EINVAL, 0, "update 999 of 35 from 102 to 102\n",
	       ME "cannot exchange the program at the egress of 'eth1.7': Invalid "
		  "argument\n");
	pinned(OURS "/out-eth1,7", "999 of 35, program 102");
	unlink(OURS "/out-eth1,7");
	attach(MODE_SKB, -EINVAL, 0, TC_OUT_ON "update 6 of 35 from 101 to 101\n",
	       ME "cannot exchange the program on 'eth1.7': Invalid argument\n");
	pinned(OURS "/link-eth1,7", "6 of 35, program 101");
}

/* Under whatever name it was pinned. */
static void a_link_that_was_renamed(void **state)
{
	(void)state;
	pin(OURS "/link-eth9,7", BPF_LINK_TYPE_XDP, 35, 5, 9);
	nics[1].program = 5;
	attach(MODE_AUTO, 0, MODE_NATIVE, TC_OUT_ON "update 6 of 35 from 5 to 101\n", "");
	pinned(OURS "/link-eth9,7", NULL);
	pinned(OURS "/link-eth1,7", "6 of 35, program 101");
}

static void an_older_ones_come_over(void **state)
{
	(void)state;
	assert_int_equal(mkdir(OLDER, 0700), 0);
	leave_link(OLDER, 35, 5);
	snprintf(shield.dir, sizeof(shield.dir), "%s/%s", PIN_ROOT, shield_abi());
	assert_int_equal(mkdir(shield.dir, 0700), 0);
	attach(MODE_AUTO, 0, MODE_NATIVE, EXCHANGED, "");
	pinned(OLDER "/link-eth1,7", NULL);
	pinned(OLDER "/out-eth1,7", NULL);
	asked[0] = 0;
	assert_true(dir_attached(shield.dir));
	assert_false(dir_attached(OLDER));
	/* What is of an interface that is not named now goes, with the tables. */
	pin(OLDER "/link-eth2,7", BPF_LINK_TYPE_XDP, 36, 8, 9);
	pin(OLDER "/link-gone", BPF_LINK_TYPE_XDP, 0, 8, 9);
	pin(OLDER "/out-eth2,7", TCX, 36, 8, 9);
	pin(OLDER "/live", 1, 0, 0, 9);
	nics[2].filters[TC_OUT] = nics[2].filters[TC_IN] = 44;
	stderr_catch();
	shield_retire(&shield);
	stderr_release(said, sizeof(said));
	assert_non_null(strstr(said,
			       WARN "'eth2.7' is protected no more: the quakeshield "
				    "before this one did, but it is not among the "
				    "interfaces now\n"));
	assert_non_null(
		strstr(asked, "detach 6 of 36\nfilter off 36 0\nfilter off 36 1\n"));
	assert_non_null(strstr(asked, "detach 6 of 0\n"));
	assert_int_equal(access(OLDER, F_OK), -1);
	assert_true(dir_attached(shield.dir));
	/* Who has a directory of his own retires nobody. */
	assert_int_equal(mkdir(OLDER, 0700), 0);
	strcpy(shield.dir, OURS);
	shield_retire(&shield);
	assert_int_equal(access(OLDER, F_OK), 0);
}

/* --- whose it is
 * ----------------------------------------------------------------------------- */

static void look(const char *dir, int status, enum holder holder, const char *says)
{
	enum holder is = HOLDER_DEFAULT;
	char why[SHIELD_WHY];

	assert_int_equal(shield_may_attach(dir, NIC, &is, why), status);
	assert_string_equal(why, says);
	assert_int_equal(is, holder);
	stderr_catch();
	assert_int_equal(shield_check_attach(dir, NIC, &is), status);
	stderr_release(said, sizeof(said));
	if (*says) {
		assert_memory_equal(said, ME, strlen(ME));
		assert_memory_equal(said + strlen(ME), says, strlen(says));
	} else {
		assert_string_equal(said, "");
	}
}

static void what_is_on_it_already(void **state)
{
	enum holder holder;

	(void)state;
	look(OURS, 0, HOLDER_NONE, "");
	assert_int_equal(shield_program_on(NIC), 0);
	nics[1].program = 77;
	assert_int_equal(shield_program_on(NIC), 77);
	look(OURS, -EBUSY, HOLDER_NONE,
	     "interface 'eth1.7' already carries the program of a quakeshield (id 77) that "
	     "is pinned in another directory: it is left alone. Name that directory with "
	     "--pin, or `quakeshield detach --pin` it");
	nics[1].program = 78;
	look(OURS, -EBUSY, HOLDER_NONE,
	     "interface 'eth1.7' already carries an XDP program that is not ours (id 78, "
	     "name 'theirs'): it is left alone. Detach it with its own tool (`bpftool net` "
	     "shows it; without a link, `ip link set dev eth1.7 xdp off` takes it off), or "
	     "protect another interface");
	nics[1].program = 79;
	stderr_catch();
	assert_int_equal(shield_check_attach(OURS, NIC, &holder), -EBUSY);
	stderr_release(said, sizeof(said));
	assert_non_null(strstr(said, "(id 79, name '?')"));
	leave_link(OURS, 35, 5);
	look(OURS, 0, HOLDER_US, "");
}

static void what_carries_no_frames(void **state)
{
	(void)state;
	nics[1].hwaddr = ARPHRD_LOOPBACK;
	look(OURS, 0, HOLDER_NONE, "");
	nics[1].hwaddr = ARPHRD_PPP;
	look(OURS, -EOPNOTSUPP, HOLDER_NONE,
	     "interface 'eth1.7' carries no Ethernet frames (type 512): if it is a tunnel "
	     "(GRE, IPIP, WireGuard, tun), the shield must stand where its packets are "
	     "outside of it, at its other end; the interface below it sees the outer "
	     "packets only");
	nics[1].hwaddr_errno = EPERM;
	look(OURS, -EPERM, HOLDER_NONE,
	     "cannot query interface 'eth1.7': Operation not permitted");
	nics[1].hwaddr_errno = ENODEV;
	look(OURS, -ENODEV, HOLDER_NONE, "");
	nics[1].ifindex = 0;
	look(OURS, -ENODEV, HOLDER_NONE, "");
}

static void the_machines_own(void **state)
{
	(void)state;
	assert_int_equal(mkdir(OLDER, 0700), 0);
	leave_link(OLDER, 35, 5);
	look(OURS, 0, HOLDER_DEFAULT, "");
	look(NULL, 0, HOLDER_US, "");
}

/* --- what there is
 * ------------------------------------------------------------------------ */

/* Of several each is what it is; those that there is no room for are counted. */
static void links_are_listed(void **state)
{
	struct shield_link links[4];
	char veth[IF_NAMESIZE] = "";

	(void)state;
	pin(OURS "/link-eth1,7", BPF_LINK_TYPE_XDP, 35, 101, 9);
	nics[1].program = 101;
	assert_int_equal(shield_links(&shield, links, 4), 1);
	assert_string_equal(links[0].interface, "eth1.7");
	assert_int_equal(links[0].mode, MODE_NATIVE);
	assert_true(links[0].ingress && !links[0].egress && !links[0].attached);
	assert_int_equal(links[0].program_id, 101);
	assert_true(links[0].since > time(NULL) - 100 && links[0].since <= time(NULL));
	assert_false(links[0].down || links[0].dormant || links[0].loopback);
	nics[1].dormant = nics[1].loopback = true;
	shield_links(&shield, links, 4);
	assert_true(!links[0].down && links[0].dormant && links[0].loopback);
	nics[1].down = true;
	shield_links(&shield, links, 4);
	assert_true(links[0].down && !links[0].dormant);
	nics[1].untold = true;
	shield_links(&shield, links, 4);
	assert_false(links[0].down || links[0].dormant || links[0].loopback);
	nics[1].untold = nics[1].down = nics[1].dormant = nics[1].loopback = false;
	assert_false(shield_return_path_unavailable(&shield, veth));
	assert_int_equal(shield_mtu(&shield), 0);
	nics[1].mtu = 1492;
	assert_int_equal(shield_mtu(&shield), 1492);
	nics[1].veth = true;
	assert_true(shield_return_path_unavailable(&shield, veth));
	assert_string_equal(veth, "eth1.7");
	pin(OURS "/out-eth1,7", TCX, 35, 102, 9);
	shield_links(&shield, links, 4);
	assert_true(links[0].ingress && links[0].egress && links[0].attached);
	nics[1].skb = true;
	assert_false(shield_return_path_unavailable(&shield, veth));
	shield_links(&shield, links, 4);
	assert_true(links[0].egress && !links[0].attached && links[0].mode == MODE_SKB);
	pin(OURS "/in-eth1,7", TCX, 35, 103, 9);
	shield_links(&shield, links, 4);
	assert_true(links[0].attached);
	nics[1].program = 50;
	shield_links(&shield, links, 4);
	assert_true(!links[0].ingress && links[0].egress && !links[0].attached);
	assert_int_equal(links[0].program_id, 50);
	/* At another interface than it is named after. */
	unlink(OURS "/out-eth1,7");
	pin(OURS "/out-eth1,7", TCX, 36, 102, 9);
	shield_links(&shield, links, 4);
	assert_false(links[0].egress);
	/* Gone, and another of that name since. */
	unlink(OURS "/link-eth1,7");
	pin(OURS "/link-eth1,7", BPF_LINK_TYPE_XDP, 0, 101, 9);
	shield_links(&shield, links, 4);
	assert_string_equal(links[0].interface, "eth1.7");
	assert_true(!links[0].missing && !links[0].attached && !links[0].ingress);
	assert_int_equal(links[0].program_id, 50);
	nics[1].ifindex = 0;
	shield_links(&shield, links, 4);
	assert_true(links[0].missing && !links[0].program_id);
	pin(OURS "/link-eth2,7", BPF_LINK_TYPE_XDP, 36, 101, 9);
	memset(links, 0x5a, sizeof(links));
	assert_int_equal(shield_links(&shield, links, 1), 2);
	assert_int_equal(((__u8 *)&links[1])[0], 0x5a);
}

#undef TEST
#define TEST(name) cmocka_unit_test_setup_teardown(name, fake_begin, fake_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_mode_as_it_is_wanted),
		TEST(a_card_that_takes_tags_off),
		TEST(mtu_that_is_too_large_is_named),
		TEST(both_halves_or_none),
		TEST(a_name_that_was_anothers),
		TEST(older_kernels_get_filters),
		TEST(ours_are_exchanged),
		TEST(a_link_that_was_renamed),
		TEST(an_older_ones_come_over),
		TEST(what_is_on_it_already),
		TEST(what_carries_no_frames),
		TEST(the_machines_own),
		TEST(links_are_listed),
	};

	if (!apart(CLONE_NEWNS))
		return apart_refused();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
