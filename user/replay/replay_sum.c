// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * replay_sum.c - what a replay counts, and its tables: packets by service, direction,
 * kind and reason, with the numbers of the first ones; and what two configurations decide
 * differently.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/names.h"
#include "lib/util.h"
#include "replay/replay_internal.h"

static const struct {
	const char *name, *meaning;
} skips[] = { [SKIP_NONE] = { "", "" },
#define AS_ROW(skip, name, meaning) [SKIP_##skip] = { name, meaning },
	      REPLAY_SKIPS(AS_ROW)
#undef AS_ROW
};

struct replay_words replay_words(const struct replay_verdict *v)
{
	const struct trial_verdict *t = &v->verdict;

	if (v->skip)
		return (struct replay_words){ .reason = skips[v->skip].name };
	if (!v->service)
		return (struct replay_words){
			.verdict = verdict_name(t->passes ? VERDICT_PASS : VERDICT_DROP),
			.reason = other_name(t->other),
		};
	return (struct replay_words){
		.service = v->service->name,
		.protocol = family_name((enum wire_family)v->service->family),
		.kind = kind_name(t->kind),
		.verdict = verdict_name(reason_verdict(t->reason)),
		.reason = reason_name(t->reason),
	};
}

/* --- counting --------------------------------------------------------------------- */

static void cell_add(struct cell *cell, const struct replay_packet *p)
{
	if (cell->packets < FIRST_MAX) {
		cell->first[cell->packets].file = p->file_number;
		cell->first[cell->packets].number = p->number;
	}
	cell->packets++;
	cell->bytes += p->length;
}

static struct cell *cell_of(struct sum *sum, const struct replay_packet *p)
{
	const struct replay_verdict *v = &p->by[0];
	__u32 number;

	if (v->skip)
		return &sum->skips[v->skip];
	if (!v->service)
		return &sum->others[p->out][v->verdict.other];
	number = counter_number(p->out ? DIRECTION_S2C : DIRECTION_C2S, v->verdict.kind,
				v->verdict.reason);
	if (number >= COUNTERS)
		return &sum->others[p->out]
				   [OTHER_UNPARSED]; /* cannot be: it was counted */
	if (!sum->cells[v->verdict.slot])
		sum->cells[v->verdict.slot] = calloc(COUNTERS, sizeof(struct cell));
	return sum->cells[v->verdict.slot] ? &sum->cells[v->verdict.slot][number] : NULL;
}

/* Names are of tables, so the same ones are the same pointers. */
static bool same_words(const struct replay_words *a, const struct replay_words *b)
{
	return a->service == b->service && a->kind == b->kind &&
	       a->verdict == b->verdict && a->reason == b->reason;
}

static uint64_t words_hash(const struct replay_words *w)
{
	return ((uintptr_t)w->service * 3 + (uintptr_t)w->kind * 5 +
		(uintptr_t)w->reason) *
	       0x9e3779b97f4a7c15ull;
}

static struct cell *change_of(struct sum *sum, const struct replay_packet *p)
{
	struct replay_words was = replay_words(&p->by[0]), is = replay_words(&p->by[1]);
	uint64_t at = (words_hash(&was) ^ words_hash(&is) >> 1) >> 32;

	for (int tries = 0; tries < 64; tries++, at++) {
		struct change *c = &sum->changes[at % CHANGES_MAX];

		if (!c->used)
			*c = (struct change){ true, p->out, was, is, { 0 } };
		if (c->out == p->out && same_words(&c->was, &was) &&
		    same_words(&c->is, &is))
			return &c->cell;
	}
	return &sum->more;
}

int sum_add(struct sum *sum, const struct replay_packet *p, bool other)
{
	struct cell *cell = cell_of(sum, p);

	if (!cell) {
		log_error("replay: not enough memory");
		return -ENOMEM;
	}
	cell_add(cell, p);
	sum->packets++;
	if (!p->by[0].skip && p->captured < p->length)
		cell_add(&sum->cut, p);
	if (!other || !p->differs)
		return 0;
	sum->differ++;
	cell_add(change_of(sum, p), p);
	return 0;
}

void sum_free(struct sum *sum)
{
	for (__u32 slot = 0; slot < SERVICES_MAX; slot++)
		free(sum->cells[slot]);
}

/* --- tables ------------------------------------------------------------------------ */

struct row {
	const char *direction, *kind, *verdict, *reason;
	const struct cell *cell;
};

/* Arriving before leaving, then by packets. */
static int row_order(const void *left, const void *right)
{
	const struct row *a = left, *b = right;

	if (*a->direction != *b->direction)
		return *a->direction < *b->direction ? -1 : 1;
	if (a->cell->packets != b->cell->packets)
		return a->cell->packets > b->cell->packets ? -1 : 1;
	return a->cell < b->cell ? -1 : 1;
}

/* "17 18 19", or with several files "1:17 1:18 2:3". */
static void first_print(const struct sum *sum, const struct cell *cell, FILE *out)
{
	for (uint64_t i = 0; i < cell->packets && i < FIRST_MAX; i++) {
		if (sum->files > 1)
			fprintf(out, " %u:%llu", cell->first[i].file + 1,
				(unsigned long long)cell->first[i].number);
		else
			fprintf(out, " %llu", (unsigned long long)cell->first[i].number);
	}
	fputc('\n', out);
}

static void heading(FILE *out, const char *title)
{
	fprintf(out, "\n%s\n  %-4s%-27s%-8s%-18s%12s%15s  first packets\n", title, "",
		"kind", "verdict", "reason", "packets", "bytes");
}

