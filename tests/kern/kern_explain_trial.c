// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * kern_explain_trial.c - a trial says what the program then does, of addresses and of
 * datagrams, and changes nothing of what is loaded; a watcher sees what is new.
 * stubs: shield_cache shield_joined
 */
#include "explain/explain_frames.h"
#include "explain/explain_watch.h"
#include "kern/kern_explain.h"

/* --- trials ------------------------------------------------------------------ */

/* All cells of an array of u64, as one number. */
static __u64 array_sum(int map, __u32 n)
{
	__u64 *cells = mmap(NULL, n * sizeof(*cells), PROT_READ, MAP_SHARED, map, 0),
	      sum = 0;

	assert_ptr_not_equal(cells, MAP_FAILED);
	for (__u32 i = 0; i < n; i++)
		sum = sum * 0x9e3779b97f4a7c15 + cells[i];
	munmap(cells, n * sizeof(*cells));
	return sum;
}

/* All tables of the loaded shield, as one number. */
static __u64 tables_sum(void)
{
	const __u64 *words = (const __u64 *)kern.live;
	struct counters counted;
	__u64 sum = 0;

	for (size_t i = 0; i < sizeof(*kern.live) / 8; i++)
		sum = sum * 0x9e3779b97f4a7c15 + words[i];
	for (__u32 slot = 0; slot < KERN_SLOTS; slot++) {
		kern_sum(&kern, slot, &counted);
		sum = sum * 31 + counters_packets(&counted);
	}
	return sum ^ array_sum(shield.prefixes, 1 << PREFIX_BITS) ^
	       3 * array_sum(shield.amplification, 1 << AMPLIFICATION_BITS);
}

static void explaining_charges_and_learns_nothing(void **state)
{
	struct service s = wide();
	__u64 before;

	(void)state;
	s.validation = VALIDATION_UNDER_LOAD;
	s.budget[CLASS_QUERY].source = kern_rate(1, 3);
	amplification(16384, 20);
	serve_as(&s);
	ask(PEER, HERE);
	play_on();
	before = tables_sum();
	for (int i = 0; i < 3; i++)
		explain(PEER, NULL);
	explain("2001:db8::1", NULL);
	assert_true(tables_sum() == before);
}

/* In states of many kinds the program then does what the trial has said. */
static void a_trial_says_what_the_program_does(void **state)
{
	static const char *const from[] = { PEER, NEIGHBOUR, ELSEWHERE, "192.0.3.5" };
	struct service s = wide();
	unsigned int seed = 1, dropped = 0, rounds = 60;

	(void)state;
	s.budget[CLASS_QUERY].source = kern_rate(2, 4);
	s.budget[CLASS_QUERY].prefix = kern_rate(3, 7);
	s.budget[CLASS_QUERY].service = kern_rate(9, 12);
	s.budget[CLASS_QUERY].crowd = CROWD_SHIFT;
	amplification(8192, 20);
	serve_as(&s);
	for (unsigned int i = 0; i < rounds; i++) {
		const char *who = from[(unsigned int)rand_r(&seed) % COUNT(from)];
		struct outcome o;

		explain(who, "ffa");
		o = hear_from(who, EXPLAIN_PORT, BYTES(OOB "getstatus"));
		assert_int_equal(o.reason, step("query")->in.reason);
		assert_int_equal(o.kind, step("query")->in.kind);
		assert_int_equal(o.action == XDP_PASS, step("query")->in.passes);
		dropped += o.action == XDP_DROP;
		pass_time((unsigned int)rand_r(&seed) % (SECOND / 8));
	}
	assert_in_range(dropped, 5, rounds - 5);
}

/* A limit lets as many more pass as are left of it. */
static void as_many_pass_as_are_left(void **state)
{
	static const struct {
		__u64 burst;
		__u32 crowd;
	} rows[] = { { 1, 0 }, { 5, 0 }, { 9, 0 }, { 1, 2 }, { 3, CROWD_SHIFT } };
	struct service s = wide();

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		__u64 left;

		s.budget[CLASS_QUERY].source = kern_rate(1, rows[i].burst);
		s.budget[CLASS_QUERY].crowd = rows[i].crowd;
		serve_as(&s);
		explain(PEER, NULL);
		left = about_left(&step("query")->limits.level[ABOUT_SOURCE],
				  told->now_ns);
		assert_int_equal(left, rows[i].burst << rows[i].crowd);
		for (__u64 n = 0; n < left; n++)
			ask(PEER, HERE);
		explain(PEER, NULL);
		assert_int_equal(about_left(&step("query")->limits.level[ABOUT_SOURCE],
					    told->now_ns),
				 0);
		assert_int_equal(hear_from(PEER, HERE, BYTES(OOB "getstatus")).reason,
				 REASON_SOURCE_LIMIT);
		pass_time(100 * SECOND);
	}
}

