// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_witness.c - how often datagrams have to come in elsewhere before a service counts
 * as unprotected. The shield, the interfaces and what arrives are the test's own; a look
 * is five seconds.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/witness.h"
#include "lib/arrivals.h"
#include "lib/netlinks.h"
#include "lib/udp_sockets.h"
#include "stats/self_test.h"
#include "stderr.h"

#define LOOK_S	  5
#define ELSEWHERE 7 /* an interface that no program of ours is at */
#define SLOT	  5 /* of the service */

static struct config config;
static __u64 now_ns;
static __u64 judged; /* datagrams that the programs have counted */
static int forgotten; /* how often a note was taken back */
static int arrived; /* and that have come in elsewhere, since the last look */
static struct unjudged noted;

unsigned int if_nametoindex(const char *name)
{
	return !strcmp(name, "eth7") ? ELSEWHERE : 0;
}

int arrivals_open(void)
{
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

int arrivals_listen(int fd, const __u16 *ports, size_t port_count, const int *skipped,
		    size_t skipped_count)
{
	(void)fd, (void)ports, (void)port_count, (void)skipped, (void)skipped_count;
	return 0;
}

int arrivals_next(int fd, struct arrival *ret)
{
	(void)fd;
	*ret = (struct arrival){ .ifindex = ELSEWHERE, .port = 27960 };
	return arrived ? arrived-- : 0;
}

bool address_is_here(const __be32 address[4])
{
	(void)address;
	return true;
}

int netlinks_read(struct netlink_row ret[NETLINKS_MAX])
{
	(void)ret;
	return 0;
}

bool shield_service(const struct shield *shield, __u32 slot, struct service *ret)
{
	(void)shield;
	*ret = config.services[0].service;
	return slot == SLOT;
}

int shield_counters(const struct shield *shield, __u32 slot, struct counters *ret_in,
		    struct counters *ret_out)
{
	(void)shield, (void)slot;
	*ret_in = *ret_out = (struct counters){ 0 };
	ret_in->by[0][0].packets = judged;
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

__u64 shield_clock(void)
{
	return now_ns;
}

void shield_unjudged_put(struct shield *shield, __u32 slot, int ifindex, bool all)
{
	(void)shield;
	assert_int_equal(slot, SLOT);
	forgotten += !ifindex;
	noted = (struct unjudged){ (__u32)ifindex, (__u32)(now_ns >> 30), all };
}

enum judged shield_judged(const struct shield *shield, __u32 slot, __u64 received,
			  char ret_interface[IF_NAMESIZE])
{
	__u32 age = (__u32)(now_ns >> 30) - noted.seen_s;

	(void)shield;
	strcpy(ret_interface, "eth7");
	if (noted.ifindex && age <= UNJUDGED_AGE_S && slot == SLOT)
		return noted.all ? JUDGED_NO : JUDGED_PARTLY;
	return received ? JUDGED_YES : JUDGED_UNKNOWN;
}

size_t self_test_run(const struct shield *shield, struct self_test ret[SERVICES_MAX])
{
	(void)shield, (void)ret;
	return 0;
}

static struct witness *watch(void)
{
	config_default(&config);
	now_ns = 1ull << 40;
	judged = 0;
	arrived = 0;
	noted = (struct unjudged){ 0 };
	return witness_open(NULL, &config);
}

/*
 * For @looks one datagram comes in elsewhere in each @every-th look. Returns after how
 * many of them the service is noted, 0: never.
 */
static int noted_after(struct witness *w, int looks, int every)
{
	int count = 0;

	for (int i = 1; i <= looks; i++) {
		now_ns += (__u64)LOOK_S * 1000000000;
		arrived = i % every == 0;
		count += arrived;
		witness_look(w);
		if (noted.ifindex)
			return count;
	}
	return 0;
}

/* One in 2 minutes is enough, and as long as they come the note lasts. */
static void a_quiet_service_is_noted_at_its_third_datagram(void **state)
{
	static const int every[] = { 1, 2, 6, 7, 12, 23 };
	char said[1024];

	(void)state;
	for (size_t i = 0; i < sizeof(every) / sizeof(*every); i++) {
		struct witness *w = watch();
		char by[IF_NAMESIZE];

		stderr_catch();
		assert_int_equal(noted_after(w, 3 * every[i], every[i]), 3);
		stderr_release(said, sizeof(said));
		assert_non_null(strstr(said, "datagrams for it come in by 'eth7'"));
		assert_int_equal(noted.ifindex, ELSEWHERE);
		for (int look = 1; look <= 100; look++) {
			now_ns += (__u64)LOOK_S * 1000000000;
			arrived = look % every[i] == 0;
			witness_look(w);
			assert_int_equal(shield_judged(NULL, SLOT, 0, by), JUDGED_NO);
		}
		witness_close(w);
	}
}

/* Strays that are further apart are none. */
static void strays_do_not_make_a_service_unprotected(void **state)
{
	struct witness *w = watch();
	char said[1024];

	(void)state;
	stderr_catch();
	assert_int_equal(noted_after(w, 250, 25), 0);
	stderr_release(said, sizeof(said));
	assert_string_equal(said, "");
	witness_close(w);
}

/* The daemon asked for that interface: it must not go on asking once it is named. */
static void a_named_interface_ends_the_note(void **state)
{
	struct witness *w = watch();
	char said[1024];

	(void)state;
	stderr_catch();
	assert_int_equal(noted_after(w, 3, 1), 3);
	forgotten = 0;
	/* Another one changes nothing, with this daemon or the next. */
	strcpy(config.interfaces[0], "eth6");
	config.interface_count = 1;
	witness_reload(w, &config);
	assert_int_equal(noted.ifindex, ELSEWHERE);
	witness_close(w);
	w = witness_open(NULL, &config);
	assert_int_equal(noted.ifindex, ELSEWHERE);
	assert_int_equal(forgotten, 0);
	strcpy(config.interfaces[0], "eth7");
	witness_reload(w, &config);
	assert_int_equal(noted.ifindex, 0);
	assert_int_equal(forgotten, 1);
	/* A datagram that was on its way is not noted again. */
	arrived = 3;
	witness_look(w);
	assert_int_equal(noted.ifindex, 0);
	witness_close(w);
	/* A restart names it, too. */
	noted = (struct unjudged){ ELSEWHERE, (__u32)(now_ns >> 30), 1 };
	w = witness_open(NULL, &config);
	assert_int_equal(noted.ifindex, 0);
	witness_close(w);
	stderr_release(said, sizeof(said));
	assert_null(strstr(said, "for 2 minutes"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_quiet_service_is_noted_at_its_third_datagram),
		cmocka_unit_test(strays_do_not_make_a_service_unprotected),
		cmocka_unit_test(a_named_interface_ends_the_note),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
