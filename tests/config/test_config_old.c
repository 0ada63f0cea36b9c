// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_config_old.c - a key of before the first release is an error that quotes it, names
 * its line and says what it is called now. And what replaced `ledger`: a limit with a
 * mode.
 */
#include "config/config_support.h"

static const struct {
	const char *text, *says;
} renamed[] = {
	{ FFA "ledger { allowance = 9000 }\n",
	  "t.conf:2: 'ledger' was renamed: write 'amplification'\n" },
	{ FFA "\nproof { rate = 9/s }\n", "t.conf:3: 'proof' was renamed: write "
					  "'validation'\n" },
	{ FFA "answers { rate = 9000 }\n", "t.conf:2: 'answers' was renamed: write "
					   "'cache'\n" },
	{ FFA "on_exit = keep\n", "t.conf:2: 'on_exit' was renamed: write 'on-exit'\n" },
	{ SERVICE("proof = off"), "t.conf:4: 'proof' was renamed: write 'validation'\n" },
	{ SERVICE("answers = off"), "t.conf:4: 'answers' was renamed: write 'cache'\n" },
	{ SERVICE("rcon {\nglobal = 0 }"), "t.conf:5: 'global' was renamed: write "
					   "'service'\n" },
	{ SERVICE("validation = pressure"),
	  "t.conf:4: validation 'pressure' was renamed: write 'under-load'\n" },
	{ SERVICE("cache = pressure"),
	  "t.conf:4: cache 'pressure' was renamed: write 'under-load'\n" },
	{ FFA "amplification {\nwindow = 9 }\n",
	  "t.conf:3: 'window' was renamed: write 'refill'\n" },
	{ FFA "amplification { strict = no }\n",
	  "t.conf:2: 'strict' was renamed: write 'mode = limit' or 'mode = strict'\n" },
	{ FFA "cache { rate = 9000 }\n",
	  "t.conf:2: 'rate' was renamed: write 'bytes-per-second'\n" },
	{ FFA "sample { every = 4 }\n",
	  "t.conf:2: 'every' was renamed: write 'one-in'\n" },
	{ FFA "follow { one_in = 4 }\n",
	  "t.conf:2: 'one_in' was renamed: write 'one-in'\n" },
	{ FFA "follow { psk_identity = a }\n",
	  "t.conf:2: 'psk_identity' was renamed: write 'psk-identity'\n" },
	{ FFA "follow { psk_file = /a }\n",
	  "t.conf:2: 'psk_file' was renamed: write 'psk-file'\n" },
	{ FFA "output { cpu = 5 }\n",
	  "t.conf:2: 'cpu' was renamed: write 'cpu-percent'\n" },
	{ FFA "amplification { withhold = yes }\n",
	  "t.conf:2: 'withhold' was removed: leave it out\n" },
	{ FFA "global = 1/s\n", "t.conf:2: no such option 'global'\n" },
	{ SERVICE("global = 1/s"), "t.conf:4: no such option 'global'\n" },
	/* Where it never was a key it is no old one; nor is an old value another key's.
	 */
	{ FFA "every = 4\n", "t.conf:2: no such option 'every'\n" },
	{ FFA "mode = pressure\n", "t.conf:2: mode 'pressure' is not one of: auto, "
				   "native, skb\n" },
	/* An allowance of 0 switched the limit off. */
	{ FFA "amplification { allowance = 0 }\n",
	  "t.conf:2: allowance '0' allows nothing: write `mode = strict` for no more out "
	  "than in, or `mode = off` for no limit\n" },
	{ FFA "amplification { mode = off\nallowance = 00 }\n",
	  "t.conf:3: allowance '00' allows nothing: write `mode = strict` for no more out "
	  "than in, or `mode = off` for no limit\n" },
	{ FFA "amplification { mode = yes }\n",
	  "t.conf:2: mode 'yes' is not one of: off, limit, strict\n" },
};

