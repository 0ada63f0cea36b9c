/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * self_test.h - decides whether the shield sees the traffic of each service, as far as
 * this host can tell: from the programs' counters, the kernel's list of UDP sockets, the
 * host's addresses, and what the daemon has noted. Called by `status` (cmd_stats.c) and
 * the daemon's witness.c.
 */
#ifndef SELF_TEST_H
#define SELF_TEST_H

#include "shield/shield.h"

/* An answer that may not be known. */
enum known {
	KNOWN_NO,
	KNOWN_YES,
	KNOWN_NOT,
};

struct self_test {
	char service[NAME_MAX_LEN];
	enum wire_family family;
	__u16 port; /* the first that it has */
	__be32 address[4]; /* the first of its addresses that is not on this host */
	__u64 received; /* datagrams that the programs have seen */
	__u64 sent; /* the same of its server, without what the shield sent itself */
	enum judged judged;
	char unjudged_by[IF_NAMESIZE]; /* where some come in that are not; "": nowhere */
	__u32 speaks; /* 1 << enum wire_family: in place of its own; 0: its own */
	enum known socket; /* is its port bound in this network namespace? */
	enum known here; /* are its addresses on this host? Yes, if it has none. */
};

/*
 * Test all services, by slot. Returns how many. Uses static buffers: one thread may call
 * it.
 */
size_t self_test_run(const struct shield *shield, struct self_test ret[SERVICES_MAX]);

/* Return true if nothing is known that leaves the service without protection. */
bool self_test_protected(const struct self_test *t);

/* Bytes of the text, with the NUL. */
#define SELF_TEST_TEXT 512

/*
 * Write what is known of the service, but for its protocol, as one line of text.
 * *@ret_fault: it is a fault, or may be one.
 */
void self_test_text(const struct self_test *t, char ret[SELF_TEST_TEXT], bool *ret_fault);

/* Return "unknown", "yes", "partly" or "no". */
const char *judged_name(enum judged judged);

#endif /* SELF_TEST_H */
