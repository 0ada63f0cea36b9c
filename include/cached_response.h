/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cached_response.h - a server's response to a query, ready to be sent in the server's
 * place.
 *
 * A cache entry is one query, byte by byte, and the server's whole response. Where the
 * query may end with a token that the client chose (a nonce), the response is kept
 * without it, in two parts:
 *
 *	query		ff ff ff ff g e t i n f o 20 | nonce	perhaps 0a or 00 after it
 *	response	head ...            | nonce | ... tail
 *
 * A server's list of players may make its response longer than one frame. The response is
 * then cut at the end of a player's line: the entry names up to CACHE_CUTS places to cut,
 * and the program takes the first that fits with the nonce and the headers.
 *
 * Each query has two entries, and a generation that says which of them is valid. The
 * daemon, the only writer, fills the other and then adds one. A reader compares the
 * generation before and after: if it is the same, no entry was written where it read.
 *
 * Pure: compiled into the programs, the daemon and the tests. Sums are of 16-bit words as
 * they are in memory, folded and not complemented, as if the part began at an even place;
 * at an odd one its bytes change places (RFC 1071).
 *
 * Called by cached_response.bpf.h, by host_keys.bpf.h and reply.bpf.h (sums), and in
 * userland by the daemon that makes entries and by commands that show them. Functions
 * that both sides call must give both the same result, or clients get a response with a
 * wrong checksum. The entries are in a pinned table: a member or sum with a new meaning
 * needs another ABI_VERSION (user/shield/shield_abi.c).
 */
#ifndef CACHED_RESPONSE_H
#define CACHED_RESPONSE_H

#include <linux/types.h>
#include <stdbool.h>

#include "cursor.h"
#include "wire.h"

#define CACHE_FORMS   8 /* queries of a service that can be cached */
#define CACHE_REQUEST 24 /* bytes of a query without the nonce */
#define CACHE_NONCE   32 /* the longest */
#define CACHE_LOOK    64 /* bytes of a query that are looked at */
#define CACHE_TEXT                                                                      \
	1472 /* bytes of a response with its nonce: in IPv4, 1500 bytes without options \
	      */
#define CACHE_IPV6 20 /* bytes that IPv6's header is longer than IPv4's */
#define CACHE_CUTS 4 /* places at which a response may end */
#define CACHE_LEAST                                                         \
	48 /* least bytes of a response with a nonce: more than any padding \
	    */
#define CACHE_NS 6000000000ull /* ns; an older response is not sent */

_Static_assert(CACHE_REQUEST + CACHE_NONCE + 2 <= CACHE_LOOK,
	       "a question is not looked at to its end");

/* When the shield serves queries from the cache. */
enum cache_mode {
	CACHE_OFF,
	CACHE_UNDER_LOAD, /* while the service is under load by queries: until
			     UNDER_LOAD_NS after its limit was last exceeded */
	CACHE_ALWAYS,
};

/*
 * Return true if the response to a query of @kind can be cached, for a service of
 * @family. Called by service_finish(), which sets CLASS_CACHED. Each kind must have its
 * queries in user/cache/cache_request.c, their first form in cache_form_first(), and
 * CLASS_QUERY in wire.h: there are no counters for others
 * (tests/include/test_counters.c).
 */
static inline bool kind_cacheable(enum wire_family family, enum wire_kind kind)
{
	switch (kind) {
	case KIND_GETINFO:
	case KIND_GETSTATUS:
		return family == FAMILY_QUAKE3 || family == FAMILY_NETQUAKE;
	case KIND_STATUS:
	case KIND_PING:
		return family == FAMILY_QUAKEWORLD || family == FAMILY_QUAKE2;
	case KIND_INFO:
		return family == FAMILY_QUAKE2;
	case KIND_A2A_PING:
		return family == FAMILY_QUAKEWORLD;
	case KIND_CCREQ_SERVER_INFO:
		return family == FAMILY_NETQUAKE;
	default:
		return false;
	}
}

/* A place where a response may end. */
struct cache_cut {
	__u16 tail; /* bytes after the head and the nonce */
	__u16 sum;
};

