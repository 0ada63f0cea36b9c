// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_probe_judge.c - the findings of `probe` about the machine and the card: one good
 * machine has none, and each row is a fault that a machine may have.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "probe/probe_host.h"

static void none(struct probe_facts *f)
{
	(void)f;
}

static void old_kernel(struct probe_facts *f)
{
	strcpy(f->kernel, "5.10.0");
	f->major = 5;
	f->minor = 10;
}

static void newer_kernel(struct probe_facts *f)
{
	f->major = 7;
	f->minor = 0;
}

static void no_bpf(struct probe_facts *f)
{
	f->options[PROBE_BPF_SYSCALL] = 0;
}

static void no_clsact(struct probe_facts *f)
{
	f->options[PROBE_CLS_BPF] = 0;
}

static void tcx(struct probe_facts *f)
{
	f->minor = 6;
	f->options[PROBE_SCH_INGRESS] = f->options[PROBE_CLS_BPF] = 0;
	f->options[PROBE_XGRESS] = 1;
}

static void early_tcx(struct probe_facts *f)
{
	tcx(f);
	f->minor = 5;
}

static void no_jit(struct probe_facts *f)
{
	f->jit = 0;
}

static void no_btf(struct probe_facts *f)
{
	f->btf = 0;
}

static void no_rights(struct probe_facts *f)
{
	f->capable[PROBE_CAP_BPF] = f->capable[PROBE_CAP_PERFMON] = false;
}

static void guest_user(struct probe_facts *f)
{
	f->guest_user = true;
}

static void no_bpffs(struct probe_facts *f)
{
	f->bpffs = false;
}

static void open_bpffs(struct probe_facts *f)
{
	f->bpffs_mode = 01777;
}

static void foreign_bpffs(struct probe_facts *f)
{
	f->bpffs_owner = 1000;
}

static void container(struct probe_facts *f)
{
	f->life = PINS_CONTAINER;
}

static void own_mount(struct probe_facts *f)
{
	f->life = PINS_PROCESS;
}

static void translated(struct probe_facts *f)
{
	f->nat = 3;
	strcpy(f->nat_chain, "ip nat PREROUTING");
}

static void many_connections(struct probe_facts *f)
{
	f->conntrack = 750;
}
static void taken(struct probe_facts *f)
{
	f->attach = -EBUSY;
	strcpy(f->why, "interface 'eth0' already carries an XDP program");
}

static void ours(struct probe_facts *f)
{
	f->holder = HOLDER_US;
}

static void unseen(struct probe_facts *f)
{
	f->attach = -EACCES;
}

static void generic(struct probe_facts *f)
{
	f->native = 0;
}

static void known_driver(struct probe_facts *f)
{
	f->native = -ENOENT;
}

static void unknown_driver(struct probe_facts *f)
{
	f->native = -ENOENT;
	strcpy(f->driver, "r8169");
}

static void veth(struct probe_facts *f)
{
	strcpy(f->driver, "veth");
}

static void jumbo(struct probe_facts *f)
{
	f->mtu = 3507;
}

static void largest(struct probe_facts *f)
{
	f->mtu = 3506;
}

static void jumbo_generic(struct probe_facts *f)
{
	f->mtu = 9000;
	f->native = 0;
}

static void one_queue(struct probe_facts *f)
{
	f->queues.now = 1;
}

static void rx_queues(struct probe_facts *f)
{
	f->queues.now = 1;
	f->combined = false;
	f->processors = 16;
}

static void ena(struct probe_facts *f)
{
	strcpy(f->driver, "ena");
	f->queues.now = 8;
}

static void ena_halved(struct probe_facts *f)
{
	strcpy(f->driver, "ena");
}

static void by_address(struct probe_facts *f)
{
	f->hash[0] = RXH_IP_SRC | RXH_IP_DST;
}

static void by_address6(struct probe_facts *f)
{
	f->hash[1] = RXH_IP_SRC | RXH_IP_DST | RXH_L4_B_0_1;
}

static void by_nothing(struct probe_facts *f)
{
	f->hash[0] = f->hash[1] = -EOPNOTSUPP;
}

static void short_ring(struct probe_facts *f)
{
	f->ring.now = 256;
	f->ring.most = 8192;
}

static void forgetful(struct probe_facts *f)
{
	strcpy(f->driver, "vmxnet3");
}

static void forgetful_ring(struct probe_facts *f)
{
	forgetful(f);
	short_ring(f);
}

