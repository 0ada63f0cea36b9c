// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * From frames to datagrams: link layers, tags, options, extension headers, lengths that
 * lie; each frame whole and cut at every byte, in an exact heap copy.
 */
#include <pcap/dlt.h>

#include "decode/decode_support.h"
#include "capture/packet.h"

#define MAC		 "\1\2\3\4\5\6\1\2\3\4\5\7"
#define V4_HEAD(total)	 "\x45\0\0" total "\0\1\0\0\x40\x11\0\0\x0a\0\0\1\x0a\0\0\2"
#define UDP(length)	 "\x13\x88\x17\x70\0" length "\0\0"
#define V4		 V4_HEAD("\x20") UDP("\x0c") "abcd"
#define A6		 "\xfd\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1"
#define B6		 "\xfd\0\0\0\0\0\0\0\0\0\0\0\0\0\0\2"
#define V6(next, length) "\x60\0\0\0\0" length next "\x40" A6 B6
#define TAG		 "\x81\0\0\5"
#define OPTIONS(next)	 next "\0\1\4\0\0\0\0"
/* An outer packet of another pair of hosts. */
#define OUTER(next, total) "\x45\0\0" total "\0\2\0\0\x40" next "\0\0\xc0\0\2\1\xc0\0\2\2"
#define OUTER_UDP(port)	   "\xff\x11" port "\0\x50\0\0"
#define FRAME		   MAC "\x08\0" V4

struct row {
	const char *name;
	const uint8_t *frame;
	size_t n;
	size_t payload; /* bytes */
	int link;
	bool found;
	enum record_status damage;
};

