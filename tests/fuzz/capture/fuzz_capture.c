// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A capture file of any bytes, through to JSON. An input without a file header of its
 * own is not a file yet: its first byte chooses the link type, and each piece is a
 * packet, so that the framing survives mutations. How:
 *
 *	bit 0	the bytes are a payload: IP and UDP go in front
 *	bit 1	from the server
 *	bit 2	of IPv6
 *	bit 3	in three or four fragments; the last comes first
 *	bit 4	the middle one is missing or, of an odd length, comes with other bytes too
 *	bits 5-7	time since the packet before: 0, or seconds in powers of four;
 *		once, 7 with bit 4: only the first bytes, from many ports
 */
#include "capture/capture.h"
#include "decode/decode.h"
#include "fuzz/fuzz.h"
#include "lib/jsonl.h"

#define FILE_MAX (1 << 16)
#define MANY	 66 /* more than can wait for fragments */

enum how {
	PAYLOAD = 1 << 0,
	FROM_SERVER = 1 << 1,
	IPV6 = 1 << 2,
	FRAGMENTS = 1 << 3,
	HOLE = 1 << 4,
};

static struct jsonl json;
static uint8_t file_bytes[FILE_MAX];
static size_t file_n;
static uint32_t file_time;
static uint16_t packet_id;

static void put(const void *bytes, size_t n)
{
	if (n > sizeof(file_bytes) - file_n)
		n = sizeof(file_bytes) - file_n;
	if (n)
		memcpy(file_bytes + file_n, bytes, n);
	file_n += n;
}

/* What stands in front of an IPv4 packet; for IPv6 the type at @type changes. */
static const struct link {
	uint16_t number;
	uint8_t size, type;
	bool ethertype;
	uint8_t head[26];
} links[] = {
	{ .number = 101 }, /* none */
	{ 1, 14, 12, true, { [12] = 8 } }, /* Ethernet */
	{ 113, 16, 14, true, { [14] = 8 } }, /* Linux cooked, and its second version */
	{ 276, 20, 0, true, { 8 } },
	{ .number = 0, .size = 4 }, /* loopback */
	{ 104, 4, 2, true, { [2] = 8 } }, /* HDLC */
	{ 1, 18, 16, true, { [12] = 0x81, [16] = 8 } }, /* Ethernet: VLAN, PPPoE */
	{ 1, 22, 20, false, { [12] = 0x88, 0x64, [21] = 0x21 } },
	{ 9, 4, 2, false, { 0xff, 3, 0, 0x21 } }, /* PPP, PPPoE */
	{ 51, 8, 6, false, { [7] = 0x21 } },
	{ .number = 239, .size = 8, .head = { [4] = 4, 0, 9, 0 } }, /* NFLOG */
	{ .number = 109, .size = 12 }, /* ENC */
};

static const struct link *link_of(uint8_t first)
{
	return &links[first % (sizeof(links) / sizeof(*links))];
}

/* One packet of two parts, behind the link's header. */
static void put_packet(const struct link *link, bool ipv6, const void *a, size_t a_n,
		       const void *b, size_t b_n)
{
	uint32_t n = (uint32_t)(link->size + a_n + b_n);
	uint32_t packet[4] = { file_time, 0, n, n };
	uint8_t head[26];

	memcpy(head, link->head, sizeof(head));
	if (ipv6 && link->ethertype)
		memcpy(head + link->type, "\x86\xdd", 2);
	else if (ipv6 && link->type)
		head[link->type + 1] = 0x57;
	put(packet, sizeof(packet));
	put(head, link->size);
	put(a, a_n);
	put(b, b_n);
}

static void put_file_head(const struct link *link)
{
	uint32_t head[6] = { 0xa1b2c3d4, 2 | 4 << 16, 0, 0, 1 << 16, link->number };

	put(head, sizeof(head));
}

/* An IP header of a packet that is a slice at @at, if @more or @at is not zero. */
static size_t ip_head(uint8_t *to, uint8_t how, size_t n, size_t at, bool more)
{
	bool slice = more || at, server = how & FROM_SERVER;
	size_t head = how & IPV6 ? (slice ? 48 : 40) : 20, length;

	memset(to, 0, head);
	if (how & IPV6) {
		length = n + head - 40;
		to[0] = 0x60;
		to[4] = (uint8_t)(length >> 8);
		to[5] = (uint8_t)length;
		to[6] = slice ? 44 : 17;
		to[8] = to[24] = 0xfd;
		to[23] = 1 + server;
		to[39] = 2 - server;
		if (slice) {
			to[40] = 17;
			to[42] = (uint8_t)(at >> 8);
			to[43] = (uint8_t)((at & 0xf8) | more);
			memcpy(to + 46, &packet_id, sizeof(packet_id));
		}
		return head;
	}
	length = n + head;
	to[0] = 0x45;
	to[2] = (uint8_t)(length >> 8);
	to[3] = (uint8_t)length;
	memcpy(to + 4, &packet_id, sizeof(packet_id));
	to[6] = (uint8_t)(at >> 11 | (more ? 0x20 : 0));
	to[7] = (uint8_t)(at >> 3);
	to[9] = 17;
	to[12] = to[16] = 10;
	to[15] = 1 + server;
	to[19] = 2 - server;
	return head;
}

