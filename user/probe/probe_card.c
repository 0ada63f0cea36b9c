// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * probe_card.c - the findings about the interface itself: which programs it has and
 * takes, how it spreads, joins and strips what it receives. Pure; see probe.h.
 */
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/if_ether.h>
#include <string.h>

#include "lib/util.h"
#include "probe/probe.h"

#define RING_LEAST  1024 /* frames: a millisecond of a million a second */
#define RING_ENOUGH 4096
#define XDP_HEAD    256 /* bytes that the kernel wants free before a frame */
#define XDP_TAIL    320 /* and behind it */

/*
 * The drivers that take native XDP programs, for kernels that do not say it (before 6.3):
 * those of Linux 6.1.
 */
static const char *const native_drivers[] = {
	"atlantic", "bnxt_en",	     "bonding",	    "cpsw",    "cpsw-switch",	"ena",
	"fsl_dpa",  "fsl_dpaa2_eth", "fsl_enetc",   "funeth",  "hv_netvsc",	"i40e",
	"ice",	    "igb",	     "igc",	    "ixgbe",   "ixgbevf",	"mana",
	"mlx4_en",  "mlx5_core",     "mtk_soc_eth", "mvneta",  "mvpp2",		"nfp",
	"qede",	    "rvu-nicpf",     "sfc",	    "st_gmac", "thunder-nicvf", "tun",
	"veth",	    "vif",	     "virtio_net",
};

/* Drivers that need as many queues again to send back from a program. */
static const char *const halved_drivers[] = { "ena", "gve" };

static bool is_among(const char *driver, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(driver, list[i]))
			return true;
	return false;
}

static bool is_native(const struct probe_facts *f)
{
	return f->native >= 0
		       ? f->native
		       : is_among(f->driver, native_drivers, ARRAY_SIZE(native_drivers));
}

static void judge_program(const struct probe_facts *f, struct probe_findings *to)
{
	switch (f->attach) {
	case 0:
		probe_say(to, "program", PROBE_OK, "'%s' carries %s", f->interface,
			  f->holder == HOLDER_NONE ? "no XDP program"
						   : "quakeshield's program already");
		return;
	case -EBUSY:
		probe_say(to, "program", PROBE_FAIL, "%s", f->why);
		probe_fix(to, "ip link set dev %s xdp off # its own tool first",
			  f->interface);
		return;
	default: /* said already, or this user may not know */
		return;
	}
}

/* Return true for a driver that runs no program any more once its rings are made anew. */
static bool is_forgetful(const struct probe_facts *f)
{
	return is_native(f) && !strcmp(f->driver, "vmxnet3");
}

static void judge_mode(const struct probe_facts *f, struct probe_findings *to)
{
	if (!is_native(f)) {
		probe_say(to, "mode", PROBE_WARN,
			  "driver '%s' %s native XDP: skb mode works, later and slower",
			  *f->driver ? f->driver : "?",
			  f->native >= 0 ? "has no" : "is not known to have");
		probe_fix(to, "quakeshield run --mode skb -i %s", f->interface);
	} else if (!strcmp(f->driver, "veth")) {
		probe_say(
			to, "mode", PROBE_WARN,
			"'%s' is a veth: what is sent back in native mode is lost unless "
			"its other end has GRO on, so `validation` and `cache` are off "
			"where they are not written",
			f->interface);
		probe_fix(to, "ethtool -K OTHER-END gro on # on its other end");
	} else if (is_forgetful(f)) {
		probe_say(to, "mode", PROBE_WARN,
			  "driver '%s' has native XDP, but where its ring or MTU changes "
			  "while the shield is attached nothing is judged until the "
			  "daemon has noticed and attached again",
			  f->driver);
		probe_fix(to, "quakeshield detach # before a change, then start again");
	} else {
		probe_say(to, "mode", PROBE_OK, "driver '%s' has native XDP", f->driver);
	}
}

static void judge_mtu(const struct probe_facts *f, struct probe_findings *to)
{
	__u32 most = f->page - XDP_HEAD - XDP_TAIL - ETH_HLEN;

	if (!f->mtu || !is_native(f))
		return;
	if (f->mtu <= most) {
		probe_say(to, "mtu", PROBE_OK, "MTU %u; native XDP takes %u at most",
			  f->mtu, most);
		return;
	}
	probe_say(to, "mtu", PROBE_WARN,
		  "MTU %u is more than native XDP takes, which is %u, with some drivers "
		  "less: skb mode works, later and slower",
		  f->mtu, most);
	probe_fix(to, "ip link set %s mtu 1500", f->interface);
}

