// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * `check`: what is said of files that are good, doubtful or wrong, and as JSON, where a
 * shield that is this file's says what could be attached.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <cmocka.h>

#include <jansson.h>

#include "cmd/cmd_print.h"
#include "cmd/cmd_support.h"
#include "cmd/commands.h"
#include "config/config.h"
#include "shield/shield.h"

const struct command commands[] = {
	{
		.name = "check",
		.run = cmd_check,
		.options = OPTION_BIT(CONFIG) | OPTION_BIT(SET) | OPTION_BIT(PRINT) |
			   OPTION_BIT(JSON),
		.operands = "",
	},
	{ .name = NULL },
};

static char path[] = "/tmp/test_cmd_check.XXXXXX", program[64];
static bool veth, taken;

bool shield_veth_native(const char *interface, enum attach_mode mode)
{
	return veth && mode != MODE_SKB && !strcmp(interface, "lo");
}

int shield_may_attach(const char *pin_dir, const char *interface, enum holder *ret,
		      char ret_why[SHIELD_WHY])
{
	assert_null(pin_dir);
	*ret = HOLDER_NONE;
	snprintf(ret_why, SHIELD_WHY, "%s",
		 taken && !strcmp(interface, "lo") ? "somebody is there" : "");
	return !strcmp(interface, "lo") ? taken ? -EBUSY : 0 : -ENODEV;
}

int call_config(const struct call *call, struct config *ret)
{
	const char *sets[WORDS] = { NULL };
	size_t n = 0;

	for (const struct given *g = NULL; (g = call_next(call, OPTION_SET, g));)
		sets[n++] = g->value;
	return config_load_set(call_value(call, OPTION_CONFIG), sets, ret);
}

/* `check @options` of a file with that text: its status. */
static int check(const char *options, const char *text)
{
	FILE *file = fopen(path, "we");
	char words[256];

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	snprintf(words, sizeof(words), "check -c %s %s", path, options);
	return say(words);
}

/* That status, and in what is said after the name of the file; "": nothing. */
static void says(const char *options, const char *text, int status, const char *out,
		 const char *err)
{
	int was = check(options, text);

	if (was != status || (*out ? !strstr(said_out, out) : *said_out) ||
	    (*err ? !strstr(said_err, err) : *said_err))
		fail_msg("%s: %d, '%s', '%s'", text, was, said_out, said_err);
}

#define A	"service a { protocol = quake3 port = 1 }\n"
#define B(more) "service b { protocol = quake3 port = {2, 3} " more " }\n"

static void good_files(void **state)
{
	char words[256];

	(void)state;
	says("", A, 0,
	     "no interface: `run` takes one with -i; for the systemd unit write "
	     "interface = {\"eth0\"}\n",
	     "");
	assert_non_null(strstr(said_out, ": ok, 1 service\n"));
	says("", "interface = {\"none9\"}\n" A, 0, ": ok, 1 service\n", "not on this");
	assert_null(strstr(said_out, "no interface"));

	says("", A B("cache = off"), 0, ": ok, 2 services\n", "");
	assert_null(strstr(said_out, "cache"));
	says("--print", A, 0, "port = {1}", "");
	assert_null(strstr(said_out, "ok"));
	says("--set deny=192.0.2.0/24", A, 0, ": ok", "");
	/* Nobody has written that there are answers, so it is no warning. */
	says("", A B(""), 0, "service 'b': cache = off; they take one port", "");
	assert_null(strstr(said_out, "'a'"));
	says("--json", A, 0, "{\"cache_unavailable\":0,\"file\":\"/tmp/test_cmd_check.",
	     "");
	snprintf(words, sizeof(words),
		 "\"%s\",\"interfaces\":0,\"messages\":[],\"ok\":true,\"services\":1}\n",
		 path);
	assert_non_null(strstr(said_out, words));
	says("--json", A B(""), 0, "{\"cache_unavailable\":1,", "");
	assert_non_null(strstr(said_out, "\"services\":2}"));
}

