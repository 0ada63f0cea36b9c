/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * held.h - fuzz targets are held to what their decoders said before.
 *
 * A file has a block for each input:
 *
 *	input: HEX		its bytes
 *	{...}			the JSON line of each record
 *	 facts ...		what the record has besides: facts, pieces, plain bytes
 *	more: LINES SUM		of the lines beyond HELD_SHOWN bytes
 *	text: SUM		of its text and its summary
 *	changed: SUM		of all that is said of up to HELD_CHANGED inputs, made of
 *				this one with the same dice each time
 *
 * A test compares all of it with what the decoder says today, and prints the first line
 * that differs. It sees that a decoder says something else of right and of wrong input;
 * the other tests ask whether that is right. The inputs are few that run all code which
 * the fuzzer has reached; it began with tests/data and with recordings that were made for
 * this project.
 *
 * After a wanted change: tests/fuzz/held.sh writes all files anew; read their difference.
 * SHOW=LINE prints all that is said of the input on that line, and of the changed ones.
 */
#ifndef HELD_H
#define HELD_H

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "decode/record_text.h"
#include "decode/summary.h"
#include "fuzz/fuzz.h"
#include "lib/jsonl.h"

#define HELD_INPUT 32768 /* bytes, most of one */
#define HELD_SHOWN 4096 /* bytes of the lines of one input */
#define HELD_BYTES 65536 /* of all inputs that are made of one; they are at least two */
#define HELD_BEGIN 0xcbf29ce484222325
/* A slow target says fewer before it includes this. */
#ifndef HELD_CHANGED
#define HELD_CHANGED 256
#endif

static struct {
	const char *path;
	struct jsonl json, words; /* the records as JSON, and as text */
	struct summary summary;
	size_t records;
	bool changed; /* what is decoded was made of an input */
} held;

/*
 * In libFuzzer's place: one to four bytes become others, or the input ends early. The
 * dice are thrown by @max, so that nothing depends on what was before.
 */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max)
{
	uint32_t state = (uint32_t)max | 1, count;

	if (!size)
		return 0;
	if (!dice(&state, 8))
		return dice(&state, (uint32_t)size) + 1;
	count = 1 + dice(&state, 4);
	while (count--) {
		uint8_t *at = &data[dice(&state, (uint32_t)size)];

		switch (dice(&state, 4)) {
		case 0:
			*at = (uint8_t)dice(&state, 256);
			break;
		case 1:
			(*at)++;
			break;
		case 2:
			(*at)--;
			break;
		default:
			*at ^= (uint8_t)(1U << dice(&state, 8));
		}
	}
	return size;
}

static void held_number(const char *what, uint64_t value)
{
	jsonl_text(&held.json, what);
	jsonl_uint(&held.json, value);
}

/* What a record has that neither JSON nor text shows. */
static void held_rest(const struct record *r)
{
	const struct facts *f = &r->facts;

	held_number("facts ", f->has);
	if (f->has & FACT_SEQUENCE)
		held_number(" sequence ", f->sequence);
	if (f->has & FACT_ACK)
		held_number(" ack ", f->ack);
	if (f->has & FACT_TIME)
		held_number(" time ", (uint64_t)f->time_us);
	if (f->has & FACT_COMMAND_TIME)
		held_number(" command ", (uint64_t)f->command_us);
	if (f->has & FACT_NAME)
		jsonl_hex(&held.json, f->name, f->name_n);
	if (f->has & FACT_MAP)
		jsonl_hex(&held.json, f->map, f->map_n);
	for (unsigned int i = 0; i < r->pieces_n; i++) {
		const struct record_piece *p = &r->pieces[i];

		held_number(" piece ", p->type);
		held_number(" last ", p->last);
		held_number(" size ", (uint64_t)p->size);
		held_number(" offset ", p->offset);
		jsonl_string(&held.json, p->name, p->name_n);
		jsonl_hex(&held.json, p->bytes, p->n);
	}
	for (unsigned int i = 0; i < r->plains_n; i++) {
		jsonl_text(&held.json, " plain ");
		jsonl_hex(&held.json, r->plains[i].bytes, r->plains[i].n);
	}
	held_number(" end ", r->end);
	held_number(" payload ", r->payload_n);
	held_number(" masked ", r->masked);
	jsonl_text(&held.json, "\n");
}

static void held_hears(const struct record *r)
{
	held.records++;
	jsonl_record(&held.json, r);
	held_rest(r);
	if (held.changed)
		return;
	summary_count(&held.summary, r);
	record_text(&held.words, r);
	record_text_fields(&held.words, r);
}

/*
 * Bytes are other ones, or a piece is gone, twice or elsewhere. The targets' own mutators
 * ask the decoders what they would change, which are to be judged here.
 */
static void held_change(const uint8_t *bytes, size_t n, uint32_t seed)
{
	size_t max = 2 * n, size;
	uint8_t *copy = malloc(max ? max : 1), *exact;

	assert_non_null(copy);
	if (n)
		memcpy(copy, bytes, n);
	if (n && !dice(&seed, 4))
		size = pieces_mutate(copy, n, max, 1, &seed);
	else
		size = LLVMFuzzerMutate(copy, n, seed);
	exact = exact_copy(copy, size);
	LLVMFuzzerTestOneInput(exact, size);
	free(exact);
	free(copy);
}

static uint64_t held_sum(uint64_t sum, const char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		sum = (sum ^ (uint8_t)bytes[i]) * 0x100000001b3;
	return sum;
}

