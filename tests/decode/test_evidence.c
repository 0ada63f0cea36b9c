// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A record is `decoded` only if everything that it builds on was seen. Recordings are
 * decoded as they are, and again with each harm of evidence_recording.h. A record that is
 * `decoded` after the harm must
 *
 *	- be `decoded` without it, too, where datagrams are missing;
 *	- hold the same values under the same keys, but those of its arrival;
 *	- be of the same dialect, unless the dialect is said to be a guess;
 *	- describe the same state (evidence_model.h), unless it is an old one, or behind
 *	  a gap within a file of which no block has a number.
 *
 * Records are matched by the number of the datagram or block. Only a message that came in
 * slices may be whole with another one of them: then by its flow and sequence.
 *
 * The project's own recordings (EVIDENCE_OWN=no: not), and with EVIDENCE_FILES=GLOB more
 * captures and demos, each random harm EVIDENCE_ROUNDS times (1). EVIDENCE=NAME takes
 * those alone with that in their path, EVIDENCE_HARM=NAME those harms; EVIDENCE_SHOW=1
 * prints each record that is wrong, EVIDENCE_UNSURE=1 each that is no longer decoded.
 */
#include <glob.h>
#include <unistd.h>

#include "decode/evidence_model.h"
#include "decode/evidence_recording.h"
#include "rounds.h"

#define FAMILY_NAME 32

/* What a decode says of a datagram or block. */
struct said {
	enum record_status status;
	json_t *object; /* the values; NULL: nothing was said */
	char *flow; /* and sequence, of a message with ops */
	const char *dialect; /* NULL: it is a guess, or not named */
	uint64_t state;
	bool stale; /* a client throws it away */
};

/* Without the harm. */
struct whole {
	struct said *said; /* by frame */
	size_t frames;
	char family[FAMILY_NAME]; /* of the first record with ops */
	json_t *messages; /* by flow and sequence: the frames that have its ops */
};

struct result {
	unsigned int decoded; /* without harm, of those that are left */
	unsigned int unsure; /* of these, not decoded now */
	unsigned int wrong;
};

struct decoding {
	const struct recording *rec;
	const struct harm *harm; /* NULL: without */
	struct whole *whole; /* made without harm, else compared with */
	struct result *result;
	uint64_t *frame; /* of a demo: by the number that the block has in the file */
	json_t *model;
	char *text;
	size_t size;
	FILE *file;
	struct jsonl json;
};

/* --- one record -------------------------------------------------------------------- */

static bool is_true(const json_t *object, const char *key)
{
	return json_is_true(json_object_get(object, key));
}

/* Does the record begin a map, or give baselines? */
static bool is_key(const json_t *object)
{
	static const char *const keys[] = { "gamestate",      "serverdata",
					    "serverinfo",     "spawnbaseline",
					    "spawnbaseline2", "baselinestream" };
	json_t *op;
	size_t i;

	json_array_foreach (json_object_get(object, "ops"), i, op) {
		const char *name = json_string_value(json_object_get(op, "op"));

		for (size_t k = 0; name && k < sizeof(keys) / sizeof(*keys); k++)
			if (!strcmp(name, keys[k]))
				return true;
	}
	return false;
}

/* NULL: the record has no message that could stand at another datagram. */
static char *flow_of(const json_t *object)
{
	json_t *sequence = json_object_get(object, "sequence");
	char *text = NULL;

	if (!sequence || !json_object_get(object, "ops"))
		return NULL;
	assert_true(asprintf(&text, "%s %lld %s %lld %lld",
			     json_string_value(json_object_get(object, "src")),
			     (long long)model_number(object, "sport"),
			     json_string_value(json_object_get(object, "dst")),
			     (long long)model_number(object, "dport"),
			     (long long)json_integer_value(sequence)) > 0);
	return text;
}

/* Take "repeated" out of the messages in a record of DTLS. */
static void strip_messages(json_t *object)
{
	json_t *record, *message;
	size_t i, k;

	json_array_foreach (json_object_get(object, "records"), i, record) {
		json_array_foreach (json_object_get(record, "messages"), k, message) {
			json_object_del(message, "repeated");
		}
	}
}

/* The record as it was said; its state is put into the model. */
static struct said said_of(struct decoding *d, const struct record *r)
{
	static const char *const arrival[] = { "frame",		"time",	   "repeated",
					       "late",		"dialect", "untested",
					       "dialect_guess", "reason",  "cdtrack",
					       "status" };
	struct said said = { .status = r->status };
	json_error_t error;

	rewind(d->file);
	jsonl_record(&d->json, r);
	assert_int_equal(jsonl_flush(&d->json), 0);
	fflush(d->file);
	said.object = json_loadb(d->text, d->size, JSON_ALLOW_NUL, &error);
	assert_non_null(said.object);
	said.stale = is_true(said.object, "repeated") || is_true(said.object, "late");
	said.dialect = r->guess ? NULL : r->dialect;
	if (r->status <= RECORD_PARTIAL && !said.stale)
		said.state = model_apply(d->model, said.object);
	for (size_t i = 0; i < sizeof(arrival) / sizeof(*arrival); i++)
		json_object_del(said.object, arrival[i]);
	strip_messages(said.object);
	said.flow = flow_of(said.object);
	return said;
}

