// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A record is `decoded` only if everything that it builds on was seen. Recordings are
 * decoded as they are, and again with datagrams lost, from the middle on, without each of
 * the datagrams that begin a map, and with neighbours swapped. A record that is `decoded`
 * in both must hold the same values and describe the same state.
 *
 * The project's own recordings, and with EVIDENCE_FILES=GLOB more captures and demos.
 * EVIDENCE=NAME takes those alone whose path has that in it; EVIDENCE_SHOW=1
 * prints each record that is wrong, EVIDENCE_UNSURE=1 each that is no longer decoded.
 */
#include <glob.h>
#include <libgen.h>
#include <unistd.h>

#include "capture/capture.h"
#include "decode/decode_support.h"
#include "decode/demo_recognise.h"
#include "decode/evidence_model.h"
#include "lib/input.h"

/* One thing to decode: a datagram, or a block of a demo. */
struct piece {
	struct datagram datagram;
	struct demo_block block;
};

struct recording {
	const char *name;
	bool demo;
	struct piece *piece;
	size_t count, room;
};

/* What a decode says of a frame. */
struct said {
	enum record_status status;
	const char *reason;
	json_t *ops; /* NULL: none */
	uint64_t state;
};

struct decoding {
	json_t *model;
	uint64_t *frame; /* of a demo: by the number that the block has in the file */
	struct said *said; /* by frame */
	size_t frames;
	char *text;
	size_t size;
	FILE *file;
	struct jsonl json;
};

static void *copy_of(const void *bytes, size_t n)
{
	void *copy = malloc(n ? n : 1);

	assert_non_null(copy);
	if (n)
		memcpy(copy, bytes, n);
	return copy;
}

static struct piece *piece_add(struct recording *rec)
{
	if (rec->count == rec->room) {
		rec->room = rec->room ? rec->room * 2 : 1024;
		rec->piece = realloc(rec->piece, rec->room * sizeof(*rec->piece));
		assert_non_null(rec->piece);
	}
	memset(&rec->piece[rec->count], 0, sizeof(*rec->piece));
	return &rec->piece[rec->count++];
}

static void load_capture(struct recording *rec, FILE *file)
{
	struct capture *capture;
	struct datagram dg;
	char message[256];

	assert_int_equal(capture_open(file, &capture, message, sizeof(message)), 0);
	while (capture_next(capture, &dg) == 1) {
		struct piece *p = piece_add(rec);

		p->datagram = dg;
		p->datagram.payload = copy_of(dg.payload, dg.n);
	}
	capture_close(capture);
}

static void load_demo(struct recording *rec, FILE *file, enum demo_format format)
{
	struct demo *demo = demo_open(file, format);
	struct demo_block block;

	assert_non_null(demo);
	rec->demo = true;
	while (demo_next(demo, &block) == 1) {
		struct piece *p = piece_add(rec);

		p->block = block;
		p->block.bytes = copy_of(block.bytes, block.n);
	}
	demo_close(demo);
}

static void load(struct recording *rec, const char *path)
{
	static uint8_t prefix[DEMO_PREFIX];
	size_t n;
	FILE *file = input_open(path, NULL, prefix, sizeof(prefix), &n);
	enum demo_format format = demo_recognise(prefix, n);

	assert_non_null(file);
	memset(rec, 0, sizeof(*rec));
	rec->name = path;
	if (format != DEMO_NONE)
		load_demo(rec, file, format);
	else
		load_capture(rec, file);
}

static void unload(struct recording *rec)
{
	for (size_t i = 0; i < rec->count; i++) {
		free((void *)rec->piece[i].datagram.payload);
		free((void *)rec->piece[i].block.bytes);
	}
	free(rec->piece);
}

/* --- one decode -------------------------------------------------------------------- */

static void hear(void *context, const struct record *r)
{
	struct decoding *d = context;
	struct said *said = &d->said[d->frame ? d->frame[r->frame] : r->frame];
	json_error_t error;
	json_t *object;

	rewind(d->file);
	jsonl_record(&d->json, r);
	assert_int_equal(jsonl_flush(&d->json), 0);
	fflush(d->file);
	object = json_loadb(d->text, d->size, JSON_ALLOW_NUL, &error);
	assert_non_null(object);
	said->status = r->status;
	said->reason = r->reason;
	said->ops = json_incref(json_object_get(object, "ops"));
	if (r->status == RECORD_DECODED || r->status == RECORD_PARTIAL)
		said->state = model_apply(d->model, object);
	json_decref(object);
}

