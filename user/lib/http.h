/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * http.h - a few read-only pages over HTTP, within the daemon's loop (loop.h) and thread.
 *
 * Only http.c includes libmicrohttpd. Bounded: HTTP_CONNECTIONS at a time, HTTP_TIMEOUT_S
 * without progress, HTTP_DEADLINE_S for a request and its response together (and for the
 * wait between two), HTTP_MEMORY bytes of request each. When all places are taken, the
 * connection that has waited longest for its request to be received and answered is
 * closed. Unless the address is public, only requests to a loopback name are served, so
 * that no web page can read these pages under a name of its own.
 */
#ifndef HTTP_H
#define HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "lib/listen.h"

#define HTTP_CONNECTIONS 32 /* open at a time */
#define HTTP_TIMEOUT_S	 10 /* seconds without progress */
#define HTTP_DEADLINE_S	 20 /* seconds for a request and its response */
#define HTTP_MEMORY	 16384 /* bytes of a request */

struct http_page {
	const char *path;
	const char *type; /* of content */
	bool local; /* about players: on loopback only, even if @at is public */
	/* Write the page; the HTTP status, or -errno. */
	int (*render)(FILE *out, void *context);
	/*
	 * NULL: the page is for every request. Otherwise for requests that accept a type
	 * that begins so, by name, and not @but; a later row of the same path is for all
	 * others.
	 */
	const char *accept, *but;
};

struct http;

/*
 * Listen at @at and serve @pages, which must outlive it, calling render with @context. 0
 * or -errno after a message. http_stop() ends it.
 */
int http_start(const struct listen_at *at, const struct http_page *pages, size_t count,
	       void *context, struct http **ret);
/* Close all connections and the socket, and free @http, which may be NULL. */
void http_stop(struct http *http);

/* Set a deadline in place of HTTP_DEADLINE_S, in seconds. Called by tests alone. */
void http_deadline(struct http *http, int seconds);

/* Close connections that are overdue. To be called every second. */
void http_tick(struct http *http);

#endif /* HTTP_H */
