// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * lagometer.c - see lagometer.h. The table of players; what is known of the messages of
 * each direction is in a window (lag_window.h).
 */
#include <stdlib.h>
#include <string.h>

#include "lag/lag_pause.h"
#include "lag/lag_window.h"

#define SECOND_NS    1000000000LL
#define SECOND_US    1000000LL
#define MS_NS	     1000000LL
#define RESTART_BACK 64 /* a larger step back is another connection */
#define PINGS_OF     32 /* pings, of which the mean is shown and the shortest counts */
#define SLACK_MS     5
#define BURST_NS     (8 * MS_NS) /* what comes within was sent at one time */
#define FRAME_MAX_MS 1000 /* the lagometer's range is a third of it */
#define STALL_NS     (100 * MS_NS) /* so long a silence may be a stall */

struct place {
	struct lag_player player;
	bool used;
	bool plays; /* else it has only knocked */
	char knocked[LAG_NAME]; /* while it plays: the name in a later request, or "" */
	struct lag_window way[LAG_WAYS];
	bool has_ack;
	uint32_t ack;
	int64_t acked_ns; /* when a ping was last taken */
	int64_t spoke_ns; /* when the client last did */
	int64_t steady_ns; /* since when it has done so without a stall */
	bool silent; /* it had not for a second, if ever, until now */
	int64_t woke_ns; /* the last time that this was so */
	uint16_t ping[PINGS_OF];
	uint64_t pings;
	bool has_reliable; /* NetQuake's, on its way */
	uint32_t reliable;
	int64_t reliable_ns;
	bool echoes; /* NetQuake: it gives times back, a better measure than these */
	int64_t pace_ns; /* and between two of its moves, at most of late */
	int64_t moved_ns;
	int64_t timestamp_us; /* by the server, at last */
	int64_t second_ns; /* when the second of these two began */
	uint32_t snapshots, packets;
	struct lag_pause pause;
};

struct lagometer {
	size_t count;
	enum lag_side side;
	void (*look)(void *context); /* or NULL */
	void *look_context;
	int64_t unseen_ns; /* until then datagrams went unseen */
	int64_t ahead_ns; /* of the records' clock, of that of all times here */
	struct place places[];
};

struct lagometer *lagometer_create(size_t players, enum lag_side side)
{
	struct lagometer *l = calloc(1, sizeof(*l) + players * sizeof(*l->places));

	if (l) {
		l->count = players;
		l->side = side;
		l->unseen_ns = INT64_MIN;
	}
	return l;
}

void lagometer_free(struct lagometer *l)
{
	free(l);
}

/* --- the table --------------------------------------------------------------- */

/* Is @a a better place for a newcomer than @b? */
static bool gives_way(const struct place *a, const struct place *b)
{
	if (a->used != b->used)
		return !a->used;
	if (a->plays != b->plays)
		return !a->plays;
	return a->player.last_ns < b->player.last_ns;
}

/* NULL: all places are taken. */
static struct place *place_of(struct lagometer *l, uint32_t slot, const struct record *r,
			      int64_t time_ns)
{
	bool c2s = r->direction == DIRECTION_C2S;
	const struct record_address *client = c2s ? &r->source : &r->destination;
	struct place *best = &l->places[0];

	for (size_t i = 0; i < l->count; i++) {
		struct place *p = &l->places[i];

		if (p->used && p->player.slot == slot &&
		    record_address_equal(&p->player.client, client))
			return p;
		if (gives_way(p, best))
			best = p;
	}
	if (best->used && best->plays &&
	    llabs(time_ns - best->player.last_ns) < LAG_YIELD_NS)
		return NULL;
	memset(best, 0, sizeof(*best));
	best->used = true;
	best->player.client = *client;
	best->player.server = c2s ? r->destination : r->source;
	best->player.slot = slot;
	best->player.family = r->family;
	best->player.ping_ms = LAG_PING_NONE;
	best->player.since_ns = time_ns;
	best->second_ns = time_ns;
	return best;
}

