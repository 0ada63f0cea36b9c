// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_log.c - what a line of the log begins with: our name on a terminal or in a file,
 * its priority where the journal reads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/log.h"

/* What a process says whose stderr is a file, and the journal's if @journal. */
static void said(bool journal, char *ret, size_t size)
{
	FILE *file = tmpfile();
	char stream[64];
	struct stat st;
	int status;
	pid_t pid;

	assert_non_null(file);
	assert_int_equal(fstat(fileno(file), &st), 0);
	snprintf(stream, sizeof(stream), "%ju:%ju", (uintmax_t)st.st_dev,
		 (uintmax_t)st.st_ino + !journal);
	fflush(NULL);
	pid = fork(); /* what stderr is, is asked once in a process */
	assert_true(pid >= 0);
	if (!pid) {
		dup2(fileno(file), STDERR_FILENO);
		setenv("JOURNAL_STREAM", stream, 1);
		log_info("not yet");
		log_verbose();
		log_info("it is %d", 1);
		log_warn("two\nlines");
		log_error("three");
		/* C0, DEL, U+009B, U+202E, a lone octet; and what stays. */
		log_error("'%s'", "\x1b]0;\r\x7f\xc2\x9b\xe2\x80\xae\x9b \t\xc3\xbc");
		log_plain("%s", "\x1b[2J\nfive");
		log_at("a\x1b.conf", 8, false, "six");
		log_at("a.conf", 7, false, "four");
		log_at("a.conf", 0, true, "five");
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	rewind(file);
	ret[fread(ret, 1, size - 1, file)] = 0;
	fclose(file);
}

static void plain(void **state)
{
	char text[512];

	(void)state;
	said(false, text, sizeof(text));
	assert_string_equal(text, "quakeshield: it is 1\n"
				  "quakeshield: warning: two lines\n"
				  "quakeshield: three\n"
				  "quakeshield: '?]0;????? \t\xc3\xbc'\n"
				  "?[2J five\n"
				  "a?.conf:8: six\n"
				  "a.conf:7: four\n"
				  "a.conf: warning: five\n");
}

static void journal(void **state)
{
	char text[512];

	(void)state;
	said(true, text, sizeof(text));
	assert_string_equal(text, "<6>it is 1\n"
				  "<4>warning: two lines\n"
				  "<3>three\n"
				  "<3>'?]0;????? \t\xc3\xbc'\n"
				  "?[2J five\n"
				  "<3>a?.conf:8: six\n"
				  "<3>a.conf:7: four\n"
				  "<4>a.conf: warning: five\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain),
		cmocka_unit_test(journal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
