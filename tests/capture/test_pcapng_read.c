// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_pcapng_read.c - pcapng files as capture programs and operators make them: several
 * interfaces, sections of both byte orders, every kind of packet block, units of time,
 * files cut at each byte; and a filter over frames of two link types.
 */
#include <errno.h>
#include <pcap/dlt.h>

#include "capture/capture.h"
#include "capture/pcapng_read.h"
#include "decode/decode_support.h"

static struct {
	uint8_t bytes[1 << 16];
	size_t n;
	bool swapped;
} file;

static void put(const void *bytes, size_t n)
{
	assert_true(file.n + n <= sizeof(file.bytes));
	memcpy(file.bytes + file.n, bytes, n);
	file.n += n;
}

static void put32(uint32_t value)
{
	if (file.swapped)
		value = __builtin_bswap32(value);
	put(&value, sizeof(value));
}

static void put16(uint16_t value)
{
	if (file.swapped)
		value = __builtin_bswap16(value);
	put(&value, sizeof(value));
}

static size_t block_begin(uint32_t type)
{
	size_t at = file.n;

	put32(type);
	put32(0);
	return at;
}

static void block_end(size_t at)
{
	size_t end;

	while (file.n % 4)
		put("", 1);
	put32((uint32_t)(file.n + 4 - at));
	end = file.n;
	file.n = at + 4;
	put32((uint32_t)(end - at));
	file.n = end;
}

static void put_section(bool swapped)
{
	size_t at;

	file.swapped = swapped;
	at = block_begin(0x0a0d0d0a);
	put32(0x1a2b3c4d);
	put32(1);
	put32(UINT32_MAX);
	put32(UINT32_MAX);
	block_end(at);
}

static void begin(bool swapped)
{
	file.n = 0;
	put_section(swapped);
}

/* @resolution: if_tsresol, 0: the option is not there. */
static void put_interface(uint16_t link, uint32_t snap, uint8_t resolution,
			  int64_t offset)
{
	size_t at = block_begin(1);

	put16(link);
	put16(0);
	put32(snap);
	put16(2); /* if_name */
	put16(3);
	put("eth\0", 4);
	if (resolution) {
		put16(9);
		put16(1);
		put(&resolution, 1);
		put("\0\0\0", 3);
	}
	if (offset) {
		put16(14);
		put16(8);
		put32(file.swapped ? (uint32_t)(offset >> 32) : (uint32_t)offset);
		put32(file.swapped ? (uint32_t)offset : (uint32_t)(offset >> 32));
	}
	put16(0);
	put16(0);
	block_end(at);
}

static void put_enhanced(uint32_t interface, uint64_t time, const void *bytes, size_t n)
{
	size_t at = block_begin(6);

	put32(interface);
	put32((uint32_t)(time >> 32));
	put32((uint32_t)time);
	put32((uint32_t)n);
	put32((uint32_t)n + 100);
	put(bytes, n);
	block_end(at);
}

/* A packet with a comment and, behind it, flags; @n: bytes of options that are there. */
static void put_flagged(uint32_t flags, size_t n)
{
	size_t at = block_begin(6), options;

	for (int i = 0; i < 3; i++)
		put32(0);
	put32(5);
	put32(5);
	put("frame", 5);
	put("\0\0\0", 3);
	options = file.n;
	put16(1);
	put16(6);
	put("no way\0\0", 8);
	put16(2);
	put16(4);
	put32(flags);
	put32(0);
	file.n = options + n;
	block_end(at);
}

static void put_other(uint32_t type)
{
	size_t at = block_begin(type);

	put("something else", 14);
	block_end(at);
}

static struct pcapng_reader *open_file(size_t n)
{
	FILE *stream = fmemopen(file.bytes, n, "rb");
	struct pcapng_reader *reader;

	assert_non_null(stream);
	assert_true(pcapng_recognise(file.bytes, n));
	reader = pcapng_open(stream);
	assert_non_null(reader);
	return reader;
}

static void expect(struct pcapng_reader *reader, int link, int64_t time_ns,
		   const char *bytes)
{
	struct pcapng_frame frame;
	int result = pcapng_next(reader, &frame);

	if (result != 1)
		fail_msg("%s", pcapng_error(reader));
	assert_int_equal(frame.link, link);
	if (frame.time_ns != time_ns)
		fail_msg("%lld, not %lld", (long long)frame.time_ns, (long long)time_ns);
	assert_int_equal(frame.captured, strlen(bytes));
	assert_memory_equal(frame.bytes, bytes, strlen(bytes));
}

