// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Recordings and captures in CAPTURES: how many of their messages are read to the last
 * byte, and every frame written again from what is kept of it, to the same bytes.
 */
#include <unistd.h>

#include "capture/capture.h"
#include "decode/demo_recognise.h"
#include "decode/q2/q2_support.h"
#include "lib/input.h"

#define WRITTEN_MAX 65536

struct counts {
	unsigned int status[RECORD_STATUS_COUNT];
	unsigned int frames, written;
	unsigned int moves, right;
};

/* The path of a file of CAPTURES, or NULL: it is not here, and was skipped by name. */
static const char *path_of(const char *name)
{
	static char path[512];
	const char *root = getenv("CAPTURES");

	snprintf(path, sizeof(path), "%s/%s", root ? root : "", name);
	if (root && *root && !access(path, R_OK))
		return path;
	print_message("SKIP %s: no such file\n", name);
	return NULL;
}

/* --- frames written again ----------------------------------------------------------- */

struct writer {
	uint8_t bytes[WRITTEN_MAX];
	size_t n;
};

static void put(struct writer *w, const void *bytes, size_t n)
{
	assert_true(n <= sizeof(w->bytes) - w->n);
	memcpy(w->bytes + w->n, bytes, n);
	w->n += n;
}

static const struct q2_entity *entity_in(const struct q2_frame *f, unsigned int number)
{
	for (unsigned int i = 0; i < f->list.count; i++)
		if (f->list.entity[i].number == number)
			return &f->list.entity[i];
	return NULL;
}

/*
 * The entities: which come, and which of their fields, is as it was; every value is from
 * the frame that is kept. Those that are gone must not be in it.
 */
static void write_entities(struct writer *w, const struct q2_frame *f,
			   const struct q2_dialect *d, struct reader *rd)
{
	const struct q2_entity *e;
	unsigned int number;
	uint64_t bits;

	do {
		const uint8_t *from = rd->pos;
		int32_t skipped[Q2_ENTITY_WORDS] = { 0 };

		bits = q2_entity_header(rd, d, &number);
		assert_false(reader_failed(rd));
		put(w, from, (size_t)(rd->pos - from));
		if (!number)
			break;
		e = entity_in(f, number);
		if (bits & Q2_ENTITY_REMOVE) {
			assert_null(e);
			continue;
		}
		assert_non_null(e);
		w->n += q2_entity_write(w->bytes + w->n, sizeof(w->bytes) - w->n, d, bits,
					e->word);
		q2_entity_read(rd, d, bits, skipped);
	} while (number);
}

#define OP_FRAME 20

/* Where in @message of @r the frame begins that @r says; NULL: it says none. */
static const uint8_t *frame_in(const struct record *r, const uint8_t *message, size_t n)
{
	uint8_t head[5] = { OP_FRAME };
	const uint8_t *ret;

	for (size_t i = 0; i < r->tape->items_used; i++) {
		const struct record_item *at = &r->tape->items[i];

		if (!at->key || strcmp(at->key, "serverframe") != 0)
			continue;
		for (int k = 0; k < 4; k++)
			head[1 + k] = (uint8_t)((uint64_t)at->i >> 8 * k);
		ret = memmem(message, n, head, sizeof(head));
		assert_non_null(ret);
		return ret;
	}
	return NULL;
}

/*
 * @message begins with a frame; of two in one message only the first is compared. What is
 * written again are the player, and of entities what their bits announce: the frame's
 * head, the entities' headers and the end of their list are taken from @message.
 */