/* Made by cache_entry_make() in the daemon, and stored by shield_cache_put(). */
struct cache_entry {
	__u64 made_ns; /* when the server sent it, by the shield's clock; 0: never */
	__u64 request[CACHE_REQUEST / 8]; /* zeros after it */
	__u64 mask[CACHE_REQUEST / 8]; /* bits that are compared: cache_matches() */
	__u8 request_length;
	__u8 nonce; /* 1: a nonce must follow */
	__u16 kind; /* enum wire_kind of the response */
	__u16 most; /* most bytes of a response in IPv4, 1 to CACHE_TEXT */
	__u16 head; /* bytes before the nonce, or all that is never cut */
	__u16 head_sum;
	__u8 ended; /* 1: a NUL follows, which is not in the text */
	__u8 pad[5];
	/* The longest tail first; the last fits in IPv6 with any nonce, if one does. */
	struct cache_cut cuts[CACHE_CUTS];
	__u8 text[CACHE_TEXT]; /* head and the longest tail, zeros after them */
};
_Static_assert(sizeof(struct cache_entry) == 88 + CACHE_TEXT,
	       "struct template has a hole");

struct cache_pair {
	__u64 generation; /* bit 0: which of the two is valid */
	struct cache_entry half[2];
};

/* The beginning of a query, zeros after it. */
struct cache_query {
	__u8 at[CACHE_LOOK];
} __attribute__((aligned(8)));

struct cache_nonce {
	__u64 words[CACHE_NONCE / 8]; /* zeros after it */
	__u32 length;
};

/* --- sums -------------------------------------------------------------------- */

/*
 * Return @sum folded to 16 bits, not complemented. @sum: any sum of words. Each half
 * is folded twice, which is enough for any 64 bits: do not remove a folding. reply_fold()
 * makes the checksums of all replies by it.
 */
static __always_inline __u16 cache_fold(__u64 sum)
{
	sum = (__u32)sum + (sum >> 32);
	sum = (__u32)sum + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	return (__u16)((sum & 0xffff) + (sum >> 16));
}

/*
 * Return the sum of a part whose own sum is @sum and that begins @at bytes into the
 * response. @sum: folded.
 */
static __always_inline __u32 cache_sum_at(__u16 sum, __u32 at)
{
	return at & 1 ? (__u16)(sum << 8 | sum >> 8) : sum;
}

/*
 * Return the sum of @count words, folded. Zeros after a part do not change its sum: the
 * daemon pads parts with them, and cache_nonce_copy() the nonce.
 */
static __always_inline __u16 cache_sum_words(const __u64 *words, int count)
{
	__u64 sum = 0;

	for (int i = 0; i < count; i++)
		sum += (words[i] & 0xffffffff) + (words[i] >> 32);
	return cache_fold(sum);
}

/*
 * Return the sum of the whole response up to @cut. @nonce_sum: cache_sum_words() of the
 * nonce. Not folded. Called by cache_send(). The order is that in which cache_parts()
 * writes: head, nonce, tail.
 */
static __always_inline __u64 cache_sum(const struct cache_entry *t,
				       const struct cache_cut *cut, __u16 nonce_sum,
				       __u32 nonce_length)
{
	return (__u64)t->head_sum + cache_sum_at(nonce_sum, t->head) +
	       cache_sum_at(cut->sum, t->head + nonce_length);
}

/* --- questions --------------------------------------------------------------- */

/* Characters of a nonce: none that an engine would quote, escape or leave out. */
static const __u8 cache_nonce_letters[256] = {
	['0' ... '9'] = 1, ['a' ... 'z'] = 1, ['A' ... 'Z'] = 1,
	['_'] = 1,	   ['-'] = 1,	      ['.'] = 1,
};

/*
 * Return the length of a query of @length bytes without what ends it, LF or NUL or both,
 * where there are zeros from now on. A query of more than CACHE_LOOK bytes, or of up to
 * 5, keeps its length. Called by query_load(), and by `replay`, which must find the same
 * entry; cache_form_first() and cache_nonce_length() need its result.
 */
static __always_inline __u32 cache_query_length(struct cache_query *q, __u32 length)
{
	for (int i = 0; i < 2; i++) {
		__u32 last = length - 1;

		if (length <= 5 || !index_below(&last, CACHE_LOOK) ||
		    (q->at[last] && q->at[last] != '\n'))
			break;
		q->at[last] = 0;
		length = last;
	}
	return length;
}

#define CACHE_TRIES	4 /* forms that a query is compared with */
#define CACHE_GETINFO	11 /* bytes of a getinfo without a nonce */
#define CACHE_GETSTATUS 13 /* bytes of a getstatus without a nonce */

