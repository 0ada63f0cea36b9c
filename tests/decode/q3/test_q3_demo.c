// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Recordings of the Quake III family, by content: every block of every intact one, and
 * for the base game every block written again to the same bytes.
 */
#include "decode/q3/q3_demo.h"
#include "decode/q3/q3_rewrite.h"
#include "decode/tape.h"
#include "recordings.h"

struct expected {
	const char *file;
	const char *dialect;
	unsigned int blocks;
	const char *map; /* as the index of the captures has it, or NULL */
	unsigned int gamestates;
	bool rewrite; /* block by block; slow, so not for all */
};

static const struct expected demos[] = {
	{ "quake3-66-67/2001_duel_quakecon.dm_66", "quake3-66", 18332, "pro-q3tourney4",
	  1, false },
	{ "quake3-66-67/2002_duel_cpl_nostromo.dm_67", "quake3-67", 19263, "pro-q3dm6", 1,
	  false },
	{ "quake3-68/baseq3_1map_2matches.dm_68", "quake3-68", 27167, "Q3TOURNEY2", 1,
	  false },
	{ "quake3-68/baseq3_team_chat.dm_68", "quake3-68", 3796, "Q3DM7", 1, true },
	{ "quake3-68/cpma_2maps.dm_68", "quake3-68", 9339, "q3dm6", 2, true },
	{ "quake3-68/cpma_core_gameplay_dev.dm_68", "quake3-68", 72, "cpm3a", 1, true },
	{ "quake3-68/cpma_ctfs_cut_p71.dm_68", "quake3-68", 607, "ojfc-09", 1, true },
	{ "quake3-68/cpma_excellent_impressive.dm_68", "quake3-68", 1559, "cpm3a", 1,
	  false },
	{ "quake3-68/cpma_forfeit_neg_score.dm_68", "quake3-68", 1273, "cpm3a", 1,
	  false },
	{ "quake3-68/cpma_sudden_death.dm_68", "quake3-68", 2328, "cpm3a", 1, false },
	{ "quake3-68/defrag_ioq3_p71.dm_68", "quake3-68", 2034, "bardok-niels", 1, true },
	{ "quake3-68/edawn_2matches.dm_68", "quake3-68", 7120, "Q3TOURNEY2", 1, false },
	{ "quake3-68/osp_chat.dm_68", "quake3-68", 533, "cpm3a", 1, true },
	{ "quakelive-73/evil_v_spart1e.dm_73", "quakelive-73", 19281, NULL, 1, false },
	{ "quakelive-90-91/duel_forfeit_disconnect.dm_91", "quakelive-91", 18560, NULL, 1,
	  false },
	{ "quakelive-90-91/duel_forfeit_spectator.dm_90", "quakelive-90", 3972, NULL, 1,
	  false },
	{ "quakelive-90-91/freeze_tag.dm_90", "quakelive-90", 4033, NULL, 1, false },
	{ "quakelive-90-91/gameplay_classic_online.dm_90", "quakelive-90", 414, NULL, 1,
	  false },
	{ "quakelive-90-91/team_chat_online.dm_90", "quakelive-90", 1092, NULL, 1,
	  false },
	{ "jedi-academy-26/5_8d5fc.dm_26", "jka-26", 10951, "mp/ctf2", 1, false },
	{ "quake3-old/q3_117_duel.dm3", "quake3-45", 18232, "Q3DM6", 1, false },
	{ "jedi-academy-26/jawa_map5.dm_26", "jka-26", 6736, "mp/ctf1", 1, false },
};

static uint8_t *file_bytes;
static size_t file_n;

/* False: not here; the test is skipped by name. */
static bool read_demo(const char *name)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "demos/%s", name);
	file = recording_open(path);
	if (!file)
		return false;
	fseek(file, 0, SEEK_END);
	file_n = (size_t)ftell(file);
	rewind(file);
	free(file_bytes);
	file_bytes = malloc(file_n);
	assert_non_null(file_bytes);
	assert_int_equal(fread(file_bytes, 1, file_n, file), file_n);
	fclose(file);
	return true;
}

static int32_t le32_at(size_t at)
{
	uint32_t value;

	memcpy(&value, file_bytes + at, sizeof(value));
	return (int32_t)le32toh(value);
}

/* The next block, as an exact copy; NULL at the end. */
static uint8_t *next_block(size_t *at, int32_t *ret_sequence, size_t *ret_n)
{
	int32_t n;
	uint8_t *copy;

	if (*at + Q3_DEMO_HEADER > file_n)
		return NULL;
	*ret_sequence = le32_at(*at);
	n = le32_at(*at + 4);
	*at += Q3_DEMO_HEADER;
	if (n < 0 || (size_t)n > file_n - *at)
		return NULL;
	copy = exact_copy(file_bytes + *at, (size_t)n);
	*at += (size_t)n;
	*ret_n = (size_t)n;
	return copy;
}

