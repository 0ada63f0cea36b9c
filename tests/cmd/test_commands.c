// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * How command lines are read, what help says, and what shells are told: by the real rows
 * of commands.c, and by some of this file's.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cmd/cmd_support.h"
#include "cmd/commands.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

/* What @words are read as: options by number with their values, then operands. */
static void read_as(const char *words, const char *expected)
{
	char copy[512], text[512] = "", *argv[WORDS + 1], *rest = NULL;
	struct call call;
	int argc = 0;

	snprintf(copy, sizeof(copy), "%s", words);
	for (char *word = strtok_r(copy, " ", &rest); word;
	     word = strtok_r(NULL, " ", &rest))
		argv[argc++] = word;
	argv[argc] = NULL;
	assert_int_equal(call_parse(command_find(commands, argv[0]), argc, argv, &call),
			 0);
	for (size_t i = 0; i < call.given_count; i++) {
		const char *value = call.given[i].value;

		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s%s;",
			 option_rows[call.given[i].option].name, value ? "=" : "",
			 value ? value : "");
	}
	for (int i = 0; i < call.operand_count; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), " %s",
			 call.operands[i]);
	assert_null(call.operands[call.operand_count]);
	assert_string_equal(text, expected);
	call_free(&call);
	assert_int_equal(call.given_count, 0);
}

static void lines_are_read(void **state)
{
	(void)state;
	read_as("run", "");
	read_as("run -i eth0 --interface=eth1 -c x --observe",
		"interface=eth0;interface=eth1;config=x;observe;");
	read_as("run -ieth0 --set a=b --set=c=", "interface=eth0;set=a=b;set=c=;");
	read_as("decode a b", " a b");
	/* Options may stand behind operands, and what stands behind -- is none. */
	read_as("decode a --json b -v", "json;verbose; a b");
	read_as("decode -- --json", " --json");
	read_as("decode -", " -");
	/* Whole names only where two begin alike; a part of one is enough. */
	read_as("decode --summ x", "summary; x");
	/* Who asks for help needs no more. */
	read_as("decode -h", "help;");
	read_as("help a b -V", "version; a b");
	/* More letters than words. */
	read_as("decode -vvvvv x", "verbose;verbose;verbose;verbose;verbose; x");
	read_as("decode -vvvv --limit 7 x", "verbose;verbose;verbose;verbose;limit=7; x");
}

static void values_are_found(void **state)
{
	static const char *const words[] = { "run", "-i", "a", "--mode",
					     "skb", "-i", "b", NULL };
	char *argv[COUNT(words)];
	const struct given *g;
	struct call call;

	(void)state;
	memcpy(argv, words, sizeof(argv));
	assert_int_equal(call_parse(command_find(commands, "run"), COUNT(words) - 1, argv,
				    &call),
			 0);
	assert_true(call_has(&call, OPTION_INTERFACE));
	assert_false(call_has(&call, OPTION_OBSERVE));
	assert_string_equal(call_value(&call, OPTION_INTERFACE), "b");
	assert_string_equal(call_value(&call, OPTION_MODE), "skb");
	assert_null(call_value(&call, OPTION_PIN));
	g = call_next(&call, OPTION_INTERFACE, NULL);
	assert_string_equal(g->value, "a");
	g = call_next(&call, OPTION_INTERFACE, g);
	assert_string_equal(g->value, "b");
	assert_null(call_next(&call, OPTION_INTERFACE, g));
	call_free(&call);
}

