// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * classify() against a reading of the same tables that shares nothing with it (reader.h):
 * never a different kind. SEED= draws other datagrams, INPUTS= more of each family.
 */
#include "classify_support.h"
#include "guard.h"
#include "mutations.h"
#include "reader.h"

#define INPUTS 350000 /* of each family */
#define SHOWN  40 /* differences, one for each pair of kinds */

struct difference {
	enum wire_family family;
	enum wire_kind reader, fast;
	struct mutation first;
	unsigned int times;
};

static struct difference differences[SHOWN];
static size_t difference_count;

static unsigned int asked(const char *name, unsigned int otherwise)
{
	const char *text = getenv(name);

	return text ? (unsigned int)strtoul(text, NULL, 10) : otherwise;
}

static void note(enum wire_family family, enum wire_kind reader, enum wire_kind fast,
		 const struct mutation *in)
{
	struct difference *d = differences;

	while (d < differences + difference_count &&
	       (d->family != family || d->reader != reader || d->fast != fast))
		d++;
	if (d == differences + SHOWN)
		return;
	if (d == differences + difference_count) {
		*d = (struct difference){ family, reader, fast, *in, 0 };
		difference_count++;
	}
	d->times++;
	if (in->n < d->first.n)
		d->first = *in;
}

static void compare(enum wire_family family, const struct mutation *in)
{
	const __u8 *bytes = guard_page(in->bytes, in->n);
	struct cursor c = { .pos = bytes, .end = bytes + in->n };
	enum wire_kind fast = classify(family, DIRECTION_C2S, c, (__u32)in->n);
	enum wire_kind hot = classify_hot(c, in->n);
	enum wire_kind reader = reader_kind(family, bytes, in->n);

	if (fast != reader)
		note(family, reader, fast, in);
	/* The short way says the same, or nothing. */
	if (hot != reader && hot != KIND_COUNT)
		note(family, reader, hot, in);
}

static void show(const struct difference *d)
{
	print_error("%s: reader %s, classify() %s, %u times:", family_name(d->family),
		    kind_name(d->reader), kind_name(d->fast), d->times);
	for (size_t i = 0; i < d->first.n; i++)
		print_error(" %02x", d->first.bytes[i]);
	print_error("\n");
}

static void two_readings_agree(void **state)
{
	unsigned int seed = asked("SEED", 20261122), inputs = asked("INPUTS", INPUTS);
	struct mutation in;

	(void)state;
	print_message("SEED=%u INPUTS=%u\n", seed, inputs);
	for (int family = 0; family < FAMILY_COUNT; family++) {
		mutation_state = seed * FAMILY_COUNT + (unsigned int)family;
		for (size_t at = 0; at < MUTATION_SEEDS; at++) {
			mutation_seed(&in, at);
			compare((enum wire_family)family, &in);
		}
		for (unsigned int i = 0; i < inputs; i++) {
			mutation_draw(&in);
			compare((enum wire_family)family, &in);
		}
	}
	for (size_t i = 0; i < difference_count; i++)
		show(&differences[i]);
	assert_int_equal(difference_count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_readings_agree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