void lagometer_sweep(struct lagometer *l, int64_t now_ns)
{
	now_ns -= l->ahead_ns;
	for (size_t i = 0; i < l->count; i++) {
		struct place *p = &l->places[i];

		if (p->used && now_ns - p->player.last_ns > LAG_IDLE_NS)
			p->used = false;
		if (p->used && now_ns - p->player.last_ns > 2 * SECOND_NS)
			p->player.snapshots_per_s = p->player.packets_per_s = 0;
		/*
		 * A client that loads a map, or has gone, has no ping; the server then
		 * says 999.
		 */
		if (p->has_ack && now_ns - p->acked_ns > 2 * SECOND_NS) {
			p->player.ping_ms = LAG_PING_NONE;
			p->pings = 0;
		}
	}
}

void lagometer_set_ahead(struct lagometer *l, int64_t ns)
{
	l->ahead_ns = ns;
}

int64_t lagometer_ahead(const struct lagometer *l)
{
	return l->ahead_ns;
}

void lagometer_blind(struct lagometer *l, int64_t until_ns)
{
	until_ns -= l->ahead_ns;
	if (until_ns > l->unseen_ns)
		l->unseen_ns = until_ns;
}

void lagometer_watch(struct lagometer *l, void (*look)(void *context), void *context)
{
	l->look = look;
	l->look_context = context;
}

struct lag_player *lagometer_next(struct lagometer *l, size_t *at)
{
	while (*at < l->count) {
		struct place *p = &l->places[(*at)++];

		if (p->used && p->plays)
			return &p->player;
	}
	return NULL;
}

/* --- what comes in from the path: by sequence numbers ------------------------- */

/*
 * The server has begun anew with this client, which now has the name of its last request
 * to join.
 */
static void begin_anew(struct place *p)
{
	lag_window_restart(&p->way[LAG_S2C]);
	p->has_ack = false;
	if (*p->knocked)
		memcpy(p->player.name, p->knocked, sizeof(p->knocked));
	*p->knocked = 0;
}

static void see_sequence(struct lagometer *l, struct place *p, enum lag_way at,
			 const struct facts *f, int64_t time_ns)
{
	struct lag_direction *d = &p->player.way[at];
	struct lag_window *w = &p->way[at];
	int32_t step = (int32_t)(f->sequence - w->highest);

	if (w->started && step > 1 && w->heard_ns > l->unseen_ns && l->look)
		l->look(l->look_context);
	w->blind = w->started && w->heard_ns <= l->unseen_ns;
	if (w->started && step < -RESTART_BACK) {
		lag_window_restart(&p->way[LAG_C2S]);
		begin_anew(p);
	}
	if (w->started && step <= 0) {
		lag_window_old(w, d, f->sequence);
		return;
	}
	if (w->started)
		lag_window_gap(w, d, f->sequence, time_ns);
	lag_window_add(w, d, f->sequence, time_ns)->arrived = true;
	d->received++;
	w->highest = f->sequence;
	w->heard_ns = time_ns;
	w->started = true;
}

/* --- what the server sends: by acknowledgements -------------------------------- */

/* Another map's clock begins anew: what was told before says nothing any more. */
static void note_told(struct place *p, struct lag_window *w, struct lag_message *m,
		      const struct facts *f)
{
	if (!(f->has & FACT_TIME))
		return;
	if (f->time_us < p->timestamp_us - SECOND_US)
		for (size_t i = 0; i < LAG_WINDOW; i++)
			w->messages[i].has_timestamp = false;
	m->has_timestamp = true;
	m->timestamp_us = p->timestamp_us = f->time_us;
}

static void see_server(struct place *p, const struct facts *f, int64_t time_ns)
{
	struct lag_direction *d = &p->player.way[LAG_S2C];
	struct lag_window *w = &p->way[LAG_S2C];
	struct lag_message *m;

	if (w->started && (int32_t)(f->sequence - w->highest) < -RESTART_BACK)
		begin_anew(p);
	if (lag_window_find(w, f->sequence))
		return;
	m = lag_window_add(w, d, f->sequence, time_ns);
	note_told(p, w, m, f);
	if (f->has & FACT_DELAYED) {
		p->player.delayed++;
		lag_window_mark(d, m, LAG_DELAYED, 0);
	}
	if (!w->started || (int32_t)(f->sequence - w->highest) > 0)
		w->highest = f->sequence;
	w->started = true;
	if (f->has & FACT_TIME) {
		m->timed = true;
		m->snapshot_us = f->time_us;
	}
}

