// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * known_clients.c - see known_clients.h. It does not wait for the disk: the daemon must
 * not wait during an attack.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cache/known_clients.h"

#define MINUTE_NS  (1ull << REPUTATION_SHIFT)
#define SECOND_NS  1000000000ull
#define LINES_MOST (2 * REPUTATION_MAX) /* of a file that another program has written */

/*
 * The name that an older build gave to the file @path: without "-clients", as
 * OLD_CLIENTS_FILE. False: it had none.
 */
static bool old_path(const char *path, char ret[PATH_MAX])
{
	static const char begins[] = "/known", more[] = "-clients";
	const char *name = strrchr(path, '/');
	size_t n;

	if (!name || strncmp(name, begins, strlen(begins)) != 0)
		return false;
	n = (size_t)(name - path) + strlen(begins);
	if (strncmp(path + n, more, strlen(more)) != 0 || strlen(path) >= PATH_MAX)
		return false;
	snprintf(ret, PATH_MAX, "%.*s%s", (int)n, path, path + n + strlen(more));
	return true;
}

/* --- writing -------------------------------------------------------------------- */

static void line_put(FILE *out, __u64 net, __u64 state, const struct known_clients *at)
{
	__u64 age_s = reputation_age(state, at->minute) * MINUTE_NS / SECOND_NS;
	__be64 upper = htobe64(net);
	char text[INET6_ADDRSTRLEN];
	struct in6_addr ipv6 = { 0 };
	struct in_addr ipv4 = { htonl((__u32)net) };

	memcpy(&ipv6, &upper, sizeof(upper));
	if (net >> 32)
		inet_ntop(AF_INET6, &ipv6, text, sizeof(text));
	else
		inet_ntop(AF_INET, &ipv4, text, sizeof(text));
	fprintf(out, "%s ", text);
	if (reputation_flags(state) & REPUTATION_PLAYER)
		fputs("player", out);
	else
		fprintf(out, "%u", reputation_hops(state));
	fprintf(out, " %lld\n", (long long)at->now - (long long)age_s);
}

static int lines_put(FILE *out, const struct known_clients *at)
{
	for (__u32 i = 0; i < REPUTATION_MAX; i++) {
		const struct reputation_cell *cell = &at->table->cells[i];
		__u64 state = __atomic_load_n(&cell->state, __ATOMIC_ACQUIRE);
		__u64 net = __atomic_load_n(&cell->net, __ATOMIC_ACQUIRE);

		/* Skip a cell that another client takes over at this moment. */
		if (reputation_known(state, at->minute) &&
		    !(reputation_flags(state) & REPUTATION_NETWORK) &&
		    __atomic_load_n(&cell->state, __ATOMIC_RELAXED) == state)
			line_put(out, net, state, at);
	}
	return ferror(out) ? -EIO : 0;
}

int known_clients_write(const char *path, const struct known_clients *at)
{
	char fresh[PATH_MAX], old[PATH_MAX];
	FILE *out;
	int err, fd;

	if (snprintf(fresh, sizeof(fresh), "%s.new", path) >= (int)sizeof(fresh))
		return -ENAMETOOLONG;
	fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0640);
	if (fd < 0)
		return -errno;
	out = fdopen(fd, "w");
	if (!out) {
		err = -errno;
		close(fd);
	} else {
		err = lines_put(out, at);
		if (fclose(out) && !err)
			err = -errno;
	}
	if (!err && rename(fresh, path))
		err = -errno;
	if (err)
		unlink(fresh);
	else if (old_path(path, old))
		unlink(old); /* all that it says is in the new one, or over */
	return err;
}

/* --- reading -------------------------------------------------------------------- */

/* A number up to @most that ends with @end; *@ret_next is behind that. False: none. */
static bool number_parse(const char *text, char end, unsigned long long most,
			 unsigned long long *ret, const char **ret_next)
{
	char *behind;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*ret = strtoull(text, &behind, 10);
	*ret_next = behind + 1;
	return !errno && *ret <= most && *behind == end;
}

static bool net_parse(const char *text, __u64 *ret)
{
	struct in6_addr ipv6;
	struct in_addr ipv4;
	__be64 upper;

	if (inet_pton(AF_INET, text, &ipv4) == 1) {
		*ret = ntohl(ipv4.s_addr);
	} else if (inet_pton(AF_INET6, text, &ipv6) == 1) {
		memcpy(&upper, &ipv6, sizeof(upper));
		*ret = be64toh(upper);
		/* Others are IPv4 addresses to the table. */
		if (!(*ret >> 32))
			return false;
	} else {
		return false;
	}
	return *ret;
}

/* Enter a client as known, @age minutes ago. */
static void enter(const struct known_clients *at, __u64 net, __u32 hops, __u32 flags,
		  __u32 age)
{
	__u32 minutes = flags & REPUTATION_PLAYER ? 1 : REPUTATION_MINUTES;

	if (reputation_find(at->table, net, at->keys))
		return;
	while (minutes--)
		reputation_note(at->table, net, hops, flags, at->minute - age - minutes,
				at->keys);
}

static bool line_take(char *line, const struct known_clients *at)
{
	static const char player[] = "player ";
	unsigned long long hops = 0, last, now = at->now > 0 ? (__u64)at->now : 0, age;
	char *space = strchr(line, ' ');
	const char *next;
	__u32 flags = 0;
	__u64 net;

	if (!space)
		return false;
	*space = 0;
	next = space + 1;
	if (!strncmp(next, player, sizeof(player) - 1)) {
		next += sizeof(player) - 1;
		flags = REPUTATION_PLAYER;
	} else if (!number_parse(next, ' ', 255, &hops, &next)) {
		return false;
	}
	if (!number_parse(next, '\n', LLONG_MAX, &last, &next) || *next ||
	    !net_parse(line, &net))
		return false;
	/* A clock that went back makes no client older, nor younger than now. */
	age = last < now ? now - last : 0;
	if (age < REPUTATION_AGE * MINUTE_NS / SECOND_NS)
		enter(at, net, (__u32)hops, flags, (__u32)(age * SECOND_NS / MINUTE_NS));
	return true;
}

/*
 * The file @path, or, if there is none, the one that an older build kept in its place.
 * NULL and errno: neither can be opened.
 */
static FILE *file_open(const char *path)
{
	FILE *file = fopen(path, "re");
	char old[PATH_MAX];

	if (!file && errno == ENOENT && old_path(path, old))
		file = fopen(old, "re");
	return file;
}

int known_clients_read(const char *path, const struct known_clients *at, size_t *ret_bad,
		       size_t *ret_first)
{
	FILE *in = file_open(path);
	char line[KNOWN_CLIENTS_LINE];
	size_t count = 0;
	int err;

	*ret_bad = *ret_first = 0;
	if (!in)
		return errno == ENOENT ? 0 : -errno;
	/* A piece of a line that is too long is none either. */
	while (count < LINES_MOST && fgets(line, sizeof(line), in)) {
		count++;
		if (!line_take(line, at) && !(*ret_bad)++)
			*ret_first = count;
	}
	err = ferror(in) ? -EIO : 0;
	fclose(in);
	return err;
}
