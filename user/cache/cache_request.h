/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cache_request.h - which queries of a protocol can be answered from the cache, and how a
 * server's reply becomes the cached response (include/cached_response.h). Called by
 * cache_refresh.c. Pure.
 */
#ifndef CACHE_REQUEST_H
#define CACHE_REQUEST_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

#include "cached_response.h"
#include "wire.h"

struct cache_request {
	const char *text; /* bytes, without the nonce */
	__u8 length;
	__u8 nonce; /* 1: one has to follow */
	enum wire_kind reply_kind;
};

/*
 * Return the requests of @family that can be answered from the cache, at most
 * CACHE_FORMS; *@ret_count may be 0.
 */
const struct cache_request *cache_requests(enum wire_family family, size_t *ret_count);

#define CACHE_REQUEST_MAX (CACHE_REQUEST + CACHE_NONCE)

/* Write the query with @nonce, of @n bytes, where @form has one. Returns its length. */
size_t cache_request_write(const struct cache_request *request, const char *nonce,
			   size_t n, char ret[CACHE_REQUEST_MAX]);

/*
 * Make of the @reply, of @length bytes, to cache_request_write() of the same form and
 * nonce the cached response, as of @now_ns, which is not 0: at most @most bytes in IPv4,
 * from CACHE_LEAST to CACHE_TEXT, and CACHE_IPV6 less in IPv6. A longer list of players
 * is cut at the end of a line. Returns NULL and *@ret; or why it cannot be, as words for
 * a message.
 */
const char *cache_entry_make(enum wire_family family, const struct cache_request *request,
			     const char *nonce, size_t n, const void *reply,
			     size_t length, __u16 most, __u64 now_ns,
			     struct cache_entry *ret);

/*
 * Return true if two responses of a form, made with nonces of different lengths, have the
 * nonce at the same place. Then the bytes around it are the same.
 */
bool cache_entries_agree(const struct cache_entry *a, const struct cache_entry *b);

#endif /* CACHE_REQUEST_H */
