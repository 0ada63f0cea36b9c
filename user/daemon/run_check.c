// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * run_check.c - see run_check.h.
 *
 * Called by the daemon's main loop in its one thread. One interface is counted at a time,
 * and only while there is a suspicion: the frames of a busy host pass no packet socket.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "daemon/run_check.h"
#include "lib/delivered.h"
#include "lib/log.h"
#include "lib/netlinks.h"
#include "stats/stats.h"

#define FRAMES_MIN 100 /* in one look, or it proves nothing */
/*
 * A proof: more than this many times as many frames were delivered as were judged. More
 * than one, since IPsec and the like deliver a frame again that the program has seen.
 */
#define MORE   8
#define PROOFS 2 /* looks with a proof, in a row */
#define PAUSE_LOOKS \
	12 /* a minute: until an interface is counted again that was cleared */
#define TRIES	 2 /* to attach again: in its mode, in generic mode */
#define FORGET_S 600 /* after which a try that helped no longer counts */

struct checked {
	int ifindex; /* 0: this row is free */
	bool linked; /* in this look */
	__u64 received; /* frames, by its driver, at the last look */
	unsigned int proofs; /* in a row */
	unsigned int pause; /* looks */
	unsigned int tries; /* to attach again, since the program has last run */
	time_t tried_at; /* on the monotonic clock */
	time_t since; /* of the first proof, since 1970; 0: the program runs */
	bool noted; /* it is logged and in the shield's table */
	bool given_up; /* that no further try follows is logged */
};

struct run_check {
	struct shield *shield;
	struct attach_monitor *monitor;
	int fd; /* -1: not allowed */
	int counting; /* row that is counted now; -1: none */
	size_t next; /* row to be counted next, if suspected */
	struct checked rows[UNRUN_MAX];
	bool known; /* `judged` is that of the last look */
	__u64 judged; /* frames that the programs have counted, of all interfaces */
	struct {
		__u64 received;
		__u32 turn; /* when they were read: shield_counters_turn() */
	} services[SERVICES_MAX]; /* by slot */
	struct netlink_row links[NETLINKS_MAX];
	size_t link_count;
};

struct run_check *run_check_open(struct shield *shield, struct attach_monitor *monitor)
{
	struct run_check *c = calloc(1, sizeof(*c));

	if (!c) {
		log_error("not enough memory");
		return NULL;
	}
	c->shield = shield;
	c->monitor = monitor;
	c->counting = -1;
	c->fd = delivered_open();
	if (c->fd < 0)
		log_info("a driver that runs no program any more is not noticed: %s (it "
			 "takes CAP_NET_RAW)",
			 strerror(-c->fd));
	for (size_t i = 0; i < UNRUN_MAX; i++)
		shield_unrun_put(shield, i, 0, 0);
	return c;
}

void run_check_close(struct run_check *c)
{
	if (!c)
		return;
	if (c->fd >= 0)
		close(c->fd);
	free(c);
}

/* Return the steady time in seconds. */
static time_t seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

/*
 * Sum up in *@ret the frames that the programs have counted at ingress. False: a counter
 * cannot be read. A service that was exchanged lets the sum fall.
 */
static bool judged_read(struct run_check *c, __u64 *ret)
{
	__u32 turn = shield_counters_turn(c->shield);
	struct counter others[OTHER_COUNT];
	static struct counters in, out;
	struct service service;

	if (shield_others(c->shield, others))
		return false;
	*ret = 0;
	for (size_t i = 0; i < OTHER_COUNT; i++)
		*ret += others[i].packets;
	for (__u32 slot = 0; slot < SERVICES_MAX; slot++) {
		if (!shield_service(c->shield, slot, &service))
			continue;
		if (shield_counters_changed(c->shield, slot, c->services[slot].turn)) {
			if (shield_counters(c->shield, slot, &in, &out))
				return false;
			c->services[slot].received = counters_packets(&in);
			c->services[slot].turn = turn;
		}
		*ret += c->services[slot].received;
	}
	return true;
}

/* Forget the row @i: its interface is not ours any more, or is another one. */
static void row_clear(struct run_check *c, size_t i)
{
	if (c->rows[i].noted)
		shield_unrun_put(c->shield, i, 0, 0);
	memset(&c->rows[i], 0, sizeof(c->rows[i]));
	if (c->counting == (int)i)
		c->counting = -1;
}

