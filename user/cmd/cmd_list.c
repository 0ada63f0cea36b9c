// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * cmd_list.c - `allow` and `deny`: edit the lists while packets flow.
 *
 * An entry that is added here stays until it is deleted here or its time is over, over
 * restarts and reloads. Entries of the configuration change with it only.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "cmd/commands.h"
#include "lib/duration.h"
#include "lib/json_key.h"
#include "lib/log.h"
#include "shield/shield.h"

#define SECOND_NS 1000000000ull

struct edit {
	const char *name; /* "allow", "deny" */
	enum list list;
	bool force;
	char **words; /* networks as text, NULL behind the last */
	struct cidr *networks; /* these, read */
	size_t count, room; /* of them, and for how many there is memory */
	size_t line; /* of standard input, being read; 0: none */
	struct list_terms terms;
	bool json;
};

static const struct json_key entry_keys[] = {
	JSON_KEY("network", "string", NULL, "Address or network."),
	JSON_KEY("runtime", "boolean", NULL, "Added by `add`."),
	JSON_KEY("configuration", "boolean", NULL, "Listed in the configuration."),
	JSON_KEY("unlimited", "boolean", NULL,
		 "Sources of an allowed network have no limits."),
	JSON_KEY("seconds_left", "integer|null", "seconds",
		 "Time until the entry ends; null: it does not end."),
	JSON_KEY("comment", "string|null", NULL, "Comment of `add`."),
	JSON_END,
};

const struct json_key list_json_keys[] = {
	JSON_KEY("list", "string", NULL, "`allow` or `deny`."),
	JSON_OBJECT("entries", "object[]", NULL, "Entries in force.", entry_keys),
	JSON_END,
};

/* State of `list` while it goes through the entries. */
struct listing {
	json_t *json; /* NULL: they are printed */
	__u64 now;
};

static __u64 left_ns(const struct listing *l, const struct list_entry *entry)
{
	return entry->until_ns > l->now ? entry->until_ns - l->now : 0;
}

static void entry_json(struct listing *l, const char *network,
		       const struct list_entry *entry, __u32 origins)
{
	bool live = origins & LIST_RUNTIME;

	json_array_append_new(
		l->json,
		json_pack("{s:s, s:b, s:b, s:b, s:o, s:o}", "network", network, "runtime",
			  live, "configuration", !!(origins & LIST_CONFIG), "unlimited",
			  !!(origins & LIST_UNLIMITED), "seconds_left",
			  live && entry->until_ns
				  ? json_integer(
					    (json_int_t)(left_ns(l, entry) / SECOND_NS))
				  : json_null(),
			  "comment",
			  live && entry->comment[0] ? json_string(entry->comment)
						    : json_null()));
}

static void entry_print(struct listing *l, const char *network,
			const struct list_entry *entry, __u32 origins)
{
	char left[DURATION_TEXT];

	printf("%-43s %s%s%s%s", network, origins & LIST_RUNTIME ? "runtime" : "",
	       (origins & LIST_RUNTIME) && (origins & LIST_CONFIG) ? ", " : "",
	       origins & LIST_CONFIG ? "configuration" : "",
	       origins & LIST_UNLIMITED ? ", unlimited" : "");
	if (origins & LIST_RUNTIME && entry->until_ns) {
		duration_format(left_ns(l, entry), left);
		printf(", %s left", left);
	}
	if (origins & LIST_RUNTIME && entry->comment[0])
		printf("  # %s", entry->comment);
	putchar('\n');
}

static void entry_show(const struct cidr *cidr, const struct list_entry *entry,
		       void *context)
{
	struct listing *l = context;
	__u32 origins = list_origins(entry, l->now);
	char network[CIDR_TEXT];

	if (!origins)
		return; /* over, and not taken out yet */
	cidr_format(cidr, network);
	if (l->json)
		entry_json(l, network, entry, origins);
	else
		entry_print(l, network, entry, origins);
}

static int edit_list(struct shield *shield, const struct edit *e)
{
	struct listing l = {
		.json = e->json ? json_array() : NULL,
		.now = shield_clock(),
	};
	int err = shield_list_each(shield, e->list, entry_show, &l);

	if (e->json &&
	    print_json(json_pack("{s:s, s:o}", "list", e->name, "entries", l.json)))
		err = -EIO;
	return err;
}