/* clang-format off */
static const struct row rows[] = {
	{ "ethernet, v4", BYTES(MAC "\x08\0" V4), 4, DLT_EN10MB, true, RECORD_DECODED },
	{ "padding is not payload", BYTES(MAC "\x08\0" V4 "\0\0\0\0\0\0"), 4, DLT_EN10MB, true, RECORD_DECODED },
	{ "one tag", BYTES(MAC "\x81\0\0\5\x08\0" V4), 4, DLT_EN10MB, true, RECORD_DECODED },
	{ "two tags", BYTES(MAC "\x88\xa8\0\5\x81\0\0\6\x08\0" V4), 4, DLT_EN10MB, true, RECORD_DECODED },
	{ "three tags", BYTES(MAC "\x88\xa8\0\5\x81\0\0\6\x81\0\0\7\x08\0" V4), 4, DLT_EN10MB, true, RECORD_DECODED },
	{ "nine tags", BYTES(MAC TAG TAG TAG TAG TAG TAG TAG TAG TAG "\x08\0" V4), 0, DLT_EN10MB, false, RECORD_DECODED },
	{ "arp", BYTES(MAC "\x08\6" V4), 0, DLT_EN10MB, false, RECORD_DECODED },
	{ "pppoe", BYTES(MAC "\x88\x64\x11\0\0\1\0\x22\0\x21" V4), 4, DLT_EN10MB, true, RECORD_DECODED },
	{ "cooked", BYTES("\0\0\0\1\0\6\1\2\3\4\5\6\0\0\x08\0" V4), 4, DLT_LINUX_SLL, true, RECORD_DECODED },
	{ "cooked 2", BYTES("\x08\0\0\0\0\0\0\1\0\1\0\6\1\2\3\4\5\6\0\0" V4), 4, DLT_LINUX_SLL2, true, RECORD_DECODED },
	{ "raw v4", BYTES(V4), 4, DLT_RAW, true, RECORD_DECODED },
	{ "raw v6", BYTES(V6("\x11", "\x0c") UDP("\x0c") "abcd"), 4, DLT_RAW, true, RECORD_DECODED },
	{ "null", BYTES("\2\0\0\0" V4), 4, DLT_NULL, true, RECORD_DECODED },
	{ "loop", BYTES("\0\0\0\2" V4), 4, DLT_LOOP, true, RECORD_DECODED },
	{ "ppp", BYTES("\xff\x03\0\x21" V4), 4, DLT_PPP, true, RECORD_DECODED },
	{ "ppp, short", BYTES("\0\x21" V4), 4, DLT_PPP, true, RECORD_DECODED },
	{ "hdlc", BYTES("\x0f\0\x08\0" V4), 4, DLT_C_HDLC, true, RECORD_DECODED },
	{ "nflog", BYTES("\2\0\0\0\5\0\1\0x\0\0\0\x24\0\x09\0" V4), 4, DLT_NFLOG, true, RECORD_DECODED },
	{ "options", BYTES("\x46\0\0\x24\0\1\0\0\x40\x11\0\0\x0a\0\0\1\x0a\0\0\2\1\1\1\1" UDP("\x0c") "abcd"), 4, DLT_RAW, true, RECORD_DECODED },
	{ "header below its minimum", BYTES("\x44\0\0\x20\0\1\0\0\x40\x11\0\0\x0a\0\0\1\x0a\0\0\2" UDP("\x0c") "abcd"), 0, DLT_RAW, false, RECORD_DECODED },
	{ "tcp", BYTES("\x45\0\0\x20\0\1\0\0\x40\x06\0\0\x0a\0\0\1\x0a\0\0\2" UDP("\x0c") "abcd"), 0, DLT_RAW, false, RECORD_DECODED },
	{ "udp length 7", BYTES(V4_HEAD("\x20") UDP("\x07") "abcd"), 0, DLT_RAW, true, RECORD_MALFORMED },
	{ "udp length beyond ip", BYTES(V4_HEAD("\x20") UDP("\x0d") "abcde"), 4, DLT_RAW, true, RECORD_MALFORMED },
	{ "udp length below ip", BYTES(V4_HEAD("\x20") UDP("\x0b") "abcd"), 3, DLT_RAW, true, RECORD_DECODED },
	{ "cut by the capture", BYTES(V4_HEAD("\x20") UDP("\x0c") "ab"), 2, DLT_RAW, true, RECORD_PARTIAL },
	{ "v6, two extensions", BYTES(V6("\0", "\x1c") OPTIONS("\x3c") OPTIONS("\x11") UDP("\x0c") "abcd"), 4, DLT_RAW, true, RECORD_DECODED },
	{ "v6, authenticated", BYTES(V6("\x33", "\x2c") "\x3c\4\0\0" "\0\0\0\1\0\0\0\2aaaaaaaaaaaa" OPTIONS("\x11") UDP("\x0c") "abcd"), 4, DLT_RAW, true, RECORD_DECODED },
	{ "v6, no next header", BYTES(V6("\x3b", "\0")), 0, DLT_RAW, false, RECORD_DECODED },
	{ "v6, extension beyond", BYTES(V6("\0", "\x04") OPTIONS("\x11") UDP("\x0c") "abcd"), 0, DLT_RAW, false, RECORD_DECODED },
	{ "ip in ip", BYTES(OUTER("\4", "\x34") V4), 4, DLT_RAW, true, RECORD_DECODED },
	{ "v6 in v4", BYTES(OUTER("\x29", "\x48") V6("\x11", "\x0c") UDP("\x0c") "abcd"), 4, DLT_RAW, true, RECORD_DECODED },
	{ "gre", BYTES(OUTER("\x2f", "\x38") "\0\0\x08\0" V4), 4, DLT_RAW, true, RECORD_DECODED },
	{ "gre, all fields", BYTES(OUTER("\x2f", "\x44") "\xb0\0\x08\0" "aaaabbbbcccc" V4), 4, DLT_RAW, true, RECORD_DECODED },
	{ "gre, version 1", BYTES(OUTER("\x2f", "\x38") "\0\1\x08\0" V4), 0, DLT_RAW, false, RECORD_DECODED },
	{ "gre, a frame", BYTES(OUTER("\x2f", "\x46") "\0\0\x65\x58" FRAME), 4, DLT_RAW, true, RECORD_DECODED },
	{ "erspan 1", BYTES(OUTER("\x2f", "\x46") "\0\0\x88\xbe" FRAME), 4, DLT_RAW, true, RECORD_DECODED },
	{ "erspan 2", BYTES(OUTER("\x2f", "\x52") "\x10\0\x88\xbe\0\0\0\1" "\x10\1\0\5\0\0\0\7" FRAME), 4, DLT_RAW, true, RECORD_DECODED },
	{ "erspan 3", BYTES(OUTER("\x2f", "\x56") "\x10\0\x22\xeb\0\0\0\1" "\x20\1\0\5aaaa\0\0\0\0" FRAME), 4, DLT_RAW, true, RECORD_DECODED },
	{ "erspan 3, platform", BYTES(OUTER("\x2f", "\x5e") "\x10\0\x22\xeb\0\0\0\1" "\x20\1\0\5aaaa\0\0\0\1" "platform" FRAME), 4, DLT_RAW, true, RECORD_DECODED },
	{ "vxlan", BYTES(OUTER("\x11", "\x52") OUTER_UDP("\x12\xb5") "\x08\0\0\0\0\0\7\0" FRAME), 4, DLT_RAW, true, RECORD_DECODED },
	{ "vxlan, old port, tag", BYTES(OUTER("\x11", "\x56") OUTER_UDP("\x21\x18") "\x08\0\0\0\0\0\7\0" MAC TAG "\x08\0" V4), 4, DLT_RAW, true, RECORD_DECODED },
	{ "geneve", BYTES(OUTER("\x11", "\x52") OUTER_UDP("\x17\xc1") "\0\0\x65\x58\0\0\7\0" FRAME), 4, DLT_RAW, true, RECORD_DECODED },
	{ "geneve, options", BYTES(OUTER("\x11", "\x4c") OUTER_UDP("\x17\xc1") "\2\0\x08\0\0\0\7\0" "\1\2\3\1" "abcd" V4), 4, DLT_RAW, true, RECORD_DECODED },
	{ "vxlan in gre in ip", BYTES(OUTER("\4", "\x7e") OUTER("\x2f", "\x6a") "\0\0\x08\0" OUTER("\x11", "\x52") OUTER_UDP("\x12\xb5") "\x08\0\0\0\0\0\7\0" FRAME), 4, DLT_RAW, true, RECORD_DECODED },
	{ "five tunnels", BYTES(OUTER("\4", "\x84") OUTER("\4", "\x70") OUTER("\4", "\x5c") OUTER("\4", "\x48") OUTER("\4", "\x34") V4), 0, DLT_RAW, false, RECORD_DECODED },
	{ "gre without ip", BYTES(OUTER("\x2f", "\x38") "\0\0\x08\6" V4), 0, DLT_RAW, false, RECORD_DECODED },
	{ "v5, as if v4", BYTES("\x55\0\0\x20\0\1\0\0\x40\x11\0\0\x0a\0\0\1\x0a\0\0\2" UDP("\x0c") "abcd"), 0, DLT_RAW, false, RECORD_DECODED },
	{ "v7, as if v6", BYTES("\x70\0\0\0\0" "\x0c" "\x11" "\x40" A6 B6 UDP("\x0c") "abcd"), 0, DLT_RAW, false, RECORD_DECODED },
	{ "v5 in ip, as if v4", BYTES(OUTER("\4", "\x34") "\x55\0\0\x20\0\1\0\0\x40\x11\0\0\x0a\0\0\1\x0a\0\0\2" UDP("\x0c") "abcd"), 0, DLT_RAW, false, RECORD_DECODED },
	{ "v7 in ip, as if v6", BYTES(OUTER("\4", "\x48") "\x70\0\0\0\0" "\x0c" "\x11" "\x40" A6 B6 UDP("\x0c") "abcd"), 0, DLT_RAW, false, RECORD_DECODED },
};
/* clang-format on */

