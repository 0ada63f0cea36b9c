// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Captures that are damaged as captures are: datagrams that are missing, swapped, there
 * twice, cut off, with a bit turned. What is called decoded must be what it is in the
 * whole capture, and damage must not go further than it reaches.
 */
#include "capture/capture.h"
#include "decode/decode_support.h"
#include "rounds.h"

#define MOST 12000 /* datagrams of a capture */

/* A capture in memory. */
struct tape {
	struct datagram dg[MOST];
	size_t n;
};

/* What came of one datagram of the whole capture. */
struct outcome {
	enum record_status status;
	char *fields; /* as JSON, without what order and the flow's start decide */
};

struct run {
	struct outcome *whole; /* by frame; NULL: this is the run that fills them */
	struct outcome *of;
	const size_t *frames; /* which datagram of the whole capture each is */
	const bool *harmed;
	size_t n;
	unsigned int status[RECORD_STATUS_COUNT]; /* of those that were not harmed */
	unsigned int wrong, late;
	uint64_t first_wrong;
};

static uint32_t state;

static uint32_t dice(uint32_t sides)
{
	state ^= state << 13;
	state ^= state >> 17;
	state ^= state << 5;
	return state % sides;
}

/* Keys that say how a datagram came, not what is in it; or what was known of the flow. */
static const char *const incidental[] = { "frame", "time", "late",     "repeated",
					  "kind",  "file", "protocol", "dialect" };

static char *fields_of(const struct record *r, bool *late, bool *repeated)
{
	char *text = NULL, *ret;
	size_t size;
	FILE *file = open_memstream(&text, &size);
	struct jsonl json;
	json_t *object;

	jsonl_init(&json, file);
	jsonl_record(&json, r);
	jsonl_flush(&json);
	fclose(file);
	object = json_loads(text, JSON_ALLOW_NUL, NULL);
	assert_non_null(object);
	*late = json_object_get(object, "late");
	*repeated = json_object_get(object, "repeated");
	for (size_t i = 0; i < sizeof(incidental) / sizeof(*incidental); i++)
		json_object_del(object, incidental[i]);
	ret = json_dumps(object, JSON_COMPACT | JSON_SORT_KEYS);
	json_decref(object);
	free(text);
	return ret;
}

static void sink(void *context, const struct record *r)
{
	struct run *run = context;
	size_t from = run->frames[r->frame - 1];
	bool late, repeated;
	char *fields = fields_of(r, &late, &repeated);

	assert_true(r->frame - 1 < run->n);
	if (!run->whole) {
		run->of[from] = (struct outcome){ r->status, fields };
		run->status[r->status]++;
		return;
	}
	if (!run->harmed || !run->harmed[r->frame - 1]) {
		run->status[r->status]++;
		run->late += late;
		/* A slice that was there before does not say its message again. */
		if (r->status == RECORD_DECODED && !repeated &&
		    run->whole[from].status == RECORD_DECODED &&
		    strcmp(run->whole[from].fields, fields) != 0) {
			run->wrong++;
			run->first_wrong = r->frame;
		}
	}
	free(fields);
}

static bool tape_load(const char *path, struct tape *tape)
{
	FILE *file = fopen(path, "rb");
	struct capture *capture;
	char why[256];

	tape->n = 0;
	if (!file)
		return false;
	assert_int_equal(capture_open(file, &capture, why, sizeof(why)), 0);
	while (tape->n < MOST && capture_next(capture, &tape->dg[tape->n]) == 1) {
		struct datagram *dg = &tape->dg[tape->n++];
		uint8_t *copy = malloc(dg->n + 1);

		assert_non_null(copy);
		memcpy(copy, dg->payload, dg->n);
		dg->payload = copy;
	}
	capture_close(capture);
	return tape->n != 0;
}

static void tape_drop(struct tape *tape)
{
	for (size_t i = 0; i < tape->n; i++)
		free((void *)tape->dg[i].payload);
}

/* --- damage ------------------------------------------------------------------------ */

enum damage {
	NONE,
	DROP,
	SWAP,
	TWICE,
	CUT,
	TURN,
	DAMAGES
};

static const char *const names[] = { "none", "drop", "swap", "twice", "cut", "turn" };

/* Which of the tape's datagrams come, in their order; returns how many. */
static size_t order(enum damage damage, size_t n, size_t *frames)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++) {
		if (damage == DROP && !dice(20))
			continue;
		frames[count++] = i;
		if (damage == TWICE && !dice(20))
			frames[count++] = i;
	}
	for (size_t i = 0; damage == SWAP && i + 1 < count; i++) {
		if (dice(10))
			continue;
		frames[i]++;
		frames[i + 1]--;
		i++;
	}
	return count;
}

/* From an exact copy. */
static void feed(struct decoder *decoder, struct datagram dg, enum damage damage,
		 bool *harmed)
{
	uint8_t *copy;

	*harmed = dg.n > 1 && (damage == CUT || damage == TURN) && !dice(20);
	if (*harmed && damage == CUT)
		dg.n = dg.length = 1 + dice((uint32_t)dg.n - 1);
	copy = malloc(dg.n ? dg.n : 1);
	assert_non_null(copy);
	memcpy(copy, dg.payload, dg.n);
	if (*harmed && damage == TURN)
		copy[dice((uint32_t)dg.n)] ^= (uint8_t)(1U << dice(8));
	dg.payload = copy;
	decoder_datagram(decoder, &dg);
	free(copy);
}

