// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * cache_refresh.c - see cache_refresh.h.
 *
 * One query at a time goes to each server, and each from another of eight addresses of
 * loopback, since engines limit what one address may ask: ioquake3 to one a second, FTE
 * to 15 in 30 seconds, and then not for a day. The replies to one tick's queries are read
 * in the next. Under load or not, a response is fetched again just before it gets too old
 * to be sent: the first packets of a flood come before the daemon could query, and under
 * load the server has less to spare, not more.
 *
 * The client history is written every few minutes, and at the end.
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

#define TICK_MS		  100 /* while something presses */
#define WAIT_MS		  250 /* while a reply is waited for */
#define IDLE_MS		  1000 /* with all others that look once a second */
#define MISSES_MAX	  3 /* in a row, after which a question is one that gets no answer */
#define RETRY_NS	  600000000ull /* before that it is asked again so soon */
#define SILENT_NS	  60000000000ull /* without a reply: its questions take turns */
#define REPLY_TIMEOUT_NS  400000000ull /* for a reply */
#define QUERY_INTERVAL_NS 200000000ull /* at most five questions a second to a server */
#define SAVE_NS		  300000000000ull /* how often the client history is written */
#define SOCKETS		  8
#define LOOPBACK	  0x7f535101 /* 127.83.81.1, and those that follow */
#define LOCALHOST	  SOCKETS /* the socket at 127.0.0.1 */
#define LOCALHOST_RETRY	  16 /* every so many questions another socket is tried again */
#define NONCE_SHORT	  9
#define NONCE_LONG	  CACHE_NONCE
#define REPLY_MAX	  16384 /* octets of a reply; no engine's is longer */
#define MTU_NS		  10000000000ull /* how often the interfaces' MTU is looked at */
#define MTU_MIN		  576 /* octets: a smaller one is not minded */
#define MTU_MAX		  1500 /* octets that a path through the internet carries */
#define MTU_HEADS	  (20 + 8) /* octets of IPv4's and UDP's headers */
#define READ_MAX	  64 /* datagrams of a socket in one tick */

/* One that is a tick late, gets lost and is asked for anew is still young enough. */
_Static_assert(CACHE_REFRESH_NS + RETRY_NS + 4 * WAIT_MS * 1000000ull < CACHE_NS,
	       "what is kept is too old to be sent");
_Static_assert((MISSES_MAX - 1) * RETRY_NS + 2 * IDLE_MS * 1000000ull < CACHE_LATE_NS,
	       "explain calls a server silent that has missed MISSES_MAX questions");

/* State of one request. */
struct query_state {
	__u64 queried_ns;
	struct cache_entry first; /* with a short nonce; made_ns 0: not yet */
	bool placed; /* two agreed on where the nonce stands */
	bool longer; /* the next is asked with a long one */
	unsigned int misses; /* asked since there was last something to send */
};

struct server {
	char name[NAME_MAX_LEN];
	__u32 slot;
	bool in_force; /* a service of that name is in force, in that slot */
	enum wire_family family;
	bool always;
	struct sockaddr_in to;
	__u64 replied_ns; /* when it replied last, or began to be asked */
	bool silence_checked; /* it has replied, or it was said that it does not */
	bool silence_warned; /* the latter */
	/* The question that is out; -1: none. */
	int form;
	int socket;
	unsigned int unanswered; /* questions since it began to be asked, or replied */
	bool has_replied; /* it has replied since it began to be asked */
	bool by_localhost; /* and last to LOCALHOST */
	unsigned int turn; /* the next socket: each server is queried from all */
	__u64 sent_ns;
	char nonce[CACHE_NONCE];
	size_t nonce_n;
	struct query_state queries[CACHE_FORMS];
};

struct cache_refresh {
	struct shield *shield;
	int sockets[SOCKETS + 1]; /* and LOCALHOST; opened once: later the daemon may open
				     no more */
	bool no_sockets; /* they could not be */
	size_t count;
	struct server *servers; /* @count */
	__u32 generation; /* of the configuration that the slots are of */
	char path[INCIDENT_PATH]; /* of the client history; "": not read yet */
	__u64 saved_ns; /* when that was written last */
	bool unread; /* the file could not be read: its clients are not in the table */
	int failed; /* 0, or what was said about it */
	__u64 mtu_ns; /* when the MTU was looked at last */
	__u16 text_max; /* octets of an answer in IPv4 */
};

_Static_assert(MTU_MAX - MTU_HEADS == CACHE_TEXT, "a frame is not filled");

/* --- who is asked -------------------------------------------------------------- */

/* The address at which to ask @s, of which config_uncacheable() says nothing. */
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

