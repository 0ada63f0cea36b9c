// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * decode/trace.c: of each record of the recordings in tests/data and in CAPTURES, the
 * fields and the bits of no field make up the whole datagram; the beginnings of four
 * sessions, line by line (tests/data/ *.trace, which UPDATE=1 rewrites).
 */
#include <glob.h>

#include "capture/capture.h"
#include "decode/decode_support.h"
#include "decode/qw/qw_message.h"
#include "decode/trace.h"

#define GOLDEN_RECORDS 24

struct tracer {
	struct trace *trace;
	struct trace_clients *clients;
	struct jsonl json;
	const char *path;
	uint64_t records, decoded, fields, repeated;
	bool writes, as_json;
};

/* Is the end of this record's datagram of no field? */
static bool may_have_rest(const struct record *r, unsigned int stream)
{
	/* Texts end in quotes and line feeds; a part of a message is no field. */
	return stream || !(r->facts.has & FACT_SEQUENCE) || trace_size(r, 1) ||
	       !strcmp(r->kind, "fragment");
}

/* Q3: seven bits fill the last byte, and one more byte is tolerated. */
#define REST_QUAKE3 15

static void check_whole(struct tracer *t, const struct record *r)
{
	uint32_t end[RECORD_STREAMS] = { 0 }, rest[RECORD_STREAMS] = { 0 };
	const struct trace_line *lines;
	size_t n;

	lines = trace_lines(t->trace, &n);
	for (size_t i = 0; i < n; i++) {
		const struct record_extent *e = &lines[i].where;

		t->repeated += lines[i].repeated;
		if (e->stream == RECORD_NOWHERE || e->from == e->to)
			continue;
		if (e->from != end[e->stream] || e->to < e->from)
			fail_msg("%s: frame %llu: bit %u of stream %u follows bit %u",
				 t->path, (unsigned long long)r->frame, e->from,
				 e->stream, end[e->stream]);
		end[e->stream] = e->to;
		rest[e->stream] = lines[i].item == TRACE_NO_FIELD ? e->to - e->from : 0;
		t->fields += lines[i].item != TRACE_NO_FIELD;
	}
	for (unsigned int s = 0; s < r->tape->trace->streams_n; s++) {
		if (end[s] != trace_size(r, s))
			fail_msg("%s: frame %llu: %u of %u bits", t->path,
				 (unsigned long long)r->frame, end[s], trace_size(r, s));
		if (!may_have_rest(r, s) &&
		    rest[s] > (r->family == FAMILY_QUAKE3 ? REST_QUAKE3 : 0))
			fail_msg("%s: frame %llu %s: %u bits at its end are of no field",
				 t->path, (unsigned long long)r->frame, r->kind, rest[s]);
	}
}

static void sink(void *context, const struct record *r)
{
	struct tracer *t = context;

	trace_record(t->trace, r, t->clients);
	t->records++;
	if (r->status == RECORD_DECODED) {
		t->decoded++;
		check_whole(t, r);
	}
	if (t->as_json) {
		jsonl_record_open(&t->json, r);
		trace_json(t->trace, &t->json, r);
		jsonl_text(&t->json, "}\n");
	}
	if (t->writes && t->records <= GOLDEN_RECORDS) {
		jsonl_text(&t->json, r->kind);
		jsonl_text(&t->json, "\n");
		trace_text(t->trace, &t->json, r);
	}
}

/* Trace the whole capture; what is written goes to @out. */
static void trace_capture(struct tracer *t, const char *path, FILE *out)
{
	struct decoder_options options = { .fields = true, .trace = true };
	FILE *file = fopen(path, "rb");
	struct decoder *decoder;
	struct capture *capture;
	struct datagram dg;
	char message[256];

	assert_non_null(file);
	assert_int_equal(capture_open(file, &capture, message, sizeof(message)), 0);
	t->path = path;
	t->trace = trace_create();
	t->clients = trace_clients_create();
	t->writes = out;
	jsonl_init(&t->json, out);
	decoder = decoder_create(&options, sink, t);
	while (capture_next(capture, &dg) == 1)
		decoder_datagram(decoder, &dg);
	decoder_flush(decoder);
	if (out) {
		trace_clients_write(t->clients, &t->json, NULL, false);
		trace_clients_write(t->clients, &t->json, NULL, true);
		assert_int_equal(jsonl_flush(&t->json), 0);
	}
	decoder_free(decoder);
	trace_free(t->trace);
	trace_clients_free(t->clients);
	capture_close(capture);
}