/* Each family has its own words, and the program knows them as such. */
static void each_family_is_asked_in_its_words(void **state)
{
	static const struct {
		enum wire_family family;
		enum wire_kind query, join, move;
	} rows[] = {
		{ FAMILY_QUAKE3, KIND_GETSTATUS, KIND_GETCHALLENGE, KIND_NETCHAN },
		{ FAMILY_QUAKEWORLD, KIND_STATUS, KIND_GETCHALLENGE, KIND_NETCHAN },
		{ FAMILY_QUAKE2, KIND_STATUS, KIND_GETCHALLENGE, KIND_NETCHAN },
		{ FAMILY_NETQUAKE, KIND_CCREQ_SERVER_INFO, KIND_CCREQ_CONNECT,
		  KIND_NQ_UNRELIABLE },
		{ FAMILY_QUAKE_ENHANCED, KIND_CCREQ_SERVER_INFO, KIND_DTLS_CLIENT_HELLO,
		  KIND_DTLS_DATA },
		{ FAMILY_AUTO, KIND_GETSTATUS, KIND_GETCHALLENGE, KIND_NETCHAN },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct service s = kern_open_service(rows[i].family);

		kern_service(&kern, 0, 0, &s);
		kern_port(&kern, 0, PORT, 0, false);
		for (int ipv6 = 0; ipv6 < 2; ipv6++) {
			explain(ipv6 ? "[2001:db8:1::1]:4000" : "192.0.2.1:4000", NULL);
			assert_int_equal(step("query")->in.kind, rows[i].query);
			assert_int_equal(step("join")->in.kind, rows[i].join);
			assert_int_equal(step("move")->in.kind, rows[i].move);
			assert_true(step("query")->has_answer);
		}
	}
}

/* --- datagrams --------------------------------------------------------------- */

static __u8 bytes[EXPLAIN_FRAME];

/* Explain the @n bytes of @data. 0, or -errno. */
static int about(const void *data, size_t n, const char *service)
{
	struct explain_input input = { .bytes = bytes, .n = n };
	struct explain_query query = { .service = service };

	memcpy(bytes, data, n);
	explain_free(told);
	told = NULL;
	if (!trial)
		assert_int_equal(trial_open(&shield, &trial), 0);
	return explain_datagram(&shield, trial, &query, &input, &told);
}

static void datagrams_are_judged_with_and_without_headers(void **state)
{
	static const struct frame_spec rows[] = {
		{ .payload = OOB "getstatus", .n = 13 },
		{ .payload = OOB "getstatus", .n = 13, .ipv6 = true },
		{ .payload = OOB "getstatus", .n = 13, .tags = { ETH_P_8021Q } },
		{ .payload = OOB "getstatus", .n = 13, .padding = 20 },
		{ .payload = OOB "statusResponse\n", .n = 19 },
		{ .payload = OOB "getstatus", .n = 13, .more = true },
		{ .payload = OOB "rcon x y", .n = 12 },
		{ .payload = "\1\0\0\0\1\1abcdefgh", .n = 14 },
		{ .payload = OOB "getstatus", .n = 13, .from = "203.0.113.7" },
	};
	struct service s = wide();

	(void)state;
	serve_as(&s);
	kern_list(&kern, false, "203.0.113.0", 120);
	for (size_t i = 0; i < COUNT(rows); i++) {
		__u8 frame[FRAME_MAX];
		size_t n = frame_build(&rows[i], frame);
		const struct explain_step *judged;
		struct outcome o;

		assert_int_equal(about(frame, n, NULL), 0);
		judged = &told->stray;
		o = kern_run(&kern, frame, n);
		assert_false(o.other);
		assert_int_equal(judged->in.kind, o.kind);
		assert_int_equal(judged->in.reason, o.reason);
		assert_int_equal(judged->in.passes, o.action == XDP_PASS);
		if (rows[i].tags[0] || rows[i].more)
			continue;
		/* The packet in it, and its payload. */
		assert_int_equal(about(frame + 14, n - 14, NULL), 0);
		assert_int_equal(told->services[0].steps[0].in.kind, o.kind);
		assert_int_equal(told->services[0].steps[0].in.reason, o.reason);
		assert_int_equal(about(rows[i].payload, rows[i].n, "ffa"), 0);
		assert_int_equal(told->services[0].steps[0].in.kind, o.kind);
	}
}

