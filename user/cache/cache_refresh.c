// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * cache_refresh.c - see cache_refresh.h.
 *
 * One question at a time to each server, and each from another of eight addresses of
 * loopback, since engines limit what one address may ask: ioquake3 to one a second, FTE
 * to 15 in 30 seconds, and then not for a day. What was asked in one tick is read in the
 * next. Whether something presses or nothing does, what was learnt is asked for anew just
 * before it gets too old to be sent: a flood's first packets come before anybody could
 * ask, and under it the server has less to spare, not more. Who is known is written down
 * every few minutes, and at the end.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "cache/cache_refresh.h"
#include "cache/cache_request.h"
#include "cache/known_clients.h"
#include "incident/incident_store.h"
#include "lib/log.h"
#include "lib/loop.h"
#include "lib/util.h"

#define TICK_MS	    100 /* while something presses */
#define QUIET_MS    250 /* while a reply is waited for */
#define IDLE_MS	    1000 /* with all others that look once a second */
#define YOUNG_NS    4000000000ull /* a template is asked for again when so old */
#define MISSES_MOST 3 /* in a row, after which a question is one that gets no answer */
#define RETRY_NS    600000000ull /* before that it is asked again so soon */
#define SELDOM_NS   15000000000ull /* and from then on, while nothing presses */
#define SILENT_NS   60000000000ull /* without a reply: its questions take turns */
#define PATIENCE_NS 400000000ull /* for a reply */
#define PACE_NS	    200000000ull /* at most five questions a second to a server */
#define KEEP_NS	    300000000000ull /* how often who is known is written down */
#define SOCKETS	    8
#define LOOPBACK    0x7f535101 /* 127.83.81.1, and those that follow */
#define PLAIN	    SOCKETS /* the socket at 127.0.0.1 */
#define PLAIN_LOOK  16 /* every so many questions another socket is tried again */
#define NONCE_SHORT 9
#define NONCE_LONG  CACHE_NONCE
#define REPLY_MOST  16384 /* octets of a reply; no engine's is longer */
#define MTU_NS	    10000000000ull /* how often the interfaces' MTU is looked at */
#define MTU_LEAST   576 /* octets: a smaller one is not minded */
#define MTU_MOST    1500 /* octets that a path through the internet carries */
#define MTU_HEADS   (20 + 8) /* octets of IPv4's and UDP's headers */
#define READ_MOST   64 /* datagrams of a socket in one tick */

/* One that is a tick late, gets lost and is asked for anew is still young enough. */
_Static_assert(YOUNG_NS + RETRY_NS + 4 * QUIET_MS * 1000000ull < CACHE_NS,
	       "what is kept is too old to be sent");

/* What is known of one question. */
struct learnt {
	__u64 asked_ns;
	struct cache_entry first; /* with a short nonce; made_ns 0: not yet */
	bool placed; /* two agreed on where the nonce stands */
	bool longer; /* the next is asked with a long one */
	unsigned int misses; /* asked since there was last something to send */
};

struct asked {
	char name[NAME_MAX_LEN];
	__u32 slot;
	bool there; /* a service of that name is in force, in that slot */
	enum wire_family family;
	bool always;
	struct sockaddr_in to;
	__u64 heard_ns; /* when it replied last, or began to be asked */
	bool heard; /* it has replied, or it was said that it does not */
	bool missed; /* the latter */
	/* The question that is out; -1: none. */
	int form;
	int socket;
	unsigned int unheard; /* questions since it began to be asked, or replied */
	bool known; /* it has replied since it began to be asked */
	bool plain; /* and last to PLAIN */
	unsigned int turn; /* whose socket is next: each server hears from all */
	__u64 sent_ns;
	char nonce[CACHE_NONCE];
	size_t nonce_n;
	struct learnt learnt[CACHE_FORMS];
};

