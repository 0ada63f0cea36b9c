/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * scale.h - the shield on several processors at once, by BPF_PROG_TEST_RUN.
 *
 * The shield is loaded as the daemon loads it, with the embedded default configuration,
 * but for one service per processor, and no limit on the datagrams of a player. Each
 * thread is pinned to its own processor and runs one endless test run behind the wrapper
 * of scale.bpf.c. The measuring thread sleeps, reads the count of frames and the
 * processor time of each thread while all of them run, and ends them by a signal, so that
 * neither the start nor the end counts. Meanwhile it does what the daemon does for the
 * programs each second. Each processor sends frames of all sources, so more cells are
 * shared than with a card that hashes each source to one processor.
 *
 * scale_open() first, scale_close() last. One thread calls all functions.
 */
#ifndef SCALE_H
#define SCALE_H

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "config/config.h"
#include "entries.h"
#include "lanes.h"
#include "own_lock.h"
#include "processors.h"
#include "scale_rows.h"
#include "shield/shield_internal.h"
#include "shield.skel.h"
#include "shield/tail_calls.h"
#include "bench/scale.skel.h"

#define SCALE_ENDLESS  INT_MAX /* frames: more than any window takes */
#define SCALE_TICK_NS  100000000ull
#define SCALE_START_NS 60e9 /* for each thread to send a first frame, at most */
#define SCALE_WINDOWS  5
#define SCALE_BYTES    800 /* of a cached response */

/* What was measured of one row on so many processors. */
struct scale_result {
	double ns, ns_worst; /* of processor time per frame: median, worst processor */
	double rate; /* frames per second of all */
	double busy; /* least share of the time in which a thread had its processor */
	double passed, responded; /* shares of the frames */
	__u64 sent; /* frames, by the wrapper */
	__u64 counted; /* by the shield */
};

struct scale_thread {
	pthread_t thread;
	int cpu;
	struct scale *scale;
	int err;
	__u64 sent; /* at the begin of the window */
	double cpu_ns, wall_ns;
};

struct scale {
	struct processors processors;
	struct scale_bpf *wrapper;
	struct shield_bpf *object;
	struct shield shield;
	struct config *config;
	enum scale_program applied; /* whose configuration is in force */
	struct scale_thread threads[LANES];
	int count; /* of threads that run */
	pthread_barrier_t barrier;
	volatile bool stop;
	struct counters in, out; /* room for reading them */
};

/* --- the shield -----------------------------------------------------------------------
 */

/* So many services as there are processors, each by default but for @program. */
static int scale_apply(struct scale *s, enum scale_program program)
{
	struct config *config = s->config;
	struct config_adjusted adjusted;
	int err;

	if (s->applied == program)
		return 0;
	config_default(config);
	config_resolve(config, false, &adjusted);
	config->service_count = (size_t)s->processors.count;
	for (int i = 0; i < s->processors.count; i++) {
		struct config_service *c = &config->services[i];

		*c = config->services[0];
		snprintf(c->service.name, sizeof(c->service.name), "s%d", i);
		c->ports[0] = (__u16)(PORT + i);
	}
	if (program == SCALE_CHALLENGES)
		config->validation = (struct limit){ 0 };
	err = shield_apply(&s->shield, config);
	if (!err)
		s->applied = program;
	return err;
}

