// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Live captures of Quake III's family: every datagram decoded, every message written
 * again to the very bytes that were on the wire, and what the values must agree on
 * among themselves: times, places, view angles, chats and their echo.
 */
#include <math.h>

#include "decode/decode.h"
#include "decode/q3/q3_rewrite.h"
#include "recordings.h"

#define FRAMES_MAX 16384
#define FLOWS_MAX  32
#define MOVES_MAX  4096
#define SAYS_MAX   64
#define MAP_RANGE  16384

struct frame {
	uint8_t *bytes;
	size_t n;
};

struct move {
	int64_t time;
	int angles[3];
};

/* One connection, as the checks see it. */
struct flow {
	const struct session *session;
	int64_t sequence, time_us;
	unsigned int gamestates, jumps;
	struct move moves[MOVES_MAX];
	size_t moves_used;
	int64_t said, heard; /* the highest numbers taken for repeats */
	char says[SAYS_MAX][256];
	size_t says_used;
	/* the message that is coming in slices, by whether a client sends it */
	uint8_t slices[2][Q3_MESSAGE_MAX];
	size_t slices_n[2];
	int64_t slices_sequence[2];
};

struct run {
	struct decoder *decoder;
	struct frame frames[FRAMES_MAX];
	size_t frames_used;
	struct flow flows[FLOWS_MAX];
	size_t flows_used;
	unsigned int status[RECORD_STATUS_COUNT];
	unsigned int messages, written, unbased;
	unsigned int snapshots, views, echoes;
	unsigned int gamestates, kicks, timeouts, shutdowns, votes, restarts;
	unsigned int connects, accepts, refusals, disconnects;
	const char *dialect;
};

static struct run *run;

static struct flow *find_flow(const struct session *s)
{
	for (size_t i = 0; i < run->flows_used; i++)
		if (run->flows[i].session == s)
			return &run->flows[i];
	assert_true(run->flows_used < FLOWS_MAX);
	run->flows[run->flows_used].session = s;
	return &run->flows[run->flows_used++];
}

/* --- written again ------------------------------------------------------------------ */

static void scramble(struct writer *w, const struct q3_session *s, const struct record *r,
		     bool client, int64_t sequence, size_t n)
{
	const struct q3_texts *texts = client ? &s->game->server : &s->game->client;
	const struct q3_text *text =
		q3_text_find(texts, (int32_t)field(r, NULL, "reliableAcknowledge")->i);
	int64_t key = s->challenge;

	if (s->netchan == Q3_NETCHAN_CHECKSUM)
		return;
	assert_non_null(text);
	key ^= client ? field(r, NULL, "serverId")->i ^
				field(r, NULL, "messageAcknowledge")->i
		      : sequence;
	q3_scramble(w->bytes, n, client ? Q3_KEY_FROM_CLIENT : Q3_KEY_FROM_SERVER,
		    (uint8_t)key, q3_text_bytes(texts, text), text->n);
}

/* @payload is the whole message as it was sent. */
static void compare_written(const struct q3_session *s, const struct record *r,
			    const uint8_t *payload, size_t n)
{
	static struct writer w;
	bool client = r->direction == DIRECTION_C2S;
	int64_t sequence = field(r, NULL, "sequence")->i;
	size_t sure;

	run->messages++;
	w.bits = 0;
	/* Entities that refer to baselines which the client has not got yet. */
	if (!client && !s->game->gamestate_sequence && find_item(r, NULL, "number")) {
		run->unbased++;
		return;
	}
	if (!(client ? write_client(&w, s->game, r)
		     : write_server(&w, s->game, r, sequence)))
		return;
	assert_int_equal(written(&w), n);
	scramble(&w, s, r, client, sequence, n);
	/* A last byte that holds no bits is whatever was in the sender's buffer. */
	sure = w.bits % 8 ? n : n - 1;
	if (memcmp(w.bytes, payload, sure) != 0)
		fail_msg("frame %d: not the same bytes", (int)r->frame);
	run->written++;
}

/* --- what must agree ---------------------------------------------------------------- */

static void check_say(struct flow *f, const char *text, size_t n)
{
	if (n < 5 || memcmp(text, "say ", 4) != 0 || f->says_used == SAYS_MAX || n > 255)
		return;
	memcpy(f->says[f->says_used], text + 4, n - 4);
	f->says[f->says_used++][n - 4] = '\0';
}