/* --- what the client draws ----------------------------------------------------- */

static void see_frame(struct place *p, const struct facts *f)
{
	struct lag_message *m = lag_window_find(&p->way[LAG_S2C], f->ack);
	struct lag_frames *frames = &p->player.frames;
	int64_t ms;

	if (!m || !m->timed)
		return;
	ms = (f->command_us - m->snapshot_us) / 1000;
	/* A map that began anew, or time that stands still: no frame is so far off. */
	if (ms > FRAME_MAX_MS || ms < -FRAME_MAX_MS)
		return;
	frames->extrapolated += ms > 0;
	frames->ring[frames->taken++ % LAG_SAMPLES] = (int16_t)ms;
}

/* The shortest of the last pings: what the path and the client take at least. */
static uint32_t ping_floor(const struct place *p)
{
	uint32_t floor = LAG_PING_NONE;

	for (size_t i = 0; i < PINGS_OF; i++)
		if (i < p->pings && p->ping[i] < floor)
			floor = p->ping[i];
	return floor;
}

static void see_ping(struct place *p, int64_t took_ns, int64_t time_ns)
{
	int64_t ms = (took_ns + MS_NS / 2) / MS_NS;
	uint32_t sum = (uint32_t)ms, kept = 1;

	if (ms < 0 || ms >= LAG_PING_NONE)
		return;
	p->acked_ns = time_ns;
	p->player.pings.count++;
	p->player.pings.sum_ms += (uint64_t)ms;
	p->ping[p->pings++ % PINGS_OF] = (uint16_t)ms;
	/* The mean, as Quake III's server takes it of as many. */
	for (; kept < PINGS_OF && kept < p->pings; kept++)
		sum += p->ping[(p->pings - 1 - kept) % PINGS_OF];
	p->player.ping_ms = (sum + kept / 2) / kept;
}

static void see_arrived(struct place *p, struct lag_message *m, int64_t time_ns)
{
	struct lag_direction *d = &p->player.way[LAG_S2C];
	struct lag_sample *s = lag_window_sample(d, m);
	int64_t ms = (time_ns - m->time_ns) / MS_NS;

	if (m->arrived)
		return;
	m->arrived = true;
	d->received++;
	if (m->lost) {
		/* Its acknowledgement itself was overtaken. */
		m->lost = false;
		d->lost--;
		lag_window_mark(d, m, LAG_ANSWERED, LAG_LOST);
		return;
	}
	/*
	 * Messages that came while the client was silent show how long that was, not its
	 * path.
	 */
	if (ms < 0 || p->silent || m->time_ns < p->woke_ns - STALL_NS)
		return;
	see_ping(p, time_ns - m->time_ns, time_ns);
	if (!s)
		return;
	s->ping_ms = (uint16_t)(ms < LAG_PING_NONE ? ms : LAG_PING_NONE - 1);
	s->flags |= LAG_ANSWERED;
}

/*
 * The client passed over this one when it acknowledged a later one. @blind: samples of
 * the client are missing before; perhaps one of them acknowledged this message.
 */
static void see_passed(struct lag_direction *d, struct lag_message *m, bool blind,
		       int64_t time_ns)
{
	if (m->arrived || m->lost)
		return;
	/* A client that was busy sends all at once, with what it knew before. */
	if (blind || !m->due || time_ns - m->due_ns < BURST_NS) {
		d->unsure++;
		d->unseen += m->due && time_ns - m->due_ns >= BURST_NS;
		return;
	}
	m->lost = true;
	d->lost++;
	lag_window_mark(d, m, LAG_LOST, 0);
}

/*
 * Does what the client speaks of now show what it has got? Not while it loads a map, or
 * its machine has no time for it: then it speaks first and listens later.
 */
