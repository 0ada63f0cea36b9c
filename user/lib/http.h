/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * http.h - a few pages over HTTP, to be read, within the daemon's loop.
 *
 * The only file that knows libmicrohttpd is http.c. Bounded: HTTP_CONNECTIONS at a time,
 * HTTP_TIMEOUT_S without progress, HTTP_DEADLINE_S for a request and its answer together
 * (and for the wait between two), HTTP_MEMORY bytes of request each. When all places are
 * taken, who has waited longest for its request to be asked and answered makes room.
 * Unless the address is public, only requests to a loopback name are served, so that no
 * web page may read ours under a name of its own.
 */
#ifndef HTTP_H
#define HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "lib/listen.h"

#define HTTP_CONNECTIONS 32
#define HTTP_TIMEOUT_S	 10
#define HTTP_DEADLINE_S	 20
#define HTTP_MEMORY	 16384

struct http_page {
	const char *path;
	const char *type; /* of content */
	bool local; /* about people: on loopback only, public address or not */
	/* Write the page; the HTTP status, or -errno. */
	int (*render)(FILE *out, void *context);
	/* NULL; or this page is for those who accept a type that begins so, by name, and
	 * not @but either: another row of that path, behind it, is for all others. */
	const char *accept, *but;
};

struct http;

/* @pages live on. 0 or -errno after a message. */
int http_start(const struct listen_at *at, const struct http_page *pages, size_t count,
	       void *context, struct http **ret);
void http_stop(struct http *http);

/* Instead of HTTP_DEADLINE_S, for tests. */
void http_deadline(struct http *http, int seconds);

/* To be called every second: connections time out by it. */
void http_tick(struct http *http);

#endif /* HTTP_H */
