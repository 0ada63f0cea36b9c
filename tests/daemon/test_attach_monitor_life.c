// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_attach_monitor_life.c - all that the monitor asks of a shield and all that it
 * says, step by step, as one text: who may, who has it, in which mode, when again to the
 * second, and what of an interface is gone. Shield, interfaces and clock are the test's
 * own.
 */
#include <errno.h>
#include <net/if.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "daemon/attach_monitor.h"
#include "daemon/pidfile.h"
#include "lib/log.h"
#include "stderr.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define ME	 "quakeshield: "
#define WARN	 ME "warning: "
#define SHIELD	 ((struct shield *)&config)

static struct nic {
	char name[8];
	unsigned int ifindex; /* 0: it is not there */
	__u32 program_id;
	int look_err, attach_err; /* attach_err 1: newly attached */
	enum holder holder;
	enum attach_mode mode; /* that it gets */
	bool linked;
	struct shield_link link;
} nics[3], nowhere, *called = &nowhere; /* the one that has the name game0, too */

static struct attach_monitor monitor;
static struct config config;
static char said[4096], asked[4096];
static time_t now_s;
static pid_t daemon_pid;
static size_t more_links;

static void note(const char *format, ...)
{
	size_t n = strlen(asked);
	va_list args;

	va_start(args, format);
	vsnprintf(asked + n, sizeof(asked) - n, format, args);
	va_end(args);
}

static struct nic *nic_of(const char *interface)
{
	for (size_t i = 0; i < COUNT(nics); i++)
		if (!strcmp(nics[i].name, interface))
			return &nics[i];
	if (!strcmp(interface, "game0"))
		return called;
	fail_msg("'%s' was never named", interface);
	return NULL;
}

int clock_gettime(clockid_t clock, struct timespec *ret)
{
	/* The other one is cmocka's. */
	*ret = (struct timespec){ .tv_sec = clock == CLOCK_MONOTONIC ? now_s : 0 };
	return 0;
}

unsigned int if_nametoindex(const char *interface)
{
	return nic_of(interface)->ifindex;
}

void shield_own_name(const char *name, char ret[IF_NAMESIZE])
{
	const struct nic *nic = nic_of(name);

	snprintf(ret, IF_NAMESIZE, "%s", nic->ifindex ? nic->name : name);
}

pid_t pidfile_pid(const char *pin_dir)
{
	assert_null(pin_dir);
	return daemon_pid;
}

int shield_check_attach(const char *pin_dir, const char *interface, enum holder *ret)
{
	note("look %s %s;", interface, pin_dir);
	*ret = nic_of(interface)->holder;
	return nic_of(interface)->ifindex ? nic_of(interface)->look_err : -ENODEV;
}

__u32 shield_program_on(const char *interface)
{
	return nic_of(interface)->program_id;
}

int shield_attach(struct shield *shield, const char *interface, enum attach_mode mode,
		  enum attach_mode *ret_mode)
{
	assert_ptr_equal(shield, SHIELD);
	note("attach %s %d;", interface, mode);
	*ret_mode = nic_of(interface)->mode;
	return nic_of(interface)->attach_err;
}

void shield_release(struct shield *shield, const char *interface)
{
	assert_ptr_equal(shield, SHIELD);
	note("release %s;", interface);
}

size_t shield_links(const struct shield *shield, struct shield_link *ret, size_t max)
{
	size_t count = 0;

	assert_ptr_equal(shield, SHIELD);
	assert_int_equal(max, 2 * CONFIG_INTERFACES);
	for (size_t i = 0; i < COUNT(nics); i++) {
		if (!nics[i].linked)
			continue;
		ret[count] = nics[i].link;
		strcpy(ret[count++].interface, nics[i].name);
	}
	return count + more_links;
}

