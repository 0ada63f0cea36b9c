// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * explain_frames.c - see explain_frames.h.
 */
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <stdio.h>
#include <string.h>

#include "explain/explain_frames.h"
#include "lib/address.h"
#include "lib/util.h"

#define OOB	     "\xff\xff\xff\xff"
#define BYTES(bytes) (bytes), sizeof(bytes) - 1

const char *const explain_acts[ACT_COUNT] = {
	[ACT_QUERY] = "query",
	[ACT_JOIN] = "join",
	[ACT_CONNECT] = "connect",
	[ACT_MOVE] = "move",
};

/* --- frames ------------------------------------------------------------------ */

static __be16 ip_sum(const struct iphdr *ip)
{
	__u16 words[sizeof(*ip) / 2];
	__u32 sum = 0;

	memcpy(words, ip, sizeof(words));
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		sum += words[i];
	sum = (sum & 0xffff) + (sum >> 16);
	return (__be16) ~(sum + (sum >> 16));
}

static size_t put_ipv4(const struct explain_end *from, const struct explain_end *to,
		       __u8 hops, size_t n, __u8 *ret)
{
	struct iphdr ip = {
		.version = 4,
		.ihl = 5,
		.tot_len = htons((__u16)(sizeof(ip) + n)),
		.ttl = hops,
		.protocol = 17,
		.saddr = from->address[3],
		.daddr = to->address[3],
	};

	ip.check = ip_sum(&ip);
	memcpy(ret, &ip, sizeof(ip));
	return sizeof(ip);
}

static size_t put_ipv6(const struct explain_end *from, const struct explain_end *to,
		       __u8 hops, size_t n, __u8 *ret)
{
	struct ipv6hdr ip = {
		.version = 6,
		.payload_len = htons((__u16)n),
		.nexthdr = 17,
		.hop_limit = hops,
	};

	memcpy(&ip.saddr, from->address, sizeof(ip.saddr));
	memcpy(&ip.daddr, to->address, sizeof(ip.daddr));
	memcpy(ret, &ip, sizeof(ip));
	return sizeof(ip);
}

size_t explain_frame(const struct explain_end *from, const struct explain_end *to,
		     __u8 hops, const void *payload, size_t n, __u8 ret[EXPLAIN_FRAME])
{
	bool ipv4 = address_is_ipv4(from->address);
	struct ethhdr eth = { .h_proto = htons(ipv4 ? ETH_P_IP : ETH_P_IPV6) };
	struct udphdr udp = {
		.source = htons(from->port),
		.dest = htons(to->port),
		.len = htons((__u16)(sizeof(udp) + n)),
	};
	size_t at = sizeof(eth);

	if (ipv4 != address_is_ipv4(to->address) ||
	    n > EXPLAIN_FRAME - sizeof(eth) - sizeof(struct ipv6hdr) - sizeof(udp))
		return 0;
	memcpy(eth.h_source, from->mac, sizeof(eth.h_source));
	memcpy(eth.h_dest, to->mac, sizeof(eth.h_dest));
	memcpy(ret, &eth, sizeof(eth));
	at += (ipv4 ? put_ipv4 : put_ipv6)(from, to, hops, sizeof(udp) + n, ret + at);
	memcpy(ret + at, &udp, sizeof(udp));
	memcpy(ret + at + sizeof(udp), payload, n);
	return at + sizeof(udp) + n;
}

bool explain_frame_parse(const __u8 *bytes, size_t n, struct datagram *ret)
{
	struct packet packet;

	return packet_parse(PACKET_LINK_ETHERNET, bytes, n, &packet) &&
	       packet_udp(&packet, ret);
}

/* --- words ------------------------------------------------------------------- */