/* Where a network stands: "deny", or "deny: line 3". */
#define WHERE 40

static void where(const struct edit *e, char ret[WHERE])
{
	if (e->line)
		snprintf(ret, WHERE, "%s: line %zu", e->name, e->line);
	else
		snprintf(ret, WHERE, "%s", e->name);
}

/* Take one more network to edit; -errno after a message that quotes what is wrong. */
static int edit_take(struct edit *e, const char *text)
{
	char meant[CIDR_TEXT], at[WHERE];
	struct cidr cidr, *more;

	where(e, at);
	if (!cidr_parse(text, &cidr)) {
		log_error("%s: '%s' is not an address or network like 203.0.113.0/24 or "
			  "2001:db8::/32",
			  at, text);
		return -EINVAL;
	}
	cidr_format(&cidr, meant);
	if (cidr_host_bits(text))
		log_warn("%s: '%s' is taken as %s", at, text, meant);
	if (cidr_is_wide(&cidr) && !e->force) {
		log_error(
			"%s: '%s' is a large part of the internet: if it is meant, --force",
			at, text);
		return -EINVAL;
	}
	if (e->count == LIST_MAX) {
		log_error("%s: more than %d networks at once: '%s'", at, LIST_MAX, text);
		return -E2BIG;
	}
	if (e->count == e->room) {
		size_t room = 2 * (e->room + 8);

		more = realloc(e->networks, room * sizeof(*more));
		if (!more) {
			log_error("%s: not enough memory", e->name);
			return -ENOMEM;
		}
		e->networks = more;
		e->room = room;
	}
	e->networks[e->count++] = cidr;
	return 0;
}

/* A line of @n octets: nothing, or one network. */
static int edit_take_line(struct edit *e, char *line, size_t n)
{
	char *text = line, at[WHERE];

	where(e, at);
	if (strlen(line) != n) {
		log_error("%s: there is a NUL behind '%s': is this text?", at, line);
		return -EINVAL;
	}
	if (!strncmp(text, "\xef\xbb\xbf", 3))
		text += 3; /* a byte order mark, as some editors leave */
	text[strcspn(text, "#")] = '\0';
	text += strspn(text, " \t\r\n");
	for (size_t end = strlen(text); end && strchr(" \t\r\n", text[end - 1]); end--)
		text[end - 1] = '\0';
	return *text ? edit_take(e, text) : 0;
}

/* Take networks from standard input, one a line; what follows a # is a comment. */
static int edit_take_lines(struct edit *e)
{
	char *line = NULL;
	size_t size = 0;
	ssize_t n;
	int err = 0;

	while (!err && (n = getline(&line, &size, stdin)) >= 0) {
		e->line++;
		err = edit_take_line(e, line, (size_t)n);
	}
	if (!err && ferror(stdin)) {
		err = -errno;
		log_error("%s: cannot read standard input: %s", e->name, strerror(-err));
	}
	e->line = 0;
	free(line);
	return err;
}

/* Take all networks: all are read before the first is edited. */
static int edit_take_all(struct edit *e)
{
	int err = 0;

	for (char **word = e->words; !err && *word; word++)
		err = strcmp(*word, "-") != 0 ? edit_take(e, *word) : edit_take_lines(e);
	return err;
}

/*
 * Warn of networks that stay allowed: `deny add` of a part of an allowed network does
 * nothing.
 */
static void warn_allowed(const struct shield *shield, const struct edit *e)
{
	char denied[CIDR_TEXT], allowed[CIDR_TEXT];
	size_t count = 0, first = 0;
	struct cidr by;

	for (size_t i = e->count; i-- > 0;) {
		if (!shield_list_covers(shield, LIST_ALLOW, &e->networks[i], &by))
			continue;
		first = i;
		count++;
	}
	if (!count || !shield_list_covers(shield, LIST_ALLOW, &e->networks[first], &by))
		return;
	cidr_format(&e->networks[first], denied);
	cidr_format(&by, allowed);
	if (count == 1)
		log_warn("%s: '%s' is not denied as long as '%s' is allowed", e->name,
			 denied, allowed);
	else
		log_warn("%s: '%s' is not denied as long as '%s' is allowed (%zu more "
			 "like it)",
			 e->name, denied, allowed, count - 1);
}

