// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Capture files, made here: both byte orders, fragments with and without holes, a file
 * that breaks off, a link type without a decoder.
 */
#include <errno.h>

#include "capture/capture.h"
#include "capture/reassembly.h"
#include "decode/decode_support.h"

#define LINK_RAW   101
#define LINK_80211 105
#define FILE_MAX   (1 << 20)

struct file {
	uint8_t bytes[FILE_MAX];
	size_t n;
	uint32_t seconds;
};

static struct file file;

static void put(const void *bytes, size_t n)
{
	assert_true(file.n + n <= sizeof(file.bytes));
	memcpy(file.bytes + file.n, bytes, n);
	file.n += n;
}

static void put32(uint32_t value)
{
	put(&value, sizeof(value));
}

static void begin(uint32_t link)
{
	static const uint16_t version[] = { 2, 4 };

	file.n = 0;
	file.seconds = 1000;
	put32(0xa1b2c3d4);
	put(version, sizeof(version));
	put32(0);
	put32(0);
	put32(65535);
	put32(link);
}

static void put_packet(const uint8_t *bytes, size_t captured, size_t length)
{
	put32(file.seconds++);
	put32(500000);
	put32((uint32_t)captured);
	put32((uint32_t)length);
	put(bytes, captured);
}

/* @offset and @more make a fragment of it; the payload begins where the caller says. */
static size_t ipv4(uint8_t *to, uint16_t id, size_t offset, bool more,
		   const uint8_t *payload, size_t n)
{
	size_t total = 20 + n;
	uint16_t fragment = (uint16_t)(offset / 8 | (more ? 0x2000 : 0));
	uint8_t head[20] = {
		0x45,
		0,
		(uint8_t)(total >> 8),
		(uint8_t)total,
		(uint8_t)(id >> 8),
		(uint8_t)id,
		(uint8_t)(fragment >> 8),
		(uint8_t)fragment,
		64,
		17,
		0,
		0,
		10,
		0,
		0,
		1,
		10,
		0,
		0,
		2,
	};

	memcpy(to, head, sizeof(head));
	memcpy(to + sizeof(head), payload, n);
	return total;
}

static size_t udp(uint8_t *to, size_t n)
{
	uint8_t head[8] = {
		0x6d, 0x38, 0x6d, 0x39, (uint8_t)((n + 8) >> 8), (uint8_t)(n + 8)
	};

	memcpy(to, head, sizeof(head));
	for (size_t i = 0; i < n; i++)
		to[8 + i] = (uint8_t)(i * 3);
	return n + 8;
}

static void put_fragment(uint16_t id, const uint8_t *datagram, size_t from, size_t to,
			 size_t n)
{
	uint8_t packet[4096];
	size_t size = ipv4(packet, id, from, to < n, datagram + from, to - from);

	put_packet(packet, size, size);
}

static struct capture *open_file(size_t n)
{
	struct capture *capture = NULL;
	char message[256];
	FILE *stream = fmemopen(file.bytes, n, "rb");

	assert_non_null(stream);
	assert_true(capture_recognise(file.bytes, n));
	if (capture_open(stream, &capture, message, sizeof(message)))
		fail_msg("%s", message);
	return capture;
}

static void whole_datagrams(void **state)
{
	uint8_t datagram[2048], packet[2100];
	size_t n = udp(datagram, 100), size = ipv4(packet, 1, 0, false, datagram, n);
	struct capture *capture;
	struct datagram dg;

	(void)state;
	begin(LINK_RAW);
	put_packet(packet, size, size);
	put_packet(packet, size - 60, size);
	put_packet(packet, 10, size); /* not even an IP header */
	capture = open_file(file.n);
	assert_int_equal(capture_next(capture, &dg), 1);
	assert_int_equal(dg.frame, 1);
	assert_true(dg.time_ns == 1000500000000LL);
	assert_int_equal(dg.n, 100);
	assert_int_equal(dg.damage, RECORD_DECODED);
	assert_memory_equal(dg.payload, datagram + 8, 100);
	assert_int_equal(capture_next(capture, &dg), 1);
	assert_int_equal(dg.n, 40);
	assert_int_equal(dg.length, 100);
	assert_int_equal(dg.damage, RECORD_PARTIAL);
	assert_int_equal(capture_next(capture, &dg), 0);
	assert_int_equal(capture_packets(capture), 3);
	capture_close(capture);
}

