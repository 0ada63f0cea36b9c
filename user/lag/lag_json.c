// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * lag_json.c - a player as JSON, in players.json and in the report. See lag_json.h.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "lag/lag_json.h"
#include "lib/names.h"

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

static const struct json_key counts_keys[] = {
	JSON_KEY("c2s_received", "integer", "messages", "From the player, that arrived."),
	JSON_KEY("c2s_lost", "integer", "messages", "From the player, that did not."),
	JSON_KEY("s2c_received", "integer", "messages", "To the player, that arrived."),
	JSON_KEY("s2c_lost", "integer", "messages", "To the player, that did not."),
	JSON_KEY("snapshots", "integer", "snapshots", "Sent to the player."),
	JSON_KEY("held_ms", "integer", "milliseconds",
		 "Nothing came from the player, then all at once, or it was lost."),
	JSON_KEY("late_ms", "integer", "milliseconds",
		 "The client sent, and the server did not."),
	JSON_KEY("rate_ms", "integer", "milliseconds",
		 "The same, by the client's setting of its rate."),
	JSON_KEY("silent_ms", "integer", "milliseconds", "The client sent nothing."),
	JSON_KEY("ping_ms", "integer|null", "milliseconds", "Mean of the minute."),
	JSON_KEY("ping_least_ms", "integer|null", "milliseconds",
		 "Lowest mean of the last ten minutes."),
	JSON_END,
};

const struct json_key lag_verdict_keys[] = {
	JSON_KEY("minute", "number", "seconds", "Begin of the minute, since 1970."),
	JSON_KEY("seconds", "number", "seconds", "Length of the minute."),
	JSON_KEY(
		"cause", "string", NULL,
		"`none` (no lag), `server`, `uplink`, `attack`, `host`, `shield`, `player` or `unknown`."),
	JSON_KEY("symptom", "string|null", NULL,
		 "`loss`, `held`, `delay`, `late`, `rate` or `silence`; null: none."),
	JSON_KEY("direction", "string|null", NULL,
		 "`c2s` or `s2c`; null: the symptom does not tell."),
	JSON_KEY("value", "number|null", "ratio or seconds",
		 "Loss as a ratio, other symptoms in seconds."),
	JSON_KEY("common", "number|null", "ratio or seconds",
		 "The value that three of four of the compared players have or exceed."),
	JSON_KEY("compared", "integer", "players",
		 "Players with a known value, this one included."),
	JSON_KEY("attack", "string|null", NULL,
		 "Sort of the attack that went on meanwhile."),
	JSON_KEY("text", "string", NULL, "These figures as words."),
	JSON_KEY(
		"history", "string", NULL,
		"One letter for each of the last 60 minutes, oldest first: `.` none, `S` server, `U` uplink, `A` attack, `H` host, `D` shield, `P` player, `?` unknown."),
	JSON_OBJECT("counts", "object", NULL, "The counts of the minute.", counts_keys),
	JSON_END,
};

const struct json_key lag_player_keys[] = {
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
	JSON_OBJECT(
		"lag", "object?", NULL,
		"The cause of lag in the last whole minute; absent before and in `decode`.",
		lag_verdict_keys),
	JSON_END,
};

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
	lag_json_string(json, "],\"marks\":", marks);
}

static void write_way(struct jsonl *json, const char *key, const struct lag_direction *d)
{
	jsonl_text(json, key);
	lag_json_number(json, "{\"received\":", d->received);
	lag_json_number(json, ",\"lost\":", d->lost);
	jsonl_text(json, ",\"loss\":");
	jsonl_float(json, (float)lag_loss(d));
	lag_json_number(json, ",\"duplicated\":", d->repeated);
	lag_json_number(json, ",\"late\":", d->late);
	lag_json_number(json, ",\"unknown\":", d->unsure);
	write_ring(json, d);
	jsonl_text(json, "}");
}

static void write_frames(struct jsonl *json, const struct lag_frames *f)
{
	uint64_t n = f->taken < LAG_SAMPLES ? f->taken : LAG_SAMPLES;

	lag_json_number(json, ",\"frames\":{\"drawn\":", f->taken);
	lag_json_number(json, ",\"extrapolated\":", f->extrapolated);
	jsonl_text(json, ",\"extrapolation\":");
	jsonl_float(json, (float)lag_extrapolation(f));
	jsonl_text(json, ",\"ms\":[");
	for (uint64_t i = 0; i < n; i++) {
		jsonl_text(json, i ? "," : "");
		jsonl_int(json, f->ring[(f->taken - n + i) % LAG_SAMPLES]);
	}
	jsonl_text(json, "]}");
}

/* Write @key and @value, or null if it is not @known. */
static void number_or_null(struct jsonl *json, const char *key, double value, bool known)
{
	jsonl_text(json, key);
	if (known)
		jsonl_float(json, (float)value);
	else
		jsonl_text(json, "null");
}