/* A player's qport from another port, while the player is silent: the trial knows it. */
static void a_players_new_port_is_judged_as_such(void **state)
{
	static char move[40] = { 45, 0, 0, 0, 0x34, 0x12, 1, 1, 1, 1 };
	const struct frame_spec from = { .payload = move,
					 .n = sizeof(move),
					 .from = PEER,
					 .to = HOST,
					 .sport = 50001,
					 .dport = PORT };
	struct service s = wide();
	__u8 frame[FRAME_MAX];
	struct outcome o;
	size_t n = frame_build(&from, frame);

	(void)state;
	serve_as(&s);
	play_on();
	pass_time(SECOND);
	assert_int_equal(about(frame, n, NULL), 0);
	o = kern_run(&kern, frame, n);
	assert_int_equal(o.reason, REASON_PLAYER_MISMATCH);
	assert_int_equal(told->stray.in.reason, o.reason);
	/* The second continues the first. */
	move[0]++;
	n = frame_build(&from, frame);
	assert_int_equal(about(frame, n, NULL), 0);
	o = kern_run(&kern, frame, n);
	assert_int_equal(o.reason, REASON_PLAYER);
	assert_int_equal(told->stray.in.reason, o.reason);
}

/* A service that a configuration has at addresses alone. */
static void a_port_names_a_service_at_an_address(void **state)
{
	static const char *const names[] = { "one", "two" };
	struct explain_query query = { .service = "27960" };
	struct watcher *w = NULL;
	struct service s = wide();

	(void)state;
	strcpy(s.name, names[0]);
	kern_service(&kern, 0, 0, &s);
	kern_port(&kern, 0, PORT, -1, true);
	kern_port(&kern, 0, PORT + 1, -1, true);
	kern_endpoint(&kern, 0, "2001:db8:2::7", PORT, 0);
	kern_endpoint(&kern, 0, "198.51.100.7", PORT, 0);
	kern_endpoint(&kern, 0, "198.51.100.7", PORT + 1, 0);
	trial_close(trial);
	trial = NULL;
	assert_int_equal(about(BYTES(OOB "getstatus"), "27960"), 0);
	assert_string_equal(told->services[0].service.name, names[0]);
	assert_int_equal(told->to_port, PORT);
	assert_int_equal(about(BYTES(OOB "getstatus"), "27961"), 0);
	assert_int_equal(told->to_port, PORT + 1);
	assert_int_equal(about(BYTES(OOB "getstatus"), "27962"), -ENOENT);
	assert_true(explain_parse(PEER, &query));
	assert_int_equal(watch_begin(&shield, &query, &w), 0);
	watch_end(w);
	/* Each version of IP has its place. */
	explain(PEER, "one");
	assert_int_equal(step("query")->in.kind, KIND_GETSTATUS);
	explain("2001:db8:1::1", "one");
	assert_int_equal(step("query")->in.kind, KIND_GETSTATUS);
	explain("2001:db8:1::1", "27961");
	assert_int_equal(told->services[0].step_count, 0);
	assert_non_null(cause("no-service"));
	/* With a second service there a port tells nothing any more. */
	strcpy(s.name, names[1]);
	kern_service(&kern, 0, 1, &s);
	kern_endpoint(&kern, 0, "198.51.100.8", PORT, 1);
	assert_int_equal(about(BYTES(OOB "getstatus"), "27960"), -EINVAL);
	assert_int_equal(about(BYTES(OOB "getstatus"), "two"), 0);
	trial_close(trial);
	trial = NULL;
}

static void frames_for_no_service_are_judged(void **state)
{
	static const struct frame_spec elsewhere = { .payload = "x", .n = 1, .dport = 9 },
				       other = { .protocol = 6 };
	struct service s = wide();
	__u8 frame[FRAME_MAX] = { 0 };

	(void)state;
	serve_as(&s);
	assert_int_equal(about(frame, frame_build(&elsewhere, frame), NULL), 0);
	assert_true(told->parsed && told->stray.in.passes);
	assert_int_equal(told->stray.in.other, OTHER_NO_SERVICE);
	assert_int_equal(about(frame, frame_build(&other, frame), NULL), 0);
	assert_int_equal(told->stray.in.other, OTHER_NOT_UDP);
	memset(frame, 0, sizeof(frame));
	assert_int_equal(about(frame, 60, NULL), 0);
	assert_int_equal(told->stray.in.other, OTHER_NOT_IP);
	assert_int_equal(about(frame, 13, NULL), -EINVAL);
	assert_int_equal(about("\x45\0\0", 3, NULL), -EINVAL);
	assert_int_equal(about(frame, 1, "nope"), -ENOENT);
}

