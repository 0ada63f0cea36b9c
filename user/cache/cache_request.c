// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * cache_request.c - see cache_request.h.
 *
 * Only questions in their plain spelling, as clients send them: what is spelt in another
 * way goes to the server. So do QuakeWorld's other flags of `status`, and NetQuake's
 * questions for single players and rules.
 */
#include <string.h>

#include "cache/cache_request.h"
#include "classify.h"
#include "lib/util.h"

#define OOB "\xff\xff\xff\xff"
#define WITHOUT_NONCE(text, kind)                      \
	{                                              \
		text, sizeof(text) - 1, 0, KIND_##kind \
	}
#define WITH_NONCE(text, kind)                         \
	{                                              \
		text, sizeof(text) - 1, 1, KIND_##kind \
	}
#define TOO_LARGE "is too large for one frame"
#define AROUND	  8 /* octets on each side of a nonce that have to agree */
#define NAMED_AT  5 /* in CCREP_SERVER_INFO, behind length and code */

/* cache_form_first() depends on the order of the requests of each family. */
static const struct cache_request quake3[] = {
	WITH_NONCE(OOB "getinfo ", INFORESPONSE),
	WITH_NONCE(OOB "getstatus ", STATUSRESPONSE),
	WITHOUT_NONCE(OOB "getinfo", INFORESPONSE),
	WITHOUT_NONCE(OOB "getstatus", STATUSRESPONSE),
};

/* id's, and what DarkPlaces says beside it. */
static const struct cache_request netquake[] = {
	WITH_NONCE(OOB "getinfo ", INFORESPONSE),
	WITH_NONCE(OOB "getstatus ", STATUSRESPONSE),
	WITHOUT_NONCE(OOB "getinfo", INFORESPONSE),
	WITHOUT_NONCE(OOB "getstatus", STATUSRESPONSE),
	WITHOUT_NONCE("\x80\x00\x00\x0c\x02QUAKE\x00\x03", CCREP_SERVER_INFO),
};

/* Flags of `status`: 1 info, 2 players, 4 spectators, 8 both, 16 teams, 32 QTV. */
static const struct cache_request quakeworld[] = {
	WITHOUT_NONCE(OOB "status", A2C_PRINT),
	WITHOUT_NONCE(OOB "status 1", A2C_PRINT),
	WITHOUT_NONCE(OOB "status 23", A2C_PRINT),
	WITHOUT_NONCE(OOB "status 31", A2C_PRINT),
	WITHOUT_NONCE(OOB "ping", RAW_ACK),
	WITHOUT_NONCE(OOB "k", RAW_ACK),
};

static const struct cache_request quake2[] = {
	WITHOUT_NONCE(OOB "info 34", INFO), WITHOUT_NONCE(OOB "info 35", INFO),
	WITHOUT_NONCE(OOB "info 36", INFO), WITHOUT_NONCE(OOB "status", PRINT),
	WITHOUT_NONCE(OOB "ping", ACK),
};

static const struct {
	const struct cache_request *requests;
	size_t count;
} families[FAMILY_COUNT] = {
	[FAMILY_QUAKE3] = { quake3, ARRAY_SIZE(quake3) },
	[FAMILY_NETQUAKE] = { netquake, ARRAY_SIZE(netquake) },
	[FAMILY_QUAKEWORLD] = { quakeworld, ARRAY_SIZE(quakeworld) },
	[FAMILY_QUAKE2] = { quake2, ARRAY_SIZE(quake2) },
};

const struct cache_request *cache_requests(enum wire_family family, size_t *ret_count)
{
	*ret_count = families[family].count;
	return families[family].requests;
}

size_t cache_request_write(const struct cache_request *request, const char *nonce,
			   size_t n, char ret[CACHE_REQUEST_MAX])
{
	memcpy(ret, request->text, request->length);
	if (!request->nonce)
		return request->length;
	memcpy(ret + request->length, nonce, n);
	return request->length + n;
}

static __u16 sum_of(const void *part, size_t n)
{
	__u64 words[(CACHE_TEXT + 7) / 8] = { 0 };

	memcpy(words, part, n);
	return cache_sum_words(words, ARRAY_SIZE(words));
}

/*
 * Return where the only @nonce is in the reply; @length: nowhere, or it is not the only
 * one.
 */
static size_t nonce_find(const char *nonce, size_t n, const char *reply, size_t length)
{
	const char *at = memmem(reply, length, nonce, n), *next;

	if (!at)
		return length;
	next = at + n;
	if (memmem(next, length - (size_t)(next - reply), nonce, n))
		return length;
	return (size_t)(at - reply);
}

/*
 * How many octets of @reply are said of the server itself: up to the end of the line that
 * begins with the first backslash. All lines behind it are of players. @length: it has no
 * such list, or the list may not be cut.
 */
