// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Who is known is known after a reboot: what is written, what is read, what is passed
 * over.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "cache/known_clients.h"
#include "lib/old_names.h"

#define MINUTE	 50000u
#define NOW	 1795372800
#define DAY	 86400
#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static const __u64 keys[3] = { 0x9e3779b97f4a7c15, 0xc2b2ae3d27d4eb4f,
			       0x165667b19e3779f9 };
/* Of the next boot. */
static const __u64 other_keys[3] = { 0x27d4eb4f165667b1, 0x9e3779f9c2b2ae3d,
				     0x7f4a7c159e3779b9 };
static struct reputation_table before, after;
static char directory[] = "/tmp/test_known_clientsXXXXXX", path[64];
static size_t bad, first;

static struct known_clients at_before = { &before, keys, MINUTE, NOW };
/* Two hours later the machine has been up for two minutes. */
static struct known_clients at_after = { &after, other_keys, 2, NOW + 7200 };

static int begin(void **state)
{
	(void)state;
	memset(&before, 0, sizeof(before));
	memset(&after, 0, sizeof(after));
	unlink(path);
	return 0;
}

static void know(__u64 net, __u32 hops, __u32 minute)
{
	for (__u32 i = 0; i < REPUTATION_MINUTES; i++)
		reputation_note(&before, net, hops, 0,
				minute - REPUTATION_MINUTES + 1 + i, keys);
}

static bool good(__u64 net)
{
	return reputation_good(reputation_find(&after, net, other_keys), at_after.minute);
}

static void put(const char *text)
{
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	fputs(text, out);
	fclose(out);
}

static void over_a_reboot(void **state)
{
	static const __u64 net6 = 0x20010db800010002;

	(void)state;
	know(0xc0000207, 57, MINUTE);
	know(net6, 44, MINUTE - 1000);
	reputation_note(&before, 0xc0000208, 0, REPUTATION_PLAYER, MINUTE - 5, keys);
	reputation_note(&before, 0xc0000209, 57, 0, MINUTE, keys); /* not known yet */
	assert_int_equal(known_clients_write(path, &at_before), 0);
	assert_int_equal(known_clients_read(path, &at_after, &bad, &first), 0);
	assert_int_equal(bad, 0);
	assert_true(good(0xc0000207));
	assert_true(reputation_near(reputation_find(&after, 0xc0000207, other_keys), 57));
	assert_false(
		reputation_near(reputation_find(&after, 0xc0000207, other_keys), 50));
	assert_true(good(net6));
	assert_true(good(0xc0000208));
	assert_true(reputation_flags(reputation_find(&after, 0xc0000208, other_keys)) &
		    REPUTATION_PLAYER);
	assert_false(good(0xc0000209));
	/* An age goes on through all of it: two hours are 104 of the table's minutes. */
	assert_in_range(reputation_age(reputation_find(&after, net6, other_keys),
				       at_after.minute),
			1000 + 103, 1000 + 106);
}

static void who_was_silent_for_two_weeks_is_forgotten(void **state)
{
	(void)state;
	know(0xc0000207, 57, MINUTE);
	assert_int_equal(known_clients_write(path, &at_before), 0);
	at_after.now = NOW + 13 * DAY;
	assert_int_equal(known_clients_read(path, &at_after, &bad, &first), 0);
	assert_true(good(0xc0000207));
	memset(&after, 0, sizeof(after));
	at_after.now = NOW + 15 * DAY;
	assert_int_equal(known_clients_read(path, &at_after, &bad, &first), 0);
	assert_false(good(0xc0000207));
	at_after.now = NOW + 7200;
}

/* A distance is one of 256, and all of them come back. */
static void the_distance_is_kept(void **state)
{
	static const __u32 hops[] = { 0, 1, 127, 128, 200, 255 };

	(void)state;
	for (__u32 i = 0; i < COUNT(hops); i++)
		know(0xc0000210 + i, hops[i], MINUTE);
	assert_int_equal(known_clients_write(path, &at_before), 0);
	assert_int_equal(known_clients_read(path, &at_after, &bad, &first), 0);
	for (__u32 i = 0; i < COUNT(hops); i++) {
		__u64 found = reputation_find(&after, 0xc0000210 + i, other_keys);

		assert_true(reputation_good(found, at_after.minute));
		assert_int_equal(found >> 40 & 0xff, hops[i]);
	}
}