static bool see_steady(struct place *p, int64_t time_ns)
{
	p->silent =
		time_ns - (p->spoke_ns ? p->spoke_ns : p->player.since_ns) > SECOND_NS;
	if (p->silent)
		p->woke_ns = time_ns;
	if (time_ns - p->spoke_ns > STALL_NS)
		p->steady_ns = time_ns;
	p->spoke_ns = time_ns;
	return time_ns - p->steady_ns > STALL_NS;
}

/* @newest: it came in what the client sent last, as far as we know. */
static void see_ack(struct place *p, uint32_t ack, bool newest, int64_t time_ns)
{
	struct lag_direction *d = &p->player.way[LAG_S2C];
	struct lag_window *w = &p->way[LAG_S2C];
	struct lag_message *m = lag_window_find(w, ack);
	int64_t due_ns = (int64_t)(ping_floor(p) + SLACK_MS) * MS_NS + p->pace_ns;
	bool steady;

	if (!m || w->highest - ack >= LAG_WINDOW)
		return;
	steady = see_steady(p, time_ns);
	see_arrived(p, m, time_ns);
	for (uint32_t s = ack + 1; s - 1 != w->highest; s++) {
		struct lag_message *later = lag_window_find(w, s);

		if (!newest || !steady || !later || later->due ||
		    p->player.ping_ms == LAG_PING_NONE ||
		    time_ns - later->time_ns < due_ns)
			continue;
		later->due = true;
		later->due_ns = time_ns;
	}
	if (p->has_ack && (int32_t)(ack - p->ack) > 0 && ack - p->ack < LAG_WINDOW)
		for (uint32_t s = p->ack + 1; s != ack; s++) {
			struct lag_message *passed = lag_window_find(w, s);

			if (passed)
				see_passed(d, passed, p->way[LAG_C2S].blind, time_ns);
		}
	if (!p->has_ack || (int32_t)(ack - p->ack) > 0)
		p->ack = ack;
	p->has_ack = true;
}

/*
 * A client of NetQuake moves first and listens afterwards, each frame: what it has heard
 * it gives back a frame later. The longest frame counts, and is forgotten by halves.
 */
static void see_rates(struct place *p, int64_t time_ns)
{
	int64_t step_ns = time_ns - p->moved_ns;

	if (p->moved_ns && step_ns < SECOND_NS)
		p->pace_ns =
			step_ns > p->pace_ns ? step_ns : p->pace_ns - (p->pace_ns >> 5);
	p->moved_ns = time_ns;
}

/*
 * NetQuake's moves give back the time of the newest message that the client has, which so
 * is acknowledged. Only a time that one message alone has told tells which.
 */
static void see_echo(struct place *p, int64_t echo_us, bool newest, int64_t time_ns)
{
	struct lag_window *w = &p->way[LAG_S2C];
	struct lag_message *m, *before;

	for (uint32_t back = 0; back < LAG_WINDOW; back++) {
		m = lag_window_find(w, w->highest - back);
		if (!m || !m->has_timestamp || m->timestamp_us > echo_us)
			continue;
		if (m->timestamp_us < echo_us)
			return;
		before = lag_window_find(w, m->sequence - 1);
		if (before && before->has_timestamp && before->timestamp_us == echo_us)
			return;
		p->echoes = true;
		see_rates(p, time_ns);
		see_ack(p, m->sequence, newest, time_ns);
		return;
	}
}

/* NetQuake's reliable messages: one at a time, sent again until acknowledged. */
static void see_reliable(struct place *p, const struct facts *f, bool c2s,
			 int64_t time_ns)
{
	if (c2s && (f->has & FACT_ACKNOWLEDGES) && p->has_reliable &&
	    f->sequence == p->reliable) {
		if (!p->echoes)
			see_ping(p, time_ns - p->reliable_ns, time_ns);
		p->has_reliable = false;
	} else if (!c2s && !(f->has & FACT_ACKNOWLEDGES) &&
		   !(p->has_reliable && f->sequence == p->reliable)) {
		p->has_reliable = true;
		p->reliable = f->sequence;
		p->reliable_ns = time_ns;
	}
}

/* --- one record -------------------------------------------------------------- */

static void keep_text(char to[LAG_NAME], const uint8_t *text, size_t n)
{
	if (!n)
		return;
	if (n > LAG_NAME - 1)
		n = LAG_NAME - 1;
	memcpy(to, text, n);
	to[n] = 0;
}