/* Load the programs as load_object() in user/shield/shield.c does. 0 or -errno. */
static int scale_load(struct scale *s)
{
	__u32 capacity = shield_capacity((size_t)s->processors.count), recent = 1;
	struct timespec tick = { 0 };
	struct shield_bpf *object = shield_bpf__open();
	struct live *live;
	int err;

	s->object = object;
	if (!object)
		return -errno;
	while (recent < RECENT_TABLES && (int)recent < libbpf_num_possible_cpus())
		recent *= 2;
	bpf_map__set_max_entries(object->maps.counters, capacity * COUNTER_ROWS);
	bpf_map__set_max_entries(object->maps.spilled, capacity * COUNTER_ROWS);
	bpf_map__set_max_entries(object->maps.refused, capacity * CLASS_COUNT);
	bpf_map__set_max_entries(object->maps.recent, recent);
	*(__u32 *)&object->rodata->recent_mask = recent - 1;
	/* Otherwise nearly all of what a player sends here would be over its limit. */
	*(struct limit *)&object->rodata->player_limit = (struct limit){ 1, 1ull << 60 };
	err = shield_bpf__load(object);
	if (!err)
		err = tail_calls_fill(object);
	if (err)
		return err;
	live = &object->bss->live;
	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	live->tick_ns = (__u64)tick.tv_nsec;
	live->keys[0] = 0x9e3779b97f4a7c15;
	live->keys[1] = 0xc2b2ae3d27d4eb4f;
	live->keys[2] = 1;
	s->shield.capacity = capacity;
	s->shield.shared = live;
#define AS_MAP(name, ...) \
	s->shield.name = bpf_object__find_map_fd_by_name(object->obj, #name);
	SHIELD_MAPS(AS_MAP)
#undef AS_MAP
	return 0;
}

static void scale_interrupted(int number)
{
	(void)number;
}

static void scale_close(struct scale *s)
{
	if (!s)
		return;
	scale_bpf__destroy(s->wrapper);
	shield_bpf__destroy(s->object);
	if (s->shield.lock >= 0)
		close(s->shield.lock);
	free(s->config);
	free(s);
}

/*
 * Load everything, for @most of the processors that this process may use. 0 and *@ret, or
 * -errno, of which -EPERM says that BPF is not permitted here.
 */
static int scale_open(int most, struct scale **ret)
{
	struct sigaction action = { .sa_handler = scale_interrupted };
	struct scale *s = calloc(1, sizeof(*s));
	int err = 0;

	if (!s)
		return -ENOMEM;
	sigaction(SIGUSR1, &action, NULL);
	s->shield.lock = own_lock();
	s->config = calloc(1, sizeof(*s->config));
	if (s->shield.lock < 0 || !s->config || !processors_read(most, &s->processors))
		err = -ENOMEM;
	if (!err)
		err = scale_load(s);
	if (!err) {
		s->wrapper = scale_bpf__open_and_load();
		err = s->wrapper ? scale_apply(s, SCALE_SHIELD) : -errno;
	}
	if (err)
		scale_close(s);
	else
		*ret = s;
	return err;
}

/* --- frames ---------------------------------------------------------------------------
 */

static void scale_flood(struct flow *flow, const struct scale_row *row, __u16 port)
{
	struct frame_spec spec = row->frame;
	__u8 frame[FRAME_MAX] = { 0 };

	spec.dport = port;
	frame_build(&spec, frame);
	memcpy(flow->frame, frame, sizeof(flow->frame));
	flow->mask = row->sources;
	flow->fixed = htonl(0x0a400000 & ~row->sources);
	flow->number_at = LANE_FRAME - sizeof(__u32);
	flow->sent = 0;
}

/*
 * Make @flow the datagrams of player @number, and enter the player. 0 or -errno. No two
 * services have a player of the same address and port: the shield finds the second of
 * them on its slow path.
 */
static int scale_player(struct scale *s, struct flow *flow, int number, __u32 slot)
{
	struct frame_spec spec = { SEQUENCED, .sport = PLAYER_PORT,
				   .dport = (__u16)(PORT + slot) };
	__u8 frame[FRAME_MAX] = { 0 };
	char address[32];

	snprintf(address, sizeof(address), "::ffff:10.0.%u.%d", slot, number);
	frame_build(&spec, frame);
	memcpy(flow->frame, frame, sizeof(flow->frame));
	flow->mask = 0;
	flow->fixed = htonl(0x0a000000 + slot * 256 + (__u32)number);
	flow->number_at = PAYLOAD_AT;
	flow->sent = PLAYER_SEQUENCE_FIRST;
	return enter_player_at(&s->object->bss->live, (__u16)slot, address, false,
			       shield_clock());
}

/* Let processor @number, counted from 0, send the row to the service in @slot. */
static int scale_lane(struct scale *s, const struct scale_row *row, int number,
		      __u32 slot)
{
	struct lane *lane = &s->wrapper->bss->lanes[s->processors.at[number].cpu];

	memset(lane, 0, sizeof(*lane));
	lane->random = (__u32)number * 0x9e3779b9 + 1;
	lane->mixed = row->traffic == SCALE_MIXED ? 7 : 0;
	scale_flood(&lane->flows[row->traffic == SCALE_MIXED ? 0 : 1], row,
		    (__u16)(PORT + slot));
	return row->traffic == SCALE_FLOOD
		       ? 0
		       : scale_player(s, &lane->flows[1], number, slot);
}

/* Frames of the processor so far; a player's first number counts as frames. */
static __u64 scale_sent(const struct scale *s, int cpu)
{
	const volatile struct lane *lane = &s->wrapper->bss->lanes[cpu];

	return (__u64)lane->flows[0].sent + lane->flows[1].sent;
}

/* --- running --------------------------------------------------------------------------
 */

static void scale_pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void *scale_thread(void *argument)
{
	struct scale_thread *t = argument;
	__u8 frame[LANE_FRAME] = { 0 };
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = frame,
		    .data_size_in = sizeof(frame), .repeat = SCALE_ENDLESS);
	int program = bpf_program__fd(t->scale->wrapper->progs.lane);

	scale_pin(t->cpu);
	pthread_barrier_wait(&t->scale->barrier);
	while (!t->scale->stop && !t->err) {
		t->err = bpf_prog_test_run_opts(program, &run);
		if (t->err == -EINTR)
			t->err = 0;
	}
	return NULL;
}