static int begin(void **state)
{
	(void)state;
	memset(nics, 0, sizeof(nics));
	memset(&config, 0, sizeof(config));
	for (size_t i = 0; i < COUNT(nics); i++) {
		snprintf(nics[i].name, sizeof(nics[i].name), "eth%zu", i);
		nics[i].ifindex = (unsigned int)i + 2;
		nics[i].mode = MODE_NATIVE;
		nics[i].attach_err = 1;
		strcpy(config.interfaces[i], nics[i].name);
	}
	config.interface_count = 2;
	monitor = (struct attach_monitor){ .shield = SHIELD, .pin = "/p", .wait = true };
	now_s = 1000;
	daemon_pid = 0;
	more_links = 0;
	called = &nowhere;
	log_verbose();
	return 0;
}

#define STEP(call, returns, asks, says)             \
	do {                                        \
		int was;                            \
                                                    \
		*asked = 0;                         \
		stderr_catch();                     \
		was = (int)(call);                  \
		stderr_release(said, sizeof(said)); \
		assert_string_equal(asked, asks);   \
		assert_string_equal(said, says);    \
		assert_int_equal(was, returns);     \
	} while (0)

static int undo(void)
{
	attach_monitor_undo(&monitor);
	return (int)monitor.count;
}

static int let_go(void)
{
	attach_monitor_let_go(&monitor);
	return (int)monitor.count;
}

static int reload(void)
{
	attach_monitor_reload(&monitor, &config);
	return (int)monitor.count;
}

/* --- may we? -------------------------------------------------------------------------
 */

static void who_may_is_asked_first(void **state)
{
#define BOTH "look eth0 /p;look eth1 /p;"
	(void)state;
	STEP(attach_monitor_precheck(&monitor, &config), 0, BOTH, "");
	nics[0].ifindex = 0;
	STEP(attach_monitor_precheck(&monitor, &config), 0, BOTH, "");
	monitor.wait = false;
	STEP(attach_monitor_precheck(&monitor, &config), -ENODEV, "look eth0 /p;",
	     ME "no such interface: 'eth0'\n");
	nics[0].ifindex = 9;
	nics[0].look_err = -EBUSY;
	STEP(attach_monitor_precheck(&monitor, &config), -EBUSY, "look eth0 /p;", "");
	nics[0].look_err = 0;
	nics[1].look_err = -EPERM;
	STEP(attach_monitor_precheck(&monitor, &config), -EPERM, BOTH, "");
}

/* The machine's own may be taken where its daemon is gone, or where that is meant. */
static void whose_it_is(void **state)
{
	(void)state;
	nics[1].holder = HOLDER_DEFAULT;
	STEP(attach_monitor_precheck(&monitor, &config), 0, BOTH, "");
	daemon_pid = 4711;
	STEP(attach_monitor_precheck(&monitor, &config), -EBUSY, BOTH,
	     ME
	     "interface 'eth1' is protected by the quakeshield of process 4711, whose "
	     "state is in /sys/fs/bpf/quakeshield: stop that one first, or --take-over "
	     "the interface\n");
	monitor.take_over = true;
	STEP(attach_monitor_precheck(&monitor, &config), 0, BOTH, "");
	monitor.take_over = false;
	nics[1].holder = HOLDER_US;
	STEP(attach_monitor_precheck(&monitor, &config), 0, BOTH, "");
}

/* --- the beginning --------------------------------------------------------------------
 */

static void modes_are_told(void **state)
{
	(void)state;
	config.mode = MODE_AUTO;
	nics[1].mode = MODE_SKB;
	STEP(attach_monitor_start(&monitor, &config), 0,
	     "look eth0 /p;attach eth0 0;look eth1 /p;attach eth1 0;",
	     ME "protecting eth0, native mode\n" ME
		"protecting eth1, generic (skb) mode\n");
	assert_int_equal(monitor.count, 2);
	assert_int_equal(monitor.mode, MODE_AUTO);
	config.mode = MODE_SKB;
	config.observe = true;
	STEP(attach_monitor_start(&monitor, &config), 0,
	     "look eth0 /p;attach eth0 2;look eth1 /p;attach eth1 2;",
	     ME "protecting eth0, native mode, observing only: nothing is dropped\n" ME
		"protecting eth1, generic (skb) mode, observing only: nothing is "
		"dropped\n");
	assert_int_equal(monitor.mode, MODE_SKB);
	assert_true(monitor.observe);
}

