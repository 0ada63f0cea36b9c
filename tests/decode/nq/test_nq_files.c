// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Recordings of NetQuake and DarkPlaces: what of each is decoded, what its players are
 * called and said, the same of one joined late; and every update, all client data and
 * every entity of DarkPlaces' frames written again to the same bytes.
 */
#include "capture/capture.h"
#include "decode/decode_support.h"
#include "decode/nq/nq_session.h"
#include "decode/nq/nq_tables.h"
#include "decode/nq/nq_update.h"
#include "recordings.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

/* --- captures ---------------------------------------------------------------------- */

struct counter {
	unsigned int of[RECORD_STATUS_COUNT];
	unsigned int skip; /* datagrams at the beginning that nobody sees */
	struct jsonl json;
};

static void counter_sink(void *context, const struct record *r)
{
	struct counter *t = context;

	t->of[r->status]++;
	jsonl_record(&t->json, r);
}

/* All of @name but its first @num of @den parts, as JSON lines. NULL: not here. */
static char *read_capture(const char *name, unsigned int num, unsigned int den,
			  unsigned int total, struct counter *t)
{
	struct decoder_options how = { .fields = true, .forced = FAMILY_AUTO };
	struct capture *capture;
	struct decoder *decoder;
	struct datagram dg;
	char *text = NULL, message[256];
	unsigned int seen = 0;
	size_t size;
	FILE *out, *file = recording_open(name);

	memset(t, 0, sizeof(*t));
	if (!file)
		return NULL;
	out = open_memstream(&text, &size);
	jsonl_init(&t->json, out);
	decoder = decoder_create(&how, counter_sink, t);
	assert_int_equal(capture_open(file, &capture, message, sizeof(message)), 0);
	while (capture_next(capture, &dg) == 1)
		if (seen++ >= total * num / den)
			decoder_datagram(decoder, &dg);
	decoder_flush(decoder);
	decoder_free(decoder);
	capture_close(capture);
	jsonl_flush(&t->json);
	fclose(out);
	return text;
}

#define PRE "live/"

static const struct {
	const char *name;
	unsigned int decoded, partial, malformed; /* opaque: none */
	const char *holds[8]; /* in the JSON */
} captures[] = {
	{ PRE "nq-quakespasm-proto15-1client-mapchange.pcap",
	  581,
	  0,
	  0,
	  { "\"dialect\":\"quake15\"", "name \\\"alice\\\"", "maps/lqdm1.bsp",
	    "maps/lqdm2.bsp" } },
	{ PRE "nq-quakespasm-proto666-2clients-mapchange.pcap",
	  1039,
	  0,
	  0,
	  { "\"dialect\":\"fitzquake666\"", "name \\\"bob\\\"", "maps/lqdm1.bsp",
	    "\"text\":\"kill", "\"text\":\"ping", "\"text\":\"reconnect" } },
	{ PRE "nq-quakespasm-proto999-1client.pcap",
	  410,
	  0,
	  0,
	  { "\"dialect\":\"rmq999\"", "\"protocol\":999,\"flags\":130" } },
	/* A fragment of an IP packet was lost on the path. */
	{ PRE "nq-quakespasm-impaired-client-side.pcap", 351, 1, 0, { NULL } },
	{ PRE "nq-quakespasm-impaired-server-side.pcap",
	  362,
	  0,
	  0,
	  { "\"repeated\":true" } },
	/* A wrong length and opcode 7f, sent on purpose. */
	{ PRE "nq-quakespasm-queries.pcap", 62, 0, 2, { NULL } },
	{ PRE "dp-darkplaces-dp7-2clients-mapchange.pcap",
	  4625,
	  0,
	  0,
	  { "\"dialect\":\"dp7\"", "dpalice", "dpbob", "maps/lqdm1.bsp" } },
	{ PRE "dp-darkplaces-server-quake15-quakespasm-client.pcap",
	  544,
	  0,
	  0,
	  { "\"dialect\":\"quake15\"", "qsguest" } },
	{ PRE "dp-nexuiz-2clients-mapchange.pcap",
	  5798,
	  0,
	  0,
	  { "\"type\":\"projectile\"", "\"type\":\"scores\"", "maps/darkzone.bsp" } },
};

static void by_capture(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(captures); i++) {
		struct counter t;
		char *text = read_capture(captures[i].name, 0, 1, 0, &t);

		if (!text)
			skip();
		print_message("%s: decoded %u partial %u opaque %u malformed %u\n",
			      captures[i].name, t.of[RECORD_DECODED],
			      t.of[RECORD_PARTIAL], t.of[RECORD_OPAQUE],
			      t.of[RECORD_MALFORMED]);
		assert_int_equal(t.of[RECORD_DECODED], captures[i].decoded);
		assert_int_equal(t.of[RECORD_PARTIAL], captures[i].partial);
		assert_int_equal(t.of[RECORD_OPAQUE], 0);
		assert_int_equal(t.of[RECORD_MALFORMED], captures[i].malformed);
		for (const char *const *s = captures[i].holds; *s; s++)
			if (!strstr(text, *s))
				fail_msg("%s is not in it", *s);
		free(text);
	}
}

