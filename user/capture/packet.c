// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * packet.c - link layers, IPv4, IPv6, UDP. See packet.h.
 *
 * Sources: tcpdump.org/linktypes.html, RFC 791, 8200, 768, IEEE 802.1Q; tunnels: RFC
 * 2784, 2890 (GRE), 2003, 7348 (VXLAN), 8926 (GENEVE), draft-foschiano-erspan-03.
 */
#include <pcap/dlt.h>

#include "capture/packet.h"
#include "lib/reader.h"

#define ETHERTYPE_IPV4	   0x0800
#define ETHERTYPE_IPV6	   0x86dd
#define ETHERTYPE_VLAN	   0x8100
#define ETHERTYPE_QINQ	   0x88a8
#define ETHERTYPE_QINQ_OLD 0x9100
#define ETHERTYPE_PPPOE	   0x8864
#define PPP_IPV4	   0x0021
#define PPP_IPV6	   0x0057

enum {
	IP_HOP_BY_HOP = 0,
	IP_ICMP = 1,
	IP_IN_IP = 4,
	IP_TCP = 6,
	IP_UDP = 17,
	IP_IPV6 = 41,
	IP_ROUTING = 43,
	IP_FRAGMENT = 44,
	IP_GRE = 47,
	IP_AH = 51,
	IP_ICMPV6 = 58,
	IP_DESTINATION = 60,
	IP_MOBILITY = 135,
};

const char *const packet_pass_names[PASS_COUNT] = {
	[PASS_LINK_CUT] = "link-cut",
	[PASS_NOT_IP] = "not-ip",
	[PASS_IP_BROKEN] = "ip-broken",
	[PASS_TCP] = "tcp",
	[PASS_ICMP] = "icmp",
	[PASS_TUNNEL] = "tunnel",
	[PASS_OTHER] = "other-ip-protocol",
	[PASS_UDP_CUT] = "udp-cut",
	[PASS_LINK_UNKNOWN] = "unknown-link",
};

/*
 * Result of ethernet_next() and its like, which step over one header each: the payload is
 * an IP packet, of the version in its first nibble; or it is none.
 */
#define NEXT_BY_VERSION 0
#define NEXT_NONE	(-1)

static int ppp_next(struct reader *rd)
{
	uint16_t protocol;

	/* The address and control bytes may be compressed away. */
	if (reader_left(rd) >= 2 && rd->pos[1] == 0x03)
		reader_take(rd, 2);
	protocol = reader_be16(rd);
	return protocol == PPP_IPV4 || protocol == PPP_IPV6 ? NEXT_BY_VERSION : NEXT_NONE;
}

static int ethertype_next(struct reader *rd, uint16_t type)
{
	for (int i = 0; i < PACKET_VLAN_MAX; i++) {
		if (type != ETHERTYPE_VLAN && type != ETHERTYPE_QINQ &&
		    type != ETHERTYPE_QINQ_OLD)
			break;
		reader_take(rd, 2);
		type = reader_be16(rd);
	}
	if (type == ETHERTYPE_PPPOE) {
		uint16_t protocol;

		reader_take(rd, 6);
		protocol = reader_be16(rd);
		return protocol == PPP_IPV4 || protocol == PPP_IPV6 ? NEXT_BY_VERSION
								    : NEXT_NONE;
	}
	return type == ETHERTYPE_IPV4 || type == ETHERTYPE_IPV6 ? NEXT_BY_VERSION
								: NEXT_NONE;
}

/* Netfilter log: a header of four bytes, then u16 length, u16 type, value, padded to 4.
 */
static int nflog_next(struct reader *rd)
{
	enum {
		NFLOG_PAYLOAD = 9
	};

	reader_take(rd, 4);
	while (!reader_failed(rd) && reader_left(rd) >= 4) {
		uint16_t length = reader_le16(rd);
		uint16_t type = reader_le16(rd);

		if (length < 4)
			return NEXT_NONE;
		if (type == NFLOG_PAYLOAD)
			return NEXT_BY_VERSION;
		reader_take(rd, (length - 4 + 3) & ~3U);
	}
	return NEXT_NONE;
}

