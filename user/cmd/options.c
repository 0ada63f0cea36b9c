// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * options.c - the command line of any subcommand, read by the rows of options.h.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/options.h"
#include "lib/log.h"
#include "lib/nearest.h"
#include "lib/old_names.h"

#define LONG_BASE 256 /* values of getopt_long() that no letter has */

const struct option_row option_rows[OPTION_COUNT] = {
#define AS_ROW(id, ...) [OPTION_##id] = { __VA_ARGS__ },
	OPTIONS(AS_ROW)
#undef AS_ROW
};
_Static_assert(OPTION_COUNT <= 64, "a command's options are bits of one word");

int exit_status(int err)
{
	if (!err)
		return 0;
	return err == -EPERM || err == -EACCES ? EXIT_DENIED : EXIT_REST;
}

static bool takes(const struct command *command, enum option_id option)
{
	return (command->options | OPTIONS_ALWAYS) >> option & 1;
}

const struct command *command_find(const struct command *all, const char *name)
{
	for (const struct command *c = all; c->name; c++)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}

/* --- what was given ------------------------------------------------------------ */

bool call_has(const struct call *call, enum option_id option)
{
	return call_next(call, option, NULL) != NULL;
}

const char *call_value(const struct call *call, enum option_id option)
{
	const char *value = NULL;

	for (const struct given *g = NULL; (g = call_next(call, option, g));)
		value = g->value;
	return value;
}

const struct given *call_next(const struct call *call, enum option_id option,
			      const struct given *previous)
{
	size_t i = previous ? (size_t)(previous - call->given) + 1 : 0;

	for (; i < call->given_count; i++)
		if (call->given[i].option == option)
			return &call->given[i];
	return NULL;
}

void call_free(struct call *call)
{
	free(call->given);
	memset(call, 0, sizeof(*call));
}

/* --- reading ------------------------------------------------------------------- */

/* The options of a command, as getopt_long() takes them. */
struct shapes {
	struct option longs[OPTION_COUNT + 1];
	char letters[2 * OPTION_COUNT + 2];
};

static void shapes_make(const struct command *command, struct shapes *ret)
{
	size_t longs = 0, letters = 0;

	memset(ret, 0, sizeof(*ret));
	ret->letters[letters++] = ':';
	for (int i = 0; i < OPTION_COUNT; i++) {
		const struct option_row *row = &option_rows[i];

		if (!takes(command, (enum option_id)i))
			continue;
		ret->longs[longs++] =
			(struct option){ row->name,
					 row->argument ? required_argument : no_argument,
					 NULL, LONG_BASE + i };
		if (!row->letter)
			continue;
		ret->letters[letters++] = row->letter;
		if (row->argument)
			ret->letters[letters++] = ':';
	}
}

static enum option_id by_letter(int letter)
{
	int i = 0;

	while (i < OPTION_COUNT && option_rows[i].letter != letter)
		i++;
	return (enum option_id)i;
}

/* The name that "--name" or "--name=value" may have been meant to be. */
static const char *meant(const struct command *command, const char *text)
{
	char name[32];
	size_t n = strcspn(text + 2, "=");
	struct nearest near;
	const char *now;

	if (n >= sizeof(name))
		return NULL;
	memcpy(name, text + 2, n);
	name[n] = '\0';
	now = old_option(name);
	nearest_begin(&near, name);
	for (int i = 0; i < OPTION_COUNT; i++) {
		if (!takes(command, (enum option_id)i))
			continue;
		if (now && !strcmp(now, option_rows[i].name))
			return now;
		nearest_try(&near, option_rows[i].name);
	}
	return nearest_found(&near);
}

static int refuse(const struct command *command, int c, char **argv)
{
	const char *text = argv[optind - 1], *near;

	if (c == ':') {
		log_error("%s: '%s' needs a value", command->name, text);
	} else if (optopt > 0 && optopt < LONG_BASE) {
		log_error("%s: no such option: '-%c' (see --help)", command->name,
			  optopt);
	} else if (optopt) {
		log_error("%s: '%s': this option takes no value", command->name, text);
	} else {
		near = meant(command, text);
		log_error("%s: no such option: '%s' (%s%s)", command->name, text,
			  near ? "did you mean --" : "see --help", near ? near : "");
	}
	return -EINVAL;
}

static int operands_check(const struct call *call, char **argv, int argc)
{
	const struct command *c = call->command;

	if (c->most >= 0 && call->operand_count > c->most) {
		log_error("%s: unexpected argument: '%s'", c->name,
			  call->operands[c->most]);
		return -EINVAL;
	}
	if (call->operand_count < c->least) {
		log_error("%s: something is missing behind '%s': %s (see --help)",
			  c->name, argv[argc - 1], c->operands);
		return -EINVAL;
	}
	return 0;
}

int call_parse(const struct command *command, int argc, char **argv, struct call *ret)
{
	struct call call = { .command = command };
	struct shapes shapes;
	size_t most = 0;
	int c;

	shapes_make(command, &shapes);
	for (int i = 0; i < argc; i++)
		most += strlen(argv[i]); /* each letter of -vvvv is an option */
	call.given = calloc(most + 1, sizeof(*call.given));
	if (!call.given) {
		log_error("%s: not enough memory", command->name);
		return -ENOMEM;
	}
	optind = 0; /* from the beginning, after earlier calls too */
	opterr = 0;
	while ((c = getopt_long(argc, argv, shapes.letters, shapes.longs, NULL)) != -1) {
		struct given *g = &call.given[call.given_count];

		if (c == '?' || c == ':') {
			call_free(&call);
			return refuse(command, c, argv);
		}
		g->option =
			c >= LONG_BASE ? (enum option_id)(c - LONG_BASE) : by_letter(c);
		g->value = optarg;
		call.given_count++;
	}
	call.operands = argv + optind;
	call.operand_count = argc - optind;
	/* A request for help needs no operands. */
	if (!call_has(&call, OPTION_HELP) && !call_has(&call, OPTION_VERSION) &&
	    operands_check(&call, argv, argc)) {
		call_free(&call);
		return -EINVAL;
	}
	*ret = call;
	return 0;
}

/* --- help ---------------------------------------------------------------------- */

void commands_usage(const struct command *all, FILE *out)
{
	fprintf(out, "quakeshield %s: an XDP shield and a decoder for Quake servers\n\n",
		VERSION);
	for (const struct command *c = all; c->name; c++)
		fprintf(out, "  quakeshield %-10s %s\n", c->name, c->help);
	fputs("\n`quakeshield help COMMAND` tells more of one; the rest is in "
	      "quakeshield(8).\n",
	      out);
}

void command_usage(const struct command *command, FILE *out)
{
	char left[40];

	fprintf(out, "usage: quakeshield %s [OPTION]...%s%s\n%s\n\n", command->name,
		*command->operands ? " " : "", command->operands, command->help);
	for (int i = 0; i < OPTION_COUNT; i++) {
		const struct option_row *row = &option_rows[i];

		if (!takes(command, (enum option_id)i))
			continue;
		snprintf(left, sizeof(left), "--%s%s%s", row->name,
			 row->argument ? " " : "", row->argument ? row->argument : "");
		fprintf(out, "  %c%c%c %-22s %s\n", row->letter ? '-' : ' ',
			row->letter ? row->letter : ' ', row->letter ? ',' : ' ', left,
			row->help);
	}
	if (command->more)
		fprintf(out, "\n%s\n", command->more);
}
