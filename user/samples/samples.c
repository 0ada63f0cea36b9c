// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * samples.c - see samples.h.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "samples/samples.h"
#include "lib/log.h"
#include "lib/loop.h"
#include "lib/secret.h"
#include "lag/lag_file.h"
#include "samples/players_file.h"
#include "lag/lag_seconds.h"
#include "samples/samples_names.h"
#include "samples/cpu_budget.h"

#define SECOND_MS     1000
#define SECOND_NS     1000000000LL
#define FADE_S	      30 /* after which half of the drops' senders is forgotten */
#define CPU_LOOK_EACH 8 /* samples: asking for the time spent costs as much as one */

struct samples_view {
	struct shield *shield;
	struct samples_decoder *decoder;
	struct samples_writer *writer;
	struct lagometer *lagometer;
	struct decoded *decoded;
	struct samples_ring *ring;
	samples_refused *refused; /* or NULL */
	void *refused_context;
	samples_totals *totals; /* or NULL */
	void *totals_context;
	struct lag_second past[SAMPLES_PLAYERS];
	struct lag_minutes *minutes;
	struct cpu_budget shed;
	struct samples_stats stats;
	unsigned int looked; /* samples since the clocks were last read */
	bool admits[SAMPLER_COUNT];
	unsigned int seconds;
	bool told; /* of shedding; once for each time that it begins */
	uint64_t shed_before; /* a second ago */
	uint64_t unseen; /* by the kernel's account, a second ago */
	int64_t epoch_ns; /* from CLOCK_MONOTONIC to the time of day, */
	int64_t begin_epoch_ns; /* when reading began */
	int64_t cpu_ns; /* of the thread, before this batch */
	__u32 generation; /* of the services below */
	bool known[SERVICES_MAX];
	struct service services[SERVICES_MAX];
	char lag_file_path[LAG_FILE_PATH_MAX];
	struct samples_names *names; /* of players that the daemon before has seen join */
	bool players_failed; /* said so */
	char json[OUTPUT_NAME], pcapng[OUTPUT_NAME];
};

static int64_t clock_read(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * SECOND_NS + now.tv_nsec;
}

static void read_services(struct samples_view *l)
{
	__u32 generation = shield_generation(l->shield);

	if (generation == l->generation)
		return;
	l->generation = generation;
	for (__u32 slot = 0; slot < SERVICES_MAX; slot++) {
		struct service *service = &l->services[slot];
		char name[NAME_MAX_LEN];

		memcpy(name, service->name, sizeof(name));
		l->known[slot] = shield_service(l->shield, slot, service);
		if (!l->known[slot] || strncmp(name, service->name, sizeof(name)) != 0)
			decoded_forget(l->decoded, slot);
	}
}

/* --- a sample ---------------------------------------------------------------- */

static void on_record(void *context, const struct record *r,
		      const struct sample_note *sample)
{
	struct samples_view *l = context;

	l->stats.status[r->status]++;
	decoded_record(l->decoded, sample->slot, r, sample->sampler);
	if (sample->sampler == SAMPLER_FOLLOW)
		lagometer_record(l->lagometer, sample->slot, r);
	else if (r->direction == DIRECTION_C2S &&
		 reason_verdict(sample->reason) == VERDICT_DROP) {
		drop_sources_add(&l->stats.top_prefixes, sample->slot, &r->source);
		if (l->refused)
			l->refused(l->refused_context, sample->slot, r);
	}
	samples_write_record(l->writer, r, sample, &l->services[sample->slot]);
}

static bool within_budget(struct samples_view *l, enum sampler sampler)
{
	if (!(l->looked++ % CPU_LOOK_EACH)) {
		int64_t wall_ns = clock_read(CLOCK_MONOTONIC);
		int64_t cpu_ns = clock_read(CLOCK_THREAD_CPUTIME_ID);

		for (int i = 0; i < SAMPLER_COUNT; i++)
			l->admits[i] = cpu_budget_admits(&l->shed, wall_ns, cpu_ns,
							 i == SAMPLER_FOLLOW);
	}
	return l->admits[sampler];
}