static int link_next(int link, struct reader *rd)
{
	switch (link) {
	case DLT_EN10MB:
		reader_take(rd, 12);
		return ethertype_next(rd, reader_be16(rd));
	case DLT_LINUX_SLL:
		reader_take(rd, 14);
		return ethertype_next(rd, reader_be16(rd));
	case DLT_LINUX_SLL2: {
		uint16_t type = reader_be16(rd);

		reader_take(rd, 18);
		return ethertype_next(rd, type);
	}
	case DLT_NULL: /* the family in the writer's byte order: trust the nibble */
	case DLT_LOOP:
		reader_take(rd, 4);
		return NEXT_BY_VERSION;
	case DLT_ENC:
		reader_take(rd, 12);
		return NEXT_BY_VERSION;
	case DLT_PPP:
	case DLT_PPP_SERIAL:
	case DLT_PPP_PPPD:
		return ppp_next(rd);
	case DLT_PPP_ETHER:
		reader_take(rd, 6);
		return ppp_next(rd);
	case DLT_C_HDLC:
		reader_take(rd, 2);
		return ethertype_next(rd, reader_be16(rd));
	case DLT_NFLOG:
		return nflog_next(rd);
	case DLT_RAW:
	case DLT_IPV4:
	case DLT_IPV6:
		return NEXT_BY_VERSION;
	default:
		return NEXT_NONE;
	}
}

bool packet_link_known(int link)
{
	static const int links[] = {
		DLT_EN10MB, DLT_LINUX_SLL, DLT_LINUX_SLL2, DLT_NULL,	 DLT_LOOP,
		DLT_ENC,    DLT_PPP,	   DLT_PPP_SERIAL, DLT_PPP_PPPD, DLT_C_HDLC,
		DLT_NFLOG,  DLT_PPP_ETHER, DLT_RAW,	   DLT_IPV4,	 DLT_IPV6,
	};

	for (size_t i = 0; i < sizeof(links) / sizeof(*links); i++)
		if (links[i] == link)
			return true;
	return false;
}

static bool next_is_ip(int next, const struct reader *rd)
{
	return next != NEXT_NONE && !reader_failed(rd) && reader_left(rd) &&
	       (rd->pos[0] >> 4 == 4 || rd->pos[0] >> 4 == 6);
}

bool packet_link_skip(int link, const uint8_t *frame, size_t captured, size_t *ret)
{
	struct reader rd = reader_of(frame, captured);

	if (!next_is_ip(link_next(link, &rd), &rd))
		return false;
	*ret = (size_t)(rd.pos - frame);
	return true;
}

enum packet_way packet_link_way(int link, const uint8_t *frame, size_t captured)
{
	enum {
		TO_OTHERS = 3, /* seen in promiscuous mode: neither */
		SENT = 4,
	};
	/* The low byte of SLL's packet type, and SLL2's. */
	size_t at = link == DLT_LINUX_SLL ? 1 : 10;

	if ((link != DLT_LINUX_SLL && link != DLT_LINUX_SLL2) || captured <= at)
		return PACKET_WAY_UNKNOWN;
	return frame[at] == SENT       ? PACKET_SENT
	       : frame[at] < TO_OTHERS ? PACKET_RECEIVED
				       : PACKET_WAY_UNKNOWN;
}

static void address_set(struct record_address *address, const uint8_t *bytes, uint8_t n)
{
	memset(address, 0, sizeof(*address));
	address->length = n;
	memcpy(address->bytes, bytes, n);
}

/*
 * Set the payload of @packet. @total: its bytes by the header; what was captured of it
 * may be less.
 */
static void payload_set(struct packet *packet, const struct reader *rd, size_t total)
{
	packet->bytes = rd->pos;
	packet->captured = reader_left(rd) < total ? reader_left(rd) : total;
	packet->length = total;
}

static bool ipv4_parse(struct reader *rd, struct packet *packet)
{
	const uint8_t *ip = reader_take(rd, 20);
	size_t header, total;

	if (!ip)
		return false;
	header = (size_t)(ip[0] & 15) * 4;
	total = (size_t)(ip[2] << 8 | ip[3]);
	/* Segmentation offload leaves a zero here: the frame is all there is. */
	if (!total)
		total = reader_left(rd) + 20;
	if (header < 20 || total < header || !reader_take(rd, header - 20))
		return false;

	packet->protocol = ip[9];
	packet->id = (uint32_t)(ip[4] << 8 | ip[5]);
	packet->more = ip[6] & 0x20;
	packet->offset = (size_t)((ip[6] & 0x1f) << 8 | ip[7]) * 8;
	packet->fragment = packet->more || packet->offset;
	address_set(&packet->source, ip + 12, 4);
	address_set(&packet->destination, ip + 16, 4);
	payload_set(packet, rd, total - header);
	return true;
}