/* `chat "alice: ^2words"`: the words that this client has said come back to it. */
static void cookie_check_echo(struct flow *f, const char *text, size_t n)
{
	for (size_t i = 0; i < f->says_used; i++) {
		size_t words = strlen(f->says[i]);

		if (!words || n < words + 1 ||
		    memcmp(text + n - 1 - words, f->says[i], words) != 0)
			continue;
		f->says[i][0] = '\0';
		run->echoes++;
		return;
	}
}

static bool has(const char *text, size_t n, const char *word)
{
	return memmem(text, n, word, strlen(word)) != NULL;
}

static void check_commands(struct flow *f, const struct record *r)
{
	bool client = r->direction == DIRECTION_C2S;
	int64_t *last = client ? &f->said : &f->heard;
	const struct record_item *at = NULL;

	while ((at = find_op(r, at ? at + 1 : NULL,
			     client ? "clientCommand" : "serverCommand"))) {
		const struct record_item *text = field(r, at, "text");
		const char *bytes = item_bytes(r, text);
		int64_t number = field(r, at, "number")->i;

		if (number <= *last)
			continue;
		*last = number;
		run->disconnects += client && !strncmp(bytes, "disconnect", text->size);
		run->votes += client && text->size > 8 && !memcmp(bytes, "callvote", 8);
		run->kicks +=
			!client && has(bytes, text->size, "disconnect \"was kicked");
		run->timeouts += !client && has(bytes, text->size, "timed out");
		run->shutdowns += !client && has(bytes, text->size, "print \"killserver");
		run->restarts += !client && has(bytes, text->size, "map_restart");
		if (client)
			check_say(f, bytes, text->size);
		else if (text->size > 5 && !memcmp(bytes, "chat ", 5))
			cookie_check_echo(f, bytes, text->size);
	}
}

static void check_moves(struct flow *f, const struct record *r)
{
	const struct record_item *at = NULL;

	while ((at = find_item(r, at ? at + 1 : NULL, "serverTime"))) {
		struct move *m = &f->moves[f->moves_used++ % MOVES_MAX];

		m->time = at->i;
		for (int i = 0; i < 3; i++)
			m->angles[i] = (int)at[2 + i].i; /* behind the array's head */
	}
}

static float as_float(uint32_t raw)
{
	float f;

	memcpy(&f, &raw, sizeof(f));
	return f;
}

/* The view is the command's angles and the server's offset, 65536 to a turn. */
static void check_view(struct flow *f, const struct q3_snapshot *s)
{
	static const unsigned int view[] = { 7, 6, 42 }, offset[] = { 35, 26, 36 };
	const struct move *m = NULL;

	/* alive, in the game, and the command was seen */
	if (s->player[34] || (int32_t)s->player[48] <= 0)
		return;
	for (size_t i = 0; i < MOVES_MAX && i < f->moves_used && !m; i++) {
		const struct move *c = &f->moves[(f->moves_used - 1 - i) % MOVES_MAX];

		if (c->time == (int32_t)s->player[0])
			m = c;
	}
	if (!m)
		return;
	for (int i = 0; i < 3; i++) {
		int16_t turn = (int16_t)(m->angles[i] + (int)s->player[offset[i]]);

		assert_true(fabs(turn * 360.0 / 65536 - as_float(s->player[view[i]])) <
			    0.01);
	}
	run->views++;
}

static void check_place(float value)
{
	assert_true(isfinite(value));
	assert_true(fabsf(value) <= MAP_RANGE);
}

static void check_snapshot(struct flow *f, struct q3_game *g, const struct record *r)
{
	int64_t sequence = field(r, NULL, "sequence")->i;
	struct q3_snapshot *s = q3_snapshot_find(g, (int32_t)sequence);

	if (!s)
		return;
	run->snapshots++;
	if (sequence > f->sequence) {
		/* Times start over with a map, and nowhere else. */
		if (r->facts.time_us <= f->time_us)
			f->jumps++;
		f->sequence = sequence;
		f->time_us = r->facts.time_us;
	}
	check_place(as_float(s->player[1]));
	check_place(as_float(s->player[2]));
	check_place(as_float(s->player[9]));
	for (unsigned int i = 0; i < s->count; i++) {
		const uint32_t *e = q3_state(g, s->entity[i].state);

		check_place(as_float(e[1]));
		check_place(as_float(e[2]));
		check_place(as_float(e[5]));
	}
	check_view(f, s);
}

