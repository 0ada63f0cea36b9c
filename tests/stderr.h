/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stderr.h - what a function says on stderr, as a string. After cmocka.h.
 */
#ifndef STDERR_H
#define STDERR_H

#include <stdio.h>
#include <unistd.h>

static int stderr_saved;
static FILE *stderr_file;

static void stderr_catch(void)
{
	fflush(stderr);
	stderr_saved = dup(2);
	stderr_file = tmpfile();
	assert_non_null(stderr_file);
	assert_int_equal(dup2(fileno(stderr_file), 2), 2);
}

/* What was said since, cut at the size of @ret. */
static void stderr_release(char *ret, size_t size)
{
	fflush(stderr);
	dup2(stderr_saved, 2);
	close(stderr_saved);
	rewind(stderr_file);
	ret[fread(ret, 1, size - 1, stderr_file)] = 0;
	fclose(stderr_file);
}

#endif /* STDERR_H */
