// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * `decode` as it is typed: what each option changes in what is said of the recordings of
 * tests/data, whose whole text is beside them. UPDATE=1 rewrites that.
 */
#include <fcntl.h>
#include <glob.h>
#include <minizip/zip.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "cmd/cmd_support.h"
#include "cmd/commands.h"

#define Q2	 "tests/data/q2/quake2-queries.pcap"
#define Q2S	 "tests/data/q2/quake2-session.pcap"
#define Q3	 "tests/data/q3/quake3-queries.pcap"
#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static char *whole_file(const char *path, size_t *n)
{
	FILE *file = fopen(path, "rb");
	char *text = calloc(1, SAID_OUT);

	assert_non_null(text);
	if (!file)
		fail_msg("%s is missing: UPDATE=1 makes it", path);
	*n = fread(text, 1, SAID_OUT - 1, file);
	fclose(file);
	return text;
}

/* Every field of every datagram, and the account of who plays. */
static void texts_are_whole(void **state)
{
	char words[512], path[512];
	glob_t paths;

	(void)state;
	assert_int_equal(glob("tests/data/*/*.pcap", 0, NULL, &paths), 0);
	for (size_t i = 0; i < paths.gl_pathc; i++) {
		char *text, *all;
		size_t n;

		snprintf(words, sizeof(words), "decode --verbose %s", paths.gl_pathv[i]);
		refused(words, 0, "");
		all = strdup(said_out);
		assert_non_null(all);
		snprintf(words, sizeof(words), "decode --lagometer %s",
			 paths.gl_pathv[i]);
		refused(words, 0, "");
		snprintf(path, sizeof(path), "%.*s.txt",
			 (int)strlen(paths.gl_pathv[i]) - 5, paths.gl_pathv[i]);
		if (getenv("UPDATE")) {
			FILE *file = fopen(path, "wb");

			assert_non_null(file);
			fprintf(file, "%s%s", all, said_out);
			fclose(file);
		}
		text = whole_file(path, &n);
		if (n != strlen(all) + strlen(said_out) ||
		    memcmp(text, all, strlen(all)) != 0 ||
		    strcmp(text + strlen(all), said_out) != 0)
			fail_msg("%s says something else", path);
		free(text);
		free(all);
	}
	globfree(&paths);
}

static size_t lines(void)
{
	size_t n = 0;

	for (const char *c = said_out; *c; c++)
		n += *c == '\n';
	return n;
}