static void trace_all(struct tracer *t, const char *pattern)
{
	glob_t paths;

	if (glob(pattern, 0, NULL, &paths))
		return;
	for (size_t i = 0; i < paths.gl_pathc; i++)
		trace_capture(t, paths.gl_pathv[i], NULL);
	globfree(&paths);
}

static void fields_make_up_each_datagram(void **state)
{
	const char *captures = getenv("CAPTURES");
	struct tracer t = { .records = 0 };
	char pattern[4096];

	(void)state;
	trace_all(&t, "tests/data/*/*.pcap");
	assert_true(t.decoded > 100 && t.fields > 2000);
	if (!captures)
		return;
	snprintf(pattern, sizeof(pattern), "%s/live/*.pcap", captures);
	trace_all(&t, pattern);
}

static void lines_of_sessions_are_as_expected(void **state)
{
	static const char *const names[] = { "q3/quake3-session-71", "q2/quake2-session",
					     "qw/quakeworld-session",
					     "nq/netquake-session" };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct tracer t = { .records = 0 };
		char path[256], *text = NULL, *expected;
		size_t n = 0, expected_n;
		FILE *out = open_memstream(&text, &n), *file;

		snprintf(path, sizeof(path), "tests/data/%s.pcap", names[i]);
		trace_capture(&t, path, out);
		fclose(out);
		snprintf(path, sizeof(path), "tests/data/%s.trace", names[i]);
		if (getenv("UPDATE")) {
			file = fopen(path, "wb");
			assert_non_null(file);
			assert_int_equal(fwrite(text, 1, n, file), n);
			fclose(file);
		}
		file = fopen(path, "rb");
		if (!file)
			fail_msg("%s is missing: UPDATE=1 makes it", path);
		expected = calloc(1, n + 2);
		expected_n = fread(expected, 1, n + 1, file);
		fclose(file);
		for (size_t at = 0; at < n && at < expected_n; at++)
			if (text[at] != expected[at])
				fail_msg("%s: byte %zu: expected %.90s, got %.90s", path,
					 at, expected + at, text + at);
		assert_int_equal(n, expected_n);
		free(expected);
		free(text);
	}
}

/* A client's datagrams 1 to 4 of QuakeWorld; the third never comes. */
static void command_is_repeated_if_an_earlier_datagram_held_it(void **state)
{
	static const uint8_t move[] = { 3, 0, 0, 0, 10, 0, 10, 0, 10 };
	static const struct {
		uint8_t sequence, repeated;
	} sent[] = { { 1, 0 }, { 2, 1 }, { 4, 1 } };
	struct decoder_options options = { .fields = true,
					   .trace = true,
					   .forced = FAMILY_QUAKEWORLD };
	struct tracer t = { .trace = trace_create(), .clients = trace_clients_create() };
	struct decoder *decoder = decoder_create(&options, sink, &t);

	(void)state;
	t.path = "made here";
	for (size_t i = 0; i < sizeof(sent) / sizeof(*sent); i++) {
		uint8_t payload[10 + sizeof(move)] = { sent[i].sequence };
		struct datagram dg = { .direction = DIRECTION_C2S };
		uint64_t before = t.repeated;

		memcpy(payload + 10, move, sizeof(move));
		/* The checksum is of the bytes behind it. */
		payload[11] = qw_move_checksum(payload + 12, sizeof(payload) - 12,
					       sent[i].sequence);
		dg.source = (struct record_address){ 4, { 10, 0, 0, 1 }, 27001 };
		dg.destination = (struct record_address){ 4, { 10, 0, 0, 2 }, 27500 };
		dg.payload = payload;
		dg.n = dg.length = sizeof(payload);
		dg.frame = i + 1;
		dg.time_ns = (int64_t)i * 10000000;
		decoder_datagram(decoder, &dg);
		decoder_rest(decoder);
		assert_int_equal(t.records, i + 1);
		assert_int_equal(t.decoded, i + 1);
		/* Ten lines a command: bits, three angles, and six more. */
		assert_int_equal(t.repeated - before, 10 * sent[i].repeated);
	}
	decoder_free(decoder);
	trace_free(t.trace);
	trace_clients_free(t.clients);
}

/*
 * Give a record of @n commands, that of serverTime @from first, to @clients. Returns how
 * many are repeated; *@ret_last: the last one is.
 */
