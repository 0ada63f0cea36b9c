// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_q3_fields.c - the tables of fields of all games, each against the sheet; and how
 * many configstrings a game has, to the last one.
 */
#include "decode/q3/q3_sheet.h"
#include "decode/q3/q3_support.h"
#include "decode/tape.h"

#define LIST_MAX 4096

/* --- fields
 * ---------------------------------------------------------------------------
 */

static const struct {
	const struct q3_dialect *dialect;
	const char *entity, *player, *pilot, *vehicle;
} games[] = {
	{ &q3_dialect_66, quake3_entity, quake3_player, NULL, NULL },
	{ &q3_dialect_67, quake3_entity, quake3_player, NULL, NULL },
	{ &q3_dialect_68, quake3_entity, quake3_player, NULL, NULL },
	{ &q3_dialect_legacy, quake3_entity, quake3_player, NULL, NULL },
	{ &q3_dialect_openarena, quake3_entity, quake3_player, NULL, NULL },
	{ &q3_dialect_ioq3, quake3_entity, quake3_player, NULL, NULL },
	{ &q3_dialect_quakelive73, quakelive_73_entity, quakelive_73_player, NULL, NULL },
	{ &q3_dialect_quakelive90, quakelive_90_entity, quakelive_90_player, NULL, NULL },
	{ &q3_dialect_quakelive91, quakelive_91_entity, quakelive_91_player, NULL, NULL },
	{ &q3_dialect_rtcw, rtcw_60_entity, rtcw_60_player, NULL, NULL },
	{ &q3_dialect_et, et_84_entity, et_84_player, NULL, NULL },
	{ &q3_dialect_tremulous70, tremulous_71_entity, tremulous_71_player, NULL, NULL },
	{ &q3_dialect_tremulous71, tremulous_71_entity, tremulous_71_player, NULL, NULL },
	{ &q3_dialect_jka, jka_26_entity, jka_26_player, jka_26_pilot, jka_26_vehicle },
	{ &q3_dialect_jk2_15, jk2_15_entity, jk2_15_player, NULL, NULL },
	{ &q3_dialect_jk2_16, jk2_16_entity, jk2_16_player, NULL, NULL },
};

/* @t is what @sheet lists, from the first to the last. */
static void is_listed(const char *game, const struct q3_table *t, const char *sheet)
{
	char list[LIST_MAX], *rest = list;
	const char *row;
	size_t i = 0;

	assert_true(strlen(sheet) < sizeof(list));
	strcpy(list, sheet);
	for (; (row = strsep(&rest, ",")); i++) {
		char field[64];

		if (i == t->count)
			fail_msg("%s ends before %s", game, row);
		row += *row == ' ';
		snprintf(field, sizeof(field), "%s %d", t->fields[i].name,
			 t->fields[i].bits);
		if (strcmp(field, row) != 0)
			fail_msg("%s, field %zu: %s instead of %s", game, i, field, row);
	}
	assert_int_equal(t->count, i);
}

static void fields_are_those_of_the_engines(void **state)
{
	(void)state;
	for (size_t i = 0; i < Q3_COUNT(games); i++) {
		const struct q3_dialect *d = games[i].dialect;

		is_listed(d->name, &d->entity, games[i].entity);
		is_listed(d->name, &d->player, games[i].player);
		assert_int_equal(d->pilot.count != 0, games[i].pilot != NULL);
		assert_int_equal(d->vehicle.count != 0, games[i].vehicle != NULL);
		if (games[i].pilot)
			is_listed(d->name, &d->pilot, games[i].pilot);
		if (games[i].vehicle)
			is_listed(d->name, &d->vehicle, games[i].vehicle);
	}
	/* All that there are are above. */
	for (size_t i = 0; q3_dialects[i]; i++) {
		size_t at = 0;

		while (at < Q3_COUNT(games) && games[at].dialect != q3_dialects[i])
			at++;
		assert_in_range(at, 0, Q3_COUNT(games) - 1);
	}
}

/* A demo's dialect of before 66. */
static const struct q3_dialect *old_dialect(int protocol)
{
	size_t i = 0;

	while (q3_old_dialects[i] && q3_old_dialects[i]->protocol != protocol)
		i++;
	assert_non_null(q3_old_dialects[i]);
	return q3_old_dialects[i];
}

