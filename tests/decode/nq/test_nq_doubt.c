// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Before svc_serverinfo was seen, and of a game's release that is not known: what several
 * readings share is decoded, what they read differently is partial, and numbers that no
 * game has in it are no reading at all.
 */
#include "decode/nq/nq_support.h"

#define DAMAGE "\x13\1\2" VEC_13_3
/* An entity that moves: servers of DP1 to DP8 send none so. */
#define UPDATE "\x82\1\x08\0"

static void hear(const char *bytes, size_t n, enum record_status status, const char *json)
{
	struct record r;
	char *text;

	parse(S2C, bytes, n, &r);
	text = json_of(&r);
	if (r.status != status || !strstr(text, json))
		fail_msg("%s not in %s", json, text);
	free(text);
}

/* Coordinates of DP2 to DP4 are whole units in as many bytes. */
static void two_readings_are_a_guess_until_one_is_left(void **state)
{
	(void)state;
	memset(&game, 0, sizeof(game));
	hear(B("\1\1"), RECORD_DECODED, "\"nop\"");
	hear(B(DAMAGE), RECORD_PARTIAL, "\"dialect_guess\":\"quake15\"");
	hear(B(UPDATE), RECORD_PARTIAL, "from a baseline that was not seen");
	hear(B(DAMAGE), RECORD_DECODED, "\"origin\":[1,2,-1]");
	assert_false(game.known);
}

static void huge_and_tiny_numbers_are_no_reading(void **state)
{
	/* svc_spawnstaticsound: as f32 or i32 the only lengths that fit. */
	static const char huge[] = "\x1d\x7f\x7f\x7f\x6c\x7f\x7f\x7f\x6c\x7f\x7f\x7f\x6c"
				   "\1\2\3";
	static const char tiny[] = "\x1d\1\0\0\0\0\0\0\0\0\0\0\0\1\2\3";

	(void)state;
	for (int i = 0; i < 2; i++) {
		memset(&game, 0, sizeof(game));
		game.possible = 1U << 4; /* dp7 alone */
		hear(i ? tiny : huge, sizeof(huge) - 1, RECORD_PARTIAL,
		     "no known protocol fits");
	}
	/* Where serverinfo was seen a server may say what it likes. */
	enter("dp7", 0, 0);
	hear(huge, sizeof(huge) - 1, RECORD_DECODED, "\"spawnstaticsound\"");
}

static void several_names_are_no_dialect(void **state)
{
	(void)state;
	memset(&game, 0, sizeof(game));
	for (int i = 0; i < 9; i++)
		hear(B(UPDATE), RECORD_PARTIAL, i < 7 ? "" : "\"dialect_guess\":");
	hear(B("\x0b\x0f\0\0\0\4\0lab\0maps/x.bsp\0\0\0"), RECORD_DECODED,
	     "\"dialect\":\"quake15\"");
}

/* The curve of Nexuiz 2.5.2 is what its code reads; of March 2009 another had the type.
 */
static void a_curve_of_another_release_is_rest(void **state)
{
	static const char curve[] =
		"\7\x33\x33\x63\x40\x17\x67\x70\0\xa5\x48\xd8\xc4\x8a\xbd\x89\xc1\x09"
		"\xcb\x95\xc4\x1e\x79\xec\xc4\x13\x5a\x38\xc3\0\1\xaf\x44\x56\x32\x18"
		"\x3d\x74\x04\x17\x67\x70\0\xa5\x48\xd8\xc4\x8a\xbd\x89\xc1\x09\xcb\x95"
		"\xc4\xf6\x99\xd8\xc4\x62\xd4\x4c\xc3\x36\x8b\xaa\xc4\xf3\x10\x8c\x3e"
		"\xe0\2";
	static const char sound[] = "\x17\x67\1\0" VEC_F32 VEC_F32 ONE "\2\x80";

	(void)state;
	enter("dp7", 0, 0);
	game.private_code = true;
	game.code = NQ_CODE_NEXUIZ;
	hear(B(curve), RECORD_PARTIAL, "\"type\":103,\"rest\":\"7000a548");
	hear(B(sound), RECORD_DECODED, "\"speed\":2}]");
}

/* Only of these was there a recording, and of 999 with these flags. */
static void dialect_without_a_recording_is_untested(void **state)
{
	static const char *const tested[] = { "quake15", "fitzquake666", "rmq999",
					      "dp7" };
	struct nq_format f;

	(void)state;
	for (size_t i = 0; nq_dialects[i]; i++) {
		const struct nq_dialect *d = nq_dialects[i];
		bool known = false;

		for (size_t k = 0; k < sizeof(tested) / sizeof(*tested); k++)
			known |= !strcmp(d->name, tested[k]);
		assert_true(nq_format_of(d, d->protocol == 999 ? 0x82 : 0, 0, 0, &f));
		assert_int_equal(f.untested, !known);
		assert_true(nq_format_of(d, 0, 0, 1, &f));
		assert_true(f.untested);
	}
	assert_true(nq_format_of(&nq_rmq_plain, 0, 0, 0, &f));
	assert_true(f.untested);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dialect_without_a_recording_is_untested),
		cmocka_unit_test(two_readings_are_a_guess_until_one_is_left),
		cmocka_unit_test(huge_and_tiny_numbers_are_no_reading),
		cmocka_unit_test(several_names_are_no_dialect),
		cmocka_unit_test(a_curve_of_another_release_is_rest),
	};

	return cmocka_run_group_tests(tests, tape_begin, tape_end);
}