static void fragments(void **state)
{
	uint8_t datagram[4096];
	size_t n = udp(datagram, 3000);
	struct capture *capture;
	struct datagram dg;

	(void)state;
	begin(LINK_RAW);
	put_fragment(1, datagram, 0, 1480, n);
	put_fragment(2, datagram, 1480, 2960, n); /* another datagram between */
	put_fragment(1, datagram, 2960, n, n);
	put_fragment(1, datagram, 1480, 2960, n);
	put_fragment(2, datagram, 0, 1480, n); /* its last never comes */
	capture = open_file(file.n);
	assert_int_equal(capture_next(capture, &dg), 1);
	assert_int_equal(dg.frame, 4);
	assert_int_equal(dg.n, 3000);
	assert_memory_equal(dg.payload, datagram + 8, 3000);
	assert_int_equal(dg.damage, RECORD_DECODED);
	assert_int_equal(capture_next(capture, &dg), 1);
	assert_int_equal(dg.frame, 2);
	assert_int_equal(dg.n, 2952);
	assert_int_equal(dg.length, 3000);
	assert_int_equal(dg.damage, RECORD_PARTIAL);
	assert_string_equal(dg.reason, "IP fragments missing");
	assert_int_equal(capture_next(capture, &dg), 0);
	capture_close(capture);
}

/* Two senders of one fragment, who do not agree: one is shown, and it is said. */
static void fragments_that_differ(void **state)
{
	uint8_t datagram[4096], other[4096];
	size_t n = udp(datagram, 2000);
	struct capture *capture;
	struct datagram dg;

	(void)state;
	memset(other, 0x55, sizeof(other));
	begin(LINK_RAW);
	put_fragment(1, datagram, 0, 1480, n);
	put_fragment(1, other, 0, 1480, n);
	put_fragment(1, datagram, 1480, n, n);
	capture = open_file(file.n);
	assert_int_equal(capture_next(capture, &dg), 1);
	assert_int_equal(dg.damage, RECORD_MALFORMED);
	assert_non_null(dg.reason);
	assert_int_equal(capture_next(capture, &dg), 0);
	capture_close(capture);
}

/* The first second of 1970 has its parts; before it there is nothing. */
static void the_first_second(void **state)
{
	uint8_t datagram[2048], packet[2100];
	size_t n = udp(datagram, 100), size = ipv4(packet, 1, 0, false, datagram, n);
	struct capture *capture;
	struct datagram dg;

	(void)state;
	begin(LINK_RAW);
	file.seconds = 0;
	put_packet(packet, size, size);
	capture = open_file(file.n);
	assert_int_equal(capture_next(capture, &dg), 1);
	assert_true(dg.time_ns == 500000000);
	capture_close(capture);
}

/* More packets in pieces than there is room for, and pieces that are too late. */
static void fragments_many(void **state)
{
	uint8_t datagram[4096];
	size_t n = udp(datagram, 2000);
	struct capture *capture;
	struct datagram dg;
	int partial = 0;

	(void)state;
	begin(LINK_RAW);
	for (uint16_t id = 0; id < 200; id++)
		put_fragment(id, datagram, 0, 1480, n);
	capture = open_file(file.n);
	while (capture_next(capture, &dg) == 1) {
		assert_int_equal(dg.frame, ++partial);
		assert_int_equal(dg.damage, RECORD_PARTIAL);
		assert_int_equal(dg.n, 1472);
	}
	assert_int_equal(partial, 200);
	capture_close(capture);
}

/* Where there is no more room, a fragment of what is held needs none. */
static void fragments_when_it_is_full(void **state)
{
	uint8_t datagram[4096];
	size_t n = udp(datagram, 2000);
	struct capture *capture;
	struct datagram dg;

	(void)state;
	begin(LINK_RAW);
	for (uint16_t id = 0; id < REASSEMBLY_SLOTS; id++) {
		file.seconds = 1000; /* none is too old */
		put_fragment(id, datagram, 0, 1480, n);
	}
	put_fragment(REASSEMBLY_SLOTS - 1, datagram, 1480, n, n); /* completes it */
	put_fragment(100, datagram, 0, 1480, n); /* takes its place */
	put_fragment(101, datagram, 0, 1480, n); /* that of the oldest */
	capture = open_file(file.n);
	assert_int_equal(capture_next(capture, &dg), 1);
	assert_int_equal(dg.frame, REASSEMBLY_SLOTS + 1);
	assert_int_equal(dg.damage, RECORD_DECODED);
	assert_int_equal(dg.n, 2000);
	for (unsigned int i = 1; i < REASSEMBLY_SLOTS; i++) {
		assert_int_equal(capture_next(capture, &dg), 1);
		assert_int_equal(dg.frame, i);
		assert_int_equal(dg.damage, RECORD_PARTIAL);
	}
	capture_close(capture);
}