/* Step over one extension header; false at the end of the chain, or when it is cut. */
static bool ipv6_extension(struct reader *rd, struct packet *packet)
{
	const uint8_t *head;
	size_t length;

	switch (packet->protocol) {
	case IP_HOP_BY_HOP:
	case IP_ROUTING:
	case IP_DESTINATION:
	case IP_MOBILITY:
	case IP_AH:
		head = reader_take(rd, 8);
		if (!head)
			return false;
		length = packet->protocol == IP_AH ? ((size_t)head[1] + 2) * 4
						   : ((size_t)head[1] + 1) * 8;
		packet->protocol = head[0];
		return length >= 8 ? reader_take(rd, length - 8) != NULL
				   : (rd->failed = true, false);
	case IP_FRAGMENT:
		head = reader_take(rd, 8);
		if (!head)
			return false;
		packet->protocol = head[0];
		packet->offset = (size_t)(head[2] << 8 | (head[3] & 0xf8));
		packet->more = head[3] & 1;
		packet->fragment = packet->more || packet->offset;
		packet->id =
			(uint32_t)head[4] << 24 | head[5] << 16 | head[6] << 8 | head[7];
		/* A later fragment has no header. */
		return packet->offset == 0;
	default:
		return false;
	}
}

/*
 * Read an IPv6 header and its extension headers. False: they are cut off, or the lengths
 * contradict each other. A payload length of 0 (a jumbogram, or segmentation by the card)
 * is the rest of the frame.
 */
static bool ipv6_parse(struct reader *rd, struct packet *packet)
{
	const uint8_t *ip = reader_take(rd, 40);
	const uint8_t *start = rd->pos;
	size_t total, skipped;

	if (!ip)
		return false;
	total = (size_t)(ip[4] << 8 | ip[5]);
	if (!total)
		total = reader_left(rd);
	packet->protocol = ip[6];
	address_set(&packet->source, ip + 8, 16);
	address_set(&packet->destination, ip + 24, 16);
	for (int i = 0; i < PACKET_EXTENSIONS_MAX; i++)
		if (!ipv6_extension(rd, packet))
			break;
	skipped = (size_t)(rd->pos - start);
	if (reader_failed(rd) || skipped > total)
		return false;
	payload_set(packet, rd, total - skipped);
	return true;
}

/* --- tunnels -------------------------------------------------------------------- */

#define ETHERTYPE_ETHERNET   0x6558 /* in GRE and GENEVE: a whole frame */
#define ETHERTYPE_ERSPAN     0x88be /* types I and II */
#define ETHERTYPE_ERSPAN_III 0x22eb
#define PORT_VXLAN	     4789
#define PORT_VXLAN_OLD	     8472 /* Linux' first */
#define PORT_GENEVE	     6081

static int ethernet_next(struct reader *rd)
{
	reader_take(rd, 12);
	return ethertype_next(rd, reader_be16(rd));
}

static int inner_next(struct reader *rd, uint16_t type)
{
	return type == ETHERTYPE_ETHERNET ? ethernet_next(rd) : ethertype_next(rd, type);
}

/* Flags and type, then checksum, key and sequence, four bytes each if its flag is set. */
static int gre_next(struct reader *rd)
{
	enum {
		CHECKSUM = 0x8000,
		KEY = 0x2000,
		SEQUENCE = 0x1000,
		GRE_VERSION = 0x0007,
	};
	uint16_t flags = reader_be16(rd);
	uint16_t type = reader_be16(rd);

	if (flags & GRE_VERSION)
		return NEXT_NONE;
	reader_take(rd, (flags & CHECKSUM ? 4 : 0) + (flags & KEY ? 4 : 0) +
				(flags & SEQUENCE ? 4 : 0));
	if (type == ETHERTYPE_ERSPAN) {
		/* Type I has neither a sequence nor a header of its own. */
		reader_take(rd, flags & SEQUENCE ? 8 : 0);
		return ethernet_next(rd);
	}
	if (type == ETHERTYPE_ERSPAN_III) {
		const uint8_t *head = reader_take(rd, 12);

		reader_take(rd, head && (head[11] & 1) ? 8 : 0);
		return ethernet_next(rd);
	}
	return inner_next(rd, type);
}

/* UDP to a tunnel's port, with that tunnel's header behind it: all its zeros are looked
 * at. */
