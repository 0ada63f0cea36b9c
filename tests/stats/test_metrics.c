// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_metrics.c - the OpenMetrics writer's rules, and a made-up snapshot as metrics.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <errno.h>

#include "stats/metrics.h"
#include "lib/names.h"
#include "lib/ometric.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static void table_rules(void **state)
{
	static const struct {
		struct ometric family;
		const char *wrong; /* in the complaint; NULL: fine */
	} rows[] = {
		{ { "q_packets", OMETRIC_COUNTER, NULL, "Help.", { "a", "b" } }, NULL },
		{ { "q_bytes", OMETRIC_COUNTER, "bytes", "Help.", { NULL } }, NULL },
		{ { "a:b", OMETRIC_GAUGE, NULL, "Help.", { NULL } }, "illegal name" },
		{ { "", OMETRIC_GAUGE, NULL, "Help.", { NULL } }, "illegal name" },
		{ { NULL, OMETRIC_GAUGE, NULL, "Help.", { NULL } }, "illegal name" },
		{ { "9q", OMETRIC_GAUGE, NULL, "Help.", { NULL } }, "illegal name" },
		{ { "q-p", OMETRIC_GAUGE, NULL, "Help.", { NULL } }, "illegal name" },
		{ { "q_total", OMETRIC_COUNTER, NULL, "Help.", { NULL } }, "reserved" },
		{ { "q_info", OMETRIC_INFO, NULL, "Help.", { NULL } }, "reserved" },
		{ { "q_bucket", OMETRIC_GAUGE, NULL, "Help.", { NULL } }, "reserved" },
		{ { "q_created", OMETRIC_GAUGE, NULL, "Help.", { NULL } }, "reserved" },
		{ { "q", OMETRIC_GAUGE, NULL, "", { NULL } }, "no help" },
		{ { "q", OMETRIC_GAUGE, NULL, NULL, { NULL } }, "no help" },
		{ { "q_size", OMETRIC_GAUGE, "bytes", "Help.", { NULL } }, "a unit" },
		{ { "bytes", OMETRIC_GAUGE, "bytes", "Help.", { NULL } }, "a unit" },
		{ { "qbytes", OMETRIC_GAUGE, "bytes", "Help.", { NULL } }, "a unit" },
		{ { "q_x", OMETRIC_INFO, "x", "Help.", { NULL } }, "a unit" },
		{ { "q", OMETRIC_GAUGE, NULL, "Help.", { "a", "a" } }, "label twice" },
		{ { "q", OMETRIC_GAUGE, NULL, "Help.", { "__a" } }, "illegal name" },
		{ { "q", OMETRIC_HISTOGRAM, NULL, "Help.", { "le" } },
		  "the format's own" },
		{ { "q", OMETRIC_GAUGE, NULL, "Help.", { "a-b" } }, "illegal name" },
		{ { "q",
		    OMETRIC_GAUGE,
		    NULL,
		    "Help.",
		    { "a", "b", "c", "d", "e", "f", "g" } },
		  "too many labels" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *wrong = ometric_check(&rows[i].family, 1);

		if (!rows[i].wrong)
			assert_null(wrong);
		else if (!wrong || !strstr(wrong, rows[i].wrong))
			fail_msg("row %zu: '%s' instead of '%s'", i, wrong,
				 rows[i].wrong);
	}
}

static void a_name_only_once(void **state)
{
	static const struct ometric both[] = {
		{ "q", OMETRIC_GAUGE, NULL, "One.", { NULL } },
		{ "q", OMETRIC_COUNTER, NULL, "Another.", { NULL } },
	};

	(void)state;
	assert_non_null(strstr(ometric_check(both, 2), "('q') has a name that another"));
}

static void escapes_and_numbers(void **state)
{
	static const struct ometric m = {
		"q", OMETRIC_GAUGE, NULL, "A \"b\"\nc\\.", { "one", "two" }
	};
	static const char *const values[] = { "a\"b\\c\nd", "caf\xc3\xa9" };
	static const char expected[] = "# TYPE q gauge\n"
				       "# HELP q A \\\"b\\\"\\nc\\\\.\n"
				       "q{one=\"a\\\"b\\\\c\\nd\",two=\"caf??\"} "
				       "18446744073709551615\n"
				       "q{one=\"a\\\"b\\\\c\\nd\",two=\"caf??\"} 0.25\n"
				       "q{one=\"a\\\"b\\\\c\\nd\",two=\"caf??\"} NaN\n"
				       "q{one=\"a\\\"b\\\\c\\nd\",two=\"caf??\"} +Inf\n"
				       "q{one=\"a\\\"b\\\\c\\nd\",two=\"caf??\"} -Inf\n"
				       "# EOF\n";
	char text[1024];
	FILE *out = fmemopen(text, sizeof(text), "w");

	(void)state;
	assert_non_null(out);
	ometric_begin(out, &m, OMETRIC_OPEN);
	ometric_uint(out, &m, values, UINT64_MAX);
	ometric_real(out, &m, values, 0.25);
	ometric_real(out, &m, values, NAN);
	ometric_real(out, &m, values, INFINITY);
	ometric_real(out, &m, values, -INFINITY);
	ometric_end(out, OMETRIC_OPEN);
	fclose(out);
	assert_string_equal(text, expected);
}

static struct stats_service services[1];

static struct stats stats = {
	.links = { { .interface = "eth0",
		     .mode = MODE_SKB,
		     .attached = true,
		     .since = 1700000000 },
		   { .interface = "eth1", .missing = true } },
	.link_count = 2,
	.services = services,
	.service_count = 1,
	.generation = 3,
};

static int fill(void **state)
{
	(void)state;
	strcpy(services->service.name, "ffa");
	services->service.family = FAMILY_QUAKE3;
	services->players = 2;
	services->in.by[KIND_GETSTATUS][REASON_SERVICE_LIMIT] =
		(struct counter){ 7, 420 };
	services->out.by[KIND_STATUSRESPONSE][REASON_AMPLIFICATION] =
		(struct counter){ 1, 900 };
	services->in.unverified = (struct volume){ 100, 200 };
	services->out.unverified = (struct volume){ 50, 100 };
	services->limits_used[CLASS_QUERY] = 1;
	services->cached_count = 1;
	services->cached[0] = (struct cached_response){
		.request = "getinfo", .nonce = true, .bytes = 412, .age_ns = 1500000000
	};
	stats.others[OTHER_TOO_MANY_HEADERS] = (struct counter){ 4, 400 };
	stats.sampled[SAMPLER_STATISTIC].lost = 9;
	stats.tables[TABLE_DENY] = (struct table_usage){ 5, LIST_MAX };
	return 0;
}

static struct incident_watch watches[INCIDENT_SERVICES];

/* To be freed. */
static char *render(const struct stats *s, const struct decoded *d)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(metrics_write(s, d, watches, OMETRIC_OPEN, out), 0);
	fclose(out);
	return text;
}

