// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_run_check.c - when an interface counts as one that does not run its program, how
 * often it is attached again, and what is no proof. The shield, the interfaces, their
 * frames and the clock are the test's own; a look is five seconds.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "daemon/run_check.h"
#include "lib/delivered.h"
#include "lib/log.h"
#include "lib/netlinks.h"
#include "stats/stats.h"
#include "stderr.h"

#define LOOK_S 5
#define SLOT   3 /* of the one service */
#define NICS   2

/* The interfaces of the machine, and what happens in each look. */
static struct nic {
	const char *name;
	int ifindex;
	bool attached, down, watched;
	enum attach_mode mode;
	unsigned int came; /* frames a look: that the driver counts */
	unsigned int delivered; /* and that it delivers behind the program */
	unsigned long long received; /* so far, by the driver */
	__u64 counted; /* by the packet socket, since it began */
} nics[NICS];

static struct attach_monitor monitor;
static unsigned int judged_look; /* frames that the programs count in a look */
static __u64 judged, others;
static int counting; /* ifindex; 0: none */
static int begun; /* how often a count began */
static bool counters_fail;
static bool skb_refused; /* and the monitor attaches in native mode again */
static struct unrun table[UNRUN_MAX];
static char renewed[256]; /* "eth0 native;" for each attachment */
static time_t now_s;
/* After an attachment in this mode the program runs; MODE_AUTO: after none. */
static enum attach_mode helps;

time_t time(time_t *ret)
{
	if (ret)
		*ret = now_s;
	return now_s;
}

int clock_gettime(clockid_t clock, struct timespec *ret)
{
	(void)clock;
	*ret = (struct timespec){ .tv_sec = now_s };
	return 0;
}

static struct nic *nic_of(const char *name)
{
	for (size_t i = 0; i < NICS; i++)
		if (!strcmp(nics[i].name, name))
			return &nics[i];
	fail_msg("'%s' was never named", name);
	return NULL;
}

unsigned int if_nametoindex(const char *interface)
{
	return (unsigned int)nic_of(interface)->ifindex;
}

