// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * players_file.c - writes players.json. See players_file.h; lag_file.c reads it.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/cidr.h"
#include "lib/json_key.h"
#include "lib/jsonl.h"
#include "samples/samples.h"
#include "lib/names.h"
#include "lag/lag_file.h"
#include "lag/lag_json.h"
#include "samples/players_file.h"

static const struct json_key sampler_keys[] = {
	JSON_KEY("taken", "integer", "samples", "Copied to the daemon by the kernel."),
	JSON_KEY("limited", "integer", "samples", "Above the rate of the sampler."),
	JSON_KEY("lost", "integer", "samples", "The ring buffer was full."),
	JSON_KEY("read", "integer", "samples", "Read by the daemon."),
	JSON_KEY("shed", "integer", "samples",
		 "Not decoded: above the daemon's processor time."),
	JSON_END,
};

static const struct json_key top_prefix_keys[] = {
	JSON_KEY("service", "string", NULL, "Name of the service."),
	JSON_KEY("prefix", "string", NULL, "An IPv4 /24 or IPv6 /56."),
	JSON_KEY("share", "number", "ratio",
		 "Its share of the sampled drops of all services."),
	JSON_END,
};

static const struct json_key by_service_keys[] = {
	JSON_OBJECT("*", "object", NULL, "By name of the service.", decoded_json_keys),
	JSON_END,
};

const struct json_key players_file_keys[] = {
	JSON_KEY(
		"time", "number", "seconds",
		"When it was written, since 1970. A file older than 5 seconds has no daemon."),
	JSON_OBJECT("statistic", "object", "samples", "The sampler of loose datagrams.",
		    sampler_keys),
	JSON_OBJECT("follow", "object", "samples", "The sampler of followed players.",
		    sampler_keys),
	JSON_KEY("decoded", "integer", "samples", "Samples that were decoded."),
	JSON_KEY("unparsed", "integer", "samples", "Samples without a datagram."),
	JSON_KEY("cpu_ms", "integer", "milliseconds",
		 "Processor time used since the start."),
	JSON_KEY("cpu_percent", "integer", "percent",
		 "Processor time allowed, of one processor."),
	JSON_OBJECT(
		"top_prefixes", "object[]", NULL,
		"Prefixes that sent a twentieth or more of the sampled drops; at most 10.",
		top_prefix_keys),
	JSON_OBJECT("decoded_by_service", "object", NULL,
		    "Decoded records and figures of each service.", by_service_keys),
	JSON_OBJECT("players", "object[]", NULL, "Followed players; at most 256.",
		    lag_player_keys),
	JSON_END,
};

static void write_sampler(struct jsonl *json, const char *key,
			  const struct samples_stats *stats, enum sampler sampler)
{
	jsonl_text(json, key);
	lag_json_number(json, "{\"taken\":", stats->kernel[sampler].taken);
	lag_json_number(json, ",\"limited\":", stats->kernel[sampler].limited);
	lag_json_number(json, ",\"lost\":", stats->kernel[sampler].lost);
	lag_json_number(json, ",\"read\":", stats->samples[sampler]);
	lag_json_number(json, ",\"shed\":", stats->shed[sampler]);
	jsonl_text(json, "}");
}

static void write_top_prefixes(struct jsonl *json,
			       const struct drop_sources *top_prefixes,
			       const struct service *services)
{
	struct drop_sources_row rows[LAG_FILE_PREFIXES];
	size_t n = drop_sources_list(top_prefixes, rows, LAG_FILE_PREFIXES);
	char prefix[CIDR_TEXT];

	jsonl_text(json, ",\"top_prefixes\":[");
	for (size_t i = 0; i < n; i++) {
		cidr_format(&rows[i].prefix, prefix);
		lag_json_string(json, i ? ",{\"service\":" : "{\"service\":",
				services[rows[i].slot].name);
		lag_json_string(json, ",\"prefix\":", prefix);
		jsonl_text(json, ",\"share\":");
		jsonl_float(json, (float)rows[i].count / (float)top_prefixes->total);
		jsonl_text(json, "}");
	}
	jsonl_text(json, "]");
}

json_t *players_file_decoded(const struct decoded *decoded,
			     const struct service *services)
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
	json_t *object = players_file_decoded(decoded, services);
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
	lag_json_number(json, ",\"decoded\":", stats->decoded);
	lag_json_number(json, ",\"unparsed\":", stats->unparsed);
	lag_json_number(json, ",\"cpu_ms\":", (uint64_t)stats->cpu_ns / 1000000);
	lag_json_number(json, ",\"cpu_percent\":", stats->cpu_percent);
	write_top_prefixes(json, &stats->top_prefixes, services);
	write_decoded(json, stats->by_service, services);
	jsonl_text(json, ",\"players\":[");
	while ((player = lagometer_next(lagometer, &at))) {
		struct lag_extra extra = { .service = services[player->slot].name,
					   .ahead_ns = lagometer_ahead(lagometer) };

		extra.verdict = lag_minutes_verdict(stats->minutes, at - 1, player,
						    &extra.history);
		jsonl_text(json, count++ ? ",\n" : "\n");
		lag_player_json(json, player, &extra);
	}
	jsonl_text(json, "]}\n");
}

int players_file_print(FILE *out, int64_t now_ns, const struct samples_stats *stats,
		       struct lagometer *lagometer, const struct service *services)
{
	static struct jsonl json;

	jsonl_init(&json, out);
	write_all(&json, now_ns, stats, lagometer, services);
	return jsonl_flush(&json);
}

int players_file_write(const char *path, int64_t now_ns,
		       const struct samples_stats *stats, struct lagometer *lagometer,
		       const struct service *services)
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
	err = players_file_print(file, now_ns, stats, lagometer, services);
	if (fclose(file) && !err)
		err = -errno;
	if (!err && rename(fresh, path))
		err = -errno;
	if (err)
		unlink(fresh);
	return err;
}