static size_t samples_in(const char *text)
{
	size_t n = 0;

	for (const char *line = text; *line; line = strchr(line, '\n') + 1)
		n += *line != '#';
	return n;
}

static void families_are_well_made(void **state)
{
	(void)state;
	assert_int_equal(metrics_check(), 0);
}

static void lines(void **state)
{
	/* clang-format off */
	static const char *const rows[] = {
		"# TYPE quakeshield_received_packets counter\n",
		"quakeshield_received_packets_total{service=\"ffa\",protocol=\"quake3\",kind=\"getstatus\",verdict=\"drop\",reason=\"service-limit\"} 7\n",
		"quakeshield_sent_packets_total{service=\"ffa\",protocol=\"quake3\",kind=\"statusResponse\",verdict=\"drop\",reason=\"amplification\"} 1\n",
		"# UNIT quakeshield_bytes bytes\n",
		"quakeshield_bytes_total{service=\"ffa\",protocol=\"quake3\",kind=\"getstatus\",verdict=\"drop\",reason=\"service-limit\",direction=\"in\"} 420\n",
		"quakeshield_bytes_total{service=\"ffa\",protocol=\"quake3\",kind=\"statusResponse\",verdict=\"drop\",reason=\"amplification\",direction=\"out\"} 900\n",
		"quakeshield_other_packets_total{reason=\"too-many-headers\",verdict=\"drop\"} 4\n",
		"quakeshield_unverified_bytes_total{service=\"ffa\",protocol=\"quake3\",direction=\"out\",measure=\"payload\"} 50\n",
		"quakeshield_amplification_ratio{service=\"ffa\",protocol=\"quake3\",measure=\"payload\"} 0.5\n",
		"quakeshield_amplification_ratio{service=\"ffa\",protocol=\"quake3\",measure=\"wire\"} 0.5\n",
		"quakeshield_players{service=\"ffa\",protocol=\"quake3\"} 2\n",
		"quakeshield_observing{service=\"ffa\",protocol=\"quake3\"} 0\n",
		"quakeshield_protocol_mismatch{service=\"ffa\",protocol=\"quake3\",speaks=\"\"} 0\n",
		"quakeshield_limit_used_ratio{service=\"ffa\",protocol=\"quake3\",class=\"query\"} 1\n",
		"quakeshield_cached_response_age_seconds{service=\"ffa\",protocol=\"quake3\",request=\"getinfo\",nonce=\"true\"} 1.5\n",
		"quakeshield_cached_response_bytes{service=\"ffa\",protocol=\"quake3\",request=\"getinfo\",nonce=\"true\"} 412\n",
		"quakeshield_rate_limited_packets_total{service=\"ffa\",protocol=\"quake3\",class=\"query\",reason=\"service-limit\"} 7\n",
		"quakeshield_rate_limited_packets_total{service=\"ffa\",protocol=\"quake3\",class=\"query\",reason=\"source-limit\"} 0\n",
		"quakeshield_samples_total{sampler=\"statistic\",outcome=\"lost\"} 9\n",
		"quakeshield_map_entries{map=\"deny\"} 5\n",
		"quakeshield_map_capacity{map=\"deny\"} 65536\n",
		"quakeshield_interface_info{interface=\"eth0\",mode=\"skb\"} 1\n",
		"quakeshield_interface_protected{interface=\"eth0\"} 1\n",
		"quakeshield_interface_attached_timestamp_seconds{interface=\"eth0\"} 1700000000\n",
		"quakeshield_configuration_generation 3\n",
		"# TYPE quakeshield_build info\n",
		"quakeshield_build_info{version=\"",
	};
	/* clang-format on */
	char *text = render(&stats, NULL);
	size_t length = strlen(text);

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		if (!strstr(text, rows[i]))
			fail_msg("not there: %s", rows[i]);
	assert_string_equal(text + length - 6, "# EOF\n");
	/* What has counted nothing has no line; an interface that is gone has
	 * no mode, and is not ours. */
	assert_null(strstr(text, "getchallenge"));
	assert_null(strstr(text, "quakeshield_interface_info{interface=\"eth1\""));
	assert_non_null(
		strstr(text, "quakeshield_interface_protected{interface=\"eth1\"} 0"));
	free(text);
}