static void count_pauses_of_server(struct place *p, const struct facts *f,
				   int64_t time_ns)
{
	if (f->has & FACT_MAP)
		lag_pause_loading(&p->pause, time_ns);
	else
		lag_pause_server(&p->pause, &p->player.pauses, time_ns,
				 f->has & FACT_DELAYED);
}

static void see_client(struct lagometer *l, struct place *p, const struct facts *f,
		       int64_t time_ns)
{
	uint64_t before = p->player.way[LAG_C2S].lost, lost;

	see_sequence(l, p, LAG_C2S, f, time_ns);
	if (p->way[LAG_C2S].blind)
		lag_pause_blind(&p->pause);
	lost = p->player.way[LAG_C2S].lost;
	lag_pause_client(&p->pause, &p->player.pauses, time_ns,
			 lost > before ? (uint32_t)(lost - before) : 0);
}

static void count_rates(struct place *p, bool c2s, int64_t time_ns)
{
	int64_t past_ns = time_ns - p->second_ns;

	if (past_ns >= SECOND_NS) {
		p->player.snapshots_per_s =
			(uint32_t)((p->snapshots * SECOND_NS + past_ns / 2) / past_ns);
		p->player.packets_per_s =
			(uint32_t)((p->packets * SECOND_NS + past_ns / 2) / past_ns);
		p->snapshots = p->packets = 0;
		p->second_ns = time_ns;
	}
	p->packets += c2s;
	p->snapshots += !c2s;
	p->player.snapshots += !c2s;
}

void lagometer_record(struct lagometer *l, uint32_t slot, const struct record *r)
{
	bool c2s = r->direction == DIRECTION_C2S;
	const struct facts *f = &r->facts;
	/* A malformed record may name anything. */
	uint32_t has = r->status == RECORD_MALFORMED ? 0 : f->has;
	int64_t time_ns = r->time_ns - l->ahead_ns;
	struct place *p;
	bool newest;

	/* A recording is of one client, without an address. */
	if (r->direction == DIRECTION_UNKNOWN ||
	    (!r->source.length && l->side != LAG_BESIDE_CLIENT) ||
	    !(has & (FACT_SEQUENCE | FACT_NAME)))
		return;
	p = place_of(l, slot, r, time_ns);
	if (!p)
		return;
	/* A request to join may come from any host, in the name of a player. */
	if (p->plays && !(has & FACT_SEQUENCE)) {
		keep_text(p->knocked, f->name, f->name_n);
		return;
	}
	if (p->player.last_ns <= l->unseen_ns)
		lag_pause_blind(&p->pause);
	p->player.last_ns = time_ns;
	p->player.family = r->family;
	if (r->dialect && !r->guess)
		p->player.dialect = r->dialect;
	if (has & FACT_NAME) {
		keep_text(p->player.name, f->name, f->name_n);
		*p->knocked = 0;
	}
	if (has & FACT_MAP)
		keep_text(p->player.map, f->map, f->map_n);
	if (!(has & FACT_SEQUENCE))
		return;
	/* The receiver cannot forge messages of the server. */
	p->plays |= !c2s;
	if (!c2s)
		count_pauses_of_server(p, f, time_ns);
	if (has & FACT_RELIABLE) {
		see_reliable(p, f, c2s, time_ns);
		return;
	}
	if (has & FACT_SLICE)
		return;
	count_rates(p, c2s, time_ns);
	if (c2s)
		see_client(l, p, f, time_ns);
	else if (l->side == LAG_BESIDE_CLIENT)
		see_sequence(l, p, LAG_S2C, f, time_ns);
	else
		see_server(p, f, time_ns);
	newest = p->way[LAG_C2S].highest == f->sequence;
	if (c2s && (has & FACT_COMMAND_TIME) && (has & FACT_ACK))
		see_frame(p, f);
	if (!c2s || l->side != LAG_BESIDE_SERVER)
		return;
	if (has & FACT_ACK)
		see_ack(p, f->ack, newest, time_ns);
	else if (has & FACT_COMMAND_TIME)
		see_echo(p, f->command_us, newest, time_ns);
}