static size_t players_begin(const struct cache_request *request, const char *reply,
			    size_t length)
{
	const char *info, *end;

	if (request->reply_kind != KIND_STATUSRESPONSE &&
	    request->reply_kind != KIND_A2C_PRINT && request->reply_kind != KIND_PRINT)
		return length;
	info = memchr(reply, '\\', length);
	end = info ? memchr(info, '\n', length - (size_t)(info - reply)) : NULL;
	return end ? (size_t)(end + 1 - reply) : length;
}

/*
 * The places to cut the answer in @t, of @length octets of text, of which the first
 * @least are in every answer. False: those do not fit a frame.
 */
static bool cuts_set(struct cache_entry *t, size_t least, size_t length)
{
	size_t room = (size_t)t->most - t->ended - t->nonce;
	size_t sure =
		(size_t)t->most - t->ended - CACHE_IPV6 - (t->nonce ? CACHE_NONCE : 0);

	if (least > room)
		return false;
	for (size_t i = 0; i < CACHE_CUTS; i++) {
		/* The one before does not fit all: the next is a line shorter. */
		if (i && length > sure)
			room = i == CACHE_CUTS - 1 ? sure : length - 1;
		if (length > room) {
			length = room > least ? room : least;
			while (length > least && t->text[length - 1] != '\n')
				length--;
		}
		t->cuts[i].tail = (__u16)(length - t->head);
		t->cuts[i].sum = sum_of(t->text + t->head, length - t->head);
	}
	return true;
}

/*
 * NetQuake's servers say at which address they are reached; FTE says the one at which it
 * was asked, which to others it would not.
 */
static bool names_loopback(const struct cache_request *request, const char *text,
			   size_t length)
{
	static const char here[] = "127.0.0.1:";

	return request->reply_kind == KIND_CCREP_SERVER_INFO &&
	       length >= NAMED_AT + sizeof(here) - 1 &&
	       !memcmp(text + NAMED_AT, here, sizeof(here) - 1);
}

static void request_set(const struct cache_request *request, struct cache_entry *ret)
{
	size_t compared = request->nonce ? request->length : sizeof(ret->request);

	memcpy(ret->request, request->text, request->length);
	memset(ret->mask, 0xff, compared);
	ret->request_length = request->length;
	ret->nonce = request->nonce;
}

const char *cache_entry_make(enum wire_family family, const struct cache_request *request,
			     const char *nonce, size_t n, const void *reply,
			     size_t length, __u16 most, __u64 now_ns,
			     struct cache_entry *ret)
{
	struct cursor c = { .pos = reply, .end = (const __u8 *)reply + length };
	const char *text = reply;
	size_t head, least, kept;

	if (!request->nonce)
		n = 0;
	if (length < 1 + n)
		return "is shorter than what was asked";
	if (classify(family, DIRECTION_S2C, c, length) != request->reply_kind)
		return "is no answer to it";
	if (names_loopback(request, text, length))
		return "names an address that nobody else reaches it at";
	least = players_begin(request, text, length);
	head = request->nonce ? nonce_find(nonce, n, text, length) : least;
	if (request->nonce && head == length)
		return "does not have the asker's word in it once";
	if (request->nonce && length - n < CACHE_LEAST)
		return "is shorter than a frame";
	*ret = (struct cache_entry){
		.made_ns = now_ns,
		.kind = (__u16)request->reply_kind,
		.most = most,
		.head = (__u16)head,
		.ended = least < length && !text[length - 1],
	};
	request_set(request, ret);
	length -= n + ret->ended;
	least = least > head + n ? least - n : head;
	kept = length < CACHE_TEXT ? length : CACHE_TEXT;
	if (head > kept)
		return TOO_LARGE;
	memcpy(ret->text, text, head);
	memcpy(ret->text + head, text + head + n, kept - head);
	if (!cuts_set(ret, least, length))
		return TOO_LARGE;
	memset(ret->text + head + ret->cuts[0].tail, 0, kept - head - ret->cuts[0].tail);
	ret->head_sum = sum_of(text, head);
	return NULL;
}

bool cache_entries_agree(const struct cache_entry *a, const struct cache_entry *b)
{
	size_t behind = a->cuts[0].tail < AROUND ? a->cuts[0].tail : AROUND;

	return a->head >= AROUND && b->head >= AROUND &&
	       !memcmp(a->text + a->head - AROUND, b->text + b->head - AROUND, AROUND) &&
	       (a->cuts[0].tail < AROUND) == (b->cuts[0].tail < AROUND) &&
	       (a->cuts[0].tail >= AROUND || a->cuts[0].tail == b->cuts[0].tail) &&
	       !memcmp(a->text + a->head, b->text + b->head, behind);
}