static double scale_ns(clockid_t clock)
{
	struct timespec t = { 0 };

	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double scale_cpu_ns(const struct scale_thread *t)
{
	clockid_t clock;

	return pthread_getcpuclockid(t->thread, &clock) ? 0 : scale_ns(clock);
}

/* Responses of each service's server are in the cache, as young as the daemon keeps them.
 */
static void scale_keep_responses(struct scale *s)
{
	static struct cache_entry entry;

	for (int slot = 0; slot < s->processors.count; slot++) {
		keep_response(&entry, "\xff\xff\xff\xffgetstatus", false, SCALE_BYTES,
			      shield_clock());
		shield_cache_put(&s->shield, (__u32)slot, 0, &entry);
	}
}

/* Let all run for so long, and do what the daemon does meanwhile. */
static void scale_wait(struct scale *s, double seconds)
{
	double end = scale_ns(CLOCK_MONOTONIC) + seconds * 1e9, left;

	for (;;) {
		struct timespec pause = { .tv_nsec = SCALE_TICK_NS };

		scale_keep_responses(s);
		shield_recent_update(&s->shield, shield_clock());
		left = end - scale_ns(CLOCK_MONOTONIC);
		if (left <= 0)
			return;
		if (left < (double)SCALE_TICK_NS)
			pause.tv_nsec = (long)left;
		nanosleep(&pause, NULL);
	}
}

static int scale_start(struct scale *s, int n)
{
	s->stop = false;
	s->count = 0;
	if (pthread_barrier_init(&s->barrier, NULL, (unsigned int)n + 1))
		return -ENOMEM;
	for (int i = 0; i < n; i++) {
		struct scale_thread *t = &s->threads[i];

		*t = (struct scale_thread){ .cpu = s->processors.at[i].cpu, .scale = s };
		/* The threads before it wait for ever: the caller ends the process. */
		if (pthread_create(&t->thread, NULL, scale_thread, t))
			return -EAGAIN;
		s->count++;
	}
	pthread_barrier_wait(&s->barrier);
	return 0;
}

/* Wait until each thread sends: the kernel changes its own code before the first. */
static int scale_wait_sent(const struct scale *s, const __u64 *start)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	double end = scale_ns(CLOCK_MONOTONIC) + SCALE_START_NS;

	for (int i = 0; i < s->count; i++) {
		const struct scale_thread *t = &s->threads[i];

		while (scale_sent(s, t->cpu) == start[i]) {
			if (t->err)
				return t->err;
			if (scale_ns(CLOCK_MONOTONIC) > end)
				return -ETIME;
			nanosleep(&pause, NULL);
		}
	}
	return 0;
}