static void said_drop(struct said *said)
{
	json_decref(said->object);
	free(said->flow);
}

/* --- comparison -------------------------------------------------------------------- */

/* Another record of the message without harm that @now is of, with the same ops. */
static const struct said *twin_of(const struct whole *whole, const struct said *now)
{
	json_t *frames = now->flow ? json_object_get(whole->messages, now->flow) : NULL;
	json_t *ops = json_object_get(now->object, "ops"), *frame;
	size_t i;

	json_array_foreach (frames, i, frame) {
		const struct said *was = &whole->said[json_integer_value(frame)];

		if (was->status == RECORD_DECODED &&
		    json_equal(json_object_get(was->object, "ops"), ops))
			return was;
	}
	return NULL;
}

/* NULL: nothing is. */
static const char *what_is_wrong(const struct decoding *d, const struct said *was,
				 const struct said *now)
{
	bool same;

	/* That it does not know is no wrong value. */
	if (json_is_null(json_object_get(now->object, "direction")))
		json_object_set(now->object, "direction",
				json_object_get(was->object, "direction"));
	same = json_equal(was->object, now->object);

	/* It says no more than that it is a part, or was there. */
	if (!json_object_get(now->object, "ops") &&
	    (now->stale ||
	     !strcmp(json_string_value(json_object_get(now->object, "kind")),
		     "fragment")))
		return NULL;
	/* By the time of a repeat more may be known. */
	if (was->status != RECORD_DECODED && same && (now->stale || d->harm->complete))
		return NULL;
	if (was->status != RECORD_DECODED || !same) {
		was = twin_of(d->whole, now);
		if (!was)
			return same ? "is sure of more" : "other values";
	}
	if (now->dialect && was->dialect && strcmp(now->dialect, was->dialect) != 0)
		return "another dialect";
	if (!was->stale && !now->stale && was->state != now->state &&
	    (d->rec->numbered || d->harm->make == lose_start ||
	     d->harm->make == lose_rest))
		return "another state";
	return NULL;
}

static void show(const struct decoding *d, uint64_t frame, const char *what,
		 const struct said *was, const struct said *now)
{
	char *before = json_dumps(was->object, JSON_COMPACT);
	char *after = json_dumps(now->object, JSON_COMPACT);

	print_message("%s, %s: frame %llu: %s (%s, %s)\n  %.600s\n  %.600s\n",
		      d->rec->name, d->harm->name, (unsigned long long)frame, what,
		      was->dialect ? was->dialect : "-",
		      now->dialect ? now->dialect : "-", before, after);
	free(before);
	free(after);
}

static void compare(struct decoding *d, uint64_t frame, const struct said *now,
		    const char *reason)
{
	const struct said *was = &d->whole->said[frame];
	const char *what;

	if (!was->object)
		return;
	d->result->decoded += was->status == RECORD_DECODED;
	if (now->status != RECORD_DECODED) {
		d->result->unsure += was->status == RECORD_DECODED;
		if (getenv("EVIDENCE_UNSURE"))
			print_message("%s: frame %llu: %s\n", d->harm->name,
				      (unsigned long long)frame, reason);
		return;
	}
	what = what_is_wrong(d, was, now);
	d->result->wrong += what != NULL;
	if (what && getenv("EVIDENCE_SHOW"))
		show(d, frame, what, was, now);
}

static void keep(struct whole *whole, uint64_t frame, struct said *now)
{
	json_t *frames;

	if (whole->said[frame].object) {
		said_drop(now);
		return;
	}
	whole->said[frame] = *now;
	if (!*whole->family && json_object_get(now->object, "ops"))
		snprintf(whole->family, FAMILY_NAME, "%s",
			 json_string_value(json_object_get(now->object, "protocol")));
	if (!now->flow)
		return;
	frames = json_object_get(whole->messages, now->flow);
	if (!frames) {
		frames = json_array();
		json_object_set_new(whole->messages, now->flow, frames);
	}
	json_array_append_new(frames, json_integer((json_int_t)frame));
}

static void hear(void *context, const struct record *r)
{
	struct decoding *d = context;
	uint64_t frame = d->frame ? d->frame[r->frame] : r->frame;
	struct said now = said_of(d, r);

	if (d->harm) {
		compare(d, frame, &now, r->reason);
		said_drop(&now);
	} else {
		keep(d->whole, frame, &now);
	}
}

/* --- one decode -------------------------------------------------------------------- */

static void decode_blocks(struct decoding *d, struct decoder *decoder,
			  const struct order *order)
{
	/* A file without a block has no gap in its numbers. */
	d->frame = calloc(order->n + 1, sizeof(*d->frame));
	assert_non_null(d->frame);
	for (size_t i = 0; i < order->n; i++) {
		struct demo_block block = d->rec->piece[order->at[i]].block;

		d->frame[i + 1] = block.frame;
		block.frame = i + 1;
		decoder_demo(decoder, &block);
	}
	decoder_flush(decoder);
	free(d->frame);
}

