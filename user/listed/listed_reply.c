// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * listed_reply.c - the questions for a list of servers, and the replies, which come from
 * other hosts. Pure; see listed.h. Wire: the clients of id and ioquake3, dpmaster's
 * documentation, QuakeWorld's clients and servers, q2master.
 */
#include <arpa/inet.h>
#include <string.h>

#include "lib/info.h"
#include "lib/util.h"
#include "listed/listed.h"

#define OOB	 "\xff\xff\xff\xff"
#define IPV4	 6 /* bytes of an address and a port */
#define IPV6	 18
#define END_MARK "\\EOT"
#define PAD_MOST 2 /* bytes, LF or NUL, that old masters put before the first entry */

size_t listed_question(enum listed_words words, const char *game, const char *protocol,
		       char ret[LISTED_QUESTION])
{
	int n = 0;

	switch (words) {
	case LISTED_NONE:
		break;
	case LISTED_DPMASTER:
		n = snprintf(ret, LISTED_QUESTION, OOB "getservers %s%s%s empty full",
			     game, *game ? " " : "", protocol);
		break;
	case LISTED_DPMASTER_EXT:
		n = snprintf(ret, LISTED_QUESTION, OOB "getserversExt %s %s empty full",
			     *game ? game : "Quake3Arena", protocol);
		break;
	case LISTED_QUAKEWORLD:
		memcpy(ret, "c\n", 3); /* with its NUL */
		n = 3;
		break;
	case LISTED_QUAKE2:
		memcpy(ret, "query\n", 7); /* with its NUL */
		n = 7;
		break;
	}
	return (size_t)n;
}

/* --- replies ------------------------------------------------------------- */

/* Hand an entry over: address and port at @at, of 6 bytes or 18. Port 0 is no server. */
static void entry_tell(const unsigned char *at, size_t size, listed_entry each,
		       void *context)
{
	__be32 address[4] = { 0, 0, htonl(0xffff), 0 };
	__u16 port = (__u16)(at[size - 2] << 8 | at[size - 1]);

	if (size == IPV4)
		memcpy(&address[3], at, 4);
	else
		memcpy(address, at, sizeof(address));
	if (each && port)
		each(address, port, context);
}

/* Entries of six bytes each, to the last byte. */
static enum listed_part entries_plain(const unsigned char *at, size_t n,
				      listed_entry each, void *context)
{
	if (n % IPV4)
		return LISTED_BAD;
	for (size_t i = 0; i < n; i += IPV4)
		entry_tell(at + i, IPV4, each, context);
	return LISTED_PART;
}

/* Return true if all @n bytes at @at are NUL. */
static bool all_nul(const unsigned char *at, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (at[i])
			return false;
	return true;
}

/*
 * Return true if the mark of the end is at @at, with NULs up to the end of the datagram.
 * 69.79.84.x has the same bytes as the mark, and then a port.
 */
static bool is_end(const unsigned char *at, size_t n)
{
	const size_t mark = sizeof(END_MARK) - 1;

	return n >= mark && n <= 1 + IPV4 && !memcmp(at, END_MARK, mark) &&
	       all_nul(at + mark, n - mark);
}

/* Entries after a `\` each, or a `/` if they are IPv6. Fixed lengths: addresses may have
 * these bytes. */
static enum listed_part entries_marked(const unsigned char *at, size_t n, bool ipv6,
				       listed_entry each, void *context)
{
	while (n) {
		size_t size = *at == '\\' ? IPV4 : *at == '/' && ipv6 ? IPV6 : 0;

		if (is_end(at, n))
			return LISTED_END;
		/* id's master ends a datagram with the mark of a next entry. */
		if (n == 1 && *at == '\\')
			break;
		/* Nothing comes after the mark. */
		if (!size || n < 1 + size || !memcmp(at, END_MARK "\0\0", 1 + IPV4))
			return LISTED_BAD;
		entry_tell(at + 1, size, each, context);
		at += 1 + size;
		n -= 1 + size;
	}
	return LISTED_PART;
}

