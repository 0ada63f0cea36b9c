// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Quake III connections of which something is missing: the beginning, the handshake,
 * single datagrams; or of which something comes twice.
 */
#include "decode/decode.h"
#include "decode/q3/q3_support.h"
#include "recordings.h"

#define FRAMES_MAX 16384

struct counter {
	unsigned int status[RECORD_STATUS_COUNT];
	unsigned int snapshots, moves;
	unsigned int seen;
	int64_t first_readable; /* the frame from which snapshots can be read */
};

/* What a run leaves out. */
struct hidden {
	unsigned int first; /* frames at the beginning */
	bool handshake; /* all that is out-of-band */
	unsigned int one_in; /* sequenced datagrams, at random; 0: none */
	bool twice; /* every datagram is seen again */
};

static void count(void *context, const struct record *r)
{
	struct counter *t = context;
	bool readable = r->status < RECORD_OPAQUE;

	t->seen++;
	t->status[r->status]++;
	if (readable && !strcmp(r->kind, "snapshot") && !t->snapshots++)
		t->first_readable = (int64_t)r->frame;
	t->moves += readable && !strcmp(r->kind, "client-move");
}

static bool is_hidden(const struct datagram *dg, const struct hidden *h)
{
	bool marked = dg->n >= 4 && !memcmp(dg->payload, "\xff\xff\xff\xff", 4);

	if (dg->frame <= h->first || (marked && h->handshake))
		return true;
	return !marked && h->one_in && !((unsigned int)rand() % h->one_in);
}

static bool play(const char *name, const struct hidden *h, struct counter *t)
{
	struct decoder_options options = { .forced = FAMILY_AUTO };
	struct capture *capture = recording_live(name);
	struct decoder *decoder;
	struct datagram dg;

	if (!capture) {
		skip();
		return false;
	}
	memset(t, 0, sizeof(*t));
	srand(7);
	decoder = decoder_create(&options, count, t);
	assert_non_null(decoder);
	while (capture_next(capture, &dg) == 1) {
		if (is_hidden(&dg, h))
			continue;
		decoder_datagram(decoder, &dg);
		if (h->twice)
			decoder_datagram(decoder, &dg);
	}
	decoder_flush(decoder);
	decoder_free(decoder);
	capture_close(capture);
	print_message("%s: decoded %u partial %u opaque %u malformed %u\n", name,
		      t->status[RECORD_DECODED], t->status[RECORD_PARTIAL],
		      t->status[RECORD_OPAQUE], t->status[RECORD_MALFORMED]);
	return true;
}

/* Protocol 71 gives its challenge away: all structure is readable at once. */
static void test_checksum_from_the_middle(void **state)
{
	static const unsigned int starts[] = { 0, 40, 300, 601, 900 };
	struct counter t;

	(void)state;
	for (size_t i = 0; i < Q3_COUNT(starts); i++) {
		struct hidden h = { .first = starts[i], .handshake = true };

		if (!play("q3-ioq3-proto71-checksum", &h, &t))
			return;
		assert_int_equal(t.status[RECORD_MALFORMED], 0);
		assert_in_range(t.status[RECORD_OPAQUE], 0, 8);
		assert_true(t.snapshots > 100);
	}
}

/* Without the handshake, but from the first numbers on: the texts are known to be empty,
 * so one message gives the challenge away, in either netchan. */
static void test_handshake_hidden(void **state)
{
	static const struct {
		const char *name;
		unsigned int datagrams, opaque, partial; /* at most */
	} runs[] = {
		{ "q3-oa-1client-mapchange", 2321, 1, 0 },
		{ "q3-oa-2clients-full-kick-timeout", 8640, 2, 0 },
		{ "q3-oa-impaired-server-side", 1389, 0, 0 },
		/* Three slices of messages that never became whole. */
		{ "q3-oa-impaired-client-side", 1398, 20, 3 },
		{ "q3-oa-ipv6", 486, 1, 0 },
		{ "q3-ioq3-proto71-checksum", 1270, 0, 2 },
	};
	struct hidden h = { .handshake = true };
	struct counter t;

	(void)state;
	for (size_t i = 0; i < Q3_COUNT(runs); i++) {
		if (!play(runs[i].name, &h, &t))
			return;
		assert_int_equal(t.seen, runs[i].datagrams);
		assert_int_equal(t.status[RECORD_MALFORMED], 0);
		assert_in_range(t.status[RECORD_OPAQUE], 0, runs[i].opaque);
		assert_in_range(t.status[RECORD_PARTIAL], 0, runs[i].partial);
	}
}

/*
 * The legacy netchan tells nothing until the player does what players do; then the key
 * is guessed, and most of what follows can be read.
 */