static void expect_end(struct pcapng_reader *reader)
{
	struct pcapng_frame frame;

	assert_int_equal(pcapng_next(reader, &frame), 0);
	assert_int_equal(pcapng_next(reader, &frame), 0);
	pcapng_close(reader);
}

static void expect_broken(struct pcapng_reader *reader, const char *why)
{
	struct pcapng_frame frame;

	assert_int_equal(pcapng_next(reader, &frame), -EBADMSG);
	assert_int_equal(pcapng_next(reader, &frame), -EBADMSG);
	assert_string_equal(pcapng_error(reader), why);
	pcapng_close(reader);
}

static void interfaces_may_differ(void **state)
{
	struct pcapng_reader *reader;

	(void)state;
	for (int swapped = 0; swapped < 2; swapped++) {
		begin(swapped);
		put_interface(1, 262144, 0, 0);
		put_interface(105, 64, 0, 0); /* 802.11: nothing comes from there */
		put_enhanced(0, 5, "ethernet", 8);
		put_other(4); /* names of addresses */
		put_interface(101, 0, 0, 0); /* described when others have had packets */
		put_enhanced(2, 6, "raw", 3);
		put_other(0x80000001); /* somebody's own */
		put_enhanced(0, 7, "", 0);
		reader = open_file(file.n);
		expect(reader, DLT_EN10MB, 5000, "ethernet");
		expect(reader, DLT_RAW, 6000, "raw");
		expect(reader, DLT_EN10MB, 7000, "");
		expect_end(reader);
	}
}

/* A new section: another byte order, and interfaces are counted from 0 again. */
static void sections_one_after_another(void **state)
{
	struct pcapng_reader *reader;

	(void)state;
	begin(false);
	put_interface(1, 0, 0, 0);
	put_enhanced(0, 1, "one", 3);
	put_section(true);
	put_interface(101, 0, 9, 0);
	put_enhanced(0, 2, "two", 3);
	put_section(false);
	put_enhanced(0, 3, "three", 5);
	reader = open_file(file.n);
	expect(reader, DLT_EN10MB, 1000, "one");
	expect(reader, DLT_RAW, 2, "two");
	expect_broken(reader, "packet of an interface that was not described");
}

static void packet_blocks_of_every_kind(void **state)
{
	struct pcapng_reader *reader;
	size_t at;

	(void)state;
	for (int swapped = 0; swapped < 2; swapped++) {
		begin(swapped);
		put_interface(113, 6, 0, 0);
		put_interface(1, 0, 0, 0);
		at = block_begin(
			3); /* simple: cut at the first interface's snapshot length */
		put32(8);
		put("simple", 6);
		block_end(at);
		at = block_begin(3);
		put32(2);
		put("si", 2);
		block_end(at);
		at = block_begin(2); /* the obsolete one */
		put16(1);
		put16(0xffff);
		put32(0);
		put32(9);
		put32(3);
		put32(3);
		put("old", 3);
		block_end(at);
		reader = open_file(file.n);
		expect(reader, DLT_LINUX_SLL, 0, "simple");
		expect(reader, DLT_LINUX_SLL, 0, "si");
		expect(reader, DLT_EN10MB, 9000, "old");
		expect_end(reader);
	}
}