/* End all threads. A signal that comes before the system call is lost: send another. */
static int scale_stop(struct scale *s)
{
	int err = 0;

	s->stop = true;
	for (int i = 0; i < s->count; i++)
		pthread_kill(s->threads[i].thread, SIGUSR1);
	for (int i = 0; i < s->count; i++) {
		struct timespec until;

		do {
			clock_gettime(CLOCK_REALTIME, &until);
			until.tv_nsec += 5000000;
			until.tv_sec += until.tv_nsec / 1000000000;
			until.tv_nsec %= 1000000000;
			pthread_kill(s->threads[i].thread, SIGUSR1);
		} while (pthread_timedjoin_np(s->threads[i].thread, NULL, &until));
		if (s->threads[i].err)
			err = s->threads[i].err;
	}
	pthread_barrier_destroy(&s->barrier);
	return err;
}

/* Add up what the services in slots below @slots have counted, by verdict. 0 or -errno.
 */
static int scale_verdicts(struct scale *s, int slots, __u64 ret[VERDICT_COUNT])
{
	memset(ret, 0, sizeof(*ret) * VERDICT_COUNT);
	for (int slot = 0; slot < slots; slot++) {
		int err = shield_counters(&s->shield, (__u32)slot, &s->in, &s->out);

		if (err)
			return err;
		for (int kind = 0; kind < KIND_COUNT; kind++)
			for (int i = 0; i < REASON_COUNT; i++)
				ret[reason_verdict((enum reason)i)] +=
					s->in.by[kind][i].packets;
	}
	return 0;
}

static int scale_ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Return true if a thread has sent nothing since the window began. */
static bool scale_is_idle(const struct scale *s)
{
	for (int i = 0; i < s->count; i++)
		if (scale_sent(s, s->threads[i].cpu) == s->threads[i].sent)
			return true;
	return false;
}

/* Return true if a thread has sent nothing, or had its processor for less than half of
 * @seconds: the machine has other work. */
static bool scale_is_short(const struct scale *s, double seconds)
{
	for (int i = 0; i < s->count; i++) {
		const struct scale_thread *t = &s->threads[i];

		if (scale_cpu_ns(t) - t->cpu_ns < seconds * 1e9 / 2)
			return true;
	}
	return scale_is_idle(s);
}

/*
 * The window in which all threads run; several, up to SCALE_WINDOWS, on a machine with
 * other work, and more until each thread has sent or SCALE_START_NS are over. -EIO: a
 * thread did not run.
 */
