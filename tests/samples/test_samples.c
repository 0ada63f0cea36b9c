// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_samples.c - samples as the kernel hands them over: what becomes of each, what
 * is written of it, when it is shed, and what other processes read.
 */
#include "decode/decode_support.h"
#include "samples/samples.h"
#include "samples/samples_decode.h"
#include "lag/lag_file.h"
#include "samples/players_file.h"
#include "lag/lag_seconds.h"
#include "samples/cpu_budget.h"

#include <errno.h>
#include <pcap/pcap.h>
#include <sys/stat.h>
#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define SECOND	 1000000000LL

static char directory[] = "/tmp/test_live_samples.XXXXXX";

static const char *path_of(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return path;
}

/* --- frames ------------------------------------------------------------------------ */

#define HEADERS 42 /* Ethernet, IPv4, UDP */

/* To or from 10.0.0.1:27960. */
static size_t frame_of(uint8_t *to, bool c2s, const uint8_t *payload, size_t n)
{
	const uint8_t client[] = { 10, 0, 0, 9 }, server[] = { 10, 0, 0, 1 };
	uint8_t *ip = to + 14, *udp = ip + 20;

	memset(to, 0, HEADERS);
	to[12] = 8;
	ip[0] = 0x45;
	ip[2] = (uint8_t)((n + 28) >> 8);
	ip[3] = (uint8_t)(n + 28);
	ip[8] = 64;
	ip[9] = 17;
	memcpy(ip + 12, c2s ? client : server, 4);
	memcpy(ip + 16, c2s ? server : client, 4);
	udp[c2s ? 2 : 0] = 27960 >> 8;
	udp[c2s ? 3 : 1] = 27960 & 0xff;
	udp[c2s ? 0 : 2] = 5000 >> 8;
	udp[c2s ? 1 : 3] = 5000 & 0xff;
	udp[4] = (uint8_t)((n + 8) >> 8);
	udp[5] = (uint8_t)(n + 8);
	memcpy(udp + 8, payload, n);
	return HEADERS + n;
}

struct seen {
	unsigned int count;
	struct sample_note sample;
	enum record_status status;
	enum wire_family family;
	enum direction direction;
	char kind[64];
	char reason[128];
	unsigned int by_status[RECORD_STATUS_COUNT];
	struct samples_writer *writer; /* or NULL */
};

static const struct service ffa = { .name = "ffa", .family = FAMILY_QUAKE3, .active = 1 };

static void see(void *context, const struct record *r, const struct sample_note *sample)
{
	struct seen *s = context;

	s->count++;
	s->sample = *sample;
	s->status = r->status;
	s->family = r->family;
	s->direction = r->direction;
	s->by_status[r->status]++;
	snprintf(s->kind, sizeof(s->kind), "%s", r->kind);
	snprintf(s->reason, sizeof(s->reason), "%s", r->reason ? r->reason : "");
	if (s->writer)
		samples_write_record(s->writer, r, sample, &ffa);
}

static struct sample sample_of(enum sampler sampler, bool c2s, size_t kept, size_t length)
{
	struct sample sample = {
		.length = (__u32)length,
		.kept = (__u32)kept,
		.slot = 7,
		.kind = KIND_GETSTATUS,
		.reason = REASON_SOURCE_LIMIT,
		.direction = c2s ? DIRECTION_C2S : DIRECTION_S2C,
		.sampler = (__u8)sampler,
	};

	return sample;
}

/* One sample from an exact heap copy of what was kept of it. */
static bool take(struct samples_decoder *d, enum sampler sampler, bool c2s,
		 enum wire_family family, const uint8_t *payload, size_t n, size_t keep)
{
	uint8_t frame[HEADERS + 2000];
	size_t length = frame_of(frame, c2s, payload, n);
	struct sample sample =
		sample_of(sampler, c2s, length < keep ? length : keep, length);
	uint8_t *copy = malloc(sample.kept);
	bool there;

	assert_non_null(copy);
	memcpy(copy, frame, sample.kept);
	there = samples_decoder_sample(d, &sample, copy, family, SECOND);
	free(copy);
	return there;
}

/* --- loose samples -------------------------------------------------------------------
 */