static void on_sample(const struct sample *sample, const void *frame, void *context)
{
	struct samples_view *l = context;
	int64_t time_ns = (int64_t)sample->ktime_ns + l->epoch_ns;
	const struct service *service;

	if (sample->slot >= SERVICES_MAX || sample->sampler >= SAMPLER_COUNT ||
	    sample->kind >= KIND_COUNT || sample->reason >= REASON_COUNT)
		return;
	l->stats.samples[sample->sampler]++;
	if (!within_budget(l, (enum sampler)sample->sampler)) {
		if (sample->sampler == SAMPLER_FOLLOW)
			lagometer_blind(l->lagometer, time_ns);
		l->stats.shed[sample->sampler]++;
		return;
	}
	read_services(l);
	/* A sample of a service that has left since: nothing names it any more. */
	if (!l->known[sample->slot]) {
		l->stats.unparsed++;
		return;
	}
	service = &l->services[sample->slot];
	samples_write_frame(l->writer, sample, frame, time_ns, service);
	samples_ring_add(l->ring, sample, frame, time_ns, service);
	if (!samples_decoder_sample(l->decoder, sample, frame,
				    (enum wire_family)service->family, time_ns))
		l->stats.unparsed++;
	else
		l->stats.decoded++;
}

static void on_pump(void *context);

/* Write pieces out a few at a time; while none waits, no timer runs. */
static void pump_soon(struct samples_view *l)
{
	if (samples_writer_waits(l->writer))
		loop_once(SINK_PUMP_MS, on_pump, l);
}

static void on_pump(void *context)
{
	struct samples_view *l = context;

	samples_writer_pump(l->writer);
	pump_soon(l);
}

static void on_ready(void *context)
{
	struct samples_view *l = context;
	int64_t before_ns = clock_read(CLOCK_THREAD_CPUTIME_ID);

	shield_samples_poll(l->shield, 0);
	pump_soon(l);
	l->stats.cpu_ns += clock_read(CLOCK_THREAD_CPUTIME_ID) - before_ns;
}

/* --- each second ------------------------------------------------------------- */

static void watch_shedding(struct samples_view *l)
{
	uint64_t shed = l->stats.shed[SAMPLER_STATISTIC] + l->stats.shed[SAMPLER_FOLLOW];

	if (shed != l->shed_before && !l->told)
		log_warn(
			"decoding takes more than %u %% of a processor: samples are shed "
			"(output.cpu-percent)",
			l->shed.percent);
	l->told = shed != l->shed_before;
	l->shed_before = shed;
}

/*
 * Samples that the kernel left out, above the rate or without room, leave gaps that are
 * not the network's. Called once a second, and by the lagometer at each gap.
 */
static void watch_kernel(void *context)
{
	struct samples_view *l = context;
	const struct sampled *followed = &l->stats.kernel[SAMPLER_FOLLOW];
	uint64_t unseen;

	if (shield_sampled(l->shield, l->stats.kernel))
		return;
	unseen = followed->limited + followed->lost;
	if (unseen != l->unseen)
		lagometer_blind(l->lagometer, clock_read(CLOCK_MONOTONIC) + l->epoch_ns);
	l->unseen = unseen;
}

/* Judge the players of a minute that is over. */
static void watch_minute(struct samples_view *l, int64_t now_ns)
{
	static struct lag_totals totals;
	const struct sampled *followed = &l->stats.kernel[SAMPLER_FOLLOW];

	memset(&totals, 0, sizeof(totals));
	if (l->totals)
		l->totals(l->totals_context, &totals);
	totals.seen = l->stats.samples[SAMPLER_FOLLOW] - l->stats.shed[SAMPLER_FOLLOW];
	totals.unseen =
		followed->limited + followed->lost + l->stats.shed[SAMPLER_FOLLOW];
	lag_minutes_second(l->minutes, l->lagometer, &totals, now_ns);
}