/* The other format: headings by the samples' names, no unit, no last line. */
static void text_format(void **state)
{
	static const char *const rows[] = {
		"# TYPE quakeshield_received_packets_total counter\n# HELP quakeshield_received_packets_total D",
		"# TYPE quakeshield_build_info gauge\n# HELP quakeshield_build_info V",
		"# TYPE quakeshield_players gauge\n",
	};
	char text[65536];
	FILE *out = fmemopen(text, sizeof(text), "w");

	(void)state;
	assert_non_null(out);
	assert_int_equal(metrics_write(&stats, NULL, NULL, OMETRIC_TEXT, out), 0);
	fclose(out);
	for (size_t i = 0; i < COUNT(rows); i++)
		if (!strstr(text, rows[i]))
			fail_msg("not there: %s", rows[i]);
	assert_null(strstr(text, "# UNIT"));
	assert_null(strstr(text, "# EOF"));
}

/* A class has its series from its first datagram on, and a service its volumes. */
static void series_begin_with_the_first_datagram(void **state)
{
	struct stats_service quiet = { .service = { .name = "ffa",
						    .family = FAMILY_QUAKE3 } };
	struct stats s = { .services = &quiet, .service_count = 1 };
	static const char *const series[] = { "quakeshield_rate_limited_packets_total{",
					      "quakeshield_limit_used_ratio{",
					      "quakeshield_unverified_bytes_total{" };
	char *text = render(&s, NULL);

	(void)state;
	for (size_t i = 0; i < COUNT(series); i++)
		assert_null(strstr(text, series[i]));
	assert_non_null(strstr(text, "quakeshield_players{service=\"ffa\""));
	free(text);
	quiet.in.by[KIND_GETSTATUS][REASON_WITHIN_LIMITS].packets = 1;
	text = render(&s, NULL);
	for (size_t i = 0; i < COUNT(series); i++)
		assert_non_null(strstr(text, series[i]));
	assert_non_null(strstr(text, "class=\"query\",reason=\"prefix-limit\"} 0\n"));
	assert_null(strstr(text, "class=\"connect\""));
	free(text);
}

