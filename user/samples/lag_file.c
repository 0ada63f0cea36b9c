// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * lag_file.c - writing it. Reading is in lag_file_read.c.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/cidr.h"
#include "lib/jsonl.h"
#include "samples/samples.h"
#include "lib/names.h"
#include "samples/lag_file.h"

void lag_file_path(const char *pin_dir, char ret[LAG_FILE_PATH_MAX])
{
	int n = snprintf(ret, LAG_FILE_PATH_MAX, LAG_FILE_DIR "/players");

	/* As the pid file: a directory of its own has a daemon of its own. */
	for (; pin_dir && *pin_dir && n + 8 < LAG_FILE_PATH_MAX; pin_dir++)
		ret[n++] = *pin_dir == '/' ? '-' : *pin_dir;
	snprintf(ret + n, (size_t)(LAG_FILE_PATH_MAX - n), ".json");
}

static void number(struct jsonl *json, const char *key, uint64_t value)
{
	jsonl_text(json, key);
	jsonl_uint(json, value);
}

static void string(struct jsonl *json, const char *key, const char *value)
{
	jsonl_text(json, key);
	jsonl_string(json, value, strlen(value));
}

/* One letter a sample; docs/SAMPLES.md. */
static char mark_of(uint8_t flags)
{
	if (flags & LAG_LOST)
		return 'l';
	if (flags & LAG_REPEATED)
		return 'r';
	if (flags & LAG_LATE)
		return 't';
	if (flags & LAG_DELAYED)
		return 'd';
	return flags & LAG_ANSWERED ? 'a' : '.';
}

static void write_ring(struct jsonl *json, const struct lag_direction *d)
{
	uint64_t n = d->taken < LAG_SAMPLES ? d->taken : LAG_SAMPLES;
	char marks[LAG_SAMPLES + 1];

	jsonl_text(json, ",\"pings\":[");
	for (uint64_t i = 0; i < n; i++) {
		const struct lag_sample *s = &d->ring[(d->taken - n + i) % LAG_SAMPLES];

		jsonl_text(json, i ? "," : "");
		if (s->ping_ms == LAG_PING_NONE)
			jsonl_text(json, "null");
		else
			jsonl_uint(json, s->ping_ms);
		marks[i] = mark_of(s->flags);
	}
	marks[n] = 0;
	string(json, "],\"marks\":", marks);
}

static void write_way(struct jsonl *json, const char *key, const struct lag_direction *d)
{
	jsonl_text(json, key);
	number(json, "{\"received\":", d->received);
	number(json, ",\"lost\":", d->lost);
	jsonl_text(json, ",\"loss\":");
	jsonl_float(json, (float)lag_loss(d));
	number(json, ",\"repeated\":", d->repeated);
	number(json, ",\"late\":", d->late);
	number(json, ",\"unsure\":", d->unsure);
	write_ring(json, d);
	jsonl_text(json, "}");
}

static void write_frames(struct jsonl *json, const struct lag_frames *f)
{
	uint64_t n = f->taken < LAG_SAMPLES ? f->taken : LAG_SAMPLES;

	number(json, ",\"frames\":{\"drawn\":", f->taken);
	number(json, ",\"extrapolated\":", f->extrapolated);
	jsonl_text(json, ",\"extrapolation\":");
	jsonl_float(json, (float)lag_extrapolation(f));
	jsonl_text(json, ",\"ms\":[");
	for (uint64_t i = 0; i < n; i++) {
		jsonl_text(json, i ? "," : "");
		jsonl_int(json, f->ring[(f->taken - n + i) % LAG_SAMPLES]);
	}
	jsonl_text(json, "]}");
}

void lag_file_player(struct jsonl *json, const struct lag_player *p, const char *service)
{
	char address[INET6_ADDRSTRLEN] = "";

	if (p->client.length)
		inet_ntop(p->client.length == 4 ? AF_INET : AF_INET6, p->client.bytes,
			  address, sizeof(address));
	jsonl_text(json, "{");
	if (service) {
		string(json, "\"service\":", service);
		jsonl_text(json, ",");
	}
	string(json, "\"protocol\":", family_name(p->family));
	if (p->dialect)
		string(json, ",\"dialect\":", p->dialect);
	string(json, ",\"address\":", address);
	number(json, ",\"port\":", p->client.port);
	string(json, ",\"name\":", p->name);
	string(json, ",\"map\":", p->map);
	jsonl_text(json, ",\"since\":");
	jsonl_time(json, p->since_ns);
	jsonl_text(json, ",\"last\":");
	jsonl_time(json, p->last_ns);
	jsonl_text(json, ",\"ping_ms\":");
	if (p->ping_ms == LAG_PING_NONE)
		jsonl_text(json, "null");
	else
		jsonl_uint(json, p->ping_ms);
	number(json, ",\"snapshots_per_s\":", p->snapshots_per_s);
	number(json, ",\"packets_per_s\":", p->packets_per_s);
	number(json, ",\"snapshots\":", p->snapshots);
	number(json, ",\"delayed\":", p->delayed);
	write_way(json, ",\"c2s\":", &p->way[LAG_C2S]);
	write_way(json, ",\"s2c\":", &p->way[LAG_S2C]);
	if (p->frames.taken)
		write_frames(json, &p->frames);
	jsonl_text(json, "}");
}