static enum listed_part reply_read(enum listed_words words, const unsigned char *at,
				   size_t n, listed_entry each, void *context)
{
	static const struct {
		const char *text;
		size_t n;
	} heads[] = {
		[LISTED_NONE] = { "", 0 },
		[LISTED_DPMASTER] = { OOB "getserversResponse", 22 },
		[LISTED_DPMASTER_EXT] = { OOB "getserversExtResponse", 25 },
		[LISTED_QUAKEWORLD] = { OOB "d\n", 6 },
		[LISTED_QUAKE2] = { OOB "servers", 11 },
	};
	size_t head = heads[words].n;

	if (!head || n < head || memcmp(at, heads[words].text, head) != 0)
		return LISTED_BAD;
	at += head;
	n -= head;
	if (words == LISTED_QUAKEWORLD)
		return entries_plain(at, n, each, context);
	if (words == LISTED_QUAKE2)
		return n && (*at == ' ' || *at == '\n')
			       ? entries_plain(at + 1, n - 1, each, context)
			       : LISTED_BAD;
	for (int i = 0; i < PAD_MOST && n && (*at == '\n' || !*at); i++, n--)
		at++;
	return entries_marked(at, n, words == LISTED_DPMASTER_EXT, each, context);
}

enum listed_part listed_reply(enum listed_words words, const void *bytes, size_t n,
			      listed_entry each, void *context)
{
	/* Nothing is told of a datagram before all of it is known to be right. */
	if (reply_read(words, bytes, n, NULL, NULL) == LISTED_BAD)
		return LISTED_BAD;
	return reply_read(words, bytes, n, each, context);
}

/* --- a server ------------------------------------------------------------ */

/* Copy @from if it fits and consists of what a word of a question can. */
static bool word_copy(const struct span *from, bool digits, char *ret, size_t size)
{
	if (!from->n || from->n >= size)
		return false;
	for (size_t i = 0; i < from->n; i++) {
		unsigned char c = (unsigned char)from->bytes[i];

		if (digits ? c < '0' || c > '9'
			   : c <= ' ' || c >= 0x7f || strchr("\\/;\"%", c))
			return false;
	}
	memcpy(ret, from->bytes, from->n);
	ret[from->n] = 0;
	return true;
}

bool listed_info(const void *bytes, size_t n, char ret_game[LISTED_GAME],
		 char ret_protocol[LISTED_PROTOCOL])
{
	static const char head[] = OOB "infoResponse\n";
	const char *at = bytes;
	struct span value;

	if (n < sizeof(head) - 1 || memcmp(at, head, sizeof(head) - 1) != 0)
		return false;
	at += sizeof(head) - 1;
	n -= sizeof(head) - 1;
	if (!info_find(at, n, "protocol", &value) ||
	    !word_copy(&value, true, ret_protocol, LISTED_PROTOCOL))
		return false;
	/* A game by the name of its protocol: a number as first word is the protocol. */
	if (!info_find(at, n, "gamename", &value) ||
	    !word_copy(&value, false, ret_game, LISTED_GAME) ||
	    (*ret_game >= '0' && *ret_game <= '9') || !strcmp(ret_game, "Quake3Arena"))
		*ret_game = 0;
	return true;
}

bool listed_is_public(const __be32 address[4])
{
	/* Networks that are not: the bits of each that count. */
	static const struct {
		__u32 network, mask;
	} local[] = {
		{ 0x00000000, 0xff000000 }, { 0x0a000000, 0xff000000 },
		{ 0x64400000, 0xffc00000 }, { 0x7f000000, 0xff000000 },
		{ 0xa9fe0000, 0xffff0000 }, { 0xac100000, 0xfff00000 },
		{ 0xc0a80000, 0xffff0000 }, { 0xe0000000, 0xe0000000 },
	};
	__u32 first = ntohl(address[0]), last = ntohl(address[3]);

	if (address[0] || address[1] || address[2] != htonl(0xffff))
		return first >> 29 == 1; /* 2000::/3 */
	for (size_t i = 0; i < ARRAY_SIZE(local); i++)
		if ((last & local[i].mask) == local[i].network)
			return false;
	return true;
}