/* Datagrams that are the same each time; docs/PROTOCOLS*.md have the sources. */
static const struct word {
	enum wire_family family;
	enum explain_act act;
	bool answer; /* it begins the server's answer */
	const char *bytes;
	size_t n;
} words[] = {
	{ FAMILY_QUAKE3, ACT_QUERY, false, BYTES(OOB "getstatus") },
	{ FAMILY_QUAKE3, ACT_JOIN, false, BYTES(OOB "getchallenge") },
	{ FAMILY_QUAKE3, ACT_QUERY, true, BYTES(OOB "statusResponse\n") },
	{ FAMILY_QUAKE3, ACT_JOIN, true, BYTES(OOB "challengeResponse 1") },
	{ FAMILY_QUAKEWORLD, ACT_QUERY, false, BYTES(OOB "status 23\n") },
	{ FAMILY_QUAKEWORLD, ACT_JOIN, false, BYTES(OOB "getchallenge\n") },
	{ FAMILY_QUAKEWORLD, ACT_QUERY, true, BYTES(OOB "n") },
	{ FAMILY_QUAKEWORLD, ACT_JOIN, true, BYTES(OOB "c1\0") },
	{ FAMILY_QUAKE2, ACT_QUERY, false, BYTES(OOB "status\n") },
	{ FAMILY_QUAKE2, ACT_JOIN, false, BYTES(OOB "getchallenge\n") },
	{ FAMILY_QUAKE2, ACT_QUERY, true, BYTES(OOB "print\n") },
	{ FAMILY_QUAKE2, ACT_JOIN, true, BYTES(OOB "challenge 1") },
	{ FAMILY_NETQUAKE, ACT_QUERY, false, BYTES("\x80\0\0\x0c\x02QUAKE\0\x03") },
	{ FAMILY_NETQUAKE, ACT_JOIN, false, BYTES("\x80\0\0\x0c\x01QUAKE\0\x03") },
	{ FAMILY_NETQUAKE, ACT_QUERY, true, BYTES("\x80\0\0\0\x83") },
	{ FAMILY_NETQUAKE, ACT_JOIN, true, BYTES("\x80\0\0\0\x81\0\0\0\0") },
	{ FAMILY_QUAKE_ENHANCED, ACT_QUERY, false, BYTES("\x80\0\0\x0c\x02QUAKE\0\x03") },
	{ FAMILY_QUAKE_ENHANCED, ACT_QUERY, true, BYTES("\x80\0\0\0\x83") },
	{ FAMILY_AUTO, ACT_QUERY, false, BYTES(OOB "getstatus") },
	{ FAMILY_AUTO, ACT_JOIN, false, BYTES(OOB "getchallenge") },
	{ FAMILY_AUTO, ACT_QUERY, true, BYTES(OOB "statusResponse\n") },
	{ FAMILY_MASTER, ACT_QUERY, false, BYTES(OOB "getservers 68 empty full") },
	{ FAMILY_MASTER, ACT_JOIN, false, BYTES(OOB "heartbeat QuakeArena-1\n") },
	{ FAMILY_MASTER, ACT_QUERY, true, BYTES(OOB "getserversResponse\\") },
	{ FAMILY_MASTER, ACT_JOIN, true, BYTES(OOB "getinfo xxx") },
};

static size_t word_find(enum wire_family family, enum explain_act act, bool answer,
			__u8 *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		const struct word *w = &words[i];

		if (w->family != family || w->act != act || w->answer != answer)
			continue;
		memcpy(ret, w->bytes, w->n);
		return w->n;
	}
	return 0;
}

size_t explain_answer(enum wire_family family, enum explain_act act, size_t n,
		      __u8 ret[EXPLAIN_PAYLOAD])
{
	size_t length = word_find(family, act, true, ret);

	/* NetQuake's header has the length of all of it. */
	if (length && ret[0] == 0x80) {
		ret[2] = (__u8)(n >> 8);
		ret[3] = (__u8)n;
	}
	return length;
}

static size_t put_connect(enum wire_family family, __u32 challenge, char *ret)
{
	const size_t most = EXPLAIN_PAYLOAD;

	switch (family) {
	case FAMILY_QUAKE3:
		return (size_t)snprintf(ret, most,
					OOB
					"connect \"\\challenge\\%u\\qport\\1\\protocol"
					"\\71\\name\\x\"",
					challenge);
	case FAMILY_QUAKEWORLD:
		return (size_t)snprintf(ret, most, OOB "connect 28 1 %u \"\\name\\x\"\n",
					challenge);
	case FAMILY_QUAKE2:
		return (size_t)snprintf(ret, most, OOB "connect 34 1 %u \"\\name\\x\"\n",
					challenge);
	default:
		return 0;
	}
}