/* Allowed networks within those that were just denied. */
struct within {
	const struct shield *shield;
	const struct edit *edit;
	__u64 now;
	size_t count;
	/* The first, and what it is a part of. */
	char allowed[CIDR_TEXT], denied[CIDR_TEXT];
};

static void within_count(const struct cidr *cidr, const struct list_entry *entry,
			 void *context)
{
	struct within *w = context;
	const struct edit *e = w->edit;
	struct cidr by;
	size_t i = 0;

	/* By one look-up for most: there may be 65536 of both. */
	if (!shield_list_covers(w->shield, LIST_DENY, cidr, &by))
		return;
	while (i < e->count && (e->networks[i].length >= cidr->length ||
				!cidr_holds(&e->networks[i], cidr)))
		i++;
	if (i == e->count || !list_origins(entry, w->now) || w->count++)
		return;
	cidr_format(cidr, w->allowed);
	cidr_format(&e->networks[i], w->denied);
}

/* Warn of what stays allowed within a denied network: `allow` goes before `deny`. */
static void warn_allowed_within(const struct shield *shield, const struct edit *e)
{
	struct within w = { .shield = shield, .edit = e, .now = shield_clock() };

	if (shield_list_each(shield, LIST_ALLOW, within_count, &w) || !w.count)
		return;
	if (w.count == 1)
		log_warn("%s: '%s' in '%s' is not denied as long as it is allowed",
			 e->name, w.allowed, w.denied);
	else
		log_warn("%s: '%s' in '%s' is not denied as long as it is allowed (%zu "
			 "more like it)",
			 e->name, w.allowed, w.denied, w.count - 1);
}

/* How many players the networks that were just denied hold. */
struct cut_off {
	const struct shield *shield;
	size_t players;
	char first[CIDR_TEXT]; /* the address of one */
};

static void cut_off_count(const struct player_key *key, const struct player *player,
			  void *context)
{
	struct cut_off *cut = context;
	struct cidr address = { .length = 128 }, by;

	(void)player;
	memcpy(address.addr, key->addr, sizeof(address.addr));
	if (!shield_list_covers(cut->shield, LIST_DENY, &address, &by) ||
	    shield_list_covers(cut->shield, LIST_ALLOW, &address, &by))
		return;
	if (!cut->players++)
		cidr_format(&address, cut->first);
}

/*
 * Say that denied addresses have players in the game: the operator may not have meant
 * them. Those of networks that were denied before are gone a minute later, and not
 * counted then.
 */
static void warn_players(const struct shield *shield, const struct edit *e)
{
	struct cut_off cut = { .shield = shield };

	if (shield_players(shield, cut_off_count, &cut) || !cut.players)
		return;
	if (cut.players == 1)
		log_warn("%s: a player is in the game from '%s', which is denied: its "
			 "datagrams are dropped from now on",
			 e->name, cut.first);
	else
		log_warn(
			"%s: %zu players are in the game from what is denied, one of them "
			"from '%s': their datagrams are dropped from now on",
			e->name, cut.players, cut.first);
}

static int edit_add(struct shield *shield, const struct edit *e)
{
	char text[CIDR_TEXT];
	size_t added;
	int err = shield_list_add_all(shield, e->list, e->networks, e->count, &e->terms,
				      &added);

	if (err && added) {
		cidr_format(&e->networks[added], text);
		log_error("%s: '%s' was not added, nor what stands behind it: %zu of %zu "
			  "were",
			  e->name, text, added, e->count);
	}
	if (!err && e->list == LIST_DENY) {
		warn_allowed(shield, e);
		warn_allowed_within(shield, e);
		warn_players(shield, e);
	}
	return err;
}

/*
 * Delete the networks. Those that are not there are named, and do not keep the others
 * from going.
 */
