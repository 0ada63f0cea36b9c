// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * stats_text.c - the snapshot for people: what is most, first.
 */
#include <errno.h>
#include <stdlib.h>

#include "lib/names.h"
#include "stats/stats.h"

struct row {
	const char *direction;
	enum wire_kind kind;
	enum reason reason;
	struct counter counter;
};

#define ROWS (2 * KIND_COUNT * REASON_COUNT)

static size_t rows_add(struct row *rows, size_t n, const char *direction,
		       const struct counters *t)
{
	for (int kind = 0; kind < KIND_COUNT; kind++)
		for (int reason = 0; reason < REASON_COUNT; reason++)
			if (t->by[kind][reason].packets)
				rows[n++] = (struct row){
					.direction = direction,
					.kind = (enum wire_kind)kind,
					.reason = (enum reason)reason,
					.counter = t->by[kind][reason],
				};
	return n;
}

/* Incoming before outgoing, then by packets, then by kind and reason as in the table. */
static int row_order(const void *left, const void *right)
{
	const struct row *a = left, *b = right;

	if (*a->direction != *b->direction)
		return *a->direction < *b->direction ? -1 : 1;
	if (a->counter.packets != b->counter.packets)
		return a->counter.packets > b->counter.packets ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return (int)a->reason - (int)b->reason;
}

static void ratio_print(const char *unit, __u64 out, __u64 in, FILE *file)
{
	double x;

	if (stats_ratio(out, in, &x))
		fprintf(file, ", %s x%.3f", unit, x);
}

static void templates_print(const struct stats_service *s, FILE *out)
{
	for (size_t i = 0; i < s->cached_count; i++) {
		const struct cached_response *t = &s->cached[i];

		fprintf(out, "  cached response to '%s%s': %u bytes, %.1f s old%s\n",
			t->request, t->nonce ? " WORD" : "", t->bytes,
			(double)t->age_ns / 1e9, t->fresh ? "" : ", too old to be sent");
	}
}

static void service_print(const struct stats_service *s, struct row *rows, FILE *out)
{
	size_t n = rows_add(rows, 0, "in", &s->in);

	n = rows_add(rows, n, "out", &s->out);
	qsort(rows, n, sizeof(*rows), row_order);
	fprintf(out, "\nservice %s (%s)%s: %zu player%s", s->service.name,
		family_name((enum wire_family)s->service.family),
		s->service.observe ? ", only observed" : "", s->players,
		s->players == 1 ? "" : "s");
	if (s->in.unverified.wire >= STATS_RATIO_LEAST) {
		ratio_print("amplification of payload", s->out.unverified.payload,
			    s->in.unverified.payload, out);
		ratio_print("on the wire", s->out.unverified.wire, s->in.unverified.wire,
			    out);
	}
	fputc('\n', out);
	if (n)
		fprintf(out, "  %-4s%-27s%-8s%-18s%15s%18s\n", "", "kind", "verdict",
			"reason", "packets", "bytes");
	for (size_t i = 0; i < n; i++)
		fprintf(out, "  %-4s%-27s%-8s%-18s%15llu%18llu\n", rows[i].direction,
			kind_name(rows[i].kind),
			verdict_name(reason_verdict(rows[i].reason)),
			reason_name(rows[i].reason),
			(unsigned long long)rows[i].counter.packets,
			(unsigned long long)rows[i].counter.bytes);
	templates_print(s, out);
}

static void links_print(const struct stats *s, FILE *out)
{
	char since[TIME_TEXT];

	if (!s->link_count)
		fputs("attached to nothing\n", out);
	for (size_t i = 0; i < s->link_count; i++) {
		const struct shield_link *l = &s->links[i];

		time_format(l->since, since);
		if (!l->since) {
			fprintf(out, "%s: not attached\n", l->interface);
			continue;
		}
		fprintf(out, "%s (%s) since %s%s\n", l->interface, mode_name(l->mode),
			since,
			shield_link_protects(l) ? ""
			: l->missing		? ": missing"
			: !l->attached		? ": not protected any more"
						: ": attached, judges nothing");
	}
}

int stats_text(const struct stats *stats, FILE *out)
{
	struct row *rows = calloc(ROWS, sizeof(*rows));

	if (!rows)
		return -ENOMEM;
	links_print(stats, out);
	for (size_t i = 0; i < stats->service_count; i++)
		service_print(&stats->services[i], rows, out);
	free(rows);
	fputs("\nnot for a service\n", out);
	for (int i = 0; i < OTHER_COUNT; i++)
		if (stats->others[i].packets)
			fprintf(out, "  %-4s%-27s%-8s%-18s%15llu%18llu\n", "in",
				other_name((enum other)i),
				verdict_name(other_verdict((enum other)i)), "",
				(unsigned long long)stats->others[i].packets,
				(unsigned long long)stats->others[i].bytes);
	return fflush(out) ? -EIO : 0;
}