/* A ratio to nothing is none. */
static void no_ratio(void **state)
{
	struct stats_service quiet = { .service = { .name = "ffa" } };
	struct stats s = { .services = &quiet, .service_count = 1 };
	char *text = render(&s, NULL);

	(void)state;
	assert_non_null(strstr(text, "# TYPE quakeshield_amplification_ratio gauge\n"));
	assert_null(strstr(text, "quakeshield_amplification_ratio{"));
	free(text);
}

/* --- what decoding tells ------------------------------------------------------------ */

/* Of slots 0 and 1: more kinds than there is room for, and every figure. */
static struct decoded *decoded_of_everything(void)
{
	static char kinds[DECODED_KINDS + 5][8];
	struct decoded *d = decoded_create();

	assert_non_null(d);
	for (__u32 slot = 0; slot < 2; slot++) {
		for (int i = 0; i < DECODED_KINDS + 5; i++) {
			struct record r = { .kind = kinds[i] };

			snprintf(kinds[i], sizeof(kinds[i]), "k%d", i);
			decoded_record(d, slot, &r, SAMPLER_FOLLOW);
			decoded_record(d, slot, &r, SAMPLER_FOLLOW);
		}
		for (int family = 0; family < FAMILY_COUNT; family++)
			for (int i = 0; i < DECODED_FIGURES; i++)
				decoded_figure(d, slot, (enum wire_family)family,
					       (enum decoded_figure)i, 0);
	}
	return d;
}

/* Kinds without room are counted together, and those with room go on. */
static void kinds_without_room(void **state)
{
	struct decoded *d = decoded_of_everything();
	const struct decoded_service *s = decoded_service(d, 1);
	uint64_t records = 0;

	(void)state;
	for (size_t i = 0; i < DECODED_PLACES; i++)
		records += s->rows[i].records;
	assert_int_equal(s->used, DECODED_KINDS);
	assert_int_equal(records, 2 * DECODED_KINDS);
	assert_int_equal(s->unlisted, 10);
	assert_null(decoded_service(d, 2));
	decoded_forget(d, 1);
	assert_null(decoded_service(d, 1));
	assert_non_null(decoded_service(d, 0));
	decoded_free(d);
}

