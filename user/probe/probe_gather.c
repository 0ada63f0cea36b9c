// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * probe_gather.c - the facts about this machine, from the kernel: see probe.h. Reads
 * files and asks by ioctl(2) and netlink; starts no program and changes nothing.
 */
#include <cap-ng.h>
#include <errno.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <zlib.h>

#include "lib/uplink.h"
#include "lib/util.h"
#include "probe/probe.h"
#include "shield/vlan.h"

#define BPFFS	     "/sys/fs/bpf"
#define LINES_MAX    65536 /* of the kernel's configuration */
#define ALL_USERS    4294967295u
#define NUMBER_BYTES 32

/* The number in the file @path; @otherwise: it cannot be read. */
static long number_in(const char *path, long otherwise)
{
	FILE *file = fopen(path, "re");
	char line[NUMBER_BYTES];
	char *end;
	long ret;

	if (!file)
		return otherwise;
	if (!fgets(line, sizeof(line), file))
		line[0] = 0;
	fclose(file);
	ret = strtol(line, &end, 10);
	return end == line ? otherwise : ret;
}

static const char *const option_names[PROBE_OPTIONS] = {
	[PROBE_BPF_SYSCALL] = "CONFIG_BPF_SYSCALL=",
	[PROBE_SCH_INGRESS] = "CONFIG_NET_SCH_INGRESS=",
	[PROBE_CLS_BPF] = "CONFIG_NET_CLS_BPF=",
	[PROBE_XGRESS] = "CONFIG_NET_XGRESS=",
};

/* Where distributions keep the kernel's configuration, packed or not. */
static gzFile options_open(const char *release)
{
	char paths[3][PATH_MAX];
	gzFile file = NULL;

	snprintf(paths[0], PATH_MAX, "/proc/config.gz");
	snprintf(paths[1], PATH_MAX, "/boot/config-%s", release);
	snprintf(paths[2], PATH_MAX, "/lib/modules/%s/config", release);
	for (size_t i = 0; !file && i < ARRAY_SIZE(paths); i++)
		file = gzopen(paths[i], "rbe");
	return file;
}

static void gather_options(struct probe_facts *f)
{
	gzFile file = options_open(f->kernel);
	char line[256];

	for (int i = 0; i < PROBE_OPTIONS; i++)
		f->options[i] = file ? 0 : PROBE_UNKNOWN;
	for (int n = 0; file && n < LINES_MAX && gzgets(file, line, sizeof(line)); n++)
		for (int i = 0; i < PROBE_OPTIONS; i++) {
			size_t name = strlen(option_names[i]);

			if (!strncmp(line, option_names[i], name) &&
			    (line[name] == 'y' || line[name] == 'm'))
				f->options[i] = 1;
		}
	if (file)
		gzclose(file);
}

static void gather_kernel(struct probe_facts *f)
{
	struct utsname name;

	if (!uname(&name)) {
		snprintf(f->kernel, sizeof(f->kernel), "%s", name.release);
		sscanf(f->kernel, "%u.%u", &f->major, &f->minor);
	}
	gather_options(f);
	f->btf = !access("/sys/kernel/btf/vmlinux", F_OK);
	f->jit = (int)number_in("/proc/sys/net/core/bpf_jit_enable", PROBE_UNKNOWN);
}

/* Not the machine's user namespace: its map is of all users to themselves. */
static bool is_guest_user(void)
{
	FILE *file = fopen("/proc/self/uid_map", "re");
	unsigned int inside, outside, count;
	bool all = true;

	if (!file)
		return false;
	if (fscanf(file, "%u %u %u", &inside, &outside, &count) == 3)
		all = !inside && !outside && count == ALL_USERS;
	fclose(file);
	return !all;
}

