// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_held_capture.c - all that is said of frames of every link type, of captures with
 * packets whole and in pieces, of fragments by dice, and of demos: as they are, and with
 * many small changes.
 */
#include <pcap/dlt.h>

#include "capture/capture.h"
#include "capture/demo.h"
#include "capture/reassembly.h"
#include "fuzz/held_text.h"
#include "lib/util.h"

static void hex(FILE *out, const void *bytes, size_t n)
{
	for (size_t i = 0; i < n && i < 48; i++)
		fprintf(out, "%02x", ((const uint8_t *)bytes)[i]);
	if (n > 48)
		fprintf(out, ".. %016" PRIx64, held_sum(HELD_BEGIN, bytes, n));
}

static void address_put(FILE *out, const struct record_address *a)
{
	fprintf(out, "%u:", a->length);
	hex(out, a->bytes, sizeof(a->bytes));
	fprintf(out, ":%u ", a->port);
}

static void datagram_put(FILE *out, const struct datagram *d)
{
	fprintf(out, "%llu %lld ", (unsigned long long)d->frame, (long long)d->time_ns);
	address_put(out, &d->source);
	address_put(out, &d->destination);
	fprintf(out, "%d %s %d %d %zu of %zu ", d->damage, d->reason ? d->reason : "-",
		d->has_family, d->direction, d->n, d->length);
	hex(out, d->payload, d->n);
	fputc('\n', out);
}

/* --- bytes in a row ------------------------------------------------------------------
 */

static struct {
	uint8_t bytes[HELD_INPUT];
	size_t n;
} row;

static void put(const void *bytes, size_t n)
{
	assert_true(n <= sizeof(row.bytes) - row.n);
	memcpy(row.bytes + row.n, bytes, n);
	row.n += n;
}

static void put_be16(unsigned int value)
{
	put((uint8_t[]){ (uint8_t)(value >> 8), (uint8_t)value }, 2);
}

static void put_le32(uint32_t value)
{
	for (int i = 0; i < 4; i++)
		put((uint8_t[]){ (uint8_t)(value >> 8 * i) }, 1);
}

#define PUT(literal) put(literal, sizeof(literal) - 1)

/* In front of IP: what stands for IPv4 and, where it is another, for IPv6. */
static const struct {
	int link;
	const char *v4, *v6;
	size_t n;
} links[] = {
	{ DLT_RAW, "", "", 0 },
	{ DLT_IPV4, "", "", 0 },
	{ DLT_IPV6, "", "", 0 },
	{ DLT_EN10MB,
	  "dddddd"
	  "ssssss\x08\0",
	  "dddddd"
	  "ssssss\x86\xdd",
	  14 },
	{ DLT_EN10MB, "ddddddssssss\x81\0vv\x88\xa8vv\x91\0vv\x08\0",
	  "ddddddssssss\x81\0vv\x88\xa8vv\x91\0vv\x86\xdd", 26 },
	{ DLT_EN10MB, "ddddddssssss\x88\x64pppppp\0\x21",
	  "ddddddssssss\x88\x64pppppp\0\x57", 22 },
	{ DLT_LINUX_SLL, "12345678901234\x08\0", "12345678901234\x86\xdd", 16 },
	{ DLT_LINUX_SLL2,
	  "\x08\0"
	  "123456789012345678",
	  "\x86\xdd"
	  "123456789012345678",
	  20 },
	{ DLT_NULL, "\2\0\0\0", "\x1e\0\0\0", 4 },
	{ DLT_LOOP, "\0\0\0\2", "\0\0\0\x1e", 4 },
	{ DLT_ENC, "123456789012", "123456789012", 12 },
	{ DLT_PPP, "\xff\3\0\x21", "\xff\3\0\x57", 4 },
	{ DLT_PPP_SERIAL, "\0\x21", "\0\x57", 2 },
	{ DLT_PPP_PPPD, "\1\3\0\x21", "\1\3\0\x57", 4 },
	{ DLT_PPP_ETHER, "123456\0\x21", "123456\0\x57", 8 },
	{ DLT_C_HDLC, "\x0f\0\x08\0", "\x0f\0\x86\xdd", 4 },
	{ DLT_NFLOG, "1234\5\0\1\0x\0\0\0\6\0\2\0yy\0\0\x40\0\x9\0",
	  "1234\5\0\1\0x\0\0\0\6\0\2\0yy\0\0\x40\0\x9\0", 24 },
	{ 147, "", "", 0 },
};