static void options_choose(void **state)
{
	static const struct {
		const char *words;
		size_t lines;
		const char *has, *lacks; /* or NULL */
	} rows[] = {
		{ "decode " Q2, 28, " quake2 c2s status\n", "payload" },
		{ "decode --limit 3 " Q2, 3, NULL, NULL },
		{ "decode --limit 28 " Q2 " " Q3, 28, NULL, NULL },
		{ "decode --limit 29 " Q2 " " Q3, 29, "quake3", NULL },
		{ "decode --kind rcon,ack " Q2, 5, " ack", " status" },
		{ "decode --status malformed " Q2, 1, "malformed", NULL },
		{ "decode --kind status --limit 2 " Q2, 2, "protocolVersion 34",
		  " info" },
		{ "decode --host :34065 " Q2, 2, ":34065", ":34216" },
		{ "decode --host 10.67.0.2:34216,:34065 " Q2, 4, NULL, ":39067" },
		{ "decode --host 192.0.2.1 " Q2, 0, NULL, NULL },
		{ "decode --json " Q2, 28, "\"kind\":\"status\"", "\"file\"" },
		{ "decode --json " Q2 " " Q3, 0, ",\"file\":\"" Q2 "\"}\n", NULL },
		{ "decode --json --hex --limit 1 " Q2, 1,
		  ",\"payload\":\"ffffffff7374617475730a\"}\n", NULL },
		{ "decode --hex --limit 1 " Q2, 2,
		  "\n    payload \"ffffffff7374617475730a\"\n", NULL },
		/* What a password stands in is not shown. */
		{ "decode --json --hex --kind rcon " Q2, 3, "\"payload\":null",
		  "\"payload\":\"" },
		{ "decode --hex --kind rcon " Q2, 3, "***", "payload" },
		{ "decode --hex --show-secrets --kind rcon " Q2, 6, "payload", "***" },
		{ "decode --summary " Q2, 1,
		  "{\"file\":\"" Q2 "\",\"packets\":28,\"datagrams\":28,\"protocols\":"
		  "{\"quake2\":{\"datagrams\":27,\"decoded\":26,",
		  NULL },
		{ "decode --summary --json " Q2 " " Q3, 2, "{\"file\":\"" Q3 "\"", NULL },
		{ "decode --summary --kind rcon " Q2, 1, "\"kinds\":{\"rcon\":3}",
		  "print" },
		{ "decode --lagometer --json " Q2S, 2, "\"grunt1\"", "\"file\"" },
		{ "decode --lagometer --json " Q2S " " Q2, 2,
		  "{\"file\":\"" Q2S "\",\"player\":{", NULL },
		{ "decode --protocol quake3 --limit 1 " Q2, 1, " quake3 c2s ", NULL },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		refused(rows[i].words, 0, "");
		if ((rows[i].lines && lines() != rows[i].lines) ||
		    (rows[i].has && !strstr(said_out, rows[i].has)) ||
		    (rows[i].lacks && strstr(said_out, rows[i].lacks)))
			fail_msg("%s: %zu lines: %s", rows[i].words, lines(), said_out);
	}
	/* Of several files each is named in text too, if it is the account. */
	refused("decode --lagometer " Q2S " " Q2, 0, "");
	assert_ptr_equal(strstr(said_out, Q2S "\n10.67.0.2 port 43615 quake2"), said_out);
}