/* Only what is new is taken off again. */
static void all_or_none(void **state)
{
	(void)state;
	config.interface_count = 3;
	nics[0].attach_err = 0;
	nics[2].attach_err = -EIO;
	STEP(attach_monitor_start(&monitor, &config), -EIO,
	     "look eth0 /p;attach eth0 0;look eth1 /p;attach eth1 0;look eth2 "
	     "/p;attach eth2 0;release eth1;",
	     ME "protecting eth0, native mode\n" ME "protecting eth1, native mode\n");
	assert_int_equal(monitor.count, 0);
	nics[2].attach_err = 1;
	nics[1].look_err = -EBUSY;
	STEP(attach_monitor_start(&monitor, &config), -EBUSY,
	     "look eth0 /p;attach eth0 0;look eth1 /p;",
	     ME "protecting eth0, native mode\n");
	nics[1].look_err = 0;
	STEP(attach_monitor_start(&monitor, &config), 0,
	     "look eth0 /p;attach eth0 0;look eth1 /p;attach eth1 0;look eth2 "
	     "/p;attach eth2 0;",
	     ME "protecting eth0, native mode\n" ME "protecting eth1, native mode\n" ME
		"protecting eth2, native mode\n");
	STEP(undo(), 0, "release eth1;release eth2;", "");
	STEP(undo(), 0, "", "");
}

static void what_is_absent_is_waited_for(void **state)
{
#define ABSENT \
	WARN "interface 'eth0' is not there yet: it is protected as soon as it is there\n"
	(void)state;
	nics[0].ifindex = 0;
	STEP(attach_monitor_start(&monitor, &config), 0,
	     "look eth0 /p;look eth1 /p;attach eth1 0;",
	     ABSENT ME "protecting eth1, native mode\n");
	nics[1].linked = true;
	nics[1].link.attached = true;
	STEP(attach_monitor_repair(&monitor), 1, "", "");
	nics[0].ifindex = 7;
	STEP(attach_monitor_repair(&monitor), 2, "look eth0 /p;attach eth0 0;",
	     ME "protecting eth0, native mode\n");
	/* And gone again: said once. */
	nics[0].ifindex = 0;
	STEP(attach_monitor_repair(&monitor), 1, "",
	     WARN "interface 'eth0' is gone: it is protected as soon as it is there\n");
	STEP(attach_monitor_repair(&monitor), 1, "", "");
	nics[0].ifindex = 8;
	STEP(attach_monitor_repair(&monitor), 2, "look eth0 /p;attach eth0 0;",
	     ME "protecting eth0 again, native mode\n");
	/* At once nobody is waited for. */
	monitor.wait = false;
	nics[0].ifindex = 0;
	STEP(attach_monitor_start(&monitor, &config), -ENODEV, "look eth0 /p;", ABSENT);
}

/* --- looking after
 * ---------------------------------------------------------------------- */

static void start(void)
{
	*asked = 0;
	stderr_catch();
	assert_int_equal(attach_monitor_start(&monitor, &config), 0);
	stderr_release(said, sizeof(said));
	for (size_t i = 0; i < config.interface_count; i++) {
		nics[i].linked = true;
		nics[i].link = (struct shield_link){ .attached = true,
						     .ingress = true,
						     .egress = true };
	}
}

