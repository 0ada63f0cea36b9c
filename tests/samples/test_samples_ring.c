// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_samples_ring.c - the samples of before, and the captures that they open.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/pcapng.h"
#include "samples/samples_ring.h"

#define FRAME 64

static char root[] = "/tmp/test_samples_ring.XXXXXX";
static char paths[SAMPLES_CAPTURES + 2][64];
static struct samples_ring *ring;
static const struct service service = { .name = "ffa", .family = FAMILY_QUAKE3 };

static int make_root(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(root));
	for (size_t i = 0; i < SAMPLES_CAPTURES + 2; i++)
		snprintf(paths[i], sizeof(paths[i]), "%s/%zu.pcapng", root, i);
	return 0;
}

static int remove_root(void **state)
{
	(void)state;
	return rmdir(root);
}

static int begin(void **state)
{
	(void)state;
	ring = samples_ring_create();
	assert_non_null(ring);
	return 0;
}

static int end(void **state)
{
	(void)state;
	samples_ring_free(ring);
	for (size_t i = 0; i < SAMPLES_CAPTURES + 2; i++)
		unlink(paths[i]);
	return 0;
}

/* A sample of @slot whose frame begins with @number. */
static void add(__u16 slot, uint32_t number, __u16 kept)
{
	struct sample sample = {
		.slot = slot,
		.length = 1000,
		.kept = kept,
		.kind = KIND_GETSTATUS,
		.reason = REASON_SERVICE_LIMIT,
		.direction = DIRECTION_C2S,
	};
	uint8_t frame[SAMPLE_FOLLOW_BYTES] = { 0 };

	memcpy(frame, &number, sizeof(number));
	samples_ring_add(ring, &sample, frame, 1795358701000000000 + number, &service);
}

struct target {
	size_t blocks, bytes;
	uint32_t first, last; /* numbers of frames */
	bool whole; /* the file ends where a block does */
	bool ordered;
	uint32_t most_kept;
};

/* The capture's enhanced packet blocks (type 6), read by their lengths alone. */
static struct target capture(const char *path)
{
	struct target f = { .ordered = true };
	FILE *file = fopen(path, "rb");
	uint32_t head[2], fields[5], number;
	struct stat st;

	assert_non_null(file);
	assert_int_equal(fstat(fileno(file), &st), 0);
	f.bytes = (size_t)st.st_size;
	while (fread(head, sizeof(head), 1, file) == 1) {
		long at = ftell(file) - (long)sizeof(head);

		assert_true(head[1] >= 12 && head[1] % 4 == 0);
		f.whole = (size_t)at + head[1] <= f.bytes;
		if (head[0] == 6 && f.whole) {
			assert_int_equal(fread(fields, sizeof(fields), 1, file), 1);
			assert_int_equal(fread(&number, sizeof(number), 1, file), 1);
			f.ordered = f.ordered && (!f.blocks || number > f.last);
			f.first = f.blocks++ ? f.first : number;
			f.last = number;
			f.most_kept = fields[3] > f.most_kept ? fields[3] : f.most_kept;
		}
		if (!f.whole || fseek(file, at + (long)head[1], SEEK_SET))
			break;
	}
	fclose(file);
	return f;
}