/* The same of a text; NULL: null. */
static void string_or_null(struct jsonl *json, const char *key, const char *value)
{
	if (value)
		lag_json_string(json, key, value);
	else {
		jsonl_text(json, key);
		jsonl_text(json, "null");
	}
}

static void write_counts(struct jsonl *json, const struct lag_counts *c)
{
	lag_json_number(json, ",\"counts\":{\"c2s_received\":", c->received[LAG_C2S]);
	lag_json_number(json, ",\"c2s_lost\":", c->lost[LAG_C2S]);
	lag_json_number(json, ",\"s2c_received\":", c->received[LAG_S2C]);
	lag_json_number(json, ",\"s2c_lost\":", c->lost[LAG_S2C]);
	lag_json_number(json, ",\"snapshots\":", c->snapshots);
	lag_json_number(json, ",\"held_ms\":", c->held_ms);
	lag_json_number(json, ",\"late_ms\":", c->late_ms);
	lag_json_number(json, ",\"rate_ms\":", c->rate_ms);
	lag_json_number(json, ",\"silent_ms\":", c->silent_ms);
	number_or_null(json, ",\"ping_ms\":", c->ping_ms, c->pings);
	number_or_null(json, ",\"ping_least_ms\":", c->ping_least_ms,
		       c->ping_least_ms != LAG_PING_NONE);
	jsonl_text(json, "}");
}

static void write_verdict(struct jsonl *json, const struct lag_verdict *v,
			  const char *history)
{
	static const char *const ways[] = { [LAG_C2S] = "c2s", [LAG_S2C] = "s2c", NULL };
	char text[LAG_TEXT];

	jsonl_text(json, ",\"lag\":{\"minute\":");
	jsonl_time(json, v->time_ns);
	jsonl_text(json, ",\"seconds\":");
	jsonl_float(json, (float)v->length_ms / 1000);
	lag_json_string(json, ",\"cause\":", lag_cause_name(v->cause));
	string_or_null(json, ",\"symptom\":", lag_symptom_name(v->symptom));
	string_or_null(json, ",\"direction\":", ways[v->way]);
	number_or_null(json, ",\"value\":", v->value, v->symptom);
	number_or_null(json, ",\"common\":", v->common, v->symptom);
	lag_json_number(json, ",\"compared\":", v->compared);
	string_or_null(json, ",\"attack\":", v->attack);
	lag_verdict_text(v, text);
	lag_json_string(json, ",\"text\":", text);
	lag_json_string(json, ",\"history\":", history);
	write_counts(json, &v->counts);
	jsonl_text(json, "}");
}

void lag_player_json(struct jsonl *json, const struct lag_player *p,
		     const struct lag_extra *extra)
{
	const char *service = extra ? extra->service : NULL;
	int64_t ahead_ns = extra ? extra->ahead_ns : 0;
	char address[INET6_ADDRSTRLEN] = "";

	if (p->client.length)
		inet_ntop(p->client.length == 4 ? AF_INET : AF_INET6, p->client.bytes,
			  address, sizeof(address));
	jsonl_text(json, "{");
	if (service) {
		lag_json_string(json, "\"service\":", service);
		jsonl_text(json, ",");
	}
	lag_json_string(json, "\"protocol\":", family_name(p->family));
	if (p->dialect)
		lag_json_string(json, ",\"dialect\":", p->dialect);
	lag_json_string(json, ",\"address\":", address);
	lag_json_number(json, ",\"port\":", p->client.port);
	lag_json_string(json, ",\"name\":", p->name);
	lag_json_string(json, ",\"map\":", p->map);
	jsonl_text(json, ",\"since\":");
	jsonl_time(json, p->since_ns + ahead_ns);
	jsonl_text(json, ",\"last\":");
	jsonl_time(json, p->last_ns + ahead_ns);
	jsonl_text(json, ",\"ping_ms\":");
	if (p->ping_ms == LAG_PING_NONE)
		jsonl_text(json, "null");
	else
		jsonl_uint(json, p->ping_ms);
	lag_json_number(json, ",\"snapshots_per_s\":", p->snapshots_per_s);
	lag_json_number(json, ",\"packets_per_s\":", p->packets_per_s);
	lag_json_number(json, ",\"snapshots\":", p->snapshots);
	lag_json_number(json, ",\"delayed\":", p->delayed);
	write_way(json, ",\"c2s\":", &p->way[LAG_C2S]);
	write_way(json, ",\"s2c\":", &p->way[LAG_S2C]);
	if (p->frames.taken)
		write_frames(json, &p->frames);
	if (extra && extra->verdict)
		write_verdict(json, extra->verdict, extra->history);
	jsonl_text(json, "}");
}