static void units_of_time(void **state)
{
	static const struct {
		uint8_t resolution;
		int64_t offset;
		uint64_t units;
		int64_t ns;
	} rows[] = {
		{ 0, 0, 1500000000123456, 1500000000123456000 },
		{ 6, 0, 1500000000123456, 1500000000123456000 },
		{ 9, 0, 1500000000123456789, 1500000000123456789 },
		{ 3, 0, 1500000000123, 1500000000123000000 },
		{ 0x7f, 0, UINT64_MAX, 0 },
		{ 12, 0, 1500000000123, 1500000000 },
		{ 0x80, 0, 7, 7000000000 },
		{ 0x81, 0, 7, 3500000000 },
		{ 0x8a, 0, 1024 + 512, 1500000000 },
		{ 0x9e, 0, 1 << 29, 500000000 },
		{ 0xff, 0, UINT64_MAX, 0 },
		{ 6, 1500000000, 7, 1500000000000007000 },
		{ 6, -1, 1000001, 1000 },
		{ 0x80, 0, UINT64_MAX, INT64_MAX },
		{ 6, INT64_MIN, 1, INT64_MIN },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		for (int swapped = 0; swapped < 2; swapped++) {
			struct pcapng_reader *reader;

			begin(swapped);
			put_interface(1, 0, rows[i].resolution, rows[i].offset);
			put_enhanced(0, rows[i].units, "x", 1);
			reader = open_file(file.n);
			expect(reader, DLT_EN10MB, rows[i].ns, "x");
			expect_end(reader);
		}
}

/* At each byte: the frames before it are read, and only a cut between blocks is an end.
 */
static void cut_at_each_byte(void **state)
{
	size_t ends[4];

	(void)state;
	begin(false);
	ends[0] = file.n;
	put_interface(1, 0, 0, 0);
	ends[1] = file.n;
	put_enhanced(0, 1, "first", 5);
	ends[2] = file.n;
	put_enhanced(0, 2, "second", 6);
	ends[3] = file.n;
	for (size_t cut = 4; cut <= file.n; cut++) {
		struct pcapng_reader *reader = open_file(cut);
		struct pcapng_frame frame;
		int result, got = 0;
		bool whole = false;

		while ((result = pcapng_next(reader, &frame)) == 1)
			got++;
		for (int i = 0; i < 4; i++)
			whole |= cut == ends[i];
		assert_int_equal(got, (cut >= ends[2]) + (cut >= ends[3]));
		assert_int_equal(result, whole ? 0 : -EBADMSG);
		pcapng_close(reader);
	}
}

/* What each word of a block's head and tail must be. */
static void blocks_that_are_none(void **state)
{
	static const struct {
		size_t at; /* behind the section header of 28 bytes */
		uint32_t value;
		const char *why;
	} rows[] = {
		{ 28 + 4, 8, "impossible block length" },
		{ 28 + 4, 33, "impossible block length" },
		{ 28 + 4, 16, "impossible block length" },
		{ 28 + 28, 36, "a block's two lengths differ" },
		{ 60 + 4, (1 << 20) + 4, "packet block longer than 1 MiB" },
		{ 60 + 8, 1, "packet of an interface that was not described" },
		{ 60 + 20, 9, "packet longer than its block" },
		{ 60 + 20, UINT32_MAX, "packet longer than its block" },
		{ 4, 24, "impossible block length" },
		{ 24, 32, "a block's two lengths differ" },
		{ 8, 0x1a2b3c4e, "section header without a byte order" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		begin(false);
		put_interface(1, 0, 0, 0);
		assert_int_equal(file.n, 60);
		put_enhanced(0, 1, "12345678", 8);
		memcpy(file.bytes + rows[i].at, &rows[i].value, 4);
		expect_broken(open_file(file.n), rows[i].why);
	}
}

static void interfaces_without_end(void **state)
{
	struct pcapng_reader *reader;
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	assert_non_null(out);
	begin(false);
	fwrite(file.bytes, 1, file.n, out);
	file.n = 0;
	put_interface(1, 0, 0, 0);
	for (int i = 0; i < PCAPNG_INTERFACES_MAX + 1; i++)
		fwrite(file.bytes, 1, file.n, out);
	fclose(out);
	reader = pcapng_open(fmemopen(text, size, "rb"));
	assert_non_null(reader);
	expect_broken(reader, "more than 4096 interfaces in a section");
	free(text);
}

#define V4	"\x45\0\0\x20\0\1\0\0\x40\x11\0\0\x0a\0\0\1\x0a\0\0\2"
#define UDP(to) "\x13\x88" to "\0\x0c\0\0abcd"
#define MAC	"\1\2\3\4\5\6\1\2\3\4\5\7"

static struct capture *open_capture(void)
{
	struct capture *capture = NULL;
	char message[256];

	if (capture_open(fmemopen(file.bytes, file.n, "rb"), &capture, message,
			 sizeof(message)))
		fail_msg("%s", message);
	return capture;
}

static void two_links(void)
{
	begin(false);
	put_interface(1, 0, 0, 0);
	put_interface(101, 0, 0, 0);
	put_enhanced(0, 1, BYTES(MAC "\x08\0" V4 UDP("\x17\x70")));
	put_enhanced(1, 2, BYTES(V4 UDP("\x17\x71")));
	put_enhanced(1, 3, BYTES(V4 UDP("\x17\x70")));
}

static void a_filter_for_each_link(void **state)
{
	struct capture *capture;
	char message[256];
	struct datagram dg;

	(void)state;
	two_links();
	capture = open_capture();
	assert_int_equal(
		capture_filter(capture, "udp port 6000", message, sizeof(message)), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(capture_next(capture, &dg), 1);
		assert_int_equal(dg.destination.port, 6000);
		assert_int_equal(dg.time_ns, i ? 3000 : 1000);
	}
	assert_int_equal(capture_next(capture, &dg), 0);
	assert_int_equal(capture_packets(capture), 2);
	capture_close(capture);

	capture = open_capture();
	assert_int_equal(capture_filter(capture, "udp prot 6000", message,
					sizeof(message)),
			 -EINVAL);
	assert_non_null(strstr(message, "filter 'udp prot 6000': "));
	capture_close(capture);

	/* Raw IP has no Ethernet addresses: said at the first such frame. */
	capture = open_capture();
	assert_int_equal(capture_filter(capture, "ether dst 01:02:03:04:05:06", message,
					sizeof(message)),
			 0);
	assert_int_equal(capture_next(capture, &dg), 1);
	assert_int_equal(capture_next(capture, &dg), -EBADMSG);
	assert_non_null(strstr(capture_error(capture), "filter 'ether dst"));
	capture_close(capture);
}

/* Frames nobody can parse are counted; if there are no others, the link type is said. */
static void links_that_nothing_parses(void **state)
{
	struct capture *capture;
	struct datagram dg;

	(void)state;
	two_links();
	put_interface(105, 0, 0, 0);
	put_enhanced(2, 4, "wireless", 8);
	capture = open_capture();
	for (int i = 0; i < 3; i++)
		assert_int_equal(capture_next(capture, &dg), 1);
	assert_int_equal(capture_next(capture, &dg), 0);
	assert_int_equal(capture_passed(capture)[PASS_LINK_UNKNOWN], 1);
	capture_close(capture);

	begin(true);
	put_interface(105, 0, 0, 0);
	put_enhanced(0, 4, "wireless", 8);
	put_enhanced(0, 4, "wireless", 8);
	capture = open_capture();
	assert_int_equal(capture_next(capture, &dg), -EBADMSG);
	assert_non_null(strstr(capture_error(capture), "link type IEEE802_11"));
	assert_int_equal(capture_packets(capture), 2);
	capture_close(capture);
}

/* Flags of a packet name its way; options that break off name none. */
static void flags_name_the_way(void **state)
{
	static const enum packet_way ways[] = { PACKET_WAY_UNKNOWN, PACKET_RECEIVED,
						PACKET_SENT, PACKET_WAY_UNKNOWN };
	struct pcapng_reader *reader;
	struct pcapng_frame frame;

	(void)state;
	for (int swapped = 0; swapped < 2; swapped++) {
		begin(swapped);
		put_interface(1, 0, 0, 0);
		for (uint32_t flags = 0; flags < 16; flags++)
			put_flagged(flags, 24);
		for (size_t n = 0; n < 20; n += 4)
			put_flagged(2, n);
		reader = open_file(file.n);
		for (uint32_t flags = 0; flags < 16; flags++) {
			assert_int_equal(pcapng_next(reader, &frame), 1);
			assert_int_equal(frame.captured, 5);
			assert_int_equal(frame.way, ways[flags & 3]);
		}
		for (size_t n = 0; n < 20; n += 4) {
			assert_int_equal(pcapng_next(reader, &frame), 1);
			assert_int_equal(frame.way, PACKET_WAY_UNKNOWN);
		}
		assert_int_equal(pcapng_next(reader, &frame), 0);
		pcapng_close(reader);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(interfaces_may_differ),
		cmocka_unit_test(sections_one_after_another),
		cmocka_unit_test(packet_blocks_of_every_kind),
		cmocka_unit_test(units_of_time),
		cmocka_unit_test(cut_at_each_byte),
		cmocka_unit_test(blocks_that_are_none),
		cmocka_unit_test(interfaces_without_end),
		cmocka_unit_test(a_filter_for_each_link),
		cmocka_unit_test(links_that_nothing_parses),
		cmocka_unit_test(flags_name_the_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
