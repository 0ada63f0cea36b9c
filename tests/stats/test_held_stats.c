// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_held_stats.c - a snapshot in which no two numbers are alike, and every face of it
 * whole: text, JSON, both formats of metrics, health, paces, ten minutes, a day.
 */
#include <sys/stat.h>

#include "fuzz/held_text.h"
#include "lib/util.h"
#include "stats/day.h"
#include "stats/health.h"
#include "stats/history.h"
#include "stats/metrics.h"
#include "stats/stats_rates.h"

static struct stats_service services[3], services_before[3];
static struct stats stats, before;
static struct incident_watch watches[INCIDENT_SERVICES];
static struct incident incidents[2];
static struct decoded *decoded;

/* Some kinds of each class, and reasons of each verdict. */
static const enum wire_kind kinds[] = { KIND_GETSTATUS,	 KIND_GETCHALLENGE,
					KIND_CONNECT,	 KIND_RCON,
					KIND_NETCHAN,	 KIND_STATUSRESPONSE,
					KIND_OOB_UNKNOWN };
static const enum reason reasons[] = { REASON_PLAYER,	     REASON_WITHIN_LIMITS,
				       REASON_SOURCE_LIMIT,  REASON_PREFIX_LIMIT,
				       REASON_SERVICE_LIMIT, REASON_AMPLIFICATION,
				       REASON_CHALLENGED };

static void fill_counters(struct counters *t, __u64 unit)
{
	for (size_t k = 0; k < ARRAY_SIZE(kinds); k++)
		for (size_t r = 0; r < ARRAY_SIZE(reasons); r++)
			if ((k + r) % 3)
				t->by[kinds[k]][reasons[r]] =
					(struct counter){ unit * (k + 1) * (r + 1) + k,
							  unit * 61 * (k + 1) * (r + 2) +
								  r };
	t->unverified = (struct volume){ unit * 1001, unit * 1502 };
}

static void fill_service(struct stats_service *s, const char *name, __u32 slot,
			 enum wire_family family)
{
	strcpy(s->service.name, name);
	s->service.family = (__u8)family;
	s->slot = slot;
	s->players = slot;
	for (int class = 0; class < CLASS_BUDGETS; class ++)
		s->limits_used[class] = (double)(class + 1) / (double)(slot + 8);
	s->cached[0] = (struct cached_response){ .request = "getinfo",
						 .nonce = true,
						 .fresh = true,
						 .bytes = 400 + slot,
						 .age_ns = 1234567890 };
	s->cached[1] = (struct cached_response){ .request = "getstatus",
						 .bytes = 1200 + slot,
						 .age_ns = 7100000000 };
	s->cached_count = slot % 3;
	s->judged = slot == 7 ? JUDGED_PARTLY : slot == 9 ? JUDGED_UNKNOWN : JUDGED_YES;
	if (slot == 7)
		strcpy(s->unjudged_by, "gre1");
	s->speaks = slot == 7 ? 1 << FAMILY_QUAKE2 | 1 << FAMILY_QUAKE3 : 0;
}

static void fill_decoded(void)
{
	static const char *const words[] = { "snapshot", "client-move", "getstatus" };

	decoded = decoded_create();
	assert_non_null(decoded);
	for (unsigned int i = 0; i < 60; i++) {
		struct record r = { .family = (enum wire_family)(i % 3 + 1),
				    .status = (enum record_status)(i % 4),
				    .kind = words[i % 3] };

		decoded_record(decoded, i % 5 ? 2 : 7, &r, (enum sampler)(i % 2));
	}
	for (int i = 0; i < 400; i++)
		decoded_figure(decoded, i % 5 ? 2 : 7, (enum wire_family)(i % 7 % 3 + 1),
			       (enum decoded_figure)(i % DECODED_FIGURES),
			       i % DECODED_FIGURES == DECODED_SNAPSHOTS ? i % 131
									: i / 600.0);
	/* Bounds belong to what is below them. */
	for (int f = 0; f < DECODED_FIGURES; f++)
		for (size_t i = 0; i < decoded_bounds[f].count; i++)
			decoded_figure(decoded, 2, FAMILY_NETQUAKE,
				       (enum decoded_figure)f, decoded_bounds[f].at[i]);
}

