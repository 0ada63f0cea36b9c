// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * beside.c - see beside.h: the clock, the tap, and how much of it is judged.
 */
#include <errno.h>
#include <net/if.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "capture/tap.h"
#include "lib/address.h"
#include "lib/log.h"
#include "replay/beside.h"
#include "shield/about.h"

#define SECOND_NS 1000000000ll
#define LOOK_MS	  100 /* how often the time is looked at, without traffic */

struct run {
	const struct shield *shield;
	const int *ifindexes;
	size_t count;
	struct tap *tap;
	struct beside *beside;
	__u32 generation; /* of the shield, when its configuration was read */
	__u32 programs[TAP_INTERFACES]; /* on the interfaces, likewise */
	int64_t looked_ns; /* when the interfaces were looked at */
	int64_t begun_ns, until_ns;
	int64_t read_ns; /* the time of the last frame */
	int64_t second_ns; /* when the second began that .taken is of */
	unsigned int taken; /* datagrams that were judged in this second */
	uint64_t over; /* datagrams that were not, in all */
};

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * SECOND_NS + now.tv_nsec;
}

static const char *client_state(void *context, const struct record_address *client)
{
	static const char *const names[] = {
		[ABOUT_INVITED] = "invited",
		[ABOUT_VALIDATED] = "validated",
		[ABOUT_ESTABLISHED] = "player",
	};
	const struct run *run = context;
	struct about_host host;
	struct about_flow flow;
	__be32 address[4];

	address_of(client->bytes, client->length, address);
	host = about_host(address);
	return about_flows(run->shield, &host, -1, client->port, &flow, 1)
		       ? names[flow.state]
		       : NULL;
}

static void each(const struct replay_packet *packet, void *context)
{
	struct run *run = context;

	beside_add(&run->beside->rows, packet, client_state, run);
}

/* Return true if one more frame, of @time_ns, may be judged in its second. */
static bool within_rate(struct run *run, int64_t time_ns)
{
	if (time_ns - run->second_ns >= SECOND_NS) {
		run->second_ns = time_ns;
		run->taken = 0;
	}
	if (run->taken++ < BESIDE_RATE)
		return true;
	if (run->taken == BESIDE_RATE + 1 && run->beside->share > 1) {
		run->beside->share /= 2;
		tap_share(run->tap, run->beside->share);
	}
	run->over++;
	return false;
}

/* Put the program of each interface into @ret; 0: none, or the interface has gone. */
static void programs(const struct run *run, __u32 ret[TAP_INTERFACES])
{
	char name[IF_NAMESIZE];

	for (size_t i = 0; i < run->count; i++)
		ret[i] = if_indextoname((unsigned int)run->ifindexes[i], name)
				 ? shield_program_on(name)
				 : 0;
}

static bool is_attached(const struct shield *shield)
{
	struct shield_link links[CONFIG_INTERFACES];
	size_t n = shield_links(shield, links, CONFIG_INTERFACES);

	for (size_t i = 0; i < n && i < CONFIG_INTERFACES; i++)
		if (links[i].attached)
			return true;
	return false;
}

/*
 * Return what was done to the shield, or NULL: nothing. An upgrade may bring tables of
 * its own, and leave the generation of these as it is.
 */
static const char *done_to(struct run *run, int64_t time_ns)
{
	bool reloaded = shield_generation(run->shield) != run->generation;
	__u32 now[TAP_INTERFACES];

	if (!reloaded && time_ns - run->looked_ns < SECOND_NS)
		return NULL;
	run->looked_ns = time_ns;
	programs(run, now);
	for (size_t i = 0; i < run->count; i++)
		if (now[i] && now[i] != run->programs[i])
			return "replaced";
	if (reloaded)
		return "reloaded";
	return is_attached(run->shield) ? NULL : "detached";
}

/*
 * Note that the shield was changed: what comes from then on is not what the configuration
 * lets pass that the trial compares. Called before a frame is judged.
 */
