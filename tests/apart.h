/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * apart.h - namespaces of the test's own, which end with it: what it mounts and what
 * interfaces it makes are nobody else's. After cmocka.h.
 */
#ifndef APART_H
#define APART_H

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mount.h>

/* Leave the machine's namespaces of @kinds, as unshare(2) names them. False: may not. */
static inline bool apart(int kinds)
{
	if (unshare(kinds))
		return false;
	return !(kinds & CLONE_NEWNS) || !mount("", "/", NULL, MS_REC | MS_PRIVATE, NULL);
}

/* An empty file system of @type on @path, over what is there. */
static inline bool apart_mount(const char *type, const char *path)
{
	return !mount("test", path, type, 0, NULL);
}

static void not_apart(void **state)
{
	(void)state;
	print_message("no namespaces of our own, or no interfaces in them: skipped\n");
	skip();
}

/* In place of all tests of a program that may not: for skip() in a setup is a failure. */
static inline int apart_refused(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(not_apart) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif /* APART_H */