/* From here on a line says the same, whenever the capture began: what is in "ops". */
static const char *next_ops(const char **at, size_t *n)
{
	const char *line = *at, *ops;

	if (!*line)
		return NULL;
	*at += strcspn(line, "\n");
	ops = memmem(line, (size_t)(*at - line), "\"ops\":", 6);
	*n = ops ? (size_t)(*at - ops) : 0;
	*at += **at == '\n';
	return ops ? ops : line;
}

static void joined_late(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(captures); i++) {
		unsigned int total = captures[i].decoded + captures[i].partial;
		struct counter t;
		const char *a, *b;
		char *whole, *late;
		size_t a_n = 0, b_n = 0;

		if (strstr(captures[i].name, "queries"))
			continue;
		whole = read_capture(captures[i].name, 0, 1, 0, &t);
		if (!whole)
			skip();
		late = read_capture(captures[i].name, 1, 3, total, &t);
		a = whole;
		for (unsigned int k = 0; k < total / 3; k++)
			next_ops(&a, &a_n);
		b = late;
		for (unsigned int k = total / 3; k < total; k++) {
			const char *full = next_ops(&a, &a_n);
			const char *part = next_ops(&b, &b_n);

			assert_non_null(full);
			assert_non_null(part);
			assert_int_equal(a_n, b_n);
			assert_memory_equal(full, part, a_n);
		}
		free(whole);
		free(late);
	}
}

/* --- written again ----------------------------------------------------------------- */

static struct op tables[32][256];
static struct nq_dialect dialects[32];
static const struct nq_dialect *list[33];
static unsigned int updates, owns, entities;

static void is_same(struct ops *o, const uint8_t *from, const uint8_t *written, size_t n)
{
	if (reader_failed(&o->rd))
		return;
	assert_int_equal(n, o->rd.pos - from);
	assert_memory_equal(written, from, n);
}

static void checked_update(struct ops *o)
{
	const uint8_t *from = o->rd.pos - 1;
	uint8_t bytes[NQ_UPDATE_MAX];
	struct nq_update u;
	struct ops look = *o;

	if (nq_update_read(&look.rd, nq_format_at(o), o->code, &u)) {
		is_same(&look, from, bytes,
			nq_update_write(bytes, sizeof(bytes), nq_format_at(o), &u));
		updates++;
	}
	nq_op_update(o);
}

static void checked_own(struct ops *o)
{
	const uint8_t *from = o->rd.pos;
	uint8_t bytes[NQ_UPDATE_MAX * 2];
	struct nq_own_data own;
	struct ops look = *o;

	if (nq_own_read(&look.rd, nq_format_at(o), &own)) {
		is_same(&look, from, bytes,
			nq_own_write(bytes, sizeof(bytes), nq_format_at(o), &own));
		owns++;
	}
	nq_op_clientdata(o);
}

static void checked_entities(struct ops *o)
{
	struct ops look = *o;
	uint16_t number;

	reader_take(&look.rd, nq_has(nq_format_at(o), NQ_DP_NUMBERS) ? 8 : 4);
	while ((number = reader_le16(&look.rd)) != 0x8000 && !reader_failed(&look.rd)) {
		const uint8_t *from = look.rd.pos;
		uint8_t bytes[4096];
		struct nq_e5 e;

		if (number & 0x8000)
			continue;
		if (!nq_e5_read(&look.rd, &e))
			break;
		is_same(&look, from, bytes, nq_e5_write(bytes, sizeof(bytes), &e));
		entities++;
	}
	nq_op_entities(o);
}

static void checked_dialects(void)
{
	for (unsigned int i = 0; nq_dialects[i]; i++) {
		dialects[i] = *nq_dialects[i];
		memcpy(tables[i], nq_dialects[i]->svc, sizeof(tables[i]));
		for (unsigned int op = 128; op < 256; op++)
			tables[i][op].parse = checked_update;
		tables[i][15].parse = checked_own;
		if (tables[i][57].parse)
			tables[i][57].parse = checked_entities;
		dialects[i].svc = tables[i];
		list[i] = &dialects[i];
	}
}