static void row_print(const struct sum *sum, const struct row *row, FILE *out)
{
	fprintf(out, "  %-4s%-27s%-8s%-18s%12llu%15llu ", row->direction, row->kind,
		row->verdict, row->reason, (unsigned long long)row->cell->packets,
		(unsigned long long)row->cell->bytes);
	first_print(sum, row->cell, out);
}

static size_t rows_of(const struct cell *cells, struct row *rows)
{
	size_t n = 0;

	for (int out = 0; out < 2; out++) {
		for (int kind = 0; kind < KIND_COUNT; kind++) {
			for (int reason = 0; reason < REASON_COUNT; reason++) {
				__u32 number = counter_number(
					out ? DIRECTION_S2C : DIRECTION_C2S,
					(enum wire_kind)kind, (enum reason)reason);

				if (number >= COUNTERS || !cells[number].packets)
					continue;
				rows[n++] = (struct row){
					out ? "out" : "in",
					kind_name((enum wire_kind)kind),
					verdict_name(reason_verdict((enum reason)reason)),
					reason_name((enum reason)reason),
					&cells[number],
				};
			}
		}
	}
	return n;
}

static void service_print(const struct sum *sum, __u32 slot, struct row *rows, FILE *out)
{
	const struct service *s = &sum->services[0][slot];
	size_t n = rows_of(sum->cells[slot], rows);
	char title[NAME_MAX_LEN + 64];

	snprintf(title, sizeof(title), "service %s (%s)%s", s->name,
		 family_name((enum wire_family)s->family),
		 s->observe ? ", only observed: nothing is dropped" : "");
	heading(out, title);
	qsort(rows, n, sizeof(*rows), row_order);
	for (size_t i = 0; i < n; i++)
		row_print(sum, &rows[i], out);
}

static void others_print(const struct sum *sum, FILE *out)
{
	bool begun = false;

	for (int leaves = 0; leaves < 2; leaves++) {
		for (int i = 0; i < OTHER_COUNT; i++) {
			const struct cell *cell = &sum->others[leaves][i];
			const struct row row = {
				leaves ? "out" : "in", other_name((enum other)i),
				verdict_name(other_verdict((enum other)i)), "", cell
			};

			if (!cell->packets)
				continue;
			if (!begun)
				heading(out, "not for a service");
			begun = true;
			row_print(sum, &row, out);
		}
	}
}

static void note(const struct sum *sum, const struct cell *cell, const char *name,
		 const char *meaning, FILE *out)
{
	if (!cell->packets)
		return;
	fprintf(out, "  %-27s%38llu  %s; first packets", name,
		(unsigned long long)cell->packets, meaning);
	first_print(sum, cell, out);
}

static void skips_print(const struct sum *sum, FILE *out)
{
	bool any = sum->cut.packets;

	for (int i = SKIP_NONE + 1; i < SKIP_COUNT; i++)
		any |= sum->skips[i].packets > 0;
	if (!any)
		return;
	fputs("\nwithout a verdict, or with a doubtful one\n", out);
	for (int i = SKIP_NONE + 1; i < SKIP_COUNT; i++)
		note(sum, &sum->skips[i], skips[i].name, skips[i].meaning, out);
	note(sum, &sum->cut, "cut payload",
	     "judged with zeros for the bytes that the capture lacks", out);
}

static int change_order(const void *left, const void *right)
{
	const struct change *a = left, *b = right;

	if (a->cell.packets != b->cell.packets)
		return a->cell.packets > b->cell.packets ? -1 : 1;
	if (a->cell.first[0].file != b->cell.first[0].file)
		return a->cell.first[0].file < b->cell.first[0].file ? -1 : 1;
	return a->cell.first[0].number < b->cell.first[0].number ? -1 : 1;
}

static const char *text(const char *word)
{
	return word ? word : "-";
}

static void changes_print(const struct sum *sum, FILE *out)
{
	struct change *sorted = calloc(CHANGES_MAX, sizeof(*sorted));
	size_t n = 0;

	fprintf(out, "\nThe configurations differ in %llu of %llu packets.\n",
		(unsigned long long)sum->differ, (unsigned long long)sum->packets);
	for (int i = 0; sorted && i < CHANGES_MAX; i++)
		if (sum->changes[i].used)
			sorted[n++] = sum->changes[i];
	if (n)
		qsort(sorted, n, sizeof(*sorted), change_order);
	for (size_t i = 0; i < n; i++) {
		const struct change *c = &sorted[i];

		fprintf(out, "  %-4s%-12s %-20s %s %s -> ", c->out ? "out" : "in",
			text(c->was.service ? c->was.service : c->is.service),
			text(c->was.kind ? c->was.kind : c->is.kind),
			text(c->was.verdict), text(c->was.reason));
		if (c->was.service && c->is.service && c->was.service != c->is.service &&
		    strcmp(c->was.service, c->is.service) != 0)
			fprintf(out, "%s ", c->is.service);
		fprintf(out, "%s %s: %llu; first packets", text(c->is.verdict),
			text(c->is.reason), (unsigned long long)c->cell.packets);
		first_print(sum, &c->cell, out);
	}
	note(sum, &sum->more, "more", "other changes", out);
	free(sorted);
}

void sum_print(const struct sum *sum, bool other, FILE *out)
{
	struct row *rows = calloc(COUNTERS, sizeof(*rows));

	if (!rows)
		return;
	fprintf(out, "%llu packet%s\n", (unsigned long long)sum->packets,
		sum->packets == 1 ? "" : "s");
	for (__u32 slot = 0; slot < SERVICES_MAX; slot++)
		if (sum->cells[slot])
			service_print(sum, slot, rows, out);
	free(rows);
	others_print(sum, out);
	skips_print(sum, out);
	if (other)
		changes_print(sum, out);
}
