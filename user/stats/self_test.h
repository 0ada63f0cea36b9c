/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * self_test.h - does the shield judge what comes for each service, as far as this host
 * can tell? From the programs' counters, the kernel's list of UDP sockets, the host's
 * addresses, and what the daemon has noted.
 */
#ifndef SELF_TEST_H
#define SELF_TEST_H

#include "shield/shield.h"

/* Of something that may not be known. */
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
	__u64 received, sent; /* datagrams that the programs have seen */
	enum judged judged;
	char unjudged_by[IF_NAMESIZE]; /* where some come in that are not; "": nowhere */
	__u32 speaks; /* 1 << enum wire_family: in place of its own; 0: its own */
	enum known socket; /* is its port bound in this network namespace? */
	enum known here; /* are its addresses on this host? Yes, if it has none. */
};

/* Of all services, by slot; how many. */
size_t self_test_run(const struct shield *shield, struct self_test ret[SERVICES_MAX]);

/* Is nothing known that leaves it without protection? */
bool self_test_protected(const struct self_test *t);

/* What there is to know but for the protocol, for a line of text; *@ret_fault: it is a
 * fault, or may be. */
#define SELF_TEST_TEXT 512
void self_test_text(const struct self_test *t, char ret[SELF_TEST_TEXT], bool *ret_fault);

/* "unknown", "yes", "partly", "no". */
const char *judged_name(enum judged judged);

#endif /* SELF_TEST_H */