static int edit_del(struct shield *shield, const struct edit *e)
{
	bool *missing = calloc(e->count + 1, sizeof(*missing));
	char text[CIDR_TEXT];
	int err = -ENOMEM;

	if (!missing) {
		log_error("%s: not enough memory", e->name);
		return err;
	}
	err = shield_list_del_all(shield, e->list, e->networks, e->count, missing);
	for (size_t i = 0; i < e->count; i++) {
		if (!missing[i])
			continue;
		cidr_format(&e->networks[i], text);
		log_error("%s: '%s' was not added with `%s add`", e->name, text, e->name);
		err = err ? err : -ENOENT;
	}
	free(missing);
	return err;
}

static const struct {
	const char *verb;
	bool some; /* networks behind it */
	int (*run)(struct shield *shield, const struct edit *e);
} verbs[] = {
	{ "add", true, edit_add },
	{ "del", true, edit_del },
	{ "list", false, edit_list },
};

#define VERBS (sizeof(verbs) / sizeof(*verbs))

static int edit_run(const struct call *call, const struct edit *e,
		    int (*run)(struct shield *shield, const struct edit *e))
{
	struct shield *shield;
	int status = call_open(call, &shield);

	if (status)
		return status;
	status = exit_status(run(shield, e));
	shield_close(shield);
	return status;
}

/* Do the words and options behind the verb make sense? */
static bool verb_fits(const struct call *call, const struct edit *e, size_t verb)
{
	static const enum option_id adding[] = { OPTION_UNLIMITED, OPTION_FOR,
						 OPTION_COMMENT };
	bool add = verbs[verb].run == edit_add;

	if (verbs[verb].some && !*e->words) {
		log_error("%s: `%s` needs an address or a network", e->name,
			  verbs[verb].verb);
		return false;
	}
	if (!verbs[verb].some && *e->words) {
		log_error("%s: unexpected argument: '%s'", e->name, *e->words);
		return false;
	}
	for (size_t i = 0; i < sizeof(adding) / sizeof(*adding); i++) {
		if (add || !call_has(call, adding[i]))
			continue;
		log_error("%s: --%s goes with `add`", e->name,
			  option_rows[adding[i]].name);
		return false;
	}
	return true;
}

/* False after a message. */
static bool terms_read(const struct call *call, struct edit *e)
{
	const char *time = call_value(call, OPTION_FOR);
	const char *comment = call_value(call, OPTION_COMMENT);

	e->terms.unlimited = call_has(call, OPTION_UNLIMITED);
	e->terms.comment = comment;
	if (time && !duration_parse(time, &e->terms.for_ns)) {
		log_error("%s: --for '%s' is not a time like 90s, 10m, 1h30m or 7d",
			  e->name, time);
		return false;
	}
	if (comment && strlen(comment) >= LIST_COMMENT) {
		log_error("%s: --comment '%s' is longer than %d characters", e->name,
			  comment, LIST_COMMENT - 1);
		return false;
	}
	for (; comment && *comment; comment++) {
		if (*comment >= ' ' && *comment <= '~')
			continue;
		log_error("%s: --comment has a character that is not printable ASCII",
			  e->name);
		return false;
	}
	return true;
}

static int edit_main(struct edit *e, const struct call *call)
{
	const char *word = call->operands[0];
	size_t verb = 0;
	int status, err;

	while (verb < VERBS && strcmp(word, verbs[verb].verb) != 0)
		verb++;
	if (verb == VERBS) {
		log_error("%s: no such verb: '%s' (add, del or list)", e->name, word);
		return EXIT_USAGE;
	}
	e->words = call->operands + 1;
	if (!verb_fits(call, e, verb))
		return EXIT_USAGE;
	if (!terms_read(call, e))
		return EXIT_USAGE;
	e->json = call_has(call, OPTION_JSON);
	e->force = call_has(call, OPTION_FORCE) || verbs[verb].run == edit_del;
	err = edit_take_all(e);
	status = err == -EINVAL || err == -E2BIG ? EXIT_USAGE
		 : err				 ? EXIT_REST
						 : edit_run(call, e, verbs[verb].run);
	free(e->networks);
	return status;
}

int cmd_allow(const struct call *call)
{
	struct edit e = { .name = "allow", .list = LIST_ALLOW };

	return edit_main(&e, call);
}

int cmd_deny(const struct call *call)
{
	struct edit e = { .name = "deny", .list = LIST_DENY };

	return edit_main(&e, call);
}
