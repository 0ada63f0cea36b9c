// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_held_samples.c - what is made of samples: blocks and lines for every verdict, way
 * and sampler, what the decoder says of frames with small changes, and captures out of a
 * ring that has come around.
 */
#include <sys/stat.h>

#include "fuzz/held_text.h"
#include "lib/jsonl.h"
#include "lib/names.h"
#include "lib/util.h"
#include "samples/samples_decode.h"
#include "samples/samples_ring.h"
#include "samples/samples_write.h"

static char root[] = "/tmp/test_held_samples.XXXXXX";
static char path[2][64];
static struct service services[2] = {
	{ .name = "ffa", .family = FAMILY_QUAKE3 },
	{ .name = "seen", .family = FAMILY_QUAKEWORLD, .observe = 1 },
};

static const enum reason reasons[] = { REASON_PLAYER, REASON_SOURCE_LIMIT,
				       REASON_CHALLENGED, REASON_AMPLIFICATION,
				       REASON_WITHIN_LIMITS };

/* Ethernet, IPv4, UDP from port 27961 to 27960, and @text. */
static size_t frame_of(const char *text, size_t n, char *ret)
{
	static const char head[] = "dddddd"
				   "ssssss\x08\0\x45\0\0\0\x12\x34\0\0\x40\x11\0\0"
				   "\xc0\0\2\1\xc6\x33\x64\2\x6d\x39\x6d\x38\0\0\0";
	size_t all = sizeof(head) + n;

	memcpy(ret, head, sizeof(head));
	memcpy(ret + sizeof(head), text, n);
	ret[16] = (char)((28 + n) >> 8);
	ret[17] = (char)(28 + n);
	ret[38] = (char)((8 + n) >> 8);
	ret[39] = (char)(8 + n);
	return all;
}

static struct sample sample_of(unsigned int i, size_t n)
{
	return (struct sample){ .length = (__u32)(n + i % 3 * 100),
				.kept = (__u32)n,
				.slot = (__u16)(i / 3 % 2),
				.kind = i % 2 ? KIND_GETSTATUS : KIND_STATUSRESPONSE,
				.reason = (__u8)reasons[i % ARRAY_SIZE(reasons)],
				.direction = i / 5 % 2 ? DIRECTION_C2S : DIRECTION_S2C,
				.sampler =
					i / 10 % 2 ? SAMPLER_FOLLOW : SAMPLER_STATISTIC };
}

/* --- blocks and lines ----------------------------------------------------------------
 */

static void file_put(const char *name)
{
	FILE *file = fopen(name, "r");
	static char text[1 << 20];
	struct stat st;
	size_t n;

	if (!file || fstat(fileno(file), &st)) {
		held_printf("no file\n");
		return;
	}
	n = fread(text, 1, sizeof(text), file);
	held_printf("mode %o ", st.st_mode & 0777);
	held_bytes("file", text, n);
	if (n && *text == '{')
		fwrite(text, 1, n < 9000 ? n : 9000, held.out);
	fclose(file);
	unlink(name);
}

static void blocks(void **state)
{
	static uint8_t block[PCAPNG_BLOCK_MAX];
	char frame[512];
	size_t n = frame_of("\xff\xff\xff\xffgetstatus", 13, frame);

	(void)state;
	held_begin();
	for (unsigned int i = 0; i < 20; i++)
		for (unsigned int service = 0; service < 2; service++) {
			struct sample sample = sample_of(i, n);

			held_bytes("block", block,
				   samples_block(block, &sample, frame,
						 1700000000000000000 + i,
						 &services[service]));
		}
	held_end("tests/samples/held_blocks.txt");
}

static void stats_put(const struct samples_writer *w)
{
	struct samples_writer_stats s;

	samples_writer_stats(w, &s);
	held_printf(
		"json %llu %llu %llu %llu %u pcapng %llu %llu %llu %u long %llu waits %d "
		"wants %d fds %d%d%d\n",
		(unsigned long long)s.json.pieces, (unsigned long long)s.json.bytes,
		(unsigned long long)s.json.dropped, (unsigned long long)s.json.no_reader,
		s.json.readers, (unsigned long long)s.pcapng.pieces,
		(unsigned long long)s.pcapng.dropped,
		(unsigned long long)s.pcapng.no_reader, s.pcapng.readers,
		(unsigned long long)s.too_long, samples_writer_waits(w),
		samples_writer_wants_records(w), samples_writer_fd(w, 0) >= 0,
		samples_writer_fd(w, 1) >= 0, samples_writer_fd(w, 2) >= 0);
}

static void write_some(struct samples_writer *w, unsigned int from, unsigned int to)
{
	static char text[600000];
	struct record_tape tape;
	char frame[512];
	size_t n = frame_of("\xff\xff\xff\xffgetstatus", 13, frame);
	struct record r;

	memset(text, '\xff', sizeof(text));
	assert_int_equal(record_tape_create(&tape, 8, 1 << 20), 0);
	for (unsigned int i = from; i < to; i++) {
		struct sample sample = sample_of(i, n);
		struct sample_note note = { sample.slot, (enum wire_kind)sample.kind,
					    (enum reason)sample.reason,
					    (enum sampler)sample.sampler };

		record_reset(&r, &tape);
		r.frame = i;
		r.kind = "getstatus";
		record_string(&r, "text", text, i == 7 ? 400000 : i == 8 ? 100000 : 3);
		samples_write_record(w, &r, &note, &services[i % 2]);
		samples_write_frame(w, &sample, frame, 1700000000000000000 + i,
				    &services[i % 2]);
	}
	record_tape_free(&tape);
}

