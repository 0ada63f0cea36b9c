// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * answerer.c - see answerer.h.
 *
 * One question at a time to each server, and each from another of eight addresses of
 * loopback, since engines limit what one address may ask: ioquake3 to one a second. What
 * was asked in one tick is read in the next. While nothing presses, too, what was learnt
 * is kept young enough to be sent, only more slowly: a flood's first packets come before
 * anybody could ask. Who is known is written down every few minutes, and at the end.
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

#include "answer/answerer.h"
#include "answer/ask.h"
#include "answer/known_file.h"
#include "incident/incident_store.h"
#include "lib/log.h"
#include "lib/loop.h"
#include "lib/util.h"

#define TICK_MS	    100 /* while something presses */
#define QUIET_MS    250 /* while there is somebody to ask */
#define IDLE_MS	    1000 /* with all others that look once a second */
#define REFRESH_NS  1500000000ull /* a template is asked for again when so old */
#define QUIET_NS    3000000000ull /* or so old, while nothing presses */
#define MISSES_MOST 3 /* in a row, after which a question is one that gets no answer */
#define SELDOM_NS   15000000000ull /* and is asked so often while nothing presses */
#define PATIENCE_NS 400000000ull /* for a reply */
#define PACE_NS	    200000000ull /* at most five questions a second to a server */
#define KEEP_NS	    300000000000ull /* how often who is known is written down */
#define SOCKETS	    8
#define LOOPBACK    0x7f535101 /* 127.83.81.1, and those that follow */
#define NONCE_SHORT 9
#define NONCE_LONG  TEMPLATE_NONCE
#define REPLY_MOST  2048
#define READ_MOST   64 /* datagrams of a socket in one tick */

/* One that is a tick late, gets lost and is asked for anew is still young enough. */
_Static_assert(QUIET_NS + REFRESH_NS + 4 * QUIET_MS * 1000000ull < TEMPLATE_NS,
	       "what is kept is too old to be sent");

/* What is known of one question. */
struct learnt {
	__u64 asked_ns;
	struct template first; /* with a short nonce; made_ns 0: not yet */
	bool placed; /* two agreed on where the nonce stands */
	bool longer; /* the next is asked with a long one */
	unsigned int misses; /* asked since there was last something to send */
};

struct asked {
	char name[NAME_MAX_LEN];
	__u32 slot;
	enum wire_family family;
	bool always;
	struct sockaddr_in to;
	/* The question that is out; -1: none. */
	int form;
	int socket;
	__u64 sent_ns;
	char nonce[TEMPLATE_NONCE];
	size_t nonce_n;
	struct learnt learnt[TEMPLATE_FORMS];
};

struct answerer {
	struct shield *shield;
	int sockets[SOCKETS];
	unsigned int turn; /* whose socket is next */
	size_t count;
	struct asked *servers; /* @count */
	char path[INCIDENT_PATH]; /* of who is known; "": not read yet */
	__u64 kept_ns; /* when that was written last */
	int failed; /* 0, or what was said about it */
};

/* --- who is asked -------------------------------------------------------------- */

