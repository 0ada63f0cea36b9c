// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * lag_report.c - see lag_report.h.
 *
 * Above, a column a frame: below the line (-) it was drawn between two snapshots, above
 * it (+) by guess. Below, a column a message of the server: as high as its ping, X one
 * that never came, d one that the rate held back; a last line for the client's own.
 */
#include <arpa/inet.h>
#include <string.h>

#include "lib/json_key.h"
#include "lib/names.h"
#include "lag/lag_json.h"
#include "lag/lag_report.h"

#define COLUMNS	   72
#define PING_LINES 5
#define PING_LEAST 100 /* ms at the top: less would make noise look like trouble */
#define FRAME_STEP 50 /* ms a line */

static void text(struct jsonl *json, const char *literal)
{
	jsonl_text(json, literal);
}

static void count(struct jsonl *json, const char *before, uint64_t n)
{
	jsonl_text(json, before);
	jsonl_uint(json, n);
}

static void percent(struct jsonl *json, const char *before, double share)
{
	char digits[32];

	snprintf(digits, sizeof(digits), "%.1f %%", share * 100);
	jsonl_text(json, before);
	jsonl_text(json, digits);
}

static void head(struct jsonl *json, const struct lag_player *p)
{
	char address[INET6_ADDRSTRLEN] = "a recording";

	if (p->client.length)
		inet_ntop(p->client.length == 4 ? AF_INET : AF_INET6, p->client.bytes,
			  address, sizeof(address));
	text(json, address);
	if (p->client.length)
		count(json, " port ", p->client.port);
	text(json, " ");
	text(json, family_name(p->family));
	if (*p->name) {
		text(json, " ");
		jsonl_string(json, p->name, strlen(p->name));
	}
	if (*p->map) {
		text(json, " on ");
		jsonl_string(json, p->map, strlen(p->map));
	}
	if (p->ping_ms == LAG_PING_NONE)
		text(json, ": ping not known");
	else
		count(json, ": ping ", p->ping_ms);
	text(json, p->ping_ms == LAG_PING_NONE ? "" : " ms");
	count(json, ", ", p->snapshots_per_s);
	count(json, " snapshots/s, ", p->packets_per_s);
	text(json, " packets/s\n");
}

static void account(struct jsonl *json, const char *which, const struct lag_direction *d)
{
	text(json, which);
	count(json, "lost ", d->lost);
	count(json, " of ", d->lost + d->received);
	percent(json, " (", lag_loss(d));
	count(json, "), repeated ", d->repeated);
	count(json, ", late ", d->late);
}

/* Line @line of the frames, 0 the uppermost: +2 steps to -2 steps. */
static void frame_line(struct jsonl *json, const struct lag_frames *f, int line)
{
	uint64_t n = f->taken < LAG_SAMPLES ? f->taken : LAG_SAMPLES;

	n = n < COLUMNS ? n : COLUMNS;
	for (uint64_t i = 0; i < n; i++) {
		int ms = f->ring[(f->taken - n + i) % LAG_SAMPLES];
		int level = 2 - line; /* above zero: by guess */
		int reach =
			(ms + (ms > 0 ? FRAME_STEP - 1 : 1 - FRAME_STEP)) / FRAME_STEP;

		if (!level)
			text(json, "-");
		else if (level > 0)
			text(json, reach >= level ? "+" : " ");
		else
			text(json, reach <= level ? "|" : " ");
	}
	text(json, "\n");
}

static void frames(struct jsonl *json, const struct lag_frames *f)
{
	count(json, "  frames  ", f->taken);
	percent(json, ", extrapolated ", lag_extrapolation(f));
	text(json, "\n");
	for (int line = 0; line < 5; line++) {
		text(json, line == 2 ? "       0 " : "         ");
		frame_line(json, f, line);
	}
}

static const struct lag_sample *sample_at(const struct lag_direction *d, uint64_t i,
					  uint64_t n)
{
	return &d->ring[(d->taken - n + i) % LAG_SAMPLES];
}

static uint64_t columns_of(const struct lag_direction *d)
{
	uint64_t n = d->taken < LAG_SAMPLES ? d->taken : LAG_SAMPLES;

	return n < COLUMNS ? n : COLUMNS;
}

static const char *mark_of(const struct lag_sample *s)
{
	if (s->flags & LAG_LOST)
		return "X";
	if (s->flags & LAG_REPEATED)
		return "r";
	if (s->flags & LAG_LATE)
		return "t";
	if (s->flags & LAG_DELAYED)
		return "d";
	return s->flags & LAG_ANSWERED ? "|" : ".";
}

static void pings(struct jsonl *json, const struct lag_direction *d)
{
	uint64_t n = columns_of(d);
	unsigned int most = PING_LEAST;
	char scale[16];

	for (uint64_t i = 0; i < n; i++)
		if (lag_sample_timed(sample_at(d, i, n)) &&
		    sample_at(d, i, n)->ping_ms > most)
			most = sample_at(d, i, n)->ping_ms;
	for (int line = PING_LINES - 1; line >= 0; line--) {
		unsigned int least = most * (unsigned int)line / PING_LINES;

		snprintf(scale, sizeof(scale), "%8u ",
			 most * (unsigned int)(line + 1) / PING_LINES);
		text(json, scale);
		for (uint64_t i = 0; i < n; i++) {
			const struct lag_sample *s = sample_at(d, i, n);
			bool reaches = s->flags & LAG_LOST || !line ||
				       (lag_sample_timed(s) && s->ping_ms > least);

			text(json, reaches ? mark_of(s) : " ");
		}
		text(json, "\n");
	}
}

static void client_line(struct jsonl *json, const struct lag_direction *d)
{
	uint64_t n = columns_of(d);

	text(json, "         ");
	for (uint64_t i = 0; i < n; i++)
		text(json, d->ring[(d->taken - n + i) % LAG_SAMPLES].flags
				   ? mark_of(sample_at(d, i, n))
				   : "|");
	text(json, "\n");
}

static void draw(struct jsonl *json, const struct lag_player *p)
{
	const struct lag_direction *up = &p->way[LAG_C2S], *down = &p->way[LAG_S2C];

	head(json, p);
	if (p->frames.taken)
		frames(json, &p->frames);
	account(json, "  to it   ", down);
	count(json, ", held back by the rate ", p->delayed);
	text(json, "\n");
	pings(json, down);
	if (up->taken) {
		account(json, "  from it ", up);
		text(json, "\n");
		client_line(json, up);
	}
	text(json, "\n");
}

const struct json_key lag_report_keys[] = {
	JSON_KEY("file", "string", NULL, "File that the player is in."),
	JSON_OBJECT("player", "object", NULL, "The player.", lag_player_keys),
	JSON_END,
};

void lag_report(struct lagometer *l, struct jsonl *json, const char *file, bool as_json)
{
	const struct lag_player *p;
	size_t at = 0;

	if (file && !as_json) {
		text(json, file);
		text(json, "\n");
	}
	while ((p = lagometer_next(l, &at))) {
		if (!as_json) {
			draw(json, p);
			continue;
		}
		if (file) {
			text(json, "{\"file\":");
			jsonl_string(json, file, strlen(file));
			text(json, ",\"player\":");
		}
		lag_player_json(json, p, NULL);
		text(json, file ? "}\n" : "\n");
	}
}