static void small_ring(struct probe_facts *f)
{
	f->ring.now = f->ring.most = 256;
}

static void lro(struct probe_facts *f)
{
	f->lro = 1;
}

static void gro_hardware(struct probe_facts *f)
{
	f->gro_hardware = 1;
}

static void gro_virtio(struct probe_facts *f)
{
	f->gro_hardware = 1;
	strcpy(f->driver, "virtio_net");
}

static void joined(struct probe_facts *f)
{
	f->udp_forwarding = 1;
	f->native = 0;
}

static void tagged(struct probe_facts *f)
{
	strcpy(f->vlan, "eth0.5");
}

static void untagged(struct probe_facts *f)
{
	tagged(f);
	strcpy(f->untags, "eth0");
}
static const struct fault faults[] = {
	{ "old kernel", old_kernel, "kernel", PROBE_FAIL,
	  "apt install linux-image-amd64" },
	{ "7.0", newer_kernel, "kernel", PROBE_OK, "" },
	{ "no bpf(2)", no_bpf, "options", PROBE_FAIL, "apt install linux-image-amd64" },
	{ "no clsact", no_clsact, "options", PROBE_FAIL,
	  "apt install linux-image-amd64" },
	{ "tcx", tcx, "options", PROBE_OK, "" },
	{ "tcx before 6.6", early_tcx, "options", PROBE_FAIL,
	  "apt install linux-image-amd64" },
	{ "no JIT", no_jit, "jit", PROBE_WARN, "sysctl -w net.core.bpf_jit_enable=1" },
	{ "no BTF", no_btf, "btf", PROBE_OK, "" },
	{ "no rights", no_rights, "rights", PROBE_FAIL, "sudo quakeshield probe" },
	{ "user namespace", guest_user, "rights", PROBE_FAIL,
	  "quakeshield probe # on the machine outside" },
	{ "no BPF file system", no_bpffs, "bpffs", PROBE_WARN,
	  "mount -t bpf -o mode=0700 bpf /sys/fs/bpf" },
	{ "mode 1777", open_bpffs, "bpffs", PROBE_WARN,
	  "chown 0:0 /sys/fs/bpf && chmod 700 /sys/fs/bpf" },
	{ "another's", foreign_bpffs, "bpffs", PROBE_WARN,
	  "chown 0:0 /sys/fs/bpf && chmod 700 /sys/fs/bpf" },
	{ "container", container, "bpffs", PROBE_WARN,
	  "docker run -v /sys/fs/bpf:/sys/fs/bpf ..." },
	{ "own mount", own_mount, "bpffs", PROBE_WARN,
	  "nsenter --mount=/proc/1/ns/mnt quakeshield run" },
	{ "NAT", translated, "nat", PROBE_WARN, "nft list ruleset | grep dnat" },
	{ "connections", many_connections, "conntrack", PROBE_WARN,
	  "sysctl -w net.netfilter.nf_conntrack_max=4000" },
	{ "taken", taken, "program", PROBE_FAIL,
	  "ip link set dev eth0 xdp off # its own tool first" },
	{ "ours", ours, "program", PROBE_OK, "" },
	{ "skb mode", generic, "mode", PROBE_WARN, "quakeshield run --mode skb -i eth0" },
	{ "known driver", known_driver, "mode", PROBE_OK, "" },
	{ "unknown driver", unknown_driver, "mode", PROBE_WARN,
	  "quakeshield run --mode skb -i eth0" },
	{ "veth", veth, "mode", PROBE_WARN,
	  "ethtool -K OTHER-END gro on # on its other end" },
	{ "jumbo", jumbo, "mtu", PROBE_WARN, "ip link set eth0 mtu 1500" },
	{ "largest", largest, "mtu", PROBE_OK, "" },
	{ "one queue", one_queue, "queues", PROBE_WARN, "ethtool -L eth0 combined 4" },
	{ "rx queues", rx_queues, "queues", PROBE_WARN, "ethtool -L eth0 rx 8" },
	{ "ena", ena, "queues", PROBE_WARN, "ethtool -L eth0 combined 4" },
	{ "half of ena", ena_halved, "queues", PROBE_OK, "" },
	{ "by address", by_address, "spread", PROBE_WARN,
	  "ethtool -N eth0 rx-flow-hash udp4 sdfn" },
	{ "by address, IPv6", by_address6, "spread", PROBE_WARN,
	  "ethtool -N eth0 rx-flow-hash udp6 sdfn" },
	{ "short ring", short_ring, "ring", PROBE_WARN, "ethtool -G eth0 rx 4096" },
	{ "vmxnet3", forgetful, "mode", PROBE_WARN,
	  "quakeshield detach # before a change, then start again" },
	{ "short ring of vmxnet3", forgetful_ring, "ring", PROBE_WARN,
	  "quakeshield detach; ethtool -G eth0 rx 4096" },
	{ "small ring", small_ring, "ring", PROBE_OK, "" },
	{ "LRO", lro, "lro", PROBE_WARN, "ethtool -K eth0 lro off" },
	{ "GRO-HW", gro_hardware, "gro-hw", PROBE_WARN, "ethtool -K eth0 rx-gro-hw off" },
	{ "GRO-HW of virtio", gro_virtio, "lro", PROBE_OK, "" },
	{ "joined", joined, "gro", PROBE_WARN,
	  "ethtool -K eth0 rx-udp-gro-forwarding off" },
	{ "tags kept", tagged, "vlan", PROBE_OK, "" },
	{ "tags off", untagged, "vlan", PROBE_WARN, "ethtool -K eth0 rxvlan off" },
};