static int fill(void **state)
{
	(void)state;
	fill_service(&services[0], "ffa", 2, FAMILY_QUAKE3);
	fill_service(&services[1], "a \"duel\"\\", 7, FAMILY_QUAKEWORLD);
	fill_service(&services[2], "quiet", 9, FAMILY_NETQUAKE);
	services[1].service.observe = 1;
	fill_service(&services_before[0], "a \"duel\"\\", 1, FAMILY_QUAKEWORLD);
	fill_service(&services_before[1], "ffa", 7, FAMILY_QUAKE3);
	fill_counters(&services[0].in, 1000);
	fill_counters(&services[0].out, 700);
	fill_counters(&services[1].in, 10);
	fill_counters(&services[1].out, 20);
	fill_counters(&services_before[0].in, 11); /* they began again */
	fill_counters(&services_before[0].out, 13);
	fill_counters(&services_before[1].in, 300);
	fill_counters(&services_before[1].out, 100);
	stats = (struct stats){
		.links = { { .interface = "eth0",
			     .mode = MODE_NATIVE,
			     .attached = true,
			     .ingress = true,
			     .egress = true,
			     .program_id = 5,
			     .since = 1700000000 },
			   { .interface = "eth1",
			     .mode = MODE_AUTO,
			     .missing = true,
			     .since = 1 },
			   { .interface = "eth2", .mode = MODE_SKB, .since = 86399 },
			   { .interface = "eth3",
			     .mode = MODE_SKB,
			     .program_id = 6,
			     .since = 1 },
			   { .interface = "eth4",
			     .mode = MODE_SKB,
			     .program_id = 7,
			     .ingress = true,
			     .since = 1 },
			   { .interface = "eth5",
			     .mode = MODE_SKB,
			     .program_id = 7,
			     .ingress = true,
			     .egress = true,
			     .since = 1 },
			   { .interface = "eth6", .mode = MODE_AUTO },
			   { .interface = "eth7",
			     .mode = MODE_NATIVE,
			     .attached = true,
			     .ingress = true,
			     .egress = true,
			     .program_id = 5,
			     .since = 1700000000,
			     .unrun_since = 1700000900 } },
		.link_count = 8,
		.services = services,
		.service_count = 3,
		.generation = 17,
		.time_ms = 1700000001250,
	};
	for (int i = 0; i < OTHER_COUNT; i++)
		stats.others[i] =
			(struct counter){ i % 4 ? 3 * (__u64)i : 0, 101 * (__u64)i };
	for (int i = 0; i < SAMPLER_COUNT; i++)
		stats.sampled[i] =
			(struct sampled){ 11 + (__u64)i, 21 + (__u64)i, 31 + (__u64)i };
	for (int i = 0; i < TABLE_COUNT; i++)
		stats.tables[i] = (struct table_usage){ 41 + (__u32)i, 51 + (__u32)i };
	before = stats;
	before.services = services_before;
	before.service_count = 2;
	watches[2].count = 4;
	watches[2].now = &incidents[0];
	incidents[0].peak_pps = 12345.5;
	watches[7].count = 1;
	watches[INCIDENT_MACHINE].count = 6;
	watches[INCIDENT_MACHINE].now = &incidents[1];
	fill_decoded();
	return 0;
}

static int empty(void **state)
{
	(void)state;
	decoded_free(decoded);
	return 0;
}

static void as_text(void **state)
{
	(void)state;
	held_begin();
	assert_int_equal(stats_text(&stats, held.out), 0);
	stats.link_count = 0;
	stats.service_count = 0;
	assert_int_equal(stats_text(&stats, held.out), 0);
	stats.link_count = 8;
	stats.service_count = 3;
	held_end("tests/stats/held_text.txt");
}

static void as_json(void **state)
{
	json_t *all = json_object();

	(void)state;
	held_begin();
	json_object_set_new(all, "ffa", decoded_json(decoded, 2));
	json_object_set_new(all, "a \"duel\"\\", decoded_json(decoded, 7));
	assert_null(decoded_json(decoded, 3));
	assert_int_equal(stats_json(&stats, all, held.out), 0);
	json_decref(all);
	assert_int_equal(stats_json(&stats, NULL, held.out), 0);
	for (size_t i = 0; i < stats.link_count; i++) {
		json_t *link = stats_json_link(&stats.links[i]);

		json_dumpf(link, held.out, JSON_COMPACT);
		fputc('\n', held.out);
		json_decref(link);
	}
	held_end("tests/stats/held_json.txt");
}

