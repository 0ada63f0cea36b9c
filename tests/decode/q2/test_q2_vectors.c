// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Every message, datagram and difference that is known byte by byte: what is read from
 * it, that nothing shorter is taken for it, and that what was read is written again to
 * the same bytes.
 */
#include "decode/q2/q2_support.h"
#include "decode/q2/q2_vectors.h"

static const struct vector *find(const char *name)
{
	for (size_t i = 0; i < sizeof(vectors) / sizeof(*vectors); i++)
		if (!strcmp(vectors[i].name, name))
			return &vectors[i];
	fail_msg("no vector %s", name);
	return NULL;
}

static void expect(const char *name, const char *expected, const struct record *r)
{
	char *json = q2_json(r), said[256];

	snprintf(said, sizeof(said), "malformed: %s", r->reason ? r->reason : "");
	if (!strncmp(expected, "malformed", 9)) {
		assert_int_equal(r->status, RECORD_MALFORMED);
		assert_string_equal(expected, said);
	} else if (!strstr(json, expected)) {
		fail_msg("%s: not %s but %s", name, expected, json);
	}
	free(json);
}

static const char *base_of(const char *name)
{
	return !strcmp(name, "ent.delta.1")    ? "ent.baseline.1"
	       : !strcmp(name, "ps.delta")     ? "ps.full"
	       : !strcmp(name, "enh.ps.zonly") ? "enh.ps.full"
					       : NULL;
}

static struct q2_dialect dialect(const struct vector *v)
{
	struct q2_dialect d;

	assert_true(q2_dialect_of(v->protocol, v->minor, v->flags, &d));
	return d;
}

/* Into @word, which holds the base. Returns the number. */
static unsigned int run_entity(const struct vector *v, size_t n, struct record *r,
			       int32_t *word)
{
	struct q2_bytes b = q2_hex(v->hex);
	struct q2_dialect d = dialect(v);
	uint8_t *copy = malloc(n ? n : 1), again[64];
	struct reader rd = reader_of(copy, n);
	unsigned int number;
	uint64_t bits, flags;
	size_t at;

	assert_non_null(copy);
	memcpy(copy, b.bytes, n);
	record_reset(r, q2_tape());
	r->kind = "entity";
	bits = q2_entity_header(&rd, &d, &number);
	at = n - reader_left(&rd);
	record_uint(r, "number", number);
	q2_entity_age(&d, word);
	if (bits & Q2_ENTITY_REMOVE) {
		record_bool(r, "removed", true);
	} else {
		flags = q2_entity_read(&rd, &d, bits, word);
		q2_entity_record(r, flags, word);
	}
	if (n < b.n) {
		assert_true(reader_failed(&rd));
	} else if (!d.extensions && !(bits & Q2_ENTITY_REMOVE)) {
		assert_int_equal(reader_left(&rd), 0);
		assert_int_equal(q2_entity_write(again, sizeof(again), &d, bits, word),
				 n - at);
		assert_memory_equal(again, copy + at, n - at);
	}
	free(copy);
	return number;
}

static void run_player(const struct vector *v, size_t n, struct record *r, int32_t *word)
{
	struct q2_bytes b = q2_hex(v->hex);
	struct q2_dialect d = dialect(v);
	uint8_t *copy = malloc(n ? n : 1), again[256];
	struct reader rd = reader_of(copy, n);
	unsigned int extra = !strcmp(v->name, "enh.ps.zonly") ? 0x1c : 0x29;
	struct q2_player_delta delta;

	assert_non_null(copy);
	memcpy(copy, b.bytes, n);
	record_reset(r, q2_tape());
	r->kind = "player";
	delta = q2_player_read(&rd, &d, v->how == 'p' ? extra : 0, word);
	q2_player_record(r, &d, &delta, word);
	assert_int_equal(reader_failed(&rd), n < b.n);
	if (n == b.n && v->how == 'P') {
		assert_int_equal(q2_player_write(again, sizeof(again), &delta, word), n);
		assert_memory_equal(again, copy, n);
	}
	free(copy);
}

static void run_fields(const struct vector *v, size_t n, struct record *r)
{
	int32_t word[Q2_PLAYER_WORDS] = { 0 };
	const char *name = base_of(v->name);
	const struct vector *base = name ? find(name) : NULL;

	if (v->how == 'e') {
		if (base)
			run_entity(base, q2_hex(base->hex).n, r, word);
		run_entity(v, n, r, word);
	} else {
		if (base)
			run_player(base, q2_hex(base->hex).n, r, word);
		run_player(v, n, r, word);
	}
}