static void doubtful_files(void **state)
{
	(void)state;
	says("--set deny=0.0.0.0/0", A, 0, ": ok",
	     "deny = '0.0.0.0/0' is a large part of the internet");
	says("--set allow=10.0.0.0/7", A, 0, ": ok", "allow = '10.0.0.0/7' is a large");
	assert_null(strstr(said_err, "deny"));
	says("", A "interface = nosuch0\n", 0, ": ok",
	     ":2: warning: interface 'nosuch0' is not on");
	assert_null(strstr(said_err, "run would"));
	says("", A B("cache = under-load"), 0, ": ok",
	     "service 'b': its server cannot be asked, so nothing is answered for it: "
	     "that takes one port");
	says("", A "interface = lo\n", 0, ": ok", "");
	taken = true;
	says("", A "\ninterface = lo\n", 0, ": ok",
	     ":3: warning: run would fail: somebody is there");
	taken = false;
	veth = true;
	says("", A "interface = lo\n", 0, ": ok",
	     "interface 'lo' is a veth, whose other end may not hear what is sent back; off, "
	     "unless it is written: ");
	says("", A "interface = lo\nmode = skb\n", 0, ": ok", "");
	veth = false;
	says("--json", A "\ninterface = nosuch0\n", 0,
	     "\"messages\":[{\"file\":\"/tmp/test_cmd_check.", "");
	assert_non_null(
		strstr(said_out, "\"line\":3,\"message\":\"interface 'nosuch0' is"));
	assert_non_null(strstr(said_out, "\"warning\":true}]"));
	says("", A "include = \"/home/none-9/*.conf\"\n", 0, ": ok",
	     ":2: warning: include '/home/none-9/*.conf': the daemon does not see /home,");
	says("--json --set deny=0.0.0.0/0", A, 0,
	     "\"line\":null,\"message\":\"deny = ", "");
}

static void wrong_files(void **state)
{
	(void)state;
	says("", A "\nmode = turbo\n", 1, "", ":3: mode 'turbo'");
	says("--print", A "mode = turbo\n", 1, "", ":2: mode 'turbo'");
	says("--json", A "mode = turbo\n", 1, "\"line\":2,\"message\":\"mode 'turbo'",
	     "");
	assert_non_null(strstr(said_out, "{\"cache_unavailable\":0,"));
	assert_non_null(
		strstr(said_out, "\"warning\":false}],\"ok\":false,\"services\":0}"));
	/* What is not UTF-8 is shown by its octets. */
	says("--json", "service \"caf\351\" { protocol = quake3 port = 1 }\n", 1,
	     "caf\\\\xe9", "");
	refused("check -c /nonexistent/x", 1, "/nonexistent/x");
}

/* Commands that nobody could run when they are needed. */
static void commands_for_attacks(void **state)
{
	static const struct {
		const char *command, *text;
		mode_t mode;
	} rows[] = {
		{ "/bin/true", "", 0 },
		{ "/nonexistent/x", "on-attack: cannot run '/nonexistent/x': No such",
		  0 },
		{ "/etc", "'/etc' cannot be run by every user", 0 },
		{ program, "' cannot be run by every user", 0750 },
		{ program, "' is run where /home, /root and /tmp are not", 0755 },
	};
	char set[128];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (rows[i].mode)
			assert_int_equal(chmod(program, rows[i].mode), 0);
		snprintf(set, sizeof(set), "--set on-attack=%s", rows[i].command);
		says(set, A, 0, ": ok", rows[i].text);
	}
	/* Its first word alone is looked for. */
	assert_int_equal(check("", A "on-attack = \"/bin/true --loud\"\n"), 0);
	assert_string_equal(said_err, "");
}

/* @text with the path of the file for each %. */
static const char *of_file(const char *text)
{
	static char ret[4096];

	ret[0] = '\0';
	for (const char *next; (next = strchr(text, '%')); text = next + 1)
		sprintf(ret + strlen(ret), "%.*s%s", (int)(next - text), text, path);
	return strcat(ret, text);
}