static bool map_is(const struct q3_game *g, const char *map)
{
	char wanted[64];
	size_t n;
	const char *info = q3_configstring(g, 0, &n);

	snprintf(wanted, sizeof(wanted), "\\mapname\\%s", map);
	return memmem(info, n, wanted, strlen(wanted)) != NULL;
}

/* The same bytes, but for a last one that holds no bits. */
static void compare_written(struct q3_session *s, const struct record *r,
			    const uint8_t *block, size_t n, int32_t sequence)
{
	static struct writer w;

	w.bits = 0;
	assert_true(write_server(&w, s->game, r, sequence));
	/* The recording client's own gamestate and some tools add a byte or more. */
	assert_in_range(written(&w), n - 1, n);
	assert_memory_equal(w.bytes, block, w.bits / 8);
}

static void play(const struct expected *e)
{
	unsigned int decoded = 0, gamestates = 0;
	int64_t last_us = 0;
	int32_t sequence;
	struct q3_session s;
	struct record r;
	uint8_t *block;
	size_t at = 0, n;
	int jumps = 0;

	enum q3_demo_kind kind = q3_demo_recognise(file_bytes, file_n);

	assert_int_equal(kind, strstr(e->file, ".dm3") ? Q3_DEMO_OLD : Q3_DEMO_MODERN);
	q3_demo_start(&s, kind);
	while ((block = next_block(&at, &sequence, &n))) {
		record_reset(&r, e->rewrite ? &tape : NULL);
		q3_demo_block(&s, sequence, block, n, &r);
		if (e->rewrite)
			compare_written(&s, &r, block, n, sequence);
		free(block);
		if (r.status != RECORD_DECODED)
			fail_msg("%s: sequence %d: %s", e->file, sequence, r.reason);
		assert_string_equal(r.dialect, e->dialect);
		decoded++;
		if (!strcmp(r.kind, "gamestate")) {
			if (!gamestates++ && e->map)
				assert_true(map_is(s.game, e->map));
			last_us = 0;
			continue;
		}
		assert_non_null(q3_snapshot_find(s.game, sequence));
		assert_true(r.facts.has & FACT_TIME);
		/* a client that is the server may see one time twice */
		jumps += r.facts.time_us < last_us;
		last_us = r.facts.time_us;
	}
	assert_int_equal(decoded, e->blocks);
	assert_int_equal(gamestates, e->gamestates);
	assert_int_equal(jumps, 0);
	q3_session_drop(&s);
}

static void test_every_block(void **state)
{
	unsigned int played = 0;

	(void)state;
	for (size_t i = 0; i < Q3_COUNT(demos); i++) {
		if (!read_demo(demos[i].file))
			continue;
		play(&demos[i]);
		played++;
	}
	if (!played)
		skip();
}

/* Six good blocks, then one that breaks the protocol; nothing of it is kept. */
static void test_damaged(void **state)
{
	struct q3_session s;
	struct record r;
	int32_t sequence;
	size_t at = 0, n;
	uint8_t *block;

	(void)state;
	if (!read_demo("quake3-68/DAMAGED_invalid_area_mask.dm_68"))
		skip();
	assert_int_equal(q3_demo_recognise(file_bytes, file_n), Q3_DEMO_MODERN);
	q3_demo_start(&s, Q3_DEMO_MODERN);
	for (int i = 0; i < 7; i++) {
		block = next_block(&at, &sequence, &n);
		assert_non_null(block);
		record_reset(&r, NULL);
		q3_demo_block(&s, sequence, block, n, &r);
		free(block);
		assert_int_equal(r.status, i < 6 ? RECORD_DECODED : RECORD_MALFORMED);
	}
	assert_string_equal(r.reason, "more than 32 area bytes");
	assert_null(q3_snapshot_find(s.game, sequence));
	assert_null(next_block(&at, &sequence, &n));
	q3_session_drop(&s);
}

/* Before Huffman coding there is no code that could fail: other checks must find a cut.
 */
static void test_old_cut(void **state)
{
	int32_t sequence;
	size_t at = 0, n;
	uint8_t *block;

	(void)state;
	if (!read_demo("quake3-old/q3_117_duel.dm3"))
		skip();
	for (int i = 0; i < 40; i++) {
		block = next_block(&at, &sequence, &n);
		assert_non_null(block);
		for (size_t cut = 0; cut<n; cut += n> 256 ? 37 : 1) {
			uint8_t *copy = exact_copy(block, cut);
			struct record r;
			struct q3_parse p;

			record_reset(&r, NULL);
			q3_parse_init(&p, copy, cut, q3_old_dialects[0], NULL, &r);
			q3_decode_message(&p, DIRECTION_S2C);
			/* nothing marks the end, so a cut between two ops is one */
			if (r.status != RECORD_MALFORMED)
				assert_string_equal(r.kind, "server-command");
			free(copy);
		}
		free(block);
	}
}

