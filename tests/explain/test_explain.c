// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_explain.c - the operands of `explain`, its frames, and the lines that it prints
 * about facts that are made up here. tests/kern/kern_explain.c has its verdicts.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <jansson.h>

#include "explain/explain.h"
#include "explain/explain_frames.h"
#include "lib/meanings.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static void addresses_are_read_with_and_without_a_port(void **state)
{
	static const struct {
		const char *text, *back;
		__u16 port;
	} rows[] = {
		{ "203.0.113.7", "203.0.113.7", 0 },
		{ "203.0.113.7:27005", "203.0.113.7:27005", 27005 },
		{ "[203.0.113.7]:1", "203.0.113.7:1", 1 },
		{ "2001:db8::1", "2001:db8::1", 0 },
		{ "[2001:db8::1]", "2001:db8::1", 0 },
		{ "[2001:db8::1]:65535", "[2001:db8::1]:65535", 65535 },
		{ "::1", "::1", 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct explain_query q = { 0 };
		char back[EXPLAIN_ADDRESS];

		assert_true(explain_parse(rows[i].text, &q));
		assert_int_equal(q.port, rows[i].port);
		explain_format(q.address, q.port, back);
		assert_string_equal(back, rows[i].back);
	}
}

static void other_operands_are_refused(void **state)
{
	static const char *const rows[] = {
		"",
		":",
		"[",
		"[]",
		"]:1",
		"[]:1",
		"[::1",
		"::1]",
		"203.0.113.0/24",
		"203.0.113.7:",
		"203.0.113.7:0",
		"203.0.113.7:65536",
		"203.0.113.7:-1",
		"203.0.113.7:1x",
		"203.0.113.777",
		"host.example",
		"[2001:db8::1]x:1",
		"2001:db8::1:2:3:4:5:6:7:8:9:1",
		"00000000000000000000000000000000000000000000000000000000000",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct explain_query q = { .port = 9 };

		if (explain_parse(rows[i], &q))
			print_error("'%s' is taken\n", rows[i]);
		assert_false(explain_parse(rows[i], &q));
		assert_int_equal(q.port, 9);
	}
}

static void frames_have_their_bounds(void **state)
{
	struct explain_end four = { .port = 1 }, six = { .port = 2 };
	static __u8 payload[EXPLAIN_FRAME], frame[EXPLAIN_FRAME];

	(void)state;
	inet_pton(AF_INET6, "::ffff:192.0.2.1", four.address);
	inet_pton(AF_INET6, "2001:db8::1", six.address);
	assert_int_equal(explain_frame(&four, &four, 64, payload, 100, frame), 142);
	assert_int_equal(explain_frame(&six, &six, 64, payload, 100, frame), 162);
	assert_int_equal(explain_frame(&four, &six, 64, payload, 100, frame), 0);
	assert_int_equal(explain_frame(&six, &six, 64, payload, EXPLAIN_FRAME - 62,
				       frame),
			 EXPLAIN_FRAME);
	assert_int_equal(
		explain_frame(&six, &six, 64, payload, EXPLAIN_FRAME - 61, frame), 0);
}

static void each_family_has_its_steps(void **state)
{
	__u8 payload[EXPLAIN_PAYLOAD];

	(void)state;
	for (int family = 0; family < FAMILY_COUNT; family++) {
		enum wire_family f = (enum wire_family)family;

		assert_in_range(explain_payload(f, ACT_QUERY, 0, NULL, payload), 8,
				EXPLAIN_PAYLOAD);
		assert_in_range(explain_payload(f, ACT_JOIN, 0, NULL, payload), 8,
				EXPLAIN_PAYLOAD);
		assert_in_range(explain_payload(f, ACT_MOVE, 0, NULL, payload),
				f == FAMILY_MASTER ? 0 : 8, EXPLAIN_PAYLOAD);
		assert_in_range(explain_payload(f, ACT_CONNECT, ~0u, NULL, payload), 0,
				EXPLAIN_PAYLOAD);
		assert_in_range(explain_answer(f, ACT_QUERY, 1400, payload), 1,
				EXPLAIN_PAYLOAD);
	}
}

/* --- datagrams --------------------------------------------------------------- */

static __u8 bytes[EXPLAIN_FRAME];
static struct explain_input input = { .bytes = bytes };

static void digits_become_bytes(void **state)
{
	static char most[2 * EXPLAIN_FRAME + 3];

	(void)state;
	assert_null(explain_read_hex("ffFF00 0a\t1b ", &input));
	assert_int_equal(input.n, 5);
	assert_memory_equal(bytes, "\xff\xff\0\x0a\x1b", 5);
	assert_non_null(explain_read_hex("", &input));
	assert_non_null(explain_read_hex("f", &input));
	assert_non_null(explain_read_hex("0 0", &input));
	assert_non_null(explain_read_hex("0x00", &input));
	assert_non_null(explain_read_hex("\xff\xff", &input));
	memset(most, '0', 2 * EXPLAIN_FRAME);
	assert_null(explain_read_hex(most, &input));
	assert_int_equal(input.n, EXPLAIN_FRAME);
	memset(most, '0', 2 * EXPLAIN_FRAME + 2);
	assert_non_null(explain_read_hex(most, &input));
}

/* A file of the @n bytes at @data, read. */
static int file_read(const void *data, size_t n)
{
	char path[] = "/tmp/test_explain.XXXXXX";
	int fd = mkstemp(path), err;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, n), n);
	close(fd);
	err = explain_read_file(path, &input);
	unlink(path);
	return err;
}

