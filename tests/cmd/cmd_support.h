/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd_support.h - a command line run in this process: what it says, and its exit status.
 * After cmocka.h. Included once by a program.
 */
#ifndef CMD_SUPPORT_H
#define CMD_SUPPORT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/options.h"

#define SAID_OUT 262144
#define SAID_ERR 4096
#define WORDS	 32

static char said_out[SAID_OUT], said_err[SAID_ERR];
static bool say_apart; /* each in a process of its own: it keeps what it was told */

/* What stands in @file from its beginning on, which has to fit. */
static inline void take_back(FILE *file, char *ret, size_t size)
{
	size_t n;

	rewind(file);
	n = fread(ret, 1, size, file);
	assert_in_range(n, 0, size - 1);
	ret[n] = 0;
	fclose(file);
}

static inline int run_call(const struct call *call)
{
	int status = 0;
	pid_t pid;

	if (!say_apart)
		return call->command->run(call);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		exit(call->command->run(call));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -status;
}

/*
 * The exit status of `quakeshield @words`, with @n octets at @input to be read. What it
 * said is in said_out and said_err.
 */
static inline int say_input(const char *words, const void *input, size_t n)
{
	int saved[3] = { dup(0), dup(1), dup(2) }, argc = 0, status;
	FILE *files[3] = { tmpfile(), tmpfile(), tmpfile() };
	char copy[1024], *argv[WORDS + 1], *rest = NULL;
	const struct command *command;
	struct call call;

	snprintf(copy, sizeof(copy), "%s", words);
	for (char *word = strtok_r(copy, " ", &rest); word && argc < WORDS;
	     word = strtok_r(NULL, " ", &rest))
		argv[argc++] = word;
	argv[argc] = NULL;
	command = command_find(commands, argv[0]);
	assert_non_null(command);
	fwrite(input, 1, n, files[0]);
	rewind(files[0]);
	fflush(stdout);
	fflush(stderr);
	clearerr(stdin);
	for (int i = 0; i < 3; i++)
		dup2(fileno(files[i]), i);
	status = call_parse(command, argc, argv, &call) ? EXIT_USAGE : -1;
	if (status < 0) {
		call.all = commands;
		status = run_call(&call);
		call_free(&call);
	}
	fflush(stdout);
	fflush(stderr);
	for (int i = 0; i < 3; i++) {
		dup2(saved[i], i);
		close(saved[i]);
	}
	fclose(files[0]);
	take_back(files[1], said_out, sizeof(said_out));
	take_back(files[2], said_err, sizeof(said_err));
	return status;
}

static inline int say(const char *words)
{
	return say_input(words, "", 0);
}

/* That status, and on stderr @text, or nothing where it is "". */
static inline void refused(const char *words, int status, const char *text)
{
	int was = say(words);

	if (was != status || (*text ? !strstr(said_err, text) : *said_err))
		fail_msg("'%s': %d, '%s'", words, was, said_err);
}

#endif /* CMD_SUPPORT_H */