static void look(struct run *run, int64_t time_ns)
{
	if (run->beside->ended)
		return;
	run->beside->ended = done_to(run, time_ns);
	if (run->beside->ended)
		log_warn("trial: the shield was %s: it ends here", run->beside->ended);
}

/* 0, or -errno after a message. */
static int frames(struct run *run, const volatile sig_atomic_t *stop)
{
	struct replay_packet packet = { .file = "" };
	struct capture_frame frame;
	int err = 0;

	while (!err && !*stop && tap_next(run->tap, &frame) &&
	       frame.time_ns < run->until_ns) {
		run->read_ns = frame.time_ns;
		look(run, frame.time_ns);
		if (run->beside->ended)
			break;
		if (within_rate(run, frame.time_ns))
			err = replay_frame(run->beside->replay, &frame, &packet);
	}
	return err;
}

/*
 * Judge the frames that wait, then let it be @time_ns, for which no frame waits any more.
 * 0, or -errno after a message.
 */
static int catch_up(struct run *run, int64_t time_ns, const volatile sig_atomic_t *stop)
{
	int err;

	look(run, time_ns);
	err = run->beside->ended ? 0 : frames(run, stop);
	if (!err && time_ns > run->read_ns)
		replay_clock(run->beside->replay, time_ns);
	return err;
}

static int judge_all(struct run *run, const volatile sig_atomic_t *stop)
{
	struct pollfd readable = { .fd = tap_fd(run->tap), .events = POLLIN };
	bool last = false;
	int err = 0;

	/* The last turn is for frames that came in time, and wait. */
	while (!err && !*stop && !run->beside->ended && !last) {
		int64_t left_ms = (run->until_ns - now_ns()) / 1000000 + 1;

		if (left_ms > 0 &&
		    poll(&readable, 1, (int)(left_ms < LOOK_MS ? left_ms : LOOK_MS)) <
			    0 &&
		    errno != EINTR)
			err = -errno;
		last = now_ns() >= run->until_ns;
		if (!err)
			err = catch_up(run, last ? run->until_ns : now_ns(), stop);
	}
	run->beside->interrupted = *stop || run->beside->ended;
	return err;
}

/* From now on traffic is kept, to be judged when the trials are there. */
static int start(void *context)
{
	struct run *run = context;
	int err = tap_open(run->ifindexes, run->count, &run->tap);

	if (err)
		log_error("trial: cannot look at the traffic: %s", strerror(-err));
	run->begun_ns = now_ns();
	return err;
}

int beside_run(const struct shield *shield, const int *ifindexes, size_t count,
	       const struct config *now, const struct config *other, int64_t for_ns,
	       const volatile sig_atomic_t *stop, struct beside **ret)
{
	struct run run = {
		.shield = shield,
		.ifindexes = ifindexes,
		.count = count,
		.generation = shield_generation(shield),
	};
	int err;

	run.beside = calloc(1, sizeof(*run.beside));
	if (!run.beside) {
		log_error("trial: not enough memory");
		return -ENOMEM;
	}
	run.beside->share = TAP_SHARES;
	programs(&run, run.programs);
	err = replay_beside(shield, now, other, start, each, &run, &run.beside->replay);
	if (!err) {
		run.until_ns = run.begun_ns + for_ns;
		replay_clock(run.beside->replay, run.begun_ns);
		err = judge_all(&run, stop);
		run.beside->seconds = (double)(now_ns() - run.begun_ns) / SECOND_NS;
		run.beside->queue_full = tap_lost(run.tap);
		run.beside->lost = run.over + run.beside->queue_full;
	}
	tap_close(run.tap);
	if (err)
		beside_free(run.beside);
	else
		*ret = run.beside;
	return err;
}

void beside_free(struct beside *beside)
{
	if (beside)
		replay_close(beside->replay);
	free(beside);
}