static void files_hold_a_datagram_or_a_capture(void **state)
{
	static __u8 capture[24 + 16 + EXPLAIN_FRAME], large[EXPLAIN_FRAME + 1];
	const __u32 head[6] = { 0xa1b2c3d4, 0x00040002, 0, 0, 65535, 1 };
	struct explain_end from = { .port = 5 }, to = { .port = 27960 };
	__u32 packet[4] = { 0 };
	size_t n;

	(void)state;
	assert_int_equal(file_read("abc", 3), 0);
	assert_int_equal(input.n, 3);
	assert_false(input.framed);
	assert_int_equal(file_read("", 0), -EINVAL);
	assert_int_equal(file_read(large, sizeof(large)), -E2BIG);
	assert_int_equal(file_read(large, sizeof(large) - 1), 0);
	assert_int_equal(explain_read_file("/nonexistent", &input), -ENOENT);
	inet_pton(AF_INET6, "::ffff:192.0.2.1", from.address);
	inet_pton(AF_INET6, "::ffff:192.0.2.2", to.address);
	n = explain_frame(&from, &to, 64, "getstatus", 9, capture + 40);
	packet[2] = packet[3] = (__u32)n;
	memcpy(capture, head, sizeof(head));
	memcpy(capture + 24, packet, sizeof(packet));
	assert_int_equal(file_read(capture, 40 + n), 0);
	assert_true(input.framed);
	assert_int_equal(input.n, n);
	assert_memory_equal(input.bytes + n - 9, "getstatus", 9);
	/* Cut off, and empty. */
	assert_int_equal(file_read(capture, 40 + n - 3), -EINVAL);
	assert_int_equal(file_read(capture, 24), -EINVAL);
	/* No capture behind the magic, and one of an unknown link. */
	assert_int_equal(file_read(capture, 4), -EINVAL);
	capture[20] = 147;
	assert_int_equal(file_read(capture, 40 + n), -EINVAL);
	assert_int_equal(explain_read_file("/", &input), -EISDIR);
}

