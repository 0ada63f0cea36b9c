// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Recordings of QuakeWorld, the protocol not told: every datagram and every block, every
 * move's checksum, and the facts that are known of them. CAPTURES, or skipped by name.
 */
#include "decode/qw/qw_support.h"
#include "recordings.h"

struct expected {
	const char *name;
	unsigned int records;
	unsigned int malformed; /* words that no server answers */
	unsigned int moves; /* each with the right checksum */
	double last; /* seconds, of a recording */
	const char *facts[8]; /* found in the output */
};

/* Records that build on baselines that the recording lacks. */
static unsigned int partial_of(const struct expected *e)
{
	return strstr(e->name, "ffa9_dm4.mvd") ? 4838 : 0;
}

static const struct expected files[] = {
	{ "live/qw-mvdsv-ezquake-2clients-mapchange.pcap",
	  5854,
	  0,
	  2922,
	  0,
	  { "\"text\":\"ezalice\"", "\"text\":\"ezbob\"", "maps/lqdm2.bsp",
	    "maps/lqdm1.bsp", "\"levelname\":\"Torture Pit\"",
	    "\"levelname\":\"Solstice\"", "\"text\":\"begin 2\"" } },
	{ "live/qw-mvdsv-ezquake-disconnect-kick.pcap",
	  779,
	  0,
	  383,
	  0,
	  { "ezalice: hello\\n", "ezbob: hello\\n", "\"text\":\"say \\\"hello\\\"\"",
	    "\"text\":\"drop\"", "ezbob was kicked\\n",
	    "You were kicked from the game\\n", "\"op\":\"disconnect\"" } },
	{ "live/qw-mvdsv-ezquake-download.pcap",
	  2871,
	  0,
	  1294,
	  0,
	  { "\"size\":378164,\"name\":\"maps/lqdm12.bsp\"",
	    "Map maps/lqdm12.bsp is 369KB (0.36MB)\\n", "\"chunk\":0,",
	    "\"chunk\":369," } },
	{ "live/qw-mvdsv-ezquake-spectator-timeout.pcap",
	  2132,
	  0,
	  1063,
	  0,
	  { "ezbob timed out\\n", "\"slot\":1,\"spectator\":true",
	    "\"text\":\"Spectator \"" } },
	{ "live/qw-mvdsv-ktx-queries-session.pcap",
	  1605,
	  0,
	  798,
	  0,
	  { "KTX: Kombat Teams eXtreme", "\"levelname\":\"Episode Select\"",
	    "\"op\":\"centerprint\"" } },
	{ "live/qw-mvdsv-queries.pcap", 164, 2, 0, 0, { "\"text\":\"nosuch\\n\"" } },
	{ "demos/quakeworld-mvd/1on1_tron.mvd",
	  24648,
	  0,
	  0,
	  174.609,
	  { "\"kind\":\"demoinfo\"", "\"json\":\"{", "\"op\":\"dmgdone\"" } },
	{ "demos/quakeworld-mvd/2on2_frobodm2_mvdsv033.mvd",
	  12688,
	  0,
	  0,
	  202.743,
	  { "EndOfDemo" } },
	{ "demos/quakeworld-mvd/duel_dm3_1154.mvd",
	  9659,
	  0,
	  0,
	  76.21,
	  { "\"json\":\"{", "\"time\":1150.09961", "\"colormod\":[0,38,38]" } },
	{ "demos/quakeworld-mvd/ffa9_dm4.mvd",
	  13361,
	  0,
	  0,
	  76.204,
	  { "\"json\":\"{", "\"op\":\"paused_duration\"" } },
	{ "demos/quakeworld-mvd/policy_bridge_smoke.mvd",
	  2580,
	  0,
	  0,
	  30.808,
	  { "\"op\":\"start_time\"" } },
	{ "demos/quakeworld-mvd/test_dm2.mvd", 70, 0, 0, 0, { "EndOfDemo" } },
	{ "demos/quakeworld-qwd/bps_hud_fteext.qwd", 2647, 0, 0, 0, { "demo-end" } },
	{ "demos/quakeworld-qwd/dm3_all4_hexagon.qwd", 4065, 0, 0, 0, { "demo-end" } },
	{ "demos/quakeworld-qwd/dm3_hex_quad_to_sng.qwd", 1385, 0, 0, 0, { "demo-end" } },
	{ "demos/quakeworld-qwd/dm3_spawn_ra_tunnel_to_lg.qwd",
	  1097,
	  0,
	  0,
	  0,
	  { "demo-end" } },
};

struct seen {
	struct jsonl json;
	unsigned int records, decoded, malformed;
	int64_t last_ns;
};

static void sink(void *context, const struct record *r)
{
	struct seen *seen = context;

	seen->records++;
	seen->decoded += r->status == RECORD_DECODED;
	seen->malformed += r->status == RECORD_MALFORMED;
	assert_true(r->time_ns >= seen->last_ns);
	seen->last_ns = r->time_ns;
	jsonl_record(&seen->json, r);
}

static void read_capture(FILE *file, struct decoder *d)
{
	struct capture *capture;
	struct datagram dg;
	char message[256];

	assert_int_equal(capture_open(file, &capture, message, sizeof(message)), 0);
	while (capture_next(capture, &dg) == 1)
		decoder_datagram(d, &dg);
	decoder_flush(d);
	capture_close(capture);
}

static void read_demo(FILE *file, struct decoder *d)
{
	static uint8_t prefix[DEMO_PREFIX];
	size_t n = fread(prefix, 1, sizeof(prefix), file);
	struct demo_block block;
	struct demo *demo;
	int result;

	rewind(file);
	demo = demo_open(file, demo_recognise(prefix, n));
	assert_non_null(demo);
	while ((result = demo_next(demo, &block)) == 1) {
		assert_int_equal(block.direction == DIRECTION_C2S,
				 block.format == DEMO_QWD && block.type == 0);
		decoder_demo(d, &block);
	}
	assert_int_equal(result, 0);
	demo_close(demo);
}

static unsigned int count(const char *text, const char *what)
{
	unsigned int n = 0;

	for (; (text = strstr(text, what)); text++)
		n++;
	return n;
}

static void one(const struct expected *e, FILE *file)
{
	struct decoder_options options = { .fields = true, .forced = FAMILY_AUTO };
	struct seen seen = { .records = 0 };
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);
	struct decoder *d;

	jsonl_init(&seen.json, out);
	d = decoder_create(&options, sink, &seen);
	assert_non_null(d);
	if (is_demo(e->name))
		read_demo(file, d);
	else
		read_capture(file, d);
	decoder_free(d);
	assert_int_equal(jsonl_flush(&seen.json), 0);
	fclose(out);
	print_message("%s: %u of %u\n", e->name, seen.decoded, seen.records);
	assert_int_equal(seen.records, e->records);
	assert_int_equal(seen.malformed, e->malformed);
	assert_int_equal(seen.decoded, e->records - e->malformed - partial_of(e));
	assert_int_equal(count(text, "\"checksum_valid\":true"), e->moves);
	assert_int_equal(count(text, "\"checksum_valid\":false"), 0);
	if (e->last > 0)
		assert_int_equal(seen.last_ns, (int64_t)(e->last * 1e9 + 0.5));
	for (size_t i = 0; i < 8 && e->facts[i]; i++)
		if (!strstr(text, e->facts[i]))
			fail_msg("%s: no %s", e->name, e->facts[i]);
	free(text);
}

static void all_of_them(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		FILE *file = recording_open(files[i].name);

		if (file)
			one(&files[i], file);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_of_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