struct cache_refresh {
	struct shield *shield;
	int sockets[SOCKETS +
		    1]; /* and PLAIN; opened once: later the daemon may open no more */
	bool deaf; /* they could not be */
	size_t count;
	struct asked *servers; /* @count */
	__u32 generation; /* of the configuration that the slots are of */
	char path[INCIDENT_PATH]; /* of who is known; "": not read yet */
	__u64 kept_ns; /* when that was written last */
	int failed; /* 0, or what was said about it */
	__u64 mtu_ns; /* when the MTU was looked at last */
	__u16 most; /* octets of an answer in IPv4 */
};

_Static_assert(MTU_MOST - MTU_HEADS == CACHE_TEXT, "a frame is not filled");

/* --- who is asked -------------------------------------------------------------- */

/* The address at which to ask @s, of which config_unasked() says nothing. */
static struct sockaddr_in address_of(const struct config_service *s)
{
	struct sockaddr_in ret = { .sin_family = AF_INET };

	ret.sin_port = htons(s->ports[0]);
	ret.sin_addr.s_addr =
		s->address_count ? s->addresses[0][3] : htonl(INADDR_LOOPBACK);
	return ret;
}

static bool slot_of(const struct shield *shield, const char *name, __u32 *ret)
{
	struct service service;

	for (__u32 slot = 0; slot < SERVICES_MAX; slot++) {
		if (!shield_service(shield, slot, &service) ||
		    strncmp(service.name, name, NAME_MAX_LEN) != 0)
			continue;
		*ret = slot;
		return true;
	}
	return false;
}

static void add_server(struct cache_refresh *a, const struct config_service *s)
{
	struct asked *server = &a->servers[a->count];
	const char *takes = config_unasked(s);

	if (!s->service.cache || s->service.observe)
		return;
	if (takes) {
		log_warn("service '%s': its server cannot be asked, so nothing is "
			 "answered for it: that takes %s",
			 s->service.name, takes);
		return;
	}
	memset(server, 0, sizeof(*server));
	server->to = address_of(s);
	memcpy(server->name, s->service.name, sizeof(server->name));
	server->family = (enum wire_family)s->service.family;
	server->always = s->service.cache == CACHE_ALWAYS;
	server->form = -1;
	a->count++;
}

/* Nothing is known of what it replies, and nothing is kept of it. */
static void begin_asking(struct asked *s)
{
	memset(s->learnt, 0, sizeof(s->learnt));
	s->form = -1;
	s->heard_ns = shield_clock();
	s->unheard = 0;
	s->known = s->plain = false;
}

/*
 * Whose slots are whose now? Whoever applies another file than ours asks nobody; so what
 * has no service there is not asked until it has one again.
 */
static void slots_find(struct cache_refresh *a)
{
	a->generation = shield_generation(a->shield);
	for (size_t i = 0; i < a->count; i++) {
		struct asked *s = &a->servers[i];
		bool was_there = s->there;
		__u32 was = s->slot;

		s->there = slot_of(a->shield, s->name, &s->slot);
		if (!s->there || !was_there || s->slot != was)
			begin_asking(s);
	}
}

void cache_refresh_reload(struct cache_refresh *a, const struct config *config)
{
	struct asked *servers = NULL;

	if (!a)
		return;
	free(a->servers);
	a->count = 0;
	if (config->service_count)
		servers = calloc(config->service_count, sizeof(*servers));
	a->servers = servers;
	if (a->deaf || config->observe)
		return;
	for (size_t i = 0; servers && i < config->service_count; i++)
		add_server(a, &config->services[i]);
	slots_find(a);
}

/* --- who is known -------------------------------------------------------------- */

static struct known_clients known_now(const struct cache_refresh *a)
{
	struct known_clients at = { .minute = reputation_minute(shield_clock()),
				    .now = time(NULL) };

	at.table = shield_reputation(a->shield, &at.keys);
	return at;
}