static void an_answer_is_judged_as_it_leaves(void **state)
{
	static const char status[900] = OOB "statusResponse\n";
	const struct frame_spec answer = { .payload = status,
					   .n = sizeof(status),
					   .from = HOST,
					   .to = PEER,
					   .sport = PORT,
					   .dport = HERE };
	struct service s = wide();
	__u8 frame[FRAME_MAX];
	size_t n = frame_build(&answer, frame);

	(void)state;
	amplification(4096, 20);
	serve_as(&s);
	assert_int_equal(about(frame, n, NULL), 0);
	assert_true(told->leaves && told->stray.in.passes);
	assert_int_equal(told->stray.in.kind, KIND_STATUSRESPONSE);
	assert_true(told->host.net == 0xc0000201);
	for (int i = 0; i < 8; i++)
		says(status, sizeof(status));
	assert_int_equal(about(frame, n, NULL), 0);
	assert_false(told->stray.in.passes);
	assert_int_equal(told->stray.in.reason, REASON_AMPLIFICATION);
	assert_non_null(cause("amplification"));
}

/* --- watching ---------------------------------------------------------------- */

static struct watch_line lines[32];
static size_t line_count;

static void line_take(const struct watch_line *line, void *context)
{
	(void)context;
	assert_in_range(line_count, 0, COUNT(lines) - 1);
	lines[line_count++] = *line;
}

/* Look, a second later. */
static void look(struct watcher *w)
{
	pass_time(SECOND);
	line_count = 0;
	watch_look(w, line_take, NULL);
}

static void a_watcher_sees_what_is_new(void **state)
{
	struct service s = wide();
	struct explain_query query = { .service = "ffa" };
	struct watcher *w = NULL;

	(void)state;
	s.budget[CLASS_QUERY].source = kern_rate(1, 2);
	serve_as(&s);
	assert_true(explain_parse(PEER, &query));
	assert_int_equal(watch_begin(&shield, &query, &w), 0);
	look(w);
	assert_int_equal(line_count, 0);
	ask(PEER, HERE);
	look(w);
	assert_int_equal(line_count, 1);
	assert_int_equal(lines[0].event, WATCH_PASSED);
	assert_int_equal(lines[0].class, CLASS_QUERY);
	/* Another source is none of its. */
	hear_from(ELSEWHERE, 1, BYTES(OOB "getchallenge"));
	look(w);
	assert_int_equal(line_count, 0);
	for (int i = 0; i < 9; i++)
		hear_from(PEER, 1, BYTES(OOB "getstatus"));
	look(w);
	assert_int_equal(line_count, 2);
	assert_int_equal(lines[1].event, WATCH_REFUSED);
	assert_int_equal(lines[1].reason, REASON_SOURCE_LIMIT);
	look(w);
	assert_int_equal(line_count, 0);
	assert_true(says(BYTES(OOB "challengeResponse 7")));
	look(w);
	assert_int_equal(line_count, 1);
	assert_int_equal(lines[0].event, WATCH_FLOW);
	assert_int_equal(lines[0].state, ABOUT_INVITED);
	play_on();
	look(w);
	assert_int_equal(lines[0].event, WATCH_FLOW);
	assert_int_equal(lines[0].state, ABOUT_ESTABLISHED);
	assert_int_equal(lines[1].event, WATCH_PLAYED);
	assert_in_range(lines[1].packets, 30, 39);
	assert_int_equal(lines[1].port, HERE);
	pass_time(PLAYER_IDLE_NS);
	look(w);
	assert_int_equal(lines[0].event, WATCH_ENDED);
	watch_end(w);
	query.service = "27960";
	assert_int_equal(watch_begin(&shield, &query, &w), 0);
	watch_end(w);
	query.service = "nope";
	assert_int_equal(watch_begin(&shield, &query, &w), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(explaining_charges_and_learns_nothing),
		TEST(a_trial_says_what_the_program_does),
		TEST(as_many_pass_as_are_left),
		TEST(each_family_is_asked_in_its_words),
		TEST(datagrams_are_judged_with_and_without_headers),
		TEST(a_players_new_port_is_judged_as_such),
		TEST(a_port_names_a_service_at_an_address),
		TEST(frames_for_no_service_are_judged),
		TEST(an_answer_is_judged_as_it_leaves),
		TEST(a_watcher_sees_what_is_new),
	};

	return explain_tests(tests, COUNT(tests));
}