static void add_server(struct cache_refresh *r, const struct config_service *s)
{
	struct server *server = &r->servers[r->count];
	const char *takes = config_uncacheable(s);

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
	r->count++;
}

/* Forget the server's replies and all that they have shown. */
static void server_reset(struct server *s)
{
	memset(s->queries, 0, sizeof(s->queries));
	s->form = -1;
	s->replied_ns = shield_clock();
	s->unanswered = 0;
	s->has_replied = s->by_localhost = false;
}

/*
 * Find the slot of each service again. A process that applies another file than the
 * daemon's queries no server; so a service that is not in force is not queried until it
 * is again.
 */
static void slots_find(struct cache_refresh *r)
{
	r->generation = shield_generation(r->shield);
	for (size_t i = 0; i < r->count; i++) {
		struct server *s = &r->servers[i];
		bool was_there = s->in_force;
		__u32 was = s->slot;

		s->in_force = slot_of(r->shield, s->name, &s->slot);
		if (!s->in_force || !was_there || s->slot != was)
			server_reset(s);
	}
}

void cache_refresh_reload(struct cache_refresh *r, const struct config *config)
{
	struct server *servers = NULL;

	if (!r)
		return;
	free(r->servers);
	r->count = 0;
	if (config->service_count)
		servers = calloc(config->service_count, sizeof(*servers));
	r->servers = servers;
	if (r->no_sockets || config->observe || shield_fallback(r->shield))
		return;
	for (size_t i = 0; servers && i < config->service_count; i++)
		add_server(r, &config->services[i]);
	slots_find(r);
}

/* --- who is known -------------------------------------------------------------- */

static struct known_clients known_clients_now(const struct cache_refresh *r)
{
	struct known_clients at = { .minute = reputation_minute(shield_clock()),
				    .now = time(NULL) };

	at.table = shield_reputation(r->shield, &at.keys);
	return at;
}

static void known_clients_load(struct cache_refresh *r, const char *pin)
{
	struct known_clients at = known_clients_now(r);
	size_t bad, first;
	int err;

	r->saved_ns = shield_clock();
	if (incident_path(pin, "known-clients.txt", r->path)) {
		log_warn("who is known is not kept: " INCIDENT_NO_PATH);
		return;
	}
	err = known_clients_read(r->path, &at, &bad, &first);
	r->unread = err;
	if (err)
		log_warn("cannot read who is known from '%s': %s", r->path,
			 strerror(-err));
	else if (bad)
		log_warn("%s:%zu: not an address, its hops and a time; %zu such lines "
			 "were passed over",
			 r->path, first, bad);
}

static void known_clients_save(struct cache_refresh *r)
{
	struct known_clients at = known_clients_now(r);
	int err;

	r->saved_ns = shield_clock();
	if (!r->path[0])
		return;
	/*
	 * Without a known client no file is made, but one that is there is emptied: its
	 * clients are forgotten.
	 */
	if (!shield_known_count(r->shield) && (r->unread || access(r->path, F_OK)))
		return;
	err = incident_directory(r->path);
	if (!err)
		err = known_clients_write(r->path, &at);
	if (err && err != r->failed)
		log_error("cannot keep who is known in '%s': %s", r->path,
			  strerror(-err));
	r->failed = err;
}

/* --- asking ---------------------------------------------------------------------- */

/* A word that the server has never seen. False: there is no chance to be had. */
static bool nonce_make(struct server *s, size_t n)
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
 * Return the socket for the next query to @s. Datagrams from other addresses than
 * 127.0.0.1 do not reach a server in some containers (podman's, which masquerade nothing
 * else). FTE bans an address that queries as often as the daemon, so a QuakeWorld server
 * is not queried from one.
 */
static int socket_choose(struct server *s)
{
	unsigned int turn = s->turn++;

	s->unanswered++;
	if (s->family == FAMILY_QUAKEWORLD)
		return (int)(turn % SOCKETS);
	if (s->by_localhost ? turn % LOCALHOST_RETRY
			    : !s->has_replied && s->unanswered > SOCKETS && turn % 2)
		return LOCALHOST;
	return (int)(turn % SOCKETS);
}

static void query_send(struct cache_refresh *r, struct server *s, size_t form, __u64 now)
{
	size_t count, n;
	const struct cache_request *forms = cache_requests(s->family, &count);
	struct query_state *query = &s->queries[form];
	char text[CACHE_REQUEST_MAX];

	if (!nonce_make(s, query->longer ? NONCE_LONG : NONCE_SHORT))
		return;
	n = cache_request_write(&forms[form], s->nonce, s->nonce_n, text);
	s->socket = socket_choose(s);
	query->queried_ns = now;
	query->misses++;
	s->sent_ns = now;
	/* If it cannot be sent, there will be no reply. */
	if (sendto(r->sockets[s->socket], text, n, MSG_DONTWAIT,
		   (const struct sockaddr *)&s->to, sizeof(s->to)) == (ssize_t)n)
		s->form = (int)form;
}

