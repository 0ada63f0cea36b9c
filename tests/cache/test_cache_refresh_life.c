// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_cache_refresh_life.c - whole days of an refresh of two servers, as text: each
 * question with its time, its socket, its server and its words, what is put into which
 * slot, what is kept, and all that is said. Sockets, clock, loop and shield are the
 * test's own.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "cache/cache_refresh.h"
#include "cache/cache_request.h"
#include "cache/known_clients.h"
#include "incident/incident_store.h"
#include "lib/log.h"
#include "lib/loop.h"
#include "stderr.h"

#define MS     1000000ull
#define SECOND (1000 * MS)
#define FD     500 /* of the first socket */
#define OOB    "\xff\xff\xff\xff"

static bool refresh_runs;
static __u8 chance; /* of the next word */
static char text[16384], said[4096];
static __u64 begun, now, every_ns, once_ns;
static void (*every)(void *), (*once)(void *);
static void *context_;
static bool pressed[SERVICES_MAX], replies[2], no_timer, drops;
static int bind_fails = -1, keep_err, read_err, directory_err;
static size_t bad_lines;
static __u32 known, generation;
static const char *names[10]; /* of services in force, by slot */
static bool locked; /* nothing can be put */
static struct config config;
static struct cache_refresh *refresh;

static struct {
	char bytes[1400];
	size_t n;
	int fd;
	struct sockaddr_in from;
} queue[32];
static size_t queued;

static void note(const char *format, ...)
{
	size_t n = strlen(text);
	va_list args;

	va_start(args, format);
	vsnprintf(text + n, sizeof(text) - n, format, args);
	va_end(args);
}

/* --- a shield --------------------------------------------------------------------------
 */

__u64 shield_clock(void)
{
	return now;
}

bool shield_service(const struct shield *shield, __u32 slot, struct service *ret)
{
	assert_ptr_equal(shield, &config);
	memset(ret, 0, sizeof(*ret));
	if (slot >= 10 || !names[slot])
		return false;
	strcpy(ret->name, names[slot]);
	return true;
}

bool shield_under_load(const struct shield *shield, __u32 slot)
{
	assert_ptr_equal(shield, &config);
	return pressed[slot];
}

__u32 shield_mtu(const struct shield *shield)
{
	assert_ptr_equal(shield, &config);
	return 0;
}

bool shield_fallback(const struct shield *shield)
{
	(void)shield;
	return false;
}

__u32 shield_generation(const struct shield *shield)
{
	assert_ptr_equal(shield, &config);
	return generation;
}

bool shield_cache_put_for(struct shield *shield, const char *name, __u32 slot, __u32 form,
			  const struct cache_entry *t)
{
	assert_ptr_equal(shield, &config);
	assert_in_range(slot, 0, 9);
	if (locked || !names[slot] || strcmp(names[slot], name) != 0) {
		note("  not put for %s\n", name);
		return false;
	}
	note("  slot %u form %u: %u bytes of +%llu\n", slot, form,
	     cache_length(t, t->cuts[0].tail, 0),
	     (unsigned long long)((t->made_ns - begun) / MS));
	return true;
}

void shield_recent_update(struct shield *shield, __u64 at)
{
	assert_ptr_equal(shield, &config);
	assert_int_equal(at, now);
}

struct reputation_table *shield_reputation(struct shield *shield, const __u64 **ret_keys)
{
	assert_ptr_equal(shield, &config);
	*ret_keys = NULL;
	return NULL;
}

__u32 shield_known_count(const struct shield *shield)
{
	assert_ptr_equal(shield, &config);
	return known;
}

int known_clients_read(const char *path, const struct known_clients *at, size_t *ret_bad,
		       size_t *ret_first)
{
	assert_int_equal(at->minute, reputation_minute(now));
	note("  read %s\n", path);
	*ret_bad = bad_lines;
	*ret_first = 7;
	return read_err;
}

int known_clients_write(const char *path, const struct known_clients *at)
{
	assert_int_equal(at->minute, reputation_minute(now));
	note("  write %s at +%llu\n", path, (unsigned long long)((now - begun) / MS));
	return keep_err;
}

