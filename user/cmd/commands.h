/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * commands.h - the functions behind the rows of commands.c, and what several of them
 * share.
 *
 * main.c finds the row by argv[1], reads the options by it, and calls its function once.
 * Commands may call every room; no room calls a command.
 */
#ifndef COMMANDS_H
#define COMMANDS_H

#include "cmd/options.h"
#include "lib/json_key.h"

struct config;
struct shield;

/* Keys of their JSON: lib/json_key.h. */
extern const struct json_key check_json_keys[], reload_json_keys[], status_json_keys[],
	attacks_json_keys[], lag_json_keys[], list_json_keys[], probe_json_keys[],
	discover_json_keys[];

/*
 * Each of these runs one command to its end, with options that call_parse() has checked
 * against its row, and returns the exit status. On failure it has written one message to
 * stderr.
 */
int cmd_run(const struct call *call);
int cmd_check(const struct call *call);
int cmd_load(const struct call *call);
int cmd_reload(const struct call *call);
int cmd_stats(const struct call *call);
int cmd_explain(const struct call *call);
int cmd_watch(const struct call *call);
int cmd_attacks(const struct call *call);
int cmd_on_attack(const struct call *call);
int cmd_status(const struct call *call);
int cmd_allow(const struct call *call);
int cmd_deny(const struct call *call);
int cmd_top(const struct call *call);
int cmd_lag(const struct call *call);
int cmd_probe(const struct call *call);
int cmd_discover(const struct call *call);
int cmd_detach(const struct call *call);
int cmd_decode(const struct call *call);
int cmd_replay(const struct call *call);
int cmd_completion(const struct call *call);
int cmd_help(const struct call *call);

/* Run `status --listed`, for cmd_status(). */
int cmd_listed(const struct call *call);

/*
 * Open what is loaded where --pin says. 0 and *@ret, to be closed by shield_close(), or
 * the exit status after a message.
 */
int call_open(const struct call *call, struct shield **ret);

struct shield_link;

/*
 * Add rows to the @count @links of shield_links() by shield_links_named(), for the
 * interfaces of the configuration in force at @pin. @links has room for SHIELD_LINKS.
 * Returns how many rows there are then; @count, if that configuration is not known.
 * Called by `status`, `stats` and `top`.
 */
size_t call_links(const char *pin, struct shield_link *links, size_t count);

/* Load the configuration that --config and --set say, as config_load_set(). */
int call_config(const struct call *call, struct config *ret);

/* Turn the cache off where @config does not name it: without a daemon no server is
 * queried. For `load` and `reload`. */
void without_daemon(struct config *config);

/* Print the attacks that go on now, a line each, if the daemon of @pin is there. */
void attacks_now_print(const char *pin);

struct json_t;

/*
 * Return @text as a JSON string. Text from a file and an interface's name need not be
 * UTF-8: then each byte from 0x80 on is written as \x and two digits, as the file itself
 * may have it.
 */
struct json_t *json_text(const char *text);

/*
 * Write out what was printed to stdout. Returns the exit status, EXIT_REST after a
 * message. Called by main() after each command, and by some commands themselves.
 */
int print_end(const char *command);

/* Write one JSON value as a line to stdout, and release it. Returns the exit status. */
int print_json(struct json_t *value);

#endif /* COMMANDS_H */