/* Return how long after it was asked a question is asked again. */
static __u64 retry_after_ns(const struct query_state *query, bool under_load)
{
	if (!query->misses)
		return CACHE_REFRESH_NS;
	if (query->misses < MISSES_MAX)
		return RETRY_NS;
	return under_load ? CACHE_REFRESH_NS : CACHE_UNANSWERED_NS;
}

/*
 * Return true if the server has sent nothing for SILENT_NS: it seems to have no socket.
 */
static bool is_silent(const struct server *s, __u64 now)
{
	return now - s->replied_ns >= SILENT_NS;
}

/* Return the request that is due next, and when; it may be due already. */
static size_t due(const struct server *s, bool under_load, __u64 now, __u64 *ret_when)
{
	size_t count, ret = 0, oldest = 0;

	*ret_when = ~0ull;
	cache_requests(s->family, &count);
	for (size_t i = 0; i < count; i++) {
		const struct query_state *query = &s->queries[i];
		__u64 when = query->queried_ns ? query->queried_ns +
							 retry_after_ns(query, under_load)
					       : 0;

		if (query->queried_ns < s->queries[oldest].queried_ns)
			oldest = i;
		if (when >= *ret_when)
			continue;
		*ret_when = when;
		ret = i;
	}
	if (!is_silent(s, now))
		return ret;
	/* One at a time, in turn: what comes to a closed port looks like a scan. */
	*ret_when = s->sent_ns + retry_after_ns(&s->queries[oldest], under_load);
	return oldest;
}

/* --- hearing --------------------------------------------------------------------- */

/*
 * One more template of that form: is it to be sent? Where a nonce stands has to be shown
 * by two of different lengths.
 */
static bool response_accept(struct query_state *query, const struct cache_request *form,
			    const struct cache_entry *t)
{
	bool agrees;

	if (!form->nonce)
		return true;
	agrees = query->first.made_ns && cache_entries_agree(&query->first, t);
	if (query->first.made_ns && !agrees)
		query->placed = false;
	else if (query->first.made_ns && query->longer)
		query->placed = true;
	query->first = *t;
	query->longer = !query->longer;
	return query->placed;
}

static void reply_take(struct cache_refresh *r, struct server *s, const char *reply,
		       size_t n)
{
	size_t count;
	const struct cache_request *form = &cache_requests(s->family, &count)[s->form];
	struct cache_entry t;

	if (s->silence_warned)
		log_info("service '%s': its server replies now", s->name);
	s->silence_warned = false;
	s->silence_checked = true;
	s->replied_ns = s->sent_ns;
	s->unanswered = 0;
	s->has_replied = true;
	s->by_localhost = s->socket == LOCALHOST;
	/* A reply to what was asked before, perhaps: ours may still come. */
	if (cache_entry_make(s->family, form, s->nonce, s->nonce_n, reply, n, r->text_max,
			     s->sent_ns, &t))
		return;
	if (response_accept(&s->queries[s->form], form, &t)) {
		if (shield_cache_put_for(r->shield, s->name, s->slot, (__u32)s->form, &t))
			s->queries[s->form].misses = 0;
	} else if (s->queries[s->form].misses > MISSES_MAX) {
		/* It says something again: the second, which has to agree, comes soon. */
		s->queries[s->form].misses = 1;
	}
	s->form = -1;
}

static struct server *server_at(struct cache_refresh *r, int socket,
				const struct sockaddr_in *from)
{
	for (size_t i = 0; i < r->count; i++) {
		struct server *s = &r->servers[i];

		if (s->form >= 0 && s->socket == socket &&
		    s->to.sin_port == from->sin_port &&
		    s->to.sin_addr.s_addr == from->sin_addr.s_addr)
			return s;
	}
	return NULL;
}

static void read_socket(struct cache_refresh *r, int socket)
{
	char reply[REPLY_MAX];

	for (int i = 0; i < READ_MAX; i++) {
		struct sockaddr_in from = { 0 };
		socklen_t size = sizeof(from);
		ssize_t n = recvfrom(r->sockets[socket], reply, sizeof(reply),
				     MSG_DONTWAIT, (struct sockaddr *)&from, &size);
		struct server *s;

		if (n < 0 && errno != ECONNREFUSED)
			return;
		s = n > 0 ? server_at(r, socket, &from) : NULL;
		if (s)
			reply_take(r, s, reply, (size_t)n);
	}
}