static const struct {
	const char *name;
	const char *dialect;
	unsigned int blocks, partial;
} demos[] = {
	{ "netquake/botnbits_demo1.dem", "quake15", 486, 0 },
	{ "netquake/ctf3w_6secret.dem", "quake15", 247, 0 },
	{ "netquake/ctf3w_ctfdemo3.dem", "quake15", 15200, 0 },
	{ "netquake/fragbot_badbot.dem", "quake15", 2332, 0 },
	{ "netquake/jbot_jbottest.dem", "quake15", 2048, 0 },
	{ "netquake/lq_demo2_e2m5.dem", "quake15", 2284, 0 },
	{ "netquake/lq_demo3_p999_flags130.dem", "rmq999", 1238, 0 },
	{ "netquake/lq_medsr_p666.dem", "fitzquake666", 4051, 0 },
	{ "netquake/lq_swamoy_p666.dem", "fitzquake666", 291, 0 },
	{ "netquake/qcbot_start.dem", "quake15", 1391, 0 },
	{ "netquake/tf25_introseq.dem", "quake15", 2312, 0 },
	{ "netquake/zeusbot_zeus0.dem", "quake15", 3064, 0 },
	/* Eleven hold what its own game code says, of which not all is known. */
	{ "darkplaces/xonotic_little_bot_orchestra.dem", "dp7", 10201, 11 },
};

static void demos_again(void **state)
{
	(void)state;
	checked_dialects();
	for (size_t i = 0; i < COUNT(demos); i++) {
		struct nq_session s = { .game.dialects = list };
		unsigned int of[RECORD_STATUS_COUNT] = { 0 };
		struct demo_block block;
		struct record r;
		struct demo *demo;
		int64_t last_ns = 0;
		char name[128];
		FILE *file;

		snprintf(name, sizeof(name), "demos/%s", demos[i].name);
		file = recording_open(name);
		if (!file)
			skip();
		updates = owns = entities = 0;
		demo = demo_open(file, DEMO_DEM);
		while (demo_next(demo, &block) == 1) {
			record_reset(&r, NULL);
			r.kind = block.kind;
			nq_session_block(&s, &block, &r);
			of[r.status]++;
			assert_true(r.time_ns >= last_ns);
			last_ns = r.time_ns;
		}
		assert_int_equal(demo_blocks(demo), demos[i].blocks);
		demo_close(demo);
		assert_string_equal(r.dialect, demos[i].dialect);
		print_message("%s: %u blocks, %u partial, %.1f s; written again: %u "
			      "updates, %u client data, %u entities\n",
			      demos[i].name, demos[i].blocks, of[RECORD_PARTIAL],
			      (double)last_ns / 1e9, updates, owns, entities);
		assert_int_equal(of[RECORD_DECODED], demos[i].blocks - demos[i].partial);
		assert_int_equal(of[RECORD_PARTIAL], demos[i].partial);
		assert_true(owns > demos[i].blocks / 2 && updates + entities > 0);
		nq_session_drop(&s);
	}
}

/* The sessions of one capture, by the client's port. */
static struct nq_session *session_of(struct nq_session *all, uint16_t *ports, size_t max,
				     uint16_t port)
{
	for (size_t i = 0; i < max; i++) {
		if (ports[i] && ports[i] != port)
			continue;
		ports[i] = port;
		all[i].game.dialects = list;
		return &all[i];
	}
	fail_msg("more clients than there are in it");
	return NULL;
}

static void captures_again(void **state)
{
	(void)state;
	checked_dialects();
	updates = owns = entities = 0;
	for (size_t i = 0; i < COUNT(captures); i++) {
		struct nq_session sessions[64] = { 0 };
		uint16_t ports[64] = { 0 };
		struct capture *capture;
		struct datagram dg;
		char message[256];
		struct record r;
		FILE *file = recording_open(captures[i].name);

		if (!file)
			skip();
		assert_int_equal(capture_open(file, &capture, message, sizeof(message)),
				 0);
		while (capture_next(capture, &dg) == 1) {
			bool c2s = dg.source.bytes[3] != 1;
			struct nq_session *s =
				session_of(sessions, ports, COUNT(ports),
					   c2s ? dg.source.port : dg.destination.port);

			if (dg.damage != RECORD_DECODED || dg.n < 8 || dg.payload[0])
				continue;
			record_reset(&r, NULL);
			nq_session_datagram(s, FAMILY_NETQUAKE,
					    c2s ? DIRECTION_C2S : DIRECTION_S2C,
					    (struct span){ dg.payload, dg.n }, &r);
			if (!captures[i].malformed)
				assert_int_equal(r.status, RECORD_DECODED);
		}
		capture_close(capture);
		for (size_t k = 0; k < COUNT(sessions); k++)
			nq_session_drop(&sessions[k]);
	}
	print_message("written again: %u updates, %u client data, %u entities\n", updates,
		      owns, entities);
	assert_true(updates > 10000 && owns > 1000 && entities > 10000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_capture),
		cmocka_unit_test(joined_late),
		cmocka_unit_test(demos_again),
		cmocka_unit_test(captures_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
