// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_stats.c - a made-up snapshot, and what both renderers say of it, to the letter.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <errno.h>
#include <jansson.h>

#include "lib/names.h"
#include "stats/decoded.h"
#include "stats/health.h"
#include "stats/stats.h"

static struct stats_service services[2];

static struct stats stats = {
	.links = {
		{ .interface = "eth0", .mode = MODE_NATIVE, .attached = true,
		  .ingress = true, .egress = true,
		  .program_id = 7, .since = 1700000000 },
		{ .interface = "eth1", .mode = MODE_SKB, .attached = false,
		  .egress = true,
		  .program_id = 9, .since = 1700000060 },
	},
	.link_count = 2,
	.services = services,
	.service_count = 2,
};

static int fill(void **state)
{
	struct stats_service *ffa = &services[0], *duel = &services[1];

	(void)state;
	strcpy(ffa->service.name, "ffa");
	ffa->service.family = FAMILY_QUAKE3;
	ffa->players = 3;
	ffa->in.by[KIND_GETSTATUS][REASON_SOURCE_LIMIT] = (struct counter){ 100, 6000 };
	ffa->in.by[KIND_GETSTATUS][REASON_WITHIN_LIMITS] = (struct counter){ 20, 1200 };
	ffa->in.by[KIND_NETCHAN][REASON_PLAYER] = (struct counter){ 4000, 400000 };
	ffa->out.by[KIND_STATUSRESPONSE][REASON_WITHIN_LIMITS] =
		(struct counter){ 20, 20000 };
	ffa->in.unverified = (struct volume){ 2000, 120000 };
	ffa->out.unverified = (struct volume){ 1000, 30000 };
	ffa->limits_used[CLASS_QUERY] = 0.5;
	ffa->limits_used[CLASS_RCON] = 1;
	ffa->cached[0] = (struct cached_response){ .request = "getinfo",
						   .nonce = true,
						   .fresh = true,
						   .bytes = 412,
						   .age_ns = 1234567890 };
	ffa->cached[1] = (struct cached_response){ .request = "getstatus",
						   .bytes = 1211,
						   .age_ns = 60000000000 };
	ffa->cached_count = 2;
	strcpy(duel->service.name, "a \"duel\"\\");
	duel->service.family = FAMILY_QUAKEWORLD;
	duel->service.observe = 1;
	stats.others[OTHER_NO_SERVICE] = (struct counter){ 5, 500 };
	stats.sampled[SAMPLER_FOLLOW] = (struct sampled){ 10, 2, 1 };
	stats.tables[TABLE_PLAYERS] = (struct table_usage){ 3, PLAYERS_MAX };
	stats.generation = 4;
	stats.time_ms = 1700000001250;
	stats.others[OTHER_TOO_MANY_HEADERS] = (struct counter){ 1, UINT32_MAX * 4ull };
	return 0;
}

/* What decoding tells of the first service; to be let go. */
static json_t *decoded_of_ffa(void)
{
	struct record r = { .family = FAMILY_QUAKE3,
			    .status = RECORD_PARTIAL,
			    .kind = "snapshot" };
	struct decoded *d = decoded_create();
	json_t *all = json_object();

	assert_non_null(d);
	decoded_record(d, 9, &r, SAMPLER_FOLLOW);
	decoded_record(d, 9, &r, SAMPLER_FOLLOW);
	decoded_figure(d, 9, FAMILY_QUAKE3, DECODED_LOSS_S2C, 0.25);
	decoded_figure(d, 9, FAMILY_QUAKE3, DECODED_LOSS_S2C, 0.5);
	json_object_set_new(all, "ffa", decoded_json(d, 9));
	assert_null(decoded_json(d, 8));
	decoded_free(d);
	return all;
}

static int json_plain(const struct stats *s, FILE *out)
{
	return stats_json(s, NULL, out);
}

static int json_decoded(const struct stats *s, FILE *out)
{
	json_t *decoded = decoded_of_ffa();
	int err = stats_json(s, decoded, out);

	json_decref(decoded);
	return err;
}

static void render(int (*renderer)(const struct stats *, FILE *), const struct stats *s,
		   char *ret, size_t size)
{
	FILE *file = fmemopen(ret, size, "w");

	assert_non_null(file);
	assert_int_equal(renderer(s, file), 0);
	fclose(file);
}

