// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * kern_replay.c - captures made here, through the program: time is the capture's, a
 * packet is the same in all link types, directions are told apart, and no file is too
 * strange.
 * stubs: shield_validate shield_cache shield_joined
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "config/config.h"
#include "kern/kern_support.h"
#include "lib/jsonl.h"
#include "replay/replay.h"
#include "rounds.h"

#define OOB	 "\xff\xff\xff\xff"
#define SERVER	 "198.51.100.1"
#define PORT	 27960
#define ROWS_MAX 4096

enum {
	LINK_NULL = 0,
	LINK_ETHERNET = 1,
	LINK_RAW = 101,
	LINK_SLL = 113,
	LINK_SLL2 = 276,
};

/* --- a capture ------------------------------------------------------------------- */

static char path[] = "/tmp/kern_replay.XXXXXX";
static FILE *capture;
static uint32_t capture_link;
static uint64_t now_us; /* of the next packet */

static void put32(uint32_t value)
{
	assert_int_equal(fwrite(&value, sizeof(value), 1, capture), 1);
}

static void capture_begin(uint32_t link)
{
	capture = fopen(path, "we");
	assert_non_null(capture);
	capture_link = link;
	put32(0xa1b2c3d4);
	put32(2 | 4 << 16);
	put32(0);
	put32(0);
	put32(262144);
	put32(link);
	now_us = 1700000000ull * 1000000;
}

static void put_frame(const void *frame, size_t captured, size_t length)
{
	put32((uint32_t)(now_us / 1000000));
	put32((uint32_t)(now_us % 1000000));
	put32((uint32_t)captured);
	put32((uint32_t)length);
	assert_int_equal(fwrite(frame, 1, captured, capture), captured);
}

/* The link header in place of Ethernet's @frame; how long it is. */
static size_t link_head(const __u8 *frame, bool sent, __u8 *to)
{
	memset(to, 0, 32);
	switch (capture_link) {
	case LINK_NULL:
		to[0] = 2;
		return 4;
	case LINK_SLL:
		to[1] = sent ? 4 : 0;
		memcpy(to + 14, frame + 12, 2);
		return 16;
	case LINK_SLL2:
		memcpy(to, frame + 12, 2);
		to[10] = sent ? 4 : 0;
		return 20;
	case LINK_RAW:
		return 0;
	default:
		memcpy(to, frame, 14);
		return 14;
	}
}

static void put_datagram(struct frame_spec s, bool sent, const void *payload, size_t n)
{
	__u8 frame[FRAME_MAX], bytes[FRAME_MAX + 32];
	size_t length, head;

	s.payload = payload;
	s.n = n;
	length = frame_build(&s, frame);
	head = link_head(frame, sent, bytes);
	memcpy(bytes + head, frame + 14, length - 14);
	put_frame(bytes, head + length - 14, head + length - 14);
}

static void ask(const char *from, __u16 port)
{
	put_datagram((struct frame_spec){ .from = from, .to = SERVER, .sport = port },
		     false, OOB "getstatus", 13);
}

static void answer(const char *to, __u16 port)
{
	put_datagram(
		(struct frame_spec){
			.from = SERVER, .to = to, .sport = PORT, .dport = port },
		true, OOB "statusResponse\n\\a\\b\n", 24);
}

/* --- a replay ---------------------------------------------------------------------- */

static struct config *config, *other;

static struct row {
	uint64_t number;
	bool out, other;
	enum replay_skip skip;
	enum reason reason;
	enum other what;
	bool passes;
} rows[ROWS_MAX];
static size_t row_count;
static char *lines; /* all of JSON */
static size_t lines_n;

static void take(const struct replay_packet *p, void *context)
{
	struct row *row = &rows[row_count % ROWS_MAX];

	row_count++;
	*row = (struct row){ .number = p->number,
			     .out = p->out,
			     .other = !p->by[0].service,
			     .skip = p->by[0].skip,
			     .reason = p->by[0].verdict.reason,
			     .what = p->by[0].verdict.other,
			     .passes = p->by[0].verdict.passes };
	replay_to_json(context, p, false, other);
}

static void nothing(void *context, const char *name, FILE *file)
{
	(void)context, (void)name, (void)file;
}

static void no_step(void *context)
{
	(void)context;
}