static void judge_queues(const struct probe_facts *f, struct probe_findings *to)
{
	__u32 now = f->queues.now, most = f->queues.most, wanted = f->processors;
	bool halved = is_among(f->driver, halved_drivers, ARRAY_SIZE(halved_drivers));

	if (!now)
		return;
	if (halved)
		most = most > 1 ? most / 2 : 1;
	if (halved && now > most) {
		probe_say(
			to, "queues", PROBE_WARN,
			"%u queues: driver '%s' takes native XDP with half of its %u at "
			"most; skb mode works, later and slower",
			now, f->driver, f->queues.most);
		probe_fix(to, "ethtool -L %s combined %u", f->interface, most);
		return;
	}
	if (wanted > most)
		wanted = most;
	if (now >= wanted) {
		probe_say(to, "queues", PROBE_OK, "%u receive queue%s for %u processor%s",
			  now, now == 1 ? "" : "s", f->processors,
			  f->processors == 1 ? "" : "s");
		return;
	}
	probe_say(to, "queues", PROBE_WARN,
		  "%u receive queue%s for %u processors: a flood meets only as many", now,
		  now == 1 ? "" : "s", f->processors);
	probe_fix(to, "ethtool -L %s %s %u", f->interface,
		  f->combined ? "combined" : "rx", wanted);
}

static void judge_spread(const struct probe_facts *f, struct probe_findings *to)
{
	static const char *const flows[] = { "udp4", "udp6" };
	const int ports = RXH_L4_B_0_1 | RXH_L4_B_2_3;

	for (int i = 0; i < 2; i++) {
		if (f->queues.now < 2 || f->hash[i] < 0)
			continue;
		if ((f->hash[i] & ports) == ports) {
			probe_say(to, "spread", PROBE_OK,
				  "%s: queues are chosen by addresses and ports",
				  flows[i]);
			continue;
		}
		probe_say(to, "spread", PROBE_WARN,
			  "%s: queues are chosen by addresses alone: a flood from one "
			  "address meets one processor",
			  flows[i]);
		probe_fix(to, "ethtool -N %s rx-flow-hash %s sdfn", f->interface,
			  flows[i]);
	}
}

static void judge_ring(const struct probe_facts *f, struct probe_findings *to)
{
	__u32 wanted = f->ring.most < RING_ENOUGH ? f->ring.most : RING_ENOUGH;

	if (!f->ring.now)
		return;
	if (f->ring.now >= RING_LEAST || f->ring.now >= wanted) {
		probe_say(to, "ring", PROBE_OK, "a receive ring holds %u of %u frames",
			  f->ring.now, f->ring.most);
		return;
	}
	probe_say(
		to, "ring", PROBE_WARN,
		"a receive ring holds %u frames of the %u that it could: the start of a "
		"flood loses players' too",
		f->ring.now, f->ring.most);
	probe_fix(to, "%sethtool -G %s rx %u",
		  is_forgetful(f) ? "quakeshield detach; " : "", f->interface, wanted);
}

static void judge_joining(const struct probe_facts *f, struct probe_findings *to)
{
	bool hardware = f->gro_hardware == 1 && strcmp(f->driver, "virtio_net") != 0;

	if (f->lro == 1) {
		probe_say(to, "lro", PROBE_WARN,
			  "the card joins frames (LRO): several drivers take no native "
			  "XDP then");
		probe_fix(to, "ethtool -K %s lro off", f->interface);
	}
	if (hardware && is_native(f)) {
		probe_say(to, "gro-hw", PROBE_WARN,
			  "the card joins frames (GRO-HW): some drivers take no native "
			  "XDP then");
		probe_fix(to, "ethtool -K %s rx-gro-hw off", f->interface);
	}
	if (f->udp_forwarding == 1 && !is_native(f)) {
		probe_say(to, "gro", PROBE_WARN,
			  "datagrams are joined before they are judged in skb mode, and "
			  "what is joined is dropped, players' too");
		probe_fix(to, "ethtool -K %s rx-udp-gro-forwarding off", f->interface);
	}
	if (f->lro == 0 && !hardware && (f->udp_forwarding != 1 || is_native(f)))
		probe_say(to, "lro", PROBE_OK, "frames come as they were sent");
}

static void judge_tags(const struct probe_facts *f, struct probe_findings *to)
{
	if (!*f->vlan || !is_native(f))
		return;
	if (!*f->untags) {
		probe_say(to, "vlan", PROBE_OK, "frames for '%s' keep their tag",
			  f->vlan);
		return;
	}
	probe_say(to, "vlan", PROBE_WARN,
		  "the card takes tags off: what the shield sends back to '%s' leaves "
		  "without one and is lost",
		  f->vlan);
	probe_fix(to, "ethtool -K %s rxvlan off", f->untags);
}

void probe_judge_card(const struct probe_facts *f, struct probe_findings *to)
{
	judge_program(f, to);
	judge_mode(f, to);
	judge_mtu(f, to);
	judge_queues(f, to);
	judge_spread(f, to);
	judge_ring(f, to);
	judge_joining(f, to);
	judge_tags(f, to);
}
