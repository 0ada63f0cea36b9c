// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * discover_recognise.c - the questions, and whether a reply is a game server's. Strict: a
 * reply has its protocol's head and an info string with a key that each of its servers
 * tells, or the lengths of a control datagram. An echoed question has neither.
 * Pure; see discover.h. Wire: include/wire.h.
 */
#include <string.h>

#include "discover/discover.h"
#include "lib/info.h"
#include "lib/util.h"

#define OOB		  "\xff\xff\xff\xff"
#define STATUS		  "statusResponse\n"
#define CONTROL_HEAD	  5 /* bytes: flag, length, code */
#define CONTROL_FLAG	  0x80
#define CCREP_SERVER_INFO 0x83
#define NETQUAKE_TAIL	  3 /* bytes: players, most players, version */
#define NETQUAKE_VERSION  3

size_t discover_question(int i, const char nonce[DISCOVER_NONCE],
			 char ret[DISCOVER_QUESTION])
{
	static const char server_info[] = "\x80\x00\x00\x0c\x02QUAKE\x00\x03";
	int n;

	switch (i) {
	case 0:
		n = snprintf(ret, DISCOVER_QUESTION, OOB "getstatus %.*s", DISCOVER_NONCE,
			     nonce);
		return (size_t)n;
	case 1:
		n = snprintf(ret, DISCOVER_QUESTION, OOB "status");
		return (size_t)n;
	default:
		memcpy(ret, server_info, sizeof(server_info) - 1);
		return sizeof(server_info) - 1;
	}
}

/* Copy what is printable ASCII and needs no quoting, in a comment or in a string. */
static void tell(const void *text, size_t n, char *ret, size_t size)
{
	const unsigned char *from = text;
	size_t at = 0;

	for (size_t i = 0; i < n && at < size - 1; i++)
		if (from[i] >= ' ' && from[i] < 0x7f && !strchr("\"\\#", from[i]))
			ret[at++] = (char)from[i];
	ret[at] = 0;
}

static bool begins(const char *at, size_t n, const char *head, size_t head_n)
{
	return n >= head_n && !memcmp(at, head, head_n);
}

/* The info string at @text: up to the end of the line, of the datagram, or a NUL. */
static size_t info_length(const char *text, size_t n)
{
	size_t i = 0;

	while (i < n && text[i] && text[i] != '\n')
		i++;
	return i;
}

static bool find_any(const char *text, size_t n, const char *const keys[2],
		     struct span *ret)
{
	return info_find(text, n, keys[0], ret) || info_find(text, n, keys[1], ret);
}

/* Tell name and map, if @text is an info string that has both. */
static bool info_parse(const char *text, size_t n, struct discover_info *ret)
{
	static const char *const names[] = { "sv_hostname", "hostname" };
	static const char *const maps[] = { "mapname", "map" };
	struct span name, map;

	if (!n || *text != '\\' || !find_any(text, n, names, &name) ||
	    !find_any(text, n, maps, &map))
		return false;
	tell(name.bytes, name.n, ret->name, sizeof(ret->name));
	tell(map.bytes, map.n, ret->map, sizeof(ret->map));
	return true;
}

/*
 * All of them return the word that was asked with. DarkPlaces has a key `gameversion` and
 * protocol 3, which no engine of Quake III has.
 */
static unsigned int status_response(const char *text, size_t n, const char *nonce,
				    struct discover_info *ret)
{
	char challenge[sizeof("\\challenge\\") - 1 + DISCOVER_NONCE];
	struct span protocol, version;

	memcpy(challenge, "\\challenge\\", sizeof(challenge) - DISCOVER_NONCE);
	memcpy(challenge + sizeof(challenge) - DISCOVER_NONCE, nonce, DISCOVER_NONCE);
	n = info_length(text, n);
	if (!memmem(text, n, challenge, sizeof(challenge)) || !info_parse(text, n, ret))
		return 0;
	return info_find(text, n, "gameversion", &version) &&
			       info_find(text, n, "protocol", &protocol) &&
			       protocol.n == 1 && *protocol.bytes == '3'
		       ? DISCOVER_DARKPLACES
		       : DISCOVER_QUAKE3;
}

/*
 * Return DISCOVER_NETQUAKE if @at is a CCREP_SERVER_INFO, else 0: address, name and map,
 * each with its NUL; players, most players, version.
 */
static unsigned int server_info(const char *at, size_t n, struct discover_info *ret)
{
	const char *texts[3], *end = at + n;
	const unsigned char *head = (const unsigned char *)at;

	if (n < CONTROL_HEAD || head[0] != CONTROL_FLAG || head[1] ||
	    (size_t)(head[2] << 8 | head[3]) != n || head[4] != CCREP_SERVER_INFO)
		return 0;
	at += CONTROL_HEAD;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		const char *nul = memchr(at, 0, (size_t)(end - at));

		if (!nul)
			return 0;
		texts[i] = at;
		at = nul + 1;
	}
	if (end - at != NETQUAKE_TAIL || at[2] != NETQUAKE_VERSION)
		return 0;
	tell(texts[1], strlen(texts[1]), ret->name, sizeof(ret->name));
	tell(texts[2], strlen(texts[2]), ret->map, sizeof(ret->map));
	return DISCOVER_NETQUAKE;
}

unsigned int discover_recognise(const void *reply, size_t n,
				const char nonce[DISCOVER_NONCE],
				struct discover_info *ret)
{
	const char *at = reply;

	if (!begins(at, n, OOB, 4))
		return server_info(at, n, ret);
	at += 4;
	n -= 4;
	if (begins(at, n, STATUS, sizeof(STATUS) - 1))
		return status_response(at + sizeof(STATUS) - 1, n - (sizeof(STATUS) - 1),
				       nonce, ret);
	if (begins(at, n, "print\n", 6))
		return info_parse(at + 6, info_length(at + 6, n - 6), ret)
			       ? DISCOVER_QUAKE2
			       : 0;
	if (begins(at, n, "n", 1))
		return info_parse(at + 1, info_length(at + 1, n - 1), ret)
			       ? DISCOVER_QUAKEWORLD
			       : 0;
	return 0;
}

enum wire_family discover_decide(unsigned int signs)
{
	if (signs & DISCOVER_QUAKEWORLD)
		return FAMILY_QUAKEWORLD;
	if (signs & DISCOVER_QUAKE2)
		return FAMILY_QUAKE2;
	if (signs & (DISCOVER_DARKPLACES | DISCOVER_NETQUAKE))
		return FAMILY_NETQUAKE;
	return FAMILY_QUAKE3;
}