static const struct {
	enum wire_family family;
	bool c2s;
	const uint8_t *payload;
	size_t n;
	enum wire_family is;
	const char *kind;
	enum record_status status;
} loose[] = {
	{ FAMILY_QUAKE3, true, BYTES(MARK "getstatus xxx"), FAMILY_QUAKE3, "getstatus",
	  RECORD_DECODED },
	{ FAMILY_QUAKE3, false, BYTES(MARK "infoResponse\n\\mapname\\q3dm17"),
	  FAMILY_QUAKE3, "infoResponse", RECORD_DECODED },
	{ FAMILY_QUAKE3, true, BYTES(MARK "nonsense"), FAMILY_QUAKE3, "oob-unknown",
	  RECORD_MALFORMED },
	{ FAMILY_QUAKE3, true, BYTES("\1\0\0\0\x11\x22scrambled"), FAMILY_QUAKE3,
	  "netchan", RECORD_OPAQUE },
	{ FAMILY_QUAKEWORLD, true, BYTES(MARK "status 23\n"), FAMILY_QUAKEWORLD, "status",
	  RECORD_DECODED },
	{ FAMILY_QUAKEWORLD, false, BYTES("\1\0\0\0\2\0\0\0payload"), FAMILY_QUAKEWORLD,
	  "netchan", RECORD_OPAQUE },
	{ FAMILY_NETQUAKE, true, BYTES("\x80\0\0\x0c\2QUAKE\0\3"), FAMILY_NETQUAKE,
	  "ccreq-server-info", RECORD_DECODED },
	{ FAMILY_NETQUAKE, true, BYTES("\0\x10\0\x0a\0\0\0\1\1\1"), FAMILY_NETQUAKE,
	  "netchan", RECORD_OPAQUE },
	{ FAMILY_QUAKE2, true, BYTES(MARK "status\n"), FAMILY_QUAKE2, "status",
	  RECORD_DECODED },
	/* A service of any protocol: whoever was understood last has spoken. */
	{ FAMILY_AUTO, false, BYTES("\1\0\0\0\2\0\0\0payload"), FAMILY_QUAKE2, "netchan",
	  RECORD_OPAQUE },
	{ FAMILY_AUTO, true, BYTES("\0\x10\0\x0a\0\0\0\1\1\1"), FAMILY_NETQUAKE,
	  "netchan", RECORD_OPAQUE },
};

static void loose_samples(void **state)
{
	struct seen s = { 0 };
	struct samples_decoder *d = samples_decoder_create(see, &s, NULL);

	(void)state;
	assert_non_null(d);
	for (size_t i = 0; i < COUNT(loose); i++) {
		assert_true(take(d, SAMPLER_STATISTIC, loose[i].c2s, loose[i].family,
				 loose[i].payload, loose[i].n, SAMPLE_STATISTIC_BYTES));
		/* At once: nothing is held back. */
		assert_int_equal(s.count, i + 1);
		assert_string_equal(s.kind, loose[i].kind);
		assert_int_equal(s.status, loose[i].status);
		assert_int_equal(s.family, loose[i].is);
		assert_int_equal(s.direction,
				 loose[i].c2s ? DIRECTION_C2S : DIRECTION_S2C);
		assert_int_equal(s.sample.slot, 7);
		assert_int_equal(s.sample.reason, REASON_SOURCE_LIMIT);
		assert_int_equal(s.sample.sampler, SAMPLER_STATISTIC);
	}
	samples_decoder_free(d);
}

static void see_own(void *context, const struct record *r,
		    const struct sample_note *sample)
{
	unsigned int *count = context;

	assert_int_equal(sample->slot, r->source.port % SERVICES_MAX);
	assert_int_equal(sample->reason, r->source.port % REASON_COUNT);
	++*count;
}

/*
 * Many are held back at once: the note of each waits with it. Three others that are not
 * followed come in between.
 */