static void write_again(struct q2_session *q, const uint8_t *message, size_t n)
{
	static struct writer w;
	struct reader rd = reader_of(message, n);
	const struct q2_frame *f;
	const uint8_t *at;
	int32_t skipped[Q2_PLAYER_WORDS] = { 0 };

	w.n = 0;
	reader_u8(&rd);
	f = q2_frame_find(q->game, (int32_t)reader_le32(&rd));
	assert_non_null(f);
	reader_take(&rd, 5);
	reader_take(&rd, reader_u8(&rd));
	reader_u8(&rd);
	at = rd.pos;
	put(&w, message, (size_t)(at - message));
	w.n += q2_player_write(w.bytes + w.n, sizeof(w.bytes) - w.n, &f->delta,
			       f->player);
	q2_player_read(&rd, &q->dialect, 0, skipped);
	put(&w, rd.pos, 1);
	reader_u8(&rd);
	write_entities(&w, f, &q->dialect, &rd);
	assert_int_equal(w.n, (size_t)(rd.pos - message));
	assert_memory_equal(w.bytes, message, w.n);
}

/* --- recordings --------------------------------------------------------------------- */

static void count(struct counts *c, const struct record *r)
{
	c->status[r->status]++;
	assert_non_null(r->kind);
	assert_int_equal(r->reason == NULL, r->status == RECORD_DECODED);
}

static void play_demo(const char *path, struct counts *c)
{
	static uint8_t prefix[DEMO_PREFIX];
	struct q2_session q = { .game = NULL };
	struct demo_block block;
	const uint8_t *frame;
	struct demo *demo;
	struct record r;
	size_t n;
	FILE *file = input_open(path, NULL, prefix, sizeof(prefix), &n);

	assert_non_null(file);
	demo = demo_open(file, demo_recognise(prefix, n));
	assert_non_null(demo);
	while (demo_next(demo, &block) == 1) {
		record_reset(&r, q2_tape());
		q2_session_demo(&q, &block, &r);
		count(c, &r);
		if (block.format != DEMO_DM2 || r.status != RECORD_DECODED)
			continue;
		frame = frame_in(&r, block.bytes, block.n);
		if (!frame)
			continue;
		c->frames++;
		write_again(&q, frame, block.n - (size_t)(frame - block.bytes));
		c->written++;
	}
	assert_string_equal(demo_error(demo), "no error");
	q2_session_drop(&q);
	demo_close(demo);
}