int incident_path(const char *pin, const char *name, char ret[INCIDENT_PATH])
{
	int n = snprintf(ret, INCIDENT_PATH, "%s/%s", pin ? pin : "(default)", name);

	if (n < INCIDENT_PATH)
		return 0;
	*ret = 0;
	return -ENAMETOOLONG;
}

int incident_directory(const char *path)
{
	(void)path;
	return directory_err;
}

bool loop_every(int ms, void (*tick)(void *), void *context)
{
	assert_int_equal(ms, 1000);
	every = tick;
	context_ = context;
	every_ns = now + SECOND;
	return !no_timer;
}

bool loop_once(int ms, void (*tick)(void *), void *context)
{
	assert_ptr_equal(context, context_);
	if (!once)
		once_ns = now + (__u64)ms * MS;
	once = tick;
	return true;
}

/* --- sockets
 * ---------------------------------------------------------------------------- */

static int sockets_open;

int socket(int family, int type, int protocol)
{
	assert_int_equal(family, AF_INET);
	assert_int_equal(type, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK);
	assert_int_equal(protocol, 0);
	return FD + sockets_open++;
}

int bind(int fd, __CONST_SOCKADDR_ARG at, socklen_t size)
{
	const struct sockaddr_in *in = at.__sockaddr_in__;

	assert_int_equal(size, sizeof(*in));
	assert_int_equal(in->sin_port, 0);
	note("  socket %d at %s\n", fd - FD, inet_ntoa(in->sin_addr));
	errno = EADDRNOTAVAIL;
	return fd - FD == bind_fails ? -1 : 0;
}

int close(int fd)
{
	if (fd >= FD && fd < FD + 9) {
		note("  closed %d\n", fd - FD);
		sockets_open--;
	}
	return 0;
}

ssize_t getrandom(void *buffer, size_t n, unsigned int flags)
{
	/* Libraries want some, too. */
	if (flags || !refresh_runs)
		return 0;
	/* Each word begins anew, so that a log can be read. */
	for (size_t i = 0; i < n; i++)
		((__u8 *)buffer)[i] = (__u8)(chance + i);
	chance = (__u8)(chance + 40);
	return (ssize_t)n;
}

ssize_t sendto(int fd, const void *bytes, size_t n, int flags, __CONST_SOCKADDR_ARG at,
	       socklen_t size)
{
	const struct sockaddr_in *to = at.__sockaddr_in__;
	const char *question = bytes;
	const char *word;
	size_t length;

	assert_int_equal(flags, MSG_DONTWAIT);
	assert_int_equal(size, sizeof(*to));
	assert_memory_equal(question, OOB, 4);
	note("+%llu #%d %s:%d %.*s\n", (unsigned long long)((now - begun) / MS), fd - FD,
	     inet_ntoa(to->sin_addr), ntohs(to->sin_port), (int)n - 4, question + 4);
	if (drops) {
		errno = ENETUNREACH;
		return -1;
	}
	if (!replies[to->sin_port == htons(27960) ? 0 : 1])
		return (ssize_t)n;
	word = memchr(question, ' ', n);
	length = word ? n - (size_t)(word + 1 - question) : 0;
	queue[queued].n = (size_t)snprintf(
		queue[queued].bytes, sizeof(queue[0].bytes),
		"%s%s\n\\challenge\\%.*s\\hostname\\a server with a name\\mapname\\q3dm17\n",
		OOB,
		to->sin_port != htons(27960)		 ? "print"
		: !strncmp(question + 4, "getstatus", 9) ? "statusResponse"
							 : "infoResponse",
		(int)length, word ? word + 1 : "");
	queue[queued].fd = fd;
	queue[queued++].from = *to;
	return (ssize_t)n;
}