static void known_load(struct cache_refresh *a, const char *pin)
{
	struct known_clients at = known_now(a);
	size_t bad, first;
	int err;

	a->kept_ns = shield_clock();
	if (incident_path(pin, "known-clients.txt", a->path)) {
		log_warn("who is known is not kept: " INCIDENT_NO_PATH);
		return;
	}
	err = known_clients_read(a->path, &at, &bad, &first);
	if (err)
		log_warn("cannot read who is known from '%s': %s", a->path,
			 strerror(-err));
	else if (bad)
		log_warn("%s:%zu: not an address, its hops and a time; %zu such lines "
			 "were passed over",
			 a->path, first, bad);
}

static void known_keep(struct cache_refresh *a)
{
	struct known_clients at = known_now(a);
	int err;

	a->kept_ns = shield_clock();
	/* Where nobody is known, there is nothing to make a file for. */
	if (!a->path[0] || !shield_known(a->shield))
		return;
	err = incident_directory(a->path);
	if (!err)
		err = known_clients_write(a->path, &at);
	if (err && err != a->failed)
		log_error("cannot keep who is known in '%s': %s", a->path,
			  strerror(-err));
	a->failed = err;
}

/* --- asking ---------------------------------------------------------------------- */

/* A word that the server has never seen. False: there is no chance to be had. */
static bool nonce_make(struct asked *s, size_t n)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVW"
				      "XYZ0123456789ab";
	unsigned char chance[CACHE_NONCE];

	if (getrandom(chance, n, 0) != (ssize_t)n)
		return false;
	for (size_t i = 0; i < n; i++)
		s->nonce[i] = letters[chance[i] & 63];
	s->nonce_n = n;
	return true;
}

/*
 * From which socket @s is asked next. What comes from elsewhere than 127.0.0.1 does not
 * reach a server in some containers (podman's, which masquerade nothing else). FTE bans
 * an address that asks as often as we do, so a QuakeWorld server is not asked from one.
 */
static int socket_for(struct asked *s)
{
	unsigned int turn = s->turn++;

	s->unheard++;
	if (s->family == FAMILY_QUAKEWORLD)
		return (int)(turn % SOCKETS);
	if (s->plain ? turn % PLAIN_LOOK : !s->known && s->unheard > SOCKETS && turn % 2)
		return PLAIN;
	return (int)(turn % SOCKETS);
}

static void ask(struct cache_refresh *a, struct asked *s, size_t form, __u64 now)
{
	size_t count, n;
	const struct cache_request *forms = cache_requests(s->family, &count);
	struct learnt *learnt = &s->learnt[form];
	char question[CACHE_REQUEST_MAX];

	if (!nonce_make(s, learnt->longer ? NONCE_LONG : NONCE_SHORT))
		return;
	n = challenge_write(&forms[form], s->nonce, s->nonce_n, question);
	s->socket = socket_for(s);
	learnt->asked_ns = now;
	learnt->misses++;
	s->sent_ns = now;
	/* If it cannot be sent, there will be no reply. */
	if (sendto(a->sockets[s->socket], question, n, MSG_DONTWAIT,
		   (const struct sockaddr *)&s->to, sizeof(s->to)) == (ssize_t)n)
		s->form = (int)form;
}

/* How long after it was asked a question is asked again. */
static __u64 again_ns(const struct learnt *l, bool pressed)
{
	if (!l->misses)
		return YOUNG_NS;
	if (l->misses < MISSES_MOST)
		return RETRY_NS;
	return pressed ? YOUNG_NS : SELDOM_NS;
}

/* Nobody is there, it seems. */
static bool silent(const struct asked *s, __u64 now)
{
	return now - s->heard_ns >= SILENT_NS;
}

/* The question whose time comes next, and when; it may have come. */
static size_t due(const struct asked *s, bool pressed, __u64 now, __u64 *ret_when)
{
	size_t count, ret = 0, oldest = 0;

	*ret_when = ~0ull;
	cache_requests(s->family, &count);
	for (size_t i = 0; i < count; i++) {
		const struct learnt *l = &s->learnt[i];
		__u64 when = l->asked_ns ? l->asked_ns + again_ns(l, pressed) : 0;

		if (l->asked_ns < s->learnt[oldest].asked_ns)
			oldest = i;
		if (when >= *ret_when)
			continue;
		*ret_when = when;
		ret = i;
	}
	if (!silent(s, now))
		return ret;
	/* One at a time, in turn: what comes to a closed port looks like a scan. */
	*ret_when = s->sent_ns + again_ns(&s->learnt[oldest], pressed);
	return oldest;
}