/* What is written to @to from here to held_end() is in memory. */
static FILE *held_begin(struct jsonl *to, char **text, size_t *n)
{
	FILE *file = open_memstream(text, n);

	assert_non_null(file);
	jsonl_init(to, file);
	return file;
}

static void held_end(struct jsonl *to, FILE *file)
{
	assert_int_equal(jsonl_flush(to), 0);
	assert_int_equal(fclose(file), 0);
}

/* Whole lines of up to HELD_SHOWN bytes, and a sum of the others. */
static void held_shown(FILE *out, const char *text, size_t n)
{
	size_t shown = n < HELD_SHOWN ? n : HELD_SHOWN, lines = 0;

	while (shown && text[shown - 1] != '\n')
		shown--;
	fwrite(text, 1, shown, out);
	for (size_t i = shown; i < n; i++)
		lines += text[i] == '\n';
	if (shown < n)
		fprintf(out, "more: %zu %016" PRIx64 "\n", lines,
			held_sum(HELD_BEGIN, text + shown, n - shown));
}

/* The block of one input. @show: all of it to stdout as well. */
static void held_block(FILE *out, const uint8_t *bytes, size_t n, bool show)
{
	size_t count = n ? HELD_BYTES / n + 2 : HELD_CHANGED, said_n, words_n, changed_n;
	char *said, *words, *changed;
	FILE *file = held_begin(&held.json, &said, &said_n);
	FILE *other = held_begin(&held.words, &words, &words_n);

	memset(&held.summary, 0, sizeof(held.summary));
	held.changed = false;
	assert_int_equal(LLVMFuzzerTestOneInput(bytes, n), 0);
	summary_write(&held.summary, "held", &held.words);
	held_end(&held.words, other);
	held_end(&held.json, file);

	file = held_begin(&held.json, &changed, &changed_n);
	held.changed = true;
	if (count > HELD_CHANGED)
		count = HELD_CHANGED;
	for (size_t i = 0; i < count; i++)
		held_change(bytes, n, (uint32_t)(i + 1) * 2654435761U);
	held_end(&held.json, file);

	fprintf(out, "input: ");
	for (size_t i = 0; i < n; i++)
		fprintf(out, "%02x", bytes[i]);
	fputc('\n', out);
	held_shown(out, said, said_n);
	fprintf(out, "text: %016" PRIx64 "\nchanged: %016" PRIx64 "\n\n",
		held_sum(HELD_BEGIN, words, words_n),
		held_sum(HELD_BEGIN, changed, changed_n));
	if (show)
		printf("%s%s%s", said, words, changed);
	free(said);
	free(words);
	free(changed);
}

/* --- the file ---------------------------------------------------------------------- */

static int held_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static size_t held_read(const char *hex, uint8_t *bytes)
{
	size_t n = 0;

	for (; held_digit(hex[0]) >= 0 && held_digit(hex[1]) >= 0; hex += 2) {
		assert_true(n < HELD_INPUT);
		bytes[n++] = (uint8_t)(held_digit(hex[0]) << 4 | held_digit(hex[1]));
	}
	assert_int_equal(*hex, '\n');
	return n;
}

/* The blocks of all inputs that @file has. */
static void held_blocks(FILE *file, FILE *out)
{
	static uint8_t bytes[HELD_INPUT];
	const char *show = getenv("SHOW");
	unsigned long shown = show ? strtoul(show, NULL, 10) : 0, number = 0;
	char *line = NULL;
	size_t room = 0;

	while (getline(&line, &room, file) > 0) {
		number++;
		if (!strncmp(line, "input: ", 7))
			held_block(out, bytes, held_read(line + 7, bytes),
				   number == shown);
	}
	free(line);
}

/* Prints the first line on which @file and @is differ; false: they are equal. */
static bool held_differ(FILE *file, char *is)
{
	char *line = NULL, *end;
	size_t room = 0;
	unsigned long number = 1;
	bool differs;

	for (;; number++, is = end + 1) {
		ssize_t n = getline(&line, &room, file);

		end = strchr(is, '\n');
		differs = n < 0 ? *is : !end || strncmp(line, is, (size_t)n) != 0;
		if (n < 0 || differs)
			break;
	}
	if (differs)
		print_message("%s:%lu: %sis now: %.*s\n", held.path, number, line,
			      (int)strcspn(is, "\n"), is);
	free(line);
	return differs;
}

static void held_lines(void **state)
{
	FILE *file = fopen(held.path, "rb"), *out;
	char *all;
	size_t n;

	(void)state;
	if (!file)
		fail_msg("%s is missing", held.path);
	out = open_memstream(&all, &n);
	assert_non_null(out);
	held_blocks(file, out);
	assert_int_equal(fclose(out), 0);
	assert_true(held.records > 0);
	if (getenv("UPDATE")) {
		file = freopen(held.path, "wb", file);
		assert_non_null(file);
		assert_int_equal(fwrite(all, 1, n, file), n);
		assert_int_equal(fclose(file), 0);
		file = fopen(held.path, "rb");
		assert_non_null(file);
	}
	rewind(file);
	if (held_differ(file, all))
		fail_msg("%s holds something else", held.path);
	fclose(file);
	free(all);
}

/* What such a test's main() returns. */
static int held_to(const char *path)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(held_lines),
	};

	held.path = path;
	hears = held_hears;
	return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif /* HELD_H */