static void run(const struct vector *v, size_t n, struct record *r)
{
	enum direction direction =
		v->how == 'C' || v->how == 'c' ? DIRECTION_C2S : DIRECTION_S2C;
	struct q2_bytes b = q2_hex(v->hex);
	struct q2_session q;

	q2_begin(&q, v->protocol, v->minor, v->flags);
	if (!strcmp(v->name, "r1q2.pkt.qport0"))
		q.qport_size = 1;
	switch (v->how) {
	case 'S':
	case 'C':
		q2_run_message(&q, direction, b.bytes, n, r);
		break;
	case 's':
	case 'c':
		q2_run_datagram(&q, direction, b.bytes, n, r);
		break;
	default:
		run_fields(v, n, r);
	}
	q2_session_drop(&q);
}

static void test_vectors(void **state)
{
	struct record r;

	(void)state;
	for (size_t i = 0; i < sizeof(vectors) / sizeof(*vectors); i++) {
		run(&vectors[i], q2_hex(vectors[i].hex).n, &r);
		expect(vectors[i].name, vectors[i].expect, &r);
	}
}

/* May a message end here? Where the first of two ops does, and a command without NUL. */
static bool may_end(const struct vector *v, size_t n)
{
	struct q2_session q;
	struct record r;
	bool good;

	if (v->how == 'C' || v->how == 'c')
		return strstr(v->expect, "stringcmd") != NULL ||
		       n == (v->protocol == 34 ? 10 : 9);
	if (v->how == 's' && n == 8)
		return true;
	/* Then what is left is a message too. */
	q2_begin(&q, v->protocol, v->minor, v->flags);
	q2_run_message(&q, DIRECTION_S2C, q2_hex(v->hex).bytes + n, q2_hex(v->hex).n - n,
		       &r);
	good = r.status != RECORD_MALFORMED;
	q2_session_drop(&q);
	return good;
}

static void test_truncations(void **state)
{
	struct record r;

	(void)state;
	for (size_t i = 0; i < sizeof(vectors) / sizeof(*vectors); i++) {
		const struct vector *v = &vectors[i];
		size_t whole = q2_hex(v->hex).n;

		for (size_t n = 0; n < whole; n++) {
			run(v, n, &r);
			if (strchr("epP", v->how) || !n || v->name[0] == 'b')
				continue;
			if (r.status != RECORD_MALFORMED && !may_end(v, n))
				fail_msg("%s: %zu of %zu bytes are taken for it", v->name,
					 n, whole);
		}
	}
}

static void test_checksums(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(sums) / sizeof(*sums); i++) {
		struct q2_bytes b = q2_hex(sums[i].hex);

		assert_int_equal(q2_move_checksum((struct span){ b.bytes, b.n },
						  sums[i].sequence),
				 sums[i].sum);
	}
}

static void test_words(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		struct q2_bytes b = q2_hex(words[i].hex);
		struct harness *h = harness_open(
			strncmp(words[i].name, "oob.", 4) ? FAMILY_AUTO : FAMILY_QUAKE2);
		json_t *all;
		char *text;

		(words[i].from == 'c' ? harness_c2s : harness_s2c)(h, b.bytes, b.n);
		all = harness_close(h);
		text = json_dumps(json_array_get(all, 0),
				  JSON_COMPACT | JSON_PRESERVE_ORDER);
		assert_non_null(text);
		if (!strstr(text, words[i].expect))
			fail_msg("%s: not %s but %s", words[i].name, words[i].expect,
				 text);
		free(text);
		json_decref(all);
	}
}

/* Two slices are one message; alone, doubled or in the wrong order they are none. */
static void test_fragments(void **state)
{
	static const struct {
		const char *order;
		enum record_status last;
		const char *kind;
	} rows[] = {
		{ "1", RECORD_DECODED, "fragment" },
		{ "12", RECORD_DECODED, "server-command" },
		{ "112", RECORD_DECODED, "server-command" },
		{ "122", RECORD_DECODED, "fragment" },
		{ "2", RECORD_PARTIAL, "fragment" },
	};
	struct q2_bytes slices[2];
	struct record r;

	(void)state;
	slices[0] = q2_hex(
		"4d0000c0460000800080060606060606060606060606060606060606060606060606060606060606");
	slices[1] = q2_hex(
		"4d0000c0460000801e00060606060606060606060a023031323334353637383900");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct q2_session q;

		q2_begin(&q, 36, 1026, 0);
		q.now.new_netchan = true;
		for (const char *at = rows[i].order; *at; at++)
			q2_run_datagram(&q, DIRECTION_S2C, slices[*at - '1'].bytes,
					slices[*at - '1'].n, &r);
		assert_int_equal(r.status, rows[i].last);
		assert_string_equal(r.kind, rows[i].kind);
		assert_int_equal(r.facts.sequence, 77);
		q2_session_drop(&q);
	}
}