static int udp_next(struct reader *rd)
{
	const uint8_t *head = reader_take(rd, 16); /* UDP, then the tunnel */
	uint16_t port;

	if (!head)
		return NEXT_NONE;
	port = (uint16_t)(head[2] << 8 | head[3]);
	head += 8;
	if (port == PORT_VXLAN || port == PORT_VXLAN_OLD)
		return head[0] == 0x08 && !head[1] && !head[2] && !head[3] && !head[7]
			       ? ethernet_next(rd)
			       : NEXT_NONE;
	if (port != PORT_GENEVE || head[0] & 0xc0 || head[1] & 0x3f || head[7])
		return NEXT_NONE;
	reader_take(rd, (head[0] & 0x3f) * 4U);
	return inner_next(rd, (uint16_t)(head[2] << 8 | head[3]));
}

/* Return true if @packet carries an IP packet, and put that into *ret. */
static bool tunnel_parse(const struct packet *packet, struct packet *ret)
{
	struct reader rd = reader_of(packet->bytes, packet->captured);
	int next = NEXT_NONE;

	if (packet->fragment)
		return false;
	if (packet->protocol == IP_GRE)
		next = gre_next(&rd);
	else if (packet->protocol == IP_IN_IP || packet->protocol == IP_IPV6)
		next = NEXT_BY_VERSION;
	else if (packet->protocol == IP_UDP)
		next = udp_next(&rd);
	*ret = (struct packet){ .protocol = 0 };
	if (next == NEXT_NONE || reader_failed(&rd) || !reader_left(&rd))
		return false;
	return rd.pos[0] >> 4 == 4   ? ipv4_parse(&rd, ret)
	       : rd.pos[0] >> 4 == 6 ? ipv6_parse(&rd, ret)
				     : false;
}

void packet_unwrap(struct packet *packet)
{
	struct packet inner;

	for (int i = 0; i < PACKET_TUNNELS_MAX && tunnel_parse(packet, &inner); i++)
		*packet = inner;
}

bool packet_parse(int link, const uint8_t *frame, size_t captured, struct packet *ret)
{
	struct reader rd = reader_of(frame, captured);
	struct packet packet = { .protocol = 0 };
	int next = link_next(link, &rd);
	bool ok = false;

	packet.pass = PASS_NOT_IP;
	if (reader_failed(&rd) || !reader_left(&rd))
		packet.pass = PASS_LINK_CUT;
	else if (next != NEXT_NONE && rd.pos[0] >> 4 == 4)
		ok = ipv4_parse(&rd, &packet);
	else if (next != NEXT_NONE && rd.pos[0] >> 4 == 6)
		ok = ipv6_parse(&rd, &packet);
	else
		next = NEXT_NONE;
	if (!ok && next != NEXT_NONE && packet.pass != PASS_LINK_CUT)
		packet.pass = PASS_IP_BROKEN;
	if (ok)
		packet_unwrap(&packet);
	*ret = packet;
	return ok;
}

enum packet_pass packet_pass(const struct packet *packet)
{
	switch (packet->protocol) {
	case IP_UDP:
		return PASS_UDP_CUT;
	case IP_TCP:
		return PASS_TCP;
	case IP_ICMP:
	case IP_ICMPV6:
		return PASS_ICMP;
	case IP_GRE:
	case IP_IN_IP:
	case IP_IPV6:
		return PASS_TUNNEL;
	default:
		return PASS_OTHER;
	}
}

bool packet_udp(const struct packet *packet, struct datagram *ret)
{
	struct reader rd = reader_of(packet->bytes, packet->captured);
	size_t length, promised;

	if (packet->protocol != IP_UDP)
		return false;
	ret->source = packet->source;
	ret->destination = packet->destination;
	ret->source.port = reader_be16(&rd);
	ret->destination.port = reader_be16(&rd);
	length = reader_be16(&rd);
	reader_take(&rd, 2);
	if (reader_failed(&rd))
		return false;

	ret->damage = RECORD_DECODED;
	ret->reason = NULL;
	ret->has_family = false;
	ret->direction = DIRECTION_UNKNOWN;
	promised = length < 8 ? 0 : length - 8;
	ret->payload = rd.pos;
	ret->length = promised;
	ret->n = promised < reader_left(&rd) ? promised : reader_left(&rd);
	if (length < 8 || length > packet->length) {
		ret->damage = RECORD_MALFORMED;
		ret->reason = length < 8 ? "UDP length below its own header"
					 : "UDP length beyond the IP packet";
		if (ret->length > ret->n)
			ret->length = ret->n;
	} else if (ret->n < promised) {
		ret->damage = RECORD_PARTIAL;
		ret->reason = "datagram cut short by the capture";
	}
	return true;
}
