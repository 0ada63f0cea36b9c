// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * lag_pause.c - see lag_pause.h.
 */
#include "lag/lag_pause.h"

#define USUAL_MOST_NS 1000000000LL

/* Move the usual interval towards the median: by 1/32, up or down. */
static void usual_note(int64_t *usual_ns, int64_t interval_ns)
{
	if (interval_ns > USUAL_MOST_NS)
		interval_ns = USUAL_MOST_NS;
	if (!*usual_ns)
		*usual_ns = interval_ns;
	else if (interval_ns > *usual_ns)
		*usual_ns += (*usual_ns >> 5) + 1;
	else
		*usual_ns -= *usual_ns >> 5;
}

/* Return how much longer than usual @interval_ns was, or 0: it was no pause. */
static int64_t pause_length(int64_t interval_ns, int64_t usual_ns)
{
	if (!usual_ns || interval_ns <= 3 * usual_ns ||
	    interval_ns <= usual_ns + LAG_PAUSE_LEAST_NS)
		return 0;
	return interval_ns - usual_ns;
}

void lag_pause_blind(struct lag_pause *p)
{
	p->sent_ns = p->asked_ns = p->spoke_ns = p->silent_ns = 0;
}

void lag_pause_loading(struct lag_pause *p, int64_t time_ns)
{
	lag_pause_blind(p);
	p->loading_until_ns = time_ns + LAG_LOADING_NS;
}

/*
 * From the client's first message on, the server is late: one that sends only when the
 * client has sent is not blamed for the silence before.
 */
void lag_pause_server(struct lag_pause *p, struct lag_pauses *ret, int64_t time_ns,
		      bool delayed)
{
	int64_t length_ns = 0;

	if (p->asked_ns)
		length_ns = pause_length(time_ns - p->asked_ns, p->sent_usual_ns);
	if (length_ns && time_ns >= p->loading_until_ns)
		*(delayed ? &ret->rate_ns : &ret->late_ns) += (uint64_t)length_ns;
	if (p->sent_ns && time_ns > p->sent_ns)
		usual_note(&p->sent_usual_ns, time_ns - p->sent_ns);
	p->sent_ns = time_ns;
	p->asked_ns = 0;
}

/* Decide on the pause that has ended: was the client silent, or its line? */
static void pause_end(struct lag_pause *p, struct lag_pauses *ret)
{
	int64_t missing = p->spoke_usual_ns ? p->silent_ns / p->spoke_usual_ns : 0;
	int64_t regular =
		p->spoke_usual_ns ? 1 + LAG_PAUSE_BURST_NS / p->spoke_usual_ns : 0;
	bool held = (int64_t)p->came - regular >= missing / 2;

	*(held ? &ret->held_ns : &ret->silent_ns) += (uint64_t)p->silent_ns;
	p->silent_ns = 0;
}

void lag_pause_client(struct lag_pause *p, struct lag_pauses *ret, int64_t time_ns,
		      uint32_t lost)
{
	int64_t interval_ns = p->spoke_ns ? time_ns - p->spoke_ns : 0;
	int64_t length_ns = pause_length(interval_ns, p->spoke_usual_ns);

	if (p->silent_ns && (time_ns - p->resumed_ns > LAG_PAUSE_BURST_NS || length_ns))
		pause_end(p, ret);
	if (length_ns && time_ns >= p->loading_until_ns) {
		p->silent_ns = length_ns;
		p->resumed_ns = time_ns;
		p->came = 0;
	}
	if (p->silent_ns)
		p->came += 1 + lost;
	else if (interval_ns > 0)
		usual_note(&p->spoke_usual_ns, interval_ns);
	p->spoke_ns = time_ns;
	if (p->sent_ns && !p->asked_ns && time_ns >= p->sent_ns)
		p->asked_ns = time_ns;
}
