// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_cached_responses.c - which answers of a service are kept, as they are written and
 * seen.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>
#include <cmocka.h>

#include "shield/shield_clock.h"
#include "shield/shield_internal.h"

static struct cache_entry answer_to(const char *question, __u16 bytes)
{
	struct cache_entry t = { .made_ns = shield_clock(),
				 .request_length = (__u8)(4 + strlen(question)),
				 .head = bytes };

	memset(t.request, 0xff, 4);
	memcpy((char *)t.request + 4, question, strlen(question));
	return t;
}

/* The newest of each question, of its own service, until they are forgotten. */
static void the_newest_is_seen(void **state)
{
	struct cached_response seen[CACHE_FORMS];
	struct live *live = calloc(1, sizeof(*live));
	struct shield s = { .shared = live };
	struct cache_entry first = answer_to("getinfo", 100),
			   next = answer_to("getinfo", 101),
			   other = answer_to("getstatus", 900);

	(void)state;
	assert_non_null(live);
	assert_int_equal(shield_cached_responses(&s, 3, seen), 0);
	shield_cache_put(&s, 3, 0, &first);
	shield_cache_put(&s, 3, CACHE_FORMS - 1, &other);
	assert_int_equal(shield_cached_responses(&s, 3, seen), 2);
	assert_int_equal(seen[0].bytes, 100);
	assert_string_equal(seen[1].request, "getstatus");
	assert_true(seen[0].fresh && seen[1].fresh);
	assert_true(seen[0].age_ns < CACHE_NS);
	shield_cache_put(&s, 3, 0, &next);
	assert_int_equal(shield_cached_responses(&s, 3, seen), 2);
	assert_int_equal(seen[0].bytes, 101);
	assert_int_equal(shield_cached_responses(&s, 2, seen), 0);
	assert_int_equal(shield_cached_responses(&s, 4, seen), 0);
	assert_int_equal(shield_cached_responses(&s, SERVICES_MAX, seen), 0);
	shield_cache_forget(&s, 3);
	assert_int_equal(shield_cached_responses(&s, 3, seen), 0);
	free(live);
}

/* Only while the service in the slot is the one that has said it, and nobody is about to
 * give the slot away. */
static void of_its_own_service(void **state)
{
	struct cached_response seen[CACHE_FORMS];
	struct live *live = calloc(1, sizeof(*live));
	struct shield s = { .shared = live, .lock = open("/", O_RDONLY | O_CLOEXEC) };
	struct cache_entry t = answer_to("getinfo", 100);
	int other = open("/", O_RDONLY | O_CLOEXEC);
	struct service *now;

	(void)state;
	assert_non_null(live);
	assert_true(s.lock >= 0 && other >= 0);
	now = &live->tables[1].services[3];
	live->generation = 1;
	strcpy(now->name, "a");
	assert_false(shield_cache_put_for(&s, "a", 3, 0, &t));
	now->active = 1;
	live->tables[0].services[3] = *now;
	strcpy(live->tables[0].services[3].name, "b");
	assert_false(shield_cache_put_for(&s, "b", 3, 0, &t));
	assert_false(shield_cache_put_for(&s, "a", 2, 0, &t));
	assert_false(shield_cache_put_for(&s, "a", SERVICES_MAX, 0, &t));
	assert_int_equal(flock(other, LOCK_EX), 0);
	assert_false(shield_cache_put_for(&s, "a", 3, 0, &t));
	assert_int_equal(flock(other, LOCK_UN), 0);
	assert_int_equal(shield_cached_responses(&s, 3, seen), 0);
	assert_true(shield_cache_put_for(&s, "a", 3, 0, &t));
	assert_int_equal(shield_cached_responses(&s, 3, seen), 1);
	/* The lock is nobody's afterwards. */
	assert_int_equal(flock(other, LOCK_EX | LOCK_NB), 0);
	assert_int_equal(flock(other, LOCK_UN), 0);
	assert_false(shield_cache_put_for(&s, "b", 3, 0, &t));
	assert_int_equal(flock(other, LOCK_EX | LOCK_NB), 0);
	close(other);
	close(s.lock);
	free(live);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_newest_is_seen),
		cmocka_unit_test(of_its_own_service),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
