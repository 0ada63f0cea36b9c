// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_attach_monitor.c - which interfaces are attached, when again, and which are let
 * go. Shield, interfaces and clock are the test's own.
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
#include <unistd.h>

#include <cmocka.h>

#include "daemon/attach_monitor.h"
#include "stderr.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

/* What there is on the machine. */
static struct nic {
	const char *name;
	unsigned int ifindex; /* 0: it is not there */
	__u32 program_id; /* of the program on it */
	bool ours; /* and that is ours, with both halves */
	bool half; /* nothing of it is left at what leaves */
	int refuses; /* -errno of an attempt to attach */
	bool pinned; /* something of ours was on it before: its program is exchanged */
	int attached, released; /* how often */
	enum attach_mode mode; /* that was asked for last */
	time_t unrun; /* since when it does not run the program; 0: it does */
} nics[4];

static time_t now_s;
static int released_first; /* how often any was released before the last attachment */

static struct nic *nic_of(const char *interface)
{
	for (size_t i = 0; i < COUNT(nics); i++)
		if (nics[i].name && !strcmp(nics[i].name, interface))
			return &nics[i];
	fail_msg("'%s' was never named", interface);
	return NULL;
}

int clock_gettime(clockid_t clock, struct timespec *ret)
{
	(void)clock;
	*ret = (struct timespec){ .tv_sec = now_s };
	return 0;
}

unsigned int if_nametoindex(const char *interface)
{
	return nic_of(interface)->ifindex;
}

void shield_own_name(const char *name, char ret[IF_NAMESIZE])
{
	snprintf(ret, IF_NAMESIZE, "%s", name);
}

int shield_check_attach(const char *pin_dir, const char *interface, enum holder *ret)
{
	(void)pin_dir;
	*ret = HOLDER_NONE;
	return nic_of(interface)->ifindex ? 0 : -ENODEV;
}

__u32 shield_program_on(const char *interface)
{
	return nic_of(interface)->program_id;
}

int shield_attach(struct shield *shield, const char *interface, enum attach_mode mode,
		  enum attach_mode *ret_mode)
{
	struct nic *nic = nic_of(interface);

	(void)shield;
	nic->attached++;
	released_first = 0;
	for (size_t i = 0; i < COUNT(nics); i++)
		released_first += nics[i].released;
	nic->mode = mode;
	if (nic->refuses)
		return nic->refuses;
	*ret_mode = mode == MODE_SKB ? MODE_SKB : MODE_NATIVE;
	nic->ours = true;
	return !nic->pinned;
}

void shield_release(struct shield *shield, const char *interface)
{
	(void)shield;
	nic_of(interface)->released++;
	nic_of(interface)->ours = false;
}

size_t shield_links(const struct shield *shield, struct shield_link *ret, size_t max)
{
	size_t count = 0;

	(void)shield;
	for (size_t i = 0; i < COUNT(nics); i++) {
		if (!nics[i].name || !nics[i].ours || count == max)
			continue;
		ret[count] = (struct shield_link){ .attached = !nics[i].half,
						   .ingress = true,
						   .egress = !nics[i].half,
						   .unrun_since = nics[i].unrun };
		strcpy(ret[count++].interface, nics[i].name);
	}
	return count;
}

static int warned_of = -1; /* enum attach_mode */

void shield_warn_mode(const struct shield *shield, enum attach_mode wanted)
{
	(void)shield;
	warned_of = (int)wanted;
}

/* --- */

static struct attach_monitor monitor;
static struct config config;

static int enter(void **state)
{
	(void)state;
	memset(nics, 0, sizeof(nics));
	memset(&config, 0, sizeof(config));
	for (size_t i = 0; i < COUNT(nics); i++) {
		static const char *const names[] = { "a0", "b0", "c0", "d0" };

		nics[i].name = names[i];
		nics[i].ifindex = (unsigned int)i + 2;
	}
	monitor = (struct attach_monitor){ .wait = true };
	now_s = 1000;
	stderr_catch();
	return 0;
}

static int leave(void **state)
{
	char said[4096];

	(void)state;
	stderr_release(said, sizeof(said));
	return 0;
}

static void named(const char *first, const char *second)
{
	config.interface_count = 0;
	strcpy(config.interfaces[config.interface_count++], first);
	if (second)
		strcpy(config.interfaces[config.interface_count++], second);
}