static void decode(struct decoding *d, const struct order *order)
{
	struct decoder_options options = { .fields = true, .forced = FAMILY_AUTO };
	struct decoder *decoder = decoder_create(&options, hear, d);

	assert_non_null(decoder);
	d->model = json_object();
	d->file = open_memstream(&d->text, &d->size);
	assert_true(d->model && d->file);
	jsonl_init(&d->json, d->file);
	if (d->rec->demo) {
		decode_blocks(d, decoder, order);
	} else {
		for (size_t i = 0; i < order->n; i++)
			decoder_datagram(decoder, &d->rec->piece[order->at[i]].datagram);
		decoder_flush(decoder);
	}
	decoder_free(decoder);
	json_decref(d->model);
	fclose(d->file);
	free(d->text);
}

static void decode_whole(struct recording *rec, struct whole *whole, struct order *order)
{
	struct decoding d = { .rec = rec, .whole = whole };

	memset(whole, 0, sizeof(*whole));
	for (size_t i = 0; i < rec->count; i++) {
		order->at[i] = i;
		if (frame_of(rec, i) >= whole->frames)
			whole->frames = frame_of(rec, i) + 1;
	}
	order->n = rec->count;
	whole->said = calloc(whole->frames + 1, sizeof(*whole->said));
	whole->messages = json_object();
	assert_true(whole->said && whole->messages);
	decode(&d, order);
	for (size_t i = 0; i < rec->count; i++) {
		json_t *object = whole->said[frame_of(rec, i)].object;
		const char *to = json_string_value(json_object_get(object, "direction"));

		rec->piece[i].key = is_key(object);
		rec->piece[i].direction = !to		       ? DIRECTION_UNKNOWN
					  : !strcmp(to, "c2s") ? DIRECTION_C2S
							       : DIRECTION_S2C;
	}
}

static void whole_drop(struct whole *whole)
{
	for (size_t i = 0; i < whole->frames; i++)
		if (whole->said[i].object)
			said_drop(&whole->said[i]);
	free(whole->said);
	json_decref(whole->messages);
}

/* --- all of a recording ------------------------------------------------------------ */

/* @ret_family: its name, of FAMILY_NAME bytes; "" if no record has ops. */
static void check(const char *path, unsigned int rounds, struct result ret[HARMS],
		  char *ret_family)
{
	const char *only = getenv("EVIDENCE_HARM");
	struct recording rec;
	struct whole whole;
	struct order order;

	load(&rec, path);
	order_begin(&order, &rec);
	decode_whole(&rec, &whole, &order);
	for (size_t i = 0; i < HARMS; i++) {
		const struct harm *h = &harms[i];
		uint32_t most =
			h->make == lose_start || h->make == lose_key ? STARTS : rounds;

		if ((only && !strstr(h->name, only)) || (!rec.numbered && h->complete))
			continue;
		for (uint32_t k = 0; k < most && h->make(&order, &rec, h->arg, k); k++) {
			struct decoding d = {
				.rec = &rec,
				.harm = h,
				.whole = &whole,
				.result = &ret[i],
			};

			decode(&d, &order);
		}
	}
	free(order.at);
	snprintf(ret_family, FAMILY_NAME, "%s", whole.family);
	whole_drop(&whole);
	unload(&rec);
}

/* A line for each harm, which tests/evidence_table.sh reads. Returns how many are wrong.
 */
static unsigned int report(const char *path, const char *family,
			   const struct result ret[HARMS])
{
	unsigned int wrong = 0;

	for (size_t i = 0; i < HARMS; i++) {
		if (ret[i].decoded)
			print_message("evidence\t%s\t%s\t%s\t%u\t%u\t%u\n", path, family,
				      harms[i].name, ret[i].decoded, ret[i].unsure,
				      ret[i].wrong);
		wrong += ret[i].wrong;
	}
	return wrong;
}

static unsigned int check_all(const char *pattern, unsigned int rounds)
{
	const char *only = getenv("EVIDENCE");
	unsigned int wrong = 0;
	char family[FAMILY_NAME];
	glob_t paths;

	if (glob(pattern, GLOB_BRACE, NULL, &paths))
		return 0;
	for (size_t i = 0; i < paths.gl_pathc; i++) {
		struct result ret[HARMS] = { { 0 } };

		if (only && !strstr(paths.gl_pathv[i], only))
			continue;
		check(paths.gl_pathv[i], rounds, ret, family);
		wrong += report(paths.gl_pathv[i], family, ret);
	}
	globfree(&paths);
	return wrong;
}

static void own_recordings(void **state)
{
	(void)state;
	if (getenv("EVIDENCE_OWN"))
		skip();
	assert_int_equal(check_all("tests/data/*/*.pcap", rounds_of(20)), 0);
}

/* Takes minutes: only where it is asked for. */
static void more_files(void **state)
{
	const char *files = getenv("EVIDENCE_FILES");
	const char *rounds = getenv("EVIDENCE_ROUNDS");

	(void)state;
	if (!files)
		skip();
	assert_int_equal(check_all(files, rounds ? (unsigned int)atoi(rounds) : 1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(own_recordings),
		cmocka_unit_test(more_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