static void it_opens_with_the_past_of_its_service(void **state)
{
	struct target f;
	struct stat st;

	(void)state;
	for (uint32_t i = 0; i < 30; i++)
		add((__u16)(i % 3), i, FRAME);
	assert_int_equal(samples_ring_capture(ring, 1, &service, paths[0]), 10);
	add(1, 100, FRAME);
	add(2, 101, FRAME); /* of another */
	add(1, 102, FRAME);
	samples_ring_stop(ring, 1);
	add(1, 103, FRAME); /* it is over */
	f = capture(paths[0]);
	assert_int_equal(f.blocks, 12);
	assert_int_equal(f.first, 1);
	assert_int_equal(f.last, 102);
	assert_true(f.ordered && f.whole);
	assert_int_equal(stat(paths[0], &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

static void the_oldest_are_forgotten(void **state)
{
	struct target f;

	(void)state;
	for (uint32_t i = 0; i < SAMPLES_RING + 7; i++)
		add(0, i, FRAME);
	assert_int_equal(samples_ring_capture(ring, 0, &service, paths[0]), SAMPLES_RING);
	samples_ring_stop(ring, 0);
	f = capture(paths[0]);
	assert_int_equal(f.blocks, SAMPLES_RING);
	assert_int_equal(f.first, 7);
	assert_int_equal(f.last, SAMPLES_RING + 6);
	assert_true(f.ordered);
}

/* A followed player's frame is kept whole; of what came before only its beginning. */
static void long_frames_are_cut(void **state)
{
	struct target f;

	(void)state;
	add(0, 1, SAMPLE_FOLLOW_BYTES);
	assert_int_equal(samples_ring_capture(ring, 0, &service, paths[0]), 1);
	samples_ring_stop(ring, 0);
	f = capture(paths[0]);
	assert_int_equal(f.most_kept, SAMPLES_RING_BYTES);
	assert_int_equal(samples_ring_capture(ring, 0, &service, paths[1]), 1);
	add(0, 2, SAMPLE_FOLLOW_BYTES);
	samples_ring_stop(ring, 0);
	f = capture(paths[1]);
	assert_int_equal(f.most_kept, SAMPLE_FOLLOW_BYTES);
	assert_true(f.whole);
}

/* Within its bound, and whole: neither a flood nor a full disk leaves half a block. */
static void a_full_one_is_whole(void **state)
{
	struct target f;

	(void)state;
	assert_int_equal(samples_ring_capture(ring, 0, &service, paths[0]), 0);
	for (uint32_t i = 1; i < 4000; i++)
		add(0, i, SAMPLE_FOLLOW_BYTES);
	samples_ring_stop(ring, 0);
	f = capture(paths[0]);
	assert_true(f.bytes <= SAMPLES_CAPTURE_BYTES);
	assert_true(f.bytes > SAMPLES_CAPTURE_BYTES - PCAPNG_BLOCK_MAX);
	assert_true(f.whole && f.ordered);
	assert_int_equal(f.first, 1);
}

static void a_full_disk_leaves_a_whole_one(void **state)
{
	struct rlimit before, little;
	struct target f;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	signal(SIGXFSZ, SIG_IGN);
	/* Without room for the head there is no file. */
	little = (struct rlimit){ 10, before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
	assert_int_equal(samples_ring_capture(ring, 0, &service, paths[0]), -EIO);
	assert_int_not_equal(access(paths[0], F_OK), 0);
	little = (struct rlimit){ 10001, before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
	assert_int_equal(samples_ring_capture(ring, 0, &service, paths[0]), 0);
	for (uint32_t i = 1; i < 300; i++)
		add(0, i, FRAME);
	samples_ring_stop(ring, 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	f = capture(paths[0]);
	assert_true(f.blocks > 10);
	assert_true(f.whole && f.ordered);
}

static void there_are_so_many_at_a_time(void **state)
{
	(void)state;
	for (__u32 slot = 0; slot < SAMPLES_CAPTURES; slot++)
		assert_int_equal(samples_ring_capture(ring, slot, &service, paths[slot]),
				 0);
	assert_int_equal(samples_ring_capture(ring, 200, &service,
					      paths[SAMPLES_CAPTURES]),
			 -EBUSY);
	assert_int_not_equal(access(paths[SAMPLES_CAPTURES], F_OK), 0);
	/* The next of a service that has one ends that; others go on. */
	assert_int_equal(samples_ring_capture(ring, 3, &service, paths[SAMPLES_CAPTURES]),
			 0);
	samples_ring_stop(ring, 0);
	assert_int_equal(samples_ring_capture(ring, 200, &service,
					      paths[SAMPLES_CAPTURES + 1]),
			 0);
}

/* A capture tells whether it got a frame, from before or since. */
static void an_empty_one_is_told(void **state)
{
	(void)state;
	assert_false(samples_ring_stop(ring, 0)); /* there is none */
	assert_int_equal(samples_ring_capture(ring, 0, &service, paths[0]), 0);
	assert_true(samples_ring_stop(ring, 0));
	assert_int_equal(samples_ring_capture(ring, 0, &service, paths[1]), 0);
	add(0, 1, 100);
	assert_false(samples_ring_stop(ring, 0));
	assert_int_equal(samples_ring_capture(ring, 0, &service, paths[2]), 1);
	assert_false(samples_ring_stop(ring, 0));
}

static void what_is_there_is_not_written_over(void **state)
{
	char target[64];

	(void)state;
	assert_int_equal(samples_ring_capture(ring, 0, &service, paths[0]), 0);
	samples_ring_stop(ring, 0);
	assert_int_equal(samples_ring_capture(ring, 0, &service, paths[0]), -EEXIST);
	snprintf(target, sizeof(target), "%s/target", root);
	assert_int_equal(symlink(target, paths[1]), 0);
	assert_int_equal(samples_ring_capture(ring, 0, &service, paths[1]), -EEXIST);
	assert_int_not_equal(access(target, F_OK), 0);
	assert_int_equal(samples_ring_capture(ring, 0, &service, "/nowhere/x"), -ENOENT);
	/* None of them takes a place. */
	for (__u32 slot = 0; slot < SAMPLES_CAPTURES; slot++)
		assert_int_equal(
			samples_ring_capture(ring, slot, &service, paths[slot + 2]), 0);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, begin, end)
	const struct CMUnitTest tests[] = {
		T(it_opens_with_the_past_of_its_service),
		T(the_oldest_are_forgotten),
		T(long_frames_are_cut),
		T(a_full_one_is_whole),
		T(a_full_disk_leaves_a_whole_one),
		T(there_are_so_many_at_a_time),
		T(an_empty_one_is_told),
		T(what_is_there_is_not_written_over),
	};

	return cmocka_run_group_tests(tests, make_root, remove_root);
}