/* Ever more rarely, up to five minutes; and by the second one that is due. */
static void what_fails_is_tried_ever_more_rarely(void **state)
{
	static const int after_s[] = { 0, 30, 60, 120, 240, 300, 300, 300 };

	(void)state;
	named("a0", NULL);
	assert_int_equal(attach_monitor_start(&monitor, &config), 0);
	assert_int_equal(attach_monitor_repair(&monitor), 1);
	nics[0].ours = false;
	nics[0].refuses = -EBUSY;
	for (size_t i = 0; i < COUNT(after_s); i++) {
		for (int s = 0; s + 1 < after_s[i]; s++) {
			now_s++;
			assert_int_equal(attach_monitor_repair(&monitor), 0);
		}
		assert_int_equal(nics[0].attached, i + 1);
		now_s += after_s[i] > 0;
		assert_int_equal(attach_monitor_repair(&monitor), 0);
		assert_int_equal(nics[0].attached, i + 2);
	}
	/* It is about another program now, or another interface of that name: at once. */
	nics[0].program_id = 77;
	attach_monitor_repair(&monitor);
	assert_int_equal(nics[0].attached, COUNT(after_s) + 2);
	attach_monitor_repair(&monitor);
	assert_int_equal(nics[0].attached, COUNT(after_s) + 2);
	nics[0].ifindex = 99;
	attach_monitor_repair(&monitor);
	assert_int_equal(nics[0].attached, COUNT(after_s) + 3);
	/* And after that from the beginning. */
	now_s += 30;
	nics[0].refuses = 0;
	assert_int_equal(attach_monitor_repair(&monitor), 1);
	assert_int_equal(monitor.interfaces[0].state, WATCHED_ATTACHED);
}

static void an_absent_interface_is_waited_for(void **state)
{
	(void)state;
	nics[1].ifindex = 0;
	named("a0", "b0");
	assert_int_equal(attach_monitor_start(&monitor, &config), 0);
	assert_int_equal(nics[0].attached, 1);
	assert_int_equal(nics[1].attached, 0);
	assert_int_equal(attach_monitor_repair(&monitor), 1);
	assert_int_equal(monitor.interfaces[1].state, WATCHED_ABSENT);
	nics[1].ifindex = 7;
	assert_int_equal(attach_monitor_repair(&monitor), 2);
	assert_int_equal(nics[1].attached, 1);
	/* And one that goes is not tried while it is gone. */
	nics[0].ours = false;
	nics[0].ifindex = 0;
	assert_int_equal(attach_monitor_repair(&monitor), 1);
	assert_int_equal(nics[0].attached, 1);
	assert_int_equal(monitor.interfaces[0].state, WATCHED_ABSENT);
}

/* Operators read whether it was ever protected: a typing error, or a cable. */
static void what_is_gone_was_there(void **state)
{
	char said[4096];

	(void)state;
	nics[1].ifindex = 0;
	named("a0", "b0");
	assert_int_equal(attach_monitor_start(&monitor, &config), 0);
	nics[0].ours = false;
	nics[0].ifindex = 0;
	assert_int_equal(attach_monitor_repair(&monitor), 0);
	nics[0].ifindex = 12;
	assert_int_equal(attach_monitor_repair(&monitor), 1);
	stderr_release(said, sizeof(said));
	stderr_catch();
	assert_non_null(strstr(said, "interface 'b0' is not there yet"));
	assert_non_null(strstr(said, "interface 'a0' is gone"));
	assert_null(strstr(said, "'b0' is gone"));
}

/* Which of its programs was taken off, before it is put back. */
static void what_was_taken_off_is_told(void **state)
{
	char said[4096];

	(void)state;
	named("a0", NULL);
	assert_int_equal(attach_monitor_start(&monitor, &config), 0);
	assert_int_equal(attach_monitor_repair(&monitor), 1);
	nics[0].half = true;
	nics[0].refuses = -EBUSY;
	attach_monitor_repair(&monitor);
	nics[0].half = nics[0].ours = false;
	attach_monitor_repair(&monitor);
	stderr_release(said, sizeof(said));
	stderr_catch();
	assert_non_null(strstr(said, "what leaves by 'a0' is judged no more"));
	assert_null(strstr(said, "what the machine joins"));
}

/* Where nothing is waited for, all are attached or none; what was there before stays. */
static void all_or_none(void **state)
{
	(void)state;
	monitor.wait = false;
	nics[2].ifindex = 0;
	named("a0", "c0");
	nics[0].pinned = true;
	assert_int_equal(attach_monitor_precheck(&monitor, &config), -ENODEV);
	assert_int_equal(attach_monitor_start(&monitor, &config), -ENODEV);
	assert_int_equal(nics[0].released, 0);
	nics[0].pinned = false;
	assert_int_equal(attach_monitor_start(&monitor, &config), -ENODEV);
	assert_int_equal(nics[0].released, 1);
	assert_int_equal(monitor.count, 0);
}

static void a_reload_lets_go_of_what_is_not_named(void **state)
{
	(void)state;
	named("a0", "b0");
	assert_int_equal(attach_monitor_start(&monitor, &config), 0);
	named("b0", "c0");
	attach_monitor_reload(&monitor, &config);
	assert_int_equal(nics[0].released, 1);
	assert_int_equal(nics[1].released, 0);
	assert_int_equal(nics[0].attached, 1);
	assert_int_equal(nics[1].attached, 1);
	assert_int_equal(nics[2].attached, 1);
	assert_int_equal(nics[3].attached, 0);
	assert_int_equal(monitor.count, 2);
	assert_int_equal(attach_monitor_repair(&monitor), 2);
}