static bool look(int link, const uint8_t *frame, size_t n, struct datagram *dg)
{
	struct packet packet;

	return packet_parse(link, frame, n, &packet) && packet_udp(&packet, dg);
}

static void frames(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct row *row = &rows[i];
		struct datagram dg = { .frame = 0 };

		print_message("%s\n", row->name);
		assert_true(packet_link_known(row->link));
		assert_int_equal(look(row->link, row->frame, row->n, &dg), row->found);
		if (!row->found)
			continue;
		assert_int_equal(dg.n, row->payload);
		/* What a length that lies would promise is not counted. */
		if (dg.damage == RECORD_MALFORMED)
			assert_int_equal(dg.length, row->payload);
		assert_int_equal(dg.damage, row->damage);
		assert_int_equal(dg.reason != NULL, row->damage != RECORD_DECODED);
		assert_int_equal(dg.source.port, 5000);
		assert_int_equal(dg.destination.port, 6000);
		assert_memory_equal(dg.payload, "abcd", dg.n < 4 ? dg.n : 4);
	}
}

/* A server may use a tunnel's port: what has no tunnel's header stays its datagram. */
static void tunnel_ports_of_servers(void **state)
{
	static const struct {
		const char *port, *bytes;
	} said[] = {
		{ "\x12\xb5", "\xff\xff\xff\xff"
			      "getstatus" },
		{ "\x12\xb5", "\x08\0\0\1\0\0\7\0abcdefghijkl\x08\0\x45" },
		{ "\x12\xb5", "\x08\0\0\0\0\0\7\0abcdefghijkl\x08\6" },
		{ "\x17\xc1", "\xff\xff\xff\xff"
			      "getstatus" },
		{ "\x17\xc1", "\x40\0\x08\0\0\0\7\0\x45" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(said) / sizeof(*said); i++) {
		uint8_t frame[72];
		struct datagram dg = { .frame = 0 };

		memset(frame, 0, sizeof(frame));
		memcpy(frame, OUTER("\x11", "\x48") OUTER_UDP("\0\0"), 28);
		frame[25] = 52;
		memcpy(frame + 22, said[i].port, 2);
		memcpy(frame + 28, said[i].bytes, 8);
		memcpy(frame + 36, said[i].bytes + 8, strlen(said[i].bytes + 8) + 1);
		assert_true(look(DLT_RAW, frame, sizeof(frame), &dg));
		assert_int_equal(dg.n, 44);
		assert_ptr_equal(dg.payload, frame + 28);
	}
}

static void frames_cut(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		for (size_t n = 0; n < rows[i].n; n++) {
			uint8_t *copy = malloc(n ? n : 1);
			struct datagram dg = { .frame = 0 };

			assert_non_null(copy);
			memcpy(copy, rows[i].frame, n);
			if (look(rows[i].link, copy, n, &dg)) {
				assert_true(dg.payload + dg.n <= copy + n);
				assert_true(dg.n <= dg.length);
			}
			free(copy);
		}
}

/* A chain of extension headers without end is given up, not followed. */
static void chain_bounded(void **state)
{
	uint8_t frame[40 + 8 * 40] = {
		0x60, [4] = 8 * 40 >> 8, [5] = 8 * 40 & 255, [6] = 60
	};
	struct packet packet;

	(void)state;
	for (size_t at = 40; at < sizeof(frame); at += 8)
		frame[at] = 60;
	assert_true(packet_parse(DLT_RAW, frame, sizeof(frame), &packet));
	assert_int_not_equal(packet.protocol, 17);
}

/* Behind a later fragment's header is what was cut, whatever its first bytes look like.
 */
static void later_fragments_have_no_headers(void **state)
{
	static const uint8_t frame[] =
		V6("\x2c", "\x1c") "\x3c\0\0\x09\0\0\0\7" OPTIONS("\x11")
			UDP("\x0c") "abcd";
	struct packet packet;

	(void)state;
	assert_true(packet_parse(DLT_RAW, frame, sizeof(frame) - 1, &packet));
	assert_true(packet.fragment && packet.more);
	assert_int_equal(packet.offset, 8);
	assert_int_equal(packet.id, 7);
	assert_int_equal(packet.protocol, 0x3c);
	assert_int_equal(packet.length, 20);
	assert_memory_equal(packet.bytes, frame + 48, 20);
}

/* IPv4: the three bits in front of the offset are none of it. */
static void offsets_without_their_flags(void **state)
{
	static const struct {
		uint8_t high, low;
		bool fragment, more;
		size_t offset;
	} flags[] = {
		{ 0x00, 0x00, false, false, 0 },    { 0x40, 0x00, false, false, 0 },
		{ 0x20, 0x00, true, true, 0 },	    { 0x20, 0xb9, true, true, 1480 },
		{ 0x00, 0xb9, true, false, 1480 },  { 0x61, 0x01, true, true, 2056 },
		{ 0x1f, 0xff, true, false, 65528 },
	};
	uint8_t frame[] = V4;
	struct packet packet;

	(void)state;
	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
		frame[6] = flags[i].high;
		frame[7] = flags[i].low;
		assert_true(packet_parse(DLT_RAW, frame, sizeof(frame) - 1, &packet));
		assert_int_equal(packet.fragment, flags[i].fragment);
		if (!packet.fragment)
			continue;
		assert_int_equal(packet.more, flags[i].more);
		assert_int_equal(packet.offset, flags[i].offset);
	}
}

static void links_unknown(void **state)
{
	(void)state;
	assert_false(packet_link_known(DLT_IEEE802_11));
	assert_false(packet_link_known(-1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames),
		cmocka_unit_test(tunnel_ports_of_servers),
		cmocka_unit_test(frames_cut),
		cmocka_unit_test(chain_bounded),
		cmocka_unit_test(later_fragments_have_no_headers),
		cmocka_unit_test(offsets_without_their_flags),
		cmocka_unit_test(links_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
