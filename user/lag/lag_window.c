// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * lag_window.c - see lag_window.h.
 */
#include <string.h>

#include "lag/lag_window.h"

#define LEAP_MAX 1024 /* a larger step forward is no loss: we have not watched */

struct lag_message *lag_window_add(struct lag_window *w, struct lag_direction *d,
				   uint32_t sequence, int64_t time_ns)
{
	struct lag_message *m = &w->messages[sequence % LAG_WINDOW];

	*m = (struct lag_message){
		.sequence = sequence, .used = true, .at = d->taken, .time_ns = time_ns
	};
	d->ring[d->taken++ % LAG_SAMPLES] =
		(struct lag_sample){ .ping_ms = LAG_PING_NONE };
	return m;
}

void lag_window_mark(struct lag_direction *d, const struct lag_message *m, uint8_t set,
		     uint8_t clear)
{
	struct lag_sample *s = lag_window_sample(d, m);

	if (s)
		s->flags = (uint8_t)((s->flags & ~clear) | set);
}

void lag_window_restart(struct lag_window *w)
{
	memset(w->messages, 0, sizeof(w->messages));
	w->started = false;
	w->blind = false;
}

void lag_window_gap(struct lag_window *w, struct lag_direction *d, uint32_t sequence,
		    int64_t time_ns)
{
	uint32_t gap = sequence - w->highest - 1;

	if (gap > LEAP_MAX)
		return;
	if (w->blind) {
		d->unseen += gap;
		return;
	}
	d->lost += gap;
	if (gap > LAG_WINDOW - 1)
		gap = LAG_WINDOW - 1;
	for (uint32_t missing = sequence - gap; missing != sequence; missing++) {
		struct lag_message *m = lag_window_add(w, d, missing, time_ns);

		m->lost = true;
		lag_window_mark(d, m, LAG_LOST, 0);
	}
}

void lag_window_old(struct lag_window *w, struct lag_direction *d, uint32_t sequence)
{
	struct lag_message *m = lag_window_find(w, sequence);

	if (!m)
		return;
	if (!m->lost) {
		d->repeated++;
		lag_window_mark(d, m, LAG_REPEATED, 0);
		return;
	}
	m->lost = false;
	m->arrived = true;
	d->lost--;
	d->received++;
	d->late++;
	lag_window_mark(d, m, LAG_LATE, LAG_LOST);
}
