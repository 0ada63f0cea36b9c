// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * beside_tell.c - the result of a trial beside a running shield, as text and as JSON.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "capture/tap.h"
#include "config/config_diff.h"
#include "replay/beside.h"

#define CHANGES_SHOWN 40 /* lines; JSON has all */

typedef unsigned long long number;

/* --- rows -------------------------------------------------------------------------- */

struct sorted {
	const struct beside_row *row;
};

/* Refused ones come first, then the rows with more datagrams. */
static int row_order(const void *left, const void *right)
{
	const struct beside_row *a = ((const struct sorted *)left)->row;
	const struct beside_row *b = ((const struct sorted *)right)->row;

	if (a->refuses != b->refuses)
		return a->refuses ? -1 : 1;
	if (a->datagrams != b->datagrams)
		return a->datagrams > b->datagrams ? -1 : 1;
	return a < b ? -1 : a > b;
}

static size_t rows_sort(const struct beside *b, struct sorted ret[BESIDE_ROWS])
{
	size_t n = 0;

	for (size_t i = 0; i < BESIDE_ROWS; i++)
		if (b->rows.rows[i].used)
			ret[n++].row = &b->rows.rows[i];
	qsort(ret, n, sizeof(*ret), row_order);
	return n;
}

static void address_format(const struct record_address *end, char ret[INET6_ADDRSTRLEN])
{
	inet_ntop(end->length == 4 ? AF_INET : AF_INET6, end->bytes, ret,
		  INET6_ADDRSTRLEN);
}

static size_t first_count(const struct beside_row *row)
{
	return row->client_count < BESIDE_FIRST ? row->client_count : BESIDE_FIRST;
}

/* --- text -------------------------------------------------------------------------- */

struct lines {
	FILE *out;
	size_t count;
};

static void change_print(const struct config_change *change, void *context)
{
	struct lines *lines = context;
	char text[CONFIG_CHANGE];

	if (lines->count++ >= CHANGES_SHOWN)
		return;
	config_change_format(change, text);
	fprintf(lines->out, "  %s\n", text);
}

static void changes_print(const struct config *now, const struct config *other, FILE *out)
{
	struct lines lines = { .out = out };

	config_diff(now, other, change_print, &lines);
	if (!lines.count)
		fprintf(out, "  nothing differs from what is in force\n");
	if (lines.count > CHANGES_SHOWN)
		fprintf(out, "  and %zu more: --json has all\n",
			lines.count - CHANGES_SHOWN);
}

static const char *text(const char *word)
{
	return word ? word : "-";
}

static void clients_print(const struct beside_row *row, FILE *out)
{
	char address[INET6_ADDRSTRLEN];

	fprintf(out, "%zu%s client%s:", row->client_count,
		row->client_count == BESIDE_CLIENTS ? " or more" : "",
		row->client_count == 1 ? "" : "s");
	for (size_t i = 0; i < first_count(row); i++) {
		const struct beside_client *c = &row->first[i];

		address_format(&c->end, address);
		fprintf(out, c->end.length == 4 ? "%s %s:%u" : "%s [%s]:%u", i ? "," : "",
			address, c->end.port);
		if (c->state)
			fprintf(out, " (%s)", c->state);
	}
	fputs(row->client_count > BESIDE_FIRST ? ", ...\n" : "\n", out);
}

static void row_print(const struct beside_row *row, FILE *out)
{
	const struct replay_words *now = &row->now, *then = &row->then;

	fprintf(out, "  %-4s%-16s %-20s %s %s -> ", row->out ? "out" : "in",
		text(now->service ? now->service : then->service),
		text(now->kind ? now->kind : then->kind), text(now->verdict),
		text(now->reason));
	if (now->service && then->service && strcmp(now->service, then->service) != 0)
		fprintf(out, "%s ", then->service);
	fprintf(out, "%s %s: %llu datagram%s of ", text(then->verdict),
		text(then->reason), (number)row->datagrams,
		row->datagrams == 1 ? "" : "s");
	clients_print(row, out);
}