/* But for what differs from build to build. */
static void metrics_put(const struct stats *s, const struct decoded *d,
			const struct incident_watch *w, enum ometric_format format)
{
	char *text, *line;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(metrics_write(s, d, w, format, out), 0);
	fclose(out);
	line = strstr(text, "quakeshield_build_info{");
	assert_non_null(line);
	assert_non_null(strstr(line, "\",abi=\""));
	memmove(line, strchr(line, '\n'), strlen(strchr(line, '\n')) + 1);
	fputs(text, held.out);
	free(text);
}

static void as_metrics(void **state)
{
	(void)state;
	held_begin();
	metrics_put(&stats, decoded, watches, OMETRIC_OPEN);
	held_end("tests/stats/held_metrics.txt");
	held_begin();
	metrics_put(&stats, NULL, NULL, OMETRIC_TEXT);
	held_end("tests/stats/held_metrics_text.txt");
}

static void healths(void **state)
{
	size_t all = stats.link_count;
	struct stats some = stats;

	(void)state;
	held_begin();
	for (size_t from = 0; from < all; from++) {
		memcpy(some.links, stats.links + from,
		       (all - from) * sizeof(*some.links));
		for (size_t n = 0; n <= all - from; n++) {
			some.link_count = n;
			fprintf(held.out, "is %d\n", health_write(&some, held.out));
		}
	}
	some = stats;
	some.link_count = 2;
	for (int i = 0; i < 8; i++) {
		for (int j = 0; j < 3; j++)
			services[j].service.observe = i >> j & 1;
		fprintf(held.out, "observed %d, is %d\n", health_observed(&some),
			health_write(&some, held.out));
	}
	stats.service_count = 0;
	fprintf(held.out, "observed %d\n", health_observed(&stats));
	stats.service_count = 3;
	services[0].service.observe = services[2].service.observe = 0;
	held_end("tests/stats/held_health.txt");
}

static void rates_put(const struct stats_rates *p)
{
	held_printf(
		"passed %.3f dropped %.3f answered %.3f sent %.3f withheld %.3f in %.3f "
		"out %.3f challenged %.3f\n",
		p->packets[VERDICT_PASS], p->packets[VERDICT_DROP],
		p->packets[VERDICT_RESPOND], p->sent, p->withheld, p->bytes_in,
		p->bytes_out, p->challenged);
}

static void rates(void **state)
{
	static const double seconds[] = { -1, 0, 0.5, 1, 7 };
	struct stats_rates rates;

	(void)state;
	held_begin();
	for (size_t i = 0; i < ARRAY_SIZE(seconds); i++) {
		for (size_t j = 0; j < 3; j++) {
			const struct stats_service *was =
				stats_rates_match(&before, &services[j]);

			stats_rates_service(&services[j], was, seconds[i], &rates);
			held_printf("%s was %s\n", services[j].service.name,
				    was ? was->service.name : "not there");
			rates_put(&rates);
		}
		stats_rates_total(&stats, &before, seconds[i], &rates);
		rates_put(&rates);
	}
	held_end("tests/stats/held_paces.txt");
}

/* --- what was ------------------------------------------------------------------------
 */

static struct stats_rates pace_of(unsigned int i)
{
	return (struct stats_rates){ .packets = { [VERDICT_PASS] = i + 0.25,
						  [VERDICT_DROP] = (i * 7) % 40 + 0.04,
						  [VERDICT_RESPOND] = i * 3 },
				     .challenged = i * 2 + 0.07,
				     .sent = i * 4 + 0.06,
				     .withheld = i * 5,
				     .bytes_in = i * 600 + 0.5,
				     .bytes_out = i * 700 };
}

static void ten_minutes(void **state)
{
	static struct history h;

	(void)state;
	held_begin();
	history_json(&h, held.out);
	for (unsigned int i = 0; i < HISTORY_POINTS + 2; i++) {
		struct stats_rates rates = pace_of(i);

		history_add(&h, 1700000000 + 2 * i, &rates, i % 9);
		if (i < 3)
			history_json(&h, held.out);
		else if (i >= HISTORY_POINTS - 2)
			held_printf("%u: %zu at %zu, first %lld\n", i, h.count, h.next,
				    (long long)h.points[h.next % h.count].time);
	}
	history_json(&h, held.out);
	held_end("tests/stats/held_history.txt");
}