static void wrong_lines_are_quoted(void **state)
{
	static const struct {
		const char *words, *text;
	} rows[] = {
		{ "run --nonsense", "run: no such option: '--nonsense' (see --help)\n" },
		{ "run --obserev",
		  "no such option: '--obserev' (did you mean --observe)\n" },
		{ "run --moed=skb", "'--moed=skb' (did you mean --mode)\n" },
		{ "decode --secrets a", "'--secrets' (did you mean --show-secrets)\n" },
		{ "run --secrets", "(see --help)" },
		/* An option of another command is none that was meant. */
		{ "run --onec", "(see --help)" },
		{ "run --ofasdfasdfasdfasdfasdfasdfasdfasdfasd", "(see --help)" },
		{ "run -Z", "run: no such option: '-Z' (see --help)\n" },
		{ "run -v", "run: no such option: '-v'" },
		{ "run --observe=yes",
		  "run: '--observe=yes': this option takes no value\n" },
		{ "run --mode", "run: '--mode' needs a value\n" },
		{ "run -i", "run: '-i' needs a value\n" },
		{ "run eth0", "run: unexpected argument: 'eth0'\n" },
		{ "completion a b", "completion: unexpected argument: 'b'\n" },
		{ "decode",
		  "decode: something is missing behind 'decode': FILE... (see" },
		{ "decode --json", "something is missing behind '--json'" },
		{ "completion csh", "no such shell: 'csh'" },
		{ "help nonsense", "help: no such command: 'nonsense'" },
		{ "load", "--pin DIR says where" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		refused(rows[i].words, EXIT_USAGE, rows[i].text);
	assert_null(command_find(commands, "nonsense"));
	assert_null(command_find(commands, ""));
}

static void statuses_tell_why(void **state)
{
	(void)state;
	assert_int_equal(exit_status(0), 0);
	assert_int_equal(exit_status(-EPERM), EXIT_DENIED);
	assert_int_equal(exit_status(-EACCES), EXIT_DENIED);
	assert_int_equal(exit_status(-ENOENT), EXIT_REST);
}

/* @text is a whole line, or more of them, of what was said. */
static void has_line(const char *text)
{
	const char *at = strstr(said_out, text);

	while (at && at != said_out && at[-1] != '\n')
		at = strstr(at + 1, text);
	if (!at)
		fail_msg("missing: %s", text);
}

static void help_is_whole(void **state)
{
	(void)state;
	refused("help", 0, "");
	for (const struct command *c = commands; c->name; c++) {
		char line[128];

		snprintf(line, sizeof(line), "  quakeshield %-10s %s\n", c->name,
			 c->help);
		has_line(line);
	}
	refused("help check", 0, "");
	assert_string_equal(
		said_out,
		"usage: quakeshield check [OPTION]...\n"
		"validate a configuration\n\n"
		"  -c, --config FILE          the configuration; default "
		"/etc/quakeshield.conf\n"
		"      --set KEY=VALUE        in place of what the file says; may be "
		"repeated\n"
		"      --print                show it with every default written out\n"
		"      --json                 for programs: JSON, an object a line\n"
		"  -h, --help                 this text\n"
		"  -V, --version              the version\n");
	refused("help deny", 0, "");
	has_line("usage: quakeshield deny [OPTION]... add|del NETWORK... | list\n");
	has_line("      --for TIME             it ends by itself then: 90s, 10m, 1h30m, "
		 "7d\n");
	has_line("\nNETWORK is 203.0.113.7, 203.0.113.0/24 or 2001:db8::/32; - reads "
		 "them from\n");
	assert_null(strstr(said_out, "--unlimited"));
}

static void bash_is_told(void **state)
{
	(void)state;
	refused("completion bash", 0, "");
	has_line(
		"\t\t_quakeshield_words 'run check probe discover load reload stats explain watch "
		"attacks on-attack status allow deny top lag detach decode replay completion help --help "
		"--version'\n"
		"\t\treturn\n\tfi\n\tcase $before in\n"
		"\t-c | --config) _quakeshield_paths -f; return ;;\n"
		"\t--set) _quakeshield_words ''; return ;;\n"
		"\t-i | --interface) _quakeshield_words \"$(ls /sys/class/net)\"; return "
		";;\n"
		"\t--mode) _quakeshield_words 'auto native skb'; return ;;\n"
		"\t--confirm) _quakeshield_words '30 60 300'; return ;;\n"
		"\t--trial) _quakeshield_paths -f; return ;;\n"
		"\t--for) _quakeshield_words '10m 1h 1d 7d'; return ;;\n");
	has_line(
		"\t--protocol) _quakeshield_words 'netquake quakeworld quake2 quake3 quake-enhanced "
		"auto master'; return ;;\n"
		"\t--as) _quakeshield_words 'dem qwd mvd dm2 mvd2 dm_68 dm3 urtdemo'; "
		"return ;;\n"
		"\t--extract) _quakeshield_paths -d; return ;;\n");
	has_line("\tcheck)\n\t\tcase $word in\n"
		 "\t\t-*) _quakeshield_words '-c --config --set --print --json -h --help "
		 "-V --version ' ;;\n"
		 "\t\t*) _quakeshield_words '' ;;\n"
		 "\t\tesac ;;\n");
	has_line("\t\t*) _quakeshield_words 'add del list' ;;\n");
	has_line("\t\t*) _quakeshield_paths -f ;;\n");
	assert_non_null(
		strstr(said_out, "\tesac\n}\n\ncomplete -F _quakeshield quakeshield\n"));
	assert_non_null(strstr(said_out, " getstatus getinfo getchallenge connect "));
}

static void zsh_is_told(void **state)
{
	(void)state;
	refused("completion zsh", 0, "");
	has_line("#compdef quakeshield\n");
	has_line("\tcommands=(\n"
		 "\t\t'run:the daemon\\: protect interfaces, in the foreground'\n"
		 "\t\t'check:validate a configuration'\n");
	has_line("\tcheck)\n\t\t_arguments -s \\\n"
		 "\t\t\t'*'{-c,--config}'[the configuration; default "
		 "/etc/quakeshield.conf]:FILE:_files' \\\n"
		 "\t\t\t'*''--set[in place of what the file says; may be "
		 "repeated]:KEY=VALUE:' \\\n"
		 "\t\t\t'*''--print[show it with every default written out]' \\\n"
		 "\t\t\t'*''--json[for programs\\: JSON, an object a line]' \\\n"
		 "\t\t\t'*'{-h,--help}'[this text]' \\\n"
		 "\t\t\t'*'{-V,--version}'[the version]' ;;\n");
	has_line("\t\t\t'*:FILE...:_files' ;;\n");
	has_line("\t\t\t'*:bash|zsh|fish:(bash zsh fish)' ;;\n");
	assert_non_null(strstr(said_out, ":IFACE:_net_interfaces' \\\n"));
	assert_non_null(strstr(said_out, ":DIR:_files -/' \\\n"));
	assert_non_null(strstr(said_out, ":MODE:(auto native skb)' \\\n"));
	assert_non_null(
		strstr(said_out, "only to or from these\\: ADDRESS, ADDRESS\\:PORT"));
}

static void fish_is_told(void **state)
{
	(void)state;
	refused("completion fish", 0, "");
	has_line("complete -c quakeshield -f\n");
	has_line(
		"complete -c quakeshield -n __fish_use_subcommand -a check -d 'validate a "
		"configuration'\n"
		"complete -c quakeshield -n '__fish_seen_subcommand_from check' -s c -l "
		"config -r -F -d 'the configuration; default /etc/quakeshield.conf'\n"
		"complete -c quakeshield -n '__fish_seen_subcommand_from check' -l set -r "
		"-d 'in place of what the file says; may be repeated'\n"
		"complete -c quakeshield -n '__fish_seen_subcommand_from check' -l print "
		"-d 'show it with every default written out'\n");
	has_line(
		"complete -c quakeshield -n '__fish_seen_subcommand_from run' -s i -l "
		"interface -r -a '(__fish_print_interfaces)' -d 'this interface instead "
		"of the file\\'s; may be repeated'\n"
		"complete -c quakeshield -n '__fish_seen_subcommand_from run' -l mode -r "
		"-a 'auto native skb' -d 'auto tries native XDP, then generic (skb)'\n");
	has_line(
		"complete -c quakeshield -n '__fish_seen_subcommand_from decode' -l extract "
		"-r -a '(__fish_complete_directories)' -d 'put files that were downloaded "
		"in the game into DIR'\n");
	has_line("complete -c quakeshield -n '__fish_seen_subcommand_from decode' -F\n");
	has_line("complete -c quakeshield -n '__fish_seen_subcommand_from completion' -a "
		 "'bash zsh fish'\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_read),
		cmocka_unit_test(values_are_found),
		cmocka_unit_test(wrong_lines_are_quoted),
		cmocka_unit_test(statuses_tell_why),
		cmocka_unit_test(help_is_whole),
		cmocka_unit_test(bash_is_told),
		cmocka_unit_test(zsh_is_told),
		cmocka_unit_test(fish_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