static uint64_t frame_of(const struct recording *rec, size_t i)
{
	return rec->demo ? rec->piece[i].block.frame : rec->piece[i].datagram.frame;
}

static void decoding_begin(struct decoding *d, const struct recording *rec)
{
	memset(d, 0, sizeof(*d));
	for (size_t i = 0; i < rec->count; i++)
		if (frame_of(rec, i) >= d->frames)
			d->frames = frame_of(rec, i) + 1;
	d->said = calloc(d->frames + 1, sizeof(*d->said));
	d->model = json_object();
	d->file = open_memstream(&d->text, &d->size);
	if (rec->demo)
		d->frame = calloc(d->frames + 1, sizeof(*d->frame));
	assert_true(d->said && d->model && d->file && (d->frame || !rec->demo));
	for (size_t i = 0; i < d->frames; i++)
		d->said[i].status = RECORD_STATUS_COUNT;
	jsonl_init(&d->json, d->file);
}

static void decoding_end(struct decoding *d)
{
	for (size_t i = 0; i < d->frames; i++)
		json_decref(d->said[i].ops);
	json_decref(d->model);
	fclose(d->file);
	free(d->text);
	free(d->frame);
	free(d->said);
}

/* In the order of @order, of which NO_PIECE is lost. */
#define NO_PIECE SIZE_MAX

static void decode_all(struct decoding *d, const struct recording *rec,
		       const size_t *order)
{
	struct decoder_options options = { .fields = true, .forced = FAMILY_AUTO };
	struct decoder *decoder;
	struct demo_block block;
	uint64_t number = 0;

	decoding_begin(d, rec);
	decoder = decoder_create(&options, hear, d);
	assert_non_null(decoder);
	for (size_t i = 0; i < rec->count; i++) {
		if (order[i] == NO_PIECE)
			continue;
		if (!rec->demo) {
			decoder_datagram(decoder, &rec->piece[order[i]].datagram);
			continue;
		}
		/* A file without a block has no gap in its numbers. */
		block = rec->piece[order[i]].block;
		d->frame[++number] = block.frame;
		block.frame = number;
		decoder_demo(decoder, &block);
	}
	decoder_flush(decoder);
	decoder_free(decoder);
}

/* --- what is done to a recording ---------------------------------------------------- */

struct result {
	unsigned int decoded; /* without loss, of those that are left */
	unsigned int unsure; /* of these, not decoded now */
	unsigned int wrong; /* decoded both times, and not the same */
};

static bool differs(const struct said *a, const struct said *b)
{
	if (a->ops && b->ops && !json_equal(a->ops, b->ops))
		return true;
	return a->ops && b->ops && a->state != b->state;
}

static void show(const struct recording *rec, const char *what, uint64_t frame,
		 const struct said *a, const struct said *b)
{
	char *was = json_dumps(a->ops, JSON_COMPACT);
	char *is = json_dumps(b->ops, JSON_COMPACT);

	if (!json_equal(a->ops, b->ops))
		print_message("%s %s: frame %llu\n  %s\n  %s\n", rec->name, what,
			      (unsigned long long)frame, was, is);
	else
		print_message("%s %s: frame %llu: another state: %.300s\n", rec->name,
			      what, (unsigned long long)frame, is);
	free(was);
	free(is);
}

static void compare(const struct recording *rec, const char *what,
		    const struct decoding *whole, const size_t *order, struct result *ret)
{
	struct decoding now;

	decode_all(&now, rec, order);
	for (size_t i = 0; i < now.frames; i++) {
		const struct said *a = &whole->said[i], *b = &now.said[i];

		if (a->status != RECORD_DECODED || b->status == RECORD_STATUS_COUNT)
			continue;
		ret->decoded++;
		ret->unsure += b->status != RECORD_DECODED;
		if (b->status != RECORD_DECODED && getenv("EVIDENCE_UNSURE"))
			print_message("%s: frame %zu: %s\n", what, i, b->reason);
		if (b->status != RECORD_DECODED || !differs(a, b))
			continue;
		ret->wrong++;
		if (getenv("EVIDENCE_SHOW"))
			show(rec, what, i, a, b);
	}
	decoding_end(&now);
}

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

static void in_order(size_t *order, size_t count)
{
	for (size_t i = 0; i < count; i++)
		order[i] = i;
}

static void lose(size_t *order, size_t count, unsigned int percent, uint32_t seed)
{
	in_order(order, count);
	for (size_t i = 0; i < count; i++)
		if (next_random(&seed) % 100 < percent)
			order[i] = NO_PIECE;
}