/* A datagram of @n bytes in IPv4, with @options words behind its header. */
static void put_ipv4(size_t n, unsigned int options, unsigned int protocol)
{
	static const uint8_t ends[] = { 192, 0, 2, 1, 198, 51, 100, 2 };

	put((uint8_t[]){ (uint8_t)(0x45 + options), 0 }, 2);
	put_be16((unsigned int)(28 + 4 * options + n));
	PUT("\x12\x34\0\0\x40");
	put((uint8_t[]){ (uint8_t)protocol, 0, 0 }, 3);
	put(ends, sizeof(ends));
	for (unsigned int i = 0; i < options; i++)
		PUT("\1\1\1\1");
	PUT("\x6d\x38\x6d\x39");
	put_be16((unsigned int)(8 + n));
	PUT("\0\0");
	for (size_t i = 0; i < n; i++)
		put((uint8_t[]){ (uint8_t)(i + 'a') }, 1);
}

/* The same in IPv6, behind headers of these kinds. */
static void put_ipv6(size_t n, const char *headers, size_t count)
{
	PUT("\x60\0\0\0");
	put_be16((unsigned int)(8 + 8 * count + n));
	put((uint8_t[]){ count ? (uint8_t)headers[0] : 17, 64 }, 2);
	PUT("\x20\1\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\1");
	PUT("\x20\1\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\2");
	for (size_t i = 0; i < count; i++) {
		put((uint8_t[]){ i + 1 < count ? (uint8_t)headers[i + 1] : 17, 0 }, 2);
		PUT("\0\0\0\0\0\7");
	}
	PUT("\x6d\x38\x6d\x39");
	put_be16((unsigned int)(8 + n));
	PUT("\0\0");
	for (size_t i = 0; i < n; i++)
		put((uint8_t[]){ (uint8_t)(i + 'A') }, 1);
}

/* --- one frame -----------------------------------------------------------------------
 */

/* The first byte says which link type. */
static void say_frame(FILE *out, const char *bytes, size_t n)
{
	struct datagram d = { .frame = 7, .time_ns = 8 };
	struct packet p;
	int link;

	if (!n)
		return;
	link = links[(uint8_t)bytes[0] % ARRAY_SIZE(links)].link;
	fprintf(out, "known %d, parsed %d, ", packet_link_known(link),
		packet_parse(link, (const uint8_t *)bytes + 1, n - 1, &p));
	if (p.pass != PASS_NOT_IP)
		fprintf(out, "%s\n",
			p.pass < PASS_COUNT ? packet_pass_names[p.pass] : "?");
	if (!p.bytes)
		return;
	address_put(out, &p.source);
	address_put(out, &p.destination);
	fprintf(out, "%u at %td, %zu of %zu, fragment %d more %d id %x offset %zu: %s\n",
		p.protocol, (const char *)p.bytes - bytes, p.captured, p.length,
		p.fragment, p.more, p.id, p.offset, packet_pass_names[packet_pass(&p)]);
	if (packet_udp(&p, &d))
		datagram_put(out, &d);
}

static void say_row(held_say *say)
{
	held_input(say, (const char *)row.bytes, row.n);
	held_beginnings(say, (const char *)row.bytes, row.n < 300 ? row.n : 300);
	row.n = 0;
}