ssize_t recvfrom(int fd, void *bytes, size_t size, int flags, __SOCKADDR_ARG from,
		 socklen_t *ret_size)
{
	assert_int_equal(flags, MSG_DONTWAIT);
	for (size_t i = 0; i < queued; i++) {
		size_t n = queue[i].n;

		if (queue[i].fd != fd)
			continue;
		assert_true(n <= size);
		memcpy(bytes, queue[i].bytes, n);
		*from.__sockaddr_in__ = queue[i].from;
		*ret_size = sizeof(queue[i].from);
		memmove(&queue[i], &queue[i + 1], (--queued - i) * sizeof(queue[0]));
		return (ssize_t)n;
	}
	errno = EAGAIN;
	return -1;
}

/* --- a day
 * ------------------------------------------------------------------------------- */

static void pass(__u64 ns)
{
	__u64 until = now + ns;

	while (now < until) {
		now += 10 * MS;
		if (once && once_ns <= now) {
			void (*tick)(void *) = once;

			once = NULL;
			tick(context_);
		}
		if (every_ns <= now) {
			every_ns += SECOND;
			every(context_);
		}
	}
}

static int begin(void **state)
{
	struct config_service *s;

	(void)state;
	memset(&config, 0, sizeof(config));
	memset(pressed, 0, sizeof(pressed));
	text[0] = 0;
	chance = 0;
	now = begun = 5000 * SECOND;
	queued = bad_lines = 0;
	known = 0;
	generation = 7;
	memset(names, 0, sizeof(names));
	names[5] = "arena";
	names[9] = "base";
	locked = false;
	once = NULL;
	replies[0] = replies[1] = no_timer = drops = false;
	bind_fails = -1;
	keep_err = read_err = directory_err = 0;
	sockets_open = 0;
	s = &config.services[config.service_count++];
	strcpy(s->service.name, "arena");
	s->service.family = FAMILY_QUAKE3;
	s->service.cache = CACHE_UNDER_LOAD;
	s->ports[s->port_count++] = 27960;
	s = &config.services[config.service_count++];
	strcpy(s->service.name, "base");
	s->service.family = FAMILY_QUAKE2;
	s->service.cache = CACHE_UNDER_LOAD;
	s->ports[s->port_count++] = 27910;
	s->addresses[0][2] = htonl(0xffff);
	s->addresses[0][3] = htonl(0xc6336407);
	s->address_count = 1;
	stderr_catch();
	log_verbose();
	return 0;
}

static int start(const char *pin)
{
	refresh_runs = true;
	return cache_refresh_start((struct shield *)&config, &config, pin, &refresh);
}

/* Exactly that has happened since, and exactly that was said. */
static void happened(const char *want, const char *says)
{
	stderr_release(said, sizeof(said));
	assert_string_equal(text, want);
	assert_string_equal(said, says);
	text[0] = 0;
	stderr_catch();
}

static int end(void **state)
{
	(void)state;
	stderr_release(said, sizeof(said));
	return 0;
}

static void stop(void)
{
	cache_refresh_stop(refresh);
	refresh = NULL;
}

#include "cache/cache_refresh_days.h"

/* Two weeks after the last query the table has no client; the file must not keep any. */
static void the_last_one_known_is_forgotten(void **state)
{
	char there[] = "/tmp/test_cache_refresh.XXXXXX", path[64], writes[128];

	(void)state;
	config.service_count = 0;
	assert_non_null(mkdtemp(there));
	snprintf(path, sizeof(path), "%s/known-clients.txt", there);
	snprintf(writes, sizeof(writes), "  write %s at +300000\n", path);
	fclose(fopen(path, "we"));
	assert_int_equal(start(there), 0);
	text[0] = 0;
	pass(301 * SECOND);
	happened(writes, "");
	stop();
	/* A file that could not be read may be whole. */
	read_err = -EIO;
	assert_int_equal(start(there), 0);
	text[0] = 0;
	pass(301 * SECOND);
	assert_string_equal(text, "");
	stop();
	unlink(path);
	assert_int_equal(rmdir(there), 0);
}

#undef TEST
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = { ANSWERER_DAYS,
					    TEST(the_last_one_known_is_forgotten) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
