// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_samples_view.c - the daemon's view of the samples, by the second: services that
 * come and go, senders that are forgotten, gaps that are the kernel's, and what a capture
 * says of them. The shield and the loop are the test's own, and so is the clock.
 */
#include "decode/decode_support.h"
#include "lib/loop.h"
#include "lag/lag_file.h"
#include "samples/samples.h"
#include "stderr.h"

#include <time.h>
#include <unistd.h>

#define SLOT	  7
#define FADES_S	  30 /* docs/SAMPLES.md: half of the past is forgotten */
#define HEADERS	  42
#define SECOND_NS 1000000000LL
#define NO_PATH	  "/tmp/test_samples_view.pin"

/* --- a shield and a loop -------------------------------------------------------------
 */

static struct service services[SERVICES_MAX];
static struct sampled sampled[SAMPLER_COUNT];
static __u32 generation = 1;
static void (*each)(const struct sample *sample, const void *frame, void *context);
static void *each_context;
static void (*second)(void *context);
static void *second_context;

int shield_samples_open(struct shield *shield,
			void (*call)(const struct sample *sample, const void *frame,
				     void *context),
			void *context)
{
	(void)shield;
	each = call;
	each_context = context;
	return 0;
}

int shield_samples_fd(const struct shield *shield)
{
	(void)shield;
	return 0;
}

int shield_samples_poll(struct shield *shield, int timeout_ms)
{
	(void)shield;
	return timeout_ms;
}

__u32 shield_generation(const struct shield *shield)
{
	(void)shield;
	return generation;
}

bool shield_service(const struct shield *shield, __u32 slot, struct service *ret)
{
	(void)shield;
	*ret = services[slot];
	return ret->active;
}

int shield_sampled(const struct shield *shield, struct sampled ret[SAMPLER_COUNT])
{
	(void)shield;
	memcpy(ret, sampled, sizeof(sampled));
	return 0;
}

/* Of a snapshot of all counters: nothing here asks for one. */
size_t shield_links(const struct shield *shield, struct shield_link *ret, size_t max)
{
	(void)shield;
	(void)ret;
	fail();
	return max;
}

int shield_counters(const struct shield *shield, __u32 slot, struct counters *ret_in,
		    struct counters *ret_out)
{
	(void)shield;
	(void)ret_in;
	(void)ret_out;
	fail();
	return (int)slot;
}

__u64 shield_protocol_mismatch(const struct shield *shield, __u32 slot,
			       __u32 *ret_families)
{
	(void)shield;
	*ret_families = 0;
	(void)slot;
	return *ret_families != 0;
}

enum judged shield_judged(const struct shield *shield, __u32 slot, __u64 received,
			  char ret_interface[IF_NAMESIZE])
{
	(void)shield;
	(void)slot;
	*ret_interface = '\0';
	return received ? JUDGED_YES : JUDGED_UNKNOWN;
}

size_t shield_cached_responses(const struct shield *shield, __u32 slot,
			       struct cached_response ret[CACHE_FORMS])
{
	(void)shield;
	(void)slot;
	(void)ret;
	return 0;
}

int shield_limits_used(const struct shield *shield, __u32 slot, double ret[CLASS_BUDGETS])
{
	(void)shield;
	(void)ret;
	fail();
	return (int)slot;
}

int shield_players(const struct shield *shield,
		   void (*call)(const struct player_key *key, const struct player *player,
				void *context),
		   void *context)
{
	(void)shield;
	fail();
	call(NULL, NULL, context);
	return 0;
}

int shield_others(const struct shield *shield, struct counter ret[OTHER_COUNT])
{
	(void)shield;
	(void)ret;
	fail();
	return 0;
}

void shield_table_usage(const struct shield *shield, struct table_usage ret[TABLE_COUNT])
{
	(void)shield;
	(void)ret;
	fail();
}

bool loop_add(int fd, void (*ready)(void *context), void *context)
{
	(void)ready;
	(void)context;
	return fd >= 0;
}

void loop_remove(int fd)
{
	(void)fd;
}

bool loop_once(int ms, void (*tick)(void *context), void *context)
{
	(void)tick;
	(void)context;
	return ms > 0;
}

bool loop_every(int ms, void (*tick)(void *context), void *context)
{
	assert_int_equal(ms, 1000);
	second = tick;
	second_context = context;
	return true;
}

/* --- a clock -------------------------------------------------------------------------
 */