/* Of nothing there is nothing to read, not even an end. */
static void test_old_empty(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		uint8_t *copy = exact_copy("", 0);
		struct record r;
		struct q3_parse p;

		record_reset(&r, &tape);
		q3_parse_init(&p, copy, 0, q3_old_dialects[i], NULL, &r);
		q3_decode_message(&p, DIRECTION_S2C);
		assert_int_equal(r.status, RECORD_MALFORMED);
		assert_string_equal(r.reason, "empty message");
		free(copy);
	}
}

struct plain {
	uint8_t bytes[512];
	size_t bits;
};

static void plain_put(struct plain *w, uint32_t value, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++, w->bits++)
		w->bytes[w->bits / 8] |= (uint8_t)((value >> i & 1) << w->bits % 8);
}

static size_t plain_n(const struct plain *w)
{
	return (w->bits + 7) / 8;
}

/* Protocol 48: the acknowledge stands in front of each message, not in the snapshot. */
static void test_48(void **state)
{
	static const char info[] = "\\protocol\\48\\mapname\\q3dm1";
	struct plain first = { .bits = 0 }, second = { .bits = 0 };
	uint8_t file[sizeof(first.bytes)] = { 0, 0, 0, 0 };
	struct q3_session s;
	struct record r;

	(void)state;
	plain_put(&first, 7, 32);
	plain_put(&first, 2, 8);
	plain_put(&first, 0, 32);
	plain_put(&first, 3, 8);
	plain_put(&first, 0, 16);
	for (size_t i = 0; i < sizeof(info); i++)
		plain_put(&first, (uint8_t)info[i], 8);
	plain_put(&first, 0, 8);
	file[4] = (uint8_t)plain_n(&first);
	memcpy(file + 8, first.bytes, plain_n(&first));
	assert_int_equal(q3_demo_recognise(file, 8 + plain_n(&first)), Q3_DEMO_OLD);

	q3_demo_start(&s, Q3_DEMO_OLD);
	record_reset(&r, &tape);
	q3_demo_block(&s, 100, first.bytes, plain_n(&first), &r);
	assert_int_equal(r.status, RECORD_DECODED);
	assert_string_equal(r.kind, "gamestate");
	assert_string_equal(r.dialect, "quake3-48");
	assert_int_equal(find_int(&r, NULL, "reliableAcknowledge"), 7);

	plain_put(&second, 9, 32);
	plain_put(&second, 7, 8);
	plain_put(&second, 31500, 32);
	plain_put(&second, 0, 8 + 8);
	plain_put(&second, 1, 8);
	plain_put(&second, 0xfe, 8);
	/* No field of the player, no array, one entity with an explicit mask. */
	plain_put(&second, 0, 32);
	plain_put(&second, 0, 48 + 4 - 32);
	plain_put(&second, 5, 10);
	plain_put(&second, 2 | 31 << 2, 7);
	plain_put(&second, 1U << 5 | 1U << 7, 32);
	plain_put(&second, 1U << 18, 51 - 32);
	plain_put(&second, (4096 + 12) << 1, 14);
	plain_put(&second, (4096 - 7) << 1, 14);
	plain_put(&second, 77, 8);
	plain_put(&second, 1023, 10);
	record_reset(&r, &tape);
	q3_demo_block(&s, 101, second.bytes, plain_n(&second), &r);
	assert_int_equal(r.status, RECORD_DECODED);
	assert_string_equal(r.kind, "snapshot");
	assert_int_equal(r.time_ns, 31500 * 1000000LL);
	assert_int_equal(find_int(&r, NULL, "reliableAcknowledge"), 9);
	assert_int_equal(find_int(&r, NULL, "pos.trBase[0]"), 12000);
	assert_null(find_item(&r, NULL, "pos.trBase[1]"));
	assert_int_equal(find_int(&r, NULL, "pos.trBase[2]"), -7000);
	assert_int_equal(find_int(&r, NULL, "generic1"), 77);
	q3_session_drop(&s);
}

/* The beginning of a demo, cut at every length up to its first block's end. */
static void test_recognise_cut(void **state)
{
	size_t first;

	(void)state;
	if (!read_demo("quake3-68/osp_chat.dm_68"))
		skip();
	first = Q3_DEMO_HEADER + (size_t)le32_at(4);
	for (size_t cut = 0; cut < first; cut += cut < 64 || cut + 64 > first ? 1 : 97) {
		uint8_t *copy = exact_copy(file_bytes, cut);

		assert_int_equal(q3_demo_recognise(copy, cut), Q3_DEMO_NONE);
		free(copy);
	}
	assert_int_equal(q3_demo_recognise(file_bytes, first), Q3_DEMO_MODERN);
}

static int drop_all(void **state)
{
	free(file_bytes);
	file_bytes = NULL;
	return tape_end(state);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_block), cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_old_cut),	    cmocka_unit_test(test_old_empty),
		cmocka_unit_test(test_48),	    cmocka_unit_test(test_recognise_cut),
	};

	return cmocka_run_group_tests(tests, tape_begin, drop_all);
}
