// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_shield_samples.c - samples out of a ring buffer, which is the test's own: which
 * are handed on, whole, and what is closed with a shield.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include <bpf/libbpf.h>

#include "shield/shield_internal.h"
#include "stderr.h"

static ring_buffer_sample_fn take;
static void *take_context;
static int ring_fd, polled_ms, freed;
static char ring[1];

struct ring_buffer *ring_buffer__new(int map_fd, ring_buffer_sample_fn sample_cb,
				     void *ctx, const struct ring_buffer_opts *opts)
{
	assert_null(opts);
	ring_fd = map_fd;
	take = sample_cb;
	take_context = ctx;
	errno = EPERM;
	return map_fd < 0 ? NULL : (struct ring_buffer *)ring;
}

int ring_buffer__poll(struct ring_buffer *rb, int timeout_ms)
{
	assert_ptr_equal(rb, ring);
	polled_ms = timeout_ms;
	return 17;
}

int ring_buffer__epoll_fd(const struct ring_buffer *rb)
{
	assert_ptr_equal(rb, ring);
	return 55;
}

void ring_buffer__free(struct ring_buffer *rb)
{
	freed += rb == (struct ring_buffer *)ring;
}

static struct {
	int count;
	struct sample head;
	char first, last;
} seen;

static void see(const struct sample *sample, const void *frame, void *context)
{
	assert_ptr_equal(context, &seen);
	seen.count++;
	seen.head = *sample;
	if (!sample->kept)
		return;
	seen.first = ((const char *)frame)[0];
	seen.last = ((const char *)frame)[sample->kept - 1];
}

/* What says that it is longer than it is, or is no head, is passed over. */
static void samples_are_whole(void **state)
{
	static const struct {
		size_t more; /* octets behind the head */
		__u32 kept;
		bool taken;
	} rows[] = {
		{ 0, 0, true },
		{ 1, 1, true },
		{ 100, 100, true },
		{ 100, 90, true },
		{ 100, 101, false },
		{ 0, 1, false },
		{ 100, ~0u >> 16, false },
	};
	struct shield s = { .samples = 9, .dir = "/a/directory" };
	char said[256];

	(void)state;
	assert_int_equal(shield_samples_open(&s, see, &seen), 0);
	assert_int_equal(ring_fd, 9);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		size_t size = sizeof(struct sample) + rows[i].more;
		__u8 *data = calloc(1, size);
		struct sample head = { .length = 7 };

		assert_non_null(data);
		head.kept = (__typeof__(head.kept))rows[i].kept;
		memcpy(data, &head, sizeof(head));
		if (rows[i].more) {
			data[sizeof(head)] = 'a';
			data[sizeof(head) + head.kept % (rows[i].more + 1) -
			     !!head.kept] = 'z';
		}
		memset(&seen, 0, sizeof(seen));
		assert_int_equal(take(take_context, data, size), 0);
		assert_int_equal(seen.count, rows[i].taken);
		if (rows[i].taken) {
			assert_memory_equal(&seen.head, &head, sizeof(head));
			assert_int_equal(seen.last, head.kept ? 'z' : 0);
		}
		/* Less than a head. */
		assert_int_equal(take(take_context, data, sizeof(head) - 1), 0);
		assert_int_equal(seen.count, rows[i].taken);
		free(data);
	}
	assert_int_equal(shield_samples_fd(&s), 55);
	assert_int_equal(shield_samples_poll(&s, 123), 17);
	assert_int_equal(polled_ms, 123);
	s.samples = -1;
	stderr_catch();
	assert_int_equal(shield_samples_open(&s, see, &seen), -EPERM);
	stderr_release(said, sizeof(said));
	assert_string_equal(said,
			    "quakeshield: cannot read '/a/directory/samples': Operation "
			    "not permitted\n");
}

/* Each descriptor that is open, and none that is not. */
static void a_shield_is_closed_whole(void **state)
{
	struct shield *s = malloc(sizeof(*s));
	int *fds[64];
	int was[64];
	size_t n = 0;

	(void)state;
	assert_non_null(s);
	memset(s, 0, sizeof(*s));
	s->ring = (struct ring_buffer *)ring;
#define AS_FD(name, ...) fds[n++] = &s->name;
	SHIELD_MAPS(AS_FD)
	AS_FD(lock)
	AS_FD(program)
	AS_FD(egress)
	AS_FD(joined)
#undef AS_FD
	for (size_t i = 0; i < n; i++) {
		was[i] = dup(2);
		assert_true(was[i] > 2);
		*fds[i] = was[i];
	}
	s->live = -1;
	freed = 0;
	shield_close(s);
	assert_int_equal(freed, 1);
	for (size_t i = 0; i < n; i++) {
		bool open = fcntl(was[i], F_GETFD) >= 0;

		assert_int_equal(open, i == 0); /* live: the first of the maps */
	}
	close(was[0]);
	shield_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_are_whole),
		cmocka_unit_test(a_shield_is_closed_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