/* Which part of it is gone; it is put on again at once. */
static void what_was_lost_is_told(void **state)
{
	static const struct {
		bool linked;
		struct shield_link link;
		const char *says;
	} rows[] = {
		{ false,
		  { .attached = true, .ingress = true, .egress = true },
		  WARN "'eth1' does not carry our program any more\n" },
		{ true,
		  { .egress = true },
		  WARN "'eth1' does not carry our program any more\n" },
		{ true,
		  { .ingress = true },
		  WARN "what leaves by 'eth1' is judged no more: our program was taken "
		       "off\n" },
		{ true,
		  { .ingress = true, .egress = true },
		  WARN "what the machine joins on 'eth1' is judged no more: our program "
		       "was taken off\n" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char text[512];

		begin(NULL);
		start();
		STEP(attach_monitor_repair(&monitor), 2, "", "");
		nics[1].linked = rows[i].linked;
		nics[1].link = rows[i].link;
		snprintf(text, sizeof(text),
			 "%s" ME "protecting eth1 again, native mode\n", rows[i].says);
		STEP(attach_monitor_repair(&monitor), 2, "look eth1 /p;attach eth1 0;",
		     text);
	}
}

/* After 30 s, 60, 120, 240, and 300 from then on; at once if it is another matter. */
static void tries_become_rare(void **state)
{
	static const int pauses[] = { 30, 60, 120, 240, 300, 300 };
	static const char lost[] = WARN "'eth1' does not carry our program any more\n";

	(void)state;
	start();
	nics[1].linked = false;
	nics[1].attach_err = -EIO;
	STEP(attach_monitor_repair(&monitor), 1, "look eth1 /p;attach eth1 0;", lost);
	for (size_t i = 0; i < COUNT(pauses); i++) {
		now_s += pauses[i] - 1;
		STEP(attach_monitor_repair(&monitor), 1, "", "");
		now_s++;
		STEP(attach_monitor_repair(&monitor), 1, "look eth1 /p;attach eth1 0;",
		     "");
	}
	nics[1].program_id = 5;
	STEP(attach_monitor_repair(&monitor), 1, "look eth1 /p;attach eth1 0;", "");
	now_s += 29;
	STEP(attach_monitor_repair(&monitor), 1, "", "");
	nics[1].ifindex = 55;
	STEP(attach_monitor_repair(&monitor), 1, "look eth1 /p;attach eth1 0;", "");
	now_s += 30;
	nics[1].look_err = -EBUSY;
	STEP(attach_monitor_repair(&monitor), 1, "look eth1 /p;", "");
	now_s += 59;
	STEP(attach_monitor_repair(&monitor), 1, "", "");
	/* Somebody else has put it on. */
	nics[1].linked = true;
	STEP(attach_monitor_repair(&monitor), 2, "", ME "'eth1' is protected again\n");
	STEP(attach_monitor_repair(&monitor), 2, "", "");
}

/* More links than there is room for are not read. */
static void links_without_end(void **state)
{
	(void)state;
	start();
	more_links = 100;
	STEP(attach_monitor_repair(&monitor), 2, "", "");
}

/* --- another configuration
 * -------------------------------------------------------------- */

static void a_reload_is_what_it_says(void **state)
{
	(void)state;
	start();
	strcpy(config.interfaces[0], "eth2");
	strcpy(config.interfaces[1], "eth1");
	config.mode = MODE_NATIVE;
	config.observe = true;
	STEP(reload(), 2, "look eth2 /p;attach eth2 1;release eth0;",
	     ME "protecting eth2, native mode, observing only: nothing is dropped\n" ME
		"'eth0' is protected no more: the configuration does not name it\n");
	nics[2].linked = true;
	nics[2].link.attached = true;
	nics[0].linked = false;
	STEP(attach_monitor_repair(&monitor), 2, "", "");
	/* It keeps what it knew: eth1 was there, and its loss is told. */
	nics[1].linked = false;
	nics[1].attach_err = -EIO;
	STEP(attach_monitor_repair(&monitor), 1, "look eth1 /p;attach eth1 1;",
	     WARN "'eth1' does not carry our program any more\n");
	STEP(reload(), 2, "", "");
	config.interface_count = 0;
	STEP(reload(), 0, "release eth2;release eth1;",
	     ME "'eth2' is protected no more: the configuration does not name it\n" ME
		"'eth1' is protected no more: the configuration does not name it\n");
	STEP(attach_monitor_repair(&monitor), 0, "", "");
}

/* An earlier daemon has left eth2, and a pin of eth0, which is gone; eth1 is named. */
static void a_start_lets_go_what_is_not_named(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(nics); i++)
		nics[i].linked = true;
	nics[0].link.missing = true;
	nics[0].ifindex = 0;
	strcpy(config.interfaces[0], "eth1");
	config.interface_count = 1;
	STEP(attach_monitor_start(&monitor, &config), 0, "look eth1 /p;attach eth1 0;",
	     ME "protecting eth1, native mode\n");
	STEP(let_go(), 1, "release eth0;release eth2;",
	     ME "'eth0' is protected no more: the configuration does not name it\n" ME
		"'eth2' is protected no more: the configuration does not name it\n");
	/* A start that fails leaves all as it was. */
	nics[1].attach_err = -EIO;
	STEP(attach_monitor_start(&monitor, &config), -EIO, "look eth1 /p;attach eth1 0;",
	     "");
	/* One that is named and gone is waited for, and its pin stays. */
	nics[1].attach_err = 0;
	strcpy(config.interfaces[1], "eth0");
	strcpy(config.interfaces[2], "eth2");
	config.interface_count = 3;
	STEP(attach_monitor_start(&monitor, &config), 0,
	     "look eth1 /p;attach eth1 0;look eth0 /p;look eth2 /p;attach eth2 0;",
	     ME "protecting eth1, native mode\n" ABSENT ME
		"protecting eth2, native mode\n");
	STEP(let_go(), 3, "", "");
}