static void test_legacy_from_the_middle(void **state)
{
	static const struct {
		const char *name;
		unsigned int first, last_start;
		unsigned int snapshots; /* at least */
	} runs[] = {
		{ "q3-oa-1client-mapchange", 60, 260, 700 },
		{ "q3-oa-1client-mapchange", 300, 420, 700 },
		{ "q3-oa-ipv6", 100, 0, 40 },
		{ "q3-oa-impaired-server-side", 100, 0, 250 },
		{ "q3-oa-impaired-client-side", 100, 0, 250 },
		{ "q3-oa-2clients-full-kick-timeout", 1600, 0, 700 },
	};
	struct counter t;

	(void)state;
	for (size_t i = 0; i < Q3_COUNT(runs); i++) {
		struct hidden h = { .first = runs[i].first, .handshake = true };

		if (!play(runs[i].name, &h, &t))
			return;
		/* what could not be read is said to be that, not called broken */
		assert_int_equal(t.status[RECORD_MALFORMED], 0);
		assert_true(t.snapshots >= runs[i].snapshots);
		assert_true(t.moves > 0);
		if (runs[i].last_start)
			assert_true(t.first_readable <= runs[i].last_start);
	}
}

/* A hole that only the tap has costs what was in it and the states built on it. */
static void test_holes(void **state)
{
	static const char *const names[] = { "q3-oa-1client-mapchange",
					     "q3-ioq3-proto71-checksum" };
	struct hidden h = { .one_in = 100 };
	struct counter t;

	(void)state;
	for (size_t i = 0; i < Q3_COUNT(names); i++) {
		if (!play(names[i], &h, &t))
			return;
		assert_int_equal(t.status[RECORD_MALFORMED], 0);
		assert_true(t.status[RECORD_OPAQUE] * 10 < t.seen);
		assert_true(t.status[RECORD_PARTIAL] > 0);
	}
}

static void test_everything_twice(void **state)
{
	static const struct {
		const char *name;
		unsigned int partial; /* slices of messages that never became whole */
	} runs[] = {
		{ "q3-oa-1client-mapchange", 0 },
		{ "q3-oa-2clients-full-kick-timeout", 4 }, /* in front of a gamestate */
		{ "q3-ioq3-proto71-checksum", 0 },
		{ "q3-oa-impaired-client-side", 6 },
	};
	struct hidden h = { .twice = true };
	struct counter t;

	(void)state;
	for (size_t i = 0; i < Q3_COUNT(runs); i++) {
		if (!play(runs[i].name, &h, &t))
			return;
		assert_int_equal(t.status[RECORD_PARTIAL], runs[i].partial);
		assert_int_equal(t.status[RECORD_DECODED], t.seen - runs[i].partial);
	}
}

/* --- a key that must be found, without any capture ---------------------------------- */

/* A snapshot long enough to tell a right key from a wrong one. */
static size_t write_snapshot(struct writer *w, uint32_t acknowledge, uint32_t time)
{
	static const uint32_t none[Q3_PLAYER_WORDS];
	uint32_t player[Q3_PLAYER_WORDS] = { 0 };

	for (unsigned int i = 0; i < 24; i++)
		player[48 + i] = time + i * 37;
	w->bits = 0;
	put(w, acknowledge, 32);
	put(w, 7, 8);
	put(w, time, 32);
	put(w, 0, 8);
	put(w, 0, 8);
	put(w, 1, 8);
	put(w, 0xfe, 8);
	for (unsigned int i = 0; i < 24; i++)
		player[48 + i] &= 0x7fff;
	put_player(w, &q3_dialect_68, none, player, NULL);
	put(w, Q3_ENTITY_END, 10);
	put(w, 8, 8);
	return written(w);
}

static void test_guess(void **state)
{
	static const char *const said[] = { "kill", "score", "say something else" };
	static struct writer w;

	(void)state;
	for (size_t text = 0; text < Q3_COUNT(said); text++) {
		struct q3_session s = { .netchan = Q3_NETCHAN_LEGACY };
		bool found = false;

		for (int32_t sequence = 500; sequence < 503; sequence++) {
			size_t n = write_snapshot(&w, 17, (uint32_t)sequence * 50);
			uint8_t *copy;

			q3_scramble(w.bytes, n, Q3_KEY_FROM_SERVER,
				    (uint8_t)(0xa7 ^ sequence), said[text],
				    strlen(said[text]));
			copy = exact_copy(w.bytes, n);
			found = q3_session_guess(&s, sequence, 17, copy, n);
			free(copy);
		}
		assert_int_equal(found, text < 2);
		assert_int_equal(s.has_challenge, text < 2);
		if (found)
			assert_int_equal((uint8_t)s.challenge, 0xa7);
		q3_session_drop(&s);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_guess),
		cmocka_unit_test(test_handshake_hidden),
		cmocka_unit_test(test_checksum_from_the_middle),
		cmocka_unit_test(test_legacy_from_the_middle),
		cmocka_unit_test(test_holes),
		cmocka_unit_test(test_everything_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