/*
 * Ask @s what it is time for, if it has said all that it will to the last question.
 * Returns in how many ms to come again.
 */
static __u64 query_next(struct cache_refresh *r, struct server *s, bool under_load,
			__u64 now)
{
	__u64 when;
	size_t form;

	if (s->form >= 0 && now - s->sent_ns >= REPLY_TIMEOUT_NS)
		s->form = -1;
	if (s->form < 0 && now - s->sent_ns >= QUERY_INTERVAL_NS) {
		form = due(s, under_load, now, &when);
		if (when <= now)
			query_send(r, s, form, now);
	}
	if (under_load)
		return TICK_MS;
	due(s, under_load, now, &when);
	if (s->form >= 0 || when < now + WAIT_MS * 1000000ull)
		return WAIT_MS;
	return (when - now) / 1000000 + 1;
}

/*
 * Log once that the server does not reply: it may be bound to another address, or not
 * run.
 */
static void warn_of_silence(struct server *s, __u64 now)
{
	char address[INET_ADDRSTRLEN];

	if (s->silence_checked || !is_silent(s, now))
		return;
	s->silence_checked = s->silence_warned = true;
	inet_ntop(AF_INET, &s->to.sin_addr, address, sizeof(address));
	log_warn("service '%s': its server does not reply at %s, port %d, so nothing is "
		 "answered for it; unless it is down, write the `address` that it is "
		 "bound to (none if to all), or `cache = off`",
		 s->name, address, ntohs(s->to.sin_port));
}

/*
 * The size that the narrowest interface carries: it is not known by which interface a
 * response leaves.
 */
static void mtu_look(struct cache_refresh *r, __u64 now)
{
	__u32 mtu = shield_mtu(r->shield);

	if (!mtu || mtu > MTU_MAX)
		mtu = MTU_MAX;
	if (mtu < MTU_MIN)
		mtu = MTU_MIN;
	r->mtu_ns = now;
	r->text_max = (__u16)(mtu - MTU_HEADS);
}

static void on_tick(void *context)
{
	struct cache_refresh *r = context;
	__u64 now = shield_clock(), wait = IDLE_MS, again;

	if (now - r->saved_ns >= SAVE_NS)
		known_clients_save(r);
	/* It divides the rate of challenges, of services without a cache too. */
	shield_recent_update(r->shield, now);
	if (!r->count)
		return;
	if (!r->text_max || now - r->mtu_ns >= MTU_NS)
		mtu_look(r, now);
	if (r->generation != shield_generation(r->shield))
		slots_find(r);
	for (int i = 0; i <= LOCALHOST; i++)
		read_socket(r, i);
	for (size_t i = 0; i < r->count; i++) {
		struct server *s = &r->servers[i];

		if (!s->in_force)
			continue;
		again = query_next(
			r, s, s->always || shield_under_load(r->shield, s->slot), now);
		if (again < wait)
			wait = again;
		warn_of_silence(s, now);
	}
	/* In a second comes the next tick by itself. */
	if (wait < IDLE_MS)
		loop_once((int)wait, on_tick, r);
}

/* --- start and end ---------------------------------------------------------------- */

/* Open the sockets. False, after a message: without a loopback device, say. */
static bool open_sockets(struct cache_refresh *r)
{
	for (__u32 i = 0; i <= LOCALHOST; i++) {
		struct sockaddr_in at = { .sin_family = AF_INET };
		int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

		r->sockets[i] = fd;
		at.sin_addr.s_addr =
			htonl(i == LOCALHOST ? INADDR_LOOPBACK : LOOPBACK + i);
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
	struct cache_refresh *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	r->shield = shield;
	for (int i = 0; i <= LOCALHOST; i++)
		r->sockets[i] = -1;
	/* A service without cached responses is protected all the same. */
	r->no_sockets = !open_sockets(r);
	cache_refresh_reload(r, config);
	if (!loop_every(IDLE_MS, on_tick, r)) {
		log_error("no room for one more timer");
		cache_refresh_stop(r);
		return -ENOSPC;
	}
	known_clients_load(r, pin);
	*ret = r;
	return 0;
}

void cache_refresh_stop(struct cache_refresh *r)
{
	if (!r)
		return;
	known_clients_save(r);
	for (int i = 0; i <= LOCALHOST; i++)
		if (r->sockets[i] >= 0)
			close(r->sockets[i]);
	free(r->servers);
	free(r);
}
