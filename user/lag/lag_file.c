// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * lag_file.c - where players.json is, and reading it. A value that is missing or of
 * another type reads as nothing; values beyond the bounds are left out.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "lib/names.h"
#include "lib/pin_words.h"
#include "lag/lag_file.h"

#define ROWS_MAX 4096

static uint64_t number_at(const json_t *object, const char *key)
{
	json_int_t n = json_integer_value(json_object_get(object, key));

	return n > 0 ? (uint64_t)n : 0;
}

static uint32_t small_at(const json_t *object, const char *key)
{
	uint64_t n = number_at(object, key);

	return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

static int64_t time_at(const json_t *object, const char *key)
{
	double s = json_number_value(json_object_get(object, key));

	return s > 0 && s < 9e9 ? (int64_t)(s * 1e9) : 0;
}

static void text_at(const json_t *object, const char *key, char *ret, size_t size)
{
	const char *text = json_string_value(json_object_get(object, key));

	snprintf(ret, size, "%s", text ? text : "");
}

static uint8_t flags_of(char mark)
{
	switch (mark) {
	case 'l':
		return LAG_LOST;
	case 'r':
		return LAG_REPEATED;
	case 't':
		return LAG_LATE;
	case 'd':
		return LAG_DELAYED;
	case 'a':
		return LAG_ANSWERED;
	default:
		return 0;
	}
}

static void read_ring(const json_t *object, struct lag_direction *ret)
{
	const json_t *pings = json_object_get(object, "pings");
	const char *marks = json_string_value(json_object_get(object, "marks"));
	size_t n = json_array_size(pings);

	if (!marks || n != strlen(marks) || n > LAG_SAMPLES)
		return;
	for (size_t i = 0; i < n; i++) {
		const json_t *ping = json_array_get(pings, i);
		json_int_t ms = json_integer_value(ping);
		bool known = json_is_integer(ping) && ms >= 0 && ms < LAG_PING_NONE;

		ret->ring[i].ping_ms = known ? (uint16_t)ms : LAG_PING_NONE;
		ret->ring[i].flags = flags_of(marks[i]);
		if (known)
			ret->ring[i].flags |= LAG_ANSWERED;
	}
	/* So that the oldest is where the ring begins. */
	ret->taken = n;
}

static void read_way(const json_t *object, struct lag_direction *ret)
{
	ret->received = number_at(object, "received");
	ret->lost = number_at(object, "lost");
	ret->repeated = number_at(object, "duplicated");
	ret->late = number_at(object, "late");
	ret->unsure = number_at(object, "unknown");
	read_ring(object, ret);
}

static void read_frames(const json_t *object, struct lag_frames *ret)
{
	const json_t *ms = json_object_get(object, "ms");
	size_t n = json_array_size(ms);

	ret->taken = number_at(object, "drawn");
	ret->extrapolated = number_at(object, "extrapolated");
	if (n > LAG_SAMPLES || n > ret->taken) {
		ret->taken = 0;
		return;
	}
	/* The newest lies where the count says. */
	for (size_t i = 0; i < n; i++)
		ret->ring[(ret->taken - n + i) % LAG_SAMPLES] =
			(int16_t)json_integer_value(json_array_get(ms, i));
}

static void read_address(const json_t *object, struct record_address *ret)
{
	char text[INET6_ADDRSTRLEN];

	text_at(object, "address", text, sizeof(text));
	if (inet_pton(AF_INET, text, ret->bytes) == 1)
		ret->length = 4;
	else if (inet_pton(AF_INET6, text, ret->bytes) == 1)
		ret->length = 16;
	ret->port = (uint16_t)number_at(object, "port");
}

static void read_verdict(const json_t *object, struct lag_file_row *ret)
{
	text_at(object, "cause", ret->cause, sizeof(ret->cause));
	text_at(object, "text", ret->text, sizeof(ret->text));
	text_at(object, "history", ret->history, sizeof(ret->history));
}

static void read_row(const json_t *object, struct lag_file_row *ret)
{
	struct lag_player *p = &ret->player;
	char family[32];

	text_at(object, "service", ret->service, sizeof(ret->service));
	text_at(object, "protocol", family, sizeof(family));
	p->family = FAMILY_AUTO;
	family_parse(family, &p->family);
	read_address(object, &p->client);
	text_at(object, "name", p->name, sizeof(p->name));
	text_at(object, "map", p->map, sizeof(p->map));
	p->since_ns = time_at(object, "since");
	p->last_ns = time_at(object, "last");
	p->ping_ms = json_is_integer(json_object_get(object, "ping_ms"))
			     ? small_at(object, "ping_ms")
			     : LAG_PING_NONE;
	p->snapshots_per_s = small_at(object, "snapshots_per_s");
	p->packets_per_s = small_at(object, "packets_per_s");
	p->snapshots = number_at(object, "snapshots");
	p->delayed = number_at(object, "delayed");
	read_way(json_object_get(object, "c2s"), &p->way[LAG_C2S]);
	read_way(json_object_get(object, "s2c"), &p->way[LAG_S2C]);
	read_frames(json_object_get(object, "frames"), &p->frames);
	read_verdict(json_object_get(object, "lag"), ret);
}

static void read_top_prefixes(const json_t *list, struct lag_file *ret)
{
	size_t n = json_array_size(list);

	for (size_t i = 0; i < n && i < LAG_FILE_PREFIXES; i++) {
		const json_t *row = json_array_get(list, i);
		struct lag_file_prefix *to = &ret->top_prefixes[ret->top_prefix_count++];

		text_at(row, "service", to->service, sizeof(to->service));
		text_at(row, "prefix", to->prefix, sizeof(to->prefix));
		to->share = json_number_value(json_object_get(row, "share"));
	}
}

/* NULL: it is not there, or not JSON. */
static json_t *load(const char *path, int *ret)
{
	FILE *file = fopen(path, "re");
	json_t *all;

	if (!file) {
		*ret = -errno;
		return NULL;
	}
	all = json_loadf(file, 0, NULL);
	fclose(file);
	*ret = all ? 0 : -EBADMSG;
	return all;
}

json_t *lag_file_read_decoded(const char *path, int64_t now_ns)
{
	int err;
	json_t *all = load(path, &err), *decoded;

	decoded = json_object_get(all, "decoded_by_service");
	if (!json_is_object(decoded) || lag_file_is_stale(time_at(all, "time"), now_ns))
		decoded = NULL;
	json_incref(decoded);
	json_decref(all);
	return decoded;
}

json_t *lag_file_read_players(const char *path, int64_t now_ns, int *ret)
{
	json_t *all = load(path, ret), *players = json_object_get(all, "players");

	if (all && !json_is_array(players))
		*ret = -EBADMSG;
	else if (all && lag_file_is_stale(time_at(all, "time"), now_ns))
		*ret = -ENOENT;
	players = *ret ? NULL : json_incref(players);
	json_decref(all);
	return players;
}

int lag_file_read(const char *path, struct lag_file **ret)
{
	struct lag_file *players;
	json_t *all, *rows;
	size_t n;
	int err;

	all = load(path, &err);
	if (!all)
		return err;
	rows = json_object_get(all, "players");
	n = json_array_size(rows);
	if (!json_is_array(rows) || n > ROWS_MAX) {
		json_decref(all);
		return -EBADMSG;
	}
	players = calloc(1, sizeof(*players) + n * sizeof(*players->rows));
	if (players) {
		players->time_ns = time_at(all, "time");
		read_top_prefixes(json_object_get(all, "top_prefixes"), players);
		players->count = n;
		for (size_t i = 0; i < n; i++)
			read_row(json_array_get(rows, i), &players->rows[i]);
		*ret = players;
	}
	json_decref(all);
	return players ? 0 : -ENOMEM;
}

void lag_file_path(const char *pin_dir, char ret[LAG_FILE_PATH_MAX])
{
	char words[LAG_FILE_PATH_MAX - sizeof(LAG_FILE_DIR "/players.json")];

	pin_words(pin_dir, words, sizeof(words));
	snprintf(ret, LAG_FILE_PATH_MAX, LAG_FILE_DIR "/players%s.json", words);
}

void lag_file_remove(const char *path)
{
	if (*path)
		unlink(path);
}
