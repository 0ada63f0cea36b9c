// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * cmd_completion.c - `completion`: the command line told to bash, zsh or fish, from the
 * rows of options.h and commands.c.
 */
#include <stdio.h>
#include <string.h>

#include "cmd/commands.h"
#include "lib/log.h"
#include "lib/names.h"

static const struct command *all; /* of the call */

/* Is @option one of @command's? */
static bool takes(const struct command *command, int option)
{
	return (command->options | OPTIONS_ALWAYS) >> option & 1;
}

/* The words that complete something, with blanks between them; nothing if they are not
 * known here. */
static void put_words(const char *completion)
{
	if (!strcmp(completion, "@protocol"))
		for (int i = 0; i < FAMILY_COUNT; i++)
			printf("%s%s", i ? " " : "", family_name((enum wire_family)i));
	else if (!strcmp(completion, "@kind"))
		for (int i = 0; i < KIND_COUNT; i++)
			printf("%s%s", i ? " " : "", kind_name((enum wire_kind)i));
	else if (!strcmp(completion, "@command"))
		for (const struct command *c = all; c->name; c++)
			printf("%s%s", c == all ? "" : " ", c->name);
	else if (*completion != '@')
		fputs(completion, stdout);
}

/*
 * Return true if the argument is the name of a file, by the mark in its row of options.h
 * or commands.c. Called by the writer of each shell.
 */
static bool is_file(const char *completion)
{
	return !strcmp(completion, "@file");
}

static bool is_dir(const char *completion)
{
	return !strcmp(completion, "@dir");
}

static bool is_interface(const char *completion)
{
	return !strcmp(completion, "@interface");
}

/* --- bash ---------------------------------------------------------------------- */

/* What fills COMPREPLY; bash knows no more of a completion than its words. */
static void bash_complete(const char *completion)
{
	if (is_file(completion))
		fputs("_quakeshield_paths -f", stdout);
	else if (is_dir(completion))
		fputs("_quakeshield_paths -d", stdout);
	else if (is_interface(completion))
		fputs("_quakeshield_words \"$(ls /sys/class/net)\"", stdout);
	else {
		fputs("_quakeshield_words '", stdout);
		put_words(completion);
		putchar('\'');
	}
}

static void bash_option(const struct option_row *row)
{
	if (!row->argument)
		return;
	fputs("\t", stdout);
	if (row->letter)
		printf("-%c | ", row->letter);
	printf("--%s) ", row->name);
	bash_complete(row->completion);
	fputs("; return ;;\n", stdout);
}

static void bash_command(const struct command *command)
{
	printf("\t%s)\n\t\tcase $word in\n\t\t-*) _quakeshield_words '", command->name);
	for (int i = 0; i < OPTION_COUNT; i++) {
		if (!takes(command, i))
			continue;
		if (option_rows[i].letter)
			printf("-%c ", option_rows[i].letter);
		printf("--%s ", option_rows[i].name);
	}
	fputs("' ;;\n\t\t*) ", stdout);
	bash_complete(command->completion);
	fputs(" ;;\n\t\tesac ;;\n", stdout);
}

static void bash(void)
{
	fputs("# bash completion for quakeshield, made by `quakeshield completion bash`\n"
	      "_quakeshield_words()\n{\n"
	      "\tmapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$word\")\n}\n\n"
	      "_quakeshield_paths()\n{\n"
	      "\tcompopt -o filenames 2>/dev/null\n"
	      "\tmapfile -t COMPREPLY < <(compgen \"$1\" -- \"$word\")\n}\n\n"
	      "_quakeshield()\n{\n"
	      "\tlocal word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
	      "\n\tCOMPREPLY=()\n"
	      "\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n\t\t_quakeshield_words '",
	      stdout);
	put_words("@command");
	fputs(" --help --version'\n\t\treturn\n\tfi\n\tcase $before in\n", stdout);
	for (int i = 0; i < OPTION_COUNT; i++)
		bash_option(&option_rows[i]);
	fputs("\tesac\n\tcase ${COMP_WORDS[1]} in\n", stdout);
	for (const struct command *c = all; c->name; c++)
		bash_command(c);
	fputs("\tesac\n}\n\ncomplete -F _quakeshield quakeshield\n", stdout);
}

/* --- zsh ----------------------------------------------------------------------- */

/* Write @text for zsh: in single quotes, between brackets or before a colon. */
static void zsh_text(const char *text)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\'", stdout);
		else if (strchr("[]:\\", *text))
			putchar('\\');
		putchar(*text);
	}
}