/* Return the row of the interface @ifindex, a new one if need be; NULL: none is free. */
static struct checked *row_of(struct run_check *c, int ifindex)
{
	struct checked *ret = NULL;

	for (size_t i = 0; i < UNRUN_MAX; i++)
		if (c->rows[i].ifindex == ifindex)
			return &c->rows[i];
	for (size_t i = 0; i < UNRUN_MAX && !ret; i++)
		if (!c->rows[i].ifindex)
			ret = &c->rows[i];
	if (ret)
		ret->ifindex = ifindex;
	return ret;
}

/* --- what a proof leads to -----------------------------------------------------------
 */

/*
 * Attach @l again. In the mode that it has first: a driver that has lost its program
 * takes it anew. Then in generic mode, for which the driver need do nothing, unless the
 * configuration wants native mode. Called by proof_note() while a try is left.
 */
static void attach_again(struct run_check *c, struct checked *p,
			 const struct shield_link *l)
{
	enum attach_mode mode = l->mode == MODE_SKB ? MODE_SKB : c->monitor->mode;

	if (p->tries) {
		log_warn(
			"'%s': attaching again has not helped, or not for long: attaching in "
			"generic (skb) mode, which is slower and does without the driver. "
			"`quakeshield detach` and another start try native mode again",
			l->interface);
		mode = MODE_SKB;
	}
	p->tries++;
	p->tried_at = seconds();
	attach_monitor_renew(c->monitor, l->interface, mode);
}

/* Return true if attaching again may help, and has not been tried. */
static bool try_is_left(const struct run_check *c, const struct checked *p,
			const struct shield_link *l)
{
	if (!p->tries)
		return true;
	return p->tries < TRIES && l->mode != MODE_SKB && c->monitor->mode != MODE_NATIVE;
}

/*
 * Note that @l does not run our program, and do something about it. @delivered, @judged:
 * of the last look. Called by count_judge() after PROOFS looks.
 */
static void proof_note(struct run_check *c, struct checked *p,
		       const struct shield_link *l, __u64 delivered, __u64 judged)
{
	char since[TIME_TEXT];

	if (!p->noted && p->tries && seconds() - p->tried_at >= FORGET_S)
		p->tries = 0;
	time_format(p->since, since);
	if (!p->noted)
		log_warn("'%s' is attached in %s mode, but judges nothing since %s: of "
			 "the last %llu frames that came in, the program has run for "
			 "%llu: attaching again (by hand: `quakeshield detach`, and "
			 "another start)",
			 l->interface, mode_name(l->mode), since,
			 (unsigned long long)delivered, (unsigned long long)judged);
	p->noted = true;
	shield_unrun_put(c->shield, (size_t)(p - c->rows), p->ifindex, p->since);
	p->proofs = 0;
	if (try_is_left(c, p, l)) {
		attach_again(c, p, l);
		return;
	}
	if (!p->given_up)
		log_error("'%s' judges nothing, and is not attached again: %s",
			  l->interface,
			  l->mode == MODE_SKB
				  ? "frames reach it in a way that leaves XDP out"
				  : "set `mode = skb`, `quakeshield detach`, and start "
				    "it again");
	p->given_up = true;
}

/* Note that the program of @l runs. */
static void cleared_note(struct run_check *c, struct checked *p,
			 const struct shield_link *l)
{
	if (p->noted) {
		log_info("'%s' judges again", l->interface);
		shield_unrun_put(c->shield, (size_t)(p - c->rows), 0, 0);
	}
	p->noted = p->given_up = false;
	p->since = 0;
	p->proofs = 0;
	p->pause = PAUSE_LOOKS;
}

/* --- looking -------------------------------------------------------------------------
 */

/*
 * Judge the count that has ended: @delivered frames of @l, while the programs have
 * counted @judged. Fewer than FRAMES_MIN prove nothing, unless the programs ran.
 */
static void count_judge(struct run_check *c, struct checked *p,
			const struct shield_link *l, __u64 delivered, __u64 judged)
{
	if (judged && judged * MORE >= delivered) {
		cleared_note(c, p, l);
		return;
	}
	if (delivered < FRAMES_MIN) {
		p->proofs = 0;
		return;
	}
	if (!p->noted && !p->proofs)
		p->since = time(NULL);
	if (++p->proofs == PROOFS)
		proof_note(c, p, l, delivered, judged);
}

