// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * http.c - the one file that knows libmicrohttpd. See http.h.
 */
#include <errno.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "lib/http.h"
#include "lib/log.h"
#include "lib/loop.h"

#define RUNS_MAX 64 /* of libmicrohttpd in a row, before others get their turn */

/*
 * Open at a time: connections that may stay, and those that are being closed. At its own
 * limit libmicrohttpd would look for new ones only when it is called the next time.
 */
#define PLACES (2 * HTTP_CONNECTIONS)

/* One that is open, and since when we wait for a request to be asked and answered whole.
 */
struct visitor {
	struct MHD_Connection *connection; /* NULL: the place is free */
	time_t since;
	uint64_t turn; /* of that moment: lower for a longer wait */
	bool leaves; /* shut down, and not closed yet */
};

struct http {
	struct visitor visitors[PLACES];
	uint64_t turn; /* of the last that came, or was answered */
	struct MHD_Daemon *daemon;
	int epoll;
	int deadline_s;
	bool public;
	const struct http_page *pages;
	size_t count;
	void *context;
};

/* The page loads nothing else, may not be framed, and its type may not be guessed. */
static const char *const headers[][2] = {
	{ MHD_HTTP_HEADER_CACHE_CONTROL, "no-store" },
	{ "X-Content-Type-Options", "nosniff" },
	{ "Referrer-Policy", "no-referrer" },
	{ "Content-Security-Policy",
	  "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
	  "connect-src 'self'; img-src data:; frame-ancestors 'none'" },
};

static enum MHD_Result reply(struct MHD_Connection *connection, unsigned int status,
			     const char *type, char *body, size_t size)
{
	struct MHD_Response *response =
		MHD_create_response_from_buffer(size, body, MHD_RESPMEM_MUST_FREE);
	enum MHD_Result result;

	if (!response) {
		free(body);
		return MHD_NO;
	}
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	for (size_t i = 0; i < sizeof(headers) / sizeof(*headers); i++)
		MHD_add_response_header(response, headers[i][0], headers[i][1]);
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	result = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result refuse(struct MHD_Connection *connection, unsigned int status,
			      const char *why)
{
	char *body = strdup(why);

	return body ? reply(connection, status, "text/plain; charset=utf-8", body,
			    strlen(body))
		    : MHD_NO;
}

static enum MHD_Result serve(struct http *h, struct MHD_Connection *connection,
			     const struct http_page *page)
{
	char *body = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&body, &size);
	int status;

	if (!out)
		return MHD_NO;
	status = page->render(out, h->context);
	if (fclose(out) && status > 0)
		status = -ENOMEM;
	if (status > 0)
		return reply(connection, (unsigned int)status, page->type, body, size);
	free(body);
	return refuse(connection, MHD_HTTP_INTERNAL_SERVER_ERROR,
		      "the figures could not be read: see the daemon's messages\n");
}

static bool accepted(struct MHD_Connection *connection, const struct http_page *page)
{
	const char *accept;

	if (!page->accept)
		return true;
	accept = MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
					     MHD_HTTP_HEADER_ACCEPT);
	return accept && strstr(accept, page->accept) &&
	       !(page->but && strstr(accept, page->but));
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection,
				  const char *url, const char *method,
				  const char *version, const char *upload_data,
				  size_t *upload_data_size, void **state)
{
	static int begun;
	struct http *h = context;
	const char *host;

	(void)version;
	(void)upload_data;
	/* First called with the headers; an answer now would break keep-alive. */
	if (!*state) {
		*state = &begun;
		return MHD_YES;
	}
	if (*upload_data_size) {
		*upload_data_size = 0; /* the request is not read */
		return MHD_YES;
	}
	host = MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
					   MHD_HTTP_HEADER_HOST);
	if (host && !h->public && !listen_host_local(host))
		return refuse(connection, MHD_HTTP_FORBIDDEN,
			      "served on loopback, to be asked for by a loopback name\n");
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 &&
	    strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED,
			      "to be read only: GET or HEAD\n");
	for (size_t i = 0; i < h->count; i++) {
		if (strcmp(url, h->pages[i].path) != 0 ||
		    !accepted(connection, &h->pages[i]))
			continue;
		if (h->pages[i].local && h->public)
			return refuse(
				connection, MHD_HTTP_FORBIDDEN,
				"about people: not to be had on a public address\n");
		return serve(h, connection, &h->pages[i]);
	}
	return refuse(connection, MHD_HTTP_NOT_FOUND, "no such page\n");
}

static time_t seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

/* libmicrohttpd sees that the connection is shut down, and closes it. */
static void send_away(struct visitor *v)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(v->connection, MHD_CONNECTION_INFO_CONNECTION_FD);

	if (info)
		shutdown(info->connect_fd, SHUT_RDWR);
	v->leaves = true;
}