/* --- hearing --------------------------------------------------------------------- */

/*
 * One more template of that form: is it to be sent? Where a nonce stands has to be shown
 * by two of different lengths.
 */
static bool learn(struct learnt *l, const struct cache_request *form,
		  const struct cache_entry *t)
{
	bool agrees;

	if (!form->nonce)
		return true;
	agrees = l->first.made_ns && cache_entries_agree(&l->first, t);
	if (l->first.made_ns && !agrees)
		l->placed = false;
	else if (l->first.made_ns && l->longer)
		l->placed = true;
	l->first = *t;
	l->longer = !l->longer;
	return l->placed;
}

static void hear(struct cache_refresh *a, struct asked *s, const char *reply, size_t n)
{
	size_t count;
	const struct cache_request *form = &cache_requests(s->family, &count)[s->form];
	struct cache_entry t;

	if (s->missed)
		log_info("service '%s': its server replies now", s->name);
	s->missed = false;
	s->heard = true;
	s->heard_ns = s->sent_ns;
	s->unheard = 0;
	s->known = true;
	s->plain = s->socket == PLAIN;
	/* A reply to what was asked before, perhaps: ours may still come. */
	if (cache_entry_make(s->family, form, s->nonce, s->nonce_n, reply, n, a->most,
			     s->sent_ns, &t))
		return;
	if (learn(&s->learnt[s->form], form, &t)) {
		if (shield_template_put_for(a->shield, s->name, s->slot, (__u32)s->form,
					    &t))
			s->learnt[s->form].misses = 0;
	} else if (s->learnt[s->form].misses > MISSES_MOST) {
		/* It says something again: the second, which has to agree, comes soon. */
		s->learnt[s->form].misses = 1;
	}
	s->form = -1;
}

static struct asked *server_at(struct cache_refresh *a, int socket,
			       const struct sockaddr_in *from)
{
	for (size_t i = 0; i < a->count; i++) {
		struct asked *s = &a->servers[i];

		if (s->form >= 0 && s->socket == socket &&
		    s->to.sin_port == from->sin_port &&
		    s->to.sin_addr.s_addr == from->sin_addr.s_addr)
			return s;
	}
	return NULL;
}

static void read_socket(struct cache_refresh *a, int socket)
{
	char reply[REPLY_MOST];

	for (int i = 0; i < READ_MOST; i++) {
		struct sockaddr_in from = { 0 };
		socklen_t size = sizeof(from);
		ssize_t n = recvfrom(a->sockets[socket], reply, sizeof(reply),
				     MSG_DONTWAIT, (struct sockaddr *)&from, &size);
		struct asked *s;

		if (n < 0 && errno != ECONNREFUSED)
			return;
		s = n > 0 ? server_at(a, socket, &from) : NULL;
		if (s)
			hear(a, s, reply, (size_t)n);
	}
}

/*
 * Ask @s what it is time for, if it has said all that it will to the last question.
 * Returns in how many ms to come again.
 */
static __u64 ask_next(struct cache_refresh *a, struct asked *s, bool pressed, __u64 now)
{
	__u64 when;
	size_t form;

	if (s->form >= 0 && now - s->sent_ns >= PATIENCE_NS)
		s->form = -1;
	if (s->form < 0 && now - s->sent_ns >= PACE_NS) {
		form = due(s, pressed, now, &when);
		if (when <= now)
			ask(a, s, form, now);
	}
	if (pressed)
		return TICK_MS;
	due(s, pressed, now, &when);
	if (s->form >= 0 || when < now + QUIET_MS * 1000000ull)
		return QUIET_MS;
	return (when - now) / 1000000 + 1;
}

