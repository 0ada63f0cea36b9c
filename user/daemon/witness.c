// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * witness.c - see witness.h.
 *
 * Called by the daemon's main loop in its one thread: is_lively() has static buffers.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/witness.h"
#include "lib/arrivals.h"
#include "lib/log.h"
#include "lib/netlinks.h"
#include "lib/udp_sockets.h"
#include "stats/self_test.h"

#define LOOK_MAX    4096 /* datagrams in one look */
#define LATELY_S    UNJUDGED_AGE_S
#define DOUBT_LOOKS 12 /* a minute: then it is said what may keep datagrams away */

#define HITS_SURE   3 /* looks in which datagrams came in elsewhere */
#define HITS_WITHIN 24 /* looks, from one to the next: as long as one counts */

struct seen {
	__u64 received; /* datagrams that the programs had counted, at the last look */
	__u32 turn; /* of the counters, when they were read: shield_counters_turn() */
	__u32 judged_s; /* when that had grown; 0: never */
	int ifindex; /* in this look: by which interface others came in; 0: by none */
	bool below; /* one below ours: it counts only if ours sees nothing */
	enum judged reported;
	unsigned int hits; /* looks with such arrivals lately, up to HITS_SURE */
	unsigned int hit; /* number of the last of these looks */
};

struct witness {
	struct shield *shield;
	const struct config *config;
	int fd; /* -1: not allowed */
	struct netlink_row rows[NETLINKS_MAX];
	size_t row_count;
	struct seen seen[SERVICES_MAX]; /* by slot */
	unsigned int looks; /* since the start or the last reload */
	unsigned int count; /* of all looks */
};

/*
 * Return true if @index is that of an interface of the configuration. By name, so that an
 * interface that comes again counts.
 */
static bool is_ours(const struct witness *w, int index)
{
	for (size_t i = 0; i < w->config->interface_count; i++)
		if (index && index == (int)if_nametoindex(w->config->interfaces[i]))
			return true;
	return false;
}

/*
 * Is @index ours, or does what arrives at it come in by one of ours? @w->rows: of the
 * last rows_read().
 */
static bool is_judged(const struct witness *w, int index)
{
	if (is_ours(w, index))
		return true;
	for (size_t i = 0; i < w->config->interface_count; i++)
		if (netlinks_over(w->rows, w->row_count, index,
				  (int)if_nametoindex(w->config->interfaces[i])))
			return true;
	return false;
}

/* Does what arrives at @index go on to one of ours, or some of it? */
static bool is_below(const struct witness *w, int index)
{
	for (size_t i = 0; i < w->config->interface_count; i++)
		if (netlinks_over(w->rows, w->row_count,
				  (int)if_nametoindex(w->config->interfaces[i]), index))
			return true;
	return false;
}

/* Fill in w->rows. Called before they are looked at with another configuration. */
static void rows_read(struct witness *w)
{
	int count = netlinks_read(w->rows);

	w->row_count = count > 0 ? (size_t)count : 0;
}

/*
 * Forget what was noted of services that came in by interfaces which are judged now: the
 * configuration names them, as was asked for. Called with each new configuration.
 */
static void forget_judged(struct witness *w)
{
	char by[IF_NAMESIZE];

	rows_read(w);
	for (__u32 slot = 0; slot < SERVICES_MAX; slot++) {
		if (shield_judged(w->shield, slot, 0, by) < JUDGED_PARTLY ||
		    !is_judged(w, (int)if_nametoindex(by)))
			continue;
		shield_unjudged_put(w->shield, slot, 0, false);
		w->seen[slot].hits = 0;
	}
}

struct witness *witness_open(struct shield *shield, const struct config *config)
{
	struct witness *w = calloc(1, sizeof(*w));

	if (!w) {
		log_error("not enough memory");
		return NULL;
	}
	w->shield = shield;
	w->config = config;
	w->fd = arrivals_open();
	if (w->fd < 0)
		log_info(
			"what comes in by interfaces that are not protected is not seen: %s "
			"(it takes CAP_NET_RAW)",
			strerror(-w->fd));
	forget_judged(w);
	return w;
}

void witness_reload(struct witness *w, const struct config *config)
{
	if (!w)
		return;
	w->config = config;
	w->looks = 0;
	for (__u32 slot = 0; slot < SERVICES_MAX; slot++)
		w->seen[slot].reported = JUDGED_UNKNOWN;
	forget_judged(w);
}

void witness_close(struct witness *w)
{
	if (!w)
		return;
	if (w->fd >= 0)
		close(w->fd);
	free(w);
}

/*
 * Look from now on at all interfaces that are neither ours nor the loopback. Called at
 * the end of witness_look(): interfaces may have changed.
 */
static void listen_anew(struct witness *w)
{
	__u16 ports[ARRIVALS_PORTS];
	int skipped[ARRIVALS_SKIPPED];
	size_t port_count = 0, skipped_count = 0;

	rows_read(w);
	for (size_t i = 0; i < w->row_count && skipped_count < ARRIVALS_SKIPPED; i++)
		if (w->rows[i].loopback || is_judged(w, w->rows[i].index))
			skipped[skipped_count++] = w->rows[i].index;
	for (size_t i = 0; i < w->config->service_count; i++)
		for (size_t p = 0; p < w->config->services[i].port_count; p++)
			if (port_count < ARRIVALS_PORTS)
				ports[port_count++] = w->config->services[i].ports[p];
	arrivals_listen(w->fd, ports, port_count, skipped, skipped_count);
}

/*
 * Return true if @a is for a service of @c: its port, and its address or any of this
 * host.
 */