/* At every byte: what is whole is read, then the end or an error, never both wrong. */
static void breaks_off(void **state)
{
	uint8_t datagram[256], packet[300];
	size_t n = udp(datagram, 20), size = ipv4(packet, 1, 0, false, datagram, n);

	(void)state;
	begin(LINK_RAW);
	for (int i = 0; i < 3; i++)
		put_packet(packet, size, size);
	for (size_t cut = 24; cut < file.n; cut++) {
		struct capture *capture = open_file(cut);
		struct datagram dg;
		size_t whole = (cut - 24) / (size + 16), got = 0;
		int result;

		while ((result = capture_next(capture, &dg)) == 1)
			got++;
		assert_int_equal(got, whole);
		assert_int_equal(result, (cut - 24) % (size + 16) ? -EBADMSG : 0);
		if (result)
			assert_true(strlen(capture_error(capture)) > 0);
		capture_close(capture);
	}
}

static void link_unknown(void **state)
{
	struct capture *capture;
	char message[256];

	(void)state;
	begin(LINK_80211);
	assert_int_equal(capture_open(fmemopen(file.bytes, file.n, "rb"), &capture,
				      message, sizeof(message)),
			 -EBADMSG);
	assert_non_null(strstr(message, "IEEE802_11"));
}

static void not_a_capture(void **state)
{
	struct capture *capture;
	char message[256];

	(void)state;
	assert_false(capture_recognise((const uint8_t *)"-1\n", 3));
	begin(LINK_RAW);
	assert_int_equal(capture_open(fmemopen(file.bytes, 10, "rb"), &capture, message,
				      sizeof(message)),
			 -EBADMSG);
}

/* Frames come as they are, with their length on the wire and their way, up to the end. */
static void frames_as_they_are(void **state)
{
	static const struct {
		uint32_t link;
		const char *bytes;
		size_t n;
		enum packet_way way;
	} rows[] = {
		{ LINK_RAW, "no packet", 9, PACKET_WAY_UNKNOWN },
		{ 113, "\0\0\0\1\0\6hwaddr\0\0\x08\0x", 17, PACKET_RECEIVED },
		{ 113, "\0\3\0\1\0\6hwaddr\0\0\x08\0x", 17, PACKET_WAY_UNKNOWN },
		{ 113, "\0\4\0\1\0\6hwaddr\0\0\x08\0x", 17, PACKET_SENT },
		{ 113, "\0", 1, PACKET_WAY_UNKNOWN },
		{ 276, "\x08\0\0\0\0\0\0\1\0\1\4\6hwaddr\0\0x", 21, PACKET_SENT },
		{ 276, "\x08\0\0\0\0\0\0\1\0\1\2\6hwaddr\0\0x", 21, PACKET_RECEIVED },
		{ 276, "\x08\0\0\0\0\0\0\1\0\1", 10, PACKET_WAY_UNKNOWN },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct capture_frame frame;
		struct capture *capture;

		begin(rows[i].link);
		put_packet((const uint8_t *)rows[i].bytes, rows[i].n, rows[i].n + 7);
		put_packet((const uint8_t *)rows[i].bytes, rows[i].n, 0);
		capture = open_file(file.n);
		for (uint64_t number = 1; number <= 2; number++) {
			assert_int_equal(capture_next_frame(capture, &frame), 1);
			assert_int_equal(frame.number, number);
			assert_int_equal(frame.captured, rows[i].n);
			assert_int_equal(frame.length, rows[i].n + (number == 1 ? 7 : 0));
			assert_memory_equal(frame.bytes, rows[i].bytes, rows[i].n);
			assert_int_equal(frame.way, rows[i].way);
		}
		assert_int_equal(capture_next_frame(capture, &frame), 0);
		assert_int_equal(capture_next_frame(capture, &frame), 0);
		capture_close(capture);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_datagrams),
		cmocka_unit_test(fragments),
		cmocka_unit_test(fragments_that_differ),
		cmocka_unit_test(the_first_second),
		cmocka_unit_test(fragments_many),
		cmocka_unit_test(fragments_when_it_is_full),
		cmocka_unit_test(breaks_off),
		cmocka_unit_test(link_unknown),
		cmocka_unit_test(not_a_capture),
		cmocka_unit_test(frames_as_they_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