static void on_second(void *context)
{
	struct samples_view *l = context;
	int64_t before_ns = clock_read(CLOCK_THREAD_CPUTIME_ID);
	int64_t now_ns = clock_read(CLOCK_REALTIME);
	int err;

	read_services(l);
	/* Pending samples have times of the clock as it was. */
	samples_decoder_rest(l->decoder);
	l->epoch_ns = now_ns - clock_read(CLOCK_MONOTONIC);
	lagometer_set_ahead(l->lagometer, l->epoch_ns - l->begin_epoch_ns);
	watch_kernel(l);
	watch_shedding(l);
	if (!(++l->seconds % FADE_S))
		drop_sources_fade(&l->stats.top_prefixes);
	lagometer_sweep(l->lagometer, now_ns);
	if (l->names &&
	    !samples_names_recall(l->names, l->lagometer, l->services, now_ns)) {
		samples_names_free(l->names);
		l->names = NULL;
	}
	lag_seconds(l->lagometer, l->past, l->decoded, now_ns);
	watch_minute(l, now_ns);
	err = players_file_write(l->lag_file_path, now_ns, &l->stats, l->lagometer,
				 l->services);
	if (err && !l->players_failed)
		log_error("cannot write '%s': %s", l->lag_file_path, strerror(-err));
	l->players_failed = err;
	on_pump(l);
	l->stats.cpu_ns += clock_read(CLOCK_THREAD_CPUTIME_ID) - before_ns;
}

/* --- beginning, change, end --------------------------------------------------- */

static int open_writer(const struct config *config, struct samples_writer **ret)
{
	struct samples_target target = {
		.json = config->output_json,
		.pcapng = config->output_pcapng,
		.interface = config->interface_count == 1 ? config->interfaces[0]
							  : "quakeshield",
	};

	return samples_writer_open(&target, ret);
}

/*
 * Watch readers that come and go. False: the loop has no room. Called after each opening
 * of the writer, by samples_open(), which fails then, and by samples_reload(), which says
 * so and goes on. writer_forget() must come before the writer is closed.
 */
static bool writer_watch(struct samples_view *l)
{
	for (unsigned int i = 0; i < SAMPLES_WRITER_FDS; i++) {
		int fd = samples_writer_fd(l->writer, i);

		if (fd >= 0 && !loop_add(fd, on_pump, l))
			return false;
	}
	return true;
}

static void writer_forget(const struct samples_view *l)
{
	for (unsigned int i = 0; i < SAMPLES_WRITER_FDS; i++)
		if (samples_writer_fd(l->writer, i) >= 0)
			loop_remove(samples_writer_fd(l->writer, i));
}

static void remember(struct samples_view *l, const struct config *config)
{
	l->shed.percent = config->output_cpu;
	l->stats.cpu_percent = config->output_cpu;
	strcpy(l->json, config->output_json);
	strcpy(l->pcapng, config->output_pcapng);
}

/* The key is read once, before privileges go; it never leaves locked memory. */
static int decoder_begin(struct samples_view *l, const struct config *config)
{
	struct secret_key *key;
	struct keys_psk psk;
	char why[256];
	int err;

	if (!config->follow_psk_file[0]) {
		l->decoder = samples_decoder_create(on_record, l, NULL);
		return l->decoder ? 0 : -ENOMEM;
	}
	key = secret_alloc(sizeof(*key));
	if (!key)
		return -ENOMEM;
	err = secret_key_read(config->follow_psk_file, key, why, sizeof(why));
	if (err) {
		log_error("psk-file '%s' %s", config->follow_psk_file, why);
	} else {
		psk = (struct keys_psk){ config->follow_psk_identity, key->bytes,
					 key->n };
		l->decoder = samples_decoder_create(on_record, l, &psk);
		err = l->decoder ? 0 : -ENOMEM;
	}
	secret_free(key, sizeof(*key));
	return err;
}

/* A minute; LAG_MINUTE_MS in the environment, from 1000 on, is for tests. */
static int64_t minute_ns(void)
{
	const char *text = getenv("LAG_MINUTE_MS");
	long ms = text ? strtol(text, NULL, 10) : 0;

	return ms >= SECOND_MS && ms < LAG_MINUTE_NS / 1000000 ? ms * 1000000
							       : LAG_MINUTE_NS;
}