/* Replay the capture, @times over; the result of the last. */
static int replay_times(unsigned int times)
{
	const struct replay_how how = { .begin = nothing, .step = no_step };
	static struct jsonl json;
	struct replay *replay = NULL;
	FILE *out;
	int err = 0;

	assert_int_equal(fclose(capture), 0);
	free(lines);
	lines = NULL;
	out = open_memstream(&lines, &lines_n);
	assert_non_null(out);
	jsonl_init(&json, out);
	row_count = 0;
	assert_int_equal(replay_open(config, other, take, &json, &replay), 0);
	while (times--)
		err = replay_file(replay, path, &how);
	jsonl_flush(&json);
	fclose(out);
	replay_print(replay, fopen("/dev/null", "we"));
	replay_close(replay);
	return err;
}

static void replay(void)
{
	assert_int_equal(replay_times(1), 0);
}

static size_t count(enum reason reason)
{
	size_t n = 0;

	for (size_t i = 0; i < row_count; i++)
		n += !rows[i].skip && !rows[i].other && rows[i].reason == reason;
	return n;
}

static struct config *config_new(__u64 burst)
{
	struct config *c = calloc(1, sizeof(*c));
	struct config_service *s = &c->services[0];

	assert_non_null(c);
	config_empty(c);
	c->service_count = 1;
	s->service.family = FAMILY_QUAKE3;
	config_service_defaults(FAMILY_QUAKE3, &s->service);
	strcpy(s->service.name, "ffa");
	s->service.active = 1;
	s->service.validation = VALIDATION_OFF;
	s->service.budget[CLASS_QUERY].source = kern_rate(1, burst);
	s->ports[s->port_count++] = PORT;
	return c;
}

static int begin(void **state)
{
	(void)state;
	config = config_new(4);
	other = NULL;
	/* Stubs are in the place of what validates and of what answers from the cache. */
	if (getenv("TEST_STUBS"))
		config->services[0].service.cache = CACHE_OFF;
	return 0;
}

static int end(void **state)
{
	(void)state;
	free(config);
	free(other);
	return 0;
}

/* --- tests ------------------------------------------------------------------------- */

/* A limit refills as the capture's time goes on, however fast it is replayed. */
static void time_is_the_captures(void **state)
{
	(void)state;
	capture_begin(LINK_ETHERNET);
	for (int i = 0; i < 10; i++)
		ask("192.0.2.1", 1234);
	now_us += 2000000;
	for (int i = 0; i < 10; i++)
		ask("192.0.2.1", 1234);
	now_us += 3600ull * 1000000;
	for (int i = 0; i < 10; i++)
		ask("192.0.2.1", 1234);
	replay();
	assert_int_equal(count(REASON_WITHIN_LIMITS), 4 + 2 + 4);
	assert_int_equal(count(REASON_SOURCE_LIMIT), 20);
}

/* Time that steps back is no time: nothing refills meanwhile. */
static void time_never_goes_back(void **state)
{
	(void)state;
	capture_begin(LINK_ETHERNET);
	for (int i = 0; i < 200; i++) {
		ask("192.0.2.1", 1234);
		now_us += i % 2 ? 500000 : -500000;
	}
	for (int i = 0; i < 50; i++) {
		ask("192.0.2.1", 1234);
		now_us -= 90000000;
	}
	replay();
	assert_int_equal(row_count, 250);
	assert_int_equal(count(REASON_WITHIN_LIMITS), 4);
}

/* The same datagrams in each link type, from both sides of the server. */
static void link_types_are_judged_alike(void **state)
{
	static const uint32_t links[] = { LINK_ETHERNET, LINK_RAW, LINK_NULL, LINK_SLL,
					  LINK_SLL2 };
	struct row first[ROWS_MAX];
	size_t n = 0;

	(void)state;
	/* Each is a load of the shield: `make quick` tries the first and the last. */
	for (size_t i = 0; i < COUNT(links); i += rounds_are_few() ? 4 : 1) {
		capture_begin(links[i]);
		for (int k = 0; k < 6; k++) {
			ask("192.0.2.1", 1234);
			answer("192.0.2.1", 1234);
		}
		put_datagram((struct frame_spec){ .dport = 9 }, false, "x", 1);
		replay();
		if (!i) {
			n = row_count;
			memcpy(first, rows, sizeof(first));
		}
		assert_int_equal(row_count, 13);
		assert_int_equal(n, row_count);
		assert_memory_equal(first, rows, n * sizeof(*rows));
		assert_int_equal(count(REASON_SOURCE_LIMIT), 2);
		assert_true(rows[1].out && !rows[0].out);
		assert_true(rows[12].other && rows[12].what == OTHER_NO_SERVICE);
	}
}