static void damage_run(const struct tape *tape, enum damage damage, struct run *run)
{
	struct decoder_options options = { .fields = true, .forced = FAMILY_AUTO };
	size_t *frames = calloc(2 * tape->n, sizeof(*frames));
	bool *harmed = calloc(2 * tape->n, sizeof(*harmed));
	struct decoder *decoder = decoder_create(&options, sink, run);

	assert_true(frames && harmed && decoder);
	run->frames = frames;
	run->harmed = harmed;
	run->n = order(damage, tape->n, frames);
	for (size_t i = 0; i < run->n; i++) {
		struct datagram dg = tape->dg[frames[i]];

		dg.time_ns = tape->dg[i < tape->n ? i : tape->n - 1].time_ns;
		dg.frame = i + 1;
		feed(decoder, dg, damage, &harmed[i]);
	}
	decoder_flush(decoder);
	decoder_free(decoder);
	free(frames);
	free(harmed);
}

/* --- tests ------------------------------------------------------------------------- */

static const struct {
	const char *name; /* in tests/data, or in $CAPTURES/live */
	unsigned int late_most; /* of 1000: marked so, and they were not */
} files[] = {
	{ "nq/netquake-session.pcap", 0 },
	{ "qw/quakeworld-session.pcap", 1000 },
	{ "q2/quake2-session.pcap", 1000 },
	{ "q3/quake3-session-71.pcap", 0 },
	{ "nq-quakespasm-proto666-2clients-mapchange.pcap", 0 },
	{ "nq-quakespasm-proto999-1client.pcap", 0 },
	{ "dp-darkplaces-server-quake15-quakespasm-client.pcap", 0 },
	{ "qw-mvdsv-ezquake-disconnect-kick.pcap", 40 },
	{ "qw-mvdsv-ktx-queries-session.pcap", 40 },
	{ "q2-yamagi-q2ded-moves-1client.pcap", 60 },
	{ "q2-yamagi-q2ded-moves-impaired-server-side.pcap", 60 },
	{ "q3-oa-ipv6.pcap", 0 },
	{ "q3-ioq3-proto71-checksum.pcap", 0 },
};

#define OVERTAKING_MOST 3 /* records that wait for a baseline behind them, of a file */

static unsigned int bad_of(const struct run *run)
{
	return run->status[RECORD_PARTIAL] + run->status[RECORD_OPAQUE] +
	       run->status[RECORD_MALFORMED];
}

static void judge(const char *name, enum damage damage, const struct run *whole,
		  const struct run *run, unsigned int late_most)
{
	print_message("%s, %s: %u decoded, %u partial, %u opaque, %u malformed, "
		      "%u late\n",
		      name, names[damage], run->status[RECORD_DECODED],
		      run->status[RECORD_PARTIAL], run->status[RECORD_OPAQUE],
		      run->status[RECORD_MALFORMED], run->late);
	/* A bit turned in a slice or a baseline is in what they are a part of, too. */
	if (run->wrong && damage != TURN)
		fail_msg("%s, %s: %u records hold what the whole capture does not, "
			 "the last at %llu",
			 name, names[damage], run->wrong,
			 (unsigned long long)run->first_wrong);
	/*
	 * Nothing of the game is missing: nor may anything be of the records, but for the
	 * few that are read before the datagram that they overtook.
	 */
	if (damage == SWAP || damage == TWICE)
		assert_in_range(bad_of(run), bad_of(whole),
				bad_of(whole) + (damage == SWAP ? OVERTAKING_MOST : 0));
	/* What is right breaks no rule because of what was lost beside it. */
	if (damage != TURN)
		assert_int_equal(run->status[RECORD_MALFORMED],
				 whole->status[RECORD_MALFORMED]);
	if (damage == DROP || damage == CUT || damage == TURN)
		assert_true(run->late <= whole->late + run->n * late_most / 1000);
}

static void one_file(const char *name, const struct tape *tape, unsigned int late_most)
{
	struct outcome *of = calloc(MOST, sizeof(*of));
	struct run whole = { .of = of };

	assert_non_null(of);
	damage_run(tape, NONE, &whole);
	for (int damage = DROP; damage < DAMAGES; damage++) {
		struct run run = { .whole = of };

		state = 2463534242U + (uint32_t)damage;
		damage_run(tape, (enum damage)damage, &run);
		judge(name, (enum damage)damage, &whole, &run, late_most);
	}
	for (size_t i = 0; i < MOST; i++)
		free(of[i].fields);
	free(of);
}

static void damaged(void **state_of_test)
{
	const char *captures = rounds_are_few() ? NULL : getenv("CAPTURES");
	static struct tape tape;
	char path[512];

	(void)state_of_test;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		if (strchr(files[i].name, '/'))
			snprintf(path, sizeof(path), "tests/data/%s", files[i].name);
		else
			snprintf(path, sizeof(path), "%s/live/%s",
				 captures ? captures : "", files[i].name);
		if (!tape_load(path, &tape)) {
			print_message("skip %s: not in $CAPTURES\n", files[i].name);
			continue;
		}
		one_file(files[i].name, &tape, files[i].late_most);
		tape_drop(&tape);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