int delivered_open(void)
{
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

int delivered_begin(int fd, int ifindex)
{
	(void)fd;
	assert_int_equal(counting, 0);
	counting = ifindex;
	begun++;
	for (size_t i = 0; i < NICS; i++)
		nics[i].counted = 0;
	return 0;
}

int delivered_end(int fd, __u64 *ret)
{
	(void)fd;
	for (size_t i = 0; i < NICS; i++)
		if (nics[i].ifindex == counting)
			*ret = nics[i].counted;
	counting = 0;
	return 0;
}

int netlinks_read(struct netlink_row ret[NETLINKS_MAX])
{
	for (size_t i = 0; i < NICS; i++)
		ret[i] = (struct netlink_row){ .index = nics[i].ifindex,
					       .received = nics[i].received };
	return NICS;
}

size_t shield_links(const struct shield *shield, struct shield_link *ret, size_t max)
{
	size_t count = 0;

	(void)shield;
	for (size_t i = 0; i < NICS && count < max; i++) {
		if (!nics[i].mode)
			continue;
		ret[count] = (struct shield_link){ .attached = nics[i].attached,
						   .down = nics[i].down,
						   .mode = nics[i].mode };
		strcpy(ret[count++].interface, nics[i].name);
	}
	return count;
}

bool attach_monitor_watches(const struct attach_monitor *m, const char *interface)
{
	assert_ptr_equal(m, &monitor);
	return nic_of(interface)->watched;
}

int attach_monitor_renew(struct attach_monitor *m, const char *interface,
			 enum attach_mode mode)
{
	struct nic *nic = nic_of(interface);
	size_t n = strlen(renewed);

	assert_ptr_equal(m, &monitor);
	snprintf(renewed + n, sizeof(renewed) - n, "%s %s;", interface,
		 mode == MODE_AUTO ? "auto" : mode_name(mode));
	nic->mode = mode == MODE_SKB && !skb_refused ? MODE_SKB : MODE_NATIVE;
	if (nic->mode == helps)
		judged_look = nic->came;
	return 0;
}

bool shield_service(const struct shield *shield, __u32 slot, struct service *ret)
{
	(void)shield;
	*ret = (struct service){ .observe = 0 };
	return slot == SLOT;
}

int shield_counters(const struct shield *shield, __u32 slot, struct counters *ret_in,
		    struct counters *ret_out)
{
	(void)shield;
	assert_int_equal(slot, SLOT);
	*ret_in = *ret_out = (struct counters){ 0 };
	ret_in->by[0][0].packets = judged;
	ret_out->by[0][0].packets = judged + (__u64)now_s;
	return counters_fail ? -EIO : 0;
}

int shield_others(const struct shield *shield, struct counter ret[OTHER_COUNT])
{
	(void)shield;
	memset(ret, 0, OTHER_COUNT * sizeof(*ret));
	ret[OTHER_NOT_UDP].packets = others;
	return 0;
}

__u32 shield_counters_turn(struct shield *shield)
{
	(void)shield;
	return 1;
}

bool shield_counters_changed(const struct shield *shield, __u32 slot, __u32 turn)
{
	(void)shield, (void)slot, (void)turn;
	return true;
}

void shield_unrun_put(struct shield *shield, size_t i, int ifindex, time_t since)
{
	(void)shield;
	assert_in_range(i, 0, UNRUN_MAX - 1);
	table[i] = (struct unrun){ (__u32)ifindex, (__u32)since };
}

/* --- */

static struct run_check *check;
static char said[8192];

static int begin(void **state)
{
	(void)state;
	for (int i = 0; i < NICS; i++)
		nics[i] = (struct nic){ .name = i ? "eth1" : "eth0",
					.ifindex = 7 + i,
					.attached = true,
					.watched = true };
	nics[0].mode = MODE_NATIVE;
	monitor = (struct attach_monitor){ .mode = MODE_AUTO };
	judged_look = 0;
	judged = others = 0;
	counting = begun = 0;
	counters_fail = skb_refused = false;
	memset(table, 0xff, sizeof(table));
	*renewed = '\0';
	now_s = 1000000;
	helps = MODE_AUTO;
	check = run_check_open(NULL, &monitor);
	assert_non_null(check);
	run_check_look(check);
	return 0;
}

static int end(void **state)
{
	(void)state;
	run_check_close(check);
	return 0;
}

/* @count looks, each after five seconds in which happens what the interfaces say. */
static void looks(int count)
{
	stderr_catch();
	for (int look = 0; look < count; look++) {
		now_s += LOOK_S;
		judged += judged_look;
		for (size_t i = 0; i < NICS; i++) {
			nics[i].received += nics[i].came;
			nics[i].counted += nics[i].delivered;
		}
		run_check_look(check);
	}
	stderr_release(said, sizeof(said));
}

/* How often @text is in what was said last. */
static int times(const char *text)
{
	int count = 0;

	for (const char *at = said; (at = strstr(at, text)); at++)
		count++;
	return count;
}

static const struct unrun *noted(int ifindex)
{
	for (size_t i = 0; i < UNRUN_MAX; i++)
		if (table[i].ifindex == (__u32)ifindex)
			return &table[i];
	return NULL;
}

/* Two looks with 100 frames or more, of which none was judged, and not before. */
static void two_proofs_in_a_row_attach_again_in_the_same_mode(void **state)
{
	(void)state;
	nics[0].came = nics[0].delivered = 100;
	helps = MODE_NATIVE;
	looks(2); /* a suspicion, and a proof */
	assert_string_equal(said, "");
	assert_null(noted(7));
	looks(1);
	assert_non_null(strstr(said, "'eth0' is attached in native mode, but judges "
				     "nothing since "));
	assert_non_null(strstr(said, "of the last 100 frames that came in, the program "
				     "has run for 0"));
	assert_string_equal(renewed, "eth0 auto;");
	assert_int_equal(noted(7)->since_s, 1000000 + 2 * LOOK_S);
	looks(2);
	assert_int_equal(times("'eth0' judges again"), 1);
	assert_null(noted(7));
	looks(100);
	assert_string_equal(said, "");
	assert_string_equal(renewed, "eth0 auto;");
}

static void generic_mode_follows_and_then_nothing(void **state)
{
	(void)state;
	nics[0].came = nics[0].delivered = 5000;
	looks(100);
	assert_string_equal(renewed, "eth0 auto;eth0 skb;");
	assert_int_equal(times("but judges nothing since"), 1);
	assert_int_equal(times("attaching in generic (skb) mode"), 1);
	assert_int_equal(times("judges nothing, and is not attached again"), 1);
	assert_int_equal(noted(7)->since_s, 1000000 + 2 * LOOK_S);
	/* The program that runs in the end is noticed at once. */
	judged_look = 5000;
	looks(2);
	assert_int_equal(times("'eth0' judges again"), 1);
	assert_null(noted(7));
}

static void generic_mode_that_helps_is_the_last_try(void **state)
{
	(void)state;
	nics[0].came = nics[0].delivered = 200;
	helps = MODE_SKB;
	looks(100);
	assert_string_equal(renewed, "eth0 auto;eth0 skb;");
	assert_int_equal(times("'eth0' judges again"), 1);
	assert_int_equal(times("not attached again"), 0);
}

/* A service that was exchanged takes its counts along: that is no frame judged. */
static void counts_that_fall_clear_nothing(void **state)
{
	(void)state;
	judged = 1000;
	looks(1);
	nics[0].came = nics[0].delivered = 200;
	looks(2); /* a suspicion, and a proof */
	judged = 100;
	looks(3); /* nothing is known, a suspicion, and the second proof */
	assert_string_equal(renewed, "eth0 auto;");
	assert_non_null(noted(7));
}

/* Also where the counters could not be read as the program ran again. */
static void a_fault_that_is_over_is_told(void **state)
{
	(void)state;
	nics[0].came = nics[0].delivered = 200;
	helps = MODE_NATIVE;
	looks(3);
	assert_non_null(noted(7));
	counters_fail = true;
	looks(2);
	counters_fail = false;
	looks(5);
	assert_int_equal(times("'eth0' judges again"), 1);
	assert_null(noted(7));
}

static void tries_end_where_generic_mode_is_refused(void **state)
{
	(void)state;
	nics[0].came = nics[0].delivered = 200;
	skb_refused = true;
	looks(200);
	assert_string_equal(renewed, "eth0 auto;eth0 skb;");
	assert_int_equal(times("not attached again"), 1);
}

static void the_configured_mode_bounds_the_tries(void **state)
{
	static const struct {
		enum attach_mode is, configured;
		const char *tries;
	} rows[] = {
		{ MODE_NATIVE, MODE_AUTO, "eth0 auto;eth0 skb;" },
		{ MODE_NATIVE, MODE_NATIVE, "eth0 native;" },
		{ MODE_NATIVE, MODE_SKB, "eth0 skb;" },
		{ MODE_SKB, MODE_AUTO, "eth0 skb;" },
		{ MODE_SKB, MODE_NATIVE, "eth0 skb;" },
		{ MODE_SKB, MODE_SKB, "eth0 skb;" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		end(state);
		begin(state);
		nics[0].mode = rows[i].is;
		monitor.mode = rows[i].configured;
		nics[0].came = nics[0].delivered = 200;
		looks(100);
		assert_string_equal(renewed, rows[i].tries);
		assert_int_equal(times("not attached again"), 1);
	}
}

/* After ten minutes a try that helped is forgotten; before, the next one is generic. */
static void a_driver_that_goes_wrong_again_has_the_tries_again_later(void **state)
{
	(void)state;
	nics[0].came = nics[0].delivered = 200;
	helps = MODE_NATIVE;
	looks(10);
	assert_string_equal(renewed, "eth0 auto;");
	looks(120);
	judged_look = 0;
	looks(20);
	assert_string_equal(renewed, "eth0 auto;eth0 auto;");
	judged_look = 0;
	helps = MODE_SKB;
	looks(20);
	assert_string_equal(renewed, "eth0 auto;eth0 auto;eth0 skb;");
}

/* Rows of what is no sign that the program does not run. */
static void frames_that_prove_nothing_change_nothing(void **state)
{
	static const struct {
		const char *what;
		unsigned int came, delivered, judged;
	} rows[] = {
		{ "nothing comes in", 0, 0, 0 },
		{ "too few frames", 99, 99, 0 },
		{ "the card counts what it drops or forwards itself", 1000000, 0, 0 },
		{ "and a flood that is dropped", 1000000, 90, 100000 },
		{ "all is dropped", 5000, 0, 5000 },
		{ "all passes", 5000, 5000, 5000 },
		{ "the driver counts nothing", 0, 5000, 5000 },
		{ "IPsec delivers each frame three times", 100, 300, 100 },
		{ "the driver joins frames", 40, 40, 5000 },
		{ "few, and judged", 50, 50, 50 },
		{ "most of a flood is lost before XDP", 5000000, 200, 25 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		end(state);
		begin(state);
		nics[0].came = rows[i].came;
		nics[0].delivered = rows[i].delivered;
		judged_look = rows[i].judged;
		looks(200);
		if (*said || *renewed)
			fail_msg("%s: '%s', '%s'", rows[i].what, said, renewed);
	}
}

static void frames_for_no_service_count_as_judged(void **state)
{
	(void)state;
	nics[0].came = nics[0].delivered = 100;
	for (int look = 0; look < 50; look++) {
		others += 100;
		looks(1);
		assert_string_equal(said, "");
	}
	assert_string_equal(renewed, "");
}

/* A proof, and then a look without one. */
static void single_proofs_do_not_add_up(void **state)
{
	(void)state;
	for (int turn = 0; turn < 50; turn++) {
		nics[0].came = nics[0].delivered = turn % 2 ? 50 : 500;
		looks(1);
		assert_string_equal(said, "");
	}
	assert_string_equal(renewed, "");
}

static void a_busy_host_has_no_packet_socket(void **state)
{
	(void)state;
	nics[0].came = nics[0].delivered = judged_look = 100;
	begun = 0;
	looks(1);
	begun = 0;
	looks(100);
	assert_int_equal(begun, 0);
	/* A quiet one has it in one look of fourteen. */
	nics[0].came = nics[0].delivered = judged_look = 99;
	looks(140);
	assert_in_range(begun, 9, 11);
}

/* A driver that lets go of its carrier when a program is attached gets no more tries. */
static void tries_end_where_attaching_takes_the_carrier(void **state)
{
	(void)state;
	nics[0].came = nics[0].delivered = 500;
	helps = MODE_AUTO;
	for (int i = 0; i < 100; i++) {
		size_t before = strlen(renewed);

		nics[0].down = false;
		looks(1);
		nics[0].down = strlen(renewed) != before;
		if (nics[0].down)
			looks(1);
	}
	assert_string_equal(renewed, "eth0 auto;eth0 skb;");
}

static void links_of_others_are_let_alone(void **state)
{
	for (int row = 0; row < 3; row++) {
		end(state);
		begin(state);
		nics[0].came = nics[0].delivered = 500;
		nics[0].attached = row != 0; /* a half is gone, or a foreign program */
		nics[0].down = row == 1;
		nics[0].watched = row != 2;
		looks(50);
		assert_string_equal(said, "");
		assert_string_equal(renewed, "");
	}
}

static void counters_that_cannot_be_read_prove_nothing(void **state)
{
	(void)state;
	nics[0].came = nics[0].delivered = 500;
	counters_fail = true;
	looks(50);
	assert_string_equal(renewed, "");
	/* Counters that fall prove nothing: a service was exchanged. */
	counters_fail = false;
	judged = 1000000;
	looks(1);
	for (int look = 0; look < 50; look++) {
		judged -= 100;
		looks(1);
	}
	assert_string_equal(renewed, "");
}

/* One of two does not run, and receives far more than the other. */
static void one_of_two_is_found(void **state)
{
	(void)state;
	nics[1].mode = MODE_NATIVE;
	nics[0].came = nics[0].delivered = 50;
	nics[1].came = nics[1].delivered = 1000;
	judged_look = 50; /* those of eth0 */
	looks(40);
	assert_int_equal(strncmp(renewed, "eth1 ", 5), 0);
	assert_null(strstr(renewed, "eth0"));
	assert_null(noted(7));
	assert_non_null(noted(8));
	/* Another interface of that name begins anew. */
	nics[1].ifindex = 9;
	nics[1].delivered = nics[1].came = 50;
	looks(5);
	assert_null(noted(8));
	assert_null(noted(9));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(two_proofs_in_a_row_attach_again_in_the_same_mode),
		TEST(generic_mode_follows_and_then_nothing),
		TEST(generic_mode_that_helps_is_the_last_try),
		TEST(counts_that_fall_clear_nothing),
		TEST(a_fault_that_is_over_is_told),
		TEST(tries_end_where_generic_mode_is_refused),
		TEST(the_configured_mode_bounds_the_tries),
		TEST(a_driver_that_goes_wrong_again_has_the_tries_again_later),
		TEST(frames_that_prove_nothing_change_nothing),
		TEST(frames_for_no_service_count_as_judged),
		TEST(single_proofs_do_not_add_up),
		TEST(a_busy_host_has_no_packet_socket),
		TEST(tries_end_where_attaching_takes_the_carrier),
		TEST(links_of_others_are_let_alone),
		TEST(counters_that_cannot_be_read_prove_nothing),
		TEST(one_of_two_is_found),
	};

	log_verbose();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