static void file_put(const char *path)
{
	FILE *file = fopen(path, "r");
	size_t lines = 0;
	uint64_t sum = HELD_BEGIN;
	char line[512];

	if (!file) {
		held_printf("no file\n");
		return;
	}
	while (fgets(line, sizeof(line), file)) {
		sum = held_sum(sum, line, strlen(line));
		if (lines++ < 12)
			held_printf("\t%s", line);
	}
	held_printf("%zu lines, %016" PRIx64 "\n", lines, sum);
	fclose(file);
}

static void file_add(const char *path, const char *text)
{
	FILE *file = fopen(path, "a");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

#define MINUTE 28333333 /* since 1970 */

static void a_day(void **state)
{
	static struct day d;
	static char directory[] = "/tmp/test_held_day.XXXXXX";
	char text[128];

	(void)state;
	assert_non_null(mkdtemp(directory));
	assert_int_equal(setenv("STATE_DIRECTORY", directory, 1), 0);
	held_begin();
	day_load(&d, "/bpf/x", MINUTE * 60);
	held_printf("%s %zu %zu\n", d.path + strlen(directory), d.count, d.lines);
	day_json(&d, held.out);
	day_text(&d, held.out);
	for (unsigned int i = 0; i < 60; i++) {
		struct stats_rates rates = pace_of(i);

		day_add(&d, MINUTE * 60 + 13 * i, &rates, (i * 5) % 11);
	}
	file_put(d.path);
	day_json(&d, held.out);
	day_text(&d, held.out);
	/* Torn, not ours, of the future, too old, out of order. */
	file_add(d.path, "[1,2");
	day_add(&d, (MINUTE + 20) * 60, &(struct stats_rates){ .sent = 1 }, 1);
	file_add(d.path, "[1,2,3,4,5,6,7]\n{}\n[1,2,3,4,5,6,7,\"8\"]\n");
	for (int i = -1; i < 3; i++) {
		snprintf(text, sizeof(text), "[%d,1,2,3,4,5,6,%d]\n",
			 (MINUTE + 20 - 1440 + i) * 60, i);
		file_add(d.path, text);
		snprintf(text, sizeof(text), "[%d,1,2,3,4,5,6,%d]\n",
			 (MINUTE + 19 + i) * 60, i + 50);
		file_add(d.path, text);
	}
	file_add(d.path, "[1700001080,-1,2,3,4,5,6,7]\n[1700001081,1e18,2,3,4,5,6,7]\n");
	file_put(d.path);
	for (int i = -1; i <= 1; i++) {
		day_load(&d, "/bpf/x", (MINUTE + 20) * 60 + i);
		held_printf("%d: %zu of %zu lines\n", i, d.count, d.lines);
		day_json(&d, held.out);
	}
	/* More than a day, then a clock that goes back. */
	for (int i = 0; i < 2 * DAY_POINTS + 3; i++) {
		day_add(&d, (MINUTE + 30 + i) * 60, &(struct stats_rates){ .sent = 1 },
			3);
		if (i > 2 * DAY_POINTS - 20 || i == DAY_POINTS || i == DAY_POINTS + 1)
			held_printf("%d: %zu points, next %zu, %zu lines\n", i, d.count,
				    d.next, d.lines);
	}
	file_put(d.path);
	for (int i = 0; i < 4; i++) {
		day_add(&d, (MINUTE + 5 + i) * 60, &(struct stats_rates){ .sent = 1 }, 3);
		held_printf("back: %zu points\n", d.count);
	}
	unlink(d.path);
	assert_int_equal(rmdir(directory), 0);
	held_end("tests/stats/held_day.txt");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_text),    cmocka_unit_test(as_json),
		cmocka_unit_test(as_metrics), cmocka_unit_test(healths),
		cmocka_unit_test(rates),      cmocka_unit_test(ten_minutes),
		cmocka_unit_test(a_day),
	};

	return cmocka_run_group_tests(tests, fill, empty);
}