/* A daemon that was killed while it wrote has left a longer one: nothing of it stays. */
static void what_was_half_written_is_gone(void **state)
{
	char fresh[sizeof(path) + 4];

	(void)state;
	put("192.0.2.33 57 1795372800\n192.0.2.34 57 1795372800\n192.0.2.35 57 17953");
	snprintf(fresh, sizeof(fresh), "%s.new", path);
	assert_int_equal(rename(path, fresh), 0);
	know(0xc0000207, 57, MINUTE);
	assert_int_equal(known_clients_write(path, &at_before), 0);
	assert_int_equal(known_clients_read(path, &at_after, &bad, &first), 0);
	assert_int_equal(bad, 0);
	assert_true(good(0xc0000207));
	assert_false(good(0xc0000222));
	assert_int_not_equal(access(fresh, F_OK), 0);
}

/* The daemon restarts, the table stays: what it says holds. */
static void who_is_in_the_table_stays_as_it_is(void **state)
{
	__u64 was;

	(void)state;
	know(0xc0000207, 57, MINUTE);
	assert_int_equal(known_clients_write(path, &at_before), 0);
	know(0xc0000207, 40, MINUTE + 9);
	was = reputation_find(&before, 0xc0000207, keys);
	assert_int_equal(known_clients_read(path, &at_before, &bad, &first), 0);
	assert_true(reputation_find(&before, 0xc0000207, keys) == was);
}