/* Two services that speak, the second two protocols at once. */
static void decoded_lines(void **state)
{
	/* clang-format off */
	static const char *const rows[] = {
		"# TYPE quakeshield_records counter\n",
		"quakeshield_records_total{service=\"ffa\",protocol=\"quake3\",kind=\"snapshot\",status=\"decoded\",sampler=\"follow\"} 2\n",
		"quakeshield_records_total{service=\"ffa\",protocol=\"quake3\",kind=\"snapshot\",status=\"partial\",sampler=\"follow\"} 1\n",
		"quakeshield_records_total{service=\"ffa\",protocol=\"quake3\",kind=\"snapshot\",status=\"partial\",sampler=\"statistic\"} 1\n",
		"quakeshield_records_total{service=\"ffa\",protocol=\"netquake\",kind=\"snapshot\",status=\"decoded\",sampler=\"follow\"} 1\n",
		"quakeshield_records_unlisted_total{service=\"ffa\"} 0\n",
		"# TYPE quakeshield_player_ping_seconds histogram\n",
		"# UNIT quakeshield_player_ping_seconds seconds\n",
		"quakeshield_player_ping_seconds_bucket{service=\"ffa\",protocol=\"quake3\",le=\"0.02\"} 0\n",
		"quakeshield_player_ping_seconds_bucket{service=\"ffa\",protocol=\"quake3\",le=\"0.03\"} 1\n",
		"quakeshield_player_ping_seconds_bucket{service=\"ffa\",protocol=\"quake3\",le=\"0.5\"} 1\n",
		"quakeshield_player_ping_seconds_bucket{service=\"ffa\",protocol=\"quake3\",le=\"+Inf\"} 2\n",
		"quakeshield_player_ping_seconds_count{service=\"ffa\",protocol=\"quake3\"} 2\n",
		"quakeshield_player_ping_seconds_sum{service=\"ffa\",protocol=\"quake3\"} 0.73\n",
		"quakeshield_player_loss_ratio_bucket{service=\"ffa\",protocol=\"netquake\",direction=\"in\",le=\"0.0\"} 1\n",
		"quakeshield_player_loss_ratio_count{service=\"ffa\",protocol=\"netquake\",direction=\"out\"} 1\n",
		"quakeshield_player_snapshot_rate_hertz_bucket{service=\"ffa\",protocol=\"quake3\",le=\"20.0\"} 1\n",
		"quakeshield_player_extrapolation_ratio_sum{service=\"ffa\",protocol=\"quake3\"} 0.06\n",
	};
	/* clang-format on */
	struct decoded *d = decoded_create();
	char literal[] = "snapshot"; /* the same word at another address */
	struct record r = { .family = FAMILY_QUAKE3, .kind = "snapshot" };
	char *text;

	(void)state;
	decoded_record(d, 0, &r, SAMPLER_FOLLOW);
	r.kind = literal;
	decoded_record(d, 0, &r, SAMPLER_FOLLOW);
	r.status = RECORD_PARTIAL;
	decoded_record(d, 0, &r, SAMPLER_FOLLOW);
	decoded_record(d, 0, &r, SAMPLER_STATISTIC);
	r = (struct record){ .family = FAMILY_NETQUAKE, .kind = "snapshot" };
	decoded_record(d, 0, &r, SAMPLER_FOLLOW);
	decoded_figure(d, 0, FAMILY_QUAKE3, DECODED_PING, 0.03);
	decoded_figure(d, 0, FAMILY_QUAKE3, DECODED_PING, 0.7);
	decoded_figure(d, 0, FAMILY_QUAKE3, DECODED_SNAPSHOTS, 20);
	decoded_figure(d, 0, FAMILY_QUAKE3, DECODED_EXTRAPOLATION, 0.06);
	decoded_figure(d, 0, FAMILY_NETQUAKE, DECODED_LOSS_C2S, 0);
	decoded_figure(d, 0, FAMILY_NETQUAKE, DECODED_LOSS_S2C, 0.9);
	text = render(&stats, d);
	for (size_t i = 0; i < COUNT(rows); i++)
		if (!strstr(text, rows[i]))
			fail_msg("not there: %s", rows[i]);
	free(text);
	decoded_free(d);
}

/* However full the table is: each kind by each sampler is counted apart. */
static void samplers_are_counted_apart(void **state)
{
	static char kinds[DECODED_KINDS / 2][8];

	(void)state;
	/* Other words are at other places, some behind one another. */
	for (int words = 0; words < 50; words++) {
		struct decoded *d = decoded_create();
		const struct decoded_service *s;

		for (size_t i = 0; i < COUNT(kinds); i++) {
			struct record r = { .family = FAMILY_QUAKE3, .kind = kinds[i] };

			snprintf(kinds[i], sizeof(kinds[i]), "%d-%zu", words, i);
			decoded_record(d, 0, &r, SAMPLER_STATISTIC);
			decoded_record(d, 0, &r, SAMPLER_FOLLOW);
			decoded_record(d, 0, &r, SAMPLER_FOLLOW);
		}
		s = decoded_service(d, 0);
		assert_int_equal(s->used, 2 * COUNT(kinds));
		for (size_t i = 0; i < DECODED_PLACES; i++)
			if (s->rows[i].kind)
				assert_int_equal(s->rows[i].records,
						 1 + (s->rows[i].sampler ==
						      SAMPLER_FOLLOW));
		decoded_free(d);
	}
}