/* The shield sees no datagram that was put together, but its fragments. */
static void a_capture_is_judged_frame_by_frame(void **state)
{
	static __u8 capture[24 + 4 * (16 + 200)];
	const __u32 head[6] = { 0xa1b2c3d4, 0x00040002, 0, 0, 65535, 1 };
	struct explain_end from = { .port = 5 }, to = { .port = 27960, .mac = { 6 } };
	__u8 frame[EXPLAIN_FRAME];
	size_t n, at = sizeof(head);

	(void)state;
	inet_pton(AF_INET6, "::ffff:192.0.2.1", from.address);
	inet_pton(AF_INET6, "::ffff:192.0.2.2", to.address);
	memcpy(capture, head, sizeof(head));
	n = explain_frame(&from, &to, 9, "getstatus1234567", 16, frame);
	for (int i = 0; i < 4; i++) {
		/* No IP, a later fragment, the first one, and the later one once more. */
		const __u8 fragment[4][2] = { { 0 }, { 0, 3 }, { 0x20, 0 }, { 0, 3 } };
		__u32 packet[4] = { 0, 0, (__u32)n, (__u32)n };

		frame[12] = i ? 8 : 7;
		frame[20] = fragment[i][0];
		frame[21] = fragment[i][1];
		memcpy(capture + at, packet, sizeof(packet));
		memcpy(capture + at + sizeof(packet), frame, n);
		at += sizeof(packet) + n;
	}
	assert_int_equal(file_read(capture, at), 0);
	assert_true(input.framed);
	assert_int_equal(input.n, n);
	frame[20] = 0x20;
	frame[21] = 0;
	assert_memory_equal(input.bytes, frame, n);
}

/* --- what is printed --------------------------------------------------------- */

static struct explain_service service;
static struct explain facts;

static void facts_begin(void)
{
	memset(&facts, 0, sizeof(facts));
	memset(&service, 0, sizeof(service));
	assert_true(explain_parse("192.0.2.9", &facts.query));
	facts.host = about_host(facts.query.address);
	facts.same_program = true;
	facts.now_ns = 1000000000000ull;
	facts.allowance.off = true;
	facts.services = &service;
	facts.service_count = 1;
	strcpy(service.service.name, "ffa");
	service.service.family = FAMILY_QUAKE3;
	service.port = 27960;
	service.server.answered = 1;
}

static void prints(const char *line)
{
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	assert_non_null(out);
	service.cause_count = 0;
	explain_causes(&facts, &service);
	explain_print(&facts, out);
	fclose(out);
	if (!strstr(text, line))
		print_error("not '%s' in:\n%s", line, text);
	assert_non_null(strstr(text, line));
	free(text);
}

static struct explain_step *step(const char *name, enum reason reason)
{
	struct explain_step *ret = &service.steps[service.step_count++];

	*ret = (struct explain_step){ .name = name };
	ret->in.judged = true;
	ret->in.kind = KIND_GETSTATUS;
	ret->in.reason = reason;
	ret->in.passes = reason_verdict(reason) == VERDICT_PASS;
	return ret;
}

