// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_pcapng.c - blocks to the byte, and what tshark reads in them, if it is here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "lib/pcapng.h"

static uint32_t u32_at(const uint8_t *block, size_t at)
{
	uint32_t value;

	memcpy(&value, block + at, sizeof(value));
	return value;
}

/* Every block: a length that is a multiple of 4, at both of its ends. */
static unsigned int blocks_check(const uint8_t *bytes, size_t n)
{
	unsigned int blocks = 0;

	for (size_t at = 0; at < n; blocks++) {
		uint32_t length = u32_at(bytes, at + 4);

		assert_true(length >= 12 && length % 4 == 0 && length <= n - at);
		assert_int_equal(u32_at(bytes, at + length - 4), length);
		at += length;
	}
	return blocks;
}

static void beginning(void **state)
{
	uint8_t *to = malloc(PCAPNG_BEGIN_MAX);
	char name[1000];
	size_t n;

	(void)state;
	assert_non_null(to);
	n = pcapng_begin(to, "eth0", "quakeshield");
	assert_int_equal(blocks_check(to, n), 2);
	assert_int_equal(u32_at(to, 0), 0x0a0d0d0a);
	assert_int_equal(u32_at(to, 8), 0x1a2b3c4d);
	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = 0;
	n = pcapng_begin(to, name, name);
	assert_true(n <= PCAPNG_BEGIN_MAX);
	assert_int_equal(blocks_check(to, n), 2);
	free(to);
}

static void every_length_of_frame_and_comment(void **state)
{
	uint8_t *to = malloc(PCAPNG_BLOCK_MAX), frame[PCAPNG_SNAP + 100];
	char comment[PCAPNG_COMMENT_MAX + 100];

	(void)state;
	assert_non_null(to);
	memset(frame, 0xee, sizeof(frame));
	for (uint32_t kept = 0; kept <= sizeof(frame); kept += kept < 70 ? 1 : 97)
		for (size_t text = 0; text < sizeof(comment); text += text < 9 ? 1 : 83) {
			struct pcapng_packet packet = {
				.frame = frame,
				.kept = kept,
				.length = kept + 5,
				.comment = comment,
			};
			size_t n;

			memset(comment, 'c', text);
			comment[text] = 0;
			n = pcapng_packet(to, &packet);
			assert_true(n <= PCAPNG_BLOCK_MAX);
			assert_int_equal(blocks_check(to, n), 1);
			assert_int_equal(u32_at(to, 20),
					 kept < PCAPNG_SNAP ? kept : PCAPNG_SNAP);
			assert_int_equal(u32_at(to, 24), kept + 5);
		}
	free(to);
}

/* 55 octets: Ethernet, IPv4, UDP to port 27960, getstatus. */
static const uint8_t query[] = "\x02\0\0\0\0\1\x02\0\0\0\0\2\x08\0"
			       "\x45\0\0\x29\0\1\0\0\x40\x11\0\0\x0a\0\0\1\x0a\0\0\2"
			       "\x30\x39\x6d\x38\0\x15\0\0\xff\xff\xff\xffgetstatus";

static void write_file(const char *path)
{
	uint8_t to[PCAPNG_BLOCK_MAX];
	struct pcapng_packet packet = {
		.time_ns = 1795224877123456789,
		.frame = query,
		.kept = sizeof(query) - 1,
		.length = sizeof(query) - 1,
		.inbound = true,
		.xdp = true,
		.action = 1,
		.comment = "service=ffa kind=getstatus verdict=drop reason=source-limit "
			   "sampler=statistic",
	};
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	for (int section = 0; section < 2; section++) {
		size_t n = pcapng_begin(to, "eth0", "quakeshield");

		assert_int_equal(fwrite(to, 1, n, file), n);
		n = pcapng_packet(to, &packet);
		assert_int_equal(fwrite(to, 1, n, file), n);
		packet.inbound = packet.xdp = false;
		packet.action = 0;
		packet.comment = "the other way";
	}
	assert_int_equal(fclose(file), 0);
}

/* The file's lines for @fields; false: no tshark here. */
static bool tshark_reads(const char *path, const char *fields, const char *expected)
{
	char command[512], text[1024] = "";
	FILE *pipe;
	size_t n;

	if (system("command -v tshark >/dev/null"))
		return false;
	snprintf(command, sizeof(command), "tshark -r %s -T fields %s 2>/dev/null", path,
		 fields);
	pipe = popen(command, "re");
	assert_non_null(pipe);
	n = fread(text, 1, sizeof(text) - 1, pipe);
	text[n] = 0;
	assert_int_equal(pclose(pipe), 0);
	assert_string_equal(text, expected);
	return true;
}

static void tshark_opens_it(void **state)
{
	char path[] = "/tmp/test_pcapng.XXXXXX";
	int fd = mkstemp(path);
	bool there;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	write_file(path);
	there = tshark_reads(path, "-e frame.comment",
			     "service=ffa kind=getstatus verdict=drop "
			     "reason=source-limit sampler=statistic\nthe other way\n") &&
		tshark_reads(path, "-e frame.time_epoch -e frame.len -e udp.dstport",
			     "1795224877.123456789\t55\t27960\n"
			     "1795224877.123456789\t55\t27960\n") &&
		tshark_reads(path,
			     "-e frame.interface_name -e frame.packet_flags_direction",
			     "eth0\t0x00000001\neth0\t0x00000002\n") &&
		tshark_reads(path, "-e frame.verdict.ebpf_xdp -e frame.verdict.ebpf_tc",
			     "1\t\n\t0\n");
	unlink(path);
	if (!there) {
		print_message("skip tshark_opens_it: no tshark here\n");
		skip();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(beginning),
		cmocka_unit_test(every_length_of_frame_and_comment),
		cmocka_unit_test(tshark_opens_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