static void write_sampler(struct jsonl *json, const char *key,
			  const struct samples_stats *stats, enum sampler sampler)
{
	jsonl_text(json, key);
	number(json, "{\"taken\":", stats->kernel[sampler].taken);
	number(json, ",\"limited\":", stats->kernel[sampler].limited);
	number(json, ",\"lost\":", stats->kernel[sampler].lost);
	number(json, ",\"read\":", stats->samples[sampler]);
	number(json, ",\"shed\":", stats->shed[sampler]);
	jsonl_text(json, "}");
}

static void write_worst(struct jsonl *json, const struct drop_sources *worst,
			const struct service *services)
{
	struct drop_sources_row rows[LAG_FILE_WORST];
	size_t n = drop_sources_list(worst, rows, LAG_FILE_WORST);
	char prefix[CIDR_TEXT];

	jsonl_text(json, ",\"worst\":[");
	for (size_t i = 0; i < n; i++) {
		cidr_format(&rows[i].prefix, prefix);
		string(json, i ? ",{\"service\":" : "{\"service\":",
		       services[rows[i].slot].name);
		string(json, ",\"prefix\":", prefix);
		jsonl_text(json, ",\"share\":");
		jsonl_float(json, (float)rows[i].count / (float)worst->total);
		jsonl_text(json, "}");
	}
	jsonl_text(json, "]");
}

json_t *lag_file_decoded(const struct decoded *decoded, const struct service *services)
{
	json_t *object = json_object();

	for (__u32 slot = 0; object && slot < SERVICES_MAX; slot++) {
		json_t *of = decoded_json(decoded, slot);

		if (of)
			json_object_set_new(object, services[slot].name, of);
	}
	return object;
}

static void write_decoded(struct jsonl *json, const struct decoded *decoded,
			  const struct service *services)
{
	json_t *object = lag_file_decoded(decoded, services);
	char *text = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(9));

	json_decref(object);
	if (!text)
		return;
	jsonl_text(json, ",\"decoded_by_service\":");
	jsonl_text(json, text);
	free(text);
}

static void write_all(struct jsonl *json, int64_t now_ns,
		      const struct samples_stats *stats, struct lagometer *lagometer,
		      const struct service *services)
{
	const struct lag_player *player;
	size_t at = 0, count = 0;

	jsonl_text(json, "{\"time\":");
	jsonl_time(json, now_ns);
	write_sampler(json, ",\"statistic\":", stats, SAMPLER_STATISTIC);
	write_sampler(json, ",\"follow\":", stats, SAMPLER_FOLLOW);
	number(json, ",\"decoded\":", stats->decoded);
	number(json, ",\"unparsed\":", stats->unparsed);
	number(json, ",\"cpu_ms\":", (uint64_t)stats->cpu_ns / 1000000);
	number(json, ",\"cpu_percent\":", stats->cpu_percent);
	write_worst(json, &stats->worst, services);
	write_decoded(json, stats->by_service, services);
	jsonl_text(json, ",\"players\":[");
	while ((player = lagometer_next(lagometer, &at))) {
		jsonl_text(json, count++ ? ",\n" : "\n");
		lag_file_player(json, player, services[player->slot].name);
	}
	jsonl_text(json, "]}\n");
}

int lag_file_print(FILE *out, int64_t now_ns, const struct samples_stats *stats,
		   struct lagometer *lagometer, const struct service *services)
{
	static struct jsonl json;

	jsonl_init(&json, out);
	write_all(&json, now_ns, stats, lagometer, services);
	return jsonl_flush(&json);
}

int lag_file_write(const char *path, int64_t now_ns, const struct samples_stats *stats,
		   struct lagometer *lagometer, const struct service *services)
{
	char fresh[LAG_FILE_PATH_MAX + 8];
	FILE *file;
	int err;

	snprintf(fresh, sizeof(fresh), "%s.new", path);
	if (!strncmp(path, LAG_FILE_DIR "/", sizeof(LAG_FILE_DIR)))
		mkdir(LAG_FILE_DIR, 0755);
	file = fopen(fresh, "we");
	if (!file)
		return -errno;
	err = lag_file_print(file, now_ns, stats, lagometer, services);
	if (fclose(file) && !err)
		err = -errno;
	if (!err && rename(fresh, path))
		err = -errno;
	if (err)
		unlink(fresh);
	return err;
}

void lag_file_remove(const char *path)
{
	if (*path)
		unlink(path);
}