static unsigned int commands_give(struct trace_clients *clients, struct record_tape *tape,
				  uint32_t sequence, unsigned int n, int from,
				  bool *ret_last)
{
	struct record r = { .status = RECORD_DECODED };
	unsigned int repeated = 0;

	record_reset(&r, tape);
	r.kind = "move";
	r.family = FAMILY_QUAKE3;
	r.direction = DIRECTION_C2S;
	r.source = (struct record_address){ 4, { 10, 0, 0, 1 }, 27001 };
	r.destination = (struct record_address){ 4, { 10, 0, 0, 2 }, 27960 };
	r.facts.has = FACT_SEQUENCE;
	r.facts.sequence = sequence;
	record_open_array(&r, "usercmds");
	for (unsigned int i = 0; i < n; i++) {
		record_open_object(&r, NULL);
		record_int(&r, "serverTime", from + (int)i);
		record_open_array(&r, "inner"); /* no command, at this depth */
		record_open_object(&r, NULL);
		record_close(&r);
		record_close(&r);
		record_close(&r);
	}
	record_close(&r);
	assert_false(r.overflow);
	trace_clients_record(clients, &r);
	for (uint32_t item = 0; item < tape->items_used; item++)
		repeated += trace_clients_repeated(clients, item);
	/* Seven items a command, the array's end after it. */
	*ret_last = trace_clients_repeated(clients, (uint32_t)tape->items_used - 8);
	return repeated;
}

/* However many commands a record holds. */
static void each_of_many_commands_is_looked_at(void **state)
{
	static const unsigned int counts[] = { 1, 63, 64, 65, 200, 1000 };
	struct record_tape tape;

	(void)state;
	assert_int_equal(record_tape_create(&tape, 8192, 1024), 0);
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		struct trace_clients *clients = trace_clients_create();
		unsigned int n = counts[i];
		bool last;

		assert_int_equal(commands_give(clients, &tape, 1, n, 100, &last), 0);
		/* All but the newest are sent again, and then all. */
		assert_int_equal(commands_give(clients, &tape, 2, n, 101, &last), n - 1);
		assert_false(last);
		assert_int_equal(commands_give(clients, &tape, 3, n, 101, &last), n);
		assert_true(last);
		trace_clients_free(clients);
	}
	record_tape_free(&tape);
}

/* Give @n bytes of a client of QuakeWorld to a new decoder. Returns what is written. */
static char *trace_of_client(struct tracer *t, const void *bytes, size_t n)
{
	struct decoder_options options = { .fields = true,
					   .trace = true,
					   .forced = FAMILY_QUAKEWORLD };
	struct decoder *decoder;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	struct datagram dg = { .direction = DIRECTION_C2S, .frame = 1 };

	t->trace = trace_create();
	t->clients = trace_clients_create();
	t->path = "made here";
	decoder = decoder_create(&options, sink, t);
	jsonl_init(&t->json, out);
	dg.source = (struct record_address){ 4, { 10, 0, 0, 1 }, 27001 };
	dg.destination = (struct record_address){ 4, { 10, 0, 0, 2 }, 27500 };
	dg.payload = bytes;
	dg.n = dg.length = n;
	decoder_datagram(decoder, &dg);
	decoder_flush(decoder);
	trace_clients_write(t->clients, &t->json, NULL, false);
	assert_int_equal(jsonl_flush(&t->json), 0);
	fclose(out);
	assert_int_equal(t->records, 1);
	decoder_free(decoder);
	trace_clients_free(t->clients);
	return text;
}

/* A stringcmd in datagram 1. */
static void setting_behind_a_blank_in_the_userinfo_is_read(void **state)
{
	static const char sent[] = "\1\0\0\0\0\0\0\0\x4d\0\4"
				   "userinfo \"\\name\\a b\\rate\\7000\"";
	struct tracer t = { .records = 0 };
	char *text = trace_of_client(&t, sent, sizeof(sent));

	(void)state;
	assert_non_null(strstr(text, "    rate             7000 "));
	trace_free(t.trace);
	free(text);
}

static void setting_with_control_characters_is_written_without(void **state)
{
	static const char sent[] = MARK "connect 28 77 99 \"\\rate\\\x1b[2J\x9b\"\n";
	struct tracer t = { .records = 0 };
	char *text = trace_of_client(&t, sent, sizeof(sent) - 1);

	(void)state;
	assert_non_null(strstr(text, "    rate             ?[2J? "));
	assert_null(strchr(text, '\x1b'));
	assert_null(strstr(text, "\x9b"));
	trace_free(t.trace);
	free(text);
}

