/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * held.h - fuzz targets held to what their decoders said before.
 *
 * A file of inputs has a line for each: its bytes in hex, and the sum of all that is said
 * of it and of up to HELD_CHANGED inputs that are made of it, with the same dice each
 * time: the JSON, the facts and pieces that are not in it and, of the input itself, the
 * text and the summary. So a test sees that a decoder says anything else than it
 * did, of what is right and of what is wrong; whether it was right is what the other
 * tests ask. The inputs are those that a fuzzer found to run code that no other runs,
 * begun with tests/data and with recordings that were made for this project;
 * tests/fuzz/held.sh finds others.
 *
 * After a wanted change: SHOW=LINE prints what is said of one input, to be compared with
 * what was said before; UPDATE=1 writes the sums anew. INPUTS=DIR takes the files there
 * in place of the lines.
 */
#ifndef HELD_H
#define HELD_H

#include <dirent.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "decode/record_text.h"
#include "decode/summary.h"
#include "fuzz/fuzz.h"
#include "lib/jsonl.h"

#define HELD_INPUT 32768 /* bytes, most of one */
#define HELD_BYTES 6144 /* of all that is made of one input; but never fewer than two */
/* A slow target says fewer before it includes this. */
#ifndef HELD_CHANGED
#define HELD_CHANGED 24
#endif

static struct {
	const char *path;
	struct jsonl json;
	struct summary summary;
	FILE *out;
	char *text;
	size_t n, records;
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
	record_text(&held.json, r);
	record_text_fields(&held.json, r);
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

/* All that is said of one input; the text stays in held.text until the next. */
static uint64_t held_sum(const uint8_t *bytes, size_t n)
{
	uint64_t sum = 0xcbf29ce484222325;
	size_t count = n ? HELD_BYTES / n + 2 : HELD_CHANGED;

	free(held.text);
	held.text = NULL;
	held.out = open_memstream(&held.text, &held.n);
	assert_non_null(held.out);
	jsonl_init(&held.json, held.out);
	memset(&held.summary, 0, sizeof(held.summary));
	held.changed = false;
	assert_int_equal(LLVMFuzzerTestOneInput(bytes, n), 0);
	summary_write(&held.summary, "held", &held.json);
	held.changed = true;
	if (count > HELD_CHANGED)
		count = HELD_CHANGED;
	for (size_t i = 0; i < count; i++)
		held_change(bytes, n, (uint32_t)(i + 1) * 2654435761U);
	assert_int_equal(jsonl_flush(&held.json), 0);
	assert_int_equal(fclose(held.out), 0);
	for (size_t i = 0; i < held.n; i++)
		sum = (sum ^ (uint8_t)held.text[i]) * 0x100000001b3;
	return sum;
}

static void held_write(FILE *file, const uint8_t *bytes, size_t n, uint64_t sum)
{
	for (size_t i = 0; i < n; i++)
		fprintf(file, "%02x", bytes[i]);
	fprintf(file, "\t%016" PRIx64 "\n", sum);
}

/* --- the lines --------------------------------------------------------------------- */

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
	assert_int_equal(*hex, '\t');
	return n;
}

static void held_lines(void **state)
{
	static uint8_t bytes[HELD_INPUT];
	const char *show = getenv("SHOW");
	FILE *file = fopen(held.path, "rb"), *fresh = NULL;
	unsigned long number = 0, wrong = 0;
	char *line = NULL, *all = NULL;
	size_t room = 0, all_n = 0;

	(void)state;
	if (!file)
		fail_msg("%s is missing", held.path);
	fresh = open_memstream(&all, &all_n);
	while (getline(&line, &room, file) > 0) {
		size_t n = held_read(line, bytes);
		uint64_t sum = held_sum(bytes, n);

		number++;
		held_write(fresh, bytes, n, sum);
		if (show && strtoul(show, NULL, 10) == number)
			fwrite(held.text, 1, held.n, stdout);
		if (strtoull(line + 2 * n + 1, NULL, 16) == sum)
			continue;
		if (!wrong++)
			print_message(
				"%s:%lu: something else is said of this than before; "
				"SHOW=%lu prints it\n",
				held.path, number, number);
	}
	fclose(file);
	fclose(fresh);
	free(line);
	if (getenv("UPDATE")) {
		file = fopen(held.path, "wb");
		assert_non_null(file);
		assert_int_equal(fwrite(all, 1, all_n, file), all_n);
		assert_int_equal(fclose(file), 0);
		wrong = 0;
	}
	free(all);
	assert_true(number > 0 && held.records > 0);
	if (wrong)
		fail_msg("of %lu inputs %lu are read otherwise than before", number,
			 wrong);
}

/* --- other inputs ------------------------------------------------------------------ */

/* The files of a directory, in the order of their names; what is too long is left out. */
static void held_inputs(const char *directory)
{
	static uint8_t bytes[HELD_INPUT + 1];
	FILE *out = fopen(held.path, "wb");
	struct dirent **names;
	int count = scandir(directory, &names, NULL, alphasort);

	if (count < 0 || !out)
		fail_msg("%s or %s cannot be opened", directory, held.path);
	for (int i = 0; i < count; i++) {
		char name[512];
		size_t n = 0;
		FILE *file;

		snprintf(name, sizeof(name), "%s/%s", directory, names[i]->d_name);
		file = names[i]->d_type == DT_REG ? fopen(name, "rb") : NULL;
		free(names[i]);
		if (!file)
			continue;
		n = fread(bytes, 1, sizeof(bytes), file);
		fclose(file);
		if (n <= HELD_INPUT)
			held_write(out, bytes, n, held_sum(bytes, n));
	}
	free(names);
	assert_int_equal(fclose(out), 0);
}

static int held_end(void **state)
{
	(void)state;
	free(held.text);
	held.text = NULL;
	return 0;
}

/* What such a test's main() returns. */
static int held_to(const char *path)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(held_lines, held_end),
	};

	held.path = path;
	hears = held_hears;
	if (getenv("INPUTS"))
		held_inputs(getenv("INPUTS"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif /* HELD_H */