/* Clients with the server's port: the server is at the address that is in all packets. */
static void the_server_is_where_all_packets_are(void **state)
{
	static const char *const clients[] = { "192.0.2.1", "192.0.2.2", "203.0.113.9" };

	(void)state;
	capture_begin(LINK_ETHERNET);
	/* The first packet is one that the server sends in the game. */
	put_datagram(
		(struct frame_spec){
			.from = SERVER, .to = clients[0], .sport = PORT, .dport = PORT },
		true, "\1\0\0\0snapshot", 12);
	for (size_t i = 0; i < COUNT(clients); i++) {
		ask(clients[i], PORT);
		answer(clients[i], PORT);
	}
	replay();
	for (size_t i = 0; i < row_count; i++)
		assert_int_equal(rows[i].out, !(i % 2));
}

/* A datagram of a server to another one at its address leaves, and then arrives. */
static void a_packet_within_the_host_is_judged_twice(void **state)
{
	(void)state;
	capture_begin(LINK_NULL);
	put_datagram((struct frame_spec){ .from = "127.0.0.1",
					  .to = "127.0.0.1",
					  .sport = PORT,
					  .dport = PORT },
		     false, OOB "getstatus", 13);
	replay();
	assert_int_equal(row_count, 2);
	assert_true(rows[0].out && !rows[1].out && rows[1].number == 1);
}

/* Bytes that the capture cut off are zeros to the program; without headers there is no
 * verdict.
 */
static void cut_packets_are_told(void **state)
{
	struct frame_spec s = { .payload = OOB "getstatus 0123456789abcdef", .n = 30 };
	__u8 frame[FRAME_MAX];
	size_t n = frame_build(&s, frame);

	(void)state;
	capture_begin(LINK_ETHERNET);
	put_frame(frame, n - 8, n);
	for (size_t captured = 0; captured < 42; captured++)
		put_frame(frame, captured, n);
	replay();
	assert_int_equal(row_count, 43);
	assert_int_equal(rows[0].skip, SKIP_NONE);
	assert_int_equal(rows[0].reason, REASON_WITHIN_LIMITS);
	for (size_t i = 1; i < row_count; i++)
		assert_int_equal(rows[i].skip, SKIP_CUT);
	assert_non_null(strstr(lines, "\"missing\":8"));
}

/* Frames of any length, and lengths of any size; none ends the replay. */
static void no_length_is_too_strange(void **state)
{
	static __u8 big[200000];
	struct frame_spec s = { .payload = OOB "getinfo", .n = 11 };
	size_t n = frame_build(&s, big);

	(void)state;
	capture_begin(LINK_ETHERNET);
	put_frame(big, n, 0);
	put_frame(big, n, 1);
	put_frame(big, n, 0xffffffff);
	for (size_t length = 0; length < sizeof(big); length += length < 64 ? 1 : 733)
		put_frame(big, length, length);
	put_frame(big, sizeof(big), sizeof(big));
	replay();
	assert_int_equal(rows[0].skip, SKIP_NONE);
	assert_int_equal(rows[1].skip, SKIP_NONE);
	assert_int_equal(rows[2].skip, SKIP_TOO_LONG);
	assert_int_equal(rows[row_count - 1].skip, SKIP_TOO_LONG);
}

/* A frame that the program would not get in one piece is not judged: it is no broken one.
 */
static void long_frames_are_judged_whole_or_not_at_all(void **state)
{
	static __u8 bytes[4096];
	struct frame_spec s = { .payload = OOB "zz", .n = 6 };

	(void)state;
	frame_build(&s, bytes);
	capture_begin(LINK_ETHERNET);
	for (size_t n = 3000; n <= sizeof(bytes); n++) {
		bytes[16] = (__u8)((n - 14) >> 8);
		bytes[17] = (__u8)(n - 14);
		bytes[38] = (__u8)((n - 34) >> 8);
		bytes[39] = (__u8)(n - 34);
		put_frame(bytes, n, n);
		now_us += 100 * 1000000;
	}
	replay();
	assert_int_equal(rows[0].reason, REASON_WITHIN_LIMITS);
	for (size_t i = 0; i < row_count; i++)
		assert_int_equal(rows[i].skip, i <= 520 ? SKIP_NONE : SKIP_TOO_LONG);
	assert_null(strstr(lines, "unparsed"));
}