static void wrong_values_are_quoted(void **state)
{
	static const struct {
		const char *words;
		int status;
		const char *text;
	} rows[] = {
		{ "decode --protocol doom x", 2, "no such protocol: 'doom'" },
		{ "decode --as doom x", 2, "no such kind of demo: 'doom'" },
		{ "decode --kind rcon,, x", 2, "not a kind: ''" },
		{ "decode --status good x", 2, "no such status: 'good'" },
		{ "decode --host 1.2.3 x", 2, "not an address or :port: '1.2.3'" },
		{ "decode --limit 0 x", 2, "not a number: '0'" },
		{ "decode --limit 1x x", 2, "not a number: '1x'" },
		{ "decode --limit -1 x", 2, "not a number: '-1'" },
		{ "decode --limit 99999999999999999999 x", 2, "not a number: '9999" },
		{ "decode --trace --summary " Q2, 2,
		  "--trace does not go with: '--summary'" },
		{ "decode --lagometer --trace --json " Q2, 2,
		  "--trace does not go with: '--lagometer'" },
		{ "decode --psk 00 x", 2, "--psk and --psk-identity go together" },
		{ "decode --psk-identity a x", 2,
		  "--psk and --psk-identity go together" },
		{ "decode --psk 0g --psk-identity a x", 2, "not an even number of hex" },
		{ "decode --keylog /nonexistent/k x", 1, "/nonexistent/k: No such file" },
		{ "decode --extract /nonexistent/d x", 1,
		  "--extract '/nonexistent/d': " },
		{ "decode /nonexistent/x", 1, "/nonexistent/x: No such file" },
		{ "decode --filter nonsense " Q2, 1, Q2 ": " },
		{ "decode /dev/null", 1, "/dev/null: empty file" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		refused(rows[i].words, rows[i].status, rows[i].text);
	/* One that cannot be read does not keep the others from being shown. */
	assert_int_equal(say("decode /nonexistent/x --limit 1 " Q2), 1);
	assert_int_equal(lines(), 1);
}

/* What can be read of a damaged file is shown, then what was wrong with it. */
static void damaged_files_are_read(void **state)
{
	char *bytes, filtered[512];
	size_t n;

	(void)state;
	bytes = whole_file(Q2, &n);
	assert_int_equal(say_input("decode -", bytes, n), 0);
	assert_int_equal(lines(), 28);
	assert_int_equal(say_input("decode -", bytes, n - 1), 1);
	assert_int_equal(lines(), 27);
	assert_non_null(strstr(said_err, "-: after packet 27: "));
	assert_int_equal(say_input("decode -", bytes, 24), 0);
	assert_int_equal(lines(), 0);
	assert_string_equal(said_err, "");
	assert_int_equal(say_input("decode -", "nonsense", 8), 1);
	free(bytes);
	snprintf(filtered, sizeof(filtered), "decode --filter udp %s", Q2);
	refused(filtered, 0, "");
	assert_int_equal(lines(), 28);
	snprintf(filtered, sizeof(filtered), "decode --filter tcp %s", Q2);
	refused(filtered, 0, "");
	assert_int_equal(lines(), 0);
}

static void put(zipFile to, const char *name, const char *bytes, size_t n)
{
	assert_int_equal(zipOpenNewFileInZip(to, name, NULL, NULL, 0, NULL, 0, NULL,
					     Z_DEFLATED, 1),
			 ZIP_OK);
	assert_int_equal(zipWriteInFileInZip(to, bytes, (unsigned int)n), ZIP_OK);
	assert_int_equal(zipCloseFileInZip(to), ZIP_OK);
}

/* Each recording in an archive is a file; what else is there is passed over. */
static void archives_are_read(void **state)
{
	static const char none[] = "/tmp/cmd_decode_none.zip";
	static const char some[] = "/tmp/cmd_decode_some.zip";
	static const char pipe_name[] = "/tmp/cmd_decode_fifo";
	pid_t writer;
	zipFile to;
	char *bytes;
	size_t n;

	(void)state;
	bytes = whole_file(Q2, &n);
	to = zipOpen64(some, APPEND_STATUS_CREATE);
	assert_non_null(to);
	put(to, "readme", "not a recording", 15);
	put(to, "a/one.pcap", bytes, n);
	put(to, "two.pcap", bytes, n - 1);
	zipClose(to, NULL);
	to = zipOpen64(none, APPEND_STATUS_CREATE);
	assert_non_null(to);
	put(to, "readme", "not a recording", 15);
	zipClose(to, NULL);
	free(bytes);

	assert_int_equal(say("decode --summary /tmp/cmd_decode_some.zip"), 1);
	assert_int_equal(lines(), 2);
	assert_non_null(strstr(said_out,
			       "{\"file\":\"/tmp/cmd_decode_some.zip:a/one.pcap\","
			       "\"packets\":28,"));
	assert_non_null(strstr(said_out,
			       "{\"file\":\"/tmp/cmd_decode_some.zip:two.pcap\","
			       "\"packets\":27,"));
	assert_non_null(strstr(said_err, "some.zip:two.pcap: after packet 27: "));
	assert_null(strstr(said_err, "readme"));
	assert_int_equal(say("decode --json --limit 1 /tmp/cmd_decode_some.zip"), 0);
	assert_int_equal(lines(), 1);
	assert_non_null(
		strstr(said_out, ",\"file\":\"/tmp/cmd_decode_some.zip:a/one.pcap\"}"));
	refused("decode /tmp/cmd_decode_none.zip", 1,
		"/tmp/cmd_decode_none.zip: no capture or demo that is known in it");
	bytes = whole_file(some, &n);
	assert_int_equal(say_input("decode -", bytes, n), 1);
	assert_non_null(strstr(said_err, "-: a zip archive cannot be read from a pipe"));
	assert_int_equal(mkfifo(pipe_name, 0600), 0);
	writer = fork();
	if (!writer) {
		int fd = open(pipe_name, O_WRONLY);

		signal(SIGPIPE, SIG_IGN);
		_exit(write(fd, bytes, n) < 0);
	}
	refused("decode /tmp/cmd_decode_fifo", 1,
		"/tmp/cmd_decode_fifo: a zip archive cannot be read from a pipe");
	waitpid(writer, NULL, 0);
	unlink(pipe_name);
	free(bytes);
	assert_int_equal(truncate(some, 300), 0);
	refused("decode /tmp/cmd_decode_some.zip", 1,
		"/tmp/cmd_decode_some.zip: a zip archive that is cut off");
	unlink(some);
	unlink(none);
}

static void recordings_not_begun_by_an_engine(void **state)
{
	static const struct {
		const char *words, *has;
	} rows[] = {
		{ "decode --summary tests/data/q3/urbanterror.urtdemo",
		  "\"packets\":3,\"datagrams\":3,\"protocols\":{\"quake3\":{\"datagrams\":3,"
		  "\"decoded\":3," },
		{ "decode --json tests/data/q3/urbanterror.urtdemo",
		  "\"kind\":\"demo-header\",\"status\":\"decoded\",\"version\":\"4.3.4\","
		  "\"protocolVersion\":68}" },
		{ "decode --summary tests/data/qw/print-before-serverdata.mvd",
		  "\"quakeworld\":{\"datagrams\":4,\"decoded\":4," },
		{ "decode --summary tests/data/q2/quake2-protocol25.dm2",
		  "\"quake2\":{\"datagrams\":2,\"decoded\":0,\"partial\":0,\"opaque\":2," },
		{ "decode --json tests/data/q2/quake2-protocol25.dm2",
		  "\"reason\":\"this protocol's messages are not known\","
		  "\"protocolVersion\":25," },
		{ "decode --summary tests/data/two-linktypes.pcapng",
		  "\"packets\":5,\"datagrams\":5," },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		refused(rows[i].words, 0, "");
		if (!strstr(said_out, rows[i].has))
			fail_msg("%s: %s", rows[i].words, said_out);
	}
}

/* What nothing recognises is read as what the user says that it is. */
static void files_are_what_the_user_says(void **state)
{
	static const char middle[] = "\1\6\3\0\0\0\x02\0\0\2\6\1\0\0\0\1";

	(void)state;
	assert_int_equal(say_input("decode -", middle, sizeof(middle) - 1), 1);
	assert_non_null(strstr(said_err, "-: neither a capture nor a demo"));
	assert_int_equal(
		say_input("decode --as mvd --json -", middle, sizeof(middle) - 1), 0);
	assert_int_equal(lines(), 2);
	assert_non_null(strstr(said_out, "\"protocol\":\"quakeworld\""));
	assert_int_equal(say_input("decode --as dm2 -", middle, sizeof(middle) - 1), 1);
	assert_non_null(strstr(said_err, "-: after block 0: "));
}

/* What stdout did not take is an error, and no success. */
static void a_full_disk_is_told(void **state)
{
	int kept = dup(1), full = open("/dev/full", O_WRONLY), status;
	char words[][64] = { "decode", Q2 }, *argv[] = { words[0], words[1], NULL };
	const struct command *command = command_find(commands, "decode");
	struct call call;

	(void)state;
	assert_true(kept >= 0 && full >= 0);
	assert_int_equal(call_parse(command, 2, argv, &call), 0);
	fflush(stdout);
	dup2(full, 1);
	status = run_call(&call);
	dup2(kept, 1);
	close(kept);
	close(full);
	call_free(&call);
	assert_int_equal(status, EXIT_REST);
}

static int begin(void **state)
{
	(void)state;
	say_apart = true;
	return setenv("TZ", "UTC", 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_whole),
		cmocka_unit_test(options_choose),
		cmocka_unit_test(wrong_values_are_quoted),
		cmocka_unit_test(damaged_files_are_read),
		cmocka_unit_test(archives_are_read),
		cmocka_unit_test(recordings_not_begun_by_an_engine),
		cmocka_unit_test(files_are_what_the_user_says),
		cmocka_unit_test(a_full_disk_is_told),
	};

	return cmocka_run_group_tests(tests, begin, NULL);
}