static void old_keys_are_errors(void **state)
{
	char said[1024];

	(void)state;
	for (size_t i = 0; i < COUNT(renamed); i++) {
		assert_int_equal(load(renamed[i].text, &config, said, sizeof(said)),
				 -EINVAL);
		assert_string_equal(said, renamed[i].says);
	}
}

static void old_keys_are_errors_on_the_command_line(void **state)
{
	static const struct {
		const char *set, *says;
	} rows[] = {
		{ "on_exit=keep", "--set: 'on_exit': 'on_exit' was renamed: write "
				  "'on-exit'\n" },
		{ "ledger.window=9", "--set: 'ledger.window': 'ledger' was renamed: "
				     "write 'amplification'\n" },
		{ "amplification.window=9", "--set: 'amplification.window': 'window' was "
					    "renamed: write 'refill'\n" },
		{ "service.ffa.proof=off", "--set: 'service.ffa.proof': 'proof' was "
					   "renamed: write 'validation'\n" },
		{ "service.ffa.query.global=1/s",
		  "--set: 'service.ffa.query.global': 'global' was renamed: write "
		  "'service'\n" },
		{ "output.cpu=5", "--set: 'output.cpu': 'cpu' was renamed: write "
				  "'cpu-percent'\n" },
		{ "amplification.withhold=no", "--set: 'amplification.withhold': "
					       "'withhold' was removed: leave it out\n" },
		{ "global=1/s", "--set: no such key: 'global' (as in `mode`, "
				"`metrics.listen`, `service.NAME.port`, of a service "
				"that the file has)\n" },
	};
	char said[1024];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *const sets[] = { rows[i].set, NULL };

		file_write(FFA, strlen(FFA));
		stderr_catch();
		assert_int_equal(config_load_set(FILE_NAME, sets, &config), -EINVAL);
		stderr_release(said, sizeof(said));
		assert_string_equal(said, rows[i].says);
	}
}

static void the_limit_has_a_mode(void **state)
{
	static const struct {
		const char *text;
		__u32 allowance;
		bool strict;
	} rows[] = {
		{ "amplification { }", AMPLIFICATION_ALLOWANCE, false },
		{ "amplification { mode = limit }", AMPLIFICATION_ALLOWANCE, false },
		{ "amplification { mode = limit allowance = 1 }", 1, false },
		{ "amplification { mode = off }", 0, false },
		{ "amplification { mode = off refill = 3 }", 0, false },
		{ "amplification { mode = strict }", AMPLIFICATION_ALLOWANCE, true },
	};
	static struct config again;
	char text[256];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		snprintf(text, sizeof(text), "%s\n" FFA, rows[i].text);
		load_good(text);
		assert_int_equal(config.amplification_allowance, rows[i].allowance);
		assert_int_equal(config.amplification_strict, rows[i].strict);
		print_and_read(&config, &again);
	}
}

/* The other modes have none: what was chosen is said to do nothing. */
static void an_allowance_is_the_limit_s(void **state)
{
	static const struct {
		const char *mode;
		__u32 allowance;
		bool strict;
	} rows[] = {
		{ "off", 0, false },
		{ "strict", AMPLIFICATION_ALLOWANCE, true },
	};
	static struct config again;
	char text[256], said[1024];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		snprintf(text, sizeof(text),
			 FFA "amplification {\nallowance = 9000 mode = %s }\n",
			 rows[i].mode);
		assert_int_equal(load(text, &config, said, sizeof(said)), 0);
		assert_string_equal(said, "t.conf:3: warning: allowance '9000' has no "
					  "effect in this mode: write `mode = limit`, or "
					  "leave `allowance` out\n");
		assert_int_equal(config.amplification_allowance, rows[i].allowance);
		assert_int_equal(config.amplification_strict, rows[i].strict);
		print_and_read(&config, &again);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(old_keys_are_errors),
		cmocka_unit_test(old_keys_are_errors_on_the_command_line),
		cmocka_unit_test(the_limit_has_a_mode),
		cmocka_unit_test(an_allowance_is_the_limit_s),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
