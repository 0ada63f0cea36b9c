// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_hosts.c - what is remembered of hosts beside the table of sessions: as many as its
 * size allows, the newest of those who share a set, each once.
 */
#include "decode/decode_support.h"
#include "decode/session.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define WAYS	 4

static struct record_address host_of(unsigned int number)
{
	return (struct record_address){ .length = 4,
					.bytes = { 10, (uint8_t)(number >> 16),
						   (uint8_t)(number >> 8),
						   (uint8_t)number },
					.port = 27960 };
}

static void learn(struct session_table *t, unsigned int number, int64_t time_ns)
{
	struct record_address address = host_of(number);

	host_learn(t, &address, FAMILY_QUAKE3, HOST_SERVER, time_ns);
}

static const struct host *find(struct session_table *t, unsigned int number)
{
	struct record_address address = host_of(number);

	return host_find(t, &address);
}

/* Sixteen sets of four, or a set for four buckets of sessions. Eight come for each place
 * that there should be: next to all are taken, and there are no more. */
static void there_are_as_many_as_sessions_allow(void **state)
{
	static const struct {
		size_t sessions;
		unsigned int sets;
	} rows[] = { { 1, 16 }, { 64, 16 }, { 65, 32 }, { 128, 32 }, { 1024, 256 } };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct session_table *t = session_table_create(rows[i].sessions, 0);
		unsigned int places = rows[i].sets * WAYS, found = 0;

		assert_non_null(t);
		for (unsigned int n = 0; n < 8 * places; n++) {
			learn(t, n, n);
			assert_non_null(find(t, n));
		}
		for (unsigned int n = 0; n < 8 * places; n++)
			found += find(t, n) != NULL;
		assert_in_range(found, places * 3 / 4, places);
		session_table_free(t);
	}
}

/* Who was heard of again stays; who was heard of longest ago gives way. */
static void the_oldest_gives_way(void **state)
{
	struct session_table *t = session_table_create(1, 0);

	(void)state;
	assert_non_null(t);
	learn(t, 0, 1);
	for (unsigned int n = 1; n < 2000; n++) {
		learn(t, n, 2 * n);
		learn(t, 0, 2 * n + 1);
		assert_non_null(find(t, 0));
		assert_int_equal(find(t, 0)->time_ns, 2 * n + 1);
	}
	assert_null(find(t, 1));
	session_table_free(t);
}

static void a_host_is_known_by_all_of_its_address(void **state)
{
	struct session_table *t = session_table_create(64, 0);
	struct record_address address = host_of(5), other = address;

	(void)state;
	assert_non_null(t);
	host_learn(t, &address, FAMILY_QUAKE2, HOST_SERVER, 1);
	/* Of so many other ports some share its set. */
	for (int i = 0; i < 500; i++) {
		other.port++;
		assert_null(host_find(t, &other));
	}
	other = address;
	other.length = 16;
	assert_null(host_find(t, &other));
	assert_null(find(t, 6));
	assert_int_equal(find(t, 5)->family, FAMILY_QUAKE2);
	host_learn(t, &address, FAMILY_QUAKE3, HOST_CLIENT, 2);
	assert_int_equal(find(t, 5)->family, FAMILY_QUAKE3);
	assert_int_equal(find(t, 5)->role, HOST_CLIENT);
	session_table_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(there_are_as_many_as_sessions_allow),
		cmocka_unit_test(the_oldest_gives_way),
		cmocka_unit_test(a_host_is_known_by_all_of_its_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