static void json_to_the_letter(void **state)
{
	static const char expected[] =
		"{\"interface\":\"eth0\",\"mode\":\"native\",\"interfaces\":["
		"{\"interface\":\"eth0\",\"mode\":\"native\","
		"\"since\":\"2023-11-14T22:13:20Z\",\"protected\":true,\"judges_nothing_since\":null,\"ingress\":true,\"egress\":true,\"missing\":false,\"up\":true},"
		"{\"interface\":\"eth1\",\"mode\":\"skb\","
		"\"since\":\"2023-11-14T22:14:20Z\",\"protected\":false,\"judges_nothing_since\":null,\"ingress\":false,\"egress\":true,\"missing\":false,\"up\":true}],"
		"\"services\":[{\"name\":\"ffa\",\"protocol\":\"quake3\","
		"\"observe\":false,\"players\":3,"
		"\"amplification\":{\"payload\":0.5,\"wire\":0.25},\"counters\":["
		"{\"direction\":\"in\",\"kind\":\"netchan\",\"verdict\":\"pass\","
		"\"reason\":\"player\",\"packets\":4000,\"bytes\":400000},"
		"{\"direction\":\"in\",\"kind\":\"getstatus\",\"verdict\":\"pass\","
		"\"reason\":\"within-limits\",\"packets\":20,\"bytes\":1200},"
		"{\"direction\":\"in\",\"kind\":\"getstatus\",\"verdict\":\"drop\","
		"\"reason\":\"source-limit\",\"packets\":100,\"bytes\":6000},"
		"{\"direction\":\"out\",\"kind\":\"statusResponse\","
		"\"verdict\":\"pass\",\"reason\":\"within-limits\",\"packets\":20,"
		"\"bytes\":20000}],\"limits_used\":{\"query\":0.5,\"challenge\":0.0,"
		"\"connect\":0.0,\"rcon\":1.0,\"unknown\":0.0,\"netchan\":0.0},"
		"\"unverified\":{\"in\":{\"payload\":2000,\"wire\":120000},"
		"\"out\":{\"payload\":1000,\"wire\":30000}},"
		"\"decoded\":{\"records\":[{\"sampler\":\"follow\","
		"\"protocol\":\"quake3\",\"kind\":\"snapshot\","
		"\"status\":\"partial\",\"records\":2}],\"unlisted\":0,"
		"\"players\":[{\"protocol\":\"quake3\",\"loss_s2c\":{\"count\":2,"
		"\"sum\":0.75,\"bounds\":[0.0,0.01,0.02,0.05,0.1,"
		"0.2,0.3,0.5],"
		"\"counts\":[0,0,0,0,0,0,1,1]}}]},"
		"\"cached_responses\":[{\"request\":\"getinfo\",\"nonce\":true,"
		"\"bytes\":412,\"age\":1.234,\"fresh\":true},"
		"{\"request\":\"getstatus\",\"nonce\":false,"
		"\"bytes\":1211,\"age\":60.0,\"fresh\":false}]},"
		"{\"name\":\"a \\\"duel\\\"\\\\\",\"protocol\":\"quakeworld\","
		"\"observe\":true,\"players\":0,"
		"\"amplification\":{\"payload\":null,\"wire\":null},\"counters\":[],"
		"\"limits_used\":{\"query\":0.0,\"challenge\":0.0,\"connect\":0.0,"
		"\"rcon\":0.0,\"unknown\":0.0,\"netchan\":0.0},\"unverified\":{"
		"\"in\":{\"payload\":0,\"wire\":0},"
		"\"out\":{\"payload\":0,\"wire\":0}},\"decoded\":null,"
		"\"cached_responses\":[]}],\"other\":{";
	char text[8192];

	(void)state;
	render(json_decoded, &stats, text, sizeof(text));
	assert_int_equal(text[strlen(text) - 1], '\n');
	text[strlen(expected)] = 0;
	assert_string_equal(text, expected);
}

static void json_others(void **state)
{
	char text[8192];
	json_t *root, *other, *entry;
	const char *key;
	int n = 0;

	(void)state;
	render(json_plain, &stats, text, sizeof(text));
	root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	other = json_object_get(root, "other");
	assert_int_equal(json_object_size(other), OTHER_COUNT);
	json_object_foreach (other, key, entry) {
		assert_non_null(json_object_get(entry, "verdict"));
		n++;
	}
	assert_int_equal(n, OTHER_COUNT);
	entry = json_object_get(other, "too-many-headers");
	assert_string_equal(json_string_value(json_object_get(entry, "verdict")), "drop");
	assert_int_equal(json_integer_value(json_object_get(entry, "bytes")),
			 UINT32_MAX * 4ull);
	json_decref(root);
}