static void attacks_by_service(void **state)
{
	static const char *const rows[] = {
		"quakeshield_under_attack{service=\"ffa\",protocol=\"quake3\"} 1\n",
		"quakeshield_attacks_total{service=\"ffa\",protocol=\"quake3\"} 3\n",
		("quakeshield_attack_peak_packets_per_second{service=\"ffa\",protocol=\"quake3\"} "
		 "20000.5\n"),
		"quakeshield_port_scan 0\n",
		"quakeshield_port_scans_total 2\n",
	};
	static struct incident incident = { .peak_pps = 20000.5 };
	char *text;

	(void)state;
	watches[services[0].slot].now = &incident;
	watches[services[0].slot].count = 3;
	watches[INCIDENT_MACHINE].count = 2;
	text = render(&stats, NULL);
	memset(watches, 0, sizeof(watches));
	for (size_t i = 0; i < COUNT(rows); i++)
		if (!strstr(text, rows[i]))
			fail_msg("not there: %s", rows[i]);
	free(text);
}

/* The most that can be is at most what metrics.h says, line by line. */
static void cardinality(void **state)
{
	struct stats_service *all = calloc(2, sizeof(*all));
	struct stats s = { .services = all, .service_count = 2 };
	struct decoded *decoded;
	char *text;

	(void)state;
	assert_non_null(all);
	for (int i = 0; i < 2; i++) {
		snprintf(all[i].service.name, NAME_MAX_LEN, "s%d", i);
		all[i].slot = (__u32)i;
		all[i].cached_count = CACHE_FORMS;
		all[i].judged = JUDGED_YES;
		all[i].in.unverified = all[i].out.unverified = (struct volume){ 1, 1 };
		for (int kind = 0; kind < KIND_COUNT; kind++)
			for (int reason = 0; reason < REASON_COUNT; reason++)
				all[i].in.by[kind][reason].packets =
					all[i].out.by[kind][reason].packets = 1;
	}
	s.link_count = SHIELD_LINKS;
	for (int i = 0; i < SHIELD_LINKS; i++) {
		snprintf(s.links[i].interface, IF_NAMESIZE, "eth%d", i);
		s.links[i].since = 1;
	}
	decoded = decoded_of_everything();
	text = render(&s, decoded);
	assert_int_equal(
		samples_in(text),
		2 * METRICS_LINES_SERVICE + METRICS_LINES_OTHER -
			2 * ((HISTOGRAM_BUCKETS - 10) * 2 + (HISTOGRAM_BUCKETS - 8) * 3) *
				FAMILY_COUNT);
	decoded_free(decoded);
	free(text);
	free(all);
}

static void a_full_disk_is_said(void **state)
{
	FILE *full = fopen("/dev/full", "w");

	(void)state;
	if (!full) {
		print_message("skipped: no /dev/full here\n");
		skip();
	}
	assert_int_equal(metrics_write(&stats, NULL, NULL, OMETRIC_OPEN, full), -EIO);
	fclose(full);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table_rules),
		cmocka_unit_test(a_name_only_once),
		cmocka_unit_test(escapes_and_numbers),
		cmocka_unit_test(families_are_well_made),
		cmocka_unit_test(lines),
		cmocka_unit_test(text_format),
		cmocka_unit_test(series_begin_with_the_first_datagram),
		cmocka_unit_test(no_ratio),
		cmocka_unit_test_setup(attacks_by_service, fill),
		cmocka_unit_test(cardinality),
		cmocka_unit_test(kinds_without_room),
		cmocka_unit_test(decoded_lines),
		cmocka_unit_test(samplers_are_counted_apart),
		cmocka_unit_test(a_full_disk_is_said),
	};

	return cmocka_run_group_tests(tests, fill, NULL);
}