/*
 * Bring the row @p up to date. Returns true if it should be counted: the programs have
 * only @judged few frames since the last look, or far fewer than its driver has counted;
 * or a proof waits for another one; or it is noted, and the program may run again.
 */
static bool suspected(const struct run_check *c, struct checked *p, __u64 judged)
{
	const struct netlink_row *link =
		netlinks_row(c->links, c->link_count, p->ifindex);
	__u64 before = p->received, came;

	p->received = link ? link->received : 0;
	if (p->pause) {
		p->pause--;
		return false;
	}
	if (p->proofs || p->noted)
		return true;
	came = before && p->received > before ? p->received - before : 0;
	return judged < FRAMES_MIN || judged * MORE < came;
}

/*
 * Keep what is known of @ifindex, which has no carrier now: many a driver lets go of it
 * for seconds when a program is attached, and the tries would begin anew after each.
 */
static void row_keep(struct run_check *c, int ifindex)
{
	for (size_t i = 0; i < UNRUN_MAX; i++)
		if (c->rows[i].ifindex == ifindex) {
			c->rows[i].linked = true;
			c->rows[i].proofs = 0;
		}
}

/*
 * Find the rows of @links, and forget those of other interfaces. Links on which not all
 * programs are attached are attach_monitor_repair()'s.
 */
static void rows_match(struct run_check *c, const struct shield_link *links, size_t count,
		       struct checked *ret[CONFIG_INTERFACES])
{
	for (size_t i = 0; i < UNRUN_MAX; i++)
		c->rows[i].linked = false;
	for (size_t i = 0; i < count; i++) {
		int ifindex;

		ret[i] = NULL;
		if (!links[i].attached ||
		    !attach_monitor_watches(c->monitor, links[i].interface))
			continue;
		ifindex = (int)if_nametoindex(links[i].interface);
		if (ifindex && links[i].down)
			row_keep(c, ifindex);
		else
			ret[i] = row_of(c, ifindex);
		if (ret[i])
			ret[i]->linked = true;
	}
	for (size_t i = 0; i < UNRUN_MAX; i++)
		if (c->rows[i].ifindex && !c->rows[i].linked)
			row_clear(c, i);
}

/* Begin to count the next row that is suspected. @judged: since the last look. */
static void count_next(struct run_check *c, __u64 judged)
{
	bool wanted[UNRUN_MAX] = { false };

	for (size_t i = 0; i < UNRUN_MAX; i++)
		wanted[i] = c->rows[i].ifindex && suspected(c, &c->rows[i], judged);
	for (size_t n = 0; n < UNRUN_MAX; n++) {
		size_t i = (c->next + n) % UNRUN_MAX;

		if (!wanted[i] || delivered_begin(c->fd, c->rows[i].ifindex))
			continue;
		c->counting = (int)i;
		/* A second proof is of the next look, not of one after all others. */
		c->next = c->rows[i].proofs ? i : i + 1;
		return;
	}
}

/*
 * Read how many frames the programs have counted since the last look, in *@ret. False:
 * not known, also after a service was exchanged.
 */
static bool judged_since(struct run_check *c, __u64 *ret)
{
	bool known = c->known;
	__u64 before = c->judged;

	*ret = 0;
	c->known = judged_read(c, &c->judged);
	if (!known || !c->known || c->judged < before)
		return false;
	*ret = c->judged - before;
	return true;
}

void run_check_look(struct run_check *c)
{
	struct shield_link links[CONFIG_INTERFACES];
	struct checked *of[CONFIG_INTERFACES];
	bool counted = false, known;
	__u64 delivered = 0, judged;
	size_t count;
	int rows;

	if (!c || c->fd < 0)
		return;
	/* Before the counters are read: what was delivered must be in them. */
	if (c->counting >= 0)
		counted = !delivered_end(c->fd, &delivered);
	known = judged_since(c, &judged);
	count = shield_links(c->shield, links, CONFIG_INTERFACES);
	if (count > CONFIG_INTERFACES)
		count = CONFIG_INTERFACES;
	rows_match(c, links, count, of);
	for (size_t i = 0; i < count && counted && known; i++)
		if (of[i] && c->counting == (int)(of[i] - c->rows))
			count_judge(c, of[i], &links[i], delivered, judged);
	c->counting = -1;
	rows = netlinks_read(c->links);
	c->link_count = rows > 0 ? (size_t)rows : 0;
	if (known)
		count_next(c, judged);
}
