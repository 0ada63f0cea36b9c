// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * trace_clients_write.c - the settings of clients as text and JSON: see trace_clients.h.
 */
#include <stdlib.h>
#include <string.h>

#include "decode/trace_clients_internal.h"
#include "lib/names.h"

static const char *const titles[SETTING_COUNT] = {
	[SETTING_RATE] = "rate",
	[SETTING_SNAPS] = "snaps",
	[SETTING_MAXPACKETS] = "cl_maxpackets",
	[SETTING_PACKETDUP] = "cl_packetdup",
	[SETTING_TIMENUDGE] = "cl_timenudge",
};

static int by_value(const void *a, const void *b)
{
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

	return x < y ? -1 : x > y;
}

/* False: there are too few for one. */
static bool median(const struct samples *s, int32_t *ret)
{
	static int32_t sorted[SAMPLES_KEPT];
	size_t n = s->count < SAMPLES_KEPT ? (size_t)s->count : SAMPLES_KEPT;

	if (n < 8)
		return false;
	memcpy(sorted, s->ms, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), by_value);
	*ret = sorted[n / 2];
	return true;
}

/* Which number of repeats most moves have; -1: too few moves. */
static int usual_dup(const struct client *p)
{
	uint64_t total = 0;
	int usual = 0;

	for (int i = 0; i <= DUPS_MAX; i++) {
		total += p->dups[i];
		if (p->dups[i] > p->dups[usual])
			usual = i;
	}
	return total < 8 ? -1 : usual;
}

/* A line: its name, its value or "unknown", and how it was read. */
struct row {
	const char *name, *key; /* in text, in JSON */
	char value[VALUE_MAX + 16]; /* empty: unknown */
	const char *how, *unknown; /* unknown: how, if it is; NULL: the same */
	bool none; /* it does not exist, which is known */
};

static void row_write(struct jsonl *json, const struct row *row, bool as_json)
{
	const char *how = !*row->value && row->unknown ? row->unknown : row->how;
	char text[96];

	if (!as_json) {
		char value[sizeof(row->value)] = "";

		/* A client may say what commands a terminal. */
		for (size_t i = 0; i < sizeof(value); i++)
			value[i] = row->value[i] && (row->value[i] < ' ' ||
						     row->value[i] > '~')
					   ? '?'
					   : row->value[i];
		snprintf(text, sizeof(text), "    %-16s %-10s ", row->name,
			 *value	     ? value
			 : row->none ? "none"
				     : "unknown");
		jsonl_text(json, text);
		jsonl_text(json, how);
		jsonl_text(json, "\n");
		return;
	}
	jsonl_text(json, ",\"");
	jsonl_text(json, row->key);
	jsonl_text(json, "\":{\"value\":");
	if (*row->value)
		jsonl_string(json, row->value, strlen(row->value));
	else
		jsonl_text(json, "null");
	jsonl_text(json, ",\"how\":\"");
	jsonl_text(json, how);
	jsonl_text(json, "\"}");
}

static void write_said(struct jsonl *json, const struct client *p, enum setting s,
		       const char *otherwise, bool as_json)
{
	struct row row = { .name = titles[s], .key = titles[s], .how = otherwise };

	/* Servers of the other protocols send snapshots at a rate of their own. */
	if (s == SETTING_SNAPS && p->family != FAMILY_QUAKE3) {
		row.how = "this protocol has no such setting";
		row.none = true;
	}

	memcpy(row.value, p->value[s], VALUE_MAX);
	if (*row.value)
		row.how = p->by_command[s] ? "the client said so in the game"
					   : "the client said so when it connected";
	row_write(json, &row, as_json);
}

static void write_packets(struct jsonl *json, const struct client *p, bool as_json)
{
	struct row row = { .name = "packets/s", .key = "packets_per_s" };
	int64_t ns = p->last_ns - p->first_ns;

	row.how = "less than a second was seen";
	if (ns >= SECOND_NS) {
		row.how = "mean of the datagrams seen; cl_maxpackets is no less";
		snprintf(row.value, sizeof(row.value), "%lld",
			 (long long)((double)(p->packets - 1) * 1e9 / (double)ns + 0.5));
	}
	row_write(json, &row, as_json);
	row = (struct row){ .name = "most packets/s", .key = "packets_per_s_most" };
	row.how = "the most in one second";
	if (p->packets)
		snprintf(row.value, sizeof(row.value), "%u", p->most);
	row_write(json, &row, as_json);
}

static void write_dup(struct jsonl *json, const struct client *p, bool as_json)
{
	struct row row = { .name = "repeats", .key = "repeats" };
	int dup = usual_dup(p);

	row.how = "no user command can be known again, or too few were seen";
	if (dup >= 0) {
		row.how = p->family == FAMILY_QUAKE3
				  ? "earlier datagrams of which a move repeats the "
				    "commands: cl_packetdup"
				  : "earlier datagrams of which one repeats the moves";
		snprintf(row.value, sizeof(row.value), "%d", dup);
	} else if (p->fixed) {
		row.how = "commands before the last in each move: the protocol's";
		snprintf(row.value, sizeof(row.value), "%llu",
			 (unsigned long long)p->fixed);
	}
	row_write(json, &row, as_json);
}