static int64_t now_ns, used_ns; /* of the wall, and of the processor */
static int64_t late_ns; /* after a sample was taken it is read */
static int64_t set_ns; /* by how much the clock of the wall was set */

int clock_gettime(clockid_t clock, struct timespec *ret)
{
	int64_t ns = clock == CLOCK_THREAD_CPUTIME_ID ? used_ns
		     : clock == CLOCK_REALTIME	      ? now_ns + set_ns
						      : now_ns;

	*ret = (struct timespec){ .tv_sec = ns / SECOND_NS, .tv_nsec = ns % SECOND_NS };
	return 0;
}

/* --- a view --------------------------------------------------------------------------
 */

static struct samples_view *view;
static char pcapng[] = "/tmp/test_samples_view.XXXXXX";

static int open_with(uint32_t percent, const char *path)
{
	static struct config config;

	config.output_cpu = percent;
	now_ns = 1000 * SECOND_NS;
	used_ns = late_ns = set_ns = 0;
	memset(services, 0, sizeof(services));
	memset(sampled, 0, sizeof(sampled));
	assert_int_equal(truncate(pcapng, 0), 0);
	strcpy(config.output_pcapng, path);
	return samples_open(NULL, &config, NO_PATH, &view);
}

static int open_view(void **state)
{
	(void)state;
	return open_with(100, pcapng);
}

static int open_no_capture(void **state)
{
	(void)state;
	return open_with(100, "");
}

/* One hundredth of a processor: ten milliseconds of each second. */
static int open_busy(void **state)
{
	(void)state;
	return open_with(1, pcapng);
}

/* What stays for the next daemon is nobody's here. */
static int close_view(void **state)
{
	char players[LAG_FILE_PATH_MAX];

	(void)state;
	samples_close(view);
	lag_file_path(NO_PATH, players);
	lag_file_remove(players);
	return access(players, F_OK) ? 0 : -1;
}

static void serve(enum wire_family family)
{
	services[SLOT] =
		(struct service){ .name = "ffa", .family = (__u8)family, .active = 1 };
	generation++;
}

/* A sample of 10.0.0.9:5000 and 10.0.0.1:27960. */
static void sample(enum sampler sampler, bool c2s, enum reason reason,
		   const uint8_t *payload, size_t n)
{
	static const uint8_t client[] = { 10, 0, 0, 9 }, server[] = { 10, 0, 0, 1 };
	uint8_t frame[HEADERS + 64] = { [12] = 8, [14] = 0x45, [22] = 64, [23] = 17 };
	struct sample s = { .length = (__u32)(HEADERS + n),
			    .kept = (__u32)(HEADERS + n),
			    .slot = SLOT,
			    .kind = KIND_GETSTATUS,
			    .reason = (__u8)reason,
			    .direction = c2s ? DIRECTION_C2S : DIRECTION_S2C,
			    .sampler = (__u8)sampler,
			    .ktime_ns = (__u64)(now_ns - late_ns) };

	assert_true(n <= 64);
	frame[17] = (uint8_t)(n + 28);
	frame[39] = (uint8_t)(n + 8);
	memcpy(frame + 26, c2s ? client : server, 4);
	memcpy(frame + 30, c2s ? server : client, 4);
	memcpy(frame + 34, c2s ? "\x13\x88\x6d\x38" : "\x6d\x38\x13\x88", 4);
	memcpy(frame + HEADERS, payload, n);
	each(&s, frame, each_context);
}

static void drop_one(void)
{
	sample(SAMPLER_STATISTIC, true, REASON_SOURCE_LIMIT, BYTES(MARK "getstatus"));
}

static struct samples_stats stats_now(void)
{
	struct samples_stats stats;

	samples_stats(view, &stats);
	return stats;
}

/* With the next sample after the configuration has changed, not at the next second. */
static void services_come_and_go(void **state)
{
	(void)state;
	drop_one();
	assert_int_equal(stats_now().unparsed, 1);
	serve(FAMILY_QUAKE3);
	drop_one();
	assert_int_equal(stats_now().decoded, 1);
	services[SLOT].active = 0;
	generation++;
	drop_one();
	assert_int_equal(stats_now().decoded, 1);
	assert_int_equal(stats_now().unparsed, 2);
}

