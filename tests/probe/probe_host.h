/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * probe_host.h - a host without faults, and what a fault of it must lead to. After
 * cmocka.h.
 */
#ifndef PROBE_HOST_H
#define PROBE_HOST_H

#include <linux/ethtool.h>
#include <net/if_arp.h>
#include <string.h>

#include "probe/probe.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

enum {
	LO = 1,
	ETH0,
	ETH1,
	BR0,
	BOND0,
	VLAN,
	VETH,
	WG0,
	DUMMY,
	TAP
};

/* A host with all sorts of interfaces; eth0 leads to the internet. */
static const struct netlink_row usual_rows[] = {
	{ .index = LO, .name = "lo", .loopback = true, .type = ARPHRD_LOOPBACK },
	{ .index = ETH0, .name = "eth0", .type = ARPHRD_ETHER },
	{ .index = ETH1, .name = "eth1", .type = ARPHRD_ETHER },
	{ .index = BR0, .name = "br0", .type = ARPHRD_ETHER, .kind = "bridge" },
	{ .index = BOND0, .name = "bond0", .type = ARPHRD_ETHER, .kind = "bond" },
	{ .index = VLAN,
	  .name = "eth0.5",
	  .type = ARPHRD_ETHER,
	  .kind = "vlan",
	  .parent = ETH0 },
	{ .index = VETH, .name = "veth1", .type = ARPHRD_ETHER, .kind = "veth" },
	{ .index = WG0, .name = "wg0", .type = ARPHRD_NONE, .kind = "wireguard" },
	{ .index = DUMMY, .name = "dummy0", .type = ARPHRD_ETHER, .kind = "dummy" },
	{ .index = TAP, .name = "tap0", .type = ARPHRD_ETHER, .kind = "tun" },
};

static struct netlink_row rows[COUNT(usual_rows)];

static inline struct netlink_row *row(int index)
{
	return &rows[index - 1];
}

static inline struct probe_facts good(void)
{
	struct probe_facts f = {
		.kernel = "6.1.0-42-amd64",
		.major = 6,
		.minor = 1,
		.options = { 1, 1, 1, 0 },
		.btf = 1,
		.jit = 1,
		.capable = { true, true, true },
		.bpffs = true,
		.bpffs_mode = 0700,
		.life = PINS_MACHINE,
		.processors = 4,
		.conntrack = 10,
		.conntrack_most = 1000,
		.rows = rows,
		.row_count = COUNT(rows),
		.routes = { ETH0, 0 },
		.interface = "eth0",
		.index = ETH0,
		.driver = "ixgbe",
		.native = 1,
		.mtu = 1500,
		.page = 4096,
		.queues = { 4, 8 },
		.ring = { 1024, 4096 },
		.combined = true,
		.hash = { RXH_IP_SRC | RXH_IP_DST | RXH_L4_B_0_1 | RXH_L4_B_2_3,
			  RXH_IP_SRC | RXH_IP_DST | RXH_L4_B_0_1 | RXH_L4_B_2_3 },
	};

	memcpy(rows, usual_rows, sizeof(rows));
	for (size_t i = 0; i < COUNT(rows); i++)
		rows[i].up = rows[i].enabled = true;
	return f;
}

static inline void at(struct probe_facts *f, int index)
{
	f->index = index;
	f->given = true;
	strcpy(f->interface, row(index)->name);
}

struct fault {
	const char *name;
	void (*make)(struct probe_facts *f);
	const char *check; /* the finding that is looked at */
	enum probe_result result;
	const char *fix; /* "": none */
};

/* The worst finding of @check; NULL: there is none. */
static inline const struct probe_finding *found(const struct probe_findings *all,
						const char *check)
{
	const struct probe_finding *worst = NULL;

	for (size_t i = 0; i < all->count; i++)
		if (!strcmp(all->rows[i].check, check) &&
		    (!worst || all->rows[i].result > worst->result))
			worst = &all->rows[i];
	return worst;
}

static inline void judged(void (*make)(struct probe_facts *f), struct probe_findings *ret)
{
	struct probe_facts f = good();

	make(&f);
	probe_judge(&f, ret);
}

/* Each of @n faults is found, with its command. */
static inline void faults_are_named(const struct fault *faults, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct probe_finding *f;
		struct probe_findings all;

		judged(faults[i].make, &all);
		f = found(&all, faults[i].check);
		if (!f)
			fail_msg("%s: no finding of %s", faults[i].name, faults[i].check);
		if (f->result != faults[i].result || strcmp(f->fix, faults[i].fix) != 0)
			fail_msg("%s: %s, %s, `%s`", faults[i].name,
				 probe_result_name(f->result), f->text, f->fix);
	}
}

/* One fault is one finding: the others stay as they were. */
static inline void faults_come_alone(void (*const *alone)(struct probe_facts *f),
				     size_t n)
{
	struct probe_findings all;

	for (size_t i = 0; i < n; i++) {
		size_t bad = 0;

		judged(alone[i], &all);
		for (size_t j = 0; j < all.count; j++)
			bad += all.rows[j].result != PROBE_OK;
		if (bad != 1)
			fail_msg("row %zu has %zu faults", i, bad);
	}
}

/* A finding has a command if and only if it is a fault. */
static inline void faults_have_commands(const struct fault *faults, size_t n)
{
	struct probe_findings all;

	for (size_t i = 0; i < n; i++) {
		judged(faults[i].make, &all);
		for (size_t j = 0; j < all.count; j++)
			if ((all.rows[j].result == PROBE_OK) != !*all.rows[j].fix)
				fail_msg("%s: %s: `%s`", faults[i].name, all.rows[j].text,
					 all.rows[j].fix);
	}
}

#endif /* PROBE_HOST_H */