/* UDP between two ports of which the client's is @port; @ret_n: with its header. */
static uint8_t *udp_make(const struct piece *piece, uint8_t port, size_t *ret_n)
{
	bool server = piece->how & FROM_SERVER;
	size_t n = piece->n + 8;
	uint8_t *udp = calloc(1, n);

	must(udp != NULL);
	udp[server ? 0 : 2] = 27960 >> 8;
	udp[server ? 1 : 3] = 27960 & 255;
	udp[server ? 3 : 1] = port;
	udp[4] = (uint8_t)(n >> 8);
	udp[5] = (uint8_t)n;
	if (piece->n)
		memcpy(udp + 8, piece->bytes, piece->n);
	*ret_n = n;
	return udp;
}

static void put_slice(const struct link *link, uint8_t how, const uint8_t *udp, size_t n,
		      size_t at, size_t part)
{
	uint8_t head[48];
	size_t head_n = ip_head(head, how, part, at, at + part < n);

	put_packet(link, how & IPV6, head, head_n, udp + at, part);
}

static void put_datagram(const struct link *link, const struct piece *piece)
{
	size_t n, slice, count;
	uint8_t *udp = udp_make(piece, 99, &n);

	packet_id++;
	slice = piece->how & FRAGMENTS ? ((n / 3) & ~(size_t)7) + 8 : n;
	count = (n + slice - 1) / slice;
	for (size_t i = 0; i < count; i++) {
		/* the last first, then in order */
		size_t at = (i ? i - 1 : count - 1) * slice;
		size_t part = n - at < slice ? n - at : slice;
		bool hole = piece->how & HOLE && i && i == count / 2;

		if (!hole || n % 2)
			put_slice(link, piece->how, udp, n, at, part);
		if (!hole || n % 2 == 0)
			continue;
		udp[at] ^= 1;
		put_slice(link, piece->how, udp, n, at, part);
	}
	free(udp);
}

/* The beginnings of more datagrams than may wait for the rest. */
static void put_beginnings(const struct link *link, const struct piece *piece)
{
	size_t n;

	for (uint8_t port = 0; port < MANY; port++) {
		uint8_t *udp = udp_make(piece, port, &n);

		packet_id++;
		put_slice(link, piece->how, udp, n, 0, 8);
		free(udp);
	}
}

static void build(const uint8_t *data, size_t size)
{
	const struct link *link = link_of(data[0]);
	bool many = false;
	struct piece piece;
	size_t at = 1;

	file_n = 0;
	file_time = 1;
	packet_id = 0;
	put_file_head(link);
	while (piece_next(data, size, &at, &piece)) {
		unsigned int step = piece.how >> 5;

		file_time += step ? 1U << 2 * step : 0;
		if (!(piece.how & PAYLOAD))
			put_packet(link, piece.how & IPV6, NULL, 0, piece.bytes, piece.n);
		else if (step < 7 || !(piece.how & HOLE) || many)
			put_datagram(link, &piece);
		else
			put_beginnings(link, &piece);
		many |= step == 7;
	}
}

static void sink(void *context, const struct record *r)
{
	(void)context;
	must(r->kind && (r->status != RECORD_DECODED) == (r->reason != NULL));
	jsonl_record(&json, r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct decoder_options options = { .fields = true, .small = true };
	struct decoder *decoder;
	struct capture *capture;
	struct datagram dg;
	char message[256];
	uint8_t *copy;
	FILE *file;

	if (!size)
		return 0;
	if (!json.out)
		jsonl_init(&json, nowhere());
	if (capture_recognise(data, size)) {
		file_n = 0;
		put(data, size);
	} else {
		build(data, size);
	}
	copy = exact_copy(file_bytes, file_n);
	file = fmemopen(copy, file_n, "rb");
	must(file != NULL);
	if (!capture_open(file, &capture, message, sizeof(message))) {
		decoder = decoder_create(&options, sink, NULL);
		must(decoder != NULL);
		while (capture_next(capture, &dg) == 1)
			decoder_datagram(decoder, &dg);
		decoder_flush(decoder);
		decoder_free(decoder);
		capture_close(capture);
	}
	free(copy);
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed)
{
	uint32_t state = seed | 1;

	if (size && !capture_recognise(data, size) && !dice(&state, 3))
		return pieces_mutate(data, size, max, 1, &state);
	return LLVMFuzzerMutate(data, size, max);
}