static void the_past_is_forgotten_by_halves(void **state)
{
	(void)state;
	serve(FAMILY_QUAKE3);
	for (int i = 0; i < 8; i++)
		drop_one();
	for (int s = 1; s <= 2 * FADES_S; s++) {
		assert_int_equal(stats_now().top_prefixes.total, s <= FADES_S ? 8 : 4);
		second(second_context);
	}
	assert_int_equal(stats_now().top_prefixes.total, 2);
}

/* Samples are read all the same. */
static void without_a_capture_nothing_is_put(void **state)
{
	(void)state;
	serve(FAMILY_QUAKE3);
	drop_one();
	drop_one();
	second(second_context);
	assert_int_equal(stats_now().decoded, 2);
	assert_int_equal(stats_now().writer.pcapng.pieces, 0);
}

/* A number of the only player on the players' page. */
static double number_of(const char *key)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);
	json_t *page;
	double ret;

	assert_int_equal(samples_players(view, file), 0);
	fclose(file);
	page = json_loads(text, 0, NULL);
	assert_non_null(page);
	assert_non_null(at_path(page, key));
	ret = json_number_value(at_path(page, key));
	json_decref(page);
	free(text);
	return ret;
}

static int lost(void)
{
	return (int)number_of("players.0.c2s.lost");
}

static void play(bool c2s, uint8_t sequence)
{
	uint8_t move[] = { 0, 0x10, 0, 10, 0, 0, 0, sequence, 1, 1 };

	now_ns += 10000000;
	sample(SAMPLER_FOLLOW, c2s, REASON_PLAYER, move, sizeof(move));
}

/* What the ring had no room for is no loss of the network's. */
static void the_kernels_gaps_are_not_the_players(void **state)
{
	(void)state;
	serve(FAMILY_NETQUAKE);
	for (uint8_t i = 1; i < 8; i++) {
		play(false, i);
		play(true, i);
	}
	second(second_context);
	play(true, 10);
	second(second_context);
	assert_int_equal(lost(), 2);
	sampled[SAMPLER_FOLLOW].lost = 5;
	second(second_context);
	play(true, 16);
	second(second_context);
	assert_int_equal(lost(), 2);
	sampled[SAMPLER_FOLLOW].limited = 5;
	second(second_context);
	play(true, 22);
	second(second_context);
	assert_int_equal(lost(), 2);
	play(true, 24);
	second(second_context);
	assert_int_equal(lost(), 3);
}

/* The gap comes before the second is over, and others in samples that were read late. */
static void a_gap_is_doubted_when_it_comes(void **state)
{
	(void)state;
	serve(FAMILY_NETQUAKE);
	play(false, 1);
	play(true, 1);
	sampled[SAMPLER_FOLLOW].limited = 9;
	late_ns = SECOND_NS / 2;
	now_ns += SECOND_NS;
	play(true, 6);
	play(true, 9);
	late_ns = 0;
	play(true, 10);
	assert_int_equal(lost(), 0);
	play(true, 12);
	assert_int_equal(lost(), 1);
}

/* An hour ahead, and further back: a player stays, with the time of day as it is now. */
static void a_clock_that_is_set_forgets_no_player(void **state)
{
	static const int64_t steps_s[] = { 3600, -900 };
	uint8_t sequence = 0;

	(void)state;
	serve(FAMILY_NETQUAKE);
	for (int row = 0; row < 2; row++) {
		for (int i = 0; i < 60; i++) {
			play(false, ++sequence);
			play(true, sequence);
			if (!(i % 10))
				second(second_context);
		}
		set_ns = steps_s[row] * SECOND_NS;
		second(second_context);
	}
	play(false, 121);
	play(true, 123);
	second(second_context);
	assert_int_equal(number_of("players.0.c2s.received"), 121);
	assert_int_equal(lost(), 2);
	assert_true(number_of("players.0.packets_per_s") > 0);
	assert_int_equal(number_of("players.0.last"), (now_ns + set_ns) / SECOND_NS);
}

/* Option 7 of an enhanced packet block: the sort of program, and what it has said. */
static size_t verdicts(uint8_t sort, uint8_t action)
{
	const uint8_t option[] = { 7, 0, 9, 0, sort, action, 0, 0, 0, 0, 0, 0, 0 };
	static uint8_t bytes[65536];
	FILE *file = fopen(pcapng, "rbe");
	size_t n, found = 0;

	assert_non_null(file);
	n = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	for (size_t at = 0; at + sizeof(option) <= n; at++)
		found += !memcmp(bytes + at, option, sizeof(option));
	return found;
}

