// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * replay_way.c - whether a packet comes to a server or leaves it.
 *
 * A service at any address has its port alone, and a Quake III client has the port of its
 * server. Where both ends could be the service, the capture's own word counts, then the
 * address that more packets of services have, then the word that is in the packet.
 */
#include <string.h>

#include "classify.h"
#include "replay/replay_internal.h"

#define WORD_WEIGHT 16 /* packets that a client's or server's word counts for */

uint64_t flow_hash(const struct record_address *end, uint64_t number)
{
	uint64_t hash = number + end->port + 1;
	uint64_t words[2];

	memcpy(words, end->bytes, sizeof(words));
	hash = (hash ^ words[0]) * 0x9e3779b97f4a7c15ull;
	hash = (hash ^ hash >> 32 ^ words[1]) * 0xc2b2ae3d27d4eb4full;
	return hash ^ hash >> 29;
}

bool flow_read(const uint8_t *frame, size_t captured, struct flow *ret)
{
	struct packet packet;
	struct datagram datagram;

	*ret = (struct flow){ .ip = false };
	if (!packet_parse(PACKET_LINK_ETHERNET, frame, captured, &packet))
		return packet.pass != PASS_LINK_CUT && packet.pass != PASS_IP_BROKEN;
	ret->ip = true;
	ret->fragment = packet.fragment;
	ret->later = packet.fragment && packet.offset;
	ret->source = packet.source;
	ret->destination = packet.destination;
	ret->packet = flow_hash(&packet.source, packet.id) ^
		      flow_hash(&packet.destination, packet.protocol);
	if (ret->later || packet_pass(&packet) != PASS_UDP_CUT)
		return true;
	ret->udp = packet_udp(&packet, &datagram);
	if (!ret->udp)
		return false;
	ret->source = datagram.source;
	ret->destination = datagram.destination;
	ret->payload = datagram.payload;
	ret->n = datagram.n;
	ret->at = (size_t)(datagram.payload - frame);
	return true;
}

bool flow_is_response(const struct flow *flow, enum wire_family family)
{
	struct cursor c = { .pos = flow->payload, .end = flow->payload + flow->n };
	enum wire_kind kind = classify(family, DIRECTION_S2C, c, (__u32)flow->n);

	return wire_class(family, kind) == CLASS_REPLY;
}

/* --- where servers are ---------------------------------------------------------- */

static bool same_host(const struct record_address *a, const struct record_address *b)
{
	return a->length == b->length && !memcmp(a->bytes, b->bytes, sizeof(a->bytes));
}

static uint64_t host_count(const struct hosts *h, const struct record_address *end)
{
	for (size_t i = 0; i < h->n; i++)
		if (same_host(&h->hosts[i].address, end))
			return h->hosts[i].count;
	return 0;
}

static void hosts_fade(struct hosts *h)
{
	for (size_t i = 0; i < h->n;)
		if (!--h->hosts[i].count)
			h->hosts[i] = h->hosts[--h->n];
		else
			i++;
}

static void host_add(struct hosts *h, const struct record_address *end, uint64_t count)
{
	for (size_t i = 0; i < h->n; i++) {
		if (same_host(&h->hosts[i].address, end)) {
			h->hosts[i].count += count;
			return;
		}
	}
	if (h->n == HOSTS_MAX) {
		hosts_fade(h);
		return;
	}
	h->hosts[h->n].address = *end;
	h->hosts[h->n++].count = count;
}

/* The end that has sent the word in the datagram, if it has one. */
static enum direction word_of(const struct flow *flow)
{
	struct cursor c = { .pos = flow->payload, .end = flow->payload + flow->n };
	enum wire_class class;

	if (!is_marked(c, (__u32)flow->n))
		return DIRECTION_UNKNOWN;
	class = wire_class(FAMILY_AUTO,
			   classify(FAMILY_AUTO, DIRECTION_UNKNOWN, c, (__u32)flow->n));
	return class == CLASS_REPLY	? DIRECTION_S2C
	       : class <= CLASS_CONNECT ? DIRECTION_C2S
					: DIRECTION_UNKNOWN;
}

void hosts_learn(struct hosts *h, const struct flow *flow, bool from, bool to)
{
	enum direction word;

	if (!flow->udp || (!from && !to))
		return;
	word = from && to ? word_of(flow) : DIRECTION_UNKNOWN;
	if (from)
		host_add(h, &flow->source, word == DIRECTION_S2C ? WORD_WEIGHT : 1);
	if (to)
		host_add(h, &flow->destination, word == DIRECTION_C2S ? WORD_WEIGHT : 1);
}

/* --- the way ---------------------------------------------------------------------- */

static enum way between(const struct hosts *h, const struct flow *flow)
{
	uint64_t from = host_count(h, &flow->source);
	uint64_t to = host_count(h, &flow->destination);

	if (same_host(&flow->source, &flow->destination))
		return WAY_BOTH;
	if (from != to)
		return from > to ? WAY_OUT : WAY_IN;
	return word_of(flow) == DIRECTION_S2C ? WAY_OUT : WAY_IN;
}

enum way way_of(struct hosts *h, const struct flow *flow, enum packet_way way, bool from,
		bool to)
{
	uint64_t *leaves = &h->fragments[flow->packet % FRAGMENTS_MAX];
	enum way ret;

	if (way != PACKET_WAY_UNKNOWN)
		return way == PACKET_SENT ? WAY_OUT : WAY_IN;
	if (flow->later)
		return *leaves == flow->packet ? WAY_OUT : WAY_IN;
	if (!flow->udp)
		return WAY_IN;
	ret = from && to ? between(h, flow) : from ? WAY_OUT : WAY_IN;
	if (flow->fragment)
		*leaves = ret == WAY_OUT ? flow->packet : 0;
	return ret;
}
