// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * `allow` and `deny`: what is taken from words and from standard input, what is asked of
 * the shield, which is this file's, and how what it has is shown.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <jansson.h>

#include "cmd/cmd_print.h"
#include "cmd/cmd_support.h"
#include "cmd/commands.h"
#include "lib/cidr.h"
#include "shield/shield.h"

#define SECOND 1000000000ull
#define NOW    (1000 * SECOND)

const struct command commands[] = {
	{
		.name = "allow",
		.run = cmd_allow,
		.options = OPTION_BIT(UNLIMITED) | OPTION_BIT(FORCE) | OPTION_BIT(FOR) |
			   OPTION_BIT(COMMENT) | OPTION_BIT(JSON),
		.operands = "",
		.least = 1,
		.most = -1,
	},
	{
		.name = "deny",
		.run = cmd_deny,
		.options = OPTION_BIT(FORCE) | OPTION_BIT(FOR) | OPTION_BIT(COMMENT) |
			   OPTION_BIT(JSON),
		.operands = "",
		.least = 1,
		.most = -1,
	},
	{ .name = NULL },
};

/* --- what a shield is asked, as text; and what it says ----------------------------- */

static char asked[4096];
static int result; /* of each edit */
static size_t kept; /* of those added, when it fails */
static const char *missing; /* a network that is not there */
static bool covered; /* all in 10/8 is, by it */
static int opened;

static void note(const char *text)
{
	strcat(asked, text);
}

static void note_network(const struct cidr *cidr)
{
	char text[CIDR_TEXT];

	cidr_format(cidr, text);
	note(" ");
	note(text);
}

int call_open(const struct call *call, struct shield **ret)
{
	(void)call;
	*ret = NULL;
	opened++;
	return 0;
}

void shield_close(struct shield *shield)
{
	(void)shield;
	opened--;
}

__u64 shield_clock(void)
{
	return NOW;
}

int shield_list_add_all(struct shield *shield, enum list list, const struct cidr *cidrs,
			size_t count, const struct list_terms *terms, size_t *ret_added)
{
	char text[128];

	(void)shield;
	note(list == LIST_ALLOW ? "allow" : "deny");
	for (size_t i = 0; i < count; i++)
		note_network(&cidrs[i]);
	snprintf(text, sizeof(text), "%s for %llu # %s", terms->unlimited ? " all" : "",
		 (unsigned long long)(terms->for_ns / SECOND),
		 terms->comment ? terms->comment : "-");
	note(text);
	*ret_added = result ? kept : count;
	return result;
}

int shield_list_del_all(struct shield *shield, enum list list, const struct cidr *cidrs,
			size_t count, bool *ret_missing)
{
	char text[CIDR_TEXT];

	(void)shield;
	note(list == LIST_ALLOW ? "no allow" : "no deny");
	for (size_t i = 0; i < count; i++) {
		note_network(&cidrs[i]);
		cidr_format(&cidrs[i], text);
		ret_missing[i] = missing && !strcmp(text, missing);
	}
	return result;
}

bool shield_list_covers(const struct shield *shield, enum list list,
			const struct cidr *cidr, struct cidr *ret)
{
	char text[CIDR_TEXT];

	(void)shield;
	cidr_format(cidr, text);
	if (list == LIST_DENY)
		return !strncmp(text, "10.", 3) || !strncmp(text, "192.0.2.", 8);
	return covered && !strncmp(text, "10.", 3) && cidr_parse("10.0.0.0/8", ret);
}

static const char *const *allowed; /* networks, NULL behind the last; NULL: none */
static const char *const *players; /* addresses, NULL behind the last; NULL: none */

int shield_players(const struct shield *shield,
		   void (*each)(const struct player_key *key, const struct player *player,
				void *context),
		   void *context)
{
	(void)shield;
	for (const char *const *text = players; text && *text; text++) {
		struct player_key key = { .port = 1 };
		struct cidr cidr;

		assert_true(cidr_parse(*text, &cidr));
		memcpy(key.addr, cidr.addr, sizeof(key.addr));
		each(&key, NULL, context);
	}
	return 0;
}