static void notes_print(const struct beside *b, FILE *out)
{
	const struct beside_rows *rows = &b->rows;

	if (b->share < TAP_SHARES)
		fprintf(out,
			"Only %u of %u networks of clients were judged: limits of whole "
			"services are judged as too wide, all others exactly.\n",
			b->share, (unsigned int)TAP_SHARES);
	if (b->lost)
		fprintf(out,
			"%llu datagrams were not judged, for want of time (of them for a "
			"full queue: %llu): limits are judged as too wide.\n",
			(number)b->lost, (number)b->queue_full);
	if (rows->doubtful)
		fprintf(out,
			"%llu datagrams are not compared: the shield has let them pass "
			"by what a copy of it does not know.\n",
			(number)rows->doubtful);
	if (rows->skipped)
		fprintf(out,
			"%llu datagrams are not compared: they are too long, or the "
			"server would not have sent them.\n",
			(number)rows->skipped);
	if (rows->more)
		fprintf(out, "%llu datagrams differ in further ways.\n",
			(number)rows->more);
	fputs("Datagrams that the shield refuses or answers itself are not judged.\n",
	      out);
}

void beside_print(const struct beside *b, const char *file, const struct config *now,
		  const struct config *other, FILE *out)
{
	struct sorted rows[BESIDE_ROWS] = { { NULL } };
	size_t n = rows_sort(b, rows);

	fprintf(out, "trial of '%s'%s after %.0f seconds; nothing was changed\n", file,
		b->interrupted ? ", interrupted" : "", b->seconds);
	if (b->ended)
		fprintf(out, "The shield was %s: the rest was not tried.\n", b->ended);
	changes_print(now, other, out);
	fprintf(out,
		"%llu datagrams of services pass now: the file would refuse %llu of them, and "
		"decide %llu otherwise.\n",
		(number)b->rows.judged, (number)b->rows.refused,
		(number)(b->rows.differ - b->rows.refused));
	for (size_t i = 0; i < n; i++)
		row_print(rows[i].row, out);
	notes_print(b, out);
}

/* --- JSON -------------------------------------------------------------------------- */

static const struct json_key then_keys[] = {
	JSON_KEY("service", "string|null", NULL, "Service that has the datagrams."),
	JSON_KEY("verdict", "string|null", NULL, "`pass`, `drop` or `respond`."),
	JSON_KEY("reason", "string|null", NULL, "Reason of the verdict."),
	JSON_END,
};

static const struct json_key first_keys[] = {
	JSON_KEY("address", "string", NULL, "Address of the client."),
	JSON_KEY("port", "integer", NULL, "Its port."),
	JSON_KEY(
		"state", "string|null", NULL,
		"`player`, `validated` or `invited`, by the running shield; null: none of them."),
	JSON_END,
};

static const struct json_key row_keys[] = {
	JSON_KEY("direction", "string", NULL,
		 "`in`: the datagrams come to a server; `out`: they leave it."),
	JSON_KEY("service", "string|null", NULL, "Service that has the datagrams now."),
	JSON_KEY("kind", "string|null", NULL, "Kind of datagram."),
	JSON_KEY("verdict", "string|null", NULL, "Verdict now."),
	JSON_KEY("reason", "string|null", NULL, "Reason of the verdict now."),
	JSON_OBJECT("then", "object", NULL, "The decision of the other configuration.",
		    then_keys),
	JSON_KEY("refused", "boolean", NULL,
		 "The datagrams pass now, and would not then."),
	JSON_KEY("datagrams", "integer", "datagrams", "Number of datagrams."),
	JSON_KEY("bytes", "integer", "bytes", "Their frames."),
	JSON_KEY("clients", "integer", "clients",
		 "Different clients, by address and port; 64: or more."),
	JSON_OBJECT("first", "object[]", NULL, "The first of them.", first_keys),
	JSON_END,
};

static const struct json_key changed_keys[] = {
	JSON_KEY(
		"key", "string", NULL,
		"Key as `--set` takes it; `service.NAME` for a whole service; a list for one network."),
	JSON_KEY("before", "string|null", NULL, "Its value now; null: it is not there."),
	JSON_KEY("after", "string|null", NULL, "Its value in the other configuration."),
	JSON_END,
};

