/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * options.h - the command line: every option of every subcommand, one row each. The
 * parser, the help texts and the completions are made from the rows; tests/test_docs.sh
 * compares them with quakeshield(8).
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * X(id, letter or 0, name, argument or NULL, what completes it, help)
 *
 * An argument is completed by words with spaces between them, or, where they are not
 * known before, by one of @file @dir @interface @protocol @kind; by nothing if it is "".
 */
/* clang-format off */
#define OPTIONS(X)							\
	X(CONFIG, 'c', "config", "FILE", "@file",			\
	  "the configuration; default /etc/quakeshield.conf")		\
	X(SET, 0, "set", "KEY=VALUE", "",				\
	  "in place of what the file says; may be repeated")		\
	X(INTERFACE, 'i', "interface", "IFACE", "@interface",		\
	  "this interface instead of the file's; may be repeated")	\
	X(MODE, 0, "mode", "MODE", "auto native skb",			\
	  "auto tries native XDP, then generic (skb)")			\
	X(OBSERVE, 0, "observe", NULL, "", "count verdicts, drop nothing")	\
	X(TAKE_OVER, 0, "take-over", NULL, "",				\
	  "with --pin: take interfaces from the daemon that has them now")	\
	X(PRINT, 0, "print", NULL, "", "show it with every default written out")	\
	X(UNDO, 0, "undo", NULL, "",					\
	  "go back to the configuration that was in force before")	\
	X(CONFIRM, 0, "confirm", "SECONDS", "30 60 300",		\
	  "undo it after so many seconds unless you press Enter")	\
	X(TRIAL, 0, "trial", "FILE", "@file",				\
	  "apply nothing: what this other configuration would decide now")	\
	X(UNLIMITED, 0, "unlimited", NULL, "",				\
	  "allow: all that comes from there, and all answers")		\
	X(CONTAINERS, 0, "containers", NULL, "",				\
	  "also those in other network namespaces")			\
	X(PURGE, 0, "purge", NULL, "",					\
	  "also remove what was kept: attacks, history, clients' addresses") \
	X(FORCE, 0, "force", NULL, "",					\
	  "although it is wider than a /8, or a /16 of IPv6")		\
	X(FOR, 0, "for", "TIME", "10m 1h 1d 7d",			\
	  "it ends by itself then: 90s, 10m, 1h30m, 7d")		\
	X(COMMENT, 0, "comment", "TEXT", "", "why; `list` shows it")	\
	X(SERVICE, 0, "service", "NAME|PORT", "",			\
	  "this service alone, or the one that has this port")	\
	X(OUTPUT, 'o', "output", "FILE", "@file",			\
	  "write the configuration there; the file must not exist")	\
	X(LISTED, 0, "listed", NULL, "",				\
	  "ask master servers whether they list the services")		\
	X(MASTER, 0, "master", "HOST[:PORT]", "",			\
	  "ask this master server alone; may be repeated")		\
	X(ADDRESS, 0, "address", "ADDRESS", "",				\
	  "this host's, as the internet sees it; may be repeated")	\
	X(FROM, 0, "from", "ADDRESS:PORT", "",				\
	  "the sender of a payload without headers")			\
	X(DIFF, 0, "diff", "FILE", "@file",				\
	  "only packets that this other configuration decides differently") \
	X(WRITE, 0, "write", "FILE", "@file",				\
	  "a pcapng of them, verdicts as comments; the file must not exist") \
	X(ONCE, 0, "once", NULL, "", "one screen as text, after a second")	\
	X(SUMMARY, 0, "summary", NULL, "",				\
	  "one JSON object a line for each file; overrides --json")	\
	X(LAGOMETER, 0, "lagometer", NULL, "",				\
	  "how well each client is connected; with --json, as JSON")	\
	X(VERBOSE, 'v', "verbose", NULL, "", "decode: all fields below each line; replay: a line a packet")	\
	X(TRACE, 0, "trace", NULL, "",					\
	  "where each field stands, bit by bit; then each client's settings") \
	X(HEX, 0, "hex", NULL, "", "the bytes themselves, as \"payload\"")	\
	X(KIND, 0, "kind", "K,...", "@kind", "only records of these kinds")	\
	X(STATUS, 0, "status", "S,...", "decoded partial opaque malformed",	\
	  "only records of these statuses")				\
	X(HOST, 0, "host", "A,...", "",					\
	  "only to or from these: ADDRESS, ADDRESS:PORT or :PORT")	\
	X(FILTER, 0, "filter", "EXPRESSION", "",			\
	  "of a capture only what this lets through (pcap-filter(7))")	\
	X(LIMIT, 0, "limit", "N", "", "stop after N records")		\
	X(PROTOCOL, 0, "protocol", "P", "@protocol",			\
	  "all datagrams are of P; without it, or auto: found out")	\
	X(AS, 0, "as", "DEMO", "dem qwd mvd dm2 mvd2 dm_68 dm3 urtdemo",	\
	  "read files as demos of this kind, whatever they begin with")	\
	X(EXTRACT, 0, "extract", "DIR", "@dir",				\
	  "put files that were downloaded in the game into DIR")	\
	X(SECRETS, 0, "show-secrets", NULL, "", "show passwords, which are *** otherwise") \
	X(PROGRESS, 0, "progress", NULL, "", "tell on stderr how far it is")	\
	X(KEYLOG, 0, "keylog", "FILE", "@file",				\
	  "secrets of encrypted sessions (SSLKEYLOGFILE)")		\
	X(PSK_NAME, 0, "psk-identity", "ID", "",			\
	  "the name of the key of quake-enhanced sessions; with --psk")	\
	X(PSK, 0, "psk", "HEX", "", "that key")				\
	X(HISTORY, 0, "history", NULL, "",				\
	  "the last 24 hours instead, a row a minute")			\
	X(JSON, 0, "json", NULL, "", "for programs: JSON, an object a line")	\
	X(PIN, 0, "pin", "DIR", "@dir",					\
	  "state is below DIR instead of /sys/fs/bpf/quakeshield")	\
	X(HELP, 'h', "help", NULL, "", "this text")			\
	X(VERSION, 'V', "version", NULL, "", "the version")