static long memory_kb(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

/* As many sources as there are packets: memory does not grow with them. */
static void memory_is_bounded(void **state)
{
	const unsigned int packets = rounds_of(5000);
	long before = 0;

	(void)state;
	for (unsigned int times = 1; times <= 8; times *= 8) {
		capture_begin(LINK_ETHERNET);
		for (unsigned int i = 0; i < packets; i++) {
			char from[32];

			snprintf(from, sizeof(from), "10.%u.%u.%u", i >> 16, i >> 8 & 255,
				 i & 255);
			ask(from, (__u16)(1024 + i % 60000));
			now_us += i % 7 ? 1 : 86400ull * 1000000 * 365;
		}
		if (times == 8)
			before = memory_kb();
		assert_int_equal(replay_times(times), 0);
		assert_int_equal(row_count, packets * times);
	}
	/* The lines that this test keeps are 300 bytes each. */
	assert_in_range(memory_kb() - before, 0, 8 * packets * 300 * 3 / 1024 + 20000);
}

/* The same capture gives the same lines, to the last byte. */
static void a_replay_is_repeatable(void **state)
{
	char *first;

	(void)state;
	for (int round = 0; round < 2; round++) {
		capture_begin(LINK_ETHERNET);
		for (unsigned int i = 0; i < 3000; i++) {
			char from[32];

			snprintf(from, sizeof(from), "10.0.%u.%u", i * 7 % 13,
				 i * 3 % 11);
			ask(from, (__u16)(1024 + i % 60000));
			now_us += 3000;
		}
		replay();
		if (!round) {
			first = strdup(lines);
			assert_non_null(first);
		}
	}
	assert_in_range(count(REASON_WITHIN_LIMITS), 1, 2900);
	assert_string_equal(first, lines);
	free(first);
}

/* Both configurations judge each packet, in tables of their own. */
static void two_configurations_are_compared(void **state)
{
	size_t differ = 0;

	(void)state;
	other = config_new(6);
	other->services[0].service.cache = config->services[0].service.cache;
	capture_begin(LINK_ETHERNET);
	for (int i = 0; i < 10; i++)
		ask("192.0.2.1", 1234);
	replay();
	for (const char *at = lines; (at = strstr(at, "\"other\":{")); at++)
		differ += strstr(at, "\"reason\":\"within-limits\"}}\n") ==
			  strstr(at, "\"reason\"");
	assert_int_equal(count(REASON_WITHIN_LIMITS), 4);
	assert_int_equal(differ, 6);
}

/* The server's responses fill the cache, which then answers in its place. */
static void the_cache_learns_from_the_capture(void **state)
{
	(void)state;
	unsetenv("TEST_STUBS");
	config->services[0].service.cache = CACHE_ALWAYS;
	capture_begin(LINK_ETHERNET);
	ask("192.0.2.1", 1234);
	put_datagram(
		(struct frame_spec){
			.from = SERVER, .to = "192.0.2.1", .sport = PORT, .dport = 1234 },
		true,
		OOB
		"statusResponse\n\\sv_hostname\\a server of some length\\map\\q3dm17\n",
		68);
	for (int i = 0; i < 3; i++) {
		now_us += 5000000;
		ask("203.0.113.9", 4000);
	}
	/* The server of the capture has answered, too. */
	answer("203.0.113.9", 4000);
	replay();
	assert_int_equal(count(REASON_WITHIN_LIMITS), 2);
	assert_int_equal(count(REASON_CACHED_IN_LIMITS), 3);
	assert_int_equal(rows[row_count - 1].skip, SKIP_NOT_SENT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(time_is_the_captures),
		TEST(time_never_goes_back),
		TEST(link_types_are_judged_alike),
		TEST(the_server_is_where_all_packets_are),
		TEST(a_packet_within_the_host_is_judged_twice),
		TEST(cut_packets_are_told),
		TEST(no_length_is_too_strange),
		TEST(long_frames_are_judged_whole_or_not_at_all),
		TEST(memory_is_bounded),
		TEST(a_replay_is_repeatable),
		TEST(two_configurations_are_compared),
		TEST(the_cache_learns_from_the_capture),
	};
	int fd = mkstemp(path), failed;

	if (bpf_map_create(BPF_MAP_TYPE_ARRAY, "may", 4, 4, 1, NULL) < 0) {
		puts("skip kern_replay: not allowed to load BPF programs");
		return 0;
	}
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	close(fd);
	unlink(path);
	free(lines);
	return failed;
}