static void notes_wait_with_their_datagrams(void **state)
{
	unsigned int count = 0;
	struct samples_decoder *d = samples_decoder_create(see_own, &count, NULL);
	uint8_t frame[HEADERS + 8];
	size_t n = frame_of(frame, true, BYTES(MARK "ping"));

	(void)state;
	assert_non_null(d);
	for (unsigned int port = 1; port <= 3 * DECODE_PENDING_MAX; port++) {
		struct sample sample = sample_of(SAMPLER_FOLLOW, true, n, n);

		sample.slot = (__u16)(port % SERVICES_MAX);
		sample.reason = (__u8)(port % REASON_COUNT);
		frame[34] = (uint8_t)(port >> 8);
		frame[35] = (uint8_t)port;
		assert_true(
			samples_decoder_sample(d, &sample, frame, FAMILY_AUTO, SECOND));
		sample.sampler = SAMPLER_STATISTIC;
		for (int i = 0; i < 3; i++)
			assert_true(samples_decoder_sample(d, &sample, frame, FAMILY_AUTO,
							   SECOND));
	}
	count -= 9 * DECODE_PENDING_MAX;
	assert_in_range(count, DECODE_PENDING_MAX, 2 * DECODE_PENDING_MAX);
	samples_decoder_rest(d);
	assert_int_equal(count, 3 * DECODE_PENDING_MAX);
	samples_decoder_free(d);
}

static void cut_samples(void **state)
{
	struct seen s = { 0 };
	struct samples_decoder *d = samples_decoder_create(see, &s, NULL);
	uint8_t status[1400];
	unsigned int datagrams = 0;

	(void)state;
	assert_non_null(d);
	memset(status, 'x', sizeof(status));
	memcpy(status, MARK "statusResponse\n\\mapname\\q3dm17\\sv_hostname\\", 43);
	assert_true(take(d, SAMPLER_STATISTIC, false, FAMILY_QUAKE3, status,
			 sizeof(status), SAMPLE_STATISTIC_BYTES));
	assert_string_equal(s.kind, "statusResponse");
	assert_int_equal(s.status, RECORD_PARTIAL);
	/* At every length: no byte is read that was not kept. */
	for (size_t keep = 1; keep < 200; keep++)
		datagrams += take(d, SAMPLER_STATISTIC, false, FAMILY_QUAKE3, status,
				  sizeof(status), keep);
	assert_int_equal(datagrams, 200 - HEADERS);
	samples_decoder_free(d);
}

static void first_fragments(void **state)
{
	struct seen s = { 0 };
	struct samples_decoder *d = samples_decoder_create(see, &s, NULL);
	uint8_t frame[HEADERS + 1480];
	uint8_t payload[1472] = "\0\1\x08\x20\0\0\0\1";
	size_t n = frame_of(frame, false, payload, sizeof(payload));
	struct sample sample = sample_of(SAMPLER_FOLLOW, false, n, n);

	(void)state;
	assert_non_null(d);
	frame[20] = 0x20; /* more follow */
	frame[38] = (2080 + 8) >> 8;
	frame[39] = (2080 + 8) & 0xff;
	assert_true(samples_decoder_sample(d, &sample, frame, FAMILY_NETQUAKE, SECOND));
	samples_decoder_rest(d);
	assert_int_equal(s.status, RECORD_PARTIAL);
	assert_non_null(strstr(s.reason, "IP fragments"));
	frame[21] = 100; /* a later one has no ports */
	assert_false(samples_decoder_sample(d, &sample, frame, FAMILY_NETQUAKE, SECOND));
	samples_decoder_free(d);
}

/* --- a followed flow: a recorded session, frame by frame
 * --------------------------------- */

static json_t *lines_of(const char *path)
{
	json_t *all = json_array();
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t size = 0;

	assert_non_null(file);
	while (getline(&line, &size, file) > 0) {
		json_error_t error;
		json_t *object = json_loads(line, JSON_REJECT_DUPLICATES, &error);

		assert_non_null(object);
		json_array_append_new(all, object);
	}
	free(line);
	fclose(file);
	return all;
}

