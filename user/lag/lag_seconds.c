// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * lag_seconds.c - see lag_seconds.h.
 */
#include "lag/lag_seconds.h"

static struct lag_second second_of(const struct lag_player *p)
{
	struct lag_second now = {
		.since_ns = p->since_ns,
		.drawn = p->frames.taken,
		.extrapolated = p->frames.extrapolated,
	};

	for (int w = 0; w < LAG_WAYS; w++) {
		now.received[w] = p->way[w].received;
		now.lost[w] = p->way[w].lost;
	}
	return now;
}

/*
 * Return how much more there is now. A lost message that comes late is taken back, so the
 * result is never below 0.
 */
static uint64_t grown(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

static void figures(const struct lag_player *p, const struct lag_second *now,
		    const struct lag_second *before, struct decoded *decoded)
{
	static const enum decoded_figure loss[LAG_WAYS] = {
		[LAG_C2S] = DECODED_LOSS_C2S,
		[LAG_S2C] = DECODED_LOSS_S2C,
	};
	uint64_t drawn = grown(now->drawn, before->drawn);

	for (int w = 0; w < LAG_WAYS; w++) {
		uint64_t lost = grown(now->lost[w], before->lost[w]);
		uint64_t due = grown(now->received[w], before->received[w]) + lost;

		if (due)
			decoded_figure(decoded, p->slot, p->family, loss[w],
				       (double)lost / (double)due);
	}
	if (drawn)
		decoded_figure(decoded, p->slot, p->family, DECODED_EXTRAPOLATION,
			       (double)grown(now->extrapolated, before->extrapolated) /
				       (double)drawn);
	if (p->ping_ms != LAG_PING_NONE)
		decoded_figure(decoded, p->slot, p->family, DECODED_PING,
			       p->ping_ms / 1000.0);
	if (p->snapshots_per_s)
		decoded_figure(decoded, p->slot, p->family, DECODED_SNAPSHOTS,
			       p->snapshots_per_s);
}

void lag_seconds(struct lagometer *l, struct lag_second *past, struct decoded *decoded,
		 int64_t now_ns)
{
	const struct lag_player *p;
	size_t at = 0;

	now_ns -= lagometer_ahead(l);
	while ((p = lagometer_next(l, &at))) {
		struct lag_second now = second_of(p);

		/* A player's first second began unseen. */
		if (past[at - 1].since_ns == p->since_ns &&
		    now_ns - p->last_ns <= LAG_SECONDS_HEARD_NS)
			figures(p, &now, &past[at - 1], decoded);
		past[at - 1] = now;
	}
}
