/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cache_request.h - which questions of a family can be answered from the kernel, and how
 * a server's reply becomes the template of its answer (include/cached_response.h). Pure.
 */
#ifndef CACHE_REQUEST_H
#define CACHE_REQUEST_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

#include "cached_response.h"
#include "wire.h"

struct cache_request {
	const char *text; /* octets, without the nonce */
	__u8 length;
	__u8 nonce; /* 1: one has to follow */
	enum wire_kind reply_kind;
};

/* The questions of @family, at most CACHE_FORMS; *@ret_count may be 0. */
const struct cache_request *cache_requests(enum wire_family family, size_t *ret_count);

#define CACHE_REQUEST_MAX (CACHE_REQUEST + CACHE_NONCE)

/* Write the question with @nonce, of @n octets, where @form has one: its length. */
size_t cache_request_write(const struct cache_request *request, const char *nonce,
			   size_t n, char ret[CACHE_REQUEST_MAX]);

/*
 * Make of the @reply, of @length octets, to cache_request_write() of the same what is to
 * be sent, as of @now_ns, not 0: at most @most octets in IPv4, from CACHE_LEAST to
 * CACHE_TEXT, and CACHE_IPV6 less in IPv6. A longer list of players is cut at the
 * end of a line. NULL and *@ret; or why it cannot be, as words for a message.
 */
const char *cache_entry_make(enum wire_family family, const struct cache_request *request,
			     const char *nonce, size_t n, const void *reply,
			     size_t length, __u16 most, __u64 now_ns,
			     struct cache_entry *ret);

/*
 * Do two templates of a form, made with nonces of different lengths, say that it stands
 * at the same place? What is around it is the same then.
 */
bool cache_entries_agree(const struct cache_entry *a, const struct cache_entry *b);

#endif /* CACHE_REQUEST_H */