static void followed_session(void **state)
{
	struct samples_target target = { path_of("lines"), "", "eth0" };
	struct seen s = { 0 };
	struct samples_decoder *d = samples_decoder_create(see, &s, NULL);
	char why[PCAP_ERRBUF_SIZE];
	pcap_t *pcap = pcap_open_offline("tests/data/q3/quake3-session-71.pcap", why);
	struct pcap_pkthdr *header;
	const u_char *frame;
	unsigned int frames = 0;
	json_t *all;

	(void)state;
	assert_non_null(d);
	assert_non_null(pcap);
	assert_int_equal(pcap_datalink(pcap), DLT_EN10MB);
	assert_int_equal(samples_writer_open(&target, &s.writer), 0);
	while (pcap_next_ex(pcap, &header, &frame) == 1) {
		/* Its server is at the higher address or not: by port. */
		bool c2s =
			frame[36] << 8 == (27961 & 0xff00) && frame[37] == (27961 & 0xff);
		struct sample sample =
			sample_of(SAMPLER_FOLLOW, c2s, header->caplen, header->len);

		sample.reason = REASON_PLAYER;
		frames += samples_decoder_sample(d, &sample, frame, FAMILY_QUAKE3,
						 header->ts.tv_sec * SECOND);
	}
	samples_decoder_rest(d);
	pcap_close(pcap);
	assert_true(frames > 10);
	assert_int_equal(s.count, frames);
	assert_int_equal(s.by_status[RECORD_DECODED], frames);
	samples_writer_close(s.writer);
	all = lines_of(target.json);
	assert_int_equal(json_array_size(all), frames);
	for (size_t i = 0; i < frames; i++) {
		json_t *line = json_array_get(all, i);

		assert_string_equal(text_at(line, "sampler"), "follow");
		assert_string_equal(text_at(line, "service"), "ffa");
		assert_string_equal(text_at(line, "verdict"), "pass");
		assert_string_equal(text_at(line, "shield_reason"), "player");
		assert_string_equal(text_at(line, "shield_kind"), "getstatus");
		assert_string_equal(text_at(line, "status"), "decoded");
	}
	json_decref(all);
	unlink(target.json);
	samples_decoder_free(d);
}

/* --- the budget
 * --------------------------------------------------------------------------- */

static void budget(void **state)
{
	static const struct {
		int64_t wall_ms, cpu_ms;
		bool loose, followed;
	} rows[] = {
		{ 10000, 500, true, true },
		{ 10100, 649, true, true },
		{ 10200, 650, false, true },
		{ 10300, 699, false, true },
		{ 10400, 700, false, false },
		{ 10999, 700, false, false },
		{ 11000, 700, true, true },
		{ 11500, 1000, false, false },
		{ 20000, 1000, true, true },
		{ 3000, 1100, true, true }, /* a clock set back */
	};
	struct cpu_budget s = { .percent = 20 };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		int64_t wall_ns = rows[i].wall_ms * 1000000;
		int64_t cpu_ns = rows[i].cpu_ms * 1000000;

		assert_int_equal(cpu_budget_admits(&s, wall_ns, cpu_ns, true),
				 rows[i].followed);
		assert_int_equal(cpu_budget_admits(&s, wall_ns, cpu_ns, false),
				 rows[i].loose);
	}
}

/* --- what others read
 * ------------------------------------------------------------------------ */

static void player_say(struct lagometer *l, struct record_tape *tape, bool c2s,
		       uint32_t sequence, int64_t time_ns)
{
	struct record r;

	record_reset(&r, tape);
	r.time_ns = time_ns;
	r.family = FAMILY_QUAKE3;
	r.direction = c2s ? DIRECTION_C2S : DIRECTION_S2C;
	r.source = harness_address(c2s ? 9 : 1, c2s ? 5000 : 27960);
	r.destination = harness_address(c2s ? 1 : 9, c2s ? 27960 : 5000);
	r.kind = c2s ? "client-move" : "snapshot";
	r.facts.has = FACT_SEQUENCE | (c2s ? FACT_ACK : 0);
	r.facts.sequence = r.facts.ack = sequence;
	facts_name(&r.facts, "d\"ora\x01\xff", 7);
	lagometer_record(l, 7, &r);
}