static void json_gauges(void **state)
{
	static const char expected[] =
		",\"samplers\":{"
		"\"statistic\":{\"taken\":0,\"limited\":0,\"lost\":0},"
		"\"follow\":{\"taken\":10,\"limited\":2,\"lost\":1}},"
		"\"maps\":{\"players\":{\"used\":3,\"capacity\":65536},"
		"\"allow\":{\"used\":0,\"capacity\":0},"
		"\"deny\":{\"used\":0,\"capacity\":0},"
		"\"follow\":{\"used\":0,\"capacity\":0},"
		"\"known\":{\"used\":0,\"capacity\":0}},\"generation\":4,"
		"\"fallback\":false,"
		"\"time\":1700000001.25}\n";
	char text[8192];

	(void)state;
	render(json_plain, &stats, text, sizeof(text));
	assert_true(strlen(text) > strlen(expected));
	assert_string_equal(text + strlen(text) - strlen(expected), expected);
}

/* What is spent of a budget: from the time at which it is full again. */
static void spent(void **state)
{
	static const struct {
		struct limit limit;
		__u64 due, now;
		double spent;
	} rows[] = {
		{ { 0, 0 }, 900, 100, 0 }, /* unlimited */
		{ { 10, 5 }, 0, 100, 1 }, /* nothing passes */
		{ { 10, 100 }, 0, 100, 0 },	 { { 10, 100 }, 100, 100, 0 },
		{ { 10, 100 }, 125, 100, 0.25 }, { { 10, 100 }, 200, 100, 1 },
		{ { 10, 100 }, ~0ull, 100, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_true(limit_used_share(&rows[i].limit, rows[i].due, rows[i].now) ==
			    rows[i].spent);
}

static void json_of_nothing(void **state)
{
	static const char expected[] = "{\"interface\":null,\"mode\":null,"
				       "\"interfaces\":[],\"services\":[],\"other\":{";
	struct stats none = { 0 };
	char text[2048];

	(void)state;
	render(json_plain, &none, text, sizeof(text));
	text[strlen(expected)] = 0;
	assert_string_equal(text, expected);
}

/* Of every sort of question that can be answered: in words, and how old and large. */
static void templates_seen(void **state)
{
	static const struct {
		struct cache_entry t;
		const char *question;
		__u64 now_ns;
		struct cached_response seen;
	} rows[] = {
		{ { .made_ns = 5,
		    .request_length = 12,
		    .nonce = 1,
		    .head = 3,
		    .cuts = { { .tail = 4 } } },
		  "\xff\xff\xff\xffgetinfo ",
		  5 + CACHE_NS - 1,
		  { "getinfo", true, true, 7, CACHE_NS - 1 } },
		{ { .made_ns = 5, .request_length = 13, .head = 900 },
		  "\xff\xff\xff\xffstatus 23",
		  5 + CACHE_NS,
		  { "status 23", false, false, 900, CACHE_NS } },
		{ { .made_ns = 5, .request_length = 12, .head = 1 },
		  "\x80\x00\x00\x0c\x02QUAKE\x00\x03",
		  4, /* by a clock that was read before */
		  { "ccreq-server-info", false, true, 1, 0 } },
		{ { .made_ns = 5, .request_length = CACHE_REQUEST, .head = 1 },
		  "\xff\xff\xff\xff\x01 345678901234567890",
		  5,
		  { "? 345678901234567890", false, true, 1, 0 } },
	};
	struct cached_response seen;
	struct cache_entry none = { .request_length = 12 };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct cache_entry t = rows[i].t;

		memcpy(t.request, rows[i].question, t.request_length);
		memset(&seen, 0xff, sizeof(seen));
		assert_true(cached_response_describe(&t, rows[i].now_ns, &seen));
		assert_string_equal(seen.request, rows[i].seen.request);
		assert_int_equal(seen.nonce, rows[i].seen.nonce);
		assert_int_equal(seen.fresh, rows[i].seen.fresh);
		assert_int_equal(seen.bytes, rows[i].seen.bytes);
		assert_int_equal(seen.age_ns, rows[i].seen.age_ns);
	}
	assert_false(cached_response_describe(&none, 5, &seen));
	none.made_ns = 1;
	none.request_length = CACHE_REQUEST + 1;
	assert_false(cached_response_describe(&none, 5, &seen));
}

/* Every kind and reason at once: still JSON, and every counter is there. */
static void json_of_everything(void **state)
{
	const size_t size = 1 << 20;
	struct stats_service *all = calloc(1, sizeof(*all));
	struct stats s = { .services = all, .service_count = 1 };
	char *text = malloc(size);
	json_t *root, *counters;

	(void)state;
	assert_non_null(all);
	assert_non_null(text);
	for (int kind = 0; kind < KIND_COUNT; kind++)
		for (int reason = 0; reason < REASON_COUNT; reason++)
			all->in.by[kind][reason].packets = 1;
	render(json_plain, &s, text, size);
	root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	counters = json_object_get(json_array_get(json_object_get(root, "services"), 0),
				   "counters");
	assert_int_equal(json_array_size(counters), KIND_COUNT * REASON_COUNT);
	json_decref(root);
	free(text);
	free(all);
}

static void text_to_the_letter(void **state)
{
	static const char expected[] =
		"eth0 (native) since 2023-11-14T22:13:20Z\n"
		"eth1 (skb) since 2023-11-14T22:14:20Z: not protected any more\n"
		"\n"
		"service ffa (quake3): 3 players, amplification of payload x0.500, on the "
		"wire x0.250\n"
		"      kind                       verdict reason                    packets"
		"             bytes\n"
		"  in  netchan                    pass    player                       4000"
		"            400000\n"
		"  in  getstatus                  drop    source-limit                  100"
		"              6000\n"
		"  in  getstatus                  pass    within-limits                  20"
		"              1200\n"
		"  out statusResponse             pass    within-limits                  20"
		"             20000\n"
		"  cached response to 'getinfo WORD': 412 bytes, 1.2 s old\n"
		"  cached response to 'getstatus': 1211 bytes, 60.0 s old, too old to be "
		"sent\n"
		"\n"
		"service a \"duel\"\\ (quakeworld), only observed: 0 players\n"
		"\n"
		"not for a service\n"
		"  in  no-service                 pass                                    5"
		"               500\n"
		"  in  too-many-headers           drop                                    1"
		"       17179869180\n";
	char text[8192];

	(void)state;
	render(stats_text, &stats, text, sizeof(text));
	assert_string_equal(text, expected);
}

/* People are not told the ratio of a join or two. */
static void text_of_few_bytes(void **state)
{
	__u64 *wire = &stats.services[0].in.unverified.wire, before = *wire;
	char text[8192];

	(void)state;
	*wire = STATS_RATIO_LEAST - 1;
	render(stats_text, &stats, text, sizeof(text));
	assert_null(strstr(text, "amplification"));
	*wire = STATS_RATIO_LEAST;
	render(stats_text, &stats, text, sizeof(text));
	assert_non_null(strstr(text, "amplification of payload x0.500, on the wire x"));
	*wire = before;
}

static void a_full_disk_is_said(void **state)
{
	FILE *full = fopen("/dev/full", "w");

	(void)state;
	if (!full) {
		print_message("skipped: no /dev/full here\n");
		skip();
	}
	assert_int_equal(stats_json(&stats, NULL, full), -EIO);
	assert_int_equal(stats_text(&stats, full), -EIO);
	fclose(full);
}

static void ratios(void **state)
{
	double x = -1;

	(void)state;
	assert_false(stats_ratio(5, 0, &x));
	assert_true(x == -1);
	assert_true(stats_ratio(0, 5, &x) && x == 0);
	assert_true(stats_ratio(10, 4, &x) && x == 2.5);
}

/* A service whose datagrams all come in by another interface is not protected. */
static void health_judged(void **state)
{
	struct stats_service ffa = { .service.name = "ffa", .unjudged_by = "gre1" };
	struct stats s = { .links = { { .interface = "eth0", .attached = true } },
			   .link_count = 1,
			   .services = &ffa,
			   .service_count = 1 };

	(void)state;
	for (int judged = JUDGED_UNKNOWN; judged <= JUDGED_NO; judged++) {
		char text[256];
		FILE *out = fmemopen(text, sizeof(text), "w");

		assert_non_null(out);
		ffa.judged = (enum judged)judged;
		assert_int_equal(health_write(&s, out), judged != JUDGED_NO);
		fclose(out);
		assert_int_equal(strstr(text, "come in by gre1, where nothing") != NULL,
				 judged >= JUDGED_PARTLY);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(health_judged),
		cmocka_unit_test(json_to_the_letter),
		cmocka_unit_test(json_others),
		cmocka_unit_test(json_gauges),
		cmocka_unit_test(json_of_nothing),
		cmocka_unit_test(json_of_everything),
		cmocka_unit_test(templates_seen),
		cmocka_unit_test(text_to_the_letter),
		cmocka_unit_test(text_of_few_bytes),
		cmocka_unit_test(a_full_disk_is_said),
		cmocka_unit_test(ratios),
		cmocka_unit_test(spent),
	};

	return cmocka_run_group_tests(tests, fill, NULL);
}
