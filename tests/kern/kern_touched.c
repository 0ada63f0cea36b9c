// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * kern_touched.c - what a refused datagram of an unvalidated client writes to: what the
 * table of tables in docs/ARCHITECTURE.md names, and nothing else.
 */
#include "config/config.h"
#include "kern/kern_answers.h"
#include "lab/tables.h"
#include "mutations.h"

#define ROWS_MAX 128

/* The rows of all parts, one after the other. */
static const struct tables_row *rows[ROWS_MAX];
static size_t row_count;

static void rows_add(const struct tables_row *row)
{
	for (; row->name; row++) {
		assert_true(row_count < ROWS_MAX);
		rows[row_count++] = row;
	}
}

static bool writes(const struct tables_row *row)
{
	return !strncmp(row->refused, "write", 5);
}

/* The number of the row with the byte at @offset of struct live, or row_count: none. */
static size_t row_at(size_t offset)
{
	size_t i = 0;

	while (i < row_count &&
	       (!rows[i]->offset || offset < rows[i]->offset ||
		offset >= rows[i]->offset + rows[i]->entry * rows[i]->entries))
		i++;
	return i;
}

/* Nothing passes, and no challenge is left. */
static void set_up(enum wire_family family)
{
	struct limit none = { SECOND, 0 };
	struct service s;

	answers(family, CACHE_UNDER_LOAD);
	demand(family, VALIDATION_UNDER_LOAD);
	memset(&s, 0, sizeof(s));
	config_service_defaults(family, &s);
	s.family = (__u8)family;
	s.active = 1;
	s.validation = VALIDATION_UNDER_LOAD;
	s.cache = CACHE_UNDER_LOAD;
	memset(s.policy, POLICY_DROP, sizeof(s.policy));
	limit_normal(&none);
	for (int i = 0; i < CLASS_BUDGETS; i++)
		s.budget[i].service = none;
	kern_service(&kern, 0, 0, &s);
	for (int use = 0; use < CHALLENGE_USES; use++)
		kern.live->validation.share[0][use] = none;
	kern.live->counters_turn++; /* as the daemon does once per second */
	kern.live->amplification = (struct amplification_limit){ .byte_ns = 1000,
								 .window_ns = 20 * SECOND,
								 .credit_ns = SECOND };
}

/* Each kind of datagram, of sources that come once, plain and in a VLAN. */
static void send_all(void)
{
	static unsigned int number;
	char address[40];
	struct frame_spec s = { .from = address };

	for (unsigned int i = 0; i < 4 * COUNT(mutation_seeds); i++, number++) {
		s.ipv6 = i & 1;
		s.tags[0] = i & 2 ? ETH_P_8021Q : 0;
		s.sport = (__u16)(1024 + number % 50000);
		snprintf(address, sizeof(address),
			 s.ipv6 ? "2001:db8:%x:%x::1" : "10.0.%u.%u", number >> 8,
			 number & 255);
		kern.live->clock_ns += SECOND / 16;
		say(&s, mutation_seeds[i / 4].bytes, mutation_seeds[i / 4].n, &say_);
		assert_int_equal(say_.action, XDP_DROP);
	}
}

static void refused_datagram_writes_what_its_row_says(void **state)
{
	struct live *was = malloc(sizeof(*was));
	const __u8 *before = (const __u8 *)was, *after = (const __u8 *)kern.live;
	bool changed[ROWS_MAX] = { 0 };

	(void)state;
	rows_add(tables_by_end);
	rows_add(tables_by_service);
	rows_add(tables_other);
	assert_non_null(was);
	for (int family = 0; family < FAMILY_COUNT; family++) {
		set_up((enum wire_family)family);
		memcpy(was, kern.live, sizeof(*was));
		send_all();
		was->clock_ns = kern.live->clock_ns;
		for (size_t at = 0, row; at < sizeof(*was); at++) {
			if (before[at] == after[at])
				continue;
			row = row_at(at);
			if (row == row_count || !writes(rows[row]))
				fail_msg("%s: byte %zu of struct live changed: %s",
					 family_name(family), at,
					 row < row_count ? rows[row]->name : "no row");
			changed[row] = true;
		}
	}
	for (size_t i = 0; i < row_count; i++)
		if (rows[i]->offset && writes(rows[i]) && !changed[i])
			fail_msg("%s was not written", rows[i]->name);
	free(was);
}

/* The arrays that packets share and that are maps of their own stay as they were: zero.
 */
static void refused_datagram_leaves_shared_maps_alone(void **state)
{
	static const struct {
		const char *name;
		size_t entries;
	} maps[] = { { "prefixes", 1 << PREFIX_BITS },
		     { "amplification", 1 << AMPLIFICATION_BITS },
		     { "fragments", 1 << FRAGMENT_BITS },
		     { "sample_dues", SAMPLER_COUNT } };
	struct amplification_line value, none = { 0 };
	struct qport_key key;

	(void)state;
	for (int family = 0; family < FAMILY_COUNT; family++) {
		set_up((enum wire_family)family);
		send_all();
	}
	for (size_t i = 0; i < COUNT(maps); i++) {
		int fd = bpf_object__find_map_fd_by_name(kern.skel->obj, maps[i].name);

		for (__u32 at = 0; at < maps[i].entries; at++) {
			value = none;
			assert_int_equal(bpf_map_lookup_elem(fd, &at, &value), 0);
			assert_memory_equal(&value, &none, sizeof(none));
		}
	}
	assert_int_not_equal(
		bpf_map_get_next_key(bpf_map__fd(kern.skel->maps.qports), NULL, &key), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(refused_datagram_writes_what_its_row_says),
		TEST(refused_datagram_leaves_shared_maps_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