static void players_survive_the_file(void **state)
{
	struct lagometer *l = lagometer_create(4, LAG_BESIDE_SERVER);
	static struct service services[SERVICES_MAX];
	struct samples_stats stats = { .decoded = 5 };
	const char *path = path_of("players.json");
	const struct lag_player *was;
	struct record_tape tape;
	struct lag_file *players;
	size_t at = 0;

	(void)state;
	assert_int_equal(record_tape_create(&tape, 16, 256), 0);
	services[7] = ffa;
	for (uint32_t n = 1; n <= 200; n++) {
		player_say(l, &tape, false, n, SECOND + n * 50000000LL);
		if (n % 10)
			player_say(l, &tape, true, n, SECOND + n * 50000000LL + 17000000);
	}
	assert_int_equal(players_file_write(path, 12 * SECOND, &stats, l, services), 0);
	assert_int_equal(lag_file_read(path, &players), 0);
	assert_null(lag_file_read_decoded("/nowhere", 12 * SECOND));
	was = lagometer_next(l, &at);
	assert_int_equal(players->time_ns, 12 * SECOND);
	assert_int_equal(players->count, 1);
	assert_string_equal(players->rows[0].service, "ffa");
	assert_int_equal(players->rows[0].player.family, FAMILY_QUAKE3);
	assert_memory_equal(&players->rows[0].player.client, &was->client,
			    sizeof(was->client));
	assert_int_equal(players->rows[0].player.ping_ms, 17);
	assert_int_equal(players->rows[0].player.snapshots, 200);
	assert_int_equal(players->rows[0].player.way[LAG_C2S].received, 180);
	assert_int_equal(players->rows[0].player.way[LAG_C2S].lost, 19);
	assert_int_equal(players->rows[0].player.way[LAG_C2S].taken, LAG_SAMPLES);
	for (uint64_t i = 0; i < LAG_SAMPLES; i++) {
		const struct lag_direction *d = &was->way[LAG_S2C];

		assert_memory_equal(&players->rows[0].player.way[LAG_S2C].ring[i],
				    &d->ring[(d->taken + i) % LAG_SAMPLES],
				    sizeof(struct lag_sample));
	}
	free(players);
	lag_file_remove(path);
	assert_int_equal(lag_file_read(path, &players), -ENOENT);
	record_tape_free(&tape);
	lagometer_free(l);
}

/* Ten seconds of 20 snapshots each, of which the client answers all but a tenth. */
static void seconds_become_histograms(void **state)
{
	static struct lag_second past[4];
	struct lagometer *l = lagometer_create(4, LAG_BESIDE_SERVER);
	struct decoded *d = decoded_create();
	const struct histogram *h;
	struct record_tape tape;

	(void)state;
	assert_int_equal(record_tape_create(&tape, 16, 256), 0);
	for (uint32_t n = 0; n < 200; n++) {
		if (!(n % 20))
			lag_seconds(l, past, d, SECOND + n * 50000000LL);
		player_say(l, &tape, false, n + 1, SECOND + n * 50000000LL);
		if (n % 10)
			player_say(l, &tape, true, n + 1,
				   SECOND + n * 50000000LL + 17000000);
	}
	/* Nine seconds have both an end and a beginning that was seen. */
	h = decoded_service(d, 7)->figures[FAMILY_QUAKE3];
	assert_int_equal(h[DECODED_LOSS_C2S].count, 8);
	assert_float_equal(h[DECODED_LOSS_C2S].sum, 0.8, 1e-9);
	assert_int_equal(h[DECODED_LOSS_C2S].buckets[4], 8); /* up to a tenth */
	assert_int_equal(h[DECODED_SNAPSHOTS].buckets[4], h[DECODED_SNAPSHOTS].count);
	assert_in_range(h[DECODED_SNAPSHOTS].count, 7, 9);
	assert_float_equal(h[DECODED_PING].sum / (double)h[DECODED_PING].count, 0.017,
			   1e-9);
	assert_int_equal(h[DECODED_EXTRAPOLATION].count, 0);
	/* Who is silent has no figures, and who comes anew begins anew. */
	lag_seconds(l, past, d, 60 * SECOND);
	assert_int_equal(h[DECODED_LOSS_C2S].count, 8);
	past[0].since_ns--;
	lag_seconds(l, past, d, 11 * SECOND);
	assert_int_equal(h[DECODED_LOSS_C2S].count, 8);
	decoded_free(d);
	record_tape_free(&tape);
	lagometer_free(l);
}