/* One row of a list: its network, where it is from, and when it ends. */
struct shown {
	const char *network, *comment;
	__u32 origins;
	__u64 until_ns;
};

static const struct shown rows[] = {
	{ "192.0.2.1", "an aimbot", LIST_RUNTIME, NOW + 5400 * SECOND },
	{ "192.0.2.2", "", LIST_RUNTIME | LIST_CONFIG, 0 },
	{ "192.0.2.3", "gone", LIST_RUNTIME, NOW - SECOND },
	{ "198.51.100.0/24", "not its own", LIST_CONFIG, NOW + SECOND },
	{ "2001:db8::/32", "", LIST_CONFIG | LIST_CONFIG_UNLIMITED, 0 },
};

int shield_list_each(const struct shield *shield, enum list list,
		     void (*each)(const struct cidr *cidr, const struct list_entry *entry,
				  void *context),
		     void *context)
{
	bool after = list == LIST_ALLOW && !strncmp(asked, "deny", 4); /* by `deny add` */

	(void)shield;
	for (const char *const *text = allowed; after && text && *text; text++) {
		struct list_entry entry = { .origins = LIST_CONFIG };
		struct cidr cidr;

		assert_true(cidr_parse(*text, &cidr));
		each(&cidr, &entry, context);
	}
	if (after)
		return 0;
	note(list == LIST_ALLOW ? "list allow" : "list deny");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct list_entry entry = { .origins = (__u8)rows[i].origins,
					    .until_ns = rows[i].until_ns };
		struct cidr cidr;

		strcpy(entry.comment, rows[i].comment);
		assert_true(cidr_parse(rows[i].network, &cidr));
		each(&cidr, &entry, context);
	}
	return result;
}

static int begin(void **state)
{
	(void)state;
	*asked = 0;
	result = 0;
	kept = 0;
	missing = NULL;
	covered = false;
	opened = 0;
	return 0;
}

static int end(void **state)
{
	(void)state;
	assert_int_equal(opened, 0);
	return 0;
}

/* Done without a word, and the shield was asked @what. */
static void did(const char *words, const char *input, size_t n, const char *what)
{
	int status;

	*asked = 0;
	status = say_input(words, input, n);
	if (status || *said_err || strcmp(asked, what) != 0)
		fail_msg("'%s': %d, '%s', '%s'", words, status, asked, said_err);
}

#define DID(words, input, what) did(words, input, sizeof(input) - 1, what)

/* --- tests ------------------------------------------------------------------------- */

static void words_become_networks(void **state)
{
	(void)state;
	DID("deny add 192.0.2.1", "", "deny 192.0.2.1 for 0 # -");
	DID("allow add 192.0.2.1 2001:db8::/32 --unlimited", "",
	    "allow 192.0.2.1 2001:db8::/32 all for 0 # -");
	DID("deny add --for 1h30m --comment=x 192.0.2.0/24", "",
	    "deny 192.0.2.0/24 for 5400 # x");
	DID("deny add --force 0.0.0.0/0", "", "deny 0.0.0.0/0 for 0 # -");
	/* What is taken away may be as wide as it was added. */
	DID("deny del 0.0.0.0/0", "", "no deny 0.0.0.0/0");
	DID("allow del 192.0.2.1 192.0.2.2", "", "no allow 192.0.2.1 192.0.2.2");
	assert_string_equal(said_out, "");
}

static void lines_become_networks(void **state)
{
	(void)state;
	DID("deny add -", "\xef\xbb\xbf \t192.0.2.1 \t# a b\r\n\n# c\n192.0.2.2",
	    "deny 192.0.2.1 192.0.2.2 for 0 # -");
	/* Beside words, in their order. */
	DID("deny add 192.0.2.9 - 192.0.2.8", "192.0.2.1#x\n",
	    "deny 192.0.2.9 192.0.2.1 192.0.2.8 for 0 # -");
	DID("deny add -", "", "deny for 0 # -");
}