/*
 * Return the first form, in the order of user/cache/cache_request.c, that a query of
 * @kind can have: at most CACHE_FORMS - CACHE_TRIES. @length: cache_query_length().
 * Called by cache_choose(), which compares CACHE_TRIES forms from this one on and no
 * others: keep it in step with the order there.
 */
static __always_inline __u32 cache_form_first(enum wire_kind kind, __u32 length)
{
	switch (kind) {
	case KIND_GETINFO:
		return length > CACHE_GETINFO ? 0 : 2;
	case KIND_GETSTATUS:
		return length > CACHE_GETSTATUS ? 1 : 3;
	case KIND_CCREQ_SERVER_INFO:
	case KIND_PING:
	case KIND_A2A_PING:
		return 4;
	default:
		return 0;
	}
}

/*
 * Return 1 if the response is young enough, or 0. The daemon may have read a later clock.
 * Called by cache_choose() and cached_response_describe(), so that a command shows as
 * fresh what the programs send.
 */
static __always_inline __u32 cache_fresh(const struct cache_entry *t, __u64 now_ns)
{
	return (__u32)((now_ns - t->made_ns - CACHE_NS) >> 63) &
	       (zero_bit(t->made_ns) ^ 1);
}

/*
 * Return 1 if @q, without its end, is the query of @t up to the nonce, or 0. Where no
 * nonce follows there are zeros after @q, and all of them are compared.
 * cache_nonce_length() must check the length too. Called by cache_choose().
 */
static __always_inline __u32 cache_matches(const struct cache_entry *t,
					   const struct cache_query *q)
{
	const __u64 *words = (const __u64 *)q->at;
	__u64 other = 0;

	for (int i = 0; i < CACHE_REQUEST / 8; i++)
		other |= (words[i] ^ t->request[i]) & t->mask[i];
	return zero_bit(other);
}

/*
 * Return the length of the nonce in a query of @length bytes, without its end; -1: it is
 * another query. Called by cache_choose(), with the length of cache_query_length(); it
 * may be below the length of the request of @t.
 */
static __always_inline int cache_nonce_length(const struct cache_entry *t, __u32 length)
{
	__u32 rest = length - t->request_length;

	if (!t->nonce)
		return rest ? -1 : 0;
	return rest - 1 < CACHE_NONCE ? (int)rest : -1;
}

/*
 * Copy a nonce of @length bytes from @at, where CACHE_NONCE can be read. False: it has
 * other characters than cache_nonce_letters. Branch-free: the verifier explores both
 * sides of each branch. The rest of *@ret becomes zeros, on which cache_sum_words()
 * relies. Called by nonce_load().
 */
static __always_inline bool cache_nonce_copy(const __u8 *at, __u32 length,
					     struct cache_nonce *ret)
{
	__u8 *to = (__u8 *)ret->words;
	__u32 wrong = 0;

	for (__u32 i = 0; i < CACHE_NONCE; i++) {
		__u32 inside = (i - length) >> 31;
		__u8 c = at[i] & (__u8)-inside;

		wrong |= inside & (cache_nonce_letters[c] ^ 1u);
		to[i] = c;
	}
	ret->length = length;
	return !wrong;
}

/*
 * Return the bytes of @t with a nonce of @nonce bytes and the first @tail of its tail.
 * Without headers. Called by cache_chosen(), which compares them with @t->most, by
 * cache_cut_choose(), and by cached_response_describe(). cuts_set()
 * (user/cache/cache_request.c) takes the same parts off @t->most.
 */
static __always_inline __u32 cache_length(const struct cache_entry *t, __u32 tail,
					  __u32 nonce)
{
	return t->head + tail + nonce + t->ended;
}

/*
 * Return the number of the first of @t's cuts at which the response fits, or of the last.
 * @ipv6: 0 or 1.
 *
 * The cuts must be in the order of struct cache_entry, as cuts_set() makes them. Called
 * by cache_chosen(), which must compare the length once more: the last cut may be too
 * long too.
 */
static __always_inline __u32 cache_cut_choose(const struct cache_entry *t, __u32 nonce,
					      __u32 ipv6)
{
	int room = t->most - (int)(cache_length(t, 0, nonce) + ipv6 * CACHE_IPV6);
	__u32 i;

	for (i = 0; i < CACHE_CUTS - 1; i++)
		if (t->cuts[i].tail <= room)
			break;
	return i;
}

#endif /* CACHED_RESPONSE_H */
