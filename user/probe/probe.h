/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * probe.h - decides whether the shield would work on this machine, at this interface.
 * Called by `quakeshield probe`. probe_gather.c reads the facts from the system;
 * probe_judge.c, probe_card.c and probe_place.c judge them, and are pure. Nothing is
 * changed.
 */
#ifndef PROBE_H
#define PROBE_H

#include <linux/types.h>
#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>

#include "lib/netlinks.h"
#include "shield/ethtool.h"
#include "shield/shield.h"

/* The answer to a yes-or-no question: 1, 0, or what is below 0 where nothing says it. */
#define PROBE_UNKNOWN (-1)

enum probe_option { /* of the kernel's configuration */
	PROBE_BPF_SYSCALL,
	PROBE_SCH_INGRESS,
	PROBE_CLS_BPF,
	PROBE_XGRESS, /* tcx, from 6.6 on */
	PROBE_OPTIONS,
};

enum probe_capability {
	PROBE_CAP_BPF,
	PROBE_CAP_NET_ADMIN,
	PROBE_CAP_PERFMON,
	PROBE_CAPABILITIES,
};

struct probe_facts {
	/* the machine */
	char kernel[65]; /* its release, as uname(2) has it */
	unsigned int major, minor; /* of the kernel */
	int options[PROBE_OPTIONS]; /* 1: built in, or a module */
	int btf; /* the kernel tells its types */
	int jit; /* net.core.bpf_jit_enable: 0, 1 or 2 */
	bool capable[PROBE_CAPABILITIES];
	bool guest_user; /* in a user namespace that is not the machine's */
	bool bpffs; /* /sys/fs/bpf is a BPF file system */
	unsigned int bpffs_mode; /* permission bits of it */
	unsigned int bpffs_owner; /* uid */
	enum pins_life life; /* of what is pinned there */
	unsigned int processors;
	int nat; /* rules that rewrite what arrives */
	char nat_chain[64]; /* one of them: "ip nat PREROUTING" */
	long conntrack, conntrack_most; /* connections; conntrack_most 0: not tracked */

	/* its interfaces */
	struct netlink_row *rows;
	size_t row_count;
	int routes[2]; /* interfaces of the default routes of IPv4, IPv6; 0: none */

	/* the interface that is probed */
	char interface[IF_NAMESIZE]; /* "": none was given, and there is no default route
				      */
	bool given; /* it was; else it was chosen by the default route */
	int index; /* 0: there is none of that name */
	char driver[ETHTOOL_DRIVER];
	int native; /* ethtool_native() */
	__u32 mtu, page; /* bytes */
	int lro, gro_hardware, udp_forwarding; /* features that are on */
	char untags[IF_NAMESIZE]; /* what takes VLAN tags off; "": nothing */
	char vlan[IF_NAMESIZE]; /* a VLAN device above; "": none */
	struct ethtool_count queues, ring; /* now 0: not known */
	bool combined; /* see ethtool_queues() */
	int hash[2]; /* ethtool_udp_hash(), of IPv4 and IPv6 */
	int attach; /* shield_may_attach(): 0 or -errno, with the next two */
	enum holder holder;
	char why[SHIELD_WHY];
};

enum probe_result {
	PROBE_OK,
	PROBE_WARN, /* it works, and something is lost or slower */
	PROBE_FAIL, /* it does not protect */
};

#define PROBE_FINDINGS 24
#define PROBE_TEXT     SHIELD_WHY
#define PROBE_FIX      128

struct probe_finding {
	const char *check; /* a word of those in docs/quakeshield.8 */
	enum probe_result result;
	char text[PROBE_TEXT]; /* a sentence */
	char fix[PROBE_FIX]; /* a command for a shell; "" if the result is PROBE_OK */
};

struct probe_findings {
	size_t count;
	struct probe_finding rows[PROBE_FINDINGS];
};

/*
 * Gather all facts about this machine and @interface; NULL: where the default route leads
 * (uplink_below()). A fact that cannot be read is not known. 0 and *@ret, to be ended by
 * probe_free(); or -ENOMEM without a message.
 */
int probe_gather(const char *interface, struct probe_facts *ret);
/* Free what probe_gather() has allocated, but not @facts. */
void probe_free(struct probe_facts *facts);

/*
 * Return how many rules rewrite the destination of what arrives, as far as this process
 * may know: struct probe_facts.
 */
int probe_nat(char ret_chain[64]);

/* Judge all of @facts; pure. A fact that is not known gives no finding. */
void probe_judge(const struct probe_facts *facts, struct probe_findings *ret);

/*
 * Judge where the interface stands among the others. This and the next are parts of
 * probe_judge().
 */
void probe_judge_place(const struct probe_facts *facts, struct probe_findings *ret);
/* Judge the network card: driver, modes, queues, buffers. */
void probe_judge_card(const struct probe_facts *facts, struct probe_findings *ret);

/* Note a finding of @check with the text @format; without room it is left out. */
void probe_say(struct probe_findings *to, const char *check, enum probe_result result,
	       const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Note the command that fixes what was noted last. */
void probe_fix(struct probe_findings *to, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Return the name of @result: "ok", "warn" or "fail". */
const char *probe_result_name(enum probe_result result);

#endif /* PROBE_H */