static void test_demos(void **state)
{
	static const struct {
		const char *name;
		unsigned int blocks, opaque;
		unsigned int written; /* frames */
	} rows[] = {
		{ "demos/quake2/3zb2_ctf.dm2", 1263, 0, 1252 },
		{ "demos/quake2/aqtion_demo_guide.dm2", 1239, 0, 1233 },
		{ "demos/quake2/aqtion_ladder_guide.dm2", 2093, 0, 2087 },
		{ "demos/quake2/libq2_test.dm2", 29, 0, 23 },
		{ "demos/quake2/opentdm_duel.dm2", 3204, 0, 3199 },
		{ "demos/quake2/qase_q2dm1.dm2", 4072, 0, 4065 },
		{ "demos/quake2/mission64_demo1_p56.dm2", 0, 340, 0 },
		{ "demos/quake2-mvd2/opentdm_a.mvd2", 3519, 0, 0 },
		{ "demos/quake2-mvd2/aq2_asylum.mvd2.gz", 7451, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const char *path = path_of(rows[i].name);
		struct counts c = { .frames = 0 };

		if (!path)
			continue;
		play_demo(path, &c);
		print_message("%s: %u decoded, %u frames written again\n", rows[i].name,
			      c.status[RECORD_DECODED], c.written);
		assert_int_equal(c.status[RECORD_DECODED], rows[i].blocks);
		assert_int_equal(c.status[RECORD_OPAQUE], rows[i].opaque);
		assert_int_equal(c.status[RECORD_PARTIAL], 0);
		assert_int_equal(c.status[RECORD_MALFORMED], 0);
		assert_int_equal(c.written, rows[i].written);
	}
}

/* --- captures ----------------------------------------------------------------------- */

struct run {
	struct decoder *decoder;
	struct datagram datagram; /* in hand */
	struct counts counts;
	unsigned int old, repeated, others;
	size_t extracted; /* bytes of files */
	char names[256], maps[256];
};

static void note_once(char *list, size_t size, const uint8_t *text, size_t n)
{
	char one[FACTS_TEXT + 2];

	snprintf(one, sizeof(one), "%.*s ", (int)n, (const char *)text);
	if (!strstr(list, one) && strlen(list) + n + 2 < size)
		strcat(list, one);
}

static void note_facts(struct run *run, const struct record *r)
{
	const struct facts *f = &r->facts;

	if (f->has & FACT_NAME)
		note_once(run->names, sizeof(run->names), f->name, f->name_n);
	if (f->has & FACT_MAP)
		note_once(run->maps, sizeof(run->maps), f->map, f->map_n);
}

static void note_items(struct run *run, const struct record *r)
{
	for (size_t i = 0; r->tape && i < r->tape->items_used; i++) {
		const struct record_item *at = &r->tape->items[i];

		if (!at->key || at->type != RECORD_TYPE_BOOL)
			continue;
		run->old += !strcmp(at->key, "late");
		run->repeated += !strcmp(at->key, "repeated");
		if (strcmp(at->key, "checksum_valid") != 0)
			continue;
		run->counts.moves++;
		run->counts.right += at->u;
	}
}

static void sink(void *context, const struct record *r)
{
	struct run *run = context;
	const struct datagram *dg = &run->datagram;
	unsigned int stale = run->old + run->repeated;
	const uint8_t *frame;
	struct session *s;
	bool low;

	if (r->family != FAMILY_QUAKE2) {
		run->others++;
		return;
	}
	count(&run->counts, r);
	for (unsigned int i = 0; i < r->pieces_n; i++)
		run->extracted += r->pieces[i].n;
	note_facts(run, r);
	note_items(run, r);
	assert_false(r->overflow);
	/* Held ones come later than they were in hand; old ones are not kept. */
	if (strcmp(r->kind, "frame") != 0 || run->old + run->repeated != stale ||
	    r->frame != dg->frame)
		return;
	frame = frame_in(r, dg->payload, dg->n);
	assert_non_null(frame);
	s = session_get(decoder_sessions(run->decoder), &r->source, &r->destination,
			r->time_ns, &low);
	run->counts.frames++;
	write_again(s->state, frame, dg->n - (size_t)(frame - dg->payload));
	run->counts.written++;
}

/* What is done to a capture on its way. */
struct played {
	unsigned int skip; /* datagrams that are left out at its beginning */
	uint64_t moved; /* from this frame on clients send from another port; 0: never */
};

static void move_ports(struct datagram *dg)
{
	struct record_address *client =
		dg->source.port == 27901 || dg->source.port == 27905 ? &dg->source
								     : &dg->destination;

	client->port += 1000;
}

static void play_capture(const char *path, const struct played *how, struct run *run)
{
	struct decoder_options options = { .fields = true, .forced = FAMILY_AUTO };
	struct capture *capture = NULL;
	struct datagram *dg = &run->datagram;
	char message[256];
	FILE *file = fopen(path, "rb");

	assert_non_null(file);
	memset(run, 0, sizeof(*run));
	run->decoder = decoder_create(&options, sink, run);
	assert_non_null(run->decoder);
	assert_int_equal(capture_open(file, &capture, message, sizeof(message)), 0);
	while (capture_next(capture, dg) == 1) {
		if (dg->frame <= how->skip)
			continue;
		if (how->moved && dg->frame >= how->moved)
			move_ports(dg);
		decoder_datagram(run->decoder, dg);
	}
	dg->frame = 0;
	decoder_flush(run->decoder);
	decoder_free(run->decoder);
	capture_close(capture);
}

static void expect_status(const struct run *run, unsigned int decoded,
			  unsigned int partial, unsigned int malformed)
{
	const unsigned int *status = run->counts.status;

	assert_int_equal(status[RECORD_DECODED], decoded);
	assert_int_equal(status[RECORD_PARTIAL], partial);
	assert_int_equal(status[RECORD_OPAQUE], 0);
	assert_int_equal(status[RECORD_MALFORMED], malformed);
}

#define LIVE "live/q2-yamagi-q2ded-"

static void test_captures(void **state)
{
	static const struct {
		const char *name;
		unsigned int decoded, partial, malformed, frames, moves, right, old;
		const char *names, *maps;
		size_t extracted;
	} rows[] = {
		{ LIVE "moves-1client.pcap", 1506, 0, 0, 263, 1210, 1210, 0,
		  "maru maru two ", "yard1 ", 4616 },
		{ LIVE "moves-2clients-mapchange.pcap", 2926, 0, 0, 561, 2294, 2294, 0,
		  "halle b\344r halle! baer ", "yard1 yard2 ", 0 },
		{ LIVE "moves-badchecksum.pcap", 1141, 74, 0, 234, 959, 885, 0,
		  "forger forger2 ", "yard2 ", 0 },
		{ LIVE "moves-impaired-client-side.pcap", 1186, 3, 0, 217, 935, 935, 7,
		  "lossy lossy2 lossy3 ", "yard1 ", 0 },
		{ LIVE "moves-impaired-server-side.pcap", 1187, 0, 0, 233, 924, 924, 84,
		  "lossy lossy2 lossy3 ", "yard1 ", 0 },
		{ LIVE "scripted-client.pcap", 460, 0, 0, 194, 0, 0, 0, "grunt1 grunt2 ",
		  "box1 box2 ", 0 },
		{ LIVE "queries.pcap", 26, 0, 1, 0, 0, 0, 0, "x ", "", 0 },
	};
	static const struct played whole;
	static struct run run;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const char *path = path_of(rows[i].name);

		if (!path)
			continue;
		play_capture(path, &whole, &run);
		print_message("%s: %u decoded, %u frames, %u written again, names %s, "
			      "maps %s, %u old, %u repeated\n",
			      rows[i].name, run.counts.status[RECORD_DECODED],
			      run.counts.frames, run.counts.written, run.names, run.maps,
			      run.old, run.repeated);
		expect_status(&run, rows[i].decoded, rows[i].partial, rows[i].malformed);
		assert_int_equal(run.counts.written, rows[i].frames);
		assert_int_equal(run.counts.moves, rows[i].moves);
		assert_int_equal(run.counts.right, rows[i].right);
		assert_int_equal(run.old + run.repeated, rows[i].old);
		assert_string_equal(run.names, rows[i].names);
		assert_string_equal(run.maps, rows[i].maps);
		assert_int_equal(run.extracted, rows[i].extracted);
	}
}