/* What is decoded of each service reaches who reads the file, while it is fresh. */
static void decoded_survives_the_file(void **state)
{
	static struct service services[SERVICES_MAX];
	struct record r = { .family = FAMILY_QUAKE3, .kind = "snapshot" };
	struct lagometer *l = lagometer_create(1, LAG_BESIDE_SERVER);
	struct decoded *d = decoded_create();
	struct samples_stats stats = { .by_service = d };
	const char *path = path_of("players.json");
	json_t *all, *row;

	(void)state;
	services[7] = ffa;
	decoded_record(d, 7, &r, SAMPLER_STATISTIC);
	assert_int_equal(players_file_write(path, 12 * SECOND, &stats, l, services), 0);
	all = lag_file_read_decoded(path, 12 * SECOND + LAG_FILE_STALE_NS);
	assert_int_equal(json_object_size(all), 1);
	row = json_array_get(json_object_get(json_object_get(all, "ffa"), "records"), 0);
	assert_string_equal(text_at(row, "sampler"), "statistic");
	assert_string_equal(text_at(row, "kind"), "snapshot");
	assert_int_equal(json_integer_value(json_object_get(row, "records")), 1);
	json_decref(all);
	assert_null(lag_file_read_decoded(path, 13 * SECOND + LAG_FILE_STALE_NS));
	/* The clock was set back since. */
	assert_null(lag_file_read_decoded(path, 11 * SECOND - LAG_FILE_STALE_NS));
	lag_file_remove(path);
	assert_null(lag_file_read_decoded(path, 12 * SECOND));
	decoded_free(d);
	lagometer_free(l);
}

static void strange_files(void **state)
{
	static const char *const texts[] = { "", "[]", "{}", "{\"players\":3}", "{\"pl" };
	const char *path = path_of("players.json");
	struct lag_file *players;
	FILE *file;

	(void)state;
	for (size_t i = 0; i <= COUNT(texts); i++) {
		file = fopen(path, "we");
		assert_non_null(file);
		fputs(i < COUNT(texts) ? texts[i]
				       : "{\"time\":\"x\",\"players\":[3,{\"ping_ms\":-5,"
					 "\"s2c\":{\"pings\":[1],\"marks\":\"aa\"}}]}",
		      file);
		fclose(file);
		if (i < COUNT(texts)) {
			assert_int_equal(lag_file_read(path, &players), -EBADMSG);
			continue;
		}
		assert_int_equal(lag_file_read(path, &players), 0);
		assert_int_equal(players->count, 2);
		assert_int_equal(players->rows[1].player.way[LAG_S2C].taken, 0);
		free(players);
	}
	unlink(path);
}

static void paths(void **state)
{
	char path[LAG_FILE_PATH_MAX], pin[2 * LAG_FILE_PATH_MAX];

	(void)state;
	lag_file_path(NULL, path);
	assert_string_equal(path, "/run/quakeshield/players.json");
	lag_file_path("/sys/fs/bpf/x", path);
	assert_string_equal(path, "/run/quakeshield/players-sys-fs-bpf-x.json");
	lag_file_path("/a-b", path);
	assert_string_equal(path, "/run/quakeshield/players-a+-b.json");
	memset(pin, 'p', sizeof(pin));
	pin[sizeof(pin) - 1] = 0;
	lag_file_path(pin, path);
	assert_true(strlen(path) < LAG_FILE_PATH_MAX);
	assert_string_equal(path + strlen(path) - 5, ".json");
}

static int enter(void **state)
{
	(void)state;
	return mkdtemp(directory) ? 0 : -1;
}

static int leave(void **state)
{
	(void)state;
	return rmdir(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loose_samples),
		cmocka_unit_test(notes_wait_with_their_datagrams),
		cmocka_unit_test(cut_samples),
		cmocka_unit_test(first_fragments),
		cmocka_unit_test(followed_session),
		cmocka_unit_test(budget),
		cmocka_unit_test(players_survive_the_file),
		cmocka_unit_test(seconds_become_histograms),
		cmocka_unit_test(decoded_survives_the_file),
		cmocka_unit_test(strange_files),
		cmocka_unit_test(paths),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
