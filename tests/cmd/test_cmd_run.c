// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_cmd_run.c - `run` up to where it would take the machine: what the command line
 * says goes before the file, what is wrong with either is said, and what others are told
 * of how it was started. Each daemon is a child, which ends at its claim.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "apart.h"
#include "cmd/cmd_support.h"
#include "daemon/pidfile.h"

#define COUNT(a)      (sizeof(a) / sizeof(*(a)))
#define DIR	      "/run/test"
#define FILE_OF(name) DIR "/" name

/* Of the last daemon, written by the child. */
static struct claimed {
	int count, released, answer; /* what the claim gives */
	char pin[64];
	struct daemon_facts facts;
	mode_t mask;
	bool blocked[65]; /* signals */
} * claimed;

int pidfile_claim(const char *pin_dir, const struct daemon_facts *facts)
{
	sigset_t mask;

	claimed->count++;
	snprintf(claimed->pin, sizeof(claimed->pin), "%s", pin_dir ? pin_dir : "");
	claimed->facts = *facts;
	claimed->mask = umask(0);
	sigprocmask(SIG_BLOCK, NULL, &mask);
	for (int i = 1; i < 65; i++)
		claimed->blocked[i] = sigismember(&mask, i) == 1;
	return claimed->answer;
}

void pidfile_release(const char *pin_dir)
{
	(void)pin_dir;
	claimed->released++;
}

bool pidfile_facts(const char *pin_dir, struct daemon_facts *ret)
{
	(void)pin_dir;
	(void)ret;
	return false;
}

pid_t pidfile_pid(const char *pin_dir)
{
	(void)pin_dir;
	return 0;
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static int begin(void **state)
{
	(void)state;
	memset(claimed, 0, sizeof(*claimed));
	claimed->answer = -EBUSY;
	if (!apart_mount("tmpfs", "/run") || mkdir(DIR, 0755) || chdir(DIR))
		return -1;
	write_file(FILE_OF("bare"), "service \"a\" { protocol = quake3 port = 27960 }\n");
	write_file(FILE_OF("full"), "interface = eth0\n"
				    "service \"a\" { protocol = quake3 port = 27960 }\n");
	write_file(FILE_OF("wrong"), "interface = eth0\nno-such-key = 1\n");
	return 0;
}

static int end(void **state)
{
	(void)state;
	return chdir("/") | umount2("/run", MNT_DETACH);
}

/* The exit status of `run @words`; @says is on stderr. */
static void ends(const char *words, int status, bool claims, const char *says)
{
	char line[512];
	int was;

	claimed->count = 0;
	snprintf(line, sizeof(line), "run %s", words);
	was = say(line);
	if (was != status || claimed->count != claims || !strstr(said_err, says))
		fail_msg("'%s': %d, %d claims, '%s'", line, was, claimed->count,
			 said_err);
}

static void what_is_wrong_is_said_before_anything_is_taken(void **state)
{
	(void)state;
	ends("-c full --mode turbo", EXIT_USAGE, false,
	     "no such mode: 'turbo' (auto, native or skb)");
	ends("-c full -i abcdefghijklmnop", EXIT_USAGE, false,
	     "not an interface name: 'abcdefghijklmnop'");
	ends("-c full --interface=", EXIT_USAGE, false, "not an interface name: ''");
	ends("-c full -ia -ib -ic -id -ie -if -ig -ih -ii -ij -ik -il -im -in -io -ip -iq",
	     EXIT_USAGE, false, "more than 16 interfaces: 'q'");
	ends("-c bare", EXIT_REST, false, "no interface: name one with -i");
	ends("-c wrong", EXIT_REST, false, "no-such-key");
	ends("-c none", EXIT_REST, false, "none");
	ends("-c full --set no-such-key=1", EXIT_REST, false, "no-such-key");
	/* As much as there may be. */
	ends("-c bare -i abcdefghijklmno --mode skb", EXIT_REST, true, "");
	ends("-c full -ia -ib -ic -id -ie -if -ig -ih -ii -ij -ik -il -im -in -io -ip",
	     EXIT_REST, true, "");
	for (size_t i = 0; i < 2; i++)
		ends(i ? "-c full --mode auto" : "-c full --mode native", EXIT_REST, true,
		     "");
}

static void others_are_told_how_it_was_started(void **state)
{
	static const struct {
		const char *words, *pin, *config;
		bool observe, interfaces, set;
	} rows[] = {
		{ "-c full", "", FILE_OF("full"), false, false, false },
		{ "-c ../test/full --observe", "", FILE_OF("full"), true, false, false },
		{ "-c bare -i eth1", "", FILE_OF("bare"), false, true, false },
		{ "-c full --set observe=true", "", FILE_OF("full"), false, false, true },
		{ "-c full --pin /sys/fs/bpf/lab", "/sys/fs/bpf/lab", FILE_OF("full"),
		  false, false, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct daemon_facts *facts = &claimed->facts;

		ends(rows[i].words, EXIT_REST, true, "");
		assert_string_equal(claimed->pin, rows[i].pin);
		assert_string_equal(facts->config, rows[i].config);
		assert_int_equal(facts->observe, rows[i].observe);
		assert_int_equal(facts->interfaces, rows[i].interfaces);
		assert_int_equal(facts->set, rows[i].set);
	}
}

/* What is left behind nobody else writes to, and no signal ends it halfway. */
static void it_is_ready_before_it_claims(void **state)
{
	static const int taken[] = { SIGHUP, SIGUSR1, SIGUSR2, SIGINT, SIGTERM };
	mode_t before = umask(0);

	(void)state;
	ends("-c full", EXIT_REST, true, "");
	assert_int_equal(claimed->mask, 022);
	umask(077);
	ends("-c full", EXIT_REST, true, "");
	assert_int_equal(claimed->mask, 077);
	umask(before);
	for (size_t i = 0; i < COUNT(taken); i++)
		assert_true(claimed->blocked[taken[i]]);
	assert_false(claimed->blocked[SIGCHLD]);
}

/* Another's claim is not ours to release. */
static void statuses_say_why(void **state)
{
	(void)state;
	ends("-c full", EXIT_REST, true, "");
	claimed->answer = -EACCES;
	ends("-c full", EXIT_DENIED, true, "");
	claimed->answer = -EPERM;
	ends("-c full", EXIT_DENIED, true, "");
	assert_int_equal(claimed->released, 0);
}

#undef TEST
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_wrong_is_said_before_anything_is_taken),
		TEST(others_are_told_how_it_was_started),
		TEST(it_is_ready_before_it_claims),
		TEST(statuses_say_why),
	};

	claimed = mmap(NULL, sizeof(*claimed), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (claimed == MAP_FAILED)
		return 1;
	say_apart = true;
	if (!apart(CLONE_NEWNS) || !apart_mount("bpf", "/sys/fs/bpf"))
		return apart_refused();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