/* No handshake: family, direction and dialect from the flow alone. */
static void test_joined_in_the_middle(void **state)
{
	static const struct {
		struct played how;
		unsigned int decoded, partial;
	} rows[] = {
		{ { .skip = 200 }, 1077, 229 },
		{ { .skip = 700 }, 675, 131 },
		{ { .skip = 1200 }, 263, 43 },
	};
	const char *path = path_of(LIVE "moves-1client.pcap");
	static struct run run;

	(void)state;
	if (!path)
		skip();
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		play_capture(path, &rows[i].how, &run);
		print_message("from %u on: %u decoded, %u partial\n", rows[i].how.skip,
			      run.counts.status[RECORD_DECODED],
			      run.counts.status[RECORD_PARTIAL]);
		assert_int_equal(run.others, 0);
		expect_status(&run, rows[i].decoded, rows[i].partial, 0);
	}
}

/* Behind a NAT a client's port changes: its frames go on where they were. */
static void test_port_changes(void **state)
{
	static const struct played how = { .moved = 900 };
	const char *path = path_of(LIVE "moves-2clients-mapchange.pcap");
	static struct run run;

	(void)state;
	if (!path)
		skip();
	play_capture(path, &how, &run);
	expect_status(&run, 2926, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_demos),
		cmocka_unit_test(test_captures),
		cmocka_unit_test(test_joined_in_the_middle),
		cmocka_unit_test(test_port_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