static void a_capture_names_what_was_done(void **state)
{
	(void)state;
	serve(FAMILY_QUAKE3);
	for (int observe = 0; observe < 2; observe++) {
		services[SLOT].observe = (__u8)observe;
		generation++;
		drop_one();
		sample(SAMPLER_STATISTIC, false, REASON_AMPLIFICATION,
		       BYTES(MARK "print\nx"));
	}
	sample(SAMPLER_STATISTIC, true, REASON_WITHIN_LIMITS, BYTES(MARK "getstatus"));
	sample(SAMPLER_STATISTIC, false, REASON_EXEMPT, BYTES(MARK "print\nx"));
	second(second_context);
	assert_int_equal(verdicts(1, 2), 1); /* TC_ACT_SHOT */
	assert_int_equal(verdicts(1, 0), 2); /* TC_ACT_OK */
	assert_int_equal(verdicts(2, 1), 1); /* XDP_DROP */
	assert_int_equal(verdicts(2, 2), 2); /* XDP_PASS */
}

/* --- when there is no time for all ---------------------------------------------------
 */

/* As many of each as between two looks at the clocks, at most. */
static void rush(void)
{
	for (uint8_t i = 1; i <= 16; i++) {
		drop_one();
		play(true, i);
	}
}

/* Samples shed since it was asked last. */
static uint64_t shed(enum sampler sampler)
{
	static uint64_t before[SAMPLER_COUNT];
	uint64_t now = stats_now().shed[sampler], more = now - before[sampler];

	before[sampler] = now;
	return more;
}

/* Loose samples go first, at three quarters of what there is; who is followed, last. */
static void followers_are_shed_last(void **state)
{
	static const struct {
		int64_t used_ms;
		bool loose, followed;
	} rows[] = { { 7, false, false }, { 8, true, false }, { 11, true, true } };

	(void)state;
	serve(FAMILY_NETQUAKE);
	rush(); /* that second begins with them */
	shed(SAMPLER_STATISTIC);
	shed(SAMPLER_FOLLOW);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		used_ns = rows[i].used_ms * 1000000;
		rush();
		/* Of 32 some are judged by the look before. */
		assert_in_range(shed(SAMPLER_STATISTIC), rows[i].loose ? 12 : 0,
				rows[i].loose ? 16 : 0);
		assert_in_range(shed(SAMPLER_FOLLOW), rows[i].followed ? 12 : 0,
				rows[i].followed ? 16 : 0);
	}
	/* And the next second has its own. */
	now_ns += SECOND_NS;
	rush();
	rush();
	assert_in_range(shed(SAMPLER_STATISTIC), 0, 4);
	assert_in_range(shed(SAMPLER_FOLLOW), 0, 4);
}

/* Seconds in which so much is used up; how often that is said. */
static unsigned int said(int seconds, int64_t used_ms)
{
	char text[4096];
	unsigned int n = 0;

	stderr_catch();
	for (int i = 0; i < seconds; i++) {
		now_ns += SECOND_NS;
		rush();
		used_ns += used_ms * 1000000;
		rush();
		second(second_context);
	}
	stderr_release(text, sizeof(text));
	for (const char *at = text; (at = strstr(at, "samples are shed")); at++)
		n++;
	return n;
}

/* Once for each time that it begins, however long it lasts. */
static void shedding_is_said_once(void **state)
{
	(void)state;
	serve(FAMILY_NETQUAKE);
	assert_int_equal(said(3, 1), 0);
	assert_int_equal(said(5, 20), 1);
	assert_int_equal(said(5, 20), 0);
	assert_int_equal(said(3, 1), 0);
	assert_int_equal(said(5, 20), 1);
}

static int make_file(void **state)
{
	int fd = mkstemp(pcapng);

	(void)state;
	return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(pcapng);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_view, close_view)
#define NO_CAPTURE(name) \
	cmocka_unit_test_setup_teardown(name, open_no_capture, close_view)
#define BUSY(name) cmocka_unit_test_setup_teardown(name, open_busy, close_view)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(services_come_and_go),
		TEST(the_past_is_forgotten_by_halves),
		TEST(the_kernels_gaps_are_not_the_players),
		TEST(a_gap_is_doubted_when_it_comes),
		TEST(a_clock_that_is_set_forgets_no_player),
		TEST(a_capture_names_what_was_done),
		NO_CAPTURE(without_a_capture_nothing_is_put),
		BUSY(followers_are_shed_last),
		BUSY(shedding_is_said_once),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
