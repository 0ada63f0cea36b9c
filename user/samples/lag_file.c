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
#include "lib/json_key.h"
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

static const struct json_key way_keys[] = {
	JSON_KEY("received", "integer", "messages", "Different messages that arrived."),
	JSON_KEY("lost", "integer", "messages", "Messages that did not arrive."),
	JSON_KEY("loss", "number", "ratio", "Lost, of all that should have arrived."),
	JSON_KEY("duplicated", "integer", "messages", "Arrived more than once."),
	JSON_KEY("late", "integer", "messages", "Arrived after a later one."),
	JSON_KEY("unknown", "integer", "messages",
		 "From the server: neither acknowledged nor surely lost."),
	JSON_KEY("pings", "integer|null[]", "milliseconds",
		 "Pings of the last 128 messages, oldest first; null: not known."),
	JSON_KEY(
		"marks", "string", NULL,
		"One letter for each of these: `a` arrived, `d` arrived, and a snapshot before it was held back by the rate, `l` lost, `r` repeated, `t` late, `.` not known."),
	JSON_END,
};

static const struct json_key frames_keys[] = {
	JSON_KEY("drawn", "integer", "frames",
		 "Frames of which the client told the time."),
	JSON_KEY("extrapolated", "integer", "frames",
		 "Drawn beyond the newest snapshot."),
	JSON_KEY("extrapolation", "number", "ratio", "Extrapolated, of all drawn."),
	JSON_KEY(
		"ms", "integer[]", "milliseconds",
		"For each of the last 128 frames: its time less that of the newest snapshot; above 0: extrapolated."),
	JSON_END,
};

const struct json_key lag_file_player_keys[] = {
	JSON_KEY("service", "string?", NULL, "Name of the service; absent in `decode`."),
	JSON_KEY("protocol", "string", NULL, "Protocol that the player speaks."),
	JSON_KEY("dialect", "string?", NULL,
		 "Dialect of the protocol, where it is known."),
	JSON_KEY("address", "string", NULL, "IP address of the player."),
	JSON_KEY("port", "integer", NULL, "UDP port of the player."),
	JSON_KEY("name", "string", NULL, "Name of the player; empty: not known."),
	JSON_KEY("map", "string", NULL, "Map of the game; empty: not known."),
	JSON_KEY("since", "number", "seconds", "First datagram, since 1970."),
	JSON_KEY("last", "number", "seconds", "Last datagram, since 1970."),
	JSON_KEY("ping_ms", "integer|null", "milliseconds", "Mean of the last 32 pings."),
	JSON_KEY("snapshots_per_s", "integer", "snapshots per second",
		 "Sent to the player."),
	JSON_KEY("packets_per_s", "integer", "packets per second",
		 "Received from the player."),
	JSON_KEY("snapshots", "integer", "snapshots", "Sent to the player."),
	JSON_KEY("delayed", "integer", "snapshots", "Held back by the player's rate."),
	JSON_OBJECT("c2s", "object", NULL, "From the player to the server.", way_keys),
	JSON_OBJECT("s2c", "object", NULL, "From the server to the player.", way_keys),
	JSON_OBJECT(
		"frames", "object?", NULL,
		"Where the protocol tells (Quake III): the frames that the client drew.",
		frames_keys),
	JSON_END,
};

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

const struct json_key lag_file_keys[] = {
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
		    lag_file_player_keys),
	JSON_END,
};

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
	number(json, ",\"duplicated\":", d->repeated);
	number(json, ",\"late\":", d->late);
	number(json, ",\"unknown\":", d->unsure);
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
		string(json, i ? ",{\"service\":" : "{\"service\":",
		       services[rows[i].slot].name);
		string(json, ",\"prefix\":", prefix);
		jsonl_text(json, ",\"share\":");
		jsonl_float(json, (float)rows[i].count / (float)top_prefixes->total);
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
	write_top_prefixes(json, &stats->top_prefixes, services);
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