static void zsh_action(const char *completion)
{
	if (is_file(completion)) {
		fputs("_files", stdout);
	} else if (is_dir(completion)) {
		fputs("_files -/", stdout);
	} else if (is_interface(completion)) {
		fputs("_net_interfaces", stdout);
	} else if (*completion) {
		putchar('(');
		put_words(completion);
		putchar(')');
	}
}

static void zsh_option(const struct option_row *row)
{
	fputs(" \\\n\t\t\t'*'", stdout);
	if (row->letter)
		printf("{-%c,--%s}'[", row->letter, row->name);
	else
		printf("'--%s[", row->name);
	zsh_text(row->help);
	putchar(']');
	if (row->argument) {
		putchar(':');
		zsh_text(row->argument);
		putchar(':');
		zsh_action(row->completion);
	}
	putchar('\'');
}

static void zsh_command(const struct command *command)
{
	printf("\t%s)\n\t\t_arguments -s", command->name);
	for (int i = 0; i < OPTION_COUNT; i++)
		if (takes(command, i))
			zsh_option(&option_rows[i]);
	if (*command->completion) {
		fputs(" \\\n\t\t\t'*:", stdout);
		zsh_text(command->operands);
		putchar(':');
		zsh_action(command->completion);
		putchar('\'');
	}
	fputs(" ;;\n", stdout);
}

static void zsh(void)
{
	fputs("#compdef quakeshield\n"
	      "# made by `quakeshield completion zsh`\n"
	      "_quakeshield()\n{\n\tlocal -a commands\n\n\tcommands=(\n",
	      stdout);
	for (const struct command *c = all; c->name; c++) {
		printf("\t\t'%s:", c->name);
		zsh_text(c->help);
		fputs("'\n", stdout);
	}
	fputs("\t)\n\tif (( CURRENT == 2 )); then\n"
	      "\t\t_describe command commands\n\t\treturn\n\tfi\n"
	      "\tshift words\n\t(( CURRENT-- ))\n\tcase $words[1] in\n",
	      stdout);
	for (const struct command *c = all; c->name; c++)
		zsh_command(c);
	fputs("\tesac\n}\n\n_quakeshield \"$@\"\n", stdout);
}

/* --- fish ---------------------------------------------------------------------- */

static void fish_text(const char *text)
{
	putchar('\'');
	for (; *text; text++) {
		if (*text == '\'' || *text == '\\')
			putchar('\\');
		putchar(*text);
	}
	putchar('\'');
}

static void fish_complete(const char *completion)
{
	if (is_file(completion))
		fputs(" -F", stdout);
	else if (is_dir(completion))
		fputs(" -a '(__fish_complete_directories)'", stdout);
	else if (is_interface(completion))
		fputs(" -a '(__fish_print_interfaces)'", stdout);
	else if (*completion) {
		fputs(" -a '", stdout);
		put_words(completion);
		putchar('\'');
	}
}

static void fish_command(const struct command *command)
{
	const char *name = command->name;

	printf("complete -c quakeshield -n __fish_use_subcommand -a %s -d ", name);
	fish_text(command->help);
	putchar('\n');
	for (int i = 0; i < OPTION_COUNT; i++) {
		const struct option_row *row = &option_rows[i];

		if (!takes(command, i))
			continue;
		printf("complete -c quakeshield -n '__fish_seen_subcommand_from %s'",
		       name);
		if (row->letter)
			printf(" -s %c", row->letter);
		printf(" -l %s%s", row->name, row->argument ? " -r" : "");
		fish_complete(row->completion);
		fputs(" -d ", stdout);
		fish_text(row->help);
		putchar('\n');
	}
	if (*command->completion) {
		printf("complete -c quakeshield -n '__fish_seen_subcommand_from %s'",
		       name);
		fish_complete(command->completion);
		putchar('\n');
	}
}

static void fish(void)
{
	fputs("# made by `quakeshield completion fish`\ncomplete -c quakeshield -f\n",
	      stdout);
	for (const struct command *c = all; c->name; c++)
		fish_command(c);
}

int cmd_completion(const struct call *call)
{
	static const struct {
		const char *name;
		void (*write)(void);
	} shells[] = {
		{ "bash", bash },
		{ "zsh", zsh },
		{ "fish", fish },
	};

	all = call->all;
	for (size_t i = 0; i < sizeof(shells) / sizeof(*shells); i++) {
		if (strcmp(call->operands[0], shells[i].name) != 0)
			continue;
		shells[i].write();
		return print_end("completion");
	}
	log_error("completion: no such shell: '%s' (bash, zsh or fish)",
		  call->operands[0]);
	return EXIT_USAGE;
}