static int start(struct samples_view *l, const struct config *config)
{
	int err = decoder_begin(l, config);

	if (err)
		return err;
	l->lagometer = lagometer_create(SAMPLES_PLAYERS, LAG_BESIDE_SERVER);
	l->decoded = decoded_create();
	l->ring = samples_ring_create();
	l->minutes = lag_minutes_create(SAMPLES_PLAYERS, minute_ns());
	l->stats.by_service = l->decoded;
	l->stats.minutes = l->minutes;
	if (!l->lagometer || !l->decoded || !l->ring || !l->minutes)
		return -ENOMEM;
	lagometer_watch(l->lagometer, watch_kernel, l);
	err = open_writer(config, &l->writer);
	if (!err)
		err = shield_samples_open(l->shield, on_sample, l);
	return err;
}

int samples_open(struct shield *shield, const struct config *config, const char *pin,
		 struct samples_view **ret)
{
	struct samples_view *l = calloc(1, sizeof(*l));
	int err = l ? 0 : -ENOMEM;

	/* The reader of a FIFO may leave at any time. */
	signal(SIGPIPE, SIG_IGN);
	if (!err) {
		l->shield = shield;
		remember(l, config);
		l->generation = shield_generation(shield) - 1;
		l->epoch_ns = clock_read(CLOCK_REALTIME) - clock_read(CLOCK_MONOTONIC);
		l->begin_epoch_ns = l->epoch_ns;
		lag_file_path(pin, l->lag_file_path);
		l->names =
			samples_names_load(l->lag_file_path, clock_read(CLOCK_REALTIME));
		err = start(l, config);
	}
	if (!err && (!loop_add(shield_samples_fd(shield), on_ready, l) ||
		     !writer_watch(l) || !loop_every(SECOND_MS, on_second, l)))
		err = -ENOSPC;
	if (err) {
		log_error("cannot read samples: %s", strerror(-err));
		samples_close(l);
		return err;
	}
	*ret = l;
	return 0;
}

void samples_close(struct samples_view *l)
{
	if (!l)
		return;
	if (l->decoder)
		samples_decoder_rest(l->decoder);
	samples_writer_close(l->writer);
	samples_decoder_free(l->decoder);
	lagometer_free(l->lagometer);
	lag_minutes_free(l->minutes);
	decoded_free(l->decoded);
	samples_ring_free(l->ring);
	samples_names_free(l->names);
	free(l);
}

int samples_reload(struct samples_view *l, const struct config *config)
{
	struct samples_writer *fresh;
	int err;

	if (strcmp(l->json, config->output_json) != 0 ||
	    strcmp(l->pcapng, config->output_pcapng) != 0) {
		err = open_writer(config, &fresh);
		if (err)
			return err;
		writer_forget(l);
		samples_writer_close(l->writer);
		l->writer = fresh;
		if (!writer_watch(l))
			log_error("no room to watch the readers of '%s'", l->json);
	}
	remember(l, config);
	return 0;
}

void samples_rotate(struct samples_view *l)
{
	samples_writer_rotate(l->writer);
}

void samples_watch(struct samples_view *l, samples_refused *refused, void *context)
{
	l->refused = refused;
	l->refused_context = context;
}

void samples_host(struct samples_view *l, samples_totals *totals, void *context)
{
	l->totals = totals;
	l->totals_context = context;
}

struct samples_ring *samples_ring(struct samples_view *l)
{
	return l->ring;
}

void samples_stats(const struct samples_view *l, struct samples_stats *ret)
{
	*ret = l->stats;
	shield_sampled(l->shield, ret->kernel);
	samples_writer_stats(l->writer, &ret->writer);
}

const struct decoded *samples_decoded(const struct samples_view *l)
{
	return l->decoded;
}

json_t *samples_decoded_json(const struct samples_view *l)
{
	return players_file_decoded(l->decoded, l->services);
}

int samples_players(const struct samples_view *l, FILE *out)
{
	return players_file_print(out, clock_read(CLOCK_REALTIME), &l->stats,
				  l->lagometer, l->services);
}