/* A key with a letter of the game's own font. */
static void key_in_the_trace_is_the_one_in_the_record(void **state)
{
	static const char sent[] = MARK "connect 28 77 99 \"\\k\xe1y\\1\"\n";
	struct tracer t = { .as_json = true };
	char *text = trace_of_client(&t, sent, sizeof(sent) - 1);

	(void)state;
	assert_non_null(strstr(text, "\"k\xee\x83\xa1y\":\"1\""));
	assert_non_null(strstr(text, "k\xee\x83\xa1y\",\"stream\":0"));
	trace_free(t.trace);
	free(text);
}

/* Connects of one more client than there is room for, each of two datagrams. */
static void clients_that_are_left_out_are_counted(void **state)
{
	static const char sent[] = MARK "connect 28 77 99 \"\\rate\\5000\"\n";
	struct decoder_options options = { .fields = true,
					   .trace = true,
					   .forced = FAMILY_QUAKEWORLD };
	struct tracer t = { .trace = trace_create(),
			    .clients = trace_clients_create(),
			    .path = "made here" };
	struct decoder *decoder = decoder_create(&options, sink, &t);

	(void)state;
	for (unsigned int i = 0; i < 2 * (TRACE_CLIENTS_MAX + 1); i++) {
		struct datagram dg = { .direction = DIRECTION_C2S,
				       .frame = i + 1,
				       .payload = (const uint8_t *)sent,
				       .n = sizeof(sent) - 1,
				       .length = sizeof(sent) - 1 };

		dg.source =
			(struct record_address){ 4, { 10, 0, 1, (uint8_t)(i / 2) }, 9 };
		dg.destination = (struct record_address){ 4, { 10, 0, 0, 2 }, 27500 };
		decoder_datagram(decoder, &dg);
	}
	decoder_flush(decoder);
	for (int as_json = 0; as_json < 2; as_json++) {
		char *text = NULL;
		size_t size = 0;
		FILE *out = open_memstream(&text, &size);
		const char *last;

		jsonl_init(&t.json, out);
		trace_clients_write(t.clients, &t.json, as_json ? "a.pcap" : NULL,
				    as_json);
		assert_int_equal(jsonl_flush(&t.json), 0);
		fclose(out);
		last = strstr(text, as_json ? "\n{\"left" : "\ndatagrams of");
		assert_non_null(last);
		assert_string_equal(last + 1,
				    as_json ? "{\"left_out\":2,\"file\":\"a.pcap\"}\n"
					    : "datagrams of further clients: 2\n");
		/* QuakeWorld has no such setting. */
		assert_non_null(strstr(
			text,
			as_json ? "\"snaps\":{\"value\":null,\"how\":\"this protocol "
				  "has no such setting\"}"
				: "    snaps            none       this protocol"));
		free(text);
	}
	decoder_free(decoder);
	trace_free(t.trace);
	trace_clients_free(t.clients);
}

/* The head of a move, and nothing behind it. */
static void field_of_a_cut_message_stands_within_it(void **state)
{
	static const char sent[] = "\1\0\0\0\0\0\0\0\x4d\0\3\1\2\0";
	struct tracer t = { .records = 0 };
	char *text = trace_of_client(&t, sent, sizeof(sent) - 1);
	const struct trace_line *lines;
	size_t n;

	(void)state;
	lines = trace_lines(t.trace, &n);
	assert_int_equal(t.decoded, 0);
	assert_true(n > 3);
	for (size_t i = 0; i < n; i++)
		assert_true(lines[i].where.to <= 8 * (sizeof(sent) - 1));
	trace_free(t.trace);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_make_up_each_datagram),
		cmocka_unit_test(lines_of_sessions_are_as_expected),
		cmocka_unit_test(command_is_repeated_if_an_earlier_datagram_held_it),
		cmocka_unit_test(each_of_many_commands_is_looked_at),
		cmocka_unit_test(setting_behind_a_blank_in_the_userinfo_is_read),
		cmocka_unit_test(setting_with_control_characters_is_written_without),
		cmocka_unit_test(key_in_the_trace_is_the_one_in_the_record),
		cmocka_unit_test(clients_that_are_left_out_are_counted),
		cmocka_unit_test(field_of_a_cut_message_stands_within_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