/* The address at which to ask @s. False: not one that can be. */
static bool address_of(const struct config_service *s, struct sockaddr_in *ret)
{
	*ret = (struct sockaddr_in){ .sin_family = AF_INET };
	if (s->port_count != 1 || s->address_count > 1)
		return false;
	ret->sin_port = htons(s->ports[0]);
	ret->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (!s->address_count)
		return true;
	ret->sin_addr.s_addr = s->addresses[0][3];
	return !s->addresses[0][0] && !s->addresses[0][1] &&
	       s->addresses[0][2] == htonl(0xffff);
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

static void add_server(struct answerer *a, const struct config_service *s)
{
	struct asked *server = &a->servers[a->count];
	size_t forms;

	if (!s->service.answers || s->service.observe)
		return;
	ask_forms((enum wire_family)s->service.family, &forms);
	memset(server, 0, sizeof(*server));
	if (!forms || !address_of(s, &server->to)) {
		log_warn(
			"service '%s': its server cannot be asked, so nothing is answered "
			"for it: that takes %s",
			s->service.name,
			forms ? "one port and at most one address, of IPv4"
			      : "a protocol with questions");
		return;
	}
	if (!slot_of(a->shield, s->service.name, &server->slot))
		return;
	memcpy(server->name, s->service.name, sizeof(server->name));
	server->family = (enum wire_family)s->service.family;
	server->always = s->service.answers == ANSWERS_ALWAYS;
	server->form = -1;
	a->count++;
}

void answerer_reload(struct answerer *a, const struct config *config)
{
	struct asked *servers = NULL;

	if (!a)
		return;
	free(a->servers);
	a->count = 0;
	if (config->service_count)
		servers = calloc(config->service_count, sizeof(*servers));
	a->servers = servers;
	for (size_t i = 0; servers && i < config->service_count && !config->observe; i++)
		add_server(a, &config->services[i]);
}

/* --- who is known -------------------------------------------------------------- */

static struct known_at known_now(const struct answerer *a)
{
	struct known_at at = { .minute = known_minute(shield_clock()),
			       .now = time(NULL) };

	at.table = shield_known_table(a->shield, &at.keys);
	return at;
}

static void known_load(struct answerer *a, const char *pin)
{
	struct known_at at = known_now(a);
	size_t bad, first;
	int err;

	incident_path(pin, "known.txt", a->path);
	a->kept_ns = shield_clock();
	err = known_file_read(a->path, &at, &bad, &first);
	if (err)
		log_warn("cannot read who is known from '%s': %s", a->path,
			 strerror(-err));
	else if (bad)
		log_warn("%s:%zu: not an address, its hops and a time; %zu such lines "
			 "were passed over",
			 a->path, first, bad);
}

static void known_keep(struct answerer *a)
{
	struct known_at at = known_now(a);
	int err;

	a->kept_ns = shield_clock();
	/* Where nobody is known, there is nothing to make a file for. */
	if (!a->path[0] || !shield_known(a->shield))
		return;
	err = incident_directory(a->path);
	if (!err)
		err = known_file_write(a->path, &at);
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
	unsigned char chance[TEMPLATE_NONCE];

	if (getrandom(chance, n, 0) != (ssize_t)n)
		return false;
	for (size_t i = 0; i < n; i++)
		s->nonce[i] = letters[chance[i] & 63];
	s->nonce_n = n;
	return true;
}

static void ask(struct answerer *a, struct asked *s, size_t form, __u64 now)
{
	size_t count, n;
	const struct ask_form *forms = ask_forms(s->family, &count);
	struct learnt *learnt = &s->learnt[form];
	char question[ASK_MOST];

	if (!nonce_make(s, learnt->longer ? NONCE_LONG : NONCE_SHORT))
		return;
	n = ask_write(&forms[form], s->nonce, s->nonce_n, question);
	s->socket = (int)(a->turn++ % SOCKETS);
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
	if (pressed)
		return REFRESH_NS;
	if (!l->misses)
		return QUIET_NS;
	return l->misses < MISSES_MOST ? REFRESH_NS : SELDOM_NS;
}

/* The question that was asked longest ago, if it is time for it; -1: none. */
static int due(const struct asked *s, bool pressed, __u64 now)
{
	size_t count;
	__u64 oldest = now;
	int ret = -1;

	ask_forms(s->family, &count);
	for (size_t i = 0; i < count; i++) {
		const struct learnt *l = &s->learnt[i];

		if (l->asked_ns && now - l->asked_ns < again_ns(l, pressed))
			continue;
		if (l->asked_ns < oldest) {
			oldest = l->asked_ns;
			ret = (int)i;
		}
	}
	return ret;
}

/* --- hearing --------------------------------------------------------------------- */

/*
 * One more template of that form: is it to be sent? Where a nonce stands has to be shown
 * by two of different lengths.
 */
static bool learn(struct learnt *l, const struct ask_form *form, const struct template *t)
{
	bool agrees;

	if (!form->nonce)
		return true;
	agrees = l->first.made_ns && ask_agrees(&l->first, t);
	if (l->first.made_ns && !agrees)
		l->placed = false;
	else if (l->first.made_ns && l->longer)
		l->placed = true;
	l->first = *t;
	l->longer = !l->longer;
	return l->placed;
}

static void hear(struct answerer *a, struct asked *s, const char *reply, size_t n)
{
	size_t count;
	const struct ask_form *form = &ask_forms(s->family, &count)[s->form];
	struct template t;

	/* A reply to what was asked before, perhaps: ours may still come. */
	if (ask_template(s->family, form, s->nonce, s->nonce_n, reply, n, s->sent_ns, &t))
		return;
	if (learn(&s->learnt[s->form], form, &t)) {
		shield_template_put(a->shield, s->slot, (__u32)s->form, &t);
		s->learnt[s->form].misses = 0;
	} else if (s->learnt[s->form].misses > MISSES_MOST) {
		/* It says something again: the second, which has to agree, comes soon. */
		s->learnt[s->form].misses = 1;
	}
	s->form = -1;
}

static struct asked *server_at(struct answerer *a, int socket,
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

static void read_socket(struct answerer *a, int socket)
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

/* Ask @s what it is time for, if it has said all that it will to the last question. */
static void ask_next(struct answerer *a, struct asked *s, bool pressed, __u64 now)
{
	int form;

	if (s->form >= 0 && now - s->sent_ns >= PATIENCE_NS)
		s->form = -1;
	if (s->form >= 0 || now - s->sent_ns < PACE_NS)
		return;
	form = due(s, pressed, now);
	if (form >= 0)
		ask(a, s, (size_t)form, now);
}

static void on_tick(void *context)
{
	struct answerer *a = context;
	__u64 now = shield_clock();
	bool busy = false;

	if (now - a->kept_ns >= KEEP_NS)
		known_keep(a);
	if (!a->count)
		return;
	for (int i = 0; i < SOCKETS; i++)
		read_socket(a, i);
	for (size_t i = 0; i < a->count; i++) {
		struct asked *s = &a->servers[i];
		bool pressed = s->always || shield_flooded(a->shield, s->slot);

		busy |= pressed;
		ask_next(a, s, pressed, now);
	}
	shield_recall_turn(a->shield, now);
	loop_once(busy ? TICK_MS : QUIET_MS, on_tick, a);
}

/* --- start and end ---------------------------------------------------------------- */

static int open_sockets(struct answerer *a)
{
	for (__u32 i = 0; i < SOCKETS; i++) {
		struct sockaddr_in at = { .sin_family = AF_INET };
		int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

		a->sockets[i] = fd;
		at.sin_addr.s_addr = htonl(LOOPBACK + i);
		if (fd < 0 || bind(fd, (const struct sockaddr *)&at, sizeof(at))) {
			log_error("cannot ask servers from %s: %s",
				  inet_ntoa(at.sin_addr), strerror(errno));
			return -errno;
		}
	}
	return 0;
}

int answerer_start(struct shield *shield, const struct config *config, const char *pin,
		   struct answerer **ret)
{
	struct answerer *a = calloc(1, sizeof(*a));
	int err;

	if (!a)
		return -ENOMEM;
	a->shield = shield;
	for (int i = 0; i < SOCKETS; i++)
		a->sockets[i] = -1;
	answerer_reload(a, config);
	err = open_sockets(a);
	/* Without a loopback device, say: who wants no answers is protected all the same.
	 */
	if (!a->count)
		err = 0;
	if (!err && !loop_every(IDLE_MS, on_tick, a)) {
		log_error("no room for one more timer");
		err = -ENOSPC;
	}
	if (err) {
		answerer_stop(a);
		return err;
	}
	known_load(a, pin);
	*ret = a;
	return 0;
}

void answerer_stop(struct answerer *a)
{
	if (!a)
		return;
	known_keep(a);
	for (int i = 0; i < SOCKETS; i++)
		if (a->sockets[i] >= 0)
			close(a->sockets[i]);
	free(a->servers);
	free(a);
}