static void facts_become_lines(void **state)
{
	struct explain_step *s;

	(void)state;
	facts_begin();
	prints("192.0.2.9\n  lists       none\n  known       no\n"
	       "  allowance   not limited\n"
	       "service 'ffa' (quake3, port 27960)\n");
	prints("  because     nothing here keeps it from playing\n");
	s = step("query", REASON_SOURCE_LIMIT);
	s->limited = true;
	s->limits.class = CLASS_QUERY;
	for (int i = 0; i < ABOUT_LEVEL_COUNT; i++)
		s->limits.level[i].limit = (struct limit){ 0, 1ull << 62 };
	s->limits.level[ABOUT_SOURCE] = (struct about_bucket){
		{ 1000000000, 2000000000 },
		facts.now_ns + 1500000000,
	};
	prints("  next        query (getstatus, class query) is dropped: source-limit\n"
	       "              left: source 0 of 2\n");
	s->limits.group = ABOUT_OF_VALIDATED;
	prints("  left as a validated client: source 0 of 2\n");
	s->limits.class = CLASS_CONNECT;
	prints("  left of class connect as a validated client: source 0 of 2\n");
	s->limits.group = ABOUT_OF_ALLOWED;
	prints("  left as an allowed source: source 0 of 2\n");
	s->in.reason = REASON_PREFIX_LIMIT;
	prints("has exceeded its limit: 0 of 2 left for the source, the next in 0.5 s\n");
	s->in.reason = REASON_SOURCE_LIMIT;
	s->limits.group = ABOUT_OF_CLASS;
	s->limits.class = CLASS_QUERY;
	prints("has exceeded its limit: 0 of 2 left for the source, the next in 0.5 s\n");
	s->limits.level[ABOUT_SOURCE].limit.burst_ns = 0;
	prints("has exceeded its limit: the limit of the source is 0\n");
	s->in.passes = true;
	prints("passes, though it would be dropped: the service only observes");
	service.service.observe = true;
	prints("  would be    source-limit: ");
	prints("  because     nothing here keeps it from playing\n");
	/* That is no matter of the shield. */
	service.server.speaks = 1 << FAMILY_QUAKE2;
	prints("  because     other-protocol: ");
	service.server.speaks = 0;
	service.service.observe = false;
	s->error = -EINVAL;
	prints("  next        query: not judged: Invalid argument\n");
	facts.same_program = false;
	prints("the loaded program is another build than this command");
	facts.service_count = 0;
	prints("  because     no-service: no service is configured\n");
}

static void refusals_and_lists_become_causes(void **state)
{
	(void)state;
	facts_begin();
	service.refusals[0] = (struct explain_refusal){
		.class = CLASS_CONNECT,
		.reason = REASON_ADDRESS_IN_USE,
		.age_ns = 1500000000,
	};
	service.refusal_count = 1;
	prints("  refused     1.5 s ago: class connect, address-in-use\n");
	prints("  has been    address-in-use: 1.5 s ago a datagram of class connect was "
	       "dropped");
	/* A challenge is no refusal. */
	service.refusals[0].reason = REASON_CHALLENGED;
	prints("nothing here keeps it");
	facts.deny.has = true;
	facts.deny.entry.origins = LIST_RUNTIME;
	strcpy(facts.deny.entry.comment, "a\x1b[31mred");
	facts.deny.network = (struct cidr){ .length = 120 };
	facts.deny.network.addr[2] = htonl(0xffff);
	facts.deny.network.addr[3] = htonl(0xc0000200);
	prints("deny-list: 192.0.2.0/24 is on the deny list, by `deny add`: a?[31mred\n");
	facts.allow.has = true;
	prints("nothing here keeps it");
}

static void a_silent_server_needs_evidence(void **state)
{
	struct explain_server *server = &service.server;

	(void)state;
	facts_begin();
	server->answered = 0;
	server->asked = 9; /* not all are answered */
	server->requests = 2;
	prints("nothing here keeps it");
	server->requests = 3;
	prints("server-silent: 3 requests have passed to the server, and it has sent "
	       "nothing");
	server->answered = 5;
	/* It may be in another network namespace, unless it was seen here. */
	server->sockets_known = true;
	prints("nothing here keeps it");
	server->known = true;
	prints("server-silent: no socket is bound to port 27960 here any more");
	server->socket = true;
	/* Without a daemon nothing is asked; nor is it where nothing is cached. */
	server->cached = true;
	server->cached_age_ns = 60000000000ull;
	service.service.cache = CACHE_UNDER_LOAD;
	prints("nothing here keeps it");
	facts.query.daemon = true;
	prints("server-silent: the server has not answered the daemon for 1m");
	/* Three questions were lost in a change of level: 4 s, 1.2 s, and 15 s alone. */
	server->cached_age_ns = 21000000000ull;
	prints("nothing here keeps it");
	server->cached_age_ns = 60000000000ull;
	service.service.cache = CACHE_OFF;
	prints("nothing here keeps it");
	/* A response that is too long is not kept, but the server is well. */
	service.service.cache = CACHE_UNDER_LOAD;
	server->sent_ns = facts.now_ns - 1000000000;
	prints("nothing here keeps it");
	server->sent_ns = facts.now_ns - 60000000000;
	prints("server-silent: the server has not answered the daemon for 1m");
}