static void good_machine_has_no_fault(void **state)
{
	struct probe_findings all;

	(void)state;
	judged(none, &all);
	assert_in_range(all.count, 14, PROBE_FINDINGS - 1);
	for (size_t i = 0; i < all.count; i++)
		if (all.rows[i].result != PROBE_OK)
			fail_msg("%s: %s", all.rows[i].check, all.rows[i].text);
}

static void fault_is_named_with_its_command(void **state)
{
	(void)state;
	faults_are_named(faults, COUNT(faults));
}

static void fault_changes_nothing_else(void **state)
{
	static void (*const alone[])(struct probe_facts * f) = {
		old_kernel,	  no_jit,     no_rights, open_bpffs, translated,
		many_connections, taken,      generic,	 jumbo,	     one_queue,
		by_address,	  short_ring, lro,	 untagged,
	};

	(void)state;
	faults_come_alone(alone, COUNT(alone));
}

static void command_comes_with_every_fault_alone(void **state)
{
	(void)state;
	faults_have_commands(faults, COUNT(faults));
}

/* An unknown fact is no fault, and is not called well. */
static void unknown_gives_no_finding(void **state)
{
	static const char *const gone[] = { "options",	 "btf",	   "jit",    "nat",
					    "conntrack", "queues", "spread", "ring",
					    "program",	 "mtu" };
	struct probe_facts f = good();
	struct probe_findings all;

	(void)state;
	for (int i = 0; i < PROBE_OPTIONS; i++)
		f.options[i] = PROBE_UNKNOWN;
	f.btf = f.jit = f.nat = PROBE_UNKNOWN;
	f.conntrack_most = 0;
	f.queues.now = f.ring.now = f.mtu = 0;
	f.hash[0] = f.hash[1] = -EOPNOTSUPP;
	unseen(&f);
	probe_judge(&f, &all);
	for (size_t i = 0; i < COUNT(gone); i++)
		if (found(&all, gone[i]))
			fail_msg("there is a finding of %s", gone[i]);
	judged(by_nothing, &all);
	assert_null(found(&all, "spread"));
	judged(jumbo_generic, &all);
	assert_null(found(&all, "mtu"));
}

static void missing_rights_are_named(void **state)
{
	struct probe_findings all;

	(void)state;
	judged(no_rights, &all);
	assert_non_null(strstr(found(&all, "rights")->text, "CAP_BPF, CAP_PERFMON,"));
}

static void more_findings_than_room_are_left_out(void **state)
{
	struct probe_findings all = { 0 };

	(void)state;
	for (int i = 0; i < PROBE_FINDINGS + 3; i++)
		probe_say(&all, "x", PROBE_OK, "%d", i);
	assert_int_equal(all.count, PROBE_FINDINGS);
	assert_string_equal(all.rows[PROBE_FINDINGS - 1].text, "23");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_machine_has_no_fault),
		cmocka_unit_test(fault_is_named_with_its_command),
		cmocka_unit_test(fault_changes_nothing_else),
		cmocka_unit_test(command_comes_with_every_fault_alone),
		cmocka_unit_test(unknown_gives_no_finding),
		cmocka_unit_test(missing_rights_are_named),
		cmocka_unit_test(more_findings_than_room_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