/* That nobody replies there, once: it may be bound to another address, or not run. */
static void tell_of_silence(struct asked *s, __u64 now)
{
	char address[INET_ADDRSTRLEN];

	if (s->heard || !silent(s, now))
		return;
	s->heard = s->missed = true;
	inet_ntop(AF_INET, &s->to.sin_addr, address, sizeof(address));
	log_warn("service '%s': its server does not reply at %s, port %d, so nothing is "
		 "answered for it; unless it is down, write the `address` that it is "
		 "bound to (none if to all), or `cache = off`",
		 s->name, address, ntohs(s->to.sin_port));
}

/* What the narrowest interface carries: that an answer leaves by another is not known. */
static void mtu_look(struct cache_refresh *a, __u64 now)
{
	__u32 mtu = shield_mtu(a->shield);

	if (!mtu || mtu > MTU_MOST)
		mtu = MTU_MOST;
	if (mtu < MTU_LEAST)
		mtu = MTU_LEAST;
	a->mtu_ns = now;
	a->most = (__u16)(mtu - MTU_HEADS);
}

static void on_tick(void *context)
{
	struct cache_refresh *a = context;
	__u64 now = shield_clock(), wait = IDLE_MS, again;

	if (now - a->kept_ns >= KEEP_NS)
		known_keep(a);
	/* It divides the rate of challenges, of services without a cache too. */
	shield_recent_turn(a->shield, now);
	if (!a->count)
		return;
	if (!a->most || now - a->mtu_ns >= MTU_NS)
		mtu_look(a, now);
	if (a->generation != shield_generation(a->shield))
		slots_find(a);
	for (int i = 0; i <= PLAIN; i++)
		read_socket(a, i);
	for (size_t i = 0; i < a->count; i++) {
		struct asked *s = &a->servers[i];

		if (!s->there)
			continue;
		again = ask_next(a, s, s->always || shield_flooded(a->shield, s->slot),
				 now);
		if (again < wait)
			wait = again;
		tell_of_silence(s, now);
	}
	/* In a second comes the next tick by itself. */
	if (wait < IDLE_MS)
		loop_once((int)wait, on_tick, a);
}

/* --- start and end ---------------------------------------------------------------- */

/* False, after a message: without a loopback device, say. */
static bool open_sockets(struct cache_refresh *a)
{
	for (__u32 i = 0; i <= PLAIN; i++) {
		struct sockaddr_in at = { .sin_family = AF_INET };
		int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

		a->sockets[i] = fd;
		at.sin_addr.s_addr = htonl(i == PLAIN ? INADDR_LOOPBACK : LOOPBACK + i);
		if (fd < 0 || bind(fd, (const struct sockaddr *)&at, sizeof(at))) {
			log_warn("cannot ask servers from %s: %s; no service "
				 "is answered for",
				 inet_ntoa(at.sin_addr), strerror(errno));
			return false;
		}
	}
	return true;
}

int cache_refresh_start(struct shield *shield, const struct config *config,
			const char *pin, struct cache_refresh **ret)
{
	struct cache_refresh *a = calloc(1, sizeof(*a));

	if (!a)
		return -ENOMEM;
	a->shield = shield;
	for (int i = 0; i <= PLAIN; i++)
		a->sockets[i] = -1;
	/* Who cannot be answered for is protected all the same. */
	a->deaf = !open_sockets(a);
	cache_refresh_reload(a, config);
	if (!loop_every(IDLE_MS, on_tick, a)) {
		log_error("no room for one more timer");
		cache_refresh_stop(a);
		return -ENOSPC;
	}
	known_load(a, pin);
	*ret = a;
	return 0;
}

void cache_refresh_stop(struct cache_refresh *a)
{
	if (!a)
		return;
	known_keep(a);
	for (int i = 0; i <= PLAIN; i++)
		if (a->sockets[i] >= 0)
			close(a->sockets[i]);
	free(a->servers);
	free(a);
}