static void write_median(struct jsonl *json, const struct samples *s, struct row row,
			 bool as_json)
{
	int32_t ms;

	if (median(s, &ms))
		snprintf(row.value, sizeof(row.value), as_json ? "%d" : "%d ms", ms);
	row_write(json, &row, as_json);
}

static void write_address(struct jsonl *json, const struct record_address *a)
{
	jsonl_text(json, a->length == 16 ? "[" : "");
	jsonl_host(json, a->bytes, a->length);
	jsonl_text(json, a->length == 16 ? "]:" : ":");
	jsonl_uint(json, a->port);
}

static void write_client(struct jsonl *json, const struct client *p, const char *file,
			 bool as_json)
{
	jsonl_text(json, as_json ? "{\"client\":\"" : "client ");
	write_address(json, &p->client);
	jsonl_text(json, as_json ? "\",\"server\":\"" : " of server ");
	write_address(json, &p->server);
	jsonl_text(json, as_json ? "\",\"protocol\":\"" : ", ");
	jsonl_text(json, family_name(p->family));
	if (as_json && file) {
		jsonl_text(json, "\",\"file\":");
		jsonl_string(json, file, strlen(file));
	} else {
		jsonl_text(json, as_json ? "\"" : "\n");
	}
	write_said(json, p, SETTING_RATE, "not seen: a connect or userinfo has it",
		   as_json);
	write_said(json, p, SETTING_SNAPS, "not seen: a connect or userinfo has it",
		   as_json);
	write_said(json, p, SETTING_MAXPACKETS, "not on the wire: see packets/s",
		   as_json);
	write_packets(json, p, as_json);
	write_said(json, p, SETTING_PACKETDUP, "not on the wire: see repeats", as_json);
	write_dup(json, p, as_json);
	write_said(json, p, SETTING_TIMENUDGE,
		   "not on the wire: moves the command lead, as delay does", as_json);
	write_median(json, &p->lead,
		     (struct row){ .name = "command lead",
				   .key = "command_lead_ms",
				   .how = "median of a command's time less that of the "
					  "snapshot acknowledged with it",
				   .unknown =
					   "no command on this wire has a time, or too "
					   "few were seen" },
		     as_json);
	write_median(json, &p->age,
		     (struct row){ .name = "acknowledged",
				   .key = "ack_age_ms",
				   .how = "median from a server's datagram to its first "
					  "acknowledgement, where this was captured",
				   .unknown =
					   "snapshots are not acknowledged by number on "
					   "this wire, or too few were seen" },
		     as_json);
	jsonl_text(json, as_json ? "}\n" : "");
}

void trace_clients_write(const struct trace_clients *c, struct jsonl *json,
			 const char *file, bool as_json)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->clients[i]->packets || *c->clients[i]->value[SETTING_RATE])
			write_client(json, c->clients[i], file, as_json);
	if (!c->passed_over)
		return;
	jsonl_text(json, as_json ? "{\"left_out\":" : "datagrams of further clients: ");
	jsonl_uint(json, c->passed_over);
	if (as_json && file) {
		jsonl_text(json, ",\"file\":");
		jsonl_string(json, file, strlen(file));
	}
	jsonl_text(json, as_json ? "}\n" : "\n");
}

void trace_clients_end(struct trace_clients **c, struct jsonl *json, const char *file,
		       bool as_json)
{
	if (*c)
		trace_clients_write(*c, json, file, as_json);
	trace_clients_free(*c);
	*c = NULL;
}

static const struct json_key setting_keys[] = {
	JSON_KEY(
		"value", "string|null", NULL,
		"As the client says it, or as it was measured; null: unknown, or the protocol has none."),
	JSON_KEY("how", "string", NULL, "How it was read, or why it is unknown."),
	JSON_END,
};

#define SETTING(name, meaning) JSON_OBJECT(name, "object", NULL, meaning, setting_keys)

const struct json_key trace_left_out_keys[] = {
	JSON_KEY("left_out", "integer", "datagrams",
		 "Datagrams of clients beyond the first 64, which have no object."),
	JSON_KEY("file", "string?", NULL, "Name of the file, where several are decoded."),
	JSON_END,
};

const struct json_key trace_client_keys[] = {
	JSON_KEY("client", "string", NULL, "Address and port of the client."),
	JSON_KEY("server", "string", NULL, "Address and port of the server."),
	JSON_KEY("protocol", "string", NULL, "Protocol of their game."),
	JSON_KEY("file", "string?", NULL, "Name of the file, where several are decoded."),
	SETTING("rate", "Bytes per second that the client asks for."),
	SETTING("snaps", "Snapshots per second that the client asks for."),
	SETTING("cl_maxpackets", "The setting itself, where an engine sends it."),
	SETTING("packets_per_s", "Datagrams of the client per second, on average."),
	SETTING("packets_per_s_most", "The most of its datagrams in one second."),
	SETTING("cl_packetdup", "The setting itself, where an engine sends it."),
	SETTING("repeats", "How many earlier datagrams' user commands are sent again."),
	SETTING("cl_timenudge", "The setting itself, where an engine sends it."),
	SETTING("command_lead_ms",
		"Milliseconds that a command's time is ahead of the snapshot that is acknowledged with it."),
	SETTING("ack_age_ms",
		"Milliseconds from a server's datagram to its first acknowledgement."),
	JSON_END,
};