/* clang-format on */

enum option_id {
#define AS_ID(id, ...) OPTION_##id,
	OPTIONS(AS_ID) OPTION_COUNT
#undef AS_ID
};

#define OPTION_BIT(id) (1ull << OPTION_##id)
#define OPTIONS_ALWAYS (OPTION_BIT(HELP) | OPTION_BIT(VERSION))

struct option_row {
	char letter; /* 0: none */
	const char *name;
	const char *argument; /* NULL: it takes none */
	const char *completion;
	const char *help;
};
extern const struct option_row option_rows[OPTION_COUNT];

/*
 * Exit statuses of all commands but decode, which has 0, 1 and 2 only; see
 * quakeshield(8).
 */
enum {
	EXIT_REST = 1, /* none of the following */
	EXIT_USAGE = 2, /* the command line is wrong */
	EXIT_NOT_LOADED = 3,
	EXIT_DENIED = 4, /* no permission */
	EXIT_UNPROTECTED = 5, /* an interface is not protected */
};

/* Return the exit status for 0 or -errno. */
int exit_status(int err);

struct call;

struct command {
	const char *name;
	/* The exit status, after one message on stderr that quotes what was wrong. */
	int (*run)(const struct call *call);
	const char *help; /* one line, for the overview */
	const char *operands; /* as the usage shows them; "": none */
	const char *completion; /* of operands, as of an option's argument */
	unsigned long long options; /* mask of OPTION_BIT(); OPTIONS_ALWAYS are implied */
	int least, most; /* operands; most -1: any number */
	const char *more; /* after the options in its help; NULL: nothing */
};

/* In the order of the help text; the last one has no name. */
extern const struct command commands[];

/* Return the row of @all called @name, or NULL: there is none. */
const struct command *command_find(const struct command *all, const char *name);

struct given {
	enum option_id option;
	char *value; /* NULL where the option takes none */
};

/* A command line that was read. */
struct call {
	const struct command *command;
	const struct command *all; /* commands[], set by the caller of call_parse() */
	struct given *given; /* in order */
	size_t given_count;
	char **operands; /* NULL behind the last */
	int operand_count;
};

/*
 * Read argv[1] and what follows for @command, argv[0] being its name. 0 and *@ret, to be
 * ended by call_free(); or -EINVAL after a message that quotes what is wrong.
 */
int call_parse(const struct command *command, int argc, char **argv, struct call *ret);
/* Free what call_parse() allocated; the strings belong to argv. */
void call_free(struct call *call);

/* Return true if @option was given at least once. */
bool call_has(const struct call *call, enum option_id option);
/* Return the value of @option that was given last; NULL: none was. */
const char *call_value(const struct call *call, enum option_id option);
/* Return one @option after the other, from NULL on to NULL. */
const struct given *call_next(const struct call *call, enum option_id option,
			      const struct given *previous);

/* Write @all commands to @out, a line each. */
void commands_usage(const struct command *all, FILE *out);

/*
 * Write the help of one command to @out: its usage, its options, and what follows them.
 */
void command_usage(const struct command *command, FILE *out);

#endif /* OPTIONS_H */