static void gather_rights(struct probe_facts *f)
{
	static const unsigned int wanted[PROBE_CAPABILITIES] = {
		[PROBE_CAP_BPF] = CAP_BPF,
		[PROBE_CAP_NET_ADMIN] = CAP_NET_ADMIN,
		[PROBE_CAP_PERFMON] = CAP_PERFMON,
	};
	int err;

	capng_clear(CAPNG_SELECT_BOTH);
	err = capng_get_caps_process();
	for (int i = 0; i < PROBE_CAPABILITIES; i++)
		f->capable[i] = !err && capng_have_capability(CAPNG_EFFECTIVE, wanted[i]);
	f->guest_user = is_guest_user();
}

static void gather_bpffs(struct probe_facts *f)
{
	struct statfs fs;
	struct stat st;

	f->bpffs = !statfs(BPFFS, &fs) && fs.f_type == BPF_FS_MAGIC && !stat(BPFFS, &st);
	f->life = PINS_MACHINE;
	if (!f->bpffs)
		return;
	f->bpffs_mode = st.st_mode & 07777;
	f->bpffs_owner = st.st_uid;
	if (!geteuid())
		f->life = shield_pins_life();
}

static void gather_translation(struct probe_facts *f)
{
	f->nat = probe_nat(f->nat_chain);
	f->conntrack = number_in("/proc/sys/net/netfilter/nf_conntrack_count", 0);
	f->conntrack_most = number_in("/proc/sys/net/netfilter/nf_conntrack_max", 0);
}

static int gather_interfaces(struct probe_facts *f)
{
	char name[IF_NAMESIZE];
	int count;

	f->rows = calloc(NETLINKS_MAX, sizeof(*f->rows));
	if (!f->rows)
		return -ENOMEM;
	count = netlinks_read(f->rows);
	f->row_count = count > 0 ? (size_t)count : 0;
	for (int i = 0; i < 2; i++)
		if (uplink_route(i == 1, name))
			f->routes[i] = (int)if_nametoindex(name);
	return 0;
}

/* The interface to probe: @given, or below the default route. */
static void choose(struct probe_facts *f, const char *given)
{
	int route = f->routes[0] ? f->routes[0] : f->routes[1];
	const struct netlink_row *row;

	f->given = given != NULL;
	if (given) {
		snprintf(f->interface, sizeof(f->interface), "%s", given);
		f->index = (int)if_nametoindex(given);
		return;
	}
	row = netlinks_row(f->rows, f->row_count,
			   uplink_below(f->rows, f->row_count, route));
	if (!row)
		return;
	memcpy(f->interface, row->name, IF_NAMESIZE);
	f->index = row->index;
}

static void gather_card(struct probe_facts *f)
{
	const char *name = f->interface;

	ethtool_driver(name, f->driver);
	f->native = ethtool_native(name);
	f->mtu = ethtool_mtu(name);
	f->lro = ethtool_feature(name, "rx-lro");
	f->gro_hardware = ethtool_feature(name, "rx-gro-hw");
	f->udp_forwarding = ethtool_feature(name, "rx-udp-gro-forwarding");
	if (!vlan_untags(name, f->untags))
		*f->untags = 0;
	if (!vlan_above(name, f->vlan))
		*f->vlan = 0;
	if (!ethtool_queues(name, &f->queues, &f->combined))
		f->queues.now = 0;
	if (!ethtool_ring(name, &f->ring))
		f->ring.now = 0;
	for (int i = 0; i < 2; i++)
		f->hash[i] = ethtool_udp_hash(name, i == 1);
	f->attach = shield_may_attach(NULL, name, &f->holder, f->why);
}

int probe_gather(const char *interface, struct probe_facts *ret)
{
	int err;

	memset(ret, 0, sizeof(*ret));
	ret->page = (__u32)sysconf(_SC_PAGESIZE);
	ret->processors = (unsigned int)sysconf(_SC_NPROCESSORS_ONLN);
	gather_kernel(ret);
	gather_rights(ret);
	gather_bpffs(ret);
	gather_translation(ret);
	err = gather_interfaces(ret);
	if (err)
		return err;
	choose(ret, interface);
	if (ret->index)
		gather_card(ret);
	return 0;
}

void probe_free(struct probe_facts *facts)
{
	free(facts->rows);
	facts->rows = NULL;
}
