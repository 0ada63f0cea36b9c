/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lagometer.h - how well each followed player is connected, from records alone.
 *
 * Called by the daemon for its samples (samples.c) and by `quakeshield decode
 * --lagometer`. As seen from where the shield runs, next to the server:
 *
 *	c2s	losses, repeats and late ones show in the sequence numbers
 *	s2c	the client acknowledges what it received; a message is lost if the
 *		client passes over it, although it sent something while only that
 *		message could have been its newest
 *	ping	from a message of the server to its first acknowledgement
 *
 *	frames	what the client drew at: the time of its move less that of the snapshot
 *		which it acknowledges; the upper graph of Quake III's own lagometer
 *
 * NetQuake's unreliable messages are not acknowledged by number, but each move returns
 * the server's time that the newest of them contained. Until one has, pings come from the
 * reliable ones.
 *
 * Pure: no clock but that of the records. Bounded: when all places are taken, clients
 * that never joined give way first, then the player that was silent for longest, if for
 * LAG_YIELD_NS. While there is none, further clients are left out: taking turns, no
 * player would have a history.
 */
#ifndef LAGOMETER_H
#define LAGOMETER_H

#include "lib/record.h"

#define LAG_SAMPLES   128 /* per player and direction, for drawing */
#define LAG_WINDOW    256 /* sequences in which late ones are told from repeats */
#define LAG_NAME      64
#define LAG_IDLE_NS   60000000000LL /* after which lagometer_sweep() forgets */
#define LAG_YIELD_NS  10000000000LL
#define LAG_PING_NONE UINT16_MAX

enum lag_flag {
	LAG_ANSWERED = 1, /* s2c: it was acknowledged */
	LAG_DELAYED = 2, /* s2c: the server held a snapshot back, by the client's rate */
	LAG_LOST = 4,
	LAG_REPEATED = 8,
	LAG_LATE = 16, /* overtaken by a later one */
};

/* One message, oldest first in the ring. */
struct lag_sample {
	uint16_t ping_ms; /* s2c; LAG_PING_NONE: not known, if answered or not */
	uint8_t flags; /* enum lag_flag */
	uint8_t pad;
};

/* Return true if the sample has a ping. */
static inline bool lag_sample_timed(const struct lag_sample *s)
{
	return s->flags & LAG_ANSWERED && s->ping_ms != LAG_PING_NONE;
}

struct lag_direction {
	uint64_t received; /* different messages */
	uint64_t lost; /* s2c: or too late to be of use */
	uint64_t repeated;
	uint64_t late;
	uint64_t unsure; /* s2c: neither acknowledged nor surely lost */
	uint64_t unseen; /* would count as lost if no samples were missing there */
	uint64_t taken; /* samples ever; the last LAG_SAMPLES are in the ring */
	struct lag_sample ring[LAG_SAMPLES];
};

/*
 * Frames that the client drew, where the protocol tells (Quake III): the time of its
 * frame less that of the newest snapshot it had. Below zero it had two to draw between;
 * above, the next was late or lost, and the client extrapolated.
 */
struct lag_frames {
	uint64_t taken; /* the last LAG_SAMPLES are in the ring */
	uint64_t extrapolated;
	int16_t ring[LAG_SAMPLES]; /* ms, oldest first */
};

/*
 * Time in which messages did not come as they used to, since the player came:
 * lag_pause.h.
 */
struct lag_pauses {
	uint64_t late_ns; /* the client sent, and the server did not */
	uint64_t rate_ns; /* the same, by the client's rate */
	uint64_t silent_ns; /* the client did not send */
	uint64_t held_ns; /* its messages were on the way, or lost */
};

/* Pings since the player came. */
struct lag_pings {
	uint64_t count, sum_ms;
};

enum lag_way {
	LAG_C2S,
	LAG_S2C,
	LAG_WAYS,
};

struct lag_player {
	struct record_address client, server;
	uint32_t slot; /* of the service */
	enum wire_family family;
	const char *dialect; /* or NULL */
	char name[LAG_NAME]; /* "" while not known; bytes of the wire */
	char map[LAG_NAME];
	int64_t since_ns, last_ns; /* to tell the time of day, add lagometer_ahead() */
	uint32_t ping_ms; /* mean of the last 32; LAG_PING_NONE: not known */
	uint32_t snapshots_per_s; /* of the last whole second */
	uint32_t packets_per_s; /* from the client */
	uint64_t snapshots;
	uint64_t delayed; /* snapshots that the server says came late, by rate */
	struct lag_direction way[LAG_WAYS];
	struct lag_frames frames;
	struct lag_pauses pauses;
	struct lag_pings pings;
};

/* Return the share of extrapolated frames, 0 to 1. */
static inline double lag_extrapolation(const struct lag_frames *f)
{
	return f->taken ? (double)f->extrapolated / (double)f->taken : 0;
}

struct lagometer;

/*
 * Where the records were made: next to the client, s2c is counted by its sequences too.
 */
enum lag_side {
	LAG_BESIDE_SERVER,
	LAG_BESIDE_CLIENT,
};

/* Return a lagometer for at most @players players, or NULL if there is no memory. */
struct lagometer *lagometer_create(size_t players, enum lag_side side);
/* Free the lagometer; @l may be NULL. */
void lagometer_free(struct lagometer *l);

/* Account for a record, with its tape, of a followed flow of the service in @slot. */
void lagometer_record(struct lagometer *l, uint32_t slot, const struct record *r);

/*
 * Note that datagrams went unseen until @until_ns, of the clock of the records: a gap
 * after a message that came by then is counted as unseen, not as lost.
 */
void lagometer_blind(struct lagometer *l, int64_t until_ns);

/*
 * Call @look with @context before a gap counts as loss. It must call lagometer_blind() if
 * datagrams went unseen since it was called last. Without it, all are seen.
 */
void lagometer_watch(struct lagometer *l, void (*look)(void *context), void *context);

/*
 * The clock of the records was set since the first one: it is @ns ahead. The lagometer's
 * own goes on. Records that are given later are by the new clock.
 */
void lagometer_set_ahead(struct lagometer *l, int64_t ns);
/* Return what was set last, or 0. */
int64_t lagometer_ahead(const struct lagometer *l);

/*
 * Forget the players that were silent for LAG_IDLE_NS, and the rates and pings of those
 * that were silent for 2 s. To be called once a second. @now_ns: of the clock of the
 * records, CLOCK_REALTIME.
 */
void lagometer_sweep(struct lagometer *l, int64_t now_ns);

/*
 * Return the players one after the other, NULL after the last. *@at begins at 0. The
 * caller may set a name that is not known yet.
 */
struct lag_player *lagometer_next(struct lagometer *l, size_t *at);

/* Return the share of lost messages, 0 to 1; 0 when none should have come. */
static inline double lag_loss(const struct lag_direction *d)
{
	uint64_t due = d->received + d->lost;

	return due ? (double)d->lost / (double)due : 0;
}

#endif /* LAGOMETER_H */
