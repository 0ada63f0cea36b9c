// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What stock clients and servers say from first contact to the game, by
 * tests/data/handshakes.tsv, through a default configuration, with nothing else on the
 * wire: nothing is lost, and nothing is a word that is not known.
 * stubs: shield_joined
 */
#include "kern/kern_apply.h"

#include "classify.h"
#include "lib/names.h"

#define TABLE	"tests/data/handshakes.tsv"
#define FIRST	26000 /* port of the first family; the others follow */
#define PAYLOAD 1472
#define LINE	1024
#define FIELDS	7
#define BETWEEN (60 * SECOND) /* two stories */

enum field {
	FIELD_PROTOCOL,
	FIELD_STORY,
	FIELD_MS,
	FIELD_DIRECTION,
	FIELD_KIND,
	FIELD_CLASS,
	FIELD_PAYLOAD,
};

struct row {
	char line[LINE]; /* with NULs for tabs */
	char *fields[FIELDS];
	unsigned int number;
	enum wire_family family;
	enum direction direction;
	char payload[PAYLOAD];
	size_t n;
};

/* Bytes as they are written in the table. Those that mean nothing are all different. */
static size_t payload_read(const char *text, char ret[PAYLOAD])
{
	unsigned int value;
	size_t n = 0;
	char *end;

	while (*text) {
		assert_true(n + 4 <= PAYLOAD);
		if (*text == '~') {
			memset(ret + n, 0xff, 4);
			n += 4;
			text++;
		} else if (*text == '{') {
			unsigned long count = strtoul(text + 1, &end, 10);

			assert_true(*end == '}' && n + count <= PAYLOAD);
			for (unsigned long i = 0; i < count; i++)
				ret[n++] = (char)(0x30 + i * 7 % 0x4a);
			text = end + 1;
		} else if (*text != '\\') {
			ret[n++] = *text++;
		} else if (text[1] == 'x') {
			assert_int_equal(sscanf(text + 2, "%2x", &value), 1);
			ret[n++] = (char)value;
			text += 4;
		} else {
			ret[n++] = text[1] == 'n' ? '\n' : text[1];
			text += 2;
		}
	}
	return n;
}

static enum wire_family family_named(const char *name)
{
	int f = 0;

	while (f < FAMILY_COUNT && strcmp(name, family_name((enum wire_family)f)) != 0)
		f++;
	assert_true(f < FAMILY_COUNT);
	return (enum wire_family)f;
}

/* False: the end of the table. */
static bool row_read(FILE *file, struct row *r)
{
	char *at;

	do {
		if (!fgets(r->line, LINE, file))
			return false;
		r->number++;
	} while (r->line[0] == '#');
	at = r->line;
	at[strcspn(at, "\n")] = '\0';
	for (int i = 0; i < FIELDS; i++) {
		assert_non_null(at);
		r->fields[i] = strsep(&at, "\t");
	}
	assert_null(at);
	r->family = family_named(r->fields[FIELD_PROTOCOL]);
	r->direction = strcmp(r->fields[FIELD_DIRECTION], "c2s") != 0 ? DIRECTION_S2C
								      : DIRECTION_C2S;
	r->n = payload_read(r->fields[FIELD_PAYLOAD], r->payload);
	return true;
}

#define assert_row(r, what)                                                             \
	do {                                                                            \
		if (!(what))                                                            \
			fail_msg("%s:%u: %s %s %s: " #what, TABLE, (r)->number,         \
				 (r)->fields[FIELD_PROTOCOL], (r)->fields[FIELD_STORY], \
				 (r)->fields[FIELD_KIND]);                              \
	} while (0)

/* The kind, and the class of its row, are those in the table. */
static void row_is_known(const struct row *r)
{
	struct cursor c = { (const __u8 *)r->payload, (const __u8 *)r->payload + r->n };
	enum wire_kind kind = classify(r->family, r->direction, c, (__u32)r->n);
	enum wire_class class_ = wire_class(r->family, kind);

	if (strcmp(kind_name(kind), r->fields[FIELD_KIND]) != 0 ||
	    strcmp(class_name(class_), r->fields[FIELD_CLASS]) != 0)
		fail_msg("%s:%u: it is %s, %s", TABLE, r->number, kind_name(kind),
			 class_name(class_));
	assert_row(r, kind != KIND_OOB_UNKNOWN && kind != KIND_OOB_UNUSUAL &&
			      kind != KIND_OOB_EMPTY && class_ != CLASS_MALFORMED);
}

static void every_row_has_its_kind_and_class(void **state)
{
	FILE *file = fopen(TABLE, "r");
	struct row r = { .number = 0 };
	unsigned int of[FAMILY_COUNT] = { 0 };

	(void)state;
	assert_non_null(file);
	while (row_read(file, &r)) {
		row_is_known(&r);
		of[r.family]++;
	}
	for (int f = 0; f < FAMILY_AUTO; f++)
		assert_true(of[f] > 10);
	fclose(file);
}

static void nothing_is_lost_on_a_quiet_day(void **state)
{
	FILE *file = fopen(TABLE, "r");
	struct row r = { .number = 0 };
	char story[LINE] = "", peer[32];
	unsigned int stories = 0, lost = 0;
	struct outcome o;
	bool passed;

	(void)state;
	assert_non_null(file);
	for (int f = 0; f < FAMILY_AUTO; f++) {
		struct config_service *s =
			add(family_name((enum wire_family)f), (__u16)(FIRST + f));

		s->service.family = (__u8)f;
		config_service_defaults((enum wire_family)f, &s->service);
	}
	apply();
	while (row_read(file, &r)) {
		if (strcmp(story, r.fields[FIELD_STORY]) != 0) {
			strcpy(story, r.fields[FIELD_STORY]);
			snprintf(peer, sizeof(peer), "203.0.%u.7", ++stories);
			pass_time(BETWEEN);
		}
		pass_time(strtoul(r.fields[FIELD_MS], NULL, 10) * 1000000);
		link_.peer = peer;
		link_.sport = (__u16)(FIRST + r.family);
		if (r.direction == DIRECTION_S2C) {
			passed = says(r.payload, r.n);
			o.reason = REASON_AMPLIFICATION;
		} else {
			o = hear_from(peer, HERE, r.payload, r.n);
			passed = !o.other && o.action == XDP_PASS;
		}
		if (passed)
			continue;
		print_message("%s:%u: %s %s %s %s: lost, %s\n", TABLE, r.number,
			      r.fields[FIELD_PROTOCOL], story, r.fields[FIELD_DIRECTION],
			      r.fields[FIELD_KIND], reason_name(o.reason));
		lost++;
	}
	fclose(file);
	assert_true(stories > 30);
	assert_int_equal(lost, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_has_its_kind_and_class),
		cmocka_unit_test_setup_teardown(nothing_is_lost_on_a_quiet_day, begin,
						end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