/* All that can be doubted at once, word by word, in its order: as text and as JSON. */
static void all_that_is_doubtful(void **state)
{
	static const char file[] =
		"interface = { nosuch0, lo }\non-attack = \"/nonexistent/x -v\"\n"
		"allow = { 10.0.0.0/7, 192.0.2.1 }\ndeny = { 192.0.2.2, 0.0.0.0/0 }\n" A B(
			"cache = under-load") "service c { protocol = quake2 port = {4, 5} }\n"
					      "service d { protocol = quake2 port = 6 validation = off }\n";

	(void)state;
	taken = true;
	assert_int_equal(check("", file), 0);
	assert_string_equal(
		said_err,
		of_file("%:1: warning: interface 'nosuch0' is not on this machine now: it "
			"would be waited for\n"
			"%:1: warning: run would fail: somebody is there\n"
			"%: warning: on-attack: cannot run '/nonexistent/x': No such file or "
			"directory\n"
			"%: warning: service 'b': its server cannot be asked, so nothing is "
			"answered for it: that takes one port, and no more\n"
			"%: warning: allow = '10.0.0.0/7' is a large part of the internet\n"
			"%: warning: deny = '0.0.0.0/0' is a large part of the internet\n"));
	assert_string_equal(
		said_out, of_file("service 'c': cache = off; they take one port, and no "
				  "more\n%: ok, 4 services\n"));
	taken = false;
	veth = true;
	assert_int_equal(check("", file), 0);
	assert_non_null(strstr(
		said_err,
		of_file("directory\n%: warning: interface 'lo' is a veth, whose other end may "
			"not hear what is sent back; off, unless it is written: validation for 3 "
			"services, cache for 2 services\n%: warning: service 'b'")));
	assert_int_equal(check("--json", file), 0);
	assert_string_equal(said_err, "");
	assert_string_equal(
		said_out,
		of_file("{\"cache_unavailable\":1,\"file\":\"%\",\"interfaces\":2,\"messages\":["
			"{\"file\":\"%\",\"line\":1,\"message\":\"interface 'nosuch0' is not "
			"on this machine now: it would be waited for\",\"warning\":true},"
			"{\"file\":\"%\",\"line\":null,\"message\":\"on-attack: cannot run "
			"'/nonexistent/x': No such file or directory\",\"warning\":true},"
			"{\"file\":\"%\",\"line\":null,\"message\":\"interface 'lo' is a "
			"veth, whose other end may not hear what is sent back; off, unless it "
			"is written: validation for 3 services, cache for 2 services\","
			"\"warning\":true},"
			"{\"file\":\"%\",\"line\":null,\"message\":\"service 'b': its server "
			"cannot be asked, so nothing is answered for it: that takes one port, "
			"and no more\",\"warning\":true},"
			"{\"file\":\"%\",\"line\":null,\"message\":\"allow = '10.0.0.0/7' is "
			"a large part of the internet\",\"warning\":true},"
			"{\"file\":\"%\",\"line\":null,\"message\":\"deny = '0.0.0.0/0' is a "
			"large part of the internet\",\"warning\":true}],"
			"\"ok\":true,\"services\":4}\n"));
	veth = false;
	assert_int_equal(check("--json", A "mode = turbo\nallow = x\n"), 1);
	assert_string_equal(said_err, "");
}

/* A master server has neither; without the keys nothing is said, nor if they are off. */
static void master_has_no_validation_and_no_cache(void **state)
{
	static const char *const keys[] = { "", "validation = off cache = off",
					    "validation = under-load", "cache = always",
					    "validation = always cache = under-load" };
	char file[128];

	(void)state;
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		snprintf(file, sizeof(file),
			 "service l { protocol = master port = 7 %s }", keys[i]);
		assert_int_equal(check("", file), 0);
		assert_int_equal(strstr(said_err,
					"'l': validation has no effect: no client "
					"of a master server has a challenge") != NULL,
				 i == 2 || i == 4);
		assert_int_equal(strstr(said_err, "'l': its server cannot be asked") !=
					 NULL,
				 i == 3 || i == 4);
	}
}

/* Each of the places that the unit does not see, or sees another in. */
static void places_that_are_hidden(void **state)
{
	static const char *const places[] = { "/var/tmp/", "/tmp/", "/root/", "/home/" };

	(void)state;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		char there[128], set[160], want[512];
		int fd;

		snprintf(there, sizeof(there), "%stest_cmd_check-%d", places[i],
			 (int)getpid());
		fd = creat(there, 0755);
		if (fd < 0)
			continue; /* there is no such place here */
		close(fd);
		snprintf(set, sizeof(set), "--set on-attack=%s", there);
		assert_int_equal(check(set, A), 0);
		snprintf(
			want, sizeof(want),
			"%s: warning: on-attack: '%s' is run where /home, /root and /tmp "
			"are not to be seen\n",
			path, there);
		unlink(there);
		assert_string_equal(said_err, want);
	}
}

static int make(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	close(fd);
	snprintf(program, sizeof(program), "%s.sh", path);
	fd = creat(program, 0755);
	return fd < 0 ? fd : close(fd);
}

static int clean(void **state)
{
	(void)state;
	unlink(program);
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_files),
		cmocka_unit_test(doubtful_files),
		cmocka_unit_test(wrong_files),
		cmocka_unit_test(commands_for_attacks),
		cmocka_unit_test(all_that_is_doubtful),
		cmocka_unit_test(master_has_no_validation_and_no_cache),
		cmocka_unit_test(places_that_are_hidden),
	};

	return cmocka_run_group_tests(tests, make, clean);
}