static int scale_window(struct scale *s, double seconds, struct scale_result *ret)
{
	double ns[LANES] = { 0 }, end = scale_ns(CLOCK_MONOTONIC) + SCALE_START_NS;

	for (int i = 0; i < s->count; i++) {
		struct scale_thread *t = &s->threads[i];

		t->sent = scale_sent(s, t->cpu);
		t->cpu_ns = scale_cpu_ns(t);
		t->wall_ns = scale_ns(CLOCK_MONOTONIC);
	}
	for (int i = 0; i < SCALE_WINDOWS && (!i || scale_is_short(s, seconds)); i++)
		scale_wait(s, seconds);
	while (scale_is_idle(s) && scale_ns(CLOCK_MONOTONIC) < end)
		scale_wait(s, seconds);
	ret->busy = 1;
	for (int i = 0; i < s->count; i++) {
		const struct scale_thread *t = &s->threads[i];
		__u64 sent = scale_sent(s, t->cpu) - t->sent;
		double cpu_ns = scale_cpu_ns(t) - t->cpu_ns;
		double busy = cpu_ns / (scale_ns(CLOCK_MONOTONIC) - t->wall_ns);

		if (!sent || cpu_ns <= 0)
			return -EIO;
		ns[i] = cpu_ns / (double)sent;
		ret->rate += 1e9 / ns[i];
		if (busy < ret->busy)
			ret->busy = busy;
	}
	qsort(ns, (size_t)s->count, sizeof(*ns), scale_ascending);
	ret->ns = ns[s->count / 2];
	ret->ns_worst = ns[s->count - 1];
	return 0;
}

static int scale_candidate(struct scale *s, enum scale_program program)
{
	const struct bpf_program *programs[] = {
		[SCALE_DROP] = s->wrapper->progs.drop,
		[SCALE_FLOOR] = s->wrapper->progs.base,
		[SCALE_SHIELD] = s->object->progs.shield,
		[SCALE_CHALLENGES] = s->object->progs.shield,
	};
	int fd = bpf_program__fd(programs[program]);
	__u32 zero = 0;

	if (bpf_map_update_elem(bpf_map__fd(s->wrapper->maps.candidate), &zero, &fd,
				BPF_ANY))
		return -errno;
	return program < SCALE_SHIELD ? 0 : scale_apply(s, program);
}

/*
 * Run @row on the first @n processors, all for one service or each for its @own, for
 * @warm and then for @seconds, which are measured. 0 and @ret, or -errno.
 */
static int scale_run(struct scale *s, const struct scale_row *row, bool own, int n,
		     double warm, double seconds, struct scale_result *ret)
{
	__u64 before[VERDICT_COUNT], after[VERDICT_COUNT], start[LANES];
	int slots = own ? n : 1;
	int err = scale_candidate(s, row->program), stopped;

	memset(ret, 0, sizeof(*ret));
	for (int i = 0; i < n && !err; i++) {
		err = scale_lane(s, row, i, own ? (__u32)i : 0);
		start[i] = scale_sent(s, s->processors.at[i].cpu);
	}
	if (!err)
		err = scale_verdicts(s, slots, before);
	if (!err)
		err = scale_start(s, n);
	if (err)
		return err;
	err = scale_wait_sent(s, start);
	if (!err) {
		scale_wait(s, warm);
		err = scale_window(s, seconds, ret);
	}
	stopped = scale_stop(s);
	if (stopped)
		err = stopped; /* why a thread did not run */
	if (!err)
		err = scale_verdicts(s, slots, after);
	if (err)
		return err;
	for (int i = 0; i < n; i++)
		ret->sent += scale_sent(s, s->processors.at[i].cpu) - start[i];
	for (int i = 0; i < VERDICT_COUNT; i++)
		ret->counted += after[i] - before[i];
	ret->passed =
		(double)(after[VERDICT_PASS] - before[VERDICT_PASS]) / (double)ret->sent;
	ret->responded = (double)(after[VERDICT_RESPOND] - before[VERDICT_RESPOND]) /
			 (double)ret->sent;
	return 0;
}

/* Return true if the shield did with the frames of @row what the row is there for. */
static bool scale_is_right(const struct scale_row *row, const struct scale_result *r)
{
	double off = r->passed - row->passed;

	if (row->program < SCALE_SHIELD)
		return true;
	return r->counted == r->sent && off < SCALE_NEAR && off > -SCALE_NEAR &&
	       r->responded >= row->responded;
}

#endif /* SCALE_H */
