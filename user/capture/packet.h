/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * packet.h - from a captured frame to an IP payload, from that to a UDP datagram.
 *
 * Pure: bytes in, views of the same bytes out. Lengths come from the IP and UDP headers;
 * what the capture cut off (snap length) is told apart from what a header got wrong.
 */
#ifndef PACKET_H
#define PACKET_H

#include "lib/record.h"

#define PACKET_LINK_ETHERNET  1 /* DLT_EN10MB */
#define PACKET_VLAN_MAX	      8 /* tags skipped on Ethernet */
#define PACKET_EXTENSIONS_MAX 16 /* IPv6 extension headers followed */
#define PACKET_TUNNELS_MAX    4 /* tunnels followed, one in another */

/* Why a frame holds no datagram. */
enum packet_pass {
	PASS_LINK_CUT,
	PASS_NOT_IP,
	PASS_IP_BROKEN,
	PASS_TCP,
	PASS_ICMP,
	PASS_TUNNEL, /* with no IP in it, cut, or deeper than PACKET_TUNNELS_MAX */
	PASS_OTHER,
	PASS_UDP_CUT,
	PASS_LINK_UNKNOWN, /* of an interface with a link type that has no parser */
	PASS_COUNT,
	PASS_NONE = PASS_COUNT,
};

/* packet.c: "not-ip", ... as the summary's keys. */
extern const char *const packet_pass_names[PASS_COUNT];

struct packet {
	struct record_address source; /* ports still zero */
	struct record_address destination;
	uint8_t protocol; /* of the payload: 17 = UDP */
	const uint8_t *bytes; /* the payload, as far as it was captured */
	size_t captured;
	size_t length; /* as the IP header says */
	bool fragment;
	bool more; /* fragments follow */
	uint32_t id;
	size_t offset; /* of this fragment, in bytes */
	enum packet_pass pass; /* when there is nothing else */
};

struct datagram {
	uint64_t frame;
	int64_t time_ns;
	struct record_address source;
	struct record_address destination;
	const uint8_t *payload;
	size_t n; /* bytes at payload */
	size_t length; /* what the UDP header promised; more than n when cut */
	enum record_status damage;
	const char *reason; /* of the damage, or NULL */
	/* Known by other means than the bytes, so that nothing is guessed. */
	bool has_family;
	enum wire_family family; /* of the flow */
	enum direction direction; /* or DIRECTION_UNKNOWN */
};

/* Return true if there is a parser for this DLT_ value. */
bool packet_link_known(int link);

/*
 * Find the IP packet of a frame of link type @link: *@ret bytes of link header stand
 * before it. False: the frame holds no IP packet, or its link header is cut.
 */
bool packet_link_skip(int link, const uint8_t *frame, size_t captured, size_t *ret);

/* Did the host that made the capture send a frame, or receive it? */
enum packet_way {
	PACKET_WAY_UNKNOWN,
	PACKET_RECEIVED,
	PACKET_SENT,
};

/* Return it as the link header says; Linux' cooked ones do. */
enum packet_way packet_link_way(int link, const uint8_t *frame, size_t captured);

/*
 * Find the innermost IP packet of a frame: GRE, IP in IP, ERSPAN, VXLAN and GENEVE are
 * followed. False: no IP here, or its header is cut or broken; @ret->pass says which.
 */
bool packet_parse(int link, const uint8_t *frame, size_t captured, struct packet *ret);

/*
 * Do the same for a packet that was put together from fragments: *packet becomes the
 * innermost one. packet_parse() has done so for all others. A fragment is left as it is.
 */
void packet_unwrap(struct packet *packet);

/* Return why packet_udp() refuses @packet. */
enum packet_pass packet_pass(const struct packet *packet);

/*
 * Read the UDP header, and fill all but frame and time. False: the payload is no UDP
 * header.
 */
bool packet_udp(const struct packet *packet, struct datagram *ret);

#endif /* PACKET_H */