/* A link keeps its mode, since to take it off leaves datagrams unjudged. */
static void a_mode_that_an_interface_keeps_is_told(void **state)
{
	static const enum attach_mode modes[] = { MODE_SKB, MODE_AUTO, MODE_NATIVE };

	(void)state;
	named("a0", NULL);
	config.mode = MODE_NATIVE;
	assert_int_equal(attach_monitor_start(&monitor, &config), 0);
	for (size_t i = 0; i < COUNT(modes); i++) {
		config.mode = modes[i];
		attach_monitor_reload(&monitor, &config);
		assert_int_equal(warned_of, modes[i]);
		warned_of = -1;
		attach_monitor_reload(&monitor, &config);
		assert_int_equal(warned_of, -1);
		assert_int_equal(nics[0].released, 0);
		assert_int_equal(nics[0].attached, 1);
	}
}

/* Ours is taken off and put on anew, in the mode that is asked for. */
static void a_renewed_interface_is_attached_anew(void **state)
{
	(void)state;
	named("a0", NULL);
	assert_int_equal(attach_monitor_renew(&monitor, "a0", MODE_SKB), -ENOENT);
	assert_int_equal(attach_monitor_start(&monitor, &config), 0);
	assert_true(attach_monitor_watches(&monitor, "a0"));
	assert_false(attach_monitor_watches(&monitor, "b0"));
	assert_int_equal(attach_monitor_renew(&monitor, "b0", MODE_SKB), -ENOENT);
	assert_int_equal(nics[1].attached, 0);
	assert_int_equal(attach_monitor_renew(&monitor, "a0", MODE_SKB), 0);
	assert_int_equal(nics[0].released, 1);
	assert_int_equal(nics[0].attached, 2);
	assert_int_equal(nics[0].mode, MODE_SKB);
	assert_int_equal(attach_monitor_repair(&monitor), 1);
	assert_int_equal(nics[0].attached, 2);
	/* An interface that does not run its program is not protected. */
	nics[0].unrun = 1234;
	assert_int_equal(attach_monitor_repair(&monitor), 0);
	assert_int_equal(nics[0].attached, 2);
	/* One that cannot be attached now is tried again later. */
	nics[0].refuses = -EBUSY;
	assert_int_equal(attach_monitor_renew(&monitor, "a0", MODE_NATIVE), -EBUSY);
	nics[0].refuses = 0;
	nics[0].unrun = 0;
	now_s += 300;
	assert_int_equal(attach_monitor_repair(&monitor), 1);
	assert_int_equal(attach_monitor_repair(&monitor), 1);
	assert_int_equal(nics[0].attached, 4);
}

/* Their order in the configuration is nothing to them. */
static void a_reload_may_name_them_in_another_order(void **state)
{
	(void)state;
	named("a0", "b0");
	assert_int_equal(attach_monitor_start(&monitor, &config), 0);
	named("b0", "a0");
	attach_monitor_reload(&monitor, &config);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(nics[i].released, 0);
		assert_int_equal(nics[i].attached, 1);
	}
	assert_int_equal(attach_monitor_repair(&monitor), 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter, leave)

/* An interface that has another name now is attached to before its old name goes. */
static void another_name_makes_no_gap(void **state)
{
	(void)state;
	named("a0", "c0");
	assert_int_equal(attach_monitor_start(&monitor, &config), 0);
	/* Renamed: the kernel knows the old name no more. */
	nics[0].ifindex = 0;
	nics[1].ifindex = 2;
	named("b0", "c0");
	attach_monitor_reload(&monitor, &config);
	assert_int_equal(nics[1].attached, 1);
	assert_int_equal(released_first, 0);
	assert_int_equal(nics[0].released, 1);
	/* Renamed, and the old name is another one of it: its links are not taken off. */
	nics[3].ifindex = 2;
	named("d0", "c0");
	attach_monitor_reload(&monitor, &config);
	assert_int_equal(nics[3].attached, 1);
	assert_int_equal(nics[1].released, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_fails_is_tried_ever_more_rarely),
		TEST(an_absent_interface_is_waited_for),
		TEST(what_is_gone_was_there),
		TEST(what_was_taken_off_is_told),
		TEST(all_or_none),
		TEST(a_reload_lets_go_of_what_is_not_named),
		TEST(another_name_makes_no_gap),
		TEST(a_reload_may_name_them_in_another_order),
		TEST(a_mode_that_an_interface_keeps_is_told),
		TEST(a_renewed_interface_is_attached_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