static void fields_before_66(void **state)
{
	static const struct {
		int protocol;
		const char *name, *entity, *player;
	} rows[] = {
		{ 43, "quake3-43", quake3_45_entity, quake3_45_player },
		{ 45, "quake3-45", quake3_45_entity, quake3_45_player },
		{ 48, "quake3-48", quake3_48_entity, quake3_48_player },
	};

	(void)state;
	for (size_t i = 0; i < Q3_COUNT(rows); i++) {
		const struct q3_dialect *d = old_dialect(rows[i].protocol);

		assert_string_equal(d->name, rows[i].name);
		is_listed(d->name, &d->entity, rows[i].entity);
		is_listed(d->name, &d->player, rows[i].player);
		/* These are read to where they stand in the table. */
		assert_int_equal(d->player_slots, d->player.count);
		for (size_t k = 0; k < d->entity.count; k++)
			assert_int_equal(d->entity.fields[k].slot, k);
		for (size_t k = 0; k < d->player.count; k++)
			assert_int_equal(d->player.fields[k].slot, k);
	}
	assert_null(q3_old_dialects[Q3_COUNT(rows)]);
}

/* One field, one place below @slots. */
static void is_apart(const struct q3_table *t, size_t slots)
{
	bool taken[UINT8_MAX + 1] = { false };

	for (size_t i = 0; i < t->count; i++) {
		assert_true(t->fields[i].slot < slots);
		assert_false(taken[t->fields[i].slot]);
		taken[t->fields[i].slot] = true;
	}
}

static void each_field_has_a_place_of_its_own(void **state)
{
	(void)state;
	for (size_t i = 0; i < Q3_COUNT(games); i++) {
		const struct q3_dialect *d = games[i].dialect;

		is_apart(&d->entity, Q3_ENTITY_WORDS);
		is_apart(&d->player, d->player_slots);
		is_apart(&d->pilot, d->player_slots);
		is_apart(&d->vehicle, Q3_VEHICLE_MAX);
		/* Who becomes a pilot keeps what he was. */
		for (size_t a = 0; a < d->player.count; a++)
			for (size_t b = 0; b < d->pilot.count; b++)
				assert_int_equal(!strcmp(d->player.fields[a].name,
							 d->pilot.fields[b].name),
						 d->player.fields[a].slot ==
							 d->pilot.fields[b].slot);
	}
}

/* --- configstrings
 * --------------------------------------------------------------------
 */

/* Why a gamestate with a configstring of that number is wrong; NULL: it is not. */
static const char *why_not(const struct q3_dialect *d, unsigned int end, bool tail,
			   unsigned int index)
{
	struct writer w = { .bits = 0 };
	struct q3_parse p;
	struct record r;
	uint8_t *copy;

	put(&w, 0, 32);
	put(&w, 2, 8);
	put(&w, 0, 32);
	put(&w, 3, 8);
	put(&w, index, 16);
	put_text(&w, "x", 1);
	put(&w, end, 8);
	put(&w, 0, 32);
	put(&w, 77, 32);
	if (tail)
		put(&w, 0, 16);
	put(&w, end, 8);
	copy = exact_copy(w.bytes, written(&w));
	record_reset(&r, &tape);
	q3_parse_init(&p, copy, written(&w), d, NULL, &r);
	q3_decode_message(&p, DIRECTION_S2C);
	free(copy);
	return r.status == RECORD_MALFORMED ? r.reason : NULL;
}

static void configstrings_end_where_they_do(void **state)
{
	static const struct {
		const struct q3_dialect *dialect;
		unsigned int end, count;
		bool tail; /* behind a gamestate */
	} rows[] = {
		{ &q3_dialect_68, 8, 1024, false },
		{ &q3_dialect_legacy, 8, 1024, false },
		{ &q3_dialect_openarena, 8, 1024, false },
		{ &q3_dialect_ioq3, 8, 1024, false },
		{ &q3_dialect_quakelive73, 8, 1024, false },
		{ &q3_dialect_quakelive90, 8, 1024, false },
		{ &q3_dialect_quakelive91, 8, 1024, false },
		{ &q3_dialect_rtcw, 8, 2048, false },
		{ &q3_dialect_et, 8, 1024, false },
		{ &q3_dialect_tremulous70, 8, 1024, false },
		{ &q3_dialect_tremulous71, 8, 1024, false },
		{ &q3_dialect_jka, 10, 1700, true },
		{ &q3_dialect_jk2_15, 9, 1400, false },
		{ &q3_dialect_jk2_16, 9, 1400, false },
	};

	(void)state;
	for (size_t i = 0; i < Q3_COUNT(rows); i++) {
		const struct q3_dialect *d = rows[i].dialect;
		unsigned int end = rows[i].end, count = rows[i].count;
		const char *why = why_not(d, end, rows[i].tail, count - 1);

		if (why)
			fail_msg("%s: %s", d->name, why);
		why = why_not(d, end, rows[i].tail, count);
		assert_string_equal(why ? why : d->name,
				    "configstring index out of range");
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_are_those_of_the_engines),
		cmocka_unit_test(fields_before_66),
		cmocka_unit_test(each_field_has_a_place_of_its_own),
		cmocka_unit_test(configstrings_end_where_they_do),
	};

	return cmocka_run_group_tests(tests, tape_begin, tape_end);
}