static void check_out_of_band(const struct record *r)
{
	const struct record_item *text = find_item(r, NULL, "text");

	run->connects += !strcmp(r->kind, "connect");
	run->accepts += !strcmp(r->kind, "connectResponse");
	run->refusals += !strcmp(r->kind, "print") && text &&
			 has(item_bytes(r, text), text->size, "Server is full");
}

/* --- the run ------------------------------------------------------------------------ */

/* Slices are put together by the order in which they were sent. */
static bool collect(struct flow *f, const struct record *r, const struct q3_header *h)
{
	bool client = r->direction == DIRECTION_C2S;

	if (f->slices_sequence[client] != (int64_t)h->sequence) {
		f->slices_sequence[client] = h->sequence;
		memset(f->slices[client], 0, sizeof(f->slices[client]));
	}
	memcpy(f->slices[client] + h->start, h->payload, h->n);
	if (h->n < Q3_SLICE)
		f->slices_n[client] = h->start + h->n;
	return strcmp(r->kind, "fragment") != 0;
}

static void check_game(const struct record *r, struct session *s)
{
	const struct frame *frame = &run->frames[r->frame - 1];
	bool client = r->direction == DIRECTION_C2S;
	struct q3_session *q = s->state;
	struct flow *f = find_flow(s);
	struct q3_header h;
	const char *why;

	assert_non_null(q);
	assert_non_null(q->game);
	assert_true(q3_header_read(&h, frame->bytes, frame->n, client,
				   q->netchan == Q3_NETCHAN_CHECKSUM, &why));
	if (find_item(r, NULL, "repeated"))
		return;
	if (h.fragment && !collect(f, r, &h))
		return;
	run->dialect = r->dialect;
	if (h.fragment)
		compare_written(q, r, f->slices[client], f->slices_n[client]);
	else
		compare_written(q, r, h.payload, h.n);
	if (!strcmp(r->kind, "gamestate")) {
		run->gamestates++;
		f->gamestates++;
		f->moves_used = 0;
		/* a new connection numbers from the beginning */
		if (h.sequence < f->sequence)
			f->said = f->heard = f->sequence = f->time_us = 0;
	}
	if (h.sequence == 1)
		f->said = f->heard = f->sequence = f->time_us = 0;
	check_commands(f, r);
	if (client)
		check_moves(f, r);
	else
		check_snapshot(f, q->game, r);
}

static void sink(void *context, const struct record *r)
{
	const struct frame *frame = &run->frames[r->frame - 1];
	bool low;

	(void)context;
	if (r->family != FAMILY_QUAKE3)
		return;
	assert_false(r->overflow);
	assert_non_null(r->kind);
	run->status[r->status]++;
	if (r->status != RECORD_DECODED)
		return;
	if (frame->n >= 4 && !memcmp(frame->bytes, "\xff\xff\xff\xff", 4))
		check_out_of_band(r);
	else
		check_game(r, session_get(decoder_sessions(run->decoder), &r->source,
					  &r->destination, r->time_ns, &low));
}

/* False: the captures are not here, and the test has been skipped by name. */
static bool play(const char *name)
{
	struct capture *capture = recording_live(name);
	struct datagram dg;

	if (!capture) {
		skip();
		return false;
	}
	run = calloc(1, sizeof(*run));
	assert_non_null(run);
	run->decoder = decoder_create(&(struct decoder_options){ .fields = true,
								 .secrets = true,
								 .forced = FAMILY_AUTO },
				      sink, NULL);
	assert_non_null(run->decoder);
	while (capture_next(capture, &dg) == 1) {
		assert_true(dg.frame <= FRAMES_MAX);
		run->frames[dg.frame - 1] =
			(struct frame){ exact_copy(dg.payload, dg.n), dg.n };
		run->frames_used = dg.frame;
		decoder_datagram(run->decoder, &dg);
	}
	decoder_flush(run->decoder);
	capture_close(capture);
	return true;
}