static void what_is_wrong_is_quoted(void **state)
{
	static const struct {
		const char *words, *input;
		size_t n;
		const char *text;
	} bad[] = {
#define BAD(words, input, text) { words, input, sizeof(input) - 1, text }
		BAD("deny remove 192.0.2.1", "", "deny: no such verb: 'remove'"),
		BAD("allow add", "", "allow: `add` needs an address"),
		BAD("allow del", "", "allow: `del` needs an address"),
		BAD("deny list x", "", "deny: unexpected argument: 'x'"),
		BAD("allow del --unlimited 192.0.2.1", "", "--unlimited goes with `add`"),
		BAD("deny list --for 1h", "", "--for goes with `add`"),
		BAD("deny del 192.0.2.1 --comment x", "", "--comment goes with `add`"),
		BAD("deny add 192.0.2.300", "", "deny: '192.0.2.300' is not"),
		BAD("deny add 192.0.2.1 --for soon", "", "'soon' is not a time"),
		BAD("deny add 192.0.2.1 --comment "
		    "01234567890123456789012345678901234567890123",
		    "", "is longer than 43 characters"),
		BAD("deny add 192.0.2.1 --comment a\tb", "", "not printable"),
		BAD("deny add 192.0.2.1 --comment a\x7f", "", "not printable"),
		BAD("allow add 0.0.0.0/0", "", "'0.0.0.0/0' is a large part"),
		BAD("deny add -", "192.0.2.1\n198.51.100.7 203.0.113.9\n",
		    "deny: line 2: '198.51.100.7 203.0.113.9' is not"),
		BAD("deny add -", "192.0.2.1\n\n0.0.0.0/0", "line 3: '0.0.0.0/0' is a"),
		BAD("deny add -", "192.0.2.1\0007\n", "line 1: there is a NUL behind"),
		/* Words behind it are not of a line any more. */
		BAD("deny add - x", "192.0.2.1\n", "deny: 'x' is not"),
#undef BAD
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		int status = say_input(bad[i].words, bad[i].input, bad[i].n);

		if (status != EXIT_USAGE || !strstr(said_err, bad[i].text) || *asked)
			fail_msg("'%s': %d, '%s'", bad[i].words, status, said_err);
	}
	/* As long as there is room for, of the first and the last that can be printed. */
	DID("deny add 192.0.2.1 --comment 0123456789012345678901234567890123456789~!~",
	    "", "deny 192.0.2.1 for 0 # 0123456789012345678901234567890123456789~!~");
}

static void host_bits_are_told_of(void **state)
{
	(void)state;
	assert_int_equal(say("deny add 192.0.2.1/24"), 0);
	assert_non_null(strstr(said_err, "'192.0.2.1/24' is taken as 192.0.2.0/24"));
	assert_string_equal(asked, "deny 192.0.2.0/24 for 0 # -");
}

/* One more than there is room for is named, and nothing is asked. */
static void there_is_an_end(void **state)
{
	size_t n = LIST_MAX + 1, at = 0;
	char *lines = malloc(n * 20);

	(void)state;
	assert_non_null(lines);
	for (size_t i = 0; i < n; i++)
		at += (size_t)sprintf(lines + at, "11.%zu.%zu.1\n", i >> 8 & 255,
				      i & 255);
	assert_int_equal(say_input("deny del -", lines, at), EXIT_USAGE);
	assert_non_null(strstr(said_err, "more than 65536 networks at once"));
	assert_string_equal(asked, "");
	free(lines);
}

static void failures_are_told(void **state)
{
	(void)state;
	/* The shield has named the reason; we name those that are left out. */
	result = -ENOSPC;
	kept = 1;
	refused("deny add 192.0.2.1 192.0.2.2 192.0.2.3", EXIT_REST,
		"'192.0.2.2' was not added, nor what stands behind it: 1 of 3 were");
	kept = 0;
	refused("deny add 192.0.2.1", EXIT_REST, "");
	result = -EPERM;
	refused("deny add 192.0.2.1", EXIT_DENIED, "");
	refused("deny del 192.0.2.1", EXIT_DENIED, "");
	refused("deny list", EXIT_DENIED, "");
	result = 0;
	missing = "192.0.2.2";
	refused("deny del 192.0.2.1 192.0.2.2", EXIT_REST,
		"deny: '192.0.2.2' was not added with `deny add`");
	assert_null(strstr(said_err, "'192.0.2.1'"));
}