static void start_at(size_t *order, size_t count, size_t first)
{
	in_order(order, count);
	for (size_t i = 0; i < first; i++)
		order[i] = NO_PIECE;
}

static void swap(size_t *order, size_t count)
{
	in_order(order, count);
	for (size_t i = 0; i + 1 < count; i += 5) {
		order[i] = i + 1;
		order[i + 1] = i;
	}
}

/* Does the record begin a map, or give baselines? */
static bool is_key(const struct said *said)
{
	static const char *const keys[] = { "gamestate",      "serverdata",
					    "serverinfo",     "spawnbaseline",
					    "spawnbaseline2", "baselinestream" };
	json_t *op;
	size_t i;

	json_array_foreach (said->ops, i, op) {
		const char *name = json_string_value(json_object_get(op, "op"));

		for (size_t k = 0; name && k < sizeof(keys) / sizeof(*keys); k++)
			if (!strcmp(name, keys[k]))
				return true;
	}
	return false;
}

#define KEYS_MAX 12

enum harm {
	LOSS_1,
	LOSS_5,
	LOSS_20,
	MIDDLE,
	KEY,
	SWAP,
	HARMS
};

static const char *const harm_names[HARMS] = { "loss 1%", "loss 5%", "loss 20%",
					       "middle",  "key",     "swap" };

static void lose_keys(const struct recording *rec, const struct decoding *whole,
		      size_t *order, struct result *ret)
{
	unsigned int keys = 0;

	for (size_t i = 0; i < rec->count && keys < KEYS_MAX; i++) {
		if (!is_key(&whole->said[frame_of(rec, i)]))
			continue;
		keys++;
		in_order(order, rec->count);
		order[i] = NO_PIECE;
		compare(rec, harm_names[KEY], whole, order, ret);
	}
}

static void check(const char *path, unsigned int rounds, struct result ret[HARMS])
{
	static const unsigned int percent[] = { 1, 5, 20 };
	struct recording rec;
	struct decoding whole;
	size_t *order;

	load(&rec, path);
	order = calloc(rec.count + 1, sizeof(*order));
	assert_non_null(order);
	in_order(order, rec.count);
	decode_all(&whole, &rec, order);
	for (int harm = LOSS_1; harm <= LOSS_20; harm++)
		for (uint32_t seed = 1; seed <= rounds; seed++) {
			lose(order, rec.count, percent[harm], seed);
			compare(&rec, harm_names[harm], &whole, order, &ret[harm]);
		}
	for (unsigned int part = 1; part < 4; part++) {
		start_at(order, rec.count, rec.count * part / 4);
		compare(&rec, harm_names[MIDDLE], &whole, order, &ret[MIDDLE]);
	}
	lose_keys(&rec, &whole, order, &ret[KEY]);
	swap(order, rec.count);
	compare(&rec, harm_names[SWAP], &whole, order, &ret[SWAP]);
	decoding_end(&whole);
	unload(&rec);
	free(order);
}

static unsigned int report(const char *path, const struct result ret[HARMS])
{
	unsigned int wrong = 0;
	char name[512];

	snprintf(name, sizeof(name), "%s", path);
	print_message("%s\n", basename(name));
	for (int i = 0; i < HARMS; i++) {
		print_message("    %-9s %7u decoded without, %6u not now, %5u wrong\n",
			      harm_names[i], ret[i].decoded, ret[i].unsure, ret[i].wrong);
		wrong += ret[i].wrong;
	}
	return wrong;
}

static unsigned int check_all(const char *pattern, unsigned int rounds)
{
	const char *only = getenv("EVIDENCE");
	unsigned int wrong = 0;
	glob_t paths;

	if (glob(pattern, 0, NULL, &paths))
		return 0;
	for (size_t i = 0; i < paths.gl_pathc; i++) {
		struct result ret[HARMS] = { { 0 } };

		if (only && !strstr(paths.gl_pathv[i], only))
			continue;
		check(paths.gl_pathv[i], rounds, ret);
		wrong += report(paths.gl_pathv[i], ret);
	}
	globfree(&paths);
	return wrong;
}

static void own_recordings(void **state)
{
	(void)state;
	assert_int_equal(check_all("tests/data/*/*.pcap", 20), 0);
}

/* Takes minutes: only where it is asked for. */
static void more_files(void **state)
{
	const char *files = getenv("EVIDENCE_FILES");

	(void)state;
	if (!files)
		skip();
	assert_int_equal(check_all(files, 1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(own_recordings),
		cmocka_unit_test(more_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