/* After each test, failed or not. */
static int stop(void **state)
{
	(void)state;
	if (!run)
		return 0;
	decoder_free(run->decoder);
	for (size_t i = 0; i < run->frames_used; i++)
		free(run->frames[i].bytes);
	free(run);
	run = NULL;
	return 0;
}

static void print_counts(void)
{
	print_message("%u messages written again, %u snapshots, %u views, %u chats\n",
		      run->written, run->snapshots, run->views, run->echoes);
}

/* All are decoded and written again, but @early ones: they came in front of the gamestate
 * of their connection. */
static void expect_all(unsigned int datagrams, unsigned int early, const char *dialect)
{
	assert_int_equal(run->status[RECORD_DECODED], datagrams - early);
	assert_int_equal(run->status[RECORD_PARTIAL], early);
	assert_int_equal(run->status[RECORD_OPAQUE], 0);
	assert_int_equal(run->status[RECORD_MALFORMED], 0);
	assert_int_equal(run->unbased, 0);
	assert_int_equal(run->written, run->messages);
	assert_string_equal(run->dialect, dialect);
	for (size_t i = 0; i < run->flows_used; i++)
		assert_true(run->flows[i].jumps <= 2 * run->flows[i].gamestates);
	print_counts();
}

static void test_one_client_map_change(void **state)
{
	(void)state;
	if (!play("q3-oa-1client-mapchange"))
		return;
	expect_all(2327, 0, "openarena-71");
	assert_int_equal(run->connects, 1);
	assert_int_equal(run->accepts, 1);
	assert_int_equal(run->gamestates, 2);
	assert_int_equal(run->restarts, 1);
	assert_int_equal(run->votes, 1);
	assert_int_equal(run->disconnects, 1);
	assert_true(run->echoes >= 4);
	assert_true(run->views > 300);
}

static void test_full_kick_timeout(void **state)
{
	(void)state;
	if (!play("q3-oa-2clients-full-kick-timeout"))
		return;
	expect_all(8670, 2, "openarena-71");
	/* alice, bob, carl, alice again, and her reconnect */
	assert_int_equal(run->accepts, 5);
	assert_int_equal(run->gamestates, 5);
	assert_true(run->refusals > 1);
	assert_int_equal(run->kicks, 1);
	assert_int_equal(run->timeouts, 1);
	/* said twice to the one client that is left */
	assert_int_equal(run->shutdowns, 2);
	/* the kicked one, carl, alice for her reconnect and at the end */
	assert_int_equal(run->disconnects, 4);
	assert_true(run->echoes >= 4);
}

static void test_checksum(void **state)
{
	(void)state;
	if (!play("q3-ioq3-proto71-checksum"))
		return;
	expect_all(1276, 0, "ioq3-71");
	assert_int_equal(run->gamestates, 2);
	assert_int_equal(run->disconnects, 1);
	assert_int_equal(run->echoes, 2);
}

static void test_ipv6(void **state)
{
	(void)state;
	if (!play("q3-oa-ipv6"))
		return;
	expect_all(496, 0, "openarena-71");
	assert_int_equal(run->gamestates, 1);
	assert_int_equal(run->disconnects, 1);
}

static void test_impaired_at_the_server(void **state)
{
	(void)state;
	if (!play("q3-oa-impaired-server-side"))
		return;
	assert_int_equal(run->status[RECORD_DECODED], 1393);
	assert_int_equal(run->written, run->messages);
	print_counts();
}

/* Late snapshots are not put in front of newer ones, so they cannot be written again. */
static void test_impaired_at_the_client(void **state)
{
	(void)state;
	if (!play("q3-oa-impaired-client-side"))
		return;
	assert_int_equal(run->status[RECORD_DECODED], 1399);
	/* Slices of two messages whose others were lost on their way. */
	assert_int_equal(run->status[RECORD_PARTIAL], 3);
	assert_int_equal(run->written, run->messages);
	print_counts();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_one_client_map_change, stop),
		cmocka_unit_test_teardown(test_full_kick_timeout, stop),
		cmocka_unit_test_teardown(test_checksum, stop),
		cmocka_unit_test_teardown(test_ipv6, stop),
		cmocka_unit_test_teardown(test_impaired_at_the_server, stop),
		cmocka_unit_test_teardown(test_impaired_at_the_client, stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