/* As many as there are, all of them known, in a file no larger than it says. */
static void a_full_table(void **state)
{
	unsigned int kept = 0, all = 0;
	struct stat st;

	(void)state;
	for (__u64 net = 1ull << 61; net < (1ull << 61) + 4 * REPUTATION_MAX; net++)
		know(net, 64, MINUTE);
	assert_int_equal(known_clients_write(path, &at_before), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_true(st.st_size < REPUTATION_MAX * KNOWN_CLIENTS_LINE);
	at_after.keys = keys;
	assert_int_equal(known_clients_read(path, &at_after, &bad, &first), 0);
	for (__u32 i = 0; i < REPUTATION_MAX; i++) {
		all += reputation_good(before.cells[i].state, MINUTE);
		kept += reputation_good(after.cells[i].state, at_after.minute);
	}
	at_after.keys = other_keys;
	assert_int_equal(all, REPUTATION_MAX);
	assert_int_equal(kept, REPUTATION_MAX);
}

static void what_is_no_line_is_passed_over(void **state)
{
	static const char *const lines[] = {
		"",
		"\n",
		"192.0.2.1\n",
		"192.0.2.1 57\n",
		"192.0.2.1 256 1795372800\n",
		"192.0.2.1 -1 1795372800\n",
		"192.0.2.1 57 1795372800",
		"192.0.2 57 1\n",
		"192.0.2.1 57 1795372800 \n",
		"192.0.2.1 57 17953728001795372800123\n",
		"0.0.0.0 57 1795372800\n",
		"::ffff:192.0.2.1 57 1795372800\n",
		"192.0.2.1 Player 1795372800\n",
		" 192.0.2.1 57 1795372800\n",
	};
	static char text[4000] = "192.0.2.9 57 1795372800\n";

	(void)state;
	for (size_t i = 0; i < COUNT(lines); i++) {
		put(lines[i]);
		assert_int_equal(known_clients_read(path, &at_after, &bad, &first), 0);
		if (bad != (*lines[i] ? 1u : 0))
			print_error("line %zu\n", i);
		assert_int_equal(bad, *lines[i] ? 1 : 0);
	}
	assert_false(good(0xc0000201));
	/* One without end, and one good line on each side of it. */
	memset(text + 24, 'x', 3000);
	snprintf(text + 3024, sizeof(text) - 3024, "\n192.0.2.10 57 1795372800\n");
	put(text);
	assert_int_equal(known_clients_read(path, &at_after, &bad, &first), 0);
	assert_true(bad > 0);
	assert_int_equal(first, 2);
	assert_true(good(0xc0000209));
	assert_true(good(0xc000020a));
}

static void without_a_file_or_a_place_for_it(void **state)
{
	(void)state;
	assert_int_equal(known_clients_read(path, &at_after, &bad, &first), 0);
	assert_true(known_clients_write("/nowhere/known-clients.txt", &at_before) < 0);
	/* What is there stays if there is no room for another. */
	put("192.0.2.9 57 1795372800\n");
	snprintf(path + strlen(path), 5, ".new");
	assert_int_equal(mkdir(path, 0700), 0);
	path[strlen(path) - 4] = 0;
	assert_true(known_clients_write(path, &at_before) < 0);
	assert_int_equal(known_clients_read(path, &at_after, &bad, &first), 0);
	assert_true(good(0xc0000209));
	/* Written, but not put in its place: that is told, and nothing lies about. */
	snprintf(path + strlen(path), 5, ".new");
	assert_int_equal(rmdir(path), 0);
	path[strlen(path) - 4] = 0;
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(known_clients_write(path, &at_before), -EISDIR);
	snprintf(path + strlen(path), 5, ".new");
	assert_int_not_equal(access(path, F_OK), 0);
	path[strlen(path) - 4] = 0;
	assert_int_equal(rmdir(path), 0);
}

static void a_clock_that_went_back(void **state)
{
	(void)state;
	put("192.0.2.9 57 1795372800\n");
	at_after.now = 100;
	assert_int_equal(known_clients_read(path, &at_after, &bad, &first), 0);
	at_after.now = NOW + 7200;
	assert_true(good(0xc0000209));
}

/* An older build called it so: read where the new one is not, until that is written. */
static void the_file_of_an_older_build(void **state)
{
	char new[sizeof(path)], old[sizeof(path)];

	(void)state;
	strcpy(new, path);
	snprintf(path, sizeof(path), "%s/" OLD_CLIENTS_FILE, directory);
	strcpy(old, path);
	put("192.0.2.9 57 1795372800\n");
	strcpy(path, new);
	assert_int_equal(known_clients_read(path, &at_after, &bad, &first), 0);
	assert_true(good(0xc0000209));
	assert_int_equal(access(old, F_OK), 0);
	/* Once there is a new file, the old one counts for nothing. */
	memset(&after, 0, sizeof(after));
	put("192.0.2.10 57 1795372800\n");
	assert_int_equal(known_clients_read(path, &at_after, &bad, &first), 0);
	assert_false(good(0xc0000209));
	assert_true(good(0xc000020a));
	/* A file that cannot be written takes nothing away. */
	assert_int_equal(mkdir(strcat(strcpy(new, path), ".new"), 0700), 0);
	assert_true(known_clients_write(path, &at_after) < 0);
	assert_int_equal(access(old, F_OK), 0);
	assert_int_equal(rmdir(new), 0);
	assert_int_equal(known_clients_write(path, &at_after), 0);
	assert_int_equal(access(path, F_OK), 0);
	assert_int_equal(access(old, F_OK), -1);
	assert_int_equal(unlink(path), 0);
	strcpy(new, path);
	strcpy(path, old);
	put("192.0.2.9 57 1795372800\n");
	strcpy(path, new);
	/* The same holds for a pin directory, and for no other name. */
	snprintf(new, sizeof(new), "%s/known-x.txt", directory);
	assert_int_equal(rename(old, new), 0);
	memset(&after, 0, sizeof(after));
	snprintf(old, sizeof(old), "%s/known-clients-x.txt", directory);
	assert_int_equal(known_clients_read(old, &at_after, &bad, &first), 0);
	assert_true(good(0xc0000209));
	memset(&after, 0, sizeof(after));
	snprintf(old, sizeof(old), "%s/known-servers-x.txt", directory);
	assert_int_equal(known_clients_read(old, &at_after, &bad, &first), 0);
	assert_false(good(0xc0000209));
	assert_int_equal(unlink(new), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(over_a_reboot, begin),
		cmocka_unit_test_setup(who_was_silent_for_two_weeks_is_forgotten, begin),
		cmocka_unit_test_setup(the_distance_is_kept, begin),
		cmocka_unit_test_setup(what_was_half_written_is_gone, begin),
		cmocka_unit_test_setup(who_is_in_the_table_stays_as_it_is, begin),
		cmocka_unit_test_setup(a_full_table, begin),
		cmocka_unit_test_setup(what_is_no_line_is_passed_over, begin),
		cmocka_unit_test_setup(a_clock_that_went_back, begin),
		cmocka_unit_test_setup(without_a_file_or_a_place_for_it, begin),
		cmocka_unit_test_setup(the_file_of_an_older_build, begin),
	};
	int failed;

	if (!mkdtemp(directory))
		return 1;
	snprintf(path, sizeof(path), "%s/known-clients.txt", directory);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	snprintf(path, sizeof(path), "%s/known-clients.txt.new", directory);
	rmdir(path);
	rmdir(directory);
	return failed;
}