static bool is_for(const struct config_service *c, const struct arrival *a)
{
	bool port = false;

	for (size_t i = 0; i < c->port_count; i++)
		port |= c->ports[i] == a->port;
	for (size_t i = 0; port && i < c->address_count; i++)
		if (!memcmp(c->addresses[i], a->to, sizeof(a->to)))
			return true;
	/* A forwarded datagram is not for a service of this host. */
	return port && !c->address_count && address_is_here(a->to);
}

/* Return the slot of the service @name in force; -1: there is none. */
static int slot_named(const struct witness *w, const char *name)
{
	struct service service;

	for (__u32 slot = 0; slot < SERVICES_MAX; slot++)
		if (shield_service(w->shield, slot, &service) &&
		    !strncmp(service.name, name, NAME_MAX_LEN))
			return (int)slot;
	return -1;
}

/*
 * Note for the service of @a by which interface it came, if none of ours sees it. Another
 * interface than one below ours goes first, since it is the surer sign.
 */
static void arrival_note(struct witness *w, const struct arrival *a)
{
	for (size_t i = 0; i < w->config->service_count; i++) {
		const struct config_service *c = &w->config->services[i];
		struct seen *seen;
		int slot;

		if (!is_for(c, a) || is_judged(w, a->ifindex))
			continue;
		slot = slot_named(w, c->service.name);
		if (slot < 0)
			return;
		seen = &w->seen[slot];
		if (seen->ifindex && !seen->below)
			return;
		seen->ifindex = a->ifindex;
		seen->below = is_below(w, a->ifindex);
		return;
	}
}

/*
 * Is what ours see all sent by this machine itself? Then it is no service's traffic. Then
 * lively services do not count as judged: witness_look().
 */
static bool is_local(const struct witness *w)
{
	for (size_t i = 0; i < w->row_count; i++)
		if (!w->rows[i].loopback && is_ours(w, w->rows[i].index))
			return false;
	return true;
}

/*
 * Has a datagram for it been judged lately? @turn: of the counters. Call it once a look
 * for each slot: it notes what was counted.
 */
static bool is_lively(struct witness *w, __u32 slot, __u32 turn)
{
	struct seen *seen = &w->seen[slot];
	__u32 now = (__u32)(shield_clock() >> 30) | 1;
	static struct counters in, out;
	__u64 sum;

	if (shield_counters_changed(w->shield, slot, seen->turn) &&
	    !shield_counters(w->shield, slot, &in, &out)) {
		sum = counters_packets(&in);
		if (sum != seen->received)
			seen->judged_s = now;
		seen->received = sum;
		seen->turn = turn;
	}
	return seen->judged_s && now - seen->judged_s <= LATELY_S;
}

/*
 * Log if the service in @slot is judged otherwise than was last logged: once for each
 * change.
 */
static void say(struct witness *w, __u32 slot, const char *name)
{
	struct seen *seen = &w->seen[slot];
	char by[IF_NAMESIZE];
	enum judged now = shield_judged(w->shield, slot, seen->received, by);

	if (now >= JUDGED_PARTLY && now > seen->reported)
		log_warn(
			"service '%s': %sdatagrams for it come in by '%s', where nothing "
			"judges them: name that interface, or the one below it that carries "
			"its frames, with `interface`",
			name, now == JUDGED_NO ? "" : "some ", by);
	else if (now < JUDGED_PARTLY && seen->reported >= JUDGED_PARTLY)
		log_info(
			"service '%s': no datagram has come in for 2 minutes where nothing "
			"judges it",
			name);
	seen->reported = now;
}

/*
 * Log the services for which nothing has come, and that nothing may come for. Called
 * once after a start or reload.
 */
static void say_doubts(const struct witness *w)
{
	struct self_test *tests = calloc(SERVICES_MAX, sizeof(*tests));
	size_t count = tests ? self_test_run(w->shield, tests) : 0;
	char text[SELF_TEST_TEXT];
	bool fault;

	for (size_t i = 0; i < count; i++) {
		self_test_text(&tests[i], text, &fault);
		if (fault && tests[i].judged < JUDGED_PARTLY)
			log_warn("service '%s': %s", tests[i].service, text);
	}
	free(tests);
}

/*
 * Return true if datagrams of a service keep coming in elsewhere. One stray datagram on
 * another interface, which any neighbour can send, does not make a quiet service
 * unprotected: nothing is noted before the third look. Call it once a look, if such
 * datagrams came: it counts.
 */
static bool is_sure(const struct witness *w, struct seen *seen)
{
	if (w->count - seen->hit > HITS_WITHIN)
		seen->hits = 0;
	seen->hit = w->count;
	if (seen->hits < HITS_SURE)
		seen->hits++;
	return seen->hits == HITS_SURE;
}

void witness_look(struct witness *w)
{
	struct service service;
	struct arrival a;
	bool local;
	__u32 turn;

	if (w && ++w->looks == DOUBT_LOOKS)
		say_doubts(w);
	if (!w || w->fd < 0)
		return;
	w->count++;
	for (__u32 slot = 0; slot < SERVICES_MAX; slot++)
		w->seen[slot].ifindex = 0;
	for (int i = 0; i < LOOK_MAX && arrivals_next(w->fd, &a); i++)
		arrival_note(w, &a);
	local = is_local(w);
	turn = shield_counters_turn(w->shield);
	for (__u32 slot = 0; slot < SERVICES_MAX; slot++) {
		struct seen *seen = &w->seen[slot];
		bool lively;

		if (!shield_service(w->shield, slot, &service))
			continue;
		lively = is_lively(w, slot, turn) && !local;
		if (seen->ifindex && !(seen->below && lively) && is_sure(w, seen))
			shield_unjudged_put(w->shield, slot, seen->ifindex, !lively);
		say(w, slot, service.name);
	}
	listen_anew(w);
}