static void writers(void **state)
{
	(void)state;
	held_begin();
	for (int which = 0; which < 4; which++) {
		const struct samples_target target = { which & 1 ? path[0] : "",
						       which & 2 ? path[1] : "", "eth0" };
		struct samples_writer *w;

		assert_int_equal(samples_writer_open(&target, &w), 0);
		stats_put(w);
		write_some(w, 0, 6);
		stats_put(w);
		samples_writer_pump(w);
		stats_put(w);
		rename(path[0], "moved");
		samples_writer_rotate(w);
		file_put("moved");
		write_some(w, 6, 12);
		samples_writer_pump(w);
		stats_put(w);
		samples_writer_close(w);
		file_put(path[0]);
		/* Its head holds the version. */
		unlink(path[1]);
	}
	held_end("tests/samples/held_writers.txt");
}

/* --- decoded -------------------------------------------------------------------------
 */

struct said {
	FILE *out;
	struct jsonl json;
};

static void hear(void *context, const struct record *r, const struct sample_note *note)
{
	struct said *said = context;

	jsonl_record(&said->json, r);
	jsonl_flush(&said->json);
	fprintf(said->out, "  %u %s %s %d\n", note->slot, kind_name(note->kind),
		reason_name(note->reason), note->sampler);
}

/* One for all: making one takes longer than all that is said of a sample. */
static struct samples_decoder *decoder;
static struct said said;

/* The first byte says which service, way and sampler. */
static void say_sample(FILE *out, const char *bytes, size_t n)
{
	struct sample sample;
	unsigned int how = n ? (uint8_t)bytes[0] : 0;

	said.out = out;
	jsonl_init(&said.json, out);
	for (unsigned int i = 0; n && i < 3; i++) {
		sample = sample_of(how + i, n - 1);
		fprintf(out, "%d\n",
			samples_decoder_sample(decoder, &sample, bytes + 1,
					       (enum wire_family)(how % FAMILY_COUNT),
					       1700000000000000000 + i));
	}
	samples_decoder_rest(decoder);
}

static void decoded(void **state)
{
#define TEXT(literal)                        \
	{                                    \
		literal, sizeof(literal) - 1 \
	}
	static const struct {
		const char *text;
		size_t n;
	} texts[] = {
		TEXT("\xff\xff\xff\xffgetstatus x"), TEXT("\xff\xff\xff\xffstatus 23\n"),
		TEXT("\x80\0\0\x0c\2QUAKE\0\3"),     TEXT("\5\0\0\0\6\0\0\0\x12\x34move"),
		TEXT("\0\x10\0\x0c\0\0\0\1abcd"),    TEXT(""),
	};
#undef TEXT
	char frame[512];

	(void)state;
	decoder = samples_decoder_create(hear, &said, NULL);
	assert_non_null(decoder);
	held_begin();
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		for (int how = 0; how < 24; how += 5) {
			size_t n = frame_of(texts[i].text, texts[i].n, frame + 1);

			frame[0] = (char)(how + (int)i);
			held_input(say_sample, frame, n + 1);
			/* The first of several fragments, and another. */
			frame[21] = 0x20;
			say_sample(held.out, frame, n + 1);
			frame[22] = 1;
			say_sample(held.out, frame, n + 1);
		}
	}
	samples_decoder_free(decoder);
	held_end("tests/samples/held_decoded.txt");
}

/* --- the ring ------------------------------------------------------------------------
 */

static void rings(void **state)
{
	static char frame[4096];
	static const unsigned int counts[] = { 0, 1, 999, 1000, 1001, 2500 };

	(void)state;
	held_begin();
	for (size_t c = 0; c < ARRAY_SIZE(counts); c++) {
		struct samples_ring *ring = samples_ring_create();
		static char bytes[1 << 23];
		FILE *file;
		size_t n;

		assert_non_null(ring);
		for (unsigned int i = 0; i < counts[c]; i++) {
			struct sample sample = sample_of(i, 20 + i % 300);

			memcpy(frame, &i, sizeof(i));
			samples_ring_add(ring, &sample, frame, 1700000000000000000 + i,
					 &services[0]);
		}
		held_printf("%u: %d", counts[c],
			    samples_ring_capture(ring, 1, &services[1], path[0]));
		held_printf(" %d", samples_ring_capture(ring, 0, &services[0], path[0]));
		for (unsigned int i = 0; i < 10; i++) {
			struct sample sample = sample_of(i, 2000);

			samples_ring_add(ring, &sample, frame, 1700000000000000000 + i,
					 &services[0]);
			if (i == 7)
				samples_ring_stop(ring, 1);
		}
		samples_ring_free(ring);
		file = fopen(path[0], "r");
		assert_non_null(file);
		n = fread(bytes, 1, sizeof(bytes), file);
		fclose(file);
		unlink(path[0]);
		/* Behind its head, which holds the version. */
		for (size_t at = 28; at + 4 < n; at++)
			if (!memcmp(bytes + at, "\6\0\0\0", 4)) {
				held_printf(" %zu bytes behind the head %016" PRIx64,
					    n - at,
					    held_sum(HELD_BEGIN, bytes + at, n - at));
				break;
			}
		held_printf("\n");
	}
	held_end("tests/samples/held_rings.txt");
}

static int begin(void **state)
{
	(void)state;
	if (!mkdtemp(root) || chdir(root))
		return -1;
	for (int i = 0; i < 2; i++)
		snprintf(path[i], sizeof(path[i]), "%s/%d", root, i);
	return 0;
}

static int end(void **state)
{
	(void)state;
	return chdir("/") || rmdir(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks),
		cmocka_unit_test(writers),
		cmocka_unit_test(decoded),
		cmocka_unit_test(rings),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
