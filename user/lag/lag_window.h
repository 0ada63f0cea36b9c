/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lag_window.h - the last LAG_WINDOW messages of one direction of a player, each found by
 * its sequence, and what became of it, counted and marked. Called by lagometer.c only.
 * All zero is a window in which nothing was seen.
 */
#ifndef LAG_WINDOW_H
#define LAG_WINDOW_H

#include "lag/lagometer.h"

struct lag_message {
	uint32_t sequence;
	bool used;
	bool arrived; /* c2s: it came; s2c: it was acknowledged */
	bool lost; /* counted so */
	bool due; /* s2c: the client spoke when this should have been its newest */
	bool has_timestamp; /* s2c, NetQuake: the server's time, which the client gives
			       back */
	bool timed; /* s2c: of a snapshot, of the time snapshot_us */
	uint64_t at; /* of its sample */
	int64_t timestamp_us;
	int64_t time_ns;
	int64_t due_ns; /* when it first did */
	int64_t snapshot_us; /* the server's time that it tells */
};

struct lag_window {
	bool started;
	bool blind; /* samples may be missing right before the last message */
	uint32_t highest;
	int64_t heard_ns; /* when @highest came; lagometer.c has it for c2s */
	struct lag_message messages[LAG_WINDOW];
};

/* Return message @sequence; NULL: it is not, or no longer, in the window. */
static inline struct lag_message *lag_window_find(struct lag_window *w, uint32_t sequence)
{
	struct lag_message *m = &w->messages[sequence % LAG_WINDOW];

	return m->used && m->sequence == sequence ? m : NULL;
}

/*
 * Add message @sequence in the place of the one LAG_WINDOW before it, and its sample to
 * the ring of @d.
 */
struct lag_message *lag_window_add(struct lag_window *w, struct lag_direction *d,
				   uint32_t sequence, int64_t time_ns);

/* Return the message's sample; NULL: the ring has forgotten it. */
static inline struct lag_sample *lag_window_sample(struct lag_direction *d,
						   const struct lag_message *m)
{
	return d->taken - m->at <= LAG_SAMPLES ? &d->ring[m->at % LAG_SAMPLES] : NULL;
}

/*
 * Change flags (enum lag_flag) of the message's sample, unless the ring has forgotten it.
 */
void lag_window_mark(struct lag_direction *d, const struct lag_message *m, uint8_t set,
		     uint8_t clear);

/* Forget all messages: another connection has begun. */
void lag_window_restart(struct lag_window *w);

/*
 * Count the messages between the highest and @sequence, which is above it, as lost, or as
 * unseen where samples are missing.
 */
void lag_window_gap(struct lag_window *w, struct lag_direction *d, uint32_t sequence,
		    int64_t time_ns);

/* Count @sequence, which is not above the highest, as repeated or late. */
void lag_window_old(struct lag_window *w, struct lag_direction *d, uint32_t sequence);

#endif /* LAG_WINDOW_H */