static void sentences_are_told_whole(void **state)
{
	(void)state;
	for (int reason = 0; reason < REASON_COUNT; reason++) {
		const struct meaning *meaning = reason_meaning((enum reason)reason);

		if (reason_verdict((enum reason)reason) != VERDICT_DROP)
			continue;
		facts_begin();
		step("query", (enum reason)reason);
		prints(meaning->what);
		service.step_count = 0;
		service.refusals[0].reason = (enum reason)reason;
		service.refusal_count = 1;
		prints(meaning->what);
	}
	facts_begin();
	facts.deny.has = true;
	facts.deny.entry.origins = LIST_RUNTIME;
	assert_true(cidr_parse("2001:db8:1234:5678:9abc:def0:1234:5678",
			       &facts.deny.network));
	memset(facts.deny.entry.comment, 'x', LIST_COMMENT - 1);
	prints("2001:db8:1234:5678:9abc:def0:1234:5678 is on the deny list, by `deny "
	       "add`: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n");
}

static void the_file_that_lists_is_named(void **state)
{
	static const char text[] = "# deny = {\"192.0.2.0/24\"}\n"
				   "allow = {\"192.0.2.0/24\"}\n"
				   "deny = {\"172.16.0.0/12\"}\n"
				   "service ffa { address = 192.0.2.0/24 }\n"
				   "deny = {\"10.0.0.0/8\",\n"
				   "\t\"192.0.2.0/24\"} # here\n"
				   "follow = {\"192.0.2.1\"}\n";
	char path[] = "/tmp/test_explain.XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
	close(fd);
	facts_begin();
	facts.deny.has = true;
	facts.deny.entry.origins = LIST_CONFIG;
	assert_true(cidr_parse("192.0.2.0/24", &facts.deny.network));
	explain_lines(&facts, path);
	unlink(path);
	assert_int_equal(facts.deny.line, 6);
	prints(":6\n");
	explain_lines(&facts, "/nonexistent");
}

static void control_characters_stay_out_of_json(void **state)
{
	json_t *all;
	char *text;

	(void)state;
	facts_begin();
	step("query", REASON_DENY_LIST);
	facts.deny.has = true;
	facts.deny.entry.origins = LIST_RUNTIME;
	strcpy(facts.deny.entry.comment, "\x1b[31m");
	explain_causes(&facts, &service);
	all = explain_to_json(&facts);
	assert_non_null(all);
	text = json_dumps(all, JSON_COMPACT);
	assert_non_null(text);
	assert_null(strchr(text, '\x1b'));
	assert_non_null(strstr(text, "\"causes\":[{\"cause\":\"deny-list\""));
	free(text);
	json_decref(all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_are_read_with_and_without_a_port),
		cmocka_unit_test(other_operands_are_refused),
		cmocka_unit_test(frames_have_their_bounds),
		cmocka_unit_test(each_family_has_its_steps),
		cmocka_unit_test(digits_become_bytes),
		cmocka_unit_test(files_hold_a_datagram_or_a_capture),
		cmocka_unit_test(a_capture_is_judged_frame_by_frame),
		cmocka_unit_test(facts_become_lines),
		cmocka_unit_test(refusals_and_lists_become_causes),
		cmocka_unit_test(a_silent_server_needs_evidence),
		cmocka_unit_test(sentences_are_told_whole),
		cmocka_unit_test(the_file_that_lists_is_named),
		cmocka_unit_test(control_characters_stay_out_of_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