const struct json_key beside_json_keys[] = {
	JSON_KEY("file", "string", NULL, "File of the other configuration."),
	JSON_KEY("seconds", "number", "seconds", "Length of the trial."),
	JSON_KEY("interrupted", "boolean", NULL,
		 "A signal or what was done to the shield has ended it."),
	JSON_KEY(
		"ended", "string|null", NULL,
		"Change of the shield that ended it: `reloaded`, `detached` or `replaced`, as by an upgrade; null: none."),
	JSON_KEY("judged", "integer", "datagrams",
		 "Datagrams of services that pass now, and that are compared."),
	JSON_KEY("refused", "integer", "datagrams",
		 "Number of these that the other configuration refuses."),
	JSON_KEY("differ", "integer", "datagrams",
		 "Number of these that it decides differently, refused ones included."),
	JSON_KEY(
		"doubtful", "integer", "datagrams",
		"Datagrams that are not compared: a copy of the shield would have refused them, so it lacks what the shield knows."),
	JSON_KEY("skipped", "integer", "datagrams",
		 "Datagrams that are not compared: too long, or not sent then."),
	JSON_KEY("lost", "integer", "datagrams",
		 "Datagrams that were not judged, for want of time or room."),
	JSON_KEY(
		"queue_full", "integer", "datagrams",
		"Number of these that the kernel dropped, its queue for the trial being full."),
	JSON_KEY("more", "integer", "datagrams",
		 "Decided differently in ways that `rows` has no room for."),
	JSON_KEY(
		"share", "number", NULL,
		"Share of the clients' networks that was judged in the end, 0 to 1. Below 1 limits of whole services are judged as too wide."),
	JSON_OBJECT("changes", "object[]", NULL,
		    "Keys in which the two configurations differ.", changed_keys),
	JSON_OBJECT("rows", "object[]", NULL,
		    "Decisions that differ: refused ones first, then by datagrams.",
		    row_keys),
	JSON_END,
};

static void change_add(const struct config_change *change, void *context)
{
	json_array_append_new(context,
			      json_pack("{s:s, s:s?, s:s?}", "key", change->key, "before",
					change->before, "after", change->after));
}

static json_t *first_to_json(const struct beside_row *row)
{
	json_t *array = json_array();
	char address[INET6_ADDRSTRLEN];

	for (size_t i = 0; i < first_count(row); i++) {
		const struct beside_client *c = &row->first[i];

		address_format(&c->end, address);
		json_array_append_new(array,
				      json_pack("{s:s, s:i, s:s?}", "address", address,
						"port", c->end.port, "state", c->state));
	}
	return array;
}

static json_t *row_to_json(const struct beside_row *row)
{
	const struct replay_words *now = &row->now, *then = &row->then;

	return json_pack(
		"{s:s, s:s?, s:s?, s:s?, s:s?, s:{s:s?, s:s?, s:s?}, s:b, s:I, s:I, s:I, "
		"s:o}",
		"direction", row->out ? "out" : "in", "service", now->service, "kind",
		now->kind ? now->kind : then->kind, "verdict", now->verdict, "reason",
		now->reason, "then", "service", then->service, "verdict", then->verdict,
		"reason", then->reason, "refused", row->refuses, "datagrams",
		(json_int_t)row->datagrams, "bytes", (json_int_t)row->bytes, "clients",
		(json_int_t)row->client_count, "first", first_to_json(row));
}

json_t *beside_to_json(const struct beside *b, const struct config *now,
		       const struct config *other)
{
	struct sorted sorted[BESIDE_ROWS] = { { NULL } };
	const struct beside_rows *r = &b->rows;
	json_t *rows = json_array(), *changes = json_array();
	size_t n = rows_sort(b, sorted);

	for (size_t i = 0; i < n; i++)
		json_array_append_new(rows, row_to_json(sorted[i].row));
	config_diff(now, other, change_add, changes);
	return json_pack(
		"{s:f, s:b, s:s?, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:o, s:o}",
		"seconds", b->seconds, "interrupted", b->interrupted, "ended", b->ended,
		"judged", (json_int_t)r->judged, "refused", (json_int_t)r->refused,
		"differ", (json_int_t)r->differ, "doubtful", (json_int_t)r->doubtful,
		"skipped", (json_int_t)r->skipped, "lost", (json_int_t)b->lost,
		"queue_full", (json_int_t)b->queue_full, "more", (json_int_t)r->more,
		"share", (double)b->share / TAP_SHARES, "changes", changes, "rows", rows);
}
