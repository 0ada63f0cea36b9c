/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * setup.h - the candidates: shields as the daemon would set them up, and what they are
 * measured against.
 */
#ifndef SETUP_H
#define SETUP_H

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bench/bench.skel.h"
#include "shields.h"

static struct bench_bpf *bench;
static struct shield_bpf *shields[PROGRAMS]; /* NULL: the candidate is none */
static int programs[PROGRAMS];

static int die(const char *what, int err)
{
	fprintf(stderr, "bench: %s: %s\n", what, strerror(err < 0 ? -err : err));
	return 1;
}

static int shield_open_with(const struct setting *setting, struct shield_bpf **ret)
{
	struct timespec tick = { 0 };
	int err = candidate_load(setting->services, ret);

	if (err)
		return err;
	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	(*ret)->bss->live.tick_ns = (__u64)tick.tv_nsec;
	candidate_set(&(*ret)->bss->live, setting);
	return 0;
}

static int open_all(void)
{
	int err;

	bench = bench_bpf__open_and_load();
	if (!bench)
		return die("loading the wrapper", errno);
	programs[DROP] = bpf_program__fd(bench->progs.drop);
	programs[FLOOR] = programs[FLOOR_AGAIN] = bpf_program__fd(bench->progs.base);
	programs[BARE] = bpf_program__fd(bench->progs.bare);
	programs[BARE_ANSWER] = bpf_program__fd(bench->progs.bare_answer);
	programs[OUT_PASS] = bpf_program__fd(bench->progs.pass_out);
	programs[OUT_BARE] = bpf_program__fd(bench->progs.bare_out);
	for (size_t i = 0; i < PROGRAMS; i++) {
		if (!settings[i].services)
			continue;
		err = shield_open_with(&settings[i], &shields[i]);
		if (err)
			return die("loading the shield", err);
		programs[i] = bpf_program__fd(i < OUT ? shields[i]->progs.shield
						      : shields[i]->progs.shield_out);
	}
	return 0;
}

/* Somebody has to read what is sampled, or the ring is full and writing it costs less. */
static int read_sample(void *context, void *data, size_t size)
{
	(void)context;
	(void)data;
	(void)size;
	return 0;
}

static void *read_samples(void *ring)
{
	for (;;)
		ring_buffer__poll(ring, 100);
	return NULL;
}

static int start_readers(void)
{
	struct ring_buffer *ring = NULL;
	pthread_t thread;

	for (int i = SHIELD_SAMPLED; i <= SHIELD_FOLLOWED; i++) {
		int map = bpf_map__fd(shields[i]->maps.samples);

		if (!ring)
			ring = ring_buffer__new(map, read_sample, NULL, NULL);
		else if (ring_buffer__add(ring, map, read_sample, NULL))
			return die("reading samples", errno);
		if (!ring)
			return die("reading samples", errno);
	}
	return pthread_create(&thread, NULL, read_samples, ring);
}

#endif /* SETUP_H */