static void test_int23(void **state)
{
	static const struct {
		const char *hex;
		int32_t was, becomes;
	} rows[] = {
		{ "c800", 50, 150 },
		{ "f6ff", 50, 45 },
		{ "e12202", 50, 70000 },
	};
	static const struct delta_row row = { "x", 0, 0, DELTA_I23, 0, 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct q2_bytes b = q2_hex(rows[i].hex);
		struct reader rd = reader_of(b.bytes, b.n);
		uint8_t again[4];
		int32_t value = rows[i].was;

		delta_read(&rd, &row, 1, 0, &value);
		assert_int_equal(value, rows[i].becomes);
		assert_int_equal(reader_left(&rd), 0);
		assert_false(reader_failed(&rd));
		/* Written as itself it is read as itself. */
		assert_int_equal(delta_write(again, sizeof(again), &row, 1, 0, &value),
				 3);
		rd = reader_of(again, 3);
		value = 0;
		delta_read(&rd, &row, 1, 0, &value);
		assert_int_equal(value, rows[i].becomes);
	}
}

/* A whole recording of two blocks. */
static void test_recording(void **state)
{
	static const char *const kinds[] = { "gamestate", "frame" };
	static const char *const parts[] = { "\"levelname\":\"The Edge\"",
					     "\"origin\":[100,-200,25]" };
	struct q2_bytes b = q2_hex(
		"520000000c2200000051070100010000005468652045646765000d1e0038000e838a800901ff2003c0f9c80000000000000044480e83cb84012c01280100020080ff7f08000000000000000b70726563616368650a005300000014e8030000ffffffff0002038011a23d2003c0f9c80020030000580000004000000a0501fe030004fb000000005a024000006400ffff129484800101ad0a40000000000000808180012c010000000000000000ffffffff");
	FILE *file = fmemopen(b.bytes, b.n, "rb");
	struct demo *demo = demo_open(file, DEMO_DM2);
	struct q2_session q = { .game = NULL };
	struct demo_block block;
	struct record r = { .kind = NULL };
	int blocks = 0;

	(void)state;
	assert_non_null(demo);
	while (demo_next(demo, &block) == 1) {
		record_reset(&r, q2_tape());
		q2_session_demo(&q, &block, &r);
		assert_int_equal(r.status, RECORD_DECODED);
		assert_string_equal(r.kind, kinds[blocks]);
		expect("dm2.min", parts[blocks++], &r);
	}
	assert_int_equal(blocks, 2);
	assert_true(r.facts.has & FACT_TIME);
	assert_true(r.facts.time_us == 1000 * 100000); /* ten frames a second */
	assert_int_equal(q.game->maxclients, 8);
	assert_non_null(q2_frame_find(q.game, 1000));
	assert_int_equal(q2_frame_find(q.game, 1000)->list.count, 2);
	assert_null(q2_frame_find(q.game, 999));
	q2_session_drop(&q);
	demo_close(demo);
}

/* Behind one that says more: what a new entity does not say is zero. */
static void test_new_entities(void **state)
{
	const struct vector *v = find("frame.nodelta");
	struct q2_bytes b = q2_hex(v->hex);
	const struct q2_list *list;
	struct q2_session q;
	struct record r;
	size_t said = 0;

	(void)state;
	q2_begin(&q, 34, 0, 0);
	q2_run_message(&q, DIRECTION_S2C, b.bytes, b.n, &r);
	assert_non_null(q.game);
	assert_non_null(q2_frame_find(q.game, 1000));
	list = &q2_frame_find(q.game, 1000)->list;
	assert_int_equal(list->count, 2);
	assert_int_equal(list->entity[0].number, 1);
	assert_int_equal(list->entity[1].number, 300);
	for (size_t i = 0; i < Q2_ENTITY_WORDS; i++) {
		said += list->entity[0].word[i] != 0;
		assert_int_equal(list->entity[1].word[i], 0);
	}
	assert_true(said >= 3);
	q2_session_drop(&q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors),	  cmocka_unit_test(test_truncations),
		cmocka_unit_test(test_checksums), cmocka_unit_test(test_words),
		cmocka_unit_test(test_fragments), cmocka_unit_test(test_int23),
		cmocka_unit_test(test_recording), cmocka_unit_test(test_new_entities),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
