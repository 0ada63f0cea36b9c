// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * beside_rows.c - counts what two configurations decide differently, see beside.h. Pure.
 */
#include "replay/beside.h"
#include "replay/replay_internal.h"

/* Names are of tables, so the same ones are the same pointers. */
static bool same_words(const struct replay_words *a, const struct replay_words *b)
{
	return a->service == b->service && a->kind == b->kind &&
	       a->verdict == b->verdict && a->reason == b->reason;
}

/* The row of the difference; NULL: there is no room. */
static struct beside_row *row_of(struct beside_rows *rows, const struct replay_packet *p)
{
	const struct replay_words now = replay_words(&p->by[0]);
	const struct replay_words then = replay_words(&p->by[1]);

	for (size_t i = 0; i < BESIDE_ROWS; i++) {
		struct beside_row *row = &rows->rows[i];

		if (!row->used)
			*row = (struct beside_row){
				.used = true,
				.out = p->out,
				.now = now,
				.then = then,
				.refuses = p->by[0].verdict.passes &&
					   !p->by[1].verdict.passes,
			};
		if (row->out == p->out && same_words(&row->now, &now) &&
		    same_words(&row->then, &then) &&
		    row->refuses == (p->by[0].verdict.passes && !p->by[1].verdict.passes))
			return row;
	}
	return NULL;
}

/* True: @client is new to the row, which has room to tell it apart. */
static bool client_is_new(struct beside_row *row, uint64_t client)
{
	for (size_t i = 0; i < row->client_count; i++)
		if (row->clients[i] == client)
			return false;
	if (row->client_count == BESIDE_CLIENTS)
		return false;
	row->clients[row->client_count++] = client;
	return true;
}

void beside_add(struct beside_rows *rows, const struct replay_packet *p,
		const char *(*state)(void *context, const struct record_address *client),
		void *context)
{
	const struct record_address *client = p->out ? &p->destination : &p->source;
	struct beside_row *row;

	if (!p->by[0].service && !p->by[1].service)
		return;
	if (p->doubtful || p->by[0].skip || p->by[1].skip) {
		p->doubtful ? rows->doubtful++ : rows->skipped++;
		return;
	}
	rows->judged++;
	if (!p->differs)
		return;
	rows->differ++;
	rows->refused += p->by[0].verdict.passes && !p->by[1].verdict.passes;
	row = row_of(rows, p);
	if (!row) {
		rows->more++;
		return;
	}
	row->datagrams++;
	row->bytes += p->length;
	if (p->has_ends && client_is_new(row, flow_hash(client, 0)) &&
	    row->client_count <= BESIDE_FIRST)
		row->first[row->client_count - 1] =
			(struct beside_client){ *client, state(context, client) };
}