/*
 * Close the connection that has waited longest, when a new one comes and all places are
 * taken. A client that sends its request at once is answered at once, so no crowd of
 * silent connections can keep it waiting, however long its queue: each of them is closed
 * for the next. A client that takes long to read its response may be closed too, next to
 * such a crowd.
 */
static void make_room(struct http *h)
{
	struct visitor *oldest = NULL;
	size_t stay = 0;

	for (size_t i = 0; i < PLACES; i++) {
		struct visitor *v = &h->visitors[i];

		if (!v->connection || v->leaves)
			continue;
		stay++;
		if (!oldest || v->turn < oldest->turn)
			oldest = v;
	}
	if (stay > HTTP_CONNECTIONS)
		send_away(oldest);
}

static void on_connection(void *context, struct MHD_Connection *connection,
			  void **socket_context, enum MHD_ConnectionNotificationCode what)
{
	struct http *h = context;
	struct visitor *v = *socket_context;

	if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
		if (v)
			v->connection = NULL;
		return;
	}
	for (size_t i = 0; i < PLACES; i++) {
		if (h->visitors[i].connection)
			continue;
		h->visitors[i] =
			(struct visitor){ connection, seconds(), ++h->turn, false };
		*socket_context = &h->visitors[i];
		break;
	}
	make_room(h);
}

/* Answered: the next request has as long as this one had. */
static void on_completed(void *context, struct MHD_Connection *connection, void **state,
			 enum MHD_RequestTerminationCode how)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct visitor *v = info ? info->socket_context : NULL;
	struct http *h = context;

	(void)state;
	(void)how;
	if (!v)
		return;
	v->since = seconds();
	v->turn = ++h->turn;
}

/*
 * libmicrohttpd's timeout starts over with each byte, so a client that sends a byte now
 * and then would keep its place for ever.
 */
static void close_overdue(struct http *h)
{
	time_t now = seconds();

	for (size_t i = 0; i < PLACES; i++) {
		struct visitor *v = &h->visitors[i];

		if (!v->connection || now - v->since < h->deadline_s)
			continue;
		send_away(v);
	}
}

/* Until it has nothing left to do, or has had enough of our time. */
static void http_run(void *context)
{
	struct http *h = context;
	MHD_UNSIGNED_LONG_LONG wait_ms;

	for (int i = 0; i < RUNS_MAX; i++) {
		if (MHD_run(h->daemon) != MHD_YES)
			return;
		if (MHD_get_timeout(h->daemon, &wait_ms) != MHD_YES || wait_ms)
			return;
	}
}

int http_start(const struct listen_at *at, const struct http_page *pages, size_t count,
	       void *context, struct http **ret)
{
	const union MHD_DaemonInfo *info;
	struct sockaddr_storage address;
	char text[LISTEN_TEXT];
	socklen_t length;
	struct http *h = calloc(1, sizeof(*h));
	int err;

	if (!h)
		return -ENOMEM;
	listen_format(at, text);
	listen_sockaddr(at, &address, &length);
	*h = (struct http){ .deadline_s = HTTP_DEADLINE_S,
			    .public = at->public,
			    .pages = pages,
			    .count = count,
			    .context = context };
	errno = 0;
	h->daemon = MHD_start_daemon(
		MHD_USE_EPOLL | (address.ss_family == AF_INET6 ? MHD_USE_IPv6 : 0), 0,
		NULL, NULL, on_request, h, MHD_OPTION_SOCK_ADDR, &address,
		MHD_OPTION_NOTIFY_CONNECTION, on_connection, h,
		MHD_OPTION_NOTIFY_COMPLETED, on_completed, h, MHD_OPTION_CONNECTION_LIMIT,
		(unsigned int)PLACES, MHD_OPTION_CONNECTION_TIMEOUT,
		(unsigned int)HTTP_TIMEOUT_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)HTTP_MEMORY, MHD_OPTION_END);
	if (!h->daemon) {
		err = errno ? -errno : -EIO;
		log_error("cannot serve metrics on %s: %s", text, strerror(-err));
		free(h);
		return err;
	}
	info = MHD_get_daemon_info(h->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	h->epoll = info ? info->epoll_fd : -1;
	if (!loop_add(h->epoll, http_run, h)) {
		log_error("cannot serve metrics on %s: the event loop is full", text);
		MHD_stop_daemon(h->daemon);
		free(h);
		return -ENOSPC;
	}
	*ret = h;
	return 0;
}

void http_stop(struct http *h)
{
	if (!h)
		return;
	loop_remove(h->epoll);
	MHD_stop_daemon(h->daemon);
	free(h);
}

void http_deadline(struct http *h, int deadline_s)
{
	h->deadline_s = deadline_s;
}

void http_tick(struct http *h)
{
	close_overdue(h);
	http_run(h);
}