/* A network is denied in which somebody plays: that is said, and done. */
static void denied_players_are_counted(void **state)
{
	static const char *const one[] = { "198.51.100.1", "192.0.2.7", NULL };
	static const char *const some[] = { "10.0.0.1", "192.0.2.7", "192.0.2.8", NULL };

	(void)state;
	players = one;
	refused("deny add 192.0.2.0/24", 0,
		"deny: a player is in the game from '192.0.2.7', which is denied: its "
		"datagrams are dropped from now on");
	refused("allow add 192.0.2.0/24", 0, "");
	players = some;
	/* The first is allowed, too. */
	covered = true;
	refused("deny add 192.0.2.0/24", 0,
		"deny: 2 players are in the game from what is denied, one of them from "
		"'192.0.2.7': their");
	players = NULL;
	refused("deny add 192.0.2.0/24", 0, "");
}

static void who_is_allowed_is_not_denied(void **state)
{
	(void)state;
	covered = true;
	refused("deny add 192.0.2.1", 0, "");
	refused("allow add 10.1.0.0/16", 0, "");
	refused("deny add 192.0.2.1 10.1.2.3 192.0.2.2", 0,
		"deny: '10.1.2.3' is not denied as long as '10.0.0.0/8' is allowed\n");
	refused("deny add 10.1.2.3 192.0.2.1 10.2.0.0/16 10.3.0.1", 0,
		"'10.1.2.3' is not denied as long as '10.0.0.0/8' is allowed (2 more "
		"like it)");
	/* What was not added is not warned of. */
	result = -ENOSPC;
	refused("deny add 10.1.2.3", EXIT_REST, "");
}

static void part_that_stays_allowed_is_told(void **state)
{
	static const char *const one[] = { "192.0.2.0/24", "192.0.2.64/26",
					   "198.51.100.1", NULL };
	static const char *const two[] = { "192.0.2.7", "192.0.2.64/26", NULL };

	(void)state;
	allowed = one;
	refused("deny add 203.0.113.0/24 192.0.2.0/24", 0,
		"deny: '192.0.2.64/26' in '192.0.2.0/24' is not denied as long as it is "
		"allowed\n");
	allowed = two;
	refused("deny add 192.0.2.0/24", 0,
		"'192.0.2.7' in '192.0.2.0/24' is not denied as long as it is allowed (1 "
		"more like it)");
	refused("deny add 192.0.2.7", 0, "");
	refused("allow add 192.0.2.0/24", 0, "");
	allowed = NULL;
}

static void lists_are_shown(void **state)
{
	(void)state;
	DID("deny list", "", "list deny");
	assert_string_equal(
		said_out,
		"192.0.2.1                                   runtime, 1h30m left  "
		"# an aimbot\n"
		"192.0.2.2                                   runtime, configuration\n"
		"198.51.100.0/24                             configuration\n"
		"2001:db8::/32                               configuration, "
		"unlimited\n");
	DID("allow list --json", "", "list allow");
	assert_string_equal(
		said_out,
		"{\"entries\":["
		"{\"comment\":\"an aimbot\",\"configuration\":false,\"network\":\"192.0.2.1\","
		"\"runtime\":true,\"seconds_left\":5400,\"unlimited\":false},"
		"{\"comment\":null,\"configuration\":true,\"network\":\"192.0.2.2\","
		"\"runtime\":true,\"seconds_left\":null,\"unlimited\":false},"
		"{\"comment\":null,\"configuration\":true,\"network\":\"198.51.100.0/24\","
		"\"runtime\":false,\"seconds_left\":null,"
		"\"unlimited\":false},"
		"{\"comment\":null,\"configuration\":true,\"network\":\"2001:db8::/32\","
		"\"runtime\":false,\"seconds_left\":null,"
		"\"unlimited\":true}],\"list\":\"allow\"}\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
		TEST(words_become_networks),
		TEST(lines_become_networks),
		TEST(what_is_wrong_is_quoted),
		TEST(host_bits_are_told_of),
		TEST(there_is_an_end),
		TEST(failures_are_told),
		TEST(denied_players_are_counted),
		TEST(who_is_allowed_is_not_denied),
		TEST(part_that_stays_allowed_is_told),
		TEST(lists_are_shown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
