// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_self_test.c - what `status` says of a service with these counters. The shield and
 * the sockets are the test's own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/udp_sockets.h"
#include "stats/self_test.h"

static struct counters in, out;

bool shield_service(const struct shield *shield, __u32 slot, struct service *ret)
{
	(void)shield;
	*ret = (struct service){ .name = "ffa", .family = FAMILY_QUAKE3, .active = 1 };
	return slot == 3;
}

int shield_counters(const struct shield *shield, __u32 slot, struct counters *ret_in,
		    struct counters *ret_out)
{
	(void)shield;
	assert_int_equal(slot, 3);
	*ret_in = in;
	*ret_out = out;
	return 0;
}

enum judged shield_judged(const struct shield *shield, __u32 slot, __u64 received,
			  char ret_interface[IF_NAMESIZE])
{
	(void)shield, (void)slot, (void)received;
	*ret_interface = '\0';
	return JUDGED_YES;
}

__u64 shield_protocol_mismatch(const struct shield *shield, __u32 slot,
			       __u32 *ret_families)
{
	(void)shield, (void)slot;
	*ret_families = 0;
	return 0;
}

size_t shield_endpoints(const struct shield *shield, struct shield_endpoint *ret,
			size_t max)
{
	(void)shield, (void)ret, (void)max;
	return 0;
}

bool udp_sockets_each(void (*each)(const struct udp_socket *socket, void *context),
		      void *context)
{
	(void)each, (void)context;
	return true;
}

/* A server that sends elsewhere has no player, however often the shield responds. */
static void responses_of_the_shield_are_not_the_servers(void **state)
{
	static struct self_test tests[SERVICES_MAX];
	char text[SELF_TEST_TEXT];
	bool fault;

	(void)state;
	in.by[KIND_GETSTATUS][REASON_WITHIN_LIMITS].packets = 200;
	out.by[KIND_CHALLENGE][REASON_CHALLENGED].packets = 7;
	out.by[KIND_STATUSRESPONSE][REASON_CACHED_RESPONSE].packets = 9;
	assert_int_equal(self_test_run(NULL, tests), 1);
	self_test_text(&tests[0], text, &fault);
	assert_true(fault);
	assert_string_equal(text, "judged, 200 received, 0 sent; nothing that its server "
				  "sends leaves by the protected interfaces: no player "
				  "is known");
	/* Withheld datagrams were the server's. */
	out.by[KIND_STATUSRESPONSE][REASON_WITHIN_LIMITS].packets = 3;
	out.by[KIND_STATUSRESPONSE][REASON_AMPLIFICATION].packets = 1;
	assert_int_equal(self_test_run(NULL, tests), 1);
	self_test_text(&tests[0], text, &fault);
	assert_false(fault);
	assert_string_equal(text, "judged, 200 received, 4 sent");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(responses_of_the_shield_are_not_the_servers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
