// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * self_test_text.c - see self_test.h: what is made of it.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/cidr.h"
#include "stats/self_test.h"

#define SILENT_MIN \
	100 /* datagrams received before silence of the server means anything */

const char *judged_name(enum judged judged)
{
	static const char *const names[] = { "unknown", "yes", "partly", "no" };

	return names[judged];
}

bool self_test_protected(const struct self_test *t)
{
	return t->judged != JUDGED_NO && !t->speaks;
}

__attribute__((format(printf, 2, 3))) static void add(char text[SELF_TEST_TEXT],
						      const char *format, ...)
{
	size_t n = strlen(text);
	va_list list;

	va_start(list, format);
	vsnprintf(text + n, SELF_TEST_TEXT - n, format, list);
	va_end(list);
}

/* Add the possible reason that nothing comes. */
static void add_doubts(const struct self_test *t, char ret[SELF_TEST_TEXT])
{
	char address[CIDR_TEXT];
	struct cidr cidr = { .length = 128 };

	if (t->socket == KNOWN_NO)
		add(ret,
		    "; no socket has port %u in this network namespace (a container has its "
		    "own, which is not seen from here)",
		    t->port);
	if (t->here == KNOWN_NO) {
		memcpy(cidr.addr, t->address, sizeof(cidr.addr));
		cidr_format(&cidr, address);
		add(ret, "; address %s is not on this host", address);
	}
}

void self_test_text(const struct self_test *t, char ret[SELF_TEST_TEXT], bool *ret_fault)
{
	*ret = '\0';
	*ret_fault = t->judged >= JUDGED_PARTLY;
	switch (t->judged) {
	case JUDGED_NO:
		add(ret,
		    "not judged: its datagrams come in by '%s', where nothing judges "
		    "them; protect that interface, or the one below it that carries "
		    "its frames",
		    t->unjudged_by);
		break;
	case JUDGED_PARTLY:
		add(ret,
		    "partly judged: some of its datagrams come in by '%s', where "
		    "nothing judges them",
		    t->unjudged_by);
		break;
	case JUDGED_YES:
		add(ret, "judged");
		break;
	default:
		add(ret, "no datagram has come for it yet");
		*ret_fault = t->socket == KNOWN_NO || t->here == KNOWN_NO;
	}
	add(ret, ", %llu received, %llu sent", (unsigned long long)t->received,
	    (unsigned long long)t->sent);
	if (t->judged == JUDGED_UNKNOWN)
		add_doubts(t, ret);
	if (t->received >= SILENT_MIN && !t->sent) {
		add(ret, "; nothing that its server sends leaves by the protected "
			 "interfaces: no player is known");
		*ret_fault = true;
	}
}
