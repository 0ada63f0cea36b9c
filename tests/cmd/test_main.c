// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_main.c - the first word of a command line: help, the version, a command, or none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

int quakeshield(int argc, char **argv);
#define main quakeshield
#include "main.c" /* NOLINT(bugprone-suspicious-include): of which there is one */
#undef main

#include "cmd/cmd_support.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

/* The exit status of `quakeshield @words`; what it said is in said_out and said_err. */
static int status_of(const char *words)
{
	int saved[2] = { dup(1), dup(2) }, argc = 0, status;
	FILE *files[2] = { tmpfile(), tmpfile() };
	char copy[256], *argv[WORDS + 1], *rest = NULL;

	snprintf(copy, sizeof(copy), "%s", words);
	for (char *word = strtok_r(copy, " ", &rest); word && argc < WORDS;
	     word = strtok_r(NULL, " ", &rest))
		argv[argc++] = word;
	argv[argc] = NULL;
	fflush(stdout);
	fflush(stderr);
	dup2(fileno(files[0]), 1);
	dup2(fileno(files[1]), 2);
	status = quakeshield(argc, argv);
	fflush(stdout);
	fflush(stderr);
	for (int i = 0; i < 2; i++) {
		dup2(saved[i], i + 1);
		close(saved[i]);
	}
	take_back(files[0], said_out, sizeof(said_out));
	take_back(files[1], said_err, sizeof(said_err));
	return status;
}

static void each_word_has_its_end(void **state)
{
	static const struct {
		const char *words;
		int status;
		const char *out, *err; /* how they begin; "": nothing */
	} rows[] = {
		{ "quakeshield", EXIT_USAGE, "", "quakeshield " VERSION ":" },
		{ "quakeshield -h", 0, "quakeshield " VERSION ":", "" },
		{ "quakeshield --help", 0, "quakeshield " VERSION ":", "" },
		{ "quakeshield -V", 0, "quakeshield " VERSION "\n", "" },
		{ "quakeshield --version", 0, "quakeshield " VERSION "\n", "" },
		{ "quakeshield help", 0, "quakeshield " VERSION ":", "" },
		{ "quakeshield top --version", 0, "quakeshield " VERSION "\n", "" },
		{ "quakeshield top -h", 0, "usage: quakeshield top", "" },
		{ "quakeshield completion --help", 0, "usage: quakeshield completion",
		  "" },
		{ "quakeshield top --onec", EXIT_USAGE, "",
		  "top: no such option: '--onec'" },
		{ "quakeshield decode /nonexistent", 1, "",
		  "decode: /nonexistent: No such" },
		{ "quakeshield tpo", EXIT_USAGE, "",
		  "no such command: 'tpo' (did you mean top)\n" },
		{ "quakeshield zzzzzzzz", EXIT_USAGE, "",
		  "no such command: 'zzzzzzzz' (see `quakeshield help`)\n" },
		{ "quakeshield completion bash", 0, "#", "" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		int status = status_of(rows[i].words);

		if (status != rows[i].status ||
		    strncmp(said_out, rows[i].out, strlen(rows[i].out)) != 0 ||
		    !strstr(said_err, rows[i].err) || !*said_out != !*rows[i].out)
			fail_msg("'%s': %d, '%.200s', '%s'", rows[i].words, status,
				 said_out, said_err);
		if (!status)
			assert_string_equal(said_err, "");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_word_has_its_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