static void frames(void **state)
{
	static const uint8_t protocols[] = { 0,	 1,  4,	 6,  17, 41, 43,
					     44, 47, 51, 58, 60, 135 };

	(void)state;
	held_begin();
	for (size_t l = 0; l < ARRAY_SIZE(links); l++) {
		uint8_t i = (uint8_t)l;

		put(&i, 1);
		put(links[i].v4, links[i].n);
		put_ipv4(5, i % 3, 17);
		say_row(say_frame);
		put(&i, 1);
		put(links[i].v6, links[i].n);
		put_ipv6(5, "\0\x2b\x3c\x87\x33", i % 6);
		say_row(say_frame);
	}
	for (size_t i = 0; i < ARRAY_SIZE(protocols); i++) {
		char one = (char)protocols[i];

		put("", 1);
		put_ipv4(4, 0, protocols[i]);
		say_row(say_frame);
		put("", 1);
		put_ipv6(4, &one, 1);
		say_row(say_frame);
	}
	for (size_t count = 7; count <= 18; count++) {
		put("", 1);
		put_ipv6(1, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", count);
		say_frame(held.out, (const char *)row.bytes, row.n);
		row.n = 0;
		/* Tags. */
		PUT("\3ddddddssssss");
		for (size_t i = 0; i < count; i++)
			PUT("\x81\0vv");
		PUT("\x08\0");
		put_ipv4(1, 0, 17);
		say_frame(held.out, (const char *)row.bytes, row.n);
		row.n = 0;
	}
	held_end("tests/capture/held_frames.txt");
}

/* --- a capture -----------------------------------------------------------------------
 */

/* Of a message: without what libpcap says, which may say it otherwise one day. */
static int ours(const char *message)
{
	static const char *const begins[] = { "no decoder for link type ", "filter '" };

	for (size_t i = 0; i < ARRAY_SIZE(begins); i++)
		if (!strncmp(message, begins[i], strlen(begins[i])))
			return (int)(strlen(begins[i]) +
				     strcspn(message + strlen(begins[i]), "(:"));
	return strcmp(message, "untouched") != 0 ? 0 : (int)strlen(message);
}

static void say_capture_file(FILE *out, const char *bytes, size_t n, const char *filter)
{
	FILE *file = fmemopen((void *)bytes, n ? n : 1, "rb");
	char message[256] = "untouched";
	struct capture *c;
	struct datagram d;
	int result;

	fprintf(out, "recognised %d\n", capture_recognise((const uint8_t *)bytes, n));
	assert_non_null(file);
	result = capture_open(file, &c, message, sizeof(message));
	if (result) {
		fprintf(out, "%d %.*s\n", result, ours(message), message);
		return;
	}
	if (filter) {
		result = capture_filter(c, filter, message, sizeof(message));
		fprintf(out, "filter %d %.*s\n", result, ours(message), message);
	}
	while ((result = capture_next(c, &d)) == 1)
		datagram_put(out, &d);
	fprintf(out, "%d%s, again %d, %llu packets:", result,
		*capture_error(c) ? " and says why" : "", capture_next(c, &d),
		(unsigned long long)capture_packets(c));
	for (int i = 0; i < PASS_COUNT; i++)
		fprintf(out, " %llu", (unsigned long long)capture_passed(c)[i]);
	fputc('\n', out);
	capture_close(c);
}

static void say_capture(FILE *out, const char *bytes, size_t n)
{
	say_capture_file(out, bytes, n, NULL);
}

static void put_head(uint32_t link)
{
	put_le32(0xa1b2c3d4);
	put_le32(2 | 4 << 16);
	put_le32(0);
	put_le32(0);
	put_le32(65535);
	put_le32(link);
}

/* Raw IPv4; of a datagram of @n bytes that part from @at on, @length long. */
static void put_fragment(uint32_t time_s, unsigned int id, size_t at, size_t length,
			 bool more)
{
	put_le32(time_s);
	put_le32(250000);
	put_le32((uint32_t)(20 + length));
	put_le32((uint32_t)(20 + length));
	PUT("\x45\0");
	put_be16((unsigned int)(20 + length));
	put_be16(id);
	put_be16((unsigned int)(at / 8 | (more ? 0x2000 : 0)));
	PUT("\x40\x11\0\0\xc0\0\2\1\xc6\x33\x64\2");
	for (size_t i = at; i < at + length; i++)
		if (i < 8)
			put(&"\x6d\x38\x6d\x39\0\x28\0\0"[i], 1);
		else
			put((uint8_t[]){ (uint8_t)(i + id) }, 1);
}

static void captures(void **state)
{
	(void)state;
	held_begin();
	put_head(101);
	put_fragment(1000, 1, 0, 40, false);
	put_fragment(1001, 2, 16, 24, false);
	put_fragment(1001, 2, 0, 16, true);
	put_fragment(1002, 3, 0, 16, true);
	put_fragment(1031, 4, 0, 40, false);
	put_fragment(1032, 5, 8, 16, true);
	put_fragment(1033, 6, 0, 40, false);
	put_fragment(1034, 3, 16, 24, false);
	say_row(say_capture);
	put_head(101);
	for (int i = 0; i < 3; i++)
		put_fragment(1000, 1, 8 * (size_t)i, 16, i < 2);
	put_fragment(1000, 2, 0, 40, true);
	put_fragment(1000, 2, 8, 8, true);
	put_fragment(1000, 2, 40, 9, true);
	put_fragment(1000, 2, 40, 0, true);
	put_fragment(1061, 2, 32, 8, false);
	say_row(say_capture);
	/* More at a time than there is room for. */
	put_head(101);
	for (unsigned int id = 0; id < REASSEMBLY_SLOTS + 3; id++)
		put_fragment(1000 + id / 8, id, 0, 16, true);
	put_fragment(1020, 60, 16, 24, false);
	say_row(say_capture);
	/* Each way to write its head, and link types that nobody knows. */
	for (uint32_t link = 0; link < 300; link += link < 20 ? 1 : 23) {
		put_head(link);
		say_capture(held.out, (const char *)row.bytes, row.n);
		row.n = 0;
	}
	put_head(101);
	put_fragment(0x7fffffff, 1, 0, 40, false);
	put_fragment(0x80000000, 1, 0, 40, false);
	put_fragment(0, 1, 0, 40, false);
	memcpy(row.bytes, "\x4d\x3c\xb2\xa1", 4);
	say_row(say_capture);
	PUT("\x0a\x0d\x0d\x0a\x1c\0\0\0\x4d\x3c\x2b\x1a\1\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff"
	    "\x1c\0\0\0\1\0\0\0\x14\0\0\0\x65\0\0\0\0\0\1\0\x14\0\0\0"
	    "\6\0\0\0\x44\0\0\0\0\0\0\0\0\0\5\0\1\0\0\0\x24\0\0\0\x24\0\0\0");
	put_ipv4(8, 0, 17);
	PUT("\x44\0\0\0");
	say_row(say_capture);
	for (int i = 0; i < 3; i++) {
		static const char *const filters[] = { "udp port 27960", "tcp",
						       "no such" };

		put_head(101);
		put_fragment(1000, 1, 0, 40, false);
		say_capture_file(held.out, (const char *)row.bytes, row.n, filters[i]);
		row.n = 0;
	}
	held_end("tests/capture/held_captures.txt");
}

/* --- fragments by dice ---------------------------------------------------------------
 */

static void fragment_add(struct reassembly *re, uint32_t *dice, uint64_t frame,
			 int64_t now)
{
	uint8_t bytes[80];
	struct packet whole, p = {
		.source = { held_dice(dice, 6) ? 4 : 16, { 1 }, 0 },
		.protocol = held_dice(dice, 9) ? 17 : 6,
		.id = held_dice(dice, held_dice(dice, 3) ? 3 : 200),
		.fragment = true,
	};
	const char *reason = "untouched";
	enum reassembly_result result;

	p.offset = 8 * held_dice(dice, 6);
	p.more = held_dice(dice, 3);
	p.length = held_dice(dice, 12) ? 8 + 8 * held_dice(dice, 4) : held_dice(dice, 40);
	p.captured =
		held_dice(dice, 8) ? p.length : held_dice(dice, (uint32_t)p.length + 1);
	p.bytes = bytes;
	p.destination.bytes[3] = (uint8_t)(held_dice(dice, 10) == 0);
	if (!held_dice(dice, 60))
		p.offset = 65528 - 8 * held_dice(dice, 3);
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(p.offset + i + (held_dice(dice, 4000) == 0));
	held_printf("%d%d", reassembly_holds(re, &p), reassembly_full(re));
	result = reassembly_add(re, &p, frame, now, &whole, &reason);
	held_printf("%d ", result);
	if (result != REASSEMBLY_WHOLE)
		return;
	fprintf(held.out, "\n%u %zu of %zu %d %s ", whole.protocol, whole.captured,
		whole.length, whole.fragment, reason ? reason : "-");
	hex(held.out, whole.bytes, whole.captured);
	fputc('\n', held.out);
}

static void give_up(struct reassembly *re, int64_t now, bool all)
{
	struct datagram when = { .frame = 0 };
	const char *reason = "untouched";
	struct packet p;

	while (reassembly_give_up(re, now, all, &p, &when, &reason)) {
		fprintf(held.out, "\ngiven up %llu %lld %s %u %zu of %zu ",
			(unsigned long long)when.frame, (long long)when.time_ns, reason,
			p.protocol, p.captured, p.length);
		hex(held.out, p.bytes, p.captured);
		fputc('\n', held.out);
		if (all)
			return;
	}
}

static void fragments(void **state)
{
	(void)state;
	held_begin();
	for (uint32_t seed = 1; seed <= 6; seed++) {
		struct reassembly *re = reassembly_create();
		uint32_t dice = seed * 2654435761U;
		int64_t now = 0;

		assert_non_null(re);
		give_up(re, 0, true);
		for (uint64_t frame = 1; frame < 200; frame++) {
			now += held_dice(&dice, seed < 4 ? 2000000000 : 200000000);
			if (!held_dice(&dice, 30))
				now -= 5000000000;
			fragment_add(re, &dice, frame, now);
			if (!held_dice(&dice, 3))
				give_up(re, now, false);
			if (reassembly_full(re))
				give_up(re, now, true);
		}
		for (int i = 0; i < REASSEMBLY_SLOTS + 1; i++)
			give_up(re, now, true);
		reassembly_free(re);
		held_printf("\n");
	}
	held_end("tests/capture/held_fragments.txt");
}

/* --- demos ---------------------------------------------------------------------------
 */

/* The first byte says which format. */
static void say_demo(FILE *out, const char *bytes, size_t n)
{
	FILE *file = n > 1 ? fmemopen((void *)(bytes + 1), n - 1, "rb")
			   : fopen("/dev/null", "r");
	struct demo_block b;
	struct demo *demo;
	int result;

	assert_non_null(file);
	demo = demo_open(file, n ? (enum demo_format)((uint8_t)bytes[0] % 9) : DEMO_NONE);
	assert_non_null(demo);
	while ((result = demo_next(demo, &b)) == 1) {
		fprintf(out, "%llu %lld %d %s %s sequence %d angles",
			(unsigned long long)b.frame, (long long)b.time_ns, b.format,
			b.direction == DIRECTION_C2S ? "c2s" : "s2c", b.kind, b.sequence);
		for (int i = 0; i < 3; i++)
			fprintf(out, " %.9g", b.angles[i]);
		fprintf(out, " track %d type %u player %u mask %x: %zu ", b.track, b.type,
			b.player, b.mask, b.n);
		hex(out, b.bytes, b.n);
		fputc('\n', out);
	}
	fprintf(out, "%d %s, again %d, %llu blocks, unfinished %d\n", result,
		demo_error(demo), demo_next(demo, &b),
		(unsigned long long)demo_blocks(demo), demo_unfinished(demo));
	demo_close(demo);
}

static void demos(void **state)
{
#define INPUT(literal)                       \
	{                                    \
		literal, sizeof(literal) - 1 \
	}
	static const struct {
		const char *bytes;
		size_t n;
	} inputs[] = {
		INPUT("\1"
		      "-1\n\3\0\0\0\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40xyz\2\0\0\x80\0\0\0\0\0\0\0"
		      "\0\0\0\0\0ab\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"),
		INPUT("\1"
		      "123456789012\n"),
		INPUT("\1"
		      "4"),
		INPUT("\1"
		      "4 \n"),
		INPUT("\1"),
		INPUT("\2\0\0\x20\x41\0"
		      "123456789012345678901234567890123456"
		      "\0\0\x80\x41\1\3\0\0\0xyz\0\0\xa0\xc1\2"
		      "12345678"),
		INPUT("\2\0\0\x20\x41\3"),
		INPUT("\3QTVSV 1.28\r\nBEGIN: x\n\n\x0d\x06\2\0\0\0ab\x05\x2c\3\0\0\0xyz"
		      "\x07\x13\x78\x56\x34\x12\1\0\0\0q\xff\x02"
		      "12345678\1\5\0\0\0\0"),
		INPUT("\3\x0d\x06\2\0\0\0ab\x0d\7"),
		INPUT("\3\x0d\x06\2\0\0\0ab\x0d\0"),
		INPUT("\3QTVSV 1.28\nno end"),
		INPUT("\4\3\0\0\0xyz\0\0\0\0\2\0\0\0ab\xff\xff\xff\xff"),
		INPUT("\4\3\0\0\0xyz"),
		INPUT("\4\3\0\2\0xyz"),
		INPUT("\5MVD2\3\0xyz\2\0ab\0\0"),
		INPUT("\5MVD2\3\0xyz"),
		INPUT("\6\1\0\0\0\3\0\0\0xyz\2\0\0\0\2\0\0\0ab\xff\xff\xff\xff\xff\xff\xff\xff"),
		INPUT("\6\1\0\0\0\xff\xff\xff\xff"),
		INPUT("\7\1\0\0\0\3\0\0\0xyz"),
		INPUT("\0x"),
	};
#undef INPUT

	(void)state;
	held_begin();
	for (size_t i = 0; i < ARRAY_SIZE(inputs); i++) {
		held_input(say_demo, inputs[i].bytes, inputs[i].n);
		held_beginnings(say_demo, inputs[i].bytes, inputs[i].n);
	}
	held_end("tests/capture/held_demos.txt");
}

/* As large as a block may be, and what grows to it. */
static void the_largest_blocks(void **state)
{
	static const uint32_t sizes[] = { 4095,
					  4096,
					  4097,
					  8192,
					  8193,
					  100,
					  DEMO_BLOCK_MAX - 1,
					  DEMO_BLOCK_MAX,
					  DEMO_BLOCK_MAX + 1 };
	static char text[DEMO_BLOCK_MAX * 4];
	char *at = text;

	(void)state;
	held_begin();
	*at++ = DEMO_DM2;
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		memcpy(at, &sizes[i], 4);
		memset(at + 4, (int)('a' + i), sizes[i]);
		at += 4 + sizes[i];
	}
	say_demo(held.out, text, (size_t)(at - text));
	for (size_t n = 65534; n <= 65538; n++) {
		text[0] = DEMO_MVD;
		memset(text + 1, 'q', n);
		memcpy(text + 1, "QTVSV 1\n", 8);
		memcpy(text + 1 + n - 2, "\n\n", 2);
		say_demo(held.out, text, n + 1);
	}
	held_end("tests/capture/held_blocks.txt");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames),
		cmocka_unit_test(captures),
		cmocka_unit_test(fragments),
		cmocka_unit_test(demos),
		cmocka_unit_test(the_largest_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