/* A DTLS 1.2 ClientHello without extensions, and without a cookie. */
static size_t put_hello(__u8 *ret)
{
	static const __u8 head[] = { 0x16, 0xfe, 0xff, 0,  0, 0, 0, 0,	0,    0,
				     0,	   0,	 54, /* a record, of 54 bytes */
				     1,	   0,	 0,    42, /* ClientHello, of 42 */
				     0,	   0,	 0,    0,  0, 0, 0, 42, 0xfe, 0xfd };
	static const __u8 tail[] = { 0, /* session */
				     0, /* cookie */
				     0, 2, 0, 0xae, /* one cipher suite */
				     1, 0 };
	const size_t random = 32;

	memcpy(ret, head, sizeof(head));
	memset(ret + sizeof(head), 'r', random);
	memcpy(ret + sizeof(head) + random, tail, sizeof(tail));
	return sizeof(head) + random + sizeof(tail);
}

/* --- game traffic ------------------------------------------------------------ */

#define MOVE_BYTES 40 /* a client's usual datagram */

static void put_le32(__u8 *at, __u32 value)
{
	for (int i = 0; i < 4; i++)
		at[i] = (__u8)(value >> 8 * i);
}

static void put_be32(__u8 *at, __u32 value)
{
	for (int i = 0; i < 4; i++)
		at[i] = (__u8)(value >> (24 - 8 * i));
}

/* The next datagram of @p, or the first of a new client if that is NULL. */
static size_t put_move(enum wire_family family, const struct player *p, __u8 *ret)
{
	__u32 sequence = p ? p->heard_sequence + 1 : 1;
	__u16 qport = p ? p->qport : 1;

	memset(ret, 0, MOVE_BYTES);
	switch (family) {
	case FAMILY_QUAKE3:
		put_le32(ret, sequence);
		ret[4] = (__u8)qport;
		ret[5] = (__u8)(qport >> 8);
		if (p && p->flags & PLAYER_CHECKSUM)
			put_le32(ret + 6, p->challenge ^ sequence * p->challenge);
		else
			put_le32(ret + 6, 0x01010101);
		return MOVE_BYTES;
	case FAMILY_NETQUAKE:
		put_be32(ret, 0x00100000 | MOVE_BYTES);
		put_be32(ret + 4, sequence);
		ret[8] = 3; /* clc_move */
		return MOVE_BYTES;
	case FAMILY_QUAKE_ENHANCED:
		ret[0] = 0x17; /* application data */
		ret[1] = 0xfe;
		ret[2] = 0xfd;
		ret[3] = (__u8)(qport >> 8); /* the epoch */
		ret[4] = (__u8)qport;
		put_be32(ret + 7, sequence);
		ret[12] = MOVE_BYTES - 13;
		return MOVE_BYTES;
	default:
		put_le32(ret, sequence);
		put_le32(ret + 4, p ? p->sent_sequence : 1);
		ret[8] = (__u8)qport;
		ret[9] = (__u8)(qport >> 8);
		return MOVE_BYTES;
	}
}

size_t explain_payload(enum wire_family family, enum explain_act act, __u32 challenge,
		       const struct player *player, __u8 ret[EXPLAIN_PAYLOAD])
{
	size_t n;

	switch (act) {
	case ACT_MOVE:
		return family == FAMILY_MASTER ? 0 : put_move(family, player, ret);
	case ACT_CONNECT:
		return put_connect(family, challenge, (char *)ret);
	case ACT_JOIN:
		n = word_find(family, act, false, ret);
		return n || family != FAMILY_QUAKE_ENHANCED ? n : put_hello(ret);
	default:
		return word_find(family, act, false, ret);
	}
}