/* An interface that is waited for gets the name of the file, is renamed, and loses it. */
static void another_name_leads_to_the_interface(void **state)
{
	(void)state;
	strcpy(config.interfaces[0], "game0");
	config.interface_count = 1;
	STEP(attach_monitor_start(&monitor, &config), 0, "look game0 /p;",
	     WARN "interface 'game0' is not there yet: it is protected as soon as it is "
		  "there\n");
	called = &nics[1];
	STEP(attach_monitor_repair(&monitor), 1, "look eth1 /p;attach eth1 0;",
	     ME "protecting eth1, native mode\n");
	nics[1].linked = true;
	nics[1].link.attached = true;
	STEP(attach_monitor_repair(&monitor), 1, "", "");
	assert_true(attach_monitor_watches(&monitor, "eth1"));
	STEP(reload(), 1, "", "");
	nics[1].ifindex = 0;
	nics[1].linked = false;
	nics[2].ifindex = 3;
	nics[2].linked = true;
	nics[2].link.attached = true;
	called = &nics[2];
	STEP(attach_monitor_repair(&monitor), 1, "", "");
	assert_true(attach_monitor_watches(&monitor, "eth2"));
	called = &nowhere;
	STEP(attach_monitor_repair(&monitor), 0, "",
	     WARN "interface 'game0' is gone: it is protected as soon as it is there\n");
	STEP(attach_monitor_repair(&monitor), 0, "", "");
}

#undef TEST
#define TEST(name) cmocka_unit_test_setup(name, begin)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(who_may_is_asked_first),
		TEST(whose_it_is),
		TEST(modes_are_told),
		TEST(all_or_none),
		TEST(what_is_absent_is_waited_for),
		TEST(what_was_lost_is_told),
		TEST(tries_become_rare),
		TEST(links_without_end),
		TEST(a_reload_is_what_it_says),
		TEST(a_start_lets_go_what_is_not_named),
		TEST(another_name_leads_to_the_interface),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
